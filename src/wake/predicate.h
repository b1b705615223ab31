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
 * its first minute. Every record also has id, createdAt, updatedAt and deletedAt.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_WAKE_PREDICATE_H
#define DORMOUSE_WAKE_PREDICATE_H

#include "base/alloc.h"
#include "base/err.h"
#include "journal/record.h"

#define PREDICATE_BYTES_MAX 4096
#define PREDICATE_NODES_MAX 256
#define PREDICATE_DEPTH_MAX 32

struct predicate;
/* bad_request: "column 18: ...". An empty text is a predicate that is always true. */
int predicate_parse(struct str text, struct predicate **ret_predicate, struct err *err);
void predicate_free(struct predicate *predicate);
AUTO_DEFINE(predicate)
bool predicate_matches(const struct predicate *predicate, const struct record *record);

#endif
