/* Slack's Web API: how a token looks, what its answers mean, and connecting an account.
 *
 * Every answer is {"ok":true,…} or {"ok":false,"error":"word"}, whatever the HTTP status. The words
 * are turned into sentences that say what to do; scopes that are missing are named.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/json_put.h"
#include "base/timefmt.h"
#include "connect/connect_int.h"
#include "policy/secret.h"

#define SLACK_URL    "https://slack.com/api/"
#define SLACK_SECRET "slack-token"
#define TOKEN_MIN    20
#define TOKEN_MAX    512
#define WORD_MAX     64

static const char *const slack_hosts[] = { "slack.com", NULL };

/* ---- tokens ---- */

static bool is_token_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
}

int slack_check_token(struct str token, struct err *err)
{
    bool ok = str_starts(token, STR("xoxb-")) && token.n >= TOKEN_MIN && token.n <= TOKEN_MAX;

    for (size_t i = 0; ok && i < token.n; i++)
        ok = is_token_char(token.p[i]);
    if (ok)
        return 0;
    return err_set(
        err, ERR_BAD_REQUEST,
        "this is not a bot token of Slack: one begins with xoxb- and goes on with "
        "letters, digits and dashes (your app at api.slack.com, OAuth & Permissions, Bot "
        "User OAuth Token)");
}

/* ---- answers ---- */

static const struct slack_word {
    const char *word;
    enum err_code code;
    const char *text;
    bool unsure; /* part of it may have been done */
} slack_words[] = {
    { "not_authed", ERR_UNAUTHORIZED, "no token was given" },
    { "invalid_auth", ERR_UNAUTHORIZED, "the token is not valid" },
    { "account_inactive", ERR_UNAUTHORIZED, "the token's account or app was removed" },
    { "token_revoked", ERR_UNAUTHORIZED, "the token was revoked" },
    { "token_expired", ERR_UNAUTHORIZED, "the token has expired" },
    { "no_permission", ERR_CAPABILITY_DENIED, "the app may not do this in this workspace" },
    { "org_login_required", ERR_UNAUTHORIZED, "the workspace is being moved to an organisation" },
    { "ekm_access_denied", ERR_CAPABILITY_DENIED, "an administrator has suspended this" },
    { "channel_not_found", ERR_NOT_FOUND,
      "there is no such channel, or the app can't see it; list_slack_channels has those it sees" },
    { "not_in_channel", ERR_CAPABILITY_DENIED,
      "the app is not a member of this channel: invite it there with /invite" },
    { "is_archived", ERR_CONFLICT, "the channel is archived" },
    { "msg_too_long", ERR_TOO_LARGE, "the message is too long" },
    { "no_text", ERR_BAD_REQUEST, "the message is empty" },
    { "restricted_action", ERR_CAPABILITY_DENIED,
      "a setting of the workspace forbids posting there" },
    { "restricted_action_read_only_channel", ERR_CAPABILITY_DENIED, "the channel is read-only" },
    { "message_limit_exceeded", ERR_RATE_LIMITED, "the workspace has reached its message limit" },
    { "rate_limited", ERR_RATE_LIMITED, "too many messages in a short time; try again later" },
    { "ratelimited", ERR_RATE_LIMITED, "too many requests in a short time; try again later" },
    { "invalid_cursor", ERR_PROVIDER_FAILED, "the list changed while it was read; ask again" },
    { "internal_error", ERR_PROVIDER_FAILED, "it failed inside Slack", .unsure = true },
    { "fatal_error", ERR_PROVIDER_FAILED, "it failed inside Slack", .unsure = true },
    { "service_unavailable", ERR_PROVIDER_FAILED, "Slack is not available now" },
    { "team_added_to_org", ERR_PROVIDER_FAILED, "the workspace is being moved; try again later" },
};

/* A word, or a list of scopes, as Slack writes them; anything else is not repeated. */
static struct str plain(struct str text, const char *more)
{
    if (text.n > 4 * WORD_MAX)
        return STR_NONE;
    for (size_t i = 0; i < text.n; i++)
        if (!is_token_char(text.p[i]) && text.p[i] != '_' &&
            !strchr(more, text.p[i] ? text.p[i] : '!'))
            return STR_NONE;
    return text;
}

static int missing_scope(struct json_object *json, struct err *err)
{
    struct str needed = plain(json_str(json_find(json, "needed")), ":., ");
    struct str provided = plain(json_str(json_find(json, "provided")), ":., ");

    return err_set(
        err, ERR_CAPABILITY_DENIED,
        "Slack: the token lacks the scope %.*s%s%.*s%s. Add it under OAuth & Permissions, "
        "install the app again, and connect the new token",
        STR_ARG(needed.n ? needed : STR("that this needs")), provided.n ? " (it has " : "",
        STR_ARG(provided), provided.n ? ")" : "");
}

static int refused(struct json_object *json, bool *unsure, struct err *err)
{
    struct str word = plain(json_str(json_find(json, "error")), "");

    if (str_is(word, "missing_scope"))
        return missing_scope(json, err);
    for (size_t i = 0; i < ARRAY_LEN(slack_words); i++) {
        if (!str_is(word, slack_words[i].word))
            continue;
        *unsure |= slack_words[i].unsure;
        return err_set(err, slack_words[i].code, "Slack: %s (%s)", slack_words[i].text,
                       slack_words[i].word);
    }
    return err_set(err, ERR_PROVIDER_FAILED, "Slack refused: %.*s",
                   STR_ARG(word.n ? str_take(word, WORD_MAX) : STR("it gave no reason")));
}

static int rate_limited(const struct gate_answer *answer, struct err *err)
{
    if (answer->retry_after_ms < 0)
        return err_set(err, ERR_RATE_LIMITED, "Slack: too many requests; try again later");
    return err_set(err, ERR_RATE_LIMITED, "Slack: too many requests; try again in %lld s",
                   (long long)(answer->retry_after_ms + 999) / 1000);
}

int slack_read(const struct gate_answer *answer, bool *unsure, struct json_object **ret_json,
               struct err *err)
{
    AUTO_JSON json = NULL;
    bool ok = false;

    *unsure = answer->unsure;

    if (answer->err.code) {
        *err = answer->err;
        return err_wrap(err, "ask Slack");
    }
    if (answer->status == 429)
        return rate_limited(answer, err);
    if (answer->status >= 300 && answer->status < 400)
        return err_set(err, ERR_PROVIDER_FAILED,
                       "Slack answered with a redirect (%d), which is not followed",
                       answer->status);
    if (gate_json("Slack", answer, &json, err) < 0) {
        *unsure |= answer->status < 400;
        return -1;
    }
    if (json_get_bool(json, "ok", &ok, err) < 0) {
        *unsure = true;
        return err_wrap(err, "Slack's answer");
    }
    if (!ok)
        return refused(json, unsure, err);
    if (answer->status != 200)
        return err_set(err, ERR_PROVIDER_FAILED, "Slack answered with status %d", answer->status);
    *ret_json = TAKE(json);
    return 0;
}

void slack_url(const struct connect *connect, const char *method, struct buf *out)
{
    const char *base = connect->config.slack_base_url;

    buf_add_text(out, base ? base : SLACK_URL);
    if (out->n && out->p[out->n - 1] != '/')
        buf_add_char(out, '/');
    buf_add_text(out, method);
}

/* ---- connecting ---- */

struct slack_check {
    struct connect *connect;
    struct buf token; /* empty: the one that is kept */
    connect_done_fn *done;
    void *arg;
};

static void add_member(struct json_object *to, const char *key, struct json_object *from,
                       const char *name)
{
    struct str text = json_str(json_find(from, name));

    if (text.n && text.n <= 256)
        json_object_object_add(to, key, json_object_new_string_len(text.p, (int)text.n));
}

static int keep(struct slack_check *check, struct json_object *json, struct str scopes,
                struct err *err)
{
    struct connect *connect = check->connect;
    struct json_object *info = json_object_new_object(), *list = account_scopes(scopes);
    int r = 0;

    add_member(info, "team", json, "team");
    add_member(info, "team_id", json, "team_id");
    add_member(info, "user", json, "user");
    add_member(info, "user_id", json, "user_id");
    if (check->token.n)
        r = secrets_set(connect->config.secrets, SLACK_SECRET, buf_str(&check->token), err);
    if (r == 0)
        r = account_save(connect, &connect->slack, SLACK_SECRET, info, list, err);
    json_object_put(info);
    json_object_put(list);
    return r;
}

static void checked(void *arg, const struct gate_answer *answer)
{
    struct slack_check *check = arg;
    AUTO_JSON json = NULL;
    struct err err = ERR_INIT;
    bool unsure;
    int r = slack_read(answer, &unsure, &json, &err);
    char text[ERR_TEXT_MAX];

    if (!check->token.n && !check->connect->slack.configured)
        r = err_set(&err, ERR_NOT_FOUND, "Slack was disconnected meanwhile");
    else if (r == 0)
        r = keep(check, json, answer->scopes, &err);
    else if (!check->token.n && err.code == ERR_UNAUTHORIZED)
        account_trouble(&check->connect->slack, err_format(&err, text, sizeof(text)));
    check->done(check->arg, r < 0 ? &err : NULL);
    secrets_wipe(&check->token);
    free(check);
}

static int check_token(struct connect *connect, struct str token, bool is_new,
                       connect_done_fn *done, void *arg, struct err *err)
{
    struct slack_check *check = NEW(struct slack_check);
    AUTO_BUF url = BUF_INIT(HTTP_URL_MAX);
    struct gate_request request = { .method = "POST",
                                    .hosts = slack_hosts,
                                    .token = token,
                                    .body_type = "application/x-www-form-urlencoded",
                                    .safe = true,
                                    .max_body = 1u << 20 };

    *check = (struct slack_check){
        .connect = connect, .token = BUF_INIT(SECRET_VALUE_MAX), .done = done, .arg = arg
    };
    if (is_new)
        buf_add_str(&check->token, token);
    slack_url(connect, "auth.test", &url);
    request.url = buf_text(&url);
    if (gate_start(connect->gate, &request, checked, check, NULL, err) == 0)
        return 0;
    secrets_wipe(&check->token);
    free(check);
    return -1;
}

int connect_slack_set(struct connect *connect, struct str token, connect_done_fn *done, void *arg,
                      struct err *err)
{
    token = str_trim(token);
    if (slack_check_token(token, err) < 0)
        return -1;
    if (!connect->config.secrets)
        return err_set(err, ERR_SECRET_UNAVAILABLE, "there is no store of secrets");
    return check_token(connect, token, true, done, arg, err);
}

int connect_slack_test(struct connect *connect, connect_done_fn *done, void *arg, struct err *err)
{
    struct buf token = BUF_INIT(SECRET_VALUE_MAX);
    int r;

    if (!connect->slack.configured)
        return err_set(err, ERR_NOT_FOUND, "Slack is not connected");
    account_trouble(&connect->slack, NULL);
    r = account_secret(connect, &connect->slack, &token, err);
    if (r == 0)
        r = check_token(connect, buf_str(&token), false, done, arg, err);
    secrets_wipe(&token);
    return r;
}

int connect_slack_remove(struct connect *connect, struct err *err)
{
    return account_remove(connect, &connect->slack, err);
}

void connect_slack_status(const struct connect *connect, struct json_writer *w)
{
    const struct account *slack = &connect->slack;
    static const char *const keys[] = { "team", "user" };

    json_write_object_begin(w);
    json_put_bool(w, "configured", slack->configured);
    for (size_t i = 0; slack->configured && i < ARRAY_LEN(keys); i++) {
        if (!json_find(slack->info, keys[i]))
            continue;
        json_put_value(w, keys[i], json_find(slack->info, keys[i]));
    }
    if (slack->configured) {
        json_put_value(w, "scopes", slack->scopes);
    }
    if (slack->checked_at) {
        char when[TIMEFMT_SIZE];

        timefmt_rfc3339(slack->checked_at, when);
        json_put_text(w, "checked_at", when);
    }
    if (slack->trouble) {
        json_put_text(w, "error", slack->trouble);
    }
    json_write_object_end(w);
}
