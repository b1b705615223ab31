/* Additions to config.yaml that keep what the owner wrote: comments, order, blank lines.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_CLI_CONFIG_EDIT_H
#define DORMOUSE_CLI_CONFIG_EDIT_H

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

struct json_object;

/* text with record (an object of texts, numbers, booleans and objects of such) as a new last item
 * of the list under key. bad_request when text is written in a way that no line can be added to
 * (the list in one line, the whole in braces): then err holds the lines to be added by hand. What
 * comes out has been read again and is the old configuration with the record, nothing else. */
int config_edit_append(struct str text, const char *name, const char *key,
                       struct json_object *record, struct buf *out, struct err *err);
/* The record as it would be written, each line indented by n spaces, "- " first. */
void config_edit_lines(struct json_object *record, unsigned n, struct buf *out);

#endif
