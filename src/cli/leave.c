/* Leaving when a signal asks for it.
 *
 * The handler starts a timer of some seconds. Usually the program is gone before; where it waits
 * for something that does not come, the timer ends it.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cli/leave.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "cli/cli_int.h"

/* Long enough for a busy machine to hear of the cancelling. */
#define LEAVE_S 5

static volatile sig_atomic_t leave_how, leave_cancelled;
static void (*leave_wake)(void);

static void leave_on_timer(int number)
{
    (void)number;
    leave_say();
    _exit(CLI_FAILED);
}

static void leave_on_signal(int number)
{
    const struct itimerval timer = { .it_value.tv_sec = LEAVE_S };
    int kept = errno;

    if (leave_how == LEAVE_NOT)
        setitimer(ITIMER_REAL, &timer, NULL);
    leave_how = number == SIGHUP ? LEAVE_DETACH : LEAVE_CANCEL;
    leave_wake();
    errno = kept;
}

void leave_catch(void (*wake)(void))
{
    struct sigaction act = { .sa_handler = leave_on_signal };
    struct sigaction last = { .sa_handler = leave_on_timer };
    struct sigaction before;

    leave_wake = wake;
    sigaction(SIGALRM, &last, NULL);
    sigaction(SIGTERM, &act, NULL);
    if (sigaction(SIGHUP, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
        sigaction(SIGHUP, &act, NULL);
}

enum leave leave_asked(void)
{
    return (enum leave)leave_how;
}

void leave_note_cancelled(bool cancelled)
{
    leave_cancelled = cancelled;
}

void leave_say(void)
{
    static const char *const words[] = {
        "dormouse: left. A run that had begun goes on; `dormouse runs` lists it.\n",
        "dormouse: the run was cancelled.\n",
    };
    const char *text = words[leave_cancelled != 0];
    ssize_t n = write(STDERR_FILENO, text, strlen(text));

    (void)n; /* the terminal may be gone */
}
