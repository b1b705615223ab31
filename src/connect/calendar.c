/* list_events, create_event, update_event.
 *
 * An update is bound to the version that a person saw: the preview reads the event, its entity tag
 * goes into the approval and into If-Match, so a change in between asks again or fails.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json.h>
#include <stdio.h>

#include "base/json.h"
#include "base/json_put.h"
#include "base/timefmt.h"
#include "base/utf8.h"
#include "connect/connect_int.h"
#include "connect/event.h"
#include "connect/mime.h"

#define LIST_DEFAULT 50
#define DAY_S        86400
#define WEEK_DAYS    7
#define OUTPUT_MAX   (1u << 20)
#define BODY_MAX     (256u << 10)
#define ETAG_MAX     256
#define TITLE_SHOWN  200
/* Bytes of what an event says now; Calendar takes 8192. */

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

static struct str argument(struct json_object *arguments, const char *key)
{
    return json_str(json_find(arguments, key));
}

/* calendars/ID/events[/EVENT] */
static void events_url(const struct task *task, bool one, struct buf *out)
{
    struct str calendar = task_text(task, "calendar_id");
    AUTO_BUF path = BUF_INIT(HTTP_URL_MAX);

    buf_add_text(&path, "calendars/");
    gate_encode(&path, calendar.n ? calendar : STR("primary"));
    buf_add_text(&path, "/events");
    if (one) {
        buf_add_char(&path, '/');
        gate_encode(&path, task_text(task, "event_id"));
    }
    google_url(task->connect, "calendar", buf_text(&path), out);
}

/* ---- what an event is told as ---- */

/* The day that lies n days after this one; as it is when it is none. */
static struct str day_beside(struct str day, int n, char out[TIMEFMT_SIZE])
{
    int64_t at_ms;

    if (day.n != 10 || snprintf(out, TIMEFMT_SIZE, "%.*sT00:00:00Z", STR_ARG(day)) != 20 ||
        timefmt_parse(str_from(out), &at_ms, NULL) < 0)
        return day;
    timefmt_rfc3339(at_ms + n * DAY_S * 1000, out);
    return str_take(str_from(out), 10);
}

/* Of an all-day event Calendar names the day after its last one; people, and these tools, name the
 * last one. */
static struct str time_of(struct json_object *event, const char *key, char out[TIMEFMT_SIZE])
{
    struct json_object *time = json_find(event, key);
    struct str moment = json_str(json_find(time, "dateTime"));
    struct str day = json_str(json_find(time, "date"));

    return moment.n ? moment : strcmp(key, "end") == 0 ? day_beside(day, -1, out) : day;
}

static void write_attendees(struct json_writer *w, struct json_object *event)
{
    struct json_object *list = json_find(event, "attendees");

    if (!json_object_is_type(list, json_type_array))
        return;
    json_put_array(w, "attendees");
    for (size_t i = 0; i < json_length(list) && i < 100; i++)
        json_write_str(w, json_str(json_find(json_object_array_get_idx(list, i), "email")));
    json_write_array_end(w);
}

static void write_event(struct json_writer *w, struct json_object *event)
{
    char day[TIMEFMT_SIZE];

    json_write_object_begin(w);
    json_put_str(w, "id", json_str(json_find(event, "id")));
    json_put_str(w, "title", json_str(json_find(event, "summary")));
    json_put_str(w, "start", time_of(event, "start", day));
    json_put_str(w, "end", time_of(event, "end", day));
    json_put_bool(w, "all_day", json_find(json_find(event, "start"), "date") != NULL);
    json_put_some_str(w, "time_zone", json_str(json_find(json_find(event, "start"), "timeZone")));
    json_put_some_str(w, "location", json_str(json_find(event, "location")));
    json_put_some_str(w, "description", json_str(json_find(event, "description")));
    json_put_some_str(w, "status", json_str(json_find(event, "status")));
    json_put_some_str(w, "link", json_str(json_find(event, "htmlLink")));
    write_attendees(w, event);
    json_write_object_end(w);
}

/* ---- listing ---- */

static void got_events(struct task *task, const struct gate_answer *answer)
{
    AUTO_JSON json = NULL;
    struct json_object *items = NULL;
    AUTO_BUF out = BUF_INIT(OUTPUT_MAX);
    struct json_writer w = JSON_WRITER(&out);
    struct err err = ERR_INIT;

    if (google_read(answer, "Calendar", &json, &err) < 0 ||
        json_get_array(json, "items", &items, &err) < 0) {
        task_fail(task, &err);
        return;
    }
    json_write_object_begin(&w);
    json_put_array(&w, "events");
    for (size_t i = 0; i < json_length(items); i++)
        write_event(&w, json_object_array_get_idx(items, i));
    json_write_array_end(&w);
    json_put_bool(&w, "more", json_str(json_find(json, "nextPageToken")).n > 0);
    json_write_object_end(&w);
    task_finish(task, &out, &w);
}

/* Absent: now, and a week after the beginning. */
static int read_span(const struct connect *connect, struct json_object *arguments,
                     struct event_time *from, struct event_time *to, struct err *err)
{
    struct str zone = argument(arguments, "time_zone"), text = argument(arguments, "from");
    char now[TIMEFMT_SIZE], later[TIMEFMT_SIZE];

    timefmt_rfc3339(connect_now(connect), now);
    if (event_time_read("from", text.n ? text : str_from(now), zone, from, err) < 0)
        return -1;
    timefmt_rfc3339((from->utc_s + WEEK_DAYS * DAY_S) * 1000, later);
    text = argument(arguments, "to");
    if (event_time_read("to", text.n ? text : str_from(later), zone, to, err) < 0)
        return -1;
    if (to->utc_s <= from->utc_s)
        return err_set(err, ERR_BAD_REQUEST, "to must be after from");
    return 0;
}

static int check_span(void *arg, const struct tool_call *call, struct json_object *arguments,
                      struct err *err)
{
    struct event_time from, to;

    if (check_account(arg, call, arguments, err) < 0)
        return -1;
    return read_span(arg, arguments, &from, &to, err);
}

static int list_start(struct tool_job *job, struct err *err)
{
    struct task *task = task_of(job);
    struct event_time from, to;
    AUTO_BUF url = BUF_INIT(HTTP_URL_MAX);
    struct gate_request request = { .max_body = 4u << 20 };
    char text[TIMEFMT_SIZE];
    struct str query = task_text(task, "query");

    if (read_span(task->connect, tool_job_arguments(job), &from, &to, err) < 0)
        return -1;
    events_url(task, false, &url);
    buf_printf(&url, "?singleEvents=true&orderBy=startTime&maxResults=%lld&timeMin=",
               (long long)task_number(task, "limit", LIST_DEFAULT));
    timefmt_rfc3339(from.utc_s * 1000, text);
    gate_encode(&url, str_from(text));
    timefmt_rfc3339(to.utc_s * 1000, text);
    buf_add_text(&url, "&timeMax=");
    gate_encode(&url, str_from(text));
    buf_add_text(&url, "&timeZone=");
    gate_encode(&url, str_from(from.zone));
    if (query.n) {
        buf_add_text(&url, "&q=");
        gate_encode(&url, query);
    }
    request.url = buf_text(&url);
    google_task_ask(task, &request, got_events);
    return 0;
}

/* ---- writing ---- */

struct times {
    struct event_time start, end;
    bool has_start, has_end;
};

static int read_times(struct json_object *arguments, struct times *ret_times, struct err *err)
{
    struct str zone = argument(arguments, "time_zone");
    struct str start = argument(arguments, "start"), end = argument(arguments, "end");

    *ret_times = (struct times){ .has_start = start.n > 0, .has_end = end.n > 0 };
    if ((start.n && event_time_read("start", start, zone, &ret_times->start, err) < 0) ||
        (end.n && event_time_read("end", end, zone, &ret_times->end, err) < 0))
        return -1;
    if (start.n && end.n && ret_times->start.all_day != ret_times->end.all_day)
        return err_set(err, ERR_BAD_REQUEST, "start and end must both be days, or both be times");
    if (start.n && end.n &&
        (ret_times->end.utc_s < ret_times->start.utc_s ||
         (!ret_times->start.all_day && ret_times->end.utc_s == ret_times->start.utc_s)))
        return err_set(err, ERR_BAD_REQUEST, "end must be after start");
    return 0;
}

static int check_attendees(struct json_object *arguments, struct err *err)
{
    struct json_object *list = json_find(arguments, "attendees");
    struct str name, address;

    for (size_t i = 0; i < json_length(list); i++)
        if (mime_find_address(json_str(json_object_array_get_idx(list, i)), &name, &address, err) <
            0)
            return err_wrap(err, "attendees");
    return 0;
}

static int check_event(void *arg, const struct tool_call *call, struct json_object *arguments,
                       struct err *err)
{
    struct times times;

    if (check_account(arg, call, arguments, err) < 0 || check_attendees(arguments, err) < 0)
        return -1;
    return read_times(arguments, &times, err);
}

static void write_time(struct json_writer *w, const char *key, const struct event_time *time,
                       bool end)
{
    struct event_time next = *time;
    char day[TIMEFMT_SIZE];

    if (end && time->all_day)
        snprintf(next.text, sizeof(next.text), "%.*s",
                 STR_ARG(day_beside(str_from(time->text), 1, day)));
    json_write_key(w, key);
    event_time_write(w, &next);
}

static void write_text_member(struct json_writer *w, const char *key, struct json_object *arguments,
                              const char *name)
{
    struct json_object *value = json_find(arguments, name);

    if (!value)
        return;
    json_put_str(w, key, json_str(value));
}

static void write_body(struct json_writer *w, struct json_object *arguments,
                       const struct times *times)
{
    struct json_object *attendees = json_find(arguments, "attendees");

    json_write_object_begin(w);
    write_text_member(w, "summary", arguments, "title");
    write_text_member(w, "location", arguments, "location");
    write_text_member(w, "description", arguments, "description");
    if (times->has_start)
        write_time(w, "start", &times->start, false);
    if (times->has_end)
        write_time(w, "end", &times->end, true);
    if (attendees) {
        json_put_array(w, "attendees");
        for (size_t i = 0; i < json_length(attendees); i++) {
            struct str name, address = STR_NONE;
            struct err err = ERR_INIT;

            mime_find_address(json_str(json_object_array_get_idx(attendees, i)), &name, &address,
                              &err);
            json_write_object_begin(w);
            json_put_str(w, "email", address);
            json_write_object_end(w);
        }
        json_write_array_end(w);
    }
    json_write_object_end(w);
}

static void written(struct task *task, const struct gate_answer *answer)
{
    AUTO_JSON json = NULL;
    AUTO_BUF out = BUF_INIT(OUTPUT_MAX);
    struct json_writer w = JSON_WRITER(&out);
    struct err err = ERR_INIT;

    if (google_read(answer, "Calendar", &json, &err) < 0) {
        bool silent = answer->status >= 200 && answer->status < 300;

        task_fail_sent(task, answer->unsure || silent, "Calendar", &err);
        return;
    }
    write_event(&w, json);
    task_finish(task, &out, &w);
}

static int send_event(struct task *task, const char *method, const char *etag, struct err *err)
{
    AUTO_BUF body = BUF_INIT(BODY_MAX);
    AUTO_BUF url = BUF_INIT(HTTP_URL_MAX);
    struct json_writer w = JSON_WRITER(&body);
    struct gate_request request = {
        .method = method, .body_type = "application/json", .if_match = etag, .max_body = 1u << 20
    };
    struct times times;

    if (read_times(tool_job_arguments(task->job), &times, err) < 0)
        return -1;
    write_body(&w, tool_job_arguments(task->job), &times);
    if (json_write_end(&w) < 0)
        return err_set(err, ERR_TOO_LARGE, "the event is too long");
    events_url(task, etag != NULL, &url);
    if (json_find(tool_job_arguments(task->job), "attendees"))
        buf_add_text(&url, "?sendUpdates=all");
    request.url = buf_text(&url);
    request.body = buf_str(&body);
    google_task_ask(task, &request, written);
    return 0;
}

/* ---- previews ---- */

/* Facts of an event. Of a change, `when` says whether they are so now or become so. */
struct telling {
    struct tool_job *job;
    const char *when; /* "now ", "becomes ", or "" */
};

static void show_text(const struct telling *to, const char *title, struct str text)
{
    tool_job_fact(to->job, arena_printf(tool_job_arena(to->job), "%s%s", to->when, title), text);
}

static void show_time(const struct telling *to, const char *title, const struct event_time *time)
{
    struct arena *arena = tool_job_arena(to->job);

    show_text(
        to, title,
        str_from(
            time->all_day
                ? arena_printf(arena, "%s", time->text)
                : arena_printf(arena, "%s (%s%s)", time->text, time->zone,
                               time->twice ? "; clocks show this twice, the first is meant" : "")));
}

/* What is given but empty takes away what was there: that is shown too. */
static void show_given(const struct telling *to, struct json_object *arguments, const char *key)
{
    struct json_object *value = json_find(arguments, key);

    if (value)
        show_text(to, key, json_str(value).n ? json_str(value) : STR("(none)"));
}

static void show_guests(const struct telling *to, const char *title, struct json_object *list,
                        const char *member)
{
    size_t n = json_object_is_type(list, json_type_array) ? json_length(list) : 0;

    for (size_t i = 0; i < n; i++) {
        struct json_object *guest = json_object_array_get_idx(list, i);

        show_text(to, title, json_str(member ? json_find(guest, member) : guest));
    }
    if (!n)
        show_text(to, title, STR("(nobody)"));
}

static void show_new(const struct telling *to, struct json_object *arguments,
                     const struct times *times)
{
    show_given(to, arguments, "title");
    if (times->has_start)
        show_time(to, "start", &times->start);
    if (times->has_end)
        show_time(to, "end", &times->end);
    show_given(to, arguments, "location");
    if (json_find(arguments, "attendees"))
        show_guests(to, "invites", json_find(arguments, "attendees"), NULL);
    if (!argument(arguments, "description").n)
        show_given(to, arguments, "description");
}

/* Guests and description only where they are replaced: as a whole, so it matters what they were. */
static void show_now(const struct telling *to, struct json_object *event,
                     struct json_object *arguments)
{
    char day[TIMEFMT_SIZE];

    show_text(to, "title", json_str(json_find(event, "summary")));
    show_text(to, "start", time_of(event, "start", day));
    show_text(to, "end", time_of(event, "end", day));
    show_text(to, "location", json_str(json_find(event, "location")));
    if (json_find(arguments, "attendees"))
        show_guests(to, "invited", json_find(event, "attendees"), "email");
    if (json_find(arguments, "description"))
        show_text(to, "description", json_str(json_find(event, "description")));
}

static int create_preview(struct tool_job *job, struct err *err)
{
    const struct telling to = { .job = job, .when = "" };
    struct task *task = task_of(job);
    AUTO_BUF title = BUF_INIT(1024);
    struct times times;

    if (read_times(tool_job_arguments(job), &times, err) < 0)
        return -1;
    show_new(&to, tool_job_arguments(job), &times);
    buf_printf(&title, "Add an event: %.*s",
               STR_ARG(utf8_truncate(task_text(task, "title"), TITLE_SHOWN)));
    task_show(task, buf_text(&title), task_text(task, "description"),
              json_str(json_find(task->connect->google.info, "account")));
    return 0;
}

static int create_start(struct tool_job *job, struct err *err)
{
    return send_event(task_of(job), "POST", NULL, err);
}

static void show_update(struct task *task, struct json_object *event, struct str etag)
{
    const struct telling now = { .job = task->job, .when = "now " };
    const struct telling then = { .job = task->job, .when = "becomes " };
    AUTO_BUF title = BUF_INIT(1024);
    struct times times;
    struct err err = ERR_INIT;

    if (read_times(tool_job_arguments(task->job), &times, &err) < 0) {
        task_fail(task, &err);
        return;
    }
    show_now(&now, event, tool_job_arguments(task->job));
    show_new(&then, tool_job_arguments(task->job), &times);
    buf_printf(&title, "Change an event: %.*s",
               STR_ARG(utf8_truncate(json_str(json_find(event, "summary")), TITLE_SHOWN)));
    task_show(task, buf_text(&title), task_text(task, "description"), etag);
}

static void got_event(struct task *task, const struct gate_answer *answer)
{
    AUTO_JSON json = NULL;
    struct err err = ERR_INIT;
    struct str etag;

    if (google_read(answer, "Calendar", &json, &err) < 0) {
        task_fail(task, &err);
        return;
    }
    etag = json_str(json_find(json, "etag"));
    if (!etag.n || etag.n > ETAG_MAX) {
        err_set(&err, ERR_PROVIDER_FAILED, "Calendar's answer has no version of the event");
        task_fail(task, &err);
        return;
    }
    task->data = arena_copy(tool_job_arena(task->job), etag.p, etag.n);
    show_update(task, json, etag);
}

static int update_preview(struct tool_job *job, struct err *err)
{
    struct task *task = task_of(job);
    AUTO_BUF url = BUF_INIT(HTTP_URL_MAX);
    struct gate_request request = { .max_body = 1u << 20 };

    (void)err;
    events_url(task, true, &url);
    request.url = buf_text(&url);
    google_task_ask(task, &request, got_event);
    return 0;
}

/* The check before it has just read the event: its tag is there. */
static int update_start(struct tool_job *job, struct err *err)
{
    struct task *task = task_of(job);

    if (!task->data)
        return err_set(err, ERR_CONFIRMATION_REQUIRED, "a change is shown before it is made");
    return send_event(task, "PATCH", task->data, err);
}

const struct tool_impl calendar_tools[] = {
    { .name = "list_events",
      .check = check_span,
      .offered = is_offered,
      .start = list_start,
      .cancel = task_cancel },
    { .name = "create_event",
      .check = check_event,
      .offered = is_offered,
      .start = create_start,
      .cancel = task_cancel,
      .preview = create_preview },
    { .name = "update_event",
      .check = check_event,
      .offered = is_offered,
      .start = update_start,
      .cancel = task_cancel,
      .preview = update_preview },
};
const size_t calendar_tool_count = ARRAY_LEN(calendar_tools);
