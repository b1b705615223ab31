/* Passwords in URLs, and webhooks whose path is the secret.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/alloc.h"
#include "base/redact_int.h"

#define URL_BYTES_MAX 512

static bool ends_url(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '"' || c == '\'' || c == '<' ||
           c == '>' || c == '`' || c == '\0';
}

/* How much of rest reads like place, whose slashes may be escaped there; 0: it does not. */
static size_t match_place(struct str rest, const char *place)
{
    size_t at = 0;

    for (; *place; place++, at++) {
        if (*place == '/' && at < rest.n && rest.p[at] == '\\')
            at++;
        if (at >= rest.n || rest.p[at] != *place)
            return 0;
    }
    return at;
}

/* Path of a webhook whose last part is the secret. */
static struct redact_hit webhook(struct str rest)
{
    static const char *const places[] = {
        "://canary.discord.com/api/webhooks/", "://discord.com/api/webhooks/",
        "://discordapp.com/api/webhooks/",     "://hooks.slack.com/services/",
        "://hooks.slack.com/triggers/",        "://hooks.slack.com/workflows/",
        "://outlook.office.com/webhook/",      "://ptb.discord.com/api/webhooks/",
    };

    for (size_t i = 0; i < ARRAY_LEN(places); i++) {
        size_t at = match_place(rest, places[i]), end = at;

        if (at == 0)
            continue;
        while (end < rest.n &&
               (redact_is_word(rest.p[end]) || rest.p[end] == '/' || rest.p[end] == '@' ||
                (rest.p[end] == '\\' && end + 1 < rest.n && rest.p[end + 1] == '/')))
            end++;
        return (struct redact_hit){ at, end - at };
    }
    return REDACT_MISS;
}

static bool is_code(struct str rest, size_t at, const char *code)
{
    return str_eq_nocase(str_take(str_skip(rest, at), 3), str_from(code));
}

/* %3A%2F%2Fuser%3Apassword%40host, as a URL stands in another one's query. */
struct redact_hit redact_encoded_url(struct str rest)
{
    size_t at = 9, value, end = 0;

    rest = str_take(rest, URL_BYTES_MAX);
    if (!str_eq_nocase(str_take(rest, 9), STR("%3A%2F%2F")))
        return REDACT_MISS;
    while (at < rest.n && !ends_url(rest.p[at]) && !strchr(":/?#@&", rest.p[at]) &&
           !is_code(rest, at, "%3A") && !is_code(rest, at, "%2F") && !is_code(rest, at, "%40"))
        at++;
    if (at >= rest.n || (rest.p[at] != ':' && !is_code(rest, at, "%3A")))
        return REDACT_MISS;
    value = at += rest.p[at] == ':' ? 1 : 3;
    for (; at < rest.n && !ends_url(rest.p[at]) && !strchr("/?#&", rest.p[at]) &&
           !is_code(rest, at, "%2F");
         at++)
        if (rest.p[at] == '@' || is_code(rest, at, "%40"))
            end = at;
    if (end <= value || str_find(str_take(rest, end), STR(REDACT_MARK)) >= 0)
        return REDACT_MISS;
    return (struct redact_hit){ value, end - value };
}

/* ://user:password@host, keeping user and host. A password may hold any byte but blanks and
 * quotes: people forget to encode it. */
struct redact_hit redact_url(struct str rest)
{
    size_t at = rest.p[1] == '/' ? 3 : 5, colon, end = 0;
    bool port = true;
    struct redact_hit hit = webhook(rest);

    if (hit.cut)
        return hit;
    rest = str_take(rest, URL_BYTES_MAX);
    if (str_find_char(rest, '@') < 0)
        return REDACT_MISS;
    while (at < rest.n && !ends_url(rest.p[at]) && !strchr(":/?#@[", rest.p[at]))
        at++;
    if (at >= rest.n || rest.p[at] != ':')
        return REDACT_MISS;
    colon = at;
    for (at++; at < rest.n && !ends_url(rest.p[at]) && !strchr("/?#", rest.p[at]); at++) {
        port &= redact_is_digit(rest.p[at]);
        if (rest.p[at] == '@')
            end = at;
    }
    if (!end && !port)
        for (; at < rest.n && !ends_url(rest.p[at]) && !end; at++)
            if (rest.p[at] == '@')
                end = at;
    /* What a mark has made look like user name and password was none before. */
    if (!end || str_find(str_take(rest, end), STR(REDACT_MARK)) >= 0)
        return REDACT_MISS;
    return (struct redact_hit){ colon + 1, end - colon - 1 };
}
