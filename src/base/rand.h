/* Randomness, injectable. Nothing else in the house asks the system for random bytes.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_BASE_RAND_H
#define DORMOUSE_BASE_RAND_H

#include <stddef.h>
#include <stdint.h>

struct rand {
    void (*fill)(struct rand *rand, void *ret_bytes, size_t n);
};

static inline void rand_fill(struct rand *rand, void *ret_bytes, size_t n)
{
    rand->fill(rand, ret_bytes, n);
}

uint64_t rand_u64(struct rand *rand);
/* 0 .. limit - 1, each as likely as the others. limit is not 0. */
uint64_t rand_below(struct rand *rand, uint64_t limit);

/* The kernel's generator, fit for secrets. Never NULL, not to be freed. */
struct rand *rand_system(void);

/* The same bytes for the same seed, for tests and the simulator. The stream depends on the
 * bytes asked for in total, not on how they were cut into calls. Not for secrets. */
struct rand_fake {
    struct rand rand; /* first */
    uint64_t state[4];
    uint64_t word; /* bytes not handed out yet, lowest first */
    unsigned left;
};
void rand_fake_init(struct rand_fake *fake, uint64_t seed);

#endif
