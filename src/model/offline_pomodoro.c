/* Sessions of work: the journal's timer is started and stopped, an alarm rings at the end, and the
 * session is rated.
 *
 *   start   which task is meant, when nobody said; the timer; the alarm
 *   ring    the timer stops, the break begins with an alarm of its own (offline_alarm.c)
 *   stop    the timer and the alarms of the session
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/json.h"
#include "base/json_put.h"
#include "base/timefmt.h"
#include "base/utf8.h"
#include "model/offline_alarm_int.h"
#include "model/offline_choice_int.h"

#define SESSION_MINUTES 25
#define SESSION_MOST    480
#define CHOICES         5
#define ARGS_MAX        (16u << 10)

static const char *const name_note[] = { "description", "note", "text", "comment", NULL };

/* ---- which task ---- */

static struct json_object *listed(const struct offline_turn *turn)
{
    const struct offline_result *result = offline_result_of(turn, "list_tasks_in_scope");

    return result ? result->json : NULL;
}

static struct json_object *open_tasks(const struct offline_turn *turn)
{
    struct json_object *tasks = json_find(listed(turn), "tasks");

    return json_object_is_type(tasks, json_type_array) && json_length(tasks) ? tasks : NULL;
}

static struct str title_of(struct json_object *tasks, size_t i)
{
    return utf8_truncate(json_str(json_find(json_object_array_get_idx(tasks, i), "title")), 180);
}

static void ask_which(struct offline_turn *turn, struct json_object *tasks)
{
    AUTO_BUF json = BUF_INIT(ARGS_MAX);
    struct json_writer w = JSON_WRITER(&json);

    json_write_object_begin(&w);
    json_put_text(&w, "question", "Which task is the session for?");
    json_put_array(&w, "choices");
    for (size_t i = 0; i < json_length(tasks) && i < CHOICES; i++)
        json_write_text(&w, offline_choice(turn, listed(turn), tasks, i));
    json_write_array_end(&w);
    json_write_object_end(&w);
    offline_call_json(turn, offline_tool(turn, "ask_user"), buf_str(&json));
}

static void say_which(struct offline_turn *turn, struct json_object *tasks)
{
    offline_say(turn, "Which task is it for? Say for example \"start %d minutes on %.*s\".\n",
                SESSION_MINUTES, STR_ARG(title_of(tasks, 0)));
    for (size_t i = 0; i < json_length(tasks) && i < CHOICES; i++)
        offline_say(turn, "- %s\n", offline_choice(turn, listed(turn), tasks, i));
}

/* The task that was answered, also by a part of a title that only one has. */
static struct json_object *answered(struct offline_turn *turn)
{
    const struct offline_result *result = offline_result_of(turn, "ask_user");
    struct str said = result ? str_trim(json_str(json_find(result->json, "answer"))) : STR_NONE;
    struct json_object *tasks = open_tasks(turn), *found;
    size_t fitting = 0;

    if (!tasks || !said.n)
        return NULL;
    found = offline_chosen(turn, listed(turn), tasks, said);
    if (found || said.n < 3)
        return found;
    for (size_t i = 0; i < json_length(tasks); i++) {
        if (offline_contains(title_of(tasks, i), said) && ++fitting)
            found = json_object_array_get_idx(tasks, i);
    }
    return fitting == 1 ? found : NULL;
}

/* ---- starting ---- */

static struct offline_arg description(struct offline_turn *turn, int64_t minutes)
{
    return (struct offline_arg){ .names = name_note,
                                 .text =
                                     str_from(arena_printf(turn->arena, OFFLINE_SESSION_MARK "%s",
                                                           offline_length_text(turn, minutes))),
                                 .optional = true };
}

static void look_at_alarms(struct offline_turn *turn)
{
    if (offline_tool(turn, "list_alarms") && offline_tool(turn, "set_alarm"))
        offline_call(turn, offline_tool(turn, "list_alarms"), NULL, 0);
}

static void take_back(struct offline_turn *turn, const char *name)
{
    if (offline_alarm_named(turn, name))
        offline_set_alarm(turn, name, 0, STR_NONE);
}

/* The timer runs: sets the alarm, then says so. A break that is under way is over. */
static void ring_later(struct offline_turn *turn, struct str title, int64_t minutes)
{
    const struct offline_result *alarm = offline_result_of(turn, "set_alarm");
    const char *end = offline_clock_text(turn, turn->now_ms + minutes * 60000);

    if (!alarm && offline_tool(turn, "set_alarm")) {
        take_back(turn, "break");
        offline_set_alarm(turn, "session", minutes, title);
        return;
    }
    offline_say(turn, "The timer for \"%.*s\" runs; %s %s over at %s", STR_ARG(title),
                offline_length_text(turn, minutes), minutes == 1 ? "is" : "are", end);
    if (alarm && !alarm->failed)
        offline_say(turn, ", and I ring then. \"stop\" ends it before.");
    else
        offline_say(turn, ". I can't ring: say \"stop\" when you are done.");
}

static void start_unnamed(struct offline_turn *turn, int64_t minutes)
{
    const struct model_tool *tasks = offline_tool(turn, "list_tasks_in_scope");
    struct offline_arg args[] = { { .names = offline_name_task }, description(turn, minutes) };
    struct json_object *task = answered(turn);

    if (!tasks)
        offline_say(turn, "On what? Say for example \"start %d minutes on the tax report\".",
                    SESSION_MINUTES);
    else if (turn->round == 0)
        offline_call_json(turn, tasks, STR("{\"order\":\"priority\",\"limit\":5}"));
    else if (offline_failed(turn))
        return;
    else if (!open_tasks(turn))
        offline_say(turn, "There is no open task. Say \"add a task to ...\" first.");
    else if (turn->round == 1 && offline_tool(turn, "ask_user"))
        ask_which(turn, open_tasks(turn));
    else if (!task)
        say_which(turn, open_tasks(turn));
    else if (offline_result_of(turn, "start_task_timer"))
        ring_later(turn, json_str(json_find(task, "title")), minutes);
    else {
        args[0].text = json_str(json_find(task, "id"));
        offline_call(turn, offline_tool(turn, "start_task_timer"), args, ARRAY_LEN(args));
    }
}

/* a: minutes, where they were said; b: task, where it was */
void offline_session_start(struct offline_turn *turn)
{
    struct str words = offline_task_words(turn->match.cap[1]), said = turn->match.cap[0];
    int64_t minutes = SESSION_MINUTES;
    struct offline_arg args[2];

    if (said.n && (str_to_i64(said, &minutes) < 0 || minutes < 1 || minutes > SESSION_MOST)) {
        offline_say(turn,
                    "A session has 1 to %d minutes. Say for example \"start 25 minutes on "
                    "the tax report\".",
                    SESSION_MOST);
        return;
    }
    args[1] = description(turn, minutes);
    if (!offline_tool(turn, "start_task_timer"))
        offline_lacks(turn, "keep the time of a session", "start_task_timer");
    else if (!words.n)
        start_unnamed(turn, minutes);
    else if (offline_result_of(turn, "set_alarm") ||
             offline_with_task(turn, words, "start_task_timer", args, ARRAY_LEN(args)))
        ring_later(turn, offline_task_title(turn, words), minutes);
    if (turn->round == 0 && turn->call_count)
        look_at_alarms(turn);
}

/* ---- stopping ---- */

static bool stopped(const struct offline_turn *turn)
{
    const struct offline_result *result = offline_result_of(turn, "stop_task_timer");

    return result && !result->failed;
}

static void say_stopped(struct offline_turn *turn)
{
    const struct offline_result *result = offline_result_of(turn, "stop_task_timer");
    struct json_object *entry = result ? json_find(result->json, "timeEntry") : NULL;
    int64_t from, to;

    if (timefmt_parse(json_str(json_find(entry, "startedAt")), &from, NULL) == 0 &&
        timefmt_parse(json_str(json_find(entry, "endedAt")), &to, NULL) == 0)
        offline_say(turn, "The timer has stopped after %s.",
                    offline_length_text(turn, (to - from) / 60000));
    else
        offline_say(turn, "The timer has stopped.");
    if (offline_tool(turn, "create_or_update_rating"))
        offline_say(turn, " How was it, from 1 to 5?");
}

/* Looks at the timer and what would ring. */
static void stop_timer(struct offline_turn *turn)
{
    offline_call(turn, offline_tool(turn, "stop_task_timer"), NULL, 0);
    look_at_alarms(turn);
}

/* No timer ran: that is no failure for who only wants an end. */
static bool none_ran(const struct offline_turn *turn)
{
    const struct offline_result *result = offline_result_of(turn, "stop_task_timer");

    return result && result->failed && result->code == ERR_NOT_FOUND;
}

/* "stop": of whoever has the timer it is the timer, and what rings for it. */
void offline_stop(struct offline_turn *turn)
{
    if (!offline_tool(turn, "stop_task_timer")) {
        offline_answer(turn);
        return;
    }
    if (turn->round == 0) {
        stop_timer(turn);
        return;
    }
    if (turn->round == 1) {
        take_back(turn, "session");
        take_back(turn, "break");
    }
    if (turn->call_count)
        return;
    if (stopped(turn))
        say_stopped(turn);
    else if (!none_ran(turn))
        offline_report_failure(turn, offline_result_of(turn, "stop_task_timer"));
    else
        offline_say(turn, offline_result_of(turn, "set_alarm")
                              ? "All right, no alarm rings any more."
                              : "No timer runs.");
}

/* a: minutes, where they were said */
void offline_break(struct offline_turn *turn)
{
    struct str said = turn->match.cap[0];
    int64_t minutes = OFFLINE_BREAK_SHORT;

    if (said.n && (str_to_i64(said, &minutes) < 0 || minutes < 1 || minutes > SESSION_MOST))
        offline_say(turn, "A break has 1 to %d minutes.", SESSION_MOST);
    else if (!offline_tool(turn, "set_alarm"))
        offline_lacks(turn, "ring after a break", "set_alarm");
    else if (turn->round == 0 && offline_tool(turn, "stop_task_timer"))
        stop_timer(turn);
    else if (!offline_result_of(turn, "set_alarm")) {
        take_back(turn, "session");
        offline_set_alarm(turn, "break", minutes, STR_NONE);
    } else if (!offline_failed(turn)) {
        offline_say(turn, "%sEnjoy your break: I ring at %s.",
                    stopped(turn) ? "The timer has stopped. " : "",
                    offline_clock_text(turn, turn->now_ms + minutes * 60000));
    }
}

/* ---- how much is left ---- */

static void say_alarm(struct offline_turn *turn, struct json_object *alarm)
{
    struct str name = json_str(json_find(alarm, "name")), note = json_str(json_find(alarm, "note"));
    int64_t at;

    if (timefmt_parse(json_str(json_find(alarm, "ringsAt")), &at, NULL) < 0)
        return;
    if (str_is(name, "session"))
        offline_say(turn, "The session%s%.*s", note.n ? " on " : "", STR_ARG(note));
    else if (str_is(name, "break"))
        offline_say(turn, "The break");
    else
        offline_say(turn, "The alarm%s%.*s", note.n ? " for " : "", STR_ARG(note));
    offline_say(
        turn, " has %s left: I ring at %s.\n",
        offline_length_text(turn, at > turn->now_ms ? (at - turn->now_ms + 30000) / 60000 : 0),
        offline_clock_text(turn, at));
}

void offline_left(struct offline_turn *turn)
{
    const struct offline_result *time = offline_result_of(turn, "list_time_entries");
    struct json_object *alarms = offline_alarms(turn), *running;
    int64_t from;

    if (!offline_tool(turn, "list_alarms")) {
        offline_lacks(turn, "know what rings", "list_alarms");
        return;
    }
    if (turn->round == 0) {
        offline_call(turn, offline_tool(turn, "list_alarms"), NULL, 0);
        if (offline_tool(turn, "list_time_entries"))
            offline_call_json(turn, offline_tool(turn, "list_time_entries"), STR("{\"limit\":1}"));
        return;
    }
    if (offline_failed(turn))
        return;
    running = time ? json_find(time->json, "running") : NULL;
    for (size_t i = 0; i < json_length(alarms); i++)
        say_alarm(turn, json_object_array_get_idx(alarms, i));
    if (timefmt_parse(json_str(json_find(running, "startedAt")), &from, NULL) == 0)
        offline_say(turn, "The timer runs since %s.", offline_clock_text(turn, from));
    else if (!turn->say.n)
        offline_say(turn, "No timer runs, and nothing is set to ring.");
}

/* ---- rating ---- */

/* The newest time entry. Empty: there is none. */
static struct str newest_session(const struct offline_turn *turn)
{
    const struct offline_result *result = offline_result_of(turn, "list_time_entries");
    struct json_object *list = result ? json_find(result->json, "timeEntries") : NULL;

    if (!json_object_is_type(list, json_type_array) || !json_length(list))
        return STR_NONE;
    return json_str(json_find(json_object_array_get_idx(list, 0), "id"));
}

static void keep_rating(struct offline_turn *turn, struct str id, int64_t value)
{
    AUTO_BUF json = BUF_INIT(4096);
    struct json_writer w = JSON_WRITER(&json);

    json_write_object_begin(&w);
    json_put_text(&w, "targetType", "timeEntry");
    json_put_str(&w, "targetId", id);
    json_put_text(&w, "dimension", "focus");
    json_put_i64(&w, "value", value);
    json_write_object_end(&w);
    offline_call_json(turn, offline_tool(turn, "create_or_update_rating"), buf_str(&json));
}

static bool can_rate(struct offline_turn *turn)
{
    if (!offline_tool(turn, "create_or_update_rating"))
        offline_lacks(turn, "rate a session", "create_or_update_rating");
    else if (!offline_tool(turn, "list_time_entries"))
        offline_lacks(turn, "find the session", "list_time_entries");
    else
        return true;
    return false;
}

/* "4", "rate it 4": the last word. */
void offline_rate(struct offline_turn *turn)
{
    struct str said = turn->words.word[turn->words.n - 1].raw, id;

    if (!can_rate(turn))
        return;
    if (said.n != 1 || said.p[0] < '1' || said.p[0] > '5') {
        offline_say(turn, "A rating is a number from 1 to 5.");
        return;
    }
    if (turn->round == 0) {
        offline_call_json(turn, offline_tool(turn, "list_time_entries"), STR("{\"limit\":1}"));
        return;
    }
    if (offline_failed(turn))
        return;
    if (offline_result_of(turn, "create_or_update_rating")) {
        offline_say(turn, "I noted %c of 5 for the last session.", said.p[0]);
        return;
    }
    id = newest_session(turn);
    if (id.n)
        keep_rating(turn, id, said.p[0] - '0');
    else
        offline_say(turn, "There is no session to rate yet.");
}
