/* The tree that an agent sees: two mappings of its settings, its skills, what it knows.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>

#include "base/json.h"
#include "base/json_write.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "memory/edit.h"

struct str memory_tree(const struct agent *agent, struct arena *arena)
{
    return str_from(arena_printf(arena, "agents/%s", agent->id));
}

/* ---- paths ---- */

static bool is_name_char(uint32_t code, uint32_t before)
{
    return code >= 0x80 || (code >= 'a' && code <= 'z') || (code >= '0' && code <= '9') ||
           (code == '-' && before && before != '-');
}

/* Its form as a path. What is a letter beyond ASCII is the skill room's to say, which hears of
 * every file (file_check()). */
static bool is_skill_name(struct str name)
{
    uint32_t code = 0, before = 0;
    size_t units = 0; /* of UTF-16, as the format counts */

    for (struct str rest = name; rest.n; before = code) {
        if (utf8_decode(&rest, &code) < 0 || !is_name_char(code, before))
            return false;
        units += code > 0xFFFF ? 2 : 1;
    }
    return units && units <= LIMIT_SKILL_NAME && code != '-';
}

static int deny_skill(struct str path, struct err *err)
{
    return err_set(err, ERR_PATH_DENIED,
                   "path \"%.*s\": a skill is written as skills/NAME.md; NAME has lower-case "
                   "letters, digits and single '-', at most %d of them",
                   STR_ARG(path), LIMIT_SKILL_NAME);
}

static int skill_path(struct str path, bool write, struct arena *arena, struct str *ret_path,
                      struct err *err)
{
    struct str name = str_skip(path, sizeof("skills/") - 1);

    if (str_find_char(name, '/') >= 0) {
        if (write)
            return deny_skill(path, err);
        *ret_path = path;
        return 0;
    }
    if (!str_ends(name, STR(".md")) || !is_skill_name(str_take(name, name.n - 3)))
        return deny_skill(path, err);
    *ret_path =
        str_from(arena_printf(arena, "skills/%.*s/SKILL.md", STR_ARG(str_take(name, name.n - 3))));
    return 0;
}

int memory_path(struct str path, bool write, struct arena *arena, struct str *ret_path,
                struct err *err)
{
    if (file_path_check(path, arena, NULL, err) < 0)
        return -1;
    if (str_starts(path, STR("skills/")))
        return skill_path(path, write, arena, ret_path, err);
    if (str_is(path, "AGENTS.md") || str_is(path, "tools.json")) {
        if (write)
            return err_set(err, ERR_PATH_DENIED,
                           "path \"%.*s\" is read only; write below knowledge/ or to "
                           "skills/NAME.md",
                           STR_ARG(path));
    } else if (!str_starts(path, STR("knowledge/"))) {
        return err_set(err, ERR_PATH_DENIED, "path \"%.*s\": memory is %sknowledge/... and %s",
                       STR_ARG(path), write ? "" : "AGENTS.md, tools.json, ",
                       write ? "skills/NAME.md" : "skills/...");
    }
    *ret_path = path;
    return 0;
}

struct str memory_seen_path(struct str store_path, struct arena *arena)
{
    struct str name = str_skip(store_path, sizeof("skills/") - 1);

    if (!str_starts(store_path, STR("skills/")) || !str_ends(name, STR("/SKILL.md")))
        return store_path;
    name = str_take(name, name.n - (sizeof("/SKILL.md") - 1));
    if (!is_skill_name(name))
        return store_path;
    return str_from(arena_printf(arena, "skills/%.*s.md", STR_ARG(name)));
}

struct str memory_spelling(struct files *files, const struct agent *agent, struct str path,
                           bool removed, struct arena *arena)
{
    struct err none = ERR_INIT;
    struct str store_path;
    struct file *newest;
    size_t n;

    if (!files || memory_path(path, true, arena, &store_path, &none) < 0 ||
        file_history(files, memory_tree(agent, arena), store_path, 0, 1, arena, &newest, &n,
                     &none) < 0 ||
        n == 0 || (newest[0].deleted && !removed))
        return path;
    return memory_seen_path(newest[0].path, arena);
}

/* ---- reading ---- */

static const char *const mapped[] = { "AGENTS.md", "tools.json" };

int memory_admits(struct str tree, struct str path, struct err *err)
{
    for (size_t i = 0; i < ARRAY_LEN(mapped) && str_starts(tree, STR("agents/")); i++) {
        if (str_eq_nocase(path, str_from(mapped[i])))
            return err_set(err, ERR_PATH_DENIED,
                           "%s is made of the agent's settings; change it there (dormouse agents), "
                           "and keep notes below knowledge/",
                           mapped[i]);
    }
    return 0;
}

/* A list of names; "*" alone for an agent that has every tool of its kind. */
static struct str tools_text(const struct agent *agent, struct arena *arena)
{
    AUTO_BUF out = BUF_INIT(LIMIT_JSON_BYTES);
    struct json_writer w = JSON_WRITER(&out);
    AUTO_JSON list = NULL;

    if (agent->tools && json_parse(str_from(agent->tools), &list, NULL) == 0)
        json_write_value(&w, list);
    else
        json_write_raw(&w, STR("[\"*\"]"));
    buf_add_char(&out, '\n');
    return arena_str(arena, buf_str(&out));
}

static bool map_settings(const struct agent *agent, struct str path, struct arena *arena,
                         struct file *ret_file)
{
    bool tools = str_is(path, mapped[1]);

    if (!tools && !str_is(path, mapped[0]))
        return false;
    *ret_file = (struct file){
        .path = path,
        .content_type = tools ? STR("application/json") : STR("text/markdown"),
        .created_at = agent->created_at,
        .updated_at = agent->updated_at,
        .author = STR("owner"),
        .content =
            tools ? tools_text(agent, arena) : arena_str(arena, str_from(agent->instructions)),
    };
    ret_file->size = (int64_t)ret_file->content.n;
    return true;
}

int memory_read(struct files *files, const struct agent *agent, struct str path,
                struct arena *arena, struct file *ret_file, struct err *err)
{
    struct str store_path;
    int r;

    if (memory_path(path, false, arena, &store_path, err) < 0)
        return -1;
    if (map_settings(agent, path, arena, ret_file))
        return 1;
    r = file_get(files, memory_tree(agent, arena), store_path, arena, ret_file, err);
    if (r > 0)
        ret_file->path = memory_seen_path(ret_file->path, arena);
    return r;
}

/* ---- listing ---- */

static int by_path(const void *a, const void *b)
{
    return str_cmp(((const struct file *)a)->path, ((const struct file *)b)->path);
}

/* "knowledge/work" -> "knowledge/work/"; empty stays empty. */
static int directory_prefix(struct str directory, struct arena *arena, struct str *ret_prefix,
                            struct err *err)
{
    *ret_prefix = STR("");
    if (directory.n && directory.p[directory.n - 1] == '/')
        directory = str_take(directory, directory.n - 1);
    if (!directory.n)
        return 0;
    if (file_path_check(directory, arena, NULL, err) < 0)
        return -1;
    if (!str_is(directory, "knowledge") && !str_is(directory, "skills") &&
        !str_starts(directory, STR("knowledge/")) && !str_starts(directory, STR("skills/")))
        return err_set(err, ERR_PATH_DENIED,
                       "directory \"%.*s\": there are knowledge and skills, and what is below them",
                       STR_ARG(directory));
    *ret_prefix = str_from(arena_printf(arena, "%.*s/", STR_ARG(directory)));
    return 0;
}

/* Only what agents may see: there is nothing else in the tree, but it is not ours alone. */
static bool is_memory(struct str path)
{
    return str_starts(path, STR("knowledge/")) || str_starts(path, STR("skills/"));
}

int memory_list(struct files *files, const struct agent *agent, struct str directory,
                struct arena *arena, struct file **ret_files, size_t *ret_count, struct err *err)
{
    struct file *stored, *all;
    size_t count, n = 0;
    struct str prefix;

    if (directory_prefix(directory, arena, &prefix, err) < 0 ||
        file_list(files, memory_tree(agent, arena), prefix, arena, &stored, &count, err) < 0)
        return -1;
    all = ARENA_NEW_N(arena, struct file, count + ARRAY_LEN(mapped));
    for (size_t i = 0; i < ARRAY_LEN(mapped) && !prefix.n; i++)
        map_settings(agent, str_from(mapped[i]), arena, &all[n++]);
    for (size_t i = 0; i < count; i++) {
        if (!is_memory(stored[i].path))
            continue;
        all[n] = stored[i];
        all[n++].path = memory_seen_path(stored[i].path, arena);
    }
    qsort(all, n, sizeof(*all), by_path);
    *ret_files = all;
    *ret_count = n;
    return 0;
}
