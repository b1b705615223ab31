/* The table of skills follows the files: whoever writes skills/NAME/... (an agent, the API, a
 * person with an editor), the row is made, changed or removed in the same unit.
 *
 * What an agent writes must be valid. What a person writes is theirs: a broken SKILL.md is kept,
 * and its row is switched off until it is mended. Such a row has no description, which a valid
 * skill always has; that tells it from one that a person switched off.
 *
 * SPDX-License-Identifier: MIT
 */
#include "skill/skill_int.h"

#define FROM(ptr) ((struct skills *)(void *)((char *)(ptr)-offsetof(struct skills, watcher)))

struct place {
    struct str agent_id, name, rest; /* rest: "SKILL.md", "scripts/x" */
};

/* false: the file is no part of a skill. */
static bool place_of(struct str tree, struct str path, struct place *ret_place)
{
    struct str below;
    ptrdiff_t slash;

    if (!str_starts(tree, STR("agents/")) || !str_starts(path, STR("skills/")))
        return false;
    below = str_skip(path, sizeof("skills/") - 1);
    slash = str_find_char(below, '/');
    if (slash <= 0)
        return false;
    *ret_place = (struct place){ .agent_id = str_skip(tree, sizeof("agents/") - 1),
                                 .name = str_take(below, (size_t)slash),
                                 .rest = str_skip(below, (size_t)slash + 1) };
    return true;
}

static const char *source_of(const struct skills *skills, struct str author)
{
    if (skills->source)
        return skills->source;
    return str_starts(author, STR("agent:")) ? "agent" : "file";
}

/* The hash of the directory as it is now, and who signed it. */
static int look_at_files(struct skills *skills, struct str tree, struct str name,
                         struct arena *arena, struct skill *skill, struct err *err)
{
    struct str prefix = str_from(arena_printf(arena, "skills/%.*s/", STR_ARG(name)));
    char *hash = arena_alloc(arena, SHA256_TEXT_SIZE, 1);
    struct file *files;
    struct archive_entry *entries;
    size_t count;
    bool is_signed = false;

    if (file_list(skills->config.files, tree, prefix, arena, &files, &count, err) < 0)
        return -1;
    entries = ARENA_NEW_N(arena, struct archive_entry, count + 1);
    for (size_t i = 0; i < count; i++) {
        entries[i].path = str_skip(files[i].path, prefix.n);
        entries[i].content = files[i].hash;
        is_signed |= str_is(entries[i].path, "SIGNATURE");
    }
    skills_hash_of_hashes(entries, count, hash);
    skill->content_hash = str_from(hash);
    skill->signature = STR_NONE;
    if (is_signed) {
        struct file file;
        int r = file_get(skills->config.files, tree,
                         str_from(arena_printf(arena, "%.*sSIGNATURE", STR_ARG(prefix))), arena,
                         &file, err);

        if (r < 0)
            return -1;
        skill->signature =
            sign_check_hash(file.content, entries, count, skills->config.trusted_keys, arena);
    }
    return 0;
}

static int refuse(struct str name, const struct problems *problems, struct err *err)
{
    return err_set(err, ERR_BAD_REQUEST, "skills/%.*s/SKILL.md: %.*s", STR_ARG(name),
                   STR_ARG(problems->items[0].text));
}

static int put_row(struct skills *skills, const struct agent *agent, const struct place *place,
                   struct str tree, const struct file *after, struct arena *arena, struct err *err)
{
    struct problems problems = { .arena = arena };
    struct skill skill, before = { .enabled = true };
    int r = skill_store_find(skills, agent->n, place->name, arena, &before, err);

    if (r < 0)
        return -1;
    if (r == 1 && !str_eq(before.name, place->name)) { /* its id looks like this name */
        before = (struct skill){ .enabled = true };
        r = 0;
    }
    front_read(after->content, place->name, arena, &skill, &problems);
    if (problems.n && str_starts(after->author, STR("agent:")))
        return refuse(place->name, &problems, err);
    if (problems.n)
        skill = (struct skill){ .metadata = STR("{}"), .allowed_tools = STR("[]") };
    skill.name = place->name;
    skill.id = r == 1 ? before.id : STR_NONE;
    skill.created_at = before.created_at;
    skill.source =
        r == 1 && !skills->source ? before.source : str_from(source_of(skills, after->author));
    skill.enabled = !problems.n && (before.enabled || !before.description.n);
    if (look_at_files(skills, tree, place->name, arena, &skill, err) < 0)
        return -1;
    return skill_store_put(skills, agent->n, &skill, arena, err);
}

/* Another file of the skill: its hash is another. */
static int touch_row(struct skills *skills, const struct agent *agent, const struct place *place,
                     struct str tree, struct arena *arena, struct err *err)
{
    struct skill skill;
    int r = skill_store_find(skills, agent->n, place->name, arena, &skill, err);

    if (r != 1)
        return r;
    if (!str_eq(skill.name, place->name))
        return 0;
    if (look_at_files(skills, tree, place->name, arena, &skill, err) < 0)
        return -1;
    return skill_store_put(skills, agent->n, &skill, arena, err);
}

/* What an agent asks to write has to be a skill before a person is asked about it. */
int watch_check(struct file_watcher *watcher, struct str tree, const struct file *after,
                struct err *err)
{
    AUTO_ARENA arena = ARENA_INIT;
    struct place place;

    (void)watcher;
    if (after->deleted || !place_of(tree, after->path, &place) || !str_is(place.rest, "SKILL.md") ||
        !str_starts(after->author, STR("agent:")))
        return 0;
    return skills_check_file(after->path, after->content, &arena, err);
}

int watch_written(struct file_watcher *watcher, struct str tree, const struct file *after,
                  struct err *err)
{
    struct skills *skills = FROM(watcher);
    AUTO_ARENA arena = ARENA_INIT;
    struct err absent = ERR_INIT;
    struct agent agent;
    struct place place;

    if (!place_of(tree, after->path, &place) || (skills->source && !str_is(place.rest, "SKILL.md")))
        return 0;
    if (agent_get(skills->config.agent_domain, place.agent_id, &arena, &agent, &absent) < 0) {
        if (absent.code == ERR_NOT_FOUND)
            return 0;
        *err = absent;
        return -1;
    }
    if (!str_is(place.rest, "SKILL.md"))
        return touch_row(skills, &agent, &place, tree, &arena, err);
    if (after->deleted)
        return skill_store_remove(skills, agent.n, place.name, err);
    return put_row(skills, &agent, &place, tree, after, &arena, err);
}
