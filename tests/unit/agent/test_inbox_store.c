/* The inbox, on both engines.
 *
 * SPDX-License-Identifier: MIT
 */
#include "agent/agent.h"
#include "agent/inbox.h"
#include "base/buf.h"
#include "db/db.h"
#include "rig.h"

static int64_t add_at(struct test *t, struct rig *rig, const char *id, int64_t created_at,
                      int64_t expires_at)
{
    struct inbox_item item = { .id = str_from(id),
                               .kind = INBOX_TOOL,
                               .title = STR("Run make"),
                               .created_at = created_at,
                               .expires_at = expires_at };

    ASSERT_OK(inbox_add(rig->domain, rig->change, &item, &t->err));
    return item.n;
}

static int64_t add(struct test *t, struct rig *rig, const char *id)
{
    return add_at(t, rig, id, NOW, 0);
}

static int decide(struct test *t, struct rig *rig, const char *id, enum inbox_state state,
                  const char *reason)
{
    const struct inbox_decision decision = { .state = state,
                                             .by = STR("owner"),
                                             .reason = str_from(reason) };
    struct inbox_item item;

    return inbox_decide(rig->domain, rig->change, str_from(id), &decision, NOW + 10, &item,
                        &t->arena, &t->err);
}

static struct inbox_item get(struct test *t, struct rig *rig, const char *id)
{
    struct inbox_item item;

    ASSERT_OK(inbox_get(rig->domain, str_from(id), &t->arena, &item, &t->err));
    return item;
}

/* "id id id" of a list. */
static const char *ids_of(struct test *t, const struct inbox_item *items, size_t count)
{
    AUTO_BUF ids = BUF_INIT(4096);

    for (size_t i = 0; i < count; i++)
        buf_printf(&ids, "%s%.*s", i ? " " : "", STR_ARG(items[i].id));
    return arena_text(&t->arena, buf_text(&ids));
}

static const char *listed(struct test *t, struct rig *rig, enum inbox_state state, int64_t after,
                          int limit)
{
    struct inbox_item *items = NULL;
    size_t count = 99;

    ASSERT_OK(inbox_list(rig->domain, state, after, limit, &t->arena, &items, &count, &t->err));
    return ids_of(t, items, count);
}

DB_TEST(an_item_comes_back_as_it_was_added)
{
    AUTO_RIG rig = rig_open(t);
    struct agent agent = { .id = "coach", .kind = "coach", .display_name = "Coach" };
    struct inbox_item in = { .id = STR("abcd1234"),
                             .kind = INBOX_TOOL,
                             .call_key = 65535,
                             .tool_name = STR("bash"),
                             .title = STR("Run a command"),
                             .body = STR("{\"command\":\"rm -r \\\"x\\\"\"}"),
                             .preview_kind = STR("command"),
                             .preview = STR("$ rm -r \"x\"\n\xf0\x9f\x90\xad"),
                             .digest = STR("d1"),
                             .created_at = NOW,
                             .expires_at = NOW + 1000,
                             .taint = STR("file") };
    struct inbox_item by_id, by_n;

    ASSERT_OK(agent_add(rig.domain, rig.change, &agent, NOW, &t->err));
    in.agent_n = agent.n;
    ASSERT_OK(inbox_add(rig.domain, rig.change, &in, &t->err));
    ASSERT(in.n > 0);
    by_id = get(t, &rig, "abcd1234");
    ASSERT_OK(inbox_get_n(rig.domain, in.n, &t->arena, &by_n, &t->err));
    ASSERT(str_eq(by_n.id, by_id.id));
    ASSERT_EQ(by_id.n, in.n);
    ASSERT_EQ(by_id.kind, INBOX_TOOL);
    ASSERT_EQ(by_id.state, INBOX_PENDING);
    ASSERT_EQ(by_id.call_key, 65535);
    ASSERT_STR(by_id.tool_name, "bash");
    ASSERT_STR(by_id.title, "Run a command");
    ASSERT_STR(by_id.body, "{\"command\":\"rm -r \\\"x\\\"\"}");
    ASSERT_STR(by_id.preview_kind, "command");
    ASSERT_STR(by_id.preview, "$ rm -r \"x\"\n\xf0\x9f\x90\xad");
    ASSERT_STR(by_id.digest, "d1");
    ASSERT_EQ(by_id.expires_at, NOW + 1000);
    ASSERT_STR(by_id.taint, "file");
    ASSERT_STR(by_id.agent_id, "coach");
    ASSERT_STR(by_id.agent_name, "Coach");
    ASSERT(!by_id.run_id.p && !by_id.thread_id.p && !by_id.reason.p && !by_id.answer.p);
    ASSERT_EQ(by_id.run_n, 0);
    ASSERT_EQ(by_id.decided_at, 0);
}

DB_TEST(adding_the_same_item_again_changes_nothing)
{
    AUTO_RIG rig = rig_open(t);
    int64_t n = add(t, &rig, "same");
    int64_t count;

    ASSERT_EQ(decide(t, &rig, "same", INBOX_REJECTED, "no"), 1);
    ASSERT_EQ(add_at(t, &rig, "same", NOW + 99, 0), n);
    ASSERT_EQ(get(t, &rig, "same").state, INBOX_REJECTED);
    ASSERT_EQ(get(t, &rig, "same").created_at, NOW);
    ASSERT_OK(inbox_count_pending(rig.domain, &count, &t->err));
    ASSERT_EQ(count, 0);
}

DB_TEST(an_item_that_is_not_there_is_said_so)
{
    AUTO_RIG rig = rig_open(t);
    struct inbox_item item;

    ASSERT_FAILS(inbox_get(rig.domain, STR("nope"), &t->arena, &item, &t->err), ERR_NOT_FOUND);
    ASSERT_CONTAINS(err_message(&t->err, 0), "dormouse inbox");
    ASSERT_FAILS(inbox_get_n(rig.domain, 12345, &t->arena, &item, &t->err), ERR_NOT_FOUND);
    ASSERT_FAILS(decide(t, &rig, "nope", INBOX_APPROVED, ""), ERR_NOT_FOUND);
}

/* ---- finding by what people type ---- */

DB_TEST(an_item_is_found_by_a_unique_beginning)
{
    AUTO_RIG rig = rig_open(t);
    struct inbox_item item;

    add(t, &rig, "aaaa1111");
    add(t, &rig, "aaaa2222");
    add(t, &rig, "aaab0000");
    ASSERT_OK(inbox_find(rig.domain, STR("aaaa1"), &t->arena, &item, &t->err));
    ASSERT_STR(item.id, "aaaa1111");
    ASSERT_OK(inbox_find(rig.domain, STR("aaab"), &t->arena, &item, &t->err));
    ASSERT_STR(item.id, "aaab0000");
    ASSERT_FAILS(inbox_find(rig.domain, STR("aaaa"), &t->arena, &item, &t->err), ERR_BAD_REQUEST);
    ASSERT_CONTAINS(err_message(&t->err, 0), "aaaa1111, aaaa2222");
    ASSERT_FAILS(inbox_find(rig.domain, STR("aaa"), &t->arena, &item, &t->err), ERR_BAD_REQUEST);
    ASSERT_CONTAINS(err_message(&t->err, 0), "at least the first 4");
    ASSERT_FAILS(inbox_find(rig.domain, STR("aaac"), &t->arena, &item, &t->err), ERR_NOT_FOUND);
    ASSERT_FAILS(inbox_find(rig.domain, STR("%%%%"), &t->arena, &item, &t->err), ERR_NOT_FOUND);
    ASSERT_FAILS(inbox_find(rig.domain, STR("aaaa111~"), &t->arena, &item, &t->err), ERR_NOT_FOUND);
}

DB_TEST(a_whole_id_wins_over_longer_ones)
{
    AUTO_RIG rig = rig_open(t);
    struct inbox_item item;

    add(t, &rig, "abcdef");
    add(t, &rig, "abcd");
    ASSERT_OK(inbox_find(rig.domain, STR("abcd"), &t->arena, &item, &t->err));
    ASSERT_STR(item.id, "abcd");
}

DB_TEST(many_candidates_are_not_all_named)
{
    AUTO_RIG rig = rig_open(t);
    struct inbox_item item;

    for (int i = 0; i < 9; i++)
        add(t, &rig, arena_printf(&t->arena, "same%d", i));
    ASSERT_FAILS(inbox_find(rig.domain, STR("same"), &t->arena, &item, &t->err), ERR_BAD_REQUEST);
    ASSERT_CONTAINS(err_message(&t->err, 0), "same0, same1, same2, same3 and more");
}

/* ---- lists ---- */

DB_TEST(pending_items_are_listed_oldest_first_in_pages)
{
    AUTO_RIG rig = rig_open(t);
    int64_t c, b;

    add_at(t, &rig, "late", NOW + 50, 0);
    c = add_at(t, &rig, "twin2", NOW, 0);
    b = add_at(t, &rig, "early", NOW - 50, 0);
    add_at(t, &rig, "twin3", NOW, 0);
    add_at(t, &rig, "done", NOW, 0);
    ASSERT_EQ(decide(t, &rig, "done", INBOX_APPROVED, ""), 1);
    ASSERT_TEXT(listed(t, &rig, INBOX_PENDING, 0, 0), "early twin2 twin3 late");
    ASSERT_TEXT(listed(t, &rig, INBOX_PENDING, 0, 2), "early twin2");
    ASSERT_TEXT(listed(t, &rig, INBOX_PENDING, c, 2), "twin3 late");
    ASSERT_TEXT(listed(t, &rig, INBOX_PENDING, b, 0), "twin2 twin3 late");
    ASSERT_TEXT(listed(t, &rig, INBOX_APPROVED, 0, 0), "done");
    ASSERT_TEXT(listed(t, &rig, INBOX_REJECTED, 0, 0), "");
}

DB_TEST(paging_goes_on_after_an_item_that_was_decided_meanwhile)
{
    AUTO_RIG rig = rig_open(t);
    int64_t first = add_at(t, &rig, "first", NOW, 0);

    add_at(t, &rig, "second", NOW + 1, 0);
    ASSERT_EQ(decide(t, &rig, "first", INBOX_APPROVED, ""), 1);
    ASSERT_TEXT(listed(t, &rig, INBOX_PENDING, first, 0), "second");
}

DB_TEST(all_items_are_listed_newest_first)
{
    AUTO_RIG rig = rig_open(t);
    int64_t b;

    add(t, &rig, "a");
    b = add(t, &rig, "b");
    add(t, &rig, "c");
    ASSERT_EQ(decide(t, &rig, "a", INBOX_REJECTED, "x"), 1);
    ASSERT_TEXT(listed(t, &rig, INBOX_STATE_NONE, 0, 0), "c b a");
    ASSERT_TEXT(listed(t, &rig, INBOX_STATE_NONE, b, 0), "a");
    ASSERT_TEXT(listed(t, &rig, INBOX_STATE_NONE, 0, 1), "c");
}

DB_TEST(a_list_is_bounded)
{
    AUTO_RIG rig = rig_open(t);
    struct inbox_item *items;
    size_t count;

    ASSERT_OK(domain_begin(rig.domain, &t->err));
    for (int i = 0; i < 1100; i++)
        add(t, &rig, arena_printf(&t->arena, "i%04d", i));
    ASSERT_OK(domain_commit(rig.domain, &t->err));
    ASSERT_OK(inbox_list(rig.domain, INBOX_PENDING, 0, 0, &t->arena, &items, &count, &t->err));
    ASSERT_EQ(count, 100);
    ASSERT_OK(
        inbox_list(rig.domain, INBOX_PENDING, 0, 1000000, &t->arena, &items, &count, &t->err));
    ASSERT_EQ(count, 1000);
    ASSERT_STR(items[999].id, "i0999");
}

/* ---- deciding ---- */

DB_TEST(a_decision_is_applied_once_however_often_it_is_sent)
{
    AUTO_RIG rig = rig_open(t);
    const struct inbox_decision decision = { .state = INBOX_EDITED,
                                             .scope = INBOX_FOR_RUN,
                                             .by = STR("owner"),
                                             .reason = STR("safer"),
                                             .answer = STR("{\"command\":\"ls\"}") };
    struct inbox_item item;

    add(t, &rig, "item");
    ASSERT_EQ(inbox_decide(rig.domain, rig.change, STR("item"), &decision, NOW + 1, &item,
                           &t->arena, &t->err),
              1);
    ASSERT_EQ(item.state, INBOX_EDITED);
    ASSERT_EQ(item.scope, INBOX_FOR_RUN);
    ASSERT_STR(item.decided_by, "owner");
    ASSERT_STR(item.reason, "safer");
    ASSERT_STR(item.answer, "{\"command\":\"ls\"}");
    ASSERT_EQ(item.decided_at, NOW + 1);
    for (int i = 0; i < 3; i++)
        ASSERT_EQ(inbox_decide(rig.domain, rig.change, STR("item"), &decision, NOW + 100, NULL,
                               &t->arena, &t->err),
                  0);
    ASSERT_EQ(get(t, &rig, "item").decided_at, NOW + 1);
}

DB_TEST(another_decision_is_a_conflict_that_names_the_first)
{
    AUTO_RIG rig = rig_open(t);

    add(t, &rig, "item");
    ASSERT_EQ(decide(t, &rig, "item", INBOX_REJECTED, "no"), 1);
    ASSERT_FAILS(decide(t, &rig, "item", INBOX_APPROVED, ""), ERR_CONFLICT);
    ASSERT_CONTAINS(err_message(&t->err, 0), "rejected");
    ASSERT_FAILS(decide(t, &rig, "item", INBOX_REJECTED, "because"), ERR_CONFLICT);
    ASSERT_CONTAINS(err_message(&t->err, 0), "in another way");
    ASSERT_FAILS(decide(t, &rig, "item", INBOX_WITHDRAWN, ""), ERR_CONFLICT);
    ASSERT_EQ(decide(t, &rig, "item", INBOX_REJECTED, "no"), 0);
    ASSERT_EQ(get(t, &rig, "item").state, INBOX_REJECTED);
}

DB_TEST(scope_and_answer_are_part_of_a_decision)
{
    AUTO_RIG rig = rig_open(t);
    struct inbox_decision decision = { .state = INBOX_APPROVED, .by = STR("owner") };

    add(t, &rig, "item");
    ASSERT_EQ(
        inbox_decide(rig.domain, rig.change, STR("item"), &decision, NOW, NULL, &t->arena, &t->err),
        1);
    decision.scope = INBOX_ALWAYS;
    ASSERT_FAILS(
        inbox_decide(rig.domain, rig.change, STR("item"), &decision, NOW, NULL, &t->arena, &t->err),
        ERR_CONFLICT);
    decision.scope = INBOX_ONCE;
    decision.answer = STR("{}");
    ASSERT_FAILS(
        inbox_decide(rig.domain, rig.change, STR("item"), &decision, NOW, NULL, &t->arena, &t->err),
        ERR_CONFLICT);
    /* Nothing said and an empty text are the same. */
    decision.answer = STR("");
    ASSERT_EQ(
        inbox_decide(rig.domain, rig.change, STR("item"), &decision, NOW, NULL, &t->arena, &t->err),
        0);
}

DB_TEST(an_agent_or_nobody_decides_nothing)
{
    AUTO_RIG rig = rig_open(t);
    struct inbox_decision decision = { .state = INBOX_APPROVED, .by = STR("agent:coach") };

    add(t, &rig, "item");
    ASSERT_FAILS(
        inbox_decide(rig.domain, rig.change, STR("item"), &decision, NOW, NULL, &t->arena, &t->err),
        ERR_UNAUTHORIZED);
    decision.by = STR_NONE;
    ASSERT_FAILS(
        inbox_decide(rig.domain, rig.change, STR("item"), &decision, NOW, NULL, &t->arena, &t->err),
        ERR_UNAUTHORIZED);
    ASSERT_EQ(get(t, &rig, "item").state, INBOX_PENDING);
}

DB_TEST(a_rolled_back_decision_was_never_made)
{
    AUTO_RIG rig = rig_open(t);

    add(t, &rig, "item");
    ASSERT_OK(domain_begin(rig.domain, &t->err));
    ASSERT_OK(domain_savepoint(rig.domain, &t->err));
    ASSERT_EQ(decide(t, &rig, "item", INBOX_APPROVED, ""), 1);
    add(t, &rig, "other");
    domain_rollback_to(rig.domain);
    ASSERT_OK(domain_commit(rig.domain, &t->err));
    ASSERT_TEXT(listed(t, &rig, INBOX_PENDING, 0, 0), "item");
    ASSERT_EQ(decide(t, &rig, "item", INBOX_REJECTED, "x"), 1);
}

/* ---- expiry ---- */

DB_TEST(what_expires_is_found_in_order)
{
    AUTO_RIG rig = rig_open(t);
    struct inbox_item *items;
    size_t count;
    int64_t at = -1;

    ASSERT_OK(inbox_next_expiry(rig.domain, &at, &t->err));
    ASSERT_EQ(at, 0);
    add_at(t, &rig, "never", NOW, 0);
    add_at(t, &rig, "later", NOW, NOW + 300);
    add_at(t, &rig, "soon", NOW, NOW + 100);
    add_at(t, &rig, "next", NOW, NOW + 200);
    ASSERT_OK(inbox_next_expiry(rig.domain, &at, &t->err));
    ASSERT_EQ(at, NOW + 100);
    ASSERT_OK(inbox_due(rig.domain, NOW + 99, 0, &t->arena, &items, &count, &t->err));
    ASSERT_EQ(count, 0);
    ASSERT_OK(inbox_due(rig.domain, NOW + 200, 0, &t->arena, &items, &count, &t->err));
    ASSERT_TEXT(ids_of(t, items, count), "soon next");
    ASSERT_OK(inbox_due(rig.domain, NOW + 999, 1, &t->arena, &items, &count, &t->err));
    ASSERT_TEXT(ids_of(t, items, count), "soon");
    ASSERT_EQ(decide(t, &rig, "soon", INBOX_APPROVED, ""), 1);
    ASSERT_OK(inbox_next_expiry(rig.domain, &at, &t->err));
    ASSERT_EQ(at, NOW + 200);
}

DB_TEST(a_person_who_comes_too_late_is_told_so)
{
    AUTO_RIG rig = rig_open(t);
    const struct inbox_decision expired = { .state = INBOX_EXPIRED, .by = STR("system") };
    const struct inbox_decision withdrawn = { .state = INBOX_WITHDRAWN, .by = STR("system") };

    add_at(t, &rig, "item", NOW, NOW + 10); /* decide() comes at NOW + 10 */
    ASSERT_FAILS(decide(t, &rig, "item", INBOX_APPROVED, ""), ERR_EXPIRED);
    ASSERT_EQ(get(t, &rig, "item").state, INBOX_PENDING);
    ASSERT_EQ(inbox_decide(rig.domain, rig.change, STR("item"), &expired, NOW + 11, NULL, &t->arena,
                           &t->err),
              1);
    ASSERT_FAILS(decide(t, &rig, "item", INBOX_APPROVED, ""), ERR_CONFLICT);
    ASSERT_CONTAINS(err_message(&t->err, 0), "expired");

    add_at(t, &rig, "second", NOW, NOW + 10);
    ASSERT_EQ(inbox_decide(rig.domain, rig.change, STR("second"), &withdrawn, NOW + 11, NULL,
                           &t->arena, &t->err),
              1);
    ASSERT_EQ(get(t, &rig, "second").state, INBOX_WITHDRAWN);

    add_at(t, &rig, "third", NOW, NOW + 11);
    ASSERT_EQ(decide(t, &rig, "third", INBOX_APPROVED, ""), 1);
}

/* Cost is what waits, not what was: the plan walks the partial index and does not sort. */
TEST(pending_lists_and_expiry_go_by_their_index)
{
    t->param = &db_test_sqlite;
    AUTO_RIG rig = rig_open(t);
    AUTO(stmt) list = NULL;
    AUTO(stmt) due = NULL;

    ASSERT_OK(
        db_prepare(domain_db(rig.domain),
                   SQL("EXPLAIN QUERY PLAN SELECT * FROM inbox i WHERE i.state = 'pending' AND"
                       " (i.created_at, i.n) > (?, ?) ORDER BY i.created_at, i.n LIMIT ?"),
                   &list, &t->err));
    for (int i = 0; i < 3; i++)
        stmt_bind_i64(list, 1);
    ASSERT_EQ(stmt_step(list, &t->err), 1);
    ASSERT(str_find(stmt_str(list, "detail"), STR("idx_inbox_pending")) >= 0);
    ASSERT_EQ(stmt_step(list, &t->err), 0);

    ASSERT_OK(db_prepare(domain_db(rig.domain),
                         SQL("EXPLAIN QUERY PLAN SELECT expires_at FROM inbox WHERE state ="
                             " 'pending' AND expires_at IS NOT NULL ORDER BY expires_at LIMIT 1"),
                         &due, &t->err));
    ASSERT_EQ(stmt_step(due, &t->err), 1);
    ASSERT(str_find(stmt_str(due, "detail"), STR("idx_inbox_expiry")) >= 0);
    ASSERT_EQ(stmt_step(due, &t->err), 0);
}
