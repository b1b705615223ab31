/* Between the files of redaction. A matcher looks at one place of the text and answers with a
 * hit: how many bytes it takes, and which of them give way to the mark.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_BASE_REDACT_INT_H
#define DORMOUSE_BASE_REDACT_INT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/redact.h"
#include "base/str.h"

/* text[0 .. keep) stays, text[keep .. keep + cut) becomes the mark; cut 0: no hit. */
struct redact_hit {
    size_t keep;
    size_t cut;
};

#define REDACT_MISS ((struct redact_hit){ 0, 0 })

static inline bool redact_is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
}

static inline bool redact_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static inline bool redact_is_alnum(char c)
{
    return redact_is_word(c) && c != '_' && c != '-';
}

enum redact_alphabet {
    REDACT_ANY_WORD, /* letters, digits, _ and - */
    REDACT_WORD_AND_DOT,
    REDACT_ALNUM,
    REDACT_UPPER, /* capitals and digits */
    REDACT_HEX,
    REDACT_OPAQUE, /* ANY_WORD that does not read like words joined by hyphens */
};

/* How the keys of a service begin. */
struct redact_prefix {
    const char *text;
    enum redact_alphabet alphabet;
    unsigned min, max; /* bytes after the prefix; max 0: no bound */
};
const struct redact_prefix *redact_prefixes(size_t *ret_n);

/* No token is a single word shorter than this. */
#define REDACT_TOKEN_MIN 15
/* rest begins a word (the byte before it is not of one). */
struct redact_hit redact_token(struct str rest);
/* rest begins with "-----BEGIN ". */
struct redact_hit redact_pem(struct str rest);
/* rest begins with "://", the slashes escaped or not. */
struct redact_hit redact_url(struct str rest);
/* `word` begins text at `at`; line_start: only blanks, quotes or a list dash stand before it on its
 * line. */
struct redact_hit redact_pair(struct str text, size_t at, struct str word, bool line_start);
/* rest begins with "%3A%2F%2F", in either case: a URL inside another. */
struct redact_hit redact_encoded_url(struct str rest);
/* `word` begins text at `at`; tool: the tool that its line calls, if any. */
struct redact_hit redact_place(struct str text, size_t at, struct str word, struct str tool);
/* Whether a flag of this tool holds a secret. */
bool redact_is_tool(struct str word);
/* Whether what stands under "value" beside "name": `name` is a secret; key is that "name", or "key"
 * and the like. */
bool redact_names_value(struct str key, struct str name, struct str value_key);

/* Whether it says nothing to a person or a shell. */
bool redact_is_opaque(struct str piece);

/* A longer value is not looked at for being harmless. */
#define REDACT_PLAIN_MAX 256
/* What begins with a mark was redacted before; what follows was kept then and is kept now. */
bool redact_is_done(struct str value);
/* Rules that go by a value's length leave one alone that a mark has made longer. */
bool redact_has_mark(struct str value);
/* ${NAME}, $NAME, $(command), {{ name }}, %s, {} and **** stand for a value, which is not empty. */
bool redact_is_placeholder(struct str value);
/* One or two digits: NAME = 1 in code. */
bool redact_is_small_number(struct str value);
/* Whether this value of the name `word` is a secret. */
bool redact_is_secret_value(struct str word, struct str value, bool quoted);
/* user:password in base64, and what may follow the word Bearer. */
bool redact_is_basic(struct str value);
bool redact_is_bearer(struct str value);

/* Copies text with registered secrets replaced; marks already there are kept whole. */
void redact_registered(struct str text, struct buf *out);
bool redact_has_registered(void);

#endif
