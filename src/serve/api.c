/* The table of routes, and who hears of events.
 *
 * SPDX-License-Identifier: MIT
 */
#include "serve/api.h"

#include <stdlib.h>

#include "base/limits.h"
#include "serve/api_int.h"

static const struct serve_route table[] = {
    { "POST", "/run", api_run_post, SERVE_TOKEN, SERVE_SSE, LIMIT_HTTP_BODY_BYTES,
      "Starts a run and streams its events." },
    { "POST", "/api/v1/run", api_run_post, SERVE_TOKEN, SERVE_SSE, LIMIT_HTTP_BODY_BYTES,
      "Starts a run and streams its events." },
};

struct api *api_of(struct serve_request *request)
{
    return serve_request_arg(request);
}

int api_body(struct serve_request *request, struct json_object **ret_body)
{
    struct json_object *body = NULL;
    struct err err = ERR_INIT;

    if (json_parse(serve_request_body(request), &body, &err) < 0) {
        err_wrap(&err, "the body");
    } else if (!json_object_is_type(body, json_type_object)) {
        err_set(&err, ERR_BAD_REQUEST, "the body must be a JSON object, not %s",
                json_type_name(body));
        json_object_put(body);
    } else {
        *ret_body = body;
        return 0;
    }
    serve_reply_error(request, &err);
    return -1;
}

static void heard(struct run_listener *listener, const struct run_public *event)
{
    api_streams_publish(CONTAINER_OF(listener, struct api, listener), event);
}

struct api *api_new(const struct api_config *config)
{
    struct api *api = NEW(struct api);

    *api = (struct api){ .config = *config, .listener = { .event = heard } };
    api->routes = (struct serve_routes){ .table = table, .count = ARRAY_LEN(table), .arg = api };
    runner_listen(config->runner, &api->listener);
    return api;
}

void api_free(struct api *api)
{
    if (!api)
        return;
    runner_unlisten(api->config.runner, &api->listener);
    api_streams_free(api);
    free(api);
}

const struct serve_routes *api_routes(struct api *api)
{
    return &api->routes;
}
