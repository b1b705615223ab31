/* The failing engine. Each of its statements holds one of the engine inside; calls go through,
 * but for the one that the plan names.
 *
 * SPDX-License-Identifier: MIT
 */
#include "db/db_fault.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "db/db_int.h"

struct fault_db {
    struct db db; /* first */
    struct db *inner;
    struct db_fault *plan;
    struct db_ops ops; /* those of inner, with ours in front */
};

struct fault_stmt {
    struct stmt stmt; /* first */
    struct stmt *inner;
};

static struct fault_db *fault_of(struct db *db)
{
    return (struct fault_db *)db;
}

static struct stmt *inner_of(struct stmt *stmt)
{
    return ((struct fault_stmt *)stmt)->inner;
}

static bool due(struct fault_db *fault, enum db_fault_at at)
{
    struct db_fault *plan = fault->plan;

    if (plan->at != at || plan->nth == 0 || --plan->nth > 0)
        return false;
    plan->fired++;
    if (plan->times > 1) {
        plan->times--;
        plan->nth = 1;
    }
    return true;
}

static int fail(struct fault_db *fault, struct err *err)
{
    static const struct {
        enum db_trouble trouble;
        enum err_code code;
        const char *text;
    } kinds[] = {
        [DB_FAULT_BUSY] = { DB_BUSY, ERR_TIMEOUT, "another writer" },
        [DB_FAULT_CONFLICT] = { DB_REFUSED, ERR_CONFLICT, "constraint" },
        [DB_FAULT_FULL] = { DB_FULL, ERR_STORAGE_FAILED, "disk full" },
        [DB_FAULT_SYNC] = { DB_LOST, ERR_STORAGE_FAILED, "sync failed" },
        [DB_FAULT_CORRUPT] = { DB_BROKEN, ERR_INTEGRITY_FAILED, "damaged" },
        [DB_FAULT_GONE] = { DB_GONE, ERR_STORAGE_FAILED, "connection lost" },
    };
    enum db_fault_kind kind = fault->plan->kind;

    db_fail(&fault->db, kinds[kind].trouble);
    return err_set(err, kinds[kind].code, "%s (on purpose)", kinds[kind].text);
}

/* What failed inside fails outside; also what only the health shows. */
static int passed_on(struct fault_db *fault, int r)
{
    if (fault->inner->health > fault->db.health || fault->db.health == DOMAIN_AWAY)
        fault->db.health = fault->inner->health;
    return r < 0 ? db_fail(&fault->db, fault->inner->trouble) : r;
}

static void fault_close(struct db *db)
{
    struct fault_db *fault = fault_of(db);

    db_close(fault->inner);
    free(fault);
}

static int fault_prepare(struct db *db, const char *text, struct stmt **ret_stmt, struct err *err)
{
    struct fault_db *fault = fault_of(db);
    struct fault_stmt *stmt;
    struct stmt *inner;

    if (due(fault, DB_FAULT_PREPARE))
        return fail(fault, err);
    if (fault->inner->ops->prepare(fault->inner, text, &inner, err) < 0)
        return passed_on(fault, -1);
    inner->db = fault->inner;
    inner->text = text;
    stmt = NEW(struct fault_stmt);
    stmt->inner = inner;
    stmt->stmt.params = inner->params;
    *ret_stmt = &stmt->stmt;
    return 0;
}

static void fault_finalize(struct stmt *stmt)
{
    inner_of(stmt)->db->ops->finalize(inner_of(stmt));
    free(stmt);
}

static void fault_rewind(struct stmt *stmt)
{
    inner_of(stmt)->db->ops->rewind(inner_of(stmt));
}

static void fault_bind(struct stmt *stmt, int at, const struct db_value *value)
{
    inner_of(stmt)->db->ops->bind(inner_of(stmt), at, value);
}

static int fault_step(struct stmt *stmt, struct err *err)
{
    struct fault_db *fault = fault_of(stmt->db);

    if (due(fault, DB_FAULT_STEP))
        return fail(fault, err);
    return passed_on(fault, fault->inner->ops->step(inner_of(stmt), err));
}

static int fault_run(struct stmt *stmt, struct err *err)
{
    struct fault_db *fault = fault_of(stmt->db);

    if (due(fault, DB_FAULT_STEP))
        return fail(fault, err);
    return passed_on(fault, fault->inner->ops->run(inner_of(stmt), err));
}

static int64_t fault_changes(struct stmt *stmt)
{
    return inner_of(stmt)->db->ops->changes(inner_of(stmt));
}

static int fault_column_count(struct stmt *stmt)
{
    return inner_of(stmt)->db->ops->column_count(inner_of(stmt));
}

static const char *fault_column_name(struct stmt *stmt, int at)
{
    return inner_of(stmt)->db->ops->column_name(inner_of(stmt), at);
}

static void fault_column(struct stmt *stmt, int at, struct db_value *ret_value)
{
    inner_of(stmt)->db->ops->column(inner_of(stmt), at, ret_value);
}

static int fault_control(struct db *db, enum db_control what, struct err *err)
{
    struct fault_db *fault = fault_of(db);
    bool begins = what == DB_BEGIN || what == DB_BEGIN_READ || what == DB_BEGIN_SERIALIZABLE;

    if (begins && due(fault, DB_FAULT_BEGIN))
        return fail(fault, err);
    if (what == DB_COMMIT && due(fault, DB_FAULT_COMMIT))
        return fail(fault, err);
    if (what == DB_ROLLBACK && !fault->inner->in_transaction)
        return 0;
    if (passed_on(fault, db_control(fault->inner, what, err)) < 0)
        return -1;
    if (what == DB_COMMIT && due(fault, DB_FAULT_COMMIT_AFTER))
        return fail(fault, err);
    return 0;
}

static int fault_script(struct db *db, const char *text, struct err *err)
{
    struct fault_db *fault = fault_of(db);

    return passed_on(fault, fault->inner->ops->script(fault->inner, text, err));
}

static void fault_idle(struct db *db)
{
    struct db *inner = fault_of(db)->inner;

    inner->ops->idle(inner);
    passed_on(fault_of(db), 0);
}

static int fault_backup(struct db *db, const char *path, db_progress_fn *progress, void *arg,
                        struct err *err)
{
    struct db *inner = fault_of(db)->inner;

    return inner->ops->backup(inner, path, progress, arg, err);
}

static int fault_check(struct db *db, struct err *err)
{
    struct db *inner = fault_of(db)->inner;

    return inner->ops->check(inner, err);
}

static int fault_relax(struct db *db, bool on, struct err *err)
{
    struct db *inner = fault_of(db)->inner;

    return inner->ops->relax(inner, on, err);
}

static int fault_save_before(struct db *db, int version, struct err *err)
{
    struct db *inner = fault_of(db)->inner;

    return inner->ops->save_before(inner, version, err);
}

struct db *db_fault_wrap(struct db *inner, struct db_fault *plan)
{
    struct fault_db *fault = NEW(struct fault_db);
    struct db_ops *ops = &fault->ops;

    fault->inner = inner;
    fault->plan = plan;
    *ops = *inner->ops;
    ops->close = fault_close;
    ops->prepare = fault_prepare;
    ops->finalize = fault_finalize;
    ops->rewind = fault_rewind;
    ops->bind = fault_bind;
    ops->step = fault_step;
    ops->run = ops->run ? fault_run : NULL;
    ops->changes = fault_changes;
    ops->column_count = fault_column_count;
    ops->column_name = fault_column_name;
    ops->column = fault_column;
    ops->control = fault_control;
    ops->script = fault_script;
    ops->idle = ops->idle ? fault_idle : NULL;
    ops->backup = fault_backup;
    ops->check = fault_check;
    ops->save_before = ops->save_before ? fault_save_before : NULL;
    ops->relax = ops->relax ? fault_relax : NULL;
    fault->db.ops = ops;
    fault->db.read_only = inner->read_only;
    return &fault->db;
}
