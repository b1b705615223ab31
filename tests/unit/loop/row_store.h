/* A table for tests: groups of rows, without any constraint that would hide a doubled write.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_TESTS_ROW_STORE_H
#define DORMOUSE_TESTS_ROW_STORE_H

#include <stdint.h>

#include "base/err.h"
#include "db/domain.h"

/* Opens PATH (SQLite) with the table in it. */
int rows_open(const char *path, struct domain **ret_domain, struct err *err);
int rows_add(struct domain *domain, int64_t id, struct err *err);
/* Fails: the second of two equal keys. */
int rows_collide(struct domain *domain, struct err *err);
/* How often id is there. */
int rows_count(struct domain *domain, int64_t id, int64_t *ret_count, struct err *err);
/* Of all rows; 0 when there is none. */
int rows_max(struct domain *domain, int64_t *ret_max, struct err *err);
/* Ids whose number of rows is neither 0 nor times. */
int rows_torn(struct domain *domain, int64_t times, int64_t *ret_count, struct err *err);

#endif
