/* Braces: the words that {a,b} and {1..3} stand for.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "base/alloc.h"
#include "policy/danger_word_int.h"

static void add_field(const struct danger_build *b, struct str text, struct danger_word **words,
                      size_t *n)
{
    struct danger_scan *scan = b->scan;

    if (*n == DANGER_WORDS_MAX) {
        danger_obscure(scan);
        return;
    }
    if (*n % 64 == 0) {
        struct danger_word *more = ARENA_NEW_N(scan->arena, struct danger_word, *n + 64);

        if (*n)
            memcpy(more, *words, *n * sizeof(*more));
        *words = more;
    }
    (*words)[(*n)++] = danger_word_of(b, text);
}

/* The first {a,b} of text: before, inside, after. */
static bool find_braces(struct str text, size_t *ret_open, size_t *ret_close)
{
    for (size_t open = 0; open < text.n; open++) {
        size_t depth = 0;
        bool comma = false;

        if (text.p[open] != MARK_OPEN)
            continue;
        for (size_t i = open; i < text.n; i++) {
            if (text.p[i] == MARK_OPEN)
                depth++;
            else if (text.p[i] == MARK_COMMA && depth == 1)
                comma = true;
            else if (text.p[i] == MARK_CLOSE && --depth == 0) {
                if (!comma)
                    break;
                *ret_open = open;
                *ret_close = i;
                return true;
            }
        }
    }
    return false;
}

/* {a..b}: letters or numbers in a row, which stand for something unknown. */
static struct str without_ranges(struct danger_scan *scan, struct str text)
{
    AUTO_BUF out = BUF_INIT(DANGER_FIELD_MAX);

    if (str_find_char(text, MARK_OPEN) < 0 || str_find(text, STR("..")) < 0)
        return text;
    for (size_t i = 0; i < text.n; i++) {
        struct str rest = str_skip(text, i);
        ptrdiff_t close = rest.p[0] == MARK_OPEN ? str_find_char(rest, MARK_CLOSE) : -1;

        if (close > 0 && str_find(str_take(rest, (size_t)close), STR("..")) > 0) {
            buf_add_char(&out, MARK_UNKNOWN);
            i += (size_t)close;
        } else {
            buf_add_char(&out, text.p[i]);
        }
    }
    return arena_str(scan->arena, buf_str(&out));
}

void danger_expand_braces(const struct danger_build *b, struct str text, int depth,
                          struct danger_word **words, size_t *n)
{
    size_t open, close, from;
    int level = 0;

    if (b->scan->hit)
        return;
    if (depth > 12 || !find_braces(text, &open, &close)) {
        add_field(b, without_ranges(b->scan, text), words, n);
        return;
    }
    from = open + 1;
    for (size_t i = from; i <= close; i++) {
        if (text.p[i] == MARK_OPEN)
            level++;
        if ((text.p[i] == MARK_COMMA && level == 0) || i == close) {
            AUTO_BUF one = BUF_INIT(DANGER_FIELD_MAX);

            buf_add(&one, text.p, open);
            buf_add(&one, text.p + from, i - from);
            buf_add(&one, text.p + close + 1, text.n - close - 1);
            danger_expand_braces(b, buf_str(&one), depth + 1, words, n);
            from = i + 1;
        } else if (text.p[i] == MARK_CLOSE) {
            level--;
        }
    }
}
