/* See unseen.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/unseen.h"

#include "base/utf8.h"

#define UNSEEN_TAGS_MAX 7 /* U+1F3F4, five or six tags, and the end of tags */

static const struct {
    const char *about;
    bool misleads;
} unseen_rows[] = {
#define X(id, name, about, misleads) [UNSEEN_##id] = { about, misleads },
    UNSEEN_KINDS(X)
#undef X
};

const char *unseen_about(enum unseen_kind kind)
{
    return unseen_rows[kind].about;
}

bool unseen_misleads(enum unseen_kind kind)
{
    return unseen_rows[kind].misleads;
}

/* ---- one character ---- */

static bool is_tag(uint32_t code)
{
    return code >= 0xE0000 && code <= 0xE007F;
}

static bool is_selector(uint32_t code)
{
    return (code >= 0xFE00 && code <= 0xFE0F) || (code >= 0xE0100 && code <= 0xE01EF);
}

static bool is_pictograph(uint32_t code)
{
    return code >= 0x1F000 || (code >= 0x2190 && code <= 0x2BFF) || code == 0xFE0F ||
           code == 0xA9 || code == 0xAE || code == 0x203C || code == 0x2049 ||
           (code >= 0x2100 && code <= 0x214F) || (code >= 0x3030 && code <= 0x3299);
}

static bool is_keycap(uint32_t code)
{
    return (code >= '0' && code <= '9') || code == '#' || code == '*';
}

/* Scripts that join their letters: Hebrew to Myanmar, Mongolian, Khmer. */
static bool is_joining(uint32_t code)
{
    return (code >= 0x590 && code <= 0x109F) || (code >= 0x1780 && code <= 0x18AF) ||
           (code >= 0xFB1D && code <= 0xFEFC && !is_selector(code));
}

/* What a character is, given its neighbours; UNSEEN_NONE: it is as it should be. */
static enum unseen_kind unseen_kind_of(uint32_t before, uint32_t code, uint32_t after, bool in_flag)
{
    static const enum unseen_kind kinds[] = { [UTF8_INVALID] = UNSEEN_INVALID,
                                              [UTF8_CONTROL] = UNSEEN_CONTROL,
                                              [UTF8_BIDI] = UNSEEN_BIDI,
                                              [UTF8_HIDDEN] = UNSEEN_HIDDEN,
                                              [UTF8_PRIVATE] = UNSEEN_PRIVATE };
    enum utf8_oddity odd = utf8_oddity_of(code);

    if (odd == UTF8_PLAIN || odd == UTF8_ODD_SPACE || code == '\n' || code == '\t' || code == '\r')
        return UNSEEN_NONE;
    if (is_tag(code))
        return in_flag ? UNSEEN_NONE : UNSEEN_TAGS;
    if (is_selector(code))
        return (code == 0xFE0E || code == 0xFE0F) && (is_pictograph(before) || is_keycap(before)) &&
                       !is_selector(before)
                   ? UNSEEN_NONE
                   : UNSEEN_SELECTORS;
    if ((code == 0x200C || code == 0x200D) && is_joining(before) && is_joining(after))
        return UNSEEN_NONE;
    if (code == 0x200D && is_pictograph(before) && is_pictograph(after))
        return UNSEEN_NONE;
    if (code == 0x200E || code == 0x200F || code == 0x61C)
        return UNSEEN_MARK;
    if (code == 0xAD || code == 0xFEFF)
        return UNSEEN_SOFT;
    return kinds[odd];
}

/* The tags of a flag: after a black flag, few, and ended. */
static bool begins_flag(struct str rest)
{
    uint32_t code;

    for (unsigned i = 0; i < UNSEEN_TAGS_MAX && rest.n; i++) {
        if (utf8_decode(&rest, &code) < 0 || !is_tag(code))
            return false;
        if (code == 0xE007F)
            return i > 1;
    }
    return false;
}

static uint32_t unseen_peek(struct str rest)
{
    uint32_t code;

    return rest.n && utf8_decode(&rest, &code) == 0 ? code : 0;
}

/* The character before `at`, which begins one. */
static uint32_t unseen_before(struct str text, size_t at)
{
    size_t from = at;

    while (from > 0 && at - from < 4 && ((unsigned char)text.p[--from] & 0xC0) == 0x80)
        continue;
    return unseen_peek(str_of(text.p + from, at - from));
}

/* ---- runs ---- */

bool unseen_next(struct str text, size_t *at, struct unseen_run *ret_run)
{
    struct str rest = str_skip(text, *at);
    struct unseen_run run = { .kind = UNSEEN_NONE };
    uint32_t before = unseen_before(text, *at), code;
    bool in_flag = false;

    while (rest.n) {
        size_t here = text.n - rest.n;
        enum unseen_kind kind = UNSEEN_NONE;

        if ((unsigned char)rest.p[0] < 0x80 && rest.p[0] >= ' ' && rest.p[0] != 127) {
            code = (uint32_t)rest.p[0];
            rest = str_skip(rest, 1);
        } else if (utf8_decode(&rest, &code) < 0) {
            code = 0;
            kind = UNSEEN_INVALID;
        } else {
            if (is_tag(code) && !in_flag)
                in_flag = before == 0x1F3F4 && begins_flag(str_skip(text, here));
            in_flag = in_flag && is_tag(code);
            kind = unseen_kind_of(before, code, unseen_peek(rest), in_flag);
        }
        if (run.kind && kind != run.kind) {
            run.to = *at = here;
            *ret_run = run;
            return true;
        }
        if (!run.kind && kind)
            run = (struct unseen_run){ .kind = kind, .from = here, .first = code };
        before = code;
    }
    *at = run.to = text.n;
    *ret_run = run;
    return run.kind != UNSEEN_NONE;
}
