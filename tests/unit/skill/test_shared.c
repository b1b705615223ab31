/* Skills that every agent has.
 *
 * SPDX-License-Identifier: MIT
 */
#include <sys/stat.h>
#include <unistd.h>

#include "rig.h"

DB_TEST(bundled_skills_are_shared_with_every_agent)
{
    AUTO(rig) rig = rig_open(t);
    struct skill skill = rig_get(rig, "weekly-review");

    ASSERT(skill.shared && skill.enabled);
    ASSERT_STR(skill.source, "bundled");
    ASSERT_CONTAINS(arena_str(&t->arena, skill.instructions).p, "references/template.md");
    ASSERT_EQ(skill.content_hash.n, 64);
    ASSERT_STR(rig_get(rig, "shared:weekly-review").name, "weekly-review");
    ASSERT_FAILS(UNIT(rig, skills_remove(rig->skills, &rig->agent, STR("weekly-review"),
                                         STR("owner"), &t->err)),
                 ERR_CONFLICT);
}

DB_TEST(an_own_skill_wins_over_a_shared_one)
{
    AUTO(rig) rig = rig_open(t);
    struct skill made, *all;
    size_t n, before;

    rig_list(rig, &before);
    ASSERT_OK(rig_add(rig, "weekly-review", "[]", &made));
    all = rig_list(rig, &n);
    ASSERT_EQ(n, before);
    for (size_t i = 1; i < n; i++)
        ASSERT(str_cmp(all[i - 1].name, all[i].name) < 0);
    ASSERT(!rig_get(rig, "weekly-review").shared);
    ASSERT(rig_get(rig, "shared:weekly-review").shared);
}

DB_TEST(the_shared_folder_is_seen_as_it_changes)
{
    AUTO(rig) rig = rig_open(t);
    struct str text;

    ASSERT(!rig_has(rig, "house-rules"));
    rig_share(rig, "house-rules", rig_text(rig, "house-rules", "", "One."));
    rig_later(rig);
    ASSERT_STR(rig_get(rig, "house-rules").source, "folder");
    ASSERT_STR(rig_get(rig, "house-rules").instructions, "One.");
    rig_share(rig, "house-rules", rig_text(rig, "house-rules", "license: MIT\n", "Two, longer."));
    rig_later(rig);
    ASSERT_STR(rig_get(rig, "house-rules").license, "MIT");
    ASSERT_EQ(skills_read_shared(rig->skills, &rig->agent, STR("skills/house-rules.md"), &t->arena,
                                 &text, &t->err),
              1);
    ASSERT_CONTAINS(arena_str(&t->arena, text).p, "Two, longer.");
    unlink(arena_printf(&t->arena, "%s/house-rules/SKILL.md", rig->root));
    rig_later(rig);
    ASSERT(!rig_has(rig, "house-rules"));
}

DB_TEST(a_broken_shared_skill_is_listed_and_switched_off)
{
    AUTO(rig) rig = rig_open(t);
    struct str text;

    rig_share(rig, "broken", "nothing");
    rig_share(rig, "Wrong", rig_text(rig, "other", "", ""));
    rig_later(rig);
    ASSERT(!rig_get(rig, "broken").enabled);
    ASSERT_CONTAINS(arena_str(&t->arena, rig_get(rig, "broken").problem).p, "must begin");
    ASSERT(!rig_get(rig, "Wrong").enabled);
    ASSERT_EQ(skills_read_shared(rig->skills, &rig->agent, STR("skills/broken.md"), &t->arena,
                                 &text, &t->err),
              0);
}

/* Looking at the folder is done by the loop: it must not take long whatever lies there. */
DB_TEST(a_folder_that_is_too_large_is_read_in_part)
{
    AUTO(rig) rig = rig_open(t);
    AUTO_BUF body = BUF_INIT(1 << 20);
    struct skill *list;
    size_t n, refused = 0;

    for (int i = 0; i < 15000; i++)
        buf_add_text(&body, "one more line of a very long text, which nobody ever reads.\n");
    for (int i = 0; i < 6; i++) {
        const char *name = arena_printf(&t->arena, "big-%d", i);

        rig_share(rig, name, rig_text(rig, name, "", buf_text(&body)));
    }
    ASSERT_OK(skills_list(rig->skills, &rig->agent, &t->arena, &list, &n, &t->err));
    for (size_t i = 0; i < n; i++) {
        if (!list[i].problem.n)
            continue;
        refused++;
        ASSERT_CONTAINS(list[i].problem.p, "more than 4 MB");
        ASSERT(!list[i].enabled);
    }
    ASSERT_EQ(refused, 2);
}

DB_TEST(a_shared_skill_goes_off_for_one_agent_alone)
{
    AUTO(rig) rig = rig_open(t);
    AUTO_BUF prompt = BUF_INIT(1 << 20);
    struct agent other = { .id = "ada", .kind = "custom", .display_name = "Ada" };
    struct str content, taint = STR_NONE;
    struct skill skill;

    ASSERT_OK(UNIT(rig, agent_add(rig->domain, rig->change, &other, NOW, &t->err)));
    ASSERT_OK(UNIT(rig, skills_enable(rig->skills, &rig->agent, STR("shared:weekly-review"), false,
                                      &t->arena, &skill, &t->err)));
    ASSERT(skill.shared && !skill.enabled);
    ASSERT(!rig_get(rig, "weekly-review").enabled);
    ASSERT_OK(skills_prompt(rig->skills, &rig->agent, &prompt, &t->arena, &taint, &t->err));
    ASSERT(!strstr(buf_text(&prompt), "weekly-review"));
    ASSERT_EQ(skills_read_shared(rig->skills, &rig->agent, STR("skills/weekly-review.md"),
                                 &t->arena, &content, &t->err),
              0);
    ASSERT_EQ(skills_read_shared(rig->skills, &other, STR("skills/weekly-review.md"), &t->arena,
                                 &content, &t->err),
              1);
    /* Twice is as once, and it comes back. */
    for (int i = 0; i < 2; i++)
        ASSERT_OK(UNIT(rig, skills_enable(rig->skills, &rig->agent, STR("weekly-review"), i > 0,
                                          &t->arena, &skill, &t->err)));
    ASSERT(rig_get(rig, "weekly-review").enabled);
    ASSERT_FAILS(UNIT(rig, skills_enable(rig->skills, &rig->agent, STR("nothing"), false, &t->arena,
                                         &skill, &t->err)),
                 ERR_NOT_FOUND);
}

DB_TEST(a_broken_shared_skill_can_not_be_switched_on)
{
    AUTO(rig) rig = rig_open(t);
    struct skill skill;

    rig_share(rig, "broken", "no front matter");
    ASSERT_FAILS(UNIT(rig, skills_enable(rig->skills, &rig->agent, STR("broken"), true, &t->arena,
                                         &skill, &t->err)),
                 ERR_CONFLICT);
    ASSERT_CONTAINS(t->err.text, "can't be used");
}

DB_TEST(links_in_the_shared_folder_lead_nowhere)
{
    AUTO(rig) rig = rig_open(t);
    const char *outside = test_path(t, "outside");

    rig_share(rig, "good", rig_text(rig, "good", "", ""));
    mkdir(outside, 0755);
    test_write_file(test_path(t, "outside/SKILL.md"), "x", 1);
    ASSERT_EQ(symlink(outside, arena_printf(&t->arena, "%s/linked", rig->root)), 0);
    mkdir(arena_printf(&t->arena, "%s/inner", rig->root), 0755);
    ASSERT_EQ(symlink("/etc/passwd", arena_printf(&t->arena, "%s/inner/SKILL.md", rig->root)), 0);
    rig_later(rig);
    ASSERT(rig_has(rig, "good"));
    ASSERT(!rig_has(rig, "linked"));
    ASSERT(!rig_has(rig, "inner"));
}

DB_TEST(references_of_a_shared_skill_are_read_by_their_path)
{
    AUTO(rig) rig = rig_open(t);
    struct str text;

    ASSERT_EQ(skills_read_shared(rig->skills, &rig->agent,
                                 STR("skills/weekly-review/references/template.md"), &t->arena,
                                 &text, &t->err),
              1);
    ASSERT(str_starts(text, STR("# Week of")));
    static const char *const none[] = { "skills/weekly-review/references/none.md",
                                        "skills/weekly-review/../meeting-notes/SKILL.md",
                                        "skills/none.md",
                                        "knowledge/x.md",
                                        "skills/",
                                        "skills" };
    for (size_t i = 0; i < ARRAY_LEN(none); i++)
        ASSERT_EQ(skills_read_shared(rig->skills, &rig->agent, str_from(none[i]), &t->arena, &text,
                                     &t->err),
                  0);
}
