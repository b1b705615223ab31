/* Admitting a request and reaching its host.
 *
 * SPDX-License-Identifier: MIT
 */
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include "sandbox/proxy_int.h"

static void refuse(struct proxy_conn *conn, const char *because)
{
    const struct proxy_host *host = &conn->request.host;
    char why[DNS_NAME_MAX + 300];

    snprintf(why, sizeof(why), "%s:%u may not be reached from the sandbox: %s.", host->name,
             host->port, because);
    proxy_conn_answer(conn, 403, true, why);
}

static void unreachable(struct proxy_conn *conn, const char *because)
{
    char why[DNS_NAME_MAX + 600];

    snprintf(why, sizeof(why), "%s:%u can't be reached: %s.", conn->request.host.name,
             conn->request.host.port, because);
    proxy_conn_answer(conn, 502, false, why);
}

static void to_sockaddr(const struct dns_addr *addr, uint16_t port, struct sockaddr_storage *ret)
{
    *ret = (struct sockaddr_storage){ .ss_family = addr->v6 ? AF_INET6 : AF_INET };
    if (addr->v6) {
        struct sockaddr_in6 *in = (struct sockaddr_in6 *)ret;

        in->sin6_port = htons(port);
        memcpy(&in->sin6_addr, addr->bytes, 16);
    } else {
        struct sockaddr_in *in = (struct sockaddr_in *)ret;

        in->sin_port = htons(port);
        memcpy(&in->sin_addr, addr->bytes, 4);
    }
}

static void try_next(struct proxy_conn *conn, int why);

static void on_connected(uv_connect_t *connect, int status)
{
    struct proxy_server *server = connect->data;
    struct proxy_conn *conn = server->conn;

    if (conn->closed || conn->server != server)
        return;
    if (status < 0) {
        try_next(conn, status);
        return;
    }
    uv_tcp_nodelay(&server->tcp, 1);
    proxy_conn_pipe(conn);
}

/* The address that was judged, and no other. */
static int dial(struct proxy_conn *conn, const struct dns_addr *addr)
{
    struct proxy_server *server = NEW(struct proxy_server);
    struct sockaddr_storage sa;

    to_sockaddr(addr, conn->request.host.port, &sa);
    server->conn = conn;
    server->connect.data = server;
    uv_tcp_init(loop_uv(conn->proxy->loop), &server->tcp);
    conn->handles++;
    conn->server = server;
    return uv_tcp_connect(&server->connect, &server->tcp, (struct sockaddr *)&sa, on_connected);
}

static void try_next(struct proxy_conn *conn, int why)
{
    proxy_server_close(conn);
    while (conn->addrs_tried < conn->addrs_n) {
        why = dial(conn, &conn->addrs[conn->addrs_tried++]);
        if (why == 0)
            return;
        proxy_server_close(conn);
    }
    unreachable(conn, uv_strerror(why));
}

static void connect_to(struct proxy_conn *conn)
{
    conn->proxy->counts.admitted++;
    conn->phase = PROXY_CONNECT;
    try_next(conn, UV_EHOSTUNREACH);
}

/* Keeps those that may be reached. */
static void on_resolved(struct dns_lookup *lookup, const struct dns_answer *answer)
{
    struct proxy_conn *conn =
        (struct proxy_conn *)((char *)lookup - offsetof(struct proxy_conn, lookup));
    char text[500], because[200];

    for (size_t i = 0; i < answer->n; i++)
        if (proxy_list_reaches(&conn->proxy->list, &answer->addrs[i], conn->request.host.port))
            conn->addrs[conn->addrs_n++] = answer->addrs[i];
    if (conn->addrs_n > 0) {
        connect_to(conn);
    } else if (answer->n > 0) {
        snprintf(because, sizeof(because), "it leads to %s, a %s address that is not listed itself",
                 dns_addr_text(&answer->addrs[0], text),
                 dns_class_name(dns_class(&answer->addrs[0])));
        refuse(conn, because);
    } else {
        unreachable(conn, err_format(&answer->err, text, sizeof(text)));
    }
}

void proxy_conn_dial(struct proxy_conn *conn)
{
    const struct proxy_host *host = &conn->request.host;
    struct err err = ERR_INIT;
    char text[500];

    loop_timer_start(conn->proxy->loop, &conn->timer, conn->proxy->connect_ms);
    if (!proxy_list_has(&conn->proxy->list, host)) {
        refuse(conn, "it is not among the allowed hosts");
        return;
    }
    if (host->numeric) {
        conn->addrs[conn->addrs_n++] = host->addr;
        connect_to(conn);
        return;
    }
    conn->phase = PROXY_RESOLVE;
    if (dns_start(conn->proxy->resolver, &conn->lookup, str_from(host->name), on_resolved, &err) <
        0)
        unreachable(conn, err_format(&err, text, sizeof(text)));
}
