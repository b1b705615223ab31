/* What must never happen in a run, told by what is seen: the events, not how a rule keeps them
 * away.
 *
 * SPDX-License-Identifier: MIT
 */
#include "run/program_int.h"

/* ---- the whole ---- */

const struct bp_point run_begins_with_start[] = {
    { .wait = { BP_ON(RUN_EV_START), BP_ON_ANY(ANYTHING, .go = BP_GO(2)) } },
    { .wait = { BP_ON(RUN_EV_START) } },
    { .name = "something before the start, or a second start", .bad = true },
};

const struct bp_point run_done_is_done[] = {
    { .wait = { BP_ON(RUN_EV_DONE) } },
    { .wait = { BP_ON_ANY(ANYTHING) } },
    { .name = "something after done", .bad = true },
};

const struct bp_point run_cancel_stops[] = {
    { .wait = { BP_ON(RUN_EV_CANCEL) } },
    { .wait = { BP_ON_ANY(STARTS | T(CALL) | T(GIVE_UP)) } },
    { .name = "something began after cancel", .bad = true },
};

const struct bp_point run_given_up_stops[] = {
    { .wait = { BP_ON(RUN_EV_GIVE_UP) } },
    { .wait = { BP_ON_ANY(STARTS | T(CALL) | T(GIVE_UP)) } },
    { .name = "something began after giving up", .bad = true },
};

/* ---- the model ---- */

const struct bp_point run_one_model_request[] = {
    { .wait = { BP_ON_ANY(ASKS) } },
    { .name = "waits for the model",
      .wait = { BP_ON_ANY(T(THOUGHT) | T(CHECKED), .go = BP_GO(0)), BP_ON_ANY(ASKS | T(DONE)) } },
    { .name = "two model requests at once, or done during one", .bad = true },
};

const struct bp_point run_replies_need_requests[] = {
    { .wait = { BP_ON(RUN_EV_THINK), BP_ON(RUN_EV_CHECK, .go = BP_GO(2)),
                BP_ON_ANY(T(THOUGHT) | T(CHECKED) | T(CALL) | T(MUSING) | T(SAID),
                          .go = BP_GO(3)) } },
    { .wait = { BP_ON(RUN_EV_THOUGHT, .go = BP_GO(0)), BP_ON(RUN_EV_CHECKED, .go = BP_GO(3)) } },
    { .wait = { BP_ON(RUN_EV_CHECKED, .go = BP_GO(0)),
                BP_ON_ANY(T(THOUGHT) | T(CALL), .go = BP_GO(3)) } },
    { .name = "a reply to nothing that was asked", .bad = true },
};

const struct bp_point run_resume_needs_a_rest[] = {
    { .wait = { BP_ON_ANY(T(THOUGHT) | T(CHECKED), .has = RUN_FAILED | RUN_LATER),
                BP_ON(RUN_EV_RESUME, .go = BP_GO(2)) } },
    { .wait = { BP_ON(RUN_EV_RESUME, .go = BP_GO(0)) } },
    { .name = "the end of a rest that was none", .bad = true },
};

/* ---- what never acts ---- */

const struct bp_point run_never_dangerous[] = {
    { .wait = { BP_ON(RUN_EV_ACT, .has = RUN_DANGEROUS) } },
    { .name = "a dangerous act", .bad = true },
};

const struct bp_point run_refused_never_acts[] = {
    { .wait = { BP_ON(RUN_EV_ACT, .has = RUN_REFUSED) } },
    { .name = "an act that was refused", .bad = true },
};

const struct bp_point run_class_kill_holds[] = {
    { .wait = { BP_ON(RUN_EV_ACT, .has = RUN_CLASS_KILLED) } },
    { .name = "an act of a class that is killed", .bad = true },
};

const struct bp_point run_denied_never_acts[] = {
    { .wait = { BP_ON_MINE(RUN_EV_DENIED) } },
    { .wait = { BP_ON_MINE(RUN_EV_ACT) } },
    { .name = "an act after it was denied", .bad = true },
};

/* ---- a person's yes ---- */

/* A yes is the answer to what was last shown, or a person's word to do it again. Changes of what
 * was shown take it away (until in the list of threads). */
const struct bp_point run_risky_needs_yes[] = {
    { .wait = { BP_ON_MINE(RUN_EV_WAITING),
                BP_ON_MINE(RUN_EV_ACT, .has = RUN_RISKY, .lacks = RUN_WIGGUM, .go = BP_GO(3)),
                BP_ON_MINE(RUN_EV_ACT, .has = RUN_RISKY, .lacks = RUN_WAIVABLE, .go = BP_GO(3)) } },
    { .name = "asked",
      .wait = { BP_ON_MINE(RUN_EV_ANSWER, .has = RUN_ALLOWED),
                BP_ON_MINE(RUN_EV_ANSWER, .go = BP_GO(0)),
                BP_ON_MINE(RUN_EV_ACT, .has = RUN_RISKY, .lacks = RUN_WIGGUM, .go = BP_GO(3)),
                BP_ON_MINE(RUN_EV_ACT, .has = RUN_RISKY, .lacks = RUN_WAIVABLE, .go = BP_GO(3)) } },
    { .name = "allowed", .wait = { BP_ON_MINE(RUN_EV_SETTLED, .go = BP_END) } },
    { .name = "a risky act without a yes to what it does", .bad = true },
};

const struct bp_point run_waived_only_as_agreed[] = {
    { .name = "nobody said yes",
      .wait = { BP_ON_MINE(RUN_EV_ACT, .has = RUN_RISKY, .lacks = RUN_WIGGUM),
                BP_ON_MINE(RUN_EV_ACT, .has = RUN_RISKY, .lacks = RUN_WAIVABLE) } },
    { .name = "a yes waived outside of wiggum, or for what must always ask", .bad = true },
};

const struct bp_point run_no_means_no[] = {
    { .wait = { BP_ON_MINE(RUN_EV_ANSWER, .lacks = RUN_ALLOWED) } },
    { .wait = { BP_ON_MINE(RUN_EV_ACT) } },
    { .name = "an act after a no", .bad = true },
};

const struct bp_point run_answer_needs_question[] = {
    { .wait = { BP_ON_MINE(RUN_EV_WAITING), BP_ON_MINE(RUN_EV_ANSWER, .go = BP_GO(2)) } },
    { .name = "asked",
      .wait = { BP_ON_ANY(ANEW | T(ANSWER) | T(ACT), .mine = true, .go = BP_GO(0)) } },
    { .name = "an answer to what nobody asked, or no longer asks", .bad = true },
};

/* Follows the mode by what was said from outside: what acts carry must agree. */
const struct bp_point run_mode_is_the_persons[] = {
    { .wait = { BP_ON_ANY(T(START) | T(SET_MODE), .has = RUN_WIGGUM, .go = BP_GO(2)),
                BP_ON_ANY(T(START) | T(SET_MODE)) } },
    { .name = "structured",
      .wait = { BP_ON_ANY(T(START) | T(SET_MODE), .has = RUN_WIGGUM),
                BP_ON(RUN_EV_ACT, .has = RUN_WIGGUM, .go = BP_GO(3)),
                BP_ON(RUN_EV_CHECK, .go = BP_GO(3)) } },
    { .name = "wiggum",
      .wait = { BP_ON_ANY(T(START) | T(SET_MODE), .lacks = RUN_WIGGUM, .go = BP_GO(1)),
                BP_ON(RUN_EV_ACT, .lacks = RUN_WIGGUM) } },
    { .name = "an act or a check in a mode that nobody set", .bad = true },
};

/* ---- one effect a call ---- */

const struct bp_point run_one_act_a_call[] = {
    { .wait = { BP_ON_MINE(RUN_EV_ACT) } },
    { .name = "has acted",
      .wait = { BP_ON_MINE(RUN_EV_ACTED, .has = RUN_STALE, .lacks = RUN_UNKNOWN, .go = BP_GO(0)),
                BP_ON_MINE(RUN_EV_TOLD, .has = RUN_AGAIN, .go = BP_GO(0)),
                BP_ON_MINE(RUN_EV_ACT) } },
    { .name = "a call that acts twice", .bad = true },
};

const struct bp_point run_one_completion_an_act[] = {
    { .wait = { BP_ON_MINE(RUN_EV_ACT), BP_ON_MINE(RUN_EV_ACTED, .go = BP_GO(2)) } },
    { .name = "acts", .wait = { BP_ON_MINE(RUN_EV_ACTED, .go = BP_GO(0)) } },
    { .name = "a completion of nothing", .bad = true },
};

const struct bp_point run_unknown_waits[] = {
    { .wait = { BP_ON_MINE(RUN_EV_ACTED, .has = RUN_UNKNOWN),
                BP_ON_MINE(RUN_EV_TOLD, .go = BP_GO(3)) } },
    { .name = "nobody knows whether it acted",
      .wait = { BP_ON_MINE(RUN_EV_TOLD, .go = BP_GO(0)), BP_ON_MINE(RUN_EV_ACT) } },
    { .name = "done again without a person's word", .bad = true },
    { .name = "told of what was not unknown", .bad = true },
};

const struct bp_point run_serial_acts_alone[] = {
    { .name = "acts alone", .wait = { BP_ON_MINE(RUN_EV_ACTED, .go = BP_END), BP_ON(RUN_EV_ACT) } },
    { .name = "an act beside one that acts alone", .bad = true },
};

const struct bp_point run_serial_waits_its_turn[] = {
    { .name = "acts",
      .wait = { BP_ON_MINE(RUN_EV_ACTED, .go = BP_END), BP_ON(RUN_EV_ACT, .has = RUN_SERIAL) } },
    { .name = "one that acts alone began beside another", .bad = true },
};

const struct bp_point run_calls_are_joined[] = {
    { .wait = { BP_ON_MINE(RUN_EV_SETTLED, .go = BP_END), BP_ON_ANY(GOES_ON) } },
    { .name = "went on while a call was open", .bad = true },
};

/* ---- limits ---- */

const struct bp_point run_tool_calls_are_limited[] = {
    { .wait = { BP_ON(RUN_EV_ACT) }, .times = BP_LIMIT(RUN_LIMIT_TOOL_CALLS) },
    { .wait = { BP_ON(RUN_EV_ACT) } },
    { .name = "a tool call too many", .bad = true },
};

const struct bp_point run_iterations_are_limited[] = {
    { .wait = { BP_ON(RUN_EV_OBSERVE) }, .times = BP_LIMIT(RUN_LIMIT_ITERATIONS) },
    { .wait = { BP_ON_ANY(T(THINK) | T(ACT) | T(OBSERVE)) } },
    { .name = "an iteration too many", .bad = true },
};

const struct bp_point run_spent_stops[] = {
    { .wait = { BP_ON(RUN_EV_SPENT) } },
    { .wait = { BP_ON_ANY(STARTS) } },
    { .name = "something began after everything was spent", .bad = true },
};

/* ---- kill switches ---- */

const struct bp_point run_kill_stops[] = {
    { .wait = { BP_ON(RUN_EV_KILL) } },
    { .name = "killed", .wait = { BP_ON(RUN_EV_UNKILL, .go = BP_GO(0)), BP_ON_ANY(STARTS) } },
    { .name = "something began while killed", .bad = true },
};

const struct bp_point run_kill_takes_no_yes[] = {
    { .wait = { BP_ON(RUN_EV_KILL) } },
    { .name = "killed",
      .wait = { BP_ON(RUN_EV_UNKILL, .go = BP_GO(0)), BP_ON(RUN_EV_ANSWER, .has = RUN_ALLOWED),
                BP_ON(RUN_EV_TOLD, .has = RUN_AGAIN), BP_ON(RUN_EV_EDIT) } },
    { .name = "a yes that was used up by a kill", .bad = true },
};

const struct bp_point run_kill_leaves_gates[] = {
    { .name = "waits for a person",
      .wait = { BP_ON_ANY(ANEW | T(ANSWER) | T(ACT), .mine = true, .go = BP_END),
                GIVES_UP(RUN_WHY_KILLED) } },
    { .name = "a kill ended what waits for a person", .bad = true },
};

const struct bp_point run_kill_leaves_questions[] = {
    { .name = "waits for a person",
      .wait = { BP_ON_MINE(RUN_EV_ACTED, .go = BP_END), BP_ON(RUN_EV_KILL),
                GIVES_UP(RUN_WHY_KILLED) } },
    { .name = "waits for the end of the kill",
      .wait = { BP_ON_MINE(RUN_EV_ACTED, .has = RUN_FAILED, .go = BP_END),
                BP_ON(RUN_EV_UNKILL, .go = BP_GO(0)), BP_ON_MINE(RUN_EV_ACTED),
                GIVES_UP(RUN_WHY_KILLED) } },
    { .name = "a kill ended what waits for a person", .bad = true },
};

const struct bp_point run_kill_leaves_unknown[] = {
    { .name = "waits for a person",
      .wait = { BP_ON_MINE(RUN_EV_TOLD, .go = BP_END), GIVES_UP(RUN_WHY_KILLED) } },
    { .name = "a kill ended what waits for a person", .bad = true },
};
