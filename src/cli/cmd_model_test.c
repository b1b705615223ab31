/* dormouse model test: one small request, to see whether a model answers.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "agent/budget.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/utf8.h"
#include "cli/cli_int.h"
#include "cli/commands_int.h"
#include "cli/domains.h"
#include "cli/models.h"
#include "cli/term.h"
#include "config/config.h"
#include "house/rooms.h"
#include "loop/loop.h"
#include "policy/secret.h"

#define FIRST_WORDS 200
#define OUTPUT_MAX  256 /* tokens: some think before they say a word */

struct probe {
    struct loop *loop;
    int64_t started_ms, first_ms, total_ms;
    char words[FIRST_WORDS + 1], model[FIRST_WORDS + 1];
    struct model_usage usage;
    bool replied;
    struct err err;
};

static int64_t now_ms(void)
{
    return clock_mono_ms(clock_system());
}

static void on_delta(void *arg, enum model_delta kind, struct str text)
{
    struct probe *probe = arg;

    (void)kind;
    (void)text;
    if (probe->first_ms < 0)
        probe->first_ms = now_ms() - probe->started_ms;
}

static void keep(char *out, struct str text)
{
    text = utf8_truncate(str_trim(text), FIRST_WORDS);
    snprintf(out, FIRST_WORDS + 1, "%.*s", STR_ARG(text));
}

static void on_done(void *arg, const struct model_reply *reply, const struct err *err,
                    int64_t retry_after_ms)
{
    struct probe *probe = arg;

    (void)retry_after_ms;
    probe->total_ms = now_ms() - probe->started_ms;
    if (reply) {
        probe->replied = true;
        keep(probe->words, reply->text.n ? reply->text : reply->thinking);
        keep(probe->model, reply->model);
        probe->usage = reply->usage;
    } else {
        probe->err = *err;
    }
    loop_stop(probe->loop);
}

static int ask(struct model_gateway *gateway, const char *id, int64_t max_output,
               struct probe *probe, struct err *err)
{
    static const struct model_message hello = {
        .role = MODEL_USER, .text = { "Say hello in one short sentence.", 32 }
    };
    const struct model_request request = {
        .model_id = id,
        .messages = &hello,
        .message_count = 1,
        .max_output_tokens = max_output,
    };
    static const struct model_sink sink = { .on_delta = on_delta, .on_done = on_done };
    struct model_exchange *x;

    probe->started_ms = now_ms();
    probe->first_ms = -1;
    if (model_start(gateway, &request, &sink, probe, &x, err) < 0)
        return -1;
    return loop_run(probe->loop, err);
}

/* ---- the day's budget of all agents: what it costs is paid for, too ---- */

#define INPUT_MAX 64 /* tokens of the sentence, and what providers put around it */

/* used NULL: it is reserved. A data directory without a database has used nothing and counts
 * nothing: it is made by the first start. */
static int charge(const struct cli_args *args, const struct config *config,
                  const struct model_spec *spec, const struct model_usage *used,
                  int64_t *max_output, struct err *err)
{
    const struct budget_need need = { .run_n = BUDGET_NO_RUN,
                                      .input_tokens = INPUT_MAX,
                                      .output_tokens = OUTPUT_MAX,
                                      .price_input = spec->price_input,
                                      .price_output = spec->price_output };
    AUTO_TEXT path = domains_path(cli_data_dir(args), DOMAIN_AGENT);
    AUTO(domain) agent = NULL;
    struct budget_limits limits;
    struct budget_day day;
    int r;

    if (domains_is_local(config, DOMAIN_AGENT) && access(path, F_OK) < 0)
        return 0;
    if (domains_open_one(config, cli_data_dir(args), DOMAIN_AGENT, false, &agent, err) < 0)
        return -1;
    rooms_budget(config, &limits);
    limits.agent = (struct budget){ 0 };
    budget_day_of(clock_wall_ms(clock_system()), &day);
    if (domain_begin(agent, err) < 0)
        return -1;
    if (used)
        r = budget_settle(agent, BUDGET_NO_RUN, 0,
                          &(struct budget){ .tokens = used->input_tokens + used->output_tokens,
                                            .cost = (int64_t)(used->cost * 1e6 + 0.5) },
                          &day, err);
    else
        r = budget_reserve(agent, &need, &limits, &day, max_output, err);
    if (r == 0)
        return domain_commit(agent, err);
    domain_rollback(agent);
    return -1;
}

static void print_probe(const struct cli_args *args, const char *id, const struct probe *probe)
{
    struct json_object *out;

    if (!cli_json(args)) {
        printf("%s answered after %lld ms (first word %lld ms), %s%lld tokens in, %lld out\n", id,
               (long long)probe->total_ms, (long long)probe->first_ms,
               probe->usage.estimated ? "about " : "", (long long)probe->usage.input_tokens,
               (long long)probe->usage.output_tokens);
        term_text(stdout, probe->words);
        putchar('\n');
        return;
    }
    out = json_object_new_object();
    json_object_object_add(out, "model", json_object_new_string(id));
    json_object_object_add(out, "answered_by", json_object_new_string(probe->model));
    json_object_object_add(out, "first_ms", json_object_new_int64(probe->first_ms));
    json_object_object_add(out, "total_ms", json_object_new_int64(probe->total_ms));
    json_object_object_add(out, "input_tokens", json_object_new_int64(probe->usage.input_tokens));
    json_object_object_add(out, "output_tokens", json_object_new_int64(probe->usage.output_tokens));
    json_object_object_add(out, "estimated", json_object_new_boolean(probe->usage.estimated));
    json_object_object_add(out, "cost", json_object_new_double(probe->usage.cost));
    json_object_object_add(out, "text", json_object_new_string(probe->words));
    cli_print_json(out);
}

static int test_model(const struct cli_args *args, const struct config *config, struct probe *probe,
                      struct err *err)
{
    const char *data_dir = cli_data_dir(args);
    AUTO_MODELS models = { .n = 0 };
    AUTO(secrets) secrets = secrets_new(data_dir);
    AUTO(domain) agent = NULL;
    AUTO(loop) loop = NULL;
    AUTO(model_gateway) gateway = NULL;
    struct models_access access = { .secrets = secrets };
    struct model_gateway_config how = {
        .secret = models_secret,
        .consent = models_consent,
        .arg = &access,
    };
    const struct model_spec *spec;
    int64_t max_output = OUTPUT_MAX;
    int result;

    models_init(&models, config, data_dir);
    if (!(spec = models_find(&models, cli_operand(args, 0))))
        return err_set(err, ERR_NOT_FOUND, "there is no model `%s`: see dormouse model list",
                       cli_operand(args, 0));
    if (cli_agent_domain(config, data_dir, &agent, err) < 0 || loop_new(NULL, &loop, err) < 0)
        return -1;
    access.agent = agent;
    probe->loop = how.loop = loop;
    how.models = spec; /* no other: a script that is missing elsewhere is not this one's fault */
    how.model_count = 1;
    if (model_gateway_new(&how, &gateway, err) < 0)
        return -1;
    if (charge(args, config, spec, NULL, &max_output, err) < 0)
        return -1;
    result = ask(gateway, spec->id, max_output, probe, err);
    model_gateway_free(TAKE(gateway));
    model_wait(loop);
    /* Something came, or may have: it stays counted as it was reserved. */
    if (!probe->replied && (probe->first_ms >= 0 || probe->err.code == ERR_TIMEOUT))
        return result;
    if (charge(args, config, spec, &probe->usage, NULL, result < 0 ? NULL : err) < 0)
        return -1;
    return result;
}

static int run_test(const struct cli_args *args)
{
    AUTO(config) config = NULL;
    struct probe probe = { .replied = false };
    struct err err = ERR_INIT;

    if (cli_config(args, &config, &err) < 0 || test_model(args, config, &probe, &err) < 0)
        return cli_fail(args, &err);
    if (!probe.replied)
        return cli_fail(args, &probe.err);
    print_probe(args, cli_operand(args, 0), &probe);
    return CLI_DONE;
}

const struct cli_command cli_cmd_model_test = {
    .name = "model test",
    .operands = "ID",
    .summary = "Sends a model one short sentence and says how fast it answered, or what is wrong",
    .details =
        "What it uses counts for the day's budget of all agents (budget.all); nothing is sent when "
        "that is used up.",
    .operands_min = 1,
    .operands_max = 1,
    .run = run_test,
};
