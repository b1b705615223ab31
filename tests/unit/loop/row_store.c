/* SPDX-License-Identifier: MIT */
#include "row_store.h"

#include <stdio.h>

#include "db/db.h"

static const struct migration migrations[] = {
    { 1, "rows",
      "CREATE TABLE rows (id INTEGER NOT NULL, body TEXT NOT NULL);"
      "CREATE TABLE keys (key INTEGER PRIMARY KEY);",
      "" },
};

int rows_open(const char *path, struct domain **ret_domain, struct err *err)
{
    char url[512];
    struct domain_config config = {
        .name = "agent", .url = url, .migrations = migrations, .migration_count = 1
    };

    snprintf(url, sizeof(url), "sqlite:%s", path);
    return domain_open(&config, ret_domain, err);
}

int rows_add(struct domain *domain, int64_t id, struct err *err)
{
    AUTO(stmt) q = NULL;

    if (db_prepare(domain_db(domain), SQL("INSERT INTO rows (id, body) VALUES (?, ?)"), &q, err) <
        0)
        return -1;
    stmt_bind_i64(q, id);
    stmt_bind_text(q, "two hundred bytes of a body would be more like it, but this will do here");
    return stmt_run(q, err);
}

int rows_collide(struct domain *domain, struct err *err)
{
    for (int i = 0; i < 2; i++)
        if (db_exec(domain_db(domain), SQL("INSERT INTO keys (key) VALUES (1)"), err) < 0)
            return -1;
    return 0;
}

static int one_number(struct stmt *q, int64_t *ret_n, struct err *err)
{
    int r = stmt_step(q, err);

    if (r <= 0)
        return r < 0 ? -1 : err_set(err, ERR_INTERNAL, "no row");
    *ret_n = stmt_i64(q, "n");
    return 0;
}

int rows_count(struct domain *domain, int64_t id, int64_t *ret_count, struct err *err)
{
    AUTO(stmt) q = NULL;

    if (db_prepare(domain_db(domain), SQL("SELECT count(*) AS n FROM rows WHERE id = ?"), &q, err) <
        0)
        return -1;
    stmt_bind_i64(q, id);
    return one_number(q, ret_count, err);
}

int rows_max(struct domain *domain, int64_t *ret_max, struct err *err)
{
    AUTO(stmt) q = NULL;

    if (db_prepare(domain_db(domain), SQL("SELECT coalesce(max(id), 0) AS n FROM rows"), &q, err) <
        0)
        return -1;
    return one_number(q, ret_max, err);
}

int rows_torn(struct domain *domain, int64_t times, int64_t *ret_count, struct err *err)
{
    AUTO(stmt) q = NULL;

    if (db_prepare(domain_db(domain),
                   SQL("SELECT count(*) AS n FROM"
                       " (SELECT id FROM rows GROUP BY id HAVING count(*) <> ?) AS torn"),
                   &q, err) < 0)
        return -1;
    stmt_bind_i64(q, times);
    return one_number(q, ret_count, err);
}
