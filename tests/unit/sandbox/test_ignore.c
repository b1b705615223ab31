/* SPDX-License-Identifier: MIT */
#include "sandbox/ignore.h"

#include <stdio.h>
#include <sys/stat.h>

#include "base/rand.h"
#include "hand_ops.h"

static enum ignore_verdict ask(const char *rules, const char *path, bool is_dir)
{
    AUTO(ignore) ignore = ignore_parse(str_from(rules));

    return ignore_match(ignore, str_from(path), is_dir);
}

TEST(the_last_rule_that_matches_decides)
{
    ASSERT_EQ(ask("*.o\n!keep.o\n", "a.o", false), IGNORE_YES);
    ASSERT_EQ(ask("*.o\n!keep.o\n", "d/keep.o", false), IGNORE_NO);
    ASSERT_EQ(ask("!keep.o\n*.o\n", "keep.o", false), IGNORE_YES);
    ASSERT_EQ(ask("*.o\n", "a.c", false), IGNORE_NONE);
}

TEST(rules_are_anchored_by_a_slash)
{
    ASSERT_EQ(ask("/a\n", "a", false), IGNORE_YES);
    ASSERT_EQ(ask("/a\n", "b/a", false), IGNORE_NONE);
    ASSERT_EQ(ask("a/b\n", "a/b", false), IGNORE_YES);
    ASSERT_EQ(ask("a/b\n", "x/a/b", false), IGNORE_NONE);
    ASSERT_EQ(ask("**/a/b\n", "x/a/b", false), IGNORE_YES);
    ASSERT_EQ(ask("a/\n", "a", false), IGNORE_NONE);
    ASSERT_EQ(ask("a/\n", "x/a", true), IGNORE_YES);
    ASSERT_EQ(ask("a/**\n", "a/b", false), IGNORE_YES);
    ASSERT_EQ(ask("a/**\n", "a", true), IGNORE_NONE);
}

TEST(what_is_no_rule_is_passed_over)
{
    AUTO(ignore)
    ignore = ignore_parse(STR("\xEF\xBB\xBF# note\n\n   \n/\n!\n\\#x\n\\!y\nz \nw\\ \nv\r\n"));

    ASSERT_EQ(ignore_count(ignore), 5);
    ASSERT_EQ(ignore_match(ignore, STR("#x"), false), IGNORE_YES);
    ASSERT_EQ(ignore_match(ignore, STR("!y"), false), IGNORE_YES);
    ASSERT_EQ(ignore_match(ignore, STR("z"), false), IGNORE_YES);
    ASSERT_EQ(ignore_match(ignore, STR("w "), false), IGNORE_YES);
    ASSERT_EQ(ignore_match(ignore, STR("v"), false), IGNORE_YES);
    ASSERT_EQ(ignore_match(ignore, STR("# note"), false), IGNORE_NONE);
}

/* ---- against git ---- */

#define ROUNDS 150
#define PATHS  40

static const char *const names[] = { "a", "b", "ab", "a.c", "b.o", "abc", "x y", "-", "a]" };

static void random_path(struct rand *rand, struct buf *out)
{
    for (uint64_t n = 1 + rand_below(rand, 3); n > 0; n--)
        buf_printf(out, "%s%s", names[rand_below(rand, 9)], n > 1 ? "/" : "");
}

/* Not among them: stars that follow something else in a name (`a**`), where git 2.39 compares
 * pointers of two different texts and answers by chance. */
static void random_rule(struct rand *rand, struct buf *out)
{
    static const char *const parts[] = { "a",     "b",           "ab",     "*",     "?",
                                         "**",    "a*",          "*.c",    "*.o",   "[ab]",
                                         "[!a]*", "a\\*",        "[a-b]?", "x\\ y", "*b*",
                                         "***",   "[[:alpha:]]", "[]a]",   "[b/a]" };

    if (rand_below(rand, 4) == 0)
        buf_add_char(out, '!');
    if (rand_below(rand, 4) == 0)
        buf_add_char(out, '/');
    for (uint64_t n = 1 + rand_below(rand, 3); n > 0; n--)
        buf_printf(out, "%s%s", parts[rand_below(rand, sizeof(parts) / sizeof(*parts))],
                   n > 1 ? "/" : "");
    if (rand_below(rand, 4) == 0)
        buf_add_char(out, '/');
    if (rand_below(rand, 10) == 0)
        buf_add_text(out, "  ");
    buf_add_char(out, '\n');
}

/* As the walk asks: from the top, and nothing below what is ignored. */
static bool is_ignored(const struct ignore *ignore, const char *path, bool is_dir)
{
    for (const char *slash = path; (slash = strchr(slash, '/')) != NULL; slash++)
        if (ignore_match(ignore, str_of(path, (size_t)(slash - path)), true) == IGNORE_YES)
            return true;
    return ignore_match(ignore, str_from(path), is_dir) == IGNORE_YES;
}

TEST(random_rules_agree_with_git_check_ignore, .timeout_s = 120)
{
    struct ops *ops = ops_new(t);
    static const char *const init[] = { "git", "init", "-q", ".", NULL };
    struct rand_fake rand;
    unsigned ignored = 0;

    rand_fake_init(&rand, 11);
    ops_run(t, ops->allow[0], 0, init);
    for (int round = 0; round < ROUNDS; round++) {
        AUTO_BUF rules = BUF_INIT(10000);
        const char *paths[PATHS], *argv[PATHS + 8] = { "git", "check-ignore", "--no-index", "--" };
        AUTO(ignore) ignore = NULL;
        const char *found;

        for (uint64_t n = 1 + rand_below(&rand.rand, 5); n > 0; n--)
            random_rule(&rand.rand, &rules);
        ops_write(t, ops, ".gitignore", buf_text(&rules));
        ignore = ignore_parse(buf_str(&rules));
        for (int i = 0; i < PATHS; i++) {
            AUTO_BUF path = BUF_INIT(200);

            random_path(&rand.rand, &path);
            paths[i] = argv[i + 4] = arena_text(&t->arena, buf_text(&path));
        }
        found = ops_run(t, ops->allow[0], 1, argv);
        for (int i = 0; i < PATHS; i++) {
            struct str rest = str_from(found), line;
            bool theirs = false;

            while (str_split(&rest, '\n', &line))
                theirs |= str_is(line, paths[i]);
            ignored += theirs;
            if (is_ignored(ignore, paths[i], false) != theirs)
                FAIL("git says %d of \"%s\" by\n%s", theirs, paths[i], buf_text(&rules));
        }
    }
    ASSERT(ignored > ROUNDS && ignored < ROUNDS * PATHS - ROUNDS);
}
