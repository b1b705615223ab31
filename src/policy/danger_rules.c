/* The rules: which commands, and when they are a finding. The tables stand in danger_rules_*.c.
 *
 * A rule is for what no owner would want an agent to do, whoever asks. What is merely risky (a
 * forced push, deleting a build) is for approvals.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/alloc.h"
#include "policy/danger_rules_int.h"

bool danger_any_vital(struct danger_scan *scan, const struct danger_command *command, size_t from)
{
    const struct danger_word *word;

    for (size_t i = from; (word = danger_operand(command, i)) != NULL; i++)
        if (word->text.n > 0 && danger_path_vital(danger_path(scan, word->text)))
            return true;
    return false;
}

bool danger_any_device(struct danger_scan *scan, const struct danger_command *command)
{
    const struct danger_word *word;

    for (size_t i = 0; (word = danger_operand(command, i)) != NULL; i++)
        if (danger_path_device(danger_path(scan, word->text)))
            return true;
    return false;
}

bool danger_has_word(const struct danger_command *command, const char *list)
{
    for (size_t i = 1; i < command->n; i++)
        if (danger_is(command->words[i].text, list))
            return true;
    return false;
}

bool danger_always(struct danger_scan *scan, const struct danger_command *command)
{
    (void)scan, (void)command;
    return true;
}

const struct danger_rules *const danger_rule_sets[DANGER_RULE_SETS] = {
    &danger_rules_delete,
    &danger_rules_guard,
    &danger_rules_stay,
};

static bool is_rule_for(const struct danger_rule *rule, struct str name)
{
    if (danger_is(name, rule->names))
        return true;
    return str_starts(name, STR("mkfs.")) && danger_is(STR("mkfs"), rule->names);
}

static void judge_name(struct danger_scan *scan, const struct danger_command *command,
                       struct str name)
{
    if (danger_looks_known(scan, name))
        danger_report(scan, "look_alike_name",
                      "The command's name only looks like that of a well-known one.");
    if (scan->function.n && str_eq(name, scan->function) &&
        (command->in_pipe || command->background))
        danger_report(scan, "fork_bomb", "It would start processes without end.");
    /* A name that only running it would tell, with the arguments of a deletion. */
    if (name.n > 0 && str_find_char(name, MARK_UNKNOWN) >= 0 &&
        danger_has_flag(command, "rR", NULL) && danger_has_flag(command, "f", NULL) &&
        danger_any_vital(scan, command, 0))
        danger_report(scan, "recursive_delete_of_root",
                      "It would delete the system, a home or all of the working directory.");
}

static void judge_by(struct danger_scan *scan, const struct danger_command *command,
                     struct str name, const struct danger_rules *rules)
{
    for (size_t i = 0; i < rules->n && !scan->hit; i++)
        if (is_rule_for(&rules->at[i], name) && rules->at[i].check(scan, command))
            danger_report(scan, rules->at[i].rule, rules->at[i].about);
}

void danger_judge(struct danger_scan *scan, const struct danger_command *command)
{
    struct str name = command->n ? danger_name(command->words[0].text) : STR_NONE;

    if (command->n) {
        judge_name(scan, command, name);
        for (size_t i = 0; i < DANGER_RULE_SETS; i++)
            judge_by(scan, command, name, danger_rule_sets[i]);
        if (!scan->hit)
            danger_judge_files(scan, command, name);
    }
    if (!scan->hit)
        danger_judge_redirections(scan, command);
}
