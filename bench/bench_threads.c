/* Opening a conversation of 10,000 messages: what the page asks for (its newest page and what waits
 * in it), as the server answers it, without the network.
 *
 * The yardstick is the same with 100 messages: the length must not matter.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "agent/agent.h"
#include "agent/inbox.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/json_write.h"
#include "base/limits.h"
#include "db/db.h"
#include "db/migrations.h"
#include "memory/conversation.h"

#define LONG      10000
#define SHORT     100
#define PAGE      100
#define ROUNDS    200
#define TARGET_MS 20.0

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

struct page {
    struct json_writer w;
    int left;
};

static bool write_one(void *arg, const struct message *message)
{
    struct page *page = arg;
    AUTO_JSON content = NULL;

    if (page->left-- == 0)
        return false;
    json_write_object_begin(&page->w);
    json_write_key(&page->w, "id");
    json_write_str(&page->w, message->id);
    json_write_key(&page->w, "content");
    if (json_parse(message->content, &content, NULL) == 0)
        json_write_value(&page->w, content);
    else
        json_write_null(&page->w);
    json_write_object_end(&page->w);
    return true;
}

static double open_once(struct bench *b, const struct thread *thread)
{
    int64_t begin = clock_mono_ns(clock_system());
    AUTO_BUF out = BUF_INIT(8 * MIB);
    AUTO_ARENA arena = ARENA_INIT;
    struct page page = { .w = JSON_WRITER(&out), .left = PAGE };
    struct conversation conversation;
    struct inbox_item *items;
    struct err err = ERR_INIT;
    size_t n;

    must(conversation_get(b->domain, thread->n, &arena, &conversation, &err), &err);
    json_write_array_begin(&page.w);
    must(message_each_back(b->domain, thread->n, 0, write_one, &page, &err), &err);
    json_write_array_end(&page.w);
    must(inbox_list(b->domain, INBOX_PENDING, 0, 100, &arena, &items, &n, &err), &err);
    return (double)(clock_mono_ns(clock_system()) - begin) / 1e6;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

int main(void)
{
    char path[64];
    struct bench b = { .arena = ARENA_INIT };
    struct domain_config config = { .name = "agent",
                                    .url = path,
                                    .migrations = migrations_agent,
                                    .migration_count = migrations_agent_count };
    double times[2][ROUNDS];
    struct thread big, small;
    struct err err = ERR_INIT;
    char command[64];
    char dir[] = "/tmp/bench-threads-XXXXXX";

    if (!mkdtemp(dir))
        return 1;
    snprintf(path, sizeof(path), "sqlite:%s/a.sqlite", dir);
    must(domain_open(&config, &b.domain, &err), &err);
    must(change_open(b.domain, NULL, NULL, &b.change, &err), &err);
    must(agent_ensure_default(b.domain, b.change, "Planner", 1, &b.arena, &b.agent, &err), &err);
    fill(&b, "planner:session:short", SHORT, &small);
    fill(&b, "planner:session:long", LONG, &big);
    for (int i = 0; i < ROUNDS; i++) {
        times[0][i] = open_once(&b, &big);
        times[1][i] = open_once(&b, &small);
    }
    for (int i = 0; i < 2; i++)
        qsort(times[i], ROUNDS, sizeof(double), by_size);
    printf(
        "{\"bench\":\"threads.open\",\"messages\":%d,\"value\":%.3f,\"p99\":%.3f,\"unit\":\"ms\","
        "\"yardstick\":\"%d messages\",\"yardstick_value\":%.3f,\"ratio\":%.2f,\"target\":%.0f,"
        "\"ok\":%s}\n",
        LONG, times[0][ROUNDS / 2], times[0][ROUNDS * 99 / 100], SHORT, times[1][ROUNDS / 2],
        times[0][ROUNDS / 2] / times[1][ROUNDS / 2], TARGET_MS,
        times[0][ROUNDS * 99 / 100] < TARGET_MS ? "true" : "false");
    change_free(b.change);
    domain_free(b.domain);
    arena_release(&b.arena);
    snprintf(command, sizeof(command), "rm -rf %s", dir);
    return system(command) == 0 ? 0 : 1;
}
