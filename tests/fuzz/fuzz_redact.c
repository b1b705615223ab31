/* Redaction twice is redaction once, bounded, and a registered value never comes through.
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

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    struct str text = str_of((const char *)bytes, n);
    AUTO_BUF out = BUF_INIT(4 * n + 100);

    check(text);
    BUG_IF(redact_register(STR(SECRET)) < 0);
    check(text);
    redact(text, &out);
    BUG_IF(str_find(buf_str(&out), STR(SECRET)) >= 0);
    redact_forget(STR(SECRET));
    redact_key(text);
    return 0;
}
