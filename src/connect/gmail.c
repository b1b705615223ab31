/* list_emails, read_email, draft_email, send_email.
 *
 * Messages are read as the bytes that arrived (format=raw) and written as the bytes that go out
 * (mime.h), so that nothing depends on how Gmail would show them.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json.h>

#include "base/json.h"
#include "base/json_put.h"
#include "base/utf8.h"
#include "connect/connect_int.h"
#include "connect/mime.h"

#define LIST_DEFAULT  10
#define LIST_PARALLEL 5
#define QUERY_MAX     2048 /* bytes: 500 characters and what is added */
#define TITLE_SHOWN   200
#define OUTPUT_MAX    (1u << 20)
#define MESSAGE_MAX   (4u << 20)

static int check_account(void *arg, const struct tool_call *call, struct json_object *arguments,
                         struct err *err)
{
    struct connect *connect = arg;

    (void)call;
    (void)arguments;
    return account_check(connect, &connect->google, err);
}

static bool is_offered(void *arg, const struct agent *agent)
{
    const struct connect *connect = arg;

    return connect->google.configured || agent->tools;
}

/* An id as Gmail gives them, in a path. */
static void message_path(struct buf *out, struct str id)
{
    buf_add_text(out, "users/me/messages/");
    gate_encode(out, id);
}

/* ---- listing ---- */

/* The list has ids alone, so each mail is asked for by itself, a few at a time. */
struct listing {
    struct json_object *ids;
    struct json_object *emails; /* in the order of ids; null: not there (yet) */
    size_t n, next, open;
    bool more;
};

static void listing_release(struct task *task)
{
    struct listing *list = task->data;

    json_object_put(list->ids);
    json_object_put(list->emails);
}

static void got_mail(struct task *task, const struct gate_answer *answer);

static void end_listing(struct task *task)
{
    struct listing *list = task->data;
    AUTO_BUF json = BUF_INIT(OUTPUT_MAX);
    struct json_writer w = JSON_WRITER(&json);

    json_write_object_begin(&w);
    json_put_array(&w, "emails");
    for (size_t i = 0; i < json_length(list->emails); i++)
        if (json_object_array_get_idx(list->emails, i))
            json_write_value(&w, json_object_array_get_idx(list->emails, i));
    json_write_array_end(&w);
    json_put_bool(&w, "more", list->more);
    json_write_object_end(&w);
    task_finish(task, &json, &w);
}

static void ask_mail(struct task *task, size_t at)
{
    struct listing *list = task->data;
    AUTO_BUF path = BUF_INIT(1024);
    AUTO_BUF url = BUF_INIT(HTTP_URL_MAX);
    struct gate_request request = { .max_body = 1u << 20, .tag = at };

    message_path(&path, json_str(json_find(json_object_array_get_idx(list->ids, at), "id")));
    buf_add_text(&path, "?format=metadata&metadataHeaders=From&metadataHeaders=To"
                        "&metadataHeaders=Subject&metadataHeaders=Date");
    google_url(task->connect, "gmail", buf_text(&path), &url);
    request.url = buf_text(&url);
    google_task_ask(task, &request, got_mail);
}

static void go_on(struct task *task)
{
    struct listing *list = task->data;

    for (; list->next < list->n && list->open < LIST_PARALLEL; list->open++)
        ask_mail(task, list->next++);
    if (!list->open)
        end_listing(task);
}

static void put(struct json_object *to, const char *key, struct str text)
{
    json_object_object_add(to, key, json_object_new_string_len(text.p ? text.p : "", (int)text.n));
}

/* Gmail may or may not have decoded what a header says: what is decoded stays as it is. */
static void put_header(struct json_object *to, const char *key, struct json_object *message,
                       const char *name)
{
    struct json_object *headers = json_find(json_find(message, "payload"), "headers");
    AUTO_BUF text = BUF_INIT(32u << 10);

    for (size_t i = 0; json_object_is_type(headers, json_type_array) && i < json_length(headers);
         i++) {
        struct json_object *header = json_object_array_get_idx(headers, i);

        if (!str_eq_nocase(json_str(json_find(header, "name")), str_from(name)))
            continue;
        mime_decode_words(utf8_truncate(json_str(json_find(header, "value")), 4096), &text);
        break;
    }
    put(to, key, str_trim(buf_str(&text)));
}

static bool has_label(struct json_object *message, const char *label)
{
    struct json_object *labels = json_find(message, "labelIds");

    for (size_t i = 0; json_object_is_type(labels, json_type_array) && i < json_length(labels); i++)
        if (str_is(json_str(json_object_array_get_idx(labels, i)), label))
            return true;
    return false;
}

static void got_mail(struct task *task, const struct gate_answer *answer)
{
    struct listing *list = task->data;
    AUTO_JSON json = NULL;
    struct err err = ERR_INIT;
    struct json_object *mail;

    list->open--;
    if (google_read(answer, "Gmail", &json, &err) < 0) {
        if (err.code == ERR_NOT_FOUND) /* it was deleted meanwhile */
            go_on(task);
        else
            task_fail(task, &err);
        return;
    }
    mail = json_object_new_object();
    put(mail, "id", json_str(json_find(json, "id")));
    put(mail, "thread_id", json_str(json_find(json, "threadId")));
    put_header(mail, "from", json, "From");
    put_header(mail, "to", json, "To");
    put_header(mail, "subject", json, "Subject");
    put_header(mail, "date", json, "Date");
    put(mail, "snippet", json_str(json_find(json, "snippet")));
    json_object_object_add(mail, "unread", json_object_new_boolean(has_label(json, "UNREAD")));
    json_object_array_put_idx(list->emails, task->tag, mail);
    go_on(task);
}

static void got_ids(struct task *task, const struct gate_answer *answer)
{
    struct listing *list = task->data;
    AUTO_JSON json = NULL;
    struct json_object *ids = NULL;
    size_t wanted = (size_t)task_number(task, "limit", LIST_DEFAULT);
    struct err err = ERR_INIT;

    if (google_read(answer, "Gmail", &json, &err) < 0 ||
        json_get_array(json, "messages", &ids, &err) < 0) {
        task_fail(task, &err);
        return;
    }
    list->ids = json_object_get(ids);
    list->n = json_length(ids);
    list->more = json_str(json_find(json, "nextPageToken")).n > 0 || list->n > wanted;
    if (list->n > wanted) /* whatever was sent */
        list->n = wanted;
    go_on(task);
}

static int list_start(struct tool_job *job, struct err *err)
{
    struct task *task = task_of(job);
    struct listing *list = ARENA_NEW(tool_job_arena(job), struct listing);
    AUTO_BUF query = BUF_INIT(QUERY_MAX);
    AUTO_BUF url = BUF_INIT(HTTP_URL_MAX);
    struct gate_request request = { .max_body = 1u << 20 };
    bool unread = false;

    (void)err;
    task->data = list;
    task->release = listing_release;
    list->emails = json_object_new_array();
    json_get_bool(tool_job_arguments(job), "unread_only", &unread, NULL);
    buf_add_str(&query, task_text(task, "query"));
    if (unread)
        buf_add_text(&query, query.n ? " is:unread" : "is:unread in:inbox");
    google_url(task->connect, "gmail", "users/me/messages", &url);
    buf_printf(&url, "?maxResults=%lld", (long long)task_number(task, "limit", LIST_DEFAULT));
    if (query.n) {
        buf_add_text(&url, "&q=");
        gate_encode(&url, buf_str(&query));
    }
    request.url = buf_text(&url);
    google_task_ask(task, &request, got_ids);
    return 0;
}

/* ---- reading ---- */

static void write_attachments(struct json_writer *w, const struct mime_message *message)
{
    json_put_array(w, "attachments");
    for (size_t i = 0; i < message->n_attachments; i++) {
        json_write_object_begin(w);
        json_put_str(w, "name", message->attachments[i].name);
        json_put_str(w, "type", message->attachments[i].type);
        json_put_i64(w, "bytes", (int64_t)message->attachments[i].bytes);
        json_write_object_end(w);
    }
    json_write_array_end(w);
}

static void write_mail(struct json_writer *w, struct json_object *json,
                       const struct mime_message *message)
{
    const struct {
        const char *key;
        struct str text;
    } members[] = {
        { "id", json_str(json_find(json, "id")) },
        { "thread_id", json_str(json_find(json, "threadId")) },
        { "from", message->from },
        { "to", message->to },
        { "cc", message->cc },
        { "subject", message->subject },
        { "date", message->date },
        { "text", message->text },
    };

    json_write_object_begin(w);
    for (size_t i = 0; i < ARRAY_LEN(members); i++) {
        json_put_str(w, members[i].key, members[i].text);
    }
    json_put_bool(w, "from_html", message->from_html);
    if (message->cut) {
        json_put_bool(w, "truncated", true);
    }
    write_attachments(w, message);
    json_write_object_end(w);
}

static void got_raw(struct task *task, const struct gate_answer *answer)
{
    AUTO_ARENA arena = ARENA_INIT;
    AUTO_BUF bytes = BUF_INIT(CONNECT_ANSWER_MAX);
    AUTO_BUF out = BUF_INIT(OUTPUT_MAX);
    struct json_writer w = JSON_WRITER(&out);
    AUTO_JSON json = NULL;
    struct mime_message message;
    struct err err = ERR_INIT;
    struct str raw;

    if (google_read(answer, "Gmail", &json, &err) < 0) {
        if (err.code == ERR_TOO_LARGE) {
            err_reset(&err);
            err_set(&err, ERR_TOO_LARGE,
                    "the mail is larger than %u MB with its attachments; open it in Gmail",
                    CONNECT_ANSWER_MAX >> 20);
        }
        task_fail(task, &err);
        return;
    }
    raw = json_str(json_find(json, "raw"));
    if (!raw.n || !base64_is_clean(raw)) {
        err_set(&err, ERR_PROVIDER_FAILED, "Gmail's answer has no message in base64url");
        task_fail(task, &err);
        return;
    }
    base64_decode(raw, &bytes);
    mime_read(buf_str(&bytes), &arena, &message);
    write_mail(&w, json, &message);
    task_finish(task, &out, &w);
}

static int read_start(struct tool_job *job, struct err *err)
{
    struct task *task = task_of(job);
    AUTO_BUF path = BUF_INIT(1024);
    AUTO_BUF url = BUF_INIT(HTTP_URL_MAX);
    struct gate_request request = { .max_body = CONNECT_ANSWER_MAX };

    (void)err;
    message_path(&path, task_text(task, "id"));
    buf_add_text(&path, "?format=raw");
    google_url(task->connect, "gmail", buf_text(&path), &url);
    request.url = buf_text(&url);
    google_task_ask(task, &request, got_raw);
    return 0;
}

/* ---- writing ---- */

/* The texts of a list of addresses; an absent one has none. */
static size_t addresses(struct json_object *arguments, const char *key,
                        struct str out[MIME_ADDRESSES_MAX + 1])
{
    struct json_object *list = json_find(arguments, key);
    size_t n = json_length(list);

    for (size_t i = 0; i < n && i <= MIME_ADDRESSES_MAX; i++)
        out[i] = json_str(json_object_array_get_idx(list, i));
    return n > MIME_ADDRESSES_MAX ? MIME_ADDRESSES_MAX + 1 : n;
}

struct reply {
    struct str message_id, references, thread_id;
};

static int compose(const struct connect *connect, struct json_object *arguments,
                   const struct reply *reply, struct buf *out, struct err *err)
{
    struct str to[MIME_ADDRESSES_MAX + 1], cc[MIME_ADDRESSES_MAX + 1], bcc[MIME_ADDRESSES_MAX + 1];
    struct mime_mail mail = { .from = json_str(json_find(connect->google.info, "account")),
                              .to = to,
                              .cc = cc,
                              .bcc = bcc,
                              .subject = json_str(json_find(arguments, "subject")),
                              .body = json_str(json_find(arguments, "body")) };

    mail.n_to = addresses(arguments, "to", to);
    mail.n_cc = addresses(arguments, "cc", cc);
    mail.n_bcc = addresses(arguments, "bcc", bcc);
    if (reply) {
        mail.in_reply_to = reply->message_id;
        mail.references = reply->references;
    }
    return mime_write(&mail, out, err);
}

/* What can't be written is told to the model before anybody is asked. */
static int check_mail(void *arg, const struct tool_call *call, struct json_object *arguments,
                      struct err *err)
{
    AUTO_BUF out = BUF_INIT(MESSAGE_MAX);

    if (check_account(arg, call, arguments, err) < 0)
        return -1;
    return compose(arg, arguments, NULL, &out, err);
}

static void fact_list(struct tool_job *job, const char *title, struct json_object *list)
{
    for (size_t i = 0; i < json_length(list); i++)
        tool_job_fact(job, title, json_str(json_object_array_get_idx(list, i)));
}

static int mail_preview(struct tool_job *job, struct err *err)
{
    struct task *task = task_of(job);
    struct json_object *arguments = tool_job_arguments(job);
    const struct account *google = &task->connect->google;
    struct str from = json_str(json_find(google->info, "account"));
    AUTO_BUF title = BUF_INIT(1024);
    bool sends = str_is(tool_job_call(job)->name, "send_email");

    (void)err;
    buf_printf(&title, "%s: %.*s", sends ? "Send a mail" : "Write a draft",
               STR_ARG(utf8_truncate(task_text(task, "subject"), TITLE_SHOWN)));
    tool_job_fact(job, "from", from);
    fact_list(job, "to", json_find(arguments, "to"));
    fact_list(job, "cc", json_find(arguments, "cc"));
    fact_list(job, "bcc", json_find(arguments, "bcc"));
    tool_job_fact(job, "subject", task_text(task, "subject"));
    tool_job_fact(job, "in reply to", task_text(task, "reply_to_id"));
    task_show(task, buf_text(&title), task_text(task, "body"), from);
    return 0;
}

static void written(struct task *task, const struct gate_answer *answer)
{
    AUTO_JSON json = NULL;
    AUTO_BUF out = BUF_INIT(64u << 10);
    struct json_writer w = JSON_WRITER(&out);
    struct err err = ERR_INIT;
    struct json_object *message;

    if (google_read(answer, "Gmail", &json, &err) < 0) {
        bool silent = answer->status >= 200 && answer->status < 300;

        task_fail_sent(task, answer->unsure || silent, "Gmail", &err);
        return;
    }
    message = json_find(json, "message") ? json_find(json, "message") : json;
    json_write_object_begin(&w);
    json_put_str(&w, "id", json_str(json_find(json, "id")));
    json_put_str(&w, "thread_id", json_str(json_find(message, "threadId")));
    json_write_object_end(&w);
    task_finish(task, &out, &w);
}

static void write_message(struct json_writer *w, struct str raw, struct str thread_id)
{
    json_write_object_begin(w);
    json_put_str(w, "raw", raw);
    if (thread_id.n) {
        json_put_str(w, "threadId", thread_id);
    }
    json_write_object_end(w);
}

static int send_mail(struct task *task, const struct reply *reply, struct err *err)
{
    bool sends = str_is(tool_job_call(task->job)->name, "send_email");
    AUTO_BUF mail = BUF_INIT(MESSAGE_MAX);
    AUTO_BUF raw = BUF_INIT(2 * MESSAGE_MAX);
    AUTO_BUF body = BUF_INIT(3 * MESSAGE_MAX);
    AUTO_BUF url = BUF_INIT(HTTP_URL_MAX);
    struct json_writer w = JSON_WRITER(&body);
    struct gate_request request = { .method = "POST",
                                    .body_type = "application/json",
                                    .max_body = 1u << 20 };

    if (compose(task->connect, tool_job_arguments(task->job), reply, &mail, err) < 0)
        return -1;
    base64url_encode(buf_str(&mail), &raw);
    if (!sends) {
        json_write_object_begin(&w);
        json_write_key(&w, "message");
    }
    write_message(&w, buf_str(&raw), reply ? reply->thread_id : STR_NONE);
    if (!sends)
        json_write_object_end(&w);
    google_url(task->connect, "gmail", sends ? "users/me/messages/send" : "users/me/drafts", &url);
    request.url = buf_text(&url);
    request.body = buf_str(&body);
    google_task_ask(task, &request, written);
    return 0;
}

static bool is_message_id(struct str text)
{
    for (size_t i = 0; i < text.n; i++)
        if ((unsigned char)text.p[i] <= 0x20 || (unsigned char)text.p[i] >= 0x7f)
            return false;
    return text.n > 2 && text.p[0] == '<' && text.p[text.n - 1] == '>';
}

/* What a stranger wrote where message ids belong: those that are some. */
static void add_message_ids(struct buf *out, struct str text)
{
    struct str id;

    while (str_split(&text, ' ', &id))
        if (is_message_id(id))
            buf_printf(out, "%s%.*s", out->n ? " " : "", STR_ARG(id));
}

/* The mail that is replied to: its id and thread, so that clients keep them together. */
static void got_original(struct task *task, const struct gate_answer *answer)
{
    AUTO_JSON json = NULL;
    struct json_object *found = json_object_new_object();
    AUTO_BUF id = BUF_INIT(32u << 10);
    AUTO_BUF references = BUF_INIT(64u << 10);
    struct err err = ERR_INIT;

    if (google_read(answer, "Gmail", &json, &err) < 0) {
        err_wrap(&err, "the mail to reply to");
        task_fail(task, &err);
    } else {
        put_header(found, "id", json, "Message-ID");
        put_header(found, "references", json, "References");
        add_message_ids(&id, json_str(json_find(found, "id")));
        add_message_ids(&references, json_str(json_find(found, "references")));
        add_message_ids(&references, buf_str(&id));
        if (send_mail(task,
                      &(struct reply){ .message_id = buf_str(&id),
                                       .references = buf_str(&references),
                                       .thread_id = json_str(json_find(json, "threadId")) },
                      &err) < 0)
            task_fail(task, &err);
    }
    json_object_put(found);
}

static int mail_start(struct tool_job *job, struct err *err)
{
    struct task *task = task_of(job);
    struct str original = task_text(task, "reply_to_id");
    AUTO_BUF path = BUF_INIT(1024);
    AUTO_BUF url = BUF_INIT(HTTP_URL_MAX);
    struct gate_request request = { .max_body = 1u << 20 };

    if (!original.n)
        return send_mail(task, NULL, err);
    message_path(&path, original);
    buf_add_text(&path, "?format=metadata&metadataHeaders=Message-ID&metadataHeaders=References");
    google_url(task->connect, "gmail", buf_text(&path), &url);
    request.url = buf_text(&url);
    google_task_ask(task, &request, got_original);
    return 0;
}

const struct tool_impl gmail_tools[] = {
    { .name = "list_emails",
      .check = check_account,
      .offered = is_offered,
      .start = list_start,
      .cancel = task_cancel },
    { .name = "read_email",
      .check = check_account,
      .offered = is_offered,
      .start = read_start,
      .cancel = task_cancel },
    { .name = "draft_email",
      .check = check_mail,
      .offered = is_offered,
      .start = mail_start,
      .cancel = task_cancel,
      .preview = mail_preview },
    { .name = "send_email",
      .check = check_mail,
      .offered = is_offered,
      .start = mail_start,
      .cancel = task_cancel,
      .preview = mail_preview },
};
const size_t gmail_tool_count = ARRAY_LEN(gmail_tools);
