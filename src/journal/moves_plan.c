/* Plans of days, ratings, and files of entries.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/linkhash.h>

#include "base/hash.h"
#include "base/json.h"
#include "journal/journal_int.h"
#include "journal/moves.h"

#define PLAN_PREFIX "dayplan-"

static struct json_object *new_str(struct str text)
{
    return json_object_new_string_len(text.p ? text.p : "", (int)text.n);
}

/* ---- plans ---- */

int day_plan_open(struct journal_write *write, struct str day, struct record *ret_plan,
                  struct err *err)
{
    AUTO_JSON fields = json_object_new_object();
    struct str id;
    int r;

    if (!record_day_valid(day, false))
        return err_set(err, ERR_BAD_REQUEST, "\"%.*s\" is not a day; write YYYY-MM-DD",
                       STR_ARG(str_take(day, 40)));
    id = str_from(arena_printf(write->arena, PLAN_PREFIX "%.*s", STR_ARG(day)));
    r = journal_get(write->journal, RECORD_DAY_PLAN, id, write->arena, ret_plan, err);
    if (r != 0)
        return r < 0 ? -1 : 0;
    json_object_object_add(fields, "planDate", new_str(day));
    return journal_create(write, RECORD_DAY_PLAN, STR_NONE, fields, ret_plan, err);
}

/* The block of this plan that upsert names. 1 there, 0 it is new. */
static int known_block(struct journal_write *write, struct str plan_id, struct str id,
                       struct err *err)
{
    struct record block;
    int r = 0;

    if (id.n > 0)
        r = journal_get(write->journal, RECORD_DAY_PLAN_BLOCK, id, write->arena, &block, err);
    if (r == 1 && !str_eq(record_str(&block, "planId"), plan_id))
        return err_set(err, ERR_CONFLICT, "block \"%.*s\" stands in %.*s, not in %.*s", STR_ARG(id),
                       STR_ARG(record_str(&block, "planId")), STR_ARG(plan_id));
    return r;
}

/* The members of object but for id. */
static struct json_object *without_id(struct json_object *object)
{
    struct json_object *copy = json_object_new_object();
    struct json_object_iter at;

    json_object_object_foreachC(object, at)
    {
        if (strcmp(at.key, "id") != 0)
            json_object_object_add(copy, at.key, json_object_get(at.val));
    }
    return copy;
}

static int put_block(struct journal_write *write, struct str plan_id, struct json_object *upsert,
                     struct record *ret_block, struct err *err)
{
    AUTO_JSON fields = NULL;
    struct str id = STR_NONE;
    int known;

    if (!json_object_is_type(upsert, json_type_object))
        return err_set(err, ERR_SCHEMA_VIOLATION, "a block is an object, not %s",
                       json_type_name(upsert));
    if (json_get_str(upsert, "id", &id, err) < 0)
        return -1;
    known = known_block(write, plan_id, id, err);
    if (known < 0)
        return -1;
    fields = without_id(upsert);
    json_object_object_add(fields, "planId", new_str(plan_id));
    if (known)
        return change_loosely(write, RECORD_DAY_PLAN_BLOCK, id, fields, ret_block, err);
    return create_loosely(write, RECORD_DAY_PLAN_BLOCK, id, fields, ret_block, err);
}

static int delete_blocks(struct journal_write *write, struct str plan_id, const struct str *ids,
                         size_t n, struct err *err)
{
    for (size_t i = 0; i < n; i++) {
        int known = known_block(write, plan_id, ids[i], err);

        if (known < 0 || (known && journal_remove(write, RECORD_DAY_PLAN_BLOCK, ids[i], err) < 0))
            return -1;
    }
    return 0;
}

int day_plan_put_blocks(struct journal_write *write, struct str day, struct json_object *upserts,
                        const struct str *deletes, size_t delete_count, struct err *err)
{
    struct record plan, block;
    size_t n;

    if (upserts && !json_object_is_type(upserts, json_type_array))
        return err_set(err, ERR_SCHEMA_VIOLATION, "/upserts: is a list of blocks, not %s",
                       json_type_name(upserts));
    n = json_length(upserts);
    if (n > PLAN_BLOCKS_MAX || delete_count > PLAN_BLOCKS_MAX)
        return err_set(err, ERR_BAD_REQUEST, "at most %d blocks at once", PLAN_BLOCKS_MAX);
    if (day_plan_open(write, day, &plan, err) < 0 ||
        delete_blocks(write, plan.id, deletes, delete_count, err) < 0)
        return -1;
    for (size_t i = 0; i < n; i++) {
        if (put_block(write, plan.id, json_object_array_get_idx(upserts, i), &block, err) < 0 ||
            plan_check_in_day(write, &block, err) < 0)
            return err_wrap(err, "/upserts/%zu", i);
    }
    return plan_check_overlaps(write, plan.id, err);
}

int day_plan_pin(struct journal_write *write, struct str day, const struct str *task_ids, size_t n,
                 struct err *err)
{
    AUTO_JSON fields = json_object_new_object();
    struct json_object *list = json_object_new_array();
    struct record plan;

    json_object_object_add(fields, "pinnedTaskIds", list);
    for (size_t i = 0; i < n; i++)
        json_object_array_add(list, new_str(task_ids[i]));
    if (day_plan_open(write, day, &plan, err) < 0)
        return -1;
    return journal_change(write, RECORD_DAY_PLAN, plan.id, fields, NULL, err);
}

/* ---- ratings ---- */

struct str plan_day(struct str plan_id)
{
    struct str day = str_skip(plan_id, strlen(PLAN_PREFIX));

    return str_starts(plan_id, STR(PLAN_PREFIX)) && record_day_valid(day, false) ? day : STR_NONE;
}

/* A day can be rated that nobody planned. */
static int open_rated_plan(struct journal_write *write, const struct record *rating,
                           struct err *err)
{
    struct str day = plan_day(record_str(rating, "targetId"));
    struct record plan;

    if (!str_is(record_str(rating, "targetType"), "dayPlan") || day.n == 0)
        return 0;
    return day_plan_open(write, day, &plan, err);
}

int rate(struct journal_write *write, struct json_object *fields, struct record *ret_rating,
         struct err *err)
{
    struct record wanted = { .type = RECORD_RATING }, old;
    struct str id;
    int r;

    if (record_apply(&wanted, fields, write->arena, err) < 0 ||
        open_rated_plan(write, &wanted, err) < 0)
        return -1;
    id = record_derived_id(&wanted, write->arena);
    r = journal_get(write->journal, RECORD_RATING, id, write->arena, &old, err);
    if (r < 0)
        return -1;
    if (r == 0)
        return journal_create(write, RECORD_RATING, STR_NONE, fields, ret_rating, err);
    return journal_change(write, RECORD_RATING, id, fields, ret_rating, err);
}

/* ---- files ---- */

int attachment_add(struct journal_write *write, const struct attachment_file *file,
                   struct record *ret_attachment, struct err *err)
{
    AUTO_JSON fields = json_object_new_object();
    struct record record = { .type = RECORD_ATTACHMENT, .created_at = write->now };
    char sha256[SHA256_TEXT_SIZE], id[UUID_TEXT_SIZE];

    if (file->bytes.n > ATTACHMENT_MAX)
        return err_set(err, ERR_TOO_LARGE, "the file has %zu bytes; at most %d are allowed",
                       file->bytes.n, ATTACHMENT_MAX);
    json_object_object_add(fields, "entryId", new_str(file->entry_id));
    json_object_object_add(fields, "fileName", new_str(attachment_name(file->file_name)));
    json_object_object_add(fields, "contentType", new_str(file->content_type));
    if (record_apply(&record, fields, write->arena, err) < 0 ||
        record_check_refs(write, &record, NULL, err) < 0)
        return -1;
    sha256_text(file->bytes, sha256);
    change_new_id(write->journal->change, id);
    record.id = arena_str(write->arena, str_from(id));
    *record_field_of(&record, "size") =
        (struct record_value){ .set = true, .i = (int64_t)file->bytes.n };
    *record_field_of(&record, "sha256") =
        (struct record_value){ .set = true, .s = arena_str(write->arena, str_from(sha256)) };
    if (record_put(write, &record, NULL, err) < 0 ||
        attachment_store(write->journal, record.id, file->bytes, err) < 0)
        return -1;
    if (ret_attachment)
        *ret_attachment = record;
    return 0;
}
