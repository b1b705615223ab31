/* Following a run to its end, or until it waits for a person who is not here.
 *
 * On a terminal the person is asked at once; elsewhere the command ends with 3 and says how to
 * decide. Ctrl-C and SIGTERM cancel the run, SIGHUP leaves it (cli/leave.h). A daemon that goes
 * away is found again (a keeper is started), and the stream goes on after the last event that was
 * seen.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_CLI_FOLLOW_H
#define DORMOUSE_CLI_FOLLOW_H

#include "cli/ask.h"
#include "cli/command.h"
#include "cli/run_stream.h"
#include "cli/show.h"
#include "cli/talk.h"

/* What the run waits for and nobody has decided here yet. */
struct follow_item {
    struct follow_item *next;
    char id[RUN_ID_SIZE];
    char kind[32];
};

struct follow {
    const struct cli_args *args;
    struct run_stream stream;
    struct talk *side; /* requests while the stream goes on */
    struct show show;
    bool person; /* somebody is at the terminal */
    bool cancelled, asked, over;
    enum err_code error; /* of the last error event that ended it */
    struct follow_item *items;
    struct ask ask;    /* about the first of them; .item NULL: it was not shown yet */
    int64_t prompt_at; /* when it may be answered */
    struct buf typed;
    int64_t side_used_ms;
    int exit_code;
};

/* Connects twice. */
int follow_open(struct follow *f, const struct cli_args *args, struct err *err);
void follow_release(struct follow *f);
/* Sends the request that begins the run and follows it. Returns the exit code; errors are told. */
int follow_run(struct follow *f, const char *path, struct str body);

/* Ctrl-C from now on: counts, and a descriptor that becomes readable. A second one ends the program
 * at once, with a word. */
int follow_catch_interrupts(void);
int follow_interrupts(void);
/* What the first one asked for failed, and was said: the next one is a first one. */
void follow_forget_interrupts(void);

/* ---- follow_ask.c ---- */

/* Shows the oldest item, and a moment later the question about it, when none is shown. */
void follow_ask(struct follow *f);
/* A question is on the screen no more, as after Ctrl-Z and fg: follow_ask() draws it again, and
 * nothing that is typed before answers it. */
bool follow_is_lost(const struct follow *f);
/* How long until the question is due, for poll(2); -1: there is none to wait for. */
int follow_ask_in(const struct follow *f);
/* Takes back a question that is on the screen: something else is to be shown. */
void follow_unask(struct follow *f);
/* Reads what was typed and acts on it. -1: the person has gone (end of input). */
int follow_typed(struct follow *f);
void follow_note_waiting(struct follow *f, struct json_object *event);
void follow_items_release(struct follow *f);

#endif
