/* SPDX-License-Identifier: MIT */
#include "bp/policy.h"

#include <stdio.h>

#include "base/alloc.h"
#include "base/yaml.h"
#include "bp/engine.h"
#include "bp/programs/approval_int.h"
#include "bp/programs/programs_int.h"
#include "variant.h"

static struct bp_policy *parse(struct test *t, const char *text)
{
    AUTO_YAML yaml = YAML_INIT;
    struct bp_policy *policy = NULL;

    ASSERT_OK(yaml_parse(str_from(text), "policy.yaml", &yaml, &t->err));
    ASSERT_OK(bp_policy_parse(&yaml, "policy.yaml", &policy, &t->err));
    return policy;
}

/* The message of a policy that must be refused, by parsing or by applying it to `approval`. */
static const char *refusal(struct test *t, const char *text)
{
    AUTO_YAML yaml = YAML_INIT;
    AUTO(bp_policy) policy = NULL;
    const struct bp_program *combined;

    err_reset(&t->err);
    ASSERT_OK(yaml_parse(str_from(text), "policy.yaml", &yaml, &t->err));
    if (bp_policy_parse(&yaml, "policy.yaml", &policy, &t->err) >= 0 &&
        bp_policy_apply(&bp_program_approval, policy, &t->arena, &combined, &t->err) >= 0)
        FAIL("accepted:\n%s", text);
    return test_err_text(t);
}

#define NO_NETWORK                                                                                 \
    "version: 1\n"                                                                                 \
    "classify:\n"                                                                                  \
    "  network: tool in [\"fetch\", \"search\"] or args.url exists\n"                              \
    "  risky: tool == \"bash\"\n"                                                                  \
    "guards:\n"                                                                                    \
    "  - name: no_network\n"                                                                       \
    "    points:\n"                                                                                \
    "      - block: [{ on: act, has: network }]\n"

#define WAY_OUT                                                                                    \
    "  - name: refuse_network\n"                                                                   \
    "    each: { on: [call, edit], has: [network] }\n"                                             \
    "    points:\n"                                                                                \
    "      - request: denied\n"                                                                    \
    "        interrupt: { on: edit, lacks: network }\n"

TEST(a_guard_that_only_blocks_keeps_safety_and_its_missing_way_out_is_found)
{
    AUTO(bp_policy) policy = parse(t, NO_NETWORK);
    const struct bp_program *p;

    ASSERT_OK(bp_policy_apply(&bp_program_approval, policy, &t->arena, &p, &t->err));
    expect_proved(t, p, BP_PROGRESS);
    ASSERT_CONTAINS(counterexample(t, p, BP_PROGRESS), "call(1, network)");
}

TEST(a_guard_with_a_way_out_is_proved_whole)
{
    AUTO(bp_policy) policy = parse(t, NO_NETWORK WAY_OUT);
    const struct bp_program *p;

    ASSERT_OK(bp_policy_apply(&bp_program_approval, policy, &t->arena, &p, &t->err));
    expect_proved(t, p, NULL);
    ASSERT_EQ(p->thread_count, bp_program_approval.thread_count + 2);
    ASSERT_EQ(p->bit_count, bp_program_approval.bit_count + 1);
}

TEST(an_engine_with_the_policy_refuses_what_it_classifies)
{
    AUTO(bp_policy) policy = parse(t, NO_NETWORK WAY_OUT);
    struct expr_facts facts = { STR("fetch"), STR("coach"), STR("structured"), NULL };
    struct bp_event call = { .type = EV_CALL, .key = 1 };
    const struct bp_program *p;
    struct bp_engine *engine;

    ASSERT_OK(bp_policy_apply(&bp_program_approval, policy, &t->arena, &p, &t->err));
    call.bits = bp_policy_classify(policy, p, &facts);
    ASSERT_EQ(call.bits, 1u << 4);
    facts.tool = STR("bash");
    ASSERT_EQ(bp_policy_classify(policy, p, &facts), RISKY);
    engine = bp_new(p, 3, NULL);
    ASSERT_EQ(bp_offer(engine, &(struct bp_event){ .type = EV_PROMPT }, NULL), 0);
    ASSERT_EQ(bp_offer(engine, &call, NULL), 0);
    /* denied and settled at once */
    ASSERT(!bp_key_lives(engine, 1));
    bp_free(engine);
}

TEST(an_edit_that_takes_the_attribute_away_frees_the_call)
{
    AUTO(bp_policy) policy = parse(t, NO_NETWORK);
    const struct bp_program *p;
    struct bp_engine *engine;

    ASSERT_OK(bp_policy_apply(&bp_program_approval, policy, &t->arena, &p, &t->err));
    engine = bp_new(p, 3, NULL);
    bp_offer(engine, &(struct bp_event){ .type = EV_PROMPT }, NULL);
    bp_offer(engine, &(struct bp_event){ .type = EV_CALL, .key = 1, .bits = 1u << 4 }, NULL);
    bp_offer(engine, &(struct bp_event){ .type = EV_THOUGHT, .bits = MORE }, NULL);
    ASSERT_EQ(bp_point_of(engine, (unsigned)bp_thread_find(p, "call"), 1), 1);
    ASSERT_EQ(bp_offer(engine, &(struct bp_event){ .type = EV_EDIT, .key = 1 }, NULL), 0);
    ASSERT_EQ(bp_point_of(engine, (unsigned)bp_thread_find(p, "call"), 1), 2);
    bp_free(engine);
}

TEST(a_policy_is_part_of_the_programs_identity)
{
    AUTO(bp_policy) policy = parse(t, NO_NETWORK);
    const struct bp_program *p, *again;
    uint8_t plain[BP_HASH_BYTES], with[BP_HASH_BYTES], with_again[BP_HASH_BYTES];

    ASSERT_OK(bp_policy_apply(&bp_program_approval, policy, &t->arena, &p, &t->err));
    ASSERT_OK(bp_policy_apply(&bp_program_approval, policy, &t->arena, &again, &t->err));
    bp_program_hash(&bp_program_approval, plain);
    bp_program_hash(p, with);
    bp_program_hash(again, with_again);
    ASSERT(memcmp(plain, with, sizeof(with)) != 0);
    ASSERT(memcmp(with, with_again, sizeof(with)) == 0);
}

TEST(a_policy_is_for_the_programs_it_names_or_whose_events_it_uses)
{
    AUTO(bp_policy) by_events = parse(t, NO_NETWORK);
    AUTO(bp_policy) by_name = parse(t, "version: 1\nfor: [modes]\n");

    ASSERT(bp_policy_is_for(by_events, &bp_program_approval));
    ASSERT(bp_policy_is_for(by_events, &bp_program_modes));
    ASSERT(!bp_policy_is_for(by_events, &bp_program_lease));
    ASSERT(bp_policy_is_for(by_name, &bp_program_modes));
    ASSERT(!bp_policy_is_for(by_name, &bp_program_approval));
}

#define V             "version: 1\n"
#define GUARD(points) V "guards:\n  - name: mine\n    points:\n" points
#define EACH(points)  V "guards:\n  - name: mine\n    each: call\n    points:\n" points

/* The whole message: where, in which guard and point, what is wrong, what is allowed. */
static const struct {
    const char *text, *message;
} wrong[] = {
    { "[]", "1:1: must be a map with version, for, classify and guards" },
    { "null", "1:1: must be a map with version, for, classify and guards" },
    { "guards: []", "1:1: version must be 1" },
    { "version: 2", "1:10: version must be 1" },
    { "version: '1'", "1:11: version must be 1" },
    { "version:", "1:1: version has no value" },
    { V "rules: []", "2:1: has \"rules\"; allowed are version, for, classify and guards" },
    { V "'a/~b': []", "2:2: has \"a/~b\"; allowed are version, for, classify and guards" },
    { V "for: 7", "2:6: for must be a name of letters, digits, _ and -, at most 64 long" },
    { V "for: [a, '']", "2:11: for must be a name of letters, digits, _ and -, at most 64 long" },
    { V "for: [a, 9b]", "2:10: for must be a name of letters, digits, _ and -, at most 64 long" },
    { V "for:", "2:1: for has no value" },
    { V "classify: [a]", "2:11: classify must be a map from attributes to expressions" },
    { V "classify: { 'a b': 'true' }",
      "2:14: classify: \"a b\" is not a name of letters, digits, _ and -" },
    { V "classify: { a: 1 }", "2:16: classify.a: must be an expression in quotes" },
    { V "classify:\n  a: 'true'\n  b: 'tool ='",
      "4:7: classify.b: column 6: \"=\" stands where a comparison (== != < <= > >= in prefix suffix"
      " contains matches exists) is allowed" },
    { V "guards: {}", "2:9: guards must be a list of at most 64" },
    { V "guards: [7]", "2:10: guards[0]: must be a map with name, each and points" },
    { V "guards: [{ points: [] }]",
      "2:10: guards[0]: name must be a name of letters, digits, _ and -, at most 64 long" },
    { V "guards: [{ name: mine }]", "2:10: guard mine: points must be a list of 1 to 16 points" },
    { V "guards: [{ name: mine, points: [] }]",
      "2:32: guard mine: points must be a list of 1 to 16 points" },
    { V "guards: [{ name: mine, each: , points: [{ block: act }] }]",
      "2:24: guards[0]: each has no value" },
    { V "guards: [{ name: mine, each: { has: risky }, points: [{ block: act }] }]",
      "2:30: guard mine: on must name an event" },
    { GUARD("      - 7"),
      "5:9: guard mine, point 0: must be a map with request, wait, block and interrupt" },
    { GUARD("      - {}"),
      "5:9: guard mine, point 0: does nothing: it needs request, wait, block or interrupt" },
    { GUARD("      - wait: act"),
      "3:5: guard mine: requests or waits; a guard without `each` may only block" },
    { GUARD("      - request: denied"),
      "3:5: guard mine: requests or waits; a guard without `each` may only block" },
    { GUARD("      - block: act\n      - block: ask"),
      "3:5: guard mine: has 2 points; a guard without `each` has one, which only blocks" },
    { GUARD("      - block: { on: act, go: 0 }"),
      "5:27: guard mine, point 0: has \"go\"; allowed are on, has and lacks" },
    { GUARD("      - block: { on: act, has: }"), "5:27: guard mine, point 0: has has no value" },
    { GUARD("      - block: { has: risky }"), "5:16: guard mine, point 0: on must name an event" },
    { GUARD("      - block: [act, { on: [] }]"),
      "5:22: guard mine, point 0: on must name an event" },
    { GUARD("      - block: [a, b, c, d]"),
      "5:16: guard mine, point 0: block has too many selectors: a point takes 3" },
    { EACH("      - { wait: [a, b, c], interrupt: [d, e] }"),
      "6:17: guard mine, point 0: wait has too many selectors: a point takes 4" },
    { GUARD("      - block: [ask, fly]"),
      "5:22: guard mine, point 0: there is no event fly in approval; there are prompt, think, call,"
      " thought, ask, answer, edit, act, acted, denied, settled, observe, give_up, done, cancel,"
      " kill" },
    { GUARD("      - block: { on: act, has: pink }"),
      "5:32: guard mine, point 0: there is no attribute pink; declare it under classify" },
    { EACH("      - request: act"),
      "6:18: guard mine, point 0: may not request act; policies may request denied" },
    { EACH("      - request: thought"),
      "6:18: guard mine, point 0: may not request thought; policies may request denied" },
    { EACH("      - request: [act]"),
      "6:18: guard mine, point 0: request must be a name of letters,"
      " digits, _ and -, at most 64 long" },
    { EACH("      - wait: { on: act, go: 1 }"),
      "6:30: guard mine, point 0: go must be \"end\" or the number of a point, 0 to 0" },
    { EACH("      - wait: { on: act, go: -1 }"),
      "6:30: guard mine, point 0: go must be \"end\" or the number of a point, 0 to 0" },
    { EACH("      - wait: { on: act, go: last }"),
      "6:30: guard mine, point 0: go must be \"end\" or the number of a point, 0 to 0" },
    { EACH("      - block: { on: [act, done] }"), "6:23: guard mine, point 0: one selector names"
                                                  " events with a key and without; write two" },
    { EACH("      - wait: { on: act, go: end }\n      - block: ask"),
      "7:9: program approval: thread mine, point 1: no way leads here" },
    { EACH("      - block: { on: act, has: risky, lacks: [more, risky] }"),
      "6:53: guard mine, point 0: asks for risky and for its absence" },
    { V "guards:\n  - name: mine\n    each: prompt\n    points: [{ block: act }]",
      "4:11: guard mine: each must name events with a key: call, ask, answer, edit, act, acted,"
      " denied, settled" },
    { V "guards:\n  - name: loop\n    points: [{ block: act }]",
      "3:11: guard loop: approval already has a thread of that name" },
    { V "guards:\n  - name: a\n    points: [{ block: act }]\n"
        "  - name: a\n    points: [{ block: act }]",
      "5:11: guard a: is there twice, first in line 3" },
};

TEST(a_wrong_policy_is_refused_with_the_line_the_guard_and_what_is_allowed)
{
    for (unsigned i = 0; i < ARRAY_LEN(wrong); i++) {
        const char *message = refusal(t, wrong[i].text), *from = strstr(message, "policy.yaml:");

        if (from && strcmp(from + strlen("policy.yaml:"), wrong[i].message) == 0)
            test_case_passed();
        else
            test_case_failed("%s\n   gives: %s\n   not:   %s", wrong[i].text, message,
                             wrong[i].message);
    }
}

TEST(a_policy_has_no_room_for_more_attributes_than_there_are_bits)
{
    AUTO_BUF text = BUF_INIT(1 << 16);

    buf_add_text(&text, V "classify:\n");
    for (int i = 0; i < POLICY_ATTRIBUTES_MAX + 1; i++)
        buf_printf(&text, "  a%d: 'true'\n", i);
    ASSERT_CONTAINS(refusal(t, buf_text(&text)), "more than 24 attributes");
}

/* plaited: what interrupts comes before what is waited for. */
TEST(an_event_that_is_waited_for_and_interrupts_ends_the_guard)
{
    AUTO(bp_policy)
    policy = parse(t, EACH("      - { wait: thought, interrupt: thought }\n"
                           "      - { block: act }\n"));
    const struct bp_program *p;
    struct bp_engine *engine;

    ASSERT_OK(bp_policy_apply(&bp_program_approval, policy, &t->arena, &p, &t->err));
    engine = bp_new(p, 1, NULL);
    bp_offer(engine, &(struct bp_event){ .type = EV_PROMPT }, NULL);
    bp_offer(engine, &(struct bp_event){ .type = EV_CALL, .key = 1 }, NULL);
    ASSERT_EQ(bp_point_of(engine, (unsigned)bp_thread_find(p, "mine"), 1), 0);
    bp_offer(engine, &(struct bp_event){ .type = EV_THOUGHT }, NULL);
    ASSERT_EQ(bp_point_of(engine, (unsigned)bp_thread_find(p, "mine"), 1), -1);
    ASSERT_EQ(bp_point_of(engine, (unsigned)bp_thread_find(p, "call"), 1), 2);
    bp_free(engine);
}

TEST(guards_that_are_commented_out_leave_an_empty_policy)
{
    AUTO(bp_policy) policy = parse(t, V "classify:\n  # network: tool == 'fetch'\nguards:\n");
    const struct bp_program *p;

    ASSERT_OK(bp_policy_apply(&bp_program_approval, policy, &t->arena, &p, &t->err));
    ASSERT_EQ(p->thread_count, bp_program_approval.thread_count);
    ASSERT_EQ(p->bit_count, bp_program_approval.bit_count);
}

static const struct {
    const char *text, *message; /* NULL: fits */
} fitting[] = {
    { GUARD("      - block: act"), NULL },
    { V "for: [modes, lease]\n", NULL },
    { V, NULL },
    { V "for: [modes, aproval]\n", "policy.yaml:2:14: for names aproval, which is no program; "
                                   "there are approval, modes, lease" },
    { GUARD("      - block: { on: [act, akt] }"),
      "policy.yaml:5:28: no program knows an event akt" },
    { EACH("      - request: deny"), "policy.yaml:6:18: no program knows an event deny" },
    { EACH("      - wait: hear"), "policy.yaml:6:15: no program knows an event hear" },
    { GUARD("      - block: [act, write]"),
      "policy.yaml: no program knows all of the events; name the program under for, and guard each"
      " in a policy of its own" },
};

TEST(a_policy_that_would_guard_nothing_is_refused_with_the_name_that_nobody_knows)
{
    for (unsigned i = 0; i < ARRAY_LEN(fitting); i++) {
        AUTO(bp_policy) policy = parse(t, fitting[i].text);
        int r;

        err_reset(&t->err);
        r = bp_policy_fits(policy, bp_programs, &t->err);
        if (fitting[i].message ? r < 0 && strcmp(test_err_text(t), fitting[i].message) == 0
                               : r == 0)
            test_case_passed();
        else
            test_case_failed("%s\n   gives: %s", fitting[i].text,
                             r < 0 ? test_err_text(t) : "fine");
    }
}

TEST(a_policy_is_loaded_from_yaml_and_a_missing_file_is_said)
{
    AUTO(bp_policy) policy = NULL;
    const char *path = test_path(t, "policy.yaml");

    ASSERT_FAILS(bp_policy_load(path, &policy, &t->err), ERR_NOT_FOUND);
    test_write_file(path, NO_NETWORK, strlen(NO_NETWORK));
    ASSERT_OK(bp_policy_load(path, &policy, &t->err));
    ASSERT(bp_policy_is_for(policy, &bp_program_approval));
    test_write_file(path, "a: [", 4);
    err_reset(&t->err);
    ASSERT(bp_policy_load(path, &policy, &t->err) < 0);
    ASSERT_CONTAINS(test_err_text(t), "policy.yaml:2:1");
}
