/* Files that may not be read by their name alone (".env"): whatever an earlier run did to hide one
 * from the next start, it stays closed.
 *
 * SPDX-License-Identifier: MIT
 */
#include "rig.h"

/* What one run does, and where the file is then, for the next one. */
static const struct {
    const char *command, *path;
} hidings[] = {
    { "true", "a/b/.env" },
    { "chmod 311 a", "a/b/.env" },
    { "chmod 0 a/b", "a/b/.env" },
    { "mkdir node_modules; mv a node_modules/", "node_modules/a/b/.env" },
    { "git init -q .; mv a .git/", ".git/a/b/.env" },
    { "mv a/b c", "c/.env" },
};

TEST(a_file_that_may_not_be_read_by_its_name_can_not_be_hidden_from_the_next_start)
{
    struct rig rig;

    rig_init(&rig, t);
    for (size_t i = 0; i < sizeof(hidings) / sizeof(hidings[0]); i++) {
        rig_outside(&rig, "mkdir -p a/b; echo canary > a/b/.env; echo plain > a/b/plain");
        rig_bash(&rig, hidings[i].command);
        rig_end_hand(&rig);
        for (int k = 0; k < 2; k++) {
            const char *path = k ? hidings[i].path : "a/b/.env";
            const char *text =
                rig_bash(&rig, arena_printf(&t->arena, "chmod -R u+rwX .; cat %s", path));

            if (strstr(text, "canary"))
                FAIL("%s: %s", hidings[i].command, text);
        }
        rig_end_hand(&rig);
        rig_outside(&rig, "chmod -R u+rwX .; rm -rf a c node_modules .git");
    }
    rig_end(&rig);
}

/* A cover is no obstacle to moving what holds it. */
TEST(directories_on_the_way_to_what_is_covered_stay_where_they_are)
{
    struct rig rig;

    rig_init(&rig, t);
    rig_outside(&rig,
                "mkdir -p a/b; echo canary > a/b/.env; mkdir -p s/t/keys; echo x > s/t/keys/k");
    rig.spec.deny_read = (const char *const[]){ ".env", "./s/t/keys", NULL };
    for (size_t i = 0; i < 4; i++) {
        static const char *const from[] = { "a", "a/b", "s", "s/t" };

        rig_bash(&rig, arena_printf(&t->arena, "mv %s moved", from[i]));
        if (rig_exit(&rig) == 0)
            FAIL("%s was moved", from[i]);
    }
    rig_bash(&rig, "echo x > a/b/other && mv a/b/other a/other && mv a/other other");
    ASSERT_EQ(rig_exit(&rig), 0);
    rig_end(&rig);
}

TEST(a_directory_that_can_not_be_listed_is_closed_and_told)
{
    struct rig rig;

    rig_init(&rig, t);
    rig_outside(&rig, "mkdir a; echo plain > a/plain; chmod 311 a");
    rig_bash(&rig, "chmod 755 a; cat a/plain");
    ASSERT(rig_exit(&rig) != 0);
    ASSERT(rig_noticed(&rig, "a can't be listed"));
    rig_end(&rig);
    rig_outside(&rig, "chmod 755 a");
}

/* Whoever walks it as the kernel does must end as the kernel does. */
TEST(a_name_that_leads_round_in_circles_is_refused_and_holds_nobody_up)
{
    static const char *const ways[] = { "loop", "a/x", "../work/loop/x", "one/two" };
    struct rig rig;

    rig_init(&rig, t);
    rig_bash(&rig, "ln -s loop loop; ln -s b a; ln -s a b; ln -s two one; ln -s one/one two");
    ASSERT_EQ(rig_exit(&rig), 0);
    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
        rig_bash(&rig, arena_printf(&t->arena, "echo x > %s", ways[i]));
        ASSERT_EQ(rig_exit(&rig), 1);
        rig_bash(&rig, arena_printf(&t->arena, "mkdir %s/new", ways[i]));
        ASSERT_EQ(rig_exit(&rig), 1);
    }
    rig_bash(&rig, "echo y > plain && cat plain");
    ASSERT_EQ(rig_exit(&rig), 0);
    rig_end(&rig);
}
