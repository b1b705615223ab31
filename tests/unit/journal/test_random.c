/* Random writes against a model in memory: after each unit the journal is what the model is,
 * counters only grow, and every write is in exactly one batch.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/rand.h"
#include "rig.h"

#define THINGS 12
#define ROUNDS 160

struct thing {
    bool made, deleted;
    int64_t deleted_at;
    char title[16];
    int status, priority;
    int task; /* of a checklist, -1 none */
    int64_t counter;
};

struct model {
    struct thing tasks[THINGS], lists[THINGS];
    int64_t units;
};

static struct str id_of(struct test *t, char kind, int i)
{
    return str_from(arena_printf(&t->arena, "%c%d", kind, i));
}

static bool live(const struct thing *thing)
{
    return thing->made && !thing->deleted;
}

/* One write in the unit under way; model follows when the journal says yes, and both must agree on
 * whether it can be. */
static void write_task(struct rig *rig, struct model *model, struct rand *rand)
{
    struct test *t = rig->t;
    int i = (int)rand_below(rand, THINGS), status = (int)rand_below(rand, 7),
        priority = (int)rand_below(rand, 4);
    struct thing *task = &model->tasks[i];
    char *title = arena_printf(&t->arena, "task %d", (int)rand_below(rand, 3));
    AUTO_JSON fields =
        rig_json(t, arena_printf(&t->arena, "{'title':'%s','status':'%s','priority':%d}", title,
                                 task_statuses[status], priority));
    bool same =
        strcmp(task->title, title) == 0 && task->status == status && task->priority == priority;
    int r;

    t->err = ERR_INIT;
    if (rand_below(rand, 2) == 0) {
        r = journal_create(rig->write, RECORD_TASK, id_of(t, 't', i), fields, NULL, &t->err);
        ASSERT_EQ(r, task->made ? -1 : 0);
        r = r < 0 ? 0 : 1;
    } else {
        r = journal_change(rig->write, RECORD_TASK, id_of(t, 't', i), fields, NULL, &t->err);
        ASSERT_EQ(r, !live(task) ? -1 : !same);
    }
    if (r <= 0)
        return;
    model->units++;
    task->made = true;
    snprintf(task->title, sizeof(task->title), "%s", title);
    task->status = status;
    task->priority = priority;
}

static void write_list(struct rig *rig, struct model *model, struct rand *rand)
{
    struct test *t = rig->t;
    int i = (int)rand_below(rand, THINGS), of = (int)rand_below(rand, THINGS);
    struct thing *list = &model->lists[i];
    AUTO_JSON fields =
        rig_json(t, arena_printf(&t->arena, "{'title':'list','taskId':'t%d','position':0}", of));
    int r;

    t->err = ERR_INIT;
    r = journal_create(rig->write, RECORD_CHECKLIST, id_of(t, 'c', i), fields, NULL, &t->err);
    ASSERT_EQ(r, list->made || !live(&model->tasks[of]) ? -1 : 0);
    if (r < 0)
        return;
    model->units++;
    *list = (struct thing){ .made = true, .task = of };
}

/* Takes the lists of a task along. */
static void turn_task(struct rig *rig, struct model *model, int i, bool gone)
{
    struct thing *task = &model->tasks[i];
    int64_t at = task->deleted_at;

    model->units++;
    task->deleted = gone;
    task->deleted_at = gone ? rig->clock.wall_now_ms : 0;
    for (int k = 0; k < THINGS; k++) {
        struct thing *list = &model->lists[k];

        if (!list->made || list->task != i || list->deleted == gone ||
            (!gone && list->deleted_at != at))
            continue;
        model->units++;
        list->deleted = gone;
        list->deleted_at = task->deleted_at;
    }
}

static void turn_something(struct rig *rig, struct model *model, struct rand *rand)
{
    struct test *t = rig->t;
    int i = (int)rand_below(rand, THINGS), r;
    bool gone = rand_below(rand, 2) == 0, task = rand_below(rand, 2) == 0, orphan;
    struct thing *thing = task ? &model->tasks[i] : &model->lists[i];
    enum record_type type = task ? RECORD_TASK : RECORD_CHECKLIST;
    struct str id = id_of(t, task ? 't' : 'c', i);

    t->err = ERR_INIT;
    orphan = !task && !gone && thing->deleted && !live(&model->tasks[thing->task]);
    r = gone ? journal_remove(rig->write, type, id, &t->err)
             : journal_restore(rig->write, type, id, &t->err);
    ASSERT_EQ(r, !thing->made || orphan ? -1 : thing->deleted != gone);
    if (r <= 0)
        return;
    if (task) {
        turn_task(rig, model, i, gone);
        return;
    }
    model->units++;
    thing->deleted = gone;
    thing->deleted_at = gone ? rig->clock.wall_now_ms : 0;
}

static void check_thing(struct rig *rig, enum record_type type, struct str id, struct thing *thing)
{
    struct test *t = rig->t;
    struct record record;
    int r = journal_get_any(rig->journal, type, id, &t->arena, &record, &t->err);

    ASSERT_EQ(r, thing->made);
    if (r == 0)
        return;
    ASSERT_EQ(record.deleted_at != 0, thing->deleted);
    ASSERT(record.counter >= thing->counter);
    thing->counter = record.counter;
    if (type != RECORD_TASK)
        return;
    ASSERT_STR(record_str(&record, "title"), thing->title);
    ASSERT_STR(record_str(&record, "status"), task_statuses[thing->status]);
    ASSERT_EQ(record_i64(&record, "priority"), thing->priority);
    ASSERT_EQ(record_get(&record, "closedAt")->set, thing->status >= 5);
}

static void check_all(struct rig *rig, struct model *model)
{
    struct test *t = rig->t;
    struct change_row *rows;
    size_t n;
    int64_t units = 0, last = 0;

    for (int i = 0; i < THINGS; i++) {
        check_thing(rig, RECORD_TASK, id_of(t, 't', i), &model->tasks[i]);
        check_thing(rig, RECORD_CHECKLIST, id_of(t, 'c', i), &model->lists[i]);
    }
    rows = rig_batches(rig, &n);
    for (size_t i = 0; i < n; i++) {
        units += (int64_t)rows[i].unit_count;
        for (size_t k = 0; k < rows[i].unit_count; k++) {
            ASSERT(rows[i].unit[k].counter > last);
            last = rows[i].unit[k].counter;
        }
    }
    ASSERT_EQ(units, model->units);
}

DB_TEST(random_writes_leave_what_a_model_has, .timeout_s = 120)
{
    AUTO_RIG rig;
    struct model model = { .units = 0 };
    struct rand_fake seeded;
    int rounds = db_test_is_postgres(t) ? ROUNDS / 4 : ROUNDS;

    rig_open(&rig, t);
    rand_fake_init(&seeded, 42);
    for (int round = 0; round < rounds; round++) {
        struct model before = model;
        uint64_t writes = 1 + rand_below(&seeded.rand, 4);
        bool keep = rand_below(&seeded.rand, 5) != 0;

        rig_begin(&rig);
        while (writes-- > 0) {
            switch (rand_below(&seeded.rand, 4)) {
            case 0:
                turn_something(&rig, &model, &seeded.rand);
                break;
            case 1:
                write_list(&rig, &model, &seeded.rand);
                break;
            default:
                write_task(&rig, &model, &seeded.rand);
            }
        }
        if (keep) {
            rig_end(&rig);
        } else {
            rig_drop(&rig);
            model = before;
        }
        if (round % 8 == 7)
            check_all(&rig, &model);
        clock_advance(&rig.clock, 1 + (int64_t)rand_below(&seeded.rand, 5));
    }
    check_all(&rig, &model);
}
