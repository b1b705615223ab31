/* The words of a message on one line, for titles, previews and full text.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/json.h"
#include "base/utf8.h"
#include "memory/conversation.h"

/* Where the string that begins after s's opening quote ends, or where it was cut: never inside an
 * escape. */
static size_t string_end(struct str s)
{
    size_t i = 0;

    while (i < s.n && s.p[i] != '"') {
        size_t step = s.p[i] != '\\' ? 1 : i + 1 < s.n && s.p[i + 1] == 'u' ? 6 : 2;

        if (i + step > s.n)
            break;
        i += step;
    }
    return i;
}

/* A surrogate pair that was cut in two. */
static size_t without_half(struct str s, size_t n)
{
    bool high = n >= 6 && s.p[n - 6] == '\\' && s.p[n - 5] == 'u' &&
                (s.p[n - 4] == 'd' || s.p[n - 4] == 'D') && s.p[n - 3] >= '8' &&
                (s.p[n - 3] <= '9' || (s.p[n - 3] | 0x20) <= 'b');

    return high ? n - 6 : n;
}

/* Content that is whole is read as what it is; of a front only {"text":"... can be. */
static struct json_object *read_text(struct str content)
{
    struct str begin = STR("{\"text\":\"");
    struct json_object *value = NULL;
    AUTO_BUF quoted = BUF_INIT(64 * 1024);
    struct str rest;
    AUTO_JSON whole = NULL;

    if (json_parse(content, &whole, NULL) == 0)
        return json_object_get(json_find(whole, "text"));
    if (!str_starts(content, begin))
        return NULL;
    rest = str_skip(content, begin.n);
    rest = str_take(rest, without_half(rest, string_end(rest)));
    rest = utf8_truncate(rest, rest.n);
    buf_add_text(&quoted, "\"");
    buf_add_str(&quoted, str_take(rest, utf8_valid_prefix(rest)));
    buf_add_text(&quoted, "\"");
    return json_parse(buf_str(&quoted), &value, NULL) == 0 ? value : NULL;
}

struct str message_line(struct str content, size_t max, struct arena *arena)
{
    AUTO_JSON value = content.n ? read_text(content) : NULL;
    struct str text = str_trim(json_str(value));
    AUTO_BUF line = BUF_INIT(max + 8);
    bool space = false, cut = false;

    while (text.n) {
        struct str from = text;
        uint32_t code;
        size_t n;

        if (utf8_decode(&text, &code) < 0 || code <= ' ' || utf8_oddity_of(code) == UTF8_CONTROL) {
            space = line.n > 0;
            continue;
        }
        if (utf8_oddity_of(code) == UTF8_BIDI)
            continue; /* it would turn around what stands beside the line */
        n = from.n - text.n;
        cut = line.n + n + space > max;
        if (cut)
            break;
        if (space)
            buf_add_char(&line, ' ');
        space = false;
        buf_add_str(&line, str_take(from, n));
    }
    if (cut)
        buf_add_text(&line, "…");
    return arena_str(arena, buf_str(&line));
}
