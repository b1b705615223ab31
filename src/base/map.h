/* struct map: byte strings to pointers.
 *
 * Open addressing with linear probing; keys are copied. The hash is keyed with a random number
 * per process, so that hostile keys can't be chosen to collide. Iteration follows insertion
 * order, so output made from a map is deterministic.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_BASE_MAP_H
#define DORMOUSE_BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

struct map_entry {
    struct str key; /* p NULL when removed */
    void *value;
    uint64_t hash;
};

struct map {
    struct map_entry *entries; /* in insertion order */
    uint32_t *slots;           /* index into entries + 1; 0 free */
    size_t used, live, slot_count;
};

#define MAP_INIT ((struct map){ .entries = NULL })

void map_release(struct map *map);
#define AUTO_MAP __attribute__((cleanup(map_release))) struct map

/* Stores value (not NULL), replacing an earlier one, which is returned, else NULL. */
void *map_put(struct map *map, struct str key, void *value);
/* NULL when absent. */
void *map_find(const struct map *map, struct str key);
/* Removes and returns the value, NULL when absent. */
void *map_remove(struct map *map, struct str key);
static inline size_t map_count(const struct map *map)
{
    return map->live;
}
/* The first live entry at or after *at, which moves past it; NULL at the end. */
struct map_entry *map_next(const struct map *map, size_t *at);
/* NOLINTBEGIN(bugprone-macro-parentheses): entry is a name */
#define map_each(map, entry)                                                                       \
    for (size_t at_##entry = 0, once_##entry = 1; once_##entry; once_##entry = 0)                  \
        for (struct map_entry * entry; (entry = map_next((map), &at_##entry)) != NULL;)
/* NOLINTEND(bugprone-macro-parentheses) */

uint64_t map_hash(struct str key);

#endif
