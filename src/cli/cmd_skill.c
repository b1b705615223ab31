/* dormouse skill list, show, add, rm, restore, enable, disable, run: an agent's skills, through the
 * daemon.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/json.h"
#include "base/json_write.h"
#include "base/limits.h"
#include "cli/cli_int.h"
#include "cli/columns.h"
#include "cli/commands_int.h"
#include "cli/decide.h"
#include "cli/talk.h"
#include "cli/term.h"
#include "cli/whose.h"
#include "files/archive.h"

static const struct cli_option agent_option[] = {
    { .name = "agent", .value = "AGENT", .help = "whose; needed when there are several" },
    { .name = NULL },
};

static struct str member(struct json_object *object, const char *key)
{
    return json_str(json_find(object, key));
}

/* "/api/v1/agents/AGENT/skills" and what follows, each part encoded. */
static int ask(const struct cli_args *args, const char *method, const char *skill, const char *more,
               struct str body, struct json_object **ret_answer, struct err *err)
{
    AUTO_BUF path = BUF_INIT(8 * KIB);
    AUTO(talk) talk = NULL;

    buf_add_text(&path, "/api/v1/agents/");
    if (talk_open(args, &talk, err) < 0 || whose_add(args, talk, "skills", &path, err) < 0)
        return -1;
    buf_add_text(&path, "/skills");
    if (skill) {
        buf_add_char(&path, '/');
        decide_add_segment(&path, skill);
    }
    buf_add_text(&path, more);
    return talk_ask(talk, method, buf_text(&path), body, ret_answer, err);
}

/* ---- list and show ---- */

static struct str state_of(struct json_object *skill)
{
    bool enabled = false;

    json_get_bool(skill, "enabled", &enabled, NULL);
    return member(skill, "problem").n ? STR("broken") : enabled ? STR("on") : STR("off");
}

static int run_list(const struct cli_args *args)
{
    static const char *const head[] = { "NAME", "STATE", "SOURCE", "DESCRIPTION", NULL };
    AUTO_JSON answer = NULL;
    struct err err = ERR_INIT;
    struct json_object *list;
    struct columns columns;

    if (ask(args, "GET", NULL, "", STR_NONE, &answer, &err) < 0)
        return cli_fail(args, &err);
    list = json_find(answer, "skills");
    columns_init(&columns, head);
    for (size_t i = 0; i < json_length(list); i++) {
        struct json_object *skill = json_object_array_get_idx(list, i);

        if (cli_json(args))
            cli_print_json(json_object_get(skill));
        else
            columns_add(&columns,
                        (struct str[]){ member(skill, "name"), state_of(skill),
                                        member(skill, "source"), member(skill, "description") });
    }
    if (!cli_json(args))
        columns_print(&columns, stdout);
    columns_release(&columns);
    return CLI_DONE;
}

const struct cli_command cli_cmd_skill_list = {
    .name = "skill list",
    .operands = "",
    .summary = "Lists an agent's skills and the shared ones",
    .details = "With --json each skill is a line of its own.",
    .options = agent_option,
    .run = run_list,
};

static void print_line(const char *name, struct str text)
{
    AUTO_BUF copy = BUF_INIT(LIMIT_JSON_BYTES);

    if (!text.n)
        return;
    buf_add_str(&copy, text);
    printf("%-14s ", name);
    term_text(stdout, buf_text(&copy));
    putchar('\n');
}

static void print_list(const char *name, struct json_object *list)
{
    for (size_t i = 0; i < json_length(list); i++)
        print_line(i ? "" : name, json_str(json_object_array_get_idx(list, i)));
}

static void print_skill(struct json_object *skill)
{
    static const char *const texts[] = { "id",           "name",          "description",
                                         "license",      "compatibility", "source",
                                         "content_hash", "signature",     "problem" };
    AUTO_BUF body = BUF_INIT(LIMIT_JSON_BYTES);

    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        print_line(texts[i], member(skill, texts[i]));
    print_line("state", state_of(skill));
    print_list("allowed_tools", json_find(skill, "allowed_tools"));
    print_list("files", json_find(skill, "files"));
    buf_add_str(&body, member(skill, "instructions"));
    putchar('\n');
    term_text(stdout, buf_text(&body));
    putchar('\n');
}

/* One skill as the daemon answered it. */
static int show(const struct cli_args *args, struct json_object *answer)
{
    struct json_object *skill = json_find(answer, "skill");

    if (cli_json(args))
        cli_print_json(json_object_get(skill));
    else
        print_skill(skill);
    return CLI_DONE;
}

static int run_show(const struct cli_args *args)
{
    AUTO_JSON answer = NULL;
    struct err err = ERR_INIT;

    if (ask(args, "GET", cli_operand(args, 0), "", STR_NONE, &answer, &err) < 0)
        return cli_fail(args, &err);
    return show(args, answer);
}

const struct cli_command cli_cmd_skill_show = {
    .name = "skill show",
    .operands = "SKILL",
    .summary = "Shows a skill: its fields, files, hash and instructions",
    .options = agent_option,
    .operands_min = 1,
    .operands_max = 1,
    .run = run_show,
};

/* ---- add ---- */

/* A directory becomes an archive here: the daemon takes one form. */
static int read_source(const char *path, struct buf *out, struct err *err)
{
    AUTO_ARENA arena = ARENA_INIT;
    struct archive_entry *entries;
    struct stat st;
    size_t count;

    if (stat(path, &st) < 0)
        return err_set(err, ERR_NOT_FOUND, "there is no %s", path);
    if (!S_ISDIR(st.st_mode))
        return file_read(path, out, err);
    if (archive_read_dir(path, NULL, &arena, &entries, &count, err) < 0)
        return -1;
    return archive_write(entries, count, out, err);
}

static void print_warnings(struct json_object *warnings)
{
    for (size_t i = 0; i < json_length(warnings); i++) {
        AUTO_BUF line = BUF_INIT(8 * KIB);

        buf_printf(&line, "warning: %.*s\n",
                   STR_ARG(json_str(json_object_array_get_idx(warnings, i))));
        term_text(stderr, buf_text(&line));
    }
}

static int run_add(const struct cli_args *args)
{
    AUTO_BUF bytes = BUF_INIT(LIMIT_HTTP_BODY_BYTES);
    AUTO_JSON answer = NULL;
    struct err err = ERR_INIT;
    struct json_object *skill;

    if (read_source(cli_operand(args, 0), &bytes, &err) < 0 ||
        ask(args, "POST", NULL, "/import", buf_str(&bytes), &answer, &err) < 0)
        return cli_fail(args, &err);
    if (cli_json(args))
        return show(args, answer);
    print_warnings(json_find(answer, "warnings"));
    skill = json_find(answer, "skill");
    print_line("Added", member(skill, "name"));
    print_line("content_hash", member(skill, "content_hash"));
    print_line("signature", member(skill, "signature"));
    print_list("files", json_find(skill, "files"));
    return CLI_DONE;
}

const struct cli_command cli_cmd_skill_add = {
    .name = "skill add",
    .operands = "PATH",
    .summary = "Gives an agent a skill: a directory, or an archive (tar, tar.gz, zip) of one",
    .details = "Links, paths that lead out, and archives that unpack to too much are refused. "
               "Scripts are only kept; a person sees each before its first run.",
    .options = agent_option,
    .operands_min = 1,
    .operands_max = 1,
    .run = run_add,
};

/* ---- rm, enable, disable ---- */

static int run_rm(const struct cli_args *args)
{
    AUTO_JSON answer = NULL;
    struct err err = ERR_INIT;

    if (ask(args, "DELETE", cli_operand(args, 0), "", STR_NONE, &answer, &err) < 0)
        return cli_fail(args, &err);
    return CLI_DONE;
}

const struct cli_command cli_cmd_skill_rm = {
    .name = "skill rm",
    .operands = "SKILL",
    .summary = "Takes a skill away from an agent; the versions of its files are kept",
    .options = agent_option,
    .operands_min = 1,
    .operands_max = 1,
    .run = run_rm,
};

static int run_restore(const struct cli_args *args)
{
    AUTO_JSON answer = NULL;
    struct err err = ERR_INIT;
    struct json_object *skill;

    if (ask(args, "POST", cli_operand(args, 0), "/restore", STR("{}"), &answer, &err) < 0)
        return cli_fail(args, &err);
    if (cli_json(args))
        return show(args, answer);
    skill = json_find(answer, "skill");
    print_line("Restored", member(skill, "name"));
    print_list("files", json_find(skill, "files"));
    return CLI_DONE;
}

const struct cli_command cli_cmd_skill_restore = {
    .name = "skill restore",
    .operands = "SKILL",
    .summary = "Brings back a skill that was taken away, with all its files",
    .details = "It is as it was then, on or off. SKILL is its name, or the id it had.",
    .options = agent_option,
    .operands_min = 1,
    .operands_max = 1,
    .run = run_restore,
};

static int set_enabled(const struct cli_args *args, struct str body)
{
    AUTO_JSON answer = NULL;
    struct err err = ERR_INIT;

    if (ask(args, "PUT", cli_operand(args, 0), "", body, &answer, &err) < 0)
        return cli_fail(args, &err);
    if (cli_json(args))
        return show(args, answer);
    return CLI_DONE;
}

static int run_enable(const struct cli_args *args)
{
    return set_enabled(args, STR("{\"enabled\":true}"));
}

static int run_disable(const struct cli_args *args)
{
    return set_enabled(args, STR("{\"enabled\":false}"));
}

const struct cli_command cli_cmd_skill_enable = {
    .name = "skill enable",
    .operands = "SKILL",
    .summary = "Switches an agent's skill on",
    .options = agent_option,
    .operands_min = 1,
    .operands_max = 1,
    .run = run_enable,
};

const struct cli_command cli_cmd_skill_disable = {
    .name = "skill disable",
    .operands = "SKILL",
    .summary = "Switches an agent's skill off; it is kept",
    .options = agent_option,
    .operands_min = 1,
    .operands_max = 1,
    .run = run_disable,
};
