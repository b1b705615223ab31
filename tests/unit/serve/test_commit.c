/* No byte leaves before its tick is committed.
 *
 * SPDX-License-Identifier: MIT
 */
#include <unistd.h>

#include "../loop/store_fake.h"
#include "server.h"

#define STOP_MS 2000

static struct answer post(struct test *t, struct server *server, const char *how)
{
    return ask(t, server, "POST", "/api/v1/test/write", true, NULL, how);
}

static void fail_next_commit(struct server *server, void *arg)
{
    struct store_fake *store = server_store(server);

    store->fail_commit = true;
    store->health_then = *(enum domain_health *)arg;
}

static void count_rows(struct server *server, void *arg)
{
    *(size_t *)arg = server_store(server)->durable_count;
}

TEST(reply_to_a_write_comes_after_its_commit)
{
    struct server *server = server_start(t, NULL);
    size_t rows = 0;

    ASSERT_EQ(post(t, server, "keep").status, 201);
    server_do(server, count_rows, &rows);
    ASSERT_EQ(rows, 1);
    server_stop(server, STOP_MS);
}

TEST(reply_to_a_write_whose_commit_failed_says_so)
{
    struct server *server = server_start(t, NULL);
    enum domain_health then = DOMAIN_OK;
    struct answer answer;

    server_do(server, fail_next_commit, &then);
    answer = post(t, server, "keep");
    ASSERT_EQ(answer.status, 503);
    ASSERT_CONTAINS(answer.body.p, "\"code\":\"storage_failed\"");
    ASSERT_EQ(post(t, server, "keep").status, 201);
    server_stop(server, STOP_MS);
}

TEST(reply_of_a_unit_that_was_taken_back_is_not_sent)
{
    struct server *server = server_start(t, NULL);
    struct answer answer = post(t, server, "undo");
    size_t rows = 1;

    ASSERT(answer.status >= 400);
    ASSERT(strstr(answer.body.p, "written") == NULL);
    answer = post(t, server, "twice");
    ASSERT_EQ(answer.status, 409);
    ASSERT_CONTAINS(answer.body.p, "thought better");
    server_do(server, count_rows, &rows);
    ASSERT_EQ(rows, 0);
    server_stop(server, STOP_MS);
}

/* A write and a read in one packet are worked on in one tick; what the read saw was not yet safe
 * when it was made, and must not be told if it never becomes so. */
TEST(reply_to_a_read_waits_for_writes_it_may_have_seen)
{
    struct server *server = server_start(t, NULL);
    enum domain_health then = DOMAIN_OK;
    int fd = client_open(server), other = client_open(server);

    for (int i = 0; i < 20; i++) {
        struct answer read;

        server_do(server, fail_next_commit, &then);
        client_request(server, fd, "POST", "/api/v1/test/write", true, NULL, "keep");
        client_request(server, other, "GET", "/api/v1/test/rows", true, NULL, NULL);
        ASSERT_EQ(client_answer(t, fd).status, 503);
        read = client_answer(t, other);
        if (read.status == 200)
            ASSERT_STR(read.body, "0");
    }
    close(fd), close(other);
    server_stop(server, STOP_MS);
}
