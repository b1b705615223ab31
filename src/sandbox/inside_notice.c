/* Notices: what the walls refused, told to the keeper; and the thread that answers the filter.
 *
 * A command that tries the same thing a million times must not drown the trace: beyond some a
 * second they are only counted.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json_put.h"
#include "base/visible.h"
#include "sandbox/inside_int.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void (*deliver)(struct str json);

/* What a command was refused it can be refused a million times; what was done about it is told
 * apart, so that the one never hides the other. */
static struct window {
    unsigned most; /* a second */
    int64_t since_ms;
    unsigned n;
    uint64_t dropped;
} refused = { .most = NOTICES_PER_SECOND }, done = { .most = NOTICES_DONE_PER_SECOND };

void inside_notice_to(void (*send)(struct str json))
{
    deliver = send;
}

/* How many were dropped before this one, or -1: drop it too. */
static int64_t admit(struct window *window)
{
    int64_t now = clock_mono_ms(clock_system()), before;

    pthread_mutex_lock(&lock);
    if (now - window->since_ms >= 1000) {
        window->since_ms = now;
        window->n = 0;
    }
    if (window->n < window->most) {
        window->n++;
        before = (int64_t)window->dropped;
        window->dropped = 0;
    } else {
        window->dropped++;
        before = -1;
    }
    pthread_mutex_unlock(&lock);
    return before;
}

static void send_json(const char *kind, const char *detail)
{
    AUTO_BUF text = BUF_INIT(8 * NOTICE_MAX);
    struct json_writer w = JSON_WRITER(&text);

    json_write_object_begin(&w);
    json_put_object(&w, "notice");
    json_put_text(&w, "kind", kind);
    json_put_text(&w, "detail", detail);
    json_write_object_end(&w);
    json_write_object_end(&w);
    if (json_write_end(&w) == 0)
        deliver(buf_str(&text));
}

static void notice(struct window *window, const char *kind, const char *fmt, va_list args)
{
    char detail[NOTICE_MAX];
    int64_t before = admit(window);
    size_t n;

    if (before < 0)
        return;
    vsnprintf(detail, sizeof(detail), fmt, args);
    /* Names are somebody else's words. Of what was done they were made visible one by one. */
    if (window == &refused)
        visible_name(detail, detail, sizeof(detail));
    n = strlen(detail);
    if (before > 0)
        snprintf(detail + n, sizeof(detail) - n, " (and %lld more)", (long long)before);
    if (deliver)
        send_json(kind, detail);
    else
        dprintf(STDERR_FILENO, "dormouse: %s: %s\n", kind, detail);
}

void inside_notice(const char *kind, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    notice(&refused, kind, fmt, args);
    va_end(args);
}

void inside_notice_done(const char *kind, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    notice(&done, kind, fmt, args);
    va_end(args);
}

/* ---- refused calls ---- */

static void read_name(pid_t pid, char *out, size_t size)
{
    char path[64];
    FILE *file;

    snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
    file = fopen(path, "re");
    if (!file || !fgets(out, (int)size, file))
        snprintf(out, size, "a process");
    out[strcspn(out, "\n")] = '\0';
    if (file)
        fclose(file);
}

static void answer_one(int listener)
{
    struct seccomp_notif ask;
    struct seccomp_notif_resp reply;
    enum inside_create created;
    char name[32], made[256];

    memset(&ask, 0, sizeof(ask));
    if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &ask) < 0)
        return;
    if (ask.data.nr == SYS_connect) {
        inside_connect(listener, &ask);
        return;
    }
    memset(&reply, 0, sizeof(reply));
    reply.id = ask.id;
    created = inside_create(&ask.data, (pid_t)ask.pid, made);
    if (created == CREATE_GOES_ON) {
        reply.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
        ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &reply);
        return;
    }
    read_name((pid_t)ask.pid, name, sizeof(name));
    /* First said, then answered: with the answer the command may end, and we with it. */
    if (created == CREATE_REFUSED)
        inside_notice("settings", "%.100s by %s refused: tools outside obey it without asking",
                      made, name);
    else if (created == CREATE_DENIED)
        inside_notice("denied",
                      "%.100s by %s refused: nothing may be made where nothing may be read "
                      "(sandbox.security.denyRead)",
                      made, name);
    else if (created == CREATE_UNSEEN)
        inside_notice("settings",
                      "a name by %s refused: it hides its memory, so nobody can see what it would "
                      "make",
                      name);
    else
        inside_notice("seccomp", "%s by %s refused", inside_call_name(ask.data.nr), name);
    reply.error = created == CREATE_DENIED || created == CREATE_UNSEEN ? -EACCES : -EPERM;
    ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &reply);
}

static int answer_pipe[2] = { -1, -1 }; /* takes the listener's number to the thread */

static void *answer_all(void *arg)
{
    int listener;

    (void)arg;
    if (read(answer_pipe[0], &listener, sizeof(listener)) != (ssize_t)sizeof(listener))
        return NULL;
    for (;;)
        answer_one(listener);
    return NULL;
}

int inside_answer_start(struct err *err)
{
    pthread_t thread;
    int r =
        pipe2(answer_pipe, O_CLOEXEC) < 0 ? errno : pthread_create(&thread, NULL, answer_all, NULL);

    if (r != 0)
        return err_set(err, ERR_SANDBOX_UNAVAILABLE, "start a thread: %s", strerror(r));
    pthread_detach(thread);
    return 0;
}

int inside_answer_listen(int listener, struct err *err)
{
    if (write(answer_pipe[1], &listener, sizeof(listener)) != (ssize_t)sizeof(listener))
        return err_set(err, ERR_SANDBOX_UNAVAILABLE, "seccomp: %s", strerror(errno));
    return 0;
}
