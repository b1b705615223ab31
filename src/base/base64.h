/* base64 (RFC 4648).
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_BASE_BASE64_H
#define DORMOUSE_BASE_BASE64_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/str.h"

void base64_encode(struct str bytes, struct buf *out);
/* Without padding, as RFC 7515 has it. */
void base64url_encode(struct str bytes, struct buf *out);
/* Either alphabet; white space and what else is no digit are left out; ends at '='. */
void base64_decode(struct str text, struct buf *out);
/* True: only digits of either alphabet, white space and padding. */
bool base64_is_clean(struct str text);

#endif
