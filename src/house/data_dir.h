/* The data directory: where it is, whether it is fit for use, and who holds it.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_HOUSE_DATA_DIR_H
#define DORMOUSE_HOUSE_DATA_DIR_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/uuid.h"

/* typed, else $DORMOUSE_DATA, else $XDG_DATA_HOME/dormouse, else ~/.local/share/dormouse; made
 * absolute. *ret_path is to be freed. Nothing is looked at or created. */
int data_dir_resolve(const char *typed, char **ret_path, struct err *err);

/* Creates the directory (mode 0700, parents too) when it is absent, and refuses one that is not a
 * directory, not writable, or belongs to someone else. One that others may enter is closed. */
int data_dir_prepare(const char *path, struct err *err);

/* The daemon's lock on DATA/lock: an open file description lock, held until the descriptor is
 * closed. Fails with conflict, naming the process that holds it. */
int data_dir_lock(const char *path, int *ret_fd, struct err *err);
/* Who holds the lock: 0 nobody, -1 someone whose number is not known, else the process. Never
 * creates anything. */
pid_t data_dir_holder(const char *path);

/* A daemon that will take the lock as soon as its holder has left: until the descriptor is closed
 * nobody else gets the lock. Fails with conflict while another process is next, or locks. */
int data_dir_be_next(const char *path, int *ret_fd, struct err *err);
/* data_dir_lock() for the one who is next, on that descriptor; it is not closed on failure. From
 * then on somebody else may be next. */
int data_dir_lock_next(const char *path, int fd, struct err *err);
/* Both create nothing: is somebody next; does nobody hold the lock, and nobody is next. */
bool data_dir_has_next(const char *path);
bool data_dir_is_free(const char *path);

/* Who this data directory is among those that share a database: a UUID in DATA/host, made at the
 * first time. Under the lock. */
int data_dir_host(const char *path, char ret_id[UUID_TEXT_SIZE], struct err *err);

#endif
