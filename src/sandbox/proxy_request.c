/* The head of a proxy request: RFC 9112, read strictly.
 *
 * What is not plain is refused instead of repaired: bare CR or LF, blanks before a colon, folded
 * lines, control characters, two lengths, a length beside a transfer coding, another coding than
 * chunked, credentials in the target. So the origin server can't see another request, or another
 * end of it, than was judged here. A Host field is dropped and written anew from the target, as
 * RFC 9112 3.2.2 wants it.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <string.h>

#include "sandbox/proxy_int.h"

#define FIELDS_MAX 128
#define METHOD_MAX 32

size_t proxy_head_size(struct str text)
{
    ptrdiff_t at = str_find(text, STR("\r\n\r\n"));

    return at < 0 ? 0 : (size_t)at + 4;
}

/* RFC 9110 tchar */
static bool is_token(struct str text)
{
    for (size_t i = 0; i < text.n; i++) {
        unsigned char c = (unsigned char)text.p[i];

        if (c <= ' ' || c >= 0x7f || strchr("\"(),/:;<=>?@[\\]{}", c))
            return false;
    }
    return text.n > 0;
}

static bool has_control(struct str text, bool tab)
{
    for (size_t i = 0; i < text.n; i++) {
        unsigned char c = (unsigned char)text.p[i];

        if ((c < 0x20 && !(tab && c == '\t')) || c == 0x7f)
            return true;
    }
    return false;
}

static int bad(struct err *err, const char *why)
{
    return err_set(err, ERR_BAD_REQUEST, "%s", why);
}

/* ---- the first line ---- */

static int parse_absolute(struct str target, struct proxy_request *request, struct err *err)
{
    struct str authority;
    size_t end;

    if (target.n < 7 || !str_eq_nocase(str_take(target, 7), STR("http://")))
        return bad(err, target.n >= 8 && str_eq_nocase(str_take(target, 8), STR("https://"))
                            ? "an https address is reached with CONNECT"
                            : "this is a proxy: the request must name a whole http address");
    target = str_skip(target, 7);
    for (end = 0; end < target.n && !strchr("/?#", target.p[end]); end++)
        ;
    authority = str_take(target, end);
    request->target = str_skip(target, end);
    if (str_find_char(authority, '@') >= 0)
        return bad(err, "the address must not hold credentials");
    if (str_find_char(request->target, '#') >= 0)
        return bad(err, "the address must not have a fragment");
    if (proxy_host_parse(authority, &request->host, err) < 0)
        return -1;
    if (!request->host.port)
        request->host.port = 80;
    return 0;
}

static int parse_connect(struct str target, struct proxy_request *request, struct err *err)
{
    request->connect = true;
    if (proxy_host_parse(target, &request->host, err) < 0)
        return -1;
    return request->host.port ? 0 : bad(err, "CONNECT needs host:port");
}

/* Is the version one that has transfer codings? */
static int parse_version(struct str version, bool *ret_11, struct err *err)
{
    *ret_11 = str_is(version, "HTTP/1.1");
    if (!*ret_11 && !str_is(version, "HTTP/1.0"))
        return bad(err, "the request line must end with HTTP/1.1 or HTTP/1.0");
    return 0;
}

static int parse_line(struct str line, struct proxy_request *request, bool *ret_11, struct err *err)
{
    struct str rest = line, target = STR_NONE, version = STR_NONE;

    if (!str_split(&rest, ' ', &request->method) || !str_split(&rest, ' ', &target) ||
        !str_split(&rest, ' ', &version) || str_split(&rest, ' ', &line))
        return bad(err, "the request line is not METHOD TARGET VERSION");
    if (!is_token(request->method) || request->method.n > METHOD_MAX)
        return bad(err, "the method is not a word");
    if (target.n == 0 || has_control(target, false))
        return bad(err, "the target is empty or holds a control character");
    if (parse_version(version, ret_11, err) < 0)
        return -1;
    return str_is(request->method, "CONNECT") ? parse_connect(target, request, err)
                                              : parse_absolute(target, request, err);
}

/* ---- fields ---- */

struct seen {
    unsigned fields, lengths, codings, hosts;
};

static int parse_field(struct str line, struct str *ret_name, struct str *ret_value,
                       struct err *err)
{
    ptrdiff_t colon = str_find_char(line, ':');

    if (colon <= 0 || !is_token(str_take(line, (size_t)colon)))
        return bad(err, "a header line is not Name: value");
    *ret_name = str_take(line, (size_t)colon);
    *ret_value = str_skip(line, (size_t)colon + 1);
    /* Before blanks are taken off, or a vertical tab would pass for one. */
    if (has_control(*ret_value, true))
        return bad(err, "a header holds a control character");
    *ret_value = str_trim(*ret_value);
    return 0;
}

static int note_field(struct str name, struct str value, struct proxy_request *request,
                      struct seen *seen, struct err *err)
{
    if (++seen->fields > FIELDS_MAX)
        return bad(err, "there are more than 128 header lines");
    if (str_eq_nocase(name, STR("Host")) && ++seen->hosts > 1)
        return bad(err, "there are two Host headers");
    if (str_eq_nocase(name, STR("Content-Length"))) {
        if (++seen->lengths > 1 || value.n > 18 || str_to_u64(value, &request->length) < 0)
            return bad(err, "Content-Length is not one number");
        request->framing = request->length ? PROXY_BODY_LENGTH : PROXY_BODY_NONE;
    }
    if (str_eq_nocase(name, STR("Transfer-Encoding"))) {
        if (++seen->codings > 1 || !str_eq_nocase(value, STR("chunked")))
            return bad(err, "the only transfer coding that is understood is chunked, once");
    }
    return 0;
}

static int parse_fields(struct proxy_request *request, bool is_11, struct err *err)
{
    struct str rest = request->fields, line, name = STR_NONE, value = STR_NONE;
    struct seen seen = { 0 };

    while (rest.n > 0) {
        ptrdiff_t end = str_find(rest, STR("\r\n"));

        line = str_take(rest, (size_t)end);
        rest = str_skip(rest, (size_t)end + 2);
        if (parse_field(line, &name, &value, err) < 0 ||
            note_field(name, value, request, &seen, err) < 0)
            return -1;
    }
    if (seen.codings && (seen.lengths || !is_11))
        return bad(err,
                   "a transfer coding beside Content-Length, or in HTTP/1.0, has two readings");
    if (seen.codings)
        request->framing = PROXY_BODY_CHUNKED;
    if (request->connect && (seen.codings || request->framing != PROXY_BODY_NONE))
        return bad(err, "CONNECT has no body");
    return 0;
}

int proxy_request_parse(struct str head, struct proxy_request *ret_request, struct err *err)
{
    struct proxy_request request = { .connect = false };
    ptrdiff_t end = str_find(head, STR("\r\n"));
    bool is_11 = false;

    if (end < 0 || proxy_head_size(head) != head.n)
        return bad(err, "the request has no end");
    if (head.n > PROXY_HEAD_MAX)
        return bad(err, "the request line and headers have more than 16 KiB");
    if (parse_line(str_take(head, (size_t)end), &request, &is_11, err) < 0)
        return -1;
    /* Up to the empty line's own CRLF; the lines keep theirs. */
    request.fields = str_of(head.p + end + 2, head.n - (size_t)end - 4);
    if (parse_fields(&request, is_11, err) < 0)
        return -1;
    *ret_request = request;
    return 0;
}

/* ---- as the origin server gets it ---- */

/* Is name in the comma-separated lists of the Connection fields? */
static bool named_by_connection(struct str fields, struct str name)
{
    while (fields.n > 0) {
        size_t end = (size_t)str_find(fields, STR("\r\n"));
        struct str line = str_take(fields, end), rest, item;
        size_t colon = (size_t)str_find_char(line, ':');

        fields = str_skip(fields, end + 2);
        if (!str_eq_nocase(str_take(line, colon), STR("Connection")))
            continue;
        rest = str_skip(line, colon + 1);
        while (str_split(&rest, ',', &item))
            if (str_eq_nocase(str_trim(item), name))
                return true;
    }
    return false;
}

static bool is_hop_by_hop(struct str fields, struct str name)
{
    static const char *const names[] = {
        "Connection",       "Host", "Keep-Alive", "Proxy-Authenticate", "Proxy-Authorization",
        "Proxy-Connection", "TE",   "Upgrade"
    };

    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (str_eq_nocase(name, str_from(names[i])))
            return true;
    /* Nobody may talk us out of passing the framing on. */
    if (str_eq_nocase(name, STR("Content-Length")) || str_eq_nocase(name, STR("Transfer-Encoding")))
        return false;
    return named_by_connection(fields, name);
}

int proxy_request_write(const struct proxy_request *request, struct buf *out)
{
    struct str rest = request->fields;
    bool v6 = request->host.numeric && request->host.addr.v6;

    buf_printf(out, "%.*s %s%.*s HTTP/1.1\r\nHost: %s%s%s", STR_ARG(request->method),
               request->target.n && request->target.p[0] == '/' ? "" : "/",
               STR_ARG(request->target), v6 ? "[" : "", request->host.name, v6 ? "]" : "");
    if (request->host.port != 80)
        buf_printf(out, ":%u", request->host.port);
    buf_add_text(out, "\r\n");
    while (rest.n > 0) {
        size_t end = (size_t)str_find(rest, STR("\r\n"));
        struct str line = str_take(rest, end);

        rest = str_skip(rest, end + 2);
        if (!is_hop_by_hop(request->fields, str_take(line, (size_t)str_find_char(line, ':')))) {
            buf_add_str(out, line);
            buf_add_text(out, "\r\n");
        }
    }
    return buf_add_text(out, "Connection: close\r\n\r\n");
}
