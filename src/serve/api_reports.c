/* /agents/{id}/reports and /agents/{id}/sessions: what an agent has to say, how fresh it is, and
 * who speaks with it.
 *
 * SPDX-License-Identifier: MIT
 */
#include "agent/report.h"
#include "agent/session.h"
#include "base/clock.h"
#include "change/taint.h"
#include "serve/api_int.h"
#include "wake/fresh.h"

static int64_t now_of(struct serve_request *request)
{
    return clock_wall_ms(loop_clock(api_of(request)->config.loop));
}

/* ---- reports ---- */

static void put_confidence(struct json_writer *w, double confidence)
{
    if (confidence < 0)
        return;
    json_put_double(w, "confidence", confidence);
}

static void write_source(struct json_writer *w, const struct report_source *source)
{
    json_write_object_begin(w);
    json_put_str(w, "sourceType", source->source_type);
    json_put_str(w, "sourceId", source->source_id);
    json_put_some_str(w, "sectionId", source->section_id);
    json_put_some_str(w, "claimId", source->claim_id);
    json_put_some_time(w, "capturedAt", source->captured_at);
    json_put_some_time(w, "freshnessAt", source->freshness_at);
    put_confidence(w, source->confidence);
    json_put_bool(w, "inferred", source->inferred);
    json_write_object_end(w);
}

static void write_members(struct json_writer *w, const struct report *report)
{
    json_put_str(w, "id", report->id);
    json_put_str(w, "scope", report->scope);
    json_put_str(w, "title", report->title);
    json_put_str(w, "text", report->text);
    put_confidence(w, report->confidence);
    taint_put(w, report->taint);
    if (report->provenance.n)
        api_put_json(w, "provenance", report->provenance);
    json_put_array(w, "sources");
    for (size_t i = 0; i < report->source_count; i++)
        write_source(w, &report->sources[i]);
    json_write_array_end(w);
    json_put_some_time(w, "createdAt", report->created_at);
}

static void write_freshness(struct json_writer *w, const struct report_freshness *fresh)
{
    json_put_object(w, "freshness");
    json_put_bool(w, "stale", fresh->stale);
    json_put_some_text(w, "why", fresh->why);
    json_put_i64(w, "ageMs", fresh->age_ms);
    json_put_i64(w, "newerEvents", fresh->newer_events);
    json_write_object_end(w);
}

static int list_reports(struct serve_request *request, const struct agent *agent,
                        struct json_writer *w, struct err *err)
{
    struct str scope = serve_request_query(request, "scope"),
               after = serve_request_query(request, "after"),
               count = serve_request_query(request, "limit");
    struct arena *arena = serve_request_arena(request);
    int64_t before = 0, limit = 50;
    struct report *reports;
    size_t n;

    if (scope.n && report_scope_check(scope, err) < 0)
        return -1;
    if (after.n && (str_to_i64(after, &before) < 0 || before < 1))
        return err_set(err, ERR_BAD_REQUEST,
                       "after: \"%.*s\" is no cursor of this list; take `next` of the page before",
                       STR_ARG(str_take(after, 40)));
    if (count.p && (str_to_i64(count, &limit) < 0 || limit < 1 || limit > 100))
        return err_set(err, ERR_BAD_REQUEST, "limit must be a number from 1 to 100");
    if (report_list(api_of(request)->config.agent_domain, agent->n, scope, before, (int)limit,
                    arena, &reports, &n, err) < 0)
        return -1;
    json_write_object_begin(w);
    json_put_array(w, "items");
    for (size_t i = 0; i < n; i++) {
        json_write_object_begin(w);
        write_members(w, &reports[i]);
        json_write_object_end(w);
    }
    json_write_array_end(w);
    if (n == (size_t)limit)
        json_put_some_text(w, "next", arena_printf(arena, "%lld", (long long)reports[n - 1].n));
    json_write_object_end(w);
    return 0;
}

static int current_report(struct serve_request *request, const struct agent *agent,
                          struct json_writer *w, struct err *err)
{
    const struct api_config *config = &api_of(request)->config;
    struct arena *arena = serve_request_arena(request);
    struct str scope = serve_request_query(request, "scope");
    struct report_freshness fresh;
    struct report report;
    int r;

    if (scope.n && report_scope_check(scope, err) < 0)
        return -1;
    r = report_current(config->agent_domain, agent->n, scope.n ? scope : STR("current"), arena,
                       &report, err);
    if (r < 0 || (r > 0 && report_freshness_of(config->agent_domain, config->journal, agent,
                                               &report, now_of(request), arena, &fresh, err) < 0))
        return -1;
    json_write_object_begin(w);
    json_write_key(w, "report");
    if (r == 0) {
        json_write_null(w);
    } else {
        json_write_object_begin(w);
        write_members(w, &report);
        write_freshness(w, &fresh);
        json_write_object_end(w);
    }
    json_write_object_end(w);
    return 0;
}

static void reply_about(struct serve_request *request,
                        int (*look)(struct serve_request *request, const struct agent *agent,
                                    struct json_writer *w, struct err *err))
{
    AUTO_BUF json = BUF_INIT(LIMIT_JSON_BYTES);
    struct json_writer w = JSON_WRITER(&json);
    struct err err = ERR_INIT;
    struct agent agent;

    if (api_check_query(request) < 0 || api_agent(request, &agent) < 0)
        return;
    if (look(request, &agent, &w, &err) < 0)
        serve_reply_error(request, &err);
    else
        api_reply(request, 200, &json, &w);
}

void api_reports_list(struct serve_request *request)
{
    reply_about(request, list_reports);
}

void api_reports_current(struct serve_request *request)
{
    reply_about(request, current_report);
}

/* ---- sessions ---- */

static void write_session(struct json_writer *w, const struct session *session)
{
    json_write_object_begin(w);
    json_put_str(w, "id", session->id);
    json_put_some_text(w, "state", session_why_name(session->why));
    json_put_bool(w, "open", session->closed_at == 0);
    json_put_some_time(w, "createdAt", session->created_at);
    json_put_some_time(w, "lastAt", session->last_at);
    json_put_some_time(w, "expiresAt", session->expires_at);
    json_put_some_time(w, "closedAt", session->closed_at);
    json_write_object_end(w);
}

static int list_sessions(struct serve_request *request, const struct agent *agent,
                         struct json_writer *w, struct err *err)
{
    struct session *sessions;
    bool open;
    size_t n;

    if (api_read_flag(request, "open", &open, err) < 0 ||
        session_list(api_of(request)->config.agent_domain, agent->n, open, 200,
                     serve_request_arena(request), &sessions, &n, err) < 0)
        return -1;
    json_write_object_begin(w);
    json_put_array(w, "items");
    for (size_t i = 0; i < n; i++)
        write_session(w, &sessions[i]);
    json_write_array_end(w);
    json_write_object_end(w);
    return 0;
}

void api_sessions_list(struct serve_request *request)
{
    reply_about(request, list_sessions);
}

/* The session {sid} of this agent, by its whole id or the name in it; others' are as absent. */
static int find_session(struct serve_request *request, const struct agent *agent,
                        struct session *ret_session, struct err *err)
{
    struct domain *domain = api_of(request)->config.agent_domain;
    struct arena *arena = serve_request_arena(request);
    struct str id = serve_request_param(request, "sid");
    const char *whole = arena_printf(arena, "%s:session:%.*s", agent->id, STR_ARG(id));
    int r = session_find(domain, str_from(whole), arena, ret_session, err);

    if (r == 0)
        r = session_find(domain, id, arena, ret_session, err);
    if (r < 0)
        return -1;
    if (r == 0 || ret_session->agent_n != agent->n)
        return err_set(err, ERR_NOT_FOUND, "the agent %s has no session \"%.*s\"", agent->id,
                       STR_ARG(str_take(id, 80)));
    return 0;
}

static int look_session(struct serve_request *request, const struct agent *agent,
                        struct json_writer *w, struct err *err)
{
    struct session session;

    if (find_session(request, agent, &session, err) < 0)
        return -1;
    write_session(w, &session);
    return 0;
}

void api_sessions_get(struct serve_request *request)
{
    reply_about(request, look_session);
}

void api_sessions_close(struct serve_request *request)
{
    const struct api_config *config = &api_of(request)->config;
    struct err err = ERR_INIT;
    struct session session;
    struct agent agent;
    int r;

    if (api_check_query(request) < 0 || api_agent(request, &agent) < 0)
        return;
    r = find_session(request, &agent, &session, &err);
    if (r == 0)
        r = loop_unit_begin(config->loop, config->agent_domain, &err);
    if (r == 0) {
        r = session_close(config->agent_domain, session.id, SESSION_BY_PERSON, now_of(request),
                          &err);
        if (loop_unit_end(config->loop, r >= 0, r >= 0 ? &err : NULL) < 0)
            r = -1;
    }
    if (r < 0) {
        serve_reply_error(request, &err);
    } else if (api_reply_begin(request) == 0) {
        serve_reply_empty(request, 204);
        api_reply_end(request);
    }
}
