/* Pages generated from the command table.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_CLI_HELP_INT_H
#define DORMOUSE_CLI_HELP_INT_H

#include "base/buf.h"
#include "cli/command.h"

#define HELP_BYTES_MAX (256 * 1024)

/* What every page tells about the world around the commands. */
struct help_term {
    const char *term, *text;
};
extern const struct help_term help_exit_codes[]; /* end with term NULL */
extern const struct help_term help_environment[];
extern const struct help_term help_files[];

/* What several commands have in common. */
struct help_topic {
    const char *name, *summary;    /* a word; a phrase without a full stop */
    const char *details;           /* as those of a command; NULL: none */
    const struct help_term *terms; /* NULL: none */
};
extern const struct help_topic help_topics[]; /* end with name NULL */
const struct help_topic *help_topic_find(const char *name);

/* The list of all commands. */
void help_overview(struct buf *out, const struct cli_command *const *commands);
/* One command's page. */
void help_command(struct buf *out, const struct cli_command *command);
/* One topic's page. */
void help_topic(struct buf *out, const struct help_topic *topic);
/* The commands whose first word is group. */
void help_group(struct buf *out, const struct cli_command *const *commands, const char *group);
/* roff with the man macros. */
void help_man(struct buf *out, const struct cli_command *const *commands);
/* docs/commands.md */
void help_markdown(struct buf *out, const struct cli_command *const *commands);

/* A paragraph, the first line of a block to be shown as it is, or a further line of one. */
enum help_kind { HELP_TEXT = 0, HELP_CODE, HELP_CODE_MORE };
void help_paragraphs(const char *details,
                     void (*fn)(struct buf *out, struct str text, enum help_kind kind),
                     struct buf *out);
/* "schema check SCHEMA INSTANCE [--ref URI=FILE...] [--assert-format]" */
void help_usage(struct buf *out, const struct cli_command *command);

#endif
