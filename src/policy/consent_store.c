/* Consent receipts.
 *
 * A receipt's id is the hash of all the facts that were shown, and of how often the same facts were
 * agreed to and withdrawn before: giving twice finds the receipt, giving again after a withdrawal
 * writes a new one, and no row is ever changed but for the time of its withdrawal.
 *
 * SPDX-License-Identifier: MIT
 */
#include "policy/consent.h"

#include "base/buf.h"
#include "base/hash.h"
#include "db/db.h"

#define FACT_MAX 1024

static int check_fact(const char *name, const char *value, struct err *err)
{
    if (!value || strlen(value) > FACT_MAX)
        return err_set(err, ERR_BAD_REQUEST, "the terms' %s is %s", name,
                       value ? "longer than 1024 bytes" : "missing");
    return 0;
}

static int check_terms(const struct consent_terms *terms, struct err *err)
{
    const struct {
        const char *name, *value;
    } facts[] = {
        { "model", terms->model_id },      { "provider", terms->provider },
        { "host", terms->host },           { "policy version", terms->policy_version },
        { "retention", terms->retention }, { "jurisdiction", terms->jurisdiction },
    };

    for (size_t i = 0; i < ARRAY_LEN(facts); i++)
        if (check_fact(facts[i].name, facts[i].value, err) < 0)
            return -1;
    if (!*terms->model_id)
        return err_set(err, ERR_BAD_REQUEST, "the terms' model is missing");
    return 0;
}

static void bind_terms(struct stmt *q, const struct consent_terms *terms)
{
    stmt_bind_text(q, terms->model_id);
    stmt_bind_text(q, terms->provider);
    stmt_bind_text(q, terms->host);
    stmt_bind_text(q, terms->policy_version);
    stmt_bind_text(q, terms->retention);
    stmt_bind_text(q, terms->jurisdiction);
    stmt_bind_i64(q, terms->trains);
}

int consent_given(struct domain *agent_domain, const struct consent_terms *terms, struct err *err)
{
    AUTO(stmt) q = NULL;
    int r;

    if (check_terms(terms, err) < 0)
        return -1;
    if (db_prepare(domain_db(agent_domain),
                   SQL("SELECT id FROM consent_receipts WHERE model_id = ? AND provider = ?"
                       " AND host = ? AND policy_version = ? AND retention = ?"
                       " AND jurisdiction = ? AND trains = ? AND withdrawn_at IS NULL LIMIT 1"),
                   &q, err) < 0)
        return -1;
    bind_terms(q, terms);
    r = stmt_step(q, err);
    return r < 0 ? err_wrap(err, "look for a consent") : r;
}

static int count_earlier(struct domain *domain, const struct consent_terms *terms, int64_t *ret_n,
                         struct err *err)
{
    AUTO(stmt) q = NULL;

    if (db_prepare(domain_db(domain),
                   SQL("SELECT count(*) AS n FROM consent_receipts WHERE model_id = ?"), &q,
                   err) < 0)
        return -1;
    stmt_bind_text(q, terms->model_id);
    if (stmt_step(q, err) < 0)
        return -1;
    *ret_n = stmt_i64(q, "n");
    return 0;
}

/* Each fact is preceded by its length: no two lists of facts give the same text. */
static void receipt_id(const struct consent_terms *terms, int64_t earlier,
                       char ret_id[SHA256_TEXT_SIZE])
{
    const char *const facts[] = { terms->model_id,       terms->provider,  terms->host,
                                  terms->policy_version, terms->retention, terms->jurisdiction };
    AUTO_BUF text = BUF_INIT(ARRAY_LEN(facts) * (FACT_MAX + 32) + 64);

    for (size_t i = 0; i < ARRAY_LEN(facts); i++)
        buf_printf(&text, "%zu:%s,", strlen(facts[i]), facts[i]);
    buf_printf(&text, "%d,%lld", terms->trains, (long long)earlier);
    sha256_text(buf_str(&text), ret_id);
}

int consent_give(struct domain *agent_domain, const struct consent_terms *terms, const char *who,
                 int64_t now_ms, struct err *err)
{
    AUTO(stmt) q = NULL;
    char id[SHA256_TEXT_SIZE];
    int64_t earlier;
    int given = consent_given(agent_domain, terms, err);

    if (given != 0)
        return given < 0 ? -1 : 0;
    if (check_fact("giver", who, err) < 0 ||
        count_earlier(agent_domain, terms, &earlier, err) < 0 ||
        db_prepare(domain_db(agent_domain),
                   SQL("INSERT INTO consent_receipts (model_id, provider, host, policy_version,"
                       " retention, jurisdiction, trains, id, given_by, given_at)"
                       " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"),
                   &q, err) < 0)
        return -1;
    receipt_id(terms, earlier, id);
    bind_terms(q, terms);
    stmt_bind_text(q, id);
    stmt_bind_text(q, who);
    stmt_bind_i64(q, now_ms);
    return stmt_run(q, err) < 0 ? err_wrap(err, "record the consent") : 0;
}

int consent_withdraw(struct domain *agent_domain, const char *model_id, int64_t now_ms,
                     struct err *err)
{
    AUTO(stmt) q = NULL;

    if (check_fact("model", model_id, err) < 0)
        return -1;
    if (db_prepare(domain_db(agent_domain),
                   SQL("UPDATE consent_receipts SET withdrawn_at = ? WHERE model_id = ?"
                       " AND withdrawn_at IS NULL"),
                   &q, err) < 0)
        return -1;
    stmt_bind_i64(q, now_ms);
    stmt_bind_text(q, model_id);
    if (stmt_run(q, err) < 0)
        return err_wrap(err, "withdraw the consent");
    if (stmt_changes(q) == 0)
        return err_set(err, ERR_NOT_FOUND, "no consent was given for the model %s", model_id);
    return 0;
}
