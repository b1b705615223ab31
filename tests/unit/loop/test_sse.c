/* The event stream parser: the standard's rules, any cut of the stream, hostile streams.
 *
 * SPDX-License-Identifier: MIT
 */
#include "loop/sse.h"

#include <stdio.h>

#include "base/alloc.h"
#include "base/limits.h"
#include "harness/test.h"

/* Events written as "type|id|data;" one after the other. */
struct seen {
    struct buf text;
    int stop_at; /* 0: never */
    int count;
};

static int note(const struct sse_event *event, void *arg)
{
    struct seen *seen = arg;

    buf_add_str(&seen->text, event->type);
    buf_add_char(&seen->text, '|');
    buf_add_str(&seen->text, event->id);
    buf_add_char(&seen->text, '|');
    buf_add_str(&seen->text, event->data);
    buf_add_char(&seen->text, ';');
    return ++seen->count == seen->stop_at ? 7 : 0;
}

/* Feeds stream cut at a and b; what was seen, the retry time, the last id and a failure as text. */
static void run_cut(struct str stream, size_t a, size_t b, size_t max, struct buf *out)
{
    struct seen seen = { .text = BUF_INIT(1 * MIB) };
    struct sse_parser sse;
    struct err err = ERR_INIT;
    struct str parts[3] = { str_take(stream, a), str_take(str_skip(stream, a), b - a),
                            str_skip(stream, b) };
    int result = 0;

    sse_init(&sse, max, note, &seen);
    for (size_t i = 0; i < 3 && result == 0; i++) {
        /* A block of its own, so that reading past a chunk is found. */
        char *block = alloc_copy(parts[i].p, parts[i].n);

        result = sse_feed(&sse, str_of(block, parts[i].n), &err);
        free(block);
    }
    buf_clear(out);
    buf_add_str(out, buf_str(&seen.text));
    buf_printf(out, " retry=%lld last=%.*s %s", (long long)sse_retry_ms(&sse),
               STR_ARG(sse_last_id(&sse)), result ? err_name(err.code) : "ok");
    sse_release(&sse);
    buf_release(&seen.text);
}

/* STR() is no constant for gcc. */
#define BYTES(literal)                                                                             \
    {                                                                                              \
        literal, sizeof(literal) - 1                                                               \
    }

static const struct stream {
    const char *what;
    struct str bytes;
    const char *expect;
} streams[] = {
    { "one event", BYTES("data: hi\n\n"), "message||hi; retry=-1 last= ok" },
    { "no blank line, no event", BYTES("data: hi\n"), " retry=-1 last= ok" },
    { "no line end, no event", BYTES("data: hi"), " retry=-1 last= ok" },
    { "several lines of data", BYTES("data: a\ndata:b\ndata\ndata: c\n\n"),
      "message||a\nb\n\nc; retry=-1 last= ok" },
    { "only one space is taken", BYTES("data:  two\n\n"), "message|| two; retry=-1 last= ok" },
    { "a tab is data", BYTES("data:\tx\n\n"), "message||\tx; retry=-1 last= ok" },
    { "a colon in the value", BYTES("data: a: b\n\n"), "message||a: b; retry=-1 last= ok" },
    { "empty data lines make an event only when there are two",
      BYTES("data\n\ndata\ndata\n\ndata:"), "message||;message||\n; retry=-1 last= ok" },
    { "event without data is dropped, its type does not stay", BYTES("event: x\n\ndata: y\n\n"),
      "message||y; retry=-1 last= ok" },
    { "type is reset after an event", BYTES("event: x\ndata: 1\n\ndata: 2\n\n"),
      "x||1;message||2; retry=-1 last= ok" },
    { "an empty type is message", BYTES("event: x\nevent:\ndata: 1\n\n"),
      "message||1; retry=-1 last= ok" },
    { "the id stays", BYTES("id: 1\ndata: a\n\ndata: b\n\nid\ndata: c\n\n"),
      "message|1|a;message|1|b;message||c; retry=-1 last= ok" },
    { "an id without data counts from the blank line", BYTES("id: 9\n\nid: 10\n"),
      " retry=-1 last=9 ok" },
    { "an id with NUL is ignored", BYTES("id: 1\nid: a\0b\ndata: x\n\n"),
      "message|1|x; retry=-1 last=1 ok" },
    { "retry takes digits only", BYTES("retry: 2500\nretry: 1s\nretry: -5\nretry: 1.5\nretry:\n"),
      " retry=2500 last= ok" },
    { "retry with a second space is no number", BYTES("retry:  1\n"), " retry=-1 last= ok" },
    { "a huge retry is a day", BYTES("retry: 99999999999999999999999999999999\n"),
      " retry=86400000 last= ok" },
    { "comments say nothing", BYTES(": ping\n:\ndata: a\n:between\n\n"),
      "message||a; retry=-1 last= ok" },
    { "unknown fields and other case are ignored", BYTES("Data: a\nfoo: b\ndata : c\n\n"),
      " retry=-1 last= ok" },
    { "leading blank before the name is no field", BYTES(" data: a\n\n"), " retry=-1 last= ok" },
    { "CR ends a line", BYTES("data: a\rdata: b\r\rdata: c\r\r"),
      "message||a\nb;message||c; retry=-1 last= ok" },
    { "CRLF ends a line", BYTES("data: a\r\ndata: b\r\n\r\ndata: c\r\n\r\n"),
      "message||a\nb;message||c; retry=-1 last= ok" },
    { "mixed line ends", BYTES("data: a\r\n\rdata: b\n\r\ndata: c\r\n\n"),
      "message||a;message||b;message||c; retry=-1 last= ok" },
    { "LF CR is two line ends", BYTES("data: a\n\rdata: b\n\r"),
      "message||a;message||b; retry=-1 last= ok" },
    { "byte order mark",
      BYTES("\xEF\xBB\xBF"
            "data: a\n\n"),
      "message||a; retry=-1 last= ok" },
    { "only one byte order mark",
      BYTES("\xEF\xBB\xBF\xEF\xBB\xBF"
            "data: a\n\ndata: b\n\n"),
      "message||b; retry=-1 last= ok" },
    { "a byte order mark later is text",
      BYTES("\n\xEF\xBB\xBF"
            "data: a\n\n"),
      " retry=-1 last= ok" },
    { "half a byte order mark is an unknown field",
      BYTES("\xEF\xBB"
            "data: a\n\n"),
      " retry=-1 last= ok" },
    { "byte order mark alone, then a blank line", BYTES("\xEF\xBB\xBF\n\ndata: a\n\n"),
      "message||a; retry=-1 last= ok" },
    { "valid UTF-8 passes", BYTES("data: gr\xC3\xBC\xC3\x9F \xE2\x82\xAC \xF0\x9F\x90\xAD\n\n"),
      "message||gr\xC3\xBC\xC3\x9F \xE2\x82\xAC \xF0\x9F\x90\xAD; retry=-1 last= ok" },
    { "each stray byte is replaced", BYTES("data: a\xFF\x80z\n\n"),
      "message||a\xEF\xBF\xBD\xEF\xBF\xBDz; retry=-1 last= ok" },
    { "a cut sequence is replaced once", BYTES("data: a\xF0\x9F\x90z\n\n"),
      "message||a\xEF\xBF\xBDz; retry=-1 last= ok" },
    { "a sequence cut by the line's end", BYTES("data: a\xE2\x82\n\n"),
      "message||a\xEF\xBF\xBD; retry=-1 last= ok" },
    { "overlong and surrogates are replaced byte by byte", BYTES("data: \xC0\xAF\xED\xA0\x80\n\n"),
      "message||\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD; retry=-1 last= ok" },
    { "past the last code point", BYTES("data: \xF4\x90\x80\x80|\xE0\x80\n\n"),
      "message||\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD|\xEF\xBF\xBD\xEF\xBF\xBD;"
      " retry=-1 last= ok" },
    { "a bad byte in the name is no field", BYTES("da\xFFta: a\n\n"), " retry=-1 last= ok" },
    { "NUL is data", BYTES("data: a\0b\n\n"), NULL },
    { "a provider's stream",
      BYTES("event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"i\":0}\n\n"
            ": keep-alive\n\ndata: [DONE]\n\n"),
      "content_block_delta||{\"type\":\"content_block_delta\",\"i\":0};message||[DONE];"
      " retry=-1 last= ok" },
};

TEST(sse_gives_the_events_that_the_standard_says)
{
    AUTO_BUF got = BUF_INIT(1 * MIB);

    for (size_t i = 0; i < ARRAY_LEN(streams); i++) {
        const struct stream *s = &streams[i];

        if (!s->expect)
            continue;
        run_cut(s->bytes, 0, 0, 4096, &got);
        if (!str_is(buf_str(&got), s->expect))
            FAIL("%s: got\n  \"%s\", expected\n  \"%s\"", s->what, buf_text(&got), s->expect);
    }
}

TEST(sse_keeps_NUL_in_data)
{
    AUTO_BUF got = BUF_INIT(1 * MIB);

    run_cut(STR("data: a\0b\n\n"), 0, 0, 64, &got);
    ASSERT(str_starts(buf_str(&got), STR("message||a\0b;")));
}

TEST(sse_gives_the_same_events_however_the_stream_is_cut)
{
    AUTO_BUF whole = BUF_INIT(1 * MIB);
    AUTO_BUF got = BUF_INIT(1 * MIB);

    for (size_t i = 0; i < ARRAY_LEN(streams); i++) {
        struct str bytes = streams[i].bytes;

        run_cut(bytes, 0, bytes.n, 4096, &whole);
        for (size_t a = 0; a <= bytes.n; a++)
            for (size_t b = a; b <= bytes.n; b++) {
                run_cut(bytes, a, b, 4096, &got);
                if (!str_eq(buf_str(&got), buf_str(&whole)))
                    FAIL("%s cut at %zu and %zu: got\n  \"%s\", whole\n  \"%s\"", streams[i].what,
                         a, b, buf_text(&got), buf_text(&whole));
            }
    }
}

TEST(sse_gives_the_same_events_byte_by_byte)
{
    AUTO_BUF whole = BUF_INIT(1 * MIB);

    for (size_t i = 0; i < ARRAY_LEN(streams); i++) {
        struct seen seen = { .text = BUF_INIT(1 * MIB) };
        struct sse_parser sse;

        run_cut(streams[i].bytes, 0, 0, 4096, &whole);
        sse_init(&sse, 4096, note, &seen);
        for (size_t k = 0; k < streams[i].bytes.n; k++)
            ASSERT_OK(sse_feed(&sse, str_of(streams[i].bytes.p + k, 1), &t->err));
        ASSERT(str_starts(buf_str(&whole), buf_str(&seen.text)));
        ASSERT_EQ(str_find(buf_str(&whole), STR(" retry=")), seen.text.n);
        sse_release(&sse);
        buf_release(&seen.text);
    }
}

/* With a limit of 16 bytes: what each stream ends with, wherever it is cut. */
static const struct stream limited[] = {
    { "a line of just 16 bytes", BYTES("data: 0123456789\n\n"),
      "message||0123456789; retry=-1 last= ok" },
    { "a line of 17", BYTES("data: a\n\ndata: 0123456789a\n\n"),
      "message||a; retry=-1 last= too_large" },
    { "a line of 17 that never ends", BYTES("data: 0123456789a"), " retry=-1 last= too_large" },
    { "data of 16 over lines", BYTES("data:0123456\ndata:01234567\n\n"),
      "message||0123456\n01234567; retry=-1 last= ok" },
    { "data of 17 over lines", BYTES("data:01234567\ndata:01234567\n\n"),
      " retry=-1 last= too_large" },
    { "data that grows by replacement", BYTES("data:\xFF\xFF\xFF\xFF\xFF\xFF\n\n"),
      " retry=-1 last= too_large" },
    { "a long comment", BYTES(":0123456789abcdef\n"), " retry=-1 last= too_large" },
};

TEST(sse_refuses_long_lines_and_events_at_every_cut)
{
    AUTO_BUF got = BUF_INIT(1 * MIB);

    for (size_t i = 0; i < ARRAY_LEN(limited); i++)
        for (size_t a = 0; a <= limited[i].bytes.n; a++) {
            run_cut(limited[i].bytes, a, a, 16, &got);
            if (!str_is(buf_str(&got), limited[i].expect))
                FAIL("%s cut at %zu: got\n  \"%s\", expected\n  \"%s\"", limited[i].what, a,
                     buf_text(&got), limited[i].expect);
        }
}

TEST(sse_stays_broken_after_too_large)
{
    struct seen seen = { .text = BUF_INIT(1 * MIB) };
    struct sse_parser sse;

    sse_init(&sse, 8, note, &seen);
    ASSERT_FAILS(sse_feed(&sse, STR("data: 123\n\n"), &t->err), ERR_TOO_LARGE);
    ASSERT_CONTAINS(test_err_text(t), "8 bytes");
    err_reset(&t->err);
    ASSERT_FAILS(sse_feed(&sse, STR("data:a\n\n"), &t->err), ERR_TOO_LARGE);
    ASSERT_EQ(seen.count, 0);
    sse_release(&sse);
    buf_release(&seen.text);
}

TEST(sse_stops_when_the_handler_says_so)
{
    struct seen seen = { .text = BUF_INIT(1 * MIB), .stop_at = 2 };
    struct sse_parser sse;

    sse_init(&sse, 64, note, &seen);
    ASSERT_EQ(sse_feed(&sse, STR("data:a\n\ndata:b\n\ndata:c\n\n"), &t->err), 7);
    ASSERT_STR(buf_str(&seen.text), "message||a;message||b;");
    ASSERT_EQ(sse_feed(&sse, STR("data:d\n\n"), &t->err), 0);
    ASSERT_STR(buf_str(&seen.text), "message||a;message||b;message||d;");
    sse_release(&sse);
    buf_release(&seen.text);
}

TEST(sse_reads_a_long_hostile_stream_in_bounded_memory)
{
    struct seen seen = { .text = BUF_INIT(64) };
    struct sse_parser sse;
    char block[4096];

    sse_init(&sse, 4096, note, &seen);
    for (size_t i = 0; i < sizeof(block); i++)
        block[i] = "\r\ndi:\xFF\n"[i * 2654435761u % 7];
    for (int i = 0; i < 2000; i++)
        ASSERT_OK(sse_feed(&sse, str_of(block, sizeof(block)), &t->err));
    ASSERT(sse.line.cap + sse.text.cap + sse.data.cap + sse.type.cap + sse.id.cap < 64 * KIB);
    sse_release(&sse);
    buf_release(&seen.text);
}
