/* Pages of tasks against a list that is filtered and sorted the simple way.
 * SPDX-License-Identifier: MIT */
#include <sqlite3.h>
#include <stdio.h>

#include "base/path.h"
#include "base/rand.h"
#include "db/db.h"
#include "journal/list_int.h"
#include "journal/moves.h"
#include "rig.h"

/* ---- the simple way ---- */

#define MODEL_TASKS 240
#define MORE_TASKS  1200 /* more than few */

struct model_task {
    struct str id, title, due, category, status;
    int priority;
    int64_t updated, n;
    bool label;
};

static const char *const titles[] = { "Fix fence",    "fix the FENCE", "Buy nails",
                                      "Größe messen", "Call mum",      "Write report" };
static const char *const days[] = {
    NULL, "2026-02-17", "2026-02-18", "2026-02-18T09:00", "2026-02-18T16:00", "2026-02-20"
};
static const char *const categories[] = { NULL, "home", "gym", "work" };

static const char *add_random(struct rig *rig, struct rand *rand, int i)
{
    struct test *t = rig->t;
    const char *day = days[rand_below(rand, 6)], *category = categories[rand_below(rand, 4)];
    char *id = arena_printf(&t->arena, "t%d", i);
    AUTO_BUF json = BUF_INIT(1000);

    buf_printf(&json, "{'title':'%s','status':'%s','priority':%d", titles[rand_below(rand, 6)],
               task_statuses[rand_below(rand, 7)], (int)rand_below(rand, 4));
    if (day)
        buf_printf(&json, ",'due':'%s'", day);
    if (category)
        buf_printf(&json, ",'categoryId':'%s'", category);
    buf_add_text(&json, "}");
    rig_add_as(rig, RECORD_TASK, id, buf_text(&json));
    return id;
}

static void model_read(struct rig *rig, const char *id, struct model_task *ret_task)
{
    struct test *t = rig->t;
    struct record task = rig_get(rig, RECORD_TASK, str_from(id)), **labels;
    size_t *counts;

    ASSERT_OK(task_labels_of(rig->journal, &task, 1, &t->arena, &labels, &counts, &t->err));
    *ret_task = (struct model_task){
        .id = task.id,
        .title = record_str(&task, "title"),
        .due = record_get(&task, "due")->set ? record_str(&task, "due") : STR("9999-12-31"),
        .category = record_str(&task, "categoryId"),
        .status = record_str(&task, "status"),
        .priority = (int)record_i64(&task, "priority"),
        .updated = task.updated_at,
        .n = task.n,
        .label = counts[0] > 0,
    };
}

static size_t fill_model(struct rig *rig, struct model_task *model, unsigned seed)
{
    struct test *t = rig->t;
    struct rand_fake seeded;
    struct str label = STR("l");
    size_t count = 0;

    rand_fake_init(&seeded, seed);
    rig_add_as(rig, RECORD_CATEGORY, "home", "{'name':'Home'}");
    rig_add_as(rig, RECORD_CATEGORY, "gym", "{'name':'Gym'}");
    rig_add_as(rig, RECORD_CATEGORY, "work", "{'name':'Work'}");
    rig_add_as(rig, RECORD_LABEL, "l", "{'name':'urgent'}");
    for (int i = 0; i < MODEL_TASKS; i++) {
        const char *id = add_random(rig, &seeded.rand, i);

        if (rand_below(&seeded.rand, 3) == 0) {
            ASSERT_OK(task_set_labels(rig_begin(rig), str_from(id), &label, 1, false, &t->err));
            rig_end(rig);
        }
        if (rand_below(&seeded.rand, 10) == 0)
            ASSERT_EQ(rig_remove(rig, RECORD_TASK, str_from(id)), 1);
        else
            model_read(rig, id, &model[count++]);
        clock_advance(&rig->clock, (int64_t)rand_below(&seeded.rand, 3));
    }
    return count;
}

static bool model_wants(const struct task_filter *filter, const struct model_task *task)
{
    bool closed = str_is(task->status, "DONE") || str_is(task->status, "REJECTED");
    bool has_due = !str_is(task->due, "9999-12-31"), in_scope = !filter->scope;

    if (filter->status.n ? !str_eq(task->status, filter->status)
                         : !filter->any && closed != filter->closed)
        return false;
    if (filter->category_id.n && !str_eq(filter->category_id, task->category))
        return false;
    for (size_t i = 0; filter->scope && i < filter->scope->n; i++)
        in_scope |= str_eq(filter->scope->categories[i], task->category);
    if (!in_scope || (filter->label_id.n && !task->label))
        return false;
    if (filter->due_from.n && (!has_due || str_cmp(task->due, filter->due_from) < 0))
        return false;
    if (filter->due_to.n &&
        (!has_due || str_cmp(str_take(task->due, filter->due_to.n), filter->due_to) > 0))
        return false;
    return !filter->text.n || str_is(filter->text, "fence")
               ? !filter->text.n || task->title.p[task->title.n - 1] == 'e' ||
                     task->title.p[task->title.n - 1] == 'E'
               : str_starts(task->title, STR("Gr"));
}

static enum task_order sort_order;
static int model_cmp(const void *a, const void *b)
{
    const struct model_task *x = a, *y = b;
    int due = str_cmp(x->due, y->due), priority = x->priority - y->priority;
    int n = (x->n > y->n) - (x->n < y->n);

    if (sort_order == TASKS_BY_UPDATED)
        return x->updated != y->updated ? (x->updated < y->updated ? 1 : -1) : -n;
    if (sort_order == TASKS_BY_PRIORITY)
        return priority ? priority : due ? due : n;
    return due ? due : priority ? priority : n;
}

static void check_filter(struct rig *rig, const struct model_task *model, size_t count,
                         struct task_filter filter)
{
    struct test *t = rig->t;
    static struct model_task wanted[MODEL_TASKS + MORE_TASKS];
    struct task_page page;
    size_t n = 0, seen = 0, pages = 0;

    for (size_t i = 0; i < count; i++) {
        if (model_wants(&filter, &model[i]))
            wanted[n++] = model[i];
    }
    sort_order = filter.order;
    qsort(wanted, n, sizeof(*wanted), model_cmp);
    do {
        ASSERT_OK(task_list(rig->journal, &filter, &t->arena, &page, &t->err));
        ASSERT(page.count <= (size_t)filter.limit);
        for (size_t i = 0; i < page.count; i++, seen++) {
            if (seen >= n || !str_eq(page.tasks[i].id, wanted[seen].id))
                FAIL("order %d status %.*s text %.*s page %zu: task %zu is %.*s, expected %.*s",
                     (int)filter.order, STR_ARG(filter.status), STR_ARG(filter.text), pages, seen,
                     STR_ARG(page.tasks[i].id), STR_ARG(seen < n ? wanted[seen].id : STR("none")));
        }
        filter.after = page.next;
        ASSERT(++pages < 1000);
    } while (page.next.n > 0);
    ASSERT_EQ(seen, n);
}

static void check_filters(struct rig *rig, const struct model_task *model, size_t count, int rounds,
                          int limit)
{
    struct str two[] = { STR("home"), STR("gym") };
    struct journal_scope scopes[] = { { .categories = two, .n = 2 },
                                      { .categories = two + 1, .n = 1 },
                                      { .n = 0 } };
    struct rand_fake seeded;

    rand_fake_init(&seeded, 11);
#define ONE_IN(k) (rand_below(&seeded.rand, (k)) == 0)
    for (int i = 0; i < rounds; i++) {
        struct task_filter filter = { .order = (enum task_order)(i % 3),
                                      .limit = 1 + (int)rand_below(&seeded.rand, (unsigned)limit),
                                      .any = ONE_IN(4),
                                      .closed = ONE_IN(3) };

        if (ONE_IN(3))
            filter.status = str_from(task_statuses[rand_below(&seeded.rand, 7)]);
        if (ONE_IN(3))
            filter.category_id = str_from(categories[1 + rand_below(&seeded.rand, 3)]);
        if (ONE_IN(3))
            filter.label_id = STR("l");
        if (ONE_IN(4))
            filter.due_from = str_from(days[1 + rand_below(&seeded.rand, 5)]);
        if (ONE_IN(4))
            filter.due_to = str_from(days[1 + rand_below(&seeded.rand, 5)]);
        if (ONE_IN(3))
            filter.text = ONE_IN(2) ? STR("fence") : STR("GRÖSS");
        if (ONE_IN(3))
            filter.scope = &scopes[rand_below(&seeded.rand, 3)];
        check_filter(rig, model, count, filter);
    }
}

DB_TEST(pages_are_what_filtering_and_sorting_gives, .timeout_s = 120)
{
    AUTO_RIG rig;
    struct model_task *model = ARENA_NEW_N(&t->arena, struct model_task, MODEL_TASKS);
    size_t count;

    rig_open(&rig, t);
    count = fill_model(&rig, model, 7);
    check_filters(&rig, model, count, db_test_is_postgres(t) ? 60 : 240, 40);
}

static void add_many(struct rig *rig, int n)
{
    struct test *t = rig->t;
    AUTO(stmt) q = NULL;

    ASSERT_OK(domain_begin(rig->domain, &t->err));
    ASSERT_OK(db_prepare(domain_db(rig->domain),
                         SQL("INSERT INTO tasks (id, title, due, created_at, updated_at,"
                             " vector_clock, host_n, counter)"
                             " WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c"
                             " WHERE x < ?) SELECT 'many' || x, 'Task ' || x, '2026-02-18', x, x,"
                             " '{}', 1, 1000 + x FROM c"),
                         &q, &t->err));
    stmt_bind_i64(q, n);
    ASSERT_OK(stmt_run(q, &t->err));
    ASSERT_OK(domain_commit(rig->domain, &t->err));
}

/* Those that were added at once: BLOCKED, of one category, with the label. */
static void make_dense(struct rig *rig)
{
    struct test *t = rig->t;

    ASSERT_OK(domain_begin(rig->domain, &t->err));
    ASSERT_OK(db_exec(domain_db(rig->domain),
                      SQL("UPDATE tasks SET category_id = 'home', status = 'BLOCKED'"
                          " WHERE id LIKE 'many%'"),
                      &t->err));
    ASSERT_OK(db_exec(domain_db(rig->domain),
                      SQL("INSERT INTO task_labels (task_id, label_id, vector_clock, host_n,"
                          " counter) SELECT id, 'l', '{}', 1, counter FROM tasks"
                          " WHERE id LIKE 'many%'"),
                      &t->err));
    ASSERT_OK(domain_commit(rig->domain, &t->err));
}

DB_TEST(pages_are_the_same_where_a_filter_holds_for_many, .timeout_s = 120)
{
    AUTO_RIG rig;
    struct model_task *model = ARENA_NEW_N(&t->arena, struct model_task, MODEL_TASKS + MORE_TASKS);
    size_t count;

    rig_open(&rig, t);
    count = fill_model(&rig, model, 8);
    add_many(&rig, MORE_TASKS);
    make_dense(&rig);
    for (int i = 1; i <= MORE_TASKS; i++)
        model_read(&rig, arena_printf(&t->arena, "many%d", i), &model[count++]);
    check_filters(&rig, model, count, db_test_is_postgres(t) ? 20 : 60, 400);
}

/* Against folding the whole title and looking for the text in that. */
TEST(a_text_is_found_where_folding_finds_it)
{
    static const char *const pieces[] = {
        "f", "F",        "e",        "E",        "n",  "ence",      "FENCE",
        " ", "1",        "[",        "{",        "@",  "`",         "Z",
        "z", "\xc3\xa9", "\xc3\x89", "\xc3\x9f", "ss", "e\xcc\x81", "\xe2\x84\xaa",
        "k", "K"
    };
    struct rand_fake seeded;
    int found = 0, rounds = 20000;

    rand_fake_init(&seeded, 3);
    for (int i = 0; i < rounds; i++) {
        struct task_filter filter = { .limit = 0 };
        struct task_wanted wanted = { .filter = &filter };
        AUTO_BUF title = BUF_INIT(200);
        AUTO_BUF text = BUF_INIT(200);
        AUTO_BUF folded = BUF_INIT(1000);
        AUTO_BUF folded_text = BUF_INIT(1000);
        bool expected;

        for (uint64_t n = rand_below(&seeded.rand, 12); n > 0; n--)
            buf_add_text(&title, pieces[rand_below(&seeded.rand, ARRAY_LEN(pieces))]);
        for (uint64_t n = 1 + rand_below(&seeded.rand, 2); n > 0; n--)
            buf_add_text(&text, pieces[rand_below(&seeded.rand, ARRAY_LEN(pieces))]);
        ASSERT_EQ(path_fold(buf_str(&title), &folded), 0);
        ASSERT_EQ(path_fold(buf_str(&text), &folded_text), 0);
        wanted.folded = buf_str(&folded_text);
        expected = str_find(buf_str(&folded), wanted.folded) >= 0;
        found += expected;
        if (task_title_wanted(&wanted, buf_str(&title)) != expected)
            FAIL("\"%s\" in \"%s\"", buf_text(&text), buf_text(&title));
    }
    ASSERT(found > rounds / 20 && found < rounds / 2);
}

DB_TEST(filters_that_make_no_sense_are_refused)
{
    AUTO_RIG rig;
    static const struct {
        struct task_filter filter;
        const char *message;
    } cases[] = {
        { { .status = { "done", 4 } }, "/status: \"done\" is not one of OPEN" },
        { { .due_from = { "today", 5 } }, "/dueFrom: is not a day" },
        { { .due_to = { "2026-02-30", 10 } }, "/dueTo: is not a day" },
        { { .after = { "x", 1 } }, "/after: \"x\" is no cursor of this list" },
        { { .after = { "p~2026-02-18~1~1~1", 18 } }, "is no cursor of this list" },
        { { .after = { "d~2026-02-18~1~1~1~9", 20 } }, "is no cursor of this list" },
        { { .after = { "d~2026-02-18~1~1~x", 18 } }, "is no cursor of this list" },
        { { .after = { "d~2026-02-18T16:00:00~1~1~1", 27 } }, "is no cursor of this list" },
        { { .after = { "d~2026-\xff~1~1~1", 13 } }, "is no cursor of this list" },
        { { .after = { "d~2026-02-18~1~1~", 17 } }, "is no cursor of this list" },
    };
    struct task_page page;
    char text[300];

    rig_open(&rig, t);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        t->err = ERR_INIT;
        ASSERT_FAILS(task_list(rig.journal, &cases[i].filter, &t->arena, &page, &t->err),
                     ERR_BAD_REQUEST);
        ASSERT_CONTAINS(err_message(&t->err, 0), cases[i].message);
    }
    memset(text, 'x', sizeof(text));
    ASSERT_FAILS(task_list(rig.journal, &(struct task_filter){ .text = str_of(text, sizeof(text)) },
                           &t->arena, &page, &t->err),
                 ERR_BAD_REQUEST);
}

DB_TEST(a_text_that_is_nowhere_is_looked_for_in_bounded_steps)
{
    AUTO_RIG rig;
    struct task_filter filter = { .text = STR("task 24999"), .limit = 10 };
    struct task_page page;
    int pages = 0;

    rig_open(&rig, t);
    add_many(&rig, 25000);
    ASSERT_OK(task_list(rig.journal, &filter, &t->arena, &page, &t->err));
    ASSERT_EQ(page.count, 0);
    ASSERT(page.next.n > 0);
    do {
        filter.after = page.next;
        ASSERT_OK(task_list(rig.journal, &filter, &t->arena, &page, &t->err));
        pages++;
    } while (page.next.n > 0 && page.count == 0);
    ASSERT_EQ(page.count, 1);
    ASSERT_EQ(pages, 1);
    ASSERT_STR(record_str(&page.tasks[0], "title"), "Task 24999");
}

/* ---- plans of the engine ---- */

#define SEEN_MAX 200
static char *seen_sql[SEEN_MAX];
static size_t seen_count;

static int note_statement(unsigned what, void *arg, void *stmt, void *text)
{
    const char *sql = sqlite3_sql(stmt);

    (void)what, (void)arg, (void)text;
    for (size_t i = 0; i < seen_count; i++) {
        if (strcmp(seen_sql[i], sql) == 0)
            return 0;
    }
    if (seen_count < SEEN_MAX && strncmp(sql, "SELECT", 6) == 0)
        seen_sql[seen_count++] = strdup(sql);
    return 0;
}

static int watch_connection(sqlite3 *db, char **message, const void *api)
{
    (void)message, (void)api;
    sqlite3_trace_v2(db, SQLITE_TRACE_STMT, note_statement, NULL);
    return SQLITE_OK;
}

/* Every list there is, in all its forms. */
static void run_all_lists(struct rig *rig)
{
    struct test *t = rig->t;
    struct str category = STR("home");
    struct journal_scope scope = { .categories = &category, .n = 1 };
    struct record *records;
    struct task_page page;
    struct task_match match;
    struct record **labels;
    size_t n, *counts;
    int64_t *ms;
    bool more;

    for (int i = 0; i < 3 * 2 * 2 * 2; i++) {
        struct task_filter filter = { .order = (enum task_order)(i % 3),
                                      .status = i / 3 % 2 ? STR("BLOCKED") : STR(""),
                                      .category_id = i / 6 % 2 ? STR("home") : STR(""),
                                      .label_id = i / 12 % 2 ? STR("l") : STR("") };

        ASSERT_OK(task_list(rig->journal, &filter, &t->arena, &page, &t->err));
    }
    for (int type = RECORD_NONE + 1; type < RECORD_TYPES_END; type++) {
        for (int i = 0; i < 6; i++) {
            struct record_filter filter = { .type = (enum record_type)type,
                                            .newest_first = i % 2,
                                            .parent = i / 2 == 1 ? STR("t1") : STR(""),
                                            .target_id = i / 2 == 2 ? STR("t1") : STR(""),
                                            .kind = i / 2 == 2 ? STR("note") : STR("") };

            ASSERT_OK(record_list(rig->journal, &filter, &t->arena, &records, &n, &more, &t->err));
        }
    }
    ASSERT_OK(task_resolve(rig->journal, &journal_all, STR("x"), 5, &t->arena, &match, &t->err));
    ASSERT_OK(task_resolve(rig->journal, &scope, STR("x"), 5, &t->arena, &match, &t->err));
    ASSERT_OK(
        task_labels_of(rig->journal, page.tasks, page.count, &t->arena, &labels, &counts, &t->err));
    ASSERT_OK(task_time_of(rig->journal, page.tasks, page.count, NOW, &t->arena, &ms, &t->err));
    ASSERT_OK(timer_running(rig->journal, &t->arena, records, &t->err));
}

/* Tables are never read through, and what an index orders is not sorted again. */
static void check_plan(struct test *t, sqlite3 *db, const char *sql)
{
    /* Sets of labels are small and sorted by name; the links of a record come by two indexes. */
    bool sorts = strstr(sql, "FROM task_labels x") || strstr(sql, "to_id = ?") ||
                 strstr(sql, "target_id = ?") ||
                 strstr(sql, "day_plan_blocks WHERE deleted_at IS "
                             "NULL AND task_id");
    sqlite3_stmt *q;
    char *explain = arena_printf(&t->arena, "EXPLAIN QUERY PLAN %s", sql);

    ASSERT_EQ(sqlite3_prepare_v2(db, explain, -1, &q, NULL), SQLITE_OK);
    while (sqlite3_step(q) == SQLITE_ROW) {
        const char *step = (const char *)sqlite3_column_text(q, 3);

        if (strncmp(step, "SCAN", 4) == 0 && !strstr(step, "USING") && !strstr(step, "few") &&
            !strstr(step, "subquery"))
            FAIL("%s\n  reads a table through: %s", sql, step);
        if (strstr(step, "TEMP B-TREE") && !sorts)
            FAIL("%s\n  sorts: %s", sql, step);
    }
    sqlite3_finalize(q);
}

TEST(every_list_goes_by_an_index)
{
    static const struct db_test_engine engine = { "sqlite", false };
    AUTO_RIG rig;
    sqlite3 *db;
    size_t lists = 0;

    t->param = &engine;
    sqlite3_auto_extension((void (*)(void))watch_connection);
    rig_open(&rig, t);
    rig_add_as(&rig, RECORD_CATEGORY, "home", "{'name':'Home'}");
    rig_add_as(&rig, RECORD_LABEL, "l", "{'name':'urgent'}");
    rig_add_as(&rig, RECORD_TASK, "t1", "{'title':'x'}");
    add_many(&rig, MORE_TASKS);
    make_dense(&rig);
    while (seen_count > 0)
        free(seen_sql[--seen_count]);
    run_all_lists(&rig);
    ASSERT_EQ(sqlite3_open(test_path(t, "journal.sqlite"), &db), SQLITE_OK);
    for (size_t i = 0; i < seen_count; i++, lists++)
        check_plan(t, db, seen_sql[i]);
    ASSERT(lists > 40);
    sqlite3_close(db);
    sqlite3_cancel_auto_extension((void (*)(void))watch_connection);
    while (seen_count > 0)
        free(seen_sql[--seen_count]);
}
