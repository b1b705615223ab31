/* The gateway itself: which model, with whose consent, how it is cancelled and counted.
 *
 * SPDX-License-Identifier: MIT
 */
#include "model_rig.h"

#define CHUNK(text) "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"" text "\"}}]}\n\n"
#define END         "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"
#define SAYS(body_) ((const struct say[]){ { 200, NULL, body_ }, { 0 } })

static const struct model_message hello = { .role = MODEL_USER, .text = { "Hello", 5 } };
static const struct model_request simple = { .model_id = "m",
                                             .messages = &hello,
                                             .message_count = 1 };

static void never_done(void *arg, const struct model_reply *reply, const struct err *err,
                       int64_t retry_after_ms)
{
    (void)arg, (void)reply, (void)err, (void)retry_after_ms;
    FAIL("done, although it never started");
}
static const struct model_sink never = { .on_done = never_done };

/* ---- where text may go ---- */

TEST(a_model_is_local_by_where_its_text_goes)
{
    static const struct {
        const char *provider, *url;
        bool local;
    } cases[] = {
        { "offline", NULL, true },
        { "script", NULL, true },
        { "call", NULL, true },
        { "functiongemma", NULL, true },
        { "openai", NULL, false },
        { "anthropic", NULL, false },
        { "openai", "http://127.0.0.1:8080/v1", true },
        { "openai", "http://127.9.9.9/", true },
        { "openai", "http://[::1]:8080/v1", true },
        { "openai", "http://localhost:11434/v1", true },
        { "openai", "http://LocalHost/v1", true },
        { "openai", "http://2130706433/", true }, /* 127.0.0.1 in another spelling */
        { "openai", "http://[::ffff:127.0.0.1]/", true },
        { "openai", "http://192.168.1.5:8080/v1", false },
        { "openai", "http://0.0.0.0:8080/", false },
        { "openai", "https://localhost.example.org/", false },
        { "openai", "https://127.0.0.1.nip.io/", false },
        { "openai", "https://api.example.org/localhost", false },
        { "functiongemma", "http://10.0.0.1:8080", false },
        { "openai", "https://user@127.0.0.1:9/", true },
        { "openai", "https://127.0.0.1@evil.example/", false },
        { "openai", "nonsense", false },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct model_spec spec = { .id = "x",
                                   .provider = cases[i].provider,
                                   .base_url = cases[i].url };

        if (model_spec_is_local(&spec) != cases[i].local)
            FAIL("%s %s", cases[i].provider, cases[i].url ? cases[i].url : "");
    }
    ASSERT_STR(model_url_host("https://api.example.org:8443/v1?x=http://b/"), "api.example.org");
    ASSERT_STR(model_url_host("http://[2001:db8::1]:80/"), "[2001:db8::1]");
    ASSERT_TEXT(model_default_url("openai"), "https://api.openai.com/v1");
    ASSERT(model_default_url("call") == NULL && model_default_url("none") == NULL);
}

/* Counts who asks for a name. */
struct spy {
    struct dns_resolver resolver; /* first */
    unsigned lookups;
    struct http_client *client;
};
static struct spy spy;

static int spy_start(struct dns_resolver *resolver, struct dns_lookup *lookup, struct err *err)
{
    (void)lookup;
    ((struct spy *)resolver)->lookups++;
    return err_set(err, ERR_PROVIDER_FAILED, "the spy resolves nothing");
}

static void spy_cancel(struct dns_resolver *resolver, struct dns_lookup *lookup)
{
    (void)resolver, (void)lookup;
}

static void far_away(struct model_rig *rig, struct model_gateway_config *config)
{
    static const struct http_retry_policy once = { .max_attempts = 1 };

    spy = (struct spy){ .resolver = { .start = spy_start, .cancel = spy_cancel } };
    spy.client = http_client_new(rig->loop, &(struct http_options){ .resolver = &spy.resolver });
    config->http = spy.client;
    config->retry = &once;
    rig->spec.base_url = "https://models.example.org/v1";
}

TEST(without_consent_not_even_a_name_is_looked_up)
{
    struct model_rig rig;
    struct model_exchange *x;
    struct ask ask = ASK_INIT;

    model_rig_open(&rig, t, "openai", NULL, far_away);
    ASSERT_FAILS(model_start(rig.gateway, &simple, &never, NULL, &x, &t->err),
                 ERR_PRIVACY_CONFIRMATION_REQUIRED);
    ASSERT_EQ(rig.consents, 1);
    ASSERT_EQ(spy.lookups, 0);
    ASSERT_EQ(rig.secrets, 0);
    /* With it the name is: so the spy sees. */
    rig.consent = true;
    ask_run(&ask, &rig, NULL);
    ASSERT_ASK_FAILED(&ask, ERR_PROVIDER_FAILED);
    ASSERT_EQ(spy.lookups, 1);
    ASSERT_EQ(rig.consents, 2); /* asked for every request */
    ask_release(&ask);
    /* And withdrawn it stops. */
    rig.consent = false;
    ASSERT_FAILS(model_start(rig.gateway, &simple, &never, NULL, &x, &t->err),
                 ERR_PRIVACY_CONFIRMATION_REQUIRED);
    ASSERT_EQ(spy.lookups, 1);
    model_gateway_free(TAKE(rig.gateway));
    http_client_free(spy.client);
    model_rig_close(&rig);
}

static void nobody_to_ask(struct model_rig *rig, struct model_gateway_config *config)
{
    far_away(rig, config);
    config->consent = NULL;
}

TEST(where_nobody_can_be_asked_nobody_has_agreed)
{
    struct model_rig rig;
    struct model_exchange *x;

    model_rig_open(&rig, t, "anthropic", NULL, nobody_to_ask);
    ASSERT_FAILS(model_start(rig.gateway, &simple, &never, NULL, &x, &t->err),
                 ERR_PRIVACY_CONFIRMATION_REQUIRED);
    ASSERT_CONTAINS(test_err_text(t), "dormouse model consent m");
    ASSERT_EQ(spy.lookups, 0);
    model_gateway_free(TAKE(rig.gateway));
    http_client_free(spy.client);
    model_rig_close(&rig);
}

TEST(a_model_on_this_machine_needs_no_consent)
{
    struct model_rig rig;
    struct ask ask = ASK_INIT;

    model_rig_open(&rig, t, "openai", SAYS(CHUNK("a") END), NULL);
    ask_run(&ask, &rig, NULL);
    ASSERT_REPLIED(&ask, MODEL_STOP_END);
    ASSERT_EQ(rig.consents, 0);
    ask_release(&ask);
    model_rig_close(&rig);
}

/* ---- requests that can't be ---- */

TEST(a_request_that_cant_be_is_refused_at_once)
{
    static const struct model_tool bad_tool = { .name = { "f", 1 },
                                                .input_schema = { "not json", 8 } };
    static const struct model_message no_role = { .text = { "x", 1 } };
    struct model_request request = simple;
    struct model_rig rig;
    struct model_exchange *x;

    model_rig_open(&rig, t, "openai", SAYS(CHUNK("a") END), NULL);
    request.model_id = "unknown";
    ASSERT_FAILS(model_start(rig.gateway, &request, &never, NULL, &x, &t->err),
                 ERR_MODEL_NOT_ALLOWED);
    ASSERT_CONTAINS(test_err_text(t), "there is no model \"unknown\"");
    request.model_id = NULL;
    ASSERT_FAILS(model_start(rig.gateway, &request, &never, NULL, &x, &t->err),
                 ERR_MODEL_NOT_ALLOWED);
    request = simple;
    request.message_count = 0;
    ASSERT_FAILS(model_start(rig.gateway, &request, &never, NULL, &x, &t->err), ERR_BAD_REQUEST);
    request = simple;
    request.tools = &bad_tool;
    request.tool_count = 1;
    ASSERT_FAILS(model_start(rig.gateway, &request, &never, NULL, &x, &t->err), ERR_BAD_REQUEST);
    ASSERT_CONTAINS(test_err_text(t), "tool f");
    request = simple;
    request.messages = &no_role;
    ASSERT_FAILS(model_start(rig.gateway, &request, &never, NULL, &x, &t->err), ERR_BAD_REQUEST);
    ASSERT_EQ(rig.peer.shared->requests, 0);
    model_rig_close(&rig);
}

TEST(a_gateway_refuses_specs_that_cant_be)
{
    static const struct model_spec unknown = { .id = "a", .provider = "telepathy" };
    static const struct model_spec none = { .id = "a" };
    static const struct model_spec twice[] = { { .id = "a", .provider = "openai" },
                                               { .id = "a", .provider = "anthropic" } };
    struct clock_fake clock;
    AUTO(loop) loop = NULL;
    struct model_gateway *gateway = NULL;
    struct model_gateway_config config = { .models = &unknown, .model_count = 1 };

    clock_fake_init(&clock, 0);
    config.loop = loop = loop_new_fake(&clock);
    ASSERT_FAILS(model_gateway_new(&config, &gateway, &t->err), ERR_BAD_REQUEST);
    ASSERT_CONTAINS(test_err_text(t), "no provider \"telepathy\"");
    config.models = &none;
    ASSERT_FAILS(model_gateway_new(&config, &gateway, &t->err), ERR_BAD_REQUEST);
    config.models = twice;
    config.model_count = 2;
    ASSERT_FAILS(model_gateway_new(&config, &gateway, &t->err), ERR_BAD_REQUEST);
    ASSERT_CONTAINS(test_err_text(t), "used twice");
    config.model_count = 1;
    ASSERT_OK(model_gateway_new(&config, &gateway, &t->err));
    ASSERT_TEXT(model_spec_find(gateway, "a")->provider, "openai");
    ASSERT(model_spec_find(gateway, "b") == NULL);
    model_gateway_free(gateway);
    model_gateway_free(NULL);
}

/* ---- cancelling ---- */

static int answers(void *call_arg, const struct model_request *request,
                   const struct model_sink *sink, void *arg, struct err *err)
{
    const struct model_reply reply = { .text = str_from(call_arg), .stop = MODEL_STOP_END };

    (void)request, (void)err;
    sink->on_done(arg, &reply, NULL, -1);
    return 0;
}

TEST(a_model_that_was_added_answers_beside_those_under_way)
{
    static char here[] = "here";
    const struct model_spec late = {
        .id = "late", .provider = "call", .call = answers, .call_arg = here
    };
    const struct model_request request = { .model_id = "late",
                                           .messages = &hello,
                                           .message_count = 1 };
    struct model_rig rig;
    struct ask first = ASK_INIT, second = ASK_INIT;
    size_t n;

    model_rig_open(&rig, t, "openai", SAYS(CHUNK("there") END), NULL);
    ask_start(&first, &rig, &simple);
    ASSERT_EQ(model_start(rig.gateway, &request, &never, NULL, &(struct model_exchange *){ NULL },
                          &t->err),
              -1);
    ASSERT_EQ(t->err.code, ERR_MODEL_NOT_ALLOWED);
    ASSERT_OK(model_gateway_add(rig.gateway, &late, &t->err));
    ask_run(&second, &rig, &request);
    ASSERT(str_is(second.text, "here"));
    rig_wait(&rig);
    ASSERT(str_is(first.text, "there"));
    ask_release(&first);
    ask_release(&second);
    ASSERT_TEXT(model_specs(rig.gateway, &n)[n - 1].id, "late");
    ASSERT_FAILS(model_gateway_add(rig.gateway, &late, &t->err), ERR_CONFLICT);
    model_rig_close(&rig);
}

TEST(models_are_added_up_to_a_number_and_not_when_they_cant_be)
{
    const struct model_spec nonsense = { .id = "nonsense", .provider = "nobody" };
    struct model_rig rig;
    size_t before, after;

    model_rig_open(&rig, t, "openai", SAYS(END), NULL);
    model_specs(rig.gateway, &before);
    ASSERT_FAILS(model_gateway_add(rig.gateway, &nonsense, &t->err), ERR_BAD_REQUEST);
    for (int i = 0; i < MODEL_ADDED_MAX; i++) {
        struct model_spec spec = { .id = arena_printf(&t->arena, "m%d", i), .provider = "offline" };

        ASSERT_OK(model_gateway_add(rig.gateway, &spec, &t->err));
    }
    model_specs(rig.gateway, &after);
    ASSERT_EQ(after, before + MODEL_ADDED_MAX);
    ASSERT(!model_spec_find(rig.gateway, "nonsense"));
    ASSERT_FAILS(model_gateway_add(rig.gateway,
                                   &(struct model_spec){ .id = "x", .provider = "offline" },
                                   &t->err),
                 ERR_CONFLICT);
    ASSERT_CONTAINS(err_message(&t->err, 0), "start it again");
    model_rig_close(&rig);
}

TEST(cancelled_before_the_answer_it_ends_as_cancelled)
{
    static const struct say silent[] = { { 200, NULL, "", SAY_OPEN }, { 0 } };
    struct model_rig rig;
    struct ask ask = ASK_INIT;

    model_rig_open(&rig, t, "openai", silent, NULL);
    ask_start(&ask, &rig, NULL);
    model_cancel(ask.x);
    model_cancel(ask.x); /* asking twice changes nothing */
    ASSERT_EQ(ask.dones, 0);
    rig_wait(&rig);
    ASSERT_ASK_FAILED(&ask, ERR_CANCELLED);
    ask_release(&ask);
    model_rig_close(&rig);
}

TEST(cancelled_in_the_middle_no_more_deltas_come)
{
    struct model_rig rig;
    struct ask ask = ASK_INIT;

    model_rig_open(&rig, t, "openai", SAYS(CHUNK("a") CHUNK("b") CHUNK("c") END), NULL);
    ask.cancel_after = 2;
    ask_run(&ask, &rig, NULL);
    ASSERT_ASK_FAILED(&ask, ERR_CANCELLED);
    ASSERT_TEXT(buf_text(&ask.deltas), "T:a|T:b|");
    ask_release(&ask);
    model_rig_close(&rig);
}

TEST(freeing_the_gateway_ends_what_is_under_way)
{
    static const struct say silent[] = { { 200, NULL, CHUNK("a"), SAY_OPEN }, { 0 } };
    struct model_rig rig;
    struct ask one = ASK_INIT, two = ASK_INIT;

    model_rig_open(&rig, t, "openai", silent, NULL);
    ask_start(&one, &rig, NULL);
    ask_start(&two, &rig, NULL);
    model_gateway_free(TAKE(rig.gateway));
    ASSERT_ASK_FAILED(&one, ERR_CANCELLED);
    ASSERT_ASK_FAILED(&two, ERR_CANCELLED);
    ask_release(&one);
    ask_release(&two);
    model_rig_close(&rig);
}

TEST(many_at_once_do_not_mix)
{
    struct model_rig rig;
    struct ask asks[20];

    model_rig_open(&rig, t, "openai", SAYS(CHUNK("a") CHUNK("b") END), NULL);
    for (size_t i = 0; i < ARRAY_LEN(asks); i++) {
        asks[i] = ASK_INIT;
        ask_start(&asks[i], &rig, NULL);
    }
    rig_wait(&rig);
    for (size_t i = 0; i < ARRAY_LEN(asks); i++) {
        ASSERT_REPLIED(&asks[i], MODEL_STOP_END);
        ASSERT_STR(asks[i].text, "ab");
        ask_release(&asks[i]);
    }
    model_rig_close(&rig);
}

/* ---- cost ---- */

static void with_prices(struct model_rig *rig, struct model_gateway_config *config)
{
    (void)config;
    rig->spec.price_input = 3;
    rig->spec.price_output = 15;
    rig->spec.price_cached = 0.5;
}

static void without_cached_price(struct model_rig *rig, struct model_gateway_config *config)
{
    with_prices(rig, config);
    rig->spec.price_cached = 0;
}

#define USAGE(in, cached, out)                                                                     \
    "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":" in ",\"completion_tokens\":" out         \
    ",\"prompt_tokens_details\":{\"cached_tokens\":" cached "}}}\n\n"

TEST(cost_comes_from_the_prices_and_what_was_counted)
{
    struct model_rig rig;
    struct ask ask = ASK_INIT;

    model_rig_open(&rig, t, "openai", SAYS(CHUNK("a") USAGE("1000000", "400000", "100000") END),
                   with_prices);
    ask_run(&ask, &rig, NULL);
    ASSERT(ask.usage.cost > 3.4999 && ask.usage.cost < 3.5001); /* 0.6*3 + 0.4*0.5 + 0.1*15 */
    ask_release(&ask);
    model_rig_close(&rig);
    /* A cached price that is not set must not make tokens free. */
    ask = ASK_INIT;
    model_rig_open(&rig, t, "openai", SAYS(CHUNK("a") USAGE("1000000", "400000", "100000") END),
                   without_cached_price);
    ask_run(&ask, &rig, NULL);
    ASSERT(ask.usage.cost > 4.4999 && ask.usage.cost < 4.5001);
    ask_release(&ask);
    model_rig_close(&rig);
}

TEST(numbers_of_tokens_that_cant_be_are_not_believed)
{
    struct model_rig rig;
    struct ask ask = ASK_INIT;

    model_rig_open(&rig, t, "openai", SAYS(CHUNK("a") USAGE("10", "400000", "-5") END),
                   with_prices);
    ask_run(&ask, &rig, NULL);
    ASSERT_EQ(ask.usage.input_tokens, 10);
    ASSERT_EQ(ask.usage.cached_tokens, 10);
    ASSERT(ask.usage.output_tokens > 0 && ask.usage.estimated);
    ASSERT(ask.usage.cost > 0);
    ask_release(&ask);
    model_rig_close(&rig);
}

TEST(an_estimate_grows_with_all_parts_of_the_request)
{
    static const struct model_tool tool = {
        .name = { "f", 1 },
        .description = { "A tool that does a thing", 24 },
        .input_schema = { "{\"type\":\"object\",\"properties\":{\"a\":{}}}", 39 },
    };
    struct model_request longer = simple;
    struct model_rig rig;
    struct ask one = ASK_INIT, two = ASK_INIT;

    longer.tools = &tool;
    longer.tool_count = 1;
    longer.system = STR("You are a mouse that sleeps most of the time.");
    model_rig_open(&rig, t, "openai", SAYS(CHUNK("a") END), NULL);
    ask_run(&one, &rig, NULL);
    ask_run(&two, &rig, &longer);
    ASSERT(one.usage.estimated && two.usage.estimated);
    ASSERT(two.usage.input_tokens > one.usage.input_tokens + 20);
    ask_release(&one);
    ask_release(&two);
    model_rig_close(&rig);
}

/* ---- addresses ---- */

static const char *address;

static void at_address(struct model_rig *rig, struct model_gateway_config *config)
{
    static const struct http_retry_policy once = { .max_attempts = 1 };

    rig->consent = true;
    rig->spec.base_url = address;
    config->retry = &once;
    config->limits = (struct http_limits){ .connect_ms = 50, .first_byte_ms = 50, .total_ms = 200 };
}

/* Whether something answers there does not matter: only whether it may be spoken to. */
TEST(a_private_address_is_reached_when_it_is_named_by_number)
{
    static const struct {
        const char *url;
        bool denied;
    } cases[] = {
        { "http://10.255.255.254:9/v1", false },
        { "http://[fd00::ffff]:9/v1", false },
        { "http://169.254.169.254/latest", true }, /* the clouds' own */
        { "http://0.0.0.0:9/", true },
        { "http://[ff02::1]:9/", true },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct model_rig rig;
        struct ask ask = ASK_INIT;

        address = cases[i].url;
        model_rig_open(&rig, t, "openai", NULL, at_address);
        ask_run(&ask, &rig, NULL);
        ASSERT(!ask.replied);
        if ((ask.err.code == ERR_NETWORK_DENIED) != cases[i].denied)
            FAIL("%s: %s", cases[i].url, ask_error(&ask));
        ASSERT_EQ(rig.consents, 1);
        ask_release(&ask);
        model_rig_close(&rig);
    }
}
