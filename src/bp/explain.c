/* Explanations walk all instances plainly; they are for people, not for selection.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bp/explain.h"

#include "bp/engine_int.h"

/* Calls fn for every instance that lives, by priority. */
typedef void visit_fn(void *ctx, const struct bp_place *place);

static void visit(const struct bp_engine *e, visit_fn *fn, void *ctx)
{
    for (unsigned i = 0; i < e->program->thread_count; i++) {
        const struct bp_thread *thread = &e->program->threads[i];
        uint16_t key = bp_is_keyed(e->program, thread) ? e->oldest : 0;

        if (e->first_slot[i] == NONE || (bp_is_keyed(e->program, thread) && !key))
            continue;
        do {
            int point = bp_point_of(e, i, key);
            struct bp_place place = { thread, (uint16_t)i, key, (uint8_t)point };

            if (point >= 0)
                fn(ctx, &place);
            key = key ? e->keys[key].younger : 0;
        } while (key);
    }
}

static struct bp_event wish_at(const struct bp_engine *e, const struct bp_place *place)
{
    const struct bp_req *req = &place->thread->at[place->point].request;
    struct bp_event event = { .type = req->type, .bits = e->record | req->set };

    if (req->mine) {
        event.key = place->key;
        event.bits |= bp_record(e, place->key);
    }
    return event;
}

static bool any_matches(const struct bp_sel *sels, unsigned n, const struct bp_event *event,
                        uint16_t key)
{
    for (unsigned i = 0; i < n; i++)
        if (bp_sel_matches(&sels[i], event, key))
            return true;
    return false;
}

/* ---- one event ---- */

struct asking {
    const struct bp_engine *engine;
    struct bp_why *why;
};

static void note_concern(void *ctx, const struct bp_place *place)
{
    struct asking *a = ctx;
    struct bp_why *why = a->why;
    const struct bp_point *at = &place->thread->at[place->point];
    struct bp_event wish = wish_at(a->engine, place);

    if (wish.type == why->event.type && wish.key == why->event.key && wish.bits == why->event.bits)
        why->requested[why->requested_count++] = *place;
    if (any_matches(at->wait, BP_WAITS, &why->event, place->key) ||
        any_matches(place->thread->until, BP_UNTILS, &why->event, place->key))
        why->waited[why->waited_count++] = *place;
    if (any_matches(at->block, BP_BLOCKS, &why->event, place->key))
        why->blocked[why->blocked_count++] = *place;
}

static enum bp_reason find_reason(struct bp_engine *e, struct bp_why *why)
{
    struct bp_refusal refusal = { .reason = BP_FINE };
    enum bp_reason reason = bp_event_reason(e, &why->event);
    struct bp_event next;

    why->next = bp_next(e, &next, NULL) && next.type == why->event.type &&
                next.key == why->event.key && next.bits == why->event.bits;
    if (reason != BP_FINE && reason != BP_NOT_FROM_OUTSIDE)
        return reason;
    if (why->blocked_count)
        return BP_BLOCKED;
    if (reason == BP_NOT_FROM_OUTSIDE)
        return why->requested_count ? BP_FINE : BP_NOT_REQUESTED;
    if (bp_admit(e, &why->event, &refusal) < 0 && refusal.reason == BP_FULL)
        why->full = refusal.by.thread;
    return refusal.reason;
}

void bp_explain(struct bp_engine *e, const struct bp_event *event, struct arena *arena,
                struct bp_why *ret_why)
{
    struct asking a = { e, ret_why };
    bool known = event->type && event->type < e->program->type_count;

    *ret_why = (struct bp_why){ .event = *event, .reason = BP_NO_SUCH_TYPE };
    if (!known)
        return;
    if (!(e->program->types[event->type].flags & BP_EXT))
        ret_why->event.bits |= bp_record(e, 0) | (event->key ? bp_record(e, event->key) : 0);
    ret_why->requested = ARENA_NEW_N(arena, struct bp_place, e->slot_count + 1);
    ret_why->waited = ARENA_NEW_N(arena, struct bp_place, e->slot_count + 1);
    ret_why->blocked = ARENA_NEW_N(arena, struct bp_place, e->slot_count + 1);
    visit(e, note_concern, &a);
    ret_why->reason = find_reason(e, ret_why);
}

static void places_text(const char *word, const struct bp_place *places, unsigned n,
                        struct buf *out)
{
    for (unsigned i = 0; i < n; i++) {
        buf_printf(out, "  %s by ", word);
        bp_place_text(&places[i], out);
        buf_add_char(out, '\n');
    }
}

static struct bp_refusal refusal_of(const struct bp_why *why)
{
    struct bp_refusal refusal = { .reason = why->reason, .by.thread = why->full };

    if (why->reason == BP_BLOCKED)
        refusal.by = why->blocked[0];
    return refusal;
}

void bp_why_text(const struct bp_program *program, const struct bp_why *why, struct buf *out)
{
    struct bp_refusal refusal = refusal_of(why);

    bp_refusal_text(program, &why->event, &refusal, out);
    buf_add_text(out, why->next ? ", and is next\n" : "\n");
    places_text("requested", why->requested, why->requested_count, out);
    places_text("waited for", why->waited, why->waited_count, out);
    places_text("blocked", why->blocked, why->blocked_count, out);
}

/* ---- JSON ---- */

static void add_text(struct json_object *to, const char *key, const char *text)
{
    json_object_object_add(to, key, json_object_new_string(text));
}

struct json_object *bp_place_json(const struct bp_place *place)
{
    struct json_object *o = json_object_new_object();

    add_text(o, "thread", place->thread->name);
    if (place->key)
        json_object_object_add(o, "key", json_object_new_int(place->key));
    json_object_object_add(o, "point", json_object_new_int(place->point));
    if (place->thread->at[place->point].name)
        add_text(o, "doing", place->thread->at[place->point].name);
    return o;
}

static struct json_object *places_json(const struct bp_place *places, unsigned n)
{
    struct json_object *list = json_object_new_array();

    for (unsigned i = 0; i < n; i++)
        json_object_array_add(list, bp_place_json(&places[i]));
    return list;
}

static void add_event(struct json_object *to, const char *key, const struct bp_program *program,
                      const struct bp_event *event)
{
    AUTO_BUF text = BUF_INIT(4096);

    bp_event_text(program, event, &text);
    add_text(to, key, buf_text(&text));
}

struct json_object *bp_why_json(const struct bp_program *program, const struct bp_why *why)
{
    struct json_object *o = json_object_new_object();
    struct bp_refusal refusal = refusal_of(why);
    AUTO_BUF text = BUF_INIT(4096);

    add_event(o, "event", program, &why->event);
    json_object_object_add(o, "possible", json_object_new_boolean(why->reason == BP_FINE));
    bp_refusal_text(program, &why->event, &refusal, &text);
    add_text(o, "reason", buf_text(&text));
    json_object_object_add(o, "requested", places_json(why->requested, why->requested_count));
    json_object_object_add(o, "waited", places_json(why->waited, why->waited_count));
    json_object_object_add(o, "blocked", places_json(why->blocked, why->blocked_count));
    return o;
}

/* ---- everything ---- */

struct drawing {
    struct bp_engine *engine;
    struct buf *out;
    struct json_object *list;
};

static void sels_text(const struct bp_program *program, const char *word, const struct bp_sel *sels,
                      unsigned n, struct buf *out)
{
    for (unsigned i = 0; i < n && sels[i].types; i++) {
        buf_printf(out, "%s ", i ? ";" : word);
        bp_sel_text(program, &sels[i], out);
    }
}

static void draw_text(void *ctx, const struct bp_place *place)
{
    struct drawing *d = ctx;
    const struct bp_point *at = &place->thread->at[place->point];
    const struct bp_program *program = d->engine->program;

    bp_place_text(place, d->out);
    if (at->request.type) {
        struct bp_event wish = wish_at(d->engine, place);

        buf_add_text(d->out, ", requests ");
        bp_event_text(program, &wish, d->out);
    }
    sels_text(program, ", waits for", at->wait, BP_WAITS, d->out);
    sels_text(program, ", blocks", at->block, BP_BLOCKS, d->out);
    buf_add_char(d->out, '\n');
}

void bp_snapshot_text(struct bp_engine *e, struct buf *out)
{
    struct drawing d = { .engine = e, .out = out };

    visit(e, draw_text, &d);
}

static struct json_object *sels_json(const struct bp_program *program, const struct bp_sel *sels,
                                     unsigned n)
{
    struct json_object *list = json_object_new_array();

    for (unsigned i = 0; i < n && sels[i].types; i++) {
        AUTO_BUF text = BUF_INIT(4096);

        bp_sel_text(program, &sels[i], &text);
        json_object_array_add(list, json_object_new_string(buf_text(&text)));
    }
    return list;
}

static void draw_json(void *ctx, const struct bp_place *place)
{
    struct drawing *d = ctx;
    const struct bp_point *at = &place->thread->at[place->point];
    const struct bp_program *program = d->engine->program;
    struct json_object *o = bp_place_json(place);

    if (at->request.type) {
        struct bp_event wish = wish_at(d->engine, place);

        add_event(o, "requests", program, &wish);
    }
    json_object_object_add(o, "waits", sels_json(program, at->wait, BP_WAITS));
    json_object_object_add(o, "blocks", sels_json(program, at->block, BP_BLOCKS));
    json_object_array_add(d->list, o);
}

struct json_object *bp_snapshot_json(struct bp_engine *e)
{
    struct drawing d = { .engine = e, .list = json_object_new_array() };

    visit(e, draw_json, &d);
    return d.list;
}
