/* A whole run that changes the journal, ended at every point between two commits of either domain,
 * and gone on with: one change, one result, both domains say the same.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>

#include "../run/stage.h"
#include "agent/link.h"
#include "base/json.h"
#include "db/migrations.h"
#include "desk/desk.h"
#include "journal/list.h"

/* After so many commits the process is dead: nothing that it still does is stored. */
static int64_t commits_left = -1;

int __real_domain_commit(struct domain *domain, struct err *err);
int __wrap_domain_commit(struct domain *domain, struct err *err);

int __wrap_domain_commit(struct domain *domain, struct err *err)
{
    if (commits_left < 0)
        return __real_domain_commit(domain, err);
    if (commits_left == 0) {
        domain_rollback(domain);
        return err_set(err, ERR_STORAGE_FAILED, "the process was killed here");
    }
    commits_left--;
    return __real_domain_commit(domain, err);
}

/* ---- a runner with a desk ---- */

struct world {
    struct test *t;
    struct stage *stage;
    struct stage_more more;
    bool journal_first; /* in the order of commits */
    struct domain *domain;
    struct journal *journal;
    struct desk *desk;
};

static void on_loop(struct stage *stage, void *arg)
{
    struct world *world = arg;
    struct test *t = world->t;
    struct domain_config config = { .name = "journal",
                                    .url = db_test_domain_url(t, "journal"),
                                    .migrations = migrations_journal,
                                    .migration_count = migrations_journal_count };

    ASSERT_OK(domain_open(&config, &world->domain, &t->err));
    if (world->journal_first)
        loop_attach(stage->loop, world->domain);
}

static void on_bed(struct stage *stage, void *arg)
{
    struct world *world = arg;
    struct test *t = world->t;

    if (!world->journal_first)
        loop_attach(stage->loop, world->domain);
    ASSERT_OK(change_join(stage->change, world->domain, &t->err));
    world->journal = journal_new(&(struct journal_config){ .loop = stage->loop,
                                                           .domain = world->domain,
                                                           .change = stage->change,
                                                           .zone = "Europe/Berlin" });
    world->desk = desk_new(&(struct desk_config){ .journal = world->journal,
                                                  .agent_domain = stage->domain,
                                                  .change = stage->change,
                                                  .tools = stage->tools });
}

static void on_up(struct stage *stage, void *arg)
{
    (void)stage;
    (void)arg;
}

static void on_gone(struct stage *stage, void *arg)
{
    struct world *world = arg;

    (void)stage;
    desk_free(world->desk);
    journal_free(world->journal);
    domain_free(world->domain);
}

static void on_down(struct stage *stage, void *arg)
{
    (void)stage;
    (void)arg;
}

/* Which stretch of time is logged: each run has its own. */
static int stretch;

/* The model wants the time logged, and is content when it is. */
static const char *coach(struct stage *stage)
{
    if (strstr(stage->last_request, ":00.000Z"))
        return "Logged.";
    return arena_printf(&stage->t->arena,
                        "!create_retrospective_time_entry {\"taskId\":\"legs\","
                        "\"startedAt\":\"2023-11-1%dT%02d:00:00Z\","
                        "\"endedAt\":\"2023-11-1%dT%02d:30:00Z\"}",
                        stretch / 24, stretch % 24, stretch / 24, stretch % 24);
}

static void add(struct world *world, enum record_type type, const char *id, const char *fields)
{
    struct test *t = world->t;
    struct journal_author author = { .kind = CHANGE_BY_HUMAN };
    struct journal_write *write;
    AUTO_JSON json = NULL;

    ASSERT_OK(json_parse(str_from(fields), &json, &t->err));
    ASSERT_EQ(journal_begin(world->journal, &author, &t->arena, &write, NULL, &t->err), 1);
    ASSERT_OK(journal_create(write, type, str_from(id), json, NULL, &t->err));
    ASSERT_OK(journal_end(write, true, STR_NONE, &t->err));
    loop_fake_tick(world->stage->loop);
}

static void add_coach(struct world *world)
{
    struct test *t = world->t;
    struct stage *stage = world->stage;
    struct agent agent = { .id = "coach",
                           .kind = "gym_coach",
                           .display_name = "Coach",
                           .lifecycle = AGENT_ACTIVE,
                           .mode = "hybrid",
                           .allowed_category_ids = "[\"gym\"]",
                           .instructions = "" };

    ASSERT_OK(loop_unit_begin(stage->loop, stage->domain, &t->err));
    ASSERT_OK(agent_add(stage->domain, stage->change, &agent, 1, &t->err));
    ASSERT_OK(loop_unit_end(stage->loop, true, &t->err));
    loop_fake_tick(stage->loop);
}

static void world_open(struct world *world, struct test *t, bool journal_first)
{
    *world = (struct world){ .t = t, .journal_first = journal_first };
    world->more = (struct stage_more){
        .loop = on_loop, .bed = on_bed, .up = on_up, .down = on_down, .gone = on_gone, .arg = world
    };
    world->stage = stage_new_with(t, &world->more);
    world->stage->script = coach;
    add_coach(world);
    add(world, RECORD_CATEGORY, "gym", "{\"name\":\"Gym\"}");
    add(world, RECORD_TASK, "legs", "{\"title\":\"Leg day\",\"categoryId\":\"gym\"}");
}

static size_t entries(struct world *world)
{
    struct test *t = world->t;
    struct record_filter filter = { .type = RECORD_TIME_ENTRY };
    struct record *records;
    size_t n;
    bool more;

    ASSERT_OK(record_list(world->journal, &filter, &t->arena, &records, &n, &more, &t->err));
    return n;
}

/* ---- driving ---- */

/* The person shortens what the agent wants to log. */
static bool person_edits;

/* Somebody says yes to whatever is asked. */
static void approve(struct stage *stage)
{
    struct test *t = stage->t;
    struct inbox_decision yes = { .state = INBOX_APPROVED, .by = STR("owner") };
    struct err err = ERR_INIT;
    struct inbox_item *items;
    size_t n;

    if (person_edits) {
        yes.state = INBOX_EDITED;
        yes.answer =
            str_from(arena_printf(&t->arena,
                                  "{\"taskId\":\"legs\",\"startedAt\":\"2023-11-1%dT%02d:00:00Z\","
                                  "\"endedAt\":\"2023-11-1%dT%02d:10:00Z\"}",
                                  stretch / 24, stretch % 24, stretch / 24, stretch % 24));
    }
    if (inbox_list(stage->domain, INBOX_PENDING, 0, 0, &t->arena, &items, &n, &err) == 0 && n > 0)
        run_decide(stage->runner, items[0].id, &yes, &err);
}

static void drive(struct stage *stage, int ticks)
{
    for (int i = 0; i < ticks; i++) {
        loop_fake_tick(stage->loop);
        approve(stage);
    }
}

/* A client that sends the same turn until it has an answer. */
static int begin(struct world *world, struct str *ret_run)
{
    struct test *t = world->t;
    struct str name = str_from(arena_printf(&t->arena, "s%d", stretch));
    struct run_request request = {
        .agent_id = STR("coach"), .prompt = STR("log it"), .turn_id = name, .session_id = name
    };
    struct run_info info;
    int r = run_start(world->stage->runner, &request, &t->arena, &info, &t->err);

    if (r >= 0)
        *ret_run = arena_str(&t->arena, info.run_id);
    return r;
}

/* Each entry is linked from the one result that made it, in the agent domain alone. */
static void check_links(struct world *world)
{
    struct test *t = world->t;
    struct record_filter filter = { .type = RECORD_TIME_ENTRY };
    struct agent_link *links;
    struct record *records;
    size_t n, count;
    bool more;

    ASSERT_OK(record_list(world->journal, &filter, &t->arena, &records, &n, &more, &t->err));
    for (size_t i = 0; i < n; i++) {
        ASSERT_OK(agent_links_to(world->stage->domain, AGENT_LINK_TOOL_EFFECT, records[i].id, 10,
                                 &t->arena, &links, &count, &t->err));
        if (count != 1)
            FAIL("killed after %d commits: %zu links", stretch, count);
        ASSERT(str_find(links[0].metadata, STR("\"agentId\":\"coach\"")) > 0);
        ASSERT(str_find(links[0].metadata, STR("create_retrospective_time_entry")) > 0);
    }
    filter.type = RECORD_ENTRY_LINK;
    ASSERT_OK(record_list(world->journal, &filter, &t->arena, &records, &n, &more, &t->err));
    ASSERT_EQ(n, 0);
}

/* What both domains say in the end. */
static void check(struct world *world, struct str run)
{
    const char *end = stage_status(world->stage, run);
    size_t n = entries(world);
    const char *result = stage_last(world->stage, "tool_result");

    if (strcmp(end, "done") != 0 || n != (size_t)stretch + 1)
        FAIL("killed after %d commits: the run is %s, %zu entries", stretch, end, n);
    if (result && !strstr(result, "\"status\":\"completed\""))
        FAIL("killed after %d commits: %s", stretch, result);
    check_links(world);
}

/* One run for every number of commits, until one needs no more than it was given. */
static void kill_everywhere(struct test *t, bool journal_first)
{
    struct world *world = ARENA_NEW(&t->arena, struct world);
    bool dead = true;
    struct str run;

    world_open(world, t, journal_first);
    for (stretch = 0; dead; stretch++) {
        commits_left = stretch;
        begin(world, &run);
        drive(world->stage, 25);
        dead = commits_left == 0;
        commits_left = -1;
        stage_forget(world->stage);
        stage_crash(world->stage);
        ASSERT_OK(begin(world, &run));
        drive(world->stage, 25);
        check(world, run);
    }
    printf("  %d points\n", stretch - 1);
    ASSERT(stretch > 6 && stretch < 40);
    stage_free(world->stage);
}

DB_TEST(wherever_a_run_is_killed_its_change_is_made_once_journal_first, .timeout_s = 120)
{
    kill_everywhere(t, true);
}

DB_TEST(wherever_a_run_is_killed_its_change_is_made_once_agent_first, .timeout_s = 120)
{
    kill_everywhere(t, false);
}

DB_TEST(wherever_a_run_is_killed_what_a_person_made_of_it_is_done_once, .timeout_s = 120)
{
    person_edits = true;
    kill_everywhere(t, true);
}
