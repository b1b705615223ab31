/* Lists of any type, what agents see of them, time and ratings. SPDX-License-Identifier: MIT */
#include "journal/list.h"
#include "journal/moves.h"
#include "rig.h"

/* Ids of a list, joined by commas, over all its pages. */
static const char *ids_of(struct rig *rig, struct record_filter filter)
{
    struct test *t = rig->t;
    AUTO_BUF out = BUF_INIT(100000);
    struct record *records;
    bool more = true;
    size_t n;

    while (more) {
        ASSERT_OK(record_list(rig->journal, &filter, &t->arena, &records, &n, &more, &t->err));
        ASSERT(filter.limit == 0 || n <= (size_t)filter.limit);
        ASSERT(n > 0 || !more);
        for (size_t i = 0; i < n; i++)
            buf_printf(&out, "%s%.*s", out.n ? "," : "", STR_ARG(records[i].id));
        if (n > 0)
            filter.after = records[n - 1].n;
    }
    return arena_text(&t->arena, buf_text(&out));
}

static void fill(struct rig *rig)
{
    rig_add_as(rig, RECORD_CATEGORY, "gym", "{'name':'Sport'}");
    rig_add_as(rig, RECORD_CATEGORY, "home", "{'name':'garden'}");
}

DB_TEST(names_are_listed_in_their_order_and_times_in_theirs)
{
    AUTO_RIG rig;

    rig_open(&rig, t);
    rig_add_as(&rig, RECORD_LABEL, "b", "{'name':'beta'}");
    rig_add_as(&rig, RECORD_LABEL, "c", "{'name':'Gamma'}");
    rig_add_as(&rig, RECORD_LABEL, "a", "{'name':'ALPHA'}");
    rig_add_as(&rig, RECORD_LABEL, "u", "{'name':'über'}");
    for (int limit = 1; limit <= 5; limit++) {
        struct record_filter filter = { .type = RECORD_LABEL, .limit = limit };

        ASSERT_TEXT(ids_of(&rig, filter), "a,b,c,u");
        filter.newest_first = true;
        ASSERT_TEXT(ids_of(&rig, filter), "u,c,b,a");
    }
    rig_add_as(&rig, RECORD_ENTRY, "n2", "{'kind':'note','at':'2026-02-18T08:00:00Z'}");
    rig_add_as(&rig, RECORD_ENTRY, "w1", "{'kind':'workout','at':'2026-02-18T07:00:00Z'}");
    rig_add_as(&rig, RECORD_ENTRY, "n3", "{'kind':'note','at':'2026-02-19T08:00:00Z'}");
    rig_add_as(&rig, RECORD_ENTRY, "n1", "{'kind':'note','at':'2026-02-18T08:00:00Z'}");
    for (int limit = 1; limit <= 5; limit++) {
        struct record_filter filter = { .type = RECORD_ENTRY, .limit = limit };

        ASSERT_TEXT(ids_of(&rig, filter), "w1,n2,n1,n3");
        filter.newest_first = true;
        ASSERT_TEXT(ids_of(&rig, filter), "n3,n1,n2,w1");
        filter.kind = STR("note");
        ASSERT_TEXT(ids_of(&rig, filter), "n3,n1,n2");
        filter.to = NOW;
        ASSERT_TEXT(ids_of(&rig, filter), "n1,n2");
        filter.from = NOW - HOURS(1) + 1;
        ASSERT_TEXT(ids_of(&rig, filter), "");
    }
}

DB_TEST(parts_are_listed_by_what_they_belong_to)
{
    AUTO_RIG rig;
    struct record_filter items = { .type = RECORD_CHECKLIST_ITEM, .parent = STR("c") };
    struct record_filter lists = { .type = RECORD_CHECKLIST, .parent = STR("t") };
    struct record_filter time = { .type = RECORD_TIME_ENTRY, .target_id = STR("t") };
    struct record_filter links = { .type = RECORD_ENTRY_LINK, .target_id = STR("t") };

    rig_open(&rig, t);
    rig_add_as(&rig, RECORD_TASK, "t", "{'title':'x'}");
    rig_add_as(&rig, RECORD_CHECKLIST, "d", "{'title':'x','taskId':'t','position':5}");
    rig_add_as(&rig, RECORD_CHECKLIST, "c", "{'title':'x','taskId':'t','position':1}");
    rig_add_as(&rig, RECORD_CHECKLIST, "e", "{'title':'x'}");
    rig_add_as(&rig, RECORD_CHECKLIST_ITEM, "i1", "{'title':'x','checklistId':'c','position':2}");
    rig_add_as(&rig, RECORD_CHECKLIST_ITEM, "i2", "{'title':'x','checklistId':'c','position':2}");
    rig_add_as(&rig, RECORD_CHECKLIST_ITEM, "i3", "{'title':'x','checklistId':'c','position':0}");
    rig_add_as(&rig, RECORD_CHECKLIST_ITEM, "i4", "{'title':'x','checklistId':'d'}");
    rig_add_as(
        &rig, RECORD_TIME_ENTRY, "x1",
        "{'taskId':'t','startedAt':'2026-02-18T08:00:00Z','endedAt':'2026-02-18T08:30:00Z'}");
    rig_add_as(&rig, RECORD_TIME_ENTRY, "x2",
               "{'startedAt':'2026-02-18T08:00:00Z','endedAt':'2026-02-18T08:30:00Z'}");
    ASSERT_TEXT(ids_of(&rig, items), "i3,i1,i2");
    items.limit = 1;
    ASSERT_TEXT(ids_of(&rig, items), "i3,i1,i2");
    items.parent = STR("");
    ASSERT_TEXT(ids_of(&rig, items), "i1,i2,i3,i4");
    ASSERT_TEXT(ids_of(&rig, lists), "c,d");
    ASSERT_TEXT(ids_of(&rig, time), "x1");
    time.parent = STR("other");
    ASSERT_TEXT(ids_of(&rig, time), "");
    ASSERT_TEXT(ids_of(&rig, links), "");
}

DB_TEST(plans_are_listed_by_their_days)
{
    AUTO_RIG rig;
    struct record_filter filter = { .type = RECORD_DAY_PLAN };

    rig_open(&rig, t);
    rig_add(&rig, RECORD_DAY_PLAN, "{'planDate':'2026-02-19'}");
    rig_add(&rig, RECORD_DAY_PLAN, "{'planDate':'2026-02-17'}");
    rig_add(&rig, RECORD_DAY_PLAN, "{'planDate':'2026-02-18'}");
    ASSERT_TEXT(ids_of(&rig, filter), "dayplan-2026-02-17,dayplan-2026-02-18,dayplan-2026-02-19");
    filter.newest_first = true;
    filter.limit = 1;
    ASSERT_TEXT(ids_of(&rig, filter), "dayplan-2026-02-19,dayplan-2026-02-18,dayplan-2026-02-17");
    ASSERT_OK(journal_day_span(rig.journal, STR("2026-02-18"), &filter.from, &filter.to, &t->err));
    ASSERT_TEXT(ids_of(&rig, filter), "dayplan-2026-02-18");
}

DB_TEST(a_scope_shows_what_counts_for_its_categories_now)
{
    AUTO_RIG rig;
    struct str gym = STR("gym");
    struct journal_scope scope = { .categories = &gym, .n = 1 }, nothing = { .n = 0 };
    struct record_filter time = { .type = RECORD_TIME_ENTRY, .scope = &scope },
                         ratings = { .type = RECORD_RATING, .scope = &scope, .limit = 1 },
                         links = { .type = RECORD_ENTRY_LINK, .scope = &scope },
                         plans = { .type = RECORD_DAY_PLAN, .scope = &scope },
                         items = { .type = RECORD_CHECKLIST_ITEM, .scope = &scope };
    struct str first, link;

    rig_open(&rig, t);
    fill(&rig);
    rig_add_as(&rig, RECORD_TASK, "g", "{'title':'x','categoryId':'gym'}");
    rig_add_as(&rig, RECORD_TASK, "h", "{'title':'x','categoryId':'home'}");
    rig_add_as(
        &rig, RECORD_TIME_ENTRY, "xg",
        "{'taskId':'g','startedAt':'2026-02-18T08:00:00Z','endedAt':'2026-02-18T08:30:00Z'}");
    rig_add_as(&rig, RECORD_TIME_ENTRY, "xh",
               "{'taskId':'h','categoryId':'gym','startedAt':'2026-02-18T08:00:00Z',"
               "'endedAt':'2026-02-18T08:30:00Z'}");
    rig_add_as(&rig, RECORD_CHECKLIST, "c", "{'title':'x','taskId':'g'}");
    rig_add_as(&rig, RECORD_CHECKLIST_ITEM, "i", "{'title':'x','checklistId':'c'}");
    rig_add(&rig, RECORD_DAY_PLAN, "{'planDate':'2026-02-18'}");
    first = rig_add(&rig, RECORD_RATING,
                    "{'targetType':'task','targetId':'g','dimension':'mood','value':4}");
    rig_add(&rig, RECORD_RATING,
            "{'targetType':'task','targetId':'h','dimension':'mood','value':2}");
    link = rig_add(&rig, RECORD_ENTRY_LINK,
                   "{'relation':'related','fromType':'task','fromId':'g','toType':'task',"
                   "'toId':'h'}");
    ASSERT_TEXT(ids_of(&rig, time), "xg");
    ASSERT_TEXT(ids_of(&rig, items), "i");
    ASSERT_TEXT(ids_of(&rig, plans), "");
    ASSERT_TEXT(ids_of(&rig, ratings), arena_copy(&t->arena, first.p, first.n));
    ASSERT_TEXT(ids_of(&rig, links), ""); /* its other end lies outside */
    ASSERT_EQ(rig_set(&rig, RECORD_TASK, STR("h"), "{'categoryId':'gym'}"), 1);
    ASSERT_TEXT(ids_of(&rig, time), "xg,xh");
    ASSERT_TEXT(ids_of(&rig, links), arena_copy(&t->arena, link.p, link.n));
    time.scope = &nothing;
    ASSERT_TEXT(ids_of(&rig, time), "");
    time.scope = NULL;
    ASSERT_TEXT(ids_of(&rig, time), "xg,xh");
}

/* Each statement fails in turn: an agent sees what its scope holds or an error, never less or more.
 */
DB_TEST(what_a_scope_can_not_judge_is_an_error)
{
    static const enum record_type types[] = { RECORD_TASK,           RECORD_TIME_ENTRY,
                                              RECORD_CHECKLIST_ITEM, RECORD_RATING,
                                              RECORD_ENTRY_LINK,     RECORD_DAY_PLAN_BLOCK };
    AUTO_RIG rig;
    struct str gym = STR("gym");
    struct journal_scope scope = { .categories = &gym, .n = 1 };

    rig_open(&rig, t);
    fill(&rig);
    rig_add_as(&rig, RECORD_TASK, "g", "{'title':'x','categoryId':'gym'}");
    rig_add_as(&rig, RECORD_TASK, "h", "{'title':'x','categoryId':'home'}");
    rig_add_as(&rig, RECORD_TIME_ENTRY, "xg", "{'taskId':'g','startedAt':'2026-02-18T08:00:00Z'}");
    rig_add_as(&rig, RECORD_CHECKLIST, "c", "{'title':'x','taskId':'g'}");
    rig_add_as(&rig, RECORD_CHECKLIST_ITEM, "i", "{'title':'x','checklistId':'c'}");
    rig_add(&rig, RECORD_RATING,
            "{'targetType':'task','targetId':'g','dimension':'mood','value':4}");
    rig_add(&rig, RECORD_ENTRY_LINK,
            "{'relation':'related','fromType':'task','fromId':'g','toType':'task','toId':'g'}");
    for (size_t i = 0; i < ARRAY_LEN(types); i++) {
        struct record_filter filter = { .type = types[i], .scope = &scope };
        const char *whole = ids_of(&rig, filter);
        unsigned failed = 0;

        for (unsigned nth = 1;; nth++) {
            struct record *records;
            size_t n;
            bool more;
            int r;

            err_reset(&t->err);
            rig.fault = (struct db_fault){ .at = DB_FAULT_STEP, .kind = DB_FAULT_BUSY, .nth = nth };
            r = record_list(rig.journal, &filter, &t->arena, &records, &n, &more, &t->err);
            failed = rig.fault.fired;
            rig.fault = (struct db_fault){ .at = DB_FAULT_NEVER };
            if (!failed)
                break;
            ASSERT_EQ(r, -1);
        }
        ASSERT_TEXT(ids_of(&rig, filter), whole);
    }
}

TEST(a_scope_without_categories_holds_nothing)
{
    struct str gym = STR("gym"), none = STR("");
    struct journal_scope scope = { .categories = &gym, .n = 1 };
    struct journal_scope hollow = { .categories = &none, .n = 1 }, nothing = { .n = 0 };

    ASSERT(journal_in_scope(&scope, STR("gym")));
    ASSERT(!journal_in_scope(&scope, STR("gymnasium")));
    ASSERT(!journal_in_scope(&scope, STR("")));
    ASSERT(!journal_in_scope(&hollow, STR(""))); /* no category is no key */
    ASSERT(!journal_in_scope(&nothing, STR("gym")));
    ASSERT(journal_in_scope(&journal_all, STR("")));
    ASSERT(journal_in_scope(NULL, STR("")));
}

DB_TEST(time_of_tasks_is_added_up_and_goes_on)
{
    AUTO_RIG rig;
    struct record tasks[30], entry;
    int64_t *ms;

    rig_open(&rig, t);
    for (int i = 0; i < 30; i++) {
        char *id = arena_printf(&t->arena, "t%d", i);

        rig_add_as(&rig, RECORD_TASK, id, "{'title':'x'}");
        tasks[i] = rig_get(&rig, RECORD_TASK, str_from(id));
    }
    rig_add(&rig, RECORD_TIME_ENTRY,
            "{'taskId':'t3','startedAt':'2026-02-18T08:00:00Z','endedAt':'2026-02-18T08:30:00Z'}");
    rig_add(&rig, RECORD_TIME_ENTRY,
            "{'taskId':'t3','startedAt':'2026-02-17T08:00:00Z','endedAt':'2026-02-17T08:10:00Z'}");
    ASSERT_OK(timer_start(rig_begin(&rig), STR("t25"), STR(""), &entry, &t->err));
    rig_end(&rig);
    ASSERT_OK(task_time_of(rig.journal, tasks, 30, NOW + MINUTES(7), &t->arena, &ms, &t->err));
    ASSERT_EQ(ms[3], MINUTES(40));
    ASSERT_EQ(ms[25], MINUTES(7));
    ASSERT_EQ(ms[0], 0);
    ASSERT_OK(task_time_of(rig.journal, tasks, 0, NOW, &t->arena, &ms, &t->err));
}

DB_TEST(labels_of_many_tasks_come_set_by_set)
{
    AUTO_RIG rig;
    struct record tasks[45], **labels;
    struct str names[2] = { STR("zulu"), STR("alpha") };
    size_t *counts;

    rig_open(&rig, t);
    for (int i = 0; i < 45; i++) {
        char *id = arena_printf(&t->arena, "t%d", i);

        rig_add_as(&rig, RECORD_TASK, id, "{'title':'x'}");
        tasks[i] = rig_get(&rig, RECORD_TASK, str_from(id));
        ASSERT_OK(
            task_set_labels(rig_begin(&rig), str_from(id), names, (size_t)(i % 3), true, &t->err));
        rig_end(&rig);
    }
    ASSERT_OK(task_labels_of(rig.journal, tasks, 45, &t->arena, &labels, &counts, &t->err));
    for (int i = 0; i < 45; i++)
        ASSERT_EQ(counts[i], i % 3);
    ASSERT_STR(record_str(&labels[44][0], "name"), "alpha");
    ASSERT_STR(record_str(&labels[44][1], "name"), "zulu");
}

DB_TEST(ratings_are_summed_up_by_dimension)
{
    AUTO_RIG rig;
    struct str gym = STR("gym");
    struct journal_scope scope = { .categories = &gym, .n = 1 };
    struct rating_summary *sums;
    size_t n;

    rig_open(&rig, t);
    fill(&rig);
    for (int i = 0; i < 5; i++) {
        char *id = arena_printf(&t->arena, "t%d", i);

        rig_add_as(&rig, RECORD_TASK, id,
                   i < 2 ? "{'title':'x','categoryId':'gym'}" : "{'title':'x'}");
        rig_add(&rig, RECORD_RATING,
                arena_printf(&t->arena,
                             "{'targetType':'task','targetId':'%s','dimension':'mood','value':%d,"
                             "'ratedAt':'2026-02-1%dT00:00:00Z'}",
                             id, i + 1, i));
    }
    rig_add(&rig, RECORD_RATING,
            "{'targetType':'task','targetId':'t0','dimension':'focus','value':3}");
    ASSERT_OK(rating_summaries(rig.journal, NULL, 0, 0, &t->arena, &sums, &n, &t->err));
    ASSERT_EQ(n, 2);
    ASSERT_STR(sums[0].dimension, "focus");
    ASSERT_STR(sums[1].dimension, "mood");
    ASSERT_EQ(sums[1].count, 5);
    ASSERT(sums[1].mean == 3);
    ASSERT_EQ(sums[1].lowest, 1);
    ASSERT_EQ(sums[1].highest, 5);
    ASSERT_OK(rating_summaries(rig.journal, &scope, 0, 0, &t->arena, &sums, &n, &t->err));
    ASSERT(sums[1].mean == 1.5);
    ASSERT_OK(rating_summaries(rig.journal, NULL, NOW, 0, &t->arena, &sums, &n, &t->err));
    ASSERT_EQ(n, 1);
}

DB_TEST(ids_and_kinds_that_can_not_be_find_nothing)
{
    AUTO_RIG rig;
    struct str odd[] = { STR("a\0b"), STR("\xff"), STR("../x"), STR("a b") };
    struct task_page page;
    struct record found;

    rig_open(&rig, t);
    rig_add_as(&rig, RECORD_ENTRY, "e", "{'kind':'note'}");
    rig_add_as(&rig, RECORD_TASK, "t", "{'title':'x'}");
    for (size_t i = 0; i < ARRAY_LEN(odd); i++) {
        struct journal_scope scope = { .categories = &odd[i], .n = 1 };

        ASSERT_TEXT(
            ids_of(&rig, (struct record_filter){ .type = RECORD_CHECKLIST, .parent = odd[i] }), "");
        ASSERT_TEXT(
            ids_of(&rig, (struct record_filter){ .type = RECORD_RATING, .target_id = odd[i] }), "");
        ASSERT_TEXT(ids_of(&rig, (struct record_filter){ .type = RECORD_ENTRY, .kind = odd[i] }),
                    "");
        ASSERT_OK(task_list(rig.journal, &(struct task_filter){ .category_id = odd[i] }, &t->arena,
                            &page, &t->err));
        ASSERT_EQ(page.count, 0);
        ASSERT_OK(task_list(rig.journal, &(struct task_filter){ .label_id = odd[i] }, &t->arena,
                            &page, &t->err));
        ASSERT_EQ(page.count, 0);
        ASSERT_OK(task_list(rig.journal, &(struct task_filter){ .scope = &scope }, &t->arena, &page,
                            &t->err));
        ASSERT_EQ(page.count, 0);
        ASSERT_EQ(journal_get(rig.journal, RECORD_TASK, odd[i], &t->arena, &found, &t->err), 0);
        ASSERT_EQ(journal_find_name(rig.journal, RECORD_LABEL, odd[i], &t->arena, &found, &t->err),
                  0);
    }
}

DB_TEST(a_category_that_a_scope_names_twice_is_listed_once)
{
    AUTO_RIG rig;
    struct str twice[] = { STR("gym"), STR("home"), STR("gym") };
    struct journal_scope scope = { .categories = twice, .n = 3 };
    struct task_filter filter = { .scope = &scope };
    struct task_match match;
    struct task_page page;

    rig_open(&rig, t);
    fill(&rig);
    rig_add_as(&rig, RECORD_TASK, "t", "{'title':'Lift weights','categoryId':'gym'}");
    ASSERT_OK(task_list(rig.journal, &filter, &t->arena, &page, &t->err));
    ASSERT_EQ(page.count, 1);
    ASSERT_OK(
        task_resolve(rig.journal, &scope, STR("lift weights"), 0, &t->arena, &match, &t->err));
    ASSERT_EQ(match.count, 1);
    filter.category_id = STR("nowhere");
    ASSERT_OK(task_list(rig.journal, &filter, &t->arena, &page, &t->err));
    ASSERT_EQ(page.count, 0);
}

/* The indexes hold the title: the longest there is must fit on either engine. */
DB_TEST(the_longest_title_category_and_id_are_kept)
{
    AUTO_RIG rig;
    AUTO_BUF title = BUF_INIT(4000);
    char id[RECORD_ID_MAX + 1] = { 0 };
    struct record task;
    struct task_page page;

    rig_open(&rig, t);
    memset(id, 'i', RECORD_ID_MAX);
    for (int i = 0; i < 500; i++) /* 500 different ones: nothing to compress */
        buf_printf(&title, "\xf0\x9f%c%c", 0x90 + i / 64 % 32, 0x80 + i % 64);
    rig_add_as(&rig, RECORD_CATEGORY, id, "{'name':'x'}");
    rig_add_as(&rig, RECORD_TASK, id,
               arena_printf(&t->arena, "{'title':'%s','categoryId':'%s','due':'2026-02-18T10:00'}",
                            buf_text(&title), id));
    task = rig_get(&rig, RECORD_TASK, str_from(id));
    ASSERT_STR(record_str(&task, "title"), buf_text(&title));
    ASSERT_OK(task_list(rig.journal, &(struct task_filter){ .category_id = str_from(id) },
                        &t->arena, &page, &t->err));
    ASSERT_EQ(page.count, 1);
    ASSERT_STR(record_str(&page.tasks[0], "title"), buf_text(&title));
}
