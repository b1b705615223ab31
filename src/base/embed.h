/* Files that are part of the binary, made by tools/embed.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_BASE_EMBED_H
#define DORMOUSE_BASE_EMBED_H

#include "base/str.h"

/* Tables end with name NULL. A NUL follows the bytes, so text may be used as it is. */
struct embed_file {
    const char *name;
    struct str bytes;
};

#endif
