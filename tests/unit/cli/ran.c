/* SPDX-License-Identifier: MIT */
#include "ran.h"

#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/json.h"
#include "cli/command.h"

#define WORDS_MAX 48

/* ---- running ---- */

static int call(struct test *t, const char *const *words)
{
    char *argv[WORDS_MAX + 2] = { arena_text(&t->arena, "dormouse") };
    int argc = 1;

    for (; words[argc - 1]; argc++) {
        ASSERT(argc <= WORDS_MAX);
        argv[argc] = arena_text(&t->arena, words[argc - 1]);
    }
    return cli_main(argc, argv);
}

static struct ran run_with(struct test *t, const char *const *words, const char *input)
{
    int old_out, old_err;
    struct ran ran;

    setenv("DORMOUSE_DATA", test_path(t, "data"), 1);
    test_write_file(test_path(t, "in"), input, strlen(input));
    fflush(stdout);
    old_out = dup(STDOUT_FILENO);
    old_err = dup(STDERR_FILENO);
    if (!freopen(test_path(t, "in"), "r", stdin) || !freopen(test_path(t, "out"), "w", stdout) ||
        !freopen(test_path(t, "err"), "w", stderr))
        _exit(1);
    ran.code = call(t, words);
    fflush(stdout);
    fflush(stderr);
    dup2(old_out, STDOUT_FILENO);
    dup2(old_err, STDERR_FILENO);
    close(old_out);
    close(old_err);
    ran.out = test_read_file(t, test_path(t, "out")).p;
    ran.err = test_read_file(t, test_path(t, "err")).p;
    return ran;
}

struct ran run_words(struct test *t, const char *const *words)
{
    return run_with(t, words, "");
}

struct ran run_line(struct test *t, const char *line)
{
    const char *words[WORDS_MAX + 1] = { NULL };
    const char *here = strstr(line, " <<< ");
    char *at = arena_copy(&t->arena, line, here ? (size_t)(here - line) : strlen(line));
    size_t n = 0;

    while (*at) {
        bool quoted = *at == '\'';
        char *end = strchrnul(at + quoted, quoted ? '\'' : ' ');
        char *next = *end ? end + 1 + (quoted && end[1] == ' ') : end;

        ASSERT(n < WORDS_MAX);
        words[n++] = at + quoted;
        *end = '\0';
        at = next;
    }
    return run_with(t, words, here ? here + strlen(" <<< ") : "");
}

void check_lines(struct test *t, const struct line *lines, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct ran ran = run_line(t, lines[i].line);
        const char *said = ran.code == CLI_DONE ? ran.out : ran.err;

        if (ran.code == lines[i].code && strstr(said, lines[i].says))
            test_case_passed();
        else
            test_case_failed("%s: ended with %d and said \"%s\", \"%s\", not %d \"%s\"",
                             lines[i].line, ran.code, ran.out, ran.err, lines[i].code,
                             lines[i].says);
    }
}

const char *member(struct test *t, const char *text, const char *pointer)
{
    AUTO_JSON root = NULL;
    struct json_object *value = NULL;

    ASSERT_OK(json_parse(str_from(text), &root, &t->err));
    ASSERT_OK(json_pointer_find(root, str_from(pointer), &value, &t->err));
    return arena_text(&t->arena, json_object_get_string(value));
}

void write_config(struct test *t, const char *text)
{
    mkdir(test_path(t, "data"), 0700);
    test_write_file(test_path(t, "data/config.yaml"), text, strlen(text));
}

/* ---- a daemon ---- */

static pid_t daemon_pid;

/* In the sealed file, not on the desktop of whoever runs the tests. */
static void keep_secrets_here(struct test *t)
{
    static const char key[] = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";
    const char *path = test_path(t, "key");

    test_write_file(path, key, strlen(key));
    chmod(path, 0600);
    setenv("DORMOUSE_MASTER_KEY_FILE", path, 1);
}

_Noreturn static void serve(struct test *t, int out)
{
    static const char *const words[] = { "serve", "--json", "--listen", "127.0.0.1:0", NULL };

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    dup2(out, STDOUT_FILENO);
    exit(call(t, words));
}

void start_daemon(struct test *t)
{
    int ready[2];
    char byte = 0;

    keep_secrets_here(t);
    setenv("DORMOUSE_DATA", test_path(t, "data"), 1);
    ASSERT_EQ(pipe(ready), 0);
    fflush(stdout);
    daemon_pid = fork();
    ASSERT(daemon_pid >= 0);
    if (daemon_pid == 0)
        serve(t, ready[1]);
    close(ready[1]);
    ASSERT_EQ(read(ready[0], &byte, 1), 1); /* it says where it is when it is there */
    while (byte != '\n')
        ASSERT_EQ(read(ready[0], &byte, 1), 1);
    close(ready[0]);
}

void stop_daemon(struct test *t)
{
    int status = 0;

    (void)t;
    kill(daemon_pid, SIGTERM);
    ASSERT_EQ(waitpid(daemon_pid, &status, 0), daemon_pid);
    ASSERT_EQ(status, 0);
}
