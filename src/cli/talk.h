/* Speaking to the daemon: HTTP/1.1 over DATA/dormouse.sock, one request at a time, blocking.
 *
 * Every command that needs what is stored goes this way. When no daemon holds the data directory, a
 * keeper is started: the same daemon without a port, which ends by itself when nobody needs it.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_CLI_TALK_H
#define DORMOUSE_CLI_TALK_H

#include <stdbool.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "cli/command.h"

struct talk;
struct json_object;

/* The daemon's socket, or a keeper's, which is started when there is neither. args outlives it. */
int talk_open(const struct cli_args *args, struct talk **ret_talk, struct err *err);
/* A second connection to the same place: a stream occupies the first. When the daemon has ended
 * meanwhile, a keeper is started. */
int talk_again(const struct talk *talk, struct talk **ret_talk, struct err *err);
/* To a socket at this path; nothing is started. */
int talk_connect(const char *path, struct talk **ret_talk, struct err *err);
void talk_free(struct talk *talk);
AUTO_DEFINE(talk)

/* One request: the answer's body goes to *ret_body (JSON; NULL for none), to be put. An answer with
 * an error status is a failure whose code and message are the server's. body may be empty. A
 * connection on which the daemon closed or said something since the last request is made anew,
 * unless talk_keep() forbade it. */
int talk_ask(struct talk *talk, const char *method, const char *path, struct str body,
             struct json_object **ret_body, struct err *err);

/* One request on a connection of its own whose answer is no JSON: its bytes are added to *out. */
int talk_bytes(const struct cli_args *args, const char *method, const char *path, struct str body,
               struct buf *out, struct err *err);

/* The same on a connection of its own. */
int talk_once(const struct cli_args *args, const char *method, const char *path, struct str body,
              struct json_object **ret_body, struct err *err);

/* A request whose answer is a stream of events. Reading them is talk_next(). */
int talk_follow(struct talk *talk, const char *method, const char *path, struct str body,
                struct err *err);
/* The next event as JSON text, valid until the next call: 1, or 0 at the end of the stream, or -1
 * (provider_failed: the daemon went away). wait_ms: returns 2 when there is nothing within that
 * time or a signal came; -1 waits. */
int talk_next(struct talk *talk, int wait_ms, struct str *ret_json, struct err *err);
/* For poll(2): readable when talk_next() may have something. */
int talk_fd(const struct talk *talk);
/* The connection is all there will be: it is never opened again. */
void talk_keep(struct talk *talk);

#endif
