/* bp.select: events selected a second with 10, 100 and 1000 threads of which 2 concern the event.
 * bp.check: states explored a second, and how long the largest example takes.
 *
 * Three shapes of the other threads are measured: of other types (by_type), of the same type and
 * other keys (by_key), and with requests of their own that stay blocked (parked).
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "bp/check.h"

#define ROUNDS       100
#define ROUND_EVENTS 20000 /* about a millisecond: short enough to find quiet moments */

enum { EV_NONE, EV_PING, EV_PONG, EV_BIRTH, EV_OWN, EV_SOUGHT, EV_OTHER };

static const struct bp_type types[] = {
    [EV_PING] = { "ping", BP_EXT | BP_KEYED },
    [EV_PONG] = { "pong", BP_KEYED },
    [EV_BIRTH] = { "birth", BP_EXT | BP_KEYED | BP_BIRTH },
    [EV_OWN] = { "own", BP_EXT | BP_KEYED },
    [EV_SOUGHT] = { "sought", 0 },
    [EV_OTHER] = { "other", BP_EXT },
};

/* The two: one asks for pong after each ping, one watches both and blocks in between. */
static const struct bp_point asks[] = {
    { .wait = { BP_ON_MINE(EV_PING) } },
    { .request = BP_MINE(EV_PONG, .go = BP_GO(0)) },
};
static const struct bp_point watches[] = {
    { .wait = { BP_ON_MINE(EV_PING) }, .block = { BP_ON_MINE(EV_PONG) } },
    { .wait = { BP_ON_MINE(EV_PONG, .go = BP_GO(0)) }, .block = { BP_ON_MINE(EV_PING) } },
};
/* The others. */
static const struct bp_point of_other_type[] = {
    { .wait = { BP_ON(EV_OTHER) }, .block = { BP_ON(EV_SOUGHT) } },
};
static const struct bp_point parked[] = {
    { .request = BP_ASK(EV_SOUGHT), .block = { BP_ON(EV_SOUGHT) } },
};

static double now_s(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static void count(void *ctx, const struct bp_event *event, const struct bp_place *by)
{
    uint64_t *n = ctx;

    (void)event;
    (void)by;
    (*n)++;
}

/* extra threads of the table `other`, or with other == NULL so many keys. */
struct shape {
    const char *name;
    const struct bp_point *other;
};

struct setup {
    struct bp_engine *engine;
    struct bp_program program;
    struct bp_thread *threads;
    char (*names)[16];
    uint64_t selected;
};

static void set_up(struct setup *s, const struct shape *shape, unsigned threads)
{
    unsigned keys = shape->other ? 1 : threads / 2, extra = shape->other ? threads - 2 : 0;

    *s = (struct setup){ .threads = NEW_N(struct bp_thread, extra + 2) };
    s->names = alloc_zero(extra + 1, sizeof(s->names[0]));
    s->threads[0] = (struct bp_thread){ BP_TABLE("asks", asks), .spawn = BP_ON(EV_BIRTH) };
    s->threads[1] = (struct bp_thread){ BP_TABLE("watches", watches), .spawn = BP_ON(EV_BIRTH) };
    for (unsigned i = 0; i < extra; i++) {
        snprintf(s->names[i], sizeof(s->names[i]), "other%u", i);
        s->threads[i + 2] = (struct bp_thread){ .name = s->names[i], .at = shape->other, .n = 1 };
    }
    s->program = (struct bp_program){ .name = "bench",
                                      .types = types,
                                      .threads = s->threads,
                                      .type_count = BP_COUNT(types),
                                      .thread_count = (uint16_t)(extra + 2) };
    if (bp_program_check(&s->program, NULL) < 0)
        abort();
    s->engine = bp_new(&s->program, (uint16_t)keys,
                       &(struct bp_options){ .selected = count, .ctx = &s->selected });
    for (unsigned key = 1; key <= keys; key++)
        bp_offer(s->engine, &(struct bp_event){ .type = EV_BIRTH, .key = (uint16_t)key }, NULL);
}

static void tear_down(struct setup *s)
{
    bp_free(s->engine);
    free(s->threads);
    free(s->names);
}

static double run(struct setup *s)
{
    struct bp_event ping = { .type = EV_PING, .key = 1 };
    double start = now_s();

    s->selected = 0;
    while (s->selected < ROUND_EVENTS)
        if (bp_offer(s->engine, &ping, NULL) < 0)
            abort();
    return (double)s->selected / (now_s() - start);
}

/* The sizes take turns, so that what disturbs one disturbs all; the best round counts. */
static void bench_select(const struct shape *shape)
{
    static const unsigned sizes[] = { 10, 100, 1000 };
    struct setup setups[3];
    double best[3] = { 0 }, loss;

    for (int i = 0; i < 3; i++)
        set_up(&setups[i], shape, sizes[i]);
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < 3; i++) {
            double rate = run(&setups[i]);

            best[i] = rate > best[i] ? rate : best[i];
        }
    loss = 1 - best[2] / best[0];
    for (int i = 0; i < 3; i++) {
        double target = sizes[i] == 100 ? 2e6 : 0;

        printf("{\"bench\":\"bp.select\",\"others\":\"%s\",\"threads\":%u,\"value\":%.0f,"
               "\"unit\":\"events/s\"",
               shape->name, sizes[i], best[i]);
        if (target > 0)
            printf(",\"target\":%.0f,\"ok\":%s", target, best[i] >= target ? "true" : "false");
        if (sizes[i] == 1000)
            printf(",\"yardstick\":\"10 threads\",\"yardstick_value\":%.0f,\"ratio\":%.3f,"
                   "\"loss\":%.3f,\"target\":0.8,\"ok\":%s",
                   best[0], best[2] / best[0], loss, loss <= 0.2 ? "true" : "false");
        puts("}");
        tear_down(&setups[i]);
    }
}

static void bench_check(void)
{
    const struct bp_program *slowest = NULL;
    double worst = 0;

    for (int i = 0; bp_programs[i]; i++) {
        struct bp_report report;
        double start = now_s(), seconds;

        if (bp_check(bp_programs[i], NULL, &report, NULL) < 0)
            abort();
        seconds = now_s() - start;
        if (seconds > worst) {
            worst = seconds;
            slowest = bp_programs[i];
        }
        bp_report_release(&report);
    }
    printf("{\"bench\":\"bp.check\",\"what\":\"largest example, all properties, 3 keys\","
           "\"program\":\"%s\",\"value\":%.4f,\"unit\":\"s\",\"target\":5,\"ok\":%s}\n",
           slowest->name, worst, worst < 5 ? "true" : "false");
}

/* Without leaving threads out, up to a bound: how fast states are explored. */
static void bench_states(void)
{
    struct bp_check_options options = { .whole = true, .states_max = 30000 };
    uint64_t states = 0, transitions = 0;
    struct bp_report report;
    double seconds = 0;

    if (bp_check(bp_programs[0], &options, &report, NULL) < 0)
        abort();
    for (unsigned i = 0; i < report.finding_count; i++) {
        states += report.findings[i].stats.states;
        transitions += report.findings[i].stats.transitions;
        seconds += report.findings[i].stats.seconds;
    }
    bp_report_release(&report);
    printf("{\"bench\":\"bp.check\",\"what\":\"states, no thread left out\",\"program\":\"%s\","
           "\"value\":%.0f,\"unit\":\"states/s\",\"transitions_per_s\":%.0f,\"states\":%llu}\n",
           bp_programs[0]->name, (double)states / seconds, (double)transitions / seconds,
           (unsigned long long)states);
}

int main(void)
{
    static const struct shape shapes[] = { { "by_type", of_other_type },
                                           { "by_key", NULL },
                                           { "parked", parked } };

    for (unsigned i = 0; i < ARRAY_LEN(shapes); i++)
        bench_select(&shapes[i]);
    bench_check();
    bench_states();
    return 0;
}
