/* A policy as it was written: names that are looked up when it is applied to a program.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_BP_POLICY_INT_H
#define DORMOUSE_BP_POLICY_INT_H

#include "bp/policy.h"

#define POLICY_NAMES_MAX 32 /* in one list */

struct names {
    const char **p;
    unsigned n;
};

struct policy_sel {
    struct names on, has, lacks;
    uint8_t go;
};

struct policy_point {
    const char *request; /* NULL: none */
    struct policy_sel wait[BP_WAITS], block[BP_BLOCKS];
    unsigned waits, blocks; /* interrupts are waits that go to the end */
};

struct policy_guard {
    const char *name;
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
    struct names programs; /* `for`; n == 0: not said */
    struct policy_attribute attributes[POLICY_ATTRIBUTES_MAX];
    unsigned attribute_count;
    struct policy_guard guards[POLICY_GUARDS_MAX];
    unsigned guard_count;
};

#endif
