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
#include "cli/chat_int.h"
#include "cli/decide.h"
#include "cli/term.h"

#define CHOICES "[y]es [n]o [e]dit [r]un [a]lways [?] "
#define AGAIN   "Do it again? [y]es [n]o [?] "
#define KEEP    "Keep it? [y]es [n]o [e]dit [?] "

enum asking { ASK_CALL = 0, ASK_AGAIN, ASK_MEMORY };

static struct str member(struct json_object *object, const char *key)
{
    return json_str(json_find(object, key));
}

static int send(struct chat *chat, struct str id, const struct decide *decide, struct err *err)
{
    AUTO_JSON answer = NULL;
    char *copy = alloc_copy(id.p, id.n);
    int r = decide_send(chat->talk, copy, decide, &answer, err);

    free(copy);
    /* Somebody was quicker, in another window: the run goes on with that. */
    if (r < 0 &&
        (err->code == ERR_CONFLICT || err->code == ERR_EXPIRED || err->code == ERR_WITHDRAWN)) {
        chat_say_error(chat, err);
        err_reset(err);
        return 1;
    }
    return r < 0 ? -1 : 1;
}

static void explain(enum asking asking)
{
    if (asking == ASK_MEMORY)
        printf("  y  the agent keeps this\n"
               "  n  it does not; you may say why, and the agent hears it\n"
               "  e  change the text first\n");
    else if (asking == ASK_AGAIN)
        printf("It was cut off, and how far it came is not known.\n"
               "  y  do it once more\n"
               "  n  don't; you may say why, and the agent hears it\n");
    else
        printf(
            "  y  do this once\n"
            "  n  don't; you may say why, and the agent hears it\n"
            "  e  change what it will do first\n"
            "  r  yes, and to every call of this tool until this run ends\n"
            "  a  yes, and always to exactly this by this agent; `dormouse inbox --grants` lists "
            "such,\n"
            "     `dormouse inbox --revoke ID` takes one back\n");
    printf("Ctrl-C cancels the run, Ctrl-D leaves it waiting: `dormouse inbox` shows it.\n");
}

/* ---- an approval ---- */

static int say_no(struct chat *chat, struct str id, struct err *err)
{
    struct decide decide = { .decision = "reject" };
    struct str why = STR_NONE;
    char *reason = NULL;
    int r;

    if (chat_line_read(chat->line, "why (may be empty): ", &why) == CHAT_LINE && str_trim(why).n)
        reason = alloc_copy(str_trim(why).p, str_trim(why).n);
    decide.reason = reason;
    r = send(chat, id, &decide, err);
    free(reason);
    return r;
}

/* Without a terminal the arguments are one line of JSON. */
static int read_input(struct chat *chat, struct json_object *input, struct json_object **ret_input,
                      struct err *err)
{
    struct str text;

    if (chat_line_is_terminal(chat->line))
        return decide_edit(input, ret_input, err);
    if (chat_line_read(chat->line, "input (JSON): ", &text) != CHAT_LINE)
        return 0;
    return json_parse(text, ret_input, err) < 0 ? -1 : 1;
}

/* Without a terminal the text is one line. */
static int read_content(struct chat *chat, struct json_object *item, struct buf *content,
                        struct err *err)
{
    struct str text;

    if (chat_line_is_terminal(chat->line))
        return decide_edit_text(member(json_find(item, "details"), "proposed_content"), content,
                                err);
    if (chat_line_read(chat->line, "text: ", &text) != CHAT_LINE)
        return 0;
    buf_add_str(content, text);
    buf_add_char(content, '\n');
    return 1;
}

static int change(struct chat *chat, struct json_object *item, struct str id, struct err *err)
{
    AUTO_BUF content = BUF_INIT(LIMIT_HTTP_BODY_BYTES);
    AUTO_JSON input = NULL;
    struct decide decide = { .decision = "edit" };
    bool memory = str_is(member(item, "kind"), "memory");
    int r = memory ? read_content(chat, item, &content, err)
                   : read_input(chat, json_find(item, "input"), &input, err);

    if (r <= 0) {
        if (r < 0)
            chat_say_error(chat, err);
        else
            printf("Nothing was changed.\n");
        err_reset(err);
        return 2;
    }
    decide.input = input;
    decide.content = memory ? &content : NULL;
    r = send(chat, id, &decide, err);
    if (r < 0 && (err->code == ERR_SCHEMA_VIOLATION || err->code == ERR_TOO_LARGE)) {
        chat_say_error(chat, err);
        err_reset(err);
        return 2;
    }
    return r;
}

/* letter: '\0' for whatever is no choice. 1 decided, 2 asked again, -1. */
static int act_on(struct chat *chat, struct json_object *item, enum asking asking, char letter,
                  struct err *err)
{
    struct decide decide = { .decision = "approve" };
    struct str id = member(item, "id");

    if (letter == 'y')
        return send(chat, id, &decide, err);
    if (letter == 'n')
        return say_no(chat, id, err);
    if (asking != ASK_AGAIN && letter == 'e')
        return change(chat, item, id, err);
    if (asking == ASK_CALL && (letter == 'r' || letter == 'a')) {
        decide.scope = letter == 'r' ? "run" : "always";
        return send(chat, id, &decide, err);
    }
    explain(asking);
    return 2;
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

    printf("It waits for you:  dormouse %s %.*s%s\n", question ? "answer" : "approve",
           STR_ARG(str_take(member(item, "id"), 8)), question ? " TEXT" : "");
    if (!chat->stream)
        return 0;
    chat->exit_code = CLI_WAITING;
    chat->leave = chat->over = true;
    return 0;
}

static int ask_approval(struct chat *chat, struct json_object *item, struct err *err)
{
    static const char *const prompts[] = {
        [ASK_CALL] = CHOICES, [ASK_AGAIN] = AGAIN, [ASK_MEMORY] = KEEP
    };
    enum asking asking = str_is(member(item, "kind"), "unknown_effect") ? ASK_AGAIN
                         : str_is(member(item, "kind"), "memory")       ? ASK_MEMORY
                                                                        : ASK_CALL;
    const char *prompt = prompts[asking];

    for (;;) {
        struct str text = STR_NONE;
        enum chat_read got;
        int r;

        if (!chat_line_is_terminal(chat->line))
            printf("%s\n", prompt);
        fflush(stdout);
        got = chat_line_read(chat->line, prompt, &text);
        if (got == CHAT_EOF)
            return left(chat, item);
        if (got == CHAT_INTERRUPTED)
            return give_up(chat, err);
        text = str_trim(text);
        if (!text.n)
            continue;
        r = act_on(chat, item, asking, decide_letter(text), err);
        if (r != 2)
            return r;
    }
}

/* ---- a question ---- */

/* A choice's number stands for it. */
static struct str chosen(struct json_object *choices, struct str text)
{
    int64_t n = 0;

    if (choices && str_to_i64(text, &n) == 0 && n >= 1 && (size_t)n <= json_length(choices))
        return json_str(json_object_array_get_idx(choices, (size_t)n - 1));
    return text;
}

static int ask_question(struct chat *chat, struct json_object *item, struct err *err)
{
    struct json_object *choices = NULL;
    struct str id = member(item, "id"), text = STR_NONE;
    struct decide decide = { .decision = "answer" };
    char *answer;
    int r;

    json_get_array(json_find(item, "body"), "choices", &choices, NULL);
    show_choices(&chat->show, json_find(item, "body"), 0);
    fflush(stdout);
    do {
        enum chat_read got = chat_line_read(chat->line, "answer: ", &text);

        if (got == CHAT_EOF)
            return left(chat, item);
        if (got == CHAT_INTERRUPTED)
            return give_up(chat, err);
        text = chosen(choices, str_trim(text));
    } while (!text.n);
    answer = alloc_copy(text.p, text.n);
    decide.answer = answer;
    r = send(chat, id, &decide, err);
    free(answer);
    return r;
}

/* ---- items ---- */

static int get_item(struct chat *chat, struct str id, struct json_object **ret_item,
                    struct err *err)
{
    AUTO_BUF path = BUF_INIT(4096);
    char *copy = alloc_copy(id.p, id.n);

    buf_add_text(&path, "/api/v1/inbox/");
    decide_add_segment(&path, copy);
    free(copy);
    if (path.full)
        return err_set(err, ERR_BAD_REQUEST, "the id is too long");
    return talk_ask(chat->talk, "GET", buf_text(&path), STR_NONE, ret_item, err);
}

static int ask(struct chat *chat, struct json_object *item, struct err *err)
{
    if (str_is(member(item, "kind"), "question"))
        return ask_question(chat, item, err);
    return ask_approval(chat, item, err);
}

int chat_ask_item(struct chat *chat, struct str id, struct err *err)
{
    AUTO_JSON item = NULL;

    if (get_item(chat, id, &item, err) < 0)
        return -1;
    if (!str_is(member(item, "state"), "pending"))
        return 1;
    return ask(chat, item, err);
}

static void show_title(struct json_object *item)
{
    struct str asked = member(json_find(item, "body"), "question");
    struct str title = asked.n ? asked : member(item, "title");
    char *copy = alloc_copy(title.p ? title.p : "", title.n);

    printf("%s? ", term_style(stdout, TERM_YELLOW));
    term_text(stdout, copy);
    printf("%s\n", term_style(stdout, TERM_PLAIN));
    free(copy);
}

int chat_decide_item(struct chat *chat, struct str id, struct err *err)
{
    AUTO_JSON item = NULL;

    if (get_item(chat, id, &item, err) < 0)
        return -1;
    show_title(item);
    if (json_find(item, "details") && str_is(member(item, "kind"), "memory"))
        show_memory(&chat->show, json_find(item, "details"), 0);
    else
        show_preview(&chat->show, member(item, "previewKind"), member(item, "preview"), 0);
    if (str_is(member(item, "state"), "pending"))
        return ask(chat, item, err) < 0 ? -1 : 0;
    printf("It is %.*s already.\n", STR_ARG(str_take(member(item, "state"), 20)));
    return 0;
}
