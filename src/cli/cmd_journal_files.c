/* dormouse journal import, export, search.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/limits.h"
#include "cli/cli_int.h"
#include "cli/commands_int.h"
#include "cli/jot.h"
#include "cli/term.h"

#define STEP          1000 /* records made in one request, and more of a long file: */
#define REQUESTS      20   /* each request reads the file again */
#define PROBLEMS_SAID 20
#define EXPORT_BYTES  (512u * MIB)

/* ---- import ---- */

/* By the ending of the name. */
static const char *guess_format(const char *file)
{
    static const char *const endings[][2] = {
        { ".csv", "csv" },         { ".tsv", "csv" },         { ".ics", "ics" },
        { ".ical", "ics" },        { ".md", "markdown" },     { ".markdown", "markdown" },
        { "todo.txt", "todotxt" }, { "done.txt", "todotxt" }, { ".todotxt", "todotxt" },
        { ".json", "json" },
    };

    for (size_t i = 0; i < ARRAY_LEN(endings); i++) {
        size_t n = strlen(file), k = strlen(endings[i][0]);

        if (n >= k && str_eq_nocase(str_of(file + n - k, k), str_from(endings[i][0])))
            return endings[i][1];
    }
    return NULL;
}

static int read_file(struct jot *jot, struct buf *text, const char **ret_format)
{
    const char *file = cli_operand(jot->args, 0), *typed = cli_value(jot->args, "format");

    *ret_format = typed ? typed : guess_format(file);
    if (!*ret_format)
        return err_set(&jot->err, ERR_BAD_REQUEST,
                       "what is %.200s? its name does not say; give --format csv, todotxt, "
                       "markdown, ics or json",
                       file);
    if (strcmp(file, "-") == 0)
        return cli_read_stdin(text, &jot->err);
    return file_read(file, text, &jot->err);
}

static void print_problems(struct json_object *answer)
{
    struct json_object *problems = json_find(answer, "problems");
    size_t n = problems ? json_object_array_length(problems) : 0;
    int64_t all = 0;

    json_get_i64(answer, "problemCount", &all, NULL);
    for (size_t i = 0; i < n && i < PROBLEMS_SAID; i++) {
        struct json_object *problem = json_object_array_get_idx(problems, i);
        AUTO_BUF line = BUF_INIT(4 * KIB);

        if (json_object_get_int64(json_find(problem, "line")))
            buf_printf(&line,
                       "line %lld: ", (long long)json_object_get_int64(json_find(problem, "line")));
        buf_printf(&line, "%.*s\n", STR_ARG(jot_member(problem, "message")));
        term_text(stderr, buf_text(&line));
    }
    if (all > PROBLEMS_SAID)
        fprintf(stderr, "... and %lld more\n", (long long)all - PROBLEMS_SAID);
}

static int ask_import(struct jot *jot, const char *format, const char *more, struct str text,
                      struct json_object **ret_answer)
{
    const char *path = arena_printf(&jot->arena, "/api/v1/journal/import?format=%s%s",
                                    jot_part(jot, format), more);

    *ret_answer = NULL;
    return talk_ask(jot->talk, "POST", path, text, ret_answer, &jot->err);
}

static void print_records(struct jot *jot, struct json_object *answer)
{
    struct json_object *records = json_find(answer, "records");
    size_t n = records ? json_object_array_length(records) : 0;
    int64_t total = 0;

    json_get_i64(answer, "total", &total, NULL);
    for (size_t i = 0; i < n; i++) {
        struct json_object *record = json_object_array_get_idx(records, i);
        char when[JOT_WHEN_SIZE];

        printf("%-6.*s ", STR_ARG(jot_member(record, "type")));
        term_text(stdout, arena_printf(&jot->arena, "%.*s", STR_ARG(jot_member(record, "title"))));
        if (jot_member(record, "due").n)
            printf("  due %s", jot_when(jot, jot_member(record, "due"), when));
        putchar('\n');
    }
    if ((int64_t)n < total)
        printf("... and %lld more\n", (long long)total - (long long)n);
    printf("%lld would be made\n", (long long)total);
}

struct sums {
    int64_t tasks, events, categories, others, there;
};

static void add_sums(struct sums *sums, struct json_object *answer)
{
    struct json_object *made = json_find(answer, "counts");
    int64_t n = 0;

    sums->tasks += json_get_i64(made, "tasks", &n, NULL) > 0 ? n : 0;
    sums->events += json_get_i64(made, "events", &n, NULL) > 0 ? n : 0;
    sums->categories += json_get_i64(made, "categories", &n, NULL) > 0 ? n : 0;
    sums->others += json_get_i64(made, "others", &n, NULL) > 0 ? n : 0;
    sums->there += json_get_i64(made, "there", &n, NULL) > 0 ? n : 0;
}

/* A part at a time, so that the daemon has a moment for others. */
static int import_all(struct jot *jot, const char *format, struct str text, int64_t total,
                      struct sums *sums)
{
    const char *skip = cli_has(jot->args, "skip-bad") ? "&skipBad=true" : "";
    struct term_progress progress;
    int64_t offset = 0, step = total / REQUESTS > STEP ? total / REQUESTS : STEP;
    int r = 0;

    term_progress_init(&progress, "importing", stderr, false);
    while (r == 0 && offset >= 0) {
        AUTO_JSON answer = NULL;
        const char *more = arena_printf(&jot->arena, "&offset=%lld&limit=%lld%s", (long long)offset,
                                        (long long)step, skip);

        r = ask_import(jot, format, more, text, &answer);
        if (r < 0)
            break;
        add_sums(sums, answer);
        offset = -1;
        json_get_i64(answer, "next", &offset, NULL);
        term_progress_update(&progress, offset < 0 ? total : offset, total);
    }
    term_progress_end(&progress);
    return r;
}

static int print_sums(const struct cli_args *args, const struct sums *sums, int64_t problems)
{
    struct json_object *out;

    if (!cli_json(args)) {
        int64_t others = sums->events + sums->others;

        printf("Made %lld task%s", (long long)sums->tasks, sums->tasks == 1 ? "" : "s");
        if (others)
            printf(" and %lld %s%s", (long long)others, sums->others ? "other record" : "event",
                   others == 1 ? "" : "s");
        if (sums->there)
            printf("; %lld %s there already", (long long)sums->there,
                   sums->there == 1 ? "was" : "were");
        if (problems)
            printf("; %lld line%s left out", (long long)problems,
                   problems == 1 ? " was" : "s were");
        putchar('\n');
        return CLI_DONE;
    }
    out = json_object_new_object();
    json_object_object_add(out, "tasks", json_object_new_int64(sums->tasks));
    json_object_object_add(out, "events", json_object_new_int64(sums->events));
    json_object_object_add(out, "categories", json_object_new_int64(sums->categories));
    if (sums->others)
        json_object_object_add(out, "others", json_object_new_int64(sums->others));
    json_object_object_add(out, "there", json_object_new_int64(sums->there));
    json_object_object_add(out, "problems", json_object_new_int64(problems));
    cli_print_json(out);
    return CLI_DONE;
}

static int run_import(const struct cli_args *args)
{
    AUTO_BUF text = BUF_INIT(LIMIT_HTTP_BODY_BYTES);
    AUTO_JSON answer = NULL;
    AUTO_JOT jot;
    struct sums sums = { .tasks = 0 };
    int64_t problems = 0, total = 0;
    const char *format;

    if (jot_open(&jot, args) < 0 || read_file(&jot, &text, &format) < 0 ||
        ask_import(&jot, format, "&preview=true", buf_str(&text), &answer) < 0)
        return jot_fail(&jot);
    json_get_i64(answer, "problemCount", &problems, NULL);
    json_get_i64(answer, "total", &total, NULL);
    if (cli_has(args, "preview") && cli_json(args))
        return jot_print(&jot, json_object_get(answer));
    if (!cli_json(args))
        print_problems(answer);
    if (cli_has(args, "preview")) {
        print_records(&jot, answer);
        return CLI_DONE;
    }
    if (problems && !cli_has(args, "skip-bad")) {
        err_set(&jot.err, ERR_SCHEMA_VIOLATION,
                "%lld line%s can't be read; nothing was imported. --skip-bad leaves %s out",
                (long long)problems, problems == 1 ? "" : "s", problems == 1 ? "it" : "them");
        return jot_fail(&jot);
    }
    if (import_all(&jot, format, buf_str(&text), total, &sums) < 0)
        return jot_fail(&jot);
    return print_sums(args, &sums, problems);
}

static const struct cli_option import_options[] = {
    { .name = "format",
      .value = "FORMAT",
      .help = "what the file is, when its name does not say",
      .choices = "csv todotxt markdown ics json" },
    { .name = "preview", .help = "only show what would be made" },
    { .name = "skip-bad", .help = "leave out what can't be read" },
    { .name = NULL },
};

const struct cli_command cli_cmd_journal_import = {
    .name = "journal import",
    .operands = "FILE",
    .summary = "Imports tasks from CSV, todo.txt, Markdown or iCalendar, and exported journals",
    .details = "A file that can't be read whole is refused, unless --skip-bad is given. The same "
               "file imported again makes nothing twice, and goes on where it was interrupted. CSV "
               "needs a line of column names: title, due, priority, status, category, labels, "
               "estimate, notes. JSON is what `dormouse journal export --attachments` wrote. - is "
               "standard input.",
    .options = import_options,
    .operands_min = 1,
    .operands_max = 1,
    .run = run_import,
};

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

static int run_export(const struct cli_args *args)
{
    AUTO_BUF bytes = BUF_INIT(EXPORT_BYTES);
    const char *file = cli_operand(args, 0), *format = cli_value(args, "format");
    struct err err = ERR_INIT;
    char path[128];

    if (!format && file && guess_format(file))
        format = guess_format(file);
    snprintf(path, sizeof(path), "/api/v1/journal/export?format=%s%s",
             format && strcmp(format, "ics") == 0 ? "ics" : "json",
             cli_has(args, "attachments") ? "&attachments=true" : "");
    if (talk_bytes(args, "GET", path, STR_NONE, &bytes, &err) < 0 ||
        write_out(args, &bytes, &err) < 0)
        return cli_fail(args, &err);
    if (file && strcmp(file, "-") != 0 && !cli_json(args))
        printf("Wrote %zu bytes to %s\n", bytes.n, file);
    return CLI_DONE;
}

static const struct cli_option export_options[] = {
    { .name = "format",
      .value = "FORMAT",
      .help = "json (everything; unless FILE ends with .ics) or ics",
      .choices = "json ics" },
    { .name = "attachments", .help = "with what attachments hold, in base64; json only" },
    { .name = NULL },
};

const struct cli_command cli_cmd_journal_export = {
    .name = "journal export",
    .operands = "[FILE]",
    .summary = "Writes the whole journal as JSON or iCalendar",
    .details = "Without FILE to standard output. The same journal gives the same bytes.",
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
    size_t shown = 0;

    if (jot_open(&jot, args) < 0)
        return jot_fail(&jot);
    words = jot_words(&jot, 0);
    if (!str_trim(words).n) {
        err_set(&jot.err, ERR_BAD_REQUEST, "WORD is empty: what is to be looked for?");
        return jot_fail(&jot);
    }
    buf_add_text(&path, "/api/v1/search?scope=journal");
    jot_query(&jot, &path, "q", arena_printf(&jot.arena, "%.*s", STR_ARG(words)));
    jot_query(&jot, &path, "limit", cli_value(args, "limit"));
    if (talk_ask(jot.talk, "GET", buf_text(&path), STR_NONE, &answer, &jot.err) < 0) {
        jot_refused(&jot);
        return jot_fail(&jot);
    }
    results = json_find(answer, "results");
    for (; results && shown < json_object_array_length(results); shown++) {
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
