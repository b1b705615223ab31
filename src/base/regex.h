/* Regular expressions as ECMA-262 writes them, matched by PCRE2 with bounded work.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_BASE_REGEX_H
#define DORMOUSE_BASE_REGEX_H

#include "base/alloc.h"
#include "base/err.h"
#include "base/str.h"

#define REGEX_PATTERN_MAX 8192

struct regex;

/* The pattern has ECMA-262's Unicode-mode syntax; as on the web, a lone '{', '}' or ']' and an
 * escaped punctuation character stand for themselves. \d and \w are ASCII, \s and '.' as ECMA-262
 * defines them, '$' is the very end. ERR_BAD_REQUEST with the position when it is malformed or
 * (look-behind of variable length, a count above 65535) beyond what PCRE2 can do. Unlike
 * ECMA-262's, a group inside a repetition keeps what it captured in an earlier round. May be shared
 * between threads. */
int regex_compile(struct str pattern, struct regex **ret_regex, struct err *err);
void regex_free(struct regex *regex);
AUTO_DEFINE(regex)

/* 1 when it matches somewhere in text, 0 when not, -1 when it took too much work
 * (ERR_TIMEOUT) or text is not UTF-8 (ERR_BAD_REQUEST). */
int regex_match(const struct regex *regex, struct str text, struct err *err);

#endif
