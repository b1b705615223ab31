/* SPDX-License-Identifier: MIT */
#include <openssl/evp.h>

#include "harness/test.h"
#include "skill/skill_int.h"

struct signer {
    EVP_PKEY *key;
    char public_text[65];
};

static struct signer signer_new(void)
{
    struct signer signer = { .key = EVP_PKEY_Q_keygen(NULL, NULL, "ED25519") };
    uint8_t bytes[32];
    size_t n = sizeof(bytes);

    ASSERT(signer.key && EVP_PKEY_get_raw_public_key(signer.key, bytes, &n) == 1);
    hex_encode(bytes, n, signer.public_text);
    return signer;
}

static struct str sign(struct test *t, const struct signer *signer, const char *hash)
{
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    uint8_t bytes[64];
    size_t n = sizeof(bytes);
    char *text = arena_alloc(&t->arena, 130, 1);

    ASSERT(EVP_DigestSignInit(ctx, NULL, NULL, NULL, signer->key) == 1 &&
           EVP_DigestSign(ctx, bytes, &n, (const uint8_t *)hash, 64) == 1);
    EVP_MD_CTX_free(ctx);
    hex_encode(bytes, n, text);
    text[128] = '\n';
    return str_of(text, 129);
}

TEST(a_hash_is_of_paths_and_contents_in_any_order)
{
    struct archive_entry a[] = { { .path = STR("SKILL.md"), .content = STR("x") },
                                 { .path = STR("a"), .content = STR("y") } };
    struct archive_entry b[] = { a[1], a[0] };
    struct archive_entry c[] = { { .path = STR("SKILL.md"), .content = STR("x") },
                                 { .path = STR("b"), .content = STR("y") } };
    char first[65], second[65], third[65];

    skills_hash(a, 2, first);
    skills_hash(b, 2, second);
    skills_hash(c, 2, third);
    ASSERT_TEXT(first, second);
    ASSERT(strcmp(first, third) != 0);
    /* printf of the two lines piped into sha256sum. */
    ASSERT_TEXT(first, "e186d71fb9318a7f5a825ae459dbcea5bcdb48edad1a72fb2964084c0f118738");
}

TEST(a_signature_of_a_trusted_key_names_it)
{
    struct signer signer = signer_new(), other = signer_new();
    const char *const keys[] = { "not a key", other.public_text, signer.public_text, NULL };
    struct archive_entry entries[] = { { .path = STR("SKILL.md"), .content = STR("x") },
                                       { .path = STR("SIGNATURE") } };
    char hash[65];

    ASSERT_STR(sign_check(entries, 1, keys, &t->arena), "");
    skills_hash(entries, 1, hash);
    entries[1].content = sign(t, &signer, hash);
    ASSERT_STR(sign_check(entries, 2, keys, &t->arena), signer.public_text);
    ASSERT_STR(sign_check(entries, 2, NULL, &t->arena), "unverified");
    entries[0].content = STR("changed");
    ASSERT_STR(sign_check(entries, 2, keys, &t->arena), "unverified");
    entries[1].content = STR("zz");
    ASSERT_STR(sign_check(entries, 2, keys, &t->arena), "unverified");
    EVP_PKEY_free(signer.key);
    EVP_PKEY_free(other.key);
}
