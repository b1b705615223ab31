/* SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "hand_ops.h"
#include "sandbox/op_file.h"

static unsigned entries(const char *path)
{
    DIR *dir = opendir(path);
    unsigned n = 0;

    ASSERT(dir);
    while (readdir(dir))
        n++;
    closedir(dir);
    return n - 2;
}

TEST(write_file_makes_files_and_their_directories)
{
    struct ops *ops = ops_new(t);
    struct json_object *r =
        OPS_CALL(ops, op_write_file, "{\"path\":\"a/b/c.txt\",\"content\":\"h\\u00e9\\n\"}");
    char sha256[SHA256_TEXT_SIZE];

    ASSERT_TEXT(ops_text(t, ops, "a/b/c.txt"), "h\xC3\xA9\n");
    ASSERT_TEXT(ops_str(r, "path"), ops_path(t, ops, "a/b/c.txt"));
    ASSERT_EQ(ops_bool(r, "created"), 1);
    ASSERT_EQ(ops_int(r, "bytes"), 4);
    sha256_text(STR("h\xC3\xA9\n"), sha256);
    ASSERT_TEXT(ops_str(r, "sha256"), sha256);
    ASSERT(!ops_str(r, "diff"));
    ASSERT_EQ(entries(ops_path(t, ops, "a/b")), 1);
    /* What was written whole is known, so it may be overwritten. */
    r = OPS_CALL(ops, op_write_file, "{\"path\":\"a/b/c.txt\",\"content\":\"x\\n\"}");
    ASSERT_EQ(ops_bool(r, "created"), 0);
    ASSERT_CONTAINS(ops_str(r, "diff"), "-h\xC3\xA9\n+x\n");
    ASSERT_EQ(entries(ops_path(t, ops, "a/b")), 1);
}

TEST(a_file_that_was_not_read_is_not_overwritten)
{
    struct ops *ops = ops_new(t);

    ops_write(t, ops, "f", "mine\n");
    OPS_FAILS(ops, ERR_CONFLICT, op_write_file, "{\"path\":\"f\",\"content\":\"x\"}");
    ASSERT_CONTAINS(test_err_text(t), "read it with read_file first");
    ASSERT_TEXT(ops_text(t, ops, "f"), "mine\n");
    OPS_CALL(ops, op_read_file, "{\"path\":\"f\"}");
    ops_write(t, ops, "f", "changed\n");
    OPS_FAILS(ops, ERR_CONFLICT, op_write_file, "{\"path\":\"f\",\"content\":\"x\"}");
    ASSERT_CONTAINS(test_err_text(t), "changed since it was read");
    OPS_CALL(ops, op_read_file, "{\"path\":\"f\",\"limit\":1}");
    OPS_CALL(ops, op_write_file, "{\"path\":\"f\",\"content\":\"x\"}");
    ASSERT_TEXT(ops_text(t, ops, "f"), "x");
}

TEST(mode_and_links_survive_a_write)
{
    struct ops *ops = ops_new(t);
    struct stat st;

    ops_write(t, ops, "real/tool", "#!/bin/sh\n");
    ASSERT_EQ(chmod(ops_path(t, ops, "real/tool"), 06751), 0);
    ASSERT_EQ(symlink("real/tool", ops_path(t, ops, "link")), 0);
    ASSERT_EQ(link(ops_path(t, ops, "real/tool"), ops_path(t, ops, "hard")), 0);
    OPS_CALL(ops, op_read_file, "{\"path\":\"link\"}");
    OPS_CALL(ops, op_write_file, "{\"path\":\"link\",\"content\":\"new\"}");
    ASSERT_EQ(lstat(ops_path(t, ops, "link"), &st), 0);
    ASSERT(S_ISLNK(st.st_mode));
    ASSERT_EQ(stat(ops_path(t, ops, "real/tool"), &st), 0);
    /* Without the set-id bits, which were meant for the old text. */
    ASSERT_EQ(st.st_mode & 07777, 0751);
    ASSERT_TEXT(ops_text(t, ops, "real/tool"), "new");
    /* The other name keeps the old text: a file outside can't be written through it. */
    ASSERT_TEXT(ops_text(t, ops, "hard"), "#!/bin/sh\n");
    ASSERT_EQ(entries(ops_path(t, ops, "real")), 1);
    umask(027);
    OPS_CALL(ops, op_write_file, "{\"path\":\"fresh\",\"content\":\"\"}");
    ASSERT_EQ(stat(ops_path(t, ops, "fresh"), &st), 0);
    ASSERT_EQ(st.st_mode & 07777, 0640);
}

TEST(the_owner_is_kept)
{
    struct ops *ops = ops_new(t);
    struct stat st;

    ops_write(t, ops, "f", "x");
    if (chown(ops_path(t, ops, "f"), 12345, 54321) < 0)
        SKIP("needs the right to give files away");
    OPS_CALL(ops, op_read_file, "{\"path\":\"f\"}");
    OPS_CALL(ops, op_write_file, "{\"path\":\"f\",\"content\":\"y\"}");
    ASSERT_EQ(stat(ops_path(t, ops, "f"), &st), 0);
    ASSERT_EQ(st.st_uid, 12345);
    ASSERT_EQ(st.st_gid, 54321);
}

TEST(a_dangling_link_is_filled_inside_only)
{
    struct ops *ops = ops_new(t);

    ASSERT_EQ(symlink("target", ops_path(t, ops, "in")), 0);
    ASSERT_EQ(symlink("../target", ops_path(t, ops, "out")), 0);
    OPS_CALL(ops, op_write_file, "{\"path\":\"in\",\"content\":\"x\"}");
    ASSERT_TEXT(ops_text(t, ops, "target"), "x");
    OPS_FAILS(ops, ERR_PATH_DENIED, op_write_file, "{\"path\":\"out\",\"content\":\"x\"}");
}

TEST(write_file_refuses_what_it_cannot_do)
{
    struct ops *ops = ops_new(t);

    ops_write(t, ops, "d/f", "x");
    ASSERT_EQ(mkfifo(ops_path(t, ops, "pipe"), 0600), 0);
    OPS_FAILS(ops, ERR_BAD_REQUEST, op_write_file, "{\"path\":\"d\",\"content\":\"x\"}");
    OPS_FAILS(ops, ERR_BAD_REQUEST, op_write_file, "{\"path\":\"pipe\",\"content\":\"x\"}");
    OPS_FAILS(ops, ERR_NOT_FOUND, op_write_file, "{\"path\":\"d/f/g\",\"content\":\"x\"}");
    OPS_FAILS(ops, ERR_BAD_REQUEST, op_write_file, "{\"path\":\"new\"}");
    OPS_FAILS(ops, ERR_BAD_REQUEST, op_write_file, "{\"content\":\"x\"}");
    OPS_FAILS(ops, ERR_SCHEMA_VIOLATION, op_write_file, "{\"path\":\"new\",\"content\":3}");
    OPS_FAILS(ops, ERR_PATH_DENIED, op_write_file, "{\"path\":\"../x\",\"content\":\"x\"}");
    OPS_FAILS(ops, ERR_PATH_DENIED, op_write_file, "{\"path\":\".env\",\"content\":\"x\"}");
    atomic_store(&ops->cancelled, true);
    OPS_FAILS(ops, ERR_CANCELLED, op_write_file, "{\"path\":\"new/f\",\"content\":\"x\"}");
    ASSERT_EQ(access(ops_path(t, ops, "new"), F_OK), -1);
}

TEST(a_directory_that_is_gone_is_said)
{
    struct ops *ops = ops_new(t);
    AUTO_OP_FILE old = OP_FILE_INIT;
    AUTO_PLACE place = ACCESS_PLACE_INIT;

    ops_write(t, ops, "d/f", "old");
    ASSERT_OK(access_write(&ops->ctx, STR("d/f"), &place, &t->err));
    ASSERT_OK(op_file_load(&ops->ctx, &place, &old, &t->err));
    ASSERT_EQ(rename(ops_path(t, ops, "d"), ops_path(t, ops, "moved")), 0);
    ASSERT_EQ(unlink(ops_path(t, ops, "moved/f")), 0);
    ASSERT_EQ(rmdir(ops_path(t, ops, "moved")), 0);
    ASSERT_FAILS(op_file_replace(&ops->ctx, &place, &old, STR("new"), NULL, &t->err),
                 ERR_NOT_FOUND);
}

TEST(what_someone_wrote_between_reading_and_writing_stays)
{
    struct ops *ops = ops_new(t);
    AUTO_OP_FILE old = OP_FILE_INIT;
    AUTO_OP_FILE none = OP_FILE_INIT;
    AUTO_PLACE place = ACCESS_PLACE_INIT;
    AUTO_PLACE fresh = ACCESS_PLACE_INIT;

    ops_write(t, ops, "f", "old");
    ASSERT_OK(access_write(&ops->ctx, STR("f"), &place, &t->err));
    ASSERT_OK(op_file_load(&ops->ctx, &place, &old, &t->err));
    ops_write(t, ops, "f", "theirs");
    ASSERT_FAILS(op_file_replace(&ops->ctx, &place, &old, STR("ours"), NULL, &t->err),
                 ERR_CONFLICT);
    ASSERT_TEXT(ops_text(t, ops, "f"), "theirs");
    ASSERT_EQ(unlink(ops_path(t, ops, "f")), 0);
    ASSERT_FAILS(op_file_replace(&ops->ctx, &place, &old, STR("ours"), NULL, &t->err),
                 ERR_CONFLICT);
    ASSERT_EQ(symlink("elsewhere", ops_path(t, ops, "f")), 0);
    ASSERT_FAILS(op_file_replace(&ops->ctx, &place, &old, STR("ours"), NULL, &t->err),
                 ERR_CONFLICT);
    ASSERT_OK(access_write(&ops->ctx, STR("new"), &fresh, &t->err));
    ASSERT_OK(op_file_load(&ops->ctx, &fresh, &none, &t->err));
    ops_write(t, ops, "new", "theirs");
    ASSERT_FAILS(op_file_replace(&ops->ctx, &fresh, &none, STR("ours"), NULL, &t->err),
                 ERR_CONFLICT);
    ASSERT_TEXT(ops_text(t, ops, "new"), "theirs");
    /* No temporary files are left. */
    ASSERT_EQ(entries(ops->allow[0]), 2);
}

struct appender {
    const char *path;
    unsigned added;
    atomic_bool stop;
};

/* Another program that replaces the file by one with one letter more. */
static void *append_on(void *arg)
{
    struct appender *a = arg;
    char temp[4096];

    snprintf(temp, sizeof(temp), "%s.theirs", a->path);
    while (!atomic_load(&a->stop)) {
        char text[4096] = "";
        int fd = open(temp, O_RDWR | O_CREAT | O_TRUNC, 0600);

        memset(text, 'x', ++a->added % 1000 + 1);
        if (write(fd, text, strlen(text)) > 0)
            rename(temp, a->path);
        close(fd);
    }
    return NULL;
}

TEST(writers_that_race_never_see_half_a_file, .timeout_s = 30)
{
    struct ops *ops = ops_new(t);
    struct appender a = { .path = ops_path(t, ops, "f") };
    unsigned wrote = 0, refused = 0;
    pthread_t thread;

    ops_write(t, ops, "f", "x");
    ASSERT_EQ(pthread_create(&thread, NULL, append_on, &a), 0);
    for (int i = 0; i < 300; i++) {
        struct json_object *r = ops_try(t, ops, op_read_file, "{\"path\":\"f\"}");
        const char *text = r ? ops_str(r, "text") : NULL;

        if (text)
            ASSERT(strspn(text + 7, "xy") + 8 == strlen(text));
        r = ops_try(t, ops, op_write_file, "{\"path\":\"f\",\"content\":\"yyyy\"}");
        wrote += r != NULL;
        if (!r)
            ASSERT(t->err.code == ERR_CONFLICT || t->err.code == ERR_NOT_FOUND);
        refused += !r;
    }
    atomic_store(&a.stop, true);
    pthread_join(thread, NULL);
    ASSERT_EQ(wrote + refused, 300);
    ASSERT(entries(ops->allow[0]) <= 2);
}

TEST(an_expected_version_is_compared)
{
    struct ops *ops = ops_new(t);
    struct json_object *r;
    const char *version;

    ops_write(t, ops, "f", "a\n");
    OPS_CALL(ops, op_read_file, "{\"path\":\"f\"}");
    r = OPS_CALL(ops, op_preview_write, "{\"path\":\"f\",\"content\":\"b\\n\"}");
    version = ops_str(r, "target_version");
    ASSERT(version);
    ASSERT_EQ(ops_bool(r, "exists"), 1);
    ASSERT_CONTAINS(ops_str(r, "diff"), "-a\n+b\n");
    ASSERT_TEXT(ops_text(t, ops, "f"), "a\n");
    ops_write(t, ops, "f", "c\n");
    OPS_FAILS(ops, ERR_VERSION_CONFLICT, op_write_file,
              "{\"path\":\"f\",\"content\":\"b\\n\",\"expected_version\":\"%s\"}", version);
    OPS_FAILS(ops, ERR_VERSION_CONFLICT, op_write_file,
              "{\"path\":\"f\",\"content\":\"b\\n\",\"expected_version\":null}");
    OPS_FAILS(ops, ERR_BAD_REQUEST, op_write_file,
              "{\"path\":\"f\",\"content\":\"b\\n\",\"expected_version\":1}");
    ops_write(t, ops, "f", "a\n");
    OPS_CALL(ops, op_write_file,
             "{\"path\":\"f\",\"content\":\"b\\n\",\"expected_version\":\"%s\"}", version);
    ASSERT_TEXT(ops_text(t, ops, "f"), "b\n");
    ASSERT_EQ(unlink(ops_path(t, ops, "f")), 0);
    OPS_FAILS(ops, ERR_VERSION_CONFLICT, op_write_file,
              "{\"path\":\"f\",\"content\":\"b\\n\",\"expected_version\":\"%s\"}", version);
    ASSERT_CONTAINS(test_err_text(t), "was removed");
}

TEST(an_expected_path_is_compared_with_where_it_leads)
{
    struct ops *ops = ops_new(t);
    struct json_object *r = OPS_CALL(ops, op_preview_write, "{\"path\":\"f\",\"content\":\"x\"}");
    const char *path = arena_text(&t->arena, ops_str(r, "path"));

    ASSERT_EQ(symlink("other", ops_path(t, ops, "f")), 0);
    OPS_FAILS(ops, ERR_VERSION_CONFLICT, op_write_file,
              "{\"path\":\"f\",\"content\":\"x\",\"expected_path\":\"%s\","
              "\"expected_version\":null}",
              path);
    ASSERT_CONTAINS(test_err_text(t), "/other now, and led to");
    OPS_FAILS(ops, ERR_VERSION_CONFLICT, op_write_file,
              "{\"path\":\"f\",\"content\":\"x\",\"expected_path\":7}");
    ASSERT_EQ(access(ops_path(t, ops, "other"), F_OK), -1);
    ASSERT_EQ(unlink(ops_path(t, ops, "f")), 0);
    OPS_CALL(ops, op_write_file, "{\"path\":\"f\",\"content\":\"x\",\"expected_path\":\"%s\"}",
             path);
}

/* For what nobody was shown: `..` and what is missing are no links. */
TEST(without_links_nothing_is_written_through_one)
{
    static const char *const linked[] = { "f", "d/f", "d/new/f", "real/../d/f", "dangling" };
    static const char *const plain[] = { "real/f", "real/new/f", "real/../g", "./h" };
    struct ops *ops = ops_new(t);

    ASSERT_EQ(mkdir(ops_path(t, ops, "real"), 0700), 0);
    ASSERT_EQ(symlink("real", ops_path(t, ops, "d")), 0);
    ASSERT_EQ(symlink("real/f", ops_path(t, ops, "f")), 0);
    ASSERT_EQ(symlink("elsewhere", ops_path(t, ops, "dangling")), 0);
    for (size_t i = 0; i < ARRAY_LEN(linked); i++) {
        OPS_FAILS(ops, ERR_VERSION_CONFLICT, op_write_file,
                  "{\"path\":\"%s\",\"content\":\"x\",\"without_links\":true}", linked[i]);
        ASSERT_CONTAINS(test_err_text(t), "by a link");
    }
    ASSERT_EQ(rmdir(ops_path(t, ops, "real")), 0); /* nothing was made in it */
    ASSERT_EQ(access(ops_path(t, ops, "elsewhere"), F_OK), -1);
    ASSERT_EQ(mkdir(ops_path(t, ops, "real"), 0700), 0);
    for (size_t i = 0; i < ARRAY_LEN(plain); i++)
        OPS_CALL(ops, op_write_file, "{\"path\":\"%s\",\"content\":\"x\",\"without_links\":true}",
                 plain[i]);
    OPS_FAILS(ops, ERR_VERSION_CONFLICT, op_edit_file,
              "{\"path\":\"f\",\"old\":\"x\",\"new\":\"y\",\"without_links\":true}");
    OPS_CALL(ops, op_edit_file, "{\"path\":\"f\",\"old\":\"x\",\"new\":\"y\"}");
}

TEST(a_preview_of_a_new_file_makes_nothing)
{
    struct ops *ops = ops_new(t);
    struct json_object *r =
        OPS_CALL(ops, op_preview_write, "{\"path\":\"a/b\",\"content\":\"x\\n\"}");

    ASSERT_EQ(ops_bool(r, "exists"), 0);
    ASSERT(!ops_str(r, "target_version"));
    ASSERT(json_object_object_get_ex(r, "target_version", NULL));
    ASSERT_CONTAINS(ops_str(r, "diff"), "/dev/null");
    ASSERT_CONTAINS(ops_str(r, "diff"), "+x\n");
    ASSERT_EQ(access(ops_path(t, ops, "a"), F_OK), -1);
    ops_write(t, ops, "f", "old");
    OPS_FAILS(ops, ERR_CONFLICT, op_preview_write, "{\"path\":\"f\",\"content\":\"x\"}");
}

TEST(differences_that_would_be_long_are_left_out)
{
    struct ops *ops = ops_new(t);
    AUTO_BUF text = BUF_INIT(1u << 20);
    struct json_object *r;

    for (int i = 0; i < 6000; i++)
        buf_printf(&text, "line %d\n", i);
    ops_write(t, ops, "many", buf_text(&text));
    while (text.n < OP_DIFF_FROM)
        buf_add_text(&text, "more\n");
    ops_write(t, ops, "large", buf_text(&text));
    test_write_file(ops_path(t, ops, "binary"), "a\0b", 3);
    OPS_CALL(ops, op_read_file, "{\"path\":\"many\"}");
    OPS_CALL(ops, op_read_file, "{\"path\":\"large\"}");
    OPS_CALL(ops, op_read_file, "{\"path\":\"binary\"}");
    r = OPS_CALL(ops, op_write_file, "{\"path\":\"many\",\"content\":\"x\"}");
    ASSERT_TEXT(ops_str(r, "diff_omitted"), "the difference is too long");
    r = OPS_CALL(ops, op_write_file, "{\"path\":\"large\",\"content\":\"x\"}");
    ASSERT_TEXT(ops_str(r, "diff_omitted"), "the texts are too large");
    r = OPS_CALL(ops, op_write_file, "{\"path\":\"binary\",\"content\":\"x\"}");
    ASSERT_TEXT(ops_str(r, "diff_omitted"), "not text");
}

TEST(files_past_the_cap_are_not_handled_whole)
{
    struct ops *ops = ops_new(t);
    int fd = open(ops_path(t, ops, "huge"), O_RDWR | O_CREAT, 0600);

    ASSERT_EQ(ftruncate(fd, OP_FILE_MAX + 1), 0);
    close(fd);
    OPS_FAILS(ops, ERR_TOO_LARGE, op_write_file, "{\"path\":\"huge\",\"content\":\"x\"}");
    OPS_FAILS(ops, ERR_TOO_LARGE, op_edit_file, "{\"path\":\"huge\",\"old\":\"a\",\"new\":\"b\"}");
}
