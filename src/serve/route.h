/* Routes as a table: dispatch, 404 and 405, and the OpenAPI document are all made from it.
 *
 * A pattern is literal segments and {name} parameters; {name...} as the last segment takes the
 * rest of the path, slashes included. The first route that fits wins, so literal ones stand
 * before those with parameters.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_SERVE_ROUTE_H
#define DORMOUSE_SERVE_ROUTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "serve/target.h"

struct serve_request;

enum serve_access {
    SERVE_TOKEN = 0, /* bearer token or the page's cookie, or the owner's Unix socket */
    SERVE_PUBLIC,    /* anyone who passes the Host check */
    SERVE_LOCAL,     /* anyone on this machine */
};

enum serve_answer {
    SERVE_JSON = 0,
    SERVE_TEXT,
    SERVE_PAGE, /* HTML */
    SERVE_FILE, /* a file of any type */
    SERVE_SSE,
    SERVE_WEBSOCKET,
};

struct serve_route {
    const char *method;  /* "GET" (answers HEAD too), "POST", "PUT", "PATCH", "DELETE" */
    const char *pattern; /* "/api/v1/agents/{id}" */
    void (*run)(struct serve_request *request);
    enum serve_access access;
    enum serve_answer answer;
    size_t body_max;          /* bytes; 0: no body is accepted */
    const char *summary;      /* one sentence, for the OpenAPI document */
    const char *const *query; /* names of its query parameters, ends with NULL; NULL: none */
    const char *header;       /* the name of one that it reads beside Idempotency-Key; NULL: none */
    /* Names of the schemas of body and answer in serve_routes.schemas; NULL: not described. */
    const char *takes, *gives;
    bool bytes;   /* the body is (takes: or is) a file, of any type */
    bool once;    /* a request with the Idempotency-Key of an earlier one is done once */
    bool streams; /* a JSON route that also answers with server-sent events */
    /* What it answers when it went well: 0 is 200. also: another such status, 0 for none. */
    uint16_t status, also;
};

/* A room's routes and what its handlers get from serve_request_arg(). */
struct serve_routes {
    const struct serve_route *table;
    size_t count;
    void *arg;
    struct str schemas; /* JSON text: an object of JSON Schemas by name; empty: none */
    /* A request other than GET went well, and what it wrote is committed. NULL: nobody asks. */
    void (*changed)(void *arg, struct serve_request *request);
};

#define ROUTE_PARAMS_MAX    8
#define ROUTE_PATTERN_BYTES 256

struct route_match {
    const struct serve_route *route;
    void *arg;
    void (*changed)(void *arg, struct serve_request *request); /* of its table; may be NULL */
    unsigned id; /* position over all tables, for counting */
    struct param params[ROUTE_PARAMS_MAX];
    unsigned param_count;
};

/* 1 found, 0 no such path, -1 bad path (err), -2 the path exists with other methods, which are in
 * allow ("GET, HEAD, OPTIONS"). HEAD finds GET routes. */
int route_find(const struct serve_routes *routes, size_t count, struct arena *arena,
               struct str method, struct str path, struct route_match *ret_match, struct buf *allow,
               struct err *err);
/* A table that could never work (unknown method, bad pattern, too many parameters, a route that
 * another one before it hides, one path with two sets of names) is refused at start. */
int route_check(const struct serve_routes *routes, size_t count, struct err *err);
/* The OpenAPI 3.1 document of these routes as JSON text. */
int route_openapi(const struct serve_routes *routes, size_t count, const char *version,
                  struct buf *out, struct err *err);

#endif
