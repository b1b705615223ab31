/* Rows of tasks in the order of an index.
 *
 * A page begins after a key, never at an offset, so its cost does not grow with its number. Rows
 * are looked at in the index, which holds all that filters ask for; only those of the page are
 * read.
 *
 * SPDX-License-Identifier: MIT
 */
#include "journal/list_int.h"
#include "journal/record_store_int.h"

/* What the indexes hold, so that no row is read; updated_at they do not. */
#define COLUMNS "SELECT t.title, t.due, t.priority, t.n, t.status, t.category_id, "
#define FROM    "0 AS updated_at, 1 AS labelled FROM tasks t WHERE t.deleted_at IS NULL AND "
/* A text is looked for in thousands of rows, of which most are passed over: every column less is
 * noticed. */
#define LEAN                                                                                       \
    "SELECT t.title, t.due, t.priority, t.n, 0 AS updated_at FROM tasks t"                         \
    " WHERE t.deleted_at IS NULL AND "
#define JOINED                                                                                     \
    " CASE WHEN l.n IS NULL THEN 0 ELSE 1 END AS labelled FROM tasks t LEFT JOIN task_labels l"    \
    " ON l.label_id = ? AND l.task_id = t.id AND l.deleted_at IS NULL"                             \
    " WHERE t.deleted_at IS NULL AND "

#define AFTER_DUE                                                                                  \
    " AND (t.due, t.priority, t.n) > (?, ?, ?) ORDER BY t.due, t.priority, t.n LIMIT ?"
#define AFTER_PRIORITY                                                                             \
    " AND (t.priority, t.due, t.n) > (?, ?, ?) ORDER BY t.priority, t.due, t.n LIMIT ?"
#define AFTER_UPDATED "(t.updated_at, t.n) < (?, ?) ORDER BY t.updated_at DESC, t.n DESC LIMIT ?"

static const struct {
    struct sql plain, label, lean; /* lean: none where rows are not looked at for a text */
} drives[DRIVE_COUNT] = {
#define DRIVE(id, rest)                                                                            \
    [id] = { { COLUMNS FROM rest }, { COLUMNS "0 AS updated_at," JOINED rest }, { LEAN rest } }
    DRIVE(DRIVE_CLOSED_DUE, "t.closed = ?" AFTER_DUE),
    DRIVE(DRIVE_STATUS_DUE, "t.status = ?" AFTER_DUE),
    DRIVE(DRIVE_CATEGORY_DUE, "t.category_id = ? AND t.closed = ?" AFTER_DUE),
    DRIVE(DRIVE_CLOSED_PRIORITY, "t.closed = ?" AFTER_PRIORITY),
    [DRIVE_UPDATED] = { { COLUMNS "t.updated_at, 1 AS labelled FROM tasks t"
                                  " WHERE t.deleted_at IS NULL AND " AFTER_UPDATED },
                        { COLUMNS "t.updated_at," JOINED AFTER_UPDATED },
                        { NULL } },
#undef DRIVE
};

static void bind_key(struct stmt *q, const struct task_stream *stream)
{
    const struct task_key *at = &stream->at;

    if (stream->drive == DRIVE_UPDATED) {
        stmt_bind_i64(q, at->updated_at);
    } else if (stream->drive == DRIVE_CLOSED_PRIORITY) {
        stmt_bind_i64(q, at->priority);
        stmt_bind_str(q, at->due);
    } else {
        stmt_bind_str(q, at->due);
        stmt_bind_i64(q, at->priority);
    }
    stmt_bind_i64(q, at->n);
}

static void bind_stream(struct stmt *q, const struct task_stream *stream,
                        const struct task_wanted *wanted, int chunk)
{
    if (wanted->label)
        stmt_bind_str(q, wanted->filter->label_id);
    if (stream->drive == DRIVE_STATUS_DUE || stream->drive == DRIVE_CATEGORY_DUE)
        stmt_bind_str(q, stream->equal);
    if (stream->drive != DRIVE_STATUS_DUE && stream->drive != DRIVE_UPDATED)
        stmt_bind_i64(q, stream->closed);
    bind_key(q, stream);
    stmt_bind_i64(q, chunk);
}

static struct task_key read_key(struct stmt *q, struct arena *arena)
{
    return (struct task_key){ .due = arena_str(arena, stmt_str(q, "due")),
                              .priority = stmt_i64(q, "priority"),
                              .updated_at = stmt_i64(q, "updated_at"),
                              .n = stmt_i64(q, "n") };
}

/* lean: the index says the rest. */
static void read_if_wanted(struct stmt *q, const struct task_wanted *wanted, bool lean,
                           struct arena *arena, struct task_hits *hits)
{
    struct task_row row;

    if (!task_title_wanted(wanted, stmt_str(q, "title")))
        return;
    if (!lean) {
        row = (struct task_row){ .due = stmt_str(q, "due"),
                                 .status = stmt_str(q, "status"),
                                 .category_id = stmt_str(q, "category_id"),
                                 .labelled = stmt_bool(q, "labelled") };
        if (!task_row_wanted(wanted, &row))
            return;
    }
    ARENA_ROOM(arena, hits->at, hits->n, hits->room);
    hits->at[hits->n++] = (struct task_hit){ .key = read_key(q, arena) };
}

/* Nothing but the text has to be looked at: what else is asked for, the index gives. */
static bool is_lean(const struct task_stream *stream, const struct task_wanted *wanted)
{
    const struct task_filter *filter = wanted->filter;
    bool by_category = stream->drive == DRIVE_CATEGORY_DUE;

    return wanted->folded.n > 0 && !wanted->label && drives[stream->drive].lean.text &&
           filter->status.n == 0 && filter->due_from.n == 0 && filter->due_to.n == 0 &&
           (by_category || (wanted->category_id.n == 0 && (!filter->scope || filter->scope->all)));
}

int task_stream_fill(struct journal *journal, struct task_stream *stream,
                     const struct task_wanted *wanted, int chunk, size_t enough,
                     struct arena *arena, struct err *err)
{
    AUTO(stmt) q = NULL;
    struct task_hits hits = { .n = 0 };
    bool lean = is_lean(stream, wanted);
    int seen = 0, r;

    if (db_prepare(domain_db(journal->domain),
                   lean            ? drives[stream->drive].lean
                   : wanted->label ? drives[stream->drive].label
                                   : drives[stream->drive].plain,
                   &q, err) < 0)
        return -1;
    bind_stream(q, stream, wanted, chunk);
    while ((r = stmt_step(q, err)) == 1) {
        read_if_wanted(q, wanted, lean, arena, &hits);
        if (++seen < chunk && hits.n < enough)
            continue;
        stream->at = read_key(q, arena);
        break;
    }
    if (r < 0)
        return -1;
    stream->dry = r == 0;
    stream->hits = hits;
    stream->taken = 0;
    return seen;
}

/* ---- few ---- */

static const struct {
    struct sql count, load;
} few[] = {
    [FEW_BY_STATUS] = {
        { "SELECT count(*) AS n FROM (SELECT 1 FROM tasks WHERE status = ? AND deleted_at IS NULL"
          " LIMIT ?) AS few" },
        { COLUMNS "t.updated_at, 1 AS labelled FROM tasks t WHERE t.status = ?"
          " AND t.deleted_at IS NULL" },
    },
    [FEW_BY_CATEGORY] = {
        { "SELECT count(*) AS n FROM (SELECT 1 FROM tasks WHERE category_id = ?"
          " AND deleted_at IS NULL LIMIT ?) AS few" },
        { COLUMNS "t.updated_at, 1 AS labelled FROM tasks t WHERE t.category_id = ?"
          " AND t.deleted_at IS NULL" },
    },
    [FEW_BY_LABEL] = {
        { "SELECT count(*) AS n FROM (SELECT 1 FROM task_labels WHERE label_id = ?"
          " AND deleted_at IS NULL LIMIT ?) AS few" },
        { COLUMNS "t.updated_at, 1 AS labelled FROM task_labels l JOIN tasks t ON t.id = l.task_id"
          " WHERE l.label_id = ? AND l.deleted_at IS NULL AND t.deleted_at IS NULL" },
    },
};

int task_few_count(struct journal *journal, enum task_few by, struct str value, int max,
                   struct err *err)
{
    AUTO(stmt) q = NULL;

    if (db_prepare(domain_db(journal->domain), few[by].count, &q, err) < 0)
        return -1;
    stmt_bind_str(q, value);
    stmt_bind_i64(q, max);
    return stmt_step(q, err) != 1 ? -1 : (int)stmt_i64(q, "n");
}

int task_few_load(struct journal *journal, enum task_few by, struct str value,
                  const struct task_wanted *wanted, struct arena *arena, struct task_hits *ret_hits,
                  struct err *err)
{
    AUTO(stmt) q = NULL;
    int r;

    if (db_prepare(domain_db(journal->domain), few[by].load, &q, err) < 0)
        return -1;
    stmt_bind_str(q, value);
    *ret_hits = (struct task_hits){ .n = 0 };
    while ((r = stmt_step(q, err)) == 1)
        read_if_wanted(q, wanted, false, arena, ret_hits);
    return r;
}

/* ---- reading what was found ---- */

static int load_set(struct journal *journal, const struct task_hit *hits, size_t n,
                    struct arena *arena, struct record *tasks, struct err *err)
{
    AUTO(stmt) q = NULL;
    struct record task;
    int r;

    if (db_prepare(domain_db(journal->domain),
                   SQL(RECORD_SELECT(TASK) "WHERE deleted_at IS NULL AND n IN " MARKS), &q,
                   err) < 0)
        return -1;
    for (size_t i = 0; i < SET_MAX; i++)
        stmt_bind_i64(q, i < n ? hits[i].key.n : 0);
    while ((r = stmt_step(q, err)) == 1) {
        record_read(q, RECORD_TASK, arena, &task);
        for (size_t i = 0; i < n; i++) {
            if (hits[i].key.n == task.n)
                tasks[i] = task;
        }
    }
    return r;
}

int task_hits_load(struct journal *journal, const struct task_hit *hits, size_t n,
                   struct arena *arena, struct record *ret_tasks, size_t *ret_count,
                   struct err *err)
{
    size_t count = 0;

    for (size_t i = 0; i < n; i += SET_MAX) {
        if (load_set(journal, hits + i, n - i < SET_MAX ? n - i : SET_MAX, arena, ret_tasks + i,
                     err) < 0)
            return -1;
    }
    /* Who shares the database may have deleted one meanwhile. */
    for (size_t i = 0; i < n; i++) {
        if (ret_tasks[i].n != 0)
            ret_tasks[count++] = ret_tasks[i];
    }
    *ret_count = count;
    return 0;
}

/* ---- titles ---- */

/* Of all tasks, or of a category. */
static struct sql titles_sql(bool closed, bool category)
{
#define TITLES "SELECT id, title FROM tasks WHERE deleted_at IS NULL AND closed = ?"
    if (category)
        return closed ? SQL(TITLES " AND category_id = ? ORDER BY due DESC, priority DESC, n DESC"
                                   " LIMIT ?")
                      : SQL(TITLES " AND category_id = ? ORDER BY due, priority, n LIMIT ?");
    return closed ? SQL(TITLES " ORDER BY due DESC, priority DESC, n DESC LIMIT ?")
                  : SQL(TITLES " ORDER BY due, priority, n LIMIT ?");
#undef TITLES
}

int task_titles(struct journal *journal, bool closed, struct str category_id, int max,
                void (*each)(void *arg, struct str id, struct str title), void *arg,
                struct err *err)
{
    AUTO(stmt) q = NULL;
    int r;

    if (db_prepare(domain_db(journal->domain), titles_sql(closed, category_id.n > 0), &q, err) < 0)
        return -1;
    stmt_bind_i64(q, closed);
    if (category_id.n > 0)
        stmt_bind_str(q, category_id);
    stmt_bind_i64(q, max);
    while ((r = stmt_step(q, err)) == 1)
        each(arg, stmt_str(q, "id"), stmt_str(q, "title"));
    return r;
}
