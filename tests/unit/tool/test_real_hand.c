/* The tools in the real sandbox: what is on the disk afterwards decides.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/json.h"
#include "base/json_put.h"
#include "harness/facts.h"
#include "harness/test.h"
#include "loop/child.h"
#include "sandbox/hand_int.h"
#include "tool/hands.h"
#include "tool/tool.h"

#define PATIENCE_MS 30000

static const char *const allow_write[] = { ".", NULL };
static const char *const deny_read[] = { "~/.ssh", ".env", NULL };

struct world {
    struct test *t;
    struct loop *loop;
    struct tool_bed *tools;
    struct hands *hands;
    struct hand *hand;
    struct agent agent;
    struct tool_call call;
    struct loop_timer patience;
    bool over, told;
    struct err err;
    struct tool_result result;
    struct tool_preview preview;
    char *state;
};

/* ---- set up ---- */

static void on_save(void *arg, struct str run_id, struct str state)
{
    struct world *w = arg;

    (void)run_id;
    w->state = arena_str(&w->t->arena, state).p ? arena_copy(&w->t->arena, state.p, state.n) : NULL;
}

static void get_hand(struct world *w)
{
    struct test *t = w->t;

    ASSERT_OK(hands_get(w->hands, w->call.run_id, &w->call.sandbox, str_from(w->state), &w->hand,
                        &t->err));
}

static const char *in_project(struct world *w, const char *name)
{
    return arena_printf(&w->t->arena, "%s/%s", w->call.sandbox.cwd, name);
}

static void put(struct world *w, const char *name, const char *text)
{
    test_write_file(in_project(w, name), text, strlen(text));
}

static const char *on_disk(struct world *w, const char *name)
{
    return test_read_file(w->t, in_project(w, name)).p;
}

static const char *make_dir(struct test *t, const char *name)
{
    const char *path = test_path(t, name);

    if (mkdir(path, 0755) < 0)
        FAIL("mkdir %s", path);
    return path;
}

static void world_init_in(struct world *w, struct test *t, const char *name)
{
    struct tool_bed_config config = { .policy_text_hash = "" };
    struct hands_config hands = { .save = on_save, .arg = w };
    const char *project = arena_printf(&t->arena, "%s/project", name), *home;

    *w = (struct world){ .t = t };
    if (sandbox_available(&w->err) < 0)
        SKIP("%s", err_message(&w->err, 0));
    child_set_launcher(LAUNCHER_PATH);
    hand_set_path(HAND_PATH);
    ASSERT_OK(loop_new(NULL, &w->loop, &t->err));
    config.loop = hands.loop = w->loop;
    ASSERT_OK(tool_bed_new(&config, &w->tools, &t->err));
    w->hands = hands_new(&hands);
    home = make_dir(t, name);
    make_dir(t, arena_printf(&t->arena, "%s/.ssh", name));
    test_write_file(arena_printf(&t->arena, "%s/.ssh/id", home), "canary", 6);
    w->agent = (struct agent){ .id = "planner", .lifecycle = AGENT_ACTIVE };
    w->call = (struct tool_call){ .agent = &w->agent,
                                  .run_id = STR("run1"),
                                  .wake_reason = STR("userInitiated"),
                                  .sandbox = { .cwd = make_dir(t, project),
                                               .allow_write = allow_write,
                                               .deny_read = deny_read,
                                               .home = home } };
    get_hand(w);
}

static void world_init(struct world *w, struct test *t)
{
    world_init_in(w, t, "home");
}

/* As somebody else would, in the project. */
static void outside(struct world *w, const char *command)
{
    const char *line =
        arena_printf(&w->t->arena, "cd '%s' && { %s; }", w->call.sandbox.cwd, command);

    if (system(line) != 0) /* NOLINT(cert-env33-c): a fixed text */
        FAIL("%s", line);
}

static void stop_waiting(struct loop_timer *timer)
{
    struct world *w = (struct world *)(void *)((char *)timer - offsetof(struct world, patience));

    w->over = true;
    loop_stop(w->loop);
}

static void run_for(struct world *w, const bool *flag, int64_t ms)
{
    w->over = false;
    w->patience.fire = stop_waiting;
    loop_timer_start(w->loop, &w->patience, ms);
    while (!w->over && !(flag && *flag))
        if (loop_run(w->loop, &w->err) < 0)
            break;
    loop_timer_stop(w->loop, &w->patience);
}

static void wait_told(struct world *w)
{
    run_for(w, &w->told, PATIENCE_MS);
    if (!w->told)
        FAIL("nothing came within %d ms", PATIENCE_MS);
}

static void world_release(struct world *w)
{
    tool_bed_free(w->tools);
    hands_free(w->hands);
    run_for(w, NULL, 400); /* the loop collects the ended hands */
    loop_free(w->loop);
}
#define AUTO_WORLD __attribute__((cleanup(world_release))) struct world

/* ---- calls ---- */

static struct str keep(struct world *w, struct str text)
{
    return arena_str(&w->t->arena, text);
}

static void on_done(void *arg, const struct tool_result *result)
{
    struct world *w = arg;

    w->told = true;
    w->result = *result;
    w->result.output = keep(w, result->output);
    w->result.taint = keep(w, result->taint);
    loop_stop(w->loop);
}

static void on_shown(void *arg, const struct tool_preview *preview)
{
    struct world *w = arg;

    w->told = true;
    w->preview = *preview;
    w->preview.title = keep(w, preview->title);
    w->preview.text = keep(w, preview->text);
    w->preview.details = keep(w, preview->details);
    loop_stop(w->loop);
}

/* "{"a":"b",…}" of pairs of texts, ended by NULL. */
#define ARGS(...) make_args(w.t, (const char *const[]){ __VA_ARGS__, NULL })
static const char *make_args(struct test *t, const char *const *pairs)
{
    AUTO_BUF text = BUF_INIT(1 << 20);
    struct json_writer out = JSON_WRITER(&text);

    json_write_object_begin(&out);
    for (; *pairs; pairs += 2) {
        json_put_text(&out, pairs[0], pairs[1]);
    }
    json_write_object_end(&out);
    return arena_text(&t->arena, buf_text(&text));
}

static struct tool_job *begin(struct world *w, const char *tool, const char *arguments,
                              const char *digest)
{
    struct test *t = w->t;
    struct tool_job *job;

    w->told = false;
    w->call.name = str_from(tool);
    w->call.arguments = str_from(arguments);
    ASSERT_OK(tool_start(w->tools, &w->call, STR("op"), str_from(digest), w->hand, on_done, w, &job,
                         &t->err));
    return job;
}

static const char *act(struct world *w, const char *tool, const char *arguments, const char *digest)
{
    begin(w, tool, arguments, digest);
    wait_told(w);
    return w->result.output.p ? w->result.output.p : "";
}

static const char *show(struct world *w, const char *tool, const char *arguments)
{
    struct test *t = w->t;
    struct tool_job *job;

    w->told = false;
    w->call.name = str_from(tool);
    w->call.arguments = str_from(arguments);
    ASSERT_OK(tool_preview(w->tools, &w->call, w->hand, on_shown, w, &job, &t->err));
    wait_told(w);
    return arena_text(&t->arena, w->preview.digest);
}

#define ASSERT_DONE(w_)                                                                            \
    do {                                                                                           \
        if ((w_).result.err.code != ERR_NONE || (w_).result.stale)                                 \
            FAIL("%s%s: %s", (w_).result.stale ? "stale " : "", err_name((w_).result.err.code),    \
                 err_message(&(w_).result.err, 0));                                                \
    } while (0)

/* ---- tests ---- */

TEST(a_command_runs_in_the_sandbox_and_leaves_its_file)
{
    AUTO_WORLD w;
    const char *output;

    world_init(&w, t);
    output =
        act(&w, "bash", ARGS("command", "echo made > new.txt; cat ~/.ssh/id; echo code $?"), "");
    ASSERT_DONE(w);
    ASSERT_CONTAINS(output, "\"exit_code\":0");
    ASSERT_CONTAINS(output, "code 1");
    ASSERT(!strstr(output, "canary"));
    ASSERT_TEXT(on_disk(&w, "new.txt"), "made\n");
    ASSERT_STR(w.result.taint, "command");
}

TEST(a_failing_command_is_a_result_with_its_exit_code)
{
    AUTO_WORLD w;

    world_init(&w, t);
    ASSERT_CONTAINS(act(&w, "bash", ARGS("command", "exit 3"), ""), "\"exit_code\":3");
    ASSERT_DONE(w);
}

TEST(a_file_is_read_changed_and_found_again)
{
    AUTO_WORLD w;
    const char *edit, *digest;

    world_init(&w, t);
    put(&w, "poem.txt", "roses are red\nviolets are blue\n");
    ASSERT_CONTAINS(act(&w, "read_file", ARGS("path", "poem.txt"), ""), "violets are blue");
    ASSERT_DONE(w);
    edit = ARGS("path", "poem.txt", "old", "are blue", "new", "are violet");
    digest = show(&w, "edit_file", edit);
    ASSERT_EQ(w.preview.err.code, ERR_NONE);
    ASSERT_STR(w.preview.title, "Change poem.txt");
    ASSERT_CONTAINS(w.preview.text.p, "-violets are blue\n+violets are violet\n");
    ASSERT_TEXT(on_disk(&w, "poem.txt"), "roses are red\nviolets are blue\n");
    act(&w, "edit_file", edit, digest);
    ASSERT_DONE(w);
    ASSERT_TEXT(on_disk(&w, "poem.txt"), "roses are red\nviolets are violet\n");
    ASSERT_CONTAINS(act(&w, "search", ARGS("pattern", "are violet"), ""), "poem.txt");
    ASSERT_DONE(w);
}

TEST(a_new_file_is_shown_and_written)
{
    AUTO_WORLD w;
    const char *write, *digest;

    world_init(&w, t);
    write = ARGS("path", "deep/er/new.txt", "content", "first\n");
    digest = show(&w, "write_file", write);
    ASSERT_STR(w.preview.title, "Create deep/er/new.txt");
    ASSERT_CONTAINS(w.preview.text.p, "+first");
    act(&w, "write_file", write, digest);
    ASSERT_DONE(w);
    ASSERT_TEXT(on_disk(&w, "deep/er/new.txt"), "first\n");
}

TEST(what_changed_since_it_was_shown_is_not_written)
{
    AUTO_WORLD w;
    const char *edit, *write, *edit_digest, *write_digest;

    world_init(&w, t);
    put(&w, "a.txt", "one two\n");
    act(&w, "read_file", ARGS("path", "a.txt"), "");
    edit = ARGS("path", "a.txt", "old", "one", "new", "1");
    edit_digest = show(&w, "edit_file", edit);
    write = ARGS("path", "b.txt", "content", "mine\n");
    write_digest = show(&w, "write_file", write);
    put(&w, "a.txt", "one two three\n");
    put(&w, "b.txt", "somebody else's\n");
    act(&w, "edit_file", edit, edit_digest);
    if (!w.result.stale && w.result.err.code == ERR_NONE)
        FAIL("it was written");
    ASSERT_TEXT(on_disk(&w, "a.txt"), "one two three\n");
    act(&w, "write_file", write, write_digest);
    if (!w.result.stale && w.result.err.code == ERR_NONE)
        FAIL("it was written");
    ASSERT_TEXT(on_disk(&w, "b.txt"), "somebody else's\n");
}

/* What is at the path when it is shown, what is done meanwhile, and where the text would land. */
static const struct detour {
    const char *before, *tool, *meanwhile, *lands, *text;
} detours[] = {
    { "true", "write_file", "ln -s other new.txt", "other", NULL },
    { "true", "write_file", "ln -s deep/other new.txt", "deep", NULL },
    { "mkdir here", "write_file", "rmdir here; mkdir there; ln -s there here", "there/new.txt",
      NULL },
    { "true", "write_file", "mkdir there; ln -s there here", "there/new.txt", NULL },
    { "mkdir x; ln -s x/new.txt new.txt", "write_file", "rm new.txt", "new.txt", NULL },
    { "mkdir x; ln -s x/new.txt new.txt", "write_file", "mkdir y; ln -sf y/new.txt new.txt",
      "y/new.txt", NULL },
    /* of the same content, so that only the path differs */
    { "printf 'one\n' > new.txt; cp new.txt other", "edit_file", "ln -sf other new.txt", "other",
      "one\n" },
    { "printf 'one\n' > new.txt; cp new.txt other", "edit_file",
      "mkdir here; mv new.txt here; ln -s here/new.txt new.txt", "here/new.txt", "one\n" },
};

TEST(what_was_approved_for_one_path_lands_at_no_other)
{
    for (size_t i = 0; i < ARRAY_LEN(detours); i++) {
        const struct detour *d = &detours[i];
        bool here = strstr(d->meanwhile, " here") && !d->text;
        const char *arguments, *digest;
        AUTO_WORLD w;

        world_init_in(&w, t, arena_printf(&t->arena, "home%zu", i));
        outside(&w, d->before);
        arguments = strcmp(d->tool, "write_file") == 0
                        ? ARGS("path", here ? "here/new.txt" : "new.txt", "content", "text\n")
                        : ARGS("path", "new.txt", "old", "one", "new", "two");
        digest = show(&w, d->tool, arguments);
        ASSERT_EQ(w.preview.err.code, ERR_NONE);
        outside(&w, d->meanwhile);
        act(&w, d->tool, arguments, digest);
        if (!w.result.stale)
            FAIL("%s; %s: not stale (%s)", d->before, d->meanwhile, err_message(&w.result.err, 0));
        if (d->text)
            ASSERT_TEXT(on_disk(&w, d->lands), d->text);
        else if (access(in_project(&w, d->lands), F_OK) == 0)
            FAIL("%s: it was written", d->meanwhile);
        /* Shown anew, it says where it would land; then it is done. */
        digest = show(&w, d->tool, arguments);
        if (strcmp(d->lands, "new.txt") != 0)
            ASSERT_CONTAINS(facts_text(t, w.preview.details),
                            arena_printf(&t->arena, "leads to: %s", in_project(&w, d->lands)));
        act(&w, d->tool, arguments, digest);
        ASSERT_DONE(w);
    }
}

/* The same calls by a grant, which nobody is shown again. */
TEST(what_a_grant_covers_lands_where_its_path_says)
{
    static const struct {
        const char *tool, *path, *meanwhile;
        const char *lands, *text; /* NULL: nothing may be there */
    } ways[] = {
        { "write_file", "g.txt", "ln -s prec.txt g.txt", "prec.txt", "precious\n" },
        { "write_file", "g.txt", "ln -s elsewhere.txt g.txt", "elsewhere.txt", NULL },
        { "write_file", "new/g.txt", "ln -s pb new", "pb/g.txt", NULL },
        { "edit_file", "pa/f", "mv pa pa.real; ln -s pb pa", "pb/f", "one\n" },
        { "edit_file", "pa/f", "ln -sf ../pb/f pa/f", "pb/f", "one\n" },
    };

    for (size_t i = 0; i < ARRAY_LEN(ways); i++) {
        bool writes = strcmp(ways[i].tool, "write_file") == 0;
        const char *arguments, *digest;
        AUTO_WORLD w;

        world_init_in(&w, t, arena_printf(&t->arena, "home%zu", i));
        outside(&w, "mkdir pa pb; echo one > pa/f; echo one > pb/f; echo precious > prec.txt");
        act(&w, "read_file", ARGS("path", "prec.txt"), "");
        arguments = writes ? ARGS("path", ways[i].path, "content", "text\n")
                           : ARGS("path", ways[i].path, "old", "one", "new", "two");
        w.call.granted = true;
        act(&w, ways[i].tool, arguments, "");
        ASSERT_DONE(w);
        ASSERT_TEXT(on_disk(&w, ways[i].path), writes ? "text\n" : "two\n");
        outside(&w, "rm -rf g.txt new; echo one > pa/f");
        outside(&w, ways[i].meanwhile);
        act(&w, ways[i].tool, arguments, "");
        if (!w.result.stale)
            FAIL("%s: not stale (%s)", ways[i].meanwhile, err_message(&w.result.err, 0));
        if (ways[i].text)
            ASSERT_TEXT(on_disk(&w, ways[i].lands), ways[i].text);
        else if (access(in_project(&w, ways[i].lands), F_OK) == 0)
            FAIL("%s: it was written", ways[i].meanwhile);
        /* Asked anew, a person sees where it leads; a yes to that is followed. */
        w.call.granted = false;
        digest = show(&w, ways[i].tool, arguments);
        ASSERT_CONTAINS(facts_text(t, w.preview.details),
                        arena_printf(&t->arena, "leads to: %s", in_project(&w, ways[i].lands)));
        act(&w, ways[i].tool, arguments, digest);
        ASSERT_DONE(w);
        ASSERT_TEXT(on_disk(&w, ways[i].lands), writes ? "text\n" : "two\n");
    }
}

TEST(files_outside_are_refused_by_the_hand)
{
    AUTO_WORLD w;

    world_init(&w, t);
    act(&w, "read_file", ARGS("path", "~/.ssh/id"), "");
    if (w.result.err.code != ERR_PATH_DENIED && w.result.err.code != ERR_NOT_FOUND)
        FAIL("%s", err_name(w.result.err.code));
    act(&w, "write_file", ARGS("path", "../outside.txt", "content", "x"), "");
    ASSERT_EQ(w.result.err.code, ERR_PATH_DENIED);
    ASSERT(access(test_path(t, "home/outside.txt"), F_OK) < 0);
}

TEST(a_command_under_way_can_be_cancelled)
{
    AUTO_WORLD w;
    struct tool_job *job;

    world_init(&w, t);
    act(&w, "bash", ARGS("command", "true"), "");
    job = begin(&w, "bash", ARGS("command", "sleep 20; echo late > late.txt"), "");
    run_for(&w, NULL, 300);
    ASSERT(!w.told);
    tool_cancel(job);
    wait_told(&w);
    ASSERT_EQ(w.result.err.code, ERR_CANCELLED);
    /* The hand goes on with the next one. */
    ASSERT_CONTAINS(act(&w, "bash", ARGS("command", "ls"), ""), "\"exit_code\":0");
    ASSERT(access(in_project(&w, "late.txt"), F_OK) < 0);
}

TEST(a_command_ends_at_its_time_and_keeps_what_it_said)
{
    AUTO_WORLD w;
    const char *output;

    world_init(&w, t);
    output = act(&w, "bash", "{\"command\":\"echo early; sleep 20\",\"timeout_s\":1}", "");
    ASSERT_EQ(w.result.err.code, ERR_TIMEOUT);
    ASSERT_CONTAINS(output, "early");
}

TEST(an_approval_in_one_directory_is_none_in_another)
{
    AUTO_WORLD w;
    const char *clean, *digest;

    world_init(&w, t);
    clean = ARGS("command", "echo cleaned > done.txt");
    digest = show(&w, "bash", clean);
    act(&w, "bash", ARGS("command", "mkdir sub && cd sub"), "");
    ASSERT_DONE(w);
    act(&w, "bash", clean, digest);
    ASSERT(w.result.stale);
    digest = show(&w, "bash", clean);
    ASSERT_CONTAINS(facts_text(t, w.preview.details),
                    "/project/sub\nends after: 30 s (the default)\n"
                    "sandbox: on\n");
    act(&w, "bash", clean, digest);
    ASSERT_DONE(w);
    ASSERT_TEXT(on_disk(&w, "sub/done.txt"), "cleaned\n");
}

TEST(a_run_goes_on_with_a_new_hand_where_the_old_one_was)
{
    AUTO_WORLD w;

    world_init(&w, t);
    make_dir(t, "home/project/.dormouse");
    put(&w, "seen.txt", "old\n");
    act(&w, "read_file", ARGS("path", "seen.txt"), "");
    act(&w, "bash", ARGS("command", "mkdir sub; cd sub"), "");
    hands_rest(w.hands, w.call.run_id);
    ASSERT(w.state != NULL);
    hands_end(w.hands, w.call.run_id);
    get_hand(&w);
    ASSERT_CONTAINS(act(&w, "bash", ARGS("command", "pwd"), ""), "/project/sub");
    act(&w, "write_file", ARGS("path", in_project(&w, "seen.txt"), "content", "new\n"), "");
    ASSERT_DONE(w);
    ASSERT_TEXT(on_disk(&w, "seen.txt"), "new\n");
}

TEST(long_output_keeps_both_ends)
{
    AUTO_WORLD w;
    const char *output;

    world_init(&w, t);
    output = act(&w, "bash", ARGS("command", "echo begin; seq 1 200000; echo finish"), "");
    ASSERT_DONE(w);
    ASSERT_CONTAINS(output, "begin");
    ASSERT_CONTAINS(output, "finish");
    ASSERT_CONTAINS(output, "\"truncated\":true");
    ASSERT(w.result.output.n < 140000);
}
