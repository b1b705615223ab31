/* Numbers of JSON as decimals: comparing and dividing against integer arithmetic of 128 bits, and
 * the points where ECMAScript's notation changes.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>
#include <stdio.h>

#include "base/alloc.h"
#include "base/json.h"
#include "base/json_number.h"
#include "base/rand.h"
#include "harness/test.h"

__extension__ typedef __int128 wide;

/* coefficient * 10^exponent, written in one of several ways. */
struct decimal_case {
    int64_t coefficient;
    int exponent; /* -12 .. 6 */
};

#define LEAST 12

static wide scaled(const struct decimal_case *d)
{
    wide value = d->coefficient;

    for (int i = -LEAST; i < d->exponent; i++)
        value *= 10;
    return value;
}

static struct decimal_case random_decimal(struct rand *rand)
{
    static const uint64_t sizes[] = { 3, 100, 100000, 1u << 31, 1ull << 53, 1ull << 60 };
    uint64_t size = sizes[rand_below(rand, ARRAY_LEN(sizes))];
    int64_t coefficient = (int64_t)rand_below(rand, size);

    return (struct decimal_case){ rand_below(rand, 2) ? -coefficient : coefficient,
                                  (int)rand_below(rand, 19) - LEAST };
}

static struct json_object *value_of(struct test *t, const struct decimal_case *d)
{
    struct json_object *value = NULL;
    char text[64];

    snprintf(text, sizeof(text), "%llde%d", (long long)d->coefficient, d->exponent);
    ASSERT_OK(json_parse(str_from(text), &value, &t->err));
    return value;
}

TEST(json_number_compares_as_integers_of_128_bits_do)
{
    struct rand_fake rand;

    rand_fake_init(&rand, 10);
    for (int round = 0; round < 20000; round++) {
        struct decimal_case x = random_decimal(&rand.rand), y = random_decimal(&rand.rand);
        AUTO_JSON a = value_of(t, &x);
        AUTO_JSON b = NULL;
        int expected, got;

        /* Often neighbours: a difference in the last place only. */
        if (rand_below(&rand.rand, 2))
            y = (struct decimal_case){ x.coefficient + (int64_t)rand_below(&rand.rand, 3) - 1,
                                       x.exponent };
        b = value_of(t, &y);
        expected = (scaled(&x) > scaled(&y)) - (scaled(&x) < scaled(&y));
        got = json_number_cmp(a, b);
        if ((got > 0) - (got < 0) != expected)
            FAIL("%llde%d and %llde%d: %d", (long long)x.coefficient, x.exponent,
                 (long long)y.coefficient, y.exponent, got);
        got = json_number_cmp(b, a);
        ASSERT_EQ((got > 0) - (got < 0), -expected);
        ASSERT_EQ(json_equal(a, b), expected == 0);
        ASSERT(expected != 0 || json_hash(a) == json_hash(b));
    }
}

TEST(json_number_divides_as_integers_of_128_bits_do)
{
    struct rand_fake rand;

    rand_fake_init(&rand, 11);
    for (int round = 0; round < 20000; round++) {
        struct decimal_case x = random_decimal(&rand.rand);
        struct decimal_case y = { (int64_t)rand_below(&rand.rand, 50) + 1,
                                  (int)rand_below(&rand.rand, 19) - LEAST };
        AUTO_JSON a = value_of(t, &x);
        AUTO_JSON b = value_of(t, &y);

        if (json_number_is_multiple(a, b) != (scaled(&x) % scaled(&y) == 0))
            FAIL("%llde%d by %llde%d", (long long)x.coefficient, x.exponent,
                 (long long)y.coefficient, y.exponent);
    }
}

TEST(json_number_knows_integers_as_128_bits_do)
{
    wide one = scaled(&(struct decimal_case){ 1, 0 });
    struct rand_fake rand;

    rand_fake_init(&rand, 12);
    for (int round = 0; round < 20000; round++) {
        struct decimal_case x = random_decimal(&rand.rand);
        AUTO_JSON a = value_of(t, &x);
        wide whole = scaled(&x) / one;
        bool integer = scaled(&x) % one == 0;
        bool fits = integer && whole >= INT64_MIN && whole <= INT64_MAX;
        int64_t value = 0;

        ASSERT_EQ(json_number_is_integer(a), integer);
        ASSERT_EQ(json_number_i64(a, &value), fits);
        ASSERT(!fits || value == (int64_t)whole);
    }
}

TEST(json_number_changes_notation_where_ecmascript_does)
{
    static const struct {
        double value;
        const char *text;
    } cases[] = {
        { 0.0, "0" },
        { -0.0, "0" },
        { 1e-5, "0.00001" },
        { 1e-6, "0.000001" },
        { 9.99e-7, "9.99e-7" },
        { 1e-7, "1e-7" },
        { 1.5e-7, "1.5e-7" },
        { -1e-7, "-1e-7" },
        { 123e-8, "0.00000123" },
        { 123e-9, "1.23e-7" },
        { 1e20, "100000000000000000000" },
        { 1.5e20, "150000000000000000000" },
        { 1e21, "1e+21" },
        { 1.5e21, "1.5e+21" },
        { -1e21, "-1e+21" },
        { 1e100, "1e+100" },
        { 123456789012345680000.0, "123456789012345680000" },
        { 0.1 + 0.2, "0.30000000000000004" },
        { 1.0 / 3, "0.3333333333333333" },
        { 2.0 / 3, "0.6666666666666666" },
        { 100, "100" },
        { 1234.5, "1234.5" },
        { 0.5, "0.5" },
        { 5e-324, "5e-324" },
        { 2.2250738585072014e-308, "2.2250738585072014e-308" },
        { 1.7976931348623157e308, "1.7976931348623157e+308" },
        { 9007199254740992.0, "9007199254740992" },
        { 9007199254740994.0, "9007199254740994" },
        { 4.35, "4.35" },
        { 4.349999999999999, "4.349999999999999" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char out[JSON_NUMBER_MAX];
        size_t n = json_number_format(cases[i].value, out);

        ASSERT_TEXT(out, cases[i].text);
        ASSERT_EQ(n, strlen(cases[i].text));
        ASSERT(json_number_read(out) == cases[i].value);
    }
}

/* Powers of two and of ten and their neighbours, where the gap between doubles changes. */
TEST(json_number_reads_back_the_neighbours_of_every_power)
{
    for (int e = -1074; e < 1024; e++) {
        double p = ldexp(1, e);
        double around[] = { p, nextafter(p, 0), nextafter(p, INFINITY) };

        for (size_t i = 0; i < ARRAY_LEN(around); i++) {
            char out[JSON_NUMBER_MAX];

            if (!isfinite(around[i]))
                continue;
            ASSERT(json_number_format(around[i], out) < JSON_NUMBER_MAX);
            ASSERT(json_number_read(out) == around[i]);
        }
    }
    for (int e = -307; e <= 308; e++) {
        char text[16], out[JSON_NUMBER_MAX];
        double p;

        snprintf(text, sizeof(text), "1e%d", e);
        p = json_number_read(text);
        json_number_format(p, out);
        ASSERT(json_number_read(out) == p);
        if (e >= 21 || e <= -7) {
            snprintf(text, sizeof(text), "1e%+d", e);
            ASSERT_TEXT(out, text);
        }
    }
}
