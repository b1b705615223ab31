/* Time zones by their IANA name, read from the system's tables (RFC 8536), without touching the
 * process's own.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_BASE_ZONE_H
#define DORMOUSE_BASE_ZONE_H

#include <stdint.h>

#include "base/alloc.h"
#include "base/err.h"
#include "base/str.h"

#define ZONE_NAME_MAX 64

struct zone;

/* bad_request when there is no such zone. */
int zone_open(struct str name, struct zone **ret_zone, struct err *err);
/* The bytes of a table, for who has no file. */
int zone_parse(struct str bytes, struct zone **ret_zone, struct err *err);
void zone_free(struct zone *zone);
AUTO_DEFINE(zone)

/* Seconds east of UTC at this moment (Unix seconds). */
int32_t zone_offset(const struct zone *zone, int64_t utc_s);
/* The moments at which clocks there show this (seconds as if it were UTC): 0 when they skip it, 2
 * when they show it twice; *ret_utc_s is the first. */
int zone_moment(const struct zone *zone, int64_t local_s, int64_t *ret_utc_s);
/* The zone that $TZ names, else this machine's; "UTC" when it can't be told. */
void zone_system(char ret_name[ZONE_NAME_MAX + 1]);

#endif
