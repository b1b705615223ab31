/* SPDX-License-Identifier: MIT */
#include "serve/target.h"

#include "base/buf.h"
#include "base/rand.h"
#include "base/utf8.h"
#include "harness/test.h"

TEST(target_splits_path_and_query)
{
    struct target target;

    ASSERT_OK(target_parse(&t->arena, STR("/a/b?x=1&y=a+b%2Bc&flag&z="), &target, &t->err));
    ASSERT_STR(target.path, "/a/b");
    ASSERT_EQ(target.query_count, 4);
    ASSERT_STR(target_query(&target, "x"), "1");
    ASSERT_STR(target_query(&target, "y"), "a b+c");
    ASSERT_STR(target_query(&target, "flag"), "");
    ASSERT_STR(target_query(&target, "z"), "");
    ASSERT(target_query(&target, "absent").p == NULL);
}

TEST(target_takes_the_absolute_form_and_the_star)
{
    struct target target;

    ASSERT_OK(target_parse(&t->arena, STR("http://host:80/p?q=1"), &target, &t->err));
    ASSERT_STR(target.authority, "host:80");
    ASSERT_STR(target.path, "/p");
    ASSERT_OK(target_parse(&t->arena, STR("HTTP://host"), &target, &t->err));
    ASSERT_STR(target.path, "/");
    ASSERT_OK(target_parse(&t->arena, STR("*"), &target, &t->err));
    ASSERT_STR(target.path, "*");
}

TEST(target_refuses_what_has_two_readings)
{
    static const char *const bad[] = {
        "",
        "a/b",
        "http:///p",
        "ftp://h/p",
        "/a#b",
        "/a?x=%",
        "/a?x=%4",
        "/a?x=%zz",
        "/a?x=%00",
        "/a?x=%0a",
        "/a?x=%ff",
        "/a?x=%c0%80",
        "/a?x=1&x=2",
        "/a?=1",
        "/a?x=%ed%a0%80",
        "/a?x=%f4%90%80%80",
        "/a?x=%e2%82",
        "/a?\x01=1",
    };

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct target target;

        ASSERT_FAILS(target_parse(&t->arena, str_from(bad[i]), &target, &t->err), ERR_BAD_REQUEST);
        err_reset(&t->err);
    }
}

TEST(target_bounds_the_number_of_parameters)
{
    AUTO_BUF text = BUF_INIT(4096);
    struct target target;

    buf_add_text(&text, "/?");
    for (int i = 0; i < TARGET_QUERY_MAX; i++)
        buf_printf(&text, "p%d=%d&", i, i);
    ASSERT_OK(target_parse(&t->arena, buf_str(&text), &target, &t->err));
    ASSERT_EQ(target.query_count, TARGET_QUERY_MAX);
    buf_add_text(&text, "more=1");
    ASSERT_FAILS(target_parse(&t->arena, buf_str(&text), &target, &t->err), ERR_BAD_REQUEST);
    ASSERT_CONTAINS(test_err_text(t), "more than 32");
}

TEST(target_decodes_segments_but_no_dots)
{
    struct str text;

    ASSERT_OK(target_decode_segment(&t->arena, STR("a+b%20%C3%A4%2Fc"), &text, &t->err));
    ASSERT_STR(text, "a+b \xC3\xA4/c");
    ASSERT_OK(target_decode_segment(&t->arena, STR("..."), &text, &t->err));
    ASSERT_FAILS(target_decode_segment(&t->arena, STR(".."), &text, &t->err), ERR_BAD_REQUEST);
    ASSERT_FAILS(target_decode_segment(&t->arena, STR("%2e%2E"), &text, &t->err), ERR_BAD_REQUEST);
    ASSERT_FAILS(target_decode_segment(&t->arena, STR("%7f"), &text, &t->err), ERR_BAD_REQUEST);
}

/* Every byte escaped or not, at random: the text comes back, or it was one that must not. */
TEST(target_decoding_undoes_encoding)
{
    struct rand_fake rand;

    rand_fake_init(&rand, 3);
    for (int round = 0; round < 20000; round++) {
        AUTO_BUF raw = BUF_INIT(200);
        char bytes[12];
        size_t n = (size_t)rand_below(&rand.rand, sizeof(bytes));
        bool good = true;
        struct str text;

        for (size_t i = 0; i < n; i++) {
            unsigned char c = (unsigned char)rand_below(&rand.rand, round % 2 ? 256 : 128);

            bytes[i] = (char)c;
            good = good && c >= 0x20 && c != 0x7F;
            if (c == '%' || rand_below(&rand.rand, 2))
                buf_printf(&raw, rand_below(&rand.rand, 2) ? "%%%02x" : "%%%02X", c);
            else
                buf_add_char(&raw, (char)c);
        }
        good = good && utf8_valid(str_of(bytes, n)) && !str_is(str_of(bytes, n), ".") &&
               !str_is(str_of(bytes, n), "..");
        ASSERT_EQ(target_decode_segment(&t->arena, buf_str(&raw), &text, &t->err), good ? 0 : -1);
        if (good)
            ASSERT(str_eq(text, str_of(bytes, n)));
        err_reset(&t->err);
    }
}

TEST(target_says_what_is_wrong_with_it)
{
    static const struct {
        const char *raw, *why;
    } cases[] = {
        { "x", "must begin with /" },           { "/a#b", "fragment" },
        { "/?a=%4", "two hexadecimal digits" }, { "/?a=%0a", "control character (0x0a)" },
        { "/?a=%ff", "not valid UTF-8" },       { "/?a=1&b=2&a=3", "\"a\" is given twice" },
        { "/?=1", "without a name" },
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct target target;

        ASSERT_FAILS(target_parse(&t->arena, str_from(cases[i].raw), &target, &t->err),
                     ERR_BAD_REQUEST);
        ASSERT_CONTAINS(test_err_text(t), cases[i].why);
        err_reset(&t->err);
    }
}
