/* The table "What happens when it fails" of docs/models.md, row by row, for every provider that
 * speaks HTTP: how often is asked, and what comes of it.
 *
 * SPDX-License-Identifier: MIT
 */
#include <arpa/inet.h>
#include <unistd.h>

#include "base/utf8.h"
#include "model_rig.h"

static const char *const over_http[] = { "openai", "anthropic", "functiongemma" };

/* ---- statuses ---- */

static const struct {
    int status;
    const char *headers, *body;
    unsigned attempts; /* of the rig's three */
    enum err_code code;
    int64_t retry_after_ms;
} statuses[] = {
    { 400, "", "{\"error\":{\"message\":\"no\"}}", 1, ERR_BAD_REQUEST, -1 },
    { 401, "", "{}", 1, ERR_SECRET_UNAVAILABLE, -1 },
    { 402, "", "{}", 1, ERR_BUDGET_EXCEEDED, -1 },
    { 403, "", "{}", 1, ERR_SECRET_UNAVAILABLE, -1 },
    { 404, "", "{\"error\":{\"message\":\"no such model\"}}", 1, ERR_MODEL_NOT_ALLOWED, -1 },
    { 404, "", "{\"error\":{\"message\":\"no such path\"}}", 1, ERR_PROVIDER_FAILED, -1 },
    { 405, "", "", 1, ERR_BAD_REQUEST, -1 },
    { 408, "", "{}", 3, ERR_TIMEOUT, -1 },
    { 409, "", "{}", 1, ERR_BAD_REQUEST, -1 },
    { 413, "", "", 1, ERR_CONTEXT_TOO_LONG, -1 },
    { 415, "", "", 1, ERR_BAD_REQUEST, -1 },
    { 422, "", "{\"detail\":\"no\"}", 1, ERR_BAD_REQUEST, -1 },
    { 429, "", "{}", 3, ERR_RATE_LIMITED, -1 },
    { 429, "Retry-After: 0\r\n", "{}", 3, ERR_RATE_LIMITED, 0 },
    { 429, "Retry-After: 77\r\n", "{}", 1, ERR_RATE_LIMITED, 77000 },
    { 429, "Retry-After: 99999999\r\n", "{}", 1, ERR_RATE_LIMITED, 86400000 },
    { 429, "Retry-After: soon\r\n", "{}", 3, ERR_RATE_LIMITED, -1 },
    { 429, "", "{\"error\":{\"code\":\"insufficient_quota\"}}", 3, ERR_BUDGET_EXCEEDED, -1 },
    { 500, "", "{}", 3, ERR_PROVIDER_FAILED, -1 },
    { 502, "", "<html>", 3, ERR_PROVIDER_FAILED, -1 },
    { 503, "", "{}", 3, ERR_PROVIDER_FAILED, -1 },
    { 503, "Retry-After: 60\r\n", "{}", 1, ERR_RATE_LIMITED, 60000 },
    { 504, "", "", 3, ERR_PROVIDER_FAILED, -1 },
    { 529, "", "{}", 3, ERR_RATE_LIMITED, -1 },
    { 301, "Location: /v2\r\n", "", 1, ERR_PROVIDER_FAILED, -1 },
    { 307, "Location: http://192.0.2.1/\r\n", "", 1, ERR_PROVIDER_FAILED, -1 },
    { 308, "", "", 1, ERR_PROVIDER_FAILED, -1 },
};

TEST(every_status_has_the_same_outcome_with_every_provider)
{
    for (size_t i = 0; i < ARRAY_LEN(statuses) * 2; i++) {
        const char *provider = over_http[i % 2];
        const size_t k = i / 2;
        const struct say says[] = { { statuses[k].status, statuses[k].headers, statuses[k].body },
                                    { 0 } };
        struct model_rig rig;
        struct ask ask = ASK_INIT;

        model_rig_open(&rig, t, provider, says, NULL);
        ask_run(&ask, &rig, NULL);
        if (ask.replied || ask.err.code != statuses[k].code ||
            ask.retry_after_ms != statuses[k].retry_after_ms ||
            rig.peer.shared->requests != statuses[k].attempts)
            FAIL("%s, %d (%zu): %s after %u, retry %lld: %s", provider, statuses[k].status, k,
                 err_name(ask.err.code), rig.peer.shared->requests, (long long)ask.retry_after_ms,
                 ask_error(&ask));
        ASSERT_CONTAINS(ask_error(&ask), "model m: ");
        ask_release(&ask);
        model_rig_close(&rig);
    }
}

/* ---- no connection ---- */

static void at_closed_port(struct model_rig *rig, struct model_gateway_config *config)
{
    struct sockaddr_in name = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t size = sizeof(name);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    (void)config;
    if (bind(fd, (struct sockaddr *)&name, size) < 0 ||
        getsockname(fd, (struct sockaddr *)&name, &size) < 0)
        FAIL("no port");
    close(fd);
    rig->spec.base_url =
        arena_printf(&rig->t->arena, "http://127.0.0.1:%u/v1", (unsigned)ntohs(name.sin_port));
}

TEST(nobody_listens_and_that_is_said)
{
    for (size_t i = 0; i < ARRAY_LEN(over_http); i++) {
        struct model_rig rig;
        struct ask ask = ASK_INIT;

        model_rig_open(&rig, t, over_http[i], NULL, at_closed_port);
        ask_run(&ask, &rig, NULL);
        ASSERT_ASK_FAILED(&ask, ERR_PROVIDER_FAILED);
        ASSERT_CONTAINS(ask_error(&ask), "127.0.0.1");
        ask_release(&ask);
        model_rig_close(&rig);
    }
}

/* ---- silence ---- */

static void hurried(struct model_rig *rig, struct model_gateway_config *config)
{
    static const struct http_retry_policy once = { .max_attempts = 1 };

    (void)rig;
    config->retry = &once;
    config->limits = (struct http_limits){ .idle_ms = 150, .total_ms = 700, .first_byte_ms = 300 };
}

TEST(a_server_that_falls_silent_or_never_ends_is_given_up)
{
    static const struct {
        const char *body;
        enum say_end end;
    } cases[] = {
        { "", SAY_OPEN },              /* a head, and then nothing */
        { "data: {\"choi", SAY_OPEN }, /* half an event */
        { ": ping\n\n", SAY_DRIP },    /* life, but no answer */
        { "data: {\"choices\":[]}\n\n", SAY_DRIP },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct say says[] = { { 200, NULL, cases[i].body, cases[i].end }, { 0 } };
        struct model_rig rig;
        struct ask ask = ASK_INIT;

        model_rig_open(&rig, t, over_http[i % 2], says, hurried);
        ask_run(&ask, &rig, NULL);
        ASSERT_ASK_FAILED(&ask, ERR_TIMEOUT);
        ask_release(&ask);
        model_rig_close(&rig);
    }
}

/* ---- bytes ---- */

/* What a function of the embedder says, cut anywhere: through it any bytes reach an exchange. */
struct speech {
    struct str bytes;
    uint64_t seed;
};

static int speak(void *call_arg, const struct model_request *request, const struct model_sink *sink,
                 void *arg, struct err *err)
{
    const struct speech *speech = call_arg;
    struct str rest = speech->bytes;
    struct rand_fake rand;

    (void)request, (void)err;
    rand_fake_init(&rand, speech->seed);
    while (rest.n > 0) {
        size_t n = 1 + rand_below(&rand.rand, rest.n < 5 ? rest.n : 5);

        sink->on_delta(arg, MODEL_DELTA_TEXT, str_take(rest, n));
        rest = str_skip(rest, n);
    }
    sink->on_done(arg, &(struct model_reply){ .stop = MODEL_STOP_END }, NULL, -1);
    return 0;
}

static struct speech current;

static void speaks(struct model_rig *rig, struct model_gateway_config *config)
{
    (void)config;
    rig->spec.call = speak;
    rig->spec.call_arg = &current;
}

/* Bytes that are likely to be halves of something. */
static void odd_bytes(struct rand *rand, char *out, size_t n)
{
    static const unsigned char likely[] = { 'a',  0x80, 0xBF, 0xC2, 0xC3, 0xE0, 0xE2, 0xED, 0xA0,
                                            0xEF, 0xF0, 0x9F, 0x90, 0xAD, 0xF4, 0x8F, 0xF5, 0xFF };

    for (size_t i = 0; i < n; i++)
        out[i] = (char)likely[rand_below(rand, sizeof(likely))];
}

TEST(bytes_become_the_same_text_wherever_they_are_cut)
{
    struct rand_fake rand;
    struct model_rig rig;
    char bytes[48];

    rand_fake_init(&rand, 21);
    model_rig_open(&rig, t, "call", NULL, speaks);
    for (int round = 0; round < 600; round++) {
        size_t n = 1 + rand_below(&rand.rand, sizeof(bytes));
        AUTO_BUF whole = BUF_INIT(4096);
        struct ask ask = ASK_INIT;

        odd_bytes(&rand.rand, bytes, n);
        current = (struct speech){ str_of(bytes, n), (uint64_t)round };
        utf8_sanitise(current.bytes, &whole);
        ask_run(&ask, &rig, NULL);
        ASSERT_REPLIED(&ask, MODEL_STOP_END);
        ASSERT(utf8_valid(ask.text));
        if (!str_eq(ask.text, buf_str(&whole)))
            FAIL("round %d: \"%.*s\" is not \"%s\"", round, STR_ARG(ask.text), buf_text(&whole));
        ask_release(&ask);
    }
    model_rig_close(&rig);
}

/* ---- answers that streams and documents agree on ---- */

TEST(an_answer_is_the_same_as_stream_as_document_and_byte_by_byte)
{
    static const struct {
        const char *provider, *stream, *document;
    } cases[] = {
        { "openai",
          "data: {\"model\":\"q\",\"choices\":[{\"delta\":{\"reasoning\":\"hm\"}}]}\n\n"
          "data: {\"choices\":[{\"delta\":{\"content\":\"a \\u00fc\"}}]}\n\n"
          "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"c9\",\"function\":"
          "{\"name\":\"f\",\"arguments\":\"{\\\"x\\\"\"}}]}}]}\n\n"
          "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":"
          "{\"arguments\":\":1}\"}}]},\"finish_reason\":\"tool_calls\"}]}\n\n"
          "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":5,\"completion_tokens\":6}}\n\n"
          "data: [DONE]\n\n",
          "{\"model\":\"q\",\"choices\":[{\"message\":{\"reasoning\":\"hm\",\"content\":\"a "
          "\\u00fc\",\"tool_calls\":[{\"id\":\"c9\",\"function\":{\"name\":\"f\",\"arguments\":"
          "\"{\\\"x\\\":1}\"}}]},\"finish_reason\":\"tool_calls\"}],\"usage\":{\"prompt_tokens\":5,"
          "\"completion_tokens\":6}}" },
        { "anthropic",
          "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"model\":\"q\","
          "\"usage\":{\"input_tokens\":5,\"output_tokens\":1}}}\n\n"
          "data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":"
          "\"thinking\",\"thinking\":\"\"}}\n\n"
          "data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":"
          "\"thinking_delta\",\"thinking\":\"hm\"}}\n\n"
          "data: "
          "{\"type\":\"content_block_start\",\"index\":1,\"content_block\":{\"type\":\"text\","
          "\"text\":\"\"}}\n\n"
          "data: {\"type\":\"content_block_delta\",\"index\":1,\"delta\":{\"type\":\"text_delta\","
          "\"text\":\"a \\u00fc\"}}\n\n"
          "data: {\"type\":\"content_block_start\",\"index\":2,\"content_block\":{\"type\":"
          "\"tool_use\",\"id\":\"c9\",\"name\":\"f\",\"input\":{}}}\n\n"
          "data: {\"type\":\"content_block_delta\",\"index\":2,\"delta\":{\"type\":"
          "\"input_json_delta\",\"partial_json\":\"{\\\"x\\\":1}\"}}\n\n"
          "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"tool_use\"},\"usage\":"
          "{\"output_tokens\":6}}\n\n"
          "data: {\"type\":\"message_stop\"}\n\n",
          "{\"model\":\"q\",\"content\":[{\"type\":\"thinking\",\"thinking\":\"hm\"},{\"type\":"
          "\"text\",\"text\":\"a \\u00fc\"},{\"type\":\"tool_use\",\"id\":\"c9\",\"name\":\"f\","
          "\"input\":{\"x\":1}}],\"stop_reason\":\"tool_use\",\"usage\":{\"input_tokens\":5,"
          "\"output_tokens\":6}}" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct say forms[][2] = {
            { { 200, NULL, cases[i].stream }, { 0 } },
            { { 200, NULL, cases[i].stream, SAY_BY_PIECES }, { 0 } },
            { { 200, "Content-Type: application/json\r\n", cases[i].document }, { 0 } },
            { { 200, NULL, cases[i].document, SAY_BY_PIECES }, { 0 } },
            { { 200, "X-Nothing: 1\r\n", cases[i].stream }, { 0 } },
        };

        for (size_t k = 0; k < ARRAY_LEN(forms); k++) {
            struct model_rig rig;
            struct ask ask = ASK_INIT;

            model_rig_open(&rig, t, cases[i].provider, forms[k], NULL);
            ask_run(&ask, &rig, NULL);
            ASSERT_REPLIED(&ask, MODEL_STOP_CALLS);
            ASSERT_STR(ask.thinking, "hm");
            ASSERT_STR(ask.text, "a \xC3\xBC");
            ASSERT_STR(ask.model, "q");
            ASSERT_EQ(ask.call_count, 1);
            ASSERT_STR(ask.calls[0].id, "c9");
            ASSERT_STR(ask.calls[0].name, "f");
            ASSERT_STR(ask.calls[0].arguments, "{\"x\":1}");
            ASSERT_EQ(ask.usage.input_tokens, 5);
            ASSERT_EQ(ask.usage.output_tokens, 6);
            ASSERT(!ask.usage.estimated);
            ask_release(&ask);
            model_rig_close(&rig);
        }
    }
}

/* ---- bounds ---- */

/* An answer with n calls whose arguments are `bytes` long, as a stream. */
static const char *many_calls(struct test *t, const char *provider, int n, size_t bytes)
{
    AUTO_BUF out = BUF_INIT(32u << 20);
    bool openai = strcmp(provider, "openai") == 0;

    for (int i = 0; i < n; i++) {
        if (openai)
            buf_printf(
                &out,
                "data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":%d,"
                "\"id\":\"c%d\",\"function\":{\"name\":\"f\",\"arguments\":\"{\\\"a\\\":\\\"",
                i, i);
        else
            buf_printf(&out,
                       "data: {\"type\":\"content_block_start\",\"index\":%d,\"content_block\":{"
                       "\"type\":\"tool_use\",\"id\":\"c%d\",\"name\":\"f\",\"input\":{}}}\n\n"
                       "data: {\"type\":\"content_block_delta\",\"index\":%d,\"delta\":{\"type\":"
                       "\"input_json_delta\",\"partial_json\":\"{\\\"a\\\":\\\"",
                       i, i, i);
        for (size_t k = 0; k < bytes; k++)
            buf_add_char(&out, 'x');
        buf_add_text(&out, openai ? "\\\"}\"}}]}}]}\n\n" : "\\\"}\"}}\n\n");
    }
    buf_add_text(&out, openai ? "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":"
                                "\"tool_calls\"}]}\n\ndata: [DONE]\n\n"
                              : "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":"
                                "\"tool_use\"}}\n\ndata: {\"type\":\"message_stop\"}\n\n");
    return arena_text(&t->arena, buf_text(&out));
}

TEST(as_many_calls_as_a_reply_may_have_are_taken_and_no_more)
{
    static const struct {
        int calls;
        size_t bytes;
        bool taken;
    } cases[] = {
        { 1, 0, true },
        { MODEL_CALLS_MAX, 10, true },
        { MODEL_CALLS_MAX + 1, 10, false },
        { 5, 1u << 20, false },
    };

    for (size_t i = 0; i < 2 * ARRAY_LEN(cases); i++) {
        const char *provider = over_http[i % 2];
        const int calls = cases[i / 2].calls;
        const struct say says[] = {
            { 200, NULL, many_calls(t, provider, calls, cases[i / 2].bytes) }, { 0 }
        };
        struct model_rig rig;
        struct ask ask = ASK_INIT;

        model_rig_open(&rig, t, provider, says, NULL);
        ask_run(&ask, &rig, NULL);
        if (cases[i / 2].taken) {
            ASSERT_REPLIED(&ask, MODEL_STOP_CALLS);
            ASSERT_EQ(ask.call_count, (size_t)calls);
        } else if (ask.replied || ask.err.code != ERR_TOO_LARGE) {
            FAIL("%s, %d calls: %s: %s", provider, calls, err_name(ask.err.code), ask_error(&ask));
        }
        ASSERT_EQ(ask.dones, 1);
        ask_release(&ask);
        model_rig_close(&rig);
    }
}

TEST(a_document_that_is_no_answer_is_told_as_such)
{
    static const struct {
        const char *provider, *body, *says;
        enum err_code code;
    } cases[] = {
        { "openai", "{}", "no choices", ERR_PROVIDER_FAILED },
        { "openai", "{\"choices\":7}", "ended before", ERR_PROVIDER_FAILED },
        { "openai", "{\"choices\":[]}", "ended before", ERR_PROVIDER_FAILED },
        { "openai", "{\"choices\":[7]}", "ended before", ERR_PROVIDER_FAILED },
        { "openai", "{\"choices\":[{\"message\":{\"content\":7,\"tool_calls\":7}}]}",
          "ended before", ERR_PROVIDER_FAILED },
        { "openai", "{\"choices\":[{\"message\":{\"content\":[7,null,[]]}}]}", "ended before",
          ERR_PROVIDER_FAILED },
        { "openai", "{\"choices\":[{\"message\":null,\"finish_reason\":\"abort\"}]}",
          "stopped with \"abort\"", ERR_PROVIDER_FAILED },
        { "openai", "7", "ended before", ERR_PROVIDER_FAILED },
        { "anthropic", "{}", "no content", ERR_PROVIDER_FAILED },
        { "anthropic", "{\"content\":{}}", "no content", ERR_PROVIDER_FAILED },
        { "anthropic", "{\"content\":\"text\"}", "no content", ERR_PROVIDER_FAILED },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct say says[] = { { 200, "Content-Type: application/json\r\n", cases[i].body },
                                    { 0 } };
        struct model_rig rig;
        struct ask ask = ASK_INIT;

        model_rig_open(&rig, t, cases[i].provider, says, NULL);
        ask_run(&ask, &rig, NULL);
        if (ask.replied || ask.err.code != cases[i].code || !strstr(ask_error(&ask), cases[i].says))
            FAIL("%s %s: %s: %s", cases[i].provider, cases[i].body, err_name(ask.err.code),
                 ask_error(&ask));
        ask_release(&ask);
        model_rig_close(&rig);
    }
}

/* A block without its kind, or of a kind that is not known yet, is passed over. */
TEST(blocks_that_make_no_sense_are_passed_over)
{
    static const char body[] =
        "{\"content\":[7,null,[],{},{\"type\":7},{\"type\":\"server_tool_use\",\"id\":\"s\"},"
        "{\"type\":\"text\",\"text\":7},{\"type\":\"text\",\"text\":\"said\"}],"
        "\"stop_reason\":\"end_turn\"}";
    const struct say says[] = { { 200, "Content-Type: application/json\r\n", body }, { 0 } };
    struct model_rig rig;
    struct ask ask = ASK_INIT;

    model_rig_open(&rig, t, "anthropic", says, NULL);
    ask_run(&ask, &rig, NULL);
    ASSERT_REPLIED(&ask, MODEL_STOP_END);
    ASSERT_STR(ask.text, "said");
    ASSERT_EQ(ask.call_count, 0);
    ask_release(&ask);
    model_rig_close(&rig);
}
