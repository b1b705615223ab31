/* A person's own guards on the program of runs.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bp/policy.h"

#include "base/rand.h"
#include "base/yaml.h"
#include "bp/engine.h"
#include "proof.h"
#include "run/rules.h"
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

/* `dormouse verify` proves it for three, which takes a while here. */
TEST(the_example_policy_is_sound_and_proved_for_two_calls)
{
    const char *path = arena_printf(&t->arena, "%s/share/policy.example.yaml", test_source_root());
    AUTO(bp_policy) policy = NULL;
    AUTO_REPORT report = { .program = NULL };
    const struct bp_program *program;

    ASSERT_OK(bp_policy_load(path, &policy, &t->err));
    ASSERT_OK(run_program_with_policy(policy, &t->arena, &program, &t->err));
    ASSERT(program != &run_program);
    ASSERT_OK(bp_check(program, &(struct bp_check_options){ .keys = 2 }, &report, &t->err));
    ASSERT_EQ(bp_report_verdict(&report), BP_PROVED);
}

/* What a start refuses: each would leave a run that neither goes on nor ends. */
TEST(a_policy_under_which_a_run_could_hang_is_refused)
{
    static const struct {
        const char *guard, *says;
    } cases[] = {
        { "      - block: [{ on: act }]\n", "`act`" },
        { "      - block: [{ on: done }]\n", "`done`" },
        { "      - block: [{ on: think }]\n", "`think`" },
        { "      - block: [{ on: gate }]\n", "`gate`" },
        { "      - block: [{ on: settled }]\n", "`settled`" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const char *text = arena_printf(
            &t->arena, "version: 1\nfor: [run]\nguards:\n  - name: holds_it\n    points:\n%s",
            cases[i].guard);
        AUTO(bp_policy) policy = parse(t, text);
        const struct bp_program *program;

        ASSERT_OK(run_program_with_policy(policy, &t->arena, &program, &t->err));
        ASSERT_FAILS(run_policy_check(program, &t->err), ERR_SCHEMA_VIOLATION);
        ASSERT_CONTAINS(test_err_text(t), "holds_it keeps");
        ASSERT_CONTAINS(test_err_text(t), cases[i].says);
        err_reset(&t->err);
    }
}

TEST(the_example_policy_and_none_are_taken_at_a_start)
{
    const char *path = arena_printf(&t->arena, "%s/share/policy.example.yaml", test_source_root());
    AUTO(bp_policy) policy = NULL;
    const struct bp_program *program;

    ASSERT_OK(bp_policy_load(path, &policy, &t->err));
    ASSERT_OK(run_program_with_policy(policy, &t->arena, &program, &t->err));
    ASSERT_EQ(run_policy_check(program, &t->err), 1);
    ASSERT_EQ(run_policy_check(&run_program, &t->err), 1);
}

/* ---- a policy that changes ---- */

/* Whatever a policy does beyond blocking is to deny; who may do that at any moment stands for every
 * policy there was before. So what is proved here holds for runs whose policy changed, too. */
TEST(safety_does_not_depend_on_when_a_policy_denies)
{
    static const struct bp_point denies[] = { { .request = BP_MINE(RUN_EV_DENIED) } };
    struct bp_thread *threads =
        ARENA_NEW_N(&t->arena, struct bp_thread, run_program.thread_count + 1u);
    struct bp_program program = run_program;
    AUTO_REPORT report = { .program = NULL };

    memcpy(threads, run_program.threads, run_program.thread_count * sizeof(*threads));
    threads[run_program.thread_count] =
        (struct bp_thread){ BP_TABLE("any_policy", denies), .kind = BP_GUARD,
                            .spawn = BP_ON(RUN_EV_CALL) };
    program.threads = threads;
    program.thread_count++;
    ASSERT_OK(bp_check(&program, &(struct bp_check_options){ .keys = 2 }, &report, &t->err));
    for (unsigned i = 0; i < report.finding_count; i++)
        if (strcmp(report.findings[i].name, BP_PROGRESS) != 0)
            ASSERT_EQ(report.findings[i].verdict, BP_PROVED);
}

static void remember(void *ctx, const struct bp_event *event, const struct bp_place *by)
{
    (void)by;
    run_past_add(ctx, event);
}

#define ENDS (BP_TYPE(RUN_EV_CANCEL) | BP_TYPE(RUN_EV_SPENT) | BP_TYPE(RUN_EV_KILL))

/* A random event from outside, if the engine takes it. */
static void step(struct bp_engine *engine, const struct bp_program *program, struct rand *rand)
{
    struct bp_event event = { .type = (uint8_t)(1 + rand_below(rand, RUN_EV_COUNT - 1)) };
    const struct bp_type *type = &program->types[event.type];

    if (!(type->flags & BP_EXT) || event.type == RUN_EV_POLICY ||
        (ENDS >> event.type & 1 && rand_below(rand, 50)))
        return;
    if (type->flags & BP_KEYED)
        event.key = (uint16_t)(1 + rand_below(rand, 3));
    event.bits =
        (uint32_t)(rand_below(rand, UINT32_MAX) & rand_below(rand, UINT32_MAX)) & type->bits;
    if (event.type == RUN_EV_THOUGHT && rand_below(rand, 8))
        event.bits = RUN_MORE;
    if (type->bits & RUN_JUDGED_BITS & RUN_RISKY)
        event.bits = run_judgement(event.bits);
    bp_offer(engine, &event, NULL);
}

/* Engines of two policies, led by the same past. */
static void compare(const struct bp_engine *a, const struct bp_engine *b)
{
    ASSERT_EQ(bp_record(a, 0), bp_record(b, 0));
    for (uint16_t key = 0; key <= RUN_CALLS_MAX; key++) {
        ASSERT_EQ(bp_key_lives(a, key), bp_key_lives(b, key));
        ASSERT_EQ(bp_record(a, key) & ~RUN_POLICY_BITS, bp_record(b, key) & ~RUN_POLICY_BITS);
        for (unsigned i = 0; i < run_program.thread_count; i++) {
            ASSERT_EQ(bp_point_of(a, i, key), bp_point_of(b, i, key));
            ASSERT_EQ(bp_count_of(a, i, key), bp_count_of(b, i, key));
        }
    }
}

TEST(everything_but_the_policys_guards_stands_where_it_stood_after_a_change)
{
    AUTO(bp_policy) network = parse(t, BLOCKS REFUSES);
    AUTO(bp_policy)
    other = parse(t, "version: 1\n"
                     "classify:\n"
                     "  a: tool == \"x\"\n"
                     "  network: tool == \"y\"\n"
                     "guards:\n"
                     "  - name: twice\n"
                     "    each: { on: call, has: [a] }\n"
                     "    points:\n"
                     "      - wait: [{ on: thought }]\n"
                     "      - request: denied\n"
                     "        block: [{ on: act }]\n");
    const struct bp_program *programs[3] = { &run_program };
    size_t events = 0, acts = 0;

    ASSERT_OK(run_program_with_policy(network, &t->arena, &programs[1], &t->err));
    ASSERT_OK(run_program_with_policy(other, &t->arena, &programs[2], &t->err));
    for (uint64_t seed = 1; seed <= 400; seed++) {
        struct rand_fake rand;
        struct run_past past = { 0 };
        struct run_change change = { 0 };
        const struct bp_program *from = programs[seed % 3], *to = programs[(seed / 3) % 3];
        const struct bp_options options = { .selected = remember, .ctx = &past };
        AUTO(bp_engine) was = bp_new(from, RUN_CALLS_MAX, &options);
        AUTO(bp_engine) is = bp_new(to, RUN_CALLS_MAX, NULL);

        rand_fake_init(&rand, seed);
        for (int i = 0; i < 300; i++)
            step(was, from, &rand.rand);
        for (unsigned key = 1; key <= RUN_CALLS_MAX; key++)
            change.attributes[key] = to->types[RUN_EV_CALL].bits & RUN_POLICY_BITS &
                                     (uint32_t)rand_below(&rand.rand, UINT32_MAX);
        ASSERT_OK(run_change_follow(is, &past, &change, &t->err));
        compare(was, is);
        for (uint16_t key = 1; key <= RUN_CALLS_MAX; key++)
            if (bp_key_lives(is, key))
                ASSERT_EQ(bp_record(is, key) & RUN_POLICY_BITS, change.attributes[key]);
        events += past.count;
        for (size_t i = 0; i < past.count; i++)
            acts += past.events[i].type == RUN_EV_ACT;
        run_past_release(&past);
    }
    ASSERT(events > 2000);
    ASSERT(acts > 50);
}

TEST(a_past_that_can_not_have_been_is_not_followed)
{
    static const struct bp_event odd[] = {
        { .type = RUN_EV_ACT, .key = 1 },  /* of no call */
        { .type = RUN_EV_CALL, .key = 0 }, /* without a key */
        { .type = RUN_EV_CALL, .key = RUN_CALLS_MAX + 1 },
        { .type = RUN_EV_THINK, .key = 1 }, /* with one */
        { .type = RUN_EV_COUNT },
        { .type = RUN_EV_NONE },
    };

    for (size_t i = 0; i < ARRAY_LEN(odd); i++) {
        AUTO(bp_engine) engine = bp_new(&run_program, RUN_CALLS_MAX, NULL);

        ASSERT_EQ(bp_follow(engine, &odd[i]), -1);
        ASSERT_EQ(bp_follow(engine, &(struct bp_event){ .type = RUN_EV_START }), 0);
        ASSERT_EQ(bp_point_of(engine, 0, 0), 1);
    }
}

TEST(what_a_change_says_is_read_as_it_was_written)
{
    struct run_change change = { .hash = { 1, 2, 0xff },
                                 .attributes = { [3] = 1u << 16, [32] = 1u << 31 } };
    struct run_change back;
    AUTO_BUF text = BUF_INIT(4096);
    static const struct {
        const char *text, *says;
    } broken[] = {
        { "", "" },
        { "{}", "it does not say under which rules" },
        { "{\"program\":\"12\"}", "it does not say under which rules" },
        { "{\"program\":\"%s\",\"calls\":{\"1\":1}}", "call 1 has attributes of no policy" },
        { "{\"program\":\"%s\",\"calls\":{\"32\":-1}}", "call 32 has attributes of no policy" },
        { "{\"program\":\"%s\",\"calls\":{\"2\":4294967296}}",
          "call 2 has attributes of no policy" },
        { "{\"program\":\"%s\",\"calls\":{\"2\":\"x\"}}", "" },
    };

    run_change_write(&change, &text);
    ASSERT_OK(run_change_read(buf_str(&text), &back, &t->err));
    ASSERT(memcmp(&change, &back, sizeof(back)) == 0);
    for (size_t i = 0; i < ARRAY_LEN(broken); i++) {
        const char *at = strstr(broken[i].text, "%s");
        const char *whole = at ? arena_printf(&t->arena, "%.*s%064d%s", (int)(at - broken[i].text),
                                              broken[i].text, 7, at + 2)
                               : broken[i].text;

        ASSERT(run_change_read(str_from(whole), &back, &t->err) < 0);
        ASSERT_CONTAINS(test_err_text(t), broken[i].says);
        err_reset(&t->err);
    }
}
