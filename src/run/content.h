/* What a row of the log refers to, as a digest: so that altering a message or a decision is seen
 * as well as altering the row.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_RUN_CONTENT_H
#define DORMOUSE_RUN_CONTENT_H

#include "agent/inbox.h"
#include "base/hash.h"
#include "bp/bp.h"
#include "memory/message.h"

enum run_content {
    RUN_CONTENT_NONE = 0,
    RUN_CONTENT_MESSAGE,
    RUN_CONTENT_INBOX,
    RUN_CONTENT_OPERATION
};

/* What ref of a row of this type names. */
enum run_content run_content_kind(const struct bp_event *event);
/* message or item as the kind says, else NULL. Of an inbox item only what can't change after this
 * event counts: what was asked, and for answers also what was said. */
void run_content_digest(const struct bp_event *event, const struct message *message,
                        const struct inbox_item *item, uint8_t ret_digest[SHA256_BYTES]);

/* What a row refers to, either, or neither. */
struct run_named {
    struct message message;
    struct inbox_item item;
    const struct message *is_message; /* NULL: it is none */
    const struct inbox_item *is_item;
};
/* integrity_failed when it is missing. Texts lie in arena. */
int run_content_load(struct domain *domain, const struct bp_event *event, int64_t ref,
                     struct arena *arena, struct run_named *ret_named, struct err *err);

#endif
