/* SPDX-License-Identifier: MIT */
#include "base/utf8.h"
#include "harness/test.h"
#include "skill/skill_int.h"

static const char *normal(struct test *t, const char *text)
{
    char name[SKILL_NAME_BYTES];
    struct err err = ERR_INIT;

    if (skill_normalise_name(str_from(text), name, &err) < 0) {
        ASSERT_EQ(err.code, ERR_BAD_REQUEST);
        return "";
    }
    return arena_text(&t->arena, name);
}

static const char *composed(struct test *t, const char *text)
{
    struct str name = name_compose(str_from(text), &t->arena);

    return arena_str(&t->arena, name).p;
}

static size_t problems_of(struct test *t, const char *name, const char *directory,
                          const char **ret_first)
{
    struct problems problems = { .arena = &t->arena };

    name_check(str_from(name), str_from(directory), &problems);
    *ret_first = problems.n ? arena_str(&t->arena, problems.items[0].text).p : "";
    return problems.n;
}

TEST(what_a_person_types_becomes_a_name)
{
    ASSERT_TEXT(normal(t, "PDF Processing"), "pdf-processing");
    ASSERT_TEXT(normal(t, "  Weekly   Review!  "), "weekly-review");
    ASSERT_TEXT(normal(t, "a_b.c/d"), "a-b-c-d");
    ASSERT_TEXT(normal(t, "--already--there--"), "already-there");
    ASSERT_TEXT(normal(t, "Übung für Größen"), "übung-für-größen");
    ASSERT_TEXT(normal(t, "МОЙ Навык"), "мой-навык");
    ASSERT_TEXT(normal(t, "ＦＵＬＬ"), "full");
    ASSERT_TEXT(normal(t, "2026"), "2026");
}

TEST(nothing_is_left_of_a_name_without_letters)
{
    ASSERT_TEXT(normal(t, ""), "");
    ASSERT_TEXT(normal(t, "!!! 🎉 ---"), "");
    ASSERT_TEXT(normal(t, "\xff\xfe"), "");
}

TEST(a_name_of_more_than_64_characters_is_refused_and_not_cut)
{
    char name[SKILL_NAME_BYTES], text[301];
    struct err err = ERR_INIT;

    memset(text, 'a', 300);
    text[300] = '\0';
    ASSERT_TEXT(normal(t, text), "");
    ASSERT_EQ(skill_normalise_name(str_of(text, 65), name, &err), -1);
    ASSERT_TEXT(err_message(&err, 0), arena_printf(&t->arena,
                                                   "name: \"%.65s\" has more than the 64 "
                                                   "characters allowed",
                                                   text));
    text[64] = '\0';
    ASSERT_TEXT(normal(t, text), text);
    /* The hyphen counts, and what is left out at the ends does not. */
    text[63] = '\0';
    ASSERT_TEXT(normal(t, arena_printf(&t->arena, "%s b", text)), "");
    ASSERT_TEXT(normal(t, arena_printf(&t->arena, " %s ! ", text)), text);
}

TEST(a_name_is_counted_in_characters_not_bytes)
{
    AUTO_BUF long_name = BUF_INIT(1024);

    for (int i = 0; i < 64; i++)
        buf_add_text(&long_name, "能");
    ASSERT_TEXT(normal(t, arena_str(&t->arena, buf_str(&long_name)).p),
                arena_str(&t->arena, buf_str(&long_name)).p);
    buf_add_text(&long_name, "я");
    ASSERT_TEXT(normal(t, arena_str(&t->arena, buf_str(&long_name)).p), "");
}

TEST(every_normalised_name_is_valid)
{
    static const char *const texts[] = {
        "PDF Processing", "x", "é--É", "ǅ Ǆ", "ĳ 2²", "İstanbul", "a\xcc\x82\xcc\xa3", "技能 книга"
    };

    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        const char *name = normal(t, texts[i]), *first;

        if (problems_of(t, name, name, &first) != 0)
            FAIL("\"%s\" became \"%s\": %s", texts[i], name, first);
    }
}

TEST(composing_gives_form_nfkc)
{
    ASSERT_TEXT(composed(t, "cafe\xcc\x81"), "caf\xc3\xa9");
    ASSERT_TEXT(composed(t, "caf\xc3\xa9"), "caf\xc3\xa9");
    /* Circumflex and dot below in either order: one letter. */
    ASSERT_TEXT(composed(t, "a\xcc\x82\xcc\xa3"), "\xe1\xba\xad");
    ASSERT_TEXT(composed(t, "a\xcc\xa3\xcc\x82"), "\xe1\xba\xad");
    /* A mark of the same class between keeps the second from composing. */
    ASSERT_TEXT(composed(t, "q\xcc\x83"), "q\xcc\x83");
    ASSERT_TEXT(composed(t, "\xef\xac\x81le"), "file");
    ASSERT_TEXT(composed(t, "x\xc2\xb2"), "x2");
    ASSERT_TEXT(composed(t, "\xe2\x84\xaa"), "K");
    ASSERT_TEXT(composed(t, "\xcc\x81x"), "\xcc\x81x");
    ASSERT_TEXT(composed(t, ""), "");
}

TEST(good_names_have_no_problem)
{
    static const char *const names[] = {
        "a", "a1", "my-skill", "技能", "мой-навык", "éclair", "42"
    };
    const char *first;

    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        ASSERT_EQ(problems_of(t, names[i], names[i], &first), 0);
    ASSERT_EQ(problems_of(t, "my-skill", "", &first), 0);
    ASSERT_EQ(problems_of(t, "caf\xc3\xa9", "cafe\xcc\x81", &first), 0);
}

TEST(each_rule_of_a_name_has_its_own_problem)
{
    const char *first;
    char text[66];

    ASSERT_EQ(problems_of(t, "MySkill", "MySkill", &first), 1);
    ASSERT_CONTAINS(first, "lower case");
    ASSERT_EQ(problems_of(t, "НАВЫК", "НАВЫК", &first), 1);
    ASSERT_CONTAINS(first, "lower case");
    ASSERT_EQ(problems_of(t, "-x", "-x", &first), 1);
    ASSERT_CONTAINS(first, "begin or end");
    ASSERT_EQ(problems_of(t, "x-", "x-", &first), 1);
    ASSERT_CONTAINS(first, "begin or end");
    ASSERT_EQ(problems_of(t, "x--y", "x--y", &first), 1);
    ASSERT_CONTAINS(first, "two hyphens");
    ASSERT_EQ(problems_of(t, "x_y", "x_y", &first), 1);
    ASSERT_CONTAINS(first, "other characters");
    ASSERT_EQ(problems_of(t, "x", "y", &first), 1);
    ASSERT_CONTAINS(first, "name of its directory, \"y\"");
    memset(text, 'a', 65);
    text[65] = '\0';
    ASSERT_EQ(problems_of(t, text, text, &first), 1);
    ASSERT_CONTAINS(first, "65 characters; at most 64");
}

TEST(hostile_names_are_told_short_and_whole)
{
    static char text[20001];
    const char *first;

    memset(text, '<', 20000);
    ASSERT(problems_of(t, text, "x", &first) >= 2);
    ASSERT(strlen(first) < 1024);
    ASSERT(problems_of(t, "\xff\xff", "x", &first) >= 1);
    ASSERT_EQ(utf8_valid(str_from(first)), true);
}

TEST(lengths_count_as_utf16_does)
{
    ASSERT_EQ(text_units(STR("abc")), 3);
    ASSERT_EQ(text_units(str_from("é技")), 2);
    ASSERT_EQ(text_units(str_from("🎉")), 2);
}
