/* Longer stories: what a person, a kill switch, a crash or a mode switch does to a run.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/rand.h"
#include "walk.h"

#define RISKY_WAIVABLE (RUN_RISKY | RUN_WAIVABLE)

/* A run whose first thought has these calls, keys from 1. */
static void begin_calls(struct walk *w, struct test *t, uint32_t mode, const uint32_t *bits,
                        unsigned n)
{
    walk_begin(w, t, &run_program, NULL);
    ASSERT_EQ(walk_offer(w, RUN_EV_START, 0, mode), 0);
    for (unsigned i = 0; i < n; i++)
        ASSERT_EQ(walk_offer(w, RUN_EV_CALL, i + 1, bits[i]), 0);
    w->shown = w->count;
}

#define CALLS(w, mode, ...)                                                                        \
    begin_calls((w), t, (mode), (uint32_t[]){ __VA_ARGS__ },                                       \
                sizeof((uint32_t[]){ __VA_ARGS__ }) / sizeof(uint32_t))

/* ---- approval ---- */

TEST(a_risky_call_asks_and_acts_after_a_yes)
{
    AUTO_WALK w;

    CALLS(&w, 0, RUN_RISKY);
    SAYS(&w, THOUGHT, 0, RUN_MORE, "thought(more), gate(1, risky), waiting(1, risky)");
    SAYS(&w, ANSWER, 1, RUN_ALLOWED, "answer(1, allowed), act(1, risky)");
    SAYS(&w, ACTED, 1, 0, "acted(1), settled(1, risky), observe, think");
}

TEST(a_no_goes_back_to_the_model)
{
    AUTO_WALK w;

    CALLS(&w, 0, RUN_RISKY);
    SAYS(&w, THOUGHT, 0, RUN_MORE, "thought(more), gate(1, risky), waiting(1, risky)");
    SAYS(&w, ANSWER, 1, 0, "answer(1), denied(1, risky), settled(1, risky), observe, think");
}

TEST(an_edit_is_shown_and_asked_anew)
{
    AUTO_WALK w;

    CALLS(&w, 0, RUN_RISKY);
    SAYS(&w, THOUGHT, 0, RUN_MORE, "thought(more), gate(1, risky), waiting(1, risky)");
    SAYS(&w, EDIT, 1, RUN_RISKY | RUN_SERIAL,
         "edit(1, risky, serial), gate(1, risky, serial), waiting(1, risky, serial)");
    SAYS(&w, ANSWER, 1, RUN_ALLOWED, "answer(1, allowed), act(1, risky, serial)");
}

TEST(an_edit_that_makes_a_call_harmless_lets_it_act_and_a_dangerous_one_never)
{
    AUTO_WALK w;

    CALLS(&w, 0, RUN_RISKY, RUN_RISKY);
    SAYS(&w, THOUGHT, 0, RUN_MORE,
         "thought(more), gate(1, risky), waiting(1, risky), gate(2, risky), waiting(2, risky)");
    SAYS(&w, EDIT, 1, 0, "edit(1), act(1)");
    SAYS(&w, EDIT, 2, RUN_DANGEROUS,
         "edit(2, dangerous), denied(2, dangerous), settled(2, dangerous)");
    SAYS(&w, ANSWER, 2, RUN_ALLOWED, "refused, reason 4");
    SAYS(&w, ACTED, 1, 0, "acted(1), settled(1), observe, think");
}

TEST(a_stale_target_is_asked_about_anew)
{
    AUTO_WALK w;

    CALLS(&w, 0, RUN_RISKY);
    walk_offer(&w, RUN_EV_THOUGHT, 0, RUN_MORE);
    ASSERT_EQ(walk_offer(&w, RUN_EV_ANSWER, 1, RUN_ALLOWED), 0);
    w.shown = w.count;
    SAYS(&w, ACTED, 1, RUN_STALE, "acted(1, stale), gate(1, risky), waiting(1, risky)");
    SAYS(&w, ANSWER, 1, RUN_ALLOWED, "answer(1, allowed), act(1, risky)");
}

TEST(an_answer_is_taken_only_while_it_is_asked_for)
{
    AUTO_WALK w;

    CALLS(&w, 0, RUN_RISKY, 0);
    SAYS(&w, ANSWER, 1, RUN_ALLOWED, "refused by answers_are_asked");
    SAYS(&w, THOUGHT, 0, RUN_MORE, "thought(more), gate(1, risky), waiting(1, risky), act(2)");
    SAYS(&w, ANSWER, 2, RUN_ALLOWED, "refused by answers_are_asked");
    SAYS(&w, ANSWER, 1, RUN_ALLOWED, "answer(1, allowed), act(1, risky)");
    SAYS(&w, ANSWER, 1, 0, "refused by answers_are_asked");
}

TEST(judged_anew_as_risky_a_yes_is_no_longer_one)
{
    AUTO_WALK w;

    CALLS(&w, 0, RUN_RISKY | RUN_SERIAL, RUN_SERIAL);
    SAYS(&w, THOUGHT, 0, RUN_MORE,
         "thought(more), gate(1, risky, serial), waiting(1, risky, serial), act(2, serial)");
    SAYS(&w, ANSWER, 1, RUN_ALLOWED, "answer(1, allowed)");
    SAYS(&w, JUDGED, 1, RUN_RISKY, "judged(1, risky), gate(1, risky), waiting(1, risky)");
    SAYS(&w, ACTED, 2, 0, "acted(2), settled(2, serial)");
    SAYS(&w, ANSWER, 1, RUN_ALLOWED, "answer(1, allowed), act(1, risky)");
}

TEST(what_is_refused_is_settled_only_when_the_thought_is_whole)
{
    AUTO_WALK w;

    walk_begin(&w, t, &run_program, NULL);
    SAYS(&w, START, 0, 0, "start, think");
    SAYS(&w, CALL, 1, RUN_REFUSED, "call(1, refused), denied(1, refused)");
    SAYS(&w, CALL, 2, RUN_CLASS_KILLED, "call(2, class_killed), denied(2, class_killed)");
    SAYS(&w, EDIT, 1, 0, "refused by call");
    SAYS(&w, THOUGHT, 0, RUN_MORE,
         "thought(more), settled(1, refused), settled(2, class_killed), observe, think");
}

TEST(calls_of_a_thought_that_failed_never_act)
{
    AUTO_WALK w;

    CALLS(&w, 0, 0, RUN_RISKY);
    SAYS(&w, THOUGHT, 0, RUN_FAILED, "thought(failed), settled(1), settled(2, risky), done");
}

/* ---- side by side ---- */

TEST(calls_act_side_by_side_and_are_joined)
{
    AUTO_WALK w;

    CALLS(&w, 0, 0, 0, 0);
    SAYS(&w, THOUGHT, 0, RUN_MORE, "thought(more), act(1), act(2), act(3)");
    SAYS(&w, ACTED, 2, 0, "acted(2), settled(2)");
    SAYS(&w, ACTED, 2, 0, "refused, reason 4");
    SAYS(&w, ACTED, 1, RUN_FAILED, "acted(1, failed), settled(1)");
    SAYS(&w, ACTED, 3, 0, "acted(3), settled(3), observe, think");
}

TEST(a_serial_call_acts_alone)
{
    AUTO_WALK w;

    CALLS(&w, 0, 0, RUN_SERIAL, 0);
    SAYS(&w, THOUGHT, 0, RUN_MORE, "thought(more), act(1), act(3)");
    SAYS(&w, ACTED, 1, 0, "acted(1), settled(1)");
    SAYS(&w, ACTED, 3, 0, "acted(3), act(2, serial), settled(3)");
    SAYS(&w, ACTED, 2, 0, "acted(2), settled(2, serial), observe, think");
}

TEST(one_call_more_than_a_thought_may_have_is_refused)
{
    AUTO_WALK w;

    walk_begin(&w, t, &run_program, NULL);
    ASSERT_EQ(walk_offer(&w, RUN_EV_START, 0, 0), 0);
    for (unsigned i = 1; i <= RUN_CALLS_MAX; i++)
        ASSERT_EQ(walk_offer(&w, RUN_EV_CALL, i, 0), 0);
    ASSERT_EQ(bp_free_key(w.engine), 0);
    ASSERT_EQ(walk_offer(&w, RUN_EV_CALL, RUN_CALLS_MAX + 1, 0), -1);
}

/* ---- unknown effects and questions ---- */

TEST(an_unknown_effect_waits_for_a_persons_word)
{
    AUTO_WALK w;

    CALLS(&w, 0, 0, 0);
    SAYS(&w, THOUGHT, 0, RUN_MORE, "thought(more), act(1), act(2)");
    SAYS(&w, ACTED, 1, RUN_UNKNOWN, "acted(1, unknown)");
    SAYS(&w, ACTED, 2, RUN_UNKNOWN, "acted(2, unknown)");
    SAYS(&w, JUDGED, 1, 0, "refused by call");
    SAYS(&w, TOLD, 1, RUN_AGAIN, "told(1, again), act(1)");
    SAYS(&w, TOLD, 2, 0, "told(2), settled(2)");
    SAYS(&w, ACTED, 1, 0, "acted(1), settled(1), observe, think");
}

TEST(a_tool_that_asks_a_person_keeps_acting)
{
    AUTO_WALK w;

    CALLS(&w, 0, 0);
    SAYS(&w, THOUGHT, 0, RUN_MORE, "thought(more), act(1)");
    SAYS(&w, ASKED, 1, 0, "asked(1)");
    SAYS(&w, TOLD, 1, 0, "refused by call");
    SAYS(&w, ACTED, 1, 0, "acted(1), settled(1), observe, think");
}

/* ---- modes ---- */

TEST(switching_to_wiggum_lets_what_waits_and_may_be_waived_act)
{
    AUTO_WALK w;

    CALLS(&w, 0, RISKY_WAIVABLE, RUN_RISKY);
    walk_offer(&w, RUN_EV_THOUGHT, 0, RUN_MORE);
    w.shown = w.count;
    SAYS(&w, SET_MODE, 0, RUN_WIGGUM, "set_mode(wiggum), act(1, risky, waivable, wiggum)");
    ASSERT_TEXT(walk_doing(&w, "ask_first", 2), "waits for the answer");
    SAYS(&w, ANSWER, 1, 0, "refused by answers_are_asked");
    SAYS(&w, SET_MODE, 0, 0, "set_mode");
    SAYS(&w, ACTED, 1, RUN_STALE,
         "acted(1, stale), gate(1, risky, waivable), waiting(1, risky, waivable)");
    SAYS(&w, ANSWER, 2, 0, "answer(2), denied(2, risky), settled(2, risky)");
    SAYS(&w, ANSWER, 1, RUN_ALLOWED, "answer(1, allowed), act(1, risky, waivable)");
    SAYS(&w, ACTED, 1, 0, "acted(1), settled(1, risky, waivable), observe, think");
}

TEST(switching_back_makes_calls_that_have_not_acted_ask)
{
    AUTO_WALK w;

    CALLS(&w, RUN_WIGGUM, RUN_SERIAL, RISKY_WAIVABLE);
    SAYS(&w, THOUGHT, 0, RUN_MORE, "thought(more), act(1, serial, wiggum)");
    SAYS(&w, SET_MODE, 0, 0, "set_mode, gate(2, risky, waivable), waiting(2, risky, waivable)");
    SAYS(&w, ACTED, 1, 0, "acted(1), settled(1, serial)");
    SAYS(&w, ANSWER, 2, RUN_ALLOWED, "answer(2, allowed), act(2, risky, waivable)");
}

TEST(switching_while_thinking_asks_the_model_once)
{
    AUTO_WALK w;

    walk_begin(&w, t, &run_program, NULL);
    SAYS(&w, START, 0, 0, "start, think");
    SAYS(&w, SET_MODE, 0, RUN_WIGGUM, "set_mode(wiggum)");
    SAYS(&w, THOUGHT, 0, 0, "thought, observe(wiggum), check(wiggum)");
    SAYS(&w, SET_MODE, 0, 0, "set_mode");
    SAYS(&w, THOUGHT, 0, 0, "refused by replies_are_asked");
    SAYS(&w, CHECKED, 0, 0, "checked, think");
    SAYS(&w, THOUGHT, 0, 0, "thought, done");
}

/* ---- rests, limits ---- */

TEST(a_model_that_is_busy_is_asked_again_after_a_rest)
{
    AUTO_WALK w;

    walk_begin(&w, t, &run_program, NULL);
    SAYS(&w, START, 0, RUN_WIGGUM, "start(wiggum), think(wiggum)");
    SAYS(&w, RESUME, 0, 0, "refused by rest");
    SAYS(&w, THOUGHT, 0, RUN_FAILED | RUN_LATER, "thought(failed, later)");
    SAYS(&w, RESUME, 0, 0, "resume, think(wiggum)");
    SAYS(&w, THOUGHT, 0, RUN_MORE, "thought(more), observe(wiggum), check(wiggum)");
    SAYS(&w, CHECKED, 0, RUN_FAILED | RUN_LATER, "checked(failed, later)");
    SAYS(&w, RESUME, 0, 0, "resume, check(wiggum)");
    SAYS(&w, CHECKED, 0, RUN_FAILED, "checked(failed), done(wiggum)");
}

TEST(iterations_run_out_but_the_last_check_is_heard)
{
    static const uint16_t limits[RUN_LIMIT_COUNT] = { [RUN_LIMIT_ITERATIONS] = 2 };
    AUTO_WALK w;

    walk_begin(&w, t, &run_program, limits);
    ASSERT_EQ(walk_offer(&w, RUN_EV_START, 0, RUN_WIGGUM), 0);
    ASSERT_EQ(walk_offer(&w, RUN_EV_THOUGHT, 0, 0), 0);
    ASSERT_EQ(walk_offer(&w, RUN_EV_CHECKED, 0, 0), 0);
    w.shown = w.count;
    SAYS(&w, THOUGHT, 0, 0, "thought, observe(wiggum), check(wiggum)");
    SAYS(&w, CHECKED, 0, 0, "checked, give_up(wiggum, again), done(wiggum)");
}

TEST(finished_in_the_last_iteration_is_finished)
{
    static const uint16_t limits[RUN_LIMIT_COUNT] = { [RUN_LIMIT_ITERATIONS] = 1 };
    AUTO_WALK w;

    walk_begin(&w, t, &run_program, limits);
    ASSERT_EQ(walk_offer(&w, RUN_EV_START, 0, RUN_WIGGUM), 0);
    ASSERT_EQ(walk_offer(&w, RUN_EV_THOUGHT, 0, 0), 0);
    w.shown = w.count;
    SAYS(&w, CHECKED, 0, RUN_FINISHED, "checked(finished), done(wiggum)");
}

TEST(iterations_run_out_in_structured_mode)
{
    static const uint16_t limits[RUN_LIMIT_COUNT] = { [RUN_LIMIT_ITERATIONS] = 1 };
    AUTO_WALK w;

    walk_begin(&w, t, &run_program, limits);
    SAYS(&w, START, 0, 0, "start, think");
    SAYS(&w, THOUGHT, 0, RUN_MORE, "thought(more), observe, give_up(again), done");
}

TEST(the_thought_after_the_last_tool_call_may_be_the_answer)
{
    static const uint16_t limits[RUN_LIMIT_COUNT] = { [RUN_LIMIT_TOOL_CALLS] = 1 };
    AUTO_WALK w;

    walk_begin(&w, t, &run_program, limits);
    SAYS(&w, START, 0, 0, "start, think");
    SAYS(&w, CALL, 1, 0, "call(1)");
    SAYS(&w, THOUGHT, 0, RUN_MORE, "thought(more), act(1)");
    SAYS(&w, ACTED, 1, 0, "acted(1), settled(1), observe, think");
    SAYS(&w, THOUGHT, 0, 0, "thought, done");
}

TEST(a_tool_call_too_many_ends_the_run_when_those_under_way_are_over)
{
    static const uint16_t limits[RUN_LIMIT_COUNT] = { [RUN_LIMIT_TOOL_CALLS] = 1 };
    AUTO_WALK w;

    walk_begin(&w, t, &run_program, limits);
    ASSERT_EQ(walk_offer(&w, RUN_EV_START, 0, 0), 0);
    ASSERT_EQ(walk_offer(&w, RUN_EV_CALL, 1, 0), 0);
    ASSERT_EQ(walk_offer(&w, RUN_EV_CALL, 2, 0), 0);
    w.shown = w.count;
    SAYS(&w, THOUGHT, 0, RUN_MORE, "thought(more), act(1), give_up(more), settled(2)");
    SAYS(&w, ACTED, 1, RUN_STALE, "acted(1, stale), settled(1), done");
}

TEST(what_is_spent_ends_the_run_even_while_a_person_is_asked)
{
    AUTO_WALK w;

    CALLS(&w, 0, RUN_RISKY, 0);
    SAYS(&w, THOUGHT, 0, RUN_MORE, "thought(more), gate(1, risky), waiting(1, risky), act(2)");
    SAYS(&w, SPENT, 0, 0, "spent, give_up(finished), settled(1, risky)");
    SAYS(&w, SET_MODE, 0, RUN_WIGGUM, "refused by given_up");
    SAYS(&w, ACTED, 2, 0, "acted(2), settled(2), done");
}

/* ---- kill switches ---- */

TEST(a_kill_ends_a_run_when_what_was_under_way_has_come_back)
{
    AUTO_WALK w;

    CALLS(&w, 0, 0);
    SAYS(&w, KILL, 0, RUN_KILLED, "kill(killed), give_up(killed, later)");
    SAYS(&w, CALL, 2, 0, "refused by given_up");
    SAYS(&w, THOUGHT, 0, RUN_FAILED, "thought(failed), settled(1, killed), done(killed)");
}

TEST(a_kill_leaves_what_waits_for_a_person_and_takes_no_yes)
{
    AUTO_WALK w;

    CALLS(&w, 0, RUN_RISKY, 0, RUN_SERIAL);
    walk_offer(&w, RUN_EV_THOUGHT, 0, RUN_MORE);
    w.shown = w.count;
    SAYS(&w, KILL, 0, RUN_KILLED, "kill(killed)");
    SAYS(&w, ANSWER, 1, RUN_ALLOWED, "refused by killed");
    SAYS(&w, EDIT, 1, 0, "refused by killed");
    SAYS(&w, ACTED, 2, RUN_FAILED, "acted(2, failed), settled(2, killed)");
    ASSERT_TEXT(walk_doing(&w, "ask_first", 1), "waits for the answer");
    SAYS(&w, UNKILL, 0, 0, "unkill, act(3, serial)");
    SAYS(&w, ACTED, 3, 0, "acted(3), settled(3, serial)");
    SAYS(&w, ANSWER, 1, RUN_ALLOWED, "answer(1, allowed), act(1, risky)");
    SAYS(&w, ACTED, 1, 0, "acted(1), settled(1, risky), observe, think");
}

TEST(a_no_during_a_kill_is_taken_and_ends_the_run)
{
    AUTO_WALK w;

    CALLS(&w, 0, RUN_RISKY);
    walk_offer(&w, RUN_EV_THOUGHT, 0, RUN_MORE);
    ASSERT_EQ(walk_offer(&w, RUN_EV_KILL, 0, RUN_KILLED), 0);
    w.shown = w.count;
    SAYS(&w, ANSWER, 1, 0,
         "answer(1), denied(1, risky, killed), settled(1, risky, killed), observe(killed), "
         "give_up(killed, later), done(killed)");
}

TEST(a_question_and_an_unknown_effect_outlive_a_kill)
{
    AUTO_WALK w;

    CALLS(&w, 0, 0, 0);
    walk_offer(&w, RUN_EV_THOUGHT, 0, RUN_MORE);
    ASSERT_EQ(walk_offer(&w, RUN_EV_ASKED, 1, 0), 0);
    ASSERT_EQ(walk_offer(&w, RUN_EV_ACTED, 2, RUN_UNKNOWN), 0);
    w.shown = w.count;
    SAYS(&w, KILL, 0, RUN_KILLED, "kill(killed)");
    SAYS(&w, ACTED, 1, 0, "refused by question_outlives_kill");
    SAYS(&w, TOLD, 2, RUN_AGAIN, "refused by killed");
    SAYS(&w, UNKILL, 0, 0, "unkill");
    SAYS(&w, TOLD, 2, 0, "told(2), settled(2)");
    SAYS(&w, ACTED, 1, 0, "acted(1), settled(1), observe, think");
}

TEST(a_killed_class_is_refused_while_it_waits_and_the_others_go_on)
{
    AUTO_WALK w;

    CALLS(&w, 0, RUN_RISKY, RUN_RISKY);
    walk_offer(&w, RUN_EV_THOUGHT, 0, RUN_MORE);
    w.shown = w.count;
    SAYS(&w, JUDGED, 1, RUN_CLASS_KILLED,
         "judged(1, class_killed), denied(1, class_killed), settled(1, class_killed)");
    SAYS(&w, ANSWER, 2, RUN_ALLOWED, "answer(2, allowed), act(2, risky)");
}

/* ---- cancel, everywhere ---- */

TEST(cancel_settles_what_waits_and_awaits_what_acts)
{
    AUTO_WALK w;

    CALLS(&w, 0, RUN_RISKY, 0);
    walk_offer(&w, RUN_EV_THOUGHT, 0, RUN_MORE);
    w.shown = w.count;
    SAYS(&w, CANCEL, 0, 0, "cancel, settled(1, risky)");
    SAYS(&w, ACTED, 2, RUN_UNKNOWN, "acted(2, unknown), settled(2), done");
}

/* One word from outside that might come now; often it may not. */
static void random_word(struct walk *w, struct rand *rand)
{
    static const uint8_t words[] = {
        RUN_EV_CALL,   RUN_EV_CALL,   RUN_EV_THOUGHT, RUN_EV_THOUGHT, RUN_EV_ANSWER,
        RUN_EV_ANSWER, RUN_EV_EDIT,   RUN_EV_JUDGED,  RUN_EV_ACTED,   RUN_EV_ACTED,
        RUN_EV_ASKED,  RUN_EV_TOLD,   RUN_EV_CHECKED, RUN_EV_RESUME,  RUN_EV_SET_MODE,
        RUN_EV_KILL,   RUN_EV_UNKILL, RUN_EV_SAID,
    };
    unsigned type = words[rand_below(rand, sizeof(words))];
    const struct bp_type *is = &run_program.types[type];
    uint32_t bits = (uint32_t)rand_u64(rand) & (uint32_t)rand_u64(rand) & is->bits;

    if (type == RUN_EV_KILL || type == RUN_EV_UNKILL)
        bits = type == RUN_EV_KILL ? RUN_KILLED : 0;
    walk_offer(w, type, is->flags & BP_KEYED ? 1 + (unsigned)rand_below(rand, 4) : 0, bits);
}

/* What the host owes: every effect under way comes back once. */
static void complete_effects(struct walk *w)
{
    if (strcmp(walk_doing(w, "one_request", 0), "waits for the model") == 0) {
        if (walk_offer(w, RUN_EV_THOUGHT, 0, RUN_FAILED) < 0)
            ASSERT_EQ(walk_offer(w, RUN_EV_CHECKED, 0, RUN_FAILED), 0);
    }
    for (unsigned key = 1; key <= 4; key++)
        if (strcmp(walk_doing(w, "call", key), "is being stopped") == 0)
            ASSERT_EQ(walk_offer(w, RUN_EV_ACTED, key, RUN_FAILED), 0);
}

static bool began(unsigned type)
{
    return type == RUN_EV_THINK || type == RUN_EV_CHECK || type == RUN_EV_ACT;
}

static void cancel_now(struct walk *w)
{
    unsigned at = w->count;

    ASSERT_EQ(walk_offer(w, RUN_EV_CANCEL, 0, 0), 0);
    complete_effects(w);
    if (!walk_done(w))
        FAIL("not done after cancel: %s", walk_says(w, RUN_EV_CANCEL, 0, 0));
    for (; at < w->count; at++)
        ASSERT(!began(w->events[at].type));
}

TEST(cancel_after_any_prefix_of_a_random_walk_leads_to_done)
{
    static struct walk w;
    size_t ended = 0, cancelled = 0;

    for (uint64_t seed = 1; seed <= 3000; seed++) {
        struct rand_fake fake;
        struct rand *rand = &fake.rand;
        unsigned words;

        rand_fake_init(&fake, seed);
        words = (unsigned)rand_below(rand, 60);
        walk_begin(&w, t, &run_program, NULL);
        ASSERT_EQ(walk_offer(&w, RUN_EV_START, 0, seed & 1 ? RUN_WIGGUM : 0), 0);
        for (unsigned i = 0; i < words && !walk_done(&w); i++)
            random_word(&w, rand);
        ended += walk_done(&w);
        if (!walk_done(&w)) {
            cancel_now(&w);
            cancelled++;
        }
        walk_end(&w);
    }
    /* The walks are worth something: many are still under way, some have ended by themselves. */
    if (cancelled < 500 || ended < 500)
        FAIL("%zu cancelled, %zu ended", cancelled, ended);
}

TEST(the_same_words_select_the_same_events_when_they_are_forced)
{
    static struct walk w;

    for (uint64_t seed = 1; seed <= 300; seed++) {
        struct rand_fake fake;
        struct rand *rand = &fake.rand;
        AUTO(bp_engine) again = bp_new(&run_program, RUN_CALLS_MAX, NULL);

        rand_fake_init(&fake, seed);
        walk_begin(&w, t, &run_program, NULL);
        ASSERT_EQ(walk_offer(&w, RUN_EV_START, 0, 0), 0);
        for (unsigned i = 0; i < 80 && !walk_done(&w); i++)
            random_word(&w, rand);
        for (unsigned i = 0; i < w.count; i++)
            ASSERT_EQ(bp_force(again, &w.events[i], NULL), 0);
        walk_end(&w);
    }
}

/* ---- judgements ---- */

TEST(a_judgement_names_one_reason_and_keeps_what_a_policy_added)
{
    ASSERT_EQ(run_judgement(RUN_DANGEROUS | RUN_REFUSED | RUN_RISKY | 1u << 16),
              RUN_DANGEROUS | 1u << 16);
    ASSERT_EQ(run_judgement(RUN_REFUSED | RUN_CLASS_KILLED | RUN_SERIAL), RUN_REFUSED);
    ASSERT_EQ(run_judgement(RUN_CLASS_KILLED | RUN_WAIVABLE), RUN_CLASS_KILLED);
    ASSERT_EQ(run_judgement(RUN_WAIVABLE | RUN_SERIAL), RUN_SERIAL);
    ASSERT_EQ(run_judgement(RISKY_WAIVABLE), RISKY_WAIVABLE);
}
