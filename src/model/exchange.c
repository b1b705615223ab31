/* What a provider tells an exchange, collected into the reply.
 *
 * Providers speak of untrusted bytes from somewhere else; here they become valid UTF-8 without
 * NUL, bounded, with calls that have unique ids, and counted. Whatever the provider does, the sink
 * gets one on_done: after model_cancel() it is always `cancelled`, after a cap was passed
 * `too_large`.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/json.h"
#include "base/rand.h"
#include "base/redact.h"
#include "base/tokens.h"
#include "base/utf8.h"
#include "model/exchange_int.h"

#define CALL_ID_MAX   128 /* bytes of an id that is kept as received */
#define CALL_NAME_MAX 256
#define TOKENS_MAX    1000000000000 /* more was never sent */

static void on_timer(struct loop_timer *timer)
{
    struct model_exchange_core *core =
        (struct model_exchange_core *)(void *)((char *)timer -
                                               offsetof(struct model_exchange_core, timer));

    core->soon(core->self);
}

void exchange_init(struct model_exchange *x, const struct model_sink *sink, void *arg)
{
    struct model_exchange_core *core = NEW(struct model_exchange_core);

    core->self = x;
    core->sink = *sink;
    core->arg = arg;
    core->timer.fire = on_timer;
    core->text.all = BUF_INIT(MODEL_TEXT_MAX);
    core->thinking.all = BUF_INIT(MODEL_TEXT_MAX);
    core->opaque = BUF_INIT(MODEL_TEXT_MAX);
    core->model = BUF_INIT(CALL_NAME_MAX);
    core->mended = BUF_INIT((size_t)3 * MODEL_TEXT_MAX + 16);
    core->secret = BUF_INIT(MODEL_SECRET_MAX);
    core->input = core->output = core->cached = -1;
    x->core = core;
}

static void wipe_secret(struct model_exchange_core *core)
{
    if (core->secret.n > 0) {
        redact_forget(buf_str(&core->secret));
        explicit_bzero(core->secret.p, core->secret.cap);
    }
    buf_release(&core->secret);
}

void exchange_free(struct model_exchange *x)
{
    struct model_exchange_core *core = x->core;

    loop_timer_stop(exchange_loop(x), &core->timer);
    if (x->provider->release)
        x->provider->release(x);
    wipe_secret(core);
    buf_release(&core->text.all);
    buf_release(&core->thinking.all);
    buf_release(&core->opaque);
    buf_release(&core->model);
    buf_release(&core->mended);
    free(core->calls);
    free(core);
    arena_release(&x->arena);
    free(x);
}

/* ---- what providers ask for ---- */

struct loop *exchange_loop(struct model_exchange *x)
{
    return x->gateway->config.loop;
}

struct rand *exchange_rand(struct model_exchange *x)
{
    return x->gateway->config.rand ? x->gateway->config.rand : rand_system();
}

struct str exchange_secret(const struct model_exchange *x)
{
    return buf_str(&x->core->secret);
}

void exchange_soon(struct model_exchange *x, void (*fn)(struct model_exchange *x), int64_t delay_ms)
{
    x->core->soon = fn;
    loop_timer_start(exchange_loop(x), &x->core->timer, delay_ms);
}

/* ---- text ---- */

/* Bytes at the end of s that may be the beginning of a character. */
static size_t open_tail(struct str s)
{
    for (size_t k = 1; k <= 3 && k <= s.n; k++) {
        unsigned char c = (unsigned char)s.p[s.n - k];

        if (c >= 0xC2 && c <= 0xF4)
            return (c >= 0xF0 ? 4u : c >= 0xE0 ? 3u : 2u) > k ? k : 0;
        if (c < 0x80 || c > 0xBF)
            return 0;
    }
    return 0;
}

static int too_large(struct model_exchange *x, const char *what, size_t max)
{
    if (!x->core->failure.code)
        err_set(&x->core->failure, ERR_TOO_LARGE, "model %s: %s past %zu bytes", x->spec->id, what,
                max);
    return -1;
}

static struct collected *text_of(struct model_exchange *x, enum model_delta kind)
{
    return kind == MODEL_DELTA_THINKING ? &x->core->thinking : &x->core->text;
}

/* A key this long is in no answer by chance. */
#define KEY_MIN 12

/* A server that says its key again would put it into messages, logs and the next prompts. Text of
 * `all` before `from` was looked at already. */
static int check_key(struct model_exchange *x, struct str all, size_t from)
{
    struct str key = buf_str(&x->core->secret);

    if (key.n < KEY_MIN)
        return 0;
    if (str_find(str_skip(all, from < key.n ? 0 : from - key.n + 1), key) < 0)
        return 0;
    if (!x->core->failure.code)
        err_set(&x->core->failure, ERR_PROVIDER_FAILED,
                "model %s: the answer repeats the secret \"%s\" and was dropped", x->spec->id,
                x->spec->secret_ref);
    return -1;
}

/* What no table holds as text: broken UTF-8, and NUL. */
static bool is_clean(struct str text)
{
    return utf8_valid(text) && str_find_char(text, '\0') < 0;
}

/* Appends text with U+FFFD in place of what is not clean. */
static void add_clean(struct buf *out, struct str text)
{
    struct str part;

    for (bool first = true; str_split(&text, '\0', &part); first = false) {
        if (!first)
            buf_add_text(out, "\xEF\xBF\xBD");
        utf8_sanitise(part, out);
    }
}

/* Collects and hands over text that is complete: what is invalid now stays so. */
static int hand_over(struct model_exchange *x, enum model_delta kind, struct str text)
{
    struct model_exchange_core *core = x->core;
    struct collected *to = text_of(x, kind);

    if (!is_clean(text)) {
        AUTO_BUF fixed = BUF_INIT(core->mended.max);

        add_clean(&fixed, text);
        return hand_over(x, kind, buf_str(&fixed));
    }
    if (buf_add_str(&to->all, text) < 0)
        return too_large(x, kind == MODEL_DELTA_THINKING ? "thinking" : "text", MODEL_TEXT_MAX);
    if (check_key(x, buf_str(&to->all), to->all.n - text.n) < 0)
        return -1;
    if (text.n > 0 && core->sink.on_delta && !core->cancelled)
        core->sink.on_delta(core->arg, kind, text);
    return 0;
}

struct str model_said(struct model_exchange *x, enum model_delta kind)
{
    /* What broke it was not told. */
    return x->core->failure.code ? STR_NONE : exchange_text(x, kind);
}

int exchange_delta(struct model_exchange *x, enum model_delta kind, struct str text)
{
    struct model_exchange_core *core = x->core;
    struct collected *to = text_of(x, kind);
    size_t tail;

    if (core->failure.code)
        return -1;
    if (text.n > MODEL_TEXT_MAX)
        return too_large(x, "text", MODEL_TEXT_MAX);
    if (to->tail_n > 0) {
        buf_clear(&core->mended);
        buf_add(&core->mended, to->tail, to->tail_n);
        buf_add_str(&core->mended, text);
        text = buf_str(&core->mended);
        to->tail_n = 0;
    }
    tail = open_tail(text);
    memcpy(to->tail, text.p + text.n - tail, tail);
    to->tail_n = tail;
    return hand_over(x, kind, str_take(text, text.n - tail));
}

struct str exchange_text(struct model_exchange *x, enum model_delta kind)
{
    return buf_str(&text_of(x, kind)->all);
}

/* A character that was cut and never completed. */
static void flush_tail(struct model_exchange *x, enum model_delta kind)
{
    struct collected *to = text_of(x, kind);
    struct str tail = { to->tail, to->tail_n };

    to->tail_n = 0;
    if (tail.n > 0)
        hand_over(x, kind, tail);
}

/* ---- calls ---- */

static bool id_taken(const struct model_exchange *x, struct str id)
{
    for (size_t i = 0; i < x->core->call_count; i++)
        if (str_eq(x->core->calls[i].id, id))
            return true;
    /* An id of an earlier turn that comes again would be answered twice. */
    for (size_t i = 0; i < x->request.message_count; i++)
        for (size_t k = 0; k < x->request.messages[i].call_count; k++)
            if (str_eq(x->request.messages[i].calls[k].id, id))
                return true;
    return false;
}

static bool id_fit(struct str id)
{
    if (id.n == 0 || id.n > CALL_ID_MAX)
        return false;
    for (size_t i = 0; i < id.n; i++)
        if ((unsigned char)id.p[i] < 0x21 || (unsigned char)id.p[i] > 0x7E)
            return false;
    return true;
}

static struct str call_id(struct model_exchange *x, struct str id)
{
    char text[40] = "call_";
    uint8_t bytes[12];

    if (id_fit(id) && !id_taken(x, id))
        return arena_str(&x->arena, id);
    do {
        rand_fill(exchange_rand(x), bytes, sizeof(bytes));
        hex_encode(bytes, sizeof(bytes), text + 5);
    } while (id_taken(x, str_from(text)));
    return arena_str(&x->arena, str_from(text));
}

static struct str clean(struct model_exchange *x, struct str text, size_t max)
{
    AUTO_BUF out = BUF_INIT(3 * max + 16);

    text = str_take(text, text.n < max ? text.n : max);
    if (is_clean(text))
        return arena_str(&x->arena, text);
    add_clean(&out, text);
    return arena_str(&x->arena, buf_str(&out));
}

/* Why arguments can't be executed, "" when they can. */
static struct str arguments_problem(struct model_exchange *x, struct str arguments)
{
    struct err err = ERR_INIT;
    AUTO_JSON value = NULL;
    char why[ERR_TEXT_MAX];

    if (json_parse(arguments, &value, &err) < 0)
        return str_from(arena_printf(&x->arena, "The arguments are not valid JSON: %s",
                                     err_format(&err, why, sizeof(why))));
    if (!json_object_is_type(value, json_type_object))
        return str_from(arena_printf(&x->arena, "The arguments must be a JSON object, not %s",
                                     json_type_name(value)));
    return STR("");
}

int exchange_call(struct model_exchange *x, struct str id, struct str name, struct str arguments,
                  struct str problem)
{
    struct model_exchange_core *core = x->core;
    struct model_call *call;

    if (core->failure.code)
        return -1;
    core->call_bytes += arguments.n;
    if (core->call_count >= MODEL_CALLS_MAX || core->call_bytes > MODEL_TEXT_MAX)
        return too_large(x, "tool calls", MODEL_TEXT_MAX);
    if (check_key(x, arguments, 0) < 0 || check_key(x, name, 0) < 0 || check_key(x, id, 0) < 0)
        return -1;
    if (core->call_count == core->call_cap) {
        core->call_cap = core->call_cap ? 2 * core->call_cap : 4;
        core->calls = alloc_resize(core->calls, core->call_cap, sizeof(*core->calls));
    }
    arguments = str_trim(arguments);
    call = &core->calls[core->call_count];
    *call = (struct model_call){
        .id = call_id(x, id),
        .name = clean(x, name, CALL_NAME_MAX),
        .arguments = arguments.n ? clean(x, arguments, MODEL_TEXT_MAX) : STR("{}"),
        .problem = clean(x, problem, ERR_TEXT_MAX),
    };
    core->call_count++;
    if (call->problem.n == 0 && call->name.n == 0)
        call->problem = STR("The call names no tool");
    if (call->problem.n == 0)
        call->problem = arguments_problem(x, call->arguments);
    return 0;
}

void exchange_opaque(struct model_exchange *x, struct str json)
{
    buf_clear(&x->core->opaque);
    if (buf_add_str(&x->core->opaque, json) < 0)
        too_large(x, "thinking blocks", MODEL_TEXT_MAX);
    check_key(x, json, 0);
}

void exchange_model(struct model_exchange *x, struct str name)
{
    buf_clear(&x->core->model);
    buf_add_str(&x->core->model, clean(x, name, CALL_NAME_MAX));
}

/* ---- counting ---- */

static int64_t believable(int64_t said, int64_t before)
{
    return said >= 0 && said <= TOKENS_MAX ? said : before;
}

void exchange_usage(struct model_exchange *x, int64_t input, int64_t output, int64_t cached)
{
    struct model_exchange_core *core = x->core;

    core->input = believable(input, core->input);
    core->output = believable(output, core->output);
    core->cached = believable(cached, core->cached);
}

static int64_t estimate_output(const struct model_exchange_core *core)
{
    int64_t sum =
        tokens_estimate(buf_str(&core->text.all)) + tokens_estimate(buf_str(&core->thinking.all));

    for (size_t i = 0; i < core->call_count; i++)
        sum += tokens_estimate(core->calls[i].name) + tokens_estimate(core->calls[i].arguments);
    return sum;
}

static struct model_usage usage_of(struct model_exchange *x)
{
    const struct model_exchange_core *core = x->core;
    const struct model_spec *spec = x->spec;
    struct model_usage usage = {
        /* No request is made of nothing: a server that says so has not counted. */
        .input_tokens = core->input > 0 ? core->input : exchange_estimate_input(&x->request),
        .output_tokens = core->output > 0 ? core->output : estimate_output(core),
        .cached_tokens = core->cached >= 0 ? core->cached : 0,
        .estimated = core->input <= 0 || core->output < 0,
    };
    double price_cached = spec->price_cached > 0 ? spec->price_cached : spec->price_input;

    if (usage.cached_tokens > usage.input_tokens)
        usage.cached_tokens = usage.input_tokens;
    usage.cost = ((double)(usage.input_tokens - usage.cached_tokens) * spec->price_input +
                  (double)usage.cached_tokens * price_cached +
                  (double)usage.output_tokens * spec->price_output) /
                 1e6;
    return usage;
}

/* ---- the end ---- */

static void unlink_exchange(struct model_exchange *x)
{
    struct model_exchange_core *core = x->core;

    if (core->prev)
        core->prev->core->next = core->next;
    else if (x->gateway->exchanges == x)
        x->gateway->exchanges = core->next;
    if (core->next)
        core->next->core->prev = core->prev;
    core->prev = core->next = NULL;
}

/* A call that the output limit cut is not to be trusted even where its JSON happens to close. */
static void mark_cut(struct model_exchange *x)
{
    struct model_call *last =
        x->core->call_count > 0 ? &x->core->calls[x->core->call_count - 1] : NULL;

    if (last && last->problem.n == 0)
        last->problem = STR("The answer was cut at the output limit; this call may be incomplete");
}

void exchange_finish(struct model_exchange *x, enum model_stop stop)
{
    struct model_exchange_core *core = x->core;
    struct model_reply reply;

    flush_tail(x, MODEL_DELTA_THINKING);
    flush_tail(x, MODEL_DELTA_TEXT);
    if (core->cancelled || core->failure.code) {
        exchange_fail(x, &core->failure, -1);
        return;
    }
    if (stop == MODEL_STOP_LENGTH)
        mark_cut(x);
    else if (stop == MODEL_STOP_END && core->call_count > 0)
        stop = MODEL_STOP_CALLS;
    else if (stop == MODEL_STOP_CALLS && core->call_count == 0)
        stop = MODEL_STOP_END;
    reply = (struct model_reply){
        .text = buf_str(&core->text.all),
        .thinking = buf_str(&core->thinking.all),
        .opaque = buf_str(&core->opaque),
        .calls = core->calls,
        .call_count = core->call_count,
        .stop = stop,
        .usage = usage_of(x),
        .model = buf_str(&core->model),
    };
    loop_timer_stop(exchange_loop(x), &core->timer);
    unlink_exchange(x);
    core->sink.on_done(core->arg, &reply, NULL, -1);
    exchange_free(x);
}

void exchange_fail(struct model_exchange *x, const struct err *err, int64_t retry_after_ms)
{
    struct model_exchange_core *core = x->core;
    struct err why = core->failure.code ? core->failure : *err;

    if (core->cancelled) {
        err_reset(&why);
        err_set(&why, ERR_CANCELLED, "model %s: cancelled", x->spec->id);
    }
    BUG_IF(why.code == ERR_NONE);
    loop_timer_stop(exchange_loop(x), &core->timer);
    unlink_exchange(x);
    core->sink.on_done(core->arg, NULL, &why, why.code == ERR_RATE_LIMITED ? retry_after_ms : -1);
    exchange_free(x);
}
