/* Content lines of iCalendar (RFC 5545): folded, with parameters and escapes.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_JOURNAL_ICS_H
#define DORMOUSE_JOURNAL_ICS_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/str.h"

#define ICS_PARAMS_MAX 16

struct ics_param {
    struct str name, value; /* without quotes */
};
struct ics_line {
    struct str name, value; /* value as written: ics_text() reads its escapes */
    struct ics_param params[ICS_PARAMS_MAX];
    size_t param_count;
    size_t number; /* of its first line in the file */
};
struct ics_reader {
    struct str rest;
    size_t line;
    struct arena *arena;
};

/* The next content line: 1, 0 at the end, -1 it is none (ret_line->number says where; go on with
 * the next). */
int ics_next(struct ics_reader *reader, struct ics_line *ret_line);
/* p NULL when absent. */
struct str ics_param(const struct ics_line *line, const char *name);
/* A text value without its escapes. */
struct str ics_text(struct str value, struct arena *arena);
/* The next text of a list, up to a comma that is not escaped; as written. */
bool ics_split(struct str *rest, struct str *ret_part);

/* "NAME:text", escaped and folded at 75 octets, never within a character. */
void ics_put_text(struct buf *out, const char *name, struct str text);
/* The same with a value that is written as it is. */
void ics_put(struct buf *out, const char *name, const char *value);
/* 20260218T090000Z. */
#define ICS_TIME_SIZE 20
void ics_time(int64_t at_ms, char ret_text[ICS_TIME_SIZE]);

#endif
