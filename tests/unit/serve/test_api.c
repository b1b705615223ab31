/* The interface over a real runner and database that fail when a test says so.
 *
 * SPDX-License-Identifier: MIT
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <uv.h>

#include "db/db_fault.h"
#include "db/migrations.h"
#include "harness/test.h"
#include "serve/api.h"
#include "serve/serve.h"

struct house {
    struct db_fault fault;
    struct domain *domain;
    struct loop *loop;
    struct change *change;
    struct kill_switches *kill;
    struct model_gateway *models;
    struct tool_bed *tools;
    struct files *files;
    struct runner *runner;
    struct builder *builder;
    struct api *api;
    struct serve *serve;
    pthread_t thread;
    uv_async_t stop, go_on;
    const char *socket;
    const struct model_sink *sink; /* of the model that pauses */
    void *sink_arg;
};

static int says_hello(void *call_arg, const struct model_request *request,
                      const struct model_sink *sink, void *arg, struct err *err)
{
    const struct model_reply reply = { .text = STR("Hello."), .stop = MODEL_STOP_END };

    (void)call_arg, (void)request, (void)err;
    sink->on_done(arg, &reply, NULL, -1);
    return 0;
}

/* Says the first half, and the other when it is told to go on. */
static int pauses(void *call_arg, const struct model_request *request,
                  const struct model_sink *sink, void *arg, struct err *err)
{
    struct house *house = call_arg;

    (void)request, (void)err;
    house->sink = sink;
    house->sink_arg = arg;
    sink->on_delta(arg, MODEL_DELTA_THINKING, STR("hm"));
    sink->on_delta(arg, MODEL_DELTA_TEXT, STR("Good "));
    sink->on_delta(arg, MODEL_DELTA_TEXT, STR("mor"));
    return 0;
}

static void on_go_on(uv_async_t *async)
{
    const struct model_reply reply = { .text = STR("Good morning."), .stop = MODEL_STOP_END };
    struct house *house = async->data;

    house->sink->on_delta(house->sink_arg, MODEL_DELTA_TEXT, STR("ning."));
    house->sink->on_done(house->sink_arg, &reply, NULL, -1);
}

static void stopped(void *arg)
{
    loop_stop(((struct house *)arg)->loop);
}

static void on_stop(uv_async_t *async)
{
    struct house *house = async->data;

    uv_close((uv_handle_t *)async, NULL);
    uv_close((uv_handle_t *)&house->go_on, NULL);
    serve_stop(house->serve, 1000, stopped, house);
}

static void *live(void *arg)
{
    struct house *house = arg;
    struct err err = ERR_INIT;

    loop_run(house->loop, &err);
    return NULL;
}

static void open_runner(struct test *t, struct house *house)
{
    const struct model_spec specs[] = {
        { .id = "m", .provider = "call", .call = says_hello },
        { .id = "pauses", .provider = "call", .call = pauses, .call_arg = house },
    };
    const struct domain_config domain = {
        .name = "agent",
        .url = arena_printf(&t->arena, "sqlite:%s", test_path(t, "agent.sqlite")),
        .migrations = migrations_agent,
        .migration_count = migrations_agent_count,
        .fault = &house->fault,
    };
    struct model_gateway_config models = { .models = specs, .model_count = 2 };
    struct tool_bed_config tools = { .policy_text_hash = "" };
    struct runner_config runner = { .default_agent_name = "Planner",
                                    .default_model = "m",
                                    .default_cwd = "/" };

    ASSERT_OK(domain_open(&domain, &house->domain, &t->err));
    ASSERT_OK(loop_new(NULL, &house->loop, &t->err));
    loop_attach(house->loop, house->domain);
    ASSERT_OK(change_open(house->domain, NULL, NULL, &house->change, &t->err));
    ASSERT_OK(kill_open(house->domain, &house->kill, &t->err));
    models.loop = tools.loop = runner.loop = house->loop;
    tools.agent_domain = runner.agent_domain = house->domain;
    tools.kill = runner.kill = house->kill;
    runner.change = house->change;
    ASSERT_OK(files_new(&(struct files_config){ .loop = house->loop,
                                                .agent_domain = house->domain,
                                                .change = house->change },
                        &house->files, &t->err));
    tools.files = runner.files = house->files;
    ASSERT_OK(model_gateway_new(&models, &house->models, &t->err));
    ASSERT_OK(tool_bed_new(&tools, &house->tools, &t->err));
    runner.models = house->models;
    runner.tools = house->tools;
    house->builder = builder_new(&(struct builder_config){ .loop = house->loop,
                                                           .agent_domain = house->domain,
                                                           .change = house->change,
                                                           .models = house->models,
                                                           .tools = house->tools });
    ASSERT_OK(runner_new(&runner, &house->runner, &t->err));
    builder_set_runner(house->builder, house->runner);
}

static struct house *house_start(struct test *t)
{
    struct house *house = ARENA_NEW(&t->arena, struct house);
    struct serve_config how = { .listen = "", .route_tables = API_ROUTE_TABLES };

    open_runner(t, house);
    house->api = api_new(&(struct api_config){ .runner = house->runner,
                                               .agent_domain = house->domain,
                                               .loop = house->loop,
                                               .change = house->change,
                                               .kill = house->kill,
                                               .files = house->files,
                                               .models = house->models,
                                               .tools = house->tools,
                                               .builder = house->builder });
    house->socket = how.socket_path = test_path(t, "s");
    how.routes = api_routes(house->api);
    ASSERT_OK(serve_start(house->loop, &how, &house->serve, &t->err));
    uv_async_init(loop_uv(house->loop), &house->stop, on_stop);
    uv_async_init(loop_uv(house->loop), &house->go_on, on_go_on);
    house->stop.data = house->go_on.data = house;
    ASSERT_EQ(pthread_create(&house->thread, NULL, live, house), 0);
    return house;
}

static void house_end(struct house *house)
{
    uv_async_send(&house->stop);
    pthread_join(house->thread, NULL);
    api_free(house->api);
    runner_stop(house->runner);
    model_gateway_free(house->models);
    tool_bed_free(house->tools);
    files_free(house->files);
    serve_free(house->serve);
    loop_free(house->loop);
    runner_free(house->runner);
    builder_free(house->builder);
    kill_switches_free(house->kill);
    change_free(house->change);
    domain_free(house->domain);
}

/* The whole answer; the connection ends with it. */
static const char *ask(struct test *t, struct house *house, const char *method, const char *path,
                       const char *body)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    char *out = arena_alloc(&t->arena, 1, 1 << 20);
    size_t n = 0;
    ssize_t got;

    snprintf(address.sun_path, sizeof(address.sun_path), "%s", house->socket);
    ASSERT_EQ(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
    dprintf(fd, "%s %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: %zu\r\n\r\n%s",
            method, path, strlen(body), body);
    while ((got = read(fd, out + n, (1 << 20) - n - 1)) > 0)
        n += (size_t)got;
    close(fd);
    return out;
}

TEST(a_run_over_the_unix_socket_needs_no_token_and_ends_with_done)
{
    struct house *house = house_start(t);
    const char *answer = ask(t, house, "POST", "/run", "{\"prompt\":\"hi\"}");

    ASSERT_CONTAINS(answer, "HTTP/1.1 200");
    ASSERT_CONTAINS(answer, "id: 1\nevent: init\n");
    ASSERT_CONTAINS(answer, "id: 3\nevent: done\n");
    ASSERT(strstr(answer, "goodbye") == NULL);
    house_end(house);
}

TEST(a_run_whose_start_could_not_be_stored_is_refused)
{
    struct house *house = house_start(t);
    const char *answer;

    house->fault = (struct db_fault){ .at = DB_FAULT_COMMIT, .kind = DB_FAULT_BUSY, .nth = 1 };
    answer = ask(t, house, "POST", "/run", "{\"prompt\":\"hi\"}");
    ASSERT_EQ(house->fault.fired, 1);
    ASSERT_CONTAINS(answer, "HTTP/1.1 503");
    ASSERT_CONTAINS(answer, "\"code\":\"storage_failed\"");
    ASSERT_CONTAINS(ask(t, house, "GET", "/api/v1/runs", ""), "{\"runs\":[]}");
    ASSERT_CONTAINS(ask(t, house, "POST", "/run", "{\"prompt\":\"hi\"}"), "event: done\n");
    house_end(house);
}

TEST(what_could_not_be_stored_is_not_said_to_be_done)
{
    static const struct {
        const char *method, *path, *body;
    } writes[] = {
        { "POST", "/api/v1/agents/planner/pause", "" },
        { "POST", "/api/v1/kill", "{\"scope\":\"all\"}" },
    };
    struct house *house = house_start(t);

    ask(t, house, "POST", "/run", "{\"prompt\":\"hi\"}"); /* makes the agent */
    for (size_t i = 0; i < ARRAY_LEN(writes); i++) {
        const char *answer;

        house->fault = (struct db_fault){ .at = DB_FAULT_COMMIT, .kind = DB_FAULT_BUSY, .nth = 1 };
        answer = ask(t, house, writes[i].method, writes[i].path, writes[i].body);
        ASSERT_CONTAINS(answer, "\"code\":\"storage_failed\"");
        ASSERT_EQ(house->fault.fired, 1);
    }
    ASSERT_CONTAINS(ask(t, house, "GET", "/api/v1/agents/planner", ""), "\"paused\":false");
    house_end(house);
}

/* ---- memory ---- */

#define AT "/api/v1/agents/planner/memory"

static struct house *with_agent(struct test *t)
{
    struct house *house = house_start(t);

    ask(t, house, "POST", "/run", "{\"prompt\":\"hi\"}");
    return house;
}

TEST(memory_is_written_listed_and_read_by_its_owner)
{
    struct house *house = with_agent(t);
    const char *answer = ask(t, house, "PUT", AT "/knowledge/a.md",
                             "{\"content\":\"- tea\\n\",\"reason\":\"mine\"}");

    ASSERT_CONTAINS(answer, "HTTP/1.1 201");
    ASSERT_CONTAINS(answer, "\"author\":\"owner\"");
    ASSERT_CONTAINS(ask(t, house, "PUT", AT "/knowledge/a.md", "{\"content\":\"- coffee\"}"),
                    "HTTP/1.1 200");
    answer = ask(t, house, "GET", AT, "");
    ASSERT_CONTAINS(answer, "{\"path\":\"AGENTS.md\",");
    ASSERT_CONTAINS(answer, "{\"path\":\"knowledge/a.md\",\"content_type\":\"text/markdown\",");
    ASSERT_CONTAINS(answer, "\"size_bytes\":8,\"version\":2,\"writable\":true}");
    ASSERT_CONTAINS(answer, "\"total_bytes\":8,\"limit_bytes\":102400}");
    ASSERT_CONTAINS(ask(t, house, "GET", AT "/knowledge/a.md?version=1", ""),
                    "\"content\":\"- tea\\n\"");
    ASSERT_CONTAINS(ask(t, house, "GET", AT "/knowledge/b.md", ""), "HTTP/1.1 404");
    ASSERT_CONTAINS(ask(t, house, "GET", AT "/tools.json", ""), "\"writable\":false");
    house_end(house);
}

TEST(memory_that_was_changed_meanwhile_is_not_overwritten)
{
    struct house *house = with_agent(t);

    ask(t, house, "PUT", AT "/knowledge/a.md", "{\"content\":\"1\",\"base_version\":0}");
    ASSERT_CONTAINS(
        ask(t, house, "PUT", AT "/knowledge/a.md", "{\"content\":\"2\",\"base_version\":0}"),
        "\"code\":\"version_conflict\"");
    ASSERT_CONTAINS(
        ask(t, house, "PUT", AT "/knowledge/a.md", "{\"content\":\"2\",\"base_version\":1}"),
        "\"version\":2");
    ASSERT_CONTAINS(ask(t, house, "DELETE", AT "/knowledge/a.md?base_version=1", ""),
                    "HTTP/1.1 409");
    house_end(house);
}

TEST(deleted_memory_has_a_history_and_comes_back)
{
    struct house *house = with_agent(t);
    const char *answer;

    ask(t, house, "PUT", AT "/knowledge/a.md", "{\"content\":\"1\"}");
    ASSERT_CONTAINS(ask(t, house, "DELETE", AT "/knowledge/a.md?reason=old", ""), "HTTP/1.1 204");
    ASSERT_CONTAINS(ask(t, house, "DELETE", AT "/knowledge/a.md", ""), "HTTP/1.1 404");
    ASSERT_CONTAINS(ask(t, house, "GET", AT "/knowledge/a.md", ""), "HTTP/1.1 404");
    answer = ask(t, house, "GET", AT "-history/knowledge/a.md", "");
    ASSERT_CONTAINS(answer,
                    "{\"version\":2,\"size_bytes\":0,\"author\":\"owner\",\"reason\":\"old\"");
    ASSERT_CONTAINS(answer, "\"deleted\":true");
    ASSERT_CONTAINS(ask(t, house, "POST", AT "-restore/knowledge/a.md", "{\"version\":1}"),
                    "\"version\":3");
    ASSERT_CONTAINS(ask(t, house, "GET", AT "/knowledge/a.md", ""), "\"content\":\"1\"");
    ASSERT_CONTAINS(ask(t, house, "POST", AT "-restore/knowledge/a.md", "{\"version\":9}"),
                    "HTTP/1.1 404");
    ASSERT_CONTAINS(ask(t, house, "POST", AT "-restore/knowledge/a.md", "{\"version\":0}"),
                    "HTTP/1.1 422");
    ASSERT_CONTAINS(ask(t, house, "GET", AT "-history/knowledge/none.md", ""), "HTTP/1.1 404");
    house_end(house);
}

TEST(memory_paths_do_not_lead_elsewhere)
{
    static const char *const paths[] = {
        "/../../kill",
        "/knowledge/../AGENTS.md",
        "/knowledge/%2e%2e/AGENTS.md",
        "/%2e%2e%2fx",
        "/knowledge%2F..%2Fx",
        "/knowledge/..%5cx",
        "/knowledge/a%00b",
        "/knowledge/%c0%ae%c0%ae",
        "/%2Fetc%2Fpasswd",
        "/knowledge//a",
        "/knowledge/a.md.",
        "/knowledge/%2e",
        "/knowledge/.hidden",
        "/AGENTS.md",
        "/tools.json",
        "/Knowledge/a.md",
        "/secrets/a",
        "/skills/Bad.md",
        "/skills/a/SKILL.md",
        "/knowledge/%E2%80%AEa",
        "/knowledge/con",
        "/knowledge/a%252e%252e",
        "/knowledge",
        "/agents/other/knowledge/a.md",
    };
    struct house *house = with_agent(t);
    const char *before;

    ask(t, house, "PUT", AT "/knowledge/keep.md", "{\"content\":\"kept\"}");
    before = strstr(ask(t, house, "GET", AT, ""), "{\"files\"");
    for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
        const char *path = arena_printf(&t->arena, AT "%s", paths[i]);
        const char *put = ask(t, house, "PUT", path, "{\"content\":\"x\"}");
        const char *gone = ask(t, house, "DELETE", path, "");

        if (strncmp(put, "HTTP/1.1 4", 10) != 0 || strncmp(gone, "HTTP/1.1 4", 10) != 0)
            FAIL("%s: %.40s / %.40s", path, put, gone);
    }
    ASSERT_TEXT(strstr(ask(t, house, "GET", AT, ""), "{\"files\""), before);
    house_end(house);
}

TEST(memory_is_bounded_text_of_an_agent_that_there_is)
{
    struct house *house = with_agent(t);
    char *body = arena_alloc(&t->arena, 102400 + 100, 1);
    int n = sprintf(body, "{\"content\":\"");

    memset(body + n, 'x', 102401);
    strcpy(body + n + 102401, "\"}");
    ASSERT_CONTAINS(ask(t, house, "PUT", AT "/knowledge/a.md", body), "HTTP/1.1 413");
    body[n] = '\xFF';
    ASSERT_CONTAINS(ask(t, house, "PUT", AT "/knowledge/a.md", body), "HTTP/1.1 400");
    ASSERT_CONTAINS(ask(t, house, "PUT", AT "/knowledge/a.md", "{\"content\":\"a\\u0000b\"}"),
                    "HTTP/1.1 422");
    ASSERT_CONTAINS(ask(t, house, "PUT", AT "/knowledge/a.md", "{\"content\":7}"), "HTTP/1.1 422");
    ASSERT_CONTAINS(ask(t, house, "PUT", AT "/knowledge/a.md", "{}"), "HTTP/1.1 422");
    ASSERT_CONTAINS(ask(t, house, "PUT", AT "/knowledge/a.md", "{\"content\":\"\",\"x\":1}"),
                    "HTTP/1.1 422");
    ASSERT_CONTAINS(ask(t, house, "GET", "/api/v1/agents/nobody/memory", ""), "HTTP/1.1 404");
    ASSERT_CONTAINS(
        ask(t, house, "PUT", "/api/v1/agents/nobody/memory/knowledge/a.md", "{\"content\":\"x\"}"),
        "HTTP/1.1 404");
    house_end(house);
}

/* What a stream says up to and with this text. */
static const char *hear(struct test *t, int fd, const char *text)
{
    char *out = arena_alloc(&t->arena, 1, 1 << 18);
    size_t n = 0;
    ssize_t got;

    while (!strstr(out, text) && (got = read(fd, out + n, (1 << 18) - n - 1)) > 0)
        n += (size_t)got;
    if (!strstr(out, text))
        FAIL("the stream ended without %s: %s", text, out);
    return out;
}

/* ---- what changed ---- */

static int open_stream(struct house *house, const char *method, const char *path, const char *body)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    snprintf(address.sun_path, sizeof(address.sun_path), "%s", house->socket);
    ASSERT_EQ(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
    dprintf(
        fd,
        "%s %s HTTP/1.1\r\nHost: x\r\nAccept: text/event-stream\r\nContent-Length: %zu\r\n\r\n%s",
        method, path, strlen(body), body);
    return fd;
}

/* A reader of the feed, past its first event. */
static int listen_in(struct test *t, struct house *house, const char *query, const char **ret_hello)
{
    int fd = open_stream(house, "GET", arena_printf(&t->arena, "/api/v1/activity%s", query), "");

    *ret_hello = hear(t, fd, "\"reset\":");
    return fd;
}

/* The id of the newest event in a text. */
static const char *last_id(struct test *t, const char *text)
{
    const char *at = text, *id = NULL;

    while ((at = strstr(at, "\nid: ")) != NULL)
        id = at += strlen("\nid: ");
    ASSERT(id != NULL);
    return arena_copy(&t->arena, id, strcspn(id, "\n"));
}

TEST(activity_tells_of_runs_and_of_what_requests_changed)
{
    struct house *house = house_start(t);
    const char *heard;
    int fd = listen_in(t, house, "", &heard);

    ASSERT_CONTAINS(heard, "event: hello");
    ASSERT_CONTAINS(heard, "\"reset\":false");
    ask(t, house, "POST", "/run", "{\"prompt\":\"hi\"}");
    heard = hear(t, fd, "\"kind\":\"done\"");
    ASSERT_CONTAINS(heard, "event: run");
    ASSERT_CONTAINS(heard, "\"kind\":\"init\"");
    ASSERT_CONTAINS(heard, "\"agentId\":\"planner\"");
    ASSERT(strstr(heard, "Hello.") == NULL); /* that, never what */
    ask(t, house, "POST", "/api/v1/kill", "{\"scope\":\"all\"}");
    ASSERT_CONTAINS(hear(t, fd, "event: kill"), "event: kill");
    ask(t, house, "POST", "/api/v1/agents/planner/pause", "");
    ASSERT_CONTAINS(hear(t, fd, "\"type\":\"agent\""), "\"agentId\":\"planner\"");
    close(fd);
    house_end(house);
}

TEST(activity_says_nothing_of_what_was_refused_or_not_stored)
{
    struct house *house = with_agent(t);
    const char *heard;
    int fd = listen_in(t, house, "", &heard);

    ask(t, house, "POST", "/api/v1/kill", "{\"scope\":\"none\"}");
    ask(t, house, "POST", "/api/v1/agents/nobody/pause", "");
    house->fault = (struct db_fault){ .at = DB_FAULT_COMMIT, .kind = DB_FAULT_BUSY, .nth = 1 };
    ask(t, house, "POST", "/api/v1/kill", "{\"scope\":\"all\"}");
    ASSERT_EQ(house->fault.fired, 1);
    ask(t, house, "POST", "/api/v1/agents/planner/pause", "");
    heard = hear(t, fd, "\"type\":\"agent\"");
    ASSERT(strstr(heard, "\"type\":\"kill\"") == NULL);
    ASSERT(strstr(heard, "nobody") == NULL);
    close(fd);
    house_end(house);
}

TEST(activity_tells_who_was_away_to_read_anew)
{
    struct house *house = with_agent(t);
    const char *heard, *id;
    int fd = listen_in(t, house, "", &heard);

    ask(t, house, "POST", "/api/v1/agents/planner/pause", "");
    id = last_id(t, hear(t, fd, "\"type\":\"agent\""));
    close(fd);
    fd = listen_in(t, house, arena_printf(&t->arena, "?after=%s", id), &heard);
    ASSERT_CONTAINS(heard, "\"reset\":false");
    ask(t, house, "POST", "/api/v1/agents/planner/resume", "");
    hear(t, fd, "\"type\":\"agent\"");
    close(fd);
    fd = listen_in(t, house, arena_printf(&t->arena, "?after=%s", id), &heard);
    ASSERT_CONTAINS(heard, "\"reset\":true");
    close(fd);
    ASSERT_CONTAINS(ask(t, house, "GET", "/api/v1/activity?after=x", ""), "HTTP/1.1 4");
    ASSERT_CONTAINS(ask(t, house, "GET", "/api/v1/activity?since=1", ""), "HTTP/1.1 4");
    house_end(house);
}

TEST(a_run_is_replayed_from_its_log)
{
    struct house *house = house_start(t);
    const char *answer = ask(t, house, "POST", "/run", "{\"prompt\":\"hi\"}");
    const char *key = strstr(answer, "\"runId\":\"");

    ASSERT(key != NULL);
    key = arena_copy(&t->arena, key + strlen("\"runId\":\""), 64);
    answer = ask(t, house, "GET", arena_printf(&t->arena, "/api/v1/runs/%s/replay", key), "");
    ASSERT_CONTAINS(answer, "HTTP/1.1 200");
    ASSERT_CONTAINS(answer, "\"same\":true");
    ASSERT_CONTAINS(answer, "\"ended\":true");
    ASSERT_CONTAINS(ask(t, house, "GET", "/api/v1/runs/0000/replay", ""), "HTTP/1.1 404");
    house_end(house);
}

/* ---- in the middle of an answer ---- */

/* Whoever starts the run, and whoever comes while the model speaks, has the answer from its first
 * byte on: a model may have spoken before the head of the response is out. */
TEST(who_comes_while_a_model_speaks_gets_what_it_has_said)
{
    struct house *house = house_start(t);
    int first = open_stream(house, "POST", "/run",
                            "{\"prompt\":\"hi\",\"model\":\"pauses\",\"session\":\"s\"}");
    const char *soon = hear(t, first, "mor\",\"isPartial\":true"), *run, *late;
    int second;

    ASSERT_CONTAINS(soon, "\"type\":\"thinking\",\"seq\":2");
    ASSERT_CONTAINS(soon, "\"content\":\"hm\",\"isPartial\":true,\"offset\":0}");
    ASSERT_CONTAINS(soon, "\"type\":\"text\",\"seq\":3");
    ASSERT_CONTAINS(soon, "\"content\":\"Good ");
    run = strstr(soon, "\"runId\":\"") + strlen("\"runId\":\"");
    second =
        open_stream(house, "GET", arena_printf(&t->arena, "/api/v1/runs/%.64s/events", run), "");
    late = hear(t, second, "\"content\":\"Good mor\",\"isPartial\":true,\"offset\":0}");
    ASSERT_CONTAINS(late, "\"content\":\"hm\",\"isPartial\":true,\"offset\":0}");
    uv_async_send(&house->go_on);
    for (int i = 0; i < 2; i++) {
        late = hear(t, i ? second : first, "event: done");
        ASSERT_CONTAINS(late, "\"content\":\"ning.\",\"isPartial\":true,\"offset\":8}");
        ASSERT_CONTAINS(late, "\"content\":\"Good morning.\",\"isPartial\":false}");
    }
    close(first);
    close(second);
    house_end(house);
}
