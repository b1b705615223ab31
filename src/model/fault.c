/* What servers say when they refuse, and what it means here.
 *
 * There is no standard, so three things are looked at in this order: names the servers give
 * (type, code), phrases that their messages are known for, and the HTTP status. The message is
 * shown to people; it is foreign text, so it is redacted, freed of control characters and cut.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>

#include "base/limits.h"
#include "base/redact.h"
#include "base/utf8.h"
#include "model/exchange_int.h"
#include "model/stream_int.h"

#define MESSAGE_MAX 400
#define TOKENS_MAX  1000000000000 /* sums of a few of them fit */

/* Type, code and message of an error as found. */
struct fault {
    int status;
    struct str type, code, message;
};

/* Names of either field, and phrases (lower case) of messages. */
static const char *const context_names[] = { "context_length_exceeded", "exceed_context_size_error",
                                             "request_too_large", NULL };
static const char *const context_phrases[] = {
    "maximum context length",                     /* OpenAI, vLLM, OpenRouter, Mistral */
    "exceeds the available context",              /* llama-server */
    "prompt is too long",                         /* Anthropic */
    "exceed context limit",                       /* Anthropic: input and max_tokens together */
    "exceeds the context window",                 /* OpenAI, newer models */
    "exceeds maximum context",                    /* Ollama */
    "exceeded max context length",                /* Ollama */
    "greater than the context length",            /* LM Studio */
    "reduce the length of the messages",          /* Groq, older OpenAI */
    "exceeds the maximum number of tokens",       /* Gemini */
    "`inputs` tokens + `max_new_tokens` must be", /* text-generation-inference */
    NULL
};
static const char *const filter_names[] = { "content_filter", "content_policy_violation",
                                            "responsibleaipolicyviolation", NULL };
static const char *const key_names[] = { "authentication_error", "permission_error",
                                         "invalid_api_key", "permission_denied", NULL };
static const char *const money_names[] = { "insufficient_quota", "billing_hard_limit_reached",
                                           "billing_error", "insufficient_balance", NULL };
static const char *const busy_names[] = { "rate_limit_error", "rate_limit_exceeded",
                                          "overloaded_error", "overloaded", NULL };
static const char *const model_names[] = { "model_not_found", "not_found_error", NULL };
static const char *const model_phrases[] = { "model", NULL };
static const char *const server_names[] = { "api_error", "server_error", "internal_server_error",
                                            "internalservererror", NULL };

static bool named(const struct fault *fault, const char *const *names)
{
    for (; *names; names++)
        if (str_eq_nocase(fault->type, str_from(*names)) ||
            str_eq_nocase(fault->code, str_from(*names)))
            return true;
    return false;
}

static bool says(const struct fault *fault, const char *const *phrases)
{
    for (; *phrases; phrases++) {
        struct str phrase = str_from(*phrases);

        for (size_t i = 0; i + phrase.n <= fault->message.n; i++)
            if (str_eq_nocase(str_of(fault->message.p + i, phrase.n), phrase))
                return true;
    }
    return false;
}

/* ---- reading ---- */

struct str model_json_str(struct json_object *object, const char *key)
{
    return json_str(json_find(object, key));
}

int64_t model_json_i64(struct json_object *object, const char *key, int64_t otherwise)
{
    int64_t value = otherwise;

    return json_get_i64(object, key, &value, NULL) == 1 ? value : otherwise;
}

int64_t model_json_tokens(struct json_object *object, const char *key)
{
    int64_t value = model_json_i64(object, key, -1);

    return value <= TOKENS_MAX ? value : -1;
}

bool model_is_fault(struct json_object *document)
{
    if (json_object_is_type(document, json_type_array)) /* Gemini wraps it */
        document = json_object_array_get_idx(document, 0);
    return json_find(document, "error") ||
           (str_is(model_json_str(document, "object"), "error") && json_find(document, "message"));
}

/* The innermost name that a proxy wrapped: {"code":..,"innererror":{"code":..}}. */
static struct str code_of(struct json_object *error)
{
    struct str inner = model_json_str(json_find(error, "innererror"), "code");

    return inner.n ? inner : model_json_str(error, "code");
}

static void read_fault(struct json_object *document, struct fault *fault)
{
    struct json_object *error;
    int64_t status;

    if (json_object_is_type(document, json_type_array))
        document = json_object_array_get_idx(document, 0);
    error = json_find(document, "error");
    if (!json_object_is_type(error, json_type_object)) {
        fault->message = json_str(error); /* Ollama: {"error":"text"} */
        error = document;                 /* vLLM, older: {"object":"error","message":...} */
    }
    fault->type = model_json_str(error, "type");
    fault->code = code_of(error);
    if (!fault->message.n)
        fault->message = model_json_str(error, "message");
    if (!fault->message.n)
        fault->message = model_json_str(document, "detail"); /* FastAPI */
    status = model_json_i64(error, "code", 0);
    if (!fault->status && status >= 300 && status <= 599)
        fault->status = (int)status;
}

/* ---- meaning ---- */

static enum err_code code_for(const struct fault *fault, int64_t retry_after_ms)
{
    int status = fault->status;

    if (named(fault, context_names) || says(fault, context_phrases) || status == 413)
        return ERR_CONTEXT_TOO_LONG;
    if (named(fault, money_names) || status == 402)
        return ERR_BUDGET_EXCEEDED; /* it does not pass by itself */
    if (named(fault, key_names) || status == 401 || status == 403)
        return ERR_SECRET_UNAVAILABLE;
    if (status == 429 || status == 529 || named(fault, busy_names) ||
        (status == 503 && retry_after_ms >= 0))
        return ERR_RATE_LIMITED;
    if (named(fault, server_names))
        return ERR_PROVIDER_FAILED;
    if (named(fault, model_names) || (status == 404 && says(fault, model_phrases)))
        return ERR_MODEL_NOT_ALLOWED;
    if (status == 408)
        return ERR_TIMEOUT;
    return status >= 400 && status < 500 && status != 404 ? ERR_BAD_REQUEST : ERR_PROVIDER_FAILED;
}

/* Foreign text for people: without secrets and without what steers a terminal, cut. */
static void add_message(struct buf *out, struct str message)
{
    AUTO_BUF clean = BUF_INIT(64 * 1024), plain = BUF_INIT(MODEL_ERROR_BODY_MAX);

    utf8_one_line(utf8_truncate(message, 4 * MESSAGE_MAX), &plain);
    redact(buf_str(&plain), &clean);
    buf_add_str(out, utf8_truncate(str_trim(buf_str(&clean)), MESSAGE_MAX));
}

static void add_advice(struct buf *out, const struct model_spec *spec, enum err_code code,
                       int status)
{
    if (code == ERR_SECRET_UNAVAILABLE && spec->secret_ref)
        buf_printf(out, "; check the secret \"%s\": dormouse secret set %s", spec->secret_ref,
                   spec->secret_ref);
    else if (code == ERR_SECRET_UNAVAILABLE)
        buf_printf(out,
                   "; it wants a key: name one as secret_ref of model %s in config.yaml and"
                   " dormouse secret set it",
                   spec->id);
    else if (code == ERR_MODEL_NOT_ALLOWED)
        buf_printf(out, "; check `model: %s` of model %s in config.yaml",
                   spec->model ? spec->model : "", spec->id);
    else if (code == ERR_BUDGET_EXCEEDED)
        buf_printf(out, "; the account of model %s has no money left", spec->id);
    else if (status >= 300 && status < 400)
        buf_printf(out, "; redirects are not followed: set base_url to the final address");
    else if (status == 404)
        buf_printf(out, "; is base_url the address of the API?");
}

static int conclude(struct model_exchange *x, const struct fault *fault, int64_t retry_after_ms,
                    struct err *err)
{
    AUTO_BUF text = BUF_INIT(ERR_TEXT_MAX / 2);
    AUTO_BUF advice = BUF_INIT(ERR_TEXT_MAX / 4);
    enum err_code code;

    if (named(fault, filter_names))
        return 1;
    code = code_for(fault, retry_after_ms);
    if (fault->status)
        buf_printf(&text, "the server answered %d", fault->status);
    else
        buf_printf(&text, "the server reported an error");
    if (fault->message.n) {
        buf_add_text(&text, ": ");
        add_message(&text, fault->message);
    } else if (fault->type.n) {
        buf_add_text(&text, ": ");
        add_message(&text, fault->type);
    }
    add_advice(&advice, x->spec, code, fault->status);
    err_set(err, code, "model %s: %s%s", x->spec->id, buf_text(&text), buf_text(&advice));
    return 0;
}

int model_fault(struct model_exchange *x, int status, struct json_object *document,
                int64_t retry_after_ms, struct err *err)
{
    struct fault fault = { .status = status };

    read_fault(document, &fault);
    return conclude(x, &fault, retry_after_ms, err);
}

int model_fault_body(struct model_exchange *x, int status, struct str body, int64_t retry_after_ms,
                     struct err *err)
{
    struct fault fault = { .status = status };
    AUTO_JSON document = NULL;

    body = str_trim(body);
    if (model_json(body, &document, NULL) == 0 && document)
        read_fault(document, &fault);
    else if (body.n > 0 && body.p[0] == '<')
        fault.type = STR("a web page instead of an answer of the API");
    else
        fault.message = body;
    return conclude(x, &fault, retry_after_ms, err);
}

/* ---- JSON that was cut between the halves of a character ---- */

static int hex4(const char *p)
{
    int value = 0;

    for (int i = 0; i < 4; i++) {
        int digit = hex_digit(p[i]);

        if (digit < 0)
            return -1;
        value = value * 16 + digit;
    }
    return value;
}

/* The code unit of an escape \uXXXX at i, or -1. */
static int unit_at(struct str text, size_t i)
{
    if (i + 6 > text.n || text.p[i] != '\\' || text.p[i + 1] != 'u')
        return -1;
    return hex4(text.p + i + 2);
}

static void mend_halves(struct str text, struct buf *out)
{
    for (size_t i = 0; i < text.n;) {
        int unit = unit_at(text, i), next = unit >= 0 ? unit_at(text, i + 6) : -1;
        size_t n = unit >= 0 ? 6 : text.p[i] == '\\' && i + 1 < text.n ? 2 : 1;

        if (unit >= 0xD800 && unit <= 0xDBFF && next >= 0xDC00 && next <= 0xDFFF)
            n = 12;
        if (n == 6 && unit >= 0xD800 && unit <= 0xDFFF)
            buf_add_text(out, "\\ufffd");
        else
            buf_add(out, text.p + i, n);
        i += n;
    }
}

int model_json(struct str text, struct json_object **ret_value, struct err *err)
{
    AUTO_BUF mended = BUF_INIT(LIMIT_JSON_BYTES);
    struct err first = ERR_INIT;

    if (json_parse(text, ret_value, &first) == 0)
        return 0;
    if (str_find(text, STR("\\u")) >= 0) {
        mend_halves(text, &mended);
        if (!mended.full && json_parse(buf_str(&mended), ret_value, NULL) == 0)
            return 0;
    }
    if (err)
        *err = first;
    return -1;
}
