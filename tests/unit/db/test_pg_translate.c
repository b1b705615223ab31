/* Placeholders.
 *
 * SPDX-License-Identifier: MIT
 */
#include "db/pg_translate.h"
#include "harness/test.h"

static const struct {
    const char *in, *out;
    int params;
} good[] = {
    { "", "", 0 },
    { "SELECT 1", "SELECT 1", 0 },
    { "SELECT ?", "SELECT $1", 1 },
    { "SELECT ?,?, ?", "SELECT $1,$2, $3", 3 },
    { "VALUES(?)", "VALUES($1)", 1 },
    { "SELECT '?', ?", "SELECT '?', $1", 1 },
    { "SELECT 'it''s ?', ?", "SELECT 'it''s ?', $1", 1 },
    { "SELECT '\\', ?", "SELECT '\\', $1", 1 },
    { "SELECT E'\\'?', ?", "SELECT E'\\'?', $1", 1 },
    { "SELECT e'a''b\\\\', ?", "SELECT e'a''b\\\\', $1", 1 },
    { "SELECT name'?', ?", "SELECT name'?', $1", 1 },
    { "SELECT \"a?\"\"b\", ?", "SELECT \"a?\"\"b\", $1", 1 },
    { "SELECT 1 -- ?\n, ?", "SELECT 1 -- ?\n, $1", 1 },
    { "SELECT 1 -- ?", "SELECT 1 -- ?", 0 },
    { "SELECT /* ? ' */ ?", "SELECT /* ? ' */ $1", 1 },
    { "SELECT /* /* ? */ ? */ ?", "SELECT /* /* ? */ ? */ $1", 1 },
    { "SELECT $$ ? ' $$, ?", "SELECT $$ ? ' $$, $1", 1 },
    { "SELECT $a$ ? $b$ ? $a$, ?", "SELECT $a$ ? $b$ ? $a$, $1", 1 },
    { "SELECT a$b$, ?", "SELECT a$b$, $1", 1 },
    { "SELECT $1, ?", "SELECT $1, $1", 1 },
    { "SELECT 1-?", "SELECT 1-$1", 1 },
    { "SELECT 1/?*2", "SELECT 1/$1*2", 1 },
    { "x=?AND y=?", "x=$1 AND y=$2", 2 },
    { "?::text", "$1::text", 1 },
    { "a?b", "a $1 b", 1 },
    { "$?$?", "$ $1 $ $2", 2 },
    { "?$a$?$a$", "$1 $a$?$a$", 1 },
    { "SELECT '\xc3\xbc?', ?", "SELECT '\xc3\xbc?', $1", 1 },
};

TEST(placeholders_become_numbers_outside_of_quotes_and_comments)
{
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        AUTO_BUF out = BUF_INIT(1000);
        int params = -1;

        ASSERT_OK(pg_translate(str_from(good[i].in), 10, &out, &params, &t->err));
        if (strcmp(buf_text(&out), good[i].out) != 0 || params != good[i].params)
            FAIL("%s became %s with %d", good[i].in, buf_text(&out), params);
    }
}

TEST(what_does_not_end_is_refused_with_its_place)
{
    static const struct {
        const char *in, *says;
    } bad[] = {
        { "SELECT '", "byte 7" },
        { "SELECT 'a'' ?", "quote" },
        { "SELECT \"x", "quote" },
        { "SELECT /* ", "comment" },
        { "SELECT /* /* */ ?", "comment" },
        { "SELECT $$ ?", "dollar quote" },
        { "SELECT $a$ ? $b$", "dollar quote" },
        { "SELECT E'\\'", "quote" },
        { "SELECT E'\\", "quote" },
        { "SELECT ?1", "only ?" },
        { "SELECT ?,?,?,?", "3 placeholders" },
    };

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        AUTO_BUF out = BUF_INIT(1000);
        int params = -1;

        if (pg_translate(str_from(bad[i].in), 3, &out, &params, &t->err) == 0)
            FAIL("%s was accepted as %s", bad[i].in, buf_text(&out));
        ASSERT_CONTAINS(test_err_text(t), bad[i].says);
        ASSERT_EQ(params, -1);
    }
}

TEST(a_statement_that_grows_too_long_is_refused)
{
    AUTO_BUF out = BUF_INIT(20);
    int params;

    ASSERT_FAILS(pg_translate(STR("SELECT ?,?,?,?,?,?,?"), 10, &out, &params, &t->err),
                 ERR_TOO_LARGE);
}
