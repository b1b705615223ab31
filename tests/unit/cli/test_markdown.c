/* Markdown in a terminal: what comes out, and that it does not depend on how the text was cut.
 *
 * SPDX-License-Identifier: MIT
 */
#include <locale.h>

#include "base/clock.h"
#include "cli/markdown.h"
#include "harness/test.h"

#define OUT_MAX (8u << 20)

/* In pieces of `step` bytes. */
static void render(struct str text, int width, bool colours, size_t step, struct buf *out)
{
    AUTO(markdown) md = markdown_new(width, colours);

    setlocale(LC_CTYPE, "C.UTF-8");
    for (; text.n; text = str_skip(text, step))
        markdown_add(md, str_take(text, step), out);
    markdown_end(md, out);
}

static const struct {
    const char *in, *plain, *ansi;
    int width;
} rows[] = {
    { "Hello", "Hello\n", "Hello\n", 0 },
    { "# Title\ntext", "# Title\ntext\n", "\033[0;1;4mTitle\033[0m\ntext\n", 0 },
    { "### Small", "### Small\n", "\033[0;1mSmall\033[0m\n", 0 },
    { "####### seven", "####### seven\n", "####### seven\n", 0 },
    { "#tag", "#tag\n", "#tag\n", 0 },
    { "a **b c** d", "a b c d\n", "a \033[0;1mb c\033[0m d\n", 0 },
    { "*it* and _it_", "it and it\n", "\033[0;3mit\033[0m and \033[0;3mit\033[0m\n", 0 },
    { "***both***", "both\n", "\033[0;1;3mboth\033[0m\n", 0 },
    { "**a *b* c**", "a b c\n", "\033[0;1ma \033[0;1;3mb\033[0;1m c\033[0m\n", 0 },
    { "2 * 3 * 4", "2 * 3 * 4\n", "2 * 3 * 4\n", 0 },
    { "snake_case_name", "snake_case_name\n", "snake_case_name\n", 0 },
    { "never **closed", "never **closed\n", "never **closed\n", 0 },
    { "\\*not\\*", "*not*\n", "*not*\n", 0 },
    { "run `ls -l` now", "run `ls -l` now\n", "run \033[0;36mls -l\033[0m now\n", 0 },
    { "``a ` b``", "`a ` b`\n", "\033[0;36ma ` b\033[0m\n", 0 },
    { "`open", "`open\n", "`open\n", 0 },
    { "[text](http://x/y)", "text (http://x/y)\n",
      "\033[0;4mtext\033[0m \033[0;2m(http://x/y)\033[0m\n", 0 },
    { "[http://x](http://x)", "http://x\n", "\033[0;4mhttp://x\033[0m\n", 0 },
    { "[ ] a box", "[ ] a box\n", "[ ] a box\n", 0 },
    { "- one\n- two\n  - three", "- one\n- two\n  - three\n", "• one\n• two\n  • three\n", 0 },
    { "1. one\n12) two", "1. one\n12) two\n", "1. one\n12) two\n", 0 },
    { "2024 was", "2024 was\n", "2024 was\n", 0 },
    { "> said\n> > twice", "│ said\n│ │ twice\n", "│ said\n│ │ twice\n", 0 },
    { "a\n\n\n\nb\n\n", "a\n\nb\n", "a\n\nb\n", 0 },
    { "```c\nint *x; // **no**\n\n```\nafter", "  int *x; // **no**\n  \nafter\n",
      "  \033[0;36mint *x; // **no**\033[0m\n  \nafter\n", 0 },
    { "~~~\n```\n~~~", "  ```\n", "  \033[0;36m```\033[0m\n", 0 },
    { "```\nnever ended", "  never ended\n", "  \033[0;36mnever ended\033[0m\n", 0 },
    { "one two three", "one two\nthree\n", "one two\nthree\n", 8 },
    { "- one two three", "- one\n  two\n  three\n", "• one\n  two\n  three\n", 8 },
    { "> one two", "│ one\n│ two\n", "│ one\n│ two\n", 6 },
    { "abcdefghij", "abcd\nefgh\nij\n", "abcd\nefgh\nij\n", 4 },
    { "日本語のテキスト", "日本\n語の\nテキ\nスト\n", "日本\n語の\nテキ\nスト\n", 5 },
    { "évé né", "évé\nné\n", "évé\nné\n", 4 },
    { "---", "────────\n", "────────\n", 8 },
    { "| a | b |\n|---|---|\n| 1 | two |\n", "a  b\n─  ───\n1  two\n",
      "\033[0;1ma\033[0m  \033[0;1mb\033[0m\n─  ───\n1  two\n", 20 },
    { "| name | what |\n|-|-|\n| one | something long |", "name: one\nwhat: something\n  long\n",
      "\033[0;1mname:\033[0m one\n\033[0;1mwhat:\033[0m something\n  long\n", 15 },
    { "| just a line", "| just a line\n", "| just a line\n", 0 },
    { "a\r\nb\r\n", "a\nb\n", "a\nb\n", 0 },
    /* Hostile: nothing of it reaches the terminal. */
    { "\033[2Jgone", "\\x1b[2Jgone\n", "\\x1b[2Jgone\n", 0 },
    { "a\xc2\x9b"
      "31mb",
      "a\\x9b31mb\n", "a\\x9b31mb\n", 0 },
    { "x\xe2\x80\xaey", "x\\u{202e}y\n", "x\\u{202e}y\n", 0 },
    { "```\n\033]0;t\a\n```", "  \\x1b]0;t\\x07\n", "  \033[0;36m\\x1b]0;t\\x07\033[0m\n", 0 },
    { "bad \xff\xfe bytes", "bad \xef\xbf\xbd\xef\xbf\xbd bytes\n",
      "bad \xef\xbf\xbd\xef\xbf\xbd bytes\n", 0 },
    { "over\rwritten", "over\\x0dwritten\n", "over\\x0dwritten\n", 0 },
    { "[x](\033[31m)", "x (\\x1b[31m)\n", "\033[0;4mx\033[0m \033[0;2m(\\x1b[31m)\033[0m\n", 0 },
};

TEST(markdown_is_shown_as_the_table_says)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        AUTO_BUF plain = BUF_INIT(OUT_MAX);
        AUTO_BUF ansi = BUF_INIT(OUT_MAX);

        render(str_from(rows[i].in), rows[i].width, false, SIZE_MAX, &plain);
        render(str_from(rows[i].in), rows[i].width, true, SIZE_MAX, &ansi);
        ASSERT_TEXT(buf_text(&plain), rows[i].plain);
        ASSERT_TEXT(buf_text(&ansi), rows[i].ansi);
    }
}

/* Pieces of every small size give what the whole gives. */
static void same_in_pieces(struct str text, int width)
{
    AUTO_BUF whole = BUF_INIT(OUT_MAX);

    render(text, width, true, SIZE_MAX, &whole);
    for (size_t step = 1; step < 9; step++) {
        AUTO_BUF pieces = BUF_INIT(OUT_MAX);

        render(text, width, true, step, &pieces);
        ASSERT_TEXT(buf_text(&pieces), buf_text(&whole));
    }
}

TEST(any_split_of_the_text_gives_the_same)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        for (int width = 0; width < 40; width += 7)
            same_in_pieces(str_from(rows[i].in), width);
}

/* Texts made of what decides: marks, spaces, newlines, wide and broken characters. */
TEST(any_split_of_made_up_text_gives_the_same)
{
    static const char *const parts[] = { "*",  "**", "_",  "`",  "```", "\n",   "\n\n", " ",  "a",
                                         "bc", "[",  "](", ")",  "|",   "|-|",  "#",    "- ", "1.",
                                         "> ", "~~", "\\", "日", "\r",  "\x9b", "\t",   "---" };
    uint32_t seed = 12345;

    for (int round = 0; round < 2000; round++) {
        AUTO_BUF text = BUF_INIT(4096);

        for (int i = 0; i < 24; i++) {
            seed = seed * 1664525 + 1013904223;
            buf_add_text(&text, parts[(seed >> 16) % (sizeof(parts) / sizeof(parts[0]))]);
        }
        same_in_pieces(buf_str(&text), (int)(seed >> 24) % 30);
    }
}

TEST(spans_longer_than_what_is_held_are_the_same_in_pieces)
{
    for (size_t n = 390; n < 412; n++) {
        AUTO_BUF text = BUF_INIT(4096);

        buf_add_text(&text, "x `");
        for (size_t i = 0; i < n; i++)
            buf_add_char(&text, 'y');
        buf_add_text(&text, "`` ` **z");
        for (size_t i = 0; i < n; i++)
            buf_add_char(&text, 'w');
        buf_add_text(&text, "** [l](");
        for (size_t i = 0; i < n; i++)
            buf_add_char(&text, 'u');
        buf_add_text(&text, ") end");
        same_in_pieces(buf_str(&text), 0);
    }
}

TEST(words_appear_as_soon_as_they_have_ended)
{
    AUTO(markdown) md = markdown_new(80, true);
    AUTO_BUF out = BUF_INIT(OUT_MAX);

    markdown_add(md, STR("one tw"), &out);
    ASSERT_TEXT(buf_text(&out), "one");
    markdown_add(md, STR("o three"), &out);
    ASSERT_TEXT(buf_text(&out), "one two");
    markdown_add(md, STR(" **bo"), &out);
    ASSERT_TEXT(buf_text(&out), "one two three");
    markdown_add(md, STR("ld** x"), &out);
    ASSERT_TEXT(buf_text(&out), "one two three \033[0;1mbold\033[0m");
    markdown_end(md, &out);
    ASSERT_TEXT(buf_text(&out), "one two three \033[0;1mbold\033[0m x\n");
}

TEST(code_appears_character_by_character)
{
    AUTO(markdown) md = markdown_new(80, false);
    AUTO_BUF out = BUF_INIT(OUT_MAX);

    markdown_add(md, STR("```\nint m"), &out);
    ASSERT_TEXT(buf_text(&out), "  int m");
}

TEST(a_second_text_begins_anew)
{
    AUTO(markdown) md = markdown_new(0, false);
    AUTO_BUF out = BUF_INIT(OUT_MAX);

    markdown_add(md, STR("```\ncode"), &out);
    markdown_end(md, &out);
    markdown_add(md, STR("**text**"), &out);
    markdown_end(md, &out);
    ASSERT_TEXT(buf_text(&out), "  code\ntext\n");
}

TEST(hostile_lengths_are_rendered_in_linear_time)
{
    static const char *const fills[] = { "*", "`", "[", "_a ", "|", "> ", "**a", "\\" };

    for (size_t f = 0; f < sizeof(fills) / sizeof(fills[0]); f++) {
        AUTO_BUF text = BUF_INIT(4u << 20);
        AUTO_BUF out = BUF_INIT(64u << 20);
        int64_t begun = clock_mono_ms(clock_system());

        while (text.n < 300000)
            buf_add_text(&text, fills[f]);
        render(buf_str(&text), 80, true, 4096, &out);
        ASSERT(out.n > 0);
        ASSERT(clock_mono_ms(clock_system()) - begun < 10000);
    }
}
