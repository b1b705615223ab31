/* Commands that are never run, whoever approves: what destroys a system, opens it, or hides what
 * it does.
 *
 * A classifier, not a wall: the sandbox is the wall. It reads a command as a shell would split it
 * (quotes, escapes, substitutions, pipes, nested `sh -c`, `eval`, `xargs`, env and sudo prefixes)
 * and judges each simple command. When it can't follow, that is a finding too ("obscure").
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_POLICY_DANGER_H
#define DORMOUSE_POLICY_DANGER_H

#include <stdbool.h>

#include "base/str.h"

struct danger {
    const char *rule;  /* "recursive_delete_of_root", "download_piped_to_shell" ... */
    const char *about; /* a sentence for people */
    struct str part;   /* the part of the command that it is about */
};

/* true and *ret_danger (the first finding) when the command is one. */
bool danger_find(struct str command, struct danger *ret_danger);

#endif
