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
struct skills;

struct api_config {
    struct runner *runner;
    struct domain *agent_domain;
    struct loop *loop;
    struct change *change;
    struct kill_switches *kill;
    struct files *files;
    struct model_gateway *models;
    struct tool_bed *tools;
    struct builder *builder;
    struct find *find; /* NULL: nothing can be searched */
    struct skills *skills;
    /* What a person agrees to for this model; texts lie in arena. */
    void (*terms)(const struct model_spec *spec, struct arena *arena,
                  struct consent_terms *ret_terms);
};

/* Never NULL. */
struct api *api_new(const struct api_config *config);
/* After serve_stop() has told the clients, before serve_free(). */
void api_free(struct api *api);
AUTO_DEFINE(api)

/* What serve_config.routes takes; lives as long as the api. */
const struct serve_routes *api_routes(struct api *api);

#endif
