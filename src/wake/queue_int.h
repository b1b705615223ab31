/* Inside the room: how its stores read wakes.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_WAKE_QUEUE_INT_H
#define DORMOUSE_WAKE_QUEUE_INT_H

#include "wake/queue.h"

struct stmt;

/* not_before of wakes that wait for the end of their agent's run. */
#define WAKE_PARKED (INT64_C(1) << 62)

/* ... of wakes that a person waits for: the first of the queue. */
#define WAKE_FIRST (-1)

/* On a shared database: tells the other processes, when the transaction is committed, that there is
 * a wake. */
#define WAKE_CHANNEL "dormouse_wakes"
#define WAKE_TELL    "pg_notify('" WAKE_CHANNEL "', '')"

/* reason_id of the wake at the end of an agent's sleep. */
#define WAKE_SLEEP_ID "sleep"
/* ... of one that tries again what a run failed at. */
#define WAKE_RETRY_ID "retry"
/* ... of one that covers what was missed in a pause, or while a kill switch was on. */
#define WAKE_RESUME_ID "resume"

/* It says nothing itself: what is told are the wakes that it makes up for. */
bool wake_is_catchup(const struct wake_job *job);

void wake_read_queued(struct stmt *q, struct arena *arena, struct wake_job *ret_job);
void wake_read_ended(struct stmt *q, struct arena *arena, struct wake_job *ret_job);
/* Inside a transaction: what was queued later than now was queued before the clock was set back.
 * Such a wake waits as long as it was to wait, not until then; hours and sleep are times of the
 * clock and stay. */
int wake_clock_back(struct domain *domain, int64_t now_ms, struct err *err);
/* Those of an agent that left the queue since its last success, newest first; at most limit, and
 * as many as have 8 MiB together. */
int wake_list_earlier(struct domain *domain, int64_t agent_n, int limit, struct arena *arena,
                      struct wake_job **ret_jobs, size_t *ret_count, struct err *err);
/* The statements of wake_list(), for tests that ask how they are carried out. */
const char *wake_list_text(const struct wake_filter *filter, bool queued);
/* By its whole key: 1 found, 0 absent. */
int wake_find(struct domain *domain, struct str run_key, struct arena *arena,
              struct wake_job *ret_job, struct err *err);

#endif
