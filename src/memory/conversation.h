/* Conversations as people see them: threads with a title, a last word and what waits in them.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_MEMORY_CONVERSATION_H
#define DORMOUSE_MEMORY_CONVERSATION_H

#include "memory/message.h"

#define CONVERSATION_TITLE_MAX 200 /* characters that a person may give */

struct conversation {
    struct thread thread;
    struct str title;   /* given, else the first words of the first message; may be empty */
    bool named;         /* the title was given */
    struct str preview; /* the beginning of what was said last; plain text on one line */
    int64_t pending;    /* inbox items that wait in it */
};

struct conversation_filter {
    int64_t agent_n;
    int64_t before;   /* the row that a page goes on after; 0: from the newest */
    int limit;        /* 0: 100 */
    struct str query; /* is in the title or the front of the first message; empty: all */
};
/* By the last word, newest first; those that were deleted are not among them. A query is looked for
 * as a person would read: in any case, with line ends as blanks. */
int conversation_list(struct domain *domain, const struct conversation_filter *filter,
                      struct arena *arena, struct conversation **ret_list, size_t *ret_count,
                      struct err *err);
/* Also a deleted one; integrity_failed when there is no such row. */
int conversation_get(struct domain *domain, int64_t thread_n, struct arena *arena,
                     struct conversation *ret_conversation, struct err *err);
/* Inside a unit. Empty: the first words again. */
int conversation_rename(struct domain *domain, int64_t thread_n, struct str title, struct err *err);
/* Inside a unit: 1 changed, 0 was so. conflict when a run is under way in it. */
int conversation_delete(struct domain *domain, int64_t thread_n, int64_t now_ms, struct err *err);
int conversation_restore(struct domain *domain, int64_t thread_n, struct err *err);

/* The text of a message's content (JSON, see message.h, or the front of it) on one line, at most
 * max bytes and "…" where more was said; in arena. Empty when it has none. */
struct str message_line(struct str content, size_t max, struct arena *arena);

#endif
