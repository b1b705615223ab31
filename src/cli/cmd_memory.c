/* dormouse memory ls, cat, history, write, rm, restore: what an agent keeps, at the terminal.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/json.h"
#include "base/json_put.h"
#include "base/limits.h"
#include "cli/cli_int.h"
#include "cli/columns.h"
#include "cli/commands_int.h"
#include "cli/decide.h"
#include "cli/show.h"
#include "cli/talk.h"
#include "cli/term.h"
#include "cli/whose.h"

static struct str member(struct json_object *object, const char *key)
{
    return json_str(json_find(object, key));
}

static int64_t now_ms(void)
{
    return clock_wall_ms(clock_system());
}

/* Segment by segment: a slash stays what it is. */
static void add_path(struct buf *out, const char *typed)
{
    struct str rest = str_from(typed), part;

    while (str_split(&rest, '/', &part)) {
        AUTO_TEXT copy = alloc_copy(part.p, part.n);

        buf_add_char(out, '/');
        decide_add_segment(out, copy);
    }
}

/* /api/v1/agents/AGENT/<what>/PATH<query> */
static int ask(const struct cli_args *args, const char *method, const char *what, const char *query,
               struct str body, struct json_object **ret_answer, struct err *err)
{
    AUTO_BUF path = BUF_INIT(16 * KIB);
    AUTO(talk) talk = NULL;

    if (talk_open(args, &talk, err) < 0)
        return -1;
    buf_add_text(&path, "/api/v1/agents/");
    if (whose_add(args, talk, "memory", &path, err) < 0)
        return -1;
    buf_printf(&path, "/%s", what);
    if (cli_operand_count(args))
        add_path(&path, cli_operand(args, 0));
    buf_add_text(&path, query);
    if (path.full)
        return err_set(err, ERR_BAD_REQUEST, "the path is too long");
    return talk_ask(talk, method, buf_text(&path), body, ret_answer, err);
}

#define AGENT_OPTION                                                                               \
    {                                                                                              \
        .name = "agent", .value = "AGENT", .help = "whose; needed when there are several"          \
    }

/* ---- ls ---- */

static void print_files(struct json_object *files)
{
    static const char *const head[] = { "PATH", "BYTES", "VERSION", "CHANGED", "NOTE", NULL };
    struct columns columns;

    columns_init(&columns, head);
    for (size_t i = 0; i < json_length(files); i++) {
        struct json_object *file = json_object_array_get_idx(files, i);
        char bytes[24], version[24], ago[AGO_SIZE];
        bool writable = false;
        int64_t n = 0, v = 0;

        json_get_i64(file, "size_bytes", &n, NULL);
        json_get_i64(file, "version", &v, NULL);
        json_get_bool(file, "writable", &writable, NULL);
        snprintf(bytes, sizeof(bytes), "%lld", (long long)n);
        snprintf(version, sizeof(version), "%lld", (long long)v);
        columns_add(&columns,
                    (struct str[]){ member(file, "path"), str_from(bytes),
                                    writable ? str_from(version) : STR("-"),
                                    str_from(ago_text(member(file, "updated_at"), now_ms(), ago)),
                                    !writable                  ? STR("read only")
                                    : json_find(file, "taint") ? STR("holds text that others wrote")
                                                               : STR("") });
    }
    columns_print(&columns, stdout);
    columns_release(&columns);
}

static int run_ls(const struct cli_args *args)
{
    AUTO_JSON answer = NULL;
    struct err err = ERR_INIT;

    if (ask(args, "GET", "memory", "", STR_NONE, &answer, &err) < 0)
        return cli_fail(args, &err);
    if (cli_json(args)) {
        cli_print_json(json_object_get(answer));
        return CLI_DONE;
    }
    print_files(json_find(answer, "files"));
    if (member(answer, "warning").n)
        printf("\n%.*s\n", STR_ARG(member(answer, "warning")));
    return CLI_DONE;
}

static const struct cli_option agent_options[] = {
    AGENT_OPTION,
    { .name = NULL },
};

const struct cli_command cli_cmd_memory_ls = {
    .name = "memory ls",
    .operands = "",
    .summary = "Lists the files that an agent keeps",
    .details = "AGENTS.md and tools.json are its settings, shown as files; skills/ and knowledge/ "
               "are what it learned, each change approved by you or written by you. The same "
               "files lie under DATA/files for every program that reads files.",
    .options = agent_options,
    .run = run_ls,
};

/* ---- cat ---- */

static int run_cat(const struct cli_args *args)
{
    AUTO_JSON answer = NULL;
    struct err err = ERR_INIT;
    char query[64] = "";
    struct str content;
    int64_t version;
    int given = cli_number(args, "at", 1, INT64_MAX, &version, &err);

    if (given < 0)
        return cli_misused(args, &err);
    if (given)
        snprintf(query, sizeof(query), "?version=%lld", (long long)version);
    if (ask(args, "GET", "memory", query, STR_NONE, &answer, &err) < 0)
        return cli_fail(args, &err);
    content = member(answer, "content");
    if (cli_json(args))
        cli_print_json(json_object_get(answer));
    else if (isatty(STDOUT_FILENO))
        term_text(stdout, content.p ? content.p : "");
    else
        fwrite(content.p ? content.p : "", 1, content.n, stdout);
    return CLI_DONE;
}

static const struct cli_option cat_options[] = {
    AGENT_OPTION,
    { .name = "at", .value = "VERSION", .help = "an earlier version, also of a deleted file" },
    { .name = NULL },
};

const struct cli_command cli_cmd_memory_cat = {
    .name = "memory cat",
    .operands = "PATH",
    .summary = "Shows a file of an agent's memory",
    .options = cat_options,
    .operands_min = 1,
    .operands_max = 1,
    .run = run_cat,
};

/* ---- history ---- */

static void print_versions(struct json_object *versions)
{
    static const char *const head[] = { "VERSION", "WHEN", "BY", "BYTES", "WHY", NULL };
    struct columns columns;

    columns_init(&columns, head);
    for (size_t i = 0; i < json_length(versions); i++) {
        struct json_object *one = json_object_array_get_idx(versions, i);
        char bytes[24], version[24], ago[AGO_SIZE];
        bool deleted = false;
        int64_t n = 0, v = 0;

        json_get_i64(one, "size_bytes", &n, NULL);
        json_get_i64(one, "version", &v, NULL);
        json_get_bool(one, "deleted", &deleted, NULL);
        snprintf(bytes, sizeof(bytes), "%lld", (long long)n);
        snprintf(version, sizeof(version), "%lld", (long long)v);
        columns_add(&columns, (struct str[]){
                                  str_from(version),
                                  str_from(ago_text(member(one, "created_at"), now_ms(), ago)),
                                  member(one, "author"), deleted ? STR("deleted") : str_from(bytes),
                                  member(one, "reason") });
    }
    columns_print(&columns, stdout);
    columns_release(&columns);
}

static int run_history(const struct cli_args *args)
{
    AUTO_JSON answer = NULL;
    struct err err = ERR_INIT;

    if (ask(args, "GET", "memory-history", "?limit=500", STR_NONE, &answer, &err) < 0)
        return cli_fail(args, &err);
    if (cli_json(args))
        cli_print_json(json_object_get(answer));
    else
        print_versions(json_find(answer, "versions"));
    return CLI_DONE;
}

const struct cli_command cli_cmd_memory_history = {
    .name = "memory history",
    .operands = "PATH",
    .summary = "Lists the versions of a file: who, when and why",
    .options = agent_options,
    .operands_min = 1,
    .operands_max = 1,
    .run = run_history,
};

/* ---- changing ---- */

static int say_done(const struct cli_args *args, struct json_object *answer, const char *what)
{
    int64_t version = 0;

    if (cli_json(args)) {
        cli_print_json(answer ? json_object_get(answer) : json_object_new_object());
        return CLI_DONE;
    }
    json_get_i64(answer, "version", &version, NULL);
    term_text(stdout, cli_operand(args, 0));
    if (version)
        printf(" %s version %lld\n", what, (long long)version);
    else
        printf(" %s\n", what);
    return CLI_DONE;
}

static int read_number(const struct cli_args *args, const char *typed, const char *what,
                       int64_t *ret_number)
{
    struct err err = ERR_INIT;

    if (str_to_i64(str_from(typed), ret_number) == 0 && *ret_number >= 0)
        return 0;
    err_set(&err, ERR_BAD_REQUEST, "%s must be a number, not \"%.80s\"", what, typed);
    cli_fail(args, &err);
    return -1;
}

static void add_reason(const struct cli_args *args, struct json_writer *w)
{
    if (!cli_value(args, "reason"))
        return;
    json_put_text(w, "reason", cli_value(args, "reason"));
}

static int read_text(const struct cli_args *args, struct buf *out, struct err *err)
{
    const char *file = cli_operand(args, 1);

    if (!file || strcmp(file, "-") == 0)
        return cli_read_stdin(out, err);
    return file_read(file, out, err);
}

static int run_write(const struct cli_args *args)
{
    AUTO_BUF text = BUF_INIT(LIMIT_HTTP_BODY_BYTES);
    AUTO_BUF body = BUF_INIT(LIMIT_HTTP_BODY_BYTES);
    struct json_writer w = JSON_WRITER(&body);
    AUTO_JSON answer = NULL;
    struct err err = ERR_INIT;
    int64_t base = 0;

    if (cli_value(args, "base") && read_number(args, cli_value(args, "base"), "--base", &base) < 0)
        return CLI_USAGE;
    if (read_text(args, &text, &err) < 0)
        return cli_fail(args, &err);
    json_write_object_begin(&w);
    json_put_str(&w, "content", buf_str(&text));
    if (cli_value(args, "base")) {
        json_put_i64(&w, "base_version", base);
    }
    add_reason(args, &w);
    json_write_object_end(&w);
    if (json_write_end(&w) < 0)
        err_set(&err, ERR_TOO_LARGE, "the text is too long");
    if (err.code || ask(args, "PUT", "memory", "", buf_str(&body), &answer, &err) < 0)
        return cli_fail(args, &err);
    return say_done(args, answer, "is now");
}

static const struct cli_option write_options[] = {
    AGENT_OPTION,
    { .name = "base", .value = "N", .help = "only if this is the newest version; 0: none" },
    { .name = "reason", .value = "TEXT", .help = "why, for the history" },
    { .name = NULL },
};

const struct cli_command cli_cmd_memory_write = {
    .name = "memory write",
    .operands = "PATH [FILE]",
    .summary = "Writes a file of an agent's memory, from FILE or standard input",
    .details = "Your own changes need no approval. They are versions like any other: `dormouse "
               "memory history` lists them and `dormouse memory restore` goes back.",
    .options = write_options,
    .operands_min = 1,
    .operands_max = 2,
    .run = run_write,
};

static int run_rm(const struct cli_args *args)
{
    AUTO_BUF query = BUF_INIT(8 * KIB);
    AUTO_JSON answer = NULL;
    struct err err = ERR_INIT;

    if (cli_value(args, "reason")) {
        buf_add_text(&query, "?reason=");
        decide_add_segment(&query, cli_value(args, "reason"));
    }
    if (ask(args, "DELETE", "memory", buf_text(&query), STR_NONE, &answer, &err) < 0)
        return cli_fail(args, &err);
    return say_done(args, answer, "is deleted; `dormouse memory restore` brings it back");
}

static const struct cli_option rm_options[] = {
    AGENT_OPTION,
    { .name = "reason", .value = "TEXT", .help = "why, for the history" },
    { .name = NULL },
};

const struct cli_command cli_cmd_memory_rm = {
    .name = "memory rm",
    .operands = "PATH",
    .summary = "Deletes a file of an agent's memory; its versions stay",
    .options = rm_options,
    .operands_min = 1,
    .operands_max = 1,
    .run = run_rm,
};

static int run_restore(const struct cli_args *args)
{
    AUTO_BUF body = BUF_INIT(16 * KIB);
    struct json_writer w = JSON_WRITER(&body);
    AUTO_JSON answer = NULL;
    struct err err = ERR_INIT;
    int64_t version = 0;

    if (read_number(args, cli_operand(args, 1), "VERSION", &version) < 0)
        return CLI_USAGE;
    json_write_object_begin(&w);
    json_put_i64(&w, "version", version);
    add_reason(args, &w);
    json_write_object_end(&w);
    if (ask(args, "POST", "memory-restore", "", buf_str(&body), &answer, &err) < 0)
        return cli_fail(args, &err);
    return say_done(args, answer, "is now");
}

const struct cli_command cli_cmd_memory_restore = {
    .name = "memory restore",
    .operands = "PATH VERSION",
    .summary = "Makes an earlier version the newest, also of a deleted file",
    .options = rm_options,
    .operands_min = 2,
    .operands_max = 2,
    .run = run_restore,
};
