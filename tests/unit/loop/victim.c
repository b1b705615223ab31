/* SPDX-License-Identifier: MIT */
#include "victim.h"

#include <stdio.h>
#include <unistd.h>

#include "loop/loop.h"
#include "row_store.h"

struct victim {
    struct loop_tick_hook hook; /* first */
    struct loop *loop;
    struct domain *domain;
    int64_t id;
    int fd;
};

static struct victim victim;

static void say(struct loop_effect *effect)
{
    (void)effect;
    if (write(victim.fd, &victim.id, sizeof(victim.id)) != sizeof(victim.id))
        _exit(2);
}

static void fail(struct loop_effect *effect, const struct err *why)
{
    (void)effect;
    fprintf(stderr, "dropped: %s\n", err_message(why, 0));
    _exit(3);
}

static void next_group(struct loop_tick_hook *hook)
{
    static struct loop_effect effect = { .run = say, .drop = fail };
    struct err err = ERR_INIT;

    (void)hook;
    victim.id++;
    if (loop_unit_begin(victim.loop, victim.domain, &err) < 0)
        _exit(4);
    for (int i = 0; i < VICTIM_ROWS; i++)
        if (rows_add(victim.domain, victim.id, &err) < 0)
            _exit(5);
    loop_after_commit(victim.loop, &effect);
    if (loop_unit_end(victim.loop, true, &err) < 0)
        _exit(6);
}

_Noreturn void victim_run(const char *path, int fd)
{
    struct err err = ERR_INIT;

    victim.fd = fd;
    if (rows_open(path, &victim.domain, &err) < 0 ||
        rows_max(victim.domain, &victim.id, &err) < 0 || loop_new(NULL, &victim.loop, &err) < 0) {
        fprintf(stderr, "%s\n", err_message(&err, 0));
        _exit(1);
    }
    loop_attach(victim.loop, victim.domain);
    victim.hook.after_tick = next_group;
    loop_add_tick_hook(victim.loop, &victim.hook);
    loop_wake(victim.loop);
    loop_run(victim.loop, &err);
    _exit(7);
}
