/* Times as text: RFC 3339, UTC, milliseconds.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_BASE_TIMEFMT_H
#define DORMOUSE_BASE_TIMEFMT_H

#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

#define TIMEFMT_SIZE   25                         /* "2026-11-15T20:14:47.123Z" and a NUL */
#define TIMEFMT_MIN_MS (INT64_C(-62167219200000)) /* 0000-01-01T00:00:00.000Z */
#define TIMEFMT_MAX_MS (INT64_C(253402300799999)) /* 9999-12-31T23:59:59.999Z */

/* Unix milliseconds as text; a time outside MIN..MAX is written as the nearest of the two. */
void timefmt_rfc3339(int64_t wall_ms, char ret_text[TIMEFMT_SIZE]);

/* Any RFC 3339 date-time: every offset, any number of fraction digits (cut to milliseconds),
 * the leap second 23:59:60 UTC at a month's end (read as the second after it). What lies outside
 * MIN..MAX in UTC is refused. */
int timefmt_parse(struct str text, int64_t *ret_wall_ms, struct err *err);

/* How long something takes, as people read it: "35 min", "2 h", "1 h 5 min". */
#define TIMEFMT_LENGTH_SIZE 40
const char *timefmt_length(int64_t minutes, char ret_text[TIMEFMT_LENGTH_SIZE]);

/* How long something was waited for, in words: "30 ms", "2.5 seconds", "1 minute", "90 minutes", "2
 * hours". The largest unit that it is a whole number of; tenths of a second otherwise. */
#define TIMEFMT_SPAN_SIZE 40
const char *timefmt_span(int64_t ms, char ret_text[TIMEFMT_SPAN_SIZE]);

/* Days since 1970-01-01 of a day of the proleptic Gregorian calendar; month 1..12. */
int64_t timefmt_days(int64_t year, unsigned month, unsigned day);
/* Days in a month, 0 for a month outside 1..12. */
unsigned timefmt_month_days(int64_t year, unsigned month);

#endif
