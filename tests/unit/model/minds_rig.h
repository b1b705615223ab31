/* A gateway on a fake loop: models that need no network, and what they answer.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_TESTS_MINDS_RIG_H
#define DORMOUSE_TESTS_MINDS_RIG_H

#include "harness/test.h"
#include "loop/loop.h"
#include "model/model.h"

struct minds {
    struct test *t;
    struct clock_fake clock;
    struct loop *loop;
    struct model_gateway *gateway;
    struct model_spec spec;         /* "m" */
    const struct model_tool *tools; /* offered with every question */
    size_t tool_count;
};

/* What came of one question; texts lie in the test's arena. */
struct told {
    struct test *t;
    struct model_exchange *x;
    unsigned dones, deltas;
    size_t longest; /* delta */
    bool replied;
    const char *text, *thinking, *model, *calls; /* calls: "id name {json}!problem; ..." */
    enum model_stop stop;
    struct model_usage usage;
    struct err err;
    int64_t retry_after_ms;
};

/* A model "m" of this provider; script is the text of its YAML file or NULL. */
void minds_open(struct minds *minds, struct test *t, const char *provider, const char *script);
void minds_close(struct minds *minds);
/* Starts a question of these messages. */
void minds_start(struct minds *minds, struct told *told, const char *model,
                 const struct model_message *messages, size_t n);
/* One message from the user, until it is answered. */
void minds_ask(struct minds *minds, struct told *told, const char *model, const char *text);
const char *told_error(struct told *told);

#endif
