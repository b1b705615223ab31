/* What the MIME files share.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_CONNECT_MIME_INT_H
#define DORMOUSE_CONNECT_MIME_INT_H

#include "connect/mime.h"

/* The parameter of a header as UTF-8; STR_NONE when absent. */
struct str mime_param(struct str header, const char *name, struct arena *arena);

/* Well-formed, and a space for every control character. */
void mime_one_line(struct str text, struct buf *out);

#endif
