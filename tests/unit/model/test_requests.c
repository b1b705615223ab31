/* Requests that servers take, whatever the history looks like.
 *
 * Histories are made up at random: calls whose results are lost, results whose calls are gone,
 * orders that no run would leave behind, names and arguments that a model invented. What the
 * providers send is then checked by the rules that the APIs state, written down here once more and
 * independently of the code that follows them.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/rand.h"
#include "loop/http_fake.h"
#include "model_rig.h"

#define MESSAGES_MAX 14
#define CALLS_MAX    3

struct history {
    struct model_message messages[MESSAGES_MAX];
    struct model_call calls[MESSAGES_MAX][CALLS_MAX];
    size_t n;
    unsigned ids; /* of calls so far: c0, c1, ... */
};

static const char *one_of(struct rand *rand, const char *const *items, size_t n)
{
    return items[rand_below(rand, n)];
}

static struct str some_text(struct rand *rand)
{
    static const char *const texts[] = { "",           " ",  "hello",       "two\nlines",
                                         "\"quoted\\", "\t", "gr\xC3\xBCn", "<end_of_turn>",
                                         "{\"a\":1}" };

    return str_from(one_of(rand, texts, ARRAY_LEN(texts)));
}

static struct str some_id(struct test *t, struct rand *rand, unsigned ids)
{
    /* Mostly of a call that is there, sometimes of none. */
    return str_from(arena_printf(&t->arena, "c%u", (unsigned)rand_below(rand, ids + 2)));
}

static void add_calls(struct test *t, struct rand *rand, struct history *h)
{
    static const char *const names[] = {
        "bash", "fs__list", "no such tool", "", "a.b/c", "\xC3\xA4"
    };
    static const char *const arguments[] = { "{}", "{\"a\":[1,2]}", "{broken", "", "null", "[]" };
    struct model_message *m = &h->messages[h->n];

    m->call_count = rand_below(rand, CALLS_MAX + 1);
    m->calls = h->calls[h->n];
    for (size_t i = 0; i < m->call_count; i++)
        h->calls[h->n][i] = (struct model_call){
            .id = str_from(arena_printf(&t->arena, "c%u", h->ids++)),
            .name = str_from(one_of(rand, names, ARRAY_LEN(names))),
            .arguments = str_from(one_of(rand, arguments, ARRAY_LEN(arguments))),
        };
}

static void make_history(struct test *t, struct rand *rand, struct history *h)
{
    size_t n = 1 + rand_below(rand, MESSAGES_MAX);

    memset(h, 0, sizeof(*h));
    for (; h->n < n; h->n++) {
        struct model_message *m = &h->messages[h->n];

        m->role = (enum model_role)(MODEL_USER + rand_below(rand, 3));
        m->text = some_text(rand);
        if (m->role == MODEL_ASSISTANT)
            add_calls(t, rand, h);
        if (m->role == MODEL_TOOL) {
            m->call_id = some_id(t, rand, h->ids);
            m->tool_name = STR("bash");
            m->failed = rand_below(rand, 2);
        }
    }
}

/* ---- sending, without a network ---- */

static void on_done(void *arg, const struct model_reply *reply, const struct err *err,
                    int64_t retry_after_ms)
{
    (void)reply, (void)err, (void)retry_after_ms;
    (*(unsigned *)arg)++;
}

/* The body that goes out; the caller puts it. text, when wanted, lies in t->arena. */
static struct json_object *sent(struct test *t, const char *provider, const struct history *h,
                                const char **ret_text)
{
    static const struct model_sink sink = { .on_done = on_done };
    static const struct http_retry_policy once = { .max_attempts = 1 };
    const struct http_fake_answer answer = { .status = 400 };
    const struct model_spec spec = {
        .id = "m", .provider = provider, .model = "x", .base_url = "http://127.0.0.1"
    };
    /* One that is not copied is treated as one that is, and stays as it was. */
    const struct model_request request = { .model_id = "m",
                                           .system = STR("Be kind."),
                                           .messages = h->messages,
                                           .message_count = h->n,
                                           .stable = h->n % 2 };
    const struct history before = *h;
    struct model_gateway_config config = { .models = &spec, .model_count = 1, .retry = &once };
    struct json_object *body = NULL;
    struct clock_fake clock;
    struct model_gateway *gateway = NULL;
    struct model_exchange *x;
    unsigned dones = 0;
    struct str text;

    clock_fake_init(&clock, 0);
    config.loop = loop_new_fake(&clock);
    config.http = http_fake_new(config.loop, &answer, 1);
    ASSERT_OK(model_gateway_new(&config, &gateway, &t->err));
    ASSERT_OK(model_start(gateway, &request, &sink, &dones, &x, &t->err));
    loop_fake_advance(config.loop, MINUTES(1));
    ASSERT_EQ(dones, 1);
    ASSERT_EQ(http_fake_count(config.http), 1);
    text = http_fake_seen(config.http, 0)->body;
    if (ret_text)
        *ret_text = arena_copy(&t->arena, text.p, text.n);
    ASSERT_OK(json_parse(text, &body, &t->err));
    ASSERT(memcmp(&before, h, sizeof(before)) == 0);
    model_gateway_free(gateway);
    http_client_free(config.http);
    loop_free(config.loop);
    return body;
}

/* ---- the rules ---- */

static struct json_object *item(struct json_object *list, size_t i)
{
    return json_object_array_get_idx(list, i);
}

static size_t length(struct json_object *list)
{
    return json_object_is_type(list, json_type_array) ? json_object_array_length(list) : 0;
}

static struct str at(struct json_object *object, const char *name)
{
    return json_str(json_find(object, name));
}

static bool is_wire_name(struct str name)
{
    for (size_t i = 0; i < name.n; i++)
        if (!(name.p[i] >= 'a' && name.p[i] <= 'z') && !(name.p[i] >= 'A' && name.p[i] <= 'Z') &&
            !(name.p[i] >= '0' && name.p[i] <= '9') && name.p[i] != '_' && name.p[i] != '-')
            return false;
    return name.n > 0 && name.n <= 64;
}

static bool is_object_text(struct str text)
{
    AUTO_JSON value = NULL;

    return json_parse(text, &value, NULL) == 0 && json_object_is_type(value, json_type_object);
}

/* Chat Completions: after calls one tool message each, in a row; tool messages nowhere else. */
static const char *openai_fault(struct json_object *body)
{
    struct json_object *messages = json_find(body, "messages");

    for (size_t i = 0; i < length(messages); i++) {
        struct json_object *m = item(messages, i), *calls = json_find(m, "tool_calls");
        size_t n = length(calls);

        if (str_is(at(m, "role"), "tool"))
            return "a result without a call";
        if (!str_is(at(m, "role"), "assistant") && calls)
            return "calls of somebody else";
        if (calls && n == 0)
            return "an empty list of calls";
        if (!json_object_is_type(json_find(m, "content"), json_type_string) && n == 0)
            return "a message without content";
        for (size_t k = 0; k < n; k++) {
            struct json_object *function = json_find(item(calls, k), "function");
            struct json_object *result = item(messages, i + 1 + k);

            if (!is_wire_name(at(function, "name")) || !is_object_text(at(function, "arguments")))
                return "a call that can't be parsed";
            if (!result || !str_is(at(result, "role"), "tool") ||
                !str_eq(at(result, "tool_call_id"), at(item(calls, k), "id")))
                return "a call without its result";
        }
        i += n;
    }
    return NULL;
}

static size_t count_type(struct json_object *content, const char *type)
{
    size_t n = 0;

    for (size_t i = 0; i < length(content); i++)
        n += str_is(at(item(content, i), "type"), type);
    return n;
}

static bool has_result(struct json_object *content, size_t among, struct str id)
{
    size_t n = 0;

    for (size_t i = 0; i < among && i < length(content); i++)
        n += str_eq(at(item(content, i), "tool_use_id"), id);
    return n == 1;
}

/* Messages API: user first, in turns, nothing empty, results of a turn's calls first in the next.
 */
static const char *anthropic_fault(struct json_object *body)
{
    struct json_object *messages = json_find(body, "messages"), *before = NULL;

    for (size_t i = 0; i < length(messages); i++) {
        struct json_object *content = json_find(item(messages, i), "content");
        size_t uses = count_type(before, "tool_use");

        if (!str_is(at(item(messages, i), "role"), i % 2 ? "assistant" : "user"))
            return "not in turns";
        if (length(content) == 0)
            return "a turn without content";
        if (count_type(content, "tool_result") != uses)
            return "not one result for each call";
        for (size_t k = 0; k < length(content); k++)
            if (str_is(at(item(content, k), "type"), "text") &&
                str_trim(at(item(content, k), "text")).n == 0)
                return "an empty text";
        for (size_t k = 0; before && k < length(before); k++)
            if (str_is(at(item(before, k), "type"), "tool_use") &&
                (!has_result(content, uses, at(item(before, k), "id")) ||
                 !is_wire_name(at(item(before, k), "id")) ||
                 !is_wire_name(at(item(before, k), "name")) ||
                 !json_object_is_type(json_find(item(before, k), "input"), json_type_object)))
                return "a call that is refused";
        before = str_is(at(item(messages, i), "role"), "assistant") ? content : NULL;
    }
    return count_type(before, "tool_use") ? "calls at the end without results" : NULL;
}

static void check_rules(struct test *t, const char *provider,
                        const char *(*fault)(struct json_object *body), uint64_t seed)
{
    struct rand_fake rand;
    struct history h;

    rand_fake_init(&rand, seed);
    for (int round = 0; round < 400; round++) {
        const char *text, *why;
        AUTO_JSON body = NULL;

        make_history(t, &rand.rand, &h);
        body = sent(t, provider, &h, &text);
        if ((why = fault(body)))
            FAIL("round %d: %s: %s", round, why, text);
    }
}

TEST(chat_completions_get_a_history_that_they_take_whatever_was_recorded)
{
    check_rules(t, "openai", openai_fault, 11);
}

TEST(the_messages_api_gets_a_history_that_it_takes_whatever_was_recorded)
{
    check_rules(t, "anthropic", anthropic_fault, 12);
}

/* ---- nothing is lost ---- */

TEST(what_people_and_tools_said_is_in_the_request_word_for_word)
{
    struct rand_fake rand;
    struct history h;

    rand_fake_init(&rand, 13);
    for (int round = 0; round < 100; round++) {
        AUTO_JSON body = NULL;
        const char *text;

        make_history(t, &rand.rand, &h);
        for (size_t i = 0; i < h.n; i++)
            h.messages[i].text = str_from(arena_printf(&t->arena, "said-%d-%zu.", round, i));
        body = sent(t, round % 2 ? "openai" : "anthropic", &h, &text);
        for (size_t i = 0; i < h.n; i++)
            if (!strstr(text, h.messages[i].text.p))
                FAIL("round %d: message %zu is lost in %s", round, i, text);
    }
}

/* ---- prompt caches ---- */

TEST(a_conversation_that_goes_on_begins_with_the_bytes_of_the_turn_before)
{
    static const struct model_call call = { .id = { "c1", 2 },
                                            .name = { "bash", 4 },
                                            .arguments = { "{\"command\":\"ls\"}", 16 } };
    struct history h = { .n = 1 };
    const char *before, *after;
    AUTO_JSON one = NULL;
    AUTO_JSON two = NULL;
    size_t same;

    h.messages[0] = (struct model_message){ .role = MODEL_USER, .text = STR("look") };
    one = sent(t, "openai", &h, &before);
    h.messages[1] =
        (struct model_message){ .role = MODEL_ASSISTANT, .calls = &call, .call_count = 1 };
    h.messages[2] = (struct model_message){
        .role = MODEL_TOOL, .call_id = STR("c1"), .tool_name = STR("bash"), .text = STR("a.txt")
    };
    h.n = 3;
    two = sent(t, "openai", &h, &after);
    same = strlen(before) - strlen("]}");
    ASSERT(strncmp(before, after, same) == 0);
    ASSERT(strlen(after) > strlen(before));
}
