/* The skills of an agent: its own, which are files of its tree, and the shared ones.
 *
 * Everything that changes a skill writes its files; the table follows by the watcher (watch.c).
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>

#include "skill/skill_int.h"

#define SHARED_PREFIX "shared:"

int skills_new(const struct skills_config *config, struct skills **ret_skills, struct err *err)
{
    struct skills *skills = NEW(struct skills);

    (void)err;
    skills->config = *config;
    skills->shared.root = config->shared_root;
    skills->watcher.written = watch_written;
    skills->watcher.check = watch_check;
    skills->guard.judge = use_judge;
    skills->guard.succeeded = use_succeeded;
    skills->guard.read_memory = use_read_memory;
    if (config->files)
        files_watch(config->files, &skills->watcher);
    if (config->tools) {
        tool_bed_guard(config->tools, &skills->guard);
        tool_bed_bind(config->tools, &script_tool, skills);
    }
    *ret_skills = skills;
    return 0;
}

void skills_free(struct skills *skills)
{
    if (!skills)
        return;
    shared_release(&skills->shared);
    for (size_t i = 0; i < ARRAY_LEN(skills->said); i++) {
        buf_release(&skills->said[i].text);
        buf_release(&skills->said[i].taint);
    }
    free(skills);
}

struct str skills_tree(const struct agent *agent, struct arena *arena)
{
    return str_from(arena_printf(arena, "agents/%s", agent->id));
}

int64_t skills_now(const struct skills *skills)
{
    return clock_wall_ms(loop_clock(skills->config.loop));
}

static int64_t monotonic(const struct skills *skills)
{
    return clock_mono_ms(loop_clock(skills->config.loop));
}

/* ---- reading ---- */

static struct str file_path(struct str name, struct str rest, struct arena *arena)
{
    return str_from(arena_printf(arena, "skills/%.*s/%.*s", STR_ARG(name), STR_ARG(rest)));
}

/* Of a row that is switched off because its SKILL.md is broken: why. */
static int find_problem(struct skills *skills, const struct agent *agent, struct skill *skill,
                        struct arena *arena, struct err *err)
{
    struct problems problems = { .arena = arena };
    struct skill parsed;
    struct file file;
    int r;

    if (skill->description.n)
        return 0;
    r = file_get(skills->config.files, skills_tree(agent, arena),
                 file_path(skill->name, STR("SKILL.md"), arena), arena, &file, err);
    if (r < 0)
        return -1;
    skill->problem = STR("SKILL.md is missing");
    if (r == 0)
        return 0;
    front_read(file.content, skill->name, arena, &parsed, &problems);
    if (problems.n)
        skill->problem = problems.items[0].text;
    return 0;
}

/* Both are in order of name. */
static size_t merge(const struct skill *own, size_t own_count, const struct shared_skill *shared,
                    size_t shared_count, struct skill *out)
{
    size_t n = 0, i = 0, k = 0;

    while (i < own_count || k < shared_count) {
        int order = i == own_count      ? 1
                    : k == shared_count ? -1
                                        : str_cmp(own[i].name, shared[k].skill.name);

        out[n++] = order <= 0 ? own[i] : shared[k].skill;
        i += order <= 0;
        k += order >= 0;
    }
    return n;
}

/* What the shared list holds may be made anew by the next look. */
static void keep(struct skill *skill, struct arena *arena)
{
    struct str *texts[] = { &skill->id,
                            &skill->name,
                            &skill->description,
                            &skill->license,
                            &skill->compatibility,
                            &skill->metadata,
                            &skill->allowed_tools,
                            &skill->instructions,
                            &skill->source,
                            &skill->content_hash,
                            &skill->signature,
                            &skill->problem };

    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        *texts[i] = arena_str(arena, *texts[i]);
}

/* A shared skill as this agent has it: it may do without. */
static int take_shared(struct skills *skills, const struct agent *agent, struct skill *skill,
                       struct arena *arena, struct err *err)
{
    int r = skill_store_is_off(skills, agent->n, skill->name, err);

    if (r < 0)
        return -1;
    if (r == 1)
        skill->enabled = false;
    keep(skill, arena);
    return 0;
}

int skills_list(struct skills *skills, const struct agent *agent, struct arena *arena,
                struct skill **ret_skills, size_t *ret_count, struct err *err)
{
    const struct shared_skill *shared;
    struct skill *own, *all;
    size_t own_count, shared_count, n;

    if (skill_store_list(skills, agent->n, arena, &own, &own_count, err) < 0)
        return -1;
    shared = shared_list(&skills->shared, monotonic(skills), &shared_count);
    all = ARENA_NEW_N(arena, struct skill, own_count + shared_count + 1);
    n = merge(own, own_count, shared, shared_count, all);
    for (size_t i = 0; i < n; i++)
        if ((all[i].shared ? take_shared(skills, agent, &all[i], arena, err)
                           : find_problem(skills, agent, &all[i], arena, err)) < 0)
            return -1;
    *ret_skills = all;
    *ret_count = n;
    return 0;
}

static int own_entries(struct skills *skills, const struct agent *agent, struct str name,
                       struct arena *arena, struct archive_entry **ret_entries, size_t *ret_count,
                       struct err *err)
{
    struct str tree = skills_tree(agent, arena), prefix = file_path(name, STR(""), arena);
    struct archive_entry *entries;
    struct file *files;
    size_t count;

    if (file_list(skills->config.files, tree, prefix, arena, &files, &count, err) < 0)
        return -1;
    entries = ARENA_NEW_N(arena, struct archive_entry, count + 1);
    for (size_t i = 0; i < count; i++) {
        struct file file;

        if (file_get(skills->config.files, tree, files[i].path, arena, &file, err) < 0)
            return -1;
        entries[i] = (struct archive_entry){
            .path = str_skip(files[i].path, prefix.n),
            .content = file.content,
            .executable = str_starts(str_skip(files[i].path, prefix.n), STR("scripts/")),
        };
    }
    *ret_entries = entries;
    *ret_count = count;
    return 0;
}

static void text_first(struct archive_entry *entries, size_t count)
{
    struct archive_entry *text = (struct archive_entry *)skill_find_text(entries, count);
    struct archive_entry kept;

    if (!text)
        return;
    kept = *text;
    memmove(entries + 1, entries, (size_t)((char *)text - (char *)entries));
    entries[0] = kept;
}

/* "shared:NAME" names the shared one even when the agent has one of that name. */
static const struct shared_skill *find_shared(struct skills *skills, struct str id)
{
    if (str_starts(id, STR(SHARED_PREFIX)))
        id = str_skip(id, sizeof(SHARED_PREFIX) - 1);
    return shared_find(&skills->shared, monotonic(skills), id);
}

int skills_files(struct skills *skills, const struct agent *agent, struct str id,
                 struct arena *arena, struct archive_entry **ret_entries, size_t *ret_count,
                 struct err *err)
{
    const struct shared_skill *shared;
    struct archive_entry *entries;
    struct skill own;
    int r = skill_store_find(skills, agent->n, id, arena, &own, err);

    if (r < 0)
        return -1;
    if (r == 1) {
        if (own_entries(skills, agent, own.name, arena, ret_entries, ret_count, err) < 0)
            return -1;
        text_first(*ret_entries, *ret_count);
        return 1;
    }
    shared = find_shared(skills, id);
    if (!shared)
        return 0;
    if (shared_entries(shared, arena, &entries, ret_count, err) < 0)
        return -1;
    *ret_entries = ARENA_NEW_N(arena, struct archive_entry, *ret_count + 1);
    memcpy(*ret_entries, entries, *ret_count * sizeof(*entries));
    text_first(*ret_entries, *ret_count);
    return 1;
}

/* Of a folder: hash and signature of what is there now. */
static void look_at_shared(struct skills *skills, struct skill *skill,
                           const struct archive_entry *entries, size_t count, struct arena *arena)
{
    char *hash = arena_alloc(arena, SHA256_TEXT_SIZE, 1);

    skills_hash(entries, count, hash);
    skill->content_hash = str_from(hash);
    skill->signature = sign_check(entries, count, skills->config.trusted_keys, arena);
}

int skills_get(struct skills *skills, const struct agent *agent, struct str id, struct arena *arena,
               struct skill *ret_skill, struct err *err)
{
    const struct shared_skill *shared;
    struct problems ignored = { .arena = arena };
    struct archive_entry *entries;
    const struct archive_entry *text;
    struct skill skill, parsed;
    size_t count;
    int r = skill_store_find(skills, agent->n, id, arena, &skill, err);

    if (r < 0)
        return -1;
    if (r == 0) {
        shared = find_shared(skills, id);
        if (!shared)
            return 0;
        skill = shared->skill;
        if (take_shared(skills, agent, &skill, arena, err) < 0)
            return -1;
    } else if (find_problem(skills, agent, &skill, arena, err) < 0) {
        return -1;
    }
    r = skills_files(skills, agent, id, arena, &entries, &count, err);
    if (r <= 0)
        return r;
    if (skill.shared)
        look_at_shared(skills, &skill, entries, count, arena);
    text = skill_find_text(entries, count);
    if (text) {
        front_read(text->content, skill.name, arena, &parsed, &ignored);
        skill.instructions = parsed.instructions;
    }
    *ret_skill = skill;
    return 1;
}

int skills_read_shared(struct skills *skills, const struct agent *agent, struct str path,
                       struct arena *arena, struct str *ret_content, struct err *err)
{
    struct str below = str_skip(path, sizeof("skills/") - 1), name, rest;
    ptrdiff_t slash = str_find_char(below, '/');
    const struct shared_skill *shared;
    struct archive_entry *entries;
    size_t count;
    int r;

    if (!str_starts(path, STR("skills/")) || (slash < 0 && !str_ends(below, STR(".md"))))
        return 0;
    name = slash < 0 ? str_take(below, below.n - 3) : str_take(below, (size_t)slash);
    rest = slash < 0 ? STR("SKILL.md") : str_skip(below, (size_t)slash + 1);
    shared = shared_find(&skills->shared, monotonic(skills), name);
    if (!shared || !shared->skill.enabled)
        return 0;
    r = skill_store_is_off(skills, agent->n, name, err);
    if (r != 0)
        return r < 0 ? -1 : 0;
    if (shared_entries(shared, arena, &entries, &count, err) < 0)
        return -1;
    for (size_t i = 0; i < count; i++) {
        if (str_eq(entries[i].path, rest) ||
            (str_is(rest, "SKILL.md") && str_is(entries[i].path, "skill.md"))) {
            *ret_content = entries[i].content;
            return 1;
        }
    }
    return 0;
}
