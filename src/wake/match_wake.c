/* The wakes of what matched: their payloads, keys and times.
 *
 * A payload names what changed, never what it says: the agent reads the records themselves when it
 * runs, as they are then and as far as it may.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/json_put.h"
#include "change/vclock.h"
#include "wake/match.h"
#include "wake/subscription_int.h"

/* ---- payloads ---- */

static void write_unit(struct json_writer *w, const struct change_unit *unit)
{
    json_write_array_begin(w);
    json_write_str(w, unit->host_id);
    json_write_i64(w, unit->counter);
    json_write_str(w, unit->payload_type);
    json_write_str(w, unit->payload_id);
    json_write_array_end(w);
}

static bool is_matched(const struct match *match, const struct change_unit *unit)
{
    struct str id;
    enum record_type type = match_unit_record(unit, &id);

    for (size_t i = 0; i < match->record_count && i < MATCH_RECORDS_MAX; i++) {
        if (match->records[i].type == type && str_eq(match->records[i].id, id))
            return true;
    }
    return false;
}

/* Those of a journal that the agent may see; of the agent domain, all. */
static void write_units(struct json_writer *w, const struct match_batch *batch,
                        const struct match *match)
{
    size_t written = 0;

    json_put_array(w, "units");
    for (size_t i = 0; i < batch->row->unit_count && written < MATCH_UNITS_MAX; i++) {
        const struct change_unit *unit = &batch->row->unit[i];

        if (batch->source == WAKE_JOURNAL && !is_matched(match, unit))
            continue;
        write_unit(w, unit);
        written++;
    }
    json_write_array_end(w);
    json_put_i64(w, "unitCount", (int64_t)batch->row->unit_count);
}

/* The highest counter of each host: whoever has seen these has seen the whole batch. */
static void write_counters(struct json_writer *w, const struct match_batch *batch)
{
    AUTO_ARENA arena = ARENA_INIT;
    struct vclock clock = { 0 };

    for (size_t i = 0; i < batch->row->unit_count; i++) {
        const struct change_unit *unit = &batch->row->unit[i];

        if (vclock_of(&clock, unit->host_id) < unit->counter)
            clock = vclock_with(&clock, unit->host_id, unit->counter, &arena);
    }
    json_put_object(w, "counters");
    for (size_t i = 0; i < clock.n; i++) {
        json_write_key_str(w, clock.at[i].host);
        json_write_i64(w, clock.at[i].counter);
    }
    json_write_object_end(w);
}

static void write_records(struct json_writer *w, const struct match *match)
{
    json_put_array(w, "records");
    for (size_t i = 0; i < match->record_count && i < MATCH_RECORDS_MAX; i++) {
        json_write_array_begin(w);
        json_write_text(w, record_type_name(match->records[i].type));
        json_write_str(w, match->records[i].id);
        json_write_array_end(w);
    }
    json_write_array_end(w);
    json_put_i64(w, "recordCount", (int64_t)match->record_count);
    if (match->hidden_count) {
        json_put_i64(w, "hiddenCount", (int64_t)match->hidden_count);
    }
}

static void write_author(struct json_writer *w, const struct change_row *row)
{
    json_put_text(w, "author", change_author_name(row->author));
    if (row->author_id.n) {
        json_put_str(w, "authorId", row->author_id);
    }
}

static bool may_be_told(const struct match *match, const struct token *token)
{
    if (!match->hidden_count || token->class == TOKEN_SEMANTIC_KEY)
        return true;
    for (size_t i = 0; i < match->record_count && i < MATCH_RECORDS_MAX; i++) {
        if (token->class == TOKEN_ENTITY_ID && str_eq(match->records[i].id, token->value))
            return true;
    }
    return false;
}

void match_write_tokens(struct json_writer *w, const struct change_row *row,
                        const struct match *match)
{
    static const enum token_class order[] = { TOKEN_SEMANTIC_KEY, TOKEN_SUBTYPE, TOKEN_ENTITY_ID };
    size_t written = 0;

    json_put_array(w, "affectedTokens");
    for (size_t k = 0; k < ARRAY_LEN(order); k++) {
        for (size_t i = 0; i < row->token_count && written < MATCH_RECORDS_MAX; i++) {
            AUTO_BUF text = BUF_INIT(TOKEN_NAMESPACE_MAX + TOKEN_VALUE_MAX + 8);

            if (row->tokens[i].class != order[k] || !may_be_told(match, &row->tokens[i]))
                continue;
            token_text(&row->tokens[i], &text);
            json_write_str(w, buf_str(&text));
            written++;
        }
    }
    json_write_array_end(w);
}

void match_payload(const struct match_batch *batch, const struct subscription *s,
                   const struct match *match, enum wake_held held, struct buf *out)
{
    struct json_writer w = JSON_WRITER(out);

    json_write_object_begin(&w);
    if (s->prompt.n) {
        json_put_str(&w, "prompt", s->prompt);
    }
    json_put_text(&w, "domain", wake_source_name(batch->source));
    json_put_str(&w, "batch", batch->row->local_batch_id);
    write_author(&w, batch->row);
    match_write_tokens(&w, batch->row, match);
    write_records(&w, match);
    write_units(&w, batch, match);
    write_counters(&w, batch);
    if (held == WAKE_HELD_HOURS)
        json_put_text(&w, "held", wake_held_name(held));
    json_write_object_end(&w);
}

/* ---- wakes ---- */

static int queue_at(struct domain *domain, const struct subscription *s, struct wake_job *job,
                    int64_t now_ms, struct err *err)
{
    int64_t when = match_when(s, now_ms, &job->held);
    int r;

    job->agent_n = s->agent_n;
    job->agent_id = s->agent_id;
    job->reason = STR("subscription");
    job->reason_id = s->id;
    job->priority = 1;
    job->not_before = when > now_ms ? when : 0;
    job->created_at = now_ms;
    r = wake_enqueue(domain, job, err);
    if (r == 1 && subscription_woke(domain, s->n, when, err) < 0)
        return -1;
    return r;
}

int match_wake(struct domain *domain, const struct match_batch *batch, const struct subscription *s,
               const struct match *match, int64_t now_ms, struct err *err)
{
    AUTO_BUF payload = BUF_INIT(WAKE_PAYLOAD_MAX);
    AUTO_BUF agent_id = BUF_INIT(256);
    struct wake_job job = { .logical_change_key = batch->row->logical_change_key };
    char key[SHA256_TEXT_SIZE];
    enum wake_held held;

    buf_add_str(&agent_id, s->agent_id);
    wake_key_subscription(buf_text(&agent_id), s->id, batch->row->logical_change_key, key);
    match_when(s, now_ms, &held);
    match_payload(batch, s, match, held, &payload);
    if (payload.full)
        return err_set(err, ERR_TOO_LARGE, "what changed takes more than %u bytes to name",
                       WAKE_PAYLOAD_MAX);
    job.run_key = str_from(key);
    job.payload = buf_str(&payload);
    return queue_at(domain, s, &job, now_ms, err);
}

int match_wake_source(struct domain *domain, const struct subscription *s, struct str event_id,
                      struct str payload, int64_t now_ms, struct err *err)
{
    AUTO_BUF agent_id = BUF_INIT(256);
    struct wake_job job = { .payload = payload };
    char key[SHA256_TEXT_SIZE];

    buf_add_str(&agent_id, s->agent_id);
    wake_key_source(buf_text(&agent_id), s->id, event_id, key);
    job.run_key = str_from(key);
    return queue_at(domain, s, &job, now_ms, err);
}

int match_skip(struct domain *domain, const struct match_batch *batch, const struct subscription *s,
               const struct match *match, int64_t now_ms, struct err *err)
{
    AUTO_BUF agent_id = BUF_INIT(256);
    char key[SHA256_TEXT_SIZE];
    struct wake_job job = {
        .agent_n = s->agent_n,
        .reason = STR("subscription"),
        .reason_id = s->id,
        .logical_change_key = batch->row->logical_change_key,
        .created_at = now_ms,
    };
    int r;

    buf_add_str(&agent_id, s->agent_id);
    wake_key_subscription(buf_text(&agent_id), s->id, batch->row->logical_change_key, key);
    job.run_key = str_from(key);
    r = wake_enqueue(domain, &job, err);
    if (r <= 0)
        return r;
    return match_end_skipped(domain, job.run_key, WAKE_SKIPPED_NOOP,
                             match_outcome_why(match->outcome), now_ms, err) < 0
               ? -1
               : 1;
}
