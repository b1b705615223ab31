/* Finding a fixed text in a large one.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_SANDBOX_SEARCH_LITERAL_H
#define DORMOUSE_SANDBOX_SEARCH_LITERAL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

#define LITERAL_MAX 1024

struct literal {
    char text[LITERAL_MAX]; /* in lower case when nocase */
    size_t n;
    bool nocase;            /* ASCII letters are the same in both cases */
    size_t i, j;            /* places of its two rarest bytes */
    unsigned char low[256]; /* what a byte is compared as */
    const char *(*find)(const struct literal *literal, const char *p, const char *end);
};

/* text has 1 to LITERAL_MAX bytes. */
void literal_init(struct literal *literal, struct str text, bool nocase);
/* Its first occurrence in p .. end, or NULL. */
static inline const char *literal_find(const struct literal *literal, const char *p,
                                       const char *end)
{
    return literal->find(literal, p, end);
}
/* The same without vector instructions, for tests. */
const char *literal_find_plain(const struct literal *literal, const char *p, const char *end);

#endif
