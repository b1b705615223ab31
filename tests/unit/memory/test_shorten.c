/* Content that is too long.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>

#include "base/json.h"
#include "base/utf8.h"
#include "harness/test.h"
#include "memory/message_int.h"

/* {"member":"front xxx... end"} with a text of n bytes. */
static struct str content(struct test *t, const char *member, size_t n)
{
    char *fill = arena_alloc(&t->arena, n + 1, 1);

    memset(fill, 'x', n);
    memcpy(fill, "front", 5);
    memcpy(fill + n - 3, "end", 3);
    return str_from(arena_printf(&t->arena, "{\"%s\":\"%s\"}", member, fill));
}

static struct json_object *parsed(struct test *t, struct str text)
{
    struct json_object *value = NULL;

    ASSERT_OK(json_parse(text, &value, &t->err));
    return value;
}

TEST(what_fits_is_left_alone)
{
    struct str in = STR("{ \"text\" : \"short\" }");

    ASSERT_STR(message_shorten(MESSAGE_USER, in, in.n, false, &t->arena), in.p);
}

TEST(a_long_text_loses_its_middle_and_says_how_much)
{
    struct str out =
        message_shorten(MESSAGE_USER, content(t, "text", 10000), 1000, false, &t->arena);
    AUTO_JSON value = parsed(t, out);
    struct str text = json_str(json_find(value, "text"));
    struct str mark = STR("bytes left out ...]");
    long left_out = 0;

    ASSERT(out.n <= 1000 && out.n > 800);
    ASSERT(str_starts(text, STR("frontxxx")));
    ASSERT(str_ends(text, STR("xxxend")));
    ASSERT(str_find(text, mark) > 0);
    ASSERT_EQ(sscanf(text.p + str_find(text, STR("[...")), "[... %ld bytes", &left_out), 1);
    ASSERT_EQ(left_out + (long)text.n - (long)strlen("\n[... 9000 bytes left out ...]\n"), 10000);
}

/* What a command prints may hold zero bytes; they end nothing. */
TEST(zero_bytes_in_a_text_are_counted_and_kept)
{
    AUTO_BUF in = BUF_INIT(100000);
    struct str text, note = STR("\n[... ");
    long left_out = 0;

    buf_add_text(&in, "{\"output\":\"front\\u0000more");
    while (in.n < 10000)
        buf_add_char(&in, 'x');
    buf_add_text(&in, "end\\u0000\"}");
    {
        AUTO_JSON whole = parsed(t, buf_str(&in));
        struct str out = message_shorten(MESSAGE_TOOL_RESULT, buf_str(&in), 1000, false, &t->arena);
        AUTO_JSON value = parsed(t, out);

        text = json_str(json_find(value, "output"));
        ASSERT(str_starts(text, str_of("front\0morexxx", 13)));
        ASSERT(str_ends(text, str_of("xend\0", 5)));
        ASSERT_EQ(sscanf(text.p + str_find(text, note), "\n[... %ld bytes", &left_out), 1);
        ASSERT_EQ(left_out + (long)text.n - (long)strlen("\n[... 9000 bytes left out ...]\n"),
                  (long)json_str(json_find(whole, "output")).n);
    }
}

TEST(every_kind_keeps_its_member)
{
    static const struct {
        enum message_kind kind;
        const char *member;
    } kinds[] = { { MESSAGE_USER, "text" },
                  { MESSAGE_THOUGHT, "text" },
                  { MESSAGE_TOOL_RESULT, "output" },
                  { MESSAGE_ACTION, "arguments" } };

    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        struct str out = message_shorten(kinds[i].kind, content(t, kinds[i].member, 9000), 500,
                                         false, &t->arena);
        AUTO_JSON value = parsed(t, out);

        ASSERT(str_starts(json_str(json_find(value, kinds[i].member)), STR("front")));
        ASSERT(out.n < 700);
    }
}

TEST(short_texts_beside_a_long_one_stay_whole)
{
    struct str long_one = content(t, "stdout", 50000);
    struct str in = str_from(arena_printf(
        &t->arena, "{\"output\":{\"exit_code\":3,\"stderr\":\"it failed\",\"more\":[%.*s]}}",
        STR_ARG(long_one)));
    struct str out = message_shorten(MESSAGE_TOOL_RESULT, in, 2000, false, &t->arena);
    AUTO_JSON value = parsed(t, out);
    struct json_object *output = json_find(value, "output");
    int64_t code = 0;

    ASSERT(out.n <= 2100);
    ASSERT_STR(json_str(json_find(output, "stderr")), "it failed");
    ASSERT_EQ(json_get_i64(output, "exit_code", &code, &t->err), 1);
    ASSERT_EQ(code, 3);
}

TEST(no_character_is_cut)
{
    char *fill = arena_alloc(&t->arena, 1, 30001);

    for (int i = 0; i < 30000; i += 3)
        memcpy(fill + i, "\xe2\x82\xac", 3);
    for (size_t max = 300; max < 330; max++) {
        struct str in = str_from(arena_printf(&t->arena, "{\"text\":\"%s\"}", fill));
        struct str out = message_shorten(MESSAGE_USER, in, max, false, &t->arena);

        ASSERT(utf8_valid(out));
        ASSERT(str_find(out, STR("\xef\xbf\xbd")) < 0);
    }
}

TEST(arguments_stay_an_object_of_their_own)
{
    char *fill = arena_alloc(&t->arena, 1, 20001);
    struct str in, out;

    memset(fill, 'z', 20000);
    in = str_from(arena_printf(
        &t->arena, "{\"arguments\":\"{\\\"path\\\":\\\"a.txt\\\",\\\"text\\\":\\\"%s\\\"}\"}",
        fill));
    out = message_shorten(MESSAGE_ACTION, in, 1000, true, &t->arena);
    AUTO_JSON value = parsed(t, out);
    AUTO_JSON arguments = parsed(t, json_str(json_find(value, "arguments")));
    ASSERT_STR(json_str(json_find(arguments, "path")), "a.txt");
    ASSERT(str_find(json_str(json_find(arguments, "text")), STR("left out")) > 0);
}

TEST(arguments_that_are_long_without_texts_say_what_they_were)
{
    AUTO_BUF in = BUF_INIT(1 << 20);

    buf_add_text(&in, "{\"arguments\":\"{\\\"rows\\\":[1");
    for (int i = 0; i < 5000; i++)
        buf_add_text(&in, ",2");
    buf_add_text(&in, "]}\"}");
    AUTO_JSON value =
        parsed(t, message_shorten(MESSAGE_ACTION, buf_str(&in), 500, true, &t->arena));
    AUTO_JSON arguments = parsed(t, json_str(json_find(value, "arguments")));
    ASSERT_STR(json_str(json_find(arguments, "left_out")), "10012 bytes of arguments");
}

TEST(numbers_without_end_become_a_text_with_a_gap)
{
    AUTO_BUF in = BUF_INIT(1 << 20);
    struct str out;

    buf_add_text(&in, "{\"output\":[1");
    for (int i = 0; i < 5000; i++)
        buf_add_text(&in, ",23456");
    buf_add_text(&in, "]}");
    out = message_shorten(MESSAGE_TOOL_RESULT, buf_str(&in), 1000, false, &t->arena);
    AUTO_JSON value = parsed(t, out);
    ASSERT(out.n < 1100);
    ASSERT(str_starts(json_str(json_find(value, "output")), STR("{\"output\":[1,23456")));
}

TEST(what_the_provider_must_see_again_is_kept_whole_or_dropped)
{
    struct str opaque = content(t, "signature", 3000);
    struct str in = str_from(
        arena_printf(&t->arena, "{\"text\":\"%.*s\",\"thinking\":\"hm\",\"opaque\":\"%.*s\"}", 5000,
                     content(t, "y", 6000).p + 6, 2000, opaque.p + 14));
    AUTO_JSON kept = parsed(t, message_shorten(MESSAGE_THOUGHT, in, 1000, true, &t->arena));
    AUTO_JSON dropped = parsed(t, message_shorten(MESSAGE_THOUGHT, in, 1000, false, &t->arena));

    ASSERT_EQ(json_str(json_find(kept, "opaque")).n, 2000);
    ASSERT(json_str(json_find(kept, "text")).n < 1000);
    ASSERT_STR(json_str(json_find(kept, "thinking")), "hm");
    ASSERT(!json_find(dropped, "opaque") && !json_find(dropped, "thinking"));
    ASSERT(json_str(json_find(dropped, "text")).n > 800);
}

TEST(what_is_no_json_becomes_a_text)
{
    static const char *const bad[] = { "not json at all", "[1,2,3", "\"a text",
                                       "{\"a\":1,\"a\":2" };

    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        char *in = arena_alloc(&t->arena, 1, 5001);
        struct str out;

        memset(in, 'q', 5000);
        memcpy(in, bad[i], strlen(bad[i]));
        out = message_shorten(MESSAGE_USER, str_of(in, 5000), 600, false, &t->arena);
        AUTO_JSON value = parsed(t, out);
        ASSERT(json_str(json_find(value, "text")).n > 400);
        ASSERT(out.n < 800);
    }
}

TEST(the_smallest_space_still_gives_valid_json)
{
    for (size_t max = 0; max < 100; max++) {
        AUTO_JSON value = parsed(t, message_shorten(MESSAGE_TOOL_RESULT, content(t, "output", 4000),
                                                    max, false, &t->arena));

        ASSERT(json_str(json_find(value, "output")).n < 250);
    }
}
