/* The table of hands. */
#include <stdio.h>

#include "fake_hand.h"
#include "harness/test.h"
#include "tool/hands.h"

struct table {
    struct clock_fake clock;
    struct loop *loop;
    struct hands *hands;
    char saved[256], noticed[256];
    unsigned saves;
};

static void on_save(void *arg, struct str run_id, struct str state)
{
    struct table *table = arg;

    table->saves++;
    snprintf(table->saved, sizeof(table->saved), "%.*s %.*s", STR_ARG(run_id), STR_ARG(state));
}

static void on_notice(void *arg, struct str run_id, const struct hand_notice *notice)
{
    struct table *table = arg;

    snprintf(table->noticed, sizeof(table->noticed), "%.*s %s %.*s", STR_ARG(run_id), notice->kind,
             STR_ARG(notice->detail));
}

static void table_init(struct table *table, unsigned max)
{
    struct hands_config config = { .max = max, .save = on_save, .notice = on_notice, .arg = table };

    *table = (struct table){ .saves = 0 };
    clock_fake_init(&table->clock, 0);
    config.loop = table->loop = loop_new_fake(&table->clock);
    table->hands = hands_new(&config);
}

static void table_release(struct table *table)
{
    hands_free(table->hands);
    loop_free(table->loop);
}
#define AUTO_TABLE __attribute__((cleanup(table_release))) struct table

static struct hand *get(struct test *t, struct table *table, const char *run, const char *state)
{
    struct sandbox_spec spec = { .cwd = "/" };
    struct hand *hand = NULL;

    ASSERT_OK(hands_get(table->hands, str_from(run), &spec, str_from(state), &hand, &t->err));
    return hand;
}

TEST(a_run_keeps_its_hand)
{
    AUTO_TABLE table;
    struct hand *hand;

    table_init(&table, 0);
    hand = get(t, &table, "a", "");
    ASSERT(get(t, &table, "b", "") != hand);
    ASSERT(get(t, &table, "a", "{\"ignored\":1}") == hand);
    ASSERT(hands_find(table.hands, STR("a")) == hand);
    ASSERT_EQ(hands_count(table.hands), 2);
    hands_end(table.hands, STR("a"));
    hands_end(table.hands, STR("a"));
    ASSERT(!hands_find(table.hands, STR("a")));
    ASSERT_EQ(fake_hands_alive(), 1);
    hands_rest(table.hands, STR("a")); /* a completion that came with the end */
}

TEST(a_hand_ends_after_ten_minutes_of_rest_and_not_while_it_is_used)
{
    AUTO_TABLE table;

    table_init(&table, 0);
    get(t, &table, "a", "");
    get(t, &table, "a", "");
    hands_rest(table.hands, STR("a"));
    loop_fake_advance(table.loop, HOURS(5));
    ASSERT_EQ(fake_hands_alive(), 1);
    hands_rest(table.hands, STR("a"));
    loop_fake_advance(table.loop, MINUTES(10) - 1);
    ASSERT_EQ(fake_hands_alive(), 1);
    get(t, &table, "a", "");
    hands_rest(table.hands, STR("a"));
    loop_fake_advance(table.loop, MINUTES(10) - 1);
    ASSERT_EQ(fake_hands_alive(), 1);
    loop_fake_advance(table.loop, 1);
    ASSERT_EQ(fake_hands_alive(), 0);
    ASSERT_EQ(hands_count(table.hands), 0);
}

TEST(a_later_hand_of_a_run_goes_on_where_the_first_was)
{
    AUTO_TABLE table;
    struct hand *hand;

    table_init(&table, 0);
    hand = get(t, &table, "a", "");
    fake_hand_set_state(hand, "{\"cwd\":\"/srv\"}");
    hands_rest(table.hands, STR("a"));
    ASSERT_TEXT(table.saved, "a {\"cwd\":\"/srv\"}");
    get(t, &table, "a", "");
    hands_rest(table.hands, STR("a"));
    ASSERT_EQ(table.saves, 1); /* nothing new */
    loop_fake_advance(table.loop, MINUTES(11));
    hand = get(t, &table, "a", "{\"cwd\":\"/srv\"}");
    ASSERT_STR(hand_state(hand), "{\"cwd\":\"/srv\"}");
    hands_rest(table.hands, STR("a"));
    ASSERT_EQ(table.saves, 1); /* what it was given is no news */
}

TEST(the_hand_that_rested_longest_makes_room)
{
    AUTO_TABLE table;
    struct sandbox_spec spec = { .cwd = "/" };
    struct hand *hand;

    table_init(&table, 3);
    get(t, &table, "a", "");
    get(t, &table, "b", "");
    get(t, &table, "c", "");
    ASSERT_FAILS(hands_get(table.hands, STR("d"), &spec, STR(""), &hand, &t->err),
                 ERR_RATE_LIMITED);
    ASSERT_CONTAINS(test_err_text(t), "3 runs");
    hands_rest(table.hands, STR("b"));
    hands_rest(table.hands, STR("a"));
    get(t, &table, "b", "");
    hands_rest(table.hands, STR("b"));
    get(t, &table, "d", "");
    ASSERT(!hands_find(table.hands, STR("a")));
    ASSERT(hands_find(table.hands, STR("b")));
    ASSERT(hands_find(table.hands, STR("c")));
    ASSERT_EQ(fake_hands_alive(), 3);
}

TEST(what_the_walls_saw_is_told_with_its_run)
{
    AUTO_TABLE table;

    table_init(&table, 0);
    get(t, &table, "a", "");
    fake_hand_notice(get(t, &table, "b", ""), "network", "evil.example:443");
    ASSERT_TEXT(table.noticed, "b network evil.example:443");
}

static void count(void *arg, const struct hand_reply *reply)
{
    *(unsigned *)arg += reply->err.code == ERR_CANCELLED;
}

TEST(ending_a_hand_completes_its_jobs)
{
    AUTO_TABLE table;
    struct hand_job *job;
    struct hand *hand;
    unsigned told = 0;

    table_init(&table, 0);
    hand = get(t, &table, "a", "");
    ASSERT_OK(hand_call(hand, "bash", STR("{}"), count, &told, &job, &t->err));
    hands_end(table.hands, STR("a"));
    ASSERT_EQ(told, 1);
}
