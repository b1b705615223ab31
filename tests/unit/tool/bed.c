/* See bed.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bed.h"

#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>

#include "db/migrations.h"
#include "tool/tool_int.h"

static const char *const allow_write[] = { ".", "/srv/shared", NULL };
static const char *const deny_read[] = { "~/.ssh", ".env", NULL };
static const char *const no_domains[] = { NULL };

struct bed *bed_new(struct test *t)
{
    struct bed *bed = NEW(struct bed);
    struct tool_bed_config config = { .policy_text_hash = "" };
    struct hand_config hand = { .loop = NULL };

    bed->t = t;
    clock_fake_init(&bed->clock, 1000000);
    bed->loop = loop_new_fake(&bed->clock);
    config.loop = hand.loop = bed->loop;
    ASSERT_OK(tool_bed_new(&config, &bed->tools, &t->err));
    bed->hand = hand_new(&hand);
    bed->agent = (struct agent){ .n = 1,
                                 .id = "planner",
                                 .kind = "planner",
                                 .display_name = "Planner",
                                 .lifecycle = AGENT_ACTIVE,
                                 .mode = "hybrid",
                                 .allowed_category_ids = "[]",
                                 .instructions = "" };
    bed->call = (struct tool_call){ .agent = &bed->agent,
                                    .thread_id = STR("planner:session:s"),
                                    .run_id = STR("run1"),
                                    .run_n = 1,
                                    .wake_reason = STR("userInitiated"),
                                    .sandbox = { .cwd = "/home/ada/work",
                                                 .allow_write = allow_write,
                                                 .deny_read = deny_read,
                                                 .allow_domains = no_domains,
                                                 .home = "/home/ada",
                                                 .data_dir = "/home/ada/.dormouse" } };
    return bed;
}

void bed_free(struct bed *bed)
{
    if (!bed)
        return;
    tool_bed_free(bed->tools);
    hand_free(bed->hand);
    loop_free(bed->loop);
    kill_switches_free(bed->kill);
    domain_free(bed->domain);
    free(bed);
}

static void open_kill(struct bed *bed)
{
    struct test *t = bed->t;
    struct domain_config config = {
        .name = "agent",
        .url = arena_printf(&t->arena, "sqlite:%s", test_path(t, "agent.sqlite")),
        .migrations = migrations_agent,
        .migration_count = migrations_agent_count,
        .sync = DB_SYNC_NORMAL,
    };

    ASSERT_OK(domain_open(&config, &bed->domain, &t->err));
    ASSERT_OK(kill_open(bed->domain, &bed->kill, &t->err));
    bed->tools->config.kill = bed->kill;
}

struct on {
    enum kill_scope scope;
    char value[64];
};

static void remember(void *arg, const struct kill_switch *kill)
{
    struct on *on = arg;

    on->scope = kill->scope;
    snprintf(on->value, sizeof(on->value), "%s", kill->value);
}

void bed_set_kill(struct bed *bed, enum kill_scope scope, const char *value)
{
    struct test *t = bed->t;
    struct on on = { .scope = KILL_NONE };

    if (!bed->domain)
        open_kill(bed);
    kill_each(bed->kill, remember, &on);
    if (on.scope == scope && strcmp(on.value, value) == 0)
        return;
    ASSERT_OK(domain_begin(bed->domain, &t->err));
    if (on.scope)
        ASSERT_OK(kill_clear(bed->kill, on.scope, on.value, &t->err));
    if (scope)
        ASSERT_OK(kill_set(bed->kill, scope, value, "a test", 1, &t->err));
    ASSERT_OK(domain_commit(bed->domain, &t->err));
}

const struct tool_verdict *bed_judge(struct bed *bed, const char *name, const char *arguments)
{
    bed->call.name = str_from(name);
    bed->call.arguments = str_from(arguments);
    tool_judge(bed->tools, &bed->call, &bed->t->arena, &bed->verdict);
    return &bed->verdict;
}

static struct str keep(struct bed *bed, struct str text)
{
    return text.p ? arena_str(&bed->t->arena, text) : STR_NONE;
}

static void on_done(void *arg, const struct tool_result *result)
{
    struct bed *bed = arg;

    bed->told++;
    bed->job = NULL;
    bed->result = *result;
    bed->result.question = keep(bed, result->question);
    bed->result.output = keep(bed, result->output);
    bed->result.changed_entity_ids = keep(bed, result->changed_entity_ids);
    bed->result.changed_tokens = keep(bed, result->changed_tokens);
    bed->result.taint = keep(bed, result->taint);
}

static void on_shown(void *arg, const struct tool_preview *preview)
{
    struct bed *bed = arg;

    bed->shown++;
    bed->job = NULL;
    bed->preview = *preview;
    bed->preview.title = keep(bed, preview->title);
    bed->preview.kind = keep(bed, preview->kind);
    bed->preview.text = keep(bed, preview->text);
    bed->preview.details = keep(bed, preview->details);
}

int bed_start(struct bed *bed, const char *name, const char *arguments, const char *digest)
{
    bed->call.name = str_from(name);
    bed->call.arguments = str_from(arguments);
    bed->told = 0;
    return tool_start(bed->tools, &bed->call, STR("op1"), str_from(digest), bed->hand, on_done, bed,
                      &bed->job, &bed->t->err);
}

int bed_preview(struct bed *bed, const char *name, const char *arguments)
{
    bed->call.name = str_from(name);
    bed->call.arguments = str_from(arguments);
    bed->shown = 0;
    return tool_preview(bed->tools, &bed->call, bed->hand, on_shown, bed, &bed->job, &bed->t->err);
}

const char *bed_contract(struct test *t, const char *name, const char *more)
{
    static const char plain[] =
        "{\"name\":\"\",\"version\":\"1.0.0\",\"description\":\"A tool that a test has made up.\","
        "\"capabilitiesRequired\":[\"test\"],\"allowedWakeReasons\":[\"userInitiated\"],"
        "\"inputSchema\":{\"type\":\"object\"},\"outputSchema\":true,"
        "\"idempotencyStrategy\":\"read_only\",\"scopeRules\":[],"
        "\"sideEffects\":{\"entityTypes\":[],\"notificationTokens\":[]},\"riskLevel\":\"none\","
        "\"dataMinimizationPolicyRef\":\"workspace\",\"toolClass\":\"test\",\"mutating\":false,"
        "\"approval\":\"never\",\"parallelSafe\":true,\"timeout\":5,\"egressHosts\":[]}";
    struct json_object *contract = json_tokener_parse(plain);
    struct json_object *change = json_tokener_parse(more);
    struct json_object_iter it;
    const char *text;

    json_object_object_add(contract, "name", json_object_new_string(name));
    json_object_object_foreachC(change, it)
    {
        if (it.val)
            json_object_object_add(contract, it.key, json_object_get(it.val));
        else
            json_object_object_del(contract, it.key);
    }
    text = arena_text(&t->arena, json_object_to_json_string(contract));
    json_object_put(contract);
    json_object_put(change);
    return text;
}

const char *bed_asked(struct bed *bed)
{
    struct hand_job *job = fake_hand_waiting(bed->hand);

    return job ? fake_hand_operation(job) : "nothing";
}

const char *bed_digest_of_edit(struct test *t, struct bed *bed, const char *version)
{
    ASSERT_OK(bed_preview(bed, "edit_file", BED_EDIT));
    ASSERT_TEXT(bed_asked(bed), "preview_edit");
    fake_hand_answer(bed->hand,
                     arena_printf(&t->arena,
                                  "{" BED_AT_A
                                  "\"target_version\":%s,\"exists\":true,\"diff\":\"-x\\n+y\\n\"}",
                                  version));
    ASSERT_EQ(bed->shown, 1);
    ASSERT_EQ(bed->preview.err.code, ERR_NONE);
    return arena_text(&t->arena, bed->preview.digest);
}
