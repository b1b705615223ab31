/* A desk on a journal with two categories: what is in "gym" is the agent's, what is in "finance"
 * is not. 18 February 2026, ten in the morning in Berlin.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_TESTS_DESK_RIG_H
#define DORMOUSE_TESTS_DESK_RIG_H

#include "../journal/rig.h"
#include "desk/desk.h"
#include "journal/list.h"
#include "journal/moves.h"

struct office {
    struct rig rig;
    struct test *t;
    struct tool_bed *tools;
    struct desk *desk;
    struct agent agent;
    struct tool_call call;
    /* What came back; texts are copies in the test's arena. */
    unsigned told, shown;
    struct tool_result result;
    struct tool_preview preview;
    struct tool_job *job;
};

void office_open(struct office *office, struct test *t);
void office_close(struct office *office);
/* As another process does it: nobody tells this one. */
void office_destroy_agent(struct office *office);
#define AUTO_OFFICE __attribute__((cleanup(office_close))) struct office

/* The records that tests know by id: categories gym, finance; labels urgent, later; tasks legs and
 * squats (gym), taxes (finance), loose (none); lists l1, l2 of legs and f1 of taxes with items i1
 * (open), i2 (checked), i3 of l1, fi1 of f1; time t1 of legs and ft1 of taxes; note n1 (gym) and
 * fn1 (finance); the plan of the day with blocks b1 (gym, later today) and fb1 (finance). Titles of
 * finance have the word "secret". */
void office_fill(struct office *office);

/* Starts a call with ' for " in the arguments and runs it to its end. 0 it succeeded; else -1 and
 * t->err, whether it was refused or failed. */
int office_run(struct office *office, const char *tool, const char *operation,
               const char *arguments);
/* The same, bound to what was shown. */
int office_run_approved(struct office *office, const char *tool, const char *operation,
                        const char *arguments, const char *digest);
/* What a person is shown. */
int office_show(struct office *office, const char *tool, const char *operation,
                const char *arguments);
int office_judge(struct office *office, const char *tool, const char *arguments,
                 struct tool_verdict *ret_verdict);
/* A member of the output by JSON Pointer, as text. */
const char *office_out(struct office *office, const char *pointer);
/* How many live records there are of a type; all batches of the journal. */
size_t office_count(struct office *office, enum record_type type);
size_t office_batches(struct office *office);

#endif
