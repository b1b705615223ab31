/* Words of a query. Whatever people type becomes quoted words: no operator of the index's own
 * language can come through.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/utf8.h"
#include "find/find.h"

/* Common English and German words: each is in most texts, so it tells nothing and costs much. */
static const char *const stop_words[] = {
    "a",    "an",  "and",  "are", "as",   "at",   "be",   "by",  "for", "from", "has",  "have",
    "he",   "i",   "in",   "is",  "it",   "its",  "of",   "on",  "or",  "she",  "that", "the",
    "this", "to",  "was",  "we",  "were", "will", "with", "you", "der", "die",  "das",  "und",
    "ist",  "ein", "eine", "ich", "du",   "es",   "zu",   "den", "von", "mit",  "im",   "nicht",
};

static bool is_stop_word(struct str word)
{
    for (size_t i = 0; i < ARRAY_LEN(stop_words); i++)
        if (str_eq_nocase(word, str_from(stop_words[i])))
            return true;
    return false;
}

/* ASCII that is neither letter nor digit parts words; so do odd characters. */
static bool parts(uint32_t code)
{
    if (code < 0x80)
        return !((code >= '0' && code <= '9') || (code >= 'a' && code <= 'z') ||
                 (code >= 'A' && code <= 'Z'));
    return utf8_oddity_of(code) != UTF8_PLAIN || (code >= 0x2010 && code <= 0x206F) ||
           (code >= 0x3000 && code <= 0x303F);
}

static void add_word(struct find_words *words, struct str word)
{
    if (word.n && words->n < FIND_WORDS_MAX)
        words->word[words->n++] = word;
}

static void drop_stop_words(struct find_words *words)
{
    size_t kept = 0, telling = 0;

    for (size_t i = 0; i < words->n; i++)
        telling += !is_stop_word(words->word[i]);
    for (size_t i = 0; telling && i < words->n; i++)
        if (!is_stop_word(words->word[i]))
            words->word[kept++] = words->word[i];
    if (telling)
        words->n = kept;
}

void find_words(struct str text, struct find_words *ret_words)
{
    struct str rest = utf8_truncate(text, FIND_TEXT_MAX), word = STR_NONE;

    *ret_words = (struct find_words){ .n = 0 };
    while (rest.n) {
        struct str from = rest;
        uint32_t code;

        if (utf8_decode(&rest, &code) < 0 || parts(code)) {
            add_word(ret_words, word);
            word = STR_NONE;
        } else if (word.p) {
            word.n += from.n - rest.n;
        } else {
            word = str_take(from, from.n - rest.n);
        }
    }
    add_word(ret_words, word);
    drop_stop_words(ret_words);
}

/* "word" "another"*: no word has a quote in it. */
void find_expression(const struct find_words *words, struct buf *out)
{
    for (size_t i = 0; i < words->n; i++)
        buf_printf(out, "%s\"%.*s\"%s", i ? " " : "", STR_ARG(words->word[i]),
                   i + 1 == words->n ? "*" : "");
}

static bool has(struct str text, struct str word)
{
    for (size_t i = 0; i + word.n <= text.n; i++)
        if (str_eq_nocase(str_of(text.p + i, word.n), word))
            return true;
    return false;
}

bool find_in(const struct find_words *words, struct str text)
{
    for (size_t i = 0; i < words->n; i++)
        if (!has(text, words->word[i]))
            return false;
    return words->n > 0;
}
