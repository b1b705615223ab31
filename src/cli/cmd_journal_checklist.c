/* dormouse journal checklist add, check, uncheck, rm.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json.h>
#include <stdio.h>

#include "cli/cli_int.h"
#include "cli/commands_int.h"
#include "cli/jot.h"

/* The checklist of this title; made when there is none. */
static int open_list(struct jot *jot, struct json_object *task, const char *title,
                     struct str *ret_id)
{
    AUTO_JSON body = json_object_new_object();
    AUTO_JSON answer = NULL;
    struct json_object *lists = json_find(task, "checklists");

    for (size_t i = 0; i < json_length(lists); i++) {
        struct json_object *list = json_object_array_get_idx(lists, i);

        if (title && !str_eq_nocase(jot_member(list, "title"), str_from(title)))
            continue;
        *ret_id = arena_str(&jot->arena, jot_member(list, "id"));
        return 0;
    }
    jot_says(jot, "title", "--list");
    json_object_object_add(body, "taskId", json_object_get(json_find(task, "id")));
    json_object_object_add(body, "title", json_object_new_string(title ? title : "Checklist"));
    if (jot_ask(jot, "POST", body, &answer, "checklists") < 0)
        return -1;
    *ret_id = arena_str(&jot->arena, jot_member(answer, "id"));
    return 0;
}

/* Before a checklist is made for them. */
static int check_items(struct jot *jot)
{
    for (size_t i = 1; i < cli_operand_count(jot->args); i++)
        if (!str_trim(str_from(cli_operand(jot->args, i))).n)
            return err_set(&jot->err, ERR_BAD_REQUEST, "item %zu: is empty; it needs a text", i);
    return 0;
}

static int run_checklist_add(const struct cli_args *args)
{
    AUTO_JSON body = json_object_new_object();
    AUTO_JSON task = NULL;
    struct json_object *titles = json_object_new_array(), *answer;
    AUTO_JOT jot;
    struct str id, list;

    json_object_object_add(body, "titles", titles);
    for (size_t i = 1; i < cli_operand_count(args); i++)
        json_object_array_add(titles, json_object_new_string(cli_operand(args, i)));
    if (jot_open(&jot, args) < 0 || check_items(&jot) < 0 ||
        jot_task(&jot, cli_operand(args, 0), &id) < 0 ||
        jot_ask(&jot, "GET", NULL, &task, "tasks/%.*s", STR_ARG(id)) < 0 ||
        open_list(&jot, task, cli_value(args, "list"), &list) < 0)
        return jot_fail(&jot);
    jot_says(&jot, "title", "");
    if (jot_ask(&jot, "POST", body, &answer, "checklists/%.*s/items", STR_ARG(list)) < 0)
        return jot_fail(&jot);
    if (cli_json(args))
        return jot_print(&jot, answer);
    printf("Added %zu to the checklist %.*s\n", cli_operand_count(args) - 1, STR_ARG(list));
    json_object_put(answer);
    return CLI_DONE;
}

static const struct cli_option checklist_options[] = {
    { .name = "list", .value = "TITLE", .help = "which of the task's checklists; made when new" },
    { .name = NULL },
};

const struct cli_command cli_cmd_journal_checklist_add = {
    .name = "journal checklist add",
    .operands = "TASK ITEM...",
    .summary = "Adds items to a checklist of a task",
    .details = JOT_TASK_WORDS,
    .options = checklist_options,
    .operands_min = 2,
    .operands_max = -1,
    .run = run_checklist_add,
};

static int each_item(const struct cli_args *args, const char *method, struct json_object *body,
                     const char *said)
{
    AUTO_JOT jot;

    if (jot_open(&jot, args) < 0)
        return jot_fail(&jot);
    for (size_t i = 0; i < cli_operand_count(args); i++) {
        struct json_object *answer = NULL;

        if (jot_ask(&jot, method, body, &answer, "checklist-items/%s",
                    jot_part(&jot, cli_operand(args, i))) < 0)
            return jot_fail(&jot);
        if (!answer) {
            answer = json_object_new_object();
            jot_add(answer, "id", str_from(cli_operand(args, i)));
        }
        jot_done(&jot, answer, said);
    }
    return CLI_DONE;
}

static int check(const struct cli_args *args, bool checked)
{
    AUTO_JSON body = json_object_new_object();

    json_object_object_add(body, "checked", json_object_new_boolean(checked));
    return each_item(args, "PATCH", body, checked ? "Checked" : "Unchecked");
}

static int run_check(const struct cli_args *args)
{
    return check(args, true);
}

static int run_uncheck(const struct cli_args *args)
{
    return check(args, false);
}

static int run_item_rm(const struct cli_args *args)
{
    return each_item(args, "DELETE", NULL, "Deleted");
}

#define ITEM_COMMAND(verb, function, text)                                                         \
    {                                                                                              \
        .name = "journal checklist " verb, .operands = "ITEM...", .summary = (text),               \
        .details = "`dormouse journal task show TASK` shows the ids of items.", .operands_min = 1, \
        .operands_max = -1, .run = (function),                                                     \
    }

const struct cli_command cli_cmd_journal_checklist_check =
    ITEM_COMMAND("check", run_check, "Checks items of a checklist");
const struct cli_command cli_cmd_journal_checklist_uncheck =
    ITEM_COMMAND("uncheck", run_uncheck, "Opens checked items again");
const struct cli_command cli_cmd_journal_checklist_rm =
    ITEM_COMMAND("rm", run_item_rm, "Deletes items of a checklist");
