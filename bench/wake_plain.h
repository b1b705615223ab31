/* The yardstick of the wake queue on Postgres: BEGIN, SELECT one row FOR UPDATE SKIP LOCKED, move
 * it to wake_runs with an outcome, COMMIT; each a prepared statement that is waited for.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_BENCH_WAKE_PLAIN_H
#define DORMOUSE_BENCH_WAKE_PLAIN_H

struct plain;

struct plain *plain_open(const char *url);
/* Until nothing is left. */
void plain_loop(struct plain *plain);
void plain_close(struct plain *plain);

#endif
