/* Errors of the daemon in the words of the command line.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_CLI_SAID_H
#define DORMOUSE_CLI_SAID_H

#include "base/err.h"

/* How a member of a request is called where people type: "cooldownSeconds" is "--cooldown". */
struct said_word {
    const char *member, *option;
};

/* The member in front of an error ("/authors/0: ...", "limit must be ...") becomes the option; the
 * first of the words that fits, which end with member NULL. Another error stays as it is. */
void said_by(const struct said_word *words, struct err *err);

#endif
