/* Configured models as the gateway gets them.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cli/models.h"
#include "db/migrations.h"
#include "loop/dns.h"
#include "loop/http_retry.h"
#include "policy/secret.h"
#include "unit/config/config_test.h"

static const char file[] =
    "models:\n"
    "  - { id: far, provider: anthropic, model: claude, secret_ref: k, context_tokens: 9000,\n"
    "      price: { input: 3, output: 15, cached: 0.3 },\n"
    "      privacy: { policy_version: v1, trains: true, retention: 30 days, jurisdiction: EU } }\n"
    "  - { id: near, provider: openai, base_url: 'http://127.0.0.1:1/v1' }\n"
    "  - { id: play, provider: script, script: s.yaml }\n"
    "  - { id: own, provider: functiongemma, server: llama-server, gguf: ~/w.gguf }\n"
    "  - { id: own2, provider: functiongemma, server: ./bin/server, gguf: /w.gguf }\n";

static struct config *load(struct test *t)
{
    AUTO_CONFIG_PROBLEMS problems = { .n = 0 };
    struct config *config = config_case_load(t, &(struct config_case){ .file = file }, &problems);

    ASSERT_TEXT(config_problem_text(t, &problems, 0), "");
    return config;
}

TEST(models_of_the_configuration_become_specs)
{
    AUTO(config) config = load(t);
    AUTO_MODELS models = { .n = 0 };
    const struct model_spec *far;

    setenv("HOME", "/home/ada", 1);
    models_init(&models, config, "/data");
    ASSERT_EQ(models.n, 5);
    far = models_find(&models, "far");
    ASSERT_TEXT(far->provider, "anthropic");
    ASSERT_TEXT(far->model, "claude");
    ASSERT_TEXT(far->secret_ref, "k");
    ASSERT_EQ(far->context_tokens, 9000);
    ASSERT(far->price_input == 3 && far->price_output == 15 && far->price_cached == 0.3);
    ASSERT(far->privacy_trains);
    ASSERT_TEXT(far->policy_version, "v1");
    ASSERT_TEXT(far->jurisdiction, "EU");
    ASSERT_TEXT(models_find(&models, "near")->base_url, "http://127.0.0.1:1/v1");
    ASSERT_TEXT(models_find(&models, "play")->script_path, "/data/s.yaml");
    ASSERT_TEXT(models_find(&models, "own")->server_path, "llama-server");
    ASSERT_TEXT(models_find(&models, "own")->gguf_path, "/home/ada/w.gguf");
    ASSERT_TEXT(models_find(&models, "own2")->server_path, "/data/./bin/server");
    ASSERT_TEXT(models_find(&models, "own2")->gguf_path, "/w.gguf");
    ASSERT_TEXT(models_find(&models, "offline")->provider, "offline");
    ASSERT(models_find(&models, "none") == NULL);
}

TEST(terms_name_where_text_would_go)
{
    AUTO(config) config = load(t);
    AUTO_MODELS models = { .n = 0 };
    struct consent_terms terms;

    models_init(&models, config, "/data");
    models_terms(models_find(&models, "far"), &t->arena, &terms);
    ASSERT_TEXT(terms.model_id, "far");
    ASSERT_TEXT(terms.host, "api.anthropic.com");
    ASSERT_TEXT(terms.policy_version, "v1");
    ASSERT_TEXT(terms.retention, "30 days");
    ASSERT(terms.trains);
    ASSERT_TEXT(models_where(models_find(&models, "near"), &t->arena), "this machine");
    models_terms(models_find(&models, "near"), &t->arena, &terms);
    ASSERT_TEXT(terms.policy_version, ""); /* not NULL: receipts hold all facts */
}

TEST(consent_counts_until_the_configuration_says_something_else)
{
    AUTO(config) config = load(t);
    AUTO_MODELS models = { .n = 0 };
    AUTO(domain) agent = NULL;
    struct models_access access = { .agent = NULL };
    struct domain_config how = { .name = "agent",
                                 .url = arena_printf(&t->arena, "sqlite:%s",
                                                     test_path(t, "agent.sqlite")),
                                 .migrations = migrations_agent,
                                 .migration_count = migrations_agent_count };
    struct consent_terms terms;
    struct model_spec far;

    models_init(&models, config, "/data");
    far = *models_find(&models, "far");
    ASSERT_FAILS(models_consent(&access, &far, &t->err), ERR_PRIVACY_CONFIRMATION_REQUIRED);
    ASSERT_CONTAINS(test_err_text(t), "dormouse model consent far");
    ASSERT_OK(domain_open(&how, &agent, &t->err));
    access.agent = agent;
    ASSERT_FAILS(models_consent(&access, &far, &t->err), ERR_PRIVACY_CONFIRMATION_REQUIRED);
    models_terms(&far, &t->arena, &terms);
    ASSERT_OK(domain_begin(agent, &t->err));
    ASSERT_OK(consent_give(agent, &terms, "owner", 1, &t->err));
    ASSERT_OK(domain_commit(agent, &t->err));
    ASSERT_OK(models_consent(&access, &far, &t->err));
    far.policy_version = "v2";
    ASSERT_FAILS(models_consent(&access, &far, &t->err), ERR_PRIVACY_CONFIRMATION_REQUIRED);
    ASSERT_CONTAINS(test_err_text(t), "under terms v2");
    far = *models_find(&models, "far");
    far.base_url = "https://elsewhere.example/";
    ASSERT_FAILS(models_consent(&access, &far, &t->err), ERR_PRIVACY_CONFIRMATION_REQUIRED);
}

/* ---- with a gateway, from the question to the packet that does not leave ---- */

/* Counts names that are looked up: the first thing that would leave this machine. */
struct spy {
    struct dns_resolver resolver; /* first */
    unsigned lookups;
};

static int spy_start(struct dns_resolver *resolver, struct dns_lookup *lookup, struct err *err)
{
    (void)lookup;
    ((struct spy *)resolver)->lookups++;
    return err_set(err, ERR_PROVIDER_FAILED, "nothing is resolved here");
}

static void spy_cancel(struct dns_resolver *resolver, struct dns_lookup *lookup)
{
    (void)resolver, (void)lookup;
}

struct house {
    struct test *t;
    struct loop *loop;
    struct domain *agent;
    struct models_access access;
    struct spy spy;
    enum err_code outcome;
};

static void on_done(void *arg, const struct model_reply *reply, const struct err *err,
                    int64_t retry_after_ms)
{
    struct house *house = arg;

    (void)reply, (void)retry_after_ms;
    house->outcome = err ? err->code : ERR_NONE;
    loop_stop(house->loop);
}

/* One question under these terms, as a daemon would ask it that was started with them. */
static enum err_code ask_under(struct house *house, const struct model_spec *spec)
{
    static const struct model_message hello = { .role = MODEL_USER, .text = { "Hello", 5 } };
    static const struct model_sink sink = { .on_done = on_done };
    static const struct http_retry_policy once = { .max_attempts = 1 };
    const struct model_request request = { .model_id = spec->id,
                                           .messages = &hello,
                                           .message_count = 1 };
    struct http_client *http =
        http_client_new(house->loop, &(struct http_options){ .resolver = &house->spy.resolver });
    const struct model_gateway_config config = { .loop = house->loop,
                                                 .models = spec,
                                                 .model_count = 1,
                                                 .http = http,
                                                 .retry = &once,
                                                 .consent = models_consent,
                                                 .arg = &house->access };
    struct test *t = house->t;
    struct model_gateway *gateway = NULL;
    struct model_exchange *x;
    struct err err = ERR_INIT;

    house->outcome = ERR_NONE;
    ASSERT_OK(model_gateway_new(&config, &gateway, &t->err));
    if (model_start(gateway, &request, &sink, house, &x, &err) < 0)
        house->outcome = err.code;
    else
        ASSERT_OK(loop_run(house->loop, &t->err));
    model_gateway_free(gateway);
    http_client_free(http);
    return house->outcome;
}

static void agree_to(struct house *house, const struct model_spec *spec)
{
    struct test *t = house->t;
    struct consent_terms terms;

    models_terms(spec, &t->arena, &terms);
    ASSERT_OK(domain_begin(house->agent, &t->err));
    ASSERT_OK(consent_give(house->agent, &terms, "owner", 1, &t->err));
    ASSERT_OK(domain_commit(house->agent, &t->err));
}

TEST(every_change_of_the_terms_asks_again_before_a_name_is_looked_up)
{
    AUTO(config) config = load(t);
    AUTO_MODELS models = { .n = 0 };
    struct house house = { .t = t,
                           .spy = { .resolver = { .start = spy_start, .cancel = spy_cancel } } };
    struct domain_config how = { .name = "agent",
                                 .url = arena_printf(&t->arena, "sqlite:%s",
                                                     test_path(t, "agent.sqlite")),
                                 .migrations = migrations_agent,
                                 .migration_count = migrations_agent_count };
    struct model_spec versions[6];

    models_init(&models, config, "/data");
    for (size_t i = 0; i < ARRAY_LEN(versions); i++) {
        versions[i] = *models_find(&models, "far");
        versions[i].secret_ref = NULL;
    }
    versions[1].policy_version = "v2";
    versions[2].base_url = "https://elsewhere.example";
    versions[3].retention = "for ever";
    versions[4].jurisdiction = "nowhere";
    versions[5].privacy_trains = false;
    ASSERT_OK(domain_open(&how, &house.agent, &t->err));
    ASSERT_OK(loop_new(NULL, &house.loop, &t->err));
    house.access.agent = house.agent;
    for (size_t i = 0; i < ARRAY_LEN(versions); i++) {
        ASSERT_EQ(house.spy.lookups, i);
        ASSERT_EQ(ask_under(&house, &versions[i]), ERR_PRIVACY_CONFIRMATION_REQUIRED);
        ASSERT_EQ(house.spy.lookups, i);
        agree_to(&house, &versions[i]);
        ASSERT_EQ(ask_under(&house, &versions[i]), ERR_PROVIDER_FAILED); /* the spy's own word */
        ASSERT_EQ(house.spy.lookups, i + 1);
    }
    ASSERT_OK(domain_begin(house.agent, &t->err));
    ASSERT_OK(consent_withdraw(house.agent, "far", 2, &t->err));
    ASSERT_OK(domain_commit(house.agent, &t->err));
    ASSERT_EQ(ask_under(&house, &versions[5]), ERR_PRIVACY_CONFIRMATION_REQUIRED);
    ASSERT_EQ(house.spy.lookups, ARRAY_LEN(versions));
    loop_free(house.loop);
    domain_free(house.agent);
}

TEST(a_secret_that_is_not_there_is_named)
{
    struct models_access access = { .secrets = NULL };
    AUTO_BUF out = BUF_INIT(100);

    ASSERT_FAILS(models_secret(&access, "big-key", &out, &t->err), ERR_SECRET_UNAVAILABLE);
    ASSERT_CONTAINS(test_err_text(t), "dormouse secret set big-key");
    ASSERT_EQ(out.n, 0);
}
