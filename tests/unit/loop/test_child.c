/* Real children: how they start, what they get, and why one did not start.
 *
 * SPDX-License-Identifier: MIT
 */
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "child_rig.h"

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
    /* From a copy in sealed memory. */
    ASSERT_CONTAINS(launcher_path(), "/proc/self/fd/");
    ASSERT(truncate(launcher_path(), 0) < 0);
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
