/* dormouse model add
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <json-c/json.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "base/limits.h"
#include "cli/cli_int.h"
#include "cli/commands_int.h"
#include "cli/config_edit.h"
#include "cli/talk.h"
#include "config/config.h"
#include "house/data_dir.h"

enum { TEXT = 0, NUMBER, INTEGER, FLAG };

static const struct {
    const char *option, *group, *key;
    int kind;
} members[] = {
    { "provider", NULL, "provider", TEXT },
    { "base-url", NULL, "base_url", TEXT },
    { "model", NULL, "model", TEXT },
    { "secret", NULL, "secret_ref", TEXT },
    { "context-tokens", NULL, "context_tokens", INTEGER },
    { "server", NULL, "server", TEXT },
    { "gguf", NULL, "gguf", TEXT },
    { "script", NULL, "script", TEXT },
    { "price-input", "price", "input", NUMBER },
    { "price-output", "price", "output", NUMBER },
    { "price-cached", "price", "cached", NUMBER },
    { "policy-version", "privacy", "policy_version", TEXT },
    { "trains", "privacy", "trains", FLAG },
    { "retention", "privacy", "retention", TEXT },
    { "jurisdiction", "privacy", "jurisdiction", TEXT },
};

static struct json_object *value_of(const char *option, int kind, const char *text, struct err *err)
{
    char *end = NULL;
    int64_t whole = 0;
    double number = 0;

    if (kind == TEXT)
        return json_object_new_string(text);
    if (kind == INTEGER && str_to_i64(str_from(text), &whole) == 0)
        return json_object_new_int64(whole);
    if (kind == NUMBER && str_to_i64(str_from(text), &whole) == 0)
        return json_object_new_int64(whole);
    if (kind == NUMBER)
        number = strtod(text, &end);
    if (kind == NUMBER && end != text && *end == '\0')
        return json_object_new_double(number);
    err_set(err, ERR_BAD_REQUEST, "--%s %s: a number is expected", option, text);
    return NULL;
}

static struct json_object *group_of(struct json_object *record, const char *group)
{
    struct json_object *found;

    if (!group)
        return record;
    if (!json_object_object_get_ex(record, group, &found)) {
        found = json_object_new_object();
        json_object_object_add(record, group, found);
    }
    return found;
}

static struct json_object *record_of(const struct cli_args *args, struct err *err)
{
    struct json_object *record = json_object_new_object(), *value;

    json_object_object_add(record, "id", json_object_new_string(cli_operand(args, 0)));
    for (size_t i = 0; i < ARRAY_LEN(members); i++) {
        bool flag = members[i].kind == FLAG;

        if (!cli_has(args, members[i].option))
            continue;
        value = flag ? json_object_new_boolean(true)
                     : value_of(members[i].option, members[i].kind,
                                cli_value(args, members[i].option), err);
        if (!value) {
            json_object_put(record);
            return NULL;
        }
        json_object_object_add(group_of(record, members[i].group), members[i].key, value);
    }
    return record;
}

/* What is wrong with the text as a configuration is said before anything is written. */
static int check_text(const char *data_dir, struct str text, const char *absent_id, struct err *err)
{
    const struct config_sources sources = { .data_dir = data_dir };
    const struct config_texts texts = { .file = text };
    AUTO(config) config = NULL;

    if (config_load_texts(&sources, &texts, &config, NULL, err) < 0)
        return -1;
    for (size_t i = 0; absent_id && i < config->models.n; i++)
        if (strcmp(config->models.items[i].id, absent_id) == 0)
            return err_set(err, ERR_CONFLICT,
                           "there is a model `%s` already; change it in the file", absent_id);
    return 0;
}

/* A config.yaml that is a link (to a directory under version control) stays one. */
static int write_config(const char *path, struct str text, struct err *err)
{
    char real[PATH_MAX];

    return file_write_atomic(realpath(path, real) ? real : path, text, 0600, err);
}

static int add(const char *data_dir, struct json_object *record, const char *id, struct err *err)
{
    AUTO_BUF path = BUF_INIT(LIMIT_PATH_BYTES), old = BUF_INIT(LIMIT_CONFIG_BYTES),
             text = BUF_INIT(LIMIT_CONFIG_BYTES);
    struct err absent = ERR_INIT;

    buf_printf(&path, "%s/config.yaml", data_dir);
    if (file_read(buf_text(&path), &old, &absent) < 0 && absent.code != ERR_NOT_FOUND) {
        *err = absent;
        return -1;
    }
    if (old.n > 0 && check_text(data_dir, buf_str(&old), id, err) < 0)
        return err_wrap(err, "model %s can't be added", id);
    if (config_edit_append(buf_str(&old), "config.yaml", "models", record, &text, err) < 0)
        return -1;
    if (check_text(data_dir, buf_str(&text), NULL, err) < 0)
        return err_wrap(err, "model %s can't be added", id);
    return write_config(buf_text(&path), buf_str(&text), err);
}

/* A daemon that runs need not be started again. What it says against the file is said on. */
static const char *tell_daemon(const char *data_dir, struct arena *arena)
{
    const char *path = arena_printf(arena, "%s/dormouse.sock", data_dir);
    AUTO(talk) talk = NULL;
    AUTO_JSON answer = NULL;
    struct err err = ERR_INIT;

    if (talk_connect(path, &talk, &err) < 0)
        return "";
    if (talk_ask(talk, "POST", "/api/v1/models/reload", STR("{}"), &answer, &err) == 0)
        return ", and the daemon that runs knows it";
    return arena_printf(arena, "; the daemon that runs reads it when it is started again (%s)",
                        err_message(&err, 0));
}

static int run_add(const struct cli_args *args)
{
    const char *id = cli_operand(args, 0), *data_dir = cli_data_dir(args);
    AUTO_JSON record = NULL;
    AUTO_ARENA arena = ARENA_INIT;
    struct err err = ERR_INIT;
    struct json_object *out;
    const char *known;

    if (!(record = record_of(args, &err)) || data_dir_prepare(data_dir, &err) < 0 ||
        add(data_dir, record, id, &err) < 0)
        return cli_fail(args, &err);
    known = tell_daemon(data_dir, &arena);
    if (cli_json(args)) {
        out = json_object_new_object();
        json_object_object_add(out, "added", json_object_get(record));
        cli_print_json(out);
        return CLI_DONE;
    }
    printf("model %s is added to %s/config.yaml%s\n", id, data_dir, known);
    return CLI_DONE;
}

static const struct cli_option add_options[] = {
    { .name = "provider",
      .value = "NAME",
      .help = "the protocol it speaks",
      .choices = "openai anthropic functiongemma offline script" },
    { .name = "base-url", .value = "URL", .help = "where it is reached" },
    { .name = "model", .value = "NAME", .help = "what the provider calls it" },
    { .name = "secret", .value = "NAME", .help = "the name of the stored secret with its key" },
    { .name = "context-tokens", .value = "N", .help = "how many tokens its context holds" },
    { .name = "server", .value = "FILE", .help = "functiongemma: the llama-server to start" },
    { .name = "gguf", .value = "FILE", .help = "functiongemma: the weights for that server" },
    { .name = "script", .value = "FILE", .help = "script: the file with the replies" },
    { .name = "price-input", .value = "PRICE", .help = "of a million tokens sent" },
    { .name = "price-output", .value = "PRICE", .help = "of a million tokens received" },
    { .name = "price-cached",
      .value = "PRICE",
      .help = "of a million tokens sent that were in its cache" },
    { .name = "policy-version",
      .value = "TEXT",
      .help = "version or date of the provider's terms" },
    { .name = "trains", .help = "the provider may train on what is sent" },
    { .name = "retention", .value = "TEXT", .help = "how long the provider keeps what is sent" },
    { .name = "jurisdiction", .value = "TEXT", .help = "whose law holds there" },
    { .name = NULL },
};

const struct cli_command cli_cmd_model_add = {
    .name = "model add",
    .operands = "ID",
    .summary = "Writes a model into DATA/config.yaml, keeping what stands there",
    .details = "The whole file is checked with the new model in it before it is replaced; comments "
               "and order stay. An id that is there already is refused. A daemon that runs can use "
               "the model at once.\n\n"
               "  dormouse model add local --provider openai \\\n"
               "      --base-url http://127.0.0.1:8080/v1\n"
               "  dormouse model add claude --provider anthropic \\\n"
               "      --model claude-sonnet-4-5 --secret anthropic-key",
    .options = add_options,
    .operands_min = 1,
    .operands_max = 1,
    .run = run_add,
};
