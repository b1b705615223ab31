/* Reading a message: its headers, the text that a person would read, and what is attached.
 *
 * Of alternatives the plain text is taken; HTML is turned into text when there is nothing else.
 * Everything else is an attachment, of which only name, type and size are told.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/utf8.h"
#include "connect/mime_int.h"

#define HEADER_MAX      8192
#define HEADERS_MAX     500
#define ATTACHMENTS_MAX 100
#define BOUNDARY_MAX    200

struct reader {
    struct arena *arena;
    struct mime_message *message;
    struct mime_attachment attachments[ATTACHMENTS_MAX];
    size_t n_attachments, parts;
    struct buf plain, html;
    bool cut;
};

/* The headers of a part that say how to read it. */
struct part {
    struct str type, disposition, encoding; /* raw values */
    struct str body;
};

/* ---- lines ---- */

static struct str take_line(struct str *rest)
{
    ptrdiff_t end = str_find_char(*rest, '\n');
    struct str line = str_take(*rest, end < 0 ? rest->n : (size_t)end);

    *rest = str_skip(*rest, end < 0 ? rest->n : (size_t)end + 1);
    if (line.n && line.p[line.n - 1] == '\r')
        line.n--;
    return line;
}

static bool goes_on(struct str rest)
{
    return rest.n && (rest.p[0] == ' ' || rest.p[0] == '\t');
}

/* The next header with its folded lines; false at the empty line, which is taken. */
static bool next_header(struct str *rest, struct str *ret_name, struct buf *value)
{
    struct str line;
    ptrdiff_t colon;

    buf_clear(value);
    if (!rest->n)
        return false;
    line = take_line(rest);
    if (!line.n)
        return false;
    colon = str_find_char(line, ':');
    *ret_name = str_trim(str_take(line, colon < 0 ? 0 : (size_t)colon));
    buf_add_str(value,
                utf8_truncate(str_trim(str_skip(line, colon < 0 ? line.n : (size_t)colon + 1)),
                              HEADER_MAX));
    while (goes_on(*rest)) {
        struct str more = str_trim(take_line(rest));

        if (value->n + more.n + 1 > HEADER_MAX)
            continue;
        buf_add_char(value, ' ');
        buf_add_str(value, more);
    }
    return true;
}

static struct str decoded(struct str raw, struct arena *arena)
{
    AUTO_BUF text = BUF_INIT(4 * HEADER_MAX);

    mime_decode_words(raw, &text);
    return arena_str(arena, str_trim(buf_str(&text)));
}

static void keep_header(struct mime_message *message, struct str name, struct str raw,
                        struct arena *arena)
{
    const struct {
        const char *name;
        struct str *to;
    } wanted[] = {
        { "From", &message->from },
        { "To", &message->to },
        { "Cc", &message->cc },
        { "Subject", &message->subject },
        { "Date", &message->date },
        { "Message-ID", &message->message_id },
        { "References", &message->references },
        { "Reply-To", &message->reply_to },
    };

    for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
        if (!wanted[i].to->p && str_eq_nocase(name, str_from(wanted[i].name)))
            *wanted[i].to = decoded(raw, arena);
}

static void read_head(struct reader *reader, struct str bytes, bool outer, struct part *ret_part)
{
    AUTO_BUF value = BUF_INIT(2 * HEADER_MAX);
    struct str name;

    *ret_part = (struct part){ .type = STR("text/plain") };
    for (size_t n = 0; n < HEADERS_MAX && next_header(&bytes, &name, &value); n++) {
        struct str raw = buf_str(&value);

        if (str_eq_nocase(name, STR("Content-Type")))
            ret_part->type = arena_str(reader->arena, raw);
        else if (str_eq_nocase(name, STR("Content-Disposition")))
            ret_part->disposition = arena_str(reader->arena, raw);
        else if (str_eq_nocase(name, STR("Content-Transfer-Encoding")))
            ret_part->encoding = arena_str(reader->arena, raw);
        else if (outer)
            keep_header(reader->message, name, raw, reader->arena);
    }
    ret_part->body = bytes;
}

/* ---- leaves ---- */

static struct str word_of(struct str header)
{
    ptrdiff_t end = str_find_char(header, ';');

    return str_trim(str_take(header, end < 0 ? header.n : (size_t)end));
}

static bool is_type(struct str type, const char *prefix)
{
    size_t n = strlen(prefix);

    return type.n >= n && str_eq_nocase(str_take(type, n), str_from(prefix));
}

static void decode_body(const struct part *part, struct buf *out)
{
    if (str_eq_nocase(word_of(part->encoding), STR("base64")))
        base64_decode(part->body, out);
    else if (str_eq_nocase(word_of(part->encoding), STR("quoted-printable")))
        quoted_printable_decode(part->body, false, out);
    else
        buf_add_str(out, part->body);
}

/* Without carriage returns. */
static void add_text(struct reader *reader, struct str text, struct buf *out)
{
    if (out->n && out->p[out->n - 1] != '\n')
        buf_add_char(out, '\n');
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] == '\r' && i + 1 < text.n && text.p[i + 1] == '\n')
            continue;
        if (out->n + 4 >= MIME_TEXT_MAX && ((unsigned char)text.p[i] & 0xC0) != 0x80) {
            reader->cut = true;
            return;
        }
        buf_add_char(out, text.p[i] ? text.p[i] : ' ');
    }
}

/* More than this never becomes text that is kept. */
#define ENCODED_MAX ((size_t)8 * MIME_TEXT_MAX)

static void read_text(struct reader *reader, const struct part *part)
{
    struct part some = *part;
    AUTO_BUF bytes = BUF_INIT(ENCODED_MAX);
    AUTO_BUF text = BUF_INIT(4 * ENCODED_MAX);
    bool html = is_type(word_of(part->type), "text/html");

    some.body = str_take(part->body, ENCODED_MAX);
    reader->cut |= some.body.n < part->body.n;
    decode_body(&some, &bytes);
    mime_to_utf8(buf_str(&bytes), mime_param(part->type, "charset", reader->arena), &text);
    add_text(reader, buf_str(&text), html ? &reader->html : &reader->plain);
}

static void add_attachment(struct reader *reader, const struct part *part, struct str name)
{
    AUTO_BUF bytes = BUF_INIT(part->body.n + 1);

    if (reader->n_attachments == ATTACHMENTS_MAX) {
        reader->cut = true;
        return;
    }
    decode_body(part, &bytes);
    reader->attachments[reader->n_attachments++] = (struct mime_attachment){
        .name = name.n ? name : STR("(without a name)"),
        .type = decoded(word_of(part->type), reader->arena),
        .bytes = bytes.n,
    };
}

static void read_leaf(struct reader *reader, const struct part *part)
{
    struct str type = word_of(part->type);
    struct str name = mime_param(part->disposition, "filename", reader->arena);

    if (!name.n)
        name = mime_param(part->type, "name", reader->arena);
    if (is_type(word_of(part->disposition), "attachment") || name.n ||
        !(is_type(type, "text/plain") || is_type(type, "text/html")))
        add_attachment(reader, part, name);
    else
        read_text(reader, part);
}

/* ---- parts ---- */

static void read_part(struct reader *reader, struct str bytes, unsigned depth);

static bool is_boundary(struct str line, struct str boundary, bool *ret_last)
{
    struct str rest;

    if (line.n < boundary.n + 2 || !str_starts(line, STR("--")) ||
        !str_starts(str_skip(line, 2), boundary))
        return false;
    rest = str_skip(line, boundary.n + 2);
    *ret_last = str_starts(rest, STR("--"));
    return *ret_last || !str_trim(rest).n;
}

/* The line break before a boundary belongs to the boundary. */
static struct str without_break(struct str part)
{
    if (part.n && part.p[part.n - 1] == '\n')
        part.n--;
    if (part.n && part.p[part.n - 1] == '\r')
        part.n--;
    return part;
}

static void read_parts(struct reader *reader, struct str body, struct str boundary, unsigned depth)
{
    const char *begin = NULL;
    bool last = false;

    while (body.n && !last) {
        const char *at = body.p;
        struct str line = take_line(&body);

        if (!is_boundary(line, boundary, &last))
            continue;
        if (begin)
            read_part(reader, without_break(str_of(begin, (size_t)(at - begin))), depth);
        begin = body.p;
    }
    if (begin && !last && body.p >= begin) /* it breaks off: what there is */
        read_part(reader, str_of(begin, (size_t)(body.p + body.n - begin)), depth);
}

static void read_part(struct reader *reader, struct str bytes, unsigned depth)
{
    struct part part;
    struct str boundary;

    if (++reader->parts > MIME_PARTS_MAX || depth > MIME_DEPTH_MAX) {
        reader->cut = true;
        return;
    }
    read_head(reader, bytes, depth == 0, &part);
    boundary = mime_param(part.type, "boundary", reader->arena);
    if (is_type(word_of(part.type), "multipart/") && boundary.n && boundary.n <= BOUNDARY_MAX)
        read_parts(reader, part.body, boundary, depth + 1);
    else
        read_leaf(reader, &part);
}

void mime_read(struct str bytes, struct arena *arena, struct mime_message *ret_message)
{
    struct reader *reader = ARENA_NEW(arena, struct reader);
    AUTO_BUF text = BUF_INIT(MIME_TEXT_MAX);

    *ret_message = (struct mime_message){ .text = STR_NONE };
    *reader = (struct reader){ .arena = arena,
                               .message = ret_message,
                               .plain = BUF_INIT(MIME_TEXT_MAX),
                               .html = BUF_INIT(MIME_TEXT_MAX) };
    read_part(reader, bytes, 0);
    if (!str_trim(buf_str(&reader->plain)).n && reader->html.n) {
        mime_html_text(buf_str(&reader->html), &text);
        ret_message->from_html = true;
    } else {
        buf_add_str(&text, buf_str(&reader->plain));
    }
    ret_message->text = arena_str(arena, str_trim(buf_str(&text)));
    ret_message->attachments = reader->attachments;
    ret_message->n_attachments = reader->n_attachments;
    ret_message->cut = reader->cut || text.full;
    buf_release(&reader->plain);
    buf_release(&reader->html);
}
