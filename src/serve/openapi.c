/* The OpenAPI document, generated from the route tables.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json.h>
#include <stdio.h>

#include "base/alloc.h"
#include "serve/route.h"

static void add_text(struct json_object *to, const char *key, const char *text)
{
    json_object_object_add(to, key, json_object_new_string(text));
}

static struct json_object *add_object(struct json_object *to, const char *key)
{
    struct json_object *made = json_object_new_object();

    json_object_object_add(to, key, made);
    return made;
}

static struct json_object *error_reference(void)
{
    struct json_object *reference = json_object_new_object();

    add_text(reference, "$ref", "#/components/responses/Error");
    return reference;
}

static const char *media_type(enum serve_answer answer)
{
    switch (answer) {
    case SERVE_TEXT:
        return "text/plain";
    case SERVE_PAGE:
        return "text/html";
    case SERVE_SSE:
        return "text/event-stream";
    default:
        return "application/json";
    }
}

static void add_responses(struct json_object *operation, const struct serve_route *route)
{
    struct json_object *responses = add_object(operation, "responses");
    bool upgrade = route->answer == SERVE_WEBSOCKET;
    struct json_object *good = add_object(responses, upgrade ? "101" : "200");

    add_text(good, "description",
             upgrade ? "The connection speaks WebSocket from here on." : "Done.");
    if (!upgrade)
        add_object(add_object(good, "content"), media_type(route->answer));
    json_object_object_add(responses, "default", error_reference());
}

static void add_parameters(struct json_object *operation, const char *pattern)
{
    struct json_object *list = NULL;

    for (const char *open = strchr(pattern, '{'); open; open = strchr(open + 1, '{')) {
        struct json_object *parameter = json_object_new_object();
        size_t n = strcspn(open + 1, ".}");

        json_object_object_add(parameter, "name", json_object_new_string_len(open + 1, (int)n));
        add_text(parameter, "in", "path");
        json_object_object_add(parameter, "required", json_object_new_boolean(1));
        add_text(add_object(parameter, "schema"), "type", "string");
        if (!list)
            json_object_object_add(operation, "parameters", list = json_object_new_array());
        json_object_array_add(list, parameter);
    }
}

static void add_body(struct json_object *operation, uint32_t max)
{
    struct json_object *body = add_object(operation, "requestBody");
    char text[64];

    snprintf(text, sizeof(text), "At most %u bytes.", max);
    add_text(body, "description", text);
    add_object(add_object(body, "content"), "application/json");
}

static struct json_object *operation_of(const struct serve_route *route)
{
    struct json_object *operation = json_object_new_object();

    add_text(operation, "summary", route->summary);
    add_parameters(operation, route->pattern);
    if (route->body_max > 0)
        add_body(operation, route->body_max);
    add_responses(operation, route);
    if (route->access != SERVE_TOKEN)
        json_object_object_add(operation, "security", json_object_new_array());
    return operation;
}

/* {path...} is written {path}: OpenAPI has no word for "the rest". */
static void path_of(const char *pattern, struct buf *out)
{
    const char *dots = strstr(pattern, "...}");

    buf_clear(out);
    buf_add(out, pattern, dots ? (size_t)(dots - pattern) : strlen(pattern));
    if (dots)
        buf_add_char(out, '}');
}

static void add_route(struct json_object *paths, const struct serve_route *route)
{
    AUTO_BUF path = BUF_INIT(1024);
    struct json_object *item;
    char method[8] = "";

    path_of(route->pattern, &path);
    if (!json_object_object_get_ex(paths, buf_text(&path), &item))
        item = add_object(paths, buf_text(&path));
    for (size_t i = 0; route->method[i] && i + 1 < sizeof(method); i++)
        method[i] = (char)(route->method[i] | 0x20);
    json_object_object_add(item, method, operation_of(route));
}

static void add_components(struct json_object *root)
{
    struct json_object *components = add_object(root, "components");
    struct json_object *schemes = add_object(components, "securitySchemes");
    struct json_object *bearer = add_object(schemes, "token");
    struct json_object *error = add_object(add_object(components, "responses"), "Error");
    struct json_object *need = json_object_new_object(), *security = json_object_new_array();
    static const char schema[] =
        "{\"type\":\"object\",\"required\":[\"error\"],\"properties\":{\"error\":{\"type\":"
        "\"object\",\"required\":[\"code\",\"message\"],\"properties\":{\"code\":{\"type\":"
        "\"string\"},\"message\":{\"type\":\"string\"},\"details\":{}}}}}";

    add_text(bearer, "type", "http");
    add_text(bearer, "scheme", "bearer");
    add_text(error, "description", "What went wrong, for programs and for people.");
    json_object_object_add(add_object(add_object(error, "content"), "application/json"), "schema",
                           json_tokener_parse(schema));
    json_object_object_add(need, "token", json_object_new_array());
    json_object_array_add(security, need);
    json_object_object_add(root, "security", security);
}

int route_openapi(const struct serve_routes *routes, size_t count, const char *version,
                  struct buf *out, struct err *err)
{
    struct json_object *root = json_object_new_object(), *info, *paths;
    const char *text;
    size_t n;
    int r;

    add_text(root, "openapi", "3.1.0");
    info = add_object(root, "info");
    add_text(info, "title", "Dormouse");
    add_text(info, "version", version);
    paths = add_object(root, "paths");
    for (size_t t = 0; t < count; t++)
        for (size_t i = 0; i < routes[t].count; i++)
            add_route(paths, &routes[t].table[i]);
    add_components(root);
    text = json_object_to_json_string_length(
        root, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE, &n);
    r = buf_add(out, text, n);
    json_object_put(root);
    return r < 0 ? err_set(err, ERR_TOO_LARGE, "the OpenAPI document does not fit") : 0;
}
