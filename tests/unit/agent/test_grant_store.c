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
static const char *found_after(struct test *t, struct rig *rig, int64_t agent_n, int64_t run_n,
                               const char *tool, const char *pattern, const char *taint)
{
    struct approval_grant grant = { .id = STR_NONE };
    int r = grant_find(rig->domain, agent_n, run_n, str_from(tool), str_from(pattern),
                       str_from(taint), &t->arena, &grant, &t->err);

    ASSERT_OK(r);
    ASSERT_EQ(r, grant.id.p != NULL);
    ASSERT_EQ(r, grant.inbox_id.p != NULL);
    return r ? grant.inbox_id.p : "";
}

static const char *found(struct test *t, struct rig *rig, int64_t agent_n, int64_t run_n,
                         const char *tool, const char *pattern)
{
    return found_after(t, rig, agent_n, run_n, tool, pattern, "");
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

/* Of either kind: for always (run 0), and for one run. */
DB_TEST(a_revoked_grant_covers_nothing)
{
    AUTO_RIG rig = rig_open(t);

    for (int64_t run_n = 0; run_n <= 1; run_n++) {
        const char *id = run_n ? "of-run" : "always", *tool = run_n ? "bash" : "search";

        ASSERT_OK(add(t, &rig, id, 1, run_n, tool, "p"));
        ASSERT_TEXT(found(t, &rig, 1, 1, tool, "p"), arena_printf(&t->arena, "i%s", id));
        ASSERT_EQ(grant_revoke(rig.domain, str_from(id), NOW, &t->err), 1);
        ASSERT_TEXT(found(t, &rig, 1, 1, tool, "p"), "");
        ASSERT_EQ(grant_revoke(rig.domain, str_from(id), NOW, &t->err), 0);
        /* Nor does sending the same yes again bring it back. */
        ASSERT_OK(add(t, &rig, id, 1, run_n, tool, "p"));
        ASSERT_TEXT(found(t, &rig, 1, 1, tool, "p"), "");
    }
    ASSERT_FAILS(grant_revoke(rig.domain, STR("h"), NOW, &t->err), ERR_NOT_FOUND);
}

/* Every kind: for one run and for always, on either side of the other. */
DB_TEST(a_revoked_grant_of_either_kind_leaves_the_other_in_force)
{
    static const int64_t kinds[] = { 0, 7 };
    AUTO_RIG rig = rig_open(t);

    for (int64_t i = 0; i < 2; i++) {
        int64_t agent = i + 1;
        const char *id = i ? "g1" : "g0", *inbox = i ? "ig1" : "ig0";

        ASSERT_OK(add(t, &rig, id, agent, kinds[i], "bash", "p"));
        ASSERT_OK(add(t, &rig, i ? "o1" : "o0", agent, kinds[!i], "bash", "q"));
        ASSERT_TEXT(found(t, &rig, agent, 7, "bash", "p"), inbox);
        ASSERT_EQ(grant_revoke(rig.domain, str_from(id), NOW, &t->err), 1);
        ASSERT_TEXT(found(t, &rig, agent, 7, "bash", "p"), "");
        ASSERT_TEXT(found(t, &rig, agent, 7, "bash", "q"), i ? "io1" : "io0");
        ASSERT_OK(add(t, &rig, i ? "a1" : "a0", agent, kinds[i], "bash", "p"));
        ASSERT_TEXT(found(t, &rig, agent, 7, "bash", "p"), i ? "ia1" : "ia0");
    }
}

static bool note_use(void *arg, const struct approval_grant *grant)
{
    *(int64_t *)arg += grant->used_at;
    return true;
}

DB_TEST(a_grant_remembers_when_it_was_last_used)
{
    AUTO_RIG rig = rig_open(t);
    int64_t used = 0;

    ASSERT_OK(add(t, &rig, "g", 1, 0, "bash", "p"));
    ASSERT_OK(grant_each(rig.domain, note_use, &used, &t->err));
    ASSERT_EQ(used, 0);
    ASSERT_OK(grant_used(rig.domain, STR("g"), NOW + 5, &t->err));
    ASSERT_OK(grant_each(rig.domain, note_use, &used, &t->err));
    ASSERT_EQ(used, NOW + 5);
}

TEST(a_grant_says_in_words_what_it_covers)
{
    static const struct {
        const char *pattern;
        enum inbox_scope scope;
        const char *words;
    } cases[] = {
        { "{}", INBOX_ONCE, "This call, once." },
        { "{\"arguments\":{\"command\":\"ls\"},\"directory\":\"/w\",\"tool\":\"bash\","
          "\"walls\":\"00\"}",
          INBOX_FOR_RUN,
          "Until this run ends: bash with exactly {\"command\":\"ls\"}, in /w, inside the walls as "
          "they are now. Anything else asks again." },
        { "{\"arguments\":{},\"directory\":\"/w\",\"tool\":\"bash\",\"unsandboxed\":true,"
          "\"walls\":\"00\"}",
          INBOX_ALWAYS,
          "From now on, for this agent: bash with exactly {}, in /w, WITHOUT A SANDBOX. Anything "
          "else asks again." },
        { "{\"arguments\":{\"text\":\"a\xE2\x80\xAE"
          "b\"},\"tool\":\"slack.send\"}",
          INBOX_ALWAYS,
          "From now on, for this agent: slack.send with exactly {\"text\":\"a<U+202E>b\"}. "
          "Anything "
          "else asks again." },
        { "{\"argumentsHash\":\"00\",\"directory\":\"/w\",\"files\":\"00\",\"tool\":\"x\"}",
          INBOX_ALWAYS,
          "From now on, for this agent: x with exactly the arguments that were shown, with the "
          "skill's files as they are now, in /w, inside the walls as they are now. Anything else "
          "asks again." },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO_BUF words = BUF_INIT(4096);

        grant_words(str_from(cases[i].pattern), cases[i].scope, &words);
        ASSERT_TEXT(buf_text(&words), cases[i].words);
    }
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
