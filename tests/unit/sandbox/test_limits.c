/* Bombs of all kinds. Each must end soon, with an error that names the limit, and leave the hand
 * able to go on.
 *
 * SPDX-License-Identifier: MIT
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/limits.h"
#include "rig.h"
#include "sandbox/cgroup.h"

#define SOON_MS 20000 /* with sanitizers, on a busy machine; a second or two otherwise */

static int64_t now_ms(void)
{
    return clock_mono_ms(clock_system());
}

/* Runs it and checks that it was ended for this limit, was reported, and that life goes on. */
static void bomb(struct rig *rig, const char *command, const char *limit)
{
    struct test *t = rig->t;
    int64_t began;

    rig_bash(rig, "true");
    began = now_ms();
    rig_bash(rig, command);
    if (now_ms() - began > SOON_MS)
        FAIL("%s took %d ms", command, (int)(now_ms() - began));
    if (strcmp(rig_text(rig, "limit"), limit) != 0)
        FAIL("%s: limit is \"%s\": %s", command, rig_text(rig, "limit"), rig->text);
    ASSERT_CONTAINS(rig_text(rig, "message"), "sandbox.limits.");
    if (!rig_noticed(rig, limit))
        FAIL("%s left no notice", command);
    ASSERT_TEXT(rig_bash(rig, "echo fine"), "fine\n");
    ASSERT_EQ(rig_exit(rig), 0);
    (void)t;
}

TEST(a_fork_bomb_ends)
{
    struct rig rig;

    rig_init(&rig, t);
    bomb(&rig, ":(){ :|:& };:; sleep 20", "processes");
    rig_end(&rig);
}

TEST(a_fork_bomb_without_a_shell_ends)
{
    struct rig rig;

    rig_init(&rig, t);
    bomb(&rig, arena_printf(&t->arena, "%s forks", rig_probe(&rig)), "processes");
    rig_end(&rig);
}

TEST(a_fork_bomb_in_sessions_of_its_own_ends)
{
    struct rig rig;

    rig_init(&rig, t);
    rig.spec.processes = 16;
    bomb(&rig, "for i in {1..200}; do setsid sleep 30 & done; sleep 20", "processes");
    rig_end(&rig);
}

/* Where no control group can be made, the hand's watch alone must do. */
TEST(bombs_end_without_a_control_group)
{
    struct rig rig;

    cgroup_forbid();
    rig_init(&rig, t);
    rig.spec.memory_bytes = 256 * MIB;
    bomb(&rig, ":(){ :|:& };:; sleep 20", "processes");
    bomb(&rig, arena_printf(&t->arena, "%s forks", rig_probe(&rig)), "processes");
    bomb(&rig, arena_printf(&t->arena, "%s memory_many 200", rig_probe(&rig)), "memory");
    rig_end(&rig);
}

TEST(a_memory_bomb_ends)
{
    struct rig rig;

    rig_init(&rig, t);
    rig.spec.memory_bytes = 256 * MIB;
    rig_bash(&rig, arena_printf(&t->arena, "%s memory", rig_probe(&rig)));
    /* One process alone is told no by the kernel. */
    ASSERT_EQ(rig_exit(&rig), 1);
    ASSERT_CONTAINS(rig_text(&rig, "output"), "Cannot allocate memory");
    bomb(&rig, arena_printf(&t->arena, "%s memory_many 200", rig_probe(&rig)), "memory");
    rig_end(&rig);
}

/* Every way to have memory that no process is charged for. The kernel refuses, or the watch sees
 * it: either way it can't be had. */
static const struct {
    const char *kind;
    bool refused;
} hoards[] = {
    { "shared", false },   { "memfd", true },       { "segments", false },
    { "messages", false }, { "semaphores", false }, { "inodes", false },
    { "pipes", false },    { "sockets", false },    { "headless", false },
};

static void hoard_everything(struct rig *rig)
{
    struct test *t = rig->t;

    rig->spec.memory_bytes = 64 * MIB;
    for (size_t i = 0; i < ARRAY_LEN(hoards); i++) {
        const char *command =
            arena_printf(&t->arena, "%s hoard %s", rig_probe(rig), hoards[i].kind);

        if (!hoards[i].refused) {
            bomb(rig, command, "memory");
            continue;
        }
        rig_bash(rig, command);
        if (rig_exit(rig) != 1)
            FAIL("%s: %s", command, rig->text);
    }
    rig_bash(rig, arena_printf(&t->arena, "%s hoard shared_once", rig_probe(rig)));
    ASSERT_EQ(rig_exit(rig), 0);
}

TEST(memory_that_nobody_is_charged_for_is_counted)
{
    struct rig rig;

    rig_init(&rig, t);
    hoard_everything(&rig);
    rig_end(&rig);
}

/* As an ordinary user has it, who may make none. */
TEST(memory_that_nobody_is_charged_for_is_counted_without_a_control_group)
{
    struct rig rig;

    cgroup_forbid();
    rig_init(&rig, t);
    hoard_everything(&rig);
    rig_end(&rig);
}

#define FREED_PARTS 60
#define FREED_BYTES (16 * MIB)

/* Another program, which gives back more than the sandbox takes. */
static void *free_slowly(void *arg)
{
    char **parts = arg;

    for (size_t i = 0; i < FREED_PARTS; i++) {
        munmap(parts[i], FREED_BYTES);
        usleep(50000);
    }
    return NULL;
}

TEST(who_frees_memory_outside_hides_nothing)
{
    struct rig rig;
    char *parts[FREED_PARTS];
    pthread_t thread;

    cgroup_forbid();
    rig_init(&rig, t);
    rig.spec.memory_bytes = 32 * MIB;
    for (size_t i = 0; i < FREED_PARTS; i++) {
        parts[i] =
            mmap(NULL, FREED_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        ASSERT(parts[i] != MAP_FAILED);
        memset(parts[i], 1, FREED_BYTES);
    }
    rig_bash(&rig, "true");
    ASSERT_EQ(pthread_create(&thread, NULL, free_slowly, parts), 0);
    rig_bash(&rig, arena_printf(&t->arena, "timeout 2.5 %s hoard shared_slowly", rig_probe(&rig)));
    ASSERT_TEXT(rig_text(&rig, "limit"), "memory");
    pthread_join(thread, NULL);
    rig_end(&rig);
}

/* A program that may be run but not read is closed to the watch as well: it has no advantage. */
TEST(a_program_that_hides_what_it_holds_is_ended)
{
    struct rig rig;

    cgroup_forbid();
    rig_init(&rig, t);
    rig.spec.memory_bytes = 64 * MIB;
    bomb(&rig,
         arena_printf(&t->arena, "cp %s hidden; chmod 111 hidden; ./hidden hoard shared",
                      rig_probe(&rig)),
         "memory");
    rig_end(&rig);
}

TEST(files_in_private_memory_are_bounded)
{
    struct rig rig;

    rig_init(&rig, t);
    rig.spec.memory_bytes = 128 * MIB;
    rig_bash(&rig, "head -c 100M /dev/zero > /tmp/big");
    ASSERT(rig_exit(&rig) != 0);
    ASSERT_CONTAINS(rig_text(&rig, "output"), "No space left on device");
    rig_bash(&rig, "rm /tmp/big; head -c 100M /dev/zero > /dev/shm/big");
    ASSERT_CONTAINS(rig_text(&rig, "output"), "No space left on device");
    /* Full as they are, there is room left to work. */
    rig_bash(&rig, "head -c 100M /dev/zero > /tmp/big; sleep 0.2; echo fine");
    ASSERT_CONTAINS(rig_text(&rig, "output"), "fine\n");
    rig_end(&rig);
}

TEST(filling_the_disk_ends)
{
    struct rig rig;

    rig_init(&rig, t);
    rig.spec.disk_bytes = 48 * MIB;
    bomb(&rig, "for i in {1..400}; do head -c 4M /dev/urandom > f$i; done; sleep 15", "disk");
    rig_bash(&rig, "rm -f f*");
    rig_end(&rig);
}

/* A file that was removed takes its space until nobody holds it. */
TEST(files_without_a_name_count_as_written)
{
    static const char *const ways[] = { "unnamed_open", "unnamed_mapped" };
    struct rig rig;

    rig_init(&rig, t);
    rig.spec.disk_bytes = 24 * MIB;
    for (size_t i = 0; i < ARRAY_LEN(ways); i++)
        bomb(&rig, arena_printf(&t->arena, "%s %s 96", rig_probe(&rig), ways[i]), "disk");
    rig_end(&rig);
}

/* What is in flight can't be measured; it counts when the file system misses that much. On one that
 * others use at the same time, what they remove would hide it. */
TEST(files_in_flight_count_as_written)
{
    struct rig rig;

    rig_init(&rig, t);
    if (geteuid() != 0)
        SKIP("only root can mount a file system of its own");
    ASSERT_EQ(unshare(CLONE_NEWNS), 0);
    ASSERT_EQ(mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL), 0);
    ASSERT_EQ(mount("tmpfs", rig.spec.cwd, "tmpfs", 0, "size=512m"), 0);
    rig.spec.disk_bytes = 24 * MIB;
    bomb(&rig, arena_printf(&t->arena, "%s unnamed_in_flight 96", rig_probe(&rig)), "disk");
    rig_end(&rig);
}

TEST(files_in_a_directory_that_was_closed_count_as_written)
{
    struct rig rig;

    rig_init(&rig, t);
    rig.spec.disk_bytes = 24 * MIB;
    bomb(&rig,
         "mkdir d; cd d; chmod 300 .; for i in {1..20}; do head -c 4M /dev/zero > f$i; done; sleep "
         "15",
         "disk");
    rig_bash(&rig, "chmod 700 d; rm -r d");
    rig_end(&rig);
}

/* Commands that are over before anybody looks can't add up to more either. */
TEST(short_commands_together_are_bounded)
{
    struct rig rig;
    int ended = 0;

    rig_init(&rig, t);
    rig.spec.disk_bytes = 24 * MIB;
    for (int i = 0; i < 30; i++) {
        rig_bash(&rig, arena_printf(&t->arena, "head -c 4M /dev/zero > f%d; sleep 0.1", i));
        ended += strcmp(rig_text(&rig, "limit"), "disk") == 0;
    }
    rig_bash(&rig, "cat f* | wc -c");
    if (ended == 0 || atoi(rig_text(&rig, "output")) > (int)(64 * MIB))
        FAIL("ended %d of 30, %s bytes were written", ended, rig_text(&rig, "output"));
    rig_end(&rig);
}

TEST(past_its_limit_a_disk_is_read_and_cleared_and_not_written)
{
    struct rig rig;

    rig_init(&rig, t);
    rig.spec.disk_bytes = 24 * MIB;
    bomb(&rig, "for i in {1..12}; do head -c 4M /dev/zero > f$i; done; sleep 15", "disk");
    rig_bash(&rig, "echo more > g || echo more >> f1");
    ASSERT_EQ(rig_exit(&rig), 1);
    ASSERT_CONTAINS(rig_text(&rig, "output"), "g: Permission denied");
    ASSERT_CONTAINS(rig_text(&rig, "output"), "f1: Permission denied");
    rig_bash(&rig, "head -c 1 f1 | wc -c && rm f*");
    ASSERT_EQ(rig_exit(&rig), 0);
    rig_bash(&rig, "echo more > g && cat g");
    ASSERT_TEXT(rig_text(&rig, "output"), "more\n");
    rig_end(&rig);
}

TEST(many_files_end)
{
    struct rig rig;

    rig_init(&rig, t);
    rig.spec.files = 2000;
    bomb(&rig, "for i in {1..9000}; do : > f$i; done; sleep 15", "files");
    rig_bash(&rig, "rm -f f*");
    rig_end(&rig);
}

TEST(one_huge_file_is_refused_by_the_kernel)
{
    struct rig rig;

    rig_init(&rig, t);
    rig.spec.disk_bytes = 16 * MIB;
    rig_bash(&rig, "head -c 64M /dev/zero > big");
    ASSERT(rig_exit(&rig) != 0);
    ASSERT_EQ(access(test_path(t, "home/project/big"), F_OK), 0);
    rig_bash(&rig, "stat -c %s big");
    ASSERT_TEXT(rig_text(&rig, "output"), "16777216\n");
    rig_end(&rig);
}

TEST(a_command_that_takes_too_long_is_ended_with_what_it_said)
{
    struct rig rig;
    int64_t began;

    rig_init(&rig, t);
    rig.spec.time_limit_ms = 300;
    rig_bash(&rig, "true");
    began = now_ms();
    rig_call(&rig, "bash",
             "{\"command\":\"echo before; trap '' TERM; sleep 30 & wait; sleep 30\"}");
    ASSERT(now_ms() - began < SOON_MS);
    ASSERT_EQ(rig.err.code, ERR_NONE);
    ASSERT_CONTAINS(rig.text, "\"timed_out\":true");
    ASSERT_TEXT(rig_text(&rig, "stdout"), "before\n");
    ASSERT_EQ(rig_exit(&rig), -1);
    ASSERT_TEXT(rig_bash(&rig, "ps ax | grep -c '[s]leep'"), "0\n");
    rig_end(&rig);
}

TEST(a_call_may_ask_for_more_or_less_time)
{
    struct rig rig;

    rig_init(&rig, t);
    rig.spec.time_limit_ms = 300;
    rig_call(&rig, "bash", "{\"command\":\"sleep 0.6; echo done\",\"timeout_s\":5}");
    ASSERT_TEXT(rig_text(&rig, "stdout"), "done\n");
    rig_end(&rig);
}

/* However fast it writes, its time is looked at. */
TEST(a_command_that_never_stops_writing_is_ended_in_time)
{
    struct rig rig;

    rig_init(&rig, t);
    rig.spec.time_limit_ms = 300;
    rig_call(&rig, "bash", "{\"command\":\"cat /dev/zero\"}");
    ASSERT_EQ(rig.err.code, ERR_NONE);
    ASSERT_CONTAINS(rig.text, "\"timed_out\":true");
    rig_end(&rig);
}
