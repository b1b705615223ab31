/* What children have in common, whoever runs them.
 *
 * SPDX-License-Identifier: MIT
 */
#include "loop/child.h"

#include "base/limits.h"
#include "loop/child_int.h"

static size_t cap_of(size_t asked)
{
    return asked ? asked : LIMIT_CHILD_OUTPUT_BYTES;
}

size_t child_count(const char *const *list)
{
    size_t n = 0;

    while (list && list[n])
        n++;
    return n;
}

void child_init(struct child *child, const struct child_ops *ops, struct loop *loop,
                const struct child_config *config)
{
    child->ops = ops;
    child->loop = loop;
    child->on_output = config->on_output;
    child->done = config->done;
    child->arg = config->arg;
    child->grace_ms = config->grace_ms > 0 ? config->grace_ms : CHILD_GRACE_MS;
    child->drain_ms = config->drain_ms > 0 ? config->drain_ms : CHILD_DRAIN_MS;
    child->input_open = config->input_open;
    child->kept[CHILD_OUT] = BUF_INIT(cap_of(config->out_max));
    child->kept[CHILD_ERR] = BUF_INIT(cap_of(config->err_max));
    child->started_ms = clock_mono_ms(loop->clock);
    child->result.exit_code = -1;
}

void child_take(struct child *child, enum child_stream stream, struct str bytes)
{
    struct buf *kept = &child->kept[stream];

    if (child->on_output) {
        child->on_output(child, stream, bytes, child->arg);
        return;
    }
    if (bytes.n > kept->max - kept->n) {
        bytes.n = kept->max - kept->n;
        child->result.truncated[stream] = true;
    }
    buf_add(kept, bytes.p, bytes.n);
}

void child_finish(struct child *child)
{
    child->result.out = buf_str(&child->kept[CHILD_OUT]);
    child->result.error = buf_str(&child->kept[CHILD_ERR]);
    child->result.duration_ms = clock_mono_ms(child->loop->clock) - child->started_ms;
    child->loop->children--;
    child->done(child, &child->result, child->arg);
    buf_release(&child->kept[CHILD_OUT]);
    buf_release(&child->kept[CHILD_ERR]);
}

static int check_config(const struct loop *loop, const struct child_config *config, struct err *err)
{
    BUG_IF(!config->path || !config->argv || !config->argv[0] || !config->done);
    BUG_IF(config->fd_count > CHILD_FDS_MAX);
    if (loop->children >= CHILDREN_MAX)
        return err_set(err, ERR_RATE_LIMITED, "start %s: %d processes run already", config->path,
                       CHILDREN_MAX);
    if (!strchr(config->path, '/'))
        return err_set(err, ERR_BAD_REQUEST, "start %s: a path with a slash is needed",
                       config->path);
    if (config->input.n > CHILD_INPUT_BYTES)
        return err_set(err, ERR_TOO_LARGE, "start %s: input of %zu bytes, at most %u are allowed",
                       config->path, config->input.n, CHILD_INPUT_BYTES);
    return 0;
}

int child_start(struct loop *loop, const struct child_config *config, struct child **ret_child,
                struct err *err)
{
    const struct child_ops *ops = loop->child_ops ? loop->child_ops : &child_os_ops;

    if (check_config(loop, config, err) < 0 || ops->start(loop, config, ret_child, err) < 0)
        return -1;
    loop->children++;
    return 0;
}

void child_cancel(struct child *child)
{
    child->ops->cancel(child);
}

int child_write(struct child *child, struct str bytes, struct err *err)
{
    BUG_IF(!child->input_open);
    return child->ops->write(child, bytes, err);
}

void child_close_input(struct child *child)
{
    if (child->input_open)
        child->ops->close_input(child);
    child->input_open = false;
}

void child_pause(struct child *child, enum child_stream stream)
{
    child->ops->pause(child, stream, true);
}

void child_resume(struct child *child, enum child_stream stream)
{
    child->ops->pause(child, stream, false);
}

pid_t child_pid(const struct child *child)
{
    return child->pid;
}

uint64_t child_stamp(const struct child *child)
{
    return child->stamp;
}
