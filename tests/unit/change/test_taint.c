/* Where text came from: lists, words, and whose words are left.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/redact.h"
#include "change/taint.h"
#include "harness/test.h"

static const char *warning(struct test *t, const char *taint)
{
    AUTO_BUF out = BUF_INIT(1 << 16);

    taint_warning(str_from(taint), &out);
    return arena_text(&t->arena, buf_text(&out));
}

TEST(a_label_holds_no_secret_not_even_a_part_of_one)
{
    char label[200];

    snprintf(label, sizeof(label), "%-70s correct-horse-battery", "Ann");
    ASSERT_OK(redact_register(STR("correct-horse-battery")));
    for (size_t cut = 0; cut < 70; cut++) {
        struct str source = taint_source(TAINT_SLACK, str_from(label + cut), &t->arena);

        ASSERT(str_find(source, STR("corr")) < 0);
    }
    redact_forget(STR("correct-horse-battery"));
    ASSERT_STR(taint_source(TAINT_SLACK, STR("GOCSPX-0123456789abcdefghijklmnop"), &t->arena),
               "slack:" REDACT_MARK);
}

TEST(every_strangers_kind_warns_by_name_and_no_other_does)
{
    for (int kind = TAINT_OTHER; kind < TAINT_KINDS_END; kind++) {
        struct str source = taint_source((enum taint_kind)kind, STR("Ann & co"), &t->arena);
        bool warns = taint_kind_warns((enum taint_kind)kind);

        ASSERT_EQ(taint_warns(source), warns);
        ASSERT_EQ(strstr(warning(t, source.p), "Ann & co") != NULL, warns);
        ASSERT(!warns || taint_blocks(source));
    }
    for (int kind = TAINT_FILE; kind <= TAINT_SLOTS; kind++)
        ASSERT(!taint_kind_warns((enum taint_kind)kind));
    for (int kind = TAINT_CALENDAR; kind < TAINT_KINDS_END; kind++)
        ASSERT(taint_kind_warns((enum taint_kind)kind));
    ASSERT(taint_warns(STR("a_tool_of_somebody_else")));
    ASSERT(!taint_warns(STR("")) && !taint_blocks(STR("")));
}

TEST(taints_are_joined_in_order_without_repetition)
{
    ASSERT_STR(taint_join(STR("web"), STR("file"), &t->arena), "file,web");
    ASSERT_STR(taint_join(STR("file,web"), STR("web"), &t->arena), "file,web");
    ASSERT_STR(taint_join(STR_NONE, STR("mcp,file,mcp"), &t->arena), "file,mcp");
    ASSERT_STR(taint_join(STR("mail:b"), STR("mail:a,file"), &t->arena), "file,mail:a,mail:b");
    ASSERT_EQ(taint_join(STR_NONE, STR_NONE, &t->arena).n, 0);
}

TEST(a_list_stays_short_and_keeps_every_kind)
{
    struct str list = STR("webhook:ci");
    char label[TAINT_LABEL_MAX + 1];

    for (int i = 0; i < 5000; i++) {
        memset(label, 'x', sizeof(label));
        snprintf(label, sizeof(label), "%078d", i);
        list = taint_join(
            list,
            taint_source((enum taint_kind)(TAINT_CALENDAR + i % 7), str_from(label), &t->arena),
            &t->arena);
    }
    ASSERT(list.n <= TAINT_MAX);
    for (int kind = TAINT_CALENDAR; kind < TAINT_CALENDAR + 7; kind++)
        ASSERT(str_find(list, str_from(taint_kind_name((enum taint_kind)kind))) >= 0);
    ASSERT(str_find(list, STR("webhook")) >= 0);
}

/* A sender chooses their name: it can't add a source, end ours, or turn the line around. */
TEST(a_label_is_one_line_and_no_source_of_its_own)
{
    struct str source = taint_source(TAINT_MAIL, STR("Ann,file\n\xE2\x80\xAE<a@b>"), &t->arena);

    ASSERT(str_find_char(source, ',') < 0 && str_find_char(source, '\n') < 0);
    ASSERT(str_find(source, STR("\xE2\x80\xAE")) < 0);
    ASSERT(taint_warns(source));
    ASSERT_STR(taint_source(TAINT_MAIL, STR(" \n "), &t->arena), "mail");
}

TEST(a_warning_names_the_first_and_counts_the_rest)
{
    ASSERT_TEXT(warning(t, "file,mail:a@b"),
                "Text that others wrote was read before this was asked, and may have steered the "
                "agent: mail from a@b.");
    ASSERT_CONTAINS(warning(t, "mail:a,mail:b,mail:c,mail:d,mail:e,webhook"), "; and 2 more.");
    ASSERT_TEXT(warning(t, "command,file,journal"), "");
}

TEST(own_words_replace_and_corrections_do_not)
{
    ASSERT(taint_stays(STR("Send the money"), STR("send the MONEY now")));
    ASSERT(taint_stays(STR("caf\xC3\xA9 visit"), STR("Caf\xC3\xA9")));
    ASSERT(taint_stays(STR("\xE6\xB0\xB4\xE6\x9B\x9C"), STR("\xE6\x9B\x9C")));
    ASSERT(!taint_stays(STR("Send the money"), STR("Buy milk")));
    ASSERT(!taint_stays(STR("a b c"), STR("a b c")));
    ASSERT(!taint_stays(STR("Send"), STR("")));
}

TEST(a_warning_covers_what_it_named)
{
    static const struct {
        const char *shown, *now;
        bool covers;
    } cases[] = {
        { "", "", true },
        { "", "file,journal,command:ls", true }, /* nobody is warned of these */
        { "", "mail", false },
        { "mail", "mail", true },
        { "mail", "", true },
        { "mail", "web", false },
        { "mail:ann", "mail:bob", false },
        { "mail:ann,mail:bob", "file,mail:bob", true },
        { "mail", "mail:bob", false },
        { "", "some_tool", false }, /* a kind that nobody knows is a stranger's */
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        ASSERT_EQ(taint_covers(str_from(cases[i].shown), str_from(cases[i].now)), cases[i].covers);
    for (enum taint_kind kind = 1; kind < TAINT_KINDS_END; kind++)
        ASSERT_EQ(taint_covers(STR_NONE, str_from(taint_kind_name(kind))), !taint_kind_warns(kind));
}
