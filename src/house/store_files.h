/* The databases of a data directory belong together: the journal's and the agents'.
 *
 * A directory that has one of them and not the other, or one that is empty, cut off or another
 * directory's, is not opened: agents, permissions and kill switches would be gone without a word.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_HOUSE_STORE_FILES_H
#define DORMOUSE_HOUSE_STORE_FILES_H

#include "base/arena.h"
#include "base/err.h"

struct domain;

/* integrity_failed: names the file, what is wrong with it, the backups that are known, and the
 * command that restores one. Nothing is changed. */
int store_files_check(const char *dir, struct err *err);
/* "is missing" or "is empty", when that is so of this one of the two and the other is there; else
 * NULL. */
const char *store_files_lost(const char *dir, const char *path);
/* Under the lock, before they are opened: checks, and marks a directory that has neither file as
 * one that is being made, so that a crash in between is not taken for a loss. */
int store_files_begin(const char *dir, struct err *err);
/* Both are open: they must be of one directory. The first time they are told that they are. */
int store_files_made(const char *dir, struct domain *journal, struct domain *agent,
                     struct err *err);

/* A backup was made at this path. Silently does nothing when it can't be noted. */
void store_files_note_backup(const char *dir, const char *path, int64_t at_ms);
/* "dormouse restore FILE ...", with the newest backup that is still there, or FILE. */
const char *store_files_cure(const char *dir, struct arena *arena);

#endif
