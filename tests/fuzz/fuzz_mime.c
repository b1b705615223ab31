/* A message in, text out: valid UTF-8 within its bounds, whatever the bytes. And a subject that
 * goes out comes back.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdint.h>

#include "base/alloc.h"
#include "base/utf8.h"
#include "connect/mime.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void check_text(struct str text)
{
    BUG_IF(!utf8_valid(text));
}

static void check_subject(struct str text, struct arena *arena)
{
    AUTO_BUF clean = BUF_INIT(4096);
    AUTO_BUF mail = BUF_INIT(1 << 16);
    struct mime_message read;
    size_t at;
    uint32_t code;

    if (utf8_sanitise(str_take(text, 300), &clean) < 0 ||
        utf8_find_odd(buf_str(&clean), 1u << UTF8_CONTROL, &at, &code) != UTF8_PLAIN)
        return;
    buf_add_text(&mail, "Subject: ");
    mime_encode_words(buf_str(&clean), 9, &mail);
    for (size_t i = 0; i < mail.n; i++)
        BUG_IF((unsigned char)mail.p[i] >= 0x7f);
    mime_read(buf_str(&mail), arena, &read);
    BUG_IF(!str_eq(read.subject, str_trim(buf_str(&clean))));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    struct str input = str_of((const char *)bytes, n);
    AUTO_ARENA arena = ARENA_INIT;
    AUTO_BUF html = BUF_INIT(1 << 16);
    struct mime_message m;

    mime_read(input, &arena, &m);
    check_text(m.text);
    check_text(m.subject);
    check_text(m.from);
    BUG_IF(m.text.n > MIME_TEXT_MAX);
    for (size_t i = 0; i < m.n_attachments; i++)
        check_text(m.attachments[i].name);
    mime_html_text(input, &html);
    if (!html.full)
        check_text(buf_str(&html));
    check_subject(input, &arena);
    return 0;
}
