/* A hand and its commands, behind real walls.
 *
 * SPDX-License-Identifier: MIT
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/json.h"
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

TEST(long_output_keeps_its_beginning_and_its_end)
{
    struct rig rig;
    const char *out;

    rig_init(&rig, t);
    out = rig_bash(&rig, "echo first; seq 1 200000; echo last");
    ASSERT(strlen(out) < 40000);
    ASSERT(strncmp(out, "first\n1\n2\n", 10) == 0);
    ASSERT_CONTAINS(out, "bytes left out ...]");
    ASSERT_TEXT(out + strlen(out) - 12, "200000\nlast\n");
    ASSERT_CONTAINS(rig.text, "\"truncated\":true");
    rig_end(&rig);
}

TEST(output_that_is_no_text_arrives_as_text)
{
    struct rig rig;

    rig_init(&rig, t);
    ASSERT_TEXT(rig_bash(&rig, "printf 'a\\377\\0b'"), "a\xef\xbf\xbd");
    ASSERT_CONTAINS(rig.text, "a\xef\xbf\xbd\\u0000b");
    rig_end(&rig);
}

TEST(a_background_process_stays_for_the_next_command_and_goes_with_the_hand)
{
    struct rig rig;
    char path[64];
    const char *pid;

    rig_init(&rig, t);
    pid = rig_bash(&rig, "(while sleep 0.05; do echo tick; date +%s%N > beat; done) & echo $!");
    ASSERT_TEXT(rig_bash(&rig, arena_printf(&t->arena, "kill -0 %.*s && echo alive",
                                            (int)strcspn(pid, "\n"), pid)),
                "alive\n");
    /* It writes to an output that nobody reads any more, and lives. */
    rig_bash(&rig,
             "a=$(cat beat); for i in $(seq 400); do test \"$a\" != \"$(cat beat)\" && exit 0; "
             "sleep 0.05; done; exit 1");
    ASSERT_EQ(rig_exit(&rig), 0);
    snprintf(path, sizeof(path), "%s", test_path(t, "home/project/beat"));
    rig_end_hand(&rig);
    {
        struct str a = test_read_file(t, path);

        usleep(250000);
        ASSERT(str_eq(a, test_read_file(t, path)));
    }
    rig_end(&rig);
}

struct waiting {
    bool done;
    struct err err;
    char text[256];
    struct loop *loop;
};

static void on_done(void *arg, const struct hand_reply *reply)
{
    struct waiting *wait = arg;

    wait->done = true;
    wait->err = reply->err;
    snprintf(wait->text, sizeof(wait->text), "%.*s", STR_ARG(reply->result));
    loop_stop(wait->loop);
}

TEST(commands_run_beside_each_other)
{
    struct rig rig;
    struct waiting first = { 0 }, second = { 0 };

    rig_init(&rig, t);
    rig_start(&rig);
    first.loop = second.loop = rig.loop;
    /* Each waits for a file that only the other makes. */
    ASSERT_OK(hand_call(rig.hand, "bash",
                        STR("{\"command\":\"touch a; while [ ! -e b ]; do sleep 0.01; done\"}"),
                        on_done, &first, NULL, &t->err));
    ASSERT_OK(hand_call(rig.hand, "bash",
                        STR("{\"command\":\"touch b; while [ ! -e a ]; do sleep 0.01; done\"}"),
                        on_done, &second, NULL, &t->err));
    rig_run_until(&rig, &first.done);
    rig_run_until(&rig, &second.done);
    ASSERT_CONTAINS(first.text, "\"exit_code\":0");
    ASSERT_CONTAINS(second.text, "\"exit_code\":0");
    rig_end(&rig);
}

TEST(a_cancelled_command_is_killed_with_its_children)
{
    struct rig rig;
    struct waiting wait = { 0 };
    struct hand_job *job;
    bool begun = false;

    rig_init(&rig, t);
    rig_bash(&rig, "true");
    wait.loop = rig.loop;
    ASSERT_OK(
        hand_call(rig.hand, "bash",
                  STR("{\"command\":\"trap '' TERM; sleep 61 & sleep 62 & touch begun; wait\"}"),
                  on_done, &wait, &job, &t->err));
    while (!begun) {
        rig_bash(&rig, "test -e begun");
        begun = rig_exit(&rig) == 0;
    }
    hand_cancel(job);
    hand_cancel(job);
    rig_run_until(&rig, &wait.done);
    ASSERT_EQ(wait.err.code, ERR_CANCELLED);
    ASSERT_TEXT(rig_bash(&rig, "ps ax | grep -c '[s]leep 6[12]'"), "0\n");
    rig_end(&rig);
}

TEST(freeing_a_hand_answers_what_is_under_way)
{
    struct rig rig;
    struct waiting wait = { 0 };

    rig_init(&rig, t);
    rig_bash(&rig, "true");
    wait.loop = rig.loop;
    ASSERT_OK(hand_call(rig.hand, "bash", STR("{\"command\":\"sleep 60\"}"), on_done, &wait, NULL,
                        &t->err));
    rig_end_hand(&rig);
    ASSERT(wait.done);
    ASSERT_EQ(wait.err.code, ERR_CANCELLED);
    rig_end(&rig);
}

/* With a command under way, which fails. */
static void kill_hand(struct rig *rig)
{
    struct waiting wait = { .loop = rig->loop };
    struct test *t = rig->t;
    uint64_t stamp;
    int pid;

    ASSERT_OK(hand_call(rig->hand, "bash", STR("{\"command\":\"sleep 60\"}"), on_done, &wait, NULL,
                        &t->err));
    pid = hand_pid(rig->hand, &stamp);
    ASSERT(pid > 0 && stamp != 0);
    ASSERT_EQ(kill(pid, SIGKILL), 0);
    rig_run_until(rig, &wait.done);
    ASSERT_EQ(wait.err.code, ERR_INTERNAL);
    ASSERT(hand_pid(rig->hand, &stamp) != pid);
}

TEST(a_killed_hand_is_replaced_and_the_next_one_knows_where_it_was)
{
    struct rig rig;

    rig_init(&rig, t);
    rig_bash(&rig, "mkdir sub; cd sub");
    kill_hand(&rig);
    ASSERT_CONTAINS(rig_bash(&rig, "pwd"), "/home/project/sub\n");
    rig_end(&rig);
}

static const char ended_note[] = "%d background %s of earlier commands no longer %s: the sandbox "
                                 "was ended meanwhile (after 10 minutes without a call, or because "
                                 "Dormouse stopped) and began anew";

TEST(the_first_command_of_a_later_hand_says_what_went_with_the_earlier_one)
{
    struct rig rig;
    char *state;

    rig_init(&rig, t);
    rig_bash(&rig, "sleep 100 & sleep 100 & echo begun");
    ASSERT(!json_find(rig.doc, "background")); /* between the hand and its keeper */
    rig_bash(&rig, "sleep 100 & true");
    ASSERT_TEXT(rig_text(&rig, "message"), "");
    rig_call(&rig, "read_file", "{\"path\":\"readme\"}");
    state = arena_copy(&t->arena, hand_state(rig.hand).p, hand_state(rig.hand).n);
    rig_end_hand(&rig);
    rig_start(&rig);
    hand_set_state(rig.hand, str_from(state));
    rig_call(&rig, "read_file", "{\"path\":\"readme\"}");
    /* Not told yet: not even when this one ends too. */
    ASSERT_CONTAINS(arena_str(&t->arena, hand_state(rig.hand)).p, "\"background\":3");
    ASSERT_TEXT(rig_bash(&rig, "sleep 100 & echo on"), "on\n");
    ASSERT_TEXT(rig_text(&rig, "message"),
                arena_printf(&t->arena, ended_note, 3, "processes", "run"));
    ASSERT_TEXT(rig_bash(&rig, "echo told"), "told\n");
    ASSERT_TEXT(rig_text(&rig, "message"), "");
    rig_end(&rig);
}

TEST(a_background_process_that_went_with_a_killed_hand_is_told)
{
    struct rig rig;

    rig_init(&rig, t);
    rig_bash(&rig, "sleep 100 & true");
    kill_hand(&rig);
    rig_bash(&rig, "false");
    ASSERT_EQ(rig_exit(&rig), 1);
    ASSERT_TEXT(rig_text(&rig, "message"),
                arena_printf(&t->arena, ended_note, 1, "process", "runs"));
    rig_end(&rig);
}

/* Whoever removed it: a shell that can begin nowhere could not even be told to go elsewhere. */
TEST(a_directory_that_went_away_is_left_for_the_nearest_that_is_there)
{
    struct rig rig;

    rig_init(&rig, t);
    rig_bash(&rig, "mkdir -p a/b/c && cd a/b/c");
    ASSERT_EQ(rig_exit(&rig), 0);
    rig_bash(&rig, "rm -rf ../../b");
    ASSERT_TEXT(rig_bash(&rig, "pwd"), arena_printf(&t->arena, "%s/a\n", rig.project));
    ASSERT_EQ(rig.err.code, ERR_NONE);
    rig_bash(&rig, "cd ..; mkdir d; cd d");
    rig_bash(&rig, "chmod 0 .; echo still here");
    ASSERT_EQ(rig.err.code, ERR_NONE);
    rig_end(&rig);
}

/* The next hand hears of it as text, which such a name can't be. */
TEST(a_directory_whose_name_is_no_text_is_no_trap)
{
    struct rig rig;

    rig_init(&rig, t);
    rig_bash(&rig, "mkdir $'x\\xff' && cd $'x\\xff'");
    ASSERT_EQ(rig_exit(&rig), 0);
    ASSERT_TEXT(rig_bash(&rig, "pwd"), arena_printf(&t->arena, "%s/x\xEF\xBF\xBD\n", rig.project));
    kill_hand(&rig);
    ASSERT_TEXT(rig_bash(&rig, "pwd"), arena_printf(&t->arena, "%s\n", rig.project));
    rig_end(&rig);
}

TEST(state_is_carried_to_a_hand_of_a_later_life)
{
    struct rig rig;
    char *state;

    rig_init(&rig, t);
    rig_bash(&rig, "mkdir sub; cd sub");
    rig_call(&rig, "read_file", "{\"path\":\"../readme\"}");
    ASSERT_EQ(rig.err.code, ERR_NONE);
    state = arena_copy(&t->arena, hand_state(rig.hand).p, hand_state(rig.hand).n);
    ASSERT_CONTAINS(state, "/home/project/sub");
    ASSERT_CONTAINS(state, "/home/project/readme");
    rig_end_hand(&rig);
    rig_start(&rig);
    hand_set_state(rig.hand, str_from(state));
    ASSERT_CONTAINS(rig_bash(&rig, "pwd"), "/home/project/sub\n");
    /* It was read in the earlier life, so it may be overwritten in this one. */
    rig_call(&rig, "write_file", "{\"path\":\"../readme\",\"content\":\"new\"}");
    ASSERT_EQ(rig.err.code, ERR_NONE);
    rig_end(&rig);
    ASSERT_STR(test_read_file(t, test_path(t, "home/project/readme")), "new");
}

TEST(file_operations_obey_the_same_rules)
{
    struct rig rig;

    rig_init(&rig, t);
    rig_call(&rig, "read_file", "{\"path\":\".env\"}");
    ASSERT_EQ(rig.err.code, ERR_PATH_DENIED);
    rig_call(&rig, "read_file", "{\"path\":\"~/.ssh/id_ed25519\"}");
    ASSERT_EQ(rig.err.code, ERR_PATH_DENIED);
    rig_call(&rig, "write_file", "{\"path\":\"~/new\",\"content\":\"x\"}");
    ASSERT_EQ(rig.err.code, ERR_PATH_DENIED);
    rig_call(&rig, "nonsense", "{}");
    ASSERT_EQ(rig.err.code, ERR_BAD_REQUEST);
    rig_end(&rig);
}

TEST(arguments_that_make_no_sense_are_refused)
{
    struct rig rig;
    static const struct {
        const char *arguments;
        enum err_code code;
    } sent[] = {
        { "{}", ERR_BAD_REQUEST },
        { "{\"command\":\"\"}", ERR_BAD_REQUEST },
        { "{\"command\":7}", ERR_SCHEMA_VIOLATION },
        { "{\"command\":\"a\\u0000b\"}", ERR_BAD_REQUEST },
    };

    rig_init(&rig, t);
    for (size_t i = 0; i < sizeof(sent) / sizeof(sent[0]); i++) {
        rig_call(&rig, "bash", sent[i].arguments);
        ASSERT_EQ(rig.err.code, sent[i].code);
    }
    ASSERT_FAILS(hand_call(rig.hand, "bash", STR("[1]"), on_done, NULL, NULL, &t->err),
                 ERR_BAD_REQUEST);
    ASSERT_FAILS(hand_call(rig.hand, "bash", STR("{\"a\":"), on_done, NULL, NULL, &t->err),
                 ERR_BAD_REQUEST);
    rig_end(&rig);
}

TEST(a_command_may_ask_for_one_to_six_hundred_seconds)
{
    static const char *const refused[] = {
        "601", "-1", "0", "9223372036854775807", "-9223372036854775808", "\"5\"", "1.5"
    };
    struct rig rig;

    rig_init(&rig, t);
    rig_call(&rig, "bash", "{\"command\":\"true\",\"timeout_s\":600}");
    ASSERT_EQ(rig.err.code, ERR_NONE);
    rig_call(&rig, "bash", "{\"command\":\"true\",\"timeout_s\":1}");
    ASSERT_EQ(rig.err.code, ERR_NONE);
    for (size_t i = 0; i < ARRAY_LEN(refused); i++) {
        const char *arguments =
            arena_printf(&t->arena, "{\"command\":\"true\",\"timeout_s\":%s}", refused[i]);

        ASSERT(hand_call(rig.hand, "bash", str_from(arguments), on_done, NULL, NULL, &t->err) < 0);
        ASSERT_CONTAINS(err_message(&t->err, 0), "timeout_s");
        err_reset(&t->err);
    }
    rig_end(&rig);
}

/* One that has ended has no command line, also while nobody has collected it. */
static bool runs(pid_t pid)
{
    char path[64], c;
    int fd;
    bool alive;

    snprintf(path, sizeof(path), "/proc/%d/cmdline", (int)pid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    alive = read(fd, &c, 1) == 1;
    close(fd);
    return alive;
}

TEST(without_walls_the_interface_is_the_same)
{
    struct rig rig;

    rig_init(&rig, t);
    rig.spec.off = true;
    rig_bash(&rig, "echo outside > ~/new; cd ~; echo $DORMOUSE_SANDBOX");
    ASSERT_TEXT(rig_text(&rig, "output"), "off\n");
    ASSERT_CONTAINS(rig_bash(&rig, "pwd"), "/home\n");
    ASSERT_STR(test_read_file(t, test_path(t, "home/new")), "outside\n");
    /* What it left running ends with it all the same. */
    rig_bash(&rig, "setsid sleep 63 & echo $!");
    rig_end_hand(&rig);
    ASSERT(!runs((pid_t)atoi(rig_text(&rig, "output"))));
    rig_end(&rig);
}

TEST(a_directory_that_is_not_there_is_an_error)
{
    struct rig rig;

    rig_init(&rig, t);
    rig.spec.cwd = test_path(t, "absent");
    rig_call(&rig, "bash", "{\"command\":\"true\"}");
    ASSERT_EQ(rig.err.code, ERR_NOT_FOUND);
    rig_end(&rig);
}

TEST(hosts_that_are_not_listed_are_refused_and_reported)
{
    static const char *const domains[] = { "example.org", NULL };
    struct rig rig;

    rig_init(&rig, t);
    rig.spec.allow_domains = domains;
    rig_bash(&rig,
             "exec 3<>/dev/tcp/127.0.0.1/3128; "
             "printf 'CONNECT evil.example:443 HTTP/1.1\\r\\nHost: evil.example\\r\\n\\r\\n' >&3; "
             "head -1 <&3");
    ASSERT_CONTAINS(rig_text(&rig, "output"), "HTTP/1.1 403");
    ASSERT(rig_noticed(&rig, "network: evil.example:443"));
    ASSERT_CONTAINS(rig_bash(&rig, "env"), "https_proxy=http://127.0.0.1:3128");
    rig_end(&rig);
}
