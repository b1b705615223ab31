/* Slack, mail and the calendar: a few plain requests.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json.h>
#include <time.h>

#include "base/alloc.h"
#include "base/json.h"
#include "base/json_put.h"
#include "base/utf8.h"
#include "model/offline_int.h"

#define SHOWN_MAX 20

/* A call with these members; the JSON lies in the turn's arena. */
static void call_with(struct offline_turn *turn, const struct model_tool *tool, struct buf *json)
{
    offline_call_json(turn, tool, arena_str(turn->arena, buf_str(json)));
}

static void say_rest(struct offline_turn *turn, size_t n)
{
    if (n > SHOWN_MAX)
        offline_say(turn, "    and %zu more\n", n - SHOWN_MAX);
}

static const struct model_tool *need(struct offline_turn *turn, const char *what, const char *name)
{
    const struct model_tool *tool = offline_tool(turn, name);

    if (!tool)
        offline_lacks(turn, what, name);
    return tool;
}

/* ---- Slack ---- */

static struct json_object *channels_of(const struct offline_turn *turn)
{
    const struct offline_result *list = offline_result_of(turn, "list_slack_channels");
    struct json_object *channels = NULL;

    if (list)
        json_get_array(list->json, "channels", &channels, NULL);
    return channels;
}

static void say_channels(struct offline_turn *turn)
{
    struct json_object *channels = channels_of(turn);
    size_t n = json_length(channels);

    offline_say(turn, n ? "%zu channel%s:\n" : "I see no Slack channels.", n, n == 1 ? "" : "s");
    for (size_t i = 0; i < n && i < SHOWN_MAX; i++) {
        struct json_object *channel = json_object_array_get_idx(channels, i);
        bool is_private = false;

        json_get_bool(channel, "is_private", &is_private, NULL);
        offline_say(turn, "    #%.*s%s (%.*s)\n", STR_ARG(json_str(json_find(channel, "name"))),
                    is_private ? " (private)" : "", STR_ARG(json_str(json_find(channel, "id"))));
    }
    say_rest(turn, n);
}

void offline_slack_list(struct offline_turn *turn)
{
    const struct model_tool *tool = need(turn, "list Slack channels", "list_slack_channels");
    AUTO_BUF json = BUF_INIT(64);

    if (!tool)
        return;
    if (turn->round == 0) {
        buf_add_text(&json, "{}");
        call_with(turn, tool, &json);
    } else if (!offline_failed(turn)) {
        say_channels(turn);
    }
}

static struct str channel_id(struct json_object *channels, struct str name)
{
    for (size_t i = 0; i < json_length(channels); i++) {
        struct json_object *channel = json_object_array_get_idx(channels, i);

        if (str_eq_nocase(json_str(json_find(channel, "name")), name) ||
            str_eq(json_str(json_find(channel, "id")), name))
            return json_str(json_find(channel, "id"));
    }
    return STR_NONE;
}

static void send(struct offline_turn *turn, const struct model_tool *tool)
{
    struct str name = turn->match.cap[1], id;
    AUTO_BUF json = BUF_INIT(OFFLINE_TEXT_MAX);
    struct json_writer w = JSON_WRITER(&json);

    if (name.n && name.p[0] == '#')
        name = str_skip(name, 1);
    id = channel_id(channels_of(turn), name);
    if (!id.n) {
        offline_say(turn,
                    "I see no Slack channel #%.*s. \"list slack channels\" shows those I see.",
                    STR_ARG(name));
        return;
    }
    json_write_object_begin(&w);
    json_put_str(&w, "channel_id", id);
    json_put_str(&w, "text", turn->match.cap[0]);
    json_write_object_end(&w);
    call_with(turn, tool, &json);
}

/* The list first: people say names, Slack wants ids. */
void offline_slack_send(struct offline_turn *turn)
{
    const struct model_tool *sender = need(turn, "send a Slack message", "send_slack_message");
    const struct model_tool *list =
        sender ? need(turn, "find the channel", "list_slack_channels") : NULL;
    AUTO_BUF json = BUF_INIT(64);

    if (!list)
        return;
    if (turn->round == 0) {
        buf_add_text(&json, "{\"limit\":1000}");
        call_with(turn, list, &json);
    } else if (offline_failed(turn)) {
        return;
    } else if (turn->round == 1) {
        send(turn, sender);
    } else {
        offline_say(turn, "Sent to %.*s.", STR_ARG(turn->match.cap[1]));
    }
}

/* ---- mail ---- */

static void say_mails(struct offline_turn *turn)
{
    struct json_object *mails = NULL;
    size_t n;

    json_get_array(offline_result_last(turn)->json, "emails", &mails, NULL);
    n = json_length(mails);
    offline_say(turn, n ? "%zu mail%s:\n" : "There is no such mail.", n, n == 1 ? "" : "s");
    for (size_t i = 0; i < n && i < SHOWN_MAX; i++) {
        struct json_object *mail = json_object_array_get_idx(mails, i);

        offline_say(turn, "    %.*s: %.*s\n",
                    STR_ARG(utf8_truncate(json_str(json_find(mail, "from")), 80)),
                    STR_ARG(utf8_truncate(json_str(json_find(mail, "subject")), 160)));
    }
    say_rest(turn, n);
}

/* arg: "unread", or NULL for all. */
void offline_mail_list(struct offline_turn *turn)
{
    const struct model_tool *tool = need(turn, "look at your mail", "list_emails");
    AUTO_BUF json = BUF_INIT(128);

    if (!tool)
        return;
    if (turn->round == 0) {
        buf_printf(&json, "{\"unread_only\":%s}", turn->arg ? "true" : "false");
        call_with(turn, tool, &json);
    } else if (!offline_failed(turn)) {
        say_mails(turn);
    }
}

/* ---- calendar ---- */

static void say_events(struct offline_turn *turn)
{
    struct json_object *events = NULL;
    size_t n;

    json_get_array(offline_result_last(turn)->json, "events", &events, NULL);
    n = json_length(events);
    offline_say(turn, n ? "%zu event%s:\n" : "Nothing is in your calendar then.", n,
                n == 1 ? "" : "s");
    for (size_t i = 0; i < n && i < SHOWN_MAX; i++) {
        struct json_object *event = json_object_array_get_idx(events, i);

        offline_say(turn, "    %.*s  %.*s\n", STR_ARG(json_str(json_find(event, "start"))),
                    STR_ARG(utf8_truncate(json_str(json_find(event, "title")), 160)));
    }
    say_rest(turn, n);
}

void offline_day(const struct offline_turn *turn, int days, char out[OFFLINE_DAY_SIZE])
{
    time_t now = (time_t)(turn->now_ms / 1000);
    struct tm day;

    localtime_r(&now, &day);
    day.tm_mday += days;
    day.tm_hour = 12; /* days have 23 to 25 hours: noon is in every one */
    day.tm_isdst = -1;
    mktime(&day);
    strftime(out, OFFLINE_DAY_SIZE, "%Y-%m-%d", &day);
}

/* arg: "0" today, "1" tomorrow, "7" this week. */
void offline_calendar_list(struct offline_turn *turn)
{
    const struct model_tool *tool = need(turn, "look at your calendar", "list_events");
    bool week = turn->arg[0] == '7', tomorrow = turn->arg[0] == '1';
    char from[OFFLINE_DAY_SIZE], to[OFFLINE_DAY_SIZE];
    AUTO_BUF json = BUF_INIT(128);

    if (!tool)
        return;
    if (turn->round == 0) {
        offline_day(turn, tomorrow, from);
        offline_day(turn, week ? 7 : tomorrow ? 2 : 1, to);
        buf_printf(&json, "{\"from\":\"%s\",\"to\":\"%s\"}", from, to);
        call_with(turn, tool, &json);
    } else if (!offline_failed(turn)) {
        say_events(turn);
    }
}
