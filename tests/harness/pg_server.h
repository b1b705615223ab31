/* One Postgres server for a suite of tests.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_TESTS_PG_SERVER_H
#define DORMOUSE_TESTS_PG_SERVER_H

#include <stdbool.h>

/* Set before it is started: with syncs and the memory of an ordinary server, for benchmarks. */
extern bool pg_server_syncs;

/* The directory of its socket; starts it when it does not run yet. NULL when it can't be started,
 * *ret_why then says why. From any process of the suite, one at a time. */
const char *pg_server_dir(const char **ret_why);

#endif
