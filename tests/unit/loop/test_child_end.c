/* Real children: how they end, and that nothing of them stays.
 *
 * SPDX-License-Identifier: MIT
 */
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "child_rig.h"

/* ---- the end ---- */

static void stop_loop(struct run *run, struct str bytes)
{
    (void)bytes;
    loop_stop(run->loop);
}

/* Starts it and runs until its first output, which is a pid. */
static pid_t start_and_read_pid(struct test *t, struct run *run, const char *act, const char *a)
{
    run->config.on_output = on_output;
    run->on_line = stop_loop;
    start(t, run, act, a, NULL);
    ASSERT_OK(loop_run(run->loop, &t->err));
    run->on_line = NULL;
    return atoi(buf_text(&run->seen));
}

TEST(at_the_time_limit_it_is_asked_to_end)
{
    AUTO(run) run = run_new_still(t);

    run->config.time_limit_ms = 300;
    start_and_read_pid(t, run, "polite", NULL);
    clock_advance(&run->clock, 300);
    finish(t, run);
    ASSERT(run->result.timed_out && !run->result.cancelled);
    ASSERT_EQ(run->result.exit_code, 3);
    ASSERT_TEXT(buf_text(&run->seen), "ready\nbye");
    ASSERT_EQ(run->result.duration_ms, 300);
}

static void pass_the_grace(struct loop_timer *timer)
{
    struct run *run = ((struct alarm *)timer)->run;

    clock_advance(&run->clock, run->config.grace_ms);
}

/* Both ignore SIGTERM. */
static void outlive_the_limit(struct test *t, const char *group)
{
    AUTO(run) run = run_new_still(t);
    struct alarm alarm = { { .fire = pass_the_grace }, run };
    pid_t grandchild;

    run->config.time_limit_ms = 300;
    run->config.grace_ms = 50;
    grandchild = start_and_read_pid(t, run, "stubborn", group);
    ASSERT(grandchild > 1 && kill(grandchild, 0) == 0);
    clock_advance(&run->clock, 300);
    loop_timer_start(run->loop, &alarm.timer, 0);
    finish(t, run);
    ASSERT(run->result.timed_out);
    ASSERT_EQ(run->result.signal, SIGKILL);
    ASSERT_EQ(run->result.duration_ms, 350);
    ASSERT(ends_within(grandchild, SOON_MS));
}

TEST(after_the_grace_the_whole_group_is_killed)
{
    outlive_the_limit(t, NULL);
}

TEST(a_grandchild_in_another_group_of_the_session_is_killed_too)
{
    outlive_the_limit(t, "other-group");
}

TEST(a_process_left_behind_neither_delays_the_end_nor_outlives_it)
{
    AUTO(run) run = run_new(t);
    pid_t left;

    run->config.drain_ms = 100;
    left = start_and_read_pid(t, run, "leave", NULL);
    finish(t, run);
    ASSERT_EQ(run->result.exit_code, 0);
    ASSERT(run->result.duration_ms < SOON_MS);
    ASSERT(ends_within(left, SOON_MS));
}

TEST(a_silent_process_left_behind_does_not_outlive_it)
{
    AUTO(run) run = run_new(t);
    pid_t left;

    left = start_and_read_pid(t, run, "leave", "silent");
    finish(t, run);
    ASSERT_EQ(run->result.exit_code, 0);
    ASSERT(ends_within(left, SOON_MS));
}

TEST(a_process_left_behind_in_another_group_does_not_outlive_it)
{
    AUTO(run) run = run_new(t);
    pid_t left;

    run->config.drain_ms = 100;
    left = start_and_read_pid(t, run, "leave", "other-group");
    finish(t, run);
    ASSERT(ends_within(left, SOON_MS));
}

TEST(a_process_that_left_the_session_does_not_delay_the_end)
{
    AUTO(run) run = run_new(t);
    pid_t left;

    run->config.drain_ms = 100;
    left = start_and_read_pid(t, run, "leave", "escape");
    finish(t, run);
    ASSERT_EQ(run->result.exit_code, 0);
    /* The documented limit: only a namespace would catch it. */
    ASSERT(kill(left, SIGKILL) == 0);
}

TEST(cancelling_ends_it_once)
{
    AUTO(run) run = run_new(t);

    start_and_read_pid(t, run, "polite", NULL);
    child_cancel(run->child);
    child_cancel(run->child);
    finish(t, run);
    ASSERT(run->result.cancelled && !run->result.timed_out);
    ASSERT_EQ(run->result.exit_code, 3);
}

TEST(cancelling_right_after_the_start_ends_it)
{
    AUTO(run) run = run_new(t);

    for (int i = 0; i < 20; i++) {
        start(t, run, "burn", NULL, NULL);
        child_cancel(run->child);
        finish(t, run);
        ASSERT(run->result.cancelled);
        ASSERT_EQ(run->result.signal, SIGTERM);
    }
}

TEST(a_paused_reader_does_not_keep_a_cancelled_child)
{
    AUTO(run) run = run_new(t);

    run->config.on_output = on_output;
    run->config.drain_ms = 20;
    run->on_line = pause_at_once;
    start(t, run, "flood", "3000000", NULL);
    ASSERT_OK(loop_run(run->loop, &t->err));
    child_cancel(run->child);
    finish(t, run);
    ASSERT(run->result.cancelled);
    ASSERT(run->seen.n < 3000000);
}

TEST(a_reader_that_resumes_late_is_not_kept_waiting_by_a_process_left_behind)
{
    AUTO(run) run = run_new(t);
    struct alarm alarm = { { .fire = resume_late }, run };

    run->config.on_output = on_output;
    run->config.drain_ms = 10;
    run->on_line = pause_at_once;
    start(t, run, "leave", NULL, NULL);
    ASSERT_OK(loop_run(run->loop, &t->err));
    loop_timer_start(run->loop, &alarm.timer, 100);
    finish(t, run);
    ASSERT(run->result.duration_ms < SOON_MS);
}

/* ---- nothing stays ---- */

struct many {
    struct loop *loop;
    int left;
    int wrong;
};

static void one_of_many(struct child *child, const struct child_result *result, void *arg)
{
    struct many *many = arg;

    (void)child;
    many->wrong += result->exit_code != 7 || !str_is(result->out, "to out\n");
    if (--many->left == 0)
        loop_stop(many->loop);
}

TEST(many_children_leave_no_zombie_and_no_descriptor)
{
    AUTO(run) run = run_new(t);
    struct many many = { run->loop, 0, 0 };
    const char *const argv[] = { "probe", "both", NULL };
    struct child_config config = {
        .path = PROBE_PATH, .argv = argv, .done = one_of_many, .arg = &many
    };
    int before;

    play(t, run, "both", NULL, NULL);
    before = count_fds();
    for (int round = 0; round < 4; round++) {
        for (int i = 0; i < 50; i++, many.left++)
            ASSERT_OK(child_start(run->loop, &config, &run->child, &t->err));
        ASSERT_OK(loop_run(run->loop, &t->err));
    }
    ASSERT_EQ(many.wrong, 0);
    ASSERT(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD);
    ASSERT_EQ(count_fds(), before);
}

/* ---- after kill -9 ---- */

TEST(what_a_killed_daemon_left_is_found_again_and_nobody_else)
{
    int fds[2], child = 0, grandchild = 0;
    unsigned long long stamp = 0;
    char line[128] = "";
    pid_t host;
    FILE *file;

    ASSERT(pipe(fds) == 0);
    host = fork();
    if (host == 0) {
        dup2(fds[1], 1);
        execl(CHILD_HOST_PATH, "child-host", PROBE_PATH, (char *)NULL);
        _exit(1);
    }
    close(fds[1]);
    file = fdopen(fds[0], "r");
    ASSERT(fgets(line, sizeof(line), file));
    ASSERT_EQ(sscanf(line, "%d %llu %d", &child, &stamp, &grandchild), 3);
    ASSERT(kill(child, 0) == 0 && kill(grandchild, 0) == 0);
    /* Another boot, another start, another pid: not ours to kill. */
    ASSERT_EQ(child_reap(child, stamp ^ (UINT64_C(1) << 50)), 0);
    ASSERT_EQ(child_reap(child, stamp - 1), 0);
    ASSERT_EQ(child_reap(1, stamp), 0);
    ASSERT_EQ(child_reap(getpid(), stamp), 0);
    ASSERT(kill(child, 0) == 0);
    kill(host, SIGKILL);
    ASSERT_EQ(waitpid(host, NULL, 0), host);
    /* The kernel ends the child with the daemon, but not what the child started. */
    ASSERT(ends_within(child, SOON_MS));
    ASSERT(kill(grandchild, 0) == 0);
    ASSERT(child_reap(child, stamp) >= 1);
    ASSERT(ends_within(grandchild, SOON_MS));
    fclose(file);
}

/* ---- the end of a process ---- */

TEST(a_loop_settles_when_its_children_have_ended)
{
    AUTO(run) run = run_new(t);

    loop_settle(run->loop); /* nothing to wait for */
    start(t, run, "polite", NULL, NULL);
    child_cancel(run->child);
    ASSERT_EQ(run->ended, 0);
    loop_settle(run->loop);
    ASSERT_EQ(run->ended, 1);
    /* run_free() ends the loop, which is a bug while a child is alive. */
}
