/* The checker: explores every state that a program can reach.
 *
 * Safety. For each property thread, program and guards are explored together with it: every event
 * from outside, for every key and every value of the attributes that some selector looks at, at any
 * moment, and every requested event in any order. Nothing is assumed of the outside or of
 * priorities. So what is proved stays proved when a thread is added that only blocks: it takes
 * steps away and adds none. For the same reason threads may be left out while it can still be
 * proved, if what they request is allowed at any moment: the checker begins with none and takes in
 * those that a counterexample shows to be needed. A finding says which the proof rests on. A
 * counterexample is always one of the whole program, and a shortest.
 *
 * Progress. Program, guards and environment threads are explored as the engine runs them:
 * by priority, events from outside only when nothing is selectable. From every state that can be
 * reached, an event with FINAL must be reachable by steps that are not COOP. No fairness is
 * assumed: it is shown that the way never closes, not that it is always taken.
 *
 * Keys are interchangeable (no selector names one), so states that differ only in the names of keys
 * are explored once.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_BP_CHECK_H
#define DORMOUSE_BP_CHECK_H

#include "bp/bp.h"
#include "bp/engine.h"

enum bp_verdict {
    BP_UNKNOWN = 0, /* not looked at */
    BP_PROVED,
    BP_VIOLATED,
    BP_BOUND, /* more states or memory than allowed: nothing is known of the rest */
};

#define BP_CHECK_KEYS       3
#define BP_CHECK_STATES     (8u * 1000 * 1000)
#define BP_CHECK_STATES_MAX (UINT64_C(1) << 28)
#define BP_CHECK_BYTES      (UINT64_C(1) << 30)

struct bp_check_stats {
    uint64_t states, transitions;
    uint64_t queue_max;
    uint64_t bytes; /* memory held at the end */
    bool full;      /* BOUND because of bytes_max, not of states_max */
    uint32_t depth; /* of the farthest state, in events */
    double seconds;
};

/* Called after every 8,192 states that were looked at. */
typedef void bp_progress_fn(void *ctx, const char *what, const struct bp_check_stats *stats,
                            uint64_t queue);

struct bp_check_options {
    unsigned keys;          /* 0: BP_CHECK_KEYS; at most 8 */
    uint64_t states_max;    /* a run, 0: BP_CHECK_STATES, at most BP_CHECK_STATES_MAX */
    uint64_t bytes_max;     /* memory of a run, 0: BP_CHECK_BYTES */
    const uint16_t *limits; /* one a limit of the program, 0 keeps its `checked`; may be NULL */
    bool whole;             /* leave no thread out: slower; the same verdicts, but for BOUND */
    bool only_progress;     /* leave the properties out */
    struct clock *clock;    /* what seconds are measured with; NULL: the system's */
    bp_progress_fn *progress;
    void *ctx;
};

struct bp_step {
    struct bp_event event;
    struct bp_place by; /* thread NULL: from outside */
};

/* Where an instance stands, what it requests there, and who keeps that from happening. */
struct bp_stand {
    struct bp_place place;
    struct bp_event wish;       /* type 0: none */
    struct bp_place blocked_by; /* thread NULL: nobody */
};

/* A shortest way from the start to what is wrong. Keys are those of one concrete run. For progress
 * that is the first state from which FINAL can't be reached, and then on to where it ends: in a
 * state that no step but COOP leaves, or in a circle. */
struct bp_trace {
    struct bp_step *steps;
    unsigned step_count;
    unsigned closed_at;    /* steps after which what is wrong has happened */
    struct bp_stand *ends; /* every instance afterwards */
    unsigned end_count;
    unsigned keys;
    bool any_order; /* safety: selection was free; progress: by priority, as the engine does */
};

#define BP_PROGRESS "progress"

struct bp_finding {
    const char *name;        /* of the property thread; the last finding is BP_PROGRESS */
    enum bp_verdict verdict; /* UNKNOWN for progress when no type is FINAL */
    struct bp_check_stats stats;
    struct bp_trace trace; /* when violated */
    const char **rests_on; /* when proved: threads that the proof needed, NULL for progress */
    unsigned rests_count;
};

struct bp_report {
    const struct bp_program *program;
    struct arena arena; /* holds all of it */
    struct bp_finding *findings;
    unsigned finding_count;
    /* As the engine runs, and the outside keeps to what is assumed of it: */
    struct bp_place *unreachable; /* points at which no thread ever stands */
    unsigned unreachable_count;
    uint64_t never; /* types of which no event is ever selected */
    unsigned keys;
};

/* Checks every property thread, then progress. -1 only when the program is not
 * sound or too large (bp_program_check, model limits); a violated property is a result. */
int bp_check(const struct bp_program *program, const struct bp_check_options *options,
             struct bp_report *ret_report, struct err *err);
void bp_report_release(struct bp_report *report);
#define AUTO_REPORT __attribute__((cleanup(bp_report_release))) struct bp_report

/* The worst of all findings: VIOLATED, else BOUND, else PROVED. */
enum bp_verdict bp_report_verdict(const struct bp_report *report);
/* The finding of that name, or NULL. */
const struct bp_finding *bp_finding_find(const struct bp_report *report, const char *name);

/* Walks the trace step by step with keys as they stand: each event must be possible when it comes,
 * and the last must enter a bad point of the named property, unless it is NULL. 0, or the number of
 * the first step that does not hold. */
unsigned bp_trace_replay(const struct bp_program *program, const struct bp_trace *trace,
                         const char *property, const uint16_t *limits);

/* One line an event, then what is wrong, then threads that want something or have a name for what
 * they do. */
void bp_trace_text(const struct bp_program *program, const struct bp_trace *trace, struct buf *out);
const char *bp_verdict_name(enum bp_verdict verdict);

#endif
