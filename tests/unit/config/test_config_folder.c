/* Which source of the configuration wins, and what a working directory's file may do, key by key.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json_object.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "config/config_int.h"
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

/* text without that part; changes it. */
static const char *without(char *text, const char *part)
{
    size_t n = strlen(part);

    for (char *at; (at = strstr(text, part));)
        memmove(at, at + n, strlen(at + n) + 1);
    return text;
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
    return arena_printf(&t->arena, "%s from %s", without(found.value, test_path(t, "work/")),
                        origin);
}

/* ---- precedence ---- */

/* A key that may be set everywhere, with a value of each source; shown: as JSON. Paths of the work
 * directory are shown without it. */
static const struct {
    const char *path, *file, *work, *variable;
    const char *shown[4]; /* default, file, work over the file, variable */
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
    { "sandbox.limits.files",
      "5000",
      "400",
      "DORMOUSE_SANDBOX_LIMITS_FILES=300000",
      { "200000", "5000", "400", "300000" } },
    { "sandbox.security.allowHome",
      "true",
      "false",
      "DORMOUSE_SANDBOX_SECURITY_ALLOWHOME=true",
      { "false", "true", "false", "true" } },
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
    { "sandbox.security.allowUnixSockets",
      "[a, b]",
      "[a]",
      "DORMOUSE_SANDBOX_SECURITY_ALLOWUNIXSOCKETS=/c",
      { "[]", "[\"a\",\"b\"]", "[\"a\"]", "[\"/c\"]" } },
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
    { "budget.all.tokens_per_day",
      "1000",
      "10",
      "DORMOUSE_BUDGET_ALL_TOKENS_PER_DAY=5000",
      { "", "1000", "10", "5000" } },
    { "budget.all.cost_per_day",
      "2.5",
      "1.5",
      "DORMOUSE_BUDGET_ALL_COST_PER_DAY=3.5",
      { "", "2.5", "1.5", "3.5" } },
    { "budget.all.tool_calls_per_day",
      "20",
      "10",
      "DORMOUSE_BUDGET_ALL_TOOL_CALLS_PER_DAY=30",
      { "", "20", "10", "30" } },
    { "budget.tool_calls_per_day",
      "20",
      "10",
      "DORMOUSE_BUDGET_TOOL_CALLS_PER_DAY=30",
      { "", "20", "10", "30" } },
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
        c.work = NULL;
        c.variables = variables;
        name = arena_copy(&t->arena, variables[0], strcspn(variables[0], "="));
        ASSERT_TEXT(outcome(t, &c, key),
                    arena_printf(&t->arena, "%s from $%s", sources[i].shown[3], name));
    }
}

TEST(the_table_of_sources_names_every_key_that_may_be_tightened)
{
    for (const struct config_field *f = config_fields; f->path; f++) {
        bool found = f->tighten == CONFIG_NEVER;

        for (size_t i = 0; i < ARRAY_LEN(sources) && !found; i++)
            found = strcmp(sources[i].path, f->path) == 0;
        if (!found)
            FAIL("%s may be tightened and is not in the table", f->path);
    }
}

/* ---- what counts as tighter ---- */

#define LOWER "only a lower value is allowed here"
#define PATHS "only places in this directory, or in those already allowed, may be named here"
#define HOSTS "only hosts already allowed may be named here"

/* file: the owner's value, NULL for none; refusal NULL: it is taken. */
static const struct {
    const char *path, *file, *work, *refusal;
} tightening[] = {
    { "sandbox.enabled", "false", "true", NULL },
    { "sandbox.security.allowHome", NULL, "false", NULL },
    { "sandbox.security.allowHome", "true", "true", "only false is allowed here" },
    { "sandbox.enabled", "false", "false", "only true is allowed here" },
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
    { "sandbox.limits.files", NULL, "200001", LOWER },
    { "budget.tokens_per_day", NULL, "1000000000000", NULL },
    { "budget.tokens_per_day", "5", "6", LOWER },
    { "budget.cost_per_day", NULL, "100", NULL },
    { "budget.cost_per_day", "0.5", "0.51", LOWER },
    { "budget.tool_calls_per_day", "7", "8", LOWER },
    { "sandbox.security.denyRead", NULL, "[]", NULL },
    { "sandbox.security.denyRead", "[]", "[/]", NULL },
    { "sandbox.security.allowUnixSockets", NULL, "[]", NULL },
    { "sandbox.security.allowUnixSockets", "[/a]", "[]", NULL },
    { "sandbox.security.allowUnixSockets", "[/a, /b]", "[/a]", NULL },
    { "sandbox.security.allowUnixSockets", NULL, "[/a]", PATHS },
    { "sandbox.security.allowUnixSockets", "[/a]", "[/b]", PATHS },
    { "sandbox.security.allowWrite", NULL, "[]", NULL },
    { "sandbox.security.allowWrite", NULL, "[./]", NULL },
    { "sandbox.security.allowWrite", NULL, "[.//a/]", NULL },
    { "sandbox.security.allowWrite", NULL, "[..a]", NULL },
    { "sandbox.security.allowWrite", NULL, "[a, /b]", PATHS },
    { "sandbox.security.allowWrite", NULL, "[./..]", PATHS },
    { "sandbox.security.allowWrite", NULL, "[a/..]", PATHS },
    { "sandbox.security.allowWrite", NULL, "['~root/x']", PATHS },
    { "sandbox.security.allowWrite", "[/]", "[/etc]", NULL },
    { "sandbox.security.allowWrite", "[/]", "[a]", NULL },
    { "sandbox.security.allowWrite", "[/a/]", "[/a]", NULL },
    { "sandbox.security.allowWrite", "[/a]", "[/a/]", NULL },
    { "sandbox.security.allowWrite", "[/a]", "[/A]", PATHS },
    { "sandbox.security.allowWrite", "[/a]", "[/]", PATHS },
    { "sandbox.security.allowWrite", "[a/b]", "[./a/b/c]", NULL },
    { "sandbox.security.allowWrite", "[a/b]", "[a]", NULL },
    { "sandbox.security.allowWrite", "['~']", "['~/x']", NULL },
    { "sandbox.security.allowWrite", "['~/x']", "['~']", PATHS },
    { "sandbox.security.allowWrite", "[../x]", "[../x]", NULL },
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
            wanted = tightening[i].refusal;
        if (!strstr(actual, wanted) ||
            !strstr(actual, tightening[i].refusal
                                ? arena_printf(&t->arena, "`%s` would loosen what holds", path)
                                : " from work"))
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
                         f->kind == CONFIG_TEXT || f->kind == CONFIG_DURATION ? "'%s'" : "%s",
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
                                                             "skills:\n"
                                                             "  root: x\n" },
                              &problems);

    ASSERT(config == NULL);
    ASSERT_EQ(problems.n, 3);
    ASSERT_CONTAINS(config_problem_text(t, &problems, 0), "config.yaml:2:3: `agent.name` can't");
    ASSERT_CONTAINS(config_problem_text(t, &problems, 1),
                    "config.yaml:5:14: `sandbox.limits.timeout` would loosen");
    ASSERT_CONTAINS(config_problem_text(t, &problems, 2), "config.yaml:8:3: `skills.root` can't");
    ASSERT_CONTAINS(problems.items[0].file, "/work/.dormouse/config.yaml");
}

TEST(a_mistake_in_the_owners_file_is_told_before_the_working_directory_is_read)
{
    const struct config_case c = { .file = "zebra: 1\n", .work = "skills: { root: x }\n" };

    ASSERT_CONTAINS(outcome(t, &c, "skills.root"), "config.yaml:1:1: no key `zebra`");
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

/* ---- places, where they lie ---- */

/* The writable places that hold for a run in a directory below the test's, one a line, relative to
 * it; or the first problem. Files: "DIR" and the text of its .dormouse/config.yaml. */
struct nested {
    const char *dir, *text;
};

static const char *holds_in(struct test *t, const char *owners, const char *dir,
                            const struct nested *files, size_t n)
{
    const char *data = test_path(t, "data"), *root = test_dir(t);
    AUTO_CONFIG_PROBLEMS problems = { .n = 0 };
    AUTO(config) base = NULL;
    AUTO(config) config = NULL;
    AUTO_BUF out = BUF_INIT(4096);

    mkdir(data, 0700);
    test_write_file(test_path(t, "data/config.yaml"), owners, strlen(owners));
    for (size_t i = 0; i < n; i++) {
        mkdir(test_path(t, files[i].dir), 0700);
        mkdir(arena_printf(&t->arena, "%s/.dormouse", test_path(t, files[i].dir)), 0700);
        test_write_file(
            arena_printf(&t->arena, "%s/.dormouse/config.yaml", test_path(t, files[i].dir)),
            files[i].text, strlen(files[i].text));
    }
    ASSERT_OK(config_load(&(struct config_sources){ .data_dir = data }, &base, NULL, &t->err));
    if (config_for_dir(base, data, test_path(t, dir), &config, &problems, NULL) < 0)
        return config_problem_text(t, &problems, 0);
    for (size_t i = 0; i < config->sandbox_allow_write.n; i++) {
        const char *path = config->sandbox_allow_write.items[i];

        buf_printf(&out, "%s%s", out.n ? " " : "",
                   strncmp(path, root, strlen(root)) == 0 ? path + strlen(root) : path);
    }
    buf_printf(&out, " in %lld", (long long)config->sandbox_timeout_ms);
    return arena_text(&t->arena, buf_text(&out));
}
#define HOLDS(owners, dir, ...)                                                                    \
    holds_in(t, owners, dir, (const struct nested[]){ __VA_ARGS__ },                               \
             sizeof((const struct nested[]){ __VA_ARGS__ }) / sizeof(struct nested))

TEST(a_link_in_a_directory_opens_nothing_outside_of_it)
{
    const char *text = "sandbox: { security: { allowWrite: [out] } }\n";

    mkdir(test_path(t, "p"), 0700);
    ASSERT_EQ(symlink("..", test_path(t, "p/out")), 0);
    ASSERT_CONTAINS(HOLDS("", "p", { "p", text }), "would loosen what holds without this file");
    ASSERT_CONTAINS(HOLDS("", "p", { "p", text }), "out leads to ");
    unlink(test_path(t, "p/out"));
    mkdir(test_path(t, "p/in"), 0700);
    ASSERT_EQ(symlink("in", test_path(t, "p/out")), 0);
    ASSERT_TEXT(HOLDS("", "p", { "p", text }), "/p/in in 30000");
    /* An absolute path through a link, and one that the owner allowed. */
    ASSERT_EQ(symlink("/", test_path(t, "p/root")), 0);
    ASSERT_CONTAINS(HOLDS("", "p", { "p", "sandbox: { security: { allowWrite: [root/tmp] } }" }),
                    "root/tmp leads to /tmp");
    ASSERT_TEXT(HOLDS("sandbox: { security: { allowWrite: [., /usr] } }", "p",
                      { "p", "sandbox: { security: { allowWrite: [root/usr/bin] } }" }),
                "/usr/bin in 30000");
}

TEST(a_link_at_the_name_of_a_writable_place_refuses_the_run)
{
    mkdir(test_path(t, "p"), 0700);
    ASSERT_EQ(symlink("..", test_path(t, "p/out")), 0);
    ASSERT_CONTAINS(HOLDS("sandbox: { security: { allowWrite: [out] } }", "p", { "q", "" }),
                    "out is a link in ");
    ASSERT_CONTAINS(
        HOLDS(arena_printf(&t->arena, "sandbox: { security: { allowWrite: [., %s/out] } }",
                           test_path(t, "p")),
              "p", { "q", "" }),
        "/p/out is a link in ");
    /* What the owner wrote is meant. */
    ASSERT_TEXT(HOLDS("sandbox: { security: { allowWrite: [., ../q] } }", "p", { "q", "" }),
                "/p /q in 30000");
}

TEST(a_link_at_the_name_of_a_socket_refuses_the_run)
{
    mkdir(test_path(t, "p"), 0700);
    ASSERT_EQ(symlink("../q", test_path(t, "p/s")), 0);
    ASSERT_CONTAINS(HOLDS("sandbox: { security: { allowUnixSockets: [s] } }", "p", { "q", "" }),
                    "`sandbox.security.allowUnixSockets`: s is a link in ");
    ASSERT_CONTAINS(
        HOLDS(arena_printf(&t->arena, "sandbox: { security: { allowUnixSockets: [%s/s] } }",
                           test_path(t, "p")),
              "p", { "q", "" }),
        "/p/s is a link in ");
    ASSERT_CONTAINS(HOLDS("sandbox: { security: { allowUnixSockets: [/run/s] } }", "p",
                          { "p", "sandbox: { security: { allowUnixSockets: [/run/t] } }" }),
                    "`sandbox.security.allowUnixSockets` would loosen");
}

TEST(every_directory_above_a_run_tightens_it)
{
    const char *all = "sandbox: { limits: { timeout: 20s } }";

    ASSERT_TEXT(HOLDS("", "a", { "a", all }), "/a in 20000");
    ASSERT_TEXT(HOLDS("", "a/b", { "a", all }, { "a/b", "" }), "/a/b in 20000");
    ASSERT_TEXT(HOLDS("", "a/b", { "a", all }, { "a/b", "sandbox: { limits: { timeout: 9s } }" }),
                "/a/b in 9000");
    ASSERT_CONTAINS(
        HOLDS("", "a/b", { "a", all }, { "a/b", "sandbox: { limits: { timeout: 21s } }" }),
        "config.yaml:1:31: `sandbox.limits.timeout` would loosen");
    ASSERT_CONTAINS(HOLDS("", "a/b", { "a", "zebra: 1" }, { "a/b", "" }),
                    "config.yaml:1:1: no key `zebra`");
    /* Not what lies beside it or below. */
    ASSERT_TEXT(HOLDS("", "a2", { "a2", "" }, { "a2/b", "zebra: 1" }), "/a2 in 30000");
}

TEST(places_of_several_directories_are_intersected)
{
    const char *here = "sandbox: { security: { allowWrite: [.] } }";
    const char *out = "sandbox: { security: { allowWrite: [out] } }";

    ASSERT_TEXT(HOLDS("", "a/b", { "a", here }, { "a/b", "" }), "/a/b in 30000");
    ASSERT_TEXT(HOLDS("", "a/b", { "a", here }, { "a/b", out }), "/a/b/out in 30000");
    ASSERT_TEXT(HOLDS("", "a/b", { "a", out }, { "a/b", "" }), " in 30000");
    ASSERT_TEXT(HOLDS("", "a/b", { "a", out }, { "a/b", here }), " in 30000");
    ASSERT_TEXT(HOLDS("", "a", { "a", "sandbox: { security: { allowWrite: [x, x/y, out] } }" }),
                "/a/x /a/x/y /a/out in 30000");
}

TEST(what_is_denied_counts_from_the_files_directory_by_name_and_by_place)
{
    const char *data = test_path(t, "data"), *dir;
    const char *text = "sandbox: { security: { denyRead: [./keys, .netrc] } }";
    AUTO(config) base = NULL;
    AUTO(config) config = NULL;

    mkdir(data, 0700);
    mkdir(test_path(t, "p"), 0700);
    dir = test_path(t, "p/sub");
    mkdir(dir, 0700);
    mkdir(test_path(t, "safe"), 0700);
    ASSERT_EQ(symlink("../safe", test_path(t, "p/keys")), 0);
    mkdir(test_path(t, "p/.dormouse"), 0700);
    test_write_file(test_path(t, "p/.dormouse/config.yaml"), text, strlen(text));
    ASSERT_OK(config_load(&(struct config_sources){ .data_dir = data }, &base, NULL, &t->err));
    ASSERT_OK(config_for_dir(base, data, dir, &config, NULL, &t->err));
    ASSERT_EQ(config->sandbox_deny_read.n, 7);
    ASSERT_TEXT(config->sandbox_deny_read.items[4], test_path(t, "p/keys"));
    ASSERT_TEXT(config->sandbox_deny_read.items[5], test_path(t, "safe"));
    ASSERT_TEXT(config->sandbox_deny_read.items[6], ".netrc");
}

TEST(somebodys_data_directory_called_dormouse_tightens_nothing)
{
    mkdir(test_path(t, "h"), 0700);
    mkdir(test_path(t, "h/.dormouse"), 0700);
    test_write_file(test_path(t, "h/.dormouse/lock"), "", 0);
    ASSERT_TEXT(HOLDS("", "h", { "h", "agent: { name: Owner }" }), "/h in 30000");
}
