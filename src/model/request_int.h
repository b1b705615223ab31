/* What providers need when they write a request.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_MODEL_REQUEST_INT_H
#define DORMOUSE_MODEL_REQUEST_INT_H

#include "model/provider_int.h"

/* Before a body is written: every tool's input_schema is a JSON object (bad_request names the tool
 * otherwise), every message has a role. Then x->request is put in an order that servers take: right
 * after the calls of a message one result each, made up where none was recorded; results without
 * their call become text. */
int request_check(struct model_exchange *x, struct err *err);
/* The call's arguments when they are a JSON object, else "{}": servers parse them and refuse the
 * whole request for one call that was broken turns ago. */
struct str request_arguments(const struct model_call *call);
/* "Bearer " and the model's key into an empty buffer, nothing when it has none. Wipe it after
 * use. */
void request_bearer(const struct model_exchange *x, struct buf *out);

#endif
