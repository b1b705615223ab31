/* Rows of messages and their payloads.
 *
 * Appending is one INSERT; nothing that grows with the thread is read or written. Content beyond
 * MESSAGE_INLINE_BYTES is a payload, kept once however often it is said. Reading backwards goes in
 * pages: Postgres would send the rest of a thread to a reader who has seen enough.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/hash.h"
#include "base/tokens.h"
#include "change/taint.h"
#include "db/db.h"
#include "memory/message_int.h"

#define PAGE_ROWS 64

#define MESSAGE_SELECT                                                                             \
    "SELECT m.n, m.id, m.agent_n, m.thread_n, m.run_n, m.kind, m.created_at, m.prev_n,"            \
    " coalesce(m.content, p.content) AS content, m.tokens_approx, m.ordinal, m.tokens_total,"      \
    " m.action_type, m.tool_name, m.call_id, m.arguments_hash, m.scope_snapshot, m.operation_n,"   \
    " m.action_ref_n, m.status, m.error_code, m.error_message, m.changed_entity_ids,"              \
    " m.changed_tokens, m.prompt_id, m.prompt_version, m.model_id, m.trigger_source_id, m.taint,"  \
    " m.thread_taint"                                                                              \
    " FROM agent_messages m LEFT JOIN agent_message_payloads p ON p.n = m.content_entry_n "

/* ---- writing ---- */

static int find_payload(struct db *db, const char *id, int64_t *ret_n, struct err *err)
{
    AUTO(stmt) q = NULL;
    int r;

    if (db_prepare(db, SQL("SELECT n FROM agent_message_payloads WHERE id = ?"), &q, err) < 0)
        return -1;
    stmt_bind_text(q, id);
    r = stmt_step(q, err);
    if (r == 1)
        *ret_n = stmt_i64(q, "n");
    return r;
}

/* 1 stored, 0 another got there first. */
static int insert_payload(struct db *db, struct change *change, const struct message *message,
                          const char *id, int64_t *ret_n, struct err *err)
{
    AUTO(stmt) q = NULL;
    int r;

    if (db_prepare(db,
                   SQL("INSERT INTO agent_message_payloads (id, agent_n, created_at, content,"
                       " host_n, counter) VALUES (?, ?, ?, ?, ?, ?)"
                       " ON CONFLICT (id) DO NOTHING RETURNING n"),
                   &q, err) < 0)
        return -1;
    stmt_bind_text(q, id);
    stmt_bind_i64(q, message->agent_n);
    stmt_bind_i64(q, message->created_at);
    stmt_bind_str(q, message->content);
    stmt_bind_i64(q, change_host(change));
    stmt_bind_i64(q, change_next(change));
    r = stmt_step(q, err);
    if (r == 1)
        *ret_n = stmt_i64(q, "n");
    return r;
}

static int store_payload(struct db *db, struct change *change, const struct message *message,
                         int64_t *ret_n, struct err *err)
{
    char id[SHA256_TEXT_SIZE];
    int r;

    sha256_text(message->content, id);
    r = find_payload(db, id, ret_n, err);
    if (r == 0)
        r = insert_payload(db, change, message, id, ret_n, err);
    if (r == 0)
        r = find_payload(db, id, ret_n, err);
    if (r == 0)
        return err_set(err, ERR_INTERNAL, "payload %s did not stay", id);
    return r < 0 ? -1 : 0;
}

static void bind_metadata(struct stmt *q, const struct message *message)
{
    stmt_bind_some_str(q, message->trigger_source_id);
    stmt_bind_some_str(q, message->action_type);
    stmt_bind_some_str(q, message->tool_name);
    stmt_bind_some_str(q, message->call_id);
    stmt_bind_some_i64(q, message->operation_n);
    stmt_bind_some_str(q, message->arguments_hash);
    stmt_bind_some_str(q, message->scope_snapshot);
    stmt_bind_some_i64(q, message->action_ref_n);
    stmt_bind_some_str(q, message->status);
    stmt_bind_some_str(q, message->error_code);
    stmt_bind_some_str(q, message->error_message);
    stmt_bind_some_str(q, message->changed_entity_ids);
    stmt_bind_some_str(q, message->changed_tokens);
    stmt_bind_some_str(q, message->prompt_id);
    stmt_bind_some_str(q, message->prompt_version);
    stmt_bind_some_str(q, message->model_id);
    stmt_bind_some_str(q, message->taint);
    stmt_bind_some_str(q, message->thread_taint);
}

static int insert_message(struct db *db, struct change *change, struct message *message,
                          int64_t payload_n, struct err *err)
{
    AUTO(stmt) q = NULL;

    if (db_prepare(
            db,
            SQL("INSERT INTO agent_messages (id, agent_n, thread_n, run_n, kind, created_at,"
                " prev_n, content, content_entry_n, tokens_approx, ordinal, tokens_total,"
                " host_n, counter, trigger_source_id, action_type, tool_name, call_id,"
                " operation_n, arguments_hash, scope_snapshot, action_ref_n, status,"
                " error_code, error_message, changed_entity_ids, changed_tokens, prompt_id,"
                " prompt_version, model_id, taint, thread_taint) VALUES (?, ?, ?, ?, ?, ?, ?, ?, "
                "?, ?, ?,"
                " ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING n"),
            &q, err) < 0)
        return -1;
    message->counter = change_next(change);
    stmt_bind_str(q, message->id);
    stmt_bind_i64(q, message->agent_n);
    stmt_bind_i64(q, message->thread_n);
    stmt_bind_some_i64(q, message->run_n);
    stmt_bind_text(q, message_kind_name(message->kind));
    stmt_bind_i64(q, message->created_at);
    stmt_bind_some_i64(q, message->prev_n);
    stmt_bind_str(q, payload_n ? STR_NONE : message->content);
    stmt_bind_some_i64(q, payload_n);
    stmt_bind_i64(q, message->tokens_approx);
    stmt_bind_i64(q, message->ordinal);
    stmt_bind_i64(q, message->tokens_total);
    stmt_bind_i64(q, change_host(change));
    stmt_bind_i64(q, message->counter);
    bind_metadata(q, message);
    if (stmt_step(q, err) != 1)
        return -1;
    message->n = stmt_i64(q, "n");
    return 0;
}

int message_append(struct domain *domain, struct change *change, struct thread *thread,
                   struct message *message, struct err *err)
{
    struct db *db = domain_db(domain);
    int64_t payload_n = 0;

    BUG_IF(message->kind == MESSAGE_KIND_NONE || message->id.n == 0 || message->content.n == 0);
    if (message->content.n > MESSAGE_CONTENT_BYTES)
        return err_set(err, ERR_TOO_LARGE, "a message of %zu bytes: at most %u are kept",
                       message->content.n, MESSAGE_CONTENT_BYTES);
    message->agent_n = thread->agent_n;
    message->thread_n = thread->n;
    message->prev_n = thread->last_message_n;
    if (message->tokens_approx == 0)
        message->tokens_approx = tokens_estimate(message->content);
    message->ordinal = thread->message_count + 1;
    message->tokens_total = thread->tokens_total + message_weight(message->tokens_approx);
    message->thread_taint = taint_join(thread->taint, message->taint, thread->arena);
    if (message->content.n > MESSAGE_INLINE_BYTES &&
        store_payload(db, change, message, &payload_n, err) < 0)
        return err_wrap(err, "keep a message's content");
    if (insert_message(db, change, message, payload_n, err) < 0)
        return err_wrap(err, "append a message to thread %.*s", STR_ARG(thread->id));
    thread->last_message_n = message->n;
    thread->message_count = message->ordinal;
    thread->tokens_total = message->tokens_total;
    thread->taint = message->thread_taint;
    return 0;
}

/* ---- reading ---- */

/* Texts are views into the row. */
static void read_row(struct stmt *q, struct message *ret_message)
{
    *ret_message = (struct message){
        .n = stmt_i64(q, "n"),
        .id = stmt_str(q, "id"),
        .agent_n = stmt_i64(q, "agent_n"),
        .thread_n = stmt_i64(q, "thread_n"),
        .run_n = stmt_i64(q, "run_n"),
        .kind = message_kind_of(stmt_str(q, "kind")),
        .created_at = stmt_i64(q, "created_at"),
        .prev_n = stmt_i64(q, "prev_n"),
        .content = stmt_str(q, "content"),
        .tokens_approx = stmt_i64(q, "tokens_approx"),
        .ordinal = stmt_i64(q, "ordinal"),
        .tokens_total = stmt_i64(q, "tokens_total"),
        .action_type = stmt_str(q, "action_type"),
        .tool_name = stmt_str(q, "tool_name"),
        .call_id = stmt_str(q, "call_id"),
        .arguments_hash = stmt_str(q, "arguments_hash"),
        .scope_snapshot = stmt_str(q, "scope_snapshot"),
        .operation_n = stmt_i64(q, "operation_n"),
        .action_ref_n = stmt_i64(q, "action_ref_n"),
        .status = stmt_str(q, "status"),
        .error_code = stmt_str(q, "error_code"),
        .error_message = stmt_str(q, "error_message"),
        .changed_entity_ids = stmt_str(q, "changed_entity_ids"),
        .changed_tokens = stmt_str(q, "changed_tokens"),
        .prompt_id = stmt_str(q, "prompt_id"),
        .prompt_version = stmt_str(q, "prompt_version"),
        .model_id = stmt_str(q, "model_id"),
        .trigger_source_id = stmt_str(q, "trigger_source_id"),
        .taint = stmt_str(q, "taint"),
        .thread_taint = stmt_str(q, "thread_taint"),
    };
}

static void message_copy(struct arena *arena, struct message *message)
{
    struct str *const texts[] = { &message->id,
                                  &message->content,
                                  &message->action_type,
                                  &message->tool_name,
                                  &message->call_id,
                                  &message->arguments_hash,
                                  &message->scope_snapshot,
                                  &message->status,
                                  &message->error_code,
                                  &message->error_message,
                                  &message->changed_entity_ids,
                                  &message->changed_tokens,
                                  &message->prompt_id,
                                  &message->prompt_version,
                                  &message->model_id,
                                  &message->trigger_source_id,
                                  &message->taint,
                                  &message->thread_taint };

    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        if (texts[i]->p)
            *texts[i] = arena_str(arena, *texts[i]);
}

int message_get_n(struct domain *domain, int64_t n, struct arena *arena,
                  struct message *ret_message, struct err *err)
{
    AUTO(stmt) q = NULL;
    int r;

    if (db_prepare(domain_db(domain), SQL(MESSAGE_SELECT "WHERE m.n = ?"), &q, err) < 0)
        return -1;
    stmt_bind_i64(q, n);
    r = stmt_step(q, err);
    if (r == 0)
        return err_set(err, ERR_INTEGRITY_FAILED, "message row %lld is missing", (long long)n);
    if (r < 0)
        return -1;
    read_row(q, ret_message);
    message_copy(arena, ret_message);
    return 0;
}

/* One page: 1 when there may be another before *before_n, 0 when this was the last. */
static int page_back(struct db *db, int64_t thread_n, int64_t *before_n,
                     bool (*fn)(void *arg, const struct message *message), void *arg,
                     struct err *err)
{
    AUTO(stmt) q = NULL;
    int r, rows = 0;

    if (db_prepare(db,
                   SQL(MESSAGE_SELECT "WHERE m.thread_n = ? AND m.n < ? ORDER BY m.n DESC LIMIT ?"),
                   &q, err) < 0)
        return -1;
    stmt_bind_i64(q, thread_n);
    stmt_bind_i64(q, *before_n);
    stmt_bind_i64(q, PAGE_ROWS);
    for (; (r = stmt_step(q, err)) == 1; rows++) {
        struct message message;

        read_row(q, &message);
        *before_n = message.n;
        if (!fn(arg, &message))
            return 0;
    }
    return r < 0 ? -1 : rows == PAGE_ROWS;
}

int message_each_back(struct domain *domain, int64_t thread_n, int64_t before_n,
                      bool (*fn)(void *arg, const struct message *message), void *arg,
                      struct err *err)
{
    int r;

    if (before_n == 0)
        before_n = INT64_MAX;
    while ((r = page_back(domain_db(domain), thread_n, &before_n, fn, arg, err)) == 1)
        ;
    return r;
}

int message_counter(struct domain *domain, int64_t n, int64_t host_n,
                    void (*fn)(void *arg, struct str id, int64_t counter), void *arg,
                    struct err *err)
{
    AUTO(stmt) q = NULL;
    int r;

    if (db_prepare(domain_db(domain),
                   SQL("SELECT id, counter FROM agent_messages WHERE n = ? AND host_n = ?"), &q,
                   err) < 0)
        return -1;
    stmt_bind_i64(q, n);
    stmt_bind_i64(q, host_n);
    r = stmt_step(q, err);
    if (r == 1)
        fn(arg, stmt_str(q, "id"), stmt_i64(q, "counter"));
    return r < 0 ? -1 : 0;
}

/* ---- for the context of a turn ---- */

int message_marks_back(struct domain *domain, int64_t thread_n, int64_t before_n,
                       struct message_mark *ret_marks, size_t max, size_t *ret_count,
                       struct err *err)
{
    AUTO(stmt) q = NULL;
    size_t count = 0;
    int r;

    if (db_prepare(domain_db(domain),
                   SQL("SELECT n, kind, ordinal, tokens_approx, tokens_total, action_ref_n"
                       " FROM agent_messages WHERE thread_n = ? AND n < ?"
                       " ORDER BY n DESC LIMIT ?"),
                   &q, err) < 0)
        return -1;
    stmt_bind_i64(q, thread_n);
    stmt_bind_i64(q, before_n ? before_n : INT64_MAX);
    stmt_bind_i64(q, (int64_t)max);
    while ((r = stmt_step(q, err)) == 1 && count < max)
        ret_marks[count++] = (struct message_mark){
            .n = stmt_i64(q, "n"),
            .kind = message_kind_of(stmt_str(q, "kind")),
            .ordinal = stmt_i64(q, "ordinal"),
            .tokens_approx = stmt_i64(q, "tokens_approx"),
            .tokens_total = stmt_i64(q, "tokens_total"),
            .action_ref_n = stmt_i64(q, "action_ref_n"),
        };
    if (r < 0)
        return -1;
    *ret_count = count;
    return 0;
}

/* What a prompt is made of. Less than a whole row, because there are hundreds. */
static void read_shown(struct stmt *q, struct arena *arena, struct message *ret_message)
{
    *ret_message = (struct message){
        .n = stmt_i64(q, "n"),
        .run_n = stmt_i64(q, "run_n"),
        .kind = message_kind_of(stmt_str(q, "kind")),
        .created_at = stmt_i64(q, "created_at"),
        .prev_n = stmt_i64(q, "prev_n"),
        .tokens_approx = stmt_i64(q, "tokens_approx"),
        .ordinal = stmt_i64(q, "ordinal"),
        .tokens_total = stmt_i64(q, "tokens_total"),
        .content = stmt_str(q, "content"),
        .tool_name = stmt_str(q, "tool_name"),
        .call_id = stmt_str(q, "call_id"),
        .action_ref_n = stmt_i64(q, "action_ref_n"),
        .status = stmt_str(q, "status"),
        .error_code = stmt_str(q, "error_code"),
        .error_message = stmt_str(q, "error_message"),
        .model_id = stmt_str(q, "model_id"),
        .taint = stmt_str(q, "taint"),
    };
    message_copy(arena, ret_message);
}

int message_load_from(struct domain *domain, int64_t thread_n, int64_t first_n, size_t max,
                      struct arena *arena, struct message *ret_messages, size_t *ret_count,
                      struct err *err)
{
    AUTO(stmt) q = NULL;
    size_t count = 0;
    int r;

    if (db_prepare(domain_db(domain),
                   SQL("SELECT m.n, m.run_n, m.kind, m.created_at, m.prev_n, m.tokens_approx,"
                       " m.ordinal, m.tokens_total, coalesce(m.content, p.content) AS content,"
                       " m.tool_name, m.call_id, m.action_ref_n, m.status, m.error_code,"
                       " m.error_message, m.model_id, m.taint FROM agent_messages m"
                       " LEFT JOIN agent_message_payloads p ON p.n = m.content_entry_n"
                       " WHERE m.thread_n = ? AND m.n >= ? ORDER BY m.n LIMIT ?"),
                   &q, err) < 0)
        return -1;
    stmt_bind_i64(q, thread_n);
    stmt_bind_i64(q, first_n);
    stmt_bind_i64(q, (int64_t)max);
    while ((r = stmt_step(q, err)) == 1 && count < max)
        read_shown(q, arena, &ret_messages[count++]);
    if (r < 0)
        return -1;
    *ret_count = count;
    return 0;
}
