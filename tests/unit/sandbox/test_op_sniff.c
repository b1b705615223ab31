/* SPDX-License-Identifier: MIT */
#include "sandbox/op_sniff.h"

#include "harness/test.h"

static struct sniff of(const char *bytes, size_t n)
{
    return sniff(str_of(bytes, n));
}
#define OF(literal) of("" literal "", sizeof(literal) - 1)

static void is_image(struct sniff got, const char *type, unsigned width, unsigned height)
{
    ASSERT_EQ(got.kind, SNIFF_IMAGE);
    ASSERT_TEXT(got.type, type);
    ASSERT_EQ(got.width, width);
    ASSERT_EQ(got.height, height);
}

TEST(images_are_known_with_their_size)
{
    is_image(OF("\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\1\0\0\0\0\0\2xx"), "image/png", 65536, 2);
    is_image(OF("GIF89a\x40\1\xf0\0.."), "image/gif", 320, 240);
    is_image(OF("GIF87a\x01\0\x02\0"), "image/gif", 1, 2);
    is_image(OF("\xff\xd8\xff\xe0\0\4ab\xff\xff\xc2\0\x11\x08\1\2\3\4......"), "image/jpeg", 772,
             258);
    is_image(OF("RIFF....WEBPVP8 ....0*0\x9d\x01\x2a\x40\1\xf0\0"), "image/webp", 320, 240);
    is_image(OF("RIFF....WEBPVP8L....\x2f\x3f\xc1\x3b\0xxxxx"), "image/webp", 320, 240);
    is_image(OF("RIFF....WEBPVP8X........\x3f\1\0\xef\0\0"), "image/webp", 320, 240);
}

TEST(images_cut_short_or_broken_have_no_size)
{
    static const char jpeg[] = "\xff\xd8\xff\xe0\0\4ab\xff\xc0\0\x11\x08\1\2\3\4";
    static const char webp[] = "RIFF....WEBPVP8X........\x3f\1\0\xef\0\0";

    is_image(OF("\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\1"), "image/png", 0, 0);
    is_image(OF("\x89PNG\r\n\x1a\n\0\0\0\rXXXX\0\1\0\0\0\0\0\2"), "image/png", 0, 0);
    is_image(OF("GIF89a\x40\1"), "image/gif", 0, 0);
    is_image(OF("\xff\xd8\xff\xe0\0\0\xff\xc0\0\x11\x08\1\2\3\4..."), "image/jpeg", 0, 0);
    is_image(OF("\xff\xd8\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"), "image/jpeg", 0, 0);
    for (size_t n = 3; n < sizeof(jpeg) - 1; n++)
        is_image(of(jpeg, n), "image/jpeg", 0, 0);
    for (size_t n = 16; n < sizeof(webp) - 1; n++)
        is_image(of(webp, n), "image/webp", 0, 0);
}

TEST(common_formats_are_named)
{
    static const struct {
        const char *head, *type;
    } cases[] = {
        { "%PDF-1.7\n", "application/pdf" },
        { "PK\3\4xxxx", "application/zip" },
        { "\x1f\x8b\x08", "application/gzip" },
        { "\x7f"
          "ELF\2",
          "application/x-executable" },
        { "\xff\xfe"
          "a",
          "text/plain; charset=utf-16" },
        { "OggS", "audio/ogg" },
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct sniff got = sniff(str_from(cases[i].head));

        ASSERT_EQ(got.kind, SNIFF_BINARY);
        ASSERT_TEXT(got.type, cases[i].type);
    }
    ASSERT_TEXT(OF("SQLite format 3\0x").type, "application/vnd.sqlite3");
}

TEST(text_is_what_has_no_nul_near_its_beginning)
{
    static char long_text[10000];

    ASSERT_EQ(OF("").kind, SNIFF_TEXT);
    ASSERT_EQ(OF("int main(void)\n").kind, SNIFF_TEXT);
    ASSERT_EQ(OF("\xC3\xA9\xFF").kind, SNIFF_TEXT);
    ASSERT_EQ(OF("GIF8").kind, SNIFF_TEXT);
    ASSERT_EQ(OF("RIFF....WAVE").kind, SNIFF_TEXT);
    ASSERT_EQ(OF("a\0").kind, SNIFF_BINARY);
    memset(long_text, 'x', sizeof(long_text));
    long_text[8192] = '\0';
    ASSERT_EQ(of(long_text, sizeof(long_text)).kind, SNIFF_TEXT);
    long_text[8191] = '\0';
    ASSERT_EQ(of(long_text, sizeof(long_text)).kind, SNIFF_BINARY);
}
