/* Engines from what a run recorded of itself.
 *
 * SPDX-License-Identifier: MIT
 */
#include "run/resume.h"

#include "base/json.h"

static int limit(struct json_object *settings, const char *key, uint16_t *ret_limit,
                 struct err *err)
{
    int64_t value = 0;

    if (json_get_i64(settings, key, &value, err) < 0)
        return -1;
    if (value < 0 || value > BP_TIMES_MAX)
        return err_set(err, ERR_SCHEMA_VIOLATION, "%s is %lld; 1 to %d are possible", key,
                       (long long)value, BP_TIMES_MAX);
    *ret_limit = (uint16_t)value;
    return 0;
}

int run_limits(struct str settings, struct run_limits *ret_limits, struct err *err)
{
    struct run_limits limits = { .tokens = 0 };
    AUTO_JSON value = NULL;

    if (json_parse(settings, &value, err) < 0 ||
        limit(value, "maxIterations", &limits.engine[RUN_LIMIT_ITERATIONS], err) < 0 ||
        limit(value, "maxToolCalls", &limits.engine[RUN_LIMIT_TOOL_CALLS], err) < 0 ||
        json_get_i64(value, "maxTokens", &limits.tokens, err) < 0 ||
        json_get_i64(value, "maxMs", &limits.ms, err) < 0)
        return err_wrap(err, "settings of the run");
    *ret_limits = limits;
    return 0;
}

int run_engine(const struct bp_program *program, struct str settings, bp_selected_fn *selected,
               void *ctx, struct bp_engine **ret_engine, struct err *err)
{
    struct run_limits limits;
    const struct bp_options options = { .selected = selected, .ctx = ctx, .limits = limits.engine };

    if (run_limits(settings, &limits, err) < 0)
        return -1;
    *ret_engine = bp_new(program, RUN_CALLS_MAX, &options);
    return 0;
}
