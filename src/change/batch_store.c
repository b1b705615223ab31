/* Batches in their table, and readers that follow by cursor.
 *
 * A reader asks for what comes after (txid, n). With one writer txid is 0 and n grows with every
 * commit. In a shared database n is given before the commit, so a row may appear behind a cursor
 * that has already passed it; there the rows of a transaction carry its number, and the view
 * change_batches_settled shows only those below every transaction that still runs: nothing can
 * appear before them any more.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/json.h"
#include "base/json_write.h"
#include "base/limits.h"
#include "change/batch.h"
#include "db/db.h"

/* ---- writing ---- */

/* What a batch becomes. */
struct batch_texts {
    char logical_key[SHA256_TEXT_SIZE];
    struct str unit_keys, units, tokens;
    int64_t last_counter; /* of this host */
};

static int check_author(const struct change_batch *batch, struct err *err)
{
    if (batch->author <= CHANGE_BY_NONE || batch->author > CHANGE_BY_SYNC)
        return err_set(err, ERR_MISSING_CHANGE_PROVENANCE,
                       "a batch without author; human, agent or sync is needed");
    if (batch->author == CHANGE_BY_AGENT && !batch->author_id.n)
        return err_set(err, ERR_MISSING_CHANGE_PROVENANCE, "a batch of an agent that has no name");
    return 0;
}

static int check_batch(const struct change_batch *batch, struct err *err)
{
    if (check_author(batch, err) < 0)
        return -1;
    if (batch->unit_count > CHANGE_UNITS_MAX)
        return err_set(err, ERR_TOO_LARGE, "%zu changes in one batch; at most %d are allowed",
                       batch->unit_count, CHANGE_UNITS_MAX);
    for (size_t i = 0; i < batch->token_count; i++)
        if (token_check(&batch->tokens[i], err) < 0)
            return -1;
    return 0;
}

static struct str finished(struct json_writer *w, struct arena *arena)
{
    return json_write_end(w) < 0 ? STR_NONE : arena_str(arena, buf_str(w->out));
}

static struct str strings_json(const struct str *items, size_t n, struct arena *arena)
{
    AUTO_BUF text = BUF_INIT(LIMIT_JSON_BYTES);
    struct json_writer w = JSON_WRITER(&text);

    json_write_array_begin(&w);
    for (size_t i = 0; i < n; i++)
        json_write_str(&w, items[i]);
    json_write_array_end(&w);
    return finished(&w, arena);
}

static struct str units_json(const struct change_unit *units, size_t n, struct arena *arena)
{
    AUTO_BUF text = BUF_INIT(LIMIT_JSON_BYTES);
    struct json_writer w = JSON_WRITER(&text);

    json_write_array_begin(&w);
    for (size_t i = 0; i < n; i++) {
        json_write_array_begin(&w);
        json_write_str(&w, units[i].host_id);
        json_write_i64(&w, units[i].counter);
        json_write_str(&w, units[i].payload_type);
        json_write_str(&w, units[i].payload_id);
        json_write_array_end(&w);
    }
    json_write_array_end(&w);
    return finished(&w, arena);
}

/* Sorted, each once. */
static int keys_of(const struct change_batch *batch, struct arena *arena, struct str **ret_keys,
                   size_t *ret_n, struct err *err)
{
    struct str *keys = ARENA_NEW_N(arena, struct str, batch->unit_count + 1);

    for (size_t i = 0; i < batch->unit_count; i++) {
        char key[SHA256_TEXT_SIZE];

        if (change_unit_key(&batch->units[i], key, err) < 0)
            return -1;
        keys[i] = arena_str(arena, str_from(key));
    }
    *ret_n = change_keys_unique(keys, batch->unit_count);
    *ret_keys = keys;
    return 0;
}

static int64_t last_counter_of(const struct change_batch *batch, const struct change *change)
{
    int64_t last = 0;

    for (size_t i = 0; i < batch->unit_count; i++)
        if (batch->units[i].counter > last &&
            str_is(batch->units[i].host_id, change_host_id(change)))
            last = batch->units[i].counter;
    return last;
}

static int tokens_of(const struct change_batch *batch, struct arena *arena, struct str *ret_json,
                     struct err *err)
{
    struct token *tokens = ARENA_NEW_N(arena, struct token, batch->token_count + 1);
    size_t n;

    if (batch->token_count)
        memcpy(tokens, batch->tokens, batch->token_count * sizeof(*tokens));
    n = tokens_unique(tokens, batch->token_count);
    if (n > TOKENS_MAX)
        return err_set(err, ERR_TOO_LARGE, "%zu tokens in one batch; at most %d are allowed", n,
                       TOKENS_MAX);
    *ret_json = tokens_json(tokens, n, arena);
    return 0;
}

static int texts_of(const struct change_batch *batch, const struct change *change,
                    struct arena *arena, struct batch_texts *ret_texts, struct err *err)
{
    struct str *keys;
    size_t n;

    if (check_batch(batch, err) < 0 || keys_of(batch, arena, &keys, &n, err) < 0 ||
        tokens_of(batch, arena, &ret_texts->tokens, err) < 0)
        return -1;
    change_logical_key(keys, n, ret_texts->logical_key);
    ret_texts->unit_keys = strings_json(keys, n, arena);
    ret_texts->units = units_json(batch->units, batch->unit_count, arena);
    ret_texts->last_counter = last_counter_of(batch, change);
    if (!ret_texts->units.p)
        return err_set(err, ERR_TOO_LARGE, "the ids of one batch are longer than %u bytes",
                       LIMIT_JSON_BYTES);
    return 0;
}

#define BATCH_INSERT                                                                               \
    "INSERT INTO change_batches (local_batch_id, logical_change_key, change_unit_keys, units,"     \
    " typed_tokens, author, author_id, operation_id, host_n, last_counter, created_at)"            \
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
/* Other processes on the database hear of it when it is committed. */
#define BATCH_TELL "pg_notify('" CHANGE_BATCHES_CHANNEL "', '')"

int change_batch_write(struct domain *domain, struct change *change,
                       const struct change_batch *batch, int64_t now_ms, struct err *err)
{
    AUTO(stmt) q = NULL;
    AUTO_ARENA scratch = ARENA_INIT;
    struct batch_texts texts = { 0 };
    char id[UUID_TEXT_SIZE];

    if (!batch->unit_count)
        return 0;
    if (texts_of(batch, change, &scratch, &texts, err) < 0 ||
        db_prepare(domain_db(domain),
                   domain_is_shared(domain) ? SQL(BATCH_INSERT " RETURNING " BATCH_TELL)
                                            : SQL(BATCH_INSERT),
                   &q, err) < 0)
        return -1;
    change_new_id(change, id);
    stmt_bind_text(q, id);
    stmt_bind_text(q, texts.logical_key);
    stmt_bind_str(q, texts.unit_keys);
    stmt_bind_str(q, texts.units);
    stmt_bind_str(q, texts.tokens);
    stmt_bind_text(q, change_author_name(batch->author));
    stmt_bind_some_str(q, batch->author_id);
    stmt_bind_some_str(q, batch->operation_id);
    stmt_bind_i64(q, change_host_in(change, domain));
    stmt_bind_i64(q, texts.last_counter);
    stmt_bind_i64(q, now_ms);
    if (stmt_run(q, err) < 0)
        return -1;
    change_wrote(change);
    return 1;
}

/* ---- reading ---- */

static int read_unit(struct json_object *item, struct arena *arena, struct change_unit *ret_unit,
                     struct err *err)
{
    struct json_object *part[4];

    if (!json_object_is_type(item, json_type_array) || json_length(item) != 4)
        return err_set(err, ERR_INTEGRITY_FAILED, "expected [host, counter, type, id]");
    for (size_t i = 0; i < 4; i++) {
        part[i] = json_object_array_get_idx(item, i);
        if (!json_object_is_type(part[i], i == 1 ? json_type_int : json_type_string))
            return err_set(err, ERR_INTEGRITY_FAILED, "part %zu is %s", i, json_type_name(part[i]));
    }
    *ret_unit = (struct change_unit){
        .host_id = arena_str(arena, json_str(part[0])),
        .counter = json_object_get_int64(part[1]),
        .payload_type = arena_str(arena, json_str(part[2])),
        .payload_id = arena_str(arena, json_str(part[3])),
    };
    return 0;
}

static int read_units(struct change_row *row, struct arena *arena, struct err *err)
{
    AUTO_JSON doc = NULL;

    if (json_parse(row->units, &doc, err) < 0)
        return -1;
    if (!json_object_is_type(doc, json_type_array))
        return err_set(err, ERR_INTEGRITY_FAILED, "expected a list, found %s", json_type_name(doc));
    row->unit_count = json_length(doc);
    row->unit = ARENA_NEW_N(arena, struct change_unit, row->unit_count + 1);
    for (size_t i = 0; i < row->unit_count; i++)
        if (read_unit(json_object_array_get_idx(doc, i), arena, &row->unit[i], err) < 0)
            return err_wrap(err, "unit %zu", i);
    return 0;
}

static int damaged(const struct change_row *row, const char *part, const struct err *cause,
                   struct err *err)
{
    char why[256];

    return err_set(err, ERR_INTEGRITY_FAILED, "change batch %lld (%.*s): %s: %s",
                   (long long)row->at.n, STR_ARG(row->local_batch_id), part,
                   err_format(cause, why, sizeof(why)));
}

/* What the texts of a row say. */
static int read_parts(struct change_row *row, struct arena *arena, struct err *err)
{
    struct err cause = { 0 };

    if (tokens_parse(row->typed_tokens, arena, &row->tokens, &row->token_count, &cause) < 0)
        return damaged(row, "typed_tokens", &cause, err);
    if (read_units(row, arena, &cause) < 0)
        return damaged(row, "units", &cause, err);
    if (row->author == CHANGE_BY_NONE) {
        err_set(&cause, ERR_INTEGRITY_FAILED, "not human, agent or sync");
        return damaged(row, "author", &cause, err);
    }
    return 0;
}

static int read_row(struct stmt *q, struct arena *arena, struct change_row *ret_row,
                    struct err *err)
{
    *ret_row = (struct change_row){
        .at = { stmt_i64(q, "txid"), stmt_i64(q, "n") },
        .local_batch_id = arena_str(arena, stmt_str(q, "local_batch_id")),
        .logical_change_key = arena_str(arena, stmt_str(q, "logical_change_key")),
        .author_id = arena_str(arena, stmt_str(q, "author_id")),
        .operation_id = arena_str(arena, stmt_str(q, "operation_id")),
        .author = change_author_of(stmt_str(q, "author")),
        .change_unit_keys = arena_str(arena, stmt_str(q, "change_unit_keys")),
        .units = arena_str(arena, stmt_str(q, "units")),
        .typed_tokens = arena_str(arena, stmt_str(q, "typed_tokens")),
        .created_at = stmt_i64(q, "created_at"),
    };
    return read_parts(ret_row, arena, err);
}

static int read_rows(struct stmt *q, int limit, struct arena *arena, struct change_row **ret_rows,
                     size_t *ret_count, struct err *err)
{
    struct change_row *rows = ARENA_NEW_N(arena, struct change_row, (size_t)limit + 1);
    size_t n = 0;
    int r = 1;

    while (n < (size_t)limit && (r = stmt_step(q, err)) == 1)
        if (read_row(q, arena, &rows[n++], err) < 0)
            return -1;
    if (r < 0)
        return -1;
    *ret_rows = rows;
    *ret_count = n;
    return 0;
}

static int clamped(int limit)
{
    return limit < 1 ? 1 : limit > CHANGE_ROWS_MAX ? CHANGE_ROWS_MAX : limit;
}

#define ROW                                                                                        \
    "txid, n, local_batch_id, logical_change_key, change_unit_keys, units, typed_tokens, author,"  \
    " author_id, operation_id, created_at"

int change_batches_after(struct domain *domain, struct change_cursor after, int limit,
                         struct arena *arena, struct change_row **ret_rows, size_t *ret_count,
                         struct err *err)
{
    AUTO(stmt) q = NULL;

    if (db_prepare(domain_db(domain),
                   SQL("SELECT " ROW " FROM change_batches_settled WHERE (txid, n) > (?, ?)"
                       " ORDER BY txid, n LIMIT ?"),
                   &q, err) < 0)
        return -1;
    stmt_bind_i64(q, after.txid);
    stmt_bind_i64(q, after.n);
    stmt_bind_i64(q, clamped(limit));
    return read_rows(q, clamped(limit), arena, ret_rows, ret_count, err);
}

int change_batches_since(struct domain *domain, int64_t since_ms, int limit, struct arena *arena,
                         struct change_row **ret_rows, size_t *ret_count, struct err *err)
{
    return change_batches_before(domain, since_ms, CHANGE_PLACE_END, limit, arena, ret_rows,
                                 ret_count, err);
}

int change_batches_before(struct domain *domain, int64_t since_ms, struct change_place before,
                          int limit, struct arena *arena, struct change_row **ret_rows,
                          size_t *ret_count, struct err *err)
{
    AUTO(stmt) q = NULL;

    if (db_prepare(domain_db(domain),
                   SQL("SELECT " ROW " FROM change_batches WHERE created_at >= ?"
                       " AND (created_at, n) < (?, ?) ORDER BY created_at DESC, n DESC LIMIT ?"),
                   &q, err) < 0)
        return -1;
    stmt_bind_i64(q, since_ms);
    stmt_bind_i64(q, before.created_at);
    stmt_bind_i64(q, before.n);
    stmt_bind_i64(q, clamped(limit));
    return read_rows(q, clamped(limit), arena, ret_rows, ret_count, err);
}

int change_batch_next(struct domain *domain, struct change_cursor after,
                      struct change_cursor *ret_at, struct err *err)
{
    AUTO(stmt) q = NULL;
    int r;

    if (db_prepare(domain_db(domain),
                   SQL("SELECT txid, n FROM change_batches_settled WHERE (txid, n) > (?, ?)"
                       " ORDER BY txid, n LIMIT 1"),
                   &q, err) < 0)
        return -1;
    stmt_bind_i64(q, after.txid);
    stmt_bind_i64(q, after.n);
    r = stmt_step(q, err);
    if (r == 1)
        *ret_at = (struct change_cursor){ stmt_i64(q, "txid"), stmt_i64(q, "n") };
    return r;
}

int change_batches_end(struct domain *domain, struct change_cursor *ret_cursor, struct err *err)
{
    AUTO(stmt) q = NULL;
    int r;

    if (db_prepare(domain_db(domain),
                   SQL("SELECT txid, n FROM change_batches_settled"
                       " ORDER BY txid DESC, n DESC LIMIT 1"),
                   &q, err) < 0)
        return -1;
    r = stmt_step(q, err);
    if (r < 0)
        return -1;
    *ret_cursor = r ? (struct change_cursor){ stmt_i64(q, "txid"), stmt_i64(q, "n") }
                    : (struct change_cursor){ 0, 0 };
    return 0;
}

int change_operation_done(struct domain *domain, struct str operation_id, struct err *err)
{
    AUTO(stmt) q = NULL;

    if (db_prepare(domain_db(domain),
                   SQL("SELECT 1 AS yes FROM change_batches WHERE operation_id = ? LIMIT 1"), &q,
                   err) < 0)
        return -1;
    stmt_bind_str(q, operation_id);
    return stmt_step(q, err);
}
