/* The pattern language of the intent table: see offline_int.h.
 *
 * Captures are as short as the rest of the pattern allows. Matching goes back over its choices, but
 * only MATCH_STEPS of them: a text that needs more does not match.
 *
 * SPDX-License-Identifier: MIT
 */
#include "model/offline_int.h"

#define MATCH_STEPS 20000

struct matcher {
    const struct offline_words *words;
    struct offline_match *match;
    unsigned steps;
};

static bool match_from(struct matcher *m, struct str pattern, size_t at);

static bool word_is_one_of(const struct offline_word *word, struct str choices)
{
    struct str choice;

    if (word->quoted)
        return false;
    while (str_split(&choices, '|', &choice)) {
        if (str_eq(word->low, choice))
            return true;
    }
    return false;
}

static struct str span(const struct offline_words *words, size_t from, size_t to)
{
    const struct offline_word *first = &words->word[from], *last = &words->word[to - 1];

    if (to - from == 1)
        return first->raw;
    return str_of(words->text.p + first->begin, last->end - first->begin);
}

/* {a} or ...: tries every length from the shortest. */
static bool match_many(struct matcher *m, struct str rest, size_t at, size_t least, int capture)
{
    for (size_t to = at + least; to <= m->words->n; to++) {
        if (capture >= 0) {
            m->match->cap[capture] = span(m->words, at, to);
            m->match->quoted[capture] = to - at == 1 && m->words->word[at].quoted;
        }
        if (match_from(m, rest, to))
            return true;
    }
    if (capture >= 0)
        m->match->cap[capture] = STR_NONE;
    return false;
}

static bool match_element(struct matcher *m, struct str element, struct str rest, size_t at)
{
    const struct offline_word *word = at < m->words->n ? &m->words->word[at] : NULL;

    if (str_is(element, "..."))
        return match_many(m, rest, at, 0, -1);
    if (element.p[0] == '{')
        return match_many(m, rest, at, 1, element.p[1] - 'a');
    if (element.p[0] == '[') {
        if (word && word_is_one_of(word, str_of(element.p + 1, element.n - 2)) &&
            match_from(m, rest, at + 1))
            return true;
        return match_from(m, rest, at);
    }
    if (!word)
        return false;
    if (element.p[0] == '<') {
        m->match->cap[element.p[1] - 'a'] = word->raw;
        m->match->quoted[element.p[1] - 'a'] = word->quoted;
        return match_from(m, rest, at + 1);
    }
    return word_is_one_of(word, element) && match_from(m, rest, at + 1);
}

static bool match_from(struct matcher *m, struct str pattern, size_t at)
{
    struct str element;

    if (++m->steps > MATCH_STEPS)
        return false;
    if (!pattern.p || pattern.n == 0)
        return at == m->words->n;
    if (!str_split(&pattern, ' ', &element))
        return at == m->words->n;
    return match_element(m, element, pattern, at);
}

bool offline_match(const char *pattern, const struct offline_words *words,
                   struct offline_match *ret_match)
{
    struct matcher m = { .words = words, .match = ret_match };

    *ret_match = (struct offline_match){ .cap = { STR_NONE } };
    return match_from(&m, str_from(pattern), 0);
}
