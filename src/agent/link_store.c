/* Rows of links, and the links that are columns.
 *
 * SPDX-License-Identifier: MIT
 */
#include "agent/link.h"

#include "base/hash.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "db/db.h"

static const struct {
    const char *name;
    bool column;
} relations[] = { [AGENT_RELATION_NONE] = { "none", true },
#define X(id, name_, column_) [AGENT_LINK_##id] = { (name_), (column_) },
                  AGENT_RELATIONS(X)
#undef X
};

const char *agent_relation_name(enum agent_relation relation)
{
    return relations[relation].name;
}

enum agent_relation agent_relation_of(struct str name)
{
    for (size_t i = 1; i < ARRAY_LEN(relations); i++)
        if (str_is(name, relations[i].name))
            return (enum agent_relation)i;
    return AGENT_RELATION_NONE;
}

/* ---- writing ---- */

static int check_end(const char *what, struct str id, struct err *err)
{
    const struct token token = { TOKEN_ENTITY_ID, STR_NONE, id };

    return token_check(&token, err) < 0 ? err_wrap(err, "a link's %s", what) : 0;
}

bool agent_link_id_valid(struct str id)
{
    return check_end("end", id, NULL) == 0;
}

static int check_metadata(struct str metadata, struct err *err)
{
    AUTO_JSON doc = NULL;

    if (!metadata.n)
        return 0;
    if (metadata.n > AGENT_LINK_METADATA_MAX)
        return err_set(err, ERR_TOO_LARGE, "a link's metadata has more than %d bytes",
                       AGENT_LINK_METADATA_MAX);
    if (json_parse(metadata, &doc, err) < 0)
        return err_wrap(err, "a link's metadata");
    if (!json_object_is_type(doc, json_type_object))
        return err_set(err, ERR_BAD_REQUEST, "a link's metadata must be an object");
    return 0;
}

static int check(const struct agent_link *link, struct err *err)
{
    if (link->relation <= AGENT_RELATION_NONE || link->relation >= ARRAY_LEN(relations))
        return err_set(err, ERR_BAD_REQUEST, "there is no such relation of a link");
    if (relations[link->relation].column)
        return err_set(err, ERR_BAD_REQUEST, "%s is part of a record and no link of its own",
                       relations[link->relation].name);
    if (check_end("beginning", link->from_id, err) < 0 || check_end("end", link->to_id, err) < 0)
        return -1;
    return check_metadata(link->metadata, err);
}

static void id_of(const struct agent_link *link, char ret_id[SHA256_TEXT_SIZE])
{
    AUTO_BUF text = BUF_INIT(4 * KIB);

    buf_printf(&text, "link|v1|%s|%.*s|%.*s", relations[link->relation].name,
               STR_ARG(link->from_id), STR_ARG(link->to_id));
    sha256_text(buf_str(&text), ret_id);
}

static void tell(struct change_batch *batch, const struct change *change, int64_t counter,
                 const char *id)
{
    if (batch)
        change_batch_unit(batch, change, counter, STR("agentLink"), str_from(id));
}

int agent_link_add(struct domain *domain, struct change *change, const struct agent_link *link,
                   struct change_batch *batch, int64_t now_ms, struct err *err)
{
    AUTO(stmt) q = NULL;
    char id[SHA256_TEXT_SIZE];
    int64_t counter;
    int r;

    if (check(link, err) < 0 ||
        db_prepare(domain_db(domain),
                   SQL("INSERT INTO agent_links (id, type, from_id, to_id, metadata, created_at,"
                       " host_n, counter) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
                       " ON CONFLICT (id) DO UPDATE SET hidden = 0, metadata = excluded.metadata,"
                       " host_n = excluded.host_n, counter = excluded.counter"
                       " WHERE agent_links.hidden = 1 RETURNING id"),
                   &q, err) < 0)
        return -1;
    id_of(link, id);
    counter = change_next(change);
    stmt_bind_text(q, id);
    stmt_bind_text(q, relations[link->relation].name);
    stmt_bind_str(q, link->from_id);
    stmt_bind_str(q, link->to_id);
    stmt_bind_str(q, link->metadata.n ? link->metadata : STR("{}"));
    stmt_bind_i64(q, now_ms);
    stmt_bind_i64(q, change_host(change));
    stmt_bind_i64(q, counter);
    r = stmt_step(q, err);
    if (r == 1)
        tell(batch, change, counter, id);
    return r;
}

/* 1 it is there. */
static int exists(struct domain *domain, struct str id, struct err *err)
{
    AUTO(stmt) q = NULL;

    if (db_prepare(domain_db(domain), SQL("SELECT 1 AS yes FROM agent_links WHERE id = ?"), &q,
                   err) < 0)
        return -1;
    stmt_bind_str(q, id);
    return stmt_step(q, err);
}

int agent_link_hide(struct domain *domain, struct change *change, struct str id,
                    struct change_batch *batch, struct err *err)
{
    AUTO(stmt) q = NULL;
    AUTO_ARENA arena = ARENA_INIT;
    int64_t counter;
    int r = exists(domain, id, err);

    if (r == 0)
        return err_set(err, ERR_NOT_FOUND, "there is no link \"%.*s\"",
                       STR_ARG(utf8_truncate(id, 80)));
    if (r < 0 || db_prepare(domain_db(domain),
                            SQL("UPDATE agent_links SET hidden = 1, host_n = ?, counter = ?"
                                " WHERE id = ? AND hidden = 0 RETURNING id"),
                            &q, err) < 0)
        return -1;
    counter = change_next(change);
    stmt_bind_i64(q, change_host(change));
    stmt_bind_i64(q, counter);
    stmt_bind_str(q, id);
    r = stmt_step(q, err);
    if (r == 1)
        tell(batch, change, counter, arena_copy(&arena, id.p, id.n));
    return r;
}

/* ---- reading rows ---- */

struct links {
    struct arena *arena;
    struct agent_link *at;
    size_t n, room;
};

static struct agent_link *add_to(struct links *links)
{
    if (links->n == links->room) {
        struct agent_link *more =
            ARENA_NEW_N(links->arena, struct agent_link, links->room = 2 * links->room + 8);

        if (links->n)
            memcpy(more, links->at, links->n * sizeof(*more));
        links->at = more;
    }
    return &links->at[links->n++];
}

#define LINK_SELECT                                                                                \
    "SELECT id, type, from_id, to_id, metadata, hidden, created_at FROM agent_links "

static int read_rows(struct stmt *q, struct links *links, struct err *err)
{
    int r;

    while ((r = stmt_step(q, err)) == 1)
        *add_to(links) = (struct agent_link){
            .id = arena_str(links->arena, stmt_str(q, "id")),
            .relation = agent_relation_of(stmt_str(q, "type")),
            .from_id = arena_str(links->arena, stmt_str(q, "from_id")),
            .to_id = arena_str(links->arena, stmt_str(q, "to_id")),
            .metadata = arena_str(links->arena, stmt_str(q, "metadata")),
            .hidden = stmt_bool(q, "hidden"),
            .created_at = stmt_i64(q, "created_at"),
        };
    return r;
}

static int bounded(int limit)
{
    return limit < 1 ? 1 : limit > AGENT_LINKS_MAX ? AGENT_LINKS_MAX : limit;
}

static int list(struct domain *domain, struct sql sql, enum agent_relation relation, struct str end,
                int limit, struct links *links, struct err *err)
{
    AUTO(stmt) q = NULL;

    if (db_prepare(domain_db(domain), sql, &q, err) < 0)
        return -1;
    stmt_bind_text(q, relations[relation].name);
    stmt_bind_str(q, end);
    stmt_bind_i64(q, bounded(limit));
    return read_rows(q, links, err);
}

static int rows_from(struct domain *domain, enum agent_relation relation, struct str from_id,
                     int limit, struct links *links, struct err *err)
{
    return list(domain,
                SQL(LINK_SELECT "WHERE type = ? AND from_id = ? AND hidden = 0"
                                " ORDER BY created_at DESC, id LIMIT ?"),
                relation, from_id, limit, links, err);
}

int agent_links_from(struct domain *domain, enum agent_relation relation, struct str from_id,
                     int limit, struct arena *arena, struct agent_link **ret_links,
                     size_t *ret_count, struct err *err)
{
    struct links links = { .arena = arena };

    if (rows_from(domain, relation, from_id, limit, &links, err) < 0)
        return -1;
    *ret_links = links.at;
    *ret_count = links.n;
    return 0;
}

static int rows_to(struct domain *domain, enum agent_relation relation, struct str to_id, int limit,
                   struct links *links, struct err *err)
{
    return list(domain,
                SQL(LINK_SELECT "WHERE type = ? AND to_id = ? AND hidden = 0"
                                " ORDER BY created_at DESC, id LIMIT ?"),
                relation, to_id, limit, links, err);
}

int agent_links_to(struct domain *domain, enum agent_relation relation, struct str to_id, int limit,
                   struct arena *arena, struct agent_link **ret_links, size_t *ret_count,
                   struct err *err)
{
    struct links links = { .arena = arena };

    if (rows_to(domain, relation, to_id, limit, &links, err) < 0)
        return -1;
    *ret_links = links.at;
    *ret_count = links.n;
    return 0;
}

int agent_links_at(struct domain *domain, struct str to_id, int limit, struct arena *arena,
                   struct agent_link **ret_links, size_t *ret_count, struct err *err)
{
    struct links links = { .arena = arena };

    for (size_t i = 1; i < ARRAY_LEN(relations); i++)
        if (!relations[i].column &&
            rows_to(domain, (enum agent_relation)i, to_id, limit, &links, err) < 0)
            return -1;
    *ret_links = links.at;
    *ret_count = links.n;
    return 0;
}

static int made(struct domain *domain, struct sql sql, int64_t agent_n, int limit,
                struct links *links, struct err *err)
{
    AUTO(stmt) q = NULL;

    if (db_prepare(domain_db(domain), sql, &q, err) < 0)
        return -1;
    stmt_bind_i64(q, agent_n);
    stmt_bind_i64(q, bounded(limit));
    return read_rows(q, links, err);
}

#define MADE_SELECT                                                                                \
    "SELECT l.id, l.type, l.from_id, l.to_id, l.metadata, l.hidden, l.created_at FROM "

/* By way of the messages and reports, which are found by their agent. */
int agent_links_made(struct domain *domain, int64_t agent_n, int limit, struct arena *arena,
                     struct agent_link **ret_links, size_t *ret_count, struct err *err)
{
    struct links links = { .arena = arena };

    if (made(domain,
             SQL(MADE_SELECT "agent_messages AS m JOIN agent_links AS l ON l.type = 'tool_effect'"
                             " AND l.from_id = m.id AND l.hidden = 0 WHERE m.agent_n = ?"
                             " AND m.changed_entity_ids IS NOT NULL"
                             " ORDER BY m.created_at DESC, m.n DESC, l.to_id LIMIT ?"),
             agent_n, limit, &links, err) < 0 ||
        made(domain,
             SQL(MADE_SELECT "agent_reports AS r JOIN agent_links AS l ON l.type = 'report_source'"
                             " AND l.from_id = r.id AND l.hidden = 0 WHERE r.agent_n = ?"
                             " ORDER BY r.n DESC, l.to_id LIMIT ?"),
             agent_n, limit, &links, err) < 0)
        return -1;
    *ret_links = links.at;
    *ret_count = links.n;
    return 0;
}

/* Of every relation that has rows: each is one look into the index. */
static int all_rows_from(struct domain *domain, struct str from_id, struct links *links,
                         struct err *err)
{
    for (size_t i = 1; i < ARRAY_LEN(relations); i++)
        if (!relations[i].column &&
            rows_from(domain, (enum agent_relation)i, from_id, AGENT_LINKS_MAX, links, err) < 0)
            return -1;
    return 0;
}

/* ---- columns ---- */

static void add_column(struct links *links, enum agent_relation relation, struct str from_id,
                       struct str to_id, int64_t created_at)
{
    if (to_id.n)
        *add_to(links) = (struct agent_link){ .relation = relation,
                                              .from_id = from_id,
                                              .to_id = arena_str(links->arena, to_id),
                                              .metadata = STR("{}"),
                                              .created_at = created_at };
}

/* 1 found, 0 no such agent. */
static int agent_columns(struct domain *domain, struct str agent_id, struct links *links,
                         struct err *err)
{
    AUTO(stmt) q = NULL;
    int r;

    if (db_prepare(domain_db(domain),
                   SQL("SELECT a.current_state_id, a.updated_at, m.id AS head,"
                       " m.created_at AS head_at FROM agents AS a LEFT JOIN agent_messages AS m"
                       " ON m.n = (SELECT max(t.last_message_n) FROM threads AS t"
                       " WHERE t.agent_n = a.n) WHERE a.id = ?"),
                   &q, err) < 0)
        return -1;
    stmt_bind_str(q, agent_id);
    r = stmt_step(q, err);
    if (r != 1)
        return r;
    add_column(links, AGENT_LINK_STATE, agent_id, stmt_str(q, "current_state_id"),
               stmt_i64(q, "updated_at"));
    add_column(links, AGENT_LINK_HEAD, agent_id, stmt_str(q, "head"), stmt_i64(q, "head_at"));
    return 1;
}

static int report_columns(struct domain *domain, struct str agent_id, struct links *links,
                          struct err *err)
{
    AUTO(stmt) q = NULL;
    int r;

    if (db_prepare(domain_db(domain),
                   SQL("SELECT h.report_id, h.updated_at FROM agent_report_heads AS h"
                       " JOIN agents AS a ON a.n = h.agent_n WHERE a.id = ? ORDER BY h.scope"),
                   &q, err) < 0)
        return -1;
    stmt_bind_str(q, agent_id);
    while ((r = stmt_step(q, err)) == 1)
        add_column(links, AGENT_LINK_REPORT_HEAD, agent_id, stmt_str(q, "report_id"),
                   stmt_i64(q, "updated_at"));
    return r;
}

int agent_links_of_agent(struct domain *domain, struct str agent_id, struct arena *arena,
                         struct agent_link **ret_links, size_t *ret_count, struct err *err)
{
    struct links links = { .arena = arena };
    struct str id = arena_str(arena, agent_id);
    int r = agent_columns(domain, id, &links, err);

    if (r == 0)
        return err_set(err, ERR_NOT_FOUND, "there is no agent \"%.*s\"",
                       STR_ARG(utf8_truncate(agent_id, 80)));
    if (r < 0 || report_columns(domain, id, &links, err) < 0 ||
        all_rows_from(domain, id, &links, err) < 0)
        return -1;
    *ret_links = links.at;
    *ret_count = links.n;
    return 0;
}

/* 1 found, 0 no such message. */
static int message_columns(struct domain *domain, int64_t n, struct links *links,
                           struct str *ret_id, struct err *err)
{
    AUTO(stmt) q = NULL;
    int64_t at;
    int r;

    if (db_prepare(domain_db(domain),
                   SQL("SELECT m.id, m.created_at, m.summary_start_message_id,"
                       " m.summary_end_message_id, p.id AS prev, c.id AS payload, a.id AS act"
                       " FROM agent_messages AS m"
                       " LEFT JOIN agent_messages AS p ON p.n = m.prev_n"
                       " LEFT JOIN agent_message_payloads AS c ON c.n = m.content_entry_n"
                       " LEFT JOIN agent_messages AS a ON a.n = m.action_ref_n WHERE m.n = ?"),
                   &q, err) < 0)
        return -1;
    stmt_bind_i64(q, n);
    r = stmt_step(q, err);
    if (r != 1)
        return r;
    *ret_id = arena_str(links->arena, stmt_str(q, "id"));
    at = stmt_i64(q, "created_at");
    add_column(links, AGENT_LINK_MESSAGE_PREV, *ret_id, stmt_str(q, "prev"), at);
    add_column(links, AGENT_LINK_MESSAGE_PAYLOAD, *ret_id, stmt_str(q, "payload"), at);
    add_column(links, AGENT_LINK_ACTION_REF, *ret_id, stmt_str(q, "act"), at);
    add_column(links, AGENT_LINK_SUMMARY_START, *ret_id, stmt_str(q, "summary_start_message_id"),
               at);
    add_column(links, AGENT_LINK_SUMMARY_END, *ret_id, stmt_str(q, "summary_end_message_id"), at);
    return 1;
}

int agent_links_of_message(struct domain *domain, int64_t message_n, struct arena *arena,
                           struct agent_link **ret_links, size_t *ret_count, struct err *err)
{
    struct links links = { .arena = arena };
    struct str id;
    int r = message_columns(domain, message_n, &links, &id, err);

    if (r == 0)
        return err_set(err, ERR_NOT_FOUND, "there is no message with row %lld",
                       (long long)message_n);
    if (r < 0 || all_rows_from(domain, id, &links, err) < 0)
        return -1;
    *ret_links = links.at;
    *ret_count = links.n;
    return 0;
}
