/* Many tasks at once, for benchmarks. SPDX-License-Identifier: MIT */
#ifndef DORMOUSE_BENCH_JOURNAL_FILL_STORE_H
#define DORMOUSE_BENCH_JOURNAL_FILL_STORE_H

#include "db/db.h"
#include "db/domain.h"

/* Half of them closed, of ten categories, due over two years; one in ten has label l1, one in a
 * thousand l2, one in a hundred speaks of a fence; a dozen are in progress. */
static inline int fill_tasks(struct domain *domain, int n, struct err *err)
{
    AUTO(stmt) q = NULL;
    struct db *db = domain_db(domain);

    if (domain_begin(domain, err) < 0 ||
        db_prepare(
            db,
            SQL("INSERT INTO tasks (id, title, notes, status, closed, priority, due, category_id,"
                " created_at, updated_at, vector_clock, host_n, counter)"
                " WITH RECURSIVE c(x, h) AS (SELECT 1, 7919 UNION ALL"
                " SELECT x + 1, (h * 48271) % 2147483647 FROM c WHERE x < ?)"
                " SELECT 't' || x, CASE WHEN x % 100 = 37 THEN 'Fix the fence ' ELSE"
                " 'Something else to do ' END || x, 'Some words about it, ' || h,"
                " CASE WHEN x % 8000 = 0 THEN 'IN_PROGRESS' WHEN h % 10 < 5 THEN 'DONE'"
                " WHEN h % 10 < 7 THEN 'BLOCKED' ELSE 'OPEN' END,"
                " CASE WHEN x % 8000 <> 0 AND h % 10 < 5 THEN 1 ELSE 0 END, h / 10 % 4,"
                " date('2025-06-01', '+' || (h / 40 % 730) || ' days'), 'c' || (h / 7 % 10),"
                " 1700000000000 + h, 1700000000000 + h, '{\"host\":1}', 1, x FROM c"),
            &q, err) < 0)
        return -1;
    stmt_bind_i64(q, n);
    if (stmt_run(q, err) < 0 ||
        db_exec(db,
                SQL("INSERT INTO task_labels (task_id, label_id, vector_clock, host_n, counter)"
                    " SELECT id, 'l1', '{}', 1, counter FROM tasks WHERE counter % 10 = 3"),
                err) < 0 ||
        db_exec(db,
                SQL("INSERT INTO task_labels (task_id, label_id, vector_clock, host_n, counter)"
                    " SELECT id, 'l2', '{}', 1, counter FROM tasks WHERE counter % 1000 = 7"),
                err) < 0)
        return -1;
    return domain_commit(domain, err);
}

#endif
