/* Token, cookie, one-time codes, Host and Origin.
 *
 * SPDX-License-Identifier: MIT
 */
#include "serve/guard.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/address.h"
#include "base/alloc.h"
#include "base/base64.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/rand.h"

#define MAC_TEXT     43
#define FAILURE_SPAN MINUTES(1)

/* All of it, and a NUL. */
static void base64url(const unsigned char *bytes, size_t n, char *out)
{
    AUTO_BUF text = BUF_INIT(2 * GUARD_TOKEN_TEXT);

    base64url_encode(str_of((const char *)bytes, n), &text);
    memcpy(out, buf_text(&text), text.n + 1);
}

static bool is_base64url(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (!(s.p[i] >= 'a' && s.p[i] <= 'z') && !(s.p[i] >= 'A' && s.p[i] <= 'Z') &&
            !(s.p[i] >= '0' && s.p[i] <= '9') && s.p[i] != '-' && s.p[i] != '_')
            return false;
    return true;
}

/* ---- the token file ---- */

/* A file without a name until all of it is there: a kill in the middle leaves neither half a token
 * nor a temporary file. */
static int link_whole(const char *path, struct str line)
{
    AUTO_TEXT copy = alloc_text(path);
    AUTO_FD fd = open(dirname(copy), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
    char by_fd[32];

    if (fd < 0 || file_write_all(fd, line) < 0 || fsync(fd) < 0)
        return -1;
    snprintf(by_fd, sizeof(by_fd), "/proc/self/fd/%d", fd);
    return linkat(AT_FDCWD, by_fd, AT_FDCWD, path, AT_SYMLINK_FOLLOW);
}

static int make_token(struct guard *guard, const char *path, struct err *err)
{
    unsigned char bytes[GUARD_TOKEN_BYTES];
    char line[GUARD_TOKEN_TEXT + 2];

    rand_fill(rand_system(), bytes, sizeof(bytes));
    base64url(bytes, sizeof(bytes), guard->token);
    snprintf(line, sizeof(line), "%s\n", guard->token);
    if (link_whole(path, str_from(line)) == 0)
        return 0;
    /* Not every file system has files without a name. */
    if (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL)
        return file_write_atomic(path, str_from(line), 0600, err);
    if (errno == ENOSPC || errno == EDQUOT || errno == EIO)
        return err_set(err, ERR_STORAGE_FAILED, "write the token file %s: %s", path,
                       strerror(errno));
    return err_set(err, ERR_INTERNAL, "make the token file %s: %s", path, strerror(errno));
}

static int read_token(struct guard *guard, int fd, const char *path, struct err *err)
{
    char text[128];
    struct stat st;
    struct str token;
    ssize_t n;

    if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
        return err_set(err, ERR_BAD_REQUEST, "the token file %s is not a regular file", path);
    if (st.st_mode & 077)
        return err_set(err, ERR_BAD_REQUEST,
                       "the token file %s can be read by others; type: chmod 600 %s (and delete "
                       "it to get a new token if it may have been seen)",
                       path, path);
    n = read(fd, text, sizeof(text));
    if (n < 0)
        return err_set(err, ERR_STORAGE_FAILED, "read the token file %s: %s", path,
                       strerror(errno));
    token = str_trim(str_of(text, (size_t)n));
    if (token.n != GUARD_TOKEN_TEXT || !is_base64url(token))
        return err_set(err, ERR_BAD_REQUEST,
                       "the token file %s does not hold a token (%d letters and digits); delete "
                       "it to get a new one",
                       path, GUARD_TOKEN_TEXT);
    memcpy(guard->token, token.p, token.n);
    guard->token[token.n] = '\0';
    return 0;
}

int guard_init(struct guard *guard, const char *token_path, struct clock *clock, struct err *err)
{
    int fd, r;

    *guard = (struct guard){ .clock = clock };
    snprintf(guard->cookie_name, sizeof(guard->cookie_name), "dormouse");
    if (!token_path) {
        uint8_t bytes[32];

        rand_fill(rand_system(), bytes, sizeof(bytes));
        base64url(bytes, sizeof(bytes), guard->token);
        return 0;
    }
    fd = open(token_path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0 && errno == ENOENT)
        return make_token(guard, token_path, err);
    if (fd < 0)
        return err_set(err, ERR_STORAGE_FAILED, "open the token file %s: %s", token_path,
                       strerror(errno));
    r = read_token(guard, fd, token_path, err);
    close(fd);
    return r;
}

void guard_release(struct guard *guard)
{
    for (unsigned i = 0; i < guard->host_count; i++)
        free(guard->hosts[i]);
    explicit_bzero(guard->token, sizeof(guard->token));
    guard->host_count = 0;
}

int guard_check_token(const char *token_path, struct err *err)
{
    struct guard scratch;

    if (access(token_path, F_OK) < 0 && errno == ENOENT)
        return 0;
    return guard_init(&scratch, token_path, NULL, err);
}

/* ---- Host and Origin ---- */

/* Has it a port? The colons of an [IPv6] address are not one. */
static bool has_port(struct str host)
{
    ptrdiff_t bracket = str_find_char(host, ']');

    return str_find_char(bracket < 0 ? host : str_skip(host, (size_t)bracket), ':') >= 0;
}

static bool host_char_ok(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') ||
           strchr(".-_[]:", c) != NULL;
}

static int add_host(struct guard *guard, struct str host, uint16_t port, struct err *err)
{
    char text[GUARD_HOST_BYTES + sizeof(":65535")];

    if (guard->host_count == GUARD_HOSTS_MAX)
        return err_set(err, ERR_BAD_REQUEST, "these are too many host names");
    if (port)
        snprintf(text, sizeof(text), "%.*s:%u", STR_ARG(host), port);
    else
        snprintf(text, sizeof(text), "%.*s", STR_ARG(host));
    guard->hosts[guard->host_count++] = alloc_text(text);
    return 0;
}

int guard_allow_host(struct guard *guard, struct str host, uint16_t port, bool bare,
                     struct err *err)
{
    if (host.n == 0 || host.n > GUARD_HOST_BYTES)
        return err_set(err, ERR_BAD_REQUEST, "a host name has 1 to %d characters",
                       GUARD_HOST_BYTES);
    for (size_t i = 0; i < host.n; i++)
        if (!host.p[i] || !host_char_ok(host.p[i]))
            return err_set(err, ERR_BAD_REQUEST, "\"%.*s\" is not a host name",
                           STR_ARG(str_take(host, 80)));
    if (has_port(host))
        return add_host(guard, host, 0, err);
    if (bare && add_host(guard, host, 0, err) < 0)
        return -1;
    return add_host(guard, host, port, err);
}

void guard_allow_addresses(struct guard *guard, uint16_t port)
{
    guard->literal_port = port;
}

static bool is_allowed_address(const struct guard *guard, struct str host)
{
    char port[sizeof(":65535")], text[INET6_ADDRSTRLEN];
    unsigned char bytes[sizeof(struct in6_addr)];
    bool six = str_starts(host, STR("["));

    snprintf(port, sizeof(port), ":%u", guard->literal_port);
    if (!guard->literal_port || !str_ends(host, str_from(port)))
        return false;
    host = str_take(host, host.n - strlen(port));
    if (six && !str_ends(host, STR("]")))
        return false;
    host = six ? str_take(str_skip(host, 1), host.n - 2) : host;
    snprintf(text, sizeof(text), "%.*s", STR_ARG(host));
    return host.n < sizeof(text) && inet_pton(six ? AF_INET6 : AF_INET, text, bytes) == 1;
}

bool guard_host_ok(const struct guard *guard, struct str host)
{
    if (is_allowed_address(guard, host))
        return true;
    for (unsigned i = 0; i < guard->host_count; i++)
        if (str_eq_nocase(host, str_from(guard->hosts[i])))
            return true;
    return false;
}

bool guard_origin_ok(const struct guard *guard, struct str origin)
{
    static const char *const schemes[] = { "http://", "https://" };

    for (size_t i = 0; i < ARRAY_LEN(schemes); i++)
        if (str_starts(origin, str_from(schemes[i])))
            return guard_host_ok(guard, str_skip(origin, strlen(schemes[i])));
    return false;
}

/* ---- credentials ---- */

bool guard_parse_bearer(struct str header, struct str *ret_token)
{
    struct str token;

    if (header.n < 8 || !str_eq_nocase(str_take(header, 7), STR("Bearer ")))
        return false;
    token = str_trim(str_skip(header, 7));
    if (token.n == 0 || token.n > 256)
        return false;
    *ret_token = token;
    return true;
}

bool guard_parse_cookie(struct str header, const char *name, struct str *ret_value)
{
    struct str pair;
    unsigned found = 0;

    if (!header.p)
        return false;
    while (str_split(&header, ';', &pair)) {
        ptrdiff_t eq;

        pair = str_trim(pair);
        eq = str_find_char(pair, '=');
        if (eq < 0 || !str_is(str_take(pair, (size_t)eq), name))
            continue;
        if (found++ == 0)
            *ret_value = str_skip(pair, (size_t)eq + 1);
    }
    return found == 1;
}

bool guard_token_ok(const struct guard *guard, struct str token)
{
    return secret_eq(token, str_of(guard->token, GUARD_TOKEN_TEXT));
}

static void cookie_mac(const struct guard *guard, int64_t until_ms, char out[MAC_TEXT + 1])
{
    uint8_t mac[SHA256_BYTES];
    char text[64];

    snprintf(text, sizeof(text), "cookie|v1|%lld", (long long)until_ms);
    hmac_sha256(str_of(guard->token, GUARD_TOKEN_TEXT), str_from(text), mac);
    base64url(mac, sizeof(mac), out);
}

void guard_make_cookie(const struct guard *guard, struct buf *out)
{
    int64_t until_ms = clock_wall_ms(guard->clock) + GUARD_COOKIE_LIFE_MS;
    char mac[MAC_TEXT + 1];

    cookie_mac(guard, until_ms, mac);
    buf_printf(out, "v1.%lld.%s", (long long)until_ms, mac);
}

bool guard_cookie_ok(const struct guard *guard, struct str value)
{
    struct str version, expiry;
    char mac[MAC_TEXT + 1];
    int64_t until_ms;

    if (!str_split(&value, '.', &version) || !str_is(version, "v1") ||
        !str_split(&value, '.', &expiry) || !value.p || str_to_i64(expiry, &until_ms) < 0)
        return false;
    cookie_mac(guard, until_ms, mac);
    return secret_eq(value, str_of(mac, MAC_TEXT)) && clock_wall_ms(guard->clock) < until_ms;
}

/* ---- one-time codes ---- */

void guard_make_code(struct guard *guard, char ret_code[GUARD_CODE_TEXT + 1])
{
    unsigned char bytes[16];
    unsigned oldest = 0;

    for (unsigned i = 1; i < GUARD_CODES_MAX; i++)
        if (guard->codes[i].until_ms < guard->codes[oldest].until_ms)
            oldest = i;
    rand_fill(rand_system(), bytes, sizeof(bytes));
    base64url(bytes, sizeof(bytes), guard->codes[oldest].text);
    guard->codes[oldest].until_ms = clock_mono_ms(guard->clock) + GUARD_CODE_LIFE_MS;
    memcpy(ret_code, guard->codes[oldest].text, GUARD_CODE_TEXT + 1);
}

bool guard_use_code(struct guard *guard, struct str code)
{
    int64_t now = clock_mono_ms(guard->clock);
    bool good = false;

    /* All are looked at, whichever fits: the time says nothing. */
    for (unsigned i = 0; i < GUARD_CODES_MAX; i++) {
        if (!secret_eq(code, str_of(guard->codes[i].text, GUARD_CODE_TEXT)))
            continue;
        good = now < guard->codes[i].until_ms;
        guard->codes[i].until_ms = 0;
        explicit_bzero(guard->codes[i].text, sizeof(guard->codes[i].text));
    }
    return good;
}

/* ---- too many wrong tokens ---- */

/* An IPv6 customer holds at least a /64: its addresses count as one. */
static uint64_t source_hash(const struct sockaddr *from)
{
    uint64_t hash = 0;

    if (from->sa_family == AF_INET)
        hash = map_hash(str_of((const char *)&((const struct sockaddr_in *)from)->sin_addr, 4));
    else if (from->sa_family == AF_INET6)
        hash = map_hash(str_of((const char *)&((const struct sockaddr_in6 *)from)->sin6_addr, 8));
    return hash | 1;
}

void guard_failed(struct guard *guard, const struct sockaddr *from)
{
    uint64_t hash = source_hash(from);
    struct guard_source *source = &guard->sources[hash % GUARD_SOURCES_MAX];
    int64_t now = clock_mono_ms(guard->clock);

    if (source->address != hash || now - source->since_ms > FAILURE_SPAN)
        *source = (struct guard_source){ .address = hash, .since_ms = now };
    source->failures++;
}

bool guard_blocked(const struct guard *guard, const struct sockaddr *from)
{
    uint64_t hash = source_hash(from);
    const struct guard_source *source = &guard->sources[hash % GUARD_SOURCES_MAX];

    return !address_is_loopback(from) && source->address == hash &&
           source->failures >= GUARD_FAILURES_MAX &&
           clock_mono_ms(guard->clock) - source->since_ms <= FAILURE_SPAN;
}
