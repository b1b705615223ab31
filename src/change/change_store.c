/* This host's row, and its counter.
 *
 * The id stands in hosts; meta names the host that the database belongs to. Rows carry the host's
 * number, which is given here: the next free one. Two daemons that come at the same moment collide
 * on the number, one of them then takes the next.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/rand.h"
#include "base/utf8.h"
#include "base/uuid.h"
#include "change/change.h"
#include "db/db.h"

#define NUMBER_TRIES 16

struct change {
    char *host_id;
    int64_t host, counter;
    struct domain *agent;
    struct domain *journal; /* NULL: not joined */
    int64_t journal_host;
    uint64_t written; /* batches */
    struct uuid_source ids;
};

void change_free(struct change *change)
{
    if (!change)
        return;
    free(change->host_id);
    free(change);
}

const char *change_host_id(const struct change *change)
{
    return change->host_id;
}

int64_t change_host(const struct change *change)
{
    return change->host;
}

int64_t change_host_in(const struct change *change, const struct domain *domain)
{
    if (domain == change->agent)
        return change->host;
    BUG_IF(!change->journal || domain != change->journal);
    return change->journal_host;
}

int64_t change_next(struct change *change)
{
    return ++change->counter;
}

uint64_t change_written(const struct change *change)
{
    return change->written;
}

void change_wrote(struct change *change)
{
    change->written++;
}

void change_new_id(struct change *change, char ret_id[UUID_TEXT_SIZE])
{
    uuid_next_text(&change->ids, ret_id);
}

/* ---- the row ---- */

/* Writes down an id for the database when it has none; which one it has is what counts. */
static int own_host_id(struct db *db, struct change *change, struct err *err)
{
    AUTO(stmt) in = NULL;
    AUTO(stmt) out = NULL;
    char fresh[UUID_TEXT_SIZE];

    change_new_id(change, fresh);
    if (db_prepare(db,
                   SQL("INSERT INTO meta (key, value) VALUES ('host_id', ?)"
                       " ON CONFLICT (key) DO NOTHING"),
                   &in, err) < 0 ||
        db_prepare(db, SQL("SELECT value FROM meta WHERE key = 'host_id'"), &out, err) < 0)
        return -1;
    stmt_bind_text(in, fresh);
    if (stmt_run(in, err) < 0)
        return -1;
    if (stmt_step(out, err) != 1)
        return -1;
    change->host_id = alloc_copy(stmt_str(out, "value").p, stmt_str(out, "value").n);
    return 0;
}

static int find_number(struct db *db, struct str host_id, int64_t *ret_n, struct err *err)
{
    AUTO(stmt) q = NULL;
    int r;

    if (db_prepare(db, SQL("SELECT n FROM hosts WHERE id = ?"), &q, err) < 0)
        return -1;
    stmt_bind_str(q, host_id);
    r = stmt_step(q, err);
    if (r == 1)
        *ret_n = stmt_i64(q, "n");
    return r;
}

static void host_name(char *ret_name, size_t size)
{
    if (gethostname(ret_name, size) < 0)
        ret_name[0] = 0;
    ret_name[size - 1] = 0;
    if (!ret_name[0] || !utf8_valid(str_from(ret_name)))
        ret_name[0] = '?', ret_name[1] = 0;
}

static int add_row(struct db *db, struct str host_id, const char *name, int64_t now_ms,
                   struct err *err)
{
    AUTO(stmt) q = NULL;

    if (db_prepare(db,
                   SQL("INSERT INTO hosts (id, name, created_at, n)"
                       " SELECT ?, ?, ?, coalesce(max(n), 0) + 1 FROM hosts WHERE true"
                       " ON CONFLICT DO NOTHING"),
                   &q, err) < 0)
        return -1;
    stmt_bind_str(q, host_id);
    stmt_bind_text(q, name);
    stmt_bind_i64(q, now_ms);
    return stmt_run(q, err);
}

static int number_of(struct db *db, struct str host_id, const char *name, int64_t now_ms,
                     int64_t *ret_n, struct err *err)
{
    for (int i = 0; i < NUMBER_TRIES; i++) {
        int r = find_number(db, host_id, ret_n, err);

        if (r != 0)
            return r < 0 ? -1 : 0;
        if (add_row(db, host_id, name, now_ms, err) < 0)
            return -1;
    }
    return err_set(err, ERR_CONFLICT, "host %.*s: other hosts took %d numbers in a row",
                   STR_ARG(host_id), NUMBER_TRIES);
}

static int number_host(struct db *db, struct change *change, int64_t *ret_n, struct err *err)
{
    char name[256];

    host_name(name, sizeof(name));
    return number_of(db, str_from(change->host_id), name, clock_wall_ms(change->ids.clock), ret_n,
                     err);
}

int change_number(struct domain *domain, struct str host_id, int64_t now_ms, int64_t *ret_n,
                  struct err *err)
{
    if (!uuid_valid(host_id))
        return err_set(err, ERR_BAD_REQUEST, "host id \"%.*s\" is not a UUID",
                       STR_ARG(str_take(host_id, 60)));
    return number_of(domain_db(domain), host_id, "?", now_ms, ret_n, err);
}

/* ---- the counter ---- */

/* The highest counter in a table of a domain. */
#define HIGHEST(table) "SELECT max(counter) AS c FROM " table " WHERE host_n = ?"
#define AND_OF(table)  " UNION ALL " HIGHEST(table)
#define OF_BATCHES     "SELECT max(last_counter) AS c FROM change_batches WHERE host_n = ?"
/* A message is numbered as it is written. */
#define AND_OF_MESSAGES                                                                            \
    " UNION ALL SELECT c FROM (SELECT counter AS c FROM agent_messages WHERE host_n = ?"           \
    " ORDER BY n DESC LIMIT 1) AS newest"

/* A table for each of its placeholders. */
static const struct counter_query {
    struct sql sql;
    int tables;
} agent_counters = {
    { "SELECT coalesce(max(c), 0) AS counter FROM (" OF_BATCHES AND_OF("agents")
          AND_OF("agent_states") AND_OF_MESSAGES AND_OF("agent_message_payloads")
              AND_OF("agent_links") AND_OF("inbox") AND_OF("files") AND_OF("file_versions")
                  AND_OF("file_events") AND_OF("skills") AND_OF("agent_reports")
                      AND_OF("agent_report_heads") AND_OF("agent_source_refs")
                          AND_OF("agent_subscriptions") AND_OF("agent_timers") ") AS highest" },
    16,
}, journal_counters = {
    { "SELECT coalesce(max(c), 0) AS counter FROM (" OF_BATCHES AND_OF("categories")
          AND_OF("labels") AND_OF("tasks") AND_OF("task_labels") AND_OF("checklists")
              AND_OF("checklist_items") AND_OF("time_entries") AND_OF("day_plans")
                  AND_OF("day_plan_blocks") AND_OF("ratings") AND_OF("entries")
                      AND_OF("attachments") AND_OF("entry_links") ") AS highest" },
    14,
};

/* Nobody counts so far, and whoever begins below it never comes to the end of the numbers. */
#define COUNTER_MAX (INT64_C(1) << 62)

/* Goes on after what this host wrote to the domain. */
static int raise_counter(struct db *db, const struct counter_query *query, int64_t host,
                         struct change *change, struct err *err)
{
    AUTO(stmt) q = NULL;
    int64_t counter;

    if (db_prepare(db, query->sql, &q, err) < 0)
        return -1;
    for (int i = 0; i < query->tables; i++)
        stmt_bind_i64(q, host);
    if (stmt_step(q, err) != 1)
        return -1;
    counter = stmt_i64(q, "counter");
    if (counter > COUNTER_MAX)
        return err_set(err, ERR_INTEGRITY_FAILED,
                       "a record of this host has the number %lld, which it can't have counted to: "
                       "the database was damaged or altered; go back to a copy of it",
                       (long long)counter);
    if (counter > change->counter)
        change->counter = counter;
    return 0;
}

/* ---- opening ---- */

static int load_agent(struct domain *domain, struct change *change, struct err *err)
{
    struct db *db = domain_db(domain);

    if (!change->host_id && own_host_id(db, change, err) < 0)
        return -1;
    if (number_host(db, change, &change->host, err) < 0)
        return -1;
    return raise_counter(db, &agent_counters, change->host, change, err);
}

static int load_journal(struct domain *domain, struct change *change, struct err *err)
{
    struct db *db = domain_db(domain);

    if (number_host(db, change, &change->journal_host, err) < 0)
        return -1;
    return raise_counter(db, &journal_counters, change->journal_host, change, err);
}

static int in_transaction(struct domain *domain, struct change *change,
                          int (*load)(struct domain *, struct change *, struct err *),
                          struct err *err)
{
    if (domain_in_transaction(domain))
        return load(domain, change, err);
    if (domain_begin(domain, err) < 0)
        return -1;
    if (load(domain, change, err) < 0) {
        domain_rollback(domain);
        return -1;
    }
    return domain_commit(domain, err);
}

int change_open_as(struct domain *agent_domain, const char *host_id, struct clock *clock,
                   struct rand *rand, struct change **ret_change, struct err *err)
{
    AUTO(change) change = NEW(struct change);

    uuid_source_init(&change->ids, clock ? clock : clock_system(), rand ? rand : rand_system());
    if (host_id) {
        if (!uuid_valid(str_from(host_id)))
            return err_set(err, ERR_BAD_REQUEST, "host id \"%.60s\" is not a UUID", host_id);
        change->host_id = alloc_text(host_id);
    }
    change->agent = agent_domain;
    if (in_transaction(agent_domain, change, load_agent, err) < 0)
        return err_wrap(err, "read this host's row");
    *ret_change = TAKE(change);
    return 0;
}

int change_open(struct domain *agent_domain, struct clock *clock, struct rand *rand,
                struct change **ret_change, struct err *err)
{
    return change_open_as(agent_domain, NULL, clock, rand, ret_change, err);
}

int change_join(struct change *change, struct domain *journal, struct err *err)
{
    BUG_IF(change->journal && change->journal != journal);
    if (in_transaction(journal, change, load_journal, err) < 0)
        return err_wrap(err, "read this host's row in the journal");
    change->journal = journal;
    return 0;
}
