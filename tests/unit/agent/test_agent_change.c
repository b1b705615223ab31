/* Changing and destroying agents, and ids made from names, on both engines.
 *
 * SPDX-License-Identifier: MIT
 */
#include "agent/agent.h"
#include "agent/inbox.h"
#include "db/db.h"
#include "rig.h"

static struct agent added(struct test *t, struct rig *rig, const char *id)
{
    struct agent agent = { .id = id,
                           .kind = "custom",
                           .display_name = "Coach",
                           .description = "Trains.",
                           .instructions = "Be kind.",
                           .model_id = "m",
                           .tools = "[\"bash\"]" };

    ASSERT_OK(agent_add(rig->domain, rig->change, &agent, NOW, &t->err));
    return agent;
}

static struct agent read_back(struct test *t, struct rig *rig, const char *id)
{
    struct agent agent;

    ASSERT_OK(agent_get(rig->domain, str_from(id), &t->arena, &agent, &t->err));
    return agent;
}

DB_TEST(a_change_sets_what_is_given_and_nothing_else)
{
    AUTO_RIG rig = rig_open(t);
    struct agent agent = added(t, &rig, "coach");
    struct agent to = { .id = "coach", .display_name = "Trainer", .description = "unused" };

    ASSERT_EQ(agent_change(rig.domain, rig.change, &to, AGENT_NAME, NOW + 5, &t->err), 1);
    agent = read_back(t, &rig, "coach");
    ASSERT_TEXT(agent.display_name, "Trainer");
    ASSERT_TEXT(agent.description, "Trains.");
    ASSERT_TEXT(agent.instructions, "Be kind.");
    ASSERT_TEXT(agent.model_id, "m");
    ASSERT_TEXT(agent.tools, "[\"bash\"]");
    ASSERT_EQ(agent.updated_at, NOW + 5);
    ASSERT_EQ(agent.created_at, NOW);
}

DB_TEST(model_and_tools_can_go_back_to_the_default)
{
    AUTO_RIG rig = rig_open(t);
    struct agent agent = added(t, &rig, "coach");
    struct agent to = { .id = "coach", .auto_approve_memory = true };

    ASSERT_EQ(agent_change(rig.domain, rig.change, &to,
                           AGENT_MODEL | AGENT_TOOLS | AGENT_AUTO_APPROVE, NOW, &t->err),
              1);
    agent = read_back(t, &rig, "coach");
    ASSERT(!agent.model_id && !agent.tools && agent.auto_approve_memory);
    ASSERT_TEXT(agent.display_name, "Coach");
}

DB_TEST(a_change_to_what_is_there_already_writes_nothing)
{
    AUTO_RIG rig = rig_open(t);
    struct agent to = added(t, &rig, "coach");

    ASSERT_EQ(agent_change(rig.domain, rig.change, &to, 0x7f, NOW + 9, &t->err), 0);
    ASSERT_EQ(read_back(t, &rig, "coach").updated_at, NOW);
}

DB_TEST(a_bad_change_leaves_the_agent_as_it_was)
{
    static const struct {
        struct agent to;
        unsigned field;
        enum err_code code;
    } bad[] = {
        { { .id = "coach", .display_name = "" }, AGENT_NAME, ERR_BAD_REQUEST },
        { { .id = "coach",
            .display_name = "a\xe2\x80\xae"
                            "b" },
          AGENT_NAME,
          ERR_BAD_REQUEST },
        { { .id = "coach", .tools = "{}" }, AGENT_TOOLS, ERR_BAD_REQUEST },
        { { .id = "coach", .tools = "[\"a\",\"a\"]" }, AGENT_TOOLS, ERR_BAD_REQUEST },
        { { .id = "coach", .tools = "[1]" }, AGENT_TOOLS, ERR_BAD_REQUEST },
        { { .id = "coach", .tools = "[" }, AGENT_TOOLS, ERR_BAD_REQUEST },
        { { .id = "coach", .description = "\x01" }, AGENT_DESCRIPTION, ERR_BAD_REQUEST },
        { { .id = "coach", .instructions = "\xff" }, AGENT_INSTRUCTIONS, ERR_BAD_REQUEST },
        { { .id = "nobody", .paused = true }, AGENT_PAUSED, ERR_NOT_FOUND },
        { { .id = "No Id", .paused = true }, AGENT_PAUSED, ERR_BAD_REQUEST },
    };
    AUTO_RIG rig = rig_open(t);

    added(t, &rig, "coach");
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        err_reset(&t->err);
        ASSERT_FAILS(
            agent_change(rig.domain, rig.change, &bad[i].to, bad[i].field, NOW + 1, &t->err),
            bad[i].code);
    }
    ASSERT_EQ(read_back(t, &rig, "coach").updated_at, NOW);
}

DB_TEST(a_description_is_counted_in_characters)
{
    AUTO_RIG rig = rig_open(t);
    char *text = arena_alloc(&t->arena, 1, AGENT_DESCRIPTION_MAX + 2);
    struct agent to = { .id = "coach", .description = text };

    added(t, &rig, "coach");
    memset(text, 'x', AGENT_DESCRIPTION_MAX);
    ASSERT_EQ(agent_change(rig.domain, rig.change, &to, AGENT_DESCRIPTION, NOW, &t->err), 1);
    text[AGENT_DESCRIPTION_MAX] = 'x';
    ASSERT_FAILS(agent_change(rig.domain, rig.change, &to, AGENT_DESCRIPTION, NOW, &t->err),
                 ERR_TOO_LARGE);
}

DB_TEST(destroying_is_for_good_and_done_once)
{
    AUTO_RIG rig = rig_open(t);
    struct agent to = { .id = "coach", .display_name = "Other" };

    added(t, &rig, "coach");
    ASSERT_EQ(agent_set_destroyed(rig.domain, rig.change, STR("coach"), NOW, &t->err), 1);
    ASSERT_EQ(agent_set_destroyed(rig.domain, rig.change, STR("coach"), NOW, &t->err), 0);
    ASSERT_EQ(read_back(t, &rig, "coach").lifecycle, AGENT_DESTROYED);
    ASSERT_FAILS(agent_change(rig.domain, rig.change, &to, AGENT_NAME, NOW, &t->err),
                 ERR_AGENT_DESTROYED);
}

DB_TEST(what_waits_without_a_run_is_withdrawn_for_one_agent_only)
{
    AUTO_RIG rig = rig_open(t);
    struct agent a = added(t, &rig, "a"), b = added(t, &rig, "b");
    struct inbox_item of_a = {
        .id = STR("i1"), .kind = INBOX_MEMORY, .agent_n = a.n, .title = STR("x"), .created_at = NOW
    };
    struct inbox_item of_b = {
        .id = STR("i2"), .kind = INBOX_MEMORY, .agent_n = b.n, .title = STR("x"), .created_at = NOW
    };
    struct inbox_item item;

    ASSERT_OK(inbox_add(rig.domain, rig.change, &of_a, &t->err));
    ASSERT_OK(inbox_add(rig.domain, rig.change, &of_b, &t->err));
    ASSERT_OK(agent_withdraw_items(rig.domain, rig.change, a.n, NOW, &t->err));
    ASSERT_OK(inbox_get(rig.domain, STR("i1"), &t->arena, &item, &t->err));
    ASSERT_EQ(item.state, INBOX_WITHDRAWN);
    ASSERT_STR(item.reason, "the agent was destroyed");
    ASSERT_OK(inbox_get(rig.domain, STR("i2"), &t->arena, &item, &t->err));
    ASSERT_EQ(item.state, INBOX_PENDING);
}

/* ---- ids ---- */

static const char *free_id(struct test *t, struct rig *rig, const char *name)
{
    const char *id;

    ASSERT_OK(agent_free_id(rig->domain, str_from(name), &t->arena, &id, &t->err));
    ASSERT_OK(agent_id_check(str_from(id), &t->err));
    return id;
}

DB_TEST(an_id_is_made_from_the_name)
{
    AUTO_RIG rig = rig_open(t);

    ASSERT_TEXT(free_id(t, &rig, "Gym Coach"), "gym-coach");
    ASSERT_TEXT(free_id(t, &rig, "Coach (copy)"), "coach-copy");
    ASSERT_TEXT(free_id(t, &rig,
                        "\xc3\x9c"
                        "bung & M\xc3\xbc"
                        "he"),
                "ubung-muhe");
    ASSERT_TEXT(free_id(t, &rig, "42 things"), "things");
    ASSERT_TEXT(free_id(t, &rig, "\xe5\xb0\x8f\xe9\xbc\xa0"), "agent");
    ASSERT_TEXT(free_id(t, &rig, "system:builder-wizard"), "system-builder-wizard");
    ASSERT_TEXT(free_id(t, &rig, "\xc3"), "agent");
}

DB_TEST(a_taken_id_gets_a_number_also_when_its_agent_is_gone)
{
    AUTO_RIG rig = rig_open(t);

    added(t, &rig, "coach");
    ASSERT_TEXT(free_id(t, &rig, "Coach"), "coach-2");
    added(t, &rig, "coach-2");
    ASSERT_EQ(agent_set_destroyed(rig.domain, rig.change, STR("coach-2"), NOW, &t->err), 1);
    ASSERT_TEXT(free_id(t, &rig, "COACH!"), "coach-3");
}

DB_TEST(a_long_name_leaves_room_for_the_number)
{
    AUTO_RIG rig = rig_open(t);
    const char *name =
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
    const char *first = free_id(t, &rig, name);

    ASSERT_EQ(strlen(first), 64);
    added(t, &rig, first);
    ASSERT(strcmp(free_id(t, &rig, name), first) != 0);
}
