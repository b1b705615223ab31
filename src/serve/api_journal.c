/* /journal: records of every type, driven by the tables of their fields.
 *
 * A write is one unit of the journal. What it answers is kept with it under the client's
 * Idempotency-Key, so that a client that lost the answer asks again and nothing is done twice.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json.h>

#include "agent/report.h"
#include "base/hash.h"
#include "base/timefmt.h"
#include "serve/api_journal_int.h"

#define KEY_MAX 150

struct journal *api_journal(struct serve_request *request)
{
    return api_of(request)->config.journal;
}

/* The type that stands in the pattern after /api/v1/journal/. */
static enum record_type type_of(struct serve_request *request)
{
    static const struct {
        const char *plural;
        enum record_type type;
    } types[] = {
#define X(id, plural, schema) { plural, RECORD_##id },
        API_RECORDS(X)
#undef X
    };
    struct str rest = str_from(serve_request_route(request)->pattern), segment;

    rest = str_skip(rest, strlen("/api/v1/journal/"));
    str_split(&rest, '/', &segment);
    for (size_t i = 0; i < ARRAY_LEN(types); i++)
        if (str_is(segment, types[i].plural))
            return types[i].type;
    return RECORD_NONE;
}

/* ---- versions ---- */

/* The same on every device: what was written, wherever. */
static const char *version_of(struct api_journal_work *work, const struct record *record)
{
    char hash[SHA256_TEXT_SIZE];

    sha256_text(record->vector_clock, hash);
    return arena_printf(work->arena, "%.16s", hash);
}

void api_journal_put_members(struct api_journal_work *work, const struct record *record)
{
    record_write_members(work->w, record);
    json_put_text(work->w, "version", version_of(work, record));
}

static void put_tag(struct api_journal_work *work)
{
    if (work->version)
        serve_reply_header(work->request, "ETag",
                           arena_printf(work->arena, "\"%s\"", work->version));
}

/* If-Match: who changes what others change too says which version was seen, with or without the
 * quotes of a tag: `version` in a record has none. */
static int check_version(struct api_journal_work *work, const struct record *record,
                         struct err *err)
{
    struct str rest = serve_request_header(work->request, "if-match"), tag;
    struct str quoted = str_from(arena_printf(work->arena, "\"%s\"", version_of(work, record)));
    struct str version = str_of(quoted.p + 1, quoted.n - 2);

    if (!rest.p)
        return 0;
    while (rest.p && str_split(&rest, ',', &tag)) {
        tag = str_trim(tag);
        if (str_is(tag, "*") || str_eq(tag, quoted) || str_eq(tag, version))
            return 0;
    }
    work->stale = true;
    return err_set(
        err, ERR_VERSION_CONFLICT,
        "%s \"%.*s\" was changed meanwhile: its version is %.*s; read it and decide anew",
        record_type_name(record->type), STR_ARG(record->id), STR_ARG(quoted));
}

/* ---- one write ---- */

/* Whoever has the token is the person. */
static int read_author(struct serve_request *request, struct journal_author *ret_author,
                       struct err *err)
{
    struct arena *arena = serve_request_arena(request);
    struct str key = serve_request_header(request, "idempotency-key");
    char hash[SHA256_TEXT_SIZE];

    *ret_author = (struct journal_author){ .kind = CHANGE_BY_HUMAN };
    if (!key.p)
        return 0;
    if (!key.n || key.n > KEY_MAX)
        return err_set(err, ERR_BAD_REQUEST, "Idempotency-Key must have 1 to %d characters",
                       KEY_MAX);
    api_hash_request(request, hash);
    ret_author->operation_id = str_from(arena_printf(arena, "http:%.*s", STR_ARG(key)));
    ret_author->operation = str_from(serve_request_route(request)->pattern);
    ret_author->arguments_hash = arena_str(arena, str_from(hash));
    return 0;
}

void api_journal_answer(struct serve_request *request, int status, struct str json)
{
    struct loop *loop = api_of(request)->config.loop;
    struct err err = ERR_INIT;

    if (loop_unit_begin(loop, journal_domain(api_journal(request)), &err) < 0) {
        serve_reply_error(request, &err);
        return;
    }
    if (status == 204)
        serve_reply_empty(request, 204);
    else
        serve_reply_json(request, status, json);
    loop_unit_end(loop, true, NULL);
}

static int work_in_unit(struct api_journal_work *work, const struct api_journal_job *job,
                        struct buf *json, struct err *err)
{
    int r = job->work(work, err);

    if (r >= 0 && job->status != 204 && json_write_end(work->w) < 0)
        r = err_set(err, ERR_TOO_LARGE, "the answer is longer than %zu bytes", json->max);
    if (r < 0) {
        journal_end(work->write, false, STR_NONE, NULL);
        return -1;
    }
    return journal_end(work->write, true, job->status == 204 ? STR("null") : buf_str(json), err);
}

static int do_once(struct api_journal_work *work, const struct api_journal_job *job,
                   struct buf *json, struct str *ret_answer, struct err *err)
{
    struct journal_author author;
    int r;

    if (!work->journal)
        return err_set(err, ERR_NOT_FOUND, "there is no journal here");
    if (read_author(work->request, &author, err) < 0)
        return -1;
    r = journal_begin(work->journal, &author, work->arena, &work->write, ret_answer, err);
    if (r <= 0)
        return r;
    if (work_in_unit(work, job, json, err) < 0)
        return -1;
    *ret_answer = buf_str(json);
    return 0;
}

static int check_members(struct json_object *body, const char *const *members, struct err *err)
{
    AUTO_BUF allowed = BUF_INIT(512);
    struct json_object_iter at;

    for (const char *const *name = members; *name; name++)
        buf_printf(&allowed, "%s%s", allowed.n ? ", " : "; allowed are ", *name);
    json_object_object_foreachC(body, at)
    {
        const char *const *name = members;

        while (*name && strcmp(*name, at.key) != 0)
            name++;
        if (!*name)
            return err_set(err, ERR_SCHEMA_VIOLATION, "/%.60s: unknown key%s", at.key,
                           buf_text(&allowed));
    }
    return 0;
}

void api_journal_do(struct serve_request *request, const struct api_journal_job *job)
{
    AUTO_BUF json = BUF_INIT(JOURNAL_PAGE_BYTES + LIMIT_JSON_BYTES);
    struct json_writer w = JSON_WRITER(&json);
    struct api_journal_work work = { .request = request,
                                     .journal = api_journal(request),
                                     .arena = serve_request_arena(request),
                                     .type = type_of(request),
                                     .w = &w };
    struct err err = ERR_INIT;
    AUTO_JSON body = NULL;
    struct str text = STR_NONE;

    if (api_check_query(request) < 0 || (!job->bytes && api_object(request, &body) < 0))
        return;
    work.body = body;
    if ((job->members && check_members(body, job->members, &err) < 0) ||
        do_once(&work, job, &json, &text, &err) < 0) {
        serve_reply_error_status(request, work.stale ? 412 : err_http_status(err.code), &err);
        return;
    }
    put_tag(&work);
    api_journal_answer(request, job->status, text);
}

void api_journal_look(struct serve_request *request,
                      int (*work)(struct api_journal_work *work, struct err *err))
{
    AUTO_BUF json = BUF_INIT(JOURNAL_PAGE_BYTES + LIMIT_JSON_BYTES);
    struct json_writer w = JSON_WRITER(&json);
    struct api_journal_work look = { .request = request,
                                     .journal = api_journal(request),
                                     .arena = serve_request_arena(request),
                                     .type = type_of(request),
                                     .w = &w };
    struct err err = ERR_INIT;

    if (api_check_query(request) < 0)
        return;
    if (!look.journal)
        err_set(&err, ERR_NOT_FOUND, "there is no journal here");
    if (err.code || work(&look, &err) < 0) {
        serve_reply_error(request, &err);
        return;
    }
    put_tag(&look);
    api_reply(request, 200, &json, &w);
}

/* ---- reading requests ---- */

int api_journal_record(struct api_journal_work *work, enum record_type type, struct str id,
                       bool any, struct record *ret_record, struct err *err)
{
    struct str whole;
    int r;

    if (journal_find_prefix(work->journal, type, id, work->arena, &whole, err) < 0)
        return -1;
    r = any ? journal_get_any(work->journal, type, whole, work->arena, ret_record, err)
            : journal_get(work->journal, type, whole, work->arena, ret_record, err);
    if (r == 0)
        return err_set(err, ERR_NOT_FOUND, "%s \"%.*s\" was deleted; POST .../restore undoes it",
                       record_type_name(type), STR_ARG(str_take(id, RECORD_ID_MAX)));
    return r < 0 ? -1 : 0;
}

int api_journal_texts(struct api_journal_work *work, const char *key, size_t max,
                      struct str **ret_texts, size_t *ret_count, struct err *err)
{
    struct json_object *list = NULL;
    size_t n;

    *ret_texts = NULL;
    *ret_count = 0;
    if (json_get_array(work->body, key, &list, err) < 0)
        return -1;
    n = json_length(list);
    if (n > max)
        return err_set(err, ERR_SCHEMA_VIOLATION, "/%s: has %zu items; at most %zu are allowed",
                       key, n, max);
    *ret_texts = ARENA_NEW_N(work->arena, struct str, n + 1);
    for (size_t i = 0; i < n; i++) {
        struct json_object *item = json_object_array_get_idx(list, i);

        if (!json_object_is_type(item, json_type_string))
            return err_set(err, ERR_SCHEMA_VIOLATION, "/%s/%zu: must be text, not %s", key, i,
                           json_type_name(item));
        (*ret_texts)[i] = json_str(item);
    }
    *ret_count = n;
    return 0;
}

static int read_moment(struct api_journal_work *work, const char *name, bool end, int64_t *ret_at,
                       struct err *err)
{
    struct str text = serve_request_query(work->request, name);
    struct err ignored = ERR_INIT;
    int64_t from, to;

    *ret_at = 0;
    if (!text.n)
        return 0;
    if (record_day_valid(text, false)) {
        if (journal_day_span(work->journal, text, &from, &to, err) < 0)
            return -1;
        *ret_at = end ? to : from;
        return 0;
    }
    if (timefmt_parse(text, ret_at, &ignored) == 0)
        return 0;
    return err_set(err, ERR_BAD_REQUEST,
                   "%s must be a day (2026-02-18) or a moment (2026-02-18T09:00:00Z), not \"%.*s\"",
                   name, STR_ARG(str_take(text, 40)));
}

int api_journal_span(struct api_journal_work *work, int64_t *ret_from, int64_t *ret_to,
                     struct err *err)
{
    if (read_moment(work, "from", false, ret_from, err) < 0 ||
        read_moment(work, "to", true, ret_to, err) < 0)
        return -1;
    return 0;
}

/* ---- writing answers ---- */

int api_journal_put_list(struct api_journal_work *work, const char *key,
                         const struct record *records, size_t count, struct err *err)
{
    struct record **labels = NULL;
    size_t *label_counts = NULL;
    bool tasks = count && records[0].type == RECORD_TASK;

    if (tasks &&
        task_labels_of(work->journal, records, count, work->arena, &labels, &label_counts, err) < 0)
        return -1;
    if (key) {
        json_put_array(work->w, key);
    }
    for (size_t i = 0; i < count; i++) {
        json_write_object_begin(work->w);
        api_journal_put_members(work, &records[i]);
        if (tasks) {
            json_put_array(work->w, "labelIds");
            for (size_t k = 0; k < label_counts[i]; k++)
                json_write_str(work->w, labels[i][k].id);
            json_write_array_end(work->w);
        }
        json_write_object_end(work->w);
    }
    if (key)
        json_write_array_end(work->w);
    return 0;
}

int api_journal_put(struct api_journal_work *work, const struct record *record, struct err *err)
{
    return api_journal_put_list(work, NULL, record, 1, err);
}

/* ---- lists ---- */

static struct str query_of(struct api_journal_work *work, const char *name)
{
    return serve_request_query(work->request, name);
}

/* Which query parameter says what of a filter; a route has those that its type knows. */
static int read_filter(struct api_journal_work *work, struct record_filter *filter, struct err *err)
{
    static const char *const parents[] = { "checklistId", "planId", "entryId" };
    struct str after = query_of(work, "after"), limit = query_of(work, "limit");
    int64_t number;

    *filter = (struct record_filter){ .type = work->type };
    for (size_t i = 0; i < ARRAY_LEN(parents) && !filter->parent.n; i++)
        filter->parent = query_of(work, parents[i]);
    if (work->type == RECORD_CHECKLIST)
        filter->parent = query_of(work, "taskId");
    else if (query_of(work, "taskId").n)
        filter->target_id = query_of(work, "taskId");
    else if (query_of(work, "targetId").n)
        filter->target_id = query_of(work, "targetId");
    filter->kind = query_of(work, work->type == RECORD_RATING ? "dimension" : "kind");
    filter->newest_first = str_is(query_of(work, "order"), "newest");
    if (query_of(work, "order").n && !filter->newest_first &&
        !str_is(query_of(work, "order"), "oldest"))
        return err_set(err, ERR_BAD_REQUEST, "order must be oldest or newest, not \"%.*s\"",
                       STR_ARG(str_take(query_of(work, "order"), 40)));
    if (after.n && (str_to_i64(after, &filter->after) < 0 || filter->after < 1))
        return err_set(err, ERR_BAD_REQUEST,
                       "after: \"%.*s\" is no cursor of this list; take `next` of the page before",
                       STR_ARG(str_take(after, 40)));
    if (limit.p && (str_to_i64(limit, &number) < 0 || number < 1 || number > 1000))
        return err_set(err, ERR_BAD_REQUEST, "limit must be a number from 1 to 1000, not \"%.*s\"",
                       STR_ARG(str_take(limit, 40)));
    filter->limit = limit.p ? (int)number : 0;
    return api_journal_span(work, &filter->from, &filter->to, err);
}

static int list_records(struct api_journal_work *work, struct err *err)
{
    struct record_filter filter;
    struct record *records;
    size_t n, shown = 0;
    bool more;

    if (read_filter(work, &filter, err) < 0 ||
        record_list(work->journal, &filter, work->arena, &records, &n, &more, err) < 0)
        return -1;
    json_write_object_begin(work->w);
    json_put_array(work->w, "items");
    for (; shown < n && work->w->out->n < JOURNAL_PAGE_BYTES; shown++)
        if (api_journal_put(work, &records[shown], err) < 0)
            return -1;
    json_write_array_end(work->w);
    if (more || shown < n)
        json_put_some_text(work->w, "next",
                           arena_printf(work->arena, "%lld", (long long)records[shown - 1].n));
    json_write_object_end(work->w);
    return 0;
}

void api_journal_list(struct serve_request *request)
{
    api_journal_look(request, list_records);
}

/* ---- one record ---- */

/* The id that a new record is to have, taken out of the body. */
static int take_id(struct api_journal_work *work, struct str *ret_id, struct err *err)
{
    struct str id = STR_NONE;

    if (json_get_str(work->body, "id", &id, err) < 0)
        return -1;
    *ret_id = arena_str(work->arena, id);
    json_object_object_del(work->body, "id");
    return 0;
}

/* Records were looked for by the journal, which knows nothing of reports. */
static int check_report(struct api_journal_work *work, const struct record *link, const char *type,
                        const char *id, struct err *err)
{
    int r;

    if (!str_is(record_str(link, type), RECORD_LINK_REPORT))
        return 0;
    r = report_is_there(api_of(work->request)->config.agent_domain, record_str(link, id), err);
    if (r == 0)
        return err_set(err, ERR_SCHEMA_VIOLATION,
                       "/%s: there is no " RECORD_LINK_REPORT " \"%.*s\"", id,
                       STR_ARG(record_str(link, id)));
    return r < 0 ? -1 : 0;
}

static int check_reports(struct api_journal_work *work, const struct record *record,
                         struct err *err)
{
    if (record->type != RECORD_ENTRY_LINK)
        return 0;
    if (check_report(work, record, "fromType", "fromId", err) < 0)
        return -1;
    return check_report(work, record, "toType", "toId", err);
}

static int create_record(struct api_journal_work *work, struct err *err)
{
    struct record record;
    struct str id, *labels;
    bool labelled = false;
    size_t n;

    if (take_id(work, &id, err) < 0 ||
        api_journal_take_labels(work, &labels, &n, &labelled, err) < 0 ||
        journal_create(work->write, work->type, id, work->body, &record, err) < 0 ||
        record_check_sense(&record, err) < 0 || check_reports(work, &record, err) < 0)
        return -1;
    if (labelled && task_set_labels(work->write, record.id, labels, n, true, err) < 0)
        return -1;
    work->version = version_of(work, &record);
    return api_journal_put(work, &record, err);
}

void api_journal_create(struct serve_request *request)
{
    api_journal_do(request, &(struct api_journal_job){ .status = 201, .work = create_record });
}

static int get_record(struct api_journal_work *work, struct err *err)
{
    struct record record;
    bool deleted;

    if (api_read_flag(work->request, "deleted", &deleted, err) < 0 ||
        api_journal_record(work, work->type, serve_request_param(work->request, "id"), true,
                           &record, err) < 0)
        return -1;
    if (record.deleted_at && !deleted)
        return err_set(err, ERR_NOT_FOUND, "%s \"%.*s\" was deleted; POST .../restore undoes it",
                       record_type_name(record.type), STR_ARG(record.id));
    work->version = version_of(work, &record);
    return record.type == RECORD_TASK ? api_journal_put_task(work, &record, err)
                                      : api_journal_put(work, &record, err);
}

void api_journal_get(struct serve_request *request)
{
    api_journal_look(request, get_record);
}

static int change_record(struct api_journal_work *work, struct err *err)
{
    struct record before, record;
    struct str *labels;
    bool labelled = false;
    size_t n;

    if (api_journal_record(work, work->type, serve_request_param(work->request, "id"), false,
                           &before, err) < 0 ||
        check_version(work, &before, err) < 0 ||
        api_journal_take_labels(work, &labels, &n, &labelled, err) < 0 ||
        journal_change(work->write, work->type, before.id, work->body, &record, err) < 0)
        return -1;
    if (record_check_sense(&before, NULL) == 0 && record_check_sense(&record, err) < 0)
        return -1;
    if (labelled && task_set_labels(work->write, record.id, labels, n, true, err) < 0)
        return -1;
    work->version = version_of(work, &record);
    return api_journal_put(work, &record, err);
}

void api_journal_change(struct serve_request *request)
{
    api_journal_do(request, &(struct api_journal_job){ .status = 200, .work = change_record });
}

static int remove_record(struct api_journal_work *work, struct err *err)
{
    struct record record;

    if (api_journal_record(work, work->type, serve_request_param(work->request, "id"), true,
                           &record, err) < 0 ||
        check_version(work, &record, err) < 0)
        return -1;
    return journal_remove(work->write, work->type, record.id, err);
}

void api_journal_remove(struct serve_request *request)
{
    api_journal_do(
        request, &(struct api_journal_job){ .status = 204, .bytes = true, .work = remove_record });
}

static int restore_record(struct api_journal_work *work, struct err *err)
{
    struct record record;

    if (api_journal_record(work, work->type, serve_request_param(work->request, "id"), true,
                           &record, err) < 0 ||
        journal_restore(work->write, work->type, record.id, err) < 0 ||
        api_journal_record(work, work->type, record.id, false, &record, err) < 0)
        return -1;
    return api_journal_put(work, &record, err);
}

void api_journal_restore(struct serve_request *request)
{
    static const char *const members[] = { NULL };

    api_journal_do(request, &(struct api_journal_job){
                                .status = 200, .members = members, .work = restore_record });
}
