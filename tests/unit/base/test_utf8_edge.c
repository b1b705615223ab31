/* UTF-8 at every boundary, against the C library's converter.
 *
 * SPDX-License-Identifier: MIT
 */
#include <iconv.h>

#include "base/alloc.h"
#include "base/rand.h"
#include "base/utf8.h"
#include "harness/test.h"

/* Whether iconv takes the bytes as UTF-8. */
static bool iconv_takes(iconv_t converter, const char *bytes, size_t n)
{
    char in[64], out[256], *from = in, *to = out;
    size_t left = n, room = sizeof(out);

    memcpy(in, bytes, n);
    iconv(converter, NULL, NULL, NULL, NULL);
    return iconv(converter, &from, &left, &to, &room) != (size_t)-1 && left == 0;
}

TEST(utf8_valid_agrees_with_iconv_on_bytes_near_the_boundaries)
{
    static const unsigned char pool[] = { 0x41, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0,
                                          0xc1, 0xc2, 0xdf, 0xe0, 0xe1, 0xec, 0xed, 0xee, 0xef,
                                          0xf0, 0xf1, 0xf3, 0xf4, 0xf5, 0xf8, 0xff };
    iconv_t converter = iconv_open("UTF-32LE", "UTF-8");
    struct rand_fake rand;
    size_t good = 0;

    ASSERT(converter != (iconv_t)-1);
    rand_fake_init(&rand, 17);
    for (int i = 0; i < 100000; i++) {
        char bytes[6];
        size_t n = 1 + rand_below(&rand.rand, sizeof(bytes));
        bool valid;

        for (size_t k = 0; k < n; k++)
            bytes[k] = (char)pool[rand_below(&rand.rand, sizeof(pool))];
        valid = utf8_valid(str_of(bytes, n));
        ASSERT_EQ(valid, iconv_takes(converter, bytes, n));
        ASSERT_EQ(utf8_valid_prefix(str_of(bytes, n)) == n, valid);
        good += valid;
    }
    ASSERT(good > 1000); /* the pool makes both kinds */
    iconv_close(converter);
}

TEST(utf8_lengths_change_at_their_code_points)
{
    static const struct {
        uint32_t code;
        const char *bytes;
    } cases[] = {
        { 0x7f, "\x7f" },
        { 0x80, "\xc2\x80" },
        { 0x7ff, "\xdf\xbf" },
        { 0x800, "\xe0\xa0\x80" },
        { 0xd7ff, "\xed\x9f\xbf" },
        { 0xe000, "\xee\x80\x80" },
        { 0xfffd, "\xef\xbf\xbd" },
        { 0xffff, "\xef\xbf\xbf" },
        { 0x10000, "\xf0\x90\x80\x80" },
        { 0x10ffff, "\xf4\x8f\xbf\xbf" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO_BUF out = BUF_INIT(8);
        struct str rest = str_from(cases[i].bytes);
        uint32_t code = 0;

        ASSERT_EQ(buf_add_utf8(&out, cases[i].code), 0);
        ASSERT_STR(buf_str(&out), cases[i].bytes);
        ASSERT_EQ(utf8_decode(&rest, &code), 0);
        ASSERT_EQ(code, cases[i].code);
        ASSERT_EQ(rest.n, 0);
        /* Each cut of it is one ill-formed part, and truncation stops before it. */
        for (size_t n = 1; n < strlen(cases[i].bytes); n++) {
            ASSERT_EQ(utf8_count(str_of(cases[i].bytes, n)), 1);
            ASSERT_EQ(utf8_valid_prefix(str_of(cases[i].bytes, n)), 0);
            ASSERT_EQ(utf8_truncate(str_from(cases[i].bytes), n).n, 0);
        }
    }
}

TEST(utf8_sanitised_text_is_valid_and_keeps_what_was)
{
    struct rand_fake rand;

    rand_fake_init(&rand, 18);
    for (int i = 0; i < 20000; i++) {
        AUTO_BUF once = BUF_INIT(1000);
        AUTO_BUF twice = BUF_INIT(1000);
        char bytes[32];
        struct str text = str_of(bytes, 1 + rand_below(&rand.rand, sizeof(bytes)));

        rand_fill(&rand.rand, bytes, sizeof(bytes));
        ASSERT_EQ(utf8_sanitise(text, &once), 0);
        ASSERT(utf8_valid(buf_str(&once)));
        ASSERT_EQ(utf8_count(text), utf8_count(buf_str(&once)));
        ASSERT_EQ(utf8_sanitise(buf_str(&once), &twice), 0);
        ASSERT(str_eq(buf_str(&once), buf_str(&twice)));
        ASSERT(str_starts(buf_str(&once), str_take(text, utf8_valid_prefix(text))));
    }
}
