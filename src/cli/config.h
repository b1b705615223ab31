/* The configuration, merged from its sources and checked.
 *
 * Sources, each overlaying the one before: built-in defaults, DATA/config.yaml, the working
 * directory's .dormouse/config.yaml (which may only tighten), DORMOUSE_* variables. Every file is
 * checked against share/schema/config.schema.json; what is wrong is reported with file, line and
 * column, and then nothing of it is used.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_CLI_CONFIG_H
#define DORMOUSE_CLI_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/err.h"

#define CONFIG_FOREVER (-1) /* a retention that never ends */

struct config_list {
    const char **items;
    size_t n;
};

enum config_provider {
    CONFIG_OPENAI = 0,
    CONFIG_ANTHROPIC,
    CONFIG_FUNCTIONGEMMA,
    CONFIG_OFFLINE,
    CONFIG_SCRIPT,
};

struct config_model {
    const char *id;
    int provider; /* enum config_provider */
    /* NULL where they are not set: */
    const char *base_url, *model, *secret_ref, *server, *gguf, *script;
    int64_t context_tokens;                         /* 0: not known */
    double price_input, price_output, price_cached; /* for a million tokens */
    bool privacy_trains;
    const char *privacy_policy_version, *privacy_retention, *privacy_jurisdiction;
};

enum config_transport { CONFIG_HTTP = 0, CONFIG_STDIO };

struct config_mcp_server {
    const char *id;
    int transport;                 /* enum config_transport */
    const char *name, *url, *auth; /* NULL where they are not set */
    struct config_list command;
};

struct config {
    const char *agent_name, *agent_model;
    struct config_models {
        struct config_model *items;
        size_t n;
    } models;
    struct config_mcp_servers {
        struct config_mcp_server *items;
        size_t n;
    } mcp_servers;
    const char *skills_root, *rules_root;
    /* Of connected accounts; NULL: the company's own. */
    const char *connect_slack_base_url, *connect_google_base_url, *connect_google_auth_url,
        *connect_google_token_url, *connect_google_client_id, *connect_google_client_secret_ref;
    struct config_list skills_trusted_keys;
    bool sandbox_enabled;
    struct config_list sandbox_allow_write, sandbox_deny_read, sandbox_allowed_domains;
    int64_t sandbox_timeout_ms, sandbox_memory_bytes, sandbox_processes, sandbox_disk_bytes;
    const char *server_listen;
    struct config_list server_hosts;
    const char *server_token; /* NULL: the one in DATA/token */
    const char *store_url;    /* "sqlite:" or postgresql://... */
    /* 0: no limit */
    int64_t budget_tokens_per_day, budget_runtime_per_day_ms, budget_tool_calls_per_day;
    double budget_cost_per_day, budget_warn_at;
    /* milliseconds or CONFIG_FOREVER */
    int64_t retention_trace, retention_tool_results, retention_summaries, retention_reports,
        retention_attention, retention_prompts, retention_snapshots, retention_idempotency;
    int64_t scheduler_max_concurrent_runs, scheduler_wakes_per_agent_per_hour,
        scheduler_cooldown_ms, scheduler_lease_ms, scheduler_poll_ms;
    bool features_spawn, features_handoff, features_video;

    struct config_origin *origins; /* of each key; see config_each() */
    struct json_object *tree;      /* what the sources set, merged */
    struct arena arena;            /* holds every text */
};

/* Where values come from. */
struct config_sources {
    const char *data_dir;
    const char *work_dir;     /* NULL: no overlay */
    char *const *environment; /* "NAME=value", ends with NULL; NULL: none */
};

/* One thing that is wrong. file is a path or a variable's name; line 0: the whole of it. */
struct config_problem {
    const char *file;
    unsigned line, column;
    const char *message;
};

#define CONFIG_PROBLEMS_MAX 32

struct config_problems {
    struct config_problem items[CONFIG_PROBLEMS_MAX];
    size_t n;
    size_t more; /* that did not fit */
    struct arena arena;
};
void config_problems_release(struct config_problems *problems);
#define AUTO_CONFIG_PROBLEMS                                                                       \
    __attribute__((cleanup(config_problems_release))) struct config_problems

/* Everything that is wrong goes into problems (zeroed by the caller, may be NULL), the first of it
 * into err. A file that is absent is no error. */
int config_load(const struct config_sources *sources, struct config **ret_config,
                struct config_problems *problems, struct err *err);
void config_free(struct config *config);
AUTO_DEFINE(config)

/* Calls fn for every key: its dotted name ("models[0].id"), its value as JSON (NULL: not set; what
 * must not be seen is replaced) and its origin ("default", "FILE:LINE", "$NAME"). */
void config_each(const struct config *config,
                 void (*fn)(void *arg, const char *key, struct json_object *value,
                            const char *origin),
                 void *arg);

/* The schema that the binary was built with. */
struct str config_schema(void);

#endif
