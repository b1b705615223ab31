/* Vector clocks, as sorted lists: merging and comparing are one walk along both.
 *
 * SPDX-License-Identifier: MIT
 */
#include "change/vclock.h"

#include <json-c/json_object_iterator.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/json.h"
#include "base/json_write.h"

/* A host and its counter as text, with quotes, colon and comma. */
#define ENTRY_BYTES (VCLOCK_HOST_MAX + 24)

static int by_host(const void *a, const void *b)
{
    return str_cmp(((const struct vclock_entry *)a)->host, ((const struct vclock_entry *)b)->host);
}

/* Byte order is then also the order of canonical JSON. */
static bool host_is_plain(struct str host)
{
    if (host.n == 0 || host.n > VCLOCK_HOST_MAX)
        return false;
    for (size_t i = 0; i < host.n; i++)
        if (host.p[i] <= ' ' || host.p[i] > '~' || host.p[i] == '|' || host.p[i] == '"' ||
            host.p[i] == '\\')
            return false;
    return true;
}

static int read_entry(const char *name, struct json_object *value, struct arena *arena,
                      struct vclock_entry *ret_entry, struct err *err)
{
    struct str host = str_from(name);

    if (!host_is_plain(host))
        return err_set(err, ERR_BAD_REQUEST,
                       "vector clock: host \"%.60s\": expected 1 to %d printable ASCII characters"
                       " without spaces, quotes, '\\' and '|'",
                       name, VCLOCK_HOST_MAX);
    if (!json_object_is_type(value, json_type_int) || json_object_get_int64(value) < 1 ||
        json_object_get_int64(value) > VCLOCK_COUNTER_MAX)
        return err_set(err, ERR_BAD_REQUEST,
                       "vector clock: counter of host \"%.60s\": expected an integer from 1 to"
                       " 2^53 - 1",
                       name);
    *ret_entry = (struct vclock_entry){ arena_str(arena, host), json_object_get_int64(value) };
    return 0;
}

int vclock_parse(struct str text, struct arena *arena, struct vclock *ret_clock, struct err *err)
{
    AUTO_JSON doc = NULL;
    struct vclock clock = { 0 };
    struct json_object_iterator at, end;

    if (text.n > VCLOCK_HOSTS_MAX * ENTRY_BYTES + 2)
        return err_set(err, ERR_BAD_REQUEST, "vector clock: %zu bytes are too many", text.n);
    if (json_parse(text, &doc, err) < 0)
        return err_wrap(err, "vector clock");
    if (!json_object_is_type(doc, json_type_object))
        return err_set(err, ERR_BAD_REQUEST, "vector clock: expected an object, found %s",
                       json_type_name(doc));
    if (json_object_object_length(doc) > VCLOCK_HOSTS_MAX)
        return err_set(err, ERR_BAD_REQUEST, "vector clock: %d hosts, at most %d are allowed",
                       json_object_object_length(doc), VCLOCK_HOSTS_MAX);
    clock.at = ARENA_NEW_N(arena, struct vclock_entry, (size_t)json_object_object_length(doc) + 1);
    at = json_object_iter_begin(doc);
    end = json_object_iter_end(doc);
    for (; !json_object_iter_equal(&at, &end); json_object_iter_next(&at))
        if (read_entry(json_object_iter_peek_name(&at), json_object_iter_peek_value(&at), arena,
                       &clock.at[clock.n++], err) < 0)
            return -1;
    qsort(clock.at, clock.n, sizeof(clock.at[0]), by_host);
    *ret_clock = clock;
    return 0;
}

struct str vclock_text(const struct vclock *clock, struct arena *arena)
{
    AUTO_BUF text = BUF_INIT(2 * VCLOCK_HOSTS_MAX * ENTRY_BYTES + 2);
    struct json_writer w = JSON_WRITER(&text);

    json_write_object_begin(&w);
    for (size_t i = 0; i < clock->n; i++) {
        json_write_key_str(&w, clock->at[i].host);
        json_write_i64(&w, clock->at[i].counter);
    }
    json_write_object_end(&w);
    BUG_IF(json_write_end(&w) < 0);
    return arena_str(arena, buf_str(&text));
}

/* Where host stands, or would. */
static size_t place_of(const struct vclock *clock, struct str host)
{
    size_t low = 0, high = clock->n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (str_cmp(clock->at[middle].host, host) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

int64_t vclock_of(const struct vclock *clock, struct str host)
{
    size_t i = place_of(clock, host);

    return i < clock->n && str_eq(clock->at[i].host, host) ? clock->at[i].counter : 0;
}

struct vclock vclock_with(const struct vclock *clock, struct str host, int64_t counter,
                          struct arena *arena)
{
    struct vclock_entry entry = { arena_str(arena, host), counter };
    struct vclock one = { &entry, counter > 0 ? 1 : 0 };

    return vclock_merge(clock, &one, arena);
}

struct vclock vclock_merge(const struct vclock *a, const struct vclock *b, struct arena *arena)
{
    struct vclock out = { ARENA_NEW_N(arena, struct vclock_entry, a->n + b->n + 1), 0 };
    size_t i = 0, j = 0;

    while (i < a->n || j < b->n) {
        int order = i == a->n ? 1 : j == b->n ? -1 : str_cmp(a->at[i].host, b->at[j].host);
        struct vclock_entry *entry = &out.at[out.n++];

        if (order <= 0)
            *entry = a->at[i++];
        if (order > 0)
            *entry = b->at[j++];
        else if (order == 0 && b->at[j++].counter > entry->counter)
            entry->counter = b->at[j - 1].counter;
    }
    return out;
}

enum vclock_order vclock_compare(const struct vclock *a, const struct vclock *b)
{
    bool more = false, less = false;
    size_t i = 0, j = 0;

    while (i < a->n || j < b->n) {
        int order = i == a->n ? 1 : j == b->n ? -1 : str_cmp(a->at[i].host, b->at[j].host);
        int64_t of_a = order <= 0 ? a->at[i++].counter : 0;
        int64_t of_b = order >= 0 ? b->at[j++].counter : 0;

        more = more || of_a > of_b;
        less = less || of_a < of_b;
    }
    if (more && less)
        return VCLOCK_CONCURRENT;
    return more ? VCLOCK_AFTER : less ? VCLOCK_BEFORE : VCLOCK_EQUAL;
}
