/* Parts of a file: the Range header (RFC 9110), so that sound can be sought.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_SERVE_RANGE_H
#define DORMOUSE_SERVE_RANGE_H

#include <stddef.h>

#include "base/str.h"

struct serve_request;

/* Bytes [from, from + n). */
struct range {
    size_t from, n;
};
/* 1: that part of a file of this size is asked for; 0: the whole is given, since the header says
 * something else or several parts at once; -1: no byte of the file is in it. */
int range_parse(struct str header, size_t size, struct range *ret_range);
/* Answers with the file or the part of it that is asked for; tag changes whenever the bytes do. */
void serve_reply_file(struct serve_request *request, const char *type, const char *tag,
                      struct str bytes);

#endif
