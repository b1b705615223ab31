/* dormouse secret set, dormouse secret list, dormouse secret rm
 *
 * A value is read from the terminal without echo or from standard input, never from the command
 * line, where other users and the shell's history would see it. It is never printed.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json.h>
#include <stdio.h>

#include "base/json.h"
#include "cli/cli_int.h"
#include "cli/commands_int.h"
#include "cli/hidden.h"
#include "house/data_dir.h"
#include "policy/secret.h"

/* ---- set ---- */

static int set(struct secrets *secrets, const char *name, struct err *err)
{
    __attribute__((cleanup(secrets_wipe))) struct buf value = BUF_INIT(HIDDEN_MAX);
    char prompt[SECRET_NAME_MAX + 16];
    int r;

    if (secrets_check_name(name, err) < 0)
        return -1;
    snprintf(prompt, sizeof(prompt), "value of %s", name);
    r = hidden_read(prompt, &value, err);
    return r < 0 ? -1 : secrets_set(secrets, name, buf_str(&value), err);
}

static int run_set(const struct cli_args *args)
{
    AUTO(secrets) secrets = secrets_new(cli_data_dir(args));
    AUTO_BUF where = BUF_INIT(16384);
    const char *name = cli_operand(args, 0);
    struct err err = ERR_INIT;
    struct json_object *out;

    if (data_dir_prepare(cli_data_dir(args), &err) < 0 || set(secrets, name, &err) < 0 ||
        secrets_where(secrets, &where, &err) < 0)
        return cli_fail(args, &err);
    if (!cli_json(args)) {
        printf("%s is set, in the %s\n", name, buf_text(&where));
        return CLI_DONE;
    }
    out = json_object_new_object();
    json_object_object_add(out, "name", json_object_new_string(name));
    json_object_object_add(out, "where", json_object_new_string(buf_text(&where)));
    cli_print_json(out);
    return CLI_DONE;
}

const struct cli_command cli_cmd_secret_set = {
    .name = "secret set",
    .operands = "NAME",
    .summary =
        "Keeps a key or password, read from the terminal without echo or from standard input",
    .details =
        "NAME is what `secret_ref` and `auth` in the configuration refer to; the value appears "
        "nowhere else. It goes to the desktop's Secret Service when there is one, else into the "
        "sealed file DATA/secrets. The key of that file is DATA/secrets.key, which is made at "
        "first use and readable by you alone: whoever has both files has the secrets, so keep the "
        "key elsewhere if you can, and name it with DORMOUSE_MASTER_KEY_FILE. Such a key is 64 "
        "hexadecimal digits:\n\n"
        "  (umask 077; openssl rand -hex 32 >KEYFILE)\n\n"
        "From a pipe, everything up to the end is the value, without its last newline:\n\n"
        "  pass show openai | dormouse secret set openai",
    .operands_min = 1,
    .operands_max = 1,
    .run = run_set,
};

/* ---- list ---- */

static void add_name(void *arg, const char *name)
{
    json_object_array_add(arg, json_object_new_string(name));
}

static int run_list(const struct cli_args *args)
{
    AUTO(secrets) secrets = secrets_new(cli_data_dir(args));
    AUTO_JSON names = json_object_new_array();
    struct json_object *out;
    struct err err = ERR_INIT;

    if (secrets_list(secrets, add_name, names, &err) < 0)
        return cli_fail(args, &err);
    if (cli_json(args)) {
        out = json_object_new_object();
        json_object_object_add(out, "names", json_object_get(names));
        cli_print_json(out);
        return CLI_DONE;
    }
    for (size_t i = 0; i < json_length(names); i++)
        puts(json_object_get_string(json_object_array_get_idx(names, i)));
    if (!json_length(names))
        puts("No secrets. `dormouse secret set NAME` keeps one.");
    return CLI_DONE;
}

const struct cli_command cli_cmd_secret_list = {
    .name = "secret list",
    .operands = "",
    .summary = "Names the secrets that are set; values are never shown",
    .run = run_list,
};

/* ---- rm ---- */

static int run_rm(const struct cli_args *args)
{
    AUTO(secrets) secrets = secrets_new(cli_data_dir(args));
    const char *name = cli_operand(args, 0);
    struct json_object *out;
    struct err err = ERR_INIT;

    if (secrets_remove(secrets, name, &err) < 0)
        return cli_fail(args, &err);
    if (!cli_json(args)) {
        printf("%s is removed\n", name);
        return CLI_DONE;
    }
    out = json_object_new_object();
    json_object_object_add(out, "removed", json_object_new_string(name));
    cli_print_json(out);
    return CLI_DONE;
}

const struct cli_command cli_cmd_secret_rm = {
    .name = "secret rm",
    .operands = "NAME",
    .summary = "Removes a secret from every store",
    .operands_min = 1,
    .operands_max = 1,
    .run = run_rm,
};
