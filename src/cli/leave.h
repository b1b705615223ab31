/* The signals that ask a front end to go while a run is under way.
 *
 * SIGTERM (`timeout`, a service manager) cancels the run; SIGHUP (the terminal was closed) leaves
 * it going on. Either way the front end says which on standard error and is gone within five
 * seconds, also when the daemon does not answer.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_CLI_LEAVE_H
#define DORMOUSE_CLI_LEAVE_H

#include <stdbool.h>

enum leave { LEAVE_NOT = 0, LEAVE_CANCEL, LEAVE_DETACH };

/* Catches both from now on; a SIGHUP that was ignored (nohup) stays ignored. wake() is called in
 * the signal's handler: it interrupts what the program waits in. */
void leave_catch(void (*wake)(void));
enum leave leave_asked(void);
/* The daemon has taken the cancellation, or another run has begun: for the last words. */
void leave_note_cancelled(bool cancelled);
/* The last words: what became of the run. Only in a handler or before the end. */
void leave_say(void);

#endif
