/* Patterns: first line the expression, the rest the text. The lines that are found by windows and
 * by required texts are those that match when each is looked at alone.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/alloc.h"
#include "sandbox/search_pattern.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

/* A line by itself, in front of a newline. */
static bool line_matches(const struct pattern *p, const char *line, size_t n, bool *ret_costly)
{
    AUTO(pattern_run) run = pattern_run_new(p);
    char copy[4098];
    struct pattern_hit hit;
    bool found;

    memcpy(copy, line, n);
    copy[n] = '\n';
    found = pattern_find(run, copy, copy + n + 1, NULL, NULL, &hit) > 0;
    *ret_costly |= pattern_costly(run) > 0;
    return found;
}

static void check(const struct pattern *p, struct str text)
{
    AUTO(pattern_run) run = pattern_run_new(p);
    const char *at = text.p, *end = text.p + text.n;
    bool costly = false;

    while (at < end) {
        struct pattern_hit hit = { .line = end };
        int r = pattern_find(run, at, end, NULL, NULL, &hit);

        if (r < 0 || pattern_costly(run))
            return;
        /* Nothing between here and the hit matches, and the hit does. */
        while (at < hit.line && at < end) {
            const char *newline = memchr(at, '\n', (size_t)(end - at));
            const char *stop = newline ? newline : end;
            bool matched = line_matches(p, at, (size_t)(stop - at), &costly);

            BUG_IF(matched && !costly);
            at = stop + 1;
        }
        if (r == 0)
            return;
        BUG_IF(!line_matches(p, hit.line, (size_t)(hit.line_end - hit.line), &costly) && !costly);
        at = hit.line_end + 1;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    struct str rest = str_of(n ? (const char *)bytes : "", n), re;

    if (n > 2000 || !str_split(&rest, '\n', &re) || !rest.p)
        return 0;
    for (int bits = 0; bits < 4; bits++) {
        AUTO(pattern) p = NULL;

        if (pattern_compile(re, bits & 1, bits & 2, &p, NULL) == 0)
            check(p, rest);
    }
    return 0;
}
