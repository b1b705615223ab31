/* dormouse trajectories export
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/timefmt.h"
#include "cli/cli_int.h"
#include "cli/commands_int.h"
#include "cli/log_reader.h"
#include "run/trace.h"

static void write_line(void *arg, struct str line)
{
    FILE *out = arg;

    fwrite(line.p, 1, line.n, out);
    putc('\n', out);
}

static int parse_since(const struct cli_args *args, int64_t *ret_since, struct err *err)
{
    const char *typed = cli_value(args, "since");

    *ret_since = 0;
    if (typed && timefmt_parse(str_from(typed), ret_since, err) < 0)
        return err_wrap(err, "--since takes a time such as 2026-11-15T00:00:00Z");
    return 0;
}

/* A new file: what is there is not overwritten. */
static FILE *open_out(const char *path, struct err *err)
{
    int fd;

    if (!path)
        return stdout;
    fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0) {
        err_set(err, errno == EEXIST ? ERR_CONFLICT : ERR_BAD_REQUEST, "--out %s: %s", path,
                strerror(errno));
        return NULL;
    }
    return fdopen(fd, "w");
}

static int close_out(FILE *out, const char *path, struct err *err)
{
    bool failed = fflush(out) != 0 || ferror(out) != 0;

    if (path && fclose(out) != 0)
        failed = true;
    return failed ? err_set(err, ERR_BAD_REQUEST, "%s could not be written whole",
                            path ? path : "standard output")
                  : 0;
}

static int export(const struct cli_args *args, struct log_reader *reader, struct err *err)
{
    const char *path = cli_value(args, "out");
    struct trajectory_filter filter = { .agent_id = str_from(cli_value(args, "agent")) };
    FILE *out;
    int n;

    if (parse_since(args, &filter.since_ms, err) < 0)
        return -1;
    out = open_out(path, err);
    if (!out)
        return -1;
    n = run_trajectories(reader->domain, &filter, write_line, out, err);
    if (n < 0) {
        if (path) {
            fclose(out);
            unlink(path);
        }
        return -1;
    }
    if (close_out(out, path, err) < 0)
        return -1;
    if (path)
        fprintf(stderr, "%d trajectories written to %s\n", n, path);
    return 0;
}

static int run_export(const struct cli_args *args)
{
    AUTO_LOG_READER reader = { .config = NULL };
    struct err err = ERR_INIT;

    if (log_reader_open(args, &reader, &err) < 0 || export(args, &reader, &err) < 0)
        return cli_fail(args, &err);
    return CLI_DONE;
}

static const struct cli_option options[] = {
    { .name = "since",
      .value = "TIME",
      .help = "only runs begun at this time or later (RFC 3339)" },
    { .name = "agent", .value = "AGENT", .help = "only runs of this agent" },
    { .name = "out", .value = "FILE", .help = "write to a new file instead of standard output" },
    { .name = NULL },
};

const struct cli_command cli_cmd_trajectories_export = {
    .name = "trajectories export",
    .operands = "",
    .summary =
        "Writes wiggum runs that have ended as trajectories for training, one JSON object a line",
    .details =
        "Each has task_id, prompt, steps, outcome, iterations and reward. A step has state, "
        "action, observation, status, exit_code (of a command; null when a signal ended it) and, "
        "where the model showed it, thinking. Its status is completed, failed (an error, or a "
        "command whose code is not 0) or refused (a person or a rule said no, and nothing was "
        "done).\n\n"
        "A run is a success with reward 1 when it ended by itself, its last check said that it is "
        "finished and not that it gave up, and, if it made calls, at least one was carried out. "
        "Any other is a failure with 0.",
    .options = options,
    .run = run_export,
};
