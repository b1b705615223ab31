/* SPDX-License-Identifier: MIT */
#include "bp/verify.h"

#include <json-c/json.h>
#include <stdlib.h>

#include "base/clock.h"
#include "bp/programs/programs_int.h"
#include "small.h"

static int verify(struct test *t, const struct bp_verify_options *options, const char **ret_text)
{
    char *text = NULL;
    size_t n = 0;
    FILE *out = open_memstream(&text, &n);
    int r = bp_verify_all(options, out, &t->err);

    fclose(out);
    *ret_text = arena_copy(&t->arena, text, n);
    free(text);
    return r;
}

TEST(verify_prints_every_program_with_its_proved_properties_and_states)
{
    const char *text;

    ASSERT_EQ(verify(t, &(struct bp_verify_options){ .keys = 0 }, &text), BP_PROVED);
    ASSERT_CONTAINS(text, "approval: a structured turn");
    ASSERT_CONTAINS(text, "modes: ");
    ASSERT_CONTAINS(text, "lease: ");
    ASSERT_CONTAINS(text, "  proved    never_dangerous              10 states, ");
    ASSERT_CONTAINS(text, "rests on no_danger\n");
    ASSERT_CONTAINS(text, "  proved    progress ");
    ASSERT(!strstr(text, "violated"));
}

TEST(verify_prints_the_counterexample_of_a_broken_program)
{
    const struct bp_program *programs[] = { NULL, NULL };
    struct bp_verify_options options = { .programs = programs };
    const char *text;

    programs[0] = bp_program_without(&bp_program_approval, "refuse_danger", &t->arena);
    ASSERT_EQ(verify(t, &options, &text), BP_VIOLATED);
    ASSERT_CONTAINS(text, "  violated  progress ");
    ASSERT_CONTAINS(
        text,
        "     3. call(1, dangerous)            from outside\n"
        "     => from here no done can be reached without a person stepping in\n"
        "     4. thought                       from outside\n"
        "    then:\n"
        "        call(1) at 1 (wants to act): act(1, dangerous) is blocked by no_danger at 0\n"
        "        loop at 4 (wants to be done): done is blocked by call(1) at 1 (wants to act)\n");
}

TEST(verify_reports_what_is_never_reached)
{
    const struct bp_program *programs[] = { NULL, NULL };
    struct bp_verify_options options = { .programs = programs };
    const char *text;

    programs[0] = bp_program_without(&bp_program_lease, "worker", &t->arena);
    verify(t, &options, &text);
    ASSERT_CONTAINS(text, "  never at  one_holder 1 (holds)\n");
    ASSERT_CONTAINS(text, "  never     write\n");
    options.json = true;
    verify(t, &options, &text);
    ASSERT_CONTAINS(text, "\"never\":\"write\"");
    ASSERT_CONTAINS(text, "\"neverAt\":{\"thread\":\"one_holder\"");
}

TEST(verify_writes_one_json_object_a_line)
{
    const struct bp_program *programs[] = { NULL, NULL };
    struct bp_verify_options options = { .programs = programs, .json = true };
    unsigned lines = 0, violated = 0;
    const char *text;
    struct str rest, line;

    programs[0] = bp_program_without(&bp_program_modes, "no_danger", &t->arena);
    ASSERT_EQ(verify(t, &options, &text), BP_VIOLATED);
    rest = str_from(text);
    while (str_split(&rest, '\n', &line) && line.n) {
        struct json_object *o = json_tokener_parse(arena_copy(&t->arena, line.p, line.n)), *field;

        ASSERT(o != NULL);
        if (json_object_object_get_ex(o, "counterexample", &field)) {
            violated++;
            ASSERT(json_object_object_get_ex(field, "steps", &field));
            ASSERT(json_object_array_length(field) >= 2);
        }
        lines++;
        json_object_put(o);
    }
    ASSERT_EQ(violated, 1);
    ASSERT(lines >= 8);
}

static struct json_object *member(struct json_object *o, const char *name)
{
    struct json_object *value = NULL;

    json_object_object_get_ex(o, name, &value);
    return value;
}

TEST(a_counterexample_in_json_says_where_progress_is_lost_and_who_blocks_whom)
{
    const struct bp_program *programs[] = { NULL, NULL };
    struct bp_verify_options options = { .programs = programs, .json = true };
    struct json_object *found = NULL, *example, *stand = NULL;
    const char *text;
    struct str rest, line;

    programs[0] = bp_program_without(&bp_program_approval, "refuse_danger", &t->arena);
    ASSERT_EQ(verify(t, &options, &text), BP_VIOLATED);
    rest = str_from(text);
    while (!found && str_split(&rest, '\n', &line) && line.n)
        if (str_find(line, STR("counterexample")) >= 0)
            found = json_tokener_parse(arena_copy(&t->arena, line.p, line.n));
    ASSERT_TEXT(json_object_get_string(member(found, "property")), "progress");
    example = member(found, "counterexample");
    ASSERT_EQ(json_object_get_int64(member(example, "closedAt")), 3);
    ASSERT_EQ(json_object_array_length(member(example, "steps")), 4);
    for (size_t i = 0; i < json_object_array_length(member(example, "then")); i++) {
        struct json_object *each = json_object_array_get_idx(member(example, "then"), i);

        if (strcmp(json_object_get_string(member(each, "thread")), "call") == 0)
            stand = each;
    }
    ASSERT_TEXT(json_object_get_string(member(stand, "requests")), "act(1, dangerous)");
    ASSERT_TEXT(json_object_get_string(member(member(stand, "blockedBy"), "thread")), "no_danger");
    json_object_put(found);
}

/* A tenth of a second goes by whenever it is asked. */
static int64_t ticking_ns(struct clock *clock)
{
    struct clock_fake *fake = (struct clock_fake *)clock;

    return fake->mono_now_ns += 100 * 1000 * 1000;
}

/* What is shown while the modes are proved with three keys and all threads: many states. */
static const char *shown(struct test *t, struct clock *clock)
{
    const struct bp_program *programs[] = { &bp_program_approval, NULL };
    char *drawn = NULL;
    size_t n = 0;
    FILE *terminal = open_memstream(&drawn, &n);
    struct bp_verify_options options = {
        .programs = programs, .progress = terminal, .clock = clock, .states_max = 100000
    };
    const char *text;

    ASSERT_EQ(verify(t, &options, &text), BP_PROVED);
    ASSERT(!strchr(text, '\r'));
    fclose(terminal);
    text = arena_copy(&t->arena, drawn, n);
    free(drawn);
    return text;
}

TEST(a_long_proof_shows_one_line_that_changes_and_goes_away)
{
    struct clock_fake still, ticking;
    const char *text;

    clock_fake_init(&still, 0);
    ASSERT_TEXT(shown(t, &still.clock), "");
    clock_fake_init(&ticking, 0);
    ticking.clock.mono_ns = ticking_ns;
    text = shown(t, &ticking.clock);
    ASSERT_CONTAINS(text, "\r\033[Kapproval, risky_needs_yes: ");
    ASSERT_CONTAINS(text, " % of the bound), ");
    ASSERT(!strchr(text, '\n'));
    ASSERT_TEXT(text + strlen(text) - 4, "\r\033[K");
}

TEST(a_program_without_a_final_event_says_that_progress_was_not_asked)
{
    static const struct bp_point one[] = { { .wait = { BP_ON(X) } } };
    static const struct bp_thread threads[] = { { BP_TABLE("one", one) } };
    struct bp_type types[SMALL_TYPES];
    struct bp_program program = SMALL(threads);
    const struct bp_program *programs[] = { &program, NULL };
    const char *text;

    memcpy(types, small_types, sizeof(types));
    types[FIN].flags = 0;
    program.types = types;
    ASSERT_EQ(verify(t, &(struct bp_verify_options){ .programs = programs, .keys = 1 }, &text),
              BP_PROVED);
    ASSERT_CONTAINS(text, "  skipped   progress                     no event is FINAL; 4 states\n");
}

TEST(verify_applies_a_policy_to_the_programs_it_is_for)
{
    static const char policy[] = "version: 1\n"
                                 "guards:\n"
                                 "  - name: never\n"
                                 "    points: [{ block: act }]\n";
    const char *path = test_path(t, "policy.yaml"), *text;
    struct bp_verify_options options = { .policy_path = path };

    test_write_file(path, policy, sizeof(policy) - 1);
    ASSERT_EQ(verify(t, &options, &text), BP_VIOLATED);
    ASSERT_CONTAINS(text, "approval: ");
    ASSERT(!strstr(text, "lease: "));
    ASSERT_CONTAINS(text, "  proved    risky_needs_yes ");
    ASSERT_CONTAINS(text, "  violated  progress ");
    ASSERT_CONTAINS(text, "never at 0\n");
}

TEST(verify_refuses_a_policy_that_guards_nothing_and_names_the_slip)
{
    static const char policy[] = "version: 1\nguards:\n  - name: a\n    points: [{ block: akt }]\n";
    const char *path = test_path(t, "policy.yaml"), *text;

    test_write_file(path, policy, sizeof(policy) - 1);
    ASSERT_EQ(verify(t, &(struct bp_verify_options){ .policy_path = path }, &text), -1);
    ASSERT_EQ(t->err.code, ERR_NOT_FOUND);
    ASSERT_CONTAINS(test_err_text(t), "policy.yaml:4:23: no program knows an event akt");
    ASSERT_TEXT(text, "");
    test_write_file(path, "version: 1\nfor: modes\n", 22);
    err_reset(&t->err);
    ASSERT_EQ(verify(t, &(struct bp_verify_options){ .policy_path = path, .only = "lease" }, &text),
              -1);
    ASSERT_TEXT(test_err_text(t), "there is no program lease that the policy is for");
}

TEST(verify_says_when_there_is_nothing_to_verify_or_a_bound_is_reached)
{
    const char *text;

    ASSERT_EQ(verify(t, &(struct bp_verify_options){ .only = "nothing" }, &text), -1);
    ASSERT_EQ(t->err.code, ERR_NOT_FOUND);
    ASSERT_CONTAINS(test_err_text(t), "there is no program nothing");
    err_reset(&t->err);
    ASSERT_EQ(verify(t, &(struct bp_verify_options){ .policy_path = "/nonexistent/p.yaml" }, &text),
              -1);
    ASSERT_EQ(t->err.code, ERR_NOT_FOUND);
    ASSERT_EQ(verify(t,
                     &(struct bp_verify_options){
                         .only = "approval", .states_max = 100, .progress = NULL },
                     &text),
              BP_BOUND);
    ASSERT_CONTAINS(text, "  bound     risky_needs_yes ");
    ASSERT_CONTAINS(text, "; gave up, a larger --bound goes on: the rest is unknown\n");
}
