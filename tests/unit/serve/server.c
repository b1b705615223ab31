/* SPDX-License-Identifier: MIT */
#include "server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>
#include <uv.h>

#include "../loop/store_fake.h"
#include "base/limits.h"

#define ANSWER_MAX (64 * MIB)
#define PATIENCE_S 20 /* far more than anything takes, on the busiest machine */

struct server {
    struct loop *loop;
    struct serve *serve;
    struct serve_feed *feed, *talk, *story;
    pthread_t thread;
    uv_async_t async;
    sem_t done;
    void (*fn)(struct server *server, void *arg);
    void *arg;
    char *token, *socket_path, *here;
    struct buf *said;
    unsigned ws_opened;
    atomic_uint ws_closed, released, idles;
    unsigned port;
    struct serve_request *held;
    struct store_fake store;
};

/* ---- test routes ---- */

static void run_echo(struct serve_request *request)
{
    serve_reply_text(request, 200, "text/plain", serve_request_body(request));
}

static void run_param(struct serve_request *request)
{
    static const char *const allowed[] = { "q", NULL };
    struct err err = ERR_INIT;
    struct str q = serve_request_query(request, "q");
    char *text;

    if (serve_request_check_query(request, allowed, &err) < 0) {
        serve_reply_error(request, &err);
        return;
    }
    text = arena_printf(serve_request_arena(request), "%.*s|%.*s",
                        STR_ARG(serve_request_param(request, "id")), STR_ARG(q));
    serve_reply_text(request, 200, "text/plain", str_from(text));
}

static void run_hold(struct serve_request *request)
{
    struct server *server = serve_request_arg(request);

    server->held = request;
    serve_request_hold(request);
}

static void answer_held(struct server *server, void *arg)
{
    (void)arg;
    serve_reply_text(TAKE(server->held), 200, "text/plain", STR("held"));
}

static void run_release(struct serve_request *request)
{
    struct server *server = serve_request_arg(request);

    if (server->held)
        answer_held(server, NULL);
    serve_reply_empty(request, 204);
}

static void run_silent(struct serve_request *request)
{
    (void)request;
}

static void run_big(struct serve_request *request)
{
    size_t n = 32 * MIB; /* more than the kernel buffers */
    char *big = arena_alloc(serve_request_arena(request), n, 1);

    memset(big, 'b', n);
    serve_reply_text(request, 200, "text/plain", str_of(big, n));
}

/* Writes a row in a unit and answers from inside it. "undo" takes the unit back, "twice" answers
 * again after that. */
static void run_write(struct serve_request *request)
{
    struct server *server = serve_request_arg(request);
    struct str how = serve_request_body(request);
    struct err err = ERR_INIT;

    if (loop_unit_begin(server->loop, store_domain(&server->store), &err) < 0) {
        serve_reply_error(request, &err);
        return;
    }
    store_write(&server->store, 7);
    serve_reply_text(request, 201, "text/plain", STR("written"));
    if (loop_unit_end(server->loop, str_is(how, "keep"), &err) < 0)
        return; /* the answer is the reason by now */
    if (str_is(how, "twice")) {
        err_set(&err, ERR_CONFLICT, "thought better of it");
        serve_reply_error(request, &err);
    }
}

static void run_rows(struct serve_request *request)
{
    struct server *server = serve_request_arg(request);
    char text[32];

    snprintf(text, sizeof(text), "%zu", server->store.durable_count + server->store.pending_count);
    serve_reply_text(request, 200, "text/plain", str_from(text));
}

static void on_ws_opened(struct serve_ws *ws, void *arg)
{
    (void)ws;
    ((struct server *)arg)->ws_opened++;
}

static void on_ws_closed(struct serve_ws *ws, unsigned code, void *arg)
{
    (void)ws;
    atomic_store(&((struct server *)arg)->ws_closed, code);
}

unsigned server_ws_closed(struct server *server)
{
    return atomic_load(&server->ws_closed);
}

static void on_ws_message(struct serve_ws *ws, bool text, struct str bytes, void *arg)
{
    (void)arg;
    if (str_is(bytes, "flood")) {
        static char big[65536];

        memset(big, 'f', sizeof(big));
        for (int i = 0; i < 400; i++)
            if (serve_ws_send(ws, true, str_of(big, sizeof(big))) < 0)
                return;
    } else if (str_is(bytes, "close")) {
        serve_ws_close(ws, 1000, "as you wish");
        ASSERT_EQ(serve_ws_send(ws, true, STR("too late")), -1);
    } else {
        serve_ws_send(ws, text, bytes);
    }
}

static void run_ws(struct serve_request *request)
{
    static const struct serve_ws_ops ops = { .opened = on_ws_opened,
                                             .message = on_ws_message,
                                             .closed = on_ws_closed };

    serve_ws_accept(request, &ops, serve_request_arg(request));
}

static void run_feed(struct serve_request *request)
{
    serve_feed_open_sse(((struct server *)serve_request_arg(request))->feed, request);
}

static void run_feed_ws(struct serve_request *request)
{
    serve_feed_open_ws(((struct server *)serve_request_arg(request))->feed, request);
}

static void feed_joined(struct serve_feed *feed, struct serve_client *client, uint64_t after,
                        void *arg)
{
    char text[64];

    (void)feed, (void)arg;
    snprintf(text, sizeof(text), "{\"after\":%llu}", (unsigned long long)after);
    serve_client_send(client, after + 1, "joined", str_from(text));
}

/* Says what it hears to everybody, and who left to the others. */
static void feed_message(struct serve_feed *feed, struct serve_client *client, struct str text,
                         void *arg)
{
    (void)arg;
    if (str_is(text, "\"private\""))
        serve_client_send(client, 0, "word", STR("\"for you alone\""));
    else
        serve_feed_publish(feed, 0, "word", text);
}

static void feed_left(struct serve_feed *feed, struct serve_client *client, void *arg)
{
    (void)arg, (void)client;
    serve_feed_publish(feed, 0, "left", STR("\"left\""));
}

/* A past of STORY_EVENTS events, one each time the client has taken what there was; then the end.
 */
struct story {
    struct server *server;
    unsigned told;
};

static void story_release(void *data)
{
    atomic_fetch_add(&((struct story *)data)->server->released, 1);
    free(data);
}

static void story_next(struct serve_feed *feed, struct serve_client *client, void *arg)
{
    struct story *story = serve_client_data(client);
    char text[32];

    (void)feed, (void)arg;
    if (story->told == STORY_EVENTS) {
        serve_client_end(client);
        return;
    }
    snprintf(text, sizeof(text), "{\"part\":%u}", ++story->told);
    serve_client_send(client, story->told, "part", str_from(text));
}

static void story_joined(struct serve_feed *feed, struct serve_client *client, uint64_t after,
                         void *arg)
{
    (void)after;
    story_next(feed, client, arg);
}

static void story_give(struct server *server, struct serve_client *client)
{
    struct story *story = NEW(struct story);

    story->server = server;
    serve_client_set_data(client, story, story_release);
}

static void run_story(struct serve_request *request)
{
    struct server *server = serve_request_arg(request);
    struct serve_client *client = serve_feed_open_sse(server->story, request);

    if (client)
        story_give(server, client);
}

static void run_story_ws(struct serve_request *request)
{
    struct server *server = serve_request_arg(request);
    struct serve_client *client = serve_feed_open_ws(server->story, request);

    if (client)
        story_give(server, client);
}

unsigned server_released(struct server *server)
{
    return atomic_load(&server->released);
}

static void count_idle(void *arg)
{
    atomic_fetch_add(&((struct server *)arg)->idles, 1);
}

unsigned server_idles(struct server *server)
{
    return atomic_load(&server->idles);
}

static void run_talk(struct serve_request *request)
{
    serve_feed_open_ws(((struct server *)serve_request_arg(request))->talk, request);
}

/* A feed that ends between the answer and the client's joining. */
static void run_gone(struct serve_request *request)
{
    struct server *server = serve_request_arg(request);
    struct serve_feed *feed = serve_feed_new(server->serve, "gone", NULL, NULL);

    serve_feed_open_sse(feed, request);
    serve_feed_free(feed);
}

static const struct serve_route routes[] = {
    { "POST", "/api/v1/test/echo", run_echo, SERVE_TOKEN, SERVE_TEXT, 1 * MIB, "Echo." },
    { "POST", "/api/v1/test/public", run_echo, SERVE_PUBLIC, SERVE_TEXT, 1000, "Echo." },
    { "GET", "/api/v1/test/things/{id}", run_param, SERVE_TOKEN, SERVE_TEXT, 0, "A thing." },
    { "GET", "/api/v1/test/hold", run_hold, SERVE_TOKEN, SERVE_TEXT, 0, "Answers later." },
    { "GET", "/api/v1/test/release", run_release, SERVE_TOKEN, SERVE_TEXT, 0, "Lets go." },
    { "GET", "/api/v1/test/silent", run_silent, SERVE_TOKEN, SERVE_TEXT, 0, "Forgets." },
    { "GET", "/api/v1/test/big", run_big, SERVE_TOKEN, SERVE_TEXT, 0, "32 MB." },
    { "POST", "/api/v1/test/write", run_write, SERVE_TOKEN, SERVE_TEXT, 100, "Writes." },
    { "GET", "/api/v1/test/rows", run_rows, SERVE_TOKEN, SERVE_TEXT, 0, "Counts." },
    { "GET", "/api/v1/test/ws", run_ws, SERVE_TOKEN, SERVE_WEBSOCKET, 0, "Echo." },
    { "GET", "/api/v1/test/feed", run_feed, SERVE_TOKEN, SERVE_SSE, 0, "A feed." },
    { "GET", "/api/v1/test/talk", run_talk, SERVE_TOKEN, SERVE_WEBSOCKET, 0, "A feed that hears." },
    { "GET", "/api/v1/test/gone", run_gone, SERVE_TOKEN, SERVE_SSE, 0, "A feed that ended." },
    { "GET", "/api/v1/test/story", run_story, SERVE_TOKEN, SERVE_SSE, 0, "A story." },
    { "GET", "/api/v1/test/story/ws", run_story_ws, SERVE_TOKEN, SERVE_WEBSOCKET, 0, "A story." },
    { "GET", "/api/v1/test/feed/ws", run_feed_ws, SERVE_TOKEN, SERVE_WEBSOCKET, 0, "A feed." },
};

/* ---- life ---- */

static void on_async(uv_async_t *async)
{
    struct server *server = async->data;
    void (*fn)(struct server *, void *) = server->fn;

    if (!fn)
        return;
    server->fn = NULL;
    fn(server, server->arg);
    loop_wake(server->loop);
    sem_post(&server->done);
}

static void *run_loop(void *arg)
{
    struct server *server = arg;
    struct err err = ERR_INIT;

    loop_run(server->loop, &err);
    serve_feed_free(server->feed);
    serve_feed_free(server->talk);
    serve_feed_free(server->story);
    serve_free(server->serve);
    loop_free(server->loop);
    return NULL;
}

static size_t health(void *arg, struct serve_health *out, size_t max)
{
    (void)arg, (void)max;
    snprintf(out[0].name, sizeof(out[0].name), "agent");
    snprintf(out[0].status, sizeof(out[0].status), "%s",
             getenv("TEST_HEALTH") ? getenv("TEST_HEALTH") : "ok");
    return 1;
}

static void take_warning(void *arg, const char *text)
{
    struct server *server = arg;

    if (server->said)
        buf_add_text(server->said, text);
}

struct server *server_start(struct test *t, const struct serve_limits *limits)
{
    return server_start_at(t, limits, "127.0.0.1:0", NULL, NULL);
}

struct server *server_start_at(struct test *t, const struct serve_limits *limits,
                               const char *listen, const char *const *hosts, struct buf *said)
{
    static const struct serve_feed_ops feed_ops = { .joined = feed_joined };
    static const struct serve_feed_ops talk_ops = { .message = feed_message, .left = feed_left };
    static const struct serve_feed_ops story_ops = { .joined = story_joined,
                                                     .drained = story_next };
    static struct serve_routes table;
    struct server *server = ARENA_NEW(&t->arena, struct server);
    struct serve_config config = {
        .listen = listen,
        .inherit = !listen,
        .hosts = hosts,
        .token_path = test_path(t, "token"),
        .socket_path = test_path(t, "s.sock"),
        .version = "test",
        .routes = &table,
        .route_tables = 1,
        .health = health,
        .warn = take_warning,
        .idle = count_idle,
        .arg = server,
    };

    server->said = said;
    table = (struct serve_routes){ routes, ARRAY_LEN(routes), server };
    if (limits)
        config.limits = *limits;
    ASSERT_OK(loop_new(NULL, &server->loop, &t->err));
    server->store.name = "agent";
    loop_attach_store(server->loop, store_domain(&server->store), &store_fake_ops);
    ASSERT_OK(serve_start(server->loop, &config, &server->serve, &t->err));
    server->feed = serve_feed_new(server->serve, "test", &feed_ops, server);
    server->talk = serve_feed_new(server->serve, "talk", &talk_ops, server);
    server->story = serve_feed_new(server->serve, "story", &story_ops, server);
    server->port = serve_port(server->serve);
    server->here = arena_printf(&t->arena, "127.0.0.1:%u", server->port);
    server->token = arena_text(&t->arena, str_trim(test_read_file(t, config.token_path)).p);
    server->token[43] = '\0';
    server->socket_path = arena_text(&t->arena, config.socket_path);
    uv_async_init(loop_uv(server->loop), &server->async, on_async);
    server->async.data = server;
    sem_init(&server->done, 0, 0);
    ASSERT_EQ(pthread_create(&server->thread, NULL, run_loop, server), 0);
    return server;
}

void server_do(struct server *server, void (*fn)(struct server *server, void *arg), void *arg)
{
    server->arg = arg;
    server->fn = fn;
    uv_async_send(&server->async);
    while (sem_wait(&server->done) < 0)
        ;
}

static void on_stopped(void *arg)
{
    struct server *server = arg;

    uv_close((uv_handle_t *)&server->async, NULL);
    if (server->held)
        answer_held(server, NULL); /* nobody waits for it any more */
    loop_stop(server->loop);
}

static void do_stop(struct server *server, void *arg)
{
    serve_stop(server->serve, *(int64_t *)arg, on_stopped, server);
}

void server_begin_stop(struct server *server, int64_t deadline_ms)
{
    server_do(server, do_stop, &deadline_ms);
}

void server_join(struct server *server)
{
    pthread_join(server->thread, NULL);
}

void server_stop(struct server *server, int64_t deadline_ms)
{
    server_begin_stop(server, deadline_ms);
    server_join(server);
}

struct serve *server_serve(struct server *server)
{
    return server->serve;
}

struct serve_feed *server_feed(struct server *server)
{
    return server->feed;
}

struct serve_feed *server_talk(struct server *server)
{
    return server->talk;
}

void server_end_talk(struct server *server)
{
    serve_feed_free(TAKE(server->talk));
}

struct store_fake *server_store(struct server *server)
{
    return &server->store;
}

unsigned server_port(struct server *server)
{
    return server->port;
}

const char *server_token(struct server *server)
{
    return server->token;
}

int64_t now_ms(void)
{
    return clock_mono_ms(clock_system());
}

size_t resident_bytes(void)
{
    FILE *file = fopen("/proc/self/statm", "r");
    unsigned long all = 0, resident = 0;

    if (fscanf(file, "%lu %lu", &all, &resident) != 2)
        resident = 0;
    fclose(file);
    return resident * (size_t)sysconf(_SC_PAGESIZE);
}

/* ---- the client ---- */

void client_be_patient(int fd, int seconds)
{
    struct timeval patience = { .tv_sec = seconds };

    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
}

int client_open(struct server *server)
{
    return client_open_to(server, "127.0.0.1");
}

int client_open_to(struct server *server, const char *ip)
{
    struct sockaddr_in sa = { .sin_family = AF_INET, .sin_port = htons((uint16_t)server->port) };
    int fd = socket(AF_INET, SOCK_STREAM, 0), on = 1;

    ASSERT_EQ(inet_pton(AF_INET, ip, &sa.sin_addr), 1);
    client_be_patient(fd, PATIENCE_S);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    if (fd < 0 || connect(fd, (struct sockaddr *)&sa, sizeof(sa)) < 0)
        FAIL("connect: %s", strerror(errno));
    return fd;
}

int client_open_unix(struct server *server)
{
    struct sockaddr_un sa = { .sun_family = AF_UNIX };
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);

    client_be_patient(fd, PATIENCE_S);
    snprintf(sa.sun_path, sizeof(sa.sun_path), "%s", server->socket_path);
    if (connect(fd, (struct sockaddr *)&sa, sizeof(sa)) < 0)
        FAIL("connect %s: %s", server->socket_path, strerror(errno));
    return fd;
}

/* The server may have closed: what it said is read afterwards. */
void client_send_bytes(int fd, const void *bytes, size_t n)
{
    for (size_t sent = 0; sent < n;) {
        ssize_t r = send(fd, (const char *)bytes + sent, n - sent, MSG_NOSIGNAL);

        if (r <= 0)
            return;
        sent += (size_t)r;
    }
}

void client_send(int fd, const char *fmt, ...)
{
    AUTO_BUF text = BUF_INIT(ANSWER_MAX);
    va_list args;

    va_start(args, fmt);
    buf_vprintf(&text, fmt, args);
    va_end(args);
    client_send_bytes(fd, buf_text(&text), text.n);
}

void client_send_template(struct server *server, int fd, const char *text)
{
    const struct {
        const char *word, *value;
    } words[] = { { "HERE", server->here },
                  { "PORT", server->here + strlen("127.0.0.1:") },
                  { "TOKEN", server->token } };
    AUTO_BUF out = BUF_INIT(ANSWER_MAX);

    while (*text) {
        size_t i = 0;

        while (i < ARRAY_LEN(words) && strncmp(text, words[i].word, strlen(words[i].word)) != 0)
            i++;
        if (i < ARRAY_LEN(words)) {
            buf_add_text(&out, words[i].value);
            text += strlen(words[i].word);
        } else {
            buf_add_char(&out, *text++);
        }
    }
    client_send_bytes(fd, buf_text(&out), out.n);
}

void client_request(struct server *server, int fd, const char *method, const char *path, bool auth,
                    const char *more_headers, const char *body)
{
    AUTO_BUF text = BUF_INIT(ANSWER_MAX);

    buf_printf(&text, "%s %s HTTP/1.1\r\nHost: 127.0.0.1:%u\r\n", method, path, server->port);
    if (auth)
        buf_printf(&text, "Authorization: Bearer %s\r\n", server->token);
    if (body)
        buf_printf(&text, "Content-Length: %zu\r\n", strlen(body));
    buf_printf(&text, "%s\r\n%s", more_headers ? more_headers : "", body ? body : "");
    client_send_bytes(fd, buf_text(&text), text.n);
}

size_t client_read(int fd, void *out, size_t n)
{
    size_t got = 0;

    while (got < n) {
        ssize_t r = recv(fd, (char *)out + got, n - got, 0);

        if (r <= 0)
            break;
        got += (size_t)r;
    }
    return got;
}

static bool read_head(int fd, struct buf *out)
{
    char c;

    while (client_read(fd, &c, 1) == 1) {
        buf_add_char(out, c);
        if (out->n >= 4 && memcmp(out->p + out->n - 4, "\r\n\r\n", 4) == 0)
            return true;
    }
    return false;
}

struct answer client_answer(struct test *t, int fd)
{
    AUTO_BUF head = BUF_INIT(65536);
    struct answer answer = { .status = 0, .head = STR(""), .body = STR("") };
    const char *length;
    size_t n = 0;

    if (!read_head(fd, &head) && head.n == 0)
        return answer;
    answer.head = arena_str(&t->arena, buf_str(&head));
    if (sscanf(answer.head.p, "HTTP/1.1 %d", &answer.status) != 1)
        FAIL("not an answer: %s", answer.head.p);
    length = answer_header(t, &answer, "Content-Length");
    n = strtoul(length, NULL, 10);
    if (n > 0 && n < ANSWER_MAX) {
        char *body = arena_alloc(&t->arena, n + 1, 1);

        answer.body = str_of(body, client_read(fd, body, n));
    }
    return answer;
}

const char *answer_header(struct test *t, const struct answer *answer, const char *name)
{
    struct str rest = answer->head, line;

    while (str_split(&rest, '\n', &line)) {
        ptrdiff_t colon = str_find_char(line, ':');

        if (colon > 0 && str_eq_nocase(str_take(line, (size_t)colon), str_from(name))) {
            struct str value = str_trim(str_skip(line, (size_t)colon + 1));

            return arena_copy(&t->arena, value.p, value.n);
        }
    }
    return "";
}

struct str client_read_until(struct test *t, int fd, const char *text)
{
    AUTO_BUF all = BUF_INIT(ANSWER_MAX);
    char c;

    while (!strstr(buf_text(&all), text)) {
        if (client_read(fd, &c, 1) != 1)
            FAIL("the connection ended before \"%s\" came: \"%s\"", text, buf_text(&all));
        buf_add_char(&all, c);
    }
    return arena_str(&t->arena, buf_str(&all));
}

bool client_closed(int fd)
{
    char bytes[65536];
    ssize_t r;

    while ((r = recv(fd, bytes, sizeof(bytes), 0)) > 0)
        ;
    return r == 0 || (errno != EAGAIN && errno != EWOULDBLOCK);
}

struct answer ask(struct test *t, struct server *server, const char *method, const char *path,
                  bool auth, const char *more_headers, const char *body)
{
    int fd = client_open(server);
    struct answer answer;

    client_request(server, fd, method, path, auth, more_headers, body);
    if (strcmp(method, "HEAD") == 0) {
        AUTO_BUF head = BUF_INIT(65536);

        read_head(fd, &head);
        answer = (struct answer){ .head = arena_str(&t->arena, buf_str(&head)), .body = STR("") };
        if (sscanf(answer.head.p, "HTTP/1.1 %d", &answer.status) != 1)
            answer.status = 0;
    } else {
        answer = client_answer(t, fd);
    }
    close(fd);
    return answer;
}

int64_t metric(struct test *t, struct server *server, const char *name)
{
    struct answer answer = ask(t, server, "GET", "/metrics", false, NULL, NULL);
    char *line = strstr(arena_str(&t->arena, answer.body).p,
                        arena_printf(&t->arena, "\ndormouse_%s ", name));

    if (!line)
        FAIL("there is no metric %s", name);
    return strtoll(strrchr(arena_copy(&t->arena, line + 1, strcspn(line + 1, "\n")), ' '), NULL,
                   10);
}
