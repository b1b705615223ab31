/* Calling the hand's operations in a directory of the test's own.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_TESTS_SANDBOX_HAND_OPS_H
#define DORMOUSE_TESTS_SANDBOX_HAND_OPS_H

#include "base/json.h"
#include "harness/test.h"
#include "sandbox/op_int.h"

/* A state whose cwd is the test's directory + "/w" (made), writable; "/secret" beside it and names
 * ".env" are denied. */
struct ops {
    struct op_state state;
    struct op_ctx ctx;
    struct map files_read;
    atomic_bool cancelled;
    const char *allow[3], *deny[3], *names[3];
    const char *root; /* the test's directory, real */
};

struct ops *ops_new(struct test *t);

/* Calls an operation with arguments as JSON text (printf); the result lives in t->arena's time.
 * NULL with t->err when it failed. */
struct json_object *ops_try(struct test *t, struct ops *ops, op_fn *fn, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* The same, which must succeed. */
#define OPS_CALL(ops, fn, ...)                                                                     \
    __extension__({                                                                                \
        struct json_object *result_ = ops_try(t, ops, fn, __VA_ARGS__);                            \
        if (!result_)                                                                              \
            FAIL("%s: %s", #fn, test_err_text(t));                                                 \
        result_;                                                                                   \
    })
#define OPS_FAILS(ops, code_, fn, ...)                                                             \
    ASSERT_FAILS(ops_try(t, ops, fn, __VA_ARGS__) ? 0 : -1, code_)

/* A file below w, with its directories. */
void ops_write(struct test *t, struct ops *ops, const char *name, const char *text);
const char *ops_path(struct test *t, struct ops *ops, const char *name);
/* Whole text of a file below w. */
const char *ops_text(struct test *t, struct ops *ops, const char *name);
/* "a/b" as text: member b of member a; an item by its number. */
const char *ops_str(struct json_object *result, const char *pointer);
int64_t ops_int(struct json_object *result, const char *pointer);
/* -1 absent, else 0 or 1. */
int ops_bool(struct json_object *result, const char *pointer);
/* Runs a program with its output captured; its exit code must be in 0 .. most. */
const char *ops_run(struct test *t, const char *dir, int most, const char *const *argv);

#endif
