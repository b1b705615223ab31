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

/* reason_id of the wake at the end of an agent's sleep. */
#define WAKE_SLEEP_ID "sleep"

void wake_read_queued(struct stmt *q, struct arena *arena, struct wake_job *ret_job);
void wake_read_ended(struct stmt *q, struct arena *arena, struct wake_job *ret_job);
/* Those that left the queue; filter->limit is given. */
int wake_list_ended(struct domain *domain, const struct wake_filter *filter, struct arena *arena,
                    struct wake_job **ret_jobs, size_t *ret_count, struct err *err);
/* By its whole key: 1 found, 0 absent. */
int wake_find(struct domain *domain, struct str run_key, struct arena *arena,
              struct wake_job *ret_job, struct err *err);

#endif
