/* Texts that become values: units, and every variable.
 *
 * SPDX-License-Identifier: MIT
 */
#include <ctype.h>
#include <json-c/json.h>
#include <stdio.h>

#include "base/json.h"
#include "config/config_int.h"
#include "config_test.h"

#define BAD (-2) /* no value that a text can mean */

TEST(durations_by_the_table)
{
    static const struct {
        const char *text;
        int64_t ms;
    } cases[] = {
        { "0ms", 0 },
        { "1ms", 1 },
        { "999ms", 999 },
        { "1s", 1000 },
        { "90s", 90000 },
        { "1m", 60000 },
        { "59m", 3540000 },
        { "1h", 3600000 },
        { "48h", 172800000 },
        { "1d", 86400000 },
        { "365d", 31536000000 },
        { "007s", 7000 },
        { "9223372036854775807ms", INT64_MAX },
        { "forever", BAD },
        { "9223372036854775808ms", BAD },
        { "9223372036854776s", BAD },
        { "106751991168d", BAD },
        { "", BAD },
        { "5", BAD },
        { "ms", BAD },
        { "5 s", BAD },
        { " 5s", BAD },
        { "5s ", BAD },
        { "+5s", BAD },
        { "-5s", BAD },
        { "5.5s", BAD },
        { "5e3s", BAD },
        { "0x5s", BAD },
        { "5S", BAD },
        { "5M", BAD },
        { "5sec", BAD },
        { "5us", BAD },
        { "5w", BAD },
        { "5y", BAD },
        { "1h30m", BAD },
        { "forever ", BAD },
        { "Forever", BAD },
        { "never", BAD },
        { "\xd9\xa5s", BAD }, /* a five that is no ASCII digit */
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        int64_t ms = BAD;
        int r = config_parse_duration(str_from(cases[i].text), &ms, &t->err);

        if ((r < 0) != (cases[i].ms == BAD) || (r == 0 && ms != cases[i].ms))
            FAIL("\"%s\" is %lld, expected %lld", cases[i].text, (long long)ms,
                 (long long)cases[i].ms);
        if (r < 0)
            ASSERT_CONTAINS(err_message(&t->err, 0), "write a number with ms, s, m, h or d");
        err_reset(&t->err);
    }
}

TEST(sizes_by_the_table)
{
    static const struct {
        const char *text;
        int64_t bytes;
    } cases[] = {
        { "0B", 0 },
        { "1B", 1 },
        { "1KiB", 1024 },
        { "1023KiB", 1047552 },
        { "1MiB", 1048576 },
        { "1GiB", 1073741824 },
        { "4096GiB", 4398046511104 },
        { "8589934591GiB", 9223372035781033984 },
        { "8589934592GiB", BAD },
        { "9223372036854775808B", BAD },
        { "", BAD },
        { "1", BAD },
        { "B", BAD },
        { "1K", BAD },
        { "1KB", BAD },
        { "1kib", BAD },
        { "1MIB", BAD },
        { "1TiB", BAD },
        { "1 GiB", BAD },
        { "1.5GiB", BAD },
        { "-1GiB", BAD },
        { "forever", BAD },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        int64_t bytes = BAD;
        int r = config_parse_bytes(str_from(cases[i].text), &bytes, &t->err);

        if ((r < 0) != (cases[i].bytes == BAD) || (r == 0 && bytes != cases[i].bytes))
            FAIL("\"%s\" is %lld, expected %lld", cases[i].text, (long long)bytes,
                 (long long)cases[i].bytes);
        if (r < 0)
            ASSERT_CONTAINS(err_message(&t->err, 0), "write a number with B, KiB, MiB or GiB");
        err_reset(&t->err);
    }
}

TEST(a_very_long_text_is_cut_in_the_message)
{
    char *text = arena_alloc(&t->arena, 10001, 1);
    int64_t n;

    memset(text, '7', 10000);
    ASSERT_FAILS(config_parse_duration(str_from(text), &n, &t->err), ERR_BAD_REQUEST);
    ASSERT(strlen(err_message(&t->err, 0)) < 200);
    err_reset(&t->err);
    ASSERT_FAILS(config_parse_bytes(str_from(text), &n, &t->err), ERR_BAD_REQUEST);
    ASSERT(strlen(err_message(&t->err, 0)) < 200);
}

/* ---- variables ---- */

/* What each variable's text becomes, as JSON; NULL: it is refused with this message. */
static const struct {
    enum config_kind kind;
    const char *text, *json, *message;
} texts[] = {
    { CONFIG_BOOL, "true", "true", NULL },
    { CONFIG_BOOL, "1", "true", NULL },
    { CONFIG_BOOL, "yes", "true", NULL },
    { CONFIG_BOOL, "false", "false", NULL },
    { CONFIG_BOOL, "0", "false", NULL },
    { CONFIG_BOOL, "no", "false", NULL },
    { CONFIG_BOOL, "", NULL, "must be true or false" },
    { CONFIG_BOOL, "TRUE", NULL, "must be true or false" },
    { CONFIG_BOOL, "on", NULL, "must be true or false" },
    { CONFIG_BOOL, "true ", NULL, "must be true or false" },
    { CONFIG_INT, "0", "0", NULL },
    { CONFIG_INT, "-7", "-7", NULL },
    { CONFIG_INT, "9223372036854775807", "9223372036854775807", NULL },
    { CONFIG_INT, "9223372036854775808", NULL, "must be a whole number" },
    { CONFIG_INT, "", NULL, "must be a whole number" },
    { CONFIG_INT, "1.0", NULL, "must be a whole number" },
    { CONFIG_INT, "0x10", NULL, "must be a whole number" },
    { CONFIG_INT, " 1", NULL, "must be a whole number" },
    { CONFIG_NUMBER, "0.5", "0.5", NULL },
    { CONFIG_NUMBER, "5", "5.0", NULL },
    { CONFIG_NUMBER, "-2.25", "-2.25", NULL },
    { CONFIG_NUMBER, "1e3", "1000.0", NULL },
    { CONFIG_NUMBER, "", NULL, "must be a number" },
    { CONFIG_NUMBER, ".", NULL, "must be a number" },
    { CONFIG_NUMBER, "1e", NULL, "must be a number" },
    { CONFIG_NUMBER, "1e999", NULL, "must be a number" },
    { CONFIG_NUMBER, "nan", NULL, "must be a number" },
    { CONFIG_NUMBER, "infinity", NULL, "must be a number" },
    { CONFIG_NUMBER, "0x1p3", NULL, "must be a number" },
    { CONFIG_NUMBER, "1,5", NULL, "must be a number" },
    { CONFIG_NUMBER, "1 ", NULL, "must be a number" },
    { CONFIG_LIST, "", "[]", NULL },
    { CONFIG_LIST, "a", "[\"a\"]", NULL },
    { CONFIG_LIST, "a,b", "[\"a\",\"b\"]", NULL },
    { CONFIG_LIST, " a , b ", "[\"a\",\"b\"]", NULL },
    { CONFIG_LIST, "a b", "[\"a b\"]", NULL },
    { CONFIG_LIST, "a,,b", "[\"a\",\"\",\"b\"]", NULL },
    { CONFIG_TEXT, "", "\"\"", NULL },
    { CONFIG_TEXT, " kept as it is ", "\" kept as it is \"", NULL },
    { CONFIG_CHOICE, "fifo", "\"fifo\"", NULL },
    { CONFIG_DURATION, "5s", "\"5s\"", NULL },
    { CONFIG_BYTES, "5MiB", "\"5MiB\"", NULL },
    { CONFIG_RECORDS, "[]", NULL, "can only be set in a file" },
};

TEST(the_text_of_a_variable_means_a_value_of_the_keys_kind)
{
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        const struct config_field field = { .path = "x", .kind = texts[i].kind };
        AUTO_JSON value = NULL;
        int r = config_value_from_text(&field, str_from(texts[i].text), &value, &t->err);
        const char *shown = r < 0 ? err_message(&t->err, 0)
                                  : json_object_to_json_string_ext(value, JSON_C_TO_STRING_PLAIN);
        const char *expected = texts[i].json ? texts[i].json : texts[i].message;

        if ((r < 0) != (texts[i].json == NULL) || strcmp(shown, expected) != 0)
            FAIL("\"%s\" gives %s, expected %s", texts[i].text, shown, expected);
        err_reset(&t->err);
    }
}

static const char *variable_of(struct test *t, const char *path)
{
    char *name = arena_printf(&t->arena, "DORMOUSE_%s", path);

    for (char *p = name; *p; p++)
        *p = *p == '.' ? '_' : (char)toupper((unsigned char)*p);
    return name;
}

/* A valid text for a key that differs from its default. */
static const char *other_text(const struct config_field *field)
{
    static const struct {
        const char *path, *text;
    } special[] = {
        { "server.listen", "127.0.0.1:1" },
        { "server.token", "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopq" },
        { "store.url", "postgresql://h/d" },
        { "connect.slack.base_url", "https://h" },
        { "connect.google.base_url", "https://h" },
        { "connect.google.auth_url", "https://h" },
        { "connect.google.token_url", "https://h" },
        { "scheduler.lease", "20s" },
        { "scheduler.poll", "5s" },
        { "budget.cost_per_day", "0.5" },
        { "agent.model", "offline" },
        { "skills.trusted_keys",
          "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef" },
    };

    for (size_t i = 0; i < ARRAY_LEN(special); i++)
        if (strcmp(field->path, special[i].path) == 0)
            return special[i].text;
    switch (field->kind) {
    case CONFIG_BOOL:
        return strcmp(field->initial, "true") == 0 ? "false" : "true";
    case CONFIG_INT:
    case CONFIG_NUMBER:
        return "3";
    case CONFIG_DURATION:
        return "11h";
    case CONFIG_BYTES:
        return "11MiB";
    default:
        return "other";
    }
}

struct wanted {
    const char *key, *origin;
    bool found;
};

static void has_origin(void *arg, const char *key, struct json_object *value, const char *origin)
{
    struct wanted *wanted = arg;

    if (value && strcmp(key, wanted->key) == 0 && strcmp(origin, wanted->origin) == 0)
        wanted->found = true;
}

TEST(every_key_has_a_variable_of_its_name)
{
    for (const struct config_field *f = config_fields; f->path; f++) {
        const char *name = variable_of(t, f->path);
        const char *const variables[] = { arena_printf(&t->arena, "%s=%s", name, other_text(f)),
                                          NULL };
        AUTO_CONFIG_PROBLEMS problems = { .n = 0 };
        AUTO(config)
        config = config_case_load(t, &(struct config_case){ .variables = variables }, &problems);
        struct wanted wanted = { f->path, arena_printf(&t->arena, "$%s", name), false };

        if (f->kind == CONFIG_RECORDS) {
            ASSERT_CONTAINS(config_problem_text(t, &problems, 0), "can only be set in a file");
            continue;
        }
        ASSERT_TEXT(config_problem_text(t, &problems, 0), "");
        config_each(config, has_origin, &wanted);
        if (!wanted.found)
            FAIL("%s did not set %s", variables[0], f->path);
    }
}

TEST(a_variable_with_a_letter_missing_is_answered_with_the_right_one)
{
    for (const struct config_field *f = config_fields; f->path; f++) {
        const char *name = variable_of(t, f->path);
        const char *const variables[] = {
            arena_printf(&t->arena, "%.*s=1", (int)strlen(name) - 1, name), NULL
        };
        AUTO_CONFIG_PROBLEMS problems = { .n = 0 };
        AUTO(config)
        config = config_case_load(t, &(struct config_case){ .variables = variables }, &problems);

        ASSERT(config == NULL);
        ASSERT_CONTAINS(config_problem_text(t, &problems, 0),
                        arena_printf(&t->arena, "did you mean %s?", name));
    }
}

TEST(a_variables_name_is_exact)
{
    static const char *const ignored[] = {
        "dormouse_server_listen=x", "XDORMOUSE_SERVER_LISTEN=x", "DORMOUSE=x",
        "DORMOUSE_DATA=/x",         "DORMOUSE_LOG=debug",        "DORMOUSE_LOG_FORMAT=json",
        "DORMOUSE_TEST_ANYTHING=x", "DORMOUSE_SERVER_LISTEN",
    };

    for (size_t i = 0; i < ARRAY_LEN(ignored); i++) {
        const char *const variables[] = { ignored[i], NULL };
        AUTO_CONFIG_PROBLEMS problems = { .n = 0 };
        AUTO(config)
        config = config_case_load(t, &(struct config_case){ .variables = variables }, &problems);

        if (!config)
            FAIL("%s: %s", ignored[i], config_problem_text(t, &problems, 0));
        ASSERT_TEXT(config->server_listen, "127.0.0.1:7117");
    }
}
