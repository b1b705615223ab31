/* Where text came from, for as long as it exists: in messages, records, files, notes and prompts.
 *
 * A taint is a list of sources, "KIND" or "KIND:LABEL", in order and separated by commas:
 * "file,mail:ann@example.org (12 Nov)". It belongs to the text and stays with it, whoever touches
 * the text last. The kinds are one table; a kind that is not in it is a stranger's. The person's
 * own words, and what an agent made of them alone, have no source: their taint is empty.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_CHANGE_TAINT_H
#define DORMOUSE_CHANGE_TAINT_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/json_write.h"
#include "base/str.h"

/* id, name, is it a stranger's: a person is warned; does it keep memory from being written without
 * a person's word; what a source with a label is called, and one without */
#define TAINT_KINDS(X)                                                                             \
    X(FILE, "file", false, true, "the file", "files on disk")                                      \
    X(COMMAND, "command", false, true, "the command", "output of commands")                        \
    X(JOURNAL, "journal", false, true, "the journal,", "the journal")                              \
    X(SLOTS, "slots", false, true, "the slot", "the agent's slots")                                \
    X(CALENDAR, "calendar", true, true, "the calendar event", "calendar events")                   \
    X(IMPORT, "import", true, true, "imported:", "something imported")                             \
    X(MAIL, "mail", true, true, "mail from", "mail")                                               \
    X(MCP, "mcp", true, true, "the MCP server", "an MCP server")                                   \
    X(SKILL, "skill", true, true, "the imported skill", "an imported skill")                       \
    X(SLACK, "slack", true, true, "Slack,", "Slack")                                               \
    X(WEB, "web", true, true, "what a command may have fetched",                                   \
      "what a command may have fetched")                                                           \
    X(WEBHOOK, "webhook", true, true, "the webhook", "a webhook")
enum taint_kind {
    TAINT_OTHER = 0, /* a kind that a tool's contract names and the table does not */
#define X(id, ...) TAINT_##id,
    TAINT_KINDS(X)
#undef X
        TAINT_KINDS_END
};
const char *taint_kind_name(enum taint_kind kind); /* "mail" */
/* Is text of this kind a stranger's? */
bool taint_kind_warns(enum taint_kind kind);

#define TAINT_LABEL_MAX 80   /* bytes; a longer one is cut */
#define TAINT_MAX       4096 /* bytes of a list */
/* One source. The label becomes one line without commas; it may be empty. In arena. */
struct str taint_source(enum taint_kind kind, struct str label, struct arena *arena);
/* Both lists as one. Of each kind a few labels are kept, the others become the kind alone. Is a
 * itself when b adds nothing to it; else in arena. */
struct str taint_join(struct str a, struct str b, struct arena *arena);

/* Is there a stranger's text? */
bool taint_warns(struct str taint);
/* Is every stranger's source of `now` in `shown`? Somebody who was warned of that is warned of
 * this. */
bool taint_covers(struct str shown, struct str now);
/* Does it keep a change of memory from being approved without a person? */
bool taint_blocks(struct str taint);
/* "mail from ann@example.org (12 Nov)" for each stranger's source, as a list. */
void taint_write(struct json_writer *w, struct str taint);
/* The same as the member "taint"; nothing when there is none. */
void taint_put(struct json_writer *w, struct str taint);
/* One sentence that names strangers' sources, the first few of them; nothing when there is none. */
void taint_warning(struct str taint, struct buf *out);

/* A field's text was replaced: does the new text still hold some of the old? It does when they
 * share a word of three letters or more, whatever its case. */
bool taint_stays(struct str before, struct str after);

#endif
