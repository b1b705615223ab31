/* Rows of CSV, for those who know what the columns of a program mean.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_JOURNAL_IMPORT_CSV_INT_H
#define DORMOUSE_JOURNAL_IMPORT_CSV_INT_H

#include "journal/import_int.h"

#define CSV_COLUMNS_MAX 64

struct csv {
    struct import *import;
    struct str rest;
    char separator;
    size_t line; /* that is being read */
    struct str cells[CSV_COLUMNS_MAX];
    size_t count, first_line; /* of the row */
    bool broken;              /* the row can't be read; it was said */
};

/* The next row into cells; false at the end of the text. */
bool csv_row(struct csv *csv);
/* The head is in cells: reads the rest when it is a file of Todoist (tasks) or Toggl (time). 1: it
 * was, 0: it is of neither. */
int import_csv_known(struct csv *csv, struct err *err);

#endif
