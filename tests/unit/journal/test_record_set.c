/* Many records at once give what one after the other gives, on both engines.
 *
 * SPDX-License-Identifier: MIT
 */
#include "rig.h"

static const enum record_type kinds[] = {
    RECORD_CATEGORY,   RECORD_TASK,  RECORD_CHECKLIST, RECORD_CHECKLIST_ITEM,
    RECORD_TIME_ENTRY, RECORD_ENTRY, RECORD_RATING,    RECORD_ENTRY_LINK,
};
#define EACH 25 /* of each: more than are asked for at once */

/* Records of eight types that hang together, some without a category, some deleted. */
static void fill(struct rig *rig, struct str ids[ARRAY_LEN(kinds)][EACH])
{
    struct arena *arena = &rig->t->arena;
    struct test *t = rig->t;

#define ID(k, i)  (ids[k][i] = str_from(arena_printf(arena, "%c%d", "ctlien"[k], i))).p
#define TEXT(...) arena_printf(arena, __VA_ARGS__)
    for (int i = 0; i < EACH; i++) {
        rig_add_as(rig, RECORD_CATEGORY, ID(0, i), TEXT("{'name':'C%d'}", i));
        rig_add_as(rig, RECORD_TASK, ID(1, i),
                   i % 4 ? TEXT("{'title':'T','categoryId':'c%d'}", i) : "{'title':'T'}");
        rig_add_as(rig, RECORD_CHECKLIST, ID(2, i), TEXT("{'title':'L','taskId':'t%d'}", i));
        rig_add_as(rig, RECORD_CHECKLIST_ITEM, ID(3, i),
                   TEXT("{'title':'I','checklistId':'l%d'}", i));
        rig_add_as(rig, RECORD_TIME_ENTRY, ID(4, i),
                   TEXT("{'taskId':'t%d','startedAt':'2026-02-18T%02d:00:00Z',"
                        "'endedAt':'2026-02-18T%02d:30:00Z'}",
                        i / 2, i % 8, i % 8));
        rig_add_as(rig, RECORD_ENTRY, ID(5, i),
                   i % 3 ? TEXT("{'kind':'note','title':'N','categoryId':'c%d'}", i)
                         : "{'kind':'note','title':'N'}");
        ids[6][i] = rig_add(rig, RECORD_RATING,
                            TEXT("{'targetType':'%s','targetId':'%c%d','dimension':'mood',"
                                 "'value':3}",
                                 i % 2 ? "task" : "entry", i % 2 ? 't' : 'n', i));
        ids[7][i] = rig_add(rig, RECORD_ENTRY_LINK,
                            TEXT("{'fromType':'entry','fromId':'n%d','toType':'task','toId':'t%d',"
                                 "'relation':'about'}",
                                 i, i * 7 % (i + 1)));
    }
#undef TEXT
#undef ID
    rig_begin(rig);
    ASSERT_OK(journal_remove(rig->write, RECORD_TASK, STR("t3"), &t->err));
    ASSERT_OK(journal_remove(rig->write, RECORD_ENTRY, STR("n4"), &t->err));
    rig_end(rig);
}

static bool same(const struct record *a, const struct record *b)
{
    size_t n;

    if (a->type != b->type || a->n != b->n || !str_eq(a->id, b->id) ||
        a->deleted_at != b->deleted_at || a->counter != b->counter)
        return false;
    record_fields(a->type, &n);
    for (size_t i = 0; i < n; i++)
        if (a->v[i].set != b->v[i].set || a->v[i].i != b->v[i].i || !str_eq(a->v[i].s, b->v[i].s))
            return false;
    return true;
}

DB_TEST(a_set_of_records_is_what_each_of_them_is)
{
    AUTO_RIG rig;
    struct record_ref refs[3 * ARRAY_LEN(kinds) * EACH];
    struct str ids[ARRAY_LEN(kinds)][EACH], *categories, category;
    struct record *records, one;
    size_t n = 0, count, at = 0;

    rig_open(&rig, t);
    fill(&rig, ids);
    for (int i = 0; i < EACH; i++)
        for (size_t k = 0; k < ARRAY_LEN(kinds); k++) {
            struct str id = ids[k][(i * 11 + (int)k) % EACH];

            refs[n++] = (struct record_ref){ kinds[k], id };
            if (i % 3 == 0) /* again; another type of that id; nothing that could be one */
                refs[n++] = (struct record_ref){ kinds[k], id };
            if (i % 5 == 0)
                refs[n++] = (struct record_ref){ kinds[(k + 1) % ARRAY_LEN(kinds)], id };
            if (i % 7 == 0)
                refs[n++] = (struct record_ref){ kinds[k], k % 2 ? STR("no such id") : STR("") };
        }
    ASSERT_OK(journal_get_all(rig.journal, refs, n, &t->arena, &records, &count, &t->err));
    ASSERT_EQ(count, ARRAY_LEN(kinds) * EACH);
    for (size_t i = 0; i < n && at < count; i++) {
        int r = journal_get_any(rig.journal, refs[i].type, refs[i].id, &t->arena, &one, &t->err);

        ASSERT(r >= 0);
        if (r == 1 && same(&records[at], &one))
            at++;
    }
    ASSERT_EQ(at, count); /* in the order in which they were first named */

    ASSERT_OK(journal_categories_of(rig.journal, records, count, &t->arena, &categories, &t->err));
    for (size_t i = 0; i < count; i++) {
        ASSERT_OK(journal_category_of(rig.journal, &records[i], &t->arena, &category, &t->err));
        if (!str_eq(categories[i], category))
            FAIL("%s %.*s: %.*s, expected %.*s", record_type_name(records[i].type),
                 STR_ARG(records[i].id), STR_ARG(categories[i]), STR_ARG(category));
    }
}

DB_TEST(an_empty_set_has_nothing_and_a_database_that_fails_is_told)
{
    AUTO_RIG rig;
    const struct record_ref task = { RECORD_TASK, STR("t") };
    struct record *records;
    struct str *categories;
    size_t count;

    rig_open(&rig, t);
    rig_add_as(&rig, RECORD_TASK, "t", "{'title':'T'}");
    rig_add_as(&rig, RECORD_CHECKLIST, "l", "{'title':'L','taskId':'t'}");
    ASSERT_OK(journal_get_all(rig.journal, NULL, 0, &t->arena, &records, &count, &t->err));
    ASSERT_EQ(count, 0);
    ASSERT_OK(journal_categories_of(rig.journal, NULL, 0, &t->arena, &categories, &t->err));
    rig.fault = (struct db_fault){ .at = DB_FAULT_STEP, .nth = 1 };
    ASSERT_FAILS(journal_get_all(rig.journal, &task, 1, &t->arena, &records, &count, &t->err),
                 ERR_TIMEOUT);
    err_reset(&t->err);
    ASSERT_OK(journal_get_all(rig.journal, &(struct record_ref){ RECORD_CHECKLIST, STR("l") }, 1,
                              &t->arena, &records, &count, &t->err));
    ASSERT_EQ(count, 1);
    rig.fault = (struct db_fault){ .at = DB_FAULT_STEP, .nth = 1 };
    ASSERT_FAILS(journal_categories_of(rig.journal, records, 1, &t->arena, &categories, &t->err),
                 ERR_TIMEOUT);
}
