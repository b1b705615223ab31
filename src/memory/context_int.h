/* Inside the room: how a window is chosen, for those who read it and those who keep it.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_MEMORY_CONTEXT_INT_H
#define DORMOUSE_MEMORY_CONTEXT_INT_H

#include "memory/context.h"
#include "memory/message_int.h"

#define CONTEXT_EXCHANGE 256 /* messages that are looked through for the beginning of one */
#define CONTEXT_MARKS    (CONTEXT_MESSAGES_MAX + CONTEXT_EXCHANGE)

/* Marks of the newest messages, newest first, read as far back as is asked for. */
struct context_tail {
    struct domain *domain;
    int64_t thread_n;
    struct message_mark *marks; /* room for CONTEXT_MARKS */
    size_t count;
    bool whole; /* the thread's first message is among them */
};

/* How many of the newest messages to show; their marks are in the tail then. */
int context_choose(struct context_tail *tail, const struct thread *thread, int64_t budget,
                   size_t *ret_count, struct err *err);
/* What each of them may count for, so that all stay within the budget. */
int64_t context_share(const struct message_mark *marks, size_t count, int64_t budget);
/* The index of the last thing that the user said: a provider wants its opaque part back in the
 * exchange that is under way, not before. */
size_t context_under_way(const struct message *messages, size_t count);
/* Within its share. */
void context_shorten(struct message *message, int64_t share, bool keep_opaque, struct arena *arena);

#endif
