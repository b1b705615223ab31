/* dormouse journal restore: what was deleted, whatever it is.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json.h>

#include "cli/cli_int.h"
#include "cli/commands_int.h"
#include "cli/jot.h"

/* Ids are looked for in every kind of record; those of most have one of their own. */
static int restore(struct jot *jot, const char *typed, struct json_object **ret_answer)
{
    static const char *const plurals[] = { "tasks",           "entries",    "time-entries",
                                           "checklist-items", "checklists", "day-plan-blocks",
                                           "categories",      "labels",     "ratings",
                                           "attachments",     "entry-links" };

    for (size_t i = 0; i < ARRAY_LEN(plurals); i++) {
        err_reset(&jot->err);
        if (jot_ask(jot, "POST", NULL, ret_answer, "%s/%s/restore", plurals[i],
                    jot_part(jot, typed)) == 0)
            return 0;
        if (jot->err.code != ERR_NOT_FOUND)
            return -1;
    }
    err_reset(&jot->err);
    return err_set(&jot->err, ERR_NOT_FOUND,
                   "nothing in the journal has the id \"%.80s\"; deleting said it", typed);
}

static int run_restore(const struct cli_args *args)
{
    AUTO_JOT jot;

    if (jot_open(&jot, args) < 0)
        return jot_fail(&jot);
    for (size_t i = 0; i < cli_operand_count(args); i++) {
        struct json_object *answer = NULL;

        if (restore(&jot, cli_operand(args, i), &answer) < 0)
            return jot_fail(&jot);
        jot_done(&jot, answer, "Restored");
    }
    return CLI_DONE;
}

const struct cli_command cli_cmd_journal_restore = {
    .name = "journal restore",
    .operands = "ID...",
    .summary = "Brings back what was deleted, with what went along",
    .details = "Whatever it is: a task, an item, time, a block, an entry, a category, a label, a "
               "link. The command that deleted it said the id.",
    .operands_min = 1,
    .operands_max = -1,
    .run = run_restore,
};
