/* dormouse agent export, import
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <json-c/json.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "base/limits.h"
#include "cli/alarms.h"
#include "cli/cli_int.h"
#include "cli/commands_int.h"
#include "cli/decide.h"
#include "cli/talk.h"
#include "cli/term.h"

#define ARCHIVE_BYTES (32 * MIB)

/* What is there already is not overwritten: it may be the only copy. */
static int place(const char *path, struct str bytes, struct err *err)
{
    if (strcmp(path, "-") == 0) {
        if (fwrite(bytes.p, 1, bytes.n, stdout) != bytes.n || fflush(stdout) != 0)
            return err_set(err, ERR_INTERNAL, "standard output is closed");
        return 0;
    }
    if (access(path, F_OK) == 0)
        return err_set(err, ERR_CONFLICT, "%s is there already", path);
    return file_write_atomic(path, bytes, 0600, err);
}

static int run_export(const struct cli_args *args)
{
    AUTO_BUF bytes = BUF_INIT(ARCHIVE_BYTES);
    AUTO_BUF path = BUF_INIT(4 * KIB);
    AUTO_BUF name = BUF_INIT(4 * KIB);
    struct err err = ERR_INIT;

    buf_add_text(&path, "/api/v1/agents/");
    decide_add_segment(&path, cli_operand(args, 0));
    buf_add_text(&path, "/export");
    if (cli_operand_count(args) > 1)
        buf_add_text(&name, cli_operand(args, 1));
    else
        buf_printf(&name, "%s.dormouse-agent.tar.gz", cli_operand(args, 0));
    if (talk_bytes(args, "GET", buf_text(&path), STR_NONE, &bytes, &err) < 0 ||
        place(buf_text(&name), buf_str(&bytes), &err) < 0)
        return cli_fail(args, &err);
    if (str_is(buf_str(&name), "-"))
        return CLI_DONE;
    if (cli_json(args)) {
        struct json_object *answer = json_object_new_object();

        json_object_object_add(answer, "file", json_object_new_string(buf_text(&name)));
        json_object_object_add(answer, "bytes", json_object_new_int64((int64_t)bytes.n));
        cli_print_json(answer);
    } else {
        term_text(stdout, buf_text(&name));
        putchar('\n');
    }
    return CLI_DONE;
}

const struct cli_command cli_cmd_agent_export = {
    .name = "agent export",
    .operands = "AGENT [FILE]",
    .summary = "Writes an agent into one archive: settings, instructions, skills, knowledge, what "
               "wakes it",
    .details =
        "The file is AGENT.dormouse-agent.tar.gz unless given; - is standard output. The same "
        "agent gives the same bytes. Conversations are not in it, and never a secret: a file "
        "that holds one kept here, a token of a known form or a private key is named and nothing "
        "is written. Tokens of webhooks and categories of the journal stay here.",
    .operands_min = 1,
    .operands_max = 2,
    .run = run_export,
};

static int read_archive(const char *path, struct buf *out, struct err *err)
{
    return strcmp(path, "-") == 0 ? cli_read_stdin(out, err) : file_read(path, out, err);
}

static void print_line(FILE *out, const char *before, struct str text)
{
    AUTO_BUF line = BUF_INIT(8 * KIB);

    buf_printf(&line, "%s%.*s", before, STR_ARG(text));
    term_text(out, buf_text(&line));
    fputc('\n', out);
}

static int run_import(const struct cli_args *args)
{
    AUTO_BUF bytes = BUF_INIT(ARCHIVE_BYTES);
    AUTO_BUF path = BUF_INIT(4 * KIB);
    AUTO_BUF line = BUF_INIT(4 * KIB);
    AUTO_JSON agent = NULL;
    struct json_object *warnings;
    struct err err = ERR_INIT;

    buf_add_text(&path, "/api/v1/agents/import");
    if (cli_value(args, "id")) {
        buf_add_text(&path, "?id=");
        decide_add_segment(&path, cli_value(args, "id"));
    }
    if (read_archive(cli_operand(args, 0), &bytes, &err) < 0 ||
        talk_once(args, "POST", buf_text(&path), buf_str(&bytes), &agent, &err) < 0)
        return cli_fail(args, &err);
    if (cli_json(args)) {
        cli_print_json(json_object_get(agent));
        return CLI_DONE;
    }
    buf_printf(&line, "made %.*s (%.*s)", STR_ARG(json_str(json_find(agent, "id"))),
               STR_ARG(json_str(json_find(agent, "displayName"))));
    print_line(stdout, "", buf_str(&line));
    if (alarms_get(args, agent, &err) == 0)
        alarms_print(agent, "  it wakes: ", true);
    alarms_print_hooks(agent);
    warnings = json_find(agent, "warnings");
    for (size_t i = 0; warnings && i < json_object_array_length(warnings); i++)
        print_line(stderr, "warning: ", json_str(json_object_array_get_idx(warnings, i)));
    return CLI_DONE;
}

static const struct cli_option import_options[] = {
    { .name = "id", .value = "ID", .help = "its id; made from the name unless given" },
    { .name = NULL },
};

const struct cli_command cli_cmd_agent_import = {
    .name = "agent import",
    .operands = "FILE",
    .summary = "Makes an agent from an archive that `agent export` wrote",
    .details =
        "Everything in it is checked as if you had typed it. Its files are marked as imported, "
        "and memory writes need your approval whatever they did before. A model or a tool that "
        "is not here is left out, with a warning. What wakes it is made as it was; a webhook has a "
        "new address, which is shown once.",
    .options = import_options,
    .operands_min = 1,
    .operands_max = 1,
    .run = run_import,
};
