/* What the loop costs: a tick with its unit and effect, and how long starting a child holds the
 * loop up, with a small and with a large process.
 *
 * The yardstick of the child is the same start from the small process: it must not grow with
 * resident size. Both take turns in rounds, so that what else the machine does hits both alike.
 * uv_spawn() is printed beside it.
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

#define ROUNDS      5
#define STARTS      (ROUNDS * 16)
#define UV_STARTS   4 /* in a round */
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

/* What was measured with one size of the process, over all rounds. */
struct starts {
    int64_t start[STARTS], whole[STARTS], uv[STARTS];
    int n, uv_n;
};

static void child_done(struct child *child, const struct child_result *result, void *arg)
{
    (void)child;
    if (result->exit_code != 0) {
        fprintf(stderr, "child: %s\n", err_message(&result->err, 0));
        exit(1);
    }
    loop_stop(arg);
}

static void start_child(struct loop *loop, struct starts *starts)
{
    static const char *const argv[] = { "true", NULL };
    struct child_config config = {
        .path = "/bin/true", .argv = argv, .done = child_done, .arg = loop
    };
    struct err err = ERR_INIT;
    struct child *child;
    int64_t before = now_ns();

    if (child_start(loop, &config, &child, &err) < 0) {
        fprintf(stderr, "%s\n", err_message(&err, 0));
        exit(1);
    }
    starts->start[starts->n] = now_ns() - before;
    loop_run(loop, &err);
    starts->whole[starts->n++] = now_ns() - before;
}

static void uv_done(uv_process_t *process, int64_t status, int sig)
{
    (void)status, (void)sig;
    uv_close((uv_handle_t *)process, NULL);
    loop_stop(process->data);
}

static void start_by_uv(struct loop *loop, struct starts *starts)
{
    char *argv[] = { (char *)(uintptr_t) "true", NULL };
    uv_process_t process = { .data = loop };
    uv_process_options_t options = { .file = "/bin/true", .args = argv, .exit_cb = uv_done };
    struct err err = ERR_INIT;
    int64_t before = now_ns();

    if (uv_spawn(loop_uv(loop), &process, &options) < 0)
        exit(1);
    starts->uv[starts->uv_n++] = now_ns() - before;
    loop_run(loop, &err);
    loop_stop(loop);
    loop_run(loop, &err);
}

static void bench_round(struct loop *loop, struct starts *starts)
{
    for (int i = 0; i < STARTS / ROUNDS; i++)
        start_child(loop, starts);
    for (int i = 0; i < UV_STARTS; i++)
        start_by_uv(loop, starts);
}

static void bench_children(struct loop *loop)
{
    static struct starts small, large;
    double small_us, large_us;

    for (int i = 0; i < ROUNDS; i++) {
        char *ballast =
            mmap(NULL, LARGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

        if (ballast == MAP_FAILED)
            return;
        bench_round(loop, &small);
        madvise(ballast, LARGE_BYTES, MADV_NOHUGEPAGE);
        memset(ballast, 1, LARGE_BYTES);
        bench_round(loop, &large);
        munmap(ballast, LARGE_BYTES);
    }
    small_us = median_us(small.start, STARTS);
    large_us = median_us(large.start, STARTS);
    printf("{\"bench\":\"child.start\",\"resident\":\"1 GB\",\"value\":%.0f,\"unit\":\"us\","
           "\"yardstick\":\"the same from a small process\",\"yardstick_value\":%.0f,"
           "\"ratio\":%.2f,\"target\":2,\"ok\":%s,\"uv_spawn\":%.0f,\"uv_spawn_small\":%.0f}\n",
           large_us, small_us, large_us / small_us, large_us <= 2 * small_us ? "true" : "false",
           median_us(large.uv, (size_t)large.uv_n), median_us(small.uv, (size_t)small.uv_n));
    printf("{\"bench\":\"child.whole\",\"value\":%.0f,\"unit\":\"us\","
           "\"what\":\"/bin/true from start to done\",\"resident_1gb\":%.0f}\n",
           median_us(small.whole, STARTS), median_us(large.whole, STARTS));
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
