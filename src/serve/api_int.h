/* Shared by the files of the interface.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_SERVE_API_INT_H
#define DORMOUSE_SERVE_API_INT_H

#include "base/json.h"
#include "serve/api.h"
#include "serve/feed.h"
#include "serve/request.h"

struct api {
    struct api_config config;
    struct serve_routes routes;
    struct run_listener listener;
    struct api_stream *streams; /* of runs that somebody follows */
};

struct api *api_of(struct serve_request *request);
/* The body as a JSON object; -1 and the request is answered. */
int api_body(struct serve_request *request, struct json_object **ret_body);
/* The person who speaks: whoever has the token. */
#define API_OWNER STR("owner")

/* ---- api_run.c ---- */
void api_run_post(struct serve_request *request);
void api_streams_publish(struct api *api, const struct run_public *event);
void api_streams_free(struct api *api);

#endif
