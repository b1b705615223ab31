/* Domains of the product as they are before their first row, made once in a suite.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_TESTS_DB_FRESH_H
#define DORMOUSE_TESTS_DB_FRESH_H

#include <stdbool.h>

#include "harness/test.h"

/* Puts the SQLite file of a domain ("agent", "journal") with its newest schema at path, unless
 * there is a file. */
void fresh_file(struct test *t, const char *domain, const char *path);

/* Leaves nothing in the database at url. */
void fresh_empty(struct test *t, const char *url);
/* Leaves the schemas of both domains there, and no row in them. */
void fresh_domains(struct test *t, const char *url);

/* Runs SQL on a connection of its own; true when the last statement gave a row. */
bool fresh_run(struct test *t, const char *url, const char *sql);

#endif
