/* What a route's handler sees of a request, and how it answers.
 *
 * A handler answers with exactly one serve_reply_...(), serve_sse_open() or serve_ws_accept(). It
 * may do so before it returns, or call serve_request_hold() and answer later.
 *
 * A reply to anything but GET waits for the tick's commit: when called inside a unit it belongs to
 * that unit, and if the unit or the commit fails the client gets that error instead. After such a
 * handler, those of GET requests run only when the tick is committed, so nobody is shown what was
 * not yet saved. A GET handler does not write.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_SERVE_REQUEST_H
#define DORMOUSE_SERVE_REQUEST_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include "serve/route.h"

struct serve;
struct serve_feed;
struct serve_ws;

struct serve *serve_request_serve(struct serve_request *request);
/* Of the route's table. */
void *serve_request_arg(struct serve_request *request);
const struct serve_route *serve_request_route(struct serve_request *request);
/* Ends when the answer was sent. */
struct arena *serve_request_arena(struct serve_request *request);
struct str serve_request_method(struct serve_request *request);
/* A {name} of the pattern; it is a mistake of ours to ask for another one. */
struct str serve_request_param(struct serve_request *request, const char *name);
/* p NULL when absent. */
struct str serve_request_query(struct serve_request *request, const char *name);
struct str serve_request_header(struct serve_request *request, const char *name);
struct str serve_request_body(struct serve_request *request);
/* From this machine? */
bool serve_request_is_local(struct serve_request *request);
/* Refuses query parameters that are not in allowed (ends with NULL). */
int serve_request_check_query(struct serve_request *request, const char *const *allowed,
                              struct err *err);

/* The answer comes later; request stays valid until then, even when the client left. */
void serve_request_hold(struct serve_request *request);

/* An extra header of the reply, before the reply. */
void serve_reply_header(struct serve_request *request, const char *name, const char *value);
void serve_reply_text(struct serve_request *request, int status, const char *type, struct str text);
/* json is one whole JSON text (see base/json_write.h). */
void serve_reply_json(struct serve_request *request, int status, struct str json);
/* {"error":{"code","message"}} with the code's status. */
void serve_reply_error(struct serve_request *request, const struct err *err);
void serve_reply_error_status(struct serve_request *request, int status, const struct err *err);
void serve_reply_empty(struct serve_request *request, int status);

#endif
