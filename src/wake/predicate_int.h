/* What a predicate is between its parser and its evaluation: a line of steps.
 *
 * A comparison sets the verdict; PREDICATE_AND leaves for `target` when it is false, PREDICATE_OR
 * when it is true, PREDICATE_NOT turns it around. So there is one verdict, no stack and no
 * recursion however the text was nested.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_WAKE_PREDICATE_INT_H
#define DORMOUSE_WAKE_PREDICATE_INT_H

#include "wake/predicate.h"

enum predicate_op {
    PREDICATE_NONE = 0,
    PREDICATE_AND,
    PREDICATE_OR,
    PREDICATE_NOT,
    PREDICATE_IS_NULL,
    PREDICATE_IS_SET,
    PREDICATE_EQ,
    PREDICATE_NE,
    PREDICATE_LT,
    PREDICATE_LE,
    PREDICATE_GT,
    PREDICATE_GE,
    PREDICATE_IN,
    PREDICATE_PREFIX,
};

/* Which part of a value a comparison looks at. */
enum predicate_by {
    PREDICATE_BY_TEXT = 0,
    PREDICATE_BY_INT,
    PREDICATE_BY_REAL,
    PREDICATE_BY_DAY,
    PREDICATE_BY_LIST
};

struct predicate_value {
    int64_t i;
    double f;
    struct str s;
};

struct predicate_node {
    uint8_t op, by;
    uint8_t type, field;   /* of the record; RECORD_FIELDS_MAX and more: what every record has */
    uint16_t first, count; /* values; of AND and OR: first is the target */
};

struct predicate {
    struct arena arena; /* of values */
    struct predicate_node *nodes;
    struct predicate_value *values;
    uint16_t node_count, value_count;
};

/* What every record has beside its fields. */
enum predicate_common {
    PREDICATE_ID = RECORD_FIELDS_MAX,
    PREDICATE_CREATED_AT,
    PREDICATE_UPDATED_AT,
    PREDICATE_DELETED_AT,
    PREDICATE_LABEL_IDS, /* of tasks alone */
};

/* ---- predicate_type.c ---- */

struct json_object;

/* A field by its two names, for messages. */
struct predicate_field {
    enum record_type type;
    const struct record_field *field;
    uint8_t index;
};
/* -1: err says (without a column) that there is no such type or field, and what is near. */
int predicate_find_type(struct str name, enum record_type *ret_type, struct err *err);
int predicate_find_field(enum record_type type, struct str name, struct predicate_field *ret_field,
                         struct err *err);
/* May the field be compared so? sign: as it was written. */
int predicate_check_op(const struct predicate_field *field, enum predicate_op op, const char *sign,
                       struct err *err);
/* The literal as a value of this field. shown: as it was written. Text is copied into arena. */
int predicate_literal(const struct predicate_field *field, enum predicate_op op,
                      struct json_object *literal, struct str shown, struct arena *arena,
                      struct predicate_value *ret_value, struct err *err);
enum predicate_by predicate_by(const struct record_field *field);

#endif
