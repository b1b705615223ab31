/* Placeholders.
 *
 * SPDX-License-Identifier: MIT
 */
#include "db/pg_translate.h"
#include "db/text_check.h"
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

/* Against a second, slower reading of the same table of the standard. */
static bool clean_slowly(const unsigned char *p, size_t n)
{
    for (size_t i = 0; i < n;) {
        uint32_t c = p[i];
        size_t more = c < 0x80 ? 0 : c >> 5 == 6 ? 1 : c >> 4 == 14 ? 2 : c >> 3 == 30 ? 3 : 9;
        uint32_t smallest[] = { 1, 0x80, 0x800, 0x10000 };

        if (more == 9 || i + more >= n)
            return false;
        c = more == 0 ? c : c & (0x3fu >> more);
        for (size_t k = 1; k <= more; k++) {
            if (p[i + k] >> 6 != 2)
                return false;
            c = c << 6 | (p[i + k] & 0x3f);
        }
        if (c < smallest[more] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
            return false;
        i += more + 1;
    }
    return true;
}

TEST(text_is_checked_as_the_standard_says)
{
    static const unsigned char bytes[] = { 0x00, 0x01, 'a',  0x7f, 0x80, 0x8f, 0x90, 0x9f,
                                           0xa0, 0xbf, 0xc0, 0xc1, 0xc2, 0xdf, 0xe0, 0xe1,
                                           0xed, 0xef, 0xf0, 0xf1, 0xf4, 0xf5, 0xff };
    enum { KINDS = sizeof(bytes) };
    unsigned clean = 0;

    for (unsigned n = 0; n < KINDS * KINDS * KINDS * KINDS; n++) {
        unsigned char text[12] = "01234567";

        /* At the end of a word of eight, and alone. */
        for (unsigned i = 0, left = n; i < 4; i++, left /= KINDS)
            text[8 + i] = bytes[left % KINDS];
        ASSERT_EQ(text_is_clean(str_of((char *)text + 8, 4)), clean_slowly(text + 8, 4));
        ASSERT_EQ(text_is_clean(str_of((char *)text + 2, 10)), clean_slowly(text + 2, 10));
        clean += clean_slowly(text + 8, 4);
    }
    ASSERT(clean > 100);
    ASSERT(text_is_clean(STR("")));
}
