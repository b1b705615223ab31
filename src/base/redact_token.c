/* Secrets that are known by how they look: prefixes of well-known services, JSON Web Tokens,
 * private keys in PEM.
 *
 * Each prefix says which bytes follow and how many at least; a text that merely begins alike is
 * left alone.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/alloc.h"
#include "base/redact_int.h"

static const struct redact_prefix prefixes[] = {
    { "AGE-SECRET-KEY-1", REDACT_UPPER, 50, 0 },
    { "ATATT3", REDACT_ANY_WORD, 50, 0 },
    { "HRKU-", REDACT_ANY_WORD, 36, 0 },
    { "LTAI", REDACT_ALNUM, 16, 26 },
    { "NRAK-", REDACT_UPPER, 27, 27 },
    { "PMAK-", REDACT_ANY_WORD, 50, 0 },
    { "SK", REDACT_HEX, 32, 32 },
    { "AIza", REDACT_ANY_WORD, 35, 40 },
    { "AKIA", REDACT_UPPER, 16, 16 },
    { "ASIA", REDACT_UPPER, 16, 16 },
    { "ABIA", REDACT_UPPER, 16, 16 },
    { "ACCA", REDACT_UPPER, 16, 16 },
    { "AROA", REDACT_UPPER, 16, 17 },
    { "AIDA", REDACT_UPPER, 16, 17 },
    { "EAAC", REDACT_ALNUM, 60, 0 },
    { "GOCSPX-", REDACT_ANY_WORD, 20, 0 },
    { "SG.", REDACT_WORD_AND_DOT, 50, 0 },
    { "dapi", REDACT_HEX, 32, 32 },
    { "dckr_pat_", REDACT_ANY_WORD, 20, 0 },
    { "dop_v1_", REDACT_HEX, 64, 64 },
    { "doo_v1_", REDACT_HEX, 64, 64 },
    { "dor_v1_", REDACT_HEX, 64, 64 },
    { "dp.pt.", REDACT_ALNUM, 40, 0 },
    { "dp.st.", REDACT_WORD_AND_DOT, 40, 0 },
    { "figd_", REDACT_ANY_WORD, 30, 0 },
    { "ghp_", REDACT_ALNUM, 30, 0 },
    { "gho_", REDACT_ALNUM, 30, 0 },
    { "ghu_", REDACT_ALNUM, 30, 0 },
    { "ghs_", REDACT_ALNUM, 30, 0 },
    { "ghr_", REDACT_ALNUM, 30, 0 },
    { "github_pat_", REDACT_ANY_WORD, 22, 0 },
    { "glpat-", REDACT_ANY_WORD, 20, 0 },
    { "gldt-", REDACT_ANY_WORD, 20, 0 },
    { "glptt-", REDACT_ANY_WORD, 20, 0 },
    { "glrt-", REDACT_ANY_WORD, 20, 0 },
    { "glcbt-", REDACT_ANY_WORD, 20, 0 },
    { "glc_", REDACT_ALNUM, 32, 0 },
    { "glsa_", REDACT_ANY_WORD, 32, 0 },
    { "gsk_", REDACT_ALNUM, 30, 0 },
    { "hf_", REDACT_ALNUM, 30, 0 },
    { "hvb.", REDACT_ANY_WORD, 24, 0 },
    { "hvs.", REDACT_ANY_WORD, 24, 0 },
    { "key-", REDACT_HEX, 32, 32 },
    { "lin_api_", REDACT_ALNUM, 30, 0 },
    { "mfa.", REDACT_ANY_WORD, 80, 0 },
    { "nfp_", REDACT_ALNUM, 36, 0 },
    { "npm_", REDACT_ALNUM, 36, 0 },
    { "ntn_", REDACT_ALNUM, 40, 0 },
    { "pplx-", REDACT_ALNUM, 32, 0 },
    { "pscale_pw_", REDACT_ANY_WORD, 32, 0 },
    { "pscale_tkn_", REDACT_ANY_WORD, 32, 0 },
    { "pul-", REDACT_HEX, 40, 40 },
    { "pypi-", REDACT_ANY_WORD, 50, 0 },
    { "r8_", REDACT_ALNUM, 37, 0 },
    { "rubygems_", REDACT_HEX, 48, 48 },
    { "sb_secret_", REDACT_ANY_WORD, 20, 0 },
    { "sbp_", REDACT_HEX, 40, 40 },
    { "shpat_", REDACT_HEX, 32, 0 },
    { "shpca_", REDACT_HEX, 32, 0 },
    { "shppa_", REDACT_HEX, 32, 0 },
    { "shpss_", REDACT_HEX, 32, 0 },
    { "sk-ant-", REDACT_ANY_WORD, 16, 0 },
    { "sk-", REDACT_OPAQUE, 16, 0 },
    { "pk-", REDACT_OPAQUE, 16, 0 },
    { "rk-", REDACT_OPAQUE, 16, 0 },
    { "sk_live_", REDACT_ALNUM, 10, 0 },
    { "sk_test_", REDACT_ALNUM, 10, 0 },
    { "pk_live_", REDACT_ALNUM, 10, 0 },
    { "pk_test_", REDACT_ALNUM, 10, 0 },
    { "rk_live_", REDACT_ALNUM, 10, 0 },
    { "rk_test_", REDACT_ALNUM, 10, 0 },
    { "sntrys_", REDACT_ANY_WORD, 40, 0 },
    { "sntryu_", REDACT_HEX, 64, 64 },
    { "sq0atp-", REDACT_ANY_WORD, 20, 0 },
    { "sq0csp-", REDACT_ANY_WORD, 40, 0 },
    { "tfp_", REDACT_ALNUM, 40, 0 },
    { "tvly-", REDACT_ANY_WORD, 24, 0 },
    { "whsec_", REDACT_ALNUM, 24, 0 },
    { "xai-", REDACT_ALNUM, 40, 0 },
    { "xapp-", REDACT_ANY_WORD, 20, 0 },
    { "xoxa-", REDACT_ANY_WORD, 10, 0 },
    { "xoxb-", REDACT_ANY_WORD, 10, 0 },
    { "xoxc-", REDACT_ANY_WORD, 10, 0 },
    { "xoxd-", REDACT_ANY_WORD, 10, 0 },
    { "xoxe-", REDACT_ANY_WORD, 10, 0 },
    { "xoxe.xoxp-", REDACT_ANY_WORD, 10, 0 },
    { "xoxe.xoxb-", REDACT_ANY_WORD, 10, 0 },
    { "xoxo-", REDACT_ANY_WORD, 10, 0 },
    { "xoxp-", REDACT_ANY_WORD, 10, 0 },
    { "xoxr-", REDACT_ANY_WORD, 10, 0 },
    { "xoxs-", REDACT_ANY_WORD, 10, 0 },
    { "ya29.", REDACT_WORD_AND_DOT, 20, 0 },
};

const struct redact_prefix *redact_prefixes(size_t *ret_n)
{
    *ret_n = ARRAY_LEN(prefixes);
    return prefixes;
}

static bool in_alphabet(char c, enum redact_alphabet alphabet)
{
    switch (alphabet) {
    case REDACT_ALNUM:
        return redact_is_alnum(c);
    case REDACT_UPPER:
        return redact_is_digit(c) || (c >= 'A' && c <= 'Z');
    case REDACT_HEX:
        return redact_is_digit(c) || ((c | 32) >= 'a' && (c | 32) <= 'f');
    case REDACT_WORD_AND_DOT:
        return redact_is_word(c) || c == '.';
    default:
        return redact_is_word(c);
    }
}

static size_t span(struct str s, enum redact_alphabet alphabet)
{
    size_t n = 0;

    while (n < s.n && in_alphabet(s.p[n], alphabet))
        n++;
    return n;
}

/* "sk-learn-pipeline-tools" is a name; a key has a long part that mixes
 * letters and digits, or a very long one. */
static bool opaque(struct str s)
{
    size_t run = 0, digits = 0;

    for (size_t i = 0; i <= s.n; i++) {
        if (i < s.n && redact_is_alnum(s.p[i])) {
            run++;
            digits += redact_is_digit(s.p[i]);
            continue;
        }
        if (run >= 20 || (run >= 12 && digits > 0 && digits < run))
            return true;
        run = digits = 0;
    }
    return false;
}

static struct redact_hit by_prefix(struct str rest)
{
    for (size_t i = 0; i < ARRAY_LEN(prefixes); i++) {
        const struct redact_prefix *prefix = &prefixes[i];
        struct str after;
        size_t n;

        if (prefix->text[0] != rest.p[0] || !str_starts(rest, str_from(prefix->text)))
            continue;
        after = str_skip(rest, strlen(prefix->text));
        n = span(after, prefix->alphabet);
        if (n < prefix->min || (prefix->max && n > prefix->max) ||
            (n < after.n && prefix->alphabet != REDACT_WORD_AND_DOT &&
             redact_is_word(after.p[n])) ||
            (prefix->alphabet == REDACT_OPAQUE && !opaque(str_take(after, n))))
            continue;
        return (struct redact_hit){ 0, rest.n - after.n + n };
    }
    return REDACT_MISS;
}

/* header.payload.signature in base64url, the header being an object: {" is eyJ. The five parts
 * of an encrypted one are taken, too; the second of them is empty when both sides have the key. */
static struct redact_hit json_web_token(struct str rest)
{
    size_t n = span(rest, REDACT_ANY_WORD);
    unsigned parts = 1, wanted = 3;

    if (!str_starts(rest, STR("eyJ")) || n < 10)
        return REDACT_MISS;
    while (parts < 5 && n < rest.n && rest.p[n] == '.') {
        size_t part = span(str_skip(rest, n + 1), REDACT_ANY_WORD);

        if (part == 0 && parts > 2)
            break;
        if (part < 4 && parts == 1) {
            if (part > 0)
                return REDACT_MISS;
            wanted = 5;
        }
        n += 1 + part;
        parts++;
    }
    return parts >= wanted ? (struct redact_hit){ 0, n } : REDACT_MISS;
}

/* A bot token of Telegram: 8 to 10 digits, a colon, AA and 33 more. */
static struct redact_hit telegram_token(struct str rest)
{
    size_t digits = 0;

    while (digits < rest.n && digits <= 10 && redact_is_digit(rest.p[digits]))
        digits++;
    if (digits < 8 || digits > 10 || !str_starts(str_skip(rest, digits), STR(":AA")) ||
        span(str_skip(rest, digits + 1), REDACT_ANY_WORD) != 35)
        return REDACT_MISS;
    return (struct redact_hit){ digits + 1, 35 };
}

/* A bot token of Discord: its number's digits in base64, a time of six bytes, a MAC. */
static struct redact_hit discord_token(struct str rest)
{
    static const char *const digits[] = { "MNO", "DTjz", "AEIMQUYcgk", "wxyz012345" };
    size_t id = 0, mac;

    while (id < rest.n && id <= 28 && rest.p[id] && strchr(digits[id % 4], rest.p[id]))
        id++;
    if (id < 23 || id > 28 || rest.n < id + 8 || rest.p[id] != '.' ||
        span(str_skip(rest, id + 1), REDACT_ANY_WORD) != 6 || rest.p[id + 7] != '.')
        return REDACT_MISS;
    mac = span(str_skip(rest, id + 8), REDACT_ANY_WORD);
    return mac >= 27 ? (struct redact_hit){ 0, id + 8 + mac } : REDACT_MISS;
}

/* A client secret of Azure: three bytes, a digit, "Q~" and 31 to 34 more. */
static struct redact_hit azure_secret(struct str rest)
{
    size_t n = 6;

    if (rest.n < 37 || !redact_is_digit(rest.p[3]) || rest.p[4] != 'Q' || rest.p[5] != '~')
        return REDACT_MISS;
    while (n < rest.n && n <= 40 &&
           (redact_is_word(rest.p[n]) || rest.p[n] == '~' || rest.p[n] == '.'))
        n++;
    return n >= 37 && n <= 40 ? (struct redact_hit){ 0, n } : REDACT_MISS;
}

struct redact_hit redact_token(struct str rest)
{
    struct redact_hit hit = by_prefix(rest);

    if (!hit.cut && rest.p[0] == 'e')
        hit = json_web_token(rest);
    if (!hit.cut && redact_is_digit(rest.p[0]))
        hit = telegram_token(rest);
    if (!hit.cut && str_starts(rest, STR("bot"))) { /* in the path of a call */
        hit = telegram_token(str_skip(rest, 3));
        hit.keep += hit.cut ? 3 : 0;
    }
    if (!hit.cut)
        hit = discord_token(rest);
    if (!hit.cut)
        hit = azure_secret(rest);
    return hit;
}

static bool pem_body(char c)
{
    return redact_is_alnum(c) || c == '+' || c == '/' || c == '=' || c == ' ' || c == '\t' ||
           c == '\r' || c == '\n' || c == '\\' || c == ':' || c == ',' || c == '-' || c == '.' ||
           c == '>' || c == '|';
}

/* Where the END line stops whose key's text begins at `at`; 0 when none comes before a quote or
 * another BEGIN. Headers of a key ("Comment: …") may hold any other byte. */
static size_t pem_end(struct str rest, size_t at)
{
    for (; at < rest.n && rest.p[at] != '"' && rest.p[at] != '\''; at++) {
        struct str here = str_skip(rest, at);
        ptrdiff_t dashes;

        if (rest.p[at] != '-' || !str_starts(here, STR("-----")))
            continue;
        if (str_starts(here, STR("-----BEGIN ")))
            return 0;
        if (!str_starts(here, STR("-----END ")))
            continue;
        dashes = str_find(str_take(str_skip(here, 9), 80), STR("-----"));
        return at + 9 + (dashes < 0 ? 0 : (size_t)dashes + 5);
    }
    return 0;
}

/* "-----BEGIN … PRIVATE KEY…-----", then to its END line, or as far as it looks like a key when
 * that is missing. Also takes line ends written as \n. */
struct redact_hit redact_pem(struct str rest)
{
    struct str label = str_take(str_skip(rest, sizeof("-----BEGIN ") - 1), 64);
    size_t head, n = 0;

    while (n < label.n && (label.p[n] == ' ' || in_alphabet(label.p[n], REDACT_UPPER)))
        n++;
    if (str_find(str_take(label, n), STR("PRIVATE KEY")) < 0 ||
        !str_starts(str_skip(label, n), STR("-----")))
        return REDACT_MISS;
    head = (size_t)(label.p - rest.p) + n + 5;
    n = pem_end(rest, head);
    if (n)
        return (struct redact_hit){ 0, n };
    for (n = head; n < rest.n && pem_body(rest.p[n]); n++)
        ;
    return n > head ? (struct redact_hit){ 0, n } : REDACT_MISS;
}
