/* The OpenAPI document, written from the route tables.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>

#include <json-c/json_object_iterator.h>

#include "base/alloc.h"
#include "base/json.h"
#include "base/json_put.h"
#include "serve/route.h"

static const char *media_type(enum serve_answer answer)
{
    switch (answer) {
    case SERVE_TEXT:
        return "text/plain";
    case SERVE_PAGE:
        return "text/html";
    case SERVE_FILE:
        return "*/*";
    case SERVE_SSE:
        return "text/event-stream";
    default:
        return "application/json";
    }
}

/* A media type and, when it is described, the schema of what it carries. */
static void write_media(struct json_writer *w, const char *type, const char *schema)
{
    char text[128];

    json_put_object(w, type);
    if (schema) {
        snprintf(text, sizeof(text), "#/components/schemas/%s", schema);
        json_put_object(w, "schema");
        json_put_text(w, "$ref", text);
        json_write_object_end(w);
    }
    json_write_object_end(w);
}

static void write_answer(struct json_writer *w, const struct serve_route *route)
{
    json_put_object(w, "content");
    /* Of server-sent events the schema is that of each event's data. */
    write_media(w, media_type(route->answer), route->gives);
    if (route->streams)
        write_media(w, media_type(SERVE_SSE), NULL);
    json_write_object_end(w);
}

static void open_status(struct json_writer *w, int status)
{
    char text[8];

    snprintf(text, sizeof(text), "%d", status);
    json_put_object(w, text);
}

static void write_success(struct json_writer *w, const struct serve_route *route, int status)
{
    open_status(w, status);
    json_put_text(w, "description",
                  status == 101   ? "The connection speaks WebSocket from here on."
                  : status == 201 ? "Made."
                  : status == 206 ? "A part of it."
                  : status == 204 ? "Done; there is nothing to tell."
                  : status == 303 ? "Done; go on there."
                                  : "Done.");
    if (status != 101 && status != 204 && status != 303)
        write_answer(w, route);
    json_write_object_end(w);
}

/* As far as the table knows. Whatever else goes wrong is the default. */
static bool may_refuse(const struct serve_route *route, int status)
{
    bool named = strchr(route->pattern, '{') != NULL;
    bool changes = strcmp(route->method, "GET") != 0;

    switch (status) {
    case 400: /* a path or a query that nobody can read, at the least */
        return true;
    case 401:
        return route->access == SERVE_TOKEN;
    case 403: /* a foreign Host or Origin, a paused agent, a path that is not for agents */
        return true;
    case 404: /* what the path names, or the query, or the body */
        return named || route->query || changes;
    case 409:
        return changes && (named || route->takes);
    case 412:
        return route->header && strcmp(route->header, "If-Match") == 0;
    case 413: /* where no body is taken: any */
        return true;
    case 416:
        return route->also == 206;
    default:
        return false;
    }
}

static void write_refusal(struct json_writer *w, const struct serve_route *route)
{
    json_put_text(w, "$ref",
                  route->answer == SERVE_PAGE ? "#/components/responses/ErrorPage"
                                              : "#/components/responses/Error");
    json_write_object_end(w);
}

static void write_responses(struct json_writer *w, const struct serve_route *route)
{
    static const int refusals[] = { 400, 401, 403, 404, 409, 412, 413, 416 };
    bool upgrade = route->answer == SERVE_WEBSOCKET;

    json_put_object(w, "responses");
    write_success(w, route, upgrade ? 101 : route->status ? route->status : 200);
    if (route->also)
        write_success(w, route, route->also);
    for (size_t i = 0; i < ARRAY_LEN(refusals); i++) {
        if (!may_refuse(route, refusals[i]))
            continue;
        open_status(w, refusals[i]);
        write_refusal(w, route);
    }
    json_put_object(w, "default");
    write_refusal(w, route);
    json_write_object_end(w);
}

static void write_parameter(struct json_writer *w, struct str name, const char *place)
{
    json_write_object_begin(w);
    json_put_str(w, "name", name);
    json_put_text(w, "in", place);
    json_put_bool(w, "required", strcmp(place, "path") == 0);
    json_put_object(w, "schema");
    json_put_text(w, "type", "string");
    json_write_object_end(w);
    json_write_object_end(w);
}

static void write_parameters(struct json_writer *w, const struct serve_route *route)
{
    const char *open = strchr(route->pattern, '{');

    if (!open && !route->query && !route->once && !route->header)
        return;
    json_put_array(w, "parameters");
    for (; open; open = strchr(open + 1, '{'))
        write_parameter(w, str_of(open + 1, strcspn(open + 1, ".}")), "path");
    for (const char *const *name = route->query; name && *name; name++)
        write_parameter(w, str_from(*name), "query");
    if (route->once)
        write_parameter(w, STR("Idempotency-Key"), "header");
    if (route->header)
        write_parameter(w, str_from(route->header), "header");
    json_write_array_end(w);
}

static void write_body(struct json_writer *w, const struct serve_route *route)
{
    char text[64];

    snprintf(text, sizeof(text), "At most %zu bytes.", route->body_max);
    json_put_object(w, "requestBody");
    json_put_text(w, "description", text);
    json_put_object(w, "content");
    if (route->takes)
        write_media(w, "application/json", route->takes);
    if (route->bytes)
        write_media(w, "*/*", NULL);
    json_write_object_end(w);
    json_write_object_end(w);
}

static void write_operation(struct json_writer *w, const struct serve_route *route)
{
    char method[8] = "";

    for (size_t i = 0; route->method[i] && i + 1 < sizeof(method); i++)
        method[i] = (char)(route->method[i] | 0x20);
    json_put_object(w, method);
    json_put_text(w, "summary", route->summary);
    write_parameters(w, route);
    if (route->takes || route->bytes) /* what others take (an empty object) says nothing */
        write_body(w, route);
    write_responses(w, route);
    if (route->access != SERVE_TOKEN) {
        json_put_array(w, "security");
        json_write_array_end(w);
    }
    json_write_object_end(w);
}

/* {path...} is written {path}: OpenAPI has no word for "the rest". */
static struct str path_of(const struct serve_route *route, char out[ROUTE_PATTERN_BYTES])
{
    const char *dots = strstr(route->pattern, "...}");
    size_t n = dots ? (size_t)(dots - route->pattern) : strlen(route->pattern);

    return str_of(out, (size_t)snprintf(out, ROUTE_PATTERN_BYTES, "%.*s%s", (int)n, route->pattern,
                                        dots ? "}" : ""));
}

struct walk {
    const struct serve_routes *routes;
    size_t count, table, at;
};

static const struct serve_route *next_route(struct walk *walk)
{
    while (walk->table < walk->count && walk->at == walk->routes[walk->table].count) {
        walk->table++;
        walk->at = 0;
    }
    return walk->table < walk->count ? &walk->routes[walk->table].table[walk->at++] : NULL;
}

/* All methods of a path stand together, where the first of them stands. */
static void write_path(struct json_writer *w, const struct serve_route *first, struct walk walk)
{
    char text[ROUTE_PATTERN_BYTES], other[ROUTE_PATTERN_BYTES];
    struct str path = path_of(first, text);
    const struct serve_route *route;

    while ((route = next_route(&walk)) != first)
        if (str_eq(path_of(route, other), path))
            return; /* it was written there */
    json_write_key_str(w, path);
    json_write_object_begin(w);
    for (; route; route = next_route(&walk))
        if (str_eq(path_of(route, other), path))
            write_operation(w, route);
    json_write_object_end(w);
}

static void write_members(struct json_writer *w, struct json_object *object)
{
    struct json_object_iterator at = json_object_iter_begin(object);
    struct json_object_iterator end = json_object_iter_end(object);

    for (; !json_object_iter_equal(&at, &end); json_object_iter_next(&at)) {
        json_put_value(w, json_object_iter_peek_name(&at), json_object_iter_peek_value(&at));
    }
}

static void write_schemas(struct json_writer *w, const struct serve_routes *routes, size_t count)
{
    json_put_object(w, "schemas");
    for (size_t i = 0; i < count; i++) {
        AUTO_JSON schemas = NULL;

        if (!routes[i].schemas.n)
            continue;
        BUG_IF(json_parse(routes[i].schemas, &schemas, NULL) < 0);
        write_members(w, schemas);
    }
    json_write_object_end(w);
}

static void write_components(struct json_writer *w, const struct serve_routes *routes, size_t count)
{
    static const char schemes[] = "{\"token\":{\"type\":\"http\",\"scheme\":\"bearer\"}}";
#define ERROR                                                                                      \
    "\"application/json\":{\"schema\":{"                                                           \
    "\"type\":\"object\",\"required\":[\"error\"],\"properties\":{\"error\":{"                     \
    "\"type\":\"object\",\"required\":[\"code\",\"message\"],\"properties\":{"                     \
    "\"code\":{\"type\":\"string\"},\"message\":{\"type\":\"string\"},\"details\":{}}}}}}"
    static const char responses[] =
        "{\"Error\":{\"description\":\"What went wrong, for programs and for people.\","
        "\"content\":{" ERROR "}},"
        "\"ErrorPage\":{\"description\":\"What went wrong, where a page is looked at.\","
        "\"content\":{\"text/html\":{}," ERROR "}}}";
#undef ERROR

    json_put_object(w, "components");
    json_put_raw(w, "securitySchemes", str_from(schemes));
    json_put_raw(w, "responses", str_from(responses));
    write_schemas(w, routes, count);
    json_write_object_end(w);
    json_put_raw(w, "security", STR("[{\"token\":[]}]"));
}

int route_openapi(const struct serve_routes *routes, size_t count, const char *version,
                  struct buf *out, struct err *err)
{
    struct walk walk = { .routes = routes, .count = count };
    const struct serve_route *route;
    struct json_writer w = JSON_WRITER(out);

    json_write_object_begin(&w);
    json_put_text(&w, "openapi", "3.1.0");
    json_put_object(&w, "info");
    json_put_text(&w, "title", "Dormouse");
    json_put_text(&w, "version", version);
    json_put_text(&w, "description",
                  "In a body, a member that is null counts as not given where its schema has no "
                  "null.");
    json_write_object_end(&w);
    json_put_object(&w, "paths");
    while ((route = next_route(&walk)))
        write_path(&w, route, (struct walk){ .routes = routes, .count = count });
    json_write_object_end(&w);
    write_components(&w, routes, count);
    json_write_object_end(&w);
    return json_write_end(&w) < 0 ? err_set(err, ERR_TOO_LARGE, "the OpenAPI document does not fit")
                                  : 0;
}
