/* Sessions of work: the journal's timer is started and stopped, and the session rated.
 *
 * SPDX-License-Identifier: MIT
 */
#include <time.h>

#include "base/json.h"
#include "base/json_write.h"
#include "base/timefmt.h"
#include "model/offline_int.h"

#define SESSION_MINUTES 25
#define SESSION_MOST    480

static const char *const name_note[] = { "description", "note", "text", "comment", NULL };

/* a: minutes, where they were said; b: task */
void offline_session_start(struct offline_turn *turn)
{
    struct str words = offline_task_words(turn->match.cap[1]), said = turn->match.cap[0];
    int64_t minutes = SESSION_MINUTES;
    struct offline_arg args[2];
    time_t end;
    struct tm local;

    if (said.n && (str_to_i64(said, &minutes) < 0 || minutes < 1 || minutes > SESSION_MOST)) {
        offline_say(turn,
                    "A session has 1 to %d minutes. Say for example \"start 25 minutes on "
                    "the tax report\".",
                    SESSION_MOST);
        return;
    }
    args[1] = (struct offline_arg){
        .names = name_note,
        .text = str_from(arena_printf(turn->arena, "Session of %lld minutes", (long long)minutes)),
        .optional = true
    };
    if (!offline_with_task(turn, words, "start_task_timer", args, ARRAY_LEN(args)))
        return;
    end = (time_t)(turn->now_ms / 1000 + minutes * 60);
    localtime_r(&end, &local);
    offline_say(turn,
                "The timer for \"%.*s\" runs; %lld minutes are over at %02d:%02d. I can't "
                "ring: say \"stop\" when you are done.",
                STR_ARG(words), (long long)minutes, local.tm_hour, local.tm_min);
}

static void say_stopped(struct offline_turn *turn)
{
    const struct offline_result *result = offline_result_of(turn, "stop_task_timer");
    struct json_object *entry = result ? json_find(result->json, "timeEntry") : NULL;
    int64_t from, to;

    if (timefmt_parse(json_str(json_find(entry, "startedAt")), &from, NULL) == 0 &&
        timefmt_parse(json_str(json_find(entry, "endedAt")), &to, NULL) == 0)
        offline_say(turn, "The timer has stopped after %lld minutes.",
                    (long long)((to - from) / 60000));
    else
        offline_say(turn, "The timer has stopped.");
    if (offline_tool(turn, "create_or_update_rating"))
        offline_say(turn, " How was it, from 1 to 5?");
}

/* "stop": of whoever has the timer it is the timer. */
void offline_stop(struct offline_turn *turn)
{
    const struct model_tool *tool = offline_tool(turn, "stop_task_timer");

    if (!tool)
        offline_answer(turn);
    else if (turn->round == 0)
        offline_call(turn, tool, NULL, 0);
    else if (!offline_failed(turn))
        say_stopped(turn);
}

/* The newest time entry. Empty: there is none. */
static struct str newest_session(const struct offline_turn *turn)
{
    const struct offline_result *result = offline_result_of(turn, "list_time_entries");
    struct json_object *list = result ? json_find(result->json, "timeEntries") : NULL;

    if (!json_object_is_type(list, json_type_array) || !json_object_array_length(list))
        return STR_NONE;
    return json_str(json_find(json_object_array_get_idx(list, 0), "id"));
}

static void keep_rating(struct offline_turn *turn, struct str id, int64_t value)
{
    AUTO_BUF json = BUF_INIT(4096);
    struct json_writer w = JSON_WRITER(&json);

    json_write_object_begin(&w);
    json_write_key(&w, "targetType");
    json_write_text(&w, "timeEntry");
    json_write_key(&w, "targetId");
    json_write_str(&w, str_take(id, 80));
    json_write_key(&w, "dimension");
    json_write_text(&w, "focus");
    json_write_key(&w, "value");
    json_write_i64(&w, value);
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
