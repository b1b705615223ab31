/* Names of files that tools outside obey without asking: hooks and settings of git, editors' tasks,
 * shells' start files, Dormouse's own settings. An agent that could write one would run outside of
 * the walls the next time that a person works there.
 *
 * What belongs into the tables: something by which a person's tool runs or contacts what it names,
 * merely because the person enters the folder, opens it in an editor, a debugger, an interpreter or
 * an assistant, or uses version control there. What does not: files of a build (Makefile,
 * package.json), since starting one is a decision, and text for an assistant to read (AGENTS.md).
 *
 *     at the top of a writable place, in a home, and in each repository below a place that exists
 *     at the start:
 *         what is there is bound read-only (walls_guarded.c), what is not there can't be made
 *         (inside_create.c); whoever wins that race has it set aside (inside_guard.c). The same for
 *         what git's configuration names there (walls_git.c)
 *     deeper, made or changed later:
 *         set aside when the operation that wrote ends, and reported (inside_deep.c)
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_SANDBOX_GUARDED_H
#define DORMOUSE_SANDBOX_GUARDED_H

#include <stdbool.h>

struct guarded_name {
    const char *way; /* the directories that it lies in (".jj/repo"); "": right there */
    const char *name;
};
/* Tables end with a name of NULL. */
extern const struct guarded_name guarded_names[]; /* in a working tree or a home */
extern const struct guarded_name guarded_home[];  /* in a home, besides */
extern const char *const guarded_git[];           /* in a git directory; ends with NULL */
/* In a git directory while a rebase or its like is under way. They come and go with ordinary work,
 * so they may be made anywhere, and are looked at as what is deeper. */
extern const struct guarded_name guarded_git_later[];

/* Whether path ends with an entry; of a link also whether it stands on the way to one, which would
 * then lie wherever it leads. */
bool guarded_has(const struct guarded_name *names, const char *path, bool link);
/* The names by which git knows a directory of its own: with two of them it is taken for one. */
#define GUARDED_GIT_MARKS 2
bool guarded_is_git_mark(const char *name);

#endif
