/* Units of writing: batches, operations, listeners, faults. SPDX-License-Identifier: MIT */
#include "base/map.h"
#include "change/vclock.h"
#include "db/db.h"
#include "journal/moves.h"
#include "rig.h"

static bool has_token(const struct change_row *row, enum token_class class, const char *name_space,
                      const char *value)
{
    for (size_t i = 0; i < row->token_count; i++) {
        const struct token *token = &row->tokens[i];

        if (token->class == class && str_is(token->name_space, name_space) &&
            str_is(token->value, value))
            return true;
    }
    return false;
}
#define HAS_KEY(row, value)     has_token(row, TOKEN_SEMANTIC_KEY, "", value)
#define HAS_ID(row, value)      has_token(row, TOKEN_ENTITY_ID, "", value)
#define HAS_SUB(row, ns, value) has_token(row, TOKEN_SUBTYPE, ns, value)

/* ---- batches ---- */

DB_TEST(a_unit_leaves_one_batch_that_says_what_it_was_about)
{
    AUTO_RIG rig;
    AUTO_JSON entry = rig_json(t, "{'kind':'workout','subtype':'running','categoryId':'gym'}");
    struct change_row *rows;
    struct record workout;
    size_t n;

    rig_open(&rig, t);
    rig_add_as(&rig, RECORD_CATEGORY, "gym", "{'name':'Gym'}");
    ASSERT_OK(journal_create(rig_begin(&rig), RECORD_ENTRY, STR("w"), entry, &workout, &t->err));
    rig_end(&rig);
    rows = rig_batches(&rig, &n);
    ASSERT_EQ(n, 2);
    ASSERT_EQ(rows[1].author, CHANGE_BY_HUMAN);
    ASSERT_EQ(rows[1].created_at, NOW);
    ASSERT_EQ(rows[1].unit_count, 1);
    ASSERT_STR(rows[1].unit[0].payload_type, "entry");
    ASSERT_STR(rows[1].unit[0].payload_id, "w");
    ASSERT_STR(rows[1].unit[0].host_id, change_host_id(rig.change));
    ASSERT_EQ(rows[1].unit[0].counter, workout.counter);
    ASSERT(HAS_KEY(&rows[1], "WORKOUT"));
    ASSERT(HAS_ID(&rows[1], "w"));
    ASSERT(HAS_SUB(&rows[1], "workoutType", "running"));
    ASSERT(HAS_SUB(&rows[1], "categoryId", "gym"));
    ASSERT(!HAS_KEY(&rows[1], "NOTE"));
}

DB_TEST(every_type_has_its_tokens)
{
    static const struct {
        enum record_type type;
        const char *id, *fields, *key, *also;
    } cases[] = {
        { RECORD_CATEGORY, "gym", "{'name':'Gym'}", "CATEGORY", "gym" },
        { RECORD_LABEL, "l", "{'name':'l'}", "LABEL", "l" },
        { RECORD_TASK, "t", "{'title':'x','categoryId':'gym'}", "TASK", "t" },
        { RECORD_CHECKLIST, "c", "{'title':'x','taskId':'t'}", "CHECKLIST", "t" },
        { RECORD_CHECKLIST_ITEM, "i", "{'title':'x','checklistId':'c'}", "CHECKLIST", "c" },
        { RECORD_TIME_ENTRY, "x", "{'taskId':'t','startedAt':'2026-02-18T09:00:00Z'}", "TIME_ENTRY",
          "t" },
        { RECORD_DAY_PLAN, "", "{'planDate':'2026-02-18'}", "DAY_PLAN", "dayplan-2026-02-18" },
        { RECORD_DAY_PLAN_BLOCK, "b",
          "{'planId':'dayplan-2026-02-18','startTime':'2026-02-18T10:00:00Z',"
          "'endTime':'2026-02-18T11:00:00Z'}",
          "DAY_PLAN", "dayplan-2026-02-18" },
        { RECORD_RATING, "", "{'targetType':'task','targetId':'t','dimension':'mood','value':1}",
          "RATING", "t" },
        { RECORD_ENTRY, "e1", "{'kind':'note'}", "NOTE", "e1" },
        { RECORD_ENTRY, "e2", "{'kind':'audio'}", "AUDIO", "e2" },
        { RECORD_ENTRY, "e3", "{'kind':'measurement','subtype':'weight'}", "NOTE", "e3" },
        { RECORD_ENTRY_LINK, "",
          "{'relation':'about','fromType':'entry','fromId':'e1','toType':'task','toId':'t'}",
          "NOTE", "t" },
    };
    AUTO_RIG rig;
    struct change_row *rows;
    size_t n;

    rig_open(&rig, t);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        rig_add_as(&rig, cases[i].type, cases[i].id, cases[i].fields);
    rows = rig_batches(&rig, &n);
    ASSERT_EQ(n, ARRAY_LEN(cases));
    for (size_t i = 0; i < n; i++) {
        ASSERT(HAS_KEY(&rows[i], cases[i].key));
        ASSERT(HAS_ID(&rows[i], cases[i].also));
    }
    ASSERT(HAS_SUB(&rows[2], "taskStatus", "OPEN"));
    ASSERT(HAS_SUB(&rows[11], "measurementType", "weight"));
}

DB_TEST(who_watches_a_category_learns_what_has_left_it)
{
    AUTO_RIG rig;
    struct change_row *rows;
    size_t n;

    rig_open(&rig, t);
    rig_add_as(&rig, RECORD_CATEGORY, "gym", "{'name':'Gym'}");
    rig_add_as(&rig, RECORD_CATEGORY, "home", "{'name':'Home'}");
    rig_add_as(&rig, RECORD_TASK, "t", "{'title':'x','categoryId':'gym'}");
    ASSERT_EQ(rig_set(&rig, RECORD_TASK, STR("t"), "{'categoryId':'home'}"), 1);
    rows = rig_batches(&rig, &n);
    ASSERT(HAS_SUB(&rows[3], "categoryId", "gym"));
    ASSERT(HAS_SUB(&rows[3], "categoryId", "home"));
}

DB_TEST(several_writes_of_a_unit_are_one_batch)
{
    AUTO_RIG rig;
    AUTO_JSON task = rig_json(t, "{'title':'x'}");
    AUTO_JSON done = rig_json(t, "{'status':'DONE'}");
    struct change_row *rows;
    struct record record;
    size_t n;

    rig_open(&rig, t);
    rig_begin(&rig);
    ASSERT_OK(journal_create(rig.write, RECORD_TASK, STR("a"), task, NULL, &t->err));
    ASSERT_OK(journal_create(rig.write, RECORD_TASK, STR("b"), task, NULL, &t->err));
    ASSERT_EQ(journal_change(rig.write, RECORD_TASK, STR("a"), done, &record, &t->err), 1);
    rig_end(&rig);
    rows = rig_batches(&rig, &n);
    ASSERT_EQ(n, 1);
    ASSERT_EQ(rows[0].unit_count, 3);
    ASSERT_EQ(rows[0].unit[2].counter, rows[0].unit[0].counter + 2);
    ASSERT(HAS_ID(&rows[0], "a") && HAS_ID(&rows[0], "b"));
}

DB_TEST(a_unit_that_is_dropped_leaves_nothing)
{
    AUTO_RIG rig;
    AUTO_JSON task = rig_json(t, "{'title':'x'}");
    size_t n;

    rig_open(&rig, t);
    ASSERT_OK(journal_create(rig_begin(&rig), RECORD_TASK, STR("a"), task, NULL, &t->err));
    rig_drop(&rig);
    ASSERT(!rig_there(&rig, RECORD_TASK, STR("a")));
    rig_batches(&rig, &n);
    ASSERT_EQ(n, 0);
}

DB_TEST(agents_are_named_in_what_they_write)
{
    AUTO_RIG rig;
    AUTO_JSON task = rig_json(t, "{'title':'x'}");
    struct journal_author author = { .kind = CHANGE_BY_AGENT,
                                     .agent_id = STR("planner"),
                                     .operation_id = STR("op1"),
                                     .operation = STR("create_task"),
                                     .arguments_hash = STR("h1") };
    struct journal_write *write;
    struct change_row *rows;
    struct str result;
    size_t n;

    rig_open(&rig, t);
    ASSERT_EQ(journal_begin(rig.journal, &author, &t->arena, &write, &result, &t->err), 1);
    ASSERT_OK(journal_create(write, RECORD_TASK, STR("a"), task, NULL, &t->err));
    ASSERT_EQ(journal_now(write), NOW);
    ASSERT(journal_of(write) == rig.journal && journal_arena(write) == &t->arena);
    ASSERT_OK(journal_end(write, true, STR("{\"id\":\"a\"}"), &t->err));
    loop_fake_tick(rig.loop);
    rows = rig_batches(&rig, &n);
    ASSERT_EQ(rows[0].author, CHANGE_BY_AGENT);
    ASSERT_STR(rows[0].author_id, "planner");
    ASSERT_STR(rows[0].operation_id, "op1");
}

/* ---- operations ---- */

/* Makes a task as this operation; what begin said, and the answer. */
static int operate(struct rig *rig, struct journal_author author, const char *answer,
                   struct str *ret_result)
{
    struct test *t = rig->t;
    AUTO_JSON task = rig_json(t, "{'title':'x'}");
    struct journal_write *write;
    int r;

    t->err = ERR_INIT;
    *ret_result = STR_NONE;
    r = journal_begin(rig->journal, &author, &t->arena, &write, ret_result, &t->err);
    if (r == 1) {
        ASSERT_OK(journal_create(write, RECORD_TASK, STR_NONE, task, NULL, &t->err));
        ASSERT_OK(journal_end(write, true, str_from(answer), &t->err));
    }
    loop_fake_tick(rig->loop);
    return r;
}

#define PERSON(id, hash)                                                                           \
    ((struct journal_author){ .kind = CHANGE_BY_HUMAN,                                             \
                              .operation_id = STR(id),                                             \
                              .operation = STR("create"),                                          \
                              .arguments_hash = STR(hash) })
#define AGENT(id, hash)                                                                            \
    ((struct journal_author){ .kind = CHANGE_BY_AGENT,                                             \
                              .agent_id = STR("a"),                                                \
                              .operation_id = STR(id),                                             \
                              .operation = STR("create"),                                          \
                              .arguments_hash = STR(hash) })

DB_TEST(an_operation_is_done_once_and_answers_the_same)
{
    AUTO_RIG rig;
    struct str result;
    size_t n;

    rig_open(&rig, t);
    ASSERT_EQ(operate(&rig, PERSON("op", "h"), "{\"first\":1}", &result), 1);
    ASSERT_EQ(operate(&rig, PERSON("op", "h"), "{\"second\":2}", &result), 0);
    ASSERT_STR(result, "{\"first\":1}");
    rig_batches(&rig, &n);
    ASSERT_EQ(n, 1);
    ASSERT_FAILS(operate(&rig, PERSON("op", "other"), "", &result), ERR_CONFLICT);
    ASSERT_TEXT(err_message(&t->err, 0),
                "operation \"op\" was done before as create with other arguments");
    ASSERT_EQ(operate(&rig, PERSON("op2", "h"), "", &result), 1);
    ASSERT_EQ(operate(&rig, PERSON("op2", "h"), "", &result), 0);
    ASSERT_STR(result, "");
}

DB_TEST(an_operation_that_was_dropped_can_be_done)
{
    AUTO_RIG rig;
    struct journal_author author = PERSON("op", "h");
    struct str result;

    rig_open(&rig, t);
    ASSERT_EQ(journal_begin(rig.journal, &author, &t->arena, &rig.write, &result, &t->err), 1);
    rig_drop(&rig);
    ASSERT_EQ(operate(&rig, author, "{}", &result), 1);
}

DB_TEST(an_operation_that_writes_nothing_is_remembered_too)
{
    AUTO_RIG rig;
    struct journal_author author = PERSON("op", "h");
    struct str result;
    size_t n;

    rig_open(&rig, t);
    ASSERT_EQ(journal_begin(rig.journal, &author, &t->arena, &rig.write, &result, &t->err), 1);
    ASSERT_OK(journal_end(rig.write, true, STR("{\"changed\":false}"), &t->err));
    loop_fake_tick(rig.loop);
    ASSERT_EQ(operate(&rig, author, "{}", &result), 0);
    ASSERT_STR(result, "{\"changed\":false}");
    rig_batches(&rig, &n);
    ASSERT_EQ(n, 0);
}

DB_TEST(operations_of_people_are_forgotten_after_two_days_and_of_agents_after_ninety)
{
    AUTO_RIG rig;
    struct str result;

    rig_open(&rig, t);
    ASSERT_EQ(operate(&rig, PERSON("person", "h"), "{}", &result), 1);
    ASSERT_EQ(operate(&rig, AGENT("agent", "h"), "{}", &result), 1);
    clock_advance(&rig.clock, HOURS(47));
    ASSERT_EQ(operate(&rig, PERSON("x1", "h"), "{}", &result), 1);
    ASSERT_EQ(operate(&rig, PERSON("person", "h"), "{}", &result), 0);
    clock_advance(&rig.clock, HOURS(2));
    ASSERT_EQ(operate(&rig, PERSON("x2", "h"), "{}", &result), 1);
    ASSERT_EQ(operate(&rig, PERSON("person", "h"), "{}", &result), 1);
    clock_advance(&rig.clock, DAYS(80));
    ASSERT_EQ(operate(&rig, AGENT("x3", "h"), "{}", &result), 1);
    ASSERT_EQ(operate(&rig, AGENT("agent", "h"), "{}", &result), 0);
    clock_advance(&rig.clock, DAYS(10));
    ASSERT_EQ(operate(&rig, AGENT("x4", "h"), "{}", &result), 1);
    ASSERT_EQ(operate(&rig, AGENT("agent", "h"), "{}", &result), 1);
}

DB_TEST(an_operation_with_a_long_id_is_refused)
{
    AUTO_RIG rig;
    char id[OPERATION_ID_MAX + 1];
    struct journal_author author = { .kind = CHANGE_BY_HUMAN,
                                     .operation_id = str_of(id, sizeof(id)) };
    struct str result;

    rig_open(&rig, t);
    memset(id, 'x', sizeof(id));
    ASSERT_FAILS(operate(&rig, author, "", &result), ERR_BAD_REQUEST);
}

/* ---- listeners ---- */

struct ear {
    struct journal_listener listener;
    int heard;
};

static void hear(struct journal_listener *listener)
{
    CONTAINER_OF(listener, struct ear, listener)->heard++;
}

DB_TEST(listeners_hear_of_commits_and_of_nothing_else)
{
    AUTO_RIG rig;
    AUTO_JSON task = rig_json(t, "{'title':'x'}");
    struct ear first = { .listener = { .written = hear } }, second = first;
    struct journal_author author = { .kind = CHANGE_BY_HUMAN };
    struct journal_write *write;

    rig_open(&rig, t);
    journal_listen(rig.journal, &first.listener);
    journal_listen(rig.journal, &second.listener);
    rig_begin(&rig);
    ASSERT_OK(journal_create(rig.write, RECORD_TASK, STR("a"), task, NULL, &t->err));
    ASSERT_OK(journal_end(rig.write, true, STR_NONE, &t->err));
    ASSERT_EQ(first.heard, 0); /* not before it is durable */
    ASSERT_EQ(journal_begin(rig.journal, &author, &t->arena, &write, NULL, &t->err), 1);
    ASSERT_OK(journal_create(write, RECORD_TASK, STR("b"), task, NULL, &t->err));
    ASSERT_OK(journal_end(write, true, STR_NONE, &t->err));
    loop_fake_tick(rig.loop);
    ASSERT_EQ(first.heard, 1); /* once a tick */
    ASSERT_EQ(second.heard, 1);
    ASSERT_OK(journal_create(rig_begin(&rig), RECORD_TASK, STR("c"), task, NULL, &t->err));
    rig_drop(&rig);
    rig_begin(&rig);
    rig_end(&rig);
    ASSERT_EQ(first.heard, 1);
    rig_add(&rig, RECORD_TASK, "{'title':'x'}");
    ASSERT_EQ(first.heard, 2);
}

DB_TEST(a_journal_may_end_before_its_listeners_were_told)
{
    AUTO_RIG rig;
    AUTO_JSON task = rig_json(t, "{'title':'x'}");
    struct ear ear = { .listener = { .written = hear } };

    rig_open(&rig, t);
    journal_listen(rig.journal, &ear.listener);
    ASSERT_OK(journal_create(rig_begin(&rig), RECORD_TASK, STR("a"), task, NULL, &t->err));
    ASSERT_OK(journal_end(rig.write, true, STR_NONE, &t->err));
    journal_free(rig.journal);
    rig.journal = NULL;
    loop_fake_tick(rig.loop);
    ASSERT_EQ(ear.heard, 0);
}

/* ---- faults ---- */

DB_TEST(a_commit_that_fails_leaves_nothing_half_done)
{
    AUTO_RIG rig;
    struct ear ear = { .listener = { .written = hear } };
    struct journal_author author = PERSON("op", "h");
    AUTO_JSON task = rig_json(t, "{'title':'x'}");
    struct str result, title = STR("item");
    struct record list;
    size_t n;

    rig_open(&rig, t);
    journal_listen(rig.journal, &ear.listener);
    rig_add_as(&rig, RECORD_CHECKLIST, "c", "{'title':'x'}");
    ear.heard = 0;
    ASSERT_EQ(journal_begin(rig.journal, &author, &t->arena, &rig.write, &result, &t->err), 1);
    ASSERT_OK(journal_create(rig.write, RECORD_TASK, STR("a"), task, &list, &t->err));
    ASSERT_OK(checklist_add(rig.write, STR("c"), &title, 1, NULL, &t->err));
    ASSERT_OK(journal_end(rig.write, true, STR("{}"), &t->err));
    rig.fault = (struct db_fault){ .at = DB_FAULT_COMMIT, .kind = DB_FAULT_BUSY, .nth = 1 };
    loop_fake_tick(rig.loop);
    ASSERT_EQ(rig.fault.fired, 1);
    ASSERT_EQ(ear.heard, 0);
    ASSERT(!rig_there(&rig, RECORD_TASK, STR("a")));
    rig_batches(&rig, &n);
    ASSERT_EQ(n, 1);
    ASSERT_EQ(operate(&rig, author, "{}", &result), 1); /* it was not done */
}

/* Every statement of a move fails once: after each failure nothing of it is there, and the same
 * operation can be done. */
DB_TEST(whichever_statement_fails_nothing_of_the_unit_stays, .timeout_s = 120)
{
    AUTO_RIG rig;
    AUTO_JSON task = rig_json(t, "{'title':'x'}");
    struct str labels[] = { STR("one"), STR("two") };
    unsigned nth = 1;
    bool last;
    size_t n;
    int r;

    rig_open(&rig, t);
    for (;; nth++) {
        struct journal_author author = PERSON("op", "h");
        struct str result;

        t->err = ERR_INIT;
        rig.fault = (struct db_fault){ .at = DB_FAULT_STEP, .kind = DB_FAULT_CONFLICT, .nth = nth };
        r = journal_begin(rig.journal, &author, &t->arena, &rig.write, &result, &t->err);
        if (r == 1) {
            r = journal_create(rig.write, RECORD_TASK, STR("a"), task, NULL, &t->err);
            if (r >= 0)
                r = task_set_labels(rig.write, STR("a"), labels, 2, true, &t->err);
            r = r < 0 ? (journal_end(rig.write, false, STR_NONE, NULL), -1)
                      : journal_end(rig.write, true, STR("{}"), &t->err);
        }
        loop_fake_tick(rig.loop);
        last = rig.fault.fired == 0;
        rig.fault = (struct db_fault){ .at = DB_FAULT_NEVER };
        if (last)
            break;
        ASSERT(r < 0);
        ASSERT(!rig_there(&rig, RECORD_TASK, STR("a")));
        rig_batches(&rig, &n);
        ASSERT_EQ(n, 0);
        ASSERT(nth < 200);
    }
    ASSERT_OK(r);
    ASSERT(nth > 10);
    ASSERT(rig_there(&rig, RECORD_TASK, STR("a")));
    rig_batches(&rig, &n);
    ASSERT_EQ(n, 1);
}

DB_TEST(a_vector_clock_that_can_not_be_read_is_an_error_and_not_a_guess)
{
    AUTO_RIG rig;

    rig_open(&rig, t);
    rig_add_as(&rig, RECORD_TASK, "a", "{'title':'x'}");
    ASSERT_OK(domain_begin(rig.domain, &t->err));
    ASSERT_OK(
        db_exec(domain_db(rig.domain), SQL("UPDATE tasks SET vector_clock = '{\"h\":'"), &t->err));
    ASSERT_OK(domain_commit(rig.domain, &t->err));
    ASSERT(rig_set(&rig, RECORD_TASK, STR("a"), "{'title':'y'}") < 0);
    ASSERT_CONTAINS(err_message(&t->err, 0), "task a");
}

/* What follows from a record's content is its id: a new one takes the place of a deleted one, and
 * its clock goes on, or another host would take the older for the newer. */
DB_TEST(a_record_that_takes_a_deleted_one_s_place_goes_on_with_its_clock)
{
    static const struct {
        enum record_type type;
        struct sql alter;
        const char *fields;
    } cases[] = {
        { RECORD_DAY_PLAN,
          { "UPDATE day_plans SET vector_clock = '{\"other\":7}'" },
          "{'planDate':'2026-02-18'}" },
        { RECORD_RATING,
          { "UPDATE ratings SET vector_clock = '{\"other\":7}'" },
          "{'targetType':'task','targetId':'a','dimension':'mood','value':3}" },
        { RECORD_ENTRY_LINK,
          { "UPDATE entry_links SET vector_clock = '{\"other\":7}'" },
          "{'fromType':'task','fromId':'a','toType':'task','toId':'b','relation':'related'}" },
    };
    AUTO_RIG rig;

    rig_open(&rig, t);
    rig_add_as(&rig, RECORD_TASK, "a", "{'title':'x'}");
    rig_add_as(&rig, RECORD_TASK, "b", "{'title':'y'}");
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct str id = rig_add(&rig, cases[i].type, cases[i].fields);
        struct record old = rig_get(&rig, cases[i].type, id), now;
        struct vclock clock;

        ASSERT_OK(domain_begin(rig.domain, &t->err));
        ASSERT_OK(db_exec(domain_db(rig.domain), cases[i].alter, &t->err));
        ASSERT_OK(domain_commit(rig.domain, &t->err));
        ASSERT_EQ(rig_remove(&rig, cases[i].type, id), 1);
        ASSERT_STR(rig_add(&rig, cases[i].type, cases[i].fields), id.p);
        now = rig_get(&rig, cases[i].type, id);
        ASSERT_EQ(now.n, old.n);
        ASSERT(now.counter > old.counter);
        ASSERT_OK(vclock_parse(now.vector_clock, &t->arena, &clock, &t->err));
        ASSERT_EQ(vclock_of(&clock, STR("other")), 7);
        ASSERT_EQ(vclock_of(&clock, str_from(change_host_id(rig.change))), now.counter);
    }
}

DB_TEST(what_another_host_wrote_stays_in_the_clock)
{
    AUTO_RIG rig;
    struct record task;
    struct vclock clock;

    rig_open(&rig, t);
    rig_add_as(&rig, RECORD_TASK, "a", "{'title':'x'}");
    ASSERT_OK(domain_begin(rig.domain, &t->err));
    ASSERT_OK(db_exec(domain_db(rig.domain), SQL("UPDATE tasks SET vector_clock = '{\"other\":7}'"),
                      &t->err));
    ASSERT_OK(domain_commit(rig.domain, &t->err));
    ASSERT_EQ(rig_set(&rig, RECORD_TASK, STR("a"), "{'title':'y'}"), 1);
    task = rig_get(&rig, RECORD_TASK, STR("a"));
    ASSERT_OK(vclock_parse(task.vector_clock, &t->arena, &clock, &t->err));
    ASSERT_EQ(clock.n, 2);
    ASSERT_EQ(vclock_of(&clock, STR("other")), 7);
    ASSERT_EQ(vclock_of(&clock, str_from(change_host_id(rig.change))), task.counter);
}
