/* Fixed texts by their two rarest bytes.
 *
 * Thirty-two places at once are asked whether both bytes stand where they should; what passes is
 * compared as a whole. How rare a byte is comes from a table of what source text and prose are made
 * of, so `_` or `Q` is looked for rather than `e`.
 *
 * SPDX-License-Identifier: MIT
 */
#include "sandbox/search_literal.h"

#include <ctype.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "base/alloc.h"

/* Commonest first; what is not listed is rarer. */
static const char common[] = " etaoinsrlcdupmhf\n_g.b,()y;v-=*/\"w0k1:x>'2<jqz3{}[]4568A79CESTI+#"
                             "RDNPLOMFBU&GHV";

static size_t rarity(unsigned char c)
{
    const char *at = c ? strchr(common, c) : NULL;

    return at ? (size_t)(at - common) : sizeof(common);
}

static bool is_at(const struct literal *l, const char *p)
{
    if (!l->nocase)
        return memcmp(p, l->text, l->n) == 0;
    for (size_t k = 0; k < l->n; k++)
        if (l->low[(unsigned char)p[k]] != (unsigned char)l->text[k])
            return false;
    return true;
}

const char *literal_find_plain(const struct literal *l, const char *p, const char *end)
{
    if (!l->nocase)
        return (size_t)(end - p) < l->n ? NULL : memmem(p, (size_t)(end - p), l->text, l->n);
    for (; (size_t)(end - p) >= l->n; p++)
        if (l->low[(unsigned char)p[l->i]] == (unsigned char)l->text[l->i] && is_at(l, p))
            return p;
    return NULL;
}

#if defined(__x86_64__)
#define STEP 32

__attribute__((target("avx2"))) static const char *find_avx2(const struct literal *l, const char *p,
                                                             const char *end)
{
    /* Setting one bit makes ASCII letters lower case; other bytes that pass by it are caught by
     * the comparison. */
    bool fold_i = l->nocase && isalpha((unsigned char)l->text[l->i]);
    bool fold_j = l->nocase && isalpha((unsigned char)l->text[l->j]);
    __m256i bit_i = _mm256_set1_epi8(fold_i ? 0x20 : 0),
            bit_j = _mm256_set1_epi8(fold_j ? 0x20 : 0);
    __m256i want_i = _mm256_set1_epi8(l->text[l->i]), want_j = _mm256_set1_epi8(l->text[l->j]);
    size_t reach = l->n - 1 + STEP;

    for (; (size_t)(end - p) >= reach; p += STEP) {
        __m256i at_i = _mm256_loadu_si256((const __m256i *)(const void *)(p + l->i));
        __m256i at_j = _mm256_loadu_si256((const __m256i *)(const void *)(p + l->j));
        __m256i both = _mm256_and_si256(_mm256_cmpeq_epi8(_mm256_or_si256(at_i, bit_i), want_i),
                                        _mm256_cmpeq_epi8(_mm256_or_si256(at_j, bit_j), want_j));
        unsigned hits = (unsigned)_mm256_movemask_epi8(both);

        for (; hits; hits &= hits - 1) {
            const char *at = p + __builtin_ctz(hits);

            if (is_at(l, at))
                return at;
        }
    }
    return literal_find_plain(l, p, end);
}
#endif

static void choose_rare(struct literal *l)
{
    for (size_t k = 0; k < l->n; k++)
        if (rarity((unsigned char)l->text[k]) > rarity((unsigned char)l->text[l->i]))
            l->i = k;
    l->j = l->i == 0 && l->n > 1 ? 1 : 0;
    for (size_t k = 0; k < l->n; k++)
        if (k != l->i && rarity((unsigned char)l->text[k]) > rarity((unsigned char)l->text[l->j]))
            l->j = k;
}

void literal_init(struct literal *literal, struct str text, bool nocase)
{
    BUG_IF(text.n == 0 || text.n > LITERAL_MAX);
    *literal = (struct literal){ .n = text.n, .nocase = nocase, .find = literal_find_plain };
    for (int c = 0; c < 256; c++)
        literal->low[c] = (unsigned char)(nocase && c < 128 ? tolower(c) : c);
    for (size_t k = 0; k < text.n; k++)
        literal->text[k] = (char)literal->low[(unsigned char)text.p[k]];
    choose_rare(literal);
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2"))
        literal->find = find_avx2;
#endif
}
