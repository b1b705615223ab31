/* Whatever writes, at random: every row has its counter and clock, and stands in the batch of the
 * same transaction. SPDX-License-Identifier: MIT */
#include "base/rand.h"
#include "journal/import.h"
#include "journal/list.h"
#include "journal/moves.h"
#include "journal/quick.h"
#include "provenance.h"

#define ROUNDS 120
#define SOME   6

struct play {
    struct rig *rig;
    struct test *t;
    struct rand *rand;
};

static int pick(struct play *p, int n)
{
    return (int)rand_below(p->rand, (uint64_t)n);
}

static struct str name_of(struct play *p, const char *before)
{
    return str_from(arena_printf(&p->t->arena, "%s%d", before, pick(p, SOME)));
}

/* Each does one thing, or fails to: what can't be done leaves nothing, which is checked as well. */

static int make(struct play *p)
{
    static const struct {
        enum record_type type;
        const char *prefix, *fields;
    } kinds[] = {
        { RECORD_CATEGORY, "c", "{'name':'Cat %d'}" },
        { RECORD_LABEL, "l", "{'name':'Label %d'}" },
        { RECORD_TASK, "t", "{'title':'Task %d','categoryId':'c1'}" },
        { RECORD_CHECKLIST, "k", "{'title':'List','taskId':'t%d'}" },
        { RECORD_CHECKLIST_ITEM, "i", "{'title':'Item','checklistId':'k%d'}" },
        { RECORD_TIME_ENTRY, "e", "{'taskId':'t%d','startedAt':'2026-02-18T08:00:00Z'}" },
        { RECORD_ENTRY, "n", "{'kind':'note','body':'Note %d'}" },
        { RECORD_ENTRY_LINK, "",
          "{'relation':'about','fromType':'task','fromId':'t%d','toType':'entry','toId':'n1'}" },
    };
    int k = pick(p, ARRAY_LEN(kinds)), n = pick(p, SOME);
    char fields[200];
    struct json_object *json;
    int r;

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(fields, sizeof(fields), kinds[k].fields, n);
#pragma GCC diagnostic pop
    json = rig_json(p->t, fields);
    r = journal_create(p->rig->write, kinds[k].type,
                       kinds[k].prefix[0] ? name_of(p, kinds[k].prefix) : STR_NONE, json, NULL,
                       &p->t->err);
    json_object_put(json);
    return r;
}

static int change(struct play *p)
{
    struct json_object *json =
        rig_json(p->t, arena_printf(&p->t->arena, "{'title':'Other %d','priority':%d}", pick(p, 3),
                                    pick(p, 4)));
    int r = journal_change(p->rig->write, RECORD_TASK, name_of(p, "t"), json, NULL, &p->t->err);

    json_object_put(json);
    return r;
}

static int turn(struct play *p)
{
    static const struct {
        enum record_type type;
        const char *prefix;
    } kinds[] = { { RECORD_TASK, "t" },     { RECORD_LABEL, "l" },      { RECORD_CHECKLIST, "k" },
                  { RECORD_CATEGORY, "c" }, { RECORD_TIME_ENTRY, "e" }, { RECORD_ENTRY, "n" } };
    int k = pick(p, ARRAY_LEN(kinds));
    struct str id = name_of(p, kinds[k].prefix);

    return pick(p, 2) ? journal_remove(p->rig->write, kinds[k].type, id, &p->t->err)
                      : journal_restore(p->rig->write, kinds[k].type, id, &p->t->err);
}

static int label(struct play *p)
{
    struct str labels[] = { name_of(p, "Label "), name_of(p, "l") };

    return task_set_labels(p->rig->write, name_of(p, "t"), labels, (size_t)pick(p, 3),
                           pick(p, 2) == 0, &p->t->err);
}

static int clock_in_or_out(struct play *p)
{
    struct record entry;

    return pick(p, 2) ? timer_start(p->rig->write, name_of(p, "t"), STR_NONE, &entry, &p->t->err)
                      : timer_stop(p->rig->write, STR_NONE, 0, &entry, &p->t->err);
}

static int follow(struct play *p)
{
    struct follow_up how = { .source_id = name_of(p, "t"),
                             .carry_open_items = pick(p, 2),
                             .close_as = pick(p, 2) ? STR("DONE") : STR_NONE,
                             .keep_category_and_labels = pick(p, 2) };
    struct follow_up_result result;

    return task_follow_up(p->rig->write, &how, &result, &p->t->err);
}

static int plan(struct play *p)
{
    struct json_object *blocks = rig_json(
        p->t,
        arena_printf(&p->t->arena,
                     "[{'startTime':'2026-02-18T1%d:00:00Z','endTime':'2026-02-18T1%d:30:00Z',"
                     "'taskId':'t1'}]",
                     pick(p, SOME), pick(p, SOME)));
    int r = day_plan_put_blocks(p->rig->write, STR("2026-02-18"), blocks, NULL, 0, &p->t->err);

    json_object_put(blocks);
    return r;
}

static int score(struct play *p)
{
    struct json_object *json = rig_json(
        p->t, arena_printf(&p->t->arena,
                           "{'targetType':'task','targetId':'t%d','dimension':'joy','value':%d}",
                           pick(p, SOME), 1 + pick(p, 5)));
    int r = rate(p->rig->write, json, NULL, &p->t->err);

    json_object_put(json);
    return r;
}

static int attach(struct play *p)
{
    struct attachment_file file = { .entry_id = name_of(p, "n"),
                                    .file_name = STR("a"),
                                    .content_type = STR("audio/ogg"),
                                    .bytes = STR("tra la") };

    return attachment_add(p->rig->write, &file, NULL, &p->t->err);
}

static int type_in(struct play *p)
{
    struct test *t = p->t;
    struct quick quick;

    ASSERT_OK(quick_parse(STR("Buy paint tomorrow 2h #wet #new !1\n- red\n- blue"),
                          STR("2026-02-18"), &p->t->arena, &quick, &p->t->err));
    return quick_add(p->rig->write, &quick, NULL, &p->t->err);
}

static int take_in(struct play *p)
{
    struct test *t = p->t;
    struct import_result result = { .tasks = 0 };
    const char *text = arena_printf(
        &p->t->arena, "## Garden\n- [ ] Rake %d #leaves\n  - [x] find rake\n", pick(p, 4));
    struct import import;

    ASSERT_OK(
        import_read(IMPORT_MARKDOWN, str_from(text), NULL, &p->t->arena, &import, &p->t->err));
    return import_apply(p->rig->write, &import, 0, import.count, &result, &p->t->err);
}

DB_TEST(every_row_stands_with_its_counter_and_clock_in_one_batch, .timeout_s = 120)
{
    static int (*const acts[])(struct play *
                               p) = { make,   make, make,  change, turn,    label,  clock_in_or_out,
                                      follow, plan, score, attach, type_in, take_in };
    AUTO_RIG rig;
    struct rand_fake seeded;
    struct play p = { .rig = &rig, .t = t, .rand = &seeded.rand };
    int rounds = db_test_is_postgres(t) ? ROUNDS / 4 : ROUNDS, kept = 0;

    rig_open(&rig, t);
    rand_fake_init(&seeded, 7);
    for (int i = 0; i < SOME; i++) {
        rig_add_as(&rig, RECORD_TASK, arena_printf(&t->arena, "t%d", i), "{'title':'Task'}");
        rig_add_as(&rig, RECORD_ENTRY, arena_printf(&t->arena, "n%d", i), "{'kind':'note'}");
        rig_add_as(&rig, RECORD_LABEL, arena_printf(&t->arena, "l%d", i),
                   arena_printf(&t->arena, "{'name':'Label %d'}", i));
    }
    for (int round = 0; round < rounds; round++) {
        int acts_left = 1 + pick(&p, 2), r = 0;

        rig_begin(&rig);
        while (r >= 0 && acts_left-- > 0) {
            t->err = ERR_INIT;
            r = acts[pick(&p, ARRAY_LEN(acts))](&p);
        }
        r < 0 ? rig_drop(&rig) : rig_end(&rig);
        kept += r >= 0;
        if (round % 10 == 9) {
            check_provenance(&rig);
            check_rules(&rig);
        }
        clock_advance(&rig.clock, 1 + pick(&p, 3));
    }
    ASSERT(check_provenance(&rig) > (size_t)rounds / 4);
    ASSERT(kept > rounds / 8 && kept < rounds);
}
