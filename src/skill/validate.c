/* Is this a skill? The text of a SKILL.md alone, and a directory with all that is in it.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/utf8.h"
#include "skill/skill_int.h"

int skill_parse(struct str text, struct arena *arena, struct skill *ret_skill, struct err *err)
{
    struct problems problems = { .arena = arena };
    struct skill skill;
    AUTO_BUF all = BUF_INIT(4096);

    front_read(text, STR_NONE, arena, &skill, &problems);
    if (!problems.n) {
        *ret_skill = skill;
        return 0;
    }
    for (size_t i = 0; i < problems.n; i++)
        buf_printf(&all, "%s%.*s", i ? "; " : "", STR_ARG(problems.items[i].text));
    return err_set(err, ERR_BAD_REQUEST, "%s", buf_text(&all));
}

const struct archive_entry *skill_find_text(const struct archive_entry *entries, size_t count)
{
    const struct archive_entry *found = NULL;

    for (size_t i = 0; i < count; i++) {
        if (str_is(entries[i].path, "SKILL.md"))
            return &entries[i];
        if (str_is(entries[i].path, "skill.md"))
            found = &entries[i];
    }
    return found;
}

size_t skill_validate(const struct archive_entry *entries, size_t count, struct str directory_name,
                      struct arena *arena, struct skill_problem **ret_problems)
{
    struct problems problems = { .arena = arena };
    const struct archive_entry *text = skill_find_text(entries, count);
    struct skill skill;

    if (!text)
        problem_add(&problems, "SKILL.md is missing");
    else
        front_read(text->content, directory_name, arena, &skill, &problems);
    *ret_problems = problems.items;
    return problems.n;
}

/* An archive of one directory: its name is taken off every path. Empty: there is none. */
static struct str wrapping(const struct archive_entry *entries, size_t count)
{
    ptrdiff_t slash = count ? str_find_char(entries[0].path, '/') : -1;
    struct str top;

    if (slash <= 0 || skill_find_text(entries, count))
        return STR_NONE;
    top = str_take(entries[0].path, (size_t)slash + 1);
    for (size_t i = 1; i < count; i++)
        if (!str_starts(entries[i].path, top))
            return STR_NONE;
    return top;
}

struct str archive_unwrap(const struct archive_entry *entries, size_t count,
                          struct archive_entry *out)
{
    struct str top = wrapping(entries, count);

    for (size_t i = 0; i < count; i++) {
        out[i] = entries[i];
        out[i].path = str_skip(entries[i].path, top.n);
    }
    return top.n ? str_take(top, top.n - 1) : STR_NONE;
}

size_t skill_validate_archive(const struct archive_entry *entries, size_t count,
                              struct arena *arena, struct skill_problem **ret_problems,
                              struct str *ret_name)
{
    struct archive_entry *own = ARENA_NEW_N(arena, struct archive_entry, count + 1);
    struct str directory = archive_unwrap(entries, count, own);
    struct problems ignored = { .arena = arena };
    const struct archive_entry *text = skill_find_text(own, count);
    struct skill skill = { .enabled = false };

    if (text)
        front_read(text->content, STR_NONE, arena, &skill, &ignored);
    *ret_name = skill.name;
    return skill_validate(own, count, directory, arena, ret_problems);
}
