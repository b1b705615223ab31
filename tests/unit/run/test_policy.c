/* A person's own guards on the program of runs.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bp/policy.h"

#include "base/yaml.h"
#include "proof.h"
#include "walk.h"

static struct bp_policy *parse(struct test *t, const char *text)
{
    AUTO_YAML yaml = YAML_INIT;
    struct bp_policy *policy = NULL;

    ASSERT_OK(yaml_parse(str_from(text), "policy.yaml", &yaml, &t->err));
    ASSERT_OK(bp_policy_parse(&yaml, "policy.yaml", &policy, &t->err));
    return policy;
}

#define BLOCKS                                                                                     \
    "version: 1\n"                                                                                 \
    "classify:\n"                                                                                  \
    "  network: tool == \"fetch\"\n"                                                               \
    "guards:\n"                                                                                    \
    "  - name: no_network\n"                                                                       \
    "    points:\n"                                                                                \
    "      - block: [{ on: act, has: [network] }]\n"
#define REFUSES                                                                                    \
    "  - name: refuse_network\n"                                                                   \
    "    each: { on: [call, edit, judged], has: [network] }\n"                                     \
    "    points:\n"                                                                                \
    "      - request: denied\n"                                                                    \
    "        interrupt: { on: [edit, judged], lacks: [network] }\n"

TEST(attributes_of_a_policy_are_numbered_after_the_programs_own)
{
    AUTO(bp_policy) policy = parse(t, BLOCKS REFUSES);
    const struct bp_program *program;
    struct expr_facts facts = { .tool = STR("fetch") };

    ASSERT_OK(run_program_with_policy(policy, &t->arena, &program, &t->err));
    ASSERT_EQ(bp_policy_classify(policy, program, &facts), 1u << 16);
    facts.tool = STR("bash");
    ASSERT_EQ(bp_policy_classify(policy, program, &facts), 0);
}

TEST(a_persons_guard_holds_the_act_and_refuses_the_call)
{
    AUTO(bp_policy) policy = parse(t, BLOCKS REFUSES);
    const struct bp_program *program;
    AUTO_WALK w = { .t = NULL };

    ASSERT_OK(run_program_with_policy(policy, &t->arena, &program, &t->err));
    walk_begin(&w, t, program, NULL);
    SAYS(&w, START, 0, RUN_WIGGUM, "start(wiggum), think(wiggum)");
    SAYS(&w, CALL, 1, 1u << 16, "call(1, network), denied(1, wiggum, network)");
    SAYS(&w, CALL, 2, 0, "call(2)");
    SAYS(&w, THOUGHT, 0, RUN_MORE, "thought(more), settled(1, wiggum, network), act(2, wiggum)");
    SAYS(&w, ACTED, 2, 0, "acted(2), settled(2, wiggum), observe(wiggum), check(wiggum)");
}

TEST(a_guard_without_a_way_out_is_shown_to_leave_a_run_stuck)
{
    AUTO(bp_policy) blocks = parse(t, BLOCKS);
    AUTO(bp_policy) both = parse(t, BLOCKS REFUSES);
    const struct bp_program *program;

    ASSERT_OK(run_program_with_policy(blocks, &t->arena, &program, &t->err));
    ASSERT_TEXT(broken(t, program, BP_PROGRESS, 1), "start think call(1, network) thought");
    ASSERT_OK(run_program_with_policy(both, &t->arena, &program, &t->err));
    ASSERT(unproved(t, program, BP_PROGRESS, 1) == NULL);
}

TEST(a_policy_for_another_program_leaves_runs_as_they_are)
{
    AUTO(bp_policy)
    policy = parse(t, "version: 1\nfor: [lease]\n"
                      "guards:\n"
                      "  - name: g\n"
                      "    points:\n"
                      "      - block: [{ on: act }]\n");
    const struct bp_program *program = NULL;

    ASSERT_OK(run_program_with_policy(policy, &t->arena, &program, &t->err));
    ASSERT(program == &run_program);
}

TEST(a_policy_can_not_ask_for_what_is_not_open)
{
    AUTO(bp_policy)
    policy = parse(t, "version: 1\n"
                      "guards:\n"
                      "  - name: pushy\n"
                      "    each: { on: call }\n"
                      "    points:\n"
                      "      - request: act\n");
    const struct bp_program *program;

    ASSERT_FAILS(run_program_with_policy(policy, &t->arena, &program, &t->err),
                 ERR_SCHEMA_VIOLATION);
    ASSERT_CONTAINS(test_err_text(t), "policy.yaml:6");
}

TEST(the_example_policy_is_sound_and_proved_for_one_call)
{
    const char *path = arena_printf(&t->arena, "%s/share/policy.example.yaml", test_source_root());
    AUTO(bp_policy) policy = NULL;
    AUTO_REPORT report = { .program = NULL };
    const struct bp_program *program;

    ASSERT_OK(bp_policy_load(path, &policy, &t->err));
    ASSERT_OK(run_program_with_policy(policy, &t->arena, &program, &t->err));
    ASSERT(program != &run_program);
    ASSERT_OK(bp_check(program, &(struct bp_check_options){ .keys = 1 }, &report, &t->err));
    ASSERT_EQ(bp_report_verdict(&report), BP_PROVED);
}
