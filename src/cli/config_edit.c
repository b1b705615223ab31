/* Adding to a YAML file by its lines.
 *
 * The file is not written anew from its tree, which would lose comments and order. The place is
 * found in the text: the end of the block under the key, or of the file. Whether that was right is
 * not a matter of trust: the result is parsed, and must be the old tree with one item more.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cli/config_edit.h"

#include <json-c/json_object_iterator.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/json_write.h"
#include "base/limits.h"
#include "base/yaml.h"

/* ---- writing ---- */

/* Plain where nobody can read it as something else. */
static bool is_plain(struct str text)
{
    static const char *const words[] = { "true", "false", "null", "yes", "no", "on", "off" };
    const char *more = "_./-:";

    if (text.n == 0 || text.n > 200)
        return false;
    for (size_t i = 0; i < text.n; i++) {
        char c = text.p[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');

        if (!letter && (i == 0 || !((c >= '0' && c <= '9') || strchr(more, c))))
            return false;
    }
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (str_eq_nocase(text, str_from(words[i])))
            return false;
    return text.p[text.n - 1] != ':';
}

static void add_scalar(struct buf *out, struct json_object *value)
{
    struct json_writer w = JSON_WRITER(out);

    if (json_object_is_type(value, json_type_string) && is_plain(json_str(value)))
        buf_add_str(out, json_str(value));
    else
        json_write_value(&w, value);
    buf_add_char(out, '\n');
}

static void add_members(struct buf *out, struct json_object *object, unsigned indent, bool dashed)
{
    struct json_object_iterator at = json_object_iter_begin(object),
                                end = json_object_iter_end(object);

    for (; !json_object_iter_equal(&at, &end); json_object_iter_next(&at)) {
        struct json_object *value = json_object_iter_peek_value(&at);

        buf_printf(out, "%*s%s:", dashed ? 0 : (int)indent, "", json_object_iter_peek_name(&at));
        dashed = false;
        if (json_object_is_type(value, json_type_object)) {
            buf_add_char(out, '\n');
            add_members(out, value, indent + 2, false);
        } else {
            buf_add_char(out, ' ');
            add_scalar(out, value);
        }
    }
}

void config_edit_lines(struct json_object *record, unsigned n, struct buf *out)
{
    buf_printf(out, "%*s- ", (int)n, "");
    add_members(out, record, n + 2, true);
}

/* ---- finding the place ---- */

/* The line that begins at `at`, without its end; *next is where the following one begins. */
static struct str line_at(struct str text, size_t at, size_t *next)
{
    struct str rest = str_skip(text, at);
    ptrdiff_t end = str_find_char(rest, '\n');

    *next = end < 0 ? text.n : at + (size_t)end + 1;
    return end < 0 ? rest : str_take(rest, (size_t)end);
}

static size_t indent_of(struct str line)
{
    size_t n = 0;

    while (n < line.n && line.p[n] == ' ')
        n++;
    return n;
}

static bool is_content(struct str line)
{
    struct str text = str_trim(line);

    return text.n > 0 && text.p[0] != '#';
}

static size_t offset_of_line(struct str text, unsigned line)
{
    size_t at = 0;

    for (unsigned i = 1; i < line && at < text.n; i++)
        line_at(text, at, &at);
    return at;
}

struct place {
    size_t at;     /* offset where the lines go */
    size_t indent; /* of the dash */
};

/* Where the block sequence that follows the line at `at` ends. False when there is none. */
static bool block_end(struct str text, size_t at, struct place *ret)
{
    size_t next, base = indent_of(line_at(text, at, &next)), dash = 0;
    bool found = false;

    ret->at = next;
    for (at = next; at < text.n; at = next) {
        struct str line = line_at(text, at, &next);
        size_t indent = indent_of(line);
        bool item = str_starts(str_skip(line, indent), STR("-"));

        if (!is_content(line))
            continue;
        if (indent < base || (indent == base && !item))
            break;
        if (!found && !item)
            return false;
        if (!found)
            dash = indent;
        found = true;
        ret->at = next;
    }
    ret->indent = dash;
    return found;
}

static int by_hand(struct json_object *record, const char *name, const char *key, struct err *err)
{
    AUTO_BUF lines = BUF_INIT(ERR_TEXT_MAX / 2);

    config_edit_lines(record, 2, &lines);
    return err_set(err, ERR_BAD_REQUEST,
                   "%s: `%s` is not written as lines that begin with a dash, so nothing can be"
                   " added to it. Add it yourself:\n%s:\n%s",
                   name, key, key, buf_text(&lines));
}

/* ---- adding ---- */

static void end_line(struct buf *out)
{
    if (out->n > 0 && out->p[out->n - 1] != '\n')
        buf_add_char(out, '\n');
}

static void append_key(struct str text, const char *key, struct json_object *record,
                       struct buf *out)
{
    buf_add_str(out, text);
    end_line(out);
    if (out->n > 0)
        buf_add_char(out, '\n');
    buf_printf(out, "%s:\n", key);
    config_edit_lines(record, 2, out);
}

/* "models: []" becomes the key alone, with its comment. */
static bool open_empty(struct str text, size_t at, const char *key, struct json_object *record,
                       struct buf *out)
{
    size_t next;
    struct str line = line_at(text, at, &next), rest;
    size_t indent = indent_of(line);

    rest = str_trim(str_skip(line, indent + strlen(key) + 1));
    if (!str_starts(rest, STR("[]")) && is_content(rest))
        return false;
    if (str_starts(rest, STR("[]")))
        rest = str_trim(str_skip(rest, 2));
    buf_add_str(out, str_take(text, at));
    buf_printf(out, "%*s%s:%s%.*s\n", (int)indent, "", key, rest.n ? " " : "", STR_ARG(rest));
    config_edit_lines(record, (unsigned)indent + 2, out);
    buf_add_str(out, str_skip(text, next));
    return true;
}

static int check_result(struct json_object *old, const char *key, struct json_object *record,
                        struct str text)
{
    AUTO_YAML yaml = YAML_INIT;
    AUTO_JSON wanted = NULL;
    struct json_object *list;

    if (yaml_parse(text, "new", &yaml, NULL) < 0)
        return -1;
    if (!old)
        wanted = json_object_new_object();
    else if (json_object_deep_copy(old, &wanted, NULL) < 0)
        return -1;
    list = json_find(wanted, key);
    if (!list) {
        list = json_object_new_array();
        json_object_object_add(wanted, key, list);
    }
    json_object_array_add(list, json_object_get(record));
    return json_equal(wanted, yaml.root) ? 0 : -1;
}

int config_edit_append(struct str text, const char *name, const char *key,
                       struct json_object *record, struct buf *out, struct err *err)
{
    AUTO_YAML yaml = YAML_INIT;
    AUTO_BUF result = BUF_INIT(LIMIT_CONFIG_BYTES);
    struct json_object *list = NULL;
    struct yaml_position where;
    struct place place;
    char pointer[64];
    size_t at;

    if (yaml_parse(text, name, &yaml, err) < 0)
        return -1;
    snprintf(pointer, sizeof(pointer), "/%s", key);
    if (!yaml.root || !json_object_object_get_ex(yaml.root, key, &list)) {
        append_key(text, key, record, &result);
    } else {
        yaml_where_key(&yaml, str_from(pointer), &where);
        at = offset_of_line(text, where.line);
        if (list && json_object_is_type(list, json_type_array) && json_length(list) > 0 &&
            block_end(text, at, &place)) {
            buf_add_str(&result, str_take(text, place.at));
            end_line(&result);
            config_edit_lines(record, (unsigned)place.indent, &result);
            buf_add_str(&result, str_skip(text, place.at));
        } else if ((json_length(list) > 0) || !open_empty(text, at, key, record, &result)) {
            return by_hand(record, name, key, err);
        }
    }
    if (result.full)
        return err_set(err, ERR_TOO_LARGE, "%s would be over %u bytes", name, LIMIT_CONFIG_BYTES);
    if (check_result(yaml.root, key, record, buf_str(&result)) < 0)
        return by_hand(record, name, key, err);
    return buf_add_str(out, buf_str(&result));
}
