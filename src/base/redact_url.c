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

/* Path of a webhook whose last part is the secret. */
static struct redact_hit webhook(struct str rest)
{
    static const char *const places[] = { "://hooks.slack.com/services/",
                                          "://discord.com/api/webhooks/",
                                          "://discordapp.com/api/webhooks/" };

    for (size_t i = 0; i < ARRAY_LEN(places); i++) {
        size_t at = strlen(places[i]), end = at;

        if (!str_starts(rest, str_from(places[i])))
            continue;
        while (end < rest.n && (redact_is_word(rest.p[end]) || rest.p[end] == '/'))
            end++;
        return (struct redact_hit){ at, end - at };
    }
    return REDACT_MISS;
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
