/* Reading a script: YAML, checked against share/schema/model-script.schema.json, then flattened, so
 * that a request costs comparisons and nothing else.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>

#include "base/embed.h"
#include "base/file.h"
#include "base/json.h"
#include "base/json_write.h"
#include "base/limits.h"
#include "base/schema.h"
#include "base/yaml.h"
#include "model/script_int.h"

extern const struct embed_file model_script_schema_files[];

struct loading {
    struct script *script;
    const struct yaml *yaml;
    const char *name;
    struct err *err;
};

static struct arena *arena_of(struct loading *l)
{
    return &l->script->arena;
}

static int problem_at(struct loading *l, const char *pointer, const char *message)
{
    struct yaml_position at = { 1, 1 };

    yaml_where(l->yaml, str_from(pointer), &at);
    return err_set(l->err, ERR_BAD_REQUEST, "%s:%u:%u: %s%s%s", l->name, at.line, at.column,
                   pointer, *pointer ? ": " : "", message);
}

static int check_schema(struct loading *l)
{
    AUTO_JSON document = NULL;
    AUTO(schema) schema = NULL;
    AUTO_SCHEMA_REPORT report = SCHEMA_REPORT_INIT;
    struct err why = ERR_INIT;

    if (json_parse(model_script_schema_files[0].bytes, &document, l->err) < 0 ||
        schema_compile(NULL, document, STR(""), 0, &schema, l->err) < 0)
        return -1;
    if (schema_validate(schema, l->yaml->root, &report, &why) == 0)
        return 0;
    if (!report.n)
        return problem_at(l, "", err_message(&why, 0));
    return problem_at(l, report.errors[0].instance, report.errors[0].message);
}

/* ---- members; the schema has made sure of their types ---- */

static struct str text_member(struct loading *l, struct json_object *object, const char *key)
{
    return arena_str(arena_of(l), json_str(json_find(object, key)));
}

static int64_t number_member(struct json_object *object, const char *key, int64_t otherwise)
{
    int64_t value = otherwise;

    (void)json_get_i64(object, key, &value, NULL);
    return value;
}

static struct script_texts texts_member(struct loading *l, struct json_object *object,
                                        const char *key)
{
    struct json_object *value = json_find(object, key);
    struct script_texts texts = { NULL, 0 };

    if (!value)
        return texts;
    texts.n = json_object_is_type(value, json_type_array) ? json_length(value) : 1;
    texts.text = ARENA_NEW_N(arena_of(l), struct str, texts.n);
    for (size_t i = 0; i < texts.n; i++) {
        struct json_object *one = json_object_is_type(value, json_type_array)
                                      ? json_object_array_get_idx(value, i)
                                      : value;

        texts.text[i] = arena_str(arena_of(l), json_str(one));
    }
    return texts;
}

static int regex_member(struct loading *l, struct json_object *object, const char *key,
                        const char *pointer, struct regex **ret_regex)
{
    struct str pattern = json_str(json_find(object, key));
    struct err why = ERR_INIT;

    if (!pattern.p)
        return 0;
    if (regex_compile(pattern, ret_regex, &why) < 0)
        return problem_at(l, arena_printf(arena_of(l), "%s/%s", pointer, key),
                          err_message(&why, 0));
    return 0;
}

/* ---- steps ---- */

static int read_result(struct loading *l, struct json_object *result, const char *pointer,
                       struct script_expect *expect)
{
    bool failed;

    expect->has_result = true;
    if (json_object_is_type(result, json_type_string)) {
        expect->result_contains.text = ARENA_NEW(arena_of(l), struct str);
        expect->result_contains.text[0] = arena_str(arena_of(l), json_str(result));
        expect->result_contains.n = 1;
        return 0;
    }
    expect->result_call = text_member(l, result, "call");
    expect->result_tool = text_member(l, result, "tool");
    expect->result_contains = texts_member(l, result, "contains");
    if (json_get_bool(result, "failed", &failed, NULL) > 0)
        expect->result_failed = failed;
    return regex_member(l, result, "regex", arena_printf(arena_of(l), "%s/result", pointer),
                        &expect->result_regex);
}

static int read_expect(struct loading *l, struct json_object *object, const char *pointer,
                       struct script_expect *expect)
{
    struct json_object *result = json_find(object, "result");

    expect->user = texts_member(l, object, "user");
    expect->system = texts_member(l, object, "system");
    expect->tools = texts_member(l, object, "tools");
    expect->no_tools = texts_member(l, object, "no_tools");
    expect->results = number_member(object, "results", -1);
    expect->messages = number_member(object, "messages", -1);
    expect->turn = number_member(object, "turn", -1);
    expect->result_failed = -1;
    if (result && read_result(l, result, pointer, expect) < 0)
        return -1;
    return regex_member(l, object, "user_regex", pointer, &expect->user_regex);
}

static void read_calls(struct loading *l, struct json_object *list, struct script_step *step)
{
    step->call_count = json_length(list);
    step->calls = ARENA_NEW_N(arena_of(l), struct script_call, step->call_count + 1);
    for (size_t i = 0; i < step->call_count; i++) {
        struct json_object *call = json_object_array_get_idx(list, i);
        struct json_object *arguments = json_find(call, "arguments");
        AUTO_BUF text = BUF_INIT(LIMIT_YAML_BYTES);
        struct json_writer w = JSON_WRITER(&text);

        if (json_object_is_type(arguments, json_type_string)) {
            buf_add_str(&text, json_str(arguments));
        } else if (arguments) {
            json_write_value(&w, arguments);
            json_write_end(&w);
        } else {
            buf_add_text(&text, "{}");
        }
        step->calls[i] = (struct script_call){ .id = text_member(l, call, "id"),
                                               .name = text_member(l, call, "name"),
                                               .arguments = arena_str(arena_of(l), buf_str(&text)),
                                               .problem = text_member(l, call, "problem") };
    }
}

static enum model_stop stop_of(struct str name, const struct script_step *step)
{
    if (str_is(name, "length"))
        return MODEL_STOP_LENGTH;
    if (str_is(name, "filter"))
        return MODEL_STOP_FILTER;
    if (str_is(name, "calls") || (!name.n && step->call_count))
        return MODEL_STOP_CALLS;
    return MODEL_STOP_END;
}

static void read_chunk(struct json_object *object, struct script_step *step)
{
    struct json_object *chunk = json_find(object, "chunk");

    step->delay_ms = number_member(object, "delay_ms", 0);
    step->chunk_size = (size_t)number_member(chunk, "size", SCRIPT_CHUNK_DEFAULT);
    step->chunk_delay_ms = number_member(chunk, "delay_ms", 0);
}

static void find_variables(struct script_step *step)
{
    step->has_variables = str_find(step->text, STR("${")) >= 0;
    for (size_t i = 0; i < step->call_count; i++)
        step->has_variables |= str_find(step->calls[i].arguments, STR("${")) >= 0;
}

static void read_reply(struct loading *l, struct json_object *reply, struct script_step *step)
{
    struct json_object *usage = json_find(reply, "usage");

    step->text = text_member(l, reply, "text");
    step->thinking = text_member(l, reply, "thinking");
    step->model = text_member(l, reply, "model");
    step->repeat = number_member(reply, "repeat", 1);
    step->input = number_member(usage, "input", -1);
    step->output = number_member(usage, "output", -1);
    step->cached = number_member(usage, "cached", -1);
    read_calls(l, json_find(reply, "calls"), step);
    read_chunk(reply, step);
    step->stop = stop_of(json_str(json_find(reply, "stop")), step);
    find_variables(step);
}

static void read_fail(struct loading *l, struct json_object *fail, struct script_step *step)
{
    struct str code = json_str(json_find(fail, "code"));

    step->fail = err_from_name(arena_copy(arena_of(l), code.p, code.n));
    step->message = text_member(l, fail, "message");
    step->text = text_member(l, fail, "text");
    step->repeat = 1;
    step->retry_after_ms = number_member(fail, "retry_after_ms", -1);
    step->after_bytes = number_member(fail, "after_bytes", (int64_t)step->text.n);
    read_chunk(fail, step);
    find_variables(step);
}

static int read_step(struct loading *l, size_t i, struct script_step *step)
{
    struct json_object *object = json_object_array_get_idx(json_find(l->yaml->root, "steps"), i);
    struct json_object *fail = json_find(object, "fail");
    const char *pointer = arena_printf(arena_of(l), "/steps/%zu", i);
    struct yaml_position at = { 1, 1 };

    yaml_where(l->yaml, str_from(pointer), &at);
    step->line = at.line;
    step->times = number_member(object, "times", 1);
    if (fail)
        read_fail(l, fail, step);
    else
        read_reply(l, json_find(object, "reply"), step);
    return read_expect(l, json_find(object, "expect"),
                       arena_printf(arena_of(l), "%s/expect", pointer), &step->expect);
}

static int read_steps(struct loading *l)
{
    struct script *script = l->script;
    struct str match = json_str(json_find(l->yaml->root, "match"));

    script->match = str_is(match, "any")     ? SCRIPT_ANY
                    : str_is(match, "state") ? SCRIPT_STATE
                                             : SCRIPT_ORDER;
    script->n = json_length(json_find(l->yaml->root, "steps"));
    script->steps = ARENA_NEW_N(arena_of(l), struct script_step, script->n);
    for (size_t i = 0; i < script->n; i++) {
        if (read_step(l, i, &script->steps[i]) < 0)
            return -1;
    }
    return 0;
}

int script_parse(struct str text, const char *name, struct script **ret_script, struct err *err)
{
    AUTO(script) script = NEW(struct script);
    AUTO_YAML yaml = YAML_INIT;
    struct loading l = { .script = script, .yaml = &yaml, .name = name, .err = err };

    script->path = alloc_text(name);
    if (yaml_parse(text, name, &yaml, err) < 0)
        return -1;
    if (check_schema(&l) < 0 || read_steps(&l) < 0)
        return -1;
    *ret_script = TAKE(script);
    return 0;
}

int script_load(const char *path, struct script **ret_script, struct err *err)
{
    AUTO_BUF text = BUF_INIT(LIMIT_YAML_BYTES);

    if (file_read(path, &text, err) < 0)
        return err_wrap(err, "model script %s", path);
    return script_parse(buf_str(&text), path, ret_script, err);
}

void script_free(struct script *script)
{
    if (!script)
        return;
    for (size_t i = 0; i < script->n; i++) {
        regex_free(script->steps[i].expect.user_regex);
        regex_free(script->steps[i].expect.result_regex);
    }
    arena_release(&script->arena);
    free(script->path);
    free(script);
}
