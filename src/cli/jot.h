/* What the journal's commands share: asking the daemon, reading what people type for days, moments
 * and tasks, and saying them again.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_CLI_JOT_H
#define DORMOUSE_CLI_JOT_H

#include <json-c/json_object.h>

#include "base/arena.h"
#include "base/json.h"
#include "base/timefmt.h"
#include "base/zone.h"
#include "cli/talk.h"

#define JOT_DAY_SIZE  11
#define JOT_WHEN_SIZE 40

/* How a member of a request is called where people type: "endTime" is "TO"; "" is not named. */
struct jot_word {
    const char *member, *word;
};
#define JOT_WORDS_MAX 24

/* One command at work. Everything is in its arena. */
struct jot {
    const struct cli_args *args;
    struct talk *talk;
    struct zone *zone;
    struct arena arena;
    struct err err;
    int64_t now_ms;
    struct jot_word words[JOT_WORDS_MAX];
    size_t word_count;
    char today[JOT_DAY_SIZE];
};
void jot_release(struct jot *jot);
#define AUTO_JOT __attribute__((cleanup(jot_release))) struct jot
/* -1: jot_fail() says why. */
int jot_open(struct jot *jot, const struct cli_args *args);
/* What a command returns then. */
int jot_fail(struct jot *jot);
/* The same when nothing that could be changed was given; options: what could be. */
int jot_idle(struct jot *jot, const char *options);

/* What a member is called in errors from now on; options of jot_take() say it themselves. */
void jot_says(struct jot *jot, const char *member, const char *word);
/* The daemon's error in those words. -1. */
int jot_refused(struct jot *jot);

/* One request of /api/v1/journal; path as printf, with its parts from jot_part(). body may be NULL.
 * *ret_answer is to be put. */
int jot_ask(struct jot *jot, const char *method, struct json_object *body,
            struct json_object **ret_answer, const char *path, ...)
    __attribute__((format(printf, 5, 6)));
/* Asks METHOD plural/OPERAND + more for each operand and says what was done. What was done before a
 * failure stays done, and was said. */
int jot_each(const struct cli_args *args, const char *method, const char *plural, const char *more,
             const char *said);
/* A member, unless text is empty. */
void jot_add(struct json_object *body, const char *key, struct str text);
/* Text as one segment or value of an address. */
const char *jot_part(struct jot *jot, const char *text);
/* Adds ?name=value, or &. */
void jot_query(struct jot *jot, struct buf *path, const char *name, const char *value);
/* All pages of a list, up to max items; *ret_items is to be put. *ret_more: there are others. */
int jot_list(struct jot *jot, const char *path, size_t max, struct json_object **ret_items,
             bool *ret_more);
/* The last line of a list that was cut: nobody may take a part for the whole. how: what shows the
 * rest, "" when nothing does. */
void jot_say_more(bool more, const char *how);

/* ---- reading ---- */

/* A task by its id, the beginning of it, its title, or words that only one open task has; where no
 * open one has them, only one closed task. */
int jot_task(struct jot *jot, const char *typed, struct str *ret_id);
/* Whatever has this id or the beginning of it, a day, else a task; type as links call it. */
int jot_record(struct jot *jot, const char *typed, const char **ret_type, struct str *ret_id);
/* A category or label by its id or name. plural: "categories". */
int jot_named(struct jot *jot, const char *plural, const char *typed, struct str *ret_id);
/* The name of a category; its id when there is none of this id any more. */
struct str jot_category_name(struct jot *jot, struct str id);
/* Which friday is meant: the next one, or the last one? What was done or noted has been: one to
 * come is refused. What is looked for (JOT_SOUGHT) may be to come. */
enum jot_sense { JOT_AHEAD, JOT_BEHIND, JOT_SOUGHT };
/* Refuses what has not come yet. */
int jot_has_been(struct jot *jot, const char *typed, int64_t at_ms);
/* "today", "tomorrow", "fri", "2026-02-18", "in 3 days". */
int jot_day(struct jot *jot, const char *typed, enum jot_sense sense, struct str *ret_day);
/* The same, and "tomorrow 16:00". */
int jot_due(struct jot *jot, const char *typed, struct str *ret_due);
/* "09:30", "9am" (of that day, else today), "2026-02-18T09:30", an RFC 3339 time, "now". "24:00" is
 * when the day ends. */
int jot_moment(struct jot *jot, const char *typed, struct str day, enum jot_sense sense,
               char ret_text[TIMEFMT_SIZE]);
/* The same of something that has been, or a day ("yesterday"): noon of it, now when it is today. */
int jot_when_it_was(struct jot *jot, const char *typed, char ret_text[TIMEFMT_SIZE]);
/* "90", "90m", "1h30", "1:30": minutes. */
int jot_minutes(struct jot *jot, const char *typed, int64_t *ret_minutes);
/* When time was spent, of --from, --to, --for and --day: startedAt and endedAt of body. Options
 * that contradict each other are refused. */
int jot_spent(struct jot *jot, struct json_object *body);
/* What --from and --to change of an entry; times that name no day are of --day, else of the day on
 * which it began. */
int jot_spent_anew(struct jot *jot, struct json_object *entry, struct json_object *body);
/* "in progress" as IN_PROGRESS. */
const char *jot_status(struct jot *jot, const char *typed);
/* All operands from the i-th on, with spaces. */
struct str jot_words(struct jot *jot, size_t i);

enum jot_kind {
    JOT_TEXT = 1,
    JOT_MINUTES,
    JOT_DAY,
    JOT_CLOCK,
    JOT_MOMENT,
    JOT_CATEGORY,
    JOT_TASK,
    JOT_PRIORITY, /* "P1", "1", "high" */
    JOT_STATUS,   /* "in progress" */
    JOT_LABELS
};
struct jot_option {
    const char *option, *member;
    enum jot_kind kind;
};
/* Members from the options that were given (table ends with option NULL); "none" is null. */
int jot_take(struct jot *jot, const struct jot_option *table, struct json_object *body);

/* ---- entries (cmd_journal_entry.c) ---- */

/* Makes one of this kind from body and the options --title, --at and --category. */
int jot_entry(struct jot *jot, struct json_object *body, const char *kind,
              struct json_object **ret_answer);
/* Lists those of a kind, newest first; empty is said when there are none. */
int jot_entries(const struct cli_args *args, const char *kind, const char *empty);

/* ---- saying ---- */

/* How commands say what a TASK is. */
#define JOT_TASK_WORDS                                                                             \
    "TASK is an id, the beginning of one, the title of an open task, or words that stand in the "  \
    "title of one only; closed tasks are looked at when no open one fits."

struct str jot_member(struct json_object *object, const char *key);
/* A line of its own, with control characters made visible. */
void jot_line(struct jot *jot, const char *before, struct str text);
/* "today", "tomorrow 16:00", "Fri 20 Feb", "3 days ago"; of another year "Wed 12 May 2027". */
const char *jot_when(struct jot *jot, struct str due, char ret_text[JOT_WHEN_SIZE]);
/* A moment in local time: "09:30" of today, "Wed 18 Feb 09:30". */
const char *jot_clock(struct jot *jot, struct str rfc3339, char ret_text[JOT_WHEN_SIZE]);
/* "1 h 30 min". */
const char *jot_span(int64_t ms, char ret_text[JOT_WHEN_SIZE]);
/* How many characters of the ids of these objects tell them apart, 8 at least. */
size_t jot_id_width(struct json_object *items);
/* With --json the answer as it is; else "TEXT ID: title". Takes answer. */
int jot_done(struct jot *jot, struct json_object *answer, const char *text);
int jot_print(struct jot *jot, struct json_object *answer);
/* Local day and time of a moment. */
void jot_local(struct jot *jot, int64_t at_ms, char ret_text[TIMEFMT_SIZE]);

#endif
