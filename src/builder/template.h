/* Templates: what a new agent may begin with. Part of the binary (share/templates), read at the
 * first use; a broken one is our own mistake, the build's tests read them.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_BUILDER_TEMPLATE_H
#define DORMOUSE_BUILDER_TEMPLATE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "wake/subscription.h"

/* When it wakes by the clock; the name says it in words. */
struct template_timer {
    const char *name, *rrule, *prompt;
};

struct template
{
    const char *id; /* "gym-coach" */
    const char *name, *description;
    const char *kind;            /* whose capability profile it has: "gym_coach" */
    const char *mode;            /* autonomous, interactive, hybrid */
    const char *instructions;    /* without the patterns */
    const char *const *tools;    /* names of contracts, ends with NULL */
    const char *const *patterns; /* names of patterns, ends with NULL */
    /* What wakes it, made with the agent. Names say it in words. */
    const struct subscription *subscriptions;
    size_t subscription_count;
    const struct template_timer *timers;
    size_t timer_count;
};

/* In order of id. */
const struct template *templates(size_t *ret_count);
/* NULL when there is none. */
const struct template *template_find(struct str id);
/* bad_request names those there are. */
int template_get(struct str id, const struct template **ret_template, struct err *err);

/* Parts of instructions that many agents share (share/prompts/patterns.md). */
struct pattern {
    const char *name, *title; /* "learning", "When you are corrected" */
    struct str text;          /* Markdown without the heading */
};
const struct pattern *patterns(size_t *ret_count);
const struct pattern *pattern_find(struct str name);
/* "## Title\n\ntext\n", with an empty line before it when out has something. */
void pattern_add(const struct pattern *pattern, struct buf *out);
/* The template's instructions with its patterns. */
void template_instructions(const struct template *from, struct buf *out);

#endif
