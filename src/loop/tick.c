/* Commit, then act.
 *
 * A tick collects: units open a domain's transaction when the first of them begins, each unit is
 * a savepoint in it, and effects are appended to one queue, tagged with the domain whose commit
 * they wait for. tick_end() then does, in this order:
 *
 *   1. commit every open domain, in the order of attachment;
 *   2. walk the queue in the order it was filled: run, or drop what belongs to a failed domain;
 *   3. reset the arena of the tick that ended;
 *   4. call the hooks, in the order of registration.
 *
 * From step 1 on, whatever is written, queued or allocated belongs to the next tick: the queue is
 * taken off before, and the arenas change places. docs/design/0004-ticks.md says why.
 *
 * SPDX-License-Identifier: MIT
 */
#include "loop/tick_int.h"

#define NO_DOMAIN (-1)

void tick_init(struct tick *tick)
{
    *tick = (struct tick){ .unit = NO_DOMAIN };
    tick->end = &tick->first;
}

static void take_queue(struct tick *tick, struct loop_effect **ret_first)
{
    *ret_first = tick->first;
    tick->first = NULL;
    tick->end = &tick->first;
}

/* The owner may free an effect while it is told, so its successor is read before. */
static void drop_all(struct loop_effect *effect, const struct err *why)
{
    for (struct loop_effect *next; effect; effect = next) {
        next = effect->next;
        effect->drop(effect, why);
    }
}

void tick_release(struct tick *tick, const struct err *why)
{
    struct loop_effect *effects;

    BUG_IF(tick->ending);
    for (int i = 0; i < tick->domain_count; i++) {
        struct tick_domain *d = &tick->domains[i];

        if (d->open)
            d->ops->rollback(d->domain);
        d->open = d->left = false;
    }
    tick->unit = NO_DOMAIN;
    /* A drop() may queue again; there is no later tick, so that is dropped as well. */
    while (tick->first) {
        take_queue(tick, &effects);
        drop_all(effects, why);
    }
    arena_release(&tick->arenas[0]);
    arena_release(&tick->arenas[1]);
}

void tick_attach(struct tick *tick, struct domain *domain, const struct tick_store_ops *ops)
{
    BUG_IF(tick->domain_count == LOOP_DOMAINS_MAX);
    tick->domains[tick->domain_count++] = (struct tick_domain){ .domain = domain, .ops = ops };
}

struct arena *tick_arena(struct tick *tick)
{
    return &tick->arenas[tick->arena];
}

bool tick_pending(const struct tick *tick)
{
    for (int i = 0; i < tick->domain_count; i++)
        if (tick->domains[i].open)
            return true;
    return tick->first != NULL;
}

/* ---- units ---- */

static int find_domain(const struct tick *tick, const struct domain *domain)
{
    for (int i = 0; i < tick->domain_count; i++)
        if (tick->domains[i].domain == domain)
            return i;
    BUG("the domain was not attached to the loop");
}

static int check_writable(const struct tick_domain *d, struct err *err)
{
    if (d->doomed) {
        if (err)
            *err = d->why;
        return -1;
    }
    switch (d->ops->health(d->domain)) {
    case DOMAIN_OK:
    case DOMAIN_AWAY: /* the engine tries to reach it */
        return 0;
    case DOMAIN_READ_ONLY:
        return err_set(err, ERR_STORAGE_FAILED,
                       "an earlier write failed; only reading goes on until one succeeds");
    case DOMAIN_LOST:
        break;
    }
    return err_set(err, ERR_STORAGE_FAILED,
                   "an earlier sync failed; nothing is written before the next start");
}

/* An engine may roll the whole transaction back when a statement fails (a full disk). Then what
 * earlier units of this tick wrote is gone too, and nothing may be added to the rest. */
static void doom_if_gone(struct tick_domain *d, const struct err *cause)
{
    if (!d->open || d->doomed || d->ops->in_transaction(d->domain))
        return;
    d->doomed = true;
    if (cause && cause->code == ERR_STORAGE_FAILED)
        d->why = *cause;
    else
        err_set(&d->why, ERR_STORAGE_FAILED, "the database gave the transaction up");
}

/* What waits for the commit of this domain. */
static struct loop_effect *cut_effects_of(struct tick *tick, int domain)
{
    struct loop_effect *cut = NULL, **last = &cut, **at = &tick->first;

    while (*at) {
        struct loop_effect *effect = *at;

        if (effect->domain != domain) {
            at = &effect->next;
            continue;
        }
        *at = effect->next;
        effect->next = NULL;
        *last = effect;
        last = &effect->next;
    }
    tick->end = at;
    return cut;
}

/* The unit before was left before it was known whether it can be kept. If not, it goes, with all of
 * the transaction; the one that begins now finds a new one. */
static void settle_left(struct tick *tick, int index)
{
    struct tick_domain *d = &tick->domains[index];
    struct err why = ERR_INIT;

    d->left = false;
    if (d->ops->settle(d->domain, &why) == 0)
        return;
    d->ops->rollback(d->domain);
    d->open = false;
    drop_all(cut_effects_of(tick, index), &why);
}

int tick_unit_begin(struct tick *tick, struct domain *domain, struct err *err)
{
    int index = find_domain(tick, domain);
    struct tick_domain *d = &tick->domains[index];
    struct err cause = ERR_INIT;

    BUG_IF(tick->unit != NO_DOMAIN);
    if (d->left && !d->doomed)
        settle_left(tick, index);
    if (check_writable(d, err) < 0)
        return -1;
    if (!d->open) {
        if (d->ops->begin(domain, err) < 0)
            return -1;
        d->open = true;
        d->kept = 0;
    }
    if (d->ops->savepoint(domain, &cause) < 0) {
        doom_if_gone(d, &cause);
        if (err)
            *err = cause;
        return -1;
    }
    tick->unit = index;
    tick->unit_mark = tick->end;
    return 0;
}

static struct loop_effect *cut_unit_effects(struct tick *tick)
{
    struct loop_effect *effects = *tick->unit_mark;

    *tick->unit_mark = NULL;
    tick->end = tick->unit_mark;
    return effects;
}

static int end_unit(struct tick *tick, bool keep, bool leave, struct err *err)
{
    struct tick_domain *d;
    struct loop_effect *effects;
    struct err why = ERR_INIT;
    bool broken = false;

    BUG_IF(tick->unit == NO_DOMAIN);
    d = &tick->domains[tick->unit];
    tick->unit = NO_DOMAIN;
    doom_if_gone(d, NULL);
    if (keep && d->doomed) {
        why = d->why;
        broken = true;
    } else if (keep && (leave ? d->ops->leave : d->ops->release)(d->domain, &why) < 0) {
        broken = true;
    }
    if (keep && !broken) {
        d->left |= leave;
        d->kept++;
        return 0;
    }
    if (!d->doomed) {
        d->ops->rollback_to(d->domain);
        doom_if_gone(d, broken ? &why : NULL);
    }
    if (!broken)
        err_set(&why, ERR_CANCELLED, "the unit was rolled back");
    effects = cut_unit_effects(tick);
    drop_all(effects, &why);
    if (broken && err)
        *err = why;
    return broken ? -1 : 0;
}

int tick_unit_end(struct tick *tick, bool keep, struct err *err)
{
    return end_unit(tick, keep, false, err);
}

int tick_unit_leave(struct tick *tick, struct err *err)
{
    return end_unit(tick, true, true, err);
}

void tick_after_commit(struct tick *tick, struct loop_effect *effect)
{
    effect->domain = tick->unit;
    effect->next = NULL;
    *tick->end = effect;
    tick->end = &effect->next;
}

/* ---- hooks ---- */

void tick_add_hook(struct tick *tick, struct loop_tick_hook *hook)
{
    struct loop_tick_hook **at = &tick->hooks;

    while (*at)
        at = &(*at)->next;
    hook->next = NULL;
    *at = hook;
}

void tick_remove_hook(struct tick *tick, struct loop_tick_hook *hook)
{
    struct loop_tick_hook **at = &tick->hooks;

    while (*at && *at != hook)
        at = &(*at)->next;
    if (!*at)
        return;
    *at = hook->next;
    if (tick->next_hook == hook)
        tick->next_hook = hook->next;
}

static void run_hooks(struct tick *tick)
{
    struct loop_tick_hook *hook = tick->hooks;

    while (hook) {
        tick->next_hook = hook->next;
        hook->after_tick(hook);
        hook = tick->next_hook;
    }
    tick->next_hook = NULL;
}

/* ---- the end of a tick ---- */

/* A change is told once, whatever fails meanwhile. */
static void tell_health(struct tick *tick, struct tick_domain *d)
{
    enum domain_health health = d->ops->health(d->domain);

    if (health == d->told)
        return;
    d->told = health;
    if (tick->on_health)
        tick->on_health(d->domain, health, d->failed ? &d->why : NULL, tick->on_health_arg);
}

static void note_health(struct tick *tick, struct tick_domain *d)
{
    tell_health(tick, d);
    if (tick->lost || d->ops->health(d->domain) != DOMAIN_LOST)
        return;
    tick->lost = true;
    if (d->failed)
        tick->lost_why = d->why;
    else
        err_set(&tick->lost_why, ERR_STORAGE_FAILED, "a sync failed");
}

static bool commit_domain(struct tick_domain *d)
{
    d->open = d->left = false;
    if (d->doomed) {
        d->doomed = false;
        d->failed = true;
        d->ops->rollback(d->domain);
        return false;
    }
    if (d->kept == 0) {
        d->ops->rollback(d->domain);
        return false;
    }
    if (d->ops->commit(d->domain, &d->why) == 0) {
        d->worked = true;
        return true;
    }
    d->failed = true;
    /* Whatever the engine calls it, for those who wait it means "unknown". */
    d->why.code = ERR_STORAGE_FAILED;
    return false;
}

static bool commit_all(struct tick *tick)
{
    bool any = false;

    for (int i = 0; i < tick->domain_count; i++) {
        struct tick_domain *d = &tick->domains[i];

        d->failed = false;
        if (d->open)
            any |= commit_domain(d);
        note_health(tick, d);
    }
    return any;
}

static void run_effects(struct tick *tick, struct loop_effect *effect)
{
    for (struct loop_effect *next; effect; effect = next) {
        const struct tick_domain *d =
            effect->domain == NO_DOMAIN ? NULL : &tick->domains[effect->domain];

        next = effect->next;
        if (d && d->failed)
            effect->drop(effect, &d->why);
        else
            effect->run(effect);
    }
}

bool tick_end(struct tick *tick)
{
    struct loop_effect *effects;
    int ended = tick->arena;
    bool any;

    BUG_IF(tick->ending || tick->unit != NO_DOMAIN);
    tick->ending = true;
    take_queue(tick, &effects);
    tick->arena = !tick->arena;
    any = commit_all(tick);
    run_effects(tick, effects);
    arena_reset(&tick->arenas[ended]);
    run_hooks(tick);
    tick->count++;
    tick->ending = false;
    return any;
}

bool tick_is_healthy(const struct tick *tick)
{
    for (int i = 0; i < tick->domain_count; i++)
        if (tick->domains[i].ops->health(tick->domains[i].domain) != DOMAIN_OK)
            return false;
    return true;
}

bool tick_is_sick(const struct tick *tick)
{
    for (int i = 0; i < tick->domain_count; i++) {
        enum domain_health health = tick->domains[i].told;

        if (health == DOMAIN_AWAY || health == DOMAIN_READ_ONLY)
            return true;
    }
    return false;
}

void tick_mend(struct tick *tick)
{
    for (int i = 0; i < tick->domain_count; i++) {
        struct tick_domain *d = &tick->domains[i];
        struct err still = ERR_INIT; /* known: it was told when it began */

        if (!d->open && d->ops->mend && d->told != DOMAIN_OK)
            (void)d->ops->mend(d->domain, &still);
    }
}

void tick_idle(struct tick *tick)
{
    for (int i = 0; i < tick->domain_count; i++) {
        struct tick_domain *d = &tick->domains[i];

        if (!d->worked || d->open || d->ops->health(d->domain) != DOMAIN_OK)
            continue;
        d->worked = false;
        d->ops->idle(d->domain);
    }
}
