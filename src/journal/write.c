/* Units of writing: everything that is written between begin and end is kept or dropped together,
 * with the batch that says what it was and the answer of the operation that asked for it.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>

#include "base/clock.h"
#include "base/json.h"
#include "change/vclock.h"
#include "journal/journal_int.h"

/* ---- the unit ---- */

static void check_author(const struct journal_author *author)
{
    if (author->kind == CHANGE_BY_NONE ||
        (author->kind == CHANGE_BY_AGENT) != (author->agent_id.n > 0))
        BUG("a write of the journal without its author");
}

int journal_begin(struct journal *journal, const struct journal_author *author, struct arena *arena,
                  struct journal_write **ret_write, struct str *ret_result, struct err *err)
{
    struct journal_write *write;
    int r = 0;

    check_author(author);
    if (author->operation_id.n > OPERATION_ID_MAX)
        return err_set(err, ERR_BAD_REQUEST, "an operation's id has at most %d bytes, not %zu",
                       OPERATION_ID_MAX, author->operation_id.n);
    if (loop_unit_begin(journal->loop, journal->domain, err) < 0)
        return -1;
    if (author->operation_id.n > 0)
        r = operation_find(journal, author, arena, ret_result, err);
    if (r != 0) {
        loop_unit_end(journal->loop, false, NULL);
        return r < 0 ? -1 : 0;
    }
    write = ARENA_NEW(arena, struct journal_write);
    write->journal = journal;
    write->arena = arena;
    write->author = *author;
    write->batch = CHANGE_BATCH(arena, author->kind);
    write->batch.author_id = author->agent_id;
    write->batch.operation_id = author->operation_id;
    write->now = clock_wall_ms(loop_clock(journal->loop));
    *ret_write = write;
    return 1;
}

int journal_done(struct journal *journal, const struct journal_author *author, struct arena *arena,
                 struct str *ret_result, struct err *err)
{
    if (author->operation_id.n == 0)
        return 0;
    return operation_find(journal, author, arena, ret_result, err);
}

const struct change_batch *journal_batch(const struct journal_write *write)
{
    return &write->batch;
}

struct arena *journal_arena(struct journal_write *write)
{
    return write->arena;
}

struct journal *journal_of(struct journal_write *write)
{
    return write->journal;
}

int64_t journal_now(const struct journal_write *write)
{
    return write->now;
}

/* ---- telling who listens ---- */

static struct journal *notice_ended(struct loop_effect *effect)
{
    struct journal_notice *notice = CONTAINER_OF(effect, struct journal_notice, effect);
    struct journal *journal = notice->journal;

    if (journal)
        journal->notice = NULL;
    free(notice);
    return journal;
}

static void notice_run(struct loop_effect *effect)
{
    struct journal *journal = notice_ended(effect);
    struct journal_listener *next;

    for (struct journal_listener *at = journal ? journal->listeners : NULL; at; at = next) {
        next = at->next;
        at->written(at);
    }
}

static void notice_drop(struct loop_effect *effect, const struct err *why)
{
    (void)why;
    notice_ended(effect);
}

/* One for all units of a tick: they are committed together. */
static void tell_listeners(struct journal *journal)
{
    struct journal_notice *notice;

    if (journal->notice || !journal->listeners)
        return;
    notice = NEW(struct journal_notice);
    notice->effect.run = notice_run;
    notice->effect.drop = notice_drop;
    notice->journal = journal;
    journal->notice = notice;
    loop_after_commit(journal->loop, &notice->effect);
}

static int finish(struct journal_write *write, struct str result, struct err *err)
{
    struct journal *journal = write->journal;
    int r;

    if (write->batch.unit_count > CHANGE_UNITS_MAX)
        return err_set(err, ERR_TOO_LARGE, "%zu records in one write; at most %d are allowed",
                       write->batch.unit_count, CHANGE_UNITS_MAX);
    r = change_batch_write(journal->domain, journal->change, &write->batch, write->now, err);
    if (r < 0 || (write->author.operation_id.n > 0 && operation_add(write, result, err) < 0))
        return -1;
    if (r > 0)
        tell_listeners(journal);
    return 0;
}

int journal_end(struct journal_write *write, bool keep, struct str result, struct err *err)
{
    struct loop *loop = write->journal->loop;

    if (keep && finish(write, result, err) < 0) {
        loop_unit_end(loop, false, NULL);
        return -1;
    }
    return loop_unit_end(loop, keep, err);
}

/* ---- one record ---- */

int clock_advanced(const struct journal_write *write, struct str clock, int64_t counter,
                   struct str *ret_clock, struct err *err)
{
    struct change *change = write->journal->change;
    struct vclock seen = { NULL, 0 };

    if (clock.n > 0 && vclock_parse(clock, write->arena, &seen, err) < 0)
        return err_wrap(err, "vector clock");
    seen = vclock_with(&seen, str_from(change_host_id(change)), counter, write->arena);
    *ret_clock = vclock_text(&seen, write->arena);
    return 0;
}

int record_put(struct journal_write *write, struct record *record, const struct record *before,
               struct err *err)
{
    record->updated_at = write->now;
    return record_put_as_it_is(write, record, before, err);
}

int record_put_as_it_is(struct journal_write *write, struct record *record,
                        const struct record *before, struct err *err)
{
    record_set_provenance(write, record, before);
    record->counter = change_next(write->journal->change);
    if (clock_advanced(write, record->vector_clock, record->counter, &record->vector_clock, err) <
        0)
        return err_wrap(err, "%s %.*s", record_type_name(record->type), STR_ARG(record->id));
    if (record->n != 0 ? record_update(write->journal, record, err) < 0
                       : record_insert(write->journal, record, err) < 0)
        return -1;
    batch_add_record(write, record, before, record->counter);
    return 0;
}

/* ---- creating ---- */

void record_set_initial(struct record *record, int64_t now)
{
    size_t n;
    const struct record_field *fields = record_fields(record->type, &n);

    for (size_t i = 0; i < n; i++) {
        const struct record_field *field = &fields[i];

        if (field->nullable || field->required)
            continue;
        record->v[i] = (struct record_value){ .set = true, .i = field->initial };
        if (field->kind == FIELD_WORD)
            record->v[i].s = str_from(field->words[field->initial]);
        if (field->kind == FIELD_TIME)
            record->v[i].i = now;
    }
}

int record_check_required(const struct record *record, struct err *err)
{
    size_t n;
    const struct record_field *fields = record_fields(record->type, &n);

    for (size_t i = 0; i < n; i++) {
        if (fields[i].required && !record->v[i].set)
            return err_set(err, ERR_SCHEMA_VIOLATION, "/%s: is missing; a new %s needs it",
                           fields[i].name, record_type_name(record->type));
    }
    return 0;
}

/* Given, derived or new. */
static int choose_id(struct journal_write *write, struct record *record, struct str given,
                     struct err *err)
{
    struct str derived = record_derived_id(record, write->arena);
    char fresh[UUID_TEXT_SIZE];

    if (given.n > 0 && !record_id_valid(given))
        return err_set(err, ERR_BAD_REQUEST,
                       "\"%.*s\" is not an id; one has 1 to %d letters, digits, '-', '_' and '.'",
                       STR_ARG(str_take(given, RECORD_ID_MAX)), RECORD_ID_MAX);
    if (given.n > 0 && derived.n > 0 && !str_eq(given, derived))
        return err_set(err, ERR_BAD_REQUEST, "the id of this %s is %.*s, not \"%.*s\"",
                       record_type_name(record->type), STR_ARG(derived), STR_ARG(given));
    if (given.n > 0 || derived.n > 0) {
        record->id = arena_str(write->arena, given.n > 0 ? given : derived);
        return 0;
    }
    change_new_id(write->journal->change, fresh);
    record->id = arena_str(write->arena, str_from(fresh));
    return 0;
}

/* An id that a deleted record has is taken too, unless it follows from what the record says: then
 * the new one takes the old one's place. */
static int check_free(struct journal_write *write, struct record *record, struct err *err)
{
    struct record old;
    int r = record_load(write->journal, record->type, record->id, write->arena, &old, err);

    if (r <= 0)
        return r;
    if (!old.deleted_at)
        return err_set(err, ERR_CONFLICT, "there is %s \"%.*s\" already",
                       record_type_a(record->type), STR_ARG(record->id));
    if (!write->revives && record_derived_id(record, write->arena).n == 0)
        return err_set(err, ERR_CONFLICT, "%s \"%.*s\" was deleted; restore it, or take another id",
                       record_type_name(record->type), STR_ARG(record->id));
    record->n = old.n;
    record->vector_clock = old.vector_clock;
    return 0;
}

/* The record has its type, and what nobody may give but the journal. */
static int create(struct journal_write *write, struct record *record, struct str id,
                  struct json_object *fields, struct err *err)
{
    record->created_at = write->now;
    record_set_initial(record, write->now);
    if (record_apply(record, fields, write->arena, err) < 0 ||
        record_check_required(record, err) < 0 ||
        (record->type == RECORD_RATING && !json_find(fields, "ratedAt") &&
         rating_set_moment(write, record, err) < 0))
        return -1;
    if (choose_id(write, record, id, err) < 0 || record_complete(write, record, err) < 0 ||
        record_check_refs(write, record, NULL, err) < 0 || check_free(write, record, err) < 0)
        return -1;
    return record_put(write, record, NULL, err);
}

int create_loosely(struct journal_write *write, enum record_type type, struct str id,
                   struct json_object *fields, struct record *ret_record, struct err *err)
{
    struct record record = { .type = type };

    if (type == RECORD_ATTACHMENT)
        return err_set(err, ERR_BAD_REQUEST, "an attachment is made with its content");
    if (create(write, &record, id, fields, err) < 0)
        return -1;
    if (ret_record)
        *ret_record = record;
    return 0;
}

int create_closed_task(struct journal_write *write, struct str id, struct json_object *fields,
                       int64_t closed_at, struct err *err)
{
    struct record task = { .type = RECORD_TASK };

    if (closed_at)
        *record_field_of(&task, "closedAt") = (struct record_value){ .set = true, .i = closed_at };
    return create(write, &task, id, fields, err);
}

int journal_create(struct journal_write *write, enum record_type type, struct str id,
                   struct json_object *fields, struct record *ret_record, struct err *err)
{
    struct record record;

    if (create_loosely(write, type, id, fields, &record, err) < 0 ||
        plan_check_block(write, &record, err) < 0)
        return -1;
    if (ret_record)
        *ret_record = record;
    return 0;
}

/* ---- changing ---- */

static bool same_fields(const struct record *a, const struct record *b)
{
    for (size_t i = 0; i < RECORD_FIELDS_MAX; i++) {
        if (!record_value_eq(&a->v[i], &b->v[i]))
            return false;
    }
    return true;
}

int change_loosely(struct journal_write *write, enum record_type type, struct str id,
                   struct json_object *fields, struct record *ret_record, struct err *err)
{
    struct record before, record;
    bool same;

    if (record_need(write->journal, type, id, write->arena, &before, err) < 0)
        return -1;
    record = before;
    if (record_apply(&record, fields, write->arena, err) < 0)
        return -1;
    same = same_fields(&record, &before);
    if (!same && (record_complete(write, &record, err) < 0 ||
                  record_check_refs(write, &record, &before, err) < 0 ||
                  record_put(write, &record, &before, err) < 0 ||
                  ratings_follow(write, &before, &record, err) < 0))
        return -1;
    if (ret_record)
        *ret_record = record;
    return !same;
}

int journal_change(struct journal_write *write, enum record_type type, struct str id,
                   struct json_object *fields, struct record *ret_record, struct err *err)
{
    struct record record;
    int r = change_loosely(write, type, id, fields, &record, err);

    if (r < 0 || (r > 0 && plan_check_block(write, &record, err) < 0))
        return -1;
    if (ret_record)
        *ret_record = record;
    return r;
}
