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
#include <strings.h>
#include <unistd.h>

#include "base/json.h"
#include "base/limits.h"
#include "cli/cli_int.h"
#include "cli/decide.h"
#include "cli/follow.h"
#include "cli/term.h"

/* ---- what waits ---- */

void follow_note_gate(struct follow *f, struct json_object *event)
{
    char id[RUN_ID_SIZE];
    struct str gate = json_str(json_find(event, "gateId"));

    snprintf(id, sizeof(id), "%.*s",
             STR_ARG(gate.n ? gate : json_str(json_find(event, "request_id"))));
    json_object_object_add(f->gates, id, json_object_get(event));
}

void follow_note_waiting(struct follow *f, struct json_object *event)
{
    struct follow_item *item = NEW(struct follow_item), **last = &f->items;
    struct str kind = json_str(json_find(event, "kind"));

    snprintf(item->id, sizeof(item->id), "%.*s", STR_ARG(json_str(json_find(event, "itemId"))));
    item->question = str_is(kind, "question");
    item->unknown = str_is(kind, "unknown_effect");
    item->memory = str_is(kind, "memory");
    item->gate = json_object_get(json_find(f->gates, item->id));
    while (*last)
        last = &(*last)->next;
    *last = item;
}

static void drop_first(struct follow *f)
{
    struct follow_item *item = f->items;

    f->items = item->next;
    json_object_put(item->gate);
    free(item);
}

void follow_items_release(struct follow *f)
{
    while (f->items)
        drop_first(f);
    json_object_put(f->gates);
    f->gates = NULL;
}

/* ---- the question ---- */

void follow_ask(struct follow *f)
{
    const struct follow_item *item = f->items;

    if (f->asked || !item)
        return;
    show_release(&f->show);
    if (item->question)
        fprintf(stdout, "%sYour answer:%s ", term_style(stdout, TERM_BOLD),
                term_style(stdout, TERM_PLAIN));
    else if (item->unknown)
        fprintf(stdout, "%sDo it again?%s [y/n] ", term_style(stdout, TERM_BOLD),
                term_style(stdout, TERM_PLAIN));
    else if (item->memory)
        fprintf(stdout, "%sKeep it?%s [a]pprove, [r]eject%s: ", term_style(stdout, TERM_BOLD),
                term_style(stdout, TERM_PLAIN), f->stream.keep ? "" : ", [e]dit");
    else
        fprintf(stdout, "%sAllow it?%s [a]pprove, [r]eject%s, for this [run], [always]: ",
                term_style(stdout, TERM_BOLD), term_style(stdout, TERM_PLAIN),
                f->stream.keep ? "" : ", [e]dit");
    fflush(stdout);
    f->asked = true;
}

void follow_unask(struct follow *f)
{
    if (!f->asked)
        return;
    fputc('\n', stdout);
    f->asked = false;
}

/* ---- the answer ---- */

static void say(const char *text)
{
    fprintf(stdout, "  %s%s%s\n", term_style(stdout, TERM_DIM), text,
            term_style(stdout, TERM_PLAIN));
}

static void send_decision(struct follow *f, const struct decide *decide)
{
    AUTO_JSON answer = NULL;
    struct err err = ERR_INIT;

    if (decide_send(f->side, f->items->id, decide, &answer, &err) == 0) {
        drop_first(f);
        return;
    }
    fflush(stdout);
    cli_fail(f->args, &err);
    /* Decided elsewhere, or too late: the run goes on without us. What was wrong in the arguments
     * is asked again. */
    if (err.code == ERR_CONFLICT || err.code == ERR_EXPIRED || err.code == ERR_NOT_FOUND ||
        err.code == ERR_WITHDRAWN)
        drop_first(f);
}

static void edit_memory(struct follow *f)
{
    AUTO_BUF text = BUF_INIT(LIMIT_HTTP_BODY_BYTES);
    struct err err = ERR_INIT;
    int r = decide_edit_text(json_str(json_find(f->items->gate, "proposed_content")), &text, &err);

    if (r < 0)
        cli_fail(f->args, &err);
    else if (r == 0)
        say("nothing was changed");
    else
        send_decision(f, &(struct decide){ .decision = "edit", .content = &text });
}

static void edit(struct follow *f)
{
    AUTO_JSON input = NULL;
    struct err err = ERR_INIT;
    int r;

    if (f->items->memory) {
        edit_memory(f);
        return;
    }
    r = decide_edit(json_find(f->items->gate, "input"), &input, &err);
    if (r < 0)
        cli_fail(f->args, &err);
    else if (r == 0)
        say("nothing was changed");
    else
        send_decision(f, &(struct decide){ .decision = "edit", .input = input });
}

struct verb {
    const char *word, *letter;
    struct decide decide;
};

static const struct verb gate_verbs[] = {
    { "approve", "a", { .decision = "approve" } },
    { "yes", "y", { .decision = "approve" } },
    { "reject", "r", { .decision = "reject" } },
    { "no", "n", { .decision = "reject" } },
    { "run", "run", { .decision = "approve", .scope = "run" } },
    { "always", "always", { .decision = "approve", .scope = "always" } },
};

static void help(const struct follow *f)
{
    say("a  approve this call");
    say("r  reject it; `r because ...` tells the agent why");
    if (!f->stream.keep)
        say("e  edit the arguments, then approve them");
    say("run     approve every call of this tool in this run");
    say("always  approve exactly this, for this agent, from now on");
    say("Ctrl-C  cancel the run; Ctrl-D  leave it waiting");
}

/* Only a no may be followed by words: "always ask me first" is no yes. */
static void take_verb(struct follow *f, char *line)
{
    char *rest = strchr(line, ' ');

    if (rest)
        *rest++ = '\0';
    if (!rest && !f->stream.keep && f->items->gate &&
        (strcasecmp(line, "e") == 0 || strcasecmp(line, "edit") == 0)) {
        edit(f);
        return;
    }
    for (size_t i = 0; i < ARRAY_LEN(gate_verbs); i++) {
        const struct verb *verb = &gate_verbs[i];
        struct decide decide = verb->decide;
        bool no = strcmp(decide.decision, "reject") == 0;

        if (strcasecmp(line, verb->word) != 0 && strcasecmp(line, verb->letter) != 0)
            continue;
        if (rest && !no)
            break;
        decide.reason = rest;
        send_decision(f, &decide);
        return;
    }
    help(f);
}

static void take_line(struct follow *f, char *line)
{
    f->asked = false;
    if (!f->items || !*line)
        return;
    if (f->items->question)
        send_decision(f, &(struct decide){ .decision = "answer", .answer = line });
    else
        take_verb(f, line);
}

int follow_typed(struct follow *f)
{
    char *room = buf_reserve(&f->typed, 4096);
    struct str all, line;
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
    while (all = buf_str(&f->typed), (end = str_find_char(all, '\n')) >= 0) {
        AUTO_TEXT copy = NULL;

        line = str_trim(str_take(all, (size_t)end));
        copy = alloc_copy(line.p, line.n);
        buf_consume(&f->typed, (size_t)end + 1);
        take_line(f, copy);
    }
    return 0;
}
