/* What verify prints, whole: a verdict of each sort, as text and as JSON. Time stands still.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json.h>
#include <stdlib.h>

#include "base/clock.h"
#include "bp/verify.h"
#include "small.h"

static const char *verified(struct test *t, const struct bp_program *program, uint64_t states_max,
                            bool json, int verdict)
{
    const struct bp_program *programs[] = { program, NULL };
    struct clock_fake still;
    struct bp_verify_options options = { .programs = programs,
                                         .states_max = states_max,
                                         .keys = 1,
                                         .json = json,
                                         .clock = &still.clock };
    char *text = NULL;
    const char *copy;
    size_t n = 0;
    FILE *out = open_memstream(&text, &n);

    clock_fake_init(&still, 0);
    ASSERT_EQ(bp_verify_all(&options, out, &t->err), verdict);
    fclose(out);
    copy = arena_copy(&t->arena, text, n);
    free(text);
    return copy;
}

enum { GO = 1, RUN, HALT, END_, VERIFY_TYPES };

static const struct bp_type types[VERIFY_TYPES] = { [GO] = { "go", BP_EXT },
                                                    [RUN] = { "run" },
                                                    [HALT] = { "halt", BP_EXT | BP_COOP },
                                                    [END_] = { "end", BP_FINAL } };
static const struct bp_type endless_types[VERIFY_TYPES] = {
    [GO] = { "go", BP_EXT }, [RUN] = { "run" }, [HALT] = { "halt", BP_EXT }, [END_] = { "end" }
};
static const struct bp_point runner[] = {
    { .name = "stands", .wait = { BP_ON(GO) } },
    { .name = "runs", .request = BP_ASK(RUN) },
    { .name = "arrives", .request = BP_ASK(END_) },
};
static const struct bp_point halted[] = {
    { .wait = { BP_ON(HALT) } },
    { .name = "halts", .block = { BP_ON(RUN) } },
};
static const struct bp_point no_run_after_halt[] = {
    { .wait = { BP_ON(HALT) } },
    { .wait = { BP_ON(RUN) } },
    { .name = "a run after halt", .bad = true },
};
static const struct bp_thread with_guard[] = {
    { BP_TABLE("runner", runner) },
    { BP_TABLE("halted", halted), .kind = BP_GUARD },
    { BP_TABLE("no_run_after_halt", no_run_after_halt), .kind = BP_PROPERTY },
};
static const struct bp_thread without_guard[] = {
    { BP_TABLE("runner", runner) },
    { BP_TABLE("no_run_after_halt", no_run_after_halt), .kind = BP_PROPERTY },
};

TEST(a_proof_and_a_dead_end_are_printed_whole)
{
    struct bp_program p = STORY("race", types, with_guard);

    p.about = "runs unless halted";
    ASSERT_TEXT(verified(t, &p, 0, false, BP_VIOLATED),
                "race: runs unless halted, 1 keys\n"
                "  proved    no_run_after_halt            2 states, 0 ms; rests on halted\n"
                "  violated  progress                     7 states, 0 ms\n"
                "     1. halt                          from outside\n"
                "     => from here no end can be reached without a person stepping in\n"
                "     2. go                            from outside\n"
                "    then:\n"
                "        runner at 1 (runs): run is blocked by halted at 1 (halts)\n"
                "        halted at 1 (halts)\n");
}

TEST(a_broken_property_is_printed_whole)
{
    struct bp_program p = STORY("race", types, without_guard);

    ASSERT_TEXT(verified(t, &p, 0, false, BP_VIOLATED),
                "race: , 1 keys\n"
                "  violated  no_run_after_halt            8 states, 0 ms\n"
                "     1. go                            from outside\n"
                "     2. halt                          from outside\n"
                "     3. run                           requested by runner at 1 (runs)\n"
                "     => no_run_after_halt at 2 (a run after halt) must not be reached\n"
                "    then:\n"
                "        runner at 2 (arrives): end is possible\n"
                "  proved    progress                     4 states, 0 ms\n");
}

TEST(a_program_that_has_no_end_and_places_that_are_never_reached_are_printed_whole)
{
    static const struct bp_point shut[] = { { .block = { BP_ON(GO) } } };
    static const struct bp_thread threads[] = { { BP_TABLE("runner", runner) },
                                                { BP_TABLE("shut", shut), .kind = BP_GUARD } };
    struct bp_program p = STORY("still", endless_types, threads);

    ASSERT_TEXT(verified(t, &p, 0, false, BP_PROVED),
                "still: , 1 keys\n"
                "  skipped   progress                     no event is FINAL; 1 state\n"
                "  never at  runner 1 (runs)\n"
                "  never at  runner 2 (arrives)\n"
                "  never     go\n"
                "  never     run\n"
                "  never     end\n");
}

TEST(a_bound_is_printed_whole)
{
    struct bp_program p = STORY("race", types, with_guard);

    ASSERT_CONTAINS(verified(t, &p, 1, false, BP_BOUND),
                    "  bound     no_run_after_halt            2 states, 0 ms; gave up, a larger"
                    " --bound goes on: the rest is unknown\n");
}

/* ---- JSON: every line an object with these members in this order ---- */

static struct json_object *line_of(struct test *t, const char *text, const char *property)
{
    struct str rest = str_from(text), line;

    while (str_split(&rest, '\n', &line) && line.n) {
        struct json_object *o = json_tokener_parse(arena_copy(&t->arena, line.p, line.n)), *name;

        ASSERT(o != NULL);
        if (json_object_object_get_ex(o, "property", &name) &&
            strcmp(json_object_get_string(name), property) == 0)
            return o;
        json_object_put(o);
    }
    FAIL("no line about %s in\n%s", property, text);
}

static const char *plain(struct test *t, struct json_object *o, const char *member)
{
    struct json_object *value;

    if (!json_object_object_get_ex(o, member, &value))
        return NULL;
    return arena_text(&t->arena, json_object_to_json_string_ext(value, JSON_C_TO_STRING_PLAIN));
}

TEST(a_proof_in_json_says_what_it_rests_on_and_has_no_counterexample)
{
    struct bp_program p = STORY("race", types, with_guard);
    struct json_object *o = line_of(t, verified(t, &p, 0, true, BP_VIOLATED), "no_run_after_halt");

    ASSERT_TEXT(plain(t, o, "program"), "\"race\"");
    ASSERT_TEXT(plain(t, o, "verdict"), "\"proved\"");
    ASSERT_TEXT(plain(t, o, "states"), "2");
    ASSERT_TEXT(plain(t, o, "restsOn"), "[\"halted\"]");
    ASSERT(plain(t, o, "counterexample") == NULL);
    ASSERT(plain(t, o, "transitions") && plain(t, o, "depth") && plain(t, o, "bytes"));
    json_object_put(o);
}

TEST(a_counterexample_in_json_is_whole)
{
    struct bp_program p = STORY("race", types, without_guard);
    struct json_object *o = line_of(t, verified(t, &p, 0, true, BP_VIOLATED), "no_run_after_halt");

    ASSERT_TEXT(plain(t, o, "verdict"), "\"violated\"");
    ASSERT_TEXT(plain(t, o, "counterexample"),
                "{\"steps\":[{\"event\":\"go\"},{\"event\":\"halt\"},{\"event\":\"run\",\"by\":"
                "{\"thread\":\"runner\",\"point\":1,\"doing\":\"runs\"}}],\"closedAt\":3,\"then\":["
                "{\"thread\":\"runner\",\"point\":2,\"doing\":\"arrives\",\"requests\":\"end\"},"
                "{\"thread\":\"no_run_after_halt\",\"point\":2,\"doing\":\"a run after halt\"}]}");
    ASSERT_TEXT(plain(t, o, "restsOn"), "[]");
    json_object_put(o);
}

TEST(a_dead_end_in_json_says_where_the_way_closed_and_who_blocks)
{
    struct bp_program p = STORY("race", types, with_guard);
    struct json_object *o = line_of(t, verified(t, &p, 0, true, BP_VIOLATED), "progress");

    ASSERT_TEXT(plain(t, o, "counterexample"),
                "{\"steps\":[{\"event\":\"halt\"},{\"event\":\"go\"}],\"closedAt\":1,\"then\":["
                "{\"thread\":\"runner\",\"point\":1,\"doing\":\"runs\",\"requests\":\"run\","
                "\"blockedBy\":{\"thread\":\"halted\",\"point\":1,\"doing\":\"halts\"}},"
                "{\"thread\":\"halted\",\"point\":1,\"doing\":\"halts\"}]}");
    json_object_put(o);
}

TEST(a_bound_in_json_is_a_verdict_without_more)
{
    struct bp_program p = STORY("race", types, with_guard);
    struct json_object *o = line_of(t, verified(t, &p, 1, true, BP_BOUND), "no_run_after_halt");

    ASSERT_TEXT(plain(t, o, "verdict"), "\"bound\"");
    ASSERT(plain(t, o, "counterexample") == NULL);
    ASSERT_TEXT(plain(t, o, "restsOn"), "[]");
    json_object_put(o);
}

TEST(a_program_that_is_not_sound_is_not_verified)
{
    static const struct bp_point wrong[] = { { .request = BP_ASK(GO) } };
    static const struct bp_thread threads[] = { { BP_TABLE("wrong", wrong) } };
    struct bp_program p = STORY("broken", types, threads);

    verified(t, &p, 0, false, -1);
    ASSERT_EQ(t->err.code, ERR_SCHEMA_VIOLATION);
    ASSERT_CONTAINS(test_err_text(t), "program broken: thread wrong, point 0: requests go, which is"
                                      " EXT: it only comes from outside");
}
