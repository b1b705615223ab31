/* What may be hidden from somebody who decides about a text: letters and digits that mean nothing.
 *
 * A command, or a script that will be run, can be written so that it stands where a password would:
 * `token=x;rm${IFS}-r${IFS}src`, a name in backticks, lines between those of a key. Such a piece is
 * shown.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "base/redact_int.h"

#define OPAQUE_MIN 6

static bool is_letter(char c)
{
    return redact_is_word(c) && !redact_is_digit(c) && c != '-' && c != '_';
}

/* "hunter2", "abc.def+0=": no blank, nothing that a shell reads, no path, no plain word. */
static bool is_noise(struct str text)
{
    bool digit = false, letter = false;

    if (text.n < OPAQUE_MIN || strchr("./~-", text.p[0]))
        return false;
    for (size_t i = 0; i < text.n; i++) {
        char c = text.p[i];

        if (!redact_is_word(c) && (!c || !strchr("+/=.~:%@,", c)))
            return false;
        digit |= redact_is_digit(c);
        letter |= is_letter(c);
    }
    return digit && letter;
}

static bool is_fence(struct str line)
{
    if (!str_starts(line, STR("-----BEGIN ")) && !str_starts(line, STR("-----END ")))
        return false;
    for (size_t i = 0; i < line.n; i++)
        if (!(line.p[i] >= 'A' && line.p[i] <= 'Z') && line.p[i] != '-' && line.p[i] != ' ')
            return false;
    return true;
}

bool redact_is_opaque(struct str piece)
{
    struct str line;

    while (str_split(&piece, '\n', &line)) {
        line = str_trim(line);
        if (line.n && !is_noise(line) && !is_fence(line))
            return false;
    }
    return true;
}
