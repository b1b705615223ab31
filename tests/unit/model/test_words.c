/* Addresses that are put together, JSON that is mended, and what people read of a refusal.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json.h>

#include "base/buf.h"
#include "base/json_write.h"
#include "base/utf8.h"
#include "harness/test.h"
#include "model/stream_int.h"

/* ---- addresses ---- */

TEST(an_address_has_the_path_and_its_version_once)
{
    static const struct {
        const char *base, *url;
    } cases[] = {
        { "https://x.example", "https://x.example/v1/chat/completions" },
        { "https://x.example/", "https://x.example/v1/chat/completions" },
        { "https://x.example///", "https://x.example/v1/chat/completions" },
        { "https://x.example/v1", "https://x.example/v1/chat/completions" },
        { "https://x.example/v1/", "https://x.example/v1/chat/completions" },
        { "https://x.example/api/v1", "https://x.example/api/v1/chat/completions" },
        { "https://x.example/api", "https://x.example/api/v1/chat/completions" },
        { "https://x.example/mv1", "https://x.example/mv1/v1/chat/completions" },
        { "https://x.example/v1/chat/completions", "https://x.example/v1/chat/completions" },
        { "https://x.example/v1/chat/completions/", "https://x.example/v1/chat/completions" },
        { "https://x.example/v1?a=b", "https://x.example/v1/chat/completions?a=b" },
        { "https://x.example?a=/v1", "https://x.example/v1/chat/completions?a=/v1" },
        { "http://[::1]:8080/v1", "http://[::1]:8080/v1/chat/completions" },
        { "https://x.example/v1#part", "https://x.example/v1/chat/completions" },
        { NULL, "https://default.example/v1/chat/completions" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct model_spec spec = { .id = "m", .base_url = cases[i].base };
        AUTO_BUF url = BUF_INIT(1000);

        ASSERT_OK(
            model_url(&spec, "https://default.example", "/v1/chat/completions", &url, &t->err));
        ASSERT_TEXT(buf_text(&url), cases[i].url);
    }
}

TEST(what_is_no_address_is_refused_with_the_name_of_the_model)
{
    static const char *const bad[] = { "", "x.example", "/v1", "x.example/v1", "mailto:a@b" };

    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct model_spec spec = { .id = "mine", .base_url = bad[i] };
        AUTO_BUF url = BUF_INIT(1000);

        ASSERT_FAILS(model_url(&spec, NULL, "/v1", &url, &t->err), ERR_BAD_REQUEST);
        ASSERT_CONTAINS(err_message(&t->err, 0), "model mine: base_url");
        err_reset(&t->err);
    }
    ASSERT_FAILS(
        model_url(&(struct model_spec){ .id = "m" }, NULL, "/v1", &(struct buf){ 0 }, &t->err),
        ERR_BAD_REQUEST);
}

/* ---- JSON that was cut between the halves of a character ---- */

TEST(halves_are_mended_and_nothing_else_is)
{
    static const struct {
        const char *text, *read; /* NULL: it can't be */
    } cases[] = {
        { "\"\\ud83d\\ude00\"", "\"\xF0\x9F\x98\x80\"" },
        { "\"\\ud83d\"", "\"\xEF\xBF\xBD\"" },
        { "\"\\ude00\"", "\"\xEF\xBF\xBD\"" },
        { "\"\\ude00\\ud83d\"", "\"\xEF\xBF\xBD\xEF\xBF\xBD\"" },
        { "\"\\ud83d\\ud83d\\ude00\"", "\"\xEF\xBF\xBD\xF0\x9F\x98\x80\"" },
        { "\"\\ud83dx\"", "\"\xEF\xBF\xBDx\"" },
        { "\"\\\\ud83d\"", "\"\\\\ud83d\"" },
        { "\"\\\\\\ud83d\"", "\"\\\\\xEF\xBF\xBD\"" },
        { "\"\\uD83D\\uDE00\"", "\"\xF0\x9F\x98\x80\"" },
        { "{\"a\":\"\\udbff\",\"b\":1}", "{\"a\":\"\xEF\xBF\xBD\",\"b\":1}" },
        { "\"\\ud83", NULL },
        { "\"\\ud83d", NULL },
        { "\"\\uzzzz\"", NULL },
        { "{\"a\":\"\\ud83d\"", NULL },
        { "\"\\", NULL },
        { "", NULL },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO_JSON value = NULL;
        AUTO_BUF out = BUF_INIT(1000);
        struct json_writer w = JSON_WRITER(&out);

        if (!cases[i].read) {
            ASSERT(model_json(str_from(cases[i].text), &value, &t->err) < 0);
            ASSERT(err_message(&t->err, 0)[0]);
            err_reset(&t->err);
            continue;
        }
        ASSERT_OK(model_json(str_from(cases[i].text), &value, &t->err));
        json_write_value(&w, value);
        ASSERT_TEXT(buf_text(&out), cases[i].read);
    }
}

/* ---- refusals ---- */

static const struct model_spec spec = { .id = "m", .model = "big", .secret_ref = "key" };

static const char *refusal(struct test *t, int status, const char *body)
{
    struct model_exchange x = { .spec = &spec };

    err_reset(&t->err);
    ASSERT_EQ(model_fault_body(&x, status, str_from(body), -1, &t->err), 0);
    return arena_text(&t->arena, err_message(&t->err, 0));
}

TEST(a_refusal_is_told_in_the_server_s_words_whatever_its_shape)
{
    static const struct {
        int status;
        const char *body, *told;
    } cases[] = {
        { 400, "{\"error\":{\"message\":\"no\"}}", "model m: the server answered 400: no" },
        { 400, "{\"error\":\"no\"}", "model m: the server answered 400: no" },
        { 400, "{\"object\":\"error\",\"message\":\"no\"}",
          "model m: the server answered 400: no" },
        { 400, "{\"detail\":\"no\"}", "model m: the server answered 400: no" },
        { 400, "[{\"error\":{\"message\":\"no\"}}]", "model m: the server answered 400: no" },
        { 400, "  no  ", "model m: the server answered 400: no" },
        { 400, "", "model m: the server answered 400" },
        { 400, "{}", "model m: the server answered 400" },
        { 400, "null", "model m: the server answered 400: null" },
        { 400, "[]", "model m: the server answered 400" },
        { 400, "{\"error\":{\"type\":\"odd\"}}", "model m: the server answered 400: odd" },
        { 400, "{\"error\":{\"message\":7,\"type\":[]}}", "model m: the server answered 400" },
        { 500, "<html>",
          "model m: the server answered 500: a web page instead of an answer of the API" },
        { 301, "",
          "model m: the server answered 301; redirects are not followed: set base_url to "
          "the final address" },
        { 404, "", "model m: the server answered 404; is base_url the address of the API?" },
        { 404, "{\"error\":\"no such model\"}",
          "model m: the server answered 404: no such model; check `model: big` of model m in "
          "config.yaml" },
        { 401, "",
          "model m: the server answered 401; check the secret \"key\": dormouse secret "
          "set key" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        ASSERT_TEXT(refusal(t, cases[i].status, cases[i].body), cases[i].told);
}

/* A terminal may obey them, and a line may read backwards. */
TEST(what_a_server_says_can_not_steer_a_terminal)
{
    static const char *const bodies[] = {
        "a\033[2Jz",
        "a\x07z",
        "a\x7Fz",
        "a\nz\r\t",
        ("a\xC2\x9B"
         "2Jz"),
        "a\u202Ez",
        "a\u2066z",
        "{\"error\":\"a\\u001b[2Jz\"}",
        "{\"error\":\"a\\u009b2Jz\"}",
        "{\"error\":\"a\\u202ez\\u0000\"}",
        "a\xFF\xFEz",
    };

    for (size_t i = 0; i < ARRAY_LEN(bodies); i++) {
        struct str told = str_from(refusal(t, 400, bodies[i]));
        uint32_t code;
        size_t at;

        ASSERT(utf8_valid(told));
        if (utf8_find_odd(told, 1u << UTF8_CONTROL | 1u << UTF8_BIDI, &at, &code) != UTF8_PLAIN)
            FAIL("%zu: U+%04X is told at %zu", i, code, at);
        ASSERT_CONTAINS(told.p, "z");
    }
}

TEST(a_long_refusal_is_cut_between_characters_and_keeps_its_advice)
{
    for (size_t n = 395; n <= 405; n++) {
        AUTO_BUF body = BUF_INIT(10000);
        const char *told;

        while (body.n < n)
            buf_add_char(&body, 'x');
        buf_add_text(&body, "\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4");
        told = refusal(t, 401, buf_text(&body));
        ASSERT(utf8_valid(str_from(told)));
        ASSERT_CONTAINS(told, "dormouse secret set key");
        ASSERT(strlen(told) < ERR_TEXT_MAX);
    }
}
