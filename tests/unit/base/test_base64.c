/* SPDX-License-Identifier: MIT */
#include "base/base64.h"

#include <string.h>

#include "base/alloc.h"
#include "harness/test.h"

TEST(base64_gives_the_published_texts)
{
    /* RFC 4648, section 10, and the two digits by which the alphabets differ. */
    const struct {
        struct str bytes;
        const char *text, *url;
    } vectors[] = {
        { STR(""), "", "" },
        { STR("f"), "Zg==", "Zg" },
        { STR("fo"), "Zm8=", "Zm8" },
        { STR("foo"), "Zm9v", "Zm9v" },
        { STR("foob"), "Zm9vYg==", "Zm9vYg" },
        { STR("fooba"), "Zm9vYmE=", "Zm9vYmE" },
        { STR("foobar"), "Zm9vYmFy", "Zm9vYmFy" },
        { STR("\xfb\xff\xbf"), "+/+/", "-_-_" },
        { STR("\0\0\0"), "AAAA", "AAAA" },
    };

    for (size_t i = 0; i < ARRAY_LEN(vectors); i++) {
        AUTO_BUF text = BUF_INIT(64);
        AUTO_BUF url = BUF_INIT(64);

        base64_encode(vectors[i].bytes, &text);
        base64url_encode(vectors[i].bytes, &url);
        ASSERT_TEXT(buf_text(&text), vectors[i].text);
        ASSERT_TEXT(buf_text(&url), vectors[i].url);
    }
}

TEST(base64_goes_both_ways)
{
    for (size_t n = 0; n < 260; n++) {
        char bytes[260];
        AUTO_BUF text = BUF_INIT(1000);
        AUTO_BUF back = BUF_INIT(1000);

        for (size_t i = 0; i < n; i++)
            bytes[i] = (char)(i * 37 + n * 11);
        base64url_encode(str_of(bytes, n), &text);
        ASSERT_EQ(text.n, (n * 8 + 5) / 6);
        ASSERT(!strpbrk(buf_text(&text), "+/="));
        ASSERT(base64_is_clean(buf_str(&text)));
        base64_decode(buf_str(&text), &back);
        ASSERT(str_eq(buf_str(&back), str_of(bytes, n)));
        buf_clear(&text);
        buf_clear(&back);
        base64_encode(str_of(bytes, n), &text);
        ASSERT_EQ(text.n % 4, 0);
        ASSERT(!strpbrk(buf_text(&text), "-_"));
        base64_decode(buf_str(&text), &back);
        ASSERT(str_eq(buf_str(&back), str_of(bytes, n)));
    }
}

TEST(base64_takes_what_mail_is_full_of)
{
    static const struct {
        const char *text, *bytes;
        bool clean;
    } cases[] = {
        { "Zm9v\r\nYmFy", "foobar", true },
        { "Zm9vYmE=\n", "fooba", true },
        { "Zg==Zm9v", "f", false }, /* nothing follows padding */
        { "Zm9v!YmFy", "foobar", false },
        { "Z m 9 v", "foo", false },
        { "Zm9vY", "foo", true }, /* six bits are no byte */
        { "====", "", true },
        { "\x80\xff", "", false },
        { "ab-_\r\n+/==", "\x69\xbf\xbf\xfb", true },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO_BUF bytes = BUF_INIT(64);

        base64_decode(str_from(cases[i].text), &bytes);
        ASSERT_TEXT(buf_text(&bytes), cases[i].bytes);
        ASSERT_EQ(base64_is_clean(str_from(cases[i].text)), cases[i].clean);
    }
}
