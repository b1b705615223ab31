/* SPDX-License-Identifier: MIT */
#include "serve/guard.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "harness/test.h"

struct fixture {
    struct clock_fake clock;
    struct guard guard;
};

static void open_guard(struct test *t, struct fixture *f)
{
    clock_fake_init(&f->clock, 1700000000000);
    ASSERT_OK(guard_init(&f->guard, test_path(t, "token"), &f->clock.clock, &t->err));
}

TEST(guard_without_a_file_has_a_token_that_nobody_knows)
{
    struct clock_fake clock;
    struct guard a, b;

    clock_fake_init(&clock, 0);
    ASSERT_OK(guard_init(&a, NULL, &clock.clock, &t->err));
    ASSERT_OK(guard_init(&b, NULL, &clock.clock, &t->err));
    ASSERT_EQ(strlen(a.token), GUARD_TOKEN_TEXT);
    ASSERT(!guard_token_ok(&a, str_from(b.token)));
    ASSERT(!guard_token_ok(&a, STR("")));
    guard_release(&a);
    guard_release(&b);
}

TEST(guard_makes_a_token_once_and_keeps_it_private)
{
    struct fixture a, b;
    struct stat st;

    open_guard(t, &a);
    ASSERT_EQ(strlen(a.guard.token), GUARD_TOKEN_TEXT);
    ASSERT_EQ(stat(test_path(t, "token"), &st), 0);
    ASSERT_EQ(st.st_mode & 0777, 0600);
    open_guard(t, &b);
    ASSERT_TEXT(b.guard.token, a.guard.token);
    unlink(test_path(t, "token"));
    open_guard(t, &b);
    ASSERT(strcmp(b.guard.token, a.guard.token) != 0);
    guard_release(&a.guard);
    ASSERT_EQ(a.guard.token[0], '\0');
}

/* Whoever is killed while it makes one leaves a whole token or none. */
TEST(guard_token_file_is_never_there_in_part)
{
    const char *path = test_path(t, "token");
    struct fixture f = { .clock = { .wall_now_ms = 0 } };
    unsigned seen = 0;
    int status;
    pid_t pid;

    fflush(NULL);
    pid = fork();
    ASSERT(pid >= 0);
    if (pid == 0) {
        for (int i = 0; i < 300; i++) {
            unlink(path);
            if (guard_init(&f.guard, path, &f.clock.clock, &t->err) < 0)
                _exit(1);
        }
        _exit(0);
    }
    while (waitpid(pid, &status, WNOHANG) == 0) {
        AUTO_FD fd = open(path, O_RDONLY | O_CLOEXEC);
        char text[128];

        if (fd < 0)
            continue;
        ASSERT_EQ(read(fd, text, sizeof(text)), GUARD_TOKEN_TEXT + 1);
        seen++;
    }
    ASSERT_EQ(status, 0);
    ASSERT(seen > 0);
}

TEST(guard_refuses_a_token_file_that_others_can_read)
{
    struct fixture f;

    open_guard(t, &f);
    chmod(test_path(t, "token"), 0640);
    ASSERT_FAILS(guard_init(&f.guard, test_path(t, "token"), &f.clock.clock, &t->err),
                 ERR_BAD_REQUEST);
    ASSERT_CONTAINS(test_err_text(t), "chmod 600");
}

TEST(guard_refuses_files_that_hold_no_token)
{
    static const char *const bad[] = {
        "", "short\n", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA!\n",
        "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\n"
    };
    const char *path = test_path(t, "token");
    struct fixture f = { .clock = { .wall_now_ms = 0 } };

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        test_write_file(path, bad[i], strlen(bad[i]));
        chmod(path, 0600);
        ASSERT_FAILS(guard_init(&f.guard, path, &f.clock.clock, &t->err), ERR_BAD_REQUEST);
    }
    unlink(path);
    ASSERT_EQ(symlink("/dev/zero", path), 0);
    ASSERT_FAILS(guard_init(&f.guard, path, &f.clock.clock, &t->err), ERR_STORAGE_FAILED);
    ASSERT_FAILS(guard_init(&f.guard, test_path(t, "no/such/dir"), &f.clock.clock, &t->err),
                 ERR_INTERNAL);
}

TEST(guard_lets_in_names_that_it_knows_and_no_others)
{
    static const struct {
        const char *host;
        bool good;
    } cases[] = {
        { "localhost:7117", true },
        { "LocalHost:7117", true },
        { "127.0.0.1:7117", true },
        { "[::1]:7117", true },
        { "mouse.example", true },      /* a proxy on 80 or 443 */
        { "MOUSE.example:7117", true }, /* or straight */
        { "exact.example:8443", true },
        { "", false },
        { "localhost", false },
        { "localhost:", false },
        { "localhost:7118", false },
        { "localhost:07117", false },
        { "localhost:71170", false },
        { "localhost.:7117", false },
        { "localhost:7117.", false },
        { " localhost:7117", false },
        { "localhost:7117 ", false },
        { "localhost:7117.evil.example", false },
        { "localhost.evil.example:7117", false },
        { "evil.example:7117", false },
        { "localhost:7117@evil.example", false },
        { "evil.example@localhost:7117", false },
        { "127.0.0.1.nip.io:7117", false },
        { "127.1:7117", false },
        { "2130706433:7117", false },
        { "0x7f.1:7117", false },
        { "0.0.0.0:7117", false },
        { "::1:7117", false },
        { "[::1]", false },
        { "[0:0:0:0:0:0:0:1]:7117", false },
        { "[::ffff:127.0.0.1]:7117", false },
        { "[::1%25lo]:7117", false },
        { "mouse.example.", false },
        { "mouse.example:80", false },
        { "mouse.example:443", false },
        { "sub.mouse.example", false },
        { "exact.example", false },
        { "exact.example:7117", false },
    };
    struct fixture f;

    open_guard(t, &f);
    ASSERT_OK(guard_allow_host(&f.guard, STR("localhost"), 7117, false, &t->err));
    ASSERT_OK(guard_allow_host(&f.guard, STR("127.0.0.1"), 7117, false, &t->err));
    ASSERT_OK(guard_allow_host(&f.guard, STR("[::1]"), 7117, false, &t->err));
    ASSERT_OK(guard_allow_host(&f.guard, STR("Mouse.Example"), 7117, true, &t->err));
    ASSERT_OK(guard_allow_host(&f.guard, STR("exact.example:8443"), 7117, true, &t->err));
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const char *plain = arena_printf(&t->arena, "http://%s", cases[i].host);
        const char *tls = arena_printf(&t->arena, "https://%s", cases[i].host);

        if (guard_host_ok(&f.guard, str_from(cases[i].host)) != cases[i].good ||
            guard_origin_ok(&f.guard, str_from(plain)) != cases[i].good ||
            guard_origin_ok(&f.guard, str_from(tls)) != cases[i].good)
            test_case_failed("%s", cases[i].host);
        else
            test_case_passed();
    }
    guard_release(&f.guard);
}

TEST(guard_takes_an_origin_for_what_it_is)
{
    static const char *const foreign[] = {
        "",
        "null",
        "localhost:7117",
        "//localhost:7117",
        "http:localhost:7117",
        "http:/localhost:7117",
        "http://",
        "http:///localhost:7117",
        "http://localhost:7117/",
        "http://localhost:7117/x",
        "http://localhost:7117#",
        "http://localhost:7117 http://evil.example",
        "http://user@localhost:7117",
        "http://evil.example#localhost:7117",
        "ftp://localhost:7117",
        "ws://localhost:7117",
        "file://localhost:7117",
        "chrome-extension://localhost:7117",
        "xhttp://localhost:7117",
    };
    struct fixture f;

    open_guard(t, &f);
    ASSERT_OK(guard_allow_host(&f.guard, STR("localhost"), 7117, false, &t->err));
    for (size_t i = 0; i < sizeof(foreign) / sizeof(foreign[0]); i++)
        if (guard_origin_ok(&f.guard, str_from(foreign[i])))
            FAIL("the origin \"%s\" was let in", foreign[i]);
    guard_release(&f.guard);
}

TEST(guard_refuses_host_names_that_are_none)
{
    static const char *const bad[] = { "", "a b", "a/b", "a@b", "http://a", "a\r\n", "\xC3\xA4" };
    char *big = memset(arena_alloc(&t->arena, GUARD_HOST_BYTES + 2, 1), 'a', GUARD_HOST_BYTES);
    struct fixture f;

    open_guard(t, &f);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        ASSERT_FAILS(guard_allow_host(&f.guard, str_from(bad[i]), 1, true, &t->err),
                     ERR_BAD_REQUEST);
    ASSERT_CONTAINS(test_err_text(t), "is not a host name");
    ASSERT_FAILS(guard_allow_host(&f.guard, STR("a\0b"), 1, true, &t->err), ERR_BAD_REQUEST);
    ASSERT_OK(guard_allow_host(&f.guard, str_from(big), 65535, true, &t->err));
    ASSERT(guard_host_ok(&f.guard, str_from(arena_printf(&t->arena, "%s:65535", big))));
    big[GUARD_HOST_BYTES] = 'a';
    ASSERT_FAILS(guard_allow_host(&f.guard, str_from(big), 1, true, &t->err), ERR_BAD_REQUEST);
    ASSERT_CONTAINS(test_err_text(t), "255");
    for (int i = 1; i < GUARD_HOSTS_MAX / 2; i++)
        ASSERT_OK(guard_allow_host(&f.guard, STR("a"), 80, true, &t->err));
    ASSERT_FAILS(guard_allow_host(&f.guard, STR("b"), 80, true, &t->err), ERR_BAD_REQUEST);
    ASSERT_CONTAINS(test_err_text(t), "too many");
    guard_release(&f.guard);
}

TEST(guard_reads_bearer_and_cookie_headers)
{
    struct str value;

    ASSERT(guard_parse_bearer(STR("Bearer abc"), &value));
    ASSERT_STR(value, "abc");
    ASSERT(guard_parse_bearer(STR("bearer  abc "), &value));
    ASSERT_STR(value, "abc");
    ASSERT(!guard_parse_bearer(STR("Bearer "), &value));
    ASSERT(!guard_parse_bearer(STR("Basic abc"), &value));
    ASSERT(!guard_parse_bearer(STR_NONE, &value));
    ASSERT(guard_parse_cookie(STR("a=1; dormouse=x=y; b"), "dormouse", &value));
    ASSERT_STR(value, "x=y");
    ASSERT(!guard_parse_cookie(STR("dormouse=1; dormouse=2"), "dormouse", &value));
    ASSERT(!guard_parse_cookie(STR("xdormouse=1; dormouse"), "dormouse", &value));
    ASSERT(!guard_parse_cookie(STR_NONE, "dormouse", &value));
}

TEST(guard_accepts_the_whole_token_only)
{
    struct fixture f;

    open_guard(t, &f);
    ASSERT(guard_token_ok(&f.guard, str_from(f.guard.token)));
    ASSERT(!guard_token_ok(&f.guard, str_of(f.guard.token, GUARD_TOKEN_TEXT - 1)));
    ASSERT(!guard_token_ok(&f.guard, STR("")));
    ASSERT(!guard_token_ok(&f.guard, STR_NONE));
    f.guard.token[5] ^= 1;
    char *other = arena_text(&t->arena, f.guard.token);
    f.guard.token[5] ^= 1;
    ASSERT(!guard_token_ok(&f.guard, str_from(other)));
}

TEST(guard_cookie_ends_by_itself_and_with_the_token)
{
    AUTO_BUF cookie = BUF_INIT(200);
    AUTO_BUF forged = BUF_INIT(200);
    struct fixture f;

    open_guard(t, &f);
    guard_make_cookie(&f.guard, &cookie);
    ASSERT(guard_cookie_ok(&f.guard, buf_str(&cookie)));
    clock_advance(&f.clock, GUARD_COOKIE_LIFE_MS - 1);
    ASSERT(guard_cookie_ok(&f.guard, buf_str(&cookie)));
    clock_advance(&f.clock, 1);
    ASSERT(!guard_cookie_ok(&f.guard, buf_str(&cookie)));
    /* A later expiry with the old proof. */
    buf_printf(&forged, "v1.9999999999999%s", strrchr(buf_text(&cookie), '.'));
    ASSERT(!guard_cookie_ok(&f.guard, buf_str(&forged)));
    clock_set_wall(&f.clock, 1700000000000);
    ASSERT(guard_cookie_ok(&f.guard, buf_str(&cookie)));
    f.guard.token[0] ^= 1;
    ASSERT(!guard_cookie_ok(&f.guard, buf_str(&cookie)));
    ASSERT(!guard_cookie_ok(&f.guard, STR("")));
    ASSERT(!guard_cookie_ok(&f.guard, STR("v1")));
    ASSERT(!guard_cookie_ok(&f.guard, STR("v1.1")));
    ASSERT(!guard_cookie_ok(&f.guard, STR("v2.1.x")));
    ASSERT(!guard_cookie_ok(&f.guard, STR("v1.x.x")));
}

TEST(guard_code_is_good_once_and_for_an_hour)
{
    char code[GUARD_CODE_TEXT + 1], late[GUARD_CODE_TEXT + 1];
    struct fixture f;

    open_guard(t, &f);
    ASSERT(!guard_use_code(&f.guard, STR("")));
    ASSERT(!guard_use_code(&f.guard, str_of("\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 22)));
    guard_make_code(&f.guard, code);
    guard_make_code(&f.guard, late);
    ASSERT(guard_use_code(&f.guard, str_from(code)));
    ASSERT(!guard_use_code(&f.guard, str_from(code)));
    clock_advance(&f.clock, GUARD_CODE_LIFE_MS);
    ASSERT(!guard_use_code(&f.guard, str_from(late)));
}

TEST(guard_keeps_a_few_codes_and_drops_the_oldest)
{
    char codes[GUARD_CODES_MAX + 1][GUARD_CODE_TEXT + 1];
    struct fixture f;

    open_guard(t, &f);
    for (int i = 0; i <= GUARD_CODES_MAX; i++) {
        guard_make_code(&f.guard, codes[i]);
        clock_advance(&f.clock, 1);
    }
    ASSERT(!guard_use_code(&f.guard, str_from(codes[0])));
    ASSERT(guard_use_code(&f.guard, str_from(codes[1])));
    ASSERT(guard_use_code(&f.guard, str_from(codes[GUARD_CODES_MAX])));
}

TEST(guard_blocks_an_address_that_guesses_but_never_this_machine)
{
    struct sockaddr_in far = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(0xC0000201) };
    struct sockaddr_in other = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(0xC0000299) };
    struct sockaddr_in here = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    struct sockaddr_in6 a = { .sin6_family = AF_INET6 }, b = a;
    struct fixture f;

    open_guard(t, &f);
    inet_pton(AF_INET6, "2001:db8:1:2::1", &a.sin6_addr);
    inet_pton(AF_INET6, "2001:db8:1:2:ffff::9", &b.sin6_addr);
    for (int i = 0; i < GUARD_FAILURES_MAX; i++) {
        ASSERT(!guard_blocked(&f.guard, (struct sockaddr *)&far));
        guard_failed(&f.guard, (struct sockaddr *)&far);
        guard_failed(&f.guard, (struct sockaddr *)&here);
        guard_failed(&f.guard, (struct sockaddr *)&a);
    }
    ASSERT(guard_blocked(&f.guard, (struct sockaddr *)&far));
    ASSERT(!guard_blocked(&f.guard, (struct sockaddr *)&other));
    ASSERT(!guard_blocked(&f.guard, (struct sockaddr *)&here));
    ASSERT(guard_blocked(&f.guard, (struct sockaddr *)&b)); /* same /64 */
    clock_advance(&f.clock, MINUTES(1) + 1);
    ASSERT(!guard_blocked(&f.guard, (struct sockaddr *)&far));
}

TEST(guard_looks_at_a_token_file_without_making_one)
{
    const char *path = test_path(t, "token");
    struct fixture f;

    ASSERT_OK(guard_check_token(path, &t->err));
    ASSERT(access(path, F_OK) < 0);
    open_guard(t, &f);
    ASSERT_OK(guard_check_token(path, &t->err));
    chmod(path, 0644);
    ASSERT_FAILS(guard_check_token(path, &t->err), ERR_BAD_REQUEST);
    guard_release(&f.guard);
}

TEST(guard_takes_every_address_when_it_listens_on_all)
{
    static const char *const addresses[] = { "192.0.2.7:7117", "10.0.0.1:7117", "127.0.0.2:7117",
                                             "[2001:db8::1]:7117", "[::1]:7117" };
    static const char *const others[] = {
        "192.0.2.7",
        "192.0.2.7:7118",
        "192.0.2.7:17117",
        "evil.example:7117",
        "192.0.2.7.nip:7117",
        "[192.0.2.7]:7117",
        "2001:db8::1:7117",
        "[2001:db8::1:7117",
        "0x7f.1:7117",
        "2130706433:7117",
        "[]:7117",
        ":7117",
        "[::1%25lo]:7117",
        "192.0.2.7:7117:7117",
        "user@10.0.0.1:7117",
        "",
    };
    struct fixture f;

    open_guard(t, &f);
    for (size_t i = 0; i < ARRAY_LEN(addresses); i++)
        ASSERT(!guard_host_ok(&f.guard, str_from(addresses[i])));
    guard_allow_addresses(&f.guard, 7117);
    for (size_t i = 0; i < ARRAY_LEN(addresses); i++)
        if (!guard_host_ok(&f.guard, str_from(addresses[i])))
            FAIL("%s was refused", addresses[i]);
    for (size_t i = 0; i < ARRAY_LEN(others); i++)
        if (guard_host_ok(&f.guard, str_from(others[i])))
            FAIL("%s was taken", others[i]);
    ASSERT(guard_origin_ok(&f.guard, STR("http://192.0.2.7:7117")));
    ASSERT(!guard_origin_ok(&f.guard, STR("http://evil.example:7117")));
    guard_release(&f.guard);
}
