/* Inside the room.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_MEMORY_MESSAGE_INT_H
#define DORMOUSE_MEMORY_MESSAGE_INT_H

#include "memory/message.h"

enum message_kind message_kind_of(struct str name);
/* What it counts for in the thread's running total. */
int64_t message_weight(int64_t tokens_approx);

/* What decides where a context begins. */
struct message_mark {
    int64_t n, ordinal, tokens_approx, tokens_total, action_ref_n;
    enum message_kind kind;
};
/* At most max, newest first, before the row before_n (0: from the end). */
int message_marks_back(struct domain *domain, int64_t thread_n, int64_t before_n,
                       struct message_mark *ret_marks, size_t max, size_t *ret_count,
                       struct err *err);
/* At most max from the row first_n on, oldest first. */
int message_load_from(struct domain *domain, int64_t thread_n, int64_t first_n, size_t max,
                      struct arena *arena, struct message *ret_messages, size_t *ret_count,
                      struct err *err);

/* Content (JSON, see message.h) within about max_bytes, in arena: long texts lose their middle and
 * say how much. What the provider must see again (opaque) is kept when keep_opaque, whatever its
 * size; else it goes first. The result is valid JSON of the same kind. */
struct str message_shorten(enum message_kind kind, struct str content, size_t max_bytes,
                           bool keep_opaque, struct arena *arena);

#endif
