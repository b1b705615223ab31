/* Policies at their bounds, names that need care, and what guards do once they are applied.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>

#include "base/alloc.h"
#include "base/yaml.h"
#include "bp/engine.h"
#include "bp/policy.h"
#include "bp/programs/approval_int.h"
#include "bp/programs/programs_int.h"
#include "harness/test.h"

#define V "version: 1\n"

/* NULL when the policy is taken by `approval`, else the message after "p:". */
static const char *refusal(struct test *t, const char *text)
{
    AUTO_YAML yaml = YAML_INIT;
    AUTO(bp_policy) policy = NULL;
    const struct bp_program *p;
    const char *message;

    err_reset(&t->err);
    ASSERT_OK(yaml_parse(str_from(text), "p", &yaml, &t->err));
    if (bp_policy_parse(&yaml, "p", &policy, &t->err) >= 0 &&
        bp_policy_apply(&bp_program_approval, policy, &t->arena, &p, &t->err) >= 0)
        return NULL;
    message = strstr(test_err_text(t), "p:");
    ASSERT(message != NULL);
    return arena_text(&t->arena, message + 2);
}

static const char *repeated(struct test *t, const char *before, const char *each, int n)
{
    AUTO_BUF text = BUF_INIT(1 << 16);

    buf_add_text(&text, before);
    for (int i = 0; i < n; i++)
        buf_printf(&text, each, i); /* NOLINT: every form takes one number */
    return arena_text(&t->arena, buf_text(&text));
}

static void expect(struct test *t, const char *text, const char *message)
{
    const char *got = refusal(t, text);

    if (!message ? !got : got && strstr(got, message))
        test_case_passed();
    else
        test_case_failed("%.200s\n   gives: %s\n   not:   %s", text, got ? got : "(taken)",
                         message ? message : "(taken)");
}

#define GUARD_LINE "  - { name: g%d, points: [{ block: act }] }\n"
#define POINT_LINE "      - { wait: { on: act, go: %d } }\n"
#define EACH_HEAD  V "guards:\n  - name: mine\n    each: call\n    points:\n"

TEST(the_bounds_of_a_policy_are_exact)
{
    expect(t, repeated(t, V "guards:\n", GUARD_LINE, POLICY_GUARDS_MAX), NULL);
    expect(t, repeated(t, V "guards:\n", GUARD_LINE, POLICY_GUARDS_MAX + 1),
           "guards must be a list of at most 64");
    expect(t,
           repeated(t, EACH_HEAD, "      - { wait: act, block: { on: ask, has: risky } } # %d\n",
                    POLICY_POINTS_MAX),
           NULL);
    expect(t, repeated(t, EACH_HEAD, "      - wait: act # %d\n", POLICY_POINTS_MAX + 1),
           "guard mine: points must be a list of 1 to 16 points");
    expect(t, repeated(t, V "classify:\n", "  a%d: 'true'\n", POLICY_ATTRIBUTES_MAX), NULL);
    expect(t, repeated(t, V "classify:\n", "  a%d: 'true'\n", POLICY_ATTRIBUTES_MAX + 1),
           "27:3: classify: more than 24 attributes");
    expect(t, repeated(t, EACH_HEAD, POINT_LINE, 1), NULL);
    expect(t, EACH_HEAD "      - wait: [act, ask, acted, edit]\n", NULL);
    expect(t, EACH_HEAD "      - wait: [act, ask, acted, edit, answer]\n",
           "6:15: guard mine, point 0: wait has too many selectors: a point takes 4");
    expect(t, EACH_HEAD "      - interrupt: [act, ask, acted, edit, answer]\n",
           "6:20: guard mine, point 0: interrupt has too many selectors: a point takes 4");
    expect(t, EACH_HEAD "      - block: [act, ask, acted]\n", NULL);
}

#define N16 "abcdefghijklmnop"
#define N64 N16 N16 N16 N16

static const struct {
    const char *name;
    bool taken;
} names[] = {
    { "a", true },         { "_", true },      { "'-'", true },         { "A-z_9", true },
    { N64, true },         { N64 "q", false }, { "9a", false },         { "'a b'", false },
    { "'a.b'", false },    { "''", false },    { "'\xc3\xbc'", false }, { "'a/b'", false },
    { "{ a: b }", false }, { "[a]", false },   { "12", false },         { "true", false },
};

TEST(names_of_guards_are_plain_words)
{
    for (unsigned i = 0; i < ARRAY_LEN(names); i++) {
        char text[256];

        snprintf(text, sizeof(text), V "guards:\n  - name: %s\n    points: [{ block: act }]\n",
                 names[i].name);
        expect(t, text, names[i].taken ? NULL : "guards[0]: name must be a name of letters");
    }
}

static const struct {
    const char *point, *message;
} each_points[] = {
    { "{ wait: { on: act, go: 0 } }", NULL },
    { "{ wait: { on: act, go: end } }", NULL },
    { "{ wait: { on: act, go: 1.0 } }", "go must be \"end\" or the number of a point, 0 to 0" },
    { "{ wait: { on: act, go: 'End' } }", "go must be \"end\" or the number of a point, 0 to 0" },
    { "{ wait: { on: act, go: [0] } }", "go must be \"end\" or the number of a point, 0 to 0" },
    { "{ wait: { on: act, go: 99999999999 } }", "go must be \"end\" or the number" },
    { "{ wait: { on: act, times: 2 } }", "has \"times\"; allowed are on, has, lacks and go" },
    { "{ interrupt: { on: act, go: 0 } }", "has \"go\"; allowed are on, has and lacks" },
    { "{ wait: { on: [act, 7] } }", "on must be a name of letters" },
    { "{ wait: 7 }", "must be a map with on, has, lacks and go" },
    { "{ block: 7 }", "must be a map with on, has and lacks" },
    { "{ wait: 'a b' }", "an event must be a name of letters" },
    { "{ wait: { on: act, has: [risky, 'a b'] } }", "has must be a name of letters" },
    { "{ wait: { on: act, lacks: {} } }", "lacks must be a name of letters" },
    { "{ wait: { on: act, lacks: pink } }", "there is no attribute pink" },
    { "{ request: denied, block: act }", NULL },
    { "{ request: settled }", "may not request settled; policies may request denied" },
    { "{ request: nothing }", "may not request nothing; policies may request denied" },
    { "{ bad: true }", "has \"bad\"; allowed are request, wait, block and interrupt" },
    { "{ wait: thought, block: done }", NULL },
    { "{ wait: [[act]] }", "must be a map with on, has, lacks and go" },
    { "[]", "must be a map with request, wait, block and interrupt" },
};

TEST(a_point_of_a_guard_takes_what_it_may_and_refuses_the_rest)
{
    for (unsigned i = 0; i < ARRAY_LEN(each_points); i++) {
        char text[256], place[320];

        snprintf(text, sizeof(text), EACH_HEAD "      - %s\n", each_points[i].point);
        snprintf(place, sizeof(place), "guard mine, point 0: %s",
                 each_points[i].message ? each_points[i].message : "");
        expect(t, text, each_points[i].message ? place : NULL);
    }
}

/* ---- what guards do ---- */

static const struct bp_program *applied(struct test *t, const char *text,
                                        struct bp_policy **ret_policy)
{
    AUTO_YAML yaml = YAML_INIT;
    const struct bp_program *p;

    ASSERT_OK(yaml_parse(str_from(text), "p", &yaml, &t->err));
    ASSERT_OK(bp_policy_parse(&yaml, "p", ret_policy, &t->err));
    ASSERT_OK(bp_policy_apply(&bp_program_approval, *ret_policy, &t->arena, &p, &t->err));
    return p;
}

TEST(guards_come_last_in_order_and_new_attributes_get_the_next_bits)
{
    AUTO(bp_policy) policy = NULL;
    const struct bp_program *p =
        applied(t,
                V "classify: { one: 'true', risky: 'false', two: 'true' }\n"
                  "guards:\n"
                  "  - { name: b, points: [{ block: act }] }\n"
                  "  - { name: a, each: call, points: [{ wait: act }] }\n",
                &policy);
    unsigned own = bp_program_approval.thread_count;

    ASSERT_EQ(p->thread_count, own + 2);
    ASSERT_TEXT(p->threads[own].name, "b");
    ASSERT_EQ(p->threads[own].kind, BP_GUARD);
    ASSERT_EQ(p->threads[own].spawn.types, 0);
    ASSERT_TEXT(p->threads[own + 1].name, "a");
    ASSERT_EQ(p->threads[own + 1].spawn.types, BP_TYPE(EV_CALL));
    ASSERT(p->threads[own + 1].at[0].wait[0].mine);
    ASSERT(!p->threads[own].at[0].block[0].mine);
    ASSERT_EQ(p->bit_count, bp_program_approval.bit_count + 2);
    ASSERT_TEXT(p->bits[4], "one");
    ASSERT_TEXT(p->bits[5], "two");
    /* Events that begin or rewrite a key may carry them, others may not. */
    ASSERT_EQ(p->types[EV_CALL].bits & 0x30, 0x30);
    ASSERT_EQ(p->types[EV_EDIT].bits & 0x30, 0x30);
    ASSERT_EQ(p->types[EV_ANSWER].bits & 0x30, 0);
    ASSERT_EQ(p->types[EV_PROMPT].bits & 0x30, 0);
    ASSERT_EQ(bp_policy_classify(policy, p, &(struct expr_facts){ .tool = STR("x") }), 0x30);
    ASSERT_EQ(bp_policy_classify(policy, &bp_program_approval, &(struct expr_facts){ STR("x") }),
              0);
}

TEST(a_guard_of_each_call_blocks_its_own_call_only)
{
    AUTO(bp_policy) policy = NULL;
    const struct bp_program *p =
        applied(t,
                V "classify: { slow: 'true' }\nguards:\n"
                  "  - { name: held, each: { on: call, has: slow }, points: [{ block: act }] }\n",
                &policy);
    struct bp_engine *e = bp_new(p, 3, NULL);
    unsigned call = (unsigned)bp_thread_find(p, "call");

    ASSERT_EQ(bp_offer(e, &(struct bp_event){ .type = EV_PROMPT }, NULL), 0);
    ASSERT_EQ(bp_offer(e, &(struct bp_event){ .type = EV_CALL, .key = 1, .bits = 16 }, NULL), 0);
    ASSERT_EQ(bp_offer(e, &(struct bp_event){ .type = EV_CALL, .key = 2 }, NULL), 0);
    ASSERT_EQ(bp_offer(e, &(struct bp_event){ .type = EV_THOUGHT, .bits = MORE }, NULL), 0);
    ASSERT_EQ(bp_point_of(e, call, 1), 1); /* still wants to act */
    ASSERT_EQ(bp_point_of(e, call, 2), 2); /* acts */
    bp_free(e);
}
