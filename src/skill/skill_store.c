/* Rows of skills and of their uses.
 *
 * SPDX-License-Identifier: MIT
 */
#include "db/db.h"
#include "skill/skill_int.h"

#define SKILL_COLUMNS                                                                              \
    "SELECT id, name, description, license, compatibility, metadata, allowed_tools, source,"       \
    " content_hash, signature, enabled, created_at, updated_at FROM skills"
#define SKILL_SELECT SKILL_COLUMNS " WHERE deleted_at IS NULL AND agent_n = ?"

static struct db *db_of(const struct skills *skills)
{
    return domain_db(skills->config.agent_domain);
}

static void read_row(struct stmt *q, struct arena *arena, struct skill *ret_skill)
{
    *ret_skill = (struct skill){
        .id = arena_str(arena, stmt_str(q, "id")),
        .name = arena_str(arena, stmt_str(q, "name")),
        .description = arena_str(arena, stmt_str(q, "description")),
        .license = arena_str(arena, stmt_str(q, "license")),
        .compatibility = arena_str(arena, stmt_str(q, "compatibility")),
        .metadata = arena_str(arena, stmt_str(q, "metadata")),
        .allowed_tools = arena_str(arena, stmt_str(q, "allowed_tools")),
        .source = arena_str(arena, stmt_str(q, "source")),
        .content_hash = arena_str(arena, stmt_str(q, "content_hash")),
        .signature = arena_str(arena, stmt_str(q, "signature")),
        .enabled = stmt_bool(q, "enabled"),
        .created_at = stmt_i64(q, "created_at"),
        .updated_at = stmt_i64(q, "updated_at"),
    };
}

int skill_store_list(struct skills *skills, int64_t agent_n, struct arena *arena,
                     struct skill **ret_skills, size_t *ret_count, struct err *err)
{
    AUTO(stmt) q = NULL;
    struct skill *rows = ARENA_NEW_N(arena, struct skill, 16);
    size_t n = 0, room = 16;
    int r;

    if (db_prepare(db_of(skills), SQL(SKILL_SELECT " ORDER BY name LIMIT 1000"), &q, err) < 0)
        return -1;
    stmt_bind_i64(q, agent_n);
    while ((r = stmt_step(q, err)) == 1) {
        if (n == room) {
            struct skill *more = ARENA_NEW_N(arena, struct skill, 2 * room);

            memcpy(more, rows, n * sizeof(*rows));
            rows = more;
            room *= 2;
        }
        read_row(q, arena, &rows[n++]);
    }
    if (r < 0)
        return -1;
    *ret_skills = rows;
    *ret_count = n;
    return 0;
}

int skill_store_find(struct skills *skills, int64_t agent_n, struct str id, struct arena *arena,
                     struct skill *ret_skill, struct err *err)
{
    AUTO(stmt) q = NULL;
    int r;

    if (db_prepare(db_of(skills),
                   SQL(SKILL_SELECT " AND (name = ? OR id = ?) ORDER BY name = ? DESC"), &q,
                   err) < 0)
        return -1;
    stmt_bind_i64(q, agent_n);
    stmt_bind_str(q, id);
    stmt_bind_str(q, id);
    stmt_bind_str(q, id);
    r = stmt_step(q, err);
    if (r == 1)
        read_row(q, arena, ret_skill);
    return r;
}

/* ---- writing ---- */

static struct str or_null(struct str text)
{
    return text.n ? text : STR_NONE;
}

static void bind_fields(struct stmt *q, const struct skill *skill)
{
    stmt_bind_str(q, skill->name);
    stmt_bind_str(q, skill->description.n ? skill->description : STR(""));
    stmt_bind_str(q, or_null(skill->license));
    stmt_bind_str(q, or_null(skill->compatibility));
    stmt_bind_str(q, skill->metadata);
    stmt_bind_str(q, skill->allowed_tools);
    stmt_bind_str(q, skill->source);
    stmt_bind_str(q, skill->content_hash);
    stmt_bind_str(q, or_null(skill->signature));
    stmt_bind_bool(q, skill->enabled);
    stmt_bind_i64(q, skill->updated_at);
}

static int insert(struct skills *skills, int64_t agent_n, const struct skill *skill,
                  struct err *err)
{
    struct change *change = skills->config.change;
    AUTO(stmt) q = NULL;

    if (db_prepare(db_of(skills),
                   SQL("INSERT INTO skills (name, description, license, compatibility, metadata,"
                       " allowed_tools, source, content_hash, signature, enabled, updated_at, id,"
                       " agent_n, created_at, host_n, counter)"
                       " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"),
                   &q, err) < 0)
        return -1;
    bind_fields(q, skill);
    stmt_bind_str(q, skill->id);
    stmt_bind_i64(q, agent_n);
    stmt_bind_i64(q, skill->created_at);
    stmt_bind_i64(q, change_host(change));
    stmt_bind_i64(q, change_next(change));
    return stmt_run(q, err);
}

static int update(struct skills *skills, const struct skill *skill, struct err *err)
{
    struct change *change = skills->config.change;
    AUTO(stmt) q = NULL;

    if (db_prepare(db_of(skills),
                   SQL("UPDATE skills SET name = ?, description = ?, license = ?,"
                       " compatibility = ?, metadata = ?, allowed_tools = ?, source = ?,"
                       " content_hash = ?, signature = ?, enabled = ?, updated_at = ?, host_n = ?,"
                       " counter = ? WHERE id = ?"),
                   &q, err) < 0)
        return -1;
    bind_fields(q, skill);
    stmt_bind_i64(q, change_host(change));
    stmt_bind_i64(q, change_next(change));
    stmt_bind_str(q, skill->id);
    return stmt_run(q, err);
}

int skill_store_put(struct skills *skills, int64_t agent_n, struct skill *skill,
                    struct arena *arena, struct err *err)
{
    char *id;

    skill->updated_at = skills_now(skills);
    if (skills->config.files)
        files_touch(skills->config.files);
    if (skill->id.n)
        return update(skills, skill, err);
    id = arena_alloc(arena, UUID_TEXT_SIZE, 1);
    change_new_id(skills->config.change, id);
    skill->id = str_from(id);
    skill->created_at = skill->updated_at;
    return insert(skills, agent_n, skill, err);
}

int skill_store_remove(struct skills *skills, int64_t agent_n, struct str name, struct err *err)
{
    struct change *change = skills->config.change;
    AUTO(stmt) q = NULL;

    if (db_prepare(db_of(skills),
                   SQL("UPDATE skills SET deleted_at = ?, updated_at = ?, host_n = ?, counter = ?"
                       " WHERE agent_n = ? AND name = ? AND deleted_at IS NULL"),
                   &q, err) < 0)
        return -1;
    if (skills->config.files)
        files_touch(skills->config.files);
    stmt_bind_i64(q, skills_now(skills));
    stmt_bind_i64(q, skills_now(skills));
    stmt_bind_i64(q, change_host(change));
    stmt_bind_i64(q, change_next(change));
    stmt_bind_i64(q, agent_n);
    stmt_bind_str(q, name);
    return stmt_run(q, err);
}

int skill_store_find_removed(struct skills *skills, int64_t agent_n, struct str id,
                             struct arena *arena, struct skill *ret_skill, struct err *err)
{
    AUTO(stmt) q = NULL;
    int r;

    if (db_prepare(db_of(skills),
                   SQL(SKILL_COLUMNS
                       " WHERE deleted_at IS NOT NULL AND agent_n = ?"
                       " AND (name = ? OR id = ?)"
                       " ORDER BY id = ? DESC, deleted_at DESC, counter DESC LIMIT 1"),
                   &q, err) < 0)
        return -1;
    stmt_bind_i64(q, agent_n);
    for (int i = 0; i < 3; i++)
        stmt_bind_str(q, id);
    r = stmt_step(q, err);
    if (r == 1)
        read_row(q, arena, ret_skill);
    return r;
}

int skill_store_bring_back(struct skills *skills, const struct skill *skill, struct err *err)
{
    struct change *change = skills->config.change;
    AUTO(stmt) q = NULL;

    if (db_prepare(db_of(skills),
                   SQL("UPDATE skills SET deleted_at = NULL, updated_at = ?, host_n = ?,"
                       " counter = ? WHERE id = ?"),
                   &q, err) < 0)
        return -1;
    if (skills->config.files)
        files_touch(skills->config.files);
    stmt_bind_i64(q, skills_now(skills));
    stmt_bind_i64(q, change_host(change));
    stmt_bind_i64(q, change_next(change));
    stmt_bind_str(q, skill->id);
    return stmt_run(q, err);
}

/* ---- shared ones that an agent does without ---- */

int skill_store_is_off(struct skills *skills, int64_t agent_n, struct str name, struct err *err)
{
    AUTO(stmt) q = NULL;

    if (db_prepare(db_of(skills),
                   SQL("SELECT off_at FROM skills_off WHERE agent_n = ? AND name = ?"), &q,
                   err) < 0)
        return -1;
    stmt_bind_i64(q, agent_n);
    stmt_bind_str(q, name);
    return stmt_step(q, err);
}

static int put_off(struct skills *skills, int64_t agent_n, struct str name, struct err *err)
{
    AUTO(stmt) q = NULL;

    if (db_prepare(db_of(skills),
                   SQL("INSERT INTO skills_off (agent_n, name, off_at) VALUES (?, ?, ?)"
                       " ON CONFLICT (agent_n, name) DO NOTHING"),
                   &q, err) < 0)
        return -1;
    stmt_bind_i64(q, agent_n);
    stmt_bind_str(q, name);
    stmt_bind_i64(q, skills_now(skills));
    return stmt_run(q, err);
}

int skill_store_set_off(struct skills *skills, int64_t agent_n, struct str name, bool off,
                        struct err *err)
{
    AUTO(stmt) q = NULL;

    if (off)
        return put_off(skills, agent_n, name, err);
    if (db_prepare(db_of(skills), SQL("DELETE FROM skills_off WHERE agent_n = ? AND name = ?"), &q,
                   err) < 0)
        return -1;
    stmt_bind_i64(q, agent_n);
    stmt_bind_str(q, name);
    return stmt_run(q, err);
}

/* ---- uses ---- */

int skill_store_use(struct skills *skills, int64_t run_n, const struct skill *skill,
                    struct err *err)
{
    AUTO(stmt) q = NULL;

    if (db_prepare(db_of(skills),
                   SQL("INSERT INTO skill_uses (run_n, skill, allowed_tools, content_hash, used_at)"
                       " VALUES (?, ?, ?, ?, ?) ON CONFLICT (run_n, skill) DO UPDATE SET"
                       " allowed_tools = excluded.allowed_tools,"
                       " content_hash = excluded.content_hash"),
                   &q, err) < 0)
        return -1;
    stmt_bind_i64(q, run_n);
    stmt_bind_str(q, skill->name);
    stmt_bind_str(q, skill->allowed_tools);
    stmt_bind_str(q, skill->content_hash);
    stmt_bind_i64(q, skills_now(skills));
    return stmt_run(q, err);
}

int skill_store_uses(struct skills *skills, int64_t run_n, struct arena *arena,
                     struct skill_use **ret_uses, size_t *ret_count, struct err *err)
{
    AUTO(stmt) q = NULL;
    struct skill_use *uses = NULL;
    size_t n = 0;
    int r;

    if (db_prepare(db_of(skills),
                   SQL("SELECT skill, allowed_tools, content_hash FROM skill_uses WHERE run_n = ?"
                       " ORDER BY used_at, skill LIMIT 64"),
                   &q, err) < 0)
        return -1;
    stmt_bind_i64(q, run_n);
    while ((r = stmt_step(q, err)) == 1) {
        if (!uses)
            uses = ARENA_NEW_N(arena, struct skill_use, 64);
        uses[n++] = (struct skill_use){
            .skill = arena_str(arena, stmt_str(q, "skill")),
            .allowed_tools = arena_str(arena, stmt_str(q, "allowed_tools")),
            .content_hash = arena_str(arena, stmt_str(q, "content_hash")),
        };
    }
    if (r < 0)
        return -1;
    *ret_uses = uses;
    *ret_count = n;
    return 0;
}
