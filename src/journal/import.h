/* Bringing records in from files that other programs wrote (CSV, todo.txt, Markdown task lists and
 * iCalendar), and what was exported as JSON from a journal.
 *
 * Reading a file is a pure function of its text: it gives tasks and events, and the problems with
 * their lines. Each has an id that follows from what the file says, so the same file read twice
 * makes nothing twice, also when a task was checked off in between.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_JOURNAL_IMPORT_H
#define DORMOUSE_JOURNAL_IMPORT_H

#include "base/zone.h"
#include "journal/journal.h"

#define IMPORT_BYTES_MAX    (16 * 1024 * 1024) /* the largest attachment in base64, and more */
#define IMPORT_RECORDS_MAX  100000
#define IMPORT_PROBLEMS_MAX 1000 /* kept; all are counted */
#define IMPORT_LABELS_MAX   20
#define IMPORT_ITEMS_MAX    500

enum import_format {
    IMPORT_NONE = 0,
    IMPORT_CSV,
    IMPORT_TODOTXT,
    IMPORT_MARKDOWN,
    IMPORT_ICS,
    IMPORT_JSON
};
/* "csv", "todotxt", "markdown", "ics", "json". */
const char *import_format_name(enum import_format format);
enum import_format import_format_of(struct str name);

struct import_item {
    struct str title;
    bool checked;
};
/* A task, or an event when begin is set. Texts that are empty are not given. */
struct import_record {
    size_t line; /* 0: the file has none */
    struct str id;
    struct str title, notes, status, priority, due, category;
    int64_t estimate_min; /* 0: none */
    int64_t closed;       /* when a task was done, ms; 0: not said */
    struct str *labels;   /* at most IMPORT_LABELS_MAX */
    size_t label_count;
    struct import_item *items;
    size_t item_count, item_room;
    struct str list_title; /* of its checklist */
    size_t parent;         /* of a task that is part of another: its number, from 1; 0: of none */
    bool is_event;
    int64_t begin, end;  /* of an event, ms; end 0: a moment */
    struct str plan_day; /* of an event that is a block of a day's plan */
    struct str kind;     /* of one that is an entry: "workout"; or "timeEntry" */
    struct str task_id;  /* that it belongs to */
    struct str subtype, unit;
    double value;
    bool has_value;
    struct record *whole; /* of a journal that was exported: all of it, labels are ids */
    struct str content;   /* of an attachment then */
};
struct import_problem {
    size_t line; /* 0: the text says where */
    struct str text;
};
struct import {
    enum import_format format;
    struct arena *arena;
    const struct zone *zone; /* of local times; NULL: UTC */
    struct import_record *records;
    struct import_problem *problems;
    size_t count, room, problem_count, problem_room;
    size_t left_out; /* attachments of an export that has not got what they hold */
};

/* Reads a whole file; zone is where its reader lives. bad_request when it is not this format at all
 * (no title column, no VCALENDAR, not UTF-8), too_large beyond the limits. Texts are in arena. */
int import_read(enum import_format format, struct str text, const struct zone *zone,
                struct arena *arena, struct import *ret_import, struct err *err);

struct import_result {
    size_t tasks, categories;
    size_t events;                /* of a calendar */
    size_t time_entries, entries; /* time that was spent; notes, workouts and measurements */
    size_t others;
    size_t there;   /* were made by an earlier import */
    size_t deleted; /* were too, and then deleted by somebody: they stay so */
};
#define IMPORT_NAMES_MAX 200
struct import_names {
    struct str names[IMPORT_NAMES_MAX];
    size_t count; /* of all of them; the first are in names */
};
struct import_look {
    struct import_result counts;
    struct import_names categories, labels; /* that would be made along */
};
/* What import_apply() would do with all of it, as things are. */
int import_look(struct journal *journal, const struct import *import, struct arena *arena,
                struct import_look *ret_look, struct err *err);

/* Makes records [from, from + count) in this write. Categories and labels that do not exist are
 * made. */
int import_apply(struct journal_write *write, const struct import *import, size_t from,
                 size_t count, struct import_result *result, struct err *err);

/* ---- taking it back ---- */

/* An id of the client's for one import, of at most 40 characters. */
bool import_id_valid(struct str id);
/* The operation that a step of it is. */
struct str import_step_id(struct str id, size_t offset, struct arena *arena);
/* What the operation answers: all that this write has made. */
struct str import_made(const struct journal_write *write, struct arena *arena);

struct import_undone {
    size_t removed, kept; /* kept: categories that something else uses by now */
};
/* Deletes what the import made; importing the file again makes it again. not_found when it is not
 * known (any more). */
int import_undo(struct journal *journal, struct str id, struct arena *arena,
                struct import_undone *ret_undone, struct err *err);

#endif
