/* Redaction twice is redaction once, bounded, and a registered value never comes through. What is
 * shown to somebody who decides keeps everything that a shell would read.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/alloc.h"
#include "base/redact.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

#define SECRET "plumtree/9"

static void check(struct str text)
{
    AUTO_BUF once = BUF_INIT(4 * text.n + 100);
    AUTO_BUF twice = BUF_INIT(4 * text.n + 200);

    BUG_IF(redact(text, &once) < 0);
    BUG_IF(once.n > 4 * text.n + sizeof(REDACT_MARK));
    BUG_IF(redact(buf_str(&once), &twice) < 0);
    BUG_IF(!str_eq(buf_str(&once), buf_str(&twice)));
}

static void check_shown(struct str text)
{
    static const char shell[] = ";&|`$()<>{}\\'\"";
    AUTO_BUF out = BUF_INIT(4 * text.n + 100);
    size_t before[256] = { 0 }, after[256] = { 0 };

    BUG_IF(redact_shown(text, &out) < 0);
    for (size_t i = 0; i < text.n; i++)
        before[(unsigned char)text.p[i]]++;
    for (size_t i = 0; i < out.n; i++)
        after[(unsigned char)out.p[i]]++;
    for (const char *c = shell; *c; c++)
        BUG_IF(before[(unsigned char)*c] != after[(unsigned char)*c]);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    struct str text = str_of((const char *)bytes, n);
    AUTO_BUF out = BUF_INIT(4 * n + 100);

    check(text);
    check_shown(text);
    BUG_IF(redact_register(STR(SECRET)) < 0);
    check(text);
    redact(text, &out);
    BUG_IF(str_find(buf_str(&out), STR(SECRET)) >= 0);
    buf_clear(&out);
    redact_shown(text, &out);
    BUG_IF(str_find(buf_str(&out), STR(SECRET)) >= 0);
    redact_forget(STR(SECRET));
    redact_key(text);
    return 0;
}
