/* The events and attributes of the modes program, for its tables and their tests.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_BP_PROGRAMS_MODES_INT_H
#define DORMOUSE_BP_PROGRAMS_MODES_INT_H

enum {
    EV_NONE = 0,
    EV_SET_MODE,
    EV_THINK,
    EV_CALL,
    EV_THOUGHT,
    EV_ASK,
    EV_ANSWER,
    EV_ACT,
    EV_ACTED,
    EV_DENIED,
    EV_SETTLED,
    EV_OBSERVE,
    EV_DONE,
    EV_CANCEL,
    EV_COUNT
};

enum { COOK = 1, DANGEROUS = 2, ALLOWED = 4, MORE = 8 };

#endif
