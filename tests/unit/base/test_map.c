/* SPDX-License-Identifier: MIT */
#include "base/map.h"

#include <stdio.h>

#include "harness/test.h"

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
