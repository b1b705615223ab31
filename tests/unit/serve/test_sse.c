/* SPDX-License-Identifier: MIT */
#include "serve/sse_int.h"

#include "base/rand.h"
#include "harness/test.h"
#include "loop/sse.h"
#include "serve/page_int.h"

TEST(sse_event_has_id_name_and_data)
{
    AUTO_BUF out = BUF_INIT(1000);

    ASSERT_EQ(sse_event(&out, 7, "status", STR("{}")), 0);
    ASSERT_TEXT(buf_text(&out), "id: 7\nevent: status\ndata: {}\n\n");
    buf_clear(&out);
    sse_event(&out, 0, NULL, STR_NONE);
    ASSERT_TEXT(buf_text(&out), "data: \n\n");
}

TEST(sse_data_can_not_end_its_event_early)
{
    AUTO_BUF out = BUF_INIT(1000);

    sse_event(&out, 0, NULL, STR("a\n\nevent: fake\r\nb\rc\n"));
    ASSERT_TEXT(buf_text(&out), "data: a\ndata: \ndata: event: fake\ndata: b\ndata: c\ndata: \n\n");
}

TEST(sse_small_lines)
{
    AUTO_BUF out = BUF_INIT(1000);

    sse_comment(&out, "x");
    sse_retry(&out, 2000);
    ASSERT_TEXT(buf_text(&out), ": x\n\nretry: 2000\n\n");
    buf_clear(&out);
    sse_wire(&out, STR("0123456789abcdef"), true);
    sse_wire(&out, STR("plain"), false);
    ASSERT_TEXT(buf_text(&out), "10\r\n0123456789abcdef\r\nplain");
}

TEST(sse_reports_what_does_not_fit)
{
    AUTO_BUF out = BUF_INIT(10);

    ASSERT_EQ(sse_event(&out, 1, "long", STR("too much data")), -1);
}

/* ---- read back by the client's parser, which was written from the standard ---- */

struct reading {
    struct test *t;
    unsigned events;
    struct str type, data, id;
};

static int take_event(const struct sse_event *event, void *arg)
{
    struct reading *reading = arg;

    reading->events++;
    reading->type = arena_str(&reading->t->arena, event->type);
    reading->data = arena_str(&reading->t->arena, event->data);
    reading->id = arena_str(&reading->t->arena, event->id);
    return 0;
}

/* Line ends all become LF: that is what the format can carry. */
static struct str with_lf(struct test *t, struct str data)
{
    char *out = arena_alloc(&t->arena, data.n + 1, 1);
    size_t n = 0;

    for (size_t i = 0; i < data.n; i++)
        if (data.p[i] != '\r')
            out[n++] = data.p[i];
        else if (i + 1 == data.n || data.p[i + 1] != '\n')
            out[n++] = '\n';
    return str_of(out, n);
}

TEST(sse_events_are_read_as_they_were_meant)
{
    static const char letters[] = "ab:\r\n\r\n d{}";
    struct rand_fake rand;

    rand_fake_init(&rand, 5);
    for (uint64_t round = 1; round < 3000; round++) {
        AUTO_BUF wire = BUF_INIT(10000);
        struct reading reading = { .t = t };
        struct sse_parser parser;
        char data[40];
        size_t n = (size_t)rand_below(&rand.rand, sizeof(data));

        for (size_t i = 0; i < n; i++)
            data[i] = letters[rand_below(&rand.rand, sizeof(letters) - 1)];
        sse_retry(&wire, 2000);
        sse_comment(&wire, "still here");
        sse_event(&wire, round, "word", str_of(data, n));
        sse_comment(&wire, "still here");
        sse_init(&parser, 10000, take_event, &reading);
        for (size_t i = 0; i < wire.n; i++)
            ASSERT_OK(sse_feed(&parser, str_of(wire.p + i, 1), &t->err));
        ASSERT_EQ(reading.events, 1);
        ASSERT_STR(reading.type, "word");
        ASSERT(str_eq(reading.data, with_lf(t, str_of(data, n))));
        ASSERT_STR(reading.id, arena_printf(&t->arena, "%llu", (unsigned long long)round));
        ASSERT_EQ(sse_retry_ms(&parser), 2000);
        sse_release(&parser);
    }
}

TEST(page_compression_is_used_when_asked_for)
{
    static const struct {
        const char *header;
        bool gzip;
    } cases[] = {
        { "gzip", true },
        { "x-gzip", true },
        { "deflate, GZIP;q=0.5 , br", true },
        { "gzip;q=1.000", true },
        { "gzip;q=0.001", true },
        { "gzip;q=0.05, identity", true },
        { "gzip ; x=1 ; q=0.1", true },
        { "*", true },
        { "br;q=1, *;q=0.1", true },
        { "*;q=0, gzip", true },
        { "gzip;q=0", false },
        { "gzip; q=0.000", false },
        { "gzip;Q=0.", false },
        { "gzip;q=0, *", false },
        { "*;q=0", false },
        { "deflate", false },
        { "gzipped", false },
        { "identity", false },
        { ",, ,", false },
        { "", false },
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        if (page_accepts_gzip(str_from(cases[i].header)) != cases[i].gzip)
            FAIL("Accept-Encoding: %s", cases[i].header);
    ASSERT(!page_accepts_gzip(STR_NONE));
}

TEST(page_etag_is_found_in_lists)
{
    ASSERT(page_etag_listed(STR("\"a\", \"b\""), "\"b\""));
    ASSERT(page_etag_listed(STR("W/\"b\""), "\"b\""));
    ASSERT(page_etag_listed(STR("*"), "\"b\""));
    ASSERT(!page_etag_listed(STR("\"ab\""), "\"b\""));
    ASSERT(!page_etag_listed(STR_NONE, "\"b\""));
}

TEST(page_table_is_complete)
{
    bool home = false, failed = false, style = false, script = false;

    for (size_t i = 0; i < page_count; i++) {
        ASSERT(pages[i].n > 0);
        ASSERT(pages[i].gzip_n < pages[i].n);
        ASSERT_EQ(strlen(pages[i].hash), 32);
        home |= strcmp(pages[i].name, "index.html") == 0 && !pages[i].hashed;
        failed |= strcmp(pages[i].name, "login-failed.html") == 0 && !pages[i].hashed;
        style |= str_ends(str_from(pages[i].name), STR(".css")) && pages[i].hashed;
        script |= str_ends(str_from(pages[i].name), STR(".js")) && pages[i].hashed;
    }
    ASSERT(home && failed && style && script);
}
