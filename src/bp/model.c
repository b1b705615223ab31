/* States and steps of a program; see model_int.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "base/alloc.h"
#include "bp/model_int.h"

void model_copy(const struct model *m, struct state *to, const struct state *from)
{
    to->alive = from->alive;
    memcpy(to->record, from->record, (m->keys + 1) * sizeof(from->record[0]));
    memcpy(to->code, from->code, m->slots);
}

void model_begin(const struct model *m, struct state *state)
{
    *state = (struct state){ .alive = 0 };
    for (unsigned i = 0; i < m->thread_count; i++)
        if (!m->threads[i].thread->spawn.types)
            state->code[m->threads[i].offset] = m->threads[i].code_of[0];
}

int model_point(const struct model *m, const struct state *state, const struct model_thread *thread,
                unsigned key)
{
    uint8_t code = state->code[model_slot(m, thread, key)];

    return code ? thread->point_of[code - 1] : -1;
}

unsigned model_count(const struct model *m, const struct state *state,
                     const struct model_thread *thread, unsigned key)
{
    uint8_t code = state->code[model_slot(m, thread, key)];

    return code ? thread->count_of[code - 1] : 0;
}

/* ---- which events are possible ---- */

struct bp_event model_request(const struct state *state, const struct bp_req *req, unsigned key)
{
    struct bp_event event = { .type = req->type, .bits = state->record[0] | req->set };

    if (req->mine) {
        event.key = (uint16_t)key;
        event.bits |= state->record[key];
    }
    return event;
}

static bool blocks(const struct model_thread *t, uint8_t code, const struct bp_event *event,
                   unsigned key)
{
    unsigned point;

    if (!code)
        return false;
    point = t->point_of[code - 1];
    if (!(t->blocks[point] >> event->type & 1))
        return false;
    for (int i = 0; i < BP_BLOCKS; i++)
        if (bp_sel_matches(&t->thread->at[point].block[i], event, (uint16_t)key))
            return true;
    return false;
}

const struct model_thread *model_blocker(const struct model *m, const struct state *state,
                                         const struct bp_event *event, unsigned *ret_key)
{
    for (unsigned i = 0; i < m->thread_count; i++) {
        const struct model_thread *t = &m->threads[i];

        if (!(t->ever_blocks >> event->type & 1))
            continue;
        for (unsigned key = t->keyed; key <= (t->keyed ? m->keys : 0); key++)
            if (blocks(t, state->code[model_slot(m, t, key)], event, key)) {
                *ret_key = key;
                return t;
            }
    }
    return NULL;
}

static bool is_blocked(const struct model *m, const struct state *state,
                       const struct bp_event *event)
{
    unsigned key;

    return model_blocker(m, state, event, &key) != NULL;
}

bool model_next(const struct model *m, const struct state *state, unsigned *at,
                struct model_wish *ret_wish)
{
    for (; *at < m->thread_count * (m->keys + 1); (*at)++) {
        const struct model_thread *t = &m->threads[*at / (m->keys + 1)];
        unsigned key = *at % (m->keys + 1);
        const struct bp_req *req;
        int point;

        if (t->keyed != (key != 0) || (point = model_point(m, state, t, key)) < 0)
            continue;
        req = &t->thread->at[point].request;
        if (!req->type)
            continue;
        *ret_wish =
            (struct model_wish){ t, (uint16_t)key, (uint8_t)point, model_request(state, req, key) };
        if (is_blocked(m, state, &ret_wish->event))
            continue;
        (*at)++;
        return true;
    }
    return false;
}

/* The thread of which the event would begin more instances than it may have, or NULL. */
static const struct model_thread *full_thread(const struct model *m, const struct state *state,
                                              const struct bp_event *event)
{
    for (unsigned i = 0; i < m->thread_count; i++) {
        const struct model_thread *t = &m->threads[i];
        unsigned instances = 0;

        if (!t->thread->max || !bp_sel_matches(&t->thread->spawn, event, 0) ||
            state->code[model_slot(m, t, event->key)])
            continue;
        for (unsigned key = 1; t->keyed && key <= m->keys; key++)
            instances += state->code[model_slot(m, t, key)] != 0;
        if (instances >= t->thread->max)
            return t;
    }
    return NULL;
}

const struct model_thread *model_obstacle(const struct model *m, const struct state *state,
                                          const struct bp_event *event)
{
    unsigned key;
    const struct model_thread *t = model_blocker(m, state, event, &key);

    return t ? t : full_thread(m, state, event);
}

bool model_admits(const struct model *m, const struct state *state, const struct bp_event *event)
{
    return !model_obstacle(m, state, event);
}

static unsigned free_key(const struct model *m, const struct state *state, bool last)
{
    unsigned found = 0;

    for (unsigned key = m->keys; key; key--) {
        bool lives = state->alive >> key & 1;

        if (lives && last)
            break;
        if (!lives)
            found = key;
    }
    return found;
}

/* model_init() has refused programs for which there is no room: none is ever left out. */
static void add_event(struct bp_event *events, unsigned *n, struct bp_event event)
{
    BUG_IF(*n == MODEL_EVENTS_MAX);
    events[(*n)++] = event;
}

static unsigned add_offers(const struct model *m, const struct state *state, unsigned type,
                           unsigned key, struct bp_event *events, unsigned n)
{
    uint32_t vary = m->vary[type], bits = 0;

    do {
        struct bp_event event = { .type = (uint8_t)type, .key = (uint16_t)key, .bits = bits };

        if (model_admits(m, state, &event))
            add_event(events, &n, event);
        bits = (bits - vary) & vary; /* the next subset of vary */
    } while (bits);
    return n;
}

static unsigned add_free(const struct model *m, const struct state *state,
                         const struct model_free *f, struct bp_event *events, unsigned n)
{
    bool keyed = m->program->types[f->type].flags & BP_KEYED;

    for (unsigned key = keyed; key <= (keyed ? m->keys : 0); key++) {
        struct bp_event event = { .type = f->type, .key = (uint16_t)key };

        if (keyed && !(state->alive >> key & 1))
            continue;
        event.bits = state->record[0] | state->record[key] | f->set;
        if (!is_blocked(m, state, &event))
            add_event(events, &n, event);
    }
    return n;
}

unsigned model_offers(const struct model *m, const struct state *state, bool last,
                      struct bp_event *events)
{
    unsigned n = 0;

    for (unsigned type = 1; type < m->program->type_count; type++) {
        unsigned flags = m->program->types[type].flags;

        if (!(flags & BP_EXT))
            continue;
        if (!(flags & BP_KEYED)) {
            n = add_offers(m, state, type, 0, events, n);
        } else if (flags & BP_BIRTH) {
            unsigned key = free_key(m, state, last);

            if (key)
                n = add_offers(m, state, type, key, events, n);
        } else {
            for (unsigned key = 1; key <= m->keys; key++)
                if (state->alive >> key & 1)
                    n = add_offers(m, state, type, key, events, n);
        }
    }
    for (unsigned i = 0; i < m->free_count; i++)
        n = add_free(m, state, &m->free[i], events, n);
    return n;
}

/* ---- what an event does ---- */

static uint8_t code_at(const struct model_thread *t, unsigned point, uint8_t go)
{
    int to = bp_target(t->thread, point, go);

    return to < 0 ? 0 : t->code_of[to];
}

static uint8_t react(const struct model_thread *t, const struct state *state, unsigned key,
                     uint8_t code, const struct bp_event *event)
{
    unsigned point = t->point_of[code - 1];
    const struct bp_point *at = &t->thread->at[point];

    for (int i = 0; i < BP_UNTILS; i++)
        if (bp_sel_matches(&t->thread->until[i], event, (uint16_t)key))
            return code_at(t, point, t->thread->until[i].go);
    if (at->request.type == event->type) {
        struct bp_event wish = model_request(state, &at->request, key);

        if (wish.key == event->key && wish.bits == event->bits)
            return code_at(t, point, at->request.go);
    }
    for (int i = 0; i < BP_WAITS; i++) {
        if (!bp_sel_matches(&at->wait[i], event, (uint16_t)key))
            continue;
        /* Codes of one point lie together; the last is "one match is missing". */
        if (i == 0 && code < t->codes && t->point_of[code] == point)
            return (uint8_t)(code + 1);
        return code_at(t, point, at->wait[i].go);
    }
    return code;
}

static void change_records(const struct model *m, const struct bp_event *event, struct state *to)
{
    const struct bp_type *type = &m->program->types[event->type];
    uint32_t keep = event->key ? m->key_bits : m->program_bits;

    if (type->flags & BP_BIRTH)
        to->alive |= 1u << event->key;
    if (type->flags & (BP_BIRTH | BP_LATCH))
        to->record[event->key] =
            ((to->record[event->key] & ~type->bits) | (event->bits & type->bits)) & keep;
}

static void retire(const struct model *m, unsigned key, struct state *to)
{
    to->alive &= ~(1u << key);
    to->record[key] = 0;
    memset(to->code + m->globals + (key - 1) * m->per_key, 0, m->per_key);
}

static uint8_t next_code(const struct model_thread *t, const struct state *from, unsigned key,
                         uint8_t code, const struct bp_event *event)
{
    if (!code)
        return key == event->key && bp_sel_matches(&t->thread->spawn, event, 0) ? t->code_of[0] : 0;
    if (!(t->reacts[t->point_of[code - 1]] >> event->type & 1))
        return code;
    return react(t, from, key, code, event);
}

bool model_apply(const struct model *m, const struct state *from, const struct bp_event *event,
                 struct state *to, const struct model_thread **ret_bad)
{
    bool bad = false;

    model_copy(m, to, from);
    for (unsigned i = 0; i < m->thread_count; i++) {
        const struct model_thread *t = &m->threads[i];

        if (!(t->ever_reacts >> event->type & 1))
            continue;
        for (unsigned key = t->keyed; key <= (t->keyed ? m->keys : 0); key++) {
            unsigned slot = model_slot(m, t, key);
            uint8_t code = next_code(t, from, key, from->code[slot], event);

            to->code[slot] = code;
            if (code && code != from->code[slot] && t->thread->at[t->point_of[code - 1]].bad) {
                bad = true;
                *ret_bad = t;
            }
        }
    }
    change_records(m, event, to);
    if (m->program->types[event->type].flags & BP_RETIRE)
        retire(m, event->key, to);
    return bad;
}

/* ---- one name for states that behave alike ---- */

void model_forget(const struct model *m, struct state *state)
{
    for (unsigned key = 1; key <= m->keys; key++) {
        uint32_t needed = m->always;

        if (!state->record[key])
            continue;
        for (unsigned i = 0; i < m->thread_count; i++) {
            const struct model_thread *t = &m->threads[i];
            uint8_t code = t->keyed ? state->code[model_slot(m, t, key)] : 0;

            if (code)
                needed |= t->asks_with[t->point_of[code - 1]];
        }
        state->record[key] &= needed;
    }
}

static int compare_keys(const struct model *m, const struct state *s, unsigned a, unsigned b)
{
    const uint8_t *block = s->code + m->globals;

    if (s->record[a] != s->record[b])
        return s->record[a] > s->record[b] ? -1 : 1;
    return -memcmp(block + (a - 1) * m->per_key, block + (b - 1) * m->per_key, m->per_key);
}

static bool comes_first(const struct model *m, const struct state *s, bool by_birth, unsigned a,
                        unsigned b)
{
    bool a_lives = s->alive >> a & 1, b_lives = s->alive >> b & 1;

    if (a_lives != b_lives)
        return a_lives;
    return !by_birth && a_lives && compare_keys(m, s, a, b) < 0;
}

void model_canonical(const struct model *m, struct state *state, bool by_birth,
                     uint8_t order[MODEL_KEYS_MAX + 1])
{
    struct state old;
    bool changed = false;

    order[0] = 0;
    for (unsigned key = 1; key <= m->keys; key++) {
        unsigned at = key;

        for (; at > 1 && comes_first(m, state, by_birth, key, order[at - 1]); at--)
            order[at] = order[at - 1];
        order[at] = (uint8_t)key;
        changed = changed || at != key;
    }
    if (!changed)
        return;
    model_copy(m, &old, state);
    state->alive &= STATE_OVER;
    for (unsigned key = 1; key <= m->keys; key++) {
        state->alive |= (old.alive >> order[key] & 1) << key;
        state->record[key] = old.record[order[key]];
        memcpy(state->code + m->globals + (key - 1) * m->per_key,
               old.code + m->globals + (order[key] - 1u) * m->per_key, m->per_key);
    }
}

/* ---- packing ---- */

struct bits {
    uint64_t *words;
    unsigned at;
};

static void put_bits(struct bits *b, uint64_t value, unsigned width)
{
    unsigned word = b->at / 64, shift = b->at % 64;

    b->words[word] |= value << shift;
    if (shift + width > 64)
        b->words[word + 1] |= value >> (64 - shift);
    b->at += width;
}

struct packed {
    const uint64_t *words;
    unsigned at;
};

static uint64_t get_bits(struct packed *b, unsigned width)
{
    unsigned word = b->at / 64, shift = b->at % 64;
    uint64_t value = b->words[word] >> shift;

    if (shift + width > 64)
        value |= b->words[word + 1] << (64 - shift);
    b->at += width;
    return width == 64 ? value : value & ((UINT64_C(1) << width) - 1);
}

static void put_masked(struct bits *b, uint32_t value, uint32_t mask)
{
    for (; mask; mask &= mask - 1)
        put_bits(b, value >> __builtin_ctz(mask) & 1, 1);
}

static uint32_t get_masked(struct packed *b, uint32_t mask)
{
    uint32_t value = 0;

    for (; mask; mask &= mask - 1)
        value |= (uint32_t)get_bits(b, 1) << __builtin_ctz(mask);
    return value;
}

void model_pack(const struct model *m, const struct state *state, uint64_t *words)
{
    struct bits b = { words, 0 };

    memset(words, 0, m->words * sizeof(words[0]));
    put_masked(&b, state->record[0], m->program_bits);
    put_bits(&b, state->alive, m->keys + 1);
    for (unsigned i = 0; i < m->globals; i++)
        put_bits(&b, state->code[i], m->widths[i]);
    for (unsigned key = 1; key <= m->keys; key++) {
        const uint8_t *block = state->code + m->globals + (key - 1) * m->per_key;

        put_masked(&b, state->record[key], m->key_bits);
        for (unsigned i = 0; i < m->per_key; i++)
            put_bits(&b, block[i], m->widths[m->globals + i]);
    }
}

void model_unpack(const struct model *m, const uint64_t *words, struct state *state)
{
    struct packed b = { words, 0 };

    state->record[0] = get_masked(&b, m->program_bits);
    state->alive = (uint32_t)get_bits(&b, m->keys + 1);
    for (unsigned i = 0; i < m->globals; i++)
        state->code[i] = (uint8_t)get_bits(&b, m->widths[i]);
    for (unsigned key = 1; key <= m->keys; key++) {
        uint8_t *block = state->code + m->globals + (key - 1) * m->per_key;

        state->record[key] = get_masked(&b, m->key_bits);
        for (unsigned i = 0; i < m->per_key; i++)
            block[i] = (uint8_t)get_bits(&b, m->widths[m->globals + i]);
    }
}
