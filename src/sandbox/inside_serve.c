/* Serving: requests from the socket, a thread for each, replies in the order they are ready.
 *
 * The first thread reads the socket, collects processes and drains what background processes write.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <fcntl.h>
#include <json-c/json.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/json_put.h"
#include "sandbox/drain_int.h"
#include "sandbox/inside_int.h"
#include "sandbox/inside_state.h"

#define REQUESTS_MAX 32
#define READ_BYTES   65536
#define FILES_MS     60000 /* for an operation whose request names no limit */
#define RESULT_BYTES (8 * MIB)
#define STACK_BYTES  (512 * KIB)

struct request {
    int64_t id, limit_ms;
    const struct operation *operation;
    struct json_object *doc;
    struct json_object *args;
    atomic_bool cancelled;
    struct request *next;
};

static const struct operation {
    const char *name;
    op_fn *run;
    bool lane;  /* uses the files that were read */
    bool reads; /* changes nothing in the places */
} operations[] = {
    { "bash", op_bash, .lane = false },
    { "write_file", op_write_file, .lane = true },
    { "edit_file", op_edit_file, .lane = true },
    { "read_file", op_read_file, .lane = true, .reads = true },
    { "search", op_search, .lane = false, .reads = true },
    { "preview_write", op_preview_write, .lane = true, .reads = true },
    { "preview_edit", op_preview_edit, .lane = true, .reads = true },
    { "state", NULL, .lane = true, .reads = true },
};

static struct {
    const struct inside_setup *setup;
    pthread_mutex_t lock; /* of requests */
    struct request *requests;
    unsigned count;
    pthread_mutex_t out;
    int socket;
    int drains[DRAINS_MAX];
    int drain_event; /* somebody added one */
    atomic_bool ending;
} serve = { .lock = PTHREAD_MUTEX_INITIALIZER, .out = PTHREAD_MUTEX_INITIALIZER };

/* ---- out ---- */

static void send_frame(struct str json)
{
    AUTO_BUF frame = BUF_INIT(FRAME_BYTES + FRAME_HEAD);

    if (frame_put(&frame, json) < 0)
        return;
    pthread_mutex_lock(&serve.out);
    /* Without a keeper there is nothing left to live for but the last look. */
    if (file_write_all(serve.socket, buf_str(&frame)) < 0 && !serve.ending)
        _exit(1);
    pthread_mutex_unlock(&serve.out);
}

static void write_error(struct json_writer *w, const struct err *err)
{
    char text[ERR_TEXT_MAX + 64];

    json_put_object(w, "error");
    json_put_text(w, "code", err_name(err->code));
    json_put_text(w, "message", err_format(err, text, sizeof(text)));
    json_write_object_end(w);
}

static void reply(int64_t id, const struct err *err, const struct buf *result, bool in_lane)
{
    AUTO_BUF text = BUF_INIT(FRAME_BYTES);
    struct json_writer w = JSON_WRITER(&text);

    json_write_object_begin(&w);
    json_put_i64(&w, "id", id);
    if (err) {
        write_error(&w, err);
    } else {
        json_put_raw(&w, "result", buf_str(result));
        json_write_key(&w, "state");
        inside_state_write(&w, in_lane);
    }
    json_write_object_end(&w);
    if (json_write_end(&w) == 0)
        send_frame(buf_str(&text));
}

static void refuse(int64_t id, enum err_code code, const char *why)
{
    struct err err = ERR_INIT;

    err_set(&err, code, "%s", why);
    reply(id, &err, NULL, false);
}

/* ---- one request ---- */

static void forget(struct request *request)
{
    pthread_mutex_lock(&serve.lock);
    for (struct request **at = &serve.requests; *at; at = &(*at)->next)
        if (*at == request) {
            *at = request->next;
            serve.count--;
            break;
        }
    pthread_mutex_unlock(&serve.lock);
    json_object_put(request->doc);
    free(request);
}

static int call(const struct request *request, struct arena *arena, struct buf *result,
                struct err *err)
{
    struct json_writer w = JSON_WRITER(result);
    struct op_state state;
    struct op_ctx ctx = { .state = &state,
                          .arena = arena,
                          .cancelled = &request->cancelled,
                          .deadline_ms = clock_mono_ms(clock_system()) + request->limit_ms };

    inside_state_borrow(&state, arena);
    if (request->operation->run) {
        if (request->operation->run(&ctx, request->args, &w, err) < 0)
            return -1;
    } else {
        inside_state_write(&w, false);
    }
    if (json_write_end(&w) < 0)
        return err_set(err, ERR_TOO_LARGE, "the result is larger than %u bytes", RESULT_BYTES);
    return 0;
}

/* What it did is not what it said: the result tells, and a command has not ended well. */
static int call_tell_settings(struct buf *result, const char *message, struct err *err)
{
    AUTO_JSON doc = NULL;
    struct json_writer w = JSON_WRITER(result);

    if (json_parse(buf_str(result), &doc, err) < 0)
        return -1;
    if (json_object_object_get_ex(doc, "exit_code", NULL))
        json_object_object_add(doc, "exit_code", NULL);
    json_object_object_add(doc, "limit", json_object_new_string("settings"));
    json_object_object_add(doc, "message", json_object_new_string(message));
    buf_clear(result);
    json_write_value(&w, doc);
    if (json_write_end(&w) < 0)
        return err_set(err, ERR_TOO_LARGE, "the result is larger than %u bytes", RESULT_BYTES);
    return 0;
}

/* However an operation ends that may have made or changed something, the look follows. */
static int call_and_look(const struct request *request, struct arena *arena, struct buf *result,
                         struct err *err)
{
    char message[INSIDE_MESSAGE_MAX];
    int r = call(request, arena, result, err);

    if (!request->operation->reads && inside_guard_look(message) && r == 0)
        r = call_tell_settings(result, message, err);
    return r;
}

static void *run_request(void *arg)
{
    struct request *request = arg;
    AUTO_ARENA arena = ARENA_INIT;
    AUTO_BUF result = BUF_INIT(RESULT_BYTES);
    struct err err = ERR_INIT;
    bool lane = request->operation->lane;
    char message[INSIDE_MESSAGE_MAX];
    int r;

    /* This thread ends with the request. */
    if (inside_disk_full(message) && inside_landlock_no_more(serve.setup)) {
        inside_disk_hold();
        inside_notice("disk", "%s", message);
    }
    if (lane)
        inside_lane_enter();
    r = request->cancelled ? err_set(&err, ERR_CANCELLED, "cancelled before it began")
                           : call_and_look(request, &arena, &result, &err);
    reply(request->id, r < 0 ? &err : NULL, &result, lane);
    if (lane)
        inside_lane_leave();
    forget(request);
    return NULL;
}

static int start_thread(struct request *request)
{
    pthread_attr_t attr;
    pthread_t thread;
    int r;

    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, STACK_BYTES);
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    r = pthread_create(&thread, &attr, run_request, request);
    pthread_attr_destroy(&attr);
    return r;
}

static void begin(struct request *request)
{
    bool room;
    int64_t id = request->id;

    pthread_mutex_lock(&serve.lock);
    room = serve.count < REQUESTS_MAX;
    if (room) {
        request->next = serve.requests;
        serve.requests = request;
        serve.count++;
    }
    pthread_mutex_unlock(&serve.lock);
    if (room && start_thread(request) == 0)
        return;
    if (room)
        forget(request);
    else
        json_object_put(request->doc), free(request);
    refuse(id, ERR_RATE_LIMITED, "the hand has too much to do already");
}

static void cancel(int64_t id)
{
    pthread_mutex_lock(&serve.lock);
    for (struct request *request = serve.requests; request; request = request->next)
        if (request->id == id)
            request->cancelled = true;
    pthread_mutex_unlock(&serve.lock);
}

static const struct operation *find_operation(struct str name)
{
    for (size_t i = 0; i < ARRAY_LEN(operations); i++)
        if (str_is(name, operations[i].name))
            return &operations[i];
    return NULL;
}

static int take_frame(struct str json, struct err *err)
{
    struct json_object *doc = NULL;
    struct request *request;
    int64_t id;

    if (json_parse(json, &doc, err) < 0)
        return err_wrap(err, "a request");
    if (json_get_i64(doc, "cancel", &id, NULL) == 1) {
        cancel(id);
        json_object_put(doc);
        return 0;
    }
    request = NEW(struct request);
    request->doc = doc;
    request->limit_ms = FILES_MS;
    request->operation = find_operation(json_str(json_find(doc, "op")));
    request->args = json_find(doc, "args");
    json_get_i64(doc, "id", &request->id, NULL);
    json_get_i64(doc, "limit", &request->limit_ms, NULL);
    if (request->operation) {
        begin(request);
        return 0;
    }
    refuse(request->id, ERR_BAD_REQUEST, "no such operation");
    json_object_put(doc);
    free(request);
    return 0;
}

/* ---- the first thread ---- */

void drain_take(int fd)
{
    bool taken = false;

    pthread_mutex_lock(&serve.lock);
    for (size_t i = 0; i < DRAINS_MAX && !taken; i++)
        if (serve.drains[i] < 0) {
            serve.drains[i] = fd;
            taken = true;
        }
    pthread_mutex_unlock(&serve.lock);
    if (taken)
        eventfd_write(serve.drain_event, 1);
    else
        close(fd);
}

static void drain_one(size_t i)
{
    char bytes[READ_BYTES];
    ssize_t n = read(serve.drains[i], bytes, sizeof(bytes));

    if (n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR)))
        return;
    close(serve.drains[i]);
    pthread_mutex_lock(&serve.lock);
    serve.drains[i] = -1;
    pthread_mutex_unlock(&serve.lock);
}

/* -1 when the keeper is gone or speaks nonsense. */
static int read_socket(struct buf *in)
{
    struct err err = ERR_INIT;
    char *room = buf_reserve(in, READ_BYTES);
    struct str json;
    size_t used;
    ssize_t n;
    int r;

    if (!room)
        return -1;
    n = read(serve.socket, room, READ_BYTES);
    if (n <= 0)
        return n < 0 && (errno == EINTR || errno == EAGAIN) ? 0 : -1;
    buf_grown(in, (size_t)n);
    while ((r = frame_take(buf_str(in), FRAME_BYTES, &json, &used, &err)) == 1) {
        if (take_frame(json, &err) < 0)
            return -1;
        buf_consume(in, used);
    }
    return r;
}

static int wait_once(int signals, struct buf *in)
{
    struct pollfd polls[3 + DRAINS_MAX] = {
        { .fd = serve.socket, .events = POLLIN },
        { .fd = signals, .events = POLLIN },
        { .fd = serve.drain_event, .events = POLLIN },
    };
    struct signalfd_siginfo info;
    eventfd_t ignored;

    pthread_mutex_lock(&serve.lock);
    for (size_t i = 0; i < DRAINS_MAX; i++)
        polls[3 + i] = (struct pollfd){ .fd = serve.drains[i], .events = POLLIN };
    pthread_mutex_unlock(&serve.lock);
    if (poll(polls, ARRAY_LEN(polls), -1) < 0)
        return errno == EINTR ? 0 : -1;
    if (polls[1].revents && read(signals, &info, sizeof(info)) > 0) {
        if (info.ssi_signo != SIGCHLD)
            return -1;
        inside_reap();
    }
    if (polls[2].revents)
        eventfd_read(serve.drain_event, &ignored);
    for (size_t i = 0; i < DRAINS_MAX; i++)
        if (polls[3 + i].fd >= 0 && polls[3 + i].revents)
            drain_one(i);
    return polls[0].revents ? read_socket(in) : 0;
}

static bool serve_is_busy(void)
{
    bool busy;

    pthread_mutex_lock(&serve.lock);
    busy = serve.count > 0;
    pthread_mutex_unlock(&serve.lock);
    return busy;
}

/* The keeper says no more; it may still listen to what the last look finds. */
static void serve_end(void)
{
    char message[INSIDE_MESSAGE_MAX];

    serve.ending = true;
    pthread_mutex_lock(&serve.lock);
    for (struct request *request = serve.requests; request; request = request->next)
        request->cancelled = true;
    pthread_mutex_unlock(&serve.lock);
    inside_guard_last(serve_is_busy, message);
}

int inside_serve(const struct inside_setup *setup, int socket)
{
    AUTO_BUF in = BUF_INIT(FRAME_BYTES + FRAME_HEAD + READ_BYTES);
    sigset_t wanted;
    int signals;

    inside_state_init(setup);
    serve.setup = setup;
    serve.socket = socket;
    serve.drain_event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    for (size_t i = 0; i < DRAINS_MAX; i++)
        serve.drains[i] = -1;
    sigemptyset(&wanted);
    sigaddset(&wanted, SIGCHLD);
    /* Process 1 can't be asked to end from inside; without walls the keeper asks. */
    if (setup->off)
        sigaddset(&wanted, SIGTERM);
    signals = signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK);
    inside_notice_to(send_frame);
    send_frame(STR("{\"hello\":1}"));
    while (wait_once(signals, &in) == 0)
        ;
    serve_end();
    return 0;
}
