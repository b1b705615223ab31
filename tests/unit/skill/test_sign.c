/* SPDX-License-Identifier: MIT */
#include <openssl/evp.h>

#include "rig.h"

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

/* Whoever writes a file of the skill, with whatever tool: who vouches for it is looked at anew. */
DB_TEST(a_signature_holds_as_long_as_no_file_of_the_skill_is_another)
{
    struct signer signer = signer_new();
    const char *const keys[] = { signer.public_text, NULL };
    AUTO(rig) rig = rig_open_trusting(t, keys);
    const char *signature;
    struct skill skill;

    ASSERT_OK(rig_add(rig, "tea", "[]", &skill));
    ASSERT_OK(rig_put(rig, "skills/tea/references/x.md", "x", "owner"));
    skill = rig_get(rig, "tea");
    ASSERT_STR(skill.signature, "");
    signature = sign(t, &signer, arena_str(&t->arena, skill.content_hash).p).p;
    ASSERT_OK(rig_put(rig, "skills/tea/SIGNATURE", signature, "owner"));
    ASSERT_STR(rig_get(rig, "tea").signature, signer.public_text);
    /* The signature is no part of what is signed. */
    ASSERT(str_eq(rig_get(rig, "tea").content_hash, skill.content_hash));
    ASSERT_OK(rig_put(rig, "skills/tea/references/x.md", "another", "owner"));
    ASSERT_STR(rig_get(rig, "tea").signature, "unverified");
    ASSERT_OK(rig_put(rig, "skills/tea/references/x.md", "x", "owner"));
    ASSERT_STR(rig_get(rig, "tea").signature, signer.public_text);
    ASSERT_OK(rig_put(rig, "skills/tea/scripts/more.sh", "true", "agent:coach"));
    ASSERT_STR(rig_get(rig, "tea").signature, "unverified");
    ASSERT_OK(rig_delete(rig, "skills/tea/scripts/more.sh"));
    ASSERT_STR(rig_get(rig, "tea").signature, signer.public_text);
    ASSERT_OK(rig_put(rig, "skills/tea/SKILL.md", rig_text(rig, "tea", "", "Else."), "owner"));
    ASSERT_STR(rig_get(rig, "tea").signature, "unverified");
    ASSERT_OK(rig_put(rig, "skills/tea/SIGNATURE", "nonsense", "owner"));
    ASSERT_STR(rig_get(rig, "tea").signature, "unverified");
    ASSERT_OK(rig_delete(rig, "skills/tea/SIGNATURE"));
    ASSERT_STR(rig_get(rig, "tea").signature, "");
    EVP_PKEY_free(signer.key);
}

TEST(what_is_no_signature_or_no_key_vouches_for_nothing)
{
    struct signer signer = signer_new();
    struct archive_entry entries[] = { { .path = STR("SKILL.md"), .content = STR("x") },
                                       { .path = STR("SIGNATURE") } };
    const char *key = signer.public_text;
    char hash[65];
    struct str good;

    skills_hash(entries, 1, hash);
    good = sign(t, &signer, hash);
    {
        const struct {
            struct str signature;
            const char *key;
            bool counts;
        } cases[] = {
            { good, key, true },
            { str_take(good, 128), key, true },
            { str_take(good, 127), key, false },
            { str_take(good, 126), key, false },
            { str_from(arena_printf(&t->arena, " \r\n%.*s\n", STR_ARG(good))), key, true },
            { str_from(arena_printf(&t->arena, "%.128s00", good.p)), key, false },
            { str_from(
                  arena_printf(&t->arena, "%c%.127s", good.p[0] == '0' ? '1' : '0', good.p + 1)),
              key, false },
            { STR(""), key, false },
            { good, "", false },
            { good, "00", false },
            { good, arena_printf(&t->arena, "%.62s", key), false },
            { good, arena_printf(&t->arena, "%s00", key), false },
        };

        for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
            const char *const keys[] = { cases[i].key, NULL };

            entries[1].content = cases[i].signature;
            if (str_is(sign_check(entries, 2, keys, &t->arena), cases[i].key) != cases[i].counts)
                FAIL("case %zu %s", i, cases[i].counts ? "does not count" : "counts");
        }
    }
    EVP_PKEY_free(signer.key);
}
