/* iCalendar: VTODO becomes a task, VEVENT an entry (or what X-DORMOUSE- properties say it was when
 * it was exported), VJOURNAL a note.
 *
 * Times with a TZID are read in that zone; a name that the system does not know is looked up in the
 * file's own VTIMEZONE (X-LIC-LOCATION, else its rules) and by its ending ("/.../Europe/Berlin").
 * Times without a zone are local. Of what repeats only the first is taken, and what was moved or
 * changed of it (RECURRENCE-ID) for itself.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/map.h"
#include "base/timefmt.h"
#include "journal/ics_zone.h"
#include "journal/import_int.h"

#define DEPTH_MAX 16
#define ZONES_MAX 200

struct reader {
    struct import *import;
    struct ics_reader lines;
    struct ics_line line;
    struct map zones;   /* by TZID: struct zone, or `unknown` */
    struct map aliases; /* TZID to the name that VTIMEZONE gives */
    struct map rules;   /* TZID to the struct ics_zone that VTIMEZONE describes */
    struct err *err;
};

enum kind { VTODO, VEVENT, VJOURNAL, KINDS };
static const char *const kinds[] = { "VTODO", "VEVENT", "VJOURNAL" };

struct component {
    enum kind kind;
    struct import_record record;
    struct str uid, recurrence;
    bool broken, begun, date_only, completed;
    int64_t duration_ms, stamp;
};

static char unknown;

/* ---- zones ---- */

static struct zone *open_zone(struct reader *r, struct str id)
{
    struct str name = map_find(&r->aliases, id) ? str_from(map_find(&r->aliases, id)) : id;
    struct zone *zone = NULL;

    for (;;) {
        struct err ignored = ERR_INIT;
        ptrdiff_t slash;

        if (name.n && name.n <= ZONE_NAME_MAX && zone_open(name, &zone, &ignored) == 0)
            return zone;
        slash = str_find_char(name, '/');
        if (slash < 0)
            return NULL;
        name = str_skip(name, (size_t)slash + 1);
    }
}

/* NULL: nobody knows it. */
static const struct zone *zone_of(struct reader *r, struct str id)
{
    void *known = map_find(&r->zones, id);

    if (!known && map_count(&r->zones) < ZONES_MAX) {
        known = open_zone(r, id);
        map_put(&r->zones, id, known ? known : &unknown);
    }
    return known == &unknown ? NULL : known;
}

static void free_zones(struct reader *r)
{
    map_each (&r->zones, entry) {
        if (entry->value != &unknown)
            zone_free(entry->value);
    }
    map_release(&r->zones);
    map_release(&r->aliases);
    map_release(&r->rules);
}

/* ---- times ---- */

struct when {
    bool date;       /* without a time */
    int64_t local_s; /* as clocks there show it, where it was read */
    int64_t at_ms;
};

static bool take_number(struct str text, size_t at, size_t n, int64_t *ret_value)
{
    return text.n >= at + n && str_to_i64(str_of(text.p + at, n), ret_value) == 0 &&
           *ret_value >= 0;
}

static bool read_digits(struct str text, struct when *ret_when, bool *ret_utc)
{
    int64_t y, m, d, h = 0, min = 0, s = 0;

    if (!take_number(text, 0, 4, &y) || !take_number(text, 4, 2, &m) ||
        !take_number(text, 6, 2, &d) || d < 1 || d > timefmt_month_days(y, (unsigned)m))
        return false;
    ret_when->date = text.n == 8;
    *ret_utc = text.n == 16 && text.p[15] == 'Z';
    if (!ret_when->date && (text.n < 15 || text.p[8] != 'T' || (text.n > 15 && !*ret_utc) ||
                            !take_number(text, 9, 2, &h) || !take_number(text, 11, 2, &min) ||
                            !take_number(text, 13, 2, &s) || h > 23 || min > 59 || s > 60))
        return false;
    ret_when->local_s = timefmt_days(y, (unsigned)m, (unsigned)d) * 86400 + h * 3600 + min * 60 + s;
    return true;
}

/* Of a zone that is named. */
static bool read_moment(struct reader *r, struct str id, struct when *when)
{
    const struct zone *zone = zone_of(r, id);
    const struct ics_zone *rules = zone ? NULL : map_find(&r->rules, id);

    if (zone) {
        when->at_ms = import_moment(zone, when->local_s);
        return true;
    }
    if (rules && ics_zone_moment(rules, when->local_s, &when->at_ms)) {
        when->at_ms *= 1000;
        return true;
    }
    import_problem(r->import, r->line.number, "the time zone \"%.*s\" is not known",
                   STR_ARG(str_take(id, 60)));
    return false;
}

static bool read_when(struct reader *r, struct when *ret_when)
{
    struct str id = ics_param(&r->line, "TZID"), text = str_trim(r->line.value);
    bool utc;

    if (!read_digits(text, ret_when, &utc)) {
        import_problem(r->import, r->line.number,
                       "\"%.*s\" is no date; it is written 20260218 or "
                       "20260218T090000Z",
                       STR_ARG(str_take(text, 40)));
        return false;
    }
    if (id.n && !utc && !ret_when->date)
        return read_moment(r, id, ret_when);
    ret_when->at_ms =
        utc ? ret_when->local_s * 1000 : import_moment(r->import->zone, ret_when->local_s);
    return true;
}

/* The day and minute where the reader lives. */
static struct str local_text(struct reader *r, const struct when *when)
{
    const struct zone *zone = r->import->zone;
    char text[TIMEFMT_SIZE];
    int64_t local = when->local_s * 1000;

    if (!when->date)
        local = when->at_ms + (zone ? (int64_t)zone_offset(zone, when->at_ms / 1000) * 1000 : 0);
    timefmt_rfc3339(local, text);
    return arena_str(r->import->arena, str_of(text, when->date ? 10 : 16));
}

/* "P1DT2H30M" in ms; 0: none, or not understood. */
static int64_t read_duration(struct str text)
{
    int64_t all = 0, number = 0;
    bool time = false;

    for (size_t i = str_starts(text, STR("+")) ? 1 : 0; i < text.n; i++) {
        char c = text.p[i];
        int64_t unit = c == 'W'           ? 604800
                       : c == 'D'         ? 86400
                       : c == 'H' && time ? 3600
                       : c == 'M' && time ? 60
                       : c == 'S' && time ? 1
                                          : 0;

        if (c >= '0' && c <= '9' && number < 1000000) {
            number = number * 10 + (c - '0');
        } else if (unit) {
            all += number * unit;
            number = 0;
        } else if (c == 'T') {
            time = true;
        } else if (c != 'P') {
            return 0;
        }
    }
    return all < 366 * 86400 ? all * 1000 : 0;
}

/* ---- properties ---- */

static void read_priority(struct component *c, struct str text)
{
    int64_t n;

    if (str_to_i64(str_trim(text), &n) < 0 || n < 1 || n > 9)
        return;
    c->record.priority = n == 1 ? STR("P0") : n <= 4 ? STR("P1") : n == 5 ? STR("P2") : STR("P3");
}

static void read_labels(struct reader *r, struct component *c)
{
    struct str rest = r->line.value, part;

    while (ics_split(&rest, &part))
        import_label(r->import, &c->record, ics_text(part, r->import->arena));
}

static void read_item(struct reader *r, struct component *c)
{
    struct str title = str_trim(ics_text(r->line.value, r->import->arena));

    if (title.n)
        import_add_item(r->import, &c->record, title,
                        str_eq_nocase(ics_param(&r->line, "X-DORMOUSE-CHECKED"), STR("TRUE")));
}

static void read_time_of(struct reader *r, struct component *c, struct str name)
{
    struct when when = { .date = false };

    if (!read_when(r, &when)) {
        c->broken = true;
    } else if (str_eq_nocase(name, STR("DUE"))) {
        c->record.due = local_text(r, &when);
    } else if (str_eq_nocase(name, STR("DTSTART"))) {
        c->record.begin = when.at_ms;
        c->begun = true;
        c->date_only = when.date;
    } else if (str_eq_nocase(name, STR("DTEND"))) {
        c->record.end = when.at_ms;
    } else if (str_eq_nocase(name, STR("COMPLETED"))) {
        c->record.closed = when.at_ms > 0 ? when.at_ms : 0;
        c->completed = true;
    } else {
        c->stamp = when.at_ms;
    }
}

static bool read_text_of(struct reader *r, struct component *c, struct str name)
{
    const struct {
        const char *name;
        struct str *to;
    } texts[] = {
        { "UID", &c->uid },
        { "RECURRENCE-ID", &c->recurrence },
        { "SUMMARY", &c->record.title },
        { "X-DORMOUSE-CATEGORY", &c->record.category },
        { "X-DORMOUSE-DAY", &c->record.plan_day },
        { "X-DORMOUSE-KIND", &c->record.kind },
        { "X-DORMOUSE-SUBTYPE", &c->record.subtype },
        { "X-DORMOUSE-UNIT", &c->record.unit },
        { "X-DORMOUSE-TASK", &c->record.task_id },
    };

    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        if (!str_eq_nocase(name, str_from(texts[i].name)))
            continue;
        *texts[i].to = str_trim(ics_text(r->line.value, r->import->arena));
        return true;
    }
    return false;
}

/* A journal may describe itself several times. */
static void read_description(struct reader *r, struct component *c)
{
    struct str text = str_trim(ics_text(r->line.value, r->import->arena));

    if (c->record.notes.n && text.n)
        text = str_from(arena_printf(r->import->arena, "%.*s\n\n%.*s", STR_ARG(c->record.notes),
                                     STR_ARG(text)));
    if (text.n)
        c->record.notes = text;
}

static bool is_time(const struct component *c, struct str name)
{
    return str_eq_nocase(name, STR("DUE")) || str_eq_nocase(name, STR("DTSTART")) ||
           str_eq_nocase(name, STR("DTEND")) ||
           (c->kind == VTODO && str_eq_nocase(name, STR("COMPLETED"))) ||
           (c->kind == VJOURNAL && str_eq_nocase(name, STR("DTSTAMP")));
}

static void read_property(struct reader *r, struct component *c)
{
    struct str name = r->line.name, value = str_trim(r->line.value);
    struct import_record *record = &c->record;

    if (is_time(c, name)) {
        read_time_of(r, c, name);
    } else if (str_eq_nocase(name, STR("DESCRIPTION"))) {
        read_description(r, c);
    } else if (str_eq_nocase(name, STR("PERCENT-COMPLETE")) && str_is(value, "100")) {
        c->completed = true; /* for programs that say it only so */
    } else if (str_eq_nocase(name, STR("STATUS")) && !record->is_event) {
        if (!record->status.n && !import_status(value, &record->status))
            record->status = STR_NONE; /* of other programs */
    } else if (str_eq_nocase(name, STR("X-DORMOUSE-STATUS"))) {
        import_status(value, &record->status);
    } else if (str_eq_nocase(name, STR("X-DORMOUSE-PRIORITY"))) {
        import_priority(value, &record->priority);
    } else if (str_eq_nocase(name, STR("PRIORITY"))) {
        if (!record->priority.n)
            read_priority(c, value);
    } else if (str_eq_nocase(name, STR("CATEGORIES"))) {
        read_labels(r, c);
    } else if (str_eq_nocase(name, STR("DURATION"))) {
        c->duration_ms = read_duration(value);
    } else if (str_eq_nocase(name, STR("X-DORMOUSE-ESTIMATE"))) {
        import_minutes(value, &record->estimate_min);
    } else if (str_eq_nocase(name, STR("X-DORMOUSE-VALUE"))) {
        AUTO_TEXT copy = alloc_copy(value.p ? value.p : "", value.n);
        char *end;

        record->value = strtod(copy, &end);
        record->has_value = end != copy && !*end && isfinite(record->value);
    } else if (str_eq_nocase(name, STR("X-DORMOUSE-ITEM"))) {
        read_item(r, c);
    } else {
        read_text_of(r, c, name);
    }
}

/* ---- components ---- */

/* A line that is none is said once and passed over. */
static int next_line(struct reader *r)
{
    int result;

    while ((result = ics_next(&r->lines, &r->line)) < 0)
        import_problem(r->import, r->line.number, "this is no NAME:VALUE");
    return result;
}

static bool is_line(const struct reader *r, const char *name, const char *value)
{
    return str_eq_nocase(r->line.name, str_from(name)) &&
           (!value || str_eq_nocase(str_trim(r->line.value), str_from(value)));
}

/* To the END of a component that was just begun. */
static void skip_component(struct reader *r)
{
    for (size_t depth = 1; depth && next_line(r) > 0;) {
        if (is_line(r, "BEGIN", NULL))
            depth++;
        else if (is_line(r, "END", NULL))
            depth--;
    }
}

static void read_timezone(struct reader *r)
{
    struct ics_zone *rules = ARENA_NEW(r->import->arena, struct ics_zone);
    struct str id = STR_NONE, location = STR_NONE;
    size_t depth = 1;

    while (depth && next_line(r) > 0) {
        ics_zone_read(rules, &r->line);
        if (is_line(r, "BEGIN", NULL))
            depth++;
        else if (is_line(r, "END", NULL))
            depth--;
        else if (is_line(r, "TZID", NULL))
            id = str_trim(r->line.value);
        else if (is_line(r, "X-LIC-LOCATION", NULL))
            location = str_trim(r->line.value);
    }
    if (!id.n || map_count(&r->rules) >= ZONES_MAX)
        return;
    map_put(&r->rules, id, rules);
    if (location.n)
        map_put(&r->aliases, id, arena_printf(r->import->arena, "%.*s", STR_ARG(location)));
}

/* What was changed of something that repeats is another record than the rest of it. */
static struct str uid_of(struct reader *r, const struct component *c)
{
    if (!c->uid.n || !c->recurrence.n)
        return c->uid;
    return str_from(
        arena_printf(r->import->arena, "%.*s|%.*s", STR_ARG(c->uid), STR_ARG(c->recurrence)));
}

static int end_component(struct reader *r, struct component *c)
{
    struct import_record *record = &c->record;

    if (c->broken)
        return 0;
    if (c->kind == VJOURNAL && !c->begun) {
        record->begin = c->stamp;
        c->begun = c->stamp != 0;
    }
    if (c->kind == VJOURNAL && !record->kind.n)
        record->kind = STR("note");
    if (c->kind == VTODO && c->completed && !record->status.n)
        record->status = STR("DONE");
    if (record->is_event && !c->begun) {
        import_problem(r->import, record->line, "the %s does not say when it %s (DTSTART)",
                       c->kind == VEVENT ? "event" : "journal entry",
                       c->kind == VEVENT ? "begins" : "was");
        return 0;
    }
    if (record->is_event && !record->end && c->duration_ms)
        record->end = record->begin + c->duration_ms;
    if (record->is_event && record->end && record->end < record->begin) {
        import_problem(r->import, record->line, "the event ends before it begins");
        return 0;
    }
    if (c->date_only)
        record->end = 0; /* a day, not 24 hours of something */
    if (!record->is_event)
        record->begin = record->end = 0;
    return import_add(r->import, record, uid_of(r, c), r->err);
}

static int read_component(struct reader *r, enum kind kind)
{
    struct component c = { .kind = kind,
                           .record = { .line = r->line.number, .is_event = kind != VTODO } };

    for (;;) {
        if (next_line(r) == 0) {
            import_problem(r->import, c.record.line, "%s does not end", kinds[kind]);
            return 0;
        }
        if (is_line(r, "BEGIN", NULL))
            skip_component(r);
        else if (is_line(r, "END", NULL))
            return end_component(r, &c);
        else
            read_property(r, &c);
    }
}

/* KINDS: of none that is read. */
static enum kind kind_begun(const struct reader *r)
{
    enum kind kind = VTODO;

    while (kind < KINDS && !is_line(r, "BEGIN", kinds[kind]))
        kind++;
    return kind;
}

static int read_calendar(struct reader *r)
{
    bool seen = false;

    while (next_line(r) > 0) {
        enum kind kind = kind_begun(r);
        int result = 0;

        seen |= is_line(r, "BEGIN", "VCALENDAR");
        if (!seen)
            break;
        if (is_line(r, "BEGIN", "VTIMEZONE"))
            read_timezone(r);
        else if (kind < KINDS)
            result = read_component(r, kind);
        else if (is_line(r, "BEGIN", NULL) && !is_line(r, "BEGIN", "VCALENDAR"))
            skip_component(r);
        if (result < 0)
            return -1;
    }
    if (seen)
        return 0;
    return err_set(r->err, ERR_BAD_REQUEST,
                   "the file is no calendar: it does not begin with BEGIN:VCALENDAR");
}

int import_ics(struct import *import, struct str text, struct err *err)
{
    struct reader r = { .import = import,
                        .lines = { .rest = text, .arena = import->arena },
                        .zones = MAP_INIT,
                        .aliases = MAP_INIT,
                        .rules = MAP_INIT,
                        .err = err };
    int result = read_calendar(&r);

    free_zones(&r);
    return result;
}
