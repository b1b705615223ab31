/* Suspicious text: all searches together, in order of place.
 *
 * A flag is no verdict. A person decides, and sees at which words to look twice; the same flags
 * keep a write from being approved without a person. So rules are wide where a miss costs more than
 * a second look, and every one has its examples and counter-examples in the tests.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>

#include "base/utf8.h"
#include "memory/flags_int.h"

void flag_add(struct flag_search *search, const struct flag_rule *rule, size_t start, size_t end)
{
    size_t at = search->count;

    if (search->count == search->room) {
        if (rule->severity != MEMORY_DANGER || !search->warnings)
            return;
        do
            at--;
        while (search->flags[at].severity == MEMORY_DANGER);
        search->warnings--;
    } else {
        search->count++;
        search->warnings += rule->severity != MEMORY_DANGER;
    }
    search->flags[at] = (struct memory_flag){
        .pattern = rule->pattern,
        .match = arena_str(search->arena, str_of(search->text.p + start, end - start)),
        .description = rule->description,
        .severity = rule->severity,
        .start = start,
        .end = end,
    };
}

/* They come in order, so the last that begins before the place is the one. */
bool flag_in_url(const struct flag_search *search, size_t at)
{
    size_t low = 0, high = search->urls;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (search->flags[middle].start <= at)
            low = middle + 1;
        else
            high = middle;
    }
    return low && search->flags[low - 1].end > at;
}

size_t flag_space(struct str text)
{
    struct str rest = text;
    uint32_t code;

    if (!text.n || (unsigned char)text.p[0] < 0x80)
        return text.n && flag_is_space(text.p[0]) ? 1 : 0;
    if (utf8_decode(&rest, &code) < 0)
        return 0;
    return utf8_oddity_of(code) == UTF8_ODD_SPACE || code == 0x2028 || code == 0x2029 ||
                   code == 0x85
               ? text.n - rest.n
               : 0;
}

bool flag_begins(struct str text, const char *what)
{
    size_t n = strlen(what);

    if (text.n < n)
        return false;
    for (size_t i = 0; i < n; i++) {
        if (flag_lower(text.p[i]) != what[i])
            return false;
    }
    return true;
}

size_t flag_scheme(struct str text)
{
    return flag_begins(text, "http://") ? 7 : flag_begins(text, "https://") ? 8 : 0;
}

size_t flag_unspaced(struct str text)
{
    struct str rest = text;

    while (rest.n && !flag_space(rest))
        rest = str_skip(rest, 1);
    return text.n - rest.n;
}

static int by_place(const void *a, const void *b)
{
    const struct memory_flag *x = a, *y = b;

    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    if (x->end != y->end)
        return x->end > y->end ? -1 : 1;
    return strcmp(x->pattern, y->pattern);
}

/* Addresses go first: what looks like a blob inside of one is a part of it. */
static void (*const searches[])(struct flag_search *search) = {
    flag_urls,   flag_blobs,    flag_emails,     flag_links,    flag_words,    flag_pipes,
    flag_hidden, flag_literals, flag_references, flag_handlers, flag_entities,
};

/* Of what is most dangerous nothing is left out for the sake of what is not. */
static size_t keep_worst(struct memory_flag *flags, size_t count)
{
    size_t dangers = 0, kept = 0, spare;

    for (size_t i = 0; i < count; i++)
        dangers += flags[i].severity == MEMORY_DANGER;
    spare = dangers < FLAGS_MAX ? FLAGS_MAX - dangers : 0;
    for (size_t i = 0; i < count && kept < FLAGS_MAX; i++) {
        if (flags[i].severity != MEMORY_DANGER) {
            if (!spare)
                continue;
            spare--;
        }
        flags[kept++] = flags[i];
    }
    return kept;
}

size_t memory_flags(struct str text, struct arena *arena, struct memory_flag **ret_flags)
{
    struct flag_search all = { .text = text, .arena = arena };

    all.flags = ARENA_NEW_N(arena, struct memory_flag, FLAGS_MAX * ARRAY_LEN(searches));
    for (size_t i = 0; i < ARRAY_LEN(searches) && text.n; i++) {
        all.from = all.count;
        all.room = all.count + FLAGS_MAX;
        all.warnings = 0;
        searches[i](&all);
    }
    qsort(all.flags, all.count, sizeof(*all.flags), by_place);
    *ret_flags = all.flags;
    return keep_worst(all.flags, all.count);
}
