/* Tools that other rooms add: their handlers, previews and versions.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bed.h"
#include "harness/facts.h"
#include "tool/tool_int.h"

struct added {
    struct tool_job *job;
    unsigned starts, cancels;
    const char *version;
};

static int added_start(struct tool_job *job, struct err *err)
{
    struct added *added = tool_job_impl_arg(job);

    (void)err;
    added->starts++;
    added->job = job;
    ASSERT_STR(tool_job_operation_id(job), "op1");
    ASSERT_STR(tool_job_call(job)->run_id, "run1");
    return 0;
}

static int added_refuses(struct tool_job *job, struct err *err)
{
    (void)job;
    return err_set(err, ERR_CONFLICT, "not now");
}

static void added_cancel(struct tool_job *job)
{
    struct added *added = tool_job_impl_arg(job);
    struct tool_result result = { .err = ERR_INIT };

    added->cancels++;
    err_set(&result.err, ERR_CANCELLED, "as asked");
    tool_job_finish(job, &result);
}

static int added_preview(struct tool_job *job, struct err *err)
{
    struct added *added = tool_job_impl_arg(job);
    struct tool_preview preview = { .title = STR("Do it"), .kind = STR("text") };

    (void)err;
    tool_job_shown(job, &preview, str_from(added->version));
    return 0;
}

static void finish_added(struct added *added, const char *output)
{
    struct tool_result result = { .output = str_from(output),
                                  .changed_entity_ids = STR("[\"e1\"]"),
                                  .changed_tokens = STR("[\"TASK\"]"),
                                  .taint = STR("web") };

    tool_job_finish(added->job, &result);
}

TEST(an_added_tool_runs_like_the_others)
{
    static const struct tool_impl impl = { .name = "add.ed", .start = added_start };
    AUTO(bed) bed = bed_new(t);
    struct added added = { .starts = 0 };

    ASSERT_OK(tool_bed_add(bed->tools,
                           bed_contract(t, "add.ed", "{\"outputSchema\":{\"type\":\"integer\"}}"),
                           &impl, &added, &t->err));
    ASSERT_OK(bed_start(bed, "add__ed", "{\"x\":1}", ""));
    finish_added(&added, "7");
    ASSERT_STR(bed->result.output, "7");
    ASSERT_STR(bed->result.changed_entity_ids, "[\"e1\"]");
    ASSERT_STR(bed->result.changed_tokens, "[\"TASK\"]");
    ASSERT_STR(bed->result.taint, "web");
    ASSERT_OK(bed_start(bed, "add__ed", "{\"x\":1}", ""));
    finish_added(&added, "\"seven\"");
    ASSERT_EQ(bed->result.err.code, ERR_PROVIDER_FAILED);
}

TEST(an_added_tool_hears_of_cancel_and_of_its_time)
{
    static const struct tool_impl impl = { .name = "slow",
                                           .start = added_start,
                                           .cancel = added_cancel };
    AUTO(bed) bed = bed_new(t);
    struct added added = { .starts = 0 };

    ASSERT_OK(tool_bed_add(bed->tools, bed_contract(t, "slow", "{}"), &impl, &added, &t->err));
    ASSERT_OK(bed_start(bed, "slow", "{}", ""));
    tool_cancel(bed->job);
    ASSERT_EQ(added.cancels, 1);
    ASSERT_EQ(bed->told, 0);
    loop_fake_advance(bed->loop, 0);
    ASSERT_EQ(bed->result.err.code, ERR_CANCELLED);
    ASSERT_OK(bed_start(bed, "slow", "{}", ""));
    loop_fake_advance(bed->loop, SECONDS(5));
    ASSERT_EQ(added.cancels, 2);
    ASSERT_EQ(bed->told, 1);
    ASSERT_EQ(bed->result.err.code, ERR_TIMEOUT);
}

static int added_preview_later(struct tool_job *job, struct err *err)
{
    struct added *added = tool_job_impl_arg(job);

    (void)err;
    tool_job_set_data(job, added);
    added->job = job;
    return 0;
}

TEST(a_preview_that_takes_its_time_hears_of_cancel)
{
    static const struct tool_impl impl = {
        .name = "slow", .start = added_start, .cancel = added_cancel, .preview = added_preview_later
    };
    struct tool_preview preview = { .title = STR("At last"), .kind = STR("text") };
    AUTO(bed) bed = bed_new(t);
    struct added added = { .starts = 0 };
    const char *digest;

    ASSERT_OK(tool_bed_add(bed->tools, bed_contract(t, "slow", "{}"), &impl, &added, &t->err));
    ASSERT_OK(bed_preview(bed, "slow", "{}"));
    ASSERT(tool_job_data(added.job) == &added);
    ASSERT(tool_job_loop(added.job) == bed->loop && tool_job_hand(added.job) == bed->hand);
    tool_job_shown(added.job, &preview, STR("1"));
    ASSERT_EQ(bed->shown, 1);
    digest = arena_text(&t->arena, bed->preview.digest);
    ASSERT_OK(bed_preview(bed, "slow", "{}"));
    tool_cancel(bed->job);
    loop_fake_advance(bed->loop, 0);
    ASSERT_EQ(bed->shown, 1);
    ASSERT_EQ(bed->preview.err.code, ERR_CANCELLED);
    ASSERT_OK(bed_start(bed, "slow", "{}", digest));
    tool_cancel(bed->job);
    loop_fake_advance(bed->loop, 0);
    ASSERT_EQ(bed->told, 1);
    ASSERT_EQ(bed->result.err.code, ERR_CANCELLED);
    ASSERT_EQ(added.starts, 0);
}

TEST(an_added_tool_without_cancel_is_ended_for_it)
{
    static const struct tool_impl impl = { .name = "slow", .start = added_start };
    AUTO(bed) bed = bed_new(t);
    struct added added = { .starts = 0 };

    ASSERT_OK(tool_bed_add(bed->tools, bed_contract(t, "slow", "{}"), &impl, &added, &t->err));
    ASSERT_OK(bed_start(bed, "slow", "{}", ""));
    tool_cancel(bed->job);
    ASSERT_EQ(bed->told, 0);
    loop_fake_advance(bed->loop, 0);
    ASSERT_EQ(bed->result.err.code, ERR_CANCELLED);
}

TEST(an_added_tool_that_can_not_start_says_why)
{
    static const struct tool_impl impl = { .name = "shy",
                                           .start = added_refuses,
                                           .preview = added_preview };
    AUTO(bed) bed = bed_new(t);
    struct added added = { .version = "1" };

    ASSERT_OK(tool_bed_add(bed->tools, bed_contract(t, "shy", "{}"), &impl, &added, &t->err));
    ASSERT_FAILS(bed_start(bed, "shy", "{}", ""), ERR_CONFLICT);
    ASSERT_OK(bed_preview(bed, "shy", "{}"));
    loop_fake_advance(bed->loop, 0);
    /* After a check it is too late to refuse: it fails. */
    ASSERT_OK(bed_start(bed, "shy", "{}", bed->preview.digest));
    loop_fake_advance(bed->loop, 0);
    ASSERT_EQ(bed->told, 1);
    ASSERT_EQ(bed->result.err.code, ERR_CONFLICT);
}

/* Whatever the tool: what a person is shown says that there is more than meets the eye. */
TEST(what_is_not_seen_in_arguments_is_named_as_danger)
{
    static const struct tool_impl impl = { .name = "say",
                                           .start = added_start,
                                           .preview = added_preview },
                                  bare = { .name = "bare", .start = added_start };
    static const struct {
        const char *arguments, *named; /* NULL: nothing is */
    } cases[] = {
        { "{\"text\":\"pay \xE2\x80\xAE"
          "evil\"}",
          "(U+202E)" },
        { "{\"to\":[\"ann\",{\"b\":\"x\xE2\x80\x8By\"}]}", "(U+200B)" },
        { "{\"x\xE2\x81\xA6\":1}", "(U+2066)" },
        { "{\"text\":\"\xF3\xA0\x81\xA1\"}", "(U+E0061)" },
        { "{\"text\":\"a\\u0007b\"}", "(U+0007)" },
        { "{\"text\":\"line\\nand\\ttab, caf\xC3\xA9\xC2\xA0!\"}", NULL },
        { "{\"text\":\"\xE2\x9D\xA4\xEF\xB8\x8F "
          "\xF0\x9F\x91\xA9\xE2\x80\x8D\xF0\x9F\x92\xBB\"}",
          NULL },
    };
    AUTO(bed) bed = bed_new(t);
    struct added added = { .version = "1" };

    ASSERT_OK(tool_bed_add(bed->tools, bed_contract(t, "say", "{}"), &impl, &added, &t->err));
    ASSERT_OK(tool_bed_add(bed->tools, bed_contract(t, "bare", "{}"), &bare, &added, &t->err));
    for (size_t i = 0; i < 2 * ARRAY_LEN(cases); i++) {
        const char *named = cases[i / 2].named;

        ASSERT_OK(bed_preview(bed, i % 2 ? "say" : "bare", cases[i / 2].arguments));
        loop_fake_advance(bed->loop, 0);
        if (!named) {
            ASSERT(!bed->preview.details.n);
            continue;
        }
        ASSERT_CONTAINS(bed->preview.details.p, named);
        ASSERT_CONTAINS(bed->preview.details.p, "\"warn\":true");
    }
}

TEST(the_version_that_an_added_tool_names_binds_the_approval)
{
    static const struct tool_impl impl = { .name = "bound",
                                           .start = added_start,
                                           .preview = added_preview };
    AUTO(bed) bed = bed_new(t);
    struct added added = { .version = "1" };

    ASSERT_OK(tool_bed_add(bed->tools, bed_contract(t, "bound", "{}"), &impl, &added, &t->err));
    ASSERT_OK(bed_preview(bed, "bound", "{}"));
    loop_fake_advance(bed->loop, 0);
    ASSERT_STR(bed->preview.title, "Do it");
    added.version = "2";
    ASSERT_OK(bed_start(bed, "bound", "{}", bed->preview.digest));
    loop_fake_advance(bed->loop, 0);
    ASSERT(bed->result.stale);
    ASSERT_EQ(added.starts, 0);
    added.version = "1";
    ASSERT_OK(bed_start(bed, "bound", "{}", bed->preview.digest));
    ASSERT_EQ(added.starts, 1);
    finish_added(&added, "{}");
    ASSERT_EQ(bed->result.err.code, ERR_NONE);
}
