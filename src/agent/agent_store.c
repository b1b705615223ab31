/* Rows of agents.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "agent/agent_int.h"
#include "agent/state_int.h"
#include "base/nearest.h"
#include "db/db.h"

#define AGENT_SELECT                                                                               \
    "SELECT n, id, kind, display_name, lifecycle, paused, mode, allowed_category_ids, model_id,"   \
    " prompt_id, instructions, tools, description, template, auto_approve_memory, created_at,"     \
    " updated_at, session_ttl_ms, profile, config_schema_version, extension, taint FROM agents "

/* NULL when it is NULL in the row. */
static const char *text_of(struct stmt *q, const char *column, struct arena *arena)
{
    struct str text = stmt_str(q, column);

    return text.p ? arena_copy(arena, text.p, text.n) : NULL;
}

void agent_read_row(struct stmt *q, struct arena *arena, struct agent *ret_agent)
{
    *ret_agent = (struct agent){
        .n = stmt_i64(q, "n"),
        .id = text_of(q, "id", arena),
        .kind = text_of(q, "kind", arena),
        .display_name = text_of(q, "display_name", arena),
        .lifecycle = agent_lifecycle_of(stmt_str(q, "lifecycle")),
        .paused = stmt_bool(q, "paused"),
        .mode = text_of(q, "mode", arena),
        .allowed_category_ids = text_of(q, "allowed_category_ids", arena),
        .model_id = text_of(q, "model_id", arena),
        .prompt_id = text_of(q, "prompt_id", arena),
        .instructions = text_of(q, "instructions", arena),
        .tools = text_of(q, "tools", arena),
        .description = text_of(q, "description", arena),
        .template = text_of(q, "template", arena),
        .auto_approve_memory = stmt_bool(q, "auto_approve_memory"),
        .created_at = stmt_i64(q, "created_at"),
        .updated_at = stmt_i64(q, "updated_at"),
        .session_ttl_ms = stmt_i64(q, "session_ttl_ms"),
        .profile = text_of(q, "profile", arena),
        .config_version = stmt_i64(q, "config_schema_version"),
        .extension = text_of(q, "extension", arena),
        .taint = text_of(q, "taint", arena),
    };
}

static int find(struct domain *domain, struct str id, struct arena *arena, struct agent *ret_agent,
                struct err *err)
{
    AUTO(stmt) q = NULL;
    int r;

    if (db_prepare(domain_db(domain), SQL(AGENT_SELECT "WHERE id = ?"), &q, err) < 0)
        return -1;
    stmt_bind_str(q, id);
    r = stmt_step(q, err);
    if (r == 1)
        agent_read_row(q, arena, ret_agent);
    return r;
}

#define MEANT_MAX 200 /* agents that are looked at for one that was meant */

static int not_found(struct domain *domain, struct str id, struct err *err)
{
    AUTO(stmt) q = NULL;
    AUTO_ARENA arena = ARENA_INIT;
    const char *names[MEANT_MAX], *near;
    size_t n = 0;

    if (db_prepare(domain_db(domain),
                   SQL("SELECT id FROM agents WHERE lifecycle <> 'destroyed' ORDER BY n LIMIT 200"),
                   &q, err) < 0)
        return -1;
    for (int r; n < MEANT_MAX && (r = stmt_step(q, err)) != 0;) {
        if (r < 0)
            return -1;
        names[n++] = text_of(q, "id", &arena);
    }
    near = id.n <= 64 ? nearest_name(arena_copy(&arena, id.p ? id.p : "", id.n), names, n) : NULL;
    if (near)
        return err_set(err, ERR_NOT_FOUND, "there is no agent \"%.*s\"; did you mean \"%s\"?",
                       STR_ARG(id), near);
    return err_set(err, ERR_NOT_FOUND,
                   "there is no agent \"%.*s\"; `dormouse agent list` shows those there are",
                   STR_ARG(id));
}

int agent_get(struct domain *domain, struct str id, struct arena *arena, struct agent *ret_agent,
              struct err *err)
{
    int r;

    if (agent_id_check(id, err) < 0)
        return -1;
    r = find(domain, id, arena, ret_agent, err);
    return r == 0 ? not_found(domain, id, err) : r < 0 ? -1 : 0;
}

int agent_get_n(struct domain *domain, int64_t n, struct arena *arena, struct agent *ret_agent,
                struct err *err)
{
    AUTO(stmt) q = NULL;
    int r;

    if (db_prepare(domain_db(domain), SQL(AGENT_SELECT "WHERE n = ?"), &q, err) < 0)
        return -1;
    stmt_bind_i64(q, n);
    r = stmt_step(q, err);
    if (r < 0)
        return -1;
    if (r == 0)
        return err_set(err, ERR_INTEGRITY_FAILED, "a stored row names an agent that is not there");
    agent_read_row(q, arena, ret_agent);
    return 0;
}

int agent_each(struct domain *domain, bool (*fn)(void *arg, const struct agent *agent), void *arg,
               struct err *err)
{
    AUTO(stmt) q = NULL;
    AUTO_ARENA arena = ARENA_INIT;
    int r;

    if (db_prepare(domain_db(domain), SQL(AGENT_SELECT "ORDER BY id"), &q, err) < 0)
        return -1;
    while ((r = stmt_step(q, err)) == 1) {
        struct agent agent;

        arena_reset(&arena);
        agent_read_row(q, &arena, &agent);
        if (!fn(arg, &agent))
            return 0;
    }
    return r;
}

/* ---- writing ---- */

static int check(const struct agent *agent, struct err *err)
{
    if (agent_id_check(str_from(agent->id), err) < 0)
        return -1;
    if (!agent->kind || !agent->kind[0])
        return err_set(err, ERR_BAD_REQUEST, "agent %s: its kind is missing", agent->id);
    if (!agent->display_name || !agent->display_name[0])
        return err_set(err, ERR_BAD_REQUEST, "agent %s: its display name is missing", agent->id);
    if (agent->config_version > AGENT_CONFIG_VERSION)
        return err_set(err, ERR_BAD_REQUEST,
                       "agent %s: settings of version %lld; this Dormouse knows version %d",
                       agent->id, (long long)agent->config_version, AGENT_CONFIG_VERSION);
    if (agent_check_members(agent, ~0u, err) < 0)
        return err_wrap(err, "agent %s", agent->id);
    return 0;
}

static void fill_defaults(struct agent *agent, int64_t now_ms)
{
    if (!agent->lifecycle)
        agent->lifecycle = AGENT_ACTIVE;
    if (!agent->mode)
        agent->mode = AGENT_MODE_DEFAULT;
    if (!agent->allowed_category_ids)
        agent->allowed_category_ids = "[]";
    if (!agent->instructions)
        agent->instructions = "";
    if (!agent->description)
        agent->description = "";
    if (!agent->session_ttl_ms)
        agent->session_ttl_ms = AGENT_SESSION_TTL_MS;
    if (!agent->config_version)
        agent->config_version = AGENT_CONFIG_VERSION;
    if (!agent->extension)
        agent->extension = "{}";
    agent->created_at = agent->updated_at = now_ms;
}

/* ---- what every write of the row leaves behind ---- */

static int read_clock(struct domain *domain, const char *id, struct arena *arena,
                      struct vclock *ret_clock, struct err *err)
{
    AUTO(stmt) q = NULL;
    int r;

    *ret_clock = (struct vclock){ 0 };
    if (db_prepare(domain_db(domain), SQL("SELECT vector_clock FROM agents WHERE id = ?"), &q,
                   err) < 0)
        return -1;
    stmt_bind_text(q, id);
    r = stmt_step(q, err);
    if (r == 1 && vclock_parse(stmt_str(q, "vector_clock"), arena, ret_clock, err) < 0)
        return err_wrap(err, "agent %s", id);
    return r < 0 ? -1 : 0;
}

int agent_next_write(struct domain *domain, struct change *change, const char *id,
                     struct change_batch *batch, struct arena *arena, int64_t *ret_counter,
                     struct str *ret_clock, struct err *err)
{
    struct vclock clock;

    if (read_clock(domain, id, arena, &clock, err) < 0)
        return -1;
    *ret_counter = change_next(change);
    clock = vclock_with(&clock, str_from(change_host_id(change)), *ret_counter, arena);
    *ret_clock = vclock_text(&clock, arena);
    if (batch) {
        change_batch_unit(batch, change, *ret_counter, STR("agent"), str_from(id));
        change_batch_key(batch, "AGENT");
    }
    return 0;
}

/* 1 stored, 0 the id is taken. */
static int insert(struct db *db, struct change *change, struct agent *agent, int64_t counter,
                  struct str clock, struct err *err)
{
    AUTO(stmt) q = NULL;
    int r;

    if (db_prepare(db,
                   SQL("INSERT INTO agents (id, kind, display_name, lifecycle, paused, mode,"
                       " allowed_category_ids, current_state_id, model_id, prompt_id, instructions,"
                       " tools, description, template, auto_approve_memory, session_ttl_ms,"
                       " profile, config_schema_version, extension, taint, created_at, updated_at,"
                       " vector_clock, host_n, counter) VALUES (?, ?, ?, ?, ?, ?, ?, '', ?, ?, ?,"
                       " ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
                       " ON CONFLICT (id) DO NOTHING RETURNING n"),
                   &q, err) < 0)
        return -1;
    stmt_bind_text(q, agent->id);
    stmt_bind_text(q, agent->kind);
    stmt_bind_text(q, agent->display_name);
    stmt_bind_text(q, agent_lifecycle_name(agent->lifecycle));
    stmt_bind_bool(q, agent->paused);
    stmt_bind_text(q, agent->mode);
    stmt_bind_text(q, agent->allowed_category_ids);
    stmt_bind_text(q, agent->model_id);
    stmt_bind_text(q, agent->prompt_id);
    stmt_bind_text(q, agent->instructions);
    stmt_bind_text(q, agent->tools);
    stmt_bind_text(q, agent->description);
    stmt_bind_text(q, agent->template);
    stmt_bind_bool(q, agent->auto_approve_memory);
    stmt_bind_i64(q, agent->session_ttl_ms);
    stmt_bind_text(q, agent->profile);
    stmt_bind_i64(q, agent->config_version);
    stmt_bind_text(q, agent->extension);
    stmt_bind_some_str(q, str_from(agent->taint));
    stmt_bind_i64(q, agent->created_at);
    stmt_bind_i64(q, agent->updated_at);
    stmt_bind_str(q, clock);
    stmt_bind_i64(q, change_host(change));
    stmt_bind_i64(q, counter);
    r = stmt_step(q, err);
    if (r == 1)
        agent->n = stmt_i64(q, "n");
    return r;
}

/* 1 stored, 0 the id is taken: then batch speaks of nothing that happened. */
static int add(struct domain *domain, struct change *change, struct agent *agent,
               struct change_batch *batch, int64_t now_ms, struct err *err)
{
    AUTO_ARENA arena = ARENA_INIT;
    struct agent_state state;
    struct str clock;
    int64_t counter;
    int r;

    if (check(agent, err) < 0)
        return -1;
    fill_defaults(agent, now_ms);
    if (agent_next_write(domain, change, agent->id, NULL, &arena, &counter, &clock, err) < 0)
        return -1;
    r = insert(domain_db(domain), change, agent, counter, clock, err);
    if (r != 1)
        return r;
    if (agent_state_begin(domain, change, agent, &state, &arena, err) < 0)
        return -1;
    change_batch_unit(batch, change, counter, STR("agent"), str_from(agent->id));
    change_batch_key(batch, "AGENT");
    agent_state_tell(batch, change, &state, agent->id);
    return 1;
}

int agent_add_in(struct domain *domain, struct change *change, struct agent *agent,
                 struct change_batch *batch, int64_t now_ms, struct err *err)
{
    int r = add(domain, change, agent, batch, now_ms, err);

    if (r == 0)
        return err_set(err, ERR_CONFLICT, "there is an agent \"%s\" already", agent->id);
    return r < 0 ? -1 : 0;
}

int agent_add(struct domain *domain, struct change *change, struct agent *agent, int64_t now_ms,
              struct err *err)
{
    AUTO_ARENA arena = ARENA_INIT;
    struct change_batch batch = CHANGE_BATCH(&arena, CHANGE_BY_HUMAN);

    if (agent_add_in(domain, change, agent, &batch, now_ms, err) < 0 ||
        change_batch_write(domain, change, &batch, now_ms, err) < 0)
        return -1;
    return 0;
}

int agent_ensure_default(struct domain *domain, struct change *change, const char *display_name,
                         int64_t now_ms, struct arena *arena, struct agent *ret_agent,
                         struct err *err)
{
    char id[AGENT_ID_MAX + 1];
    struct agent agent = { .id = id, .kind = "planner", .display_name = display_name };
    int r;

    agent_id_of_name(display_name, id);
    if (!id[0])
        memcpy(id, "planner", sizeof("planner"));
    r = find(domain, str_from(id), arena, ret_agent, err);
    if (r != 0)
        return r < 0 ? -1 : 0;
    if (agent_add(domain, change, &agent, now_ms, err) < 0 ||
        agent_get(domain, str_from(id), arena, ret_agent, err) < 0)
        return -1;
    return 1;
}

/* ---- changing ---- */

/* Each value that is given, else what is there. */
#define UPDATE_GIVEN                                                                               \
    "UPDATE agents SET display_name = CASE WHEN ? = 1 THEN ? ELSE display_name END,"               \
    " description = CASE WHEN ? = 1 THEN ? ELSE description END,"                                  \
    " instructions = CASE WHEN ? = 1 THEN ? ELSE instructions END,"                                \
    " model_id = CASE WHEN ? = 1 THEN ? ELSE model_id END,"                                        \
    " tools = CASE WHEN ? = 1 THEN ? ELSE tools END,"                                              \
    " auto_approve_memory = CASE WHEN ? = 1 THEN ? ELSE auto_approve_memory END,"                  \
    " paused = CASE WHEN ? = 1 THEN ? ELSE paused END,"                                            \
    " mode = CASE WHEN ? = 1 THEN ? ELSE mode END,"                                                \
    " allowed_category_ids = CASE WHEN ? = 1 THEN ? ELSE allowed_category_ids END,"                \
    " session_ttl_ms = CASE WHEN ? = 1 THEN ? ELSE session_ttl_ms END,"                            \
    " profile = CASE WHEN ? = 1 THEN ? ELSE profile END,"                                          \
    " extension = CASE WHEN ? = 1 THEN ? ELSE extension END,"                                      \
    " updated_at = ?, vector_clock = ?, host_n = ?, counter = ? WHERE id = ? RETURNING n"

static void bind_given(struct stmt *q, unsigned fields, enum agent_field field, const char *value)
{
    stmt_bind_i64(q, fields & field ? 1 : 0);
    stmt_bind_text(q, value);
}

static void bind_flag(struct stmt *q, unsigned fields, enum agent_field field, bool value)
{
    stmt_bind_i64(q, fields & field ? 1 : 0);
    stmt_bind_bool(q, value);
}

/* What a member becomes when a change says nothing for it. */
static const char *or_text(const char *text, const char *none)
{
    return text ? text : none;
}

static int64_t ttl_or_default(int64_t ttl_ms)
{
    return ttl_ms ? ttl_ms : AGENT_SESSION_TTL_MS;
}

static int update(struct domain *domain, struct change *change, const struct agent *to,
                  unsigned fields, struct change_batch *batch, int64_t now_ms, struct err *err)
{
    AUTO(stmt) q = NULL;
    AUTO_ARENA arena = ARENA_INIT;
    int64_t counter;
    struct str clock;

    if (agent_next_write(domain, change, to->id, batch, &arena, &counter, &clock, err) < 0 ||
        db_prepare(domain_db(domain), SQL(UPDATE_GIVEN), &q, err) < 0)
        return -1;
    bind_given(q, fields, AGENT_NAME, to->display_name);
    bind_given(q, fields, AGENT_DESCRIPTION, or_text(to->description, ""));
    bind_given(q, fields, AGENT_INSTRUCTIONS, or_text(to->instructions, ""));
    bind_given(q, fields, AGENT_MODEL, to->model_id);
    bind_given(q, fields, AGENT_TOOLS, to->tools);
    bind_flag(q, fields, AGENT_AUTO_APPROVE, to->auto_approve_memory);
    bind_flag(q, fields, AGENT_PAUSED, to->paused);
    bind_given(q, fields, AGENT_MODE, or_text(to->mode, AGENT_MODE_DEFAULT));
    bind_given(q, fields, AGENT_CATEGORIES, or_text(to->allowed_category_ids, "[]"));
    stmt_bind_i64(q, fields & AGENT_SESSION_TTL ? 1 : 0);
    stmt_bind_i64(q, ttl_or_default(to->session_ttl_ms));
    bind_given(q, fields, AGENT_PROFILE, to->profile);
    bind_given(q, fields, AGENT_EXTENSION, or_text(to->extension, "{}"));
    stmt_bind_i64(q, now_ms);
    stmt_bind_str(q, clock);
    stmt_bind_i64(q, change_host(change));
    stmt_bind_i64(q, counter);
    stmt_bind_text(q, to->id);
    return stmt_step(q, err);
}

static bool same_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

static bool lives_so(const struct agent *is, const struct agent *to, unsigned fields)
{
    return (!(fields & AGENT_PAUSED) || is->paused == to->paused) &&
           (!(fields & AGENT_MODE) || same_text(is->mode, or_text(to->mode, AGENT_MODE_DEFAULT))) &&
           (!(fields & AGENT_CATEGORIES) ||
            same_text(is->allowed_category_ids, or_text(to->allowed_category_ids, "[]"))) &&
           (!(fields & AGENT_SESSION_TTL) ||
            is->session_ttl_ms == ttl_or_default(to->session_ttl_ms)) &&
           (!(fields & AGENT_PROFILE) || same_text(is->profile, to->profile)) &&
           (!(fields & AGENT_EXTENSION) || same_text(is->extension, or_text(to->extension, "{}")));
}

static bool is_so(const struct agent *is, const struct agent *to, unsigned fields)
{
    return (!(fields & AGENT_NAME) || same_text(is->display_name, to->display_name)) &&
           (!(fields & AGENT_DESCRIPTION) ||
            same_text(is->description, or_text(to->description, ""))) &&
           (!(fields & AGENT_INSTRUCTIONS) ||
            same_text(is->instructions, or_text(to->instructions, ""))) &&
           (!(fields & AGENT_MODEL) || same_text(is->model_id, to->model_id)) &&
           (!(fields & AGENT_TOOLS) || same_text(is->tools, to->tools)) &&
           (!(fields & AGENT_AUTO_APPROVE) || is->auto_approve_memory == to->auto_approve_memory) &&
           lives_so(is, to, fields);
}

int agent_change_in(struct domain *domain, struct change *change, const struct agent *to,
                    unsigned fields, struct change_batch *batch, int64_t now_ms, struct err *err)
{
    AUTO_ARENA arena = ARENA_INIT;
    struct agent is = { 0 };

    if (agent_get(domain, str_from(to->id), &arena, &is, err) < 0)
        return -1;
    if (is.lifecycle == AGENT_DESTROYED)
        return err_set(err, ERR_AGENT_DESTROYED, "the agent %s no longer exists", is.id);
    if (agent_check_members(to, fields, err) < 0)
        return -1;
    if (is_so(&is, to, fields))
        return 0;
    return update(domain, change, to, fields, batch, now_ms, err);
}

int agent_change(struct domain *domain, struct change *change, const struct agent *to,
                 unsigned fields, int64_t now_ms, struct err *err)
{
    AUTO_ARENA arena = ARENA_INIT;
    struct change_batch batch = CHANGE_BATCH(&arena, CHANGE_BY_HUMAN);
    int r = agent_change_in(domain, change, to, fields, &batch, now_ms, err);

    if (r >= 0 && change_batch_write(domain, change, &batch, now_ms, err) < 0)
        return -1;
    return r;
}

int agent_set_paused(struct domain *domain, struct change *change, struct str id, bool paused,
                     int64_t now_ms, struct err *err)
{
    AUTO_ARENA arena = ARENA_INIT;
    struct agent to = { .id = arena_copy(&arena, id.p, id.n), .paused = paused };

    return agent_change(domain, change, &to, AGENT_PAUSED, now_ms, err);
}

/* ---- free ids ---- */

/* 1 taken. */
static int is_taken(struct domain *domain, const char *id, struct err *err)
{
    AUTO(stmt) q = NULL;

    if (db_prepare(domain_db(domain), SQL("SELECT 1 AS taken FROM agents WHERE id = ?"), &q, err) <
        0)
        return -1;
    stmt_bind_text(q, id);
    return stmt_step(q, err);
}

#define SUFFIX_MAX 10000

static bool is_alnum(unsigned char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* Letters of Latin-1 without their marks (U+00C0 to U+00FF), the rest as it is; one '-' for any
 * number of others. */
static const char *plain_letters(struct str name, struct arena *arena)
{
    static const char plain[] = "AAAAAAACEEEEIIIIDNOOOOO-OUUUUYTsaaaaaaaceeeeiiiidnooooo-ouuuuyty";
    char *out = arena_alloc(arena, 1, name.n + 1);
    size_t n = 0;

    for (size_t i = 0; i < name.n; i++) {
        unsigned char c = (unsigned char)name.p[i];
        bool pair = c == 0xC3 && i + 1 < name.n;

        if (pair)
            c = (unsigned char)plain[(unsigned char)name.p[++i] & 0x3F];
        if (!is_alnum(c))
            c = '-';
        if (c != '-' || (n > 0 && out[n - 1] != '-'))
            out[n++] = (char)c;
    }
    out[n] = 0;
    return out;
}

int agent_free_id(struct domain *domain, struct str name, struct arena *arena, const char **ret_id,
                  struct err *err)
{
    char base[AGENT_ID_MAX + 1];
    const char *id;

    agent_id_of_name(plain_letters(name, arena), base);
    if (!base[0])
        memcpy(base, "agent", sizeof("agent"));
    id = arena_text(arena, base);
    base[AGENT_ID_MAX - 6] = 0; /* room for the number */
    for (int i = 2; i < SUFFIX_MAX; i++) {
        int r = is_taken(domain, id, err);

        if (r < 0)
            return -1;
        if (r == 0) {
            *ret_id = id;
            return 0;
        }
        id = arena_printf(arena, "%s-%d", base, i);
    }
    return err_set(err, ERR_CONFLICT, "there are too many agents whose id begins with \"%s\"",
                   base);
}
