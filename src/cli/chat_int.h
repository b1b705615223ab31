/* Shared by the files of `dormouse chat`.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_CLI_CHAT_INT_H
#define DORMOUSE_CLI_CHAT_INT_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "base/uuid.h"
#include "cli/markdown.h"
#include "cli/show.h"
#include "cli/talk.h"

struct ask;
struct json_object;

/* Ctrl-C since it was last looked at. */
extern volatile sig_atomic_t chat_interrupted;

/* ---- chat_history.c: DATA/chat_history ---- */

#define CHAT_HISTORY_LINES 1000

/* Calls fn for every entry kept, oldest first. A file that is not there is an empty history. */
void chat_history_each(const char *data_dir, void (*fn)(void *arg, const char *entry), void *arg);
/* Would it be kept? Not what looks like a secret, nor what begins with a space. */
bool chat_history_wants(struct str entry);
/* Adds an entry; several lines are one. Silently does nothing when it can't be written. */
void chat_history_add(const char *data_dir, struct str entry);

/* ---- chat_line.c: reading lines ---- */

struct chat_line;
/* Adds words that the text before the cursor may go on with; called once for each. */
typedef void chat_offer_fn(void *to, const char *word);
typedef void chat_complete_fn(void *arg, struct str before, chat_offer_fn *offer, void *to);

/* With a line editor on a terminal, plain lines otherwise. */
struct chat_line *chat_line_new(const char *data_dir, chat_complete_fn *complete, void *arg);
void chat_line_free(struct chat_line *line);
bool chat_line_is_terminal(const struct chat_line *line);
enum chat_read { CHAT_EOF = 0, CHAT_LINE, CHAT_INTERRUPTED, CHAT_LOST };
/* One line without its newline, valid until the next call. history: it is kept. */
enum chat_read chat_line_read(struct chat_line *line, const char *prompt, struct str *ret_text);
/* The answer to a question; CHAT_LOST: the question is on the screen no more (ask_is_lost()), and
 * what was typed is forgotten. */
enum chat_read chat_line_answer(struct chat_line *line, const struct ask *ask, const char *prompt,
                                struct str *ret_text);
/* A question was just shown: waits a moment, then forgets what was typed before it could be read.
 * Without a terminal there is nothing to forget: lines were written for the questions they answer.
 * False: Ctrl-C. */
bool chat_line_arm(struct chat_line *line);
/* While a line is edited: something to hear beside the keys. fd: of what is to be heard, or -1;
 * hear: it may be there; true when it wrote to the screen. */
struct chat_ear {
    int (*fd)(void *arg);
    bool (*hear)(void *arg);
    void *arg;
};
void chat_line_listen(struct chat_line *line, const struct chat_ear *ear);
/* A run is under way: the second Ctrl-C leaves at once, with a word. Counts from none. */
void chat_line_count_breaks(bool running);
/* What Up brings back, now and next time. */
void chat_line_keep(struct chat_line *line, struct str entry);

/* ---- the conversation ---- */

struct chat {
    const struct cli_args *args;
    struct talk *talk, *stream; /* questions and orders; the run under way */
    struct talk *heard;         /* what happens elsewhere; NULL: nothing is heard */
    struct chat_line *line;
    struct markdown *markdown;
    struct show show;
    struct uuid_source ids;
    char *agent, *thread, *session, *model, *mode; /* NULL: the default, or not known yet */
    char run_id[80];
    int64_t text_seq, text_shown; /* what of a streamed text is on the screen */
    int64_t last_seq;
    bool leave, over; /* the program; the run */
    bool cancelled;
    int exit_code;
};

/* The run's events until it is over. */
int chat_follow(struct chat *chat, struct err *err);
/* A message; the answer is shown as it comes. */
int chat_say(struct chat *chat, struct str prompt, struct err *err);
int chat_cancel(struct chat *chat, struct err *err);
void chat_set(char **slot, struct str value);
void chat_say_error(struct chat *chat, const struct err *err);
/* Markdown of a text that is complete. */
void chat_show_text(struct chat *chat, struct str text);

/* ---- chat_hear.c: what is said while a line is typed ---- */

/* Silently does nothing when it can't. */
void chat_hear_start(struct chat *chat);
void chat_hear_stop(struct chat *chat);
int chat_hear_fd(struct chat *chat);
/* Shows what there is. True: something was shown. */
bool chat_hear(struct chat *chat);

/* ---- chat_ask.c: what waits for a person ---- */

/* Asks about an item of the run that is followed, unless somebody has decided it: a run that is
 * followed anew tells of those too. 1 decided, 0 left for later. */
int chat_ask_item(struct chat *chat, struct str id, struct err *err);
/* Shows an item of any run whole, and asks about it when it still waits. */
int chat_decide_item(struct chat *chat, struct str id, struct err *err);

/* ---- chat_commands.c ---- */

/* A line that begins with '/'. */
void chat_command(struct chat *chat, struct str line);
void chat_complete(void *chat, struct str before, chat_offer_fn *offer, void *to);
/* Goes on in a thread: shows its end, and asks what waits there. id empty: the newest. */
int chat_resume(struct chat *chat, struct str id, struct err *err);

#endif
