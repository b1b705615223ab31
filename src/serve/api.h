/* The REST interface, /run and the agents' WebSocket: thin wrappers around the runner.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_SERVE_API_H
#define DORMOUSE_SERVE_API_H

#include "base/alloc.h"
#include "builder/builder.h"
#include "find/find.h"
#include "policy/consent.h"
#include "policy/kill.h"
#include "run/run.h"
#include "serve/route.h"

struct api;
struct connect;
struct journal;
struct secrets;
struct skills;
struct waker;

struct api_config {
    struct runner *runner;
    struct domain *agent_domain;
    struct loop *loop;
    struct change *change;
    struct journal *journal; /* NULL: there is none, and no routes to it */
    struct kill_switches *kill;
    struct files *files;
    struct model_gateway *models;
    struct tool_bed *tools;
    struct builder *builder;
    struct skills *skills;
    struct find *find; /* NULL: nothing can be searched */
    /* What a person agrees to for this model; texts lie in arena. */
    void (*terms)(const struct model_spec *spec, struct arena *arena,
                  struct consent_terms *ret_terms);
    /* Reads the configuration again, for models that are new there. NULL: there is none to read. */
    int (*reload)(void *arg, struct err *err);
    void *reload_arg;
    struct connect *connect; /* NULL: no accounts */
    struct secrets *secrets; /* NULL: no secrets */
    struct waker *waker;     /* NULL: nothing wakes agents */
};

/* Never NULL. */
struct api *api_new(const struct api_config *config);
/* After serve_stop() has told the clients, before serve_free(). */
void api_free(struct api *api);
AUTO_DEFINE(api)

/* Tells the pages that something changed: after the commit, from the loop's thread. Changes made
 * through the routes and by runs are told already. Empty: none. */
struct api_notice {
    const char *type; /* "run", "inbox", "agent", "thread", "memory", "skill", "kill" ... */
    struct str agent_id, thread_id, run_id, item_id;
    const char *kind; /* a run's event, "decided", "changed" */
};
void api_activity(struct api *api, const struct api_notice *notice);

/* What serve_config.routes takes, API_ROUTE_TABLES of them; they live as long as the api. */
#define API_ROUTE_TABLES 2
const struct serve_routes *api_routes(struct api *api);

#endif
