/* Predicates of subscriptions: a small typed language over the fields of changed records.
 *
 *   task.categoryId == "gym" and (task.priority <= 1 or task.due < "2026-12-01")
 *   entry.kind in ["workout", "measurement"] and not entry.subtype prefix "yoga"
 *
 * or and not ( ), == != < <= > >=, in [...], prefix; texts in double quotes with JSON's escapes,
 * numbers, true, false, null. Types are those of the field tables: comparing a text with a number,
 * an unknown field or a word that the field can't have is refused when the predicate is made, with
 * the column. A field of another type of record than the changed one makes its comparison false; so
 * does a null field, but for == null and != null. Evaluating never fails and needs no memory.
 *
 * Numbers, priorities, moments and days have an order; texts, ids and words are equal or not, and
 * texts and ids begin with something. A priority is its number or its name: task.priority <= 1 and
 * task.priority <= "P1" are the same. A day in a predicate is all of that day: a task that is due
 * on "2026-12-01T09:30" is due == "2026-12-01"; compared with a time, a day without one counts as
 * its first minute. Every record also has id, createdAt, updatedAt and deletedAt, a task labelIds.
 * Of a list, `in` asks whether it holds one of these: task.labelIds in ["urgent", "home"].
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_WAKE_PREDICATE_H
#define DORMOUSE_WAKE_PREDICATE_H

#include "base/alloc.h"
#include "base/buf.h"
#include "base/err.h"
#include "journal/record.h"

#define PREDICATE_BYTES_MAX 4096 /* as it is typed */
#define PREDICATE_NODES_MAX 256
#define PREDICATE_DEPTH_MAX 32

struct predicate;
/* bad_request: "column 18: ...". An empty text is a predicate that is always true. */
int predicate_parse(struct str text, struct predicate **ret_predicate, struct err *err);
void predicate_free(struct predicate *predicate);
AUTO_DEFINE(predicate)
/* Categories and labels may be named. Found once, when the predicate is made, so that a new name
 * does not change what it means: the id is put behind the text, task.categoryId == "gym"@"0190...".
 * That is what is stored and parsed; people are shown what they typed.
 *
 * find: the id of the category or label that text names, or is the id of; -1 says why there is
 * none. */
struct predicate_names {
    int (*find)(void *arg, enum record_type type, struct str text, struct str *ret_id,
                struct err *err);
    void *arg;
};
/* Parses what was typed; out gets what is to be stored. */
int predicate_bind(struct str typed, const struct predicate_names *names, struct buf *out,
                   struct err *err);
/* What was typed, of what is stored. */
void predicate_typed(struct str stored, struct buf *out);
/* Does it ask for task.labelIds? */
bool predicate_asks_labels(const struct predicate *predicate);
/* label_ids: of a task, as a JSON list of ids; empty: it has none. */
bool predicate_matches(const struct predicate *predicate, const struct record *record,
                       struct str label_ids);

#endif
