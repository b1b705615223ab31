/* Prompts in FunctionGemma's format: see gemma_int.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json.h>
#include <stdlib.h>
#include <strings.h>

#include "base/json.h"
#include "model/gemma_int.h"

/* Without this sentence the model talks instead of calling. */
#define TRIGGER "You are a model that can do function calling with the following functions"

/* ---- texts ---- */

static bool is_control_name(struct str name)
{
    static const char *const names[] = {
        "bos",
        "eos",
        "pad",
        "unk",
        "mask",
        "escape",
        "start_of_turn",
        "end_of_turn",
        "start_of_image",
        "end_of_image",
        "start_function_declaration",
        "end_function_declaration",
        "start_function_call",
        "end_function_call",
        "start_function_response",
        "end_function_response",
    };

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (str_is(name, names[i]))
            return true;
    }
    return str_starts(name, STR("unused"));
}

/* Foreign text: "<escape>" in it becomes "< escape>". */
static void add_text(struct buf *out, struct str text)
{
    ptrdiff_t at;

    while ((at = str_find_char(text, '<')) >= 0) {
        struct str after = str_skip(text, (size_t)at + 1);
        ptrdiff_t end = str_find_char(str_take(after, 40), '>');

        buf_add_str(out, str_take(text, (size_t)at + 1));
        if (end > 0 && is_control_name(str_take(after, (size_t)end)))
            buf_add_char(out, ' ');
        text = after;
    }
    buf_add_str(out, text);
}

static void add_string(struct buf *out, struct str text)
{
    buf_add_text(out, "<escape>");
    add_text(out, text);
    buf_add_text(out, "<escape>");
}

/* ---- values ---- */

struct member {
    const char *key;
    struct json_object *value;
};

static int member_order(const void *a, const void *b)
{
    const struct member *x = a, *y = b;
    int order = strcasecmp(x->key, y->key);

    return order ? order : strcmp(x->key, y->key);
}

/* Members by key without regard to case, as Jinja's dictsort has them. */
static struct member *sorted(struct json_object *object, size_t *ret_n, struct arena *arena)
{
    struct json_object_iterator at = json_object_iter_begin(object);
    const struct json_object_iterator end = json_object_iter_end(object);
    size_t n = 0, cap = (size_t)json_object_object_length(object);
    struct member *members = ARENA_NEW_N(arena, struct member, cap + 1);

    for (; !json_object_iter_equal(&at, &end) && n < cap; json_object_iter_next(&at))
        members[n++] =
            (struct member){ json_object_iter_peek_name(&at), json_object_iter_peek_value(&at) };
    qsort(members, n, sizeof(members[0]), member_order);
    *ret_n = n;
    return members;
}

static void add_value(struct buf *out, struct json_object *value, struct arena *arena);

static void add_members(struct buf *out, struct json_object *object, struct arena *arena)
{
    size_t n;
    struct member *members = sorted(object, &n, arena);

    for (size_t i = 0; i < n; i++) {
        if (i)
            buf_add_char(out, ',');
        add_text(out, str_from(members[i].key));
        buf_add_char(out, ':');
        add_value(out, members[i].value, arena);
    }
}

static void add_value(struct buf *out, struct json_object *value, struct arena *arena)
{
    switch (json_object_get_type(value)) {
    case json_type_string:
        add_string(out, json_str(value));
        break;
    case json_type_object:
        buf_add_char(out, '{');
        add_members(out, value, arena);
        buf_add_char(out, '}');
        break;
    case json_type_array:
        buf_add_char(out, '[');
        for (size_t i = 0; i < json_length(value); i++) {
            if (i)
                buf_add_char(out, ',');
            add_value(out, json_object_array_get_idx(value, i), arena);
        }
        buf_add_char(out, ']');
        break;
    default: /* null, booleans and numbers as in JSON */
        buf_add_text(out, json_object_to_json_string_ext(value, JSON_C_TO_STRING_PLAIN));
        break;
    }
}

/* ---- declarations ---- */

struct listing {
    struct buf *out;
    bool some;
};

static void separate(struct listing *l)
{
    if (l->some)
        buf_add_char(l->out, ',');
    l->some = true;
}

/* The type in capitals, "STRING" when the schema has none; *ret_nullable when null is one too. */
static void type_of(struct json_object *schema, char *out, size_t size, bool *ret_nullable)
{
    struct json_object *type = json_find(schema, "type");
    struct str name = json_str(type);

    *ret_nullable = false;
    for (size_t i = 0; json_object_is_type(type, json_type_array) && i < json_length(type); i++) {
        struct str one = json_str(json_object_array_get_idx(type, i));

        if (str_is(one, "null"))
            *ret_nullable = true;
        else if (!name.n)
            name = one;
    }
    if (!name.n || name.n >= size)
        name = STR("string");
    for (size_t i = 0; i < name.n; i++)
        out[i] = (char)(name.p[i] >= 'a' && name.p[i] <= 'z' ? name.p[i] - 32 : name.p[i]);
    out[name.n] = '\0';
}

static void add_required(struct listing *l, struct json_object *schema, struct arena *arena)
{
    struct json_object *required = json_find(schema, "required");

    if (!json_object_is_type(required, json_type_array) || !json_length(required))
        return;
    separate(l);
    buf_add_text(l->out, "required:");
    add_value(l->out, required, arena);
}

static void add_schema(struct buf *out, struct json_object *schema, struct arena *arena,
                       unsigned depth);

static void add_properties(struct listing *l, struct json_object *schema, struct arena *arena,
                           unsigned depth)
{
    struct json_object *properties = json_find(schema, "properties");
    struct member *members;
    size_t n;

    if (!json_object_is_type(properties, json_type_object) || depth >= GEMMA_DEPTH_MAX)
        return;
    members = sorted(properties, &n, arena);
    if (!n)
        return;
    separate(l);
    buf_add_text(l->out, "properties:{");
    for (size_t i = 0; i < n; i++) {
        if (i)
            buf_add_char(l->out, ',');
        add_text(l->out, str_from(members[i].key));
        buf_add_char(l->out, ':');
        add_schema(l->out, members[i].value, arena, depth + 1);
    }
    buf_add_char(l->out, '}');
}

/* {description:..,enum:[..],items:{..},nullable:true,properties:{..},required:[..],type:..} */
static void add_schema(struct buf *out, struct json_object *schema, struct arena *arena,
                       unsigned depth)
{
    struct listing l = { .out = out };
    struct json_object *choices = json_find(schema, "enum"), *items = json_find(schema, "items");
    struct str description = json_str(json_find(schema, "description"));
    bool nullable;
    char type[32];

    type_of(schema, type, sizeof(type), &nullable);
    buf_add_char(out, '{');
    if (description.n) {
        separate(&l);
        buf_add_text(out, "description:");
        add_string(out, description);
    }
    if (strcmp(type, "STRING") == 0 && json_object_is_type(choices, json_type_array)) {
        separate(&l);
        buf_add_text(out, "enum:");
        add_value(out, choices, arena);
    }
    if (strcmp(type, "ARRAY") == 0 && json_object_is_type(items, json_type_object) &&
        depth < GEMMA_DEPTH_MAX) {
        separate(&l);
        buf_add_text(out, "items:");
        add_schema(out, items, arena, depth + 1);
    }
    if (nullable) {
        separate(&l);
        buf_add_text(out, "nullable:true");
    }
    if (strcmp(type, "OBJECT") == 0) {
        add_properties(&l, schema, arena, depth);
        add_required(&l, schema, arena);
    }
    separate(&l);
    buf_printf(out, "type:<escape>%s<escape>}", type);
}

static int add_declaration(struct buf *out, const struct model_tool *tool, struct arena *arena,
                           struct err *err)
{
    AUTO_JSON schema = NULL;
    struct listing l = { .out = out };

    if (json_parse(tool->input_schema, &schema, err) < 0)
        return err_wrap(err, "tool %.*s: input_schema", STR_ARG(tool->name));
    if (!json_object_is_type(schema, json_type_object))
        return err_set(err, ERR_BAD_REQUEST, "tool %.*s: input_schema must be an object, is %s",
                       STR_ARG(tool->name), json_type_name(schema));
    buf_add_text(out, "<start_function_declaration>declaration:");
    add_text(out, tool->name);
    buf_add_text(out, "{description:");
    add_string(out, tool->description);
    buf_add_text(out, ",parameters:{");
    add_properties(&l, schema, arena, 0);
    add_required(&l, schema, arena);
    separate(&l);
    buf_add_text(out, "type:<escape>OBJECT<escape>}}<end_function_declaration>");
    return 0;
}

static int add_developer(struct buf *out, const struct model_request *request, struct arena *arena,
                         struct err *err)
{
    struct str system = str_trim(request->system);

    if (!system.n && !request->tool_count)
        return 0;
    buf_add_text(out, "<start_of_turn>developer\n");
    add_text(out, system);
    if (request->tool_count)
        buf_printf(out, "%s" TRIGGER, system.n ? "\n" : "");
    for (size_t i = 0; i < request->tool_count; i++) {
        if (add_declaration(out, &request->tools[i], arena, err) < 0)
            return -1;
    }
    buf_add_text(out, "<end_of_turn>\n");
    return 0;
}

/* ---- the conversation ---- */

static void add_call(struct buf *out, const struct model_call *call, struct arena *arena)
{
    AUTO_JSON arguments = NULL;

    buf_add_text(out, "<start_function_call>call:");
    add_text(out, call->name);
    buf_add_char(out, '{');
    if (json_parse(call->arguments, &arguments, NULL) == 0 &&
        json_object_is_type(arguments, json_type_object))
        add_members(out, arguments, arena);
    buf_add_text(out, "}<end_function_call>");
}

/* An object's members, anything else as `value`; a failure as `error`. */
static void add_response(struct buf *out, const struct model_message *m, struct arena *arena)
{
    AUTO_JSON value = NULL;
    bool json = json_parse(m->text, &value, NULL) == 0;

    buf_add_text(out, "<start_function_response>response:");
    add_text(out, m->tool_name);
    buf_add_char(out, '{');
    if (json && json_object_is_type(value, json_type_object)) {
        add_members(out, value, arena);
    } else {
        buf_add_text(out, m->failed ? "error:" : "value:");
        if (json)
            add_value(out, value, arena);
        else
            add_string(out, m->text);
    }
    buf_add_text(out, "}<end_function_response>");
}

/* in_turn: the model's turn is open, since calls and their responses are part of it. */
static void add_message(struct buf *out, const struct model_message *m, struct str present,
                        bool *in_turn, struct arena *arena)
{
    if (m->role == MODEL_TOOL) {
        if (!*in_turn) /* a result without its call */
            buf_add_text(out, "<start_of_turn>model\n");
        *in_turn = true;
        add_response(out, m, arena);
        return;
    }
    if (m->role == MODEL_USER) {
        if (*in_turn)
            buf_add_text(out, "<end_of_turn>\n");
        *in_turn = false;
        buf_add_text(out, "<start_of_turn>user\n");
        add_text(out, str_trim(m->text));
        buf_add_text(out, present.n ? "\n\n" : "");
        add_text(out, present);
        buf_add_text(out, "<end_of_turn>\n");
        return;
    }
    if (!*in_turn)
        buf_add_text(out, "<start_of_turn>model\n");
    add_text(out, str_trim(m->text));
    for (size_t i = 0; i < m->call_count; i++)
        add_call(out, &m->calls[i], arena);
    *in_turn = m->call_count > 0;
    if (!*in_turn)
        buf_add_text(out, "<end_of_turn>\n");
}

/* Results stand in the model's own turn, so what is said last stands at the person's newest words.
 */
static size_t newest_words(const struct model_request *request)
{
    size_t at = request->message_count;

    while (at > 0 && request->messages[at - 1].role != MODEL_USER)
        at--;
    return at;
}

int gemma_prompt(const struct model_request *request, struct buf *out, struct err *err)
{
    AUTO_ARENA arena = ARENA_INIT;
    size_t newest = newest_words(request);
    bool in_turn = false;

    if (add_developer(out, request, &arena, err) < 0)
        return -1;
    for (size_t i = 0; i < request->message_count; i++)
        add_message(out, &request->messages[i], i + 1 == newest ? request->present : STR_NONE,
                    &in_turn, &arena);
    if (!in_turn)
        buf_add_text(out, "<start_of_turn>model\n");
    if (out->full)
        return err_set(err, ERR_CONTEXT_TOO_LONG, "the prompt is over %zu bytes", out->max);
    return 0;
}
