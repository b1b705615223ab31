/* Unified diffs: parsed, and applied whole or not at all.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_BASE_PATCH_H
#define DORMOUSE_BASE_PATCH_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

#define PATCH_BYTES_MAX (16u << 20)
#define PATCH_FILES_MAX 10000
#define PATCH_TRIES_MAX 20000000 /* lines compared while a hunk's place is looked for */

struct patch_line {
    char sign;       /* ' ', '-' or '+' */
    struct str text; /* with its end, unless "\ No newline" follows */
};

struct patch_hunk {
    size_t old_start, old_count, new_start, new_count; /* as written, from 1 */
    size_t line;                                       /* of the patch, where its header stands */
    const struct patch_line *lines;
    size_t line_count;
};

struct patch_file {
    struct str old_name, new_name; /* as written, without time stamps; STR_NONE for /dev/null */
    bool creates, deletes;         /* the one or the other name is /dev/null */
    const struct patch_hunk *hunks;
    size_t hunk_count;
    struct patch_file *next;
};

struct patch {
    struct patch_file *files;
    size_t file_count;
    struct arena arena;
};

#define PATCH_INIT ((struct patch){ .files = NULL })

/* The text must outlive the patch. Text around the files' parts (mail, `diff --git` and index
 * lines) is passed over. ERR_BAD_REQUEST names the line and what was expected; a patch without any
 * file, renames, copies and binary parts are refused. */
int patch_parse(struct str text, struct patch *ret_patch, struct err *err);
void patch_release(struct patch *patch);
#define AUTO_PATCH __attribute__((cleanup(patch_release))) struct patch

/* The file's name without git's a/ and b/, the new one unless the file is deleted. */
struct str patch_target(const struct patch_file *file);

/* Why a hunk did not fit. */
struct patch_reject {
    size_t hunk;         /* from 1 */
    size_t line;         /* of the old text, from 1 */
    struct str expected; /* by the patch; empty when it expected the end */
    struct str found;    /* empty at the end of the text */
};

/* Appends the patched text. Each hunk's context and deleted lines must be there exactly, at their
 * place or, when lines were added or removed before, at the nearest place that fits. When one does
 * not fit, ERR_CONFLICT tells which, where, what was expected and found (and ret_reject, when it is
 * not NULL), and out is as before. */
int patch_apply(const struct patch_file *file, struct str old_text, struct buf *out,
                struct patch_reject *ret_reject, struct err *err);

#endif
