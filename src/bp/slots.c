/* Instances in their slots: they come, stand at points, move and go, and their requests are ready
 * or parked. engine.c says which of them move; the indexes that this file keeps are told there.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bp/engine_int.h"

/* ---- lists of slots at a point ---- */

static void link_at_point(struct bp_engine *e, uint32_t slot)
{
    const struct slot *s = &e->slots[slot];
    uint32_t *head = &e->heads[e->first_point[s->thread] + s->point];

    e->links[slot] = (struct link){ .next = *head, .prev = NONE };
    if (*head != NONE)
        e->links[*head].prev = slot;
    *head = slot;
}

static void unlink_at_point(struct bp_engine *e, uint32_t slot)
{
    const struct slot *s = &e->slots[slot];
    struct link l = e->links[slot];

    if (l.prev == NONE)
        e->heads[e->first_point[s->thread] + s->point] = l.next;
    else
        e->links[l.prev].next = l.next;
    if (l.next != NONE)
        e->links[l.next].prev = l.prev;
}

/* ---- ready requests: a heap by priority that knows where each slot is ---- */

static bool before(const struct bp_engine *e, uint32_t a, uint32_t b)
{
    return e->slots[a].priority < e->slots[b].priority;
}

static void heap_put(struct bp_engine *e, uint32_t i, uint32_t slot)
{
    e->heap[i] = slot;
    e->slots[slot].heap_at = i;
}

static void heap_up(struct bp_engine *e, uint32_t i)
{
    uint32_t slot = e->heap[i];

    for (; i && before(e, slot, e->heap[(i - 1) / 2]); i = (i - 1) / 2)
        heap_put(e, i, e->heap[(i - 1) / 2]);
    heap_put(e, i, slot);
}

static void heap_down(struct bp_engine *e, uint32_t i)
{
    uint32_t slot = e->heap[i];

    for (uint32_t child; (child = 2 * i + 1) < e->heap_count; i = child) {
        if (child + 1 < e->heap_count && before(e, e->heap[child + 1], e->heap[child]))
            child++;
        if (!before(e, e->heap[child], slot))
            break;
        heap_put(e, i, e->heap[child]);
    }
    heap_put(e, i, slot);
}

static void make_ready(struct bp_engine *e, uint32_t slot)
{
    e->slots[slot].wish = WISH_READY;
    heap_put(e, e->heap_count++, slot);
    heap_up(e, e->slots[slot].heap_at);
}

static void heap_remove(struct bp_engine *e, uint32_t slot)
{
    uint32_t i = e->slots[slot].heap_at, last = e->heap[--e->heap_count];

    if (last == slot)
        return;
    heap_put(e, i, last);
    heap_down(e, i);
    heap_up(e, e->slots[last].heap_at);
}

/* ---- parked requests ---- */

static uint32_t *park_head(struct bp_engine *e, uint8_t type, uint16_t key)
{
    return &e->parked[e->park_row[type] + key];
}

void request_park(struct bp_engine *e, uint32_t slot)
{
    struct slot *s = &e->slots[slot];
    const struct bp_req *req = &e->program->threads[s->thread].at[s->point].request;
    uint32_t *head = park_head(e, req->type, req->mine ? s->key : 0);

    heap_remove(e, slot);
    s->wish = WISH_PARKED;
    e->park_links[slot] = (struct link){ .next = *head, .prev = NONE };
    if (*head != NONE)
        e->park_links[*head].prev = slot;
    *head = slot;
    e->parked_count[req->type]++;
}

static void unpark(struct bp_engine *e, uint32_t slot)
{
    struct slot *s = &e->slots[slot];
    const struct bp_req *req = &e->program->threads[s->thread].at[s->point].request;
    struct link l = e->park_links[slot];

    if (l.prev == NONE)
        *park_head(e, req->type, req->mine ? s->key : 0) = l.next;
    else
        e->park_links[l.prev].next = l.next;
    if (l.next != NONE)
        e->park_links[l.next].prev = l.prev;
    e->parked_count[req->type]--;
    s->wish = WISH_NONE;
}

void requests_wake(struct bp_engine *e, uint8_t type, uint16_t key)
{
    for (uint32_t slot; (slot = *park_head(e, type, key)) != NONE;) {
        unpark(e, slot);
        make_ready(e, slot);
    }
}

void requests_wake_all(struct bp_engine *e, uint8_t type)
{
    if (!e->parked_count[type])
        return;
    if (!(e->program->types[type].flags & BP_KEYED)) {
        requests_wake(e, type, 0);
        return;
    }
    for (uint16_t key = e->oldest; key && e->parked_count[type]; key = e->keys[key].younger)
        requests_wake(e, type, key);
}

static void wake_blocked_by(struct bp_engine *e, const struct slot *s)
{
    const struct bp_point *point = &e->program->threads[s->thread].at[s->point];

    for (int i = 0; i < BP_BLOCKS && point->block[i].types; i++)
        for (uint64_t left = point->block[i].types; left; left &= left - 1) {
            uint8_t type = (uint8_t)__builtin_ctzll(left);

            if (!e->parked_count[type])
                continue;
            if (point->block[i].mine)
                requests_wake(e, type, s->key);
            else
                requests_wake_all(e, type);
        }
}

/* ---- threads come, move and go ---- */

void slot_enter(struct bp_engine *e, uint32_t slot, uint8_t point)
{
    struct slot *s = &e->slots[slot];

    s->point = point;
    s->count = 0;
    s->wish = WISH_NONE;
    link_at_point(e, slot);
    if (e->program->threads[s->thread].at[point].request.type)
        make_ready(e, slot);
}

/* The slot keeps its point, so that what it blocked can be told; it stands nowhere afterwards. */
void slot_leave(struct bp_engine *e, uint32_t slot)
{
    struct slot *s = &e->slots[slot];

    if (s->wish == WISH_READY)
        heap_remove(e, slot);
    else if (s->wish == WISH_PARKED)
        unpark(e, slot);
    s->wish = WISH_NONE;
    unlink_at_point(e, slot);
    wake_blocked_by(e, s);
    s->point = NOWHERE;
}

void slot_begin(struct bp_engine *e, uint32_t slot)
{
    struct slot *s = &e->slots[slot];

    s->priority = (uint64_t)s->thread << 48 | (s->key ? e->keys[s->key].born : 0);
    e->instances[s->thread]++;
    slot_enter(e, slot, 0);
}

void slot_end(struct bp_engine *e, uint32_t slot)
{
    e->instances[e->slots[slot].thread]--;
    slot_leave(e, slot);
}

void key_begin(struct bp_engine *e, uint16_t key)
{
    e->keys[key] =
        (struct key){ .lives = true, .born = ++e->births, .older = e->youngest, .younger = 0 };
    if (e->youngest)
        e->keys[e->youngest].younger = key;
    else
        e->oldest = key;
    e->youngest = key;
    e->free_keys[key / 64] &= ~(UINT64_C(1) << key % 64);
}

void key_end(struct bp_engine *e, uint16_t key)
{
    struct key k = e->keys[key];

    for (unsigned i = 0; i < e->keyed_count; i++) {
        uint32_t slot = e->first_slot[e->keyed[i]] + key - 1u;

        if (e->slots[slot].point != NOWHERE)
            slot_end(e, slot);
    }
    if (k.older)
        e->keys[k.older].younger = k.younger;
    else
        e->oldest = k.younger;
    if (k.younger)
        e->keys[k.younger].older = k.older;
    else
        e->youngest = k.older;
    e->keys[key] = (struct key){ .lives = false };
    e->free_keys[key / 64] |= UINT64_C(1) << key % 64;
}
