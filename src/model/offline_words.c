/* Text to words: quotes, punctuation, short forms and politeness.
 *
 * A word in quotes or backquotes is one word whatever is inside. Punctuation at the end of a word
 * is not part of it, the dots of "." and ".." are. "what's" becomes two words.
 *
 * SPDX-License-Identifier: MIT
 */
#include <ctype.h>

#include "model/offline_int.h"

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v';
}

static bool one_of(char c, const char *set)
{
    return c && strchr(set, c);
}

static struct str lower(struct arena *arena, struct str s)
{
    char *copy = arena_copy(arena, s.p, s.n);

    for (size_t i = 0; i < s.n; i++)
        copy[i] = (char)tolower((unsigned char)copy[i]);
    return str_of(copy, s.n);
}

/* The quote that opens at text[at], and its partner: bytes of the mark, or 0. */
static size_t quote_at(struct str text, size_t at, struct str *ret_close)
{
    static const struct {
        const char *open, *close;
    } marks[] = {
        { "```", "```" }, { "\"", "\"" },         { "'", "'" },
        { "`", "`" },     { "\u201c", "\u201d" }, { "\u2018", "\u2019" },
    };

    for (size_t i = 0; i < ARRAY_LEN(marks); i++) {
        if (str_starts(str_skip(text, at), str_from(marks[i].open))) {
            *ret_close = str_from(marks[i].close);
            return strlen(marks[i].open);
        }
    }
    return 0;
}

/* Where the closing mark begins: one that ends a word, so that 'don't' stays whole. */
static ptrdiff_t quote_end(struct str text, size_t from, struct str close)
{
    for (size_t i = from; i + close.n <= text.n; i++) {
        size_t after = i + close.n;

        if (memcmp(text.p + i, close.p, close.n) == 0 &&
            (after == text.n || is_space(text.p[after]) || one_of(text.p[after], ".,;:!?)")))
            return (ptrdiff_t)i;
    }
    return -1;
}

static void add(struct offline_words *words, struct arena *arena, struct str raw, size_t begin,
                size_t end, bool quoted)
{
    struct offline_word *w = &words->word[words->n++];

    *w = (struct offline_word){ raw, lower(arena, raw), begin, end, quoted };
}

static size_t unpunctuated(struct str word)
{
    size_t n = word.n;

    while (n > 1 && one_of(word.p[n - 1], ",;:!?"))
        n--;
    if (n > 1 && word.p[n - 1] == '.' && !one_of(word.p[n - 2], "./"))
        n--;
    while (n > 1 && one_of(word.p[n - 1], ",;:!?"))
        n--;
    return n;
}

/* "what's" -> "what" "is"; both stand where the one stood. */
static bool add_short_form(struct offline_words *words, struct arena *arena, struct str raw,
                           size_t begin, size_t end)
{
    static const struct {
        const char *form, *first, *second;
    } forms[] = {
        { "what's", "what", "is" }, { "whats", "what", "is" }, { "where's", "where", "is" },
        { "who's", "who", "is" },   { "i'd", "i", "would" },   { "let's", "let", "us" },
        { "i've", "i", "have" },    { "i'm", "i", "am" },      { "don't", "do", "not" },
    };

    for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
        if (str_eq_nocase(raw, str_from(forms[i].form)) && words->n + 2 <= OFFLINE_WORDS_MAX) {
            add(words, arena, str_from(forms[i].first), begin, end, false);
            add(words, arena, str_from(forms[i].second), begin, end, false);
            return true;
        }
    }
    return false;
}

/* One word from text[i]; returns where the next may begin. */
static size_t take_word(struct offline_words *words, struct arena *arena, size_t i)
{
    struct str text = words->text, close, raw;
    size_t open = quote_at(text, i, &close), begin = i;
    ptrdiff_t end = open ? quote_end(text, i + open, close) : -1;

    if (end > 0 && (size_t)end > i + open) {
        raw = str_of(text.p + i + open, (size_t)end - i - open);
        if (open == 3)
            raw = str_trim(raw);
        add(words, arena, raw, begin, (size_t)end + close.n, true);
        i = (size_t)end + close.n;
        while (i < text.n && one_of(text.p[i], ".,;:!?)"))
            i++;
        return i;
    }
    while (i < text.n && !is_space(text.p[i]))
        i++;
    raw = str_of(text.p + begin, unpunctuated(str_of(text.p + begin, i - begin)));
    if (!add_short_form(words, arena, raw, begin, begin + raw.n))
        add(words, arena, raw, begin, begin + raw.n, false);
    return i;
}

void offline_words_split(struct str text, struct arena *arena, struct offline_words *ret_words)
{
    size_t i = 0;

    text = str_trim(text);
    ret_words->text = text;
    ret_words->n = 0;
    for (;;) {
        while (i < text.n && is_space(text.p[i]))
            i++;
        if (i >= text.n)
            return;
        if (ret_words->n == OFFLINE_WORDS_MAX - 1) {
            struct str rest = str_skip(text, i);

            add(ret_words, arena, rest, i, text.n, false);
            return;
        }
        i = take_word(ret_words, arena, i);
    }
}

bool offline_contains(struct str text, struct str part)
{
    for (size_t i = 0; part.n && i + part.n <= text.n; i++) {
        if (str_eq_nocase(str_of(text.p + i, part.n), part))
            return true;
    }
    return false;
}

/* ---- politeness ---- */

static bool phrase_at(const struct offline_words *words, size_t at, struct str phrase,
                      size_t *ret_n)
{
    struct str word;
    size_t n = 0;

    while (str_split(&phrase, ' ', &word)) {
        if (at + n >= words->n || words->word[at + n].quoted ||
            !str_eq(words->word[at + n].low, word))
            return false;
        n++;
    }
    *ret_n = n;
    return true;
}

static bool drop_front(struct offline_words *words)
{
    static const char *const phrases[] = {
        "please",
        "kindly",
        "can you",
        "could you",
        "would you",
        "will you",
        "can i",
        "may i",
        "i want you to",
        "i would like you to",
        "i would like to",
        "i want to",
        "i would like",
        "let us",
        "hey dormouse",
        "hi dormouse",
        "hello dormouse",
        "dormouse",
        "hey",
        "now",
        "just",
        "ok",
        "okay",
        "so",
        "then",
        "and",
        "also",
        "quickly",
        "go ahead and",
    };
    size_t n;

    for (size_t i = 0; i < ARRAY_LEN(phrases); i++) {
        if (phrase_at(words, 0, str_from(phrases[i]), &n) && n < words->n) {
            words->n -= n;
            memmove(words->word, words->word + n, words->n * sizeof(words->word[0]));
            return true;
        }
    }
    return false;
}

static bool drop_end(struct offline_words *words)
{
    static const char *const phrases[] = {
        "please",     "thanks",    "thank you", "for me", "right now",           "now",
        "if you can", "would you", "will you",  "cheers", "thank you very much", "many thanks",
        "dormouse",
    };
    size_t n;

    for (size_t i = 0; i < ARRAY_LEN(phrases); i++) {
        struct str rest = str_from(phrases[i]), word;
        size_t count = 0;

        while (str_split(&rest, ' ', &word))
            count++;
        if (words->n > count && phrase_at(words, words->n - count, str_from(phrases[i]), &n)) {
            words->n -= n;
            return true;
        }
    }
    return false;
}

void offline_words_unpolite(struct offline_words *words)
{
    while (drop_front(words))
        ;
    while (drop_end(words))
        ;
}
