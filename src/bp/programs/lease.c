/* lease: several workers, one store, one lease that may be lost without its holder knowing.
 *
 * Nothing here is about agents. A worker (a key) asks for the lease, holds it, writes, and gives it
 * back. The lease may run out at any moment: the keeper of the lease knows at once, the worker
 * only later, so it may still try to write. The store compares the fencing number of each write
 * with the latest grant: a write by anyone but the latest holder is refused.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bp/programs/programs_int.h"

enum {
    EV_NONE = 0,
    EV_WANT,    /* a worker comes */
    EV_GRANT,   /* the lease is given to it */
    EV_EXPIRE,  /* it has run out, and the worker does not know */
    EV_WRITE,   /* the store takes a write */
    EV_REFUSED, /* the store refuses one: now the worker knows */
    EV_RELEASE,
    EV_GONE,
    EV_CLOSE,
    EV_CLOSED,
    EV_COUNT
};

static const struct bp_type types[] = {
    [EV_WANT] = { "want", BP_EXT | BP_KEYED | BP_BIRTH },
    [EV_GRANT] = { "grant", BP_KEYED },
    [EV_EXPIRE] = { "expire", BP_EXT | BP_KEYED },
    [EV_WRITE] = { "write", BP_KEYED },
    [EV_REFUSED] = { "refused", BP_KEYED },
    [EV_RELEASE] = { "release", BP_EXT | BP_KEYED },
    [EV_GONE] = { "gone", BP_KEYED | BP_RETIRE },
    [EV_CLOSE] = { "close", BP_EXT },
    [EV_CLOSED] = { "closed", BP_FINAL },
};

#define ANYTHING ((BP_TYPE(EV_COUNT) - 1) & ~UINT64_C(1))

/* ---- the work ---- */

/* Writes once, twice, ... until it lets go or learns that it must. */
static const struct bp_point worker[] = {
    { .name = "wants the lease",
      .request = BP_MINE(EV_GRANT),
      .wait = { BP_ON(EV_CLOSE, .go = BP_GO(3)) },
      .block = { BP_ON(EV_CLOSED) } },
    { .name = "writes",
      .request = BP_MINE(EV_WRITE),
      .wait = { BP_ON_MINE(EV_REFUSED, .go = BP_GO(3)) },
      .block = { BP_ON(EV_CLOSED) } },
    { .name = "has written",
      .wait = { BP_ON_MINE(EV_RELEASE), BP_ON_MINE(EV_EXPIRE, .go = BP_GO(1)) },
      .block = { BP_ON(EV_CLOSED) } },
    { .name = "leaves", .request = BP_MINE(EV_GONE), .block = { BP_ON(EV_CLOSED) } },
};

static const struct bp_point store[] = {
    { .wait = { BP_ON(EV_CLOSE) } },
    { .name = "closes", .request = BP_ASK(EV_CLOSED), .block = { BP_ON(EV_WANT) } },
    { .name = "closed", .block = { BP_ON_ANY(ANYTHING) } },
};

/* ---- guards ---- */

/* While one holds, no other is granted; a lease that ran out may be granted again. */
static const struct bp_point one_holder[] = {
    { .wait = { BP_ON_MINE(EV_GRANT) } },
    { .name = "holds",
      .wait = { BP_ON_MINE(EV_RELEASE, .go = BP_END), BP_ON_MINE(EV_EXPIRE, .go = BP_END) },
      .block = { BP_ON(EV_GRANT) } },
};

/* The number that the worker was given is old once its lease ran out. */
static const struct bp_point fence[] = {
    { .wait = { BP_ON_MINE(EV_EXPIRE) } },
    { .name = "fences off", .request = BP_MINE(EV_REFUSED), .block = { BP_ON_MINE(EV_WRITE) } },
    { .name = "has told the worker", .block = { BP_ON_MINE(EV_WRITE) } },
};

/* ---- what may be assumed of the outside ---- */

static const struct bp_point only_a_lease_expires[] = {
    { .wait = { BP_ON_MINE(EV_GRANT) },
      .block = { BP_ON_MINE(EV_EXPIRE), BP_ON_MINE(EV_RELEASE) } },
    { .wait = { BP_ON_MINE(EV_EXPIRE), BP_ON_MINE(EV_RELEASE) } },
    { .block = { BP_ON_MINE(EV_EXPIRE), BP_ON_MINE(EV_RELEASE) } },
};

/* ---- properties ---- */

static const struct bp_point no_stale_write[] = {
    { .wait = { BP_ON_MINE(EV_GRANT) } },
    { .name = "holds", .wait = { BP_ON_MINE(EV_EXPIRE) } },
    { .name = "ran out", .wait = { BP_ON_MINE(EV_WRITE) } },
    { .name = "a write after the lease ran out", .bad = true },
};

static const struct bp_point no_second_grant[] = {
    { .wait = { BP_ON_MINE(EV_GRANT) } },
    { .name = "holds",
      .wait = { BP_ON_MINE(EV_EXPIRE, .go = BP_END), BP_ON_MINE(EV_RELEASE, .go = BP_END),
                BP_ON_MINE(EV_GONE, .go = BP_END), BP_ON(EV_GRANT) } },
    { .name = "two hold the lease", .bad = true },
};

static const struct bp_point no_write_without_lease[] = {
    { .wait = { BP_ON_MINE(EV_GRANT, .go = BP_END), BP_ON_MINE(EV_WRITE) } },
    { .name = "a write without a lease", .bad = true },
};

#define EACH_WORKER .spawn = BP_ON(EV_WANT)

static const struct bp_thread threads[] = {
    { BP_TABLE("fence", fence), .kind = BP_GUARD, EACH_WORKER },
    { BP_TABLE("one_holder", one_holder), .kind = BP_GUARD, EACH_WORKER },
    { BP_TABLE("worker", worker), EACH_WORKER },
    { BP_TABLE("store", store) },

    { BP_TABLE("only_a_lease_expires", only_a_lease_expires), .kind = BP_ENVIRONMENT, EACH_WORKER },

    { BP_TABLE("no_stale_write", no_stale_write), .kind = BP_PROPERTY, EACH_WORKER },
    { BP_TABLE("no_second_grant", no_second_grant), .kind = BP_PROPERTY, EACH_WORKER },
    { BP_TABLE("no_write_without_lease", no_write_without_lease), .kind = BP_PROPERTY,
      EACH_WORKER },
};

const struct bp_program bp_program_lease = {
    .name = "lease",
    .about = "one holder at a time, and no write by one whose lease ran out",
    .types = types,
    .threads = threads,
    .type_count = BP_COUNT(types),
    .thread_count = BP_COUNT(threads),
};
