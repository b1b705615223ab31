/* The misbehaving server. SPDX-License-Identifier: MIT */
#include "harness/http_peer.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/str.h"

static ssize_t get_bytes(struct peer_conn *conn, char *out, size_t max)
{
    return conn->tls ? SSL_read(conn->tls, out, (int)max) : read(conn->fd, out, max);
}

bool peer_send(struct peer_conn *conn, const void *bytes, size_t n)
{
    const char *p = bytes;

    while (n > 0) {
        ssize_t sent = conn->tls ? SSL_write(conn->tls, p, n > 65536 ? 65536 : (int)n)
                                 : send(conn->fd, p, n, MSG_NOSIGNAL);

        if (sent <= 0)
            return false;
        p += sent;
        n -= (size_t)sent;
    }
    return true;
}

bool peer_text(struct peer_conn *conn, const char *fmt, ...)
{
    va_list args;
    char *text = NULL;
    int n;
    bool sent;

    va_start(args, fmt);
    n = vasprintf(&text, fmt, args);
    va_end(args);
    sent = n >= 0 && peer_send(conn, text, (size_t)n);
    free(text);
    return sent;
}

bool peer_answer(struct peer_conn *conn, int status, const char *headers, const char *body)
{
    return peer_text(conn, "HTTP/1.1 %d X\r\n%sContent-Length: %zu\r\n\r\n%s", status, headers,
                     strlen(body), body);
}

const char *peer_header(const struct peer_conn *conn, const char *name, char *out, size_t size)
{
    struct str rest = str_from(conn->head), line;

    while (str_split(&rest, '\n', &line)) {
        ptrdiff_t colon = str_find_char(line, ':');

        if (colon > 0 && str_eq_nocase(str_take(line, (size_t)colon), str_from(name))) {
            snprintf(out, size, "%.*s", STR_ARG(str_trim(str_skip(line, (size_t)colon + 1))));
            return out;
        }
    }
    return NULL;
}

bool peer_stall(struct peer_conn *conn)
{
    char drop[4096];

    __atomic_fetch_add(&conn->shared->stalled, 1, __ATOMIC_SEQ_CST);
    while (get_bytes(conn, drop, sizeof(drop)) > 0)
        ;
    return false;
}

bool peer_reset(struct peer_conn *conn)
{
    struct linger linger = { .l_onoff = 1, .l_linger = 0 };

    setsockopt(conn->fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger));
    return false;
}

void peer_nap(int ms)
{
    poll(NULL, 0, ms);
}

/* ---- requests ---- */

/* Up to and including the blank line, byte by byte: the body stays in the socket. */
static bool read_head(struct peer_conn *conn)
{
    size_t n = 0;

    while (n + 1 < sizeof(conn->head)) {
        if (get_bytes(conn, conn->head + n, 1) <= 0)
            return false;
        conn->head[++n] = '\0';
        if (n >= 4 && memcmp(conn->head + n - 4, "\r\n\r\n", 4) == 0)
            return sscanf(conn->head, "%15s %8191s", conn->method, conn->path) == 2;
    }
    return false;
}

static void note_body(struct peer_conn *conn, const char *bytes, size_t n)
{
    size_t used = strlen(conn->shared->last_body);
    size_t room = sizeof(conn->shared->last_body) - 1 - used;

    conn->shared->body_bytes += (int64_t)n;
    n = n < room ? n : room;
    memcpy(conn->shared->last_body + used, bytes, n);
    conn->shared->last_body[used + n] = '\0';
}

static bool read_exactly(struct peer_conn *conn, size_t n, bool keep)
{
    char bytes[65536];

    while (n > 0) {
        ssize_t got = get_bytes(conn, bytes, n < sizeof(bytes) ? n : sizeof(bytes));

        if (got <= 0)
            return false;
        if (keep)
            note_body(conn, bytes, (size_t)got);
        n -= (size_t)got;
    }
    return true;
}

static bool read_chunked(struct peer_conn *conn)
{
    for (;;) {
        char line[32];
        size_t n = 0, size;

        while (n + 1 < sizeof(line)) {
            if (get_bytes(conn, line + n, 1) <= 0)
                return false;
            if (line[n++] == '\n')
                break;
        }
        line[n] = '\0';
        size = strtoul(line, NULL, 16);
        if (!read_exactly(conn, size, true) || !read_exactly(conn, 2, false))
            return false;
        if (size == 0)
            return true;
    }
}

static bool read_body(struct peer_conn *conn)
{
    char value[64];

    conn->shared->last_body[0] = '\0';
    if (peer_header(conn, "Transfer-Encoding", value, sizeof(value)))
        return read_chunked(conn);
    if (peer_header(conn, "Content-Length", value, sizeof(value)))
        return read_exactly(conn, strtoul(value, NULL, 10), true);
    return true;
}

/* The function sees the request once its head is read; "/early" paths before the body. */
static void serve_connection(struct peer_conn *conn, peer_fn *serve)
{
    for (conn->nth = 1; read_head(conn); conn->nth++) {
        __atomic_fetch_add(&conn->shared->requests, 1, __ATOMIC_SEQ_CST);
        memcpy(conn->shared->last_head, conn->head, sizeof(conn->head));
        if (strncmp(conn->path, "/early", 6) != 0 && !read_body(conn))
            return;
        if (!serve(conn))
            return;
    }
}

/* ---- processes ---- */

static SSL_CTX *tls_context(const char *cert_file, const char *key_file)
{
    SSL_CTX *context = SSL_CTX_new(TLS_server_method());

    if (!context || SSL_CTX_use_certificate_chain_file(context, cert_file) != 1 ||
        SSL_CTX_use_PrivateKey_file(context, key_file, SSL_FILETYPE_PEM) != 1)
        _exit(3);
    return context;
}

bool peer_upgrade(struct peer_conn *conn, const char *cert_file, const char *key_file)
{
    conn->tls = SSL_new(tls_context(cert_file, key_file));
    SSL_set_fd(conn->tls, conn->fd);
    return SSL_accept(conn->tls) == 1;
}

static void handle(struct peer_shared *shared, int fd, peer_fn *serve, const void *arg,
                   SSL_CTX *context)
{
    struct peer_conn *conn = calloc(1, sizeof(*conn));

    if (!conn)
        _exit(3);
    conn->shared = shared;
    conn->arg = arg;
    conn->fd = fd;
    if (context) {
        conn->tls = SSL_new(context);
        SSL_set_fd(conn->tls, fd);
        if (SSL_accept(conn->tls) != 1)
            _exit(0);
    }
    serve_connection(conn, serve);
    if (conn->tls)
        SSL_shutdown(conn->tls);
    close(fd);
    _exit(0);
}

static void accept_loop(struct http_peer *peer, int listener, peer_fn *serve, const void *arg,
                        SSL_CTX *context)
{
    signal(SIGCHLD, SIG_IGN);
    signal(SIGPIPE, SIG_IGN);
    for (;;) {
        int fd = accept(listener, NULL, NULL);
        int parent = getpid();

        if (fd < 0)
            continue;
        peer->shared->connections++;
        if (fork() == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            if (getppid() != parent)
                _exit(0);
            close(listener);
            handle(peer->shared, fd, serve, arg, context);
        }
        close(fd);
    }
}

static int listen_loopback(uint16_t *ret_port)
{
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t n = sizeof(at);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd < 0 || bind(fd, (struct sockaddr *)&at, n) < 0 || listen(fd, 64) < 0 ||
        getsockname(fd, (struct sockaddr *)&at, &n) < 0)
        FAIL("listen: %s", strerror(errno));
    *ret_port = ntohs(at.sin_port);
    return fd;
}

void peer_start_tls(struct http_peer *peer, peer_fn *serve, const void *arg, const char *cert_file,
                    const char *key_file)
{
    int listener = listen_loopback(&peer->port), parent = getpid();

    peer->shared = mmap(NULL, sizeof(*peer->shared), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (peer->shared == MAP_FAILED)
        FAIL("mmap: %s", strerror(errno));
    peer->pid = fork();
    if (peer->pid < 0)
        FAIL("fork: %s", strerror(errno));
    if (peer->pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent)
            _exit(0);
        accept_loop(peer, listener, serve, arg,
                    cert_file ? tls_context(cert_file, key_file) : NULL);
    }
    close(listener);
}

void peer_start(struct http_peer *peer, peer_fn *serve, const void *arg)
{
    peer_start_tls(peer, serve, arg, NULL, NULL);
}

void peer_stop(struct http_peer *peer)
{
    kill(peer->pid, SIGKILL);
    waitpid(peer->pid, NULL, 0);
    peer->pid = 0;
}
