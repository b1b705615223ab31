/* libarchive, opened when an archive is first read, behind names that do not clash with ours.
 *
 * Only tar, gzip and zip are enabled, and of zip only what is stored or deflated: other methods ask
 * for memory that the archive names.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_FILES_UNPACK_H
#define DORMOUSE_FILES_UNPACK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/err.h"
#include "base/str.h"

struct unpack;

enum unpack_kind { UNPACK_OTHER = 0, UNPACK_FILE, UNPACK_FOLDER, UNPACK_LINK, UNPACK_DEVICE };

struct unpack_entry {
    const char *name; /* until the next; NULL: it is no text */
    enum unpack_kind kind;
    int64_t size; /* as it says itself; -1: it does not */
    bool executable, encrypted;
};

/* bytes must stay. Any thread. */
int unpack_open(struct str bytes, struct unpack **ret_unpack, struct err *err);
void unpack_free(struct unpack *unpack);
AUTO_DEFINE(unpack)
/* 1 an entry, 0 the end. */
int unpack_next(struct unpack *unpack, struct unpack_entry *ret_entry, struct err *err);
/* Bytes of the entry into out; 0 at its end. */
int unpack_read(struct unpack *unpack, char *out, size_t room, size_t *ret_n, struct err *err);
/* Bytes that came out of decompression so far. */
int64_t unpack_cost(struct unpack *unpack);

#endif
