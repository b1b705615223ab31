/* Listings of folders, shared by looking (offline_files.c), tidying and projects.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_MODEL_OFFLINE_FILES_INT_H
#define DORMOUSE_MODEL_OFFLINE_FILES_INT_H

#include "model/offline_int.h"

#define OFFLINE_ENTRIES_MAX 1000

struct offline_entry {
    struct str name;
    bool folder, link;
};

struct offline_listing {
    struct offline_entry *entry; /* folders first, each in byte order */
    size_t n, folders;
    bool cut;
};

/* Asks for what is in place; false when there is no tool for it (that was said). */
bool offline_ask_listing(struct offline_turn *turn, struct str place);
/* Reads what the first round brought. False when it failed. */
bool offline_listing_read(struct offline_turn *turn, struct str place,
                          struct offline_listing *ret_list);

#endif
