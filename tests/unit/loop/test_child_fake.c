/* Scripted children on the fake loop, as the simulator uses them.
 *
 * SPDX-License-Identifier: MIT
 */
#include <signal.h>

#include "harness/test.h"
#include "loop/child.h"

struct scene {
    struct clock_fake clock;
    struct loop *loop;
    struct child_fake_act act;
    char asked[64]; /* path that was started */
    int ended;
    struct child_result result;
    char out[64];
    int64_t ended_ms;
};

static void scene_play(const struct child_config *config, struct child_fake_act *act, void *arg)
{
    struct scene *scene = arg;

    strncpy(scene->asked, config->path, sizeof(scene->asked) - 1);
    *act = scene->act;
}

static void scene_done(struct child *child, const struct child_result *result, void *arg)
{
    struct scene *scene = arg;

    (void)child;
    scene->ended++;
    scene->result = *result;
    memcpy(scene->out, result->out.p, result->out.n);
    scene->ended_ms = clock_mono_ms(&scene->clock.clock);
}

static struct scene *scene_new(void)
{
    struct scene *scene = NEW(struct scene);

    clock_fake_init(&scene->clock, 0);
    scene->loop = loop_new_fake(&scene->clock);
    child_fake_install(scene->loop, scene_play, scene);
    return scene;
}

static void scene_free(struct scene *scene)
{
    loop_free(scene->loop);
    free(scene);
}
AUTO_DEFINE(scene)

static struct child *begin(struct test *t, struct scene *scene, struct child_config config)
{
    static const char *const argv[] = { "tool", NULL };
    struct child *child = NULL;

    config.path = "/bin/tool";
    config.argv = argv;
    config.done = scene_done;
    config.arg = scene;
    ASSERT_OK(child_start(scene->loop, &config, &child, &t->err));
    return child;
}

TEST(a_scripted_child_ends_when_its_time_has_come)
{
    AUTO(scene) s = scene_new();

    s->act = (struct child_fake_act){ .after_ms = 40, .exit_code = 5, .out = STR("hello") };
    begin(t, s, (struct child_config){ 0 });
    ASSERT_TEXT(s->asked, "/bin/tool");
    loop_fake_advance(s->loop, 39);
    ASSERT_EQ(s->ended, 0);
    loop_fake_advance(s->loop, 1);
    ASSERT_EQ(s->ended, 1);
    ASSERT_EQ(s->result.exit_code, 5);
    ASSERT_EQ(s->result.duration_ms, 40);
    ASSERT_TEXT(s->out, "hello");
}

TEST(a_scripted_child_is_bound_by_time_and_output_limits)
{
    AUTO(scene) s = scene_new();

    s->act = (struct child_fake_act){ .hangs = true, .out = STR("hello") };
    begin(t, s, (struct child_config){ .time_limit_ms = 70, .out_max = 2 });
    loop_fake_advance(s->loop, HOURS(1));
    ASSERT_EQ(s->ended_ms, 70);
    ASSERT(s->result.timed_out && s->result.truncated[CHILD_OUT]);
    ASSERT_EQ(s->result.signal, SIGTERM);
    ASSERT_TEXT(s->out, "he");
}

TEST(a_scripted_child_can_be_cancelled)
{
    AUTO(scene) s = scene_new();
    struct child *child;

    s->act = (struct child_fake_act){ .hangs = true };
    child = begin(t, s, (struct child_config){ .time_limit_ms = 70 });
    child_cancel(child);
    child_cancel(child);
    ASSERT_EQ(s->ended, 0);
    loop_fake_tick(s->loop);
    ASSERT_EQ(s->ended, 1);
    ASSERT(s->result.cancelled && !s->result.timed_out);
}

TEST(a_scripted_child_may_fail_to_start)
{
    AUTO(scene) s = scene_new();

    s->act = (struct child_fake_act){ .fails = ERR_NOT_FOUND };
    begin(t, s, (struct child_config){ 0 });
    loop_fake_tick(s->loop);
    ASSERT_EQ(s->result.err.code, ERR_NOT_FOUND);
    ASSERT_EQ(s->result.exit_code, -1);
}

TEST(the_number_of_children_is_bounded)
{
    AUTO(scene) s = scene_new();
    static const char *const argv[] = { "tool", NULL };
    struct child_config config = { .path = "/t", .argv = argv, .done = scene_done, .arg = s };
    struct child *child;

    s->act.after_ms = 5;
    for (int i = 0; i < CHILDREN_MAX; i++)
        ASSERT_OK(child_start(s->loop, &config, &child, &t->err));
    ASSERT_FAILS(child_start(s->loop, &config, &child, &t->err), ERR_RATE_LIMITED);
    loop_fake_advance(s->loop, 5);
    ASSERT_EQ(s->ended, CHILDREN_MAX);
    ASSERT_OK(child_start(s->loop, &config, &child, &t->err));
    loop_fake_advance(s->loop, 5);
}
