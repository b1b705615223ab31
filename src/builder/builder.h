/* Making agents: from a form, a template, another agent or an archive; changing and destroying
 * them; and the wizard that makes them by talking.
 *
 * What is asked for is checked here against what there is (models, tools, templates); the agent
 * room knows rows only.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_BUILDER_BUILDER_H
#define DORMOUSE_BUILDER_BUILDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/agent.h"
#include "base/alloc.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "change/change.h"
#include "loop/loop.h"

struct files;
struct journal;
struct model_gateway;
struct runner;
struct tool_bed;
struct waker;

struct builder;
struct builder_config {
    struct loop *loop;
    struct domain *agent_domain;
    struct change *change;
    struct model_gateway *models;
    struct tool_bed *tools;
    struct files *files; /* NULL: agents have none */
    /* Whose tools work only when an account is connected; NULL: nothing is known of accounts. */
    const struct connect *connect;
    struct journal *journal; /* whose categories have names; NULL: nothing is known of them */
};
/* Binds the wizard's tools: before the first use of the bed. Never NULL. */
struct builder *builder_new(const struct builder_config *config);
/* Whose runs end when their agent does; made after the tools. */
void builder_set_runner(struct builder *builder, struct runner *runner);
/* Who has to hear of new timers and subscriptions. */
void builder_set_waker(struct builder *builder, struct waker *waker);
/* After the tool bed. */
void builder_free(struct builder *builder);
AUTO_DEFINE(builder)

/* ---- forms ---- */

/* Beside those of enum agent_field. */
enum builder_field { BUILDER_ID = 1 << 16, BUILDER_TEMPLATE = 1 << 17, BUILDER_PATTERNS = 1 << 18 };

struct builder_form {
    unsigned given; /* enum agent_field and builder_field */
    struct str id, display_name, description, instructions;
    struct str model; /* empty: the default */
    struct str tools; /* JSON list of names; empty: what its kind has */
    struct str template;
    struct str patterns; /* JSON list of names, added to the instructions */
    struct str mode;
    struct str categories; /* JSON list of ids or names, or ["*"] */
    int64_t session_ttl_ms;
    struct str extension; /* JSON object of members that are set; null takes one away */
    struct str lifecycle; /* of a change: active or dormant; empty: as it is */
    bool auto_approve_memory, paused;
    struct str taint; /* where its texts come from (change/taint.h); empty: from a person */
};

/* Inside a unit. What is not given comes from the template, with the subscriptions and timers that
 * it has; without id one is made from the name. The name must be given unless there is a template.
 * Categories come from the form alone. conflict: the id is taken. */
int builder_create(struct builder *builder, const struct builder_form *form, struct arena *arena,
                   struct agent *ret_agent, struct err *err);
/* Checks a form as builder_create() would, without writing. */
int builder_check(struct builder *builder, const struct builder_form *form, struct err *err);
/* Inside a unit: only what is given (of enum agent_field). */
int builder_change(struct builder *builder, struct str id, const struct builder_form *form,
                   struct arena *arena, struct agent *ret_agent, struct err *err);
/* What a person should know of an agent that was made or changed, as sentences. */
#define BUILDER_WARNINGS_MAX 8
struct builder_hook {
    const char *subscription_id, *name, *token;
};
struct builder_warnings {
    const char *text[BUILDER_WARNINGS_MAX];
    size_t n;
    struct builder_hook *hooks; /* webhooks that were made with it: their tokens are shown once */
    size_t hook_count;
};
/* Whether it can reach of the journal what its tools are for; categories that are not there. */
int builder_advise(struct builder *builder, const struct agent *agent, struct arena *arena,
                   struct builder_warnings *warnings, struct err *err);
/* Inside a unit: settings, files and what wakes it, which is switched off: two agents that do the
 * same work at the same time are seldom meant. Conversations stay with the first. name empty: "NAME
 * (copy)". Adds to warnings. */
int builder_duplicate(struct builder *builder, const struct agent *from, struct str name,
                      struct arena *arena, struct agent *ret_agent,
                      struct builder_warnings *warnings, struct err *err);
/* Opens units itself. confirm must be the agent's display name, as it is written. The agent, its
 * open runs and what waits for a person end; files get a deletion, conversations stay readable.
 * Doing it again gives 0 too. */
int builder_destroy(struct builder *builder, const struct agent *agent, struct str confirm,
                    struct err *err);

/* ---- once ---- */

/* Asked for twice (an answer was lost, the daemon died in between), something is made once. */
struct builder_once {
    struct str id;   /* of what is asked; empty: each time anew */
    struct str hash; /* of the words it is asked with; empty: not compared */
};
/* Inside a unit, before making. 1 it was made before and is *ret_agent, 0 it was not; conflict when
 * the same id came with other words. */
int builder_made(struct builder *builder, const struct builder_once *once, struct arena *arena,
                 struct agent *ret_agent, struct err *err);
/* In the unit that made it. */
int builder_remember(struct builder *builder, const struct builder_once *once, int64_t agent_n,
                     struct err *err);

/* ---- archives ---- */

/* A gzipped tar with settings, instructions, skills, what it knows and what wakes it; the same
 * agent is the same bytes. conflict names the file that holds a secret: one that is kept here, a
 * token of a known form or a private key. A webhook's token is not even known here. */
int builder_export(struct builder *builder, const struct agent *agent, struct arena *arena,
                   struct buf *out, struct err *err);
/* Inside a unit: an agent from such an archive, which may be hostile. id empty: made from the name.
 * Its files are marked as imported; memory writes need approval whatever they did before. A model
 * that is not here becomes the default and tools that are not here are left out, with a warning.
 * What wakes it is made as it was, on or off; a webhook gets a new token. Categories are a person's
 * to give. ret_warnings starts empty; its texts lie in arena. */
int builder_import(struct builder *builder, struct str bytes, struct str id, struct arena *arena,
                   struct agent *ret_agent, struct builder_warnings *ret_warnings, struct err *err);

/* ---- those that are always there ---- */

/* Inside a unit: the agent that greets, made when absent with description and instructions of the
 * template "planner". It reaches all of the journal, because it is whom everything is asked. On
 * fresh data it also gets the template's subscriptions and timers; where other agents are or were,
 * a person says what wakes it. One that is there stays as it is. */
int builder_ensure_first(struct builder *builder, const char *display_name, struct arena *arena,
                         struct agent *ret_agent, struct err *err);

#define BUILDER_WIZARD_ID "system:builder-wizard"
/* Inside a unit: made when absent. */
int builder_ensure_wizard(struct builder *builder, struct arena *arena, struct agent *ret_agent,
                          struct err *err);

#endif
