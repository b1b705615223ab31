/* Runs registered tests, each in a child process, and counts.
 *
 * SPDX-License-Identifier: MIT
 */
#include "harness/test.h"

#include <errno.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"

#define EXIT_SKIPPED      77
#define DEFAULT_TIMEOUT_S 180
#define FILE_BYTES_MAX    (256u << 20)

static struct test_case *tests_first, **tests_end = &tests_first;
/* Shared with the children, for tests that count their own cases. */
static struct tally {
    unsigned passed, failed, skipped;
} * tally;
static char dir_path[64];
static bool with_times;
static unsigned limit_s;    /* for every test; 0: its own */
static const char *without; /* tests of this variant are left out */

void test_register(struct test_case *test)
{
    *tests_end = test;
    tests_end = &test->next;
}

void test_case_passed(void)
{
    tally->passed++;
}

void test_case_failed(const char *fmt, ...)
{
    va_list args;

    printf("  case failed: ");
    va_start(args, fmt);
    vprintf(fmt, args);
    va_end(args);
    putchar('\n');
    tally->failed++;
}

void test_case_skipped(unsigned n)
{
    tally->skipped += n;
}

bool test_long(void)
{
    return getenv("DORMOUSE_TEST_LONG") != NULL;
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st, (void)type, (void)ftw;
    return remove(path);
}

static void remove_dir(void)
{
    if (dir_path[0])
        nftw(dir_path, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
    dir_path[0] = '\0';
}

_Noreturn void test_fail(const char *file, int line, const char *fmt, ...)
{
    va_list args;

    printf("  %s:%d: ", file, line);
    va_start(args, fmt);
    vprintf(fmt, args);
    va_end(args);
    putchar('\n');
    fflush(stdout);
    remove_dir();
    _exit(1);
}

_Noreturn void test_skip(const char *fmt, ...)
{
    va_list args;

    printf("  skipped: ");
    va_start(args, fmt);
    vprintf(fmt, args);
    va_end(args);
    putchar('\n');
    fflush(stdout);
    remove_dir();
    _exit(EXIT_SKIPPED);
}

const char *test_err_text(struct test *t)
{
    char *text = arena_alloc(&t->arena, ERR_TEXT_MAX + 64, 1);

    return err_format(&t->err, text, ERR_TEXT_MAX + 64);
}

const char *test_dir(struct test *t)
{
    (void)t;
    if (!dir_path[0]) {
        snprintf(dir_path, sizeof(dir_path), "/tmp/dormouse-test-XXXXXX");
        if (!mkdtemp(dir_path))
            FAIL("mkdtemp: %s", strerror(errno));
    }
    return dir_path;
}

const char *test_path(struct test *t, const char *name)
{
    return arena_printf(&t->arena, "%s/%s", test_dir(t), name);
}

const char *test_source_root(void)
{
    return DORMOUSE_SOURCE_ROOT;
}

const char *test_data_dir(void)
{
    const char *path = getenv("DORMOUSE_TEST_DATA");

    if (!path || !*path)
        path = DORMOUSE_SOURCE_ROOT "/../shared/data";
    return access(path, R_OK) == 0 ? path : NULL;
}

struct str test_read_file(struct test *t, const char *path)
{
    AUTO_BUF text = BUF_INIT(FILE_BYTES_MAX);
    FILE *file = fopen(path, "rb");
    size_t n;

    if (!file)
        FAIL("open %s: %s", path, strerror(errno));
    while ((n = fread(buf_reserve(&text, 65536), 1, 65536, file)) > 0)
        buf_grown(&text, n);
    fclose(file);
    return arena_str(&t->arena, buf_str(&text));
}

void test_write_file(const char *path, const char *bytes, size_t n)
{
    FILE *file = fopen(path, "wb");

    if (!file || fwrite(bytes, 1, n, file) != n || fclose(file) != 0)
        FAIL("write %s: %s", path, strerror(errno));
}

static void run_body(const struct test_case *test)
{
    struct test t = { .err = ERR_INIT, .arena = ARENA_INIT, .param = test->param };

    test->run(&t);
    arena_release(&t.arena);
    remove_dir();
}

static double seconds_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static double seconds_of(struct timeval tv)
{
    return (double)tv.tv_sec + (double)tv.tv_usec / 1e6;
}

/* Of the test and of the children it waited for; a database server is not among them. */
static void print_times(const struct rusage *used, double passed)
{
    printf("%8.3f user %8.3f sys %8.3f real  ", seconds_of(used->ru_utime),
           seconds_of(used->ru_stime), passed);
}

static unsigned seconds_for(const struct test_case *test)
{
    unsigned own = (unsigned)(test->timeout_s ? test->timeout_s : DEFAULT_TIMEOUT_S);

    return limit_s && limit_s < own ? limit_s : own;
}

/* Children of a test that hangs or crashes must not outlive it: they share its process group. */
static int run_child(const struct test_case *test)
{
    double began = seconds_now();
    struct rusage used = { 0 };
    int status;
    pid_t pid;

    fflush(NULL);
    pid = fork();
    if (pid < 0) {
        perror("fork");
        exit(1);
    }
    if (pid == 0) {
        setpgid(0, 0);
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        alarm(seconds_for(test));
        run_body(test);
        alarm(0);
        exit(0);
    }
    setpgid(pid, pid);
    while (wait4(pid, &status, 0, &used) < 0 && errno == EINTR)
        ;
    kill(-pid, SIGKILL);
    if (with_times)
        print_times(&used, seconds_now() - began);
    return status;
}

static void count_result(const struct test_case *test, int status, struct tally before)
{
    bool counted = tally->passed + tally->failed + tally->skipped !=
                   before.passed + before.failed + before.skipped;
    const char *word = "ok";

    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
        if (!counted)
            tally->passed++;
        else if (tally->failed != before.failed)
            word = "FAILED";
    } else if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SKIPPED) {
        word = "skipped";
        if (!counted)
            tally->skipped++;
    } else {
        word = "FAILED";
        tally->failed++;
        if (WIFSIGNALED(status))
            printf("  ended by signal %d (%s)\n", WTERMSIG(status),
                   WTERMSIG(status) == SIGALRM ? "time limit" : strsignal(WTERMSIG(status)));
    }
    printf("%-7s %s%s%s%s\n", word, test->name, test->variant ? "[" : "",
           test->variant ? test->variant : "", test->variant ? "]" : "");
}

int main(int argc, char **argv)
{
    const char *wanted = NULL;
    bool in_process = false, list = false, stop = false;

    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--no-fork") == 0)
            in_process = true;
        else if (strcmp(argv[i], "--list") == 0)
            list = true;
        else if (strcmp(argv[i], "--times") == 0)
            with_times = true;
        else if (strcmp(argv[i], "--stop") == 0)
            stop = true;
        else if (strcmp(argv[i], "--limit") == 0 && i + 1 < argc)
            limit_s = (unsigned)atoi(argv[++i]);
        else if (strcmp(argv[i], "--without") == 0 && i + 1 < argc)
            without = argv[++i];
        else
            wanted = argv[i];
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
    tally = mmap(NULL, sizeof(*tally), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (tally == MAP_FAILED)
        return 1;
    for (const struct test_case *test = tests_first; test; test = test->next) {
        struct tally before = *tally;

        if (wanted && !strstr(test->name, wanted) && !strstr(test->file, wanted))
            continue;
        if (without && test->variant && strcmp(test->variant, without) == 0)
            continue;
        if (list) {
            puts(test->name);
        } else if (in_process) {
            run_body(test);
            count_result(test, 0, before);
        } else {
            count_result(test, run_child(test), before);
        }
        if (stop && tally->failed)
            break;
    }
    if (list)
        return 0;
    printf("%u passed, %u failed, %u skipped\n", tally->passed, tally->failed, tally->skipped);
    return tally->failed || tally->passed + tally->skipped == 0;
}
