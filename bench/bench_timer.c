/* Timers: when 100,000 recurrence rules fire next, firing many that are due, and what many that
 * sleep cost at a start.
 *
 * The yardstick of the first is libical, which iterates the same rules from the same starts in
 * floating time (it is not asked for the zone, which it gets wrong after a gap).
 *
 * SPDX-License-Identifier: MIT
 */
#include <libical/ical.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/dl.h"
#include "db/migrations.h"
#include "wake/clockwork.h"
#include "wake/queue.h"

#define RULES  100000
#define CHUNK  1000
#define DUE    10000
#define SLEEP  100000
#define NOW    INT64_C(1771405200000) /* 2026-02-18T09:00:00Z */
#define TARGET 13.0                   /* us: what libical took for this when it was looked at */

static int64_t mono_ns(void)
{
    return clock_mono_ns(clock_system());
}

static void die(const struct err *err)
{
    char text[ERR_TEXT_MAX];

    fprintf(stderr, "bench-timer: %s\n", err_format(err, text, sizeof(text)));
    exit(1);
}

/* ---- rules ---- */

static const char *const rules[] = {
    "FREQ=DAILY;BYHOUR=7;BYMINUTE=0",
    "FREQ=DAILY;INTERVAL=3;BYHOUR=2;BYMINUTE=30",
    "FREQ=WEEKLY;BYDAY=MO,WE,FR;BYHOUR=18;BYMINUTE=15",
    "FREQ=WEEKLY;INTERVAL=2;BYDAY=SU;BYHOUR=9;BYMINUTE=0",
    "FREQ=MONTHLY;BYMONTHDAY=1;BYHOUR=8;BYMINUTE=0",
    "FREQ=MONTHLY;BYDAY=-1FR;BYHOUR=16;BYMINUTE=45",
    "FREQ=YEARLY;BYMONTH=3;BYMONTHDAY=29;BYHOUR=2;BYMINUTE=30",
    "FREQ=HOURLY;BYMINUTE=5",
    "FREQ=MINUTELY;INTERVAL=15",
    "FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1;BYHOUR=17;BYMINUTE=0",
};
static const char *const zones[] = { "Europe/Berlin", "America/New_York", "Asia/Kolkata",
                                     "Australia/Lord_Howe", "America/Sao_Paulo" };

struct chime {
    struct zone *zones[ARRAY_LEN(zones)];
    int64_t sum; /* so that nothing is left out */
};

static void ours(struct chime *chime, int from)
{
    struct err err = ERR_INIT;
    char local[TIMER_LOCAL_SIZE];
    int64_t at;

    for (int i = from; i < from + CHUNK; i++) {
        AUTO(recurrence) rule = NULL;

        if (recurrence_parse(str_from(rules[i % (int)ARRAY_LEN(rules)]), STR("2025-11-20T00:00:00"),
                             &rule, &err) < 0 ||
            recurrence_next_moment(rule, chime->zones[i % (int)ARRAY_LEN(zones)], NOW + i * 60000L,
                                   local, &at) != 1)
            die(&err);
        chime->sum += at;
    }
}

static struct {
    __typeof__(icalrecurrencetype_from_string) *from_string;
    __typeof__(icaltime_from_string) *time_from_string;
    __typeof__(icalrecur_iterator_new) *iterator_new;
    __typeof__(icalrecur_iterator_next) *iterator_next;
    __typeof__(icalrecur_iterator_free) *iterator_free;
    __typeof__(icalrecur_iterator_set_start) *set_start;
    __typeof__(icaltime_compare) *compare;
    __typeof__(icaltime_is_null_time) *is_null;
} ical;

static int open_ical(void)
{
    static const struct dl_symbol symbols[] = {
        { "icalrecurrencetype_from_string", (void **)&ical.from_string },
        { "icaltime_from_string", (void **)&ical.time_from_string },
        { "icalrecur_iterator_new", (void **)&ical.iterator_new },
        { "icalrecur_iterator_next", (void **)&ical.iterator_next },
        { "icalrecur_iterator_free", (void **)&ical.iterator_free },
        { "icalrecur_iterator_set_start", (void **)&ical.set_start },
        { "icaltime_compare", (void **)&ical.compare },
        { "icaltime_is_null_time", (void **)&ical.is_null },
    };
    struct err err = ERR_INIT;

    return dl_load("libical.so.3", symbols, ARRAY_LEN(symbols), &err);
}

static void theirs(struct chime *chime, int from)
{
    for (int i = from; i < from + CHUNK; i++) {
        struct icalrecurrencetype rule = ical.from_string(rules[i % (int)ARRAY_LEN(rules)]);
        struct icaltimetype start = ical.time_from_string("20251120T000000");
        struct icaltimetype now = ical.time_from_string("20260218T100000"), at;
        icalrecur_iterator *walk = ical.iterator_new(rule, start);

        if (!walk)
            continue;
        ical.set_start(walk, now);
        do
            at = ical.iterator_next(walk);
        while (!ical.is_null(at) && ical.compare(at, now) <= 0);
        chime->sum += at.day;
        ical.iterator_free(walk);
    }
}

static void bench_plan(void)
{
    struct chime chime = { .sum = 0 };
    struct err err = ERR_INIT;
    int64_t spent = 0, other = 0, began;
    bool compare = open_ical() == 0;
    double each, yardstick;

    for (size_t i = 0; i < ARRAY_LEN(zones); i++)
        if (zone_open(str_from(zones[i]), &chime.zones[i], &err) < 0)
            die(&err);
    for (int i = 0; i < RULES; i += CHUNK) {
        began = mono_ns();
        ours(&chime, i);
        spent += mono_ns() - began;
        if (!compare)
            continue;
        began = mono_ns();
        theirs(&chime, i);
        other += mono_ns() - began;
    }
    each = (double)spent / RULES / 1000;
    yardstick = (double)other / RULES / 1000;
    printf("{\"bench\":\"timer.plan\",\"rules\":%d,\"value\":%.3f,\"unit\":\"us each\","
           "\"total_ms\":%.1f,\"yardstick\":\"libical, floating\",\"yardstick_value\":%.3f,"
           "\"ratio\":%.3f,\"target\":%.1f,\"ok\":%s}\n",
           RULES, each, (double)spent / 1e6, yardstick, yardstick > 0 ? each / yardstick : 0.0,
           TARGET, each < TARGET ? "true" : "false");
    for (size_t i = 0; i < ARRAY_LEN(zones); i++)
        zone_free(chime.zones[i]);
}

/* ---- a database ---- */

struct desk {
    char dir[64];
    struct clock_fake clock;
    struct loop *loop;
    struct domain *domain;
    struct change *change;
    struct agent agent;
};

static void desk_open(struct desk *desk)
{
    struct err err = ERR_INIT;
    char url[128];
    struct domain_config config = { .name = "agent",
                                    .url = url,
                                    .migrations = migrations_agent,
                                    .migration_count = migrations_agent_count };

    *desk = (struct desk){ .agent = { .id = "coach", .kind = "coach", .display_name = "Coach" } };
    snprintf(desk->dir, sizeof(desk->dir), "/tmp/bench-timer-XXXXXX");
    if (!mkdtemp(desk->dir))
        exit(1);
    snprintf(url, sizeof(url), "sqlite:%s/agent.sqlite", desk->dir);
    clock_fake_init(&desk->clock, NOW);
    desk->loop = loop_new_fake(&desk->clock);
    if (domain_open(&config, &desk->domain, &err) < 0 ||
        change_open(desk->domain, NULL, NULL, &desk->change, &err) < 0 ||
        domain_begin(desk->domain, &err) < 0 ||
        agent_add(desk->domain, desk->change, &desk->agent, NOW, &err) < 0 ||
        domain_commit(desk->domain, &err) < 0)
        die(&err);
    loop_attach(desk->loop, desk->domain);
}

static void desk_close(struct desk *desk)
{
    char command[128];

    loop_free(desk->loop);
    change_free(desk->change);
    domain_free(desk->domain);
    snprintf(command, sizeof(command), "rm -rf %s", desk->dir);
    if (system(command) != 0)
        exit(1);
}

/* n timers; an agent has only so many, so there are as many agents as it takes. */
static void add_timers(struct desk *desk, int n, const char *start)
{
    struct err err = ERR_INIT;
    struct agent agent = desk->agent;
    char id[16];

    if (domain_begin(desk->domain, &err) < 0)
        die(&err);
    for (int i = 0; i < n; i++) {
        AUTO_ARENA arena = ARENA_INIT;
        struct timer timer = { .rrule = STR("FREQ=DAILY"), .zone = STR("UTC") };

        if (i % 500 == 0) {
            snprintf(id, sizeof(id), "a%d", i);
            agent = (struct agent){ .id = id, .kind = "coach", .display_name = "One" };
            if (agent_add(desk->domain, desk->change, &agent, NOW, &err) < 0)
                die(&err);
        }
        timer.agent_n = agent.n;
        snprintf(timer.start_local, sizeof(timer.start_local), "%s", start);
        if (timer_add(desk->domain, desk->change, &timer, NOW, &arena, &err) < 0)
            die(&err);
    }
    if (domain_commit(desk->domain, &err) < 0)
        die(&err);
}

static void count_told(void *arg)
{
    ++*(int *)arg;
}

/* Many that are due at the same moment: wakes and moves, committed page by page. */
static void bench_fire(void)
{
    struct desk desk;
    struct clockwork *clockwork;
    struct err err = ERR_INIT;
    int told = 0;
    int64_t spent, left = 0;

    desk_open(&desk);
    add_timers(&desk, DUE, "2026-02-18T10:00:00");
    clockwork = clockwork_new(&(struct clockwork_config){ .loop = desk.loop,
                                                          .domain = desk.domain,
                                                          .change = desk.change,
                                                          .zone = "UTC",
                                                          .queued = count_told,
                                                          .arg = &told });
    loop_fake_advance(desk.loop, MINUTES(59));
    spent = mono_ns();
    loop_fake_advance(desk.loop, MINUTES(2));
    spent = mono_ns() - spent;
    if (timer_next_due(desk.domain, &left, &err) < 0 || left <= NOW + HOURS(2))
        die(&err);
    printf("{\"bench\":\"timer.fire\",\"timers\":%d,\"value\":%.0f,\"unit\":\"firings/s\","
           "\"commits\":%d}\n",
           DUE, DUE * 1e9 / (double)spent, told);
    clockwork_free(clockwork);
    desk_close(&desk);
}

static int64_t start_ns(struct desk *desk)
{
    int64_t began = mono_ns();
    struct clockwork *clockwork = clockwork_new(&(struct clockwork_config){
        .loop = desk->loop, .domain = desk->domain, .change = desk->change, .zone = "UTC" });

    loop_fake_advance(desk->loop, 10);
    began = mono_ns() - began;
    clockwork_free(clockwork);
    return began;
}

/* What a start costs with many that sleep: the first look of the clockwork. */
static void bench_start(void)
{
    struct desk desk;
    int64_t spent;

    desk_open(&desk);
    add_timers(&desk, SLEEP, "2026-02-19T10:00:00");
    start_ns(&desk); /* the very first looks at all of them, for the zone of this machine */
    spent = start_ns(&desk);
    printf("{\"bench\":\"timer.start\",\"timers\":%d,\"value\":%.2f,\"unit\":\"ms\"}\n", SLEEP,
           (double)spent / 1e6);
    desk_close(&desk);
}

int main(void)
{
    bench_plan();
    bench_fire();
    bench_start();
    return 0;
}
