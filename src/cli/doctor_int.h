/* What doctor looks at. Each check writes one line or more.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_CLI_DOCTOR_INT_H
#define DORMOUSE_CLI_DOCTOR_INT_H

#include "base/arena.h"
#include "config/config.h"
#include "db/domain.h"

enum doctor_status {
    DOCTOR_OK = 0,
    DOCTOR_WARN, /* something works less well, or an optional part is absent */
    DOCTOR_FAIL, /* something needed is broken */
};

struct doctor_line {
    enum doctor_status status;
    const char *name;    /* "data directory" */
    const char *message; /* what was found */
    const char *fix;     /* what to type, NULL when there is nothing to repair */
};

#define DOCTOR_LINES_MAX 96

struct doctor {
    const char *data_dir;
    const struct config *config; /* NULL when it is wrong: checks that need it are left out */
    struct doctor_line lines[DOCTOR_LINES_MAX];
    size_t n;
    struct arena arena;
};

/* Adds a line; fix may be NULL, else it is kept as it is (in the arena or a literal). */
void doctor_add(struct doctor *doctor, enum doctor_status status, const char *name, const char *fix,
                const char *fmt, ...) __attribute__((format(printf, 5, 6)));

void doctor_data(struct doctor *doctor);      /* directory, lock, free space */
void doctor_databases(struct doctor *doctor); /* structure and schema version */
void doctor_budget(struct doctor *doctor, struct domain *agent_domain); /* what a day may cost */
void doctor_policy(struct doctor *doctor); /* the person's own guards */
void doctor_sqlite(struct doctor *doctor);
void doctor_port(struct doctor *doctor);
void doctor_sandbox(struct doctor *doctor);
void doctor_optional(struct doctor *doctor); /* programs and libraries used when present */

/* Loads the configuration and adds a line for every problem. NULL when it is wrong. */
struct config *doctor_config(struct doctor *doctor);

/* The full path of a program in $PATH, in the arena; NULL when there is none. */
const char *doctor_find_program(struct doctor *doctor, const char *name);

#endif
