/* Webhooks: somebody elsewhere calls, and an agent wakes.
 *
 * What a caller sends is text that nobody vouches for: it is bounded, kept as it came, and marked
 * so in the wake's payload. Calls are limited by a bucket for each hook, filled by the clock; the
 * buckets are in memory alone, so a start fills them.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_WAKE_WEBHOOK_H
#define DORMOUSE_WAKE_WEBHOOK_H

#include "base/limits.h"
#include "wake/queue.h"
#include "wake/subscription_int.h"

#define WEBHOOK_BODY_MAX     (64 * KIB)
#define WEBHOOK_EVENT_ID_MAX 200 /* bytes */

struct webhook_limits {
    unsigned per_minute; /* 0: 60 */
    unsigned burst;      /* 0: 20 */
};
struct webhook_gate;
/* Never NULL. clock: monotonic time is what fills the buckets. */
struct clock;
struct webhook_gate *webhook_gate_new(struct clock *clock, struct webhook_limits limits);
void webhook_gate_free(struct webhook_gate *gate);
AUTO_DEFINE(webhook_gate)

struct webhook_call {
    struct str token, content_type, body;
    struct str event_id; /* the sender's own; empty: made of body and time (to the second) */
};
/* Inside a unit of the agent domain: 1 a wake was queued, 0 this event is known. not_found,
 * rate_limited (calls refused so are counted in memory, and written with the next that is let in,
 * or by webhook_gate_store(): a flood writes next to nothing), too_large, bad_request for an event
 * id that is none, agent_destroyed. */
int webhook_receive(struct webhook_gate *gate, struct domain *domain,
                    const struct webhook_call *call, int64_t now_ms, struct err *err);

/* Inside a unit: what was refused since it was last written, among the skips too. Afterwards
 * webhook_gate_stored(), when the unit was kept. */
int webhook_gate_store(struct webhook_gate *gate, struct domain *domain, int64_t now_ms,
                       struct err *err);
void webhook_gate_stored(struct webhook_gate *gate);

struct webhook_counts {
    int64_t received, refused, last_at;
};
/* 1, or 0: it is no webhook. */
int webhook_counts(struct domain *domain, int64_t subscription_n, struct webhook_counts *ret_counts,
                   struct err *err);
/* Inside a unit. */
int webhook_count(struct domain *domain, int64_t subscription_n, int64_t received, int64_t refused,
                  int64_t now_ms, struct err *err);

#endif
