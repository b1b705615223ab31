/* Skills with the offline model: when one is read, and what is said of it.
 *
 * SPDX-License-Identifier: MIT
 */
#include "offline_rig.h"

#define SYSTEM                                                                                     \
    "You are Coach.\n\n## Skills\n\nSkills are instructions.\n1. Read `skills/NAME.md`.\n\n"       \
    "- **weekly-review**: Looks back on a week and plans the next one.\n"                          \
    "- **tea**: Brews the perfect chamomile infusion with patience and precision.\n"               \
    "- **soup**: Cooks vegetables slowly.\n"

static void begin(struct rig *rig, struct test *t, const char *said)
{
    rig_begin(rig, t, rig_journal, rig_journal_count);
    rig->system = STR(SYSTEM);
    rig_user(rig, said);
}

static const char *answer(struct test *t, const char *said)
{
    struct rig rig;
    const char *text;

    begin(&rig, t, said);
    text = rig_think(&rig);
    rig_end(&rig);
    return text;
}

TEST(offline_reads_a_skill_that_is_asked_for_by_name)
{
    static const char *const asked[] = { "use the weekly-review skill",
                                         "please use the weekly review skill now",
                                         "Apply skill weekly-review to my week",
                                         "run the weekly-review skill" };

    for (size_t i = 0; i < ARRAY_LEN(asked); i++)
        ASSERT_TEXT(answer(t, asked[i]), "read_memory {\"path\":\"skills/weekly-review.md\"}");
}

TEST(offline_reads_a_skill_whose_words_were_said_when_nothing_else_fits)
{
    ASSERT_TEXT(answer(t, "it is time for our weekly review"),
                "read_memory {\"path\":\"skills/weekly-review.md\"}");
    ASSERT_TEXT(answer(t, "I want a chamomile infusion, with patience"),
                "read_memory {\"path\":\"skills/tea.md\"}");
}

TEST(offline_leaves_skills_alone_when_another_intent_fits)
{
    ASSERT(!strstr(answer(t, "hello"), "skills/"));
    ASSERT(!strstr(answer(t, "help"), "skills/"));
    ASSERT(!strstr(answer(t, "show my tasks"), "skills/"));
    ASSERT(!strstr(answer(t, "sing me a song"), "skills/"));
}

TEST(offline_knows_only_the_skills_of_the_prompt)
{
    ASSERT(!strstr(answer(t, "use the coffee skill"), "skills/coffee"));
}

TEST(offline_says_the_prefix_and_the_steps)
{
    struct rig rig;
    const char *text;

    begin(&rig, t, "use the tea skill");
    rig_think(&rig);
    rig_result(
        &rig, 0,
        "{\"path\":\"skills/tea.md\",\"content\":\"---\\nname: tea\\ndescription: x\\n---\\n\\n"
        "# Tea\\n\\n1. Boil water.\\n2. Wait.\\n\\nEnjoy.\\n\",\"version\":1}");
    text = rig_think(&rig);
    ASSERT(strncmp(text, "[Using skill: tea]\n\n", 20) == 0);
    ASSERT_CONTAINS(text, "\n1. Boil water.\n2. Wait.\n");
    ASSERT(!strstr(text, "name: tea"));
    ASSERT_CONTAINS(text, "can't carry these out");
    rig_end(&rig);
}

TEST(offline_shows_instructions_without_steps_as_they_are)
{
    struct rig rig;

    begin(&rig, t, "use the soup skill");
    rig_think(&rig);
    rig_result(&rig, 0, "{\"content\":\"---\\nname: soup\\n---\\nCut and cook.\\n\"}");
    ASSERT_CONTAINS(rig_think(&rig), "Cut and cook.\n");
    rig_end(&rig);
}

TEST(offline_says_when_a_skill_can_not_be_read)
{
    struct rig rig;
    const char *text;

    begin(&rig, t, "use the tea skill");
    rig_think(&rig);
    rig_failure(&rig, 0, "{\"error\":{\"code\":\"not_found\",\"message\":\"no memory file\"}}");
    text = rig_think(&rig);
    ASSERT(!strstr(text, "[Using skill"));
    ASSERT_CONTAINS(text, "no memory file");
    rig_end(&rig);
}

TEST(offline_needs_read_memory_for_a_skill)
{
    struct rig rig;

    rig_begin(&rig, t, rig_hands, rig_hands_count);
    rig.system = STR(SYSTEM);
    rig_user(&rig, "use the tea skill");
    ASSERT_CONTAINS(rig_think(&rig), "read_memory");
    ASSERT_EQ(rig.turn.call_count, 0);
    rig_end(&rig);
}
