/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/hash.h"
#include "hand_ops.h"
#include "sandbox/op_file.h"
#include "sandbox/op_lines.h"

TEST(read_file_gives_numbered_lines)
{
    struct ops *ops = ops_new(t);
    struct json_object *r;
    char sha256[SHA256_TEXT_SIZE];

    ops_write(t, ops, "a.txt", "one\ntwo\n\nfour");
    r = OPS_CALL(ops, op_read_file, "{\"path\":\"a.txt\"}");
    ASSERT_TEXT(ops_str(r, "text"), "     1\tone\n     2\ttwo\n     3\t\n     4\tfour\n");
    ASSERT_TEXT(ops_str(r, "path"), ops_path(t, ops, "a.txt"));
    ASSERT_TEXT(ops_str(r, "kind"), "text");
    ASSERT_EQ(ops_int(r, "lines/first"), 1);
    ASSERT_EQ(ops_int(r, "lines/last"), 4);
    ASSERT_EQ(ops_int(r, "lines/total"), 4);
    ASSERT_EQ(ops_int(r, "bytes"), 13);
    ASSERT_EQ(ops_bool(r, "truncated"), 0);
    ASSERT_EQ(ops_bool(r, "notes"), -1);
    sha256_text(STR("one\ntwo\n\nfour"), sha256);
    ASSERT_TEXT(ops_str(r, "sha256"), sha256);
    ASSERT_TEXT(map_find(&ops->files_read, str_from(ops_path(t, ops, "a.txt"))), sha256);
}

TEST(read_file_gives_ranges_and_where_to_go_on)
{
    struct ops *ops = ops_new(t);
    struct json_object *r;

    ops_write(t, ops, "f", "1\n2\n3\n4\n5\n");
    r = OPS_CALL(ops, op_read_file, "{\"path\":\"f\",\"offset\":2,\"limit\":2}");
    ASSERT_TEXT(ops_str(r, "text"), "     2\t2\n     3\t3\n");
    ASSERT_EQ(ops_int(r, "lines/first"), 2);
    ASSERT_EQ(ops_int(r, "lines/last"), 3);
    ASSERT_EQ(ops_int(r, "lines/total"), 5);
    ASSERT_EQ(ops_bool(r, "truncated"), 1);
    ASSERT_EQ(ops_int(r, "next_offset"), 4);
    r = OPS_CALL(ops, op_read_file, "{\"path\":\"f\",\"offset\":5}");
    ASSERT_EQ(ops_bool(r, "truncated"), 0);
    OPS_FAILS(ops, ERR_BAD_REQUEST, op_read_file, "{\"path\":\"f\",\"offset\":6}");
    ASSERT_CONTAINS(test_err_text(t), "has 5 lines");
    OPS_FAILS(ops, ERR_BAD_REQUEST, op_read_file, "{\"path\":\"f\",\"offset\":0}");
    OPS_FAILS(ops, ERR_BAD_REQUEST, op_read_file, "{\"path\":\"f\",\"limit\":0}");
    OPS_FAILS(ops, ERR_BAD_REQUEST, op_read_file, "{\"path\":\"f\",\"limit\":20001}");
    OPS_FAILS(ops, ERR_SCHEMA_VIOLATION, op_read_file, "{\"path\":\"f\",\"limit\":\"x\"}");
    OPS_FAILS(ops, ERR_SCHEMA_VIOLATION, op_read_file, "{\"path\":7}");
    OPS_FAILS(ops, ERR_BAD_REQUEST, op_read_file, "{}");
    ASSERT_CONTAINS(test_err_text(t), "path is missing");
}

TEST(an_empty_file_has_no_lines)
{
    struct ops *ops = ops_new(t);
    struct json_object *r;

    ops_write(t, ops, "f", "");
    r = OPS_CALL(ops, op_read_file, "{\"path\":\"f\"}");
    ASSERT_TEXT(ops_str(r, "text"), "");
    ASSERT_EQ(ops_int(r, "lines/first"), 0);
    ASSERT_EQ(ops_int(r, "lines/last"), 0);
    ASSERT_EQ(ops_int(r, "lines/total"), 0);
    ASSERT_EQ(ops_bool(r, "truncated"), 0);
    ASSERT_TEXT(ops_str(r, "kind"), "text");
}

TEST(line_ends_of_windows_and_a_byte_order_mark_are_not_shown)
{
    struct ops *ops = ops_new(t);
    struct json_object *r;

    ops_write(t, ops, "f", "\xEF\xBB\xBFone\r\ntwo\rx\r\n");
    r = OPS_CALL(ops, op_read_file, "{\"path\":\"f\"}");
    ASSERT_TEXT(ops_str(r, "text"), "     1\tone\n     2\ttwo\rx\n");
    ASSERT_TEXT(ops_str(r, "notes/0"), "lines end in CR LF");
}

TEST(long_lines_are_shortened_between_characters_and_it_is_said)
{
    struct ops *ops = ops_new(t);
    AUTO_BUF text = BUF_INIT(100000);
    struct json_object *r;
    const char *shown;

    /* The cut would fall into the middle of an é. */
    buf_add_char(&text, 'x');
    for (int i = 0; i < 1500; i++)
        buf_add_text(&text, "\xC3\xA9");
    buf_add_text(&text, "\nshort\n");
    for (int i = 0; i < LINES_LINE_MAX; i++)
        buf_add_char(&text, 'y');
    buf_add_text(&text, "\n");
    ops_write(t, ops, "f", buf_text(&text));
    r = OPS_CALL(ops, op_read_file, "{\"path\":\"f\"}");
    shown = ops_str(r, "text");
    ASSERT_CONTAINS(shown, "\xC3\xA9… [1002 bytes more]\n     2\tshort\n     3\tyyy");
    ASSERT_CONTAINS(shown, "yyy\n");
    ASSERT_TEXT(ops_str(r, "notes/0"), "1 lines longer than 2000 bytes were shortened");
    ASSERT_EQ(ops_int(r, "lines/total"), 3);
}

TEST(bytes_that_are_no_utf8_are_replaced_and_it_is_said)
{
    struct ops *ops = ops_new(t);
    struct json_object *r;

    ops_write(t, ops, "f", "ok\nbad \xFF\xC3 end\n");
    r = OPS_CALL(ops, op_read_file, "{\"path\":\"f\"}");
    ASSERT_TEXT(ops_str(r, "text"), "     1\tok\n     2\tbad \xEF\xBF\xBD\xEF\xBF\xBD end\n");
    ASSERT_CONTAINS(ops_str(r, "notes/0"), "1 lines hold bytes that are no UTF-8");
}

TEST(the_answer_is_bounded_whatever_the_file_holds)
{
    struct ops *ops = ops_new(t);
    AUTO_BUF text = BUF_INIT(4u << 20);
    struct json_object *r;

    for (int i = 0; i < 2000; i++) {
        for (int k = 0; k < 1000; k++)
            buf_add_char(&text, 'a');
        buf_add_char(&text, '\n');
    }
    ops_write(t, ops, "f", buf_text(&text));
    r = OPS_CALL(ops, op_read_file, "{\"path\":\"f\"}");
    ASSERT_EQ(ops_bool(r, "truncated"), 1);
    ASSERT(strlen(ops_str(r, "text")) <= LINES_TEXT_MAX);
    ASSERT_EQ(ops_int(r, "next_offset"), ops_int(r, "lines/last") + 1);
    ASSERT_EQ(ops_int(r, "lines/total"), 2000);
    ASSERT_EQ(ops_int(r, "lines/last"), LINES_TEXT_MAX / 1008);
}

TEST(binary_files_and_images_are_told_not_shown)
{
    struct ops *ops = ops_new(t);
    static const char png[] = "\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x02\x80\0\0\x01\xe0\x08\6";
    struct json_object *r;

    test_write_file(ops_path(t, ops, "a.png"), png, sizeof(png) - 1);
    test_write_file(ops_path(t, ops, "b"), "a\0b", 3);
    r = OPS_CALL(ops, op_read_file, "{\"path\":\"a.png\"}");
    ASSERT_TEXT(ops_str(r, "kind"), "image");
    ASSERT_TEXT(ops_str(r, "type"), "image/png");
    ASSERT_EQ(ops_int(r, "width"), 640);
    ASSERT_EQ(ops_int(r, "height"), 480);
    ASSERT_EQ(ops_int(r, "bytes"), (int64_t)sizeof(png) - 1);
    r = OPS_CALL(ops, op_read_file, "{\"path\":\"b\"}");
    ASSERT_TEXT(ops_str(r, "kind"), "binary");
    ASSERT_TEXT(ops_str(r, "type"), "application/octet-stream");
    ASSERT(ops_str(r, "sha256"));
    ASSERT(!ops_str(r, "text"));
}

static void sparse(struct test *t, struct ops *ops, const char *name, off_t size, const char *head)
{
    int fd = open(ops_path(t, ops, name), O_RDWR | O_CREAT, 0600);

    ASSERT(fd >= 0);
    ASSERT_EQ(ftruncate(fd, size), 0);
    ASSERT_EQ(pwrite(fd, head, strlen(head), 0), (ssize_t)strlen(head));
    close(fd);
}

TEST(a_file_of_ten_gigabytes_is_answered_from_its_beginning, .timeout_s = 20)
{
    struct ops *ops = ops_new(t);
    AUTO_BUF head = BUF_INIT(1u << 20);
    struct json_object *r;

    for (int i = 0; i < 5000; i++)
        buf_printf(&head, "line %d of many\n", i + 1);
    sparse(t, ops, "text", (off_t)10 << 30, buf_text(&head));
    sparse(t, ops, "zeros", (off_t)10 << 30, "");
    r = OPS_CALL(ops, op_read_file, "{\"path\":\"zeros\"}");
    ASSERT_TEXT(ops_str(r, "kind"), "binary");
    ASSERT_EQ(ops_int(r, "bytes"), (int64_t)10 << 30);
    r = OPS_CALL(ops, op_read_file, "{\"path\":\"text\",\"offset\":4000,\"limit\":1}");
    ASSERT_TEXT(ops_str(r, "text"), "  4000\tline 4000 of many\n");
    ASSERT_EQ(ops_int(r, "lines/total"), -1);
    ASSERT_EQ(ops_bool(r, "truncated"), 1);
    ASSERT(!ops_str(r, "sha256"));
    ASSERT_CONTAINS(ops_str(r, "notes/0"), "write_file can't overwrite it");
    OPS_FAILS(ops, ERR_TOO_LARGE, op_read_file, "{\"path\":\"text\",\"offset\":900000}");
    ASSERT_CONTAINS(test_err_text(t), "256 MiB");
    ASSERT_EQ(map_count(&ops->files_read), 0);
    /* The request can be ended while it reads. */
    atomic_store(&ops->cancelled, true);
    OPS_FAILS(ops, ERR_CANCELLED, op_read_file, "{\"path\":\"text\",\"offset\":900000}");
    atomic_store(&ops->cancelled, false);
    ops->ctx.deadline_ms = 1;
    OPS_FAILS(ops, ERR_TIMEOUT, op_read_file, "{\"path\":\"text\"}");
}

TEST(a_large_text_without_holes_has_its_last_lines, .timeout_s = 30)
{
    struct ops *ops = ops_new(t);
    AUTO_BUF text = BUF_INIT(32u << 20);
    struct json_object *r;

    while (text.n < 17u << 20)
        buf_add_text(&text, "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcde\n");
    ops_write(t, ops, "f", buf_text(&text));
    r = OPS_CALL(ops, op_read_file, "{\"path\":\"f\",\"offset\":278528}");
    ASSERT_EQ(ops_int(r, "lines/total"), 278528);
    ASSERT_EQ(ops_int(r, "lines/last"), 278528);
    ASSERT_EQ(ops_bool(r, "truncated"), 0);
    OPS_FAILS(ops, ERR_BAD_REQUEST, op_read_file, "{\"path\":\"f\",\"offset\":278529}");
}

TEST(a_directory_is_listed_in_order_without_what_is_denied)
{
    struct ops *ops = ops_new(t);
    struct json_object *r;

    ops_write(t, ops, "d/z", "");
    ops_write(t, ops, "d/sub/x", "");
    ops_write(t, ops, "d/.env", "");
    ops_write(t, ops, "d/\xFFz", "");
    ASSERT_EQ(symlink("z", ops_path(t, ops, "d/l")), 0);
    r = OPS_CALL(ops, op_read_file, "{\"path\":\"d/\"}");
    ASSERT_TEXT(ops_str(r, "kind"), "directory");
    ASSERT_TEXT(ops_str(r, "entries/0"), "l@");
    ASSERT_TEXT(ops_str(r, "entries/1"), "sub/");
    ASSERT_TEXT(ops_str(r, "entries/2"), "z");
    ASSERT_TEXT(ops_str(r, "entries/3"), "\xEF\xBF\xBDz");
    ASSERT_EQ(ops_int(r, "total"), 4);
    ASSERT_EQ(ops_bool(r, "truncated"), 0);
    for (int i = 0; i < 1001; i++)
        ops_write(t, ops, arena_printf(&t->arena, "many/%d", i), "");
    r = OPS_CALL(ops, op_read_file, "{\"path\":\"many\"}");
    ASSERT_EQ(ops_bool(r, "truncated"), 1);
    ASSERT_EQ(ops_int(r, "total"), 1001);
}

TEST(read_file_refuses_what_is_denied_and_what_would_wait, .timeout_s = 10)
{
    struct ops *ops = ops_new(t);

    test_write_file(arena_printf(&t->arena, "%s/key", ops->deny[0]), "k", 1);
    ASSERT_EQ(mkfifo(ops_path(t, ops, "pipe"), 0600), 0);
    OPS_FAILS(ops, ERR_PATH_DENIED, op_read_file, "{\"path\":\"../secret/key\"}");
    OPS_FAILS(ops, ERR_BAD_REQUEST, op_read_file, "{\"path\":\"pipe\"}");
    OPS_FAILS(ops, ERR_BAD_REQUEST, op_read_file, "{\"path\":\"/dev/zero\"}");
    OPS_FAILS(ops, ERR_NOT_FOUND, op_read_file, "{\"path\":\"absent\"}");
    OPS_FAILS(ops, ERR_BAD_REQUEST, op_read_file, "{\"path\":\"a\\u0000b\"}");
    ASSERT_EQ(map_count(&ops->files_read), 0);
}

TEST(lines_come_out_the_same_however_the_text_is_cut)
{
    static const char text[] = "a\nbb\r\n\nccc\r\xFFx\n\r\nlast";
    struct lines whole;

    lines_init(&whole, 2, 4);
    lines_add(&whole, str_from(text));
    ASSERT_EQ(lines_end(&whole), 6);
    for (size_t cut = 0; cut < sizeof(text); cut++) {
        struct lines parts;

        lines_init(&parts, 2, 4);
        lines_add(&parts, str_of(text, cut));
        lines_add(&parts, str_of(text + cut, sizeof(text) - 1 - cut));
        ASSERT_EQ(lines_end(&parts), 6);
        ASSERT_STR(buf_str(&parts.text), buf_text(&whole.text));
        ASSERT_EQ(parts.with_cr, whole.with_cr);
        lines_release(&parts);
    }
    lines_release(&whole);
}

TEST(only_so_many_files_are_remembered)
{
    struct ops *ops = ops_new(t);
    char hash[SHA256_TEXT_SIZE];

    for (int i = 0; i < OP_SEEN_MAX + 5; i++)
        op_seen_put(&ops->state, arena_printf(&t->arena, "/f%d", i), "x");
    ASSERT_EQ(map_count(&ops->files_read), OP_SEEN_MAX);
    ASSERT(!op_seen_find(&ops->state, "/f4", hash));
    ASSERT(op_seen_find(&ops->state, "/f5", hash));
    op_seen_put(&ops->state, "/f5", "newer");
    ASSERT(op_seen_find(&ops->state, "/f5", hash));
    ASSERT_TEXT(hash, "newer");
    op_seen_clear(&ops->state);
    ASSERT(!op_seen_find(&ops->state, "/f6", hash));
}
