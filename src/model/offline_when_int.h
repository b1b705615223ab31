/* Days, times and lengths in people's words.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_MODEL_OFFLINE_WHEN_INT_H
#define DORMOUSE_MODEL_OFFLINE_WHEN_INT_H

#include "model/offline_int.h"

/* The moment at which clocks here show so many minutes of the day, days from today. */
int64_t offline_moment(const struct offline_turn *turn, int days, int minutes);
/* "10:25", on clocks here. */
void offline_add_clock(struct buf *out, int64_t ms);
const char *offline_clock_text(struct offline_turn *turn, int64_t ms);
const char *offline_day_text(struct offline_turn *turn, int64_t ms); /* "Sun 15 Nov, 10:25" */
const char *offline_length_text(struct offline_turn *turn,
                                int64_t minutes); /* "25 minutes", "1 h 5 min" */

/* Takes a day that is past or today off the end of the text ("gym yesterday", "3 days ago", "on
 * monday"): true, and 0 or how many days back, negative. */
bool offline_take_day(const struct offline_turn *turn, struct str *text, int *ret_days);
/* "18:00", "6pm", "9": minutes of the day, or -1. */
int offline_clock(struct str text);

struct offline_span {
    int first, last; /* days from today */
    int64_t from, to;
};
/* "last week", "yesterday", "the last 7 days"; nothing: today. False: it is none. */
bool offline_span_of(const struct offline_turn *turn, struct str words,
                     struct offline_span *ret_span);

/* How long a time entry took; one that runs: until now. */
int64_t offline_spent_ms(const struct offline_turn *turn, struct json_object *entry);
/* What was done in a stretch of time, of the diary: asked for in one round, written in a later one.
 * offline_write_done() says how many tasks it wrote. */
void offline_look_back(struct offline_turn *turn, int64_t from_ms, int64_t to_ms);
void offline_write_time(struct offline_turn *turn, struct buf *out);
size_t offline_write_done(struct offline_turn *turn, int64_t from, int64_t to, struct buf *out);

#endif
