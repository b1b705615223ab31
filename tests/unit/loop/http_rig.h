/* A loop, a client and a peer, and calls whose outcome can be looked at.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_TESTS_HTTP_RIG_H
#define DORMOUSE_TESTS_HTTP_RIG_H

#include "base/buf.h"
#include "harness/http_peer.h"
#include "harness/test.h"
#include "loop/dns.h"
#include "loop/http.h"
#include "loop/loop.h"

struct rig {
    struct test *t;
    struct loop *loop;
    struct http_client *client;
    struct http_peer peer;
    unsigned waiting; /* calls that are not done */
    int64_t bytes;    /* of bodies, over all calls */
    /* Of a still rig. */
    struct clock_fake clock;
    struct loop_tick_hook hook;
    struct uv_timer_s *pulse; /* a tick each millisecond, whatever the still clock says */
    void (*after_tick)(struct rig *rig);
};

struct call {
    struct rig *rig;
    struct http_exchange *x; /* NULL once done */
    struct http_result result;
    unsigned heads, dones, chunks;
    int status;
    char text[1 << 14]; /* the head as "name: value\n" lines */
    struct buf body;    /* as much as fits */
    int64_t bytes;
    /* What the test wants to happen inside a callback; NULL: nothing. */
    void (*at_headers)(struct call *call);
    enum http_flow (*at_data)(struct call *call, struct str chunk);
    void (*at_done)(struct call *call);
    void *arg;
};

/* options may be NULL. The peer serves plain HTTP. */
void rig_open(struct rig *rig, struct test *t, peer_fn *serve, const void *arg,
              const struct http_options *options);
/* As above, on a clock that only after_tick() moves, which is called after every tick: no limit
 * passes because the machine is busy. */
void rig_open_still(struct rig *rig, struct test *t, peer_fn *serve, const void *arg,
                    void (*after_tick)(struct rig *rig));
/* Frees client and loop, stops the peer. */
void rig_close(struct rig *rig);
/* "http://127.0.0.1:PORT/path" */
const char *rig_url(struct rig *rig, const char *path);

/* Starts it; fails the test when that fails. */
void call_start(struct call *call, struct rig *rig, const struct http_request *request);
/* Runs the loop until no call is waiting. */
void rig_run(struct rig *rig);
/* A GET of path with defaults, run to its end. */
void call_get(struct call *call, struct rig *rig, const char *path);
void call_run(struct call *call, struct rig *rig, const struct http_request *request);
void call_release(struct call *call);
/* The failure's text, whole. */
const char *call_error(struct call *call);

#define ASSERT_CALL_OK(call_, status_)                                                             \
    do {                                                                                           \
        if ((call_)->result.err.code)                                                              \
            FAIL("failed in %s: %s", http_phase_name((call_)->result.phase), call_error(call_));   \
        ASSERT_EQ((call_)->result.status, (status_));                                              \
        ASSERT_EQ((call_)->dones, 1);                                                              \
    } while (0)
#define ASSERT_CALL_FAILED(call_, code_, phase_)                                                   \
    do {                                                                                           \
        if ((call_)->result.err.code != (code_))                                                   \
            FAIL("ended with %s (%s), expected %s", err_name((call_)->result.err.code),            \
                 call_error(call_), err_name(code_));                                              \
        if ((call_)->result.phase != (phase_))                                                     \
            FAIL("ended in %s (%s), expected %s", http_phase_name((call_)->result.phase),          \
                 call_error(call_), http_phase_name(phase_));                                      \
        ASSERT_EQ((call_)->dones, 1);                                                              \
    } while (0)

/* A resolver that answers from a table, after ms (or never, with HTTP_NEVER). */
struct table_name {
    const char *host;
    const char *addrs; /* "127.0.0.1,::1"; NULL: no such name */
    int ms;
};
struct table_resolver {
    struct dns_resolver resolver; /* first */
    struct loop **loop;
    const struct table_name *names; /* ends with host NULL */
    unsigned lookups, cancelled;
};
void table_resolver_init(struct table_resolver *table, const struct table_name *names,
                         struct loop **loop);

#endif
