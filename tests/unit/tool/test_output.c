/* Results: checked, without secrets, bounded. */
#include <stdio.h>

#include "base/json.h"
#include "base/redact.h"
#include "bed.h"
#include "tool/tool_int.h"

static const struct tool_entry *entry_of(const char *name)
{
    size_t n;
    const struct tool_entry *entries = tool_entries(&n);

    for (size_t i = 0; i < n; i++)
        if (strcmp(entries[i].contract->name, name) == 0)
            return &entries[i];
    return NULL;
}

static struct str make(struct test *t, const char *tool, const char *text)
{
    struct str out = STR_NONE;

    ASSERT_OK(output_make(entry_of(tool), str_from(text), &t->arena, &out, &t->err));
    return out;
}

TEST(a_result_that_fits_goes_on_as_it_is)
{
    ASSERT_STR(make(t, "bash", "{\"exit_code\":1,\"output\":\"no\",\"later\":{\"x\":[1.50,null]}}"),
               "{\"exit_code\":1,\"output\":\"no\",\"later\":{\"x\":[1.50,null]}}");
}

TEST(a_result_that_its_contract_does_not_know_is_refused)
{
    static const char *const cases[][2] = {
        { "bash", "" },
        { "bash", "{" },
        { "bash", "null" },
        { "bash", "[]" },
        { "bash", "{}" },
        { "bash", "{\"exit_code\":\"0\"}" },
        { "bash", "{\"exit_code\":0,\"output\":7}" },
        { "bash", "{\"exit_code\":0} {\"exit_code\":1}" },
        { "bash", "{\"exit_code\":0,\"exit_code\":1}" },
        { "bash", "{\"exit_code\":0,\"output\":\"\xff\"}" },
        { "read_file", "{\"path\":\"a\"}" },
        { "write_file", "{\"path\":\"a\",\"sha256\":\"abc\"}" },
        { "edit_file", "{\"path\":\"a\"}" },
        { "search", "{\"matches\":{}}" },
        { "search", "{\"matches\":[{\"line\":1}]}" },
    };
    struct str out;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        ASSERT_FAILS(
            output_make(entry_of(cases[i][0]), str_from(cases[i][1]), &t->arena, &out, &t->err),
            ERR_PROVIDER_FAILED);
        ASSERT_CONTAINS(test_err_text(t), "is not what its contract says");
    }
}

TEST(secrets_are_replaced_and_said_so)
{
    struct str out;

    ASSERT_EQ(redact_register(STR("correct-horse-battery")), 0);
    out = make(t, "bash", "{\"exit_code\":0,\"output\":\"key is correct-horse-battery!\"}");
    redact_forget(STR("correct-horse-battery"));
    ASSERT_STR(out, "{\"exit_code\":0,\"output\":\"key is ***REDACTED***!\",\"redacted\":true}");
}

TEST(a_long_text_keeps_its_beginning_and_end)
{
    size_t n = 300000;
    char *text = arena_alloc(&t->arena, n + 64, 1);
    size_t head = (size_t)sprintf(text, "{\"exit_code\":0,\"output\":\"first ");
    AUTO_JSON value = NULL;
    struct str out, kept;

    memset(text + head, 'x', n - head);
    strcpy(text + n, " last\"}");
    out = make(t, "bash", text);
    ASSERT(out.n <= entry_of("bash")->output_max);
    ASSERT(out.n > entry_of("bash")->output_max / 4);
    ASSERT_OK(json_parse(out, &value, &t->err));
    kept = json_str(json_find(value, "output"));
    ASSERT(str_starts(kept, STR("first x")));
    ASSERT(str_ends(kept, STR("x last")));
    ASSERT_CONTAINS(arena_str(&t->arena, kept).p, " bytes left out ...]");
    ASSERT(json_object_get_boolean(json_find(value, "truncated")));
}

TEST(a_cut_never_splits_a_character)
{
    AUTO_BUF text = BUF_INIT(1 << 20);

    for (unsigned shift = 0; shift < 4; shift++) {
        AUTO_JSON parsed = NULL;

        buf_clear(&text);
        buf_add_text(&text, "{\"exit_code\":0,\"output\":\"");
        for (unsigned i = 0; i < shift; i++)
            buf_add_char(&text, 'a');
        for (unsigned i = 0; i < 50000; i++)
            buf_add_text(&text, "😀");
        buf_add_text(&text, "\"}");
        ASSERT_OK(json_parse(make(t, "bash", buf_text(&text)), &parsed, &t->err));
        /* Written again by a writer that replaces what is broken: nothing was. */
        ASSERT(!strstr(json_str(json_find(parsed, "output")).p, "\xef\xbf\xbd"));
    }
}

TEST(a_long_list_keeps_its_first_items)
{
    AUTO_BUF text = BUF_INIT(8 << 20);
    AUTO_JSON value = NULL;
    struct json_object *matches;
    struct str out;

    buf_add_text(&text, "{\"total\":50000,\"matches\":[");
    for (unsigned i = 0; i < 50000; i++)
        buf_printf(&text, "%s{\"path\":\"src/f%u.c\",\"line\":%u}", i ? "," : "", i, i);
    buf_add_text(&text, "]}");
    out = make(t, "search", buf_text(&text));
    ASSERT(out.n <= entry_of("search")->output_max);
    ASSERT_OK(json_parse(out, &value, &t->err));
    matches = json_find(value, "matches");
    ASSERT(json_object_array_length(matches) > 100);
    ASSERT_STR(json_str(json_find(json_object_array_get_idx(matches, 0), "path")), "src/f0.c");
    ASSERT(json_object_get_boolean(json_find(value, "truncated")));
}

/* Many members, deep nesting, long keys: always something valid within the cap. */
TEST(no_shape_of_result_passes_the_cap)
{
    AUTO_BUF text = BUF_INIT(8 << 20);

    for (unsigned shape = 0; shape < 3; shape++) {
        AUTO_JSON value = NULL;
        struct str out;

        buf_clear(&text);
        buf_add_text(&text, "{\"exit_code\":0");
        for (unsigned i = 0; i < 30000 && shape == 0; i++)
            buf_printf(&text, ",\"member%u\":[[[%u]],\"%u\"]", i, i, i);
        for (unsigned i = 0; i < 20 && shape == 1; i++) {
            buf_printf(&text, ",\"%u", i);
            for (unsigned k = 0; k < 20000; k++)
                buf_add_char(&text, 'k');
            buf_add_text(&text, "\":1");
        }
        if (shape == 2) {
            buf_add_text(&text, ",\"x\":[");
            for (unsigned i = 0; i < 90000; i++)
                buf_printf(&text, "%s\"%u\"", i ? "," : "", i);
            buf_add_text(&text, "]");
        }
        buf_add_text(&text, "}");
        out = make(t, "bash", buf_text(&text));
        ASSERT(out.n <= entry_of("bash")->output_max);
        ASSERT_OK(json_parse(out, &value, &t->err));
        ASSERT(json_object_get_boolean(json_find(value, "truncated")));
    }
}
