/* The coach: the time of a workout that was logged, for the task that it belongs to.
 *
 *   round 0   which task fits its title, or else its kind; what time is logged already
 *   round 1   asks which task is meant, or how long it took; logs what needs no question
 *   round 2   logs with the answers; asks once more which task, where the answer fits none
 *   round 3   logs with that answer
 *   last      asks what to do about a workout whose time is taken already, and does it
 *
 * Logging asks the person by itself. What has its time already is left alone: being woken twice for
 * one workout logs it once.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>

#include "base/json.h"
#include "base/json_put.h"
#include "base/timefmt.h"
#include "base/utf8.h"
#include "model/offline_choice_int.h"
#include "model/offline_wake_int.h"
#include "model/offline_when_int.h"

#define ARGS_MAX     (32u << 10)
#define CHOICES_MAX  9
#define LONGEST_MS   (INT64_C(24) * 3600 * 1000)
#define NEVER        SIZE_MAX
#define LOG          "create_retrospective_time_entry"
#define FOR_CATEGORY "Log it for the category"
#define NONE         "None of these"

/* A workout as it stands in the wake, and what is known about it in this round. */
struct session {
    const struct offline_change *workout;
    struct str title, kind;
    int64_t at, length_ms;                  /* 0: nobody said */
    int64_t noted;                          /* when it was written so; 0: unknown */
    struct json_object *found, *candidates; /* what was answered, and the tasks in it */
    bool logged;
    bool sure, any;  /* one task fits; some do */
    size_t question; /* of round 1, from 0, where there are some */
    size_t again;    /* the question of round 2, counted on; NEVER: its answer was clear */
    size_t log;      /* which call logs it, from 0; NEVER: none does */
    size_t clash;    /* the question about time that is taken, counted on */
};

static struct str member(struct json_object *json, const char *name)
{
    return json_str(json_find(json, name));
}

static void read_session(const struct offline_change *workout, struct session *ret_session)
{
    int64_t length = 0, at = 0, noted = 0;

    (void)json_get_i64(workout->json, "durationMs", &length, NULL);
    if (timefmt_parse(member(workout->json, "at"), &at, NULL) < 0)
        at = 0;
    if (timefmt_parse(member(workout->json, "updatedAt"), &noted, NULL) < 0)
        noted = 0;
    *ret_session = (struct session){ .workout = workout,
                                     .title = member(workout->json, "title"),
                                     .kind = member(workout->json, "subtype"),
                                     .at = at,
                                     .noted = noted,
                                     .length_ms = length > 0 && length <= LONGEST_MS ? length : 0 };
}

static const char *name_of(const struct session *session, struct arena *arena)
{
    struct str name = session->title.n ? session->title : session->kind;

    return name.n ? arena_copy(arena, name.p, name.n) : "workout";
}

/* For questions: they wait in the inbox beside others, about workouts of the same name. */
static const char *called(struct offline_turn *turn, const struct session *session)
{
    const char *name = name_of(session, turn->arena);

    if (session->at <= 0)
        return arena_printf(turn->arena, "\"%s\"", name);
    return arena_printf(turn->arena, "\"%s\" (%s)", name, offline_day_text(turn, session->at));
}

/* ---- round 0 ---- */

static void call_resolve(struct offline_turn *turn, struct str words)
{
    AUTO_BUF json = BUF_INIT(ARGS_MAX);
    struct json_writer w = JSON_WRITER(&json);

    json_write_object_begin(&w);
    json_put_str(&w, "reference", utf8_truncate(words, 500));
    json_write_object_end(&w);
    offline_call_json(turn, offline_tool(turn, "resolve_task_reference"), buf_str(&json));
}

/* How many resolve calls a session takes. */
static size_t references(const struct session *session)
{
    return session->title.n && session->kind.n ? 2 : 1;
}

static void look_up(struct offline_turn *turn, const struct session *sessions, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        call_resolve(turn, str_from(name_of(&sessions[i], turn->arena)));
        if (references(&sessions[i]) == 2)
            call_resolve(turn, sessions[i].kind);
    }
    if (offline_tool(turn, "list_time_entries"))
        offline_call_json(turn, offline_tool(turn, "list_time_entries"), STR("{\"limit\":200}"));
}

/* ---- what came of it ---- */

static bool is_logged(const struct offline_result *time, struct str id)
{
    struct json_object *list = time ? json_find(time->json, "timeEntries") : NULL;

    if (!json_object_is_type(list, json_type_array))
        return false;
    for (size_t i = 0; i < json_length(list); i++)
        if (str_eq(member(json_object_array_get_idx(list, i), "sourceEntryId"), id))
            return true;
    return false;
}

static void take_candidates(struct session *session, const struct offline_result *found)
{
    struct json_object *json = found ? found->json : NULL, *list = json_find(json, "candidates");
    bool ambiguous = true;

    if (!json_object_is_type(list, json_type_array) || !json_length(list))
        return;
    (void)json_get_bool(json, "ambiguous", &ambiguous, NULL);
    session->found = json;
    session->candidates = list;
    session->any = true;
    session->sure = !ambiguous;
}

static struct str answer(const struct offline_turn *turn, size_t question)
{
    const struct offline_result *result = offline_result_nth(turn, "ask_user", question);

    return result && !result->failed ? str_trim(member(result->json, "answer")) : STR_NONE;
}

/* Which task is asked about. */
static bool asks_which(const struct session *session)
{
    return session->any && !session->sure;
}

/* "None of these", in words or by its number. */
static bool is_none(const struct session *session, struct str said)
{
    size_t n = json_length(session->candidates);
    char number[24];

    snprintf(number, sizeof(number), "%zu", (n < CHOICES_MAX ? n : CHOICES_MAX) + 1);
    return str_is(said, number) || str_eq_nocase(said, STR(NONE)) ||
           str_eq_nocase(said, STR("none")) || str_eq_nocase(said, STR("no"));
}

/* Empty: none of these. */
static struct str chosen(struct offline_turn *turn, const struct session *session, struct str said)
{
    return is_none(session, said)
               ? STR_NONE
               : member(offline_chosen(turn, session->found, session->candidates, said), "taskId");
}

/* What was said is one of the choices. */
static bool fits(struct offline_turn *turn, const struct session *session, struct str said)
{
    return is_none(session, said) || chosen(turn, session, said).n > 0;
}

/* The newest word about which task is meant. */
static struct str said_task(const struct offline_turn *turn, const struct session *session)
{
    return answer(turn, session->again == NEVER ? session->question : session->again);
}

/* The title's tasks count before the kind's. */
static void take_results(struct offline_turn *turn, struct session *sessions, size_t n)
{
    const struct offline_result *time = offline_result_nth(turn, "list_time_entries", 0);
    size_t at = 0, question = 0;

    for (size_t i = 0; i < n; i++) {
        struct session *s = &sessions[i];

        take_candidates(s, offline_result_nth(turn, "resolve_task_reference", at));
        if (!s->any && references(s) == 2)
            take_candidates(s, offline_result_nth(turn, "resolve_task_reference", at + 1));
        at += references(s);
        s->logged = is_logged(time, s->workout->id);
        s->question = question;
        if (!s->logged)
            question += (size_t)asks_which(s) + (size_t)!s->length_ms;
    }
    for (size_t i = 0; i < n; i++) {
        struct session *s = &sessions[i];
        struct str said = s->logged || !asks_which(s) ? STR_NONE : answer(turn, s->question);

        s->again = said.n && !fits(turn, s, said) ? question++ : NEVER;
    }
}

/* ---- asking ---- */

static void ask_task(struct offline_turn *turn, const struct session *session)
{
    AUTO_BUF json = BUF_INIT(ARGS_MAX);
    struct json_writer w = JSON_WRITER(&json);
    size_t n = json_length(session->candidates);
    const char *slip =
        session->again == NEVER
            ? ""
            : arena_printf(turn->arena, "\"%.*s\" is none of the tasks. ",
                           STR_ARG(utf8_truncate(answer(turn, session->question), 80)));

    json_write_object_begin(&w);
    json_put_text(&w, "question",
                  arena_printf(turn->arena, "%sWhich task does the workout %s belong to?", slip,
                               called(turn, session)));
    json_put_array(&w, "choices");
    for (size_t i = 0; i < n && i < CHOICES_MAX; i++)
        json_write_text(&w,
                        arena_printf(turn->arena, "%zu. %s", i + 1,
                                     offline_choice(turn, session->found, session->candidates, i)));
    json_write_text(&w, NONE);
    json_write_array_end(&w);
    json_write_object_end(&w);
    offline_call_json(turn, offline_tool(turn, "ask_user"), buf_str(&json));
}

static void ask_length(struct offline_turn *turn, const struct session *session)
{
    AUTO_BUF json = BUF_INIT(ARGS_MAX);
    struct json_writer w = JSON_WRITER(&json);

    json_write_object_begin(&w);
    json_put_text(&w, "question",
                  arena_printf(turn->arena,
                               "How long did the workout %s take? Say it as "
                               "\"45 minutes\" or \"1h30m\".",
                               called(turn, session)));
    json_write_object_end(&w);
    offline_call_json(turn, offline_tool(turn, "ask_user"), buf_str(&json));
}

/* False: nothing has to be asked. */
static bool ask(struct offline_turn *turn, const struct session *session)
{
    bool task = asks_which(session), length = !session->length_ms;

    if (task)
        ask_task(turn, session);
    if (length)
        ask_length(turn, session);
    return task || length;
}

/* ---- logging ---- */

/* A workout is noted when it begins or when it is over: where it would end after that, it has just
 * ended. However long the person thinks about a question, it stays when it was. */
static void log_time(struct offline_turn *turn, const struct session *session, struct str task,
                     int64_t length_ms)
{
    AUTO_BUF json = BUF_INIT(ARGS_MAX);
    struct json_writer w = JSON_WRITER(&json);
    int64_t at = session->at > 0 ? session->at : turn->now_ms;
    int64_t noted = session->noted > 0 ? session->noted : turn->now_ms;
    int64_t start = at + length_ms > noted ? at - length_ms : at;
    char from[TIMEFMT_SIZE], to[TIMEFMT_SIZE];

    timefmt_rfc3339(start, from);
    timefmt_rfc3339(start + length_ms, to);
    json_write_object_begin(&w);
    json_put_some_str(&w, "taskId", task);
    if (!task.n)
        json_put_some_str(&w, "categoryId", member(session->workout->json, "categoryId"));
    json_put_some_str(&w, "startedAt", str_from(from));
    json_put_some_str(&w, "endedAt", str_from(to));
    json_put_some_str(&w, "description", str_from(name_of(session, turn->arena)));
    json_put_some_str(&w, "sourceEntryId", session->workout->id);
    json_write_object_end(&w);
    offline_call_json(turn, offline_tool(turn, LOG), buf_str(&json));
}

static struct str first_task(const struct session *session)
{
    return session->any ? member(json_object_array_get_idx(session->candidates, 0), "taskId")
                        : STR_NONE;
}

static void ask_or_log(struct offline_turn *turn, const struct session *sessions, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (sessions[i].logged)
            offline_say(turn, "The time of \"%s\" is logged already.\n",
                        name_of(&sessions[i], turn->arena));
        else if (!ask(turn, &sessions[i]))
            log_time(turn, &sessions[i], first_task(&sessions[i]), sessions[i].length_ms);
    }
}

/* Something had to be asked about it. */
static bool is_asked(const struct session *session)
{
    return asks_which(session) || !session->length_ms;
}

static int64_t length_of(const struct offline_turn *turn, const struct session *session)
{
    size_t question = session->question + (asks_which(session) ? 1 : 0);

    return session->length_ms ? session->length_ms
                              : offline_minutes(answer(turn, question)) * 60000;
}

static struct str task_of(struct offline_turn *turn, const struct session *session)
{
    return asks_which(session) ? chosen(turn, session, said_task(turn, session))
                               : first_task(session);
}

/* What was asked about it has an answer that one can log with. */
static bool is_clear(struct offline_turn *turn, const struct session *session)
{
    int64_t length = length_of(turn, session);

    return length > 0 && length <= LONGEST_MS &&
           (!asks_which(session) || fits(turn, session, said_task(turn, session)));
}

static void say_unclear(struct offline_turn *turn, const struct session *session)
{
    if (asks_which(session) && !said_task(turn, session).n)
        offline_say(turn, "Nobody said which task is meant, so I logged nothing.\n");
    else if (asks_which(session) && !fits(turn, session, said_task(turn, session)))
        offline_say(turn,
                    "I did not understand which task \"%s\" belongs to, so I logged "
                    "nothing.\n",
                    name_of(session, turn->arena));
    else
        offline_say(turn, "I did not understand how long \"%s\" took, so I logged nothing.\n",
                    name_of(session, turn->arena));
}

/* In round 2, and in round 3 those that were asked about again. */
static void log_answered(struct offline_turn *turn, const struct session *sessions, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct session *s = &sessions[i];

        if (s->logged || !is_asked(s) || (turn->round == 3 && s->again == NEVER))
            continue;
        if (turn->round == 2 && s->again != NEVER)
            ask_task(turn, s);
        else if (is_clear(turn, s))
            log_time(turn, s, task_of(turn, s), length_of(turn, s));
        else
            say_unclear(turn, s);
    }
}

/* ---- time that is taken ---- */

/* Its call was turned down because the task has time there already. */
static bool clashes(struct offline_turn *turn, const struct session *session)
{
    const struct offline_result *result =
        session->log == NEVER ? NULL : offline_result_nth(turn, LOG, session->log);

    return result && result->failed && result->code == ERR_CONFLICT && task_of(turn, session).n > 0;
}

/* Which call was whose: those without a question came first, those asked about twice last. */
static void number_calls(struct offline_turn *turn, struct session *sessions, size_t n)
{
    size_t log = 0, question = 0;

    for (size_t i = 0; i < n; i++) {
        struct session *s = &sessions[i];

        s->log = s->logged || is_asked(s) ? NEVER : log++;
        if (!s->logged)
            question += (size_t)asks_which(s) + (size_t)!s->length_ms + (s->again != NEVER);
    }
    for (int again = 0; again < 2; again++)
        for (size_t i = 0; i < n; i++)
            if (!sessions[i].logged && is_asked(&sessions[i]) && is_clear(turn, &sessions[i]) &&
                (sessions[i].again != NEVER) == again)
                sessions[i].log = log++;
    for (size_t i = 0; i < n; i++)
        sessions[i].clash = clashes(turn, &sessions[i]) ? question++ : NEVER;
}

static struct str title_of(const struct session *session, struct str task)
{
    for (size_t i = 0; i < json_length(session->candidates); i++) {
        struct json_object *item = json_object_array_get_idx(session->candidates, i);

        if (str_eq(member(item, "taskId"), task))
            return utf8_truncate(member(item, "title"), 180);
    }
    return task;
}

/* A round must be left to log it in. */
static void ask_clash(struct offline_turn *turn, const struct session *session)
{
    bool other =
        member(session->workout->json, "categoryId").n > 0 && turn->round + 1 < OFFLINE_ROUNDS_MAX;
    AUTO_BUF json = BUF_INIT(ARGS_MAX);
    struct json_writer w = JSON_WRITER(&json);

    json_write_object_begin(&w);
    json_put_text(&w, "question",
                  arena_printf(turn->arena,
                               "The workout %s overlaps time that is logged already on "
                               "\"%.*s\": nothing was logged. %s",
                               called(turn, session),
                               STR_ARG(title_of(session, task_of(turn, session))),
                               other ? "Shall I log it for its category, without the task?"
                                     : "If it should count, correct the time that is there."));
    json_put_array(&w, "choices");
    if (other)
        json_write_text(&w, FOR_CATEGORY);
    json_write_text(&w, other ? "Leave it" : "All right");
    json_write_array_end(&w);
    json_write_object_end(&w);
    offline_call_json(turn, offline_tool(turn, "ask_user"), buf_str(&json));
}

static bool agreed(struct str said)
{
    return str_eq_nocase(said, STR(FOR_CATEGORY)) || str_eq_nocase(said, STR("yes")) ||
           str_is(said, "1");
}

/* Asks about each, and when that is answered does it. */
static void settle(struct offline_turn *turn, const struct session *sessions, size_t n)
{
    size_t logs = 0;

    for (size_t i = 0; i < n; i++)
        logs += sessions[i].log != NEVER;
    for (size_t i = 0; i < n; i++) {
        const struct session *s = &sessions[i];

        if (s->clash == NEVER)
            continue;
        if (!offline_result_nth(turn, "ask_user", s->clash)) {
            if (turn->round < OFFLINE_ROUNDS_MAX)
                ask_clash(turn, s);
        } else if (!offline_result_nth(turn, LOG, logs) && agreed(answer(turn, s->clash)) &&
                   turn->round < OFFLINE_ROUNDS_MAX) {
            log_time(turn, s, STR_NONE, length_of(turn, s));
        }
    }
}

/* ---- telling ---- */

static void tell(struct offline_turn *turn, const struct session *sessions, size_t n)
{
    size_t logged = 0, log = 0;

    for (size_t i = 0; i < turn->result_count; i++) {
        const struct offline_result *result = &turn->results[i];
        bool logs = str_is(result->tool, LOG), clash = false;

        for (size_t k = 0; logs && k < n; k++)
            if (sessions[k].log == log && (clash = sessions[k].clash != NEVER))
                offline_say(turn, "\"%s\" overlaps time that is logged already.\n",
                            name_of(&sessions[k], turn->arena));
        log += logs;
        if (logs && result->failed && result->code == ERR_VERSION_CONFLICT)
            offline_say(turn, "The workout was changed since I asked: as it was, nothing was "
                              "logged.\n");
        else if (result->failed && !clash)
            offline_report_failure(turn, result);
        else if (!result->failed)
            logged += logs;
    }
    if (logged)
        offline_say(turn, "I logged the time of %zu workout%s.", logged, logged == 1 ? "" : "s");
}

static bool any_failed(const struct offline_turn *turn)
{
    for (size_t i = 0; i < turn->result_count; i++)
        if (turn->results[i].failed)
            return true;
    return false;
}

static bool has_tools(struct offline_turn *turn)
{
    if (!offline_tool(turn, "resolve_task_reference"))
        offline_lacks(turn, "find the task", "resolve_task_reference");
    else if (!offline_tool(turn, "ask_user"))
        offline_lacks(turn, "ask which task is meant", "ask_user");
    else
        return true;
    return false;
}

void offline_log_workouts(struct offline_turn *turn, const struct offline_wake *wake)
{
    struct session sessions[OFFLINE_CHANGES_MAX];
    size_t n = 0;

    for (size_t i = 0; i < wake->n; i++)
        if (offline_is_workout(&wake->changes[i]))
            read_session(&wake->changes[i], &sessions[n++]);
    if (!has_tools(turn))
        return;
    if (turn->round == 0) {
        look_up(turn, sessions, n);
        return;
    }
    take_results(turn, sessions, n);
    if (turn->round == 1 && !any_failed(turn))
        ask_or_log(turn, sessions, n);
    else if ((turn->round == 2 || turn->round == 3) && offline_result_nth(turn, "ask_user", 0))
        log_answered(turn, sessions, n);
    number_calls(turn, sessions, n);
    if (!turn->call_count)
        settle(turn, sessions, n);
    if (!turn->call_count)
        tell(turn, sessions, n);
}
