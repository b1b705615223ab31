/* Skills follow the files that agents and people write.
 *
 * SPDX-License-Identifier: MIT
 */
#include "memory/edit.h"
#include "rig.h"

DB_TEST(what_an_agent_writes_becomes_a_skill_of_its_own)
{
    AUTO(rig) rig = rig_open(t);

    ASSERT_OK(rig_put(rig, "skills/tea/SKILL.md", rig_text(rig, "tea", "", "Boil water."),
                      "agent:coach"));
    ASSERT_STR(rig_get(rig, "tea").source, "agent");
    ASSERT_STR(rig_get(rig, "tea").instructions, "Boil water.");
    ASSERT_FAILS(rig_put(rig, "skills/tea/SKILL.md", "no front matter", "agent:coach"),
                 ERR_BAD_REQUEST);
    ASSERT_CONTAINS(test_err_text(t), "skills/tea/SKILL.md: SKILL.md must begin");
    ASSERT_FAILS(
        rig_put(rig, "skills/tea/SKILL.md", rig_text(rig, "coffee", "", ""), "agent:coach"),
        ERR_BAD_REQUEST);
    ASSERT_STR(rig_get(rig, "tea").instructions, "Boil water.");
}

/* What an agent proposes, as the question to a person would be prepared. */
static int propose(struct rig *rig, const char *path, enum memory_operation operation,
                   const char *content)
{
    const struct memory_edit edit = { .path = str_from(path),
                                      .operation = operation,
                                      .content = str_from(content),
                                      .reason = STR("asked for") };
    struct memory_proposal proposal;
    struct test *t = rig->t;

    err_reset(&t->err);
    return memory_prepare(rig->files, &rig->agent, &edit, &t->arena, &proposal, &t->err);
}

DB_TEST(what_would_be_no_skill_is_refused_before_anybody_is_asked)
{
    AUTO(rig) rig = rig_open(t);

    ASSERT_FAILS(propose(rig, "skills/tea.md", MEMORY_WRITE, "no front matter"), ERR_BAD_REQUEST);
    ASSERT_CONTAINS(test_err_text(t), "skills/tea.md is no valid skill: SKILL.md must begin");
    ASSERT_FAILS(propose(rig, "skills/tea.md", MEMORY_APPEND, "no front matter"), ERR_BAD_REQUEST);
    ASSERT_FAILS(
        propose(rig, "skills/tea.md", MEMORY_WRITE, rig_text(rig, "coffee", "", "Boil water.")),
        ERR_BAD_REQUEST);
    ASSERT_FAILS(propose(rig, "skills/CAF\u00C9.md", MEMORY_WRITE, "x"), ERR_PATH_DENIED);
    ASSERT_FAILS(
        propose(rig, "skills/caf\u00C9.md", MEMORY_WRITE, rig_text(rig, "caf\u00C9", "", "Sit.")),
        ERR_BAD_REQUEST);
    ASSERT_OK(
        propose(rig, "skills/caf\u00E9.md", MEMORY_WRITE, rig_text(rig, "caf\u00E9", "", "Sit.")));
    ASSERT_OK(propose(rig, "skills/\u6280\u80FD.md", MEMORY_WRITE,
                      rig_text(rig, "\u6280\u80FD", "", "Do.")));
    ASSERT_OK(rig_put(rig, "skills/tea/SKILL.md", rig_text(rig, "tea", "", "Boil water."),
                      "agent:coach"));
    ASSERT_OK(propose(rig, "skills/tea.md", MEMORY_APPEND, "Wait.\n"));
    ASSERT_OK(propose(rig, "skills/tea.md", MEMORY_DELETE, NULL));
    ASSERT_OK(propose(rig, "knowledge/tea.md", MEMORY_WRITE, "no front matter"));
}

DB_TEST(what_a_person_breaks_is_kept_switched_off_until_it_is_mended)
{
    AUTO(rig) rig = rig_open(t);
    struct skill made, skill;

    ASSERT_OK(rig_add(rig, "one", "[]", &made));
    ASSERT_OK(rig_put(rig, "skills/one/SKILL.md", "oops", "owner"));
    skill = rig_get(rig, "one");
    ASSERT(!skill.enabled);
    ASSERT_CONTAINS(arena_str(&t->arena, skill.problem).p, "must begin with");
    ASSERT_TEXT(rig_content(rig, "skills/one/SKILL.md"), "oops");
    ASSERT_FAILS(UNIT(rig, skills_enable(rig->skills, &rig->agent, STR("one"), true, &t->arena,
                                         &skill, &t->err)),
                 ERR_CONFLICT);
    ASSERT_OK(rig_put(rig, "skills/one/SKILL.md", rig_text(rig, "one", "", "again"), "owner"));
    skill = rig_get(rig, "one");
    ASSERT(skill.enabled && !skill.problem.n);
    ASSERT(str_eq(skill.id, made.id));
}

DB_TEST(a_skill_that_a_person_switched_off_stays_off_when_it_changes)
{
    AUTO(rig) rig = rig_open(t);
    struct skill skill;

    ASSERT_OK(rig_add(rig, "one", "[]", &skill));
    ASSERT_OK(UNIT(rig, skills_enable(rig->skills, &rig->agent, STR("one"), false, &t->arena,
                                      &skill, &t->err)));
    ASSERT_OK(rig_put(rig, "skills/one/SKILL.md", rig_text(rig, "one", "", "new"), "owner"));
    ASSERT(!rig_get(rig, "one").enabled);
    ASSERT_OK(UNIT(rig, skills_enable(rig->skills, &rig->agent, STR("one"), true, &t->arena, &skill,
                                      &t->err)));
    ASSERT(rig_get(rig, "one").enabled);
}

DB_TEST(every_file_of_a_skill_is_in_its_hash)
{
    AUTO(rig) rig = rig_open(t);
    struct archive_entry *entries;
    struct skill skill, with, back;
    char hash[65];
    size_t n;

    ASSERT_OK(rig_add(rig, "one", "[]", &skill));
    ASSERT_OK(rig_put(rig, "skills/one/scripts/a.sh", "echo a", "owner"));
    with = rig_get(rig, "one");
    ASSERT(!str_eq(skill.content_hash, with.content_hash));
    ASSERT_EQ(skills_files(rig->skills, &rig->agent, STR("one"), &t->arena, &entries, &n, &t->err),
              1);
    ASSERT_EQ(n, 2);
    ASSERT_STR(entries[0].path, "SKILL.md");
    ASSERT_STR(entries[1].path, "scripts/a.sh");
    skills_hash(entries, n, hash);
    ASSERT_STR(with.content_hash, hash);
    ASSERT_OK(rig_delete(rig, "skills/one/scripts/a.sh"));
    back = rig_get(rig, "one");
    ASSERT(str_eq(skill.content_hash, back.content_hash));
}

DB_TEST(files_of_other_places_and_of_nobody_make_no_skill)
{
    AUTO(rig) rig = rig_open(t);
    struct file_write write = { .tree = STR("agents/nobody"),
                                .path = STR("skills/x/SKILL.md"),
                                .content = STR("broken"),
                                .base = FILE_ANY_VERSION,
                                .author = STR("agent:nobody") };
    struct file file;

    ASSERT_OK(rig_put(rig, "knowledge/skills/x/SKILL.md", "broken", "agent:coach"));
    ASSERT_OK(rig_put(rig, "skills/loose.md", "a file without a directory", "owner"));
    ASSERT_OK(UNIT(rig, file_put(rig->files, &write, &t->arena, &file, &t->err)));
    ASSERT_EQ(rig_own_count(rig), 0);
}
