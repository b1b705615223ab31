/* Random lives of runs: a model that says anything, a person who decides anything, kill switches,
 * modes, time, and crashes wherever they come, also between an effect and its record. Whatever
 * happened, what stage_check() demands holds all the time; no effect that may not be repeated was;
 * one that may was repeated with its own operation only; and every run can be brought to an end.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/rand.h"
#include "stage.h"

#define STEPS 60

/* Each forbids something, and leaves a way out. */
#define FORBID(name)                                                                               \
    "  - name: no_" name "\n"                                                                      \
    "    points: [{ block: [{ on: act, has: [" name "] }] }]\n"                                    \
    "  - name: refuse_" name "\n"                                                                  \
    "    each: { on: [call, edit, judged], has: [" name "] }\n"                                    \
    "    points: [{ request: denied, interrupt: { on: [edit, judged], lacks: [" name "] } }]\n"
static const char *const policies[] = {
    NULL,
    "version: 1\nclassify:\n  posted: tool in [\"send\", \"mail\"]\nguards:\n" FORBID("posted"),
    "version: 1\nclassify:\n  posted: tool == \"note\"\nguards:\n" FORBID("posted"),
    "version: 1\nclassify:\n  a: tool == \"poke\"\n  b: args.edited exists\nguards:\n" FORBID("b")
        FORBID("a"),
};

struct life {
    struct stage *stage;
    struct test *t;
    struct rand_fake rand;
    struct str run;
    bool killed;
    bool policed;       /* the policy changes, too */
    struct map allowed; /* operation -> how often a person said: again */
};

static unsigned pick(struct life *life, unsigned n)
{
    return (unsigned)rand_below(&life->rand.rand, n);
}

/* ---- the model ---- */

static const char *random_reply(struct life *life)
{
    static const char *const calls[] = {
        "!note {\"n\":1}", "!note { \"n\": 1 }", "!note {\"n\":2}",  "!poke {}",
        "!alone {}",       "!send {\"to\":1}",   "!mail {\"to\":1}", "!put {}",
        "!query {}",       "!nosuch {}",         "!note {broken",
    };
    static const char *const others[] = {
        "Some text.",      "{\"done\":true}",    "{\"done\":false}", "~hm, let me see|I think so.",
        "#rate_limited x", "#provider_failed x",
    };
    AUTO_BUF out = BUF_INIT(4096);
    unsigned n = pick(life, 5);

    if (n == 0)
        return others[pick(life, ARRAY_LEN(others))];
    for (unsigned i = 0; i < n; i++)
        buf_printf(&out, "%s%s", i ? "\n" : "", calls[pick(life, ARRAY_LEN(calls))]);
    return arena_text(&life->t->arena, buf_text(&out));
}

/* ---- the person ---- */

static void remember_again(struct life *life, const struct inbox_item *item)
{
    struct test *t = life->t;
    AUTO_JSON body = NULL;
    struct str id;
    uintptr_t n;

    ASSERT_OK(json_parse(item->body, &body, &t->err));
    id = json_str(json_find(body, "operationId"));
    n = (uintptr_t)map_find(&life->allowed, id);
    map_put(&life->allowed, id, (void *)(n + 1));
}

static void decide(struct life *life, const struct inbox_item *item, bool kindly)
{
    struct test *t = life->t;
    unsigned what = kindly ? 0 : pick(life, 4);
    struct inbox_decision decision = { .by = STR("owner"), .state = INBOX_APPROVED };
    int r;

    if (what == 1)
        decision.state = INBOX_REJECTED;
    else if (item->kind == INBOX_QUESTION)
        decision = (struct inbox_decision){ .by = STR("owner"),
                                            .state = INBOX_ANSWERED,
                                            .answer = STR("\"yes\"") };
    else if (item->kind == INBOX_TOOL && what == 2)
        decision = (struct inbox_decision){ .by = STR("owner"),
                                            .state = INBOX_EDITED,
                                            .answer = STR("{\"to\":1,\"edited\":true}") };
    else if (item->kind == INBOX_TOOL && what == 3)
        decision.scope = pick(life, 2) ? INBOX_FOR_RUN : INBOX_ALWAYS;
    r = run_decide(life->stage->runner, item->id, &decision, &t->err);
    if (r > 0 && item->kind == INBOX_UNKNOWN_EFFECT && decision.state == INBOX_APPROVED)
        remember_again(life, item);
    /* A new policy has refused what was asked about: nobody waits any more. */
    ASSERT(r >= 0 || t->err.code == ERR_KILL_SWITCH_ACTIVE || t->err.code == ERR_CANCELLED ||
           (life->policed && t->err.code == ERR_CONFLICT));
    err_reset(&t->err);
}

static bool decide_one(struct life *life, bool kindly)
{
    struct test *t = life->t;
    AUTO_ARENA arena = ARENA_INIT;
    struct inbox_item *items;
    size_t n;

    ASSERT_OK(inbox_list(life->stage->domain, INBOX_PENDING, 0, 0, &arena, &items, &n, &t->err));
    if (n)
        decide(life, &items[pick(life, (unsigned)n)], kindly);
    return n > 0;
}

/* ---- what may happen ---- */

static void start(struct life *life)
{
    struct test *t = life->t;
    struct run_request request = { .prompt = STR("Go on."),
                                   .session_id = STR("random"),
                                   .mode = pick(life, 3) ? RUN_STRUCTURED : RUN_COOK,
                                   .max_iterations = pick(life, 4) ? 0 : 3,
                                   .max_tool_calls = pick(life, 4) ? 0 : 4,
                                   .max_tokens = pick(life, 4) ? 0 : 60,
                                   .max_ms = pick(life, 4) ? 0 : 20000 };
    struct run_info info;

    if (run_start(life->stage->runner, &request, &t->arena, &info, &t->err) == 0)
        life->run = info.run_id;
    else
        ASSERT(t->err.code == ERR_CONFLICT || t->err.code == ERR_KILL_SWITCH_ACTIVE);
    err_reset(&t->err);
}

static void kill_switch(struct life *life, bool on)
{
    static const char *const classes[] = { "", "test", "post" };
    struct test *t = life->t;
    const char *value = classes[pick(life, 3)];

    for (size_t i = 0; i < ARRAY_LEN(classes); i++) {
        if (on && classes[i] != value)
            continue;
        ASSERT(run_kill(life->stage->runner, classes[i][0] ? KILL_TOOLS : KILL_ALL, classes[i], "x",
                        on, &t->err) >= 0);
    }
}

static void crash(struct life *life)
{
    struct stage *stage = life->stage;

    for (unsigned i = pick(life, 3); i > 0; i--)
        stage_act(stage); /* done, and nobody knows */
    if (pick(life, 2))
        loop_fake_tick(stage->loop);
    if (life->policed) {
        stage->policy = policies[pick(life, ARRAY_LEN(policies))];
        stage->config.program = NULL;
    }
    stage_crash(stage);
}

static void step(struct life *life)
{
    struct stage *stage = life->stage;
    struct err ignored = ERR_INIT;

    switch (pick(life, 16)) {
    case 0:
        start(life);
        break;
    case 1:
    case 2:
        crash(life);
        break;
    case 3:
        if (life->run.n && pick(life, 3) == 0)
            run_cancel(stage->runner, life->run, &ignored);
        break;
    case 4:
        kill_switch(life, pick(life, 3) == 0);
        break;
    case 5:
        if (life->run.n)
            run_set_mode(stage->runner, life->run, pick(life, 2) ? RUN_COOK : RUN_STRUCTURED,
                         &ignored);
        break;
    case 6:
        loop_fake_advance(stage->loop, pick(life, 8) ? pick(life, 30000) : DAYS(8));
        break;
    case 7:
        stage->target = pick(life, 2) ? "1" : "2";
        break;
    case 8:
    case 9:
    case 10:
        decide_one(life, false);
        break;
    case 11:
    case 12:
        stage_act(stage);
        break;
    default:
        if (stage->sink)
            stage_answer(stage, random_reply(life));
        break;
    }
    if (pick(life, 4))
        stage_settle(stage);
}

/* ---- at the end ---- */

static bool is_open(struct life *life)
{
    struct test *t = life->t;
    AUTO_ARENA arena = ARENA_INIT;
    struct run_info *infos;
    size_t n;

    ASSERT_OK(run_list(life->stage->runner, STR_NONE, 0, 1, &arena, &infos, &n, &t->err));
    return n && !infos[0].ended_at;
}

/* A friendly world: everybody answers. */
static void bring_to_an_end(struct life *life)
{
    struct stage *stage = life->stage;

    kill_switch(life, false);
    for (int i = 0; i < 300 && is_open(life); i++) {
        if (!decide_one(life, true) && !stage_act(stage) && stage->sink)
            stage_answer(stage, "{\"done\":true}");
        stage_settle(stage);
        if (i % 20 == 19)
            loop_fake_advance(stage->loop, HOURS(1)); /* rests */
    }
    ASSERT(!is_open(life));
}

static void check_effects(struct life *life)
{
    const struct stage *stage = life->stage;

    for (size_t i = 0; i < stage->done_count; i++) {
        const struct stage_effect *effect = &stage->effects[i];
        bool keyed = strcmp(effect->tool, "poke") != 0 && strcmp(effect->tool, "send") != 0;
        size_t times = 0;

        for (size_t j = 0; j < stage->done_count; j++) {
            if (strcmp(stage->effects[j].operation, effect->operation) != 0)
                continue;
            times++;
            ASSERT_TEXT(stage->effects[j].arguments, effect->arguments);
            ASSERT_TEXT(stage->effects[j].tool, effect->tool);
        }
        if (!keyed)
            ASSERT(times <= 1 + (uintptr_t)map_find(&life->allowed, str_from(effect->operation)));
    }
}

static void live(struct test *t, uint64_t seed, bool policed)
{
    struct life life = { .stage = stage_new(t), .t = t, .policed = policed, .allowed = MAP_INIT };

    rand_fake_init(&life.rand, seed);
    life.stage->hold_tools = true;
    for (int i = 0; i < STEPS; i++) {
        step(&life);
        if (i % 20 == 0) {
            stage_settle(life.stage);
            stage_check(life.stage);
        }
    }
    stage_settle(life.stage);
    bring_to_an_end(&life);
    check_effects(&life);
    map_release(&life.allowed);
    stage_free(life.stage);
}

/* DORMOUSE_TEST_SEED=7 lives that one alone, DORMOUSE_TEST_LIVES=500 so many; a failure says which
 * it was. */
static void live_all(struct test *t, uint64_t from, uint64_t count, bool policed)
{
    const char *one = getenv("DORMOUSE_TEST_SEED"), *many = getenv("DORMOUSE_TEST_LIVES");
    uint64_t end = from + (many ? strtoull(many, NULL, 10) : count);

    for (uint64_t seed = from; seed < end; seed++) {
        if (one && strtoull(one, NULL, 10) != seed)
            continue;
        fprintf(stderr, "seed %llu\n", (unsigned long long)seed);
        live(t, seed, policed);
    }
}

DB_TEST(random_lives_end_well)
{
    live_all(t, 1, 6, false);
}

DB_TEST(other_random_lives_end_well)
{
    live_all(t, 100001, 4, false);
}

DB_TEST(random_lives_under_changing_policies_end_well)
{
    live_all(t, 200001, 5, true);
}
