/* Headers that decide who is let in: Host, Origin, Authorization, Cookie, and what the page and the
 * WebSocket handshake read. No rubbish may open the door.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>

#include "serve/guard.h"
#include "serve/page_int.h"
#include "serve/ws_int.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    static struct clock_fake clock;
    static struct guard guard;
    struct str text = str_of((const char *)bytes, n), value;
    struct ws_handshake handshake = { text, text, STR("13"), text, true, true };
    char accept[WS_ACCEPT_TEXT + 1];

    if (!guard.clock) {
        clock_fake_init(&clock, 1700000000000);
        guard.clock = &clock.clock;
        memcpy(guard.token, "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", GUARD_TOKEN_TEXT + 1);
        if (guard_allow_host(&guard, STR("localhost"), 7117, false, NULL) < 0)
            abort();
    }
    if (guard_host_ok(&guard, text) && !str_eq_nocase(text, STR("localhost:7117")))
        abort();
    if (guard_origin_ok(&guard, text) && !str_eq_nocase(text, STR("http://localhost:7117")) &&
        !str_eq_nocase(text, STR("https://localhost:7117")))
        abort();
    if (guard_parse_bearer(text, &value) && guard_token_ok(&guard, value) &&
        str_find(text, str_from(guard.token)) < 0)
        abort();
    /* Without the token nobody makes a cookie, a code or a MAC that fits. */
    if ((guard_parse_cookie(text, "dormouse", &value) && guard_cookie_ok(&guard, value)) ||
        guard_cookie_ok(&guard, text) || guard_use_code(&guard, text))
        abort();
    (void)page_accepts_gzip(text);
    (void)page_etag_listed(text, "\"x\"");
    if (ws_handshake_check(&handshake, NULL) == 0)
        ws_accept(text, accept);
    return 0;
}
