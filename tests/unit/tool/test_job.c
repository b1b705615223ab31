/* Jobs: started, ended early or not, told once, and only what was approved is done.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bed.h"
#include "harness/facts.h"
#include "tool/tool_int.h"

#define DONE                                                                                       \
    "{\"path\":\"/home/ada/work/a\",\"replacements\":1,\"sha256\":\"" BED_TWO "\",\"diff\":\"+"    \
    "y\"}"

/* ---- ordinary ---- */

TEST(a_command_goes_to_the_hand_and_its_result_comes_back)
{
    AUTO(bed) bed = bed_new(t);

    ASSERT_OK(bed_start(bed, "bash", BED_LS, ""));
    ASSERT_TEXT(bed_asked(bed), "bash");
    ASSERT_TEXT(fake_hand_arguments(fake_hand_waiting(bed->hand)), BED_LS);
    ASSERT_EQ(bed->told, 0);
    fake_hand_answer(bed->hand, "{\"exit_code\":0,\"output\":\"a\\n\"}");
    ASSERT_EQ(bed->told, 1);
    ASSERT_EQ(bed->result.err.code, ERR_NONE);
    ASSERT_STR(bed->result.output, "{\"exit_code\":0,\"output\":\"a\\n\"}");
    ASSERT_STR(bed->result.taint, "command");
    ASSERT(!bed->result.stale && !bed->result.waits);
}

TEST(a_question_waits_for_a_person)
{
    AUTO(bed) bed = bed_new(t);

    ASSERT_OK(bed_start(bed, "ask_user",
                        "{\"question\":\"Wh\\u001bich?\",\"choices\":[\"a\",\"b\"]}", ""));
    ASSERT_EQ(bed->told, 0);
    loop_fake_advance(bed->loop, 0);
    ASSERT_EQ(bed->told, 1);
    ASSERT(bed->result.waits);
    ASSERT_STR(bed->result.question, "{\"question\":\"Wh␛ich?\",\"choices\":[\"a\",\"b\"]}");
    ASSERT_EQ(bed->result.taint.n, 0);
}

TEST(what_is_refused_does_not_start)
{
    AUTO(bed) bed = bed_new(t);

    ASSERT_FAILS(bed_start(bed, "bsh", BED_LS, ""), ERR_NOT_FOUND);
    ASSERT_FAILS(bed_start(bed, "bash", "{}", ""), ERR_SCHEMA_VIOLATION);
    ASSERT_FAILS(bed_start(bed, "bash", "{\"command\":\"rm -rf /\"}", ""), ERR_UNSAFE_TARGET);
    bed_set_kill(bed, KILL_TOOLS, "shell");
    ASSERT_FAILS(bed_start(bed, "bash", BED_LS, ""), ERR_KILL_SWITCH_ACTIVE);
    bed_set_kill(bed, KILL_NONE, "");
    bed->agent.paused = true;
    ASSERT_FAILS(bed_start(bed, "bash", BED_LS, ""), ERR_AGENT_PAUSED);
    ASSERT_TEXT(bed_asked(bed), "nothing");
    loop_fake_advance(bed->loop, HOURS(1));
    ASSERT_EQ(bed->told, 0);
}

TEST(a_tool_of_the_hand_needs_one)
{
    AUTO(bed) bed = bed_new(t);

    hand_free(TAKE(bed->hand));
    ASSERT_FAILS(bed_start(bed, "bash", BED_LS, ""), ERR_SANDBOX_UNAVAILABLE);
}

TEST(a_failure_of_the_hand_is_the_failure_of_the_call)
{
    AUTO(bed) bed = bed_new(t);
    char text[200];

    ASSERT_OK(bed_start(bed, "read_file", "{\"path\":\"/etc/shadow\"}", ""));
    fake_hand_fail(bed->hand, ERR_PATH_DENIED, "/etc/shadow can't be read");
    ASSERT_STR(bed->result.taint, "file"); /* why may be in words of the file */
    ASSERT_EQ(bed->told, 1);
    ASSERT_EQ(bed->result.err.code, ERR_PATH_DENIED);
    ASSERT_TEXT(err_format(&bed->result.err, text, sizeof(text)), "/etc/shadow can't be read");
    ASSERT_EQ(bed->result.output.n, 0);
}

TEST(a_command_that_ran_out_of_time_fails_and_keeps_its_output)
{
    AUTO(bed) bed = bed_new(t);

    ASSERT_OK(bed_start(bed, "bash", BED_LS, ""));
    fake_hand_answer(bed->hand, "{\"exit_code\":null,\"output\":\"so far\",\"timed_out\":true}");
    ASSERT_EQ(bed->result.err.code, ERR_TIMEOUT);
    ASSERT_CONTAINS(bed->result.output.p, "so far");
}

TEST(hostile_replies_are_failures)
{
    static const char *const replies[] = {
        "",
        "null",
        "[]",
        "{",
        "{\"exit_code\":{}}",
        "{\"exit_code\":0,\"output\":[\"x\"]}",
        "{\"exit_code\":0,\"timed_out\":\"yes\"}",
        "{\"exit_code\":0}\n{\"exit_code\":0}",
        "{\"exit_code\":1e999}",
        "{\"exit_code\":0,\"output\":\"\\ud800\"}",
    };
    AUTO(bed) bed = bed_new(t);

    for (size_t i = 0; i < ARRAY_LEN(replies); i++) {
        ASSERT_OK(bed_start(bed, "bash", BED_LS, ""));
        fake_hand_answer(bed->hand, replies[i]);
        ASSERT_EQ(bed->told, 1);
        if (bed->result.err.code != ERR_PROVIDER_FAILED)
            FAIL("%s: %s", replies[i], err_name(bed->result.err.code));
        ASSERT_EQ(bed->result.output.n, 0);
    }
}

/* ---- ending early ---- */

TEST(a_cancelled_command_is_told_once_as_cancelled)
{
    AUTO(bed) bed = bed_new(t);
    struct tool_job *job;

    ASSERT_OK(bed_start(bed, "bash", BED_LS, ""));
    job = bed->job;
    tool_cancel(job);
    ASSERT(fake_hand_cancelled(fake_hand_waiting(bed->hand)));
    tool_cancel(job);
    ASSERT_EQ(bed->told, 0);
    loop_fake_advance(bed->loop, 0);
    ASSERT_EQ(bed->told, 1);
    ASSERT_EQ(bed->result.err.code, ERR_CANCELLED);
    loop_fake_advance(bed->loop, HOURS(1));
    ASSERT_EQ(bed->told, 1);
}

TEST(a_hand_that_does_not_heed_is_given_up)
{
    AUTO(bed) bed = bed_new(t);

    fake_hand_stubborn(bed->hand, true);
    ASSERT_OK(bed_start(bed, "bash", BED_LS, ""));
    tool_cancel(bed->job);
    loop_fake_advance(bed->loop, SECONDS(9));
    ASSERT_EQ(bed->told, 0);
    loop_fake_advance(bed->loop, SECONDS(2));
    ASSERT_EQ(bed->told, 1);
    ASSERT_EQ(bed->result.err.code, ERR_CANCELLED);
    /* What it says at last is heard by nobody. */
    fake_hand_answer(bed->hand, "{\"exit_code\":0}");
    ASSERT_EQ(bed->told, 1);
}

TEST(the_time_of_the_contract_ends_a_call)
{
    AUTO(bed) bed = bed_new(t);
    char text[200];

    ASSERT_OK(bed_start(bed, "read_file", "{\"path\":\"a\"}", ""));
    loop_fake_advance(bed->loop, SECONDS(60) - 1);
    ASSERT_EQ(bed->told, 0);
    loop_fake_advance(bed->loop, 1);
    ASSERT_EQ(bed->told, 1);
    ASSERT_EQ(bed->result.err.code, ERR_TIMEOUT);
    ASSERT_TEXT(err_format(&bed->result.err, text, sizeof(text)),
                "read_file took longer than 60 s and was ended");
}

TEST(an_answer_that_overtakes_the_cancel_stands)
{
    AUTO(bed) bed = bed_new(t);

    fake_hand_stubborn(bed->hand, true);
    ASSERT_OK(bed_start(bed, "bash", BED_LS, ""));
    tool_cancel(bed->job);
    fake_hand_answer(bed->hand, "{\"exit_code\":0}");
    ASSERT_EQ(bed->told, 1);
    ASSERT_EQ(bed->result.err.code, ERR_NONE);
}

TEST(a_cancel_after_the_end_changes_nothing)
{
    AUTO(bed) bed = bed_new(t);

    ASSERT_OK(bed_start(bed, "ask_user", "{\"question\":\"Why?\"}", ""));
    tool_cancel(bed->job); /* its result stands already, and waits to be told */
    loop_fake_advance(bed->loop, 0);
    ASSERT_EQ(bed->told, 1);
    ASSERT(bed->result.waits);
}

TEST(when_the_hand_ends_its_calls_end_in_a_later_tick)
{
    AUTO(bed) bed = bed_new(t);

    ASSERT_OK(bed_start(bed, "bash", BED_LS, ""));
    hand_free(TAKE(bed->hand));
    ASSERT_EQ(bed->told, 0);
    loop_fake_advance(bed->loop, 0);
    ASSERT_EQ(bed->told, 1);
    ASSERT_EQ(bed->result.err.code, ERR_CANCELLED);
}

TEST(when_the_bed_ends_all_calls_end)
{
    AUTO(bed) bed = bed_new(t);

    ASSERT_OK(bed_start(bed, "bash", BED_LS, ""));
    ASSERT_OK(bed_preview(bed, "edit_file", BED_EDIT));
    tool_bed_free(TAKE(bed->tools));
    ASSERT_EQ(bed->told, 1);
    ASSERT_EQ(bed->shown, 1);
    ASSERT_EQ(bed->result.err.code, ERR_CANCELLED);
    ASSERT_EQ(bed->preview.err.code, ERR_CANCELLED);
    loop_fake_advance(bed->loop, HOURS(1)); /* the hand's own completions find nobody */
}

/* ---- what was approved ---- */

TEST(an_approved_change_is_compared_and_done_in_one_step)
{
    AUTO(bed) bed = bed_new(t);
    const char *digest = bed_digest_of_edit(t, bed, "\"" BED_ONE "\"");

    ASSERT_STR(bed->preview.title, "Change a");
    ASSERT_STR(bed->preview.kind, "diff");
    ASSERT_STR(bed->preview.text, "-x\n+y\n");
    ASSERT_OK(bed_start(bed, "edit_file", BED_EDIT, digest));
    ASSERT_TEXT(bed_asked(bed), "preview_edit");
    fake_hand_answer(bed->hand, "{" BED_AT_A "\"target_version\":\"" BED_ONE "\"}");
    ASSERT_TEXT(bed_asked(bed), "edit_file");
    ASSERT_TEXT(fake_hand_arguments(fake_hand_waiting(bed->hand)),
                "{\"path\":\"a\",\"old\":\"x\",\"new\":\"y\",\"expected_path\":\"" BED_WORK
                "/a\",\"expected_version\":\"" BED_ONE "\"}");
    fake_hand_answer(bed->hand, DONE);
    ASSERT_EQ(bed->told, 1);
    ASSERT_EQ(bed->result.err.code, ERR_NONE);
    ASSERT_STR(bed->result.taint, "file");
}

TEST(a_file_that_must_not_be_there_is_expected_as_null)
{
    static const char write[] = "{\"path\":\"a\",\"content\":\"y\"}";
    AUTO(bed) bed = bed_new(t);
    const char *digest;

    ASSERT_OK(bed_preview(bed, "write_file", write));
    ASSERT_TEXT(bed_asked(bed), "preview_write");
    fake_hand_answer(bed->hand,
                     "{" BED_AT_A "\"target_version\":null,\"exists\":false,\"diff\":\"+y\"}");
    ASSERT_STR(bed->preview.title, "Create a");
    digest = arena_text(&t->arena, bed->preview.digest);
    ASSERT_OK(bed_start(bed, "write_file", write, digest));
    fake_hand_answer(bed->hand, "{" BED_AT_A "\"target_version\":null}");
    ASSERT_TEXT(fake_hand_arguments(fake_hand_waiting(bed->hand)),
                "{\"path\":\"a\",\"content\":\"y\",\"expected_path\":\"" BED_WORK
                "/a\",\"expected_version\":null}");
    fake_hand_answer(bed->hand, "{\"path\":\"a\",\"created\":true,\"sha256\":\"" BED_ONE "\"}");
    ASSERT_EQ(bed->result.err.code, ERR_NONE);
}

TEST(a_target_that_changed_since_it_was_shown_is_stale)
{
    AUTO(bed) bed = bed_new(t);
    const char *digest = bed_digest_of_edit(t, bed, "\"" BED_ONE "\"");

    ASSERT_OK(bed_start(bed, "edit_file", BED_EDIT, digest));
    fake_hand_answer(bed->hand, "{" BED_AT_A "\"target_version\":\"" BED_TWO "\"}");
    ASSERT_EQ(bed->told, 1);
    ASSERT(bed->result.stale);
    ASSERT_EQ(bed->result.err.code, ERR_NONE);
    ASSERT_TEXT(bed_asked(bed), "nothing");
}

/* Nothing, and the same text, stand at many paths. */
TEST(a_path_that_leads_elsewhere_since_it_was_shown_is_stale)
{
    static const char *const versions[] = { "\"" BED_ONE "\"", "null" };
    AUTO(bed) bed = bed_new(t);

    for (size_t i = 0; i < ARRAY_LEN(versions); i++) {
        const char *digest = bed_digest_of_edit(t, bed, versions[i]);

        ASSERT(!strstr(facts_text(t, bed->preview.details), "leads to"));
        ASSERT_OK(bed_start(bed, "edit_file", BED_EDIT, digest));
        fake_hand_answer(bed->hand,
                         arena_printf(&t->arena,
                                      "{\"path\":\"" BED_WORK "/b\",\"target_version\":%s}",
                                      versions[i]));
        ASSERT(bed->result.stale);
        ASSERT_TEXT(bed_asked(bed), "nothing");
        bed->told = bed->shown = 0;
    }
    ASSERT_OK(bed_preview(bed, "edit_file", BED_EDIT));
    fake_hand_answer(bed->hand,
                     "{\"path\":\"" BED_WORK "/b\",\"target_version\":null,\"diff\":\"\"}");
    ASSERT_CONTAINS(facts_text(t, bed->preview.details), "leads to: " BED_WORK "/b\n");
}

TEST(a_target_that_changes_at_the_last_moment_is_stale)
{
    AUTO(bed) bed = bed_new(t);
    const char *digest = bed_digest_of_edit(t, bed, "\"" BED_ONE "\"");

    ASSERT_OK(bed_start(bed, "edit_file", BED_EDIT, digest));
    fake_hand_answer(bed->hand, "{" BED_AT_A "\"target_version\":\"" BED_ONE "\"}");
    fake_hand_fail(bed->hand, ERR_VERSION_CONFLICT, "changed");
    ASSERT_EQ(bed->told, 1);
    ASSERT(bed->result.stale);
}

/* Nobody was shown where the path leads today. */
TEST(a_call_that_a_grant_covers_follows_no_link)
{
    AUTO(bed) bed = bed_new(t);

    bed->call.granted = true;
    ASSERT_OK(bed_start(bed, "edit_file", BED_EDIT, ""));
    ASSERT_TEXT(bed_asked(bed), "edit_file");
    ASSERT_TEXT(fake_hand_arguments(fake_hand_waiting(bed->hand)),
                "{\"path\":\"a\",\"old\":\"x\",\"new\":\"y\",\"without_links\":true}");
    fake_hand_fail(bed->hand, ERR_VERSION_CONFLICT, "by a link");
    ASSERT_EQ(bed->told, 1);
    ASSERT(bed->result.stale);
    bed->told = 0;
    ASSERT_OK(bed_start(bed, "bash", BED_LS, ""));
    ASSERT_TEXT(fake_hand_arguments(fake_hand_waiting(bed->hand)), BED_LS);
    fake_hand_fail(bed->hand, ERR_VERSION_CONFLICT, "of another kind");
    ASSERT(!bed->result.stale);
}

TEST(without_an_approval_a_version_conflict_is_a_failure)
{
    AUTO(bed) bed = bed_new(t);

    ASSERT_OK(bed_start(bed, "edit_file", BED_EDIT, ""));
    ASSERT_TEXT(bed_asked(bed), "edit_file");
    ASSERT_TEXT(fake_hand_arguments(fake_hand_waiting(bed->hand)), BED_EDIT);
    fake_hand_fail(bed->hand, ERR_VERSION_CONFLICT, "changed");
    ASSERT(!bed->result.stale);
    ASSERT_EQ(bed->result.err.code, ERR_VERSION_CONFLICT);
}

TEST(an_approval_of_other_arguments_policy_or_place_is_stale)
{
    static const char *const hosts[] = { "example.org", NULL };
    AUTO(bed) bed = bed_new(t);
    const char *digest;

    ASSERT_OK(bed_preview(bed, "bash", BED_LS));
    loop_fake_advance(bed->loop, 0);
    digest = arena_text(&t->arena, bed->preview.digest);

#define ASSERT_STALE(arguments_)                                                                   \
    do {                                                                                           \
        ASSERT_OK(bed_start(bed, "bash", (arguments_), digest));                                   \
        ASSERT_TEXT(bed_asked(bed), "nothing");                                                    \
        loop_fake_advance(bed->loop, 0);                                                           \
        ASSERT_EQ(bed->told, 1);                                                                   \
        ASSERT(bed->result.stale);                                                                 \
    } while (0)
    ASSERT_STALE("{\"command\":\"ls -a\"}");
    ASSERT_STALE("{\"command\":\"ls\" }");
    tool_bed_set_policy(bed->tools, NULL, NULL, "another");
    ASSERT_STALE(BED_LS);
    tool_bed_set_policy(bed->tools, NULL, NULL, "");
    bed->call.sandbox.allow_domains = hosts;
    ASSERT_STALE(BED_LS);
    bed->call.sandbox.allow_domains = NULL;
    fake_hand_set_state(bed->hand, "{\"cwd\":\"/tmp\"}"); /* an earlier command went elsewhere */
    ASSERT_STALE(BED_LS);
    fake_hand_set_state(bed->hand, "{\"cwd\":\"/home/ada/work\"}");
    ASSERT_OK(bed_start(bed, "bash", BED_LS, digest));
    ASSERT_TEXT(bed_asked(bed), "bash");
}

TEST(when_the_target_can_not_be_looked_at_nothing_is_done)
{
    AUTO(bed) bed = bed_new(t);
    const char *digest = bed_digest_of_edit(t, bed, "\"" BED_ONE "\"");

    ASSERT_OK(bed_start(bed, "edit_file", BED_EDIT, digest));
    fake_hand_fail(bed->hand, ERR_NOT_FOUND, "a is gone");
    ASSERT_EQ(bed->told, 1);
    ASSERT_EQ(bed->result.err.code, ERR_NOT_FOUND);
    ASSERT_TEXT(bed_asked(bed), "nothing");
}

TEST(a_check_can_be_cancelled)
{
    AUTO(bed) bed = bed_new(t);
    const char *digest = bed_digest_of_edit(t, bed, "\"" BED_ONE "\"");

    ASSERT_OK(bed_start(bed, "edit_file", BED_EDIT, digest));
    tool_cancel(bed->job);
    loop_fake_advance(bed->loop, 0);
    ASSERT_EQ(bed->told, 1);
    ASSERT_EQ(bed->result.err.code, ERR_CANCELLED);
    ASSERT_TEXT(bed_asked(bed), "nothing");
}
