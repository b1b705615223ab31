/* Characters that nobody sees, or that make text look like another: which of them are in a text.
 *
 * Some have their honest uses: a joiner inside an emoji or a Persian word, a selector after a
 * heart, the tags of a flag of England. Those are let through by what stands beside them.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_BASE_UNSEEN_H
#define DORMOUSE_BASE_UNSEEN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

/* id, name, what it is in words, does it mislead: a person who approves such text looks twice */
#define UNSEEN_KINDS(X)                                                                            \
    X(INVALID, "invalid-utf8", "Bytes that are no text", true)                                     \
    X(CONTROL, "control", "Control characters", true)                                              \
    X(BIDI, "bidi", "Characters that turn the order of text around", true)                         \
    X(HIDDEN, "hidden", "Characters that nobody sees", true)                                       \
    X(TAGS, "tags", "Text hidden in tag characters", true)                                         \
    X(SELECTORS, "variation-selectors", "Variation selectors that can carry hidden text", true)    \
    X(PRIVATE, "private-use", "Characters without an agreed meaning", false)                       \
    X(MARK, "direction-mark", "Marks of direction", false)                                         \
    X(SOFT, "soft-hyphen", "Invisible hyphen or byte order mark", false)
enum unseen_kind {
    UNSEEN_NONE = 0,
#define X(id, ...) UNSEEN_##id,
    UNSEEN_KINDS(X)
#undef X
};
const char *unseen_about(enum unseen_kind kind);
bool unseen_misleads(enum unseen_kind kind);

/* A run of one kind. */
struct unseen_run {
    enum unseen_kind kind;
    size_t from, to;
    uint32_t first; /* its first character; 0 for bytes that are no text */
};
/* The first run at or after *at, which moves behind it; false: there is none. Begin at 0. */
bool unseen_next(struct str text, size_t *at, struct unseen_run *ret_run);

#endif
