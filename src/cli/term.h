/* What a terminal gets that a pipe does not: colours and a progress bar.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_CLI_TERM_H
#define DORMOUSE_CLI_TERM_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum term_style { TERM_PLAIN = 0, TERM_BOLD, TERM_DIM, TERM_RED, TERM_GREEN, TERM_YELLOW };

/* True when stream is a terminal that understands colours and NO_COLOR is not set. */
bool term_colours(FILE *stream);
/* The escape sequence that begins a style on this stream, "" where colours are off; TERM_PLAIN
 * ends every style. */
const char *term_style(FILE *stream, enum term_style style);

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
