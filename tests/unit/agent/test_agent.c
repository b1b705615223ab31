/* Names.
 *
 * SPDX-License-Identifier: MIT
 */
#include "agent/agent.h"

#include "agent/agent_int.h"
#include "harness/test.h"

TEST(ids_that_are_allowed_pass)
{
    static const char longest[] = "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz"
                                  "abcdefghijkl";
    static const char *const good[] = { "a",       "planner", "z9", "system:builder-wizard",
                                        "a_b-c:1", longest };

    for (size_t i = 0; i < ARRAY_LEN(good); i++)
        ASSERT_OK(agent_id_check(str_from(good[i]), &t->err));
}

TEST(ids_that_are_not_allowed_are_refused_with_what_is)
{
    static const char *const bad[] = {
        "",        "1a",     "-a",
        "Planner", "a b",    "a/b",
        "a\n",     "../etc", "pl\xc3\xa4n",
        ":a",      "a\xff",  "a;b--",
        "a'b",     "_a",     "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijklm",
    };

    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        ASSERT_FAILS(agent_id_check(str_from(bad[i]), &t->err), ERR_BAD_REQUEST);
        ASSERT_CONTAINS(err_message(&t->err, 0), "beginning with a letter");
    }
    ASSERT_FAILS(agent_id_check(STR_NONE, &t->err), ERR_BAD_REQUEST);
    ASSERT_FAILS(agent_id_check(str_of("a\0b", 3), &t->err), ERR_BAD_REQUEST);
}

TEST(an_id_is_made_of_a_name)
{
    static const struct {
        const char *name, *id;
    } cases[] = {
        { "Planner", "planner" },
        { "My Day Planner", "my-day-planner" },
        { "  42 Owls!", "owls" },
        { "Caf\xc3\xa9 au lait", "caf--au-lait" },
        { "\xf0\x9f\x90\xad", "" },
        { "", "" },
        { "A_b:C", "a_b:c" },
        { "ABCDEFGHIJKLMNOPQRSTUVWXYZABCDEFGHIJKLMNOPQRSTUVWXYZABCDEFGHIJKLMNOP",
          "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijkl" },
    };
    char id[AGENT_ID_MAX + 1];

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        agent_id_of_name(cases[i].name, id);
        ASSERT_TEXT(id, cases[i].id);
        if (id[0])
            ASSERT_OK(agent_id_check(str_from(id), &t->err));
    }
}

TEST(words_and_numbers_of_the_tables_agree)
{
    for (int i = AGENT_CREATED; i <= AGENT_DESTROYED; i++)
        ASSERT_EQ(agent_lifecycle_of(str_from(agent_lifecycle_name((enum agent_lifecycle)i))), i);
    for (int i = INBOX_TOOL; i <= INBOX_CONFIG; i++)
        ASSERT_EQ(inbox_kind_of(str_from(inbox_kind_name((enum inbox_kind)i))), i);
    for (int i = INBOX_PENDING; i <= INBOX_WITHDRAWN; i++)
        ASSERT_EQ(inbox_state_of(str_from(inbox_state_name((enum inbox_state)i))), i);
    for (int i = INBOX_ONCE; i <= INBOX_ALWAYS; i++)
        ASSERT_EQ(inbox_scope_of(str_from(inbox_scope_name((enum inbox_scope)i))), i);
    ASSERT_EQ(agent_lifecycle_of(STR("dead")), AGENT_LIFECYCLE_NONE);
    ASSERT_EQ(inbox_kind_of(STR_NONE), INBOX_KIND_NONE);
    ASSERT_EQ(inbox_state_of(STR("Pending")), INBOX_STATE_NONE);
    ASSERT_EQ(inbox_scope_of(STR_NONE), INBOX_ONCE);
    ASSERT_TEXT(agent_lifecycle_name(AGENT_DORMANT), "dormant");
    ASSERT_TEXT(inbox_kind_name(INBOX_UNKNOWN_EFFECT), "unknown_effect");
    ASSERT_TEXT(inbox_state_name(INBOX_WITHDRAWN), "withdrawn");
}
