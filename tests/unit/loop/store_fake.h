/* A stand-in for a domain that can be told to fail, and writes down what was asked of it.
 *
 * It keeps the numbers that units wrote: `durable` is what a restart would find, which after an
 * ambiguous failure is more than the process can see.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_TESTS_STORE_FAKE_H
#define DORMOUSE_TESTS_STORE_FAKE_H

#include "base/buf.h"
#include "loop/loop_int.h"

#define STORE_ROWS 4096

struct store_fake {
    const char *name;
    struct buf *trace; /* may be NULL */
    enum domain_health health;
    bool open, in_savepoint;
    int durable[STORE_ROWS];
    size_t durable_count;
    int pending[STORE_ROWS];
    size_t pending_count, mark;
    /* what fails next; each is taken back by its failure */
    bool fail_begin, fail_savepoint, fail_release, fail_settle, fail_commit;
    bool ambiguous;                 /* the failing commit becomes durable all the same */
    enum domain_health health_then; /* after a failed commit */
    int fail_mend, mends;           /* so many tries fail; so many were made */
};

extern const struct tick_store_ops store_fake_ops;

struct domain *store_domain(struct store_fake *store);
/* What a unit does. */
void store_write(struct store_fake *store, int row);
/* A statement failed in a way that makes the engine roll everything back. */
void store_vanish(struct store_fake *store);
bool store_has(const struct store_fake *store, int row);

#endif
