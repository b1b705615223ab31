/* Commands as a table: parsing, help, man page and completion are generated from it.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_CLI_COMMAND_H
#define DORMOUSE_CLI_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* Exit codes of every command. */
enum cli_exit {
    CLI_DONE = 0,
    CLI_FAILED = 1,
    CLI_USAGE = 2,
    CLI_WAITING = 3, /* for a person */
    CLI_DENIED = 4,  /* by policy */
};

struct cli_option {
    const char *name;    /* "listen", without dashes */
    const char *value;   /* "ADDRESS" when it takes one, else NULL; completion knows FILE and DIR */
    const char *help;    /* a phrase without a full stop */
    const char *choices; /* "bash": the only values allowed, separated by spaces; NULL: any */
    bool folds;          /* choices in letters of either case, with '-' or ' ' for '_' */
    bool repeats;
};

struct cli_args; /* what was typed, after parsing */

struct cli_command {
    const char *name;     /* "config check": one to three words, separated by spaces */
    const char *operands; /* "SCHEMA INSTANCE [FILE...]", or "" */
    const char *summary;  /* one line, a phrase without a full stop */
    /* Paragraphs for `help` and the man page, separated by an empty line; a line that begins with
     * two spaces is shown as it is. NULL: none. */
    const char *details;
    const struct cli_option *options;        /* ends with name NULL; NULL: none */
    int operands_min, operands_max;          /* -1: any number */
    int (*run)(const struct cli_args *args); /* a cli_exit */
};

/* Every command in the order of the help page, ends with NULL. */
extern const struct cli_command *const cli_commands[];

/* What every command takes: --data, --json, --help, --version. */
extern const struct cli_option cli_global_options[];

/* The data directory as resolved from --data and the environment; never NULL, maybe absent. */
const char *cli_data_dir(const struct cli_args *args);
bool cli_json(const struct cli_args *args);
bool cli_has(const struct cli_args *args, const char *option);
/* NULL when it was not given. Asking for an option that the command does not list is a BUG. */
const char *cli_value(const struct cli_args *args, const char *option);
/* The i-th value of an option that repeats, NULL past the last. */
const char *cli_value_at(const struct cli_args *args, const char *option, size_t i);
/* 1: *value is the number that was typed; 0: none was, and it stays as it is. Else bad_request,
 * which is a wrong use: cli_misused(). */
int cli_number(const struct cli_args *args, const char *option, int64_t min, int64_t max,
               int64_t *value, struct err *err);
/* NULL past the last. */
const char *cli_operand(const struct cli_args *args, size_t i);
size_t cli_operand_count(const struct cli_args *args);

/* Prints err for people on stderr, or as {"error":{"code","message"}} on stdout with --json.
 * Returns the exit code that fits: denied for policy codes, failed otherwise. */
int cli_fail(const struct cli_args *args, const struct err *err);

/* The same for what can't be meant by what was typed: CLI_USAGE, with where to read more. */
int cli_misused(const struct cli_args *args, const struct err *err);

int cli_main(int argc, char **argv);

#endif
