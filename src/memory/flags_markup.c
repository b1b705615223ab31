/* Markup that does more than it shows: links whose target stands elsewhere, tags that run a script.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/map.h"
#include "memory/flags_int.h"

/* ---- [text][label] ... [label]: target ---- */

/* The bracket that closes the one at `at` in its line; 0: none does. */
static size_t closing(struct str text, size_t at)
{
    for (size_t i = at + 1; i < text.n && i - at <= FLAG_LINK_MAX && text.p[i] != '\n'; i++) {
        if (text.p[i] == ']')
            return i;
        if (text.p[i] == '[')
            return 0;
    }
    return 0;
}

/* Labels are the same whatever their case. */
static struct str label_key(struct flag_search *search, size_t open, size_t close)
{
    struct str label = str_trim(str_of(search->text.p + open + 1, close - open - 1));
    char *key = arena_alloc(search->arena, label.n + 1, 1);

    for (size_t i = 0; i < label.n; i++)
        key[i] = flag_lower(label.p[i]);
    return str_of(key, label.n);
}

/* A definition at the beginning of a line; the first of a label counts. */
static void take_definition(struct flag_search *search, size_t at, struct map *targets)
{
    struct str text = search->text, rest, *target, key;
    size_t close;

    for (unsigned i = 0; i < 3 && at < text.n && text.p[at] == ' '; i++)
        at++;
    if (at >= text.n || text.p[at] != '[' || !(close = closing(text, at)) || close + 1 >= text.n ||
        text.p[close + 1] != ':')
        return;
    rest = str_take(str_skip(text, close + 2), FLAG_LINK_MAX);
    while (rest.n && flag_is_space(rest.p[0]))
        rest = str_skip(rest, 1);
    if (rest.n && rest.p[0] == '<')
        rest = str_skip(rest, 1);
    key = label_key(search, at, close);
    if (!key.n || map_find(targets, key))
        return;
    target = ARENA_NEW(search->arena, struct str);
    for (*target = str_take(rest, 0); target->n < rest.n; target->n++) {
        if (flag_is_space(rest.p[target->n]) || rest.p[target->n] == '>')
            break;
    }
    map_put(targets, key, target);
}

/* [text][label], [text][] and [text] alone. Gives where to go on. */
static size_t judge_reference(struct flag_search *search, size_t open, const struct map *targets)
{
    struct str text = search->text;
    size_t close = closing(text, open), end, from = open, to;
    const struct str *target;

    if (!close)
        return open;
    to = close;
    if (close + 1 < text.n && text.p[close + 1] == '[' && (end = closing(text, close + 1))) {
        if (end > close + 2) {
            from = close + 1;
            to = end;
        }
    } else {
        end = close;
        if (close + 1 < text.n && (text.p[close + 1] == '(' || text.p[close + 1] == ':'))
            return close;
    }
    target = map_find(targets, label_key(search, from, to));
    if (target && flag_misleads(str_of(text.p + open + 1, close - open - 1), *target))
        flag_add(search, &flag_link_rule, open, end + 1);
    return end;
}

void flag_references(struct flag_search *search)
{
    struct str text = search->text;
    AUTO_MAP targets = MAP_INIT;

    for (size_t at = 0; at < text.n; at++) {
        const char *newline;

        take_definition(search, at, &targets);
        newline = memchr(text.p + at, '\n', text.n - at);
        if (!newline)
            break;
        at = (size_t)(newline - text.p);
    }
    for (size_t at = 0; at < text.n && map_count(&targets); at++) {
        if (text.p[at] == '[')
            at = judge_reference(search, at, &targets);
    }
}

/* ---- <tag onevent=...> ---- */

#define HANDLER_MIN 5 /* "oncut"; "only" and "once" are words */
#define HANDLER_MAX 32

/* One past the "=" of an event's name here; 0: it is none. */
static size_t handler_end(struct str text, size_t at)
{
    size_t n = at;

    if (!flag_begins(str_skip(text, at), "on"))
        return 0;
    while (n < text.n && n - at < HANDLER_MAX && flag_is_alpha(text.p[n]))
        n++;
    if (n - at < HANDLER_MIN)
        return 0;
    while (n < text.n && n - at < 2 * HANDLER_MAX && flag_is_space(text.p[n]))
        n++;
    return n < text.n && text.p[n] == '=' ? n + 1 : 0;
}

/* A tag ends at ">" outside of quotes, but a handler counts inside of them too: a quote that is
 * never closed must not hide one. */
struct tag {
    bool open;
    size_t start;
    char quote;
};

static void follow_tag(struct tag *tag, struct str text, size_t at)
{
    char c = text.p[at];

    if (c == '<' && at + 1 < text.n && flag_is_alpha(text.p[at + 1]) &&
        (!tag->open || !tag->quote)) {
        *tag = (struct tag){ .open = true, .start = at };
        return;
    }
    if (tag->open && at - tag->start > FLAG_LINK_MAX)
        tag->open = false;
    if (!tag->open)
        return;
    if (tag->quote)
        tag->quote = c == tag->quote ? 0 : tag->quote;
    else if ((c == '"' || c == '\'') && text.p[at - 1] == '=')
        tag->quote = c;
    else if (c == '>')
        tag->open = false;
}

void flag_handlers(struct flag_search *search)
{
    static const struct flag_rule rule = { "<tag on...=", "Markup that runs a script",
                                           MEMORY_DANGER };
    struct str text = search->text;
    struct tag tag = { .open = false };

    for (size_t at = 0; at + 1 < text.n; at++) {
        char c = text.p[at];
        size_t end;

        follow_tag(&tag, text, at);
        if (!tag.open || !(flag_is_space(c) || c == '/' || c == '"' || c == '\'' || c == '`'))
            continue;
        end = handler_end(text, at + 1);
        if (!end)
            continue;
        flag_add(search, &rule, tag.start, end);
        tag.open = false;
        at = end - 1;
    }
}

/* ---- &#105; ---- */

/* One past the ";" of a character reference here that stands for plain ASCII; 0: it is none. */
static size_t entity_end(struct str text, size_t at)
{
    bool hex = at + 2 < text.n && flag_lower(text.p[at + 2]) == 'x';
    size_t i = at + 2 + hex;
    unsigned code = 0, digits = 0;

    for (; i < text.n && digits < 10; i++, digits++) {
        char c = flag_lower(text.p[i]);

        if (!flag_is_digit(c) && !(hex && c >= 'a' && c <= 'f'))
            break;
        code = code * (hex ? 16 : 10) + (unsigned)(flag_is_digit(c) ? c - '0' : c - 'a' + 10);
        code = code > 0x10FFFF ? 0x110000 : code;
    }
    if (!digits || !(flag_is_alpha((char)code) || flag_is_digit((char)code) || code == ':') ||
        code >= 0x80)
        return 0;
    return i < text.n && text.p[i] == ';' ? i + 1 : i;
}

void flag_entities(struct flag_search *search)
{
    static const struct flag_rule rule = { "&#...;", "Letters written as character references",
                                           MEMORY_WARNING };
    struct str text = search->text;

    for (size_t at = 0; at + 2 < text.n; at++) {
        size_t start = at, end;

        while (at + 2 < text.n && text.p[at] == '&' && text.p[at + 1] == '#' &&
               (end = entity_end(text, at)))
            at = end;
        if (at > start)
            flag_add(search, &rule, start, at--);
    }
}
