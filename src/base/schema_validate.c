/* Walking a compiled schema and an instance together.
 *
 * Each keyword that applies to the instance's type is checked in turn. Marks say what was
 * evaluated; a node with an unevaluated keyword keeps its own, so that it sees only what its own
 * keywords did, and hands them to its parent when it is valid. A branch that fails leaves no marks.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>

#include "base/json.h"
#include "base/json_number.h"
#include "base/schema_int.h"

/* ---- marks ---- */

void schema_marks_init(struct schema_marks *marks, struct json_object *instance)
{
    *marks = (struct schema_marks){ .n = 0 };
    if (json_object_get_type(instance) == json_type_object)
        marks->n = (size_t)json_object_object_length(instance);
    else if (json_object_get_type(instance) == json_type_array)
        marks->n = json_length(instance);
    if (marks->n > 64)
        marks->big = NEW_N(uint64_t, (marks->n + 63) / 64);
}

void schema_marks_release(struct schema_marks *marks)
{
    free(marks->big);
}

static inline const uint64_t *words(const struct schema_marks *marks)
{
    return marks->big ? marks->big : &marks->small;
}

void schema_marks_add(struct schema_marks *marks, size_t i)
{
    uint64_t *w;

    if (!marks)
        return;
    w = marks->big ? marks->big : &marks->small;
    w[i / 64] |= UINT64_C(1) << (i % 64);
}

void schema_marks_add_all(struct schema_marks *marks)
{
    for (size_t i = 0; marks && i < marks->n; i++)
        schema_marks_add(marks, i);
}

bool schema_marks_has(const struct schema_marks *marks, size_t i)
{
    return words(marks)[i / 64] >> (i % 64) & 1;
}

void schema_marks_merge(struct schema_marks *marks, const struct schema_marks *more)
{
    uint64_t *w = marks->big ? marks->big : &marks->small;
    const uint64_t *m = words(more);

    for (size_t i = 0; i < (marks->n + 63) / 64; i++)
        w[i] |= m[i];
}

/* ---- nodes ---- */

bool schema_abort(struct schema_run *run, enum err_code code, const char *message)
{
    AUTO_BUF pointer = BUF_INIT(SCHEMA_URI_MAX);

    if (run->aborted)
        return false;
    schema_path_add(run->node->at, &pointer);
    err_set(run->err, code, "schema %.*s#%s: %s", STR_ARG(run->node->unit->uri), buf_text(&pointer),
            message);
    run->aborted = true;
    return false;
}

unsigned schema_type_bit(struct json_object *instance)
{
    switch (json_object_get_type(instance)) {
    case json_type_object:
        return SCHEMA_OBJECT;
    case json_type_array:
        return SCHEMA_ARRAY;
    case json_type_string:
        return SCHEMA_STRING;
    case json_type_int:
    case json_type_double:
        return SCHEMA_NUMBER;
    case json_type_boolean:
        return SCHEMA_BOOLEAN;
    case json_type_null:
        break;
    }
    return SCHEMA_NULL;
}

static bool check_uses(struct schema_run *run, const struct schema_node *node,
                       const struct schema_value *v)
{
    unsigned type = schema_type_bit(v->json);
    bool valid = true;

    for (unsigned i = 0; i < node->uses_count; i++) {
        const struct schema_use *use = &node->uses[i];

        if (!(use->keyword->types & type))
            continue;
        /* After a failure the marks are incomplete, and complaints about the rest misleading. */
        if (!valid && use->keyword->vocabularies == SCHEMA_UNEVALUATED)
            break;
        run->node = node;
        if (!schema_go_on(run, use->keyword->check(run, use, v), &valid))
            return false;
    }
    return valid && !run->aborted;
}

typedef bool check_fn(struct schema_run *run, const struct schema_node *node,
                      const struct schema_value *v);

/* Marks of its own, which are handed on when it is valid. */
static bool with_own_marks(struct schema_run *run, const struct schema_node *node,
                           const struct schema_value *v, check_fn *check)
{
    struct schema_marks own;
    bool valid;

    schema_marks_init(&own, v->json);
    valid = check(run, node, &(struct schema_value){ v->json, v->path, &own });
    if (valid && v->marks)
        schema_marks_merge(v->marks, &own);
    schema_marks_release(&own);
    return valid;
}

/* The dynamic scope is the chain of resources that were entered on the way here. */
static bool check_in_scope(struct schema_run *run, const struct schema_node *node,
                           const struct schema_value *v)
{
    struct schema_scope scope = { run->scope, node->unit };
    bool entered = !run->scope || run->scope->unit != node->unit, valid;

    if (entered)
        run->scope = &scope;
    valid = node->marks ? with_own_marks(run, node, v, check_uses) : check_uses(run, node, v);
    if (entered)
        run->scope = scope.up;
    return valid;
}

bool schema_apply(struct schema_run *run, const struct schema_node *node,
                  const struct schema_value *v)
{
    const struct schema_node *before = run->node;
    bool valid;

    run->node = node;
    if (++run->work > SCHEMA_WORK_MAX)
        return schema_abort(run, ERR_TOO_LARGE, "validating takes too much work");
    if (node->fixed >= 0) {
        valid = node->fixed || schema_fail(run, NULL, v->path, "nothing is allowed here");
        run->node = before;
        return valid;
    }
    if (run->in_place >= SCHEMA_IN_PLACE_MAX)
        return schema_abort(run, ERR_BAD_REQUEST, "the schema refers to itself without end");
    if (run->depth >= SCHEMA_DEPTH_MAX)
        return schema_abort(run, ERR_BAD_REQUEST, "schema and value are nested too deeply");
    run->depth++;
    run->in_place++;
    valid = check_in_scope(run, node, v);
    run->in_place--;
    run->depth--;
    run->node = before;
    return valid;
}

bool schema_try(struct schema_run *run, const struct schema_node *node,
                const struct schema_value *v)
{
    struct schema_report *report = run->report;
    bool valid;

    run->report = NULL;
    run->fail_rank = 0;
    valid = v->marks ? with_own_marks(run, node, v, schema_apply) : schema_apply(run, node, v);
    run->report = report;
    return valid;
}

bool schema_descend(struct schema_run *run, const struct schema_node *node,
                    struct json_object *value, const struct schema_path *up, const char *key,
                    size_t index)
{
    struct schema_path path = { up, key, index };
    unsigned in_place = run->in_place;
    bool valid;

    if (node->fixed > 0)
        return true;
    run->in_place = 0;
    valid = schema_apply(run, node, &(struct schema_value){ value, &path, NULL });
    run->in_place = in_place;
    return valid;
}

static int fail_with_first(const struct schema_report *report, struct err *err)
{
    const struct schema_error *first = &report->errors[0];

    if (report->n == 0)
        return err_set(err, ERR_SCHEMA_VIOLATION, "the value does not match the schema");
    return err_set(err, ERR_SCHEMA_VIOLATION, "%s: %s (schema %s)",
                   first->instance[0] ? first->instance : "the whole value", first->message,
                   first->keyword);
}

int schema_validate(const struct schema *schema, struct json_object *instance,
                    struct schema_report *report, struct err *err)
{
    struct schema_run run = { .err = err, .node = schema->root };
    struct schema_value whole = { .json = instance };
    AUTO_SCHEMA_REPORT own = SCHEMA_REPORT_INIT;

    if (schema_apply(&run, schema->root, &whole))
        return 0;
    if (run.aborted)
        return -1;
    /* Invalid: once more, for people. */
    run = (struct schema_run){ .err = err, .node = schema->root, .report = report ? report : &own };
    schema_apply(&run, schema->root, &whole);
    return fail_with_first(run.report, err);
}
