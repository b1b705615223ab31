/* memory.write: an agent asks to remember something. From its call to the item that a person can
 * see, durable and told; and from the person's word to the file, durable and told. Medians, with a
 * small file and with one near its limit.
 *
 * memory.flags: the search for suspicious text in 100 KB, ordinary and hostile.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "agent/inbox.h"
#include "base/alloc.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/json_put.h"
#include "db/migrations.h"
#include "memory/edit.h"
#include "run/run.h"

#define ROUNDS    151
#define TARGET_MS 3.0
#define SMALL     4096

struct span {
    double ms, cpu;
};

struct bench {
    char dir[64], path[96];
    struct domain *domain;
    struct loop *loop;
    struct change *change;
    struct kill_switches *kill;
    struct files *files;
    struct model_gateway *models;
    struct tool_bed *tools;
    struct runner *runner;
    struct run_listener listener;
    struct buf arguments;
    struct span called, waited, complete;
    char item[80];
};

static void must(int r, const struct err *err, const char *what)
{
    char text[ERR_TEXT_MAX + 64];

    if (r >= 0)
        return;
    fprintf(stderr, "bench-memory: %s: %s\n", what, err_format(err, text, sizeof(text)));
    exit(1);
}

static double now_ms(void)
{
    return (double)clock_mono_ns(clock_system()) / 1e6;
}

/* Of this process alone: what a busy machine can't change. */
static double cpu_ms(void)
{
    struct timespec at;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &at);
    return (double)at.tv_sec * 1e3 + (double)at.tv_nsec / 1e6;
}

static struct span span_to(struct span now, struct span begin)
{
    return (struct span){ now.ms - begin.ms, now.cpu - begin.cpu };
}

static struct span span_now(void)
{
    return (struct span){ now_ms(), cpu_ms() };
}

static int answer(void *call_arg, const struct model_request *request,
                  const struct model_sink *sink, void *arg, struct err *err)
{
    struct bench *b = call_arg;
    bool acted = request->messages[request->message_count - 1].role == MODEL_TOOL;
    const struct model_call call = { .id = STR("call_1"),
                                     .name = STR("write_memory"),
                                     .arguments = buf_str(&b->arguments) };
    const struct model_reply reply = {
        .text = acted ? STR("Noted.") : STR_NONE,
        .calls = &call,
        .call_count = acted ? 0 : 1,
        .stop = acted ? MODEL_STOP_END : MODEL_STOP_CALLS,
    };

    (void)err;
    if (!acted)
        b->called = span_now();
    sink->on_done(arg, &reply, NULL, -1);
    return 0;
}

static void heard(struct run_listener *listener, const struct run_public *event)
{
    struct bench *b = CONTAINER_OF(listener, struct bench, listener);

    if (strcmp(event->type, "waiting") == 0) {
        b->waited = span_now();
        loop_stop(b->loop);
    } else if (strcmp(event->type, "memory_edit_complete") == 0) {
        b->complete = span_now();
    } else if (strcmp(event->type, "done") == 0) {
        loop_stop(b->loop);
    }
}

static void open_bench(struct bench *b)
{
    static struct model_spec spec;
    struct domain_config domain = { .name = "agent",
                                    .url = b->path,
                                    .migrations = migrations_agent,
                                    .migration_count = migrations_agent_count };
    struct model_gateway_config models = { .models = &spec, .model_count = 1 };
    struct tool_bed_config tools = { .policy_text_hash = "" };
    struct runner_config runner = { .default_agent_name = "Planner",
                                    .default_model = "inside",
                                    .default_cwd = "/tmp" };
    struct err err = ERR_INIT;

    snprintf(b->dir, sizeof(b->dir), "/tmp/bench-memory-XXXXXX");
    if (!mkdtemp(b->dir))
        exit(1);
    snprintf(b->path, sizeof(b->path), "sqlite:%s/agent.sqlite", b->dir);
    b->arguments = BUF_INIT(1 << 20);
    spec = (struct model_spec){ .id = "inside", .provider = "call", .call = answer, .call_arg = b };
    must(domain_open(&domain, &b->domain, &err), &err, "open");
    must(loop_new(NULL, &b->loop, &err), &err, "loop");
    loop_attach(b->loop, b->domain);
    must(change_open(b->domain, NULL, NULL, &b->change, &err), &err, "change");
    must(kill_open(b->domain, &b->kill, &err), &err, "kill");
    must(files_new(&(struct files_config){ .loop = b->loop,
                                           .agent_domain = b->domain,
                                           .change = b->change },
                   &b->files, &err),
         &err, "files");
    models.loop = tools.loop = runner.loop = b->loop;
    must(model_gateway_new(&models, &b->models, &err), &err, "models");
    tools.agent_domain = runner.agent_domain = b->domain;
    tools.kill = runner.kill = b->kill;
    tools.files = runner.files = b->files;
    must(tool_bed_new(&tools, &b->tools, &err), &err, "tools");
    runner.change = b->change;
    runner.models = b->models;
    runner.tools = b->tools;
    must(runner_new(&runner, &b->runner, &err), &err, "runner");
    b->listener = (struct run_listener){ .event = heard };
    runner_listen(b->runner, &b->listener);
}

static void close_bench(struct bench *b)
{
    char command[128];

    runner_stop(b->runner);
    model_gateway_free(b->models);
    tool_bed_free(b->tools);
    files_free(b->files);
    loop_free(b->loop);
    runner_free(b->runner);
    kill_switches_free(b->kill);
    change_free(b->change);
    domain_free(b->domain);
    buf_release(&b->arguments);
    snprintf(command, sizeof(command), "rm -rf %s", b->dir);
    if (system(command) != 0)
        exit(1);
}

/* ---- write ---- */

static void write_arguments(struct bench *b, size_t bytes, int round)
{
    struct json_writer w = JSON_WRITER(&b->arguments);
    AUTO_BUF text = BUF_INIT(1 << 20);

    for (int i = 0; text.n < bytes; i++)
        buf_printf(&text, "- line %d of the notes, written in round %d\n", i, i % 10 ? 0 : round);
    buf_clear(&b->arguments);
    json_write_object_begin(&w);
    json_put_text(&w, "path", "knowledge/notes.md");
    json_put_str(&w, "content", buf_str(&text));
    json_put_text(&w, "reason", "It was asked for.");
    json_write_object_end(&w);
}

static void one_write(struct bench *b, size_t bytes, int round, struct span *ret_asked,
                      struct span *ret_kept)
{
    const struct inbox_decision yes = { .state = INBOX_APPROVED, .by = STR("owner") };
    struct run_request request = { .prompt = STR("Please remember this.") };
    AUTO_ARENA arena = ARENA_INIT;
    struct run_info info;
    struct err err = ERR_INIT;
    struct inbox_waits waits;
    struct span decided;

    write_arguments(b, bytes, round);
    must(run_start(b->runner, &request, &arena, &info, &err), &err, "start");
    must(loop_run(b->loop, &err), &err, "run");
    *ret_asked = span_to(b->waited, b->called);
    must(inbox_waits_of_run(b->domain, info.n, 0, &arena, &waits, &err), &err, "item");
    decided = span_now();
    must(run_decide(b->runner, waits.pending, &yes, &err), &err, "decide");
    must(loop_run(b->loop, &err), &err, "run");
    *ret_kept = span_to(b->complete, decided);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

/* In order of value, which the caller wants the middle of. */
static void sort_spans(const struct span *spans, double *ret_ms, double *ret_cpu)
{
    for (int i = 0; i < ROUNDS; i++) {
        ret_ms[i] = spans[i].ms;
        ret_cpu[i] = spans[i].cpu;
    }
    qsort(ret_ms, ROUNDS, sizeof(*ret_ms), by_value);
    qsort(ret_cpu, ROUNDS, sizeof(*ret_cpu), by_value);
}

static void tell(const char *what, size_t bytes, const struct span *spans)
{
    double samples[ROUNDS], cpu[ROUNDS];

    sort_spans(spans, samples, cpu);
    printf("{\"bench\":\"memory.write\",\"what\":\"%s\",\"bytes\":%zu,\"value\":%.3f,"
           "\"unit\":\"ms\",\"p99\":%.3f,\"cpu_ms\":%.3f",
           what, bytes, samples[ROUNDS / 2], samples[ROUNDS * 99 / 100], cpu[ROUNDS / 2]);
    /* The target is for what agents write day by day. */
    if (bytes <= SMALL)
        printf(",\"target\":%.1f,\"ok\":%s", TARGET_MS,
               samples[ROUNDS / 2] < TARGET_MS ? "true" : "false");
    printf("}\n");
}

static void writes(struct bench *b, size_t bytes)
{
    struct span asked[ROUNDS], kept[ROUNDS];

    for (int i = 0; i < ROUNDS; i++)
        one_write(b, bytes, i, &asked[i], &kept[i]);
    tell("proposal to pending item", bytes, asked);
    tell("decision to committed file", bytes, kept);
}

/* ---- flags ---- */

static void flags(const char *what, const char *piece)
{
    AUTO_BUF text = BUF_INIT(1 << 20);
    double best = 1e9;

    while (text.n < LIMIT_MEMORY_FILE_BYTES)
        buf_add_text(&text, piece);
    for (int i = 0; i < 20; i++) {
        AUTO_ARENA arena = ARENA_INIT;
        struct memory_flag *found;
        double begin = now_ms();

        memory_flags(buf_str(&text), &arena, &found);
        if (now_ms() - begin < best)
            best = now_ms() - begin;
    }
    printf("{\"bench\":\"memory.flags\",\"what\":\"%s\",\"bytes\":%d,\"value\":%.3f,"
           "\"unit\":\"ms\",\"target\":10,\"ok\":%s}\n",
           what, LIMIT_MEMORY_FILE_BYTES, best, best < 10 ? "true" : "false");
}

int main(void)
{
    struct bench b = { .path = "" };

    open_bench(&b);
    writes(&b, SMALL);
    writes(&b, 60000);
    close_bench(&b);
    flags("prose", "- She prefers mornings, and tea without sugar; the meeting is on Tuesday.\n");
    flags("send send send", "send ");
    flags("unfinished links", "[a.b](");
    return 0;
}
