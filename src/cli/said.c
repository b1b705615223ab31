/* Errors of the daemon in the words of the command line.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cli/said.h"

#include <string.h>

#include "base/str.h"

void said_by(const struct said_word *words, struct err *err)
{
    char text[ERR_TEXT_MAX];
    enum err_code code = err->code;
    const char *why;

    err_format(err, text, sizeof(text));
    why = *text == '/' ? text + 1 : text;
    for (; words->member; words++) {
        size_t n = strlen(words->member);

        if (strncmp(why, words->member, n) != 0 || !strchr(":/ ", why[n]) || !why[n])
            continue;
        why += n;
        if (*why == '/') /* which of a list */
            why += 1 + strspn(why + 1, "0123456789");
        err_reset(err);
        err_set(err, code, "%s%s", words->option, why);
        return;
    }
}
