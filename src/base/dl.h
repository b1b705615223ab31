/* Libraries that are seldom used are opened when they are first used, so that start-up stays
 * quick and idle memory small. The owner of a backend lists the functions it needs.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_BASE_DL_H
#define DORMOUSE_BASE_DL_H

#include <stddef.h>

#include "base/err.h"

struct dl_symbol {
    const char *name;
    void **slot; /* where the address goes */
};

/* Opens soname for the rest of the process and fills every slot. On failure no slot is touched
 * and err names the library or the missing function. Calling it again is cheap. */
int dl_load(const char *soname, const struct dl_symbol *symbols, size_t n, struct err *err);

#endif
