/* The tokens of a Google account: the refresh token in the secret store, the access token only
 * here, made anew a minute before it expires or when it is refused.
 *
 * One refresh is under way at a time; all who need a token wait for it. When Google says that the
 * grant is gone (invalid_grant) the account says so until it is connected again.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/redact.h"
#include "connect/google_int.h"
#include "policy/secret.h"

#define TOKEN_URL   "https://oauth2.googleapis.com/token"
#define EARLY_MS    60000 /* so that it does not expire on the way */
#define EXPIRES_MAX 86400

const char *const google_oauth_hosts[] = { "oauth2.googleapis.com", NULL };

/* ---- addresses and forms ---- */

void google_oauth_url(const struct google *google, const char *name, struct buf *out)
{
    const char *base = google->connect->config.google_token_url;
    struct str url = str_from(base ? base : TOKEN_URL);

    if (strcmp(name, "token") == 0) {
        buf_add_str(out, url);
        return;
    }
    while (url.n && url.p[url.n - 1] != '/')
        url.n--;
    buf_add_str(out, url);
    buf_add_text(out, name);
}

void google_form_add(struct buf *form, const char *name, struct str value)
{
    buf_printf(form, "%s%s=", form->n ? "&" : "", name);
    gate_encode(form, value);
}

int google_post(struct google *google, const char *name, struct str form, bool once, gate_fn *fn,
                void *arg, struct gate_call **ret_call, struct err *err)
{
    AUTO_BUF url = BUF_INIT(HTTP_URL_MAX);
    struct gate_request request = { .method = "POST",
                                    .hosts = google_oauth_hosts,
                                    .body = form,
                                    .body_type = "application/x-www-form-urlencoded",
                                    .safe = !once,
                                    .max_body = 256u << 10 };

    google_oauth_url(google, name, &url);
    request.url = buf_text(&url);
    return gate_start(google->connect->gate, &request, fn, arg, ret_call, err);
}

static bool is_word(struct str word)
{
    for (size_t i = 0; i < word.n; i++)
        if (!((word.p[i] >= 'a' && word.p[i] <= 'z') || word.p[i] == '_'))
            return false;
    return word.n > 0 && word.n < 64;
}

int google_oauth_read(const struct gate_answer *answer, struct json_object **ret_json,
                      char ret_word[64], struct err *err)
{
    AUTO_JSON json = NULL;
    struct str word;

    ret_word[0] = '\0';
    if (answer->err.code) {
        *err = answer->err;
        return err_wrap(err, "ask Google");
    }
    if (gate_json("Google", answer, &json, err) < 0)
        return -1;
    if (answer->status == 200) {
        *ret_json = TAKE(json);
        return 0;
    }
    word = json_str(json_find(json, "error"));
    if (!is_word(word))
        return err_set(err, ERR_PROVIDER_FAILED, "Google answered with status %d", answer->status);
    memcpy(ret_word, word.p, word.n);
    ret_word[word.n] = '\0';
    return err_set(err,
                   strcmp(ret_word, "invalid_grant") == 0    ? ERR_UNAUTHORIZED
                   : strcmp(ret_word, "invalid_client") == 0 ? ERR_UNAUTHORIZED
                   : strcmp(ret_word, "access_denied") == 0  ? ERR_REJECTED
                   : strcmp(ret_word, "expired_token") == 0  ? ERR_EXPIRED
                   : answer->status == 429                   ? ERR_RATE_LIMITED
                                                             : ERR_PROVIDER_FAILED,
                   "Google refused: %s%s", ret_word,
                   strcmp(ret_word, "invalid_scope") == 0
                       ? " (the device flow of Google does not grant access to mail; use loopback)"
                   : strcmp(ret_word, "invalid_client") == 0
                       ? " (check client_id and client secret)"
                       : "");
}

void google_note(struct google *google, const struct err *err)
{
    char text[ERR_TEXT_MAX];

    free(google->error);
    google->error = err ? alloc_text(err_format(err, text, sizeof(text))) : NULL;
}

void google_client_release(struct google_client *client)
{
    buf_release(&client->id);
    secrets_wipe(&client->secret);
}

/* ---- the access token ---- */

void google_forget_access(struct google *google)
{
    if (google->access.n)
        redact_forget(buf_str(&google->access));
    secrets_wipe(&google->access);
    google->access = BUF_INIT(GOOGLE_TOKEN_MAX);
    google->expires_at = 0;
}

int google_take_tokens(struct google *google, struct json_object *json, struct err *err)
{
    struct str access = json_str(json_find(json, "access_token"));
    struct str refresh = json_str(json_find(json, "refresh_token"));
    int64_t seconds = 3600;

    json_get_i64(json, "expires_in", &seconds, NULL);
    if (!access.n || access.n > GOOGLE_TOKEN_MAX)
        return err_set(err, ERR_PROVIDER_FAILED, "Google's answer has no access token");
    if (seconds < 0 || seconds > EXPIRES_MAX)
        seconds = EXPIRES_MAX;
    google_forget_access(google);
    buf_add_str(&google->access, access);
    google->serial++;
    redact_register(access);
    google->expires_at = connect_now(google->connect) + seconds * 1000 - EARLY_MS;
    /* A new one replaces the old one, which is of no use any more. */
    if (refresh.n)
        return secrets_set(google->connect->config.secrets, GOOGLE_REFRESH_SECRET, refresh, err);
    return 0;
}

static void tell_all(struct google *google, const struct err *err)
{
    while (google->waits) {
        struct google_wait *wait = google->waits;

        google->waits = wait->next;
        if (!google->waits)
            google->last = &google->waits;
        wait->queued = false;
        wait->ready(wait, err ? STR_NONE : buf_str(&google->access), err);
    }
}

static void refreshed(void *arg, const struct gate_answer *answer)
{
    struct google *google = arg;
    AUTO_JSON json = NULL;
    struct err err = ERR_INIT;
    char word[64];

    google->refreshing = NULL;
    if (google_oauth_read(answer, &json, word, &err) == 0 &&
        google_take_tokens(google, json, &err) == 0) {
        tell_all(google, NULL);
        return;
    }
    if (strcmp(word, "invalid_grant") == 0) {
        account_trouble(&google->connect->google, "access was revoked or has expired");
        err_reset(&err);
        account_check(google->connect, &google->connect->google, &err);
    }
    tell_all(google, &err);
}

static int add_client(struct google *google, struct buf *form, struct err *err)
{
    const struct account *account = &google->connect->google;
    struct str id = json_str(json_find(account->info, "client_id"));
    struct str ref = json_str(json_find(account->info, "client_secret_ref"));
    struct buf secret = BUF_INIT(SECRET_VALUE_MAX);
    char name[SECRET_NAME_MAX + 1];

    google_form_add(form, "client_id", id);
    if (!ref.n || ref.n > SECRET_NAME_MAX)
        return 0;
    memcpy(name, ref.p, ref.n);
    name[ref.n] = '\0';
    if (secrets_get(google->connect->config.secrets, name, &secret, err) < 0)
        return -1;
    google_form_add(form, "client_secret", buf_str(&secret));
    secrets_wipe(&secret);
    return 0;
}

static int refresh(struct google *google, struct err *err)
{
    struct buf token = BUF_INIT(SECRET_VALUE_MAX), form = BUF_INIT(64u << 10);
    int r = account_secret(google->connect, &google->connect->google, &token, err);

    if (r == 0)
        r = add_client(google, &form, err);
    if (r == 0) {
        google_form_add(&form, "grant_type", STR("refresh_token"));
        google_form_add(&form, "refresh_token", buf_str(&token));
        /* A server that rotates refresh tokens may take a second use for theft. */
        r = google_post(google, "token", buf_str(&form), true, refreshed, google,
                        &google->refreshing, err);
    }
    secrets_wipe(&token);
    secrets_wipe(&form);
    return r;
}

static void on_soon(struct loop_timer *timer)
{
    struct google *google = CONTAINER_OF(timer, struct google, soon);
    struct err err = ERR_INIT;

    if (google->refreshing || !google->waits)
        return;
    if (google->access.n && connect_now(google->connect) < google->expires_at)
        tell_all(google, NULL);
    else if (refresh(google, &err) < 0)
        tell_all(google, &err);
}

void google_token(struct google *google, struct google_wait *wait)
{
    wait->next = NULL;
    wait->queued = true;
    *google->last = wait;
    google->last = &wait->next;
    loop_timer_start(google->connect->config.loop, &google->soon, 0);
}

void google_unwait(struct google *google, struct google_wait *wait)
{
    struct google_wait **at = &google->waits;

    while (*at && *at != wait)
        at = &(*at)->next;
    if (!*at)
        return;
    *at = wait->next;
    if (!*at)
        google->last = at;
    wait->queued = false;
}

unsigned google_token_serial(const struct google *google)
{
    return google->serial;
}

void google_token_refused(struct google *google, unsigned serial)
{
    if (google->serial == serial) /* else there is another one already */
        google->expires_at = 0;
}

/* ---- life ---- */

struct google *google_new(struct connect *connect)
{
    struct google *google = NEW(struct google);

    google->connect = connect;
    google->access = BUF_INIT(GOOGLE_TOKEN_MAX);
    google->last = &google->waits;
    google->soon.fire = on_soon;
    google_flow_init(google);
    return google;
}

void google_stop(struct google *google)
{
    struct err err = ERR_INIT;

    loop_timer_stop(google->connect->config.loop, &google->soon);
    google_flow_stop(google);
    err_set(&err, ERR_CANCELLED, "the daemon ends");
    tell_all(google, &err);
}

void google_free(struct google *google)
{
    if (!google)
        return;
    google_forget_access(google);
    buf_release(&google->access);
    free(google->error);
    free(google);
}
