/* The tables of the run's program, between the files that write them: sets of types, rules
 * (guards.c), what must never happen (properties.c); program.c lists them all.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_RUN_PROGRAM_INT_H
#define DORMOUSE_RUN_PROGRAM_INT_H

#include "run/program.h"

#define T(name) BP_TYPE(RUN_EV_##name)

#define ANYTHING (BP_TYPE(RUN_EV_COUNT) - 2)
/* What begins something outside. */
#define ASKS   (T(THINK) | T(CHECK))
#define STARTS (ASKS | T(ACT))
/* What says how a call is judged. */
#define JUDGES (T(CALL) | T(EDIT) | T(JUDGED))
#define ANEW   (T(EDIT) | T(JUDGED))
/* What makes no sense any more in a run that is to end. */
#define ENDED (STARTS | T(CALL) | T(GIVE_UP) | T(SPENT) | T(SET_MODE) | T(RESUME))
#define STOPS (T(CANCEL) | T(GIVE_UP))
/* What goes on only when no call is open: joining needs no counter. */
#define GOES_ON (ASKS | T(OBSERVE) | T(DONE))
/* Both must hold of an act that needs a yes and does without. */
#define WAIVED        (RUN_WIGGUM | RUN_WAIVABLE)
#define GIVES_UP(why) BP_ON(RUN_EV_GIVE_UP, .has = (why))

#define RUN_GUARDS(X)                                                                              \
    X(starts_once, 2)                                                                              \
    X(never_acts, 1)                                                                               \
    X(never_refused, 1)                                                                            \
    X(never_class_killed, 1)                                                                       \
    X(refuses, 1)                                                                                  \
    X(ask_first, 4)                                                                                \
    X(answers_are_asked, 2)                                                                        \
    X(a_no_stays_no, 2)                                                                            \
    X(serial, 3)                                                                                   \
    X(tool_limit, 2)                                                                               \
    X(over_tool_limit, 3)                                                                          \
    X(iteration_limit, 3)                                                                          \
    X(spent, 3)                                                                                    \
    X(killed, 2)                                                                                   \
    X(kill_ends, 2)                                                                                \
    X(gate_outlives_kill, 1)                                                                       \
    X(question_outlives_kill, 2)                                                                   \
    X(unknown_outlives_kill, 1)                                                                    \
    X(cancelled, 2)                                                                                \
    X(given_up, 2)                                                                                 \
    X(one_request, 2)                                                                              \
    X(replies_are_asked, 3)                                                                        \
    X(rest, 2)                                                                                     \
    X(nothing_after_done, 2)

#define RUN_PROPERTIES(X)                                                                          \
    X(begins_with_start, 3)                                                                        \
    X(never_dangerous, 2)                                                                          \
    X(refused_never_acts, 2)                                                                       \
    X(class_kill_holds, 2)                                                                         \
    X(denied_never_acts, 3)                                                                        \
    X(risky_needs_yes, 4)                                                                          \
    X(waived_only_as_agreed, 2)                                                                    \
    X(no_means_no, 3)                                                                              \
    X(answer_needs_question, 3)                                                                    \
    X(mode_is_the_persons, 4)                                                                      \
    X(one_act_a_call, 3)                                                                           \
    X(one_completion_an_act, 3)                                                                    \
    X(unknown_waits, 4)                                                                            \
    X(serial_acts_alone, 2)                                                                        \
    X(serial_waits_its_turn, 2)                                                                    \
    X(calls_are_joined, 2)                                                                         \
    X(tool_calls_are_limited, 3)                                                                   \
    X(iterations_are_limited, 3)                                                                   \
    X(spent_stops, 3)                                                                              \
    X(kill_stops, 3)                                                                               \
    X(kill_takes_no_yes, 3)                                                                        \
    X(kill_leaves_gates, 2)                                                                        \
    X(kill_leaves_questions, 3)                                                                    \
    X(kill_leaves_unknown, 2)                                                                      \
    X(cancel_stops, 3)                                                                             \
    X(given_up_stops, 3)                                                                           \
    X(one_model_request, 3)                                                                        \
    X(replies_need_requests, 4)                                                                    \
    X(resume_needs_a_rest, 3)                                                                      \
    X(done_is_done, 3)

#define X(name, points) extern const struct bp_point run_##name[points];
RUN_GUARDS(X)
RUN_PROPERTIES(X)
#undef X

#endif
