/* A policy as it was written: names that are looked up when it is applied to a program, each with
 * the place in its file.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_BP_POLICY_INT_H
#define DORMOUSE_BP_POLICY_INT_H

#include "base/yaml.h"
#include "bp/policy.h"

#define POLICY_NAMES_MAX 32 /* in one list */

struct policy_name {
    const char *text;
    struct yaml_position at;
    const struct policy_name *next; /* in bp_policy.events */
};

struct policy_names {
    struct policy_name *p;
    unsigned n;
};

struct policy_sel {
    struct policy_names on, has, lacks;
    uint8_t go;
};

struct policy_point {
    struct yaml_position at;
    struct policy_name request; /* text NULL: none */
    struct policy_sel wait[BP_WAITS], block[BP_BLOCKS];
    unsigned waits, blocks; /* interrupts are the first waits, and go to the end */
};

struct policy_guard {
    struct policy_name name;
    bool each_key;
    struct policy_sel each;
    struct policy_point *points;
    unsigned point_count;
};

struct policy_attribute {
    const char *name;
    const struct expr *expr;
};

struct bp_policy {
    struct arena arena;
    const char *file;
    struct policy_names programs;     /* `for`; n == 0: not said */
    const struct policy_name *events; /* every event that is named anywhere */
    struct policy_attribute attributes[POLICY_ATTRIBUTES_MAX];
    unsigned attribute_count;
    struct policy_guard guards[POLICY_GUARDS_MAX];
    unsigned guard_count;
};

/* Wraps what is in err with the place: "policy.yaml:7:13: ...". */
int policy_at(const struct bp_policy *policy, struct yaml_position at, struct err *err);

#endif
