/* The arguments of a call, as small models write them.
 *
 * A reader by recursive descent over FunctionGemma's values that also takes what models write
 * instead: JSON, Python, quotes. Whatever it takes beyond the format is noted as a repair; where
 * two readings are possible it gives up, and the call has a problem that the model is told.
 *
 * SPDX-License-Identifier: MIT
 */
#include <ctype.h>
#include <json-c/json.h>

#include "base/json.h"
#include "base/json_write.h"
#include "base/utf8.h"
#include "model/gemma_int.h"

#define ESCAPE STR("<escape>")

struct reader {
    struct str text;
    size_t at;
    struct arena *arena;
    unsigned repairs;
    const char *problem; /* the first one */
};

static void trouble(struct reader *r, const char *what)
{
    if (!r->problem)
        r->problem = arena_printf(r->arena, "%s at byte %zu of the call", what, r->at);
}

static struct str rest(const struct reader *r)
{
    return str_skip(r->text, r->at);
}

static void skip_space(struct reader *r)
{
    while (r->at < r->text.n && r->text.p[r->at] && strchr(" \t\r\n", r->text.p[r->at]))
        r->at++;
}

static char peek(struct reader *r)
{
    skip_space(r);
    return r->at < r->text.n ? r->text.p[r->at] : '\0';
}

static bool take(struct reader *r, char c)
{
    if (r->at < r->text.n && peek(r) == c && r->at < r->text.n) {
        r->at++;
        return true;
    }
    return false;
}

/* ---- strings ---- */

static struct str read_escaped(struct reader *r)
{
    struct str body;
    ptrdiff_t end;

    r->at += ESCAPE.n;
    body = rest(r);
    end = str_find(body, ESCAPE);
    if (end >= 0) {
        r->at += (size_t)end + ESCAPE.n;
        return str_take(body, (size_t)end);
    }
    /* Not closed: safe only when nothing can follow but the braces that end the call. */
    r->repairs |= GEMMA_OPEN_STRING;
    r->at = r->text.n;
    while (body.n && strchr("}] \t\r\n", body.p[body.n - 1]) && body.p[body.n - 1])
        body.n--;
    if (str_find_char(body, ':') >= 0 && str_find_char(body, ',') >= 0)
        trouble(r, "a string has no closing <escape>, and what follows may be another argument");
    return body;
}

static uint32_t read_hex4(struct reader *r)
{
    uint32_t code = 0;

    for (int i = 0; i < 4 && r->at < r->text.n && isxdigit((unsigned char)r->text.p[r->at]); i++) {
        char d = (char)tolower((unsigned char)r->text.p[r->at++]);

        code = code * 16 + (uint32_t)(d >= 'a' ? d - 'a' + 10 : d - '0');
    }
    return code;
}

/* What follows a backslash; halves of a character are put together, lone ones are U+FFFD. */
static void add_escape_sequence(struct reader *r, struct buf *out, char c)
{
    static const char from[] = "nrtbf", to[] = "\n\r\t\b\f";
    const char *hit = c ? strchr(from, c) : NULL;
    uint32_t code, low;

    if (c != 'u') {
        buf_add_char(out, hit ? to[hit - from] : c);
        return;
    }
    code = read_hex4(r);
    if (code >= 0xD800 && code <= 0xDBFF && str_starts(rest(r), STR("\\u"))) {
        r->at += 2;
        low = read_hex4(r);
        code = low >= 0xDC00 && low <= 0xDFFF ? 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00)
                                              : UTF8_REPLACEMENT;
    }
    buf_add_utf8(out, code >= 0xD800 && code <= 0xDFFF ? UTF8_REPLACEMENT : code);
}

/* "text" or 'text' with JSON's escapes; raw line breaks are taken as they are. */
static struct str read_quoted(struct reader *r, char quote)
{
    AUTO_BUF out = BUF_INIT(GEMMA_CALL_MAX);

    r->repairs |= GEMMA_QUOTES;
    r->at++;
    while (r->at < r->text.n) {
        char c = r->text.p[r->at++];

        if (c == quote)
            return arena_str(r->arena, buf_str(&out));
        if (c == '\\' && r->at < r->text.n)
            add_escape_sequence(r, &out, r->text.p[r->at++]);
        else
            buf_add_char(&out, c);
    }
    trouble(r, "a quoted string has no end");
    return STR_NONE;
}

/* ---- values ---- */

static struct json_object *text_value(struct str text)
{
    AUTO_BUF clean = BUF_INIT((size_t)3 * GEMMA_CALL_MAX);

    utf8_sanitise(text, &clean);
    return json_object_new_string_len(buf_text(&clean), (int)clean.n);
}

/* "1 timeout:2": a comma may be missing. */
static bool looks_like_two(struct str word)
{
    for (size_t i = 0; i < word.n; i++) {
        size_t k = i + 1;

        if (word.p[i] != ' ')
            continue;
        while (k < word.n && (isalnum((unsigned char)word.p[k]) || word.p[k] == '_'))
            k++;
        if (k > i + 1 && k < word.n && (word.p[k] == ':' || word.p[k] == '='))
            return true;
    }
    return false;
}

/* A number, true, false, null, or a string that nobody marked. */
static struct json_object *read_bare(struct reader *r, bool *ret_null)
{
    size_t from = r->at;
    struct json_object *value = NULL;
    struct str word;

    while (r->at < r->text.n && !(r->text.p[r->at] && strchr(",}])\n", r->text.p[r->at])))
        r->at++;
    word = str_trim(str_of(r->text.p + from, r->at - from));
    if (!word.n) {
        trouble(r, "a value is missing");
        return NULL;
    }
    if (str_eq_nocase(word, STR("null")) || str_is(word, "None")) {
        r->repairs |= str_is(word, "null") ? 0 : GEMMA_WORDS;
        *ret_null = true;
        return NULL;
    }
    if (str_eq_nocase(word, STR("true")) || str_eq_nocase(word, STR("false"))) {
        r->repairs |= word.p[0] == 't' || word.p[0] == 'f' ? 0 : GEMMA_WORDS;
        return json_object_new_boolean(tolower((unsigned char)word.p[0]) == 't');
    }
    if (json_parse(word, &value, NULL) == 0 && !json_object_is_type(value, json_type_string))
        return value;
    json_object_put(value);
    if (str_find(word, ESCAPE) >= 0 || str_find_char(word, '"') >= 0 ||
        str_find_char(word, '{') >= 0 || looks_like_two(word)) {
        trouble(r, "a value is neither text nor number");
        return NULL;
    }
    r->repairs |= GEMMA_BARE_TEXT;
    return text_value(word);
}

static struct json_object *read_value(struct reader *r, unsigned depth, bool *ret_null);

static struct json_object *read_list(struct reader *r, unsigned depth)
{
    struct json_object *list = json_object_new_array();

    r->at++;
    while (!r->problem) {
        struct json_object *item;
        bool null = false;

        if (take(r, ']'))
            break;
        if (r->at >= r->text.n) {
            r->repairs |= GEMMA_OPEN_BRACES;
            break;
        }
        item = read_value(r, depth + 1, &null);
        if (item || null)
            json_object_array_add(list, item);
        if (take(r, ',')) {
            if (peek(r) == ']')
                r->repairs |= GEMMA_TRAILING_COMMA;
        } else if (peek(r) != ']' && r->at < r->text.n) {
            trouble(r, "expected ',' or ']'");
        }
    }
    return list;
}

static struct str read_key(struct reader *r)
{
    size_t from;
    char c = peek(r);

    if (str_starts(rest(r), ESCAPE))
        return read_escaped(r);
    if (c == '"' || c == '\'') {
        r->repairs |= GEMMA_JSON;
        return read_quoted(r, c);
    }
    from = r->at;
    while (r->at < r->text.n && (isalnum((unsigned char)r->text.p[r->at]) ||
                                 (r->text.p[r->at] && strchr("_-.$", r->text.p[r->at]))))
        r->at++;
    return str_of(r->text.p + from, r->at - from);
}

static void read_member(struct reader *r, struct json_object *object, unsigned depth)
{
    struct str key = read_key(r);
    struct json_object *value;
    bool null = false;
    char *name;

    if (r->problem)
        return;
    if (!key.n || key.n > GEMMA_NAME_MAX || !utf8_valid(key) || memchr(key.p, '\0', key.n)) {
        trouble(r, "expected the name of an argument");
        return;
    }
    if (take(r, '='))
        r->repairs |= GEMMA_EQUALS;
    else if (!take(r, ':')) {
        trouble(r, "expected ':' after the name of an argument");
        return;
    }
    name = arena_copy(r->arena, key.p, key.n);
    if (json_object_object_get_ex(object, name, NULL)) {
        trouble(r, arena_printf(r->arena, "the argument \"%s\" is given twice", name));
        return;
    }
    value = read_value(r, depth + 1, &null);
    if (value || null)
        json_object_object_add(object, name, value);
}

/* Members up to `close`, which is consumed. */
static struct json_object *read_members(struct reader *r, char close, unsigned depth)
{
    struct json_object *object = json_object_new_object();

    while (!r->problem) {
        if (take(r, close))
            break;
        if (peek(r) == '\0' && r->at >= r->text.n) {
            r->repairs |= GEMMA_OPEN_BRACES;
            break;
        }
        read_member(r, object, depth);
        if (take(r, ',')) {
            if (peek(r) == close)
                r->repairs |= GEMMA_TRAILING_COMMA;
        } else if (peek(r) != close && r->at < r->text.n) {
            trouble(r, "expected ',' or the end of the arguments");
        }
    }
    return object;
}

static struct json_object *read_value(struct reader *r, unsigned depth, bool *ret_null)
{
    char c = peek(r);

    if (depth > GEMMA_DEPTH_MAX) {
        trouble(r, "values are nested too deeply");
        return NULL;
    }
    if (str_starts(rest(r), ESCAPE))
        return text_value(read_escaped(r));
    if (c == '"' || c == '\'')
        return text_value(read_quoted(r, c));
    if (c == '{') {
        r->at++;
        return read_members(r, '}', depth);
    }
    if (c == '[')
        return read_list(r, depth);
    return read_bare(r, ret_null);
}

/* ---- types that the tool wants ---- */

static bool wants(struct json_object *property, const char *type)
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

/* The value in the type that is wanted, or NULL when it is fine as it is. */
static struct json_object *mended(struct json_object *value, struct json_object *property)
{
    struct str text = json_str(value);
    struct json_object *other = NULL;

    if (json_object_is_type(value, json_type_string) && !wants(property, "string") &&
        json_find(property, "type")) {
        if (json_parse(str_trim(text), &other, NULL) < 0)
            return NULL;
        if ((wants(property, "integer") && json_object_is_type(other, json_type_int)) ||
            (wants(property, "number") && (json_object_is_type(other, json_type_int) ||
                                           json_object_is_type(other, json_type_double))) ||
            (wants(property, "boolean") && json_object_is_type(other, json_type_boolean)))
            return other;
        json_object_put(other);
        return NULL;
    }
    if (wants(property, "string") && !wants(property, "number") && !wants(property, "integer") &&
        (json_object_is_type(value, json_type_int) || json_object_is_type(value, json_type_double)))
        return json_object_new_string(json_object_get_string(value));
    return NULL;
}

static void mend_types(struct reader *r, struct json_object *arguments,
                       const struct model_tool *tool)
{
    AUTO_JSON schema = NULL;
    struct json_object_iterator at = json_object_iter_begin(arguments);
    const struct json_object_iterator end = json_object_iter_end(arguments);
    struct json_object *properties;

    if (!tool || json_parse(tool->input_schema, &schema, NULL) < 0)
        return;
    properties = json_find(schema, "properties");
    for (; !json_object_iter_equal(&at, &end); json_object_iter_next(&at)) {
        const char *key = json_object_iter_peek_name(&at);
        struct json_object *property = json_find(properties, key);
        struct json_object *other =
            property ? mended(json_object_iter_peek_value(&at), property) : NULL;

        if (other) {
            json_object_object_add(arguments, key, other); /* in its place */
            r->repairs |= GEMMA_TYPE;
        }
    }
}

/* ---- a call ---- */

static const struct model_tool *tool_named(struct str name, const struct model_tool *tools,
                                           size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (str_eq(tools[i].name, name))
            return &tools[i];
    }
    return NULL;
}

static struct str read_name(struct reader *r)
{
    size_t from;

    skip_space(r);
    if (str_starts(rest(r), STR("call:")))
        r->at += 5;
    else
        r->repairs |= GEMMA_NO_PREFIX;
    skip_space(r);
    from = r->at;
    while (r->at < r->text.n && (isalnum((unsigned char)r->text.p[r->at]) ||
                                 (r->text.p[r->at] && strchr("_-.:/", r->text.p[r->at]))))
        r->at++;
    return str_of(r->text.p + from, r->at - from);
}

/* {"name": .., "arguments": {..}} in place of the call; the members are put, name copied. */
static struct json_object *unwrap_json(struct reader *r, struct json_object *object,
                                       struct str *ret_name)
{
    static const char *const names[] = { "name", "function", "tool" };
    static const char *const inner[] = { "arguments", "parameters", "args" };
    struct json_object *arguments = NULL;

    r->repairs |= GEMMA_JSON;
    for (size_t i = 0; i < 3 && !ret_name->n; i++)
        *ret_name = arena_str(r->arena, json_str(json_find(object, names[i])));
    for (size_t i = 0; i < 3 && !arguments; i++)
        arguments = json_find(object, inner[i]);
    if (!ret_name->n)
        trouble(r, "the call names no function");
    if (arguments && !json_object_is_type(arguments, json_type_object))
        trouble(r, "the arguments are no object");
    arguments = arguments && !r->problem ? json_object_get(arguments) : json_object_new_object();
    json_object_put(object);
    return arguments;
}

static struct json_object *read_arguments(struct reader *r, struct str *name)
{
    struct json_object *object;

    if (take(r, '{'))
        object = read_members(r, '}', 0);
    else if (take(r, '(')) {
        r->repairs |= GEMMA_PARENTHESES;
        if (take(r, '{')) {
            object = read_members(r, '}', 0);
            (void)take(r, ')');
        } else {
            object = read_members(r, ')', 0);
        }
    } else {
        if (r->at < r->text.n)
            trouble(r, "expected '{' after the name of the function");
        else
            r->repairs |= GEMMA_OPEN_BRACES;
        return json_object_new_object();
    }
    if (!name->n && !r->problem)
        object = unwrap_json(r, object, name);
    while (!r->problem && (take(r, '}') || take(r, ')')))
        ; /* one too many */
    if (peek(r) && !r->problem)
        trouble(r, "there is text after the arguments");
    return object;
}

void gemma_call_read(struct str body, const struct model_tool *tools, size_t tool_count,
                     struct arena *arena, struct gemma_call *ret_call)
{
    AUTO_BUF out = BUF_INIT((size_t)8 * GEMMA_CALL_MAX);
    struct json_writer w = JSON_WRITER(&out);
    struct reader r = { .text = body, .arena = arena };
    AUTO_JSON arguments = NULL;
    struct str name;

    *ret_call = (struct gemma_call){ .arguments = STR("{}") };
    if (body.n > GEMMA_CALL_MAX) {
        ret_call->problem = STR("the call is too long");
        return;
    }
    name = read_name(&r);
    if (!name.n && peek(&r) != '{')
        trouble(&r, "the call names no function");
    if (!r.problem)
        arguments = read_arguments(&r, &name);
    ret_call->name = arena_str(arena, str_take(name, GEMMA_NAME_MAX));
    if (!r.problem) {
        mend_types(&r, arguments, tool_named(name, tools, tool_count));
        json_write_value(&w, arguments);
        if (json_write_end(&w) < 0)
            trouble(&r, "the arguments are too long");
        ret_call->arguments = arena_str(arena, buf_str(&out));
    }
    if (r.problem) {
        ret_call->arguments = STR("{}");
        ret_call->problem = str_from(arena_printf(arena,
                                                  "The call could not be read: %s. Write "
                                                  "call:name{argument:<escape>text<escape>}",
                                                  r.problem));
    }
    ret_call->repairs = r.repairs;
}
