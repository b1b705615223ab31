/* dormouse journal plan, rating: a day as it is planned, and how things were.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json.h>
#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "cli/cli_int.h"
#include "cli/columns.h"
#include "cli/commands_int.h"
#include "cli/jot.h"
#include "cli/term.h"

/* ---- showing a day ---- */

static struct json_object *task_in(struct json_object *day, struct str task_id)
{
    struct json_object *tasks = json_find(day, "tasks");

    for (size_t i = 0; i < json_length(tasks); i++) {
        struct json_object *task = json_object_array_get_idx(tasks, i);

        if (str_eq(jot_member(task, "id"), task_id))
            return task;
    }
    return NULL;
}

static const char *clock_in(struct jot *jot, struct json_object *day, struct json_object *object,
                            const char *key)
{
    char local[TIMEFMT_SIZE];
    int64_t at;

    if (str_eq(jot_member(object, key), jot_member(day, "to")))
        return "24:00";
    if (timefmt_parse(jot_member(object, key), &at, NULL) < 0)
        return "  ...";
    jot_local(jot, at, local);
    return arena_printf(&jot->arena, "%.5s", local + 11);
}

static void print_spans(struct jot *jot, struct json_object *day, const char *title,
                        const char *key, const char *from, const char *to, const char *text)
{
    struct json_object *rows = json_find(day, key);
    size_t width = jot_id_width(rows);

    if (json_length(rows))
        printf("\n%s\n", title);
    for (size_t i = 0; i < json_length(rows); i++) {
        struct json_object *row = json_object_array_get_idx(rows, i);
        struct str what = jot_member(task_in(day, jot_member(row, "taskId")), "title");

        if (!what.n && jot_member(row, "categoryId").n)
            what = jot_category_name(jot, jot_member(row, "categoryId"));
        printf("  %s-%s  ", clock_in(jot, day, row, from), clock_in(jot, day, row, to));
        term_text(stdout, arena_printf(&jot->arena, "%.*s%s%.*s", STR_ARG(what),
                                       what.n && jot_member(row, text).n ? ": " : "",
                                       STR_ARG(jot_member(row, text))));
        printf("  %s%.*s%s\n", term_style(stdout, TERM_DIM),
               STR_ARG(str_take(jot_member(row, "id"), width)), term_style(stdout, TERM_PLAIN));
    }
}

static void print_tasks(struct jot *jot, const char *title, struct json_object *tasks)
{
    if (json_length(tasks))
        printf("\n%s\n", title);
    for (size_t i = 0; i < json_length(tasks); i++) {
        struct json_object *task = json_object_array_get_idx(tasks, i);

        printf("  [%s] ", json_find(task, "closedAt") ? "x" : " ");
        jot_line(jot, "", jot_member(task, "title"));
    }
}

/* In the order in which they were pinned. */
static void print_pins(struct jot *jot, struct json_object *day)
{
    struct json_object *pins = json_find(json_find(day, "plan"), "pinnedTaskIds");
    struct json_object *tasks = json_object_new_array();

    for (size_t i = 0; i < json_length(pins); i++) {
        struct json_object *task = task_in(day, json_str(json_object_array_get_idx(pins, i)));

        if (task)
            json_object_array_add(tasks, json_object_get(task));
    }
    print_tasks(jot, "pinned", tasks);
    json_object_put(tasks);
}

static void print_day(struct jot *jot, struct json_object *day)
{
    struct json_object *ratings = json_find(day, "ratings"), *plan = json_find(day, "plan");
    char when[JOT_WHEN_SIZE];
    bool empty = !json_length(json_find(day, "blocks")) &&
                 !json_length(json_find(day, "timeEntries")) &&
                 !json_length(json_find(day, "dueTasks")) &&
                 !json_length(json_find(day, "entries")) && !json_length(json_find(day, "tasks"));

    printf("%s%.*s%s, %s\n", term_style(stdout, TERM_BOLD), STR_ARG(jot_member(day, "day")),
           term_style(stdout, TERM_PLAIN), jot_when(jot, jot_member(day, "day"), when));
    if (jot_member(plan, "note").n)
        jot_line(jot, "", jot_member(plan, "note"));
    print_pins(jot, day);
    print_spans(jot, day, "planned", "blocks", "startTime", "endTime", "note");
    print_spans(jot, day, "spent", "timeEntries", "startedAt", "endedAt", "description");
    print_tasks(jot, "due", json_find(day, "dueTasks"));
    for (size_t i = 0; i < json_length(ratings); i++) {
        struct json_object *rating = json_object_array_get_idx(ratings, i);

        printf("%s  %.*s: %lld of 5\n", i ? "" : "\nrated\n",
               STR_ARG(jot_member(rating, "dimension")),
               (long long)json_object_get_int64(json_find(rating, "value")));
    }
    if (empty)
        printf("Nothing is planned. `dormouse journal plan block %.*s 9:00 10:30 --task TASK` "
               "plans something.\n",
               STR_ARG(jot_member(day, "day")));
}

static int read_day(struct jot *jot, size_t i, struct str *ret_day)
{
    const char *typed = cli_operand(jot->args, i);

    return jot_day(jot, typed ? typed : jot->today, JOT_AHEAD, ret_day);
}

static int say_day(struct jot *jot, struct json_object *answer)
{
    if (cli_json(jot->args))
        return jot_print(jot, answer);
    print_day(jot, answer);
    json_object_put(answer);
    return CLI_DONE;
}

static int run_plan(const struct cli_args *args)
{
    AUTO_JOT jot;
    struct json_object *answer;
    struct str day;

    if (jot_open(&jot, args) < 0 || read_day(&jot, 0, &day) < 0 ||
        jot_ask(&jot, "GET", NULL, &answer, "days/%.*s", STR_ARG(day)) < 0)
        return jot_fail(&jot);
    return say_day(&jot, answer);
}

const struct cli_command cli_cmd_journal_plan = {
    .name = "journal plan",
    .operands = "[DAY]",
    .summary = "Shows a day: what is planned, due and done; today unless given",
    .operands_max = 1,
    .run = run_plan,
};

/* ---- planning ---- */

static const struct jot_option block_members[] = {
    { "task", "taskId", JOT_TASK },
    { "category", "categoryId", JOT_CATEGORY },
    { "note", "note", JOT_TEXT },
    { NULL, NULL, 0 },
};

static int run_block(const struct cli_args *args)
{
    AUTO_JSON body = json_object_new_object();
    struct json_object *list = json_object_new_array(), *block = json_object_new_object(), *answer;
    char begin[TIMEFMT_SIZE], end[TIMEFMT_SIZE];
    AUTO_JOT jot;
    struct str day;

    json_object_object_add(body, "upserts", list);
    json_object_array_add(list, block);
    if (jot_open(&jot, args) < 0 || read_day(&jot, 0, &day) < 0 ||
        jot_moment(&jot, cli_operand(args, 1), day, JOT_AHEAD, begin) < 0 ||
        jot_moment(&jot, cli_operand(args, 2), day, JOT_AHEAD, end) < 0 ||
        jot_take(&jot, block_members, block) < 0)
        return jot_fail(&jot);
    jot_says(&jot, "startTime", "FROM");
    jot_says(&jot, "endTime", "TO");
    jot_add(block, "startTime", str_from(begin));
    jot_add(block, "endTime", str_from(end));
    if (jot_ask(&jot, "PUT", body, &answer, "days/%.*s/blocks", STR_ARG(day)) < 0)
        return jot_fail(&jot);
    return say_day(&jot, answer);
}

static const struct cli_option block_options[] = {
    { .name = "task", .value = "TASK", .help = "what it is for" },
    { .name = "category", .value = "CATEGORY", .help = "what it is for, when it is no task" },
    { .name = "note", .value = "TEXT", .help = "anything else" },
    { .name = NULL },
};

const struct cli_command cli_cmd_journal_plan_block = {
    .name = "journal plan block",
    .operands = "DAY FROM TO",
    .summary = "Plans a block of a day",
    .details = "Blocks may not overlap:\n\n"
               "  dormouse journal plan block tomorrow 9:00 10:30 --task fence",
    .options = block_options,
    .operands_min = 3,
    .operands_max = 3,
    .run = run_block,
};

static int run_pin(const struct cli_args *args)
{
    AUTO_JSON body = json_object_new_object();
    struct json_object *list = json_object_new_array(), *answer;
    AUTO_JOT jot;
    struct str day, id;

    json_object_object_add(body, "taskIds", list);
    if (jot_open(&jot, args) < 0 || read_day(&jot, 0, &day) < 0)
        return jot_fail(&jot);
    for (size_t i = 1; i < cli_operand_count(args); i++) {
        if (jot_task(&jot, cli_operand(args, i), &id) < 0)
            return jot_fail(&jot);
        json_object_array_add(list, json_object_new_string_len(id.p, (int)id.n));
    }
    if (jot_ask(&jot, "PUT", body, &answer, "days/%.*s/pins", STR_ARG(day)) < 0)
        return jot_fail(&jot);
    return say_day(&jot, answer);
}

const struct cli_command cli_cmd_journal_plan_pin = {
    .name = "journal plan pin",
    .operands = "DAY [TASK...]",
    .summary = "Pins tasks to a day, instead of those that were",
    .operands_min = 1,
    .operands_max = -1,
    .run = run_pin,
};

static int run_unblock(const struct cli_args *args)
{
    return jot_each(args, "DELETE", "day-plan-blocks", "", "Deleted");
}

const struct cli_command cli_cmd_journal_plan_rm = {
    .name = "journal plan rm",
    .operands = "BLOCK...",
    .summary = "Takes blocks out of a day's plan",
    .operands_min = 1,
    .operands_max = -1,
    .run = run_unblock,
};

/* ---- ratings ---- */

/* A day, else whatever has this id, else a task. */
static int read_target(struct jot *jot, const char *typed, struct json_object *body)
{
    struct err none = ERR_INIT;
    const char *type;
    struct str id;

    if (jot_day(jot, typed, JOT_SOUGHT, &id) == 0) {
        if (jot_day(jot, typed, JOT_BEHIND, &id) < 0)
            return -1;
        jot_add(body, "targetType", STR("dayPlan"));
        jot_add(body, "targetId", str_from(arena_printf(&jot->arena, "dayplan-%.*s", STR_ARG(id))));
        return 0;
    }
    jot->err = none;
    if (jot_record(jot, typed, &type, &id) < 0)
        return -1;
    jot_add(body, "targetType", str_from(type));
    jot_add(body, "targetId", id);
    return 0;
}

static int run_rate(const struct cli_args *args)
{
    AUTO_JSON body = json_object_new_object();
    AUTO_JOT jot;
    struct json_object *answer;
    int64_t value;

    if (jot_open(&jot, args) < 0)
        return jot_fail(&jot);
    if (str_to_i64(str_from(cli_operand(args, 2)), &value) < 0) {
        err_set(&jot.err, ERR_BAD_REQUEST, "VALUE must be a number from 1 to 5, not \"%.40s\"",
                cli_operand(args, 2));
        return cli_misused(args, &jot.err);
    }
    jot_says(&jot, "dimension", "DIMENSION");
    jot_says(&jot, "targetType", "DAY|RECORD");
    jot_says(&jot, "value", "VALUE");
    jot_says(&jot, "note", "--note");
    jot_add(body, "dimension", str_from(cli_operand(args, 1)));
    jot_add(body, "note", str_from(cli_value(args, "note")));
    json_object_object_add(body, "value", json_object_new_int64(value));
    if (read_target(&jot, cli_operand(args, 0), body) < 0 ||
        jot_ask(&jot, "POST", body, &answer, "ratings") < 0)
        return jot_fail(&jot);
    return jot_done(&jot, answer, "Rated");
}

static const struct cli_option rate_options[] = {
    { .name = "note", .value = "TEXT", .help = "why" },
    { .name = NULL },
};

const struct cli_command cli_cmd_journal_rating_add = {
    .name = "journal rating add",
    .operands = "DAY|RECORD DIMENSION VALUE",
    .summary = "Rates a day, task, entry or time from 1 to 5",
    .details = "RECORD is the id of a task, an entry or time, the beginning of one, or words that "
               "stand in the title of one open task only. Rating the same again changes it:\n\n  "
               "dormouse journal rating add today energy 4",
    .options = rate_options,
    .operands_min = 3,
    .operands_max = 3,
    .run = run_rate,
};

static int run_ratings(const struct cli_args *args)
{
    static const char *const head[] = { "DIMENSION", "RATINGS", "MEAN", "LOWEST", "HIGHEST", NULL };
    static const char *const days[] = { "from", "to" };
    AUTO_BUF path = BUF_INIT(4 * KIB);
    AUTO_JSON answer = NULL;
    struct json_object *items;
    struct columns columns;
    AUTO_JOT jot;

    buf_add_text(&path, "ratings/summary");
    if (jot_open(&jot, args) < 0)
        return jot_fail(&jot);
    for (size_t i = 0; i < ARRAY_LEN(days); i++) {
        struct str day;

        if (!cli_value(args, days[i]))
            continue;
        if (jot_day(&jot, cli_value(args, days[i]), JOT_SOUGHT, &day) < 0) {
            err_wrap(&jot.err, "--%s", days[i]);
            return jot_fail(&jot);
        }
        jot_query(&jot, &path, days[i], arena_printf(&jot.arena, "%.*s", STR_ARG(day)));
    }
    if (jot_ask(&jot, "GET", NULL, &answer, "%s", buf_text(&path)) < 0)
        return jot_fail(&jot);
    items = json_find(answer, "items");
    if (cli_json(args)) {
        cli_print_lines(items);
        return CLI_DONE;
    }
    if (!json_length(items)) {
        printf("No ratings. `dormouse journal rating add today energy 4` makes one.\n");
        return CLI_DONE;
    }
    columns_init(&columns, head);
    for (size_t i = 0; i < json_length(items); i++) {
        struct json_object *row = json_object_array_get_idx(items, i);
        static const char *const keys[] = { "count", "mean", "lowest", "highest" };
        struct str cells[5] = { jot_member(row, "dimension") };

        for (size_t k = 0; k < ARRAY_LEN(keys); k++)
            cells[k + 1] = str_from(arena_printf(&jot.arena, k == 1 ? "%.1f" : "%.0f",
                                                 json_object_get_double(json_find(row, keys[k]))));
        columns_add(&columns, cells);
    }
    columns_print(&columns, stdout);
    columns_release(&columns);
    return CLI_DONE;
}

static const struct cli_option ratings_options[] = {
    { .name = "from", .value = "DAY", .help = "of this day or later" },
    { .name = "to", .value = "DAY", .help = "of this day or before" },
    { .name = NULL },
};

const struct cli_command cli_cmd_journal_rating_list = {
    .name = "journal rating list",
    .operands = "",
    .summary = "Says how each dimension was rated",
    .options = ratings_options,
    .run = run_ratings,
};
