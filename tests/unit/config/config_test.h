/* Loads a configuration from texts.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_TESTS_CONFIG_TEST_H
#define DORMOUSE_TESTS_CONFIG_TEST_H

#include "config/config.h"
#include "harness/test.h"

struct config_case {
    const char *file;             /* DATA/config.yaml, NULL: absent */
    const char *work;             /* ./.dormouse/config.yaml, NULL: absent */
    const char *const *variables; /* "NAME=value", ends with NULL; NULL: none */
};

/* NULL when it is wrong; problems then says why. Freed by the caller. */
struct config *config_case_load(struct test *t, const struct config_case *c,
                                struct config_problems *problems);
/* "FILE:LINE:COLUMN: message" of the i-th problem, the file by its last name; "" past the last. */
const char *config_problem_text(struct test *t, const struct config_problems *problems, size_t i);
/* The first problem of a file alone. */
const char *config_wrong(struct test *t, const char *file);

#define VARIABLES(...)                                                                             \
    .variables = (const char *const[])                                                             \
    {                                                                                              \
        __VA_ARGS__, NULL                                                                          \
    }

#endif
