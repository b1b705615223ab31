/* Whether what stands under a telling name, or after Bearer or Basic, is a secret, by how it
 * looks: null, a type's name, ${VARIABLE}, a call and the like are none.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/alloc.h"
#include "base/redact_int.h"

bool redact_is_done(struct str s)
{
    return str_starts(s, STR(REDACT_MARK));
}

bool redact_has_mark(struct str s)
{
    return str_find(s, STR(REDACT_MARK)) >= 0;
}

static bool is_identifier(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (!(redact_is_word(s.p[i]) && s.p[i] != '-') && s.p[i] != '.')
            return false;
    return s.n > 0 && !redact_is_digit(s.p[0]);
}

static bool is_harmless_word(struct str value)
{
    static const char *const words[] = { "null",      "none",   "nil",      "true",     "false",
                                         "undefined", "string", "str",      "text",     "bool",
                                         "boolean",   "number", "int",      "integer",  "object",
                                         "any",       "bytes",  "required", "optional", "dict",
                                         "list",      "map",    "array",    "char",     "const",
                                         "float",     "double" };
    ptrdiff_t bracket = str_find_char(value, '[');

    if (bracket > 0) /* list[str] */
        value = str_take(value, (size_t)bracket);

    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (str_eq_nocase(value, str_from(words[i])))
            return true;
    return false;
}

bool redact_is_placeholder(struct str value)
{
    size_t i = 1;

    if (str_starts(value, STR("$(")) || str_starts(value, STR("{{")) ||
        (str_starts(value, STR("${")) && str_find_char(value, '}') == (ptrdiff_t)value.n - 1) ||
        str_is(value, "%s") || str_is(value, "{}") || str_is(value, "{"))
        return true;
    if (value.p[0] == '*') {
        while (i < value.n && value.p[i] == '*')
            i++;
        return i == value.n;
    }
    while (i < value.n && (value.p[i] == '_' || redact_is_digit(value.p[i]) ||
                           (value.p[i] >= 'A' && value.p[i] <= 'Z')))
        i++;
    return value.p[0] == '$' && value.n > 1 && i == value.n;
}

/* `password=password`, `token: args.token`, `secret = load(`: code that passes it on. */
static bool is_code(struct str value)
{
    ptrdiff_t call = str_find_char(value, '(');
    ptrdiff_t dot = -1;

    if (call >= 0)
        return call == 0 || is_identifier(str_take(value, (size_t)call));
    for (size_t i = 0; i < value.n; i++)
        if (value.p[i] == '.')
            dot = (ptrdiff_t)i;
    return is_identifier(value) && redact_key(str_skip(value, (size_t)(dot + 1)));
}

/* "token" is also a word of compilers and machines: its value must look the part. */
static bool is_token_like(struct str value, bool quoted)
{
    bool digit = false, letter = false;

    for (size_t i = 0; i < value.n; i++) {
        digit |= redact_is_digit(value.p[i]);
        letter |= redact_is_word(value.p[i]) && !redact_is_digit(value.p[i]);
    }
    if (!quoted && !digit && is_identifier(value))
        return false;
    if (value.n >= 20)
        return true;
    return value.n >= 6 && (digit ? letter || value.n > 6 : quoted && value.n >= 8);
}

static bool is_weak_name(struct str word)
{
    while (word.n && (word.p[0] == '-' || word.p[0] == '_'))
        word = str_skip(word, 1);
    return str_eq_nocase(word, STR("token"));
}

bool redact_is_small_number(struct str value)
{
    for (size_t i = 0; i < value.n; i++)
        if (!redact_is_digit(value.p[i]))
            return false;
    return value.n <= 2;
}

bool redact_is_secret_value(struct str word, struct str value, bool quoted)
{
    if (value.n == 0 || redact_is_done(value))
        return false;
    if (value.n > REDACT_PLAIN_MAX)
        return true;
    if (!quoted && (value.p[0] == '{' || value.p[0] == '['))
        return false; /* a structure, whose members are looked at by themselves */
    if (is_harmless_word(value) || redact_is_placeholder(value) || (!quoted && is_code(value)))
        return false;
    return !is_weak_name(word) || (!redact_has_mark(value) && is_token_like(value, quoted));
}

static int base64_value(char c)
{
    static const char alphabet[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *hit = c ? strchr(alphabet, c) : NULL;

    return hit ? (int)(hit - alphabet) : -1;
}

/* user:password in base64 holds a colon; "Basic authentication" does not. */
bool redact_is_basic(struct str s)
{
    unsigned bits = 0, held = 0;

    for (size_t i = 0; i < s.n && s.p[i] != '='; i++) {
        int value = base64_value(s.p[i]);

        if (value < 0)
            return false;
        bits = bits << 6 | (unsigned)value;
        held += 6;
        if (held >= 8) {
            held -= 8;
            if ((bits >> held & 0xFF) == ':')
                return s.n >= 4;
            if ((bits >> held & 0xFF) < 0x20)
                return false;
        }
    }
    return false;
}

bool redact_is_bearer(struct str s)
{
    bool digit = false;

    for (size_t i = 0; i < s.n; i++)
        digit |= redact_is_digit(s.p[i]);
    return s.n >= 20 || (s.n >= 8 && digit);
}
