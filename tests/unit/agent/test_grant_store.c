/* Grants, on both engines.
 *
 * SPDX-License-Identifier: MIT
 */
#include "agent/inbox.h"
#include "base/buf.h"
#include "rig.h"

static int add(struct test *t, struct rig *rig, const char *id, int64_t agent_n, int64_t run_n,
               const char *tool, const char *pattern)
{
    const struct approval_grant grant = { .id = str_from(id),
                                          .agent_n = agent_n,
                                          .run_n = run_n,
                                          .tool_name = str_from(tool),
                                          .pattern = str_from(pattern),
                                          .inbox_id = str_from(arena_printf(&t->arena, "i%s", id)),
                                          .granted_by = STR("owner"),
                                          .created_at = NOW };

    return grant_add(rig->domain, &grant, &t->err);
}

/* The inbox id of the grant that covers the call, or "". */
static const char *found(struct test *t, struct rig *rig, int64_t agent_n, int64_t run_n,
                         const char *tool, const char *pattern)
{
    struct str id = STR_NONE;
    int r = grant_find(rig->domain, agent_n, run_n, str_from(tool), str_from(pattern), &t->arena,
                       &id, &t->err);

    ASSERT_OK(r);
    ASSERT_EQ(r, id.p != NULL);
    return r ? id.p : "";
}

DB_TEST(a_grant_covers_the_exact_call_and_nothing_else)
{
    AUTO_RIG rig = rig_open(t);

    ASSERT_OK(add(t, &rig, "always", 1, 0, "bash", "{\"command\":\"make\"}"));
    ASSERT_TEXT(found(t, &rig, 1, 5, "bash", "{\"command\":\"make\"}"), "ialways");
    ASSERT_TEXT(found(t, &rig, 1, 0, "bash", "{\"command\":\"make\"}"), "ialways");
    ASSERT_TEXT(found(t, &rig, 2, 5, "bash", "{\"command\":\"make\"}"), "");
    ASSERT_TEXT(found(t, &rig, 1, 5, "search", "{\"command\":\"make\"}"), "");
    ASSERT_TEXT(found(t, &rig, 1, 5, "bash", "{\"command\":\"make \"}"), "");
    ASSERT_TEXT(found(t, &rig, 1, 5, "bash", "{\"command\":\"MAKE\"}"), "");
    ASSERT_TEXT(found(t, &rig, 1, 5, "bash", ""), "");
    ASSERT_TEXT(found(t, &rig, 1, 5, "bash", "%"), "");
}

DB_TEST(a_grant_for_a_run_ends_with_the_run)
{
    AUTO_RIG rig = rig_open(t);

    ASSERT_OK(add(t, &rig, "r7", 1, 7, "bash", "p"));
    ASSERT_TEXT(found(t, &rig, 1, 7, "bash", "p"), "ir7");
    ASSERT_TEXT(found(t, &rig, 1, 8, "bash", "p"), "");
    ASSERT_TEXT(found(t, &rig, 1, 0, "bash", "p"), "");
}

DB_TEST(a_revoked_grant_covers_nothing)
{
    AUTO_RIG rig = rig_open(t);

    ASSERT_OK(add(t, &rig, "g", 1, 0, "bash", "p"));
    ASSERT_EQ(grant_revoke(rig.domain, STR("g"), NOW, &t->err), 1);
    ASSERT_TEXT(found(t, &rig, 1, 1, "bash", "p"), "");
    ASSERT_EQ(grant_revoke(rig.domain, STR("g"), NOW, &t->err), 0);
    ASSERT_FAILS(grant_revoke(rig.domain, STR("h"), NOW, &t->err), ERR_NOT_FOUND);
    /* Nor does sending the same yes again bring it back. */
    ASSERT_OK(add(t, &rig, "g", 1, 0, "bash", "p"));
    ASSERT_TEXT(found(t, &rig, 1, 1, "bash", "p"), "");
}

static bool note_grant(void *arg, const struct approval_grant *grant)
{
    struct buf *seen = arg;

    buf_printf(seen, "%.*s/%lld/%lld/%.*s/%.*s ", STR_ARG(grant->id), (long long)grant->agent_n,
               (long long)grant->run_n, STR_ARG(grant->tool_name), STR_ARG(grant->pattern));
    return !str_is(grant->id, "c");
}

DB_TEST(grants_in_force_are_listed_until_it_is_enough)
{
    AUTO_RIG rig = rig_open(t);
    AUTO_BUF seen = BUF_INIT(200);

    ASSERT_OK(add(t, &rig, "b", 2, 9, "search", "q"));
    ASSERT_OK(add(t, &rig, "a", 1, 0, "bash", "p"));
    ASSERT_OK(add(t, &rig, "x", 1, 0, "bash", "p"));
    ASSERT_OK(add(t, &rig, "c", 1, 0, "bash", "p"));
    ASSERT_OK(add(t, &rig, "d", 1, 0, "bash", "p"));
    ASSERT_EQ(grant_revoke(rig.domain, STR("b"), NOW, &t->err), 1);
    ASSERT_OK(grant_each(rig.domain, note_grant, &seen, &t->err));
    ASSERT_TEXT(buf_text(&seen), "a/1/0/bash/p c/1/0/bash/p ");
}

DB_TEST(a_pattern_may_be_long)
{
    AUTO_RIG rig = rig_open(t);
    char *pattern = arena_alloc(&t->arena, 1, 100001);

    memset(pattern, 'p', 100000);
    ASSERT_OK(add(t, &rig, "long", 1, 0, "bash", pattern));
    ASSERT_TEXT(found(t, &rig, 1, 1, "bash", pattern), "ilong");
    pattern[99999] = 'q';
    ASSERT_TEXT(found(t, &rig, 1, 1, "bash", pattern), "");
}
