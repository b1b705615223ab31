/* What doctor finds in directories that were prepared for it, and what it says to type.
 *
 * SPDX-License-Identifier: MIT
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "cli/doctor_int.h"
#include "cli/domains.h"
#include "harness/test.h"
#include "house/data_dir.h"
#include "sandbox/hand_int.h"

static const char *const status_names[] = { "ok", "warn", "fail" };

/* "status message | fix" of the n-th line of this name, "" when there is none. */
static const char *line_at(struct test *t, const struct doctor *doctor, const char *name, size_t n)
{
    for (size_t i = 0; i < doctor->n; i++) {
        const struct doctor_line *line = &doctor->lines[i];

        if (strcmp(line->name, name) == 0 && n-- == 0)
            return arena_printf(&t->arena, "%s %s%s%s", status_names[line->status], line->message,
                                line->fix ? " | " : "", line->fix ? line->fix : "");
    }
    return "";
}
#define LINE(name_) line_at(t, &doctor, name_, 0)

static void doctor_end(struct doctor *doctor)
{
    arena_release(&doctor->arena);
}
#define DOCTOR(path_)                                                                              \
    __attribute__((cleanup(doctor_end))) struct doctor doctor = { .data_dir = (path_),             \
                                                                  .arena = ARENA_INIT }

/* A configuration of the test's own directory. */
static struct config *configured(struct test *t, const char *text)
{
    const struct config_sources sources = { .data_dir = test_dir(t) };
    struct config *config = NULL;

    test_write_file(test_path(t, "config.yaml"), text, strlen(text));
    ASSERT_OK(config_load(&sources, &config, NULL, &t->err));
    return config;
}

/* ---- the data directory ---- */

TEST(an_absent_directory_is_fine_when_it_can_be_made)
{
    const char *path = test_path(t, "a/b/c");
    DOCTOR(path);

    doctor_data(&doctor);
    ASSERT_TEXT(LINE("data directory"),
                arena_printf(&t->arena, "ok %s will be created at first use", path));
    ASSERT(access(test_path(t, "a"), F_OK) < 0);
    ASSERT_CONTAINS(LINE("free space"), "GiB");
    ASSERT_TEXT(LINE("daemon"), "");
}

TEST(a_path_that_leads_through_a_file_is_broken)
{
    const char *path = test_path(t, "file/below");
    DOCTOR(path);

    test_write_file(test_path(t, "file"), "", 0);
    doctor_data(&doctor);
    ASSERT_TEXT(
        LINE("data directory"),
        arena_printf(&t->arena, "fail %s: Not a directory | dormouse doctor --data DIR", path));
    ASSERT_EQ(doctor.n, 1);
}

TEST(a_file_in_the_place_of_the_directory_is_broken)
{
    const char *path = test_path(t, "file");
    DOCTOR(path);

    test_write_file(path, "", 0);
    doctor_data(&doctor);
    ASSERT_TEXT(LINE("data directory"),
                arena_printf(&t->arena,
                             "fail %s: it is not a directory | dormouse doctor --data DIR", path));
}

TEST(a_directory_open_to_others_is_named_with_its_mode)
{
    static const unsigned modes[] = { 0701, 0710, 0704, 0740, 0755, 0777, 01777 };

    for (size_t i = 0; i < ARRAY_LEN(modes); i++) {
        const char *path = test_path(t, "open");
        DOCTOR(path);

        mkdir(path, 0700);
        ASSERT_EQ(chmod(path, modes[i]), 0);
        doctor_data(&doctor);
        ASSERT_TEXT(LINE("data directory"),
                    arena_printf(&t->arena, "warn %s is open to others (mode %04o) | chmod 700 %s",
                                 path, modes[i], path));
    }
}

TEST(a_closed_directory_is_well)
{
    DOCTOR(test_dir(t));

    chmod(test_dir(t), 0700);
    doctor_data(&doctor);
    ASSERT_TEXT(LINE("data directory"), arena_printf(&t->arena, "ok %s (mode 0700)", test_dir(t)));
    ASSERT_TEXT(LINE("daemon"), "ok not running; start it with dormouse serve");
    ASSERT_TEXT(LINE("token"), "");
}

/* As an ordinary user: nothing stops root. */
TEST(a_directory_without_rights_is_named_with_what_to_type)
{
    const char *own = test_path(t, "own"), *foreign = test_path(t, "foreign");
    bool root = geteuid() == 0;

    ASSERT_EQ(mkdir(foreign, 0700), 0);
    chmod(test_dir(t), 0777);
    if (!root || setegid(65534) < 0 || seteuid(65534) < 0)
        SKIP("can't become an ordinary user");
    if (mkdir(own, 0500) == 0) {
        DOCTOR(own);

        doctor_data(&doctor);
        ASSERT_CONTAINS(LINE("data directory"), "fail ");
        ASSERT_CONTAINS(LINE("data directory"),
                        arena_printf(&t->arena, "Permission denied | chmod 700 %s", own));
    }
    {
        DOCTOR(foreign);

        doctor_data(&doctor);
        ASSERT_CONTAINS(LINE("data directory"),
                        "Permission denied | dormouse doctor --data DIR, a directory of your own");
    }
    {
        DOCTOR(test_path(t, "own/below"));

        doctor_data(&doctor);
        ASSERT_CONTAINS(LINE("data directory"), "can't be created: ");
        ASSERT_CONTAINS(LINE("data directory"), " | dormouse doctor --data DIR");
    }
    ASSERT_EQ(seteuid(0), 0); /* the leak checker needs it */
}

TEST(a_token_is_named_when_the_daemon_would_refuse_it)
{
    static const struct {
        const char *text;
        unsigned mode;
        const char *line;
    } cases[] = {
        { "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopq", 0600, "" },
        { "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopq\n", 0600, "" },
        { "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopq", 0640, "fail " },
        { "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopq", 0604, "fail " },
        { "short", 0600, "fail " },
        { "", 0600, "fail " },
        { "abcdefghijklmnopqrstuvwxyz abcdefghijklmnop", 0600, "fail " },
    };
    const char *path = test_path(t, "token");

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        DOCTOR(test_dir(t));

        remove(path);
        test_write_file(path, cases[i].text, strlen(cases[i].text));
        chmod(path, cases[i].mode);
        doctor_data(&doctor);
        if (!*cases[i].line)
            ASSERT_TEXT(LINE("token"), "");
        else
            ASSERT_CONTAINS(LINE("token"), arena_printf(&t->arena, " | rm %s", path));
        ASSERT(strncmp(LINE("token"), cases[i].line, strlen(cases[i].line)) == 0);
    }
}

TEST(the_process_that_holds_the_lock_is_named)
{
    int ready[2], fd = -1, status;
    DOCTOR(test_dir(t));
    char byte;
    pid_t pid;

    ASSERT_EQ(pipe(ready), 0);
    pid = fork();
    if (pid == 0) {
        if (data_dir_lock(doctor.data_dir, &fd, NULL) == 0 && write(ready[1], "x", 1) == 1)
            pause();
        _exit(1);
    }
    ASSERT_EQ(read(ready[0], &byte, 1), 1);
    doctor_data(&doctor);
    kill(pid, SIGKILL);
    ASSERT_EQ(waitpid(pid, &status, 0), pid);
    ASSERT_TEXT(LINE("daemon"), arena_printf(&t->arena, "ok running as process %d", (int)pid));
}

/* ---- the configuration ---- */

TEST(every_problem_of_the_configuration_is_a_line)
{
    static const char text[] = "zebra: 1\nsandbox:\n  enabled: 3\n";
    DOCTOR(test_dir(t));

    ASSERT_EQ(chdir(test_dir(t)), 0);
    setenv("DORMOUSE_XYZZY", "1", 1);
    test_write_file(test_path(t, "config.yaml"), text, strlen(text));
    ASSERT(doctor_config(&doctor) == NULL);
    unsetenv("DORMOUSE_XYZZY");
    ASSERT_EQ(doctor.n, 3);
    ASSERT_CONTAINS(line_at(t, &doctor, "configuration", 0), "/config.yaml:1:1: no key `zebra`");
    ASSERT_CONTAINS(line_at(t, &doctor, "configuration", 1),
                    "/config.yaml:3:12: `sandbox.enabled`");
    ASSERT_CONTAINS(line_at(t, &doctor, "configuration", 2),
                    "fail DORMOUSE_XYZZY: stands for no configuration key");
}

TEST(checks_that_need_a_configuration_are_left_out_without_one)
{
    DOCTOR(test_dir(t));

    doctor_databases(&doctor);
    doctor_port(&doctor);
    ASSERT_EQ(doctor.n, 0);
}

/* ---- the databases ---- */

TEST(a_database_that_is_none_is_named_with_the_cure_for_its_kind)
{
    static const struct {
        const char *name, *cure;
    } cases[] = {
        { "journal", "| restore a backup of %s (dormouse help backup)" },
        { "agent", "| restore a backup of %s (dormouse help backup)" },
        { "index", "| stop the daemon and remove %s; it is rebuilt" },
    };
    AUTO(config) config = configured(t, "");
    DOCTOR(test_dir(t));

    doctor.config = config;
    for (size_t i = 0; i < DOMAINS_COUNT; i++) {
        AUTO_TEXT path = domains_path(test_dir(t), i);
        char *noise = arena_alloc(&t->arena, 8192, 1);

        memset(noise, 'n', 8192);
        test_write_file(path, noise, 8192);
    }
    doctor_databases(&doctor);
    ASSERT_EQ(doctor.n, DOMAINS_COUNT);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO_TEXT path = domains_path(test_dir(t), i);
        const char *line = LINE(arena_printf(&t->arena, "%s database", cases[i].name));
        const char *hole = strstr(cases[i].cure, "%s");

        ASSERT(strncmp(line, "fail ", 5) == 0);
        ASSERT_CONTAINS(line, arena_printf(&t->arena, "%.*s%s%s", (int)(hole - cases[i].cure),
                                           cases[i].cure, path, hole + 2));
    }
}

TEST(absent_and_sound_databases_are_well_and_nothing_is_made)
{
    AUTO(config) config = configured(t, "");
    struct domains domains;

    {
        DOCTOR(test_dir(t));

        doctor.config = config;
        doctor_databases(&doctor);
        ASSERT_TEXT(LINE("journal database"), "ok not there yet");
        ASSERT_TEXT(LINE("index database"), "ok not there yet");
        ASSERT(access(test_path(t, "journal.sqlite"), F_OK) < 0);
    }
    ASSERT_OK(domains_open(config, test_dir(t), &domains, &t->err));
    domains_release(&domains);
    {
        DOCTOR(test_dir(t));

        doctor.config = config;
        doctor_databases(&doctor);
        for (size_t i = 0; i < DOMAINS_COUNT; i++)
            ASSERT_CONTAINS(LINE(arena_printf(&t->arena, "%s database", domains_name(i))),
                            "sound, schema version ");
        ASSERT_TEXT(LINE("wakes"), "ok 0 queued, 0 under way, nothing waits for you");
        ASSERT_TEXT(LINE("timers"), "ok 0");
    }
}

TEST(postgres_that_is_not_there_is_told_once)
{
    AUTO(config)
    config = configured(t, "store: { url: 'postgresql://u:hunter22@/d?host=/nowhere/at/all' }\n");
    DOCTOR(test_dir(t));

    doctor.config = config;
    doctor_databases(&doctor);
    ASSERT_EQ(doctor.n, 2);
    ASSERT_CONTAINS(LINE("journal database"), "| psql URL (the URL of store.url)");
    ASSERT(strstr(LINE("journal database"), "hunter22") == NULL);
    ASSERT_TEXT(LINE("agent database"), "");
    ASSERT_TEXT(LINE("index database"), "ok not there yet");
}

/* ---- the address ---- */

static int listen_somewhere(struct test *t, const char **ret_address)
{
    struct sockaddr_in in = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t n = sizeof(in);
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    ASSERT_EQ(bind(fd, (struct sockaddr *)&in, n), 0);
    ASSERT_EQ(listen(fd, 4), 0);
    ASSERT_EQ(getsockname(fd, (struct sockaddr *)&in, &n), 0);
    *ret_address = arena_printf(&t->arena, "127.0.0.1:%u", ntohs(in.sin_port));
    return fd;
}

/* Answers one connection with a text and closes it. */
static pid_t answer_with(int fd, const char *text)
{
    pid_t pid = fork();

    if (pid == 0) {
        char question[512];
        int client = accept(fd, NULL, NULL);

        if (recv(client, question, sizeof(question), 0) > 0)
            send(client, text, strlen(text), MSG_NOSIGNAL);
        _exit(0);
    }
    return pid;
}

TEST(who_answers_on_the_address_is_told)
{
    static const struct {
        const char *answer;
        bool locked;
        const char *line;
    } cases[] = {
        { "HTTP/1.1 200 OK\r\n\r\n", true, "ok the daemon answers on %s" },
        { "HTTP/1.1 200 OK\r\n\r\n", false,
          "fail %s is taken by another program | dormouse serve --listen 127.0.0.1:0" },
        { "SSH-2.0-x\r\n", true,
          "fail %s is taken by another program | dormouse serve --listen 127.0.0.1:0" },
        { "", false, "fail %s is taken by another program | dormouse serve --listen 127.0.0.1:0" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const char *address, *hole = strstr(cases[i].line, "%s");
        int fd = listen_somewhere(t, &address), lock = -1;
        AUTO(config)
        config = configured(t, arena_printf(&t->arena, "server: { listen: '%s' }\n", address));
        pid_t pid = answer_with(fd, cases[i].answer);
        DOCTOR(test_dir(t));

        close(fd);
        if (cases[i].locked)
            ASSERT_OK(data_dir_lock(test_dir(t), &lock, &t->err));
        doctor.config = config;
        doctor_port(&doctor);
        if (lock >= 0)
            close(lock);
        waitpid(pid, NULL, 0);
        ASSERT_TEXT(LINE("address"),
                    arena_printf(&t->arena, "%.*s%s%s", (int)(hole - cases[i].line), cases[i].line,
                                 address, hole + 2));
    }
}

TEST(an_address_for_all_is_a_warning_and_free)
{
    AUTO(config) config = configured(t, "server: { listen: '0.0.0.0:0' }\n");
    DOCTOR(test_dir(t));

    doctor.config = config;
    doctor_port(&doctor);
    ASSERT_TEXT(line_at(t, &doctor, "address", 0),
                "warn 0.0.0.0:0 can be reached from other machines | set server.listen to "
                "127.0.0.1:7117");
    ASSERT_TEXT(line_at(t, &doctor, "address", 1), "ok 0.0.0.0:0 is free");
}

/* ---- the system ---- */

TEST(programs_are_looked_for_in_the_path)
{
    DOCTOR(test_dir(t));

    ASSERT_EQ(mkdir(test_path(t, "bin"), 0700), 0);
    test_write_file(test_path(t, "bin/bwrap"), "#!/bin/sh\n", 10);
    setenv("PATH", arena_printf(&t->arena, "::/nowhere:%s", test_path(t, "bin")), 1);
    ASSERT(doctor_find_program(&doctor, "bwrap") == NULL); /* it can't be executed */
    chmod(test_path(t, "bin/bwrap"), 0700);
    ASSERT_TEXT(doctor_find_program(&doctor, "bwrap"), test_path(t, "bin/bwrap"));
    ASSERT(doctor_find_program(&doctor, "absent") == NULL);
    doctor_sandbox(&doctor);
    ASSERT_TEXT(LINE("bubblewrap"), arena_printf(&t->arena, "ok %s", test_path(t, "bin/bwrap")));
}

TEST(missing_hand_is_broken_and_nothing_is_said_to_run)
{
    const char *hand = test_path(t, "dormouse-hand");
    DOCTOR(test_dir(t));

    hand_set_path(hand);
    doctor_sandbox(&doctor);
    ASSERT_CONTAINS(LINE("dormouse-hand"), "fail not beside dormouse");
    ASSERT_CONTAINS(LINE("dormouse-hand"), "| install dormouse again");
    for (size_t i = 0; i < doctor.n; i++)
        ASSERT(strcmp(doctor.lines[i].name, "isolation") != 0);
}

TEST(hand_that_is_there_is_named)
{
    const char *hand = test_path(t, "dormouse-hand");
    DOCTOR(test_dir(t));

    test_write_file(hand, "#!/bin/sh\n", 10);
    chmod(hand, 0700);
    hand_set_path(hand);
    doctor_sandbox(&doctor);
    ASSERT_TEXT(LINE("dormouse-hand"), arena_printf(&t->arena, "ok %s", hand));
}

TEST(absent_programs_and_a_sandbox_turned_off_are_named)
{
    AUTO(config) config = configured(t, "sandbox: { enabled: false }\n");
    DOCTOR(test_dir(t));

    setenv("PATH", "/nowhere", 1);
    doctor.config = config;
    doctor_sandbox(&doctor);
    doctor_optional(&doctor);
    ASSERT_TEXT(LINE("sandbox"),
                "warn turned off: agents' commands can touch whatever you can touch | remove "
                "sandbox.enabled from the configuration");
    ASSERT_TEXT(LINE("bubblewrap"),
                "warn absent: agents can't run commands | apt install bubblewrap");
    ASSERT_TEXT(LINE("git"), "ok absent, needed only for history of agents' files");
    ASSERT_TEXT(LINE("llama-server"), "ok absent, needed only for a local language model");
    ASSERT_TEXT(LINE("chromium"), "ok absent, needed only for browser stories");
}

TEST(there_are_never_more_lines_than_fit)
{
    DOCTOR(test_dir(t));

    for (size_t i = 0; i < 2 * DOCTOR_LINES_MAX; i++)
        doctor_add(&doctor, DOCTOR_OK, "many", NULL, "%zu", i);
    ASSERT_EQ(doctor.n, DOCTOR_LINES_MAX);
    ASSERT_TEXT(doctor.lines[DOCTOR_LINES_MAX - 1].message, "95");
}
