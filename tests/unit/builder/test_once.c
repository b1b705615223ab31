/* What is asked for twice is made once, on both engines.
 *
 * SPDX-License-Identifier: MIT
 */
#include "rig.h"

/* 1: it was there, 0: it was made now, -1. */
static int make(struct rig *rig, const struct builder_once *once, const char *name,
                struct agent *ret_agent)
{
    struct test *t = rig->t;
    struct builder_form form = { .given = AGENT_NAME, .display_name = str_from(name) };
    int r;

    rig_begin(rig);
    r = builder_made(rig->builder, once, &t->arena, ret_agent, &t->err);
    if (r == 0 && builder_create(rig->builder, &form, &t->arena, ret_agent, &t->err) == 0)
        r = builder_remember(rig->builder, once, ret_agent->n, &t->err);
    return rig_end(rig, r);
}

DB_TEST(the_same_operation_finds_what_it_made_however_many_came_after, .timeout_s = 240)
{
    AUTO(rig) rig = rig_open(t);
    const struct builder_once first = { .id = STR("request:a"), .hash = STR("h") };
    struct agent made, again, other;

    ASSERT_EQ(make(rig, &first, "Coach", &made), 0);
    for (int i = 0; i < 1100; i++) /* more than any look at the newest would see */
        ASSERT_EQ(make(rig, &(struct builder_once){ .id = STR_NONE },
                       arena_printf(&t->arena, "Other %d", i), &other),
                  0);
    ASSERT_EQ(make(rig, &first, "Coach", &again), 1);
    ASSERT_TEXT(again.id, "coach");
    ASSERT_EQ(again.n, made.n);
}

DB_TEST(other_words_under_the_same_key_are_a_conflict)
{
    AUTO(rig) rig = rig_open(t);
    struct agent agent;

    ASSERT_EQ(
        make(rig, &(struct builder_once){ .id = STR("request:a"), .hash = STR("h") }, "A", &agent),
        0);
    ASSERT_FAILS(
        make(rig, &(struct builder_once){ .id = STR("request:a"), .hash = STR("i") }, "B", &agent),
        ERR_CONFLICT);
    ASSERT_CONTAINS(t->err.text, "needs a new key");
    ASSERT_FAILS(agent_get(rig->domain, STR("b"), &t->arena, &agent, &t->err), ERR_NOT_FOUND);
    ASSERT_EQ(
        make(rig, &(struct builder_once){ .id = STR("request:b"), .hash = STR("i") }, "B", &agent),
        0);
    ASSERT_EQ(make(rig, &(struct builder_once){ .id = STR("request:a") }, "A", &agent), 1);
}

DB_TEST(without_an_id_each_time_makes_another)
{
    AUTO(rig) rig = rig_open(t);
    const struct builder_once none = { .id = STR("") };
    struct agent agent;

    ASSERT_EQ(make(rig, &none, "Coach", &agent), 0);
    ASSERT_EQ(make(rig, &none, "Coach", &agent), 0);
    ASSERT_TEXT(agent.id, "coach-2");
}
