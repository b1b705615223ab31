/* UUID text and version 7 (RFC 9562, sections 5.7 and 6.2, method 2).
 *
 *   48 bits Unix milliseconds | version 7 | 12 bits | variant 10 | 62 bits
 *
 * The 74 bits beside time, version and variant are random for the first id of a millisecond. A
 * further id of that millisecond adds 1 .. 2^32 to them, so ids stay ordered and hard to guess;
 * a carry out of the top borrows a millisecond from the future.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/uuid.h"

#include "base/hash.h"

#define MS_MAX   ((UINT64_C(1) << 48) - 1)
#define HIGH_MAX ((UINT64_C(1) << 12) - 1)
#define LOW_MAX  ((UINT64_C(1) << 62) - 1)

void uuid_source_init(struct uuid_source *source, struct clock *clock, struct rand *rand)
{
    *source = (struct uuid_source){ .clock = clock, .rand = rand };
}

static void draw(struct uuid_source *source, uint64_t ms)
{
    uint8_t high[2];

    rand_fill(source->rand, high, sizeof(high));
    source->last_high = ((uint64_t)high[0] << 8 | high[1]) & HIGH_MAX;
    source->last_low = rand_u64(source->rand) & LOW_MAX;
    source->last_ms = ms;
    source->used = true;
}

static void raise(struct uuid_source *source)
{
    source->last_low += (rand_u64(source->rand) & UINT32_MAX) + 1;
    if (source->last_low <= LOW_MAX)
        return;
    source->last_low &= LOW_MAX;
    if (++source->last_high > HIGH_MAX)
        draw(source, source->last_ms < MS_MAX ? source->last_ms + 1 : MS_MAX);
}

struct uuid uuid_next(struct uuid_source *source)
{
    int64_t wall = clock_wall_ms(source->clock);
    uint64_t now = wall < 0 ? 0 : (uint64_t)wall > MS_MAX ? MS_MAX : (uint64_t)wall;
    struct uuid uuid;

    if (!source->used || now > source->last_ms)
        draw(source, now);
    else
        raise(source);
    for (int i = 0; i < 6; i++)
        uuid.b[i] = (uint8_t)(source->last_ms >> (40 - 8 * i));
    uuid.b[6] = (uint8_t)(0x70 | source->last_high >> 8);
    uuid.b[7] = (uint8_t)source->last_high;
    for (int i = 0; i < 8; i++)
        uuid.b[8 + i] = (uint8_t)(source->last_low >> (56 - 8 * i));
    uuid.b[8] |= 0x80;
    return uuid;
}

void uuid_next_text(struct uuid_source *source, char ret_text[UUID_TEXT_SIZE])
{
    uuid_format(uuid_next(source), ret_text);
}

/* Bytes in each of the five groups. */
static const uint8_t group_bytes[] = { 4, 2, 2, 2, 6 };

void uuid_format(struct uuid uuid, char ret_text[UUID_TEXT_SIZE])
{
    const uint8_t *from = uuid.b;
    char *to = ret_text;

    for (int group = 0; group < 5; group++) {
        hex_encode(from, group_bytes[group], to);
        from += group_bytes[group];
        to += 2 * group_bytes[group];
        *to++ = group < 4 ? '-' : '\0';
    }
}

int uuid_parse(struct str text, struct uuid *ret_uuid)
{
    struct uuid uuid;
    uint8_t *to = uuid.b;

    if (text.n != UUID_TEXT_SIZE - 1)
        return -1;
    for (int group = 0; group < 5; group++) {
        size_t n = group_bytes[group];

        if (hex_decode(str_take(text, 2 * n), to, n) < 0)
            return -1;
        to += n;
        text = str_skip(text, 2 * n);
        if (group < 4 && text.p[0] != '-')
            return -1;
        text = str_skip(text, 1);
    }
    *ret_uuid = uuid;
    return 0;
}

bool uuid_valid(struct str text)
{
    struct uuid uuid;

    return uuid_parse(text, &uuid) == 0;
}

int uuid_version(struct uuid uuid)
{
    return uuid.b[6] >> 4;
}

int64_t uuid_ms(struct uuid uuid)
{
    int64_t ms = 0;

    if (uuid_version(uuid) != 7)
        return -1;
    for (int i = 0; i < 6; i++)
        ms = ms << 8 | uuid.b[i];
    return ms;
}
