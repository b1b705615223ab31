/* UUIDs, and time-ordered new ones (version 7, RFC 9562).
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_BASE_UUID_H
#define DORMOUSE_BASE_UUID_H

#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/rand.h"
#include "base/str.h"

struct uuid {
    uint8_t b[16];
};

#define UUID_TEXT_SIZE 37 /* 8-4-4-4-12 and a NUL */

/* Makes ids that only ever grow: within a millisecond, and when the wall clock goes back, the
 * random part of the last one is raised by a random step and the time stays. One per thread. */
struct uuid_source {
    struct clock *clock;
    struct rand *rand;
    uint64_t last_ms;
    uint64_t last_high; /* 12 random bits */
    uint64_t last_low;  /* 62 random bits */
    bool used;
};

void uuid_source_init(struct uuid_source *source, struct clock *clock, struct rand *rand);
struct uuid uuid_next(struct uuid_source *source);
void uuid_next_text(struct uuid_source *source, char ret_text[UUID_TEXT_SIZE]);

/* Lower case, with hyphens. */
void uuid_format(struct uuid uuid, char ret_text[UUID_TEXT_SIZE]);
/* Any version; hex digits of either case with hyphens in their places, nothing else. -1
 * otherwise. */
int uuid_parse(struct str text, struct uuid *ret_uuid);
bool uuid_valid(struct str text);
int uuid_version(struct uuid uuid);
/* Unix milliseconds of a version 7; -1 for any other. */
int64_t uuid_ms(struct uuid uuid);

#endif
