/* Domains: open and migrate, the transactions of ticks, and what a failure leaves behind.
 *
 * SPDX-License-Identifier: MIT
 */
#include "db/domain.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/rand.h"
#include "db/db_fault.h"
#include "db/db_int.h"
#include "db/migrate.h"

int domain_open(const struct domain_config *config, struct domain **ret_domain, struct err *err)
{
    const struct db_open how = {
        .domain = config->name,
        .url = config->url,
        .sync = config->sync,
        .read_only = config->read_only,
        .busy_ms = config->busy_ms > 0 ? config->busy_ms : DB_BUSY_MS,
    };
    AUTO(domain) domain = NEW(struct domain);

    domain->name = alloc_text(config->name);
    domain->migrations = config->migrations;
    domain->migration_count = config->migration_count;
    domain->clock = config->clock ? config->clock : clock_system();
    domain->rand = config->rand ? config->rand : rand_system();
    if (db_open(&how, &domain->db, err) < 0)
        return err_wrap(err, "open domain %s", config->name);
    domain->engine = domain->db;
    domain->shared = domain->db->ops == &db_postgres_ops;
    if (config->fault)
        domain->db = db_fault_wrap(domain->db, config->fault);
    if (migrate(domain->db, config->migrations, config->migration_count, domain->clock, err) < 0)
        return err_wrap(err, "open domain %s", config->name);
    *ret_domain = TAKE(domain);
    return 0;
}

void domain_free(struct domain *domain)
{
    if (!domain)
        return;
    if (domain->db && domain->db->in_transaction)
        domain_rollback(domain);
    db_close(domain->db);
    free(domain->name);
    free(domain);
}

const char *domain_name(const struct domain *domain)
{
    return domain->name;
}

struct db *domain_db(struct domain *domain)
{
    return domain->db;
}

bool domain_is_shared(const struct domain *domain)
{
    return domain->shared;
}

enum domain_health domain_health(const struct domain *domain)
{
    return domain->db->health;
}

const char *domain_health_name(enum domain_health health)
{
    static const char *const names[] = {
        [DOMAIN_OK] = "ok",
        [DOMAIN_AWAY] = "away",
        [DOMAIN_READ_ONLY] = "read_only",
        [DOMAIN_LOST] = "lost",
    };

    return names[health];
}

bool domain_in_transaction(const struct domain *domain)
{
    return domain->db->in_transaction;
}

/* ---- transactions ---- */

static int begin(struct domain *domain, enum db_control how, struct err *err)
{
    static const char *const words[] = {
        [DOMAIN_READ_ONLY] = "a write failed earlier, it is read-only until one succeeds",
        [DOMAIN_LOST] = "a sync failed earlier, a new start has to find out what was saved",
    };
    enum domain_health health = domain->db->health;

    if (health >= DOMAIN_READ_ONLY)
        return err_set(err, ERR_STORAGE_FAILED, "domain %s: %s", domain->name, words[health]);
    if (domain->db->read_only)
        how = DB_BEGIN_READ;
    if (db_control(domain->db, how, err) < 0)
        return err_wrap(err, "begin on domain %s", domain->name);
    return 0;
}

int domain_begin(struct domain *domain, struct err *err)
{
    return begin(domain, DB_BEGIN, err);
}

int domain_begin_serializable(struct domain *domain, struct err *err)
{
    return begin(domain, DB_BEGIN_SERIALIZABLE, err);
}

int domain_commit(struct domain *domain, struct err *err)
{
    if (db_control(domain->db, DB_COMMIT, err) == 0)
        return 0;
    domain_rollback(domain);
    return err_wrap(err, "commit on domain %s", domain->name);
}

void domain_rollback(struct domain *domain)
{
    struct err err = ERR_INIT;
    enum db_trouble trouble = domain->db->trouble;

    /* When even this fails, the engine gives the transaction up when the connection ends: after
     * a rollback that did not work nothing more may be written. */
    if (db_control(domain->db, DB_ROLLBACK, &err) < 0)
        db_abandon(domain->db);
    domain->db->trouble = trouble;
}

int domain_savepoint(struct domain *domain, struct err *err)
{
    return db_control(domain->db, DB_SAVEPOINT, err);
}

int domain_release(struct domain *domain, struct err *err)
{
    return db_control(domain->db, DB_RELEASE, err);
}

int domain_leave(struct domain *domain, struct err *err)
{
    return db_control(domain->db, DB_LEAVE, err);
}

int domain_settle(struct domain *domain, struct err *err)
{
    return db_control(domain->db, DB_SETTLE, err);
}

void domain_rollback_to(struct domain *domain)
{
    struct err err = ERR_INIT;

    /* When it can't be undone alone, the whole transaction is bad: db_control() remembers that,
     * and the commit will say so. */
    if (db_control(domain->db, DB_ROLLBACK_TO, &err) < 0)
        domain->db->depth--;
}

/* ---- trouble that passes ---- */

static int touch(struct domain *domain, struct err *err)
{
    if (domain_begin(domain, err) < 0)
        return -1;
    if (domain->db->ops->script(domain->db, domain->db->ops->touch, err) < 0) {
        domain_rollback(domain);
        return -1;
    }
    return domain_commit(domain, err);
}

int domain_mend(struct domain *domain, struct err *err)
{
    struct db *engine = domain->engine;

    BUG_IF(domain->db->in_transaction);
    if (domain->db->health == DOMAIN_LOST)
        return err_set(err, ERR_STORAGE_FAILED, "domain %s: a sync failed", domain->name);
    if (domain->db->health == DOMAIN_AWAY)
        return domain_probe(domain, err);
    if (domain->db->health == DOMAIN_OK || domain->db->read_only)
        return 0;
    if (engine->ops->has_room && engine->ops->has_room(engine, err) < 0)
        return -1;
    domain->db->health = engine->health = DOMAIN_OK;
    if (touch(domain, err) == 0)
        return 0;
    if (domain->db->health == DOMAIN_OK)
        domain->db->health = DOMAIN_READ_ONLY;
    return err_wrap(err, "write to domain %s", domain->name);
}

int domain_identity(struct domain *domain, int64_t *ret_identity, struct err *err)
{
    struct db *engine = domain->engine;

    *ret_identity = 0;
    return engine->ops->identity ? engine->ops->identity(engine, ret_identity, err) : 0;
}

int domain_set_identity(struct domain *domain, int64_t identity, struct err *err)
{
    struct db *engine = domain->engine;

    BUG_IF(domain->db->in_transaction);
    return engine->ops->set_identity ? engine->ops->set_identity(engine, identity, err) : 0;
}

int domain_probe(struct domain *domain, struct err *err)
{
    struct db *engine = domain->engine;
    AUTO(stmt) q = NULL;

    if (domain->db->in_transaction)
        return 0;
    if (!engine->read_only && engine->ops->is_writable && engine->ops->is_writable(engine, err) < 0)
        return -1;
    if (db_prepare(domain->db, SQL("SELECT count(*) AS n FROM schema_migrations"), &q, err) < 0)
        return -1;
    return stmt_step(q, err) < 0 ? -1 : 0;
}

/* ---- care ---- */

void domain_idle(struct domain *domain)
{
    if (domain->db->ops->idle && !domain->db->in_transaction)
        domain->db->ops->idle(domain->db);
}

int domain_backup(struct domain *domain, const char *path,
                  void (*progress)(int done_pages, int all_pages, void *arg), void *arg,
                  struct err *err)
{
    /* The copy would hold what may still be rolled back. */
    BUG_IF(domain->db->in_transaction);
    if (domain->db->ops->backup(domain->db, path, progress, arg, err) < 0)
        return err_wrap(err, "back up domain %s", domain->name);
    return 0;
}

int domain_schema_version(struct domain *domain, int *ret_version, struct err *err)
{
    if (migrate_check(domain->db, domain->migrations, domain->migration_count, ret_version, err) <
        0)
        return err_wrap(err, "domain %s", domain->name);
    return 0;
}

int domain_check(struct domain *domain, struct err *err)
{
    int version;

    if (domain->db->ops->check(domain->db, err) < 0)
        return err_wrap(err, "check domain %s", domain->name);
    return domain_schema_version(domain, &version, err);
}
