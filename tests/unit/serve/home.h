/* A whole house behind a server on a Unix socket: every room, the real databases, and models that
 * are functions. Its agent is "planner".
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_TESTS_SERVE_HOME_H
#define DORMOUSE_TESTS_SERVE_HOME_H

#include "base/alloc.h"
#include "harness/test.h"

struct home;
struct db_fault;
enum home_domain { HOME_JOURNAL = 0, HOME_AGENT, HOME_INDEX, HOME_DOMAINS };

/* Model "m", the default, says "Hello."; "pauses" says "Good mor" and the rest when it is told to
 * go on; "acts" calls the tool that the prompt names, "TOOL ARGUMENTS", and repeats what it said;
 * "far" is one that text may not be sent to before a person agreed. */
struct home *home_start(struct test *t);
void home_end(struct home *home);
void home_go_on(struct home *home);

/* The whole answer; the connection ends with it. */
const char *ask_home(struct test *t, struct home *home, const char *method, const char *path,
                     const char *body);
#define ASK(method, path, body) ask_home(t, home, method, path, body)
/* The same while nothing can be stored in the agent domain. */
const char *ask_in_vain(struct test *t, struct home *home, const char *method, const char *path,
                        const char *body);
/* How a domain fails (db/db_fault.h); it may be set while nothing is asked. */
struct db_fault *home_fault(struct home *home, enum home_domain domain);
/* The same with an answer that stays open. */
int home_stream(struct home *home, const char *method, const char *path, const char *body);

/* Requests, how they are answered, and a part of the answer. A case that fails is told with the
 * whole answer. */
struct home_case {
    const char *method, *path, *body, *status, *says;
};
void home_check(struct test *t, struct home *home, const struct home_case *cases, size_t n);
#define CHECK(...)                                                                                 \
    home_check(t, home, (const struct home_case[]){ __VA_ARGS__ },                                 \
               sizeof((const struct home_case[]){ __VA_ARGS__ }) / sizeof(struct home_case))
const char *body_of(const char *answer);
/* The text of the first member of this name in an answer, in t->arena. */
const char *text_of(struct test *t, const char *answer, const char *member);

#endif
