/* start: time from the start of the server's process to its first answer, with an empty data
 * directory, and its memory when idle.
 *
 * usage: bench-start BINARY [ARGUMENT...]   (default: serve --data {data} --listen {listen})
 *
 * SPDX-License-Identifier: MIT
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

#define ROUNDS        9
#define START_MS      30.0
#define ANONYMOUS_KB  (6 * 1024)
#define RESIDENT_KB   (20 * 1024)
#define GIVE_UP_NS    5000000000
#define BETWEEN_NS    100000 /* asking without a pause would take a core from the server */
#define ARGUMENTS_MAX 32

static int64_t now_ns(void)
{
    return clock_mono_ns(clock_system());
}

static unsigned free_port(void)
{
    struct sockaddr_in sa = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t n = sizeof(sa);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (bind(fd, (struct sockaddr *)&sa, sizeof(sa)) < 0)
        exit(1);
    getsockname(fd, (struct sockaddr *)&sa, &n);
    close(fd);
    return ntohs(sa.sin_port);
}

static int answered(unsigned port)
{
    struct sockaddr_in sa = { .sin_family = AF_INET,
                              .sin_port = htons((uint16_t)port),
                              .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), good = 0;
    char line[16] = "";

    if (connect(fd, (struct sockaddr *)&sa, sizeof(sa)) == 0 &&
        dprintf(fd, "GET /healthz HTTP/1.1\r\nHost: 127.0.0.1:%u\r\n\r\n", port) > 0 &&
        read(fd, line, 12) == 12)
        good = strcmp(line, "HTTP/1.1 200") == 0;
    close(fd);
    return good;
}

static pid_t start(char **argv, const char *data, unsigned port)
{
    static char listen[64];
    char *args[ARGUMENTS_MAX + 2];
    const char *const given[] = {
        argv[0], "serve", "--data", "{data}", "--listen", "{listen}", NULL
    };
    const char *const *from = argv[1] ? (const char *const *)argv : given;
    pid_t pid;
    int n = 0;

    snprintf(listen, sizeof(listen), "127.0.0.1:%u", port);
    for (; from[n] && n < ARGUMENTS_MAX; n++) {
        const char *text = strcmp(from[n], "{data}") == 0     ? data
                           : strcmp(from[n], "{listen}") == 0 ? listen
                                                              : from[n];

        args[n] = (char *)(uintptr_t)text; /* execv() promises not to write */
    }
    args[n] = NULL;
    pid = fork();
    if (pid == 0) {
        if (!freopen("/dev/null", "w", stdout))
            _exit(126);
        setenv("DORMOUSE_LOG", "error", 1);
        execv(args[0], args);
        _exit(127);
    }
    return pid;
}

static long smaps_kb(pid_t pid, const char *key)
{
    char path[64], line[256];
    long value = -1;
    FILE *file;

    snprintf(path, sizeof(path), "/proc/%d/smaps_rollup", pid);
    file = fopen(path, "re");
    while (file && fgets(line, sizeof(line), file))
        if (strncmp(line, key, strlen(key)) == 0)
            value = strtol(line + strlen(key), NULL, 10);
    if (file)
        fclose(file);
    return value;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double run(char **argv, long *ret_anonymous, long *ret_resident)
{
    char data[] = "/tmp/dormouse-bench-XXXXXX", command[100];
    unsigned port = free_port();
    int64_t began, took;
    pid_t pid;

    if (!mkdtemp(data))
        exit(1);
    began = now_ns();
    pid = start(argv, data, port);
    while (!answered(port) && now_ns() - began < GIVE_UP_NS) {
        if (waitpid(pid, NULL, WNOHANG) == pid)
            break;
        nanosleep(&(struct timespec){ .tv_nsec = BETWEEN_NS }, NULL);
    }
    took = now_ns() - began;
    if (!answered(port)) {
        printf("{\"bench\":\"start\",\"error\":\"%s did not answer\",\"ok\":false}\n", argv[0]);
        exit(1);
    }
    *ret_anonymous = smaps_kb(pid, "Anonymous:");
    *ret_resident = smaps_kb(pid, "Rss:");
    kill(pid, SIGTERM);
    waitpid(pid, NULL, 0);
    snprintf(command, sizeof(command), "rm -rf %s", data);
    if (system(command) != 0) // NOLINT(cert-env33-c)
        fprintf(stderr, "could not remove %s\n", data);
    return (double)took / 1e6;
}

static int report(const char *bench, double value, const char *unit, double target)
{
    printf("{\"bench\":\"%s\",\"value\":%.1f,\"unit\":\"%s\",\"target\":%.0f,\"ok\":%s}\n", bench,
           value, unit, target, value < target ? "true" : "false");
    return value < target ? 0 : 1;
}

int main(int argc, char **argv)
{
    double took[ROUNDS];
    long anonymous, resident;

    if (argc < 2) {
        fprintf(stderr, "usage: %s BINARY [ARGUMENT...]\n", argv[0]);
        return 2;
    }
    for (int i = 0; i < ROUNDS; i++)
        took[i] = run(argv + 1, &anonymous, &resident);
    qsort(took, ROUNDS, sizeof(*took), by_value);
    return report("start", took[ROUNDS / 2], "ms", START_MS) |
           report("start.anonymous", (double)anonymous, "kB", ANONYMOUS_KB) |
           report("start.resident", (double)resident, "kB", RESIDENT_KB);
}
