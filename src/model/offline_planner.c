/* The planner: what is open in a task that is done, and a plan for the day.
 *
 * A day is planned by a plain rule: what is pinned first, then what is due, then by priority; each
 * task gets its estimate (half an hour without one) between nine and six, where nothing is planned
 * yet. What is blocked or on hold is planned only when it is pinned or due.
 *
 *   round 0   the plan, and tasks that are due and open
 *   round 1   blocks, which the person is asked about
 *   round 2   a report of what came of it
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/json.h"
#include "base/json_put.h"
#include "base/timefmt.h"
#include "base/utf8.h"
#include "model/offline_wake_int.h"
#include "model/offline_when_int.h"

#define ARGS_MAX      (64u << 10)
#define REPORT_MAX    (16u << 10)
#define BLOCKS_MAX    6
#define TAKEN_MAX     200
#define LEFT_MAX      120 /* as many tasks as are asked for */
#define DAY_BEGINS    9   /* o'clock */
#define DAY_ENDS      18
#define STEP_MS       (INT64_C(15) * 60000)
#define PAUSE_MS      (INT64_C(15) * 60000)
#define MINUTES_PLAIN 30
#define MINUTES_MOST  120

static struct str member(struct json_object *json, const char *name)
{
    return json_str(json_find(json, name));
}

static struct json_object *list_in(const struct offline_result *result, const char *name)
{
    struct json_object *list = result ? json_find(result->json, name) : NULL;

    return json_object_is_type(list, json_type_array) ? list : NULL;
}

/* ---- a task is done ---- */

static size_t open_items(struct json_object *checklists)
{
    size_t open = 0;

    for (size_t i = 0; i < json_length(checklists); i++) {
        struct json_object *items = json_find(json_object_array_get_idx(checklists, i), "items");

        for (size_t k = 0; json_object_is_type(items, json_type_array) && k < json_length(items);
             k++) {
            bool checked = false;

            (void)json_get_bool(json_object_array_get_idx(items, k), "checked", &checked, NULL);
            open += !checked;
        }
    }
    return open;
}

static void call_with_id(struct offline_turn *turn, const char *tool, const char *key,
                         struct str id, const char *more)
{
    AUTO_BUF json = BUF_INIT(ARGS_MAX);
    struct json_writer w = JSON_WRITER(&json);

    json_write_object_begin(&w);
    json_put_str(&w, key, id);
    if (more) {
        json_put_bool(&w, more, true);
    }
    json_write_object_end(&w);
    offline_call_json(turn, offline_tool(turn, tool), buf_str(&json));
}

static void carry(struct offline_turn *turn)
{
    for (size_t i = 0; i < turn->result_count; i++) {
        const struct offline_result *task = &turn->results[i];
        struct json_object *is = json_find(task->json, "task");

        if (!str_is(task->tool, "read_task") || task->failed)
            continue;
        if (open_items(list_in(task, "checklists")))
            call_with_id(turn, "create_follow_up_task", "sourceTaskId", member(is, "id"),
                         "carryOverOpenChecklistItems");
        else
            offline_say(turn, "Nothing is left open in \"%.*s\".\n",
                        STR_ARG(utf8_truncate(member(is, "title"), 200)));
    }
}

/* What came of calls of one tool; failures as they are. */
static void tell_carried(struct offline_turn *turn)
{
    for (size_t i = 0; i < turn->result_count; i++) {
        const struct offline_result *result = &turn->results[i];
        int64_t moved = 0;

        if (result->failed) {
            offline_report_failure(turn, result);
        } else if (str_is(result->tool, "create_follow_up_task")) {
            (void)json_get_i64(result->json, "movedItems", &moved, NULL);
            offline_say(
                turn, "I carried %lld open item%s into \"%.*s\".\n", (long long)moved,
                moved == 1 ? "" : "s",
                STR_ARG(utf8_truncate(member(json_find(result->json, "task"), "title"), 200)));
        }
    }
}

void offline_carry_over(struct offline_turn *turn, const struct offline_wake *wake)
{
    if (!offline_tool(turn, "read_task")) {
        offline_lacks(turn, "look at the task", "read_task");
        return;
    }
    for (size_t i = 0; turn->round == 0 && i < wake->n; i++)
        if (offline_is_done_task(&wake->changes[i]))
            call_with_id(turn, "read_task", "taskId", wake->changes[i].id, NULL);
    if (turn->round == 1)
        carry(turn);
    if (turn->round > 0 && !turn->call_count)
        tell_carried(turn);
}

/* a: task */
void offline_conclude(struct offline_turn *turn)
{
    struct str words = offline_task_words(turn->match.cap[0]);
    struct offline_arg args[] = { { .names = NULL } };
    const struct offline_result *result;
    int64_t moved = 0;

    if (!offline_tool(turn, "conclude_task_with_rollover")) {
        offline_task_finish(turn);
        return;
    }

    if (!offline_with_task(turn, words, "conclude_task_with_rollover", args, ARRAY_LEN(args)))
        return;
    result = offline_result_of(turn, "conclude_task_with_rollover");
    (void)json_get_i64(result->json, "movedItems", &moved, NULL);
    offline_say(turn, "\"%.*s\" is done.", STR_ARG(offline_task_title(turn, words)));
    if (moved)
        offline_say(turn, " %lld open item%s went into a task that follows.", (long long)moved,
                    moved == 1 ? "" : "s");
}

/* ---- the day ---- */

struct span {
    int64_t from, to;
};

struct day {
    struct span taken[TAKEN_MAX];
    size_t taken_count;
    int64_t from, to; /* what is left of the working day */
    struct {
        struct str id, title, category;
        struct span when;
    } blocks[BLOCKS_MAX];
    size_t count;
    struct str left[LEFT_MAX]; /* ids of those that did not fit */
    size_t left_out;
};

/* Which day is planned, from today. */
static int days_ahead(const struct offline_turn *turn)
{
    return turn->arg && str_is(str_from(turn->arg), "1") ? 1 : 0;
}

static void take_spans(struct day *day, struct json_object *list)
{
    for (size_t i = 0; i < json_length(list) && day->taken_count < TAKEN_MAX; i++) {
        struct json_object *item = json_object_array_get_idx(list, i);
        struct span span;

        if (timefmt_parse(member(item, "startTime"), &span.from, NULL) == 0 &&
            timefmt_parse(member(item, "endTime"), &span.to, NULL) == 0)
            day->taken[day->taken_count++] = span;
    }
}

/* The first time from which so long is free; 0: there is none. */
static int64_t free_from(const struct day *day, int64_t ms)
{
    int64_t at = day->from;
    bool moved = true;

    while (moved && at + ms <= day->to) {
        moved = false;
        for (size_t i = 0; i < day->taken_count; i++) {
            if (at < day->taken[i].to && at + ms > day->taken[i].from) {
                at = day->taken[i].to + PAUSE_MS;
                moved = true;
            }
        }
    }
    return at + ms <= day->to ? at : 0;
}

/* A task may stand among the pinned ones, those that are due, and the open ones: it counts once. */
static bool is_seen(const struct day *day, struct json_object *blocks, struct str task)
{
    for (size_t i = 0; i < day->count; i++)
        if (str_eq(day->blocks[i].id, task))
            return true;
    for (size_t i = 0; i < day->left_out; i++)
        if (str_eq(day->left[i], task))
            return true;
    for (size_t i = 0; i < json_length(blocks); i++)
        if (str_eq(member(json_object_array_get_idx(blocks, i), "taskId"), task))
            return true;
    return false;
}

static void place(struct day *day, struct json_object *blocks, struct json_object *task)
{
    struct str id = member(task, "id");
    int64_t minutes = 0, at;

    if (!id.n || is_seen(day, blocks, id))
        return;
    (void)json_get_i64(task, "estimateMinutes", &minutes, NULL);
    minutes = minutes <= 0 ? MINUTES_PLAIN : minutes < MINUTES_MOST ? minutes : MINUTES_MOST;
    at = day->count < BLOCKS_MAX ? free_from(day, minutes * 60000) : 0;
    if (!at || day->taken_count == TAKEN_MAX) {
        if (day->left_out < LEFT_MAX)
            day->left[day->left_out++] = id;
        return;
    }
    day->taken[day->taken_count++] = (struct span){ at, at + minutes * 60000 };
    day->blocks[day->count].id = id;
    day->blocks[day->count].title = member(task, "title");
    day->blocks[day->count].category = member(task, "categoryId");
    day->blocks[day->count++].when = (struct span){ at, at + minutes * 60000 };
}

/* Tasks that are due (0), and open ones by priority (1), as they were asked for. */
static struct json_object *tasks_of(const struct offline_turn *turn, size_t n)
{
    return list_in(offline_result_nth(turn, "list_tasks_in_scope", n), "tasks");
}

static struct json_object *task_of(const struct offline_turn *turn, struct str id)
{
    for (size_t k = 0; k < 2; k++) {
        struct json_object *tasks = tasks_of(turn, k);

        for (size_t i = 0; i < json_length(tasks); i++)
            if (str_eq(member(json_object_array_get_idx(tasks, i), "id"), id))
                return json_object_array_get_idx(tasks, i);
    }
    return NULL;
}

/* Those that are done meanwhile are not among the tasks. */
static void place_pinned(struct offline_turn *turn, struct day *day, struct json_object *blocks)
{
    const struct offline_result *plan = offline_result_of(turn, "get_or_create_day_plan");
    struct json_object *pinned =
        json_find(json_find(plan ? plan->json : NULL, "dayPlan"), "pinnedTaskIds");

    for (size_t i = 0; json_object_is_type(pinned, json_type_array) && i < json_length(pinned);
         i++) {
        struct json_object *task = task_of(turn, json_str(json_object_array_get_idx(pinned, i)));

        if (task)
            place(day, blocks, task);
    }
}

static bool waits(struct json_object *task)
{
    return str_is(member(task, "status"), "BLOCKED") || str_is(member(task, "status"), "ON_HOLD");
}

static void lay_out(struct offline_turn *turn, struct day *ret_day)
{
    const struct offline_result *plan = offline_result_of(turn, "get_or_create_day_plan");
    struct json_object *blocks = list_in(plan, "blocks");
    int64_t soon = (turn->now_ms + STEP_MS - 1) / STEP_MS * STEP_MS;

    *ret_day = (struct day){ .from = offline_moment(turn, days_ahead(turn), DAY_BEGINS * 60),
                             .to = offline_moment(turn, days_ahead(turn), DAY_ENDS * 60) };
    if (soon > ret_day->from)
        ret_day->from = soon;
    take_spans(ret_day, blocks);
    take_spans(ret_day, list_in(plan, "busy"));
    place_pinned(turn, ret_day, blocks);
    for (size_t k = 0; k < 2; k++) {
        struct json_object *tasks = tasks_of(turn, k);

        for (size_t i = 0; i < json_length(tasks); i++)
            if (k == 0 || !waits(json_object_array_get_idx(tasks, i)))
                place(ret_day, blocks, json_object_array_get_idx(tasks, i));
    }
}

static void look_at_day(struct offline_turn *turn)
{
    const struct model_tool *tasks = offline_tool(turn, "list_tasks_in_scope");
    char today[OFFLINE_DAY_SIZE];

    offline_day(turn, days_ahead(turn), today);
    offline_call_json(turn, offline_tool(turn, "get_or_create_day_plan"),
                      str_from(arena_printf(turn->arena, "{\"planDate\":\"%s\"}", today)));
    offline_call_json(
        turn, tasks,
        str_from(
            arena_printf(turn->arena, "{\"dueTo\":\"%s\",\"order\":\"due\",\"limit\":20}", today)));
    offline_call_json(turn, tasks, STR("{\"order\":\"priority\",\"limit\":100}"));
}

static void propose(struct offline_turn *turn, const struct day *day)
{
    AUTO_BUF json = BUF_INIT(ARGS_MAX);
    struct json_writer w = JSON_WRITER(&json);
    char text[TIMEFMT_SIZE];

    offline_day(turn, days_ahead(turn), text);
    json_write_object_begin(&w);
    json_put_text(&w, "planDate", text);
    json_put_array(&w, "upserts");
    for (size_t i = 0; i < day->count; i++) {
        json_write_object_begin(&w);
        json_put_str(&w, "taskId", day->blocks[i].id);
        if (day->blocks[i].category.n) {
            json_put_str(&w, "categoryId", day->blocks[i].category);
        }
        timefmt_rfc3339(day->blocks[i].when.from, text);
        json_put_text(&w, "startTime", text);
        timefmt_rfc3339(day->blocks[i].when.to, text);
        json_put_text(&w, "endTime", text);
        json_write_object_end(&w);
    }
    json_write_array_end(&w);
    json_write_object_end(&w);
    offline_call_json(turn, offline_tool(turn, "upsert_day_plan_blocks"), buf_str(&json));
}

static void write_day(struct offline_turn *turn, const struct day *day, struct buf *out)
{
    const struct offline_result *done = offline_result_of(turn, "upsert_day_plan_blocks");
    size_t planned =
        json_length(list_in(offline_result_of(turn, "get_or_create_day_plan"), "blocks"));

    if (planned)
        buf_printf(out, "%zu block%s stood in the plan already.\n", planned,
                   planned == 1 ? "" : "s");
    if (!day->count && !planned && !day->left_out)
        buf_printf(out, "No task is open for %s.\n", days_ahead(turn) ? "tomorrow" : "today");
    if (done && done->failed)
        buf_add_text(out, "These blocks were proposed and not taken:\n");
    for (size_t i = 0; i < day->count; i++) {
        buf_add_text(out, "- ");
        offline_add_clock(out, day->blocks[i].when.from);
        buf_add_text(out, " to ");
        offline_add_clock(out, day->blocks[i].when.to);
        buf_printf(out, " %.*s\n", STR_ARG(utf8_truncate(day->blocks[i].title, 200)));
    }
    if (day->left_out)
        buf_printf(out, "%zu %stask%s did not fit before %d:00.\n", day->left_out,
                   day->count ? "more " : "", day->left_out == 1 ? "" : "s", DAY_ENDS);
    buf_add_text(out, "Made by rules, not by a language model: what is pinned first, then what is "
                      "due, then by priority.\n");
}

static void report_day(struct offline_turn *turn, const struct day *day)
{
    AUTO_BUF text = BUF_INIT(REPORT_MAX);
    AUTO_BUF json = BUF_INIT(ARGS_MAX);
    struct json_writer w = JSON_WRITER(&json);
    char today[OFFLINE_DAY_SIZE];

    offline_day(turn, days_ahead(turn), today);
    write_day(turn, day, &text);
    if (!offline_tool(turn, "write_report")) {
        offline_say(turn, "%s", buf_text(&text));
        return;
    }
    json_write_object_begin(&w);
    json_put_text(&w, "title", arena_printf(turn->arena, "Plan for %s", today));
    json_put_str(&w, "text", buf_str(&text));
    json_put_raw(&w, "sources",
                 str_from(arena_printf(turn->arena,
                                       "[{\"type\":\"journal\",\"id\":\"dayplan-%s\"}]", today)));
    json_write_object_end(&w);
    offline_call_json(turn, offline_tool(turn, "write_report"), buf_str(&json));
}

/* Where it stands, and what it says. */
static void say_day(struct offline_turn *turn, const struct day *day)
{
    const struct offline_result *done = offline_result_of(turn, "upsert_day_plan_blocks");
    AUTO_BUF text = BUF_INIT(REPORT_MAX);

    write_day(turn, day, &text);
    offline_say(turn, "%s\n%s",
                !done          ? "Nothing was added to the plan."
                : done->failed ? "The plan is as it was; the report says what I proposed."
                               : "The day is planned; the report says how.",
                buf_text(&text));
}

static bool can_plan(struct offline_turn *turn)
{
    static const char *const needs[] = { "get_or_create_day_plan", "list_tasks_in_scope",
                                         "upsert_day_plan_blocks" };

    for (size_t i = 0; i < ARRAY_LEN(needs); i++) {
        if (!offline_tool(turn, needs[i])) {
            offline_lacks(turn, "plan a day", needs[i]);
            return false;
        }
    }
    return true;
}

void offline_plan_day(struct offline_turn *turn)
{
    const struct offline_result *wrote = offline_result_of(turn, "write_report");
    struct day day;

    if (!can_plan(turn))
        return;
    if (turn->round == 0) {
        look_at_day(turn);
        return;
    }
    if ((turn->round == 1 || wrote) && offline_failed(turn))
        return;
    lay_out(turn, &day);
    if (wrote) {
        say_day(turn, &day);
        return;
    }
    if (turn->round == 1 && day.count)
        propose(turn, &day);
    else
        report_day(turn, &day);
}

void offline_plan_wake(struct offline_turn *turn, const struct offline_wake *wake)
{
    (void)wake;
    offline_plan_day(turn);
}
