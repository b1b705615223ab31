/* dormouse journal export, search.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/limits.h"
#include "cli/cli_int.h"
#include "cli/commands_int.h"
#include "cli/jot.h"
#include "cli/term.h"

#define EXPORT_BYTES (512u * MIB)

/* ---- export ---- */

static int write_out(const struct cli_args *args, const struct buf *bytes, struct err *err)
{
    const char *file = cli_operand(args, 0);

    if (!file || strcmp(file, "-") == 0) {
        fwrite(buf_text(bytes), 1, bytes->n, stdout);
        return 0;
    }
    return file_write_atomic(file, buf_str(bytes), 0600, err);
}

static bool is_calendar(const char *file)
{
    return file &&
           (str_ends(str_from(file), STR(".ics")) || str_ends(str_from(file), STR(".ical")));
}

/* Only attachments have this member, and in a text its quotes would be escaped. */
static size_t count_attachments(struct str json)
{
    static const char member[] = "\"contentType\":";
    const char *at = json.p;
    size_t n = 0;

    while ((at = memmem(at, (size_t)(json.p + json.n - at), member, strlen(member)))) {
        at += strlen(member);
        n++;
    }
    return n;
}

/* On the error stream, so that what goes into a pipe is the journal alone. */
static void say_left_out(bool ics, bool without, struct str json)
{
    size_t n = without && !ics ? count_attachments(json) : 0;

    if (ics)
        fprintf(stderr,
                "Not in it: ratings, links, recordings, names of checklists; JSON has them\n");
    if (n)
        fprintf(stderr, "Not in it: what %zu attachment%s hold%s\n", n, n == 1 ? "" : "s",
                n == 1 ? "s" : "");
}

static int run_export(const struct cli_args *args)
{
    AUTO_BUF bytes = BUF_INIT(EXPORT_BYTES);
    const char *file = cli_operand(args, 0), *format = cli_value(args, "format");
    bool ics = format ? strcmp(format, "ics") == 0 : is_calendar(file);
    bool without = cli_has(args, "without-attachments");
    struct err err = ERR_INIT;
    char path[128];

    snprintf(path, sizeof(path), "/api/v1/journal/export?format=%s%s", ics ? "ics" : "json",
             ics || without ? "" : "&attachments=true");
    if (talk_bytes(args, "GET", path, STR_NONE, &bytes, &err) < 0 ||
        write_out(args, &bytes, &err) < 0)
        return cli_fail(args, &err);
    if (file && strcmp(file, "-") != 0 && !cli_json(args))
        printf("Wrote %zu bytes to %s\n", bytes.n, file);
    say_left_out(ics, without, buf_str(&bytes));
    return CLI_DONE;
}

static const struct cli_option export_options[] = {
    { .name = "format",
      .value = "FORMAT",
      .help = "json (everything; unless FILE ends with .ics) or ics",
      .choices = "json ics" },
    { .name = "without-attachments", .help = "leave out what recordings hold; json only" },
    { .name = "attachments", .help = "with what recordings hold: as without this option" },
    { .name = NULL },
};

const struct cli_command cli_cmd_journal_export = {
    .name = "journal export",
    .operands = "[FILE]",
    .summary = "Writes the whole journal as JSON or iCalendar",
    .details = "Without FILE to standard output. JSON has everything there is, recordings in "
               "base64, and `dormouse journal import` makes the same journal of it; what was "
               "deleted and who changed what when is not in it (`dormouse backup` keeps that). The "
               "same journal gives the same bytes.",
    .options = export_options,
    .operands_max = 1,
    .run = run_export,
};

/* ---- search ---- */

static int run_search(const struct cli_args *args)
{
    AUTO_BUF path = BUF_INIT(16 * KIB);
    AUTO_JSON answer = NULL;
    AUTO_JOT jot;
    struct json_object *results;
    struct str words;
    int64_t limit = 20;
    size_t shown = 0;

    if (jot_open(&jot, args) < 0)
        return jot_fail(&jot);
    if (cli_number(args, "limit", 1, 100, &limit, &jot.err) < 0)
        return cli_misused(args, &jot.err);
    words = jot_words(&jot, 0);
    if (!str_trim(words).n) {
        err_set(&jot.err, ERR_BAD_REQUEST, "WORD is empty: what is to be looked for?");
        return jot_fail(&jot);
    }
    buf_printf(&path, "/api/v1/search?scope=journal&limit=%lld", (long long)limit);
    jot_query(&jot, &path, "q", arena_printf(&jot.arena, "%.*s", STR_ARG(words)));
    if (talk_ask(jot.talk, "GET", buf_text(&path), STR_NONE, &answer, &jot.err) < 0) {
        jot_refused(&jot);
        return jot_fail(&jot);
    }
    results = json_find(answer, "results");
    for (; results && shown < json_length(results); shown++) {
        struct json_object *result = json_object_array_get_idx(results, shown);

        if (cli_json(args)) {
            cli_print_json(json_object_get(result));
            continue;
        }
        printf("%-9.*s %s%.*s%s  ", STR_ARG(jot_member(result, "kind")),
               term_style(stdout, TERM_DIM), STR_ARG(jot_member(result, "recordId")),
               term_style(stdout, TERM_PLAIN));
        term_text(stdout, arena_printf(&jot.arena, "%.*s\n", STR_ARG(jot_member(result, "title"))));
        if (jot_member(result, "snippet").n &&
            !str_eq(jot_member(result, "snippet"), jot_member(result, "title")))
            term_text(stdout, arena_printf(&jot.arena, "    %.*s\n",
                                           STR_ARG(jot_member(result, "snippet"))));
    }
    if (!shown && !cli_json(args))
        printf("nothing found\n");
    return CLI_DONE;
}

static const struct cli_option search_options[] = {
    { .name = "limit", .value = "N", .help = "at most so many, 1 to 100; 20 unless given" },
    { .name = NULL },
};

const struct cli_command cli_cmd_journal_search = {
    .name = "journal search",
    .operands = "WORD...",
    .summary = "Finds tasks, items, notes and time by their words",
    .details = "All words must be there; the last one may be the beginning of a word. With --json "
               "each result is a line of its own.",
    .options = search_options,
    .operands_min = 1,
    .operands_max = -1,
    .run = run_search,
};
