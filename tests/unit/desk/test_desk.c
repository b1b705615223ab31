/* Every tool of the desk on a real journal: one table says for each a call that works and one that
 * names what is not the agent's, and the tests walk it.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json.h>

#include "desk_rig.h"

static const struct known {
    const char *tool;
    const char *works;
    const char *outside; /* NULL: it names nothing */
    bool writes;
} all[] = {
    { "list_allowed_categories", "{}", NULL, false },
    { "list_tasks_in_scope", "{}", "{'categoryId':'finance'}", false },
    { "read_task", "{'taskId':'legs'}", "{'taskId':'taxes'}", false },
    { "resolve_task_reference", "{'reference':'leg day'}", NULL, false },
    { "list_entries_in_scope", "{}", NULL, false },
    { "list_time_entries", "{}", "{'taskId':'taxes'}", false },
    { "create_task", "{'title':'Lunges','labels':['Urgent'],'checklistItems':['a','b']}",
      "{'title':'Lunges','categoryId':'finance'}", true },
    { "update_task_fields", "{'taskId':'legs','status':'IN_PROGRESS'}",
      "{'taskId':'taxes','status':'DONE'}", true },
    { "update_task_fields", "{'taskId':'legs','notes':'heavy'}",
      "{'taskId':'legs','categoryId':'finance'}", true },
    { "set_task_language", "{'taskId':'legs','language':'de'}",
      "{'taskId':'loose','language':'de'}", true },
    { "update_task_estimate", "{'taskId':'legs','estimateMinutes':90}",
      "{'taskId':'taxes','estimateMinutes':90}", true },
    { "update_task_due_date", "{'taskId':'legs','due':'2026-02-20T18:00'}",
      "{'taskId':'taxes','due':'2026-02-20'}", true },
    { "update_task_priority", "{'taskId':'legs','priority':'P0'}",
      "{'taskId':'taxes','priority':'P0'}", true },
    { "assign_task_labels", "{'taskId':'legs','labels':['Urgent','later']}",
      "{'taskId':'taxes','labels':['Urgent']}", true },
    { "create_follow_up_task",
      "{'sourceTaskId':'legs','newTaskTitle':'Leg day 2','carryOverOpenChecklistItems':true,"
      "'closeSourceTaskAs':'DONE'}",
      "{'sourceTaskId':'taxes'}", true },
    { "conclude_task_with_rollover", "{'taskId':'legs'}", "{'taskId':'loose'}", true },
    { "create_checklist", "{'taskId':'legs','title':'Gear','items':['Shoes']}",
      "{'taskId':'taxes','title':'Gear'}", true },
    { "add_multiple_checklist_items", "{'taskId':'squats','items':['Rack']}",
      "{'checklistId':'f1','items':['x']}", true },
    { "update_checklist_items",
      "{'items':[{'id':'i1','checked':true},{'id':'i3','title':'Rower'}]}",
      "{'items':[{'id':'i1','checked':true},{'id':'fi1','checked':true}]}", true },
    { "move_checklist_items", "{'itemIds':['i1','i2'],'fromChecklistId':'l1','toChecklistId':'l2'}",
      "{'itemIds':['i1'],'fromChecklistId':'l1','toChecklistId':'f1'}", true },
    { "move_checklist_items_to_new_task",
      "{'itemIds':['i1'],'fromChecklistId':'l1','newTaskTitle':'Cardio'}",
      "{'itemIds':['fi1'],'fromChecklistId':'f1','newTaskTitle':'Cardio'}", true },
    { "create_retrospective_time_entry",
      "{'taskId':'legs','startedAt':'2026-02-17T16:00:00+01:00',"
      "'endedAt':'2026-02-17T18:00:00+01:00','sourceEntryId':'n1'}",
      "{'taskId':'taxes','startedAt':'2026-02-17T16:00:00+01:00',"
      "'endedAt':'2026-02-17T18:00:00+01:00'}",
      true },
    { "start_task_timer", "{'taskId':'legs'}", "{'taskId':'taxes'}", true },
    { "annotate_time_entry", "{'timeEntryId':'t1','description':'hard'}",
      "{'timeEntryId':'ft1','description':'x'}", true },
    { "get_or_create_day_plan", "{'planDate':'2026-02-19'}", NULL, true },
    { "upsert_day_plan_blocks",
      "{'planDate':'2026-02-18','upserts':[{'startTime':'2026-02-18T18:00:00+01:00',"
      "'endTime':'2026-02-18T19:00:00+01:00','note':'Stretch'}]}",
      "{'planDate':'2026-02-18','deletes':['fb1']}", true },
    { "pin_day_plan_tasks", "{'planDate':'2026-02-18','taskIds':['legs']}",
      "{'planDate':'2026-02-18','taskIds':['taxes']}", true },
    { "replan_day_blocks",
      "{'planDate':'2026-02-18','blocks':[{'taskId':'squats',"
      "'startTime':'2026-02-18T20:00:00+01:00','endTime':'2026-02-18T21:00:00+01:00'}]}",
      "{'planDate':'2026-02-18','blocks':[{'taskId':'taxes',"
      "'startTime':'2026-02-18T20:00:00+01:00','endTime':'2026-02-18T21:00:00+01:00'}]}",
      true },
    { "get_ratings_summary", "{'byDay':true}", NULL, false },
    { "get_rating_for_target", "{'targetType':'task','targetId':'legs'}",
      "{'targetType':'entry','targetId':'fn1'}", false },
    { "create_or_update_rating",
      "{'targetType':'task','targetId':'legs','dimension':'energy','value':5}",
      "{'targetType':'timeEntry','targetId':'ft1','dimension':'energy','value':5}", true },
};

#define EACH(k) (const struct known *k = all; (k) < all + ARRAY_LEN(all); (k)++)

static bool has(struct str text, const char *part)
{
    return str_find(text, str_from(part)) >= 0;
}

/* Every answer has words, without JSON, and every call. */
static void is_said_in_words(struct office *office, const struct known *k)
{
    struct test *t = office->t;
    AUTO_JSON output = NULL;
    AUTO_BUF words = BUF_INIT(64u << 10);

    ASSERT_OK(json_parse(office->result.output, &output, &t->err));
    if (!desk_say_answer(str_from(k->tool), output, &words) || words.n == 0 ||
        strpbrk(buf_text(&words), "{}\"") || strstr(buf_text(&words), " id "))
        FAIL("%s is said as: %s", k->tool, buf_text(&words));
}

/* ---- every tool ---- */

TEST(every_contract_of_the_journal_is_done_here_and_nothing_else)
{
    AUTO_OFFICE office;
    size_t n, ours = 0;
    const struct tool_contract *contracts = tool_contracts(&n);

    office_open(&office, t);
    for (size_t i = 0; i < n; i++) {
        bool journal = strcmp(contracts[i].tool_class, "journal") == 0;
        bool bound = tool_bed_find(office.tools, str_from(contracts[i].name)) != NULL;
        bool tested = false;

        for
            EACH(k)
        tested = tested || strcmp(k->tool, contracts[i].name) == 0;
        if (strcmp(contracts[i].name, "stop_task_timer") == 0)
            tested = true; /* needs a timer: below */
        if (journal && (!bound || !tested))
            FAIL("%s has %s", contracts[i].name, bound ? "no test" : "no handler");
        ours += journal;
    }
    ASSERT_EQ(ours, 31);
}

DB_TEST(every_tool_works_and_shows_nothing_of_other_categories)
{
    AUTO_OFFICE office;

    office_open(&office, t);
    office_fill(&office);
    for
        EACH(k)
        {
            if (k->writes)
                continue;
            if (office_run(&office, k->tool, k->tool, k->works) < 0)
                FAIL("%s: %s", k->tool, test_err_text(t));
            if (has(office.result.output, "secret") || has(office.result.output, "finance"))
                FAIL("%s shows %.*s", k->tool, STR_ARG(office.result.output));
            is_said_in_words(&office, k);
            ASSERT(!office.result.changed_entity_ids.n && !office.result.changed_tokens.n);
        }
}

/* ---- what contracts say ---- */

static bool is_listed(struct str text, const char *const *list)
{
    for (; *list; list++) {
        if (str_is(text, *list))
            return true;
    }
    return false;
}

/* Subscriptions are made from what a contract declares: what it leaves out wakes by surprise. */
static void changes_what_it_declares(const char *tool, const struct change_row *row)
{
    const struct tool_contract *contract = tool_contract_find(str_from(tool));

    for (size_t i = 0; i < row->token_count; i++) {
        if (row->tokens[i].class == TOKEN_SEMANTIC_KEY &&
            !is_listed(row->tokens[i].value, contract->tokens))
            FAIL("%s tells %.*s, which its contract does not", tool, STR_ARG(row->tokens[i].value));
    }
    for (size_t i = 0; i < row->unit_count; i++) {
        if (!is_listed(row->unit[i].payload_type, contract->entity_types))
            FAIL("%s changes a %.*s, which its contract does not say", tool,
                 STR_ARG(row->unit[i].payload_type));
    }
}

/* "taskId", "itemIds", "id" and what stands in lists of ids. */
static bool names_a_record(const char *name)
{
    size_t n = strlen(name);

    return strcmp(name, "id") == 0 || strcmp(name, "deletes") == 0 ||
           (n > 2 && strcmp(name + n - 2, "Id") == 0) ||
           (n > 3 && strcmp(name + n - 3, "Ids") == 0);
}

static void takes_whole_ids(const char *tool, struct json_object *schema)
{
    struct json_object *members = json_find(schema, "properties");
    struct json_object_iter it;

    if (!members)
        return;
    json_object_object_foreachC(members, it)
    {
        struct json_object *items = json_find(it.val, "items");
        int64_t most = 0;

        if (items)
            takes_whole_ids(tool, items);
        if (!names_a_record(it.key))
            continue;
        (void)json_get_i64(items ? items : it.val, "maxLength", &most, NULL);
        if (most != RECORD_ID_MAX)
            FAIL("%s takes %lld characters of %s; a record's id has up to %d", tool,
                 (long long)most, it.key, RECORD_ID_MAX);
    }
}

TEST(every_id_that_a_record_may_have_is_taken_by_the_tools)
{
    size_t n;
    const struct tool_contract *contracts = tool_contracts(&n);

    for (size_t i = 0; i < n; i++) {
        AUTO_JSON schema = NULL;

        if (strcmp(contracts[i].tool_class, "journal") != 0)
            continue;
        ASSERT_OK(json_parse(str_from(contracts[i].input_schema), &schema, &t->err));
        takes_whole_ids(contracts[i].name, schema);
    }
}

/* Each on a journal of its own, so that none depends on what another did. */
static void try_twice(struct test *t, const struct known *k)
{
    AUTO_OFFICE office;
    struct str first, ids;
    size_t batches, n;
    struct change_row *rows;

    office_open(&office, t);
    office_fill(&office);
    batches = office_batches(&office);
    if (office_run(&office, k->tool, "op1", k->works) < 0)
        FAIL("%s: %s", k->tool, test_err_text(t));
    is_said_in_words(&office, k);
    first = office.result.output;
    ids = office.result.changed_entity_ids;
    if (has(first, "secret") || has(first, "finance"))
        FAIL("%s shows %.*s", k->tool, STR_ARG(first));
    if (ids.n < 4 || !has(office.result.changed_tokens, "[\"semanticKey\",null,\""))
        FAIL("%s says that it changed %.*s, %.*s", k->tool, STR_ARG(ids),
             STR_ARG(office.result.changed_tokens));
    rows = rig_batches(&office.rig, &n);
    ASSERT_EQ(n, batches + 1);
    ASSERT_EQ(rows[n - 1].author, CHANGE_BY_AGENT);
    ASSERT_STR(rows[n - 1].author_id, "coach");
    ASSERT_STR(rows[n - 1].operation_id, "op1");
    changes_what_it_declares(k->tool, &rows[n - 1]);
    loop_fake_advance(office.rig.loop, HOURS(1));
    if (office_run(&office, k->tool, "op1", k->works) < 0)
        FAIL("%s again: %s", k->tool, test_err_text(t));
    if (!str_eq(office.result.output, first) || !str_eq(office.result.changed_entity_ids, ids))
        FAIL("%s answered\n%.*s, then\n%.*s", k->tool, STR_ARG(first),
             STR_ARG(office.result.output));
    ASSERT_EQ(office_batches(&office), batches + 1);
}

static void every_change_is_made_once_however_often_it_is_asked(struct test *t)
{
    const struct known *k = t->param;

    t->param = NULL;
    try_twice(t, k);
}

__attribute__((constructor)) static void register_each_change(void)
{
    static struct test_case cases[ARRAY_LEN(all)];

    for (size_t i = 0; i < ARRAY_LEN(all); i++) {
        cases[i] =
            (struct test_case){ .name = "every_change_is_made_once_however_often_it_is_asked",
                                .file = __FILE__,
                                .run = every_change_is_made_once_however_often_it_is_asked,
                                .variant = all[i].tool,
                                .param = &all[i] };
        if (all[i].writes)
            test_register(&cases[i]);
    }
}

static void try_outside(struct office *office, const struct known *k)
{
    struct test *t = office->t;
    struct tool_verdict verdict;
    size_t batches = office_batches(office);

    if (office_judge(office, k->tool, k->outside, &verdict) == 0)
        FAIL("%s %s was allowed", k->tool, k->outside);
    if (verdict.code != ERR_OUT_OF_SCOPE || strstr(verdict.message, "secret"))
        FAIL("%s: %s: %s", k->tool, err_name(verdict.code), verdict.message);
    if (!strstr(verdict.message, "category"))
        FAIL("%s does not name the category: %s", k->tool, verdict.message);
    if (office_run(office, k->tool, "op-outside", k->outside) == 0 ||
        t->err.code != ERR_OUT_OF_SCOPE)
        FAIL("%s was started: %s", k->tool, test_err_text(t));
    if (office_show(office, k->tool, "", k->outside) == 0 || t->err.code != ERR_OUT_OF_SCOPE)
        FAIL("%s was shown: %s", k->tool, test_err_text(t));
    ASSERT_EQ(office_batches(office), batches);
}

DB_TEST(what_is_out_of_scope_is_refused_by_every_tool_before_anybody_is_asked)
{
    AUTO_OFFICE office;

    office_open(&office, t);
    office_fill(&office);
    for
        EACH(k)
        {
            if (k->outside)
                try_outside(&office, k);
        }
}

TEST(an_agent_without_categories_reaches_nothing)
{
    AUTO_OFFICE office;
    struct tool_verdict verdict;
    static const char *const lists[] = { "[]", "", "null", "{}", "[7]", "[\"\"]", "[[\"*\"]]" };

    office_open(&office, t);
    office_fill(&office);
    for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
        office.agent.allowed_category_ids = lists[i];
        for
            EACH(k)
            {
                if (strcmp(k->tool, "list_allowed_categories") == 0)
                    continue;
                if (office_judge(&office, k->tool, k->works, &verdict) == 0 ||
                    verdict.code != ERR_OUT_OF_SCOPE)
                    FAIL("%s with %s: %s", k->tool, lists[i], verdict.message);
                ASSERT(!tool_bed_offers(office.tools, verdict.contract, &office.agent,
                                        STR("userInitiated")));
            }
        ASSERT_OK(office_run(&office, "list_allowed_categories", "", "{}"));
        ASSERT_TEXT(office_out(&office, "/categories"), "[]");
    }
}

TEST(an_agent_of_all_categories_reaches_everything)
{
    AUTO_OFFICE office;

    office_open(&office, t);
    office_fill(&office);
    office.agent.allowed_category_ids = "[\"*\"]";
    for
        EACH(k)
        {
            /* A day can be planned twice, a task taken from one list once. */
            if (k->outside && office_run(&office, k->tool, k->outside, k->outside) < 0)
                FAIL("%s: %s", k->tool, test_err_text(t));
        }
    ASSERT_OK(office_run(&office, "get_or_create_day_plan", "p", "{'planDate':'2026-02-18'}"));
    ASSERT_TEXT(office_out(&office, "/dayPlan/note"), "\"secret plan\"");
}

TEST(what_is_not_there_is_not_found_and_said_by_name)
{
    static const struct {
        const char *tool, *arguments, *says;
    } cases[] = {
        { "read_task", "{'taskId':'nope'}", "there is no task \"nope\"" },
        { "update_task_fields", "{'taskId':'nope','status':'DONE'}", "resolve_task_reference" },
        { "update_checklist_items", "{'items':[{'id':'zz','checked':true}]}", "/items/0" },
        { "annotate_time_entry", "{'timeEntryId':'zz','description':''}", "timeEntry \"zz\"" },
        { "stop_task_timer", "{}", "no timer runs in your categories" },
        { "stop_task_timer", "{'taskId':'legs'}", "no timer runs for this task" },
        { "upsert_day_plan_blocks", "{'planDate':'2026-02-18','deletes':['zz']}", "/deletes/0" },
        { "assign_task_labels", "{'taskId':'legs','labels':['nope']}", "no label \"nope\"" },
        { "get_rating_for_target", "{'targetType':'entry','targetId':'zz'}", "no entry \"zz\"" },
    };
    AUTO_OFFICE office;

    office_open(&office, t);
    office_fill(&office);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        if (office_run(&office, cases[i].tool, "op", cases[i].arguments) == 0 ||
            t->err.code != ERR_NOT_FOUND || !strstr(test_err_text(t), cases[i].says))
            FAIL("%s: %s", cases[i].tool, test_err_text(t));
    }
}

TEST(what_makes_no_sense_is_refused_with_the_place)
{
    static const struct {
        const char *tool, *arguments, *says;
        enum err_code code;
    } cases[] = {
        { "update_task_fields", "{'taskId':'legs'}", "say what to change", ERR_BAD_REQUEST },
        { "update_task_due_date", "{'taskId':'legs','due':'tomorrow'}", "/due",
          ERR_SCHEMA_VIOLATION },
        { "update_checklist_items", "{'items':[{'id':'i1'}]}", "/items/0", ERR_BAD_REQUEST },
        { "add_multiple_checklist_items", "{'items':['x']}", "/checklistId", ERR_BAD_REQUEST },
        { "add_multiple_checklist_items", "{'items':['x'],'checklistId':'l1','taskId':'squats'}",
          "not of this task", ERR_BAD_REQUEST },
        { "move_checklist_items", "{'itemIds':['i1'],'fromChecklistId':'l2','toChecklistId':'l1'}",
          "/itemIds/0", ERR_CONFLICT },
        { "move_checklist_items", "{'itemIds':['i1'],'fromChecklistId':'l1','toChecklistId':'l1'}",
          "there already", ERR_BAD_REQUEST },
        { "create_retrospective_time_entry",
          "{'startedAt':'2026-02-17T16:00:00Z','endedAt':'2026-02-17T17:00:00Z'}", "/taskId",
          ERR_BAD_REQUEST },
        { "create_retrospective_time_entry",
          "{'taskId':'legs','startedAt':'2026-02-17T16:00:00Z','endedAt':'2026-02-17T16:00:00Z'}",
          "does not lie after", ERR_BAD_REQUEST },
        { "create_retrospective_time_entry",
          "{'taskId':'legs','startedAt':'2026-02-16T16:00:00Z','endedAt':'2026-02-17T16:00:01Z'}",
          "24 hours", ERR_BAD_REQUEST },
        { "create_retrospective_time_entry",
          "{'taskId':'legs','startedAt':'2026-02-18T08:30:00Z','endedAt':'2026-02-18T09:00:01Z'}",
          "future", ERR_BAD_REQUEST },
        { "create_retrospective_time_entry",
          "{'taskId':'legs','startedAt':'2026-02-16T15:59:00Z','endedAt':'2026-02-16T17:00:00Z'}",
          "t1", ERR_CONFLICT },
        { "create_retrospective_time_entry",
          "{'taskId':'legs','categoryId':'finance','startedAt':'2026-02-17T15:59:00Z',"
          "'endedAt':'2026-02-17T17:00:00Z'}",
          "/categoryId", ERR_BAD_REQUEST },
        { "get_or_create_day_plan", "{'planDate':'2026-02-30'}", "/planDate", ERR_BAD_REQUEST },
        { "upsert_day_plan_blocks", "{'planDate':'2026-02-18'}", "/upserts", ERR_BAD_REQUEST },
        { "upsert_day_plan_blocks",
          "{'planDate':'2026-02-18','upserts':[{'startTime':'2026-02-19T18:00:00+01:00',"
          "'endTime':'2026-02-19T19:00:00+01:00'}]}",
          "outside of 2026-02-18", ERR_SCHEMA_VIOLATION },
        { "upsert_day_plan_blocks",
          "{'planDate':'2026-02-19','upserts':[{'id':'b1','startTime':'2026-02-19T18:00:00+01:00',"
          "'endTime':'2026-02-19T19:00:00+01:00'}]}",
          "another day", ERR_CONFLICT },
        { "get_rating_for_target", "{'targetType':'dayPlan','targetId':'today'}", "dayplan-",
          ERR_BAD_REQUEST },
        { "list_entries_in_scope", "{'from':'2026-02-30T00:00:00Z'}", "from",
          ERR_SCHEMA_VIOLATION },
    };
    AUTO_OFFICE office;
    size_t batches;

    office_open(&office, t);
    office_fill(&office);
    batches = office_batches(&office);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        if (office_run(&office, cases[i].tool, "op", cases[i].arguments) == 0 ||
            t->err.code != cases[i].code || !strstr(test_err_text(t), cases[i].says))
            FAIL("%s %s: %s: %s", cases[i].tool, cases[i].arguments, err_name(t->err.code),
                 test_err_text(t));
    }
    ASSERT_EQ(office_batches(&office), batches);
}
