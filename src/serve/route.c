/* Matching of paths against the route tables.
 *
 * The tables are small and are walked in order; a path is compared segment by segment, and only
 * the segments that become parameters are decoded.
 *
 * SPDX-License-Identifier: MIT
 */
#include "serve/route.h"

static const char *const methods[] = { "GET", "POST", "PUT", "PATCH", "DELETE" };

static bool is_param(struct str segment)
{
    return segment.n > 2 && segment.p[0] == '{' && segment.p[segment.n - 1] == '}';
}

static bool is_rest(struct str segment)
{
    return is_param(segment) && str_ends(segment, STR("...}"));
}

static struct str param_name(struct str segment)
{
    return str_of(segment.p + 1, segment.n - (is_rest(segment) ? 5 : 2));
}

/* Does the path fit, without decoding anything? */
static bool fits(struct str pattern, struct str path)
{
    struct str want, got;

    while (str_split(&pattern, '/', &want)) {
        if (is_rest(want))
            return path.p != NULL && path.n > 0;
        if (!str_split(&path, '/', &got))
            return false;
        if (is_param(want) ? got.n == 0 : !str_eq(want, got))
            return false;
    }
    return path.p == NULL;
}

static int decode_rest(struct arena *arena, struct str path, struct str *ret_value, struct err *err)
{
    struct buf joined = BUF_INIT(path.n);
    struct str raw, text;
    int r = 0;

    for (bool first = true; r == 0 && str_split(&path, '/', &raw); first = false) {
        r = target_decode_segment(arena, raw, &text, err);
        if (r == 0 && text.n == 0)
            r = err_set(err, ERR_BAD_REQUEST, "the path holds an empty segment (//)");
        if (r == 0 && !first)
            buf_add_char(&joined, '/');
        if (r == 0)
            buf_add_str(&joined, text);
    }
    if (r == 0)
        *ret_value = arena_str(arena, buf_str(&joined));
    buf_release(&joined);
    return r;
}

static int take_params(struct arena *arena, struct str pattern, struct str path,
                       struct route_match *match, struct err *err)
{
    struct str want, got;

    match->param_count = 0;
    while (str_split(&pattern, '/', &want)) {
        struct param *param = &match->params[match->param_count];
        int r;

        if (is_rest(want)) {
            r = decode_rest(arena, path, &param->value, err);
        } else {
            str_split(&path, '/', &got);
            if (!is_param(want))
                continue;
            r = target_decode_segment(arena, got, &param->value, err);
        }
        if (r < 0)
            return -1;
        param->name = param_name(want);
        match->param_count++;
    }
    return 0;
}

static void add_allowed(struct buf *allow, const char *method)
{
    /* A method name is never part of another one, so a plain search is enough. */
    if (allow->n == 0)
        buf_add_text(allow, "OPTIONS");
    if (str_find(buf_str(allow), str_from(method)) >= 0)
        return;
    buf_printf(allow, ", %s", method);
    if (strcmp(method, "GET") == 0)
        buf_add_text(allow, ", HEAD");
}

int route_find(const struct serve_routes *routes, size_t count, struct arena *arena,
               struct str method, struct str path, struct route_match *ret_match, struct buf *allow,
               struct err *err)
{
    unsigned id = 0;

    if (str_is(method, "HEAD"))
        method = STR("GET");
    for (size_t t = 0; t < count; t++) {
        for (size_t i = 0; i < routes[t].count; i++, id++) {
            const struct serve_route *route = &routes[t].table[i];
            struct str pattern = str_from(route->pattern);

            if (!fits(pattern, path))
                continue;
            if (!str_is(method, route->method)) {
                add_allowed(allow, route->method);
                continue;
            }
            ret_match->route = route;
            ret_match->arg = routes[t].arg;
            ret_match->changed = routes[t].changed;
            ret_match->id = id;
            return take_params(arena, pattern, path, ret_match, err) < 0 ? -1 : 1;
        }
    }
    return allow->n > 0 ? -2 : 0;
}

static bool method_is_known(const char *method)
{
    for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++)
        if (strcmp(methods[i], method) == 0)
            return true;
    return false;
}

static bool pattern_is_good(struct str pattern)
{
    struct str segment;
    unsigned params = 0;

    if (!str_starts(pattern, STR("/")) || pattern.n >= ROUTE_PATTERN_BYTES)
        return false;
    pattern = str_skip(pattern, 1);
    while (str_split(&pattern, '/', &segment)) {
        if (is_rest(segment) && (pattern.p || param_name(segment).n == 0))
            return false;
        if (is_param(segment)) {
            params++;
            segment = param_name(segment);
        }
        if (str_find_char(segment, '{') >= 0 || str_find_char(segment, '}') >= 0)
            return false;
    }
    return params <= ROUTE_PARAMS_MAX;
}

static bool ends_in_rest(struct str pattern)
{
    return str_ends(pattern, STR("...}"));
}

/* Does every path that fits b fit a? A parameter of b is to a like any other text. */
static bool covers(struct str a, struct str b)
{
    return fits(a, b) && (ends_in_rest(a) || !ends_in_rest(b));
}

/* route against one that stands before it */
static int check_pair(const struct serve_route *before, const struct serve_route *route,
                      struct err *err)
{
    struct str a = str_from(before->pattern), b = str_from(route->pattern);

    if (!covers(a, b))
        return 0;
    if (strcmp(before->method, route->method) == 0)
        return err_set(err, ERR_INTERNAL, "route %s %s is hidden by %s before it", route->method,
                       route->pattern, before->pattern);
    if (covers(b, a) && !str_eq(a, b))
        return err_set(err, ERR_INTERNAL, "routes %s and %s are one path: name its parts alike",
                       before->pattern, route->pattern);
    return 0;
}

static int check_route(const struct serve_routes *routes, size_t t, size_t i, struct err *err)
{
    const struct serve_route *route = &routes[t].table[i];

    if (!route->method || !method_is_known(route->method) || !route->run || !route->summary)
        return err_set(err, ERR_INTERNAL, "route %s: method, handler or summary is missing",
                       route->pattern);
    if (!pattern_is_good(str_from(route->pattern)))
        return err_set(err, ERR_INTERNAL, "route %s: the pattern is not well formed",
                       route->pattern);
    for (size_t other = 0; other <= t; other++)
        for (size_t k = 0; k < (other == t ? i : routes[other].count); k++)
            if (check_pair(&routes[other].table[k], route, err) < 0)
                return -1;
    return 0;
}

int route_check(const struct serve_routes *routes, size_t count, struct err *err)
{
    for (size_t t = 0; t < count; t++)
        for (size_t i = 0; i < routes[t].count; i++)
            if (check_route(routes, t, i, err) < 0)
                return -1;
    return 0;
}
