/* Domains of db/ as what a tick commits.
 *
 * SPDX-License-Identifier: MIT
 */
#include "loop/loop_int.h"

static const struct tick_store_ops domain_store_ops = {
    .health = domain_health,
    .begin = domain_begin,
    .commit = domain_commit,
    .rollback = domain_rollback,
    .in_transaction = domain_in_transaction,
    .savepoint = domain_savepoint,
    .release = domain_release,
    .leave = domain_leave,
    .settle = domain_settle,
    .rollback_to = domain_rollback_to,
    .idle = domain_idle,
    .mend = domain_mend,
};

void loop_attach(struct loop *loop, struct domain *domain)
{
    loop_attach_store(loop, domain, &domain_store_ops);
}
