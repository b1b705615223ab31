/* dormouse connect slack, google, list and remove: accounts elsewhere.
 *
 * Tokens are read from the terminal without echo or from standard input and go to the daemon, which
 * keeps them in the secret store. For Google a browser comes back to a port of this command's own
 * (RFC 8252), so that it works without a daemon that has one.
 *
 * SPDX-License-Identifier: MIT
 */
#include <arpa/inet.h>
#include <errno.h>
#include <json-c/json.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/json.h"
#include "base/json_put.h"
#include "base/limits.h"
#include "base/uri.h"
#include "cli/cli_int.h"
#include "cli/commands_int.h"
#include "cli/hidden.h"
#include "cli/talk.h"

#define WAIT_MS 600000
#define LOOK_MS 1000

static int ask(struct talk *talk, const char *method, const char *path, struct str body,
               struct json_object **ret_body, struct err *err)
{
    return talk_ask(talk, method, path, body, ret_body, err);
}

static void print_status(const struct cli_args *args, const char *title, struct json_object *status)
{
    struct str who = json_str(json_find(status, "account"));
    struct str team = json_str(json_find(status, "team"));

    if (cli_json(args)) {
        cli_print_json(json_object_get(status));
        return;
    }
    printf("%s is connected", title);
    if (who.n)
        printf(": %.*s", STR_ARG(who));
    if (team.n)
        printf(": %.*s in %.*s", STR_ARG(json_str(json_find(status, "user"))), STR_ARG(team));
    putchar('\n');
}

/* ---- slack ---- */

static int set_slack(struct talk *talk, struct json_object **ret_status, struct err *err)
{
    struct buf token = BUF_INIT(HIDDEN_MAX), body = BUF_INIT(8 * HIDDEN_MAX);
    struct json_writer w = JSON_WRITER(&body);
    int r = hidden_read("bot token, xoxb-...", &token, err);

    json_write_object_begin(&w);
    json_put_str(&w, "token", str_trim(buf_str(&token)));
    json_write_object_end(&w);
    if (r == 0)
        r = ask(talk, "POST", "/api/v1/credentials/slack", buf_str(&body), ret_status, err);
    secrets_wipe(&token);
    secrets_wipe(&body);
    return r;
}

static int run_slack(const struct cli_args *args)
{
    AUTO(talk) talk = NULL;
    AUTO_JSON status = NULL;
    struct err err = ERR_INIT;

    if (talk_open(args, &talk, &err) < 0 || set_slack(talk, &status, &err) < 0)
        return cli_fail(args, &err);
    print_status(args, "Slack", status);
    return CLI_DONE;
}

const struct cli_command cli_cmd_connect_slack = {
    .name = "connect slack",
    .operands = "",
    .summary = "Connects Slack with a bot token, read from the terminal without echo or from "
               "standard input",
    .details =
        "The token is the Bot User OAuth Token of an app that you made at api.slack.com: under "
        "OAuth & Permissions, with the scopes channels:read, groups:read and chat:write. Slack is "
        "asked whether it is good, then it is kept as the secret slack-token.\n\n"
        "  pass show slack | dormouse connect slack",
    .run = run_slack,
};

/* ---- google: the browser that comes back ---- */

static int listen_here(uint16_t *ret_port, struct err *err)
{
    struct sockaddr_in address = { .sin_family = AF_INET,
                                   .sin_addr = { .s_addr = htonl(INADDR_LOOPBACK) } };
    socklen_t n = sizeof(address);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd < 0 || bind(fd, (struct sockaddr *)&address, n) < 0 || listen(fd, 4) < 0 ||
        getsockname(fd, (struct sockaddr *)&address, &n) < 0) {
        err_set(err, ERR_INTERNAL, "a port on this machine: %s", strerror(errno));
        if (fd >= 0)
            close(fd);
        return -1;
    }
    *ret_port = ntohs(address.sin_port);
    return fd;
}

static bool readable(int fd, int64_t deadline)
{
    struct pollfd poll_fd = { .fd = fd, .events = POLLIN };
    int64_t left = deadline - clock_mono_ms(clock_system());

    return left > 0 && poll(&poll_fd, 1, (int)left) > 0;
}

/* A parameter of "GET /?code=x&state=y HTTP/1.1", decoded. */
static void find_param(struct str line, const char *name, struct buf *out)
{
    ptrdiff_t at = str_find_char(line, '?');
    struct str query = at < 0 ? STR_NONE : str_skip(line, (size_t)at + 1), pair;

    if (str_find_char(query, ' ') >= 0)
        query = str_take(query, (size_t)str_find_char(query, ' '));
    while (str_split(&query, '&', &pair)) {
        size_t n = strlen(name);

        if (pair.n > n && str_eq(str_take(pair, n), str_from(name)) && pair.p[n] == '=')
            uri_decode(str_skip(pair, n + 1), out);
    }
}

/* One request: 1 when it had a state, 0 when it was something else (a browser's icon). */
static int take_request(int listener, int64_t deadline, struct buf *body)
{
    static const char page[] = "HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\n"
                               "Connection: close\r\n\r\nYou can close this window and go back to "
                               "the terminal.\n";
    AUTO_FD fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    AUTO_BUF code = BUF_INIT(4096);
    AUTO_BUF state = BUF_INIT(4096);
    AUTO_BUF error = BUF_INIT(4096);
    struct json_writer w = JSON_WRITER(body);
    char text[8192];
    ssize_t n;

    if (fd < 0 || !readable(fd, deadline) || (n = read(fd, text, sizeof(text))) <= 0)
        return 0;
    find_param(str_of(text, (size_t)n), "code", &code);
    find_param(str_of(text, (size_t)n), "state", &state);
    find_param(str_of(text, (size_t)n), "error", &error);
    if (write(fd, page, sizeof(page) - 1) < 0)
        return 0;
    explicit_bzero(text, sizeof(text));
    if (!state.n)
        return 0;
    json_write_object_begin(&w);
    json_put_str(&w, "code", buf_str(&code));
    json_put_str(&w, "state", buf_str(&state));
    json_put_str(&w, "error", buf_str(&error));
    json_write_object_end(&w);
    return 1;
}

static int wait_for_browser(struct talk *talk, int listener, struct json_object **ret_status,
                            struct err *err)
{
    int64_t deadline = clock_mono_ms(clock_system()) + WAIT_MS;
    struct buf body = BUF_INIT(64 * KIB);
    int r;

    while (readable(listener, deadline)) {
        if (!take_request(listener, deadline, &body))
            continue;
        r = ask(talk, "POST", "/api/v1/credentials/google/finish", buf_str(&body), ret_status, err);
        secrets_wipe(&body);
        return r;
    }
    return err_set(err, ERR_EXPIRED, "nobody came back from the browser within %d minutes",
                   WAIT_MS / 60000);
}

/* ---- google: a code that is typed elsewhere ---- */

static int wait_for_person(struct talk *talk, struct json_object **ret_status, struct err *err)
{
    int64_t deadline = clock_mono_ms(clock_system()) + WAIT_MS;
    bool pending = true;

    while (pending && clock_mono_ms(clock_system()) < deadline) {
        json_object_put(TAKE(*ret_status));
        poll(NULL, 0, LOOK_MS);
        if (ask(talk, "GET", "/api/v1/credentials/google/status", STR_NONE, ret_status, err) < 0)
            return -1;
        pending = false;
        json_get_bool(*ret_status, "pending", &pending, NULL);
    }
    if (json_str(json_find(*ret_status, "error")).n)
        return err_set(err, ERR_REJECTED, "%.*s",
                       STR_ARG(json_str(json_find(*ret_status, "error"))));
    return 0;
}

/* ---- google ---- */

static int begin_google(const struct cli_args *args, struct talk *talk, const char *flow,
                        uint16_t port, struct json_object **ret_flow, struct err *err)
{
    const char *client = cli_value(args, "client-id"), *scopes = cli_value(args, "scopes");
    struct buf secret = BUF_INIT(HIDDEN_MAX), body = BUF_INIT(8 * HIDDEN_MAX);
    struct json_writer w = JSON_WRITER(&body);
    char redirect[64];
    int r = client ? hidden_read("client secret, empty for none", &secret, err) : 0;

    snprintf(redirect, sizeof(redirect), "http://127.0.0.1:%u/", port);
    json_write_object_begin(&w);
    json_put_text(&w, "flow", flow);
    json_put_text(&w, "redirect_uri", redirect);
    if (client) {
        json_put_text(&w, "client_id", client);
        json_put_str(&w, "client_secret", str_trim(buf_str(&secret)));
    }
    if (scopes) {
        json_put_text(&w, "scopes", scopes);
    }
    json_write_object_end(&w);
    if (r == 0)
        r = ask(talk, "POST", "/api/v1/credentials/google/start", buf_str(&body), ret_flow, err);
    secrets_wipe(&secret);
    secrets_wipe(&body);
    return r;
}

/* On standard error: with --json standard output is the result alone. */
static void tell_what_to_do(struct json_object *flow)
{
    struct str code = json_str(json_find(flow, "user_code"));

    if (code.n)
        fprintf(stderr, "Open %.*s and type %.*s\n",
                STR_ARG(json_str(json_find(flow, "verification_url"))), STR_ARG(code));
    else
        fprintf(stderr, "Open this in a browser on this machine:\n\n%.*s\n\n",
                STR_ARG(json_str(json_find(flow, "auth_url"))));
}

static int connect_google(const struct cli_args *args, struct talk *talk,
                          struct json_object **ret_status, struct err *err)
{
    bool device = cli_has(args, "device");
    AUTO_JSON flow = NULL;
    AUTO_FD listener = -1;
    uint16_t port = 0;

    if (!device && (listener = listen_here(&port, err)) < 0)
        return -1;
    if (begin_google(args, talk, device ? "device" : "loopback", port, &flow, err) < 0)
        return -1;
    tell_what_to_do(flow);
    return device ? wait_for_person(talk, ret_status, err)
                  : wait_for_browser(talk, listener, ret_status, err);
}

static int run_google(const struct cli_args *args)
{
    AUTO(talk) talk = NULL;
    AUTO_JSON status = NULL;
    struct err err = ERR_INIT;

    if (talk_open(args, &talk, &err) < 0 || connect_google(args, talk, &status, &err) < 0)
        return cli_fail(args, &err);
    print_status(args, "Google", status);
    return CLI_DONE;
}

static const struct cli_option google_options[] = {
    { .name = "client-id",
      .value = "ID",
      .help =
          "your OAuth client, unless connect.google.client_id is set; its secret is asked for" },
    { .name = "device",
      .help = "type a code elsewhere instead of using a browser on this machine" },
    { .name = "scopes",
      .value = "SCOPES",
      .help = "what to ask for, instead of mail and calendar" },
    { .name = NULL },
};

const struct cli_command cli_cmd_connect_google = {
    .name = "connect google",
    .operands = "",
    .summary = "Connects Gmail and Calendar: prints a link where you grant access",
    .details =
        "Access is granted to an OAuth client of your own: make one for a desktop app at "
        "console.cloud.google.com, enable the Gmail API and the Google Calendar API there, and "
        "give "
        "its id with --client-id or as connect.google.client_id. The browser comes back to a port "
        "on this machine; on another one, --device shows a code to type, which Google allows for "
        "few scopes, and not for mail.",
    .options = google_options,
    .run = run_google,
};

/* ---- list ---- */

static const char *const providers[] = { "slack", "google" };

static int get_all(struct talk *talk, struct json_object *out, struct err *err)
{
    char path[64];

    for (size_t i = 0; i < sizeof(providers) / sizeof(providers[0]); i++) {
        struct json_object *status = NULL;

        snprintf(path, sizeof(path), "/api/v1/credentials/%s/status", providers[i]);
        if (ask(talk, "GET", path, STR_NONE, &status, err) < 0)
            return -1;
        json_object_object_add(out, providers[i], status);
    }
    return 0;
}

static void print_line(const char *provider, struct json_object *status)
{
    struct str error = json_str(json_find(status, "error"));
    struct str who = json_str(json_find(status, "account"));
    bool configured = false;

    json_get_bool(status, "configured", &configured, NULL);
    if (!who.n)
        who = json_str(json_find(status, "team"));
    printf("%-8s %s%s%.*s%s%.*s\n", provider, configured ? "connected" : "not connected",
           configured && who.n ? "  " : "", configured ? (int)who.n : 0, who.n ? who.p : "",
           error.n ? "  " : "", STR_ARG(error));
}

static int run_list(const struct cli_args *args)
{
    AUTO(talk) talk = NULL;
    AUTO_JSON all = json_object_new_object();
    struct err err = ERR_INIT;

    if (talk_open(args, &talk, &err) < 0 || get_all(talk, all, &err) < 0)
        return cli_fail(args, &err);
    if (cli_json(args)) {
        cli_print_json(json_object_get(all));
        return CLI_DONE;
    }
    for (size_t i = 0; i < sizeof(providers) / sizeof(providers[0]); i++)
        print_line(providers[i], json_find(all, providers[i]));
    return CLI_DONE;
}

const struct cli_command cli_cmd_connect_list = {
    .name = "connect list",
    .operands = "",
    .summary = "Shows which accounts are connected",
    .run = run_list,
};

/* ---- remove ---- */

static int run_remove(const struct cli_args *args)
{
    const char *provider = cli_operand(args, 0);
    AUTO_JSON answer = NULL;
    struct json_object *out, *left;
    struct err err = ERR_INIT;
    char path[64];

    if (strcmp(provider, "slack") != 0 && strcmp(provider, "google") != 0) {
        err_set(&err, ERR_BAD_REQUEST, "the account must be slack or google, not %.40s", provider);
        return cli_fail(args, &err);
    }
    snprintf(path, sizeof(path), "/api/v1/credentials/%s", provider);
    if (talk_once(args, "DELETE", path, STR_NONE, &answer, &err) < 0)
        return cli_fail(args, &err);
    left = json_find(answer, "error"); /* Google could not be told */
    if (!cli_json(args)) {
        printf("%s is not connected any more\n", provider);
        if (left)
            printf("%s\n", json_object_get_string(left));
        return CLI_DONE;
    }
    out = json_object_new_object();
    json_object_object_add(out, "removed", json_object_new_string(provider));
    if (left)
        json_object_object_add(out, "error", json_object_get(left));
    cli_print_json(out);
    return CLI_DONE;
}

const struct cli_command cli_cmd_connect_remove = {
    .name = "connect remove",
    .operands = "ACCOUNT",
    .summary = "Forgets an account, slack or google, and its secrets; Google is told to end the "
               "access",
    .operands_min = 1,
    .operands_max = 1,
    .run = run_remove,
};
