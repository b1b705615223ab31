/* What is typed is kept, in bounds and without secrets, and comes back as it was.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "cli/chat_int.h"
#include "harness/test.h"

struct kept {
    struct buf text; /* the entries, each in brackets */
    size_t n;
};

static void collect(void *arg, const char *entry)
{
    struct kept *kept = arg;

    buf_printf(&kept->text, "[%s]", entry);
    kept->n++;
}

static const char *entries(struct test *t, const char *dir, size_t *ret_n)
{
    struct kept kept = { .text = BUF_INIT(8u << 20) };
    const char *text;

    chat_history_each(dir, collect, &kept);
    text = arena_text(&t->arena, buf_text(&kept.text));
    buf_release(&kept.text);
    if (ret_n)
        *ret_n = kept.n;
    return text;
}

static const char *fresh_dir(struct test *t)
{
    const char *dir = test_path(t, "data");

    ASSERT_EQ(mkdir(dir, 0700), 0);
    return dir;
}

static size_t lines_in(struct test *t, const char *dir)
{
    AUTO_BUF text = BUF_INIT(8u << 20);
    size_t n = 0;

    ASSERT_OK(file_read(arena_printf(&t->arena, "%s/chat_history", dir), &text, &t->err));
    for (size_t i = 0; i < text.n; i++)
        n += buf_text(&text)[i] == '\n';
    return n;
}

TEST(there_is_no_history_before_something_was_typed)
{
    ASSERT_TEXT(entries(t, fresh_dir(t), NULL), "");
    ASSERT_TEXT(entries(t, "/nonexistent", NULL), "");
}

TEST(entries_come_back_as_they_were_typed)
{
    const char *dir = fresh_dir(t);

    chat_history_add(dir, STR("first"));
    chat_history_add(dir, STR("two\nlines"));
    chat_history_add(dir, STR("C:\\new \\\\ and a last \\"));
    chat_history_add(dir, STR("grüße 🐭"));
    ASSERT_TEXT(entries(t, dir, NULL), "[first][two\nlines][C:\\new \\\\ and a last \\][grüße 🐭]");
    ASSERT_EQ(lines_in(t, dir), 4);
}

TEST(the_file_is_for_its_owner)
{
    const char *dir = fresh_dir(t);
    struct stat st;

    chat_history_add(dir, STR("first"));
    ASSERT_EQ(stat(arena_printf(&t->arena, "%s/chat_history", dir), &st), 0);
    ASSERT_EQ(st.st_mode & 0777, 0600);
}

TEST(secrets_and_what_begins_with_a_space_are_not_kept)
{
    static const char *const unwanted[] = {
        "",
        " hidden",
        "password=hunter2hunter2",
        "use Bearer abcdefghijklmnopqrstuvwxyz0123456789",
    };
    const char *dir = fresh_dir(t);

    for (size_t i = 0; i < ARRAY_LEN(unwanted); i++) {
        ASSERT(!chat_history_wants(str_from(unwanted[i])));
        chat_history_add(dir, str_from(unwanted[i]));
    }
    ASSERT(chat_history_wants(STR("what is a password?")));
    ASSERT_TEXT(entries(t, dir, NULL), "");
}

TEST(an_entry_of_any_length_is_kept_whole_or_not_at_all)
{
    const char *dir = fresh_dir(t);
    AUTO_BUF longest = BUF_INIT(1u << 20);
    size_t n;

    while (longest.n < (64u << 10))
        buf_add_text(&longest, "ab \\\n");
    longest.n = 64u << 10;
    chat_history_add(dir, buf_str(&longest));
    ASSERT_EQ(strlen(entries(t, dir, &n)), longest.n + 2);
    buf_add_char(&longest, 'x');
    chat_history_add(dir, buf_str(&longest));
    entries(t, dir, &n);
    ASSERT_EQ(n, 1);
}

TEST(only_the_newest_entries_are_kept)
{
    const char *dir = fresh_dir(t), *text;
    size_t n;

    for (int i = 0; i < 2 * CHAT_HISTORY_LINES; i++)
        chat_history_add(dir, str_from(arena_printf(&t->arena, "n%d", i)));
    ASSERT_EQ(lines_in(t, dir), 2 * CHAT_HISTORY_LINES);
    text = entries(t, dir, &n);
    ASSERT_EQ(n, CHAT_HISTORY_LINES);
    ASSERT(str_starts(str_from(text), STR("[n1000][n1001]")));
    ASSERT(str_ends(str_from(text), STR("[n1999]")));
    ASSERT_EQ(lines_in(t, dir), CHAT_HISTORY_LINES); /* the file was shortened */
    ASSERT_TEXT(entries(t, dir, NULL), text);
}

TEST(a_damaged_file_is_read_as_far_as_it_makes_sense)
{
    const char *dir = fresh_dir(t);
    const char *path = arena_printf(&t->arena, "%s/chat_history", dir);

    ASSERT_OK(file_write_atomic(path, STR("\n\nlone \\q\n\\\ncut \\"), 0600, &t->err));
    ASSERT_TEXT(entries(t, dir, NULL), "[lone q][\\][cut \\]");
}

TEST(a_link_is_not_written_through)
{
    const char *dir = fresh_dir(t);
    const char *target = test_path(t, "target");

    ASSERT_EQ(symlink(target, arena_printf(&t->arena, "%s/chat_history", dir)), 0);
    chat_history_add(dir, STR("first"));
    ASSERT(access(target, F_OK) < 0);
}
