/* records.turn: what one turn of a run writes (a run, 14 events, 4 messages, an effect), without
 * model and tools: turns per second with 64 runs in each of four commits, and bytes of database a
 * turn.
 *
 * records.append: a message of 300 bytes, in a batch.
 *
 * records.context: reading the context of a turn from a thread of 1,000 and of 10,000 messages.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/agent.h"
#include "base/clock.h"
#include "base/hash.h"
#include "db/db.h"
#include "db/migrations.h"
#include "memory/context.h"
#include "run/log_int.h"

#define RUNS        64
#define ROUNDS      40
#define BATCH       20000
#define READS       300
#define NOW         INT64_C(1700000000000)
#define TURN_BYTES  6144
#define TURNS_PER_S 2600

static struct domain *domain;
static struct change *change;
static struct err err;
static int64_t ids;

static void must(int r, const char *what)
{
    char text[ERR_TEXT_MAX + 64];

    if (r >= 0)
        return;
    fprintf(stderr, "bench-records: %s: %s\n", what, err_format(&err, text, sizeof(text)));
    exit(1);
}

static double now_s(void)
{
    return (double)clock_mono_ns(clock_system()) / 1e9;
}

static struct str new_id(char text[SHA256_TEXT_SIZE])
{
    char bytes[40];
    int n = snprintf(bytes, sizeof(bytes), "id|v1|bench|%lld", (long long)ids++);

    sha256_text(str_of(bytes, (size_t)n), text);
    return str_from(text);
}

static int64_t database_bytes(void)
{
    AUTO(stmt) q = NULL;

    must(db_prepare(domain_db(domain),
                    SQL("SELECT page_count * page_size AS n FROM pragma_page_count,"
                        " pragma_page_size"),
                    &q, &err),
         "size");
    must(stmt_step(q, &err), "size");
    return stmt_i64(q, "n");
}

/* ---- a turn ---- */

struct bench_run {
    struct thread thread;
    struct run_record record;
    struct operation operation;
    uint8_t chain[RUN_CHAIN_BYTES];
    int64_t action_n;
    char key[SHA256_TEXT_SIZE], operation_id[SHA256_TEXT_SIZE], stable_id[SHA256_TEXT_SIZE];
};

static void say(struct bench_run *run, struct message message, const char *content)
{
    char id[SHA256_TEXT_SIZE];

    message.id = new_id(id);
    message.run_n = run->record.n;
    message.created_at = NOW + ids;
    message.content = str_from(content);
    must(message_append(domain, change, &run->thread, &message, &err), "append");
    if (message.kind == MESSAGE_ACTION)
        run->action_n = message.n;
}

static void happen(struct bench_run *run, uint8_t type, uint16_t key, bool public, int64_t ref)
{
    struct run_event_row row = { .run_n = run->record.n,
                                 .thread_n = run->thread.n,
                                 .seq = public ? ++run->thread.last_seq : 0,
                                 .event = { .type = type, .key = key, .bits = 0x41 },
                                 .ref = ref,
                                 .at = NOW + ids };
    struct run_link link = { .type = type, .key = key, .bits = 0x41, .seq = row.seq, .at = row.at };

    run_chain_next(run->chain, &link, run->chain);
    memcpy(row.chain, run->chain, sizeof(row.chain));
    must(run_event_append(domain, &row, NULL, &err), "event");
}

static void save(struct bench_run *run)
{
    must(thread_save(domain, &run->thread, NOW + ids, &err), "thread");
    run->record.updated_at = NOW + ids;
    must(run_update(domain, &run->record, &err), "run");
}

/* Between two commits each: asked, thought, acted, answered. */
static void asked(struct bench_run *run)
{
    static const char hash[32];

    new_id(run->key);
    memset(run->chain, 0, sizeof(run->chain));
    run->record = (struct run_record){ .run_key = str_from(run->key),
                                       .agent_n = run->thread.agent_n,
                                       .thread_n = run->thread.n,
                                       .wake_reason = STR("userInitiated"),
                                       .status = RUN_RUNNING,
                                       .model_id = STR("script"),
                                       .cwd = STR("/home/me/project"),
                                       .program_hash = str_of(hash, sizeof(hash)),
                                       .settings = STR("{\"max_iterations\":100}"),
                                       .host_n = change_host(change),
                                       .created_at = NOW + ids };
    must(run_insert(domain, &run->record, &err), "run");
    say(run, (struct message){ .kind = MESSAGE_USER },
        "{\"text\":\"Please look whether the tests pass and tell me what to do next.\"}");
    happen(run, 1, 0, true, run->thread.last_message_n);
    happen(run, 2, 0, false, 0);
    must(thread_save(domain, &run->thread, NOW + ids, &err), "thread");
}

static void thought(struct bench_run *run)
{
    say(run,
        (struct message){ .kind = MESSAGE_ACTION,
                          .action_type = STR("tool_call"),
                          .tool_name = STR("bash"),
                          .call_id = STR("call_1"),
                          .arguments_hash = str_from(run->key),
                          .model_id = STR("script"),
                          .prompt_id = STR("default"),
                          .prompt_version = STR("1") },
        "{\"arguments\":\"{\\\"command\\\":\\\"make test 2>&1 | tail -n 20\\\"}\"}");
    happen(run, 5, 1, true, run->action_n);
    happen(run, 6, 0, false, 0);
    new_id(run->operation_id);
    new_id(run->stable_id);
    run->operation = (struct operation){ .operation_id = str_from(run->operation_id),
                                         .run_n = run->record.n,
                                         .action_stable_id = str_from(run->stable_id),
                                         .tool_name = STR("bash"),
                                         .keyed = OPERATION_KEYED,
                                         .created_at = NOW + ids };
    must(operation_prepare(domain, &run->operation, &err), "operation");
    happen(run, 12, 1, false, run->operation.n);
    save(run);
}

static void acted(struct bench_run *run)
{
    must(operation_settle(domain, run->operation.n, STR_NONE, NOW + ids, &err), "settle");
    say(run,
        (struct message){ .kind = MESSAGE_TOOL_RESULT,
                          .tool_name = STR("bash"),
                          .call_id = STR("call_1"),
                          .action_ref_n = run->action_n,
                          .operation_n = run->operation.n,
                          .status = STR("success"),
                          .taint = STR("command") },
        "{\"output\":{\"exit_code\":0,\"stdout\":\"ok 1 - it adds\\nok 2 - it subtracts\\nok 3 - it"
        " multiplies\\nok 4 - it divides\\nok 5 - it refuses to divide by zero\\n5 passed, 0 "
        "failed,"
        " 0 skipped\\n\",\"stderr\":\"\"}}");
    happen(run, 13, 1, false, run->thread.last_message_n);
    happen(run, 17, 1, true, run->thread.last_message_n);
    happen(run, 18, 0, true, 0);
    happen(run, 2, 0, false, 0);
    save(run);
}

static void answered(struct bench_run *run)
{
    say(run,
        (struct message){ .kind = MESSAGE_THOUGHT,
                          .model_id = STR("script"),
                          .prompt_id = STR("default"),
                          .prompt_version = STR("1") },
        "{\"text\":\"All five tests pass. The next thing I would do is to add one for numbers that"
        " are too large, because the parser does not say what happens then.\"}");
    happen(run, 4, 0, true, run->thread.last_message_n);
    happen(run, 6, 0, false, 0);
    happen(run, 18, 0, true, 0);
    happen(run, 27, 0, false, 0);
    happen(run, 28, 0, true, 0);
    run->record.status = RUN_DONE;
    run->record.stop_reason = STR("end_turn");
    run->record.ended_at = NOW + ids;
    save(run);
}

static void (*const steps[])(struct bench_run *run) = { asked, thought, acted, answered };

static void open_threads(struct bench_run *runs, struct arena *arena)
{
    struct agent agent;

    must(domain_begin(domain, &err), "begin");
    must(agent_ensure_default(domain, change, "Planner", NOW, arena, &agent, &err), "agent");
    for (int i = 0; i < RUNS; i++) {
        struct str id = str_from(arena_printf(arena, "planner:session:%d", i));

        must(thread_open(domain, id, agent.n, NOW, arena, &runs[i].thread, &err), "thread");
    }
    must(domain_commit(domain, &err), "commit");
}

static void bench_turns(struct bench_run *runs)
{
    int64_t bytes = database_bytes();
    double started = now_s(), took, each;

    for (int round = 0; round < ROUNDS; round++)
        for (size_t step = 0; step < ARRAY_LEN(steps); step++) {
            must(domain_begin(domain, &err), "begin");
            for (int i = 0; i < RUNS; i++)
                steps[step](&runs[i]);
            must(domain_commit(domain, &err), "commit");
        }
    took = now_s() - started;
    each = (double)(database_bytes() - bytes) / (ROUNDS * RUNS);
    printf("{\"bench\":\"records.turn\",\"runs\":%d,\"value\":%.0f,\"unit\":\"turns/s\","
           "\"target\":%d,\"ok\":%s}\n",
           RUNS, ROUNDS * RUNS / took, TURNS_PER_S,
           ROUNDS * RUNS / took >= TURNS_PER_S ? "true" : "false");
    printf("{\"bench\":\"records.turn\",\"value\":%.0f,\"unit\":\"bytes/turn\",\"target\":%d,"
           "\"ok\":%s}\n",
           each, TURN_BYTES, each < TURN_BYTES ? "true" : "false");
}

/* ---- one message ---- */

/* Returns the seconds without begin and commit. */
static double append_batch(struct bench_run *run, int n)
{
    char content[320];
    double started, took;

    memset(content, 'a', sizeof(content));
    memcpy(content, "{\"text\":\"", 9);
    memcpy(content + 298, "\"}", 3);
    must(domain_begin(domain, &err), "begin");
    started = now_s();
    for (int i = 0; i < n; i++)
        say(run, (struct message){ .kind = MESSAGE_USER }, content);
    took = now_s() - started;
    must(thread_save(domain, &run->thread, NOW, &err), "thread");
    must(domain_commit(domain, &err), "commit");
    return took;
}

static void bench_append(struct bench_run *run)
{
    double took = 0;

    for (int i = 0; i < BATCH / 1000; i++)
        took += append_batch(run, 1000);
    printf("{\"bench\":\"records.append\",\"bytes\":300,\"value\":%.2f,\"unit\":\"us/message\"}\n",
           took / BATCH * 1e6);
}

/* ---- the context ---- */

static double read_context(const struct thread *thread)
{
    double started = now_s();

    for (int i = 0; i < READS; i++) {
        AUTO_ARENA arena = ARENA_INIT;
        struct context context;

        must(context_load(domain, thread, 0, &arena, &context, &err), "context");
    }
    return (now_s() - started) / READS;
}

static void bench_context(struct bench_run *small, struct bench_run *large)
{
    double few = 0, many = 0;

    append_batch(small, 1000);
    append_batch(large, 10000);
    read_context(&small->thread);
    for (int i = 0; i < 5; i++) {
        few += read_context(&small->thread) / 5;
        many += read_context(&large->thread) / 5;
    }
    printf("{\"bench\":\"records.context\",\"messages\":10000,\"value\":%.1f,\"unit\":\"us\","
           "\"yardstick\":\"the same with 1,000 messages\",\"yardstick_value\":%.1f,\"ratio\":%.2f,"
           "\"target\":1.5,\"ok\":%s}\n",
           many * 1e6, few * 1e6, many / few, many < 1.5 * few ? "true" : "false");
}

int main(void)
{
    char dir[] = "bench-records.XXXXXX", url[64], command[64];
    struct domain_config config = { .name = "agent",
                                    .url = url,
                                    .migrations = migrations_agent,
                                    .migration_count = migrations_agent_count };
    struct bench_run *runs = NEW_N(struct bench_run, RUNS);
    AUTO_ARENA arena = ARENA_INIT;

    if (!mkdtemp(dir)) {
        perror("bench-records");
        return 1;
    }
    snprintf(url, sizeof(url), "sqlite:%s/agent.sqlite", dir);
    must(domain_open(&config, &domain, &err), "open");
    must(change_open(domain, NULL, NULL, &change, &err), "host");
    open_threads(runs, &arena);
    bench_turns(runs);
    bench_append(&runs[0]);
    bench_context(&runs[1], &runs[2]);
    change_free(change);
    domain_free(domain);
    free(runs);
    snprintf(command, sizeof(command), "rm -r %s", dir);
    return system(command) == 0 ? 0 : 1;
}
