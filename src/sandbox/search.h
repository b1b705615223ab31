/* Searching a tree of files: which match, and their lines.
 *
 * The walk and the matching are shared by as many threads as there are processors. A first pass
 * counts the matching lines of every file; what is shown is then chosen by rank and read again, so
 * that memory does not depend on how much matches and the result not on which thread was first.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_SANDBOX_SEARCH_H
#define DORMOUSE_SANDBOX_SEARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"
#include "sandbox/access.h"
#include "sandbox/op_int.h"
#include "sandbox/search_pattern.h"

#define SEARCH_THREADS_MAX 8
#define SEARCH_FILES_MAX   5000000 /* looked at; then the search ends and says so */
#define SEARCH_FOUND_MAX   200000  /* files that match and are kept; more are counted only */
#define SEARCH_GLOBS_MAX   64      /* alternatives of one glob: {a,b} */

/* Which files, by their path below the root. */
struct search_glob {
    struct str alternatives[SEARCH_GLOBS_MAX];
    unsigned n;   /* 0: all files */
    bool negated; /* all but those */
};

/* text as `rg --glob` takes it: without a slash it is for the last name, else for the path from the
 * root; {a,b} are alternatives, ! in front negates, a slash at the end means all below. Texts live
 * in the arena. ERR_BAD_REQUEST when it is malformed. */
int search_glob_parse(struct str text, struct arena *arena, struct search_glob *ret_glob,
                      struct err *err);
bool search_glob_match(const struct search_glob *glob, struct str path);

struct search_request {
    const struct pattern *pattern; /* NULL: list files */
    struct search_glob glob;
    bool files_only; /* whether a file matches is enough */
    bool hidden, no_ignore;
    unsigned threads; /* 0: by the machine */
};

struct search_found {
    char *path;     /* below the root; "" when the root is a file */
    uint64_t count; /* matching lines; 1 when files_only */
    bool defines;   /* one of its matches looks like a definition */
};

struct search_result {
    struct search_found *found; /* in the order of their paths */
    size_t n, cap;
    uint64_t files;  /* that match, kept or not */
    uint64_t lines;  /* that match */
    uint64_t looked; /* files that were looked at */
    uint64_t binary; /* that matched, but are not text */
    uint64_t unreadable;
    uint64_t costly; /* lines on which the expression gave up */
    bool cut;        /* SEARCH_FILES_MAX was reached */
};
#define SEARCH_RESULT_INIT ((struct search_result){ .found = NULL })
void search_result_release(struct search_result *result);

/* root is a directory or a file. ERR_CANCELLED, ERR_TIMEOUT when the request has to end, or when
 * the expression gave up on more than PATTERN_COSTLY_MAX lines. */
int search_run(struct op_ctx *ctx, const struct access_place *root,
               const struct search_request *request, struct search_result *ret_result,
               struct err *err);

/* ---- the second pass ---- */

struct search_line {
    uint64_t number;    /* from 1 */
    struct str text;    /* shortened, in the arena, any bytes */
    struct str *before; /* lines around it, nearest last and first */
    struct str *after;
    unsigned before_n, after_n;
    bool defines;
};
/* Up to max lines of one found file, in order; those that look like definitions are preferred. */
size_t search_lines(struct op_ctx *ctx, const struct access_place *root,
                    const struct pattern *pattern, const char *path, unsigned context, size_t max,
                    struct search_line *ret_lines);

/* Whether a line looks like it defines what it names. */
bool search_defines(struct str line);

#endif
