/* Reports: what an agent has to say for now, one head for each scope, and how fresh it is.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_AGENT_REPORT_H
#define DORMOUSE_AGENT_REPORT_H

#include "agent/agent.h"
#include "base/limits.h"
#include "change/batch.h"
#include "change/vclock.h"

struct report_source {
    struct str source_type, source_id; /* journal, agent, web, tool_output; the locator */
    struct str section_id, claim_id;
    int64_t captured_at, freshness_at;
    double confidence; /* < 0: not said */
    bool inferred;
};
struct report {
    int64_t n;
    struct str id;
    int64_t agent_n, created_at, run_n;
    struct str scope;       /* current, daily, weekly, monthly */
    struct str title, text; /* text: Markdown */
    double confidence;      /* < 0: not said */
    struct str provenance;  /* JSON object */
    struct vclock cursor;   /* what it had seen */
    struct str taint;
    const struct report_source *sources;
    size_t source_count;
};
#define REPORT_TITLE_MAX   200        /* characters */
#define REPORT_TEXT_MAX    (64 * KIB) /* bytes */
#define REPORT_SOURCES_MAX 200
#define REPORT_LOCATOR_MAX 2000 /* bytes */
int report_scope_check(struct str scope, struct err *err);

/* Inside a unit: stores it, moves the head and links it to the records and agents that its sources
 * name (report_source); adds AGENT_REPORT to batch (may be NULL). The same id again changes nothing
 * (0); 1 stored. agent_destroyed; bad_request says which member. */
int report_put(struct domain *domain, struct change *change, const struct report *report,
               struct change_batch *batch, struct err *err);
/* The head's: 1 found, 0 none. */
int report_current(struct domain *domain, int64_t agent_n, struct str scope, struct arena *arena,
                   struct report *ret_report, struct err *err);
/* Of any agent: 1 it is there, 0 not. */
int report_is_there(struct domain *domain, struct str id, struct err *err);
/* The newest first; scope empty: all; before: the n of the last one that was seen, 0 from the end.
 */
int report_list(struct domain *domain, int64_t agent_n, struct str scope, int64_t before, int limit,
                struct arena *arena, struct report **ret_reports, size_t *ret_count,
                struct err *err);

/* ---- freshness ---- */

struct report_freshness {
    bool stale;
    const char *why; /* a sentence; "" when it is fresh */
    int64_t age_ms, newer_events;
};
/* Too old by time (current 36 h, daily 48 h, weekly 9 days, monthly 35 days), or newer relevant
 * events than its cursor: newer and its time are what the caller counted. */
void report_judge(const struct report *report, int64_t now_ms, int64_t newer_events,
                  int64_t newest_event_at, struct arena *arena, struct report_freshness *ret_fresh);

#endif
