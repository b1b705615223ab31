/* diff and patch beside GNU diff, GNU patch and git: the same meaning, whatever the texts.
 *
 * Pairs of texts are written to a directory, one shell run lets the tools work on all of them, and
 * the results are compared.
 *
 * SPDX-License-Identifier: MIT
 */
#include <dirent.h>
#include <stdio.h>
#include <sys/wait.h>

#include "base/alloc.h"
#include "base/diff.h"
#include "base/patch.h"
#include "base/rand.h"
#include "harness/test.h"

#define CONTEXTS 5
#define T(text)                                                                                    \
    {                                                                                              \
        text, sizeof(text) - 1                                                                     \
    }

static int apply(struct test *t, struct str patch_text, struct str old_text, struct buf *out)
{
    AUTO_PATCH patch = PATCH_INIT;

    if (patch_parse(patch_text, &patch, &t->err) < 0)
        return -1;
    ASSERT_EQ(patch.file_count, 1);
    return patch_apply(patch.files, old_text, out, NULL, &t->err);
}

static const char *file(struct test *t, const char *kind, unsigned i)
{
    return test_path(t, arena_printf(&t->arena, "%s.%u", kind, i));
}

/* Lines that the only file of a patch takes out or adds. */
static size_t changed_lines(struct test *t, struct str patch_text)
{
    AUTO_PATCH patch = PATCH_INIT;
    size_t n = 0;

    if (patch_text.n == 0)
        return 0;
    ASSERT_OK(patch_parse(patch_text, &patch, &t->err));
    for (size_t i = 0; i < patch.files->hunk_count; i++)
        for (size_t k = 0; k < patch.files->hunks[i].line_count; k++)
            n += patch.files->hunks[i].lines[k].sign != ' ';
    return n;
}

/* Writes pair number i and our patch of it. */
static void put_pair(struct test *t, unsigned i, struct str a, struct str b)
{
    AUTO_BUF text = BUF_INIT(64u << 20);
    AUTO_DIFF diff = DIFF_INIT;

    ASSERT_OK(diff_make(a, b, &diff, &t->err));
    ASSERT_EQ(diff_unified(&diff, "f", "f", i % CONTEXTS, &text), 0);
    test_write_file(file(t, "old", i), a.p ? a.p : "", a.n);
    test_write_file(file(t, "new", i), b.p ? b.p : "", b.n);
    test_write_file(file(t, "ours", i), buf_text(&text), text.n);
}

/* theirs.N: their minimal diff of the pair; got.N: our diff applied by their patch. */
static void run_tools(struct test *t, unsigned n)
{
    static const char script[] =
        "cd %s && i=0 && while [ $i -lt %u ]; do "
        "diff -a -d -U$((i %% %d)) old.$i new.$i > theirs.$i; [ $? -le 1 ] || exit 9; "
        "cp old.$i got.$i; [ ! -s ours.$i ] || "
        "patch --binary -s -F0 --posix got.$i ours.$i >/dev/null || exit 8; "
        "i=$((i + 1)); done";
    int status = system(arena_printf(&t->arena, script, test_dir(t), n, CONTEXTS));

    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        FAIL("the tools ended with %d (needed: diffutils, patch)", WEXITSTATUS(status));
}

static void check_pair(struct test *t, unsigned i)
{
    struct str a = test_read_file(t, file(t, "old", i)), b = test_read_file(t, file(t, "new", i));
    struct str ours = test_read_file(t, file(t, "ours", i));
    struct str theirs = test_read_file(t, file(t, "theirs", i));
    AUTO_BUF out = BUF_INIT(64u << 20);

    if (!str_eq(test_read_file(t, file(t, "got", i)), b))
        FAIL("pair %u: GNU patch makes something else of our diff", i);
    if (changed_lines(t, ours) != changed_lines(t, theirs))
        FAIL("pair %u: %zu lines changed by our diff, %zu by GNU's", i, changed_lines(t, ours),
             changed_lines(t, theirs));
    ASSERT_EQ(theirs.n == 0, str_eq(a, b));
    if (theirs.n && (apply(t, theirs, a, &out) < 0 || !str_eq(buf_str(&out), b)))
        FAIL("pair %u: we make something else of GNU's diff: %s", i, test_err_text(t));
}

TEST(diff_means_what_gnu_diff_means_on_awkward_texts, .timeout_s = 120)
{
    static const struct str texts[] = {
        T(""),
        T("\n"),
        T("\n\n\n"),
        T("a"),
        T("a\n"),
        T("a\nb"),
        T("a\nb\n"),
        T("b\na\n"),
        T("a\r\nb\r\n"),
        T("a\r\nb\n"),
        T("a\r\nb\r"),
        T("a \nb\t\n"),
        T("a\0b\nc\n"),
        T("\xff\xfe\n\x80\n"),
        T("--- f\n+++ f\n@@ -1 +1 @@\n-a\n+b\n"),
        T("\\ No newline at end of file\n"),
        T("-\n+\n \n\\\n@@\n"),
        T("-- \nsignature"),
        T("1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n"),
        T("1\n2\n3\nx\n4\n5\n6\n7\n8\ny\n9\n10\n11\n12"),
        T("}\n}\n}\n}\n"),
        T("{\n}\n\n{\n}\n\n{\n}\n"),
    };
    unsigned n = 0;

    for (size_t a = 0; a < ARRAY_LEN(texts); a++)
        for (size_t b = 0; b < ARRAY_LEN(texts); b++)
            put_pair(t, n++, texts[a], texts[b]);
    run_tools(t, n);
    for (unsigned i = 0; i < n; i++)
        check_pair(t, i);
}

/* Reads the sources of a directory of the project: texts as people write them. */
static size_t read_sources(struct test *t, const char *dir_name, struct str *ret_texts, size_t max)
{
    const char *path = arena_printf(&t->arena, "%s/%s", test_source_root(), dir_name);
    DIR *dir = opendir(path);
    struct dirent *entry;
    size_t n = 0;

    ASSERT(dir != NULL);
    while (n < max && (entry = readdir(dir)) != NULL)
        if (str_ends(str_from(entry->d_name), STR(".c")))
            ret_texts[n++] =
                test_read_file(t, arena_printf(&t->arena, "%s/%s", path, entry->d_name));
    closedir(dir);
    return n;
}

static struct str next_line(struct str *rest)
{
    ptrdiff_t end = str_find_char(*rest, '\n');
    struct str line = end < 0 ? *rest : str_take(*rest, (size_t)end + 1);

    *rest = str_skip(*rest, line.n);
    return line;
}

/* What an editor does to a file: lines changed, added, taken out, doubled and indented, a part
 * moved to another place, line ends changed, the last newline lost. */
static void edit(struct rand *rand, struct str text, struct buf *out)
{
    AUTO_BUF moved = BUF_INIT(1u << 20);
    uint64_t rate = 4 + rand_below(rand, 60);
    bool crlf = rand_below(rand, 16) == 0;
    int moving = 0;

    while (text.n) {
        struct str line = next_line(&text);

        if (moving > 0) {
            buf_add_str(&moved, line);
            moving--;
            continue;
        }
        switch (rand_below(rand, rate)) {
        case 0:
            buf_add_text(out, "    changed();\n");
            break;
        case 1:
            break;
        case 2:
            buf_add_str(out, line);
            buf_add_str(out, line);
            break;
        case 3:
            if (moved.n == 0)
                moving = (int)rand_below(rand, 12);
            buf_add_text(out, "    ");
            buf_add_str(out, line);
            break;
        default:
            buf_add(out, line.p, crlf ? line.n - 1 : line.n);
            buf_add_text(out, crlf ? "\r\n" : "");
        }
        if (moved.n && moving == 0 && rand_below(rand, 20) == 0) {
            buf_add_str(out, buf_str(&moved));
            buf_clear(&moved);
        }
    }
    if (out->n && rand_below(rand, 4) == 0)
        out->n--;
}

TEST(diff_means_what_gnu_diff_means_on_edited_sources, .timeout_s = 120)
{
    struct str sources[64];
    size_t n = read_sources(t, "src/base", sources, ARRAY_LEN(sources));
    struct rand_fake rand;

    ASSERT(n > 20);
    rand_fake_init(&rand, 17);
    for (unsigned i = 0; i < n; i++) {
        AUTO_BUF b = BUF_INIT(1u << 20);

        edit(&rand.rand, sources[i], &b);
        put_pair(t, i, sources[i], buf_str(&b));
    }
    run_tools(t, (unsigned)n);
    for (unsigned i = 0; i < n; i++)
        check_pair(t, i);
}

TEST(diff_means_what_gnu_diff_means_on_huge_lines, .timeout_s = 120)
{
    enum { LINE = 3u << 20 };
    AUTO_BUF a = BUF_INIT(4 * LINE);
    AUTO_BUF b = BUF_INIT(4 * LINE);

    for (int i = 0; i < LINE; i++) {
        buf_add_char(&a, (char)('a' + i % 26));
        buf_add_char(&b, (char)(i == LINE - 1 ? '!' : 'a' + i % 26));
    }
    put_pair(t, 0, buf_str(&a), buf_str(&b)); /* they differ in the last byte, no newline */
    buf_add_text(&a, "\nshort\n");
    buf_add_text(&b, "\nshort\n");
    put_pair(t, 1, buf_str(&a), buf_str(&b));
    put_pair(t, 2, STR("short\n"), buf_str(&a));
    put_pair(t, 3, buf_str(&a), STR(""));
    run_tools(t, 4);
    for (unsigned i = 0; i < 4; i++)
        check_pair(t, i);
}

/* git quotes names with unusual bytes and is strict about headers: it must take ours, and we its.
 */
TEST(patch_and_git_understand_each_others_names, .timeout_s = 120)
{
    static const char *const names[] = { "plain.txt",   "with blank.txt",    "caf\u00E9.md",
                                         "tab\tin.txt", "quote\"in.txt",     "back\\slash",
                                         "new\nline",   "\u65E5\u672C\u8A9E" };
    static const char git[] = "cd %s && export HOME=. GIT_CONFIG_NOSYSTEM=1 && { git init -q . && "
                              "git add -A && git -c user.name=x -c user.email=x@y commit -qm x; } "
                              ">/dev/null 2>&1 && %s";
    AUTO_BUF ours = BUF_INIT(1u << 20);
    const char *run = arena_printf(&t->arena, git, test_dir(t), "true");
    AUTO_PATCH patch = PATCH_INIT;
    struct patch_file *next;

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        AUTO_DIFF diff = DIFF_INIT;
        const char *old_name = arena_printf(&t->arena, "a/%s", names[i]);
        const char *new_name = arena_printf(&t->arena, "b/%s", names[i]);

        test_write_file(test_path(t, names[i]), "one\ntwo\n", 8);
        ASSERT_OK(diff_make(STR("one\ntwo\n"), STR("one\n2\n"), &diff, &t->err));
        ASSERT_EQ(diff_unified(&diff, old_name, new_name, 3, &ours), 0);
    }
    if (system(run) != 0)
        FAIL("git is needed (Debian: git)");
    test_write_file(test_path(t, "ours.patch"), buf_text(&ours), ours.n);
    run = arena_printf(&t->arena,
                       "cd %s && export HOME=. && git apply ours.patch && rm ours.patch && "
                       "git diff > theirs.patch",
                       test_dir(t));
    ASSERT_EQ(system(run), 0);
    ASSERT_OK(patch_parse(test_read_file(t, test_path(t, "theirs.patch")), &patch, &t->err));
    ASSERT_EQ(patch.file_count, ARRAY_LEN(names));
    for (next = patch.files; next; next = next->next) {
        AUTO_BUF out = BUF_INIT(100);
        size_t i = 0;

        while (i < ARRAY_LEN(names) && !str_is(patch_target(next), names[i]))
            i++;
        if (i == ARRAY_LEN(names))
            FAIL("\"%.*s\" is no name of ours", STR_ARG(patch_target(next)));
        ASSERT_STR(test_read_file(t, test_path(t, names[i])), "one\n2\n");
        ASSERT_OK(patch_apply(next, STR("one\ntwo\n"), &out, NULL, &t->err));
        ASSERT_TEXT(buf_text(&out), "one\n2\n");
    }
}

TEST(patch_names_survive_the_way_through_a_diff)
{
    struct rand_fake rand;

    rand_fake_init(&rand, 23);
    for (int i = 0; i < 2000; i++) {
        static const char letters[] = "ab/ .\t\n\"\\'\x7f\x01\xc3\xa9-+@";
        char name[16] = "x";
        AUTO_BUF text = BUF_INIT(1000);
        AUTO_DIFF diff = DIFF_INIT;
        AUTO_PATCH patch = PATCH_INIT;

        for (size_t k = 1; k < 2 + rand_below(&rand.rand, 12); k++)
            name[k] = letters[rand_below(&rand.rand, sizeof(letters) - 1)];
        strcat(name, "y");
        ASSERT_OK(diff_make(STR("a\n"), STR("b\n"), &diff, &t->err));
        ASSERT_EQ(diff_unified(&diff, name, name, 3, &text), 0);
        ASSERT_OK(patch_parse(buf_str(&text), &patch, &t->err));
        ASSERT_EQ(patch.file_count, 1);
        ASSERT_STR(patch.files->old_name, name);
        ASSERT_STR(patch.files->new_name, name);
    }
}

/* One byte of the text is changed: the patch still gives its result, or nothing at all. */
TEST(patch_is_never_half_done)
{
    struct rand_fake rand;
    unsigned applied = 0, refused = 0;

    rand_fake_init(&rand, 29);
    for (int i = 0; i < 1500; i++) {
        AUTO_BUF a = BUF_INIT(10000);
        AUTO_BUF b = BUF_INIT(10000);
        AUTO_BUF text = BUF_INIT(1u << 20);
        AUTO_BUF out = BUF_INIT(6 + rand_below(&rand.rand, 400));
        AUTO_DIFF diff = DIFF_INIT;
        struct buf *hurt = i % 2 ? &a : &text;

        for (int k = 0; k < 30; k++)
            buf_printf(&a, "line %d\n", (int)rand_below(&rand.rand, 8));
        edit(&rand.rand, buf_str(&a), &b);
        ASSERT_OK(diff_make(buf_str(&a), buf_str(&b), &diff, &t->err));
        ASSERT_EQ(diff_unified(&diff, "f", "f", rand_below(&rand.rand, 4), &text), 0);
        diff_release(&diff);
        if (text.n == 0)
            continue;
        hurt->p[rand_below(&rand.rand, hurt->n)] = "\n-+ @x1"[rand_below(&rand.rand, 7)];
        buf_add_text(&out, "before");
        if (apply(t, buf_str(&text), buf_str(&a), &out) < 0) {
            ASSERT_TEXT(buf_text(&out), "before");
            ASSERT(!out.full && t->err.depth > 0);
            refused++;
        } else {
            ASSERT(str_starts(buf_str(&out), STR("before")) && !out.full);
            applied++;
        }
    }
    ASSERT(applied > 50 && refused > 400);
}

TEST(patch_does_not_walk_to_a_start_far_past_the_end)
{
    for (int i = 0; i < 500; i++) {
        AUTO_BUF out = BUF_INIT(100);

        ASSERT_OK(apply(t, STR("--- f\n+++ f\n@@ -999999998 +999999998 @@\n-a\n+b\n"),
                        STR("x\na\n"), &out));
        ASSERT_TEXT(buf_text(&out), "x\nb\n");
    }
}

TEST(patch_says_when_lines_would_be_joined)
{
    AUTO_BUF out = BUF_INIT(100);

    ASSERT_FAILS(apply(t, STR("--- f\n+++ f\n@@ -1 +1 @@\n-a\n+b\n\\ No newline at end of file\n"),
                       STR("a\nrest\n"), &out),
                 ERR_CONFLICT);
    ASSERT_CONTAINS(test_err_text(t), "hunk 1 of 1 (line 3 of the patch) does not fit: line 1 has "
                                      "no newline, but text would follow it");
    ASSERT_FAILS(apply(t, STR("--- f\n+++ f\n@@ -2,0 +3 @@\n+b\n"), STR("a\nlast"), &out),
                 ERR_CONFLICT);
    ASSERT_CONTAINS(test_err_text(t), "line 2 has no newline, but text would follow it");
    ASSERT_EQ(out.n, 0);
}
