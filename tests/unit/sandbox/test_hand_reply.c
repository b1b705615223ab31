/* What a hand may say, sentence by sentence and bound by bound.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/limits.h"
#include "harness/test.h"
#include "sandbox/hand_int.h"

/* What is wrong with it, "" when nothing is. */
static const char *wrong(struct test *t, const char *json)
{
    struct hand_frame frame;
    int r = hand_frame_read(str_from(json), &frame, &t->err);
    const char *what = r < 0 ? arena_text(&t->arena, err_message(&t->err, 0)) : "";

    ASSERT_EQ(r < 0 ? t->err.code : ERR_NONE, r < 0 ? ERR_BAD_REQUEST : ERR_NONE);
    hand_frame_release(&frame);
    ASSERT(!frame.doc);
    err_reset(&t->err);
    return what;
}

static const char *repeat(struct test *t, char c, size_t n)
{
    char *text = arena_alloc(&t->arena, n + 1, 1);

    memset(text, c, n);
    text[n] = '\0';
    return text;
}

TEST(a_hand_says_hello_a_reply_or_a_notice)
{
    static const struct {
        const char *json, *wrong;
    } said[] = {
        { "{\"hello\":1}", "" },
        { "{\"hello\":2}", "a greeting of another version" },
        { "{\"hello\":0}", "a greeting of another version" },
        { "{\"hello\":null}", "a greeting of another version" },
        { "{\"hello\":true}", "a greeting of another version" },
        { "{\"hello\":\"1\"}", "a greeting of another version" },
        { "{\"hello\":1.5}", "a greeting of another version" },
        { "[]", "something that is no object" },
        { "1", "something that is no object" },
        { "null", "something that is no object" },
        { "{}", "a reply without a number" },
        { "{\"id\":1,\"result\":null}", "" },
        { "{\"id\":9223372036854775807,\"result\":1}", "" },
        { "{\"id\":0,\"result\":1}", "a reply without a number" },
        { "{\"id\":-1,\"result\":1}", "a reply without a number" },
        { "{\"id\":\"1\",\"result\":1}", "a reply without a number" },
        { "{\"id\":1.5,\"result\":1}", "a reply without a number" },
        { "{\"id\":9223372036854775808,\"result\":1}", "a reply without a number" },
        { "{\"id\":1}", "a reply with neither result nor error, or both" },
        { "{\"id\":1,\"result\":1,\"error\":{\"code\":\"internal\",\"message\":\"m\"}}",
          "a reply with neither result nor error, or both" },
        { "{\"notice\":{\"kind\":\"disk\",\"detail\":\"full\"}}", "" },
        { "{\"notice\":{\"kind\":\"settings\",\"detail\":\"\"}}", "" },
        { "{\"notice\":{\"kind\":\"Disk\",\"detail\":\"full\"}}", "a notice of an unknown kind" },
        { "{\"notice\":{\"kind\":\"disk\"}}", "a notice of an unknown kind" },
        { "{\"notice\":{\"kind\":\"disk\",\"detail\":1}}", "a notice of an unknown kind" },
        { "{\"notice\":{\"detail\":\"full\"}}", "a notice of an unknown kind" },
        { "{\"notice\":null}", "a notice of an unknown kind" },
        { "{\"notice\":[\"kind\",\"disk\"]}", "a notice of an unknown kind" },
    };

    for (size_t i = 0; i < ARRAY_LEN(said); i++)
        ASSERT_TEXT(wrong(t, said[i].json), said[i].wrong);
}

TEST(an_error_of_a_hand_is_one_of_ours_with_a_message_of_some_length)
{
    static const char part[] = "an error without code or message";
    static const struct {
        const char *error, *wrong;
    } said[] = {
        { "{\"code\":\"not_found\",\"message\":\"no a.c\"}", "" },
        { "{\"code\":\"not_found\",\"message\":\"\"}", "" },
        { "null", "an error that is no object" },
        { "\"not_found\"", "an error that is no object" },
        { "{\"code\":\"not_found\"}", part },
        { "{\"code\":\"\",\"message\":\"m\"}", part },
        { "{\"code\":7,\"message\":\"m\"}", part },
        { "{\"code\":\"not_found\",\"message\":7}", part },
        { "{\"message\":\"m\"}", part },
        { "{\"code\":\"no_such\",\"message\":\"m\"}", "an error with an unknown code" },
        { "{\"code\":\"not_found\\u0000x\",\"message\":\"m\"}", "an error with an unknown code" },
        { "{\"code\":\"Not_found\",\"message\":\"m\"}", "an error with an unknown code" },
    };

    for (size_t i = 0; i < ARRAY_LEN(said); i++)
        ASSERT_TEXT(wrong(t, arena_printf(&t->arena, "{\"id\":1,\"error\":%s}", said[i].error)),
                    said[i].wrong);
    for (size_t n = 2048; n <= 2049; n++)
        ASSERT_TEXT(wrong(t, arena_printf(&t->arena,
                                          "{\"id\":1,\"error\":{\"code\":\"internal\","
                                          "\"message\":\"%s\"}}",
                                          repeat(t, 'm', n))),
                    n == 2048 ? "" : part);
    for (size_t n = 63; n <= 65; n++)
        ASSERT_TEXT(wrong(t, arena_printf(&t->arena,
                                          "{\"id\":1,\"error\":{\"code\":\"%s\","
                                          "\"message\":\"m\"}}",
                                          repeat(t, 'c', n))),
                    n == 63 ? "an error with an unknown code" : part);
}

TEST(a_state_of_a_hand_names_a_directory_and_files_by_their_hash)
{
    const char *hash = repeat(t, 'a', 64), *path = repeat(t, 'p', LIMIT_PATH_BYTES - 1);
    const struct {
        const char *state, *wrong;
    } said[] = {
        { "{}", "" },
        { "{\"cwd\":\"/\"}", "" },
        { "null", "a state that is no object" },
        { "[]", "a state that is no object" },
        { "{\"cwd\":\"\"}", "a state whose cwd is no path" },
        { "{\"cwd\":\"a\"}", "a state whose cwd is no path" },
        { "{\"cwd\":7}", "a state whose cwd is no path" },
        { "{\"cwd\":\"/a\\u0000b\"}", "a state whose cwd is no path" },
        { arena_printf(&t->arena, "{\"cwd\":\"/%s\"}", path), "" },
        { arena_printf(&t->arena, "{\"cwd\":\"/%sp\"}", path), "a state whose cwd is no path" },
        { "{\"read\":{}}", "" },
        { "{\"read\":[]}", "a state whose files are no object" },
        { "{\"read\":7}", "a state whose files are no object" },
        { arena_printf(&t->arena, "{\"read\":{\"/a\":\"%s\"}}", hash), "" },
        { arena_printf(&t->arena, "{\"read\":{\"/%s\":\"%s\"}}", path, hash), "" },
        { arena_printf(&t->arena, "{\"read\":{\"/%sp\":\"%s\"}}", path, hash),
          "a state with something that is no file" },
        { arena_printf(&t->arena, "{\"read\":{\"a\":\"%s\"}}", hash),
          "a state with something that is no file" },
        { arena_printf(&t->arena, "{\"read\":{\"\":\"%s\"}}", hash),
          "a state with something that is no file" },
        { arena_printf(&t->arena, "{\"read\":{\"/a\":\"%sa\"}}", hash),
          "a state with something that is no file" },
        { arena_printf(&t->arena, "{\"read\":{\"/a\":\"%.63s\"}}", hash),
          "a state with something that is no file" },
        { arena_printf(&t->arena, "{\"read\":{\"/a\":\"%.63sA\"}}", hash),
          "a state with something that is no file" },
        { arena_printf(&t->arena, "{\"read\":{\"/a\":\"%.63s\\u0000\"}}", hash),
          "a state with something that is no file" },
        { "{\"read\":{\"/a\":null}}", "a state with something that is no file" },
    };

    for (size_t i = 0; i < ARRAY_LEN(said); i++)
        ASSERT_TEXT(wrong(t, arena_printf(&t->arena, "{\"id\":1,\"result\":1,\"state\":%s}",
                                          said[i].state)),
                    said[i].wrong);
}

TEST(a_state_of_a_hand_has_so_many_files_and_no_more)
{
    const char *hash = repeat(t, '0', 64);

    for (int n = 4096; n <= 4097; n++) {
        AUTO_BUF json = BUF_INIT(1 << 20);

        buf_add_text(&json, "{\"id\":1,\"result\":1,\"state\":{\"read\":{");
        for (int i = 0; i < n; i++)
            buf_printf(&json, "%s\"/%d\":\"%s\"", i ? "," : "", i, hash);
        buf_add_text(&json, "}}}");
        ASSERT_TEXT(wrong(t, buf_text(&json)), n == 4096 ? "" : "a state with too many files");
    }
}

TEST(what_a_hand_said_is_taken_apart)
{
    struct hand_frame frame;
    char hash[65] = { 0 }, *json;

    memset(hash, 'b', 64);
    json = arena_printf(&t->arena,
                        "{\"id\":7,\"result\":null,\"state\":{\"cwd\":\"/w\",\"read\":"
                        "{\"/w/a\":\"%s\"}}}",
                        hash);
    ASSERT_OK(hand_frame_read(str_from(json), &frame, &t->err));
    ASSERT_EQ(frame.said, HAND_SAID_REPLY);
    ASSERT_EQ(frame.id, 7);
    ASSERT(!frame.failed && !frame.result);
    ASSERT_STR(frame.cwd, "/w");
    ASSERT_EQ(json_object_object_length(frame.read), 1);
    hand_frame_release(&frame);

    ASSERT_OK(
        hand_frame_read(STR("{\"id\":8,\"error\":{\"code\":\"conflict\",\"message\":\"50% %s\"}}"),
                        &frame, &t->err));
    ASSERT(frame.failed);
    ASSERT_EQ(frame.err.code, ERR_CONFLICT);
    ASSERT_TEXT(err_message(&frame.err, 0), "50% %s");
    hand_frame_release(&frame);

    ASSERT_OK(hand_frame_read(STR("{\"notice\":{\"kind\":\"memory\",\"detail\":\"d\"},\"id\":1}"),
                              &frame, &t->err));
    ASSERT_EQ(frame.said, HAND_SAID_NOTICE);
    ASSERT_TEXT(frame.kind, "memory");
    ASSERT_STR(frame.detail, "d");
    hand_frame_release(&frame);
}
