/* SKILL.md: front matter between two lines of three hyphens, then Markdown.
 *
 * The rules are those of the Agent Skills specification, and the verdicts those of skills-ref. It
 * is stricter than skills-ref where a lax reading would lose or hide something (docs/skills.md
 * lists the cases, tests/e2e/skills.test.mjs holds them to it):
 *   - three hyphens inside a line of the front matter: skills-ref ends it there, in mid-sentence;
 *   - a first line that says more than the hyphens;
 *   - bytes that are no UTF-8, YAML that the strict reader refuses (base/yaml.h);
 *   - a name, description or allowed-tools of another type, which skills-ref turns to text: "null".
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/json_write.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "base/yaml.h"
#include "skill/skill_int.h"

#define FENCE STR("---")

/* ---- the two parts ---- */

static struct str line_at(struct str text)
{
    ptrdiff_t end = str_find_char(text, '\n');

    return end < 0 ? text : str_take(text, (size_t)end);
}

static bool is_blank(struct str text)
{
    return str_trim(text).n == 0;
}

static unsigned line_number(struct str text, size_t at)
{
    unsigned n = 1;

    for (size_t i = 0; i < at && i < text.n; i++)
        n += text.p[i] == '\n';
    return n;
}

/* What other readers of YAML refuse and a person does not see. */
static bool holds_controls(struct str front, struct problems *problems)
{
    for (size_t i = 0; i < front.n; i++) {
        unsigned char c = (unsigned char)front.p[i];

        if ((c < 0x20 && c != '\t' && c != '\n' && c != '\r') || c == 0x7F) {
            problem_add(problems,
                        "SKILL.md:%u: the front matter holds a control character (U+%04X)",
                        line_number(front, i), c);
            return true;
        }
    }
    return false;
}

/* front begins with the line feed behind the first fence, so that lines count as in the file. */
static bool split_parts(struct str text, struct str *ret_front, struct str *ret_body,
                        struct problems *problems)
{
    struct str rest;
    ptrdiff_t at;

    if (!str_starts(text, FENCE)) {
        problem_add(problems, "SKILL.md must begin with a line of three hyphens (---)");
        return false;
    }
    rest = str_skip(text, FENCE.n);
    if (!is_blank(line_at(rest))) {
        problem_add(problems, "SKILL.md:1: nothing may follow the three hyphens (---)");
        return false;
    }
    at = str_find(rest, FENCE);
    if (at < 0) {
        problem_add(problems,
                    "SKILL.md: the front matter is not closed by a line of three hyphens");
        return false;
    }
    if (at == 0 || rest.p[at - 1] != '\n' || !is_blank(line_at(str_skip(rest, (size_t)at + 3)))) {
        problem_add(problems,
                    "SKILL.md:%u: three hyphens stand inside the front matter, where other "
                    "readers end it; write it without them",
                    line_number(rest, (size_t)at));
        return false;
    }
    *ret_front = str_take(rest, (size_t)at);
    *ret_body = str_trim(str_skip(rest, (size_t)at + FENCE.n));
    return !holds_controls(*ret_front, problems);
}

/* ---- fields ---- */

struct reading {
    const struct yaml *yaml;
    struct str front;
    struct arena *arena;
    struct skill *skill;
    struct problems *problems;
};

static struct json_object *field_of(const struct reading *r, const char *name, bool *ret_there)
{
    struct json_object *value = NULL;

    *ret_there = json_object_object_get_ex(r->yaml->root, name, &value);
    return value;
}

static unsigned line_of(const struct reading *r, const char *name)
{
    struct yaml_position at = { 0 };
    char pointer[64];

    snprintf(pointer, sizeof(pointer), "/%s", name);
    yaml_where_key(r->yaml, str_from(pointer), &at);
    return at.line;
}

/* Text as it is, other scalars as JSON writes them; STR_NONE for null, lists and mappings. */
static struct str scalar_text(const struct reading *r, struct json_object *value)
{
    if (!value || json_object_is_type(value, json_type_array) ||
        json_object_is_type(value, json_type_object))
        return STR_NONE;
    if (json_object_is_type(value, json_type_string))
        return arena_str(r->arena, json_str(value));
    return arena_str(r->arena,
                     str_from(json_object_to_json_string_ext(value, JSON_C_TO_STRING_PLAIN)));
}

static bool digits_at(struct str s, size_t at, size_t n)
{
    for (size_t i = at; i < at + n; i++)
        if (i >= s.n || s.p[i] < '0' || s.p[i] > '9')
            return false;
    return true;
}

/* 2026-01-31 without quotes is a date for readers of YAML 1.1, and no text. */
static bool reads_as_date(const struct reading *r, const char *name, struct str text)
{
    struct yaml_position at = { 0 };
    struct str rest = r->front;
    char pointer[64];

    if (!digits_at(text, 0, 4) || text.n < 10 || text.p[4] != '-' || !digits_at(text, 5, 2) ||
        text.p[7] != '-' || !digits_at(text, 8, 2) || (text.n > 10 && !strchr("Tt \t", text.p[10])))
        return false;
    snprintf(pointer, sizeof(pointer), "/%s", name);
    if (!yaml_where(r->yaml, str_from(pointer), &at))
        return false;
    for (unsigned line = 1; line < at.line && rest.n; line++)
        rest = str_skip(rest, line_at(rest).n + 1);
    /* The place of a quoted value may be its quote or what follows it. */
    rest = str_skip(rest, at.column - 1);
    return rest.n && rest.p[0] >= '0' && rest.p[0] <= '9' &&
           (rest.p == r->front.p || !strchr("'\"", rest.p[-1]));
}

static void read_name(struct reading *r, struct str directory)
{
    bool there;
    struct json_object *value = field_of(r, "name", &there);
    struct str text = scalar_text(r, value);

    if (!there) {
        problem_add(r->problems, "name: is missing");
    } else if (!str_trim(text).n) {
        problem_add(r->problems, "SKILL.md:%u: name: must be text and not empty",
                    line_of(r, "name"));
    } else if (reads_as_date(r, "name", text)) {
        problem_add(r->problems, "SKILL.md:%u: name: reads as a date; put it in quotes",
                    line_of(r, "name"));
    } else {
        name_check(str_trim(text), directory, r->problems);
        r->skill->name = name_compose(str_trim(text), r->arena);
    }
}

static void read_description(struct reading *r)
{
    bool there;
    struct json_object *value = field_of(r, "description", &there);
    struct str text = scalar_text(r, value);
    size_t units = text_units(text);

    if (!there) {
        problem_add(r->problems, "description: is missing");
    } else if (!str_trim(text).n) {
        problem_add(r->problems, "SKILL.md:%u: description: must be text and not empty",
                    line_of(r, "description"));
    } else if (units > LIMIT_SKILL_DESCRIPTION) {
        problem_add(r->problems,
                    "SKILL.md:%u: description: has %zu characters; at most %d are allowed",
                    line_of(r, "description"), units, LIMIT_SKILL_DESCRIPTION);
    }
    r->skill->description = str_trim(text);
}

static void read_compatibility(struct reading *r)
{
    bool there;
    struct json_object *value = field_of(r, "compatibility", &there);
    struct str text = json_str(value);
    size_t units = text_units(text);

    if (!there)
        return;
    if (!json_object_is_type(value, json_type_string) || reads_as_date(r, "compatibility", text))
        problem_add(r->problems, "SKILL.md:%u: compatibility: must be text",
                    line_of(r, "compatibility"));
    else if (units > LIMIT_SKILL_COMPATIBILITY)
        problem_add(r->problems,
                    "SKILL.md:%u: compatibility: has %zu characters; at most %d are allowed",
                    line_of(r, "compatibility"), units, LIMIT_SKILL_COMPATIBILITY);
    r->skill->compatibility = arena_str(r->arena, str_trim(text));
}

/* A map of texts; values of other types become text. What is no map is left out. */
static void read_metadata(struct reading *r)
{
    bool there;
    struct json_object *value = field_of(r, "metadata", &there);
    AUTO_BUF out = BUF_INIT(LIMIT_YAML_BYTES);
    struct json_writer w = JSON_WRITER(&out);
    struct json_object_iter it;

    json_write_object_begin(&w);
    if (json_object_is_type(value, json_type_object)) {
        json_object_object_foreachC(value, it)
        {
            json_write_key(&w, it.key);
            if (json_object_is_type(it.val, json_type_string))
                json_write_str(&w, json_str(it.val));
            else
                json_write_text(
                    &w,
                    it.val ? json_object_to_json_string_ext(it.val, JSON_C_TO_STRING_PLAIN) : "");
        }
    }
    json_write_object_end(&w);
    if (json_write_end(&w) < 0)
        problem_add(r->problems, "metadata: has more than %u bytes", LIMIT_YAML_BYTES);
    r->skill->metadata = arena_str(r->arena, buf_str(&out));
}

/* ---- allowed-tools ---- */

static bool ends_item(char c, int depth)
{
    return depth == 0 && (c == ' ' || c == ',' || c == '\t' || c == '\n' || c == '\r');
}

/* Splits at blanks and commas outside parentheses: "Bash(git add:*) Read". */
static bool next_tool(struct str *rest, struct str *ret_item)
{
    size_t n = 0;
    int depth = 0;

    while (rest->n && ends_item(rest->p[0], 0))
        *rest = str_skip(*rest, 1);
    for (; n < rest->n && !ends_item(rest->p[n], depth); n++)
        depth += rest->p[n] == '(' ? 1 : rest->p[n] == ')' && depth > 0 ? -1 : 0;
    *ret_item = str_take(*rest, n);
    *rest = str_skip(*rest, n);
    return n > 0;
}

static void write_tools(struct json_writer *w, struct str text)
{
    struct str item;

    while (next_tool(&text, &item))
        json_write_str(w, item);
}

struct str front_tools(struct str text, struct arena *arena)
{
    AUTO_BUF out = BUF_INIT(6 * text.n + 64);
    struct json_writer w = JSON_WRITER(&out);

    json_write_array_begin(&w);
    write_tools(&w, text);
    json_write_array_end(&w);
    return arena_str(arena, buf_str(&out));
}

static void read_tool_list(struct reading *r, struct json_object *list)
{
    AUTO_BUF out = BUF_INIT(LIMIT_YAML_BYTES);
    struct json_writer w = JSON_WRITER(&out);

    json_write_array_begin(&w);
    for (size_t i = 0; i < json_length(list); i++) {
        struct json_object *item = json_object_array_get_idx(list, i);

        if (!json_object_is_type(item, json_type_string)) {
            problem_add(r->problems, "SKILL.md:%u: allowed-tools: item %zu must be text",
                        line_of(r, "allowed-tools"), i + 1);
            continue;
        }
        json_write_str(&w, str_trim(json_str(item)));
    }
    json_write_array_end(&w);
    r->skill->allowed_tools = arena_str(r->arena, buf_str(&out));
}

/* It is enforced, so a form that can't be read must not pass as "no restriction". */
static void read_allowed_tools(struct reading *r)
{
    bool there;
    struct json_object *value = field_of(r, "allowed-tools", &there);

    r->skill->allowed_tools = STR("[]");
    if (!there)
        return;
    if (json_object_is_type(value, json_type_string))
        r->skill->allowed_tools = front_tools(json_str(value), r->arena);
    else if (json_object_is_type(value, json_type_array))
        read_tool_list(r, value);
    else
        problem_add(r->problems,
                    "SKILL.md:%u: allowed-tools: must be names separated by blanks, or a list",
                    line_of(r, "allowed-tools"));
}

/* ---- the whole ---- */

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void check_fields(struct reading *r)
{
    static const char *const known[] = { "allowed-tools", "compatibility", "description",
                                         "license",       "metadata",      "name" };
    const char *odd[SKILL_PROBLEMS_MAX];
    struct json_object_iter it;
    AUTO_BUF names = BUF_INIT(512);
    size_t n = 0;

    json_object_object_foreachC(r->yaml->root, it)
    {
        if (!bsearch(&(const char *){ it.key }, known, ARRAY_LEN(known), sizeof(known[0]),
                     compare_names) &&
            n < ARRAY_LEN(odd))
            odd[n++] = it.key;
    }
    if (!n)
        return;
    qsort(odd, n, sizeof(odd[0]), compare_names);
    for (size_t i = 0; i < n; i++)
        buf_printf(&names, "%s%.60s", i ? ", " : "", odd[i]);
    problem_add(r->problems,
                "unexpected fields: %s; allowed are name, description, license, compatibility, "
                "metadata and allowed-tools",
                buf_text(&names));
}

static void read_fields(struct reading *r, struct str directory)
{
    bool there;

    if (r->yaml->root && !json_object_is_type(r->yaml->root, json_type_object)) {
        problem_add(r->problems, "SKILL.md: the front matter must be a mapping of fields");
        return;
    }
    if (r->yaml->root)
        check_fields(r);
    read_name(r, directory);
    read_description(r);
    read_compatibility(r);
    r->skill->license = scalar_text(r, field_of(r, "license", &there));
    read_metadata(r);
    read_allowed_tools(r);
}

void front_read(struct str text, struct str directory, struct arena *arena, struct skill *ret_skill,
                struct problems *problems)
{
    AUTO_YAML yaml = YAML_INIT;
    struct reading r = { .yaml = &yaml, .arena = arena, .skill = ret_skill, .problems = problems };
    struct str body = STR_NONE;
    struct err err = ERR_INIT;
    size_t valid = utf8_valid_prefix(text);

    *ret_skill =
        (struct skill){ .enabled = true, .metadata = STR("{}"), .allowed_tools = STR("[]") };
    if (text.n > SKILL_TEXT_MAX) {
        problem_add(problems, "SKILL.md has %zu bytes; at most %d are allowed", text.n,
                    SKILL_TEXT_MAX);
        return;
    }
    if (valid < text.n) {
        problem_add(problems, "SKILL.md:%u: is not valid UTF-8", line_number(text, valid));
        return;
    }
    if (!split_parts(text, &r.front, &body, problems))
        return;
    if (yaml_parse(r.front, "SKILL.md", &yaml, &err) < 0) {
        problem_add(problems, "the front matter is no valid YAML: %s",
                    err_format(&err, (char[ERR_TEXT_MAX]){ "" }, ERR_TEXT_MAX));
        return;
    }
    ret_skill->instructions = arena_str(arena, body);
    read_fields(&r, directory);
}
