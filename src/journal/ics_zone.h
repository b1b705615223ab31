/* A time zone as a calendar describes it itself (VTIMEZONE): for names that the system does not
 * know, as Outlook's "W. Europe Standard Time" and "Customized Time Zone".
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_JOURNAL_ICS_ZONE_H
#define DORMOUSE_JOURNAL_ICS_ZONE_H

#include "journal/ics.h"

#define ICS_SHIFTS_MAX 64

/* When clocks are set, and to what: once, or every year. Seconds as clocks show them before. */
struct ics_shift {
    int64_t begin, until;
    int64_t from, to; /* offsets before and after, in seconds */
    bool yearly;
    unsigned begin_month, begin_day;
    unsigned month; /* of a rule; 0: that of begin */
    int nth;        /* which such weekday of the month, from its end when negative; 0: by the day */
    int weekday;    /* Monday is 0 */
    bool has_begin, has_to;
};
struct ics_zone {
    struct ics_shift shifts[ICS_SHIFTS_MAX];
    size_t n; /* those before it are whole */
    bool open;
};

/* A line between BEGIN:VTIMEZONE and its END. */
void ics_zone_read(struct ics_zone *zone, const struct ics_line *line);
/* The moment (seconds of UTC) at which clocks there show local_s: the first of two; what they skip
 * is as much later. false: the zone says nothing. */
bool ics_zone_moment(const struct ics_zone *zone, int64_t local_s, int64_t *ret_utc_s);

#endif
