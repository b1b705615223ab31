/* Children for tests and the simulator: they follow a script on the loop's clock.
 *
 * SPDX-License-Identifier: MIT
 */
#include <signal.h>
#include <stdlib.h>

#include "loop/child_int.h"

#define FIRST_PID 100000

struct fakes {
    void (*play)(const struct child_config *config, struct child_fake_act *act, void *arg);
    void *arg;
    pid_t last_pid;
};

struct child_scripted {
    struct child child; /* first */
    struct loop_timer end;
    int exit_code, signal;
    char *said[2]; /* by stream */
    size_t said_bytes[2];
};

static struct child_scripted *scripted_of(struct child *child)
{
    return (struct child_scripted *)child;
}

static void remember(struct child_scripted *s, enum child_stream stream, struct str text)
{
    s->said[stream] = alloc_copy(text.p ? text.p : "", text.n);
    s->said_bytes[stream] = text.n;
}

static void say(struct child_scripted *s, enum child_stream stream)
{
    if (s->said_bytes[stream] > 0)
        child_take(&s->child, stream, str_of(s->said[stream], s->said_bytes[stream]));
    free(s->said[stream]);
}

static void on_end(struct loop_timer *timer)
{
    struct child_scripted *s = CONTAINER(timer, struct child_scripted, end);

    if (s->child.result.err.code == ERR_NONE) {
        s->child.result.signal = s->signal;
        s->child.result.exit_code = s->signal ? -1 : s->exit_code;
    }
    say(s, CHILD_OUT);
    say(s, CHILD_ERR);
    child_finish(&s->child);
    free(s);
}

static void end_by_signal(struct child_scripted *s, int64_t delay_ms)
{
    s->signal = SIGTERM;
    loop_timer_start(s->child.loop, &s->end, delay_ms);
}

static void fake_cancel(struct child *child)
{
    if (child->result.cancelled || child->result.err.code != ERR_NONE)
        return;
    child->result.cancelled = true;
    child->result.timed_out = false;
    end_by_signal(scripted_of(child), 0);
}

static int fake_write(struct child *child, struct str bytes, struct err *err)
{
    (void)child, (void)bytes, (void)err;
    return 0;
}

static void fake_close_input(struct child *child)
{
    (void)child;
}

static void fake_pause(struct child *child, enum child_stream stream, bool paused)
{
    (void)child, (void)stream, (void)paused;
}

static void schedule(struct child_scripted *s, const struct child_config *config,
                     const struct child_fake_act *act)
{
    if (act->fails != ERR_NONE) {
        err_set(&s->child.result.err, act->fails, "start %s: it was told to fail", config->path);
        loop_timer_start(s->child.loop, &s->end, 0);
    } else if (config->time_limit_ms > 0 && (act->hangs || act->after_ms > config->time_limit_ms)) {
        s->child.result.timed_out = true;
        end_by_signal(s, config->time_limit_ms);
    } else if (!act->hangs) {
        loop_timer_start(s->child.loop, &s->end, act->after_ms);
    }
}

static int fake_start(struct loop *loop, const struct child_config *config,
                      struct child **ret_child, struct err *err);

static const struct child_ops child_fake_ops = {
    .start = fake_start,
    .cancel = fake_cancel,
    .write = fake_write,
    .close_input = fake_close_input,
    .pause = fake_pause,
};

static int fake_start(struct loop *loop, const struct child_config *config,
                      struct child **ret_child, struct err *err)
{
    struct fakes *fakes = loop->child_arg;
    struct child_scripted *s = NEW(struct child_scripted);
    struct child_fake_act act = { 0 };

    (void)err;
    child_init(&s->child, &child_fake_ops, loop, config);
    s->child.pid = fakes->last_pid++;
    s->child.stamp = (uint64_t)s->child.pid;
    s->end.fire = on_end;
    fakes->play(config, &act, fakes->arg);
    s->exit_code = act.exit_code;
    s->signal = act.signal;
    remember(s, CHILD_OUT, act.out);
    remember(s, CHILD_ERR, act.error);
    schedule(s, config, &act);
    *ret_child = &s->child;
    return 0;
}

void child_fake_install(struct loop *loop,
                        void (*play)(const struct child_config *config, struct child_fake_act *act,
                                     void *arg),
                        void *arg)
{
    struct fakes *fakes = loop->child_arg ? loop->child_arg : NEW(struct fakes);

    *fakes = (struct fakes){ .play = play, .arg = arg, .last_pid = FIRST_PID };
    loop->child_ops = &child_fake_ops;
    loop->child_arg = fakes;
}
