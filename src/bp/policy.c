/* Applies a policy to a program: names become bits and types, guards become threads at the end.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bp/policy.h"

#include <stdlib.h>
#include <string.h>

#include "bp/policy_int.h"
#include "bp/program_int.h"

void bp_policy_free(struct bp_policy *policy)
{
    if (!policy)
        return;
    arena_release(&policy->arena);
    free(policy);
}

/* ---- names ---- */

static int find_type(const struct bp_program *program, const char *name)
{
    for (unsigned i = 1; i < program->type_count; i++)
        if (strcmp(program->types[i].name, name) == 0)
            return (int)i;
    return -1;
}

static int find_bit(const struct bp_program *program, const char *name)
{
    for (unsigned i = 0; i < program->bit_count; i++)
        if (strcmp(program->bits[i], name) == 0)
            return (int)i;
    return -1;
}

static const struct policy_name *unknown_event(const struct bp_policy *policy,
                                               const struct bp_program *program)
{
    const struct policy_name *event = policy->events;

    while (event && find_type(program, event->text) >= 0)
        event = event->next;
    return event;
}

static bool names_program(const struct bp_policy *policy, const struct bp_program *program)
{
    for (unsigned i = 0; i < policy->programs.n; i++)
        if (strcmp(policy->programs.p[i].text, program->name) == 0)
            return true;
    return false;
}

bool bp_policy_is_for(const struct bp_policy *policy, const struct bp_program *program)
{
    return policy->programs.n ? names_program(policy, program) : !unknown_event(policy, program);
}

static bool is_program(const char *name, const struct bp_program *const *programs)
{
    while (*programs && strcmp((*programs)->name, name) != 0)
        programs++;
    return *programs;
}

static int no_such_program(const struct bp_policy *policy, const struct policy_name *name,
                           const struct bp_program *const *programs, struct err *err)
{
    AUTO_BUF list = BUF_INIT(400);

    for (; *programs; programs++)
        buf_printf(&list, "%s%s", list.n ? ", " : "", (*programs)->name);
    err_set(err, ERR_NOT_FOUND, "for names %s, which is no program; there are %s", name->text,
            buf_text(&list));
    return policy_at(policy, name->at, err);
}

/* Names an event that nobody knows: most likely a slip of the pen. */
static int no_program_knows(const struct bp_policy *policy,
                            const struct bp_program *const *programs, struct err *err)
{
    for (const struct policy_name *event = policy->events; event; event = event->next) {
        bool known = false;

        for (unsigned i = 0; programs[i]; i++)
            known = known || find_type(programs[i], event->text) >= 0;
        if (known)
            continue;
        err_set(err, ERR_NOT_FOUND, "no program knows an event %s", event->text);
        return policy_at(policy, event->at, err);
    }
    return err_set(err, ERR_NOT_FOUND,
                   "%s: no program knows all of the events; name the program under for, and guard"
                   " each in a policy of its own",
                   policy->file);
}

int bp_policy_fits(const struct bp_policy *policy, const struct bp_program *const *programs,
                   struct err *err)
{
    for (unsigned i = 0; i < policy->programs.n; i++)
        if (!is_program(policy->programs.p[i].text, programs))
            return no_such_program(policy, &policy->programs.p[i], programs, err);
    for (unsigned i = 0; programs[i]; i++)
        if (bp_policy_is_for(policy, programs[i]))
            return 0;
    return no_program_knows(policy, programs, err);
}

/* ---- building ---- */

struct builder {
    struct bp_program *program; /* the combined one */
    const struct bp_policy *policy;
    const struct policy_guard *guard;
    int point; /* -1: the guard as a whole */
    struct arena *arena;
    struct err *err;
};

static int refuse(const struct builder *b, struct yaml_position at, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

static int refuse(const struct builder *b, struct yaml_position at, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    err_set_v(b->err, ERR_SCHEMA_VIOLATION, fmt, args);
    va_end(args);
    if (b->point >= 0)
        err_wrap(b->err, "guard %s, point %d", b->guard->name.text, b->point);
    else
        err_wrap(b->err, "guard %s", b->guard->name.text);
    return policy_at(b->policy, at, b->err);
}

/* "call, thought, ..." of the types with all of these flags, for messages. */
static const char *types_text(const struct builder *b, unsigned flags)
{
    AUTO_BUF text = BUF_INIT(400);

    for (unsigned i = 1; i < b->program->type_count; i++)
        if ((b->program->types[i].flags & flags) == flags)
            buf_printf(&text, "%s%s", text.n ? ", " : "", b->program->types[i].name);
    return arena_text(b->arena, text.n ? buf_text(&text) : "none");
}

static int look_up_types(const struct builder *b, const struct policy_names *names,
                         uint64_t *ret_types)
{
    *ret_types = 0;
    for (unsigned i = 0; i < names->n; i++) {
        int type = find_type(b->program, names->p[i].text);

        if (type < 0)
            return refuse(b, names->p[i].at, "there is no event %s in %s; there are %s",
                          names->p[i].text, b->program->name, types_text(b, 0));
        *ret_types |= BP_TYPE(type);
    }
    return 0;
}

/* but: attributes that may not be named here. */
static int look_up_bits(const struct builder *b, const struct policy_names *names, uint32_t but,
                        uint32_t *ret_bits)
{
    *ret_bits = 0;
    for (unsigned i = 0; i < names->n; i++) {
        int bit = find_bit(b->program, names->p[i].text);

        if (bit < 0)
            return refuse(b, names->p[i].at, "there is no attribute %s; declare it under classify",
                          names->p[i].text);
        if (but >> bit & 1)
            return refuse(b, names->p[i].at, "asks for %s and for its absence", names->p[i].text);
        *ret_bits |= UINT32_C(1) << bit;
    }
    return 0;
}

static uint64_t keyed_types(const struct bp_program *program)
{
    uint64_t types = 0;

    for (unsigned i = 1; i < program->type_count; i++)
        if (program->types[i].flags & BP_KEYED)
            types |= BP_TYPE(i);
    return types;
}

static int build_sel(const struct builder *b, const struct policy_sel *from, bool own_key,
                     struct bp_sel *ret_sel)
{
    uint64_t keyed = keyed_types(b->program);

    *ret_sel = (struct bp_sel){ .go = from->go };
    if (look_up_types(b, &from->on, &ret_sel->types) < 0 ||
        look_up_bits(b, &from->has, 0, &ret_sel->has) < 0 ||
        look_up_bits(b, &from->lacks, ret_sel->has, &ret_sel->lacks) < 0)
        return -1;
    if (!own_key)
        return 0;
    if (ret_sel->types & keyed && ret_sel->types & ~keyed)
        return refuse(b, from->on.p[0].at,
                      "one selector names events with a key and without; write two");
    ret_sel->mine = ret_sel->types & keyed;
    return 0;
}

static int build_request(const struct builder *b, const struct policy_name *name,
                         struct bp_req *ret_req)
{
    int type = find_type(b->program, name->text);

    if (type < 0 || !(b->program->types[type].flags & BP_OPEN))
        return refuse(b, name->at, "may not request %s; policies may request %s", name->text,
                      types_text(b, BP_OPEN));
    *ret_req =
        (struct bp_req){ .type = (uint8_t)type, .mine = b->program->types[type].flags & BP_KEYED };
    return 0;
}

static int build_point(const struct builder *b, const struct policy_point *from,
                       struct bp_point *point)
{
    if (from->request.text && build_request(b, &from->request, &point->request) < 0)
        return -1;
    for (unsigned i = 0; i < from->waits; i++)
        if (build_sel(b, &from->wait[i], true, &point->wait[i]) < 0)
            return -1;
    for (unsigned i = 0; i < from->blocks; i++)
        if (build_sel(b, &from->block[i], b->guard->each_key, &point->block[i]) < 0)
            return -1;
    return 0;
}

static int build_guard(struct builder *b, struct bp_thread *thread)
{
    const struct policy_guard *guard = b->guard;
    struct bp_point *points = ARENA_NEW_N(b->arena, struct bp_point, guard->point_count);

    b->point = -1;
    *thread = (struct bp_thread){
        .name = guard->name.text, .at = points, .n = (uint8_t)guard->point_count, .kind = BP_GUARD
    };
    if (guard->each_key) {
        if (build_sel(b, &guard->each, false, &thread->spawn) < 0)
            return -1;
        if (thread->spawn.types & ~keyed_types(b->program))
            return refuse(b, guard->each.on.p[0].at, "each must name events with a key: %s",
                          types_text(b, BP_KEYED));
    }
    for (b->point = 0; b->point < (int)guard->point_count; b->point++)
        if (build_point(b, &guard->points[b->point], &points[b->point]) < 0)
            return -1;
    return 0;
}

/* The policy's attributes get the bits after the program's own. */
static int add_attributes(const struct builder *b, const struct bp_policy *policy)
{
    struct bp_program *p = b->program;
    const char **names = ARENA_NEW_N(b->arena, const char *, BP_BITS_MAX);
    struct bp_type *types = ARENA_NEW_N(b->arena, struct bp_type, p->type_count);
    uint32_t added = 0;

    if (p->bit_count)
        memcpy(names, p->bits, p->bit_count * sizeof(names[0]));
    memcpy(types, p->types, p->type_count * sizeof(types[0]));
    p->bits = names;
    p->types = types;
    for (unsigned i = 0; i < policy->attribute_count; i++) {
        if (find_bit(p, policy->attributes[i].name) >= 0)
            continue;
        if (p->bit_count == BP_BITS_MAX)
            return err_set(b->err, ERR_TOO_LARGE, "no bit is left for attribute %s: %d are allowed",
                           policy->attributes[i].name, BP_BITS_MAX);
        added |= UINT32_C(1) << p->bit_count;
        names[p->bit_count++] = policy->attributes[i].name;
    }
    for (unsigned i = 1; i < p->type_count; i++)
        if (types[i].flags & BP_KEYED && types[i].flags & (BP_BIRTH | BP_LATCH))
            types[i].bits |= added;
    return 0;
}

static int add_guards(struct builder *b, const struct bp_policy *policy)
{
    struct bp_program *p = b->program;
    struct bp_thread *threads =
        ARENA_NEW_N(b->arena, struct bp_thread, p->thread_count + policy->guard_count + 1u);

    memcpy(threads, p->threads, p->thread_count * sizeof(threads[0]));
    for (unsigned i = 0; i < policy->guard_count; i++) {
        b->guard = &policy->guards[i];
        b->point = -1;
        if (bp_thread_find(p, b->guard->name.text) >= 0)
            return refuse(b, b->guard->name.at, "%s already has a thread of that name", p->name);
        if (build_guard(b, &threads[p->thread_count + i]) < 0)
            return -1;
    }
    p->threads = threads;
    p->thread_count = (uint16_t)(p->thread_count + policy->guard_count);
    return 0;
}

/* What the checks of every program find in a guard has its place in the policy, too. */
static int check_combined(const struct builder *b, unsigned own_threads)
{
    struct program_spot at;
    const struct policy_guard *guard;

    if (program_check(b->program, &at, b->err) >= 0)
        return 0;
    if (at.thread < (int)own_threads)
        return -1;
    guard = &b->policy->guards[(unsigned)at.thread - own_threads];
    return policy_at(b->policy, at.point >= 0 ? guard->points[at.point].at : guard->name.at,
                     b->err);
}

int bp_policy_apply(const struct bp_program *program, const struct bp_policy *policy,
                    struct arena *arena, const struct bp_program **ret_program, struct err *err)
{
    struct builder b = { .policy = policy, .arena = arena, .point = -1, .err = err };

    b.program = ARENA_NEW(arena, struct bp_program);
    *b.program = *program;
    if (add_attributes(&b, policy) < 0 || add_guards(&b, policy) < 0 ||
        check_combined(&b, program->thread_count) < 0)
        return err_wrap(err, "policy");
    *ret_program = b.program;
    return 0;
}

uint32_t bp_policy_classify(const struct bp_policy *policy, const struct bp_program *combined,
                            const struct expr_facts *facts)
{
    uint32_t bits = 0;

    for (unsigned i = 0; i < policy->attribute_count; i++) {
        int bit = find_bit(combined, policy->attributes[i].name);

        if (bit >= 0 && expr_holds(policy->attributes[i].expr, facts))
            bits |= UINT32_C(1) << bit;
    }
    return bits;
}
