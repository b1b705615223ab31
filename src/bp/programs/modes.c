/* modes: a run that a person may switch between a structured mode, where every call needs a yes,
 * and letting it cook, where none does, at any moment, while it thinks or acts too.
 *
 * There is one act. The mode is an attribute of the program's record, changed by set_mode alone,
 * which comes from outside and which calls inherit when they act. So no guard has to know two
 * kinds of act, and switching interrupts nothing.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bp/programs/modes_int.h"
#include "bp/programs/programs_int.h"

static const char *const bits[] = { "cook", "dangerous", "allowed", "more" };

static const struct bp_type types[] = {
    [EV_SET_MODE] = { "set_mode", BP_EXT | BP_LATCH, COOK },
    [EV_THINK] = { "think" },
    [EV_CALL] = { "call", BP_EXT | BP_KEYED | BP_BIRTH, DANGEROUS },
    [EV_THOUGHT] = { "thought", BP_EXT, MORE },
    [EV_ASK] = { "ask", BP_KEYED },
    [EV_ANSWER] = { "answer", BP_EXT | BP_KEYED, ALLOWED },
    [EV_ACT] = { "act", BP_KEYED },
    [EV_ACTED] = { "acted", BP_EXT | BP_KEYED },
    [EV_DENIED] = { "denied", BP_KEYED | BP_OPEN },
    [EV_SETTLED] = { "settled", BP_KEYED | BP_RETIRE },
    [EV_OBSERVE] = { "observe" },
    [EV_DONE] = { "done", BP_FINAL },
    [EV_CANCEL] = { "cancel", BP_EXT | BP_COOP },
};

#define ANYTHING ((BP_TYPE(EV_COUNT) - 1) & ~UINT64_C(1))
#define JOIN     BP_ON_ANY(BP_TYPE(EV_OBSERVE) | BP_TYPE(EV_DONE))

/* ---- the work ---- */

static const struct bp_point loop[] = {
    { .name = "wants to think", .request = BP_ASK(EV_THINK) },
    { .name = "waits for the thought",
      .wait = { BP_ON(EV_THOUGHT, .has = MORE),
                BP_ON(EV_THOUGHT, .lacks = MORE, .go = BP_GO(3)) } },
    { .name = "wants to observe", .request = BP_ASK(EV_OBSERVE, .go = BP_GO(0)) },
    { .name = "wants to be done", .request = BP_ASK(EV_DONE) },
};

static const struct bp_point call[] = {
    { .name = "waits until the thought is whole",
      .wait = { BP_ON(EV_THOUGHT), BP_ON_MINE(EV_DENIED, .go = BP_GO(3)),
                BP_ON(EV_CANCEL, .go = BP_GO(3)) },
      .block = { JOIN } },
    { .name = "wants to act",
      .request = BP_MINE(EV_ACT),
      .wait = { BP_ON_MINE(EV_DENIED, .go = BP_GO(3)), BP_ON(EV_CANCEL, .go = BP_GO(3)) },
      .block = { JOIN } },
    { .name = "acts", .wait = { BP_ON_MINE(EV_ACTED) }, .block = { JOIN } },
    { .name = "is over", .request = BP_MINE(EV_SETTLED), .block = { JOIN } },
};

/* ---- guards ---- */

/* Asks when the thought is whole and the mode is structured then. Waived by the attribute that
 * the act itself carries; switching back makes the same call ask again. */
static const struct bp_point ask_unless_cooking[] = {
    { .name = "holds the act",
      .request = BP_MINE(EV_ASK),
      .wait = { BP_ON_MINE(EV_ACT, .has = COOK, .go = BP_END) },
      .block = { BP_ON_MINE(EV_ACT, .lacks = COOK), BP_ON_MINE(EV_ASK, .has = COOK) } },
    { .name = "waits for the answer",
      .wait = { BP_ON_MINE(EV_ANSWER, .has = ALLOWED),
                BP_ON_MINE(EV_ANSWER, .lacks = ALLOWED, .go = BP_GO(3)),
                BP_ON_MINE(EV_ACT, .has = COOK, .go = BP_END) },
      .block = { BP_ON_MINE(EV_ACT, .lacks = COOK) } },
    { .name = "has a yes", .wait = { BP_ON_MINE(EV_ACT) } },
    { .name = "has a no", .request = BP_MINE(EV_DENIED), .block = { BP_ON_MINE(EV_ACT) } },
};

static const struct bp_point no_danger[] = {
    { .name = "refuses",
      .request = BP_MINE(EV_DENIED),
      .block = { BP_ON_MINE(EV_ACT, .has = DANGEROUS) } },
    { .name = "holds", .block = { BP_ON_MINE(EV_ACT, .has = DANGEROUS) } },
};

static const struct bp_point one_thought[] = {
    { .wait = { BP_ON(EV_THINK) } },
    { .name = "thinks",
      .wait = { BP_ON(EV_THOUGHT, .go = BP_GO(0)) },
      .block = { BP_ON_ANY(BP_TYPE(EV_THINK) | BP_TYPE(EV_DONE)) } },
};

static const struct bp_point cancelled[] = {
    { .wait = { BP_ON(EV_CANCEL) } },
    { .name = "holds",
      .block = { BP_ON_ANY(BP_TYPE(EV_THINK) | BP_TYPE(EV_ACT) | BP_TYPE(EV_CALL)) } },
};

static const struct bp_point nothing_after_done[] = {
    { .wait = { BP_ON(EV_DONE) } },
    { .name = "holds", .block = { BP_ON_ANY(ANYTHING) } },
};

/* ---- what may be assumed of the outside ---- */

static const struct bp_point model_replies[] = {
    { .wait = { BP_ON(EV_THINK) }, .block = { BP_ON_ANY(BP_TYPE(EV_THOUGHT) | BP_TYPE(EV_CALL)) } },
    { .wait = { BP_ON(EV_THOUGHT, .go = BP_GO(0)) } },
};

static const struct bp_point effects_complete_once[] = {
    { .wait = { BP_ON_MINE(EV_ACT) }, .block = { BP_ON_MINE(EV_ACTED) } },
    { .wait = { BP_ON_MINE(EV_ACTED, .go = BP_GO(0)) } },
};

static const struct bp_point answers_need_questions[] = {
    { .wait = { BP_ON_MINE(EV_ASK) }, .block = { BP_ON_MINE(EV_ANSWER) } },
    { .wait = { BP_ON_MINE(EV_ANSWER, .go = BP_GO(0)) } },
};

/* ---- properties ---- */

static const struct bp_point structured_needs_yes[] = {
    { .wait = { BP_ON_MINE(EV_ASK), BP_ON_MINE(EV_ACT, .lacks = COOK, .go = BP_GO(3)) } },
    { .name = "asked",
      .wait = { BP_ON_MINE(EV_ANSWER, .has = ALLOWED), BP_ON_MINE(EV_ANSWER, .go = BP_GO(0)),
                BP_ON_MINE(EV_ACT, .lacks = COOK, .go = BP_GO(3)) } },
    { .name = "has a yes", .wait = { BP_ON_MINE(EV_ACT, .go = BP_END) } },
    { .name = "an act without a yes in structured mode", .bad = true },
};

/* Follows the mode by what the person said: what acts carry must agree. */
static const struct bp_point mode_is_the_persons[] = {
    { .name = "structured",
      .wait = { BP_ON(EV_SET_MODE, .has = COOK), BP_ON(EV_ACT, .has = COOK, .go = BP_GO(2)) } },
    { .name = "cooking",
      .wait = { BP_ON(EV_SET_MODE, .lacks = COOK, .go = BP_GO(0)),
                BP_ON(EV_ACT, .lacks = COOK, .go = BP_GO(2)) } },
    { .name = "an act in a mode that nobody set", .bad = true },
};

static const struct bp_point no_means_no[] = {
    { .wait = { BP_ON_MINE(EV_ASK) } },
    { .wait = { BP_ON_MINE(EV_ANSWER, .lacks = ALLOWED),
                BP_ON_MINE(EV_ANSWER, .has = ALLOWED, .go = BP_END),
                BP_ON_MINE(EV_ACT, .go = BP_END) } },
    { .wait = { BP_ON_MINE(EV_ACT) } },
    { .name = "an act after a no", .bad = true },
};

static const struct bp_point never_dangerous[] = {
    { .wait = { BP_ON(EV_ACT, .has = DANGEROUS) } },
    { .name = "a dangerous act", .bad = true },
};

static const struct bp_point one_model_request[] = {
    { .wait = { BP_ON(EV_THINK) } },
    { .name = "thinks",
      .wait = { BP_ON(EV_THOUGHT, .go = BP_GO(0)),
                BP_ON_ANY(BP_TYPE(EV_THINK) | BP_TYPE(EV_DONE)) } },
    { .name = "two model requests at once, or done during one", .bad = true },
};

static const struct bp_point cancel_stops[] = {
    { .wait = { BP_ON(EV_CANCEL) } },
    { .wait = { BP_ON_ANY(BP_TYPE(EV_THINK) | BP_TYPE(EV_ACT)) } },
    { .name = "something started after cancel", .bad = true },
};

static const struct bp_point done_is_done[] = {
    { .wait = { BP_ON(EV_DONE) } },
    { .wait = { BP_ON_ANY(ANYTHING) } },
    { .name = "something after done", .bad = true },
};

#define EACH_CALL .spawn = BP_ON(EV_CALL)

static const struct bp_thread threads[] = {
    { BP_TABLE("no_danger", no_danger), .kind = BP_GUARD,
      .spawn = BP_ON(EV_CALL, .has = DANGEROUS) },
    { BP_TABLE("ask_unless_cooking", ask_unless_cooking), .kind = BP_GUARD, EACH_CALL },
    { BP_TABLE("one_thought", one_thought), .kind = BP_GUARD },
    { BP_TABLE("cancelled", cancelled), .kind = BP_GUARD },
    { BP_TABLE("nothing_after_done", nothing_after_done), .kind = BP_GUARD },
    { BP_TABLE("call", call), EACH_CALL },
    { BP_TABLE("loop", loop), .until = { BP_ON(EV_CANCEL, .go = BP_GO(3)) } },

    { BP_TABLE("model_replies", model_replies), .kind = BP_ENVIRONMENT },
    { BP_TABLE("effects_complete_once", effects_complete_once), .kind = BP_ENVIRONMENT, EACH_CALL },
    { BP_TABLE("answers_need_questions", answers_need_questions), .kind = BP_ENVIRONMENT,
      EACH_CALL },

    { BP_TABLE("structured_needs_yes", structured_needs_yes), .kind = BP_PROPERTY, EACH_CALL },
    { BP_TABLE("mode_is_the_persons", mode_is_the_persons), .kind = BP_PROPERTY },
    { BP_TABLE("no_means_no", no_means_no), .kind = BP_PROPERTY, EACH_CALL },
    { BP_TABLE("never_dangerous", never_dangerous), .kind = BP_PROPERTY },
    { BP_TABLE("one_model_request", one_model_request), .kind = BP_PROPERTY },
    { BP_TABLE("cancel_stops", cancel_stops), .kind = BP_PROPERTY },
    { BP_TABLE("done_is_done", done_is_done), .kind = BP_PROPERTY },
};

const struct bp_program bp_program_modes = {
    .name = "modes",
    .about = "switching between asking first and letting it cook, at any moment",
    .types = types,
    .threads = threads,
    .bits = bits,
    .type_count = BP_COUNT(types),
    .thread_count = BP_COUNT(threads),
    .bit_count = BP_COUNT(bits),
};
