/* A long export in parts.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json.h>

#include "base/alloc.h"
#include "base/json.h"
#include "cli/journal_parts.h"
#include "harness/test.h"

#define PARTS_MAX 64

static const char whole[] =
    "{\"format\":\"dormouse-journal\", \"version\": 1,\n \"categories\":[{\"id\":\"c\"}],"
    "\"labels\":[{\"id\":\"l\"},{\"id\":\"m\"}],\"tasks\":[{\"id\":\"t1\",\"title\":\"[,}\\\"\"},"
    "{\"id\":\"t2\"} , {\"id\":\"t3\",\"labelIds\":[\"l\"]}],\"entries\":[],"
    "\"attachments\":[{\"id\":\"a\",\"content\":\"eHh4\"}]}\n";

struct collecting {
    struct journal_parts_use use;
    struct json_object *part[PARTS_MAX];
    size_t known[PARTS_MAX], n;
};

static int collect(struct journal_parts_use *use, struct str text, size_t known, struct err *err)
{
    struct collecting *c = CONTAINER_OF(use, struct collecting, use);

    BUG_IF(c->n == PARTS_MAX);
    c->known[c->n] = known;
    return json_parse(text, &c->part[c->n++], err);
}

static void put_all(struct collecting *c)
{
    while (c->n)
        json_object_put(c->part[--c->n]);
}

static size_t length(struct json_object *part, const char *key)
{
    struct json_object *list = json_find(part, key);

    return list ? json_object_array_length(list) : 0;
}

TEST(a_text_that_fits_is_one_part_as_it_is)
{
    struct collecting c = { .use.part = collect };

    ASSERT_OK(journal_parts(str_from(whole), sizeof(whole), &c.use, &t->err));
    ASSERT_EQ(c.n, 1u);
    ASSERT_EQ(c.known[0], 0u);
    ASSERT_EQ(length(c.part[0], "tasks"), 3u);
    put_all(&c);
}

TEST(a_long_export_is_cut_between_records_and_nothing_is_lost)
{
    for (size_t max = 175; max < sizeof(whole) - 40; max++) {
        struct collecting c = { .use.part = collect };
        size_t tasks = 0, files = 0;

        ASSERT_OK(journal_parts(str_from(whole), max, &c.use, &t->err));
        ASSERT(c.n > 1);
        for (size_t i = 0; i < c.n; i++) {
            ASSERT(str_is(json_str(json_find(c.part[i], "format")), "dormouse-journal"));
            ASSERT_EQ(length(c.part[i], "categories"), 1u);
            ASSERT_EQ(length(c.part[i], "labels"), 2u);
            ASSERT_EQ(c.known[i], i ? 3u : 0u);
            tasks += length(c.part[i], "tasks");
            files += length(c.part[i], "attachments");
        }
        ASSERT_EQ(tasks, 3u);
        ASSERT_EQ(files, 1u);
        put_all(&c);
    }
}

TEST(a_record_that_no_request_holds_is_refused)
{
    struct collecting c = { .use.part = collect };

    ASSERT_EQ(journal_parts(str_from(whole), 130, &c.use, &t->err), -1);
    ASSERT_EQ(t->err.code, ERR_TOO_LARGE);
    put_all(&c);
}

TEST(an_export_that_was_cut_off_is_refused_before_anything_is_used)
{
    for (size_t n = 1; n < sizeof(whole) - 2; n++) {
        struct collecting c = { .use.part = collect };
        char *text = arena_copy(&t->arena, whole, n);

        err_reset(&t->err);
        ASSERT_EQ(journal_parts(str_of(text, n), 0, &c.use, &t->err), -1);
        ASSERT_EQ(c.n, 0u);
    }
}
