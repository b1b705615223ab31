/* Colours and the progress bar, on pipes and on a pseudo terminal.
 *
 * SPDX-License-Identifier: MIT
 */
#include <pty.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/alloc.h"
#include "cli/term.h"
#include "harness/test.h"

static FILE *open_terminal(void)
{
    int main_fd, terminal;

    if (openpty(&main_fd, &terminal, NULL, NULL, NULL) < 0)
        SKIP("no pseudo terminal");
    return fdopen(terminal, "w");
}

TEST(a_pipe_gets_no_colours)
{
    FILE *file = tmpfile();

    setenv("TERM", "xterm", 1);
    ASSERT_TEXT(term_style(file, TERM_RED), "");
    ASSERT_TEXT(term_style(file, TERM_PLAIN), "");
    fclose(file);
}

TEST(a_terminal_gets_colours_unless_it_declines)
{
    FILE *terminal = open_terminal();

    unsetenv("NO_COLOR");
    setenv("TERM", "xterm", 1);
    ASSERT_TEXT(term_style(terminal, TERM_RED), "\033[31m");
    setenv("NO_COLOR", "", 1); /* by its convention an empty one means nothing */
    ASSERT(term_colours(terminal));
    setenv("NO_COLOR", "1", 1);
    ASSERT(!term_colours(terminal));
    unsetenv("NO_COLOR");
    setenv("TERM", "dumb", 1);
    ASSERT(!term_colours(terminal));
    unsetenv("TERM");
    ASSERT(!term_colours(terminal));
}

static const char *drawn(struct test *t, bool force, int64_t done, int64_t all)
{
    char *text = arena_alloc(&t->arena, 512, 1);
    FILE *file = fmemopen(text, 511, "w");
    struct term_progress progress;

    if (force)
        term_progress_init(&progress, "journal", file, true);
    else
        progress = (struct term_progress){ .label = "journal" };
    term_progress_update(&progress, done, all);
    term_progress_end(&progress);
    fclose(file);
    return text;
}

TEST(a_bar_shows_how_far_it_is)
{
    ASSERT_CONTAINS(drawn(t, true, 50, 100), "\rjournal [###############...............]  50 %");
    ASSERT_CONTAINS(drawn(t, true, 100, 100), "[##############################] 100 %");
    ASSERT_CONTAINS(drawn(t, true, 0, 0), "[..............................]   0 %");
    ASSERT_TEXT(drawn(t, false, 1, 2), "");
}

TEST(quick_work_draws_nothing_even_on_a_terminal)
{
    FILE *terminal = open_terminal();
    struct term_progress progress;

    term_progress_init(&progress, "x", terminal, false);
    ASSERT(progress.stream == terminal);
    term_progress_update(&progress, 1, 2);
    ASSERT(!progress.drawn);
    term_progress_end(&progress);
}

TEST(a_terminal_has_a_width_and_a_pipe_has_none)
{
    static const struct {
        unsigned short columns;
        int width;
    } cases[] = { { 0, 0 }, { 19, 0 }, { 20, 20 }, { 39, 39 }, { 80, 80 }, { 500, 500 } };
    FILE *pipe = tmpfile();

    ASSERT_EQ(term_width(pipe), 0);
    fclose(pipe);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct winsize size = { .ws_row = 24, .ws_col = cases[i].columns };
        FILE *terminal = open_terminal();

        ASSERT_EQ(ioctl(fileno(terminal), TIOCSWINSZ, &size), 0);
        ASSERT_EQ(term_width(terminal), cases[i].width);
    }
}

TEST(controls_are_shown_and_everything_else_passes)
{
    static const struct {
        const char *text, *shown;
    } cases[] = {
        { "", "" },
        { "plain\ttext\n", "plain\ttext\n" },
        { "\033[31mred", "\\x1b[31mred" },
        { "\a\b\r\177", "\\x07\\x08\\x0d\\x7f" },
        { "\xc2\x9b\x31m", "\\x9b1m" },             /* CSI as one character */
        { "\xc2\x80\xc2\x9f", "\\x80\\x9f" },       /* the ends of C1 */
        { "\xc2\xa0\xc3\xa9", "\xc2\xa0\xc3\xa9" }, /* a space and a letter beyond them */
        { "\xc2", "\\xc2" },                        /* cut off */
        { "a\xe2\x80\xae"
          "b",
          "a\\u{202e}b" }, /* turned around */
        { "a\xe2\x80\x8b"
          "b",
          "a\\u{200b}b" },                                          /* a space without width */
        { "\xf3\xa0\x81\x81", "\\u{e0041}" },                       /* a letter as a tag */
        { "\xe2\x9d\xa4\xef\xb8\x8f", "\xe2\x9d\xa4\xef\xb8\x8f" }, /* an emoji's selector */
        { "\xe2\x82\xac \xf0\x9f\x90\xad", "\xe2\x82\xac \xf0\x9f\x90\xad" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char *text = arena_alloc(&t->arena, 256, 1);
        FILE *file = fmemopen(text, 255, "w");

        term_text(file, cases[i].text);
        fclose(file);
        ASSERT_TEXT(text, cases[i].shown);
    }
}

TEST(text_is_broken_at_spaces_to_fit)
{
    static const struct {
        const char *text;
        int indent, at, width;
        const char *lines;
    } cases[] = {
        { "", 2, 2, 20, "\n" },
        { "one two", 0, 0, 7, "one two\n" },
        { "one two", 0, 0, 6, "one\ntwo\n" },
        { "one two", 0, 1, 7, "one\ntwo\n" },
        { "one two three", 2, 4, 9, "one\n  two\n  three\n" },
        { "  many   spaces ", 0, 0, 20, "many spaces\n" },
        { "a-word-that-is-longer than all", 1, 0, 8, "a-word-that-is-longer\n than\n all\n" },
        { "one two three four five six seven", 4, 4, 0, "one two three four five six seven\n" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO_BUF out = BUF_INIT(256);

        term_wrap(&out, str_from(cases[i].text), cases[i].indent, cases[i].at, cases[i].width);
        ASSERT_TEXT(buf_text(&out), cases[i].lines);
    }
}

TEST(a_note_is_for_terminals_and_goes_away)
{
    FILE *file = tmpfile(), *terminal;
    static const char wanted[] = "journal ...\r           \r";
    char seen[64] = "";
    int main_fd, other;

    term_note(file, "journal");
    term_note(file, NULL);
    ASSERT_EQ(ftell(file), 0);
    fclose(file);
    if (openpty(&main_fd, &other, NULL, NULL, NULL) < 0)
        SKIP("no pseudo terminal");
    terminal = fdopen(other, "w");
    term_note(terminal, "journal");
    term_note(terminal, NULL);
    for (size_t n = 0; n < strlen(wanted); n = strlen(seen))
        ASSERT(read(main_fd, seen + n, sizeof(seen) - 1 - n) > 0);
    ASSERT_TEXT(seen, wanted);
}

TEST(each_style_has_its_code_and_none_in_a_file)
{
    static const struct {
        enum term_style style;
        const char *code;
    } cases[] = {
        { TERM_PLAIN, "\033[0m" }, { TERM_BOLD, "\033[1m" },   { TERM_DIM, "\033[2m" },
        { TERM_RED, "\033[31m" },  { TERM_GREEN, "\033[32m" }, { TERM_YELLOW, "\033[33m" },
    };
    FILE *terminal = open_terminal(), *file = tmpfile();

    unsetenv("NO_COLOR");
    setenv("TERM", "xterm", 1);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        ASSERT_TEXT(term_style(terminal, cases[i].style), cases[i].code);
        ASSERT_TEXT(term_style(file, cases[i].style), "");
    }
    fclose(file);
}

TEST(no_control_character_reaches_the_terminal)
{
    for (int c = 1; c < 0x100; c++) {
        char text[3] = { (char)c, '\0', '\0' }, shown[16] = "";
        FILE *file = fmemopen(shown, sizeof(shown) - 1, "w");
        bool control = (c < 0x20 && c != '\n' && c != '\t') || c == 0x7f;

        if (c >= 0x80 && c < 0xa0)
            memcpy(text, (char[]){ (char)0xc2, (char)c }, 2), control = true;
        else if (c >= 0xa0) /* a byte that is no UTF-8 */
            control = true;
        term_text(file, text);
        fclose(file);
        ASSERT_TEXT(shown, control ? arena_printf(&t->arena, "\\x%02x", c) : text);
    }
}

TEST(the_bar_is_as_long_at_every_percent)
{
    size_t length = strlen(drawn(t, true, 0, 100));

    for (int percent = 0; percent <= 100; percent++) {
        const char *bar = drawn(t, true, percent, 100);
        size_t filled = 0;

        for (const char *p = bar; *p; p++)
            filled += *p == '#';
        ASSERT_EQ(strlen(bar), length);
        ASSERT_EQ(filled, percent * 30 / 100);
        ASSERT_CONTAINS(bar, arena_printf(&t->arena, "] %3d %%", percent));
    }
}
