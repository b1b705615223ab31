/* Inside the room: leases. A name is held by one holder until a time; every change of hands makes
 * its number greater, so whoever still acts under an old number is found out.
 *
 * Used where several processes share a database; with SQLite the lock on the data directory says
 * it all.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_WAKE_LEASE_INT_H
#define DORMOUSE_WAKE_LEASE_INT_H

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include "db/domain.h"

/* The time that all holders go by: that of a shared database, where it has one. */
int lease_now(struct domain *domain, int64_t *ret_now_ms, struct err *err);
/* Inside a unit: held by holder from now on, whoever had it (a new number). For one's own name. */
int lease_take(struct domain *domain, struct str name, struct str holder, int64_t until,
               int64_t *ret_fence, struct err *err);
/* Inside a unit: 1 it lasts until then; 0 it is another's, or another number's. */
int lease_renew(struct domain *domain, struct str name, struct str holder, int64_t fence,
                int64_t until, struct err *err);
/* Inside a unit, and until its end: 1 it is ours, and has not run out. */
int lease_hold(struct domain *domain, struct str name, struct str holder, int64_t fence,
               int64_t now_ms, struct err *err);
/* Inside a unit: 1 nobody has it any more (its number grew); 0 it was renewed meanwhile. */
int lease_break(struct domain *domain, struct str name, int64_t now_ms, struct err *err);
/* Given back. */
int lease_release(struct domain *domain, struct str name, struct str holder, int64_t fence,
                  struct err *err);

/* Hosts with runs under way whose lease "host:ID" has ended, or that have none; without one. */
struct lease_host {
    int64_t n;
    struct str id;
};
int lease_dead_hosts(struct domain *domain, int64_t but_host_n, int64_t now_ms, int limit,
                     struct arena *arena, struct lease_host **ret_hosts, size_t *ret_count,
                     struct err *err);

#endif
