/* SPDX-License-Identifier: MIT */
#include "home.h"

#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include <uv.h>

#include "db/db_fault.h"
#include "db/migrations.h"
#include "house/rooms.h"
#include "policy/secret.h"
#include "serve/api.h"
#include "serve/serve.h"

#define ANSWER_MAX (1 << 20)

struct home {
    struct db_fault faults[HOME_DOMAINS];
    struct domain *journal, *agent, *index;
    struct loop *loop;
    struct secrets *secrets;
    struct rooms rooms;
    struct find *find;
    struct api *api;
    struct serve *serve;
    pthread_t thread;
    uv_async_t stop, go_on;
    const char *socket;
    const struct model_sink *sink; /* of the model that pauses */
    void *sink_arg;
};

/* ---- models ---- */

static int says_hello(void *call_arg, const struct model_request *request,
                      const struct model_sink *sink, void *arg, struct err *err)
{
    const struct model_reply reply = { .text = STR("Hello."), .stop = MODEL_STOP_END };

    (void)call_arg, (void)request, (void)err;
    sink->on_done(arg, &reply, NULL, -1);
    return 0;
}

static int pauses(void *call_arg, const struct model_request *request,
                  const struct model_sink *sink, void *arg, struct err *err)
{
    struct home *home = call_arg;

    (void)request, (void)err;
    home->sink = sink;
    home->sink_arg = arg;
    sink->on_delta(arg, MODEL_DELTA_THINKING, STR("hm"));
    sink->on_delta(arg, MODEL_DELTA_TEXT, STR("Good "));
    sink->on_delta(arg, MODEL_DELTA_TEXT, STR("mor"));
    return 0;
}

static void on_go_on(uv_async_t *async)
{
    const struct model_reply reply = { .text = STR("Good morning."), .stop = MODEL_STOP_END };
    struct home *home = async->data;

    home->sink->on_delta(home->sink_arg, MODEL_DELTA_TEXT, STR("ning."));
    home->sink->on_done(home->sink_arg, &reply, NULL, -1);
}

void home_go_on(struct home *home)
{
    uv_async_send(&home->go_on);
}

/* A prompt that begins with the name of a tool is a call of it, "TOOL ARGUMENTS"; what the tool
 * said is repeated. */
static int acts(void *call_arg, const struct model_request *request, const struct model_sink *sink,
                void *arg, struct err *err)
{
    const struct model_message *last = &request->messages[request->message_count - 1];
    struct str arguments = last->text, name;
    struct model_call call = { .id = STR("c1") };
    struct model_reply reply = { .text = last->text, .stop = MODEL_STOP_END };

    (void)call_arg, (void)err;
    if (last->role == MODEL_USER && str_split(&arguments, ' ', &name)) {
        call.name = name;
        call.arguments = arguments;
        reply = (struct model_reply){ .calls = &call, .call_count = 1, .stop = MODEL_STOP_CALLS };
    }
    sink->on_done(arg, &reply, NULL, -1);
    return 0;
}

static void terms(const struct model_spec *spec, struct arena *arena,
                  struct consent_terms *ret_terms)
{
    (void)arena;
    *ret_terms = (struct consent_terms){ .model_id = spec->id,
                                         .provider = spec->provider,
                                         .host = "far.example",
                                         .policy_version = "v1",
                                         .retention = "30 days",
                                         .jurisdiction = "EU" };
}

/* ---- life ---- */

static void stopped(void *arg)
{
    loop_stop(((struct home *)arg)->loop);
}

static void on_stop(uv_async_t *async)
{
    struct home *home = async->data;

    uv_close((uv_handle_t *)async, NULL);
    uv_close((uv_handle_t *)&home->go_on, NULL);
    serve_stop(home->serve, 1000, stopped, home);
}

static void *live(void *arg)
{
    struct err err = ERR_INIT;

    loop_run(((struct home *)arg)->loop, &err);
    return NULL;
}

static struct domain *open_domain(struct test *t, struct home *home, enum home_domain which,
                                  const struct migration *migrations, size_t count)
{
    static const char *const names[] = { "journal", "agent", "index" };
    const char *name = names[which];
    const char *file = arena_printf(&t->arena, "%s.sqlite", name);
    const struct domain_config how = {
        .name = name,
        .url = arena_printf(&t->arena, "sqlite:%s", test_path(t, file)),
        .migrations = migrations,
        .migration_count = count,
        .sync = DB_SYNC_NORMAL,
        .fault = &home->faults[which],
    };
    struct domain *domain;

    ASSERT_OK(domain_open(&how, &domain, &t->err));
    loop_attach(home->loop, domain);
    return domain;
}

static void open_rooms(struct test *t, struct home *home)
{
    const struct model_spec specs[] = {
        { .id = "m", .provider = "call", .call = says_hello },
        { .id = "pauses", .provider = "call", .call = pauses, .call_arg = home },
        { .id = "acts", .provider = "call", .call = acts },
        { .id = "far",
          .provider = "openai",
          .base_url = "https://far.example/v1",
          .model = "big",
          .secret_ref = "far-key" },
    };
    struct model_spec *models = ARENA_NEW_N(&t->arena, struct model_spec, ARRAY_LEN(specs));

    memcpy(models, specs, sizeof(specs));
    ASSERT_OK(loop_new(NULL, &home->loop, &t->err));
    home->journal =
        open_domain(t, home, HOME_JOURNAL, migrations_journal, migrations_journal_count);
    home->agent = open_domain(t, home, HOME_AGENT, migrations_agent, migrations_agent_count);
    home->index = open_domain(t, home, HOME_INDEX, migrations_index, migrations_index_count);
    home->secrets = secrets_new(test_dir(t));
    home->rooms = ROOMS_INIT;
    ASSERT_OK(rooms_open(&home->rooms,
                         &(struct rooms_config){ .data_dir = test_dir(t),
                                                 .loop = home->loop,
                                                 .journal = home->journal,
                                                 .agent = home->agent,
                                                 .models = models,
                                                 .model_count = ARRAY_LEN(specs),
                                                 .connect = { .secrets = home->secrets },
                                                 .agent_name = "Planner",
                                                 .agent_model = "m",
                                                 .cwd = "/" },
                         &t->err));
    home->find = find_new(&(struct find_config){ .loop = home->loop,
                                                 .agent_domain = home->agent,
                                                 .index_domain = home->index,
                                                 .journal = home->rooms.journal });
}

static void open_api(struct home *home)
{
    home->api = api_new(&(struct api_config){ .runner = home->rooms.runner,
                                              .agent_domain = home->agent,
                                              .loop = home->loop,
                                              .change = home->rooms.change,
                                              .journal = home->rooms.journal,
                                              .kill = home->rooms.kill,
                                              .files = home->rooms.files,
                                              .models = home->rooms.models,
                                              .tools = home->rooms.tools,
                                              .builder = home->rooms.builder,
                                              .skills = home->rooms.skills,
                                              .find = home->find,
                                              .terms = terms,
                                              .connect = home->rooms.connect,
                                              .secrets = home->secrets,
                                              .waker = home->rooms.waker });
}

/* In the sealed file, not on the desktop of whoever runs the tests. */
static void keep_secrets_here(struct test *t)
{
    static const char key[] = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";
    const char *path = test_path(t, "key");

    test_write_file(path, key, strlen(key));
    chmod(path, 0600);
    setenv("DORMOUSE_MASTER_KEY_FILE", path, 1);
}

struct home *home_start(struct test *t)
{
    struct home *home = ARENA_NEW(&t->arena, struct home);
    struct serve_config how = { .listen = "", .route_tables = API_ROUTE_TABLES };

    keep_secrets_here(t);
    open_rooms(t, home);
    open_api(home);
    home->socket = how.socket_path = test_path(t, "s");
    how.routes = api_routes(home->api);
    ASSERT_OK(serve_start(home->loop, &how, &home->serve, &t->err));
    uv_async_init(loop_uv(home->loop), &home->stop, on_stop);
    uv_async_init(loop_uv(home->loop), &home->go_on, on_go_on);
    home->stop.data = home->go_on.data = home;
    ASSERT_EQ(pthread_create(&home->thread, NULL, live, home), 0);
    return home;
}

void home_end(struct home *home)
{
    uv_async_send(&home->stop);
    pthread_join(home->thread, NULL);
    api_free(home->api);
    find_free(home->find);
    rooms_stop(&home->rooms);
    serve_free(home->serve);
    rooms_release(&home->rooms);
    secrets_free(home->secrets);
    domain_free(home->index);
    domain_free(home->agent);
    domain_free(home->journal);
}

/* ---- asking ---- */

static int dial(struct home *home)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    snprintf(address.sun_path, sizeof(address.sun_path), "%s", home->socket);
    ASSERT_EQ(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
    return fd;
}

int home_stream(struct home *home, const char *method, const char *path, const char *body)
{
    int fd = dial(home);

    dprintf(
        fd,
        "%s %s HTTP/1.1\r\nHost: x\r\nAccept: text/event-stream\r\nContent-Length: %zu\r\n\r\n%s",
        method, path, strlen(body), body);
    return fd;
}

const char *ask_home(struct test *t, struct home *home, const char *method, const char *path,
                     const char *body)
{
    static char out[ANSWER_MAX];
    int fd = dial(home);
    size_t n = 0;
    ssize_t got;

    dprintf(fd, "%s %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: %zu\r\n\r\n%s",
            method, path, strlen(body), body);
    while ((got = read(fd, out + n, ANSWER_MAX - n - 1)) > 0)
        n += (size_t)got;
    close(fd);
    return arena_copy(&t->arena, out, n);
}

const char *ask_in_vain(struct test *t, struct home *home, const char *method, const char *path,
                        const char *body)
{
    const char *answer;
    struct db_fault *fault = home_fault(home, HOME_AGENT);

    *fault = (struct db_fault){
        .at = DB_FAULT_COMMIT, .kind = DB_FAULT_BUSY, .nth = 1, .times = UINT_MAX
    };
    answer = ASK(method, path, body);
    ASSERT(fault->fired > 0);
    *fault = (struct db_fault){ .at = DB_FAULT_NEVER };
    return answer;
}

struct db_fault *home_fault(struct home *home, enum home_domain domain)
{
    return &home->faults[domain];
}

const char *body_of(const char *answer)
{
    const char *end = strstr(answer, "\r\n\r\n");

    return end ? end + strlen("\r\n\r\n") : answer;
}

void home_check(struct test *t, struct home *home, const struct home_case *cases, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct home_case *c = &cases[i];
        const char *answer = ASK(c->method, c->path, c->body);
        bool is = str_starts(str_skip(str_from(answer), strlen("HTTP/1.1 ")), str_from(c->status));
        bool refused = c->status[0] >= '4';

        if (!is || !strstr(answer, c->says) ||
            (refused && !strstr(answer, "{\"error\":{\"code\":\"")))
            test_case_failed("%s %.300s %.300s: %.12s %s, not %s %s", c->method, c->path, c->body,
                             answer, body_of(answer), c->status, c->says);
        else
            test_case_passed();
    }
}

const char *text_of(struct test *t, const char *answer, const char *member)
{
    const char *key = arena_printf(&t->arena, "\"%s\":\"", member);
    const char *at = strstr(answer, key);

    if (!at)
        FAIL("no %s in %s", member, answer);
    at += strlen(key);
    return arena_copy(&t->arena, at, strcspn(at, "\""));
}
