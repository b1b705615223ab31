/* SPDX-License-Identifier: MIT */
#include "base/buf.h"

#include "base/alloc.h"
#include "base/rand.h"
#include "dies.h"

TEST(buf_grows_and_stays_terminated)
{
    AUTO_BUF b = BUF_INIT(1000);

    ASSERT_TEXT(buf_text(&b), "");
    for (int i = 0; i < 100; i++)
        ASSERT_EQ(buf_printf(&b, "%d,", i % 10), 0);
    ASSERT_EQ(b.n, 200);
    ASSERT_EQ(strlen(buf_text(&b)), 200);
}

TEST(buf_refuses_what_passes_its_cap_and_keeps_the_rest)
{
    AUTO_BUF b = BUF_INIT(5);

    ASSERT_EQ(buf_add_text(&b, "12345"), 0);
    ASSERT_EQ(buf_add_char(&b, '6'), -1);
    ASSERT(b.full);
    ASSERT_TEXT(buf_text(&b), "12345");
    buf_clear(&b);
    ASSERT_EQ(buf_add_text(&b, "1"), 0);
    ASSERT_EQ(buf_add_text(&b, "23456"), -1);
    ASSERT_EQ(buf_add_text(&b, "2"), -1);
    ASSERT(buf_reserve(&b, SIZE_MAX) == NULL);
}

TEST(buf_consume_removes_the_front)
{
    AUTO_BUF b = BUF_INIT(100);

    buf_add_text(&b, "hello world");
    buf_consume(&b, 6);
    ASSERT_TEXT(buf_text(&b), "world");
    buf_consume(&b, 5);
    ASSERT_TEXT(buf_text(&b), "");
}

TEST(buf_take_hands_over_even_when_empty)
{
    AUTO_BUF b = BUF_INIT(100);
    AUTO_TEXT first = NULL;
    AUTO_TEXT second = NULL;

    buf_add_text(&b, "text");
    first = buf_take(&b);
    second = buf_take(&b);
    ASSERT_TEXT(first, "text");
    ASSERT_TEXT(second, "");
}

TEST(buf_without_a_cap_grows)
{
    AUTO_BUF b = BUF_INIT(SIZE_MAX);

    for (int i = 0; i < 1000; i++)
        ASSERT_EQ(buf_add_text(&b, "0123456789"), 0);
    ASSERT_EQ(b.n, 10000);
    ASSERT(buf_reserve(&b, SIZE_MAX) == NULL);
}

/* The allocation never passes the cap and its NUL, whatever the steps. */
TEST(buf_fills_to_the_last_byte_of_its_cap)
{
    for (size_t cap = 0; cap < 300; cap++) {
        AUTO_BUF b = BUF_INIT(cap);

        for (size_t i = 0; i < cap; i++)
            ASSERT_EQ(buf_add_char(&b, (char)('a' + i % 26)), 0);
        ASSERT(!b.full && b.n == cap && b.cap <= cap + 1);
        ASSERT_EQ(buf_add(&b, "", 0), 0);
        ASSERT_EQ(strlen(buf_text(&b)), cap);
        ASSERT_EQ(buf_add_char(&b, 'x'), -1);
        ASSERT(b.full && b.n == cap);
    }
}

TEST(buf_full_is_for_good_until_cleared)
{
    AUTO_BUF b = BUF_INIT(4);

    ASSERT_EQ(buf_printf(&b, "%d", 12345), -1);
    ASSERT_EQ(b.n, 0);
    ASSERT_EQ(buf_add(&b, "", 0), -1);
    ASSERT_EQ(buf_add_str(&b, STR("a")), -1);
    ASSERT_TEXT(buf_text(&b), "");
    buf_clear(&b);
    ASSERT_EQ(buf_printf(&b, "%d", 1234), 0);
    ASSERT_STR(buf_str(&b), "1234");
    buf_release(&b);
    ASSERT(!b.full && b.n == 0);
    ASSERT_EQ(buf_add_text(&b, "again"), -1);
    buf_clear(&b);
    ASSERT_EQ(buf_add_text(&b, "more"), 0);
}

TEST(buf_reserve_lets_the_caller_write)
{
    AUTO_BUF b = BUF_INIT(64);
    char *end;

    buf_add_text(&b, "ab");
    end = buf_reserve(&b, 10);
    memcpy(end, "cdef", 4);
    buf_grown(&b, 3);
    ASSERT_TEXT(buf_text(&b), "abcde");
    buf_consume(&b, 0);
    ASSERT_TEXT(buf_text(&b), "abcde");
    buf_consume(&b, 2);
    ASSERT_STR(buf_str(&b), "cde");
    buf_add_text(&b, "!");
    ASSERT_TEXT(buf_text(&b), "cde!");
}

TEST(buf_take_leaves_the_cap)
{
    AUTO_BUF b = BUF_INIT(3);
    AUTO_TEXT taken = NULL;

    buf_add_text(&b, "abc");
    taken = buf_take(&b);
    ASSERT_EQ(buf_add_text(&b, "wxyz"), -1);
    ASSERT_EQ(b.max, 3);
}

static void grow_past_what_was_reserved(void)
{
    AUTO_BUF b = BUF_INIT(64);

    buf_reserve(&b, 4);
    buf_grown(&b, 65);
}

static void consume_more_than_there_is(void)
{
    AUTO_BUF b = BUF_INIT(64);

    buf_add_text(&b, "ab");
    buf_consume(&b, 3);
}

TEST(buf_mistakes_of_its_caller_are_bugs)
{
    assert_dies(t, grow_past_what_was_reserved, "buf.c");
    assert_dies(t, consume_more_than_there_is, "buf.c");
}

/* A buffer of fixed size that is moved by hand. */
struct buf_model {
    char text[512];
    size_t n;
    bool full;
};

static int model_add(struct buf_model *model, size_t max, const char *bytes, size_t n)
{
    if (model->full || n > max || model->n > max - n) {
        model->full = true;
        return -1;
    }
    memcpy(model->text + model->n, bytes, n);
    model->n += n;
    return 0;
}

static void step_both(struct rand *rand, struct buf *b, struct buf_model *model)
{
    static const char source[] = "the quick brown fox jumps over the lazy dog";
    size_t n = rand_below(rand, sizeof(source)), some;

    switch (rand_below(rand, 8)) {
    case 0:
        some = rand_below(rand, b->n + 1);
        buf_consume(b, some);
        memmove(model->text, model->text + some, model->n - some);
        model->n -= some;
        break;
    case 1:
        if (rand_below(rand, 4) == 0) {
            buf_clear(b);
            model->n = 0;
            model->full = false;
        }
        break;
    case 2:
        ASSERT_EQ(buf_printf(b, "%.*s", (int)n, source), model_add(model, b->max, source, n));
        break;
    case 3:
        ASSERT_EQ(buf_add_char(b, source[0]), model_add(model, b->max, source, 1));
        break;
    default:
        ASSERT_EQ(buf_add_str(b, str_of(source, n)), model_add(model, b->max, source, n));
    }
}

TEST(buf_behaves_as_an_array_of_its_cap)
{
    struct rand_fake rand;

    rand_fake_init(&rand, 3);
    for (size_t max = 0; max <= 500; max += 25) {
        AUTO_BUF b = BUF_INIT(max);
        struct buf_model model = { .n = 0 };

        for (int round = 0; round < 400; round++) {
            step_both(&rand.rand, &b, &model);
            ASSERT(str_eq(buf_str(&b), str_of(model.text, model.n)));
            ASSERT_EQ(b.full, model.full);
            ASSERT_EQ(buf_text(&b)[b.n], '\0');
            ASSERT(b.cap <= max + 1);
        }
    }
}
