/* Secrets that are known by what stands before them: a telling name and a separator, a header,
 * the word Bearer or Basic.
 *
 * How far an unquoted value reaches depends on where it stands: to the end of the line when the
 * name begins a line and a colon follows (YAML, headers), otherwise to a blank or a delimiter.
 * Values that plainly are no secrets stay, see redact_value.c.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/alloc.h"
#include "base/redact_int.h"

#define BLANKS_MAX     16
#define NAME_BYTES_MAX 64
#define BASE64_MAX     4096

static char char_at(struct str s, size_t at)
{
    return at < s.n ? s.p[at] : '\0';
}

static size_t skip_blanks(struct str s, size_t at)
{
    size_t end = at + BLANKS_MAX;

    while (at < end && (char_at(s, at) == ' ' || char_at(s, at) == '\t'))
        at++;
    return at;
}

static size_t line_end(struct str s, size_t at)
{
    while (at < s.n && s.p[at] != '\n' && s.p[at] != '\r' &&
           !(s.p[at] == '\\' && (char_at(s, at + 1) == 'n' || char_at(s, at + 1) == 'r')))
        at++;
    return at;
}

/* A quote, plain or itself escaped inside a quoted text; its length, 0 when there is none. */
static size_t quote_at(struct str s, size_t at)
{
    char c = char_at(s, at);

    if (c == '"' || c == '\'' || c == '`')
        return 1;
    if (c == '\\' && (char_at(s, at + 1) == '"' || char_at(s, at + 1) == '\''))
        return 2;
    return 0;
}

/* The quote in which the pair as a whole stands, if any: -H 'Authorization: …', ["Cookie: …", 1].
 * One after the word, as in "password": …, tells that it is the name that is quoted. */
struct opener {
    char quote;   /* '\0': none */
    bool escaped; /* \" within a quoted text */
};

struct pair {
    size_t value; /* where it begins */
    size_t end;
    size_t quote;   /* length of the opening quote, 0: none */
    char separator; /* ':', '=' or ' ' after a --flag */
    bool blank;     /* after the separator */
    struct opener opener;
};

static size_t separator_at(struct str s, size_t at, char *ret_separator)
{
    char c = char_at(s, at), next = char_at(s, at + 1);

    *ret_separator = c;
    if (c == ':' && next == '=')
        return 2;
    if (c == '=' && next == '>')
        return 2;
    if (c == '=' && (next == '=' || next == '~'))
        return 0;
    if (c == ':' && (next == ':' || next == '/'))
        return 0;
    if (c == ':' || c == '=')
        return 1;
    if (c == '%' && next == '3' && (char_at(s, at + 2) | 32) == 'd') {
        *ret_separator = '=';
        return 3;
    }
    return 0;
}

static bool pair_open(struct str rest, struct str word, struct pair *ret_pair)
{
    size_t at = word.n, n;

    if (str_starts(word, STR("--")) && char_at(rest, at) == ' ') {
        at = skip_blanks(rest, at);
        *ret_pair = (struct pair){ .separator = ' ', .quote = quote_at(rest, at), .blank = true };
        ret_pair->value = at + ret_pair->quote;
        return char_at(rest, at) != '-';
    }
    at += quote_at(rest, at);
    at += char_at(rest, at) == ']';
    at = skip_blanks(rest, at);
    n = separator_at(rest, at, &ret_pair->separator);
    if (n == 0)
        return false;
    ret_pair->value = skip_blanks(rest, at + n);
    ret_pair->blank = ret_pair->value > at + n;
    ret_pair->quote = quote_at(rest, ret_pair->value);
    ret_pair->value += ret_pair->quote;
    return true;
}

/* To the matching quote; to the end of the line when there is none. */
static size_t quoted_end(struct str rest, const struct pair *pair)
{
    char quote = rest.p[pair->value - 1];
    size_t at = pair->value;

    for (; at < rest.n && rest.p[at] != '\n'; at++) {
        if (pair->quote == 2 && rest.p[at] == '\\' && char_at(rest, at + 1) == quote)
            break;
        if (pair->quote == 1 && rest.p[at] == quote)
            break;
        if (rest.p[at] == '\\' && at + 1 < rest.n && rest.p[at + 1] != '\n')
            at++;
    }
    return at;
}

/* The lines after `password: |` that are indented at least like the first of them. */
static size_t block_end(struct str rest, size_t at)
{
    size_t indent = 0, end = at;

    while (end < rest.n && rest.p[end] == '\n') {
        size_t blanks = 0;

        while (char_at(rest, end + 1 + blanks) == ' ')
            blanks++;
        if (indent == 0)
            indent = blanks;
        if (blanks == 0 || blanks < indent)
            break;
        end = line_end(rest, end + 1);
    }
    return end;
}

static struct opener opener_of(struct str text, size_t at, struct str word)
{
    char before = at ? text.p[at - 1] : '\0';

    if ((before != '"' && before != '\'') || quote_at(str_skip(text, at), word.n))
        return (struct opener){ '\0', false };
    return (struct opener){ before, at > 1 && text.p[at - 2] == '\\' };
}

static size_t closing_at(struct str rest, size_t at, size_t end, struct opener opener)
{
    for (size_t i = at; opener.quote && i < end; i++) {
        bool escape = rest.p[i] == '\\' && i + 1 < end;

        if (rest.p[i] == opener.quote)
            return i;
        if (escape && opener.escaped && rest.p[i + 1] == opener.quote)
            return i;
        i += escape;
    }
    return end;
}

static size_t to_line_end(struct str rest, size_t at, struct opener opener)
{
    size_t end = closing_at(rest, at, line_end(rest, at), opener);
    char c = char_at(rest, at);

    if ((c == '|' || c == '>') && end - at <= 3)
        return block_end(rest, end);
    while (end > at && (rest.p[end - 1] == ' ' || rest.p[end - 1] == '\t'))
        end--;
    return end;
}

static size_t unquoted_end(struct str rest, size_t at, bool whole_line)
{
    const char *ends = whole_line ? " \t\r\n&\"'`\\" : " \t\r\n&\"'`\\,;)]}<>|";

    while (at < rest.n && (rest.p[at] == '\0' || !strchr(ends, rest.p[at])))
        at++;
    return at;
}

static size_t value_end(struct str rest, const struct pair *pair, bool line_start)
{
    if (pair->quote)
        return quoted_end(rest, pair);
    if (line_start && pair->separator == ':' && pair->blank)
        return to_line_end(rest, pair->value, pair->opener);
    return unquoted_end(rest, pair->value, line_start);
}

/* A private key as the value reaches over blanks and lines. */
static size_t pair_end(struct str rest, const struct pair *pair, bool line_start)
{
    struct str value = str_skip(rest, pair->value);
    size_t end = value_end(rest, pair, line_start), pem = 0;

    if (str_starts(value, STR("-----BEGIN ")))
        pem = pair->value + redact_pem(value).cut;
    return pem > end ? pem : end;
}

/* "A secret: never shown to …": an ordinary word within a sentence. */
static bool is_prose(struct str rest, const struct pair *pair, bool line_start)
{
    struct str after = str_skip(rest, pair->end);

    if (pair->quote || pair->separator != ':' || !pair->blank || line_start)
        return false;
    for (size_t i = pair->value; i < pair->end; i++) {
        char c = i == pair->value ? (char)(rest.p[i] | 32) : rest.p[i];

        if (c < 'a' || c > 'z')
            return false;
    }
    return after.n > 1 && after.p[0] == ' ' && (after.p[1] | 32) >= 'a' && (after.p[1] | 32) <= 'z';
}

static struct redact_hit cut(size_t from, size_t to)
{
    return to > from ? (struct redact_hit){ from, to - from } : REDACT_MISS;
}

/* Authorization: Scheme credentials. The scheme stays. */
static struct redact_hit authorization(struct str rest, struct pair pair)
{
    static const char *const schemes[] = { "Bearer",    "Basic",    "Digest",           "Token",
                                           "Negotiate", "ApiKey",   "AWS4-HMAC-SHA256", "OAuth",
                                           "SharedKey", "Signature" };
    size_t end = pair.quote ? quoted_end(rest, &pair) : to_line_end(rest, pair.value, pair.opener);
    struct str value = str_take(str_skip(rest, pair.value), end - pair.value);

    for (size_t i = 0; i < ARRAY_LEN(schemes); i++) {
        size_t n = strlen(schemes[i]);

        if (value.n > n && value.p[n] == ' ' &&
            str_eq_nocase(str_take(value, n), str_from(schemes[i]))) {
            value = str_trim(str_skip(value, n));
            break;
        }
    }
    if (value.n == 0 || redact_is_done(value) ||
        redact_is_placeholder(str_take(value, REDACT_PLAIN_MAX)) ||
        (pair.separator == '=' && !pair.quote && value.p == rest.p + pair.value))
        return REDACT_MISS; /* the last: code that assigns a header */
    return cut((size_t)(value.p - rest.p), end);
}

static struct redact_hit cookie(struct str rest, struct pair pair)
{
    if ((pair.separator == '=' && !pair.quote) ||
        str_find_char(str_take(str_skip(rest, pair.value), REDACT_PLAIN_MAX), '=') < 0)
        return REDACT_MISS;
    return cut(pair.value,
               pair.quote ? quoted_end(rest, &pair) : to_line_end(rest, pair.value, pair.opener));
}

static bool is_base64(char c)
{
    return redact_is_alnum(c) || c == '+' || c == '/' || c == '=' || c == '-' || c == '_';
}

static size_t base64_span(struct str s)
{
    size_t n = 0;

    while (n < s.n && n < BASE64_MAX && is_base64(s.p[n]))
        n++;
    return n;
}

/* "Bearer …" and "Basic …" without the header's name. */
static struct redact_hit scheme(struct str rest, struct str word)
{
    bool bearer = str_eq_nocase(word, STR("Bearer"));
    size_t at = skip_blanks(rest, word.n), n = 0;

    if (at == word.n || (!bearer && !str_eq_nocase(word, STR("Basic"))))
        return REDACT_MISS;
    if (!bearer) {
        struct str value = str_skip(rest, at);

        n = base64_span(value);
        return redact_is_basic(str_take(value, n)) ? cut(at, at + n) : REDACT_MISS;
    }
    while (at + n < rest.n &&
           (is_base64(rest.p[at + n]) || rest.p[at + n] == '.' || rest.p[at + n] == '~'))
        n++;
    return redact_is_bearer(str_take(str_skip(rest, at), n)) ? cut(at, at + n) : REDACT_MISS;
}

/* A signature in a query string opens what the URL names (Azure, AWS, Google). */
static struct redact_hit query_signature(struct str rest, struct str word, struct pair pair)
{
    static const char *const names[] = { "sig", "signature", "X-Amz-Signature", "X-Amz-Credential",
                                         "X-Amz-Security-Token" };
    size_t end;

    if (pair.separator != '=' || pair.blank)
        return REDACT_MISS;
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        if (!str_eq_nocase(word, str_from(names[i])))
            continue;
        end = unquoted_end(rest, pair.value, false);
        if (end - pair.value >= 20 &&
            !redact_has_mark(str_take(str_skip(rest, pair.value), end - pair.value)))
            return cut(pair.value, end);
    }
    return REDACT_MISS;
}

bool redact_names_value(struct str key, struct str name, struct str value_key)
{
    static const char *const keys[] = { "name", "key", "header", "variable" };

    for (size_t i = 0; i < ARRAY_LEN(keys); i++)
        if (str_eq_nocase(key, str_from(keys[i])))
            return str_eq_nocase(value_key, STR("value")) && redact_key(name);
    return false;
}

/* {"name": "DB_PASSWORD", "value": "…"}, as environments and headers are listed; also in YAML. */
static struct redact_hit named_value(struct str rest, struct str word, struct pair pair)
{
    struct str bounded = str_take(rest, pair.value + NAME_BYTES_MAX + 2), name, next, value;
    size_t end = pair.quote ? quoted_end(bounded, &pair) : unquoted_end(bounded, pair.value, false);
    size_t at = end;
    struct pair inner = { .value = 0 };

    while (at < rest.n && at < end + BLANKS_MAX && strchr(" \t\r\n,\"'\\", rest.p[at]) &&
           rest.p[at])
        at += rest.p[at] == '\\' && char_at(rest, at + 1) == 'n' ? 2 : 1;
    name = str_take(str_skip(rest, pair.value), end - pair.value);
    next = str_skip(rest, at);
    if (!redact_names_value(word, name, str_take(next, 5)) ||
        !pair_open(next, STR("value"), &inner))
        return REDACT_MISS;
    inner.end = value_end(next, &inner, quote_at(next, 5) == 0); /* without quotes: YAML */
    value = str_take(str_skip(next, inner.value), inner.end - inner.value);
    if (!redact_is_secret_value(name, value, inner.quote > 0))
        return REDACT_MISS;
    return cut(at + inner.value, at + inner.end);
}

struct redact_hit redact_pair(struct str text, size_t at, struct str word, bool line_start)
{
    struct str rest = str_skip(text, at), value;
    struct redact_hit hit = scheme(rest, word);
    struct pair pair = { .value = 0 };

    if (hit.cut || word.n > NAME_BYTES_MAX || word.n < 3 || !pair_open(rest, word, &pair))
        return hit;
    pair.opener = opener_of(text, at, word);
    if (str_eq_nocase(word, STR("authorization")) ||
        str_eq_nocase(word, STR("proxy-authorization")))
        return authorization(rest, pair);
    if (str_eq_nocase(word, STR("cookie")) || str_eq_nocase(word, STR("set-cookie")))
        return cookie(rest, pair);
    if (redact_key(word)) {
        pair.end = pair_end(rest, &pair, line_start);
        value = str_take(str_skip(rest, pair.value), pair.end - pair.value);
        if (is_prose(rest, &pair, line_start) ||
            !redact_is_secret_value(word, value, pair.quote > 0) ||
            (pair.separator == '=' && pair.blank && !pair.quote && redact_is_small_number(value)))
            return REDACT_MISS;
        return cut(pair.value, pair.end);
    }
    hit = query_signature(rest, word, pair);
    return hit.cut ? hit : named_value(rest, word, pair);
}
