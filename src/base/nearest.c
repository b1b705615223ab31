/* "Did you mean": the nearest name by edits, where two letters that changed places are one edit and
 * capitals are none.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/nearest.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

#include "base/buf.h"
#include "base/utf8.h"

/* Longer words are not typing mistakes of our short names. */
#define WORD_MAX 64

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static bool same(char a, char b)
{
    return tolower((unsigned char)a) == tolower((unsigned char)b);
}

/* Optimal string alignment with three rows. Both texts are at most WORD_MAX long. */
static size_t edits(const char *a, size_t a_len, const char *b, size_t b_len)
{
    size_t rows[3][WORD_MAX + 1];

    for (size_t j = 0; j <= b_len; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= a_len; i++) {
        size_t *row = rows[i % 3], *above = rows[(i + 2) % 3], *above2 = rows[(i + 1) % 3];

        row[0] = i;
        for (size_t j = 1; j <= b_len; j++) {
            row[j] =
                least(least(above[j], row[j - 1]) + 1, above[j - 1] + !same(a[i - 1], b[j - 1]));
            if (i > 1 && j > 1 && same(a[i - 1], b[j - 2]) && same(a[i - 2], b[j - 1]))
                row[j] = least(row[j], above2[j - 2] + 1);
        }
    }
    return rows[a_len % 3][b_len];
}

const char *nearest_name(const char *typed, const char *const *names, size_t n)
{
    size_t typed_len = strlen(typed), best = WORD_MAX;
    const char *found = NULL;

    if (typed_len == 0 || typed_len > WORD_MAX)
        return NULL;
    for (size_t i = 0; i < n; i++) {
        size_t len = strlen(names[i]), distance;

        if (len > WORD_MAX)
            continue;
        distance = edits(typed, typed_len, names[i], len);
        /* A third of the letters may be wrong; the start of a long name counts as meant. */
        if (typed_len >= 3 && strncasecmp(typed, names[i], typed_len) == 0)
            distance = 1;
        if (distance <= 1 + least(typed_len, len) / 4 && distance < least(typed_len, len) &&
            distance < best) {
            best = distance;
            found = names[i];
        }
    }
    return found;
}

int nearest_refuse(const char *what, struct str typed, const char *const *names, size_t n,
                   struct err *err)
{
    struct str shown = utf8_truncate(typed, WORD_MAX);
    AUTO_BUF list = BUF_INIT(800);
    char word[WORD_MAX + 1] = "";
    const char *near;

    if (shown.n)
        memcpy(word, shown.p, shown.n);
    near = shown.n == typed.n ? nearest_name(word, names, n) : NULL;
    if (near)
        return err_set(err, ERR_BAD_REQUEST, "there is no %s \"%.*s\"; did you mean \"%s\"?", what,
                       STR_ARG(shown), near);
    for (size_t i = 0; i < n && !list.full; i++)
        buf_printf(&list, "%s%s", i ? ", " : "", names[i]);
    return err_set(err, ERR_BAD_REQUEST, "there is no %s \"%.*s\"; there are: %s%s", what,
                   STR_ARG(shown), buf_text(&list), list.full ? ", ..." : "");
}
