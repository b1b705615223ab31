/* Whole commands inside this process, with a data directory of the test's own and, when a test
 * wants one, a daemon that holds it.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_TESTS_CLI_RAN_H
#define DORMOUSE_TESTS_CLI_RAN_H

#include "base/alloc.h"
#include "harness/test.h"

struct ran {
    int code;
    const char *out, *err;
};

/* Runs `dormouse WORDS...` with DORMOUSE_DATA in the test's directory, and nothing to read. */
struct ran run_words(struct test *t, const char *const *words);
#define RUN(...) run_words(t, (const char *const[]){ __VA_ARGS__, NULL })
/* The same of one line: words are parted by spaces; in '...' a space belongs to the word. What
 * follows " <<< " is what the command reads. */
struct ran run_line(struct test *t, const char *line);

/* The member of a JSON answer, in the test's arena. */
const char *member(struct test *t, const char *text, const char *pointer);
/* As config.yaml. */
void write_config(struct test *t, const char *text);

/* `dormouse serve` on the data directory, in a process that ends with the test at the latest. Its
 * default model repeats what it is told. */
void start_daemon(struct test *t);
void stop_daemon(struct test *t);

/* Lines in this order, how they end, and a part of what they print: of standard output when they
 * are done, else of standard error. Each counts as a case. */
struct line {
    const char *line;
    int code;
    const char *says;
};
void check_lines(struct test *t, const struct line *lines, size_t n);
#define LINES(...)                                                                                 \
    check_lines(t, (const struct line[]){ __VA_ARGS__ },                                           \
                sizeof((const struct line[]){ __VA_ARGS__ }) / sizeof(struct line))

#endif
