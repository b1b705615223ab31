/* Which task has which label. A pair keeps its row: taken away it is a tombstone, given again it is
 * the same row.
 *
 * SPDX-License-Identifier: MIT
 */
#include "db/db.h"
#include "journal/journal_int.h"

#define SELECT_LABELS                                                                              \
    "SELECT n, task_id, label_id, deleted_at, vector_clock FROM task_labels WHERE "

static void read_row(struct stmt *q, struct arena *arena, struct task_label *ret_row)
{
    *ret_row = (struct task_label){
        .n = stmt_i64(q, "n"),
        .task_id = arena_str(arena, stmt_str(q, "task_id")),
        .label_id = arena_str(arena, stmt_str(q, "label_id")),
        .deleted_at = stmt_i64(q, "deleted_at"),
        .vector_clock = arena_str(arena, stmt_str(q, "vector_clock")),
    };
}

int task_labels_load(struct journal *journal, struct str task_id, struct str label_id,
                     struct arena *arena, struct task_label **ret_rows, size_t *ret_count,
                     struct err *err)
{
    AUTO(stmt) q = NULL;
    struct task_label *rows = NULL;
    size_t count = 0, room = 0;
    int r;

    if (db_prepare(domain_db(journal->domain),
                   task_id.n ? SQL(SELECT_LABELS "task_id = ? ORDER BY n")
                             : SQL(SELECT_LABELS "label_id = ? ORDER BY n"),
                   &q, err) < 0)
        return -1;
    stmt_bind_str(q, task_id.n ? task_id : label_id);
    while ((r = stmt_step(q, err)) == 1) {
        ARENA_ROOM(arena, rows, count, room);
        read_row(q, arena, &rows[count++]);
    }
    if (r < 0)
        return -1;
    *ret_rows = rows;
    *ret_count = count;
    return 0;
}

static int store(const struct journal_write *write, const struct task_label *row, int64_t counter,
                 struct err *err)
{
    AUTO(stmt) q = NULL;

    if (db_prepare(domain_db(write->journal->domain),
                   SQL("INSERT INTO task_labels (task_id, label_id, deleted_at, vector_clock,"
                       " host_n, counter) VALUES (?, ?, ?, ?, ?, ?)"
                       " ON CONFLICT (task_id, label_id) DO UPDATE SET"
                       " deleted_at = excluded.deleted_at, vector_clock = excluded.vector_clock,"
                       " host_n = excluded.host_n, counter = excluded.counter"),
                   &q, err) < 0)
        return -1;
    stmt_bind_str(q, row->task_id);
    stmt_bind_str(q, row->label_id);
    stmt_bind_some_i64(q, row->deleted_at);
    stmt_bind_str(q, row->vector_clock);
    stmt_bind_i64(q, change_host_in(write->journal->change, write->journal->domain));
    stmt_bind_i64(q, counter);
    return stmt_run(q, err);
}

int task_label_put(struct journal_write *write, struct task_label *row, bool gone, struct err *err)
{
    int64_t counter = change_next(write->journal->change);
    struct str pair = str_from(
        arena_printf(write->arena, "%.*s:%.*s", STR_ARG(row->task_id), STR_ARG(row->label_id)));

    if (clock_advanced(write, row->vector_clock, counter, &row->vector_clock, err) < 0)
        return -1;
    row->deleted_at = gone ? write->now : 0;
    if (store(write, row, counter, err) < 0)
        return -1;
    change_batch_unit(&write->batch, write->journal->change, counter, STR("taskLabel"), pair);
    change_batch_key(&write->batch, "TASK");
    change_batch_key(&write->batch, "LABEL");
    change_batch_id(&write->batch, row->task_id);
    change_batch_id(&write->batch, row->label_id);
    return 0;
}
