/* SPDX-License-Identifier: MIT */
#include "base/json_put.h"

#include <json-c/json.h>

#include "base/alloc.h"
#include "base/json.h"
#include "dies.h"

TEST(json_put_writes_a_key_and_its_value)
{
    AUTO_BUF out = BUF_INIT(1024);
    struct json_writer w = JSON_WRITER(&out);
    AUTO_JSON value = json_object_new_string("v");

    json_write_object_begin(&w);
    json_put_str(&w, "str", STR("a\"b"));
    json_put_str(&w, "none", STR_NONE);
    json_put_text(&w, "text", "t");
    json_put_text(&w, "null text", NULL);
    json_put_i64(&w, "i64", INT64_MIN);
    json_put_u64(&w, "u64", UINT64_MAX);
    json_put_double(&w, "double", 0.5);
    json_put_bool(&w, "bool", true);
    json_put_null(&w, "null");
    json_put_value(&w, "value", value);
    json_put_raw(&w, "raw", STR("[1]"));
    json_write_object_end(&w);
    ASSERT_OK(json_write_end(&w));
    ASSERT_TEXT(buf_text(&out),
                "{\"str\":\"a\\\"b\",\"none\":\"\",\"text\":\"t\",\"null text\":null,"
                "\"i64\":-9223372036854775808,\"u64\":18446744073709551615,\"double\":0.5,"
                "\"bool\":true,\"null\":null,\"value\":\"v\",\"raw\":[1]}");
}

TEST(json_put_writes_times_as_rfc_3339)
{
    AUTO_BUF out = BUF_INIT(1024);
    struct json_writer w = JSON_WRITER(&out);

    json_write_object_begin(&w);
    json_put_time(&w, "zero", 0);
    json_put_time(&w, "at", INT64_C(1771398000123));
    json_put_some_time(&w, "some", INT64_C(1771398000000));
    json_put_some_time(&w, "never", 0);
    json_write_object_end(&w);
    ASSERT_OK(json_write_end(&w));
    ASSERT_TEXT(buf_text(&out), "{\"zero\":\"1970-01-01T00:00:00.000Z\","
                                "\"at\":\"2026-02-18T07:00:00.123Z\","
                                "\"some\":\"2026-02-18T07:00:00.000Z\"}");
}

TEST(json_put_opens_what_is_inside)
{
    AUTO_BUF out = BUF_INIT(1024);
    struct json_writer w = JSON_WRITER(&out);

    json_write_object_begin(&w);
    json_put_object(&w, "o");
    json_put_array(&w, "a");
    json_write_i64(&w, 1);
    json_write_array_end(&w);
    json_write_object_end(&w);
    json_put_array(&w, "empty");
    json_write_array_end(&w);
    json_write_object_end(&w);
    ASSERT_OK(json_write_end(&w));
    ASSERT_TEXT(buf_text(&out), "{\"o\":{\"a\":[1]},\"empty\":[]}");
}

TEST(json_put_some_leaves_out_what_says_nothing)
{
    AUTO_BUF out = BUF_INIT(1024);
    struct json_writer w = JSON_WRITER(&out);

    json_write_object_begin(&w);
    json_put_some_str(&w, "a", STR_NONE);
    json_put_some_str(&w, "b", STR(""));
    json_put_some_text(&w, "c", NULL);
    json_put_some_text(&w, "d", "");
    json_put_some_i64(&w, "e", 0);
    json_put_given(&w, "f", NULL);
    json_put_some_str(&w, "g", STR("0"));
    json_put_some_text(&w, "h", " ");
    json_put_some_i64(&w, "i", -1);
    json_put_given(&w, "j", "");
    json_write_object_end(&w);
    ASSERT_OK(json_write_end(&w));
    ASSERT_TEXT(buf_text(&out), "{\"g\":\"0\",\"h\":\" \",\"i\":-1,\"j\":\"\"}");
}

static void put_into_an_array(void)
{
    struct buf out = BUF_INIT(1024);
    struct json_writer w = JSON_WRITER(&out);

    json_write_array_begin(&w);
    json_put_i64(&w, "k", 1);
}

TEST(json_put_in_an_array_is_a_mistake_of_ours)
{
    assert_dies(t, put_into_an_array, "bug at ");
}
