/* Secrets that are known by the place they stand in: a flag of a tool (curl -u ann:…), a line of
 * .netrc, an element of XML, a value in braces of a connection string, the `_auth` of .npmrc.
 *
 * What stands between the place's first word and the secret is walked like any text, for it may
 * hold another secret. So that a second redaction finds nothing new, a place with a mark in it is
 * left alone: it was looked at before, when it was longer.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/alloc.h"
#include "base/redact_int.h"

#define BLANKS_MAX    16
#define USER_MAX      64
#define ATTRIBUTE_MAX 256
#define ELEMENT_MAX   4096
#define BRACES_MAX    128

static const struct flag {
    const char *tool, *flag;
    bool user;  /* user:password */
    bool apart; /* may stand apart from its value */
} flags[] = {
    { "curl", "--proxy-user", true, true }, { "curl", "--user", true, true },
    { "curl", "-U", true, true },           { "curl", "-u", true, true },
    { "mysql", "-p", false, false },        { "mysqladmin", "-p", false, false },
    { "mysqldump", "-p", false, false },    { "redis-cli", "-a", false, true },
    { "sshpass", "-p", false, true },
};

bool redact_is_tool(struct str word)
{
    for (size_t i = 0; i < ARRAY_LEN(flags); i++)
        if (str_is(word, flags[i].tool))
            return true;
    return false;
}

static char char_at(struct str s, size_t at)
{
    return at < s.n ? s.p[at] : '\0';
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static struct redact_hit cut(struct str rest, size_t from, size_t to)
{
    struct str value = str_take(str_skip(rest, from), to - from);

    if (to <= from || redact_has_mark(value) || redact_is_placeholder(value))
        return REDACT_MISS;
    return (struct redact_hit){ from, to - from };
}

/* The end of a shell's word; a backslash may stand for itself or be part of a text's \n or \". */
static size_t shell_end(struct str rest, size_t at, char quote)
{
    const char *ends = quote == '\'' ? "'\n" : quote ? "\"\n" : " \t\r\n\"'`;|&<>)";

    while (at < rest.n && (rest.p[at] == '\0' || !strchr(ends, rest.p[at]))) {
        bool escape = rest.p[at] == '\\' && at + 1 < rest.n;

        if (escape && strchr("n\"'", rest.p[at + 1]))
            break;
        at += escape ? 2 : 1;
    }
    return at < rest.n ? at : rest.n;
}

/* As pairs have it: after quotes, a bracket and blanks. */
static bool has_separator(struct str rest, size_t at)
{
    size_t end = at + BLANKS_MAX + 4;

    while (at < end && at < rest.n && rest.p[at] && strchr("\"'`\\] \t", rest.p[at]))
        at++;
    return at < rest.n && rest.p[at] && strchr("=:%", rest.p[at]);
}

/* Where the value of a flag begins; 0 when the word is another or has none. */
static size_t flag_value(struct str rest, struct str word, const struct flag *flag)
{
    size_t at = strlen(flag->flag);

    if (!str_starts(word, str_from(flag->flag)))
        return 0;
    if (word.n > at) /* -uann:…, unless it is a pair by itself: -mypassword=… */
        return flag->flag[1] == '-' || (redact_key(word) && has_separator(rest, word.n)) ? 0 : at;
    if (flag->apart && char_at(rest, at) == '=' && flag->flag[1] == '-')
        return at + 1;
    while (flag->apart && at < word.n + BLANKS_MAX && is_blank(char_at(rest, at)))
        at++;
    if (at == word.n && !strchr("'\"", char_at(rest, at)))
        return 0;
    return char_at(rest, at) == '-' ? 0 : at;
}

static struct redact_hit tool_secret(struct str rest, struct str word, const struct flag *flag)
{
    size_t at = flag_value(rest, word, flag), colon;
    char quote = char_at(rest, at);

    if (at == 0)
        return REDACT_MISS;
    quote = quote == '\'' || quote == '"' ? quote : '\0';
    at += quote != '\0';
    if (!flag->user) {
        size_t end = shell_end(rest, at, quote);

        /* -px: too short, the text would grow beyond what redact() promises. */
        return end > 3 ? cut(rest, at, end) : REDACT_MISS;
    }
    for (colon = at; colon < at + USER_MAX && char_at(rest, colon) != ':'; colon++)
        if (colon >= rest.n || is_blank(rest.p[colon]) || strchr("'\"*", rest.p[colon]))
            return REDACT_MISS; /* the last: of a mark */
    if (char_at(rest, colon) != ':')
        return REDACT_MISS;
    return cut(rest, colon + 1, shell_end(rest, colon + 1, quote));
}

/* Takes blanks and the word before them off the end. */
static struct str back_word(struct str *before)
{
    size_t end, from;

    while (before->n && is_blank(before->p[before->n - 1]))
        before->n--;
    end = from = before->n;
    while (from > 0 && !is_blank(before->p[from - 1]) && end - from <= USER_MAX)
        from--;
    before->n = from;
    return end - from <= USER_MAX ? str_of(before->p + from, end - from) : STR_NONE;
}

/* machine HOST [login USER] password …, also over several lines. */
static struct redact_hit netrc(struct str text, size_t at, struct str word)
{
    struct str before = str_take(text, at), rest = str_skip(text, at), host, key;
    size_t from = word.n;

    if (!str_is(word, "password") || at == 0 || !is_blank(text.p[at - 1]))
        return REDACT_MISS;
    while (from < word.n + BLANKS_MAX && is_blank(char_at(rest, from)))
        from++;
    host = back_word(&before);
    key = back_word(&before);
    if (str_is(key, "login")) {
        if (redact_has_mark(host))
            return REDACT_MISS;
        host = back_word(&before);
        key = str_is(host, "default") ? STR("machine") : back_word(&before);
    } else if (str_find_char(host, '.') < 0) {
        return REDACT_MISS; /* machine learning password */
    }
    if (from == word.n || !host.n || !str_is(key, "machine") || redact_has_mark(host))
        return REDACT_MISS;
    return cut(rest, from, shell_end(rest, from, '\0'));
}

/* <password>…</password> */
static struct redact_hit element(struct str text, size_t at, struct str word)
{
    struct str rest = str_skip(text, at), value, close;
    size_t from = word.n, end;

    if (at == 0 || text.p[at - 1] != '<' || !redact_key(word))
        return REDACT_MISS;
    while (from < rest.n && from < word.n + ATTRIBUTE_MAX && !strchr("<>", rest.p[from]))
        from++;
    if (char_at(rest, from) != '>' || rest.p[from - 1] == '/' ||
        redact_has_mark(str_take(rest, from)))
        return REDACT_MISS;
    end = ++from;
    while (end < rest.n && end < from + ELEMENT_MAX && rest.p[end] != '<')
        end++;
    value = str_take(str_skip(rest, from), end - from);
    close = str_skip(rest, end);
    if (!str_starts(close, STR("</")) || !str_starts(str_skip(close, 2), word) ||
        str_trim(value).n == 0 || !redact_is_secret_value(word, value, true))
        return REDACT_MISS;
    return cut(rest, from, end);
}

/* ;Pwd={…}; in a connection string. */
static struct redact_hit braces(struct str text, size_t at, struct str word)
{
    struct str rest = str_skip(text, at);
    size_t from = word.n + 2, end = from;

    if (at == 0 || text.p[at - 1] != ';' || !str_starts(str_skip(rest, word.n), STR("={")) ||
        !redact_key(word))
        return REDACT_MISS;
    while (end < rest.n && end < from + BRACES_MAX && !strchr("}\n", rest.p[end]))
        end++;
    if (char_at(rest, end) != '}' || (end + 1 < rest.n && !strchr(";\"'\r\n", rest.p[end + 1])))
        return REDACT_MISS;
    return cut(rest, from, end);
}

/* _auth=… of .npmrc: user:password in base64. */
static struct redact_hit npm_auth(struct str rest, struct str word)
{
    size_t from = word.n, end;

    if (!str_is(word, "_auth"))
        return REDACT_MISS;
    while (from < word.n + BLANKS_MAX && strchr(" =\"", char_at(rest, from)) && char_at(rest, from))
        from++;
    end = shell_end(rest, from, '\0');
    if (from == word.n || !redact_is_basic(str_take(str_skip(rest, from), end - from)))
        return REDACT_MISS;
    return cut(rest, from, end);
}

struct redact_hit redact_place(struct str text, size_t at, struct str word, struct str tool)
{
    struct redact_hit hit = REDACT_MISS;

    for (size_t i = 0; i < ARRAY_LEN(flags) && word.p[0] == '-' && !hit.cut; i++)
        if (str_is(tool, flags[i].tool))
            hit = tool_secret(str_skip(text, at), word, &flags[i]);
    if (!hit.cut)
        hit = netrc(text, at, word);
    if (!hit.cut)
        hit = element(text, at, word);
    if (!hit.cut)
        hit = braces(text, at, word);
    return hit.cut ? hit : npm_auth(str_skip(text, at), word);
}
