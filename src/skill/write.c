/* Writing a SKILL.md: what front.c reads back as the same skill.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json.h>
#include <strings.h>

#include "base/json.h"
#include "base/json_write.h"
#include "skill/skill_int.h"

/* Words that mean something else to one reader of YAML or another. */
static bool is_word(struct str text)
{
    static const char *const words[] = {
        "null", "true", "false", "yes", "no", "on", "off", "y", "n"
    };

    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (str_eq_nocase(text, str_from(words[i])))
            return true;
    return false;
}

static bool is_plain(struct str text)
{
    static const char safe[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 ,.()/-_;+";

    if (!text.n || is_word(text) || text.p[text.n - 1] == ' ' || str_find(text, STR("---")) >= 0)
        return false;
    if ((text.p[0] | 32) < 'a' || (text.p[0] | 32) > 'z')
        return false;
    for (size_t i = 0; i < text.n; i++)
        if (!text.p[i] || !strchr(safe, text.p[i]))
            return false;
    return true;
}

/* A JSON string is a YAML string. Hyphens are escaped where three would look like a fence. */
static void add_scalar(struct buf *out, struct str text)
{
    AUTO_BUF quoted = BUF_INIT(6 * text.n + 16);
    struct str rest;
    ptrdiff_t at;

    if (is_plain(text)) {
        buf_add_str(out, text);
        return;
    }
    json_quote(&quoted, text);
    for (rest = buf_str(&quoted); (at = str_find(rest, STR("---"))) >= 0;
         rest = str_skip(rest, (size_t)at + 3)) {
        buf_add_str(out, str_take(rest, (size_t)at));
        buf_add_text(out, "--\\x2d");
    }
    buf_add_str(out, rest);
}

static void add_field(struct buf *out, const char *name, struct str text)
{
    if (!text.n)
        return;
    buf_printf(out, "%s: ", name);
    add_scalar(out, text);
    buf_add_char(out, '\n');
}

static void add_tools(struct buf *out, struct str tools)
{
    AUTO_JSON list = NULL;
    struct err err = ERR_INIT;

    if (!tools.n || json_parse(tools, &list, &err) < 0 ||
        !json_object_is_type(list, json_type_array) || !json_length(list))
        return;
    buf_add_text(out, "allowed-tools:\n");
    for (size_t i = 0; i < json_length(list); i++) {
        buf_add_text(out, "  - ");
        add_scalar(out, json_str(json_object_array_get_idx(list, i)));
        buf_add_char(out, '\n');
    }
}

static void add_metadata(struct buf *out, struct str metadata)
{
    AUTO_JSON map = NULL;
    struct err err = ERR_INIT;
    struct json_object_iter it;

    if (!metadata.n || json_parse(metadata, &map, &err) < 0 ||
        !json_object_is_type(map, json_type_object) || !json_object_object_length(map))
        return;
    buf_add_text(out, "metadata:\n");
    json_object_object_foreachC(map, it)
    {
        buf_add_text(out, "  ");
        add_scalar(out, str_from(it.key));
        buf_add_text(out, ": ");
        add_scalar(out, json_str(it.val));
        buf_add_char(out, '\n');
    }
}

void skill_write(const struct skill *skill, struct buf *out)
{
    buf_add_text(out, "---\n");
    add_field(out, "name", skill->name);
    add_field(out, "description", skill->description);
    add_field(out, "license", skill->license);
    add_field(out, "compatibility", skill->compatibility);
    add_metadata(out, skill->metadata);
    add_tools(out, skill->allowed_tools);
    buf_add_text(out, "---\n");
    if (skill->instructions.n) {
        buf_add_char(out, '\n');
        buf_add_str(out, skill->instructions);
        if (skill->instructions.p[skill->instructions.n - 1] != '\n')
            buf_add_char(out, '\n');
    }
}
