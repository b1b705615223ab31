/* The kernel's randomness, and a seeded generator for tests (xoshiro256** by Blackman and Vigna,
 * its state filled by splitmix64 as they advise).
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/rand.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>

#include "base/alloc.h"

uint64_t rand_u64(struct rand *rand)
{
    uint8_t bytes[8];
    uint64_t value = 0;

    rand_fill(rand, bytes, sizeof(bytes));
    for (size_t i = 0; i < sizeof(bytes); i++)
        value |= (uint64_t)bytes[i] << (8 * i);
    return value;
}

uint64_t rand_below(struct rand *rand, uint64_t limit)
{
    /* The first 2^64 mod limit values would make some results likelier: draw again. */
    uint64_t uneven, value;

    BUG_IF(limit == 0);
    uneven = (0 - limit) % limit;
    do
        value = rand_u64(rand);
    while (value < uneven);
    return value % limit;
}

static void system_fill(struct rand *rand, void *ret_bytes, size_t n)
{
    char *p = ret_bytes;

    (void)rand;
    while (n > 0) {
        ssize_t got = getrandom(p, n, 0);

        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            BUG("getrandom: %s", strerror(errno));
        p += got;
        n -= (size_t)got;
    }
}

struct rand *rand_system(void)
{
    static struct rand system = { system_fill };

    return &system;
}

static uint64_t rotate_left(uint64_t x, int k)
{
    return (x << k) | (x >> (64 - k));
}

static uint64_t xoshiro_next(uint64_t s[4])
{
    uint64_t result = rotate_left(s[1] * 5, 7) * 9;
    uint64_t t = s[1] << 17;

    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotate_left(s[3], 45);
    return result;
}

static uint64_t splitmix_next(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static void fake_fill(struct rand *rand, void *ret_bytes, size_t n)
{
    struct rand_fake *fake = (struct rand_fake *)rand;
    uint8_t *p = ret_bytes;

    for (size_t i = 0; i < n; i++) {
        if (fake->left == 0) {
            fake->word = xoshiro_next(fake->state);
            fake->left = 8;
        }
        p[i] = (uint8_t)fake->word;
        fake->word >>= 8;
        fake->left--;
    }
}

void rand_fake_init(struct rand_fake *fake, uint64_t seed)
{
    *fake = (struct rand_fake){ .rand = { fake_fill } };
    for (int i = 0; i < 4; i++)
        fake->state[i] = splitmix_next(&seed);
}
