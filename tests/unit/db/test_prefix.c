/* Records by the beginning of their id, on both engines.
 *
 * SPDX-License-Identifier: MIT
 */
#include "db/prefix.h"
#include "things.h"

static const struct prefix_words words = { "thing", "things", "ls", "them" };

static int find(struct test *t, struct domain *domain, const char *prefix, struct str *ret_id)
{
    err_reset(&t->err);
    return prefix_find(domain_db(domain),
                       SQL("SELECT name AS id FROM things WHERE name >= ? AND name < ? || '~'"
                           " ORDER BY name LIMIT 5"),
                       str_from(prefix), &words, &t->arena, ret_id, &t->err);
}

static struct domain *with(struct test *t, const char *const *names, size_t n)
{
    struct domain *domain = open_things(t);

    for (size_t i = 0; i < n; i++)
        ASSERT_OK(add_thing(domain, (int64_t)i + 1, names[i], &t->err));
    return domain;
}

DB_TEST(what_begins_one_id_finds_it)
{
    static const char *const names[] = { "abcd1111", "abcd2222", "abcd", "wxyz" };
    static const struct {
        const char *typed, *found;
    } cases[] = {
        { "abcd1", "abcd1111" },
        { "abcd2222", "abcd2222" },
        { "abcd", "abcd" },
        { "wxyz", "wxyz" },
    };
    AUTO(domain) domain = with(t, names, ARRAY_LEN(names));
    struct str id;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        ASSERT_OK(find(t, domain, cases[i].typed, &id));
        ASSERT_STR(id, cases[i].found);
    }
}

DB_TEST(what_finds_none_or_several_is_refused_with_what_there_is)
{
    static const char *const names[] = { "abcd1",
                                         "abcd2",
                                         "many1",
                                         "many2",
                                         "many3",
                                         "many4",
                                         "many5",
                                         "many6",
                                         "a-very-long-name-of-a-thing-1",
                                         "a-very-long-name-of-a-thing-2" };
    static const struct {
        const char *typed, *message;
        enum err_code code;
    } cases[] = {
        { "", "thing \"\": give at least the first 4 characters of its id", ERR_BAD_REQUEST },
        { "abc", "thing \"abc\": give at least the first 4 characters of its id", ERR_BAD_REQUEST },
        { "abcd", "\"abcd\" begins several things: abcd1, abcd2", ERR_BAD_REQUEST },
        { "many", "\"many\" begins several things: many1, many2, many3, many4 and more",
          ERR_BAD_REQUEST },
        { "a-very",
          "\"a-very\" begins several things: a-very-long-name-of-a-thing-1, "
          "a-very-long-name-of-a-thing-2",
          ERR_BAD_REQUEST },
        { "abcd3", "there is no thing \"abcd3\"; `ls` shows them", ERR_NOT_FOUND },
        { "%%%%", "there is no thing \"%%%%\"; `ls` shows them", ERR_NOT_FOUND },
        { "ABCD1", "there is no thing \"ABCD1\"; `ls` shows them", ERR_NOT_FOUND },
        { "' OR 1=1", "there is no thing \"' OR 1=1\"; `ls` shows them", ERR_NOT_FOUND },
    };
    AUTO(domain) domain = with(t, names, ARRAY_LEN(names));
    struct str id = STR("untouched");

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        ASSERT_EQ(find(t, domain, cases[i].typed, &id), -1);
        ASSERT_EQ(t->err.code, cases[i].code);
        ASSERT_TEXT(err_message(&t->err, 0), cases[i].message);
    }
    ASSERT_STR(id, "untouched");
}

DB_TEST(a_long_prefix_is_shown_in_part)
{
    char typed[200] = { 0 };
    AUTO(domain) domain = open_things(t);
    struct str id;

    memset(typed, 'x', sizeof(typed) - 1);
    ASSERT_EQ(find(t, domain, typed, &id), -1);
    ASSERT_EQ(strspn(err_message(&t->err, 0) + strlen("there is no thing \""), "x"), 80);
}
