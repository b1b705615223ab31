/* Reading the journal into the index: by its batches, so nothing is ever looked at twice for
 * nothing. A record that a batch names is read as it is now; one that is gone is taken out.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/log.h"
#include "base/utf8.h"
#include "db/db.h"
#include "find/find_int.h"
#include "journal/journal.h"

#define BATCHES 20 /* read at once: one may name thousands of records */

/* What of a record is searched, and what names it. */
static const struct source {
    enum record_type type;
    enum find_kind kind;
    const char *title, *text, *more;
} sources[] = {
    { RECORD_TASK, FIND_TASK, "title", "notes", NULL },
    { RECORD_CHECKLIST, FIND_CHECKLIST, "title", NULL, NULL },
    { RECORD_CHECKLIST_ITEM, FIND_CHECKLIST_ITEM, "title", NULL, NULL },
    { RECORD_TIME_ENTRY, FIND_TIME_ENTRY, "description", NULL, NULL },
    { RECORD_DAY_PLAN, FIND_DAY_PLAN, "planDate", "note", NULL },
    { RECORD_ENTRY, FIND_ENTRY, "title", "body", "subtype" },
};

static const struct source *source_of_type(enum record_type type)
{
    for (size_t i = 0; i < ARRAY_LEN(sources); i++)
        if (sources[i].type == type)
            return &sources[i];
    return NULL;
}

static struct str text_of(const struct record *record, const char *field)
{
    return field ? record_str(record, field) : STR_NONE;
}

/* ---- reading ---- */

static int add_record(struct find *find, const struct source *source, struct str id,
                      struct arena *arena, struct err *err)
{
    struct db *to = domain_db(find->config.index_domain);
    struct record record;
    const char *kind = find_kind_name(source->kind);
    struct find_document document = { .ref = arena_printf(arena, "%s:%.*s", kind, STR_ARG(id)),
                                      .kind = kind,
                                      .path = id };
    int r = journal_get(find->config.journal, source->type, id, arena, &record, err);

    if (r < 0 || find_drop(to, document.ref, err) < 0)
        return -1;
    if (r == 0)
        return 0;
    document.agent_id = STR("");
    document.at = record.updated_at;
    document.body = str_from(
        arena_printf(arena, "%.*s\n%.*s\n%.*s", STR_ARG(text_of(&record, source->title)),
                     STR_ARG(utf8_truncate(text_of(&record, source->text), FIND_BODY_BYTES)),
                     STR_ARG(text_of(&record, source->more))));
    if (!str_trim(document.body).n)
        return 0;
    return find_add(to, &document, err);
}

static int add_batch(struct find *find, const struct change_row *row, size_t *count,
                     struct err *err)
{
    for (size_t i = 0; i < row->unit_count; i++) {
        const struct source *source = source_of_type(record_type_of(row->unit[i].payload_type));
        AUTO_ARENA arena = ARENA_INIT;

        if (!source)
            continue;
        if (add_record(find, source, row->unit[i].payload_id, &arena, err) < 0)
            return -1;
        ++*count;
    }
    return 0;
}

/* Where reading goes on. A journal that ends before it is another one (a backup was put back). */
static int read_cursor(struct find *find, struct change_cursor *ret_at, struct err *err)
{
    struct db *db = domain_db(find->config.index_domain);
    struct change_cursor end;

    if (find_cursor_get(db, "journal", &ret_at->n, err) < 0 ||
        find_cursor_get(db, "journal.txid", &ret_at->txid, err) < 0 ||
        change_batches_end(journal_domain(find->config.journal), &end, err) < 0)
        return -1;
    if (ret_at->txid < end.txid || (ret_at->txid == end.txid && ret_at->n <= end.n))
        return 0;
    *ret_at = (struct change_cursor){ 0, 0 };
    return find_forget_all(find, err);
}

static int write_cursor(struct find *find, struct change_cursor at, struct err *err)
{
    struct db *db = domain_db(find->config.index_domain);

    return find_cursor_set(db, "journal", at.n, err) < 0
               ? -1
               : find_cursor_set(db, "journal.txid", at.txid, err);
}

/* One that can't be read is passed over: what else was written is found all the same. */
static int pass_damaged(struct find *find, struct change_cursor *at, const struct err *why,
                        struct err *err)
{
    LOG_WARN("find", "a change can't be read and is not indexed", LOG_ERR(why));
    if (change_batch_next(journal_domain(find->config.journal), *at, at, err) < 0)
        return -1;
    return write_cursor(find, *at, err);
}

/* The batches after the cursor; when one of them is damaged, those one by one. 1 there may be more.
 */
static int read_page(struct find *find, struct change_cursor *at, int limit, size_t *count,
                     struct err *err)
{
    AUTO_ARENA arena = ARENA_INIT;
    struct err why = ERR_INIT;
    struct change_row *rows;
    size_t n;

    if (change_batches_after(journal_domain(find->config.journal), *at, limit, &arena, &rows, &n,
                             &why) < 0) {
        if (why.code == ERR_INTEGRITY_FAILED && limit > 1)
            return read_page(find, at, 1, count, err);
        if (why.code == ERR_INTEGRITY_FAILED)
            return pass_damaged(find, at, &why, err) < 0 ? -1 : 1;
        *err = why;
        return -1;
    }
    for (size_t i = 0; i < n; i++)
        if (add_batch(find, &rows[i], count, err) < 0)
            return -1;
    if (n == 0)
        return 0;
    *at = rows[n - 1].at;
    return write_cursor(find, *at, err) < 0 ? -1 : n == (size_t)limit;
}

int find_read_journal(struct find *find, int limit, size_t *ret_count, struct err *err)
{
    struct change_cursor at;
    size_t count = 0;
    int more = 1;

    if (read_cursor(find, &at, err) < 0)
        return -1;
    while (more == 1 && count < (size_t)limit)
        more = read_page(find, &at, BATCHES, &count, err);
    if (more < 0)
        return -1;
    *ret_count = more ? (size_t)limit : 0;
    return 0;
}

/* ---- results ---- */

/* The task of an item is that of its checklist. */
static int name_task(struct find *find, const struct record *record, struct arena *arena,
                     struct find_result *result, struct err *err)
{
    struct record list;
    int r;

    if (record->type == RECORD_TASK)
        result->task_id = record->id;
    else if (record->type == RECORD_CHECKLIST || record->type == RECORD_TIME_ENTRY)
        result->task_id = record_str(record, "taskId");
    if (record->type != RECORD_CHECKLIST_ITEM)
        return 0;
    r = journal_get(find->config.journal, RECORD_CHECKLIST, record_str(record, "checklistId"),
                    arena, &list, err);
    if (r > 0)
        result->task_id = record_str(&list, "taskId");
    return r < 0 ? -1 : 0;
}

int find_record(struct find *find, enum find_kind kind, struct str id, struct arena *arena,
                struct find_result *ret_result, struct err *err)
{
    const struct source *source = NULL;
    struct record record;
    int r;

    for (size_t i = 0; i < ARRAY_LEN(sources); i++)
        if (sources[i].kind == kind)
            source = &sources[i];
    if (!source || !find->config.journal)
        return 0;
    r = journal_get(find->config.journal, source->type, id, arena, &record, err);
    if (r <= 0)
        return r;
    ret_result->kind = kind;
    ret_result->record_id = record.id;
    ret_result->path = STR_NONE;
    ret_result->title = text_of(&record, source->title);
    if (!ret_result->title.n)
        ret_result->title = utf8_truncate(text_of(&record, source->text), 120);
    return name_task(find, &record, arena, ret_result, err) < 0 ? -1 : 1;
}
