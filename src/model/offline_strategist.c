/* The strategist: what ratings, plans and tasks say, as a report. It changes nothing.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/json.h"
#include "base/json_put.h"
#include "base/timefmt.h"
#include "base/utf8.h"
#include "model/offline_wake_int.h"
#include "model/offline_when_int.h"

#define ARGS_MAX    (64u << 10)
#define REPORT_MAX  (16u << 10)
#define WEEK_MS     (INT64_C(7) * 24 * 3600 * 1000)
#define SHOWN       10
#define FEW_RATINGS 3

static struct json_object *list_in(const struct offline_result *result, const char *name)
{
    struct json_object *list = result ? json_find(result->json, name) : NULL;

    return json_object_is_type(list, json_type_array) ? list : NULL;
}

static void look(struct offline_turn *turn)
{
    char from[TIMEFMT_SIZE], to[TIMEFMT_SIZE], today[OFFLINE_DAY_SIZE];
    struct arena *arena = turn->arena;

    timefmt_rfc3339(turn->now_ms - WEEK_MS, from);
    timefmt_rfc3339(turn->now_ms, to);
    offline_day(turn, 0, today);
    offline_call_json(turn, offline_tool(turn, "get_ratings_summary"),
                      str_from(arena_printf(arena, "{\"from\":\"%s\",\"to\":\"%s\"}", from, to)));
    if (offline_tool(turn, "get_or_create_day_plan"))
        offline_call_json(turn, offline_tool(turn, "get_or_create_day_plan"),
                          str_from(arena_printf(arena, "{\"planDate\":\"%s\"}", today)));
    offline_look_back(turn, turn->now_ms - WEEK_MS, turn->now_ms);
}

/* ---- the text ---- */

static double mean_of(struct json_object *summary)
{
    return json_object_get_double(json_find(summary, "mean"));
}

static void write_ratings(struct buf *out, struct json_object *list)
{
    struct json_object *low = NULL, *high = NULL;
    int64_t all = 0;

    buf_add_text(out, "## Ratings of the last seven days\n\n");
    for (size_t i = 0; i < json_length(list) && i < SHOWN; i++) {
        struct json_object *one = json_object_array_get_idx(list, i);
        int64_t count = 0;

        (void)json_get_i64(one, "count", &count, NULL);
        all += count;
        buf_printf(out, "- %.*s: %.1f of 5, %lld time%s\n",
                   STR_ARG(json_str(json_find(one, "dimension"))), mean_of(one), (long long)count,
                   count == 1 ? "" : "s");
        if (!low || mean_of(one) < mean_of(low))
            low = one;
        if (!high || mean_of(one) > mean_of(high))
            high = one;
    }
    if (!json_length(list))
        buf_add_text(out, "There are none: nothing can be said about how it went.\n");
    else if (all < FEW_RATINGS)
        buf_add_text(out, "These are few: take them as a hint.\n");
    if (low && low != high)
        buf_printf(out, "\nBest was %.*s; %.*s is what to look at first.\n",
                   STR_ARG(json_str(json_find(high, "dimension"))),
                   STR_ARG(json_str(json_find(low, "dimension"))));
}

static void write_tasks(struct buf *out, struct json_object *list)
{
    buf_printf(out, "\n## Open tasks\n\n%zu%s %s open.\n", json_length(list),
               json_length(list) >= 100 ? " or more" : "", json_length(list) == 1 ? "is" : "are");
    for (size_t i = 0; i < json_length(list) && i < SHOWN; i++) {
        struct json_object *task = json_object_array_get_idx(list, i);
        struct str due = json_str(json_find(task, "due"));

        buf_printf(out, "- %.*s %.*s%s%.*s\n", STR_ARG(json_str(json_find(task, "priority"))),
                   STR_ARG(utf8_truncate(json_str(json_find(task, "title")), 200)),
                   due.n ? ", due " : "", STR_ARG(due));
    }
}

static void write_review(struct offline_turn *turn, struct buf *out)
{
    const struct offline_result *plan = offline_result_of(turn, "get_or_create_day_plan");
    size_t blocks = json_length(list_in(plan, "blocks"));

    if (offline_result_of(turn, "list_time_entries")) {
        buf_add_text(out, "## Time of the last seven days\n\n");
        offline_write_time(turn, out);
        buf_add_char(out, '\n');
    }
    if (offline_result_of(turn, "list_tasks_in_scope")) {
        buf_add_text(out, "## Finished\n\n");
        if (!offline_write_done(turn, turn->now_ms - WEEK_MS, turn->now_ms, out))
            buf_add_text(out, "No task was finished.\n");
        buf_add_char(out, '\n');
    }
    write_ratings(out, list_in(offline_result_of(turn, "get_ratings_summary"), "summaries"));
    if (plan)
        buf_printf(out, "\n## Today\n\n%zu block%s planned.\n", blocks,
                   blocks == 1 ? " is" : "s are");
    if (offline_result_of(turn, "list_tasks_in_scope"))
        write_tasks(out, list_in(offline_result_of(turn, "list_tasks_in_scope"), "tasks"));
    buf_add_text(out, "\nMade by rules, not by a language model: these are counts, and no "
                      "judgement.\n");
}

static void report(struct offline_turn *turn)
{
    AUTO_BUF text = BUF_INIT(REPORT_MAX);
    AUTO_BUF json = BUF_INIT(ARGS_MAX);
    struct json_writer w = JSON_WRITER(&json);
    char today[OFFLINE_DAY_SIZE];

    offline_day(turn, 0, today);
    write_review(turn, &text);
    json_write_object_begin(&w);
    json_put_text(&w, "title", arena_printf(turn->arena, "Review of the week to %s", today));
    json_put_str(&w, "text", buf_str(&text));
    json_put_raw(&w, "sources", STR("[{\"type\":\"tool_output\",\"id\":\"get_ratings_summary\"}]"));
    json_write_object_end(&w);
    offline_call_json(turn, offline_tool(turn, "write_report"), buf_str(&json));
}

static void say_review(struct offline_turn *turn)
{
    AUTO_BUF text = BUF_INIT(REPORT_MAX);

    write_review(turn, &text);
    offline_say(turn, "The review is written.\n\n%s", buf_text(&text));
}

void offline_review(struct offline_turn *turn)
{
    const char *lacks = !offline_tool(turn, "get_ratings_summary") ? "get_ratings_summary"
                        : !offline_tool(turn, "write_report")      ? "write_report"
                                                                   : NULL;

    if (lacks)
        offline_lacks(turn, "review a week", lacks);
    else if (turn->round == 0)
        look(turn);
    else if (offline_failed(turn))
        return;
    else if (offline_result_of(turn, "write_report"))
        say_review(turn);
    else
        report(turn);
}

void offline_review_wake(struct offline_turn *turn, const struct offline_wake *wake)
{
    (void)wake;
    offline_review(turn);
}
