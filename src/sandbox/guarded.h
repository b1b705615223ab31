/* Names of files that tools outside read and obey without asking: hooks and settings of git,
 * editors' tasks, shells' start files, Dormouse's own settings. An agent that could write one would
 * run outside of the walls the next time that a person works there.
 *
 *     at the top of a writable place, and of each repository below it that exists at the start:
 *         what is there is bound read-only (walls_guarded.c), what is not there can't be made
 *         (inside_create.c); whoever wins that race has it set aside (inside_guard.c)
 *     deeper, made later:
 *         set aside when the command ends, and reported (inside_deep.c)
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_SANDBOX_GUARDED_H
#define DORMOUSE_SANDBOX_GUARDED_H

#include <stdbool.h>

#include "base/str.h"

/* By place; end with NULL. */
extern const char *const guarded_names[]; /* in a working tree or a home */
extern const char *const guarded_git[];   /* in a git directory */

bool guarded_has(const char *const *names, const char *name);
/* Whether git runs or reads nothing of others by this configuration: only settings that every fresh
 * clone has. */
bool guarded_config_is_plain(struct str text);

#endif
