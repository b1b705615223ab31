/* Characters that nobody sees, or that make text look like another.
 *
 * Some have their honest uses: a joiner inside an emoji or a Persian word, a selector after a
 * heart, the tags of a flag of England. Those are let through by what stands beside them;
 * everything else is shown as a run.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/utf8.h"
#include "memory/flags_int.h"

#define FLAG_TAGS_MAX 7 /* U+1F3F4, five or six tags, and the end of tags */

static const struct flag_rule rules[] = {
    [UTF8_INVALID] = { "invalid-utf8", "Bytes that are no text", MEMORY_DANGER },
    [UTF8_CONTROL] = { "control", "Control characters", MEMORY_DANGER },
    [UTF8_BIDI] = { "bidi", "Characters that turn the order of text around", MEMORY_DANGER },
    [UTF8_HIDDEN] = { "hidden", "Characters that nobody sees", MEMORY_DANGER },
    [UTF8_PRIVATE] = { "private-use", "Characters without an agreed meaning", MEMORY_WARNING },
};
static const struct flag_rule tag_rule = { "tags", "Text hidden in tag characters", MEMORY_DANGER };
static const struct flag_rule selector_rule = { "variation-selectors",
                                                "Variation selectors that can carry hidden text",
                                                MEMORY_DANGER };
static const struct flag_rule mark_rule = { "direction-mark", "Marks of direction",
                                            MEMORY_WARNING };
static const struct flag_rule space_rule = { "soft-hyphen", "Invisible hyphen or byte order mark",
                                             MEMORY_WARNING };

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

/* Scripts that join their letters: Hebrew to Myanmar, Mongolian, Khmer. */
static bool is_joining(uint32_t code)
{
    return (code >= 0x590 && code <= 0x109F) || (code >= 0x1780 && code <= 0x18AF) ||
           (code >= 0xFB1D && code <= 0xFEFC && !is_selector(code));
}

/* What a character is flagged as, given its neighbours; NULL: it is as it should be. */
static const struct flag_rule *rule_of(uint32_t before, uint32_t code, uint32_t after, bool in_flag)
{
    enum utf8_oddity odd = utf8_oddity_of(code);

    if (odd == UTF8_PLAIN || odd == UTF8_ODD_SPACE || code == '\n' || code == '\t' || code == '\r')
        return NULL;
    if (is_tag(code))
        return in_flag ? NULL : &tag_rule;
    if (is_selector(code)) {
        bool keycap =
            before < 0x80 && (flag_is_digit((char)before) || before == '#' || before == '*');

        if ((code == 0xFE0E || code == 0xFE0F) && (is_pictograph(before) || keycap) &&
            !is_selector(before))
            return NULL;
        return &selector_rule;
    }
    if ((code == 0x200C || code == 0x200D) && is_joining(before) && is_joining(after))
        return NULL;
    if (code == 0x200D && is_pictograph(before) && is_pictograph(after))
        return NULL;
    if (code == 0x200E || code == 0x200F || code == 0x61C)
        return &mark_rule;
    if (code == 0xAD || code == 0xFEFF)
        return &space_rule;
    return &rules[odd];
}

/* The tags of a flag: after a black flag, few, and ended. */
static bool begins_flag(struct str rest)
{
    uint32_t code;

    for (unsigned i = 0; i < FLAG_TAGS_MAX && rest.n; i++) {
        if (utf8_decode(&rest, &code) < 0 || !is_tag(code))
            return false;
        if (code == 0xE007F)
            return i > 1;
    }
    return false;
}

static uint32_t peek(struct str rest)
{
    uint32_t code;

    return rest.n && utf8_decode(&rest, &code) == 0 ? code : 0;
}

void flag_hidden(struct flag_search *search)
{
    struct str rest = search->text;
    const struct flag_rule *open = NULL;
    size_t start = 0;
    uint32_t before = 0, code;
    bool in_flag = false;

    while (rest.n) {
        size_t at = search->text.n - rest.n;
        const struct flag_rule *rule;

        if ((unsigned char)rest.p[0] < 0x80 && rest.p[0] >= ' ' && rest.p[0] != 127) {
            code = (uint32_t)rest.p[0];
            rest = str_skip(rest, 1);
            rule = NULL;
        } else if (utf8_decode(&rest, &code) < 0) {
            code = 0;
            rule = &rules[UTF8_INVALID];
        } else {
            if (is_tag(code) && !in_flag)
                in_flag = before == 0x1F3F4 && begins_flag(str_skip(search->text, at));
            in_flag = in_flag && is_tag(code);
            rule = rule_of(before, code, peek(rest), in_flag);
        }
        if (rule != open) {
            if (open)
                flag_add(search, open, start, at);
            start = at;
            open = rule;
        }
        before = code;
    }
    if (open)
        flag_add(search, open, start, search->text.n);
}
