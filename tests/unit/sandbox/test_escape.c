/* Ways out of the sandbox, each tried for real. Every one must fail with an error that says so.
 *
 * SPDX-License-Identifier: MIT
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "refused.h"

/* ---- files ---- */

TEST(keys_in_the_home_directory_can_not_be_read)
{
    struct rig rig;

    rig_init(&rig, t);
    ASSERT_REFUSED("cat ~/.ssh/id_ed25519", "Permission denied");
    ASSERT_REFUSED("ls ~/.ssh", "Permission denied");
    ASSERT_REFUSED("chmod 700 ~/.ssh; cat ~/.ssh/id_ed25519", "denied");
    ASSERT_REFUSED("touch ~/.ssh/x", "Permission denied");
    ASSERT_REFUSED("mv ~/.ssh ~/x", "");
    ASSERT_REFUSED("rmdir ~/.ssh", "");
    rig_end(&rig);
}

/* ---- denied places that are not there yet ---- */

/* A home that is not below /tmp, which is granted as a whole because it is the sandbox's own. */
static const char *later_init(struct rig *rig, struct test *t)
{
    static char dir[64];

    rig_init(rig, t);
    snprintf(dir, sizeof(dir), "/var/tmp/dormouse-test-XXXXXX");
    ASSERT(mkdtemp(dir));
    ASSERT_EQ(chmod(dir, 0755), 0);
    rig->spec.home = dir;
    rig->spec.cwd = arena_printf(&t->arena, "%s/project", dir);
    ASSERT_EQ(mkdir(rig->spec.cwd, 0755), 0);
    return dir;
}

static void later_write(struct test *t, const char *dir, const char *name, const char *text)
{
    test_write_file(arena_printf(&t->arena, "%s/%s", dir, name), text, strlen(text));
}

static void later_end(struct rig *rig, const char *dir)
{
    rig_end(rig);
    ASSERT_EQ(system(arena_printf(&rig->t->arena, "rm -rf '%s'", dir)), 0);
}

/* Somebody makes it while the hand runs. Nothing is there to mount over, and nothing is made. */
TEST(a_denied_place_that_comes_into_being_later_can_not_be_read)
{
    static const char *const deny[] = { "~/later", "~/deep/down/key", "~/.ssh", NULL };
    struct rig rig;
    const char *home = later_init(&rig, t);

    rig.spec.deny_read = deny;
    later_write(t, home, "notes", "notes\n");
    rig_bash(&rig, "cat ~/notes && ls -A ~ && cat /etc/passwd > /dev/null && echo x > w");
    ASSERT_EQ(rig_exit(&rig), 0);
    ASSERT_TEXT(rig_text(&rig, "output"), "notes\nnotes\nproject\n");
    ASSERT_EQ(mkdir(arena_printf(&t->arena, "%s/later", home), 0755), 0);
    ASSERT_EQ(mkdir(arena_printf(&t->arena, "%s/deep", home), 0755), 0);
    ASSERT_EQ(mkdir(arena_printf(&t->arena, "%s/deep/down", home), 0755), 0);
    later_write(t, home, "later/key", "canary");
    later_write(t, home, "deep/down/key", "canary");
    ASSERT_REFUSED("cat ~/later/key", "Permission denied");
    ASSERT_REFUSED("cat ~/deep/down/key", "Permission denied");
    ASSERT_REFUSED("cd ~/later; cat key", "Permission denied");
    ASSERT_REFUSED("cd ~/project; ln -s ~/later l; cat l/key", "Permission denied");
    ASSERT_REFUSED("cd ~/project; cp -r ~/later here; cat here/key", "Permission denied");
    rig_call(&rig, "read_file", "{\"path\":\"~/later/key\"}");
    ASSERT_EQ(rig.err.code, ERR_PATH_DENIED);
    rig_bash(&rig, "cat ~/notes && cd ~/project && echo y > w && cat w");
    ASSERT_EQ(rig_exit(&rig), 0);
    later_end(&rig, home);
}

/* In a writable place and below /tmp there is nothing that Landlock could leave out. */
TEST(a_denied_place_that_is_not_there_can_not_be_made)
{
    static const char *const deny[] = { "./keys", "./a/b/key", "/tmp/dormouse-keys", NULL };
    static const char *const ways[] = {
        "mkdir keys",
        "echo x > keys",
        "ln -s a keys",
        "mkdir m && mv -T m keys",
        "echo x > f && ln f keys",
        "mkdir -p a/b/key",
        "mkdir -p a/b && echo x > a/b/key",
        "mkdir -p a/b && ln -s a/b way && echo x > way/key",
        "mkdir -p n/key && rm -rf a/b && mv -T n a/b",
        "mkdir -p o/b/key && rm -rf a && mv -T o a",
        "mkdir -p p/b/key a && python3 -c 'import ctypes, sys; sys.exit(ctypes.CDLL(None).renameat2"
        "(-100, b\"a\", -100, b\"p\", 2) != 0)'",
        "rm -rf a; ln -s o a",
        "mkdir /tmp/dormouse-keys",
        "echo x > /tmp/dormouse-keys",
        "echo x > /tmp/f && mv /tmp/f /tmp/dormouse-keys",
    };
    struct rig rig;

    rig_init(&rig, t);
    rig.spec.deny_read = deny;
    for (size_t i = 0; i < ARRAY_LEN(ways); i++) {
        rig_bash(&rig, ways[i]);
        if (rig_exit(&rig) == 0)
            FAIL("%s: %s", ways[i], rig.text);
        rig_bash(&rig, "ls -d keys a/b/key /tmp/dormouse-keys 2> /dev/null");
        ASSERT_TEXT(rig_text(&rig, "output"), "");
    }
    ASSERT(rig_noticed(&rig, "denied: keys by mkdir refused"));
    rig_bash(&rig,
             "rm -rf a; mkdir -p a/b/c sub/keys && echo x > a/b/keys && echo x > key && mv key k");
    ASSERT_EQ(rig_exit(&rig), 0);
    rig_end(&rig);
}

TEST(a_directory_that_can_not_be_listed_keeps_nothing_else_from_being_read)
{
    static const char *const deny[] = { "~/later", NULL };
    struct rig rig;
    const char *home = later_init(&rig, t);

    rig.spec.deny_read = deny;
    ASSERT_EQ(chmod(home, 0311), 0);
    rig_bash(&rig, "echo x > w && cat w");
    ASSERT_EQ(rig_exit(&rig), 0);
    ASSERT_EQ(mkdir(arena_printf(&t->arena, "%s/later", home), 0755), 0);
    later_write(t, home, "later/key", "canary");
    ASSERT_REFUSED("cat ~/later/key", "Permission denied");
    ASSERT_EQ(chmod(home, 0755), 0);
    later_end(&rig, home);
}

TEST(files_of_a_denied_name_can_not_be_read)
{
    struct rig rig;

    rig_init(&rig, t);
    ASSERT_REFUSED("cat .env", "Permission denied");
    ASSERT_REFUSED("cp .env copy", "Permission denied");
    ASSERT_REFUSED("mv .env other && cat other", "busy");
    ASSERT_REFUSED("rm .env", "busy");
    ASSERT_REFUSED("ln .env other && cat other", "");
    rig_end(&rig);
    ASSERT_STR(test_read_file(t, test_path(t, "home/project/.env")), "canary-env");
}

TEST(a_directory_of_a_denied_name_and_a_deep_one_are_covered_too)
{
    struct rig rig;

    rig_init(&rig, t);
    mkdir(test_path(t, "home/project/a"), 0755);
    mkdir(test_path(t, "home/project/a/.env"), 0755);
    test_write_file(test_path(t, "home/project/a/.env/x"), "canary", 6);
    ASSERT_REFUSED("cat a/.env/x", "Permission denied");
    rig_end(&rig);
}

TEST(dormouse_s_own_data_is_not_there)
{
    struct rig rig;

    rig_init(&rig, t);
    ASSERT_REFUSED("cat ~/data/token", "Permission denied");
    ASSERT_REFUSED("echo x > ~/data/new", "Permission denied");
    rig_end(&rig);
    ASSERT(access(test_path(t, "home/data/new"), F_OK) < 0);
}

TEST(nothing_is_written_outside_the_writable_places)
{
    struct rig rig;

    rig_init(&rig, t);
    ASSERT_REFUSED("echo x >> ~/notes", "Read-only file system");
    ASSERT_REFUSED("touch ~/new", "Read-only file system");
    ASSERT_REFUSED("touch /usr/bin/new", "Read-only file system");
    ASSERT_REFUSED("touch /etc/new", "Read-only file system");
    ASSERT_REFUSED("touch /run/new", "Permission denied");
    ASSERT_REFUSED("touch /dev/new", "Permission denied");
    ASSERT_REFUSED("rm ~/notes", "Read-only file system");
    ASSERT_REFUSED("echo 1 > /proc/sys/kernel/core_pattern", "");
    rig_bash(&rig, "echo inside > new");
    ASSERT_EQ(rig_exit(&rig), 0);
    rig_end(&rig);
    ASSERT_STR(test_read_file(t, test_path(t, "home/notes")), "notes outside the project\n");
    ASSERT_STR(test_read_file(t, test_path(t, "home/project/new")), "inside\n");
}

TEST(the_temporary_directory_is_private)
{
    struct rig rig;
    const char *mine = test_path(t, "seen-outside");
    const char *command = arena_printf(&t->arena, "cat %s", mine);

    rig_init(&rig, t);
    test_write_file(mine, "canary", 6);
    if (strncmp(mine, "/tmp/", 5) == 0)
        ASSERT_REFUSED(command, "No such file");
    rig_bash(&rig, "echo x > /tmp/dormouse-test-inside && cat /tmp/dormouse-test-inside");
    ASSERT_EQ(rig_exit(&rig), 0);
    ASSERT(access("/tmp/dormouse-test-inside", F_OK) < 0);
    rig_end(&rig);
}

TEST(symbolic_links_lead_nowhere_new)
{
    struct rig rig;

    rig_init(&rig, t);
    ASSERT_REFUSED("ln -s ~/.ssh/id_ed25519 key; cat key", "Permission denied");
    ASSERT_REFUSED("ln -s ~/.ssh keys; ls keys/", "Permission denied");
    ASSERT_REFUSED("ln -s ~/notes n; echo x >> n", "Read-only file system");
    ASSERT_REFUSED("ln -s / root; cat root/$HOME/.ssh/id_ed25519", "Permission denied");
    rig_end(&rig);
    ASSERT_STR(test_read_file(t, test_path(t, "home/notes")), "notes outside the project\n");
}

/* A link that was there before: the rules mean what it leads to. */
TEST(a_denied_link_covers_its_target_and_a_writable_one_opens_it)
{
    static const char *const deny[] = { "~/alias", NULL };
    static const char *const write[] = { ".", "~/outlink", NULL };
    struct rig rig;

    rig_init(&rig, t);
    ASSERT_EQ(symlink(".ssh", test_path(t, "home/alias")), 0);
    mkdir(test_path(t, "home/out"), 0755);
    ASSERT_EQ(symlink("out", test_path(t, "home/outlink")), 0);
    rig.spec.deny_read = deny;
    rig.spec.allow_write = write;
    ASSERT_REFUSED("cat ~/.ssh/id_ed25519", "Permission denied");
    ASSERT_REFUSED("cat ~/alias/id_ed25519", "Permission denied");
    rig_bash(&rig, "echo x > ~/out/file");
    ASSERT_EQ(rig_exit(&rig), 0);
    rig_end(&rig);
    ASSERT_STR(test_read_file(t, test_path(t, "home/out/file")), "x\n");
}

TEST(a_denied_place_below_a_writable_one_stays_denied)
{
    static const char *const write[] = { "~", NULL };
    struct rig rig;

    rig_init(&rig, t);
    rig.spec.allow_home = true;
    rig.spec.allow_write = write;
    rig_bash(&rig, "echo y > ~/fresh");
    ASSERT_EQ(rig_exit(&rig), 0);
    ASSERT_REFUSED("cat ~/.ssh/id_ed25519", "Permission denied");
    ASSERT_REFUSED("mv ~/.ssh ~/elsewhere", "busy");
    ASSERT_REFUSED("cat ~/data/token", "Permission denied");
    rig_end(&rig);
}

TEST(hard_links_do_not_bring_in_what_lies_outside)
{
    struct rig rig;

    rig_init(&rig, t);
    ASSERT_REFUSED("ln ~/notes n && echo x >> n", "");
    ASSERT_REFUSED("ln ~/.ssh/id_ed25519 key && cat key", "Permission denied");
    rig_end(&rig);
    ASSERT_STR(test_read_file(t, test_path(t, "home/notes")), "notes outside the project\n");
}

TEST(proc_leads_to_no_other_root)
{
    struct rig rig;

    rig_init(&rig, t);
    ASSERT_REFUSED("cat /proc/self/root/$HOME/.ssh/id_ed25519", "Permission denied");
    ASSERT_REFUSED("cat /proc/1/root/$HOME/.ssh/id_ed25519", "Permission denied");
    ASSERT_REFUSED("cat /proc/1/environ", "Permission denied");
    ASSERT_REFUSED("cat /proc/1/maps", "Permission denied");
    ASSERT_REFUSED("head -c1 /proc/1/mem", "Permission denied");
    ASSERT_REFUSED("readlink -v /proc/1/fd/0", "Permission denied");
    ASSERT_REFUSED("cat < /proc/1/fd/3", "Permission denied");
    ASSERT_REFUSED("ls /proc/1/cwd/", "Permission denied");
    rig_end(&rig);
}

TEST(dormouse_s_settings_can_not_be_written)
{
    struct rig rig;

    rig_init(&rig, t);
    mkdir(test_path(t, "home/project/.dormouse"), 0755);
    test_write_file(test_path(t, "home/project/.dormouse/config.yaml"), "a: 1\n", 5);
    ASSERT_REFUSED("echo x > .dormouse/config.yaml", "Read-only file system");
    ASSERT_REFUSED("echo x > .dormouse/policy.yaml", "Read-only file system");
    ASSERT_REFUSED("rm .dormouse/config.yaml", "Read-only file system");
    ASSERT_REFUSED("mv .dormouse d", "busy");
    rig_bash(&rig, "cat .dormouse/config.yaml");
    ASSERT_EQ(rig_exit(&rig), 0);
    rig_end(&rig);
    ASSERT_STR(test_read_file(t, test_path(t, "home/project/.dormouse/config.yaml")), "a: 1\n");
}

/* With walls off nothing can be refused; with them test_guarded.c tries it. */
TEST(dormouse_s_settings_that_a_command_makes_are_set_aside_and_it_fails)
{
    static const char *const tricks[] = {
        "mkdir .dormouse; echo x > .dormouse/config.yaml",
        "mkdir d; echo x > d/config.yaml; mv d .dormouse",
        "ln -s /tmp .dormouse",
        "echo x > .dormouse",
        "cd /tmp && mkdir -p $OLDPWD/.dormouse",
        "(cd .. && mkdir project/.dormouse); kill -9 $$",
    };
    struct rig rig;

    rig_init(&rig, t);
    rig.spec.off = true;
    for (size_t i = 0; i < ARRAY_LEN(tricks); i++) {
        const char *aside = arena_printf(&t->arena, ".dormouse.set-aside-%zu", i + 1);

        rig_bash(&rig, tricks[i]);
        ASSERT_EQ(rig_exit(&rig), -1);
        ASSERT_TEXT(rig_text(&rig, "limit"), "settings");
        ASSERT_CONTAINS(rig_text(&rig, "message"), aside);
        ASSERT(rig_noticed(&rig, aside));
        ASSERT(access(test_path(t, "home/project/.dormouse"), F_OK) < 0);
        rig_bash(&rig, "cd ~/project; true");
        ASSERT_EQ(rig_exit(&rig), 0);
    }
    rig_end(&rig);
    ASSERT_STR(test_read_file(t, test_path(t, "home/project/.dormouse.set-aside-1/config.yaml")),
               "x\n");
}

TEST(dormouse_s_settings_made_in_the_background_are_found_after_the_next_command)
{
    struct rig rig;

    rig_init(&rig, t);
    rig.spec.off = true;
    rig_bash(&rig, "(read -t 0.2 < <(sleep 5); mkdir .dormouse) >/dev/null 2>&1 & true");
    ASSERT_EQ(rig_exit(&rig), 0);
    rig_bash(&rig, "until [ -e .dormouse ]; do sleep 0.01; done");
    ASSERT_TEXT(rig_text(&rig, "limit"), "settings");
    ASSERT(access(test_path(t, "home/project/.dormouse"), F_OK) < 0);
    rig_end(&rig);
}

TEST(a_link_to_settings_that_a_command_removes_is_reported)
{
    struct rig rig;

    rig_init(&rig, t);
    mkdir(test_path(t, "home/elsewhere"), 0755);
    ASSERT_EQ(symlink("../elsewhere", test_path(t, "home/project/.dormouse")), 0);
    rig_bash(&rig, "true");
    ASSERT_EQ(rig_exit(&rig), 0);
    rig_bash(&rig, "rm .dormouse");
    ASSERT_CONTAINS(rig_text(&rig, "message"), "was removed");
    rig_bash(&rig, "true");
    ASSERT_EQ(rig_exit(&rig), 0);
    rig_end(&rig);
}

TEST(two_hands_in_one_directory_do_not_disturb_each_other)
{
    struct rig a, b;

    rig_init(&a, t);
    rig_bash(&a, "true");
    ASSERT_EQ(rig_exit(&a), 0);
    rig_init(&b, t);
    rig_bash(&b, "true");
    ASSERT_EQ(rig_exit(&b), 0);
    ASSERT(access(test_path(t, "home/project/.dormouse"), F_OK) < 0);
    rig_end(&b);
    rig_bash(&a, "mkdir .dormouse");
    ASSERT_EQ(rig_exit(&a), 1);
    ASSERT_CONTAINS(rig_text(&a, "output"), "not permitted");
    rig_end(&a);
}

TEST(file_tools_make_no_settings_with_or_without_walls)
{
    for (int off = 0; off < 2; off++) {
        struct rig rig;

        rig_init(&rig, t);
        rig.spec.off = off == 1;
        rig_call(&rig, "write_file", "{\"path\":\".dormouse/config.yaml\",\"content\":\"x\"}");
        ASSERT_EQ(rig.err.code, ERR_PATH_DENIED);
        ASSERT_CONTAINS(err_message(&rig.err, 0), "are settings, which no tool may change");
        ASSERT(access(test_path(t, "home/project/.dormouse"), F_OK) < 0);
        rig_end(&rig);
    }
}

TEST(a_search_for_names_that_was_cut_short_is_noticed)
{
    char path[64];
    struct rig rig;
    size_t n = 0;

    rig_init(&rig, t);
    strcpy(path, "home/project");
    for (int i = 0; i < 14; i++) {
        n = strlen(path);
        snprintf(path + n, sizeof(path) - n, "/d");
        ASSERT_EQ(mkdir(test_path(t, path), 0755), 0);
    }
    rig_bash(&rig, "true");
    ASSERT(rig_noticed(&rig, "names: "));
    rig_end(&rig);
}

/* ---- calls ---- */

TEST(calls_that_change_the_walls_are_refused_and_reported)
{
    static const struct {
        const char *what, *arg, *why, *noticed;
    } calls[] = {
        { "mount", "/mnt", "Operation not permitted", "seccomp: mount by sandbox-probe" },
        { "open_tree", "/", "Operation not permitted", "open_tree" },
        { "userns", "", "Operation not permitted", "unshare" },
        { "clone_userns", "", "Operation not permitted", "clone" },
        { "keyctl", "", "Operation not permitted", "keyctl" },
        { "bpf", "", "Operation not permitted", "bpf" },
    };
    struct rig rig;

    rig_init(&rig, t);
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
        ASSERT_PROBE(calls[i].what, calls[i].arg, calls[i].why);
        if (!rig_noticed(&rig, calls[i].noticed))
            FAIL("%s left no notice", calls[i].what);
    }
    rig_end(&rig);
}

TEST(calls_into_the_kernel_s_depths_are_refused)
{
    struct rig rig;

    rig_init(&rig, t);
    ASSERT_PROBE("userfaultfd", "", "Operation not permitted");
    ASSERT_PROBE("perf", "", "Operation not permitted");
    ASSERT_PROBE("io_uring", "", "Operation not permitted");
    ASSERT_PROBE("clone3", "", "not implemented");
    ASSERT_PROBE("mknod", "node", "Permission denied");
    ASSERT_PROBE("setuid", "", "Invalid argument");
    rig_end(&rig);
}

TEST(the_daemon_can_not_be_traced_or_signalled)
{
    struct rig rig;
    const char *pid = arena_printf(&t->arena, "%d", (int)getpid());

    rig_init(&rig, t);
    ASSERT_PROBE("ptrace", pid, "Operation not permitted");
    ASSERT(rig_noticed(&rig, "ptrace"));
    ASSERT_PROBE("ptrace", "1", "Operation not permitted");
    ASSERT_PROBE("kill", pid, "No such process");
    rig_bash(&rig, "kill -9 1; kill -TERM 1; kill -STOP 1; sleep 0.05; echo still here");
    ASSERT_EQ(rig_exit(&rig), 0);
    ASSERT_CONTAINS(rig_text(&rig, "output"), "still here");
    rig_end(&rig);
}

TEST(keys_can_not_be_pressed_on_a_terminal)
{
    struct rig rig;

    rig_init(&rig, t);
    ASSERT_PROBE("tiocsti", "", "Operation not permitted");
    ASSERT(rig_noticed(&rig, "ioctl"));
    ASSERT_REFUSED("exec < /dev/tty", "No such device");
    rig_end(&rig);
}

TEST(set_user_id_programs_give_nothing_and_can_not_be_made)
{
    struct rig rig;

    rig_init(&rig, t);
    ASSERT_PROBE("setuid_file", "s1", "Operation not permitted");
    ASSERT_PROBE("setuid_open", "s2", "Operation not permitted");
    ASSERT_REFUSED("cp /bin/true s3; chmod u+s s3", "Operation not permitted");
    ASSERT_CONTAINS(rig_bash(&rig, "grep NoNewPrivs /proc/self/status"), "\t1");
    ASSERT_CONTAINS(rig_bash(&rig, "grep CapEff /proc/self/status"), "0000000000000000");
    ASSERT_CONTAINS(rig_bash(&rig, "grep CapBnd /proc/self/status"), "0000000000000000");
    rig_bash(&rig, "test $(id -u) -ne 0 && test $(id -ru) -ne 0");
    ASSERT_EQ(rig_exit(&rig), 0);
    /* A real one, if this machine has it: it runs, and is nobody special. */
    rig_bash(&rig, "test ! -u /bin/mount || ! /bin/mount -t tmpfs none /mnt");
    ASSERT_EQ(rig_exit(&rig), 0);
    rig_end(&rig);
}

TEST(a_crash_leaves_no_core)
{
    struct rig rig;

    rig_init(&rig, t);
    rig_bash(&rig,
             arena_printf(&t->arena, "ulimit -c unlimited; %s crash; ls -a", rig_probe(&rig)));
    ASSERT(!strstr(rig_text(&rig, "output"), "\ncore"));
    ASSERT_CONTAINS(rig_text(&rig, "output"), "cannot modify limit");
    ASSERT(!strstr(rig_text(&rig, "output"), "core dumped"));
    rig_end(&rig);
}

/* ---- leaks ---- */

TEST(the_environment_is_scrubbed)
{
    struct rig rig;
    static const char *const env[] = { "GIVEN=1", NULL };

    ASSERT_EQ(setenv("SECRET_OF_THE_DAEMON", "canary-environment", 1), 0);
    ASSERT_EQ(setenv("OPENAI_API_KEY", "canary-key", 1), 0);
    rig_init(&rig, t);
    rig.spec.env = env;
    rig_bash(&rig, "env; cat /proc/*/environ 2>/dev/null | tr '\\0' '\\n'");
    ASSERT(!strstr(rig_text(&rig, "output"), "canary"));
    ASSERT_CONTAINS(rig_text(&rig, "output"), "GIVEN=1");
    ASSERT_CONTAINS(rig_text(&rig, "output"), "HOME=");
    rig_end(&rig);
}

TEST(no_descriptor_leaks_in)
{
    struct rig rig;
    const char *path = test_path(t, "held");
    int fd;

    test_write_file(path, "canary", 6);
    fd = open(path, O_RDONLY);
    ASSERT(fd >= 0);
    rig_init(&rig, t);
    /* 0, 1, 2, the one for the directory, and the one ls reads with. */
    rig_bash(&rig, "ls /proc/self/fd | tr '\\n' ' '");
    ASSERT_TEXT(rig_text(&rig, "output"), "0 1 198 2 3 ");
    rig_bash(&rig, "ls -l /proc/self/fd /proc/$$/fd");
    ASSERT(!strstr(rig_text(&rig, "output"), "held"));
    ASSERT(!strstr(rig_text(&rig, "output"), "socket"));
    ASSERT(!strstr(rig_text(&rig, "output"), "memfd"));
    rig_end(&rig);
    close(fd);
}
