/* What must hold of a journal whatever was done to it: every row carries the (host, counter) of its
 * last write, a vector clock that says the same, and stands with just that in one batch.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_TESTS_JOURNAL_PROVENANCE_H
#define DORMOUSE_TESTS_JOURNAL_PROVENANCE_H

#include "base/map.h"
#include "change/vclock.h"
#include "db/db.h"
#include "rig.h"

static const struct sql provenance_clocks[] = {
#define CLOCKS(table)                                                                              \
    {                                                                                              \
        "SELECT counter, vector_clock FROM " table " ORDER BY n"                                   \
    }
    CLOCKS("categories"),   CLOCKS("labels"),     CLOCKS("tasks"),
    CLOCKS("task_labels"),  CLOCKS("checklists"), CLOCKS("checklist_items"),
    CLOCKS("time_entries"), CLOCKS("day_plans"),  CLOCKS("day_plan_blocks"),
    CLOCKS("ratings"),      CLOCKS("entries"),    CLOCKS("attachments"),
    CLOCKS("entry_links"),
#undef CLOCKS
};

/* The last counter that batches give each record; counters only grow, in one batch each. */
static inline void provenance_of_batches(struct rig *rig, struct map *last)
{
    struct test *t = rig->t;
    struct change_row *rows;
    size_t n;
    int64_t before = 0;

    rows = rig_batches(rig, &n);
    for (size_t i = 0; i < n; i++) {
        ASSERT(rows[i].unit_count > 0);
        for (size_t k = 0; k < rows[i].unit_count; k++) {
            const struct change_unit *unit = &rows[i].unit[k];

            ASSERT(unit->counter > before);
            before = unit->counter;
            ASSERT_STR(unit->host_id, change_host_id(rig->change));
            map_put(last,
                    str_from(arena_printf(&t->arena, "%.*s|%.*s", STR_ARG(unit->payload_type),
                                          STR_ARG(unit->payload_id))),
                    (void *)(uintptr_t)unit->counter);
        }
    }
}

/* Rows that break a rule which looks at more than one of them. */
static inline void check_rules(struct rig *rig)
{
#define LIVE(table) "EXISTS (SELECT 1 FROM " table " p WHERE p.deleted_at IS NULL AND p.id = "
    static const struct {
        const char *rule;
        struct sql count;
    } rules[] = {
        { "one timer runs",
          { "SELECT count(*) AS n FROM time_entries a JOIN time_entries b ON a.n < b.n WHERE"
            " a.ended_at IS NULL AND b.ended_at IS NULL AND a.deleted_at IS NULL"
            " AND b.deleted_at IS NULL" } },
        { "time does not end before it begins",
          { "SELECT count(*) AS n FROM time_entries WHERE ended_at < started_at" } },
        { "blocks do not overlap",
          { "SELECT count(*) AS n FROM day_plan_blocks a JOIN day_plan_blocks b ON a.plan_id ="
            " b.plan_id AND a.n <> b.n AND a.start_at < b.end_at AND b.start_at < a.end_at"
            " WHERE a.deleted_at IS NULL AND b.deleted_at IS NULL" } },
        { "names of categories are taken once",
          { "SELECT count(*) AS n FROM categories a JOIN categories b ON a.folded = b.folded"
            " AND a.n < b.n WHERE a.deleted_at IS NULL AND b.deleted_at IS NULL" } },
        { "names of labels are taken once",
          { "SELECT count(*) AS n FROM labels a JOIN labels b ON a.folded = b.folded AND a.n < b.n"
            " WHERE a.deleted_at IS NULL AND b.deleted_at IS NULL" } },
        { "items are of a list that is there",
          { "SELECT count(*) AS n FROM checklist_items c WHERE c.deleted_at IS NULL AND NOT " LIVE(
              "checklists") "c.checklist_id)" } },
        { "lists are of a task that is there",
          { "SELECT count(*) AS n FROM checklists c WHERE c.deleted_at IS NULL AND c.task_id IS NOT"
            " NULL AND NOT " LIVE("tasks") "c.task_id)" } },
        { "files are of an entry that is there",
          { "SELECT count(*) AS n FROM attachments c WHERE c.deleted_at IS NULL AND NOT " LIVE(
              "entries") "c.entry_id)" } },
        { "labels of tasks are there",
          { "SELECT count(*) AS n FROM task_labels c WHERE c.deleted_at IS NULL AND NOT " LIVE(
              "labels") "c.label_id)" } },
        { "what is closed says when",
          { "SELECT count(*) AS n FROM tasks WHERE (closed = 1) <> (closed_at IS NOT NULL)" } },
        { "what is closed is done or rejected",
          { "SELECT count(*) AS n FROM tasks WHERE (closed = 1) <> (status IN ('DONE', "
            "'REJECTED'))" } },
    };
#undef LIVE
    struct test *t = rig->t;

    for (size_t i = 0; i < ARRAY_LEN(rules); i++) {
        AUTO(stmt) q = NULL;

        ASSERT_OK(db_prepare(domain_db(rig->domain), rules[i].count, &q, &t->err));
        ASSERT_EQ(stmt_step(q, &t->err), 1);
        if (stmt_i64(q, "n") != 0)
            FAIL("%lld break the rule: %s", (long long)stmt_i64(q, "n"), rules[i].rule);
    }
}

/* How many rows there are. */
static inline size_t check_provenance(struct rig *rig)
{
    struct test *t = rig->t;
    AUTO_MAP last = MAP_INIT;
    AUTO(stmt) q = NULL;
    size_t rows = 0, clocks = 0;

    provenance_of_batches(rig, &last);
    ASSERT_OK(db_prepare(domain_db(rig->domain),
                         SQL("SELECT counter, payload_type, payload_id FROM sequence_log"), &q,
                         &t->err));
    for (; stmt_step(q, &t->err) == 1; rows++) {
        const char *key = arena_printf(&t->arena, "%.*s|%.*s", STR_ARG(stmt_str(q, "payload_type")),
                                       STR_ARG(stmt_str(q, "payload_id")));

        ASSERT_EQ((int64_t)(uintptr_t)map_find(&last, str_from(key)), stmt_i64(q, "counter"));
    }
    ASSERT_EQ(rows, map_count(&last));
    for (size_t i = 0; i < ARRAY_LEN(provenance_clocks); i++) {
        AUTO(stmt) c = NULL;

        ASSERT_OK(db_prepare(domain_db(rig->domain), provenance_clocks[i], &c, &t->err));
        for (; stmt_step(c, &t->err) == 1; clocks++) {
            struct vclock clock;

            ASSERT_OK(vclock_parse(stmt_str(c, "vector_clock"), &t->arena, &clock, &t->err));
            ASSERT_EQ(vclock_of(&clock, str_from(change_host_id(rig->change))),
                      stmt_i64(c, "counter"));
        }
    }
    ASSERT_EQ(clocks, rows);
    return rows;
}

#endif
