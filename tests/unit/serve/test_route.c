/* SPDX-License-Identifier: MIT */
#include "serve/route.h"

#include <json-c/json.h>

#include "base/rand.h"
#include "base/schema.h"
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

/* What OpenAPI 3.1 demands of a document like ours, written down apart from the code. */
static const char openapi_schema[] =
    "{\"type\":\"object\",\"required\":[\"openapi\",\"info\",\"paths\"],"
    "\"properties\":{"
    "  \"openapi\":{\"pattern\":\"^3\\\\.1\\\\.[0-9]+$\"},"
    "  \"info\":{\"type\":\"object\",\"required\":[\"title\",\"version\"],"
    "    \"properties\":{\"title\":{\"type\":\"string\"},\"version\":{\"type\":\"string\"}}},"
    "  \"paths\":{\"type\":\"object\",\"propertyNames\":{\"pattern\":"
    "      \"^/([^{}]|\\\\{[A-Za-z0-9_]+\\\\})*$\"},"
    "    \"additionalProperties\":{\"$ref\":\"#/$defs/item\"}},"
    "  \"components\":{\"type\":\"object\",\"properties\":{"
    "    \"securitySchemes\":{\"additionalProperties\":{\"required\":[\"type\"],"
    "      \"properties\":{\"type\":{\"enum\":[\"http\"]},\"scheme\":{\"type\":\"string\"}}}},"
    "    \"responses\":{\"additionalProperties\":{\"$ref\":\"#/$defs/response\"}},"
    "    \"schemas\":{\"type\":\"object\",\"propertyNames\":{\"pattern\":\"^[A-Za-z0-9._-]+$\"},"
    "      \"additionalProperties\":{\"type\":\"object\"}}},"
    "    \"additionalProperties\":false},"
    "  \"security\":{\"$ref\":\"#/$defs/security\"}},"
    "\"additionalProperties\":false,"
    "\"$defs\":{"
    "  \"item\":{\"type\":\"object\",\"minProperties\":1,"
    "    \"propertyNames\":{\"enum\":[\"get\",\"put\",\"post\",\"delete\",\"patch\"]},"
    "    \"additionalProperties\":{\"$ref\":\"#/$defs/operation\"}},"
    "  \"operation\":{\"type\":\"object\",\"required\":[\"responses\"],\"properties\":{"
    "    \"summary\":{\"type\":\"string\",\"minLength\":1},"
    "    \"parameters\":{\"type\":\"array\",\"uniqueItems\":true,\"items\":{"
    "      \"type\":\"object\",\"required\":[\"name\",\"in\",\"required\",\"schema\"],"
    "      "
    "\"properties\":{\"name\":{\"pattern\":\"^[A-Za-z0-9_]+$\"},\"in\":{\"enum\":[\"path\","
    "\"query\"]},"
    "        \"required\":{\"type\":\"boolean\"},\"schema\":{\"type\":\"object\"}}}},"
    "    \"requestBody\":{\"type\":\"object\",\"required\":[\"content\"],\"properties\":{"
    "      \"description\":{\"type\":\"string\"},\"content\":{\"$ref\":\"#/$defs/content\"}},"
    "      \"additionalProperties\":false},"
    "    \"responses\":{\"type\":\"object\",\"minProperties\":1,"
    "      \"propertyNames\":{\"pattern\":\"^([1-5][0-9X]{2}|default)$\"},"
    "      \"additionalProperties\":{\"oneOf\":[{\"$ref\":\"#/$defs/response\"},"
    "        {\"type\":\"object\",\"required\":[\"$ref\"],\"properties\":{"
    "          \"$ref\":{\"pattern\":\"^#/components/responses/Error(Page)?$\"}}}]}},"
    "    \"security\":{\"$ref\":\"#/$defs/security\"}},"
    "    \"additionalProperties\":false},"
    "  \"response\":{\"type\":\"object\",\"required\":[\"description\"],\"properties\":{"
    "    \"description\":{\"type\":\"string\"},\"content\":{\"$ref\":\"#/$defs/content\"}},"
    "    \"additionalProperties\":false},"
    "  \"content\":{\"type\":\"object\",\"minProperties\":1,"
    "    \"propertyNames\":{\"pattern\":\"^[a-z*]+/[a-z*.+-]+$\"},"
    "    \"additionalProperties\":{\"type\":\"object\"}},"
    "  \"security\":{\"type\":\"array\",\"items\":{\"type\":\"object\","
    "    \"propertyNames\":{\"const\":\"token\"},\"additionalProperties\":{\"type\":\"array\"}}}}}";

/* Routes of every kind. */
static const struct serve_route kinds[] = {
    { "GET", "/page", run, SERVE_PUBLIC, SERVE_PAGE, 0, "A page." },
    { "GET", "/file/{name}", run, SERVE_PUBLIC, SERVE_FILE, 0, "A file." },
    { "GET", "/text", run, SERVE_LOCAL, SERVE_TEXT, 0, "\"Text\" \\ \xC3\xA4." },
    { "GET", "/events", run, SERVE_TOKEN, SERVE_SSE, 0, "Events." },
    { "GET", "/socket", run, SERVE_TOKEN, SERVE_WEBSOCKET, 0, "A socket." },
    { "PUT", "/file/{name}", run, SERVE_TOKEN, SERVE_JSON, 100, "Writes a file.", .bytes = true },
    { "PATCH", "/a/{x}/b/{y...}", run, SERVE_TOKEN, SERVE_JSON, 1, "Changes." },
};

static const struct serve_route described[] = {
    { .method = "POST",
      .pattern = "/things/{id}/turn",
      .run = run,
      .body_max = 100,
      .summary = "Turns a thing.",
      .query = (const char *const[]){ "fast", "limit", NULL },
      .takes = "Turn",
      .gives = "Thing",
      .streams = true },
};

TEST(openapi_has_queries_and_schemas)
{
    const struct serve_routes routes = { described, 1, NULL,
                                         STR("{\"Turn\":{\"type\":\"object\"},\"Thing\":{}}") };
    AUTO_BUF text = BUF_INIT(100000);

    ASSERT_OK(route_openapi(&routes, 1, "1", &text, &t->err));
    ASSERT_CONTAINS(buf_text(&text), "{\"name\":\"id\",\"in\":\"path\",\"required\":true,");
    ASSERT_CONTAINS(buf_text(&text), "{\"name\":\"limit\",\"in\":\"query\",\"required\":false,");
    ASSERT_CONTAINS(buf_text(&text),
                    "\"requestBody\":{\"description\":\"At most 100 bytes.\",\"content\":{"
                    "\"application/json\":{\"schema\":{\"$ref\":\"#/components/schemas/Turn\"}}}}");
    ASSERT_CONTAINS(buf_text(&text), "\"content\":{\"application/json\":{\"schema\":{\"$ref\":"
                                     "\"#/components/schemas/Thing\"}},\"text/event-stream\":{}}");
    ASSERT_CONTAINS(buf_text(&text), "\"schemas\":{\"Turn\":{\"type\":\"object\"},\"Thing\":{}}");
}

TEST(openapi_says_which_bodies_are_files_and_what_is_done_once)
{
    static const struct serve_route some[] = {
        { .method = "POST",
          .pattern = "/a",
          .run = run,
          .body_max = 9,
          .bytes = true,
          .once = true },
        { .method = "POST",
          .pattern = "/b",
          .run = run,
          .body_max = 9,
          .bytes = true,
          .takes = "B" },
        { .method = "POST", .pattern = "/c", .run = run, .body_max = 9 },
    };
    const struct serve_routes routes = { some, ARRAY_LEN(some), NULL, STR("{\"B\":{}}") };
    AUTO_BUF text = BUF_INIT(100000);
    struct json_object *document, *at;

    ASSERT_OK(route_openapi(&routes, 1, "1", &text, &t->err));
    document = json_tokener_parse(buf_text(&text));
    ASSERT_EQ(json_pointer_get(document, "/paths/~1a/post/requestBody/content", &at), 0);
    ASSERT_TEXT(json_object_to_json_string_ext(at, 0), "{\"*\\/*\":{}}");
    ASSERT_EQ(json_pointer_get(document, "/paths/~1a/post/parameters/0", &at), 0);
    ASSERT_TEXT(json_object_to_json_string_ext(at, 0),
                "{\"name\":\"Idempotency-Key\",\"in\":\"header\",\"required\":false,"
                "\"schema\":{\"type\":\"string\"}}");
    ASSERT_EQ(json_pointer_get(document, "/paths/~1b/post/requestBody/content", &at), 0);
    ASSERT_EQ(json_object_object_length(at), 2);
    ASSERT(json_pointer_get(document, "/paths/~1b/post/parameters", &at) != 0);
    ASSERT(json_pointer_get(document, "/paths/~1c/post/requestBody", &at) != 0);
    json_object_put(document);
}

TEST(openapi_names_the_statuses_of_a_route)
{
    static const char *const query[] = { "q", NULL };
#define REFUSED(status) "\"" status "\":{\"$ref\":\"#/components/responses/Error\"}"
    static const struct serve_route some[] = {
        { "PUT", "/a/{id}", run, SERVE_TOKEN, SERVE_JSON, 10, "Writes.", .also = 201 },
        { "DELETE", "/b", run, SERVE_PUBLIC, SERVE_JSON, 0, "Deletes.", .status = 204 },
        { "GET", "/c", run, SERVE_TOKEN, SERVE_SSE, 0, "Streams." },
        { "GET", "/d", run, SERVE_PUBLIC, SERVE_PAGE, 0, "Shows.", .query = query },
    };
    const struct serve_routes routes = { some, ARRAY_LEN(some), NULL };
    AUTO_BUF text = BUF_INIT(100000);

    ASSERT_OK(route_openapi(&routes, 1, "1", &text, &t->err));
    ASSERT_CONTAINS(buf_text(&text),
                    "{\"200\":{\"description\":\"Done.\",\"content\":{\"application/json\":{}}},"
                    "\"201\":{\"description\":\"Made.\",\"content\":{\"application/"
                    "json\":{}}}," REFUSED("400") "," REFUSED("401") "," REFUSED("403") "," REFUSED(
                        "404") "," REFUSED("409") "," REFUSED("413") "," REFUSED("default") "}");
    ASSERT_CONTAINS(buf_text(&text), "{\"204\":{\"description\":\"Done; there is nothing to "
                                     "tell.\"}," REFUSED("400") "," REFUSED("403") "," REFUSED(
                                         "404") "," REFUSED("413") "," REFUSED("default") "}");
    ASSERT_CONTAINS(buf_text(&text),
                    "{\"200\":{\"description\":\"Done.\",\"content\":{\"text/"
                    "event-stream\":{}}}," REFUSED("400") "," REFUSED("401") "," REFUSED(
                        "403") "," REFUSED("413") "," REFUSED("default") "}");
    /* Where a page is looked at, what goes wrong may be a page, too. */
    ASSERT_CONTAINS(buf_text(&text), "{\"text/html\":{}}},\"400\":{\"$ref\":\"#/components/"
                                     "responses/ErrorPage\"}");
    ASSERT_CONTAINS(buf_text(&text), "\"404\":{\"$ref\":\"#/components/responses/ErrorPage\"}");
#undef REFUSED
}

/* A {part} of every path has a parameter, and the other way round. */
static void check_parameters(struct test *t, const char *path, struct json_object *operation)
{
    struct json_object *list = NULL, *name;
    size_t parts = 0, n = 0;

    if (json_object_object_get_ex(operation, "parameters", &list))
        n = json_object_array_length(list);
    for (const char *at = strchr(path, '{'); at; at = strchr(at + 1, '{'))
        parts++;
    ASSERT_EQ(n, parts);
    for (size_t i = 0; i < n; i++) {
        json_object_object_get_ex(json_object_array_get_idx(list, i), "name", &name);
        ASSERT_CONTAINS(path, arena_printf(&t->arena, "{%s}", json_object_get_string(name)));
    }
}

TEST(openapi_document_is_valid_openapi)
{
    const struct serve_routes all[] = { { first, 5, NULL },
                                        { NULL, 0, NULL },
                                        { kinds, ARRAY_LEN(kinds), NULL },
                                        { second, 1, NULL } };
    AUTO_BUF text = BUF_INIT(100000);
    AUTO_SCHEMA_REPORT report = SCHEMA_REPORT_INIT;
    AUTO(schema) schema = NULL;
    struct json_object *rules = json_tokener_parse(openapi_schema), *document, *paths;

    ASSERT_OK(route_check(all, ARRAY_LEN(all), &t->err));
    ASSERT_OK(schema_compile(NULL, rules, STR(""), 0, &schema, &t->err));
    ASSERT_OK(route_openapi(all, ARRAY_LEN(all), "1.2.3", &text, &t->err));
    document = json_tokener_parse(buf_text(&text));
    ASSERT(document != NULL);
    ASSERT_OK(schema_validate(schema, document, &report, &t->err));
    json_object_object_get_ex(document, "paths", &paths);
    ASSERT_EQ(json_object_object_length(paths), 5 + 6);
    for (struct json_object_iterator at = json_object_iter_begin(paths),
                                     end = json_object_iter_end(paths);
         !json_object_iter_equal(&at, &end); json_object_iter_next(&at)) {
        struct json_object *item = json_object_iter_peek_value(&at);
        static const char *const verbs[] = { "get", "put", "post", "patch", "delete" };
        struct json_object *operation;

        for (size_t i = 0; i < ARRAY_LEN(verbs); i++)
            if (json_object_object_get_ex(item, verbs[i], &operation))
                check_parameters(t, json_object_iter_peek_name(&at), operation);
    }
    ASSERT_CONTAINS(buf_text(&text), "\"/socket\":{\"get\":{\"summary\":\"A socket.\","
                                     "\"responses\":{\"101\":{");
    ASSERT_CONTAINS(buf_text(&text), "\"description\":\"At most 100 bytes.\"");
    json_object_put(document);
    json_object_put(rules);
}

TEST(openapi_says_when_it_does_not_fit)
{
    AUTO_BUF text = BUF_INIT(200);

    ASSERT_FAILS(route_openapi(tables, 2, "1", &text, &t->err), ERR_TOO_LARGE);
}

TEST(routes_that_hide_each_other_are_refused)
{
    static const struct {
        const char *method, *before, *pattern, *why; /* why NULL: both can live */
    } cases[] = {
        { "GET", "/a/{x}", "/a/b", "hidden by" },
        { "GET", "/a/{x}", "/a/{y}", "hidden by" },
        { "GET", "/{x...}", "/a/b/c", "hidden by" },
        { "GET", "/{x...}", "/{y}", "hidden by" },
        { "GET", "/a/{x...}", "/a/{y}/{z...}", "hidden by" },
        { "POST", "/a/{x}", "/a/{y}", "one path" },
        { "POST", "/a/{x}/b/{y}", "/a/{x}/b/{z}", "one path" },
        { "POST", "/a/{x...}", "/a/{y...}", "one path" },
        { "GET", "/a/b", "/a/{x}", NULL },
        { "GET", "/a/{x}", "/a/{x...}", NULL },
        { "GET", "/a/{x}", "/b/{x}", NULL },
        { "GET", "/a/{x}", "/a/{x}/b", NULL },
        { "GET", "/{x}/b", "/a/{x}", NULL },
        { "GET", "/{x...}", "/", NULL },
        { "POST", "/a/{x}", "/a/{x}", NULL },
        { "POST", "/a/{x}", "/a/b", NULL },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct serve_route table[] = { ROUTE("GET", cases[i].before),
                                             ROUTE(cases[i].method, cases[i].pattern) };
        const struct serve_routes routes = { table, 2, NULL };
        int r = route_check(&routes, 1, &t->err);

        if ((r < 0) != (cases[i].why != NULL) ||
            (cases[i].why && !strstr(test_err_text(t), cases[i].why)))
            test_case_failed("%s before %s %s: %s", cases[i].before, cases[i].method,
                             cases[i].pattern, r < 0 ? test_err_text(t) : "accepted");
        else
            test_case_passed();
        err_reset(&t->err);
    }
}

/* ---- against another way of matching ---- */

static const char *const bits[] = { "a", "b", "", "{x}", "a.b" };

static const char *random_path(struct test *t, struct rand *rand, bool pattern)
{
    AUTO_BUF out = BUF_INIT(200);
    size_t n = 1 + (size_t)rand_below(rand, 4);

    for (size_t i = 0; i < n; i++)
        buf_printf(&out, "/%s", bits[rand_below(rand, pattern ? 5 : 3)]);
    if (pattern && rand_below(rand, 4) == 0)
        buf_add_text(&out, "/{rest...}");
    return arena_text(&t->arena, buf_text(&out));
}

/* By backing up a character at a time instead of by segments. */
static bool glob(const char *pattern, const char *path)
{
    if (strncmp(pattern, "{rest...}", 9) == 0)
        return *path != '\0';
    if (strncmp(pattern, "{x}", 3) == 0) {
        if (*path == '\0' || *path == '/')
            return false;
        while (*path && *path != '/')
            path++;
        return glob(pattern + 3, path);
    }
    if (*pattern != *path)
        return false;
    return *pattern == '\0' || glob(pattern + 1, path + 1);
}

TEST(route_matching_agrees_with_a_simple_matcher)
{
    struct rand_fake rand;

    rand_fake_init(&rand, 11);
    for (int i = 0; i < 20000; i++) {
        const char *pattern = random_path(t, &rand.rand, true);
        const char *path = random_path(t, &rand.rand, false);
        const struct serve_route table[] = { ROUTE("GET", pattern) };
        const struct serve_routes routes = { table, 1, NULL };
        AUTO_BUF allow = BUF_INIT(100);
        struct route_match match;
        int r =
            route_find(&routes, 1, &t->arena, STR("GET"), str_from(path), &match, &allow, &t->err);

        /* -1: it fits, but the rest holds an empty segment. */
        if ((r != 0) != glob(pattern, path))
            FAIL("%s against %s: %d", path, pattern, r);
        err_reset(&t->err);
    }
}
