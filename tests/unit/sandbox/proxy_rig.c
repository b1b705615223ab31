/* SPDX-License-Identifier: MIT */
#include "proxy_rig.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>
#include <uv.h>

#define LOOKUPS_MAX 64

/* ---- names ---- */

struct fake_dns {
    struct dns_resolver resolver; /* first */
    struct loop *loop;
    const struct rig_name *names;
    struct rig_shared *shared;
    struct loop_timer timer;
    struct dns_lookup *waiting[LOOKUPS_MAX];
    size_t n;
};

static const char *addresses_of(const struct fake_dns *dns, const char *name)
{
    for (const struct rig_name *at = dns->names; at && at->name; at++)
        if (strcmp(at->name, name) == 0)
            return at->addresses;
    return "";
}

static void answer(struct fake_dns *dns, struct dns_lookup *lookup)
{
    struct str rest = str_from(addresses_of(dns, lookup->host)), one;
    struct dns_answer result = { .n = 0 };

    while (rest.n > 0 && str_split(&rest, ' ', &one))
        BUG_IF(dns_literal(one, &result.addrs[result.n++]) != 1);
    if (result.n == 0)
        err_set(&result.err, ERR_PROVIDER_FAILED, "look up %s: no such name", lookup->host);
    dns_lookup_done(lookup, &result);
}

static void on_timer(struct loop_timer *timer)
{
    struct fake_dns *dns = (struct fake_dns *)((char *)timer - offsetof(struct fake_dns, timer));
    size_t n = dns->n;

    dns->n = 0;
    for (size_t i = 0; i < n; i++) {
        struct dns_lookup *lookup = dns->waiting[i];

        if (!lookup)
            continue;
        if (strcmp(addresses_of(dns, lookup->host), "-") == 0)
            dns->waiting[dns->n++] = lookup;
        else
            answer(dns, lookup);
    }
}

static int dns_begin(struct dns_resolver *resolver, struct dns_lookup *lookup, struct err *err)
{
    struct fake_dns *dns = (struct fake_dns *)resolver;

    dns->shared->lookups++;
    if (dns->n == LOOKUPS_MAX || strcmp(lookup->host, "refused.test") == 0)
        return err_set(err, ERR_RATE_LIMITED, "no more lookups");
    dns->waiting[dns->n++] = lookup;
    loop_timer_start(dns->loop, &dns->timer, 0);
    return 0;
}

static void dns_forget(struct dns_resolver *resolver, struct dns_lookup *lookup)
{
    struct fake_dns *dns = (struct fake_dns *)resolver;

    for (size_t i = 0; i < dns->n; i++)
        if (dns->waiting[i] == lookup)
            dns->waiting[i] = NULL;
}

/* ---- the process ---- */

static void on_refused(void *arg, const struct proxy_refusal *refusal)
{
    struct rig_shared *shared = arg;

    snprintf(shared->host, sizeof(shared->host), "%s", refusal->host);
    snprintf(shared->why, sizeof(shared->why), "%s", refusal->why);
    shared->port = refusal->port;
    __atomic_add_fetch(&shared->refusals, 1, __ATOMIC_SEQ_CST);
}

struct host {
    uv_poll_t poll;
    struct loop *loop;
    struct proxy *proxy;
    struct rig_shared *shared;
};

/* A byte asks for the counts, the end for the end. */
static void on_control(uv_poll_t *poll, int status, int events)
{
    struct host *host = poll->data;
    char byte;
    int fd;

    (void)status, (void)events;
    uv_fileno((uv_handle_t *)poll, &fd);
    if (read(fd, &byte, 1) == 1) {
        host->shared->counts = proxy_counts(host->proxy);
        BUG_IF(write(fd, &byte, 1) != 1);
        return;
    }
    host->shared->counts = proxy_counts(host->proxy);
    proxy_free(host->proxy);
    uv_close((uv_handle_t *)poll, NULL);
    loop_stop(host->loop);
}

static void run_host(const struct rig *rig, const struct proxy_config *given,
                     const struct rig_name *names, int control)
{
    struct host host = { .shared = rig->shared };
    struct fake_dns dns = { .resolver = { .start = dns_begin, .cancel = dns_forget },
                            .names = names,
                            .shared = rig->shared,
                            .timer = { .fire = on_timer } };
    struct proxy_config config = *given;
    struct err err = ERR_INIT;
    char text[500], byte = 0;

    BUG_IF(loop_new(NULL, &host.loop, &err) < 0);
    dns.loop = host.loop;
    config.socket_path = rig->path;
    config.resolver = names ? &dns.resolver : NULL;
    config.on_refused = on_refused;
    config.arg = rig->shared;
    if (proxy_start(host.loop, &config, &host.proxy, &err) < 0)
        BUG("%s", err_format(&err, text, sizeof(text)));
    uv_poll_init(loop_uv(host.loop), &host.poll, control);
    host.poll.data = &host;
    uv_poll_start(&host.poll, UV_READABLE, on_control);
    BUG_IF(write(control, &byte, 1) != 1);
    loop_run(host.loop, &err);
    loop_free(host.loop);
}

void rig_start(struct test *t, struct rig *rig, const struct proxy_config *config,
               const struct rig_name *names)
{
    int pair[2];
    char byte;

    rig->path = test_path(t, "proxy.sock");
    rig->shared =
        mmap(NULL, sizeof(*rig->shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ASSERT(rig->shared != MAP_FAILED);
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
    rig->pid = fork();
    if (rig->pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        close(pair[0]);
        run_host(rig, config, names, pair[1]);
        exit(0); /* with the leak check */
    }
    close(pair[1]);
    rig->control = pair[0];
    ASSERT_EQ(read(rig->control, &byte, 1), 1);
}

void rig_stop(struct test *t, struct rig *rig)
{
    int status;

    (void)t;
    close(rig->control);
    ASSERT_EQ(waitpid(rig->pid, &status, 0), rig->pid);
    ASSERT_EQ(status, 0);
}

/* ---- clients ---- */

int rig_client(struct test *t, const struct rig *rig)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    struct timeval patience = { .tv_sec = 20 };
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    (void)t;
    snprintf(address.sun_path, sizeof(address.sun_path), "%s", rig->path);
    ASSERT_EQ(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    return fd;
}

void rig_send(int fd, const char *text)
{
    for (size_t n = strlen(text); n > 0;) {
        ssize_t sent = send(fd, text, n, MSG_NOSIGNAL);

        if (sent <= 0)
            return;
        text += sent;
        n -= (size_t)sent;
    }
}

const char *rig_read_until(struct test *t, int fd, const char *text)
{
    size_t n = 0, cap = 4096;
    char *all = arena_alloc(&t->arena, cap, 1);

    for (;;) {
        ssize_t got;

        if (n + 1 == cap) {
            char *more = arena_alloc(&t->arena, cap * 2, 1);

            memcpy(more, all, n);
            all = more;
            cap *= 2;
        }
        got = recv(fd, all + n, text ? 1 : cap - n - 1, 0);
        if (got <= 0) {
            if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
                FAIL("nothing came within 20 seconds after: %s", all);
            return all;
        }
        n += (size_t)got;
        if (text && n >= strlen(text) && strcmp(all + n - strlen(text), text) == 0)
            return all;
    }
}

const char *rig_read(struct test *t, int fd)
{
    return rig_read_until(t, fd, NULL);
}

const char *rig_ask(struct test *t, const struct rig *rig, const char *request)
{
    int fd = rig_client(t, rig);
    const char *text;

    rig_send(fd, request);
    text = rig_read(t, fd);
    close(fd);
    return text;
}
