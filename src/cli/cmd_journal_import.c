/* dormouse journal import: tasks of other programs, and journals that were exported.
 *
 * Everything is previewed before anything is made. A long file is made a part at a time, so that
 * the daemon has a moment for others; an export that is longer than one request holds is cut
 * between its records.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/limits.h"
#include "base/rand.h"
#include "base/uuid.h"
#include "cli/cli_int.h"
#include "cli/commands_int.h"
#include "cli/jot.h"
#include "cli/journal_parts.h"
#include "cli/term.h"
#include "journal/import.h"

#define STEP          1000 /* records made in one request, and more of a long file: */
#define REQUESTS      20   /* each request reads the file again */
#define PROBLEMS_SAID 20
#define ID_SIZE       9            /* short enough to be typed */
#define FILE_BYTES    (512u * MIB) /* as long as an export may be */

struct sums {
    int64_t tasks, events, time_entries, entries, categories, others, there, deleted;
};

/* One pass over the parts of a file. */
struct importing {
    struct journal_parts_use use;
    struct jot *jot;
    const char *format;
    struct json_object *preview; /* of the first part */
    size_t parts, made_parts;
    char id[ID_SIZE];  /* of the file: by this it is taken back, however often it was begun */
    char run[ID_SIZE]; /* of this time */
    int64_t problems, total, there, deleted, left_out;
    struct sums sums;
};

/* ---- reading ---- */

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

static int64_t number(struct json_object *answer, const char *key)
{
    int64_t n = 0;

    return json_get_i64(answer, key, &n, NULL) > 0 ? n : 0;
}

static int ask_import(struct importing *in, const char *more, struct str text,
                      struct json_object **ret_answer)
{
    struct jot *jot = in->jot;
    const char *file = cli_operand(jot->args, 0), *slash = strrchr(file, '/');
    const char *path =
        arena_printf(&jot->arena, "/api/v1/journal/import?format=%s&name=%s%s",
                     jot_part(jot, in->format), jot_part(jot, slash ? slash + 1 : file), more);

    *ret_answer = NULL;
    return talk_ask(jot->talk, "POST", path, text, ret_answer, &jot->err);
}

/* ---- looking ---- */

/* Of a file in parts, places count from the beginning of a part. */
static void print_problems(const struct importing *in, struct json_object *answer)
{
    struct json_object *problems = json_find(answer, "problems");
    size_t n = json_length(problems);

    for (size_t i = 0; i < n && i < PROBLEMS_SAID; i++) {
        struct json_object *problem = json_object_array_get_idx(problems, i);
        AUTO_BUF line = BUF_INIT(4 * KIB);

        if (in->parts)
            buf_printf(&line, "part %zu: ", in->parts + 1);
        if (number(problem, "line"))
            buf_printf(&line, "line %lld: ", (long long)number(problem, "line"));
        buf_printf(&line, "%.*s\n", STR_ARG(jot_member(problem, "message")));
        term_text(stderr, buf_text(&line));
    }
    if (number(answer, "problemCount") > PROBLEMS_SAID)
        fprintf(stderr, "... and %lld more\n",
                (long long)number(answer, "problemCount") - PROBLEMS_SAID);
}

static int preview_part(struct journal_parts_use *use, struct str text, size_t known,
                        struct err *err)
{
    struct importing *in = CONTAINER_OF(use, struct importing, use);
    struct json_object *answer = NULL;

    (void)err;
    if (ask_import(in, "&preview=true", text, &answer) < 0)
        return -1;
    if (!cli_json(in->jot->args))
        print_problems(in, answer);
    in->problems += number(answer, "problemCount");
    in->total += number(answer, "total") - (int64_t)known;
    in->left_out += number(answer, "leftOut");
    /* Of what comes in parts nobody knows before the first is made. */
    in->there = in->parts ? 0 : number(json_find(answer, "counts"), "there");
    in->deleted = in->parts ? 0 : number(json_find(answer, "counts"), "deleted");
    if (in->parts++ == 0)
        in->preview = json_object_get(answer);
    json_object_put(answer);
    return 0;
}

static void print_records(struct importing *in)
{
    struct json_object *records = json_find(in->preview, "records");
    size_t n = json_length(records);
    struct jot *jot = in->jot;

    for (size_t i = 0; i < n; i++) {
        struct json_object *record = json_object_array_get_idx(records, i);
        char when[JOT_WHEN_SIZE];

        printf("%-9.*s ", STR_ARG(jot_member(record, "type")));
        term_text(stdout, arena_printf(&jot->arena, "%.*s", STR_ARG(jot_member(record, "title"))));
        if (jot_member(record, "due").n)
            printf("  due %s", jot_when(jot, jot_member(record, "due"), when));
        putchar('\n');
    }
    if ((int64_t)n < in->total)
        printf("... and %lld more\n", (long long)in->total - (long long)n);
}

static void print_names(struct importing *in, const char *key, const char *before)
{
    AUTO_BUF all = BUF_INIT(64 * KIB);
    struct json_object *names = json_find(in->preview, key);

    for (size_t i = 0; i < json_length(names); i++)
        buf_printf(&all, "%s%.*s", i ? ", " : "",
                   STR_ARG(json_str(json_object_array_get_idx(names, i))));
    if (all.n)
        jot_line(in->jot, before, buf_str(&all));
}

static void print_deleted(int64_t n)
{
    if (n)
        printf("; %lld %s deleted here (`dormouse journal restore ID` brings one back)",
               (long long)n, n == 1 ? "was" : "were");
}

static int say_preview(struct importing *in)
{
    if (cli_json(in->jot->args)) {
        json_object_object_add(in->preview, "total", json_object_new_int64(in->total));
        json_object_object_add(in->preview, "problemCount", json_object_new_int64(in->problems));
        jot_print(in->jot, json_object_get(in->preview));
    } else {
        print_records(in);
        print_names(in, "newCategories", "new categories: ");
        print_names(in, "newLabels", "new labels: ");
        printf("%lld would be made", (long long)(in->total - in->there - in->deleted));
        if (in->there)
            printf("; %lld %s there already", (long long)in->there, in->there == 1 ? "is" : "are");
        print_deleted(in->deleted);
        if (in->problems)
            printf("; %lld can't be read", (long long)in->problems);
        putchar('\n');
    }
    return in->problems ? CLI_FAILED : CLI_DONE;
}

/* ---- making ---- */

static void add_sums(struct sums *sums, struct json_object *answer)
{
    struct json_object *made = json_find(answer, "counts");

    sums->tasks += number(made, "tasks");
    sums->events += number(made, "events");
    sums->time_entries += number(made, "timeEntries");
    sums->entries += number(made, "entries");
    sums->categories += number(made, "categories");
    sums->others += number(made, "others");
    sums->there += number(made, "there");
    sums->deleted += number(made, "deleted");
}

static int make_part(struct journal_parts_use *use, struct str text, size_t known, struct err *err)
{
    struct importing *in = CONTAINER_OF(use, struct importing, use);
    const char *skip = cli_has(in->jot->args, "skip-bad") ? "&skipBad=true" : "";
    int64_t offset = (int64_t)known, total = in->total,
            step = total / REQUESTS > STEP ? total / REQUESTS : STEP;
    struct term_progress progress;
    int r = 0;

    (void)err;
    term_progress_init(&progress, "importing", stderr, false);
    while (r == 0 && offset >= 0) {
        AUTO_JSON answer = NULL;
        const char *more =
            arena_printf(&in->jot->arena, "&offset=%lld&limit=%lld%s&import=%s.%s.%zu",
                         (long long)offset, (long long)step, skip, in->id, in->run, in->made_parts);

        r = ask_import(in, more, text, &answer);
        if (r < 0)
            break;
        add_sums(&in->sums, answer);
        offset = -1;
        json_get_i64(answer, "next", &offset, NULL);
        term_progress_update(&progress, offset < 0 ? total : offset, total);
    }
    term_progress_end(&progress);
    in->made_parts++;
    return r;
}

static void print_undo(FILE *to, const struct importing *in)
{
    fprintf(to, "`dormouse journal import undo %s` takes it back, within 48 hours\n", in->id);
}

/* "2 tasks, 1 event and 3 entries". Categories are records of an exported journal; of other files
 * they come along. */
static void print_made(const struct importing *in)
{
    const struct sums *sums = &in->sums;
    const struct {
        int64_t n;
        const char *one, *many;
    } all[] = {
        { sums->tasks, "task", "tasks" },
        { sums->events, "event", "events" },
        { sums->time_entries, "time entry", "time entries" },
        { sums->entries, "entry", "entries" },
        { strcmp(in->format, "json") == 0 ? sums->categories : 0, "category", "categories" },
        { sums->others, "other record", "other records" },
    };
    size_t left = 0, said = 0;

    for (size_t i = 0; i < ARRAY_LEN(all); i++)
        left += all[i].n > 0;
    printf("Made%s", left ? "" : " 0 tasks");
    for (size_t i = 0; i < ARRAY_LEN(all); i++) {
        if (!all[i].n)
            continue;
        printf("%s%lld %s",
               !said++    ? " "
               : left > 1 ? ", "
                          : " and ",
               (long long)all[i].n, all[i].n == 1 ? all[i].one : all[i].many);
        left--;
    }
}

static void print_sums(const struct importing *in)
{
    const struct sums *sums = &in->sums;
    int64_t others = sums->events + sums->time_entries + sums->entries + sums->others;

    print_made(in);
    if (sums->there)
        printf("; %lld %s there already", (long long)sums->there,
               sums->there == 1 ? "was" : "were");
    print_deleted(sums->deleted);
    if (in->problems)
        printf("; %lld line%s left out", (long long)in->problems,
               in->problems == 1 ? " was" : "s were");
    putchar('\n');
    if (sums->tasks + others + sums->categories)
        print_undo(stdout, in);
    if (in->left_out)
        fprintf(stderr, "%lld attachment%s left out: the export was made without what they hold\n",
                (long long)in->left_out, in->left_out == 1 ? " was" : "s were");
}

static void print_sums_json(const struct importing *in)
{
    struct json_object *out = json_object_new_object();
    const struct sums *sums = &in->sums;

    json_object_object_add(out, "tasks", json_object_new_int64(sums->tasks));
    json_object_object_add(out, "events", json_object_new_int64(sums->events));
    if (sums->time_entries)
        json_object_object_add(out, "timeEntries", json_object_new_int64(sums->time_entries));
    if (sums->entries)
        json_object_object_add(out, "entries", json_object_new_int64(sums->entries));
    json_object_object_add(out, "categories", json_object_new_int64(sums->categories));
    if (sums->others)
        json_object_object_add(out, "others", json_object_new_int64(sums->others));
    json_object_object_add(out, "there", json_object_new_int64(sums->there));
    if (sums->deleted)
        json_object_object_add(out, "deleted", json_object_new_int64(sums->deleted));
    json_object_object_add(out, "problems", json_object_new_int64(in->problems));
    json_object_object_add(out, "importId", json_object_new_string(in->id));
    if (in->left_out)
        json_object_object_add(out, "leftOut", json_object_new_int64(in->left_out));
    cli_print_json(out);
}

static int each_part(struct importing *in, struct str text,
                     int (*part)(struct journal_parts_use *use, struct str text, size_t known,
                                 struct err *err))
{
    in->use.part = part;
    if (strcmp(in->format, "json") != 0)
        return part(&in->use, text, 0, &in->jot->err);
    return journal_parts(text, IMPORT_BYTES_MAX, &in->use, &in->jot->err);
}

/* The id of a file follows from what it says. */
static void choose_ids(struct importing *in, struct str text)
{
    struct uuid_source source;
    char hash[SHA256_TEXT_SIZE], uuid[UUID_TEXT_SIZE];

    sha256_text(text, hash);
    snprintf(in->id, ID_SIZE, "%s", hash);
    uuid_source_init(&source, clock_system(), rand_system());
    uuid_next_text(&source, uuid);
    snprintf(in->run, ID_SIZE, "%s", uuid + UUID_TEXT_SIZE - ID_SIZE);
}

static int import_file(struct importing *in, struct str text)
{
    struct jot *jot = in->jot;

    if (each_part(in, text, preview_part) < 0)
        return jot_fail(jot);
    if (cli_has(jot->args, "preview"))
        return say_preview(in);
    if (in->problems && !cli_has(jot->args, "skip-bad")) {
        err_set(&jot->err, ERR_SCHEMA_VIOLATION,
                "%lld line%s can't be read; nothing was imported. --skip-bad leaves %s out",
                (long long)in->problems, in->problems == 1 ? "" : "s",
                in->problems == 1 ? "it" : "them");
        return jot_fail(jot);
    }
    choose_ids(in, text);
    if (in->total > STEP && !cli_json(jot->args)) /* it may be interrupted */
        print_undo(stderr, in);
    if (each_part(in, text, make_part) < 0)
        return jot_fail(jot);
    if (cli_json(jot->args))
        print_sums_json(in);
    else
        print_sums(in);
    return in->problems ? CLI_FAILED : CLI_DONE;
}

static int run_import(const struct cli_args *args)
{
    AUTO_BUF text = BUF_INIT(FILE_BYTES);
    AUTO_JOT jot;
    struct importing in = { .jot = &jot };
    int r;

    if (jot_open(&jot, args) < 0 || read_file(&jot, &text, &in.format) < 0)
        return jot_fail(&jot);
    r = import_file(&in, buf_str(&text));
    json_object_put(in.preview);
    return r;
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
    .details =
        "A file that can't be read whole is refused, unless --skip-bad is given; then the exit "
        "code is 1 when something was left out. The same file imported again makes nothing "
        "twice, and goes on where it was interrupted. Files of Todoist and Toggl are read as they "
        "are; other CSV needs a line of column names: "
        "title, due, priority, status, completed, category, labels, estimate, notes. JSON is what "
        "`dormouse journal export` wrote. - is standard input.",
    .options = import_options,
    .operands_min = 1,
    .operands_max = 1,
    .run = run_import,
};

/* ---- taking it back ---- */

static int run_undo(const struct cli_args *args)
{
    AUTO_JSON answer = NULL;
    AUTO_JOT jot;

    if (jot_open(&jot, args) < 0 || jot_ask(&jot, "POST", NULL, &answer, "import/%s/undo",
                                            jot_part(&jot, cli_operand(args, 0))) < 0)
        return jot_fail(&jot);
    if (cli_json(args))
        return jot_print(&jot, json_object_get(answer));
    printf("Deleted %lld", (long long)number(answer, "removed"));
    if (number(answer, "kept"))
        printf("; %lld in use %s kept", (long long)number(answer, "kept"),
               number(answer, "kept") == 1 ? "was" : "were");
    putchar('\n');
    return CLI_DONE;
}

const struct cli_command cli_cmd_journal_import_undo = {
    .name = "journal import undo",
    .operands = "ID",
    .summary = "Deletes what an import made",
    .details =
        "Within 48 hours; the import said the ID. An import that was begun several times is taken "
        "back as a whole. What was there before stays, and so do "
        "categories that something else uses by now. Importing the file again within those hours "
        "makes it again; `dormouse journal restore` brings single records back.",
    .operands_min = 1,
    .operands_max = 1,
    .run = run_undo,
};
