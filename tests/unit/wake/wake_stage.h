/* A stage for wakes: a waker on a runner (tests/unit/run/stage.h), with a journal beside it.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_TESTS_WAKE_STAGE_H
#define DORMOUSE_TESTS_WAKE_STAGE_H

#include "agent/state.h"
#include "stage.h"
#include "wake/wake.h"

struct wake_stage {
    struct test *t;
    struct stage *stage;
    struct stage_more more;
    struct domain *journal_domain;
    struct journal *journal;
    struct waker *waker;
    struct waker_config config; /* what is set here holds from the next start on */
    struct agent coach;
    bool frozen; /* its clock stands still: nothing of it happens */
};

struct wake_stage *wake_stage_new(struct test *t);
/* One more process on the same (shared) database. */
struct wake_stage *wake_stage_new_host(struct test *t, const char *host_id);
void wake_stage_free(struct wake_stage *s);
/* An agent that may see everything. */
void wake_stage_agent(struct wake_stage *s, const char *id, struct agent *ret_agent);
/* Inside a unit of its own. */
void wake_stage_queue(struct wake_stage *s, const struct wake_job *job);
/* A wake of a subscription about counters of this host, e.g. 7. */
struct str wake_stage_change(struct wake_stage *s, const struct agent *agent, const char *name,
                             int64_t counter, int64_t not_before);
struct str wake_stage_wake(struct wake_stage *s, const char *agent_id, const char *request,
                           const char *words);
struct wake_job wake_stage_get(struct wake_stage *s, struct str key);
/* Its status, and what it says. */
const char *wake_stage_status(struct wake_stage *s, struct str key);
void wake_stage_settle(struct wake_stage *s);
void wake_stage_state(struct wake_stage *s, const struct agent *agent,
                      struct agent_state *ret_state);
/* Sets one member of its state. */
void wake_stage_sleep(struct wake_stage *s, const struct agent *agent, int64_t until);
/* What must hold of all that is stored: every wake has one row, every run of a wake is its wake's,
 * nothing flies that has ended. */
void wake_stage_check(struct wake_stage *s);
int64_t wake_stage_now(struct wake_stage *s);
int64_t wake_stage_count(struct wake_stage *s, const char *what);

#endif
