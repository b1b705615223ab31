/* A skill in use: from the moment its SKILL.md was read until the run ends.
 *
 * Its allowed-tools narrow what the run may call; of several skills each has to allow a call.
 * Reading memory and asking the person are always allowed, or a skill could lock itself in. The
 * state is the table skill_uses, so it holds after a restart.
 *
 * Names are ours ("read_file") or those that skills in the wild use ("Read"); "Bash(git:*)" allows
 * one plain command that begins with these words.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json.h>

#include "base/json.h"
#include "base/log.h"
#include "skill/skill_int.h"

#define FROM(ptr) ((struct skills *)(void *)((char *)(ptr)-offsetof(struct skills, guard)))

/* ---- does a list allow a call? ---- */

bool use_names_tool(struct str item, const char *tool)
{
    static const struct {
        const char *wild, *ours;
    } names[] = {
        { "read", "read_file" }, { "write", "write_file" },
        { "edit", "edit_file" }, { "multiedit", "edit_file" },
        { "grep", "search" },    { "glob", "search" },
        { "ls", "read_file" },   { "askuserquestion", "ask_user" },
    };

    if (str_eq_nocase(item, str_from(tool)))
        return true;
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (str_eq_nocase(item, str_from(names[i].wild)) && strcmp(tool, names[i].ours) == 0)
            return true;
    return false;
}

/* One command without anything that could start another. */
static bool is_plain_command(struct str command)
{
    for (size_t i = 0; i < command.n; i++)
        if (!command.p[i] || strchr(";&|<>`$(){}\n\r\\", command.p[i]))
            return false;
    return true;
}

/* "git:*", "git *" and "git" mean the same: these words first. */
static bool command_fits(struct str pattern, struct str command)
{
    static const struct str ends[] = { { ":*", 2 }, { " *", 2 }, { "*", 1 } };

    pattern = str_trim(pattern);
    command = str_trim(command);
    for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
        if (str_ends(pattern, ends[i])) {
            pattern = str_trim(str_take(pattern, pattern.n - ends[i].n));
            break;
        }
    }
    if (!is_plain_command(command))
        return false;
    return !pattern.n || (str_starts(command, pattern) &&
                          (command.n == pattern.n || command.p[pattern.n] == ' '));
}

static bool item_allows(struct str item, const char *tool, struct json_object *arguments)
{
    ptrdiff_t open = str_find_char(item, '(');

    if (open < 0)
        return use_names_tool(item, tool);
    if (!str_ends(item, STR(")")) || !use_names_tool(str_take(item, (size_t)open), tool) ||
        strcmp(tool, "bash") != 0)
        return false; /* what a pattern means for other tools is not known */
    return command_fits(str_take(str_skip(item, (size_t)open + 1), item.n - (size_t)open - 2),
                        json_str(json_find(arguments, "command")));
}

bool use_allows(struct str allowed_tools, const char *tool, struct json_object *arguments)
{
    static const char *const always[] = { "read_memory", "list_memory", "ask_user" };
    AUTO_JSON list = NULL;
    struct err err = ERR_INIT;

    for (size_t i = 0; i < ARRAY_LEN(always); i++)
        if (strcmp(tool, always[i]) == 0)
            return true;
    if (json_parse(allowed_tools, &list, &err) < 0 || !json_object_is_type(list, json_type_array))
        return false;
    if (!json_length(list))
        return true;
    for (size_t i = 0; i < json_length(list); i++)
        if (item_allows(json_str(json_object_array_get_idx(list, i)), tool, arguments))
            return true;
    return false;
}

/* ---- the say in every call ---- */

static int deny(const struct skill_use *use, const char *tool, struct err *err)
{
    return err_set(err, ERR_CAPABILITY_DENIED,
                   "The skill %.*s is in use and does not allow %s; it allows %.*s, and always "
                   "read_memory, list_memory and ask_user.",
                   STR_ARG(use->skill), tool, STR_ARG(str_take(use->allowed_tools, 600)));
}

#define TEXT_NAME STR("/SKILL.md")

/* "skills/NAME.md" and "skills/NAME/SKILL.md", or skill.md: the name; else empty. */
static struct str skill_of_path(struct str path)
{
    struct str below = str_skip(path, sizeof("skills/") - 1);

    if (!str_starts(path, STR("skills/")))
        return STR_NONE;
    if (below.n > TEXT_NAME.n && str_eq_nocase(str_skip(below, below.n - TEXT_NAME.n), TEXT_NAME))
        below = str_take(below, below.n - TEXT_NAME.n);
    else if (str_ends(below, STR(".md")))
        below = str_take(below, below.n - (sizeof(".md") - 1));
    else
        return STR_NONE;
    return str_find_char(below, '/') < 0 ? below : STR_NONE;
}

int skills_check_file(struct str path, struct str content, struct arena *arena, struct err *err)
{
    struct str name = skill_of_path(path);
    struct problems problems = { .arena = arena };
    struct skill skill;

    if (!name.n)
        return 0;
    front_read(content, name, arena, &skill, &problems);
    if (!problems.n)
        return 0;
    return err_set(err, ERR_BAD_REQUEST,
                   "skills/%.*s.md is no valid skill: %.*s. A skill is a SKILL.md: front matter "
                   "with name and description between two lines of three hyphens, then its "
                   "instructions.",
                   STR_ARG(name), STR_ARG(problems.items[0].text));
}

int use_judge(struct tool_guard *guard, const struct tool_call *call,
              const struct tool_contract *contract, struct json_object *arguments, struct err *err)
{
    struct skills *skills = FROM(guard);
    AUTO_ARENA arena = ARENA_INIT;
    struct skill_use *uses;
    size_t n;

    if (!call->run_n)
        return 0;
    if (skill_store_uses(skills, call->run_n, &arena, &uses, &n, err) < 0)
        return -1;
    for (size_t i = 0; i < n; i++)
        if (!use_allows(uses[i].allowed_tools, contract->name, arguments))
            return deny(&uses[i], contract->name, err);
    return 0;
}

int use_read_memory(struct tool_guard *guard, const struct tool_call *call, struct str path,
                    struct arena *arena, struct str *ret_content, struct err *err)
{
    return skills_read_shared(FROM(guard), call->agent, path, arena, ret_content, err);
}

/* Files are found whatever the case of their path, so the skill's name is the one of its file. */
static int spell(struct skills *skills, const struct agent *agent, struct str *name,
                 struct arena *arena, struct err *err)
{
    struct str path = str_from(arena_printf(arena, "skills/%.*s/SKILL.md", STR_ARG(*name)));
    struct file file;
    int r = 0;

    if (skills->config.files)
        r = file_get(skills->config.files, skills_tree(agent, arena), path, arena, &file, err);
    if (r > 0)
        *name = skill_of_path(file.path);
    return r < 0 ? -1 : 0;
}

static int mark(struct skills *skills, const struct tool_call *call, struct str name,
                struct err *err)
{
    AUTO_ARENA arena = ARENA_INIT;
    struct skill skill;
    int r;

    if (spell(skills, call->agent, &name, &arena, err) < 0)
        return -1;
    r = skills_get(skills, call->agent, name, &arena, &skill, err);
    if (r < 0)
        return -1;
    if (r == 0 || !skill.enabled)
        return 0;
    if (loop_unit_begin(skills->config.loop, skills->config.agent_domain, err) < 0)
        return -1;
    r = agent_hold_alive(skills->config.agent_domain, call->agent->n, err);
    if (r == 0)
        r = skill_store_use(skills, call->run_n, &skill, err);
    if (loop_unit_end(skills->config.loop, r == 0, r == 0 ? err : NULL) < 0)
        return -1;
    return r;
}

void use_succeeded(struct tool_guard *guard, const struct tool_call *call,
                   const struct tool_contract *contract, struct json_object *arguments)
{
    struct skills *skills = FROM(guard);
    struct err err = ERR_INIT;
    struct str name;

    if (!call->run_n || strcmp(contract->name, "read_memory") != 0)
        return;
    name = skill_of_path(json_str(json_find(arguments, "path")));
    if (name.n && mark(skills, call, name, &err) < 0)
        LOG_WARN("skill", "the use of a skill could not be recorded", LOG_STR("skill", name),
                 LOG_ERR(&err));
}
