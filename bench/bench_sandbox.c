/* How long the sandbox takes: `true` in the full one against bubblewrap alone with the same
 * namespaces, and the second command in a running hand.
 *
 * The two take turns in going first, because whoever comes second pays for what the kernel still
 * tidies up after the other.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "loop/child.h"
#include "sandbox/exec.h"
#include "sandbox/hand.h"
#include "sandbox/hand_int.h"

#define ROUNDS       50
#define CALLS        200
#define RATIO_TARGET 1.5
#define CALL_TARGET  3.0 /* ms */

static double now_ms(void)
{
    return (double)clock_mono_ns(clock_system()) / 1e6;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double median(double *values, size_t n)
{
    qsort(values, n, sizeof(*values), by_value);
    return values[n / 2];
}

/* ---- bubblewrap alone ---- */

static double bare_ms(void)
{
    const char *argv[] = { "bwrap",
                           "--unshare-user",
                           "--unshare-pid",
                           "--unshare-ipc",
                           "--unshare-uts",
                           "--unshare-net",
                           "--unshare-cgroup-try",
                           "--disable-userns",
                           "--die-with-parent",
                           "--ro-bind",
                           "/",
                           "/",
                           "--proc",
                           "/proc",
                           "--dev",
                           "/dev",
                           "--tmpfs",
                           "/tmp",
                           "--",
                           "/bin/true",
                           NULL };
    double began = now_ms();
    int status;
    pid_t pid;

    if (posix_spawn(&pid, walls_bwrap(), NULL, NULL, (char *const *)argv, environ) != 0 ||
        waitpid(pid, &status, 0) != pid || status != 0) {
        fprintf(stderr, "bwrap alone does not work\n");
        exit(1);
    }
    return now_ms() - began;
}

/* ---- the full one ---- */

static double full_ms(struct loop *loop, const struct sandbox_spec *spec)
{
    static const char *const argv[] = { "/bin/true", NULL };
    struct err err = ERR_INIT;
    double began = now_ms();

    if (sandbox_exec(loop, spec, argv, 0, &err) != 0) {
        fprintf(stderr, "sandbox: %s\n", err.code ? err_message(&err, 0) : "failed");
        exit(1);
    }
    return now_ms() - began;
}

static bool bench_exec(struct loop *loop, const struct sandbox_spec *spec)
{
    double bare[ROUNDS], full[ROUNDS], b, f;

    bare_ms();
    full_ms(loop, spec);
    for (int i = 0; i < ROUNDS; i++) {
        if (i % 2)
            bare[i] = bare_ms();
        full[i] = full_ms(loop, spec);
        if (i % 2 == 0)
            bare[i] = bare_ms();
    }
    b = median(bare, ROUNDS);
    f = median(full, ROUNDS);
    printf(
        "{\"bench\":\"sandbox.exec\",\"value\":%.2f,\"unit\":\"ms\",\"yardstick\":\"bwrap with the "
        "same namespaces\",\"yardstick_value\":%.2f,\"ratio\":%.2f,\"best\":%.2f,"
        "\"yardstick_best\":%.2f,\"target\":%.1f,\"ok\":%s}\n",
        f, b, f / b, full[0], bare[0], RATIO_TARGET, f / b <= RATIO_TARGET ? "true" : "false");
    return f / b <= RATIO_TARGET;
}

/* ---- a running hand ---- */

static void on_done(void *arg, const struct hand_reply *reply)
{
    if (reply->err.code != ERR_NONE) {
        fprintf(stderr, "hand: %s\n", err_message(&reply->err, 0));
        exit(1);
    }
    loop_stop(arg);
}

static double call_ms(struct loop *loop, struct hand *hand)
{
    struct err err = ERR_INIT;
    double began = now_ms();

    if (hand_call(hand, "bash", STR("{\"command\":\"true\"}"), on_done, loop, NULL, &err) < 0 ||
        loop_run(loop, &err) < 0) {
        fprintf(stderr, "hand: %s\n", err_message(&err, 0));
        exit(1);
    }
    return now_ms() - began;
}

static bool bench_hand(struct loop *loop, const struct sandbox_spec *spec)
{
    struct hand *hand = hand_new(&(struct hand_config){ .loop = loop, .spec = *spec });
    double first = call_ms(loop, hand), calls[CALLS], m;

    for (int i = 0; i < CALLS; i++)
        calls[i] = call_ms(loop, hand);
    m = median(calls, CALLS);
    printf("{\"bench\":\"hand.exec\",\"first_ms\":%.2f,\"value\":%.2f,\"unit\":\"ms\",\"p95\":%.2f,"
           "\"target\":%.1f,\"ok\":%s}\n",
           first, m, calls[CALLS * 95 / 100], CALL_TARGET, m < CALL_TARGET ? "true" : "false");
    hand_free(hand);
    return m < CALL_TARGET;
}

int main(void)
{
    static const char *const writable[] = { ".", NULL };
    static const char *const denied[] = { "~/.ssh", "~/.aws", "~/.gnupg", ".env", NULL };
    char dir[] = "/tmp/dormouse-bench-XXXXXX";
    struct sandbox_spec spec = { .allow_write = writable, .deny_read = denied };
    struct loop *loop = NULL;
    struct err err = ERR_INIT;
    bool ok;

    child_set_launcher(LAUNCHER_PATH);
    hand_set_path(HAND_PATH);
    if (sandbox_available(&err) < 0 || loop_new(NULL, &loop, &err) < 0 || !mkdtemp(dir)) {
        fprintf(stderr, "bench-sandbox: %s\n", err.code ? err_message(&err, 0) : strerror(errno));
        return 1;
    }
    spec.cwd = dir;
    ok = bench_exec(loop, &spec);
    ok = bench_hand(loop, &spec) && ok;
    rmdir(dir);
    /* The last hand is collected by the system. */
    return ok ? 0 : 1;
}
