/* Approvals and questions inside the conversation.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/json.h"
#include "base/limits.h"
#include "cli/ask.h"
#include "cli/chat_int.h"
#include "cli/decide.h"
#include "cli/leave.h"
#include "cli/term.h"

static struct str member(struct json_object *object, const char *key)
{
    return json_str(json_find(object, key));
}

/* 1 decided, here or elsewhere; 2 asked again, after what was wrong was said; -1. ret_why may be
 * NULL. */
static int send(struct chat *chat, struct json_object *item, const struct decide *decide,
                enum err_code *ret_why, struct err *err)
{
    AUTO_JSON answer = NULL;
    AUTO_TEXT id = alloc_copy(member(item, "id").p, member(item, "id").n);
    int r;

    if (decide_send(chat->talk, id, decide, &answer, err) == 0)
        return 1;
    if (ret_why)
        *ret_why = err->code;
    /* Somebody was quicker, in another window: the run goes on with that. */
    r = err->code == ERR_CONFLICT || err->code == ERR_EXPIRED || err->code == ERR_WITHDRAWN ? 1
        : err->code == ERR_SCHEMA_VIOLATION || err->code == ERR_TOO_LARGE ||
                err->code == ERR_TIMEOUT || err->code == ERR_CONFIRMATION_REQUIRED
            ? 2
            : -1;
    if (r > 0) {
        chat_say_error(chat, err);
        err_reset(err);
    }
    return r;
}

/* Without a terminal the arguments are one line of JSON, and the text of a file one line. */
static int read_edited(struct chat *chat, struct json_object *item, struct decide_edited *edited,
                       struct err *err)
{
    bool memory = str_is(member(item, "kind"), "memory");
    struct str text;

    if (chat_line_is_terminal(chat->line))
        return decide_edit_item(item, edited, err);
    if (chat_line_read(chat->line, memory ? "text: " : "input (JSON): ", &text) != CHAT_LINE)
        return 0;
    if (!memory)
        return json_parse(text, &edited->input, err) < 0 ? -1 : 1;
    edited->is_text = true;
    buf_add_str(&edited->content, text);
    buf_add_char(&edited->content, '\n');
    return 1;
}

static int edit(struct chat *chat, struct ask *ask, struct decide *decide, struct err *err)
{
    struct decide_edited edited = DECIDE_EDITED_INIT;
    enum err_code why = ERR_NONE;
    int r = ask_take_edited(ask, decide, &edited) ? 1 : read_edited(chat, ask->item, &edited, err);

    if (r < 0) {
        chat_say_error(chat, err);
        err_reset(err);
        r = 2;
    } else if (r == 0) {
        printf("Nothing was changed.\n");
        r = 2;
    } else {
        decide->input = edited.input;
        decide->content = edited.is_text ? &edited.content : NULL;
        r = send(chat, ask->item, decide, &why, err);
        if (why == ERR_CONFIRMATION_REQUIRED)
            ask_edit_refused(ask, &edited);
    }
    decide_edited_release(&edited);
    return r;
}

/* Ctrl-C while asked: the run, not only the question. An item of the inbox just stays there. */
static int give_up(struct chat *chat, struct err *err)
{
    if (!chat->stream) {
        printf("It still waits.\n");
        return 0;
    }
    return chat_cancel(chat, err) < 0 ? -1 : 1;
}

static int left(struct chat *chat, struct json_object *item)
{
    bool question = str_is(member(item, "kind"), "question");

    if (leave_asked())
        return 0; /* chat_follow() says what becomes of the run */
    printf("It waits for you:  dormouse %s %.*s%s\n", question ? "answer" : "approve",
           STR_ARG(str_take(member(item, "id"), 8)), question ? " TEXT" : "");
    if (!chat->stream)
        return 0;
    chat->exit_code = CLI_WAITING;
    chat->leave = chat->over = true;
    return 0;
}

static enum chat_read read_answer(struct chat *chat, const struct ask *ask, struct str *ret_text)
{
    AUTO_BUF prompt = BUF_INIT(4 * KIB);

    ask_prompt(ask, &prompt);
    if (!chat_line_is_terminal(chat->line))
        printf("%s\n", buf_text(&prompt));
    fflush(stdout);
    if (!ask_is_paging(ask) && !chat_line_arm(chat->line))
        return CHAT_INTERRUPTED;
    return chat_line_answer(chat->line, ask, buf_text(&prompt), ret_text);
}

/* What was said of it: 1 decided, 0 left for later, -1. */
static int converse_about(struct chat *chat, struct ask *ask, struct err *err)
{
    for (int r = 2; r == 2;) {
        struct str text = STR_NONE;
        struct decide decide;

        switch (read_answer(chat, ask, &text)) {
        case CHAT_EOF:
            return left(chat, ask->item);
        case CHAT_INTERRUPTED:
            return give_up(chat, err);
        case CHAT_LOST:
            ask_draw(ask);
            continue;
        case CHAT_LINE:
            break;
        }
        switch (ask_take(ask, text, &decide)) {
        case ASK_DECIDED:
            r = send(chat, ask->item, &decide, NULL, err);
            break;
        case ASK_EDITING:
            r = edit(chat, ask, &decide, err);
            break;
        case ASK_AGAIN:
            break;
        }
        if (r != 2)
            return r;
    }
    return 1;
}

static int ask_about(struct chat *chat, struct json_object *item, struct err *err)
{
    struct ask ask;
    int r;

    ask_begin(&ask, stdout, json_object_get(item), 0);
    r = converse_about(chat, &ask, err);
    ask_release(&ask);
    return r;
}

int chat_ask_item(struct chat *chat, struct str id, struct err *err)
{
    AUTO_JSON item = NULL;

    if (decide_get_item(chat->talk, id, &item, err) < 0)
        return -1;
    if (!str_is(member(item, "state"), "pending"))
        return 1;
    return ask_about(chat, item, err);
}

int chat_decide_item(struct chat *chat, struct str id, struct err *err)
{
    AUTO_JSON item = NULL;
    AUTO(pane) pane = NULL;

    if (decide_get_item(chat->talk, id, &item, err) < 0)
        return -1;
    if (str_is(member(item, "state"), "pending"))
        return ask_about(chat, item, err) < 0 ? -1 : 0;
    pane = pane_new(stdout);
    pane_own(pane, TERM_YELLOW, "? ", member(item, "title"));
    pane_item(pane, item);
    pane_show(pane, 0);
    printf("It is %.*s already.\n", STR_ARG(str_take(member(item, "state"), 20)));
    return 0;
}
