/* The events and attributes of the approval program, for its tables and their tests.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_BP_PROGRAMS_APPROVAL_INT_H
#define DORMOUSE_BP_PROGRAMS_APPROVAL_INT_H

enum {
    EV_NONE = 0,
    EV_PROMPT,
    EV_THINK,
    EV_CALL,
    EV_THOUGHT,
    EV_ASK,
    EV_ANSWER,
    EV_EDIT,
    EV_ACT,
    EV_ACTED,
    EV_DENIED,
    EV_SETTLED,
    EV_OBSERVE,
    EV_GIVE_UP,
    EV_DONE,
    EV_CANCEL,
    EV_KILL,
    EV_COUNT
};

enum { RISKY = 1, DANGEROUS = 2, ALLOWED = 4, MORE = 8 };
enum { LIMIT_ROUNDS = 0 };

#endif
