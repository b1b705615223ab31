/* Colours and progress.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cli/term.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"

#define BAR_WIDTH  30
#define QUIET_MS   400 /* quicker work shows no bar */
#define BETWEEN_MS 80

bool term_colours(FILE *stream)
{
    const char *off = getenv("NO_COLOR"), *term = getenv("TERM");

    if (off && *off)
        return false;
    return isatty(fileno(stream)) && term && strcmp(term, "dumb") != 0;
}

const char *term_style(FILE *stream, enum term_style style)
{
    static const char *const codes[] = {
        [TERM_PLAIN] = "\033[0m", [TERM_BOLD] = "\033[1m",   [TERM_DIM] = "\033[2m",
        [TERM_RED] = "\033[31m",  [TERM_GREEN] = "\033[32m", [TERM_YELLOW] = "\033[33m",
    };

    return term_colours(stream) ? codes[style] : "";
}

void term_progress_init(struct term_progress *progress, const char *label, FILE *stream, bool force)
{
    *progress = (struct term_progress){ .label = label };
    progress->stream = force || isatty(fileno(stream)) ? stream : NULL;
    progress->started_ms = clock_mono_ms(clock_system()) - (force ? QUIET_MS : 0);
    progress->drawn_ms = progress->started_ms - BETWEEN_MS;
}

void term_progress_update(struct term_progress *progress, int64_t done, int64_t all)
{
    int64_t now = clock_mono_ms(clock_system());
    int filled, percent;

    if (!progress->stream || now - progress->started_ms < QUIET_MS)
        return;
    if (done < all && now - progress->drawn_ms < BETWEEN_MS)
        return;
    percent = all > 0 ? (int)(done * 100 / all) : 0;
    filled = percent * BAR_WIDTH / 100;
    fprintf(progress->stream, "\r%s [%.*s%.*s] %3d %%", progress->label, filled,
            "##############################", BAR_WIDTH - filled, "..............................",
            percent);
    fflush(progress->stream);
    progress->drawn_ms = now;
    progress->drawn = true;
}

void term_progress_end(struct term_progress *progress)
{
    if (!progress->drawn)
        return;
    fprintf(progress->stream, "\r%*s\r", (int)strlen(progress->label) + BAR_WIDTH + 10, "");
    fflush(progress->stream);
}
