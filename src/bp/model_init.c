/* Sets a model up: which codes a thread's places have, and which attributes matter.
 *
 * An attribute matters in an event if a selector that names the event's type looks at it. BIRTH and
 * LATCH carry attributes into a record, from where requests inherit them, so for these the
 * attributes matter that are looked at in any requested event. All others are left out: states
 * that differ in them only behave alike.
 *
 * And an attribute of a key matters as long as some thread of that key may yet request an event in
 * which it is looked at: a call that was refused is like any other that was, whatever it was
 * refused for. An event that rewrites the whole record ends what mattered before.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "bp/model_int.h"

#define CODES_MAX 255

static unsigned times_of(const struct model *m, const struct bp_point *point)
{
    unsigned times = point->times & 0x8000 ? m->limits[point->times & 0x7fff] : point->times;

    return times ? times : 1;
}

static int number_codes(struct model *m, struct model_thread *t, struct err *err)
{
    unsigned codes = 0, code = 0;

    for (unsigned i = 0; i < t->thread->n; i++)
        codes += times_of(m, &t->thread->at[i]);
    if (codes > CODES_MAX)
        return err_set(err, ERR_TOO_LARGE,
                       "thread %s has %u places to be told apart (points and counts); the checker"
                       " takes %d: check it with a smaller limit",
                       t->thread->name, codes, CODES_MAX);
    t->codes = (uint8_t)codes;
    t->point_of = ARENA_NEW_N(&m->arena, uint8_t, codes + 1);
    t->count_of = ARENA_NEW_N(&m->arena, uint8_t, codes + 1);
    t->code_of = ARENA_NEW_N(&m->arena, uint8_t, t->thread->n + 1u);
    for (unsigned i = 0; i < t->thread->n; i++) {
        t->code_of[i] = (uint8_t)(code + 1);
        for (unsigned count = 0; count < times_of(m, &t->thread->at[i]); count++, code++) {
            t->point_of[code] = (uint8_t)i;
            t->count_of[code] = (uint8_t)count;
        }
    }
    return 0;
}

static void collect_types(struct model *m, struct model_thread *t)
{
    uint64_t until = 0;

    t->reacts = ARENA_NEW_N(&m->arena, uint64_t, t->thread->n + 1u);
    t->blocks = ARENA_NEW_N(&m->arena, uint64_t, t->thread->n + 1u);
    for (int i = 0; i < BP_UNTILS; i++)
        until |= t->thread->until[i].types;
    t->ever_reacts = t->thread->spawn.types;
    for (unsigned i = 0; i < t->thread->n; i++) {
        const struct bp_point *point = &t->thread->at[i];

        t->reacts[i] = until;
        if (point->request.type)
            t->reacts[i] |= BP_TYPE(point->request.type);
        for (int w = 0; w < BP_WAITS; w++)
            t->reacts[i] |= point->wait[w].types;
        for (int b = 0; b < BP_BLOCKS; b++)
            t->blocks[i] |= point->block[b].types;
        t->ever_reacts |= t->reacts[i];
        t->ever_blocks |= t->blocks[i];
    }
}

/* ---- attributes that matter ---- */

static void look(uint32_t looked[BP_TYPES_MAX], const struct bp_sel *sel)
{
    for (uint64_t left = sel->types; left; left &= left - 1)
        looked[__builtin_ctzll(left)] |= sel->has | sel->lacks;
}

static void look_at_thread(uint32_t looked[BP_TYPES_MAX], const struct bp_thread *thread)
{
    look(looked, &thread->spawn);
    for (int i = 0; i < BP_UNTILS; i++)
        look(looked, &thread->until[i]);
    for (unsigned p = 0; p < thread->n; p++) {
        const struct bp_point *point = &thread->at[p];

        for (int i = 0; i < BP_WAITS; i++)
            look(looked, &point->wait[i]);
        for (int i = 0; i < BP_BLOCKS; i++)
            look(looked, &point->block[i]);
        /* What a request sets tells it from another request of the same type. */
        looked[point->request.type] |= point->request.set;
    }
}

static void inherit(struct model *m, unsigned type)
{
    m->program_bits |= m->looked[type];
    if (m->program->types[type].flags & BP_KEYED)
        m->key_bits |= m->looked[type];
}

static void find_inherited(struct model *m)
{
    for (unsigned i = 0; i < m->thread_count; i++)
        for (unsigned p = 0; p < m->threads[i].thread->n; p++)
            if (m->threads[i].thread->at[p].request.type)
                inherit(m, m->threads[i].thread->at[p].request.type);
    for (unsigned i = 0; i < m->free_count; i++)
        inherit(m, m->free[i].type);
}

static void find_attributes(struct model *m, bool all)
{
    uint32_t program_may = 0, key_may = 0;

    for (unsigned i = 0; i < m->thread_count; i++)
        look_at_thread(m->looked, m->threads[i].thread);
    find_inherited(m);
    for (unsigned t = 1; t < m->program->type_count; t++) {
        const struct bp_type *type = &m->program->types[t];
        uint32_t matters = m->looked[t];

        if (type->flags & (BP_BIRTH | BP_LATCH)) {
            matters |= type->flags & BP_KEYED ? m->key_bits : m->program_bits;
            *(type->flags & BP_KEYED ? &key_may : &program_may) |= type->bits;
        }
        m->vary[t] = all ? type->bits : type->bits & matters;
    }
    m->program_bits = all ? program_may : m->program_bits & program_may;
    m->key_bits = all ? key_may : m->key_bits & key_may;
}

/* ---- for how long they do ---- */

/* Do all events of the set rewrite everything that is kept of their key? */
static bool rewrites(const struct model *m, const struct bp_sel *sel)
{
    for (uint64_t left = sel->types; left; left &= left - 1) {
        const struct bp_type *type = &m->program->types[__builtin_ctzll(left)];

        if (!(type->flags & BP_KEYED) || !(type->flags & (BP_BIRTH | BP_LATCH)) ||
            m->key_bits & ~type->bits)
            return false;
    }
    return true;
}

static uint32_t asked_after(const struct model *m, const struct model_thread *t, unsigned point,
                            const struct bp_sel *sel)
{
    int to = sel->types ? bp_target(t->thread, point, sel->go) : -1;

    return to < 0 || (sel->mine && rewrites(m, sel)) ? 0 : t->asks_with[to];
}

static uint32_t asked_from(const struct model *m, const struct model_thread *t, unsigned point)
{
    const struct bp_point *at = &t->thread->at[point];
    uint32_t bits = 0;
    int to;

    if (at->request.type) {
        to = bp_target(t->thread, point, at->request.go);
        bits =
            (at->request.mine ? m->looked[at->request.type] : 0) | (to < 0 ? 0 : t->asks_with[to]);
    }
    for (int i = 0; i < BP_WAITS; i++)
        bits |= asked_after(m, t, point, &at->wait[i]);
    for (int i = 0; i < BP_UNTILS; i++)
        bits |= asked_after(m, t, point, &t->thread->until[i]);
    return bits;
}

static void follow_asking(struct model *m, struct model_thread *t)
{
    bool changed = true;

    t->asks_with = ARENA_NEW_N(&m->arena, uint32_t, t->thread->n + 1u);
    while (changed) {
        changed = false;
        for (unsigned p = 0; p < t->thread->n; p++) {
            uint32_t bits = asked_from(m, t, p) | t->asks_with[p];

            changed = changed || bits != t->asks_with[p];
            t->asks_with[p] = bits;
        }
    }
    /* It may begin at any moment of a key that lives, and find what is kept then. */
    if (t->keyed && !rewrites(m, &t->thread->spawn))
        m->always |= t->asks_with[0];
}

static void find_needed(struct model *m, bool all)
{
    if (all)
        m->always = ~UINT32_C(0);
    for (unsigned i = 0; i < m->free_count; i++)
        m->always |= m->looked[m->free[i].type];
    for (unsigned i = 0; i < m->thread_count; i++)
        follow_asking(m, &m->threads[i]);
}

/* ---- sizes ---- */

static unsigned width_of(unsigned codes)
{
    unsigned width = 0;

    while (codes >> width)
        width++;
    return width;
}

static int lay_out(struct model *m, struct err *err)
{
    unsigned bits, block = (unsigned)__builtin_popcount(m->key_bits);

    m->slots = m->globals + m->keys * m->per_key;
    if (m->slots > MODEL_SLOTS_MAX)
        return err_set(err, ERR_TOO_LARGE,
                       "program %s has %u thread instances with %u keys; the checker takes %d",
                       m->program->name, m->slots, m->keys, MODEL_SLOTS_MAX);
    m->widths = ARENA_NEW_N(&m->arena, uint8_t, m->globals + m->per_key + 1);
    bits = m->keys + 1 + (unsigned)__builtin_popcount(m->program_bits);
    for (unsigned i = 0; i < m->thread_count; i++) {
        struct model_thread *t = &m->threads[i];
        unsigned width = width_of(t->codes);

        m->widths[(t->keyed ? m->globals : 0) + t->offset] = (uint8_t)width;
        *(t->keyed ? &block : &bits) += width;
    }
    bits += block * m->keys;
    m->words = (bits + 63) / 64;
    if (m->words > MODEL_WORDS_MAX)
        return err_set(err, ERR_TOO_LARGE,
                       "a state of program %s takes %u bits with %u keys; the checker takes %d",
                       m->program->name, bits, m->keys, MODEL_WORDS_MAX * 64);
    return 0;
}

static int check_offers(const struct model *m, struct err *err)
{
    uint64_t events = 0;

    for (unsigned t = 1; t < m->program->type_count; t++) {
        const struct bp_type *type = &m->program->types[t];
        unsigned keys = type->flags & BP_KEYED && !(type->flags & BP_BIRTH) ? m->keys : 1;

        if (type->flags & BP_EXT)
            events += keys * (UINT64_C(1) << __builtin_popcount(m->vary[t]));
    }
    events += (uint64_t)m->free_count * (m->keys + 1);
    if (events > MODEL_EVENTS_MAX)
        return err_set(err, ERR_TOO_LARGE,
                       "program %s allows %llu different events from outside at once; the checker"
                       " takes %d: let fewer attributes be looked at",
                       m->program->name, (unsigned long long)events, MODEL_EVENTS_MAX);
    return 0;
}

static bool takes_part(const struct bp_program *program, unsigned index,
                       const struct model_scope *scope)
{
    const struct bp_thread *thread = &program->threads[index];

    if (thread->kind == BP_PROPERTY)
        return scope->property && strcmp(scope->property, thread->name) == 0;
    if (thread->kind == BP_ENVIRONMENT)
        return scope->environment;
    return !scope->keep || scope->keep[index];
}

static void add_free(struct model *m, const struct bp_req *req)
{
    for (unsigned i = 0; i < m->free_count; i++)
        if (m->free[i].type == req->type && m->free[i].set == req->set)
            return;
    m->free[m->free_count++] = (struct model_free){ req->type, req->set };
}

/* What the threads that take no part would request. */
static void free_requests(struct model *m, const struct model_scope *scope)
{
    const struct bp_program *p = m->program;
    unsigned points = 0;

    for (unsigned i = 0; i < p->thread_count; i++)
        points += p->threads[i].n;
    m->free = ARENA_NEW_N(&m->arena, struct model_free, points + 1);
    for (unsigned i = 0; i < p->thread_count; i++)
        for (unsigned at = 0; !takes_part(p, i, scope) && at < p->threads[i].n; at++)
            if (p->threads[i].at[at].request.type)
                add_free(m, &p->threads[i].at[at].request);
}

static void take_threads(struct model *m, const struct model_scope *scope)
{
    const struct bp_program *p = m->program;

    m->threads = ARENA_NEW_N(&m->arena, struct model_thread, p->thread_count + 1u);
    for (unsigned i = 0; i < p->thread_count; i++) {
        struct model_thread *t = &m->threads[m->thread_count];

        if (!takes_part(p, i, scope))
            continue;
        t->thread = &p->threads[i];
        t->index = (uint16_t)i;
        t->keyed = bp_is_keyed(p, t->thread);
        t->offset = (uint16_t)(t->keyed ? m->per_key++ : m->globals++);
        m->thread_count++;
    }
}

int model_init(struct model *m, const struct bp_program *program, unsigned keys,
               struct model_scope scope, const uint16_t *limits, struct err *err)
{
    *m = (struct model){ .program = program, .keys = keys };
    if (keys > MODEL_KEYS_MAX)
        return err_set(err, ERR_BAD_REQUEST, "%u keys to check with; at most %d are allowed", keys,
                       MODEL_KEYS_MAX);
    for (unsigned i = 0; i < program->limit_count; i++)
        m->limits[i] = limits && limits[i] ? limits[i] : program->limits[i].checked;
    take_threads(m, &scope);
    free_requests(m, &scope);
    for (unsigned i = 0; i < m->thread_count; i++) {
        if (number_codes(m, &m->threads[i], err) < 0)
            return -1;
        collect_types(m, &m->threads[i]);
    }
    find_attributes(m, scope.all_bits);
    find_needed(m, scope.all_bits);
    if (lay_out(m, err) < 0)
        return -1;
    return scope.all_bits ? 0 : check_offers(m, err); /* all bits: walked, never explored */
}

void model_release(struct model *m)
{
    arena_release(&m->arena);
}
