/* Alarms: reminders that people ask for, and what is done when one rings.
 *
 *   session   round 0 what runs, and how many sessions there were; round 1 the timer stops and the
 *             break begins; round 2 it is told
 *   break     is over
 *   others    their note is told
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/json.h"
#include "base/json_put.h"
#include "base/timefmt.h"
#include "base/utf8.h"
#include "model/offline_alarm_int.h"
#include "model/offline_wake_int.h"

#define ARGS_MAX     4096
#define NOTE_SHOWN   400
#define MINUTES_MOST 480
#define LATE_MS      90000                 /* then it stops when it should have rung */
#define TOO_LATE_MS  (INT64_C(10) * 60000) /* then nobody waits for a break */
#define UNTIL_LONG   4                     /* sessions before a long break */

/* ---- the tools ---- */

void offline_set_alarm(struct offline_turn *turn, const char *name, int64_t minutes,
                       struct str note)
{
    AUTO_BUF json = BUF_INIT(ARGS_MAX);
    struct json_writer w = JSON_WRITER(&json);

    json_write_object_begin(&w);
    json_put_text(&w, "name", name);
    json_put_i64(&w, "minutes", minutes);
    if (note.n) {
        json_put_str(&w, "note", utf8_truncate(note, NOTE_SHOWN));
    }
    json_write_object_end(&w);
    offline_call_json(turn, offline_tool(turn, "set_alarm"), buf_str(&json));
}

struct json_object *offline_alarms(const struct offline_turn *turn)
{
    const struct offline_result *result = offline_result_of(turn, "list_alarms");
    struct json_object *list = result ? json_find(result->json, "alarms") : NULL;

    return json_object_is_type(list, json_type_array) ? list : NULL;
}

bool offline_alarm_named(const struct offline_turn *turn, const char *name)
{
    struct json_object *alarms = offline_alarms(turn);

    for (size_t i = 0; i < json_length(alarms); i++)
        if (str_is(json_str(json_find(json_object_array_get_idx(alarms, i), "name")), name))
            return true;
    return false;
}

/* ---- reminders ---- */

static void remind_in(struct offline_turn *turn, int64_t minutes, struct str note)
{
    int64_t at = turn->now_ms + minutes * 60000;
    const char *clock = offline_clock_text(turn, at);

    if (!offline_tool(turn, "set_alarm")) {
        offline_lacks(turn, "ring", "set_alarm");
    } else if (minutes > MINUTES_MOST) {
        offline_say(turn, "I can ring within %d hours. For later, say \"add a task to ...\".",
                    MINUTES_MOST / 60);
    } else if (turn->round == 0) {
        offline_set_alarm(turn, arena_printf(turn->arena, "at-%.2s%.2s", clock, clock + 3), minutes,
                          note);
    } else if (!offline_failed(turn)) {
        offline_say(turn, "I ring at %s%s%.*s.", clock, note.n ? ": " : "", STR_ARG(note));
    }
}

/* "call bob today" is "call bob"; false: it is for another day. */
static bool is_for_today(const struct offline_turn *turn, struct str *note)
{
    struct str rest = *note;
    int days = -1;

    if (offline_take_day(turn, &rest, &days) && days == 0)
        *note = rest;
    return !offline_names_day(turn, *note);
}

/* "call bob in 20 minutes", "call bob at 15:30": the note, and how long; false: neither. */
static bool split_reminder(const struct offline_turn *turn, struct str text, struct str *ret_note,
                           int64_t *ret_minutes)
{
    for (size_t at = text.n; at-- > 1;) {
        struct str tail = str_trim(str_skip(text, at + 3));
        int64_t minutes = 0;
        int clock;

        if (text.p[at - 1] != ' ' || at + 3 >= text.n || text.p[at + 2] != ' ')
            continue;
        if (str_eq_nocase(str_of(text.p + at, 2), STR("in")))
            minutes = offline_minutes(tail);
        clock = str_eq_nocase(str_of(text.p + at, 2), STR("at")) ? offline_clock(tail) : -1;
        if (clock >= 0)
            minutes = (offline_moment(turn, 0, clock) - turn->now_ms + 59999) / 60000;
        if (minutes <= 0)
            continue;
        *ret_minutes = minutes;
        *ret_note = str_trim(str_take(text, at));
        return clock < 0 || is_for_today(turn, ret_note);
    }
    return false;
}

/* Who asks to be reminded waits for something to ring. */
static void remind_by_task(struct offline_turn *turn)
{
    const struct offline_result *made;

    offline_task_create(turn);
    made = offline_result_of(turn, "create_task");
    if (turn->call_count || !made || made->failed)
        return;
    offline_say(turn, " It stands in your tasks and will not ring");
    if (offline_tool(turn, "set_alarm"))
        offline_say(turn, ": I ring only at a time within %d hours", MINUTES_MOST / 60);
    offline_say(turn, ".");
}

/* a: what, with a time of today at its end or without; b: how long until then, where it stood
 * before. What has no time is a task. */
void offline_remind(struct offline_turn *turn)
{
    struct str note = turn->match.cap[0], length = turn->match.cap[1];
    int64_t minutes = length.p ? offline_minutes(length) : 0;

    if (length.p && minutes <= 0)
        offline_say(turn,
                    "I did not understand how long \"%.*s\" is. Say for example \"remind me in "
                    "20 minutes to call Ada\".",
                    STR_ARG(length));
    else if (length.p || split_reminder(turn, note, &note, &minutes))
        remind_in(turn, minutes, note);
    else
        remind_by_task(turn);
}

/* a: what; b: when, of today or of another day, on which a task is due. */
void offline_remind_then(struct offline_turn *turn)
{
    struct str what = turn->match.cap[0], when = turn->match.cap[1];
    struct str first = str_take(when, 3);
    bool today = str_eq_nocase(first, STR("at ")) || str_eq_nocase(first, STR("in "));

    turn->match.cap[0] =
        str_from(arena_printf(turn->arena, "%.*s %.*s", STR_ARG(what), STR_ARG(when)));
    turn->match.cap[1] = STR_NONE;
    (today ? offline_remind : remind_by_task)(turn);
}

/* ---- ringing ---- */

struct ring {
    struct str name, note;
    int64_t minutes, at;
};

static void read_ring(struct json_object *alarm, struct ring *ret_ring)
{
    int64_t set = 0;

    *ret_ring =
        (struct ring){ .name = json_str(json_find(alarm, "name")),
                       .note = utf8_truncate(json_str(json_find(alarm, "note")), NOTE_SHOWN) };
    if (timefmt_parse(json_str(json_find(alarm, "ringsAt")), &ret_ring->at, NULL) == 0 &&
        timefmt_parse(json_str(json_find(alarm, "setAt")), &set, NULL) == 0)
        ret_ring->minutes = (ret_ring->at - set + 30000) / 60000;
}

static struct json_object *running_session(const struct offline_turn *turn)
{
    const struct offline_result *time = offline_result_of(turn, "list_time_entries");
    struct json_object *running = time ? json_find(time->json, "running") : NULL;

    return str_starts(json_str(json_find(running, "description")), STR(OFFLINE_SESSION_MARK))
               ? running
               : NULL;
}

/* Sessions in the list of this turn, the one that runs among them, and their time. */
static size_t sessions_listed(const struct offline_turn *turn, int64_t *ret_ms)
{
    const struct offline_result *time = offline_result_of(turn, "list_time_entries");
    struct json_object *list = time ? json_find(time->json, "timeEntries") : NULL;
    size_t n = 0;

    *ret_ms = 0;
    for (size_t i = 0; json_object_is_type(list, json_type_array) && i < json_length(list); i++) {
        struct json_object *entry = json_object_array_get_idx(list, i);

        if (!str_starts(json_str(json_find(entry, "description")), STR(OFFLINE_SESSION_MARK)))
            continue;
        n++;
        *ret_ms += offline_spent_ms(turn, entry);
    }
    return n;
}

/* a: when; nothing: today */
void offline_sessions(struct offline_turn *turn)
{
    const struct model_tool *tool = offline_tool(turn, "list_time_entries");
    char from[TIMEFMT_SIZE], to[TIMEFMT_SIZE];
    struct offline_span span;
    int64_t ms = 0;
    size_t n;

    if (!offline_span_of(turn, turn->match.cap[0], &span)) {
        offline_unknown(turn);
    } else if (!tool) {
        offline_lacks(turn, "count sessions", "list_time_entries");
    } else if (turn->round == 0) {
        timefmt_rfc3339(span.from, from);
        timefmt_rfc3339(span.to, to);
        offline_call_json(
            turn, tool,
            str_from(arena_printf(turn->arena, "{\"from\":\"%s\",\"to\":\"%s\",\"limit\":200}",
                                  from, to)));
    } else if (!offline_failed(turn)) {
        n = sessions_listed(turn, &ms);
        offline_say(turn, n ? "%zu session%s, %s in all.%s" : "No session yet.", n,
                    n == 1 ? "" : "s", offline_length_text(turn, ms / 60000),
                    running_session(turn) ? " One of them runs." : "");
    }
}

static int64_t break_minutes(const struct offline_turn *turn)
{
    int64_t ms;
    size_t n = sessions_listed(turn, &ms);

    return n > 0 && n % UNTIL_LONG == 0 ? OFFLINE_BREAK_LONG : OFFLINE_BREAK_SHORT;
}

static void look_at_time(struct offline_turn *turn)
{
    char from[TIMEFMT_SIZE];

    timefmt_rfc3339(offline_moment(turn, 0, 0), from);
    offline_call_json(turn, offline_tool(turn, "list_time_entries"),
                      str_from(arena_printf(turn->arena, "{\"from\":\"%s\",\"limit\":100}", from)));
}

static void end_session(struct offline_turn *turn, const struct ring *ring)
{
    int64_t late = turn->now_ms - ring->at;
    char at[TIMEFMT_SIZE];

    timefmt_rfc3339(ring->at, at);
    offline_call_json(turn, offline_tool(turn, "stop_task_timer"),
                      late > LATE_MS
                          ? str_from(arena_printf(turn->arena, "{\"endedAt\":\"%s\"}", at))
                          : STR("{}"));
    if (late <= TOO_LATE_MS)
        offline_set_alarm(turn, "break", break_minutes(turn), ring->note);
}

static void tell_session(struct offline_turn *turn, const struct ring *ring)
{
    const struct offline_result *stop = offline_result_of(turn, "stop_task_timer");
    const struct offline_result *rest = offline_result_of(turn, "set_alarm");

    offline_say(turn, "%s%s%.*s %s over", offline_length_text(turn, ring->minutes),
                ring->note.n ? " on " : "", STR_ARG(ring->note), ring->minutes == 1 ? "is" : "are");
    if (turn->now_ms - ring->at > LATE_MS)
        offline_say(turn, " since %s; I could not ring then", offline_clock_text(turn, ring->at));
    offline_say(turn, ".");
    if (stop && stop->failed)
        offline_report_failure(turn, stop);
    else if (stop)
        offline_say(turn, " The timer has stopped and the time is logged.");
    if (rest && !rest->failed)
        offline_say(turn, " Take a break: I ring again in %lld minutes.",
                    (long long)break_minutes(turn));
    if (stop && !stop->failed && offline_tool(turn, "create_or_update_rating"))
        offline_say(turn, " How was it, from 1 to 5?");
}

static void ring_session(struct offline_turn *turn, const struct ring *ring)
{
    if (turn->round == 0 && offline_tool(turn, "list_time_entries") &&
        offline_tool(turn, "stop_task_timer"))
        look_at_time(turn);
    else if (turn->round == 1 && running_session(turn))
        end_session(turn, ring);
    else
        tell_session(turn, ring);
}

static void tell_other(struct offline_turn *turn, const struct ring *ring)
{
    if (str_is(ring->name, "break"))
        offline_say(turn,
                    "The break is over. \"start 25 minutes on %.*s\" begins the next session.",
                    STR_ARG(ring->note.n ? ring->note : STR("...")));
    else if (ring->note.n)
        offline_say(turn, "It is time: %.*s.", STR_ARG(ring->note));
    else
        offline_say(turn, "%s %s over.", offline_length_text(turn, ring->minutes),
                    ring->minutes == 1 ? "is" : "are");
    if (turn->now_ms - ring->at > LATE_MS)
        offline_say(turn, " (That was for %s; I could not ring then.)",
                    offline_clock_text(turn, ring->at));
}

void offline_ring(struct offline_turn *turn, const struct offline_wake *wake)
{
    struct ring ring;

    read_ring(wake->alarm, &ring);
    if (str_is(ring.name, "session"))
        ring_session(turn, &ring);
    else
        tell_other(turn, &ring);
}
