/* Vector clocks: their text, and the lattice that they are.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/alloc.h"
#include "base/buf.h"
#include "base/rand.h"
#include "change/vclock.h"
#include "harness/test.h"

static struct vclock clock_of(struct test *t, const char *text)
{
    struct vclock clock;

    ASSERT_OK(vclock_parse(str_from(text), &t->arena, &clock, &t->err));
    return clock;
}

static const char *text_of(struct test *t, const struct vclock *clock)
{
    return vclock_text(clock, &t->arena).p;
}

TEST(a_clock_is_read_and_written_in_canonical_form)
{
    static const struct {
        const char *in, *out;
    } cases[] = {
        { "{}", "{}" },
        { "{\"b\":2,\"a\":1}", "{\"a\":1,\"b\":2}" },
        { " { \"Z\" : 9007199254740991 , \"a-b\" : 1 } ", "{\"Z\":9007199254740991,\"a-b\":1}" },
        { "{\"\\u0061\":3}", "{\"a\":3}" },
        { "{\"01890a5d-ac96-774b-bcce-b302099a8057\":7}",
          "{\"01890a5d-ac96-774b-bcce-b302099a8057\":7}" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct vclock clock = clock_of(t, cases[i].in);

        ASSERT_TEXT(text_of(t, &clock), cases[i].out);
    }
}

TEST(what_is_no_clock_is_refused)
{
    static const char *const bad[] = {
        "",
        "null",
        "[]",
        "7",
        "{\"a\":0}",
        "{\"a\":-1}",
        "{\"a\":1.5}",
        "{\"a\":1.0}",
        "{\"a\":\"1\"}",
        "{\"a\":null}",
        "{\"a\":1e3}",
        "{\"a\":9007199254740992}",
        "{\"\":1}",
        "{\"a b\":1}",
        "{\"a|b\":1}",
        "{\"\\u00e4\":1}",
        "{\"a\\\"\":1}",
        "{\"a\":1,\"a\":2}",
        "{\"a\":1}x",
        "{\"a\":18446744073709551615}",
    };
    struct vclock clock = { .n = 77 };

    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        ASSERT_FAILS(vclock_parse(str_from(bad[i]), &t->arena, &clock, &t->err), ERR_BAD_REQUEST);
    ASSERT_EQ(clock.n, 77);
}

TEST(a_refusal_names_the_host_and_what_is_allowed)
{
    struct vclock clock;

    ASSERT_FAILS(vclock_parse(STR("{\"laptop\":0}"), &t->arena, &clock, &t->err), ERR_BAD_REQUEST);
    ASSERT_CONTAINS(test_err_text(t), "laptop");
    ASSERT_CONTAINS(test_err_text(t), "from 1 to");
}

static void many_hosts(struct buf *out, int n)
{
    buf_add_char(out, '{');
    for (int i = 0; i < n; i++)
        buf_printf(out, "%s\"host-%d\":%d", i ? "," : "", i, i + 1);
    buf_add_char(out, '}');
}

TEST(a_clock_has_at_most_a_thousand_hosts)
{
    AUTO_BUF full = BUF_INIT(1 << 20);
    AUTO_BUF over = BUF_INIT(1 << 20);
    struct vclock clock;

    many_hosts(&full, VCLOCK_HOSTS_MAX);
    many_hosts(&over, VCLOCK_HOSTS_MAX + 1);
    ASSERT_OK(vclock_parse(buf_str(&full), &t->arena, &clock, &t->err));
    ASSERT_EQ(clock.n, VCLOCK_HOSTS_MAX);
    ASSERT_EQ(vclock_of(&clock, STR("host-0")), 1);
    ASSERT_EQ(vclock_of(&clock, STR("host-999")), 1000);
    ASSERT_FAILS(vclock_parse(buf_str(&over), &t->arena, &clock, &t->err), ERR_BAD_REQUEST);
    ASSERT_CONTAINS(test_err_text(t), "1001 hosts");
}

TEST(a_host_that_was_not_seen_counts_zero)
{
    struct vclock clock = clock_of(t, "{\"b\":5,\"d\":6}");

    ASSERT_EQ(vclock_of(&clock, STR("a")), 0);
    ASSERT_EQ(vclock_of(&clock, STR("b")), 5);
    ASSERT_EQ(vclock_of(&clock, STR("c")), 0);
    ASSERT_EQ(vclock_of(&clock, STR("d")), 6);
    ASSERT_EQ(vclock_of(&clock, STR("dd")), 0);
    ASSERT_EQ(vclock_of(&(struct vclock){ 0 }, STR("a")), 0);
}

TEST(a_counter_with_a_clock_never_falls)
{
    struct vclock clock = clock_of(t, "{\"b\":5}"), more, same, first;

    more = vclock_with(&clock, STR("b"), 9, &t->arena);
    same = vclock_with(&more, STR("b"), 2, &t->arena);
    first = vclock_with(&same, STR("a"), 1, &t->arena);
    ASSERT_TEXT(text_of(t, &more), "{\"b\":9}");
    ASSERT_TEXT(text_of(t, &same), "{\"b\":9}");
    ASSERT_TEXT(text_of(t, &first), "{\"a\":1,\"b\":9}");
    ASSERT_TEXT(text_of(t, &clock), "{\"b\":5}");
    more = vclock_with(&clock, STR("c"), 0, &t->arena);
    ASSERT_TEXT(text_of(t, &more), "{\"b\":5}");
}

TEST(clocks_are_before_after_equal_or_concurrent)
{
    static const struct {
        const char *a, *b;
        enum vclock_order order;
    } cases[] = {
        { "{}", "{}", VCLOCK_EQUAL },
        { "{\"a\":1}", "{\"a\":1}", VCLOCK_EQUAL },
        { "{}", "{\"a\":1}", VCLOCK_BEFORE },
        { "{\"a\":2}", "{\"a\":1}", VCLOCK_AFTER },
        { "{\"a\":1,\"b\":1}", "{\"b\":1}", VCLOCK_AFTER },
        { "{\"a\":1}", "{\"b\":1}", VCLOCK_CONCURRENT },
        { "{\"a\":2,\"b\":1}", "{\"a\":1,\"b\":2}", VCLOCK_CONCURRENT },
        { "{\"a\":1,\"b\":2}", "{\"a\":1,\"b\":3,\"c\":1}", VCLOCK_BEFORE },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct vclock a = clock_of(t, cases[i].a), b = clock_of(t, cases[i].b);
        enum vclock_order back = cases[i].order == VCLOCK_BEFORE  ? VCLOCK_AFTER
                                 : cases[i].order == VCLOCK_AFTER ? VCLOCK_BEFORE
                                                                  : cases[i].order;

        ASSERT_EQ(vclock_compare(&a, &b), cases[i].order);
        ASSERT_EQ(vclock_compare(&b, &a), back);
    }
}

static struct vclock random_clock(struct test *t, struct rand *rand)
{
    static const char *const hosts[] = { "a", "ab", "b", "c", "ca" };
    struct vclock clock = { 0 };

    for (size_t i = 0; i < ARRAY_LEN(hosts); i++)
        if (rand_below(rand, 2))
            clock = vclock_with(&clock, str_from(hosts[i]), 1 + (int64_t)rand_below(rand, 3),
                                &t->arena);
    return clock;
}

static bool same(const struct vclock *a, const struct vclock *b)
{
    return vclock_compare(a, b) == VCLOCK_EQUAL;
}

TEST(merging_is_the_least_upper_bound)
{
    for (uint64_t seed = 0; seed < 5000; seed++) {
        struct rand_fake rand;
        struct vclock a, b, c, ab, ba, bc, left, right;

        rand_fake_init(&rand, seed);
        a = random_clock(t, &rand.rand);
        b = random_clock(t, &rand.rand);
        c = random_clock(t, &rand.rand);
        ab = vclock_merge(&a, &b, &t->arena);
        ba = vclock_merge(&b, &a, &t->arena);
        bc = vclock_merge(&b, &c, &t->arena);
        left = vclock_merge(&ab, &c, &t->arena);
        right = vclock_merge(&a, &bc, &t->arena);
        ASSERT(same(&ab, &ba));
        ASSERT(same(&left, &right));
        right = vclock_merge(&a, &a, &t->arena);
        ASSERT(same(&right, &a));
        ASSERT(vclock_compare(&a, &ab) == VCLOCK_EQUAL || vclock_compare(&a, &ab) == VCLOCK_BEFORE);
        /* Whatever has seen both has seen the merge. */
        if (vclock_compare(&a, &c) == VCLOCK_BEFORE && vclock_compare(&b, &c) == VCLOCK_BEFORE)
            ASSERT(vclock_compare(&ab, &c) == VCLOCK_BEFORE || same(&ab, &c));
        right = clock_of(t, text_of(t, &ab));
        ASSERT(same(&right, &ab));
        arena_reset(&t->arena);
    }
}
