/* SPDX-License-Identifier: MIT */
#include "base/json.h"
#include "base/rand.h"
#include "base/timefmt.h"
#include "base/zone.h"
#include "harness/test.h"
#include "wake/subscription.h"

static int parse(struct test *t, const char *json, struct active_hours *ret_hours)
{
    AUTO_JSON object = NULL;

    ASSERT_OK(json_parse(str_from(json), &object, &t->err));
    return active_hours_parse(object, ret_hours, &t->err);
}

static struct active_hours hours_of(struct test *t, const char *json)
{
    struct active_hours hours;

    ASSERT_OK(parse(t, json, &hours));
    return hours;
}

static int64_t at(struct test *t, const char *text)
{
    int64_t ms;

    ASSERT_OK(timefmt_parse(str_from(text), &ms, &t->err));
    return ms;
}

/* next NULL: it lies inside. */
static void expect(struct test *t, const struct active_hours *hours, const char *now,
                   const char *next)
{
    int64_t got = -1;
    bool inside = active_hours_hold(hours, at(t, now), &got);
    char text[TIMEFMT_SIZE];

    timefmt_rfc3339(got, text);
    if (inside != (next == NULL))
        FAIL("%s lies %s", now, inside ? "inside" : "outside");
    if (next && got != at(t, next))
        FAIL("after %s comes %s, not %s", now, next, text);
}

TEST(hours_are_those_of_the_zone)
{
    struct active_hours h = hours_of(t, "{\"days\":[\"mo\",\"fr\"],\"from\":\"07:00\",\"to\":\"22:"
                                        "00\",\"zone\":\"Europe/Berlin\"}");

    ASSERT_EQ(h.days, 1 | 16);
    expect(t, &h, "2026-02-16T06:00:00Z", NULL);                   /* Monday, seven */
    expect(t, &h, "2026-02-16T20:59:59.999Z", NULL);               /* before ten in the evening */
    expect(t, &h, "2026-02-16T21:00:00Z", "2026-02-20T06:00:00Z"); /* ten: Friday is next */
    expect(t, &h, "2026-02-16T05:59:59Z", "2026-02-16T06:00:00Z");
    expect(t, &h, "2026-02-21T12:00:00Z", "2026-02-23T06:00:00Z");
}

TEST(hours_over_midnight_belong_to_the_day_they_begin_on)
{
    struct active_hours h =
        hours_of(t, "{\"days\":[\"sa\"],\"from\":\"22:00\",\"to\":\"02:00\",\"zone\":\"UTC\"}");

    expect(t, &h, "2026-02-21T22:00:00Z", NULL); /* Saturday */
    expect(t, &h, "2026-02-22T01:59:00Z", NULL); /* still its night */
    expect(t, &h, "2026-02-22T02:00:00Z", "2026-02-28T22:00:00Z");
    expect(t, &h, "2026-02-21T01:00:00Z", "2026-02-21T22:00:00Z"); /* Friday's night is none */
}

TEST(a_whole_day_ends_at_24_00)
{
    struct active_hours h =
        hours_of(t, "{\"days\":[\"su\"],\"from\":\"00:00\",\"to\":\"24:00\",\"zone\":\"UTC\"}");

    expect(t, &h, "2026-02-22T23:59:59Z", NULL);
    expect(t, &h, "2026-02-23T00:00:00Z", "2026-03-01T00:00:00Z");
}

/* 2026-03-29, 02:00 to 03:00 does not exist in Berlin. */
TEST(hours_that_clocks_skip_begin_with_the_next_minute_or_not_at_all)
{
    struct active_hours late =
        hours_of(t, "{\"from\":\"02:30\",\"to\":\"04:00\",\"zone\":\"Europe/Berlin\"}");
    struct active_hours gone =
        hours_of(t, "{\"from\":\"02:15\",\"to\":\"02:45\",\"zone\":\"Europe/Berlin\"}");

    expect(t, &late, "2026-03-29T00:59:00Z", "2026-03-29T01:00:00Z"); /* 01:59, then 03:00 */
    expect(t, &gone, "2026-03-29T00:59:00Z", "2026-03-30T00:15:00Z"); /* only the day after */
}

/* 2026-10-25, 02:00 to 03:00 comes twice. */
TEST(hours_that_clocks_show_twice_hold_twice)
{
    struct active_hours h =
        hours_of(t, "{\"from\":\"02:00\",\"to\":\"02:30\",\"zone\":\"Europe/Berlin\"}");

    expect(t, &h, "2026-10-25T00:00:00Z", NULL);
    expect(t, &h, "2026-10-25T00:30:00Z", "2026-10-25T01:00:00Z");
    expect(t, &h, "2026-10-25T01:10:00Z", NULL);
    expect(t, &h, "2026-10-25T01:30:00Z", "2026-10-26T01:00:00Z");
}

TEST(no_hours_hold_always)
{
    struct active_hours none = { 0 };
    int64_t next;

    ASSERT(active_hours_hold(&none, 5, &next));
    ASSERT_EQ(next, 5);
}

/* The naive way: ask each minute. */
TEST(the_next_moment_is_the_first_minute_inside, .timeout_s = 120)
{
    static const char *const zones[] = { "Europe/Berlin",       "America/New_York",
                                         "Australia/Lord_Howe", "Asia/Kathmandu",
                                         "Africa/Casablanca",   "UTC" };
    struct rand_fake rand;

    rand_fake_init(&rand, 99);
    for (int i = 0; i < (test_long() ? 600 : 60); i++) {
        struct active_hours h = {
            .set = true,
            .days = (uint8_t)rand_below(&rand.rand, 128),
            .from_min = (int16_t)rand_below(&rand.rand, 1440),
        };
        /* some within the days of a jump */
        int64_t now = i % 2 ? at(t, "2026-10-24T00:00:00Z") : at(t, "2026-03-27T00:00:00Z");
        int64_t next, naive, ignored;

        h.to_min = (int16_t)((h.from_min + 1 + (int16_t)rand_below(&rand.rand, 1400)) % 1440);
        strcpy(h.zone, zones[i % (int)ARRAY_LEN(zones)]);
        now += (int64_t)rand_below(&rand.rand, 3 * 1440) * 60000;
        if (active_hours_hold(&h, now, &next))
            continue;
        for (naive = now / 60000 * 60000 + 60000; !active_hours_hold(&h, naive, &ignored);)
            naive += 60000;
        if (naive != next)
            FAIL("round %d: %s, days %x, %d to %d: %lld, not %lld", i, h.zone, h.days, h.from_min,
                 h.to_min, (long long)naive, (long long)next);
    }
}

TEST(hours_that_are_none_are_refused)
{
    static const struct {
        const char *json, *why;
    } bad[] = {
        { "[]", "an object with from and to" },
        { "{\"from\":\"07:00\"}", "to" },
        { "{\"from\":\"7:00\",\"to\":\"22:00\"}", "from \"7:00\" is no time of the day" },
        { "{\"from\":\"07:00\",\"to\":\"24:01\"}", "to \"24:01\"" },
        { "{\"from\":\"07:00\",\"to\":\"25:00\"}", "to \"25:00\"" },
        { "{\"from\":\"07:60\",\"to\":\"22:00\"}", "from \"07:60\"" },
        { "{\"from\":\"0x:00\",\"to\":\"22:00\"}", "from" },
        { "{\"from\":\"-1:00\",\"to\":\"22:00\"}", "from" },
        { "{\"from\":\"07:00\",\"to\":\"07:00\"}", "no time at all" },
        { "{\"from\":\"24:00\",\"to\":\"07:00\"}", "no time at all" },
        { "{\"from\":\"07:00\",\"to\":\"22:00\",\"days\":[\"monday\"]}", "a day \"monday\"" },
        { "{\"from\":\"07:00\",\"to\":\"22:00\",\"days\":[1]}", "a day" },
        { "{\"from\":\"07:00\",\"to\":\"22:00\",\"zone\":\"Mars/Base\"}", "Mars/Base" },
        { "{\"from\":\"07:00\",\"to\":\"22:00\",\"zone\":\"../../etc/passwd\"}", "zone" },
        { "{\"from\":\"07:00\",\"to\":\"22:00\",\"hour\":1}", "hour" },
    };

    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct active_hours hours;

        t->err = ERR_INIT;
        if (parse(t, bad[i].json, &hours) >= 0)
            FAIL("%s was taken", bad[i].json);
        ASSERT_CONTAINS(test_err_text(t), bad[i].why);
    }
}

TEST(hours_are_written_as_they_are_read)
{
    static const char json[] =
        "{\"days\":[\"mo\",\"su\"],\"from\":\"07:05\",\"to\":\"24:00\",\"zone\":\"Asia/Tokyo\"}";
    struct active_hours h = hours_of(t, json);
    AUTO_BUF text = BUF_INIT(500);
    struct json_writer w = JSON_WRITER(&text);

    active_hours_write(&w, &h);
    ASSERT_TEXT(buf_text(&text), json);
}
