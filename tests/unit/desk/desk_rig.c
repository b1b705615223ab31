/* See desk_rig.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "desk_rig.h"

#include "tool/tool_int.h"

static void add_agent(struct office *office)
{
    struct test *t = office->t;
    struct err err = ERR_INIT;

    if (agent_get(office->rig.agent, STR("coach"), &t->arena, &office->agent, &err) == 0)
        return; /* since an earlier start */
    ASSERT_OK(loop_unit_begin(office->rig.loop, office->rig.agent, &t->err));
    ASSERT_OK(agent_add(office->rig.agent, office->rig.change, &office->agent, NOW, &t->err));
    ASSERT_OK(loop_unit_end(office->rig.loop, true, &t->err));
    loop_fake_tick(office->rig.loop);
}

void office_open(struct office *office, struct test *t)
{
    struct tool_bed_config config = { .policy_text_hash = "" };

    *office = (struct office){ .t = t };
    rig_open(&office->rig, t);
    loop_attach(office->rig.loop, office->rig.agent);
    config.loop = office->rig.loop;
    config.agent_domain = office->rig.agent;
    ASSERT_OK(tool_bed_new(&config, &office->tools, &t->err));
    office->desk = desk_new(&(struct desk_config){ .journal = office->rig.journal,
                                                   .agent_domain = office->rig.agent,
                                                   .change = office->rig.change,
                                                   .tools = office->tools });
    office->agent = (struct agent){ .id = "coach",
                                    .kind = "custom",
                                    .display_name = "Coach",
                                    .lifecycle = AGENT_ACTIVE,
                                    .mode = "hybrid",
                                    .allowed_category_ids = "[\"gym\"]",
                                    .instructions = "" };
    office->call = (struct tool_call){ .agent = &office->agent,
                                       .thread_id = STR("coach:session:s"),
                                       .run_id = STR("run1"),
                                       .wake_reason = STR("userInitiated") };
    add_agent(office);
}

void office_destroy_agent(struct office *office)
{
    struct test *t = office->t;

    ASSERT_OK(loop_unit_begin(office->rig.loop, office->rig.agent, &t->err));
    ASSERT_EQ(agent_set_destroyed(office->rig.agent, office->rig.change, str_from(office->agent.id),
                                  NOW, &t->err),
              1);
    ASSERT_OK(loop_unit_end(office->rig.loop, true, &t->err));
    loop_fake_tick(office->rig.loop);
}

void office_close(struct office *office)
{
    tool_bed_free(office->tools);
    desk_free(office->desk);
    rig_close(&office->rig);
}

void office_fill(struct office *office)
{
    static const struct {
        enum record_type type;
        const char *id, *fields;
    } records[] = {
        { RECORD_CATEGORY, "gym", "{'name':'Gym'}" },
        { RECORD_CATEGORY, "finance", "{'name':'secret money'}" },
        { RECORD_LABEL, "urgent", "{'name':'Urgent'}" },
        { RECORD_LABEL, "later", "{'name':'Later'}" },
        { RECORD_TASK, "legs", "{'title':'Leg day','categoryId':'gym','due':'2026-02-18'}" },
        { RECORD_TASK, "squats", "{'title':'Squats','categoryId':'gym'}" },
        { RECORD_TASK, "taxes", "{'title':'secret taxes','categoryId':'finance'}" },
        { RECORD_TASK, "loose", "{'title':'secret errand'}" },
        { RECORD_CHECKLIST, "l1", "{'taskId':'legs','title':'Warm up'}" },
        { RECORD_CHECKLIST, "l2", "{'taskId':'legs','title':'Stretch'}" },
        { RECORD_CHECKLIST, "f1", "{'taskId':'taxes','title':'secret papers'}" },
        { RECORD_CHECKLIST_ITEM, "i1", "{'checklistId':'l1','title':'Rope'}" },
        { RECORD_CHECKLIST_ITEM, "i2", "{'checklistId':'l1','title':'Bike','checked':true}" },
        { RECORD_CHECKLIST_ITEM, "i3", "{'checklistId':'l1','title':'Row'}" },
        { RECORD_CHECKLIST_ITEM, "fi1", "{'checklistId':'f1','title':'secret form'}" },
        { RECORD_TIME_ENTRY, "t1",
          "{'taskId':'legs','startedAt':'2026-02-16T15:00:00Z','endedAt':'2026-02-16T16:00:00Z'}" },
        { RECORD_TIME_ENTRY, "ft1",
          "{'taskId':'taxes','startedAt':'2026-02-16T15:00:00Z','endedAt':'2026-02-16T16:00:00Z',"
          "'description':'secret'}" },
        { RECORD_ENTRY, "n1",
          "{'kind':'workout','subtype':'strength','categoryId':'gym',"
          "'title':'Gym','at':'2026-02-17T16:00:00Z'}" },
        { RECORD_ENTRY, "fn1", "{'kind':'note','categoryId':'finance','title':'secret note'}" },
        { RECORD_DAY_PLAN, "",
          "{'planDate':'2026-02-18','note':'secret plan',"
          "'pinnedTaskIds':['taxes','squats']}" },
        { RECORD_DAY_PLAN_BLOCK, "b1",
          "{'planId':'dayplan-2026-02-18','categoryId':'gym','taskId':'legs',"
          "'startTime':'2026-02-18T16:00:00Z','endTime':'2026-02-18T17:00:00Z'}" },
        { RECORD_DAY_PLAN_BLOCK, "fb1",
          "{'planId':'dayplan-2026-02-18','categoryId':'finance','note':'secret meeting',"
          "'startTime':'2026-02-18T11:00:00Z','endTime':'2026-02-18T12:00:00Z'}" },
        { RECORD_RATING, "",
          "{'targetType':'task','targetId':'legs','dimension':'energy',"
          "'value':4,'ratedAt':'2026-02-17T20:00:00Z'}" },
        { RECORD_RATING, "",
          "{'targetType':'task','targetId':'taxes','dimension':'secret',"
          "'value':1,'note':'secret'}" },
    };

    for (size_t i = 0; i < ARRAY_LEN(records); i++)
        rig_add_as(&office->rig, records[i].type, records[i].id, records[i].fields);
}

/* ---- calls ---- */

static struct str keep(struct office *office, struct str text)
{
    return text.p ? arena_str(&office->t->arena, text) : STR_NONE;
}

static void on_done(void *arg, const struct tool_result *result)
{
    struct office *office = arg;

    office->told++;
    office->job = NULL;
    office->result = *result;
    office->result.output = keep(office, result->output);
    office->result.changed_entity_ids = keep(office, result->changed_entity_ids);
    office->result.changed_tokens = keep(office, result->changed_tokens);
    office->result.taint = keep(office, result->taint);
}

static void on_shown(void *arg, const struct tool_preview *preview)
{
    struct office *office = arg;

    office->shown++;
    office->job = NULL;
    office->preview = *preview;
    office->preview.title = keep(office, preview->title);
    office->preview.kind = keep(office, preview->kind);
    office->preview.text = keep(office, preview->text);
}

static void prepare(struct office *office, const char *tool, const char *arguments)
{
    char *json = arena_text(&office->t->arena, arguments);

    for (char *at = json; *at; at++)
        *at = *at == '\'' ? '"' : *at;
    office->call.name = str_from(arena_text(&office->t->arena, tool));
    office->call.arguments = str_from(json);
    office->told = office->shown = 0;
    office->result = (struct tool_result){ .err = ERR_INIT };
    office->t->err = ERR_INIT;
}

int office_run_approved(struct office *office, const char *tool, const char *operation,
                        const char *arguments, const char *digest)
{
    struct test *t = office->t;

    prepare(office, tool, arguments);
    office->call.operation_id = STR_NONE;
    if (tool_start(office->tools, &office->call, str_from(operation), str_from(digest), NULL,
                   on_done, office, &office->job, &t->err) < 0)
        return -1;
    for (int i = 0; i < 8 && !office->told; i++)
        loop_fake_tick(office->rig.loop);
    ASSERT_EQ(office->told, 1);
    t->err = office->result.err;
    return t->err.code ? -1 : 0;
}

int office_run(struct office *office, const char *tool, const char *operation,
               const char *arguments)
{
    return office_run_approved(office, tool, operation, arguments, "");
}

int office_show(struct office *office, const char *tool, const char *operation,
                const char *arguments)
{
    struct test *t = office->t;

    prepare(office, tool, arguments);
    office->call.operation_id = str_from(operation);
    if (tool_preview(office->tools, &office->call, NULL, on_shown, office, &office->job, &t->err) <
        0)
        return -1;
    for (int i = 0; i < 8 && !office->shown; i++)
        loop_fake_tick(office->rig.loop);
    ASSERT_EQ(office->shown, 1);
    t->err = office->preview.err;
    return t->err.code ? -1 : 0;
}

int office_judge(struct office *office, const char *tool, const char *arguments,
                 struct tool_verdict *ret_verdict)
{
    prepare(office, tool, arguments);
    office->call.operation_id = STR_NONE;
    tool_judge(office->tools, &office->call, &office->t->arena, ret_verdict);
    return ret_verdict->attributes & TOOL_REFUSED ? -1 : 0;
}

/* ---- looking ---- */

const char *office_out(struct office *office, const char *pointer)
{
    struct test *t = office->t;
    struct json_object *value, *found;
    const char *text;

    ASSERT_OK(json_parse(office->result.output, &value, &t->err));
    if (json_pointer_find(value, str_from(pointer), &found, &t->err) < 0)
        text = NULL;
    else
        text = arena_text(&t->arena,
                          json_object_to_json_string_ext(
                              found, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE));
    json_object_put(value);
    return text;
}

size_t office_count(struct office *office, enum record_type type)
{
    struct test *t = office->t;
    struct record_filter filter = { .type = type, .limit = 1000 };
    struct record *records;
    size_t n;
    bool more;

    ASSERT_OK(record_list(office->rig.journal, &filter, &t->arena, &records, &n, &more, &t->err));
    return n;
}

size_t office_batches(struct office *office)
{
    size_t n;

    rig_batches(&office->rig, &n);
    return n;
}
