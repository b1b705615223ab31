/* Real children: what they get, what they may take, and that nothing of them stays.
 *
 * SPDX-License-Identifier: MIT
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/pidfd.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/limits.h"
#include "harness/test.h"
#include "loop/child_int.h"

#define SOON_MS 20000 /* what would be waited for otherwise has no end */

/* One loop, and what the child of the moment said. */
struct run {
    struct clock_fake clock; /* of a still one */
    struct loop *loop;
    struct child *child;
    struct child_config config;
    const char *argv[8];
    int ended;
    struct child_result result;
    char *out, *error; /* copies */
    void (*on_line)(struct run *run, struct str bytes);
    struct buf seen; /* with on_output */
};

static struct run *run_new_by(struct test *t, struct run *run, struct clock *clock)
{
    child_set_launcher(LAUNCHER_PATH);
    ASSERT_OK(loop_new(clock, &run->loop, &t->err));
    run->seen = BUF_INIT(64 << 20);
    return run;
}

static struct run *run_new(struct test *t)
{
    return run_new_by(t, NEW(struct run), NULL);
}

/* Time passes only when the test says so, however busy the machine is. */
static struct run *run_new_still(struct test *t)
{
    struct run *run = NEW(struct run);

    clock_fake_init(&run->clock, 0);
    return run_new_by(t, run, &run->clock.clock);
}

static void run_free(struct run *run)
{
    loop_free(run->loop);
    buf_release(&run->seen);
    free(run->out);
    free(run->error);
    free(run);
}
AUTO_DEFINE(run)

static void on_done(struct child *child, const struct child_result *result, void *arg)
{
    struct run *run = arg;

    if (child != run->child)
        FAIL("done for another child");
    run->ended++;
    run->result = *result;
    free(run->out);
    free(run->error);
    run->out = alloc_copy(result->out.p, result->out.n);
    run->error = alloc_copy(result->error.p, result->error.n);
    loop_stop(run->loop);
}

static void on_output(struct child *child, enum child_stream stream, struct str bytes, void *arg)
{
    struct run *run = arg;

    (void)child, (void)stream;
    buf_add_str(&run->seen, bytes);
    if (run->on_line)
        run->on_line(run, bytes);
}

/* Arguments up to NULL. */
static void start(struct test *t, struct run *run, const char *act, const char *a, const char *b)
{
    run->argv[0] = "probe";
    run->argv[1] = act;
    run->argv[2] = a;
    run->argv[3] = b;
    run->config.path = run->config.path ? run->config.path : PROBE_PATH;
    run->config.argv = run->argv;
    run->config.done = on_done;
    run->config.arg = run;
    run->ended = 0;
    ASSERT_OK(child_start(run->loop, &run->config, &run->child, &t->err));
}

static void finish(struct test *t, struct run *run)
{
    if (run->ended == 0)
        ASSERT_OK(loop_run(run->loop, &t->err));
    ASSERT_EQ(run->ended, 1);
}

static void play(struct test *t, struct run *run, const char *act, const char *a, const char *b)
{
    start(t, run, act, a, b);
    finish(t, run);
}

/* Waits until a process that is not our child has ended. */
static bool ends_within(pid_t pid, int ms)
{
    int fd = pidfd_open(pid, 0);
    struct pollfd poll_fd = { .fd = fd, .events = POLLIN };
    bool ended;

    if (fd < 0)
        return errno == ESRCH;
    ended = poll(&poll_fd, 1, ms) == 1;
    close(fd);
    return ended;
}

static int count_fds(void)
{
    DIR *dir = opendir("/proc/self/fd");
    int n = 0;

    while (readdir(dir))
        n++;
    closedir(dir);
    return n;
}

/* ---- the launcher ---- */

static void make_launcher(struct test *t, const char *name, mode_t mode)
{
    const char *path = test_path(t, name);

    test_write_file(path, "x", 1);
    ASSERT(chmod(path, mode) == 0);
}

TEST(the_small_launcher_is_looked_for_by_our_binary_and_must_be_trustworthy)
{
    const char *bin = test_path(t, "bin");
    char path[512];

    ASSERT(mkdir(bin, 0700) == 0 && !launcher_find(bin, path, sizeof(path)));
    make_launcher(t, "bin/" CHILD_LAUNCHER, 0600);
    ASSERT(!launcher_find(bin, path, sizeof(path)));
    make_launcher(t, "bin/" CHILD_LAUNCHER, 0775);
    ASSERT(!launcher_find(bin, path, sizeof(path)));
    make_launcher(t, "bin/" CHILD_LAUNCHER, 0755);
    ASSERT(launcher_find(bin, path, sizeof(path)));
    ASSERT_TEXT(path, test_path(t, "bin/" CHILD_LAUNCHER));
    if (geteuid() == 0) {
        ASSERT(chown(path, 12345, 12345) == 0);
        ASSERT(!launcher_find(bin, path, sizeof(path)));
    }
    ASSERT(mkdir(test_path(t, "libexec"), 0700) == 0);
    ASSERT(mkdir(test_path(t, "libexec/dormouse"), 0700) == 0);
    make_launcher(t, "libexec/dormouse/" CHILD_LAUNCHER, 0755);
    ASSERT(launcher_find(bin, path, sizeof(path)));
    ASSERT_CONTAINS(path, "libexec/dormouse/");
    /* A name that does not fit is not cut. */
    ASSERT(!launcher_find(bin, path, strlen(path)));
}

TEST(without_a_small_launcher_our_own_binary_is_taken)
{
    child_set_launcher(NULL);
    ASSERT_TEXT(launcher_path(), "/proc/self/exe");
    child_set_launcher(LAUNCHER_PATH);
    ASSERT_TEXT(launcher_path(), LAUNCHER_PATH);
}

/* ---- what comes back ---- */

TEST(output_and_exit_code_come_back)
{
    AUTO(run) run = run_new(t);

    play(t, run, "both", NULL, NULL);
    ASSERT_TEXT(run->out, "to out\n");
    ASSERT_TEXT(run->error, "to err\n");
    ASSERT_EQ(run->result.exit_code, 7);
    ASSERT_EQ(run->result.signal, 0);
    ASSERT_EQ(run->result.err.code, ERR_NONE);
    ASSERT(!run->result.timed_out && !run->result.cancelled);
    ASSERT(!run->result.truncated[0] && !run->result.truncated[1]);
    ASSERT(run->result.memory_peak_bytes > 4096);
    ASSERT(run->result.duration_ms < SOON_MS);
}

TEST(both_outputs_can_be_one)
{
    AUTO(run) run = run_new(t);

    run->config.merge = true;
    play(t, run, "both", NULL, NULL);
    ASSERT_TEXT(run->out, "to out\nto err\n");
    ASSERT_TEXT(run->error, "");
}

TEST(a_signal_that_ended_it_is_told)
{
    AUTO(run) run = run_new(t);

    play(t, run, "die", "11", NULL);
    ASSERT_EQ(run->result.signal, SIGSEGV);
    ASSERT_EQ(run->result.exit_code, -1);
}

/* ---- what it gets ---- */

TEST(the_environment_is_what_was_given_and_nothing_more)
{
    AUTO(run) run = run_new(t);
    const char *const env[] = { "LANG=C.UTF-8", "EMPTY=", NULL };

    setenv("DORMOUSE_SECRET", "do not tell", 1);
    play(t, run, "env", NULL, NULL);
    ASSERT_TEXT(run->out, "");
    run->config.env = env;
    play(t, run, "env", NULL, NULL);
    ASSERT_TEXT(run->out, "LANG=C.UTF-8\nEMPTY=\n");
}

TEST(the_environment_means_nothing_to_the_launcher)
{
    AUTO(run) run = run_new(t);
    const char *const env[] = { "LD_PRELOAD=/no/such/library.so", "+ODD=1", NULL };
    const char *first;

    /* A dynamic one, as the daemon itself is: each program that honours LD_PRELOAD complains once.
     */
    child_set_launcher(CHILD_HOST_PATH);
    run->config.env = env;
    play(t, run, "env", NULL, NULL);
    ASSERT_TEXT(run->out, "LD_PRELOAD=/no/such/library.so\n+ODD=1\n");
    first = strstr(run->error, "cannot be preloaded");
    ASSERT(first && !strstr(first + 1, "cannot be preloaded"));
}

TEST(no_descriptor_leaks_into_it)
{
    AUTO(run) run = run_new(t);
    int fd = open("/dev/null", O_RDONLY); /* without CLOEXEC, on purpose */

    ASSERT(fd >= 0 && dup2(fd, 200) == 200 && dup2(fd, 900) == 900 && dup2(fd, 20) == 20);
    play(t, run, "fds", NULL, NULL);
    ASSERT_TEXT(run->out, "0 1 2 ");
}

TEST(named_descriptors_go_over_even_when_their_numbers_cross)
{
    AUTO(run) run = run_new(t);
    int a[2], b[2], crossed[2];

    ASSERT(pipe2(a, O_CLOEXEC) == 0 && pipe2(b, O_CLOEXEC) == 0);
    ASSERT(write(a[1], "a", 1) == 1 && write(b[1], "b", 1) == 1);
    /* Whatever 3 and 4 were belongs to the loop; take numbers just above and in reverse. */
    crossed[0] = b[0];
    crossed[1] = a[0];
    run->config.fds = crossed;
    run->config.fd_count = 2;
    play(t, run, "read-fds", NULL, NULL);
    ASSERT_TEXT(run->out, "ba");
    ASSERT(write(a[1], "a", 1) == 1 && write(b[1], "b", 1) == 1);
    play(t, run, "fds", NULL, NULL);
    ASSERT_TEXT(run->out, "0 1 2 3 4 ");
}

TEST(descriptors_three_and_four_can_be_swapped)
{
    /* No loop yet, so that 3 and 4 are ours. */
    int fds[2][2], swapped[] = { 4, 3 };
    struct run *run;

    ASSERT(pipe2(fds[0], O_CLOEXEC) == 0 && pipe2(fds[1], O_CLOEXEC) == 0);
    ASSERT(write(fds[0][1], "a", 1) == 1 && write(fds[1][1], "b", 1) == 1);
    ASSERT(dup3(fds[0][0], 103, O_CLOEXEC) == 103 && dup3(fds[1][0], 104, O_CLOEXEC) == 104);
    ASSERT(dup2(103, 3) == 3 && dup2(104, 4) == 4);
    run = run_new(t);
    run->config.fds = swapped;
    run->config.fd_count = 2;
    play(t, run, "read-fds", NULL, NULL);
    ASSERT_TEXT(run->out, "ba");
    run_free(run);
}

TEST(it_begins_like_a_fresh_process)
{
    AUTO(run) run = run_new(t);
    struct rlimit files;
    sigset_t some;

    signal(SIGINT, SIG_IGN);
    sigemptyset(&some);
    sigaddset(&some, SIGUSR1);
    sigaddset(&some, SIGTERM);
    sigprocmask(SIG_BLOCK, &some, NULL);
    getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
    umask(0);
    play(t, run, "state", NULL, NULL);
    ASSERT_TEXT(run->out,
                "session 1 group 1 signals 0 files 1024 core 0 death 9 umask 077 cwd /\n");
    child_set_files(300);
    play(t, run, "state", NULL, NULL);
    ASSERT_CONTAINS(run->out, " files 300 ");
    child_set_files(UINT64_MAX);
    play(t, run, "state", NULL, NULL);
    ASSERT_CONTAINS(run->out,
                    arena_printf(&t->arena, " files %llu ", (unsigned long long)files.rlim_max));
    run->config.umask = 022;
    run->config.cwd = "/proc";
    run->config.limits.files = 64;
    play(t, run, "state", NULL, NULL);
    ASSERT_TEXT(run->out,
                "session 1 group 1 signals 0 files 64 core 0 death 9 umask 022 cwd /proc\n");
}

/* ---- why it did not start ---- */

TEST(a_program_that_is_not_there_is_named)
{
    AUTO(run) run = run_new(t);

    run->config.path = "/no/such/program";
    play(t, run, "x", NULL, NULL);
    ASSERT_EQ(run->result.err.code, ERR_NOT_FOUND);
    ASSERT_TEXT(err_message(&run->result.err, 0),
                "start /no/such/program: No such file or directory");
    ASSERT_EQ(run->result.exit_code, -1);
}

TEST(a_directory_that_is_not_there_is_named)
{
    AUTO(run) run = run_new(t);

    run->config.cwd = "/no/such/place";
    play(t, run, "both", NULL, NULL);
    ASSERT_EQ(run->result.err.code, ERR_NOT_FOUND);
    ASSERT_CONTAINS(err_message(&run->result.err, 0), "in /no/such/place: No such file");
    ASSERT_TEXT(run->out, "");
}

TEST(what_cannot_be_executed_says_why)
{
    AUTO(run) run = run_new(t);
    const char *path = test_path(t, "file");

    test_write_file(path, "not a program", 13);
    chmod(path, 0600);
    run->config.path = path;
    play(t, run, "x", NULL, NULL);
    ASSERT_EQ(run->result.err.code, ERR_PATH_DENIED);
    chmod(path, 0700);
    play(t, run, "x", NULL, NULL);
    ASSERT_EQ(run->result.err.code, ERR_BAD_REQUEST);
}

TEST(a_bare_name_is_refused)
{
    AUTO(run) run = run_new(t);

    run->config.path = "sh";
    run->config.argv = run->argv;
    run->argv[0] = "sh";
    run->config.done = on_done;
    ASSERT_FAILS(child_start(run->loop, &run->config, &run->child, &t->err), ERR_BAD_REQUEST);
}

TEST(arguments_and_input_that_are_too_long_are_refused)
{
    AUTO(run) run = run_new(t);
    char *text = alloc_zero(CHILD_INPUT_BYTES + 2, 1);

    memset(text, 'a', CHILD_INPUT_BYTES + 1);
    run->config.path = PROBE_PATH;
    run->config.argv = run->argv;
    run->argv[0] = text;
    run->config.done = on_done;
    ASSERT_FAILS(child_start(run->loop, &run->config, &run->child, &t->err), ERR_TOO_LARGE);
    run->argv[0] = "probe";
    run->config.input = str_from(text);
    ASSERT_FAILS(child_start(run->loop, &run->config, &run->child, &t->err), ERR_TOO_LARGE);
    free(text);
}

TEST(a_missing_launcher_is_an_error_and_leaks_nothing)
{
    AUTO(run) run = run_new(t);
    int before;

    run->config.path = PROBE_PATH;
    run->config.argv = run->argv;
    run->argv[0] = "probe";
    run->config.done = on_done;
    before = count_fds();
    child_set_launcher("/no/such/launcher");
    ASSERT_FAILS(child_start(run->loop, &run->config, &run->child, &t->err), ERR_INTERNAL);
    ASSERT_EQ(count_fds(), before);
}

TEST(running_out_of_descriptors_is_an_error_and_leaks_nothing)
{
    AUTO(run) run = run_new(t);
    struct rlimit files, few;
    int before;

    getrlimit(RLIMIT_NOFILE, &files);
    run->config.path = PROBE_PATH;
    run->config.argv = run->argv;
    run->argv[0] = "probe";
    run->argv[1] = "both";
    run->config.done = on_done;
    run->config.arg = run;
    before = count_fds();
    for (rlim_t n = 20; n < 34; n++) {
        few = (struct rlimit){ n, files.rlim_max };
        setrlimit(RLIMIT_NOFILE, &few);
        run->ended = 0;
        if (child_start(run->loop, &run->config, &run->child, &t->err) == 0)
            finish(t, run);
        setrlimit(RLIMIT_NOFILE, &files);
        ASSERT_OK((loop_stop(run->loop), loop_run(run->loop, &t->err)));
        ASSERT_EQ(count_fds(), before);
    }
}

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

static void pause_at_once(struct run *run, struct str bytes)
{
    (void)bytes;
    child_pause(run->child, CHILD_OUT);
    loop_stop(run->loop);
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

struct alarm {
    struct loop_timer timer; /* first */
    struct run *run;
};

static void resume_late(struct loop_timer *timer)
{
    struct run *run = ((struct alarm *)timer)->run;

    run->on_line = NULL;
    child_resume(run->child, CHILD_OUT);
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
