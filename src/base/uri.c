/* Splitting follows appendix B of RFC 3986, resolving section 5.2.2, checking appendix A.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/uri.h"

#define UNRESERVED 1
#define SUB_DELIM  2
#define HEX        4
#define SCHEME     8

static unsigned char_class(char c)
{
    unsigned char u = (unsigned char)c;
    unsigned char lower = u | 0x20;
    unsigned class = 0;

    if (lower >= 'a' && lower <= 'z')
        class |= UNRESERVED | SCHEME | (lower <= 'f' ? HEX : 0);
    else if (u >= '0' && u <= '9')
        class |= UNRESERVED | SCHEME | HEX;
    else if (u && strchr("-._~", u))
        class |= UNRESERVED | (u == '-' || u == '.' ? SCHEME : 0);
    else if (u && strchr("!$&'()*+,;=", u))
        class |= SUB_DELIM | (u == '+' ? SCHEME : 0);
    return class;
}

static struct str between(const char *from, const char *to)
{
    return str_of(from, (size_t)(to - from));
}

/* The end of the run of bytes at p that are not in stop. */
static const char *run(const char *p, const char *end, const char *stop)
{
    while (p < end && (*p == '\0' || !strchr(stop, *p)))
        p++;
    return p;
}

struct uri uri_split(struct str text)
{
    const char *p = text.p ? text.p : "", *end = p + text.n, *q = run(p, end, ":/?#");
    struct uri uri = { .scheme = STR_NONE };

    if (q < end && *q == ':' && q > p) {
        uri.scheme = between(p, q);
        p = q + 1;
    }
    if (end - p >= 2 && p[0] == '/' && p[1] == '/') {
        q = run(p + 2, end, "/?#");
        uri.authority = between(p + 2, q);
        p = q;
    }
    q = run(p, end, "?#");
    uri.path = between(p, q);
    p = q;
    if (p < end && *p == '?') {
        q = run(p + 1, end, "#");
        uri.query = between(p + 1, q);
        p = q;
    }
    if (p < end)
        uri.fragment = between(p + 1, end);
    return uri;
}

struct str uri_without_fragment(struct str text)
{
    ptrdiff_t at = str_find_char(text, '#');

    return at < 0 ? text : str_take(text, (size_t)at);
}

/* Removes the last segment that was written after `start`, with its '/'. */
static void drop_segment(struct buf *out, size_t start)
{
    while (out->n > start && out->p[out->n - 1] != '/')
        out->n--;
    if (out->n > start)
        out->n--;
}

/* Section 5.2.4. */
static void add_without_dots(struct buf *out, struct str path)
{
    size_t start = out->n;

    while (path.n > 0) {
        if (str_starts(path, STR("../"))) {
            path = str_skip(path, 3);
        } else if (str_starts(path, STR("./")) || str_starts(path, STR("/./"))) {
            path = str_skip(path, 2);
        } else if (str_is(path, "/.")) {
            path = STR("/");
        } else if (str_starts(path, STR("/../"))) {
            drop_segment(out, start);
            path = str_skip(path, 3);
        } else if (str_is(path, "/..")) {
            drop_segment(out, start);
            path = STR("/");
        } else if (str_is(path, ".") || str_is(path, "..")) {
            path = STR("");
        } else {
            size_t n = 1;

            while (n < path.n && path.p[n] != '/')
                n++;
            buf_add(out, path.p, n);
            path = str_skip(path, n);
        }
    }
}

/* Section 5.2.3: the reference's path after the base's last '/'. */
static void add_merged(struct buf *out, const struct uri *base, struct str path)
{
    /* Room for all of it: whether the result fits is for `out` to say. */
    AUTO_BUF merged = BUF_INIT(base->path.n + path.n + 1);
    size_t n = base->path.n;

    if (base->authority.p && n == 0) {
        buf_add_char(&merged, '/');
    } else {
        while (n > 0 && base->path.p[n - 1] != '/')
            n--;
        buf_add(&merged, base->path.p, n);
    }
    buf_add_str(&merged, path);
    add_without_dots(out, buf_str(&merged));
}

static void add_part(struct buf *out, const char *before, struct str part, const char *after)
{
    if (!part.p)
        return;
    buf_add_text(out, before);
    buf_add_str(out, part);
    buf_add_text(out, after);
}

void uri_resolve(struct str base_text, struct str ref_text, struct buf *out)
{
    struct uri base = uri_split(base_text), ref = uri_split(ref_text);
    bool own = ref.scheme.p != NULL;

    add_part(out, "", own ? ref.scheme : base.scheme, ":");
    own = own || ref.authority.p;
    add_part(out, "//", own ? ref.authority : base.authority, "");
    if (own) {
        /* A path without '/' (urn:a:b) has no segments to normalise. */
        if (str_starts(ref.path, STR("/")))
            add_without_dots(out, ref.path);
        else
            buf_add_str(out, ref.path);
    } else if (ref.path.n == 0) {
        buf_add_str(out, base.path);
    } else if (ref.path.p[0] == '/') {
        add_without_dots(out, ref.path);
    } else {
        add_merged(out, &base, ref.path);
    }
    add_part(out, "?", own || ref.path.n || ref.query.p ? ref.query : base.query, "");
    add_part(out, "#", ref.fragment, "");
}

int uri_decode(struct str text, struct buf *out)
{
    for (size_t i = 0; i < text.n; i++) {
        int high, low;

        if (text.p[i] != '%') {
            buf_add_char(out, text.p[i]);
            continue;
        }
        if (i + 2 >= text.n || (high = hex_digit(text.p[i + 1])) < 0 ||
            (low = hex_digit(text.p[i + 2])) < 0)
            return -1;
        buf_add_char(out, (char)(high << 4 | low));
        i += 2;
    }
    return 0;
}

/* Every byte unreserved, a sub-delimiter, %XX, or one of extra. */
static bool all_allowed(struct str s, const char *extra)
{
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];

        if (c == '%') {
            if (i + 2 >= s.n || hex_digit(s.p[i + 1]) < 0 || hex_digit(s.p[i + 2]) < 0)
                return false;
            i += 2;
        } else if (!(char_class(c) & (UNRESERVED | SUB_DELIM)) && !(c && strchr(extra, c))) {
            return false;
        }
    }
    return true;
}

bool uri_is_ipv4(struct str text)
{
    struct str field;
    int n = 0;

    if (text.n == 0)
        return false;
    while (str_split(&text, '.', &field)) {
        uint64_t value;

        if (++n > 4 || field.n == 0 || field.n > 3 || (field.n > 1 && field.p[0] == '0') ||
            str_to_u64(field, &value) < 0 || value > 255)
            return false;
    }
    return n == 4;
}

static bool is_hex_group(struct str s)
{
    if (s.n < 1 || s.n > 4)
        return false;
    for (size_t i = 0; i < s.n; i++)
        if (hex_digit(s.p[i]) < 0)
            return false;
    return true;
}

/* Counts 16-bit groups of one side of "::"; the last may be an IPv4 address. -1 when malformed. */
static int count_groups(struct str side, bool last)
{
    struct str field;
    int n = 0;

    if (side.n == 0)
        return 0;
    while (str_split(&side, ':', &field)) {
        if (is_hex_group(field))
            n += 1;
        else if (last && side.p == NULL && uri_is_ipv4(field))
            n += 2;
        else
            return -1;
    }
    return n;
}

bool uri_is_ipv6(struct str text)
{
    ptrdiff_t gap = str_find(text, STR("::"));
    int before, after;

    if (gap < 0)
        return count_groups(text, true) == 8;
    before = count_groups(str_take(text, (size_t)gap), false);
    after = count_groups(str_skip(text, (size_t)gap + 2), true);
    return before >= 0 && after >= 0 && before + after <= 7;
}

/* "v" hex+ "." anything, RFC 3986's IPvFuture. */
static bool is_ip_future(struct str s)
{
    ptrdiff_t dot = str_find_char(s, '.');

    if (s.n < 4 || (s.p[0] | 0x20) != 'v' || dot < 2 || (size_t)dot + 1 == s.n)
        return false;
    for (ptrdiff_t i = 1; i < dot; i++)
        if (hex_digit(s.p[i]) < 0)
            return false;
    s = str_skip(s, (size_t)dot + 1);
    return str_find_char(s, '%') < 0 && all_allowed(s, ":");
}

static bool is_host(struct str host)
{
    if (host.n > 0 && host.p[0] == '[') {
        if (host.p[host.n - 1] != ']' || host.n < 2)
            return false;
        host = str_of(host.p + 1, host.n - 2);
        return uri_is_ipv6(host) || is_ip_future(host);
    }
    return all_allowed(host, "");
}

static bool is_authority(struct str s)
{
    ptrdiff_t at = str_find_char(s, '@');
    size_t n;

    if (at >= 0) {
        if (!all_allowed(str_take(s, (size_t)at), ":"))
            return false;
        s = str_skip(s, (size_t)at + 1);
    }
    n = s.n;
    while (n > 0 && s.p[n - 1] >= '0' && s.p[n - 1] <= '9')
        n--;
    if (n > 0 && s.p[n - 1] == ':')
        s = str_take(s, n - 1);
    return is_host(s);
}

static bool is_scheme(struct str s)
{
    if (s.n == 0 || (s.p[0] | 0x20) < 'a' || (s.p[0] | 0x20) > 'z')
        return false;
    for (size_t i = 0; i < s.n; i++)
        if (!(char_class(s.p[i]) & SCHEME))
            return false;
    return true;
}

bool uri_is_valid_reference(struct str text)
{
    struct uri uri = uri_split(text);

    if (uri.scheme.p && !is_scheme(uri.scheme))
        return false;
    /* ":x" splits as a path; a first segment with a colon needs a scheme before it. */
    if (!uri.scheme.p && !uri.authority.p &&
        str_find_char(str_take(uri.path, (size_t)(run(uri.path.p, uri.path.p + uri.path.n, "/") -
                                                  uri.path.p)),
                      ':') >= 0)
        return false;
    return (!uri.authority.p || is_authority(uri.authority)) && all_allowed(uri.path, ":@/") &&
           all_allowed(uri.query, ":@/?") && all_allowed(uri.fragment, ":@/?");
}

bool uri_is_valid(struct str text)
{
    return uri_split(text).scheme.p && uri_is_valid_reference(text);
}
