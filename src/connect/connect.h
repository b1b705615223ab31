/* Slack, Gmail and Calendar: accounts that a person connected, and the tools that use them.
 *
 * Tokens live in the secret store and in the Authorization header of the one request that needs
 * them; the table `credentials` has the name of the secret and what is public about the account.
 * All requests go through one gate (gate.c), which knows the hosts that may be asked.
 *
 * A tool whose account is not connected is offered to agents that name it (and then answers with
 * what to do), not to agents that simply have every tool: a model should not be told of doors that
 * are shut, but a person who gave an agent a tool should hear why it does not work.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_CONNECT_CONNECT_H
#define DORMOUSE_CONNECT_CONNECT_H

#include <stdbool.h>

#include "base/alloc.h"
#include "base/err.h"
#include "base/json_write.h"
#include "base/str.h"
#include "loop/loop.h"
#include "tool/tool.h"

struct connect;
struct domain;
struct http_client;
struct rand;
struct secrets;

/* Texts outlive it; NULL takes the company's own. */
struct connect_config {
    struct loop *loop;
    struct domain *agent_domain;
    struct secrets *secrets;  /* NULL: there is no store, so nothing can be connected */
    struct http_client *http; /* NULL: one of its own */
    struct rand *rand;        /* NULL: the system's */
    const char *slack_base_url;
    const char *google_base_url, *google_auth_url, *google_token_url;
    const char *google_client_id, *google_client_secret_ref;
};

/* Reads which accounts there are. */
int connect_new(const struct connect_config *config, struct connect **ret_connect, struct err *err);
/* The tools of this room. The bed ends before connect_free(). */
void connect_bind(struct connect *connect, struct tool_bed *bed);
/* Requests under way end as cancelled before this returns: before the bed is freed. */
void connect_stop(struct connect *connect);
void connect_free(struct connect *connect);
AUTO_DEFINE(connect)

/* Is this tool of this room ready to be used? For tools of other rooms: yes. Else *ret_reason is a
 * sentence for people, valid until the account changes. connect may be NULL. */
bool connect_available(const struct connect *connect, const char *tool_name,
                       const char **ret_reason);

/* ---- accounts ---- */

/* Once, in a later tick; err is NULL when it went well. */
typedef void connect_done_fn(void *arg, const struct err *err);

/* Asks Slack whether the token is good, then keeps it. bad_request at once when it has not the form
 * of a bot token; unauthorized when Slack refuses it. */
int connect_slack_set(struct connect *connect, struct str token, connect_done_fn *done, void *arg,
                      struct err *err);
/* Asks again about the token that is kept. not_found when there is none. */
int connect_slack_test(struct connect *connect, connect_done_fn *done, void *arg, struct err *err);
/* not_found when there is none. */
int connect_slack_remove(struct connect *connect, struct err *err);
/* {"configured":…,"team","user","scopes","checked_at","error"} */
void connect_slack_status(const struct connect *connect, struct json_writer *w);

/* How a person grants access to a Google account. */
struct connect_google_start {
    struct str flow;                     /* device, loopback */
    struct str client_id, client_secret; /* empty: the configured ones */
    struct str scopes;                   /* separated by spaces; empty: mail and calendar */
    struct str redirect_uri;             /* loopback: where the browser comes back */
};
/* Begins; an earlier one that waits is given up. done comes when there is something to show:
 * connect_google_flow(). */
int connect_google_begin(struct connect *connect, const struct connect_google_start *start,
                         connect_done_fn *done, void *arg, struct err *err);
/* {"flow","user_code","verification_url","auth_url","expires_in"} of the flow that waits. */
void connect_google_flow(const struct connect *connect, struct json_writer *w);
/* The browser came back with this. unauthorized when state is not the one that was given out. */
int connect_google_finish(struct connect *connect, struct str code, struct str state,
                          struct str error, connect_done_fn *done, void *arg, struct err *err);
/* Takes the grant back at Google and forgets the account. When Google can't be told the account is
 * forgotten all the same, and connect_google_left() has what the person still has to do. 1: it is
 * forgotten already and done does not come. */
int connect_google_remove(struct connect *connect, connect_done_fn *done, void *arg,
                          struct err *err);
/* What the person still has to do about an account that was forgotten; NULL: nothing. */
const char *connect_google_left(const struct connect *connect);
/* {"configured","pending","account","scopes","error"} */
void connect_google_status(const struct connect *connect, struct json_writer *w);

/* Does an account refer to this secret? Its name for people ("Slack"), or NULL. */
const char *connect_uses_secret(const struct connect *connect, const char *name);

#endif
