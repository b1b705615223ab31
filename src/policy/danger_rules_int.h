/* Tables of rules, one for each subject, and what their checks share.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_POLICY_DANGER_RULES_INT_H
#define DORMOUSE_POLICY_DANGER_RULES_INT_H

#include "policy/danger_int.h"

struct danger_rule {
    const char *names; /* of commands, separated by blanks */
    bool (*check)(struct danger_scan *scan, const struct danger_command *command);
    const char *rule, *about;
};

struct danger_rules {
    const struct danger_rule *at;
    size_t n;
};

#define DANGER_RULE_SETS 3

extern const struct danger_rules danger_rules_delete, danger_rules_guard, danger_rules_stay;
/* All of them, in the order in which they are asked. */
extern const struct danger_rules *const danger_rule_sets[DANGER_RULE_SETS];

/* The check of commands that are a finding whatever their words are. */
bool danger_always(struct danger_scan *scan, const struct danger_command *command);
/* Is one of the operands, from that one on, a vital path? */
bool danger_any_vital(struct danger_scan *scan, const struct danger_command *command, size_t from);
bool danger_any_device(struct danger_scan *scan, const struct danger_command *command);
/* Is one of the words in the list? */
bool danger_has_word(const struct danger_command *command, const char *list);
/* Is it the name of a well-known command but for letters of another script? */
bool danger_looks_known(struct danger_scan *scan, struct str name);

#endif
