/* Commands and what must be found in them.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_TESTS_POLICY_DANGER_RIG_H
#define DORMOUSE_TESTS_POLICY_DANGER_RIG_H

#include "base/alloc.h"
#include "harness/test.h"
#include "policy/danger.h"

#define ROOT  "recursive_delete_of_root"
#define DISK  "disk_overwritten"
#define BOMB  "fork_bomb"
#define LOAD  "download_piped_to_shell"
#define CODE  "decoded_text_run"
#define MODE  "permissions_of_root"
#define GUARD "protection_disabled"
#define DOWN  "machine_stopped"
#define STAY  "persistence"
#define TRACE "traces_wiped"
#define SHELL "reverse_shell"
#define OWN   "dormouse_own_data"
#define KEYS  "credentials_read"
#define HIDE  "hidden_text"
#define ALIKE "look_alike_name"
#define MAZE  "obscure"

/* rule NULL: the command must pass. */
struct trick {
    const char *command, *rule;
};

static inline void expect(const struct trick *cases, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct danger danger = { .rule = NULL };
        bool found = danger_find(str_from(cases[i].command), &danger);
        const char *rule = found ? danger.rule : NULL;

        if (!rule != !cases[i].rule || (rule && strcmp(rule, cases[i].rule) != 0))
            test_case_failed("%s instead of %s: %s", rule ? rule : "nothing",
                             cases[i].rule ? cases[i].rule : "nothing", cases[i].command);
        else
            test_case_passed();
    }
}

#endif
