/* Reads a policy: form, names and expressions. Every message names the line, the guard and point,
 * and what may stand there.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "base/limits.h"
#include "bp/policy_int.h"

#define NAME_BYTES_MAX 64
#define POINTER_MAX    512 /* five names and indexes deep */

struct reader {
    struct bp_policy *policy;
    const struct yaml *yaml;
    struct err *err;
    char pointer[POINTER_MAX]; /* what is being read, as a JSON pointer */
    bool at_key;               /* its key is wrong, not its value */
    char where[128];           /* the same for people: "guard no_network, point 0" */
};

int policy_at(const struct bp_policy *policy, struct yaml_position at, struct err *err)
{
    return err_wrap(err, "%s:%u:%u", policy->file, at.line, at.column);
}

static struct yaml_position here(const struct reader *r)
{
    struct yaml_position at;

    if (r->at_key)
        yaml_where_key(r->yaml, str_from(r->pointer), &at);
    else
        yaml_where(r->yaml, str_from(r->pointer), &at);
    return at;
}

static int locate(const struct reader *r)
{
    if (r->where[0])
        err_wrap(r->err, "%s", r->where);
    return policy_at(r->policy, here(r), r->err);
}

static int wrong(const struct reader *r, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

static int wrong(const struct reader *r, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    err_set_v(r->err, ERR_SCHEMA_VIOLATION, fmt, args);
    va_end(args);
    return locate(r);
}

/* ---- down into the tree and up again ---- */

/* Appends "/token"; returns what up() takes to go back. A key that the reader did not name itself
 * is escaped as JSON pointers ask; one that is too long stays behind, which only costs precision.
 */
static size_t down(struct reader *r, const char *token)
{
    size_t before = strlen(r->pointer), n = before;

    r->pointer[n++] = '/';
    for (; *token && n + 3 < sizeof(r->pointer); token++) {
        if (*token == '~' || *token == '/') {
            r->pointer[n++] = '~';
            r->pointer[n++] = *token == '~' ? '0' : '1';
        } else {
            r->pointer[n++] = *token;
        }
    }
    r->pointer[n] = '\0';
    return before;
}

static size_t down_to(struct reader *r, size_t index)
{
    char token[24];

    snprintf(token, sizeof(token), "%zu", index);
    return down(r, token);
}

static void up(struct reader *r, size_t to)
{
    r->pointer[to] = '\0';
}

static struct json_object *field(struct json_object *o, const char *name)
{
    struct json_object *value = NULL;

    json_object_object_get_ex(o, name, &value);
    return value;
}

/* ---- small things ---- */

/* `classify:` and `guards:` with nothing below, as in a file whose guards are commented out, are
 * empty. Anywhere else a missing value is a mistake. */
static bool may_be_empty(const char *key)
{
    return strcmp(key, "classify") == 0 || strcmp(key, "guards") == 0;
}

static int check_field(struct reader *r, const char *key, struct json_object *value,
                       const char *const *allowed, const char *list)
{
    size_t top = down(r, key);
    unsigned i = 0;

    while (allowed[i] && strcmp(allowed[i], key) != 0)
        i++;
    r->at_key = true;
    if (!allowed[i])
        return wrong(r, "has \"%.40s\"; allowed are %s", key, list);
    if (!value && !may_be_empty(key))
        return wrong(r, "%s has no value", key);
    r->at_key = false;
    up(r, top);
    return 0;
}

static int check_fields(struct reader *r, struct json_object *o, const char *const *allowed,
                        const char *list)
{
    struct json_object_iter at;

    if (!json_object_is_type(o, json_type_object))
        return wrong(r, "must be a map with %s", list);
    json_object_object_foreachC(o, at)
    {
        if (check_field(r, at.key, at.val, allowed, list) < 0)
            return -1;
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
                     struct policy_name *ret_name)
{
    const char *text = json_object_is_type(o, json_type_string) ? json_object_get_string(o) : NULL;
    size_t n = text ? (size_t)json_object_get_string_len(o) : 0;

    if (!text || !is_name(text, n))
        return wrong(r, "%s must be a name of letters, digits, _ and -, at most %d long", what,
                     NAME_BYTES_MAX);
    *ret_name = (struct policy_name){ arena_copy(&r->policy->arena, text, n), here(r), NULL };
    return 0;
}

/* o itself, or its items when it is a list: what may stand alone need not be in brackets. */
static size_t list_length(struct json_object *o)
{
    return json_object_is_type(o, json_type_array) ? json_length(o) : 1;
}

static struct json_object *list_item(struct reader *r, struct json_object *o, size_t i)
{
    if (!json_object_is_type(o, json_type_array))
        return o;
    down_to(r, i);
    return json_object_array_get_idx(o, i);
}

/* A name or a list of names; absent is an empty list. */
static int read_names(struct reader *r, struct json_object *parent, const char *what,
                      struct policy_names *ret_names)
{
    struct json_object *o = field(parent, what);
    size_t n = list_length(o), top = down(r, what), list;

    *ret_names = (struct policy_names){ NULL, 0 };
    if (n > POLICY_NAMES_MAX)
        return wrong(r, "%s lists %zu names; %d are allowed", what, n, POLICY_NAMES_MAX);
    ret_names->p = ARENA_NEW_N(&r->policy->arena, struct policy_name, n + 1);
    list = strlen(r->pointer);
    for (size_t i = 0; o && i < n; i++) {
        if (read_name(r, list_item(r, o, i), what, &ret_names->p[i]) < 0)
            return -1;
        ret_names->n++;
        up(r, list);
    }
    up(r, top);
    return 0;
}

static void note_events(struct reader *r, struct policy_name *names, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        names[i].next = r->policy->events;
        r->policy->events = &names[i];
    }
}

/* ---- selectors ---- */

static int read_go(struct reader *r, struct json_object *o, unsigned point_count, uint8_t *ret_go)
{
    size_t top = down(r, "go");
    int64_t n;

    if (json_object_is_type(o, json_type_string) && strcmp(json_object_get_string(o), "end") == 0) {
        *ret_go = BP_END;
    } else if (o) {
        n = json_object_is_type(o, json_type_int) ? json_object_get_int64(o) : -1;
        if (n < 0 || n >= point_count)
            return wrong(r, "go must be \"end\" or the number of a point, 0 to %u",
                         point_count - 1);
        *ret_go = BP_GO(n);
    }
    up(r, top);
    return 0;
}

/* points: how many the guard has, 0 where go has no meaning. */
static int read_sel(struct reader *r, struct json_object *o, unsigned points,
                    struct policy_sel *ret_sel)
{
    static const char *const with_go[] = { "on", "has", "lacks", "go", NULL };
    static const char *const without_go[] = { "on", "has", "lacks", NULL };

    *ret_sel = (struct policy_sel){ .go = BP_NEXT };
    if (json_object_is_type(o, json_type_string)) {
        ret_sel->on = (struct policy_names){ ARENA_NEW(&r->policy->arena, struct policy_name), 1 };
        if (read_name(r, o, "an event", ret_sel->on.p) < 0)
            return -1;
    } else if (check_fields(r, o, points ? with_go : without_go,
                            points ? "on, has, lacks and go" : "on, has and lacks") < 0 ||
               read_names(r, o, "on", &ret_sel->on) < 0 ||
               read_names(r, o, "has", &ret_sel->has) < 0 ||
               read_names(r, o, "lacks", &ret_sel->lacks) < 0 ||
               (points && read_go(r, field(o, "go"), points, &ret_sel->go) < 0)) {
        return -1;
    }
    if (!ret_sel->on.n)
        return wrong(r, "on must name an event");
    note_events(r, ret_sel->on.p, ret_sel->on.n);
    return 0;
}

/* One selector or a list; appended to sels. */
static int read_sels(struct reader *r, struct json_object *parent, const char *what,
                     unsigned points, struct policy_sel *sels, unsigned max, unsigned *count)
{
    struct json_object *o = field(parent, what);
    size_t n = o ? list_length(o) : 0, top = down(r, what), list = strlen(r->pointer);

    if (n + *count > max)
        return wrong(r, "%s has too many selectors: a point takes %u", what, max);
    for (size_t i = 0; i < n; i++) {
        if (read_sel(r, list_item(r, o, i), points, &sels[*count]) < 0)
            return -1;
        (*count)++;
        up(r, list);
    }
    up(r, top);
    return 0;
}

/* ---- guards ---- */

static int read_request(struct reader *r, struct json_object *o, struct policy_name *ret_request)
{
    size_t top = down(r, "request");

    if (!o) {
        up(r, top);
        return 0;
    }
    if (read_name(r, o, "request", ret_request) < 0)
        return -1;
    note_events(r, ret_request, 1);
    up(r, top);
    return 0;
}

static int read_point(struct reader *r, struct json_object *o, unsigned points,
                      struct policy_point *ret_point)
{
    static const char *const allowed[] = { "request", "wait", "block", "interrupt", NULL };
    struct policy_point *p = ret_point;

    p->at = here(r);
    if (check_fields(r, o, allowed, "request, wait, block and interrupt") < 0 ||
        read_request(r, field(o, "request"), &p->request) < 0 ||
        read_sels(r, o, "block", 0, p->block, BP_BLOCKS, &p->blocks) < 0 ||
        read_sels(r, o, "interrupt", 0, p->wait, BP_WAITS, &p->waits) < 0)
        return -1;
    for (unsigned i = 0; i < p->waits; i++)
        p->wait[i].go = BP_END;
    if (read_sels(r, o, "wait", points, p->wait, BP_WAITS, &p->waits) < 0)
        return -1;
    if (!p->request.text && !p->waits && !p->blocks)
        return wrong(r, "does nothing: it needs request, wait, block or interrupt");
    return 0;
}

static int read_points(struct reader *r, struct json_object *o, struct policy_guard *guard)
{
    size_t n = json_object_is_type(o, json_type_array) ? json_length(o) : 0;
    size_t top = down(r, "points"), list = strlen(r->pointer);

    if (n == 0 || n > POLICY_POINTS_MAX)
        return wrong(r, "points must be a list of 1 to %d points", POLICY_POINTS_MAX);
    guard->points = ARENA_NEW_N(&r->policy->arena, struct policy_point, n);
    guard->point_count = (unsigned)n;
    for (size_t i = 0; i < n; i++) {
        snprintf(r->where, sizeof(r->where), "guard %s, point %zu", guard->name.text, i);
        if (read_point(r, list_item(r, o, i), (unsigned)n, &guard->points[i]) < 0)
            return -1;
        up(r, list);
    }
    snprintf(r->where, sizeof(r->where), "guard %s", guard->name.text);
    up(r, top);
    return 0;
}

/* Without a key a guard must have no state: then a changed policy can be put in its place. */
static int check_stateless(struct reader *r, const struct policy_guard *guard)
{
    const struct policy_point *p = &guard->points[0];

    if (guard->each_key)
        return 0;
    if (guard->point_count > 1)
        return wrong(r, "has %u points; a guard without `each` has one, which only blocks",
                     guard->point_count);
    if (p->request.text || p->waits)
        return wrong(r, "requests or waits; a guard without `each` may only block");
    return 0;
}

static int read_guard(struct reader *r, struct json_object *o, struct policy_guard *guard)
{
    static const char *const allowed[] = { "name", "each", "points", NULL };
    size_t top = strlen(r->pointer);

    if (check_fields(r, o, allowed, "name, each and points") < 0)
        return -1;
    down(r, "name");
    if (read_name(r, field(o, "name"), "name", &guard->name) < 0)
        return -1;
    snprintf(r->where, sizeof(r->where), "guard %s", guard->name.text);
    for (unsigned k = 0; k < r->policy->guard_count; k++)
        if (strcmp(r->policy->guards[k].name.text, guard->name.text) == 0)
            return wrong(r, "is there twice, first in line %u", r->policy->guards[k].name.at.line);
    up(r, top);
    guard->each_key = field(o, "each");
    down(r, "each");
    if (guard->each_key && read_sel(r, field(o, "each"), 0, &guard->each) < 0)
        return -1;
    up(r, top);
    if (read_points(r, field(o, "points"), guard) < 0)
        return -1;
    return check_stateless(r, guard);
}

static int read_guards(struct reader *r, struct json_object *o)
{
    struct bp_policy *policy = r->policy;
    size_t n, top = down(r, "guards");

    if (!o)
        return 0;
    n = json_object_is_type(o, json_type_array) ? json_length(o) : SIZE_MAX;
    if (n > POLICY_GUARDS_MAX)
        return wrong(r, "guards must be a list of at most %d", POLICY_GUARDS_MAX);
    for (size_t i = 0; i < n; i++) {
        size_t list = down_to(r, i);

        snprintf(r->where, sizeof(r->where), "guards[%zu]", i);
        if (read_guard(r, json_object_array_get_idx(o, i), &policy->guards[i]) < 0)
            return -1;
        policy->guard_count++;
        up(r, list);
    }
    up(r, top);
    return 0;
}

/* ---- attributes ---- */

static int read_attribute(struct reader *r, const char *name, struct json_object *value)
{
    struct policy_attribute *a = &r->policy->attributes[r->policy->attribute_count];
    struct str text;

    snprintf(r->where, sizeof(r->where), "classify");
    r->at_key = true;
    if (!is_name(name, strlen(name)))
        return wrong(r, "\"%.40s\" is not a name of letters, digits, _ and -", name);
    if (r->policy->attribute_count == POLICY_ATTRIBUTES_MAX)
        return wrong(r, "more than %d attributes", POLICY_ATTRIBUTES_MAX);
    r->at_key = false;
    snprintf(r->where, sizeof(r->where), "classify.%s", name);
    if (!json_object_is_type(value, json_type_string))
        return wrong(r, "must be an expression in quotes");
    text = str_of(json_object_get_string(value), (size_t)json_object_get_string_len(value));
    if (expr_parse(text, &r->policy->arena, &a->expr, r->err) < 0)
        return locate(r);
    a->name = arena_text(&r->policy->arena, name);
    r->policy->attribute_count++;
    return 0;
}

static int read_attributes(struct reader *r, struct json_object *o)
{
    size_t top = down(r, "classify"), list = strlen(r->pointer);
    struct json_object_iter at;

    if (o && !json_object_is_type(o, json_type_object))
        return wrong(r, "classify must be a map from attributes to expressions");
    if (o) {
        json_object_object_foreachC(o, at)
        {
            down(r, at.key);
            if (read_attribute(r, at.key, at.val) < 0)
                return -1;
            up(r, list);
        }
    }
    r->where[0] = '\0';
    up(r, top);
    return 0;
}

static int read_policy(struct reader *r, struct json_object *tree)
{
    static const char *const allowed[] = { "version", "for", "classify", "guards", NULL };
    struct json_object *version;
    size_t top;

    if (check_fields(r, tree, allowed, "version, for, classify and guards") < 0)
        return -1;
    version = field(tree, "version");
    top = down(r, "version");
    if (!json_object_is_type(version, json_type_int) || json_object_get_int64(version) != 1)
        return wrong(r, "version must be 1");
    up(r, top);
    if (read_names(r, tree, "for", &r->policy->programs) < 0 ||
        read_attributes(r, field(tree, "classify")) < 0)
        return -1;
    return read_guards(r, field(tree, "guards"));
}

int bp_policy_parse(const struct yaml *yaml, const char *name, struct bp_policy **ret_policy,
                    struct err *err)
{
    AUTO(bp_policy) policy = NEW(struct bp_policy);
    struct reader r = { .policy = policy, .yaml = yaml, .err = err };

    policy->file = arena_text(&policy->arena, name);
    if (read_policy(&r, yaml->root) < 0)
        return -1;
    *ret_policy = TAKE(policy);
    return 0;
}

int bp_policy_load(const char *path, struct bp_policy **ret_policy, struct err *err)
{
    AUTO_BUF text = BUF_INIT(LIMIT_CONFIG_BYTES);
    AUTO_YAML yaml = YAML_INIT;

    if (file_read(path, &text, err) < 0 || yaml_parse(buf_str(&text), path, &yaml, err) < 0 ||
        bp_policy_parse(&yaml, path, ret_policy, err) < 0)
        return err_wrap(err, "load policy");
    return 0;
}
