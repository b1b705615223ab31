/* Server-sent events, parsed line by line.
 *
 * CR and LF can't be part of a longer UTF-8 sequence, so the stream is cut into lines first and
 * each line is decoded by itself: the result is that of decoding the whole stream. A line that
 * lies whole inside a chunk and is valid is never copied before it reaches the event's data.
 *
 * SPDX-License-Identifier: MIT
 */
#include "loop/sse.h"

#include <string.h>

#define REPLACEMENT "\xEF\xBF\xBD"
#define BOM         "\xEF\xBB\xBF"

void sse_init(struct sse_parser *sse, size_t max_bytes,
              int (*on_event)(const struct sse_event *event, void *arg), void *arg)
{
    *sse = (struct sse_parser){
        .on_event = on_event,
        .arg = arg,
        .max = max_bytes,
        .line = BUF_INIT(max_bytes),
        .text = BUF_INIT(max_bytes * 3), /* each bad byte becomes three */
        .data = BUF_INIT(max_bytes + 1), /* the last LF is not part of the event */
        .type = BUF_INIT(max_bytes * 3),
        .id = BUF_INIT(max_bytes * 3),
        .last_id = BUF_INIT(max_bytes * 3),
        .retry_ms = -1,
    };
}

void sse_release(struct sse_parser *sse)
{
    buf_release(&sse->line);
    buf_release(&sse->text);
    buf_release(&sse->data);
    buf_release(&sse->type);
    buf_release(&sse->id);
    buf_release(&sse->last_id);
}

struct str sse_last_id(const struct sse_parser *sse)
{
    return buf_str(&sse->last_id);
}

int64_t sse_retry_ms(const struct sse_parser *sse)
{
    return sse->retry_ms;
}

/* Bytes of the well-formed sequence at p, or, negated, of the longest start of one: what the
 * decoder of the Encoding standard replaces by a single U+FFFD. */
static int utf8_sequence(const unsigned char *p, size_t n)
{
    unsigned char low = 0x80, high = 0xBF;
    int length;

    if (p[0] < 0x80)
        return 1;
    if (p[0] < 0xC2 || p[0] > 0xF4)
        return -1;
    length = p[0] < 0xE0 ? 2 : p[0] < 0xF0 ? 3 : 4;
    if (p[0] == 0xE0)
        low = 0xA0; /* overlong */
    if (p[0] == 0xED)
        high = 0x9F; /* surrogates */
    if (p[0] == 0xF0)
        low = 0x90; /* overlong */
    if (p[0] == 0xF4)
        high = 0x8F; /* past U+10FFFF */
    for (int i = 1; i < length; i++) {
        if ((size_t)i >= n || p[i] < low || p[i] > high)
            return -i;
        low = 0x80;
        high = 0xBF;
    }
    return length;
}

/* Bytes at the front that are well-formed. */
static size_t utf8_valid_prefix(struct str s)
{
    const unsigned char *p = (const unsigned char *)s.p;
    size_t at = 0;

    while (at < s.n) {
        int length = utf8_sequence(p + at, s.n - at);

        if (length < 0)
            break;
        at += (size_t)length;
    }
    return at;
}

/* The line itself when it is valid, else a repaired copy in sse->text. */
static struct str decoded(struct sse_parser *sse, struct str line)
{
    size_t valid = utf8_valid_prefix(line);

    if (valid == line.n)
        return line;
    buf_clear(&sse->text);
    while (line.n > 0) {
        buf_add_str(&sse->text, str_take(line, valid));
        line = str_skip(line, valid);
        if (line.n == 0)
            break;
        buf_add_text(&sse->text, REPLACEMENT);
        line = str_skip(line, (size_t)-utf8_sequence((const unsigned char *)line.p, line.n));
        valid = utf8_valid_prefix(line);
    }
    return buf_str(&sse->text);
}

static int refuse(struct sse_parser *sse, struct err *err)
{
    sse->broken = true;
    return err_set(err, ERR_TOO_LARGE,
                   "event stream: a line or an event's data is longer than the allowed %zu bytes",
                   sse->max);
}

static int dispatch(struct sse_parser *sse)
{
    struct sse_event event;
    int result = 0;

    buf_clear(&sse->last_id);
    buf_add_str(&sse->last_id, buf_str(&sse->id));
    if (sse->data.n > 0) {
        event.type = sse->type.n ? buf_str(&sse->type) : STR("message");
        event.data = str_take(buf_str(&sse->data), sse->data.n - 1);
        event.id = buf_str(&sse->last_id);
        result = sse->on_event(&event, sse->arg);
    }
    buf_clear(&sse->data);
    buf_clear(&sse->type);
    return result;
}

static void set_retry(struct sse_parser *sse, struct str value)
{
    int64_t ms = 0;

    for (size_t i = 0; i < value.n; i++) {
        if (value.p[i] < '0' || value.p[i] > '9')
            return;
        if (ms < SSE_RETRY_MAX_MS)
            ms = ms * 10 + (value.p[i] - '0');
    }
    if (value.n > 0)
        sse->retry_ms = ms < SSE_RETRY_MAX_MS ? ms : SSE_RETRY_MAX_MS;
}

static void replace(struct buf *buf, struct str value)
{
    buf_clear(buf);
    buf_add_str(buf, value);
}

static int field(struct sse_parser *sse, struct str name, struct str value, struct err *err)
{
    if (str_is(name, "data")) {
        if (buf_add_str(&sse->data, value) < 0 || buf_add_char(&sse->data, '\n') < 0)
            return refuse(sse, err);
    } else if (str_is(name, "event")) {
        replace(&sse->type, value);
    } else if (str_is(name, "id")) {
        if (str_find_char(value, '\0') < 0)
            replace(&sse->id, value);
    } else if (str_is(name, "retry")) {
        set_retry(sse, value);
    }
    return 0;
}

static int read_line(struct sse_parser *sse, struct str line, struct err *err)
{
    struct str name, value = STR_NONE;
    ptrdiff_t colon;

    if (line.n > sse->max)
        return refuse(sse, err);
    if (!sse->started && str_starts(line, STR(BOM)))
        line = str_skip(line, sizeof(BOM) - 1);
    sse->started = true;
    if (line.n == 0)
        return dispatch(sse);
    line = decoded(sse, line);
    colon = str_find_char(line, ':');
    if (colon == 0)
        return 0; /* a comment */
    name = colon < 0 ? line : str_take(line, (size_t)colon);
    if (colon > 0)
        value = str_skip(line, (size_t)colon + 1);
    if (value.n > 0 && value.p[0] == ' ')
        value = str_skip(value, 1);
    return field(sse, name, value, err);
}

/* Offset of the first CR or LF, or s.n. */
static size_t line_end(struct str s)
{
    size_t n = 0;

    while (n < s.n && s.p[n] != '\n' && s.p[n] != '\r')
        n++;
    return n;
}

/* A line's last part has come: it is the line, or follows what earlier chunks brought of it. */
static int end_line(struct sse_parser *sse, struct str part, struct err *err)
{
    int result;

    if (sse->line.n == 0)
        return read_line(sse, part, err);
    if (buf_add_str(&sse->line, part) < 0)
        return refuse(sse, err);
    result = read_line(sse, buf_str(&sse->line), err);
    buf_clear(&sse->line);
    return result;
}

int sse_feed(struct sse_parser *sse, struct str chunk, struct err *err)
{
    int result;

    if (sse->broken)
        return refuse(sse, err);
    while (chunk.n > 0) {
        size_t n;

        if (sse->skip_lf && chunk.p[0] == '\n')
            chunk = str_skip(chunk, 1);
        sse->skip_lf = false;
        if (chunk.n == 0)
            break;
        n = line_end(chunk);
        if (n == chunk.n)
            return buf_add_str(&sse->line, chunk) < 0 ? refuse(sse, err) : 0;
        sse->skip_lf = chunk.p[n] == '\r';
        result = end_line(sse, str_take(chunk, n), err);
        if (result != 0)
            return result;
        chunk = str_skip(chunk, n + 1);
    }
    return 0;
}
