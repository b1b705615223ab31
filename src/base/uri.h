/* URIs, RFC 3986: taking apart, resolving a reference against a base, checking the syntax.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_BASE_URI_H
#define DORMOUSE_BASE_URI_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/str.h"

/* Views into the text. A part that is absent has p NULL; one that is empty ("http://h?") has not.
 * The path is never absent. */
struct uri {
    struct str scheme, authority, path, query, fragment;
};

/* Never fails: any text is a reference of some kind. */
struct uri uri_split(struct str text);
/* Appends the target of ref seen from base (section 5.2, dot segments removed). When base is empty
 * or has no scheme, what can be merged is merged. */
void uri_resolve(struct str base, struct str ref, struct buf *out);
/* text up to '#'. */
struct str uri_without_fragment(struct str text);
/* Appends text with %XX decoded; -1 when a '%' is not followed by two hexadecimal digits. */
int uri_decode(struct str text, struct buf *out);

/* Whether text has the syntax of RFC 3986: a URI (with scheme), or a URI or relative reference. */
bool uri_is_valid(struct str text);
bool uri_is_valid_reference(struct str text);

/* RFC 3986's IPv4address and IPv6address (without brackets and zone). */
bool uri_is_ipv4(struct str text);
bool uri_is_ipv6(struct str text);

#endif
