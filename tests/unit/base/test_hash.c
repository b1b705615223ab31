/* SPDX-License-Identifier: MIT */
#include "base/hash.h"

#include "base/alloc.h"
#include "harness/test.h"

/* FIPS 180-4 examples and the CAVP short messages. */
TEST(sha256_gives_the_published_digests)
{
    static const struct {
        const char *hex, *digest;
    } vectors[] = {
        { "", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" },
        { "616263", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" },
        { "d3", "28969cdfa74a12c82f3bad960b0b000aca2ac329deea5c2328ebc6f2ba9802c1" },
        { "6162636462636465636465666465666765666768666768696768696a68696a6b"
          "696a6b6c6a6b6c6d6b6c6d6e6c6d6e6f6d6e6f706e6f7071",
          "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1" },
    };

    for (size_t i = 0; i < ARRAY_LEN(vectors); i++) {
        uint8_t bytes[64];
        char text[SHA256_TEXT_SIZE];
        size_t n = strlen(vectors[i].hex) / 2;

        ASSERT_EQ(hex_decode(str_from(vectors[i].hex), bytes, n), 0);
        sha256_text(str_of((char *)bytes, n), text);
        ASSERT_TEXT(text, vectors[i].digest);
    }
}

TEST(sha256_of_a_million_letters_in_uneven_pieces)
{
    uint8_t digest[SHA256_BYTES];
    char text[SHA256_TEXT_SIZE], piece[999];
    struct sha256 hash;
    size_t left = 1000000;

    memset(piece, 'a', sizeof(piece));
    sha256_init(&hash);
    while (left) {
        size_t n = left < sizeof(piece) ? left : sizeof(piece);

        sha256_add(&hash, str_of(piece, n));
        sha256_add(&hash, STR_NONE);
        left -= n;
    }
    sha256_finish(&hash, digest);
    hex_encode(digest, sizeof(digest), text);
    ASSERT_TEXT(text, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

static void check_mac(struct str key, struct str message, const char *expected)
{
    uint8_t mac[SHA256_BYTES];
    char text[SHA256_TEXT_SIZE];

    hmac_sha256(key, message, mac);
    hex_encode(mac, sizeof(mac), text);
    ASSERT_TEXT(text, expected);
}

TEST(hmac_sha256_gives_the_macs_of_rfc_4231)
{
    char key[131], data[50], counting[25];

    memset(key, 0x0b, 20);
    check_mac(str_of(key, 20), STR("Hi There"),
              "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
    check_mac(STR("Jefe"), STR("what do ya want for nothing?"),
              "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    memset(key, 0xaa, sizeof(key));
    memset(data, 0xdd, sizeof(data));
    check_mac(str_of(key, 20), str_of(data, sizeof(data)),
              "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe");
    for (size_t i = 0; i < sizeof(counting); i++)
        counting[i] = (char)(i + 1);
    memset(data, 0xcd, sizeof(data));
    check_mac(str_of(counting, sizeof(counting)), str_of(data, sizeof(data)),
              "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b");
    check_mac(str_of(key, 131), STR("Test Using Larger Than Block-Size Key - Hash Key First"),
              "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

TEST(hmac_sha256_takes_empty_key_and_message)
{
    check_mac(STR_NONE, STR_NONE,
              "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad");
}

TEST(hex_decode_takes_both_cases_and_nothing_else)
{
    uint8_t bytes[3];

    ASSERT_EQ(hex_decode(STR("00aBfF"), bytes, 3), 0);
    ASSERT(bytes[0] == 0 && bytes[1] == 0xab && bytes[2] == 0xff);
    ASSERT_EQ(hex_decode(STR(""), bytes, 0), 0);
    ASSERT_EQ(hex_decode(STR("00aBf"), bytes, 3), -1);
    ASSERT_EQ(hex_decode(STR("00aBfF0"), bytes, 3), -1);
    ASSERT_EQ(hex_decode(STR("00aBfg"), bytes, 3), -1);
    ASSERT_EQ(hex_decode(STR("00 BfF"), bytes, 3), -1);
    ASSERT_EQ(hex_decode(STR("0x"), bytes, 1), -1);
    ASSERT_EQ(hex_decode(STR("@A"), bytes, 1), -1);
}

TEST(secret_eq_is_true_only_for_equal_bytes)
{
    ASSERT(secret_eq(STR("token"), STR("token")));
    ASSERT(secret_eq(STR_NONE, STR("")));
    ASSERT(!secret_eq(STR("token"), STR("tokem")));
    ASSERT(!secret_eq(STR("token"), STR("token1")));
    ASSERT(!secret_eq(STR("a\0b"), STR("a\0c")));
}
