/* Versioned files in the database: trees, paths, versions, and what was done to them.
 *
 * The database is the truth. Every version is a row, written in the same transaction as its event;
 * after the commit the content appears under DATA/files/TREE/PATH for people to read, grep and
 * edit. What a person changes there becomes a version of theirs; nothing is silently overwritten.
 *
 * A tree is "agents/ID" (an agent's memory) or "users/ID" (the garden). This room knows no policy:
 * who may write what is decided before.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_FILES_FILES_H
#define DORMOUSE_FILES_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/err.h"
#include "base/limits.h"
#include "base/str.h"
#include "change/change.h"
#include "db/domain.h"
#include "loop/loop.h"

struct files;

struct files_config {
    struct loop *loop;
    struct domain *agent_domain;
    struct change *change;
    const char *view_dir; /* DATA/files; NULL: no view */
    /* Where people may put a file of theirs into the view; -1 with the reason, which is shown as a
     * problem. NULL: everywhere. */
    int (*admits)(struct str tree, struct str path, struct err *err);
};
/* The view begins to follow the disk with the loop's first tick. */
int files_new(const struct files_config *config, struct files **ret_files, struct err *err);
/* Stops following; before loop_free(). */
void files_free(struct files *files);
AUTO_DEFINE(files)

/* Relative, '/' between parts, at most 255 bytes a part, 1,024 in all and 16 parts; valid UTF-8 in
 * NFC form. Refused with path_denied: empty, ".", "..", '\', control and invisible characters,
 * trailing dots and spaces, names that start with '.', percent-encoded separators, Windows device
 * names. ret_folded (may be NULL) is the form in which two paths are compared. */
#define FILE_PATH_MAX 1024
int file_path_check(struct str path, struct arena *arena, struct str *ret_folded, struct err *err);

struct file {
    int64_t n;
    struct str path, content_type, hash;
    int64_t version, size;
    bool deleted;
    int64_t created_at, updated_at;
    /* Of this version. */
    struct str author, reason, inbox_id;
    struct str taint;   /* "web,file"; empty: nothing untrusted is in it */
    struct str content; /* only where it says so */
};

/* 1 found, 0 there is none (or it is deleted). With content. */
int file_get(struct files *files, struct str tree, struct str path, struct arena *arena,
             struct file *ret_file, struct err *err);
/* One version of it, with content; also of a deleted file. 0: there is none. */
int file_get_version(struct files *files, struct str tree, struct str path, int64_t version,
                     struct arena *arena, struct file *ret_file, struct err *err);
/* Files below prefix ("knowledge/", empty: all) in order of path, without content. */
int file_list(struct files *files, struct str tree, struct str prefix, struct arena *arena,
              struct file **ret_files, size_t *ret_count, struct err *err);
/* Files below prefix whose newest version is their deletion, made at since (Unix ms) or later; in
 * order of path, without content. version is that of the deletion: the one before it has what was
 * there.
 */
int file_list_deleted(struct files *files, struct str tree, struct str prefix, int64_t since,
                      struct arena *arena, struct file **ret_files, size_t *ret_count,
                      struct err *err);
/* Versions, newest first, without content; before 0: from the newest; at most limit (0: 100). */
int file_history(struct files *files, struct str tree, struct str path, int64_t before, int limit,
                 struct arena *arena, struct file **ret_versions, size_t *ret_count,
                 struct err *err);
/* What a tree holds. */
int file_tree_size(struct files *files, struct str tree, int64_t *ret_bytes, size_t *ret_count,
                   struct err *err);

#define FILE_BYTES_MAX   (10 * MIB) /* of one version */
#define FILE_ANY_VERSION (-1)       /* whatever is there */
struct file_write {
    struct str tree, path;
    bool remove;        /* else content */
    struct str content; /* any bytes; whole, also for an append */
    struct str type;    /* empty: by the name's ending */
    int64_t base;       /* the version that this follows, 0: none yet; version_conflict otherwise */
    struct str author;  /* "owner", "agent:ID", "system" */
    struct str reason;
    struct str taint;    /* empty: none */
    struct str inbox_id; /* what approved it; may be empty */
    int64_t run_n;       /* 0: none */
    /* The same operation again changes nothing and gives the version it made. Empty: none. */
    struct str operation_id;
};
/* Inside a unit. 1 a new version, 0 nothing changed (same content, or done before). The view
 * follows after the commit. ret_file may point into write. A path that differs from one that is
 * there in case or form alone, or would be a folder of one, is a conflict. */
int file_put(struct files *files, const struct file_write *write, struct arena *arena,
             struct file *ret_file, struct err *err);
/* Inside a unit: the content of an earlier version once more, as a new one. Undo of a deletion too.
 */
int file_restore(struct files *files, struct str tree, struct str path, int64_t version,
                 struct str author, struct str reason, struct arena *arena, struct file *ret_file,
                 struct err *err);
/* Inside a unit: every file of a tree gets a deletion (destroying an agent). */
int file_tree_remove(struct files *files, struct str tree, struct str author, struct str reason,
                     struct err *err);

/* Another number when any file may be another: whoever keeps what was made of files makes it anew
 * then. Every write of this process moves it; on a database that other daemons share, every second
 * does. */
uint64_t files_stamp(struct files *files);
/* Moves it: something that is kept beside files is another (the table of skills). */
void files_touch(struct files *files);

/* ---- the view ---- */

/* Something in the view that is not in the store, or the other way round, and why: a link, a file
 * that is too large, a folder that can't be written. Shown until it is put right. At most 100. */
struct file_problem {
    struct str tree, path; /* path empty: the whole tree; tree empty: the view */
    struct str text;
    int64_t since;
};
void files_problems(struct files *files, struct arena *arena, struct file_problem **ret_problems,
                    size_t *ret_count);

/* What would be among them, by looking at the folder alone: for whoever has no daemon. Blocks. */
void files_look(const char *view_dir, struct arena *arena, struct file_problem **ret_problems,
                size_t *ret_count);

/* Whoever keeps something beside files (the table of skills) hears of every version inside its unit
 * and may refuse it. after->deleted tells a removal; after has its content. */
struct file_watcher {
    int (*written)(struct file_watcher *watcher, struct str tree, const struct file *after,
                   struct err *err);
    /* Would it refuse this (path, content, author)? May be NULL. */
    int (*check)(struct file_watcher *watcher, struct str tree, const struct file *after,
                 struct err *err);
    struct file_watcher *next;
};
void files_watch(struct files *files, struct file_watcher *watcher);
/* -1 when one of them would: for whoever asks a person before writing. */
int file_check(struct files *files, struct str tree, const struct file *after, struct err *err);

#endif
