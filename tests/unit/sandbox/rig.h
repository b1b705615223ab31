/* A hand on a real loop, and a small world for it: home with secrets, a project, Dormouse's data.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_TESTS_SANDBOX_RIG_H
#define DORMOUSE_TESTS_SANDBOX_RIG_H

#include "harness/test.h"
#include "loop/loop.h"
#include "sandbox/hand.h"

#define RIG_NOTICES 32

struct rig {
    struct test *t;
    struct loop *loop;
    struct hand *hand;
    struct sandbox_spec spec;
    const char *home, *project, *data;
    /* of the last reply */
    bool answered;
    struct err err;
    char *text; /* the result, in t->arena */
    struct json_object *doc;
    char *notices[RIG_NOTICES]; /* "kind: detail" */
    size_t notice_count;
};

/* Skips the test where no sandbox can be built. */
void rig_init(struct rig *rig, struct test *t);
/* Starts a hand by rig->spec (rig_call() does it when none is there). */
void rig_start(struct rig *rig);
/* Frees the hand and collects its process. */
void rig_end_hand(struct rig *rig);
void rig_end(struct rig *rig);
/* Calls and runs the loop until it is answered. */
void rig_call(struct rig *rig, const char *operation, const char *arguments);
/* bash with this command; its output (both streams) in t->arena. exit_code -1: none. */
const char *rig_bash(struct rig *rig, const char *command);
int rig_exit(const struct rig *rig);
/* A text member of the last result, "" when absent. */
const char *rig_text(const struct rig *rig, const char *key);
/* Runs the loop until *flag, or fails the test. */
void rig_run_until(struct rig *rig, const bool *flag);
/* As a person would, outside, in the project. */
void rig_outside(struct rig *rig, const char *command);
/* Of the project; also a link that leads nowhere. */
bool rig_is_there(struct rig *rig, const char *name);
bool rig_noticed(const struct rig *rig, const char *part);
/* Path of the program of probes, as commands see it. */
const char *rig_probe(struct rig *rig);

#endif
