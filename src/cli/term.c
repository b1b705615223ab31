/* Colours and progress.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cli/term.h"

#include <errno.h>
#include <locale.h>
#include <signal.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/utf8.h"

#define BAR_WIDTH  30
#define QUIET_MS   400 /* quicker work shows no bar */
#define BETWEEN_MS 80
#define SHORTEST   6
#define USUAL_ROWS 24 /* of a terminal that does not say */
#define NARROWEST  20 /* what is narrower gets long lines */

#define ZERO_NON_JOIN 0x200Cu /* needed to write Persian */
#define ZERO_JOIN     0x200Du /* ... and families of emoji */
#define EMOJI_STYLE   0xFE0Fu

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
        [TERM_PLAIN] = "\033[0m",
        [TERM_BOLD] = "\033[1m",
        [TERM_DIM] = "\033[2m",
        [TERM_RED] = "\033[31m",
        [TERM_GREEN] = "\033[32m",
        [TERM_YELLOW] = "\033[33m",
        [TERM_MARK_YELLOW] = "\033[7;33m",
        [TERM_MARK_RED] = "\033[1;7;31m",
    };

    return term_colours(stream) ? codes[style] : "";
}

void term_use_utf8(void)
{
    if (MB_CUR_MAX == 1 && (!setlocale(LC_CTYPE, "") || MB_CUR_MAX == 1))
        setlocale(LC_CTYPE, "C.UTF-8");
}

void term_forget_typed(void)
{
    if (!isatty(STDIN_FILENO))
        return;
    tcflush(STDIN_FILENO, TCIFLUSH);
    __fpurge(stdin); /* the rest of a line that was read before the question was lost */
}

void term_arm(void)
{
    struct timespec moment = { .tv_nsec = TERM_ARM_MS * 1000000L };

    fflush(stdout);
    if (!isatty(STDIN_FILENO))
        return;
    while (nanosleep(&moment, &moment) < 0 && errno == EINTR)
        continue;
    term_forget_typed();
}

static volatile sig_atomic_t term_continued;
static void (*term_wake)(void);

static void term_on_signal(int number)
{
    int kept = errno;

    term_continued += number == SIGCONT;
    if (term_wake)
        term_wake();
    errno = kept;
}

void term_watch(void (*wake)(void))
{
    struct sigaction act = { .sa_handler = term_on_signal };

    term_wake = wake;
    sigaction(SIGCONT, &act, NULL);
    sigaction(SIGWINCH, &act, NULL);
}

int term_continues(void)
{
    return term_continued;
}

int term_height(FILE *stream)
{
    struct winsize size;

    if (!isatty(fileno(stream)) || ioctl(fileno(stream), TIOCGWINSZ, &size) < 0)
        return 0;
    if (size.ws_row == 0)
        return USUAL_ROWS;
    return size.ws_row >= SHORTEST ? size.ws_row : SHORTEST;
}

int term_width(FILE *stream)
{
    struct winsize size;

    if (!isatty(fileno(stream)) || ioctl(fileno(stream), TIOCGWINSZ, &size) < 0)
        return 0;
    return size.ws_col >= NARROWEST ? size.ws_col : 0;
}

bool term_may_show(uint32_t code)
{
    switch (utf8_oddity_of(code)) {
    case UTF8_PLAIN:
    case UTF8_ODD_SPACE:
        return true;
    case UTF8_HIDDEN:
        return code == ZERO_NON_JOIN || code == ZERO_JOIN || code == EMOJI_STYLE || code == 0xADu;
    case UTF8_INVALID:
    case UTF8_CONTROL:
    case UTF8_BIDI:
    case UTF8_PRIVATE:
        break;
    }
    return false;
}

void term_text(FILE *stream, const char *text)
{
    struct str rest = str_from(text);

    while (rest.n) {
        struct str before = rest;
        uint32_t code;

        if (utf8_decode(&rest, &code) < 0)
            for (size_t i = 0; i < before.n - rest.n; i++)
                fprintf(stream, "\\x%02x", (unsigned)(unsigned char)before.p[i]);
        else if (code == '\n' || code == '\t' || term_may_show(code))
            fwrite(before.p, 1, before.n - rest.n, stream);
        else
            fprintf(stream, code < 0x100 ? "\\x%02x" : "\\u{%x}", (unsigned)code);
    }
}

void term_wrap(struct buf *out, struct str text, int indent, int at, int width)
{
    struct str word, rest = text;
    bool first = true;

    while (str_split(&rest, ' ', &word)) {
        if (word.n == 0)
            continue;
        if (!first && width && at + 1 + (int)utf8_count(word) > width) {
            buf_printf(out, "\n%*s", indent, "");
            at = indent;
        } else if (!first) {
            buf_add_char(out, ' ');
            at++;
        }
        buf_add_str(out, word);
        at += (int)utf8_count(word);
        first = false;
    }
    buf_add_char(out, '\n');
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

void term_note(FILE *stream, const char *what)
{
    static int drawn;

    if (!isatty(fileno(stream)))
        return;
    if (what)
        drawn = fprintf(stream, "%s ...", what);
    else
        fprintf(stream, "\r%*s\r", drawn, "");
    fflush(stream);
}
