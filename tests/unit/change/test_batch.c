/* The keys of changes. The hashes were computed elsewhere:
 * printf 'v1|local|01890a5d-ac96-774b-bcce-b302099a8057|7|task|t-1' | sha256sum
 *
 * SPDX-License-Identifier: MIT
 */
#include "change/batch.h"
#include "harness/test.h"

#define HOST "01890a5d-ac96-774b-bcce-b302099a8057"
#define KEY1 "5e3427feb07eab934eaf860554a4e7ab4e5daff2fabbd0dbba85ef3b2b1425b4"
#define KEY2 "eec4d7c44b745a455e341cd9a5bbdb7a4ecee7279c3c59a91509eebfd059adf8"
#define KEY3 "e06a4a157d1b8f310f54aaeaa84841cac1c4a90180bd997d0c4a3d3d67589e4d"

TEST(a_unit_key_is_the_hash_that_the_contract_names)
{
    const struct {
        struct change_unit unit;
        const char *key;
    } cases[] = {
        { { STR(HOST), 7, STR("task"), STR("t-1") }, KEY1 },
        { { STR(HOST), 8, STR("taskLabel"), STR("t-1:l-1") }, KEY2 },
        { { STR(HOST), 9, STR("entry"), STR("Größe|mit Strich") }, KEY3 },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char key[SHA256_TEXT_SIZE];

        ASSERT_OK(change_unit_key(&cases[i].unit, key, &t->err));
        ASSERT_TEXT(key, cases[i].key);
    }
}

TEST(a_unit_without_provenance_has_no_key)
{
    const struct change_unit bad[] = {
        { STR_NONE, 7, STR("task"), STR("t") },   { STR(HOST), 0, STR("task"), STR("t") },
        { STR(HOST), -1, STR("task"), STR("t") }, { STR(HOST), 7, STR_NONE, STR("t") },
        { STR(HOST), 7, STR("task"), STR_NONE },  { STR("a|b"), 7, STR("task"), STR("t") },
        { STR(HOST), 7, STR("a|b"), STR("t") },
    };
    char key[SHA256_TEXT_SIZE] = "untouched";

    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        ASSERT_FAILS(change_unit_key(&bad[i], key, &t->err), ERR_MISSING_CHANGE_PROVENANCE);
    ASSERT_TEXT(key, "untouched");
}

TEST(an_id_that_would_be_cut_is_refused)
{
    char *id = ARENA_NEW_N(&t->arena, char, 100000);
    struct change_unit unit = { STR(HOST), 7, STR("task"), str_of(id, 100000) };
    char key[SHA256_TEXT_SIZE];

    memset(id, 'x', 100000);
    ASSERT_FAILS(change_unit_key(&unit, key, &t->err), ERR_TOO_LARGE);
}

TEST(a_logical_key_does_not_depend_on_order_or_repetition)
{
    const struct {
        struct str keys[5];
        size_t n;
        const char *key;
    } cases[] = {
        { { STR(KEY1), STR(KEY2), STR(KEY3) },
          3,
          "8ba4b87ca68e0a6c6f6690dd5857acc4c6f49242ae1e7b721fb817b0565d0623" },
        { { STR(KEY3), STR(KEY1), STR(KEY3), STR(KEY2), STR(KEY1) },
          5,
          "8ba4b87ca68e0a6c6f6690dd5857acc4c6f49242ae1e7b721fb817b0565d0623" },
        { { STR(KEY1) }, 1, "fdd08234e846e70e7173029ee5d5bedc63a06e8cc826d52e58062ede633e8b96" },
        { { STR("cc"), STR("aa"), STR("bb"), STR("aa") },
          4,
          "7e94df011a78d4a4a3bd8b7bb2700fd5f0bdccb82b5e5c9cc351eb85a347f1d8" },
        { { STR_NONE }, 0, "673fa0a2c12cd3958d14ffb4a99be05dcf359297905365174b86e0b81f26108e" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char key[SHA256_TEXT_SIZE];

        change_logical_key(cases[i].keys, cases[i].n, key);
        ASSERT_TEXT(key, cases[i].key);
    }
}

TEST(authors_have_names)
{
    ASSERT_TEXT(change_author_name(CHANGE_BY_HUMAN), "human");
    ASSERT_EQ(change_author_of(STR("agent")), CHANGE_BY_AGENT);
    ASSERT_EQ(change_author_of(STR("sync")), CHANGE_BY_SYNC);
    ASSERT_EQ(change_author_of(STR("none")), CHANGE_BY_NONE);
    ASSERT_EQ(change_author_of(STR("Human")), CHANGE_BY_NONE);
    ASSERT_EQ(change_author_of(STR_NONE), CHANGE_BY_NONE);
}
