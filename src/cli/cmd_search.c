/* dormouse search: everything that was said, written and named.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/limits.h"
#include "cli/cli_int.h"
#include "cli/columns.h"
#include "cli/commands_int.h"
#include "cli/decide.h"
#include "cli/said.h"
#include "cli/talk.h"
#include "cli/term.h"

static struct str member(struct json_object *object, const char *key)
{
    return json_str(json_find(object, key));
}

static void print_text(enum term_style style, const char *before, struct str text)
{
    AUTO_BUF line = BUF_INIT(64 * KIB);

    if (!text.n)
        return;
    buf_printf(&line, "%s%.*s", before, STR_ARG(text));
    fputs(term_style(stdout, style), stdout);
    term_text(stdout, buf_text(&line));
    fputs(term_style(stdout, TERM_PLAIN), stdout);
}

/* What and when, then where to look, then the words around it. */
static void print_result(struct json_object *result)
{
    struct str where =
        member(result, "threadId").n ? member(result, "threadId") : member(result, "agentId");
    char ago[AGO_SIZE];

    ago_text(member(result, "at"), clock_wall_ms(clock_system()), ago);
    print_text(TERM_PLAIN, "", member(result, "kind"));
    print_text(TERM_BOLD, "  ", member(result, "title"));
    print_text(TERM_DIM, "  ", where);
    print_text(TERM_DIM, "  ", str_from(ago));
    putchar('\n');
    print_text(TERM_PLAIN, "    ", member(result, "snippet"));
    if (member(result, "snippet").n)
        putchar('\n');
}

static void make_path(const struct cli_args *args, int64_t limit, struct buf *out)
{
    buf_add_text(out, "/api/v1/search?q=");
    for (size_t i = 0; i < cli_operand_count(args); i++) {
        if (i)
            buf_add_text(out, "%20");
        decide_add_segment(out, cli_operand(args, i));
    }
    if (cli_value(args, "agent")) {
        buf_add_text(out, "&agent=");
        decide_add_segment(out, cli_value(args, "agent"));
    }
    buf_printf(out, "&limit=%lld", (long long)limit);
}

static int run(const struct cli_args *args)
{
    static const struct said_word words[] = { { "limit", "--limit" }, { NULL, NULL } };
    AUTO_BUF path = BUF_INIT(16 * KIB);
    AUTO_JSON answer = NULL;
    struct json_object *results;
    struct err err = ERR_INIT;
    int64_t limit = 20;
    size_t n;

    if (cli_number(args, "limit", 1, 100, &limit, &err) < 0)
        return cli_misused(args, &err);
    make_path(args, limit, &path);
    if (path.full)
        err_set(&err, ERR_BAD_REQUEST, "that is too much to look for");
    if (path.full || talk_once(args, "GET", buf_text(&path), STR_NONE, &answer, &err) < 0) {
        said_by(words, &err);
        return cli_fail(args, &err);
    }
    results = json_find(answer, "results");
    n = json_length(results);
    for (size_t i = 0; i < n; i++) {
        if (cli_json(args))
            cli_print_json(json_object_get(json_object_array_get_idx(results, i)));
        else
            print_result(json_object_array_get_idx(results, i));
    }
    if (!n && !cli_json(args))
        printf("nothing found\n");
    return CLI_DONE;
}

static const struct cli_option options[] = {
    { .name = "agent", .value = "AGENT", .help = "of one agent only" },
    { .name = "limit", .value = "N", .help = "at most so many, 1 to 100; 20 unless given" },
    { .name = NULL },
};

const struct cli_command cli_cmd_search = {
    .name = "search",
    .operands = "WORD...",
    .summary = "Finds agents, conversations, messages and files",
    .details = "All words must be there; the last one may be the beginning of a word. With --json "
               "each result is a line of its own.",
    .options = options,
    .operands_min = 1,
    .operands_max = -1,
    .run = run,
};
