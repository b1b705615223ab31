/* SPDX-License-Identifier: MIT */
#include "serve/range.h"

#include "serve/request.h"

/* Digits alone; what is beyond every file counts as its end. */
static bool read_place(struct str text, size_t *ret_place)
{
    uint64_t value;

    for (size_t i = 0; i < text.n; i++)
        if (text.p[i] < '0' || text.p[i] > '9')
            return false;
    if (!text.n)
        return false;
    *ret_place = str_to_u64(text, &value) < 0 || value > SIZE_MAX ? SIZE_MAX : (size_t)value;
    return true;
}

int range_parse(struct str header, size_t size, struct range *ret_range)
{
    struct str rest, first;
    size_t from, last = SIZE_MAX;

    if (!str_eq_nocase(str_take(header, strlen("bytes=")), STR("bytes=")))
        return 0;
    rest = str_trim(str_skip(header, strlen("bytes=")));
    if (str_find_char(rest, '-') < 0)
        return 0;
    str_split(&rest, '-', &first);
    if (!first.n) { /* "-500": the last ones */
        if (!read_place(rest, &last))
            return 0;
        from = last < size ? size - last : 0;
        *ret_range = (struct range){ from, size - from };
        return last && size ? 1 : -1;
    }
    if (!read_place(first, &from) || (rest.n && !read_place(rest, &last)) || last < from)
        return 0;
    if (from >= size)
        return -1;
    *ret_range = (struct range){ from, (last < size ? last + 1 : size) - from };
    return 1;
}

/* The client has a part of it already; what it has may be of another version. */
static bool is_current(struct serve_request *request, const char *tag)
{
    struct str if_range = serve_request_header(request, "if-range");

    return !if_range.p || str_is(if_range, tag);
}

void serve_reply_file(struct serve_request *request, const char *type, const char *tag,
                      struct str bytes)
{
    struct arena *arena = serve_request_arena(request);
    struct str header = serve_request_header(request, "range");
    struct range range = { 0, bytes.n };
    struct err err = ERR_INIT;
    int r = 0;

    tag = arena_printf(arena, "\"%s\"", tag);
    serve_reply_header(request, "Accept-Ranges", "bytes");
    serve_reply_header(request, "ETag", tag);
    if (header.p && str_is(serve_request_method(request), "GET") && is_current(request, tag))
        r = range_parse(header, bytes.n, &range);
    if (r < 0) {
        serve_reply_header(request, "Content-Range", arena_printf(arena, "bytes */%zu", bytes.n));
        err_set(&err, ERR_BAD_REQUEST, "the file has %zu bytes; none is in that range", bytes.n);
        serve_reply_error_status(request, 416, &err);
        return;
    }
    if (r > 0)
        serve_reply_header(request, "Content-Range",
                           arena_printf(arena, "bytes %zu-%zu/%zu", range.from,
                                        range.from + range.n - 1, bytes.n));
    serve_reply_text(request, r ? 206 : 200, type, str_of(bytes.p + range.from, range.n));
}
