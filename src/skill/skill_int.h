/* Between the files of this room.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_SKILL_SKILL_INT_H
#define DORMOUSE_SKILL_SKILL_INT_H

#include "skill/skill.h"

#define SKILL_PROBLEMS_MAX 32

/* Problems as they are found; more than the cap are counted by the last one. */
struct problems {
    struct arena *arena;
    struct skill_problem *items;
    size_t n;
};
void problem_add(struct problems *problems, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* ---- name.c ---- */

/* NFKC of a name as far as its characters can be in one; the rest stays as it is. */
struct str name_compose(struct str name, struct arena *arena);
/* Everything that is wrong with a name that is not empty. directory may be empty: not compared. */
void name_check(struct str name, struct str directory, struct problems *problems);
/* In UTF-16 units, as the limits of the format are counted. */
size_t text_units(struct str text);

/* ---- front.c ---- */

/* Reads the text of a SKILL.md; every problem is added. Without any, *ret_skill is whole. */
void front_read(struct str text, struct str directory, struct arena *arena, struct skill *ret_skill,
                struct problems *problems);
/* JSON list of names from the text "Read Bash(git:*)" or "read, write". */
struct str front_tools(struct str text, struct arena *arena);

#endif
