/* Skills that are removed, and come back.
 *
 * SPDX-License-Identifier: MIT
 */
#include "rig.h"

DB_TEST(removing_takes_the_files_and_the_row_and_keeps_versions)
{
    AUTO(rig) rig = rig_open(t);
    struct file *versions;
    struct skill made;
    size_t n;

    ASSERT_OK(rig_add(rig, "one", "[]", &made));
    ASSERT_OK(rig_put(rig, "skills/one/scripts/x.sh", "echo", "owner"));
    ASSERT_OK(UNIT(rig, skills_remove(rig->skills, &rig->agent, made.id, STR("owner"), &t->err)));
    ASSERT(!rig_has(rig, "one"));
    ASSERT(!rig_content(rig, "skills/one/scripts/x.sh"));
    ASSERT_OK(file_history(rig->files, STR("agents/coach"), STR("skills/one/SKILL.md"), 0, 0,
                           &t->arena, &versions, &n, &t->err));
    ASSERT_EQ(n, 2);
    ASSERT_FAILS(UNIT(rig, skills_remove(rig->skills, &rig->agent, made.id, STR("owner"), &t->err)),
                 ERR_NOT_FOUND);
    ASSERT_OK(rig_add(rig, "one", "[]", &made));
}

static int restore(struct rig *rig, struct str id, struct skill *ret_skill)
{
    return UNIT(rig, skills_restore(rig->skills, &rig->agent, id, STR("owner"), &rig->t->arena,
                                    ret_skill, &rig->t->err));
}

static void remove_skill(struct rig *rig, struct str id)
{
    struct test *t = rig->t;

    ASSERT_OK(UNIT(rig, skills_remove(rig->skills, &rig->agent, id, STR("owner"), &t->err)));
    rig_later(rig);
}

DB_TEST(a_removed_skill_comes_back_whole_and_as_it_was)
{
    AUTO(rig) rig = rig_open(t);
    struct skill made, before, back;
    struct file *versions;
    size_t n;

    ASSERT_OK(rig_add(rig, "one", "[\"read_memory\"]", &made));
    ASSERT_OK(rig_put(rig, "skills/one/scripts/x.sh", "echo", "owner"));
    ASSERT_OK(rig_put(rig, "skills/one/references/deep/a.md", "A", "agent:coach"));
    ASSERT_OK(rig_put(rig, "skills/one-more/notes.md", "of another", "owner"));
    ASSERT_OK(UNIT(
        rig, skills_enable(rig->skills, &rig->agent, made.id, false, &t->arena, &before, &t->err)));
    before = rig_get(rig, "one");
    remove_skill(rig, made.id);
    ASSERT_OK(restore(rig, made.id, &back));
    ASSERT(str_eq(back.id, made.id) && !back.enabled);
    ASSERT(str_eq(back.source, before.source) && str_eq(back.content_hash, before.content_hash));
    ASSERT(str_eq(back.allowed_tools, before.allowed_tools));
    ASSERT_EQ(back.created_at, made.created_at);
    ASSERT_TEXT(rig_content(rig, "skills/one/scripts/x.sh"), "echo");
    ASSERT_TEXT(rig_content(rig, "skills/one/references/deep/a.md"), "A");
    ASSERT_CONTAINS(rig_content(rig, "skills/one/SKILL.md"), "name: one");
    ASSERT_OK(file_history(rig->files, STR("agents/coach"), STR("skills/one/scripts/x.sh"), 0, 0,
                           &t->arena, &versions, &n, &t->err));
    ASSERT_EQ(n, 3);
    ASSERT_STR(versions[0].reason, "the skill was brought back");
    ASSERT_EQ(rig_own_count(rig), 1);
    remove_skill(rig, STR("one"));
    ASSERT_OK(restore(rig, STR("one"), &back));
    ASSERT(str_eq(back.id, made.id));
}

DB_TEST(what_went_before_its_skill_does_not_come_back_with_it)
{
    AUTO(rig) rig = rig_open(t);
    struct skill made, back;

    ASSERT_OK(rig_add(rig, "one", "[]", &made));
    ASSERT_OK(rig_put(rig, "skills/one/scripts/old.sh", "old", "owner"));
    remove_skill(rig, made.id);
    ASSERT_OK(rig_add(rig, "one", "[]", &made));
    ASSERT_OK(rig_put(rig, "skills/one/scripts/gone.sh", "gone", "owner"));
    ASSERT_OK(rig_put(rig, "skills/one/scripts/new.sh", "new", "owner"));
    ASSERT_OK(rig_delete(rig, "skills/one/scripts/gone.sh"));
    rig_later(rig);
    remove_skill(rig, made.id);
    ASSERT_OK(restore(rig, STR("one"), &back));
    ASSERT(str_eq(back.id, made.id));
    ASSERT_TEXT(rig_content(rig, "skills/one/scripts/new.sh"), "new");
    ASSERT(!rig_content(rig, "skills/one/scripts/old.sh"));
    ASSERT(!rig_content(rig, "skills/one/scripts/gone.sh"));
}

DB_TEST(a_skill_is_not_brought_back_over_another_nor_in_part)
{
    AUTO(rig) rig = rig_open(t);
    struct skill made, again, back;

    ASSERT_FAILS(restore(rig, STR("one"), &back), ERR_NOT_FOUND);
    ASSERT_OK(rig_add(rig, "one", "[]", &made));
    ASSERT_OK(rig_put(rig, "skills/one/scripts/x.sh", "echo", "owner"));
    ASSERT_FAILS(restore(rig, made.id, &back), ERR_NOT_FOUND); /* it is there */
    remove_skill(rig, made.id);
    ASSERT_OK(rig_add(rig, "one", "[]", &again));
    ASSERT_FAILS(restore(rig, made.id, &back), ERR_CONFLICT);
    remove_skill(rig, again.id);
    ASSERT_OK(rig_put(rig, "skills/one/scripts/y.sh", "a stranger's", "owner"));
    ASSERT_FAILS(restore(rig, again.id, &back), ERR_CONFLICT);
    ASSERT_CONTAINS(test_err_text(t), "history");
    ASSERT(!rig_has(rig, "one")); /* all or nothing */
    ASSERT(!rig_content(rig, "skills/one/SKILL.md"));
    ASSERT_FAILS(restore(rig, made.id, &back), ERR_CONFLICT); /* its files went before */
    ASSERT_FAILS(restore(rig, STR("weekly-review"), &back), ERR_NOT_FOUND);
    ASSERT_FAILS(restore(rig, STR("../../etc"), &back), ERR_NOT_FOUND);
}
