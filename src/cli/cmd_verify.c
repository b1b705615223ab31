/* dormouse verify
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/str.h"
#include "bp/verify.h"
#include "cli/cli_int.h"
#include "cli/commands_int.h"
#include "run/program.h"

static int parse_bound(const struct cli_args *args, uint64_t *ret_bound, struct err *err)
{
    const char *typed = cli_value(args, "bound");

    if (!typed)
        return 0;
    if (str_to_u64(str_from(typed), ret_bound) < 0 || *ret_bound == 0 ||
        *ret_bound > BP_CHECK_STATES_MAX)
        return err_set(err, ERR_BAD_REQUEST, "--bound takes a number of states from 1 to %llu",
                       (unsigned long long)BP_CHECK_STATES_MAX);
    return 0;
}

/* What was typed, else the guards that the daemon would use, if there are any. */
static const char *policy_path(const struct cli_args *args, char *out, size_t size)
{
    if (cli_value(args, "policy"))
        return cli_value(args, "policy");
    snprintf(out, size, "%s/policy.yaml", cli_data_dir(args));
    return access(out, F_OK) == 0 ? out : NULL;
}

/* The program of every run, and the examples that bp knows. */
static const struct bp_program **all_programs(struct arena *arena)
{
    const struct bp_program **list;
    size_t n = 0;

    while (bp_programs[n])
        n++;
    list = ARENA_NEW_N(arena, const struct bp_program *, n + 2);
    list[0] = &run_program;
    for (size_t i = 0; i <= n; i++)
        list[i + 1] = bp_programs[i];
    return list;
}

static int run_verify(const struct cli_args *args)
{
    AUTO_ARENA arena = ARENA_INIT;
    char path[LIMIT_PATH_BYTES];
    struct bp_verify_options how = {
        .programs = all_programs(&arena),
        .policy_path = policy_path(args, path, sizeof(path)),
        .json = cli_json(args),
        .progress = isatty(STDERR_FILENO) ? stderr : NULL,
    };
    struct err err = ERR_INIT;
    int verdict;

    if (parse_bound(args, &how.states_max, &err) < 0)
        return cli_misused(args, &err);
    verdict = bp_verify_all(&how, stdout, &err);
    if (verdict < 0)
        return cli_fail(args, &err);
    return verdict == BP_PROVED ? CLI_DONE : CLI_FAILED;
}

static const struct cli_option options[] = {
    { .name = "policy",
      .value = "FILE",
      .help = "check the programs together with these guards, instead of DATA/policy.yaml" },
    { .name = "bound",
      .value = "N",
      .help = "give up a proof after N states; what is left is then unknown" },
    { .name = NULL },
};

const struct cli_command cli_cmd_verify = {
    .name = "verify",
    .operands = "",
    .summary = "Proves the guards by exploring every state, or shows the shortest way around one",
    .details =
        "Every registered program is explored over all events from outside and all values "
        "of the attributes that some guard looks at. A safety property is proved under any "
        "order of events; progress means that a run can always still end. With --json each "
        "finding is a line of its own. Programs are explored with three calls side by side, with a "
        "policy or without.\n\n"
        "The exit code is 0 when everything is proved, and 1 when a property is violated or "
        "a proof hit its bound.",
    .options = options,
    .run = run_verify,
};
