/* SPDX-License-Identifier: MIT */
#include "bp/verify.h"

#include <json-c/json.h>
#include <stdlib.h>

#include "bp/programs/programs_int.h"
#include "harness/test.h"

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
    ASSERT_CONTAINS(text, "  bound     risky_needs_yes");
}
