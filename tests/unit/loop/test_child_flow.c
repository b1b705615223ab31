/* Real children: what they may take, say and hear.
 *
 * SPDX-License-Identifier: MIT
 */
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "child_rig.h"

/* ---- limits ---- */

TEST(cpu_time_is_limited)
{
    AUTO(run) run = run_new(t);

    run->config.limits.cpu_s = 1;
    run->config.time_limit_ms = SECONDS(30);
    play(t, run, "burn", NULL, NULL);
    ASSERT_EQ(run->result.signal, SIGXCPU);
    /* The kernel counts a little differently for the limit and for the report. */
    ASSERT(run->result.cpu_ms >= 500);
}

TEST(memory_is_limited)
{
    AUTO(run) run = run_new(t);

    play(t, run, "swallow", "50000000", NULL);
    ASSERT_EQ(run->result.exit_code, 0);
    run->config.limits.memory_bytes = 40 << 20;
    play(t, run, "swallow", "50000000", NULL);
    ASSERT_EQ(run->result.exit_code, 9);
}

TEST(the_size_of_files_is_limited)
{
    AUTO(run) run = run_new(t);
    const char *path = test_path(t, "big");
    struct stat st;

    run->config.limits.file_bytes = 100000;
    play(t, run, "write-file", path, "200000");
    ASSERT_EQ(run->result.signal, SIGXFSZ);
    ASSERT(stat(path, &st) == 0);
    ASSERT_EQ(st.st_size, 100000);
}

static const char *copy_program(struct test *t, const char *from, const char *name)
{
    const char *to = test_path(t, name);
    struct str bytes = test_read_file(t, from);

    test_write_file(to, bytes.p, bytes.n);
    ASSERT(chmod(to, 0755) == 0);
    return to;
}

static void multiply_as(struct test *t, uid_t lonely, const char *launcher, const char *probe)
{
    AUTO(run) run = run_new(t);

    ASSERT(setgid(lonely) == 0 && setuid(lonely) == 0);
    child_set_launcher(launcher);
    run->config.path = probe;
    play(t, run, "multiply", "6", NULL);
    ASSERT_TEXT(run->out, "6\n");
    /* We, the probe, and three more. */
    run->config.limits.processes = 5;
    play(t, run, "multiply", "6", NULL);
    ASSERT_TEXT(run->out, "3\n");
}

TEST(the_number_of_processes_is_limited)
{
    /* A user nobody else is: the limit counts all processes of a user, and none of root's. */
    uid_t lonely = 20000 + (uid_t)getpid() % 40000;
    const char *launcher, *probe;
    int status = -1;
    pid_t pid;

    if (geteuid() != 0)
        SKIP("only root can become another user");
    launcher = copy_program(t, LAUNCHER_PATH, "launcher");
    probe = copy_program(t, PROBE_PATH, "probe");
    ASSERT(chmod(test_dir(t), 0755) == 0);
    pid = fork();
    if (pid == 0) {
        multiply_as(t, lonely, launcher, probe);
        _exit(0);
    }
    ASSERT_EQ(waitpid(pid, &status, 0), pid);
    ASSERT_EQ(status, 0);
}

TEST(a_limit_above_our_own_hard_limit_is_lowered)
{
    AUTO(run) run = run_new(t);
    struct rlimit hard = { 500, 500 };

    setrlimit(RLIMIT_NOFILE, &hard);
    run->config.limits.files = 100000;
    play(t, run, "state", NULL, NULL);
    ASSERT_CONTAINS(run->out, "files 500 ");
    run->config.limits.files = 0;
    play(t, run, "state", NULL, NULL);
    ASSERT_CONTAINS(run->out, "files 500 ");
}

/* ---- output ---- */

TEST(more_output_than_allowed_is_thrown_away_without_blocking_the_child)
{
    AUTO(run) run = run_new(t);

    run->config.out_max = 100000;
    play(t, run, "flood", "30000000", NULL);
    ASSERT_EQ(run->result.exit_code, 0);
    ASSERT(run->result.truncated[CHILD_OUT] && !run->result.truncated[CHILD_ERR]);
    ASSERT_EQ(run->result.out.n, 100000);
}

TEST(output_of_exactly_the_cap_is_not_truncated)
{
    AUTO(run) run = run_new(t);

    run->config.err_max = 70000;
    play(t, run, "flood", "70000", "2");
    ASSERT(!run->result.truncated[CHILD_ERR]);
    ASSERT_EQ(run->result.error.n, 70000);
    play(t, run, "flood", "70001", "2");
    ASSERT(run->result.truncated[CHILD_ERR]);
    ASSERT_EQ(run->result.error.n, 70000);
}

TEST(a_reader_that_pauses_makes_the_child_wait_and_loses_nothing)
{
    AUTO(run) run = run_new(t);
    int rounds = 0;

    run->config.on_output = on_output;
    run->on_line = pause_at_once;
    start(t, run, "flood", "3000000", NULL);
    while (run->ended == 0) {
        size_t before = run->seen.n;

        ASSERT_OK(loop_run(run->loop, &t->err));
        /* One read, then nothing until it is resumed. */
        ASSERT(run->seen.n - before <= 65536);
        rounds++;
        if (run->ended == 0)
            child_resume(run->child, CHILD_OUT);
    }
    ASSERT_EQ(run->seen.n, 3000000);
    ASSERT(rounds > 3000000 / 65536);
    ASSERT_EQ(run->result.out.n, 0);
    ASSERT(!run->result.truncated[CHILD_OUT]);
}

TEST(output_that_was_paused_when_the_child_ended_is_still_delivered)
{
    AUTO(run) run = run_new(t);
    struct alarm alarm = { { .fire = resume_late }, run };

    run->config.on_output = on_output;
    run->config.drain_ms = 10;
    run->on_line = pause_at_once;
    start(t, run, "flood", "100000", NULL);
    ASSERT_OK(loop_run(run->loop, &t->err));
    /* By then it has ended and the drain time is long over. */
    loop_timer_start(run->loop, &alarm.timer, 100);
    finish(t, run);
    ASSERT_EQ(run->seen.n, 100000);
}

/* ---- input ---- */

TEST(input_is_written_and_closed)
{
    AUTO(run) run = run_new(t);
    char *text = alloc_zero(3000001, 1);

    memset(text, 'i', 3000000);
    run->config.input = str_of(text, 3000000);
    run->config.out_max = 4000000;
    play(t, run, "echo", NULL, NULL);
    ASSERT_EQ(run->result.exit_code, 0);
    ASSERT_EQ(run->result.out.n, 3000000);
    ASSERT(memcmp(run->out, text, 3000000) == 0);
    free(text);
}

TEST(without_input_stdin_is_empty)
{
    AUTO(run) run = run_new(t);

    play(t, run, "echo", NULL, NULL);
    ASSERT_EQ(run->result.exit_code, 0);
    ASSERT_TEXT(run->out, "");
}

static void answer_twice(struct run *run, struct str bytes)
{
    (void)bytes;
    if (run->seen.n == 3)
        child_write(run->child, STR("two"), NULL);
    else if (run->seen.n == 6)
        child_close_input(run->child);
}

TEST(a_conversation_goes_back_and_forth)
{
    AUTO(run) run = run_new(t);

    run->config.on_output = on_output;
    run->config.input_open = true;
    run->config.input = STR("one");
    run->on_line = answer_twice;
    play(t, run, "echo", NULL, NULL);
    ASSERT_TEXT(buf_text(&run->seen), "onetwo");
    ASSERT_EQ(run->result.exit_code, 0);
}

TEST(a_child_that_does_not_listen_harms_nobody)
{
    AUTO(run) run = run_new(t);
    char *text = alloc_zero(CHILD_INPUT_BYTES + 1, 1);

    memset(text, 'i', CHILD_INPUT_BYTES);
    run->config.input = str_from(text);
    play(t, run, "deaf", NULL, NULL);
    ASSERT_TEXT(run->out, "closed\n");
    ASSERT_EQ(run->result.exit_code, 0);
    free(text);
}

TEST(unread_input_is_bounded)
{
    AUTO(run) run = run_new(t);
    char *text = alloc_zero(CHILD_INPUT_BYTES + 1, 1);

    memset(text, 'i', CHILD_INPUT_BYTES);
    run->config.input_open = true;
    start(t, run, "polite", NULL, NULL);
    ASSERT_OK(child_write(run->child, str_from(text), &t->err));
    ASSERT_FAILS(child_write(run->child, STR("x"), &t->err), ERR_TOO_LARGE);
    child_cancel(run->child);
    finish(t, run);
    free(text);
}
