/* The timer that runs: a time entry without an end.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/json.h"
#include "base/timefmt.h"
#include "journal/journal_int.h"
#include "journal/moves.h"

static void add_time(struct json_object *fields, const char *name, int64_t at)
{
    char text[TIMEFMT_SIZE];

    timefmt_rfc3339(at, text);
    json_object_object_add(fields, name, json_object_new_string(text));
}

static int stop(struct journal_write *write, const struct record *entry, int64_t at,
                struct record *ret_entry, struct err *err)
{
    AUTO_JSON fields = json_object_new_object();

    add_time(fields, "endedAt", at);
    return journal_change(write, RECORD_TIME_ENTRY, entry->id, fields, ret_entry, err);
}

/* A clock that was set back must not make time run backwards. */
static int64_t end_of(const struct record *entry, int64_t at)
{
    int64_t started = record_i64(entry, "startedAt");

    return at < started ? started : at;
}

static int begin(struct journal_write *write, struct str task_id, struct str description,
                 struct record *ret_entry, struct err *err)
{
    AUTO_JSON fields = json_object_new_object();

    add_time(fields, "startedAt", write->now);
    if (task_id.n > 0)
        json_object_object_add(fields, "taskId",
                               json_object_new_string_len(task_id.p, (int)task_id.n));
    if (description.n > 0)
        json_object_object_add(fields, "description",
                               json_object_new_string_len(description.p, (int)description.n));
    return journal_create(write, RECORD_TIME_ENTRY, STR_NONE, fields, ret_entry, err);
}

int timer_start(struct journal_write *write, struct str task_id, struct str description,
                struct record *ret_entry, struct err *err)
{
    struct record running;
    int r;

    /* Several may run when devices that did not see each other started them. */
    while ((r = other_running(write->journal, STR(""), write->arena, &running, err)) == 1) {
        if (str_eq(record_str(&running, "taskId"), task_id) &&
            str_eq(record_str(&running, "description"), description)) {
            *ret_entry = running;
            return 0;
        }
        if (stop(write, &running, end_of(&running, write->now), NULL, err) < 0)
            return -1;
    }
    return r < 0 ? -1 : begin(write, task_id, description, ret_entry, err);
}

int timer_stop(struct journal_write *write, struct str task_id, int64_t at,
               struct record *ret_entry, struct err *err)
{
    struct record running;
    int r = other_running(write->journal, STR(""), write->arena, &running, err);

    if (r < 0)
        return -1;
    if (r == 0)
        return err_set(err, ERR_NOT_FOUND, "no timer runs");
    if (task_id.n > 0 && !str_eq(record_str(&running, "taskId"), task_id))
        return err_set(err, ERR_NOT_FOUND, "no timer runs for task \"%.*s\"; %.*s runs for %.*s",
                       STR_ARG(str_take(task_id, RECORD_ID_MAX)), STR_ARG(running.id),
                       STR_ARG(record_get(&running, "taskId")->set ? record_str(&running, "taskId")
                                                                   : STR("no task")));
    if (at != 0 && at < record_i64(&running, "startedAt"))
        return err_set(err, ERR_BAD_REQUEST, "the timer can't stop before it was started");
    if (stop(write, &running, at ? at : end_of(&running, write->now), ret_entry, err) < 0)
        return -1;
    return 0;
}
