/* SPDX-License-Identifier: MIT */
#include "serve/route.h"

#include <json-c/json.h>

#include "harness/test.h"

static void run(struct serve_request *request)
{
    (void)request;
}

#define ROUTE(method, pattern)                                                                     \
    {                                                                                              \
        method, pattern, run, SERVE_TOKEN, SERVE_JSON, 0, "Summary."                               \
    }

static const struct serve_route first[] = {
    ROUTE("GET", "/"),
    ROUTE("GET", "/agents/new"),
    ROUTE("GET", "/agents/{id}"),
    ROUTE("DELETE", "/agents/{id}"),
    ROUTE("GET", "/agents/{id}/memory/{path...}"),
};
static const struct serve_route second[] = { ROUTE("POST", "/agents") };
static int marker;
static const struct serve_routes tables[] = { { first, 5, NULL }, { second, 1, &marker } };

static int find(struct test *t, const char *method, const char *path, struct route_match *match)
{
    AUTO_BUF allow = BUF_INIT(256);

    return route_find(tables, 2, &t->arena, str_from(method), str_from(path), match, &allow,
                      &t->err);
}

TEST(route_finds_literals_before_parameters)
{
    struct route_match match;

    ASSERT_EQ(find(t, "GET", "/", &match), 1);
    ASSERT_EQ(match.id, 0);
    ASSERT_EQ(find(t, "GET", "/agents/new", &match), 1);
    ASSERT_EQ(match.param_count, 0);
    ASSERT_EQ(find(t, "HEAD", "/agents/a%20b", &match), 1);
    ASSERT_EQ(match.param_count, 1);
    ASSERT_STR(match.params[0].name, "id");
    ASSERT_STR(match.params[0].value, "a b");
    ASSERT_EQ(find(t, "POST", "/agents", &match), 1);
    ASSERT(match.arg == &marker);
    ASSERT_EQ(match.id, 5);
}

TEST(route_rest_takes_slashes_but_no_tricks)
{
    struct route_match match;

    ASSERT_EQ(find(t, "GET", "/agents/7/memory/a/b%2Fc.md", &match), 1);
    ASSERT_STR(match.params[1].name, "path");
    ASSERT_STR(match.params[1].value, "a/b/c.md");
    ASSERT_EQ(find(t, "GET", "/agents/7/memory/", &match), 0);
    ASSERT_EQ(find(t, "GET", "/agents/7/memory/../x", &match), -1);
    ASSERT_EQ(find(t, "GET", "/agents/7/memory/a//b", &match), -1);
    ASSERT_EQ(find(t, "GET", "/agents/7/memory/%2e%2e/x", &match), -1);
    ASSERT_EQ(find(t, "GET", "/agents/%2e%2e", &match), -1);
}

TEST(route_misses_are_misses)
{
    static const char *const paths[] = { "/agents/",     "/agents//",        "/Agents", "//",
                                         "/agents/7/",   "/agents/7/memory", "",        "*",
                                         "/agents/new/", "/%61gents" };
    struct route_match match;

    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
        ASSERT_EQ(find(t, "GET", paths[i], &match), 0);
}

TEST(route_names_the_methods_that_exist)
{
    AUTO_BUF allow = BUF_INIT(256);
    struct route_match match;

    ASSERT_EQ(
        route_find(tables, 2, &t->arena, STR("PUT"), STR("/agents/7"), &match, &allow, &t->err),
        -2);
    ASSERT_TEXT(buf_text(&allow), "OPTIONS, GET, HEAD, DELETE");
}

static int check_one(struct test *t, const char *method, const char *pattern)
{
    const struct serve_route table[] = { ROUTE(method, pattern) };
    const struct serve_routes routes = { table, 1, NULL };

    err_reset(&t->err);
    return route_check(&routes, 1, &t->err);
}

TEST(route_tables_that_can_never_work_are_refused)
{
    static const char *const bad[] = { "",       "a",     "/{a}{b}",
                                       "/{",     "/a}",   "/{a...}/b",
                                       "/{...}", "/x{a}", "/{1}/{2}/{3}/{4}/{5}/{6}/{7}/{8}/{9}" };
    const struct serve_route twice[] = { ROUTE("GET", "/a"), ROUTE("GET", "/a") };
    const struct serve_routes routes = { twice, 2, NULL };
    const struct serve_route silent[] = { { "GET", "/a", NULL, SERVE_TOKEN, SERVE_JSON, 0, "x" } };
    const struct serve_routes no_handler = { silent, 1, NULL };

    ASSERT_OK(route_check(tables, 2, &t->err));
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        if (check_one(t, "GET", bad[i]) == 0)
            FAIL("the pattern \"%s\" was accepted", bad[i]);
    ASSERT_FAILS(check_one(t, "BREW", "/a"), ERR_INTERNAL);
    ASSERT_FAILS(route_check(&routes, 1, &t->err), ERR_INTERNAL);
    ASSERT_CONTAINS(test_err_text(t), "hidden by");
    ASSERT_FAILS(route_check(&no_handler, 1, &t->err), ERR_INTERNAL);
}

TEST(openapi_has_every_route_and_its_parameters)
{
    AUTO_BUF text = BUF_INIT(100000);
    struct json_object *root, *paths, *item, *operation, *list;

    ASSERT_OK(route_openapi(tables, 2, "1.2.3", &text, &t->err));
    root = json_tokener_parse(buf_text(&text));
    ASSERT(root != NULL);
    json_object_object_get_ex(root, "paths", &paths);
    ASSERT_EQ(json_object_object_length(paths), 5);
    ASSERT(json_object_object_get_ex(paths, "/agents/{id}/memory/{path}", &item));
    ASSERT(json_object_object_get_ex(item, "get", &operation));
    ASSERT(json_object_object_get_ex(operation, "parameters", &list));
    ASSERT_EQ(json_object_array_length(list), 2);
    ASSERT(json_object_object_get_ex(paths, "/agents/{id}", &item));
    ASSERT_EQ(json_object_object_length(item), 2);
    json_object_put(root);
}
