/* list_slack_channels and send_slack_message.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json.h>

#include "base/json.h"
#include "base/json_put.h"
#include "connect/connect_int.h"
#include "policy/secret.h"

#define LIST_DEFAULT 100
#define PAGE_MAX     200 /* what Slack advises */
#define PAGES_MAX    10
#define OUTPUT_MAX   (1u << 20)

static int check_account(void *arg, const struct tool_call *call, struct json_object *arguments,
                         struct err *err)
{
    struct connect *connect = arg;

    (void)call;
    (void)arguments;
    return account_check(connect, &connect->slack, err);
}

static bool is_offered(void *arg, const struct agent *agent)
{
    const struct connect *connect = arg;

    return connect->slack.configured || agent->tools;
}

/* With the token of the account, which is read for this request and wiped after it. */
static int ask(struct task *task, struct gate_request *request,
               void (*step)(struct task *task, const struct gate_answer *answer), struct err *err)
{
    struct connect *connect = task->connect;
    struct buf token = BUF_INIT(SECRET_VALUE_MAX);
    int r = account_secret(connect, &connect->slack, &token, err);

    request->hosts = task_hosts(task);
    request->token = buf_str(&token);
    if (r == 0)
        r = task_ask(task, request, step, err);
    secrets_wipe(&token);
    return r;
}

/* A token that is refused stays refused: the page and the next call say so at once. */
static void note_refusal(struct task *task, const struct err *err)
{
    char text[ERR_TEXT_MAX];

    if (err->code == ERR_UNAUTHORIZED)
        account_trouble(&task->connect->slack, err_format(err, text, sizeof(text)));
}

/* ---- listing ---- */

struct listing {
    struct json_object *channels;
    int64_t wanted;
    unsigned pages;
    struct buf cursor;
};

static void got_page(struct task *task, const struct gate_answer *answer);

static int next_page(struct task *task, struct err *err)
{
    struct listing *list = task->data;
    int64_t left = list->wanted - (int64_t)json_length(list->channels);
    AUTO_BUF url = BUF_INIT(HTTP_URL_MAX);
    struct gate_request request = { .max_body = 4u << 20 };

    slack_url(task->connect, "conversations.list", &url);
    buf_printf(&url, "?types=public_channel%%2Cprivate_channel&exclude_archived=true&limit=%lld",
               (long long)(left < PAGE_MAX ? left : PAGE_MAX));
    if (list->cursor.n) {
        buf_add_text(&url, "&cursor=");
        gate_encode(&url, buf_str(&list->cursor));
    }
    request.url = buf_text(&url);
    list->pages++;
    return ask(task, &request, got_page, err);
}

static void listing_release(struct task *task)
{
    struct listing *list = task->data;

    json_object_put(list->channels);
    buf_release(&list->cursor);
}

static void fail(struct task *task, const struct err *err)
{
    note_refusal(task, err);
    task_fail(task, err);
}

static void end_listing(struct task *task, bool more)
{
    struct listing *list = task->data;
    AUTO_BUF json = BUF_INIT(OUTPUT_MAX);
    struct json_writer w = JSON_WRITER(&json);

    json_write_object_begin(&w);
    json_put_value(&w, "channels", list->channels);
    json_put_bool(&w, "more", more);
    json_write_object_end(&w);
    task_finish(task, &json, &w);
}

static void add_channel(struct task *task, struct json_object *from)
{
    struct listing *list = task->data;
    struct str id = json_str(json_find(from, "id")), name = json_str(json_find(from, "name"));
    struct json_object *to;
    bool is_private = false, is_member = false;

    if (!id.n || !name.n || (int64_t)json_length(list->channels) >= list->wanted)
        return;
    json_get_bool(from, "is_private", &is_private, NULL);
    json_get_bool(from, "is_member", &is_member, NULL);
    to = json_object_new_object();
    json_object_object_add(to, "id", json_object_new_string_len(id.p, (int)id.n));
    json_object_object_add(to, "name", json_object_new_string_len(name.p, (int)name.n));
    json_object_object_add(to, "is_private", json_object_new_boolean(is_private));
    json_object_object_add(to, "is_member", json_object_new_boolean(is_member));
    json_object_array_add(list->channels, to);
    names_set(task->connect->channels, id, name);
}

static void got_page(struct task *task, const struct gate_answer *answer)
{
    struct listing *list = task->data;
    AUTO_JSON json = NULL;
    struct json_object *channels = NULL;
    struct err err = ERR_INIT;
    struct str cursor;
    bool unsure;

    if (slack_read(answer, &unsure, &json, &err) < 0 ||
        json_get_array(json, "channels", &channels, &err) < 0) {
        fail(task, &err);
        return;
    }
    for (size_t i = 0; i < json_length(channels); i++)
        add_channel(task, json_object_array_get_idx(channels, i));
    cursor = json_str(json_find(json_find(json, "response_metadata"), "next_cursor"));
    /* A cursor that leads back to its own page would list the same again. */
    if (!cursor.n || (int64_t)json_length(list->channels) >= list->wanted ||
        list->pages >= PAGES_MAX || str_eq(cursor, buf_str(&list->cursor))) {
        end_listing(task, cursor.n > 0);
        return;
    }
    buf_clear(&list->cursor);
    buf_add_str(&list->cursor, cursor);
    if (list->cursor.full)
        err_set(&err, ERR_PROVIDER_FAILED, "Slack's cursor is longer than 1 KB");
    else if (next_page(task, &err) == 0)
        return;
    fail(task, &err);
}

static int list_start(struct tool_job *job, struct err *err)
{
    struct task *task = task_of(job);
    struct listing *list = ARENA_NEW(tool_job_arena(job), struct listing);

    task->data = list;
    task->release = listing_release;
    list->channels = json_object_new_array();
    list->cursor = BUF_INIT(1024);
    list->wanted = task_number(task, "limit", LIST_DEFAULT);
    if (next_page(task, err) == 0)
        return 0;
    listing_release(task);
    return -1;
}

/* ---- sending ---- */

static void show_message(struct task *task)
{
    struct str channel = task_text(task, "channel_id"), text = task_text(task, "text");
    const struct account *slack = &task->connect->slack;
    struct str team = json_str(json_find(slack->info, "team"));
    const char *name = names_find(task->connect->channels, channel);
    AUTO_BUF title = BUF_INIT(1024);
    AUTO_BUF to = BUF_INIT(4096);
    AUTO_BUF version = BUF_INIT(512);

    buf_printf(&title, "Send a Slack message to %s%.*s", name ? "#" : "",
               STR_ARG(name ? str_from(name) : str_take(channel, 64)));
    buf_printf(&to, "%s%s%s%.*s%s", name ? "#" : "", name ? name : "", name ? " (" : "",
               STR_ARG(channel), name ? ")" : " (its name could not be looked up)");
    tool_job_fact(task->job, "to", buf_str(&to));
    tool_job_fact(task->job, "workspace", team);
    buf_printf(&version, "%.*s/%.*s", STR_ARG(json_str(json_find(slack->info, "team_id"))),
               STR_ARG(channel));
    task_show(task, buf_text(&title), text, buf_str(&version));
}

static void got_channel(struct task *task, const struct gate_answer *answer)
{
    AUTO_JSON json = NULL;
    struct err err = ERR_INIT;
    bool unsure;

    if (slack_read(answer, &unsure, &json, &err) == 0)
        names_set(task->connect->channels, task_text(task, "channel_id"),
                  json_str(json_find(json_find(json, "channel"), "name")));
    show_message(task);
}

/* The name is looked up for whoever decides; without it the id has to do. */
static int send_preview(struct tool_job *job, struct err *err)
{
    struct task *task = task_of(job);
    struct str channel = task_text(task, "channel_id");
    AUTO_BUF url = BUF_INIT(HTTP_URL_MAX);
    struct gate_request request = { .max_body = 1u << 20 };

    if (names_find(task->connect->channels, channel)) {
        show_message(task);
        return 0;
    }
    slack_url(task->connect, "conversations.info", &url);
    buf_add_text(&url, "?channel=");
    gate_encode(&url, channel);
    request.url = buf_text(&url);
    return ask(task, &request, got_channel, err);
}

static void sent(struct task *task, const struct gate_answer *answer)
{
    AUTO_JSON json = NULL;
    AUTO_BUF out = BUF_INIT(64u << 10);
    struct json_writer w = JSON_WRITER(&out);
    struct err err = ERR_INIT;
    bool unsure;

    if (slack_read(answer, &unsure, &json, &err) < 0) {
        note_refusal(task, &err);
        task_fail_sent(task, unsure, "Slack", &err);
        return;
    }
    json_write_object_begin(&w);
    json_put_bool(&w, "ok", true);
    json_put_str(&w, "ts", json_str(json_find(json, "ts")));
    json_put_str(&w, "channel", json_str(json_find(json, "channel")));
    json_write_object_end(&w);
    task_finish(task, &out, &w);
}

static int send_start(struct tool_job *job, struct err *err)
{
    struct task *task = task_of(job);
    AUTO_BUF url = BUF_INIT(HTTP_URL_MAX);
    AUTO_BUF body = BUF_INIT(1u << 20);
    struct json_writer w = JSON_WRITER(&body);
    struct gate_request request = { .method = "POST",
                                    .body_type = "application/json; charset=utf-8",
                                    .max_body = 1u << 20 };

    json_write_object_begin(&w);
    json_put_str(&w, "channel", task_text(task, "channel_id"));
    json_put_str(&w, "text", task_text(task, "text"));
    json_write_object_end(&w);
    slack_url(task->connect, "chat.postMessage", &url);
    request.url = buf_text(&url);
    request.body = buf_str(&body);
    return ask(task, &request, sent, err);
}

const struct tool_impl slack_tools[] = {
    { .name = "list_slack_channels",
      .check = check_account,
      .offered = is_offered,
      .start = list_start,
      .cancel = task_cancel },
    { .name = "send_slack_message",
      .check = check_account,
      .offered = is_offered,
      .start = send_start,
      .cancel = task_cancel,
      .preview = send_preview },
};
const size_t slack_tool_count = ARRAY_LEN(slack_tools);
