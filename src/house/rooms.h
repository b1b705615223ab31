/* What thinks and acts under one data directory, wired together: policy, models, tools, the runner
 * and what wakes it.
 * The daemon and the embeddable library both open it; they differ in where the settings come from.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_HOUSE_ROOMS_H
#define DORMOUSE_HOUSE_ROOMS_H

#include "base/arena.h"
#include "bp/policy.h"
#include "builder/builder.h"
#include "change/change.h"
#include "config/config.h"
#include "connect/connect.h"
#include "desk/desk.h"
#include "files/files.h"
#include "journal/journal.h"
#include "loop/loop.h"
#include "model/model.h"
#include "policy/kill.h"
#include "run/run.h"
#include "sandbox/sandbox.h"
#include "skill/skill.h"
#include "tool/tool.h"
#include "wake/wake.h"

/* Texts and lists outlive the rooms. */
struct rooms_config {
    const char *data_dir; /* where policy.yaml may lie; files are shown in its folder "files" */
    struct loop *loop;
    struct domain *journal, *agent; /* attached to the loop in this order */
    const struct model_spec *models;
    size_t model_count;
    /* As in struct model_gateway_config. */
    int (*secret)(void *arg, const char *ref, struct buf *out, struct err *err);
    int (*consent)(void *arg, const struct model_spec *spec, struct err *err);
    void *arg;
    /* Accounts elsewhere; loop and domain are filled in. Without secrets none can be connected. */
    struct connect_config connect;
    const char *agent_name, *agent_model;
    const char *cwd;               /* NULL: this process's */
    const char *skills_root;       /* shared skills; NULL: only the bundled ones */
    const char *const *skill_keys; /* whose signatures of skills are believed; NULL: nobody's */
    const struct config *config; /* the sandbox; NULL: what is built in. Directories' files tighten
                                    it for each run */
    /* As in struct waker_config; 0: what it takes then. */
    int64_t cooldown_ms;
    unsigned runs_per_hour, max_flights;
    int64_t lease_ms, poll_ms;
};

struct rooms {
    struct loop *loop;
    const struct config *config;
    struct config *builtin; /* when none was given */
    const char *data_dir;
    struct change *change;
    struct journal *journal;
    struct files *files;
    struct kill_switches *kill;
    struct bp_policy *policy;
    struct model_gateway *models;
    struct skills *skills;
    struct tool_bed *tools;
    struct desk *desk;
    struct builder *builder;
    struct connect *connect;
    struct runner *runner;
    struct waker *waker;
    struct arena arena;
    struct str policy_text;
    char policy_hash[65];
    char cwd[4096];
};

#define ROOMS_INIT ((struct rooms){ .arena = ARENA_INIT })

/* What every sandbox is told by the configuration: places, hosts, all limits. Keeps spec->cwd;
 * texts go to the arena, data_dir is borrowed. */
void rooms_sandbox(const struct config *config, const char *data_dir, struct arena *arena,
                   struct sandbox_spec *spec);

/* The day budgets that the configuration sets. */
void rooms_budget(const struct config *config, struct budget_limits *limits);

/* Runs that were under way go on with the loop's first ticks. What was opened before a failure is
 * ended by rooms_stop() and rooms_release(). */
int rooms_open(struct rooms *rooms, const struct rooms_config *config, struct err *err);
/* Ends effects without a record; nothing of the loop's is used after this but loop_free(). */
void rooms_stop(struct rooms *rooms);
/* Frees the loop too: it has to go between what it carries and what its last callbacks use. Safe
 * on rooms that were never opened. */
void rooms_release(struct rooms *rooms);

#endif
