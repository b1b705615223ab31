/* The daemon is root, the hand is not: to the kernel it is a user of its own.
 *
 * SPDX-License-Identifier: MIT
 */
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rig.h"
#include "sandbox/hand_int.h"

#define STRANGER 12345

static void root_init(struct rig *rig, struct test *t)
{
    if (!walls_is_root())
        SKIP("this needs root");
    rig_init(rig, t);
}

TEST(no_process_inside_is_root_to_the_kernel)
{
    const gid_t groups[] = { STRANGER };
    struct rig rig;
    char path[64];
    uint64_t stamp;
    struct stat st;

    root_init(&rig, t);
    ASSERT_EQ(setgroups(ARRAY_LEN(groups), groups), 0);
    rig_bash(&rig, "sleep 600 & true");
    /* bubblewrap, which waits outside for process 1. */
    snprintf(path, sizeof(path), "/proc/%d", hand_pid(rig.hand, &stamp));
    ASSERT_EQ(stat(path, &st), 0);
    ASSERT_EQ(st.st_uid, HAND_UID);
    ASSERT_EQ(st.st_gid, HAND_UID);
    snprintf(path + strlen(path), sizeof(path) - strlen(path), "/status");
    ASSERT_CONTAINS(test_read_file(t, path).p, "\nGroups:\t \n");
    rig_end(&rig);
}

TEST(a_root_daemon_s_commands_write_nothing_of_the_kernel_s)
{
    struct rig rig;

    root_init(&rig, t);
    /* Opened for appending and never written to: a success harms nobody. */
    rig_bash(&rig, "for f in $(find /proc/sys -type f) /proc/sysrq-trigger; do "
                   "(exec 3>>$f) 2>/dev/null && echo opened $f; done; true");
    ASSERT_TEXT(rig_text(&rig, "output"), "");
    rig_bash(&rig, "for f in kcore keys timer_list kmsg; do head -c1 /proc/$f && echo read $f; "
                   "done 2>/dev/null; true");
    ASSERT_TEXT(rig_text(&rig, "output"), "");
    rig_bash(&rig, "test -e /proc/self/status && cat /proc/sys/kernel/ostype");
    ASSERT_TEXT(rig_text(&rig, "output"), "Linux\n");
    rig_end(&rig);
}

TEST(a_root_daemon_s_commands_read_what_everybody_may_read_and_no_more)
{
    struct rig rig;

    root_init(&rig, t);
    rig_bash(&rig, "find /etc /root /var -xdev -type f ! -perm -o=r -exec sh -c "
                   "'head -c0 \"$1\" && echo \"$1\"' sh {} ';' 2>/dev/null; true");
    ASSERT_TEXT(rig_text(&rig, "output"), "");
    rig_bash(&rig, "cat /etc/shadow /etc/gshadow");
    ASSERT_CONTAINS(rig_text(&rig, "output"), "Permission denied");
    rig_bash(&rig, "cat /etc/passwd > /dev/null");
    ASSERT_EQ(rig_exit(&rig), 0);
    rig_end(&rig);
}

/* Places belong to the hand inside and to their owner outside. */
TEST(what_a_command_makes_belongs_to_the_owner_of_the_place)
{
    static const uid_t owners[] = { 0, STRANGER };
    struct rig rig;

    root_init(&rig, t);
    for (size_t i = 0; i < ARRAY_LEN(owners); i++) {
        const char *path = test_path(t, "home/project/made");
        struct stat st;

        ASSERT_EQ(chown(rig.project, owners[i], owners[i]), 0);
        ASSERT_EQ(chmod(rig.project, 0700), 0);
        rig_bash(&rig, "echo x > made && chmod 600 made && cat made && mkdir d && rmdir d");
        ASSERT_EQ(rig_exit(&rig), 0);
        ASSERT_EQ(stat(path, &st), 0);
        ASSERT_EQ(st.st_uid, owners[i]);
        ASSERT_EQ(st.st_gid, owners[i]);
        ASSERT_EQ(unlink(path), 0);
        rig_end_hand(&rig);
    }
    rig_end(&rig);
}

/* Nothing is left of what was mounted for it. */
TEST(lending_places_leaves_the_system_as_it_was)
{
    struct rig rig;
    char *before = arena_text(&t->arena, test_read_file(t, "/proc/self/mounts").p);

    root_init(&rig, t);
    rig_bash(&rig, "true");
    ASSERT_STR(test_read_file(t, "/proc/self/mounts"), before);
    rig_end(&rig);
    ASSERT_STR(test_read_file(t, "/proc/self/mounts"), before);
}
