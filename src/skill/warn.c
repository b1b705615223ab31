/* What a person should know of a skill that came from elsewhere.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json.h>

#include "base/json.h"
#include "base/utf8.h"
#include "skill/skill_int.h"

#define NAMES_BYTES 400 /* of a warning that lists */

static void add_name(struct buf *out, struct str name)
{
    if (out->n < NAMES_BYTES)
        buf_printf(out, "%s%.*s", out->n ? ", " : "", STR_ARG(utf8_truncate(name, 80)));
    else if (!str_ends(buf_str(out), STR("...")))
        buf_add_text(out, " ...");
}

static size_t list_scripts(const struct archive_entry *entries, size_t count, struct buf *out)
{
    size_t n = 0;

    for (size_t i = 0; i < count; i++) {
        if (!str_starts(entries[i].path, STR("scripts/")))
            continue;
        add_name(out, entries[i].path);
        n++;
    }
    return n;
}

/* "Bash(git:*)" is about Bash. */
static bool is_known(const struct skills *skills, struct str item)
{
    ptrdiff_t open = str_find_char(item, '(');
    struct str name = open < 0 ? item : str_take(item, (size_t)open);
    size_t n = 0;
    const struct tool_contract *const *all = tool_bed_contracts(skills->config.tools, &n);

    for (size_t i = 0; i < n; i++)
        if (use_names_tool(name, all[i]->name))
            return true;
    return false;
}

static void list_unknown(const struct skills *skills, struct str allowed_tools, struct buf *out)
{
    AUTO_JSON list = NULL;

    if (!skills->config.tools || json_parse(allowed_tools, &list, NULL) < 0 ||
        !json_object_is_type(list, json_type_array))
        return;
    for (size_t i = 0; i < json_length(list); i++) {
        struct str item = json_str(json_object_array_get_idx(list, i));

        if (!is_known(skills, item))
            add_name(out, item);
    }
}

size_t skills_warnings(const struct skills *skills, const struct skill *skill,
                       const struct archive_entry *entries, size_t count, struct arena *arena,
                       struct str ret_warnings[SKILL_WARNINGS_MAX])
{
    AUTO_BUF scripts = BUF_INIT(2 * NAMES_BYTES);
    AUTO_BUF unknown = BUF_INIT(2 * NAMES_BYTES);
    size_t n = 0, script_count = list_scripts(entries, count, &scripts);

    list_unknown(skills, skill->allowed_tools, &unknown);
    if (script_count)
        ret_warnings[n++] = str_from(
            arena_printf(arena, "It has %zu script%s (%s), shown to you before the first run.",
                         script_count, script_count == 1 ? "" : "s", buf_text(&scripts)));
    if (unknown.n)
        ret_warnings[n++] = str_from(
            arena_printf(arena, "Its allowed-tools name what is not here: %s", buf_text(&unknown)));
    if (str_is(skill->signature, "unverified"))
        ret_warnings[n++] = STR("Its signature is not one of a trusted key.");
    return n;
}
