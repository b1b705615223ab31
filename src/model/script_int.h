/* A scripted model: expectations and replies, read once from YAML.
 *
 * script_load.c reads and checks the file, script_match.c finds the step for a request, script.c is
 * the provider that plays it.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_MODEL_SCRIPT_INT_H
#define DORMOUSE_MODEL_SCRIPT_INT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/regex.h"
#include "base/str.h"
#include "model/model.h"

#define SCRIPT_CHUNK_DEFAULT 64

enum script_match { SCRIPT_MATCH_NONE = 0, SCRIPT_ORDER, SCRIPT_ANY, SCRIPT_STATE };

struct script_texts {
    struct str *text;
    size_t n;
};

struct script_expect {
    struct script_texts user, system, tools, no_tools;
    struct regex *user_regex;
    bool has_result;
    struct str result_call, result_tool;
    struct script_texts result_contains;
    struct regex *result_regex;
    int result_failed;               /* -1: either */
    int64_t results, messages, turn; /* -1: any number */
};

struct script_call {
    struct str id, name, arguments, problem;
};

struct script_step {
    unsigned line; /* in the file */
    struct script_expect expect;
    int64_t times, used;
    struct str text, thinking, model;
    int64_t repeat;
    bool has_variables; /* ${user}, ${result}, ${results} in text or arguments */
    struct script_call *calls;
    size_t call_count;
    int64_t input, output, cached; /* -1: estimated */
    int64_t delay_ms, chunk_delay_ms;
    size_t chunk_size; /* 0: all at once */
    enum model_stop stop;
    enum err_code fail; /* ERR_NONE: it is a reply */
    struct str message;
    int64_t retry_after_ms, after_bytes;
};

struct script {
    char *path;
    enum script_match match;
    struct script_step *steps;
    size_t n;
    size_t next; /* SCRIPT_ORDER */
    struct arena arena;
};

int script_load(const char *path, struct script **ret_script, struct err *err);
/* name is for messages. */
int script_parse(struct str text, const char *name, struct script **ret_script, struct err *err);
void script_free(struct script *script);
AUTO_DEFINE(script)

/* The step for this request; it counts as used. NULL with provider_failed when none fits: err says
 * what was expected and what came. */
struct script_step *script_find(struct script *script, const struct model_request *request,
                                struct err *err);
/* text with ${user}, ${result} and ${results} filled in from the request; as_json: inside a JSON
 * text. */
struct str script_fill(struct str text, const struct model_request *request, bool as_json,
                       struct arena *arena);

#endif
