/* Hands that lie, against the real keeper.
 *
 * SPDX-License-Identifier: MIT
 */
#include <dirent.h>
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "rig.h"
#include "sandbox/hand_int.h"

/* The rig with a false hand in place of the real one. */
static void fake(struct rig *rig, struct test *t, const char *how)
{
    const char **env = ARENA_NEW_N(&t->arena, const char *, 2);

    rig_init(rig, t);
    hand_set_path(FAKE_HAND_PATH);
    env[0] = arena_printf(&t->arena, "FAKE=%s", how);
    rig->spec.env = env;
    rig->spec.off = true;
}

static unsigned open_files(void)
{
    DIR *dir = opendir("/proc/self/fd");
    unsigned n = 0;

    while (readdir(dir))
        n++;
    closedir(dir);
    return n;
}

TEST(nonsense_ends_the_hand_and_fails_the_call)
{
    static const char *const how[] = {
        "no_json", "array",         "wrong_id",   "no_id",       "text_id",       "neither",
        "both",    "bad_code",      "no_message", "bad_cwd",     "bad_read",      "bad_notice",
        "huge",    "empty",         "garbage",    "hello_twice", "duplicate_key", "bad_hello",
        "half",    "answers_first", "dies",
    };

    for (size_t i = 0; i < sizeof(how) / sizeof(how[0]); i++) {
        struct rig rig;
        uint64_t stamp;

        fake(&rig, t, how[i]);
        rig_call(&rig, "bash", "{\"command\":\"true\"}");
        if (rig.err.code != ERR_INTERNAL && rig.err.code != ERR_SANDBOX_UNAVAILABLE)
            FAIL("%s: %s", how[i], err_name(rig.err.code));
        ASSERT_EQ(hand_pid(rig.hand, &stamp), 0);
        rig_end(&rig);
    }
}

TEST(after_a_liar_a_fresh_hand_is_started)
{
    struct rig rig;

    fake(&rig, t, "no_json");
    rig_call(&rig, "bash", "{\"command\":\"true\"}");
    ASSERT_EQ(rig.err.code, ERR_INTERNAL);
    ASSERT_CONTAINS(err_message(&rig.err, 0), "the hand said");
    hand_set_path(HAND_PATH);
    ASSERT_TEXT(rig_bash(&rig, "echo honest"), "honest\n");
    rig_end(&rig);
}

TEST(an_answer_given_twice_counts_once)
{
    struct rig rig;
    bool gone = false;

    fake(&rig, t, "twice");
    rig_call(&rig, "bash", "{\"command\":\"true\"}");
    ASSERT_EQ(rig.err.code, ERR_NONE);
    ASSERT_TEXT(rig.text, "1");
    /* The second belongs to nobody, and so the hand is given up: the next call finds a new one. */
    while (!gone) {
        rig_call(&rig, "bash", "{\"command\":\"true\"}");
        gone = rig.err.code != ERR_NONE;
    }
    ASSERT_EQ(rig.err.code, ERR_INTERNAL);
    rig_end(&rig);
}

TEST(descriptors_that_a_hand_sends_are_not_taken)
{
    struct rig rig;
    unsigned before;

    fake(&rig, t, "descriptors");
    rig_start(&rig);
    before = open_files();
    rig_call(&rig, "bash", "{\"command\":\"true\"}");
    ASSERT_EQ(rig.err.code, ERR_NONE);
    /* The socket, pidfds and pipes of the child, copies of our programs: far fewer than were sent.
     */
    ASSERT(open_files() <= before + 9);
    rig_end(&rig);
}

TEST(what_bubblewrap_says_comes_with_what_to_do)
{
    struct rig rig;

    fake(&rig, t, "says_why");
    rig_call(&rig, "bash", "{\"command\":\"true\"}");
    ASSERT_EQ(rig.err.code, ERR_SANDBOX_UNAVAILABLE);
    ASSERT_CONTAINS(err_message(&rig.err, 0), "setting up uid map: Permission denied");
    ASSERT_CONTAINS(err_message(&rig.err, 0), "apparmor_restrict_unprivileged_userns");
    rig_end(&rig);
}

TEST(a_hand_that_never_answers_is_given_up)
{
    struct rig rig;

    fake(&rig, t, "never");
    rig_call(&rig, "bash", "{\"command\":\"true\",\"timeout_s\":1}");
    ASSERT_EQ(rig.err.code, ERR_TIMEOUT);
    rig_end(&rig);
}

#define STUBBORN 3

static void count_closed(void *arg)
{
    ++*(unsigned *)arg;
}

TEST(hands_that_do_not_end_are_waited_for_together)
{
    struct hand *hands[STUBBORN];
    unsigned closed = 0;
    struct rig rig;
    int64_t began;

    fake(&rig, t, "stays");
    for (size_t i = 0; i < STUBBORN; i++) {
        rig_call(&rig, "bash", "{\"command\":\"true\"}");
        ASSERT_EQ(rig.err.code, ERR_NONE);
        hands[i] = rig.hand;
        rig.hand = NULL;
    }
    began = clock_mono_ms(clock_system());
    for (size_t i = 0; i < STUBBORN; i++)
        hand_close(hands[i], count_closed, &closed);
    ASSERT_EQ(closed, 0);
    hand_close_wait(hands, STUBBORN);
    ASSERT_EQ(closed, STUBBORN);
    ASSERT(clock_mono_ms(clock_system()) - began < 2 * HAND_LAST_MS);
    rig_end(&rig);
}

TEST(a_hand_that_never_greets_is_given_up)
{
    struct rig rig;

    fake(&rig, t, "silent");
    rig_call(&rig, "bash", "{\"command\":\"true\"}");
    ASSERT_EQ(rig.err.code, ERR_SANDBOX_UNAVAILABLE);
    ASSERT_CONTAINS(err_message(&rig.err, 0), "not ready");
    rig_end(&rig);
}

TEST(a_hand_that_is_not_installed_is_named)
{
    struct rig rig;

    rig_init(&rig, t);
    hand_set_path("/nowhere/dormouse-hand");
    rig_call(&rig, "bash", "{\"command\":\"true\"}");
    ASSERT_EQ(rig.err.code, ERR_SANDBOX_UNAVAILABLE);
    rig_end(&rig);
}
