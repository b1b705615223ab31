/* Writing a message: headers that hold no line breaks but our own, and a text body in the encoding
 * that fits it.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "base/utf8.h"
#include "connect/mime.h"

#define SUBJECT_MAX 998
#define LINE_PLAIN  900
#define FOLD        74

static int check_line(const char *field, struct str text, struct err *err)
{
    if (!utf8_valid(text))
        return err_set(err, ERR_BAD_REQUEST, "%s is not valid UTF-8", field);
    for (size_t i = 0; i < text.n; i++)
        if ((unsigned char)text.p[i] < 0x20 || text.p[i] == 0x7f)
            return err_set(err, ERR_BAD_REQUEST,
                           "%s must be one line without control characters (byte %zu)", field,
                           i + 1);
    return 0;
}

static int add_addresses(const char *field, const struct str *list, size_t n, struct buf *out,
                         struct err *err)
{
    size_t column = strlen(field) + 2;

    if (!n)
        return 0;
    if (n > MIME_ADDRESSES_MAX)
        return err_set(err, ERR_TOO_LARGE, "%s has %zu addresses; at most %d are taken", field, n,
                       MIME_ADDRESSES_MAX);
    buf_printf(out, "%s: ", field);
    for (size_t i = 0; i < n; i++) {
        if (i > 0) {
            buf_add_text(out, ",\r\n ");
            column = 1;
        }
        if (mime_write_address(list[i], column, out, err) < 0)
            return err_wrap(err, "%s", field);
    }
    buf_add_text(out, "\r\n");
    return 0;
}

/* Message ids in angle brackets, as they came from a message: ASCII without control characters. */
static int add_ids(const char *field, struct str ids, struct buf *out, struct err *err)
{
    struct str id;
    bool first = true;

    for (size_t i = 0; i < ids.n; i++)
        if ((unsigned char)ids.p[i] < 0x20 || (unsigned char)ids.p[i] >= 0x7f)
            return err_set(err, ERR_BAD_REQUEST, "%s must be message ids in ASCII", field);
    while (str_split(&ids, ' ', &id)) {
        if (!id.n || id.n > LINE_PLAIN)
            continue;
        buf_printf(out, "%s%s %.*s\r\n", first ? field : "", first ? ":" : "", STR_ARG(id));
        first = false;
    }
    return 0;
}

/* ---- the body ---- */

static const char *encoding_of(struct str body)
{
    size_t other = 0, line = 0;
    bool plain = true;

    for (size_t i = 0; i < body.n; i++) {
        unsigned char c = (unsigned char)body.p[i];

        line = c == '\n' ? 0 : line + 1;
        if (c >= 0x7f || (c < 0x20 && c != '\n' && c != '\t' && c != '\r'))
            other++;
        if (line > FOLD || c == '\r')
            plain = false;
    }
    if (!other && plain)
        return "7bit";
    return other * 4 > body.n ? "base64" : "quoted-printable";
}

static void add_crlf(struct str body, struct buf *out)
{
    for (size_t i = 0; i < body.n; i++) {
        if (body.p[i] == '\n' && (i == 0 || body.p[i - 1] != '\r'))
            buf_add_char(out, '\r');
        buf_add_char(out, body.p[i]);
    }
}

static void add_base64(struct str body, struct buf *out)
{
    AUTO_BUF text = BUF_INIT(out->max);
    AUTO_BUF coded = BUF_INIT(out->max);
    struct str rest;

    add_crlf(body, &text);
    base64_encode(buf_str(&text), &coded);
    out->full |= text.full | coded.full;
    for (rest = buf_str(&coded); rest.n; rest = str_skip(rest, 76)) {
        buf_add_str(out, str_take(rest, 76));
        buf_add_text(out, "\r\n");
    }
}

static void add_body(struct str body, struct buf *out)
{
    const char *encoding = encoding_of(body);

    buf_printf(out,
               "MIME-Version: 1.0\r\nContent-Type: text/plain; charset=utf-8\r\n"
               "Content-Transfer-Encoding: %s\r\n\r\n",
               encoding);
    if (strcmp(encoding, "7bit") == 0)
        add_crlf(body, out);
    else if (strcmp(encoding, "base64") == 0)
        add_base64(body, out);
    else
        quoted_printable_encode(body, out);
}

int mime_write(const struct mime_mail *mail, struct buf *out, struct err *err)
{
    if (!mail->n_to && !mail->n_cc && !mail->n_bcc)
        return err_set(err, ERR_BAD_REQUEST, "to: at least one address is needed");
    if (mail->subject.n > SUBJECT_MAX)
        return err_set(err, ERR_TOO_LARGE, "subject has %zu bytes; at most %d are taken",
                       mail->subject.n, SUBJECT_MAX);
    if (!utf8_valid(mail->body) || (mail->body.n && memchr(mail->body.p, '\0', mail->body.n)))
        return err_set(err, ERR_BAD_REQUEST, "body must be valid UTF-8 without NUL");
    if (check_line("subject", mail->subject, err) < 0 ||
        (mail->from.n && add_addresses("From", &mail->from, 1, out, err) < 0) ||
        add_addresses("To", mail->to, mail->n_to, out, err) < 0 ||
        add_addresses("Cc", mail->cc, mail->n_cc, out, err) < 0 ||
        add_addresses("Bcc", mail->bcc, mail->n_bcc, out, err) < 0)
        return -1;
    buf_add_text(out, "Subject: ");
    mime_encode_words(mail->subject, 9, out);
    buf_add_text(out, "\r\n");
    if (add_ids("In-Reply-To", mail->in_reply_to, out, err) < 0 ||
        add_ids("References", mail->references, out, err) < 0)
        return -1;
    add_body(mail->body, out);
    if (out->full)
        return err_set(err, ERR_TOO_LARGE, "the message is longer than %zu bytes", out->max);
    return 0;
}
