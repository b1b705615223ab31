/* Asking Google's APIs for a tool: with a token that is good, once more with a new one when Google
 * says 401 (it did nothing then), and answers turned into words that help.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json.h>
#include <stdio.h>

#include "base/json.h"
#include "base/utf8.h"
#include "connect/google_int.h"

void google_url(const struct connect *connect, const char *api, const char *path, struct buf *out)
{
    const char *base = connect->config.google_base_url;
    bool gmail = strcmp(api, "gmail") == 0;
    struct str root = str_from(base);

    while (root.n && root.p[root.n - 1] == '/')
        root.n--;
    if (!base)
        root = gmail ? STR("https://gmail.googleapis.com") : STR("https://www.googleapis.com");
    buf_add_str(out, root);
    buf_add_text(out, gmail ? "/gmail/v1/" : "/calendar/v3/");
    buf_add_text(out, path);
}

static void has_token(struct google_wait *wait, struct str token, const struct err *err)
{
    struct asking *asking = CONTAINER_OF(wait, struct asking, wait);
    struct task *task = asking->task;
    struct err failed = ERR_INIT;

    if (!err) {
        asking->request.token = token;
        asking->token_serial = google_token_serial(task->connect->oauth);
        if (task_send(asking, &failed) == 0)
            return;
        err = &failed;
    }
    task_close(asking);
    task_fail(task, err);
}

/* Google says 401 and did nothing: once more, with another token. */
static bool again(struct asking *asking, const struct gate_answer *answer)
{
    struct google *google = asking->task->connect->oauth;

    if (answer->status != 401 || answer->err.code)
        return false;
    asking->again = NULL;
    google_token_refused(google, asking->token_serial);
    google_token(google, &asking->wait);
    return true;
}

void google_task_ask(struct task *task, const struct gate_request *request, task_step_fn *step)
{
    struct arena *arena = tool_job_arena(task->job);
    struct asking *asking = task_open(task, request, step);

    asking->wait.ready = has_token;
    asking->again = again;
    asking->request.url = arena_text(arena, request->url);
    asking->request.body = arena_str(arena, request->body);
    asking->request.if_match = request->if_match ? arena_text(arena, request->if_match) : NULL;
    asking->request.hosts = task_hosts(task);
    google_token(task->connect->oauth, &asking->wait);
}

/* ---- answers ---- */

/* What Google says beside the status, as far as it is text for people. */
static const char *detail(struct json_object *json, char out[300])
{
    struct str text = json_str(json_find(json_find(json, "error"), "message"));
    AUTO_BUF line = BUF_INIT(1000);

    utf8_one_line(utf8_truncate(text, 280), &line);
    text = utf8_truncate(str_trim(buf_str(&line)), 280);
    snprintf(out, 300, "%s%.*s", text.n ? ": " : "", STR_ARG(text));
    return out;
}

static bool lacks_scope(struct json_object *json, const char *said)
{
    return strstr(said, "insufficient authentication scopes") ||
           str_is(json_str(json_find(json_find(json, "error"), "status")), "PERMISSION_DENIED");
}

static int refused(const struct gate_answer *answer, const char *api, struct json_object *json,
                   struct err *err)
{
    char said[300];

    detail(json, said);
    switch (answer->status) {
    case 401:
        return err_set(err, ERR_UNAUTHORIZED, "%s refuses the token%s; connect Google again", api,
                       said);
    case 403:
        if (strstr(said, "ate limit") || strstr(said, "ate Limit"))
            return err_set(err, ERR_RATE_LIMITED, "%s: too many requests; try again later", api);
        return err_set(
            err, ERR_CAPABILITY_DENIED, "%s does not allow this%s%s", api, said,
            lacks_scope(json, said)
                ? ". The account was connected without the scope that this needs, or the "
                  "API is not enabled in your project"
                : "");
    case 404:
    case 410:
        return err_set(err, ERR_NOT_FOUND, "%s has no such thing%s", api, said);
    case 409:
    case 412:
        return err_set(err, ERR_VERSION_CONFLICT, "%s: it was changed meanwhile", api);
    case 429:
        return err_set(err, ERR_RATE_LIMITED, "%s: too many requests; try again later", api);
    default:
        return err_set(err, answer->status == 400 ? ERR_BAD_REQUEST : ERR_PROVIDER_FAILED,
                       "%s answered with status %d%s", api, answer->status, said);
    }
}

int google_read(const struct gate_answer *answer, const char *api, struct json_object **ret_json,
                struct err *err)
{
    AUTO_JSON json = NULL;
    struct err unread = ERR_INIT;

    if (answer->err.code) {
        *err = answer->err;
        return err_wrap(err, "ask %s", api);
    }
    if (answer->status >= 300 && answer->status < 400)
        return err_set(err, ERR_PROVIDER_FAILED,
                       "%s answered with a redirect (%d), which is not followed", api,
                       answer->status);
    if (gate_json(api, answer, &json, &unread) < 0) {
        if (answer->status >= 400)
            return refused(answer, api, NULL, err);
        *err = unread;
        return -1;
    }
    if (answer->status < 200 || answer->status > 299)
        return refused(answer, api, json, err);
    *ret_json = TAKE(json);
    return 0;
}
