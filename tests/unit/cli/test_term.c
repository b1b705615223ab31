/* Colours and the progress bar, on pipes and on a pseudo terminal.
 *
 * SPDX-License-Identifier: MIT
 */
#include <pty.h>
#include <stdio.h>
#include <unistd.h>

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
