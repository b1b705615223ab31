/* Folders that subscriptions of source files watch: what is written, moved in or deleted there
 * wakes.
 *
 * A folder is watched itself, not what lies below it. Symbolic links are followed nowhere: a folder
 * whose path leads through one is refused, and one inside is not a file that changed. An event is a
 * file in one state (path, time, size, inode), so the same state wakes once however often it is
 * noticed. What changed while nobody watched is found when watching begins again, by the time of
 * change that each folder was read up to; deletions meanwhile are not.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_WAKE_FOLDERS_H
#define DORMOUSE_WAKE_FOLDERS_H

#include "base/alloc.h"
#include "base/err.h"
#include "base/str.h"
#include "change/change.h"
#include "loop/loop.h"

/* Where nothing is watched: the data directory and what may not be read, as the settings name it
 * ("~/.ssh", ".env" for every file of that name). Resolved whenever a folder or file is judged. */
struct folder_rules {
    const char *const *denied;
    size_t count;
    const char *base; /* what relative places count from; outlives the folders. NULL: "/" */
};
/* path_denied: it lies in one of them, or leads through a symbolic link; not_found, bad_request.
 * The folder is asked again whenever it is watched. */
int folder_check(const struct folder_rules *rules, struct str folder, struct err *err);

struct folders;

struct folders_config {
    struct loop *loop;
    struct domain *agent_domain;
    struct change *change;
    struct folder_rules rules; /* copied */
    int64_t quiet_ms;          /* after the last event of a file; 0: 300 */
    /* After the commit: wakes were queued. May be NULL. */
    void (*queued)(void *arg);
    void *arg;
};
/* Watches with the loop's next tick. Never NULL. */
struct folders *folders_new(const struct folders_config *config);
/* Subscriptions were changed. Cheap. */
void folders_look(struct folders *folders);
void folders_stop(struct folders *folders);
void folders_free(struct folders *folders);
AUTO_DEFINE(folders)

/* How many are watched, and how many should be and can't. */
struct folders_counts {
    size_t watched, missing;
};
struct folders_counts folders_counts(const struct folders *folders);

#endif
