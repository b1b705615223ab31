/* The skills of an agent, added and changed; on both engines.
 *
 * SPDX-License-Identifier: MIT
 */
#include "rig.h"

DB_TEST(a_skill_that_is_added_is_a_file_and_a_row)
{
    AUTO(rig) rig = rig_open(t);
    struct skill made, found;

    ASSERT_OK(rig_add(rig, "PDF Processing", "[\"read_file\"]", &made));
    ASSERT_STR(made.name, "pdf-processing");
    ASSERT_STR(made.source, "made");
    ASSERT_EQ(made.created_at, NOW);
    ASSERT(made.enabled && !made.shared);
    ASSERT_EQ(made.content_hash.n, 64);
    ASSERT_CONTAINS(rig_content(rig, "skills/pdf-processing/SKILL.md"), "name: pdf-processing");
    found = rig_get(rig, arena_str(&t->arena, made.id).p);
    ASSERT_STR(found.name, "pdf-processing");
    ASSERT_STR(found.instructions, "Do it.");
    ASSERT_STR(found.allowed_tools, "[\"read_file\"]");
}

DB_TEST(a_name_that_is_taken_is_a_conflict)
{
    AUTO(rig) rig = rig_open(t);
    struct skill made;

    ASSERT_OK(rig_add(rig, "one", "[]", &made));
    ASSERT_FAILS(rig_add(rig, "One", "[]", &made), ERR_CONFLICT);
    ASSERT_FAILS(rig_add(rig, "!!!", "[]", &made), ERR_BAD_REQUEST);
    ASSERT_EQ(rig_own_count(rig), 1);
}

DB_TEST(a_description_that_is_too_long_is_refused_and_nothing_is_kept)
{
    AUTO(rig) rig = rig_open(t);
    char text[1026];
    struct skill skill = { .name = STR("long"), .instructions = STR("x") }, made;

    memset(text, 'x', 1025);
    skill.description = str_of(text, 1025);
    ASSERT_FAILS(UNIT(rig, skills_add(rig->skills, &rig->agent, &skill, STR("owner"), &t->arena,
                                      &made, &t->err)),
                 ERR_BAD_REQUEST);
    ASSERT_CONTAINS(test_err_text(t), "1025 characters; at most 1024");
    skill.description = STR("bad \xff");
    ASSERT_FAILS(UNIT(rig, skills_add(rig->skills, &rig->agent, &skill, STR("owner"), &t->arena,
                                      &made, &t->err)),
                 ERR_BAD_REQUEST);
    ASSERT_EQ(rig_own_count(rig), 0);
    ASSERT(!rig_content(rig, "skills/long/SKILL.md"));
}

/* A list that is none must not become a skill that may use everything. */
DB_TEST(tools_and_metadata_of_another_form_are_refused)
{
    static const struct {
        const char *tools, *metadata, *said;
    } cases[] = {
        { "{}", "", "allowed_tools: it must be a list as JSON" },
        { "null", "", "allowed_tools: it must be a list" },
        { "\"bash\"", "", "allowed_tools: it must be a list" },
        { "[\"bash\"", "", "allowed_tools: it must be a list" },
        { "bash", "", "allowed_tools: it must be a list" },
        { "", "[]", "metadata: it must be an object as JSON" },
        { "", "null", "metadata: it must be an object" },
        { "", "7", "metadata: it must be an object" },
        { "[]", "{}", NULL },
        { "[\"bash\"]", "{\"a\":\"b\"}", NULL },
    };
    AUTO(rig) rig = rig_open(t);

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct skill made, skill = { .name = str_from(arena_printf(&t->arena, "n%zu", i)),
                                     .description = STR("x"),
                                     .instructions = STR("Do it."),
                                     .allowed_tools = str_from(cases[i].tools),
                                     .metadata = str_from(cases[i].metadata) };
        int r = UNIT(rig, skills_add(rig->skills, &rig->agent, &skill, STR("owner"), &t->arena,
                                     &made, &t->err));

        if ((r == 0) != !cases[i].said)
            FAIL("case %zu: %s", i, r ? test_err_text(t) : "was taken");
        if (cases[i].said) {
            ASSERT_EQ(t->err.code, ERR_BAD_REQUEST);
            ASSERT_CONTAINS(test_err_text(t), cases[i].said);
        }
    }
}

DB_TEST(a_change_keeps_what_is_not_given_and_the_id)
{
    AUTO(rig) rig = rig_open(t);
    struct skill made, changed, wanted = { .description = STR("Something else") };

    ASSERT_OK(rig_add(rig, "one", "[\"bash\"]", &made));
    ASSERT_OK(UNIT(rig, skills_change(rig->skills, &rig->agent, STR("one"), &wanted, STR("owner"),
                                      &t->arena, &changed, &t->err)));
    ASSERT_STR(changed.description, "Something else");
    ASSERT_STR(changed.instructions, "Do it.");
    ASSERT_STR(changed.allowed_tools, "[\"bash\"]");
    ASSERT(str_eq(changed.id, made.id));
    ASSERT(!str_eq(changed.content_hash, made.content_hash));
}

DB_TEST(renaming_moves_every_file_and_keeps_the_id)
{
    AUTO(rig) rig = rig_open(t);
    struct skill made, changed, wanted = { .name = STR("New Name") };

    ASSERT_OK(rig_add(rig, "one", "[]", &made));
    ASSERT_OK(rig_put(rig, "skills/one/references/a.md", "A", "owner"));
    ASSERT_OK(UNIT(rig, skills_change(rig->skills, &rig->agent, made.id, &wanted, STR("owner"),
                                      &t->arena, &changed, &t->err)));
    ASSERT_STR(changed.name, "new-name");
    ASSERT(str_eq(changed.id, made.id));
    ASSERT_TEXT(rig_content(rig, "skills/new-name/references/a.md"), "A");
    ASSERT_CONTAINS(rig_content(rig, "skills/new-name/SKILL.md"), "name: new-name");
    ASSERT(!rig_content(rig, "skills/one/references/a.md"));
    ASSERT(!rig_has(rig, "one"));
    ASSERT_EQ(rig_own_count(rig), 1);
}

/* Somebody else's words are no more to be trusted under another name. */
DB_TEST(a_change_forgets_nothing_that_is_known_about_untrusted_text)
{
    AUTO(rig) rig = rig_open(t);
    struct skill changed, other = { .description = STR("Something else") };
    struct skill named = { .name = STR("two") };
    struct file_write write = { .tree = STR("agents/coach"),
                                .path = STR("skills/one/SKILL.md"),
                                .content = str_from(rig_text(rig, "one", "", "Do it.")),
                                .base = FILE_ANY_VERSION,
                                .author = STR("agent:coach"),
                                .taint = STR("web") };
    struct file file;

    ASSERT_OK(UNIT(rig, file_put(rig->files, &write, &t->arena, &file, &t->err)));
    write.path = STR("skills/one/references/a.md");
    write.taint = STR("file,web");
    ASSERT_OK(UNIT(rig, file_put(rig->files, &write, &t->arena, &file, &t->err)));
    ASSERT_OK(rig_put(rig, "skills/one/b.md", "B", "owner"));
    ASSERT_OK(UNIT(rig, skills_change(rig->skills, &rig->agent, STR("one"), &other, STR("owner"),
                                      &t->arena, &changed, &t->err)));
    ASSERT_TEXT(rig_taint(rig, "skills/one/SKILL.md"), "web");
    ASSERT_OK(UNIT(rig, skills_change(rig->skills, &rig->agent, STR("one"), &named, STR("owner"),
                                      &t->arena, &changed, &t->err)));
    ASSERT_TEXT(rig_taint(rig, "skills/two/SKILL.md"), "web");
    ASSERT_TEXT(rig_taint(rig, "skills/two/references/a.md"), "file,web");
    ASSERT_TEXT(rig_taint(rig, "skills/two/b.md"), "");
    ASSERT_OK(
        UNIT(rig, skills_remove(rig->skills, &rig->agent, STR("two"), STR("owner"), &t->err)));
    ASSERT_OK(UNIT(rig, skills_restore(rig->skills, &rig->agent, STR("two"), STR("owner"),
                                       &t->arena, &changed, &t->err)));
    ASSERT_TEXT(rig_taint(rig, "skills/two/SKILL.md"), "web");
    ASSERT_TEXT(rig_taint(rig, "skills/two/references/a.md"), "file,web");
}
