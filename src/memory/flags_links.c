/* Links that lead elsewhere than they say, or run something.
 *
 * SPDX-License-Identifier: MIT
 */
#include "memory/flags_int.h"

/* ---- where to ---- */

/* The host that an address or something that looks like one names; empty: it is none. */
static struct str host_of(struct str text)
{
    size_t n = flag_scheme(text), end = 0, dot = 0;
    bool named = n > 0;

    text = str_skip(text, n);
    if (!named && flag_begins(text, "//"))
        text = str_skip(text, 2);
    for (; end < text.n && flag_is_domain(text.p[end]); end++) {
        if (text.p[end] == '.')
            dot = end;
    }
    if (end < text.n && text.p[end] == '@') /* user@host */
        return host_of(str_skip(text, end + 1));
    if (!named && (!dot || end - dot < 3 || (end < text.n && !strchr("/:?#", text.p[end]))))
        return STR_NONE;
    text = str_take(text, end);
    return flag_begins(text, "www.") ? str_skip(text, 4) : text;
}

/* The host that a browser goes to: all between the user and the port, whatever its letters. */
static struct str target_host(struct str target)
{
    size_t n = flag_scheme(target), end = 0;
    ptrdiff_t at;

    n = !n && flag_begins(target, "//") ? 2 : n;
    if (!n)
        return host_of(target);
    target = str_skip(target, n);
    while (end < target.n && !strchr("/?#\\", target.p[end]))
        end++;
    target = str_take(target, end);
    while ((at = str_find_char(target, '@')) >= 0)
        target = str_skip(target, (size_t)at + 1);
    at = target.n && target.p[0] != '[' ? str_find_char(target, ':') : -1;
    if (at >= 0)
        target = str_take(target, (size_t)at);
    return flag_begins(target, "www.") ? str_skip(target, 4) : target;
}

static bool is_letters(struct str text)
{
    for (size_t i = 0; i < text.n; i++) {
        if (!flag_is_alpha(text.p[i]))
            return false;
    }
    return text.n > 1;
}

/* "notes.md" is a file's name before it is a host's. */
static bool looks_like_host(struct str host)
{
    static const char *const files[] = { "md",  "txt",  "py",  "sh", "js", "ts",   "json", "yaml",
                                         "pdf", "html", "csv", "rs", "go", "toml", NULL };
    ptrdiff_t dot = -1;

    for (size_t i = 0; i < host.n; i++) {
        if (host.p[i] == '.')
            dot = (ptrdiff_t)i;
    }
    host = str_skip(host, (size_t)(dot + 1));
    for (const char *const *p = files; *p; p++) {
        if (str_eq_nocase(host, str_from(*p)))
            return false;
    }
    return is_letters(host);
}

/* What stands around the words of a link's text: blanks, emphasis, brackets, tags. */
static bool parts_words(struct str text)
{
    return flag_space(text) || strchr("*_~`[]<>()\"'!,;", text.p[0]) != NULL;
}

static bool names_other(struct str word, struct str meant)
{
    struct str said = host_of(word);

    return said.n && (flag_scheme(word) || looks_like_host(said)) && !str_eq_nocase(said, meant);
}

bool flag_misleads(struct str label, struct str target)
{
    struct str meant = target_host(str_trim(target));

    while (label.n) {
        size_t n = 0;

        while (n < label.n && !parts_words(str_skip(label, n)))
            n++;
        if (n && names_other(str_take(label, n), meant))
            return true;
        label = str_skip(label, n ? n : 1);
    }
    return false;
}

const struct flag_rule flag_link_rule = { "\\[text\\](target)", "Link text and target differ",
                                          MEMORY_DANGER };
static const struct flag_rule script_link_rule = { "\\[text\\](script:)",
                                                   "Link that runs a script or carries data",
                                                   MEMORY_DANGER };
static const struct flag_rule image_rule = { "!\\[text\\](https?:)",
                                             "Image that is loaded from elsewhere when shown",
                                             MEMORY_WARNING };

/* The next place of a character. Places only move on, so all searches together go once through the
 * text. */
struct seek {
    char c;
    size_t at;
};

static size_t seek_from(struct seek *seek, struct str text, size_t from)
{
    const char *found;

    if (seek->at >= from && seek->at < text.n && text.p[seek->at] == seek->c)
        return seek->at;
    if (seek->at >= text.n && text.n >= from && seek->at)
        return text.n;
    found = from < text.n ? memchr(text.p + from, seek->c, text.n - from) : NULL;
    seek->at = found ? (size_t)(found - text.p) : text.n;
    return seek->at;
}

/* Where it stands in the next FLAG_LINK_MAX bytes; 0: not there. */
static size_t seek_near(struct seek *seek, struct str text, size_t from)
{
    size_t at = seek_from(seek, text, from);

    return at >= text.n || at >= from + FLAG_LINK_MAX ? 0 : at;
}

static void judge_link(struct flag_search *search, size_t start, size_t close, size_t end)
{
    struct str text = search->text;
    struct str label = str_of(text.p + start + 1, close - start - 1);
    struct str target = str_trim(str_of(text.p + close + 2, end - close - 2));
    bool image = start && text.p[start - 1] == '!';

    if (target.n && target.p[0] == '<')
        target = str_skip(target, 1);
    target = str_take(target, flag_unspaced(target));
    if (flag_begins(target, "javascript:") || flag_begins(target, "data:") ||
        flag_begins(target, "vbscript:") || flag_begins(target, "file:"))
        flag_add(search, &script_link_rule, start, end + 1);
    else if (flag_misleads(label, target))
        flag_add(search, &flag_link_rule, start, end + 1);
    if (image && flag_scheme(target))
        flag_add(search, &image_rule, start - 1, end + 1);
}

#define BRACKETS_MAX 16

/* Brackets that are open. A blank line closes all. */
struct brackets {
    size_t open[BRACKETS_MAX], n;
};

static void follow_bracket(struct brackets *brackets, struct str text, size_t at)
{
    if (text.p[at] == '\n' && at > 0 && text.p[at - 1] == '\n')
        brackets->n = 0;
    else if (text.p[at] == '[' && brackets->n < BRACKETS_MAX)
        brackets->open[brackets->n++] = at;
}

/* Brackets are looked at from the closing one: "](" is what makes a link. */
static void markdown_links(struct flag_search *search)
{
    struct str text = search->text;
    struct seek close = { .c = ')' };
    struct brackets brackets = { .n = 0 };

    for (size_t at = 0; at + 1 < text.n; at++) {
        size_t end, open;

        follow_bracket(&brackets, text, at);
        if (text.p[at] != ']' || !brackets.n)
            continue;
        open = brackets.open[--brackets.n];
        if (at - open <= FLAG_LINK_MAX && text.p[at + 1] == '(' &&
            (end = seek_near(&close, text, at + 2))) {
            judge_link(search, open, at, end);
            at = end;
        }
    }
}

/* What href names in the text of a tag; empty: nothing. */
static struct str href_of(struct str tag)
{
    ptrdiff_t end;

    while (tag.n && !(flag_is_space(tag.p[0]) && flag_begins(str_skip(tag, 1), "href")))
        tag = str_skip(tag, 1);
    tag = str_skip(tag, 5);
    while (tag.n && (flag_is_space(tag.p[0]) || tag.p[0] == '='))
        tag = str_skip(tag, 1);
    if (!tag.n || (tag.p[0] != '"' && tag.p[0] != '\''))
        return str_take(tag, flag_unspaced(tag));
    end = str_find_char(str_skip(tag, 1), tag.p[0]);
    return end < 0 ? STR_NONE : str_of(tag.p + 1, (size_t)end);
}

/* One past the ">" that ends the tag, outside of quotes; 0: it is not near. */
static size_t tag_end(struct str text, size_t at)
{
    char quote = 0;

    for (size_t i = at; i < text.n && i - at < FLAG_LINK_MAX; i++) {
        char c = text.p[i];

        if (quote)
            quote = c == quote ? 0 : quote;
        else if (c == '"' || c == '\'')
            quote = c;
        else if (c == '>')
            return i + 1;
        else if (c == '<' && i > at)
            return 0;
    }
    return 0;
}

/* Where "</a" begins, or the text that is near ends. */
static size_t label_end(struct str text, size_t from)
{
    struct str near = str_take(str_skip(text, from), FLAG_LINK_MAX);

    for (size_t i = 0; i < near.n; i++) {
        if (near.p[i] == '<' &&
            (flag_begins(str_skip(near, i), "</a") || flag_begins(str_skip(near, i), "<a ")))
            return from + i;
    }
    return from + near.n;
}

/* <a href="target">text</a> */
static void html_links(struct flag_search *search)
{
    struct str text = search->text;

    for (size_t at = 0; at + 9 < text.n; at++) {
        struct str target;
        size_t tag, end;

        if (text.p[at] != '<' || flag_lower(text.p[at + 1]) != 'a' ||
            !(flag_is_space(text.p[at + 2]) || text.p[at + 2] == '/') || !(tag = tag_end(text, at)))
            continue;
        target = href_of(str_of(text.p + at, tag - 1 - at));
        if (target.n) {
            end = label_end(text, tag);
            if (flag_misleads(str_of(text.p + tag, end - tag), target))
                flag_add(search, &flag_link_rule, at, end);
        }
        at = tag - 1;
    }
}

void flag_links(struct flag_search *search)
{
    markdown_links(search);
    html_links(search);
}
