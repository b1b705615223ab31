/* Hashes by OpenSSL.
 *
 * SHA-256 is called directly. Its EVP interface allocates for each hash, and what is hashed here is
 * mostly short: links of a run's log, ids. The functions are those that EVP calls in the end; that
 * OpenSSL 3 calls them deprecated is to make way for providers, which nobody wants here.
 *
 * HMAC, which is rare, goes by EVP. Its algorithm object is fetched once: a fetch by name searches
 * the providers and costs more than the hash of a short text.
 *
 * SPDX-License-Identifier: MIT
 */
#define OPENSSL_SUPPRESS_DEPRECATED

#include "base/hash.h"

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <openssl/sha.h>
#include <pthread.h>

#include "base/alloc.h"

static pthread_once_t crypto_once = PTHREAD_ONCE_INIT;
static EVP_MAC *mac_hmac;

static void crypto_start(void)
{
    OPENSSL_init_crypto(OPENSSL_INIT_NO_LOAD_CONFIG | OPENSSL_INIT_NO_LOAD_CRYPTO_STRINGS, NULL);
    mac_hmac = EVP_MAC_fetch(NULL, "HMAC", NULL);
    if (!mac_hmac)
        BUG("libcrypto offers no HMAC");
}

static void must(int ok)
{
    if (ok != 1)
        BUG("libcrypto failed to hash");
}

_Static_assert(sizeof(SHA256_CTX) <= sizeof(struct sha256), "a hash under way has room");

static SHA256_CTX *ctx_of(struct sha256 *hash)
{
    return (SHA256_CTX *)hash->state;
}

void sha256_init(struct sha256 *hash)
{
    must(SHA256_Init(ctx_of(hash)));
}

void sha256_add(struct sha256 *hash, struct str bytes)
{
    if (bytes.n)
        must(SHA256_Update(ctx_of(hash), bytes.p, bytes.n));
}

void sha256_finish(struct sha256 *hash, uint8_t ret_digest[SHA256_BYTES])
{
    must(SHA256_Final(ret_digest, ctx_of(hash)));
}

void sha256_of(struct str bytes, uint8_t ret_digest[SHA256_BYTES])
{
    struct sha256 hash;

    sha256_init(&hash);
    sha256_add(&hash, bytes);
    sha256_finish(&hash, ret_digest);
}

void sha256_text(struct str bytes, char ret_text[SHA256_TEXT_SIZE])
{
    uint8_t digest[SHA256_BYTES];

    sha256_of(bytes, digest);
    hex_encode(digest, sizeof(digest), ret_text);
}

void hmac_sha256(struct str key, struct str message, uint8_t ret_mac[SHA256_BYTES])
{
    char digest[] = "SHA256";
    OSSL_PARAM params[] = {
        OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest, 0),
        OSSL_PARAM_construct_end(),
    };
    EVP_MAC_CTX *ctx;
    size_t n;

    pthread_once(&crypto_once, crypto_start);
    ctx = EVP_MAC_CTX_new(mac_hmac);
    /* An empty key needs an address: NULL would mean "keep the earlier key". */
    must(ctx && EVP_MAC_init(ctx, (const uint8_t *)(key.n ? key.p : ""), key.n, params));
    if (message.n)
        must(EVP_MAC_update(ctx, (const uint8_t *)message.p, message.n));
    must(EVP_MAC_final(ctx, ret_mac, &n, SHA256_BYTES));
    EVP_MAC_CTX_free(ctx);
}

void hex_encode(const void *bytes, size_t n, char *ret_text)
{
    static const char digits[] = "0123456789abcdef";
    const uint8_t *p = bytes;

    for (size_t i = 0; i < n; i++) {
        ret_text[2 * i] = digits[p[i] >> 4];
        ret_text[2 * i + 1] = digits[p[i] & 15];
    }
    ret_text[2 * n] = '\0';
}

int hex_decode(struct str text, uint8_t *ret_bytes, size_t n)
{
    if (text.n != 2 * n)
        return -1;
    for (size_t i = 0; i < n; i++) {
        int high = hex_digit(text.p[2 * i]), low = hex_digit(text.p[2 * i + 1]);

        if (high < 0 || low < 0)
            return -1;
        ret_bytes[i] = (uint8_t)(high << 4 | low);
    }
    return 0;
}

bool secret_eq(struct str a, struct str b)
{
    return a.n == b.n && (a.n == 0 || CRYPTO_memcmp(a.p, b.p, a.n) == 0);
}
