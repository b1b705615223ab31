/* The word being built: shared by the files that read one.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_POLICY_DANGER_WORD_INT_H
#define DORMOUSE_POLICY_DANGER_WORD_INT_H

#include "policy/danger_int.h"

struct danger_build {
    struct danger_scan *scan;
    struct buf text;
    unsigned facts;
    struct str script, sink; /* of <(...) and >(...) in it */
    bool quoted;             /* some part was: an empty field stays one */
    bool split;              /* unquoted expansions are split into fields */
};

/* A byte that is no mark of ours. */
void danger_add_char(struct danger_build *b, char c);
void danger_add_mark(struct danger_build *b, char mark);
/* An expansion's value: unquoted blanks in it end fields, its own globs count. */
void danger_add_value(struct danger_build *b, struct str value, bool quoted);
/* At a '$' or a '`': what it stands for is added, and the reader stands behind it. */
void danger_dollar(struct danger_build *b, struct danger_reader *r, bool quoted);
void danger_backticks(struct danger_build *b, struct danger_reader *r, bool quoted);
bool danger_is_name_char(int c);
/* The word with that text. */
struct danger_word danger_word_of(const struct danger_build *b, struct str text);
/* Appends the words that {a,b} in text stand for; depth 0. */
void danger_expand_braces(const struct danger_build *b, struct str text, int depth,
                          struct danger_word **words, size_t *n);

#endif
