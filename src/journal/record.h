/* Records of the journal: one table of fields for each type says what it may hold. Everything that
 * reads or writes records (REST, commands, tools, imports, exports, predicates of subscriptions)
 * goes by these tables, so a field has one name, one type and one set of limits everywhere.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_JOURNAL_RECORD_H
#define DORMOUSE_JOURNAL_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/json_write.h"
#include "base/str.h"

/* id, name in the API and in change units, semantic key */
#define RECORD_TYPES(X)                                                                            \
    X(CATEGORY, "category", "CATEGORY")                                                            \
    X(LABEL, "label", "LABEL")                                                                     \
    X(TASK, "task", "TASK")                                                                        \
    X(CHECKLIST, "checklist", "CHECKLIST")                                                         \
    X(CHECKLIST_ITEM, "checklistItem", "CHECKLIST")                                                \
    X(TIME_ENTRY, "timeEntry", "TIME_ENTRY")                                                       \
    X(DAY_PLAN, "dayPlan", "DAY_PLAN")                                                             \
    X(DAY_PLAN_BLOCK, "dayPlanBlock", "DAY_PLAN")                                                  \
    X(RATING, "rating", "RATING")                                                                  \
    X(ENTRY, "entry", "NOTE") /* or WORKOUT, AUDIO, by its kind */                                 \
    X(ATTACHMENT, "attachment", "AUDIO")                                                           \
    X(ENTRY_LINK, "entryLink", "NOTE")
enum record_type {
    RECORD_NONE = 0,
#define X(id, name, key) RECORD_##id,
    RECORD_TYPES(X)
#undef X
        RECORD_TYPES_END
};
const char *record_type_name(enum record_type type);
/* The same with its article: "a task", "an entry". */
const char *record_type_a(enum record_type type);
enum record_type record_type_of(struct str name);
/* What a link may lead to beside records. The journal does not look for it: who writes such a link
 * makes sure that it is there. */
#define RECORD_LINK_REPORT "agentReport"
/* Of a list of them in exports: "checklistItems". */
const char *record_list_name(enum record_type type);

enum field_kind {
    FIELD_LINE = 1, /* text on one line, 1 to max characters */
    FIELD_TEXT,     /* prose, at most max bytes, may be empty */
    FIELD_WORD,     /* one of words: its text in s, its place among them in i */
    FIELD_INT,      /* min..max */
    FIELD_REAL,
    FIELD_BOOL,
    FIELD_TIME, /* a moment: RFC 3339 in JSON, ms in the table */
    FIELD_DAY,  /* a local day "2026-02-18"; where clock is allowed also "2026-02-18T16:00" */
    FIELD_ID,   /* of a record of type ref (RECORD_NONE: of any) */
    FIELD_IDS,  /* a list of those */
};
/* What a line must look like besides. */
enum field_form {
    FORM_ANY = 0,
    FORM_COLOR,
    FORM_LANGUAGE,
    FORM_MEDIA_TYPE,
    FORM_TOKEN,
    FORM_FILE_NAME
};

struct record_field {
    const char *name; /* "categoryId" */
    enum field_kind kind;
    enum record_type ref;
    const char *const *words; /* ends with NULL */
    int64_t min, max;
    int64_t
        initial; /* what a new record has that does not give it; of a time: the moment of writing */
    enum field_form form;
    bool required;  /* a new record must give it */
    bool nullable;  /* null takes it away; so does an empty text */
    bool fixed;     /* given once, never changed */
    bool read_only; /* the journal sets it itself */
    bool clock;     /* of a day: a time may follow */
    bool ordinal;   /* of words: stored and sorted by their place; JSON may give the number */
};
#define RECORD_FIELDS_MAX 16
const struct record_field *record_fields(enum record_type type, size_t *ret_count);
/* -1: no such field. */
int record_field_index(enum record_type type, struct str name);
/* Of a task: OPEN, GROOMED ...; ends with NULL. */
extern const char *const task_statuses[];
bool task_status_is_closed(struct str status);
/* Ids are 1 to RECORD_ID_MAX letters, digits, '-', '_' and '.'. */
#define RECORD_ID_MAX 100
bool record_id_valid(struct str id);
/* "2026-02-18", and with clock also "2026-02-18T16:00": a day that the calendar has. */
bool record_day_valid(struct str day, bool clock);

struct record_value {
    bool set; /* false: null */
    int64_t i;
    double f;
    struct str s; /* also of IDS: the JSON list */
};
struct record {
    enum record_type type;
    int64_t n; /* 0: not stored */
    struct str id;
    struct record_value v[RECORD_FIELDS_MAX]; /* in the order of record_fields() */
    int64_t created_at, updated_at, deleted_at, counter;
    struct str vector_clock;
    struct str provenance; /* where its texts came from, as stored; empty: they are the person's */
};
/* Where any of its texts came from (change/taint.h); empty: they are the person's own. */
struct str record_taint(const struct record *record, struct arena *arena);
/* A field that is not there is a BUG. */
const struct record_value *record_get(const struct record *record, const char *field);
struct str record_str(const struct record *record, const char *field);
int64_t record_i64(const struct record *record, const char *field);

/* One object: id, the fields (those that are null are left out), createdAt, updatedAt, deletedAt.
 */
void record_write(struct json_writer *w, const struct record *record);
/* The members alone, for who adds more. */
void record_write_members(struct json_writer *w, const struct record *record);
/* Does it say anything at all? A note without a text, a measurement without a value and a link of
 * something to itself do not. For
 * doors by which people write; what is stored already may be so. */
int record_check_sense(const struct record *record, struct err *err);
/* Sets the fields that object gives; what a stored record has fixed may only be given again as it
 * is. schema_violation names the member (/due), what it was and what is allowed; members that are
 * no field are refused. The record is untouched then. */
struct json_object;
int record_apply(struct record *record, struct json_object *object, struct arena *arena,
                 struct err *err);

#endif
