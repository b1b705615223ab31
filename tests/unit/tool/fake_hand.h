/* A hand for tests: remembers what it was asked and answers what the test says, when the test says
 * so. Takes the place of sandbox/hand.c in the suite that links it.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_TESTS_TOOL_FAKE_HAND_H
#define DORMOUSE_TESTS_TOOL_FAKE_HAND_H

#include "sandbox/hand.h"

/* The call that waits for its answer, oldest first; NULL: there is none. */
struct hand_job *fake_hand_waiting(struct hand *hand);
const char *fake_hand_operation(const struct hand_job *job);
const char *fake_hand_arguments(const struct hand_job *job);
bool fake_hand_cancelled(const struct hand_job *job);
/* Answers the oldest one; the hand's done runs inside, as in a tick. */
void fake_hand_answer(struct hand *hand, const char *result);
void fake_hand_fail(struct hand *hand, enum err_code code, const char *message);
/* Whether hand_cancel() is followed by done(cancelled) by itself (it is, unless this says no). */
void fake_hand_stubborn(struct hand *hand, bool stubborn);
void fake_hand_set_state(struct hand *hand, const char *json);
void fake_hand_notice(struct hand *hand, const char *kind, const char *detail);
unsigned fake_hands_alive(void);

#endif
