/* What an agent asks to remember: the question, the decision, the file.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>

#include "memory_rig.h"

DB_TEST(approved_memory_becomes_a_version_of_the_file)
{
    struct stage *stage = stage_new(t);
    struct inbox_item item;
    struct file file;

    stage_says(stage, NOTE);
    stage_says(stage, "noted");
    stage_run(stage, "I like tea");
    ASSERT_TEXT(stage_story(stage), "init tool_use memory_edit_request waiting");
    item = get_item(stage, stage_item(stage));
    ASSERT_EQ(item.kind, INBOX_MEMORY);
    ASSERT_STR(item.title, "Remember knowledge/a.md");
    ASSERT_EQ(get_file(stage, "knowledge/a.md").n, 0);
    ASSERT_EQ(stage_decide(stage, INBOX_APPROVED, NULL), 1);
    ASSERT_TEXT(
        stage_story(stage),
        "init tool_use memory_edit_request waiting memory_edit_complete tool_result text done");
    file = get_file(stage, "knowledge/a.md");
    ASSERT_STR(file.content, "- likes tea\n");
    ASSERT_STR(file.author, "agent:planner");
    ASSERT_STR(file.reason, "said so");
    ASSERT_STR(file.inbox_id, arena_str(&t->arena, item.id).p);
    ASSERT_EQ(file.version, 1);
    stage_free(stage);
}

DB_TEST(request_says_what_a_person_needs_to_decide)
{
    struct stage *stage = stage_new(t);
    const char *event;

    put_file(stage, "knowledge/a.md", "- old\n", NULL);
    stage_says(stage, "!write_memory {\"path\":\"knowledge/a.md\",\"operation\":\"append\","
                      "\"content\":\"see https://example.com\\n\",\"reason\":\"a link\"}");
    stage_run(stage, "remember the link");
    event = stage_last(stage, "memory_edit_request");
    ASSERT_CONTAINS(event, "\"tool_call_id\":\"c0\"");
    ASSERT_CONTAINS(event, "\"path\":\"knowledge/a.md\"");
    ASSERT_CONTAINS(event, "\"operation\":\"append\"");
    ASSERT_CONTAINS(event, "\"current_content\":\"- old\\n\"");
    ASSERT_CONTAINS(event, "\"proposed_content\":\"- old\\nsee https://example.com\\n\"");
    ASSERT_CONTAINS(event, "\"reason\":\"a link\"");
    ASSERT_CONTAINS(event, "{\"pattern\":\"https?://\\\\S+\",\"match\":\"https://example.com\","
                           "\"description\":\"Contains URL\",\"severity\":\"warning\","
                           "\"start\":10,\"end\":29}");
    ASSERT_CONTAINS(event, "\"taint\":[]");
    ASSERT_CONTAINS(event, "+see https://example.com\\n");
    ASSERT_CONTAINS(event,
                    arena_printf(&t->arena, "\"request_id\":\"%.*s\"", STR_ARG(stage_item(stage))));
    ASSERT_CONTAINS(details(stage), "\"request_id\"");
    stage_free(stage);
}

DB_TEST(new_file_has_no_current_content)
{
    struct stage *stage = stage_new(t);

    stage_says(stage, NOTE);
    stage_run(stage, "tea");
    ASSERT_CONTAINS(stage_last(stage, "memory_edit_request"), "\"current_content\":null");
    stage_free(stage);
}

DB_TEST(rejected_memory_leaves_no_file_and_says_why)
{
    struct stage *stage = stage_new(t);
    const struct inbox_decision no = { .state = INBOX_REJECTED,
                                       .by = STR("owner"),
                                       .reason = STR("not yours to keep") };

    stage_says(stage, NOTE);
    stage_says(stage, "as you wish");
    stage_run(stage, "tea");
    ASSERT_EQ(stage_decide_with(stage, no), 1);
    ASSERT_TEXT(stage_story(stage), "init tool_use memory_edit_request waiting "
                                    "memory_edit_complete tool_result text done");
    ASSERT_CONTAINS(stage_last(stage, "memory_edit_complete"), "\"success\":false");
    ASSERT_CONTAINS(stage_last(stage, "memory_edit_complete"), "not yours to keep");
    ASSERT_CONTAINS(stage_last(stage, "memory_edit_complete"), "\"path\":\"knowledge/a.md\"");
    ASSERT_EQ(get_file(stage, "knowledge/a.md").n, 0);
    stage_free(stage);
}

DB_TEST(edited_memory_is_what_the_person_wrote)
{
    struct stage *stage = stage_new(t);

    stage_says(stage, NOTE);
    stage_says(stage, "noted");
    stage_run(stage, "tea");
    ASSERT_EQ(stage_decide(stage, INBOX_EDITED,
                           "{\"path\":\"knowledge/a.md\",\"content\":\"- green tea\\n\","
                           "\"reason\":\"said so\"}"),
              1);
    ASSERT_STR(get_file(stage, "knowledge/a.md").content, "- green tea\n");
    ASSERT_CONTAINS(stage_last(stage, "memory_edit_complete"), "\"success\":true");
    stage_free(stage);
}

DB_TEST(edited_memory_has_the_person_as_its_author_and_says_whose_idea_it_was)
{
    struct stage *stage = stage_new(t);
    struct file file;
    struct str id;

    stage_says(stage, NOTE);
    stage_says(stage, "noted");
    stage_run(stage, "tea");
    id = arena_str(&t->arena, stage_item(stage));
    ASSERT_EQ(stage_decide(stage, INBOX_EDITED,
                           "{\"path\":\"knowledge/a.md\",\"content\":\"- green tea\\n\","
                           "\"reason\":\"said so\"}"),
              1);
    file = get_file(stage, "knowledge/a.md");
    ASSERT_STR(file.author, "owner");
    ASSERT_STR(file.reason, "said so (edited what planner proposed)");
    ASSERT_STR(file.inbox_id, id.p);
    stage_free(stage);
}

DB_TEST(edited_memory_is_checked_like_any_other)
{
    struct stage *stage = stage_new(t);
    char *large = arena_alloc(&t->arena, LIMIT_MEMORY_FILE_BYTES + 200, 1);
    int head = sprintf(large, "{\"path\":\"knowledge/a.md\",\"reason\":\"r\",\"content\":\"");
    struct str item;

    memset(large + head, 'x', LIMIT_MEMORY_FILE_BYTES + 1);
    strcpy(large + head + LIMIT_MEMORY_FILE_BYTES + 1, "\"}");
    stage_says(stage, NOTE);
    stage_says(stage, "noted");
    stage_run(stage, "tea");
    item = stage_item(stage);
    ASSERT_EQ(decide(stage, item, INBOX_EDITED, large), -1);
    ASSERT_EQ(t->err.code, ERR_TOO_LARGE);
    ASSERT_EQ(decide(stage, item, INBOX_EDITED,
                     "{\"path\":\"AGENTS.md\",\"content\":\"mine\",\"reason\":\"r\"}"),
              -1);
    ASSERT_EQ(t->err.code, ERR_PATH_DENIED);
    ASSERT_EQ(get_item(stage, item).state, INBOX_PENDING);
    ASSERT_EQ(decide(stage, item, INBOX_APPROVED, NULL), 1);
    ASSERT_STR(get_file(stage, "knowledge/a.md").content, "- likes tea\n");
    stage_free(stage);
}

DB_TEST(file_that_changed_meanwhile_is_asked_about_again)
{
    struct stage *stage = stage_new(t);
    struct str first, second;

    stage_says(stage, NOTE);
    stage_says(stage, "noted");
    stage_run(stage, "tea");
    first = arena_str(&t->arena, stage_item(stage));
    put_file(stage, "knowledge/a.md", "- coffee\n", NULL);
    stage_forget(stage);
    ASSERT_EQ(decide(stage, first, INBOX_APPROVED, NULL), 1);
    ASSERT_TEXT(stage_story(stage), "memory_edit_complete memory_edit_request waiting");
    ASSERT_CONTAINS(stage_last(stage, "memory_edit_complete"), "\"code\":\"version_conflict\"");
    ASSERT_STR(get_file(stage, "knowledge/a.md").content, "- coffee\n");
    second = stage_item(stage);
    ASSERT(!str_eq(first, second));
    ASSERT_CONTAINS(stage_last(stage, "memory_edit_request"),
                    "\"current_content\":\"- coffee\\n\"");
    ASSERT_EQ(decide(stage, second, INBOX_APPROVED, NULL), 1);
    ASSERT_STR(get_file(stage, "knowledge/a.md").content, "- likes tea\n");
    ASSERT_EQ(get_file(stage, "knowledge/a.md").version, 2);
    stage_free(stage);
}

DB_TEST(file_that_changed_before_an_edit_is_asked_about_again)
{
    struct stage *stage = stage_new(t);

    stage_says(stage, NOTE);
    stage_says(stage, "noted");
    stage_run(stage, "tea");
    put_file(stage, "knowledge/a.md", "- coffee\n", NULL);
    ASSERT_EQ(stage_decide(stage, INBOX_EDITED,
                           "{\"path\":\"knowledge/a.md\",\"content\":\"- cocoa\\n\","
                           "\"reason\":\"r\"}"),
              1);
    ASSERT_STR(get_file(stage, "knowledge/a.md").content, "- coffee\n");
    ASSERT_CONTAINS(details(stage), "\"proposed_content\":\"- cocoa\\n\"");
    stage_free(stage);
}

DB_TEST(decision_about_memory_counts_once)
{
    struct stage *stage = stage_new(t);
    struct str item;

    stage_says(stage, NOTE);
    stage_says(stage, "noted");
    stage_run(stage, "tea");
    item = arena_str(&t->arena, stage_item(stage));
    ASSERT_EQ(decide(stage, item, INBOX_APPROVED, NULL), 1);
    ASSERT_EQ(decide(stage, item, INBOX_APPROVED, NULL), 0);
    ASSERT_EQ(decide(stage, item, INBOX_REJECTED, NULL), -1);
    ASSERT_EQ(t->err.code, ERR_CONFLICT);
    ASSERT_EQ(get_file(stage, "knowledge/a.md").version, 1);
    stage_free(stage);
}

DB_TEST(bad_paths_and_sizes_ask_nobody)
{
    static const char *const paths[] = {
        "../a.md",           "knowledge/../AGENTS.md", "/etc/passwd",         "AGENTS.md",
        "tools.json",        "knowledge/..\\\\a.md",   "knowledge/%2e%2e/a",  "knowledge/a.md.",
        "knowledge/.hidden", "Knowledge/a.md",         "secrets/a.md",        "knowledge",
        "knowledge/",        "knowledge//a.md",        "skills/Bad Name.md",  "skills/a/SKILL.md",
        "skills/../x.md",    "knowledge/CON",          "knowledge/a\\u202eb", "knowledge/a\\u0000b",
        "./knowledge/a.md",  "knowledge/a%2fb.md",     "agents.md",           "skills/a--b.md",
    };
    struct stage *stage = stage_new(t);

    for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
        stage_says(stage, arena_printf(
                              &t->arena,
                              "!write_memory {\"path\":\"%s\",\"content\":\"x\",\"reason\":\"r\"}",
                              paths[i]));
        stage_says(stage, "hm");
        stage_forget(stage);
        stage_run(stage, "try");
        if (strcmp(stage_story(stage), "init tool_use tool_result text done") != 0)
            FAIL("%s: %s", paths[i], stage_story(stage));
        ASSERT_CONTAINS(stage_last(stage, "tool_result"), "path_denied");
    }
    stage_free(stage);
}

static const char *large_call(struct test *t, const char *operation, size_t n)
{
    char *text = arena_alloc(&t->arena, n + 300, 1);
    int head = sprintf(text,
                       "!write_memory {\"path\":\"knowledge/a.md\",\"reason\":\"r\","
                       "\"operation\":\"%s\",\"content\":\"",
                       operation);

    memset(text + head, 'x', n);
    strcpy(text + head + n, "\"}");
    return text;
}

DB_TEST(a_byte_too_much_is_refused_at_once)
{
    struct stage *stage = stage_new(t);

    stage_says(stage, large_call(t, "write", LIMIT_MEMORY_FILE_BYTES + 1));
    stage_says(stage, "hm");
    stage_run(stage, "much");
    ASSERT_TEXT(stage_story(stage), "init tool_use tool_result text done");
    ASSERT_CONTAINS(stage_last(stage, "tool_result"), "too_large");
    put_file(stage, "knowledge/a.md", "0123456789", NULL);
    stage_says(stage, large_call(t, "append", LIMIT_MEMORY_FILE_BYTES - 10));
    stage_says(stage, "hm");
    stage_forget(stage);
    stage_run(stage, "more");
    ASSERT_CONTAINS(stage_last(stage, "tool_result"), "too_large");
    stage_says(stage, large_call(t, "append", LIMIT_MEMORY_FILE_BYTES - 11));
    stage_run(stage, "just enough");
    ASSERT_CONTAINS(details(stage), "KB;");
    stage_free(stage);
}

DB_TEST(delete_of_what_is_not_there_asks_nobody)
{
    struct stage *stage = stage_new(t);

    stage_says(stage, "!write_memory {\"path\":\"knowledge/a.md\",\"operation\":\"delete\","
                      "\"reason\":\"r\"}");
    stage_says(stage, "hm");
    stage_run(stage, "forget");
    ASSERT_CONTAINS(stage_last(stage, "tool_result"), "not_found");
    stage_free(stage);
}

DB_TEST(deletion_is_a_version_that_can_be_undone)
{
    struct stage *stage = stage_new(t);
    struct file file;

    put_file(stage, "knowledge/a.md", "- tea\n", NULL);
    stage_says(stage, "!write_memory {\"path\":\"knowledge/a.md\",\"operation\":\"delete\","
                      "\"reason\":\"asked\"}");
    stage_says(stage, "gone");
    stage_run(stage, "forget");
    ASSERT_CONTAINS(details(stage), "\"proposed_content\":\"\"");
    ASSERT_EQ(stage_decide(stage, INBOX_APPROVED, NULL), 1);
    ASSERT_EQ(get_file(stage, "knowledge/a.md").n, 0);
    ASSERT_EQ(file_get_version(stage->files, tree(stage), STR("knowledge/a.md"), 1, &t->arena,
                               &file, &t->err),
              1);
    ASSERT_STR(file.content, "- tea\n");
    stage_free(stage);
}
