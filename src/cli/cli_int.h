/* What the commands share.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_CLI_CLI_INT_H
#define DORMOUSE_CLI_CLI_INT_H

#include "cli/command.h"

struct buf;
struct config;
struct domain;
struct json_object;

/* One line on stdout; takes the object. */
void cli_print_json(struct json_object *object);
/* Each element of a list as a line of its own. */
void cli_print_lines(struct json_object *list);
/* The page of a command or of a group of commands, the overview when n is 0. */
int cli_help_page(const struct cli_args *args, const char *const *words, int n);
/* The configuration of this data directory, working directory and environment. */
int cli_config(const struct cli_args *args, struct config **ret_config, struct err *err);
/* The agent domain for reading; *ret_domain is NULL in a data directory that has none yet. */
int cli_agent_domain(const struct config *config, const char *data_dir, struct domain **ret_domain,
                     struct err *err);
struct buf;
/* All of standard input, whatever it is. too_large when out is full. */
int cli_read_stdin(struct buf *out, struct err *err);
/* What `version` prints. */
int cli_version_page(const struct cli_args *args);

#endif
