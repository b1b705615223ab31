/* Mail as bytes, both ways: RFC 5322 messages with MIME bodies and encoded words.
 *
 * Reading takes whatever is there: bytes that break the rules become U+FFFD or are left out, never
 * an error, and every loop is bounded by the input. Writing is strict: what would need a rule to be
 * broken (a line break in a header, an address that is none) is refused.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_CONNECT_MIME_H
#define DORMOUSE_CONNECT_MIME_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/base64.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

/* ---- mime_code.c: quoted-printable ---- */

void quoted_printable_encode(struct str text, struct buf *out);
/* header: "_" is a space (RFC 2047's Q). */
void quoted_printable_decode(struct str text, bool header, struct buf *out);

/* ---- mime_word.c: text in headers, and other character sets ---- */

/* bytes in this character set as UTF-8; what is unknown is read as UTF-8, then as windows-1252. */
void mime_to_utf8(struct str bytes, struct str charset, struct buf *out);
/* An unfolded header's value with its encoded words, as one line of UTF-8. */
void mime_decode_words(struct str value, struct buf *out);
/* UTF-8 as encoded words where it needs them; column: how far the line is used. */
void mime_encode_words(struct str text, size_t column, struct buf *out);

/* ---- mime_address.c ---- */

/* "ada@example.org" or "Ada Lovelace <ada@example.org>": written as a header wants it. bad_request
 * when it is none. */
int mime_write_address(struct str text, size_t column, struct buf *out, struct err *err);
/* The address alone, without the name. */
int mime_find_address(struct str text, struct str *ret_name, struct str *ret_address,
                      struct err *err);

/* ---- mime_write.c ---- */

#define MIME_ADDRESSES_MAX 50

struct mime_mail {
    struct str from; /* may be empty */
    const struct str *to, *cc, *bcc;
    size_t n_to, n_cc, n_bcc;
    struct str subject, body; /* UTF-8 */
    struct str in_reply_to, references;
};
/* The whole message with CRLF. bad_request names the field that can't be written. */
int mime_write(const struct mime_mail *mail, struct buf *out, struct err *err);

/* ---- mime_read.c ---- */

#define MIME_PARTS_MAX 200
#define MIME_DEPTH_MAX 10
#define MIME_TEXT_MAX  (256u << 10) /* bytes of text that are kept */

struct mime_attachment {
    struct str name, type;
    size_t bytes;
};
/* All texts are UTF-8 in arena. */
struct mime_message {
    struct str from, to, cc, subject, date, message_id, references, reply_to;
    struct str text;
    bool from_html; /* there was no plain text */
    bool cut;       /* more text, parts or attachments than are kept */
    const struct mime_attachment *attachments;
    size_t n_attachments;
};
void mime_read(struct str bytes, struct arena *arena, struct mime_message *ret_message);
/* HTML as plain text: no scripts, no styles, links with their target. */
void mime_html_text(struct str html, struct buf *out);

#endif
