/* Tasks and time, with the journal's tools where they were given.
 *
 * Tools that change a task want its id, so a name is resolved first. When the name fits several
 * tasks nothing is changed: the person is asked which.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>

#include "base/json.h"
#include "base/json_put.h"
#include "base/utf8.h"
#include "journal/quick.h"
#include "model/offline_choice_int.h"
#include "model/offline_when_int.h"

#define ASK_BYTES   (32u << 10)
#define CHOICES_MAX 9
#define DAY_CHARS   10 /* of 2026-11-20 */
#define TITLE_SHOWN 200

static const char *const name_status[] = { "status", "state", NULL };
static const char *const name_due[] = { "dueDate", "due_date", "due", "date", NULL };
static const char *const name_due_to[] = { "dueTo", NULL };
static const char *const name_priority[] = { "priority", NULL };
static const char *const name_estimate[] = { "estimateMinutes", "estimate", NULL };
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

/* "Fix the fence, P1, due 2026-11-20" */
static void say_task(struct offline_turn *turn, struct json_object *task)
{
    struct str due = json_str(json_find(task, "due")), title = json_str(json_find(task, "title"));
    struct str priority = json_str(json_find(task, "priority"));

    offline_say(turn, "- %.*s%s%.*s%s%.*s\n", STR_ARG(utf8_truncate(title, TITLE_SHOWN)),
                priority.n ? ", " : "", STR_ARG(priority), due.n ? ", due " : "", STR_ARG(due));
}

static void say_tasks(struct offline_turn *turn, struct json_object *tasks)
{
    size_t n = json_length(tasks);

    offline_say(turn, "%zu task%s:\n", n, n == 1 ? "" : "s");
    for (size_t i = 0; i < n && i < OFFLINE_SHOWN_LINES; i++)
        say_task(turn, json_object_array_get_idx(tasks, i));
    if (n > OFFLINE_SHOWN_LINES)
        offline_say(turn, "... and %zu more.\n", n - OFFLINE_SHOWN_LINES);
}

/* arg: what is due within so many days; NULL: all that are open */
void offline_tasks_list(struct offline_turn *turn)
{
    const struct model_tool *tool = offline_tool(turn, "list_tasks_in_scope");
    const struct offline_result *last;
    struct json_object *tasks;

    if (!tool) {
        offline_lacks(turn, "list tasks", "list_tasks_in_scope");
        return;
    }
    if (turn->round == 0) {
        struct offline_arg args[] = { { .names = name_due_to, .optional = true } };
        char day[OFFLINE_DAY_SIZE];

        offline_day(turn, turn->arg ? (int)(turn->arg[0] - '0') : 0, day);
        args[0].text = str_from(day);
        offline_call(turn, tool, args, turn->arg ? 1 : 0);
        return;
    }
    if (offline_failed(turn))
        return;
    last = offline_result_last(turn);
    tasks = json_find(last->json, "tasks");
    if (json_object_is_type(tasks, json_type_array) && json_length(tasks)) {
        say_tasks(turn, tasks);
        return;
    }
    if (!last->line_count) {
        offline_say(turn, turn->arg ? "Nothing is due." : "There are no tasks.");
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
    if (!json_object_is_type(list, json_type_array) || !json_length(list))
        return STR_NONE;
    first = json_object_array_get_idx(list, 0);
    for (size_t i = 0; name_category[i]; i++) {
        if (json_str(json_find(first, name_category[i])).n)
            return json_str(json_find(first, name_category[i]));
    }
    return json_object_is_type(first, json_type_string) ? json_str(first)
                                                        : json_str(json_find(first, "id"));
}

/* Quick add leaves "at 9" in the title, which may be a place; beside a day it is a time. */
static void take_clock(struct quick *quick)
{
    for (size_t at = quick->title.n; at-- > 1;) {
        struct str tail = str_skip(quick->title, at);
        int clock;

        if (quick->title.p[at - 1] != ' ' || !str_eq_nocase(str_take(tail, 3), STR("at ")))
            continue;
        clock = offline_clock(str_skip(tail, 3));
        if (clock < 0)
            return;
        quick->title = str_trim(str_take(quick->title, at));
        snprintf(quick->due + DAY_CHARS, sizeof(quick->due) - DAY_CHARS, "T%02d:%02d", clock / 60,
                 clock % 60);
        return;
    }
}

/* "buy milk tomorrow 2h !1 #home", as quick add reads it; what stood in quotes is all title. */
static void read_quick(struct offline_turn *turn, struct quick *ret_quick)
{
    char today[OFFLINE_DAY_SIZE];

    offline_day(turn, 0, today);
    if (turn->match.quoted[0] ||
        quick_parse(turn->match.cap[0], str_from(today), turn->arena, ret_quick, NULL) < 0)
        *ret_quick = (struct quick){ .title = turn->match.cap[0], .priority = -1 };
    else if (strlen(ret_quick->due) == DAY_CHARS)
        take_clock(ret_quick);
}

bool offline_names_day(const struct offline_turn *turn, struct str text)
{
    char today[OFFLINE_DAY_SIZE];
    struct quick quick;

    offline_day(turn, 0, today);
    return quick_parse(text, str_from(today), turn->arena, &quick, NULL) == 0 && quick.due[0];
}

/* The category that was named; the first there is where one is needed. */
static struct str category_for(const struct offline_turn *turn, const struct quick *quick,
                               bool needs)
{
    const struct offline_result *asked = offline_result_of(turn, "list_allowed_categories");
    struct json_object *list = asked ? json_find(asked->json, "categories") : NULL;

    for (size_t i = 0;
         quick->category.n && json_object_is_type(list, json_type_array) && i < json_length(list);
         i++) {
        struct json_object *item = json_object_array_get_idx(list, i);

        if (str_eq_nocase(json_str(json_find(item, "name")), quick->category))
            return json_str(json_find(item, "id"));
    }
    return asked && needs ? category_from(asked) : STR_NONE;
}

static void create(struct offline_turn *turn, const struct model_tool *tool,
                   const struct quick *quick, struct str category)
{
    struct offline_arg args[5] = { { .names = offline_name_title, .text = quick->title } };
    size_t n = 1;

    if (category.n)
        args[n++] =
            (struct offline_arg){ .names = name_category, .text = category, .optional = true };
    if (quick->due[0])
        args[n++] = (struct offline_arg){ .names = name_due,
                                          .text = str_from(quick->due),
                                          .optional = true };
    if (quick->estimate_min)
        args[n++] = (struct offline_arg){ .names = name_estimate,
                                          .number = quick->estimate_min,
                                          .optional = true };
    if (quick->priority >= 0)
        args[n++] = (struct offline_arg){ .names = name_priority,
                                          .text = str_from(
                                              arena_printf(turn->arena, "P%d", quick->priority)),
                                          .optional = true };
    offline_call(turn, tool, args, n);
}

void offline_task_create(struct offline_turn *turn)
{
    const struct model_tool *tool = offline_tool(turn, "create_task");
    const struct model_tool *categories = offline_tool(turn, "list_allowed_categories");
    bool needs = tool && offline_requires(tool, "categoryId");
    struct quick quick;

    if (!tool) {
        offline_lacks(turn, "create tasks", "create_task");
        return;
    }
    read_quick(turn, &quick);
    if (turn->round == 0 && (needs || quick.category.n) && categories) {
        offline_call(turn, categories, NULL, 0);
        return;
    }
    if (turn->round > 0 && offline_failed(turn))
        return;
    if (!offline_result_of(turn, "create_task"))
        create(turn, tool, &quick, category_for(turn, &quick, needs));
    else
        offline_say(turn, "I created the task \"%.*s\"%s%s.", STR_ARG(quick.title),
                    quick.due[0] ? ", due " : "", quick.due);
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

/* The only task that is called so; NULL: none, or several are. */
static struct json_object *titled(struct json_object *list, struct str words)
{
    struct json_object *found = NULL;
    size_t n = 0;

    for (size_t i = 0; i < json_length(list); i++) {
        struct json_object *item = json_object_array_get_idx(list, i);

        if (!str_eq_nocase(json_str(json_find(item, "title")), words))
            continue;
        found = item;
        n++;
    }
    return n == 1 ? found : NULL;
}

/* The only one that the words can mean. Who resolved them says so, or it follows from the titles.
 */
static struct json_object *only(const struct offline_result *result, struct json_object *list,
                                struct str words, size_t *ret_fitting)
{
    size_t n = json_length(list);
    struct json_object *found = NULL;
    bool ambiguous = true;

    *ret_fitting = 0;
    if (n > 0 && json_get_bool(result->json, "ambiguous", &ambiguous, NULL) > 0) {
        *ret_fitting = ambiguous ? n : 1;
        return ambiguous ? NULL : json_object_array_get_idx(list, 0);
    }
    for (size_t i = 0; i < n; i++) {
        struct json_object *item = json_object_array_get_idx(list, i);
        struct str title = json_str(json_find(item, "title"));

        if (n > 1 && title.n && !offline_contains(title, words))
            continue;
        found = item;
        ++*ret_fitting;
    }
    return *ret_fitting == 1 ? found : NULL;
}

/* The one task that words name, or that was answered. NULL: *ret_fitting could be meant. */
static struct json_object *meant(struct offline_turn *turn, const struct offline_result *result,
                                 struct str words, size_t *ret_fitting)
{
    const struct offline_result *asked = offline_result_of(turn, "ask_user");
    struct json_object *list = candidates(result), *found = titled(list, words);

    if (!found && asked && !asked->failed)
        found = offline_chosen(turn, result->json, list,
                               str_trim(json_str(json_find(asked->json, "answer"))));
    *ret_fitting = 1;
    return found ? found : only(result, list, words, ret_fitting);
}

struct str offline_task_title(struct offline_turn *turn, struct str words)
{
    const struct offline_result *result = offline_result_of(turn, "resolve_task_reference");
    size_t fitting;
    struct json_object *found = result ? meant(turn, result, words, &fitting) : NULL;
    struct str title = json_str(json_find(found, "title"));

    return title.n ? utf8_truncate(title, TITLE_SHOWN) : words;
}

void offline_say_no_task(struct offline_turn *turn, const struct offline_result *result,
                         struct str words)
{
    bool elsewhere = false;

    (void)json_get_bool(result ? result->json : NULL, "outOfReach", &elsewhere, NULL);
    offline_say(turn,
                elsewhere
                    ? "There is a task \"%.*s\", but it is in none of my categories, so I can't "
                      "reach it. `dormouse agent set AGENT --categories NAMES` changes them."
                    : "I found no task \"%.*s\".",
                STR_ARG(words));
}

/* Where titles do not tell them apart: false when that is not so, or nobody can be asked. */
static bool ask_which(struct offline_turn *turn, const struct offline_result *result,
                      struct str words)
{
    const struct model_tool *tool = offline_tool(turn, "ask_user");
    struct json_object *list = candidates(result);
    AUTO_BUF json = BUF_INIT(ASK_BYTES);
    struct json_writer w = JSON_WRITER(&json);

    if (!tool || !offline_shares_title(list) || offline_result_of(turn, "ask_user"))
        return false;
    json_write_object_begin(&w);
    json_put_text(&w, "question",
                  arena_printf(turn->arena, "Which task is \"%.*s\"?",
                               STR_ARG(utf8_truncate(words, TITLE_SHOWN))));
    json_put_array(&w, "choices");
    for (size_t i = 0; i < json_length(list) && i < CHOICES_MAX; i++)
        json_write_text(&w, offline_choice(turn, result->json, list, i));
    json_write_array_end(&w);
    json_write_object_end(&w);
    offline_call_json(turn, tool, buf_str(&json));
    return true;
}

/* Its id; else asks and is empty. */
static struct str pick(struct offline_turn *turn, const struct offline_result *result,
                       struct str words)
{
    size_t fitting;
    struct json_object *found = meant(turn, result, words, &fitting);

    if (found)
        return item_id(found);
    if (!fitting) {
        offline_say_no_task(turn, result, words);
        return STR_NONE;
    }
    if (!ask_which(turn, result, words)) {
        offline_say(turn, "\"%.*s\" could be any of these; please say its title:\n",
                    STR_ARG(words));
        offline_report_lines(turn, result);
    }
    return STR_NONE;
}

bool offline_with_task(struct offline_turn *turn, struct str words, const char *name,
                       struct offline_arg *args, size_t n)
{
    const struct model_tool *tool = offline_tool(turn, name);
    const struct model_tool *resolve = offline_tool(turn, "resolve_task_reference");
    const struct offline_arg query[] = { { .names = offline_name_query, .text = words } };
    const struct offline_result *found =
        offline_result_of(turn, resolve ? "resolve_task_reference" : "list_tasks_in_scope");

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
    if (!found || found->failed) {
        offline_say(turn, "I could not look for the task.");
        return false;
    }
    args[0] = (struct offline_arg){ .names = offline_name_task, .text = pick(turn, found, words) };
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
        offline_say(turn, "The task \"%.*s\" is done.", STR_ARG(offline_task_title(turn, words)));
}

/* tomorrow, friday, 2026-11-20, as quick add reads them; or the words as they are. */
static struct str date_of(struct offline_turn *turn, struct str words)
{
    struct str text = str_from(arena_printf(turn->arena, "x %.*s", STR_ARG(words)));
    char today[OFFLINE_DAY_SIZE];
    struct quick quick;

    offline_day(turn, 0, today);
    if (quick_parse(text, str_from(today), turn->arena, &quick, NULL) < 0 || !quick.due[0])
        return words;
    return str_from(arena_text(turn->arena, quick.due));
}

void offline_task_due(struct offline_turn *turn)
{
    struct str words = offline_task_words(turn->match.cap[0]),
               date = date_of(turn, turn->match.cap[1]);
    struct offline_arg args[] = { { .names = NULL }, { .names = name_due, .text = date } };

    if (offline_with_task(turn, words, "update_task_due_date", args, ARRAY_LEN(args)))
        offline_say(turn, "The task \"%.*s\" is due on %.*s.",
                    STR_ARG(offline_task_title(turn, words)), STR_ARG(date));
}

/* A day moves a task; anything else is for files. */
void offline_task_move(struct offline_turn *turn)
{
    struct str what = turn->match.cap[0], to = turn->match.cap[1];

    if (offline_tool(turn, "update_task_due_date") && str_find_char(what, '.') < 0 &&
        str_find_char(what, '/') < 0 && date_of(turn, to).p != to.p)
        offline_task_due(turn);
    else
        offline_move(turn);
}

void offline_task_priority(struct offline_turn *turn)
{
    struct str words = offline_task_words(turn->match.cap[0]), level = turn->match.cap[1];
    struct offline_arg args[] = { { .names = NULL }, { .names = name_priority, .text = level } };

    if (offline_with_task(turn, words, "update_task_priority", args, ARRAY_LEN(args)))
        offline_say(turn, "The priority of \"%.*s\" is %.*s.",
                    STR_ARG(offline_task_title(turn, words)), STR_ARG(level));
}

void offline_checklist_add(struct offline_turn *turn)
{
    struct str words = offline_task_words(turn->match.cap[1]);
    struct offline_arg args[] = { { .names = NULL },
                                  { .names = name_items, .text = turn->match.cap[0] } };

    if (offline_with_task(turn, words, "add_multiple_checklist_items", args, ARRAY_LEN(args)))
        offline_say(turn, "I added \"%.*s\" to the checklist of \"%.*s\".",
                    STR_ARG(turn->match.cap[0]), STR_ARG(offline_task_title(turn, words)));
}

/* ---- time ---- */

void offline_timer_start(struct offline_turn *turn)
{
    struct str words = offline_task_words(turn->match.cap[0]);
    struct offline_arg args[1];

    if (offline_minutes(words) > 0) { /* "for 10 minutes" */
        turn->match.cap[1] = words;
        turn->match.cap[0] = STR_NONE;
        offline_remind(turn);
        return;
    }
    if (offline_with_task(turn, words, "start_task_timer", args, ARRAY_LEN(args)))
        offline_say(turn, "The timer for \"%.*s\" runs.", STR_ARG(offline_task_title(turn, words)));
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
