/* Making, changing, removing and bringing back an agent's own skills.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json.h>

#include "base/json.h"
#include "base/path.h"
#include "base/utf8.h"
#include "change/taint.h"
#include "skill/skill_int.h"

#define TEXT_ROOM (2 * SKILL_TEXT_MAX)

static int not_found(const struct agent *agent, struct str id, struct err *err)
{
    return err_set(err, ERR_NOT_FOUND, "agent %s has no skill \"%.*s\"", agent->id,
                   STR_ARG(utf8_truncate(id, 200)));
}

static int is_shared(struct str name, struct err *err)
{
    return err_set(err, ERR_CONFLICT,
                   "skill \"%.*s\" is shared by all agents; change it in the folder of shared "
                   "skills, switch it off for this agent, or add one of the same name to it",
                   STR_ARG(name));
}

static struct str path_of(struct str name, struct str rest, struct arena *arena)
{
    return str_from(arena_printf(arena, "skills/%.*s/%.*s", STR_ARG(name), STR_ARG(rest)));
}

/* Where untrusted text in a file of a skill came from: it stays so under another name and in what
 * is made of it. */
static int taint_of(struct skills *skills, const struct agent *agent, struct str name,
                    struct str rest, struct arena *arena, struct str *ret_taint, struct err *err)
{
    struct file *newest;
    size_t n;

    if (file_history(skills->config.files, skills_tree(agent, arena), path_of(name, rest, arena), 0,
                     1, arena, &newest, &n, err) < 0)
        return -1;
    *ret_taint = n ? newest[0].taint : STR_NONE;
    return 0;
}

static int put(struct skills *skills, const struct agent *agent, struct str name, struct str rest,
               struct str content, struct str taint, struct str by, struct str reason,
               struct arena *arena, struct err *err)
{
    struct file_write write = { .tree = skills_tree(agent, arena),
                                .path = path_of(name, rest, arena),
                                .content = content,
                                .base = FILE_ANY_VERSION,
                                .author = by,
                                .reason = reason,
                                .taint = taint };
    struct file file;

    return file_put(skills->config.files, &write, arena, &file, err) < 0 ? -1 : 0;
}

static int take_away(struct skills *skills, const struct agent *agent, struct str path,
                     struct str by, struct arena *arena, struct err *err)
{
    struct file_write write = { .tree = skills_tree(agent, arena),
                                .path = path,
                                .remove = true,
                                .base = FILE_ANY_VERSION,
                                .author = by,
                                .reason = STR("the skill was removed") };
    struct file file;

    return file_put(skills->config.files, &write, arena, &file, err) < 0 ? -1 : 0;
}

/* Left out for its form, a list of tools would allow every tool. */
static int check_json(const char *what, struct str text, enum json_type type, const char *allowed,
                      struct err *err)
{
    AUTO_JSON value = NULL;

    if (!text.n || (json_parse(text, &value, NULL) == 0 && json_object_is_type(value, type)))
        return 0;
    return err_set(err, ERR_BAD_REQUEST, "%s: it must be %s as JSON", what, allowed);
}

/* The SKILL.md of these fields, or why they make none. */
static int make_text(const struct skill *skill, struct arena *arena, struct str *ret_text,
                     struct err *err)
{
    AUTO_BUF text = BUF_INIT(TEXT_ROOM);
    struct skill again;

    if (!utf8_valid(skill->name) || !utf8_valid(skill->description) ||
        !utf8_valid(skill->instructions) || !utf8_valid(skill->license) ||
        !utf8_valid(skill->compatibility))
        return err_set(err, ERR_BAD_REQUEST, "the fields of a skill are UTF-8 text");
    if (check_json("metadata", skill->metadata, json_type_object, "an object", err) < 0 ||
        check_json("allowed_tools", skill->allowed_tools, json_type_array, "a list", err) < 0)
        return -1;
    skill_write(skill, &text);
    if (text.full)
        return err_set(err, ERR_TOO_LARGE, "the skill has more than %d bytes", SKILL_TEXT_MAX);
    *ret_text = arena_str(arena, buf_str(&text));
    return skill_parse(*ret_text, arena, &again, err);
}

static int check_free(struct skills *skills, const struct agent *agent, struct str name,
                      struct arena *arena, struct err *err)
{
    struct skill taken;
    int r = skill_store_find(skills, agent->n, name, arena, &taken, err);

    if (r == 1)
        return err_set(err, ERR_CONFLICT, "agent %s has a skill \"%.*s\" already", agent->id,
                       STR_ARG(name));
    return r;
}

static int read_back(struct skills *skills, const struct agent *agent, struct str name,
                     struct arena *arena, struct skill *ret_skill, struct err *err)
{
    int r = skills_get(skills, agent, name, arena, ret_skill, err);

    if (r == 0)
        return not_found(agent, name, err);
    return r < 0 ? -1 : 0;
}

/* What is made here says what to do; a SKILL.md from elsewhere may be its description alone. */
static int check_instructions(struct str instructions, struct err *err)
{
    if (str_trim(instructions).n)
        return 0;
    return err_set(err, ERR_BAD_REQUEST, "instructions: must be given and not be empty");
}

int skills_add(struct skills *skills, const struct agent *agent, const struct skill *skill,
               struct str by, struct arena *arena, struct skill *ret_skill, struct err *err)
{
    struct skill named = *skill;
    char name[SKILL_NAME_BYTES];
    struct str text;
    int r;

    if (skill_normalise_name(skill->name, name, err) < 0 ||
        check_instructions(skill->instructions, err) < 0)
        return -1;
    named.name = str_from(name);
    if (make_text(&named, arena, &text, err) < 0 ||
        check_free(skills, agent, named.name, arena, err) < 0)
        return -1;
    skills->source = "made";
    r = put(skills, agent, named.name, STR("SKILL.md"), text, STR_NONE, by,
            STR("the skill was added"), arena, err);
    skills->source = NULL;
    return r < 0 ? -1 : read_back(skills, agent, named.name, arena, ret_skill, err);
}

/* ---- changing ---- */

static struct str given(struct str wanted, struct str there)
{
    return wanted.p ? wanted : there;
}

/* All files under another name; the old ones go. The row goes first, so that it keeps its id. */
static int rename_files(struct skills *skills, const struct agent *agent, struct skill *skill,
                        struct str to, struct str by, struct arena *arena, struct err *err)
{
    struct archive_entry *entries;
    struct str from = skill->name;
    size_t count;

    if (skills_files(skills, agent, from, arena, &entries, &count, err) < 0)
        return -1;
    skill->name = to;
    if (skill_store_put(skills, agent->n, skill, arena, err) < 0)
        return -1;
    for (size_t i = 0; i < count; i++) {
        struct str taint;

        if (taint_of(skills, agent, from, entries[i].path, arena, &taint, err) < 0)
            return -1;
        if (!str_is(entries[i].path, "SKILL.md") &&
            put(skills, agent, to, entries[i].path, entries[i].content, taint, by,
                STR("the skill was renamed"), arena, err) < 0)
            return -1;
        if (take_away(skills, agent, path_of(from, entries[i].path, arena), by, arena, err) < 0)
            return -1;
    }
    return 0;
}

static int find_own(struct skills *skills, const struct agent *agent, struct str id,
                    struct arena *arena, struct skill *ret_skill, struct err *err)
{
    if (read_back(skills, agent, id, arena, ret_skill, err) < 0)
        return -1;
    return ret_skill->shared ? is_shared(ret_skill->name, err) : 0;
}

int skills_change(struct skills *skills, const struct agent *agent, struct str id,
                  const struct skill *skill, struct str by, struct arena *arena,
                  struct skill *ret_skill, struct err *err)
{
    struct skill before, after;
    char name[SKILL_NAME_BYTES];
    struct str text, taint;
    bool renamed;

    if (find_own(skills, agent, id, arena, &before, err) < 0 ||
        skill_normalise_name(given(skill->name, before.name), name, err) < 0 ||
        (skill->instructions.p && check_instructions(skill->instructions, err) < 0))
        return -1;
    after = before;
    after.name = str_from(name);
    after.description = given(skill->description, before.description);
    after.license = given(skill->license, before.license);
    after.compatibility = given(skill->compatibility, before.compatibility);
    after.metadata = given(skill->metadata, before.metadata);
    after.allowed_tools = given(skill->allowed_tools, before.allowed_tools);
    after.instructions = given(skill->instructions, before.instructions);
    renamed = !str_eq(after.name, before.name);
    if (make_text(&after, arena, &text, err) < 0 ||
        taint_of(skills, agent, before.name, STR("SKILL.md"), arena, &taint, err) < 0 ||
        (renamed && (check_free(skills, agent, after.name, arena, err) < 0 ||
                     rename_files(skills, agent, &before, after.name, by, arena, err) < 0)) ||
        put(skills, agent, after.name, STR("SKILL.md"), text, taint, by,
            STR("the skill was changed"), arena, err) < 0)
        return -1;
    return read_back(skills, agent, after.name, arena, ret_skill, err);
}

int skills_enable(struct skills *skills, const struct agent *agent, struct str id, bool enabled,
                  struct arena *arena, struct skill *ret_skill, struct err *err)
{
    struct skill skill;

    if (read_back(skills, agent, id, arena, &skill, err) < 0)
        return -1;
    if (skill.problem.n && enabled)
        return err_set(err, ERR_CONFLICT, "skill \"%.*s\" can't be used: %.*s", STR_ARG(skill.name),
                       STR_ARG(skill.problem));
    if (skill.enabled != enabled) {
        skill.enabled = enabled;
        if ((skill.shared ? skill_store_set_off(skills, agent->n, skill.name, !enabled, err)
                          : skill_store_put(skills, agent->n, &skill, arena, err)) < 0)
            return -1;
    }
    *ret_skill = skill;
    return 0;
}

int skills_remove(struct skills *skills, const struct agent *agent, struct str id, struct str by,
                  struct err *err)
{
    AUTO_ARENA arena = ARENA_INIT;
    struct archive_entry *entries;
    struct skill skill;
    size_t count;

    if (find_own(skills, agent, id, &arena, &skill, err) < 0 ||
        skills_files(skills, agent, skill.name, &arena, &entries, &count, err) < 0)
        return -1;
    for (size_t i = 0; i < count; i++)
        if (take_away(skills, agent, path_of(skill.name, entries[i].path, &arena), by, &arena,
                      err) < 0)
            return -1;
    return skill_store_remove(skills, agent->n, skill.name, err);
}

/* ---- bringing back ---- */

static int not_whole(struct str name, struct err *err)
{
    return err_set(err, ERR_CONFLICT,
                   "the files of skill \"%.*s\" are not those it had when it was removed; bring "
                   "back single files from their history",
                   STR_ARG(name));
}

/* What went when its SKILL.md went: that is the first file a removal takes. */
static int removed_files(struct skills *skills, struct str tree, struct str name,
                         struct arena *arena, struct file **ret_files, size_t *ret_count,
                         struct err *err)
{
    struct str folder = str_from(arena_printf(arena, "skills/%.*s/", STR_ARG(name)));
    struct str text = path_of(name, STR("SKILL.md"), arena);
    struct file *newest;
    size_t n;

    if (file_history(skills->config.files, tree, text, 0, 1, arena, &newest, &n, err) < 0)
        return -1;
    if (n == 0 || !newest[0].deleted)
        return not_whole(name, err);
    return file_list_deleted(skills->config.files, tree, folder, newest[0].updated_at, arena,
                             ret_files, ret_count, err);
}

/* SKILL.md last: with it the row is made anew, of all that is there. */
static int put_back(struct skills *skills, struct str tree, struct str name,
                    const struct file *files, size_t count, struct str by, struct arena *arena,
                    struct err *err)
{
    struct str text = path_of(name, STR("SKILL.md"), arena);
    struct file file;

    for (int last = 0; last < 2; last++)
        for (size_t i = 0; i < count; i++)
            if (str_eq(files[i].path, text) == last &&
                file_restore(skills->config.files, tree, files[i].path, files[i].version - 1, by,
                             STR("the skill was brought back"), arena, &file, err) < 0)
                return -1;
    return 0;
}

int skills_restore(struct skills *skills, const struct agent *agent, struct str id, struct str by,
                   struct arena *arena, struct skill *ret_skill, struct err *err)
{
    struct str tree = skills_tree(agent, arena);
    struct skill removed;
    struct file *files;
    size_t count;
    int r = skill_store_find_removed(skills, agent->n, id, arena, &removed, err);

    if (r == 0)
        return err_set(err, ERR_NOT_FOUND, "agent %s had no skill \"%.*s\" that was removed",
                       agent->id, STR_ARG(utf8_truncate(id, 200)));
    if (r < 0 || check_free(skills, agent, removed.name, arena, err) < 0 ||
        removed_files(skills, tree, removed.name, arena, &files, &count, err) < 0 ||
        skill_store_bring_back(skills, &removed, err) < 0)
        return -1;
    skills->source = arena_copy(arena, removed.source.p, removed.source.n);
    r = put_back(skills, tree, removed.name, files, count, by, arena, err);
    skills->source = NULL;
    if (r < 0 || read_back(skills, agent, removed.name, arena, ret_skill, err) < 0)
        return -1;
    return str_eq(ret_skill->content_hash, removed.content_hash) ? 0 : not_whole(removed.name, err);
}

/* ---- import ---- */

static int read_import(const struct archive_entry *entries, size_t count, struct arena *arena,
                       struct archive_entry *out, struct skill *ret_skill, struct err *err)
{
    struct problems problems = { .arena = arena };
    const struct archive_entry *text;
    struct str directory = archive_unwrap(entries, count, out);

    text = skill_find_text(out, count);
    if (!text)
        return err_set(err, ERR_BAD_REQUEST,
                       "there is no SKILL.md, neither at the top nor in the one directory there");
    front_read(text->content, directory, arena, ret_skill, &problems);
    if (problems.n)
        return err_set(err, ERR_BAD_REQUEST, "%.*s", STR_ARG(problems.items[0].text));
    ((struct archive_entry *)text)->path = STR("SKILL.md");
    return 0;
}

int skills_import(struct skills *skills, const struct agent *agent,
                  const struct archive_entry *entries, size_t count, struct arena *arena,
                  struct skill *ret_skill, struct err *err)
{
    struct archive_entry *own = ARENA_NEW_N(arena, struct archive_entry, count + 1);
    const struct archive_entry *text;
    struct skill skill;
    struct str taint;
    int r = 0;

    if (read_import(entries, count, arena, own, &skill, err) < 0 ||
        check_free(skills, agent, skill.name, arena, err) < 0)
        return -1;
    text = skill_find_text(own, count);
    taint = taint_source(TAINT_SKILL, skill.name, arena);
    skills->source = "import";
    /* Somebody else's words, whoever brought them in: they taint the conversation that reads them.
     * SKILL.md last: with it the row is made, of all that is there. */
    for (size_t i = 0; i < count && r == 0; i++)
        if (&own[i] != text && !str_is(own[i].path, "skill.md"))
            r = put(skills, agent, skill.name, own[i].path, own[i].content, taint, STR("owner"),
                    STR("the skill was imported"), arena, err);
    if (r == 0)
        r = put(skills, agent, skill.name, STR("SKILL.md"), text->content, taint, STR("owner"),
                STR("the skill was imported"), arena, err);
    skills->source = NULL;
    return r < 0 ? -1 : read_back(skills, agent, skill.name, arena, ret_skill, err);
}
