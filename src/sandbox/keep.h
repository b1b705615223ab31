/* Head and tail of an output of any length: what a person or a model wants to see of it.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_SANDBOX_KEEP_H
#define DORMOUSE_SANDBOX_KEEP_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

struct keep {
    struct buf head;
    char *tail; /* a ring */
    size_t half, tail_at, tail_n;
    uint64_t total;
};

/* Keeps at most bytes: half of it from the beginning, half from the end. */
void keep_init(struct keep *keep, size_t bytes);
void keep_release(struct keep *keep);
void keep_add(struct keep *keep, const char *bytes, size_t n);
bool keep_cut(const struct keep *keep);
/* Appends what was kept, with a line in between that says how much was left out. */
void keep_write(const struct keep *keep, struct buf *out);

#endif
