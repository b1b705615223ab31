/* Reads a policy tree: form, names and expressions. Every message names the guard, the point and
 * what may stand there.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <string.h>

#include "bp/policy_int.h"

#define NAME_BYTES_MAX 64

struct reader {
    struct bp_policy *policy;
    struct err *err;
    char where[128]; /* "guards[2].points[0].block" */
};

static int wrong(const struct reader *r, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

static int wrong(const struct reader *r, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    err_set_v(r->err, ERR_SCHEMA_VIOLATION, fmt, args);
    va_end(args);
    return r->where[0] ? err_wrap(r->err, "%s", r->where) : -1;
}

/* ---- small things ---- */

static int check_fields(struct reader *r, struct json_object *o, const char *const *allowed,
                        const char *list)
{
    struct json_object_iter at;

    if (!json_object_is_type(o, json_type_object))
        return wrong(r, "must be a map with %s", list);
    json_object_object_foreachC(o, at)
    {
        unsigned i = 0;

        while (allowed[i] && strcmp(allowed[i], at.key) != 0)
            i++;
        if (!allowed[i])
            return wrong(r, "has \"%.40s\"; allowed are %s", at.key, list);
    }
    return 0;
}

static bool is_name(const char *text, size_t n)
{
    if (n == 0 || n > NAME_BYTES_MAX || (text[0] >= '0' && text[0] <= '9'))
        return false;
    for (size_t i = 0; i < n; i++)
        if (!((text[i] >= 'a' && text[i] <= 'z') || (text[i] >= 'A' && text[i] <= 'Z') ||
              (text[i] >= '0' && text[i] <= '9') || text[i] == '_' || text[i] == '-'))
            return false;
    return true;
}

static int read_name(struct reader *r, struct json_object *o, const char *what,
                     const char **ret_name)
{
    const char *text = json_object_is_type(o, json_type_string) ? json_object_get_string(o) : NULL;
    size_t n = text ? (size_t)json_object_get_string_len(o) : 0;

    if (!text || !is_name(text, n))
        return wrong(r, "%s must be a name of letters, digits, _ and -, at most %d long", what,
                     NAME_BYTES_MAX);
    *ret_name = arena_copy(&r->policy->arena, text, n);
    return 0;
}

/* A name or a list of names; absent is an empty list. */
static int read_names(struct reader *r, struct json_object *o, const char *what,
                      struct names *ret_names)
{
    size_t n = 1;

    *ret_names = (struct names){ NULL, 0 };
    if (!o)
        return 0;
    if (json_object_is_type(o, json_type_array))
        n = json_object_array_length(o);
    if (n > POLICY_NAMES_MAX)
        return wrong(r, "%s lists %zu names; %d are allowed", what, n, POLICY_NAMES_MAX);
    ret_names->p = ARENA_NEW_N(&r->policy->arena, const char *, n + 1);
    for (size_t i = 0; i < n; i++) {
        struct json_object *item =
            json_object_is_type(o, json_type_array) ? json_object_array_get_idx(o, i) : o;

        if (read_name(r, item, what, &ret_names->p[i]) < 0)
            return -1;
    }
    ret_names->n = (unsigned)n;
    return 0;
}

static struct json_object *field(struct json_object *o, const char *name)
{
    struct json_object *value = NULL;

    json_object_object_get_ex(o, name, &value);
    return value;
}

/* ---- selectors ---- */

static int read_go(struct reader *r, struct json_object *o, unsigned point_count, uint8_t *ret_go)
{
    int64_t n;

    if (!o)
        return 0;
    if (json_object_is_type(o, json_type_string) && strcmp(json_object_get_string(o), "end") == 0) {
        *ret_go = BP_END;
        return 0;
    }
    n = json_object_is_type(o, json_type_int) ? json_object_get_int64(o) : -1;
    if (n < 0 || n >= point_count)
        return wrong(r, "go must be \"end\" or the number of a point, 0 to %u", point_count - 1);
    *ret_go = BP_GO(n);
    return 0;
}

/* points: how many the guard has, 0 where go has no meaning. */
static int read_sel(struct reader *r, struct json_object *o, unsigned points,
                    struct policy_sel *ret_sel)
{
    static const char *const with_go[] = { "on", "has", "lacks", "go", NULL };
    static const char *const without_go[] = { "on", "has", "lacks", NULL };

    *ret_sel = (struct policy_sel){ .go = BP_NEXT };
    if (json_object_is_type(o, json_type_string))
        return read_names(r, o, "an event", &ret_sel->on);
    if (check_fields(r, o, points ? with_go : without_go,
                     points ? "on, has, lacks and go" : "on, has and lacks") < 0 ||
        read_names(r, field(o, "on"), "on", &ret_sel->on) < 0 ||
        read_names(r, field(o, "has"), "has", &ret_sel->has) < 0 ||
        read_names(r, field(o, "lacks"), "lacks", &ret_sel->lacks) < 0 ||
        (points && read_go(r, field(o, "go"), points, &ret_sel->go) < 0))
        return -1;
    if (!ret_sel->on.n)
        return wrong(r, "on must name an event");
    return 0;
}

/* One selector or a list; appended to sels. */
static int read_sels(struct reader *r, struct json_object *o, const char *what, unsigned points,
                     struct policy_sel *sels, unsigned max, unsigned *count)
{
    size_t n = json_object_is_type(o, json_type_array) ? json_object_array_length(o) : 1;

    if (!o)
        return 0;
    if (n + *count > max)
        return wrong(r, "%s has too many selectors: a point takes %u", what, max);
    for (size_t i = 0; i < n; i++) {
        struct json_object *item =
            json_object_is_type(o, json_type_array) ? json_object_array_get_idx(o, i) : o;

        if (read_sel(r, item, points, &sels[*count]) < 0)
            return err_wrap(r->err, "%s", what);
        (*count)++;
    }
    return 0;
}

/* ---- guards ---- */

static int read_point(struct reader *r, struct json_object *o, unsigned points,
                      struct policy_point *ret_point)
{
    static const char *const allowed[] = { "request", "wait", "block", "interrupt", NULL };
    struct policy_point *p = ret_point;
    unsigned waits;

    if (check_fields(r, o, allowed, "request, wait, block and interrupt") < 0)
        return -1;
    if (field(o, "request") && read_name(r, field(o, "request"), "request", &p->request) < 0)
        return -1;
    if (read_sels(r, field(o, "wait"), "wait", points, p->wait, BP_WAITS, &p->waits) < 0 ||
        read_sels(r, field(o, "block"), "block", 0, p->block, BP_BLOCKS, &p->blocks) < 0)
        return -1;
    waits = p->waits;
    if (read_sels(r, field(o, "interrupt"), "interrupt", 0, p->wait, BP_WAITS, &p->waits) < 0)
        return -1;
    for (unsigned i = waits; i < p->waits; i++)
        p->wait[i].go = BP_END;
    if (!p->request && !p->waits && !p->blocks)
        return wrong(r, "does nothing: it needs request, wait, block or interrupt");
    return 0;
}

static int read_points(struct reader *r, struct json_object *o, struct policy_guard *guard)
{
    size_t n = json_object_is_type(o, json_type_array) ? json_object_array_length(o) : 0;

    if (n == 0 || n > POLICY_POINTS_MAX)
        return wrong(r, "points must be a list of 1 to %d points", POLICY_POINTS_MAX);
    guard->points = ARENA_NEW_N(&r->policy->arena, struct policy_point, n);
    guard->point_count = (unsigned)n;
    for (size_t i = 0; i < n; i++) {
        snprintf(r->where, sizeof(r->where), "guard %s, point %zu", guard->name, i);
        if (read_point(r, json_object_array_get_idx(o, i), (unsigned)n, &guard->points[i]) < 0)
            return -1;
    }
    return 0;
}

/* Without a key a guard must have no state: then a changed policy can be put in its place. */
static int check_stateless(struct reader *r, const struct policy_guard *guard)
{
    const struct policy_point *p = &guard->points[0];

    snprintf(r->where, sizeof(r->where), "guard %s", guard->name);
    if (guard->each_key)
        return 0;
    if (guard->point_count > 1)
        return wrong(r, "has %u points; a guard without `each` has one, which only blocks",
                     guard->point_count);
    if (p->request || p->waits)
        return wrong(r, "requests or waits; a guard without `each` may only block");
    return 0;
}

static int read_guard(struct reader *r, struct json_object *o, struct policy_guard *guard)
{
    static const char *const allowed[] = { "name", "each", "points", NULL };

    if (check_fields(r, o, allowed, "name, each and points") < 0 ||
        read_name(r, field(o, "name"), "name", &guard->name) < 0)
        return -1;
    snprintf(r->where, sizeof(r->where), "guard %s", guard->name);
    if (field(o, "each")) {
        guard->each_key = true;
        if (read_sel(r, field(o, "each"), 0, &guard->each) < 0)
            return err_wrap(r->err, "each");
    }
    if (read_points(r, field(o, "points"), guard) < 0)
        return -1;
    return check_stateless(r, guard);
}

static int read_guards(struct reader *r, struct json_object *o)
{
    struct bp_policy *policy = r->policy;
    size_t n;

    if (!o)
        return 0;
    n = json_object_is_type(o, json_type_array) ? json_object_array_length(o) : SIZE_MAX;
    if (n > POLICY_GUARDS_MAX)
        return wrong(r, "guards must be a list of at most %d", POLICY_GUARDS_MAX);
    for (size_t i = 0; i < n; i++) {
        snprintf(r->where, sizeof(r->where), "guards[%zu]", i);
        if (read_guard(r, json_object_array_get_idx(o, i), &policy->guards[i]) < 0)
            return -1;
        for (unsigned k = 0; k < policy->guard_count; k++)
            if (strcmp(policy->guards[k].name, policy->guards[i].name) == 0)
                return wrong(r, "is there twice");
        policy->guard_count++;
    }
    return 0;
}

/* ---- attributes ---- */

static int read_attribute(struct reader *r, const char *name, struct json_object *value)
{
    struct policy_attribute *a = &r->policy->attributes[r->policy->attribute_count];
    struct str text;

    snprintf(r->where, sizeof(r->where), "classify");
    if (!is_name(name, strlen(name)))
        return wrong(r, "\"%.40s\" is not a name of letters, digits, _ and -", name);
    if (r->policy->attribute_count == POLICY_ATTRIBUTES_MAX)
        return wrong(r, "more than %d attributes", POLICY_ATTRIBUTES_MAX);
    snprintf(r->where, sizeof(r->where), "classify.%s", name);
    if (!json_object_is_type(value, json_type_string))
        return wrong(r, "must be an expression in quotes");
    text = str_of(json_object_get_string(value), (size_t)json_object_get_string_len(value));
    if (expr_parse(text, &r->policy->arena, &a->expr, r->err) < 0)
        return err_wrap(r->err, "%s", r->where);
    a->name = arena_text(&r->policy->arena, name);
    r->policy->attribute_count++;
    return 0;
}

static int read_attributes(struct reader *r, struct json_object *o)
{
    struct json_object_iter at;

    if (!o)
        return 0;
    if (!json_object_is_type(o, json_type_object))
        return wrong(r, "classify must be a map from attributes to expressions");
    json_object_object_foreachC(o, at)
    {
        if (read_attribute(r, at.key, at.val) < 0)
            return -1;
    }
    r->where[0] = '\0';
    return 0;
}

static int read_policy(struct reader *r, struct json_object *tree)
{
    static const char *const allowed[] = { "version", "for", "classify", "guards", NULL };
    struct json_object *version;

    if (check_fields(r, tree, allowed, "version, for, classify and guards") < 0)
        return -1;
    version = field(tree, "version");
    if (!json_object_is_type(version, json_type_int) || json_object_get_int64(version) != 1)
        return wrong(r, "version must be 1");
    if (read_names(r, field(tree, "for"), "for", &r->policy->programs) < 0 ||
        read_attributes(r, field(tree, "classify")) < 0)
        return -1;
    return read_guards(r, field(tree, "guards"));
}

int bp_policy_parse(struct json_object *tree, struct bp_policy **ret_policy, struct err *err)
{
    AUTO(bp_policy) policy = NEW(struct bp_policy);
    struct reader r = { .policy = policy, .err = err };

    if (read_policy(&r, tree) < 0)
        return err_wrap(err, "policy");
    *ret_policy = TAKE(policy);
    return 0;
}
