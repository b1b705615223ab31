/* Reading runs beside the daemon.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cli/log_reader.h"

#include <unistd.h>

#include "cli/cli_int.h"
#include "cli/domains.h"
#include "config/config.h"
#include "run/program.h"
#include "run/run.h"

static int apply_policy(struct log_reader *reader, const char *data_dir, struct err *err)
{
    const char *path = arena_printf(&reader->arena, "%s/policy.yaml", data_dir);

    if (access(path, F_OK) < 0)
        return 0;
    if (bp_policy_load(path, &reader->policy, err) < 0)
        return -1;
    return run_program_with_policy(reader->policy, &reader->arena, &reader->program, err);
}

int log_reader_open(const struct cli_args *args, struct log_reader *ret_reader, struct err *err)
{
    struct log_reader reader = { .program = &run_program, .arena = ARENA_INIT };

    if (cli_config(args, &reader.config, err) < 0 ||
        domains_open_one(reader.config, cli_data_dir(args), DOMAIN_AGENT, true, &reader.domain,
                         err) < 0 ||
        apply_policy(&reader, cli_data_dir(args), err) < 0) {
        if (err->code == ERR_NOT_FOUND)
            err_wrap(err, "nothing has been run in %s yet", cli_data_dir(args));
        log_reader_release(&reader);
        return -1;
    }
    *ret_reader = reader;
    return 0;
}

void log_reader_release(struct log_reader *reader)
{
    domain_free(reader->domain);
    bp_policy_free(reader->policy);
    config_free(reader->config);
    arena_release(&reader->arena);
}

int log_reader_find(struct log_reader *reader, const char *prefix, int64_t *ret_run_n,
                    struct err *err)
{
    struct run_info info;

    if (run_info_find(reader->domain, str_from(prefix), &reader->arena, &info, err) < 0)
        return -1;
    *ret_run_n = info.n;
    return 0;
}
