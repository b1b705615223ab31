/* Servers that refuse, lie, stall, flood or hang up: every failure has its own outcome, and nothing
 * that came before it is handed over as a reply.
 *
 * SPDX-License-Identifier: MIT
 */
#include "loop/http_fake.h"
#include "model_rig.h"

#define CHUNK(text) "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"" text "\"}}]}\n\n"
#define END         "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"
#define JSON        "Content-Type: application/json\r\n"
#define HTML        "Content-Type: text/html\r\n"

static void ask_with(struct test *t, struct ask *ask, const char *provider, const struct say *says,
                     void (*more)(struct model_rig *rig, struct model_gateway_config *config),
                     unsigned *ret_requests)
{
    struct model_rig rig;

    *ask = ASK_INIT;
    model_rig_open(&rig, t, provider, says, more);
    ask_run(ask, &rig, NULL);
    if (ret_requests)
        *ret_requests = rig.peer.shared->requests;
    model_rig_close(&rig);
}

/* ---- what servers say ---- */

struct refusal {
    const char *whose;
    int status;
    const char *body;
    enum err_code code; /* NONE: a reply that was filtered */
    const char *text;   /* in the message */
};

static const struct refusal refusals[] = {
    { "openai", 400,
      "{\"error\":{\"message\":\"This model's maximum context length is 8192 tokens.\",\"type\":"
      "\"invalid_request_error\",\"param\":\"messages\",\"code\":\"context_length_exceeded\"}}",
      ERR_CONTEXT_TOO_LONG, "maximum context length is 8192" },
    { "openai", 400,
      "{\"error\":{\"message\":\"Your input exceeds the context window of this model.\",\"type\":"
      "\"invalid_request_error\"}}",
      ERR_CONTEXT_TOO_LONG, "context window" },
    { "llama-server", 400,
      "{\"error\":{\"code\":400,\"message\":\"request (25837 tokens) exceeds the available context "
      "size (25088 tokens), try increasing it\",\"type\":\"exceed_context_size_error\","
      "\"n_prompt_tokens\":25837,\"n_ctx\":25088}}",
      ERR_CONTEXT_TOO_LONG, "25837" },
    { "llama-server before", 500,
      "{\"error\":{\"code\":500,\"message\":\"the request exceeds the available context size. try "
      "increasing the context size or enable context shift\",\"type\":\"server_error\"}}",
      ERR_CONTEXT_TOO_LONG, "the server answered 500" },
    { "vllm", 400,
      "{\"object\":\"error\",\"message\":\"This model's maximum context length is 4096 tokens. "
      "However, you requested 5000\",\"type\":\"BadRequestError\",\"param\":null,\"code\":400}",
      ERR_CONTEXT_TOO_LONG, "4096" },
    { "anthropic", 400,
      "{\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":\"prompt is "
      "too long: 210000 tokens > 200000 maximum\"}}",
      ERR_CONTEXT_TOO_LONG, "210000" },
    { "anthropic", 413,
      "{\"type\":\"error\",\"error\":{\"type\":\"request_too_large\",\"message\":\"Request exceeds "
      "the maximum size\"}}",
      ERR_CONTEXT_TOO_LONG, "maximum size" },
    { "gemini", 400,
      "[{\"error\":{\"code\":400,\"message\":\"The input token count (2000000) exceeds the maximum "
      "number of tokens allowed (1048576).\",\"status\":\"INVALID_ARGUMENT\"}}]",
      ERR_CONTEXT_TOO_LONG, "1048576" },
    { "ollama", 404,
      "{\"error\":{\"message\":\"model 'x' not found\",\"type\":\"not_found_error\"}}",
      ERR_MODEL_NOT_ALLOWED, "check `model: the-model` of model m" },
    { "ollama before", 404, "{\"error\":\"model 'x' not found, try pulling it first\"}",
      ERR_MODEL_NOT_ALLOWED, "try pulling it first" },
    { "openai", 404,
      "{\"error\":{\"message\":\"The model `x` does not exist or you do not have access to it.\","
      "\"type\":\"invalid_request_error\",\"param\":null,\"code\":\"model_not_found\"}}",
      ERR_MODEL_NOT_ALLOWED, "does not exist" },
    { "fastapi", 404, "{\"detail\":\"Not Found\"}", ERR_PROVIDER_FAILED,
      "Not Found; is base_url the address of the API?" },
    { "openai", 401,
      "{\"error\":{\"message\":\"Incorrect API key provided\",\"type\":\"invalid_request_error\","
      "\"code\":\"invalid_api_key\"}}",
      ERR_SECRET_UNAVAILABLE, "it wants a key: name one as secret_ref of model m" },
    { "anthropic", 403,
      "{\"type\":\"error\",\"error\":{\"type\":\"permission_error\",\"message\":\"no\"}}",
      ERR_SECRET_UNAVAILABLE, "secret_ref" },
    { "openai", 429,
      "{\"error\":{\"message\":\"You exceeded your current quota\",\"type\":"
      "\"insufficient_quota\",\"code\":\"insufficient_quota\"}}",
      ERR_BUDGET_EXCEEDED, "exceeded your current quota" },
    { "openrouter", 402, "{\"error\":{\"code\":402,\"message\":\"Insufficient credits\"}}",
      ERR_BUDGET_EXCEEDED, "Insufficient credits; the account of model m has no money left" },
    { "openai", 422, "{\"error\":{\"message\":\"bad tool\"}}", ERR_BAD_REQUEST, "bad tool" },
    { "azure", 400,
      "{\"error\":{\"message\":\"The response was filtered\",\"code\":\"content_filter\","
      "\"innererror\":{\"code\":\"ResponsibleAIPolicyViolation\"}}}",
      ERR_NONE, "" },
    { "openai", 400, "{\"error\":{\"code\":\"content_policy_violation\",\"message\":\"no\"}}",
      ERR_NONE, "" },
    { "a proxy", 502, "<html><title>502 Bad Gateway</title></html>", ERR_PROVIDER_FAILED,
      "the server answered 502: a web page instead of an answer" },
    { "nobody", 500, "", ERR_PROVIDER_FAILED, "the server answered 500" },
    { "a text", 500, "boom\n\033[31mred", ERR_PROVIDER_FAILED, "500: boom  [31mred" },
    { "a redirect", 302, "", ERR_PROVIDER_FAILED, "redirects are not followed" },
    { "a timeout", 408, "{}", ERR_TIMEOUT, "408" },
    { "a status that its body does not share", 422,
      "{\"error\":{\"code\":402,\"message\":\"bad tool\"}}", ERR_BAD_REQUEST, "bad tool" },
    { "a number that is no status", 422, "{\"error\":{\"code\":7,\"message\":\"bad tool\"}}",
      ERR_BAD_REQUEST, "bad tool" },
    { "unavailable", 503,
      "{\"error\":{\"code\":503,\"message\":\"Loading model\",\"type\":"
      "\"unavailable_error\"}}",
      ERR_PROVIDER_FAILED, "Loading model" },
};

TEST(every_refusal_has_its_meaning)
{
    for (size_t i = 0; i < ARRAY_LEN(refusals); i++) {
        const struct refusal *r = &refusals[i];
        const struct say says[] = {
            { r->status, r->status == 302 ? "Location: http://127.0.0.1:1/\r\n" : JSON, r->body },
            { 0 },
        };
        struct ask ask;

        ask_with(t, &ask, strcmp(r->whose, "anthropic") == 0 ? "anthropic" : "openai", says, NULL,
                 NULL);
        if (r->code != ask.err.code || !strstr(ask_error(&ask), r->text))
            FAIL("%s, %d: %s: %s", r->whose, r->status, err_name(ask.err.code), ask_error(&ask));
        if (!r->code)
            ASSERT_REPLIED(&ask, MODEL_STOP_FILTER);
        ASSERT_EQ(ask.retry_after_ms, -1);
        ask_release(&ask);
    }
}

TEST(the_same_refusals_inside_a_stream_mean_the_same)
{
    static const struct {
        const char *body;
        enum err_code code;
    } cases[] = {
        { "data: {\"error\":{\"message\":\"Provider returned error\",\"code\":502}}\n\n",
          ERR_PROVIDER_FAILED },
        { "data: {\"error\":{\"message\":\"slow down\",\"code\":429}}\n\n", ERR_RATE_LIMITED },
        { "data: {\"error\":{\"message\":\"x\",\"code\":\"context_length_exceeded\"}}\n\n",
          ERR_CONTEXT_TOO_LONG },
        { CHUNK("half") "data: {\"error\":\"broken\"}\n\n" END, ERR_PROVIDER_FAILED },
        { CHUNK("half") "event: error\ndata: {\"message\":\"broken\"}\n\n" END,
          ERR_PROVIDER_FAILED },
        { CHUNK("half") "data: {\"error\":{\"code\":\"content_filter\"}}\n\n", ERR_NONE },
        { "{\"error\":{\"message\":\"no\",\"type\":\"server_error\"}}", ERR_PROVIDER_FAILED },
        { "{\"error\":{\"code\":\"content_filter\"}}", ERR_NONE },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct say says[] = { { 200, NULL, cases[i].body }, { 0 } };
        struct ask ask;

        ask_with(t, &ask, "openai", says, NULL, NULL);
        if (ask.err.code != cases[i].code)
            FAIL("%zu: %s: %s", i, err_name(ask.err.code), ask_error(&ask));
        if (!cases[i].code)
            ASSERT_REPLIED(&ask, MODEL_STOP_FILTER);
        ask_release(&ask);
    }
}

/* ---- again, or not ---- */

TEST(what_may_be_tried_again_is_tried_again)
{
    static const struct say overloaded[] = {
        { 529, JSON, "{\"error\":{\"type\":\"overloaded_error\"}}" },
        { 500, JSON, "{}" },
        { 200, NULL, CHUNK("third") END },
        { 0 },
    };
    static const struct say hangs_up[] = {
        { 200, NULL, NULL, SAY_NOTHING },
        { 200, NULL, CHUNK("second") END },
        { 0 },
    };
    struct ask ask;
    unsigned requests;

    ask_with(t, &ask, "openai", overloaded, NULL, &requests);
    ASSERT_REPLIED(&ask, MODEL_STOP_END);
    ASSERT_STR(ask.text, "third");
    ASSERT_EQ(requests, 3);
    ask_release(&ask);
    ask_with(t, &ask, "openai", hangs_up, NULL, &requests);
    ASSERT_REPLIED(&ask, MODEL_STOP_END);
    ASSERT_STR(ask.text, "second");
    ask_release(&ask);
}

TEST(nothing_is_tried_again_once_an_answer_began_or_was_refused)
{
    static const struct say broken[] = {
        { 200, NULL, CHUNK("half"), SAY_CUT },
        { 200, NULL, CHUNK("other") END },
        { 0 },
    };
    static const struct say refused[] = {
        { 400, JSON, "{\"error\":{\"message\":\"no\"}}" },
        { 200, NULL, CHUNK("other") END },
        { 0 },
    };
    struct ask ask;
    unsigned requests;

    ask_with(t, &ask, "openai", broken, NULL, &requests);
    ASSERT_ASK_FAILED(&ask, ERR_PROVIDER_FAILED);
    ASSERT_TEXT(buf_text(&ask.deltas), "T:half|");
    ASSERT_EQ(requests, 1);
    ask_release(&ask);
    ask_with(t, &ask, "openai", refused, NULL, &requests);
    ASSERT_ASK_FAILED(&ask, ERR_BAD_REQUEST);
    ASSERT_EQ(requests, 1);
    ask_release(&ask);
}

TEST(a_rate_limit_says_when_to_come_back)
{
    static const struct say later[] = {
        { 429, JSON "Retry-After: 120\r\n", "{\"error\":{\"message\":\"slow down\"}}" },
        { 0 },
    };
    static const struct say exact[] = {
        { 429, JSON "retry-after-ms: 90500\r\nRetry-After: 91\r\n", "{}" },
        { 0 },
    };
    static const struct say never_said[] = { { 429, JSON, "{}" }, { 0 } };
    static const struct say maintenance[] = {
        { 503, HTML "Retry-After: 3600\r\n", "<html>" },
        { 0 },
    };
    struct ask ask;
    unsigned requests;

    ask_with(t, &ask, "openai", later, NULL, &requests);
    ASSERT_ASK_FAILED(&ask, ERR_RATE_LIMITED);
    ASSERT_EQ(ask.retry_after_ms, 120000);
    ASSERT_EQ(requests, 1); /* it asked for more than the gateway waits */
    ask_release(&ask);
    ask_with(t, &ask, "anthropic", exact, NULL, NULL);
    ASSERT_ASK_FAILED(&ask, ERR_RATE_LIMITED);
    ASSERT_EQ(ask.retry_after_ms, 90500);
    ask_release(&ask);
    ask_with(t, &ask, "openai", never_said, NULL, &requests);
    ASSERT_ASK_FAILED(&ask, ERR_RATE_LIMITED);
    ASSERT_EQ(ask.retry_after_ms, -1);
    ASSERT_EQ(requests, 3);
    ask_release(&ask);
    ask_with(t, &ask, "openai", maintenance, NULL, NULL);
    ASSERT_ASK_FAILED(&ask, ERR_RATE_LIMITED);
    ASSERT_EQ(ask.retry_after_ms, 3600000);
    ask_release(&ask);
}

/* ---- streams that break ---- */

TEST(a_broken_stream_is_no_reply)
{
    static const struct {
        const char *body;
        enum say_end end;
        enum err_code code;
        const char *text;
    } cases[] = {
        { CHUNK("half"), SAY_WHOLE, ERR_PROVIDER_FAILED, "ended before the answer did" },
        { "data: [DONE]\n\n", SAY_WHOLE, ERR_PROVIDER_FAILED, "ended before the answer did" },
        { CHUNK("half"), SAY_CUT, ERR_PROVIDER_FAILED, "model m: POST http://127.0.0.1:" },
        { CHUNK("half"), SAY_RESET, ERR_PROVIDER_FAILED, "model m: POST http://127.0.0.1:" },
        { CHUNK("half") "data: {\"choices\":[{\n\n", SAY_WHOLE, ERR_PROVIDER_FAILED,
          "an event of the answer is no JSON: 1:" },
        { CHUNK("half") "data: nonsense\n\n", SAY_WHOLE, ERR_PROVIDER_FAILED, "no JSON" },
        { "{\"choices\":[{\"message\":{\"content\":\"ha", SAY_WHOLE, ERR_PROVIDER_FAILED,
          "the answer is no JSON" },
        { "{\"hello\":1}", SAY_WHOLE, ERR_PROVIDER_FAILED, "has no choices" },
        { "<!doctype html><title>Log in</title>", SAY_WHOLE, ERR_PROVIDER_FAILED,
          "a web page came" },
        { "", SAY_WHOLE, ERR_PROVIDER_FAILED, "the answer is empty" },
        { " \n ", SAY_WHOLE, ERR_PROVIDER_FAILED, "the answer is empty" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct say says[] = { { 200, NULL, cases[i].body, cases[i].end }, { 0 } };
        struct ask ask;

        ask_with(t, &ask, "openai", says, NULL, NULL);
        ASSERT_ASK_FAILED(&ask, cases[i].code);
        if (!strstr(ask_error(&ask), cases[i].text))
            FAIL("%zu: %s", i, ask_error(&ask));
        ask_release(&ask);
    }
}

TEST(bytes_that_are_no_utf8_are_mended)
{
    static const struct say says[] = { { 200, NULL, CHUNK("a\377\303b\355\240\200") END }, { 0 } };
    struct ask ask;

    ask_with(t, &ask, "openai", says, NULL, NULL);
    ASSERT_REPLIED(&ask, MODEL_STOP_END);
    ASSERT_STR(ask.text, "a\357\277\275\357\277\275b\357\277\275\357\277\275\357\277\275");
    ask_release(&ask);
}

TEST(a_flood_ends_at_a_cap)
{
    static char line[300000];
    const struct say events[] = { { 200, NULL, CHUNK("and so on and so on and so on"), SAY_FLOOD },
                                  { 0 } };
    const struct say one_line[] = { { 200, NULL, line, SAY_FLOOD }, { 0 } };
    const struct say comments[] = { { 200, NULL, ": still here\n\n", SAY_FLOOD }, { 0 } };
    const struct say document[] = {
        { 200, JSON, "{\"choices\":[\"xxxxxxxxxxxxxxxxxxxxxxxxxxxx", SAY_FLOOD }, { 0 }
    };
    const struct say *const all[] = { events, one_line, comments, document };

    memset(line, 'x', sizeof(line) - 1);
    memcpy(line, "data: \"", 7);
    for (size_t i = 0; i < ARRAY_LEN(all); i++) {
        struct ask ask;

        ask_with(t, &ask, "openai", all[i], NULL, NULL);
        ASSERT_ASK_FAILED(&ask, ERR_TOO_LARGE);
        ask_release(&ask);
    }
}

static void hurried(struct model_rig *rig, struct model_gateway_config *config)
{
    (void)rig;
    config->limits = (struct http_limits){ .idle_ms = 150, .total_ms = 600, .first_byte_ms = 300 };
}

TEST(a_server_that_drips_is_given_up_after_the_total_limit)
{
    static const struct say drip[] = { { 200, NULL, ": drip\n\n", SAY_DRIP }, { 0 } };
    static const struct say silent[] = { { 200, NULL, CHUNK("half"), SAY_OPEN }, { 0 } };
    struct ask ask;

    ask_with(t, &ask, "openai", drip, hurried, NULL);
    ASSERT_ASK_FAILED(&ask, ERR_TIMEOUT);
    ask_release(&ask);
    ask_with(t, &ask, "openai", silent, hurried, NULL);
    ASSERT_ASK_FAILED(&ask, ERR_TIMEOUT);
    ASSERT_TEXT(buf_text(&ask.deltas), "T:half|");
    ask_release(&ask);
}

/* ---- secrets ---- */

static void with_secret(struct model_rig *rig, struct model_gateway_config *config)
{
    (void)config;
    rig->spec.secret_ref = "big-key";
    rig->secret = "planted-canary-value-77";
}

TEST(a_server_that_echoes_the_key_does_not_get_it_into_an_error)
{
    static const struct say says[] = {
        { 401, JSON,
          "{\"error\":{\"message\":\"bad key planted-canary-value-77 or "
          "cGxhbnRlZC1jYW5hcnktdmFsdWUtNzc=\"}}" },
        { 0 },
    };
    struct ask ask;

    ask_with(t, &ask, "openai", says, with_secret, NULL);
    ASSERT_ASK_FAILED(&ask, ERR_SECRET_UNAVAILABLE);
    ASSERT(!strstr(ask_error(&ask), "canary"));
    ASSERT(!strstr(ask_error(&ask), "cGxhbnRl"));
    ASSERT_CONTAINS(ask_error(&ask), "check the secret \"big-key\": dormouse secret set big-key");
    ask_release(&ask);
}

TEST(an_answer_that_repeats_the_key_is_dropped)
{
    static const char *const bodies[] = {
        CHUNK("it is planted-canary-") CHUNK("val") CHUNK("ue-77 !") END,
        "data: "
        "{\"choices\":[{\"delta\":{\"reasoning_content\":\"planted-canary-value-77\"}}]}\n\n" END,
        "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"c\",\"function\":{"
        "\"name\":\"bash\",\"arguments\":\"{\\\"c\\\":\\\"planted-canary-value-77\\\"}\"}}]}}]}"
        "\n\n" END,
    };

    for (size_t i = 0; i < ARRAY_LEN(bodies); i++) {
        const struct say says[] = { { 200, NULL, bodies[i] }, { 0 } };
        struct ask ask;

        ask_with(t, &ask, "openai", says, with_secret, NULL);
        ASSERT_ASK_FAILED(&ask, ERR_PROVIDER_FAILED);
        ASSERT_CONTAINS(ask_error(&ask), "repeats the secret \"big-key\"");
        ask_release(&ask);
    }
}

static void with_short_secret(struct model_rig *rig, struct model_gateway_config *config)
{
    with_secret(rig, config);
    rig->secret = "ollama";
}

TEST(a_word_that_serves_as_key_may_be_said)
{
    static const struct say says[] = { { 200, NULL, CHUNK("ask ollama, planted-canary") END },
                                       { 0 } };
    struct ask ask;

    ask_with(t, &ask, "openai", says, with_short_secret, NULL);
    ASSERT_REPLIED(&ask, MODEL_STOP_END);
    ASSERT_STR(ask.text, "ask ollama, planted-canary");
    ask_release(&ask);
}

TEST(nobody_else_is_asked_when_a_model_fails)
{
    static const struct say says[] = { { 500, JSON, "{}" }, { 0 } };
    struct ask ask;
    unsigned requests;

    ask_with(t, &ask, "anthropic", says, NULL, &requests);
    ASSERT_ASK_FAILED(&ask, ERR_PROVIDER_FAILED);
    ASSERT_CONTAINS(ask_error(&ask), "model m: ");
    ASSERT_EQ(requests, 3); /* the same one, three times */
    ask_release(&ask);
}
