/* The person's own records over the interface: what is kept, what is refused, what is undone.
 *
 * SPDX-License-Identifier: MIT
 */
#include "home.h"

#define J "/api/v1/journal"

static const char *id_of(struct test *t, const char *answer, const char *path)
{
    return arena_printf(&t->arena, J "%s/%s", path, text_of(t, answer, "id"));
}

TEST(a_task_lives_from_its_making_to_its_restoring)
{
    struct home *home = home_start(t);
    const char *task = id_of(t, ASK("POST", J "/tasks", "{\"title\":\"Plant leeks\"}"), "/tasks");

    CHECK({ "GET", task, "", "200", "\"title\":\"Plant leeks\"" },
          { "PATCH", task, "{\"title\":\"Plant onions\"}", "200", "Plant onions" },
          { "GET", J "/tasks?q=onions", "", "200", "Plant onions" },
          { "GET", J "/tasks?q=leeks", "", "200", "\"items\":[]" },
          { "DELETE", task, "", "204", "" }, { "GET", task, "", "404", "was deleted; POST" },
          { "GET", arena_printf(&t->arena, "%s?deleted=true", task), "", "200", "Plant onions" },
          { "GET", arena_printf(&t->arena, "%s?deleted=false", task), "", "404", "was deleted" },
          { "GET", arena_printf(&t->arena, "%s?deleted=yes", task), "", "400",
            "deleted must be true or false, not \\\"yes\\\"" },
          { "POST", arena_printf(&t->arena, "%s/restore", task), "", "200", "Plant onions" },
          { "GET", task, "", "200", "Plant onions" });
    home_end(home);
}

TEST(records_that_cant_be_are_refused_by_what_is_wrong_with_them)
{
    static const struct home_case cases[] = {
        { "POST", J "/tasks", "{}", "4", "title" },
        { "POST", J "/tasks", "{\"title\":\"\"}", "4", "title" },
        { "POST", J "/tasks", "{\"title\":7}", "4", "title" },
        { "POST", J "/tasks", "{\"title\":\"a\\u0000b\"}", "4", "" },
        { "POST", J "/tasks", "{\"title\":\"x\",\"colour\":\"red\"}", "4", "colour" },
        { "POST", J "/tasks", "{\"title\":\"x\",\"status\":\"perhaps\"}", "4", "status" },
        { "POST", J "/tasks", "{\"title\":\"x\",\"dueDate\":\"2026-02-30\"}", "4", "" },
        { "POST", J "/tasks", "{\"title\":\"x\",\"categoryId\":\"none\"}", "4", "categor" },
        { "POST", J "/tasks", "[]", "4", "object" },
        { "GET", J "/tasks/none", "", "404", "" },
        { "GET", J "/tasks?limit=0", "", "400", "limit must be a number from 1 to 500" },
        { "GET", J "/tasks?limit=501", "", "400", "limit must be a number from 1 to 500" },
        { "GET", J "/tasks?limit=500", "", "200", "\"items\":[]" },
        { "GET", J "/tasks?closed=perhaps", "", "400", "closed must be true, false or any" },
        { "GET", J "/tasks?order=age", "", "400", "order must be due, priority or updated" },
        { "GET", J "/tasks?after=x", "", "4", "after" },
        { "GET", J "/tasks?colour=red", "", "400", "query" },
        { "POST", J "/categories", "{\"name\":\"\"}", "4", "name" },
        { "POST", J "/entries", "{\"kind\":\"dream\"}", "4", "kind" },
        { "POST", J "/ratings", "{}", "4", "" },
        { "POST", J "/time-entries", "{}", "4", "" },
    };
    struct home *home = home_start(t);

    home_check(t, home, cases, ARRAY_LEN(cases));
    CHECK({ "GET", J "/tasks?closed=any", "", "200", "\"items\":[]" });
    home_end(home);
}

/* A word that is meant as yes must not be taken for no: what was to be looked at would be kept. */
TEST(an_import_is_kept_only_when_it_is_not_to_be_looked_at_first)
{
#define IMPORT(query, status, says)                                                                \
    {                                                                                              \
        "POST", J "/import?format=todotxt" query, "(A) Plant leeks\nx done already\n", status,     \
            says                                                                                   \
    }
    static const struct home_case before[] = {
        IMPORT("&preview=true", "200", ""),
        IMPORT("&preview=yes", "400", "preview must be true or false, not \\\"yes\\\""),
        IMPORT("&preview=1", "400", "preview must be true or false"),
        IMPORT("&preview=", "400", "preview must be true or false"),
        IMPORT("&skipBad=maybe", "400", "skipBad must be true or false"),
        IMPORT("&offset=-1", "400", "offset must be a number from 0"),
        IMPORT("&limit=0", "400", "limit must be a number from 1 to 10000"),
        IMPORT("&limit=10001", "400", "limit must be a number from 1 to 10000"),
        IMPORT("&import=no%20id", "400", "import must be an id of at most 40 characters"),
        { "POST", J "/import", "x", "400", "format must be csv, todotxt, markdown, ics or json" },
        { "POST", J "/import?format=xml", "x", "400", "not \\\"xml\\\"" },
        { "POST", J "/import?format=json", "{", "4", "" },
        { "GET", J "/tasks?closed=any", "", "200", "\"items\":[]" },
        { "GET", J "/export?attachments=yes", "", "400", "attachments must be true or false" },
        { "GET", J "/export?format=pdf", "", "400", "format must be json or ics, not" },
        { "GET", J "/export?attachments=true", "", "200", "filename=\"journal.json\"" },
        { "GET", J "/export?format=ics", "", "200", "BEGIN:VCALENDAR" },
        IMPORT("&preview=false", "200", ""),
        { "GET", J "/tasks?closed=any", "", "200", "Plant leeks" },
        { "GET", J "/export", "", "200", "Plant leeks" },
    };
    struct home *home = home_start(t);

    home_check(t, home, before, ARRAY_LEN(before));
    home_end(home);
}
