/* What is said to people when an instance does not fit.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>

#include "base/json.h"
#include "base/json_write.h"
#include "base/schema_int.h"

#define POINTER_TEXT_MAX 2048

void schema_report_release(struct schema_report *report)
{
    arena_release(&report->arena);
    *report = SCHEMA_REPORT_INIT;
}

void schema_path_add(const struct schema_path *path, struct buf *out)
{
    if (!path)
        return;
    schema_path_add(path->up, out);
    if (path->key)
        json_pointer_add(out, str_from(path->key));
    else
        buf_printf(out, "/%zu", path->index);
}

/* Too long ones are cut. */
static const char *pointer_text(struct arena *arena, const struct schema_path *path)
{
    AUTO_BUF out = BUF_INIT(POINTER_TEXT_MAX);

    schema_path_add(path, &out);
    return arena_text(arena, buf_text(&out));
}

static size_t path_length(const struct schema_path *path)
{
    size_t n = 0;

    for (; path; path = path->up)
        n++;
    return n;
}

bool schema_fail(struct schema_run *run, const char *keyword, const struct schema_path *path,
                 const char *fmt, ...)
{
    struct schema_report *report = run->report;
    const struct schema_node *node = run->node;
    struct schema_error *error;
    char message[512];
    va_list args;

    /* Deeper is closer to what was meant; at one depth, anything is closer than a wrong type. */
    run->fail_rank = path_length(path) * 2 + !(keyword && strcmp(keyword, "type") == 0);
    if (!report)
        return false;
    if (report->n == SCHEMA_ERRORS_MAX) {
        report->more = true;
        return false;
    }
    va_start(args, fmt);
    vsnprintf(message, sizeof(message), fmt, args);
    va_end(args);
    error = &report->errors[report->n++];
    error->instance = pointer_text(&report->arena, path);
    error->message = arena_text(&report->arena, message);
    error->keyword = arena_printf(&report->arena, "%.*s#%s%s%s", STR_ARG(node->unit->uri),
                                  pointer_text(&report->arena, node->at), keyword ? "/" : "",
                                  keyword ? keyword : "");
    return false;
}

const char *schema_show(struct json_object *value, char *out, size_t size)
{
    AUTO_BUF text = BUF_INIT(256);
    struct json_writer w = JSON_WRITER(&text);

    if (json_object_get_type(value) == json_type_object)
        buf_add_text(&text, "an object");
    else if (json_object_get_type(value) == json_type_array)
        buf_add_text(&text, "an array");
    else
        json_write_value(&w, value);
    snprintf(out, size, "%s",
             text.full || text.n >= size ? json_type_name(value) : buf_text(&text));
    return out;
}

void schema_report_text(const struct schema_report *report, struct buf *out)
{
    for (size_t i = 0; i < report->n; i++) {
        const struct schema_error *error = &report->errors[i];

        buf_printf(out, "%s: %s (schema %s)\n",
                   error->instance[0] ? error->instance : "the whole value", error->message,
                   error->keyword);
    }
    if (report->more)
        buf_printf(out, "and more than %d in all\n", SCHEMA_ERRORS_MAX);
}
