/* The journal itself: who listens, what reads, and local days.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/timefmt.h"
#include "journal/journal_int.h"

#define DAY_S (INT64_C(24) * 3600)

struct journal *journal_new(const struct journal_config *config)
{
    struct journal *journal = NEW(struct journal);

    journal->loop = config->loop;
    journal->domain = config->domain;
    journal->change = config->change;
    if (config->zone)
        journal->zone_name = alloc_text(config->zone);
    return journal;
}

void journal_free(struct journal *journal)
{
    if (!journal)
        return;
    if (journal->notice)
        journal->notice->journal = NULL;
    zone_free(journal->zone);
    free(journal->zone_name);
    free(journal);
}

struct domain *journal_domain(struct journal *journal)
{
    return journal->domain;
}

struct loop *journal_loop(struct journal *journal)
{
    return journal->loop;
}

void journal_listen(struct journal *journal, struct journal_listener *listener)
{
    struct journal_listener **at = &journal->listeners;

    while (*at)
        at = &(*at)->next;
    listener->next = NULL;
    *at = listener;
}

void journal_unlisten(struct journal *journal, struct journal_listener *listener)
{
    for (struct journal_listener **at = &journal->listeners; *at; at = &(*at)->next) {
        if (*at != listener)
            continue;
        *at = listener->next;
        return;
    }
}

/* ---- local days ---- */

/* The zone of local days, opened again when the machine has moved. NULL: UTC. */
static struct zone *zone_now(struct journal *journal)
{
    char name[ZONE_NAME_MAX + 1];
    struct err err = ERR_INIT;
    struct zone *zone;

    if (journal->zone_name)
        snprintf(name, sizeof(name), "%s", journal->zone_name);
    else
        zone_system(name);
    if (strcmp(name, journal->zone_open) == 0)
        return journal->zone;
    snprintf(journal->zone_open, sizeof(journal->zone_open), "%s", name);
    if (zone_open(str_from(name), &zone, &err) < 0) {
        LOG_WARN("journal", "the time zone can't be read; days are those of UTC", LOG_ERR(&err));
        zone = NULL;
    }
    zone_free(journal->zone);
    return journal->zone = zone;
}

const struct zone *journal_zone(struct journal *journal)
{
    return zone_now(journal);
}

const char *journal_zone_name(struct journal *journal)
{
    return zone_now(journal) ? journal->zone_open : "UTC";
}

static int64_t offset_at(struct journal *journal, int64_t utc_s)
{
    const struct zone *zone = zone_now(journal);

    return zone ? zone_offset(zone, utc_s) : 0;
}

static int64_t floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

void journal_clock_at(struct journal *journal, int64_t at_ms, char ret_text[JOURNAL_CLOCK_SIZE])
{
    int64_t utc_s = floor_div(at_ms, 1000);
    char text[TIMEFMT_SIZE];

    timefmt_rfc3339((utc_s + offset_at(journal, utc_s)) * 1000, text);
    memcpy(ret_text, text, JOURNAL_CLOCK_SIZE - 1);
    ret_text[JOURNAL_CLOCK_SIZE - 1] = '\0';
}

void journal_day_at(struct journal *journal, int64_t at_ms, char ret_day[JOURNAL_DAY_SIZE])
{
    char text[JOURNAL_CLOCK_SIZE];

    journal_clock_at(journal, at_ms, text);
    memcpy(ret_day, text, JOURNAL_DAY_SIZE - 1);
    ret_day[JOURNAL_DAY_SIZE - 1] = '\0';
}

void journal_today(struct journal *journal, char ret_day[JOURNAL_DAY_SIZE])
{
    journal_day_at(journal, clock_wall_ms(loop_clock(journal->loop)), ret_day);
}

/* The first moment at which clocks show this or, when they skip it, something later. */
static int64_t moment_from(struct journal *journal, int64_t local_s)
{
    const struct zone *zone = zone_now(journal);
    int64_t utc_s, early, late;

    if (!zone)
        return local_s;
    if (zone_moment(zone, local_s, &utc_s) > 0)
        return utc_s;
    late = local_s - zone_offset(zone, local_s - DAY_S);
    early = late - DAY_S;
    while (late - early > 1) {
        int64_t middle = early + (late - early) / 2;

        if (middle + zone_offset(zone, middle) >= local_s)
            late = middle;
        else
            early = middle;
    }
    return late;
}

int journal_day_span(struct journal *journal, struct str day, int64_t *ret_from, int64_t *ret_to,
                     struct err *err)
{
    int64_t year = 0, month = 0, of_month = 0, local_s;

    if (!record_day_valid(day, false))
        return err_set(err, ERR_BAD_REQUEST, "\"%.*s\" is not a day; write YYYY-MM-DD",
                       STR_ARG(str_take(day, 40)));
    str_to_i64(str_of(day.p, 4), &year);
    str_to_i64(str_of(day.p + 5, 2), &month);
    str_to_i64(str_of(day.p + 8, 2), &of_month);
    local_s = timefmt_days(year, (unsigned)month, (unsigned)of_month) * DAY_S;
    *ret_from = moment_from(journal, local_s) * 1000;
    *ret_to = moment_from(journal, local_s + DAY_S) * 1000;
    return 0;
}

/* ---- reading ---- */

int journal_get_any(struct journal *journal, enum record_type type, struct str id,
                    struct arena *arena, struct record *ret_record, struct err *err)
{
    return record_load(journal, type, id, arena, ret_record, err);
}

int journal_get(struct journal *journal, enum record_type type, struct str id, struct arena *arena,
                struct record *ret_record, struct err *err)
{
    struct record record;
    int r = record_load(journal, type, id, arena, &record, err);

    if (r <= 0)
        return r;
    if (record.deleted_at)
        return 0;
    *ret_record = record;
    return 1;
}

int journal_find_id(struct journal *journal, struct str id, struct arena *arena,
                    struct record *ret_record, struct err *err)
{
    for (int type = RECORD_NONE + 1; type < RECORD_TYPES_END; type++) {
        int r;

        if (type == RECORD_ENTRY_LINK)
            continue;
        r = record_load(journal, (enum record_type)type, id, arena, ret_record, err);
        if (r != 0)
            return r;
    }
    return 0;
}

int journal_find_name(struct journal *journal, enum record_type type, struct str name,
                      struct arena *arena, struct record *ret_record, struct err *err)
{
    int r = 0;

    if (name.n <= NAME_BYTES_MAX)
        r = record_by_name(journal, type, name, arena, ret_record, err);
    if (r == 0 && record_id_valid(name))
        r = journal_get(journal, type, name, arena, ret_record, err);
    return r;
}

int record_need(struct journal *journal, enum record_type type, struct str id, struct arena *arena,
                struct record *ret_record, struct err *err)
{
    struct record record;
    int r = record_load(journal, type, id, arena, &record, err);

    if (r < 0)
        return -1;
    if (r == 0)
        return err_set(err, ERR_NOT_FOUND, "there is no %s \"%.*s\"", record_type_name(type),
                       STR_ARG(str_take(id, RECORD_ID_MAX)));
    if (record.deleted_at)
        return err_set(err, ERR_NOT_FOUND, "%s \"%.*s\" was deleted; restore it first",
                       record_type_name(type), STR_ARG(id));
    *ret_record = record;
    return 0;
}

/* ---- the category that counts ---- */

int category_step(const struct record *record, struct str *ret_category, enum record_type *ret_type,
                  struct str *ret_id)
{
    static const struct {
        enum record_type type, parent;
        const char *field;
    } steps[] = {
        { RECORD_CHECKLIST, RECORD_TASK, "taskId" },
        { RECORD_CHECKLIST_ITEM, RECORD_CHECKLIST, "checklistId" },
        { RECORD_TIME_ENTRY, RECORD_TASK, "taskId" },
        { RECORD_DAY_PLAN_BLOCK, RECORD_TASK, "taskId" },
        { RECORD_ATTACHMENT, RECORD_ENTRY, "entryId" },
    };

    *ret_category = *ret_id = STR_NONE;
    *ret_type = RECORD_NONE;
    if (record->type == RECORD_CATEGORY)
        *ret_category = record->id;
    else if (record_field_index(record->type, STR("categoryId")) >= 0)
        *ret_category = record_str(record, "categoryId");
    for (size_t i = 0; i < ARRAY_LEN(steps); i++) {
        if (steps[i].type == record->type) {
            *ret_type = steps[i].parent;
            *ret_id = record_str(record, steps[i].field);
        }
    }
    if (record->type == RECORD_RATING || record->type == RECORD_ENTRY_LINK) {
        bool link = record->type == RECORD_ENTRY_LINK;

        *ret_type = record_type_of(record_str(record, link ? "fromType" : "targetType"));
        *ret_id = record_str(record, link ? "fromId" : "targetId");
    }
    /* Time and blocks of a task count for the task's category, whatever they say themselves. */
    if (record->type == RECORD_TIME_ENTRY || record->type == RECORD_DAY_PLAN_BLOCK)
        return ret_id->n == 0;
    return ret_category->n > 0 || *ret_type == RECORD_NONE || ret_id->n == 0;
}

int journal_category_of(struct journal *journal, const struct record *record, struct arena *arena,
                        struct str *ret_category, struct err *err)
{
    struct record at = *record;

    /* An item is two steps from its task, its rating three: the bound is for loops of links. */
    for (int steps = 0; steps < 8; steps++) {
        enum record_type type;
        struct str id;
        int r;

        if (category_step(&at, ret_category, &type, &id))
            return 0;
        r = record_load(journal, type, id, arena, &at, err);
        if (r < 0)
            return -1;
        if (r == 0)
            break;
    }
    *ret_category = STR_NONE;
    return 0;
}
