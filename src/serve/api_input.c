/* What requests bring: bodies, query parameters, names of things.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <string.h>

#include "serve/api_int.h"

struct api *api_of(struct serve_request *request)
{
    return serve_request_arg(request);
}

/* ---- bodies ---- */

static int read_body(struct str text, const struct json_field *fields, void *record,
                     struct json_object **ret_body, struct err *err)
{
    AUTO_JSON body = NULL;

    if (!str_trim(text).n)
        text = STR("{}");
    if (json_parse(text, &body, err) < 0)
        return err_wrap(err, "the body");
    if (!json_object_is_type(body, json_type_object))
        return err_set(err, ERR_SCHEMA_VIOLATION, "the body must be a JSON object, not %s",
                       json_type_name(body));
    if (json_read(body, fields, JSON_REFUSE_UNKNOWN, record, err) < 0)
        return -1;
    *ret_body = TAKE(body);
    return 0;
}

int api_body(struct serve_request *request, const struct json_field *fields, void *record,
             struct json_object **ret_body)
{
    struct err err = ERR_INIT;

    if (read_body(serve_request_body(request), fields, record, ret_body, &err) == 0)
        return 0;
    serve_reply_error(request, &err);
    return -1;
}

int api_object(struct serve_request *request, struct json_object **ret_body)
{
    struct str text = serve_request_body(request);
    struct err err = ERR_INIT;

    if (json_parse(str_trim(text).n ? text : STR("{}"), ret_body, &err) < 0)
        err_wrap(&err, "the body");
    else if (!json_object_is_type(*ret_body, json_type_object))
        err_set(&err, ERR_SCHEMA_VIOLATION, "the body must be a JSON object, not %s",
                json_type_name(*ret_body));
    else
        return 0;
    serve_reply_error(request, &err);
    return -1;
}

int api_read_mode(struct str text, enum run_mode *ret_mode, struct err *err)
{
    if (!text.p || str_is(text, "structured"))
        *ret_mode = RUN_STRUCTURED;
    else if (str_is(text, "wiggum"))
        *ret_mode = RUN_COOK;
    else
        return err_set(err, ERR_SCHEMA_VIOLATION, "mode must be structured or wiggum, not \"%.*s\"",
                       STR_ARG(str_take(text, 80)));
    return 0;
}

int api_refuse_limit(struct json_object *max_iterations, struct err *err)
{
    if (!max_iterations)
        return 0;
    return err_set(
        err, ERR_BAD_REQUEST,
        "maxIterations can't be changed while the run goes on: its limits are fixed when "
        "it starts, so that its log can be replayed; cancel it and start another with "
        "maxIterations");
}

/* ---- queries ---- */

int api_check_query(struct serve_request *request)
{
    const char *const *names = serve_request_route(request)->query;
    static const char *const none[] = { NULL };
    struct err err = ERR_INIT;

    if (serve_request_check_query(request, names ? names : none, &err) == 0)
        return 0;
    serve_reply_error(request, &err);
    return -1;
}

int api_query_i64(struct serve_request *request, const char *name, int64_t min, int64_t max,
                  int64_t *value)
{
    struct str text = serve_request_query(request, name);
    struct err err = ERR_INIT;
    int64_t number;

    if (!text.p)
        return 0;
    if (str_to_i64(text, &number) == 0 && number >= min && number <= max) {
        *value = number;
        return 0;
    }
    err_set(&err, ERR_BAD_REQUEST, "%s must be a number from %lld to %lld, not \"%.*s\"", name,
            (long long)min, (long long)max, STR_ARG(str_take(text, 80)));
    serve_reply_error(request, &err);
    return -1;
}

int api_read_flag(struct serve_request *request, const char *name, bool *ret_flag, struct err *err)
{
    struct str text = serve_request_query(request, name);

    *ret_flag = text.p && str_is(text, "true");
    if (text.p && !*ret_flag && !str_is(text, "false"))
        return err_set(err, ERR_BAD_REQUEST, "%s must be true or false, not \"%.*s\"", name,
                       STR_ARG(str_take(text, 80)));
    return 0;
}

/* ---- once ---- */

static void add_part(struct sha256 *hash, struct str text)
{
    sha256_add(hash, STR("\n"));
    sha256_add(hash, text.p ? text : STR(""));
}

void api_hash_request(struct serve_request *request, char ret_hash[SHA256_TEXT_SIZE])
{
    const struct serve_route *route = serve_request_route(request);
    struct arena *arena = serve_request_arena(request);
    uint8_t digest[SHA256_BYTES];
    struct sha256 hash;

    sha256_init(&hash);
    sha256_add(&hash, str_from(route->pattern));
    for (const char *open = strchr(route->pattern, '{'); open; open = strchr(open + 1, '{')) {
        const char *name = arena_copy(arena, open + 1, strcspn(open + 1, ".}"));

        add_part(&hash, serve_request_param(request, name));
    }
    for (const char *const *name = route->query; name && *name; name++)
        add_part(&hash, serve_request_query(request, *name));
    add_part(&hash, serve_request_body(request));
    sha256_finish(&hash, digest);
    hex_encode(digest, sizeof(digest), ret_hash);
}

/* ---- names ---- */

int api_run(struct serve_request *request, struct run_info *ret_info)
{
    struct err err = ERR_INIT;

    if (run_find(api_of(request)->config.runner, serve_request_param(request, "key"),
                 serve_request_arena(request), ret_info, &err) == 0)
        return 0;
    serve_reply_error(request, &err);
    return -1;
}

int api_item(struct serve_request *request, struct inbox_item *ret_item)
{
    struct err err = ERR_INIT;

    if (inbox_find(api_of(request)->config.agent_domain, serve_request_param(request, "id"),
                   serve_request_arena(request), ret_item, &err) == 0)
        return 0;
    serve_reply_error(request, &err);
    return -1;
}

#define AGENT_PREFIX_MIN 4

struct agent_search {
    struct str prefix;
    char id[65];
    unsigned found;
};

static bool compare_agent(void *arg, const struct agent *agent)
{
    struct agent_search *search = arg;

    if (str_starts(str_from(agent->id), search->prefix) && search->found++ == 0)
        snprintf(search->id, sizeof(search->id), "%s", agent->id);
    return search->found < 2;
}

int api_find_agent(struct api *api, struct str id, struct arena *arena, struct agent *ret_agent,
                   struct err *err)
{
    struct domain *domain = api->config.agent_domain;
    struct agent_search search = { .prefix = id };

    if (agent_get(domain, id, arena, ret_agent, err) == 0)
        return 0;
    if (err->code != ERR_NOT_FOUND || id.n < AGENT_PREFIX_MIN)
        return -1;
    err_reset(err);
    if (agent_each(domain, compare_agent, &search, err) < 0)
        return -1;
    if (search.found > 1)
        return err_set(err, ERR_BAD_REQUEST, "%.*s is the beginning of more than one agent's id",
                       STR_ARG(id));
    return agent_get(domain, search.found ? str_from(search.id) : id, arena, ret_agent, err);
}

int api_agent(struct serve_request *request, struct agent *ret_agent)
{
    struct err err = ERR_INIT;

    if (api_find_agent(api_of(request), serve_request_param(request, "id"),
                       serve_request_arena(request), ret_agent, &err) == 0)
        return 0;
    serve_reply_error(request, &err);
    return -1;
}
