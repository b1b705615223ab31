/* SPDX-License-Identifier: MIT */
#include "store_fake.h"

#include <string.h>

static struct store_fake *store_of(const struct domain *domain)
{
    return (struct store_fake *)(uintptr_t)domain;
}

struct domain *store_domain(struct store_fake *store)
{
    return (struct domain *)store;
}

static void note(struct store_fake *store, const char *what)
{
    if (store->trace)
        buf_printf(store->trace, "%s %s\n", what, store->name);
}

static bool taken(bool *flag)
{
    bool was = *flag;

    *flag = false;
    return was;
}

static enum domain_health fake_health(const struct domain *domain)
{
    return store_of(domain)->health;
}

static int fake_begin(struct domain *domain, struct err *err)
{
    struct store_fake *store = store_of(domain);

    BUG_IF(store->open);
    if (taken(&store->fail_begin))
        return err_set(err, ERR_STORAGE_FAILED, "begin fails");
    note(store, "begin");
    store->open = true;
    store->pending_count = 0;
    return 0;
}

static int fake_commit(struct domain *domain, struct err *err)
{
    struct store_fake *store = store_of(domain);
    bool fail = taken(&store->fail_commit);

    BUG_IF(!store->open || store->in_savepoint);
    store->open = false;
    note(store, fail ? "commit fails" : "commit");
    if (!fail || taken(&store->ambiguous)) {
        BUG_IF(store->durable_count + store->pending_count > STORE_ROWS);
        memcpy(store->durable + store->durable_count, store->pending,
               store->pending_count * sizeof(int));
        store->durable_count += store->pending_count;
    }
    store->pending_count = 0;
    if (!fail)
        return 0;
    store->health = store->health_then;
    /* Not storage_failed: that the others must hear that is the tick's knowledge. */
    return err_set(err, ERR_TIMEOUT, "commit of %s fails", store->name);
}

static void fake_rollback(struct domain *domain)
{
    struct store_fake *store = store_of(domain);

    note(store, "rollback");
    store->open = store->in_savepoint = false;
    store->pending_count = 0;
}

static bool fake_in_transaction(const struct domain *domain)
{
    return store_of(domain)->open;
}

static int fake_savepoint(struct domain *domain, struct err *err)
{
    struct store_fake *store = store_of(domain);

    BUG_IF(!store->open || store->in_savepoint);
    if (taken(&store->fail_savepoint))
        return err_set(err, ERR_INTERNAL, "savepoint fails");
    store->in_savepoint = true;
    store->mark = store->pending_count;
    return 0;
}

static int fake_release(struct domain *domain, struct err *err)
{
    struct store_fake *store = store_of(domain);

    BUG_IF(!store->open || !store->in_savepoint);
    if (taken(&store->fail_release))
        return err_set(err, ERR_CONFLICT, "release fails");
    store->in_savepoint = false;
    return 0;
}

static int fake_settle(struct domain *domain, struct err *err)
{
    struct store_fake *store = store_of(domain);

    BUG_IF(!store->open || store->in_savepoint);
    note(store, "settle");
    if (taken(&store->fail_settle))
        return err_set(err, ERR_CONFLICT, "settle fails");
    return 0;
}

static void fake_rollback_to(struct domain *domain)
{
    struct store_fake *store = store_of(domain);

    BUG_IF(!store->open || !store->in_savepoint);
    store->in_savepoint = false;
    store->pending_count = store->mark;
}

static void fake_idle(struct domain *domain)
{
    note(store_of(domain), "idle");
}

static int fake_mend(struct domain *domain, struct err *err)
{
    struct store_fake *store = store_of(domain);

    store->mends++;
    if (store->fail_mend > 0) {
        store->fail_mend--;
        return err_set(err, ERR_STORAGE_FAILED, "mend fails");
    }
    store->health = DOMAIN_OK;
    return 0;
}

const struct tick_store_ops store_fake_ops = {
    .mend = fake_mend,
    .health = fake_health,
    .begin = fake_begin,
    .commit = fake_commit,
    .rollback = fake_rollback,
    .in_transaction = fake_in_transaction,
    .savepoint = fake_savepoint,
    .release = fake_release,
    .leave = fake_release,
    .settle = fake_settle,
    .rollback_to = fake_rollback_to,
    .idle = fake_idle,
};

void store_write(struct store_fake *store, int row)
{
    BUG_IF(!store->open || !store->in_savepoint || store->pending_count == STORE_ROWS);
    store->pending[store->pending_count++] = row;
}

void store_vanish(struct store_fake *store)
{
    BUG_IF(!store->open);
    store->open = store->in_savepoint = false;
    store->pending_count = 0;
}

bool store_has(const struct store_fake *store, int row)
{
    for (size_t i = 0; i < store->durable_count; i++)
        if (store->durable[i] == row)
            return true;
    return false;
}
