/* See desk.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "desk.h"

#include <stdio.h>

#include "base/json.h"
#include "db/migrations.h"

static const struct http_field is_json[] = { { { "Content-Type", 12 },
                                               { "application/json; charset=utf-8", 31 } } };

static void open_all(struct desk *desk)
{
    struct test *t = desk->t;
    struct tool_bed_config bed = { .loop = desk->loop, .policy_text_hash = "" };

    desk->http = http_fake_new(desk->loop, desk->script, DESK_SCRIPT);
    desk->config.http = desk->http;
    ASSERT_OK(connect_new(&desk->config, &desk->connect, &t->err));
    ASSERT_OK(tool_bed_new(&bed, &desk->tools, &t->err));
    connect_bind(desk->connect, desk->tools);
}

struct desk *desk_new_with(struct test *t, const struct connect_config *config)
{
    static const char *const none[] = { NULL };
    struct desk *desk = NEW(struct desk);

    unsetenv("DBUS_SESSION_BUS_ADDRESS");
    unsetenv("XDG_RUNTIME_DIR");
    unsetenv("DORMOUSE_MASTER_KEY_FILE");
    desk->t = t;
    clock_fake_init(&desk->clock, 1767225600000); /* 2026-01-01T00:00:00Z */
    rand_fake_init(&desk->rand, 7);
    desk->loop = loop_new_fake(&desk->clock);
    desk->domain = db_test_open(t, migrations_agent, migrations_agent_count);
    loop_attach(desk->loop, desk->domain);
    desk->secrets = secrets_new(test_dir(t));
    for (size_t i = 0; i < DESK_SCRIPT; i++)
        desk->script[i] = (struct http_fake_answer){ .fail = ERR_TIMEOUT };
    desk->config = *config;
    desk->config.loop = desk->loop;
    desk->config.agent_domain = desk->domain;
    desk->config.secrets = desk->secrets;
    desk->config.rand = &desk->rand.rand;
    desk->agent = (struct agent){ .n = 1,
                                  .id = "inbox",
                                  .kind = "custom",
                                  .display_name = "Inbox",
                                  .lifecycle = AGENT_ACTIVE,
                                  .mode = "hybrid",
                                  .allowed_category_ids = "[]",
                                  .instructions = "" };
    desk->call = (struct tool_call){ .agent = &desk->agent,
                                     .thread_id = STR("inbox:session:s"),
                                     .run_id = STR("run1"),
                                     .run_n = 1,
                                     .wake_reason = STR("userInitiated"),
                                     .sandbox = { .cwd = "/home/ada",
                                                  .allow_write = none,
                                                  .deny_read = none,
                                                  .allow_domains = none,
                                                  .home = "/home/ada",
                                                  .data_dir = "/home/ada/.dormouse" } };
    open_all(desk);
    return desk;
}

struct desk *desk_new(struct test *t)
{
    static const struct connect_config config = { .google_client_id = "client-1" };

    return desk_new_with(t, &config);
}

static void close_all(struct desk *desk)
{
    http_client_free(TAKE(desk->http));
    connect_stop(desk->connect);
    tool_bed_free(TAKE(desk->tools));
    connect_free(TAKE(desk->connect));
}

void desk_free(struct desk *desk)
{
    if (!desk)
        return;
    close_all(desk);
    secrets_free(desk->secrets);
    loop_free(desk->loop);
    domain_free(desk->domain);
    free(desk);
}

void desk_restart(struct desk *desk)
{
    size_t n = desk_asked(desk);

    close_all(desk);
    memmove(desk->script, desk->script + n, (DESK_SCRIPT - n) * sizeof(desk->script[0]));
    desk->said -= n;
    open_all(desk);
}

/* ---- the script ---- */

struct http_fake_answer *desk_newest(struct desk *desk)
{
    return &desk->script[desk->said - 1];
}

void desk_says(struct desk *desk, int status, const char *json)
{
    struct str *chunk = ARENA_NEW(&desk->t->arena, struct str);

    ASSERT(desk->said < DESK_SCRIPT);
    *chunk = str_from(json);
    desk->script[desk->said++] = (struct http_fake_answer){
        .status = status, .fields = is_json, .n_fields = 1, .chunks = chunk, .n_chunks = 1
    };
}

void desk_says_type(struct desk *desk, int status, const char *type, struct str body)
{
    struct http_field *field = ARENA_NEW(&desk->t->arena, struct http_field);

    *field = (struct http_field){ STR("Content-Type"), str_from(type) };
    desk_says(desk, status, "");
    *(struct str *)desk_newest(desk)->chunks = body;
    desk_newest(desk)->fields = field;
}

void desk_fails(struct desk *desk, enum err_code code, enum http_phase phase)
{
    ASSERT(desk->said < DESK_SCRIPT);
    desk->script[desk->said++] = (struct http_fake_answer){ .fail = code, .phase = phase };
}

void desk_turn(struct desk *desk, int64_t ms)
{
    unsigned before = desk->told + desk->shown + desk->done;

    for (int64_t past = 0; past <= ms; past += 50) {
        for (int i = 0; i < 12; i++)
            loop_fake_tick(desk->loop);
        if (desk->told + desk->shown + desk->done != before)
            return;
        loop_fake_advance(desk->loop, 50);
    }
}

/* ---- what was asked ---- */

size_t desk_asked(const struct desk *desk)
{
    return http_fake_count(desk->http);
}

static const struct http_fake_seen *seen(struct desk *desk, size_t i)
{
    ASSERT(i < desk_asked(desk));
    return http_fake_seen(desk->http, i);
}

const char *desk_line(struct desk *desk, size_t i)
{
    return arena_printf(&desk->t->arena, "%s %s", seen(desk, i)->method, seen(desk, i)->url);
}

struct str desk_body(struct desk *desk, size_t i)
{
    return seen(desk, i)->body;
}

struct str desk_header(struct desk *desk, size_t i, const char *name)
{
    const struct http_fake_seen *request = seen(desk, i);

    for (size_t h = 0; h < request->n_headers; h++)
        if (str_is(request->headers[h].name, name))
            return request->headers[h].value;
    return STR_NONE;
}

size_t desk_sent(struct desk *desk, const char *text)
{
    size_t found = 0;

    for (size_t i = 0; i < desk_asked(desk); i++) {
        const struct http_fake_seen *request = seen(desk, i);
        bool here = strstr(request->url, text) || str_find(request->body, str_from(text)) >= 0;

        for (size_t h = 0; h < request->n_headers; h++)
            here |= str_find(request->headers[h].value, str_from(text)) >= 0;
        found += here;
    }
    return found;
}

/* ---- accounts ---- */

void desk_done(void *arg, const struct err *err)
{
    struct desk *desk = arg;

    desk->done++;
    err_reset(&desk->err);
    if (err)
        desk->err = *err;
}

void desk_connect_slack(struct desk *desk)
{
    struct test *t = desk->t;

    desk_says(desk, 200,
              "{\"ok\":true,\"team\":\"Mice & Men\",\"team_id\":\"T1\",\"user\":\"dormouse\"}");
    desk->done = 0;
    ASSERT_OK(connect_slack_set(desk->connect, STR(SLACK_TOKEN), desk_done, desk, &t->err));
    desk_turn(desk, 1000);
    ASSERT_EQ(desk->done, 1);
    ASSERT_EQ(desk->err.code, ERR_NONE);
}

/* The value of a parameter of an address. */
static struct str parameter(struct test *t, const char *url, const char *name)
{
    const char *at = strstr(url, arena_printf(&t->arena, "&%s=", name));

    ASSERT(at);
    at += strlen(name) + 2;
    return str_of(at, strcspn(at, "&\""));
}

void desk_connect_google(struct desk *desk)
{
    struct test *t = desk->t;
    struct connect_google_start start = { .flow = STR("loopback"),
                                          .client_secret = STR(CLIENT_VALUE),
                                          .redirect_uri = STR("http://127.0.0.1:7717/cb") };
    const char *flow;

    ASSERT_OK(connect_google_begin(desk->connect, &start, desk_done, desk, &t->err));
    desk_turn(desk, 100);
    flow = desk_status(desk, connect_google_flow);
    desk_says(desk, 200,
              "{\"access_token\":\"" ACCESS "\",\"refresh_token\":\"" REFRESH
              "\",\"expires_in\":3600,\"scope\":\"mail calendar\"}");
    desk_says(desk, 200, "{\"emailAddress\":\"ada@example.org\"}");
    desk->done = 0;
    ASSERT_OK(connect_google_finish(desk->connect, STR("the-code"), parameter(t, flow, "state"),
                                    STR_NONE, desk_done, desk, &t->err));
    desk_turn(desk, 1000);
    ASSERT_EQ(desk->done, 1);
    ASSERT_EQ(desk->err.code, ERR_NONE);
}

const char *desk_status(struct desk *desk,
                        void (*write)(const struct connect *connect, struct json_writer *w))
{
    AUTO_BUF json = BUF_INIT(64u << 10);
    struct json_writer w = JSON_WRITER(&json);

    write(desk->connect, &w);
    ASSERT_EQ(json_write_end(&w), 0);
    return arena_text(&desk->t->arena, buf_text(&json));
}

/* ---- calls ---- */

static struct str keep(struct desk *desk, struct str text)
{
    return text.p ? arena_str(&desk->t->arena, text) : STR_NONE;
}

static void on_done(void *arg, const struct tool_result *result)
{
    struct desk *desk = arg;

    desk->told++;
    desk->job = NULL;
    desk->result = *result;
    desk->result.output = keep(desk, result->output);
    desk->result.taint = keep(desk, result->taint);
}

static void on_shown(void *arg, const struct tool_preview *preview)
{
    struct desk *desk = arg;

    desk->shown++;
    desk->job = NULL;
    desk->preview = *preview;
    desk->preview.title = keep(desk, preview->title);
    desk->preview.text = keep(desk, preview->text);
    desk->preview.details = keep(desk, preview->details);
}

static void call_of(struct desk *desk, const char *tool, const char *arguments)
{
    desk->call.name = str_from(tool);
    desk->call.arguments = str_from(arguments);
    desk->told = desk->shown = 0;
    desk->result = (struct tool_result){ .err = ERR_INIT };
}

int desk_start(struct desk *desk, const char *tool, const char *arguments, const char *digest)
{
    call_of(desk, tool, arguments);
    return tool_start(desk->tools, &desk->call, STR("op1"), str_from(digest), NULL, on_done, desk,
                      &desk->job, &desk->result.err);
}

int desk_preview(struct desk *desk, const char *tool, const char *arguments)
{
    call_of(desk, tool, arguments);
    return tool_preview(desk->tools, &desk->call, NULL, on_shown, desk, &desk->job,
                        &desk->result.err);
}

enum err_code desk_does(struct desk *desk, const char *tool, const char *arguments)
{
    const char *digest = "";

    call_of(desk, tool, arguments);
    if (tool_asks(tool_contract_find(str_from(tool)))) {
        if (desk_preview(desk, tool, arguments) < 0)
            return desk->result.err.code;
        desk_turn(desk, 120000);
        ASSERT_EQ(desk->shown, 1);
        desk->result.err = desk->preview.err;
        digest = arena_text(&desk->t->arena, desk->preview.digest);
    }
    if (desk->result.err.code || desk_start(desk, tool, arguments, digest) < 0)
        return desk->result.err.code;
    desk_turn(desk, 120000);
    ASSERT_EQ(desk->told, 1);
    return desk->result.err.code;
}

const char *desk_output(struct desk *desk)
{
    char text[ERR_TEXT_MAX];

    if (desk->result.err.code)
        return arena_text(&desk->t->arena, err_format(&desk->result.err, text, sizeof(text)));
    return arena_printf(&desk->t->arena, "%.*s", STR_ARG(desk->result.output));
}

const char *desk_repeated(struct test *t, const char *text, int n)
{
    AUTO_BUF out = BUF_INIT(1u << 20);

    for (int i = 0; i < n; i++)
        buf_add_text(&out, text);
    return arena_text(&t->arena, buf_text(&out));
}
