/* A daemon in small: its main() is hooked as dormouse's is, it starts one stubborn child, says who
 * that is, and waits to be killed.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <stdlib.h>

#include "loop/child.h"

static void on_done(struct child *child, const struct child_result *result, void *arg)
{
    (void)child, (void)result, (void)arg;
    exit(1);
}

static void on_output(struct child *child, enum child_stream stream, struct str bytes, void *arg)
{
    (void)stream, (void)arg;
    printf("%d %llu %.*s", (int)child_pid(child), (unsigned long long)child_stamp(child),
           STR_ARG(bytes));
    fflush(stdout);
}

int main(int argc, char **argv)
{
    const char *args[] = { "probe", "stubborn", NULL };
    struct child_config config = { .argv = args, .on_output = on_output, .done = on_done };
    struct err err = ERR_INIT;
    struct loop *loop;
    struct child *child;

    if (child_launcher_asked(argc, argv))
        return child_launcher_main(argc, argv);
    config.path = argv[1];
    if (loop_new(NULL, &loop, &err) < 0 || child_start(loop, &config, &child, &err) < 0)
        return 1;
    return loop_run(loop, &err);
}
