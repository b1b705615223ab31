/* approval: one structured turn of an agent, with up to three calls side by side.
 *
 *     prompt -> think -> call* -> thought -> per call: [ask -> answer] -> act -> acted -> settled
 *            -> observe -> think ... -> done
 *
 * The work is done by three threads (the loop, a call, the outstanding thought); every rule is a
 * guard beside them that knows none of the others.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bp/programs/approval_int.h"
#include "bp/programs/programs_int.h"

static const char *const bits[] = { "risky", "dangerous", "allowed", "more" };
static const struct bp_limit limits[] = { [LIMIT_ROUNDS] = { "rounds", 100, 2 } };

static const struct bp_type types[] = {
    [EV_PROMPT] = { "prompt", BP_EXT },
    [EV_THINK] = { "think" },
    [EV_CALL] = { "call", BP_EXT | BP_KEYED | BP_BIRTH, RISKY | DANGEROUS },
    [EV_THOUGHT] = { "thought", BP_EXT, MORE },
    [EV_ASK] = { "ask", BP_KEYED },
    [EV_ANSWER] = { "answer", BP_EXT | BP_KEYED, ALLOWED },
    [EV_EDIT] = { "edit", BP_EXT | BP_KEYED | BP_LATCH, RISKY | DANGEROUS },
    [EV_ACT] = { "act", BP_KEYED },
    [EV_ACTED] = { "acted", BP_EXT | BP_KEYED },
    [EV_DENIED] = { "denied", BP_KEYED | BP_OPEN },
    [EV_SETTLED] = { "settled", BP_KEYED | BP_RETIRE },
    [EV_OBSERVE] = { "observe" },
    [EV_GIVE_UP] = { "give_up" },
    [EV_DONE] = { "done", BP_FINAL },
    [EV_CANCEL] = { "cancel", BP_EXT | BP_COOP },
    [EV_KILL] = { "kill", BP_EXT | BP_COOP },
};

#define STOP     (BP_TYPE(EV_CANCEL) | BP_TYPE(EV_KILL))
#define STARTS   (BP_TYPE(EV_THINK) | BP_TYPE(EV_ACT))
#define ANYTHING ((BP_TYPE(EV_COUNT) - 1) & ~UINT64_C(1))
/* A call in flight holds the turn: joining needs no counter. */
#define JOIN BP_ON_ANY(BP_TYPE(EV_OBSERVE) | BP_TYPE(EV_DONE))

/* ---- the work ---- */

static const struct bp_point loop[] = {
    { .name = "waits for a prompt", .wait = { BP_ON(EV_PROMPT) } },
    { .name = "wants to think", .request = BP_ASK(EV_THINK) },
    { .name = "waits for the thought",
      .wait = { BP_ON(EV_THOUGHT, .has = MORE),
                BP_ON(EV_THOUGHT, .lacks = MORE, .go = BP_GO(4)) } },
    { .name = "wants to observe", .request = BP_ASK(EV_OBSERVE, .go = BP_GO(1)) },
    { .name = "wants to be done", .request = BP_ASK(EV_DONE) },
};

static const struct bp_point call[] = {
    { .name = "waits until the thought is whole",
      .wait = { BP_ON(EV_THOUGHT), BP_ON_MINE(EV_DENIED, .go = BP_GO(3)),
                BP_ON_ANY(STOP, .go = BP_GO(3)) },
      .block = { JOIN } },
    { .name = "wants to act",
      .request = BP_MINE(EV_ACT),
      .wait = { BP_ON_MINE(EV_DENIED, .go = BP_GO(3)), BP_ON_ANY(STOP, .go = BP_GO(3)) },
      .block = { JOIN } },
    { .name = "acts", .wait = { BP_ON_MINE(EV_ACTED) }, .block = { JOIN, BP_ON_MINE(EV_EDIT) } },
    { .name = "is over", .request = BP_MINE(EV_SETTLED), .block = { JOIN, BP_ON_MINE(EV_EDIT) } },
};

/* A model request is answered once, even when nobody wants the answer any more. */
static const struct bp_point one_thought[] = {
    { .wait = { BP_ON(EV_THINK) } },
    { .name = "thinks",
      .wait = { BP_ON(EV_THOUGHT, .go = BP_GO(0)) },
      .block = { BP_ON_ANY(BP_TYPE(EV_THINK) | BP_TYPE(EV_DONE)) } },
};

/* ---- guards ---- */

static const struct bp_point ask_first[] = {
    { .name = "asks", .request = BP_MINE(EV_ASK), .block = { BP_ON_MINE(EV_ACT) } },
    { .name = "waits for the answer",
      .wait = { BP_ON_MINE(EV_ANSWER), BP_ON_MINE(EV_EDIT, .go = BP_GO(0)) },
      .block = { BP_ON_MINE(EV_ACT) } },
    { .name = "has an answer to what was shown", .wait = { BP_ON_MINE(EV_EDIT, .go = BP_GO(0)) } },
};

static const struct bp_point a_no_stays_no[] = {
    { .wait = { BP_ON_MINE(EV_ANSWER, .lacks = ALLOWED) } },
    { .name = "refuses", .request = BP_MINE(EV_DENIED), .block = { BP_ON_MINE(EV_ACT) } },
};

static const struct bp_point no_danger[] = {
    { .block = { BP_ON(EV_ACT, .has = DANGEROUS) } },
};

static const struct bp_point refuse_danger[] = {
    { .name = "refuses", .request = BP_MINE(EV_DENIED) },
};

static const struct bp_point round_limit[] = {
    { .wait = { BP_ON(EV_OBSERVE) }, .times = BP_LIMIT(LIMIT_ROUNDS) },
    { .name = "says so", .request = BP_ASK(EV_GIVE_UP), .block = { BP_ON(EV_THINK) } },
    { .name = "holds", .block = { BP_ON(EV_THINK) } },
};

static const struct bp_point cancelled[] = {
    { .wait = { BP_ON(EV_CANCEL) } },
    { .name = "holds", .block = { BP_ON_ANY(STARTS | BP_TYPE(EV_CALL)) } },
};

static const struct bp_point killed[] = {
    { .wait = { BP_ON(EV_KILL) } },
    { .name = "holds", .block = { BP_ON_ANY(STARTS | BP_TYPE(EV_CALL)) } },
};

static const struct bp_point nothing_after_done[] = {
    { .wait = { BP_ON(EV_DONE) } },
    { .name = "holds", .block = { BP_ON_ANY(ANYTHING) } },
};

/* ---- what may be assumed of the outside, for progress ---- */

static const struct bp_point model_replies[] = {
    { .wait = { BP_ON(EV_THINK) }, .block = { BP_ON_ANY(BP_TYPE(EV_THOUGHT) | BP_TYPE(EV_CALL)) } },
    { .wait = { BP_ON(EV_THOUGHT, .go = BP_GO(0)) } },
};

static const struct bp_point effects_complete_once[] = {
    { .wait = { BP_ON_MINE(EV_ACT) }, .block = { BP_ON_MINE(EV_ACTED) } },
    { .wait = { BP_ON_MINE(EV_ACTED, .go = BP_GO(0)) } },
};

static const struct bp_point answers_need_questions[] = {
    { .wait = { BP_ON_MINE(EV_ASK) }, .block = { BP_ON_MINE(EV_ANSWER), BP_ON_MINE(EV_EDIT) } },
    { .wait = { BP_ON_MINE(EV_ANSWER, .go = BP_GO(0)), BP_ON_MINE(EV_EDIT, .go = BP_GO(0)) } },
};

/* ---- properties ---- */

static const struct bp_point risky_needs_yes[] = {
    { .wait = { BP_ON_MINE(EV_ASK), BP_ON_MINE(EV_ACT, .has = RISKY, .go = BP_GO(3)) } },
    { .name = "asked",
      .wait = { BP_ON_MINE(EV_ANSWER, .has = ALLOWED), BP_ON_MINE(EV_ANSWER, .go = BP_GO(0)),
                BP_ON_MINE(EV_EDIT, .go = BP_GO(0)),
                BP_ON_MINE(EV_ACT, .has = RISKY, .go = BP_GO(3)) } },
    { .name = "allowed", .wait = { BP_ON_MINE(EV_EDIT, .go = BP_GO(0)) } },
    { .name = "a risky act without a yes to what it does", .bad = true },
};

static const struct bp_point no_means_no[] = {
    { .wait = { BP_ON_MINE(EV_ANSWER, .lacks = ALLOWED) } },
    { .wait = { BP_ON_MINE(EV_ACT) } },
    { .name = "an act after a no", .bad = true },
};

static const struct bp_point never_dangerous[] = {
    { .wait = { BP_ON(EV_ACT, .has = DANGEROUS) } },
    { .name = "a dangerous act", .bad = true },
};

static const struct bp_point one_act_a_call[] = {
    { .wait = { BP_ON_MINE(EV_ACT) } },
    { .wait = { BP_ON_MINE(EV_ACT) } },
    { .name = "a call that acts twice", .bad = true },
};

static const struct bp_point rounds_are_limited[] = {
    { .wait = { BP_ON(EV_THINK) }, .times = BP_LIMIT(LIMIT_ROUNDS) },
    { .wait = { BP_ON(EV_THINK) } },
    { .name = "a round too many", .bad = true },
};

static const struct bp_point cancel_stops[] = {
    { .wait = { BP_ON(EV_CANCEL) } },
    { .wait = { BP_ON_ANY(STARTS) } },
    { .name = "something started after cancel", .bad = true },
};

static const struct bp_point kill_stops[] = {
    { .wait = { BP_ON(EV_KILL) } },
    { .wait = { BP_ON_ANY(STARTS) } },
    { .name = "something started after kill", .bad = true },
};

static const struct bp_point calls_are_joined[] = {
    { .wait = { BP_ON_MINE(EV_ACT) } },
    { .name = "acts",
      .wait = { BP_ON_MINE(EV_ACTED, .go = BP_GO(0)),
                BP_ON_ANY(BP_TYPE(EV_OBSERVE) | BP_TYPE(EV_DONE)) } },
    { .name = "went on while a call was acting", .bad = true },
};

static const struct bp_point one_model_request[] = {
    { .wait = { BP_ON(EV_THINK) } },
    { .name = "thinks",
      .wait = { BP_ON(EV_THOUGHT, .go = BP_GO(0)),
                BP_ON_ANY(BP_TYPE(EV_THINK) | BP_TYPE(EV_DONE)) } },
    { .name = "two model requests at once, or done during one", .bad = true },
};

static const struct bp_point done_is_done[] = {
    { .wait = { BP_ON(EV_DONE) } },
    { .wait = { BP_ON_ANY(ANYTHING) } },
    { .name = "something after done", .bad = true },
};

#define EACH_CALL .spawn = BP_ON(EV_CALL)

static const struct bp_thread threads[] = {
    { BP_TABLE("ask_first", ask_first), .kind = BP_GUARD,
      .spawn = BP_ON_ANY(BP_TYPE(EV_CALL) | BP_TYPE(EV_EDIT), .has = RISKY),
      .until = { BP_ON_MINE(EV_EDIT, .lacks = RISKY, .go = BP_END) } },
    { BP_TABLE("a_no_stays_no", a_no_stays_no), .kind = BP_GUARD, EACH_CALL },
    { BP_TABLE("no_danger", no_danger), .kind = BP_GUARD },
    { BP_TABLE("refuse_danger", refuse_danger), .kind = BP_GUARD,
      .spawn = BP_ON_ANY(BP_TYPE(EV_CALL) | BP_TYPE(EV_EDIT), .has = DANGEROUS),
      .until = { BP_ON_MINE(EV_EDIT, .lacks = DANGEROUS, .go = BP_END) } },
    { BP_TABLE("round_limit", round_limit), .kind = BP_GUARD },
    { BP_TABLE("cancelled", cancelled), .kind = BP_GUARD },
    { BP_TABLE("killed", killed), .kind = BP_GUARD },
    { BP_TABLE("nothing_after_done", nothing_after_done), .kind = BP_GUARD },
    { BP_TABLE("one_thought", one_thought), .kind = BP_GUARD },
    { BP_TABLE("call", call), EACH_CALL },
    { BP_TABLE("loop", loop), .until = { BP_ON_ANY(STOP | BP_TYPE(EV_GIVE_UP), .go = BP_GO(4)) } },

    { BP_TABLE("model_replies", model_replies), .kind = BP_ENVIRONMENT },
    { BP_TABLE("effects_complete_once", effects_complete_once), .kind = BP_ENVIRONMENT, EACH_CALL },
    { BP_TABLE("answers_need_questions", answers_need_questions), .kind = BP_ENVIRONMENT,
      EACH_CALL },

    { BP_TABLE("risky_needs_yes", risky_needs_yes), .kind = BP_PROPERTY, EACH_CALL },
    { BP_TABLE("no_means_no", no_means_no), .kind = BP_PROPERTY, EACH_CALL },
    { BP_TABLE("never_dangerous", never_dangerous), .kind = BP_PROPERTY },
    { BP_TABLE("one_act_a_call", one_act_a_call), .kind = BP_PROPERTY, EACH_CALL },
    { BP_TABLE("rounds_are_limited", rounds_are_limited), .kind = BP_PROPERTY },
    { BP_TABLE("cancel_stops", cancel_stops), .kind = BP_PROPERTY },
    { BP_TABLE("kill_stops", kill_stops), .kind = BP_PROPERTY },
    { BP_TABLE("calls_are_joined", calls_are_joined), .kind = BP_PROPERTY, EACH_CALL },
    { BP_TABLE("one_model_request", one_model_request), .kind = BP_PROPERTY },
    { BP_TABLE("done_is_done", done_is_done), .kind = BP_PROPERTY },
};

const struct bp_program bp_program_approval = {
    .name = "approval",
    .about = "a structured turn with parallel calls that may need a person's yes",
    .types = types,
    .threads = threads,
    .bits = bits,
    .limits = limits,
    .type_count = BP_COUNT(types),
    .thread_count = BP_COUNT(threads),
    .bit_count = BP_COUNT(bits),
    .limit_count = BP_COUNT(limits),
};
