/* Tools that log time.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json.h>

#include "base/clock.h"
#include "desk/desk_int.h"

#define LONGEST HOURS(24)
#define PAGE    500

/* ---- time that was spent ---- */

static int check_span(struct desk_op *op, int64_t started, int64_t ended, struct err *err)
{
    if (ended <= started)
        return err_set(err, ERR_BAD_REQUEST, "/endedAt: does not lie after startedAt");
    if (ended - started > LONGEST)
        return err_set(err, ERR_BAD_REQUEST,
                       "/endedAt: lies more than 24 hours after startedAt; log it in parts");
    if (ended > op->now)
        return err_set(err, ERR_BAD_REQUEST,
                       "/endedAt: lies in the future; only time that is over is logged");
    return 0;
}

static bool overlaps(const struct record *entry, int64_t started, int64_t ended)
{
    const struct record_value *end = record_get(entry, "endedAt");

    return record_i64(entry, "startedAt") < ended && (!end->set || end->i > started);
}

/* Time among these that covers part of this, of one source when that is given. */
static int check_overlap(struct desk_op *op, struct record_filter filter, struct str source,
                         int64_t started, int64_t ended, struct err *err)
{
    bool more = true;

    filter.type = RECORD_TIME_ENTRY;
    filter.to = ended;
    filter.newest_first = true;
    filter.limit = PAGE;
    while (more) {
        AUTO_ARENA page = ARENA_INIT;
        struct record *entries;
        size_t n;

        if (record_list(op->journal, &filter, &page, &entries, &n, &more, err) < 0)
            return -1;
        for (size_t i = 0; i < n; i++) {
            if (overlaps(&entries[i], started, ended) &&
                (!source.n || str_eq(record_str(&entries[i], "sourceEntryId"), source)))
                return err_set(err, ERR_CONFLICT,
                               "time entry \"%.*s\" of this %s covers part of that already; "
                               "list_time_entries shows what is logged",
                               STR_ARG(entries[i].id), source.n ? "sourceEntryId" : "task");
        }
        if (n > 0)
            filter.after = entries[n - 1].n;
    }
    return 0;
}

/* The time of a task, or of a workout, is logged once. */
static int check_logged(struct desk_op *op, int64_t started, int64_t ended, struct err *err)
{
    struct str source = arg_str(op, "sourceEntryId"), task_id = arg_str(op, "taskId");
    struct record_filter of_task = { .parent = task_id }, lately = { .from = started - LONGEST };

    if (task_id.n > 0 && check_overlap(op, of_task, STR_NONE, started, ended, err) < 0)
        return -1;
    return source.n > 0 ? check_overlap(op, lately, source, started, ended, err) : 0;
}

/* Of a task, or in a category. */
static int aim_owner(struct desk_op *op, struct str *ret_category, struct err *err)
{
    struct str task_id = arg_str(op, "taskId"), given = arg_str(op, "categoryId");
    struct record task;

    *ret_category = STR_NONE;
    if (task_id.n == 0 && given.n == 0)
        return err_set(err, ERR_BAD_REQUEST, "/taskId: say for which task (or categoryId) it was");
    if (task_id.n == 0)
        return scope_choose(op, given, ret_category, err);
    if (scope_get(op, RECORD_TASK, task_id, &task, err) < 0)
        return -1;
    if (given.n > 0 && !str_eq(given, record_str(&task, "categoryId")))
        return err_set(err, ERR_BAD_REQUEST,
                       "/categoryId: is not that of the task; leave it out or give that");
    *ret_category = record_str(&task, "categoryId");
    return 0;
}

/* How long the entry took that the time is of, which may have been corrected since the agent looked
 * at it. A person who gave other times means them. */
static int check_source(struct desk_op *op, struct str source, int64_t ms, struct err *err)
{
    struct record entry;
    const struct record_value *took;

    if (scope_get(op, RECORD_ENTRY, source, &entry, err) < 0)
        return -1;
    took = record_get(&entry, "durationMs");
    if (op->call->edited || !took->set || (ms - took->i < MINUTES(1) && took->i - ms < MINUTES(1)))
        return 0;
    return err_set(err, ERR_VERSION_CONFLICT,
                   "/endedAt: the entry took %lld min and not %lld; look at it again, or log the "
                   "time without sourceEntryId",
                   (long long)(took->i / MINUTES(1)), (long long)(ms / MINUTES(1)));
}

static int aim_log(struct desk_op *op, struct err *err)
{
    struct str source = arg_str(op, "sourceEntryId"), category;
    int64_t started, ended;

    if (aim_owner(op, &category, err) < 0 || arg_time(op, "startedAt", &started, err) < 0 ||
        arg_time(op, "endedAt", &ended, err) < 0 || check_span(op, started, ended, err) < 0)
        return -1;
    if (source.n > 0 && check_source(op, source, ended - started, err) < 0)
        return -1;
    return check_logged(op, started, ended, err);
}

static int act_log(struct desk_op *op, struct err *err)
{
    static const char *const apart[] = { "categoryId", NULL };
    AUTO_JSON fields = fields_without(op, apart);
    struct record entry;
    struct str category = arg_str(op, "taskId").n > 0 ? record_str(&op->aims[0], "categoryId")
                                                      : arg_str(op, "categoryId");

    if (category.n > 0)
        fields_str(fields, "categoryId", category);
    if (journal_create(op->write, RECORD_TIME_ENTRY, STR_NONE, fields, &entry, err) < 0)
        return -1;
    out_record(op, "timeEntry", &entry);
    return 0;
}

/* ---- the timer ---- */

/* The one that runs: 1 in scope, 0 none. One that the agent may not see is told of as hidden says,
 * without a word of what it is. */
static int running(struct desk_op *op, struct record *ret_entry, bool *ret_hidden, struct err *err)
{
    int r = timer_running(op->journal, op->arena, ret_entry, err), seen;

    *ret_hidden = false;
    if (r <= 0)
        return r;
    seen = scope_has(op, ret_entry, err);
    *ret_hidden = seen == 0;
    return seen;
}

static int aim_start(struct desk_op *op, struct err *err)
{
    struct record entry;
    bool hidden;
    int r;

    if (scope_get(op, RECORD_TASK, arg_str(op, "taskId"), NULL, err) < 0)
        return -1;
    r = running(op, &entry, &hidden, err);
    if (hidden)
        return err_set(err, ERR_OUT_OF_SCOPE,
                       "a timer runs for something that is not in your categories; only the person "
                       "can stop it");
    if (r == 1)
        op_aim(op, &entry);
    return r < 0 ? -1 : 0;
}

static int act_start(struct desk_op *op, struct err *err)
{
    const struct record *before = op->aim_count > 1 ? &op->aims[1] : NULL;
    struct record entry;

    if (timer_start(op->write, op->aims[0].id, arg_str(op, "description"), &entry, err) < 0)
        return -1;
    out_record(op, "timeEntry", &entry);
    if (before && !str_eq(before->id, entry.id))
        return out_now(op, "stopped", RECORD_TIME_ENTRY, before->id, err);
    return 0;
}

/* Over before now, and after it was started. */
static int check_end(struct desk_op *op, const struct record *entry, struct err *err)
{
    int64_t ended;

    if (arg_time(op, "endedAt", &ended, err) < 0)
        return -1;
    if (ended && ended <= record_i64(entry, "startedAt"))
        return err_set(err, ERR_BAD_REQUEST, "/endedAt: does not lie after the timer's start");
    if (ended > op->now)
        return err_set(err, ERR_BAD_REQUEST, "/endedAt: lies in the future");
    return 0;
}

static int aim_stop(struct desk_op *op, struct err *err)
{
    struct str task_id = arg_str(op, "taskId");
    struct record entry;
    bool hidden;
    int r;

    if (task_id.n > 0 && scope_get(op, RECORD_TASK, task_id, NULL, err) < 0)
        return -1;
    r = running(op, &entry, &hidden, err);
    if (r < 0)
        return -1;
    if (r == 0 || (task_id.n > 0 && !str_eq(record_str(&entry, "taskId"), task_id)))
        return err_set(err, ERR_NOT_FOUND, "no timer runs %s",
                       task_id.n > 0 ? "for this task" : "in your categories");
    op_aim(op, &entry);
    return check_end(op, &entry, err);
}

static int act_stop(struct desk_op *op, struct err *err)
{
    struct record entry;
    int64_t ended;

    if (arg_time(op, "endedAt", &ended, err) < 0 ||
        timer_stop(op->write, arg_str(op, "taskId"), ended, &entry, err) < 0)
        return -1;
    out_record(op, "timeEntry", &entry);
    return 0;
}

/* ---- a word about it ---- */

static int aim_annotate(struct desk_op *op, struct err *err)
{
    return scope_get(op, RECORD_TIME_ENTRY, arg_str(op, "timeEntryId"), NULL, err);
}

static int act_annotate(struct desk_op *op, struct err *err)
{
    static const char *const apart[] = { "timeEntryId", NULL };
    AUTO_JSON fields = fields_without(op, apart);
    struct record entry;

    if (journal_change(op->write, RECORD_TIME_ENTRY, op->aims[0].id, fields, &entry, err) < 0)
        return -1;
    out_record(op, "timeEntry", &entry);
    return 0;
}

const struct desk_tool desk_time_tools[] = {
    { .name = "create_retrospective_time_entry",
      .title = "Log time",
      .aim = aim_log,
      .act = act_log },
    { .name = "start_task_timer", .title = "Start the timer", .aim = aim_start, .act = act_start },
    { .name = "stop_task_timer", .title = "Stop the timer", .aim = aim_stop, .act = act_stop },
    { .name = "annotate_time_entry",
      .title = "Describe time that was logged",
      .aim = aim_annotate,
      .act = act_annotate },
};
const size_t desk_time_tool_count = ARRAY_LEN(desk_time_tools);
