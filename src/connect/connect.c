/* Accounts: what is configured, kept in the table and, as far as it is secret, in the secret store.
 *
 * SPDX-License-Identifier: MIT
 */
#include "connect/connect.h"

#include <json-c/json.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/log.h"
#include "base/redact.h"
#include "connect/connect_int.h"
#include "db/domain.h"
#include "policy/secret.h"

int64_t connect_now(const struct connect *connect)
{
    return clock_wall_ms(loop_clock(connect->config.loop));
}

/* ---- one account ---- */

static void account_release(struct account *account)
{
    free(account->secret_ref);
    free(account->trouble);
    json_object_put(account->info);
    json_object_put(account->scopes);
    *account = (struct account){ .provider = account->provider, .title = account->title };
}

void account_trouble(struct account *account, const char *text)
{
    free(account->trouble);
    account->trouble = text ? alloc_text(text) : NULL;
}

struct json_object *account_scopes(struct str text)
{
    struct json_object *list = json_object_new_array();

    while (text.n) {
        size_t n = 0;

        while (n < text.n && text.p[n] != ' ' && text.p[n] != ',')
            n++;
        if (n && json_length(list) < 64)
            json_object_array_add(list, json_object_new_string_len(text.p, (int)n));
        text = str_skip(text, n < text.n ? n + 1 : n);
    }
    return list;
}

/* The client's secret, beside the account's own; NULL when it has none. */
static const char *client_secret_ref(const struct account *account)
{
    struct json_object *ref = json_find(account->info, "client_secret_ref");

    return json_object_is_type(ref, json_type_string) ? json_object_get_string(ref) : NULL;
}

/* So that neither is shown anywhere before its first use. */
static void recognise(struct connect *connect, const struct account *account)
{
    const char *client = client_secret_ref(account);

    secrets_recognise(connect->config.secrets, account->secret_ref);
    if (client)
        secrets_recognise(connect->config.secrets, client);
}

static int account_load(struct connect *connect, struct account *account, struct err *err)
{
    AUTO_ARENA arena = ARENA_INIT;
    struct credential row;
    int r = credential_find(connect->config.agent_domain, account->provider, &arena, &row, err);

    if (r <= 0)
        return r;
    if (json_parse(row.account, &account->info, err) < 0 ||
        json_parse(row.scopes, &account->scopes, err) < 0)
        return err_wrap(err, "the account %s", account->provider);
    account->secret_ref = alloc_text(row.secret_ref);
    account->checked_at = row.checked_at;
    account->configured = true;
    if (connect->config.secrets)
        recognise(connect, account);
    return 0;
}

/* Names of teams and people come from elsewhere: nothing in them is kept that looks secret. */
static void write_clean(struct json_object *value, struct buf *out)
{
    struct json_object *clean = redact_json(value);
    struct json_writer w = JSON_WRITER(out);

    json_write_value(&w, clean);
    json_object_put(clean);
}

static int save_row(struct connect *connect, const struct credential *row, struct err *err)
{
    struct loop *loop = connect->config.loop;
    int r;

    if (loop_unit_begin(loop, connect->config.agent_domain, err) < 0)
        return -1;
    r = credential_save(connect->config.agent_domain, row, connect_now(connect), err);
    return loop_unit_end(loop, r == 0, r == 0 ? err : NULL) < 0 ? -1 : r;
}

int account_save(struct connect *connect, struct account *account, const char *secret_ref,
                 struct json_object *info, struct json_object *scopes, struct err *err)
{
    AUTO_BUF info_text = BUF_INIT(64u << 10);
    AUTO_BUF scopes_text = BUF_INIT(64u << 10);
    struct credential row = { .provider = account->provider,
                              .secret_ref = secret_ref,
                              .checked_at = connect_now(connect) };

    write_clean(info, &info_text);
    write_clean(scopes, &scopes_text);
    row.account = buf_str(&info_text);
    row.scopes = buf_str(&scopes_text);
    if (save_row(connect, &row, err) < 0)
        return -1;
    account_release(account);
    account->configured = true;
    account->secret_ref = alloc_text(secret_ref);
    account->checked_at = row.checked_at;
    return json_parse(row.account, &account->info, err) < 0 ||
                   json_parse(row.scopes, &account->scopes, err) < 0
               ? -1
               : 0;
}

int account_remove(struct connect *connect, struct account *account, struct err *err)
{
    struct loop *loop = connect->config.loop;
    struct err gone = ERR_INIT;
    int r;

    if (!account->configured)
        return err_set(err, ERR_NOT_FOUND, "%s is not connected", account->title);
    /* The secret first: a row without one says what is missing, a secret without a row is lost. */
    if (connect->config.secrets &&
        secrets_remove(connect->config.secrets, account->secret_ref, &gone) < 0 &&
        gone.code != ERR_NOT_FOUND) {
        *err = gone;
        return -1;
    }
    if (loop_unit_begin(loop, connect->config.agent_domain, err) < 0)
        return -1;
    r = credential_remove(connect->config.agent_domain, account->provider, err);
    if (loop_unit_end(loop, r == 0, r == 0 ? err : NULL) < 0 || r < 0)
        return -1;
    account_release(account);
    return 0;
}

int account_secret(struct connect *connect, const struct account *account, struct buf *out,
                   struct err *err)
{
    if (account_check(connect, account, err) < 0)
        return -1;
    if (!connect->config.secrets)
        return err_set(err, ERR_SECRET_UNAVAILABLE, "there is no store of secrets");
    return secrets_get(connect->config.secrets, account->secret_ref, out, err);
}

int account_check(const struct connect *connect, const struct account *account, struct err *err)
{
    const char *reason;

    (void)connect;
    if (account->configured && !account->trouble)
        return 0;
    reason = account->configured ? account->trouble : "it is not connected";
    return err_set(err, ERR_SECRET_UNAVAILABLE,
                   "%s can't be used: %s. A person connects it in Settings or with `dormouse "
                   "connect %s`",
                   account->title, reason, account->provider);
}

/* ---- the room ---- */

int connect_new(const struct connect_config *config, struct connect **ret_connect, struct err *err)
{
    AUTO(connect) connect = NEW(struct connect);

    connect->config = *config;
    connect->slack = (struct account){ .provider = "slack", .title = "Slack" };
    connect->google = (struct account){ .provider = "google", .title = "Google" };
    connect->gate = gate_new(config->loop, config->http);
    connect->channels = names_new();
    connect->oauth = google_new(connect);
    gate_allow(connect->gate, config->slack_base_url);
    gate_allow(connect->gate, config->google_base_url);
    gate_allow(connect->gate, config->google_token_url);
    if (account_load(connect, &connect->slack, err) < 0 ||
        account_load(connect, &connect->google, err) < 0)
        return -1;
    *ret_connect = TAKE(connect);
    return 0;
}

static void bind_all(struct connect *connect, struct tool_bed *bed, const struct tool_impl *impls,
                     size_t n)
{
    for (size_t i = 0; i < n; i++)
        tool_bed_bind(bed, &impls[i], connect);
}

void connect_bind(struct connect *connect, struct tool_bed *bed)
{
    bind_all(connect, bed, slack_tools, slack_tool_count);
    bind_all(connect, bed, gmail_tools, gmail_tool_count);
    bind_all(connect, bed, calendar_tools, calendar_tool_count);
}

void connect_stop(struct connect *connect)
{
    if (!connect || connect->stopping)
        return;
    connect->stopping = true;
    google_stop(connect->oauth);
    gate_stop(connect->gate);
}

void connect_free(struct connect *connect)
{
    if (!connect)
        return;
    connect_stop(connect);
    google_free(connect->oauth);
    gate_free(connect->gate);
    names_free(connect->channels);
    account_release(&connect->slack);
    account_release(&connect->google);
    free(connect);
}

/* ---- what can be used ---- */

static bool has_tool(const struct tool_impl *impls, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(impls[i].name, name) == 0)
            return true;
    return false;
}

bool connect_available(const struct connect *connect, const char *tool_name,
                       const char **ret_reason)
{
    bool slack = has_tool(slack_tools, slack_tool_count, tool_name);
    bool google = has_tool(gmail_tools, gmail_tool_count, tool_name) ||
                  has_tool(calendar_tools, calendar_tool_count, tool_name);
    const struct account *account;

    if (!slack && !google)
        return true;
    account = !connect ? NULL : slack ? &connect->slack : &connect->google;
    if (account && account->configured && !account->trouble)
        return true;
    *ret_reason = account && account->trouble ? account->trouble
                  : slack                     ? "Slack is not connected"
                                              : "Google is not connected";
    return false;
}

const char *connect_uses_secret(const struct connect *connect, const char *name)
{
    const struct account *const accounts[] = { &connect->slack, &connect->google };

    for (size_t i = 0; i < ARRAY_LEN(accounts); i++) {
        const char *client = client_secret_ref(accounts[i]);

        if (accounts[i]->configured &&
            (strcmp(accounts[i]->secret_ref, name) == 0 || (client && strcmp(client, name) == 0)))
            return accounts[i]->title;
    }
    if (connect->config.google_client_secret_ref &&
        strcmp(connect->config.google_client_secret_ref, name) == 0)
        return "Google";
    return NULL;
}
