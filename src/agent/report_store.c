/* Rows of reports: written once, each scope's head points to the one that is shown.
 *
 * SPDX-License-Identifier: MIT
 */
#include "agent/link.h"
#include "agent/report_int.h"
#include "base/json.h"
#include "base/json_put.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "db/db.h"

#define LIST_MAX 200

/* ---- writing ---- */

static struct str content_json(const struct report *report, struct arena *arena)
{
    AUTO_BUF text = BUF_INIT(LIMIT_JSON_BYTES);
    struct json_writer w = JSON_WRITER(&text);

    json_write_object_begin(&w);
    json_put_str(&w, "title", report->title);
    json_put_str(&w, "text", report->text);
    json_write_object_end(&w);
    BUG_IF(json_write_end(&w) < 0);
    return arena_str(arena, buf_str(&text));
}

static void bind_confidence(struct stmt *q, double confidence)
{
    if (confidence >= 0)
        stmt_bind_f64(q, confidence);
    else
        stmt_bind_null(q);
}

static struct str clock_text(const struct vclock *clock, struct change *change, int64_t counter,
                             struct arena *arena)
{
    struct vclock with = vclock_with(clock, str_from(change_host_id(change)), counter, arena);

    return vclock_text(&with, arena);
}

/* 1 stored, 0 there is one with this id. */
static int insert(struct domain *domain, struct change *change, const struct report *report,
                  int64_t counter, struct arena *arena, struct err *err)
{
    AUTO(stmt) q = NULL;

    if (db_prepare(domain_db(domain),
                   SQL("INSERT INTO agent_reports (id, agent_n, scope, created_at, content,"
                       " confidence, provenance, cursor, run_n, taint, vector_clock, host_n,"
                       " counter) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
                       " ON CONFLICT (id) DO NOTHING RETURNING n"),
                   &q, err) < 0)
        return -1;
    stmt_bind_str(q, report->id);
    stmt_bind_i64(q, report->agent_n);
    stmt_bind_str(q, report->scope);
    stmt_bind_i64(q, report->created_at);
    stmt_bind_str(q, content_json(report, arena));
    bind_confidence(q, report->confidence);
    stmt_bind_str(q, report->provenance.n ? report->provenance : STR("{}"));
    stmt_bind_str(q, vclock_text(&report->cursor, arena));
    stmt_bind_some_i64(q, report->run_n);
    stmt_bind_some_str(q, report->taint);
    stmt_bind_str(q, clock_text(&(struct vclock){ 0 }, change, counter, arena));
    stmt_bind_i64(q, change_host(change));
    stmt_bind_i64(q, counter);
    return stmt_step(q, err);
}

/* Has seen the head that it replaces. */
static int head_clock(struct domain *domain, const char *head_id, struct arena *arena,
                      struct vclock *ret_clock, struct err *err)
{
    AUTO(stmt) q = NULL;
    int r;

    *ret_clock = (struct vclock){ 0 };
    if (db_prepare(domain_db(domain),
                   SQL("SELECT vector_clock FROM agent_report_heads WHERE id = ?"), &q, err) < 0)
        return -1;
    stmt_bind_text(q, head_id);
    r = stmt_step(q, err);
    if (r == 1 && vclock_parse(stmt_str(q, "vector_clock"), arena, ret_clock, err) < 0)
        return err_wrap(err, "report head %s", head_id);
    return r < 0 ? -1 : 0;
}

static int move_head(struct domain *domain, struct change *change, const struct report *report,
                     const char *head_id, int64_t counter, struct arena *arena, struct err *err)
{
    AUTO(stmt) q = NULL;
    struct vclock clock;

    if (head_clock(domain, head_id, arena, &clock, err) < 0 ||
        db_prepare(domain_db(domain),
                   SQL("INSERT INTO agent_report_heads (id, agent_n, scope, report_id, updated_at,"
                       " vector_clock, host_n, counter) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
                       " ON CONFLICT (id) DO UPDATE SET report_id = excluded.report_id,"
                       " updated_at = excluded.updated_at, vector_clock = excluded.vector_clock,"
                       " host_n = excluded.host_n, counter = excluded.counter"),
                   &q, err) < 0)
        return -1;
    stmt_bind_text(q, head_id);
    stmt_bind_i64(q, report->agent_n);
    stmt_bind_str(q, report->scope);
    stmt_bind_str(q, report->id);
    stmt_bind_i64(q, report->created_at);
    stmt_bind_str(q, clock_text(&clock, change, counter, arena));
    stmt_bind_i64(q, change_host(change));
    stmt_bind_i64(q, counter);
    return stmt_run(q, err);
}

static int add_source(struct domain *domain, struct change *change, const struct report *report,
                      size_t i, struct arena *arena, struct err *err)
{
    const struct report_source *source = &report->sources[i];
    AUTO(stmt) q = NULL;

    if (db_prepare(domain_db(domain),
                   SQL("INSERT INTO agent_source_refs (id, agent_n, report_id, section_id,"
                       " claim_id, source_type, source_id, captured_at, freshness_at, confidence,"
                       " inference_flag, host_n, counter)"
                       " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"),
                   &q, err) < 0)
        return -1;
    stmt_bind_text(q, arena_printf(arena, "%.*s:%zu", STR_ARG(report->id), i));
    stmt_bind_i64(q, report->agent_n);
    stmt_bind_str(q, report->id);
    stmt_bind_str(q, source->section_id.n ? source->section_id : STR(""));
    stmt_bind_str(q, source->claim_id.n ? source->claim_id : STR(""));
    stmt_bind_str(q, source->source_type);
    stmt_bind_str(q, source->source_id);
    stmt_bind_i64(q, source->captured_at);
    stmt_bind_i64(q, source->freshness_at ? source->freshness_at : source->captured_at);
    bind_confidence(q, source->confidence);
    stmt_bind_text(q, source->inferred ? "inferred" : "observed");
    stmt_bind_i64(q, change_host(change));
    stmt_bind_i64(q, change_next(change));
    return stmt_run(q, err);
}

/* What can be followed from here: a record or something an agent made. A claim's source that is
 * cited twice is one link. */
static int link_source(struct domain *domain, struct change *change, const struct report *report,
                       const struct agent *agent, const struct report_source *source,
                       struct err *err)
{
    AUTO_BUF metadata = BUF_INIT(KIB);
    struct json_writer w = JSON_WRITER(&metadata);
    struct agent_link link = { .relation = AGENT_LINK_REPORT_SOURCE,
                               .from_id = report->id,
                               .to_id = source->source_id };

    if ((!str_is(source->source_type, "journal") && !str_is(source->source_type, "agent")) ||
        !agent_link_id_valid(source->source_id))
        return 0;
    json_write_object_begin(&w);
    json_put_text(&w, "agentId", agent->id);
    json_put_str(&w, "scope", report->scope);
    json_put_str(&w, "sourceType", source->source_type);
    json_write_object_end(&w);
    link.metadata = buf_str(&metadata);
    return agent_link_add(domain, change, &link, NULL, report->created_at, err);
}

static int write_all(struct domain *domain, struct change *change, const struct report *report,
                     const struct agent *agent, struct change_batch *batch, struct arena *arena,
                     struct err *err)
{
    const char *head_id = arena_printf(arena, "%s:%.*s", agent->id, STR_ARG(report->scope));
    int64_t counter = change_next(change), head_counter;
    int r = insert(domain, change, report, counter, arena, err);

    if (r != 1)
        return r;
    for (size_t i = 0; i < report->source_count; i++)
        if (add_source(domain, change, report, i, arena, err) < 0 ||
            link_source(domain, change, report, agent, &report->sources[i], err) < 0)
            return -1;
    head_counter = change_next(change);
    if (move_head(domain, change, report, head_id, head_counter, arena, err) < 0)
        return -1;
    if (batch) {
        change_batch_unit(batch, change, counter, STR("agentReport"), report->id);
        change_batch_unit(batch, change, head_counter, STR("agentReportHead"), str_from(head_id));
        change_batch_key(batch, "AGENT_REPORT");
        change_batch_id(batch, str_from(agent->id));
    }
    return 1;
}

int report_put(struct domain *domain, struct change *change, const struct report *report,
               struct change_batch *batch, struct err *err)
{
    AUTO_ARENA arena = ARENA_INIT;
    struct agent agent;

    if (report_check(report, err) < 0 ||
        agent_get_n(domain, report->agent_n, &arena, &agent, err) < 0)
        return -1;
    if (agent.lifecycle == AGENT_DESTROYED)
        return err_set(err, ERR_AGENT_DESTROYED, "the agent %s no longer exists", agent.id);
    return write_all(domain, change, report, &agent, batch, &arena, err);
}

/* ---- reading ---- */

static int read_content(struct str content, struct arena *arena, struct report *report,
                        struct err *err)
{
    AUTO_JSON doc = NULL;

    if (json_parse(content, &doc, err) < 0)
        return err_set(err, ERR_INTEGRITY_FAILED, "report %.*s: its content is not JSON",
                       STR_ARG(report->id));
    report->title = arena_str(arena, json_str(json_find(doc, "title")));
    report->text = arena_str(arena, json_str(json_find(doc, "text")));
    return 0;
}

static int read_row(struct stmt *q, struct arena *arena, struct report *ret_report, struct err *err)
{
    *ret_report = (struct report){
        .n = stmt_i64(q, "n"),
        .id = arena_str(arena, stmt_str(q, "id")),
        .agent_n = stmt_i64(q, "agent_n"),
        .created_at = stmt_i64(q, "created_at"),
        .run_n = stmt_i64(q, "run_n"),
        .scope = arena_str(arena, stmt_str(q, "scope")),
        .confidence = stmt_is_null(q, "confidence") ? -1 : stmt_f64(q, "confidence"),
        .provenance = arena_str(arena, stmt_str(q, "provenance")),
        .taint = arena_str(arena, stmt_str(q, "taint")),
    };
    if (vclock_parse(stmt_str(q, "cursor"), arena, &ret_report->cursor, err) < 0)
        return err_set(err, ERR_INTEGRITY_FAILED, "report %.*s: its cursor is no clock",
                       STR_ARG(ret_report->id));
    return read_content(stmt_str(q, "content"), arena, ret_report, err);
}

static int read_sources(struct domain *domain, struct arena *arena, struct report *report,
                        struct err *err)
{
    struct report_source *list = ARENA_NEW_N(arena, struct report_source, REPORT_SOURCES_MAX);
    AUTO(stmt) q = NULL;
    size_t n = 0;
    int r = 0;

    if (db_prepare(domain_db(domain),
                   SQL("SELECT section_id, claim_id, source_type, source_id, captured_at,"
                       " freshness_at, confidence, inference_flag FROM agent_source_refs"
                       " WHERE report_id = ? ORDER BY n"),
                   &q, err) < 0)
        return -1;
    stmt_bind_str(q, report->id);
    while (n < REPORT_SOURCES_MAX && (r = stmt_step(q, err)) == 1)
        list[n++] = (struct report_source){
            .source_type = arena_str(arena, stmt_str(q, "source_type")),
            .source_id = arena_str(arena, stmt_str(q, "source_id")),
            .section_id = arena_str(arena, stmt_str(q, "section_id")),
            .claim_id = arena_str(arena, stmt_str(q, "claim_id")),
            .captured_at = stmt_i64(q, "captured_at"),
            .freshness_at = stmt_i64(q, "freshness_at"),
            .confidence = stmt_is_null(q, "confidence") ? -1 : stmt_f64(q, "confidence"),
            .inferred = str_is(stmt_str(q, "inference_flag"), "inferred"),
        };
    if (r < 0)
        return -1;
    report->sources = list;
    report->source_count = n;
    return 0;
}

#define REPORT_COLUMNS                                                                             \
    "r.n, r.id, r.agent_n, r.scope, r.created_at, r.content, r.confidence, r.provenance,"          \
    " r.cursor, r.run_n, r.taint"

int report_current(struct domain *domain, int64_t agent_n, struct str scope, struct arena *arena,
                   struct report *ret_report, struct err *err)
{
    AUTO(stmt) q = NULL;
    struct report report;
    int r;

    if (report_scope_check(scope, err) < 0 ||
        db_prepare(domain_db(domain),
                   SQL("SELECT " REPORT_COLUMNS " FROM agent_report_heads AS h"
                       " JOIN agent_reports AS r ON r.id = h.report_id"
                       " WHERE h.agent_n = ? AND h.scope = ? AND r.deleted_at IS NULL"),
                   &q, err) < 0)
        return -1;
    stmt_bind_i64(q, agent_n);
    stmt_bind_str(q, scope);
    r = stmt_step(q, err);
    if (r != 1)
        return r;
    if (read_row(q, arena, &report, err) < 0 || read_sources(domain, arena, &report, err) < 0)
        return -1;
    *ret_report = report;
    return 1;
}

int report_is_there(struct domain *domain, struct str id, struct err *err)
{
    AUTO(stmt) q = NULL;

    if (db_prepare(domain_db(domain),
                   SQL("SELECT 1 AS there FROM agent_reports WHERE id = ? AND deleted_at IS NULL"),
                   &q, err) < 0)
        return -1;
    stmt_bind_str(q, id);
    return stmt_step(q, err);
}

int report_list(struct domain *domain, int64_t agent_n, struct str scope, int64_t before, int limit,
                struct arena *arena, struct report **ret_reports, size_t *ret_count,
                struct err *err)
{
    size_t room = limit < 1 ? 1 : limit > LIST_MAX ? LIST_MAX : (size_t)limit, n = 0;
    struct report *list = ARENA_NEW_N(arena, struct report, room);
    AUTO(stmt) q = NULL;
    int r = 0;

    if ((scope.n && report_scope_check(scope, err) < 0) ||
        db_prepare(domain_db(domain),
                   SQL("SELECT " REPORT_COLUMNS " FROM agent_reports AS r WHERE r.agent_n = ?"
                       " AND (? = '' OR r.scope = ?) AND r.n < ? AND r.deleted_at IS NULL"
                       " ORDER BY r.n DESC LIMIT ?"),
                   &q, err) < 0)
        return -1;
    stmt_bind_i64(q, agent_n);
    stmt_bind_str(q, scope.n ? scope : STR(""));
    stmt_bind_str(q, scope.n ? scope : STR(""));
    stmt_bind_i64(q, before ? before : INT64_MAX);
    stmt_bind_i64(q, (int64_t)room);
    while (n < room && (r = stmt_step(q, err)) == 1)
        if (read_row(q, arena, &list[n++], err) < 0)
            return -1;
    if (r < 0)
        return -1;
    for (size_t i = 0; i < n; i++)
        if (read_sources(domain, arena, &list[i], err) < 0)
            return -1;
    *ret_reports = list;
    *ret_count = n;
    return 0;
}
