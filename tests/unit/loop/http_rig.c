/* The rig of the HTTP client's tests. SPDX-License-Identifier: MIT */
#include "http_rig.h"

#include <uv.h>

#include "base/limits.h"

void rig_open(struct rig *rig, struct test *t, peer_fn *serve, const void *arg,
              const struct http_options *options)
{
    *rig = (struct rig){ .t = t };
    if (serve)
        peer_start(&rig->peer, serve, arg);
    ASSERT_OK(loop_new(NULL, &rig->loop, &t->err));
    rig->client = http_client_new(rig->loop, options);
}

static void on_pulse(uv_timer_t *pulse)
{
    (void)pulse;
}

static void on_tick(struct loop_tick_hook *hook)
{
    struct rig *rig = (struct rig *)(void *)((char *)hook - offsetof(struct rig, hook));

    rig->after_tick(rig);
}

void rig_open_still(struct rig *rig, struct test *t, peer_fn *serve, const void *arg,
                    void (*after_tick)(struct rig *rig))
{
    *rig = (struct rig){ .t = t, .hook.after_tick = on_tick, .after_tick = after_tick };
    peer_start(&rig->peer, serve, arg);
    clock_fake_init(&rig->clock, 0);
    ASSERT_OK(loop_new(&rig->clock.clock, &rig->loop, &t->err));
    loop_add_tick_hook(rig->loop, &rig->hook);
    rig->pulse = NEW(uv_timer_t);
    uv_timer_init(loop_uv(rig->loop), rig->pulse);
    uv_timer_start(rig->pulse, on_pulse, 1, 1);
    rig->client = http_client_new(rig->loop, NULL);
}

void rig_close(struct rig *rig)
{
    http_client_free(rig->client);
    if (rig->pulse)
        uv_close((uv_handle_t *)rig->pulse, NULL);
    loop_free(rig->loop);
    free(rig->pulse);
    if (rig->peer.pid)
        peer_stop(&rig->peer);
}

const char *rig_url(struct rig *rig, const char *path)
{
    return arena_printf(&rig->t->arena, "http://127.0.0.1:%u%s", rig->peer.port, path);
}

static void on_headers(struct http_exchange *x, const struct http_head *head, void *arg)
{
    struct call *call = arg;
    struct buf text = BUF_INIT(sizeof(call->text) - 1);

    if (x != call->x)
        FAIL("another exchange's head");
    call->heads++;
    call->status = head->status;
    for (size_t i = 0; i < head->n; i++)
        buf_printf(&text, "%.*s: %.*s\n", STR_ARG(head->fields[i].name),
                   STR_ARG(head->fields[i].value));
    memcpy(call->text, buf_text(&text), text.n + 1);
    buf_release(&text);
    if (call->at_headers)
        call->at_headers(call);
}

static enum http_flow on_data(struct http_exchange *x, struct str chunk, void *arg)
{
    struct call *call = arg;

    if (x != call->x || call->heads != 1 || call->dones)
        FAIL("data at the wrong time");
    call->chunks++;
    call->bytes += (int64_t)chunk.n;
    call->rig->bytes += (int64_t)chunk.n;
    buf_add_str(&call->body, chunk);
    return call->at_data ? call->at_data(call, chunk) : HTTP_GO;
}

static void on_done(struct http_exchange *x, const struct http_result *result, void *arg)
{
    struct call *call = arg;

    if (x != call->x)
        FAIL("done twice, or another exchange's");
    call->x = NULL;
    call->dones++;
    call->result = *result;
    if (call->at_done)
        call->at_done(call);
    if (--call->rig->waiting == 0)
        loop_stop(call->rig->loop);
}

static const struct http_handler handler = {
    .on_headers = on_headers,
    .on_data = on_data,
    .on_done = on_done,
};

void call_start(struct call *call, struct rig *rig, const struct http_request *request)
{
    struct test *t = rig->t;

    call->rig = rig;
    if (!call->body.max)
        call->body = BUF_INIT(1 * MIB);
    ASSERT_OK(http_start(rig->client, request, &handler, call, &call->x, &t->err));
    ASSERT_EQ(call->dones, 0);
    rig->waiting++;
}

void rig_run(struct rig *rig)
{
    struct test *t = rig->t;

    if (rig->waiting)
        ASSERT_OK(loop_run(rig->loop, &t->err));
    ASSERT_EQ(rig->waiting, 0);
}

void call_run(struct call *call, struct rig *rig, const struct http_request *request)
{
    call_start(call, rig, request);
    rig_run(rig);
}

void call_get(struct call *call, struct rig *rig, const char *path)
{
    struct http_request request = { .url = rig_url(rig, path) };

    call_run(call, rig, &request);
}

void call_release(struct call *call)
{
    buf_release(&call->body);
    *call = (struct call){ .rig = NULL };
}

const char *call_error(struct call *call)
{
    static char text[ERR_TEXT_MAX + 64];

    return err_format(&call->result.err, text, sizeof(text));
}

/* ---- a table of names ---- */

struct table_job {
    struct loop_timer timer; /* first */
    struct table_resolver *table;
    struct dns_lookup *lookup;
    const struct table_name *name;
};

static void answer_now(struct loop_timer *timer)
{
    struct table_job *job = (struct table_job *)timer;
    struct dns_lookup *lookup = job->lookup;
    struct dns_answer answer = { .n = 0 };
    struct str rest = str_from(job->name->addrs), one;

    while (job->name->addrs && str_split(&rest, ',', &one))
        if (dns_literal(one, &answer.addrs[answer.n++]) != 1)
            FAIL("bad address in the table");
    if (answer.n == 0)
        err_set(&answer.err, ERR_PROVIDER_FAILED, "look up %s: no such name", lookup->host);
    free(job);
    dns_lookup_done(lookup, &answer);
}

static int table_start(struct dns_resolver *resolver, struct dns_lookup *lookup, struct err *err)
{
    struct table_resolver *table = (struct table_resolver *)resolver;
    const struct table_name *name = table->names;
    struct table_job *job;

    table->lookups++;
    while (name->host && strcmp(name->host, lookup->host) != 0)
        name++;
    if (!name->host)
        return err_set(err, ERR_PROVIDER_FAILED, "%s is not in the table", lookup->host);
    job = NEW(struct table_job);
    *job = (struct table_job){ { .fire = answer_now }, table, lookup, name };
    lookup->data = job;
    if (name->ms >= 0)
        loop_timer_start(*table->loop, &job->timer, name->ms);
    return 0;
}

static void table_cancel(struct dns_resolver *resolver, struct dns_lookup *lookup)
{
    struct table_resolver *table = (struct table_resolver *)resolver;
    struct table_job *job = lookup->data;

    table->cancelled++;
    loop_timer_stop(*table->loop, &job->timer);
    free(job);
}

static void table_free(struct dns_resolver *resolver)
{
    (void)resolver;
}

void table_resolver_init(struct table_resolver *table, const struct table_name *names,
                         struct loop **loop)
{
    *table = (struct table_resolver){
        .resolver = { .start = table_start, .cancel = table_cancel, .free = table_free },
        .loop = loop,
        .names = names,
    };
}
