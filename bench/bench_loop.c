/* What the loop costs: a tick with its unit and effect, and how long starting a child holds the
 * loop up, with a small and with a large process.
 *
 * The yardstick of the child is the same start from the small process: it must not grow with
 * resident size. uv_spawn() from the large one is printed beside it.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <uv.h>

#include "loop/child.h"
#include "loop/loop.h"

#define STARTS      60
#define LARGE_BYTES ((size_t)1 << 30)
#define TICKS       300000

static int64_t now_ns(void)
{
    return clock_mono_ns(clock_system());
}

static int by_size(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return x < y ? -1 : x > y;
}

static double median_us(int64_t *ns, size_t n)
{
    qsort(ns, n, sizeof(*ns), by_size);
    return (double)ns[n / 2] / 1000;
}

/* ---- children ---- */

static void child_done(struct child *child, const struct child_result *result, void *arg)
{
    (void)child;
    if (result->exit_code != 0) {
        fprintf(stderr, "child: %s\n", err_message(&result->err, 0));
        exit(1);
    }
    loop_stop(arg);
}

static void measure_children(struct loop *loop, double *ret_start_us, double *ret_whole_us)
{
    static const char *const argv[] = { "true", NULL };
    struct child_config config = {
        .path = "/bin/true", .argv = argv, .done = child_done, .arg = loop
    };
    int64_t start[STARTS], whole[STARTS];

    for (int i = 0; i < STARTS; i++) {
        struct err err = ERR_INIT;
        struct child *child;
        int64_t before = now_ns();

        if (child_start(loop, &config, &child, &err) < 0) {
            fprintf(stderr, "%s\n", err_message(&err, 0));
            exit(1);
        }
        start[i] = now_ns() - before;
        loop_run(loop, &err);
        whole[i] = now_ns() - before;
    }
    *ret_start_us = median_us(start, STARTS);
    *ret_whole_us = median_us(whole, STARTS);
}

static void uv_done(uv_process_t *process, int64_t status, int sig)
{
    (void)status, (void)sig;
    uv_close((uv_handle_t *)process, NULL);
    loop_stop(process->data);
}

static double measure_uv_spawn(struct loop *loop)
{
    char *argv[] = { (char *)(uintptr_t) "true", NULL };
    int64_t start[STARTS / 4];

    for (int i = 0; i < STARTS / 4; i++) {
        uv_process_t process = { .data = loop };
        uv_process_options_t options = { .file = "/bin/true", .args = argv, .exit_cb = uv_done };
        struct err err = ERR_INIT;
        int64_t before = now_ns();

        if (uv_spawn(loop_uv(loop), &process, &options) < 0)
            exit(1);
        start[i] = now_ns() - before;
        loop_run(loop, &err);
        loop_stop(loop);
        loop_run(loop, &err);
    }
    return median_us(start, STARTS / 4);
}

static void bench_children(struct loop *loop)
{
    double small, small_whole, large, large_whole, uv_large;
    char *ballast;

    measure_children(loop, &small, &small_whole);
    ballast = mmap(NULL, LARGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (ballast == MAP_FAILED)
        return;
    madvise(ballast, LARGE_BYTES, MADV_NOHUGEPAGE);
    memset(ballast, 1, LARGE_BYTES);
    measure_children(loop, &large, &large_whole);
    uv_large = measure_uv_spawn(loop);
    munmap(ballast, LARGE_BYTES);
    printf("{\"bench\":\"child.start\",\"resident\":\"1 GB\",\"value\":%.0f,\"unit\":\"us\","
           "\"yardstick\":\"the same from a small process\",\"yardstick_value\":%.0f,"
           "\"ratio\":%.2f,\"target\":2,\"ok\":%s,\"uv_spawn\":%.0f}\n",
           large, small, large / small, large <= 2 * small ? "true" : "false", uv_large);
    printf("{\"bench\":\"child.whole\",\"value\":%.0f,\"unit\":\"us\","
           "\"what\":\"/bin/true from start to done\",\"resident_1gb\":%.0f}\n",
           small_whole, large_whole);
}

/* ---- ticks ---- */

struct again {
    struct loop_effect effect; /* first */
    struct loop *loop;
    int left;
};

static void again_run(struct loop_effect *effect)
{
    struct again *again = (struct again *)effect;

    if (--again->left > 0)
        loop_after_commit(again->loop, effect);
    else
        loop_stop(again->loop);
}

static void again_drop(struct loop_effect *effect, const struct err *why)
{
    (void)effect, (void)why;
    abort();
}

static void bench_ticks(struct loop *loop)
{
    struct again again = { { again_run, again_drop }, loop, TICKS };
    struct err err = ERR_INIT;
    int64_t before = now_ns();

    loop_after_commit(loop, &again.effect);
    loop_run(loop, &err);
    printf("{\"bench\":\"loop.tick\",\"value\":%.0f,\"unit\":\"ticks/s\","
           "\"what\":\"one effect each, no domain\"}\n",
           TICKS / ((double)(now_ns() - before) / 1e9));
}

int main(int argc, char **argv)
{
    struct err err = ERR_INIT;
    struct loop *loop;

    if (child_launcher_asked(argc, argv))
        return child_launcher_main(argc, argv);
    if (loop_new(NULL, &loop, &err) < 0)
        return 1;
    bench_ticks(loop);
    bench_children(loop);
    loop_free(loop);
    return 0;
}
