/* Hashes in every cut, MACs by their definition, hexadecimal and comparison byte by byte.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/alloc.h"
#include "base/hash.h"
#include "base/rand.h"
#include "harness/test.h"

TEST(sha256_is_the_same_for_every_cut_in_three)
{
    uint8_t whole[SHA256_BYTES], pieces[SHA256_BYTES];
    char bytes[130]; /* over two blocks */
    struct rand_fake rand;

    rand_fake_init(&rand, 19);
    rand_fill(&rand.rand, bytes, sizeof(bytes));
    sha256_of(str_of(bytes, sizeof(bytes)), whole);
    for (size_t i = 0; i <= sizeof(bytes); i++)
        for (size_t k = i; k <= sizeof(bytes); k += 7) {
            struct sha256 hash;

            sha256_init(&hash);
            sha256_add(&hash, str_of(bytes, i));
            sha256_add(&hash, str_of(bytes + i, k - i));
            sha256_add(&hash, str_of(bytes + k, sizeof(bytes) - k));
            sha256_finish(&hash, pieces);
            ASSERT(memcmp(whole, pieces, sizeof(whole)) == 0);
        }
}

/* RFC 2104, spelled out over the hash alone. */
static void slow_hmac(struct str key, struct str message, uint8_t ret_mac[SHA256_BYTES])
{
    char inner[64 + 256], outer[64 + SHA256_BYTES], block[64] = { 0 };
    uint8_t digest[SHA256_BYTES];

    if (key.n > sizeof(block))
        sha256_of(key, (uint8_t *)block);
    else if (key.n)
        memcpy(block, key.p, key.n);
    for (size_t i = 0; i < sizeof(block); i++) {
        inner[i] = (char)(block[i] ^ 0x36);
        outer[i] = (char)(block[i] ^ 0x5c);
    }
    memcpy(inner + 64, message.p, message.n);
    sha256_of(str_of(inner, 64 + message.n), digest);
    memcpy(outer + 64, digest, sizeof(digest));
    sha256_of(str_of(outer, sizeof(outer)), ret_mac);
}

TEST(hmac_sha256_follows_its_definition_for_every_length_of_key)
{
    char key[140], message[200];
    struct rand_fake rand;

    rand_fake_init(&rand, 20);
    rand_fill(&rand.rand, key, sizeof(key));
    rand_fill(&rand.rand, message, sizeof(message));
    for (size_t n = 0; n <= sizeof(key); n++) {
        uint8_t mac[SHA256_BYTES], slow[SHA256_BYTES];

        hmac_sha256(str_of(key, n), str_of(message, n), mac);
        slow_hmac(str_of(key, n), str_of(message, n), slow);
        ASSERT(memcmp(mac, slow, sizeof(mac)) == 0);
    }
}

TEST(hex_digits_are_the_only_bytes_that_hex_decode_takes)
{
    for (int high = 0; high < 256; high++) {
        bool digit = high && strchr("0123456789abcdefABCDEF", high);
        uint8_t byte;
        char text[3];

        ASSERT_EQ(hex_decode(str_of((char[]){ (char)high, '0' }, 2), &byte, 1), digit ? 0 : -1);
        ASSERT_EQ(hex_decode(str_of((char[]){ '0', (char)high }, 2), &byte, 1), digit ? 0 : -1);
        hex_encode(&(uint8_t){ (uint8_t)high }, 1, text);
        ASSERT_EQ(hex_decode(str_from(text), &byte, 1), 0);
        ASSERT_EQ(byte, high);
        ASSERT_EQ(text[2], '\0');
    }
}

TEST(secret_eq_sees_a_difference_at_every_bit)
{
    char a[40] = "a secret of some length, and then more", b[40];

    for (size_t bit = 0; bit < 8 * sizeof(a); bit++) {
        memcpy(b, a, sizeof(a));
        ASSERT(secret_eq(str_of(a, sizeof(a)), str_of(b, sizeof(b))));
        b[bit / 8] = (char)(b[bit / 8] ^ (1 << bit % 8));
        ASSERT(!secret_eq(str_of(a, sizeof(a)), str_of(b, sizeof(b))));
    }
    for (size_t n = 0; n < sizeof(a); n++)
        ASSERT(!secret_eq(str_of(a, sizeof(a)), str_of(a, n)));
}
