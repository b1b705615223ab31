/* What a terminal gets that a pipe does not: colours and a progress bar.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_CLI_TERM_H
#define DORMOUSE_CLI_TERM_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/buf.h"

enum term_style {
    TERM_PLAIN = 0,
    TERM_BOLD,
    TERM_DIM,
    TERM_RED,
    TERM_GREEN,
    TERM_YELLOW,
    TERM_MARK_YELLOW,
    TERM_MARK_RED
};

/* True when stream is a terminal that understands colours and NO_COLOR is not set. */
bool term_colours(FILE *stream);
/* The escape sequence that begins a style on this stream, "" where colours are off; TERM_PLAIN
 * ends every style. */
const char *term_style(FILE *stream, enum term_style style);

/* Lets wcwidth() know characters; a terminal that says nothing speaks UTF-8 today. */
void term_use_utf8(void);
/* Forgets what was typed so far: it was not meant for what is asked next. Nothing happens unless
 * standard input is a terminal. */
void term_forget_typed(void);
/* A question was just shown: waits a moment, then forgets what was typed before it could be read.
 */
void term_arm(void);
#define TERM_ARM_MS 500 /* a question stands that long before it can be answered */
/* From now on it is noticed when the program goes on after it was stopped (Ctrl-Z and fg) and when
 * the window has another size: either interrupts what reads, and calls wake from the signal's
 * handler (may be NULL). */
void term_watch(void (*wake)(void));
/* How often it went on since then. */
int term_continues(void);
/* Rows of the terminal behind stream; 0: it is none. */
int term_height(FILE *stream);
/* Columns of the terminal behind stream; 0: it is none, lines may have any length. */
int term_width(FILE *stream);
/* Whether a character shows as what it is: it neither steers the terminal nor turns text around nor
 * hides. */
bool term_may_show(uint32_t code);
/* Prints text that may come from anywhere (a file in somebody's directory, a server's answer):
 * characters that may not be shown, other than newline and tab, appear as \x1b or \u{202e}. */
void term_text(FILE *stream, const char *text);
/* Appends text broken at spaces to fit width columns (0: unbroken); every line after the first is
 * indented. at: the column where it begins. Ends with a newline. */
void term_wrap(struct buf *out, struct str text, int indent, int at, int width);

/* Says on a terminal what is being looked at, until it is called with NULL. */
void term_note(FILE *stream, const char *what);

/* A bar on stderr, for what may take over a second. Shows nothing for the first moments and
 * nothing at all when stderr is not a terminal. */
struct term_progress {
    const char *label;
    FILE *stream; /* NULL: no bar */
    int64_t started_ms;
    int64_t drawn_ms;
    bool drawn;
};
/* force: draw at once and on any stream, for tests. */
void term_progress_init(struct term_progress *progress, const char *label, FILE *stream,
                        bool force);
void term_progress_update(struct term_progress *progress, int64_t done, int64_t all);
/* Clears the bar's line. */
void term_progress_end(struct term_progress *progress);

#endif
