/* Writes logs of runs without a runner: walks the program and stores what is selected, with
 * content, as the runner does.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_TESTS_RUN_SCRIBE_H
#define DORMOUSE_TESTS_RUN_SCRIBE_H

#include "agent/agent.h"
#include "agent/inbox.h"
#include "bp/engine.h"
#include "change/change.h"
#include "harness/test.h"
#include "memory/message.h"
#include "run/log_int.h"
#include "run/program.h"

#define SCRIBE_NOW    1700000000000
#define SCRIBE_PROMPT "tidy this folder"

struct scribe {
    struct test *t;
    struct domain *domain;
    struct change *change;
    const struct bp_program *program;
    struct agent agent;
    struct thread thread;
    struct run_record run;
    struct bp_engine *engine;
    uint8_t chain[RUN_CHAIN_BYTES];
    int64_t now, ids;
    /* Of the event that is offered. */
    int64_t ref;
    struct str data;
    struct message *message;
    struct inbox_item *item;
    /* By key. */
    int64_t action_n[RUN_CALLS_MAX + 1], result_n[RUN_CALLS_MAX + 1],
        operation_n[RUN_CALLS_MAX + 1], inbox_n[RUN_CALLS_MAX + 1];
    struct str inbox_id[RUN_CALLS_MAX + 1];
};

/* A data directory's agent domain, SQLite, below the test's directory. */
struct domain *scribe_domain(struct test *t);
/* Begins a run with this id; mode is RUN_WIGGUM or 0. */
void scribe_begin(struct scribe *s, struct test *t, struct domain *domain,
                  const struct bp_program *program, const char *run_id, uint32_t mode);
void scribe_end(struct scribe *s);
#define AUTO_SCRIBE __attribute__((cleanup(scribe_end))) struct scribe

/* The model says something; thinking may be NULL. */
void scribe_said(struct scribe *s, const char *text, const char *thinking);
void scribe_call(struct scribe *s, unsigned key, uint32_t bits, const char *tool,
                 const char *arguments);
/* A result as JSON: {"output":...} or {"error":{...}}. */
void scribe_acted(struct scribe *s, unsigned key, uint32_t bits, const char *content);
/* A person's yes or no about the item of this call. */
void scribe_answer(struct scribe *s, unsigned key, bool yes, const char *reason);
/* Anything that has no content but data (may be NULL). */
void scribe_word(struct scribe *s, unsigned type, unsigned key, uint32_t bits, const char *data);

/* A whole run with an approval, a refusal and a result: ends. */
void scribe_story(struct scribe *s, struct test *t, struct domain *domain,
                  const struct bp_program *program, const char *run_id, uint32_t mode);

#endif
