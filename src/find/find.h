/* Finding what was said and written: full text of messages, files and the journal, and names of
 * conversations and agents.
 *
 * The index is made from the agent domain in slices, by a cursor for each source, so that it can be
 * thrown away at any time. A search first brings it up to date, as far as one slice goes; what is
 * further behind follows while the loop has nothing else to do.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_FIND_FIND_H
#define DORMOUSE_FIND_FIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "db/domain.h"
#include "loop/loop.h"

struct find;

struct journal;
struct find_config {
    struct loop *loop;
    struct domain *agent_domain, *index_domain; /* both attached */
    struct journal *journal;                    /* NULL: there is none */
};
/* Begins to catch up with the loop's first ticks. Never NULL. */
struct find *find_new(const struct find_config *config);
/* Before loop_free(). */
void find_free(struct find *find);
AUTO_DEFINE(find)

/* There may be something new: it is read soon, not now. */
void find_wake(struct find *find);
/* One slice of every source now, at most FIND_SLICE documents each, in a unit of its own. 1 there
 * is more, 0 it is up to date. */
#define FIND_SLICE 200
int find_catch_up(struct find *find, struct err *err);

/* Those from FIND_TASK on are records of the journal. */
enum find_kind {
    FIND_KIND_NONE = 0,
    FIND_MESSAGE,
    FIND_THREAD,
    FIND_FILE,
    FIND_AGENT,
    FIND_TASK,
    FIND_CHECKLIST,
    FIND_CHECKLIST_ITEM,
    FIND_TIME_ENTRY,
    FIND_DAY_PLAN,
    FIND_ENTRY,
    FIND_KINDS_END
};
const char *find_kind_name(enum find_kind kind);

struct find_result {
    enum find_kind kind;
    struct str agent_id, thread_id, path; /* empty where it has none */
    struct str record_id, task_id;        /* of the journal; the task that it belongs to */
    struct str title, snippet;            /* plain text */
    int64_t at;
};

enum find_scope { FIND_EVERYWHERE = 0, FIND_IN_JOURNAL, FIND_WITH_AGENTS };
struct find_query {
    enum find_scope scope;
    struct str text;
    struct str agent_id; /* of one agent; empty: of all but Dormouse's own */
    int limit;           /* 0: 20; at most 100 */
};
/* Agents and conversations by name first, then the journal, messages and files, the best first. All
 * words must be there; the last one may be the beginning of a word. Words that are everywhere
 * ("the") do not count beside others. A text without words finds nothing. Outside of a unit. */
int find_search(struct find *find, const struct find_query *query, struct arena *arena,
                struct find_result **ret_results, size_t *ret_count, struct err *err);

/* ---- words of a query ---- */

#define FIND_WORDS_MAX 16
#define FIND_TEXT_MAX  1000 /* bytes of a query that are looked at */

struct find_words {
    struct str word[FIND_WORDS_MAX]; /* as they were written */
    size_t n;
};
void find_words(struct str text, struct find_words *ret_words);
/* An FTS5 expression that means these words and nothing else, whatever is in them. */
void find_expression(const struct find_words *words, struct buf *out);
/* All words are in text, without regard to ASCII case. */
bool find_in(const struct find_words *words, struct str text);

#endif
