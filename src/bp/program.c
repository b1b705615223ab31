/* What makes a program sound, its digest, and programs made from programs.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "base/alloc.h"
#include "bp/program_int.h"

/* Where the check is, for messages. */
struct spot {
    const struct bp_program *program;
    const struct bp_thread *thread;
    int point; /* -1: the thread as a whole */
    bool keyed;
    struct err *err;
};

static int complain(const struct spot *s, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

static int complain(const struct spot *s, const char *fmt, ...)
{
    AUTO_BUF place = BUF_INIT(256);
    va_list args;

    va_start(args, fmt);
    err_set_v(s->err, ERR_SCHEMA_VIOLATION, fmt, args);
    va_end(args);
    if (s->thread) {
        buf_printf(&place, "thread %s", s->thread->name);
        if (s->point >= 0) {
            buf_add_text(&place, ", point ");
            bp_point_text(s->thread, (unsigned)s->point, &place);
        }
        err_wrap(s->err, "%s", buf_text(&place));
    }
    return err_wrap(s->err, "program %s", s->program->name);
}

/* ---- types, attributes, limits ---- */

static int check_type(struct spot *s, unsigned index)
{
    const struct bp_type *type = &s->program->types[index];
    const char *name = type->name;
    unsigned flags = type->flags;

    if (!name || !*name)
        return complain(s, "type %u has no name", index);
    for (unsigned i = 1; i < index; i++)
        if (strcmp(s->program->types[i].name, name) == 0)
            return complain(s, "two types are named %s", name);
    if (flags & (BP_BIRTH | BP_RETIRE) && !(flags & BP_KEYED))
        return complain(s, "type %s has BIRTH or RETIRE, which need KEYED", name);
    if (flags & BP_BIRTH && (!(flags & BP_EXT) || flags & BP_RETIRE))
        return complain(s, "type %s has BIRTH, which needs EXT and excludes RETIRE", name);
    if (flags & BP_COOP && !(flags & BP_EXT))
        return complain(s, "type %s has COOP, which needs EXT", name);
    if (flags & BP_OPEN && flags & BP_EXT)
        return complain(s, "type %s has OPEN and EXT, which exclude each other", name);
    if (flags & BP_COOP && flags & BP_FINAL)
        return complain(s, "type %s has COOP and FINAL, which exclude each other", name);
    if (type->bits && !(flags & (BP_EXT | BP_LATCH)))
        return complain(s, "type %s has bits, which only EXT and LATCH types may carry", name);
    if (type->bits >> 1 >> (s->program->bit_count ? s->program->bit_count - 1 : 0) ||
        (type->bits && !s->program->bit_count))
        return complain(s, "type %s has attributes beyond the %u that are named", name,
                        s->program->bit_count);
    return 0;
}

static unsigned first_named(const char *const *names, const char *name)
{
    unsigned i = 0;

    while (strcmp(names[i], name) != 0)
        i++;
    return i;
}

static int check_vocabulary(struct spot *s)
{
    const struct bp_program *p = s->program;

    if (p->type_count < 2 || p->type_count > BP_TYPES_MAX)
        return complain(s, "%u types; 2 to %d are allowed, the first being reserved", p->type_count,
                        BP_TYPES_MAX);
    if (p->types[0].name)
        return complain(s, "type 0 is named %s, but 0 means none", p->types[0].name);
    if (p->bit_count > BP_BITS_MAX)
        return complain(s, "%u attributes; %d are allowed", p->bit_count, BP_BITS_MAX);
    for (unsigned i = 0; i < p->bit_count; i++)
        if (!p->bits[i] || !*p->bits[i])
            return complain(s, "attribute %u has no name", i);
        else if (first_named(p->bits, p->bits[i]) != i)
            return complain(s, "two attributes are named %s", p->bits[i]);
    if (p->limit_count > BP_LIMITS_MAX)
        return complain(s, "%u limits; %d are allowed", p->limit_count, BP_LIMITS_MAX);
    for (unsigned i = 0; i < p->limit_count; i++)
        if (!p->limits[i].name || !p->limits[i].value || !p->limits[i].checked)
            return complain(s, "limit %u needs a name, a value and a checked value above 0", i);
    for (unsigned i = 1; i < p->type_count; i++)
        if (check_type(s, i) < 0)
            return -1;
    return 0;
}

/* ---- selectors and requests ---- */

static uint64_t known_types(const struct bp_program *program)
{
    uint64_t all = program->type_count == 64 ? UINT64_MAX : BP_TYPE(program->type_count) - 1;

    return all & ~UINT64_C(1);
}

static uint64_t types_with(const struct bp_program *program, unsigned flags)
{
    uint64_t types = 0;

    for (unsigned i = 1; i < program->type_count; i++)
        if ((program->types[i].flags & flags) == flags)
            types |= BP_TYPE(i);
    return types;
}

static uint32_t known_bits(const struct bp_program *program)
{
    return program->bit_count == 32 ? UINT32_MAX : (UINT32_C(1) << program->bit_count) - 1;
}

static int check_go(const struct spot *s, uint8_t go, const char *where)
{
    if (go != BP_NEXT && go != BP_END && go - 1u >= s->thread->n)
        return complain(s, "%s goes to point %u, but there are only %u", where, go - 1u,
                        s->thread->n);
    return 0;
}

static int check_sel(const struct spot *s, const struct bp_sel *sel, const char *where)
{
    if (sel->types & ~known_types(s->program))
        return complain(s, "%s names a type that does not exist", where);
    if ((sel->has | sel->lacks) & ~known_bits(s->program))
        return complain(s, "%s asks for an attribute that does not exist", where);
    if (sel->has & sel->lacks)
        return complain(s, "%s asks for an attribute and for its absence", where);
    if (sel->mine && !s->keyed)
        return complain(s, "%s says mine, but the thread has no key (spawn it by a KEYED type)",
                        where);
    if (sel->mine && sel->types & ~types_with(s->program, BP_KEYED))
        return complain(s, "%s says mine of a type that is not KEYED", where);
    return check_go(s, sel->go, where);
}

static int check_sels(const struct spot *s, const struct bp_sel *sels, unsigned n,
                      const char *where)
{
    bool ended = false;

    for (unsigned i = 0; i < n; i++) {
        if (!sels[i].types) {
            ended = true;
            continue;
        }
        if (ended)
            return complain(s, "%s has an empty place before a used one", where);
        if (check_sel(s, &sels[i], where) < 0)
            return -1;
    }
    return 0;
}

static int check_request(const struct spot *s, const struct bp_req *req)
{
    const struct bp_type *type;

    if (!req->type)
        return 0;
    if (req->type >= s->program->type_count)
        return complain(s, "requests type %u, which does not exist", req->type);
    type = &s->program->types[req->type];
    if (s->thread->kind != BP_PROGRAM && s->thread->kind != BP_GUARD)
        return complain(s, "requests %s, but only program and guard threads may request",
                        type->name);
    if (type->flags & BP_EXT)
        return complain(s, "requests %s, which is EXT: it only comes from outside", type->name);
    if (type->flags & BP_KEYED && !req->mine)
        return complain(s, "requests %s, which is KEYED, without mine", type->name);
    if (!(type->flags & BP_KEYED) && req->mine)
        return complain(s, "requests %s as mine, but it is not KEYED", type->name);
    if (req->mine && !s->keyed)
        return complain(s, "requests %s as mine, but the thread has no key", type->name);
    if (req->set & ~known_bits(s->program))
        return complain(s, "sets an attribute that does not exist");
    return check_go(s, req->go, "request");
}

/* ---- points and threads ---- */

static int check_times(const struct spot *s, const struct bp_point *point)
{
    if (point->times & 0x8000 && (point->times & 0x7fffu) >= s->program->limit_count)
        return complain(s, "times refers to limit %u, but there are %u", point->times & 0x7fffu,
                        s->program->limit_count);
    if (point->times && !point->wait[0].types)
        return complain(s, "has times, but nothing to wait for");
    return 0;
}

static int check_kind(const struct spot *s, const struct bp_point *point)
{
    uint64_t blocked = 0;

    for (int i = 0; i < BP_BLOCKS; i++)
        blocked |= point->block[i].types;
    if (point->bad && s->thread->kind != BP_PROPERTY)
        return complain(s, "is bad, which only points of property threads may be");
    if (s->thread->kind == BP_PROPERTY && blocked)
        return complain(s, "blocks, but a property thread may only wait");
    if (s->thread->kind == BP_ENVIRONMENT && blocked & ~types_with(s->program, BP_EXT))
        return complain(s, "blocks a type that is not EXT: the environment has no say in it");
    return 0;
}

static int check_point(const struct spot *s)
{
    const struct bp_point *point = &s->thread->at[s->point];

    if (check_request(s, &point->request) < 0 || check_sels(s, point->wait, BP_WAITS, "wait") < 0 ||
        check_sels(s, point->block, BP_BLOCKS, "block") < 0 || check_times(s, point) < 0)
        return -1;
    return check_kind(s, point);
}

static void mark(const struct bp_thread *thread, bool *seen, unsigned point, uint8_t go)
{
    int to = bp_target(thread, point, go);

    if (to >= 0)
        seen[to] = true;
}

static void mark_targets(const struct bp_thread *thread, bool *seen, unsigned point)
{
    const struct bp_point *at = &thread->at[point];

    if (at->request.type)
        mark(thread, seen, point, at->request.go);
    for (int i = 0; i < BP_WAITS; i++)
        if (at->wait[i].types)
            mark(thread, seen, point, at->wait[i].go);
    for (int i = 0; i < BP_UNTILS; i++)
        if (thread->until[i].types)
            mark(thread, seen, point, thread->until[i].go);
}

/* Marks spread until nothing changes: a thread has few points. */
static int check_reachable(struct spot *s)
{
    bool seen[BP_POINTS_MAX] = { true }, done[BP_POINTS_MAX] = { false }, more = true;

    while (more) {
        more = false;
        for (unsigned i = 0; i < s->thread->n; i++)
            if (seen[i] && !done[i]) {
                done[i] = more = true;
                mark_targets(s->thread, seen, i);
            }
    }
    for (unsigned i = 0; i < s->thread->n; i++)
        if (!seen[i]) {
            s->point = (int)i;
            return complain(s, "no way leads here");
        }
    return 0;
}

static int check_spawn(const struct spot *s)
{
    const struct bp_sel *spawn = &s->thread->spawn;
    uint64_t keyed = types_with(s->program, BP_KEYED);

    if (!spawn->types)
        return s->thread->max ? complain(s, "has max, which needs spawn") : 0;
    if (spawn->types & keyed && spawn->types & ~keyed)
        return complain(s, "spawns by types with and without a key; all or none must be KEYED");
    if (spawn->mine)
        return complain(s, "spawn says mine, but there is no instance yet");
    if (spawn->types & types_with(s->program, BP_RETIRE))
        return complain(s, "spawns by a RETIRE type, which ends the key at once");
    if (s->thread->max && spawn->types & ~types_with(s->program, BP_EXT))
        return complain(s, "has max, which needs spawn by EXT types: only those can be refused");
    return check_sel(s, spawn, "spawn");
}

static int check_thread(struct spot *s)
{
    const struct bp_thread *thread = s->thread;

    s->point = -1;
    if (!thread->at || !thread->n || thread->n > BP_POINTS_MAX)
        return complain(s, "has %u points; 1 to %d are allowed", thread->n, BP_POINTS_MAX);
    if (thread->kind > BP_PROPERTY)
        return complain(s, "is of kind %u, which does not exist", thread->kind);
    if (check_spawn(s) < 0)
        return -1;
    s->keyed = bp_is_keyed(s->program, thread);
    if (check_sels(s, thread->until, BP_UNTILS, "until") < 0)
        return -1;
    for (s->point = 0; s->point < thread->n; s->point++)
        if (check_point(s) < 0)
            return -1;
    return check_reachable(s);
}

static int check_threads(struct spot *s)
{
    const struct bp_program *program = s->program;

    for (unsigned i = 0; i < program->thread_count; i++) {
        const char *name = program->threads[i].name;

        s->thread = NULL;
        if (!name || !*name)
            return complain(s, "thread %u has no name", i);
        if (bp_thread_find(program, name) != (int)i)
            return complain(s, "two threads are named %s", name);
        s->thread = &program->threads[i];
        if (check_thread(s) < 0)
            return -1;
    }
    return 0;
}

int program_check(const struct bp_program *program, struct program_spot *ret_spot, struct err *err)
{
    struct spot s = { .program = program, .point = -1, .err = err };
    int r;

    *ret_spot = (struct program_spot){ -1, -1 };
    if (!program->name || !*program->name)
        return err_set(err, ERR_SCHEMA_VIOLATION, "a program has no name");
    if (program->thread_count > BP_THREADS_MAX)
        return complain(&s, "%u threads; %d are allowed", program->thread_count, BP_THREADS_MAX);
    r = check_vocabulary(&s) < 0 ? -1 : check_threads(&s);
    *ret_spot =
        (struct program_spot){ s.thread ? (int)(s.thread - program->threads) : -1, s.point };
    return r;
}

int bp_program_check(const struct bp_program *program, struct err *err)
{
    struct program_spot ignored;

    return program_check(program, &ignored, err);
}

/* ---- programs from programs ---- */

int bp_thread_find(const struct bp_program *program, const char *name)
{
    for (unsigned i = 0; i < program->thread_count; i++)
        if (strcmp(program->threads[i].name, name) == 0)
            return (int)i;
    return -1;
}

const struct bp_program *bp_program_without(const struct bp_program *program, const char *name,
                                            struct arena *arena)
{
    int gone = bp_thread_find(program, name);
    struct bp_program *copy;
    struct bp_thread *threads;

    if (gone < 0)
        return NULL;
    copy = ARENA_NEW(arena, struct bp_program);
    threads = ARENA_NEW_N(arena, struct bp_thread, program->thread_count);
    *copy = *program;
    copy->threads = threads;
    copy->thread_count--;
    memcpy(threads, program->threads, (size_t)gone * sizeof(threads[0]));
    memcpy(threads + gone, program->threads + gone + 1,
           (size_t)(copy->thread_count - gone) * sizeof(threads[0]));
    return copy;
}
