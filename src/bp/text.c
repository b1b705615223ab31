/* Events, selectors and places in words.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bp/engine.h"

static const char *type_name(const struct bp_program *program, unsigned type)
{
    return type && type < program->type_count ? program->types[type].name : "?";
}

static void bit_name(const struct bp_program *program, unsigned bit, struct buf *out)
{
    if (bit < program->bit_count && program->bits[bit])
        buf_add_text(out, program->bits[bit]);
    else
        buf_printf(out, "bit%u", bit);
}

void bp_event_text(const struct bp_program *program, const struct bp_event *event, struct buf *out)
{
    const char *between = "";

    buf_add_text(out, type_name(program, event->type));
    if (!event->key && !event->bits)
        return;
    buf_add_char(out, '(');
    if (event->key) {
        buf_printf(out, "%u", event->key);
        between = ", ";
    }
    for (uint32_t left = event->bits; left; left &= left - 1, between = ", ") {
        buf_add_text(out, between);
        bit_name(program, (unsigned)__builtin_ctz(left), out);
    }
    buf_add_char(out, ')');
}

void bp_point_text(const struct bp_thread *thread, unsigned point, struct buf *out)
{
    buf_printf(out, "%u", point);
    if (point < thread->n && thread->at[point].name)
        buf_printf(out, " (%s)", thread->at[point].name);
}

void bp_place_text(const struct bp_place *place, struct buf *out)
{
    buf_add_text(out, place->thread->name);
    if (place->key)
        buf_printf(out, "(%u)", place->key);
    buf_add_text(out, " at ");
    bp_point_text(place->thread, place->point, out);
}

static void bits_text(const struct bp_program *program, uint32_t bits, const char *before,
                      const char **between, struct buf *out)
{
    for (; bits; bits &= bits - 1) {
        buf_printf(out, "%s%s", *between, before);
        bit_name(program, (unsigned)__builtin_ctz(bits), out);
        *between = " and ";
    }
}

void bp_sel_text(const struct bp_program *program, const struct bp_sel *sel, struct buf *out)
{
    const char *between = "";

    for (uint64_t left = sel->types; left; left &= left - 1, between = ", ")
        buf_printf(out, "%s%s", between, type_name(program, (unsigned)__builtin_ctzll(left)));
    if (sel->mine)
        buf_add_text(out, " of its key");
    between = " where ";
    bits_text(program, sel->has, "", &between, out);
    bits_text(program, sel->lacks, "not ", &between, out);
}

/* What each reason says after the event; %s is the place in its way where there is one. */
static const char *const reason_words[] = {
    [BP_FINE] = "is possible",
    [BP_NO_SUCH_TYPE] = "has no known type",
    [BP_NOT_FROM_OUTSIDE] = "does not come from outside: only a thread may request it",
    [BP_BAD_KEY] = "has a key where none is allowed, none where one is needed, or one out of range",
    [BP_KEY_NOT_BORN] = "speaks of a key that does not live",
    [BP_KEY_IN_USE] = "begins a key that already lives",
    [BP_BAD_BITS] = "carries attributes that its type may not have",
    [BP_BLOCKED] = "is blocked by ",
    [BP_FULL] = "would begin one more instance than is allowed of ",
    [BP_NOT_QUIET] = "was offered while a selection is under way",
    [BP_NOT_REQUESTED] = "is not requested by any thread",
    [BP_NOT_NEXT] = "does not come next: that is ",
    [BP_ENDLESS] = "leads to a super-step without end, kept going by ",
};

void bp_refusal_text(const struct bp_program *program, const struct bp_event *event,
                     const struct bp_refusal *refusal, struct buf *out)
{
    bp_event_text(program, event, out);
    buf_printf(out, " %s", reason_words[refusal->reason]);
    if (refusal->reason == BP_NOT_NEXT) {
        bp_event_text(program, &refusal->instead, out);
        buf_add_text(out, ", requested by ");
    }
    if (refusal->reason == BP_FULL)
        buf_add_text(out, refusal->by.thread ? refusal->by.thread->name : "a thread");
    else if (refusal->by.thread)
        bp_place_text(&refusal->by, out);
}
