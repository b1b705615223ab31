/* Which source of the configuration wins, and what a working directory's file may do, key by key.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json_object.h>
#include <stdio.h>

#include "base/buf.h"
#include "cli/config_int.h"
#include "config_test.h"

/* "a: { b: { c: VALUE } }" of "a.b.c". */
static const char *one_key(struct test *t, const char *path, const char *value)
{
    struct str rest = str_from(path), name;
    AUTO_BUF out = BUF_INIT(4096);
    int depth = 0;

    while (str_split(&rest, '.', &name)) {
        buf_printf(&out, "%s%.*s: ", depth ? "{ " : "", STR_ARG(name));
        depth++;
    }
    buf_add_text(&out, value);
    while (--depth > 0)
        buf_add_text(&out, " }");
    buf_add_char(&out, '\n');
    return arena_text(&t->arena, buf_text(&out));
}

struct found {
    const char *key;
    char value[512], origin[512];
};

static void find_key(void *arg, const char *key, struct json_object *value, const char *origin)
{
    struct found *found = arg;

    if (strcmp(key, found->key) != 0)
        return;
    snprintf(found->value, sizeof(found->value), "%s",
             value ? json_object_to_json_string_ext(value, JSON_C_TO_STRING_NOSLASHESCAPE) : "");
    snprintf(found->origin, sizeof(found->origin), "%s", origin);
}

/* "value from origin" of a key, or the first problem. */
static const char *outcome(struct test *t, const struct config_case *c, const char *key)
{
    AUTO_CONFIG_PROBLEMS problems = { .n = 0 };
    AUTO(config) config = config_case_load(t, c, &problems);
    struct found found = { .key = key };
    const char *origin;

    if (!config)
        return config_problem_text(t, &problems, 0);
    config_each(config, find_key, &found);
    origin = found.origin;
    if (strstr(origin, ".dormouse/"))
        origin = "work";
    else if (strstr(origin, "config.yaml"))
        origin = "file";
    return arena_printf(&t->arena, "%s from %s", found.value, origin);
}

/* ---- precedence ---- */

/* A key that may be set everywhere, with a value of each source; shown: as JSON. */
static const struct {
    const char *path, *file, *work, *variable;
    const char *shown[4]; /* default, file, work, variable */
} sources[] = {
    { "sandbox.limits.timeout",
      "20s",
      "10s",
      "DORMOUSE_SANDBOX_LIMITS_TIMEOUT=40s",
      { "\"30s\"", "\"20s\"", "\"10s\"", "\"40s\"" } },
    { "sandbox.limits.memory",
      "64MiB",
      "32MiB",
      "DORMOUSE_SANDBOX_LIMITS_MEMORY=2GiB",
      { "\"1GiB\"", "\"64MiB\"", "\"32MiB\"", "\"2GiB\"" } },
    { "sandbox.limits.disk",
      "64MiB",
      "32MiB",
      "DORMOUSE_SANDBOX_LIMITS_DISK=4GiB",
      { "\"2GiB\"", "\"64MiB\"", "\"32MiB\"", "\"4GiB\"" } },
    { "sandbox.limits.processes",
      "10",
      "9",
      "DORMOUSE_SANDBOX_LIMITS_PROCESSES=100",
      { "64", "10", "9", "100" } },
    { "sandbox.enabled",
      "true",
      "true",
      "DORMOUSE_SANDBOX_ENABLED=false",
      { "true", "true", "true", "false" } },
    { "sandbox.security.allowWrite",
      "[a]",
      "[a/b]",
      "DORMOUSE_SANDBOX_SECURITY_ALLOWWRITE=/c",
      { "[\".\"]", "[\"a\"]", "[\"a/b\"]", "[\"/c\"]" } },
    { "sandbox.security.allowedDomains",
      "['*.a.org']",
      "[x.a.org]",
      "DORMOUSE_SANDBOX_SECURITY_ALLOWEDDOMAINS=b.org",
      { "[]", "[\"*.a.org\"]", "[\"x.a.org\"]", "[\"b.org\"]" } },
    { "sandbox.security.denyRead",
      "[a]",
      "[b]",
      "DORMOUSE_SANDBOX_SECURITY_DENYREAD=c",
      { "[\"~/.ssh\",\"~/.aws\",\"~/.gnupg\",\".env\"]", "[\"a\"]", "[\"a\",\"b\"]", "[\"c\"]" } },
    { "budget.tokens_per_day",
      "1000",
      "10",
      "DORMOUSE_BUDGET_TOKENS_PER_DAY=5000",
      { "", "1000", "10", "5000" } },
    { "budget.cost_per_day",
      "2.5",
      "1.5",
      "DORMOUSE_BUDGET_COST_PER_DAY=3.5",
      { "", "2.5", "1.5", "3.5" } },
    { "budget.runtime_per_day",
      "2h",
      "1h",
      "DORMOUSE_BUDGET_RUNTIME_PER_DAY=3h",
      { "", "\"2h\"", "\"1h\"", "\"3h\"" } },
    { "budget.tool_calls_per_day",
      "20",
      "10",
      "DORMOUSE_BUDGET_TOOL_CALLS_PER_DAY=30",
      { "", "20", "10", "30" } },
    { "scheduler.cooldown",
      "20s",
      "30s",
      "DORMOUSE_SCHEDULER_COOLDOWN=0s",
      { "\"1s\"", "\"20s\"", "\"30s\"", "\"0s\"" } },
    { "scheduler.max_concurrent_runs",
      "3",
      "2",
      "DORMOUSE_SCHEDULER_MAX_CONCURRENT_RUNS=8",
      { "4", "3", "2", "8" } },
    { "scheduler.wakes_per_agent_per_hour",
      "30",
      "20",
      "DORMOUSE_SCHEDULER_WAKES_PER_AGENT_PER_HOUR=90",
      { "60", "30", "20", "90" } },
    { "features.spawn",
      "true",
      "false",
      "DORMOUSE_FEATURES_SPAWN=true",
      { "false", "true", "false", "true" } },
    { "features.handoff",
      "true",
      "false",
      "DORMOUSE_FEATURES_HANDOFF=true",
      { "false", "true", "false", "true" } },
    { "features.video",
      "true",
      "false",
      "DORMOUSE_FEATURES_VIDEO=true",
      { "false", "true", "false", "true" } },
};

TEST(each_source_wins_over_those_before_it)
{
    for (size_t i = 0; i < ARRAY_LEN(sources); i++) {
        const char *const variables[] = { sources[i].variable, NULL };
        const char *key = sources[i].path, *name;
        struct config_case c = { .file = NULL };

        ASSERT_TEXT(outcome(t, &c, key),
                    arena_printf(&t->arena, "%s from default", sources[i].shown[0]));
        c.file = one_key(t, key, sources[i].file);
        ASSERT_TEXT(outcome(t, &c, key),
                    arena_printf(&t->arena, "%s from file", sources[i].shown[1]));
        c.work = one_key(t, key, sources[i].work);
        ASSERT_TEXT(outcome(t, &c, key),
                    arena_printf(&t->arena, "%s from work", sources[i].shown[2]));
        c.variables = variables;
        name = arena_copy(&t->arena, variables[0], strcspn(variables[0], "="));
        ASSERT_TEXT(outcome(t, &c, key),
                    arena_printf(&t->arena, "%s from $%s", sources[i].shown[3], name));
    }
}

TEST(the_table_of_sources_names_every_key_that_may_be_tightened)
{
    for (const struct config_field *f = config_fields; f->path; f++) {
        bool found = f->tighten == CONFIG_NEVER || strcmp(f->path, "budget.warn_at") == 0;

        for (size_t i = 0; i < ARRAY_LEN(sources) && !found; i++)
            found = strcmp(sources[i].path, f->path) == 0;
        if (!found)
            FAIL("%s may be tightened and is not in the table", f->path);
    }
}

/* ---- what counts as tighter ---- */

#define LOWER  "only a lower value is allowed here"
#define HIGHER "only a higher value is allowed here"
#define PATHS  "only paths at or below those already allowed may be named here"
#define HOSTS  "only hosts already allowed may be named here"

/* file: the owner's value, NULL for none; refusal NULL: it is taken. */
static const struct {
    const char *path, *file, *work, *refusal;
} tightening[] = {
    { "sandbox.enabled", "false", "true", NULL },
    { "sandbox.enabled", "false", "false", "only true is allowed here" },
    { "features.spawn", NULL, "false", NULL },
    { "features.spawn", "true", "true", "only false is allowed here" },
    { "features.handoff", NULL, "true", "only false is allowed here" },
    { "features.video", NULL, "true", "only false is allowed here" },
    { "sandbox.limits.timeout", NULL, "30s", NULL },
    { "sandbox.limits.timeout", NULL, "30000", NULL },
    { "sandbox.limits.timeout", NULL, "30001", LOWER },
    { "sandbox.limits.timeout", "1ms", "2ms", LOWER },
    { "sandbox.limits.timeout", "1h", "3600s", NULL },
    { "sandbox.limits.memory", NULL, "1024MiB", NULL },
    { "sandbox.limits.memory", NULL, "1025MiB", LOWER },
    { "sandbox.limits.memory", "1MiB", "1048577", LOWER },
    { "sandbox.limits.disk", NULL, "2GiB", NULL },
    { "sandbox.limits.disk", NULL, "3GiB", LOWER },
    { "sandbox.limits.processes", NULL, "64", NULL },
    { "sandbox.limits.processes", "1", "2", LOWER },
    { "budget.tokens_per_day", NULL, "1000000000000", NULL },
    { "budget.tokens_per_day", "5", "6", LOWER },
    { "budget.cost_per_day", NULL, "100", NULL },
    { "budget.cost_per_day", "0.5", "0.51", LOWER },
    { "budget.runtime_per_day", NULL, "365d", NULL },
    { "budget.runtime_per_day", "1d", "25h", LOWER },
    { "budget.tool_calls_per_day", "7", "8", LOWER },
    { "budget.warn_at", NULL, "0.8", NULL },
    { "budget.warn_at", NULL, "0.81", LOWER },
    { "scheduler.max_concurrent_runs", NULL, "4", NULL },
    { "scheduler.wakes_per_agent_per_hour", NULL, "61", LOWER },
    { "scheduler.cooldown", NULL, "1s", NULL },
    { "scheduler.cooldown", NULL, "999", HIGHER },
    { "scheduler.cooldown", "0s", "0s", NULL },
    { "sandbox.security.denyRead", NULL, "[]", NULL },
    { "sandbox.security.denyRead", "[]", "[/]", NULL },
    { "sandbox.security.allowWrite", NULL, "[]", NULL },
    { "sandbox.security.allowWrite", NULL, "[./]", NULL },
    { "sandbox.security.allowWrite", NULL, "[.//a/]", NULL },
    { "sandbox.security.allowWrite", NULL, "[..a]", NULL },
    { "sandbox.security.allowWrite", NULL, "[a, /b]", PATHS },
    { "sandbox.security.allowWrite", NULL, "[./..]", PATHS },
    { "sandbox.security.allowWrite", NULL, "[a/..]", PATHS },
    { "sandbox.security.allowWrite", NULL, "['~root/x']", PATHS },
    { "sandbox.security.allowWrite", "[/]", "[/etc]", NULL },
    { "sandbox.security.allowWrite", "[/]", "[a]", PATHS },
    { "sandbox.security.allowWrite", "[/a/]", "[/a]", NULL },
    { "sandbox.security.allowWrite", "[/a]", "[/a/]", NULL },
    { "sandbox.security.allowWrite", "[/a]", "[/A]", PATHS },
    { "sandbox.security.allowWrite", "[/a]", "[/]", PATHS },
    { "sandbox.security.allowWrite", "[a/b]", "[./a/b/c]", NULL },
    { "sandbox.security.allowWrite", "[a/b]", "[a]", PATHS },
    { "sandbox.security.allowWrite", "['~']", "['~/x']", NULL },
    { "sandbox.security.allowWrite", "['~/x']", "['~']", PATHS },
    { "sandbox.security.allowWrite", "[../x]", "[../x]", PATHS },
    { "sandbox.security.allowedDomains", NULL, "[]", NULL },
    { "sandbox.security.allowedDomains", NULL, "[a.org]", HOSTS },
    { "sandbox.security.allowedDomains", "['*.a.org']", "['*.a.org']", NULL },
    { "sandbox.security.allowedDomains", "['*.a.org']", "['*.b.a.org']", NULL },
    { "sandbox.security.allowedDomains", "['*.a.org']", "[X.A.ORG]", NULL },
    { "sandbox.security.allowedDomains", "['*.a.org']", "[xa.org]", HOSTS },
    { "sandbox.security.allowedDomains", "['*.a.org']", "[x.a.org.evil]", HOSTS },
    { "sandbox.security.allowedDomains", "['*.b.a.org']", "['*.a.org']", HOSTS },
    { "sandbox.security.allowedDomains", "[a.org]", "[x.a.org]", HOSTS },
    { "sandbox.security.allowedDomains", "[a.org]", "['a.org:8080']", HOSTS },
    { "sandbox.security.allowedDomains", "['a.org:8080']", "['A.org:8080']", NULL },
    { "sandbox.security.allowedDomains", "['*.a.org']", "['x.a.org:8080']", HOSTS },
    { "sandbox.security.allowedDomains", "['*.a.org:8080']", "['x.a.org:8080']", NULL },
    { "sandbox.security.allowedDomains", "['[::1]:80']", "['[::1]:81']", HOSTS },
    { "sandbox.security.allowedDomains", "[a.org, b.org]", "[b.org, c.org]", HOSTS },
};

TEST(a_working_directorys_value_is_taken_exactly_when_it_is_tighter)
{
    for (size_t i = 0; i < ARRAY_LEN(tightening); i++) {
        const char *path = tightening[i].path, *file = tightening[i].file;
        const struct config_case c = { .file = file ? one_key(t, path, file) : NULL,
                                       .work = one_key(t, path, tightening[i].work) };
        const char *actual = outcome(t, &c, path), *wanted = " from work";

        if (tightening[i].refusal)
            wanted = arena_printf(&t->arena, ": `%s` would loosen what DATA/config.yaml says: %s",
                                  path, tightening[i].refusal);
        if (!strstr(actual, wanted))
            FAIL("%s: %s over %s gives\n  \"%s\", expected\n  \"%s\"", path, tightening[i].work,
                 file ? file : "nothing", actual, wanted);
    }
}

/* For every key outside the table of tightening: not even the value that holds already. */
TEST(every_other_key_is_refused_whatever_its_value)
{
    size_t n = 0;

    for (const struct config_field *f = config_fields; f->path; f++) {
        static const char *const by_kind[] = {
            [CONFIG_TEXT] = "x",    [CONFIG_BOOL] = "true",   [CONFIG_INT] = "1",
            [CONFIG_NUMBER] = "1",  [CONFIG_DURATION] = "1d", [CONFIG_BYTES] = "1MiB",
            [CONFIG_CHOICE] = NULL, [CONFIG_LIST] = "[]",     [CONFIG_RECORDS] = "[]",
        };
        const char *value = f->initial && f->kind != CONFIG_LIST ? f->initial : by_kind[f->kind];
        struct config_case c = { .file = NULL };

        if (f->tighten != CONFIG_NEVER)
            continue;
        if (strncmp(f->path, "connect.", 8) == 0 && strstr(f->path, "_url"))
            value = "https://x";
        if (f->secret)
            value = "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopq";
        c.work = one_key(
            t, f->path,
            arena_printf(&t->arena,
                         f->kind == CONFIG_LIST || f->kind == CONFIG_RECORDS ? "%s" : "'%s'",
                         value));
        ASSERT_CONTAINS(
            outcome(t, &c, f->path),
            arena_printf(&t->arena, "`%s` can't be set by a working directory", f->path));
        n++;
    }
    ASSERT(n >= 15);
}

TEST(every_mistake_of_a_working_directory_is_told_with_its_line)
{
    AUTO_CONFIG_PROBLEMS problems = { .n = 0 };
    AUTO(config)
    config = config_case_load(t,
                              &(struct config_case){ .work = "agent:\n"
                                                             "  name: Eve\n"
                                                             "sandbox:\n"
                                                             "  limits:\n"
                                                             "    timeout: 2h\n"
                                                             "    processes: 3\n"
                                                             "features:\n"
                                                             "  video: true\n" },
                              &problems);

    ASSERT(config == NULL);
    ASSERT_EQ(problems.n, 3);
    ASSERT_CONTAINS(config_problem_text(t, &problems, 0), "config.yaml:2:3: `agent.name` can't");
    ASSERT_CONTAINS(config_problem_text(t, &problems, 1),
                    "config.yaml:5:14: `sandbox.limits.timeout` would loosen");
    ASSERT_CONTAINS(config_problem_text(t, &problems, 2),
                    "config.yaml:8:10: `features.video` would loosen");
    ASSERT_CONTAINS(problems.items[0].file, "/work/.dormouse/config.yaml");
}

TEST(a_mistake_in_the_owners_file_is_told_before_the_working_directory_is_read)
{
    const struct config_case c = { .file = "zebra: 1\n", .work = "features: { video: true }\n" };

    ASSERT_CONTAINS(outcome(t, &c, "features.video"), "config.yaml:1:1: no key `zebra`");
}

TEST(a_limit_below_the_smallest_is_refused_in_every_source)
{
    static const char *const variables[] = { "DORMOUSE_SANDBOX_LIMITS_MEMORY=1B", NULL };
    const char *text = "sandbox:\n  limits:\n    memory: 1B\n";

    ASSERT_TEXT(outcome(t, &(struct config_case){ .work = text }, "sandbox.limits.memory"),
                "config.yaml:3:13: `sandbox.limits.memory` must be at least 1MiB");
    ASSERT_TEXT(
        outcome(t, &(struct config_case){ .variables = variables }, "sandbox.limits.memory"),
        "DORMOUSE_SANDBOX_LIMITS_MEMORY: `sandbox.limits.memory` must be at least "
        "1MiB");
}
