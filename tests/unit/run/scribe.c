/* SPDX-License-Identifier: MIT */
#include "scribe.h"

#include <stdio.h>

#include "base/hash.h"
#include "base/json_put.h"
#include "db/migrations.h"
#include "harness/db_test.h"
#include "run/content.h"

struct domain *scribe_domain(struct test *t)
{
    struct domain_config config = { .name = "agent",
                                    .migrations = migrations_agent,
                                    .migration_count = migrations_agent_count };
    struct domain *domain = NULL;

    config.url = db_test_file_url(t, "agent", "agent.sqlite");
    ASSERT_OK(domain_open(&config, &domain, &t->err));
    return domain;
}

static struct str new_id(struct scribe *s)
{
    return str_from(
        arena_printf(&s->t->arena, "%.*s-%lld", STR_ARG(s->run.run_key), (long long)++s->ids));
}

static struct message *new_message(struct scribe *s, enum message_kind kind, const char *content)
{
    struct message *message = ARENA_NEW(&s->t->arena, struct message);

    *message = (struct message){ .id = new_id(s),
                                 .agent_n = s->agent.n,
                                 .thread_n = s->thread.n,
                                 .run_n = s->run.n,
                                 .kind = kind,
                                 .created_at = s->now,
                                 .content = str_from(content) };
    return message;
}

static void store_message(struct scribe *s, struct message *message)
{
    struct test *t = s->t;

    ASSERT_OK(message_append(s->domain, s->change, &s->thread, message, &t->err));
    s->ref = message->n;
    s->message = message;
}

/* ---- what the program selects itself ---- */

static void open_item(struct scribe *s, unsigned key)
{
    struct test *t = s->t;
    struct inbox_item *item = ARENA_NEW(&t->arena, struct inbox_item);

    *item = (struct inbox_item){ .id = new_id(s),
                                 .kind = INBOX_TOOL,
                                 .state = INBOX_PENDING,
                                 .agent_n = s->agent.n,
                                 .run_n = s->run.n,
                                 .call_key = (uint16_t)key,
                                 .tool_name = STR("bash"),
                                 .title = STR("Run a command"),
                                 .body = STR("{\"command\":\"rm old.txt\"}"),
                                 .created_at = s->now };
    ASSERT_OK(inbox_add(s->domain, s->change, item, &t->err));
    s->inbox_n[key] = item->n;
    s->inbox_id[key] = item->id;
}

static void refer_item(struct scribe *s, unsigned key)
{
    struct test *t = s->t;

    s->item = ARENA_NEW(&t->arena, struct inbox_item);
    ASSERT_OK(inbox_get_n(s->domain, s->inbox_n[key], &t->arena, s->item, &t->err));
    s->ref = s->inbox_n[key];
}

static void act(struct scribe *s, unsigned key)
{
    struct test *t = s->t;
    struct operation operation = {
        .operation_id = new_id(s), .run_n = s->run.n, .tool_name = STR("bash"), .created_at = s->now
    };

    ASSERT_EQ(operation_prepare(s->domain, &operation, &t->err), 1);
    s->ref = s->operation_n[key] = operation.n;
    s->run.tool_calls++;
}

static void settle(struct scribe *s, unsigned key)
{
    struct test *t = s->t;

    if (!s->result_n[key]) {
        struct message *message =
            new_message(s, MESSAGE_TOOL_RESULT,
                        "{\"error\":{\"code\":\"rejected\",\"message\":\"not today\"}}");

        message->status = STR("error");
        message->tool_name = STR("bash");
        message->action_ref_n = s->action_n[key];
        store_message(s, message);
    } else {
        s->message = ARENA_NEW(&t->arena, struct message);
        ASSERT_OK(message_get_n(s->domain, s->result_n[key], &t->arena, s->message, &t->err));
        s->ref = s->result_n[key];
    }
    s->result_n[key] = 0;
}

static void make_own(struct scribe *s, const struct bp_event *event)
{
    switch (event->type) {
    case RUN_EV_GATE:
        open_item(s, event->key);
        refer_item(s, event->key);
        break;
    case RUN_EV_WAITING:
        refer_item(s, event->key);
        break;
    case RUN_EV_ACT:
        act(s, event->key);
        break;
    case RUN_EV_SETTLED:
        settle(s, event->key);
        break;
    case RUN_EV_OBSERVE:
        s->run.iterations++;
        s->data = STR("{\"count\":1}");
        break;
    case RUN_EV_DONE:
        s->data = STR("{\"stopReason\":\"end_turn\",\"iterations\":1}");
        s->run.status = RUN_DONE;
        s->run.stop_reason = STR("end_turn");
        s->run.ended_at = s->now;
        break;
    default:
        break;
    }
}

/* ---- rows ---- */

static void selected(void *ctx, const struct bp_event *event, const struct bp_place *by)
{
    struct scribe *s = ctx;
    struct test *t = s->t;
    struct run_event_row row = { .run_n = s->run.n, .thread_n = s->thread.n, .event = *event };
    struct run_link link = { .type = event->type, .key = event->key, .bits = event->bits };

    s->now += 7;
    if (by->thread)
        make_own(s, event);
    row.ref = s->ref;
    row.data = link.data = s->data;
    row.at = link.at = s->now;
    if (event->type != RUN_EV_THINK && event->type != RUN_EV_ACT)
        row.seq = link.seq = ++s->thread.last_seq;
    run_content_digest(event, s->message, s->item, link.content);
    run_chain_next(s->chain, &link, s->chain);
    memcpy(row.chain, s->chain, sizeof(row.chain));
    ASSERT_OK(run_event_append(s->domain, &row, NULL, &t->err));
    s->ref = 0;
    s->data = STR_NONE;
    s->message = NULL;
    s->item = NULL;
}

void scribe_word(struct scribe *s, unsigned type, unsigned key, uint32_t bits, const char *data)
{
    struct bp_event event = { .type = (uint8_t)type, .key = (uint16_t)key, .bits = bits };
    struct bp_refusal refusal;
    AUTO_BUF why = BUF_INIT(512);

    s->data = str_from(data);
    if (bp_offer(s->engine, &event, &refusal) < 0) {
        bp_refusal_text(s->program, &event, &refusal, &why);
        FAIL("%s", buf_text(&why));
    }
}

/* ---- beginning and ending ---- */

static void add_run(struct scribe *s, const char *run_id, uint32_t mode, uint8_t *hash)
{
    struct test *t = s->t;

    bp_program_hash(s->program, hash);
    s->run = (struct run_record){ .run_key = str_from(run_id),
                                  .agent_n = s->agent.n,
                                  .thread_n = s->thread.n,
                                  .wake_reason = STR("userInitiated"),
                                  .status = RUN_RUNNING,
                                  .mode = mode ? STR("wiggum") : STR("structured"),
                                  .model_id = STR("offline"),
                                  .cwd = STR("/home/me/project"),
                                  .program_hash = str_of((const char *)hash, BP_HASH_BYTES),
                                  .settings = STR("{\"maxIterations\":9}"),
                                  .host_n = 1,
                                  .created_at = s->now };
    ASSERT_EQ(run_insert(s->domain, &s->run, &t->err), 1);
}

void scribe_begin(struct scribe *s, struct test *t, struct domain *domain,
                  const struct bp_program *program, const char *run_id, uint32_t mode)
{
    static const uint16_t limits[RUN_LIMIT_COUNT] = { [RUN_LIMIT_ITERATIONS] = 9 };
    char text[2 * BP_HASH_BYTES + 1];
    uint8_t *hash = ARENA_NEW_N(&t->arena, uint8_t, BP_HASH_BYTES);

    *s = (struct scribe){ .t = t, .domain = domain, .program = program, .now = SCRIBE_NOW };
    ASSERT_OK(change_open(domain, NULL, NULL, &s->change, &t->err));
    ASSERT_OK(
        agent_ensure_default(domain, s->change, "Planner", s->now, &t->arena, &s->agent, &t->err));
    ASSERT_OK(thread_open(domain, str_from(arena_printf(&t->arena, "planner:run:%s", run_id)),
                          s->agent.n, s->now, &t->arena, &s->thread, &t->err));
    add_run(s, run_id, mode, hash);
    s->engine = bp_new(program, RUN_CALLS_MAX,
                       &(struct bp_options){ .selected = selected, .ctx = s, .limits = limits });
    store_message(s, new_message(s, MESSAGE_USER, "{\"text\":\"" SCRIBE_PROMPT "\"}"));
    hex_encode(hash, BP_HASH_BYTES, text);
    scribe_word(s, RUN_EV_START, 0, mode,
                arena_printf(&t->arena,
                             "{\"agent\":\"planner\",\"program\":\"%s\","
                             "\"settings\":{\"maxIterations\":9}}",
                             text));
}

void scribe_end(struct scribe *s)
{
    struct test *t = s->t;

    ASSERT_OK(run_update(s->domain, &s->run, &t->err));
    bp_free(s->engine);
    change_free(s->change);
}

/* ---- words ---- */

static const char *object_of(struct test *t, const char *a, const char *av, const char *b,
                             const char *bv)
{
    AUTO_BUF out = BUF_INIT(1 << 20);
    struct json_writer w = JSON_WRITER(&out);

    json_write_object_begin(&w);
    json_put_text(&w, a, av);
    if (bv) {
        json_put_text(&w, b, bv);
    }
    json_write_object_end(&w);
    return arena_text(&t->arena, buf_text(&out));
}

void scribe_said(struct scribe *s, const char *text, const char *thinking)
{
    struct message *message =
        new_message(s, MESSAGE_THOUGHT, object_of(s->t, "text", text, "thinking", thinking));

    store_message(s, message);
    if (thinking)
        scribe_word(s, RUN_EV_MUSING, 0, 0, NULL);
    s->ref = message->n;
    s->message = message;
    scribe_word(s, RUN_EV_SAID, 0, 0, NULL);
}

void scribe_call(struct scribe *s, unsigned key, uint32_t bits, const char *tool,
                 const char *arguments)
{
    struct message *message =
        new_message(s, MESSAGE_ACTION, object_of(s->t, "arguments", arguments, NULL, NULL));

    message->tool_name = str_from(tool);
    message->action_type = STR("tool_call");
    message->call_id = STR("call-1");
    store_message(s, message);
    s->action_n[key] = message->n;
    scribe_word(s, RUN_EV_CALL, key, bits, NULL);
}

void scribe_acted(struct scribe *s, unsigned key, uint32_t bits, const char *content)
{
    struct message *message = new_message(s, MESSAGE_TOOL_RESULT, content);

    message->status = strstr(content, "\"error\"") ? STR("error") : STR("success");
    message->tool_name = STR("bash");
    message->action_ref_n = s->action_n[key];
    message->operation_n = s->operation_n[key];
    store_message(s, message);
    s->result_n[key] = message->n;
    scribe_word(s, RUN_EV_ACTED, key, bits, NULL);
}

void scribe_answer(struct scribe *s, unsigned key, bool yes, const char *reason)
{
    struct test *t = s->t;
    struct inbox_decision decision = { .state = yes ? INBOX_APPROVED : INBOX_REJECTED,
                                       .by = STR("owner"),
                                       .reason = str_from(reason) };

    s->item = ARENA_NEW(&t->arena, struct inbox_item);
    ASSERT_OK(inbox_decide(s->domain, s->change, s->inbox_id[key], &decision, s->now, s->item,
                           &t->arena, &t->err));
    refer_item(s, key);
    scribe_word(s, RUN_EV_ANSWER, key, yes ? RUN_ALLOWED : 0, NULL);
}

void scribe_story(struct scribe *s, struct test *t, struct domain *domain,
                  const struct bp_program *program, const char *run_id, uint32_t mode)
{
    scribe_begin(s, t, domain, program, run_id, mode);
    scribe_said(s, "I look around.", "The folder may hold old files.");
    scribe_call(s, 1, 0, "bash", "{\"command\":\"ls\"}");
    scribe_call(s, 2, RUN_RISKY, "bash", "{\"command\":\"rm old.txt\"}");
    scribe_call(s, 3, RUN_RISKY, "write_file", "{\"path\":\"a.txt\",\"content\":\"x\"}");
    scribe_word(s, RUN_EV_THOUGHT, 0, RUN_MORE, "{\"in\":12,\"out\":5}");
    scribe_acted(s, 1, 0,
                 "{\"output\":{\"stdout\":\"old.txt\\n\",\"stderr\":\"\",\"exitCode\":0}}");
    scribe_answer(s, 2, true, NULL);
    scribe_acted(s, 2, RUN_FAILED,
                 "{\"error\":{\"code\":\"path_denied\",\"message\":\"old.txt is not yours\"}}");
    scribe_answer(s, 3, false, "not today");
    if (mode)
        scribe_word(s, RUN_EV_CHECKED, 0, 0, "{\"done\":false,\"text\":\"not yet\"}");
    scribe_said(s, "Done.", NULL);
    scribe_word(s, RUN_EV_THOUGHT, 0, 0, "{\"in\":20,\"out\":2}");
    if (mode)
        scribe_word(s, RUN_EV_CHECKED, 0, RUN_FINISHED, "{\"done\":true,\"text\":\"yes\"}");
}
