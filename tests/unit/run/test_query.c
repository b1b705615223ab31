/* What is told about runs: which one is open, how one ended, lists and beginnings of ids.
 *
 * SPDX-License-Identifier: MIT
 */
#include "run/program.h"
#include "run/trace.h"
#include "stage.h"

/* The one that is open in the thread of this run; NULL: none is. */
static const char *open_beside(struct stage *stage, struct str run_id)
{
    struct test *t = stage->t;
    struct run_info info;
    int r = run_open_in_thread(stage->runner, stage_info(stage, run_id).thread_id, &t->arena, &info,
                               &t->err);

    ASSERT_OK(r);
    return r ? arena_str(&t->arena, info.run_id).p : NULL;
}

DB_TEST(the_run_of_a_thread_is_open_until_it_ends)
{
    struct stage *stage = stage_new(t);
    struct run_info info;
    struct str id;

    ASSERT_EQ(run_open_in_thread(stage->runner, STR("nowhere"), &t->arena, &info, &t->err), 0);
    stage_says(stage, "?");
    id = arena_str(&t->arena, stage_run(stage, "hello"));
    ASSERT_TEXT(open_beside(stage, id), id.p);
    stage_answer(stage, "hi");
    stage_settle(stage);
    ASSERT(!open_beside(stage, id));
    stage_free(stage);
}

DB_TEST(a_run_that_waits_for_a_person_is_open_after_a_crash_too)
{
    struct stage *stage = stage_new(t);
    struct str id;

    stage_says(stage, "!mail {\"to\":\"ada\"}");
    stage_says(stage, "ok");
    id = arena_str(&t->arena, stage_run(stage, "mail"));
    ASSERT_TEXT(open_beside(stage, id), id.p);
    ASSERT_EQ(stage_info(stage, id).wait_item.n > 0, true);
    stage_crash(stage);
    stage_settle(stage);
    ASSERT_TEXT(open_beside(stage, id), id.p);
    ASSERT_EQ(stage_decide(stage, INBOX_APPROVED, ""), 1);
    ASSERT(!open_beside(stage, id));
    stage_free(stage);
}

/* "stop_reason error_code", "" for one that ended well or goes on. */
static const char *ending(struct stage *stage, struct str run_id)
{
    struct test *t = stage->t;
    struct run_ending end;
    struct run_info info = stage_info(stage, run_id);
    int r = run_end_of(stage->runner, info.n, &t->arena, &end, &t->err);

    ASSERT_OK(r);
    if (r == 0)
        return "";
    ASSERT(str_eq(end.run_id, run_id));
    ASSERT_EQ(end.at, info.ended_at);
    return arena_printf(&t->arena, "%.*s %.*s", STR_ARG(end.stop_reason), STR_ARG(end.error_code));
}

DB_TEST(how_a_run_ended_is_told_when_it_was_not_with_an_answer)
{
    struct stage *stage = stage_new(t);
    struct run_ending end;
    struct str id;

    ASSERT_EQ(run_end_of(stage->runner, 999, &t->arena, &end, &t->err), 0);
    stage_says(stage, "hi");
    ASSERT_TEXT(ending(stage, arena_str(&t->arena, stage_run(stage, "hello"))), "");
    stage_says(stage, "?");
    id = arena_str(&t->arena, stage_run(stage, "wait"));
    ASSERT_TEXT(ending(stage, id), "");
    ASSERT_OK(run_cancel(stage->runner, id, &t->err));
    stage_settle(stage);
    ASSERT_TEXT(ending(stage, id), "cancelled cancelled");
    stage_says(stage, "#bad_request the server says no");
    id = arena_str(&t->arena, stage_run(stage, "fail"));
    ASSERT_TEXT(ending(stage, id), "error bad_request");
    stage_free(stage);
}

static const char *listed(struct stage *stage, const char *agent_id, int64_t before, int limit)
{
    struct test *t = stage->t;
    struct run_info *infos;
    char *text = arena_text(&t->arena, "");
    size_t n;

    ASSERT_OK(
        run_list(stage->runner, str_from(agent_id), before, limit, &t->arena, &infos, &n, &t->err));
    for (size_t i = 0; i < n; i++)
        text = arena_printf(&t->arena, "%s%s%.*s", text, i ? " " : "", STR_ARG(infos[i].prompt));
    return text;
}

DB_TEST(runs_are_listed_newest_first_from_any_of_them_on)
{
    struct stage *stage = stage_new(t);
    struct run_info *infos, info;
    struct str ids[3];
    size_t n;

    for (int i = 0; i < 3; i++) {
        stage_says(stage, "ok");
        ids[i] = arena_str(&t->arena, stage_run(stage, i == 0 ? "one" : i == 1 ? "two" : "three"));
    }
    ASSERT_TEXT(listed(stage, "", 0, 0), "three two one");
    ASSERT_TEXT(listed(stage, "planner", 0, 2), "three two");
    ASSERT_TEXT(listed(stage, "", stage_info(stage, ids[1]).n, 0), "one");
    ASSERT_TEXT(listed(stage, "", stage_info(stage, ids[0]).n, 0), "");
    ASSERT_FAILS(run_list(stage->runner, STR("nobody"), 0, 0, &t->arena, &infos, &n, &t->err),
                 ERR_NOT_FOUND);
    err_reset(&t->err);
    ASSERT_OK(run_find(stage->runner, str_take(ids[2], ids[2].n - 1), &t->arena, &info, &t->err));
    ASSERT_STR(info.prompt, "three");
    ASSERT_STR(info.result, "ok");
    ASSERT_FAILS(run_find(stage->runner, STR("zzzzzzzz"), &t->arena, &info, &t->err),
                 ERR_NOT_FOUND);
    err_reset(&t->err);
    ASSERT_FAILS(run_get(stage->runner, str_take(ids[2], 8), &t->arena, &info, &t->err),
                 ERR_NOT_FOUND);
    stage_free(stage);
}

/* ---- what it worked and what it waited ---- */

static void find_end(void *arg, struct str line)
{
    *(unsigned *)arg += str_find(line, STR(" done ")) > 0 &&
                        str_find(line, STR("(took 4.0 min, waited 55.0 min for you)")) > 0;
}

DB_TEST(time_in_which_a_run_waited_for_a_person_is_told_apart)
{
    struct stage *stage = stage_new(t);
    struct run_info info;
    unsigned told = 0;
    struct str run;

    stage_says(stage, "?");
    run = stage_run(stage, "send");
    loop_fake_advance(stage->loop, MINUTES(4));
    stage_answer(stage, "!send {}");
    stage_settle(stage);
    ASSERT_EQ(stage_info(stage, run).active_ms / SECONDS(1), 240);
    loop_fake_advance(stage->loop, MINUTES(55));
    stage_says(stage, "sent");
    ASSERT_OK(stage_decide(stage, INBOX_APPROVED, ""));
    info = stage_info(stage, run);
    ASSERT_STR(info.status, "done");
    ASSERT_EQ((info.ended_at - info.created_at) / MINUTES(1), 59);
    ASSERT_EQ(info.active_ms / MINUTES(1), 4);
    ASSERT_EQ(info.waited_ms / MINUTES(1), 55);
    ASSERT_OK(run_trace(stage->domain, info.n, &run_program, false, find_end, &told, &t->err));
    ASSERT_EQ(told, 1);
    stage_free(stage);
}

DB_TEST(questions_of_the_same_time_are_waited_for_once)
{
    struct stage *stage = stage_new(t);
    struct run_info info;
    struct str run;

    stage_says(stage, "!send {}\n!send {\"to\":\"b\"}");
    stage_says(stage, "sent");
    run = stage_run(stage, "send both");
    loop_fake_advance(stage->loop, MINUTES(10));
    ASSERT_OK(stage_decide(stage, INBOX_APPROVED, ""));
    loop_fake_advance(stage->loop, MINUTES(5));
    ASSERT_OK(stage_decide(stage, INBOX_REJECTED, ""));
    info = stage_info(stage, run);
    ASSERT_STR(info.status, "done");
    ASSERT_EQ(info.active_ms / SECONDS(1), 0);
    ASSERT_EQ(info.waited_ms / MINUTES(1), 15);
    stage_free(stage);
}

DB_TEST(a_run_that_works_while_it_asks_does_not_wait)
{
    struct stage *stage = stage_new(t);
    struct run_info info;
    struct str run;

    stage->hold_tools = true;
    stage_says(stage, "!note {}\n!send {}");
    stage_says(stage, "sent");
    run = stage_run(stage, "note and send");
    loop_fake_advance(stage->loop, SECONDS(5));
    ASSERT_OK(stage_decide(stage, INBOX_REJECTED, ""));
    stage_finish(stage);
    info = stage_info(stage, run);
    ASSERT_STR(info.status, "done");
    ASSERT_EQ(info.active_ms / SECONDS(1), 5);
    ASSERT_EQ(info.waited_ms, 0);
    stage_free(stage);
}
