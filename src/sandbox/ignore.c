/* Parsing and asking ignore rules.
 *
 * Most rules are a plain name or a suffix (`*.o`); these are compared without the pattern matcher.
 *
 * SPDX-License-Identifier: MIT
 */
#include "sandbox/ignore.h"

#include <stdlib.h>

#include "sandbox/glob.h"

enum rule_kind {
    RULE_NAME,    /* the last name, literally */
    RULE_SUFFIX,  /* the last name ends so */
    RULE_LAST,    /* a pattern for the last name */
    RULE_LITERAL, /* the whole path, literally */
    RULE_PATH,    /* a pattern for the whole path */
};

struct rule {
    enum rule_kind kind;
    bool negated, dir_only;
    struct str text; /* view of struct ignore's copy */
};

struct ignore {
    char *text;
    struct rule *rules;
    size_t n, cap;
};

static bool is_escaped(struct str line, size_t at)
{
    size_t slashes = 0;

    while (at > slashes && line.p[at - 1 - slashes] == '\\')
        slashes++;
    return slashes % 2;
}

/* Blanks at the end count only behind a backslash. */
static struct str trim_end(struct str line)
{
    while (line.n && line.p[line.n - 1] == ' ' && !is_escaped(line, line.n - 1))
        line.n--;
    return line;
}

static enum rule_kind kind_of(struct str *text, bool anchored)
{
    if (anchored)
        return glob_is_pattern(*text) ? RULE_PATH : RULE_LITERAL;
    if (!glob_is_pattern(*text))
        return RULE_NAME;
    if (text->n > 1 && text->p[0] == '*' && !glob_is_pattern(str_skip(*text, 1))) {
        *text = str_skip(*text, 1);
        return RULE_SUFFIX;
    }
    return RULE_LAST;
}

/* False when the line is no rule. */
static bool parse_rule(struct str line, struct rule *ret_rule)
{
    bool anchored;

    *ret_rule = (struct rule){ .kind = RULE_NAME };
    if (line.n && line.p[line.n - 1] == '\r')
        line.n--;
    if (line.n == 0 || line.p[0] == '#')
        return false;
    line = trim_end(line);
    if (line.n && line.p[0] == '!') {
        ret_rule->negated = true;
        line = str_skip(line, 1);
    }
    if (line.n && line.p[line.n - 1] == '/') {
        ret_rule->dir_only = true;
        line.n--;
    }
    anchored = line.n && memchr(line.p, '/', line.n);
    if (line.n && line.p[0] == '/')
        line = str_skip(line, 1);
    if (line.n == 0)
        return false;
    ret_rule->kind = kind_of(&line, anchored);
    ret_rule->text = line;
    return true;
}

struct ignore *ignore_parse(struct str text)
{
    struct ignore *ignore = NEW(struct ignore);
    struct str rest, line;
    struct rule rule;

    if (str_starts(text, STR("\xEF\xBB\xBF")))
        text = str_skip(text, 3);
    ignore->text = alloc_copy(text.p ? text.p : "", text.n);
    rest = str_of(ignore->text, text.n);
    while (ignore->n < IGNORE_RULES_MAX && str_split(&rest, '\n', &line)) {
        if (memchr(line.p, '\0', line.n) || !parse_rule(line, &rule))
            continue;
        if (ignore->n == ignore->cap) {
            ignore->cap = ignore->cap ? 2 * ignore->cap : 16;
            ignore->rules = alloc_resize(ignore->rules, ignore->cap, sizeof(rule));
        }
        ignore->rules[ignore->n++] = rule;
    }
    return ignore;
}

void ignore_free(struct ignore *ignore)
{
    if (!ignore)
        return;
    free(ignore->rules);
    free(ignore->text);
    free(ignore);
}

size_t ignore_count(const struct ignore *ignore)
{
    return ignore->n;
}

static bool rule_matches(const struct rule *rule, struct str path, struct str name)
{
    switch (rule->kind) {
    case RULE_NAME:
        return str_eq(name, rule->text);
    case RULE_SUFFIX:
        return str_ends(name, rule->text);
    case RULE_LAST:
        return glob_match(rule->text, name);
    case RULE_LITERAL:
        return str_eq(path, rule->text);
    case RULE_PATH:
        return glob_match(rule->text, path);
    }
    return false;
}

enum ignore_verdict ignore_match(const struct ignore *ignore, struct str path, bool is_dir)
{
    const char *slash = path.n ? memrchr(path.p, '/', path.n) : NULL;
    struct str name = slash ? str_skip(path, (size_t)(slash - path.p) + 1) : path;

    for (size_t i = ignore->n; i-- > 0;) {
        const struct rule *rule = &ignore->rules[i];

        if ((!rule->dir_only || is_dir) && rule_matches(rule, path, name))
            return rule->negated ? IGNORE_NO : IGNORE_YES;
    }
    return IGNORE_NONE;
}
