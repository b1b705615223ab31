/* The heart of the loop, without libuv: domains with their transactions, units, the queue of
 * effects, hooks and the arenas of a tick. loop.c and loop_fake.c decide when a tick ends.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_LOOP_TICK_INT_H
#define DORMOUSE_LOOP_TICK_INT_H

#include "base/arena.h"
#include "base/err.h"
#include "loop/loop.h"

/* What a tick does with a domain: db/domain.h, or a test's stand-in. */
struct tick_store_ops {
    enum domain_health (*health)(const struct domain *domain);
    int (*begin)(struct domain *domain, struct err *err);
    int (*commit)(struct domain *domain, struct err *err);
    void (*rollback)(struct domain *domain);
    bool (*in_transaction)(const struct domain *domain);
    int (*savepoint)(struct domain *domain, struct err *err);
    int (*release)(struct domain *domain, struct err *err);
    int (*leave)(struct domain *domain, struct err *err);
    int (*settle)(struct domain *domain, struct err *err);
    void (*rollback_to)(struct domain *domain);
    void (*idle)(struct domain *domain);
    int (*mend)(struct domain *domain, struct err *err);
};

struct tick_domain {
    struct domain *domain;
    const struct tick_store_ops *ops;
    bool open;     /* has this tick's transaction */
    bool left;     /* a unit has ended of which it is not known whether it can be committed */
    bool doomed;   /* the engine gave the transaction up before its commit; why says how */
    bool failed;   /* of the tick that ends: its effects are dropped with why */
    bool worked;   /* committed something since its last housekeeping */
    unsigned kept; /* units of this transaction */
    enum domain_health told;
    struct err why;
};

struct tick {
    struct tick_domain domains[LOOP_DOMAINS_MAX];
    int domain_count;
    int unit;                       /* index of the domain whose unit is open, or -1 */
    struct loop_effect **unit_mark; /* where the effects of the open unit begin */
    struct loop_effect *first, **end;
    struct loop_tick_hook *hooks, *next_hook;
    struct arena arenas[2];
    int arena; /* which one is this tick's */
    bool ending;
    bool lost;
    struct err lost_why;
    uint64_t count; /* ticks ended */
    void (*on_health)(struct domain *domain, enum domain_health health, const struct err *why,
                      void *arg);
    void *on_health_arg;
};

void tick_init(struct tick *tick);
/* Rolls back, drops all effects with why. */
void tick_release(struct tick *tick, const struct err *why);

void tick_attach(struct tick *tick, struct domain *domain, const struct tick_store_ops *ops);
int tick_unit_begin(struct tick *tick, struct domain *domain, struct err *err);
int tick_unit_end(struct tick *tick, bool keep, struct err *err);
int tick_unit_leave(struct tick *tick, struct err *err);
void tick_after_commit(struct tick *tick, struct loop_effect *effect);
void tick_add_hook(struct tick *tick, struct loop_tick_hook *hook);
void tick_remove_hook(struct tick *tick, struct loop_tick_hook *hook);
struct arena *tick_arena(struct tick *tick);

/* A transaction is open or effects wait: the loop must not sleep. */
bool tick_pending(const struct tick *tick);
/* Commits, runs or drops the effects queued so far, runs the hooks. True when anything was
 * committed. */
bool tick_end(struct tick *tick);
bool tick_is_healthy(const struct tick *tick);
/* A domain is read-only or away, and may be healthy again. */
bool tick_is_sick(const struct tick *tick);
/* Tries each of those. What came of it is told at the end of the tick. */
void tick_mend(struct tick *tick);
/* Housekeeping of the domains that committed something since the last time. */
void tick_idle(struct tick *tick);

#endif
