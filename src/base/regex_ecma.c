/* ECMA-262 patterns are translated to PCRE2's dialect piece by piece, and checked on the way: what
 * PCRE2 would understand differently (\a, \Z, inline flags, possessive quantifiers) is refused,
 * what it spells differently (\s, '.', \cX, \u escapes, property names, empty classes) is
 * rewritten.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/alloc.h"
#include "base/regex_int.h"
#include "base/utf8.h"

#define GROUPS_MAX 200 /* nesting */

/* White space and line terminators of ECMA-262, for use inside a class. */
#define SPACES                                                                                     \
    "\\x09-\\x0d\\x20\\xa0\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}"                 \
    "\\x{205f}\\x{3000}\\x{feff}"
/* What is not one of them. */
#define NOT_SPACES                                                                                 \
    "\\x00-\\x08\\x0e-\\x1f\\x21-\\x9f\\xa1-\\x{167f}\\x{1681}-\\x{1fff}"                          \
    "\\x{200b}-\\x{2027}\\x{202a}-\\x{202e}\\x{2030}-\\x{205e}\\x{2060}-\\x{2fff}"                 \
    "\\x{3001}-\\x{fefe}\\x{ff00}-\\x{10ffff}"

/* \D and \W, spelt out: in a negated class with \p PCRE2 forgets that they hold beyond U+00FF. */
#define NOT_DIGITS "\\x00-\\x2f\\x3a-\\x{10ffff}"
#define NOT_WORD   "\\x00-\\x2f\\x3a-\\x40\\x5b-\\x5e\\x60\\x7b-\\x{10ffff}"

struct translator {
    struct str pattern;
    size_t at;
    unsigned depth;
    bool behind[GROUPS_MAX]; /* of the open groups: it is a look-behind */
    struct buf *out;
    struct err *err;
};

static int fail(struct translator *x, size_t at, const char *what)
{
    return err_set(x->err, ERR_BAD_REQUEST, "regular expression \"%.*s\": %s at position %zu",
                   (int)(x->pattern.n < 200 ? x->pattern.n : 200), x->pattern.p, what, at + 1);
}

/* The byte at position at + i, or NUL past the end. */
static char peek(const struct translator *x, size_t i)
{
    return x->at + i < x->pattern.n ? x->pattern.p[x->at + i] : '\0';
}

static bool at_end(const struct translator *x)
{
    return x->at >= x->pattern.n;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
}

static void add_code_point(struct translator *x, uint32_t c)
{
    buf_printf(x->out, "\\x{%x}", c);
}

/* n hexadecimal digits; -1 when there are fewer. */
static int32_t read_hex(struct translator *x, int n)
{
    int32_t value = 0;

    for (int i = 0; i < n; i++) {
        int digit = hex_digit(peek(x, (size_t)i));

        if (digit < 0)
            return -1;
        value = value << 4 | digit;
    }
    x->at += (size_t)n;
    return value;
}

/* After "\u": XXXX, a surrogate pair, or {X...}. */
static int32_t read_unicode(struct translator *x)
{
    int32_t c, low;
    size_t back;

    if (peek(x, 0) == '{') {
        c = 0;
        for (x->at++; hex_digit(peek(x, 0)) >= 0; x->at++)
            if ((c = c << 4 | hex_digit(peek(x, 0))) > 0x10ffff)
                return -1;
        if (peek(x, 0) != '}' || x->pattern.p[x->at - 1] == '{')
            return -1;
        x->at++;
        return c;
    }
    c = read_hex(x, 4);
    if (c < 0xd800 || c > 0xdbff || peek(x, 0) != '\\' || peek(x, 1) != 'u')
        return c;
    back = x->at;
    x->at += 2;
    low = read_hex(x, 4);
    if (low >= 0xdc00 && low <= 0xdfff)
        return 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
    x->at = back;
    return c;
}

/* General categories by the long names that ECMA-262 also knows. */
static const char *const categories[][2] = {
    { "Letter", "L" },
    { "Cased_Letter", "L&" },
    { "LC", "L&" },
    { "Uppercase_Letter", "Lu" },
    { "Lowercase_Letter", "Ll" },
    { "Titlecase_Letter", "Lt" },
    { "Modifier_Letter", "Lm" },
    { "Other_Letter", "Lo" },
    { "Mark", "M" },
    { "Combining_Mark", "M" },
    { "Nonspacing_Mark", "Mn" },
    { "Spacing_Mark", "Mc" },
    { "Enclosing_Mark", "Me" },
    { "Number", "N" },
    { "Decimal_Number", "Nd" },
    { "digit", "Nd" },
    { "Letter_Number", "Nl" },
    { "Other_Number", "No" },
    { "Punctuation", "P" },
    { "punct", "P" },
    { "Connector_Punctuation", "Pc" },
    { "Dash_Punctuation", "Pd" },
    { "Open_Punctuation", "Ps" },
    { "Close_Punctuation", "Pe" },
    { "Initial_Punctuation", "Pi" },
    { "Final_Punctuation", "Pf" },
    { "Other_Punctuation", "Po" },
    { "Symbol", "S" },
    { "Math_Symbol", "Sm" },
    { "Currency_Symbol", "Sc" },
    { "Modifier_Symbol", "Sk" },
    { "Other_Symbol", "So" },
    { "Separator", "Z" },
    { "Space_Separator", "Zs" },
    { "Line_Separator", "Zl" },
    { "Paragraph_Separator", "Zp" },
    { "Other", "C" },
    { "Control", "Cc" },
    { "cntrl", "Cc" },
    { "Format", "Cf" },
    { "Surrogate", "Cs" },
    { "Private_Use", "Co" },
    { "Unassigned", "Cn" },
};

static struct str short_category(struct str name)
{
    for (size_t i = 0; i < ARRAY_LEN(categories); i++)
        if (str_is(name, categories[i][0]))
            return str_from(categories[i][1]);
    return name;
}

/* After "\p" or "\P". PCRE2 has the last word on whether the name exists. */
static int property(struct translator *x, char which)
{
    size_t start = x->at;
    struct str name;
    ptrdiff_t equals;

    if (peek(x, 0) != '{')
        return fail(x, start, "\\p needs a name in braces");
    while (!at_end(x) && peek(x, 0) != '}')
        x->at++;
    if (at_end(x))
        return fail(x, start, "\\p needs a name in braces");
    name = str_of(x->pattern.p + start + 1, x->at - start - 1);
    x->at++;
    for (size_t i = 0; i < name.n; i++)
        if (!is_letter(name.p[i]) && !is_digit(name.p[i]) && name.p[i] != '_' && name.p[i] != '=')
            return fail(x, start, "bad property name");
    equals = str_find_char(name, '=');
    if (equals >= 0) {
        struct str key = str_take(name, (size_t)equals);

        name = str_skip(name, (size_t)equals + 1);
        if (str_is(key, "Script") || str_is(key, "sc"))
            return buf_printf(x->out, "\\%c{sc:%.*s}", which, STR_ARG(name));
        if (str_is(key, "Script_Extensions") || str_is(key, "scx"))
            return buf_printf(x->out, "\\%c{scx:%.*s}", which, STR_ARG(name));
        if (!str_is(key, "General_Category") && !str_is(key, "gc"))
            return fail(x, start, "unknown kind of property");
    }
    return buf_printf(x->out, "\\%c{%.*s}", which, STR_ARG(short_category(name)));
}

/* Escapes that mean one character, after the backslash. 1: *ret_c is it, 0: not such an escape. */
static int character_escape(struct translator *x, bool in_class, uint32_t *ret_c)
{
    static const char names[] = "fnrtv", values[] = "\f\n\r\t\v";
    size_t start = x->at;
    char c = peek(x, 0);
    const char *name = c ? strchr(names, c) : NULL;
    int32_t value;

    x->at++;
    if (name) {
        *ret_c = (uint32_t)values[name - names];
    } else if (c == 'b' && in_class) {
        *ret_c = '\b';
    } else if (c == '-' && in_class) {
        *ret_c = '-';
    } else if (c == '0' && !is_digit(peek(x, 0))) {
        *ret_c = 0;
    } else if (c == 'c') {
        if (!is_letter(peek(x, 0)))
            return fail(x, start, "\\c needs a letter");
        *ret_c = (uint32_t)(peek(x, 0) & 0x1f);
        x->at++;
    } else if (c == 'x' || c == 'u') {
        value = c == 'x' ? read_hex(x, 2) : read_unicode(x);
        if (value < 0)
            return fail(x, start, "malformed hexadecimal escape");
        *ret_c = (uint32_t)value;
    } else if (c > 0x20 && c < 0x7f && !is_letter(c) && !is_digit(c)) {
        *ret_c = (uint32_t)c; /* punctuation stands for itself */
    } else {
        x->at = start;
        return 0;
    }
    return 1;
}

/* A lone surrogate matches nothing: text holds none. */
static bool is_surrogate(uint32_t c)
{
    return c >= 0xd800 && c <= 0xdfff;
}

/* ---- character classes ---- */

/* \d \D \w \W \s \S \p \P in a class; 1: done, 0: something else. After the backslash. */
static int class_set(struct translator *x)
{
    char c = peek(x, 0);

    switch (c) {
    case 'd':
    case 'w':
        x->at++;
        buf_printf(x->out, "\\%c", c);
        return 1;
    case 'D':
    case 'W':
        x->at++;
        buf_add_text(x->out, c == 'D' ? NOT_DIGITS : NOT_WORD);
        return 1;
    case 's':
    case 'S':
        x->at++;
        buf_add_text(x->out, c == 's' ? SPACES : NOT_SPACES);
        return 1;
    case 'p':
    case 'P':
        x->at++;
        return property(x, c) < 0 ? -1 : 1;
    default:
        return 0;
    }
}

/* One member of a class. 1: a character, 2: a set (written already), -1: error. */
static int class_atom(struct translator *x, uint32_t *ret_c)
{
    struct str rest;
    int r;

    if (peek(x, 0) == '\\') {
        size_t start = x->at++;

        r = class_set(x);
        if (r != 0)
            return r < 0 ? -1 : 2;
        r = character_escape(x, true, ret_c);
        return r == 0 ? fail(x, start, "unknown escape") : r;
    }
    rest = str_skip(x->pattern, x->at);
    if (utf8_decode(&rest, ret_c) < 0)
        return fail(x, x->at, "invalid UTF-8");
    x->at = x->pattern.n - rest.n;
    return 1;
}

/* a or a-b; PCRE2 has no surrogates, so a range is cut around them. */
static int add_range(struct translator *x, size_t start, uint32_t low, uint32_t high)
{
    if (low > high)
        return fail(x, start, "range out of order");
    if (is_surrogate(low))
        low = 0xe000;
    if (is_surrogate(high))
        high = 0xd7ff;
    if (low > high)
        return 0;
    add_code_point(x, low);
    if (high > low) {
        buf_add_char(x->out, '-');
        add_code_point(x, high);
    }
    return 0;
}

static int class_member(struct translator *x)
{
    size_t start = x->at;
    uint32_t low, high;
    int r = class_atom(x, &low);

    if (r < 0)
        return -1;
    if (peek(x, 0) != '-' || peek(x, 1) == ']' || x->at + 1 >= x->pattern.n)
        return r == 1 ? add_range(x, start, low, low) : 0;
    if (r == 2)
        return fail(x, start, "a range needs characters at both ends");
    x->at++;
    r = class_atom(x, &high);
    if (r == 2)
        return fail(x, start, "a range needs characters at both ends");
    return r < 0 ? -1 : add_range(x, start, low, high);
}

static int class(struct translator *x)
{
    size_t start = x->at++, before;
    bool negated = peek(x, 0) == '^';

    if (negated)
        x->at++;
    before = x->out->n;
    buf_add_text(x->out, negated ? "[^" : "[");
    while (!at_end(x) && peek(x, 0) != ']')
        if (class_member(x) < 0)
            return -1;
    if (at_end(x))
        return fail(x, start, "'[' is not closed");
    x->at++;
    if (x->out->n == before + (negated ? 2 : 1)) {
        x->out->n = before;
        buf_add_text(x->out, negated ? "[\\x00-\\x{10ffff}]" : "(?!)");
        return 0;
    }
    buf_add_char(x->out, ']');
    return 0;
}

/* ---- the rest ---- */

static int group_name(struct translator *x, const char *before, const char *after)
{
    size_t start = x->at;

    while (is_letter(peek(x, 0)) || peek(x, 0) == '_' || peek(x, 0) == '$' ||
           (x->at > start && is_digit(peek(x, 0))))
        x->at++;
    if (x->at == start || peek(x, 0) != '>')
        return fail(x, start, "malformed group name");
    buf_add_text(x->out, before);
    for (size_t i = start; i < x->at; i++)
        buf_add_char(x->out, x->pattern.p[i] == '$' ? '_' : x->pattern.p[i]);
    buf_add_text(x->out, after);
    x->at++;
    return 0;
}

/* Outside a class, at the backslash. */
static int escape(struct translator *x)
{
    size_t start = x->at++;
    char c = peek(x, 0);
    uint32_t value = 0;
    int r;

    if (c && strchr("dDwWsSpP", c)) {
        buf_add_char(x->out, '[');
        return class_set(x) < 0 ? -1 : buf_add_char(x->out, ']');
    }
    if (c == 'b' || c == 'B') {
        x->at++;
        return buf_printf(x->out, "\\%c", c);
    }
    if (c >= '1' && c <= '9') {
        buf_add_text(x->out, "\\g{");
        while (is_digit(peek(x, 0)))
            buf_add_char(x->out, x->pattern.p[x->at++]);
        return buf_add_text(x->out, "}");
    }
    if (c == 'k' && peek(x, 1) == '<') {
        x->at += 2;
        return group_name(x, "\\k{", "}");
    }
    r = character_escape(x, false, &value);
    if (r < 0)
        return -1;
    if (r == 0)
        return fail(x, start, "unknown escape");
    if (is_surrogate(value))
        buf_add_text(x->out, "(?!)");
    else
        add_code_point(x, value);
    return 0;
}

/* At '('. */
static int open_group(struct translator *x)
{
    static const char *const kinds[] = { "?:", "?=", "?!", "?<=", "?<!" };

    if (x->depth == GROUPS_MAX)
        return fail(x, x->at, "groups nested too deeply");
    x->at++;
    x->behind[x->depth++] =
        peek(x, 0) == '?' && peek(x, 1) == '<' && (peek(x, 2) == '=' || peek(x, 2) == '!');
    if (peek(x, 0) != '?')
        return buf_add_char(x->out, '(');
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        if (str_starts(str_skip(x->pattern, x->at), str_from(kinds[i]))) {
            x->at += strlen(kinds[i]);
            return buf_printf(x->out, "(%s", kinds[i]);
        }
    }
    if (peek(x, 1) != '<')
        return fail(x, x->at, "unknown kind of group");
    x->at += 2;
    return group_name(x, "(?<", ">");
}

/* The length of {n}, {n,} or {n,m} at the current place, or 0. */
static size_t braces_length(const struct translator *x)
{
    size_t i = 1;

    if (peek(x, 0) != '{' || !is_digit(peek(x, 1)))
        return 0;
    while (is_digit(peek(x, i)))
        i++;
    if (peek(x, i) == ',')
        for (i++; is_digit(peek(x, i)); i++)
            ;
    return peek(x, i) == '}' ? i + 1 : 0;
}

/* A quantifier at the current place, copied. 1: there was one. */
static int quantifier(struct translator *x, bool allowed)
{
    size_t n = braces_length(x);
    char c = peek(x, 0);

    if (n == 0 && c != '*' && c != '+' && c != '?')
        return 0;
    if (at_end(x))
        return 0;
    if (!allowed)
        return fail(x, x->at, "nothing to repeat");
    n = n ? n : 1;
    buf_add(x->out, x->pattern.p + x->at, n);
    x->at += n;
    if (peek(x, 0) == '?') {
        buf_add_char(x->out, '?');
        x->at++;
    }
    return 1;
}

static int literal(struct translator *x)
{
    uint32_t c = 0;
    int r = class_atom(x, &c);

    if (r < 0)
        return -1;
    add_code_point(x, c);
    return 0;
}

/* One piece; *repeatable says whether a quantifier may follow. */
static int piece(struct translator *x, bool *repeatable)
{
    char c = peek(x, 0);

    *repeatable = true;
    switch (c) {
    case '\\':
        *repeatable = peek(x, 1) != 'b' && peek(x, 1) != 'B';
        return escape(x);
    case '[':
        return class(x);
    case '(':
        *repeatable = false;
        return open_group(x);
    case ')':
        if (x->depth == 0)
            return fail(x, x->at, "')' without '('");
        *repeatable = !x->behind[--x->depth];
        x->at++;
        return buf_add_char(x->out, ')');
    case '|':
    case '^':
    case '$':
        *repeatable = false;
        x->at++;
        return buf_add_char(x->out, c);
    case '.':
        x->at++;
        return buf_add_text(x->out, "[^\\n\\r\\x{2028}\\x{2029}]");
    default:
        return literal(x);
    }
}

static int translate(struct translator *x)
{
    bool repeatable = false;

    while (!at_end(x)) {
        int r = quantifier(x, repeatable);

        if (r < 0)
            return -1;
        if (r > 0)
            repeatable = false;
        else if (piece(x, &repeatable) < 0)
            return x->out->full ? fail(x, x->at, "too long") : -1;
    }
    if (x->depth > 0)
        return fail(x, x->at, "'(' is not closed");
    return x->out->full ? fail(x, x->at, "too long") : 0;
}

int regex_translate(struct str pattern, struct buf *out, struct err *err)
{
    struct translator x = { .pattern = pattern, .out = out, .err = err };

    return translate(&x);
}
