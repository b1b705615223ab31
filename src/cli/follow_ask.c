/* Asking the person at the terminal about what a run waits for.
 *
 * The question is one line; what is typed comes as whole lines, while events may go on above it.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/limits.h"
#include "cli/ask.h"
#include "cli/cli_int.h"
#include "cli/decide.h"
#include "cli/follow.h"
#include "cli/term.h"

/* ---- what waits ---- */

void follow_note_waiting(struct follow *f, struct json_object *event)
{
    struct follow_item *item = NEW(struct follow_item), **last = &f->items;

    snprintf(item->id, sizeof(item->id), "%.*s", STR_ARG(json_str(json_find(event, "itemId"))));
    snprintf(item->kind, sizeof(item->kind), "%.*s", STR_ARG(json_str(json_find(event, "kind"))));
    while (*last)
        last = &(*last)->next;
    *last = item;
}

static void drop_first(struct follow *f)
{
    struct follow_item *item = f->items;

    ask_release(&f->ask);
    f->items = item->next;
    free(item);
}

void follow_items_release(struct follow *f)
{
    while (f->items)
        drop_first(f);
}

/* ---- the question ---- */

static int64_t ask_now(void)
{
    return clock_mono_ms(clock_system());
}

/* The item as it is now; decided elsewhere or gone, there is nothing to ask. */
static void ask_show(struct follow *f)
{
    AUTO_JSON item = NULL;
    struct err err = ERR_INIT;

    f->side_used_ms = ask_now();
    if (decide_get_item(f->side, str_from(f->items->id), &item, &err) < 0) {
        cli_fail(f->args, &err);
        drop_first(f);
        return;
    }
    if (!str_is(json_str(json_find(item, "state")), "pending")) {
        drop_first(f);
        return;
    }
    show_release(&f->show);
    ask_begin(&f->ask, stdout, TAKE(item), f->stream.keep ? 1u << ASK_EDIT : 0);
    f->prompt_at = ask_now() + TERM_ARM_MS;
}

int follow_ask_in(const struct follow *f)
{
    int64_t left = f->prompt_at - ask_now();

    if (!f->items || f->asked || f->cancelled)
        return -1;
    return left > 0 ? (int)left : 0;
}

bool follow_is_lost(const struct follow *f)
{
    return f->ask.item && ask_is_lost(&f->ask);
}

/* Not while it still rests: a window that is drawn wider changes many times a second. */
static void ask_draw_lost(struct follow *f)
{
    if (!follow_is_lost(f) || (!f->asked && ask_now() < f->prompt_at))
        return;
    follow_unask(f);
    ask_draw(&f->ask);
    f->prompt_at = ask_now() + TERM_ARM_MS;
}

void follow_ask(struct follow *f)
{
    AUTO_BUF prompt = BUF_INIT(4 * KIB);

    ask_draw_lost(f);
    if (f->asked || !f->items)
        return;
    if (!f->ask.item)
        ask_show(f);
    if (!f->items || !f->ask.item || (!ask_is_paging(&f->ask) && ask_now() < f->prompt_at))
        return;
    show_release(&f->show);
    /* What was typed until now answered something else. */
    term_forget_typed();
    buf_clear(&f->typed);
    ask_prompt(&f->ask, &prompt);
    printf("%s%s%s", term_style(stdout, TERM_BOLD), buf_text(&prompt),
           term_style(stdout, TERM_PLAIN));
    fflush(stdout);
    f->asked = true;
}

void follow_unask(struct follow *f)
{
    if (!f->asked)
        return;
    fputc('\n', stdout);
    f->asked = false;
    f->prompt_at = ask_now() + TERM_ARM_MS;
}

/* ---- the answer ---- */

/* Returns why it was not taken. */
static enum err_code send_decision(struct follow *f, const struct decide *decide)
{
    AUTO_JSON answer = NULL;
    struct err err = ERR_INIT;

    f->side_used_ms = ask_now();
    if (decide_send(f->side, f->items->id, decide, &answer, &err) == 0) {
        drop_first(f);
        return ERR_NONE;
    }
    fflush(stdout);
    cli_fail(f->args, &err);
    /* Decided elsewhere, or too late: the run goes on without us. What was wrong in the arguments
     * is asked again. */
    if (err.code == ERR_CONFLICT || err.code == ERR_EXPIRED || err.code == ERR_NOT_FOUND ||
        err.code == ERR_WITHDRAWN)
        drop_first(f);
    return err.code;
}

static void edit(struct follow *f, struct decide *decide)
{
    struct decide_edited edited = DECIDE_EDITED_INIT;
    struct err err = ERR_INIT;
    int r = ask_take_edited(&f->ask, decide, &edited)
                ? 1
                : decide_edit_item(f->ask.item, &edited, &err);

    if (r < 0)
        cli_fail(f->args, &err);
    else if (r == 0)
        puts("Nothing was changed.");
    else {
        decide->input = edited.input;
        decide->content = edited.is_text ? &edited.content : NULL;
        if (send_decision(f, decide) == ERR_CONFIRMATION_REQUIRED)
            ask_edit_refused(&f->ask, &edited);
    }
    decide_edited_release(&edited);
}

static void take_line(struct follow *f, struct str line)
{
    struct decide decide;

    if (!f->items || !f->ask.item)
        return;
    f->asked = false;
    f->prompt_at = ask_now() + TERM_ARM_MS;
    switch (ask_take(&f->ask, line, &decide)) {
    case ASK_DECIDED:
        send_decision(f, &decide);
        break;
    case ASK_EDITING:
        edit(f, &decide);
        break;
    case ASK_AGAIN:
        break;
    }
}

int follow_typed(struct follow *f)
{
    char *room = buf_reserve(&f->typed, 4096);
    struct str all;
    ptrdiff_t end;
    ssize_t n;

    if (!room) {
        buf_clear(&f->typed);
        f->typed.full = false;
        return 0;
    }
    n = read(STDIN_FILENO, room, 4096);
    if (n < 0)
        return errno == EINTR || errno == EAGAIN ? 0 : -1;
    if (n == 0) {
        follow_unask(f);
        return -1;
    }
    buf_grown(&f->typed, (size_t)n);
    all = buf_str(&f->typed);
    end = str_find_char(all, '\n');
    if (end < 0)
        return 0;
    /* One answer for one question: lines behind it were typed before the next one was shown. */
    take_line(f, str_take(all, (size_t)end));
    buf_clear(&f->typed);
    return 0;
}
