/* dormouse journal time start, stop, status, log, set, rm, restore, list: where the hours went.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/limits.h"
#include "cli/cli_int.h"
#include "cli/columns.h"
#include "cli/commands_int.h"
#include "cli/jot.h"
#include "cli/term.h"

#define LIST_MAX 10000

/* What an entry took; up to now when it runs. */
static int64_t span_of(const struct jot *jot, struct json_object *entry)
{
    int64_t from = 0, to = jot->now_ms;

    if (timefmt_parse(jot_member(entry, "startedAt"), &from, NULL) < 0)
        return 0;
    if (jot_member(entry, "endedAt").n)
        timefmt_parse(jot_member(entry, "endedAt"), &to, NULL);
    return to > from ? to - from : 0;
}

/* What the time was for: a task's title, or a category's name. Each is asked for once. */
static struct str purpose_of(struct jot *jot, struct json_object *known, struct json_object *entry)
{
    struct str task = jot_member(entry, "taskId"), category = jot_member(entry, "categoryId");
    const char *id = arena_printf(&jot->arena, "%.*s", STR_ARG(task.n ? task : category));
    struct json_object *name = NULL;

    if (!task.n && !category.n)
        return STR_NONE;
    if (!json_object_object_get_ex(known, id, &name)) {
        AUTO_JSON answer = NULL;
        struct err none = ERR_INIT;

        if (jot_ask(jot, "GET", NULL, &answer, "%s/%s?deleted=true",
                    task.n ? "tasks" : "categories", id) < 0)
            jot->err = none;
        name = json_object_get(json_find(answer, task.n ? "title" : "name"));
        json_object_object_add(known, id, name);
    }
    return json_str(name);
}

static int say_entry(struct jot *jot, struct json_object *answer, const char *said)
{
    AUTO_JSON known = json_object_new_object();
    struct json_object *entry = json_find(answer, "entry");
    char span[JOT_WHEN_SIZE];
    struct str what;

    if (cli_json(jot->args))
        return jot_print(jot, answer);
    if (!entry) {
        printf("No timer runs. `dormouse journal time start TASK` starts one.\n");
        json_object_put(answer);
        return CLI_DONE;
    }
    what = purpose_of(jot, known, entry);
    if (!what.n)
        what = jot_member(entry, "description");
    printf("%s %s", said, jot_span(span_of(jot, entry), span));
    if (what.n) {
        printf(": ");
        term_text(stdout, arena_printf(&jot->arena, "%.*s", STR_ARG(what)));
    }
    putchar('\n');
    json_object_put(answer);
    return CLI_DONE;
}

/* ---- the timer ---- */

static int run_start(const struct cli_args *args)
{
    AUTO_JSON body = json_object_new_object();
    AUTO_JOT jot;
    struct json_object *answer;
    struct str id = STR_NONE;

    if (jot_open(&jot, args) < 0 ||
        (cli_operand_count(args) && jot_task(&jot, cli_operand(args, 0), &id) < 0))
        return jot_fail(&jot);
    jot_add(body, "taskId", id);
    jot_add(body, "description", str_from(cli_value(args, "description")));
    if (jot_ask(&jot, "POST", body, &answer, "timer/start") < 0)
        return jot_fail(&jot);
    return say_entry(&jot, answer, "Runs for");
}

static const struct cli_option start_options[] = {
    { .name = "description", .value = "TEXT", .help = "what is being done" },
    { .name = NULL },
};

const struct cli_command cli_cmd_journal_time_start = {
    .name = "journal time start",
    .operands = "[TASK]",
    .summary = "Starts the timer; what ran is stopped",
    .options = start_options,
    .operands_max = 1,
    .run = run_start,
};

/* It was forgotten: the entry that runs ends when it should have. */
static int stop_at(struct jot *jot, const char *typed, struct json_object **ret_answer)
{
    AUTO_JSON body = json_object_new_object();
    AUTO_JSON running = NULL;
    struct json_object *entry;
    char at[TIMEFMT_SIZE];

    jot_says(jot, "endedAt", "--at");
    jot_says(jot, "startedAt", "the timer began");
    if (jot_moment(jot, typed, STR_NONE, JOT_BEHIND, at) < 0)
        return err_wrap(&jot->err, "--at");
    if (jot_ask(jot, "GET", NULL, &running, "timer") < 0)
        return -1;
    if (!json_find(running, "entry"))
        return err_set(&jot->err, ERR_NOT_FOUND, "no timer runs");
    jot_add(body, "endedAt", str_from(at));
    if (jot_ask(jot, "PATCH", body, &entry, "time-entries/%.*s",
                STR_ARG(jot_member(json_find(running, "entry"), "id"))) < 0)
        return -1;
    *ret_answer = json_object_new_object();
    json_object_object_add(*ret_answer, "entry", entry);
    return 0;
}

static int run_stop(const struct cli_args *args)
{
    AUTO_JSON body = json_object_new_object();
    AUTO_JOT jot;
    struct json_object *answer;
    const char *at = cli_value(args, "at");

    if (jot_open(&jot, args) < 0 ||
        (at ? stop_at(&jot, at, &answer) : jot_ask(&jot, "POST", body, &answer, "timer/stop")) < 0)
        return jot_fail(&jot);
    return say_entry(&jot, answer, "Stopped after");
}

static const struct cli_option stop_options[] = {
    { .name = "at", .value = "TIME", .help = "when it was forgotten: 17:30, \"yesterday 18:00\"" },
    { .name = NULL },
};

const struct cli_command cli_cmd_journal_time_stop = {
    .name = "journal time stop",
    .operands = "",
    .summary = "Stops the timer",
    .options = stop_options,
    .run = run_stop,
};

static int run_status(const struct cli_args *args)
{
    AUTO_JOT jot;
    struct json_object *answer;

    if (jot_open(&jot, args) < 0 || jot_ask(&jot, "GET", NULL, &answer, "timer") < 0)
        return jot_fail(&jot);
    return say_entry(&jot, answer, "Runs for");
}

const struct cli_command cli_cmd_journal_time_status = {
    .name = "journal time status",
    .operands = "",
    .summary = "Says what the timer counts",
    .run = run_status,
};

/* ---- afterwards ---- */

static const struct jot_option log_members[] = {
    { "category", "categoryId", JOT_CATEGORY },
    { "description", "description", JOT_TEXT },
    { NULL, NULL, 0 },
};

static int run_log(const struct cli_args *args)
{
    AUTO_JSON body = json_object_new_object();
    AUTO_JOT jot;
    struct json_object *answer;
    struct str id = STR_NONE;

    if (jot_open(&jot, args) < 0 ||
        (cli_operand_count(args) && jot_task(&jot, cli_operand(args, 0), &id) < 0) ||
        jot_spent(&jot, body) < 0 || jot_take(&jot, log_members, body) < 0)
        return jot_fail(&jot);
    jot_add(body, "taskId", id);
    if (jot_ask(&jot, "POST", body, &answer, "time-entries") < 0)
        return jot_fail(&jot);
    return jot_done(&jot, answer, "Logged");
}

static const struct cli_option log_options[] = {
    { .name = "from", .value = "TIME", .help = "when it began: 9:00, \"yesterday 9:00\"" },
    { .name = "to",
      .value = "TIME",
      .help = "when it ended, on the day of --from: 10:30; 1:00 after 23:00 is the next day's" },
    { .name = "for",
      .value = "LONG",
      .help = "how long it took, up to now unless --from or --to is given: 45m, 2h" },
    { .name = "day", .value = "DAY", .help = "of times that name none; today unless given" },
    { .name = "category", .value = "CATEGORY", .help = "when it is for no task" },
    { .name = "description", .value = "TEXT", .help = "what was done" },
    { .name = NULL },
};

const struct cli_command cli_cmd_journal_time_log = {
    .name = "journal time log",
    .operands = "[TASK]",
    .summary = "Notes time that was spent",
    .options = log_options,
    .operands_max = 1,
    .run = run_log,
};

/* ---- mending ---- */

static const struct jot_option set_members[] = {
    { "task", "taskId", JOT_TASK },
    { "category", "categoryId", JOT_CATEGORY },
    { "description", "description", JOT_TEXT },
    { NULL, NULL, 0 },
};

/* When it was, if that is to change. */
static int take_moments(struct jot *jot, struct json_object *body)
{
    AUTO_JSON entry = NULL;

    if (!cli_value(jot->args, "from") && !cli_value(jot->args, "to") &&
        !cli_value(jot->args, "day"))
        return 0;
    if (jot_ask(jot, "GET", NULL, &entry, "time-entries/%s",
                jot_part(jot, cli_operand(jot->args, 0))) < 0)
        return -1;
    return jot_spent_anew(jot, entry, body);
}

static int run_set(const struct cli_args *args)
{
    AUTO_JSON body = json_object_new_object();
    AUTO_JOT jot;
    struct json_object *answer;

    if (jot_open(&jot, args) < 0 || take_moments(&jot, body) < 0 ||
        jot_take(&jot, set_members, body) < 0)
        return jot_fail(&jot);
    if (!json_object_object_length(body))
        return jot_idle(&jot, "--from, --to, --task, --category or --description");
    if (jot_ask(&jot, "PATCH", body, &answer, "time-entries/%s",
                jot_part(&jot, cli_operand(args, 0))) < 0)
        return jot_fail(&jot);
    return jot_done(&jot, answer, "Changed");
}

static const struct cli_option set_options[] = {
    { .name = "from", .value = "TIME", .help = "when it began: 9:00, \"yesterday 9:00\"" },
    { .name = "to", .value = "TIME", .help = "when it ended, on the day on which it began" },
    { .name = "day",
      .value = "DAY",
      .help = "of times that name none; the one on which it began unless given" },
    { .name = "task", .value = "TASK", .help = "what it was for; none" },
    { .name = "category", .value = "CATEGORY", .help = "when it is for no task; none" },
    { .name = "description", .value = "TEXT", .help = "what was done; none" },
    { .name = NULL },
};

const struct cli_command cli_cmd_journal_time_set = {
    .name = "journal time set",
    .operands = "ENTRY",
    .summary = "Changes time that was noted",
    .details = "`dormouse journal time list` shows the ids.",
    .options = set_options,
    .operands_min = 1,
    .operands_max = 1,
    .run = run_set,
};

static int run_rm(const struct cli_args *args)
{
    return jot_each(args, "DELETE", "time-entries", "", "Deleted");
}

const struct cli_command cli_cmd_journal_time_rm = {
    .name = "journal time rm",
    .operands = "ENTRY...",
    .summary = "Deletes time that was noted; `journal time restore` undoes it",
    .operands_min = 1,
    .operands_max = -1,
    .run = run_rm,
};

static int run_restore(const struct cli_args *args)
{
    return jot_each(args, "POST", "time-entries", "/restore", "Restored");
}

const struct cli_command cli_cmd_journal_time_restore = {
    .name = "journal time restore",
    .operands = "ENTRY...",
    .summary = "Brings deleted time back",
    .operands_min = 1,
    .operands_max = -1,
    .run = run_restore,
};

/* ---- list ---- */

static void print_entries(struct jot *jot, struct json_object *items)
{
    static const char *const head[] = { "ID", "BEGAN", "TOOK", "FOR", "WHAT", NULL };
    AUTO_JSON known = json_object_new_object();
    size_t width = jot_id_width(items);
    struct columns columns;
    int64_t all = 0;
    char span[JOT_WHEN_SIZE];

    columns_init(&columns, head);
    for (size_t i = 0; i < json_length(items); i++) {
        struct json_object *entry = json_object_array_get_idx(items, i);
        char when[JOT_WHEN_SIZE];
        int64_t ms = span_of(jot, entry);

        all += ms;
        columns_add(
            &columns,
            (struct str[]){ str_take(jot_member(entry, "id"), width),
                            str_from(jot_clock(jot, jot_member(entry, "startedAt"), when)),
                            str_from(jot_member(entry, "endedAt").n ? jot_span(ms, span) : "runs"),
                            purpose_of(jot, known, entry), jot_member(entry, "description") });
    }
    columns_print(&columns, stdout);
    columns_release(&columns);
    printf("%s in all\n", jot_span(all, span));
}

static int run_list(const struct cli_args *args)
{
    static const char *const days[] = { "from", "to" };
    AUTO_BUF path = BUF_INIT(16 * KIB);
    AUTO_JSON items = NULL;
    AUTO_JOT jot;
    struct str id;
    bool more;

    buf_add_text(&path, "time-entries?order=newest&limit=1000");
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
    if (cli_value(args, "task")) {
        if (jot_task(&jot, cli_value(args, "task"), &id) < 0)
            return jot_fail(&jot);
        jot_query(&jot, &path, "taskId", arena_printf(&jot.arena, "%.*s", STR_ARG(id)));
    }
    if (jot_list(&jot, buf_text(&path), LIST_MAX, &items, &more) < 0)
        return jot_fail(&jot);
    if (cli_json(args)) {
        cli_print_lines(items);
        return CLI_DONE;
    }
    if (json_length(items))
        print_entries(&jot, items);
    else
        printf("No time was noted. `dormouse journal time start TASK` starts the timer.\n");
    jot_say_more(more, "--from and --to show other days");
    return CLI_DONE;
}

static const struct cli_option list_options[] = {
    { .name = "task", .value = "TASK", .help = "of one task" },
    { .name = "from", .value = "DAY", .help = "that began on this day or later" },
    { .name = "to", .value = "DAY", .help = "that began on this day or before" },
    { .name = NULL },
};

const struct cli_command cli_cmd_journal_time_list = {
    .name = "journal time list",
    .operands = "",
    .summary = "Lists the time that was spent, newest first",
    .options = list_options,
    .run = run_list,
};
