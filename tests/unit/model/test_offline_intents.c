/* Every row of the table of intents, asked for by a sentence of
 * tests/fixtures/offline_sentences.txt: a sentence, a tab, and how the first line of the answer
 * begins. DORMOUSE_TEST_WRITE=1 writes the answers down anew.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/limits.h"
#include "offline_rig.h"

#define ROWS_MAX     400
#define TOOLS_MAX    40
#define ANSWER_BYTES 90

struct book {
    struct test *t;
    struct model_tool tools[TOOLS_MAX];
    size_t tool_count;
    bool asked[ROWS_MAX];
    FILE *written; /* NULL: they are compared */
};

static bool mark_row(struct book *book, const struct offline_words *words)
{
    struct offline_match match;

    for (size_t i = 0; offline_intents[i].pattern; i++)
        if (offline_match(offline_intents[i].pattern, words, &match))
            return book->asked[i] = true;
    return false;
}

/* The row that it is understood by: without its polite words, or else with them. */
static void mark(struct book *book, const char *said)
{
    struct offline_words words, as_said;

    offline_words_split(str_from(said), &book->t->arena, &as_said);
    words = as_said;
    offline_words_unpolite(&words);
    if (!mark_row(book, &words))
        mark_row(book, &as_said);
}

static void ask_line(struct book *book, const char *line)
{
    struct test *t = book->t;
    const char *tab = strchr(line, '\t'), *said, *answer;

    ASSERT(tab != NULL);
    said = arena_printf(&t->arena, "%.*s", (int)(tab - line), line);
    answer = rig_ask(t, book->tools, book->tool_count, said);
    answer = arena_printf(&t->arena, "%.*s", (int)strcspn(answer, "\n"), answer);
    if (strlen(answer) > ANSWER_BYTES)
        answer = arena_printf(&t->arena, "%.*s", ANSWER_BYTES, answer);
    mark(book, said);
    if (book->written)
        fprintf(book->written, "%s\t%s\n", said, answer);
    else if (strcmp(answer, tab + 1) != 0)
        test_case_failed("\"%s\" ->\n  %s\nexpected\n  %s", said, answer, tab + 1);
    else
        test_case_passed();
}

TEST(every_row_of_the_table_answers_as_it_is_written_down)
{
    const char *path =
        arena_printf(&t->arena, "%s/tests/fixtures/offline_sentences.txt", test_source_root());
    AUTO_BUF text = BUF_INIT(MIB);
    struct book book = { .t = t };
    struct str rest, line;

    ASSERT_OK(file_read(path, &text, &t->err));
    for (size_t i = 0; i < rig_hands_count; i++)
        book.tools[book.tool_count++] = rig_hands[i];
    for (size_t i = 0; i < rig_journal_count; i++)
        book.tools[book.tool_count++] = rig_journal[i];
    if (getenv("DORMOUSE_TEST_WRITE"))
        book.written = fopen(path, "we");
    for (rest = buf_str(&text); rest.n && str_split(&rest, '\n', &line);)
        if (line.n)
            ask_line(&book, arena_printf(&t->arena, "%.*s", STR_ARG(line)));
    for (size_t i = 0; offline_intents[i].pattern; i++)
        if (!book.asked[i])
            test_case_failed("no sentence asks for \"%s\"", offline_intents[i].pattern);
    if (book.written)
        fclose(book.written);
}
