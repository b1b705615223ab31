/* CSV as Todoist and Toggl write it.
 *
 * Todoist has a line for each task, section and comment. What is indented and has only a title
 * becomes an item of the task above it; one that says more is a task that is linked to it. 1 is the
 * first priority there. A date that says when something repeats goes into the notes. Toggl (and
 * whoever has the same columns) has a line for each time entry.
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

/* A task of the file, or one that is indented under it. */
struct part {
    struct import_record task;
    int64_t indent;
    size_t above;  /* that it is indented under */
    size_t owner;  /* the first that is a task on the way up */
    size_t number; /* among all that were added, from 1; 0: it was not */
};
struct todoist {
    struct csv *csv;
    const struct head *head;
    struct part *parts; /* a task and what is indented under it: not yet added */
    size_t count, room;
    struct str section;
};

static bool is_task(const struct todoist *r, size_t i)
{
    const struct import_record *task = &r->parts[i].task;

    return i == 0 || task->notes.n || task->due.n || task->label_count || task->estimate_min ||
           (task->priority.n && !str_is(task->priority, "P3"));
}

/* What has a title and nothing more is an item of the task above it, the rest a task. */
static int end_task(struct todoist *r, struct err *err)
{
    struct import *import = r->csv->import;
    size_t n = r->count;

    r->count = 0;
    for (size_t i = 1; i < n; i++)
        if (!is_task(r, i) && r->parts[i].task.title.n)
            import_add_item(import, &r->parts[r->parts[i].owner].task, r->parts[i].task.title,
                            false);
    for (size_t i = 0; i < n; i++) {
        struct part *part = &r->parts[i];
        size_t before = import->count;

        if (!is_task(r, i))
            continue;
        part->task.parent = i ? r->parts[r->parts[i].owner].number : 0;
        if (import_add(import, &part->task, STR_NONE, err) < 0)
            return -1;
        part->number = import->count > before ? import->count : 0;
    }
    return 0;
}

static struct import_record *add_part(struct todoist *r, int64_t indent)
{
    size_t above = r->count ? r->count - 1 : 0;

    if (r->count == r->room) {
        size_t room = r->room * 2 + 16;
        struct part *more = ARENA_NEW_N(r->csv->import->arena, struct part, room);

        if (r->count)
            memcpy(more, r->parts, r->count * sizeof(*more));
        r->parts = more;
        r->room = room;
    }
    while (above && r->parts[above].indent >= indent)
        above = r->parts[above].above;
    r->parts[r->count] =
        (struct part){ .task = { .line = r->csv->first_line, .category = r->section },
                       .indent = indent,
                       .above = above,
                       .owner = r->count && !is_task(r, above) ? r->parts[above].owner : above };
    return &r->parts[r->count++].task;
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

static void add_named(struct import *import, struct import_record *task, const char *name,
                      struct str text)
{
    if (text.n)
        add_note(import, task,
                 str_from(arena_printf(import->arena, "%s: %.*s", name, STR_ARG(text))));
}

static void read_date(struct import *import, struct import_record *task, struct str text)
{
    struct quick_when when;
    char day[TIMEFMT_SIZE];

    if (import_due(import, text, &task->due))
        return;
    if (!read_when(import, text, &when)) {
        add_named(import, task, "Date", text);
        return;
    }
    timefmt_rfc3339(when.day * 86400 * 1000, day);
    task->due = str_from(when.has_clock ? arena_printf(import->arena, "%.10sT%02d:%02d", day,
                                                       when.minutes / 60, when.minutes % 60)
                                        : arena_printf(import->arena, "%.10s", day));
}

/* "None" is what Todoist writes for nothing. */
static struct str given(struct todoist *r, const char *name)
{
    struct str text = cell(r->csv, r->head, name);

    return str_eq_nocase(text, STR("None")) ? STR("") : text;
}

static void read_rest(struct todoist *r, struct import_record *task)
{
    static const char *const priorities[] = { "P0", "P1", "P2", "P3" };
    struct import *import = r->csv->import;
    struct str date = given(r, "date"), deadline = given(r, "deadline"),
               length = given(r, "duration"), unit = given(r, "duration_unit");
    int64_t number;

    add_note(import, task, cell(r->csv, r->head, "description"));
    read_date(import, task, date.n ? date : deadline);
    if (date.n)
        add_named(import, task, "Deadline", deadline);
    if (str_to_i64(cell(r->csv, r->head, "priority"), &number) == 0 && number >= 1 && number <= 4)
        task->priority = str_from(priorities[number - 1]);
    if (!str_eq_nocase(unit, STR("minute")) || !import_minutes(length, &task->estimate_min))
        add_named(import, task, "Duration",
                  length.n ? str_from(arena_printf(import->arena, "%.*s %.*s", STR_ARG(length),
                                                   STR_ARG(unit)))
                           : length);
}

static int read_task(struct todoist *r, struct err *err)
{
    struct import_record *task;
    int64_t indent = 1;

    if (str_to_i64(cell(r->csv, r->head, "indent"), &indent) < 0 || indent < 1)
        indent = 1;
    if (indent == 1 && end_task(r, err) < 0)
        return -1;
    task = add_part(r, indent);
    task->title = read_content(r, task, cell(r->csv, r->head, "content"));
    read_rest(r, task);
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
            if (r.count)
                add_note(csv->import, &r.parts[r.count - 1].task, cell(csv, head, "content"));
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
