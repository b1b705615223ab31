/* The program of a run: events, attributes and limits of the one b-program that both modes are.
 *
 *   start -> think -> [musing] [said] call* thought
 *         -> per call: [gate -> waiting -> answer] -> act -> acted | denied -> settled
 *         -> observe -> (wiggum: check -> checked) -> think ... -> done
 *
 * Every selected event is a row of run_events. Types that clients see map to exactly one public
 * event each.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_RUN_PROGRAM_H
#define DORMOUSE_RUN_PROGRAM_H

#include "bp/bp.h"

/* Numbers are stored: append, never renumber. */
enum run_event_type {
    RUN_EV_NONE = 0,
    RUN_EV_START,    /* EXT LATCH (WIGGUM): public init */
    RUN_EV_THINK,    /* asks the model */
    RUN_EV_MUSING,   /* EXT: public thinking */
    RUN_EV_SAID,     /* EXT: public text */
    RUN_EV_CALL,     /* EXT KEYED BIRTH: public tool_use */
    RUN_EV_THOUGHT,  /* EXT: the answer is whole. MORE: it has calls. FAILED: public error. LATER:
                        it may be asked again after a rest */
    RUN_EV_GATE,     /* KEYED: a preview is wanted, an inbox item is made; public approval_gate */
    RUN_EV_WAITING,  /* KEYED: public waiting */
    RUN_EV_ANSWER,   /* EXT KEYED: a person (ALLOWED or not), a grant, or expiry */
    RUN_EV_EDIT,     /* EXT KEYED LATCH: other arguments, judged anew */
    RUN_EV_JUDGED,   /* EXT KEYED LATCH: the same arguments judged anew (policy, kill switch) */
    RUN_EV_ACT,      /* KEYED: the one effect */
    RUN_EV_ACTED,    /* EXT KEYED: its one completion. STALE: nothing was done, ask again. UNKNOWN:
                        the process died in between and the tool is not keyed */
    RUN_EV_ASKED,    /* EXT KEYED: the tool itself asks a person (ask_user) */
    RUN_EV_TOLD,     /* EXT KEYED: what a person says of an unknown effect; AGAIN: do it again */
    RUN_EV_DENIED,   /* KEYED OPEN: it will not act */
    RUN_EV_SETTLED,  /* KEYED RETIRE: public tool_result */
    RUN_EV_OBSERVE,  /* public iteration */
    RUN_EV_CHECK,    /* wiggum: asks the model whether it is done */
    RUN_EV_CHECKED,  /* EXT: FINISHED or not; FAILED as thought */
    RUN_EV_RESUME,   /* EXT: the rest is over */
    RUN_EV_SET_MODE, /* EXT LATCH (WIGGUM): a person's */
    RUN_EV_SPENT,    /* EXT: tokens or time of the run are used up */
    RUN_EV_KILL,     /* EXT COOP LATCH (KILLED): all or this agent */
    RUN_EV_UNKILL,   /* EXT LATCH */
    RUN_EV_CANCEL,   /* EXT COOP */
    RUN_EV_GIVE_UP,  /* a limit or a kill switch ends the run; public error */
    RUN_EV_DONE,     /* FINAL: public done */
    RUN_EV_NOTE,     /* EXT: something for the trace (a denied host, a recovery); public none. MORE:
                        calls that were not made; public notice */
    RUN_EV_POLICY,   /* EXT: a person's guards are others from here on; public none */
    RUN_EV_COUNT,
};

enum run_bit {
    RUN_RISKY = 1 << 0,     /* needs a yes */
    RUN_WAIVABLE = 1 << 1,  /* ... but not in wiggum mode */
    RUN_DANGEROUS = 1 << 2, /* never */
    RUN_REFUSED = 1 << 3,   /* a stage before approval said no */
    RUN_SERIAL = 1 << 4,    /* acts alone */
    RUN_CLASS_KILLED = 1 << 5,
    RUN_WIGGUM = 1 << 6,  /* of the program's record */
    RUN_KILLED = 1 << 7,  /* of the program's record */
    RUN_ALLOWED = 1 << 8, /* of answer */
    RUN_MORE = 1 << 9,
    RUN_FAILED = 1 << 10,
    RUN_LATER = 1 << 11,
    RUN_STALE = 1 << 12,
    RUN_UNKNOWN = 1 << 13,
    RUN_AGAIN = 1 << 14,
    RUN_FINISHED = 1 << 15,
    /* The bits above are the program's own, a user's policy numbers its attributes from 16 on. */
};
#define RUN_POLICY_BITS (~UINT32_C(0) << 16)

/* What give_up carries says why. */
#define RUN_WHY_ITERATIONS RUN_AGAIN
#define RUN_WHY_TOOL_CALLS RUN_MORE
#define RUN_WHY_SPENT      RUN_FINISHED
#define RUN_WHY_KILLED     RUN_LATER

/* How a call is judged: attributes of call, edit and judged. */
#define RUN_JUDGED_BITS                                                                            \
    (RUN_RISKY | RUN_WAIVABLE | RUN_DANGEROUS | RUN_REFUSED | RUN_SERIAL | RUN_CLASS_KILLED)

enum run_limit { RUN_LIMIT_ITERATIONS = 0, RUN_LIMIT_TOOL_CALLS, RUN_LIMIT_COUNT };

#define RUN_CALLS_MAX 32 /* in one thought */

/* A judgement in the one form that progress is proved for: what will never act has that one reason
 * and no other attribute, and only what is risky is waivable. Attributes of a policy are kept. */
static inline uint32_t run_judgement(uint32_t bits)
{
    uint32_t rest = bits & ~(uint32_t)RUN_JUDGED_BITS;

    if (bits & RUN_DANGEROUS)
        return rest | RUN_DANGEROUS;
    if (bits & RUN_REFUSED)
        return rest | RUN_REFUSED;
    if (bits & RUN_CLASS_KILLED)
        return rest | RUN_CLASS_KILLED;
    return bits & RUN_RISKY ? bits : bits & ~(uint32_t)RUN_WAIVABLE;
}

extern const struct bp_program run_program;

struct bp_policy;

/* run_program with the guards and attributes of a policy, in arena; it refers to policy. Attributes
 * are numbered from 16 on. A policy that is not for runs leaves run_program as it is. Errors name
 * the place in the policy's file: unknown events or attributes, a guard that requests what is not
 * open. */
int run_program_with_policy(const struct bp_policy *policy, struct arena *arena,
                            const struct bp_program **ret_program, struct err *err);
/* Can a run always still end under this program? For one call at a time, within a bound that takes
 * moments: `dormouse verify` proves more. 1 it can; 0 not known, the bound was hit; -1 it can't,
 * and the error says which rule holds it. */
int run_policy_check(const struct bp_program *program, struct err *err);
/* Reads DIR/policy.yaml and checks it as a start does: 1 it is taken, 0 there is none. */
int run_policy_check_file(const char *data_dir, struct err *err);

#endif
