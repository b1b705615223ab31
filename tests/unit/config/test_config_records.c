/* Models and servers in the configuration: what a record must hold, names that are nearly right,
 * and secrets where none may stand.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json.h>
#include <stdio.h>

#include "base/json.h"
#include "config/config_int.h"
#include "config_test.h"

static void assert_says(struct test *t, const char *file, const char *text)
{
    const char *actual = config_wrong(t, file);

    if (!strstr(actual, text))
        FAIL("%s\n  gives \"%s\",\n  which lacks \"%s\"", file, actual, text);
}

/* Each after "id" and "provider", so that the place is known. */
TEST(a_model_has_its_limits)
{
    static const struct {
        const char *line, *text;
    } cases[] = {
        { "model: m", "it is valid" },
        { "price: { input: 1 }", "config.yaml:3:15: `openai` needs `model`, or the `base_url`" },
        { "model: 5", "config.yaml:4:12: `models.0.model` must be a string" },
        { "base_url: http://127.0.0.1:8080/v1", "it is valid" },
        { "base_url: ftp://h", "config.yaml:4:15: `models.0.base_url` must begin with http://" },
        { "base_url: https://u@h/", "hold no user name or password" },
        { "base_url: 'https://a b/'", "config.yaml:4:16: `models.0.base_url`" },
        { "model: m\n    secret_ref: work/key-1.a", "it is valid" },
        { "secret_ref: ''", "must have at least 1" },
        { "secret_ref: /abs", "must be the name of a stored secret" },
        { "secret_ref: 'a b'", "must be the name of a stored secret" },
        { "secret_ref: [k]", "config.yaml:4:17: `models.0.secret_ref` must be a string" },
        { "model: m\n    price: { input: 0 }", "it is valid" },
        { "price: { input: -1 }", "config.yaml:4:21: `models.0.price.input` must be at least 0" },
        { "price: { output: free }", "`models.0.price.output` must be a number" },
        { "price: { cached: 1000000001 }", "`models.0.price.cached` must be at most" },
        { "price: { inptu: 1 }", "config.yaml:4:14: no key `inptu`; did you mean `input`?" },
        { "price: 5", "`models.0.price` must be an object" },
        { "privacy: { trains: maybe }", "`models.0.privacy.trains` must be true or false" },
        { "model: m\n    privacy: { trains: false, retention: 30d, jurisdiction: EU }",
          "it is valid" },
        { "model: m\n    context_tokens: 4096", "it is valid" },
        { "context_tokens: 100", "`models.0.context_tokens` must be at least 256" },
        { "context_tokens: 4k", "`models.0.context_tokens` must be an integer" },
        { "privacy: { jurisdction: EU }", "did you mean `jurisdiction`?" },
        { "secretref: k", "config.yaml:4:5: no key `secretref`; did you mean `secret_ref`?" },
        { "api_key: k", "config.yaml:4:5: no key `api_key`; allowed here: id, provider" },
        { "provider: offline", "config.yaml:4:5: " },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_says(t,
                    arena_printf(&t->arena, "models:\n  - id: a\n    provider: openai\n    %s\n",
                                 cases[i].line),
                    cases[i].text);
}

TEST(every_provider_and_nothing_else_is_one)
{
    static const char *const providers[] = { "openai, model: m", "anthropic, model: m",
                                             "functiongemma, base_url: 'http://[::1]/'", "offline",
                                             "script, script: s.yaml" };

    for (size_t i = 0; i < ARRAY_LEN(providers); i++) {
        AUTO_CONFIG_PROBLEMS problems = { .n = 0 };
        const char *file =
            arena_printf(&t->arena, "models: [ { id: a, provider: %s } ]\n", providers[i]);
        AUTO(config) config = config_case_load(t, &(struct config_case){ .file = file }, &problems);

        ASSERT_TEXT(config_problem_text(t, &problems, 0), "");
        ASSERT_EQ(config->models.items[0].provider, i);
    }
    assert_says(t, "models: [ { id: a, provider: OpenAI } ]\n", "must be one of openai, anthropic");
    assert_says(t, "models: [ { id: a, provider: '' } ]\n", "must be one of");
    assert_says(t, "models: [ { provider: offline } ]\n", "id");
    assert_says(t, "models: [ 5 ]\n", "config.yaml:1:11: `models.0` must be an object");
    assert_says(t, "models: { id: a }\n", "config.yaml:1:9: `models` must be an array");
}

TEST(each_provider_takes_its_own_keys_and_no_others)
{
    static const struct {
        const char *model, *text;
    } cases[] = {
        { "openai, base_url: 'http://h/v1'", "it is valid" },
        { "anthropic", "`anthropic` needs `model`" },
        { "script", "`script` needs `script`" },
        { "script, script: a.yaml, base_url: 'http://h/'",
          "config.yaml:1:54: `base_url` is only for openai, anthropic and functiongemma" },
        { "script, script: a.yaml, secret_ref: k", "`secret_ref` is only for" },
        { "openai, model: m, script: a.yaml", "`script` is only for script" },
        { "openai, model: m, server: llama-server", "`server` is only for functiongemma" },
        { "anthropic, model: m, gguf: a.gguf", "`gguf` is only for functiongemma" },
        { "offline, model: m", "`model` is only for" },
        { "functiongemma", "needs the `base_url` of a llama-server" },
        { "functiongemma, server: s", "belong together" },
        { "functiongemma, gguf: g", "belong together" },
        { "functiongemma, server: s, gguf: g", "it is valid" },
        { "functiongemma, server: s, gguf: g, base_url: 'http://h/'", "exclude each other" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_says(
            t, arena_printf(&t->arena, "models: [ { id: a, provider: %s } ]\n", cases[i].model),
            cases[i].text);
    assert_says(t, "models: [ { id: offline, provider: openai, model: m } ]\n",
                "`offline` is the built-in model");
    assert_says(t, "models: [ { id: offline, provider: offline } ]\n", "it is valid");
}

TEST(ids_are_names)
{
    static const struct {
        const char *id;
        bool good;
    } cases[] = {
        { "a", true },     { "A-1.b_c", true }, { "9", false /* a number in YAML */ },
        { "'9'", true },   { "''", false },     { "-a", false },
        { ".a", false },   { "_a", false },     { "'a b'", false },
        { "a/b", false },  { "'a\\b'", false }, { "\xc3\xa9", false },
        { "true", false }, { "'true'", true },  { "null", false },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const char *file =
            arena_printf(&t->arena, "models: [ { id: %s, provider: offline } ]\n", cases[i].id);

        if (cases[i].good)
            ASSERT_TEXT(config_wrong(t, file), "it is valid");
        else
            assert_says(t, file, "`models.0.id` must be");
    }
}

TEST(the_second_of_two_equal_ids_is_named_even_when_others_lie_between)
{
    assert_says(t,
                "models:\n"
                "  - { id: a, provider: offline }\n"
                "  - { id: b, provider: offline }\n"
                "  - { id: A, provider: offline }\n"
                "  - { id: a, provider: offline }\n",
                "config.yaml:5:11: two models are called `a`; an id must be unique");
}

/* A key with its last letters swapped is answered with the key, in every section. */
TEST(a_nearly_right_key_is_answered_with_the_right_one)
{
    for (const struct config_field *f = config_fields; f->path; f++) {
        const char *name = strrchr(f->path, '.') ? strrchr(f->path, '.') + 1 : f->path;
        char *file = arena_printf(&t->arena, "{ %s: 1", f->path), *last;
        int depth = 1;

        for (char *dot; (dot = strchr(file, '.')) != NULL; depth++)
            file = arena_printf(&t->arena, "%.*s: { %s", (int)(dot - file), file, dot + 1);
        last = strrchr(file, ':') - 1;
        if (last[0] == last[-1])
            continue;
        *last ^= last[-1], last[-1] ^= *last, *last ^= last[-1];
        while (depth-- > 0)
            file = arena_printf(&t->arena, "%s }", file);
        assert_says(t, file, arena_printf(&t->arena, "did you mean `%s`?", name));
    }
}

TEST(a_name_far_from_all_is_answered_with_all)
{
    assert_says(t, "skills: { xyzzy: 1 }\n", "allowed here: root, trusted_keys");
    assert_says(t, "sandbox: { limits: { xyzzy: 1 } }\n",
                "no key `xyzzy`; allowed here: timeout, memory, processes");
    assert_says(t, "server: { '': 1 }\n", "no key ``; allowed here: listen, hosts, token");
}

/* Places where a person may paste a key, and texts that look like one but are none. */
TEST(a_secret_is_found_wherever_it_was_pasted)
{
    static const char *const places[] = {
        "models: [ { id: a, provider: openai, secret_ref: %s } ]\n",
        "models: [ { id: a, provider: openai, base_url: 'https://h/?k=%s' } ]\n",
    };
    static const char *const secrets[] = { "ghp_abcdefghijklmnopqrstuvwxyz0123456789",
                                           "sk-proj-abcdefghijklmnopqrstuvwx0123456789" };
    static const char *const names[] = { "openai", "work/openai-key-2026", "team.a_b-c",
                                         "a-very-long-name-of-a-secret-that-is-still-a-name" };

    for (size_t i = 0; i < ARRAY_LEN(places); i++)
        for (size_t k = 0; k < ARRAY_LEN(secrets); k++) {
            const char *at = strstr(places[i], "%s");
            const char *file = arena_printf(&t->arena, "%.*s%s%s", (int)(at - places[i]), places[i],
                                            secrets[k], at + 2);

            assert_says(t, file, "looks like a secret itself");
            ASSERT(strstr(config_wrong(t, file), secrets[k]) == NULL);
        }
    for (size_t k = 0; k < ARRAY_LEN(names); k++)
        ASSERT_TEXT(config_wrong(t, arena_printf(&t->arena,
                                                 "models: [ { id: a, provider: openai, "
                                                 "model: m, secret_ref: %s } ]\n",
                                                 names[k])),
                    "it is valid");
}
