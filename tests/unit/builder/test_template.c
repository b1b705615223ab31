/* Templates and patterns that are part of the binary.
 *
 * SPDX-License-Identifier: MIT
 */
#include "builder/template.h"

#include "agent/agent.h"
#include "harness/test.h"
#include "tool/tool.h"

TEST(templates_name_only_tools_that_exist_and_are_for_everybody)
{
    size_t n;
    const struct template *all = templates(&n);

    ASSERT_EQ(n, 6);
    for (size_t i = 0; i < n; i++)
        for (const char *const *name = all[i].tools; *name; name++) {
            const struct tool_contract *contract = tool_contract_find(str_from(*name));

            if (!contract || tool_is_for_system(contract))
                FAIL("%s names %s, which it can't have", all[i].id, *name);
        }
}

TEST(what_a_template_gives_is_an_agent_that_can_be)
{
    size_t n;
    const struct template *all = templates(&n);

    for (size_t i = 0; i < n; i++) {
        AUTO_BUF text = BUF_INIT(1 << 20);

        template_instructions(&all[i], &text);
        ASSERT_OK(agent_id_check(str_from(all[i].id), &t->err));
        ASSERT_OK(agent_name_check("the name", str_from(all[i].name), &t->err));
        ASSERT_OK(agent_text_check("the description", str_from(all[i].description),
                                   AGENT_DESCRIPTION_MAX, &t->err));
        ASSERT_OK(
            agent_text_check("the instructions", buf_str(&text), AGENT_INSTRUCTIONS_MAX, &t->err));
        ASSERT(i == 0 || strcmp(all[i - 1].id, all[i].id) < 0);
    }
}

TEST(patterns_of_a_template_stand_behind_its_own_words)
{
    const struct template *coach = template_find(STR("gym-coach"));
    AUTO_BUF text = BUF_INIT(1 << 20);

    ASSERT(coach != NULL);
    template_instructions(coach, &text);
    ASSERT(str_starts(buf_str(&text), str_from(coach->instructions)));
    ASSERT_CONTAINS(buf_text(&text), "\n## How you talk\n\n- ");
    ASSERT_CONTAINS(buf_text(&text), "\n## When you are corrected\n\n1. ");
    ASSERT(strstr(buf_text(&text), "<!--") == NULL);
}

TEST(there_are_three_patterns_with_text)
{
    size_t n;
    const struct pattern *all = patterns(&n);

    ASSERT_EQ(n, 3);
    for (size_t i = 0; i < n; i++) {
        ASSERT(all[i].title[0] && all[i].text.n > 100);
        ASSERT(pattern_find(str_from(all[i].name)) == &all[i]);
        ASSERT(str_find(all[i].text, STR("\n## ")) < 0);
    }
    ASSERT(pattern_find(STR("nope")) == NULL);
}

TEST(a_template_that_is_none_is_answered_with_those_there_are)
{
    const struct template *found;

    ASSERT_FAILS(template_get(STR("../planner"), &found, &t->err), ERR_BAD_REQUEST);
    ASSERT_CONTAINS(t->err.text,
                    "gym-coach, inbox-helper, planner, pomodoro, research-assistant, strategist");
    ASSERT_OK(template_get(STR("planner"), &found, &t->err));
    ASSERT_TEXT(found->name, "Planner");
}
