/* What wakes an agent, through archives and copies: nothing is lost, added or let out.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>

#include "base/rand.h"
#include "files/archive.h"
#include "rig.h"
#include "wake/subscription.h"
#include "wake/timer.h"

static struct agent named(struct rig *rig, const char *name)
{
    return rig_create(rig, (struct builder_form){ .given = AGENT_NAME | AGENT_TOOLS,
                                                  .display_name = str_from(name),
                                                  .tools = STR("[]") });
}

static size_t subscriptions_of(struct rig *rig, int64_t agent_n, struct subscription **ret_list)
{
    struct test *t = rig->t;
    size_t n;

    ASSERT_OK(subscription_list(rig->domain, agent_n, &t->arena, ret_list, &n, &t->err));
    return n;
}

static size_t timers_of(struct rig *rig, int64_t agent_n, struct timer **ret_list)
{
    struct test *t = rig->t;
    size_t n;

    ASSERT_OK(timer_list(rig->domain, agent_n, &t->arena, ret_list, &n, &t->err));
    return n;
}

static const char *subscribe(struct rig *rig, const struct agent *agent, struct subscription one)
{
    struct test *t = rig->t;
    char *token = arena_alloc(&t->arena, WEBHOOK_TOKEN_SIZE, 1);

    one.agent_n = agent->n;
    one.agent_id = str_from(agent->id);
    rig_begin(rig);
    ASSERT_OK(rig_end(rig, subscription_add(rig->domain, rig->change, &one, NOW, token, &t->err)));
    return token;
}

static void add_timer(struct rig *rig, const struct agent *agent, struct timer one)
{
    struct test *t = rig->t;
    bool active = one.active;

    one.agent_n = agent->n;
    rig_begin(rig);
    ASSERT_OK(
        rig_end(rig, timer_add(rig->domain, rig->change, &one, NOW - DAYS(9), &t->arena, &t->err)));
    if (active)
        return;
    ASSERT_OK(timer_get(rig->domain, one.id, &t->arena, &one, &t->err));
    one.active = false;
    rig_begin(rig);
    ASSERT_OK(rig_end(rig, timer_change(rig->domain, rig->change, &one, NOW - DAYS(9), &t->err)));
}

/* The text of one file of an archive; NULL: it has none. */
static const char *file_of(struct test *t, struct str bytes, const char *path)
{
    struct archive_entry *entries;
    size_t n;

    ASSERT_OK(archive_read(bytes, &(struct archive_limits){ 0 }, &t->arena, &entries, &n, &t->err));
    for (size_t i = 0; i < n; i++)
        if (str_is(entries[i].path, path))
            return arena_copy(&t->arena, entries[i].content.p, entries[i].content.n);
    return NULL;
}

/* ---- any agent ---- */

#define LITERAL(text)                                                                              \
    {                                                                                              \
        (text), sizeof(text) - 1                                                                   \
    }
static const struct token keys[] = {
    { TOKEN_SEMANTIC_KEY, { NULL, 0 }, LITERAL("TASK") },
    { TOKEN_SUBTYPE, LITERAL("taskStatus"), LITERAL("DONE") },
    { TOKEN_ENTITY_ID, { NULL, 0 }, LITERAL("0193-some-record") },
};
static const struct token reports[] = {
    { TOKEN_SEMANTIC_KEY, { NULL, 0 }, LITERAL("AGENT_REPORT") }
};

static struct subscription any_subscription(struct rand *rand)
{
    struct subscription one = {
        .source = (enum wake_source)(1 + rand_below(rand, 4)),
        .name = rand_below(rand, 2) ? STR("When \"it\" \xf0\x9f\x90\xad") : STR_NONE,
        .prompt = rand_below(rand, 2) ? STR("Look\nat it.") : STR_NONE,
        .authors = 1u << (1 + rand_below(rand, 3)),
        .cooldown_ms = (int64_t)rand_below(rand, 3) * 60000,
        .active = rand_below(rand, 2),
    };

    if (rand_below(rand, 2))
        one.hours = (struct active_hours){
            .set = true, .days = 0x1f, .from_min = 420, .to_min = 60, .zone = "Europe/Berlin"
        };
    if (one.source == WAKE_JOURNAL) {
        one.tokens = keys;
        one.token_count = 1 + rand_below(rand, ARRAY_LEN(keys));
        one.predicate = rand_below(rand, 2) ? STR("task.status == \"DONE\"") : STR_NONE;
        one.authors |= rand_below(rand, 2) ? SUBSCRIPTION_BY_SELF : 0;
    } else if (one.source == WAKE_AGENT) {
        one.tokens = reports;
        one.token_count = 1;
    } else if (one.source == WAKE_FILES) {
        one.folder = STR("/usr");
        one.glob = rand_below(rand, 2) ? STR("*.pdf") : STR_NONE;
    }
    return one;
}

static struct timer any_timer(struct rand *rand)
{
    static const char *const rules[] = { "FREQ=DAILY;BYHOUR=7", "FREQ=WEEKLY;BYDAY=SU;BYHOUR=18",
                                         "FREQ=DAILY;COUNT=400" };
    struct timer one = {
        .name = rand_below(rand, 2) ? STR("Every \xc3\xa4") : STR_NONE,
        .prompt = rand_below(rand, 2) ? STR("Plan \"today\".") : STR_NONE,
        .missed = (enum timer_missed)rand_below(rand, 3),
        .missed_cap = (int64_t)rand_below(rand, 4) * 7,
        .active = rand_below(rand, 2),
    };
    uint64_t kind = rand_below(rand, 3);

    if (kind == 0) {
        one.interval_ms = (int64_t)(1 + rand_below(rand, 100)) * 60000;
        return one;
    }
    one.zone = rand_below(rand, 2) ? STR("Asia/Kathmandu") : STR_NONE;
    if (kind == 1)
        one.rrule = str_from(rules[rand_below(rand, ARRAY_LEN(rules))]);
    else
        snprintf(one.start_local, sizeof(one.start_local), "2031-02-18T07:00");
    return one;
}

/* What the archive says of it, apart from the agent's row. */
static void same_wakes(struct rig *rig, int64_t a_n, int64_t b_n)
{
    struct subscription *a, *b;
    struct timer *c, *d;
    size_t waits = subscriptions_of(rig, a_n, &a), fires = timers_of(rig, a_n, &c);

    ASSERT_EQ(subscriptions_of(rig, b_n, &b), waits);
    ASSERT_EQ(timers_of(rig, b_n, &d), fires);
    for (size_t i = 0; i < waits; i++) {
        ASSERT(!str_eq(a[i].id, b[i].id));
        ASSERT(str_eq(a[i].name, b[i].name) && str_eq(a[i].prompt, b[i].prompt));
        ASSERT(str_eq(a[i].predicate, b[i].predicate) && str_eq(a[i].folder, b[i].folder));
        ASSERT(str_eq(a[i].glob, b[i].glob) && a[i].source == b[i].source);
        ASSERT(a[i].active == b[i].active && a[i].authors == b[i].authors);
        ASSERT_EQ(a[i].cooldown_ms, b[i].cooldown_ms);
        ASSERT_EQ(a[i].token_count, b[i].token_count);
        ASSERT_EQ(a[i].hours.set, b[i].hours.set);
        ASSERT_EQ(a[i].hours.days, b[i].hours.days);
        ASSERT_EQ(a[i].hours.to_min, b[i].hours.to_min);
        ASSERT_TEXT(a[i].hours.zone, b[i].hours.zone);
        ASSERT_EQ(b[i].last_wake_at, 0);
    }
    for (size_t i = 0; i < fires; i++) {
        ASSERT(!str_eq(c[i].id, d[i].id));
        ASSERT(str_eq(c[i].name, d[i].name) && str_eq(c[i].prompt, d[i].prompt));
        ASSERT(str_eq(c[i].rrule, d[i].rrule) && str_eq(c[i].zone, d[i].zone));
        ASSERT_TEXT(c[i].start_local, d[i].start_local);
        ASSERT(c[i].kind == d[i].kind && c[i].missed == d[i].missed);
        ASSERT(c[i].active == d[i].active);
        ASSERT_EQ(c[i].interval_ms, d[i].interval_ms);
        ASSERT_EQ(c[i].missed_cap, d[i].missed_cap);
        ASSERT(d[i].next_run_at > NOW || !d[i].active);
    }
}

DB_TEST(what_wakes_an_agent_goes_with_it_byte_for_byte)
{
    AUTO(rig) rig = rig_open(t);
    struct rand_fake fake;

    rand_fake_init(&fake, 11);
    for (int round = 0; round < 12; round++) {
        struct agent agent = named(rig, "Any"), again;
        uint64_t waits = rand_below(&fake.rand, 6), fires = rand_below(&fake.rand, 6);
        const char *wakes;
        struct str first;

        for (uint64_t i = 0; i < waits; i++)
            subscribe(rig, &agent, any_subscription(&fake.rand));
        for (uint64_t i = 0; i < fires; i++)
            add_timer(rig, &agent, any_timer(&fake.rand));
        first = rig_export(rig, agent.id);
        ASSERT(str_eq(first, rig_export(rig, agent.id)));
        ASSERT_EQ((file_of(t, first, "wakes.json") != NULL), (waits + fires > 0));
        err_reset(&t->err);
        if (rig_import(rig, first, &again) < 0)
            FAIL("round %d: %s: %s", round, t->err.text, file_of(t, first, "wakes.json"));
        /* of those that wait for a record: it is not here */
        wakes = file_of(t, first, "wakes.json");
        ASSERT_EQ(rig->warnings.n, wakes && strstr(wakes, "0193-some-record") ? 1u : 0u);
        if (rig->warnings.n)
            ASSERT_CONTAINS(rig->warnings.text[0], "categories or records that are not here");
        same_wakes(rig, agent.n, again.n);
        ASSERT(str_eq(first, rig_export(rig, again.id)));
    }
}

DB_TEST(mode_and_session_go_with_an_agent_categories_do_not)
{
    AUTO(rig) rig = rig_open(t);
    struct agent agent =
        rig_create(rig, (struct builder_form){ .given = AGENT_NAME | AGENT_MODE | AGENT_CATEGORIES |
                                                        AGENT_SESSION_TTL | AGENT_TOOLS,
                                               .display_name = STR("Coach"),
                                               .mode = STR("autonomous"),
                                               .tools = STR("[\"read_task\"]"),
                                               .categories = STR("[\"*\"]"),
                                               .session_ttl_ms = 90000 });
    struct agent again;

    ASSERT_OK(rig_import(rig, rig_export(rig, agent.id), &again));
    ASSERT_OK(agent_get(rig->domain, str_from(again.id), &t->arena, &again, &t->err));
    ASSERT_TEXT(again.mode, "autonomous");
    ASSERT_EQ(again.session_ttl_ms, 90000);
    ASSERT_TEXT(again.allowed_category_ids, "[]");
    ASSERT_EQ(rig->warnings.n, 1);
    ASSERT_CONTAINS(rig->warnings.text[0], "has no categories yet");
    ASSERT_CONTAINS(rig->warnings.text[0], again.id);
}

/* ---- webhooks ---- */

static int64_t whose(struct rig *rig, const char *token)
{
    struct test *t = rig->t;
    struct subscription found;
    int r = webhook_find(rig->domain, str_from(token), &t->arena, &found, &t->err);

    ASSERT_OK(r);
    return r ? found.agent_n : 0;
}

DB_TEST(a_webhook_gets_a_token_of_its_own_and_no_token_goes_out)
{
    AUTO(rig) rig = rig_open(t);
    struct agent agent = named(rig, "Listener"), again, copy;
    const struct subscription hook = { .source = WAKE_WEBHOOK,
                                       .name = STR("Door"),
                                       .active = true };
    const char *token = subscribe(rig, &agent, hook), *other;
    struct str bytes;
    struct subscription *waits;

    subscribe(rig, &agent, (struct subscription){ .source = WAKE_FILES, .folder = STR("/usr") });
    bytes = rig_export(rig, agent.id);
    ASSERT(strstr(file_of(t, bytes, "wakes.json"), token) == NULL);
    ASSERT_OK(rig_import(rig, bytes, &again));
    ASSERT_EQ(rig->warnings.hook_count, 1);
    ASSERT_TEXT(rig->warnings.hooks[0].name, "Door");
    subscriptions_of(rig, again.n, &waits);
    ASSERT(str_is(waits[0].id, rig->warnings.hooks[0].subscription_id));
    other = rig->warnings.hooks[0].token;
    ASSERT_EQ(whose(rig, token), agent.n);
    ASSERT_EQ(whose(rig, other), again.n);
    copy = rig_copy(rig, &agent);
    ASSERT_EQ(rig->warnings.hook_count, 1);
    ASSERT_TEXT(rig->warnings.hooks[0].name, "Door");
    ASSERT(strcmp(rig->warnings.hooks[0].token, other) != 0);
    /* It is off, so its token opens nothing yet, or is of the copy. */
    ASSERT(whose(rig, rig->warnings.hooks[0].token) != agent.n);
    ASSERT(copy.n != agent.n);
    ASSERT_EQ(whose(rig, token), agent.n);
}

/* ---- what is not here ---- */

DB_TEST(a_folder_that_is_not_here_is_said)
{
    AUTO(rig) rig = rig_open(t);
    struct agent agent = named(rig, "Filer"), again;
    struct subscription *waits;

    for (int i = 0; i < 3; i++)
        subscribe(rig, &agent,
                  (struct subscription){
                      .source = WAKE_FILES,
                      .folder = i == 1 ? STR("/usr")
                                       : str_from(arena_printf(&t->arena, "/no/such/place%d", i)),
                      .active = true });
    ASSERT_OK(rig_import(rig, rig_export(rig, agent.id), &again));
    ASSERT_EQ(rig->warnings.n, 1);
    ASSERT_CONTAINS(rig->warnings.text[0], ": /no/such/place0, /no/such/place2");
    ASSERT(strstr(rig->warnings.text[0], "/usr") == NULL);
    /* It may come: a disk that is not plugged in. */
    ASSERT_EQ(subscriptions_of(rig, again.n, &waits), 3);
    ASSERT(waits[0].active);
}

DB_TEST(timers_that_have_ended_stay_behind)
{
    AUTO(rig) rig = rig_open(t);
    struct agent agent = named(rig, "Timed"), again, copy;
    struct timer once = { .name = STR("Once"), .active = true },
                 counted = { .name = STR("Counted"),
                             .rrule = STR("FREQ=DAILY;COUNT=3"),
                             .active = true },
                 daily = { .name = STR("Daily"), .rrule = STR("FREQ=DAILY"), .active = true };
    struct timer *fires;
    struct str bytes;

    snprintf(once.start_local, sizeof(once.start_local), "2023-11-12T07:00"); /* before NOW */
    add_timer(rig, &agent, once);
    add_timer(rig, &agent, counted);
    add_timer(rig, &agent, daily);
    bytes = rig_export(rig, agent.id);
    ASSERT(strstr(file_of(t, bytes, "wakes.json"), "Once") == NULL);
    ASSERT_OK(rig_import(rig, bytes, &again));
    ASSERT_EQ(timers_of(rig, again.n, &fires), 1);
    ASSERT_STR(fires[0].name, "Daily");
    copy = rig_copy(rig, &agent);
    ASSERT_EQ(timers_of(rig, copy.n, &fires), 1);
    ASSERT_STR(fires[0].name, "Daily");
}

static struct str parcel(struct test *t, int version, const char *wakes)
{
    AUTO_BUF bytes = BUF_INIT(8 << 20);
    const struct archive_entry entries[] = {
        { .path = STR("agent.json"),
          .content = str_from(arena_printf(&t->arena,
                                           "{\"format\":\"dormouse-agent\",\"version\":%d,"
                                           "\"displayName\":\"Guest\",\"tools\":[]}",
                                           version)) },
        { .path = STR("wakes.json"), .content = str_from(wakes) },
    };

    ASSERT_OK(archive_write(entries, wakes ? 2 : 1, &bytes, &t->err));
    return arena_str(&t->arena, buf_str(&bytes));
}

DB_TEST(an_archive_that_lay_too_long_says_which_timers_have_ended)
{
    AUTO(rig) rig = rig_open(t);
    struct timer *fires;
    struct agent agent;

    ASSERT_OK(rig_import(
        rig,
        parcel(t, 2,
               "{\"timers\":[{\"name\":\"Party\",\"start\":\"2020-01-01T18:00\"},"
               "{\"start\":\"2020-02-01T18:00\"},{\"rrule\":\"FREQ=DAILY;UNTIL=20200101T000000\","
               "\"start\":\"2019-01-01T00:00\",\"name\":\"Diet\"},{\"intervalSeconds\":3600}]}"),
        &agent));
    ASSERT_EQ(rig->warnings.n, 1);
    ASSERT_CONTAINS(rig->warnings.text[0], "have ended");
    ASSERT_CONTAINS(rig->warnings.text[0], "Party, 2020-02-01T18:00, Diet");
    ASSERT_EQ(timers_of(rig, agent.n, &fires), 1);
    ASSERT_EQ(fires[0].interval_ms, 3600000);
    ASSERT(fires[0].active);
}

DB_TEST(archives_of_the_first_version_are_still_read)
{
    AUTO(rig) rig = rig_open(t);
    struct subscription *waits;
    struct agent agent;

    ASSERT_OK(rig_import(rig, parcel(t, 1, NULL), &agent));
    ASSERT_EQ(subscriptions_of(rig, agent.n, &waits), 0);
    ASSERT_EQ(rig->warnings.n, 0);
    ASSERT_EQ(rig->warnings.hook_count, 0);
    ASSERT_FAILS(rig_import(rig, parcel(t, 3, NULL), &agent), ERR_BAD_REQUEST);
    ASSERT_CONTAINS(t->err.text, "version 3 is not known here; 2 is the newest");
    err_reset(&t->err);
    ASSERT_FAILS(rig_import(rig, parcel(t, 0, NULL), &agent), ERR_BAD_REQUEST);
}

/* ---- hostile ---- */

DB_TEST(what_wakes_is_checked_as_if_it_were_typed)
{
    static const struct {
        const char *wakes;
        enum err_code code;
        const char *says;
    } cases[] = {
        { "", ERR_BAD_REQUEST, "wakes.json" },
        { "[]", ERR_SCHEMA_VIOLATION, "wakes.json" },
        { "{\"subscriptions\":{}}", ERR_SCHEMA_VIOLATION, "/subscriptions" },
        { "{\"hooks\":[]}", ERR_SCHEMA_VIOLATION, "hooks" },
        { "{\"subscriptions\":[1]}", ERR_SCHEMA_VIOLATION, "/subscriptions/0: a subscription" },
        { "{\"subscriptions\":[{}]}", ERR_BAD_REQUEST, "the source is missing" },
        { "{\"subscriptions\":[{\"source\":\"webhook\"},{\"source\":\"sky\"}]}",
          ERR_SCHEMA_VIOLATION, "/subscriptions/1: /source: \"sky\" is none of" },
        { "{\"subscriptions\":[{\"source\":\"webhook\",\"token\":\"abc\"}]}", ERR_SCHEMA_VIOLATION,
          "token" },
        { "{\"subscriptions\":[{\"source\":\"webhook\",\"id\":\"abc\"}]}", ERR_SCHEMA_VIOLATION,
          "id" },
        { "{\"subscriptions\":[{\"source\":\"webhook\",\"agentId\":\"planner\"}]}",
          ERR_SCHEMA_VIOLATION, "agentId" },
        { "{\"subscriptions\":[{\"source\":\"journal\",\"tokens\":[{\"class\":\"semanticKey\","
          "\"value\":\"TASK\"}],\"predicate\":\"task.status == 3\"}]}",
          ERR_BAD_REQUEST, "predicate" },
        { "{\"subscriptions\":[{\"source\":\"files\",\"folder\":\"../etc\"}]}", ERR_BAD_REQUEST,
          "absolute path" },
        { "{\"subscriptions\":[{\"source\":\"webhook\",\"name\":\"a\\u202eb\"}]}", ERR_BAD_REQUEST,
          "U+202E" },
        { "{\"timers\":[7]}", ERR_SCHEMA_VIOLATION, "/timers/0: a timer is an object" },
        { "{\"timers\":[{}]}", ERR_BAD_REQUEST, "/timers/0: a timer needs" },
        { "{\"timers\":[{\"rrule\":\"FREQ=NEVER\"}]}", ERR_BAD_REQUEST, "/timers/0" },
        { "{\"timers\":[{\"intervalSeconds\":60},{\"rrule\":\"FREQ=DAILY\",\"zone\":\"Mars/X\"}]}",
          ERR_BAD_REQUEST, "/timers/1" },
        { "{\"timers\":[{\"start\":\"tomorrow\"}]}", ERR_BAD_REQUEST, "start" },
        { "{\"timers\":[{\"start\":\"2031-02-18T07:00:00.000000001\"}]}", ERR_BAD_REQUEST,
          "is no local time" },
        { "{\"timers\":[{\"intervalSeconds\":1}]}", ERR_BAD_REQUEST,
          "intervalSeconds: is from 60" },
        { "{\"timers\":[{\"intervalSeconds\":-60}]}", ERR_BAD_REQUEST, "intervalSeconds" },
        { "{\"timers\":[{\"intervalSeconds\":9223372036854775807}]}", ERR_BAD_REQUEST,
          "intervalSeconds" },
        { "{\"timers\":[{\"intervalSeconds\":60,\"missed\":\"maybe\"}]}", ERR_BAD_REQUEST,
          "none of once, skip, all" },
        { "{\"timers\":[{\"intervalSeconds\":60,\"missedCap\":101}]}", ERR_BAD_REQUEST,
          "missedCap" },
        { "{\"timers\":[{\"intervalSeconds\":60,\"missedCap\":-1}]}", ERR_BAD_REQUEST,
          "missedCap" },
        { "{\"timers\":[{\"intervalSeconds\":60,\"nextRunAt\":\"2026-01-01T00:00:00Z\"}]}",
          ERR_SCHEMA_VIOLATION, "nextRunAt" },
        { "{\"timers\":[{\"intervalSeconds\":60,\"active\":\"yes\"}]}", ERR_SCHEMA_VIOLATION,
          "active" },
    };
    AUTO(rig) rig = rig_open(t);
    struct subscription *waits;
    struct agent_status *list;
    struct timer *fires;
    struct agent agent;
    size_t n;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char text[ERR_TEXT_MAX];

        err_reset(&t->err);
        if (rig_import(rig, parcel(t, 2, cases[i].wakes), &agent) >= 0)
            FAIL("case %zu was taken: %s", i, cases[i].wakes);
        err_format(&t->err, text, sizeof(text));
        if (t->err.code != cases[i].code || !strstr(text, cases[i].says) ||
            !strstr(text, "wakes.json"))
            FAIL("case %zu: %s: %s", i, err_name(t->err.code), text);
    }
    ASSERT_OK(agent_status_list(rig->domain, &(struct agent_status_filter){ .destroyed = true },
                                &t->arena, &list, &n, &t->err));
    ASSERT_EQ(n, 0);
    ASSERT_EQ(subscriptions_of(rig, 0, &waits), 0);
    ASSERT_EQ(timers_of(rig, 0, &fires), 0);
}

DB_TEST(what_does_not_fit_into_an_archive_is_refused_before_it_is_written)
{
    AUTO(rig) rig = rig_open(t);
    AUTO_BUF prompt = BUF_INIT(1 << 20), out = BUF_INIT(32 << 20);
    struct agent agent = named(rig, "Talker"), again;

    while (prompt.n < TIMER_PROMPT_MAX)
        buf_add_text(&prompt, "word ");
    for (int i = 0; i < 52; i++)
        add_timer(
            rig, &agent,
            (struct timer){ .interval_ms = 3600000, .prompt = buf_str(&prompt), .active = 1 });
    ASSERT_OK(rig_import(rig, rig_export(rig, agent.id), &again));
    add_timer(rig, &agent,
              (struct timer){ .interval_ms = 3600000, .prompt = buf_str(&prompt), .active = 1 });
    ASSERT_FAILS(builder_export(rig->builder, &agent, &t->arena, &out, &t->err), ERR_TOO_LARGE);
    ASSERT_CONTAINS(t->err.text, "what wakes talker");
    ASSERT_EQ(out.n, 0);
}

DB_TEST(a_secret_in_a_prompt_keeps_the_agent_here)
{
    AUTO(rig) rig = rig_open(t);
    struct agent agent = named(rig, "Leaky");
    AUTO_BUF out = BUF_INIT(1 << 20);

    add_timer(rig, &agent,
              (struct timer){ .interval_ms = 3600000,
                              .prompt = STR("use ghp_0123456789abcdefghijABCDEFGHIJ012345"),
                              .active = true });
    ASSERT_FAILS(builder_export(rig->builder, &agent, &t->arena, &out, &t->err), ERR_CONFLICT);
    ASSERT_CONTAINS(t->err.text, "wakes.json holds a secret");
}

/* ---- copies ---- */

DB_TEST(a_copy_waits_for_the_same_once_it_is_switched_on)
{
    AUTO(rig) rig = rig_open(t);
    struct agent coach = rig_create(
        rig, (struct builder_form){ .given = BUILDER_TEMPLATE, .template = STR("planner") });
    struct agent copy = rig_copy(rig, &coach);
    struct subscription *mine, *its;
    struct timer *my_timers, *its_timers;

    ASSERT_EQ(subscriptions_of(rig, coach.n, &mine), 1);
    ASSERT_EQ(subscriptions_of(rig, copy.n, &its), 1);
    ASSERT(mine[0].active && !its[0].active);
    ASSERT(str_eq(mine[0].predicate, its[0].predicate));
    ASSERT_EQ(its[0].token_count, 1);
    ASSERT_STR(its[0].tokens[0].value, "DONE");
    ASSERT_EQ(timers_of(rig, coach.n, &my_timers), 1);
    ASSERT_EQ(timers_of(rig, copy.n, &its_timers), 1);
    ASSERT(my_timers[0].active && !its_timers[0].active);
    ASSERT_STR(its_timers[0].rrule, "FREQ=DAILY;BYHOUR=7");
    ASSERT_EQ(rig->warnings.n, 1);
    ASSERT_CONTAINS(rig->warnings.text[0], "switched off");
    ASSERT_CONTAINS(rig->warnings.text[0], "Planner (copy)");
    its_timers[0].active = true;
    rig_begin(rig);
    ASSERT_OK(rig_end(rig, timer_change(rig->domain, rig->change, its_timers, NOW, &t->err)));
    ASSERT_EQ(its_timers[0].next_run_at, my_timers[0].next_run_at);
}

DB_TEST(a_copy_of_who_waits_for_nothing_is_told_nothing)
{
    AUTO(rig) rig = rig_open(t);
    struct agent agent = named(rig, "Quiet");

    rig_copy(rig, &agent);
    ASSERT_EQ(rig->warnings.n, 0);
    ASSERT_EQ(rig->warnings.hook_count, 0);
}
