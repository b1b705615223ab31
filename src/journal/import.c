/* What all readers of files share: the words that people use for a due day, a priority, a status;
 * what a record must be; ids.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdarg.h>
#include <stdio.h>

#include "base/hash.h"
#include "base/map.h"
#include "base/timefmt.h"
#include "base/utf8.h"
#include "journal/import_int.h"

#define TITLE_MAX    500
#define NAME_MAX_    100
#define NOTES_MAX    (100 * 1024)
#define MINUTES_MAX  100000
#define PROBLEM_SIZE 400

static const struct {
    const char *name;
    int (*read)(struct import *import, struct str text, struct err *err);
} formats[] = {
    [IMPORT_NONE] = { "none", NULL },
    [IMPORT_CSV] = { "csv", import_csv },
    [IMPORT_TODOTXT] = { "todotxt", import_todotxt },
    [IMPORT_MARKDOWN] = { "markdown", import_markdown },
    [IMPORT_ICS] = { "ics", import_ics },
    [IMPORT_JSON] = { "json", import_json },
};

const char *import_format_name(enum import_format format)
{
    return formats[format].name;
}

enum import_format import_format_of(struct str name)
{
    for (size_t i = 1; i < ARRAY_LEN(formats); i++)
        if (str_is(name, formats[i].name))
            return (enum import_format)i;
    return IMPORT_NONE;
}

/* ---- problems ---- */

void import_problem(struct import *import, size_t line, const char *fmt, ...)
{
    char text[PROBLEM_SIZE];
    va_list args;

    if (import->problem_count++ >= IMPORT_PROBLEMS_MAX)
        return;
    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    if (import->problem_count > import->problem_room) {
        size_t room = import->problem_room * 2 + 16;
        struct import_problem *more = ARENA_NEW_N(import->arena, struct import_problem, room);

        if (import->problem_room)
            memcpy(more, import->problems, import->problem_room * sizeof(*more));
        import->problems = more;
        import->problem_room = room;
    }
    import->problems[import->problem_count - 1] = (struct import_problem){
        .line = line, .text = arena_str(import->arena, utf8_truncate(str_from(text), sizeof(text)))
    };
}

/* ---- lines ---- */

bool import_line(struct str *rest, struct str *ret_line)
{
    size_t n = 0;

    if (!rest->p)
        return false;
    while (n < rest->n && rest->p[n] != '\n' && rest->p[n] != '\r')
        n++;
    *ret_line = str_take(*rest, n);
    if (n == rest->n) {
        *rest = STR_NONE;
        return n > 0;
    }
    n += rest->p[n] == '\r' && n + 1 < rest->n && rest->p[n + 1] == '\n' ? 2 : 1;
    *rest = str_skip(*rest, n);
    return true;
}

/* ---- values ---- */

static bool digits(struct str text)
{
    for (size_t i = 0; i < text.n; i++)
        if (text.p[i] < '0' || text.p[i] > '9')
            return false;
    return text.n > 0;
}

/* 18.2.2026 and 18.02.2026; what is written with slashes is read differently in different places.
 */
static bool dotted_day(struct str text, char *out, size_t size)
{
    struct str rest = text, day, month;
    int64_t y, m, d;

    if (!str_split(&rest, '.', &day) || !rest.p || !str_split(&rest, '.', &month) || !rest.p ||
        !digits(day) || !digits(month) || !digits(rest) || rest.n != 4 || day.n > 2 || month.n > 2)
        return false;
    str_to_i64(rest, &y);
    str_to_i64(month, &m);
    str_to_i64(day, &d);
    snprintf(out, size, "%04d-%02d-%02d", (int)y, (int)m, (int)d);
    return true;
}

bool import_due(struct import *import, struct str text, struct str *ret_due)
{
    char out[32];

    text = str_trim(text);
    if (!text.n || text.n > 25)
        return text.n == 0;
    snprintf(out, sizeof(out), "%.*s", STR_ARG(text));
    if (text.n >= 16 && (out[10] == ' ' || out[10] == 'T')) {
        out[10] = 'T';
        if (text.n == 19 && out[16] == ':')
            out[16] = '\0'; /* seconds say nothing */
    }
    if (!record_day_valid(str_from(out), true) && !dotted_day(text, out, sizeof(out)))
        return false;
    /* The last day there is stands for none. */
    if (!record_day_valid(str_from(out), true) || strncmp(out, "9999-12-31", 10) == 0)
        return false;
    *ret_due = arena_str(import->arena, str_from(out));
    return true;
}

struct word {
    const char *written, *means;
};

static bool look_up(const struct word *words, struct str text, struct str *ret_value)
{
    text = str_trim(text);
    if (!text.n)
        return true;
    for (; words->written; words++) {
        if (!str_eq_nocase(text, str_from(words->written)))
            continue;
        if (words->means)
            *ret_value = str_from(words->means);
        return true;
    }
    return false;
}

bool import_priority(struct str text, struct str *ret_priority)
{
    static const struct word words[] = {
        { "P0", "P0" },     { "P1", "P1" },   { "P2", "P2" },     { "P3", "P3" },
        { "0", "P0" },      { "1", "P1" },    { "2", "P2" },      { "3", "P3" },
        { "A", "P0" },      { "B", "P1" },    { "C", "P2" },      { "D", "P3" },
        { "urgent", "P0" }, { "high", "P1" }, { "medium", "P2" }, { "normal", "P2" },
        { "low", "P3" },    { "none", NULL }, { NULL, NULL },
    };

    return look_up(words, text, ret_priority);
}

bool import_status(struct str text, struct str *ret_status)
{
    static const struct word words[] = {
        { "OPEN", "OPEN" },
        { "todo", "OPEN" },
        { "to do", "OPEN" },
        { "new", "OPEN" },
        { "no", "OPEN" },
        { "false", "OPEN" },
        { "needs-action", "OPEN" },
        { "GROOMED", "GROOMED" },
        { "IN_PROGRESS", "IN_PROGRESS" },
        { "in progress", "IN_PROGRESS" },
        { "in-process", "IN_PROGRESS" },
        { "doing", "IN_PROGRESS" },
        { "BLOCKED", "BLOCKED" },
        { "ON_HOLD", "ON_HOLD" },
        { "on hold", "ON_HOLD" },
        { "waiting", "ON_HOLD" },
        { "DONE", "DONE" },
        { "completed", "DONE" },
        { "complete", "DONE" },
        { "closed", "DONE" },
        { "x", "DONE" },
        { "yes", "DONE" },
        { "true", "DONE" },
        { "REJECTED", "REJECTED" },
        { "cancelled", "REJECTED" },
        { "canceled", "REJECTED" },
        { NULL, NULL },
    };

    return look_up(words, text, ret_status);
}

/* "90", "90m", "90 min", "2h", "1h30", "1h 30m", "1:30". */
bool import_minutes(struct str text, int64_t *ret_minutes)
{
    int64_t minutes = 0, number = 0;
    bool seen = false, hours = false, ended = false;

    text = str_trim(text);
    for (size_t i = 0; i < text.n; i++) {
        char c = text.p[i] | 0x20;

        if (text.p[i] >= '0' && text.p[i] <= '9') {
            if (ended || number > MINUTES_MAX)
                return false;
            number = number * 10 + (text.p[i] - '0');
            seen = true;
        } else if ((c == 'h' || text.p[i] == ':') && seen && !hours) {
            minutes = number * 60;
            number = 0;
            hours = true;
        } else if (c == 'm' && seen && !ended) {
            ended = true;
            if (text.n - i >= 3 && str_eq_nocase(str_of(text.p + i, 3), STR("min")))
                i = text.n - i > 3 && (text.p[i + 3] | 0x20) == 's' ? i + 3 : i + 2;
        } else if (text.p[i] != ' ') {
            return false;
        }
    }
    minutes += number;
    if (text.n && (!seen || minutes < 1 || minutes > MINUTES_MAX))
        return false;
    if (text.n)
        *ret_minutes = minutes;
    return true;
}

int64_t import_moment(const struct zone *zone, int64_t local_s)
{
    int64_t utc;

    for (int i = 0; zone && i <= 24 * 60; i++)
        if (zone_moment(zone, local_s + i * 60, &utc) > 0)
            return utc * 1000;
    return local_s * 1000;
}

bool import_closed(struct import *import, struct str text, int64_t *ret_closed)
{
    struct str day = STR_NONE;
    int64_t at = 0;

    text = str_trim(text);
    if (timefmt_parse(text, &at, NULL) < 0) {
        if (!import_due(import, text, &day) || !day.n)
            return text.n == 0;
        timefmt_parse(str_from(arena_printf(import->arena, "%.*s%sZ", STR_ARG(day),
                                            day.n == 10 ? "T00:00:00" : ":00")),
                      &at, NULL);
        at = import_moment(import->zone, at / 1000);
    }
    if (at > 0)
        *ret_closed = at;
    return at > 0;
}

/* ---- records ---- */

void import_label(struct import *import, struct import_record *record, struct str label)
{
    label = str_trim(label);
    if (!label.n || record->label_count == IMPORT_LABELS_MAX)
        return;
    if (!record->labels)
        record->labels = ARENA_NEW_N(import->arena, struct str, IMPORT_LABELS_MAX);
    for (size_t i = 0; i < record->label_count; i++)
        if (str_eq_nocase(record->labels[i], label))
            return;
    record->labels[record->label_count++] = label;
}

void import_add_item(struct import *import, struct import_record *record, struct str title,
                     bool checked)
{
    if (record->item_count == record->item_room) {
        size_t room = record->item_room * 2 + 8;
        struct import_item *more = ARENA_NEW_N(import->arena, struct import_item, room);

        if (record->item_count)
            memcpy(more, record->items, record->item_count * sizeof(*more));
        record->items = more;
        record->item_room = room;
    }
    record->items[record->item_count++] =
        (struct import_item){ .title = arena_str(import->arena, title), .checked = checked };
}

static bool has_control(struct str text)
{
    for (size_t i = 0; i < text.n; i++) {
        unsigned char c = (unsigned char)text.p[i];

        if ((c < 0x20 && c != '\n' && c != '\t' && c != '\r') || c == 0x7f)
            return true;
    }
    return false;
}

static bool line_fits(struct import *import, size_t line, const char *what, struct str text,
                      size_t max)
{
    if (utf8_count(text) > max)
        import_problem(import, line, "%s has %zu characters; at most %zu are allowed", what,
                       utf8_count(text), max);
    else if (utf8_find_odd(text, 1u << UTF8_CONTROL, NULL, NULL) != UTF8_PLAIN)
        import_problem(import, line, "%s holds control characters", what);
    else
        return true;
    return false;
}

static bool lists_fit(struct import *import, const struct import_record *record)
{
    if (record->item_count > IMPORT_ITEMS_MAX) {
        import_problem(import, record->line, "%zu items in one task; at most %d are allowed",
                       record->item_count, IMPORT_ITEMS_MAX);
        return false;
    }
    for (size_t i = 0; i < record->label_count; i++)
        if (!line_fits(import, record->line, "a label", record->labels[i], NAME_MAX_))
            return false;
    for (size_t i = 0; i < record->item_count; i++)
        if (!line_fits(import, record->line, "an item", record->items[i].title, TITLE_MAX))
            return false;
    return true;
}

static bool event_fits(struct import *import, const struct import_record *record)
{
    struct err err = ERR_INIT;

    if (!record->is_event || import_check_event(record, &err) == 0)
        return true;
    import_problem(import, record->line, "%s", err_message(&err, 0));
    return false;
}

static bool is_sound(struct import *import, const struct import_record *record)
{
    if (!record->title.n && !record->is_event) {
        import_problem(import, record->line, "the task has no title");
        return false;
    }
    if (record->notes.n > NOTES_MAX) {
        import_problem(import, record->line, "the notes have %zu bytes; at most %d are allowed",
                       record->notes.n, NOTES_MAX);
        return false;
    }
    if (has_control(record->notes)) {
        import_problem(import, record->line, "the notes hold control characters");
        return false;
    }
    return line_fits(import, record->line, "the title", record->title, TITLE_MAX) &&
           line_fits(import, record->line, "the category", record->category, NAME_MAX_) &&
           lists_fit(import, record) && event_fits(import, record);
}

/* The same words twice in a file are two tasks: which of them it is counts. */
static struct str derive_id(struct import *import, const struct import_record *record,
                            struct str uid)
{
    static const char own[] = "@dormouse";
    char hash[SHA256_TEXT_SIZE];
    AUTO_BUF key = BUF_INIT(256 * 1024);

    if (str_ends(uid, str_from(own)) && record_id_valid(str_take(uid, uid.n - strlen(own))))
        return arena_str(import->arena, str_take(uid, uid.n - strlen(own)));
    buf_printf(&key, "import|v1|%s|%.*s|", import_format_name(import->format), STR_ARG(uid));
    if (!uid.n)
        buf_printf(&key, "%.*s|%.*s|%.*s|%lld", STR_ARG(record->title), STR_ARG(record->category),
                   STR_ARG(record->due), (long long)record->begin);
    sha256_text(buf_str(&key), hash);
    return arena_str(import->arena, str_of(hash, 40));
}

static void grow(struct import *import)
{
    size_t room = import->room * 2 + 64;
    struct import_record *more = ARENA_NEW_N(import->arena, struct import_record, room);

    if (import->count)
        memcpy(more, import->records, import->count * sizeof(*more));
    import->records = more;
    import->room = room;
}

int import_keep(struct import *import, const struct import_record *record, struct err *err)
{
    if (import->count == IMPORT_RECORDS_MAX)
        return err_set(err, ERR_TOO_LARGE, "the file has more than %d records", IMPORT_RECORDS_MAX);
    if (import->count == import->room)
        grow(import);
    import->records[import->count++] = *record;
    return 0;
}

int import_add(struct import *import, struct import_record *record, struct str uid, struct err *err)
{
    if (!is_sound(import, record))
        return 0;
    record->id = derive_id(import, record, uid);
    return import_keep(import, record, err);
}

/* Ids that several records have get the number of their turn. */
static void number_ids(struct import *import)
{
    AUTO_MAP seen = MAP_INIT;

    for (size_t i = 0; i < import->count; i++) {
        struct import_record *record = &import->records[i];
        size_t *times = map_find(&seen, record->id);

        if (!times) {
            times = ARENA_NEW(import->arena, size_t);
            map_put(&seen, record->id, times);
        } else {
            record->id = str_from(arena_printf(import->arena, "%.*s-%zu",
                                               STR_ARG(str_take(record->id, RECORD_ID_MAX - 24)),
                                               *times + 1));
        }
        ++*times;
    }
}

int import_read(enum import_format format, struct str text, const struct zone *zone,
                struct arena *arena, struct import *ret_import, struct err *err)
{
    BUG_IF(format == IMPORT_NONE);
    *ret_import = (struct import){ .format = format, .arena = arena, .zone = zone };
    if (text.n > IMPORT_BYTES_MAX)
        return err_set(err, ERR_TOO_LARGE, "the file has %zu bytes; at most %d are read", text.n,
                       IMPORT_BYTES_MAX);
    if (str_starts(text, STR("\xef\xbb\xbf")))
        text = str_skip(text, 3);
    if (!utf8_valid(text) || (text.n && memchr(text.p, 0, text.n)))
        return err_set(err, ERR_BAD_REQUEST,
                       "the file is not UTF-8 text; save it as UTF-8 and try again");
    if (formats[format].read(ret_import, text.n ? text : STR(""), err) < 0)
        return -1;
    if (format != IMPORT_JSON)
        number_ids(ret_import);
    return 0;
}
