/* One process of a hand: started behind its walls, spoken to through a socket, ended.
 *
 *     start --> waits for hello --> serves --> close --> drop (or it ends) --> collected
 *
 * The first message carries the sender's credentials, which the kernel fills in: so the keeper
 * learns the number that process 1 of the namespace has outside.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <uv.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/visible.h"
#include "loop/child.h"
#include "sandbox/cgroup.h"
#include "sandbox/frame.h"
#include "sandbox/hand_int.h"
#include "sandbox/hand_net.h"
#include "sandbox/spec_int.h"

#define READ_BYTES    65536
#define READS_AT_ONCE 16
#define UNSENT_BYTES  (32 * MIB)
#define SAID_BYTES    4096 /* of stderr, for messages */

struct hand_proc {
    struct loop *loop;
    struct hand_proc_calls calls;
    void *arg;
    bool dropped, greeted, watched, deaf; /* deaf: it has closed its end */
    bool child_gone, off;
    struct child *child;
    struct walls walls;
    struct cgroup *group; /* NULL: none could be made */
    struct hand_net *net; /* NULL: no network at all */
    int socket, leader;   /* leader: pidfd of process 1 inside; -1 */
    uv_poll_t poll;
    struct buf in, out;
    struct loop_timer start_limit;
};

static void write_some(struct hand_proc *proc);

/* ---- the end ---- */

static void on_poll_closed(uv_handle_t *handle)
{
    struct hand_proc *proc = handle->data;

    proc->watched = false;
    if (proc->child_gone)
        free(proc);
}

static void close_socket(struct hand_proc *proc)
{
    if (proc->socket < 0)
        return;
    loop_timer_stop(proc->loop, &proc->start_limit);
    uv_poll_stop(&proc->poll);
    close(proc->socket);
    proc->socket = -1;
    uv_close((uv_handle_t *)&proc->poll, on_poll_closed);
    buf_release(&proc->in);
    buf_release(&proc->out);
}

static void kill_all(struct hand_proc *proc)
{
    /* Without a namespace only the hand itself can find them all. */
    if (proc->off && !proc->child_gone) {
        child_cancel(proc->child);
        return;
    }
    if (proc->leader >= 0) {
        syscall(SYS_pidfd_send_signal, proc->leader, SIGKILL, NULL, 0);
        close(proc->leader);
        proc->leader = -1;
    }
    if (!proc->child_gone) {
        kill(-child_pid(proc->child), SIGKILL);
        child_cancel(proc->child);
    }
}

void hand_proc_drop(struct hand_proc *proc)
{
    proc->dropped = true;
    hand_net_free(proc->net);
    proc->net = NULL;
    close_socket(proc);
    kill_all(proc);
}

static void give_up(struct hand_proc *proc, const struct err *why)
{
    if (proc->dropped)
        return;
    hand_proc_drop(proc);
    proc->calls.ended(proc->arg, why);
}

/* Why it ended: what bubblewrap said when the walls could not be built. */
static void on_child_done(struct child *child, const struct child_result *result, void *arg)
{
    struct hand_proc *proc = arg;
    struct err why = ERR_INIT;
    char said[SAID_BYTES + 1];

    (void)child;
    proc->child_gone = true;
    snprintf(said, sizeof(said), "%.*s", STR_ARG(result->error));
    said[strcspn(said, "\n")] = '\0';
    if (result->err.code != ERR_NONE)
        err_set(&why, ERR_SANDBOX_UNAVAILABLE, "%s", err_message(&result->err, 0));
    else if (!proc->greeted)
        walls_explain(&why, said);
    else
        err_set(&why, ERR_INTERNAL, "the sandbox ended (%s)", said[0] ? said : "killed");
    give_up(proc, &why);
    if (proc->leader >= 0)
        close(proc->leader);
    cgroup_free(proc->group);
    walls_release(&proc->walls);
    if (!proc->watched)
        free(proc);
}

static void on_start_limit(struct loop_timer *timer)
{
    struct hand_proc *proc =
        (struct hand_proc *)((char *)timer - offsetof(struct hand_proc, start_limit));
    struct err why = ERR_INIT;

    err_set(&why, ERR_SANDBOX_UNAVAILABLE, "the sandbox was not ready after %d s",
            HAND_START_MS / 1000);
    give_up(proc, &why);
}

/* ---- in ---- */

/* The walls stand: only now is it told what to do. */
static void greet(struct hand_proc *proc)
{
    const char *unheld[SANDBOX_UNHELD_MAX];
    char detail[512], closed[256];

    proc->greeted = true;
    loop_timer_stop(proc->loop, &proc->start_limit);
    walls_let_go(&proc->walls);
    if (proc->out.n > 0)
        write_some(proc);
    if (proc->walls.names_cut)
        proc->calls.notice(proc->arg, "names", STR(WALLS_NAMES_CUT));
    if (proc->walls.closed && !proc->dropped) {
        snprintf(detail, sizeof(detail), WALLS_CLOSED,
                 visible_name(proc->walls.closed, closed, sizeof(closed)));
        proc->calls.notice(proc->arg, "names", str_from(detail));
    }
    for (size_t i = 0, n = proc->off ? 0 : spec_unheld(proc->group, proc->walls.cwd, unheld);
         i < n && !proc->dropped; i++)
        proc->calls.notice(proc->arg, "limits", str_from(unheld[i]));
}

/* False when the process was given up or dropped meanwhile. */
static bool take_one(struct hand_proc *proc, struct str json)
{
    struct hand_frame frame;
    struct err why = ERR_INIT;

    if (hand_frame_read(json, &frame, &why) < 0) {
        err_wrap(&why, "the hand said");
    } else if ((frame.said == HAND_SAID_HELLO) == proc->greeted) {
        err_set(&why, ERR_BAD_REQUEST, "the hand greeted twice, or never");
    } else if (frame.said == HAND_SAID_HELLO) {
        greet(proc);
    } else if (frame.said == HAND_SAID_NOTICE) {
        proc->calls.notice(proc->arg, frame.kind, frame.detail);
    } else {
        proc->calls.reply(proc->arg, &frame);
    }
    hand_frame_release(&frame);
    if (why.code != ERR_NONE) {
        why.code = ERR_INTERNAL;
        give_up(proc, &why);
    }
    return !proc->dropped;
}

static bool take_frames(struct hand_proc *proc)
{
    struct err why = ERR_INIT;
    struct str json;
    size_t used, done = 0;
    int r;

    while ((r = frame_take(str_skip(buf_str(&proc->in), done),
                           proc->greeted ? FRAME_BYTES : FRAME_SMALL_BYTES, &json, &used, &why)) ==
           1) {
        if (!take_one(proc, json))
            return false;
        done += used;
    }
    if (r < 0) {
        err_wrap(&why, "the hand said");
        why.code = ERR_INTERNAL;
        give_up(proc, &why);
        return false;
    }
    buf_consume(&proc->in, done);
    return true;
}

/* The sender's number as we see it, from the kernel. */
static void learn_leader(struct hand_proc *proc, struct msghdr *message)
{
    for (struct cmsghdr *c = CMSG_FIRSTHDR(message); c; c = CMSG_NXTHDR(message, c)) {
        struct ucred who;

        if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_CREDENTIALS || proc->leader >= 0)
            continue;
        memcpy(&who, CMSG_DATA(c), sizeof(who));
        proc->leader = (int)syscall(SYS_pidfd_open, who.pid, 0);
    }
}

/* There is no room for descriptors: the kernel drops what would be sent. */
static ssize_t receive(struct hand_proc *proc, char *room)
{
    char control[CMSG_SPACE(sizeof(struct ucred))];
    struct iovec part = { .iov_base = room, .iov_len = READ_BYTES };
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control)
    };
    ssize_t n;

    if (proc->greeted)
        return read(proc->socket, room, READ_BYTES);
    n = recvmsg(proc->socket, &message, MSG_CMSG_CLOEXEC);
    if (n > 0)
        learn_leader(proc, &message);
    return n;
}

static bool read_some(struct hand_proc *proc)
{
    char *room = buf_reserve(&proc->in, READ_BYTES);
    ssize_t n = room ? receive(proc, room) : -1;

    if (n > 0) {
        buf_grown(&proc->in, (size_t)n);
        return take_frames(proc);
    }
    if (n < 0 && room && (errno == EAGAIN || errno == EINTR))
        return false;
    /* Its end: the child's own end follows and says why. */
    proc->deaf = true;
    uv_poll_stop(&proc->poll);
    if (!proc->child_gone)
        kill(-child_pid(proc->child), SIGTERM);
    return false;
}

/* ---- the end in peace ---- */

void hand_proc_close(struct hand_proc *proc)
{
    struct err why = ERR_INIT;

    err_set(&why, ERR_CANCELLED, "the run has ended");
    if (!proc->greeted || proc->deaf) {
        give_up(proc, &why);
        return;
    }
    shutdown(proc->socket, SHUT_WR);
    loop_timer_start(proc->loop, &proc->start_limit, HAND_LAST_MS);
}

/* Those that may still say something; the others have no descriptor. */
static size_t close_polls(struct hand_proc *const *procs, size_t n, struct pollfd *polls)
{
    size_t open = 0;

    for (size_t i = 0; i < n; i++) {
        bool over = procs[i]->dropped || procs[i]->deaf;

        polls[i] = (struct pollfd){ .fd = over ? -1 : procs[i]->socket, .events = POLLIN };
        open += !over;
    }
    return open;
}

void hand_proc_close_wait(struct hand_proc *const *procs, size_t n)
{
    struct pollfd *polls = NEW_N(struct pollfd, n);
    int64_t until = clock_mono_ms(clock_system()) + HAND_LAST_MS, left = HAND_LAST_MS;
    struct err why = ERR_INIT;

    while (left > 0 && close_polls(procs, n, polls) > 0 && poll(polls, n, (int)left) > 0) {
        for (size_t i = 0; i < n; i++)
            if (polls[i].revents)
                read_some(procs[i]);
        left = until - clock_mono_ms(clock_system());
    }
    err_set(&why, ERR_CANCELLED, "the run has ended");
    for (size_t i = 0; i < n; i++)
        give_up(procs[i], &why);
    free(polls);
}

/* ---- out ---- */

static void watch(struct hand_proc *proc);

static void write_some(struct hand_proc *proc)
{
    ssize_t n = send(proc->socket, proc->out.p, proc->out.n, MSG_NOSIGNAL | MSG_DONTWAIT);

    if (n > 0)
        buf_consume(&proc->out, (size_t)n);
    else if (errno != EAGAIN && errno != EINTR)
        buf_clear(&proc->out); /* it is ending; on_child_done() tells */
    watch(proc);
}

static void on_event(uv_poll_t *poll, int status, int events)
{
    struct hand_proc *proc = poll->data;

    (void)status;
    if ((events & UV_WRITABLE) && proc->greeted && proc->out.n > 0)
        write_some(proc);
    for (int i = 0; (events & UV_READABLE) && i < READS_AT_ONCE && read_some(proc); i++)
        ;
}

static void watch(struct hand_proc *proc)
{
    bool writes = proc->greeted && proc->out.n > 0;

    uv_poll_start(&proc->poll, UV_READABLE | (writes ? UV_WRITABLE : 0), on_event);
}

int hand_proc_send(struct hand_proc *proc, struct str json, struct err *err)
{
    if (frame_put(&proc->out, json) < 0)
        return err_set(err, ERR_TOO_LARGE,
                       "the hand has not read %zu bytes yet, or this is more "
                       "than %u",
                       proc->out.n, FRAME_BYTES);
    if (proc->greeted)
        write_some(proc);
    return 0;
}

/* ---- start ---- */

static int start_child(struct hand_proc *proc, const struct sandbox_spec *spec, struct str state,
                       struct err *err)
{
    struct hand_told told = { .proxy = proc->net != NULL,
                              .time_limit_ms = spec_time(spec),
                              .state = state };
    struct hand_start start;
    int r = hand_start_init(&start, spec, &proc->walls, proc->group, &told, err);

    if (r == 0)
        r = child_start(proc->loop,
                        &(struct child_config){
                            .path = start.path,
                            .argv = start.argv,
                            .env = proc->walls.env.items,
                            .fds = start.fds,
                            .fd_count = start.n,
                            .umask = 022,
                            .err_max = SAID_BYTES,
                            .out_max = SAID_BYTES,
                            .grace_ms = spec->off ? CHILD_GRACE_MS : 100,
                            .done = on_child_done,
                            .arg = proc,
                        },
                        &proc->child, err);
    if (r == 0) {
        proc->socket = start.socket;
        start.socket = -1;
    }
    hand_start_release(&start);
    return r;
}

static void begin_watch(struct hand_proc *proc)
{
    if (uv_poll_init(loop_uv(proc->loop), &proc->poll, proc->socket) < 0)
        BUG("uv_poll_init");
    proc->poll.data = proc;
    proc->watched = true;
    proc->start_limit.fire = on_start_limit;
    loop_timer_start(proc->loop, &proc->start_limit, HAND_START_MS);
    watch(proc);
}

static void on_refused(void *arg, const char *detail)
{
    struct hand_proc *proc = arg;

    proc->calls.notice(proc->arg, "network", str_from(detail));
}

static int start_walled(struct hand_proc *proc, const struct sandbox_spec *spec, struct str state,
                        struct err *err)
{
    struct walls_how how = { .own = hand_own_files() };

    if (hand_program(err) < 0)
        return -1;
    if (!spec->off && !walls_bwrap())
        return walls_explain(err, "");
    if (spec->allow_domains && spec->allow_domains[0] && !spec->off &&
        hand_net_start(proc->loop, spec->allow_domains, on_refused, proc, &proc->net, err) < 0)
        return -1;
    how.proxy_socket = hand_net_socket(proc->net);
    if (walls_build(spec, &how, &proc->walls, err) < 0)
        return -1;
    if (!spec->off)
        proc->group = spec_cgroup(spec);
    return start_child(proc, spec, state, err);
}

int hand_proc_start(struct loop *loop, const struct sandbox_spec *spec, struct str state,
                    const struct hand_proc_calls *calls, void *arg, struct hand_proc **ret_proc,
                    struct err *err)
{
    struct hand_proc *proc = NEW(struct hand_proc);

    *proc = (struct hand_proc){
        .loop = loop, .calls = *calls, .arg = arg, .off = spec->off, .socket = -1, .leader = -1
    };
    proc->in = BUF_INIT(FRAME_BYTES + FRAME_HEAD + READ_BYTES);
    proc->out = BUF_INIT(UNSENT_BYTES);
    if (start_walled(proc, spec, state, err) < 0) {
        cgroup_free(proc->group);
        hand_net_free(proc->net);
        walls_release(&proc->walls);
        free(proc);
        return -1;
    }
    begin_watch(proc);
    *ret_proc = proc;
    return 0;
}

int hand_proc_pid(const struct hand_proc *proc, uint64_t *ret_stamp)
{
    if (proc->child_gone)
        return 0;
    *ret_stamp = child_stamp(proc->child);
    return child_pid(proc->child);
}
