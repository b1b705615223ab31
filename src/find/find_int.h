/* Inside the room.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_FIND_FIND_INT_H
#define DORMOUSE_FIND_FIND_INT_H

#include "find/find.h"

struct find {
    struct find_config config;
    struct loop_timer timer;
    bool armed;
    bool forgot; /* what was read in this unit before is gone as well */
};

#define FIND_BODY_BYTES (64 * 1024) /* of a document; what comes after it is not found */

struct find_document {
    const char *ref;
    const char *kind;
    struct str agent_id, path, body;
    int64_t thread_n, at;
};
struct db;
int find_cursor_get(struct db *db, const char *source, int64_t *ret_position, struct err *err);
int find_cursor_set(struct db *db, const char *source, int64_t position, struct err *err);
int find_drop(struct db *db, const char *ref, struct err *err);
/* Nothing when it is there. */
int find_add(struct db *db, const struct find_document *document, struct err *err);
int find_forget_all(struct find *find, struct err *err);

/* ---- find_store.c: inside a unit of the index domain; documents read, of at most limit ---- */
int find_read_messages(struct find *find, int limit, size_t *ret_count, struct err *err);
int find_read_files(struct find *find, int limit, size_t *ret_count, struct err *err);
/* ---- journal_store.c ---- */
int find_read_journal(struct find *find, int limit, size_t *ret_count, struct err *err);
/* A record that a document was made from, as it is now: 1, or 0 when it is not there any more. */
int find_record(struct find *find, enum find_kind kind, struct str id, struct arena *arena,
                struct find_result *ret_result, struct err *err);
/* What a document of this kind was made from; FIND_KIND_NONE: no record of the journal. */
enum find_kind find_kind_of(struct str name);

/* ---- search_store.c: each adds at most max results ---- */
struct find_hits {
    struct arena *arena;
    struct find_result *results;
    size_t count, max;
    const struct find_words *words;
    struct str agent_id;
    enum find_scope scope;
};
int find_agents(struct find *find, struct find_hits *hits, struct err *err);
int find_threads(struct find *find, struct find_hits *hits, struct err *err);
int find_documents(struct find *find, struct find_hits *hits, struct err *err);

#endif
