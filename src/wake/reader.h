/* The reader: follows the change batches of the journal and of the agent domain by cursor, and
 * makes the wakes of subscriptions that match.
 *
 * The cursor moves in the transaction that stores the wakes, so after a crash at any point each
 * batch has been judged exactly once. A batch that concerns thousands of agents is judged in
 * several, subscription by subscription in their order: a second cursor says how far it is, and the
 * first one stays before the batch until all of it is done. A batch is read when it has lain for a
 * while (debounce): that is a delay of the reader, nothing is held in memory meanwhile. A batch
 * that does not say where it came from, or that can't be read, goes to dead_letters and wakes
 * nobody; reading goes on.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_WAKE_READER_H
#define DORMOUSE_WAKE_READER_H

#include "change/change.h"
#include "journal/journal.h"
#include "loop/loop.h"
#include "wake/queue.h"
#include "wake/subscription.h"

struct reader;

struct reader_config {
    struct loop *loop;
    struct domain *agent_domain; /* attached to the loop */
    struct journal *journal;     /* NULL: batches of the agent domain alone */
    struct change *change;
    int64_t debounce_ms;      /* of batches made here; 0: 100 */
    int64_t sync_debounce_ms; /* of those that arrived; 0: 1000 */
    int judged;               /* subscriptions that one unit judges; 0: 500 */
    /* After the commit: wakes were queued. May be NULL. */
    void (*queued)(void *arg);
    void *arg;
};
/* Reads on where it stopped, with the loop's first ticks. */
int reader_new(const struct reader_config *config, struct reader **ret_reader, struct err *err);
/* Nothing is read from now on. */
void reader_stop(struct reader *reader);
void reader_free(struct reader *reader);
AUTO_DEFINE(reader)

/* There may be batches: for who was told so from outside. Writers of this process need not call
 * it. Cheap. */
void reader_look(struct reader *reader);

/* What was judged since the start. */
struct reader_counts {
    int64_t batches, wakes, skips, dead;
    int64_t misses[MATCH_TOKENS]; /* by outcome: author, own, predicate, scope, failed */
};
struct reader_counts reader_counts(const struct reader *reader);

#endif
