/* /journal/import and /journal/export.
 *
 * A file is read whole before anything is made; what can't be read of it refuses it, unless the
 * client says that such lines may be left out. Records are made a part at a time (offset, limit),
 * so that a long file does not keep everybody else waiting.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>

#include "change/taint.h"
#include "journal/export.h"
#include "journal/import.h"
#include "serve/api_journal_int.h"

#define STEP_MAX     10000
#define SHOWN_MAX    100
#define EXPORT_BYTES (512u * MIB)
/* Labels and items of a record are units of their own, of which one write has a limit. */
#define UNITS_MAX 9000

static int read_number(struct serve_request *request, const char *name, int64_t min, int64_t max,
                       int64_t *value, struct err *err)
{
    struct str text = serve_request_query(request, name);

    if (!text.p)
        return 0;
    if (str_to_i64(text, value) < 0 || *value < min || *value > max)
        return err_set(err, ERR_BAD_REQUEST, "%s must be a number from %lld to %lld", name,
                       (long long)min, (long long)max);
    return 0;
}

static int read_file(struct api_journal_work *work, struct import *ret_import, struct err *err)
{
    struct str name = serve_request_query(work->request, "format");
    enum import_format format = import_format_of(name);

    if (!format)
        return err_set(err, ERR_BAD_REQUEST,
                       "format must be csv, todotxt, markdown, ics or json, not \"%.*s\"",
                       STR_ARG(str_take(name, 40)));
    return import_read(format, serve_request_body(work->request), journal_zone(work->journal),
                       work->arena, ret_import, err);
}

/* ---- answers ---- */

static void put_problems(struct json_writer *w, const struct import *import)
{
    size_t n =
        import->problem_count < IMPORT_PROBLEMS_MAX ? import->problem_count : IMPORT_PROBLEMS_MAX;

    json_put_i64(w, "problemCount", (int64_t)import->problem_count);
    json_put_array(w, "problems");
    for (size_t i = 0; i < n; i++) {
        json_write_object_begin(w);
        json_put_i64(w, "line", (int64_t)import->problems[i].line);
        json_put_some_str(w, "message", import->problems[i].text);
        json_write_object_end(w);
    }
    json_write_array_end(w);
}

static void put_texts(struct json_writer *w, const char *key, const struct str *texts, size_t n)
{
    if (!n)
        return;
    json_put_array(w, key);
    for (size_t i = 0; i < n; i++)
        json_write_str(w, texts[i]);
    json_write_array_end(w);
}

static void put_record(struct json_writer *w, const struct import_record *record)
{
    json_write_object_begin(w);
    json_put_i64(w, "line", (int64_t)record->line);
    json_put_some_str(w, "type",
                      record->whole       ? str_from(record_type_name(record->whole->type))
                      : !record->is_event ? STR("task")
                      : record->kind.n    ? record->kind
                                          : STR("event"));
    json_put_some_str(w, "id", record->id);
    json_put_some_str(w, "title", record->title);
    json_put_some_str(w, "status", record->status);
    json_put_some_str(w, "priority", record->priority);
    json_put_some_str(w, "due", record->due);
    json_put_some_str(w, "category", record->category);
    json_put_some_str(w, "notes", record->notes);
    put_texts(w, "labels", record->labels, record->label_count);
    if (record->estimate_min)
        json_put_i64(w, "estimateMinutes", record->estimate_min);
    if (record->item_count)
        json_put_i64(w, "items", (int64_t)record->item_count);
    json_put_some_time(w, "at", record->begin);
    json_put_some_time(w, "closedAt", record->closed);
    json_write_object_end(w);
}

static void put_sample(struct json_writer *w, const struct import *import)
{
    json_put_array(w, "records");
    for (size_t i = 0; i < import->count && i < SHOWN_MAX && w->out->n < JOURNAL_PAGE_BYTES; i++)
        put_record(w, &import->records[i]);
    json_write_array_end(w);
}

static void put_counts(struct json_writer *w, const struct import_result *result)
{
    json_put_object(w, "counts");
    json_put_i64(w, "tasks", (int64_t)result->tasks);
    json_put_i64(w, "events", (int64_t)result->events);
    if (result->time_entries)
        json_put_i64(w, "timeEntries", (int64_t)result->time_entries);
    if (result->entries)
        json_put_i64(w, "entries", (int64_t)result->entries);
    json_put_i64(w, "categories", (int64_t)result->categories);
    if (result->others)
        json_put_i64(w, "others", (int64_t)result->others);
    json_put_i64(w, "there", (int64_t)result->there);
    if (result->deleted)
        json_put_i64(w, "deleted", (int64_t)result->deleted);
    json_write_object_end(w);
}

/* ---- importing ---- */

/* How many records from offset on may go into one write. */
static size_t step_of(const struct import *import, size_t offset, size_t limit)
{
    size_t units = 0, n = 0;

    while (n < limit && offset + n < import->count) {
        const struct import_record *record = &import->records[offset + n];

        units += 4 + 2 * record->label_count + record->item_count;
        if (n && units > UNITS_MAX)
            break;
        n++;
    }
    return n;
}

static int refuse_problems(const struct import *import, struct err *err)
{
    const struct import_problem *first = &import->problems[0];
    char line[32] = "";

    if (first->line)
        snprintf(line, sizeof(line), "line %zu: ", first->line);
    return err_set(err, ERR_SCHEMA_VIOLATION,
                   "%s%.*s%s; nothing was imported (preview=true lists all problems, "
                   "skipBad=true leaves such lines out)",
                   line, STR_ARG(str_take(first->text, 200)),
                   import->problem_count > 1 ? ", and more" : "");
}

/* What a file holds are somebody else's words, whoever brings it in. */
static struct str taint_of(struct api_journal_work *work, const struct import *import)
{
    struct str name = serve_request_query(work->request, "name");

    if (!name.n)
        name = str_from(arena_printf(work->arena, "a file in the format %s",
                                     import_format_name(import->format)));
    return taint_source(TAINT_IMPORT, name, work->arena);
}

/* One write. Its ids follow from the file, so it needs no key to be asked for twice. */
static int import_step(struct api_journal_work *work, const struct import *import, size_t from,
                       size_t count, struct import_result *result, struct err *err)
{
    struct str id = serve_request_query(work->request, "import"), done;
    struct journal_author author = { .kind = CHANGE_BY_HUMAN, .taint = taint_of(work, import) };
    int r;

    if (id.n) {
        author.operation_id = import_step_id(id, from, work->arena);
        author.operation = STR("import");
    }
    r = journal_begin(work->journal, &author, work->arena, &work->write, &done, err);
    if (r <= 0) {
        result->there += r == 0 ? count : 0;
        return r;
    }
    if (import_apply(work->write, import, from, count, result, err) < 0) {
        journal_end(work->write, false, STR_NONE, NULL);
        return -1;
    }
    return journal_end(work->write, true, id.n ? import_made(work->write, work->arena) : STR_NONE,
                       err);
}

static int import_records(struct api_journal_work *work, const struct import *import,
                          size_t *offset, size_t limit, struct import_result *result,
                          struct err *err)
{
    while (limit && *offset < import->count) {
        size_t step = step_of(import, *offset, limit);

        if (import_step(work, import, *offset, step, result, err) < 0)
            return -1;
        *offset += step;
        limit -= step;
    }
    return 0;
}

static void put_names(struct json_writer *w, const char *key, const struct import_names *names)
{
    put_texts(w, key, names->names,
              names->count < IMPORT_NAMES_MAX ? names->count : IMPORT_NAMES_MAX);
}

static int do_import(struct api_journal_work *work, struct err *err)
{
    struct import_result result = { .tasks = 0 };
    struct import_look *look = ARENA_NEW(work->arena, struct import_look);
    struct import import;
    int64_t first = 0, limit = STEP_MAX;
    bool preview, skip_bad;
    size_t offset;

    if (api_read_flag(work->request, "preview", &preview, err) < 0 ||
        api_read_flag(work->request, "skipBad", &skip_bad, err) < 0 ||
        read_number(work->request, "offset", 0, IMPORT_RECORDS_MAX, &first, err) < 0 ||
        read_number(work->request, "limit", 1, STEP_MAX, &limit, err) < 0 ||
        read_file(work, &import, err) < 0)
        return -1;
    if (serve_request_query(work->request, "import").n &&
        !import_id_valid(serve_request_query(work->request, "import")))
        return err_set(err, ERR_BAD_REQUEST, "import must be an id of at most 40 characters");
    offset = (size_t)first;
    if (!preview && import.problem_count && !skip_bad)
        return refuse_problems(&import, err);
    if (preview && import_look(work->journal, &import, work->arena, look, err) < 0)
        return -1;
    if (preview)
        result = look->counts;
    else if (import_records(work, &import, &offset, (size_t)limit, &result, err) < 0)
        return -1;
    json_write_object_begin(work->w);
    json_put_some_text(work->w, "format", import_format_name(import.format));
    json_put_i64(work->w, "total", (int64_t)import.count);
    json_put_bool(work->w, "preview", preview);
    put_counts(work->w, &result);
    put_problems(work->w, &import);
    if (import.left_out)
        json_put_i64(work->w, "leftOut", (int64_t)import.left_out);
    put_names(work->w, "newCategories", &look->categories);
    put_names(work->w, "newLabels", &look->labels);
    if (preview)
        put_sample(work->w, &import);
    else if (offset < import.count)
        json_put_i64(work->w, "next", (int64_t)offset);
    json_write_object_end(work->w);
    return 0;
}

void api_journal_import(struct serve_request *request)
{
    AUTO_BUF json = BUF_INIT(JOURNAL_PAGE_BYTES + LIMIT_JSON_BYTES);
    struct json_writer w = JSON_WRITER(&json);
    struct api_journal_work work = { .request = request,
                                     .journal = api_journal(request),
                                     .arena = serve_request_arena(request),
                                     .w = &w };
    struct err err = ERR_INIT;

    if (api_check_query(request) < 0)
        return;
    if (!work.journal)
        err_set(&err, ERR_NOT_FOUND, "there is no journal here");
    if (err.code || do_import(&work, &err) < 0)
        serve_reply_error(request, &err);
    else
        api_journal_answer(request, 200, buf_str(&json));
}

/* ---- taking it back ---- */

void api_journal_import_undo(struct serve_request *request)
{
    AUTO_BUF json = BUF_INIT(LIMIT_JSON_BYTES);
    struct json_writer w = JSON_WRITER(&json);
    struct import_undone undone;
    struct err err = ERR_INIT;
    int r;

    if (api_check_query(request) < 0)
        return;
    r = api_journal(request) ? import_undo(api_journal(request), serve_request_param(request, "id"),
                                           serve_request_arena(request), &undone, &err)
                             : err_set(&err, ERR_NOT_FOUND, "there is no journal here");
    if (r < 0) {
        serve_reply_error(request, &err);
        return;
    }
    json_write_object_begin(&w);
    json_put_i64(&w, "removed", (int64_t)undone.removed);
    json_put_i64(&w, "kept", (int64_t)undone.kept);
    json_write_object_end(&w);
    api_journal_answer(request, 200, buf_str(&json));
}

/* ---- exporting ---- */

void api_journal_export(struct serve_request *request)
{
    AUTO_BUF out = BUF_INIT(EXPORT_BYTES);
    struct str format = serve_request_query(request, "format");
    bool ics = str_is(format, "ics");
    struct err err = ERR_INIT;
    bool attachments;
    int r;

    if (api_check_query(request) < 0)
        return;
    r = api_read_flag(request, "attachments", &attachments, &err);
    if (r == 0 && !api_journal(request))
        r = err_set(&err, ERR_NOT_FOUND, "there is no journal here");
    else if (r == 0 && !ics && format.n && !str_is(format, "json"))
        r = err_set(&err, ERR_BAD_REQUEST, "format must be json or ics, not \"%.*s\"",
                    STR_ARG(str_take(format, 40)));
    else if (r == 0)
        r = ics ? export_ics(api_journal(request), &out, &err)
                : export_json(api_journal(request), attachments, &out, &err);
    if (r < 0) {
        serve_reply_error(request, &err);
        return;
    }
    serve_reply_header(request, "Content-Disposition",
                       ics ? "attachment; filename=\"journal.ics\""
                           : "attachment; filename=\"journal.json\"");
    serve_reply_text(request, 200, ics ? "text/calendar; charset=utf-8" : "application/json",
                     buf_str(&out));
}
