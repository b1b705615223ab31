/* The configuration: values, places of mistakes, merging, and the working directory's limits.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json_object.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config/config_int.h"
#include "config_test.h"

#define LOAD(...)                  config_case_load(t, &(struct config_case){ __VA_ARGS__ }, &problems)
#define ASSERT_WRONG(file_, text_) ASSERT_CONTAINS(config_wrong(t, file_), (text_))

static const char *first_problem(struct test *t, const struct config_case *c)
{
    AUTO_CONFIG_PROBLEMS problems = { .n = 0 };
    AUTO(config) config = config_case_load(t, c, &problems);

    return config ? "it is valid" : config_problem_text(t, &problems, 0);
}
#define PROBLEM(...) first_problem(t, &(struct config_case){ __VA_ARGS__ })

/* ---- values ---- */

TEST(without_any_source_the_defaults_hold)
{
    AUTO_CONFIG_PROBLEMS problems = { .n = 0 };
    AUTO(config) c = LOAD(.file = NULL);

    ASSERT(c != NULL);
    ASSERT_TEXT(c->agent_name, "Planner");
    ASSERT_TEXT(c->server_listen, "127.0.0.1:7117");
    ASSERT(c->server_token == NULL);
    ASSERT(c->sandbox_enabled);
    ASSERT_EQ(c->sandbox_timeout_ms, 30000);
    ASSERT_EQ(c->sandbox_memory_bytes, 1 << 30);
    ASSERT_EQ(c->sandbox_deny_read.n, 4);
    ASSERT_TEXT(c->sandbox_deny_read.items[0], "~/.ssh");
    ASSERT_EQ(c->scheduler_cooldown_ms, 1000);
    ASSERT_EQ(c->models.n, 0);
}

TEST(every_kind_of_value_is_read)
{
    AUTO_CONFIG_PROBLEMS problems = { .n = 0 };
    AUTO(config)
    c = LOAD(
            .file =
                "agent: { name: Ada, model: big }\n"
                "models:\n"
                "  - id: big\n"
                "    provider: anthropic\n"
                "    model: claude\n"
                "    base_url: https://api.example.org/v1\n"
                "    secret_ref: big-key\n"
                "    price: { input: 3, output: 15.5 }\n"
                "    privacy: { trains: true, jurisdiction: EU }\n"
                "  - { id: small, provider: offline }\n"
                "sandbox:\n"
                "  security: { allowedDomains: [a.org, '*.b.org'] }\n"
                "  limits: { timeout: 1500, memory: 64MiB }\n"
                "budget: { tool_calls_per_day: 7, cost_per_day: 0.5, all: { tokens_per_day: 9 } }\n"
                "scheduler: { cooldown: 0s }\n");

    ASSERT_TEXT(config_problem_text(t, &problems, 0), "");
    ASSERT_TEXT(c->agent_model, "big");
    ASSERT_EQ(c->models.n, 2);
    ASSERT_EQ(c->models.items[0].provider, CONFIG_ANTHROPIC);
    ASSERT_TEXT(c->models.items[0].secret_ref, "big-key");
    ASSERT(c->models.items[0].price_output == 15.5 && c->models.items[0].price_cached == 0);
    ASSERT(c->models.items[0].privacy_trains);
    ASSERT_TEXT(c->models.items[0].privacy_jurisdiction, "EU");
    ASSERT_EQ(c->models.items[1].provider, CONFIG_OFFLINE);
    ASSERT(c->models.items[1].base_url == NULL);
    ASSERT_TEXT(c->sandbox_allowed_domains.items[1], "*.b.org");
    ASSERT_EQ(c->sandbox_timeout_ms, 1500);
    ASSERT_EQ(c->sandbox_memory_bytes, 64 << 20);
    ASSERT_EQ(c->budget_tool_calls_per_day, 7);
    ASSERT_EQ(c->budget_all_tokens_per_day, 9);
    ASSERT(c->budget_cost_per_day == 0.5);
    ASSERT_EQ(c->scheduler_cooldown_ms, 0);
}

TEST(durations_and_sizes_have_units)
{
    int64_t n = 0;

    ASSERT_OK(config_parse_duration(STR("250ms"), &n, &t->err));
    ASSERT_EQ(n, 250);
    ASSERT_OK(config_parse_duration(STR("2d"), &n, &t->err));
    ASSERT_EQ(n, 172800000);
    ASSERT_OK(config_parse_bytes(STR("3KiB"), &n, &t->err));
    ASSERT_EQ(n, 3072);
    ASSERT_FAILS(config_parse_duration(STR("2 d"), &n, &t->err), ERR_BAD_REQUEST);
    ASSERT_FAILS(config_parse_duration(STR(""), &n, &t->err), ERR_BAD_REQUEST);
    ASSERT_FAILS(config_parse_duration(STR("s"), &n, &t->err), ERR_BAD_REQUEST);
    ASSERT_FAILS(config_parse_duration(STR("999999999999999999d"), &n, &t->err), ERR_BAD_REQUEST);
    ASSERT_FAILS(config_parse_bytes(STR("-1MiB"), &n, &t->err), ERR_BAD_REQUEST);
    ASSERT_FAILS(config_parse_bytes(STR("1MB"), &n, &t->err), ERR_BAD_REQUEST);
}

TEST(an_empty_file_is_no_mistake)
{
    AUTO_CONFIG_PROBLEMS problems = { .n = 0 };
    AUTO(config) empty = LOAD(.file = "", .work = "");
    AUTO(config) comment = LOAD(.file = "# nothing yet\n");

    ASSERT(empty != NULL && comment != NULL);
}

/* ---- mistakes ---- */

TEST(an_unknown_key_is_named_with_its_place_and_a_near_one)
{
    ASSERT_TEXT(config_wrong(t, "server:\n  listn: 127.0.0.1:1\n"),
                "config.yaml:2:3: no key `listn`; did you mean `listen`?");
    ASSERT_WRONG("agent: { name: x }\nzebra: 1\n",
                 "config.yaml:2:1: no key `zebra`; allowed here: agent, models, skills,");
    ASSERT_WRONG("models:\n  - id: a\n    provider: offline\n    base-url: x\n",
                 "config.yaml:4:5: no key `base-url`; did you mean `base_url`?");
    ASSERT_WRONG("a/b~c: 1\n", "config.yaml:1:1: no key `a/b~c`");
}

TEST(a_wrong_value_is_named_with_its_place_and_what_is_allowed)
{
    ASSERT_WRONG("server:\n  listen: 5\n", "config.yaml:2:11: `server.listen` must be a string");
    ASSERT_WRONG(
        "sandbox:\n  limits:\n    timeout: 3 weeks\n",
        "config.yaml:3:14: `sandbox.limits.timeout` must be a number with ms, s, m, h or d");
    ASSERT_WRONG("sandbox:\n  limits: { processes: 0 }\n",
                 "`sandbox.limits.processes` must be at least 1");
    ASSERT_WRONG("models: [ { id: a, provider: opnai } ]\n",
                 "must be one of openai, anthropic, functiongemma, offline, script");
    ASSERT_WRONG("models: [ { id: a } ]\n", "provider");
    ASSERT_WRONG("budget: { cost_per_day: 0 }\n", "`budget.cost_per_day`");
    ASSERT_WRONG("server: { token: short }\n", "must be 43 letters");
    ASSERT_WRONG("store: { url: mysql://x }\n", "must be `sqlite:` or begin with postgresql://");
    ASSERT_WRONG("models: [ { id: a, provider: openai, base_url: 'https://u:p@h/' } ]\n",
                 "hold no user name or password");
    ASSERT_WRONG("sandbox: { enabled: 'yes please' }\n", "`sandbox.enabled` must be");
    ASSERT_WRONG("agent: null\n", "`agent` must be");
}

/* They passed once and did nothing. */
TEST(a_key_that_nothing_reads_is_refused_with_a_sentence)
{
    static const char *const files[] = {
        "mcp: { servers: [] }\n",     "rules: { root: x }\n",
        "retention: { trace: 1d }\n", "features: { spawn: true }\n",
        "budget: { warn_at: 0.5 }\n", "budget: { runtime_per_day: 1h }\n",
    };

    for (size_t i = 0; i < ARRAY_LEN(files); i++)
        ASSERT_WRONG(files[i], "` does not exist yet: Dormouse would ignore it");
}

TEST(text_that_is_not_yaml_is_named_with_its_place)
{
    ASSERT_WRONG("server: [\n", "config.yaml:");
    ASSERT_WRONG("agent: { name: a }\nagent: { name: b }\n", "config.yaml:2:1: ");
    ASSERT_WRONG("- a\n- b\n", "config.yaml:1:1: must be keys with values, not array");
    ASSERT_WRONG("just text\n", "must be keys with values, not string");
}

TEST(several_mistakes_are_all_told)
{
    AUTO_CONFIG_PROBLEMS problems = { .n = 0 };
    AUTO(config) c = LOAD(.file = "zebra: 1\nserver: { listen: 1 }\nsandbox: { enabled: 3 }\n");
    char text[ERR_TEXT_MAX];

    ASSERT(c == NULL);
    ASSERT_EQ(problems.n, 3);
    ASSERT_CONTAINS(err_format(&t->err, text, sizeof(text)), "3 problems in the configuration");
    ASSERT_CONTAINS(text, "config.yaml:1:1: no key `zebra`");
}

TEST(very_many_mistakes_are_counted_not_listed)
{
    AUTO_CONFIG_PROBLEMS problems = { .n = 0 };
    char text[4096] = "";
    AUTO(config) c = NULL;

    for (int i = 0; i < 100; i++)
        sprintf(text + strlen(text), "unknown%d: 1\n", i);
    c = LOAD(.file = text);
    ASSERT(c == NULL);
    ASSERT_EQ(problems.n, CONFIG_PROBLEMS_MAX);
    ASSERT(problems.more >= 100 - CONFIG_PROBLEMS_MAX);
}

TEST(a_file_that_can_not_be_read_is_an_error)
{
    AUTO_CONFIG_PROBLEMS problems = { .n = 0 };
    const struct config_sources sources = { .data_dir = test_dir(t) };
    struct config *c = NULL;

    ASSERT_EQ(mkdir(test_path(t, "config.yaml"), 0700), 0);
    ASSERT_FAILS(config_load(&sources, &c, &problems, &t->err), ERR_BAD_REQUEST);
    ASSERT_EQ(problems.n, 1);
}

TEST(a_file_that_is_too_large_is_an_error)
{
    char *text = arena_alloc(&t->arena, 300001, 1);

    memset(text, '#', 300000);
    ASSERT_WRONG(text, "config.yaml");
}

/* ---- the whole ---- */

TEST(ids_must_be_unique)
{
    ASSERT_WRONG("models:\n  - { id: a, provider: offline }\n  - { id: a, provider: offline }\n",
                 "config.yaml:3:11: two models are called `a`");
}

TEST(the_agents_model_must_be_listed)
{
    ASSERT_WRONG("agent:\n  model: absent\n", "config.yaml:2:10: there is no model `absent`");
    ASSERT_CONTAINS(PROBLEM(VARIABLES("DORMOUSE_AGENT_MODEL=absent")),
                    "$DORMOUSE_AGENT_MODEL: there is no model `absent`");
}

TEST(a_secret_in_plain_sight_is_refused)
{
    static const char *const secrets[] = {
        "sk-proj-abcdefghijklmnopqrstuvwx0123456789",
        "ghp_abcdefghijklmnopqrstuvwxyz0123456789",
        "AKIAIOSFODNN7EXAMPLE",
        "a1b2c3d4e5f6a7b8c9d0e1f2a3b4c5d6",
    };

    for (size_t i = 0; i < ARRAY_LEN(secrets); i++) {
        const char *file = arena_printf(
            &t->arena, "models:\n  - id: a\n    provider: openai\n    secret_ref: %s\n",
            secrets[i]);
        const char *problem = config_wrong(t, file);

        ASSERT_CONTAINS(problem, "config.yaml:4:17: looks like a secret itself");
        ASSERT(strstr(problem, secrets[i]) == NULL);
    }
    ASSERT_TEXT(
        config_wrong(
            t, "models: [ { id: a, provider: openai, model: m, secret_ref: work/openai-key } ]\n"),
        "it is valid");
}

TEST(the_address_must_make_sense)
{
    ASSERT_WRONG("server:\n  listen: 127.0.0.1:99999\n", "config.yaml:2:11: ");
    ASSERT_WRONG("server:\n  listen: example.org:80\n", "config.yaml:2:11: ");
    ASSERT_TEXT(config_wrong(t, "server: { listen: '[::1]:0' }\n"), "it is valid");
}

/* ---- variables ---- */

TEST(variables_override_files)
{
    AUTO_CONFIG_PROBLEMS problems = { .n = 0 };
    AUTO(config)
    c = LOAD(.file = "server: { listen: 127.0.0.1:1 }\nagent: { name: File }\n",
             VARIABLES("DORMOUSE_SERVER_LISTEN=127.0.0.1:2", "HOME=/x",
                       "DORMOUSE_SANDBOX_ENABLED=no", "DORMOUSE_DATA=/d", "DORMOUSE_LOG=debug",
                       "DORMOUSE_TEST_DATA=/t", "DORMOUSE_BUDGET_COST_PER_DAY=0.5",
                       "DORMOUSE_SANDBOX_SECURITY_ALLOWEDDOMAINS=a.org, b.org",
                       "DORMOUSE_SCHEDULER_MAX_CONCURRENT_RUNS=7"));

    ASSERT_TEXT(config_problem_text(t, &problems, 0), "");
    ASSERT_TEXT(c->server_listen, "127.0.0.1:2");
    ASSERT_TEXT(c->agent_name, "File");
    ASSERT(!c->sandbox_enabled);
    ASSERT(c->budget_cost_per_day == 0.5);
    ASSERT_EQ(c->sandbox_allowed_domains.n, 2);
    ASSERT_TEXT(c->sandbox_allowed_domains.items[1], "b.org");
    ASSERT_EQ(c->scheduler_max_concurrent_runs, 7);
}

TEST(a_mistaken_variable_is_named)
{
    ASSERT_CONTAINS(PROBLEM(VARIABLES("DORMOUSE_SANDBOX_ENABLD=1")),
                    "DORMOUSE_SANDBOX_ENABLD: stands for no configuration key; did you mean "
                    "DORMOUSE_SANDBOX_ENABLED?");
    ASSERT_CONTAINS(PROBLEM(VARIABLES("DORMOUSE_XYZZY=1")),
                    "`dormouse config show` lists the keys");
    ASSERT_CONTAINS(PROBLEM(VARIABLES("DORMOUSE_SANDBOX_ENABLED=perhaps")),
                    "DORMOUSE_SANDBOX_ENABLED: sandbox.enabled must be true or false");
    ASSERT_CONTAINS(PROBLEM(VARIABLES("DORMOUSE_SCHEDULER_MAX_CONCURRENT_RUNS=many")),
                    "must be a whole number");
    ASSERT_CONTAINS(
        PROBLEM(VARIABLES("DORMOUSE_SCHEDULER_MAX_CONCURRENT_RUNS=1000")),
        "DORMOUSE_SCHEDULER_MAX_CONCURRENT_RUNS: `scheduler.max_concurrent_runs` must be");
    ASSERT_CONTAINS(PROBLEM(VARIABLES("DORMOUSE_BUDGET_COST_PER_DAY=inf")), "must be a number");
    ASSERT_CONTAINS(PROBLEM(VARIABLES("DORMOUSE_BUDGET_COST_PER_DAY=0x10")), "must be a number");
    ASSERT_CONTAINS(PROBLEM(VARIABLES("DORMOUSE_MODELS=x")), "can only be set in a file");
}

TEST(the_state_stores_two_variables_mean_the_address)
{
    AUTO_CONFIG_PROBLEMS problems = { .n = 0 };
    AUTO(config)
    c = LOAD(VARIABLES("STATE_STORE_BACKEND=postgres", "DATABASE_URL=postgresql://h/d"));
    AUTO(config)
    ours = LOAD(VARIABLES("STATE_STORE_BACKEND=postgres", "DATABASE_URL=postgresql://h/d",
                          "DORMOUSE_STORE_URL=postgresql://other/d"));
    AUTO(config) alone = LOAD(VARIABLES("DATABASE_URL=postgresql://h/d"));
    AUTO(config) sqlite = LOAD(VARIABLES("STATE_STORE_BACKEND=sqlite", "DATABASE_URL=x"));

    ASSERT_TEXT(c->store_url, "postgresql://h/d");
    ASSERT_TEXT(ours->store_url, "postgresql://other/d");
    ASSERT_TEXT(alone->store_url, "sqlite:");
    ASSERT_TEXT(sqlite->store_url, "sqlite:");
    ASSERT_CONTAINS(PROBLEM(VARIABLES("STATE_STORE_BACKEND=postgres")), "DATABASE_URL is not set");
    ASSERT_CONTAINS(PROBLEM(VARIABLES("STATE_STORE_BACKEND=oracle")), "`sqlite` or `postgres`");
    ASSERT_CONTAINS(PROBLEM(VARIABLES("STATE_STORE_BACKEND=postgres", "DATABASE_URL=nonsense")),
                    "DATABASE_URL: `store.url` must be");
}

/* ---- the working directory ---- */

TEST(a_working_directory_may_tighten)
{
    AUTO_CONFIG_PROBLEMS problems = { .n = 0 };
    AUTO(config)
    c = LOAD(.file = "sandbox:\n"
                     "  security: { allowWrite: [., /tmp/x], denyRead: [/secret], "
                     "allowedDomains: ['*.example.org', b.org] }\n"
                     "  limits: { timeout: 1m }\n",
             .work = "sandbox:\n"
                     "  enabled: true\n"
                     "  security:\n"
                     "    allowWrite: [./src, /tmp/x/y]\n"
                     "    denyRead: [.env]\n"
                     "    allowedDomains: [api.example.org, B.org]\n"
                     "  limits: { timeout: 10s, memory: 64MiB, processes: 4 }\n"
                     "budget: { tokens_per_day: 1000, all: { cost_per_day: 1 } }\n");

    ASSERT_TEXT(config_problem_text(t, &problems, 0), "");
    ASSERT_EQ(c->sandbox_allow_write.n, 2);
    ASSERT_TEXT(c->sandbox_allow_write.items[0], test_path(t, "work/src"));
    ASSERT_TEXT(c->sandbox_allow_write.items[1], "/tmp/x/y");
    ASSERT_EQ(c->sandbox_deny_read.n, 2);
    ASSERT_TEXT(c->sandbox_deny_read.items[0], "/secret");
    ASSERT_TEXT(c->sandbox_deny_read.items[1], ".env");
    ASSERT_EQ(c->sandbox_allowed_domains.n, 2);
    ASSERT_EQ(c->sandbox_timeout_ms, 10000);
    ASSERT_EQ(c->budget_tokens_per_day, 1000);
}

static void assert_refused(struct test *t, const char *file, const char *work, const char *text)
{
    const char *problem = PROBLEM(.file = file, .work = work);

    if (!strstr(problem, text))
        FAIL("%s\n  gives \"%s\",\n  which lacks \"%s\"", work, problem, text);
}

TEST(a_working_directory_may_not_loosen)
{
    static const char *const loosening[] = {
        "sandbox: { enabled: false }",
        "sandbox: { security: { allowWrite: [/] } }",
        "sandbox: { security: { allowWrite: [..] } }",
        "sandbox: { security: { allowWrite: [src/../../x] } }",
        "sandbox: { security: { allowWrite: ['~'] } }",
        "sandbox: { security: { allowWrite: ['~/x'] } }",
        "sandbox: { security: { allowedDomains: [evil.org] } }",
        "sandbox: { limits: { timeout: 1h } }",
        "sandbox: { limits: { memory: 2GiB } }",
        "sandbox: { limits: { processes: 65 } }",
    };

    for (size_t i = 0; i < ARRAY_LEN(loosening); i++)
        assert_refused(t, NULL, loosening[i], "would loosen");
    assert_refused(t, "budget: { tokens_per_day: 10 }", "budget: { tokens_per_day: 11 }",
                   "only a lower value is allowed here");
    assert_refused(t, "sandbox: { security: { allowedDomains: ['*.a.org'] } }",
                   "sandbox: { security: { allowedDomains: [a.org] } }", "only hosts");
    assert_refused(t, "sandbox: { security: { allowedDomains: [a.org] } }",
                   "sandbox: { security: { allowedDomains: ['*.a.org'] } }", "only hosts");
    assert_refused(t, "sandbox: { security: { allowWrite: [/tmp/x] } }",
                   "sandbox: { security: { allowWrite: [/tmp/xy] } }", "only places");
}

TEST(a_working_directory_may_not_redirect_or_add)
{
    static const char *const others[] = {
        "agent: { name: x }",
        "agent: { model: offline }",
        "models: [ { id: a, provider: offline } ]",
        "models: []",
        "skills: { root: x }",
        "server: { listen: '0.0.0.0:1' }",
        "server: { token: abcdefghijklmnopqrstuvwxyzabcdefghijklmnopq }",
        "store: { url: 'sqlite:' }",
        "scheduler: { lease: 5s }",
        "scheduler: { cooldown: 1h }",
        "scheduler: { max_concurrent_runs: 1 }",
    };

    for (size_t i = 0; i < ARRAY_LEN(others); i++)
        assert_refused(t, NULL, others[i],
                       "which may only tighten: move the key to DATA/config.yaml");
    assert_refused(t, NULL, "agent:\n  model: x\n", "config.yaml:2:3: `agent.model` can't be set");
}

TEST(a_data_directory_called_dormouse_overlays_nothing)
{
    const char *text = "agent: { name: Owner }\n";
    const struct config_sources sources = { .data_dir = test_path(t, ".dormouse"),
                                            .work_dir = test_dir(t) };
    AUTO(config) c = NULL;

    ASSERT_EQ(mkdir(sources.data_dir, 0700), 0);
    test_write_file(test_path(t, ".dormouse/config.yaml"), text, strlen(text));
    ASSERT_OK(config_load(&sources, &c, NULL, &t->err));
    ASSERT_TEXT(c->agent_name, "Owner");
}

/* The variables are those of the daemon, the directory is the run's. */
TEST(a_working_directory_tightens_what_variables_say)
{
    AUTO_CONFIG_PROBLEMS problems = { .n = 0 };
    AUTO(config)
    c = LOAD(.work = "sandbox: { limits: { timeout: 10s } }",
             VARIABLES("DORMOUSE_SANDBOX_LIMITS_TIMEOUT=1h"));

    ASSERT_EQ(c->sandbox_timeout_ms, 10000);
}

/* ---- showing ---- */

struct seen {
    const char *wanted;
    char value[256], origin[512];
    bool found;
};

static void see(void *arg, const char *key, struct json_object *value, const char *origin)
{
    struct seen *seen = arg;

    if (strcmp(key, seen->wanted) != 0)
        return;
    seen->found = true;
    snprintf(seen->value, sizeof(seen->value), "%s", value ? json_object_get_string(value) : "");
    snprintf(seen->origin, sizeof(seen->origin), "%s", origin);
}

TEST(every_key_is_shown_with_its_origin)
{
    AUTO_CONFIG_PROBLEMS problems = { .n = 0 };
    AUTO(config)
    c = LOAD(.file = "agent:\n  name: Ada\n"
                     "models: [ { id: a, provider: offline } ]\n"
                     "server:\n  token: abcdefghijklmnopqrstuvwxyzabcdefghijklmnopq\n",
             .work = "sandbox:\n  limits:\n    timeout: 5s\n",
             VARIABLES("DORMOUSE_STORE_URL=postgresql://u:hunter22@h/d"));
    struct seen seen = { .wanted = "agent.name" };

    ASSERT_TEXT(config_problem_text(t, &problems, 0), "");
    config_each(c, see, &seen);
    ASSERT_TEXT(seen.value, "Ada");
    ASSERT_CONTAINS(seen.origin, "/config.yaml:2");
    seen.wanted = "sandbox.limits.timeout";
    config_each(c, see, &seen);
    ASSERT_TEXT(seen.value, "5s");
    ASSERT_CONTAINS(seen.origin, "/.dormouse/config.yaml:3");
    seen.wanted = "models[0].provider";
    config_each(c, see, &seen);
    ASSERT_TEXT(seen.value, "offline");
    seen.wanted = "skills.root";
    config_each(c, see, &seen);
    ASSERT_TEXT(seen.origin, "default");
    seen.wanted = "server.token";
    config_each(c, see, &seen);
    ASSERT_TEXT(seen.value, "(set)");
    seen.wanted = "store.url";
    config_each(c, see, &seen);
    ASSERT_TEXT(seen.origin, "$DORMOUSE_STORE_URL");
    ASSERT(strstr(seen.value, "hunter22") == NULL);
}
