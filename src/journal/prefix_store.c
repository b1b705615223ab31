/* Records by the beginning of their id.
 *
 * SPDX-License-Identifier: MIT
 */
#include "db/prefix.h"
#include "journal/journal_int.h"
#include "journal/record_store_int.h"

static const struct sql finds[] = {
#define X(id_, name, key)                                                                          \
    [RECORD_##id_] = { "SELECT id FROM " id_##_TABLE                                               \
                       " WHERE id >= ? AND id < ? || '~' ORDER BY id LIMIT 5" },
    RECORD_TYPES(X)
#undef X
};

#define SHOW_TASK "dormouse journal task show TASK"
#define ALL       "what there is"
static const struct prefix_words words[RECORD_TYPES_END] = {
    [RECORD_CATEGORY] = { "category", "categories", "dormouse journal category list", ALL },
    [RECORD_LABEL] = { "label", "labels", "dormouse journal label list", ALL },
    [RECORD_TASK] = { "task", "tasks", "dormouse journal task list", ALL },
    [RECORD_CHECKLIST] = { "checklist", "checklists", SHOW_TASK, "those of a task" },
    [RECORD_CHECKLIST_ITEM] = { "checklist item", "checklist items", SHOW_TASK,
                                "the ids of its items" },
    [RECORD_TIME_ENTRY] = { "time entry", "time entries", "dormouse journal time list", ALL },
    [RECORD_DAY_PLAN] = { "day plan", "day plans", "dormouse journal plan DAY", "a day" },
    [RECORD_DAY_PLAN_BLOCK] = { "block", "blocks", "dormouse journal plan DAY",
                                "the blocks of a day" },
    [RECORD_RATING] = { "rating", "ratings", "dormouse journal rating list", ALL },
    [RECORD_ENTRY] = { "entry", "entries", "dormouse journal note list",
                       "notes, `workout list` and `measure list` the others" },
    [RECORD_ATTACHMENT] = { "attachment", "attachments", "dormouse journal audio list",
                            "recordings" },
    [RECORD_ENTRY_LINK] = { "link", "links", "dormouse journal link list", ALL },
};

static int refuse(enum record_type type, struct str typed, struct err *err)
{
    return err_set(err, ERR_NOT_FOUND, "there is no %s \"%.*s\"; `%s` shows %s", words[type].one,
                   STR_ARG(str_take(typed, RECORD_ID_MAX)), words[type].command, words[type].shows);
}

int journal_find_prefix(struct journal *journal, enum record_type type, struct str prefix,
                        struct arena *arena, struct str *ret_id, struct err *err)
{
    struct record record;
    int r;

    if (!record_id_valid(prefix))
        return refuse(type, prefix, err);
    r = journal_get_any(journal, type, prefix, arena, &record, err);
    if (r < 0)
        return -1;
    if (r == 1) {
        *ret_id = record.id;
        return 0;
    }
    if (prefix.n < PREFIX_MIN)
        return refuse(type, prefix, err);
    return prefix_find(domain_db(journal->domain), finds[type], prefix, &words[type], arena, ret_id,
                       err);
}
