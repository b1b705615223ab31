/* Text that a person looks at. */
#include "base/utf8.h"
#include "harness/test.h"
#include "tool/tool_int.h"

static const char *shown(struct test *t, struct str text, size_t max)
{
    struct buf out = BUF_INIT(1 << 20);
    const char *copy;

    shown_text(text, max, &out);
    copy = arena_str(&t->arena, buf_str(&out)).p;
    buf_release(&out);
    return copy;
}

TEST(nothing_shown_moves_the_cursor_turns_text_around_or_hides)
{
    static const char *const cases[][2] = {
        { "plain\n\ttext äöü 漢字 😀", "plain\n\ttext äöü 漢字 😀" },
        { "\033[2J\033]0;title\a", "␛[2J␛]0;title␇" },
        { "over\rwritten\b\b", "over␍written␈␈" },
        { "\x7f", "␡" },
        { "\xc2\x9b"
          "31m",
          "<U+009B>31m" },
        { "rm \xe2\x80\xae gpj.x", "rm <U+202E> gpj.x" },
        { "a\xe2\x80\x8b"
          "b",
          "a<U+200B>b" },
        { "\xe2\x81\xa6x\xe2\x81\xa9", "<U+2066>x<U+2069>" },
        { "\xff\xc0\x80", "<FF><C0><80>" },
        { "\xe2\x80", "<E2><80>" },
        { "a\xc2\xa0"
          "b",
          "a<U+00A0>b" },
        { "\xee\x80\x80", "<U+E000>" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        ASSERT_TEXT(shown(t, str_from(cases[i][0]), 1000), cases[i][1]);
    ASSERT_TEXT(shown(t, STR("a\0b"), 1000), "a␀b");
}

TEST(all_bytes_become_safe_text)
{
    unsigned odd = (1u << UTF8_INVALID) | (1u << UTF8_BIDI) | (1u << UTF8_HIDDEN);
    char bytes[256 * 3];
    const char *text;

    for (unsigned i = 0; i < 256; i++) {
        bytes[3 * i] = (char)i;
        bytes[3 * i + 1] = (char)(255 - i);
        bytes[3 * i + 2] = (char)(i * 7);
    }
    text = shown(t, str_of(bytes, sizeof(bytes)), 100000);
    ASSERT_EQ(utf8_find_odd(str_from(text), odd, NULL, NULL), UTF8_PLAIN);
    for (const char *p = text; *p; p++)
        ASSERT((unsigned char)*p >= 0x20 || *p == '\n' || *p == '\t');
}

TEST(long_text_says_how_much_is_missing)
{
    ASSERT_TEXT(shown(t, STR("abcdefgh"), 8), "abcdefgh");
    ASSERT_TEXT(shown(t, STR("abcdefghi"), 8), "abcdefgh\n[1 more bytes are not shown]\n");
}

TEST(a_word_is_one_line)
{
    ASSERT_TEXT(shown_word(STR("a\nb\tc\rd"), 100, &t->arena), "a b c␍d");
    ASSERT_TEXT(shown_word(STR("äöü"), 3, &t->arena), "ä…");
    ASSERT_TEXT(shown_word(STR(""), 3, &t->arena), "");
    ASSERT_TEXT(shown_word(STR("\033\033\033"), 2, &t->arena), "␛␛…");
}
