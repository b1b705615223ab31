/* Between the files of the reader.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_WAKE_READER_INT_H
#define DORMOUSE_WAKE_READER_INT_H

#include "base/map.h"
#include "wake/match.h"
#include "wake/reader.h"

#define READER_PAGE 64 /* batches of one unit */

/* ---- reader_judge.c: what batches mean ---- */

struct reader_page {
    struct domain *agents;
    struct journal *journal;
    enum wake_source source;
    struct arena *arena;
    struct map agents_seen; /* number: struct agent */
    int64_t now_ms;
    struct reader_counts counts; /* of this page */
    struct map misses;           /* subscription and outcome: struct skip, stored with the page */
    int left;                    /* how many more subscriptions it judges */
};
/* Inside a unit: the wakes of one batch, of subscriptions after *after_n. 1 all of them; 0 there
 * are more, after *after_n. -1: nothing of the unit must stay. */
int reader_judge(struct reader_page *page, const struct change_row *row, int64_t *after_n,
                 struct err *err);
/* Inside the same unit, at its end: what did not wake is written down. */
int reader_keep_misses(struct reader_page *page, struct err *err);
void reader_page_release(struct reader_page *page);
/* Does it say where it came from? missing_change_provenance. */
int reader_check(const struct change_row *row, struct err *err);

/* ---- reader_store.c ---- */

int reader_cursor(struct domain *domain, const char *feed, struct change_cursor *ret_cursor,
                  struct err *err);
/* Inside a unit: 1 moved; 0 it does not stand at from: somebody else has moved it. */
int reader_move(struct domain *domain, const char *feed, struct change_cursor from,
                struct change_cursor to, int64_t now_ms, struct err *err);
/* Up to which subscription the batch there was judged; 0: none of it was. */
int reader_part(struct domain *domain, const char *feed, struct change_cursor at, int64_t *ret_n,
                struct err *err);
/* Inside a unit. */
int reader_set_part(struct domain *domain, const char *feed, struct change_cursor at, int64_t n,
                    int64_t now_ms, struct err *err);
int reader_end_part(struct domain *domain, const char *feed, struct change_cursor at,
                    struct err *err);
/* In a shared database: is the newest batch one that can't be read yet? */
int reader_held_back(struct domain *domain, bool *ret_held, struct err *err);
/* Inside a unit: what could not be understood, for people. */
int reader_bury(struct domain *domain, const char *source, struct str ref, const struct err *why,
                int64_t now_ms, struct err *err);

#endif
