/* The HTTP client against a well-behaved peer: what goes out, what comes back, flow, the end.
 *
 * SPDX-License-Identifier: MIT
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/limits.h"
#include "http_rig.h"

static bool serve_hello(struct peer_conn *conn)
{
    return peer_answer(conn, 200, "X-Greeting:  hi there \r\nX-Empty:\r\n", "hello");
}

TEST(http_gets_head_and_body)
{
    struct rig rig;
    struct call call = { 0 };

    rig_open(&rig, t, serve_hello, NULL, NULL);
    call_get(&call, &rig, "/a?b=c");
    ASSERT_CALL_OK(&call, 200);
    ASSERT_EQ(call.heads, 1);
    ASSERT_STR(buf_str(&call.body), "hello");
    ASSERT_CONTAINS(call.text, "X-Greeting: hi there\n");
    ASSERT_CONTAINS(call.text, "X-Empty: \n");
    ASSERT_CONTAINS(rig.peer.shared->last_head, "GET /a?b=c HTTP/1.1\r\n");
    ASSERT_CONTAINS(rig.peer.shared->last_head, "User-Agent: dormouse\r\n");
    ASSERT_EQ(call.result.body_bytes, 5);
    ASSERT(call.result.header_bytes > 40);
    ASSERT(call.result.resolve_ms >= 0 && call.result.connect_ms >= call.result.resolve_ms);
    ASSERT(call.result.first_byte_ms >= call.result.connect_ms);
    ASSERT(call.result.total_ms >= call.result.first_byte_ms);
    ASSERT_EQ(call.result.phase, HTTP_PHASE_DONE);
    ASSERT_EQ(call.result.attempts, 1);
    call_release(&call);
    rig_close(&rig);
}
