/* Asking: names in the agent domain, where they are always new, and texts in the index.
 *
 * SPDX-License-Identifier: MIT
 */
#include "agent/agent.h"
#include "base/utf8.h"
#include "db/db.h"
#include "find/find_int.h"
#include "memory/conversation.h"

#define SNIPPET_BYTES 240
#define THREADS_SEEN  2000 /* the newest that were given a title */
#define TEXTS_SEEN    1000 /* the best; conversations among them may have been put away */

static struct str line_of(struct str text, struct arena *arena)
{
    struct str cut = utf8_truncate(text, SNIPPET_BYTES);
    char *copy = arena_copy(arena, cut.p, cut.n);

    for (size_t i = 0; i < cut.n; i++)
        if ((unsigned char)copy[i] < ' ')
            copy[i] = ' ';
    return str_of(copy, cut.n);
}

static bool is_hidden(const struct find_hits *hits, struct str agent_id)
{
    return hits->agent_id.n ? !str_eq(agent_id, hits->agent_id) : agent_is_system(agent_id);
}

static bool add(struct find_hits *hits, const struct find_result *result)
{
    if (hits->count < hits->max)
        hits->results[hits->count++] = *result;
    return hits->count < hits->max;
}

/* ---- agents ---- */

static bool see_agent(void *arg, const struct agent *agent)
{
    struct find_hits *hits = arg;
    struct str id = str_from(agent->id), name = str_from(agent->display_name);
    struct arena *arena = hits->arena;

    if (agent->lifecycle == AGENT_DESTROYED || is_hidden(hits, id) ||
        !(find_in(hits->words, name) || find_in(hits->words, str_from(agent->description)) ||
          find_in(hits->words, id)))
        return true;
    return add(hits, &(struct find_result){ .kind = FIND_AGENT,
                                            .agent_id = arena_str(arena, id),
                                            .title = arena_str(arena, name),
                                            .snippet = line_of(str_from(agent->description), arena),
                                            .at = agent->updated_at });
}

int find_agents(struct find *find, struct find_hits *hits, struct err *err)
{
    if (hits->count >= hits->max)
        return 0;
    return agent_each(find->config.agent_domain, see_agent, hits, err);
}

/* ---- conversations ---- */

int find_threads(struct find *find, struct find_hits *hits, struct err *err)
{
    struct arena *arena = hits->arena;
    AUTO(stmt) q = NULL;
    int r;

    if (db_prepare(domain_db(find->config.agent_domain),
                   SQL("SELECT t.id, t.title, t.updated_at, a.id AS agent_id FROM threads AS t"
                       " JOIN agents AS a ON a.n = t.agent_n WHERE t.title <> ''"
                       " AND t.deleted_at IS NULL ORDER BY t.n DESC LIMIT ?"),
                   &q, err) < 0)
        return -1;
    stmt_bind_i64(q, THREADS_SEEN);
    while ((r = stmt_step(q, err)) == 1) {
        struct str title = stmt_str(q, "title"), agent_id = stmt_str(q, "agent_id");

        if (is_hidden(hits, agent_id) || !find_in(hits->words, title))
            continue;
        if (!add(hits, &(struct find_result){ .kind = FIND_THREAD,
                                              .agent_id = arena_str(arena, agent_id),
                                              .thread_id = arena_str(arena, stmt_str(q, "id")),
                                              .title = arena_str(arena, title),
                                              .at = stmt_i64(q, "updated_at") }))
            return 0;
    }
    return r;
}

/* ---- texts ---- */

/* The conversation of a message: 0 when it was put away. */
static int name_thread(struct find *find, struct find_hits *hits, int64_t thread_n,
                       struct find_result *result, struct err *err)
{
    struct conversation conversation;

    if (conversation_get(find->config.agent_domain, thread_n, hits->arena, &conversation, err) < 0)
        return -1;
    result->thread_id = conversation.thread.id;
    result->title = conversation.title;
    return conversation.thread.deleted_at == 0;
}

static int add_document(struct find *find, struct find_hits *hits, struct stmt *q, struct err *err)
{
    bool is_file = str_is(stmt_str(q, "kind"), "file");
    enum find_kind kind = find_kind_of(stmt_str(q, "kind"));
    struct find_result result = {
        .kind = is_file ? FIND_FILE : FIND_MESSAGE,
        .agent_id = arena_str(hits->arena, stmt_str(q, "agent_id")),
        .path = arena_str(hits->arena, stmt_str(q, "path")),
        .snippet = line_of(stmt_str(q, "snippet"), hits->arena),
        .at = stmt_i64(q, "at"),
    };
    int r = 1;

    if (kind)
        r = find_record(find, kind, result.path, hits->arena, &result, err);
    else if (is_file)
        result.title = result.path;
    else
        r = name_thread(find, hits, stmt_i64(q, "thread_n"), &result, err);
    if (r > 0)
        add(hits, &result);
    return r < 0 ? -1 : 0;
}

int find_documents(struct find *find, struct find_hits *hits, struct err *err)
{
    AUTO_BUF expression = BUF_INIT(8192);
    AUTO(stmt) q = NULL;
    int r = 0;

    if (hits->count >= hits->max)
        return 0;
    find_expression(hits->words, &expression);
    if (db_prepare(domain_db(find->config.index_domain),
                   SQL("SELECT d.kind, d.agent_id, d.thread_n, d.path, d.at,"
                       " snippet(find_text, 0, '', '', '…', 20) AS snippet FROM find_text"
                       " JOIN find_documents AS d ON d.n = find_text.rowid"
                       " WHERE find_text MATCH ? AND (? = '' OR d.agent_id = ?)"
                       " AND (? <> '' OR d.agent_id NOT LIKE 'system:%')"
                       " AND (? = 0 OR (? = 1) = (d.agent_id = ''))"
                       " ORDER BY find_text.rank LIMIT ?"),
                   &q, err) < 0)
        return -1;
    stmt_bind_str(q, buf_str(&expression));
    for (int i = 0; i < 3; i++)
        stmt_bind_str(q, hits->agent_id.n ? hits->agent_id : STR(""));
    for (int i = 0; i < 2; i++)
        stmt_bind_i64(q, hits->scope);
    stmt_bind_i64(q, TEXTS_SEEN);
    while (hits->count < hits->max && (r = stmt_step(q, err)) == 1)
        if (add_document(find, hits, q, err) < 0)
            return -1;
    return r < 0 ? -1 : 0;
}
