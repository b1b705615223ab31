/* What a skill is made of, as one hash, and who vouches for it.
 *
 * The hash is of lines "SHA-256 of the file, two blanks, path" in byte order of paths, the form
 * that sha256sum prints: `cd SKILL && find . -type f | sort | xargs sha256sum` shows the same lines
 * but for "./". The file SIGNATURE is no part of it. It holds an ed25519 signature of that hash
 * (its 64 hexadecimal digits), as 128 hexadecimal digits.
 *
 * SPDX-License-Identifier: MIT
 */
#include <openssl/evp.h>
#include <stdlib.h>

#include "skill/skill_int.h"

#define KEY_BYTES       32
#define SIGNATURE_BYTES 64

static int compare_entries(const void *a, const void *b)
{
    return str_cmp((*(const struct archive_entry *const *)a)->path,
                   (*(const struct archive_entry *const *)b)->path);
}

/* contents: of the files; else entries hold hashes already. */
static void hash_lines(const struct archive_entry *entries, size_t count, bool contents,
                       char ret_hash[SHA256_TEXT_SIZE])
{
    const struct archive_entry **sorted = NEW_N(const struct archive_entry *, count + 1);
    uint8_t digest[SHA256_BYTES];
    struct sha256 hash;

    for (size_t i = 0; i < count; i++)
        sorted[i] = &entries[i];
    qsort(sorted, count, sizeof(*sorted), compare_entries);
    sha256_init(&hash);
    for (size_t i = 0; i < count; i++) {
        char text[SHA256_TEXT_SIZE];

        if (str_is(sorted[i]->path, "SIGNATURE"))
            continue;
        if (contents)
            sha256_text(sorted[i]->content, text);
        sha256_add(&hash, contents ? str_from(text) : sorted[i]->content);
        sha256_add(&hash, STR("  "));
        sha256_add(&hash, sorted[i]->path);
        sha256_add(&hash, STR("\n"));
    }
    sha256_finish(&hash, digest);
    hex_encode(digest, sizeof(digest), ret_hash);
    free(sorted);
}

void skills_hash(const struct archive_entry *entries, size_t count, char ret_hash[SHA256_TEXT_SIZE])
{
    hash_lines(entries, count, true, ret_hash);
}

void skills_hash_of_hashes(const struct archive_entry *entries, size_t count,
                           char ret_hash[SHA256_TEXT_SIZE])
{
    hash_lines(entries, count, false, ret_hash);
}

static bool verify(struct str signature, struct str hash, const char *key_text)
{
    uint8_t bytes[KEY_BYTES], sign[SIGNATURE_BYTES];
    EVP_PKEY *key = NULL;
    EVP_MD_CTX *ctx = NULL;
    bool good = false;

    if (hex_decode(str_from(key_text), bytes, sizeof(bytes)) < 0 ||
        hex_decode(signature, sign, sizeof(sign)) < 0)
        return false;
    key = EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, NULL, bytes, sizeof(bytes));
    ctx = EVP_MD_CTX_new();
    if (key && ctx && EVP_DigestVerifyInit(ctx, NULL, NULL, NULL, key) == 1)
        good = EVP_DigestVerify(ctx, sign, sizeof(sign), (const uint8_t *)hash.p, hash.n) == 1;
    EVP_MD_CTX_free(ctx);
    EVP_PKEY_free(key);
    return good;
}

static struct str signer(struct str signature, const char *hash, const char *const *trusted_keys,
                         struct arena *arena)
{
    for (const char *const *key = trusted_keys; key && *key; key++)
        if (verify(str_trim(signature), str_from(hash), *key))
            return str_from(arena_text(arena, *key));
    return STR("unverified");
}

struct str sign_check(const struct archive_entry *entries, size_t count,
                      const char *const *trusted_keys, struct arena *arena)
{
    char hash[SHA256_TEXT_SIZE];

    for (size_t i = 0; i < count; i++) {
        if (!str_is(entries[i].path, "SIGNATURE"))
            continue;
        skills_hash(entries, count, hash);
        return signer(entries[i].content, hash, trusted_keys, arena);
    }
    return STR("");
}

struct str sign_check_hash(struct str signature, const struct archive_entry *hashes, size_t count,
                           const char *const *trusted_keys, struct arena *arena)
{
    char hash[SHA256_TEXT_SIZE];

    skills_hash_of_hashes(hashes, count, hash);
    return signer(signature, hash, trusted_keys, arena);
}
