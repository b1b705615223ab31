/* YAML by libfyaml's events.
 *
 * The event parser is used rather than its document tree: no alias is expanded behind our back,
 * every node has its mark, and depth and count are checked before anything is built. Open mappings
 * and sequences are frames on a stack of fixed size; a finished value is put into the frame below.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/yaml.h"

#include <json-c/json.h>
#include <libfyaml.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/map.h"
#include "base/utf8.h"
#include "base/yaml_int.h"

struct frame {
    struct json_object *container;
    struct yaml_place *place;
    struct str anchor; /* of the container */
    struct str key;    /* of the member to come; p NULL: a key is due */
    struct yaml_position key_at;
};

struct builder {
    const char *name;
    struct str text;
    struct fy_parser *parser;
    struct yaml *yaml;
    struct frame frames[LIMIT_JSON_DEPTH];
    unsigned depth;
    unsigned documents;
    size_t nodes, alias_nodes;
    struct map anchors; /* to struct anchored in the arena */
    struct err *err;
};

struct anchored {
    struct json_object *value; /* owned by the tree */
    size_t nodes;
};

static struct yaml_position position_of(const struct fy_mark *mark)
{
    if (!mark)
        return (struct yaml_position){ 1, 1 };
    return (struct yaml_position){ (unsigned)mark->line + 1, (unsigned)mark->column + 1 };
}

#define fail_at(b, at, fmt, ...)                                                                   \
    err_set((b)->err, ERR_BAD_REQUEST, "%s:%u:%u: " fmt, (b)->name, (at).line, (at).column,        \
            ##__VA_ARGS__)

static struct str token_text(struct fy_token *token)
{
    size_t n = 0;
    const char *p = token ? fy_token_get_text(token, &n) : NULL;

    return str_of(p ? p : "", p ? n : 0);
}

static struct str scalar_text(struct builder *b, struct fy_token *token)
{
    enum fy_scalar_style style = fy_token_scalar_style(token);
    AUTO_BUF text = BUF_INIT(4 * LIMIT_YAML_BYTES);
    size_t from, to;

    if (style != FYSS_SINGLE_QUOTED && style != FYSS_DOUBLE_QUOTED)
        return token_text(token);
    from = fy_token_start_mark(token)->input_pos;
    to = fy_token_end_mark(token)->input_pos;
    yaml_unquote(str_take(str_skip(b->text, from), to - from),
                 style == FYSS_SINGLE_QUOTED ? '\'' : '"', &text);
    return arena_str(&b->yaml->arena, buf_str(&text));
}

static enum yaml_tag tag_of(struct fy_token *token)
{
    static const char *const names[] = {
        [YAML_TAG_STR] = "str",   [YAML_TAG_INT] = "int",   [YAML_TAG_FLOAT] = "float",
        [YAML_TAG_BOOL] = "bool", [YAML_TAG_NULL] = "null", [YAML_TAG_MAP] = "map",
        [YAML_TAG_SEQ] = "seq",
    };
    struct str text = token_text(token), core = STR("tag:yaml.org,2002:");

    if (!token)
        return YAML_TAG_NONE;
    if (str_is(text, "!"))
        return YAML_TAG_STR;
    if (!str_starts(text, core))
        return YAML_TAG_OTHER;
    for (int tag = YAML_TAG_STR; tag <= YAML_TAG_SEQ; tag++)
        if (str_is(str_skip(text, core.n), names[tag]))
            return (enum yaml_tag)tag;
    return YAML_TAG_OTHER;
}

static int check_tag(struct builder *b, struct fy_token *token, enum yaml_tag container,
                     enum yaml_tag *ret_tag)
{
    enum yaml_tag tag = tag_of(token);
    bool scalar = container == YAML_TAG_NONE;
    bool fits = scalar ? tag < YAML_TAG_MAP : tag == YAML_TAG_NONE || tag == container;

    if (!fits)
        return fail_at(b, position_of(fy_token_start_mark(token)),
                       "tag %.*s is not allowed here; allowed: %s",
                       STR_ARG(str_take(token_text(token), 60)),
                       scalar                      ? "!!str, !!int, !!float, !!bool, !!null"
                       : container == YAML_TAG_MAP ? "!!map"
                                                   : "!!seq");
    *ret_tag = tag;
    return 0;
}

static struct yaml_place *add_place(struct builder *b, struct yaml_position at)
{
    struct yaml_place *place = ARENA_NEW(&b->yaml->arena, struct yaml_place);
    struct frame *frame = b->depth ? &b->frames[b->depth - 1] : NULL;
    struct yaml_place *parent = frame ? frame->place : NULL;

    place->value_at = place->key_at = at;
    if (!parent) {
        b->yaml->places = place;
        return place;
    }
    if (frame->key.p) {
        place->key = frame->key;
        place->key_at = frame->key_at;
    }
    if (parent->last)
        parent->last->next = place;
    else
        parent->first = place;
    parent->last = place;
    return place;
}

/* Puts a value, which is owned from here on, into the open container. */
static void put_value(struct builder *b, struct json_object *value)
{
    struct frame *frame = b->depth ? &b->frames[b->depth - 1] : NULL;

    if (!frame) {
        b->yaml->root = value;
    } else if (json_object_is_type(frame->container, json_type_array)) {
        json_object_array_add(frame->container, value);
    } else {
        json_object_object_add_ex(frame->container, frame->key.p, value,
                                  JSON_C_OBJECT_ADD_KEY_IS_NEW);
        frame->key = STR_NONE;
    }
}

static int count_nodes(struct builder *b, size_t n, struct yaml_position at)
{
    b->nodes += n;
    if (b->nodes > YAML_NODES_MAX)
        return err_set(b->err, ERR_TOO_LARGE, "%s:%u:%u: more than %d values", b->name, at.line,
                       at.column, YAML_NODES_MAX);
    return 0;
}

static bool key_is_due(const struct builder *b)
{
    const struct frame *frame = b->depth ? &b->frames[b->depth - 1] : NULL;

    return frame && json_object_is_type(frame->container, json_type_object) && !frame->key.p;
}

static size_t count_json(struct json_object *value)
{
    size_t n = 1;

    if (json_object_is_type(value, json_type_array))
        for (size_t i = 0; i < json_length(value); i++)
            n += count_json(json_object_array_get_idx(value, i));
    if (json_object_is_type(value, json_type_object)) {
        struct json_object_iter member;

        json_object_object_foreachC(value, member)
        {
            n += count_json(member.val);
        }
    }
    return n;
}

static void add_anchor(struct builder *b, struct str name, struct json_object *value)
{
    struct anchored *anchored;

    if (!name.p)
        return;
    anchored = ARENA_NEW(&b->yaml->arena, struct anchored);
    anchored->value = value;
    anchored->nodes = count_json(value);
    map_put(&b->anchors, name, anchored);
}

static struct str anchor_name(struct builder *b, struct fy_token *token)
{
    return token ? arena_str(&b->yaml->arena, token_text(token)) : STR_NONE;
}

static int on_key(struct builder *b, struct fy_event *event, struct yaml_position at)
{
    struct frame *frame = &b->frames[b->depth - 1];
    struct str text = scalar_text(b, event->scalar.value);
    struct json_object *value = NULL;
    enum yaml_tag tag = YAML_TAG_NONE;
    const char *fault;
    bool is_text;

    if (check_tag(b, event->scalar.tag, YAML_TAG_NONE, &tag) < 0)
        return -1;
    if (fy_token_scalar_style(event->scalar.value) != FYSS_PLAIN)
        tag = YAML_TAG_STR;
    if (tag == YAML_TAG_NONE && str_is(text, "<<"))
        return fail_at(b, at, "merge keys (<<) are not allowed; write the members out");
    is_text =
        yaml_scalar(text, tag, &value, &fault) == 0 && json_object_is_type(value, json_type_string);
    json_object_put(value);
    if (!is_text)
        return fail_at(b, at, "key %.*s is not a string; put it in quotes",
                       STR_ARG(str_take(text, 60)));
    if (memchr(text.p, '\0', text.n))
        return fail_at(b, at, "a key holds NUL");
    if (!utf8_valid(text))
        return fail_at(b, at, "a key is not valid UTF-8");
    frame->key = arena_str(&b->yaml->arena, text);
    if (json_object_object_get_ex(frame->container, frame->key.p, NULL))
        return fail_at(b, at, "key \"%.*s\" is there twice", STR_ARG(str_take(text, 60)));
    frame->key_at = at;
    return 0;
}

static int on_scalar(struct builder *b, struct fy_event *event, struct yaml_position at)
{
    struct str text = scalar_text(b, event->scalar.value);
    struct json_object *value = NULL;
    const char *fault = NULL;
    enum yaml_tag tag = YAML_TAG_NONE;

    if (key_is_due(b))
        return on_key(b, event, at);
    if (count_nodes(b, 1, at) < 0 || check_tag(b, event->scalar.tag, YAML_TAG_NONE, &tag) < 0)
        return -1;
    if (tag == YAML_TAG_NONE && fy_token_scalar_style(event->scalar.value) != FYSS_PLAIN)
        tag = YAML_TAG_STR;
    if (!utf8_valid(text))
        return fail_at(b, at, "a string is not valid UTF-8");
    /* libfyaml 0.7 miscounts block scalars that begin with blank lines of tabs. */
    if (fy_token_scalar_style(event->scalar.value) != FYSS_DOUBLE_QUOTED && text.n &&
        memchr(text.p, '\0', text.n))
        return fail_at(b, at, "a text can't be read; put it in quotes");
    if (yaml_scalar(text, tag, &value, &fault) < 0)
        return fail_at(b, at, "\"%.*s\": %s", STR_ARG(str_take(text, 60)), fault);
    add_place(b, at);
    put_value(b, value);
    add_anchor(b, anchor_name(b, event->scalar.anchor), value);
    return 0;
}

static int on_alias(struct builder *b, struct fy_event *event, struct yaml_position at)
{
    struct str name = token_text(event->alias.anchor);
    const struct anchored *anchored = map_find(&b->anchors, name);
    struct json_object *copy = NULL;

    if (key_is_due(b))
        return fail_at(b, at, "an alias is no key; write the key out");
    if (!anchored)
        return fail_at(b, at, "alias *%.*s has no finished anchor before it",
                       STR_ARG(str_take(name, 60)));
    b->alias_nodes += anchored->nodes;
    if (b->alias_nodes > YAML_ALIAS_NODES_MAX)
        return err_set(b->err, ERR_TOO_LARGE, "%s:%u:%u: aliases stand for more than %d values",
                       b->name, at.line, at.column, YAML_ALIAS_NODES_MAX);
    if (count_nodes(b, anchored->nodes, at) < 0)
        return -1;
    if (anchored->value && json_object_deep_copy(anchored->value, &copy, NULL) < 0)
        return fail_at(b, at, "alias *%.*s can't be copied", STR_ARG(str_take(name, 60)));
    add_place(b, at);
    put_value(b, copy);
    return 0;
}

static int on_open(struct builder *b, struct fy_token *anchor, struct fy_token *tag_token,
                   enum yaml_tag kind, struct yaml_position at)
{
    enum yaml_tag tag = YAML_TAG_NONE;
    struct json_object *container;
    struct yaml_place *place;

    if (key_is_due(b))
        return fail_at(b, at, "a mapping or sequence is no key; keys are strings");
    if (b->depth == LIMIT_JSON_DEPTH)
        return err_set(b->err, ERR_TOO_LARGE, "%s:%u:%u: nested deeper than %d", b->name, at.line,
                       at.column, LIMIT_JSON_DEPTH);
    if (count_nodes(b, 1, at) < 0 || check_tag(b, tag_token, kind, &tag) < 0)
        return -1;
    container = kind == YAML_TAG_MAP ? json_object_new_object() : json_object_new_array();
    place = add_place(b, at);
    put_value(b, container);
    b->frames[b->depth++] =
        (struct frame){ .container = container, .place = place, .anchor = anchor_name(b, anchor) };
    return 0;
}

static int on_document(struct builder *b, struct yaml_position at)
{
    if (++b->documents > 1)
        return fail_at(b, at, "a second document begins; only one is allowed");
    return 0;
}

static int on_event(struct builder *b, struct fy_event *event)
{
    struct yaml_position at = position_of(fy_event_start_mark(event));

    switch (event->type) {
    case FYET_DOCUMENT_START:
        return on_document(b, at);
    case FYET_SCALAR:
        return on_scalar(b, event, at);
    case FYET_ALIAS:
        return on_alias(b, event, at);
    case FYET_MAPPING_START:
        return on_open(b, event->mapping_start.anchor, event->mapping_start.tag, YAML_TAG_MAP, at);
    case FYET_SEQUENCE_START:
        return on_open(b, event->sequence_start.anchor, event->sequence_start.tag, YAML_TAG_SEQ,
                       at);
    case FYET_MAPPING_END:
    case FYET_SEQUENCE_END:
        b->depth--;
        add_anchor(b, b->frames[b->depth].anchor, b->frames[b->depth].container);
        return 0;
    default:
        return 0;
    }
}

static void discard(struct fy_diag *diag, void *user, const char *text, size_t n)
{
    (void)diag, (void)user, (void)text, (void)n;
}

static struct fy_diag *new_diag(void)
{
    struct fy_diag_cfg cfg;
    struct fy_diag *diag;

    fy_diag_cfg_default(&cfg);
    cfg.fp = NULL;
    cfg.output_fn = discard;
    cfg.level = FYET_ERROR;
    diag = fy_diag_create(&cfg);
    BUG_IF(!diag);
    fy_diag_set_collect_errors(diag, true);
    return diag;
}

static int syntax_error(struct builder *b, struct fy_diag *diag)
{
    void *at = NULL;
    const struct fy_diag_error *error = fy_diag_errors_iterate(diag, &at);

    if (!error || error->line <= 0)
        return err_set(b->err, ERR_BAD_REQUEST, "%s: not valid YAML%s%s", b->name,
                       error ? ": " : "", error ? error->msg : "");
    return err_set(b->err, ERR_BAD_REQUEST, "%s:%d:%d: %s", b->name, error->line, error->column,
                   error->msg);
}

static int run(struct builder *b, struct fy_diag *diag, struct str text)
{
    struct fy_event *event;
    int r = 0;

    if (fy_parser_set_string(b->parser, text.p, text.n) < 0)
        return syntax_error(b, diag);
    while (r == 0 && (event = fy_parser_parse(b->parser)) != NULL) {
        r = on_event(b, event);
        fy_parser_event_free(b->parser, event);
    }
    if (r == 0 && (fy_parser_get_stream_error(b->parser) || fy_diag_got_error(diag)))
        r = syntax_error(b, diag);
    return r;
}

/* What libfyaml would cut or misread. */
static int check_text(struct str text, const char *name, struct err *err)
{
    size_t good = utf8_valid_prefix(text), line = 1;
    const char *nul = text.n ? memchr(text.p, '\0', text.n) : NULL;

    if (text.n > LIMIT_YAML_BYTES)
        return err_set(err, ERR_TOO_LARGE, "%s: larger than %u bytes", name, LIMIT_YAML_BYTES);
    if (nul && (size_t)(nul - text.p) < good)
        good = (size_t)(nul - text.p);
    if (good == text.n)
        return 0;
    for (size_t i = 0; i < good; i++)
        line += text.p[i] == '\n';
    return err_set(err, ERR_BAD_REQUEST, "%s:%zu: %s", name, line,
                   nul && text.p + good == nul ? "NUL is not allowed" : "not valid UTF-8");
}

int yaml_parse(struct str text, const char *name, struct yaml *ret_yaml, struct err *err)
{
    struct yaml yaml = YAML_INIT;
    struct fy_parse_cfg cfg = { .flags = FYPCF_QUIET | FYPCF_DISABLE_DEPTH_LIMIT | FYPCF_JSON_NONE |
                                         FYPCF_DISABLE_MMAP_OPT };
    struct builder *b;
    int r;

    if (check_text(text, name, err) < 0)
        return -1;
    b = NEW(struct builder);
    *b = (struct builder){ .name = name, .text = text, .yaml = &yaml, .err = err };
    cfg.diag = new_diag();
    b->parser = fy_parser_create(&cfg);
    BUG_IF(!b->parser);
    r = text.n ? run(b, cfg.diag, text) : 0;
    fy_parser_destroy(b->parser);
    fy_diag_destroy(cfg.diag);
    map_release(&b->anchors);
    free(b);
    if (r < 0) {
        yaml_release(&yaml);
        return -1;
    }
    *ret_yaml = yaml;
    return 0;
}

void yaml_release(struct yaml *yaml)
{
    json_object_put(yaml->root);
    arena_release(&yaml->arena);
    *yaml = YAML_INIT;
}
