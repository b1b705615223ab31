/* Stored rows that somebody else wrote to: whatever stands in a column, the process goes on.
 *
 * A run that has ended and one that waits for a person are stored once. Then every column of their
 * tables holds, one at a time, what nobody would write there; the runner starts on it, and all that
 * people and clients could want is asked for. Any of it may be refused. Foreign keys and checks are
 * off while it is written, as they are for who opens the file with a tool.
 *
 * SPDX-License-Identifier: MIT
 */
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"
#include "db/db.h"
#include "run/trace.h"
#include "stage.h"

static const char *const tables[] = { "runs", "run_events", "inbox", "operations", "agents" };

struct sweep {
    struct test *t;
    char path[256];
    struct buf stored;
    struct str run_id, item_id, thread_id;
    int64_t run_n;
    size_t columns, altered;
};

/* ---- what is there ---- */

static struct str keep(struct sweep *sweep, struct str text)
{
    return arena_str(&sweep->t->arena, text);
}

static void store(struct sweep *sweep)
{
    struct test *t = sweep->t;
    struct stage *stage = stage_new(t);

    stage_says(stage, "!note {\"text\":\"first\"}");
    stage_says(stage, "Noted.");
    stage_run(stage, "note it");
    stage_says(stage, "!send {\"to\":\"ada\"}");
    sweep->run_id = keep(sweep, stage_run(stage, "send it"));
    sweep->run_n = stage->info.n;
    sweep->thread_id = keep(sweep, stage->info.thread_id);
    sweep->item_id = keep(sweep, stage_item(stage));
    stage_free(stage);
    snprintf(sweep->path, sizeof(sweep->path), "%s", test_path(t, "test.sqlite"));
    sweep->stored = BUF_INIT(16u << 20);
    ASSERT_OK(file_read(sweep->path, &sweep->stored, &t->err));
}

static sqlite3 *reopen(struct sweep *sweep)
{
    struct test *t = sweep->t;
    AUTO_BUF name = BUF_INIT(512);
    sqlite3 *db;

    for (size_t i = 0; i < 2; i++) {
        buf_clear(&name);
        buf_printf(&name, "%s%s", sweep->path, i ? "-wal" : "-shm");
        unlink(buf_text(&name));
    }
    ASSERT_OK(file_write_atomic(sweep->path, buf_str(&sweep->stored), 0600, &t->err));
    ASSERT_EQ(sqlite3_open(sweep->path, &db), SQLITE_OK);
    sqlite3_exec(db,
                 "PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = ON;"
                 "PRAGMA synchronous = OFF",
                 NULL, NULL, NULL);
    return db;
}

/* ---- what is asked for ---- */

static bool ignore_event(void *arg, const struct run_public *event)
{
    (void)arg, (void)event;
    return true;
}

static void ignore_line(void *arg, struct str line)
{
    (void)arg, (void)line;
}

static void look(struct sweep *sweep, struct stage *stage)
{
    struct arena *arena = &sweep->t->arena;
    struct run_replay_report report;
    struct err err = ERR_INIT;
    struct run_info info, *infos;
    struct inbox_item *items;
    size_t n;

    run_get(stage->runner, sweep->run_id, arena, &info, &err);
    run_list(stage->runner, STR_NONE, 0, 0, arena, &infos, &n, &err);
    inbox_list(stage->domain, INBOX_PENDING, 0, 0, arena, &items, &n, &err);
    run_events_after(stage->runner, sweep->thread_id, STR_NONE, 0, ignore_event, NULL, &err);
    for (int json = 0; json < 2; json++)
        run_trace(stage->domain, sweep->run_n, runner_program(stage->runner), json, ignore_line,
                  NULL, &err);
    run_replay_check(stage->domain, sweep->run_n, runner_program(stage->runner), &report, &err);
}

/* One start of the process on what is stored now. */
static void live(struct sweep *sweep, enum inbox_state state)
{
    const struct inbox_decision decision = { .state = state,
                                             .by = STR("owner"),
                                             .answer = STR("{\"to\":\"eve\"}") };
    struct run_request request = { .prompt = STR("and now?") };
    struct stage *stage = stage_new(sweep->t);
    struct err err = ERR_INIT;
    struct run_info info;

    stage->altered = true;
    stage_settle(stage);
    look(sweep, stage);
    run_decide(stage->runner, sweep->item_id, &decision, &err);
    stage_settle(stage);
    err_reset(&err);
    run_start(stage->runner, &request, &sweep->t->arena, &info, &err);
    loop_fake_advance(stage->loop, DAYS(8)); /* what waits expires */
    err_reset(&err);
    run_cancel(stage->runner, sweep->run_id, &err);
    stage_settle(stage);
    look(sweep, stage);
    stage_free(stage);
}

/* ---- what stands there instead ---- */

static const char *const numbers[] = { "-1", "65537", "4611686018427387904" };
static const char *const texts[] = { "''", "'{\"arguments\":[1]}'" };

static void alter(struct sweep *sweep, const char *table, const char *column, const char *value)
{
    AUTO_BUF sql = BUF_INIT(512);
    sqlite3 *db = reopen(sweep);
    int rc;

    buf_printf(&sql, "UPDATE %s SET %s = %s", table, column, value);
    rc = sqlite3_exec(db, buf_text(&sql), NULL, NULL, NULL);
    sqlite3_close(db);
    if (rc != SQLITE_OK)
        return; /* not even a tool can: it has to be unique, or there */
    live(sweep, sweep->altered++ % 2 ? INBOX_EDITED : INBOX_APPROVED);
}

/* Columns take turns with the values: each of them would take as many starts of a runner. */
static void alter_column(struct sweep *sweep, const char *table, const char *column,
                         const char *type)
{
    size_t turn = sweep->columns++;

    if (strcmp(type, "TEXT") == 0) {
        alter(sweep, table, column, texts[turn % ARRAY_LEN(texts)]);
    } else if (strcmp(type, "BLOB") == 0) {
        alter(sweep, table, column, "x''");
    } else {
        alter(sweep, table, column, numbers[turn % ARRAY_LEN(numbers)]);
        alter(sweep, table, column, numbers[(turn + 1) % ARRAY_LEN(numbers)]);
    }
}

static void alter_table(struct sweep *sweep, const char *table)
{
    struct test *t = sweep->t;
    AUTO_BUF sql = BUF_INIT(512);
    sqlite3 *db = reopen(sweep);
    struct column {
        const char *name, *type;
    } columns[64];
    sqlite3_stmt *q;
    size_t n = 0;

    buf_printf(&sql, "SELECT name, type FROM pragma_table_info('%s')", table);
    ASSERT_EQ(sqlite3_prepare_v2(db, buf_text(&sql), -1, &q, NULL), SQLITE_OK);
    while (sqlite3_step(q) == SQLITE_ROW && n < ARRAY_LEN(columns)) {
        columns[n].name = arena_text(&t->arena, (const char *)sqlite3_column_text(q, 0));
        columns[n++].type = arena_text(&t->arena, (const char *)sqlite3_column_text(q, 1));
    }
    sqlite3_finalize(q);
    sqlite3_close(db);
    ASSERT(n > 0);
    for (size_t i = 0; i < n; i++)
        alter_column(sweep, table, columns[i].name, columns[i].type);
}

static void no_value_in_any_column_stops_the_process(struct test *t)
{
    struct sweep sweep = { .t = t };

    store(&sweep);
    for (size_t i = 0; i < ARRAY_LEN(tables); i++)
        alter_table(&sweep, tables[i]);
    ASSERT(sweep.altered > 80);
    buf_release(&sweep.stored);
}
DB_TEST_CASE(no_value_in_any_column_stops_the_process, sqlite, .timeout_s = 300)

/* ---- what is sealed ---- */

/* Where it runs, for how long a lease holds, and what changes after the end. */
static bool is_unsealed(const char *column)
{
    static const char *const names[] = { "n",      "hand_state", "hand_pid", "hand_stamp",
                                         "host_n", "updated_at", "fence" };

    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (strcmp(column, names[i]) == 0)
            return true;
    return false;
}

static void alter_sealed(struct stage *stage, const char *column, const char *type)
{
    struct test *t = stage->t;
    const char *other = strcmp(type, "TEXT") == 0   ? "'x'"
                        : strcmp(type, "BLOB") == 0 ? "zeroblob(32)"
                                                    : "coalesce(%s, 0) + 1";
    struct run_replay_report report;

    other = arena_printf(&t->arena, other, column);
    stage_alter(stage, arena_printf(&t->arena, "UPDATE runs SET %s = %s", column, other));
    if (run_replay_check(stage->domain, stage->info.n, runner_program(stage->runner), &report,
                         &t->err) == 0)
        test_case_failed("runs.%s can be changed after the end, and nobody notices", column);
    else
        test_case_passed();
    err_reset(&t->err);
    stage_alter(stage, arena_printf(&t->arena, "UPDATE runs SET %s = (SELECT %s FROM kept)", column,
                                    column));
}

static size_t alter_each(struct stage *stage)
{
    struct test *t = stage->t;
    AUTO(stmt) q = NULL;
    size_t n = 0;

    ASSERT_OK(db_prepare(domain_db(stage->domain),
                         SQL("SELECT name, type FROM pragma_table_info('runs')"), &q, &t->err));
    while (stmt_step(q, &t->err) == 1) {
        const char *name = arena_printf(&t->arena, "%.*s", STR_ARG(stmt_str(q, "name")));
        const char *type = arena_printf(&t->arena, "%.*s", STR_ARG(stmt_str(q, "type")));

        if (!is_unsealed(name))
            alter_sealed(stage, name, type);
        n++;
    }
    return n;
}

static void every_column_of_an_ended_run_is_sealed(struct test *t)
{
    struct stage *stage = stage_new(t);
    struct run_replay_report report;

    stage_says(stage, "Done.");
    stage_run(stage, "do it");
    stage_alter(stage, "CREATE TEMP TABLE kept AS SELECT * FROM runs");
    ASSERT(alter_each(stage) > 30);
    ASSERT_OK(run_replay_check(stage->domain, stage->info.n, runner_program(stage->runner), &report,
                               &t->err));
    stage_free(stage);
}
DB_TEST_CASE(every_column_of_an_ended_run_is_sealed, sqlite)
