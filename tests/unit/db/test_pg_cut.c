/* The connection to Postgres cut after every number of bytes, in open, migration and ticks.
 *
 * A proxy between libpq and the server passes on what both say and hangs up once, after a given
 * number of bytes. Whatever was under way fails then; the domain makes a new connection and goes
 * on. In the end every acknowledged tick is there, and the one that failed is there as a whole or
 * not at all.
 *
 * SPDX-License-Identifier: MIT
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "db/db.h"
#include "harness/db_test.h"
#include "harness/pg_server.h"

#define TICKS         4
#define ROWS_PER_TICK 4

/* ---- the proxy ---- */

/* Shared with its process. */
struct line {
    int64_t left; /* bytes until it hangs up; below zero: it never does */
    int64_t passed;
};

static int unix_socket(const char *dir, struct sockaddr_un *ret_address)
{
    *ret_address = (struct sockaddr_un){ .sun_family = AF_UNIX };
    snprintf(ret_address->sun_path, sizeof(ret_address->sun_path), "%s/.s.PGSQL.5432", dir);
    return socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
}

/* False when this was the end of the connection. */
static bool pass_on(int from, int to, struct line *line)
{
    char bytes[4096];
    size_t want = sizeof(bytes);
    ssize_t n;

    if (line->left >= 0 && (int64_t)want > line->left)
        want = (size_t)line->left;
    n = want ? read(from, bytes, want) : 0;
    if (n <= 0 || write(to, bytes, (size_t)n) != n) {
        if (line->left == 0)
            line->left = -1;
        return false;
    }
    line->passed += n;
    if (line->left > 0)
        line->left -= n;
    return true;
}

static _Noreturn void run_proxy(int listener, const char *server_dir, struct line *line)
{
    struct sockaddr_un address;

    for (;;) {
        struct pollfd fds[2] = { { .events = POLLIN }, { .events = POLLIN } };
        bool open = true;

        fds[0].fd = accept(listener, NULL, NULL);
        fds[1].fd = unix_socket(server_dir, &address);
        if (fds[0].fd < 0 || connect(fds[1].fd, (struct sockaddr *)&address, sizeof(address)) < 0)
            _exit(1);
        while (open && poll(fds, 2, -1) > 0)
            for (int i = 0; open && i < 2; i++)
                if (fds[i].revents)
                    open = pass_on(fds[i].fd, fds[1 - i].fd, line);
        close(fds[0].fd);
        close(fds[1].fd);
    }
}

/* It ends with the test. */
static struct line *start_proxy(struct test *t)
{
    struct line *line =
        mmap(NULL, sizeof(*line), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    const char *why = NULL, *server_dir;
    struct sockaddr_un address;
    int listener = unix_socket(test_dir(t), &address);

    ASSERT(line != MAP_FAILED);
    db_test_url(t);
    server_dir = pg_server_dir(&why);
    ASSERT(server_dir);
    ASSERT_EQ(bind(listener, (struct sockaddr *)&address, sizeof(address)), 0);
    ASSERT_EQ(listen(listener, 8), 0);
    line->left = -1;
    if (fork() == 0)
        run_proxy(listener, server_dir, line);
    close(listener);
    return line;
}

/* ---- lives ---- */

static const struct migration steps[] = {
    { .number = 1,
      .name = "ticks",
      .postgres = "CREATE TABLE ticks (tick BIGINT NOT NULL, part BIGINT NOT NULL, bytes BYTEA,"
                  " UNIQUE (tick, part));" },
    { .number = 2, .name = "more", .postgres = "ALTER TABLE ticks ADD COLUMN extra TEXT;" },
};

static int add_part(struct domain *domain, int64_t tick, int64_t part, struct err *err)
{
    AUTO(stmt) q = NULL;

    if (db_prepare(domain_db(domain), SQL("INSERT INTO ticks (tick, part, bytes) VALUES (?, ?, ?)"),
                   &q, err) < 0)
        return -1;
    stmt_bind_i64(q, tick);
    stmt_bind_i64(q, part);
    stmt_bind_blob(q, STR("\0blob"));
    return stmt_run(q, err);
}

static int64_t parts_of(struct domain *domain, int64_t tick, struct err *err)
{
    AUTO(stmt) q = NULL;

    if (db_prepare(domain_db(domain), SQL("SELECT part FROM ticks WHERE tick = ?"), &q, err) < 0)
        return -1;
    stmt_bind_i64(q, tick);
    for (int64_t n = 0;; n++) {
        int r = stmt_step(q, err);

        if (r <= 0)
            return r < 0 ? -1 : n;
    }
}

/* One part outside of units, two in a unit, one after it and after a look at what is there; and a
 * unit that is undone. */
static int write_tick(struct domain *domain, int64_t tick, struct err *err)
{
    if (add_part(domain, tick, 0, err) < 0 || domain_savepoint(domain, err) < 0)
        return -1;
    if (add_part(domain, tick, 1, err) < 0 || add_part(domain, tick, 2, err) < 0 ||
        domain_release(domain, err) < 0 || domain_savepoint(domain, err) < 0)
        return -1;
    if (add_part(domain, tick, 99, err) < 0)
        return -1;
    domain_rollback_to(domain);
    if (parts_of(domain, tick, err) != 3)
        return -1;
    return add_part(domain, tick, 3, err);
}

static int run_tick(struct domain *domain, int64_t tick, struct err *err)
{
    if (domain_begin(domain, err) < 0)
        return -1;
    if (write_tick(domain, tick, err) < 0) {
        domain_rollback(domain);
        return -1;
    }
    return domain_commit(domain, err);
}

static void judge(struct test *t, const char *name, const bool *acked, int64_t cut)
{
    const struct domain_config config = { .name = name,
                                          .url = db_test_url(t),
                                          .migrations = steps,
                                          .migration_count = ARRAY_LEN(steps) };
    AUTO(domain) domain = NULL;

    ASSERT_OK(domain_open(&config, &domain, &t->err));
    ASSERT_OK(domain_check(domain, &t->err));
    for (int64_t tick = 0; tick < TICKS; tick++) {
        int64_t parts = parts_of(domain, tick, &t->err);

        if (parts != ROWS_PER_TICK && (acked[tick] || parts != 0))
            FAIL("cut after %lld bytes: tick %lld, acknowledged %d, has %lld parts", (long long)cut,
                 (long long)tick, acked[tick], (long long)parts);
    }
}

/* How many calls failed. */
static int live(struct test *t, const char *name, const char *url, bool *acked)
{
    const struct domain_config config = {
        .name = name, .url = url, .migrations = steps, .migration_count = ARRAY_LEN(steps)
    };
    AUTO(domain) domain = NULL;
    int failures = 0;

    while (domain_open(&config, &domain, &t->err) < 0) {
        ASSERT_EQ(t->err.code, ERR_STORAGE_FAILED);
        err_reset(&t->err);
        ASSERT(++failures < 2);
    }
    for (int64_t tick = 0; tick < TICKS; tick++) {
        acked[tick] = run_tick(domain, tick, &t->err) == 0;
        if (!acked[tick]) {
            ASSERT_EQ(t->err.code, ERR_STORAGE_FAILED);
            err_reset(&t->err);
            failures++;
        }
        ASSERT_EQ(domain_health(domain), DOMAIN_OK);
        ASSERT(!domain_in_transaction(domain));
    }
    return failures;
}

static void a_cut_anywhere_loses_no_acknowledged_tick(struct test *t)
{
    struct line *line = start_proxy(t);
    const char *url =
        arena_printf(&t->arena, "postgresql:///postgres?host=%s&user=dormouse", test_dir(t));
    /* `make test` takes samples, `make test-long` every byte. */
    int64_t step = test_long() ? 1 : 293;
    int failed = 0, lives = 0;

    for (int64_t cut = 1;; cut += step, lives++) {
        const char *name = arena_printf(&t->arena, "cut%lld", (long long)cut);
        bool acked[TICKS];
        int failures;

        line->left = cut;
        line->passed = 0;
        failures = live(t, name, url, acked);
        ASSERT(failures <= 1);
        failed += failures;
        judge(t, name, acked, cut);
        if (line->left > 0) /* it was never reached */
            break;
    }
    printf("  %d lives, %d calls failed\n", lives, failed);
    ASSERT(failed > lives / 2 && lives > 20);
}
DB_TEST_CASE(a_cut_anywhere_loses_no_acknowledged_tick, postgres, .timeout_s = 3600)
