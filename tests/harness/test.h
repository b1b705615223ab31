/* The test harness: TEST(name) { ... } in any file of a suite, linked with harness/test.c.
 *
 * Each test runs in a process of its own with a time limit, so a crash or a hang is one failed
 * test and not the end of the suite. The suite's last line is `N passed, N failed, N skipped`.
 * A suite binary takes part of a test's name as its argument, --list, --no-fork for gdb, --times,
 * which puts what each test took in front of its line (| sort -n), --stop to end at the first
 * failure, --limit SECONDS for tests that would have more time, and --without VARIANT, such as
 * postgres.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_TESTS_TEST_H
#define DORMOUSE_TESTS_TEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/err.h"

struct test {
    struct err err;     /* for ASSERT_OK and ASSERT_FAILS */
    struct arena arena; /* ends with the test */
    const void *param;  /* of a parameterised test, else NULL */
};

struct test_case {
    const char *name;
    const char *file;
    void (*run)(struct test *t);
    const void *param;
    const char *variant; /* appended to the name in brackets, NULL when there is none */
    int timeout_s;       /* 0: 180 s */
    struct test_case *next;
};

void test_register(struct test_case *test);

#define TEST_CASE(name_, function_, ...)                                                           \
    static struct test_case name_##_case = {                                                       \
        .name = #name_, .file = __FILE__, .run = (function_), __VA_ARGS__                          \
    };                                                                                             \
    __attribute__((constructor)) static void name_##_register(void)                                \
    {                                                                                              \
        test_register(&name_##_case);                                                              \
    }

/* TEST(sentence_about_behaviour) or TEST(sentence, .timeout_s = 120) */
#define TEST(name_, ...)                                                                           \
    static void name_(struct test *t);                                                             \
    TEST_CASE(name_, name_, __VA_ARGS__)                                                           \
    static void name_(__attribute__((unused)) struct test *t)

/* A data-driven test may count its cases itself: each call adds to the suite's totals instead of
 * the test counting as one. A failed case is printed with its name; the test goes on. */
void test_case_passed(void);
void test_case_failed(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void test_case_skipped(unsigned n);

/* `make test-long`: a random sweep may take minutes. Else it takes a second or two. */
bool test_long(void);

/* A fresh empty directory that is removed when the test ends. */
const char *test_dir(struct test *t);
/* Path below it, in t->arena. */
const char *test_path(struct test *t, const char *name);
/* Where public test data lies (DORMOUSE_TEST_DATA, default ../shared/data from the project's
 * root), or NULL when it is absent. */
const char *test_data_dir(void);
/* The project's root directory. */
const char *test_source_root(void);
/* Whole file, NUL-terminated, in t->arena; fails the test when it can't be read. */
struct str test_read_file(struct test *t, const char *path);
void test_write_file(const char *path, const char *bytes, size_t n);

_Noreturn void test_fail(const char *file, int line, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
_Noreturn void test_skip(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
#define SKIP(...) test_skip(__VA_ARGS__)
#define FAIL(...) test_fail(__FILE__, __LINE__, __VA_ARGS__)

#define ASSERT(cond)                                                                               \
    do {                                                                                           \
        if (!(cond))                                                                               \
            FAIL("%s", #cond);                                                                     \
    } while (0)
#define ASSERT_EQ(actual_, expected_)                                                              \
    do {                                                                                           \
        intmax_t a_ = (intmax_t)(actual_), e_ = (intmax_t)(expected_);                             \
        if (a_ != e_)                                                                              \
            FAIL("%s is %jd, expected %jd", #actual_, a_, e_);                                     \
    } while (0)
#define ASSERT_TEXT(actual_, expected_)                                                            \
    do {                                                                                           \
        const char *a_ = (actual_), *e_ = (expected_);                                             \
        if (!a_ || !e_ || strcmp(a_, e_) != 0)                                                     \
            FAIL("%s is\n  \"%s\", expected\n  \"%s\"", #actual_, a_ ? a_ : "(null)",              \
                 e_ ? e_ : "(null)");                                                              \
    } while (0)
#define ASSERT_STR(actual_, expected_)                                                             \
    do {                                                                                           \
        struct str a_ = (actual_);                                                                 \
        const char *e_ = (expected_);                                                              \
        if (!str_is(a_, e_))                                                                       \
            FAIL("%s is\n  \"%.*s\", expected\n  \"%s\"", #actual_, STR_ARG(a_), e_);              \
    } while (0)
#define ASSERT_CONTAINS(actual_, part_)                                                            \
    do {                                                                                           \
        const char *a_ = (actual_), *p_ = (part_);                                                 \
        if (!a_ || !strstr(a_, p_))                                                                \
            FAIL("%s is\n  \"%s\", which lacks\n  \"%s\"", #actual_, a_ ? a_ : "(null)", p_);      \
    } while (0)
/* expr < 0 fails the test with t->err in the message. */
#define ASSERT_OK(expr)                                                                            \
    do {                                                                                           \
        if ((expr) < 0)                                                                            \
            FAIL("%s: %s", #expr, test_err_text(t));                                               \
    } while (0)
/* expr must be < 0 with this code in t->err. */
#define ASSERT_FAILS(expr, code_)                                                                  \
    do {                                                                                           \
        if ((expr) >= 0)                                                                           \
            FAIL("%s succeeded, expected %s", #expr, err_name(code_));                             \
        if (t->err.code != (code_))                                                                \
            FAIL("%s failed with %s (%s), expected %s", #expr, err_name(t->err.code),              \
                 test_err_text(t), err_name(code_));                                               \
    } while (0)
const char *test_err_text(struct test *t);

#endif
