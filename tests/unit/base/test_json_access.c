/* Getters, field tables and pointers: every kind against every type of value, with the message.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/linkhash.h>
#include <math.h>

#include "base/alloc.h"
#include "base/json.h"
#include "base/json_canonical.h"
#include "base/json_write.h"
#include "base/rand.h"
#include "harness/test.h"

/* Members named after what they hold. */
static const char everything[] =
    "{\"null\":null,\"true\":true,\"int\":7,\"whole\":3.0,\"exp\":2e1,\"half\":0.5,\"neg\":-1,"
    "\"u32\":4294967295,\"u33\":4294967296,\"max\":9223372036854775807,"
    "\"min\":-9223372036854775808,\"over\":9223372036854775808,\"u64\":18446744073709551615,"
    "\"big\":1e300,\"text\":\"x\",\"empty\":\"\",\"list\":[1],\"map\":{\"k\":1}}";

static struct json_object *parsed(struct test *t, const char *text)
{
    struct json_object *value = NULL;

    ASSERT_OK(json_parse(str_from(text), &value, &t->err));
    return value;
}

static int get(enum json_kind kind, struct json_object *doc, const char *key, struct err *err)
{
    struct json_object *value = NULL;
    struct str text;
    double d;
    int64_t i;
    bool b;

    switch (kind) {
    case JSON_STR:
        return json_get_str(doc, key, &text, err);
    case JSON_I64:
        return json_get_i64(doc, key, &i, err);
    case JSON_DOUBLE:
        return json_get_double(doc, key, &d, err);
    case JSON_BOOL:
        return json_get_bool(doc, key, &b, err);
    case JSON_OBJECT:
        return json_get_object(doc, key, &value, err);
    default:
        return json_get_array(doc, key, &value, err);
    }
}

TEST(json_getters_know_every_type)
{
    static const struct {
        enum json_kind kind;
        const char *good, *expected;
    } kinds[] = {
        { JSON_STR, " text empty ", "a string" },
        { JSON_I64, " int whole exp neg u32 u33 max min ", "an integer of 64 bits" },
        { JSON_DOUBLE, " int whole exp half neg u32 u33 max min over u64 big ", "a number" },
        { JSON_BOOL, " true ", "true or false" },
        { JSON_OBJECT, " map ", "an object" },
        { JSON_ARRAY, " list ", "an array" },
    };
    AUTO_JSON doc = parsed(t, everything);
    struct lh_entry *entry;

    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        lh_foreach(json_object_get_object(doc), entry)
        {
            struct json_object *value = lh_entry_v(entry);
            const char *key = lh_entry_k(entry);
            const char *name = arena_printf(&t->arena, " %s ", key);
            bool good = strstr(kinds[i].good, name) != NULL;
            int r = get(kinds[i].kind, doc, key, &t->err);

            if (r != (value ? (good ? 1 : -1) : 0))
                FAIL("%s as %s gave %d", key, kinds[i].expected, r);
            if (r < 0)
                ASSERT_TEXT(t->err.text,
                            arena_printf(&t->arena, "\"%s\": expected %s, found %s", key,
                                         kinds[i].expected, json_type_name(value)));
        }
        ASSERT_EQ(get(kinds[i].kind, doc, "absent", &t->err), 0);
        ASSERT_EQ(get(kinds[i].kind, json_find(doc, "list"), "0", &t->err), 0);
        ASSERT_EQ(get(kinds[i].kind, json_find(doc, "text"), "x", &t->err), 0);
    }
}

/* One member of each kind, all on the same key. */
struct one {
    union {
        struct str text;
        int64_t i64;
        uint32_t u32;
        double number;
        bool truth;
        struct json_object *json;
        struct {
            int64_t k;
        } nested;
    };
};

static const struct json_field nested_fields[] = {
    { .name = "k", .kind = JSON_I64 },
    { NULL },
};

#define I64_RANGE "-9223372036854775808 to 9223372036854775807"

TEST(json_read_knows_every_kind)
{
    static const struct {
        enum json_kind kind;
        const char *text, *message; /* NULL: it is read */
    } cases[] = {
        { JSON_STR, "\"\"", NULL },
        { JSON_STR, "true", "/v: expected a string, found boolean" },
        { JSON_STR, "0.5", "/v: expected a string, found number" },
        { JSON_STR, "[]", "/v: expected a string, found array" },
        { JSON_STR, "{}", "/v: expected a string, found object" },
        { JSON_I64, "9223372036854775807", NULL },
        { JSON_I64, "-9223372036854775808", NULL },
        { JSON_I64, "1e18", NULL },
        { JSON_I64, "9223372036854775808",
          "/v: expected " I64_RANGE ", found 9223372036854775808" },
        { JSON_I64, "1e300", "/v: expected " I64_RANGE ", found 1e300" },
        { JSON_I64, "0.5", "/v: expected an integer, found number" },
        { JSON_I64, "\"1\"", "/v: expected an integer, found string" },
        { JSON_I64, "false", "/v: expected an integer, found boolean" },
        { JSON_U32, "0", NULL },
        { JSON_U32, "-0.0", NULL },
        { JSON_U32, "4294967295", NULL },
        { JSON_U32, "4294967296", "/v: expected 0 to 4294967295, found 4294967296" },
        { JSON_U32, "-1", "/v: expected 0 to 4294967295, found -1" },
        { JSON_U32, "-1.0", "/v: expected 0 to 4294967295, found -1.0" },
        { JSON_U32, "18446744073709551615",
          "/v: expected 0 to 4294967295, found 18446744073709551615" },
        { JSON_U32, "1.5", "/v: expected an integer, found number" },
        { JSON_U32, "[1]", "/v: expected an integer, found array" },
        { JSON_DOUBLE, "1", NULL },
        { JSON_DOUBLE, "1e300", NULL },
        { JSON_DOUBLE, "18446744073709551615", NULL },
        { JSON_DOUBLE, "\"1\"", "/v: expected a number, found string" },
        { JSON_DOUBLE, "{}", "/v: expected a number, found object" },
        { JSON_BOOL, "true", NULL },
        { JSON_BOOL, "1", "/v: expected true or false, found integer" },
        { JSON_BOOL, "\"true\"", "/v: expected true or false, found string" },
        { JSON_OBJECT, "{}", NULL },
        { JSON_OBJECT, "[]", "/v: expected an object, found array" },
        { JSON_OBJECT, "\"{}\"", "/v: expected an object, found string" },
        { JSON_ARRAY, "[]", NULL },
        { JSON_ARRAY, "{}", "/v: expected an array, found object" },
        { JSON_ARRAY, "0", "/v: expected an array, found integer" },
        { JSON_ANY, "0", NULL },
        { JSON_ANY, "[]", NULL },
        { JSON_ANY, "false", NULL },
        { JSON_STRUCT, "{}", NULL },
        { JSON_STRUCT, "{\"k\":1}", NULL },
        { JSON_STRUCT, "{\"k\":null}", NULL },
        { JSON_STRUCT, "[]", "/v: expected an object, found array" },
        { JSON_STRUCT, "{\"k\":\"1\"}", "/v/k: expected an integer, found string" },
        { JSON_STRUCT, "{\"l\":1}", "/v/l: unknown key; allowed are k" },
        { JSON_STRUCT, "{\"a/b\":1}", "/v/a~1b: unknown key; allowed are k" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct json_field fields[] = {
            { .name = "v", .kind = cases[i].kind, .required = true, .nested = nested_fields },
            { NULL },
        };
        AUTO_JSON doc = parsed(t, arena_printf(&t->arena, "{\"v\":%s}", cases[i].text));
        struct one one = { .text = STR_NONE };
        int r = json_read(doc, fields, JSON_REFUSE_UNKNOWN, &one, &t->err);

        if ((r < 0) != (cases[i].message != NULL))
            FAIL("%s gave %d", cases[i].text, r);
        if (r < 0)
            ASSERT_TEXT(t->err.text, cases[i].message);
    }
}

TEST(json_read_gives_the_values)
{
    static const struct json_field fields[] = {
        { .name = "max", .kind = JSON_I64 },
        { NULL },
    };
    static const struct json_field u32[] = { { .name = "u32", .kind = JSON_U32 }, { NULL } };
    static const struct json_field half[] = { { .name = "half", .kind = JSON_DOUBLE }, { NULL } };
    static const struct json_field truth[] = { { .name = "true", .kind = JSON_BOOL }, { NULL } };
    static const struct json_field text[] = { { .name = "text", .kind = JSON_STR }, { NULL } };
    static const struct json_field nested[] = {
        { .name = "map", .kind = JSON_STRUCT, .nested = nested_fields },
        { NULL },
    };
    AUTO_JSON doc = parsed(t, everything);
    struct one one = { .text = STR_NONE };

    ASSERT_OK(json_read(doc, fields, 0, &one, &t->err));
    ASSERT(one.i64 == INT64_MAX);
    ASSERT_OK(json_read(doc, u32, 0, &one, &t->err));
    ASSERT(one.u32 == UINT32_MAX);
    ASSERT_OK(json_read(doc, half, 0, &one, &t->err));
    ASSERT(one.number == 0.5);
    ASSERT_OK(json_read(doc, truth, 0, &one, &t->err));
    ASSERT(one.truth);
    ASSERT_OK(json_read(doc, text, 0, &one, &t->err));
    ASSERT_STR(one.text, "x");
    ASSERT_OK(json_read(doc, nested, 0, &one, &t->err));
    ASSERT_EQ(one.nested.k, 1);
}

TEST(json_pointer_refusals_name_the_part)
{
    static const struct {
        const char *pointer, *message;
        enum err_code code;
    } cases[] = {
        { "/absent", "JSON pointer \"/absent\": there is no \"absent\" in object", ERR_NOT_FOUND },
        { "/map/x/y", "JSON pointer \"/map/x/y\": there is no \"x\" in object", ERR_NOT_FOUND },
        { "/list/1", "JSON pointer \"/list/1\": there is no \"1\" in array", ERR_NOT_FOUND },
        { "/list/-", "JSON pointer \"/list/-\": there is no \"-\" in array", ERR_NOT_FOUND },
        { "/list/00", "JSON pointer \"/list/00\": there is no \"00\" in array", ERR_NOT_FOUND },
        { "/list/-0", "JSON pointer \"/list/-0\": there is no \"-0\" in array", ERR_NOT_FOUND },
        { "/list/0 ", "JSON pointer \"/list/0 \": there is no \"0 \" in array", ERR_NOT_FOUND },
        { "/list/", "JSON pointer \"/list/\": there is no \"\" in array", ERR_NOT_FOUND },
        { "/list/18446744073709551616",
          "JSON pointer \"/list/18446744073709551616\": there is no \"18446744073709551616\" in "
          "array",
          ERR_NOT_FOUND },
        { "/text/0", "JSON pointer \"/text/0\": there is no \"0\" in string", ERR_NOT_FOUND },
        { "/int/0", "JSON pointer \"/int/0\": there is no \"0\" in integer", ERR_NOT_FOUND },
        { "/null/0", "JSON pointer \"/null/0\": there is no \"0\" in null", ERR_NOT_FOUND },
        { "/", "JSON pointer \"/\": there is no \"\" in object", ERR_NOT_FOUND },
        { "map", "expected \"\" or parts that begin with '/'", ERR_BAD_REQUEST },
        { "#/map", "expected \"\" or parts that begin with '/'", ERR_BAD_REQUEST },
        { "/~", "with ~0 for '~' and ~1 for '/'", ERR_BAD_REQUEST },
        { "/~2", "with ~0 for '~' and ~1 for '/'", ERR_BAD_REQUEST },
        { "/map/k~", "with ~0 for '~' and ~1 for '/'", ERR_BAD_REQUEST },
        { "/map/~/k", "with ~0 for '~' and ~1 for '/'", ERR_BAD_REQUEST },
    };
    AUTO_JSON doc = parsed(t, everything);

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct json_object *found = doc;

        ASSERT_FAILS(json_pointer_find(doc, str_from(cases[i].pointer), &found, &t->err),
                     cases[i].code);
        ASSERT_CONTAINS(t->err.text, cases[i].message);
        ASSERT(found == doc);
    }
}

/* Whatever the tokens, a pointer that was put together is taken apart into the same. */
TEST(json_pointer_brings_any_tokens_through)
{
    static const char letters[] = "~~//01a\xc3\xa9 \"\\%#";
    struct rand_fake rand;

    rand_fake_init(&rand, 6901);
    for (int round = 0; round < 5000; round++) {
        AUTO_BUF pointer = BUF_INIT(512);
        char tokens[6][12], out[32];
        size_t count = rand_below(&rand.rand, 6), n;
        struct str rest, token;

        for (size_t i = 0; i < count; i++) {
            n = rand_below(&rand.rand, sizeof(tokens[0]));
            for (size_t j = 0; j < n; j++)
                tokens[i][j] = letters[rand_below(&rand.rand, sizeof(letters) - 1)];
            tokens[i][n] = '\0';
            json_pointer_add(&pointer, str_from(tokens[i]));
        }
        rest = buf_str(&pointer);
        for (size_t i = 0; i < count; i++) {
            ASSERT_EQ(json_pointer_next(&rest, out, sizeof(out), &token), 1);
            ASSERT_STR(token, tokens[i]);
        }
        ASSERT_EQ(json_pointer_next(&rest, out, sizeof(out), &token), 0);
    }
}

static struct json_object *random_value(struct rand *rand, int depth);

static struct json_object *random_string(struct rand *rand)
{
    AUTO_BUF text = BUF_INIT(64);
    size_t n = rand_below(rand, 5);

    while (n-- > 0) {
        static const char *const parts[] = { "a",    "\"", "\\",       "\n",
                                             "\x01", "/",  "\xc3\xa9", "\xf0\x9f\x98\x80" };

        buf_add_text(&text, parts[rand_below(rand, ARRAY_LEN(parts))]);
    }
    return json_object_new_string(buf_text(&text));
}

static struct json_object *random_double(struct rand *rand)
{
    return json_object_new_double(
        ldexp((double)rand_below(rand, 1u << 30) + 0.5, (int)rand_below(rand, 200) - 100));
}

static struct json_object *random_nested(struct rand *rand, int depth)
{
    bool list = rand_below(rand, 2) == 0;
    struct json_object *value = list ? json_object_new_array() : json_object_new_object();
    size_t n = rand_below(rand, 5);

    while (n-- > 0) {
        if (list) {
            json_object_array_add(value, random_value(rand, depth - 1));
        } else {
            AUTO_JSON key = random_string(rand);

            json_object_object_add(value, json_object_get_string(key),
                                   random_value(rand, depth - 1));
        }
    }
    return value;
}

static struct json_object *random_value(struct rand *rand, int depth)
{
    switch (rand_below(rand, depth > 0 ? 8 : 5)) {
    case 0:
        return NULL;
    case 1:
        return json_object_new_boolean((int)rand_below(rand, 2));
    case 2:
        return json_object_new_int64((int64_t)rand_below(rand, 1u << 20) - (1 << 19));
    case 3:
        return random_double(rand);
    case 4:
        return random_string(rand);
    default:
        return random_nested(rand, depth);
    }
}

/* Written, read back: equal by value, by hash and by canonical text; and the text is stable. */
TEST(json_values_survive_writing_and_reading)
{
    struct rand_fake rand;

    rand_fake_init(&rand, 8259);
    for (int round = 0; round < 3000; round++) {
        AUTO_JSON value = random_value(&rand.rand, 4);
        AUTO_JSON back = NULL;
        AUTO_BUF text = BUF_INIT(1 << 20), again = BUF_INIT(1 << 20);
        AUTO_BUF canonical = BUF_INIT(1 << 20), canonical_back = BUF_INIT(1 << 20);
        struct json_writer w = JSON_WRITER(&text), w2 = JSON_WRITER(&again);

        json_write_value(&w, value);
        ASSERT_OK(json_write_end(&w));
        ASSERT_OK(json_parse(buf_str(&text), &back, &t->err));
        if (!json_equal(value, back) || json_hash(value) != json_hash(back))
            FAIL("%s is not what was written", buf_text(&text));
        json_write_value(&w2, back);
        ASSERT_TEXT(buf_text(&again), buf_text(&text));
        ASSERT_OK(json_canonical(value, &canonical, &t->err));
        ASSERT_OK(json_canonical(back, &canonical_back, &t->err));
        ASSERT_TEXT(buf_text(&canonical), buf_text(&canonical_back));
    }
}
