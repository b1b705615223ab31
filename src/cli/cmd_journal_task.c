/* dormouse journal task add, list, show, set, done, rm, restore.
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

#define LIST_MAX 10000

/* ---- add ---- */

#define TASK_OPTIONS                                                                               \
    { .name = "due", .value = "DAY", .help = "2026-02-18, tomorrow, friday 16:00; none" },         \
        { .name = "priority",                                                                      \
          .value = "P",                                                                            \
          .help = "P0 (first) to P3, 0 to 3, or urgent, high, medium, low" },                      \
        { .name = "status",                                                                        \
          .value = "STATUS",                                                                       \
          .help = "how it stands",                                                                 \
          .choices = "OPEN GROOMED IN_PROGRESS BLOCKED ON_HOLD DONE REJECTED",                     \
          .folds = true },                                                                         \
        { .name = "category", .value = "CATEGORY", .help = "its name or id; none" },               \
        { .name = "label",                                                                         \
          .value = "LABEL",                                                                        \
          .help = "made when it is new; none",                                                     \
          .repeats = true },                                                                       \
        { .name = "estimate", .value = "TIME", .help = "how long it takes: 45m, 2h; none" },       \
        { .name = "notes", .value = "TEXT", .help = "anything else; none" },                       \
    {                                                                                              \
        .name = "language", .value = "TAG", .help = "the language it is in: en, de-CH; none"       \
    }

static const struct jot_option task_members[] = {
    { "due", "due", JOT_CLOCK },
    { "priority", "priority", JOT_PRIORITY },
    { "status", "status", JOT_STATUS },
    { "category", "categoryId", JOT_CATEGORY },
    { "label", "labels", JOT_LABELS },
    { "estimate", "estimateMinutes", JOT_MINUTES },
    { "notes", "notes", JOT_TEXT },
    { "language", "language", JOT_TEXT },
    { NULL, NULL, 0 },
};

static int run_add(const struct cli_args *args)
{
    AUTO_JSON body = json_object_new_object();
    AUTO_JOT jot;
    struct json_object *answer;
    struct str title;

    if (jot_open(&jot, args) < 0 || jot_take(&jot, task_members, body) < 0)
        return jot_fail(&jot);
    jot_says(&jot, "title", "TITLE");
    jot_says(&jot, "name", "--label");
    title = jot_words(&jot, 0);
    json_object_object_add(body, "title", json_object_new_string_len(title.p, (int)title.n));
    if (jot_ask(&jot, "POST", body, &answer, "tasks") < 0)
        return jot_fail(&jot);
    return jot_done(&jot, answer, "Added");
}

static const struct cli_option add_options[] = {
    TASK_OPTIONS,
    { .name = NULL },
};

const struct cli_command cli_cmd_journal_task_add = {
    .name = "journal task add",
    .operands = "TITLE...",
    .summary = "Adds a task",
    .options = add_options,
    .operands_min = 1,
    .operands_max = -1,
    .run = run_add,
};

/* ---- list ---- */

static bool is_overdue(const struct jot *jot, struct json_object *task)
{
    struct str due = jot_member(task, "due");

    return due.n >= 10 && !json_find(task, "closedAt") &&
           str_cmp(str_take(due, 10), str_from(jot->today)) < 0;
}

static void print_tasks(struct jot *jot, struct json_object *tasks)
{
    static const char *const head[] = { "ID", "P", "STATUS", "DUE", "TITLE", NULL };
    size_t width = jot_id_width(tasks);
    struct columns columns;

    columns_init(&columns, head);
    for (size_t i = 0; i < json_length(tasks); i++) {
        struct json_object *task = json_object_array_get_idx(tasks, i);
        char when[JOT_WHEN_SIZE], due[JOT_WHEN_SIZE + 16];

        snprintf(due, sizeof(due), "%s%s", jot_when(jot, jot_member(task, "due"), when),
                 is_overdue(jot, task) ? " (late)" : "");
        columns_add(&columns,
                    (struct str[]){ str_take(jot_member(task, "id"), width),
                                    jot_member(task, "priority"), jot_member(task, "status"),
                                    str_from(due), jot_member(task, "title") });
    }
    columns_print(&columns, stdout);
    columns_release(&columns);
}

static int list_path(struct jot *jot, struct buf *path)
{
    static const char *const plain[][2] = { { "query", "q" }, { "order", "order" } };
    static const char *const days[][2] = { { "from", "dueFrom" }, { "to", "dueTo" } };
    const struct cli_args *args = jot->args;
    struct str id;

    buf_add_text(path, "tasks");
    if (cli_value(args, "status"))
        jot_query(jot, path, "status", jot_status(jot, cli_value(args, "status")));
    for (size_t i = 0; i < ARRAY_LEN(plain); i++)
        jot_query(jot, path, plain[i][1], cli_value(args, plain[i][0]));
    for (size_t i = 0; i < ARRAY_LEN(days); i++) {
        struct str day;

        if (!cli_value(args, days[i][0]))
            continue;
        if (jot_day(jot, cli_value(args, days[i][0]), JOT_AHEAD, &day) < 0)
            return err_wrap(&jot->err, "--%s", days[i][0]);
        jot_query(jot, path, days[i][1], arena_printf(&jot->arena, "%.*s", STR_ARG(day)));
    }
    if (cli_value(args, "category")) {
        if (jot_named(jot, "categories", cli_value(args, "category"), &id) < 0)
            return -1;
        jot_query(jot, path, "categoryId", arena_printf(&jot->arena, "%.*s", STR_ARG(id)));
    }
    if (cli_value(args, "label")) {
        if (jot_named(jot, "labels", cli_value(args, "label"), &id) < 0)
            return -1;
        jot_query(jot, path, "labelId", arena_printf(&jot->arena, "%.*s", STR_ARG(id)));
    }
    if (cli_has(args, "closed") || cli_has(args, "all"))
        jot_query(jot, path, "closed", cli_has(args, "all") ? "any" : "true");
    return 0;
}

static int run_list(const struct cli_args *args)
{
    AUTO_BUF path = BUF_INIT(16 * KIB);
    AUTO_JSON items = NULL;
    AUTO_JOT jot;
    int64_t limit = 100;
    bool more, filtered;

    if (jot_open(&jot, args) < 0 || list_path(&jot, &path) < 0)
        return jot_fail(&jot);
    if (cli_number(args, "limit", 1, LIST_MAX, &limit, &jot.err) < 0)
        return cli_misused(args, &jot.err);
    filtered = strchr(buf_text(&path), '?') != NULL;
    if (limit < 500)
        jot_query(&jot, &path, "limit", arena_printf(&jot.arena, "%lld", (long long)limit));
    if (jot_list(&jot, buf_text(&path), (size_t)limit, &items, &more) < 0)
        return jot_fail(&jot);
    if (cli_json(args)) {
        cli_print_lines(items);
        return CLI_DONE;
    }
    if (!json_length(items)) {
        printf("No tasks%s. `dormouse journal add \"Fix fence tomorrow 2h\"` makes one.\n",
               filtered ? " that fit" : " yet");
        return CLI_DONE;
    }
    print_tasks(&jot, items);
    jot_say_more(more, "--limit N shows them");
    return CLI_DONE;
}

static const struct cli_option list_options[] = {
    { .name = "status",
      .value = "STATUS",
      .help = "only these",
      .choices = "OPEN GROOMED IN_PROGRESS BLOCKED ON_HOLD DONE REJECTED",
      .folds = true },
    { .name = "closed", .help = "those that are done or rejected" },
    { .name = "all", .help = "open and closed ones" },
    { .name = "category", .value = "CATEGORY", .help = "of one category" },
    { .name = "label", .value = "LABEL", .help = "with this label" },
    { .name = "from", .value = "DAY", .help = "due on this day or later" },
    { .name = "to", .value = "DAY", .help = "due on this day or before" },
    { .name = "query", .value = "TEXT", .help = "with this in the title" },
    { .name = "order",
      .value = "ORDER",
      .help = "by due day (unless given), priority or last change",
      .choices = "due priority updated" },
    { .name = "limit", .value = "N", .help = "at most so many; 100 unless given" },
    { .name = NULL },
};

const struct cli_command cli_cmd_journal_task_list = {
    .name = "journal task list",
    .operands = "",
    .summary = "Lists tasks",
    .details = "With --json each task is a line of its own.",
    .options = list_options,
    .run = run_list,
};

/* ---- show ---- */

static void print_checklists(struct jot *jot, struct json_object *lists)
{
    for (size_t i = 0; i < json_length(lists); i++) {
        struct json_object *list = json_object_array_get_idx(lists, i);
        struct json_object *items = json_find(list, "items");

        jot_line(jot, "\n", jot_member(list, "title"));
        for (size_t k = 0; k < json_length(items); k++) {
            struct json_object *item = json_object_array_get_idx(items, k);
            bool checked = false;

            json_get_bool(item, "checked", &checked, NULL);
            printf("  [%s] ", checked ? "x" : " ");
            term_text(stdout,
                      arena_printf(&jot->arena, "%.*s", STR_ARG(jot_member(item, "title"))));
            printf("  %s%.*s%s\n", term_style(stdout, TERM_DIM),
                   STR_ARG(str_take(jot_member(item, "id"), jot_id_width(items))),
                   term_style(stdout, TERM_PLAIN));
        }
    }
}

static void print_labels(struct jot *jot, struct json_object *labels)
{
    AUTO_BUF names = BUF_INIT(8 * KIB);

    for (size_t i = 0; i < json_length(labels); i++)
        buf_printf(&names, "%s%.*s", i ? ", " : "",
                   STR_ARG(jot_member(json_object_array_get_idx(labels, i), "name")));
    if (names.n)
        jot_line(jot, "labels    ", buf_str(&names));
}

static void print_task(struct jot *jot, struct json_object *task)
{
    char when[JOT_WHEN_SIZE];
    int64_t spent = 0, estimate = 0;

    printf("%s", term_style(stdout, TERM_BOLD));
    jot_line(jot, "", jot_member(task, "title"));
    printf("%s", term_style(stdout, TERM_PLAIN));
    jot_line(jot, "id        ", jot_member(task, "id"));
    printf("status    %.*s, %.*s\n", STR_ARG(jot_member(task, "status")),
           STR_ARG(jot_member(task, "priority")));
    if (jot_member(task, "due").n)
        printf("due       %s%s\n", jot_when(jot, jot_member(task, "due"), when),
               is_overdue(jot, task) ? " (late)" : "");
    if (jot_member(task, "categoryId").n)
        jot_line(jot, "category  ", jot_category_name(jot, jot_member(task, "categoryId")));
    print_labels(jot, json_find(task, "labels"));
    json_get_i64(task, "estimateMinutes", &estimate, NULL);
    json_get_i64(task, "timeMs", &spent, NULL);
    if (estimate)
        printf("estimate  %s\n", jot_span(estimate * 60000, when));
    if (spent)
        printf("spent     %s\n", jot_span(spent, when));
    if (jot_member(task, "notes").n)
        jot_line(jot, "\n", jot_member(task, "notes"));
    print_checklists(jot, json_find(task, "checklists"));
}

static int run_show(const struct cli_args *args)
{
    AUTO_JSON answer = NULL;
    AUTO_JOT jot;
    struct str id;

    if (jot_open(&jot, args) < 0 || jot_task(&jot, cli_operand(args, 0), &id) < 0 ||
        jot_ask(&jot, "GET", NULL, &answer, "tasks/%.*s", STR_ARG(id)) < 0)
        return jot_fail(&jot);
    if (cli_json(args))
        return jot_print(&jot, json_object_get(answer));
    print_task(&jot, answer);
    return CLI_DONE;
}

const struct cli_command cli_cmd_journal_task_show = {
    .name = "journal task show",
    .operands = "TASK",
    .summary = "Shows a task with its checklists and the time it took",
    .details = JOT_TASK_WORDS,
    .operands_min = 1,
    .operands_max = 1,
    .run = run_show,
};

/* ---- changing ---- */

static int run_set(const struct cli_args *args)
{
    AUTO_JSON body = json_object_new_object();
    AUTO_JOT jot;
    struct json_object *answer;
    struct str id;

    if (jot_open(&jot, args) < 0 || jot_take(&jot, task_members, body) < 0)
        return jot_fail(&jot);
    jot_says(&jot, "title", "--title");
    jot_says(&jot, "name", "--label");
    if (cli_value(args, "title"))
        json_object_object_add(body, "title", json_object_new_string(cli_value(args, "title")));
    if (!json_object_object_length(body))
        return jot_idle(&jot, "--title, --due, --status ...");
    if (jot_task(&jot, cli_operand(args, 0), &id) < 0 ||
        jot_ask(&jot, "PATCH", body, &answer, "tasks/%.*s", STR_ARG(id)) < 0)
        return jot_fail(&jot);
    return jot_done(&jot, answer, "Changed");
}

static const struct cli_option set_options[] = {
    { .name = "title", .value = "TEXT", .help = "what is to be done" },
    TASK_OPTIONS,
    { .name = NULL },
};

const struct cli_command cli_cmd_journal_task_set = {
    .name = "journal task set",
    .operands = "TASK",
    .summary = "Changes a task",
    .details = JOT_TASK_WORDS " `none` takes a value away.",
    .options = set_options,
    .operands_min = 1,
    .operands_max = 1,
    .run = run_set,
};

/* Each of the operands; what was done before a failure stays done, and is said. */
static int each_task(const struct cli_args *args, const char *method, const char *more,
                     struct json_object *body, const char *said)
{
    AUTO_JOT jot;

    if (jot_open(&jot, args) < 0)
        return jot_fail(&jot);
    for (size_t i = 0; i < cli_operand_count(args); i++) {
        struct json_object *answer = NULL;
        struct str id;

        if (jot_task(&jot, cli_operand(args, i), &id) < 0 ||
            jot_ask(&jot, method, body, &answer, "tasks/%.*s%s", STR_ARG(id), more) < 0)
            return jot_fail(&jot);
        if (!answer) {
            answer = json_object_new_object();
            json_object_object_add(answer, "id", json_object_new_string_len(id.p, (int)id.n));
        }
        jot_done(&jot, answer, said);
    }
    return CLI_DONE;
}

static int run_done(const struct cli_args *args)
{
    AUTO_JSON body = json_object_new_object();

    json_object_object_add(body, "status", json_object_new_string("DONE"));
    return each_task(args, "PATCH", "", body, "Done");
}

const struct cli_command cli_cmd_journal_task_done = {
    .name = "journal task done",
    .operands = "TASK...",
    .summary = "Marks tasks as done",
    .details = JOT_TASK_WORDS,
    .operands_min = 1,
    .operands_max = -1,
    .run = run_done,
};

static int run_rm(const struct cli_args *args)
{
    return each_task(args, "DELETE", "", NULL, "Deleted");
}

const struct cli_command cli_cmd_journal_task_rm = {
    .name = "journal task rm",
    .operands = "TASK...",
    .summary = "Deletes tasks; `journal task restore` undoes it",
    .details = JOT_TASK_WORDS,
    .operands_min = 1,
    .operands_max = -1,
    .run = run_rm,
};

static int run_restore(const struct cli_args *args)
{
    AUTO_JSON body = json_object_new_object();

    return each_task(args, "POST", "/restore", body, "Restored");
}

const struct cli_command cli_cmd_journal_task_restore = {
    .name = "journal task restore",
    .operands = "ID...",
    .summary = "Brings deleted tasks back, with their checklists",
    .operands_min = 1,
    .operands_max = -1,
    .run = run_restore,
};
