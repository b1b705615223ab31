/* Reading templates and patterns that are part of the binary.
 *
 * SPDX-License-Identifier: MIT
 */
#include "builder/template.h"

#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/embed.h"
#include "base/json.h"
#include "base/nearest.h"
#include "base/yaml.h"

extern const struct embed_file builder_template_files[];
extern const struct embed_file builder_prompt_files[];

static struct {
    bool read;
    struct arena arena;
    struct template *templates;
    size_t count;
    struct pattern *patterns;
    size_t pattern_count;
} book; /* of this process, never released: it is constant once read */

/* ---- templates ---- */

struct raw {
    struct str name, kind, mode, description, instructions;
    struct json_object *tools, *patterns, *subscriptions, *timers;
};

static const struct json_field fields[] = {
    JSON_FIELD(struct raw, name, "name", JSON_STR, .required = true),
    JSON_FIELD(struct raw, kind, "kind", JSON_STR, .required = true),
    JSON_FIELD(struct raw, mode, "mode", JSON_STR, .required = true),
    JSON_FIELD(struct raw, description, "description", JSON_STR, .required = true),
    JSON_FIELD(struct raw, instructions, "instructions", JSON_STR, .required = true),
    JSON_FIELD(struct raw, tools, "tools", JSON_ARRAY, .required = true),
    JSON_FIELD(struct raw, patterns, "patterns", JSON_ARRAY, .required = true),
    JSON_FIELD(struct raw, subscriptions, "subscriptions", JSON_ARRAY, .required = true),
    JSON_FIELD(struct raw, timers, "timers", JSON_ARRAY, .required = true),
    { .name = NULL },
};

static const char *const *names_of(struct json_object *list)
{
    size_t n = json_length(list);
    const char **names = ARENA_NEW_N(&book.arena, const char *, n + 1);

    for (size_t i = 0; i < n; i++) {
        struct str name = json_str(json_object_array_get_idx(list, i));

        BUG_IF(!name.n);
        names[i] = arena_copy(&book.arena, name.p, name.n);
    }
    return names;
}

static const char *copied(struct str text)
{
    return arena_copy(&book.arena, text.p, text.n);
}

static int read_subscriptions(struct json_object *list, struct template *template, struct err *err)
{
    size_t n = json_length(list);
    struct subscription *all = ARENA_NEW_N(&book.arena, struct subscription, n + 1);

    for (size_t i = 0; i < n; i++) {
        all[i] = (struct subscription){ .source = WAKE_JOURNAL, .active = true };
        if (subscription_read(&all[i], json_object_array_get_idx(list, i), &book.arena, err) < 0 ||
            subscription_check(&all[i], err) < 0)
            return err_wrap(err, "/subscriptions/%zu", i);
    }
    template->subscriptions = all;
    template->subscription_count = n;
    return 0;
}

static int read_timers(struct json_object *list, struct template *template, struct err *err)
{
    struct {
        struct str name, rrule, prompt;
    } given;
    const struct json_field timer_fields[] = {
        JSON_FIELD(__typeof__(given), name, "name", JSON_STR, .required = true),
        JSON_FIELD(__typeof__(given), rrule, "rrule", JSON_STR, .required = true),
        JSON_FIELD(__typeof__(given), prompt, "prompt", JSON_STR, .required = true),
        { .name = NULL },
    };
    size_t n = json_length(list);
    struct template_timer *all = ARENA_NEW_N(&book.arena, struct template_timer, n + 1);

    for (size_t i = 0; i < n; i++) {
        if (json_read(json_object_array_get_idx(list, i), timer_fields, JSON_REFUSE_UNKNOWN, &given,
                      err) < 0)
            return err_wrap(err, "/timers/%zu", i);
        all[i] = (struct template_timer){ copied(given.name), copied(given.rrule),
                                          copied(given.prompt) };
    }
    template->timers = all;
    template->timer_count = n;
    return 0;
}

static void read_template(const struct embed_file *file, struct template *ret_template)
{
    AUTO_YAML yaml = YAML_INIT;
    struct err err = ERR_INIT;
    struct raw raw = { .tools = NULL };
    char text[ERR_TEXT_MAX];

    if (yaml_parse(file->bytes, file->name, &yaml, &err) < 0 ||
        json_read(yaml.root, fields, JSON_REFUSE_UNKNOWN, &raw, &err) < 0)
        BUG("template %s: %s", file->name, err_format(&err, text, sizeof(text)));
    *ret_template = (struct template){
        .id = arena_text(&book.arena, file->name),
        .name = copied(raw.name),
        .kind = copied(raw.kind),
        .mode = copied(raw.mode),
        .description = copied(raw.description),
        .instructions = copied(raw.instructions),
        .tools = names_of(raw.tools),
        .patterns = names_of(raw.patterns),
    };
    if (read_subscriptions(raw.subscriptions, ret_template, &err) < 0 ||
        read_timers(raw.timers, ret_template, &err) < 0)
        BUG("template %s: %s", file->name, err_format(&err, text, sizeof(text)));
}

static int by_id(const void *a, const void *b)
{
    return strcmp(((const struct template *)a)->id, ((const struct template *)b)->id);
}

/* ---- patterns ---- */

static struct str patterns_file(void)
{
    for (const struct embed_file *file = builder_prompt_files; file->name; file++)
        if (strcmp(file->name, "patterns.md") == 0)
            return file->bytes;
    BUG("patterns.md is not embedded");
}

/* "name: Title\n\ntext" as it stands behind a "## ". */
static void read_pattern(struct str part, struct pattern *ret_pattern)
{
    ptrdiff_t colon = str_find_char(part, ':'), line = str_find_char(part, '\n');
    struct str title;

    BUG_IF(colon <= 0 || line < colon);
    title = str_trim(str_of(part.p + colon + 1, (size_t)(line - colon - 1)));
    *ret_pattern = (struct pattern){
        .name = arena_copy(&book.arena, part.p, (size_t)colon),
        .title = arena_copy(&book.arena, title.p, title.n),
        .text = str_trim(str_skip(part, (size_t)line)),
    };
}

#define PATTERNS_MAX 16
#define HEADING      STR("\n## ")

static void read_patterns(void)
{
    struct str rest = patterns_file();
    ptrdiff_t at = str_find(rest, HEADING);

    book.patterns = ARENA_NEW_N(&book.arena, struct pattern, PATTERNS_MAX);
    while (at >= 0) {
        ptrdiff_t end;

        rest = str_skip(rest, (size_t)at + HEADING.n);
        end = str_find(rest, HEADING);
        BUG_IF(book.pattern_count == PATTERNS_MAX);
        read_pattern(end < 0 ? rest : str_take(rest, (size_t)end),
                     &book.patterns[book.pattern_count++]);
        at = end;
    }
}

static void fill(void)
{
    size_t n = 0;

    if (book.read)
        return;
    book.read = true;
    while (builder_template_files[n].name)
        n++;
    book.templates = ARENA_NEW_N(&book.arena, struct template, n);
    book.count = n;
    for (size_t i = 0; i < n; i++)
        read_template(&builder_template_files[i], &book.templates[i]);
    qsort(book.templates, n, sizeof(*book.templates), by_id);
    read_patterns();
}

/* ---- asking ---- */

const struct template *templates(size_t *ret_count)
{
    fill();
    *ret_count = book.count;
    return book.templates;
}

const struct template *template_find(struct str id)
{
    fill();
    for (size_t i = 0; i < book.count; i++)
        if (str_is(id, book.templates[i].id))
            return &book.templates[i];
    return NULL;
}

int template_get(struct str id, const struct template **ret_template, struct err *err)
{
    const struct template *found = template_find(id);
    AUTO_ARENA arena = ARENA_INIT;
    const char **names;

    if (found) {
        *ret_template = found;
        return 0;
    }
    names = ARENA_NEW_N(&arena, const char *, book.count + 1);
    for (size_t i = 0; i < book.count; i++)
        names[i] = book.templates[i].id;
    return nearest_refuse("template", id, names, book.count, err);
}

const struct pattern *patterns(size_t *ret_count)
{
    fill();
    *ret_count = book.pattern_count;
    return book.patterns;
}

const struct pattern *pattern_find(struct str name)
{
    fill();
    for (size_t i = 0; i < book.pattern_count; i++)
        if (str_is(name, book.patterns[i].name))
            return &book.patterns[i];
    return NULL;
}

void pattern_add(const struct pattern *pattern, struct buf *out)
{
    if (out->n)
        buf_add_text(out, "\n");
    buf_printf(out, "## %s\n\n%.*s\n", pattern->title, STR_ARG(pattern->text));
}

void template_instructions(const struct template *from, struct buf *out)
{
    buf_add_text(out, from->instructions);
    for (const char *const *name = from->patterns; *name; name++) {
        const struct pattern *pattern = pattern_find(str_from(*name));

        if (!pattern)
            BUG("template %s: there is no pattern %s", from->id, *name);
        pattern_add(pattern, out);
    }
}
