/* Times of events: a day, a time on the clocks of a zone, or a moment with its offset.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_CONNECT_EVENT_H
#define DORMOUSE_CONNECT_EVENT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/json_write.h"
#include "base/str.h"
#include "base/zone.h"

struct event_time {
    bool all_day;
    bool twice;    /* clocks are set back then: the first of two is meant */
    char text[32]; /* "2026-03-29" or "2026-03-29T12:00:00+02:00" */
    char zone[ZONE_NAME_MAX + 1];
    int64_t utc_s; /* of a day: its midnight in the zone */
};

/* "2026-03-29", "2026-03-29T12:00" (or with seconds) in this zone, or RFC 3339 with an offset. zone
 * empty: this machine's. bad_request names the field; so does a time that clocks skip. */
int event_time_read(const char *field, struct str text, struct str zone,
                    struct event_time *ret_time, struct err *err);
/* As Calendar wants it: {"date":…} or {"dateTime":…,"timeZone":…}. */
void event_time_write(struct json_writer *w, const struct event_time *time);

#endif
