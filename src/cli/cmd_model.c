/* dormouse model list, dormouse model consent
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "base/json_put.h"
#include "base/limits.h"
#include "cli/cli_int.h"
#include "cli/commands_int.h"
#include "cli/decide.h"
#include "cli/domains.h"
#include "cli/models.h"
#include "cli/term.h"
#include "config/config.h"

/* The domain for reading, NULL in a data directory that has none yet. */
int cli_agent_domain(const struct config *config, const char *data_dir, struct domain **ret_domain,
                     struct err *err)
{
    AUTO_TEXT path = domains_path(data_dir, DOMAIN_AGENT);

    *ret_domain = NULL;
    if (domains_is_local(config, DOMAIN_AGENT) && access(path, F_OK) < 0)
        return 0;
    return domains_open_one(config, data_dir, DOMAIN_AGENT, true, ret_domain, err);
}

/* ---- list ---- */

struct row {
    const struct model_spec *spec;
    const char *where, *consent;
};

/* "given", "needed", or "not needed". */
static int consent_state(const struct model_spec *spec, struct domain *agent, struct arena *arena,
                         const char **ret_state, struct err *err)
{
    struct consent_terms terms;
    int given = 0;

    *ret_state = "not needed";
    if (model_spec_is_local(spec))
        return 0;
    models_terms(spec, arena, &terms);
    if (agent && (given = consent_given(agent, &terms, err)) < 0)
        return -1;
    *ret_state = given ? "given" : "needed";
    return 0;
}

static void add_text(struct json_object *to, const char *key, const char *value)
{
    if (value)
        json_object_object_add(to, key, json_object_new_string(value));
}

static struct json_object *row_json(const struct row *row)
{
    struct json_object *out = json_object_new_object(), *price = json_object_new_object();

    add_text(out, "id", row->spec->id);
    add_text(out, "provider", row->spec->provider);
    add_text(out, "where", row->where);
    json_object_object_add(out, "local", json_object_new_boolean(model_spec_is_local(row->spec)));
    add_text(out, "model", row->spec->model);
    add_text(out, "consent", row->consent);
    json_object_object_add(price, "input", json_object_new_double(row->spec->price_input));
    json_object_object_add(price, "output", json_object_new_double(row->spec->price_output));
    json_object_object_add(price, "cached", json_object_new_double(row->spec->price_cached));
    json_object_object_add(out, "price", price);
    return out;
}

static const char *price_text(const struct model_spec *spec, struct arena *arena)
{
    if (spec->price_input == 0 && spec->price_output == 0)
        return "-";
    return arena_printf(arena, "%g in, %g out", spec->price_input, spec->price_output);
}

#define COLUMNS 6

struct cells {
    const char *at[COLUMNS];
};

static void print_cells(const struct cells *cells, size_t n)
{
    int width[COLUMNS] = { 0 };

    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k + 1 < COLUMNS; k++)
            if ((int)strlen(cells[i].at[k]) + 2 > width[k])
                width[k] = (int)strlen(cells[i].at[k]) + 2;
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < COLUMNS; k++) {
            term_text(stdout, cells[i].at[k]);
            if (k + 1 < COLUMNS)
                printf("%*s", width[k] - (int)strlen(cells[i].at[k]), "");
        }
        putchar('\n');
    }
}

static void print_rows(const struct row *rows, size_t n, struct arena *arena)
{
    struct cells *cells = ARENA_NEW_N(arena, struct cells, n + 1);

    cells[0] = (struct cells){ { "ID", "PROVIDER", "WHERE", "MODEL", "CONSENT", "PRICE" } };
    for (size_t i = 0; i < n; i++) {
        const struct model_spec *spec = rows[i].spec;

        cells[i + 1] = (struct cells){ { spec->id, spec->provider, rows[i].where,
                                         spec->model ? spec->model : "-", rows[i].consent,
                                         price_text(spec, arena) } };
    }
    print_cells(cells, n + 1);
}

static int fill_row(struct row *row, const struct model_spec *spec, struct domain *agent,
                    struct arena *arena, struct err *err)
{
    row->spec = spec;
    row->where = models_where(spec, arena);
    return consent_state(spec, agent, arena, &row->consent, err);
}

static bool is_listed(const struct row *rows, size_t n, const struct model_spec *spec)
{
    for (size_t i = 0; i < n; i++)
        if (rows[i].spec == spec)
            return true;
    return false;
}

static int run_list(const struct cli_args *args)
{
    AUTO(config) config = NULL;
    AUTO(domain) agent = NULL;
    AUTO_MODELS models = { .n = 0 };
    AUTO_ARENA arena = ARENA_INIT;
    struct err err = ERR_INIT;
    const struct model_spec *offline;
    struct row *rows;
    size_t n = 0;

    if (cli_config(args, &config, &err) < 0 ||
        cli_agent_domain(config, cli_data_dir(args), &agent, &err) < 0)
        return cli_fail(args, &err);
    models_init(&models, config, cli_data_dir(args));
    rows = ARENA_NEW_N(&arena, struct row, models.n + 1);
    for (size_t i = 0; i < models.n; i++)
        if (fill_row(&rows[n++], &models.items[i], agent, &arena, &err) < 0)
            return cli_fail(args, &err);
    offline = models_find(&models, "offline");
    if (!is_listed(rows, n, offline) && fill_row(&rows[n++], offline, agent, &arena, &err) < 0)
        return cli_fail(args, &err);
    if (cli_json(args)) {
        struct json_object *out = json_object_new_object(), *list = json_object_new_array();

        for (size_t i = 0; i < n; i++)
            json_object_array_add(list, row_json(&rows[i]));
        json_object_object_add(out, "models", list);
        cli_print_json(out);
    } else {
        print_rows(rows, n, &arena);
    }
    return CLI_DONE;
}

const struct cli_command cli_cmd_model_list = {
    .name = "model list",
    .operands = "",
    .summary = "Lists the models: where each runs, whether it may be sent text, what it costs",
    .details = "`needed` under CONSENT means that nothing is sent to it before a person agreed: "
               "`dormouse model consent ID`. Prices are for a million tokens, as configured.",
    .run = run_list,
};

/* ---- consent ---- */

static int unknown_model(const struct cli_args *args, const char *id)
{
    struct err err = ERR_INIT;

    err_set(&err, ERR_NOT_FOUND, "there is no model `%s`: see dormouse model list", id);
    return cli_fail(args, &err);
}

static const char *or_unsaid(const char *text)
{
    return *text ? text : "not said";
}

static void print_fact(FILE *to, const char *name, const char *value)
{
    fprintf(to, "  %-15s ", name);
    term_text(to, value);
    fputc('\n', to);
}

static void print_terms(FILE *to, const struct consent_terms *terms)
{
    fprintf(to, "Prompts, tool results and what agents remember would be sent to\n");
    print_fact(to, "host", terms->host);
    print_fact(to, "provider", terms->provider);
    print_fact(to, "terms version", or_unsaid(terms->policy_version));
    print_fact(to, "kept for", or_unsaid(terms->retention));
    print_fact(to, "law of", or_unsaid(terms->jurisdiction));
    /* Without a version nobody has looked at the terms. */
    print_fact(to, "trains on it",
               terms->trains ? "yes" : or_unsaid(*terms->policy_version ? "no" : ""));
    fprintf(to,
            "as config.yaml says (models[].privacy). You are asked again when any of it changes."
            "\n");
}

static bool ask_yes(const char *id)
{
    char line[16] = "";

    fprintf(stderr, "Send text to model %s? [y/N] ", id);
    fflush(stderr);
    if (!fgets(line, sizeof(line), stdin))
        return false;
    return strcmp(line, "y\n") == 0 || strcmp(line, "yes\n") == 0 || strcmp(line, "Y\n") == 0;
}

/* 0 agreed, -1 not. */
static int agree(const struct cli_args *args, const struct consent_terms *terms, struct err *err)
{
    if (!cli_json(args))
        print_terms(stderr, terms);
    if (cli_has(args, "yes"))
        return 0;
    if (!isatty(STDIN_FILENO))
        return err_set(err, ERR_PRIVACY_CONFIRMATION_REQUIRED,
                       "a person has to agree: run it on a terminal, or add --yes");
    if (!ask_yes(terms->model_id))
        return err_set(err, ERR_REJECTED, "not agreed; nothing is sent to model %s",
                       terms->model_id);
    return 0;
}

static bool same_text(struct json_object *object, const char *key, const char *expected)
{
    return str_is(json_str(json_find(object, key)), expected);
}

static bool same_terms(struct json_object *model, const struct consent_terms *terms)
{
    struct json_object *privacy = json_find(model, "privacy");
    bool trains = false;

    json_get_bool(privacy, "trains", &trains, NULL);
    return same_text(model, "host", terms->host) && same_text(model, "provider", terms->provider) &&
           same_text(privacy, "policyVersion", terms->policy_version) &&
           same_text(privacy, "retention", terms->retention) &&
           same_text(privacy, "jurisdiction", terms->jurisdiction) && trains == terms->trains;
}

/* A daemon that runs for long may know other terms than those that were shown. */
static int check_shown(struct talk *talk, const struct consent_terms *terms, struct err *err)
{
    AUTO_JSON answer = NULL;
    struct json_object *list;

    if (talk_ask(talk, "GET", "/api/v1/models", STR_NONE, &answer, err) < 0)
        return -1;
    list = json_find(answer, "models");
    for (size_t i = 0; i < json_length(list); i++) {
        struct json_object *model = json_object_array_get_idx(list, i);

        if (same_text(model, "id", terms->model_id) && same_terms(model, terms))
            return 0;
    }
    return err_set(err, ERR_CONFLICT,
                   "the running daemon has another config.yaml than the one shown; start it again");
}

/* The daemon writes it, or a keeper does: there is one writer. */
static int record(const struct cli_args *args, const struct consent_terms *terms, bool withdraw,
                  struct err *err)
{
    AUTO(talk) talk = NULL;
    AUTO_BUF path = BUF_INIT(4 * KIB);
    AUTO_BUF body = BUF_INIT(64 * KIB);
    AUTO_JSON answer = NULL;
    struct json_writer w = JSON_WRITER(&body);

    buf_add_text(&path, "/api/v1/models/");
    decide_add_segment(&path, terms->model_id);
    buf_add_text(&path, "/consent");
    json_write_object_begin(&w);
    json_put_text(&w, "policy_version", terms->policy_version);
    json_write_object_end(&w);
    if (json_write_end(&w) < 0)
        return err_set(err, ERR_TOO_LARGE, "the version of the terms is too long");
    if (talk_open(args, &talk, err) < 0 || (!withdraw && check_shown(talk, terms, err) < 0))
        return -1;
    return talk_ask(talk, withdraw ? "DELETE" : "POST", buf_text(&path),
                    withdraw ? STR_NONE : buf_str(&body), &answer, err);
}

static void print_consent(const struct cli_args *args, const struct consent_terms *terms,
                          const char *state)
{
    struct json_object *out;

    if (!cli_json(args)) {
        printf("%s: consent %s\n", terms->model_id, state);
        return;
    }
    out = json_object_new_object();
    add_text(out, "model", terms->model_id);
    add_text(out, "consent", state);
    add_text(out, "provider", terms->provider);
    add_text(out, "host", terms->host);
    add_text(out, "policy_version", terms->policy_version);
    add_text(out, "retention", terms->retention);
    add_text(out, "jurisdiction", terms->jurisdiction);
    json_object_object_add(out, "trains", json_object_new_boolean(terms->trains));
    cli_print_json(out);
}

static int run_consent(const struct cli_args *args)
{
    AUTO(config) config = NULL;
    AUTO_MODELS models = { .n = 0 };
    AUTO_ARENA arena = ARENA_INIT;
    struct err err = ERR_INIT;
    const struct model_spec *spec;
    struct consent_terms terms;
    bool withdraw = cli_has(args, "withdraw");

    if (cli_config(args, &config, &err) < 0)
        return cli_fail(args, &err);
    models_init(&models, config, cli_data_dir(args));
    if (!(spec = models_find(&models, cli_operand(args, 0))))
        return unknown_model(args, cli_operand(args, 0));
    models_terms(spec, &arena, &terms);
    if (model_spec_is_local(spec) && !withdraw) {
        print_consent(args, &terms, "not needed: it runs on this machine");
        return CLI_DONE;
    }
    if ((!withdraw && agree(args, &terms, &err) < 0) || record(args, &terms, withdraw, &err) < 0)
        return cli_fail(args, &err);
    print_consent(args, &terms, withdraw ? "withdrawn" : "given");
    return CLI_DONE;
}

static const struct cli_option consent_options[] = {
    { .name = "yes", .help = "agree without being asked" },
    { .name = "withdraw", .help = "take a consent back; nothing more is sent from then on" },
    { .name = NULL },
};

const struct cli_command cli_cmd_model_consent = {
    .name = "model consent",
    .operands = "ID",
    .summary = "Shows what a provider does with text that is sent to it, and asks for agreement",
    .details = "Nothing is sent to a model beyond this machine before a person agreed. The "
               "agreement is recorded with everything that was shown; when config.yaml says "
               "something else later (another host, another version of the terms), it is asked "
               "again. Without a terminal it fails, unless --yes is given.",
    .options = consent_options,
    .operands_min = 1,
    .operands_max = 1,
    .run = run_consent,
};
