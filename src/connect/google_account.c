/* A Google account: taking over what a person granted, and giving it back.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/json_put.h"
#include "connect/google_int.h"
#include "policy/secret.h"

static const char *const profile_hosts[] = { "gmail.googleapis.com", NULL };

/* ---- taking over a grant ---- */

struct adoption {
    struct google *google;
    struct json_object *info, *scopes;
    connect_done_fn *done;
    void *arg;
};

static void adoption_end(struct adoption *adoption, const struct err *err)
{
    google_note(adoption->google, err);
    if (adoption->done)
        adoption->done(adoption->arg, err);
    json_object_put(adoption->info);
    json_object_put(adoption->scopes);
    free(adoption);
}

/* Whose account it is: good to know, not needed. */
static void got_profile(void *arg, const struct gate_answer *answer)
{
    struct adoption *adoption = arg;
    struct connect *connect = adoption->google->connect;
    AUTO_JSON json = NULL;
    struct err err = ERR_INIT;
    struct str address = STR_NONE;

    if (google_read(answer, "Gmail", &json, &err) == 0)
        address = json_str(json_find(json, "emailAddress"));
    if (address.n && address.n <= 256)
        json_object_object_add(adoption->info, "account",
                               json_object_new_string_len(address.p, (int)address.n));
    err_reset(&err);
    if (!adoption->google->access.n)
        err_set(&err, ERR_CANCELLED, "the account was forgotten meanwhile");
    if (err.code || account_save(connect, &connect->google, GOOGLE_REFRESH_SECRET, adoption->info,
                                 adoption->scopes, &err) < 0)
        adoption_end(adoption, &err);
    else
        adoption_end(adoption, NULL);
}

static int ask_profile(struct adoption *adoption, struct err *err)
{
    struct google *google = adoption->google;
    AUTO_BUF url = BUF_INIT(HTTP_URL_MAX);
    struct gate_request request = { .hosts = profile_hosts,
                                    .token = buf_str(&google->access),
                                    .max_body = 64u << 10 };

    google_url(google->connect, "gmail", "users/me/profile", &url);
    request.url = buf_text(&url);
    return gate_start(google->connect->gate, &request, got_profile, adoption, NULL, err);
}

static int keep_client(struct google *google, const struct google_client *client,
                       struct json_object *info, struct err *err)
{
    const struct connect_config *config = &google->connect->config;
    const char *ref = NULL;

    json_object_object_add(info, "client_id", json_object_new_string(buf_text(&client->id)));
    if (client->typed) {
        ref = GOOGLE_CLIENT_SECRET;
        if (secrets_set(config->secrets, ref, buf_str(&client->secret), err) < 0)
            return -1;
    } else if (client->configured) {
        ref = config->google_client_secret_ref;
    }
    if (ref)
        json_object_object_add(info, "client_secret_ref", json_object_new_string(ref));
    return 0;
}

int google_adopt(struct google *google, struct json_object *tokens, struct google_client *client,
                 connect_done_fn *done, void *arg, struct err *err)
{
    struct adoption *adoption = NEW(struct adoption);
    int r = 0;

    *adoption = (struct adoption){ .google = google,
                                   .info = json_object_new_object(),
                                   .scopes = account_scopes(json_str(json_find(tokens, "scope"))),
                                   .done = done,
                                   .arg = arg };
    if (!json_str(json_find(tokens, "refresh_token")).n)
        r = err_set(err, ERR_PROVIDER_FAILED,
                    "Google gave no refresh token; take the app's access away at "
                    "myaccount.google.com/permissions and connect again");
    if (r < 0 || google_take_tokens(google, tokens, err) < 0 ||
        keep_client(google, client, adoption->info, err) < 0 || ask_profile(adoption, err) < 0) {
        json_object_put(adoption->info);
        json_object_put(adoption->scopes);
        free(adoption);
        return -1;
    }
    return 0;
}

/* ---- giving up an account ---- */

struct removal {
    struct google *google;
    connect_done_fn *done;
    void *arg;
};

/* invalid_token: Google has forgotten it before. */
static bool is_gone_there(const struct gate_answer *answer)
{
    AUTO_JSON json = NULL;
    struct err err = ERR_INIT;
    char word[64] = "";

    return answer && !answer->err.code &&
           (answer->status == 200 || (google_oauth_read(answer, &json, word, &err) < 0 &&
                                      strcmp(word, "invalid_token") == 0));
}

/* Whether Google could be reached or not: here it is forgotten. answer NULL: nothing was asked. */
static int forget(struct google *google, const struct gate_answer *answer, struct err *err)
{
    struct secrets *secrets = google->connect->config.secrets;
    struct err absent = ERR_INIT, left = ERR_INIT;

    if (google->refreshing)
        gate_cancel(google->refreshing);
    google_forget_access(google);
    if (secrets)
        secrets_remove(secrets, GOOGLE_CLIENT_SECRET, &absent);
    if (!google->connect->google.configured)
        return 0; /* asked twice at the same time */
    if (account_remove(google->connect, &google->connect->google, err) < 0)
        return -1;
    if (!is_gone_there(answer))
        err_set(&left, ERR_PROVIDER_FAILED,
                "the account is forgotten here, but Google was not told: take the access back at "
                "myaccount.google.com/permissions");
    google_note(google, left.code ? &left : NULL);
    return 0;
}

static void removal_end(struct removal *removal, const struct err *err)
{
    removal->done(removal->arg, err);
    free(removal);
}

static void revoked(void *arg, const struct gate_answer *answer)
{
    struct removal *removal = arg;
    struct err err = ERR_INIT;

    if (answer->err.code == ERR_CANCELLED)
        removal_end(removal, &answer->err);
    else
        removal_end(removal, forget(removal->google, answer, &err) < 0 ? &err : NULL);
}

int connect_google_remove(struct connect *connect, connect_done_fn *done, void *arg,
                          struct err *err)
{
    struct google *google = connect->oauth;
    struct buf token = BUF_INIT(SECRET_VALUE_MAX), form = BUF_INIT(64u << 10);
    struct removal *removal;
    struct err gone = ERR_INIT;
    int r;

    google_flow_stop(google);
    if (!connect->google.configured)
        return err_set(err, ERR_NOT_FOUND, "Google is not connected");
    account_trouble(&connect->google, NULL);
    if (account_secret(connect, &connect->google, &token, &gone) < 0)
        return forget(google, NULL, err) < 0 ? -1 : 1;
    removal = NEW(struct removal);
    *removal = (struct removal){ .google = google, .done = done, .arg = arg };
    google_form_add(&form, "token", buf_str(&token));
    r = google_post(google, "revoke", buf_str(&form), false, revoked, removal, NULL, err);
    secrets_wipe(&token);
    secrets_wipe(&form);
    if (r < 0)
        free(removal);
    return r;
}

/* ---- what there is ---- */

const char *connect_google_left(const struct connect *connect)
{
    return connect->google.configured ? NULL : connect->oauth->error;
}

void connect_google_status(const struct connect *connect, struct json_writer *w)
{
    const struct account *account = &connect->google;
    const struct google *google = connect->oauth;
    struct json_object *address = json_find(account->info, "account");
    const char *error = account->trouble ? account->trouble : google->error;

    json_write_object_begin(w);
    json_put_bool(w, "configured", account->configured);
    json_put_bool(w, "pending", google->flow.kind != FLOW_NONE);
    if (account->configured && address) {
        json_put_value(w, "account", address);
    }
    if (account->configured) {
        json_put_value(w, "scopes", account->scopes);
    }
    if (error) {
        json_put_text(w, "error", error);
    }
    json_write_object_end(w);
}
