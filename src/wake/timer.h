/* Timers: recurrence rules, moments and intervals, on the clocks of a zone.
 *
 * An occurrence is a local time. Where clocks skip it (a gap) it is the next minute that they show;
 * where they show it twice (an overlap) it is the first. So each occurrence has one moment, and is
 * fired or skipped exactly once.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_WAKE_TIMER_H
#define DORMOUSE_WAKE_TIMER_H

#include "agent/agent.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/zone.h"

#define TIMER_LOCAL_SIZE 20 /* "2026-02-18T07:00:00" */
#define TIMER_RRULE_MAX  500
#define TIMER_CAP_MAX    100

/* ---- rules, without storing anything ---- */

struct recurrence;
/* rrule: RFC 5545 without the prefix ("FREQ=WEEKLY;BYDAY=MO,WE"), of at most one occurrence a
 * minute; start_local: the first candidate. bad_request says which part is wrong. */
int recurrence_parse(struct str rrule, struct str start_local, struct recurrence **ret_recurrence,
                     struct err *err);
void recurrence_free(struct recurrence *recurrence);
AUTO_DEFINE(recurrence)
/* The first occurrence after this local time ("": from the start): 1, 0 there is none. */
int recurrence_next(struct recurrence *recurrence, const char *after_local,
                    char ret_local[TIMER_LOCAL_SIZE], struct err *err);
/* The moment of a local time there, with the rules for gaps and overlaps. */
int64_t timer_moment(const struct zone *zone, const char *local);
void timer_local(const struct zone *zone, int64_t wall_ms, char ret_local[TIMER_LOCAL_SIZE]);

/* What a rule without a start begins with: this local time; where the rule names hours or minutes,
 * what is smaller and not named is 0 ("FREQ=DAILY;BYHOUR=7" means 07:00:00). */
int recurrence_start(struct str rrule, const char *from_local, char ret_start[TIMER_LOCAL_SIZE],
                     struct err *err);
/* The first occurrence whose moment there lies after this one: 1, 0 there is none. Occurrences that
 * a gap moves to the moment of another are not given twice. */
int recurrence_next_moment(struct recurrence *recurrence, const struct zone *zone, int64_t after_ms,
                           char ret_local[TIMER_LOCAL_SIZE], int64_t *ret_ms);
/* The zone of a name; an empty one: of this machine. */
int timer_zone_open(struct str name, struct zone **ret_zone, struct err *err);

/* What a rule gives, for who is about to make a timer. */
#define TIMER_PREVIEW_MAX 1000
struct timer_preview {
    struct str rrule;
    struct str start; /* local; empty: made of from, see recurrence_start() */
    struct str from;  /* a moment (RFC 3339), a local time or a day; empty: now */
    int64_t count;
};
struct timer_occurrence {
    char local[TIMER_LOCAL_SIZE]; /* by the rule */
    int64_t at;
    char time[TIMER_LOCAL_SIZE + 8]; /* what clocks show then, with their offset */
    bool gap, overlap;               /* clocks skip local, or show it twice */
};
int timer_preview(const struct timer_preview *what, const struct zone *zone, int64_t now_ms,
                  struct arena *arena, struct timer_occurrence **ret_list, size_t *ret_count,
                  struct err *err);

/* ---- stored ---- */

#define TIMER_NAME_MAX     80    /* characters */
#define TIMER_PROMPT_MAX   20000 /* bytes */
#define TIMER_INTERVAL_MIN MINUTES(1)
#define TIMER_INTERVAL_MAX DAYS(3660)
#define TIMERS_OF_AGENT    1000 /* at most */

enum timer_kind { TIMER_KIND_NONE = 0, TIMER_RRULE, TIMER_ONCE, TIMER_INTERVAL };
enum timer_missed { TIMER_MISSED_ONCE = 0, TIMER_MISSED_SKIP, TIMER_MISSED_ALL };
const char *timer_kind_name(enum timer_kind kind);       /* "rrule" */
enum timer_kind timer_kind_of(struct str name);          /* NONE: no such */
const char *timer_missed_name(enum timer_missed missed); /* "once" */
int timer_missed_of(struct str name, enum timer_missed *ret_missed, struct err *err);

struct timer {
    int64_t n;
    struct str id;
    int64_t agent_n;
    struct str agent_id, name, rrule, zone, prompt; /* zone empty: wherever this machine is */
    enum timer_kind kind;
    char start_local[TIMER_LOCAL_SIZE], next_local[TIMER_LOCAL_SIZE];
    int64_t interval_ms, next_run_at, last_run_at;
    enum timer_missed missed;
    int64_t missed_cap;
    bool active;
    int64_t created_at, updated_at;
    struct str vector_clock; /* of the row as it was read */
    /* What an empty zone means now; NULL: the zone of this machine. Not stored. */
    const struct zone *here;
};
/* Inside a unit, as are the next two, and each leaves a batch of the agent domain (the key AGENT,
 * the ids of the agent and of the timer): checked, its first occurrence after now_ms computed,
 * stored. Sets n, id (in arena), next; a start that is missing; missed_cap where it is 0. kind
 * NONE: by what is given. */
int timer_add(struct domain *domain, struct change *change, struct timer *timer, int64_t now_ms,
              struct arena *arena, struct err *err);
/* Name, rule, start, zone, interval, policy, prompt and active of a timer that was read. When
 * its times are others than before, when it fires next is computed anew: after now_ms and after
 * what it has fired already. */
int timer_change(struct domain *domain, struct change *change, struct timer *timer, int64_t now_ms,
                 struct err *err);
/* What is queued of it ends without a run, also when it is switched off. */
int timer_remove(struct domain *domain, struct change *change, struct str id, int64_t now_ms,
                 struct err *err);
/* By the beginning of its id. */
int timer_get(struct domain *domain, struct str id, struct arena *arena, struct timer *ret_timer,
              struct err *err);
/* When the timer with this id fires, for who has no name for it: "FREQ=DAILY;BYHOUR=7", "every 2
 * h", "at 2026-12-24T18:00". Of one that was removed, too. 1, or 0: there is none. */
int timer_describe(struct domain *domain, struct str id, struct arena *arena, struct str *ret_text,
                   struct err *err);
/* agent_n 0: of all. In order of n. */
int timer_list(struct domain *domain, int64_t agent_n, struct arena *arena, struct timer **ret_list,
               size_t *ret_count, struct err *err);

/* When the next one is due; 0: none is. */
int timer_next_due(struct domain *domain, int64_t *ret_at, struct err *err);
int timer_due(struct domain *domain, int64_t now_ms, int limit, struct arena *arena,
              struct timer **ret_list, size_t *ret_count, struct err *err);

/* Occurrences that did not become wakes. */
struct timer_skip {
    int64_t first, last, count;
    const char *why; /* "missed"; "cap": more than missed_cap; "gap": at the moment of another */
};
#define TIMER_SKIPS_MAX 3
/* What is to be done about a timer that is due at now_ms. */
struct timer_plan {
    int64_t *firings; /* scheduledAt of each wake to be made, oldest first */
    size_t firing_count;
    size_t missed_count; /* the first of them were missed: reason recoveryCatchup */
    struct timer_skip skips[TIMER_SKIPS_MAX];
    size_t skip_count;
    int64_t next_run_at; /* 0: it has ended */
    char next_local[TIMER_LOCAL_SIZE];
};
/* Pure. A firing counts as missed when it lies more than TIMER_LATE_MS back. Of those missed, once
 * fires the last (and none when another is on time), skip none, all the last missed_cap. zone: what
 * the timer's zone is now. integrity_failed: what is stored is no timer. */
#define TIMER_LATE_MS 60000
int timer_plan(const struct timer *timer, const struct zone *zone, int64_t now_ms,
               struct arena *arena, struct timer_plan *ret_plan, struct err *err);
/* Inside a unit, with the wakes of the same plan: moves the timer on and records what was skipped.
 * 0: somebody else has moved or changed it meanwhile, and nothing was done; else 1. */
int timer_advance(struct domain *domain, struct change *change, const struct timer *timer,
                  const struct timer_plan *plan, int64_t now_ms, struct err *err);
/* Inside a unit: it can't fire any more, and why is recorded: "destroyed", "damaged". */
int timer_end(struct domain *domain, struct change *change, const struct timer *timer,
              const char *why, int64_t now_ms, struct err *err);
/* Newest first, at most limit. */
struct timer_skipped {
    int64_t first, last, count, created_at;
    struct str why;
};
int timer_skips(struct domain *domain, int64_t timer_n, int limit, struct arena *arena,
                struct timer_skipped **ret_list, size_t *ret_count, struct err *err);
/* Inside a unit: the zone of this machine is another: next moments of timers without a zone are
 * computed anew from next_local, a page at a time. Rules of hours and minutes go on from their last
 * firing instead: they follow the clock, not the day. 1 there is more. */
int timer_rezone(struct domain *domain, struct change *change, const struct zone *zone,
                 int64_t now_ms, int64_t *after_n, struct err *err);
/* The zone that moments of timers without one were last computed for; empty: not known. */
int timer_zone_known(struct domain *domain, struct arena *arena, struct str *ret_name,
                     struct err *err);
int timer_zone_remember(struct domain *domain, struct str name, struct err *err);

#endif
