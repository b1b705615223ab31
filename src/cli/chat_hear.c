/* What is said in the conversation while a line is typed: an alarm rings.
 *
 * The daemon's activity tells that a run of this conversation is over; what it said is read then.
 * Runs that were followed here have been shown. Where nothing can be heard the conversation goes
 * on without: what was said stands in its thread.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json.h>
#include <stdio.h>

#include "base/json.h"
#include "cli/chat_int.h"
#include "cli/term.h"

void chat_hear_start(struct chat *chat)
{
    struct err err = ERR_INIT;

    if (chat->heard || talk_again(chat->talk, &chat->heard, &err) < 0)
        return;
    if (talk_follow(chat->heard, "GET", "/api/v1/activity", STR_NONE, &err) < 0)
        chat_hear_stop(chat);
}

void chat_hear_stop(struct chat *chat)
{
    talk_free(chat->heard);
    chat->heard = NULL;
}

int chat_hear_fd(struct chat *chat)
{
    return chat->heard ? talk_fd(chat->heard) : -1;
}

/* A run of this conversation is over that nobody followed here. */
static bool is_news(const struct chat *chat, struct json_object *event)
{
    return chat->thread && str_is(json_str(json_find(event, "type")), "run") &&
           str_is(json_str(json_find(event, "kind")), "done") &&
           str_is(json_str(json_find(event, "threadId")), chat->thread) &&
           !str_is(json_str(json_find(event, "runId")), chat->run_id);
}

/* On a connection of its own: the other may have been left alone for longer than it lasts. */
static bool show_result(struct chat *chat, struct str run_id)
{
    AUTO(talk) talk = NULL;
    AUTO_JSON run = NULL;
    struct err err = ERR_INIT;
    char path[160];
    struct str text;

    snprintf(path, sizeof(path), "/api/v1/runs/%.*s", STR_ARG(run_id));
    if (talk_again(chat->talk, &talk, &err) < 0 ||
        talk_ask(talk, "GET", path, STR_NONE, &run, &err) < 0)
        return false;
    text = json_str(json_find(run, "result"));
    if (!text.n)
        return false;
    printf("\r\033[K\a"); /* over what is typed, which is drawn again below */
    chat_show_text(chat, text);
    fflush(stdout);
    return true;
}

bool chat_hear(struct chat *chat)
{
    struct err err = ERR_INIT;
    bool shown = false;
    struct str json;
    int r = 0;

    while (chat->heard && (r = talk_next(chat->heard, 0, &json, &err)) == 1) {
        AUTO_JSON event = NULL;

        if (json_parse(json, &event, &err) == 0 && is_news(chat, event))
            shown |= show_result(chat, json_str(json_find(event, "runId")));
    }
    if (r <= 0)
        chat_hear_stop(chat);
    return shown;
}
