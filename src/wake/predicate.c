/* Predicates: evaluation.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>

#include "wake/predicate_int.h"

void predicate_free(struct predicate *predicate)
{
    if (!predicate)
        return;
    arena_release(&predicate->arena);
    free(predicate);
}

static struct record_value common_value(const struct record *record, unsigned field)
{
    int64_t at = field == PREDICATE_CREATED_AT   ? record->created_at
                 : field == PREDICATE_UPDATED_AT ? record->updated_at
                                                 : record->deleted_at;

    if (field == PREDICATE_ID)
        return (struct record_value){ .set = true, .s = record->id };
    return (struct record_value){ .set = at != 0, .i = at };
}

/* Days of a literal are whole days: "2026-12-01" is any minute of it. A value without a clock
 * counts as the beginning of its day. */
static int compare_days(struct str value, struct str literal)
{
    struct str clock = value.n > 10 ? str_skip(value, 10) : STR("T00:00");
    int order = str_cmp(str_take(value, 10), str_take(literal, 10));

    if (order || literal.n <= 10)
        return order;
    return str_cmp(clock, str_skip(literal, 10));
}

/* Ids need no escapes in JSON, so that one stands in a list as it is, in quotes. */
static bool list_has(struct str list, struct str id)
{
    if (!list.p || !record_id_valid(id))
        return false;
    for (size_t i = 0; i + id.n + 2 <= list.n; i++) {
        if (list.p[i] == '"' && list.p[i + 1 + id.n] == '"' &&
            str_eq(str_of(list.p + i + 1, id.n), id))
            return true;
    }
    return false;
}

/* Of lists: 0 when the literal is in it. */
static int compare(enum predicate_by by, const struct record_value *value,
                   const struct predicate_value *literal)
{
    switch (by) {
    case PREDICATE_BY_INT:
        return value->i < literal->i ? -1 : value->i > literal->i;
    case PREDICATE_BY_REAL:
        return value->f < literal->f ? -1 : value->f > literal->f;
    case PREDICATE_BY_DAY:
        return compare_days(value->s, literal->s);
    case PREDICATE_BY_LIST:
        return !list_has(value->s, literal->s);
    case PREDICATE_BY_TEXT:
    default:
        return str_cmp(value->s, literal->s);
    }
}

static bool any_equal(const struct predicate *p, const struct predicate_node *node,
                      const struct record_value *value)
{
    for (unsigned i = 0; i < node->count; i++) {
        if (compare(node->by, value, &p->values[node->first + i]) == 0)
            return true;
    }
    return false;
}

static bool holds(const struct predicate *p, const struct predicate_node *node,
                  const struct record *record, struct str label_ids)
{
    struct record_value value;
    int order;

    if (record->type != (enum record_type)node->type)
        return false;
    if (node->field == PREDICATE_LABEL_IDS)
        value = (struct record_value){ .set = label_ids.n > 0, .s = label_ids };
    else
        value = node->field < RECORD_FIELDS_MAX ? record->v[node->field]
                                                : common_value(record, node->field);
    if (node->op == PREDICATE_IS_NULL || node->op == PREDICATE_IS_SET)
        return value.set == (node->op == PREDICATE_IS_SET);
    if (!value.set)
        return false;
    if (node->op == PREDICATE_IN)
        return any_equal(p, node, &value);
    if (node->op == PREDICATE_PREFIX)
        return str_starts(value.s, p->values[node->first].s);
    order = compare(node->by, &value, &p->values[node->first]);
    return node->op == PREDICATE_EQ   ? order == 0
           : node->op == PREDICATE_NE ? order != 0
           : node->op == PREDICATE_LT ? order < 0
           : node->op == PREDICATE_LE ? order <= 0
           : node->op == PREDICATE_GT ? order > 0
                                      : order >= 0;
}

bool predicate_asks_labels(const struct predicate *predicate)
{
    for (unsigned i = 0; i < predicate->node_count; i++)
        if (predicate->nodes[i].op > PREDICATE_NOT &&
            predicate->nodes[i].field == PREDICATE_LABEL_IDS)
            return true;
    return false;
}

bool predicate_matches(const struct predicate *predicate, const struct record *record,
                       struct str label_ids)
{
    bool verdict = true;

    for (unsigned at = 0; at < predicate->node_count; at++) {
        const struct predicate_node *node = &predicate->nodes[at];

        if (node->op == PREDICATE_AND || node->op == PREDICATE_OR) {
            if (verdict == (node->op == PREDICATE_OR))
                at = node->first - 1u;
        } else if (node->op == PREDICATE_NOT) {
            verdict = !verdict;
        } else {
            verdict = holds(predicate, node, record, label_ids);
        }
    }
    return verdict;
}
