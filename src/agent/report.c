/* What a report may be, and how fresh it is.
 *
 * SPDX-License-Identifier: MIT
 */
#include "agent/report.h"

#include "agent/report_int.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/utf8.h"

#define HOUR (3600ll * 1000)
#define DAY  (24 * HOUR)

/* A report is looked at again after its period; a night or a weekend more is no reason to doubt. */
static const struct {
    const char *name;
    int64_t fresh_ms;
    const char *why;
} scopes[] = {
    { "current", 36 * HOUR, "it is older than 36 hours" },
    { "daily", 48 * HOUR, "it is older than 48 hours" },
    { "weekly", 9 * DAY, "it is older than 9 days" },
    { "monthly", 35 * DAY, "it is older than 35 days" },
};

int report_scope_check(struct str scope, struct err *err)
{
    for (size_t i = 0; i < ARRAY_LEN(scopes); i++)
        if (str_is(scope, scopes[i].name))
            return 0;
    return err_set(err, ERR_BAD_REQUEST,
                   "scope \"%.*s\" is none of current, daily, weekly, monthly",
                   STR_ARG(utf8_truncate(scope, 40)));
}

/* ---- checks ---- */

static int check_confidence(const char *what, double confidence, struct err *err)
{
    if (confidence > 1 || confidence != confidence)
        return err_set(err, ERR_BAD_REQUEST, "%s is from 0 to 1", what);
    return 0;
}

static int check_source(const struct report_source *source, struct err *err)
{
    static const char *const types[] = { "journal", "agent", "web", "tool_output" };
    bool known = false;

    for (size_t i = 0; i < ARRAY_LEN(types); i++)
        known = known || str_is(source->source_type, types[i]);
    if (!known)
        return err_set(err, ERR_BAD_REQUEST,
                       "its type is none of journal, agent, web, tool_output");
    if (!source->source_id.n || source->source_id.n > REPORT_LOCATOR_MAX ||
        agent_line_check("its locator", source->source_id, err) < 0)
        return err_set(err, ERR_BAD_REQUEST, "its locator is 1 to %d bytes on one line",
                       REPORT_LOCATOR_MAX);
    if (source->section_id.n > REPORT_LOCATOR_MAX || source->claim_id.n > REPORT_LOCATOR_MAX)
        return err_set(err, ERR_BAD_REQUEST, "its section and claim have at most %d bytes",
                       REPORT_LOCATOR_MAX);
    return check_confidence("its confidence", source->confidence, err);
}

static int check_sources(const struct report *report, struct err *err)
{
    if (report->source_count > REPORT_SOURCES_MAX)
        return err_set(err, ERR_BAD_REQUEST, "%zu sources; at most %d are allowed",
                       report->source_count, REPORT_SOURCES_MAX);
    for (size_t i = 0; i < report->source_count; i++)
        if (check_source(&report->sources[i], err) < 0)
            return err_wrap(err, "source %zu", i + 1);
    return 0;
}

static int check_provenance(struct str provenance, struct err *err)
{
    AUTO_JSON doc = NULL;

    if (!provenance.n)
        return 0;
    if (provenance.n > 64 * KIB)
        return err_set(err, ERR_TOO_LARGE, "the provenance has more than 64 KB");
    if (json_parse(provenance, &doc, err) < 0)
        return err_wrap(err, "the provenance");
    if (!json_object_is_type(doc, json_type_object))
        return err_set(err, ERR_BAD_REQUEST, "the provenance must be an object");
    return 0;
}

int report_check(const struct report *report, struct err *err)
{
    const struct token id = { TOKEN_ENTITY_ID, STR_NONE, report->id };

    if (token_check(&id, err) < 0)
        return err_wrap(err, "the report's id");
    if (report_scope_check(report->scope, err) < 0 ||
        agent_line_check("the title", report->title, err) < 0)
        return -1;
    if (!str_trim(report->title).n || utf8_count(report->title) > REPORT_TITLE_MAX)
        return err_set(err, ERR_BAD_REQUEST, "the title has 1 to %d characters", REPORT_TITLE_MAX);
    if (agent_text_check("the text", report->text, REPORT_TEXT_MAX, err) < 0 ||
        check_confidence("the confidence", report->confidence, err) < 0 ||
        check_provenance(report->provenance, err) < 0)
        return -1;
    return check_sources(report, err);
}

/* ---- freshness ---- */

static const char *too_old(const struct report *report, int64_t age_ms)
{
    for (size_t i = 0; i < ARRAY_LEN(scopes); i++)
        if (str_is(report->scope, scopes[i].name) && age_ms > scopes[i].fresh_ms)
            return scopes[i].why;
    return NULL;
}

/* "just now", "1 minute ago", "3 hours ago", "2 days ago". */
static const char *ago_text(int64_t ago_ms, struct arena *arena)
{
    static const struct {
        const char *one;
        int64_t ms, from;
    } units[] = { { "day", DAYS(1), DAYS(2) },
                  { "hour", HOURS(1), HOURS(2) },
                  { "minute", MINUTES(1), MINUTES(1) } };

    for (size_t i = 0; i < ARRAY_LEN(units); i++)
        if (ago_ms >= units[i].from)
            return arena_printf(arena, "%lld %s%s ago", (long long)(ago_ms / units[i].ms),
                                units[i].one, ago_ms / units[i].ms == 1 ? "" : "s");
    return "just now";
}

void report_judge(const struct report *report, int64_t now_ms, int64_t newer_events,
                  int64_t newest_event_at, struct arena *arena, struct report_freshness *ret_fresh)
{
    int64_t age = now_ms > report->created_at ? now_ms - report->created_at : 0;
    const char *old = too_old(report, age);
    int64_t ago = newest_event_at && now_ms > newest_event_at ? now_ms - newest_event_at : 0;
    const char *events = NULL;

    if (newer_events > 0)
        events = arena_printf(arena, "%lld %s happened since it was written, the last %s",
                              (long long)newer_events, newer_events == 1 ? "change" : "changes",
                              ago_text(ago, arena));
    *ret_fresh = (struct report_freshness){
        .stale = old || events,
        .why = old && events ? arena_printf(arena, "%s, and %s", old, events)
               : old         ? old
               : events      ? events
                             : "",
        .age_ms = age,
        .newer_events = newer_events > 0 ? newer_events : 0,
    };
}
