/* Ignore rules: .gitignore, .ignore and .git/info/exclude.
 *
 * Each file's rules hold for its directory and all below. Of one file the last rule that matches
 * decides; of several the nearest; .ignore comes before .gitignore, and both before exclude. What
 * lies in an ignored directory is never asked about, so nothing in it can be taken back.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_SANDBOX_IGNORE_H
#define DORMOUSE_SANDBOX_IGNORE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/alloc.h"
#include "base/str.h"

#define IGNORE_FILE_MAX  (1024 * 1024) /* bytes of one file that are read */
#define IGNORE_RULES_MAX 20000         /* rules of one file that are kept */

enum ignore_verdict {
    IGNORE_NONE = 0, /* no rule matches */
    IGNORE_YES,
    IGNORE_NO, /* taken back by `!` */
};

struct ignore;

/* Rules of one file's text. Never NULL; empty text is no rules. Lines that are no rule are passed
 * over, as git does. May be read by several threads. */
struct ignore *ignore_parse(struct str text);
void ignore_free(struct ignore *ignore);
AUTO_DEFINE(ignore)
size_t ignore_count(const struct ignore *ignore);

/* path is relative to the directory of the rules. */
enum ignore_verdict ignore_match(const struct ignore *ignore, struct str path, bool is_dir);

#endif
