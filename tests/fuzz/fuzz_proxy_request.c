/* Proxy requests: what is accepted is written again as one request that reads the same, and a body
 * ends at the same place however its bytes are cut.
 *
 * SPDX-License-Identifier: MIT
 */
#include "sandbox/proxy_int.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static size_t body_end(const struct proxy_request *request, struct str bytes, size_t step,
                       bool *ret_bad, bool *ret_done)
{
    struct proxy_body body;
    size_t at = 0;

    proxy_body_init(&body, request);
    *ret_bad = false;
    while (at < bytes.n && !body.done && !*ret_bad) {
        ptrdiff_t own = proxy_body_take(&body, str_take(str_skip(bytes, at), step));

        *ret_bad = own < 0;
        BUG_IF(own > (ptrdiff_t)step);
        at += own < 0 ? 0 : (size_t)own;
    }
    *ret_done = body.done;
    return at;
}

static void check_body(const struct proxy_request *request, struct str bytes)
{
    bool bad[2], done[2];
    size_t whole = body_end(request, bytes, bytes.n + 1, &bad[0], &done[0]);
    size_t cut = body_end(request, bytes, 1, &bad[1], &done[1]);

    BUG_IF(bad[0] != bad[1]);
    BUG_IF(!bad[0] && (whole != cut || done[0] != done[1]));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    struct str text = str_of((const char *)bytes, n);
    size_t head = proxy_head_size(text);
    AUTO_BUF out = BUF_INIT(4 * PROXY_HEAD_MAX);
    struct proxy_request request;
    struct err err = ERR_INIT;

    if (head == 0 || proxy_request_parse(str_take(text, head), &request, &err) < 0)
        return 0;
    BUG_IF(request.host.port == 0);
    if (request.connect)
        return 0;
    BUG_IF(proxy_request_write(&request, &out) < 0);
    BUG_IF(proxy_head_size(buf_str(&out)) != out.n);
    check_body(&request, str_skip(text, head));
    return 0;
}
