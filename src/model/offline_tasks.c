/* Tasks and time, with the journal's tools where they were given.
 *
 * Tools that change a task want its id, so a name is resolved first. When the name fits several
 * tasks nothing is changed: the person is asked which.
 *
 * SPDX-License-Identifier: MIT
 */
#include <ctype.h>

#include "base/json.h"
#include "base/timefmt.h"
#include "model/offline_int.h"

static const char *const name_status[] = { "status", "state", NULL };
static const char *const name_due[] = { "dueDate", "due_date", "due", "date", NULL };
static const char *const name_priority[] = { "priority", NULL };
static const char *const name_start[] = { "startedAt", "start", "startTime", "dateFrom", NULL };
static const char *const name_end[] = { "endedAt", "end", "endTime", "dateTo", NULL };
static const char *const name_note[] = { "description", "note", "text", "comment", NULL };
static const char *const name_category[] = { "categoryId", "category_id", NULL };
static const char *const name_items[] = { "items", "titles", "checklistItems", NULL };

struct str offline_task_words(struct str words)
{
    static const char *const front[] = { "the task ", "task ", "the ", "my task ", "my " };

    words = str_trim(words);
    for (size_t i = 0; i < ARRAY_LEN(front); i++) {
        struct str part = str_from(front[i]);

        if (words.n > part.n && str_eq_nocase(str_take(words, part.n), part))
            return str_trim(str_skip(words, part.n));
    }
    return words;
}

/* ---- list and create ---- */

void offline_tasks_list(struct offline_turn *turn)
{
    const struct model_tool *tool = offline_tool(turn, "list_tasks_in_scope");
    const struct offline_result *last;

    if (!tool) {
        offline_lacks(turn, "list tasks", "list_tasks_in_scope");
        return;
    }
    if (turn->round == 0) {
        offline_call(turn, tool, NULL, 0);
        return;
    }
    if (offline_failed(turn))
        return;
    last = offline_result_last(turn);
    if (!last->line_count) {
        offline_say(turn, "There are no tasks.");
        return;
    }
    offline_say(turn, "%zu task%s:\n", last->line_count, last->line_count == 1 ? "" : "s");
    offline_report_lines(turn, last);
}

/* The first category that the agent may use, from its list. */
static struct str category_from(const struct offline_result *result)
{
    struct json_object *list = json_find(result->json, "categories");
    struct json_object *first;

    if (json_object_is_type(result->json, json_type_array))
        list = result->json;
    if (!json_object_is_type(list, json_type_array) || !json_object_array_length(list))
        return STR_NONE;
    first = json_object_array_get_idx(list, 0);
    for (size_t i = 0; name_category[i]; i++) {
        if (json_str(json_find(first, name_category[i])).n)
            return json_str(json_find(first, name_category[i]));
    }
    return json_object_is_type(first, json_type_string) ? json_str(first)
                                                        : json_str(json_find(first, "id"));
}

void offline_task_create(struct offline_turn *turn)
{
    const struct model_tool *tool = offline_tool(turn, "create_task");
    const struct model_tool *categories = offline_tool(turn, "list_allowed_categories");
    struct offline_arg args[] = { { .names = offline_name_title, .text = turn->match.cap[0] },
                                  { .names = name_category, .optional = true } };
    const struct offline_result *asked = offline_result_of(turn, "list_allowed_categories");
    bool needs = tool && offline_requires(tool, "categoryId");

    if (!tool) {
        offline_lacks(turn, "create tasks", "create_task");
        return;
    }
    if (turn->round == 0 && needs && categories) {
        offline_call(turn, categories, NULL, 0);
        return;
    }
    if (turn->round > 0 && offline_failed(turn))
        return;
    if (offline_result_of(turn, "create_task")) {
        offline_say(turn, "I created the task \"%.*s\".", STR_ARG(turn->match.cap[0]));
        return;
    }
    if (asked)
        args[1].text = category_from(asked);
    offline_call(turn, tool, args, args[1].text.n ? 2 : 1);
}

/* ---- finding the task that is meant ---- */

static struct str item_id(struct json_object *item)
{
    for (size_t i = 0; offline_name_task[i]; i++) {
        if (json_str(json_find(item, offline_name_task[i])).n)
            return json_str(json_find(item, offline_name_task[i]));
    }
    return STR_NONE;
}

static struct json_object *candidates(const struct offline_result *result)
{
    static const char *const names[] = { "candidates", "tasks", "matches", "results" };

    if (json_object_is_type(result->json, json_type_array))
        return result->json;
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        struct json_object *list = json_find(result->json, names[i]);

        if (json_object_is_type(list, json_type_array))
            return list;
    }
    return NULL;
}

/* The only task that is called so; empty: none, or several are. */
static struct str titled(struct json_object *list, struct str words)
{
    struct str id = STR_NONE;
    size_t n = 0;

    for (size_t i = 0; list && i < json_object_array_length(list); i++) {
        struct json_object *item = json_object_array_get_idx(list, i);

        if (!str_eq_nocase(json_str(json_find(item, "title")), words))
            continue;
        id = item_id(item);
        n++;
    }
    return n == 1 ? id : STR_NONE;
}

/* The only one that the words can mean. Who resolved them says so, or it follows from the titles.
 */
static struct str only(const struct offline_result *result, struct json_object *list,
                       struct str words, size_t *ret_fitting)
{
    size_t n = list ? json_object_array_length(list) : 0;
    struct str id = STR_NONE;
    bool ambiguous = true;

    *ret_fitting = 0;
    if (n > 0 && json_get_bool(result->json, "ambiguous", &ambiguous, NULL) > 0) {
        *ret_fitting = ambiguous ? n : 1;
        return ambiguous ? STR_NONE : item_id(json_object_array_get_idx(list, 0));
    }
    for (size_t i = 0; i < n; i++) {
        struct json_object *item = json_object_array_get_idx(list, i);
        struct str title = json_str(json_find(item, "title"));

        if (n > 1 && title.n && !offline_contains(title, words))
            continue;
        id = item_id(item);
        ++*ret_fitting;
    }
    return *ret_fitting == 1 ? id : STR_NONE;
}

/* The one task that words name; else asks and is empty. */
static struct str pick(struct offline_turn *turn, const struct offline_result *result,
                       struct str words)
{
    struct json_object *list = candidates(result);
    struct str id = titled(list, words);
    size_t fitting;

    if (!id.n)
        id = only(result, list, words, &fitting);
    if (id.n)
        return id;
    if (!fitting) {
        offline_say(turn, "I found no task \"%.*s\".", STR_ARG(words));
        return STR_NONE;
    }
    offline_say(turn, "\"%.*s\" could be any of these; please say its title:\n", STR_ARG(words));
    offline_report_lines(turn, result);
    return STR_NONE;
}

bool offline_with_task(struct offline_turn *turn, struct str words, const char *name,
                       struct offline_arg *args, size_t n)
{
    const struct model_tool *tool = offline_tool(turn, name);
    const struct model_tool *resolve = offline_tool(turn, "resolve_task_reference");
    const struct offline_arg query[] = { { .names = offline_name_query, .text = words } };

    if (!tool) {
        offline_lacks(turn, "work with tasks and time", name);
        return false;
    }
    if (turn->round == 0 && resolve) {
        offline_call(turn, resolve, query, 1);
        return false;
    }
    if (turn->round == 0) {
        if (!(resolve = offline_tool(turn, "list_tasks_in_scope")))
            offline_lacks(turn, "find the task", "resolve_task_reference");
        else
            offline_call(turn, resolve, NULL, 0);
        return false;
    }
    if (offline_failed(turn))
        return false;
    if (offline_result_of(turn, name))
        return true;
    args[0] = (struct offline_arg){ .names = offline_name_task,
                                    .text = pick(turn, offline_result_last(turn), words) };
    if (args[0].text.n)
        offline_call(turn, tool, args, n);
    return false;
}

/* ---- changing ---- */

void offline_task_finish(struct offline_turn *turn)
{
    struct str words = offline_task_words(turn->match.cap[0]);
    struct offline_arg args[] = { { .names = NULL },
                                  { .names = name_status, .text = STR("DONE") } };

    if (offline_with_task(turn, words, "update_task_fields", args, ARRAY_LEN(args)))
        offline_say(turn, "The task \"%.*s\" is done.", STR_ARG(words));
}

/* today, tomorrow, 2026-11-20, or the words as they are. */
static struct str date_of(struct offline_turn *turn, struct str words)
{
    char text[OFFLINE_DAY_SIZE];
    int days = 0;

    if (str_eq_nocase(words, STR("tomorrow")))
        days = 1;
    else if (!str_eq_nocase(words, STR("today")))
        return words;
    offline_day(turn, days, text);
    return str_from(arena_text(turn->arena, text));
}

void offline_task_due(struct offline_turn *turn)
{
    struct str words = offline_task_words(turn->match.cap[0]),
               date = date_of(turn, turn->match.cap[1]);
    struct offline_arg args[] = { { .names = NULL }, { .names = name_due, .text = date } };

    if (offline_with_task(turn, words, "update_task_due_date", args, ARRAY_LEN(args)))
        offline_say(turn, "The task \"%.*s\" is due on %.*s.", STR_ARG(words), STR_ARG(date));
}

void offline_task_priority(struct offline_turn *turn)
{
    struct str words = offline_task_words(turn->match.cap[0]), level = turn->match.cap[1];
    struct offline_arg args[] = { { .names = NULL }, { .names = name_priority, .text = level } };

    if (offline_with_task(turn, words, "update_task_priority", args, ARRAY_LEN(args)))
        offline_say(turn, "The priority of \"%.*s\" is %.*s.", STR_ARG(words), STR_ARG(level));
}

void offline_checklist_add(struct offline_turn *turn)
{
    struct str words = offline_task_words(turn->match.cap[1]);
    struct offline_arg args[] = { { .names = NULL },
                                  { .names = name_items, .text = turn->match.cap[0] } };

    if (offline_with_task(turn, words, "add_multiple_checklist_items", args, ARRAY_LEN(args)))
        offline_say(turn, "I added \"%.*s\" to the checklist of \"%.*s\".",
                    STR_ARG(turn->match.cap[0]), STR_ARG(words));
}

/* ---- time ---- */

static int unit_minutes(struct str unit)
{
    if (!unit.n)
        return 0;
    if (tolower((unsigned char)unit.p[0]) == 'h')
        return 60;
    return tolower((unsigned char)unit.p[0]) == 'm' ? 1 : 0;
}

int64_t offline_minutes(struct str words)
{
    int64_t total = 0;
    size_t i = 0;

    if (str_eq_nocase(words, STR("half an hour")))
        return 30;
    if (str_eq_nocase(words, STR("an hour")) || str_eq_nocase(words, STR("one hour")))
        return 60;
    while (i < words.n) {
        int64_t tenths = 0;
        size_t from = i;

        while (i < words.n && isdigit((unsigned char)words.p[i]) && tenths < 100000)
            tenths = tenths * 10 + (words.p[i++] - '0') * 10;
        if (i + 1 < words.n && words.p[i] == '.' && isdigit((unsigned char)words.p[i + 1])) {
            tenths += words.p[i + 1] - '0';
            i += 2;
        }
        if (i == from)
            return 0;
        while (i < words.n && words.p[i] == ' ')
            i++;
        total += tenths * unit_minutes(str_skip(words, i)) / 10;
        while (i < words.n && isalpha((unsigned char)words.p[i]))
            i++;
        while (i < words.n && words.p[i] == ' ')
            i++;
    }
    return total;
}

/* a: how long, b: task */
void offline_time_log(struct offline_turn *turn)
{
    struct str words = offline_task_words(turn->match.cap[1]);
    int64_t minutes = offline_minutes(turn->match.cap[0]);
    char start[TIMEFMT_SIZE], end[TIMEFMT_SIZE];
    struct offline_arg args[4];

    if (minutes <= 0 || minutes > (int64_t)24 * 60) {
        offline_say(turn,
                    "I did not understand how long \"%.*s\" is. Say for example \"log 90 "
                    "minutes on the tax report\".",
                    STR_ARG(turn->match.cap[0]));
        return;
    }
    timefmt_rfc3339(turn->now_ms - minutes * 60000, start);
    timefmt_rfc3339(turn->now_ms, end);
    args[1] = (struct offline_arg){ .names = name_start, .text = str_from(start) };
    args[2] = (struct offline_arg){ .names = name_end, .text = str_from(end) };
    args[3] = (struct offline_arg){ .names = name_note, .text = words, .optional = true };
    if (offline_with_task(turn, words, "create_retrospective_time_entry", args, ARRAY_LEN(args)))
        offline_say(turn, "I logged %lld minutes on \"%.*s\", ending now.", (long long)minutes,
                    STR_ARG(words));
}

void offline_timer_start(struct offline_turn *turn)
{
    struct str words = offline_task_words(turn->match.cap[0]);
    struct offline_arg args[1];

    if (offline_with_task(turn, words, "start_task_timer", args, ARRAY_LEN(args)))
        offline_say(turn, "The timer for \"%.*s\" runs.", STR_ARG(words));
}

void offline_timer_stop(struct offline_turn *turn)
{
    const struct model_tool *tool = offline_tool(turn, "stop_task_timer");

    if (!tool)
        offline_lacks(turn, "stop a timer", "stop_task_timer");
    else if (turn->round == 0)
        offline_call(turn, tool, NULL, 0);
    else if (!offline_failed(turn))
        offline_say(turn, "The timer has stopped.");
}
