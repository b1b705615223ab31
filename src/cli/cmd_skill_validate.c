/* dormouse skill validate: checks skills on disk, without a daemon. Answers and exit codes are
 * those of skills-ref: 0 all are valid, 1 at least one is not.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json.h>
#include <stdio.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/limits.h"
#include "cli/cli_int.h"
#include "cli/commands_int.h"
#include "cli/term.h"
#include "skill/skill.h"

/* The last component of a path as a person means it: of the working directory for ".". */
static struct str directory_name(const char *path, struct arena *arena)
{
    char here[LIMIT_PATH_BYTES];
    struct str rest = str_from(path), part;
    struct str names[LIMIT_PATH_BYTES / 2];
    size_t n = 0;

    if (path[0] != '/' && getcwd(here, sizeof(here)))
        rest = str_from(arena_printf(arena, "%s/%s", here, path));
    while (str_split(&rest, '/', &part)) {
        if (str_is(part, "..") && n)
            n--;
        else if (part.n && !str_is(part, ".") && !str_is(part, "..") && n < ARRAY_LEN(names))
            names[n++] = part;
    }
    return n ? names[n - 1] : STR("/");
}

struct checked {
    const char *path; /* the directory */
    struct skill_problem *problems;
    size_t n;
};

static void one_problem(struct checked *checked, struct arena *arena, const char *text)
{
    checked->problems = ARENA_NEW(arena, struct skill_problem);
    checked->problems[0].text = str_from(text);
    checked->n = 1;
}

/* A SKILL.md stands for the directory that it lies in. */
static const char *directory_of(const char *path, struct arena *arena)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    struct stat st;

    if (stat(path, &st) < 0 || !S_ISREG(st.st_mode) || strcasecmp(name, "SKILL.md") != 0)
        return path;
    return slash == path ? "/" : slash ? arena_copy(arena, path, (size_t)(slash - path)) : ".";
}

static int read_one(const char *path, const char *name, struct arena *arena,
                    struct archive_entry *entry, struct buf *text, struct err *err)
{
    err_reset(err);
    entry->path = str_from(name);
    return file_read(arena_printf(arena, "%s/%s", path, name), text, err);
}

static void check(const char *path, struct arena *arena, struct checked *ret_checked)
{
    AUTO_BUF text = BUF_INIT(SKILL_TEXT_MAX + 1);
    struct archive_entry entry = { .path = STR_NONE };
    struct err err = ERR_INIT;
    struct stat st;
    int r;

    *ret_checked = (struct checked){ .path = directory_of(path, arena) };
    path = ret_checked->path;
    if (stat(path, &st) < 0) {
        one_problem(ret_checked, arena, arena_printf(arena, "There is no %s", path));
        return;
    }
    if (!S_ISDIR(st.st_mode)) {
        one_problem(ret_checked, arena, arena_printf(arena, "%s is not a directory", path));
        return;
    }
    r = read_one(path, "SKILL.md", arena, &entry, &text, &err);
    if (r < 0 && err.code == ERR_NOT_FOUND)
        r = read_one(path, "skill.md", arena, &entry, &text, &err);
    if (r < 0 && err.code != ERR_NOT_FOUND) {
        one_problem(ret_checked, arena, arena_text(arena, err_message(&err, 0)));
        return;
    }
    entry.content = buf_str(&text);
    ret_checked->n = skill_validate(&entry, r < 0 ? 0 : 1, directory_name(path, arena), arena,
                                    &ret_checked->problems);
}

static void print_json(const struct checked *checked)
{
    struct json_object *object = json_object_new_object(), *list = json_object_new_array();

    json_object_object_add(object, "path", json_object_new_string(checked->path));
    json_object_object_add(object, "valid", json_object_new_boolean(checked->n == 0));
    for (size_t i = 0; i < checked->n; i++)
        json_object_array_add(list, json_object_new_string_len(checked->problems[i].text.p,
                                                               (int)checked->problems[i].text.n));
    json_object_object_add(object, "problems", list);
    cli_print_json(object);
}

static void print_text(const struct checked *checked, struct arena *arena)
{
    FILE *out = checked->n ? stderr : stdout;

    fputs(checked->n ? "Not a valid skill: " : "Valid skill: ", out);
    term_text(out, checked->path);
    fputc('\n', out);
    for (size_t i = 0; i < checked->n; i++) {
        fputs("  - ", out);
        term_text(out, arena_str(arena, checked->problems[i].text).p);
        fputc('\n', out);
    }
}

static int run_validate(const struct cli_args *args)
{
    AUTO_ARENA arena = ARENA_INIT;
    int code = CLI_DONE;

    for (size_t i = 0; i < cli_operand_count(args); i++) {
        struct checked checked;

        check(cli_operand(args, i), &arena, &checked);
        if (cli_json(args))
            print_json(&checked);
        else
            print_text(&checked, &arena);
        if (checked.n)
            code = CLI_FAILED;
    }
    return code;
}

const struct cli_command cli_cmd_skill_validate = {
    .name = "skill validate",
    .operands = "PATH...",
    .summary = "Checks skills on disk by the Agent Skills format",
    .details = "A PATH is a skill's directory or the SKILL.md in it. No daemon is needed.\n\n"
               "The verdict is that of the reference tool, skills-ref, except where a lax reading "
               "would lose or hide something (see docs/skills.md). Exit code 0: all are valid; 1: "
               "at least one is not.",
    .operands_min = 1,
    .operands_max = -1,
    .run = run_validate,
};
