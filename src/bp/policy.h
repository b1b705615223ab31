/* User policy: guards as data.
 *
 *     version: 1
 *     classify:                           # attribute: expression (expr.h)
 *       network: tool in ["fetch", "search"]
 *     guards:
 *       - name: no_network                # one thread: stateless, it only blocks
 *         points:
 *           - block: [{ on: act, has: [network] }]
 *       - name: refuse_network            # one thread a call: its own way out
 *         each: { on: [call, edit], has: [network] }
 *         points:
 *           - request: denied
 *
 * A guard without `each` is stateless: one point that blocks and nothing else. A guard with `each`
 * has an instance a key and speaks of its own key only. Guards may block what the program does, and
 * request the types that it left OPEN. So safety that is proved of the program is kept if they only
 * block, and checking the combined program proves the rest again.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_BP_POLICY_H
#define DORMOUSE_BP_POLICY_H

#include "base/alloc.h"
#include "bp/bp.h"
#include "bp/expr.h"

#define POLICY_GUARDS_MAX     64
#define POLICY_POINTS_MAX     16
#define POLICY_ATTRIBUTES_MAX 24

struct bp_policy;
struct yaml;

/* Checks form and expressions; names of events and attributes are looked up by bp_policy_apply().
 * yaml is not kept. Errors begin "NAME:LINE:COLUMN: " and say guard, point and what is allowed,
 * those of bp_policy_apply() too. */
int bp_policy_parse(const struct yaml *yaml, const char *name, struct bp_policy **ret_policy,
                    struct err *err);
/* From a file, YAML or JSON. */
int bp_policy_load(const char *path, struct bp_policy **ret_policy, struct err *err);
void bp_policy_free(struct bp_policy *policy);
AUTO_DEFINE(bp_policy)

/* Is the program one of those named under `for`? Without `for`: does it know every event that
 * the guards name? */
bool bp_policy_is_for(const struct bp_policy *policy, const struct bp_program *program);
/* Refuses a policy that guards nothing: a name under `for` that is no program's (programs ends with
 * NULL), or events of which no program knows all. */
int bp_policy_fits(const struct bp_policy *policy, const struct bp_program *const *programs,
                   struct err *err);

/* The program with the policy's guards at the end and its attributes added: BIRTH and LATCH types
 * of keys may carry them. Lies in arena, and refers to program and policy. Checked. */
int bp_policy_apply(const struct bp_program *program, const struct bp_policy *policy,
                    struct arena *arena, const struct bp_program **ret_program, struct err *err);

/* The attributes, as bits of the combined program, whose expressions hold. They are added to what
 * the caller found out itself: a policy takes no attribute away. */
uint32_t bp_policy_classify(const struct bp_policy *policy, const struct bp_program *combined,
                            const struct expr_facts *facts);

#endif
