/* What is searched for, and which lines of a text hold it.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_SANDBOX_SEARCH_PATTERN_H
#define DORMOUSE_SANDBOX_SEARCH_PATTERN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/alloc.h"
#include "base/err.h"
#include "base/str.h"

#define PATTERN_BRANCHES   4    /* alternatives whose required texts are looked for */
#define PATTERN_MAX        1024 /* bytes */
#define PATTERN_COSTLY_MAX 20   /* lines on which a pattern may give up before the search does */

struct pattern;

/* regex false: a fixed text. Patterns are for single lines. With ignore_case a fixed text ignores
 * the case of ASCII letters, or of all when it holds others. ERR_BAD_REQUEST with the place when it
 * is malformed. May be shared between threads, each with its own struct pattern_run. */
int pattern_compile(struct str text, bool regex, bool ignore_case, struct pattern **ret_pattern,
                    struct err *err);
void pattern_free(struct pattern *pattern);
AUTO_DEFINE(pattern)

/* What one thread needs to match. */
struct pattern_run;
struct pattern_run *pattern_run_new(const struct pattern *pattern);
void pattern_run_free(struct pattern_run *run);
AUTO_DEFINE(pattern_run)
/* Before another text is searched, or the same place in memory with other bytes. */
void pattern_begin(struct pattern_run *run);
/* Lines on which the expression took too much work, and which count as not matching. */
size_t pattern_costly(const struct pattern_run *run);

/* A line that matches. */
struct pattern_hit {
    const char *line, *line_end; /* line_end is at its newline or at the end of the text */
    const char *match;
};
/* The first line of p .. end that matches, where p is the beginning of a line. 1: found; 0: none;
 * -1: stop() said so, which is asked now and then and may be NULL. */
int pattern_find(struct pattern_run *run, const char *p, const char *end, bool (*stop)(void *arg),
                 void *arg, struct pattern_hit *ret_hit);

/* The longest text that every match of the expression holds, 0 when none is known. For tests and
 * the compiler. out has PATTERN_MAX bytes. */
size_t pattern_required(struct str regex, bool ignore_case, char *out);
/* Its alternatives at the top level, one when there are none; 0 when there are more than max or it
 * can't be told. */
size_t pattern_branches(struct str regex, struct str *ret_branches, size_t max);

#endif
