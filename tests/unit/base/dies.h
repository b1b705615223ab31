/* For what must end the process: our own mistakes (BUG) and memory that is not there.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_TESTS_DIES_H
#define DORMOUSE_TESTS_DIES_H

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/test.h"

/* Runs act in a child and fails unless it aborts with text on stderr. Under AddressSanitizer a
 * hopeless allocation ends in its own report instead. */
static inline void assert_dies(struct test *t, void (*act)(void), const char *text)
{
    const char *path = test_path(t, "stderr");
    struct rlimit no_core = { 0, 0 };
    struct str said;
    int status;
    pid_t pid;

    fflush(NULL);
    pid = fork();
    ASSERT(pid >= 0);
    if (pid == 0) {
        setrlimit(RLIMIT_CORE, &no_core);
        dup2(open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600), STDERR_FILENO);
        act();
        _exit(0);
    }
    ASSERT_EQ(waitpid(pid, &status, 0), pid);
    said = test_read_file(t, path);
    if (str_find(said, STR("AddressSanitizer")) >= 0)
        return;
    ASSERT_CONTAINS(said.p, text);
    ASSERT(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

#endif
