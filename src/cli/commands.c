/* The one list of commands.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cli/commands_int.h"

const struct cli_command *const cli_commands[] = {
    &cli_cmd_version,
    &cli_cmd_help,
    NULL,
};
