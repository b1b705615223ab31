/* The agent domain for commands that only read: opened beside a daemon that may be writing, with
 * the program of runs as the policy of this data directory makes it.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_CLI_LOG_READER_H
#define DORMOUSE_CLI_LOG_READER_H

#include "base/arena.h"
#include "bp/policy.h"
#include "cli/command.h"
#include "db/domain.h"

struct config;

struct log_reader {
    struct config *config;
    struct domain *domain;
    struct bp_policy *policy;
    const struct bp_program *program;
    struct arena arena;
};

int log_reader_open(const struct cli_args *args, struct log_reader *ret_reader, struct err *err);
void log_reader_release(struct log_reader *reader);
#define AUTO_LOG_READER __attribute__((cleanup(log_reader_release))) struct log_reader
/* The row of the run whose id begins so. */
int log_reader_find(struct log_reader *reader, const char *prefix, int64_t *ret_run_n,
                    struct err *err);

#endif
