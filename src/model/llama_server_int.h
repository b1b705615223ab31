/* A llama-server that the daemon starts, watches and ends.
 *
 * Started when it is first needed, on a free port of loopback; ready when GET /health says so. When
 * it dies it is started again at the next need, not before a time that doubles with every death in
 * a row. Its output goes to the log at debug. A server that somebody else runs is only asked for
 * its health.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_MODEL_LLAMA_SERVER_INT_H
#define DORMOUSE_MODEL_LLAMA_SERVER_INT_H

#include "base/alloc.h"
#include "base/err.h"
#include "loop/loop.h"
#include "model/model.h"

struct http_client;
struct llama_server;

struct llama_server_config {
    struct loop *loop;
    struct http_client *http;
    const char *id;                      /* the model's, for messages */
    const char *server_path, *gguf_path; /* NULL: it is not ours to start */
    const char *base_url;                /* of one that is not ours */
    int64_t context_tokens;              /* 0: the server's own default */
    int64_t start_ms;                    /* how long it may take to be ready; 0: LLAMA_START_MS */
};
#define LLAMA_START_MS       300000
#define LLAMA_BACKOFF_MS     500 /* after the first death in a row; doubles */
#define LLAMA_BACKOFF_MAX_MS 30000
#define LLAMA_POLL_MS        100

struct llama_server *llama_server_new(const struct llama_server_config *config);
/* Ends the process, and every wait with cancelled. */
void llama_server_free(struct llama_server *server);
AUTO_DEFINE(llama_server)

/* Embedded in the owner; kept alive until ready was called or the wait was dropped. */
struct llama_wait {
    /* url: of the server, valid during the call; NULL: err says why not. Inside a tick, never from
     * inside llama_server_need(). */
    void (*ready)(struct llama_wait *wait, const char *url, const struct err *err);
    struct llama_server *server; /* the server's own, as is what follows; NULL: not waiting */
    struct llama_wait *next, *prev;
};
void llama_server_need(struct llama_server *server, struct llama_wait *wait);
/* No ready after this. Does nothing when it is not waiting. */
void llama_server_drop(struct llama_wait *wait);
/* A request could not reach it: its health is to be asked again before the next one. */
void llama_server_doubt(struct llama_server *server);
/* Processes that have not ended, those of servers that were freed included. */
unsigned llama_servers_living(void);

#endif
