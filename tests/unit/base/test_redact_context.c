/* Secrets where they are met: every kind in every surrounding, split over fields, on many lines,
 * and from several threads. What stands around them must survive.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json.h>
#include <pthread.h>
#include <stdio.h>

#include "base/alloc.h"
#include "base/redact.h"
#include "harness/test.h"

#define M "***REDACTED***"

static const char *redacted(struct test *t, const char *text)
{
    AUTO_BUF out = BUF_INIT(1u << 20);
    AUTO_BUF again = BUF_INIT(1u << 20);

    ASSERT_EQ(redact(str_from(text), &out), 0);
    ASSERT_EQ(redact(buf_str(&out), &again), 0);
    ASSERT_TEXT(buf_text(&again), buf_text(&out));
    return arena_text(&t->arena, buf_text(&out));
}

/* Values that nothing but their surroundings tells: the context must. %s is the value. */
TEST(redact_hides_a_value_in_every_context_and_keeps_what_stands_around)
{
    static const char *const contexts[] = {
        /* JSON */
        "{\"api_key\":\"%s\",\"after\":1}",
        "{\"api_key\" : \"%s\" , \"after\":1}",
        "{\n  \"password\": \"%s\",\n  \"after\": 1\n}",
        "{\"body\":\"{\\\"password\\\":\\\"%s\\\",\\\"after\\\":1}\"}",
        "{\"name\":\"DB_PASSWORD\",\"value\":\"%s\",\"after\":1}",
        "{\"name\": \"X-Api-Key\", \"value\": \"%s\", \"after\": 1}",
        "[{\"key\":\"client_secret\",\"value\":\"%s\"},\"after\"]",
        "{\\\"name\\\":\\\"DB_PASSWORD\\\",\\\"value\\\":\\\"%s\\\",\\\"after\\\":1}",
        "[\"Authorization: Bearer %s\",\"after\"]",
        "[\"X-Api-Key: %s\",\"after\"]",
        "{\"log\":\"Authorization: Basic %s\",\"after\":1}",
        "{\\\"h\\\":\\\"Cookie: sid=%s\\\",\\\"after\\\":1}",
        /* YAML */
        "db:\n  password: %s\n  after: 1\n",
        "db:\n  password: '%s'\n  after: 1\n",
        "db:\n  password: \"%s\" # note\n  after: 1\n",
        "- api_key: %s\n- after\n",
        "env:\n  - name: DB_PASSWORD\n    value: %s\n  - name: after\n",
        "env:\n  - name: DB_PASSWORD\n    value: \"%s\"\n  - name: after\n",
        "secret: |\n  %s\n  %s\nafter: 1\n",
        "secret: >-\n  %s\nafter: 1\n",
        "{password: %s, after: 1}",
        /* URLs */
        "postgresql://ann:%s@db.example/x?after",
        "https:\\/\\/ann:%s@db.example\\/after",
        "https://host/p?access_token=%s&after=1",
        "https://host/p#access_token=%s&after=1",
        "https://host/cb?client_secret=%s&after=1",
        "redis://:%s@after:6379/0",
        "see <https://u:%s@h/> after",
        /* shell */
        "export DB_PASSWORD=%s\nafter",
        "DB_PASSWORD='%s' run after",
        "DB_PASSWORD=\"%s\" run after",
        "run --password %s --after",
        "run --password=%s --after",
        "run --api-key '%s' --after",
        "curl -H 'Authorization: Bearer %s' https://after",
        "curl -H \"X-Api-Key: %s\" https://after",
        "curl -H \"Authorization: Bearer %s\" -d after",
        "curl -b 'x' -H 'Cookie: sid=%s' https://after",
        "psql \"host=h password=%s after=1\"",
        /* HTTP */
        "GET / HTTP/1.1\r\nAuthorization: Bearer %s\r\nAccept: after\r\n",
        "Authorization: %s\r\nAccept: after\r\n",
        "Proxy-Authorization: Basic %s\nAccept: after\n",
        "Cookie: sid=%s; theme=dark\nAccept: after\n",
        "Set-Cookie: sid=%s; HttpOnly\nAccept: after\n",
        "x-api-key: %s\nAccept: after\n",
        "X-Auth-Token: %s\nAccept: after\n",
        /* files of settings and code */
        "[db]\npassword = %s\nafter = 1\n",
        "password: \"%s\", after: 1",
        "AccountName=a;AccountKey=%s;EndpointSuffix=after",
        "$config['db_password'] = '%s'; // after",
        "os.environ[\"API_KEY\"] = \"%s\" # after",
        "api_key := \"%s\" // after",
        "props.put(\"x\", 1); clientSecret => '%s', after",
    };
    static const char *const values[] = { "hunter2hunter2", "a1B2c3D4e5F6g7H8",
                                          "Zm9vOmJhcjpiYXo0Mg==", "correct.horse_battery-9" };

    for (size_t i = 0; i < ARRAY_LEN(contexts); i++)
        for (size_t k = 0; k < ARRAY_LEN(values); k++) {
            char text[512];
            const char *clean;

            snprintf(text, sizeof(text), contexts[i], values[k], values[k]);
            clean = redacted(t, text);
            if (strstr(clean, values[k]) || !strstr(clean, M) || !strstr(clean, "after"))
                FAIL("\"%s\"\n  became \"%s\"", text, clean);
        }
}

/* JSON stays JSON: what is parsed after redaction has the same members. */
TEST(redact_leaves_json_that_still_parses)
{
    static const char *const texts[] = {
        "{\"password\":\"a\\\"b\\\\\",\"x\":[1,{\"token\":\"abc123def\"}],\"z\":null}",
        "{\"h\":[\"Authorization: Bearer abc\\\"def\",\"Cookie: a=b\"],\"z\":null}",
        "{\"u\":\"https:\\/\\/a:b@c\\/\",\"z\":null}",
        "{\"k\":\"-----BEGIN PRIVATE KEY-----\\nabc\\n-----END PRIVATE KEY-----\\n\",\"z\":null}",
        "{\"k\":\"-----BEGIN PRIVATE KEY-----\\nabc\",\"z\":null}",
        "{\"env\":[{\"name\":\"API_KEY\",\"value\":\"a,b}c\"}],\"z\":null}",
        "{\"cmd\":\"curl -H 'Authorization: Bearer x' http://u:p@h/ --password y\",\"z\":null}",
        "{\"n\":\"sk-1234567890abcdefghij\",\"m\":\"AKIAIOSFODNN7EXAMPLE\",\"z\":null}",
    };

    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        const char *clean = redacted(t, texts[i]);
        struct json_object *value = json_tokener_parse(clean);

        if (!value || !json_object_object_get_ex(value, "z", NULL) || !strstr(clean, M))
            FAIL("%s\n  became %s", texts[i], clean);
        json_object_put(value);
    }
}

TEST(redact_takes_private_keys_over_many_lines)
{
    static const struct {
        const char *text, *expected;
    } cases[] = {
        { "-----BEGIN PGP PRIVATE KEY BLOCK-----\nVersion: GnuPG v2 (GNU/Linux)\nComment: see "
          "<https://a.b/?c=d>; x_y@z!\n\nlQOYBF\n=abcd\n-----END PGP PRIVATE KEY BLOCK-----\nafter",
          M "\nafter" },
        { "> -----BEGIN RSA PRIVATE KEY-----\n> Proc-Type: 4,ENCRYPTED\n> DEK-Info: "
          "AES-128-CBC,0A\n>\n"
          "> MIIE\n> -----END RSA PRIVATE KEY-----\nafter",
          "> " M "\nafter" },
        { "key: |\n  -----BEGIN EC PRIVATE KEY-----\n  MHcC\n  -----END EC PRIVATE "
          "KEY-----\nafter: 1",
          "key: |\n  " M "\nafter: 1" },
        { "K='-----BEGIN PRIVATE KEY-----\nabc+/=\n-----END PRIVATE KEY-----' after",
          "K='" M "' after" },
        { "-----BEGIN PRIVATE KEY-----\r\nabc\r\n-----END PRIVATE KEY-----\r\nafter",
          M "\r\nafter" },
        { "-----BEGIN PRIVATE KEY-----\nabc\n-----BEGIN PRIVATE KEY-----\ndef\n-----END PRIVATE "
          "KEY-----",
          M },
        { "-----BEGIN X509 CRL-----\nabc\n-----END X509 CRL-----",
          "-----BEGIN X509 CRL-----\nabc\n-----END X509 CRL-----" },
        { "-----BEGIN certificate, not a PRIVATE KEY-----\nabc",
          "-----BEGIN certificate, not a PRIVATE KEY-----\nabc" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const char *clean = redacted(t, cases[i].text);

        if (strncmp(cases[i].expected, M, strlen(M)) == 0 && strcmp(cases[i].expected, M) == 0)
            ASSERT(strstr(clean, "abc") == NULL && strstr(clean, "def") == NULL);
        else
            ASSERT_TEXT(clean, cases[i].expected);
    }
}

TEST(redact_leaves_lists_of_names_and_values_that_are_no_secrets)
{
    static const char *const texts[] = {
        "{\"name\":\"HOME\",\"value\":\"/home/ann\"}",
        "{\"name\":\"password\",\"type\":\"string\"}",
        "{\"name\":\"DB_PASSWORD\",\"value\":\"\"}",
        "{\"name\":\"DB_PASSWORD\",\"value\":null}",
        "{\"name\":\"DB_PASSWORD\",\"valueFrom\":{\"secretKeyRef\":{\"name\":\"db\"}}}",
        "{\"key\":\"max_tokens\",\"value\":\"4096\"}",
        "- name: DB_PASSWORD\n  value: ${DB_PASSWORD}\n",
        "name: password\ntype: string\n",
    };

    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        ASSERT_TEXT(redacted(t, texts[i]), texts[i]);
}

TEST(redact_json_sees_pairs_numbers_and_names)
{
    static const struct {
        const char *json, *expected;
    } cases[] = {
        { "{\"name\":\"DB_PASSWORD\",\"value\":\"x\"}",
          "{\"name\":\"DB_PASSWORD\",\"value\":\"" M "\"}" },
        { "{\"value\":\"x\",\"name\":\"DB_PASSWORD\"}",
          "{\"value\":\"" M "\",\"name\":\"DB_PASSWORD\"}" },
        { "{\"Value\":7,\"Key\":\"apiKey\"}", "{\"Value\":\"" M "\",\"Key\":\"apiKey\"}" },
        { "{\"value\":\"x\",\"name\":\"HOME\"}", "{\"value\":\"x\",\"name\":\"HOME\"}" },
        { "{\"value\":\"x\",\"name\":7}", "{\"value\":\"x\",\"name\":7}" },
        { "[482913,48291,482913.5,{\"n\":482913}]",
          "[\"" M "\",48291,\"" M "\",{\"n\":\"" M "\"}]" },
        { "{\"sk-1234567890abcdefghij\":1,\"Bearer abcdef1234567890\":2}",
          "{\"" M "\":1,\"Bearer " M "\":2}" },
        { "{\"password\":\"x\",\"password_hint\":\"dog\"}",
          "{\"password\":\"" M "\",\"password_hint\":\"dog\"}" },
    };

    ASSERT_EQ(redact_register(STR("482913")), 0);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct json_object *value = json_tokener_parse(cases[i].json), *clean = redact_json(value);

        ASSERT_TEXT(json_object_to_json_string_ext(clean, JSON_C_TO_STRING_PLAIN),
                    cases[i].expected);
        json_object_put(clean);
        json_object_put(value);
    }
    redact_forget_all();
}

TEST(redact_json_of_a_wide_object_is_quick)
{
    struct json_object *value = json_object_new_object(), *clean;
    char name[32];

    for (int i = 0; i < 50000; i++) {
        snprintf(name, sizeof(name), "member %d", i);
        json_object_object_add(value, name, json_object_new_int(i));
    }
    clean = redact_json(value); /* the harness stops what is quadratic */
    ASSERT_EQ(json_object_object_length(clean), 50000);
    json_object_put(clean);
    json_object_put(value);
}

TEST(redact_hides_further_services_by_their_prefix)
{
    /* Cut in two so that no scanner of this source takes them for real. */
    static const char *const keys[][2] = {
        { "SK", "0123456789abcdef0123456789abcdef" },
        { "key-", "0123456789abcdef0123456789abcdef" },
        { "dapi", "0123456789abcdef0123456789abcdef" },
        { "LTAI", "4Fabcdefgh1234567890" },
        { "NRAK-", "ABCDEFGHIJKLMNOPQRSTUVWXYZ1" },
        { "HRKU-", "01234567-89ab-cdef-0123-456789abcdef" },
        { "nfp_", "abcdefghijklmnopqrstuvwxyz0123456789" },
        { "sbp_", "0123456789abcdef0123456789abcdef01234567" },
        { "sb_secret_", "abcdefghij_klmnopqrst-uv" },
        { "pul-", "0123456789abcdef0123456789abcdef01234567" },
        { "pscale_tkn_", "abcdefghijklmnopqrstuvwxyz0123456789" },
        { "glc_", "abcdefghijklmnopqrstuvwxyz0123456789" },
        { "hvb.", "abcdefghijklmnopqrstuvwxyz" },
        { "dp.st.", "prd.abcdefghijklmnopqrstuvwxyz0123456789abcd" },
        { "sntryu_", "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef" },
        { "ATATT3", "xFfGF0abcdefghijklmnopqrstuvwxyz0123456789_abcdefghij-klm" },
        { "PMAK-", "0123456789abcdef01234567-0123456789abcdef0123456789abcdef01" },
    };
    static const char *const names[] = {
        "SKU-1234, key-value, dapi, LTAI, hvb.x, pul-down, glc_x, SKETCHES",
        "key-0123456789abcdef0123456789abcdef0", "SK0123456789abcdef"
    };

    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        const char *text = arena_printf(&t->arena, "is %s%s.", keys[i][0], keys[i][1]);
        const char *clean = redacted(t, text);

        if (strncmp(clean, "is " M, strlen("is " M)) != 0)
            FAIL("%s became %s", text, clean);
    }
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        ASSERT_TEXT(redacted(t, names[i]), names[i]);
}

struct worker {
    pthread_t thread;
    int number;
    unsigned leaks;
};

static void *register_and_redact(void *arg)
{
    struct worker *worker = arg;
    char secret[64], text[128];

    for (int i = 0; i < 300; i++) {
        AUTO_BUF out = BUF_INIT(1000);

        snprintf(secret, sizeof(secret), "plum-%d-tree-%d", worker->number, i % 7);
        snprintf(text, sizeof(text), "a %s and password=%s b", secret, secret);
        redact_register(str_from(secret));
        redact(str_from(text), &out);
        worker->leaks += strstr(buf_text(&out), secret) != NULL;
        if (i % 3)
            redact_forget(str_from(secret));
    }
    return NULL;
}

/* Also run under ThreadSanitizer. */
TEST(redact_register_forget_and_redact_go_on_in_many_threads)
{
    struct worker workers[4] = {
        { .number = 1 }, { .number = 2 }, { .number = 3 }, { .number = 4 }
    };

    for (size_t i = 0; i < ARRAY_LEN(workers); i++)
        ASSERT_EQ(pthread_create(&workers[i].thread, NULL, register_and_redact, &workers[i]), 0);
    for (size_t i = 0; i < ARRAY_LEN(workers); i++) {
        pthread_join(workers[i].thread, NULL);
        ASSERT_EQ(workers[i].leaks, 0);
    }
    redact_forget_all();
    ASSERT_TEXT(redacted(t, "plum-1-tree-3"), "plum-1-tree-3");
}
