/* Reports: written once, with what they rest on and what they had seen.
 *
 * SPDX-License-Identifier: MIT
 */
#include "agent/report.h"
#include "desk_rig.h"

static struct report current(struct office *office, const char *scope)
{
    struct test *t = office->t;
    struct report report;

    ASSERT_EQ(report_current(office->rig.agent, office->agent.n, str_from(scope), &t->arena,
                             &report, &t->err),
              1);
    return report;
}

DB_TEST(a_report_keeps_its_sources_its_taint_and_what_it_had_seen)
{
    AUTO_OFFICE office;
    struct change_row *rows;
    struct report report;
    struct str id;
    size_t n;

    office_open(&office, t);
    office_fill(&office);
    office.call.taint = STR("journal");
    ASSERT_OK(office_run(&office, "write_report", "op1",
                         "{'title':'Week','text':'# Fine\\n','confidence':0.5,'sources':["
                         "{'type':'journal','id':'legs','claim':'went well','inferred':true},"
                         "{'type':'web','id':'https://example.org'}]}"));
    ASSERT_TEXT(office_out(&office, "/changed"), "true");
    report = current(&office, "current");
    ASSERT_STR(report.title, "Week");
    ASSERT_STR(report.taint, "journal");
    ASSERT_EQ(report.source_count, 2);
    ASSERT(report.sources[0].inferred && !report.sources[1].inferred);
    ASSERT_CONTAINS(arena_str(&t->arena, report.provenance).p, "\"operationId\":\"op1\"");
    ASSERT(report.confidence > 0.49 && report.confidence < 0.51);
    /* All that the journal holds was seen; what comes next was not. */
    rig_add(&office.rig, RECORD_TASK, "{'title':'new'}");
    rows = rig_batches(&office.rig, &n);
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < rows[i].unit_count; k++) {
            const struct change_unit *unit = &rows[i].unit[k];

            ASSERT_EQ(vclock_of(&report.cursor, unit->host_id) >= unit->counter, i < n - 1);
        }
    }
    id = report.id;
    ASSERT_STR(office.result.changed_entity_ids,
               arena_printf(&t->arena, "[\"%.*s\"]", STR_ARG(id)));
    ASSERT_CONTAINS(office.result.changed_tokens.p, "AGENT_REPORT");
}

DB_TEST(writing_a_report_again_changes_nothing_and_answers_the_same)
{
    AUTO_OFFICE office;
    struct change_row *rows;
    struct report *list;
    struct str first;
    size_t n;

    office_open(&office, t);
    office_fill(&office);
    ASSERT_OK(office_run(&office, "write_report", "op1", "{'title':'A','text':'a'}"));
    first = office.result.output;
    for (int again = 0; again < 2; again++) {
        ASSERT_OK(office_run(&office, "write_report", "op1", "{'title':'A','text':'a'}"));
        ASSERT(str_eq(office.result.output, first));
    }
    ASSERT_OK(report_list(office.rig.agent, office.agent.n, STR_NONE, 0, 10, &t->arena, &list, &n,
                          &t->err));
    ASSERT_EQ(n, 1);
    ASSERT_OK(change_batches_after(office.rig.agent, (struct change_cursor){ 0, 0 }, 100, &t->arena,
                                   &rows, &n, &t->err));
    ASSERT_STR(rows[n - 1].author_id, "coach");
    ASSERT_EQ(rows[n - 1].author, CHANGE_BY_AGENT);
    ASSERT_CONTAINS(arena_str(&t->arena, rows[n - 1].typed_tokens).p, "AGENT_REPORT");
    /* The same words once more are a new report that says nothing new. */
    ASSERT_OK(office_run(&office, "write_report", "op2", "{'title':'A','text':'a'}"));
    ASSERT_TEXT(office_out(&office, "/changed"), "false");
    ASSERT_OK(office_run(&office, "write_report", "op3", "{'title':'A','text':'b'}"));
    ASSERT_TEXT(office_out(&office, "/changed"), "true");
    ASSERT_OK(
        office_run(&office, "write_report", "op4", "{'title':'A','text':'b','scope':'weekly'}"));
    ASSERT_STR(current(&office, "current").text, "b");
    ASSERT_STR(current(&office, "weekly").title, "A");
}

DB_TEST(a_report_names_no_source_that_is_out_of_scope)
{
    AUTO_OFFICE office;
    struct tool_verdict verdict;

    office_open(&office, t);
    office_fill(&office);
    ASSERT(office_judge(&office, "write_report",
                        "{'title':'A','text':'a','sources':[{'type':'journal','id':'legs'},"
                        "{'type':'journal','id':'taxes'}]}",
                        &verdict) < 0);
    ASSERT_EQ(verdict.code, ERR_OUT_OF_SCOPE);
    ASSERT_CONTAINS(verdict.message, "/sources/1");
    ASSERT(!strstr(verdict.message, "secret"));
    /* Without any category it reports all the same, of what is not the journal's. */
    office.agent.allowed_category_ids = "[]";
    ASSERT_OK(office_run(&office, "write_report", "op1",
                         "{'title':'A','text':'a','sources':[{'type':'journal','id':'last week'},"
                         "{'type':'journal','id':'nothing-here'}]}"));
}

TEST(a_report_that_can_not_be_kept_is_refused)
{
    AUTO_OFFICE office;

    office_open(&office, t);
    ASSERT_FAILS(office_run(&office, "write_report", "op1", "{'title':' ','text':'a'}"),
                 ERR_BAD_REQUEST);
    office.agent.lifecycle = AGENT_DESTROYED;
    ASSERT_FAILS(office_run(&office, "write_report", "op1", "{'title':'a','text':'a'}"),
                 ERR_AGENT_DESTROYED);
}
