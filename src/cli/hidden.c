/* See hidden.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cli/hidden.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "base/alloc.h"

static struct termios with_echo;

static void give_echo_back(int number)
{
    tcsetattr(STDIN_FILENO, TCSANOW, &with_echo);
    signal(number, SIG_DFL);
    raise(number);
}

/* Until the end, or the end of the line on a terminal. One byte more than allowed is kept, so that
 * the store can say what is wrong. */
static int read_value(bool line, struct buf *out, struct err *err)
{
    char *end = buf_reserve(out, SECRET_VALUE_MAX + 3);
    size_t n = 0, room = SECRET_VALUE_MAX + 3;
    ssize_t r = 1;

    while (n < room && r > 0 && !(line && n > 0 && end[n - 1] == '\n')) {
        r = read(STDIN_FILENO, end + n, room - n);
        if (r < 0 && errno == EINTR)
            r = 1;
        else if (r > 0)
            n += (size_t)r;
    }
    if (r < 0)
        return err_set(err, ERR_BAD_REQUEST, "read the value: %s", strerror(errno));
    if (n > 0 && end[n - 1] == '\n')
        n--;
    if (n > 0 && end[n - 1] == '\r')
        n--;
    buf_grown(out, n);
    return 0;
}

static int read_hidden(const char *prompt, struct buf *out, struct err *err)
{
    static const int numbers[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
    struct termios hidden;
    int r;

    if (tcgetattr(STDIN_FILENO, &with_echo) < 0)
        return err_set(err, ERR_INTERNAL, "the terminal: %s", strerror(errno));
    for (size_t i = 0; i < ARRAY_LEN(numbers); i++)
        signal(numbers[i], give_echo_back);
    hidden = with_echo;
    hidden.c_lflag &= ~(tcflag_t)(ECHO | ECHONL);
    /* Echo goes first: what is typed before the prompt appears must not show either. */
    tcsetattr(STDIN_FILENO, TCSAFLUSH, &hidden);
    fprintf(stderr, "%s (not shown): ", prompt);
    fflush(stderr);
    r = read_value(true, out, err);
    tcsetattr(STDIN_FILENO, TCSANOW, &with_echo);
    fputc('\n', stderr);
    return r;
}

int hidden_read(const char *prompt, struct buf *out, struct err *err)
{
    return isatty(STDIN_FILENO) ? read_hidden(prompt, out, err) : read_value(false, out, err);
}
