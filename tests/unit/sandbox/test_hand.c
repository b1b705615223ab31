/* A hand and its commands, behind real walls.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <unistd.h>

#include "rig.h"

TEST(a_command_runs_and_says_how_it_ended)
{
    struct rig rig;

    rig_init(&rig, t);
    rig_call(&rig, "bash", "{\"command\":\"echo out; echo err >&2; exit 3\"}");
    ASSERT_EQ(rig.err.code, ERR_NONE);
    ASSERT_EQ(rig_exit(&rig), 3);
    ASSERT_TEXT(rig_text(&rig, "stdout"), "out\n");
    ASSERT_TEXT(rig_text(&rig, "stderr"), "err\n");
    rig_end(&rig);
}

TEST(the_directory_is_kept_for_the_next_command)
{
    struct rig rig;

    rig_init(&rig, t);
    rig_bash(&rig, "mkdir -p a/b && cd a/b");
    ASSERT_CONTAINS(rig_bash(&rig, "pwd"), "/home/project/a/b\n");
    rig_bash(&rig, "cd ..; exit 7");
    ASSERT_EQ(rig_exit(&rig), 7);
    ASSERT_CONTAINS(rig_bash(&rig, "pwd"), "/home/project/a\n");
    rig_end(&rig);
}
