/* Which rules a run was recorded under, and how they change.
 *
 * The rules are the program of this build with or without a person's policy. A run's log names them
 * by identity, in its first row and in every policy_changed; the text of a policy is kept in the
 * database, so that a run can go on, and be replayed, after the file has become another one.
 *
 * At policy_changed a person's guards are swapped. The new ones are brought to where they would
 * stand had they watched the run from the beginning without a say; everything else stands where it
 * stood. What the calls in flight are to the new policy is in the row: attributes change by a
 * recorded event only.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_RUN_RULES_H
#define DORMOUSE_RUN_RULES_H

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "bp/engine.h"
#include "db/domain.h"
#include "run/program.h"

/* ---- rules by identity ---- */

struct run_rulebook {
    struct domain *domain;
    const struct bp_program *program; /* the present ones */
    uint8_t hash[BP_HASH_BYTES];
    struct run_rules *former; /* looked up so far */
};

/* policy_text: of the policy in program; empty when there is none, or nobody has it: then rules
 * with that policy are known once they have been kept. */
void run_rulebook_init(struct run_rulebook *book, struct domain *domain,
                       const struct bp_program *program, struct str policy_text);
void run_rulebook_release(struct run_rulebook *book);
/* Keeps the text for those who come later; inside a unit. */
int run_rulebook_keep(const struct run_rulebook *book, struct str policy_text, struct err *err);
/* 1: the program with that identity, as long as book. 0: none that this build can make. */
int run_rulebook_find(struct run_rulebook *book, const uint8_t hash[BP_HASH_BYTES],
                      const struct bp_program **ret_program, struct err *err);
/* The same; resume_conflict when there is none. */
int run_rulebook_get(struct run_rulebook *book, const uint8_t hash[BP_HASH_BYTES],
                     const struct bp_program **ret_program, struct err *err);

/* ---- a change of rules ---- */

/* What a start (attributes all 0) or policy_changed says of the rules from then on. */
struct run_change {
    uint8_t hash[BP_HASH_BYTES];
    uint32_t attributes[RUN_CALLS_MAX + 1]; /* by key: what the policy finds of a call in flight */
};
int run_change_read(struct str data, struct run_change *ret_change, struct err *err);
void run_change_write(const struct run_change *change, struct buf *out);

/* Events of a log so far. */
struct run_past {
    struct bp_event *events;
    size_t count, room;
};
void run_past_add(struct run_past *past, const struct bp_event *event);
void run_past_release(struct run_past *past);

/* Leads a fresh engine to where the past, recorded under other guards, and then the change lead. */
int run_change_follow(struct bp_engine *engine, const struct run_past *past,
                      const struct run_change *change, struct err *err);

/* ---- rules_store.c ---- */
int rules_put(struct domain *domain, const char *key, struct str text, struct err *err);
/* 1 found, 0 absent. */
int rules_get(struct domain *domain, const char *key, struct arena *arena, struct str *ret_text,
              struct err *err);
/* The rules of a run are others now. */
int rules_save(struct domain *domain, int64_t run_n, struct str hash, struct err *err);

#endif
