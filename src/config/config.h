/* The configuration, merged from its sources and checked.
 *
 * Sources, each overlaying the one before: built-in defaults, DATA/config.yaml, DORMOUSE_*
 * variables. They hold for the whole daemon. Over them, for each run, the .dormouse/config.yaml of
 * the run's directory and of every directory above it, which may only tighten. Every file is
 * checked against share/schema/config.schema.json; what is wrong is reported with file, line and
 * column, and then nothing of it is used.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_CONFIG_CONFIG_H
#define DORMOUSE_CONFIG_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

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

struct config {
    const char *agent_name, *agent_model;
    struct config_models {
        struct config_model *items;
        size_t n;
    } models;
    const char *skills_root;
    /* Of connected accounts; NULL: the company's own. */
    const char *connect_slack_base_url, *connect_google_base_url, *connect_google_auth_url,
        *connect_google_token_url, *connect_google_client_id, *connect_google_client_secret_ref;
    struct config_list skills_trusted_keys;
    bool sandbox_enabled, sandbox_allow_home;
    struct config_list sandbox_allow_write, sandbox_unix_sockets, sandbox_deny_read,
        sandbox_allowed_domains;
    int64_t sandbox_timeout_ms, sandbox_memory_bytes, sandbox_processes, sandbox_disk_bytes,
        sandbox_files;
    const char *server_listen;
    struct config_list server_hosts;
    const char *server_token; /* NULL: the one in DATA/token */
    const char *store_url;    /* "sqlite:" or postgresql://... */
    /* 0: no limit */
    int64_t budget_tokens_per_day, budget_tool_calls_per_day;
    int64_t budget_all_tokens_per_day, budget_all_tool_calls_per_day;
    double budget_cost_per_day, budget_all_cost_per_day;
    int64_t scheduler_max_concurrent_runs, scheduler_wakes_per_agent_per_hour,
        scheduler_cooldown_ms, scheduler_lease_ms, scheduler_poll_ms;

    struct config_origin *origins; /* of each key; see config_each() */
    struct json_object *tree;      /* what the sources set, merged */
    struct arena arena;            /* holds every text */
};

/* Where values come from. */
struct config_sources {
    const char *data_dir;
    const char *work_dir;     /* as config_for_dir() with this one; NULL: for no directory */
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
/* The texts of DATA/config.yaml and of the working directory's file, for a caller without files; p
 * NULL stands for an absent one. */
struct config_texts {
    struct str file, work;
};
/* As config_load(); texts NULL: reads the files. */
int config_load_texts(const struct config_sources *sources, const struct config_texts *texts,
                      struct config **ret_config, struct config_problems *problems,
                      struct err *err);

void config_free(struct config *config);
AUTO_DEFINE(config)
/* Without any source. */
int config_builtin(struct config **ret_config, struct err *err);
/* Sets a key as a program that embeds us says it; takes value, which is not checked further. */
int config_set(struct config *config, const char *key, struct json_object *value, struct err *err);
/* What holds for a run in dir (absolute, without links): base, tightened by the
 * .dormouse/config.yaml of each directory from the root down to dir. The places that may be written
 * to are real paths then. The files are read anew each time. As config_load() else. */
int config_for_dir(const struct config *base, const char *data_dir, const char *dir,
                   struct config **ret_config, struct config_problems *problems, struct err *err);

/* Calls fn for every key: its dotted name ("models[0].id"), its value as JSON (NULL: not set; what
 * must not be seen is replaced) and its origin ("default", "FILE:LINE", "$NAME"). */
void config_each(const struct config *config,
                 void (*fn)(void *arg, const char *key, struct json_object *value,
                            const char *origin),
                 void *arg);

/* The schema that the binary was built with. */
struct str config_schema(void);

#endif
