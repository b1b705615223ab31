/* dormouse secret set, dormouse secret list, dormouse secret rm
 *
 * A value is read from the terminal without echo or from standard input, never from the command
 * line, where other users and the shell's history would see it. It is never printed.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <json-c/json.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "cli/cli_int.h"
#include "cli/commands_int.h"
#include "house/data_dir.h"
#include "policy/secret.h"

/* ---- reading a value ---- */

static struct termios with_echo;

static void give_echo_back(int number)
{
    tcsetattr(STDIN_FILENO, TCSANOW, &with_echo);
    signal(number, SIG_DFL);
    raise(number);
}

/* Until the end, or the end of the line on a terminal. One byte more than allowed is kept, so that
 * the store can say what is wrong. */
static int read_value(bool line, struct buf *out, struct err *err)
{
    char *end = buf_reserve(out, SECRET_VALUE_MAX + 3);
    size_t n = 0, room = SECRET_VALUE_MAX + 3;
    ssize_t r = 1;

    while (n < room && r > 0 && !(line && n > 0 && end[n - 1] == '\n')) {
        r = read(STDIN_FILENO, end + n, room - n);
        if (r < 0 && errno == EINTR)
            r = 1;
        else if (r > 0)
            n += (size_t)r;
    }
    if (r < 0)
        return err_set(err, ERR_BAD_REQUEST, "read the value: %s", strerror(errno));
    if (n > 0 && end[n - 1] == '\n')
        n--;
    if (n > 0 && end[n - 1] == '\r')
        n--;
    buf_grown(out, n);
    return 0;
}

static int read_hidden(const char *name, struct buf *out, struct err *err)
{
    static const int numbers[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
    struct termios hidden;
    int r;

    if (tcgetattr(STDIN_FILENO, &with_echo) < 0)
        return err_set(err, ERR_INTERNAL, "the terminal: %s", strerror(errno));
    for (size_t i = 0; i < ARRAY_LEN(numbers); i++)
        signal(numbers[i], give_echo_back);
    hidden = with_echo;
    hidden.c_lflag &= ~(tcflag_t)(ECHO | ECHONL);
    /* Echo goes first: what is typed before the prompt appears must not show either. */
    tcsetattr(STDIN_FILENO, TCSAFLUSH, &hidden);
    fprintf(stderr, "value of %s (not shown): ", name);
    fflush(stderr);
    r = read_value(true, out, err);
    tcsetattr(STDIN_FILENO, TCSANOW, &with_echo);
    fputc('\n', stderr);
    return r;
}

/* ---- set ---- */

static int set(struct secrets *secrets, const char *name, struct err *err)
{
    __attribute__((cleanup(secrets_wipe))) struct buf value = BUF_INIT(SECRET_VALUE_MAX + 4);
    int r;

    if (secrets_check_name(name, err) < 0)
        return -1;
    r = isatty(STDIN_FILENO) ? read_hidden(name, &value, err) : read_value(false, &value, err);
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

static void print_name(void *arg, const char *name)
{
    (void)arg;
    puts(name);
}

static void add_name(void *arg, const char *name)
{
    json_object_array_add(arg, json_object_new_string(name));
}

static int run_list(const struct cli_args *args)
{
    AUTO(secrets) secrets = secrets_new(cli_data_dir(args));
    struct json_object *out, *names;
    struct err err = ERR_INIT;

    if (!cli_json(args))
        return secrets_list(secrets, print_name, NULL, &err) < 0 ? cli_fail(args, &err) : CLI_DONE;
    names = json_object_new_array();
    if (secrets_list(secrets, add_name, names, &err) < 0) {
        json_object_put(names);
        return cli_fail(args, &err);
    }
    out = json_object_new_object();
    json_object_object_add(out, "names", names);
    cli_print_json(out);
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
