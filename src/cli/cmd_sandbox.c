/* dormouse sandbox exec
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/str.h"
#include "cli/cli_int.h"
#include "cli/commands_int.h"
#include "config/config.h"
#include "house/rooms.h"
#include "sandbox/exec.h"

#define SECONDS_MAX (7 * 24 * 3600)

/* What the configuration lists and then what was typed; ends with NULL. */
static const char *const *join(const struct cli_args *args, struct arena *arena,
                               const struct config_list *list, const char *option)
{
    size_t typed = 0;
    const char **all;

    while (cli_value_at(args, option, typed))
        typed++;
    all = ARENA_NEW_N(arena, const char *, list->n + typed + 1);
    for (size_t i = 0; i < list->n; i++)
        all[i] = list->items[i];
    for (size_t i = 0; i < typed; i++)
        all[list->n + i] = cli_value_at(args, option, i);
    return all;
}

/* A place that was typed has to be there: nothing would say later why it can't be written. */
static int check_places(const struct cli_args *args, const char *cwd, const char *option,
                        const char *what, struct err *err)
{
    const char *place;

    for (size_t i = 0; (place = cli_value_at(args, option, i)); i++) {
        char path[2 * LIMIT_PATH_BYTES];

        snprintf(path, sizeof(path), "%s/%s", place[0] == '/' ? "" : cwd, place);
        if (place[0] != '~' && access(path, F_OK) < 0)
            return err_set(err, ERR_NOT_FOUND, "--%s %s: there is no such %s", option, place, what);
    }
    return 0;
}

static int find_cwd(const struct cli_args *args, char *out, struct err *err)
{
    const char *typed = cli_value(args, "cwd");
    struct stat st;

    if (!realpath(typed ? typed : ".", out) || stat(out, &st) < 0 || !S_ISDIR(st.st_mode))
        return err_set(err, ERR_NOT_FOUND, "--cwd %s: there is no such directory",
                       typed ? typed : ".");
    return 0;
}

static int parse_timeout(const struct cli_args *args, int64_t *ret_ms, struct err *err)
{
    const char *typed = cli_value(args, "timeout");
    int64_t seconds;

    if (!typed)
        return 0;
    if (str_to_i64(str_from(typed), &seconds) < 0 || seconds < 1 || seconds > SECONDS_MAX)
        return err_set(err, ERR_BAD_REQUEST, "--timeout takes seconds from 1 to %d", SECONDS_MAX);
    *ret_ms = seconds * 1000;
    return 0;
}

/* As an agent's commands would have it there. */
static int load_for(const struct cli_args *args, const char *cwd, struct config **ret_config,
                    struct err *err)
{
    AUTO(config) base = NULL;

    if (cli_config(args, &base, err) < 0)
        return -1;
    return config_for_dir(base, cli_data_dir(args), cwd, ret_config, NULL, err);
}

static int fail(const struct cli_args *args, const struct err *err)
{
    cli_fail(args, err);
    return SANDBOX_EXIT_FAILED;
}

static int run_in(const struct cli_args *args, const struct config *config, const char *cwd,
                  int64_t timeout_ms, struct err *err)
{
    AUTO_ARENA arena = ARENA_INIT;
    AUTO(loop) loop = NULL;
    const char **argv = ARENA_NEW_N(&arena, const char *, cli_operand_count(args) + 1);
    struct sandbox_spec spec = { .cwd = cwd };

    rooms_sandbox(config, cli_data_dir(args), &arena, &spec);
    spec.off = false; /* whoever types this wants walls */
    spec.allow_home = spec.allow_home || cli_has(args, "allow-home");
    spec.allow_write = join(args, &arena, &config->sandbox_allow_write, "allow-write");
    spec.deny_read = join(args, &arena, &config->sandbox_deny_read, "deny-read");
    spec.allow_domains = join(args, &arena, &config->sandbox_allowed_domains, "allow-domain");
    spec.allow_unix_sockets = join(args, &arena, &config->sandbox_unix_sockets, "allow-unix");
    for (size_t i = 0; cli_operand(args, i); i++)
        argv[i] = cli_operand(args, i);
    if (loop_new(NULL, &loop, err) < 0)
        return -1;
    return sandbox_exec(loop, &spec, argv, timeout_ms, err);
}

static int run_sandbox_exec(const struct cli_args *args)
{
    AUTO(config) config = NULL;
    struct err err = ERR_INIT;
    char cwd[LIMIT_PATH_BYTES + 1];
    int64_t timeout_ms = 0;
    int code;

    if (parse_timeout(args, &timeout_ms, &err) < 0 || find_cwd(args, cwd, &err) < 0 ||
        check_places(args, cwd, "allow-write", "directory", &err) < 0 ||
        check_places(args, cwd, "allow-unix", "socket", &err) < 0 ||
        load_for(args, cwd, &config, &err) < 0)
        return fail(args, &err);
    code = run_in(args, config, cwd, timeout_ms, &err);
    return code < 0 ? fail(args, &err) : code;
}

static const struct cli_option options[] = {
    { .name = "allow-write",
      .value = "DIR",
      .help = "it may write there too, besides sandbox.security.allowWrite",
      .repeats = true },
    { .name = "allow-home",
      .help = "a place that it may write to may be your home directory, or hold it" },
    { .name = "deny-read",
      .value = "PATH",
      .help = "it may not read that either, besides sandbox.security.denyRead",
      .repeats = true },
    { .name = "allow-domain",
      .value = "HOST",
      .help = "it may speak to that host too, besides sandbox.security.allowedDomains",
      .repeats = true },
    { .name = "allow-unix",
      .value = "PATH",
      .help = "it may connect to that socket of a program outside too, besides "
              "sandbox.security.allowUnixSockets",
      .repeats = true },
    { .name = "timeout", .value = "SECONDS", .help = "end it after that time" },
    { .name = "cwd", .value = "DIR", .help = "where it begins, instead of here" },
    { .name = NULL },
};

const struct cli_command cli_cmd_sandbox_exec = {
    .name = "sandbox exec",
    .operands = "COMMAND [ARGUMENT...]",
    .summary = "Runs a command of yours in the sandbox that agents' commands run in",
    .details =
        "Standard input, output and error are the command's own, and so is the terminal. It may "
        "write to the working directory, read the system and your files but for what is denied, "
        "and speak to no host that is not listed. Put -- before a command that has dashes of its "
        "own:\n\n"
        "  dormouse sandbox exec --allow-domain pypi.org -- pip download flask\n\n"
        "The exit code is the command's, or 128 and the signal that ended it; 124 when its time "
        "was over, 125 when there is no sandbox or a limit of sandbox.limits ended it, 126 when "
        "the command can't be executed and 127 when it is not there. docs/sandbox.md says what "
        "is inside.",
    .options = options,
    .operands_min = 1,
    .operands_max = -1,
    .run = run_sandbox_exec,
};
