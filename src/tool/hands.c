/* See hands.h. A map by run; each entry counts who uses it and has a timer that runs while nobody
 * does.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tool/hands.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/map.h"

struct held {
    struct hands *hands;
    struct hand *hand;
    char *run_id;
    unsigned users;
    uint64_t rested; /* when it began to rest, in the order of rests */
    struct loop_timer idle;
    uint8_t saved[SHA256_BYTES]; /* hash of the state that was saved last */
    struct held *next;           /* that is being closed */
};

struct hands {
    struct hands_config config;
    struct map by_run;
    struct held *closing;
    uint64_t rests;
};

struct hands *hands_new(const struct hands_config *config)
{
    struct hands *hands = NEW(struct hands);

    hands->config = *config;
    if (!hands->config.max)
        hands->config.max = HANDS_MAX;
    if (!hands->config.idle_ms)
        hands->config.idle_ms = HANDS_IDLE_MS;
    return hands;
}

static void held_closed(void *arg)
{
    struct held *held = arg, **at = &held->hands->closing;

    while (*at != held)
        at = &(*at)->next;
    *at = held->next;
    free(held->run_id);
    free(held);
}

/* Out of the table first: completions that hand_close() brings may look here again. */
static void held_end(struct held *held)
{
    struct hands *hands = held->hands;

    map_remove(&hands->by_run, str_from(held->run_id));
    loop_timer_stop(hands->config.loop, &held->idle);
    held->next = hands->closing;
    hands->closing = held;
    hand_close(held->hand, held_closed, held);
}

/* All at once: the stop of the daemon waits for the slowest and not for each. */
static void wait_for_closing(struct hands *hands)
{
    struct hand **list;
    size_t n = 0;

    for (const struct held *held = hands->closing; held; held = held->next)
        n++;
    if (n == 0)
        return;
    list = NEW_N(struct hand *, n);
    n = 0;
    for (const struct held *held = hands->closing; held; held = held->next)
        list[n++] = held->hand;
    hand_close_wait(list, n);
    free(list);
    BUG_IF(hands->closing);
}

void hands_free(struct hands *hands)
{
    if (!hands)
        return;
    for (size_t at = 0; map_count(&hands->by_run); at = 0)
        held_end(map_next(&hands->by_run, &at)->value);
    wait_for_closing(hands);
    map_release(&hands->by_run);
    free(hands);
}

static void on_idle(struct loop_timer *timer)
{
    held_end((struct held *)(void *)((char *)timer - offsetof(struct held, idle)));
}

static void on_notice(void *arg, const struct hand_notice *notice)
{
    struct held *held = arg;
    const struct hands_config *config = &held->hands->config;

    if (config->notice)
        config->notice(config->arg, str_from(held->run_id), notice);
}

/* ---- room ---- */

static struct held *longest_rest(const struct hands *hands)
{
    struct held *found = NULL;

    map_each (&hands->by_run, entry) {
        struct held *held = entry->value;

        if (!held->users && (!found || held->rested < found->rested))
            found = held;
    }
    return found;
}

static int make_room(struct hands *hands, struct err *err)
{
    struct held *resting;

    if (map_count(&hands->by_run) < hands->config.max)
        return 0;
    resting = longest_rest(hands);
    if (!resting)
        return err_set(err, ERR_RATE_LIMITED,
                       "%u runs use their sandboxes at the moment, which is the most at a time",
                       hands->config.max);
    held_end(resting);
    return 0;
}

static struct held *held_new(struct hands *hands, struct str run_id,
                             const struct sandbox_spec *spec, struct str state)
{
    struct held *held = NEW(struct held);
    struct hand_config config = {
        .loop = hands->config.loop, .spec = *spec, .on_notice = on_notice, .arg = held
    };

    held->hands = hands;
    held->run_id = alloc_copy(run_id.p, run_id.n);
    held->idle.fire = on_idle;
    held->hand = hand_new(&config);
    if (state.n)
        hand_set_state(held->hand, state);
    sha256_of(state, held->saved);
    map_put(&hands->by_run, run_id, held);
    return held;
}

int hands_get(struct hands *hands, struct str run_id, const struct sandbox_spec *spec,
              struct str state, struct hand **ret_hand, struct err *err)
{
    struct held *held = map_find(&hands->by_run, run_id);

    if (!held) {
        if (make_room(hands, err) < 0)
            return -1;
        held = held_new(hands, run_id, spec, state);
    }
    held->users++;
    loop_timer_stop(hands->config.loop, &held->idle);
    *ret_hand = held->hand;
    return 0;
}

/* ---- resting ---- */

static void save_if_changed(struct held *held)
{
    const struct hands_config *config = &held->hands->config;
    struct str state = hand_state(held->hand);
    uint8_t hash[SHA256_BYTES];

    if (!state.n || !config->save)
        return;
    sha256_of(state, hash);
    if (memcmp(hash, held->saved, sizeof(hash)) == 0)
        return;
    memcpy(held->saved, hash, sizeof(hash));
    config->save(config->arg, str_from(held->run_id), state);
}

void hands_rest(struct hands *hands, struct str run_id)
{
    struct held *held = map_find(&hands->by_run, run_id);

    if (!held)
        return;
    BUG_IF(held->users == 0);
    if (--held->users == 0) {
        held->rested = ++hands->rests;
        loop_timer_start(hands->config.loop, &held->idle, hands->config.idle_ms);
    }
    save_if_changed(held);
}

void hands_end(struct hands *hands, struct str run_id)
{
    struct held *held = map_find(&hands->by_run, run_id);

    if (held)
        held_end(held);
}

struct hand *hands_find(const struct hands *hands, struct str run_id)
{
    struct held *held = map_find(&hands->by_run, run_id);

    return held ? held->hand : NULL;
}

size_t hands_count(const struct hands *hands)
{
    return map_count(&hands->by_run);
}
