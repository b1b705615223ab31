/* Batches: what one transaction changed, stored in it, in the domain that was written; read by
 * cursor by whoever waits for changes.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_CHANGE_BATCH_H
#define DORMOUSE_CHANGE_BATCH_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/str.h"
#include "change/change.h"
#include "change/token.h"
#include "db/domain.h"

/* ---- keys (CONTRACTS §5) ---- */

/* One write of one record. */
struct change_unit {
    struct str host_id;
    int64_t counter;
    struct str payload_type, payload_id;
};
/* H("v1|local|host|counter|type|id"): as seen by the host that wrote it. missing_change_provenance
 * when a part is missing. */
int change_unit_key(const struct change_unit *unit, char ret_key[SHA256_TEXT_SIZE],
                    struct err *err);
/* Of keys in any order, with repetitions or not. */
void change_logical_key(const struct str *unit_keys, size_t n, char ret_key[SHA256_TEXT_SIZE]);
/* Sorts them and drops repetitions; how many remain. */
size_t change_keys_unique(struct str *keys, size_t n);

/* ---- writing ---- */

enum change_author { CHANGE_BY_NONE = 0, CHANGE_BY_HUMAN, CHANGE_BY_AGENT, CHANGE_BY_SYNC };
const char *change_author_name(enum change_author author); /* "human" */
enum change_author change_author_of(struct str name);

#define CHANGE_UNITS_MAX 10000 /* of one batch */

/* What a unit of the loop has changed so far. Texts are copied into arena, which outlives it. */
struct change_batch {
    struct arena *arena;
    enum change_author author;
    struct str author_id;    /* the agent; empty for people */
    struct str operation_id; /* may be empty */
    struct change_unit *units;
    struct token *tokens;
    size_t unit_count, unit_room, token_count, token_room;
};
#define CHANGE_BATCH(arena_, author_)                                                              \
    ((struct change_batch){ .arena = (arena_), .author = (author_) })

/* This host wrote this record with this counter. Adds the token of its id. */
void change_batch_unit(struct change_batch *batch, const struct change *change, int64_t counter,
                       struct str payload_type, struct str payload_id);
/* What the change is about. An empty value (a task without category) says nothing and adds nothing;
 * what token_check() refuses is refused when the batch is written. */
void change_batch_key(struct change_batch *batch, const char *semantic_key);
void change_batch_subtype(struct change_batch *batch, const char *name_space, struct str value);
void change_batch_id(struct change_batch *batch, struct str entity_id);
/* On a shared database the other processes are told on this channel that there is a batch. */
#define CHANGE_BATCHES_CHANNEL "dormouse_batches"
/* Inside a unit of domain: stores it. Nothing when it has no units. 1 written, 0 there was nothing
 * to write. missing_change_provenance: no author, an agent's without author_id, a unit of which a
 * part is missing; bad_request: a token; too_large: over CHANGE_UNITS_MAX or TOKENS_MAX. */
int change_batch_write(struct domain *domain, struct change *change,
                       const struct change_batch *batch, int64_t now_ms, struct err *err);

/* ---- reading ---- */

#define CHANGE_ROWS_MAX 1000 /* of one answer: a higher limit means this */

struct change_cursor {
    int64_t txid, n;
};
struct change_row {
    struct change_cursor at;
    struct str local_batch_id, logical_change_key, author_id, operation_id;
    enum change_author author;
    struct str change_unit_keys, units, typed_tokens; /* JSON, as stored */
    struct token *tokens;
    size_t token_count;
    struct change_unit *unit;
    size_t unit_count;
    int64_t created_at;
};
/* In order, at most limit after the cursor; of a shared database only those that nothing earlier
 * can follow. A row that can't be read is integrity_failed and names it. */
int change_batches_after(struct domain *domain, struct change_cursor after, int limit,
                         struct arena *arena, struct change_row **ret_rows, size_t *ret_count,
                         struct err *err);
/* The place of the next one, whatever is in it: to pass over one that can't be read. 1, 0 none. */
int change_batch_next(struct domain *domain, struct change_cursor after,
                      struct change_cursor *ret_at, struct err *err);
/* The newest there is; zero when there is none. */
int change_batches_end(struct domain *domain, struct change_cursor *ret_cursor, struct err *err);
/* Those since a time, newest first, at most limit: what would have matched last week. */
int change_batches_since(struct domain *domain, int64_t since_ms, int limit, struct arena *arena,
                         struct change_row **ret_rows, size_t *ret_count, struct err *err);
/* The same, from a place backwards: page by page. */
struct change_place {
    int64_t created_at, n;
};
#define CHANGE_PLACE_END ((struct change_place){ INT64_MAX, INT64_MAX })
int change_batches_before(struct domain *domain, int64_t since_ms, struct change_place before,
                          int limit, struct arena *arena, struct change_row **ret_rows,
                          size_t *ret_count, struct err *err);
/* Was a batch written by this operation? 1 it was. Of the agent domain, which has an index. */
int change_operation_done(struct domain *domain, struct str operation_id, struct err *err);

#endif
