/* What most tests of this room begin with: a loop that never sleeps, a bed, a hand that does what
 * the test says, and a call of an ordinary agent to change.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_TESTS_TOOL_BED_H
#define DORMOUSE_TESTS_TOOL_BED_H

#include "base/clock.h"
#include "fake_hand.h"
#include "harness/test.h"
#include "policy/kill.h"
#include "tool/tool.h"

struct bed {
    struct clock_fake clock;
    struct loop *loop;
    struct tool_bed *tools;
    struct hand *hand;
    struct domain *domain; /* opened by the first bed_set_kill() */
    struct kill_switches *kill;
    struct agent agent;
    struct tool_call call;
    struct tool_verdict verdict;
    /* What came back; texts are copies in the test's arena. */
    unsigned told, shown;
    struct tool_result result;
    struct tool_preview preview;
    struct tool_job *job;
    struct test *t;
};

struct bed *bed_new(struct test *t);
void bed_free(struct bed *bed);
AUTO_DEFINE(bed)

/* Judges a call of this tool with these arguments. */
const struct tool_verdict *bed_judge(struct bed *bed, const char *name, const char *arguments);
/* Starts; the result is in bed->result when bed->told is 1. */
int bed_start(struct bed *bed, const char *name, const char *arguments, const char *digest);
int bed_preview(struct bed *bed, const char *name, const char *arguments);

/* Arguments of bash and edit_file, and two hashes of files. */
#define BED_LS   "{\"command\":\"ls\"}"
#define BED_EDIT "{\"path\":\"a\",\"old\":\"x\",\"new\":\"y\"}"
#define BED_ONE  "1111111111111111111111111111111111111111111111111111111111111111"
#define BED_TWO  "2222222222222222222222222222222222222222222222222222222222222222"
#define BED_WORK "/home/ada/work"
#define BED_AT_A "\"path\":\"" BED_WORK "/a\"," /* of an answer of the hand */
/* What the hand is asked to do now, or "nothing". */
const char *bed_asked(struct bed *bed);
/* Of BED_EDIT, shown when the file had this version. */
const char *bed_digest_of_edit(struct test *t, struct bed *bed, const char *version);

/* Switches off whatever is on, then this on (KILL_NONE: nothing), for the reason "a test". */
void bed_set_kill(struct bed *bed, enum kill_scope scope, const char *value);

/* A contract that is valid, with members replaced; null takes one away. */
const char *bed_contract(struct test *t, const char *name, const char *more);

#endif
