/* Domains of the product as they are before their first row.
 *
 * To apply all migrations takes a third of a second on Postgres and a tenth on SQLite, more than
 * most tests do after it. So the first test of a suite that needs a domain lets domain_open() make
 * it, and the others begin with what it made:
 *
 * - SQLite: the bytes of the new file are kept in memory that all processes of the suite share.
 * - Postgres: all rows are deleted and the sequences set back. An event trigger notes every change
 *   of the schema itself, in the transaction that makes it; after one the database is made anew.
 *
 * SPDX-License-Identifier: MIT
 */
#include "harness/db_fresh.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/file.h"
#include "db/migrations.h"
#include "db/pg_lib.h"

#define FILE_BYTES_MAX (8u << 20)

struct kept_file {
    size_t size; /* 0: not made yet */
    char bytes[FILE_BYTES_MAX];
};
/* Pages that nobody writes take no memory. */
static struct fresh {
    bool database; /* the suite's Postgres database has both domains */
    struct kept_file file[2];
} * fresh;

__attribute__((constructor)) static void prepare_fresh(void)
{
    fresh = mmap(NULL, sizeof(*fresh), PROT_READ | PROT_WRITE,
                 MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (fresh == MAP_FAILED)
        abort();
}

static void make_domain(struct test *t, const char *name, const char *url)
{
    bool journal = strcmp(name, "journal") == 0;
    const struct domain_config config = {
        .name = name,
        .url = url,
        .migrations = journal ? migrations_journal : migrations_agent,
        .migration_count = journal ? migrations_journal_count : migrations_agent_count,
    };
    AUTO(domain) domain = NULL;

    ASSERT_OK(domain_open(&config, &domain, &t->err));
}

/* ---- SQLite ---- */

static void keep_file(struct test *t, struct kept_file *kept, const char *path)
{
    struct str bytes = test_read_file(t, path);

    if (bytes.n > sizeof(kept->bytes))
        FAIL("%s has %zu bytes, more than are kept", path, bytes.n);
    memcpy(kept->bytes, bytes.p, bytes.n);
    kept->size = bytes.n;
}

void fresh_file(struct test *t, const char *domain, const char *path)
{
    struct kept_file *kept = &fresh->file[strcmp(domain, "journal") == 0];
    AUTO_FD fd = -1;

    if (access(path, F_OK) == 0)
        return;
    if (kept->size == 0) {
        make_domain(t, domain, arena_printf(&t->arena, "sqlite:%s", path));
        keep_file(t, kept, path);
        return;
    }
    fd = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
    if (fd < 0 || file_write_all(fd, str_of(kept->bytes, kept->size)) < 0)
        FAIL("write %s: %s", path, strerror(errno));
}

/* ---- Postgres ---- */

#define END_OTHERS                                                                                 \
    "SET client_min_messages = warning;"                                                           \
    "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"                                 \
    " WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type ="           \
    " 'client backend';"

static const char empty_database[] = END_OTHERS
    "DROP EVENT TRIGGER IF EXISTS fresh_watch;"
    "DO $$ DECLARE s text; BEGIN FOR s IN SELECT nspname FROM pg_namespace WHERE nspname !~ '^pg_'"
    " AND nspname NOT IN ('information_schema', 'public') LOOP"
    " EXECUTE format('DROP SCHEMA %I CASCADE', s); END LOOP; END $$";

static const char watch_schema[] =
    "CREATE SCHEMA fresh;"
    "CREATE TABLE fresh.changed (tag text);"
    "CREATE TABLE fresh.agent_steps AS TABLE agent.schema_migrations;"
    "CREATE TABLE fresh.journal_steps AS TABLE journal.schema_migrations;"
    "CREATE FUNCTION fresh.note() RETURNS event_trigger LANGUAGE plpgsql AS"
    " 'BEGIN INSERT INTO fresh.changed VALUES (tg_tag); END';"
    "CREATE EVENT TRIGGER fresh_watch ON ddl_command_end EXECUTE FUNCTION fresh.note()";

/* A delete is cheaper than a truncate, which makes new files, until there is much to read. Answers
 * with a row when the schema is not what it was; then nothing is done. */
static const char delete_rows[] = END_OTHERS
    "SET session_replication_role = replica;" /* no foreign keys: in any order */
    "DO $$ DECLARE r record; BEGIN"
    " IF EXISTS (TABLE fresh.changed) THEN RETURN; END IF;"
    " FOR r IN SELECT oid::regclass AS name, pg_relation_size(oid) AS size FROM pg_class"
    "  WHERE relkind = 'r' AND relnamespace IN ('agent'::regnamespace, 'journal'::regnamespace)"
    "  AND pg_relation_size(oid) > 0 LOOP"
    "  IF r.size > 65536 THEN EXECUTE format('TRUNCATE %s CASCADE', r.name);"
    "  ELSE EXECUTE format('DELETE FROM %s', r.name); END IF;"
    " END LOOP;"
    " PERFORM setval(format('%I.%I', schemaname, sequencename), start_value, false)"
    "  FROM pg_sequences WHERE schemaname IN ('agent', 'journal') AND last_value IS NOT NULL;"
    " INSERT INTO agent.schema_migrations TABLE fresh.agent_steps;"
    " INSERT INTO journal.schema_migrations TABLE fresh.journal_steps;"
    " END $$;"
    "TABLE fresh.changed";

bool fresh_run(struct test *t, const char *url, const char *sql)
{
    const char *const keywords[] = { "dbname", NULL };
    const char *const values[] = { url, NULL };
    PGresult *result;
    bool row = false;
    PGconn *conn;

    ASSERT_OK(pg_lib_load(&t->err));
    conn = pq.PQconnectdbParams(keywords, values, 1);
    if (pq.PQstatus(conn) != CONNECTION_OK)
        FAIL("connect: %s", pq.PQerrorMessage(conn));
    if (!pq.PQsendQuery(conn, sql))
        FAIL("%s: %s", sql, pq.PQerrorMessage(conn));
    while ((result = pq.PQgetResult(conn)) != NULL) {
        if (pq.PQresultStatus(result) == PGRES_FATAL_ERROR)
            FAIL("%s: %s", sql, pq.PQresultErrorMessage(result));
        row = pq.PQntuples(result) > 0;
        pq.PQclear(result);
    }
    pq.PQfinish(conn);
    return row;
}

void fresh_empty(struct test *t, const char *url)
{
    fresh->database = false;
    fresh_run(t, url, empty_database);
}

void fresh_domains(struct test *t, const char *url)
{
    if (fresh->database && !fresh_run(t, url, delete_rows))
        return;
    fresh_empty(t, url);
    make_domain(t, "agent", url);
    make_domain(t, "journal", url);
    fresh_run(t, url, watch_schema);
    fresh->database = true;
}
