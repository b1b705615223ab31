/* The public JSON Schema Test Suite for draft 2020-12, case by case.
 *
 * SPDX-License-Identifier: MIT
 */
#include <dirent.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/json.h"
#include "base/schema.h"
#include "harness/test.h"

#define SUITE       "json-schema-test-suite"
#define DRAFT       "tests/draft2020-12"
#define REMOTE_BASE "http://localhost:1234"
/* Cases of the suite as it was when this was written, for the count of what is skipped without it.
 */
#define KNOWN_CASES 1206

/* Files under optional/ that are not claimed. The others there must pass like the required ones. */
static const struct {
    const char *file, *why;
} not_claimed[] = {
    { "optional/format/hostname.json", "hostname stays an annotation" },
    { "optional/format/idn-hostname.json", "internationalised names stay annotations" },
    { "optional/format/idn-email.json", "internationalised names stay annotations" },
    { "optional/format/iri.json", "IRIs stay annotations" },
    { "optional/format/iri-reference.json", "IRIs stay annotations" },
    { "optional/format/uri-template.json", "templates stay annotations" },
};

static const char *reason_not_claimed(const char *file)
{
    for (size_t i = 0; i < ARRAY_LEN(not_claimed); i++)
        if (strcmp(not_claimed[i].file, file) == 0)
            return not_claimed[i].why;
    return NULL;
}

static struct json_object *load(struct test *t, const char *path)
{
    struct json_object *doc = NULL;

    ASSERT_OK(json_parse_flags(test_read_file(t, path), JSON_BIG_INTEGERS, &doc, &t->err));
    return doc;
}

static bool is_dir(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* Calls visit for every .json file below root/part, with its path from root. */
static void each_file(struct test *t, const char *root, const char *part, void *context,
                      void (*visit)(struct test *t, const char *root, const char *file,
                                    void *context))
{
    struct dirent **entries;
    int n = scandir(arena_printf(&t->arena, "%s%s%s", root, *part ? "/" : "", part), &entries, NULL,
                    alphasort);

    if (n < 0)
        FAIL("%s/%s can't be read", root, part);
    for (int i = 0; i < n; i++) {
        const char *name = entries[i]->d_name;
        const char *file = arena_printf(&t->arena, "%s%s%s", part, *part ? "/" : "", name);
        size_t length = strlen(name);

        if (name[0] != '.') {
            if (is_dir(arena_printf(&t->arena, "%s/%s", root, file)))
                each_file(t, root, file, context, visit);
            else if (length > 5 && strcmp(name + length - 5, ".json") == 0)
                visit(t, root, file, context);
        }
        free(entries[i]);
    }
    free(entries);
}

struct registered {
    struct schema_registry *registry;
    bool first;
};

static void add_remote(struct test *t, const char *root, const char *file, void *context)
{
    struct registered *registered = context;
    AUTO_JSON doc = NULL;
    const char *uri;

    /* Documents of other drafts claim the same identifiers: those of this draft come first. */
    if ((strncmp(file, "draft2020-12/", 13) == 0) != registered->first)
        return;
    doc = load(t, arena_printf(&t->arena, "%s/%s", root, file));
    uri = arena_printf(&t->arena, REMOTE_BASE "/%s", file);
    ASSERT_OK(schema_registry_add(registered->registry, str_from(uri), doc, &t->err));
}

static void run_case(struct test *t, const struct schema *schema, struct json_object *one,
                     const char *name)
{
    struct json_object *data = NULL;
    bool expected = json_object_get_boolean(json_find(one, "valid"));
    AUTO_SCHEMA_REPORT report = SCHEMA_REPORT_INIT;
    int r;

    json_object_object_get_ex(one, "data", &data);
    t->err = ERR_INIT;
    r = schema_validate(schema, data, &report, &t->err);
    if (r < 0 && t->err.code != ERR_SCHEMA_VIOLATION)
        test_case_failed("%s: %s: %s", name, json_str(json_find(one, "description")).p,
                         test_err_text(t));
    else if ((r == 0) != expected || (r < 0) != (report.n > 0))
        test_case_failed("%s: %s: expected %s%s%s", name, json_str(json_find(one, "description")).p,
                         expected ? "valid" : "invalid", r < 0 ? ", got " : "",
                         r < 0 ? test_err_text(t) : "");
    else
        test_case_passed();
}

static void run_group(struct test *t, struct schema_registry *registry, struct json_object *group,
                      const char *file)
{
    struct json_object *document = NULL, *cases = json_find(group, "tests");
    const char *name =
        arena_printf(&t->arena, "%s: %s", file, json_str(json_find(group, "description")).p);
    unsigned flags = strncmp(file, "optional/format/", 16) == 0 ? SCHEMA_ASSERT_FORMAT : 0;
    AUTO(schema) schema = NULL;

    /* This one checks patterns through the format `regex`. */
    if (strcmp(file, "optional/ecmascript-regex.json") == 0)
        flags = SCHEMA_ASSERT_FORMAT;
    json_object_object_get_ex(group, "schema", &document);
    t->err = ERR_INIT;
    if (schema_compile(registry, document, STR(""), flags, &schema, &t->err) < 0) {
        for (size_t i = 0; i < json_object_array_length(cases); i++)
            test_case_failed("%s: %s", name, test_err_text(t));
        return;
    }
    for (size_t i = 0; i < json_object_array_length(cases); i++)
        run_case(t, schema, json_object_array_get_idx(cases, i), name);
}

static void run_file(struct test *t, const char *root, const char *file, void *context)
{
    const char *why = reason_not_claimed(file);
    AUTO_JSON groups = load(t, arena_printf(&t->arena, "%s/%s", root, file));

    for (size_t i = 0; i < json_object_array_length(groups); i++) {
        struct json_object *group = json_object_array_get_idx(groups, i);

        if (why)
            test_case_skipped((unsigned)json_object_array_length(json_find(group, "tests")));
        else
            run_group(t, context, group, file);
    }
    if (why)
        printf("  not claimed: %s (%s)\n", file, why);
}

TEST(schema_passes_the_public_test_suite, .timeout_s = 300)
{
    AUTO(schema_registry) registry = schema_registry_new();
    const char *suite, *remotes;

    if (!test_data_dir() ||
        !is_dir(suite = arena_printf(&t->arena, "%s/" SUITE, test_data_dir()))) {
        test_case_skipped(KNOWN_CASES);
        return;
    }
    remotes = arena_printf(&t->arena, "%s/remotes", suite);
    each_file(t, remotes, "", &(struct registered){ registry, true }, add_remote);
    each_file(t, remotes, "", &(struct registered){ registry, false }, add_remote);
    each_file(t, arena_printf(&t->arena, "%s/" DRAFT, suite), "", registry, run_file);
}
