/* Connections and their deadlines.
 *
 * A connection stands in the list of its state. Every state has one time limit, so each list is
 * ordered by deadline and the sweep looks only at its head, however many there are.
 *
 * SPDX-License-Identifier: MIT
 */
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "serve/peer.h"
#include "serve/serve_int.h"

static void list_remove(struct conn_list *list, struct conn *conn)
{
    *conn->link = conn->next;
    if (conn->next)
        conn->next->link = conn->link;
    else
        list->end = conn->link;
}

static void list_append(struct conn_list *list, struct conn *conn)
{
    conn->next = NULL;
    conn->link = list->end;
    *list->end = conn;
    list->end = &conn->next;
}

static int64_t limit_of(const struct serve *serve, enum conn_state state)
{
    switch (state) {
    case CONN_ANSWERED:
        return serve->limits.idle_ms < SERVE_ANSWERED_MS ? serve->limits.idle_ms
                                                         : SERVE_ANSWERED_MS;
    case CONN_IDLE:
        return serve->limits.idle_ms;
    case CONN_NEW:
    case CONN_HEAD:
        return serve->limits.header_ms;
    case CONN_BODY:
        return serve->limits.body_ms;
    case CONN_REPLY:
        return serve->limits.reply_ms;
    default:
        return 0;
    }
}

static int64_t sweep_step(const struct serve *serve)
{
    int64_t step = serve->limits.header_ms / 4;

    return step > 1000 ? 1000 : step < 10 ? 10 : step;
}

void conn_sweep_in(struct serve *serve, int64_t delay_ms)
{
    serve->sweep_due_ms = clock_mono_ms(loop_clock(serve->loop)) + delay_ms;
    loop_timer_start(serve->loop, &serve->sweep, delay_ms);
}

static void sweep_later(struct serve *serve)
{
    if (serve->sweep.heap_index == 0)
        conn_sweep_in(serve, sweep_step(serve));
}

static void enter(struct conn *conn, enum conn_state state)
{
    struct serve *serve = conn->door->serve;
    int64_t limit = limit_of(serve, state);

    conn->state = state;
    conn->deadline_ms = limit > 0 ? clock_mono_ms(loop_clock(serve->loop)) + limit : 0;
    list_append(&serve->conns[state], conn);
    if (limit > 0 || state == CONN_STREAM)
        sweep_later(serve);
}

void conn_set_state(struct conn *conn, enum conn_state state)
{
    struct serve *serve = conn->door->serve;

    if (conn->state == state)
        return;
    list_remove(&serve->conns[conn->state], conn);
    enter(conn, state);
}

void conn_suspend(struct conn *conn)
{
    conn->suspended = true;
    MHD_suspend_connection(conn->mhd);
}

void conn_resume(struct conn *conn)
{
    if (!conn->suspended)
        return;
    conn->suspended = false;
    MHD_resume_connection(conn->mhd);
    conn->door->ready = true;
    serve_wake(conn->door->serve);
}

void conn_cut(struct conn *conn, int status)
{
    if (conn->cut)
        return;
    conn->cut = true;
    if (status > 0)
        reply_raw(conn->fd, status);
    shutdown(conn->fd, SHUT_RDWR);
}

static bool any_deadline(const struct serve *serve)
{
    for (int state = 0; state <= CONN_STREAM; state++)
        if (state != CONN_HELD && serve->conns[state].first)
            return true;
    return false;
}

static void sweep_list(struct serve *serve, struct conn_list *list, int64_t now)
{
    struct conn *next;

    for (struct conn *conn = list->first; conn && conn->deadline_ms <= now; conn = next) {
        /* 408 answers a request that has begun (RFC 9110, 15.5.9). On a connection without one the
         * client would take it for the answer to its next request. */
        bool told = conn->state == CONN_HEAD || conn->state == CONN_BODY;

        next = conn->next;
        if (!conn->cut && conn->state != CONN_IDLE)
            serve->timeouts++;
        conn_cut(conn, told ? 408 : 0);
    }
}

/* libmicrohttpd reads what came before the end of a half-closed connection, but not the end, and
 * would keep it. By now nothing of it waits to be answered. */
static bool peer_has_gone(const struct conn *conn)
{
    char c;

    return recv(conn->fd, &c, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
}

static void sweep_answered(struct serve *serve, int64_t now)
{
    struct conn *next;

    for (struct conn *conn = serve->conns[CONN_ANSWERED].first; conn && conn->deadline_ms <= now;
         conn = next) {
        next = conn->next;
        if (peer_has_gone(conn))
            conn_cut(conn, 0);
        else
            conn_set_state(conn, CONN_IDLE);
    }
}

/* Everybody gets the time back in which we did not run. What came meanwhile puts a deadline off
 * when it is read, which is before the next sweep; so nobody has more than the whole limit. */
static void sweep_forgive(struct serve *serve, int64_t now, int64_t late_ms)
{
    for (int state = 0; state < CONN_STREAM; state++) {
        int64_t most = now + limit_of(serve, (enum conn_state)state);

        for (struct conn *conn = serve->conns[state].first; conn; conn = conn->next) {
            int64_t later = conn->deadline_ms + late_ms;

            conn->deadline_ms = later < most ? later : most;
        }
    }
    client_forgive(serve, now, late_ms);
}

/* A process that stood still (SIGSTOP, a machine without memory) hears of its timers first and of
 * what came only then: silence is judged when that was read. */
static void sweep_judge(struct serve *serve, int64_t now)
{
    int64_t late_ms = now - serve->sweep_due_ms;

    if (late_ms > sweep_step(serve)) {
        sweep_forgive(serve, now, late_ms);
        return;
    }
    sweep_answered(serve, now);
    sweep_list(serve, &serve->conns[CONN_NEW], now);
    sweep_list(serve, &serve->conns[CONN_IDLE], now);
    sweep_list(serve, &serve->conns[CONN_HEAD], now);
    sweep_list(serve, &serve->conns[CONN_BODY], now);
    sweep_list(serve, &serve->conns[CONN_REPLY], now);
    client_heartbeats(serve, now);
}

void conn_sweep(struct serve *serve)
{
    sweep_judge(serve, clock_mono_ms(loop_clock(serve->loop)));
    if (any_deadline(serve) || serve->streams.count > 0)
        sweep_later(serve);
}

/* ---- coming and going ---- */

/* The address without its port; an IPv6 /64 counts as one. */
static struct str ip_key(const struct sockaddr *sa)
{
    if (sa->sa_family == AF_INET)
        return str_of((const char *)&((const struct sockaddr_in *)sa)->sin_addr, 4);
    return str_of((const char *)&((const struct sockaddr_in6 *)sa)->sin6_addr, 8);
}

/* A count is kept in the value's pointer; none is no entry. */
static void count_ip(struct serve *serve, const struct sockaddr *sa, int change)
{
    struct str key = ip_key(sa);
    uintptr_t count = (uintptr_t)map_find(&serve->per_ip, key) + (uintptr_t)change;

    if (count > 0)
        map_put(&serve->per_ip, key, (void *)count); // NOLINT(performance-no-int-to-ptr)
    else
        map_remove(&serve->per_ip, key);
}

/* Near the cap the connection that has been idle longest makes room. */
static void make_room(struct serve *serve)
{
    static const enum conn_state victims[] = { CONN_NEW, CONN_IDLE, CONN_ANSWERED };

    for (size_t i = 0; i < ARRAY_LEN(victims); i++) {
        struct conn *oldest = serve->conns[victims[i]].first;

        while (oldest && oldest->cut)
            oldest = oldest->next;
        if (oldest) {
            conn_cut(oldest, 0);
            return;
        }
    }
}

enum MHD_Result conn_admit(void *cls, const struct sockaddr *sa, socklen_t n)
{
    struct serve *serve = ((struct door *)cls)->serve;

    (void)n;
    if (serve->conn_count + 16 >= serve->limits.connections)
        make_room(serve);
    if (address_is_loopback(sa) ||
        (uintptr_t)map_find(&serve->per_ip, ip_key(sa)) < serve->limits.connections_per_ip)
        return MHD_YES;
    serve->refused_connections++;
    return MHD_NO;
}

static const struct sockaddr *peer_of(struct MHD_Connection *mhd)
{
    return MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_CLIENT_ADDRESS)->client_addr;
}

static struct conn *conn_begin(struct door *door, struct MHD_Connection *mhd)
{
    struct serve *serve = door->serve;
    struct conn *conn = NEW(struct conn);
    const struct sockaddr *peer = peer_of(mhd);

    conn->door = door;
    conn->mhd = mhd;
    conn->fd = MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
    conn->remote = !door->is_unix && !address_is_loopback(peer);
    if (conn->remote)
        count_ip(serve, peer, 1);
    serve->conn_count++;
    serve->accepted++;
    enter(conn, CONN_NEW);
    if (door->is_unix && !peer_may_speak(conn->fd)) {
        serve->refused_connections++;
        conn_cut(conn, 403);
    }
    return conn;
}

static void conn_end(struct conn *conn)
{
    struct serve *serve = conn->door->serve;

    if (conn->remote)
        count_ip(serve, peer_of(conn->mhd), -1);
    list_remove(&serve->conns[conn->state], conn);
    serve->conn_count--;
    if (conn->request && (conn->request->held || conn->request->waiting))
        conn->request->conn = NULL; /* whoever holds it frees it by answering */
    else if (conn->request)
        request_free(conn->request);
    free(conn);
    if (serve->conn_count == 0 && serve->idle && !serve->stopping)
        serve->idle(serve->arg);
}

void conn_notify(void *cls, struct MHD_Connection *mhd, void **slot,
                 enum MHD_ConnectionNotificationCode what)
{
    if (what == MHD_CONNECTION_NOTIFY_STARTED) {
        *slot = conn_begin(cls, mhd);
    } else {
        conn_end(*slot);
        *slot = NULL;
    }
}
