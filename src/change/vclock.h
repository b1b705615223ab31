/* Vector clocks: for every host the counter of its newest write that a record has seen. As text a
 * JSON object in canonical form, {"HOST":7}.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_CHANGE_VCLOCK_H
#define DORMOUSE_CHANGE_VCLOCK_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

#define VCLOCK_HOSTS_MAX   1000
#define VCLOCK_HOST_MAX    100                       /* bytes of a host's id */
#define VCLOCK_COUNTER_MAX INT64_C(9007199254740991) /* what every JSON reader keeps exactly */

struct vclock_entry {
    struct str host;
    int64_t counter; /* 1 to VCLOCK_COUNTER_MAX */
};
/* In byte order of hosts, each once. */
struct vclock {
    struct vclock_entry *at;
    size_t n;
};

enum vclock_order { VCLOCK_EQUAL = 0, VCLOCK_BEFORE, VCLOCK_AFTER, VCLOCK_CONCURRENT };

/* bad_request: not an object, a counter that is none, a host that is no plain name, more than
 * VCLOCK_HOSTS_MAX hosts. Texts are copied. */
int vclock_parse(struct str text, struct arena *arena, struct vclock *ret_clock, struct err *err);
struct str vclock_text(const struct vclock *clock, struct arena *arena);
/* 0: it has seen nothing of this host. */
int64_t vclock_of(const struct vclock *clock, struct str host);
/* At least this counter of this host; a copy in arena. Hosts' texts are shared with clock, here
 * and in vclock_merge(). */
struct vclock vclock_with(const struct vclock *clock, struct str host, int64_t counter,
                          struct arena *arena);
/* The highest of both for every host. */
struct vclock vclock_merge(const struct vclock *a, const struct vclock *b, struct arena *arena);
/* How a stands to b: VCLOCK_BEFORE means that b has seen all of a. */
enum vclock_order vclock_compare(const struct vclock *a, const struct vclock *b);

#endif
