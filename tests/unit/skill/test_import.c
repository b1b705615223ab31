/* Skills from elsewhere: imports, and what a person should look at.
 *
 * SPDX-License-Identifier: MIT
 */
#include "rig.h"

static int import(struct rig *rig, const struct archive_entry *entries, size_t n,
                  struct skill *ret_skill)
{
    struct test *t = rig->t;

    return UNIT(rig,
                skills_import(rig->skills, &rig->agent, entries, n, &t->arena, ret_skill, &t->err));
}

DB_TEST(an_import_brings_every_file_also_out_of_a_wrapping_directory)
{
    AUTO(rig) rig = rig_open(t);
    struct archive_entry entries[] = {
        { .path = STR("tea/SKILL.md"), .content = str_from(rig_text(rig, "tea", "", "Boil.")) },
        { .path = STR("tea/references/a.md"), .content = STR("A") },
        { .path = STR("tea/scripts/run.sh"), .content = STR("#!/bin/sh\n"), .executable = true },
    };
    struct skill skill;

    ASSERT_OK(import(rig, entries, 3, &skill));
    ASSERT_STR(skill.source, "import");
    ASSERT_TEXT(rig_content(rig, "skills/tea/references/a.md"), "A");
    ASSERT(rig_content(rig, "skills/tea/scripts/run.sh"));
    ASSERT_FAILS(import(rig, entries, 3, &skill), ERR_CONFLICT);
}

/* Whoever brings them in, they are somebody else's words. */
DB_TEST(every_file_of_an_imported_skill_is_untrusted_text)
{
    AUTO(rig) rig = rig_open(t);
    struct archive_entry entries[] = {
        { .path = STR("tea/SKILL.md"), .content = str_from(rig_text(rig, "tea", "", "Boil.")) },
        { .path = STR("tea/references/a.md"), .content = STR("A") },
        { .path = STR("tea/scripts/run.sh"), .content = STR("#!/bin/sh\n"), .executable = true },
    };
    struct skill skill, own;

    ASSERT_OK(import(rig, entries, 3, &skill));
    ASSERT_TEXT(rig_taint(rig, "skills/tea/SKILL.md"), "skill:tea");
    ASSERT_TEXT(rig_taint(rig, "skills/tea/references/a.md"), "skill:tea");
    ASSERT_TEXT(rig_taint(rig, "skills/tea/scripts/run.sh"), "skill:tea");
    ASSERT_OK(rig_add(rig, "own", "[]", &own));
    ASSERT_TEXT(rig_taint(rig, "skills/own/SKILL.md"), "");
}

DB_TEST(an_import_without_a_directory_takes_the_name_of_the_skill)
{
    AUTO(rig) rig = rig_open(t);
    struct archive_entry entries[] = {
        { .path = STR("references/a.md"), .content = STR("A") },
        { .path = STR("skill.md"), .content = str_from(rig_text(rig, "tea", "", "Boil.")) },
    };
    struct skill skill;

    ASSERT_OK(import(rig, entries, 2, &skill));
    ASSERT_STR(skill.name, "tea");
    ASSERT_CONTAINS(rig_content(rig, "skills/tea/SKILL.md"), "Boil.");
}

DB_TEST(an_import_that_fails_leaves_nothing)
{
    AUTO(rig) rig = rig_open(t);
    struct archive_entry broken[] = {
        { .path = STR("wrong/SKILL.md"), .content = str_from(rig_text(rig, "tea", "", "")) },
        { .path = STR("wrong/a.md"), .content = STR("A") },
    };
    struct archive_entry hostile[] = {
        { .path = STR("a.md"), .content = STR("A") },
        { .path = STR("../../escape.md"), .content = STR("A") },
        { .path = STR("SKILL.md"), .content = str_from(rig_text(rig, "tea", "", "")) },
    };
    struct file *files;
    struct skill skill;
    size_t n;

    ASSERT_FAILS(import(rig, broken, 2, &skill), ERR_BAD_REQUEST);
    ASSERT_CONTAINS(test_err_text(t), "name of its directory");
    ASSERT_FAILS(import(rig, hostile, 3, &skill), ERR_PATH_DENIED);
    ASSERT_FAILS(import(rig, hostile, 1, &skill), ERR_BAD_REQUEST);
    ASSERT_FAILS(import(rig, NULL, 0, &skill), ERR_BAD_REQUEST);
    ASSERT_OK(file_list(rig->files, STR("agents/coach"), STR(""), &t->arena, &files, &n, &t->err));
    ASSERT_EQ(n, 0);
    ASSERT_EQ(rig_own_count(rig), 0);
}

DB_TEST(warnings_name_what_a_person_should_look_at)
{
    AUTO(rig) rig = rig_open(t);
    struct archive_entry entries[120] = { { .path = STR("SKILL.md"), .content = STR("x") } };
    struct skill skill = { .allowed_tools = STR("[\"Read\",\"bash\",\"Bash(git:*)\"]") };
    struct str warnings[SKILL_WARNINGS_MAX];

    ASSERT_EQ(skills_warnings(rig->skills, &skill, entries, 1, &t->arena, warnings), 0);
    for (size_t i = 1; i < ARRAY_LEN(entries); i++)
        entries[i].path = str_from(arena_printf(&t->arena, "scripts/a-rather-long-name-%zu.sh", i));
    skill.allowed_tools = STR("[\"Teleport(now)\",\"read_files\"]");
    skill.signature = STR("unverified");
    ASSERT_EQ(
        skills_warnings(rig->skills, &skill, entries, ARRAY_LEN(entries), &t->arena, warnings), 3);
    ASSERT_CONTAINS(warnings[0].p, "119 scripts (scripts/a-rather-long-name-1.sh, ");
    ASSERT_CONTAINS(warnings[0].p, " ...)");
    ASSERT(warnings[0].n < 700);
    ASSERT_CONTAINS(warnings[1].p, "not here: Teleport(now), read_files");
    ASSERT_CONTAINS(warnings[2].p, "trusted key");
    skill.allowed_tools = STR("not json");
    skill.signature = STR("0123");
    ASSERT_EQ(skills_warnings(rig->skills, &skill, entries, 2, &t->arena, warnings), 1);
    ASSERT_CONTAINS(warnings[0].p, "1 script (");
}

TEST(only_what_should_be_a_skill_is_checked_as_one)
{
    static const struct {
        const char *path, *content;
        bool fine;
    } cases[] = {
        { "knowledge/a.md", "anything", true },
        { "memory/a.md", "anything", true },
        { "Skills/a.md", "anything", true },
        { "skill.md", "anything", true },
        { "skills/tea/references/x.md", "anything", true },
        { "skills/tea.md", "anything", false },
        { "skills/tea/SKILL.md", "", false },
        { "skills/tea.md", "---\nname: tea\ndescription: Brews\n---\nBoil.\n", true },
        { "skills/tea.md", "---\nname: cup\ndescription: Brews\n---\nBoil.\n", false },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        int r;

        err_reset(&t->err);
        r = skills_check_file(str_from(cases[i].path), str_from(cases[i].content), &t->arena,
                              &t->err);
        if ((r == 0) != cases[i].fine)
            FAIL("case %zu gave %d", i, r);
    }
}
