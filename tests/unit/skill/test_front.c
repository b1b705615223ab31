/* SPDX-License-Identifier: MIT */
#include <json-c/json.h>

#include "base/json.h"
#include "harness/test.h"
#include "skill/skill_int.h"

#define HEAD "---\nname: my-skill\ndescription: A test skill\n"

static struct skill parse(struct test *t, const char *text)
{
    struct skill skill;

    ASSERT_OK(skill_parse(str_from(text), &t->arena, &skill, &t->err));
    return skill;
}

static const char *refusal(struct test *t, struct str text)
{
    struct skill skill = { .enabled = false };

    err_reset(&t->err);
    ASSERT_FAILS(skill_parse(text, &t->arena, &skill, &t->err), ERR_BAD_REQUEST);
    ASSERT(!skill.name.p); /* results are untouched on failure */
    return arena_text(&t->arena, err_message(&t->err, 0));
}

TEST(all_fields_are_read)
{
    struct skill skill = parse(t, HEAD "license: Apache-2.0\ncompatibility: Requires git\n"
                                       "metadata:\n  author: me\n  version: \"1.0\"\n"
                                       "allowed-tools: Bash(git add:*) Read, Grep\n"
                                       "---\n\n# Title\n\nDo it.\n\n");

    ASSERT_STR(skill.name, "my-skill");
    ASSERT_STR(skill.description, "A test skill");
    ASSERT_STR(skill.license, "Apache-2.0");
    ASSERT_STR(skill.compatibility, "Requires git");
    ASSERT_STR(skill.metadata, "{\"author\":\"me\",\"version\":\"1.0\"}");
    ASSERT_STR(skill.allowed_tools, "[\"Bash(git add:*)\",\"Read\",\"Grep\"]");
    ASSERT_STR(skill.instructions, "# Title\n\nDo it.");
    ASSERT(skill.enabled);
}

TEST(what_is_not_given_is_empty)
{
    struct skill skill = parse(t, HEAD "---\n");

    ASSERT_EQ(skill.license.n + skill.compatibility.n + skill.instructions.n, 0);
    ASSERT_STR(skill.metadata, "{}");
    ASSERT_STR(skill.allowed_tools, "[]");
}

TEST(a_rule_in_the_body_stays_in_the_body)
{
    struct skill skill = parse(t, HEAD "---\none\n\n---\n\ntwo\n");

    ASSERT_STR(skill.instructions, "one\n\n---\n\ntwo");
}

TEST(lines_may_end_with_carriage_return_and_line_feed)
{
    struct skill skill =
        parse(t, "---\r\nname: my-skill\r\ndescription: A test skill\r\n---\r\nBody\r\n");

    ASSERT_STR(skill.description, "A test skill");
    ASSERT_STR(skill.instructions, "Body");
}

TEST(metadata_values_become_text)
{
    struct skill skill =
        parse(t, HEAD "metadata:\n  n: 3\n  yes: true\n  none:\n  list: [1, 2]\n---\n");

    ASSERT_STR(skill.metadata, "{\"n\":\"3\",\"yes\":\"true\",\"none\":\"\",\"list\":\"[1,2]\"}");
}

TEST(metadata_that_is_no_map_is_left_out)
{
    ASSERT_STR(parse(t, HEAD "metadata: none\n---\n").metadata, "{}");
    ASSERT_STR(parse(t, HEAD "metadata: [a]\n---\n").metadata, "{}");
}

TEST(tools_may_be_a_list)
{
    ASSERT_STR(parse(t, HEAD "allowed-tools: [Read, 'Bash(ls)']\n---\n").allowed_tools,
               "[\"Read\",\"Bash(ls)\"]");
    ASSERT_STR(parse(t, HEAD "allowed-tools: ''\n---\n").allowed_tools, "[]");
    ASSERT_STR(parse(t, HEAD "allowed-tools: 'a)b c(d e'\n---\n").allowed_tools,
               "[\"a)b\",\"c(d e\"]");
}

TEST(every_problem_is_told_with_its_line)
{
    const char *text = refusal(t, STR("---\nname: My_Skill\ndescription: ''\ncompatibility: 3\n"
                                      "zebra: 1\nant: 2\n---\n"));

    ASSERT_CONTAINS(text, "unexpected fields: ant, zebra; allowed are name");
    ASSERT_CONTAINS(text, "lower case");
    ASSERT_CONTAINS(text, "other characters");
    ASSERT_CONTAINS(text, "SKILL.md:3: description: must be text and not empty");
    ASSERT_CONTAINS(text, "SKILL.md:4: compatibility: must be text");
}

TEST(a_file_without_front_matter_is_refused)
{
    ASSERT_CONTAINS(refusal(t, STR("")), "must begin with a line of three hyphens");
    ASSERT_CONTAINS(refusal(t, STR("# Title\n")), "must begin with a line of three hyphens");
    ASSERT_CONTAINS(refusal(t, STR("\xef\xbb\xbf" HEAD "---\n")), "must begin with");
    ASSERT_CONTAINS(refusal(t, STR(HEAD)), "not closed");
    ASSERT_CONTAINS(refusal(t, STR("---")), "not closed");
    ASSERT_CONTAINS(refusal(t, STR("---\n---\n")), "name: is missing");
    ASSERT_CONTAINS(refusal(t, STR("---\n- a\n---\n")), "must be a mapping");
    ASSERT_CONTAINS(refusal(t, STR("---\ntext\n---\n")), "must be a mapping");
}

TEST(hyphens_inside_the_front_matter_are_named_with_their_line)
{
    ASSERT_CONTAINS(refusal(t, STR(HEAD "license: a --- b\n---\n")), "SKILL.md:4: three hyphens");
    ASSERT_CONTAINS(refusal(t, STR(HEAD "----\n")), "SKILL.md:4: three hyphens");
    ASSERT_CONTAINS(refusal(t, STR("--- x\n" HEAD "---\n")), "nothing may follow");
}

TEST(broken_yaml_is_told_with_its_place)
{
    ASSERT_CONTAINS(refusal(t, STR("---\nname: [x\n---\n")), "no valid YAML: SKILL.md:");
    ASSERT_CONTAINS(refusal(t, STR(HEAD "name: other\n---\n")), "SKILL.md:4:");
    ASSERT_CONTAINS(refusal(t, STR(HEAD "x: &x [*x]\n---\n")), "SKILL.md:4:");
    ASSERT_CONTAINS(refusal(t, STR("---\nname: !!python/object x\n---\n")), "SKILL.md:2:");
}

TEST(an_anchor_bomb_costs_nothing)
{
    AUTO_BUF text = BUF_INIT(1 << 16);

    buf_add_text(&text, HEAD "metadata:\n  a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for (int i = 1; i < 30; i++) {
        buf_printf(&text, "  a%d: &a%d [", i, i);
        for (int k = 0; k < 10; k++)
            buf_printf(&text, "%s*a%d", k ? ", " : "", i - 1);
        buf_add_text(&text, "]\n");
    }
    buf_add_text(&text, "---\n");
    ASSERT_CONTAINS(refusal(t, buf_str(&text)), "no valid YAML");
    ASSERT(t->arena.total < 1 << 20);
}

TEST(bytes_that_no_reader_should_see_are_refused)
{
    ASSERT_CONTAINS(refusal(t, STR("---\nname: my-skill\ndescription: a\0b\n---\n")),
                    "SKILL.md:3: the front matter holds a control character (U+0000)");
    ASSERT_CONTAINS(refusal(t, STR("---\nname: my-skill\ndescription: a\x1b[0mb\n---\n")),
                    "U+001B");
    ASSERT_CONTAINS(refusal(t, STR(HEAD "---\ncaf\xe9\n")), "SKILL.md:5: is not valid UTF-8");
    ASSERT_CONTAINS(refusal(t, STR(HEAD "---\n\xc0\xaf\n")), "not valid UTF-8");
}

TEST(a_text_over_the_limit_is_not_even_read)
{
    size_t n = SKILL_TEXT_MAX + 1;
    char *text = arena_alloc(&t->arena, n, 1);

    memset(text, 'x', n);
    memcpy(text, HEAD "---\n", sizeof(HEAD "---\n") - 1);
    ASSERT_CONTAINS(refusal(t, str_of(text, n)), "at most 1048576 are allowed");
    parse(t, arena_copy(&t->arena, text, SKILL_TEXT_MAX));
}

TEST(a_date_needs_quotes_to_be_a_name)
{
    ASSERT_CONTAINS(refusal(t, STR("---\nname: 2026-01-31\ndescription: x\n---\n")), "a date");
    ASSERT_STR(parse(t, "---\nname: '2026-01-31'\ndescription: x\n---\n").name, "2026-01-31");
    ASSERT_STR(parse(t, "---\nname: 2026-01-31x\ndescription: x\n---\n").name, "2026-01-31x");
}

TEST(limits_of_description_and_compatibility_are_exact)
{
    AUTO_BUF text = BUF_INIT(8192);

    for (int n = 1024; n <= 1025; n++) {
        buf_clear(&text);
        buf_printf(&text, "---\nname: x\ndescription: %0*d\n---\n", n, 1);
        /* A number of a thousand digits is refused by its own reader. */
        text.p[25] = 'a';
        if (n == 1024)
            ASSERT_EQ(parse(t, buf_text(&text)).description.n, 1024);
        else
            ASSERT_CONTAINS(refusal(t, buf_str(&text)), "1025 characters; at most 1024");
    }
    for (int n = 500; n <= 501; n++) {
        buf_clear(&text);
        buf_printf(&text, "---\nname: x\ndescription: y\ncompatibility: a%0*d\n---\n", n - 1, 1);
        if (n == 500)
            ASSERT_EQ(parse(t, buf_text(&text)).compatibility.n, 500);
        else
            ASSERT_CONTAINS(refusal(t, buf_str(&text)), "501 characters; at most 500");
    }
}

TEST(a_directory_is_judged_by_its_skill_md)
{
    struct archive_entry entries[] = {
        { .path = STR("skill.md"), .content = STR("nothing") },
        { .path = STR("references/SKILL.md"), .content = STR("nothing") },
        { .path = STR("SKILL.md"), .content = STR(HEAD "---\n") },
    };
    struct skill_problem *problems;

    ASSERT_EQ(skill_validate(entries, 3, STR("my-skill"), &t->arena, &problems), 0);
    ASSERT_EQ(skill_validate(entries, 3, STR("other"), &t->arena, &problems), 1);
    ASSERT_CONTAINS(arena_str(&t->arena, problems[0].text).p, "\"other\"");
    ASSERT_EQ(skill_validate(entries, 2, STR("my-skill"), &t->arena, &problems), 1);
    ASSERT_EQ(skill_validate(entries + 1, 1, STR("my-skill"), &t->arena, &problems), 1);
    ASSERT_STR(problems[0].text, "SKILL.md is missing");
}

TEST(an_archive_is_judged_with_and_without_a_directory_around_it)
{
    static const char good[] = "---\nname: one\ndescription: x\n---\n";
    static const struct {
        const char *paths[3], *text, *name, *problem;
    } cases[] = {
        { { "SKILL.md", "a.md" }, good, "one", NULL },
        { { "skill.md" }, good, "one", NULL },
        { { "one/SKILL.md", "one/references/a.md" }, good, "one", NULL },
        { { "two/SKILL.md" }, good, "one", "two" },
        { { "one/SKILL.md", "other/a.md" }, good, "", "SKILL.md is missing" },
        { { "one/two/SKILL.md" }, good, "", "SKILL.md is missing" },
        { { "SKILL.md", "one/SKILL.md" }, good, "one", NULL },
        { { "one/a.md" }, good, "", "SKILL.md is missing" },
        { { NULL }, good, "", "SKILL.md is missing" },
        { { "SKILL.md" }, "no front", "", "---" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct archive_entry entries[3];
        struct skill_problem *problems;
        struct str name;
        size_t n = 0, found;

        for (; n < 3 && cases[i].paths[n]; n++)
            entries[n] = (struct archive_entry){ .path = str_from(cases[i].paths[n]),
                                                 .content = str_from(cases[i].text) };
        found = skill_validate_archive(entries, n, &t->arena, &problems, &name);
        ASSERT_EQ(found > 0, cases[i].problem != NULL);
        if (cases[i].problem && str_find(problems[0].text, str_from(cases[i].problem)) < 0)
            FAIL("case %zu: %.*s", i, STR_ARG(problems[0].text));
        ASSERT_STR(name.p ? name : STR(""), cases[i].name);
    }
}
