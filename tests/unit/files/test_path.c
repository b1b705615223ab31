/* Which paths a tree may hold.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/path.h"
#include "files/files.h"
#include "harness/test.h"

static int check(struct test *t, struct str path)
{
    err_reset(&t->err);
    return file_path_check(path, &t->arena, NULL, &t->err);
}

TEST(ordinary_paths_are_taken)
{
    static const char *const good[] = {
        "a",
        "AGENTS.md",
        "knowledge/plan.md",
        "skills/pdf-processing/SKILL.md",
        "a/b/c/d/e/f/g/h/i/j/k/l/m/n/o/p",
        "knowledge/Pläne für Mai.md",
        "knowledge/日本語.md",
        "knowledge/100%.md",
        "knowledge/50% more.md",
        "knowledge/a.b.c",
        "knowledge/_x-y+z=1,2;3@4#5!$&'()[]{}^`.md",
        "knowledge/console.md",
    };

    for (size_t i = 0; i < ARRAY_LEN(good); i++)
        if (check(t, str_from(good[i])) < 0)
            FAIL("%s: %s", good[i], test_err_text(t));
}

TEST(hostile_spellings_are_refused_with_path_denied)
{
    const struct {
        struct str path;
        const char *why;
    } bad[] = {
        { STR(""), "empty" },
        { STR("."), "names no file" },
        { STR(".."), "\"..\"" },
        { STR("../x"), "\"..\"" },
        { STR("a/../../x"), "\"..\"" },
        { STR("a/.."), "\"..\"" },
        { STR("./a"), "empty parts" },
        { STR("a/./b"), "empty parts" },
        { STR("a//b"), "empty parts" },
        { STR("a/"), "empty parts" },
        { STR("/etc/passwd"), "absolute" },
        { STR("//server/share"), "absolute" },
        { STR("C:\\x"), "backslash" },
        { STR("C:/x"), ": * ?" },
        { STR("a\\..\\b"), "backslash" },
        { STR("..\\x"), "backslash" },
        { STR("\\\\server\\x"), "backslash" },
        { STR("a\0.md"), "NUL" },
        { STR("a\nb"), "control" },
        { STR("a\x1b[2Jb"), "control" },
        { STR("a\x7f"), "control" },
        { STR("%2e%2e/x"), "percent" },
        { STR("%2E%2E%2Fx"), "percent" },
        { STR("a%2fb"), "percent" },
        { STR("a%5cb"), "percent" },
        { STR("a%00b"), "percent" },
        { STR("%252e%252e/x"), "percent" },
        { STR("%c0%ae%c0%ae/x"), "percent" },
        { STR("\xc0\xae\xc0\xae/x"), "UTF-8" },
        { STR("a\xc0\xaf"
              "b"),
          "UTF-8" },
        { STR("a\xe0\x80\xaf"
              "b"),
          "UTF-8" },
        { STR("a\xed\xa0\x80"), "UTF-8" },
        { STR("a\xff"), "UTF-8" },
        { STR("a."), "ends in a dot" },
        { STR("a../b"), "ends in a dot" },
        { STR("a "), "blank" },
        { STR("a /b"), "blank" },
        { STR(" a"), "blank" },
        { STR("..."), "ends in a dot" },
        { STR(".git/config"), "begins with a dot" },
        { STR("a/.hidden"), "begins with a dot" },
        { STR(".a"), "begins with a dot" },
        { STR("con"), "device" },
        { STR("knowledge/NUL.txt"), "device" },
        { STR("aux.md"), "device" },
        { STR("COM1"), "device" },
        { STR("lpt9.tar.gz"), "device" },
        { STR("a?b"), ": * ?" },
        { STR("file::$DATA"), ": * ?" },
        { STR("GIT~1"), "short alias" },
        { STR("a\u202e"
              "dm.exe"),
          "U+202E" },
        { STR("a\u200b.md"), "U+200B" },
        { STR("a\u00a0"
              "b"),
          "U+00A0" },
        { STR("a\ufeff"), "U+FEFF" },
        { STR("a\u2028"
              "b"),
          "U+2028" },
        { STR("\uff0e\uff0e/x"), "path" },
        { STR("a\uff0f"
              "b"),
          "path" },
        { STR("a\u2215"
              "b"),
          "path" },
        { STR("\u0301a"), "combining mark" },
        { STR("Ple\u0301.md"), "NFC" },
        { STR("\u1112\u1161"), "NFC" },
        { STR("a\u0301\u0323"), "NFC" },
        { STR("\u212b.md"), "NFC" },
        { STR("a\u0378"
              "b"),
          "no character" },
        { STR("\U000e0041x"), "U+E0041" },
        { STR("a/b/c/d/e/f/g/h/i/j/k/l/m/n/o/p/q"), "16 parts" },
    };

    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        ASSERT_FAILS(check(t, bad[i].path), ERR_PATH_DENIED);
        if (!strstr(test_err_text(t), bad[i].why))
            FAIL("case %zu: \"%s\" lacks \"%s\"", i, test_err_text(t), bad[i].why);
        ASSERT(strlen(test_err_text(t)) < 400);
    }
}

TEST(length_is_bounded_to_the_byte)
{
    char path[FILE_PATH_MAX + 2];

    memset(path, 'a', sizeof(path));
    ASSERT_OK(check(t, str_of(path, 255)));
    ASSERT_FAILS(check(t, str_of(path, 256)), ERR_PATH_DENIED);
    for (size_t i = 200; i < sizeof(path); i += 200)
        path[i] = '/';
    ASSERT_OK(check(t, str_of(path, FILE_PATH_MAX)));
    ASSERT_FAILS(check(t, str_of(path, FILE_PATH_MAX + 1)), ERR_PATH_DENIED);
}

static struct str fold(struct test *t, const char *path)
{
    struct str folded;

    ASSERT_OK(file_path_check(str_from(path), &t->arena, &folded, &t->err));
    return folded;
}

TEST(two_spellings_of_one_path_have_one_folded_form)
{
    ASSERT(str_eq(fold(t, "Knowledge/PLAN.md"), fold(t, "knowledge/plan.md")));
    ASSERT(str_eq(fold(t, "STRASSE.md"), fold(t, "straße.md")));
    ASSERT(str_eq(fold(t, "Ünal.md"), fold(t, "ünal.md")));
    ASSERT(!str_eq(fold(t, "a.md"), fold(t, "b.md")));
    ASSERT(!str_eq(fold(t, "a/b"), fold(t, "ab")));
}
