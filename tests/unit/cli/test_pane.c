/* What a person decides about: all of it is shown, and nothing in it looks like ours.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json.h>
#include <pty.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/json.h"
#include "base/utf8.h"
#include "cli/ask.h"
#include "cli/pane.h"
#include "harness/test.h"

#define GUTTER      "\xe2\x94\x82 " /* │ */
#define GUTTER_MORE "\xe2\x94\x8a " /* ┊ */

static const char *drawn(struct test *t, struct str text, const char *kind)
{
    char *out = NULL;
    size_t n = 0;
    FILE *file = open_memstream(&out, &n);
    struct pane *pane = pane_new(file);
    const char *copy;

    pane_text(pane, str_from(kind), text);
    pane_show(pane, 0);
    pane_free(pane);
    fclose(file);
    copy = arena_text(&t->arena, out);
    free(out);
    return copy;
}

/* Each line of the screen begins with the gutter and fits. */
static size_t lines_behind_gutter(const char *text)
{
    struct str rest = str_from(text), line;
    size_t n = 0;

    while (rest.n && str_split(&rest, '\n', &line)) {
        if (!str_starts(line, STR(GUTTER)) && !str_starts(line, STR(GUTTER_MORE)))
            FAIL("a line without the gutter: %.*s", STR_ARG(line));
        ASSERT(utf8_count(line) <= 100);
        n++;
    }
    return n;
}

TEST(every_class_of_forging_character_is_written_out_behind_the_gutter)
{
    static const struct {
        struct str text;
        const char *shown;
    } cases[] = {
        { { "a\rb", 3 }, GUTTER "a␍b\n" },                         /* back to the margin */
        { { "a\033[2J\033[1;1Hb", 12 }, GUTTER "a␛[2J␛[1;1Hb\n" }, /* moves the cursor */
        { { "\b\b\b", 3 }, GUTTER "␈␈␈\n" },                       /* over the gutter */
        { { "\xc2\x9b"
            "2Ja",
            5 },
          GUTTER "<U+009B>2Ja\n" }, /* CSI of eight bits */
        { { "\x9b"
            "2J",
            3 },
          GUTTER "<9B>2J\n" }, /* ... as a lone byte */
        { { "\v\f\a", 3 }, GUTTER "␋␌␇\n" },
        { { "a\0b", 3 }, GUTTER "a␀b\n" },
        { { "\xe2\x80\xae"
            "cod",
            6 },
          GUTTER "<U+202E>cod\n" }, /* turned around */
        { { "\xe2\x81\xa7x", 4 }, GUTTER "<U+2067>x\n" },
        { { "a\xe2\x80\x8b"
            "b",
            5 },
          GUTTER "a<U+200B>b\n" }, /* zero width */
        { { "\xe2\x80\xa8x\xe2\x80\xa9", 7 },
          GUTTER "<U+2028>x<U+2029>\n" }, /* lines of their own */
        { { "\xc2\x85x", 3 }, GUTTER "<U+0085>x\n" },
        { { "\xf3\xa0\x81\x81", 4 }, GUTTER "<U+E0041>\n" }, /* a tag */
        { { "\xee\x80\x80", 3 }, GUTTER "<U+E000>\n" },      /* looks like anything */
        { { "\xcc\xb8x", 3 }, GUTTER "<U+0338>x\n" },        /* would strike the gutter */
        { { "a\xcc\x81", 3 }, GUTTER "a\xcc\x81\n" },        /* an accent is one */
        { { "a\tb", 3 }, GUTTER "a       b\n" },
        { { "\xe2\x94\x82 x", 5 }, GUTTER "\xe2\x94\x82 x\n" }, /* a bar of its own */
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        ASSERT_TEXT(drawn(t, cases[i].text, "text"), cases[i].shown);
}

TEST(a_here_document_cannot_forge_where_it_runs)
{
    const char *text = drawn(t,
                             STR("cat > x <<EOF\n\n"
                                 "? Run a command\n"
                                 "  directory     /tmp/harmless\n"
                                 "  sandbox       on\n"
                                 "Allow it? yes, no: \n"
                                 "EOF\nrm -r ~\n"),
                             "command");

    ASSERT_EQ(lines_behind_gutter(text), 8);
    ASSERT_CONTAINS(text, GUTTER "  directory     /tmp/harmless\n");
    ASSERT_CONTAINS(text, GUTTER "rm -r ~\n");
}

TEST(a_line_of_five_thousand_bytes_is_shown_whole_behind_the_gutter)
{
    AUTO_BUF line = BUF_INIT(10000);
    AUTO_BUF again = BUF_INIT(10000);
    struct str rest, one;
    const char *text;

    for (int i = 0; line.n < 4990; i++)
        buf_printf(&line, "word%d ", i);
    buf_add_text(&line, "; touch end");
    text = drawn(t, buf_str(&line), "command");
    ASSERT(lines_behind_gutter(text) > 50);
    rest = str_from(text);
    while (rest.n && str_split(&rest, '\n', &one))
        buf_add_str(&again, str_skip(one, strlen(GUTTER)));
    ASSERT_STR(buf_str(&again), buf_text(&line));
}

TEST(wide_characters_are_counted_as_wide)
{
    AUTO_BUF line = BUF_INIT(10000);
    const char *text;

    for (int i = 0; i < 120; i++)
        buf_add_text(&line, "漢");
    text = drawn(t, buf_str(&line), "text");
    ASSERT_EQ(lines_behind_gutter(text), 3);
}

TEST(three_thousand_lines_and_empty_ones_are_all_there)
{
    AUTO_BUF lines = BUF_INIT(100000);
    const char *text;

    for (int i = 0; i < 3000; i++)
        buf_printf(&lines, i % 2 ? "\n" : "+%d\n", i);
    buf_add_text(&lines, "\n\n");
    text = drawn(t, buf_str(&lines), "diff");
    ASSERT_EQ(lines_behind_gutter(text), 3002);
    ASSERT_CONTAINS(text, GUTTER "+2998\n" GUTTER "\n" GUTTER "\n" GUTTER "\n");
}

TEST(a_fact_that_is_too_long_stays_in_its_column)
{
    char *out = NULL;
    size_t n = 0;
    FILE *file = open_memstream(&out, &n);
    struct pane *pane = pane_new(file);
    AUTO_BUF value = BUF_INIT(1000);

    for (int i = 0; i < 84; i++)
        buf_add_char(&value, 'x');
    buf_add_text(&value, "directory     /etc\nsandbox       on");
    pane_fact(pane, STR("the agent says"), buf_str(&value), false);
    pane_show(pane, 0);
    pane_free(pane);
    fclose(file);
    ASSERT(!strstr(out, "\n  directory") && !strstr(out, "\ndirectory"));
    ASSERT(!strstr(out, "\n  sandbox") && !strstr(out, "\nsandbox"));
    ASSERT_CONTAINS(out, "\n                ");
    free(out);
}

/* ---- words ---- */

#define ALL                                                                                        \
    (1u << ASK_YES | 1u << ASK_NO | 1u << ASK_EDIT | 1u << ASK_RUN | 1u << ASK_ALWAYS |            \
     1u << ASK_SHOW | 1u << ASK_HELP)

TEST(only_whole_words_decide)
{
    static const struct {
        const char *line;
        enum ask_word word;
        const char *reason;
    } cases[] = {
        { "yes", ASK_YES, "" },
        { " YES\t", ASK_YES, "" },
        { "approve", ASK_YES, "" },
        { "no", ASK_NO, "" },
        { "Reject", ASK_NO, "" },
        { "no, not today", ASK_NO, "not today" },
        { "no because of the cat", ASK_NO, "because of the cat" },
        { "edit", ASK_EDIT, "" },
        { "run", ASK_RUN, "" },
        { "for this run", ASK_RUN, "" },
        { "Always", ASK_ALWAYS, "" },
        { "show", ASK_SHOW, "" },
        { "?", ASK_HELP, "" },
        /* The letters that once meant one thing in `run` and another in `chat`. */
        { "a", ASK_NONE, "" },
        { "r", ASK_NONE, "" },
        { "y", ASK_NONE, "" },
        { "n", ASK_NONE, "" },
        { "e", ASK_NONE, "" },
        { "", ASK_NONE, "" },
        { "also please", ASK_NONE, "" },
        { "always ask me first", ASK_NONE, "" },
        { "run it somewhere else", ASK_NONE, "" },
        { "yes, but not here", ASK_NONE, "" },
        { "ye", ASK_NONE, "" },
        { "yes.", ASK_NONE, "" },
        { "now what?", ASK_NONE, "" },
        { "nope", ASK_NONE, "" },
        { "edit it", ASK_NONE, "" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct str reason;
        enum ask_word word = ask_word_of(str_from(cases[i].line), ALL, &reason);

        if (word != cases[i].word)
            FAIL("\"%s\" is word %d", cases[i].line, (int)word);
        ASSERT_STR(reason, cases[i].reason);
    }
}

TEST(a_word_that_is_not_offered_is_none)
{
    struct str reason;

    ASSERT_EQ(ask_word_of(STR("always"), 1u << ASK_YES, &reason), ASK_NONE);
    ASSERT_EQ(ask_word_of(STR("no, why"), 1u << ASK_YES, &reason), ASK_NONE);
}

/* ---- a question on a terminal ---- */

struct screen {
    int main_fd;
    FILE *out;
    struct ask ask;
};

static void ask_on(struct test *t, struct screen *screen, const char *json)
{
    struct winsize size = { .ws_col = 80, .ws_row = 24 };
    struct json_object *item = NULL;
    int fd;

    if (openpty(&screen->main_fd, &fd, NULL, NULL, &size) < 0)
        SKIP("no pseudo terminal");
    setenv("TERM", "dumb", 1);
    screen->out = fdopen(fd, "w");
    ASSERT_OK(json_parse(str_from(json), &item, &t->err));
    ask_begin(&screen->ask, screen->out, item, 0);
}

static void drain(struct screen *screen)
{
    char drop[65536];

    fflush(screen->out);
    if (read(screen->main_fd, drop, sizeof(drop)) < 0)
        abort();
}

static void close_screen(struct screen *screen)
{
    ask_release(&screen->ask);
    fclose(screen->out);
    close(screen->main_fd);
}

static const char *long_item(struct test *t, const char *danger)
{
    AUTO_BUF json = BUF_INIT(100000);

    buf_printf(&json,
               "{\"kind\":\"tool\",\"title\":\"Run\",\"previewKind\":\"command\"%s,"
               "\"preview\":\"",
               danger);
    for (int i = 0; i < 100; i++)
        buf_printf(&json, "echo %d\\n", i);
    buf_add_text(&json, "\"}");
    return arena_text(&t->arena, buf_text(&json));
}

TEST(nothing_is_approved_before_the_end_was_shown)
{
    struct screen screen;
    struct decide decide;
    int pages = 1;

    ask_on(t, &screen, long_item(t, ""));
    ASSERT(ask_is_paging(&screen.ask));
    ASSERT_EQ(ask_take(&screen.ask, STR("yes"), &decide), ASK_AGAIN);
    ASSERT_EQ(ask_take(&screen.ask, STR("always"), &decide), ASK_AGAIN);
    ASSERT_EQ(ask_take(&screen.ask, STR("edit"), &decide), ASK_AGAIN);
    while (ask_is_paging(&screen.ask)) {
        drain(&screen);
        ASSERT_EQ(ask_take(&screen.ask, STR(""), &decide), ASK_AGAIN);
        pages++;
    }
    ASSERT_EQ(pages, 5); /* of 22 lines */
    ASSERT_EQ(ask_take(&screen.ask, STR("yes"), &decide), ASK_DECIDED);
    ASSERT_TEXT(decide.decision, "approve");
    close_screen(&screen);
}

TEST(a_no_needs_no_reading)
{
    struct screen screen;
    struct decide decide;

    ask_on(t, &screen, long_item(t, ""));
    ASSERT_EQ(ask_take(&screen.ask, STR("no, too long"), &decide), ASK_DECIDED);
    ASSERT_TEXT(decide.decision, "reject");
    ASSERT_TEXT(decide.reason, "too long");
    close_screen(&screen);
}

#define DANGER ",\"danger\":[\"One place of the text is suspicious.\"]"

#define CHOICES ",\"choices\":[{\"scope\":\"once\"},{\"scope\":\"run\"},{\"scope\":\"always\"}]"

/* What always asks takes no word that would spare the next question. */
TEST(only_the_scopes_that_an_item_offers_are_words)
{
    static const struct {
        const char *choices, *said;
        enum ask_result result;
    } cases[] = { { CHOICES, "run", ASK_DECIDED },
                  { CHOICES, "always", ASK_DECIDED },
                  { ",\"choices\":[{\"scope\":\"once\"}]", "run", ASK_AGAIN },
                  { ",\"choices\":[{\"scope\":\"once\"}]", "always", ASK_AGAIN },
                  { "", "for this run", ASK_AGAIN },
                  { "", "yes", ASK_DECIDED } };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct screen screen;
        struct decide decide;

        ask_on(t, &screen,
               arena_printf(&t->arena,
                            "{\"kind\":\"tool\",\"title\":\"Send\",\"preview\":\"hi\"%s}",
                            cases[i].choices));
        ASSERT_EQ(ask_take(&screen.ask, str_from(cases[i].said), &decide), cases[i].result);
        close_screen(&screen);
    }
}

TEST(what_is_dangerous_takes_a_second_word)
{
    static const char *const firsts[] = { "yes", "run", "always", "edit" };
    static const char *const scopes[] = { NULL, "run", "always", NULL };
    const char *item = "{\"kind\":\"tool\",\"title\":\"Run\",\"preview\":\"ls\"" CHOICES DANGER "}";

    for (size_t i = 0; i < ARRAY_LEN(firsts); i++) {
        struct screen screen;
        struct decide decide;

        ask_on(t, &screen, item);
        ASSERT_EQ(ask_take(&screen.ask, STR("anyway"), &decide), ASK_AGAIN);
        ASSERT_EQ(ask_take(&screen.ask, str_from(firsts[i]), &decide), ASK_AGAIN);
        ASSERT_EQ(ask_take(&screen.ask, str_from(firsts[i]), &decide), ASK_AGAIN);
        ASSERT_EQ(ask_take(&screen.ask, STR("anyway"), &decide), ASK_AGAIN); /* asked anew */
        ASSERT_EQ(ask_take(&screen.ask, str_from(firsts[i]), &decide), ASK_AGAIN);
        ASSERT_EQ(ask_take(&screen.ask, STR("anyway"), &decide),
                  i == 3 ? ASK_EDITING : ASK_DECIDED);
        ASSERT_TEXT(decide.decision, i == 3 ? "edit" : "approve");
        ASSERT(!decide.scope == !scopes[i]);
        ASSERT(decide.anyway);
        close_screen(&screen);
    }
}

TEST(a_question_is_answered_in_own_words_or_by_number)
{
    const char *item = "{\"kind\":\"question\",\"title\":\"Q\",\"body\":{\"question\":\"Which?\","
                       "\"choices\":[\"red\",\"blue\"]}}";
    struct screen screen;
    struct decide decide;

    ask_on(t, &screen, item);
    ASSERT_EQ(ask_take(&screen.ask, STR("2"), &decide), ASK_DECIDED);
    ASSERT_TEXT(decide.answer, "blue");
    ASSERT_EQ(ask_take(&screen.ask, STR("yes"), &decide), ASK_DECIDED);
    ASSERT_TEXT(decide.answer, "yes");
    close_screen(&screen);
}
