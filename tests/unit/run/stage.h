/* A stage for runs: a runner on a fake loop and a real database, a model that says what the test
 * wrote down, tools that the test finishes when it likes.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_TESTS_RUN_STAGE_H
#define DORMOUSE_TESTS_RUN_STAGE_H

#include "base/map.h"
#include "db/db_fault.h"
#include "harness/db_test.h"
#include "run/run.h"

#define STAGE_EVENTS  4096
#define STAGE_JOBS    64
#define STAGE_EFFECTS 1024
#define STAGE_REPLIES 1024

struct stage;

struct stage {
    struct test *t;
    const struct stage_more *more;
    struct clock_fake clock;
    struct loop *loop;
    struct db_fault fault; /* of the domain: set at any time */
    struct domain *domain;
    struct change *change;
    struct kill_switches *kill;
    struct model_gateway *models;
    struct files *files;
    struct tool_bed *tools;
    struct runner *runner;
    struct run_listener listener;
    /* What clients were told, partial events left out. */
    char *events[STAGE_EVENTS];
    const char *types[STAGE_EVENTS];
    int64_t seqs[STAGE_EVENTS];
    const char *threads[STAGE_EVENTS];
    size_t event_count;
    char *partials[STAGE_EVENTS];
    size_t partial_count;
    /* The model's answers, in order; see stage_says(). */
    char *replies[STAGE_REPLIES];
    size_t reply_count, reply_next;
    const char *(*script)(struct stage *stage); /* instead; last_request is the one to answer */
    char *last_request;                         /* as JSON: system, tools, messages */
    char last_present[256];                     /* when and where it was asked */
    /* A request that the model has not answered: */
    const struct model_sink *sink;
    void *sink_arg;
    /* Jobs of the tools: note (keyed), poke (unkeyed), alone (keyed, acts alone), send (unkeyed,
     * asks), mail (keyed, asks), put (keyed, asks, shows a target), query (asks the person), fetch
     * (what it returns came from the web). Beside them the agent's memory. */
    struct tool_job *jobs[STAGE_JOBS];
    struct stage_effect {
        char operation[65], tool[16];
        char *arguments;
    } effects[STAGE_EFFECTS]; /* of handlers that ran, in order */
    size_t done_count;
    int64_t retry_after_ms;      /* of answers that begin with '#'; 0: not said */
    const char *unshowable;      /* why previews of `put` fail; NULL: they don't */
    bool hold_tools;             /* jobs wait for stage_finish() */
    bool unsure;                 /* what they do is done, and nobody says so */
    bool hold_previews;          /* previews of `put` too */
    struct tool_job *previewing; /* one that waits */
    const char *target;          /* the version of what `put` changes */
    struct str question;         /* what `query` asks; empty: "Which?" */
    const char *policy;          /* text of DATA/policy.yaml from the next crash on; NULL: none */
    unsigned model_calls;
    struct bp_policy *parsed_policy;
    bool altered; /* somebody changed stored rows: what is stored is not checked at the end */
    struct run_info info;
    struct model_spec spec;
    struct runner_config config;
};

struct stage *stage_new(struct test *t);
/* What stands on the runner too, made and ended with it; host_id NULL: the database's own. */
struct stage_more {
    const char *host_id;
    void (*loop)(struct stage *stage, void *arg); /* before the domain is attached; may be NULL */
    void (*bed)(struct stage *stage, void *arg);  /* before the bed is used; may be NULL */
    void (*up)(struct stage *stage, void *arg);   /* the runner is there */
    void (*down)(struct stage *stage, void *arg); /* before it is stopped */
    void (*gone)(struct stage *stage, void *arg); /* after the loop, before the domain */
    void *arg;
};
struct stage *stage_new_with(struct test *t, const struct stage_more *more);
void stage_free(struct stage *stage);
/* As if the process had been killed and started again: nothing is said goodbye to. */
void stage_crash(struct stage *stage);
/* The same, and the database is opened anew. */
void stage_restart(struct stage *stage);

/* The model's next answer: text, or calls as "tool {json}" lines beginning with '!', or "?" for no
 * answer until stage_answer(), or "#code message" for a failure, or "~thinking|text" in deltas,
 * or "^text|thinking" in that order. */
void stage_says(struct stage *stage, const char *reply);
void stage_answer(struct stage *stage, const char *reply);
/* Finishes the preview that waits. */
void stage_show(struct stage *stage);
/* Starts a run and goes on until nothing moves. */
struct str stage_run(struct stage *stage, const char *prompt);
struct str stage_run_with(struct stage *stage, struct run_request *request);
void stage_settle(struct stage *stage);
/* The same, but nothing of it is stored yet: crash now and the acknowledgement is lost. False: no
 * job is held. */
bool stage_act(struct stage *stage);
/* Finishes a held job. */
void stage_finish(struct stage *stage);

/* "init text done": types of public events since the last call of stage_forget(). */
const char *stage_story(struct stage *stage);
void stage_forget(struct stage *stage);
/* The last event of this type, NULL: none. */
const char *stage_last(struct stage *stage, const char *type);
/* The oldest pending inbox item of the run; fails the test when there is none. */
struct str stage_item(struct stage *stage);
int stage_decide(struct stage *stage, enum inbox_state state, const char *answer);
/* With everything a decision can say. */
int stage_decide_with(struct stage *stage, struct inbox_decision decision);
/* What must hold of everything stored, whatever happened: replay, gapless seq, one result for every
 * call, live events as read back, nothing that hangs. stage_free() calls it. */
void stage_check(struct stage *stage);
/* The same of one run: what a sweep of many lives checks after each. */
void stage_check_run(struct stage *stage, struct str run_id);
/* Somebody changes what is stored. */
void stage_alter(struct stage *stage, const char *sql);
const char *stage_status(struct stage *stage, struct str run_id);
struct run_info stage_info(struct stage *stage, struct str run_id);
/* How many items wait for a person. */
size_t stage_pending(struct stage *stage);

#endif
