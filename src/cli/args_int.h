/* What was typed, and how it is parsed.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_CLI_ARGS_INT_H
#define DORMOUSE_CLI_ARGS_INT_H

#include "base/arena.h"
#include "cli/command.h"

struct cli_typed {
    const struct cli_option *option;
    const char *value; /* NULL for a flag */
};

struct cli_args {
    const struct cli_command *command; /* NULL: only global options were typed, or a group */
    const char *group;                 /* the first words of a longer one, "config" */
    struct cli_typed *typed;           /* in the order of the command line */
    size_t typed_count;
    const char **operands;
    size_t operand_count;
    char *data_dir;
    struct arena arena;
};

void cli_args_release(struct cli_args *args);
#define AUTO_ARGS __attribute__((cleanup(cli_args_release))) struct cli_args

/* Parses argv[1..] against commands (ends with NULL). args was zeroed by the caller and keeps
 * pointers into argv; it must be released on failure too: what was understood before the mistake
 * (--json above all) stays in it. Errors are bad_request and name what is allowed. */
int cli_parse(struct cli_args *args, const struct cli_command *const *commands, int argc,
              char *const *argv, struct err *err);

/* The command called by these words (a word may hold the spaces itself); NULL when none is.
 * *ret_used says how many of them it took. */
const struct cli_command *cli_find_command(const struct cli_command *const *commands, int n,
                                           const char *const *words, int *ret_used);

/* The one of this name; NULL when there is none. options may be NULL. */
const struct cli_option *cli_find_option(const struct cli_option *options, const char *name,
                                         size_t len);

/* Do longer commands begin with name? */
bool cli_is_group(const struct cli_command *const *commands, const char *name);

/* ---- what is not known (args_unknown.c); errors are bad_request ---- */

/* The word behind group ("": the first) that typed may have meant, NULL when none is near. */
const char *cli_meant_word(const struct cli_command *const *commands, const char *group,
                           const char *typed, struct arena *arena);
/* -1. typed may be NULL where a word behind a group is missing. */
int cli_unknown_command(const struct cli_command *const *commands, const char *group,
                        const char *typed, struct arena *arena, struct err *err);
/* -1. typed is without its dashes. */
int cli_unknown_option(const struct cli_args *args, const char *typed, struct arena *arena,
                       struct err *err);
/* Is value one of the option's choices? */
int cli_check_choice(const struct cli_option *option, const char *value, struct arena *arena,
                     struct err *err);

#endif
