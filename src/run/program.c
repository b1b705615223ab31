/* The program of a run: its vocabulary, the threads that do the work, and the list of all threads.
 *
 * The work is the loop, what wiggum adds to it, and a thread for every call. None of them knows a
 * rule: rules are guards beside them (guards.c). The mode is an attribute of the program's record
 * that requests inherit, so both modes are one program and one kind of act, and switching
 * interrupts nothing.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/limits.h"
#include "run/program_int.h"

static const char *const bits[] = {
    "risky",   "waivable", "dangerous", "refused", "serial", "class_killed", "wiggum", "killed",
    "allowed", "more",     "failed",    "later",   "stale",  "unknown",      "again",  "finished",
};

static const struct bp_limit limits[] = {
    [RUN_LIMIT_ITERATIONS] = { "iterations", LIMIT_RUN_ITERATIONS, 1 },
    [RUN_LIMIT_TOOL_CALLS] = { "tool_calls", 200, 2 },
};

#define REPLY (RUN_FAILED | RUN_LATER)

static const struct bp_type types[] = {
    [RUN_EV_START] = { "start", BP_EXT | BP_LATCH, RUN_WIGGUM },
    [RUN_EV_THINK] = { "think" },
    [RUN_EV_MUSING] = { "musing", BP_EXT },
    [RUN_EV_SAID] = { "said", BP_EXT },
    [RUN_EV_CALL] = { "call", BP_EXT | BP_KEYED | BP_BIRTH, RUN_JUDGED_BITS },
    [RUN_EV_THOUGHT] = { "thought", BP_EXT, RUN_MORE | REPLY },
    [RUN_EV_GATE] = { "gate", BP_KEYED },
    [RUN_EV_WAITING] = { "waiting", BP_KEYED },
    [RUN_EV_ANSWER] = { "answer", BP_EXT | BP_KEYED, RUN_ALLOWED },
    [RUN_EV_EDIT] = { "edit", BP_EXT | BP_COOP | BP_KEYED | BP_LATCH, RUN_JUDGED_BITS },
    [RUN_EV_JUDGED] = { "judged", BP_EXT | BP_COOP | BP_KEYED | BP_LATCH, RUN_JUDGED_BITS },
    [RUN_EV_ACT] = { "act", BP_KEYED },
    [RUN_EV_ACTED] = { "acted", BP_EXT | BP_KEYED, RUN_FAILED | RUN_STALE | RUN_UNKNOWN },
    [RUN_EV_ASKED] = { "asked", BP_EXT | BP_KEYED },
    [RUN_EV_TOLD] = { "told", BP_EXT | BP_KEYED, RUN_AGAIN },
    [RUN_EV_DENIED] = { "denied", BP_KEYED | BP_OPEN },
    [RUN_EV_SETTLED] = { "settled", BP_KEYED | BP_RETIRE },
    [RUN_EV_OBSERVE] = { "observe" },
    [RUN_EV_CHECK] = { "check" },
    [RUN_EV_CHECKED] = { "checked", BP_EXT, RUN_FINISHED | REPLY },
    [RUN_EV_RESUME] = { "resume", BP_EXT },
    [RUN_EV_SET_MODE] = { "set_mode", BP_EXT | BP_COOP | BP_LATCH, RUN_WIGGUM },
    [RUN_EV_SPENT] = { "spent", BP_EXT | BP_COOP },
    [RUN_EV_KILL] = { "kill", BP_EXT | BP_COOP | BP_LATCH, RUN_KILLED },
    [RUN_EV_UNKILL] = { "unkill", BP_EXT | BP_COOP | BP_LATCH, RUN_KILLED },
    [RUN_EV_CANCEL] = { "cancel", BP_EXT | BP_COOP },
    [RUN_EV_GIVE_UP] = { "give_up" },
    [RUN_EV_DONE] = { "done", BP_FINAL },
    [RUN_EV_NOTE] = { "note", BP_EXT, RUN_MORE },
    [RUN_EV_POLICY] = { "policy_changed", BP_EXT | BP_COOP },
};

/* ---- the work ---- */

enum {
    LOOP_THINK = 1,
    LOOP_THOUGHT,
    LOOP_OBSERVE,
    LOOP_ANSWERED,
    LOOP_ON,
    LOOP_CHECK,
    LOOP_REST_ON,
    LOOP_REST,
    LOOP_DONE
};

static const struct bp_point loop[] = {
    { .name = "waits for the start", .wait = { BP_ON(RUN_EV_START) } },
    [LOOP_THINK] = { .name = "wants to think", .request = BP_ASK(RUN_EV_THINK) },
    [LOOP_THOUGHT] = { .name = "waits for the thought",
                       .wait = { BP_ON(RUN_EV_THOUGHT, .has = RUN_FAILED | RUN_LATER,
                                       .go = BP_GO(LOOP_REST)),
                                 BP_ON(RUN_EV_THOUGHT, .has = RUN_FAILED, .go = BP_GO(LOOP_DONE)),
                                 BP_ON(RUN_EV_THOUGHT, .has = RUN_MORE),
                                 BP_ON(RUN_EV_THOUGHT, .go = BP_GO(LOOP_ANSWERED)) } },
    [LOOP_OBSERVE] = { .name = "wants to observe",
                       .request = BP_ASK(RUN_EV_OBSERVE, .go = BP_GO(LOOP_ON)) },
    [LOOP_ANSWERED] = { .name = "has an answer",
                        .request = BP_ASK(RUN_EV_DONE, .go = BP_END),
                        .wait = { BP_ON(RUN_EV_OBSERVE) },
                        .block = { BP_ON(RUN_EV_DONE, .has = RUN_WIGGUM) } },
    [LOOP_ON] = { .name = "wants to go on",
                  .request = BP_ASK(RUN_EV_THINK, .go = BP_GO(LOOP_THOUGHT)),
                  .wait = { BP_ON(RUN_EV_CHECK) },
                  .block = { BP_ON(RUN_EV_THINK, .has = RUN_WIGGUM) } },
    [LOOP_CHECK] = { .name = "waits for the check",
                     .wait = { BP_ON(RUN_EV_CHECKED, .has = RUN_FAILED | RUN_LATER),
                               BP_ON(RUN_EV_CHECKED, .has = RUN_FAILED, .go = BP_GO(LOOP_DONE)),
                               BP_ON(RUN_EV_CHECKED, .has = RUN_FINISHED, .go = BP_GO(LOOP_DONE)),
                               BP_ON(RUN_EV_CHECKED, .go = BP_GO(LOOP_THINK)) } },
    [LOOP_REST_ON] = { .name = "rests before it goes on",
                       .wait = { BP_ON(RUN_EV_RESUME, .go = BP_GO(LOOP_ON)) } },
    [LOOP_REST] = { .name = "rests before it thinks again",
                    .wait = { BP_ON(RUN_EV_RESUME, .go = BP_GO(LOOP_THINK)) } },
    [LOOP_DONE] = { .name = "wants to be done", .request = BP_ASK(RUN_EV_DONE) },
};

/* What wiggum adds: an answer is an iteration too, and after every iteration the model is asked
 * whether it is finished. Where the loop could end or think in structured mode, this stands ready,
 * and the mode of that moment decides which of the two requests is blocked. */
static const struct bp_point cook[] = {
    { .wait = { BP_ON(RUN_EV_THOUGHT, .lacks = RUN_MORE | RUN_FAILED),
                BP_ON(RUN_EV_OBSERVE, .go = BP_GO(2)) } },
    { .name = "would observe an answer",
      .request = BP_ASK(RUN_EV_OBSERVE),
      .block = { BP_ON(RUN_EV_OBSERVE, .lacks = RUN_WIGGUM) } },
    { .name = "would check",
      .request = BP_ASK(RUN_EV_CHECK),
      .wait = { BP_ON(RUN_EV_THINK, .go = BP_GO(0)) },
      .block = { BP_ON(RUN_EV_CHECK, .lacks = RUN_WIGGUM) } },
    { .wait = { BP_ON(RUN_EV_RESUME, .go = BP_GO(2)), BP_ON(RUN_EV_THINK, .go = BP_GO(0)) } },
};

/* A call in flight holds the turn. Its events come only when they can be meant. */
enum { CALL_WANTS = 1, CALL_ACTS, CALL_UNKNOWN, CALL_OVER, CALL_DENIED, CALL_STOPS };

#define HOLDS        BP_ON_ANY(GOES_ON)
#define REFUSED(set) BP_ON_ANY((set), .mine = true)
#define COMPLETES    (T(ACTED) | T(ASKED))
/* While it acts the one judgement that can still be meant is that it needs a yes after all. */
#define NO_YES_NEEDED BP_ON_MINE(RUN_EV_JUDGED, .lacks = RUN_RISKY)

static const struct bp_point call[] = {
    { .name = "waits until the thought is whole",
      .wait = { BP_ON(RUN_EV_THOUGHT, .lacks = RUN_FAILED),
                BP_ON(RUN_EV_THOUGHT, .has = RUN_FAILED, .go = BP_GO(CALL_OVER)),
                BP_ON_MINE(RUN_EV_DENIED, .go = BP_GO(CALL_DENIED)),
                BP_ON_ANY(STOPS, .go = BP_GO(CALL_DENIED)) },
      .block = { HOLDS, REFUSED(T(GATE) | COMPLETES | T(TOLD)) } },
    [CALL_WANTS] = { .name = "wants to act",
                     .request = BP_MINE(RUN_EV_ACT),
                     .wait = { BP_ON_MINE(RUN_EV_DENIED, .go = BP_GO(CALL_OVER)),
                               BP_ON_ANY(STOPS, .go = BP_GO(CALL_OVER)) },
                     .block = { HOLDS, REFUSED(COMPLETES | T(TOLD)) } },
    /* It may be judged anew here, just before it is found stale: it needs a yes by now. */
    [CALL_ACTS] = { .name = "acts",
                    .wait = { BP_ON_MINE(RUN_EV_ACTED, .has = RUN_UNKNOWN,
                                         .go = BP_GO(CALL_UNKNOWN)),
                              BP_ON_MINE(RUN_EV_ACTED, .has = RUN_STALE, .go = BP_GO(CALL_WANTS)),
                              BP_ON_MINE(RUN_EV_ACTED, .go = BP_GO(CALL_OVER)),
                              BP_ON_ANY(STOPS, .go = BP_GO(CALL_STOPS)) },
                    .block = { HOLDS, REFUSED(T(EDIT) | T(GATE) | T(TOLD) | T(DENIED)),
                               NO_YES_NEEDED } },
    [CALL_UNKNOWN] = { .name = "nobody knows whether it acted",
                       .wait = { BP_ON_MINE(RUN_EV_TOLD, .has = RUN_AGAIN, .go = BP_GO(CALL_WANTS)),
                                 BP_ON_MINE(RUN_EV_TOLD, .go = BP_GO(CALL_OVER)),
                                 BP_ON_ANY(STOPS, .go = BP_GO(CALL_OVER)) },
                       .block = { HOLDS, REFUSED(ANEW | T(GATE) | COMPLETES | T(DENIED)) } },
    [CALL_OVER] = { .name = "is over",
                    .request = BP_MINE(RUN_EV_SETTLED),
                    .block = { HOLDS, REFUSED(ANEW | T(GATE) | COMPLETES | T(TOLD) | T(DENIED)) } },
    [CALL_DENIED] = { .name = "is over when the thought is whole",
                      .wait = { BP_ON(RUN_EV_THOUGHT, .go = BP_GO(CALL_OVER)) },
                      .block = { HOLDS,
                                 REFUSED(ANEW | T(GATE) | COMPLETES | T(TOLD) | T(DENIED)) } },
    [CALL_STOPS] = { .name = "is being stopped",
                     .wait = { BP_ON_MINE(RUN_EV_ACTED, .go = BP_GO(CALL_OVER)) },
                     .block = { HOLDS, REFUSED(T(EDIT) | T(GATE) | T(TOLD) | T(DENIED)),
                                NO_YES_NEEDED } },
};

/* ---- what may be assumed of the outside, for progress: run_judgement() ---- */

static const struct bp_point never_for_one_reason[] = {
    { .block = { BP_ON_ANY(JUDGES, .has = RUN_DANGEROUS | RUN_REFUSED),
                 BP_ON_ANY(JUDGES, .has = RUN_DANGEROUS | RUN_CLASS_KILLED),
                 BP_ON_ANY(JUDGES, .has = RUN_REFUSED | RUN_CLASS_KILLED) } },
};
static const struct bp_point never_is_not_risky[] = {
    { .block = { BP_ON_ANY(JUDGES, .has = RUN_DANGEROUS | RUN_RISKY),
                 BP_ON_ANY(JUDGES, .has = RUN_REFUSED | RUN_RISKY),
                 BP_ON_ANY(JUDGES, .has = RUN_CLASS_KILLED | RUN_RISKY) } },
};
static const struct bp_point never_is_not_serial[] = {
    { .block = { BP_ON_ANY(JUDGES, .has = RUN_DANGEROUS | RUN_SERIAL),
                 BP_ON_ANY(JUDGES, .has = RUN_REFUSED | RUN_SERIAL),
                 BP_ON_ANY(JUDGES, .has = RUN_CLASS_KILLED | RUN_SERIAL) } },
};
static const struct bp_point waivable_is_risky[] = {
    { .block = { BP_ON_ANY(JUDGES, .has = RUN_WAIVABLE, .lacks = RUN_RISKY) } },
};

/* ---- all threads, by priority ---- */

#define EACH_CALL            .spawn = BP_ON(RUN_EV_CALL)
#define EACH_JUDGED(as)      .spawn = BP_ON_ANY(JUDGES, .has = (as))
#define UNTIL_JUDGED_NOT(as) BP_ON_ANY(ANEW, .mine = true, .lacks = (as), .go = BP_END)
#define RULE(text, points)   BP_TABLE(text, run_##points), .kind = BP_GUARD
#define GUARD(points)        RULE(#points, points)
#define PROPERTY(points)     BP_TABLE(#points, run_##points), .kind = BP_PROPERTY
#define ASSUME(points)       BP_TABLE(#points, points), .kind = BP_ENVIRONMENT

static const struct bp_thread threads[] = {
    { GUARD(starts_once) },
    { GUARD(nothing_after_done) },
    { RULE("no_danger", never_acts) },
    { RULE("refuse_danger", refuses), EACH_JUDGED(RUN_DANGEROUS),
      .until = { UNTIL_JUDGED_NOT(RUN_DANGEROUS) } },
    { RULE("no_refused", never_refused) },
    { RULE("refuse_refused", refuses), EACH_JUDGED(RUN_REFUSED),
      .until = { UNTIL_JUDGED_NOT(RUN_REFUSED) } },
    { RULE("no_killed_class", never_class_killed) },
    { RULE("refuse_killed_class", refuses), EACH_JUDGED(RUN_CLASS_KILLED),
      .until = { UNTIL_JUDGED_NOT(RUN_CLASS_KILLED) } },
    { GUARD(a_no_stays_no), EACH_CALL },
    { GUARD(answers_are_asked), EACH_CALL },
    { GUARD(ask_first), EACH_JUDGED(RUN_RISKY),
      .until = { UNTIL_JUDGED_NOT(RUN_RISKY), BP_ON_ANY(ANEW, .mine = true, .go = BP_GO(0)),
                 BP_ON_MINE(RUN_EV_ACTED, .has = RUN_STALE, .go = BP_GO(0)) } },
    { GUARD(serial), EACH_CALL },
    { GUARD(tool_limit) },
    { GUARD(spent) },
    { GUARD(killed) },
    { GUARD(gate_outlives_kill), .spawn = BP_ON(RUN_EV_WAITING) },
    { GUARD(question_outlives_kill), .spawn = BP_ON(RUN_EV_ASKED) },
    { GUARD(unknown_outlives_kill), .spawn = BP_ON(RUN_EV_ACTED, .has = RUN_UNKNOWN) },
    { GUARD(cancelled) },
    { GUARD(given_up) },
    { GUARD(one_request) },
    { GUARD(replies_are_asked) },
    { GUARD(rest) },
    { BP_TABLE("call", call), .max = RUN_CALLS_MAX, EACH_CALL },
    { BP_TABLE("cook", cook) },
    { BP_TABLE("loop", loop), .until = { BP_ON_ANY(STOPS, .go = BP_GO(LOOP_DONE)) } },
    /* They end the run when nothing above can go on, so they come last. */
    { GUARD(iteration_limit) },
    { GUARD(over_tool_limit), EACH_CALL },
    { GUARD(kill_ends) },

    { ASSUME(never_for_one_reason) },
    { ASSUME(never_is_not_risky) },
    { ASSUME(never_is_not_serial) },
    { ASSUME(waivable_is_risky) },

    { PROPERTY(begins_with_start) },
    { PROPERTY(never_dangerous) },
    { PROPERTY(refused_never_acts) },
    { PROPERTY(class_kill_holds) },
    { PROPERTY(denied_never_acts), EACH_CALL },
    { PROPERTY(risky_needs_yes), EACH_CALL,
      .until = { BP_ON_ANY(ANEW, .mine = true, .go = BP_GO(0)),
                 BP_ON_MINE(RUN_EV_ACTED, .has = RUN_STALE, .go = BP_GO(0)),
                 BP_ON_MINE(RUN_EV_TOLD, .has = RUN_AGAIN, .go = BP_GO(2)) } },
    { PROPERTY(waived_only_as_agreed), EACH_CALL,
      .until = { BP_ON_MINE(RUN_EV_ANSWER, .has = RUN_ALLOWED, .go = BP_END),
                 BP_ON_MINE(RUN_EV_TOLD, .has = RUN_AGAIN, .go = BP_END) } },
    { PROPERTY(no_means_no), EACH_CALL },
    { PROPERTY(answer_needs_question), EACH_CALL },
    { PROPERTY(mode_is_the_persons) },
    { PROPERTY(one_act_a_call), EACH_CALL },
    { PROPERTY(one_completion_an_act), EACH_CALL },
    { PROPERTY(unknown_waits), EACH_CALL },
    { PROPERTY(serial_acts_alone), .spawn = BP_ON(RUN_EV_ACT, .has = RUN_SERIAL) },
    { PROPERTY(serial_waits_its_turn), .spawn = BP_ON(RUN_EV_ACT) },
    { PROPERTY(calls_are_joined), EACH_CALL },
    { PROPERTY(tool_calls_are_limited) },
    { PROPERTY(iterations_are_limited) },
    { PROPERTY(spent_stops) },
    { PROPERTY(kill_stops) },
    { PROPERTY(kill_takes_no_yes) },
    { PROPERTY(kill_leaves_gates), .spawn = BP_ON(RUN_EV_WAITING) },
    { PROPERTY(kill_leaves_questions), .spawn = BP_ON(RUN_EV_ASKED) },
    { PROPERTY(kill_leaves_unknown), .spawn = BP_ON(RUN_EV_ACTED, .has = RUN_UNKNOWN) },
    { PROPERTY(cancel_stops) },
    { PROPERTY(given_up_stops) },
    { PROPERTY(one_model_request) },
    { PROPERTY(replies_need_requests) },
    { PROPERTY(resume_needs_a_rest) },
    { PROPERTY(done_is_done) },
};

const struct bp_program run_program = {
    .name = "run",
    .about = "a run from prompt to done, structured or wiggum, with calls side by side",
    .types = types,
    .threads = threads,
    .bits = bits,
    .limits = limits,
    .type_count = BP_COUNT(types),
    .thread_count = BP_COUNT(threads),
    .bit_count = BP_COUNT(bits),
    .limit_count = BP_COUNT(limits),
};
