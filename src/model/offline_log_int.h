/* Time for which no task is called as the person said.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_MODEL_OFFLINE_LOG_INT_H
#define DORMOUSE_MODEL_OFFLINE_LOG_INT_H

#include "model/offline_int.h"

enum offline_untasked {
    UNTASKED_NOT,  /* a task may be meant, or nobody can be asked */
    UNTASKED_WAIT, /* asked, or done as it was answered: nothing else is to do in this round */
    UNTASKED_LOG,  /* *ret_for is what the time counts for */
};
enum offline_untasked offline_untasked(struct offline_turn *turn, struct str words,
                                       struct offline_arg *ret_for);

#endif
