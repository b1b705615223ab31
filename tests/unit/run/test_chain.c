/* Links.
 *
 * SPDX-License-Identifier: MIT
 */
#include "run/chain.h"

#include "base/hash.h"
#include "harness/test.h"

static const struct run_link sample = { .type = 5,
                                        .key = 0x0102,
                                        .bits = 0x03040506,
                                        .seq = 7,
                                        .content = { 1, 2, 3 },
                                        .data = { "{}", 2 },
                                        .at = 8 };

static bool same(const struct run_link *a, const struct run_link *b)
{
    static const uint8_t start[RUN_CHAIN_BYTES];
    uint8_t one[RUN_CHAIN_BYTES], other[RUN_CHAIN_BYTES];

    run_chain_next(start, a, one);
    run_chain_next(start, b, other);
    return memcmp(one, other, sizeof(one)) == 0;
}

/* Written out by hand: stored chains stay checkable by every later version. */
TEST(a_link_is_the_hash_of_these_bytes)
{
    uint8_t bytes[1 + 16 + 1 + 2 + 4 + 8 + 32 + 8 + 1 + 2] = { 1 }, digest[32], prev[16], next[16];

    for (int i = 0; i < 16; i++)
        prev[i] = bytes[1 + i] = (uint8_t)(100 + i);
    memcpy(bytes + 17, "\x05\x01\x02\x03\x04\x05\x06", 7);
    bytes[24 + 7] = 7;
    memcpy(bytes + 32, "\x01\x02\x03", 3);
    bytes[64 + 7] = 8;
    bytes[72] = 1;
    memcpy(bytes + 73, "{}", 2);
    sha256_of(str_of((const char *)bytes, sizeof(bytes)), digest);
    run_chain_next(prev, &sample, next);
    ASSERT(memcmp(next, digest, 16) == 0);
}

TEST(every_part_of_a_row_changes_its_link)
{
    struct run_link link = sample;

    ASSERT(same(&link, &sample));
    link.type ^= 1;
    ASSERT(!same(&link, &sample));
    link = sample;
    link.key ^= 0x8000;
    ASSERT(!same(&link, &sample));
    link = sample;
    link.bits ^= 0x80000000u;
    ASSERT(!same(&link, &sample));
    link = sample;
    link.seq = 0;
    ASSERT(!same(&link, &sample));
    link = sample;
    link.content[31] = 1;
    ASSERT(!same(&link, &sample));
    link = sample;
    link.at = -8;
    ASSERT(!same(&link, &sample));
    link = sample;
    link.data = STR("{ }");
    ASSERT(!same(&link, &sample));
    link.data = STR_NONE;
    ASSERT(!same(&link, &sample));
}

TEST(no_data_and_empty_data_are_the_same)
{
    struct run_link none = sample, empty = sample;

    none.data = STR_NONE;
    empty.data = STR("");
    ASSERT(same(&none, &empty));
}

TEST(long_data_is_hashed_to_its_end)
{
    struct run_link a = sample, b = sample;
    char *data = arena_alloc(&t->arena, 1, 70000), *other = arena_alloc(&t->arena, 1, 70000);

    memset(data, 'x', 70000);
    memset(other, 'x', 70000);
    for (size_t n = 500; n < 530; n++) { /* around the size that is copied */
        a.data = str_of(data, n);
        b.data = str_of(other, n);
        ASSERT(same(&a, &b));
        other[n - 1] = 'y';
        ASSERT(!same(&a, &b));
        other[n - 1] = 'x';
    }
    a.data = str_of(data, 70000);
    b.data = str_of(other, 69999);
    ASSERT(!same(&a, &b));
}

TEST(a_chain_depends_on_every_row_and_their_order)
{
    uint8_t forth[16] = { 0 }, back[16] = { 0 }, shorter[16] = { 0 };
    struct run_link links[5];

    for (int i = 0; i < 5; i++) {
        links[i] = sample;
        links[i].seq = i;
    }
    for (int i = 0; i < 5; i++)
        run_chain_next(forth, &links[i], forth);
    for (int i = 4; i >= 0; i--)
        run_chain_next(back, &links[i], back);
    for (int i = 0; i < 4; i++)
        run_chain_next(shorter, &links[i], shorter);
    ASSERT(memcmp(forth, back, 16) != 0);
    ASSERT(memcmp(forth, shorter, 16) != 0);
}
