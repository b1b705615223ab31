/* Which names tell that their value is a secret.
 *
 * A name is cut into words at separators and where camelCase turns; what counts is how it ends:
 * db_password, clientSecret and X-Api-Key are secrets, password_policy and secret_ref are not.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/alloc.h"
#include "base/redact_int.h"

#define NAME_MAX_BYTES 64

/* Ends of names, without separators, in lower case. */
static const char *const secret_ends[] = {
    "password",    "passwd",        "passphrase",    "passwordhash", "secret",       "secretkey",
    "secretvalue", "apikey",        "privatekey",    "accesskey",    "accountkey",   "sharedkey",
    "signingkey",  "encryptionkey", "masterkey",     "authkey",      "sessionkey",   "sshkey",
    "credential",  "credentials",   "accesstoken",   "authtoken",    "refreshtoken", "idtoken",
    "apitoken",    "sessiontoken",  "securitytoken", "bearertoken",  "csrftoken",    "xsrftoken",
    "sessionid",   "clienttoken",   "usertoken",     "bottoken",
};

/* Whole last words. */
static const char *const secret_words[] = { "token", "pwd", "jwt", "pgpass", "passcode" };

/* Whole names: headers whose value is a credential. */
static const char *const secret_names[] = { "authorization", "proxyauthorization", "cookie",
                                            "setcookie" };

/* A token after one of these is a place in a list or a piece of text, not a credential. */
static const char *const harmless_tokens[] = {
    "next",   "page",         "continuation", "continue", "sync",     "start", "end",    "stop",
    "cancel", "cancellation", "special",      "eos",      "bos",      "pad",   "unk",    "sep",
    "mask",   "first",        "last",         "per",      "previous", "prev",  "resume",
};

struct name {
    char compact[NAME_MAX_BYTES];
    size_t n;
    size_t word_at[NAME_MAX_BYTES]; /* where words begin in compact */
    size_t words;
};

static void name_add(struct name *name, char c, bool new_word)
{
    if (new_word || name->n == 0)
        name->word_at[name->words++] = name->n;
    name->compact[name->n++] = c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
}

static void name_cut(struct name *name, struct str key)
{
    bool separated = true;
    char last = 0;

    name->n = name->words = 0;
    for (size_t i = 0; i < key.n; i++) {
        char c = key.p[i];

        if (!redact_is_alnum(c)) {
            separated = true;
            continue;
        }
        name_add(name, c, separated || (c >= 'A' && c <= 'Z' && last >= 'a' && last <= 'z'));
        separated = false;
        last = c;
    }
}

static struct str name_word(const struct name *name, size_t from_end)
{
    size_t i = name->words - from_end;
    size_t at = name->word_at[i];
    size_t end = i + 1 < name->words ? name->word_at[i + 1] : name->n;

    return str_of(name->compact + at, end - at);
}

static bool listed(struct str word, const char *const *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (str_is(word, list[i]))
            return true;
    return false;
}

bool redact_key(struct str key)
{
    struct name name;
    struct str whole, last, before;

    if (key.n > NAME_MAX_BYTES)
        key = str_skip(key, key.n - NAME_MAX_BYTES);
    name_cut(&name, key);
    if (name.words == 0)
        return false;
    whole = str_of(name.compact, name.n);
    last = name_word(&name, 1);
    before = name.words > 1 ? name_word(&name, 2) : STR_NONE;
    if (listed(last, (const char *const[]){ "token" }, 1) &&
        listed(before, harmless_tokens, ARRAY_LEN(harmless_tokens)))
        return false;
    if (listed(last, secret_words, ARRAY_LEN(secret_words)) ||
        listed(whole, secret_names, ARRAY_LEN(secret_names)) || (before.n && str_is(last, "pass")))
        return true;
    for (size_t i = 0; i < ARRAY_LEN(secret_ends); i++)
        if (str_ends(whole, str_from(secret_ends[i])))
            return true;
    return false;
}
