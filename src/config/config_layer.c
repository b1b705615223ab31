/* One file of the configuration: read, parsed, with a place for every value.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdarg.h>
#include <string.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/limits.h"
#include "config/config_int.h"

#define MESSAGE_MAX 1024

void config_problems_release(struct config_problems *problems)
{
    arena_release(&problems->arena);
}

static void add_problem(struct config_problems *problems, const char *file, unsigned line,
                        unsigned column, const char *fmt, va_list args)
{
    AUTO_BUF message = BUF_INIT(MESSAGE_MAX);

    if (problems->n == CONFIG_PROBLEMS_MAX) {
        problems->more++;
        return;
    }
    buf_vprintf(&message, fmt, args);
    problems->items[problems->n++] = (struct config_problem){
        .file = arena_text(&problems->arena, file),
        .line = line,
        .column = column,
        .message = arena_text(&problems->arena, buf_text(&message)),
    };
}

void config_problem_add(struct config_problems *problems, const char *file, unsigned line,
                        unsigned column, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    add_problem(problems, file, line, column, fmt, args);
    va_end(args);
}

void config_problem_at(struct config_problems *problems, const struct config_layer *layer,
                       const char *pointer, const char *fmt, ...)
{
    struct yaml_position at = { 0, 0 };
    va_list args;

    if (layer->yaml.places)
        yaml_where(&layer->yaml, str_from(pointer), &at);
    va_start(args, fmt);
    add_problem(problems, layer->name, at.line, at.column, fmt, args);
    va_end(args);
}

void config_problem_key(struct config_problems *problems, const struct config_layer *layer,
                        const char *pointer, const char *fmt, ...)
{
    struct yaml_position at = { 0, 0 };
    va_list args;

    if (layer->yaml.places)
        yaml_where_key(&layer->yaml, str_from(pointer), &at);
    va_start(args, fmt);
    add_problem(problems, layer->name, at.line, at.column, fmt, args);
    va_end(args);
}

unsigned config_layer_line(const struct config_layer *layer, const char *pointer)
{
    struct yaml_position at = { 0, 0 };

    if (layer->yaml.places)
        yaml_where_key(&layer->yaml, str_from(pointer), &at);
    return at.line;
}

/* "NAME:LINE:COLUMN: message", as the parser says it, or any other text. */
static void add_parse_error(struct config_problems *problems, const char *name, const char *text)
{
    size_t n = strlen(name);
    uint64_t line = 0, column = 0;
    struct str rest, first, second;

    if (strncmp(text, name, n) == 0 && text[n] == ':') {
        rest = str_from(text + n + 1);
        if (str_split(&rest, ':', &first) && str_split(&rest, ':', &second) &&
            str_to_u64(first, &line) == 0 && str_to_u64(second, &column) == 0 && rest.n > 0)
            text = rest.p + (*rest.p == ' ');
    }
    config_problem_add(problems, name, (unsigned)line, (unsigned)column, "%s", text);
}

int config_layer_parse(struct str text, const char *name, struct config_layer *layer,
                       struct config_problems *problems)
{
    struct err err = ERR_INIT;

    layer->name = name;
    if (yaml_parse(text, name, &layer->yaml, &err) < 0) {
        add_parse_error(problems, name, err_message(&err, 0));
        return -1;
    }
    layer->tree = layer->yaml.root;
    return layer->tree ? 1 : 0;
}

int config_layer_read(const char *path, struct config_layer *layer,
                      struct config_problems *problems)
{
    AUTO_BUF text = BUF_INIT(LIMIT_CONFIG_BYTES);
    struct err err = ERR_INIT;
    const char *why;

    if (file_read(path, &text, &err) == 0)
        return config_layer_parse(buf_str(&text), path, layer, problems);
    if (err.code == ERR_NOT_FOUND)
        return 0;
    /* "open PATH: why": the path is said already. */
    why = strstr(err_message(&err, 0), path);
    why = why ? strchr(why + strlen(path), ' ') : NULL;
    config_problem_add(problems, path, 0, 0, "%s", why ? why + 1 : err_message(&err, 0));
    return -1;
}

void config_layer_release(struct config_layer *layer)
{
    yaml_release(&layer->yaml);
    layer->tree = NULL;
}
