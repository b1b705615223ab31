/* Lists of conversations, their titles, and deleting with a way back.
 *
 * Titles and previews are read along with the list: one probe of the messages' index for each row
 * of the page, and never more than the front of a long message.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/path.h"
#include "base/utf8.h"
#include "db/db.h"
#include "memory/conversation.h"

#define FRONT_CHARS   2000 /* of a message */
#define TITLE_BYTES   80
#define PREVIEW_BYTES 160
#define PAGE_ROWS     64 /* that are read at a time where words are looked for */
#define WORDS_BYTES   (16 * FRONT_CHARS)

#define TEXT_OF(x) #x
#define NUMBER(x)  TEXT_OF(x)

#define FRONT_OF(order, kinds)                                                                     \
    "(SELECT substr(coalesce(m.content, p.content), 1, " NUMBER(                                   \
        FRONT_CHARS) ") FROM agent_messages AS m"                                                  \
                     " LEFT JOIN agent_message_payloads AS p ON p.n = m.content_entry_n"           \
                     " WHERE m.thread_n = t.n AND m.kind IN (" kinds ") ORDER BY m.n " order       \
                     " LIMIT 1)"

#define FIRST_WORDS FRONT_OF("ASC", "'user', 'observation'") " AS first_words, "
#define LAST_WORDS  FRONT_OF("DESC", "'user', 'thought'") " AS last_words"
#define CONVERSATION_SELECT                                                                        \
    "SELECT t.n, t.agent_n, t.id, t.title, t.created_at, t.updated_at, t.deleted_at, h.n AS head," \
    " h.ordinal, h.tokens_total, (SELECT max(e.seq) FROM run_events AS e WHERE e.thread_n = t.n"   \
    " AND e.seq IS NOT NULL) AS last_seq, w.pending, " FIRST_WORDS LAST_WORDS                      \
    " FROM threads AS t LEFT JOIN agent_messages AS h"                                             \
    " ON h.n = (SELECT max(l.n) FROM agent_messages AS l WHERE l.thread_n = t.n)"                  \
    " LEFT JOIN (SELECT thread_n, count(*) AS pending FROM inbox WHERE state = 'pending'"          \
    " GROUP BY thread_n) AS w ON w.thread_n = t.n "

static void read_row(struct stmt *q, struct arena *arena, struct conversation *ret_conversation)
{
    struct str title = stmt_str(q, "title");

    *ret_conversation = (struct conversation){
        .thread = { .n = stmt_i64(q, "n"),
                    .agent_n = stmt_i64(q, "agent_n"),
                    .id = arena_str(arena, stmt_str(q, "id")),
                    .last_seq = stmt_i64(q, "last_seq"),
                    .last_message_n = stmt_i64(q, "head"),
                    .message_count = stmt_i64(q, "ordinal"),
                    .tokens_total = stmt_i64(q, "tokens_total"),
                    .created_at = stmt_i64(q, "created_at"),
                    .updated_at = stmt_i64(q, "updated_at"),
                    .deleted_at = stmt_i64(q, "deleted_at") },
        .named = title.n > 0,
        .title = title.n ? arena_str(arena, title)
                         : message_line(stmt_str(q, "first_words"), TITLE_BYTES, arena),
        .preview = message_line(stmt_str(q, "last_words"), PREVIEW_BYTES, arena),
        .pending = stmt_i64(q, "pending"),
    };
}

int conversation_get(struct domain *domain, int64_t thread_n, struct arena *arena,
                     struct conversation *ret_conversation, struct err *err)
{
    AUTO(stmt) q = NULL;
    int r;

    if (db_prepare(domain_db(domain), SQL(CONVERSATION_SELECT "WHERE t.n = ?"), &q, err) < 0)
        return -1;
    stmt_bind_i64(q, thread_n);
    r = stmt_step(q, err);
    if (r == 0)
        return err_set(err, ERR_INTEGRITY_FAILED, "thread row %lld is missing",
                       (long long)thread_n);
    if (r < 0)
        return -1;
    read_row(q, arena, ret_conversation);
    return 0;
}

/* ---- lists ---- */

struct list {
    struct arena *arena;
    struct conversation *items;
    size_t n, max;
};

/* When the one that the page goes on after had its last word. */
static int updated_at_of(struct db *db, int64_t n, int64_t *ret_at, struct err *err)
{
    AUTO(stmt) q = NULL;
    int r;

    *ret_at = INT64_MAX;
    if (n <= 0)
        return 0;
    if (db_prepare(db, SQL("SELECT updated_at FROM threads WHERE n = ?"), &q, err) < 0)
        return -1;
    stmt_bind_i64(q, n);
    r = stmt_step(q, err);
    if (r == 1)
        *ret_at = stmt_i64(q, "updated_at");
    return r < 0 ? -1 : 0;
}

static int prepare(struct db *db, const struct conversation_filter *filter, int64_t before,
                   size_t rows, struct stmt **ret_q, struct err *err)
{
    int64_t at;

    if (updated_at_of(db, before, &at, err) < 0 ||
        db_prepare(db,
                   SQL(CONVERSATION_SELECT
                       "WHERE t.agent_n = ? AND t.deleted_at IS NULL AND (t.updated_at, t.n) <"
                       " (?, ?) ORDER BY t.updated_at DESC, t.n DESC LIMIT ?"),
                   ret_q, err) < 0)
        return -1;
    stmt_bind_i64(*ret_q, filter->agent_n);
    stmt_bind_i64(*ret_q, at);
    stmt_bind_i64(*ret_q, before > 0 ? before : INT64_MAX);
    stmt_bind_i64(*ret_q, (int64_t)rows);
    return 0;
}

/* Whether a row has the words. They are looked for here and not by the database: a message is kept
 * as JSON, and the engines don't agree on what capital letters are. */
static bool has(struct str text, const struct buf *words)
{
    AUTO_BUF folded = BUF_INIT(WORDS_BYTES);

    path_fold(text, &folded);
    return str_find(buf_str(&folded), buf_str(words)) >= 0;
}

static bool row_has(struct stmt *q, const struct buf *words)
{
    AUTO_ARENA arena = ARENA_INIT;

    return has(stmt_str(q, "title"), words) ||
           has(message_line(stmt_str(q, "first_words"), FRONT_CHARS * UTF8_MAX_BYTES, &arena),
               words);
}

/* 1 when there may be another page after *before. */
static int read_page(struct db *db, const struct conversation_filter *filter,
                     const struct buf *words, int64_t *before, struct list *list, struct err *err)
{
    size_t page = filter->query.n ? PAGE_ROWS : list->max, rows = 0;
    AUTO(stmt) q = NULL;
    int r = 0;

    if (prepare(db, filter, *before, page, &q, err) < 0)
        return -1;
    for (; list->n < list->max && (r = stmt_step(q, err)) == 1; rows++) {
        *before = stmt_i64(q, "n");
        if (!filter->query.n || row_has(q, words))
            read_row(q, list->arena, &list->items[list->n++]);
    }
    if (r < 0)
        return -1;
    return list->n < list->max && rows == page;
}

int conversation_list(struct domain *domain, const struct conversation_filter *filter,
                      struct arena *arena, struct conversation **ret_list, size_t *ret_count,
                      struct err *err)
{
    struct list list = { .arena = arena, .max = filter->limit > 0 ? (size_t)filter->limit : 100 };
    AUTO_BUF words = BUF_INIT(WORDS_BYTES);
    int64_t before = filter->before;
    int r = 1;

    list.items = ARENA_NEW_N(arena, struct conversation, list.max);
    /* What is no text was never said. */
    if (path_fold(filter->query, &words) < 0)
        r = 0;
    while (r == 1)
        r = read_page(domain_db(domain), filter, &words, &before, &list, err);
    if (r < 0)
        return -1;
    *ret_list = list.items;
    *ret_count = list.n;
    return 0;
}

/* ---- changing ---- */

int conversation_rename(struct domain *domain, int64_t thread_n, struct str title, struct err *err)
{
    AUTO(stmt) q = NULL;

    if (db_prepare(domain_db(domain), SQL("UPDATE threads SET title = ? WHERE n = ?"), &q, err) < 0)
        return -1;
    stmt_bind_str(q, title.n ? title : STR(""));
    stmt_bind_i64(q, thread_n);
    return stmt_run(q, err);
}

/* 1 when a run has not ended there. */
static int has_run(struct db *db, int64_t thread_n, struct err *err)
{
    AUTO(stmt) q = NULL;

    if (db_prepare(db, SQL("SELECT n FROM runs WHERE thread_n = ? AND ended_at IS NULL LIMIT 1"),
                   &q, err) < 0)
        return -1;
    stmt_bind_i64(q, thread_n);
    return stmt_step(q, err);
}

int conversation_delete(struct domain *domain, int64_t thread_n, int64_t now_ms, struct err *err)
{
    AUTO(stmt) q = NULL;
    int r = has_run(domain_db(domain), thread_n, err);

    if (r > 0)
        return err_set(err, ERR_CONFLICT,
                       "the conversation has a run that has not ended; cancel it first");
    if (r < 0 || db_prepare(domain_db(domain),
                            SQL("UPDATE threads SET deleted_at = ? WHERE n = ?"
                                " AND deleted_at IS NULL RETURNING n"),
                            &q, err) < 0)
        return -1;
    stmt_bind_i64(q, now_ms);
    stmt_bind_i64(q, thread_n);
    return stmt_step(q, err);
}

int conversation_restore(struct domain *domain, int64_t thread_n, struct err *err)
{
    AUTO(stmt) q = NULL;

    if (db_prepare(domain_db(domain),
                   SQL("UPDATE threads SET deleted_at = NULL WHERE n = ?"
                       " AND deleted_at IS NOT NULL RETURNING n"),
                   &q, err) < 0)
        return -1;
    stmt_bind_i64(q, thread_n);
    return stmt_step(q, err);
}
