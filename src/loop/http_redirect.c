/* Redirects, followed by ourselves: every hop is looked up and checked like the first.
 *
 * SPDX-License-Identifier: MIT
 */
#include "loop/http_curl_int.h"

static void drop_headers(struct transfer *transfer, bool (*drop)(const struct http_header *header))
{
    struct http_header *kept =
        ARENA_NEW_N(&transfer->arena, struct http_header, transfer->request.n_headers + 1);
    size_t n = 0;

    for (size_t i = 0; i < transfer->request.n_headers; i++)
        if (!drop(&transfer->request.headers[i]))
            kept[n++] = transfer->request.headers[i];
    transfer->request.headers = kept;
    transfer->request.n_headers = n;
}

static bool is_content(const struct http_header *header)
{
    return str_eq_nocase(str_take(header->name, 8), STR("Content-"));
}

/* As browsers do: 303 asks for the result elsewhere, and POST has become GET on 301 and 302. */
static bool becomes_get(const struct transfer *transfer)
{
    const char *method = transfer->request.method;

    if (transfer->status == 303)
        return strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0;
    return (transfer->status == 301 || transfer->status == 302) && strcmp(method, "POST") == 0;
}

static int prepare_body(struct transfer *transfer)
{
    struct http_source *source = transfer->request.source;
    struct err err = ERR_INIT;

    if (becomes_get(transfer)) {
        transfer->request.method = "GET";
        transfer->request.body = STR_NONE;
        transfer->request.source = NULL;
        drop_headers(transfer, is_content);
        return 0;
    }
    if (source && (!source->rewind || source->rewind(source, &err) < 0))
        return http_transfer_fail(transfer, ERR_PROVIDER_FAILED,
                                  "redirect: the body can't be sent again");
    return 0;
}

/* Location against the URL it came from, in the transfer's arena; NULL when it makes no URL. */
static const char *resolve_location(struct transfer *transfer)
{
    const struct http_lib *lib = transfer->client->lib;
    CURLU *url = lib->url();
    const char *result = NULL;
    char *text = NULL;

    if (url && lib->url_set(url, CURLUPART_URL, transfer->url.text, 0) == CURLUE_OK &&
        lib->url_set(url, CURLUPART_URL, transfer->location, CURLU_URLENCODE) == CURLUE_OK &&
        lib->url_get(url, CURLUPART_URL, &text, 0) == CURLUE_OK)
        result = arena_text(&transfer->arena, text);
    lib->free(text);
    lib->url_cleanup(url);
    return result;
}

int http_redirect_take(struct transfer *transfer)
{
    unsigned max = transfer->request.max_redirects;
    const char *location = resolve_location(transfer);
    struct http_url next;
    struct err err = ERR_INIT;

    if (transfer->redirects == max)
        return http_transfer_fail(transfer, ERR_PROVIDER_FAILED,
                                  "redirect: more than the allowed %u", max);
    transfer->redirects++;
    if (!location)
        return http_transfer_fail(transfer, ERR_PROVIDER_FAILED, "redirect: Location is no URL");
    if (http_url_parse(location, &next, &err) < 0)
        return http_transfer_fail(transfer, ERR_PROVIDER_FAILED, "redirect: %s",
                                  err_message(&err, 0));
    if (transfer->url.https && !next.https)
        return http_transfer_fail(transfer, ERR_NETWORK_DENIED,
                                  "redirect: from https to http is not allowed");
    if (!http_same_origin(&transfer->url, &next))
        drop_headers(transfer, http_is_secret);
    if (prepare_body(transfer) < 0)
        return -1;
    transfer->url = next;
    return 0;
}
