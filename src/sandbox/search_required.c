/* A text that every match of a regular expression must hold.
 *
 * Only what stands at the top level and is plain is looked at: groups, sets and classes end a run
 * of characters, and whatever can't be judged at a glance (options, verbs, quoting, alternatives)
 * gives up. That is enough for most expressions that people write, and never wrong.
 *
 * SPDX-License-Identifier: MIT
 */
#include <ctype.h>

#include "sandbox/search_pattern.h"

struct scan {
    struct str re;
    size_t at;
    bool nocase;
    char run[PATTERN_MAX], best[PATTERN_MAX];
    size_t run_n, best_n;
};

static void end_run(struct scan *s)
{
    if (s->run_n > s->best_n) {
        memcpy(s->best, s->run, s->run_n);
        s->best_n = s->run_n;
    }
    s->run_n = 0;
}

/* The last character may be absent: a whole code point goes. */
static void drop_last(struct scan *s)
{
    while (s->run_n && ((unsigned char)s->run[s->run_n - 1] & 0xC0) == 0x80)
        s->run_n--;
    s->run_n -= s->run_n > 0;
}

static void add(struct scan *s, char c)
{
    /* Letters that have a third form outside ASCII (the Kelvin sign, the long s), and all beyond
     * it, are not compared byte by byte without regard to case. */
    if (s->nocase && (strchr("kKsS", c) || (unsigned char)c >= 0x80)) {
        end_run(s);
        return;
    }
    s->run[s->run_n++] = c;
}

/* Past the set that begins at s->at; false when it has no end. */
static bool skip_set(struct scan *s)
{
    size_t at = s->at + 1;

    at += at < s->re.n && s->re.p[at] == '^';
    at += at < s->re.n && s->re.p[at] == ']';
    for (; at < s->re.n && s->re.p[at] != ']'; at++) {
        if (s->re.p[at] == '[' && at + 1 < s->re.n && strchr(":.=", s->re.p[at + 1]))
            return false;
        if (s->re.p[at] == '\\' && at + 1 < s->re.n && isalnum((unsigned char)s->re.p[++at]) &&
            !strchr("dDwWsSntrfvhHb", s->re.p[at]))
            return false;
    }
    s->at = at + 1;
    return at < s->re.n;
}

static bool skip_group(struct scan *s)
{
    size_t depth = 0;

    while (s->at < s->re.n) {
        char c = s->re.p[s->at];

        if (c == '[') {
            if (!skip_set(s))
                return false;
            continue;
        }
        if (c == '\\') {
            s->at += 2;
            if (s->at <= s->re.n && strchr("QE", s->re.p[s->at - 1]))
                return false;
            continue;
        }
        depth += c == '(';
        s->at++;
        if (c == ')' && --depth == 0)
            return true;
    }
    return false;
}

/* Escapes: true when s->at is past one that can be judged. */
static bool skip_escape(struct scan *s)
{
    char c = s->at + 1 < s->re.n ? s->re.p[s->at + 1] : '\0';

    s->at += 2;
    if (c && !isalnum((unsigned char)c) && (unsigned char)c < 0x80) {
        add(s, c);
        return true;
    }
    end_run(s);
    return c && strchr("dDwWsSbBntrfvhH", c);
}

static void skip_braces(struct scan *s)
{
    while (s->at < s->re.n && s->re.p[s->at] != '}')
        s->at++;
    s->at++;
}

/* One piece of the expression; false gives up. */
static bool step(struct scan *s)
{
    char c = s->re.p[s->at];

    switch (c) {
    case '|':
    case ')':
    case '\0':
        return false;
    case '\\':
        return skip_escape(s);
    case '[':
        end_run(s);
        return skip_set(s);
    case '(':
        end_run(s);
        return skip_group(s);
    case '?':
    case '*':
    case '{':
        drop_last(s);
        end_run(s);
        break;
    case '+':
    case '.':
    case '^':
    case '$':
        end_run(s);
        break;
    default:
        add(s, c);
    }
    s->at++;
    if (c == '{')
        skip_braces(s);
    return true;
}

/* Options and verbs change what follows; only plain groups are taken. */
static bool has_options(struct str re)
{
    for (size_t i = 0; i + 1 < re.n; i++)
        if (re.p[i] == '(' &&
            (re.p[i + 1] == '*' || (re.p[i + 1] == '?' && (i + 2 >= re.n || re.p[i + 2] != ':'))))
            return true;
    return false;
}

size_t pattern_required(struct str regex, bool ignore_case, char *out)
{
    struct scan s = { .re = regex, .nocase = ignore_case };

    if (regex.n == 0 || regex.n > PATTERN_MAX || has_options(regex))
        return 0;
    while (s.at < regex.n)
        if (!step(&s))
            return 0;
    end_run(&s);
    memcpy(out, s.best, s.best_n);
    return s.best_n;
}

size_t pattern_branches(struct str regex, struct str *ret_branches, size_t max)
{
    struct scan s = { .re = regex };
    size_t n = 0, from = 0;

    if (regex.n > PATTERN_MAX || has_options(regex))
        return 0;
    while (s.at < regex.n) {
        if (regex.p[s.at] != '|') {
            if (!step(&s))
                return 0;
            continue;
        }
        if (n + 1 >= max)
            return 0;
        ret_branches[n++] = str_of(regex.p + from, s.at - from);
        from = ++s.at;
    }
    ret_branches[n++] = str_skip(regex, from);
    return n;
}
