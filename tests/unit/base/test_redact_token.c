/* Tokens that are known by how they look, over the table that says so.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/alloc.h"
#include "base/redact_int.h"
#include "harness/test.h"

#define M "***REDACTED***"

static const char *redacted(struct test *t, const char *text)
{
    AUTO_BUF out = BUF_INIT(1u << 20);

    ASSERT_EQ(redact(str_from(text), &out), 0);
    return arena_copy(&t->arena, buf_text(&out), out.n);
}

/* Written out again: a service that is missing in the table must be missed. */
static const char *const known[] = {
    "AGE-SECRET-KEY-1",
    "ATATT3",
    "HRKU-",
    "LTAI",
    "NRAK-",
    "PMAK-",
    "SK",
    "AIza",
    "AKIA",
    "ASIA",
    "ABIA",
    "ACCA",
    "AROA",
    "AIDA",
    "EAAC",
    "GOCSPX-",
    "SG.",
    "dapi",
    "dckr_pat_",
    "dop_v1_",
    "doo_v1_",
    "dor_v1_",
    "dp.pt.",
    "dp.st.",
    "figd_",
    "ghp_",
    "gho_",
    "ghu_",
    "ghs_",
    "ghr_",
    "github_pat_",
    "glpat-",
    "gldt-",
    "glptt-",
    "glrt-",
    "glcbt-",
    "glc_",
    "glsa_",
    "gsk_",
    "hf_",
    "hvb.",
    "hvs.",
    "key-",
    "lin_api_",
    "mfa.",
    "nfp_",
    "npm_",
    "ntn_",
    "pplx-",
    "pscale_pw_",
    "pscale_tkn_",
    "pul-",
    "pypi-",
    "r8_",
    "rubygems_",
    "sb_secret_",
    "sbp_",
    "shpat_",
    "shpca_",
    "shppa_",
    "shpss_",
    "sk-ant-",
    "sk-",
    "pk-",
    "rk-",
    "sk_live_",
    "sk_test_",
    "pk_live_",
    "pk_test_",
    "rk_live_",
    "rk_test_",
    "sntrys_",
    "sntryu_",
    "sq0atp-",
    "sq0csp-",
    "tfp_",
    "tvly-",
    "whsec_",
    "xai-",
    "xapp-",
    "xoxa-",
    "xoxb-",
    "xoxc-",
    "xoxd-",
    "xoxe-",
    "xoxe.xoxp-",
    "xoxe.xoxb-",
    "xoxo-",
    "xoxp-",
    "xoxr-",
    "xoxs-",
    "ya29.",
};

TEST(redact_knows_these_services)
{
    size_t n;
    const struct redact_prefix *prefixes = redact_prefixes(&n);

    ASSERT_EQ(n, ARRAY_LEN(known));
    for (size_t i = 0; i < n; i++)
        ASSERT_TEXT(prefixes[i].text, known[i]);
}

/* n bytes that the alphabet has, with digits and letters among any dozen. */
static const char *filler(struct test *t, enum redact_alphabet alphabet, size_t n)
{
    const char *bytes = alphabet == REDACT_HEX     ? "0a1b2c3d4e5f"
                        : alphabet == REDACT_UPPER ? "0A1Z2C3Y4E5X"
                                                   : "0a1Z2c3Y4e5X";
    char *text = arena_alloc(&t->arena, n + 1, 1);

    for (size_t i = 0; i < n; i++)
        text[i] = bytes[i % 12];
    text[n] = '\0';
    return text;
}

/* A byte of a word that the alphabet lacks; '\0': it has all. */
static char stranger(enum redact_alphabet alphabet)
{
    return alphabet == REDACT_HEX     ? 'g'
           : alphabet == REDACT_UPPER ? 'z'
           : alphabet == REDACT_ALNUM ? '_'
                                      : '\0';
}

static void check_key(struct test *t, const char *prefix, const char *rest, bool hidden)
{
    const char *text = arena_printf(&t->arena, "(%s%s)", prefix, rest);
    const char *clean = redacted(t, text);

    if (strcmp(clean, hidden ? "(" M ")" : text) != 0)
        FAIL("%s became %s", text, clean);
}

/* A longer prefix of the table that begins with this one takes what this one leaves. */
static bool is_alone(const struct redact_prefix *prefixes, size_t n, const char *text)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(prefixes[i].text, text) != 0 &&
            strncmp(text, prefixes[i].text, strlen(prefixes[i].text)) == 0)
            return false;
    return true;
}

TEST(redact_hides_a_key_of_every_service_whole_and_nothing_shorter)
{
    size_t n;
    const struct redact_prefix *prefixes = redact_prefixes(&n);

    for (size_t i = 0; i < n; i++) {
        const struct redact_prefix *p = &prefixes[i];
        const char *longest = filler(t, p->alphabet, p->max ? p->max : 200);
        char other = stranger(p->alphabet);

        check_key(t, p->text, filler(t, p->alphabet, p->min), true);
        check_key(t, p->text, longest, true);
        if (!is_alone(prefixes, n, p->text))
            continue;
        check_key(t, p->text, filler(t, p->alphabet, p->min - 1), false);
        if (p->max)
            check_key(t, p->text, filler(t, p->alphabet, p->max + 1), false);
        if (other)
            check_key(t, p->text,
                      arena_printf(&t->arena, "%s%c", filler(t, p->alphabet, p->min), other),
                      false);
    }
}

TEST(redact_takes_words_with_hyphens_for_names_and_not_for_keys)
{
    static const struct {
        const char *text;
        bool hidden;
    } cases[] = {
        { "sk-learn-pipeline-tools", false }, { "sk-abcdefghijklmnopqrs", false }, /* 19 letters */
        { "sk-abcdefghijklmnopqrst", true },  { "sk-abcdefghij1-tools", false },   /* 11 of both */
        { "sk-abcdefghijk1-tools", true },    { "sk-123456789012-34567", false },  /* a number */
        { "sk-a-b-abcdefghijk1", true },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        check_key(t, "", cases[i].text, cases[i].hidden);
}

#define HEADER                                                                                     \
    "eyJ"                                                                                          \
    "hbGciOi"

TEST(redact_hides_web_tokens_of_three_and_of_five_parts)
{
    static const struct {
        const char *text, *clean;
    } cases[] = {
        { HEADER ".eyJz.c2ln", M },
        { HEADER ".eyJz.c2ln more", M " more" },
        { HEADER ".eyJz.", M },          /* unsigned */
        { HEADER ".eyJz.c2ln.", M "." }, /* the end of a sentence */
        { HEADER ".a2V5.aXY.dGV4dA.dGFn", M },
        { HEADER ".a2V5.aXY.dGV4dA.dGFn.", M "." },
        { HEADER ".a2V5.aXY.dGV4dA.dGFn.rest", M ".rest" },
        { HEADER "..aXY.dGV4dA.dGFn", M }, /* both sides have the key */
        { HEADER "..aXY.dGV4dA", HEADER "..aXY.dGV4dA" },
        { HEADER ".eyJz", HEADER ".eyJz" },
        { HEADER ".eyJ.c2ln", HEADER ".eyJ.c2ln" },
        { "eyJ"
          "hbGciO.eyJz.c2ln",
          "eyJ"
          "hbGciO.eyJz.c2ln" }, /* too short for a header */
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        ASSERT_TEXT(redacted(t, cases[i].text), cases[i].clean);
}

TEST(redact_hides_other_tokens_by_their_exact_form)
{
    static const struct {
        const char *text;
        bool hidden;
    } cases[] = {
        { "12345678:AA"
          "abcdefghijklmnopqrstuvwxyz0123456",
          true },
        { "1234567890:AA"
          "abcdefghijklmnopqrstuvwxyz0123456",
          true },
        { "1234567:AA"
          "abcdefghijklmnopqrstuvwxyz0123456",
          false },
        { "12345678901:AA"
          "abcdefghijklmnopqrstuvwxyz0123456",
          false },
        { "12345678:AB"
          "abcdefghijklmnopqrstuvwxyz0123456",
          false },
        { "12345678:AA"
          "abcdefghijklmnopqrstuvwxyz012345",
          false },
        { "12345678:AA"
          "abcdefghijklmnopqrstuvwxyz01234567",
          false },
        { "abc1Q~"
          "abcdefghijklmnopqrstuvwxyz01234",
          true },
        { "abc1Q~"
          "abcdefghijklmnopqrstuvwxyz.~345678",
          true },
        { "abc1Q~"
          "abcdefghijklmnopqrstuvwxyz0123",
          false },
        { "abc1Q~"
          "abcdefghijklmnopqrstuvwxyz012345678",
          false },
        { "abcdQ~"
          "abcdefghijklmnopqrstuvwxyz01234",
          false },
        { "abc1P~"
          "abcdefghijklmnopqrstuvwxyz01234",
          false },
        { "abc1Q-"
          "abcdefghijklmnopqrstuvwxyz01234",
          false },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        if ((strstr(redacted(t, cases[i].text), M) != NULL) != cases[i].hidden)
            FAIL("%s became %s", cases[i].text, redacted(t, cases[i].text));
}
