/* Conversations with the offline model: tools, messages, and its answer as one line.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_TESTS_OFFLINE_RIG_H
#define DORMOUSE_TESTS_OFFLINE_RIG_H

#include "harness/test.h"
#include "model/model.h"
#include "model/offline_int.h"

#define RIG_MESSAGES 32
/* 2026-11-15T12:00:00Z */
#define RIG_NOW INT64_C(1794744000000)

struct rig {
    struct test *t;
    const struct model_tool *tools;
    size_t tool_count;
    struct str system;
    struct model_message messages[RIG_MESSAGES];
    size_t n;
    struct offline_turn turn; /* the newest answer; released by the next one and rig_end() */
    bool thought;
};

extern const struct model_tool rig_hands[];   /* bash, read_file, write_file, edit_file, search */
extern const struct model_tool rig_plain[];   /* the same with other schemas */
extern const struct model_tool rig_journal[]; /* tasks, time, memory */
extern const struct model_tool rig_memory[];  /* list, read and write with operations */
extern const size_t rig_hands_count, rig_plain_count, rig_journal_count, rig_memory_count;

/* What a command that tidied says. */
#define RIG_MOVES                                                                                  \
    "{\"exit_code\":0,\"stdout\":\"renamed 'a.png' -> 'Images/a.png'\\nrenamed 'b.pdf' -> "        \
    "'Documents/b.pdf'\\n\"}"

void rig_begin(struct rig *rig, struct test *t, const struct model_tool *tools, size_t n);
void rig_end(struct rig *rig);
void rig_user(struct rig *rig, const char *text);
/* Lets it think; appends its answer as a message. "name {json}; name {json} | text". */
const char *rig_think(struct rig *rig);
/* Answers the i-th call of the newest answer. */
void rig_result(struct rig *rig, size_t i, const char *text);
void rig_failure(struct rig *rig, size_t i, const char *text);
/* One sentence in a fresh conversation. */
const char *rig_ask(struct test *t, const struct model_tool *tools, size_t n, const char *text);

#endif
