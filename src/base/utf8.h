/* UTF-8 as RFC 3629 has it: no overlong forms, no surrogates, nothing above U+10FFFF.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_BASE_UTF8_H
#define DORMOUSE_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"

#define UTF8_REPLACEMENT 0xFFFDu
#define UTF8_MAX_BYTES   4

bool utf8_valid(struct str s);
/* Bytes at the front of s that are valid; s.n when all are. */
size_t utf8_valid_prefix(struct str s);
/* Takes one code point off the front of *rest (which is not empty). On an invalid sequence -1,
 * and *rest moves past its maximal ill-formed part, so that a caller may go on. */
int utf8_decode(struct str *rest, uint32_t *ret_code);
/* Writes 1 to 4 bytes and returns how many; 0 for a surrogate or above U+10FFFF. No NUL. */
size_t utf8_encode(uint32_t code, char ret_bytes[UTF8_MAX_BYTES]);
int buf_add_utf8(struct buf *buf, uint32_t code);
/* Code points; an ill-formed part counts as one. */
size_t utf8_count(struct str s);
/* The longest front of s within max_bytes that cuts no code point. */
struct str utf8_truncate(struct str s, size_t max_bytes);
/* Copies s, each ill-formed part replaced by U+FFFD (as the Unicode standard, 3.9, advises).
 * -1 when buf is full. */
int utf8_sanitise(struct str s, struct buf *buf);

/* What a reader of the text does not see, or is misled by. */
enum utf8_oddity {
    UTF8_PLAIN = 0,
    UTF8_INVALID,   /* ill-formed bytes, and noncharacters such as U+FFFE */
    UTF8_CONTROL,   /* C0 (tab, line feed, carriage return too), DEL, C1, U+2028, U+2029 */
    UTF8_BIDI,      /* marks, embeddings, overrides and isolates that turn text around */
    UTF8_HIDDEN,    /* zero width, fillers, variation selectors, tags, other ignorables */
    UTF8_ODD_SPACE, /* spaces other than U+0020 */
    UTF8_PRIVATE,   /* private use: looks like anything */
};

enum utf8_oddity utf8_oddity_of(uint32_t code);
/* "hidden character", for messages. */
const char *utf8_oddity_name(enum utf8_oddity oddity);
/* The first odd place in s whose bit (1u << oddity) is in `which`: its oddity, with the byte
 * offset and code point; UTF8_PLAIN when there is none. ret_at and ret_code may be NULL. */
enum utf8_oddity utf8_find_odd(struct str s, unsigned which, size_t *ret_at, uint32_t *ret_code);
/* Appends s as one line for a person: control characters and what turns text around become blanks,
 * what is no UTF-8 becomes U+FFFD. For words from elsewhere that stand in words of ours. -1 when
 * buf is full. */
int utf8_one_line(struct str s, struct buf *buf);

#endif
