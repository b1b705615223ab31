/* Shared by the files that show events.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_CLI_SHOW_INT_H
#define DORMOUSE_CLI_SHOW_INT_H

#include "base/json.h"
#include "cli/show.h"
#include "cli/term.h"

/* Text as it is, but for control characters. */
void show_text(struct show *show, struct str s);
/* The cursor goes to the beginning of a line. */
void show_begin_line(struct show *show);
/* One line in a style; what is too long is cut. */
void show_line(struct show *show, enum term_style style, const char *mark, struct str s);
/* Lines in a style: the first `head`, "… N more lines", the last `tail`. */
void show_lines(struct show *show, enum term_style style, struct str s, unsigned head,
                unsigned tail);

struct str show_next_line(struct str *rest);
size_t show_count_lines(struct str s);
enum term_style show_diff_style(struct str line);
/* "… 3 more lines" */
void show_more(struct show *show, size_t n);

/* ---- show_tool.c ---- */
void show_tool_use(struct show *show, struct json_object *event);
void show_tool_result(struct show *show, struct json_object *event);

static inline struct str show_member(struct json_object *object, const char *key)
{
    return json_str(json_find(object, key));
}

#endif
