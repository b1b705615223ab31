/* Tasks to choose from.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_MODEL_OFFLINE_CHOICE_INT_H
#define DORMOUSE_MODEL_OFFLINE_CHOICE_INT_H

#include "model/offline_int.h"

/* Have two of the list one title? Then saying the title does not help. */
bool offline_shares_title(struct json_object *list);
/* What to call the i-th task: its title, and more when another has the same. answer: what the tool
 * said that listed them, with categoryNames. */
const char *offline_choice(struct offline_turn *turn, struct json_object *answer,
                           struct json_object *list, size_t i);
/* The task that was answered: by its number, by what it was called, or by a title that only one
 * has. NULL: none of these. */
struct json_object *offline_chosen(struct offline_turn *turn, struct json_object *answer,
                                   struct json_object *list, struct str said);

#endif
