/* What a form may say of an agent: each fault is named, and nothing is made.
 *
 * SPDX-License-Identifier: MIT
 */
#include "builder/template.h"
#include "rig.h"

#define NAMED .display_name = STR("A")

TEST(faults_of_a_form_are_named, .param = &db_test_sqlite)
{
    const struct {
        struct builder_form form;
        const char *said; /* NULL: it is fine */
    } cases[] = {
        { { .given = AGENT_NAME, NAMED }, NULL },
        { { .given = 0 }, "displayName is missing" },
        { { .given = AGENT_NAME, .display_name = STR("a\0b") }, "U+0000" },
        { { .given = AGENT_NAME | AGENT_DESCRIPTION, NAMED, .description = STR("a\0b") },
          "the description has a control character (U+0000)" },
        { { .given = AGENT_NAME | AGENT_INSTRUCTIONS, NAMED, .instructions = STR("a\0b") },
          "the instructions has a control character (U+0000)" },
        { { .given = AGENT_NAME | AGENT_MODE, NAMED, .mode = STR("hybrid\0") },
          "the mode has a control character" },
        { { .given = AGENT_NAME | AGENT_MODE, NAMED, .mode = STR("") }, "mode" },
        { { .given = AGENT_NAME | AGENT_MODEL, NAMED, .model = STR("") }, NULL },
        { { .given = AGENT_NAME | AGENT_MODEL, NAMED, .model = STR("no-such") },
          "there is no model \"no-such\"; there are: " },
        { { .given = AGENT_NAME | AGENT_MODEL, NAMED, .model = STR("x\0y") }, "there is no model" },
        { { .given = AGENT_NAME | AGENT_TOOLS, NAMED, .tools = STR("[]") }, NULL },
        { { .given = AGENT_NAME | AGENT_TOOLS, NAMED, .tools = STR("[\"bash\"]") }, NULL },
        { { .given = AGENT_NAME | AGENT_TOOLS, NAMED, .tools = STR("[") }, "tools: " },
        { { .given = AGENT_NAME | AGENT_TOOLS, NAMED, .tools = STR("{}") },
          "tools must be a list of names" },
        { { .given = AGENT_NAME | AGENT_TOOLS, NAMED, .tools = STR("\"bash\"") },
          "tools must be a list of names" },
        { { .given = AGENT_NAME | AGENT_TOOLS, NAMED, .tools = STR("[\"bash\",1]") },
          "tools must be a list of names" },
        { { .given = AGENT_NAME | AGENT_TOOLS, NAMED, .tools = STR("[null]") },
          "tools must be a list of names" },
        { { .given = AGENT_NAME | AGENT_TOOLS, NAMED, .tools = STR("[\"Bash\"]") },
          "there is no tool \"Bash\"; did you mean \"bash\"?" },
        { { .given = AGENT_NAME | AGENT_TOOLS, NAMED, .tools = STR("[\"propose_agent\"]") },
          "there is no tool \"propose_agent\"" },
        { { .given = AGENT_NAME | BUILDER_PATTERNS, NAMED, .patterns = STR("[]") }, NULL },
        { { .given = AGENT_NAME | BUILDER_PATTERNS, NAMED, .patterns = STR("[") }, "patterns: " },
        { { .given = AGENT_NAME | BUILDER_PATTERNS, NAMED, .patterns = STR("{}") },
          "patterns must be a list of names" },
        { { .given = AGENT_NAME | BUILDER_PATTERNS, NAMED, .patterns = STR("3") },
          "patterns must be a list of names" },
        { { .given = AGENT_NAME | BUILDER_PATTERNS, NAMED, .patterns = STR("[\"none\"]") },
          "there is no pattern \"none\"; there are: " },
        { { .given = AGENT_NAME | BUILDER_TEMPLATE, NAMED, .template = STR("none") },
          "there is no template \"none\"" },
        { { .given = AGENT_NAME | BUILDER_ID, NAMED, .id = STR("system:x") },
          "\"system:\" are Dormouse's own" },
        { { .given = AGENT_NAME | BUILDER_ID, NAMED, .id = STR("Not An Id") }, "id" },
        { { .given = AGENT_NAME | BUILDER_ID, NAMED, .id = STR("") }, "id" },
    };
    AUTO(rig) rig = rig_open(t);

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        int r;

        err_reset(&t->err);
        r = builder_check(rig->builder, &cases[i].form, &t->err);
        if ((r == 0) != !cases[i].said)
            FAIL("case %zu: %s", i, r ? test_err_text(t) : "was taken");
        if (cases[i].said && !strstr(test_err_text(t), cases[i].said))
            FAIL("case %zu: %s", i, test_err_text(t));
    }
}

TEST(instructions_are_bounded_with_their_patterns, .param = &db_test_sqlite)
{
    AUTO(rig) rig = rig_open(t);
    char *text = arena_alloc(&t->arena, AGENT_INSTRUCTIONS_MAX + 2, 1);
    struct builder_form form = { .given = AGENT_NAME | AGENT_INSTRUCTIONS, NAMED };

    memset(text, 'x', AGENT_INSTRUCTIONS_MAX + 1);
    form.instructions = str_of(text, AGENT_INSTRUCTIONS_MAX);
    ASSERT_OK(builder_check(rig->builder, &form, &t->err));
    form.given |= BUILDER_PATTERNS;
    form.patterns = str_from(arena_printf(&t->arena, "[\"%s\"]", patterns(&(size_t){ 0 })->name));
    ASSERT(builder_check(rig->builder, &form, &t->err) < 0);
    ASSERT_CONTAINS(test_err_text(t), "the instructions");
    form.given &= ~(unsigned)BUILDER_PATTERNS;
    form.instructions.n++;
    err_reset(&t->err);
    ASSERT(builder_check(rig->builder, &form, &t->err) < 0);
    ASSERT_CONTAINS(test_err_text(t), "the instructions");
}
