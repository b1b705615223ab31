/* The journal: what the person wrote. Reading, and writing in units that leave a change batch.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_JOURNAL_JOURNAL_H
#define DORMOUSE_JOURNAL_JOURNAL_H

#include "base/alloc.h"
#include "change/batch.h"
#include "change/change.h"
#include "db/domain.h"
#include "journal/record.h"
#include "loop/loop.h"

struct journal;

struct journal_config {
    struct loop *loop;
    struct domain *domain; /* attached to the loop */
    struct change *change; /* joined with domain */
    const char *zone;      /* of local days; NULL: this machine's, looked up at each use */
};
/* Never NULL. */
struct journal *journal_new(const struct journal_config *config);
void journal_free(struct journal *journal);
AUTO_DEFINE(journal)
struct domain *journal_domain(struct journal *journal);
struct loop *journal_loop(struct journal *journal);

/* Whoever wants to know that something was written: called after the commit of a unit. */
struct journal_listener {
    void (*written)(struct journal_listener *listener);
    struct journal_listener *next;
};
void journal_listen(struct journal *journal, struct journal_listener *listener);
void journal_unlisten(struct journal *journal, struct journal_listener *listener);

/* ---- local days ---- */

/* Today there: "2026-02-18". */
#define JOURNAL_DAY_SIZE 11
void journal_today(struct journal *journal, char ret_day[JOURNAL_DAY_SIZE]);
/* NULL: UTC. Until the next call of anything here. */
struct zone;
const struct zone *journal_zone(struct journal *journal);
/* Its name; "UTC" when it can't be read. Until the next call of anything here. */
const char *journal_zone_name(struct journal *journal);
/* The local day of a moment. */
void journal_day_at(struct journal *journal, int64_t at_ms, char ret_day[JOURNAL_DAY_SIZE]);
/* What clocks show there at a moment: "2026-02-18T16:00". */
#define JOURNAL_CLOCK_SIZE 17
void journal_clock_at(struct journal *journal, int64_t at_ms, char ret_text[JOURNAL_CLOCK_SIZE]);
/* When a local day begins and ends (the next begins); bad_request when it is none. */
int journal_day_span(struct journal *journal, struct str day, int64_t *ret_from, int64_t *ret_to,
                     struct err *err);

/* ---- reading ---- */

/* 1 found, 0 absent or deleted. */
int journal_get(struct journal *journal, enum record_type type, struct str id, struct arena *arena,
                struct record *ret_record, struct err *err);
/* Also one that was deleted. */
int journal_get_any(struct journal *journal, enum record_type type, struct str id,
                    struct arena *arena, struct record *ret_record, struct err *err);
/* Whatever has this id, of any type but links, also when it was deleted: what a change says. 1
 * found, 0 none. */
int journal_find_id(struct journal *journal, struct str id, struct arena *arena,
                    struct record *ret_record, struct err *err);
/* The category or label of this name, in letters of either case; by its id when no name is so. 1
 * found, 0 none. */
int journal_find_name(struct journal *journal, enum record_type type, struct str name,
                      struct arena *arena, struct record *ret_record, struct err *err);
/* Its id, from a unique beginning of at least 4 characters or the whole, of a deleted record too.
 * not_found, or bad_request when several begin so. */
int journal_find_prefix(struct journal *journal, enum record_type type, struct str prefix,
                        struct arena *arena, struct str *ret_id, struct err *err);
/* The category that a record counts for: its own, its task's, its target's. Empty: none. */
int journal_category_of(struct journal *journal, const struct record *record, struct arena *arena,
                        struct str *ret_category, struct err *err);

/* Many at once, with a query for every few of them. */
struct record_ref {
    enum record_type type;
    struct str id;
};
/* Those of refs that there are, deleted ones too: each once, in the order of refs. */
int journal_get_all(struct journal *journal, const struct record_ref *refs, size_t n,
                    struct arena *arena, struct record **ret_records, size_t *ret_count,
                    struct err *err);
/* For each of them what journal_category_of() says. */
int journal_categories_of(struct journal *journal, const struct record *records, size_t n,
                          struct arena *arena, struct str **ret_categories, struct err *err);

/* ---- writing ---- */

#define OPERATION_ID_MAX 200
struct journal_author {
    enum change_author kind;
    struct str agent_id;     /* of an agent */
    struct str operation_id; /* done once however often it is asked; empty: not remembered */
    struct str operation;    /* what it was: "create_task" */
    struct str taint;        /* of the texts that it brings (change/taint.h); empty: its own */
    struct str arguments_hash;
};
struct journal_write;

/* Opens a unit of the loop on the journal's domain. 1 go on; 0 this operation was done before:
 * *ret_result is what it answered (in arena) and there is nothing to end. conflict when the same
 * operation came with other arguments. */
int journal_begin(struct journal *journal, const struct journal_author *author, struct arena *arena,
                  struct journal_write **ret_write, struct str *ret_result, struct err *err);
/* Without opening a unit: was this operation done before? 1 and what it answered (in arena), 0 no.
 * conflict as above. */
int journal_done(struct journal *journal, const struct journal_author *author, struct arena *arena,
                 struct str *ret_result, struct err *err);
/* A new record; id empty: a new one. Fields as record_apply(); references must exist. conflict when
 * the id is taken. */
int journal_create(struct journal_write *write, enum record_type type, struct str id,
                   struct json_object *fields, struct record *ret_record, struct err *err);
/* not_found; ret_record may be NULL. 1 changed, 0 was so: nothing is written then. */
int journal_change(struct journal_write *write, enum record_type type, struct str id,
                   struct json_object *fields, struct record *ret_record, struct err *err);
/* A tombstone; what hangs on it (items of a checklist, blocks of a plan) goes along. 1 now, 0 was.
 */
int journal_remove(struct journal_write *write, enum record_type type, struct str id,
                   struct err *err);
/* Undo of that, with what went along. */
int journal_restore(struct journal_write *write, enum record_type type, struct str id,
                    struct err *err);
/* Texts of this record go into what is created next; NULL: that is over. They bring along where
 * they came from. */
void journal_copies(struct journal_write *write, const struct record *from);
struct arena *journal_arena(struct journal_write *write);
struct journal *journal_of(struct journal_write *write);
/* What it has changed so far. */
const struct change_batch *journal_batch(const struct journal_write *write);
/* When it was begun. */
int64_t journal_now(const struct journal_write *write);
/* Stores the batch and what the operation answers (result: JSON, may be empty), and ends the unit.
 * keep false: nothing of it stays. Frees write. */
int journal_end(struct journal_write *write, bool keep, struct str result, struct err *err);

#endif
