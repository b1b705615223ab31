/* Privacy consent: a person agrees once to a provider's terms, by version; a new version asks
 * again. Receipts are kept in consent_receipts and never rewritten.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_POLICY_CONSENT_H
#define DORMOUSE_POLICY_CONSENT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "db/domain.h"

/* What a person agrees to; all of it goes into the receipt. */
struct consent_terms {
    const char *model_id, *provider, *host;                /* host of base_url */
    const char *policy_version, *retention, *jurisdiction; /* "" when the terms do not say */
    bool trains;
};

/* 1 when there is a receipt for exactly these facts that was not withdrawn, else 0. */
int consent_given(struct domain *agent_domain, const struct consent_terms *terms, struct err *err);
/* Inside a unit. Idempotent. who: "owner", or what a caller is known as. */
int consent_give(struct domain *agent_domain, const struct consent_terms *terms, const char *who,
                 int64_t now_ms, struct err *err);
/* not_found when there is none. */
int consent_withdraw(struct domain *agent_domain, const char *model_id, int64_t now_ms,
                     struct err *err);

#endif
