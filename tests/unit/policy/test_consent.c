/* Consent receipts, on both engines.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stddef.h>
#include <stdio.h>

#include "db/db.h"
#include "db/migrations.h"
#include "harness/db_test.h"
#include "policy/consent.h"

static const struct consent_terms terms = { .model_id = "gpt",
                                            .provider = "openai",
                                            .host = "api.example",
                                            .policy_version = "2026-01",
                                            .retention = "30 days",
                                            .jurisdiction = "US" };

static struct domain *open_agent(struct test *t)
{
    return db_test_open(t, migrations_agent, migrations_agent_count);
}

static void give(struct test *t, struct domain *domain, const struct consent_terms *what,
                 int64_t now)
{
    ASSERT_OK(domain_begin(domain, &t->err));
    ASSERT_OK(consent_give(domain, what, "owner", now, &t->err));
    ASSERT_OK(domain_commit(domain, &t->err));
}

static int64_t count(struct test *t, struct domain *domain)
{
    AUTO(stmt) q = NULL;

    ASSERT_OK(db_prepare(domain_db(domain), SQL("SELECT count(*) AS n FROM consent_receipts"), &q,
                         &t->err));
    ASSERT_EQ(stmt_step(q, &t->err), 1);
    return stmt_i64(q, "n");
}

DB_TEST(no_consent_without_a_receipt)
{
    AUTO(domain) domain = open_agent(t);

    ASSERT_EQ(consent_given(domain, &terms, &t->err), 0);
    give(t, domain, &terms, 5);
    ASSERT_EQ(consent_given(domain, &terms, &t->err), 1);
}

DB_TEST(a_change_of_any_fact_asks_again)
{
    AUTO(domain) domain = open_agent(t);
    struct consent_terms other[] = { terms, terms, terms, terms, terms, terms, terms };

    other[0].model_id = "gpt2";
    other[1].provider = "anthropic";
    other[2].host = "evil.example";
    other[3].policy_version = "2026-02";
    other[4].retention = "";
    other[5].jurisdiction = "EU";
    other[6].trains = true;
    give(t, domain, &terms, 5);
    for (size_t i = 0; i < ARRAY_LEN(other); i++)
        ASSERT_EQ(consent_given(domain, &other[i], &t->err), 0);
}

DB_TEST(giving_twice_writes_one_receipt)
{
    AUTO(domain) domain = open_agent(t);

    give(t, domain, &terms, 5);
    give(t, domain, &terms, 6);
    ASSERT_EQ(count(t, domain), 1);
}

DB_TEST(withdrawing_ends_it_and_keeps_the_receipt)
{
    AUTO(domain) domain = open_agent(t);
    struct consent_terms newer = terms;

    newer.policy_version = "2026-02";
    give(t, domain, &terms, 5);
    give(t, domain, &newer, 6);
    ASSERT_OK(consent_withdraw(domain, "gpt", 9, &t->err));
    ASSERT_EQ(consent_given(domain, &terms, &t->err), 0);
    ASSERT_EQ(consent_given(domain, &newer, &t->err), 0);
    ASSERT_EQ(count(t, domain), 2);
    ASSERT_FAILS(consent_withdraw(domain, "gpt", 10, &t->err), ERR_NOT_FOUND);
}

DB_TEST(consent_can_be_given_again_after_a_withdrawal)
{
    AUTO(domain) domain = open_agent(t);
    AUTO(stmt) q = NULL;

    for (int64_t i = 0; i < 3; i++) {
        give(t, domain, &terms, i);
        ASSERT_OK(consent_withdraw(domain, "gpt", 100 + i, &t->err));
    }
    give(t, domain, &terms, 50);
    ASSERT_EQ(consent_given(domain, &terms, &t->err), 1);
    ASSERT_OK(db_prepare(domain_db(domain),
                         SQL("SELECT given_by, given_at, withdrawn_at FROM consent_receipts"
                             " ORDER BY given_at"),
                         &q, &t->err));
    for (int64_t i = 0; i < 3; i++) {
        ASSERT_EQ(stmt_step(q, &t->err), 1);
        ASSERT_EQ(stmt_i64(q, "given_at"), i);
        ASSERT_EQ(stmt_i64(q, "withdrawn_at"), 100 + i);
        ASSERT_STR(stmt_str(q, "given_by"), "owner");
    }
    ASSERT_EQ(stmt_step(q, &t->err), 1);
    ASSERT(stmt_is_null(q, "withdrawn_at"));
}

DB_TEST(one_model_s_withdrawal_leaves_another_s_consent)
{
    AUTO(domain) domain = open_agent(t);
    struct consent_terms other = terms;

    other.model_id = "claude";
    give(t, domain, &terms, 1);
    give(t, domain, &other, 1);
    ASSERT_OK(consent_withdraw(domain, "claude", 2, &t->err));
    ASSERT_EQ(consent_given(domain, &terms, &t->err), 1);
}

DB_TEST(terms_that_lack_a_fact_are_refused)
{
    AUTO(domain) domain = open_agent(t);
    struct consent_terms broken = terms;

    broken.host = NULL;
    ASSERT_FAILS(consent_given(domain, &broken, &t->err), ERR_BAD_REQUEST);
    ASSERT_CONTAINS(test_err_text(t), "host");
    broken = terms;
    broken.model_id = "";
    ASSERT_FAILS(consent_give(domain, &broken, "owner", 1, &t->err), ERR_BAD_REQUEST);
    broken = terms;
    broken.retention = arena_alloc(&t->arena, 2000, 1);
    memset((char *)broken.retention, 'x', 1999);
    ASSERT_FAILS(consent_give(domain, &broken, "owner", 1, &t->err), ERR_BAD_REQUEST);
    ASSERT_FAILS(consent_withdraw(domain, NULL, 1, &t->err), ERR_BAD_REQUEST);
    ASSERT_EQ(count(t, domain), 0);
}

static void put(struct consent_terms *to, size_t at, const char *fact)
{
    memcpy((char *)to + at, &fact, sizeof(fact));
}

DB_TEST(every_fact_may_have_1024_bytes_and_no_more)
{
    AUTO(domain) domain = open_agent(t);
    static const struct {
        const char *name;
        size_t at;
    } facts[] = {
        { "model", offsetof(struct consent_terms, model_id) },
        { "provider", offsetof(struct consent_terms, provider) },
        { "host", offsetof(struct consent_terms, host) },
        { "policy version", offsetof(struct consent_terms, policy_version) },
        { "retention", offsetof(struct consent_terms, retention) },
        { "jurisdiction", offsetof(struct consent_terms, jurisdiction) },
    };
    char *most = arena_alloc(&t->arena, 1025, 1), *more = arena_alloc(&t->arena, 1026, 1);
    struct consent_terms all = terms;

    memset(most, 'x', 1024);
    memset(more, 'x', 1025);
    for (size_t i = 0; i < ARRAY_LEN(facts); i++) {
        struct consent_terms one = terms;
        char said[100];

        put(&one, facts[i].at, more);
        put(&all, facts[i].at, most);
        ASSERT_FAILS(consent_given(domain, &one, &t->err), ERR_BAD_REQUEST);
        snprintf(said, sizeof(said), "the terms' %s is longer than 1024 bytes", facts[i].name);
        ASSERT_CONTAINS(test_err_text(t), said);
        put(&one, facts[i].at, NULL);
        ASSERT_FAILS(consent_given(domain, &one, &t->err), ERR_BAD_REQUEST);
        snprintf(said, sizeof(said), "the terms' %s is missing", facts[i].name);
        ASSERT_CONTAINS(test_err_text(t), said);
    }
    ASSERT_FAILS(consent_give(domain, &terms, NULL, 1, &t->err), ERR_BAD_REQUEST);
    ASSERT_CONTAINS(test_err_text(t), "giver is missing");
    ASSERT_FAILS(consent_give(domain, &terms, more, 1, &t->err), ERR_BAD_REQUEST);
    give(t, domain, &all, 1);
    ASSERT_EQ(consent_given(domain, &all, &t->err), 1);
}

/* The length of each fact is part of the receipt: what moves from one to the next is another. */
DB_TEST(facts_that_read_the_same_in_a_row_are_not_the_same_facts)
{
    AUTO(domain) domain = open_agent(t);
    struct consent_terms left = terms, right = terms;

    left.retention = "30";
    left.jurisdiction = "US";
    right.retention = "30U";
    right.jurisdiction = "S";
    give(t, domain, &left, 1);
    ASSERT_EQ(consent_given(domain, &right, &t->err), 0);
    give(t, domain, &right, 2);
    ASSERT_EQ(count(t, domain), 2);
}

DB_TEST(a_database_that_fails_gives_no_consent)
{
    AUTO(domain) domain = open_agent(t);

    give(t, domain, &terms, 1);
    ASSERT_OK(db_exec(domain_db(domain), SQL("DROP TABLE consent_receipts"), &t->err));
    ASSERT_FAILS(consent_given(domain, &terms, &t->err), ERR_INTERNAL);
    ASSERT_FAILS(consent_give(domain, &terms, "owner", 1, &t->err), ERR_INTERNAL);
    ASSERT_FAILS(consent_withdraw(domain, "gpt", 1, &t->err), ERR_INTERNAL);
}

DB_TEST(a_rolled_back_consent_was_not_given)
{
    AUTO(domain) domain = open_agent(t);

    ASSERT_OK(domain_begin(domain, &t->err));
    ASSERT_OK(consent_give(domain, &terms, "owner", 1, &t->err));
    ASSERT_EQ(consent_given(domain, &terms, &t->err), 1);
    domain_rollback(domain);
    ASSERT_EQ(consent_given(domain, &terms, &t->err), 0);
}
