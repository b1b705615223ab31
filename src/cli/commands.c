/* The one list of commands.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cli/commands_int.h"

/* clang-format off: one a line, so that adding one is one line */
const struct cli_command *const cli_commands[] = {
    &cli_cmd_serve,
    &cli_cmd_run,
    &cli_cmd_chat,
    &cli_cmd_stdio,
    &cli_cmd_inbox,
    &cli_cmd_approve,
    &cli_cmd_reject,
    &cli_cmd_edit,
    &cli_cmd_answer,
    &cli_cmd_runs,
    &cli_cmd_trace,
    &cli_cmd_replay,
    &cli_cmd_rerun,
    &cli_cmd_trajectories_export,
    &cli_cmd_kill,
    &cli_cmd_unkill,
    &cli_cmd_agent_list,
    &cli_cmd_agent_show,
    &cli_cmd_agent_pause,
    &cli_cmd_agent_resume,
    &cli_cmd_skill_validate,
    &cli_cmd_model_list,
    &cli_cmd_model_add,
    &cli_cmd_model_consent,
    &cli_cmd_model_test,
    &cli_cmd_secret_set,
    &cli_cmd_secret_list,
    &cli_cmd_secret_rm,
    &cli_cmd_sandbox_exec,
    &cli_cmd_verify,
    &cli_cmd_doctor,
    &cli_cmd_config_check,
    &cli_cmd_config_show,
    &cli_cmd_backup,
    &cli_cmd_schema_check,
    &cli_cmd_version,
    &cli_cmd_help,
    NULL,
};
/* clang-format on */
