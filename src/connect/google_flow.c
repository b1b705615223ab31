/* Asking a person for a grant: OAuth 2 with the browser coming back to this machine (RFC 8252, with
 * PKCE, RFC 7636), or with a code that is typed elsewhere (device flow, RFC 8628).
 *
 * Google grants access to mail by the first only; the second is for servers that allow it. One
 * grant is asked for at a time, a new one takes the place of the old.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/json.h"
#include "base/json_put.h"
#include "base/rand.h"
#include "base/uri.h"
#include "connect/google_int.h"
#include "connect/mime.h"
#include "policy/secret.h"

#define AUTH_URL "https://accounts.google.com/o/oauth2/v2/auth"
#define SCOPES                                                                                     \
    "https://www.googleapis.com/auth/gmail.readonly "                                              \
    "https://www.googleapis.com/auth/gmail.compose "                                               \
    "https://www.googleapis.com/auth/calendar.events"
#define LOOPBACK_MS   600000
#define INTERVAL_MS   5000
#define INTERVAL_MAX  60000
#define SLOW_DOWN_MS  5000
#define EXPIRES_MAX_S 3600

static const struct {
    const char *name;
    size_t offset;
} texts[] = {
    { "scopes", offsetof(struct google_flow, scopes) },
    { "redirect_uri", offsetof(struct google_flow, redirect_uri) },
    { "auth_url", offsetof(struct google_flow, auth_url) },
    { "device_code", offsetof(struct google_flow, device_code) },
    { "user_code", offsetof(struct google_flow, user_code) },
    { "verification_url", offsetof(struct google_flow, verification_url) },
};

static void look(struct loop_timer *timer);
static void begun(struct loop_timer *timer);

void google_flow_init(struct google *google)
{
    struct google_flow *flow = &google->flow;

    *flow = (struct google_flow){ .timer = { .fire = look },
                                  .soon = { .fire = begun },
                                  .serial = flow->serial + 1 };
    flow->client.id = BUF_INIT(512);
    flow->client.secret = BUF_INIT(1024);
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        *(struct buf *)(void *)((char *)flow + texts[i].offset) = BUF_INIT(HTTP_URL_MAX);
}

static void flow_end(struct google *google)
{
    struct google_flow *flow = &google->flow;
    struct loop *loop = google->connect->config.loop;

    loop_timer_stop(loop, &flow->timer);
    loop_timer_stop(loop, &flow->soon);
    google_client_release(&flow->client);
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        secrets_wipe((struct buf *)(void *)((char *)flow + texts[i].offset));
    explicit_bzero(flow->verifier, sizeof(flow->verifier));
    google_flow_init(google);
}

void google_flow_stop(struct google *google)
{
    struct google_flow *flow = &google->flow;
    connect_done_fn *done = flow->done;
    struct err err = ERR_INIT;

    flow->done = NULL;
    if (flow->call)
        gate_cancel(TAKE(flow->call)); /* whose answer finds that nobody waits */
    if (done) {
        err_set(&err, ERR_CANCELLED, "another grant was asked for");
        done(flow->arg, &err);
    }
    flow_end(google);
}

static void flow_fail(struct google *google, const struct err *err)
{
    connect_done_fn *done = google->flow.done;
    void *arg = google->flow.arg;

    google_note(google, err);
    flow_end(google);
    if (done)
        done(arg, err);
}

static void told(struct google *google)
{
    connect_done_fn *done = TAKE(google->flow.done);

    if (done)
        done(google->flow.arg, NULL);
}

static void begun(struct loop_timer *timer)
{
    told(CONTAINER_OF(timer, struct google, flow.soon));
}

/* ---- device ---- */

/* A question of one flow. */
struct question {
    struct google *google;
    unsigned serial;
};

static int ask(struct google *google, const char *name, struct str form, bool once, gate_fn *fn,
               struct err *err)
{
    struct question *question = NEW(struct question);

    *question = (struct question){ .google = google, .serial = google->flow.serial };
    if (google_post(google, name, form, once, fn, question, &google->flow.call, err) == 0)
        return 0;
    free(question);
    return -1;
}

/* Whom the answer is for; NULL when the flow was given up meanwhile. */
static struct google *asked_by(struct question *question)
{
    struct google *google = question->google;
    bool is_current = google->flow.serial == question->serial;

    free(question);
    if (!is_current)
        return NULL;
    google->flow.call = NULL;
    return google;
}

static void schedule(struct google *google)
{
    loop_timer_start(google->connect->config.loop, &google->flow.timer, google->flow.interval_ms);
}

static void polled(void *arg, const struct gate_answer *answer)
{
    struct google *google = asked_by(arg);
    struct google_flow *flow = google ? &google->flow : NULL;
    AUTO_JSON json = NULL;
    struct err err = ERR_INIT;
    char word[64];

    if (!google)
        return;
    if (google_oauth_read(answer, &json, word, &err) == 0) {
        if (google_adopt(google, json, &flow->client, NULL, NULL, &err) < 0)
            flow_fail(google, &err);
        else
            flow_end(google);
        return;
    }
    if (strcmp(word, "slow_down") == 0 && flow->interval_ms < INTERVAL_MAX)
        flow->interval_ms += SLOW_DOWN_MS;
    /* RFC 8628, 3.5: also after a connection that failed it is tried again, more slowly. */
    if (!word[0] && flow->interval_ms < INTERVAL_MAX)
        flow->interval_ms *= 2;
    if (!word[0] || strcmp(word, "slow_down") == 0 || strcmp(word, "authorization_pending") == 0)
        schedule(google);
    else
        flow_fail(google, &err);
}

static void add_client(const struct google *google, struct buf *form)
{
    const struct google_client *client = &google->flow.client;

    google_form_add(form, "client_id", buf_str(&client->id));
    if (client->secret.n)
        google_form_add(form, "client_secret", buf_str(&client->secret));
}

static void look(struct loop_timer *timer)
{
    struct google *google = CONTAINER_OF(timer, struct google, flow.timer);
    struct google_flow *flow = &google->flow;
    struct buf form = BUF_INIT(64u << 10);
    struct err err = ERR_INIT;

    if (connect_now(google->connect) >= flow->expires_at) {
        err_set(&err, ERR_EXPIRED, "nobody confirmed the code in time");
        flow_fail(google, &err);
        return;
    }
    if (flow->kind == FLOW_LOOPBACK)
        return;
    add_client(google, &form);
    google_form_add(&form, "device_code", buf_str(&flow->device_code));
    google_form_add(&form, "grant_type", STR("urn:ietf:params:oauth:grant-type:device_code"));
    if (ask(google, "token", buf_str(&form), true, polled, &err) < 0)
        flow_fail(google, &err);
    secrets_wipe(&form);
}

static int64_t bounded(struct json_object *json, const char *key, int64_t otherwise, int64_t max)
{
    int64_t value = otherwise;

    json_get_i64(json, key, &value, NULL);
    return value < 1 ? 1 : value > max ? max : value;
}

/* A person is sent there. */
static bool is_secure_uri(struct str text)
{
    struct uri uri = uri_split(text);

    return uri_is_valid(text) && str_is(uri.scheme, "https") && uri.authority.n > 0 &&
           str_find_char(uri.authority, '@') < 0;
}

static bool is_loopback_uri(struct str text)
{
    struct uri uri = uri_split(text);
    struct str host = uri.authority;

    if (!uri_is_valid(text) || !str_is(uri.scheme, "http") || str_find_char(host, '@') >= 0)
        return false;
    if (str_starts(host, STR("[::1]")))
        return host.n == 5 || host.p[5] == ':';
    if (str_find_char(host, ':') >= 0)
        host = str_take(host, (size_t)str_find_char(host, ':'));
    return str_is(host, "127.0.0.1") || str_is(host, "localhost");
}

static int read_device(struct google_flow *flow, struct json_object *json, int64_t now,
                       struct err *err)
{
    struct str url = json_str(json_find(json, "verification_url"));

    if (!url.n) /* as RFC 8628 calls it */
        url = json_str(json_find(json, "verification_uri"));
    buf_add_str(&flow->verification_url, url);
    buf_add_str(&flow->user_code, json_str(json_find(json, "user_code")));
    buf_add_str(&flow->device_code, json_str(json_find(json, "device_code")));
    if (!flow->verification_url.n || !flow->user_code.n || !flow->device_code.n ||
        !(is_secure_uri(url) || is_loopback_uri(url)))
        return err_set(err, ERR_PROVIDER_FAILED,
                       "the answer lacks device_code, user_code or an https verification_url");
    flow->interval_ms = bounded(json, "interval", INTERVAL_MS / 1000, INTERVAL_MAX / 1000) * 1000;
    flow->expires_at = now + bounded(json, "expires_in", 1800, EXPIRES_MAX_S) * 1000;
    return 0;
}

static void got_device(void *arg, const struct gate_answer *answer)
{
    struct google *google = asked_by(arg);
    struct google_flow *flow = google ? &google->flow : NULL;
    AUTO_JSON json = NULL;
    struct err err = ERR_INIT;
    char word[64];

    if (!google)
        return;
    if (google_oauth_read(answer, &json, word, &err) < 0 ||
        read_device(flow, json, connect_now(google->connect), &err) < 0) {
        flow_fail(google, &err);
        return;
    }
    schedule(google);
    told(google);
}

static int begin_device(struct google *google, struct err *err)
{
    struct google_flow *flow = &google->flow;
    AUTO_BUF form = BUF_INIT(64u << 10);

    google_form_add(&form, "client_id", buf_str(&flow->client.id));
    google_form_add(&form, "scope", buf_str(&flow->scopes));
    return ask(google, "device/code", buf_str(&form), false, got_device, err);
}

/* ---- loopback ---- */

static void random_text(struct connect *connect, char out[44])
{
    struct rand *rand = connect->config.rand ? connect->config.rand : rand_system();
    uint8_t bytes[32];
    AUTO_BUF text = BUF_INIT(64);

    rand_fill(rand, bytes, sizeof(bytes));
    base64url_encode(str_of((const char *)bytes, sizeof(bytes)), &text);
    snprintf(out, 44, "%s", buf_text(&text));
}

static int begin_loopback(struct google *google, struct err *err)
{
    struct google_flow *flow = &google->flow;
    const char *base = google->connect->config.google_auth_url;
    uint8_t digest[SHA256_BYTES];
    AUTO_BUF challenge = BUF_INIT(64);

    if (!is_loopback_uri(buf_str(&flow->redirect_uri)))
        return err_set(err, ERR_BAD_REQUEST,
                       "redirect_uri must be an http address of this machine (127.0.0.1, localhost "
                       "or [::1])");
    random_text(google->connect, flow->state);
    random_text(google->connect, flow->verifier);
    sha256_of(str_from(flow->verifier), digest);
    base64url_encode(str_of((const char *)digest, sizeof(digest)), &challenge);
    google_form_add(&flow->auth_url, "client_id", buf_str(&flow->client.id));
    google_form_add(&flow->auth_url, "redirect_uri", buf_str(&flow->redirect_uri));
    google_form_add(&flow->auth_url, "response_type", STR("code"));
    google_form_add(&flow->auth_url, "scope", buf_str(&flow->scopes));
    google_form_add(&flow->auth_url, "state", str_from(flow->state));
    google_form_add(&flow->auth_url, "code_challenge", buf_str(&challenge));
    google_form_add(&flow->auth_url, "code_challenge_method", STR("S256"));
    google_form_add(&flow->auth_url, "access_type", STR("offline"));
    google_form_add(&flow->auth_url, "prompt", STR("consent"));
    {
        AUTO_BUF query = flow->auth_url;

        flow->auth_url = BUF_INIT(HTTP_URL_MAX);
        buf_printf(&flow->auth_url, "%s?%s", base ? base : AUTH_URL, buf_text(&query));
    }
    flow->expires_at = connect_now(google->connect) + LOOPBACK_MS;
    flow->interval_ms = LOOPBACK_MS;
    schedule(google);
    loop_timer_start(google->connect->config.loop, &flow->soon, 0);
    return 0;
}

struct exchange {
    struct google *google;
    struct google_client client;
    connect_done_fn *done;
    void *arg;
};

static void exchange_free(struct exchange *x)
{
    google_client_release(&x->client);
    free(x);
}

static void exchanged(void *arg, const struct gate_answer *answer)
{
    struct exchange *x = arg;
    AUTO_JSON json = NULL;
    struct err err = ERR_INIT;
    char word[64];

    if (google_oauth_read(answer, &json, word, &err) < 0 ||
        google_adopt(x->google, json, &x->client, x->done, x->arg, &err) < 0) {
        google_note(x->google, &err);
        x->done(x->arg, &err);
    }
    exchange_free(x);
}

static void move_client(struct google_flow *flow, struct exchange *x)
{
    x->client = flow->client;
    flow->client.id = BUF_INIT(512);
    flow->client.secret = BUF_INIT(1024);
}

static int exchange_code(struct google *google, struct str code, connect_done_fn *done, void *arg,
                         struct err *err)
{
    struct google_flow *flow = &google->flow;
    struct buf form = BUF_INIT(64u << 10);
    struct exchange *x = NEW(struct exchange);
    int r;

    add_client(google, &form);
    google_form_add(&form, "code", code);
    google_form_add(&form, "code_verifier", str_from(flow->verifier));
    google_form_add(&form, "grant_type", STR("authorization_code"));
    google_form_add(&form, "redirect_uri", buf_str(&flow->redirect_uri));
    *x = (struct exchange){ .google = google, .done = done, .arg = arg };
    move_client(flow, x);
    r = google_post(google, "token", buf_str(&form), true, exchanged, x, NULL, err);
    secrets_wipe(&form);
    flow_end(google); /* a code is good once, whatever comes of it */
    if (r < 0)
        exchange_free(x);
    return r;
}

int connect_google_finish(struct connect *connect, struct str code, struct str state,
                          struct str error, connect_done_fn *done, void *arg, struct err *err)
{
    struct google *google = connect->oauth;
    struct google_flow *flow = &google->flow;

    if (flow->kind != FLOW_LOOPBACK || connect_now(connect) >= flow->expires_at ||
        !secret_eq(state, str_from(flow->state)))
        return err_set(err, ERR_UNAUTHORIZED,
                       "nobody waits for this answer; begin again where you connected the account");
    if (error.n || !code.n || code.n > GOOGLE_TOKEN_MAX) {
        err_set(err, ERR_REJECTED, "access was not granted%s",
                str_is(error, "access_denied") ? "" : ": the answer had no code");
        google_note(google, err);
        flow_end(google);
        return -1;
    }
    return exchange_code(google, code, done, arg, err);
}

/* ---- beginning ---- */

static int fill_client(struct google *google, const struct connect_google_start *start,
                       struct err *err)
{
    const struct connect_config *config = &google->connect->config;
    struct google_client *client = &google->flow.client;

    buf_add_str(&client->id,
                start->client_id.n ? start->client_id : str_from(config->google_client_id));
    buf_add_str(&client->secret, start->client_secret);
    client->typed = start->client_secret.n > 0;
    if (!client->id.n || client->id.full || client->secret.full)
        return err_set(err, ERR_BAD_REQUEST,
                       "client_id is needed: of an OAuth client for desktop apps that you made at "
                       "console.cloud.google.com, given here or as connect.google.client_id");
    client->configured = !client->typed && !start->client_id.n && config->google_client_secret_ref;
    if (client->configured)
        return secrets_get(config->secrets, config->google_client_secret_ref, &client->secret, err);
    return 0;
}

static int fill(struct google *google, const struct connect_google_start *start, struct err *err)
{
    struct google_flow *flow = &google->flow;

    if (fill_client(google, start, err) < 0)
        return -1;
    buf_add_str(&flow->scopes, start->scopes.n ? start->scopes : STR(SCOPES));
    buf_add_str(&flow->redirect_uri, start->redirect_uri);
    if (flow->scopes.n > 2000 || flow->redirect_uri.n > 500)
        return err_set(err, ERR_TOO_LARGE, "scopes or redirect_uri are too long");
    return flow->kind == FLOW_DEVICE ? begin_device(google, err) : begin_loopback(google, err);
}

int connect_google_begin(struct connect *connect, const struct connect_google_start *start,
                         connect_done_fn *done, void *arg, struct err *err)
{
    struct google *google = connect->oauth;
    enum google_flow_kind kind = str_is(start->flow, "device")     ? FLOW_DEVICE
                                 : str_is(start->flow, "loopback") ? FLOW_LOOPBACK
                                                                   : FLOW_NONE;

    if (kind == FLOW_NONE)
        return err_set(err, ERR_BAD_REQUEST, "flow must be device or loopback");
    if (!connect->config.secrets)
        return err_set(err, ERR_SECRET_UNAVAILABLE, "there is no store of secrets");
    google_flow_stop(google);
    google_note(google, NULL);
    google->flow.kind = kind;
    if (fill(google, start, err) < 0) {
        flow_end(google);
        return -1;
    }
    google->flow.done = done;
    google->flow.arg = arg;
    return 0;
}

void connect_google_flow(const struct connect *connect, struct json_writer *w)
{
    const struct google_flow *flow = &connect->oauth->flow;
    bool device = flow->kind == FLOW_DEVICE;

    json_write_object_begin(w);
    json_put_text(w, "flow", device ? "device" : "loopback");
    json_put_str(w, device ? "user_code" : "auth_url",
                 device ? buf_str(&flow->user_code) : buf_str(&flow->auth_url));
    if (device) {
        json_put_str(w, "verification_url", buf_str(&flow->verification_url));
    }
    json_put_i64(w, "expires_in", (flow->expires_at - connect_now(connect)) / 1000);
    json_write_object_end(w);
}
