/* Conversations with the offline model: tools, messages, and its answer as one line.
 *
 * SPDX-License-Identifier: MIT
 */
#include "offline_rig.h"

/* STR() is no constant initialiser. */
#define S(literal)                                                                                 \
    {                                                                                              \
        literal, sizeof(literal) - 1                                                               \
    }
#define TOOL(name_, schema)                                                                        \
    {                                                                                              \
        .name = S(name_), .description = S(""), .input_schema = S(schema)                          \
    }
#define OBJECT(required, properties)                                                               \
    "{\"type\":\"object\",\"required\":[" required "],\"properties\":{" properties "}}"
#define TEXT "{\"type\":\"string\"}"

/* As share/tools/agent_tool_contract_spec.yaml has them. */
const struct model_tool rig_hands[] = {
    TOOL("bash",
         OBJECT("\"command\"", "\"command\":" TEXT ",\"timeout_s\":{\"type\":\"integer\"}")),
    TOOL("edit_file", OBJECT("\"path\"", "\"path\":" TEXT ",\"old\":" TEXT ",\"new\":" TEXT
                                         ",\"all\":{\"type\":\"boolean\"},\"edits\":{\"type\":"
                                         "\"array\"}")),
    { .name = S("read_file"),
      .description = S("Reads a text file and returns its lines; of a directory, its entries."),
      .input_schema =
          S(OBJECT("\"path\"", "\"path\":" TEXT ",\"offset\":{\"type\":\"integer\"}")) },
    TOOL("search", OBJECT("", "\"pattern\":" TEXT ",\"glob\":" TEXT ",\"path\":" TEXT
                              ",\"regex\":{\"type\":\"boolean\"}")),
    TOOL("write_file", OBJECT("\"path\",\"content\"", "\"path\":" TEXT ",\"content\":" TEXT)),
};
const size_t rig_hands_count = ARRAY_LEN(rig_hands);

/* The same by other words: search finds by regular expression, read_file reads files only. */
const struct model_tool rig_plain[] = {
    TOOL("bash",
         OBJECT("\"command\"", "\"command\":" TEXT ",\"timeout_ms\":{\"type\":\"integer\"}")),
    TOOL("edit_file",
         OBJECT("\"path\",\"edits\"", "\"path\":" TEXT ",\"edits\":{\"type\":\"array\",\"items\":"
                                      "{\"type\":\"object\",\"properties\":{\"old_string\":" TEXT
                                      ",\"new_string\":" TEXT "}}}")),
    TOOL("read_file", OBJECT("\"path\"", "\"path\":" TEXT ",\"offset\":{\"type\":\"integer\"}")),
    TOOL("search", OBJECT("", "\"pattern\":" TEXT ",\"glob\":" TEXT ",\"path\":" TEXT)),
    TOOL("write_file", OBJECT("\"path\",\"content\"", "\"path\":" TEXT ",\"content\":" TEXT)),
};
const size_t rig_plain_count = ARRAY_LEN(rig_plain);

const struct model_tool rig_journal[] = {
    TOOL("add_multiple_checklist_items",
         OBJECT("\"taskId\",\"items\"",
                "\"taskId\":" TEXT ",\"items\":{\"type\":\"array\",\"items\":" TEXT "}")),
    TOOL("create_retrospective_time_entry", OBJECT("\"taskId\",\"startedAt\",\"endedAt\"",
                                                   "\"taskId\":" TEXT ",\"startedAt\":" TEXT
                                                   ",\"endedAt\":" TEXT ",\"description\":" TEXT)),
    TOOL("create_task",
         OBJECT("\"title\",\"categoryId\"", "\"title\":" TEXT ",\"categoryId\":" TEXT)),
    TOOL("list_allowed_categories", OBJECT("", "")),
    TOOL("list_tasks_in_scope", OBJECT("", "\"status\":" TEXT)),
    TOOL("read_memory", OBJECT("\"path\"", "\"path\":" TEXT)),
    TOOL("resolve_task_reference", OBJECT("\"query\"", "\"query\":" TEXT)),
    TOOL("start_task_timer", OBJECT("\"taskId\"", "\"taskId\":" TEXT)),
    TOOL("stop_task_timer", OBJECT("", "")),
    TOOL("update_task_due_date",
         OBJECT("\"taskId\",\"dueDate\"", "\"taskId\":" TEXT ",\"dueDate\":" TEXT)),
    TOOL("update_task_fields", OBJECT("\"taskId\"", "\"taskId\":" TEXT ",\"status\":" TEXT)),
    TOOL("update_task_priority",
         OBJECT("\"taskId\",\"priority\"", "\"taskId\":" TEXT ",\"priority\":" TEXT)),
    TOOL("write_memory", OBJECT("\"path\",\"content\",\"reason\"",
                                "\"path\":" TEXT ",\"content\":" TEXT ",\"reason\":" TEXT)),
};
const size_t rig_journal_count = ARRAY_LEN(rig_journal);

const struct model_tool rig_memory[] = {
    TOOL("list_memory", OBJECT("", "\"directory\":" TEXT)),
    TOOL("read_memory", OBJECT("\"path\"", "\"path\":" TEXT)),
    TOOL("write_memory", OBJECT("\"path\",\"reason\"", "\"path\":" TEXT ",\"content\":" TEXT
                                                       ",\"operation\":" TEXT ",\"reason\":" TEXT)),
};
const size_t rig_memory_count = ARRAY_LEN(rig_memory);

void rig_begin(struct rig *rig, struct test *t, const struct model_tool *tools, size_t n)
{
    *rig = (struct rig){ .t = t, .tools = tools, .tool_count = n };
}

void rig_end(struct rig *rig)
{
    if (rig->thought)
        offline_turn_release(&rig->turn);
    rig->thought = false;
}

static struct model_message *next_message(struct rig *rig, enum model_role role)
{
    struct model_message *m;

    if (rig->n == RIG_MESSAGES)
        FAIL("the conversation has no end");
    m = &rig->messages[rig->n++];
    *m = (struct model_message){ .role = role };
    return m;
}

void rig_user(struct rig *rig, const char *text)
{
    next_message(rig, MODEL_USER)->text = str_from(arena_text(&rig->t->arena, text));
}

const char *rig_think(struct rig *rig)
{
    struct model_request request = { .model_id = "offline",
                                     .system = rig->system,
                                     .tools = rig->tools,
                                     .tool_count = rig->tool_count,
                                     .messages = rig->messages,
                                     .message_count = rig->n };
    struct arena *arena = &rig->t->arena;
    AUTO_BUF line = BUF_INIT(1u << 20);
    struct model_call *calls;
    struct model_message *m;

    rig_end(rig);
    offline_think(&request, RIG_NOW, arena, &rig->turn);
    rig->thought = true;
    calls = ARENA_NEW_N(arena, struct model_call, OFFLINE_CALLS_MAX);
    for (size_t i = 0; i < rig->turn.call_count; i++) {
        calls[i] = rig->turn.calls[i];
        buf_printf(&line, "%s%.*s %.*s", i ? "; " : "", STR_ARG(calls[i].name),
                   STR_ARG(calls[i].arguments));
    }
    buf_printf(&line, "%s%s", rig->turn.call_count && rig->turn.say.n ? " | " : "",
               buf_text(&rig->turn.say));
    m = next_message(rig, MODEL_ASSISTANT);
    m->text = arena_str(arena, buf_str(&rig->turn.say));
    m->calls = calls;
    m->call_count = rig->turn.call_count;
    return arena_copy(arena, buf_text(&line), line.n);
}

static struct model_message *answer(struct rig *rig, size_t i, const char *text)
{
    struct model_message *m = next_message(rig, MODEL_TOOL);

    m->call_id = rig->turn.calls[i].id;
    m->tool_name = rig->turn.calls[i].name;
    m->text = str_from(arena_text(&rig->t->arena, text));
    return m;
}

void rig_result(struct rig *rig, size_t i, const char *text)
{
    answer(rig, i, text);
}

void rig_failure(struct rig *rig, size_t i, const char *text)
{
    answer(rig, i, text)->failed = true;
}

const char *rig_ask(struct test *t, const struct model_tool *tools, size_t n, const char *text)
{
    struct rig rig;
    const char *answered;

    rig_begin(&rig, t, tools, n);
    rig_user(&rig, text);
    answered = rig_think(&rig);
    rig_end(&rig);
    return answered;
}
