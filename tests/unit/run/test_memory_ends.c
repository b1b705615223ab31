/* Questions about memory that end otherwise than by an answer: withdrawn, late, in a crash.
 *
 * SPDX-License-Identifier: MIT
 */
#include "memory_rig.h"

DB_TEST(cancelling_withdraws_the_question_and_says_so)
{
    struct stage *stage = stage_new(t);
    const char *complete;
    struct str id, item;

    stage_says(stage, NOTE);
    id = stage_run(stage, "tea");
    item = arena_str(&t->arena, stage_item(stage));
    stage_forget(stage);
    ASSERT_OK(run_cancel(stage->runner, id, &t->err));
    stage_settle(stage);
    ASSERT_EQ(get_item(stage, item).state, INBOX_WITHDRAWN);
    ASSERT_TEXT(stage_story(stage), "memory_edit_complete tool_result done");
    complete = stage_last(stage, "memory_edit_complete");
    ASSERT_CONTAINS(complete, "\"success\":false");
    ASSERT_CONTAINS(complete, "\"path\":\"knowledge/a.md\"");
    ASSERT_CONTAINS(complete, "\"code\":\"cancelled\"");
    ASSERT_CONTAINS(complete, arena_printf(&t->arena, "\"request_id\":\"%.*s\"", STR_ARG(item)));
    ASSERT_CONTAINS(stage_last(stage, "tool_result"), "\"toolCallId\":\"c0\"");
    ASSERT_CONTAINS(stage_last(stage, "tool_result"), "\"cancelled\"");
    ASSERT_CONTAINS(stage_last(stage, "done"), "\"stopReason\":\"cancelled\"");
    ASSERT_EQ(decide(stage, item, INBOX_APPROVED, NULL), -1);
    ASSERT_EQ(get_file(stage, "knowledge/a.md").n, 0);
    stage_free(stage);
}

struct read_back {
    struct test *t;
    struct buf types;
    int64_t seq;
};

static bool read_type(void *arg, const struct run_public *event)
{
    struct read_back *back = arg;

    buf_printf(&back->types, "%s%s", back->types.n ? " " : "", event->type);
    if (strcmp(event->type, "memory_edit_complete") == 0)
        back->seq = event->seq;
    return true;
}

static const char *types_after(struct stage *stage, int64_t after, int64_t *ret_complete)
{
    struct test *t = stage->t;
    struct read_back back = { .t = t, .types = BUF_INIT(4096) };
    const char *types;

    ASSERT_OK(run_events_after(stage->runner, stage->info.thread_id, STR_NONE, after, read_type,
                               &back, &t->err));
    types = arena_text(&t->arena, buf_text(&back.types));
    buf_release(&back.types);
    *ret_complete = back.seq;
    return types;
}

DB_TEST(who_reconnects_gets_the_end_of_a_withdrawn_edit_once)
{
    struct stage *stage = stage_new(t);
    int64_t complete = 0, ignored;
    struct str id;

    stage_says(stage, NOTE);
    id = stage_run(stage, "tea");
    stage_crash(stage);
    ASSERT_OK(run_cancel(stage->runner, id, &t->err));
    stage_settle(stage);
    ASSERT_OK(run_get(stage->runner, id, &t->arena, &stage->info, &t->err));
    ASSERT_TEXT(types_after(stage, 0, &complete),
                "init tool_use memory_edit_request waiting memory_edit_complete tool_result done");
    ASSERT_TEXT(types_after(stage, complete - 1, &ignored),
                "memory_edit_complete tool_result done");
    ASSERT_TEXT(types_after(stage, complete, &ignored), "tool_result done");
    ASSERT_TEXT(types_after(stage, complete + 1, &ignored), "done");
    stage_free(stage);
}

DB_TEST(an_edit_that_nobody_decided_ends_with_its_time)
{
    struct stage *stage = stage_new(t);

    stage_says(stage, NOTE);
    stage_says(stage, "never mind");
    stage_run(stage, "tea");
    stage_forget(stage);
    loop_fake_advance(stage->loop, DAYS(8));
    stage_settle(stage);
    ASSERT_TEXT(stage_story(stage), "memory_edit_complete tool_result text done");
    ASSERT_CONTAINS(stage_last(stage, "memory_edit_complete"), "\"code\":\"expired\"");
    stage_free(stage);
}

DB_TEST(the_end_of_an_edit_names_the_file_as_it_is_spelt)
{
    struct stage *stage = stage_new(t);

    put_file(stage, "knowledge/Ärzte.md", "- old\n", NULL);
    stage_says(stage, "!write_memory {\"path\":\"knowledge/ärzte.MD\",\"operation\":\"append\","
                      "\"content\":\"- new\\n\",\"reason\":\"said so\"}");
    stage_says(stage, "!write_memory {\"path\":\"knowledge/ÄRZTE.md\",\"operation\":\"delete\","
                      "\"reason\":\"said so\"}");
    stage_says(stage, "gone");
    stage_run(stage, "note it");
    ASSERT_EQ(stage_decide(stage, INBOX_REJECTED, NULL), 1);
    ASSERT_CONTAINS(stage_last(stage, "memory_edit_complete"), "\"path\":\"knowledge/Ärzte.md\"");
    ASSERT_EQ(stage_decide(stage, INBOX_APPROVED, NULL), 1);
    ASSERT_CONTAINS(stage_last(stage, "memory_edit_complete"), "\"success\":true");
    ASSERT_CONTAINS(stage_last(stage, "memory_edit_complete"), "\"path\":\"knowledge/Ärzte.md\"");
    stage_free(stage);
}

/* ---- crashes ---- */

DB_TEST(question_about_memory_outlives_a_crash)
{
    struct stage *stage = stage_new(t);

    stage_says(stage, NOTE);
    stage_says(stage, "noted");
    stage_run(stage, "tea");
    stage_restart(stage);
    stage_settle(stage);
    ASSERT_EQ(stage_decide(stage, INBOX_APPROVED, NULL), 1);
    ASSERT_STR(get_file(stage, "knowledge/a.md").content, "- likes tea\n");
    ASSERT_CONTAINS(stage_last(stage, "memory_edit_complete"), "\"success\":true");
    stage_free(stage);
}

/* ---- killed between the file and its record ---- */

/* Settles tick by tick; true when the file is there and the run has not heard of it. */
static bool stop_after_write(struct stage *stage)
{
    for (int i = 0; i < 50; i++) {
        if (get_file(stage, "knowledge/a.md").n || i == 49)
            return !stage_last(stage, "memory_edit_complete");
        loop_fake_tick(stage->loop);
    }
    return false;
}

static void crash_after_write(struct stage *stage, enum inbox_state state, const char *answer,
                              const char *content)
{
    const struct inbox_decision decision = { .state = state,
                                             .by = STR("owner"),
                                             .answer = str_from(answer) };
    struct test *t = stage->t;

    ASSERT_EQ(run_decide(stage->runner, stage_item(stage), &decision, &t->err), 1);
    ASSERT(stop_after_write(stage));
    stage_restart(stage);
    stage_settle(stage);
    ASSERT_CONTAINS(stage_last(stage, "memory_edit_complete"), "\"success\":true");
    ASSERT_STR(get_file(stage, "knowledge/a.md").content, content);
    ASSERT_EQ(get_file(stage, "knowledge/a.md").version, 1);
    ASSERT_TEXT(stage_status(stage, stage->info.run_id), "done");
}

DB_TEST(addition_that_was_made_before_a_crash_is_made_once)
{
    struct stage *stage = stage_new(t);

    stage_says(stage, "!write_memory {\"path\":\"knowledge/a.md\",\"operation\":\"append\","
                      "\"content\":\"once\\n\",\"reason\":\"r\"}");
    stage_says(stage, "noted");
    stage_run(stage, "add");
    crash_after_write(stage, INBOX_APPROVED, NULL, "once\n");
    stage_free(stage);
}

DB_TEST(edit_that_was_made_before_a_crash_is_not_asked_again)
{
    struct stage *stage = stage_new(t);

    stage_says(stage, NOTE);
    stage_says(stage, "noted");
    stage_run(stage, "tea");
    crash_after_write(stage, INBOX_EDITED,
                      "{\"path\":\"knowledge/a.md\",\"content\":\"mine\",\"reason\":\"r\"}",
                      "mine");
    stage_free(stage);
}

/* ---- an agent that is gone ---- */

static void ignore_result(void *arg, const struct tool_result *result)
{
    (void)arg, (void)result;
}

/* Another process has destroyed it between the yes, which was stored, and the act. */
DB_TEST(what_an_agent_remembers_late_is_refused_once_it_was_destroyed)
{
    struct stage *stage = stage_new(t);
    struct tool_job *job;
    struct agent agent;
    struct tool_call call = { .agent = &agent,
                              .wake_reason = STR("userInitiated"),
                              .name = STR("write_memory"),
                              .arguments = STR("{\"path\":\"knowledge/a.md\",\"content\":\"x\","
                                               "\"reason\":\"r\"}") };

    stage_says(stage, "Hello.");
    call.run_id = stage_run(stage, "hello");
    call.run_n = stage->info.n;
    call.thread_id = stage->info.thread_id;
    call.inbox_id = STR("somebody-said-yes");
    ASSERT_OK(agent_get(stage->domain, str_from(agent_id), &t->arena, &agent, &t->err));
    ASSERT_OK(loop_unit_begin(stage->loop, stage->domain, &t->err));
    ASSERT_EQ(agent_set_destroyed(stage->domain, stage->change, str_from(agent_id), 1, &t->err), 1);
    ASSERT_OK(loop_unit_end(stage->loop, true, &t->err));
    stage_settle(stage);
    ASSERT_FAILS(tool_start(stage->tools, &call, STR("operation"), STR_NONE, NULL, ignore_result,
                            NULL, &job, &t->err),
                 ERR_AGENT_DESTROYED);
    stage_settle(stage);
    ASSERT_EQ(get_file(stage, "knowledge/a.md").n, 0);
    stage_free(stage);
}
