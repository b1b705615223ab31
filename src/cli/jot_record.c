/* Any record of the journal, as people name it.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json.h>

#include "cli/jot.h"

/* In the order in which an id is looked for. */
static const struct {
    const char *plural, *type;
} kinds[] = {
    { "tasks", "task" },
    { "entries", "entry" },
    { "time-entries", "timeEntry" },
    { "categories", "category" },
    { "labels", "label" },
    { "checklists", "checklist" },
    { "checklist-items", "checklistItem" },
    { "day-plan-blocks", "dayPlanBlock" },
    { "ratings", "rating" },
    { "attachments", "attachment" },
};

int jot_record(struct jot *jot, const char *typed, const char **ret_type, struct str *ret_id)
{
    struct str day;

    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        AUTO_JSON answer = NULL;

        if (jot_ask(jot, "GET", NULL, &answer, "%s/%s", kinds[i].plural, jot_part(jot, typed)) ==
            0) {
            *ret_type = kinds[i].type;
            *ret_id = arena_str(&jot->arena, jot_member(answer, "id"));
            return 0;
        }
        if (jot->err.code != ERR_NOT_FOUND)
            return -1;
        err_reset(&jot->err);
    }
    if (jot_day(jot, typed, JOT_AHEAD, &day) == 0) {
        *ret_type = "dayPlan";
        *ret_id = str_from(arena_printf(&jot->arena, "dayplan-%.*s", STR_ARG(day)));
        return 0;
    }
    err_reset(&jot->err);
    if (jot_task(jot, typed, ret_id) < 0) {
        if (jot->err.code != ERR_NOT_FOUND)
            return -1;
        err_reset(&jot->err);
        return err_set(
            &jot->err, ERR_NOT_FOUND,
            "\"%.80s\" is neither an id, nor a day, nor in the title of a task; lists show "
            "the ids",
            typed);
    }
    *ret_type = "task";
    return 0;
}
