/* Calls: the tools that were given, and arguments in the words of their schemas.
 *
 * The offline model does not know tools by heart: it knows a few names of tools, looks for them in
 * the request, and asks each tool's input schema what it calls a path or a command. A required
 * member that it cannot fill is said, and no call is made.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/json.h"
#include "base/json_write.h"
#include "model/offline_int.h"

#define ARGUMENTS_MAX (64u << 10)

#define NAMES(name) const char *const offline_name_##name[]
NAMES(command) = { "command", "cmd", "script", NULL };
NAMES(path) = { "path", "file_path", "filePath", "file", "filename", NULL };
NAMES(directory) = { "path", "directory", "dir", "root", "cwd", NULL };
NAMES(pattern) = { "pattern", "query", "grep", "text", NULL };
NAMES(glob) = { "glob", "include", "files", "globs", NULL };
NAMES(content) = { "content", "contents", "text", "body", NULL };
NAMES(old) = { "old_string", "oldString", "old_text", "oldText", "old", "find", "search", NULL };
NAMES(new) = { "new_string", "newString", "new_text",    "newText",
               "new",        "replace",   "replacement", NULL };
NAMES(title) = { "title", "newTaskTitle", "name", "summary", NULL };
NAMES(reason) = { "reason", "rationale", "why", NULL };
NAMES(task) = { "taskId", "task_id", "targetTaskId", "id", NULL };
NAMES(query) = { "reference", "query", "text", "name", "title", "taskReference", NULL };
NAMES(literal) = { "literal", "fixed", "fixed_string", "fixedString", "fixed_strings", NULL };

const struct model_tool *offline_tool(const struct offline_turn *turn, const char *name)
{
    for (size_t i = 0; i < turn->request->tool_count; i++) {
        if (str_is(turn->request->tools[i].name, name))
            return &turn->request->tools[i];
    }
    return NULL;
}

/* The parsed schema, or NULL when it is none; the caller puts it. */
static struct json_object *schema_of(const struct model_tool *tool)
{
    struct json_object *schema = NULL;
    struct err err = ERR_INIT;

    if (json_parse(tool->input_schema, &schema, &err) < 0)
        return NULL;
    return schema;
}

static const char *name_in(struct json_object *properties, const char *const *names)
{
    for (size_t i = 0; names[i]; i++) {
        if (json_find(properties, names[i]))
            return names[i];
    }
    return NULL;
}

const char *offline_name_in(struct json_object *schema, const char *const *names)
{
    return name_in(json_find(schema, "properties"), names);
}

bool offline_takes(const struct model_tool *tool, const char *const *names)
{
    AUTO_JSON schema = schema_of(tool);

    return offline_name_in(schema, names) != NULL;
}

bool offline_requires(const struct model_tool *tool, const char *name)
{
    AUTO_JSON schema = schema_of(tool);
    struct json_object *required = json_find(schema, "required");

    if (!json_object_is_type(required, json_type_array))
        return false;
    for (size_t i = 0; i < json_length(required); i++) {
        if (str_is(json_str(json_object_array_get_idx(required, i)), name))
            return true;
    }
    return false;
}

static bool wants_type(struct json_object *property, const char *type)
{
    struct json_object *types = json_find(property, "type");

    if (!json_object_is_type(types, json_type_array))
        return str_is(json_str(types), type);
    for (size_t i = 0; i < json_length(types); i++) {
        if (str_is(json_str(json_object_array_get_idx(types, i)), type))
            return true;
    }
    return false;
}

static void write_arg(struct json_writer *w, const struct offline_arg *arg,
                      struct json_object *property)
{
    if (!arg->text.p) {
        if (arg->is_bool)
            json_write_bool(w, arg->number != 0);
        else
            json_write_i64(w, arg->number);
        return;
    }
    if (wants_type(property, "array") && !wants_type(property, "string")) {
        json_write_array_begin(w);
        json_write_str(w, arg->text);
        json_write_array_end(w);
        return;
    }
    json_write_str(w, arg->text);
}

/* Is a required member not among what was written? */
static const char *missing(struct json_object *schema, struct json_object *written)
{
    struct json_object *required = json_find(schema, "required");

    if (!json_object_is_type(required, json_type_array))
        return NULL;
    for (size_t i = 0; i < json_length(required); i++) {
        const char *name = json_object_get_string(json_object_array_get_idx(required, i));

        if (name && !json_object_object_get_ex(written, name, NULL))
            return name;
    }
    return NULL;
}

static bool write_args(struct json_object *schema, const struct offline_arg *args, size_t n,
                       struct buf *out, const char **ret_unknown)
{
    struct json_writer w = JSON_WRITER(out);
    struct json_object *properties = json_find(schema, "properties");

    json_write_object_begin(&w);
    for (size_t i = 0; i < n; i++) {
        const char *name = name_in(properties, args[i].names);

        if (!name && args[i].optional)
            continue;
        if (!name && properties) {
            *ret_unknown = args[i].names[0];
            return false;
        }
        if (!name)
            name = args[i].names[0];
        json_write_key(&w, name);
        write_arg(&w, &args[i], json_find(properties, name));
    }
    json_write_object_end(&w);
    return json_write_end(&w) == 0;
}

bool offline_call(struct offline_turn *turn, const struct model_tool *tool,
                  const struct offline_arg *args, size_t n)
{
    AUTO_BUF text = BUF_INIT(ARGUMENTS_MAX);
    AUTO_JSON schema = schema_of(tool);
    AUTO_JSON written = NULL;
    const char *lacks = NULL;
    struct err err = ERR_INIT;

    if (!write_args(schema, args, n, &text, &lacks)) {
        offline_say(turn, "I can't use the tool %.*s for this: %s.", STR_ARG(tool->name),
                    lacks ? "it has no place for what I would pass on" : "the text is too long");
        return false;
    }
    if (json_parse(buf_str(&text), &written, &err) < 0)
        return false;
    lacks = missing(schema, written);
    if (lacks) {
        offline_say(turn,
                    "I can't use the tool %.*s for this: it also needs \"%s\", which I don't "
                    "know how to fill. I am rules, not a language model.",
                    STR_ARG(tool->name), lacks);
        return false;
    }
    offline_call_json(turn, tool, buf_str(&text));
    return true;
}

void offline_call_json(struct offline_turn *turn, const struct model_tool *tool, struct str json)
{
    struct model_call *call;

    BUG_IF(turn->call_count == OFFLINE_CALLS_MAX);
    call = &turn->calls[turn->call_count];
    call->id = str_from(arena_printf(turn->arena, "offline-%zu-%zu", turn->request->message_count,
                                     turn->call_count + 1));
    call->name = arena_str(turn->arena, tool->name);
    call->arguments = arena_str(turn->arena, json);
    call->problem = STR_NONE;
    turn->call_count++;
}

bool offline_bash(struct offline_turn *turn, const char *command)
{
    const struct model_tool *tool = offline_tool(turn, "bash");
    const struct offline_arg args[] = { { .names = offline_name_command,
                                          .text = str_from(command) } };

    if (!tool) {
        offline_lacks(turn, "run commands", "bash");
        return false;
    }
    return offline_call(turn, tool, args, ARRAY_LEN(args));
}

const char *offline_quote(struct arena *arena, struct str text)
{
    AUTO_BUF out = BUF_INIT(ARGUMENTS_MAX * 4);
    bool plain = text.n > 0 && text.p[0] != '-' && text.p[0] != '~';

    for (size_t i = 0; i < text.n; i++) {
        char c = text.p[i];

        plain = plain && ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                          (c >= '0' && c <= '9') || (c && strchr("._/-+,:@%", c)));
    }
    if (plain)
        return arena_copy(arena, text.p, text.n);
    buf_add_char(&out, '\'');
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] == '\'')
            buf_add_text(&out, "'\\''");
        else if (text.p[i])
            buf_add_char(&out, text.p[i]);
    }
    buf_add_char(&out, '\'');
    return arena_copy(arena, buf_text(&out), out.n);
}
