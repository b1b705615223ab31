/* Files that tools/embed-files put into the binary.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_BASE_EMBEDDED_H
#define DORMOUSE_BASE_EMBEDDED_H

#include <stddef.h>

struct embedded {
    const char *name; /* base name of the file; NULL ends a table */
    const char *text;
    size_t n;
};

/* share/schema/draft2020-12 */
extern const struct embedded embedded_meta_schemas[];

#endif
