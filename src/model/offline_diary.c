/* Looking back: what was done in a stretch of days, and how long something took.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/json.h"
#include "base/timefmt.h"
#include "base/utf8.h"
#include "model/offline_when_int.h"

#define SHOWN       20
#define TITLE_SHOWN 120
#define SUMS_MAX    200
#define TEXT_MAX    (16u << 10)

static struct json_object *list_of(const struct offline_result *result, const char *name)
{
    struct json_object *list = result && !result->failed ? json_find(result->json, name) : NULL;

    return json_object_is_type(list, json_type_array) ? list : NULL;
}

static struct str member(struct json_object *json, const char *name)
{
    return json_str(json_find(json, name));
}

/* ---- what was done ---- */

/* Tasks that are done (0) and those that are open (1), as they were asked for. */
static struct json_object *tasks_of(const struct offline_turn *turn, size_t n)
{
    return list_of(offline_result_nth(turn, "list_tasks_in_scope", n), "tasks");
}

static struct str title_of(const struct offline_turn *turn, struct str task)
{
    for (size_t k = 0; k < 2; k++) {
        struct json_object *tasks = tasks_of(turn, k);

        for (size_t i = 0; i < json_length(tasks); i++) {
            struct json_object *one = json_object_array_get_idx(tasks, i);

            if (task.n && str_eq(member(one, "id"), task))
                return member(one, "title");
        }
    }
    return STR_NONE;
}

struct sum {
    struct str what;
    int64_t ms;
};

int64_t offline_spent_ms(const struct offline_turn *turn, struct json_object *entry)
{
    int64_t from, to;

    if (timefmt_parse(member(entry, "startedAt"), &from, NULL) < 0)
        return 0;
    if (timefmt_parse(member(entry, "endedAt"), &to, NULL) < 0)
        to = turn->now_ms; /* it runs */
    return to > from ? to - from : 0;
}

/* For each task, or description where there is none, the longest first. */
static size_t sum_up(const struct offline_turn *turn, struct json_object *entries, struct sum *sums)
{
    size_t n = 0;

    for (size_t i = 0; i < json_length(entries); i++) {
        struct json_object *entry = json_object_array_get_idx(entries, i);
        struct str what = title_of(turn, member(entry, "taskId"));
        size_t at = 0;

        if (!what.n)
            what = member(entry, "description").n ? member(entry, "description")
                                                  : STR("something else");
        while (at < n && !str_eq(sums[at].what, what))
            at++;
        if (at == n && n < SUMS_MAX)
            sums[n++] = (struct sum){ .what = what };
        if (at < n)
            sums[at].ms += offline_spent_ms(turn, entry);
        for (; at > 0 && at < n && sums[at].ms > sums[at - 1].ms; at--) {
            struct sum more = sums[at];

            sums[at] = sums[at - 1];
            sums[at - 1] = more;
        }
    }
    return n;
}

void offline_write_time(struct offline_turn *turn, struct buf *out)
{
    struct json_object *entries =
        list_of(offline_result_of(turn, "list_time_entries"), "timeEntries");
    struct sum *sums = ARENA_NEW_N(turn->arena, struct sum, SUMS_MAX);
    size_t n = sum_up(turn, entries, sums);
    int64_t all = 0;

    for (size_t i = 0; i < n; i++)
        all += sums[i].ms;
    if (!n) {
        buf_add_text(out, "No time is logged.\n");
        return;
    }
    buf_printf(out, "%s logged:\n", offline_length_text(turn, all / 60000));
    for (size_t i = 0; i < n && i < SHOWN; i++)
        buf_printf(out, "- %.*s, %s\n", STR_ARG(utf8_truncate(sums[i].what, TITLE_SHOWN)),
                   offline_length_text(turn, sums[i].ms / 60000));
    if (n > SHOWN)
        buf_printf(out, "... and %zu more.\n", n - SHOWN);
}

static bool lies_in(struct str time, int64_t from, int64_t to)
{
    int64_t at;

    return timefmt_parse(time, &at, NULL) == 0 && at >= from && at < to;
}

size_t offline_write_done(struct offline_turn *turn, int64_t from, int64_t to, struct buf *out)
{
    struct json_object *tasks = tasks_of(turn, 0);
    size_t said = 0;

    for (size_t i = 0; i < json_length(tasks) && said < SHOWN; i++) {
        struct json_object *task = json_object_array_get_idx(tasks, i);

        if (!str_is(member(task, "status"), "DONE") || !lies_in(member(task, "closedAt"), from, to))
            continue;
        said++;
        buf_printf(out, "- %.*s\n", STR_ARG(utf8_truncate(member(task, "title"), TITLE_SHOWN)));
    }
    return said;
}

static void say_entries(struct offline_turn *turn)
{
    struct json_object *entries =
        list_of(offline_result_of(turn, "list_entries_in_scope"), "entries");

    if (json_length(entries))
        offline_say(turn, "Noted:\n");
    for (size_t i = 0; i < json_length(entries) && i < SHOWN; i++) {
        struct json_object *entry = json_object_array_get_idx(entries, i);
        struct str name = member(entry, "title").n     ? member(entry, "title")
                          : member(entry, "subtype").n ? member(entry, "subtype")
                                                       : member(entry, "body");

        offline_say(turn, "- %.*s%s%.*s\n", STR_ARG(member(entry, "kind")), name.n ? ": " : "",
                    STR_ARG(utf8_truncate(name, TITLE_SHOWN)));
    }
}

void offline_look_back(struct offline_turn *turn, int64_t from_ms, int64_t to_ms)
{
    const struct model_tool *tasks = offline_tool(turn, "list_tasks_in_scope");
    const struct model_tool *times = offline_tool(turn, "list_time_entries");
    char from[TIMEFMT_SIZE], to[TIMEFMT_SIZE];

    timefmt_rfc3339(from_ms, from);
    timefmt_rfc3339(to_ms, to);
    if (times)
        offline_call_json(
            turn, times,
            str_from(arena_printf(turn->arena, "{\"from\":\"%s\",\"to\":\"%s\",\"limit\":200}",
                                  from, to)));
    if (tasks) {
        offline_call_json(turn, tasks,
                          STR("{\"closed\":true,\"order\":\"updated\",\"limit\":100}"));
        offline_call_json(turn, tasks, STR("{\"order\":\"priority\",\"limit\":100}"));
    }
}

static void look_at_entries(struct offline_turn *turn, const struct offline_span *span)
{
    const struct model_tool *entries = offline_tool(turn, "list_entries_in_scope");
    char from[TIMEFMT_SIZE], to[TIMEFMT_SIZE];

    timefmt_rfc3339(span->from, from);
    timefmt_rfc3339(span->to, to);
    if (entries)
        offline_call_json(
            turn, entries,
            str_from(arena_printf(turn->arena, "{\"from\":\"%s\",\"to\":\"%s\",\"limit\":50}", from,
                                  to)));
}

/* a: when; nothing: today */
void offline_diary(struct offline_turn *turn)
{
    AUTO_BUF time = BUF_INIT(TEXT_MAX);
    AUTO_BUF done = BUF_INIT(TEXT_MAX);
    char first[OFFLINE_DAY_SIZE], last[OFFLINE_DAY_SIZE];
    struct offline_span span;

    if (!offline_span_of(turn, turn->match.cap[0], &span)) {
        offline_say(turn,
                    "I did not understand when \"%.*s\" is. I know today, yesterday, days of the "
                    "week, this week, last week, this month and \"the last 10 days\".",
                    STR_ARG(turn->match.cap[0]));
        return;
    }
    if (!offline_tool(turn, "list_time_entries")) {
        offline_lacks(turn, "look back", "list_time_entries");
        return;
    }
    if (turn->round == 0) {
        offline_look_back(turn, span.from, span.to);
        look_at_entries(turn, &span);
        return;
    }
    if (offline_failed(turn))
        return;
    offline_day(turn, span.first, first);
    offline_day(turn, span.last, last);
    offline_say(turn, "%s%s%s: ", first, span.first != span.last ? " to " : "",
                span.first != span.last ? last : "");
    offline_write_time(turn, &time);
    offline_say(turn, "%s", buf_text(&time));
    if (offline_write_done(turn, span.from, span.to, &done))
        offline_say(turn, "Done:\n%s", buf_text(&done));
    say_entries(turn);
}

/* ---- how long ---- */

/* The only task that was found; empty: none or several, which was said. */
static struct str found_task(struct offline_turn *turn, struct str words)
{
    const struct offline_result *result = offline_result_of(turn, "resolve_task_reference");
    struct json_object *list = list_of(result, "candidates");
    bool ambiguous = true;

    (void)json_get_bool(result ? result->json : NULL, "ambiguous", &ambiguous, NULL);
    if (!json_length(list))
        offline_say_no_task(turn, result, words);
    else if (ambiguous) {
        offline_say(turn, "\"%.*s\" could be any of these; please say its title:\n",
                    STR_ARG(words));
        offline_report_lines(turn, result);
    } else
        return member(json_object_array_get_idx(list, 0), "taskId");
    return STR_NONE;
}

static void ask_time(struct offline_turn *turn, struct str task, const struct offline_span *span)
{
    char from[TIMEFMT_SIZE], to[TIMEFMT_SIZE];

    timefmt_rfc3339(span->from, from);
    timefmt_rfc3339(span->to, to);
    offline_call_json(
        turn, offline_tool(turn, "list_time_entries"),
        str_from(span->to ? arena_printf(turn->arena,
                                         "{\"taskId\":\"%.*s\",\"from\":\"%s\",\"to\":\"%s\","
                                         "\"limit\":200}",
                                         STR_ARG(task), from, to)
                          : arena_printf(turn->arena, "{\"taskId\":\"%.*s\",\"limit\":200}",
                                         STR_ARG(task))));
}

/* a: task, perhaps with a day */
void offline_how_long(struct offline_turn *turn)
{
    struct str words = turn->match.cap[0], day = words, task;
    const struct offline_arg query[] = { { .names = offline_name_query } };
    const struct offline_result *time = offline_result_of(turn, "list_time_entries");
    struct offline_span span = { .to = 0 };
    struct offline_arg asked = query[0];
    int64_t minutes = 0;
    int days;

    if (offline_take_day(turn, &words, &days))
        (void)offline_span_of(turn, str_trim(str_skip(day, words.n)), &span);
    words = offline_task_words(words);
    asked.text = words;
    if (!offline_tool(turn, "resolve_task_reference"))
        offline_lacks(turn, "find the task", "resolve_task_reference");
    else if (!offline_tool(turn, "list_time_entries"))
        offline_lacks(turn, "look at time", "list_time_entries");
    else if (turn->round == 0)
        offline_call(turn, offline_tool(turn, "resolve_task_reference"), &asked, 1);
    else if (offline_failed(turn))
        return;
    else if (time) {
        (void)json_get_i64(time->json, "totalMinutes", &minutes, NULL);
        offline_say(turn, "%s on \"%.*s\".", offline_length_text(turn, minutes),
                    STR_ARG(offline_task_title(turn, words)));
    } else if ((task = found_task(turn, words)).n)
        ask_time(turn, task, &span);
}
