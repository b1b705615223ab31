/* Inside the room: wakes by a person's word.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_WAKE_SPOKEN_INT_H
#define DORMOUSE_WAKE_SPOKEN_INT_H

#include "wake/queue.h"

/* At most limit of those that fit the filter, newest first; oldest_ms: no older ones are needed, 0:
 * all are. Their payload is empty. */
int spoken_list(struct domain *domain, const struct wake_filter *filter, int limit,
                int64_t oldest_ms, struct arena *arena, struct wake_job *ret_jobs,
                size_t *ret_count, struct err *err);
/* By its whole key, with what was said: 1 found, 0 absent. */
int spoken_get(struct domain *domain, struct str run_key, struct arena *arena,
               struct wake_job *ret_job, struct err *err);

#endif
