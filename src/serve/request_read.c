/* What handlers ask of a request (request.h).
 *
 * SPDX-License-Identifier: MIT
 */
#include "serve/serve_int.h"

struct serve *serve_request_serve(struct serve_request *request)
{
    return request->serve;
}

void *serve_request_arg(struct serve_request *request)
{
    return request->match.arg;
}

const struct serve_route *serve_request_route(struct serve_request *request)
{
    return request->match.route;
}

struct arena *serve_request_arena(struct serve_request *request)
{
    return &request->arena;
}

struct str serve_request_method(struct serve_request *request)
{
    return request->method;
}

struct str serve_request_param(struct serve_request *request, const char *name)
{
    for (unsigned i = 0; i < request->match.param_count; i++)
        if (str_is(request->match.params[i].name, name))
            return request->match.params[i].value;
    BUG("the route %s has no parameter %s", request->match.route->pattern, name);
}

struct str serve_request_query(struct serve_request *request, const char *name)
{
    return target_query(&request->target, name);
}

struct str serve_request_header(struct serve_request *request, const char *name)
{
    if (!request->conn)
        return STR_NONE;
    return str_from(MHD_lookup_connection_value(request->conn->mhd, MHD_HEADER_KIND, name));
}

struct str serve_request_body(struct serve_request *request)
{
    return buf_str(&request->body);
}

bool serve_request_is_local(struct serve_request *request)
{
    return request->local;
}

int serve_request_check_query(struct serve_request *request, const char *const *allowed,
                              struct err *err)
{
    for (unsigned i = 0; i < request->target.query_count; i++) {
        struct str name = request->target.query[i].name;
        bool known = false;

        for (size_t k = 0; allowed[k] && !known; k++)
            known = str_is(name, allowed[k]);
        if (!known)
            return err_set(err, ERR_BAD_REQUEST, "the query parameter \"%.*s\" is not known here",
                           STR_ARG(str_take(name, 80)));
    }
    return 0;
}

void serve_request_hold(struct serve_request *request)
{
    request->held = true;
}
