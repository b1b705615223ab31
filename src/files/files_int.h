/* Between the files of this room.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_FILES_FILES_INT_H
#define DORMOUSE_FILES_FILES_INT_H

#include "base/limits.h"
#include "files/files.h"

#define FILE_REASON_MAX (4 * KIB)
#define FILE_WORD_MAX   256 /* author, type and the like */

struct files {
    struct loop *loop;
    struct domain *domain;
    struct change *change;
    struct file_watcher *watchers, **watchers_end;
    struct view *view; /* NULL: none */
    int (*admits)(struct str tree, struct str path, struct err *err);
    uint32_t writes; /* that were tried, kept or not */
};

/* agents/ID or users/ID. */
int file_tree_check(struct str tree, struct err *err);

/* By the ending; content decides where that says nothing. */
struct str file_type_of(struct str path, struct str content);

/* ---- rows (files_store.c) ---- */

/* 1 the file, deleted or not, at its newest version and without content; 0 never seen. */
int store_head(struct files *files, struct str tree, struct str folded, struct arena *arena,
               struct file *ret_file, struct err *err);
/* 1 with the content of that version, 0 none. */
int store_version(struct files *files, int64_t file_n, int64_t version, struct arena *arena,
                  struct file *ret_file, struct err *err);
/* Live files of a tree whose folded path lies in [from, to), without content; any order. */
int store_list(struct files *files, struct str tree, struct str from, struct str to,
               struct arena *arena, struct file **ret_files, size_t *ret_count, struct err *err);
/* The same of those that were deleted at since or later. */
int store_list_deleted(struct files *files, struct str tree, struct str from, struct str to,
                       int64_t since, struct arena *arena, struct file **ret_files,
                       size_t *ret_count, struct err *err);
int store_history(struct files *files, int64_t file_n, int64_t before, int limit,
                  struct arena *arena, struct file **ret_versions, size_t *ret_count,
                  struct err *err);
int store_size(struct files *files, struct str tree, int64_t *ret_bytes, size_t *ret_count,
               struct err *err);
/* 1 there is a live file of which a part of folded is the path, or one below folded; *ret_path is
 * it. */
int store_in_the_way(struct files *files, struct str tree, struct str folded, struct arena *arena,
                     struct str *ret_path, struct err *err);

/* The tree that follows `after` in order of name. 0: there is none. */
int store_next_tree(struct files *files, struct str after, struct arena *arena,
                    struct str *ret_tree, struct err *err);
struct store_row {
    struct str path, folded, hash; /* no hash: deleted */
    int64_t version;
};
/* At most `room` files of a tree, deleted ones too, that follow `after` in order of folded. */
int store_page(struct files *files, struct str tree, struct str after, struct arena *arena,
               struct store_row *ret_rows, size_t room, size_t *ret_count, struct err *err);
/* 1 some version of the file has this content. */
int store_has_hash(struct files *files, int64_t file_n, const char *hash, struct err *err);

/* Where the text of this hash came from, by all versions that there are of it. */
int store_taint_of(struct files *files, const char *hash, struct arena *arena,
                   struct str *ret_taint, struct err *err);

struct store_event {
    int64_t file_n, version;
};
/* 1 the operation was done before. */
int store_operation(struct files *files, struct str operation_id, struct store_event *ret_event,
                    struct err *err);

struct store_change {
    const struct file_write *write;
    struct str folded;
    const char *type; /* of the event */
    struct str content_type;
    const char *hash; /* NULL: removed */
    struct str taint; /* of the content */
    int64_t now;
};
/* The row of the file: made (before->n 0) or moved on from before->version; version_conflict when
 * another daemon was quicker. Sets n, version and created_at of *after. */
int store_put_head(struct files *files, const struct store_change *change,
                   const struct file *before, struct file *after, struct err *err);
int store_add_version(struct files *files, const struct store_change *change,
                      const struct file *after, struct err *err);
int store_add_event(struct files *files, const struct store_change *change,
                    const struct file *before, const struct file *after, struct err *err);

#endif
