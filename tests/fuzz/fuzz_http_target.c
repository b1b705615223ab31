/* Request targets and routes: whatever is accepted must be decoded, bounded and free of tricks.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>

#include "base/address.h"
#include "base/alloc.h"
#include "base/utf8.h"
#include "serve/range.h"
#include "serve/route.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void run(struct serve_request *request)
{
    (void)request;
}

static const struct serve_route table[] = {
    { "GET", "/", run, SERVE_PUBLIC, SERVE_PAGE, 0, "x" },
    { "GET", "/a/{id}", run, SERVE_PUBLIC, SERVE_JSON, 0, "x" },
    { "POST", "/a/{id}/b", run, SERVE_PUBLIC, SERVE_JSON, 9, "x" },
    { "GET", "/f/{path...}", run, SERVE_PUBLIC, SERVE_JSON, 0, "x" },
};

static void check_value(struct str value)
{
    if (!utf8_valid(value) || str_is(value, "..") || str_is(value, "."))
        abort();
    for (size_t i = 0; i < value.n; i++)
        if ((unsigned char)value.p[i] < 0x20 || value.p[i] == 0x7F)
            abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    const struct serve_routes routes = { table, ARRAY_LEN(table), NULL };
    struct str raw = str_of((const char *)bytes, n);
    AUTO_ARENA arena = ARENA_INIT;
    AUTO_BUF allow = BUF_INIT(256);
    struct err err = ERR_INIT;
    struct target target;
    struct route_match match;
    struct address address;
    struct range range;

    if (n > 8192)
        return 0;
    if (range_parse(raw, 1000, &range) > 0 && (!range.n || range.from + range.n > 1000))
        abort();
    (void)address_parse(raw, &address, &err);
    if (target_parse(&arena, raw, &target, &err) < 0)
        return 0;
    for (unsigned i = 0; i < target.query_count; i++) {
        check_value(target.query[i].name.n > 2 ? target.query[i].name : STR("x"));
        if (!str_eq(target_query(&target, arena_copy(&arena, target.query[i].name.p,
                                                     target.query[i].name.n)),
                    target.query[i].value))
            abort();
    }
    if (route_find(&routes, 1, &arena, STR("GET"), target.path, &match, &allow, &err) == 1)
        for (unsigned i = 0; i < match.param_count; i++)
            check_value(match.params[i].value);
    return 0;
}
