/* The WebSocket machine against frames that obey and frames that do not, in the manner of the
 * Autobahn suite: each row is bytes from a client and what has to come of them.
 *
 * SPDX-License-Identifier: MIT
 */
#include "serve/ws_int.h"

#include "base/limits.h"
#include "harness/test.h"

static const struct ws_handshake good = {
    .upgrade = { "WebSocket", 9 },
    .connection = { "keep-alive, Upgrade", 19 },
    .version = { "13", 2 },
    .key = { "dGhlIHNhbXBsZSBub25jZQ==", 24 },
    .http_1_1 = true,
    .is_get = true,
};

TEST(handshake_accepts_the_example_of_the_rfc)
{
    char accept[WS_ACCEPT_TEXT + 1];

    ASSERT_OK(ws_handshake_check(&good, &t->err));
    ws_accept(good.key, accept);
    ASSERT_TEXT(accept, "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
}

TEST(handshake_refuses_what_is_not_one)
{
    struct ws_handshake bad[10];

    for (size_t i = 0; i < 10; i++)
        bad[i] = good;
    bad[0].upgrade = STR_NONE;
    bad[1].upgrade = STR("websockets");
    bad[2].connection = STR("keep-alive");
    bad[3].version = STR("8");
    bad[4].version = STR_NONE;
    bad[5].key = STR_NONE;
    bad[6].key = STR("dGhlIHNhbXBsZSBub25jZQ=");
    bad[7].key = STR("dGhlIHNhbXBsZSBub25jZ!==");
    bad[8].http_1_1 = false;
    bad[9].is_get = false;
    for (size_t i = 0; i < 10; i++)
        ASSERT_FAILS(ws_handshake_check(&bad[i], &t->err), ERR_BAD_REQUEST);
}

struct heard {
    unsigned count;
    bool text;
    struct buf last;
};

static void on_message(void *arg, bool text, struct str bytes)
{
    struct heard *heard = arg;

    heard->count++;
    heard->text = text;
    buf_clear(&heard->last);
    buf_add_str(&heard->last, bytes);
}

/* A masked frame; first is FIN, RSV and opcode. */
static void add_frame(struct buf *out, unsigned first, struct str payload)
{
    static const unsigned char mask[4] = { 0x12, 0x34, 0x56, 0x78 };

    buf_add_char(out, (char)first);
    if (payload.n < 126) {
        buf_add_char(out, (char)(0x80 | payload.n));
    } else if (payload.n <= 65535) {
        buf_add_char(out, (char)(0x80 | 126));
        buf_add_char(out, (char)(payload.n >> 8));
        buf_add_char(out, (char)payload.n);
    } else {
        buf_add_char(out, (char)(0x80 | 127));
        for (int i = 7; i >= 0; i--)
            buf_add_char(out, (char)((uint64_t)payload.n >> 8 * i));
    }
    buf_add(out, mask, 4);
    for (size_t i = 0; i < payload.n; i++)
        buf_add_char(out, (char)(payload.p[i] ^ mask[i % 4]));
}

/* The close code at the start of output, 0 when it does not begin with a close frame. */
static unsigned close_code(struct str out)
{
    if (out.n < 4 || (unsigned char)out.p[0] != 0x88)
        return 0;
    return (unsigned)(unsigned char)out.p[2] << 8 | (unsigned char)out.p[3];
}

struct frame {
    unsigned first;
    const char *payload;
    int n; /* -1: strlen */
};

static const struct protocol_case {
    const char *name;
    struct frame frames[5];
    unsigned messages, close; /* close 0: the connection stays open */
    const char *last;
} protocol_cases[] = {
    { "text", { { 0x81, "hello", -1 } }, 1, 0, "hello" },
    { "empty text", { { 0x81, "", -1 } }, 1, 0, "" },
    { "binary with any bytes", { { 0x82, "\xff\0\xfe", 3 } }, 1, 0, NULL },
    { "fragments", { { 0x01, "he", -1 }, { 0x00, "ll", -1 }, { 0x80, "o", -1 } }, 1, 0, "hello" },
    { "ping between fragments",
      { { 0x01, "he", -1 }, { 0x89, "p", -1 }, { 0x80, "y", -1 } },
      1,
      0,
      "hey" },
    { "character across fragments",
      { { 0x01, "\xC3", -1 }, { 0x80, "\xA4", -1 } },
      1,
      0,
      "\xC3\xA4" },
    { "unasked pong", { { 0x8A, "x", -1 } }, 0, 0, NULL },
    { "reserved bit 1", { { 0xC1, "x", -1 } }, 0, 1002, NULL },
    { "reserved bit 2", { { 0xA1, "x", -1 } }, 0, 1002, NULL },
    { "reserved bit 3", { { 0x91, "x", -1 } }, 0, 1002, NULL },
    { "opcode 3", { { 0x83, "x", -1 } }, 0, 1002, NULL },
    { "opcode 7", { { 0x87, "", -1 } }, 0, 1002, NULL },
    { "opcode B", { { 0x8B, "x", -1 } }, 0, 1002, NULL },
    { "opcode F", { { 0x8F, "x", -1 } }, 0, 1002, NULL },
    { "fragmented ping", { { 0x09, "x", -1 } }, 0, 1002, NULL },
    { "fragmented close", { { 0x08, "", -1 } }, 0, 1002, NULL },
    { "continuation of nothing", { { 0x80, "x", -1 } }, 0, 1002, NULL },
    { "new message within a message", { { 0x01, "a", -1 }, { 0x81, "b", -1 } }, 0, 1002, NULL },
    { "text that is not UTF-8", { { 0x81, "\xff", -1 } }, 0, 1007, NULL },
    { "text cut within a character", { { 0x81, "\xC3", -1 } }, 0, 1007, NULL },
    { "text with a surrogate", { { 0x81, "\xED\xA0\x80", -1 } }, 0, 1007, NULL },
    { "close", { { 0x88, "\x03\xe8", 2 } }, 0, 1000, NULL },
    { "close with reason",
      { { 0x88,
          "\x03\xe8"
          "bye",
          5 } },
      0,
      1000,
      NULL },
    { "close of one byte", { { 0x88, "\x03", 1 } }, 0, 1002, NULL },
    { "close with bad reason", { { 0x88, "\x03\xe8\xff", 3 } }, 0, 1007, NULL },
    { "close 999", { { 0x88, "\x03\xe7", 2 } }, 0, 1002, NULL },
    { "close 1004", { { 0x88, "\x03\xec", 2 } }, 0, 1002, NULL },
    { "close 1005", { { 0x88, "\x03\xed", 2 } }, 0, 1002, NULL },
    { "close 1006", { { 0x88, "\x03\xee", 2 } }, 0, 1002, NULL },
    { "close 1015", { { 0x88, "\x03\xf7", 2 } }, 0, 1002, NULL },
    { "close 1100", { { 0x88, "\x04\x4c", 2 } }, 0, 1002, NULL },
    { "close 2999", { { 0x88, "\x0b\xb7", 2 } }, 0, 1002, NULL },
    { "close 3000", { { 0x88, "\x0b\xb8", 2 } }, 0, 3000, NULL },
    { "close 4999", { { 0x88, "\x13\x87", 2 } }, 0, 4999, NULL },
    { "close 5000", { { 0x88, "\x13\x88", 2 } }, 0, 1002, NULL },
    { "text after close", { { 0x88, "\x03\xe8", 2 }, { 0x81, "late", -1 } }, 0, 1000, NULL },
};

/* All at once, or a byte at a time. */
static void run_case(const struct protocol_case *c, bool slowly)
{
    struct heard heard = { .last = BUF_INIT(LIMIT_WEBSOCKET_BYTES) };
    AUTO_BUF in = BUF_INIT(4096);
    AUTO(ws) ws = ws_new(1000, on_message, &heard);
    unsigned said;

    for (size_t i = 0; i < 5 && c->frames[i].payload; i++)
        add_frame(&in, c->frames[i].first,
                  str_of(c->frames[i].payload, c->frames[i].n < 0 ? strlen(c->frames[i].payload)
                                                                  : (size_t)c->frames[i].n));
    for (size_t i = 0; slowly && i < in.n; i++)
        ws_feed(ws, str_of(in.p + i, 1));
    if (!slowly)
        ws_feed(ws, buf_str(&in));
    said = close_code(buf_str(ws_output(ws)));
    if (heard.count != c->messages || said != c->close || ws_done(ws) != (c->close != 0) ||
        (c->last && !str_is(buf_str(&heard.last), c->last)))
        test_case_failed("%s (%s): %u messages, close %u (expected %u), done %d", c->name,
                         slowly ? "a byte at a time" : "at once", heard.count, said, c->close,
                         ws_done(ws));
    else
        test_case_passed();
    buf_release(&heard.last);
}

TEST(ws_obeys_and_enforces_the_protocol)
{
    for (size_t i = 0; i < sizeof(protocol_cases) / sizeof(protocol_cases[0]); i++) {
        run_case(&protocol_cases[i], false);
        run_case(&protocol_cases[i], true);
    }
}

TEST(ws_refuses_frames_without_a_mask)
{
    struct heard heard = { .last = BUF_INIT(100) };
    AUTO(ws) ws = ws_new(1000, on_message, &heard);

    ws_feed(ws, STR("\x81\x02hi"));
    ASSERT_EQ(heard.count, 0);
    ASSERT_EQ(close_code(buf_str(ws_output(ws))), 1002);
    ASSERT(ws_done(ws));
}

TEST(ws_answers_ping_with_the_same_bytes)
{
    struct heard heard = { .last = BUF_INIT(100) };
    AUTO(ws) ws = ws_new(1000, on_message, &heard);
    AUTO_BUF in = BUF_INIT(1000);

    add_frame(&in, 0x89, STR("abc"));
    ws_feed(ws, buf_str(&in));
    ASSERT_STR(buf_str(ws_output(ws)), "\x8A\x03"
                                       "abc");
    ASSERT(!ws_done(ws));
}

TEST(ws_refuses_long_control_frames)
{
    struct heard heard = { .last = BUF_INIT(100) };
    AUTO(ws) ws = ws_new(1000, on_message, &heard);
    AUTO_BUF in = BUF_INIT(1000);
    char big[126] = { 0 };

    add_frame(&in, 0x89, str_of(big, sizeof(big)));
    ws_feed(ws, buf_str(&in));
    ASSERT_EQ(close_code(buf_str(ws_output(ws))), 1002);
}

TEST(ws_refuses_lengths_that_could_be_shorter_or_are_absurd)
{
    static const struct str frames[] = {
        { "\x81\xfe\x00\x05\x00\x00\x00\x00hello", 13 },
        { "\x81\xff\x00\x00\x00\x00\x00\x00\x00\x05\x00\x00\x00\x00hello", 19 },
        { "\x81\xff\xff\xff\xff\xff\xff\xff\xff\xff\x00\x00\x00\x00", 14 },
    };

    for (size_t i = 0; i < 3; i++) {
        struct heard heard = { .last = BUF_INIT(100) };
        AUTO(ws) ws = ws_new(1000, on_message, &heard);

        ws_feed(ws, frames[i]);
        ASSERT_EQ(heard.count, 0);
        ASSERT(ws_done(ws));
        ASSERT_EQ(close_code(buf_str(ws_output(ws))), 1002);
    }
}

static void feed_long(struct test *t, size_t n, unsigned fragments, unsigned want_close)
{
    struct heard heard = { .last = BUF_INIT(LIMIT_WEBSOCKET_BYTES) };
    AUTO(ws) ws = ws_new(LIMIT_WEBSOCKET_BYTES, on_message, &heard);
    AUTO_BUF in = BUF_INIT(4 * MIB);
    char *big = arena_alloc(&t->arena, n, 1);

    memset(big, 'x', n);
    for (unsigned i = 0; i < fragments; i++)
        add_frame(&in, (i == 0 ? 1u : 0u) | (i == fragments - 1 ? 0x80u : 0),
                  str_of(big, n / fragments));
    ws_feed(ws, buf_str(&in));
    ASSERT_EQ(close_code(buf_str(ws_output(ws))), want_close);
    ASSERT_EQ(heard.count, want_close ? 0 : 1);
    if (!want_close)
        ASSERT_EQ(heard.last.n, n);
    buf_release(&heard.last);
}

TEST(ws_takes_a_message_of_the_limit_and_not_a_byte_more)
{
    feed_long(t, LIMIT_WEBSOCKET_BYTES, 1, 0);
    feed_long(t, LIMIT_WEBSOCKET_BYTES + 1, 1, 1009);
    feed_long(t, LIMIT_WEBSOCKET_BYTES, 4, 0);
    feed_long(t, LIMIT_WEBSOCKET_BYTES + 4, 4, 1009);
    feed_long(t, 65535, 1, 0);
    feed_long(t, 65536, 1, 0);
}

TEST(ws_says_close_once_and_is_done_when_the_client_agrees)
{
    struct heard heard = { .last = BUF_INIT(100) };
    AUTO(ws) ws = ws_new(1000, on_message, &heard);
    AUTO_BUF in = BUF_INIT(1000);

    ws_close(ws, WS_GOING_AWAY, "stopping");
    ASSERT_EQ(close_code(buf_str(ws_output(ws))), 1001);
    ASSERT(ws_close_sent(ws) && !ws_done(ws));
    ASSERT_EQ(ws_client_code(ws), WS_ABNORMAL);
    buf_clear(ws_output(ws));
    ws_close(ws, WS_INTERNAL, NULL);
    ws_ping(ws);
    ASSERT_EQ(ws_output(ws)->n, 0);
    add_frame(&in, 0x81, STR("too late"));
    add_frame(&in, 0x88, STR("\x03\xe9"));
    ws_feed(ws, buf_str(&in));
    ASSERT_EQ(heard.count, 0);
    ASSERT(ws_done(ws));
    ASSERT_EQ(ws_client_code(ws), 1001);
}

TEST(ws_frame_lengths_have_three_forms)
{
    AUTO_BUF out = BUF_INIT(100000);
    static char bytes[70000];

    ws_frame(&out, true, STR("hi"));
    ASSERT_EQ(memcmp(out.p, "\x81\x02hi", 4), 0);
    buf_clear(&out);
    ws_frame(&out, false, str_of(bytes, 126));
    ASSERT_EQ(memcmp(out.p, "\x82\x7e\x00\x7e", 4), 0);
    buf_clear(&out);
    ws_frame(&out, true, str_of(bytes, 70000));
    ASSERT_EQ(memcmp(out.p, "\x81\x7f\x00\x00\x00\x00\x00\x01\x11\x70", 10), 0);
    ASSERT_EQ(out.n, 70010);
}
