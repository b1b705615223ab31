/* Whole files inside the hand: read with their hash, replaced atomically, and which of them were
 * read before.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_SANDBOX_OP_FILE_H
#define DORMOUSE_SANDBOX_OP_FILE_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/json_write.h"
#include "base/limits.h"
#include "sandbox/access.h"
#include "sandbox/op_int.h"

#define OP_FILE_MAX  (16 * MIB)  /* what is read, written or edited as a whole */
#define OP_SEEN_MAX  10000       /* files that are remembered as read; the oldest are forgotten */
#define OP_DIFF_FROM (512 * KIB) /* larger texts are not compared … */
#define OP_DIFF_MAX  (48 * KIB)  /* … and longer differences not told to the model */
#define OP_DIFF_SEEN (512 * KIB) /* a person is shown all of it */

/* Fails with ERR_CANCELLED or ERR_TIMEOUT when the request has to end. */
int op_check(const struct op_ctx *ctx, struct err *err);

/* The member path, which must be there. */
int op_path_argument(struct json_object *arguments, struct str *ret_path, struct err *err);

/* A file as it is now. */
struct op_file {
    bool exists;
    struct buf text;
    char sha256[SHA256_TEXT_SIZE]; /* "" when it does not exist */
    struct stat st;                /* at the time of reading */
};
#define OP_FILE_INIT ((struct op_file){ .text = BUF_INIT(OP_FILE_MAX) })
void op_file_release(struct op_file *file);
#define AUTO_OP_FILE __attribute__((cleanup(op_file_release))) struct op_file

/* ERR_TOO_LARGE past OP_FILE_MAX, ERR_BAD_REQUEST when it is no regular file. A place without a
 * file gives one that does not exist. */
int op_file_load(struct op_ctx *ctx, const struct access_place *place, struct op_file *ret_file,
                 struct err *err);

/* Puts text where `old` was loaded from: a temporary file beside it is written, synced and put in
 * its place, with the old one's mode and owner; directories are made. ERR_CONFLICT, with nothing
 * changed, when what stands there is no longer `old`. ret_owner_kept may be NULL. */
int op_file_replace(struct op_ctx *ctx, struct access_place *place, const struct op_file *old,
                    struct str text, bool *ret_owner_kept, struct err *err);

/* ---- what was read ---- */

/* Copies the hash that the file had when it was last read or written whole; false when it was not.
 * These three may be called from several threads. */
bool op_seen_find(struct op_state *state, const char *path, char ret_sha256[SHA256_TEXT_SIZE]);
void op_seen_put(struct op_state *state, const char *path, const char *sha256);
/* Forgets all; for the end of the state. */
void op_seen_clear(struct op_state *state);

/* The members without_links (true: no link may be on the way) and expected_path against where the
 * path leads, and expected_version against what is there: absent passes, a version of null means
 * that nothing may be there. ERR_VERSION_CONFLICT otherwise. */
int op_check_version(struct json_object *arguments, const struct access_place *place,
                     const struct op_file *file, struct err *err);

/* Writes the member "diff" when there is one of at most max bytes, or "diff_omitted" with the
 * reason. */
void op_write_diff(struct json_writer *out, const char *path, const struct op_file *old,
                   struct str text, size_t max);

#endif
