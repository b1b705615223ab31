/* The sandbox's way out.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_SANDBOX_HAND_NET_H
#define DORMOUSE_SANDBOX_HAND_NET_H

#include "base/alloc.h"
#include "base/err.h"
#include "loop/loop.h"

struct hand_net;

/* A sentence that names host and port. */
typedef void hand_net_refused_fn(void *arg, const char *detail);

/* bad_request names a wrong entry of the list. */
int hand_net_start(struct loop *loop, const char *const *allow_domains,
                   hand_net_refused_fn *refused, void *arg, struct hand_net **ret_net,
                   struct err *err);
/* NULL without one. */
const char *hand_net_socket(const struct hand_net *net);
/* Accepts NULL. No callback comes any more. */
void hand_net_free(struct hand_net *net);
AUTO_DEFINE(hand_net)

#endif
