/* One row of the command table per file cmd_<name>.c.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_CLI_COMMANDS_INT_H
#define DORMOUSE_CLI_COMMANDS_INT_H

#include "cli/command.h"

extern const struct cli_command cli_cmd_agent_create;
extern const struct cli_command cli_cmd_agent_destroy;
extern const struct cli_command cli_cmd_agent_duplicate;
extern const struct cli_command cli_cmd_agent_export;
extern const struct cli_command cli_cmd_agent_import;
extern const struct cli_command cli_cmd_agent_list;
extern const struct cli_command cli_cmd_agent_pause;
extern const struct cli_command cli_cmd_agent_resume;
extern const struct cli_command cli_cmd_agent_set;
extern const struct cli_command cli_cmd_agent_show;
extern const struct cli_command cli_cmd_answer;
extern const struct cli_command cli_cmd_approve;
extern const struct cli_command cli_cmd_backup;
extern const struct cli_command cli_cmd_chat;
extern const struct cli_command cli_cmd_config_check;
extern const struct cli_command cli_cmd_config_show;
extern const struct cli_command cli_cmd_connect_google;
extern const struct cli_command cli_cmd_connect_list;
extern const struct cli_command cli_cmd_connect_remove;
extern const struct cli_command cli_cmd_connect_slack;
extern const struct cli_command cli_cmd_doctor;
extern const struct cli_command cli_cmd_edit;
extern const struct cli_command cli_cmd_help;
extern const struct cli_command cli_cmd_inbox;
extern const struct cli_command cli_cmd_kill;
extern const struct cli_command cli_cmd_memory_cat;
extern const struct cli_command cli_cmd_memory_history;
extern const struct cli_command cli_cmd_memory_ls;
extern const struct cli_command cli_cmd_memory_restore;
extern const struct cli_command cli_cmd_memory_rm;
extern const struct cli_command cli_cmd_memory_write;
extern const struct cli_command cli_cmd_model_add;
extern const struct cli_command cli_cmd_model_consent;
extern const struct cli_command cli_cmd_model_list;
extern const struct cli_command cli_cmd_model_test;
extern const struct cli_command cli_cmd_reject;
extern const struct cli_command cli_cmd_replay;
extern const struct cli_command cli_cmd_rerun;
extern const struct cli_command cli_cmd_run;
extern const struct cli_command cli_cmd_runs;
extern const struct cli_command cli_cmd_sandbox_exec;
extern const struct cli_command cli_cmd_schema_check;
extern const struct cli_command cli_cmd_search;
extern const struct cli_command cli_cmd_secret_list;
extern const struct cli_command cli_cmd_secret_rm;
extern const struct cli_command cli_cmd_secret_set;
extern const struct cli_command cli_cmd_serve;
extern const struct cli_command cli_cmd_skill_add;
extern const struct cli_command cli_cmd_skill_disable;
extern const struct cli_command cli_cmd_skill_enable;
extern const struct cli_command cli_cmd_skill_list;
extern const struct cli_command cli_cmd_skill_rm;
extern const struct cli_command cli_cmd_skill_restore;
extern const struct cli_command cli_cmd_skill_run;
extern const struct cli_command cli_cmd_skill_show;
extern const struct cli_command cli_cmd_skill_validate;
extern const struct cli_command cli_cmd_stdio;
extern const struct cli_command cli_cmd_threads_list;
extern const struct cli_command cli_cmd_threads_rename;
extern const struct cli_command cli_cmd_threads_restore;
extern const struct cli_command cli_cmd_threads_rm;
extern const struct cli_command cli_cmd_threads_show;
extern const struct cli_command cli_cmd_trace;
extern const struct cli_command cli_cmd_timer_add;
extern const struct cli_command cli_cmd_timer_list;
extern const struct cli_command cli_cmd_timer_next;
extern const struct cli_command cli_cmd_timer_rm;
extern const struct cli_command cli_cmd_trajectories_export;
extern const struct cli_command cli_cmd_unkill;
extern const struct cli_command cli_cmd_verify;
extern const struct cli_command cli_cmd_version;
extern const struct cli_command cli_cmd_wake;
extern const struct cli_command cli_cmd_wakes;

#endif
