/* CSV as Todoist and Toggl write it.
 *
 * Todoist has a line for each task, section and comment; what is indented becomes an item of the
 * task above it. 1 is the first priority there. A date that says when something repeats goes into
 * the notes. Toggl (and whoever has the same columns) has a line for each time entry.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/alloc.h"
#include "base/timefmt.h"
#include "base/utf8.h"
#include "journal/import_csv_int.h"
#include "journal/quick.h"

struct head {
    struct str names[CSV_COLUMNS_MAX];
    size_t n;
};

static ptrdiff_t column(const struct head *head, const char *name)
{
    for (size_t i = 0; i < head->n; i++)
        if (str_eq_nocase(head->names[i], str_from(name)))
            return (ptrdiff_t)i;
    return -1;
}

/* Empty where the row has none. */
static struct str cell(const struct csv *csv, const struct head *head, const char *name)
{
    ptrdiff_t i = column(head, name);

    return i < 0 || (size_t)i >= csv->count ? STR("") : str_trim(csv->cells[i]);
}

/* A day, with a time or not, that is the same whenever it is read. */
static bool read_when(struct import *import, struct str text, struct quick_when *ret_when)
{
    struct quick_when other;

    return quick_when(text, STR("2000-01-01T00:00"), false, import->arena, ret_when) &&
           quick_when(text, STR("2011-06-15T12:34"), false, import->arena, &other) &&
           ret_when->has_day && ret_when->day == other.day;
}

static void add_note(struct import *import, struct import_record *task, struct str text)
{
    if (!text.n)
        return;
    task->notes = task->notes.n ? str_from(arena_printf(import->arena, "%.*s\n%.*s",
                                                        STR_ARG(task->notes), STR_ARG(text)))
                                : text;
}

/* ---- Todoist ---- */

struct todoist {
    struct csv *csv;
    const struct head *head;
    struct import_record task; /* not yet added; line 0: none */
    struct str section;
};

static int end_task(struct todoist *r, struct err *err)
{
    int result = r->task.line ? import_add(r->csv->import, &r->task, STR_NONE, err) : 0;

    r->task = (struct import_record){ .line = 0 };
    return result;
}

/* Words that begin with '@' are labels. */
static struct str read_content(struct todoist *r, struct import_record *task, struct str rest)
{
    AUTO_BUF title = BUF_INIT(IMPORT_BYTES_MAX);
    struct arena *arena = r->csv->import->arena;
    struct str word;

    for (size_t i = 0; i < rest.n; i++) /* a title is one line */
        if (rest.p[i] == '\n' || rest.p[i] == '\r')
            rest = str_take(rest, i);
    while (rest.p && str_split(&rest, ' ', &word)) {
        if (word.n > 1 && word.p[0] == '@')
            import_label(r->csv->import, task, arena_str(arena, str_skip(word, 1)));
        else if (word.n)
            buf_printf(&title, "%s%.*s", title.n ? " " : "", STR_ARG(word));
    }
    return arena_str(arena, buf_str(&title));
}

static void read_date(struct todoist *r, struct str text)
{
    struct import *import = r->csv->import;
    struct quick_when when;
    char day[TIMEFMT_SIZE];

    if (import_due(import, text, &r->task.due))
        return;
    if (!read_when(import, text, &when)) {
        add_note(import, &r->task,
                 str_from(arena_printf(import->arena, "Date: %.*s", STR_ARG(text))));
        return;
    }
    timefmt_rfc3339(when.day * 86400 * 1000, day);
    r->task.due = str_from(when.has_clock ? arena_printf(import->arena, "%.10sT%02d:%02d", day,
                                                         when.minutes / 60, when.minutes % 60)
                                          : arena_printf(import->arena, "%.10s", day));
}

static void read_rest(struct todoist *r)
{
    static const char *const priorities[] = { "P0", "P1", "P2", "P3" };
    const struct head *head = r->head;
    struct str unit = cell(r->csv, head, "duration_unit");
    int64_t number;

    add_note(r->csv->import, &r->task, cell(r->csv, head, "description"));
    read_date(r, cell(r->csv, head, cell(r->csv, head, "date").n ? "date" : "deadline"));
    if (str_to_i64(cell(r->csv, head, "priority"), &number) == 0 && number >= 1 && number <= 4)
        r->task.priority = str_from(priorities[number - 1]);
    if (str_eq_nocase(unit, STR("minute")))
        import_minutes(cell(r->csv, head, "duration"), &r->task.estimate_min);
}

static int read_task(struct todoist *r, struct err *err)
{
    struct str content = cell(r->csv, r->head, "content");
    int64_t indent = 1;

    if (str_to_i64(cell(r->csv, r->head, "indent"), &indent) == 0 && indent > 1 && r->task.line) {
        content = read_content(r, &r->task, content);
        if (content.n)
            import_add_item(r->csv->import, &r->task, content, false);
        return 0;
    }
    if (end_task(r, err) < 0)
        return -1;
    r->task = (struct import_record){ .line = r->csv->first_line, .category = r->section };
    r->task.title = read_content(r, &r->task, content);
    read_rest(r);
    return 0;
}

static int read_todoist(struct csv *csv, const struct head *head, struct err *err)
{
    struct todoist r = { .csv = csv, .head = head };

    while (csv_row(csv)) {
        struct str type = cell(csv, head, "type");

        if (csv->broken)
            continue;
        if (str_eq_nocase(type, STR("section"))) {
            if (end_task(&r, err) < 0)
                return -1;
            r.section = cell(csv, head, "content");
        } else if (str_eq_nocase(type, STR("note"))) {
            if (r.task.line)
                add_note(csv->import, &r.task, cell(csv, head, "content"));
        } else if (str_eq_nocase(type, STR("task")) && read_task(&r, err) < 0) {
            return -1;
        }
    }
    return end_task(&r, err);
}

/* ---- Toggl ---- */

/* "2026-11-10" and "09:00:00" or "9:00:00 AM"; 0: none. */
static int64_t read_moment(struct csv *csv, const struct head *head, const char *day,
                           const char *clock)
{
    struct str date = cell(csv, head, day), time = cell(csv, head, clock), rest = time, part;
    struct quick_when when;
    const char *text;

    str_split(&rest, ':', &part);
    if (rest.p && str_find_char(rest, ':') >= 0) { /* without the seconds */
        ptrdiff_t colon = str_find_char(rest, ':');
        size_t minutes = part.n + 1 + (size_t)colon;

        text = arena_printf(csv->import->arena, "%.*s %.*s%.*s", STR_ARG(date), (int)minutes,
                            time.p, STR_ARG(str_skip(time, minutes + 3)));
    } else {
        text = arena_printf(csv->import->arena, "%.*s %.*s", STR_ARG(date), STR_ARG(time));
    }
    if (!read_when(csv->import, str_from(text), &when) || !when.has_clock)
        return 0;
    return import_moment(csv->import->zone, when.day * 86400 + when.minutes * 60);
}

static struct str told(struct csv *csv, const struct head *head)
{
    struct str what = cell(csv, head, "description"), rest = cell(csv, head, "tags"), tag;
    AUTO_BUF out = BUF_INIT(IMPORT_BYTES_MAX);

    buf_add_str(&out, what.n ? what : cell(csv, head, "task"));
    while (rest.n && str_split(&rest, ',', &tag))
        if (str_trim(tag).n)
            buf_printf(&out, "%s#%.*s", out.n ? " " : "", STR_ARG(str_trim(tag)));
    return arena_str(csv->import->arena, buf_str(&out));
}

static int read_entry(struct csv *csv, const struct head *head, struct err *err)
{
    bool stop = column(head, "stop date") >= 0;
    struct import_record entry = {
        .line = csv->first_line,
        .is_event = true,
        .kind = STR("timeEntry"),
        .category = cell(csv, head, "project"),
        .notes = told(csv, head),
        .begin = read_moment(csv, head, "start date", "start time"),
        .end = read_moment(csv, head, stop ? "stop date" : "end date",
                           stop ? "stop time" : "end time"),
    };

    entry.title = utf8_truncate(entry.notes, 200);
    if (!entry.begin || !entry.end || entry.end < entry.begin) {
        import_problem(csv->import, entry.line,
                       entry.begin && entry.end
                           ? "the time ends before it begins"
                           : "when it began and ended is written 2026-02-18 and 09:30:00");
        return 0;
    }
    return import_add(
        csv->import, &entry,
        str_from(arena_printf(csv->import->arena, "time|%lld|%lld|%.*s", (long long)entry.begin,
                              (long long)entry.end, STR_ARG(entry.notes))),
        err);
}

static int read_toggl(struct csv *csv, const struct head *head, struct err *err)
{
    while (csv_row(csv)) {
        bool empty = !cell(csv, head, "start date").n;

        if (!csv->broken && !empty && read_entry(csv, head, err) < 0)
            return -1;
    }
    return 0;
}

int import_csv_known(struct csv *csv, struct err *err)
{
    struct head head = { .n = csv->count };

    for (size_t i = 0; i < csv->count; i++)
        head.names[i] = arena_str(csv->import->arena, str_trim(csv->cells[i]));
    if (column(&head, "type") >= 0 && column(&head, "content") >= 0)
        return read_todoist(csv, &head, err) < 0 ? -1 : 1;
    if (column(&head, "start date") >= 0 && column(&head, "start time") >= 0 &&
        (column(&head, "end time") >= 0 || column(&head, "stop time") >= 0))
        return read_toggl(csv, &head, err) < 0 ? -1 : 1;
    return 0;
}
