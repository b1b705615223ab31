/* run.turns: a user's message, a tool call, its result, a closing text, by a model and a tool
 * inside the process, every event durable: turns per second one run at a time (against what the
 * disk's own commits allow, measured in the same run) and with 64 runs at once; bytes of database
 * for a turn; and turns per second in threads that have 10 to 10,000 messages already.
 *
 * run.suspended: 10,000 runs that wait for a person: memory that they add, and the time from a
 * person's word to the run's end.
 *
 * SPDX-License-Identifier: MIT
 */
#include <fcntl.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/inbox.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "db/engine.h"
#include "db/migrations.h"
#include "memory/message.h"
#include "run/run.h"

#define SIDE_BY_SIDE   64
#define PEER_TURNS     130.0 /* of a JavaScript graph runtime with a SQLite checkpointer */
#define COMMITS_A_TURN 4
#define WAITING        10000
#define ROUNDS         15

struct bench {
    char dir[64], path[96];
    struct domain *domain;
    struct loop *loop;
    struct change *change;
    struct kill_switches *kill;
    struct model_gateway *models;
    struct tool_bed *tools;
    struct runner *runner;
    struct run_listener listener;
    const char *tool; /* what the model calls */
    uint64_t begun, ended, wanted, limit;
    unsigned next_session;
    char thread[64]; /* all in this one, unless empty */
};

static void must(int r, const struct err *err, const char *what)
{
    char text[ERR_TEXT_MAX + 64];

    if (r >= 0)
        return;
    fprintf(stderr, "bench-run: %s: %s\n", what, err_format(err, text, sizeof(text)));
    exit(1);
}

static double now_s(void)
{
    return (double)clock_mono_ns(clock_system()) / 1e9;
}

/* ---- a model and a tool that cost nothing ---- */

static int answer(void *call_arg, const struct model_request *request,
                  const struct model_sink *sink, void *arg, struct err *err)
{
    struct bench *b = call_arg;
    bool acted = request->messages[request->message_count - 1].role == MODEL_TOOL;
    const struct model_call call = { .id = STR("call_1"),
                                     .name = str_from(b->tool),
                                     .arguments =
                                         STR("{\"text\":\"buy milk, bread and a lamp\"}") };
    const struct model_reply reply = {
        .text = acted ? STR("I have written it down: buy milk, bread and a lamp.") : STR_NONE,
        .calls = &call,
        .call_count = acted ? 0 : 1,
        .stop = acted ? MODEL_STOP_END : MODEL_STOP_CALLS,
        .usage = { .input_tokens = 900, .output_tokens = 30 },
    };

    (void)err;
    sink->on_done(arg, &reply, NULL, -1);
    return 0;
}

static int write_down(struct tool_job *job, struct err *err)
{
    const struct tool_result result = { .output = STR("{\"written\":true,\"items\":3}") };

    (void)err;
    tool_job_finish(job, &result);
    return 0;
}

#define CONTRACT(name, approval)                                                                   \
    "{\"name\":\"" name "\",\"version\":\"1.0.0\","                                                \
    "\"description\":\"Writes a text down for later.\",\"capabilitiesRequired\":[\"notes\"],"      \
    "\"allowedWakeReasons\":[\"userInitiated\"],\"inputSchema\":{\"type\":\"object\"},"            \
    "\"outputSchema\":true,\"idempotencyStrategy\":\"keyed\",\"scopeRules\":[],"                   \
    "\"sideEffects\":{\"entityTypes\":[],\"notificationTokens\":[]},\"riskLevel\":\"low\","        \
    "\"dataMinimizationPolicyRef\":\"workspace\",\"toolClass\":\"notes\",\"mutating\":true,"       \
    "\"approval\":\"" approval "\",\"parallelSafe\":true,\"timeout\":60,\"egressHosts\":[]}"

/* ---- the stage ---- */

static void open_bench(struct bench *b)
{
    static const struct tool_impl notes = { .name = "notes", .start = write_down };
    static const struct tool_impl asking = { .name = "asking", .start = write_down };
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

    snprintf(b->dir, sizeof(b->dir), "/tmp/bench-run-XXXXXX");
    if (!mkdtemp(b->dir))
        exit(1);
    snprintf(b->path, sizeof(b->path), "sqlite:%s/agent.sqlite", b->dir);
    spec = (struct model_spec){ .id = "inside", .provider = "call", .call = answer, .call_arg = b };
    must(domain_open(&domain, &b->domain, &err), &err, "open");
    must(loop_new(NULL, &b->loop, &err), &err, "loop");
    loop_attach(b->loop, b->domain);
    must(change_open(b->domain, NULL, NULL, &b->change, &err), &err, "change");
    must(kill_open(b->domain, &b->kill, &err), &err, "kill");
    models.loop = tools.loop = runner.loop = b->loop;
    must(model_gateway_new(&models, &b->models, &err), &err, "models");
    tools.agent_domain = runner.agent_domain = b->domain;
    tools.kill = runner.kill = b->kill;
    must(tool_bed_new(&tools, &b->tools, &err), &err, "tools");
    must(tool_bed_add(b->tools, CONTRACT("notes", "never"), &notes, b, &err), &err, "tool");
    must(tool_bed_add(b->tools, CONTRACT("asking", "always"), &asking, b, &err), &err, "tool");
    runner.change = b->change;
    runner.models = b->models;
    runner.tools = b->tools;
    must(runner_new(&runner, &b->runner, &err), &err, "runner");
    b->tool = "notes";
}

static void close_bench(struct bench *b)
{
    char command[128];

    runner_stop(b->runner);
    model_gateway_free(b->models);
    tool_bed_free(b->tools);
    loop_free(b->loop);
    runner_free(b->runner);
    kill_switches_free(b->kill);
    change_free(b->change);
    domain_free(b->domain);
    snprintf(command, sizeof(command), "rm -rf %s", b->dir);
    if (system(command) != 0)
        exit(1);
}

/* ---- turns ---- */

/* thread_id empty: a new conversation, or the one that the bench is about. */
static void begin_turn(struct bench *b, struct str thread_id)
{
    AUTO_ARENA arena = ARENA_INIT;
    char name[32];
    struct run_request request = { .prompt =
                                       STR("Please write down: buy milk, bread and a lamp.") };
    struct run_info info;
    struct err err = ERR_INIT;

    snprintf(name, sizeof(name), "s%u", b->next_session++);
    request.thread_id = thread_id;
    if (!thread_id.n)
        request.session_id = b->thread[0] ? str_from(b->thread) : str_from(name);
    must(run_start(b->runner, &request, &arena, &info, &err), &err, "start");
    b->begun++;
}

struct again {
    struct loop_effect effect;
    struct bench *b;
    char thread[128];
};

static void again_run(struct loop_effect *effect)
{
    struct again *again = (struct again *)effect;

    begin_turn(again->b, str_from(again->thread));
    free(again);
}

static void again_drop(struct loop_effect *effect, const struct err *why)
{
    (void)why;
    free(effect);
}

static bool wants(struct run_listener *listener, struct str thread_id, struct str run_id,
                  const char *type)
{
    (void)listener, (void)thread_id, (void)run_id;
    return strcmp(type, "done") == 0 || strcmp(type, "waiting") == 0;
}

static void heard(struct run_listener *listener, const struct run_public *event)
{
    struct bench *b = CONTAINER_OF(listener, struct bench, listener);
    struct again *again;

    if (strcmp(event->type, "done") != 0 && strcmp(event->type, "waiting") != 0)
        return;
    b->ended++;
    if (b->begun < b->limit) {
        again = NEW(struct again);
        *again = (struct again){ .effect = { .run = again_run, .drop = again_drop }, .b = b };
        if (strcmp(event->type, "done") == 0)
            snprintf(again->thread, sizeof(again->thread), "%.*s", STR_ARG(event->thread_id));
        loop_after_commit(b->loop, &again->effect);
    }
    if (b->ended >= b->limit)
        loop_stop(b->loop);
}

static double turns(struct bench *b, unsigned at_once, uint64_t count)
{
    struct err err = ERR_INIT;
    double started;

    b->begun = b->ended = 0;
    b->limit = count;
    b->listener = (struct run_listener){ .wants = wants, .event = heard };
    runner_listen(b->runner, &b->listener);
    started = now_s();
    for (unsigned i = 0; i < at_once; i++)
        begin_turn(b, STR_NONE);
    must(loop_run(b->loop, &err), &err, "run");
    runner_unlisten(b->runner, &b->listener);
    return (double)count / (now_s() - started);
}

/* ---- yardsticks ---- */

/* Commits per second of the same database with the same settings, one small row each. */
static double commit_rate(struct bench *b, int count)
{
    struct err err = ERR_INIT;
    double started = now_s();

    for (int i = 0; i < count; i++) {
        AUTO_ARENA arena = ARENA_INIT;
        struct agent agent = { .kind = "planner",
                               .display_name = "x",
                               .lifecycle = AGENT_ACTIVE,
                               .mode = "interactive",
                               .allowed_category_ids = "[]",
                               .instructions = "" };
        static int n;

        agent.id = arena_printf(&arena, "yardstick%d", n++);
        must(domain_begin(b->domain, &err), &err, "begin");
        must(agent_add(b->domain, b->change, &agent, 1, &err), &err, "row");
        must(domain_commit(b->domain, &err), &err, "commit");
    }
    return count / (now_s() - started);
}

static int64_t file_bytes(const struct bench *b)
{
    struct stat st;

    return stat(b->path + strlen("sqlite:"), &st) == 0 ? (int64_t)st.st_size : 0;
}

static int64_t resident_kb(void)
{
    char line[256];
    long kb = 0;
    FILE *file = fopen("/proc/self/status", "r");

    while (file && fgets(line, sizeof(line), file))
        sscanf(line, "RssAnon: %ld", &kb);
    if (file)
        fclose(file);
    return kb;
}

/* ---- figures ---- */

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double median(double *values, size_t n)
{
    qsort(values, n, sizeof(*values), by_value);
    return values[n / 2];
}

/* In small portions, because disks are moody. */
static void one_at_a_time(struct bench *b)
{
    double rates[ROUNDS], yardsticks[ROUNDS], rate, commits;

    for (int round = 0; round < ROUNDS; round++) {
        yardsticks[round] = commit_rate(b, 40);
        rates[round] = turns(b, 1, 20);
    }
    rate = median(rates, ROUNDS);
    commits = median(yardsticks, ROUNDS);
    printf("{\"bench\":\"run.turns\",\"runs\":1,\"value\":%.0f,\"unit\":\"turns/s\","
           "\"yardstick\":\"commits/s of the disk, four a turn\",\"yardstick_value\":%.0f,"
           "\"ratio\":%.2f,\"target\":0.7,\"ok\":%s}\n",
           rate, commits, rate / (commits / COMMITS_A_TURN),
           rate / (commits / COMMITS_A_TURN) >= 0.7 ? "true" : "false");
}

static void side_by_side(struct bench *b)
{
    int64_t before;
    double rate, bytes;
    uint64_t count = 6000;

    turns(b, SIDE_BY_SIDE, 1000);
    domain_idle(b->domain);
    before = file_bytes(b);
    rate = turns(b, SIDE_BY_SIDE, count);
    domain_idle(b->domain);
    bytes = (double)(file_bytes(b) - before) / (double)count;
    printf("{\"bench\":\"run.turns\",\"runs\":%d,\"value\":%.0f,\"unit\":\"turns/s\","
           "\"yardstick\":\"a JavaScript graph runtime with a SQLite checkpointer\","
           "\"yardstick_value\":%.0f,\"ratio\":%.1f,\"target\":20,\"ok\":%s}\n",
           SIDE_BY_SIDE, rate, PEER_TURNS, rate / PEER_TURNS,
           rate / PEER_TURNS >= 20 ? "true" : "false");
    printf("{\"bench\":\"run.bytes\",\"value\":%.0f,\"unit\":\"bytes/turn\",\"target\":6000,"
           "\"ok\":%s}\n",
           bytes, bytes < 6000 ? "true" : "false");
}

static void fill_thread(struct bench *b, const char *session, int messages)
{
    AUTO_ARENA arena = ARENA_INIT;
    struct agent agent;
    struct thread thread;
    char id[96], message_id[64];
    struct err err = ERR_INIT;

    must(domain_begin(b->domain, &err), &err, "begin");
    must(agent_ensure_default(b->domain, b->change, "Planner", 1, &arena, &agent, &err), &err,
         "agent");
    snprintf(id, sizeof(id), "%s:session:%s", agent.id, session);
    must(thread_open(b->domain, str_from(id), agent.n, 1, &arena, &thread, &err), &err, "thread");
    for (int i = 0; i < messages; i++) {
        struct message message = { .kind = i % 2 ? MESSAGE_THOUGHT : MESSAGE_USER,
                                   .agent_n = agent.n,
                                   .created_at = 1 };

        snprintf(message_id, sizeof(message_id), "%s-%d", session, i);
        message.id = str_from(message_id);
        message.content = STR("{\"text\":\"A message of about eighty characters, as people and "
                              "models write them to each other.\"}");
        must(message_append(b->domain, b->change, &thread, &message, &err), &err, "message");
    }
    must(domain_commit(b->domain, &err), &err, "commit");
}

static void by_length(struct bench *b)
{
    static const int lengths[] = { 10, 100, 1000, 10000 };
    double rates[4] = { 0 };

    for (int round = 0; round < 5; round++) {
        for (int i = 0; i < 4; i++) {
            snprintf(b->thread, sizeof(b->thread), "long-%d-%d", lengths[i], round);
            fill_thread(b, b->thread, lengths[i]);
            rates[i] += turns(b, 1, 30) / 5;
        }
    }
    b->thread[0] = '\0';
    for (int i = 0; i < 4; i++)
        printf("{\"bench\":\"run.thread\",\"messages\":%d,\"value\":%.0f,\"unit\":\"turns/s\","
               "\"ratio\":%.2f,\"target\":%s,\"ok\":%s}\n",
               lengths[i], rates[i], rates[i] / rates[0], i == 3 ? "0.9" : "null",
               i < 3 || rates[i] / rates[0] >= 0.9 ? "true" : "false");
}

static void suspended(struct bench *b)
{
    AUTO_ARENA arena = ARENA_INIT;
    const struct inbox_decision yes = { .state = INBOX_APPROVED, .by = STR("owner") };
    struct inbox_item *items;
    struct err err = ERR_INIT;
    double started, worst = 0, sum = 0;
    int64_t before, added;
    size_t n;

    b->tool = "asking";
    turns(b, SIDE_BY_SIDE, 200);
    malloc_trim(0);
    before = resident_kb();
    turns(b, SIDE_BY_SIDE, WAITING);
    malloc_trim(0);
    added = resident_kb() - before;
    must(inbox_list(b->domain, INBOX_PENDING, 0, 50, &arena, &items, &n, &err), &err, "inbox");
    b->listener = (struct run_listener){ .wants = wants, .event = heard };
    runner_listen(b->runner, &b->listener);
    for (size_t i = 0; i < n; i++) {
        b->ended = 0;
        b->begun = b->limit = 1;
        started = now_s();
        must(run_decide(b->runner, items[i].id, &yes, &err), &err, "decide");
        sum += now_s() - started;
        if (now_s() - started > worst)
            worst = now_s() - started;
        must(loop_run(b->loop, &err), &err, "run");
    }
    runner_unlisten(b->runner, &b->listener);
    printf("{\"bench\":\"run.suspended\",\"runs\":%d,\"value\":%.1f,\"unit\":\"MB added\","
           "\"target\":20,\"ok\":%s}\n",
           WAITING, (double)added / 1024, added < 20 * 1024 ? "true" : "false");
    printf("{\"bench\":\"run.resume\",\"value\":%.2f,\"worst\":%.2f,\"unit\":\"ms\",\"target\":5,"
           "\"ok\":%s}\n",
           sum / (double)n * 1e3, worst * 1e3, sum / (double)n < 0.005 ? "true" : "false");
}

int main(int argc, char **argv)
{
    struct bench b = { .tool = NULL };

    db_own_process();
    open_bench(&b);
    /* --turns N [AT_ONCE [IN_A_SESSION]], for a profiler: that many turns and nothing else. `make
     * bench` gives every benchmark the binary's path, which this one does not need. */
    if (argc > 2 && strcmp(argv[1], "--turns") == 0) {
        unsigned at_once = argc > 3 ? (unsigned)strtoul(argv[3], NULL, 10) : SIDE_BY_SIDE;
        uint64_t count = strtoull(argv[2], NULL, 10);
        uint64_t portion = argc > 4 ? strtoull(argv[4], NULL, 10) : count;
        double started = now_s();

        for (uint64_t done = 0; done < count; done += portion)
            turns(&b, at_once, portion);
        printf("%.0f turns/s\n", (double)count / (now_s() - started));
        close_bench(&b);
        return 0;
    }
    one_at_a_time(&b);
    side_by_side(&b);
    by_length(&b);
    suspended(&b);
    close_bench(&b);
    return 0;
}
