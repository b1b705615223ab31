/* Hash map: a dense array of entries and a sparse array of slots that point into it.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/map.h"

#include <stdlib.h>
#include <sys/random.h>

#include "base/alloc.h"

#define SLOTS_MIN 8

static uint64_t hash_key[2];

__attribute__((constructor)) static void hash_key_init(void)
{
    if (getrandom(hash_key, sizeof(hash_key), 0) != sizeof(hash_key))
        BUG("no random numbers from the kernel");
}

static inline uint64_t rotate(uint64_t x, int b)
{
    return (x << b) | (x >> (64 - b));
}

static inline void sip_round(uint64_t v[4])
{
    v[0] += v[1], v[1] = rotate(v[1], 13), v[1] ^= v[0], v[0] = rotate(v[0], 32);
    v[2] += v[3], v[3] = rotate(v[3], 16), v[3] ^= v[2];
    v[0] += v[3], v[3] = rotate(v[3], 21), v[3] ^= v[0];
    v[2] += v[1], v[1] = rotate(v[1], 17), v[1] ^= v[2], v[2] = rotate(v[2], 32);
}

/* SipHash-1-3. */
uint64_t map_hash(struct str key)
{
    uint64_t v[4] = { hash_key[0] ^ 0x736f6d6570736575u, hash_key[1] ^ 0x646f72616e646f6du,
                      hash_key[0] ^ 0x6c7967656e657261u, hash_key[1] ^ 0x7465646279746573u };
    uint64_t word = 0;
    size_t i = 0;

    for (; i + 8 <= key.n; i += 8) {
        memcpy(&word, key.p + i, 8);
        v[3] ^= word;
        sip_round(v);
        v[0] ^= word;
    }
    word = (uint64_t)key.n << 56;
    for (size_t j = 0; i + j < key.n; j++)
        word |= (uint64_t)(unsigned char)key.p[i + j] << (8 * j);
    v[3] ^= word;
    sip_round(v);
    v[0] ^= word;
    v[2] ^= 0xff;
    sip_round(v);
    sip_round(v);
    sip_round(v);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

void map_release(struct map *map)
{
    for (size_t i = 0; i < map->used; i++)
        free((char *)map->entries[i].key.p);
    free(map->entries);
    free(map->slots);
    *map = MAP_INIT;
}

static uint32_t *slot_for(const struct map *map, struct str key, uint64_t hash)
{
    size_t mask = map->slot_count - 1;

    for (size_t i = hash & mask;; i = (i + 1) & mask) {
        uint32_t at = map->slots[i];
        const struct map_entry *entry;

        if (at == 0)
            return &map->slots[i];
        entry = &map->entries[at - 1];
        if (entry->key.p && entry->hash == hash && str_eq(entry->key, key))
            return &map->slots[i];
    }
}

/* Also drops removed entries; called when the slots are three quarters full. */
static void map_rebuild(struct map *map)
{
    size_t slot_count = SLOTS_MIN;
    size_t kept = 0;

    while (slot_count * 3 < (map->live + 1) * 6)
        slot_count *= 2;
    for (size_t i = 0; i < map->used; i++)
        if (map->entries[i].key.p)
            map->entries[kept++] = map->entries[i];
    map->used = kept;
    map->slot_count = slot_count;
    map->entries = alloc_resize(map->entries, slot_count, sizeof(*map->entries));
    free(map->slots);
    map->slots = NEW_N(uint32_t, slot_count);
    for (size_t i = 0; i < kept; i++)
        *slot_for(map, map->entries[i].key, map->entries[i].hash) = (uint32_t)i + 1;
}

void *map_put(struct map *map, struct str key, void *value)
{
    uint64_t hash = map_hash(key);
    struct map_entry *entry;
    uint32_t *slot;

    BUG_IF(!value);
    if ((map->used + 1) * 4 > map->slot_count * 3)
        map_rebuild(map);
    slot = slot_for(map, key, hash);
    if (*slot) {
        void *old = map->entries[*slot - 1].value;

        map->entries[*slot - 1].value = value;
        return old;
    }
    entry = &map->entries[map->used++];
    *entry = (struct map_entry){ str_of(alloc_copy(key.p, key.n), key.n), value, hash };
    *slot = (uint32_t)map->used;
    map->live++;
    return NULL;
}

void *map_find(const struct map *map, struct str key)
{
    uint32_t at;

    if (map->live == 0)
        return NULL;
    at = *slot_for(map, key, map_hash(key));
    return at ? map->entries[at - 1].value : NULL;
}

void *map_remove(struct map *map, struct str key)
{
    uint32_t at;
    struct map_entry *entry;
    void *value;

    if (map->live == 0)
        return NULL;
    at = *slot_for(map, key, map_hash(key));
    if (at == 0)
        return NULL;
    entry = &map->entries[at - 1];
    value = entry->value;
    free((char *)entry->key.p);
    *entry = (struct map_entry){ .value = NULL };
    map->live--;
    return value;
}

struct map_entry *map_next(const struct map *map, size_t *at)
{
    while (*at < map->used) {
        struct map_entry *entry = &map->entries[(*at)++];

        if (entry->key.p)
            return entry;
    }
    return NULL;
}
