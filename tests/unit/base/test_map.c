/* SPDX-License-Identifier: MIT */
#include "base/map.h"

#include <stdio.h>

#include "base/alloc.h"
#include "base/rand.h"
#include "dies.h"

static struct str number_key(char *text, size_t size, int i)
{
    snprintf(text, size, "key-%d", i);
    return str_from(text);
}

TEST(map_finds_what_was_put_after_growing_and_removing)
{
    AUTO_MAP m = MAP_INIT;
    static int values[1000];
    char key[32];

    for (int i = 0; i < 1000; i++)
        ASSERT(map_put(&m, number_key(key, sizeof(key), i), &values[i]) == NULL);
    for (int i = 0; i < 1000; i += 2)
        ASSERT(map_remove(&m, number_key(key, sizeof(key), i)) == &values[i]);
    ASSERT_EQ(map_count(&m), 500);
    for (int i = 0; i < 1000; i++)
        ASSERT(map_find(&m, number_key(key, sizeof(key), i)) == (i % 2 ? &values[i] : NULL));
    ASSERT(map_remove(&m, STR("absent")) == NULL);
}

TEST(map_put_returns_the_value_that_it_replaced)
{
    AUTO_MAP m = MAP_INIT;
    int a, b;

    ASSERT(map_put(&m, STR("k"), &a) == NULL);
    ASSERT(map_put(&m, STR("k"), &b) == &a);
    ASSERT_EQ(map_count(&m), 1);
    ASSERT(map_find(&m, STR("k")) == &b);
}

TEST(map_iterates_in_insertion_order)
{
    AUTO_MAP m = MAP_INIT;
    char key[32], seen[256] = "";
    int value;

    for (int i = 0; i < 20; i++)
        map_put(&m, number_key(key, sizeof(key), i), &value);
    for (int i = 0; i < 20; i += 3)
        map_remove(&m, number_key(key, sizeof(key), i));
    for (int i = 20; i < 25; i++)
        map_put(&m, number_key(key, sizeof(key), i), &value);
    map_each (&m, entry) {
        strcat(seen, entry->key.p + 4);
        strcat(seen, " ");
    }
    ASSERT_TEXT(seen, "1 2 4 5 7 8 10 11 13 14 16 17 19 20 21 22 23 24 ");
}

TEST(map_survives_many_rounds_of_put_and_remove)
{
    AUTO_MAP m = MAP_INIT;
    char key[32];
    int value;

    for (int i = 0; i < 10000; i++) {
        map_put(&m, number_key(key, sizeof(key), i), &value);
        map_remove(&m, number_key(key, sizeof(key), i));
    }
    ASSERT_EQ(map_count(&m), 0);
    ASSERT(m.slot_count <= 16);
}

TEST(map_distinguishes_keys_with_nul_bytes)
{
    AUTO_MAP m = MAP_INIT;
    int a, b;

    map_put(&m, STR("a\0b"), &a);
    map_put(&m, STR("a\0c"), &b);
    ASSERT(map_find(&m, STR("a\0b")) == &a);
    ASSERT(map_find(&m, STR("a\0c")) == &b);
    ASSERT(map_find(&m, STR("a")) == NULL);
}

/* Against an array that is searched from end to end. */
TEST(map_behaves_as_a_plain_list_does)
{
    enum { KEYS = 200 };
    AUTO_MAP m = MAP_INIT;
    static int values[KEYS * 2];
    int *model[KEYS] = { NULL };
    struct rand_fake rand;
    size_t live = 0;

    rand_fake_init(&rand, 7);
    for (int round = 0; round < 20000; round++) {
        int k = (int)rand_below(&rand.rand, KEYS);
        int *value = &values[rand_below(&rand.rand, ARRAY_LEN(values))];
        char text[32];
        struct str key = number_key(text, sizeof(text), k);

        switch (rand_below(&rand.rand, 3)) {
        case 0:
            live += !model[k];
            ASSERT(map_put(&m, key, value) == model[k]);
            model[k] = value;
            break;
        case 1:
            live -= model[k] != NULL;
            ASSERT(map_remove(&m, key) == model[k]);
            model[k] = NULL;
            break;
        default:
            ASSERT(map_find(&m, key) == model[k]);
        }
        ASSERT_EQ(map_count(&m), live);
    }
    map_each (&m, entry) {
        ASSERT(model[atoi(entry->key.p + 4)] == entry->value);
        live--;
    }
    ASSERT_EQ(live, 0);
}

TEST(map_takes_the_empty_key_and_keys_of_every_length)
{
    AUTO_MAP m = MAP_INIT;
    char text[70];
    int values[70];

    memset(text, 'x', sizeof(text));
    for (size_t n = 0; n < sizeof(text); n++)
        ASSERT(map_put(&m, str_of(text, n), &values[n]) == NULL);
    for (size_t n = 0; n < sizeof(text); n++)
        ASSERT(map_find(&m, str_of(text, n)) == &values[n]);
    ASSERT(map_find(&m, STR_NONE) == &values[0]);
    ASSERT(map_remove(&m, STR("")) == &values[0]);
    ASSERT(map_find(&m, STR("")) == NULL);
    ASSERT_EQ(map_count(&m), sizeof(text) - 1);
}

TEST(map_that_is_empty_has_nothing_to_find_or_remove)
{
    AUTO_MAP m = MAP_INIT;
    size_t at = 0;

    ASSERT(map_find(&m, STR("a")) == NULL);
    ASSERT(map_remove(&m, STR("a")) == NULL);
    ASSERT(map_next(&m, &at) == NULL);
    map_release(&m);
    map_put(&m, STR("a"), &at);
    map_release(&m);
    ASSERT_EQ(map_count(&m), 0);
    ASSERT(map_put(&m, STR("a"), &at) == NULL);
}

/* One bit of the key changes about half of the hash, in every word of it. */
TEST(map_hash_depends_on_every_byte)
{
    for (size_t n = 1; n <= 40; n++) {
        char key[40] = { 0 };
        uint64_t zero = map_hash(str_of(key, n));

        for (size_t i = 0; i < n; i++) {
            int bits;

            key[i] ^= 1;
            bits = __builtin_popcountll(zero ^ map_hash(str_of(key, n)));
            ASSERT(bits > 6 && bits < 58);
            key[i] ^= 1;
        }
        ASSERT(map_hash(str_of(key, n - 1)) != zero);
    }
}

static void put_nothing(void)
{
    AUTO_MAP m = MAP_INIT;

    map_put(&m, STR("a"), NULL);
}

TEST(map_holds_no_null)
{
    assert_dies(t, put_nothing, "!value");
}

/* Against a list that is kept in order of insertion: a value that is replaced keeps its place, one
 * that was removed and put again goes to the end. */
TEST(map_iterates_as_a_list_in_order_of_insertion)
{
    enum { KEYS = 40 };
    AUTO_MAP m = MAP_INIT;
    static int values[KEYS];
    int order[KEYS];
    size_t n = 0;
    struct rand_fake rand;

    rand_fake_init(&rand, 9);
    for (int round = 0; round < 5000; round++) {
        int k = (int)rand_below(&rand.rand, KEYS);
        size_t at = 0, i = 0;
        char text[32];
        struct str key = number_key(text, sizeof(text), k);

        while (at < n && order[at] != k)
            at++;
        if (rand_below(&rand.rand, 2) == 0) {
            ASSERT(map_put(&m, key, &values[k]) == (at < n ? &values[k] : NULL));
            if (at == n)
                order[n++] = k;
        } else {
            ASSERT(map_remove(&m, key) == (at < n ? &values[k] : NULL));
            if (at < n)
                memmove(&order[at], &order[at + 1], (--n - at) * sizeof(order[0]));
        }
        map_each (&m, entry) {
            ASSERT(i < n);
            ASSERT(entry->value == &values[order[i]]);
            i++;
        }
        ASSERT_EQ(i, n);
    }
}
