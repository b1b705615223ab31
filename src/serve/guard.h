/* Who may speak to the server: token, one-time links, the page's cookie, Host and Origin.
 *
 * The token lies in DATA/token, readable by its owner alone. A browser never sees it: a one-time
 * link trades a code for a cookie that carries an expiry and an HMAC of it under the token, so a
 * cookie outlives a restart, ends by itself, and all of them end when the token is changed.
 *
 * The Host check stops names that an attacker points at our address (DNS rebinding); the Origin
 * check stops pages of other sites from writing or opening WebSockets with the reader's cookie.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_SERVE_GUARD_H
#define DORMOUSE_SERVE_GUARD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/str.h"

#define GUARD_TOKEN_BYTES    32
#define GUARD_TOKEN_TEXT     43  /* base64url without padding */
#define GUARD_HOSTS_MAX      128 /* a few for each socket listened on */
#define GUARD_HOST_BYTES     255
#define GUARD_CODES_MAX      8
#define GUARD_CODE_TEXT      22 /* 16 bytes */
#define GUARD_CODE_LIFE_MS   HOURS(1)
#define GUARD_COOKIE_LIFE_MS DAYS(30)
#define GUARD_FAILURES_MAX   10 /* wrong tokens a minute from one address */
#define GUARD_SOURCES_MAX    256

struct guard_source {
    uint64_t address; /* hash */
    int64_t since_ms;
    unsigned failures;
};

struct guard {
    struct clock *clock;
    char token[GUARD_TOKEN_TEXT + 1];
    char cookie_name[32];
    struct {
        char text[GUARD_CODE_TEXT + 1];
        int64_t until_ms; /* monotonic; 0: free */
    } codes[GUARD_CODES_MAX];
    char *hosts[GUARD_HOSTS_MAX]; /* "name:port", or "name" as a proxy sends it */
    unsigned host_count;
    uint16_t literal_port; /* not 0: every IP address with this port is allowed as well */
    struct guard_source sources[GUARD_SOURCES_MAX];
};

/* Reads path, or makes a token there when the file is absent. Refused when others can read the
 * file or its content is not a token. */
/* token_path NULL: a token that nobody knows. */
int guard_init(struct guard *guard, const char *token_path, struct clock *clock, struct err *err);
void guard_release(struct guard *guard);
/* Would guard_init() take the file at token_path? An absent one is fine. */
int guard_check_token(const char *token_path, struct err *err);

/* host is "name" or "[::1]", which allows it with port, and when bare also without any, as it is on
 * the usual ports 80 and 443; or "name:port", which allows just that. */
int guard_allow_host(struct guard *guard, struct str host, uint16_t port, bool bare,
                     struct err *err);
/* Allows every IP address with this port, for a server that listens on all of them. Unlike a name
 * an address can't be pointed elsewhere by DNS, so a hostile page can't use it as its own. */
void guard_allow_addresses(struct guard *guard, uint16_t port);
/* Whole names only, upper and lower case alike: a trailing dot makes another name. */
bool guard_host_ok(const struct guard *guard, struct str host);
/* An Origin that is one of ours: "http://" or (from a TLS proxy) "https://", and an allowed
 * host. */
bool guard_origin_ok(const struct guard *guard, struct str origin);

/* The token of "Bearer TOKEN"; false when the header is something else. */
bool guard_parse_bearer(struct str header, struct str *ret_token);
/* The value of one cookie of a Cookie header; false when it is absent or there twice. */
bool guard_parse_cookie(struct str header, const char *name, struct str *ret_value);
/* Both take the same time however much of it is right. */
bool guard_token_ok(const struct guard *guard, struct str token);
bool guard_cookie_ok(const struct guard *guard, struct str value);
/* "v1.EXPIRY.MAC" */
void guard_make_cookie(const struct guard *guard, struct buf *out);

/* A code for /login?code=, good once and for an hour. The oldest gives way. */
void guard_make_code(struct guard *guard, char ret_code[GUARD_CODE_TEXT + 1]);
bool guard_use_code(struct guard *guard, struct str code);

/* A wrong token came from this address; guard_blocked() says whether it has tried too often.
 * Addresses of this machine are never blocked: everyone here shares them. */
void guard_failed(struct guard *guard, const struct sockaddr *from);
bool guard_blocked(const struct guard *guard, const struct sockaddr *from);

#endif
