/* The rules of a run, each a thread of its own that knows none of the others.
 *
 * A rule blocks from its first point on, and who blocks for good also offers a way out: `denied`
 * for a call, `give_up` for the run. What each is for, and what breaks without it, is proved by
 * properties.c and its tests.
 *
 * SPDX-License-Identifier: MIT
 */
#include "run/program_int.h"

/* ---- the whole ---- */

const struct bp_point run_starts_once[] = {
    { .name = "has not begun",
      .wait = { BP_ON(RUN_EV_START) },
      .block = { BP_ON_ANY(ANYTHING & ~T(START)) } },
    { .block = { BP_ON(RUN_EV_START) } },
};

const struct bp_point run_nothing_after_done[] = {
    { .wait = { BP_ON(RUN_EV_DONE) } },
    { .name = "holds", .block = { BP_ON_ANY(ANYTHING) } },
};

const struct bp_point run_cancelled[] = {
    { .wait = { BP_ON(RUN_EV_CANCEL) } },
    { .name = "holds", .block = { BP_ON_ANY(ENDED) } },
};

const struct bp_point run_given_up[] = {
    { .wait = { BP_ON(RUN_EV_GIVE_UP) } },
    { .name = "holds", .block = { BP_ON_ANY(ENDED) } },
};

/* ---- the model ---- */

/* A request is answered once, even when nobody wants the answer any more, and whatever the mode has
 * become. The last check is heard before the iterations are said to be used up. */
const struct bp_point run_one_request[] = {
    { .wait = { BP_ON_ANY(ASKS) } },
    { .name = "waits for the model",
      .wait = { BP_ON_ANY(T(THOUGHT) | T(CHECKED), .go = BP_GO(0)) },
      .block = { BP_ON_ANY(ASKS | T(DONE)), GIVES_UP(RUN_WHY_ITERATIONS) } },
};

const struct bp_point run_replies_are_asked[] = {
    { .name = "nothing was asked",
      .wait = { BP_ON(RUN_EV_THINK), BP_ON(RUN_EV_CHECK, .go = BP_GO(2)) },
      .block = { BP_ON_ANY(T(THOUGHT) | T(CALL) | T(MUSING) | T(SAID) | T(CHECKED)) } },
    { .name = "a thought was asked for",
      .wait = { BP_ON(RUN_EV_THOUGHT, .go = BP_GO(0)) },
      .block = { BP_ON(RUN_EV_CHECKED) } },
    { .name = "a check was asked for",
      .wait = { BP_ON(RUN_EV_CHECKED, .go = BP_GO(0)) },
      .block = { BP_ON_ANY(T(THOUGHT) | T(CALL)) } },
};

const struct bp_point run_rest[] = {
    { .wait = { BP_ON_ANY(T(THOUGHT) | T(CHECKED), .has = RUN_FAILED | RUN_LATER) },
      .block = { BP_ON(RUN_EV_RESUME) } },
    { .name = "rests", .wait = { BP_ON(RUN_EV_RESUME, .go = BP_GO(0)) } },
};

/* ---- what never acts ---- */

const struct bp_point run_never_acts[] = {
    { .name = "holds", .block = { BP_ON(RUN_EV_ACT, .has = RUN_DANGEROUS) } },
};
const struct bp_point run_never_refused[] = {
    { .name = "holds", .block = { BP_ON(RUN_EV_ACT, .has = RUN_REFUSED) } },
};
const struct bp_point run_never_class_killed[] = {
    { .name = "holds", .block = { BP_ON(RUN_EV_ACT, .has = RUN_CLASS_KILLED) } },
};
/* The way out of each of them. */
const struct bp_point run_refuses[] = {
    { .name = "refuses", .request = BP_MINE(RUN_EV_DENIED) },
};

/* ---- a person's yes ---- */

/* Waived by what the act itself carries, so switching modes interrupts nothing: to wiggum lets what
 * waits act, and back makes what has not acted ask. Edited, judged anew or stale, it asks anew
 * (until in the list of threads). */
#define UNLESS_WAIVED                                                                              \
    BP_ON_MINE(RUN_EV_ACT, .lacks = RUN_WIGGUM), BP_ON_MINE(RUN_EV_ACT, .lacks = RUN_WAIVABLE)
#define NOT_IF_WAIVED BP_ON_ANY(T(GATE) | T(WAITING), .mine = true, .has = WAIVED)

const struct bp_point run_ask_first[] = {
    { .name = "wants to ask",
      .request = BP_MINE(RUN_EV_GATE),
      .wait = { BP_ON_MINE(RUN_EV_ACT, .go = BP_GO(3)) },
      .block = { UNLESS_WAIVED, NOT_IF_WAIVED } },
    { .name = "asks",
      .request = BP_MINE(RUN_EV_WAITING),
      .wait = { BP_ON_MINE(RUN_EV_ACT, .go = BP_GO(3)) },
      .block = { UNLESS_WAIVED, NOT_IF_WAIVED } },
    { .name = "waits for the answer",
      .wait = { BP_ON_MINE(RUN_EV_ANSWER, .has = RUN_ALLOWED),
                BP_ON_MINE(RUN_EV_ACT, .go = BP_GO(3)) },
      .block = { UNLESS_WAIVED } },
    { .name = "has a yes to what was shown", .wait = { BP_ON_MINE(RUN_EV_SETTLED) } },
};

const struct bp_point run_answers_are_asked[] = {
    { .wait = { BP_ON_MINE(RUN_EV_WAITING) }, .block = { BP_ON_MINE(RUN_EV_ANSWER) } },
    { .name = "waits for a person",
      .wait = { BP_ON_ANY(ANEW | T(ANSWER) | T(ACT), .mine = true, .go = BP_GO(0)) } },
};

const struct bp_point run_a_no_stays_no[] = {
    { .wait = { BP_ON_MINE(RUN_EV_ANSWER, .lacks = RUN_ALLOWED) } },
    { .name = "refuses", .request = BP_MINE(RUN_EV_DENIED), .block = { BP_ON_MINE(RUN_EV_ACT) } },
};

/* ---- side by side ---- */

const struct bp_point run_serial[] = {
    { .wait = { BP_ON_MINE(RUN_EV_ACT, .has = RUN_SERIAL),
                BP_ON_MINE(RUN_EV_ACT, .lacks = RUN_SERIAL, .go = BP_GO(2)) } },
    { .name = "acts alone",
      .wait = { BP_ON_MINE(RUN_EV_ACTED, .go = BP_GO(0)) },
      .block = { BP_ON(RUN_EV_ACT) } },
    { .name = "acts beside others",
      .wait = { BP_ON_MINE(RUN_EV_ACTED, .go = BP_GO(0)) },
      .block = { BP_ON(RUN_EV_ACT, .has = RUN_SERIAL) } },
};

/* ---- limits ---- */

/* What has been used up is said when a call wants more, not before: the thought after the last call
 * may well be the answer. */
const struct bp_point run_tool_limit[] = {
    { .wait = { BP_ON(RUN_EV_ACT) },
      .block = { GIVES_UP(RUN_WHY_TOOL_CALLS) },
      .times = BP_LIMIT(RUN_LIMIT_TOOL_CALLS) },
    { .name = "holds", .block = { BP_ON(RUN_EV_ACT) } },
};

const struct bp_point run_over_tool_limit[] = {
    { .wait = { BP_ON(RUN_EV_THOUGHT, .lacks = RUN_FAILED) } },
    { .name = "wants to act",
      .request = BP_ASK(RUN_EV_GIVE_UP, .set = RUN_WHY_TOOL_CALLS, .go = BP_END),
      .wait = { BP_ON_MINE(RUN_EV_ACT) } },
    { .wait = { BP_ON_MINE(RUN_EV_ACTED, .has = RUN_STALE, .lacks = RUN_UNKNOWN, .go = BP_GO(1)),
                BP_ON_MINE(RUN_EV_TOLD, .has = RUN_AGAIN, .go = BP_GO(1)) } },
};

const struct bp_point run_iteration_limit[] = {
    { .wait = { BP_ON(RUN_EV_OBSERVE) }, .times = BP_LIMIT(RUN_LIMIT_ITERATIONS) },
    { .name = "says so",
      .request = BP_ASK(RUN_EV_GIVE_UP, .set = RUN_WHY_ITERATIONS),
      .block = { BP_ON(RUN_EV_THINK) } },
    { .name = "holds", .block = { BP_ON(RUN_EV_THINK) } },
};

const struct bp_point run_spent[] = {
    { .wait = { BP_ON(RUN_EV_SPENT) } },
    { .name = "says so",
      .request = BP_ASK(RUN_EV_GIVE_UP, .set = RUN_WHY_SPENT),
      .block = { BP_ON_ANY(STARTS) } },
    { .name = "holds", .block = { BP_ON_ANY(STARTS) } },
};

/* ---- kill switches of all and of the agent ---- */

/* Takes no word that would let something begin: what waits for a person keeps waiting. */
const struct bp_point run_killed[] = {
    { .wait = { BP_ON(RUN_EV_KILL) } },
    { .name = "holds",
      .wait = { BP_ON(RUN_EV_UNKILL, .go = BP_GO(0)) },
      .block = { BP_ON_ANY(STARTS | T(EDIT) | T(ASKED)), BP_ON(RUN_EV_ANSWER, .has = RUN_ALLOWED),
                 BP_ON(RUN_EV_TOLD, .has = RUN_AGAIN) } },
};

const struct bp_point run_kill_ends[] = {
    { .wait = { BP_ON(RUN_EV_KILL) } },
    { .name = "wants to end",
      .request = BP_ASK(RUN_EV_GIVE_UP, .set = RUN_WHY_KILLED, .go = BP_END),
      .wait = { BP_ON(RUN_EV_UNKILL, .go = BP_GO(0)) } },
};

const struct bp_point run_gate_outlives_kill[] = {
    { .name = "waits for a person",
      .wait = { BP_ON_ANY(ANEW | T(ANSWER) | T(ACT), .mine = true, .go = BP_END) },
      .block = { GIVES_UP(RUN_WHY_KILLED) } },
};

/* Its answer is a completion, which a kill must not take for one. */
const struct bp_point run_question_outlives_kill[] = {
    { .name = "waits for a person",
      .wait = { BP_ON_MINE(RUN_EV_ACTED, .go = BP_END), BP_ON(RUN_EV_KILL) },
      .block = { GIVES_UP(RUN_WHY_KILLED) } },
    { .name = "waits for the end of the kill",
      .wait = { BP_ON_MINE(RUN_EV_ACTED, .go = BP_END), BP_ON(RUN_EV_UNKILL, .go = BP_GO(0)) },
      .block = { GIVES_UP(RUN_WHY_KILLED), BP_ON_MINE(RUN_EV_ACTED, .lacks = RUN_FAILED) } },
};

const struct bp_point run_unknown_outlives_kill[] = {
    { .name = "waits for a person",
      .wait = { BP_ON_MINE(RUN_EV_TOLD, .go = BP_END) },
      .block = { GIVES_UP(RUN_WHY_KILLED) } },
};
