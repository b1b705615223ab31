/* The programs that explain behavioral programming, told in tables: what the engine selects, event
 * by event, and what the checker says with and without the thread that makes the difference.
 *
 * SPDX-License-Identifier: MIT
 */
#include "small.h"
#include "variant.h"

static const struct bp_finding *found(struct test *t, const struct bp_program *p, const char *name,
                                      struct bp_report *report)
{
    const struct bp_finding *f;

    ASSERT_OK(bp_check(p, &(struct bp_check_options){ .whole = true }, report, &t->err));
    f = bp_finding_find(report, name);
    ASSERT(f != NULL);
    return f;
}

/* ---- hot and cold water ---- */

enum { HOT = 1, COLD, SERVED, WATER_TYPES };

static const struct bp_type water_types[WATER_TYPES] = {
    [HOT] = { "hot" }, [COLD] = { "cold" }, [SERVED] = { "served", BP_FINAL }
};
static const struct bp_point add_hot[] = { { .request = BP_ASK(HOT) },
                                           { .request = BP_ASK(HOT) },
                                           { .request = BP_ASK(HOT) } };
static const struct bp_point add_cold[] = { { .request = BP_ASK(COLD) },
                                            { .request = BP_ASK(COLD) },
                                            { .request = BP_ASK(COLD) } };
static const struct bp_point mix[] = {
    { .wait = { BP_ON(HOT) }, .block = { BP_ON(COLD) } },
    { .wait = { BP_ON(COLD, .go = BP_GO(0)) }, .block = { BP_ON(HOT) } },
};
static const struct bp_point serve[] = { { .wait = { BP_ON(COLD) }, .times = 3 },
                                         { .name = "serves", .request = BP_ASK(SERVED) } };
static const struct bp_point no_scald[] = {
    { .wait = { BP_ON(HOT) } },
    { .wait = { BP_ON(HOT), BP_ON(COLD, .go = BP_GO(0)) } },
    { .name = "hot twice in a row", .bad = true },
};
static const struct bp_point no_chill[] = {
    { .wait = { BP_ON(COLD) } },
    { .wait = { BP_ON(COLD), BP_ON(HOT, .go = BP_GO(0)) } },
    { .name = "cold twice in a row", .bad = true },
};

#define WATER                                                                                      \
    { BP_TABLE("add_hot", add_hot) }, { BP_TABLE("add_cold", add_cold) },                          \
        { BP_TABLE("serve", serve) }, { BP_TABLE("no_scald", no_scald), .kind = BP_PROPERTY },     \
    {                                                                                              \
        BP_TABLE("no_chill", no_chill), .kind = BP_PROPERTY                                        \
    }

static const struct bp_thread unmixed[] = { WATER };
static const struct bp_thread mixed[] = { WATER, { BP_TABLE("mix", mix), .kind = BP_GUARD } };

TEST(hot_and_cold_water_take_turns_only_when_a_thread_asks_for_it)
{
    PLAY plain, stable;

    play_start(&plain, STORY("water", water_types, unmixed), NULL);
    ASSERT_TEXT(play_heard(&plain), "hot hot hot cold cold cold served ");
    play_start(&stable, STORY("water", water_types, mixed), NULL);
    ASSERT_TEXT(play_heard(&stable), "hot cold hot cold hot cold served ");
    for (unsigned i = 0; i < 3; i++)
        ASSERT_EQ(bp_point_of(stable.engine, i, 0), -1);
}

TEST(water_that_is_not_mixed_scalds_in_two_events_and_chills_in_two)
{
    struct bp_program p = STORY("water", water_types, unmixed);

    ASSERT_TEXT(counterexample(t, &p, "no_scald"), "hot hot");
    ASSERT_TEXT(counterexample(t, &p, "no_chill"), "cold cold");
}

/* Seven events in one line: eight states. */
TEST(mixed_water_is_one_line_of_states_and_proved)
{
    struct bp_program p = STORY("water", water_types, mixed);
    AUTO_REPORT report = { .program = NULL };
    const struct bp_finding *f = found(t, &p, "no_scald", &report);

    ASSERT_EQ(f->verdict, BP_PROVED);
    ASSERT_EQ(f->stats.states, 8);
    ASSERT_EQ(f->stats.transitions, 7);
    ASSERT_EQ(f->stats.depth, 7);
    ASSERT_EQ(bp_report_verdict(&report), BP_PROVED);
    ASSERT_EQ(report.unreachable_count, 0);
    ASSERT_EQ(report.never, 0);
}

TEST(a_second_mixer_the_other_way_round_stops_all_water)
{
    static const struct bp_point other[] = {
        { .wait = { BP_ON(COLD) }, .block = { BP_ON(HOT) } },
        { .wait = { BP_ON(HOT, .go = BP_GO(0)) }, .block = { BP_ON(COLD) } },
    };
    static const struct bp_thread both[] = { WATER,
                                             { BP_TABLE("mix", mix), .kind = BP_GUARD },
                                             { BP_TABLE("other", other), .kind = BP_GUARD } };
    struct bp_program p = STORY("water", water_types, both);
    AUTO_REPORT report = { .program = NULL };
    const struct bp_finding *f = found(t, &p, BP_PROGRESS, &report);
    AUTO_BUF text = BUF_INIT(1 << 16);

    ASSERT_EQ(f->verdict, BP_VIOLATED);
    ASSERT_EQ(f->trace.step_count, 0);
    bp_trace_text(&p, &f->trace, &text);
    ASSERT_TEXT(buf_text(&text), "     => from here no served can be reached without a person"
                                 " stepping in\n"
                                 "    then:\n"
                                 "        add_hot at 0: hot is blocked by other at 0\n"
                                 "        add_cold at 0: cold is blocked by mix at 0\n");
    ASSERT_EQ(report.never, BP_TYPE(HOT) | BP_TYPE(COLD) | BP_TYPE(SERVED));
}

/* ---- a traffic light with a button ---- */

enum { TICK = 1, GREEN_ON, YELLOW_ON, RED_ON, PRESS, WALK, LIGHT_TYPES };

static const struct bp_type light_types[LIGHT_TYPES] = {
    [TICK] = { "tick", BP_EXT }, [GREEN_ON] = { "green" },      [YELLOW_ON] = { "yellow" },
    [RED_ON] = { "red" },        [PRESS] = { "press", BP_EXT }, [WALK] = { "walk", BP_FINAL },
};
static const struct bp_point light[] = {
    { .name = "red", .wait = { BP_ON(TICK) } },    { .request = BP_ASK(GREEN_ON) },
    { .name = "green", .wait = { BP_ON(TICK) } },  { .request = BP_ASK(YELLOW_ON) },
    { .name = "yellow", .wait = { BP_ON(TICK) } }, { .request = BP_ASK(RED_ON, .go = BP_GO(0)) },
};
static const struct bp_point walker[] = { { .wait = { BP_ON(PRESS) } },
                                          { .name = "wants to cross",
                                            .request = BP_ASK(WALK, .go = BP_GO(0)) } };
static const struct bp_point red_only[] = {
    { .wait = { BP_ON(GREEN_ON) } },
    { .name = "cars drive", .wait = { BP_ON(RED_ON, .go = BP_GO(0)) }, .block = { BP_ON(WALK) } },
};
static const struct bp_point no_walk_on_green[] = {
    { .wait = { BP_ON(GREEN_ON) } },
    { .wait = { BP_ON(WALK), BP_ON(RED_ON, .go = BP_GO(0)) } },
    { .name = "walks among cars", .bad = true },
};
static const struct bp_point yellow_between[] = {
    { .wait = { BP_ON(GREEN_ON) } },
    { .wait = { BP_ON(RED_ON), BP_ON(YELLOW_ON, .go = BP_GO(0)) } },
    { .name = "red at once after green", .bad = true },
};

static const struct bp_thread crossing[] = {
    { BP_TABLE("light", light) },
    { BP_TABLE("walker", walker) },
    { BP_TABLE("red_only", red_only), .kind = BP_GUARD },
    { BP_TABLE("no_walk_on_green", no_walk_on_green), .kind = BP_PROPERTY },
    { BP_TABLE("yellow_between", yellow_between), .kind = BP_PROPERTY },
};

TEST(who_presses_the_button_walks_at_once_on_red_and_else_when_it_turns_red)
{
    PLAY p;

    play_start(&p, STORY("crossing", light_types, crossing), NULL);
    ASSERT(play_offer(&p, PRESS, 0, 0));
    ASSERT_TEXT(play_heard(&p), "press walk ");
    ASSERT(play_offer(&p, TICK, 0, 0));
    ASSERT_TEXT(play_heard(&p), "tick green ");
    ASSERT(play_offer(&p, PRESS, 0, 0));
    ASSERT_TEXT(play_heard(&p), "press ");
    ASSERT(play_offer(&p, PRESS, 0, 0)); /* impatience changes nothing */
    ASSERT(play_offer(&p, TICK, 0, 0));
    ASSERT_TEXT(play_heard(&p), "press tick yellow ");
    ASSERT(play_offer(&p, TICK, 0, 0));
    ASSERT_TEXT(play_heard(&p), "tick red walk ");
    ASSERT_EQ(bp_point_of(p.engine, 0, 0), 0);
    ASSERT_EQ(bp_point_of(p.engine, 1, 0), 0);
}

static bool rests_on(const struct bp_finding *f, const char *thread)
{
    for (unsigned i = 0; i < f->rests_count; i++)
        if (strcmp(f->rests_on[i], thread) == 0)
            return true;
    return false;
}

TEST(the_crossing_is_proved_and_each_proof_names_what_it_rests_on)
{
    struct bp_program p = STORY("crossing", light_types, crossing);
    AUTO_REPORT report = { .program = NULL };
    const struct bp_finding *f;

    ASSERT_OK(bp_check(&p, NULL, &report, &t->err));
    ASSERT_EQ(bp_report_verdict(&report), BP_PROVED);
    f = bp_finding_find(&report, "no_walk_on_green");
    ASSERT(rests_on(f, "red_only"));
    ASSERT(!rests_on(f, "walker"));
    f = bp_finding_find(&report, "yellow_between");
    ASSERT(rests_on(f, "light"));
    ASSERT(!rests_on(f, "red_only"));
}

TEST(without_the_rule_someone_walks_among_cars_after_four_events)
{
    struct bp_program p = STORY("crossing", light_types, crossing);
    const struct bp_program *loose = bp_program_without(&p, "red_only", &t->arena);
    AUTO_REPORT report = { .program = NULL };
    const struct bp_finding *f = found(t, loose, "no_walk_on_green", &report);

    ASSERT_EQ(f->verdict, BP_VIOLATED);
    ASSERT_EQ(f->trace.step_count, 4);
    ASSERT_EQ(f->trace.steps[3].event.type, WALK);
    ASSERT_TEXT(f->trace.steps[3].by.thread->name, "walker");
    ASSERT_EQ(bp_finding_find(&report, "yellow_between")->verdict, BP_PROVED);
    expect_proved(t, loose, "no_walk_on_green");
}

TEST(a_clock_that_only_a_person_can_wind_leaves_the_walker_waiting)
{
    struct bp_type types[LIGHT_TYPES];
    struct bp_program p = STORY("crossing", light_types, crossing);

    memcpy(types, light_types, sizeof(types));
    types[TICK].flags |= BP_COOP;
    p.types = types;
    expect_proved(t, &p, BP_PROGRESS);
    ASSERT_TEXT(counterexample(t, &p, BP_PROGRESS), "tick | green press");
}
