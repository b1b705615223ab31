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
};

/* ---- find_store.c: inside a unit of the index domain; documents read, of at most limit ---- */
int find_read_messages(struct find *find, int limit, size_t *ret_count, struct err *err);
int find_read_files(struct find *find, int limit, size_t *ret_count, struct err *err);

/* ---- search_store.c: each adds at most max results ---- */
struct find_hits {
    struct arena *arena;
    struct find_result *results;
    size_t count, max;
    const struct find_words *words;
    struct str agent_id;
};
int find_agents(struct find *find, struct find_hits *hits, struct err *err);
int find_threads(struct find *find, struct find_hits *hits, struct err *err);
int find_documents(struct find *find, struct find_hits *hits, struct err *err);

#endif
