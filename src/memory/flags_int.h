/* Between the searches for suspicious text. Each goes through the text once and adds what it finds;
 * none looks back further than a fixed number of bytes, so the whole is linear whatever the text.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_MEMORY_FLAGS_INT_H
#define DORMOUSE_MEMORY_FLAGS_INT_H

#include "memory/edit.h"

#define FLAGS_MAX     200
#define FLAG_LINK_MAX 2048 /* bytes of a link or tag */

struct flag_rule {
    const char *pattern, *description;
    enum memory_severity severity;
};

struct flag_search {
    struct str text;
    struct arena *arena;
    struct memory_flag *flags; /* room for FLAGS_MAX of each search */
    size_t count, room;
    size_t from, warnings; /* of the search under way: where its flags begin, how many only warn */
    size_t urls;           /* those of them that flag_urls() found, which are the first */
};

/* [start, end) of the text. Beyond FLAGS_MAX of one search the later ones are left out, but what is
 * dangerous takes the place of a warning. */
void flag_add(struct flag_search *search, const struct flag_rule *rule, size_t start, size_t end);
/* Does the place lie in an address? */
bool flag_in_url(const struct flag_search *search, size_t at);

/* flags_words.c: phrases, word by word. */
void flag_words(struct flag_search *search);
/* flags_marks.c: addresses, role marks, markup. */
void flag_urls(struct flag_search *search);
void flag_emails(struct flag_search *search);
void flag_literals(struct flag_search *search);
/* flags_links.c: links that mislead or run something. */
void flag_links(struct flag_search *search);
/* Does a link say one host and lead to another? */
bool flag_misleads(struct str label, struct str target);
extern const struct flag_rule flag_link_rule;
/* flags_markup.c: links by reference, tags with handlers of events. */
void flag_references(struct flag_search *search);
void flag_handlers(struct flag_search *search);
/* &#105; and the like in place of a plain character. */
void flag_entities(struct flag_search *search);
/* flags_fold.c: what a character reads as, a small letter or a digit; 0: as itself. */
char flag_fold(uint32_t code);
/* Is it an accent or other mark that is written over the letter before it? */
bool flag_combines(uint32_t code);
/* flags_code.c: shell pipes, and text that was made unreadable. */
void flag_pipes(struct flag_search *search);
void flag_blobs(struct flag_search *search);
/* flags_hidden.c: characters that nobody sees. */
void flag_hidden(struct flag_search *search);

static inline bool flag_is_alpha(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
static inline bool flag_is_digit(char c)
{
    return c >= '0' && c <= '9';
}
static inline bool flag_is_domain(char c)
{
    return flag_is_alpha(c) || flag_is_digit(c) || c == '.' || c == '-';
}
static inline char flag_lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
}
static inline bool flag_is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}
/* Bytes of the white space that text begins with (also U+00A0, U+2003 ...); 0: none. */
size_t flag_space(struct str text);
/* Bytes of "http://" or "https://" here; 0: neither. */
size_t flag_scheme(struct str text);
/* How far text goes without white space. */
size_t flag_unspaced(struct str text);
/* Does text begin with this, whatever the case of its letters? */
bool flag_begins(struct str text, const char *what);

#endif
