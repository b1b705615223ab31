/* Hearing what other processes tell on a shared database (NOTIFY), without waiting: whoever has a
 * listener watches its descriptor. It has a connection of its own.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_DB_LISTEN_H
#define DORMOUSE_DB_LISTEN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/alloc.h"
#include "base/err.h"

struct db_listener;
struct domain;

#define DB_LISTENER_CHANNELS_MAX 8

/* On the database of domain; what is told by its connection, or by that of also (may be NULL), is
 * not heard: both outlive it. channels are names of ours (letters and underscores), and stay. NULL
 * where nobody else writes. */
struct db_listener *db_listener_new(struct domain *domain, struct domain *also,
                                    const char *const *channels, size_t count);
/* Ends the connection; nobody may watch its descriptor any more. */
void db_listener_stop(struct db_listener *listener);
void db_listener_free(struct db_listener *listener);
AUTO_DEFINE(db_listener)

/* Begins to connect. */
int db_listener_start(struct db_listener *listener, struct err *err);
/* What to wait for now. The descriptor may be another one after every step. */
int db_listener_fd(const struct db_listener *listener);
bool db_listener_writes(const struct db_listener *listener);
bool db_listener_reads(const struct db_listener *listener);
/* Goes on. 1: it listens, and what was told since has its bits in *ret_told (bit i: channels[i]);
 * 0: it will; -1: the connection is lost, stop it. From the first 1 on nothing that is committed
 * is missed. */
int db_listener_step(struct db_listener *listener, unsigned *ret_told, struct err *err);

#endif
