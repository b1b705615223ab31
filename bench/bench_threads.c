/* Opening a conversation of 10,000 messages: what the page asks for (the conversation, its newest
 * page and what waits), asked of the daemon over its socket, so that routing, handlers and JSON are
 * in the time, and the client's reading of the answer too.
 *
 * usage: bench-threads BINARY
 *
 * The yardstick is the same with 100 messages: the length must not matter.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "agent/agent.h"
#include "base/clock.h"
#include "base/json.h"
#include "cli/talk.h"
#include "db/migrations.h"
#include "memory/conversation.h"

#define LONG      10000
#define SHORT     100
#define PAGE      100
#define ROUNDS    200
#define TARGET_MS 20.0
#define START_MS  10000

static void must(int r, const struct err *err)
{
    char text[ERR_TEXT_MAX];

    if (r >= 0)
        return;
    fprintf(stderr, "bench-threads: %s\n", err_format(err, text, sizeof(text)));
    exit(1);
}

struct bench {
    struct domain *domain;
    struct change *change;
    struct agent agent;
    struct arena arena;
};

static void fill(struct bench *b, const char *id, int count, struct thread *ret_thread)
{
    struct err err = ERR_INIT;
    char name[64], text[1024];

    must(domain_begin(b->domain, &err), &err);
    must(thread_open(b->domain, str_from(id), b->agent.n, 1, &b->arena, ret_thread, &err), &err);
    for (int i = 0; i < count; i++) {
        struct message message = { .kind = i % 2 ? MESSAGE_THOUGHT : MESSAGE_USER,
                                   .created_at = i + 1 };

        snprintf(name, sizeof(name), "%s-%d", id, i);
        snprintf(text, sizeof(text), "{\"text\":\"%0400d some words of a message\"}", i);
        message.id = str_from(name);
        message.content = str_from(text);
        must(message_append(b->domain, b->change, ret_thread, &message, &err), &err);
    }
    must(thread_save(b->domain, ret_thread, count, &err), &err);
    must(domain_commit(b->domain, &err), &err);
}

static void make_data(const char *dir)
{
    char url[128];
    struct bench b = { .arena = ARENA_INIT };
    struct domain_config config = { .name = "agent",
                                    .url = url,
                                    .migrations = migrations_agent,
                                    .migration_count = migrations_agent_count };
    struct thread thread;
    struct err err = ERR_INIT;

    snprintf(url, sizeof(url), "sqlite:%s/agent.sqlite", dir);
    must(domain_open(&config, &b.domain, &err), &err);
    must(change_open(b.domain, NULL, NULL, &b.change, &err), &err);
    must(agent_ensure_default(b.domain, b.change, "Planner", 1, &b.arena, &b.agent, &err), &err);
    fill(&b, "planner:session:short", SHORT, &thread);
    fill(&b, "planner:session:long", LONG, &thread);
    change_free(b.change);
    domain_free(b.domain);
    arena_release(&b.arena);
}

/* ---- the daemon ---- */

static pid_t start(const char *binary, const char *dir)
{
    pid_t pid = fork();

    if (pid == 0) {
        if (!freopen("/dev/null", "w", stdout))
            _exit(126);
        setenv("DORMOUSE_LOG", "error", 1);
        execl(binary, binary, "serve", "--data", dir, "--listen", "127.0.0.1:0", (char *)NULL);
        _exit(127);
    }
    return pid;
}

static struct talk *connect_to(const char *dir)
{
    const struct timespec pause = { .tv_nsec = 1000000 };
    int64_t deadline = clock_mono_ms(clock_system()) + START_MS;
    struct talk *talk = NULL;
    struct err err = ERR_INIT;
    char path[128];

    snprintf(path, sizeof(path), "%s/dormouse.sock", dir);
    while (talk_connect(path, &talk, &err) < 0) {
        if (clock_mono_ms(clock_system()) > deadline)
            must(-1, &err);
        err_reset(&err);
        nanosleep(&pause, NULL);
    }
    return talk;
}

static size_t ask(struct talk *talk, const char *path, const char *list)
{
    AUTO_JSON answer = NULL;
    struct err err = ERR_INIT;
    struct json_object *items;

    must(talk_ask(talk, "GET", path, STR_NONE, &answer, &err), &err);
    items = list ? json_find(answer, list) : NULL;
    return items ? json_object_array_length(items) : 0;
}

static double open_once(struct talk *talk, const char *session)
{
    int64_t begin = clock_mono_ns(clock_system());
    char path[160];

    snprintf(path, sizeof(path), "/api/v1/agents/planner/threads/%s", session);
    ask(talk, path, NULL);
    snprintf(path, sizeof(path), "/api/v1/agents/planner/threads/%s/messages?limit=%d", session,
             PAGE);
    if (ask(talk, path, "messages") != PAGE) {
        fprintf(stderr, "bench-threads: not a whole page\n");
        exit(1);
    }
    ask(talk, "/api/v1/inbox", "items");
    return (double)(clock_mono_ns(clock_system()) - begin) / 1e6;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static void measure(struct talk *talk)
{
    double times[2][ROUNDS];

    for (int i = 0; i < ROUNDS; i++) {
        times[0][i] = open_once(talk, "long");
        times[1][i] = open_once(talk, "short");
    }
    for (int i = 0; i < 2; i++)
        qsort(times[i], ROUNDS, sizeof(double), by_size);
    printf(
        "{\"bench\":\"threads.open\",\"messages\":%d,\"value\":%.3f,\"p99\":%.3f,\"unit\":\"ms\","
        "\"yardstick\":\"%d messages\",\"yardstick_value\":%.3f,\"ratio\":%.2f,\"target\":%.0f,"
        "\"ok\":%s}\n",
        LONG, times[0][ROUNDS / 2], times[0][ROUNDS * 99 / 100], SHORT, times[1][ROUNDS / 2],
        times[0][ROUNDS / 2] / times[1][ROUNDS / 2], TARGET_MS,
        times[0][ROUNDS / 2] < TARGET_MS ? "true" : "false");
}

int main(int argc, char **argv)
{
    char dir[] = "/tmp/bench-threads-XXXXXX";
    char command[64];
    struct talk *talk;
    pid_t pid;

    if (argc < 2 || !mkdtemp(dir)) {
        fprintf(stderr, "usage: bench-threads BINARY\n");
        return 2;
    }
    make_data(dir);
    pid = start(argv[1], dir);
    talk = connect_to(dir);
    measure(talk);
    talk_free(talk);
    kill(pid, SIGTERM);
    waitpid(pid, NULL, 0);
    snprintf(command, sizeof(command), "rm -rf %s", dir);
    return system(command) == 0 ? 0 : 1;
}
