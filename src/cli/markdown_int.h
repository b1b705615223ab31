/* Shared by the files that render Markdown.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_CLI_MARKDOWN_INT_H
#define DORMOUSE_CLI_MARKDOWN_INT_H

#include <stddef.h>

#include "cli/markdown.h"

#define MD_SPAN_MAX      400 /* bytes within which emphasis, code or a link must be closed */
#define MD_DEPTH         4   /* emphasis within emphasis */
#define MD_INDENT_MAX    24  /* columns */
#define MD_PREFIX_MAX    64  /* bytes */
#define MD_LINE_MAX      (1u << 20)
#define MD_TABLE_BYTES   (64u << 10)
#define MD_TABLE_COLUMNS 32
#define MD_TABLE_ROWS    256

enum md_style { MD_BOLD = 1, MD_ITALIC = 2, MD_CODE = 4, MD_LINK = 8, MD_DIM = 16, MD_HEAD = 32 };

/* ---- flow.c: words into rows ---- */

struct md_flow {
    int width; /* 0: unbroken */
    bool colours;
    int column;                 /* where the next character goes */
    bool row_open;              /* something stands in this row */
    struct buf word;            /* not placed yet, with its escape sequences */
    int word_width, spaces;     /* spaces before it */
    unsigned style, shown;      /* wanted, and in force at the end of word */
    int indent;                 /* of rows after the first */
    char prefix[MD_PREFIX_MAX]; /* at the beginning of every row: "│ " */
    int prefix_width;
};

/* Sets prefix and what further rows begin with; of the row to come. */
void md_flow_begin(struct md_flow *flow, const char *prefix, int prefix_width, int indent,
                   struct buf *out);
/* One code point, shown as what it may look like. keep_spaces: never broken, as in code. */
void md_flow_code(struct md_flow *flow, uint32_t code, bool keep_spaces, struct buf *out);
/* Any bytes. */
void md_flow_text(struct md_flow *flow, struct str text, bool keep_spaces, struct buf *out);
/* Places the word that waits and ends the row. */
void md_flow_end_row(struct md_flow *flow, struct buf *out);
/* How many columns text takes when shown; adds what is shown to out (NULL: only counted). */
int md_shown(struct str text, struct buf *out);

/* ---- inline.c: emphasis, code, links within one source line ---- */

struct md_span {
    unsigned style;
    size_t close; /* offset of what closes it */
    size_t n;     /* its bytes */
};
struct md_inline {
    struct md_span open[MD_DEPTH];
    unsigned depth;
    unsigned base; /* the block's style */
};
/* Are all bytes of the first character of rest there? */
bool md_settled(struct str rest, bool whole);
/* Takes from line (from *at on) what is settled; whole: the line has ended. */
void md_inline(struct md_inline *in, struct md_flow *flow, struct str line, size_t *at, bool whole,
               struct buf *out);

/* ---- table.c ---- */

/* Renders the rows of a table ("| a | b |\n…"). */
void md_table(struct md_flow *flow, struct str rows, struct buf *out);

#endif
