/* The interface's own part: checks before dispatch, small helpers.
 *
 * SPDX-License-Identifier: MIT
 */
#include "loop/http.h"

#include "loop/http_int.h"

struct str http_head_find(const struct http_head *head, const char *name)
{
    for (size_t i = 0; i < head->n; i++)
        if (str_eq_nocase(head->fields[i].name, str_from(name)))
            return head->fields[i].value;
    return STR_NONE;
}

const char *http_phase_name(enum http_phase phase)
{
    static const char *const names[] = {
        [HTTP_PHASE_NONE] = "start",      [HTTP_PHASE_RESOLVE] = "resolve",
        [HTTP_PHASE_CONNECT] = "connect", [HTTP_PHASE_TLS] = "tls",
        [HTTP_PHASE_SEND] = "send",       [HTTP_PHASE_WAIT] = "first byte",
        [HTTP_PHASE_BODY] = "body",       [HTTP_PHASE_REDIRECT] = "redirect",
        [HTTP_PHASE_DONE] = "done",
    };

    return names[phase];
}

int http_start(struct http_client *client, const struct http_request *request,
               const struct http_handler *handler, void *arg, struct http_exchange **ret_exchange,
               struct err *err)
{
    BUG_IF(!handler->on_done);
    if (http_request_check(request, err) < 0)
        return -1;
    return client->ops->start(client, request, handler, arg, ret_exchange, err);
}

void http_cancel(struct http_exchange *x)
{
    x->client->ops->cancel(x);
}

void http_resume(struct http_exchange *x)
{
    x->client->ops->resume(x);
}

void http_source_ready(struct http_exchange *x)
{
    x->client->ops->source_ready(x);
}

void http_client_free(struct http_client *client)
{
    if (client)
        client->ops->free(client);
}
