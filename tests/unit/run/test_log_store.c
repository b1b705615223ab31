/* Events and the ledger, on both engines.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/buf.h"
#include "db/db.h"
#include "log_rig.h"

static void append(struct test *t, struct domain *domain, int64_t run_n, int64_t seq, uint8_t type)
{
    struct run_event_row row = {
        .run_n = run_n, .thread_n = 7, .seq = seq, .event = { .type = type }, .at = NOW
    };

    memset(row.chain, type, sizeof(row.chain));
    ASSERT_OK(run_event_append(domain, &row, NULL, &t->err));
}

struct seen {
    struct buf text;
    struct run_event_row last;
    int left;
};

static bool note(void *arg, const struct run_event_row *row)
{
    struct seen *seen = arg;

    buf_printf(&seen->text, "%d:%lld ", row->event.type, (long long)row->seq);
    seen->last = *row;
    return --seen->left != 0;
}

static const char *events_of(struct test *t, struct domain *domain, int64_t run_n, int left)
{
    AUTO_BUF text = BUF_INIT(1 << 16);
    struct seen seen = { .text = text, .left = left };

    ASSERT_OK(run_events_of_run(domain, run_n, note, &seen, &t->err));
    text = seen.text;
    return arena_text(&t->arena, buf_text(&text));
}

static const char *public_after(struct test *t, struct domain *domain, int64_t run_n, int64_t after,
                                int limit)
{
    AUTO_BUF text = BUF_INIT(1 << 16);
    struct seen seen = { .text = text };

    ASSERT_OK(run_events_public_after(domain, 7, run_n, after, limit, note, &seen, &t->err));
    text = seen.text;
    return arena_text(&t->arena, buf_text(&text));
}

/* ---- events ---- */

DB_TEST(an_event_comes_back_as_it_was_appended)
{
    AUTO(domain) domain = open_log(t);
    struct run_event_row in = { .run_n = 5,
                                .thread_n = 7,
                                .seq = 9,
                                .event = { .type = 63, .key = 4095, .bits = 0xffffffffu },
                                .ref = INT64_C(1) << 40,
                                .data = STR("{\"why\":\"\xf0\x9f\x90\xad\"}"),
                                .at = NOW,
                                .chain = { 0, 1, 0xff } };
    struct seen seen = { .text = BUF_INIT(100) };
    int64_t n = 0;

    ASSERT_OK(run_event_append(domain, &in, &n, &t->err));
    ASSERT(n > 0);
    in.data = STR_NONE;
    in.event.type = 62;
    in.ref = in.seq = 0;
    ASSERT_OK(run_event_append(domain, &in, NULL, &t->err));
    seen.left = 1;
    ASSERT_OK(run_events_of_run(domain, 5, note, &seen, &t->err));
    ASSERT_EQ(seen.last.n, n);
    ASSERT_EQ(seen.last.thread_n, 7);
    ASSERT_EQ(seen.last.seq, 9);
    ASSERT_EQ(seen.last.event.type, 63);
    ASSERT_EQ(seen.last.event.key, 4095);
    ASSERT_EQ(seen.last.event.bits, 0xffffffffu);
    ASSERT_EQ(seen.last.ref, INT64_C(1) << 40);
    ASSERT_EQ(seen.last.at, NOW);
    ASSERT(memcmp(seen.last.chain, in.chain, sizeof(in.chain)) == 0);
    seen.left = 2;
    ASSERT_OK(run_events_of_run(domain, 5, note, &seen, &t->err));
    ASSERT_EQ(seen.last.seq, 0);
    ASSERT_EQ(seen.last.ref, 0);
    ASSERT(!seen.last.data.p);
    buf_release(&seen.text);
}

static bool keep_data(void *arg, const struct run_event_row *row)
{
    return buf_add_str(arg, row->data) == 0;
}

DB_TEST(what_an_event_says_is_kept_as_it_is)
{
    AUTO(domain) domain = open_log(t);
    AUTO_BUF data = BUF_INIT(100);
    struct run_event_row in = { .run_n = 1, .event = { .type = 1 }, .data = STR("{\"a\":\"'?\"}") };

    ASSERT_OK(run_event_append(domain, &in, NULL, &t->err));
    ASSERT_OK(run_events_of_run(domain, 1, keep_data, &data, &t->err));
    ASSERT_TEXT(buf_text(&data), "{\"a\":\"'?\"}");
}

DB_TEST(events_of_a_run_come_in_order_whatever_ran_beside_it)
{
    AUTO(domain) domain = open_log(t);

    append(t, domain, 1, 1, 10);
    append(t, domain, 2, 2, 20);
    append(t, domain, 1, 0, 11);
    append(t, domain, 2, 0, 21);
    append(t, domain, 1, 3, 12);
    ASSERT_TEXT(events_of(t, domain, 1, 0), "10:1 11:0 12:3 ");
    ASSERT_TEXT(events_of(t, domain, 2, 0), "20:2 21:0 ");
    ASSERT_TEXT(events_of(t, domain, 1, 2), "10:1 11:0 ");
    ASSERT_TEXT(events_of(t, domain, 3, 0), "");
}

DB_TEST(public_events_of_a_thread_come_after_a_seq)
{
    AUTO(domain) domain = open_log(t);

    append(t, domain, 1, 1, 10);
    append(t, domain, 1, 0, 11);
    append(t, domain, 2, 2, 20);
    append(t, domain, 1, 3, 12);
    ASSERT_TEXT(public_after(t, domain, 0, 0, 0), "10:1 20:2 12:3 ");
    ASSERT_TEXT(public_after(t, domain, 0, 1, 0), "20:2 12:3 ");
    ASSERT_TEXT(public_after(t, domain, 0, 0, 2), "10:1 20:2 ");
    ASSERT_TEXT(public_after(t, domain, 1, 1, 0), "12:3 ");
    ASSERT_TEXT(public_after(t, domain, 0, 3, 0), "");
    ASSERT_TEXT(public_after(t, domain, 0, INT64_MAX, 0), "");
}

DB_TEST(a_seq_of_a_thread_is_given_once)
{
    AUTO(domain) domain = open_log(t);
    struct run_event_row row = { .run_n = 2, .thread_n = 7, .seq = 1, .event = { .type = 1 } };

    append(t, domain, 1, 1, 10);
    ASSERT(run_event_append(domain, &row, NULL, &t->err) < 0);
    row.thread_n = 8;
    ASSERT_OK(run_event_append(domain, &row, NULL, &t->err));
    append(t, domain, 1, 0, 11); /* internal events have none */
    append(t, domain, 1, 0, 12);
}

DB_TEST(a_link_of_the_wrong_size_is_found)
{
    AUTO(domain) domain = open_log(t);
    struct seen seen = { .left = 0 };
    AUTO(stmt) q = NULL;

    ASSERT_OK(db_prepare(domain_db(domain),
                         SQL("INSERT INTO run_events (run_n, thread_n, type, at, chain)"
                             " VALUES (1, 1, 1, 1, ?)"),
                         &q, &t->err));
    stmt_bind_blob(q, STR("short"));
    ASSERT_OK(stmt_run(q, &t->err));
    ASSERT_FAILS(run_events_of_run(domain, 1, note, &seen, &t->err), ERR_INTEGRITY_FAILED);
}

DB_TEST(a_rolled_back_unit_leaves_no_event_and_no_effect)
{
    AUTO(domain) domain = open_log(t);
    struct operation operation = { .operation_id = STR("o"), .run_n = 1, .tool_name = STR("bash") };

    ASSERT_OK(domain_begin(domain, &t->err));
    append(t, domain, 1, 1, 10);
    ASSERT_OK(domain_savepoint(domain, &t->err));
    append(t, domain, 1, 2, 11);
    ASSERT_EQ(operation_prepare(domain, &operation, &t->err), 1);
    domain_rollback_to(domain);
    append(t, domain, 1, 2, 12);
    ASSERT_OK(domain_commit(domain, &t->err));
    ASSERT_TEXT(events_of(t, domain, 1, 0), "10:1 12:2 ");
    ASSERT_EQ(operation_prepare(domain, &operation, &t->err), 1);
}

/* ---- the ledger ---- */

static struct operation prepare(struct test *t, struct domain *domain, const char *id)
{
    struct operation operation = { .operation_id = str_from(id),
                                   .run_n = 4,
                                   .action_stable_id = STR("act"),
                                   .tool_name = STR("bash"),
                                   .keyed = OPERATION_KEYED,
                                   .created_at = NOW };

    ASSERT_EQ(operation_prepare(domain, &operation, &t->err), 1);
    return operation;
}

static struct operation load(struct test *t, struct domain *domain, int64_t n)
{
    struct operation operation;

    ASSERT_EQ(operation_load(domain, n, &t->arena, &operation, &t->err), 1);
    return operation;
}

DB_TEST(an_effect_is_prepared_once)
{
    AUTO(domain) domain = open_log(t);
    struct operation first = prepare(t, domain, "op"), again = { 0 }, out;

    ASSERT_EQ(first.status, OPERATION_PREPARED);
    ASSERT_OK(operation_settle(domain, first.n, STR_NONE, NOW + 1, &t->err));
    again = (struct operation){ .operation_id = STR("op"), .run_n = 4, .tool_name = STR("other") };
    ASSERT_EQ(operation_prepare(domain, &again, &t->err), 0);
    ASSERT_EQ(again.n, first.n);
    ASSERT_EQ(again.status, OPERATION_SETTLED);
    ASSERT_EQ(again.attempts, 1);
    out = load(t, domain, first.n);
    ASSERT_STR(out.operation_id, "op");
    ASSERT_EQ(out.run_n, 4);
    ASSERT_STR(out.action_stable_id, "act");
    ASSERT_STR(out.tool_name, "bash");
    ASSERT_EQ(out.keyed, OPERATION_KEYED);
    ASSERT_EQ(out.created_at, NOW);
    ASSERT_EQ(out.updated_at, NOW + 1);
    ASSERT_EQ(operation_load(domain, first.n + 1, &t->arena, &out, &t->err), 0);
}

DB_TEST(an_effect_walks_from_prepared_over_unknown_to_settled)
{
    AUTO(domain) domain = open_log(t);
    int64_t n = prepare(t, domain, "op").n;

    ASSERT_OK(operation_mark_unknown(domain, n, NOW + 1, &t->err));
    ASSERT_EQ(load(t, domain, n).status, OPERATION_UNKNOWN);
    ASSERT_OK(operation_attempt(domain, n, NOW + 2, &t->err));
    ASSERT_EQ(load(t, domain, n).status, OPERATION_PREPARED);
    ASSERT_EQ(load(t, domain, n).attempts, 2);
    ASSERT_OK(operation_settle(domain, n, STR("timeout"), NOW + 3, &t->err));
    ASSERT_EQ(load(t, domain, n).status, OPERATION_SETTLED);
    ASSERT_STR(load(t, domain, n).last_error, "timeout");
}

DB_TEST(what_a_run_left_open_is_found_in_order)
{
    AUTO(domain) domain = open_log(t);
    struct operation *open;
    size_t count;
    int64_t ns[12];

    for (int i = 0; i < 12; i++)
        ns[i] = prepare(t, domain, arena_printf(&t->arena, "op%d", i)).n;
    ASSERT_OK(operation_settle(domain, ns[0], STR_NONE, NOW, &t->err));
    ASSERT_OK(operation_mark_unknown(domain, ns[1], NOW, &t->err));
    ASSERT_OK(operations_open_of_run(domain, 4, &t->arena, &open, &count, &t->err));
    ASSERT_EQ(count, 11);
    ASSERT_EQ(open[0].status, OPERATION_UNKNOWN);
    for (size_t i = 0; i < count; i++)
        ASSERT_EQ(open[i].n, ns[i + 1]);
    ASSERT_OK(operations_open_of_run(domain, 5, &t->arena, &open, &count, &t->err));
    ASSERT_EQ(count, 0);
}

TEST(words_of_the_ledger)
{
    ASSERT_TEXT(operation_status_name(OPERATION_PREPARED), "prepared");
    ASSERT_TEXT(operation_status_name(OPERATION_SETTLED), "settled");
    ASSERT_TEXT(operation_status_name(OPERATION_UNKNOWN), "unknown");
}
