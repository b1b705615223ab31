/* What every record that will be synced carries: which host wrote it, and that host's counter.
 *
 * The host's identity is made once per data directory; counters only grow, are the same sequence
 * for all domains, and are handed out in memory, beginning after the highest that a table of any
 * domain holds (one index look-up a table).
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_CHANGE_CHANGE_H
#define DORMOUSE_CHANGE_CHANGE_H

#include <stdint.h>

#include "base/alloc.h"
#include "base/err.h"
#include "base/str.h"
#include "base/uuid.h"
#include "db/domain.h"

struct clock;
struct change;
struct rand;

/* Reads or makes this host's row, and goes on after the highest counter of what it wrote:
 * integrity_failed when there is no going on (past 2^62). Opens a transaction of its own when none
 * is open. NULL clock or rand: the system's. */
int change_open(struct domain *agent_domain, struct clock *clock, struct rand *rand,
                struct change **ret_change, struct err *err);
/* As another host than the one the database belongs to: for a daemon that shares a database with
 * others, and so needs an identity (a UUID) and counters of its own. NULL: as change_open(). */
int change_open_as(struct domain *agent_domain, const char *host_id, struct clock *clock,
                   struct rand *rand, struct change **ret_change, struct err *err);
void change_free(struct change *change);
AUTO_DEFINE(change)
/* Writes to this domain too: reads or makes the host's row there and goes on after the highest
 * counter that it holds. Before the first change_next(). Opens a transaction of its own when none
 * is open. */
int change_join(struct change *change, struct domain *journal, struct err *err);
/* The host as rows of that domain name it. */
int64_t change_host_in(const struct change *change, const struct domain *domain);

/* Inside a unit: the number of any host (a UUID) as rows of that domain name it; given when it has
 * none there. */
int change_number(struct domain *domain, struct str host_id, int64_t now_ms, int64_t *ret_n,
                  struct err *err);

const char *change_host_id(const struct change *change);
/* The host as rows of the agent domain name it. */
int64_t change_host(const struct change *change);
/* The next counter. One that a rolled back unit took is not given again. */
int64_t change_next(struct change *change);
/* How many batches were written since it was opened, in all domains and whether they were kept or
 * not: who follows batches by cursor sees by it that there may be new ones. */
uint64_t change_written(const struct change *change);
/* For change_batch_write(). */
void change_wrote(struct change *change);
/* A new id for a record that has no derived one: UUIDv7. */
void change_new_id(struct change *change, char ret_id[UUID_TEXT_SIZE]);

#endif
