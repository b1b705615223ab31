/* What the model is told of its memory.
 *
 * SPDX-License-Identifier: MIT
 */
#include "db/db.h"
#include "memory_rig.h"

/* ---- what the model is told ---- */

DB_TEST(prompt_names_the_files_and_stays_the_same_while_they_do)
{
    struct stage *stage = stage_new(t);
    const char *first, *end;

    put_file(stage, "knowledge/b.md", "b", NULL);
    put_file(stage, "knowledge/a.md", "a", NULL);
    put_file(stage, "skills/tea/SKILL.md", "tea", NULL);
    put_file(stage, "skills/tea/references/kinds.md", "green", NULL);
    stage_says(stage, "!note {}");
    stage_says(stage, "ok");
    stage_says(stage, "ok");
    stage_run(stage, "one");
    ASSERT_CONTAINS(stage->last_request, "Your files:\\n- knowledge/a.md\\n- knowledge/b.md\"");
    end = strstr(stage->last_request, "\"messages\"");
    first = arena_copy(&t->arena, stage->last_request, (size_t)(end - stage->last_request));
    put_file(stage, "knowledge/b.md", "another text", NULL);
    stage_run(stage, "two");
    ASSERT(strncmp(first, stage->last_request, strlen(first)) == 0);
    stage_free(stage);
}

/* Behind the back of the files' room, as another daemon would. */
static void rename_in_store(struct stage *stage, const char *to)
{
    struct test *t = stage->t;
    AUTO(stmt) q = NULL;

    ASSERT_OK(loop_unit_begin(stage->loop, stage->domain, &t->err));
    ASSERT_OK(db_prepare(domain_db(stage->domain), SQL("UPDATE files SET path = ?"), &q, &t->err));
    stmt_bind_text(q, to);
    ASSERT_OK(stmt_run(q, &t->err));
    ASSERT_OK(loop_unit_end(stage->loop, true, &t->err));
    stage_settle(stage);
}

static const char *asked_with(struct stage *stage)
{
    stage_says(stage, "ok");
    stage_run(stage, "say ok");
    return stage->last_request;
}

DB_TEST(files_that_nobody_wrote_are_not_listed_again_for_each_request)
{
    struct stage *stage = stage_new(t);

    put_file(stage, "knowledge/a.md", "a", NULL);
    ASSERT_CONTAINS(asked_with(stage), "- knowledge/a.md");
    rename_in_store(stage, "knowledge/b.md");
    ASSERT_CONTAINS(asked_with(stage), "- knowledge/a.md");
    clock_advance(&stage->clock, 1001); /* only another daemon could have written */
    ASSERT_CONTAINS(asked_with(stage),
                    domain_is_shared(stage->domain) ? "- knowledge/b.md" : "- knowledge/a.md");
    put_file(stage, "knowledge/c.md", "c", NULL);
    ASSERT_CONTAINS(asked_with(stage), "- knowledge/b.md\\n- knowledge/c.md");
    stage_free(stage);
}

DB_TEST(agent_without_memory_tools_is_told_of_no_memory)
{
    struct stage *stage = stage_new(t);
    struct agent agent = { .id = "plain",
                           .kind = "planner",
                           .display_name = "Plain",
                           .lifecycle = AGENT_ACTIVE,
                           .mode = "interactive",
                           .allowed_category_ids = "[]",
                           .instructions = "",
                           .description = "",
                           .tools = "[\"note\"]" };

    ASSERT_OK(loop_unit_begin(stage->loop, stage->domain, &t->err));
    ASSERT_OK(agent_add(stage->domain, stage->change, &agent, 1, &t->err));
    ASSERT_OK(loop_unit_end(stage->loop, true, &t->err));
    agent_id = "plain";
    put_file(stage, "knowledge/a.md", "a", NULL);
    stage_says(stage, "ok");
    ask_agent(stage, "hi");
    ASSERT(strstr(stage->last_request, "write_memory") == NULL);
    ASSERT(strstr(stage->last_request, "knowledge/a.md") == NULL);
    stage_free(stage);
}
