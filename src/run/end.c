/* Ending a run that can't go on: its program is another one, or its log is not what was written.
 *
 * No program is asked. A note in the log says why; then every open call gets its result and whoever
 * was asked about it is no longer, then the error and done, as clients expect of any run. Replay
 * takes the rows after that note as they are (replay.c).
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/json_put.h"
#include "base/log.h"
#include "run/run_int.h"

static int record(struct run *run, enum run_event_type type, uint16_t key, bool outside,
                  struct err *err)
{
    const struct bp_event event = { .type = (uint8_t)type, .key = key };
    const struct bp_place by = { .thread = outside ? NULL : run_program.threads };

    run_record_selected(run, &event, &by);
    if (!run->unit.failed)
        return 0;
    *err = run->unit.err;
    return -1;
}

static int record_note(struct run *run, struct err *err)
{
    AUTO_BUF data = BUF_INIT(LIMIT_JSON_BYTES);
    struct json_writer w = JSON_WRITER(&data);

    json_write_object_begin(&w);
    json_put_text(&w, "note", RUN_NOTE_ENDED);
    json_put_str(&w, "code", run->row.error_code);
    json_put_str(&w, "detail", run->row.error_message);
    json_write_object_end(&w);
    run->unit.said = (struct run_said){ .data = buf_str(&data) };
    return record(run, RUN_EV_NOTE, 0, true, err);
}

static int end_call(struct run_call *call, const struct err *why, struct err *err)
{
    struct run *run = call->run;

    call->no_code = why->code;
    call->no_message = run->row.error_message;
    if (call->acting && !call->asked) {
        /* It was under way when the process ended. */
        call->unknown = true;
        call->no_message = STR("It is not known whether this was done.");
        if (operation_mark_unknown(run->runner->config.agent_domain, call->operation_n,
                                   run->unit.now, err) < 0)
            return -1;
    }
    return record(run, RUN_EV_SETTLED, call->key, false, err);
}

static int end_all(struct run *run, const struct err *why, struct err *err)
{
    char text[ERR_TEXT_MAX];
    struct run_call *call;

    run->decreed = true;
    run->row.error_code = str_from(err_name(why->code));
    run->row.error_message = str_from(arena_text(&run->arena, err_format(why, text, sizeof(text))));
    if (record_note(run, err) < 0)
        return -1;
    run_each_call (run, call)
        if (call->live && end_call(call, why, err) < 0)
            return -1;
    if (record(run, RUN_EV_GIVE_UP, 0, false, err) < 0)
        return -1;
    return record(run, RUN_EV_DONE, 0, false, err);
}

/* As it is while nobody else can write to it. */
static int read_locked(struct run *run, struct str run_key, struct err *err)
{
    struct domain *domain = run->runner->config.agent_domain;
    struct run_record row;
    struct run_owner owner;

    if (run->runner->fence && (run_record_get(domain, run_key, &run->scratch, &row, err) < 0 ||
                               run_lock(domain, row.n, &owner, err) < 0))
        return -1;
    if (run_read_plain(run, run_key, err) < 0)
        return -1;
    run->unit.last_message_n = run->thread.last_message_n;
    return run_take(run, err);
}

static int end_now(struct runner *runner, struct str run_key, const struct err *why,
                   struct err *err)
{
    struct run *run = run_new(runner);
    int r;

    run_hold(run);
    r = run_unit_begin(run, err);
    if (r == 0) {
        r = read_locked(run, run_key, err);
        if (r == 0)
            r = end_all(run, why, err);
        if (run_unit_end(run, r == 0, err) < 0)
            r = -1;
    }
    run_unhold(run);
    return r;
}

void run_end_with(struct runner *runner, struct str run_key, const struct err *why)
{
    struct err err = ERR_INIT;

    if (end_now(runner, run_key, why, &err) == 0)
        LOG_WARN("run", "a run ended: it can't go on", LOG_STR("run", run_key), LOG_ERR(why));
    else if (err.code != ERR_CONFLICT)
        LOG_ERROR("run", "a run can't go on and could not be ended", LOG_STR("run", run_key),
                  LOG_ERR(&err));
}

/* What is in memory has nothing more to say: its rows are what is ended. */
int run_abort(struct runner *runner, struct str run_id, const struct err *why, struct err *err)
{
    struct run *run = map_find(&runner->runs, run_id);

    if (run) {
        run_hold(run);
        run_give_back(run);
        run_unhold(run);
    }
    if (end_now(runner, run_id, why, err) == 0)
        return 0;
    if (err->code != ERR_CONFLICT)
        return -1;
    err_reset(err);
    return 0;
}

/* ---- those who want to know ---- */

static struct run_end end_of(const struct run *run)
{
    return (struct run_end){ .run_n = run->row.n,
                             .agent_n = run->row.agent_n,
                             .agent_id = run->agent.id,
                             .thread_n = run->row.thread_n,
                             .woken = run->row.wake_key.n > 0,
                             .run_id = run->row.run_key,
                             .stop_reason = run->row.stop_reason,
                             .error_code = run->row.error_code,
                             .error_message = run->row.error_message };
}

struct telling {
    struct change_batch batch;
    const struct change *change;
};

static void add_message(void *arg, struct str id, int64_t counter)
{
    struct telling *telling = arg;

    change_batch_unit(&telling->batch, telling->change, counter, STR("message"), id);
}

/* What it ended with, and not each step on the way: a batch is for those who wait for something,
 * and costs as much as a message does. */
static int tell_result(struct run *run, struct telling *telling, struct err *err)
{
    const struct runner_config *config = &run->runner->config;
    const struct run_appended *appended = run->unit.appended;

    telling->batch.author_id = str_from(run->agent.id);
    if (!run->last_said_n)
        return 0;
    change_batch_key(&telling->batch, "AGENT_MESSAGE");
    change_batch_id(&telling->batch, telling->batch.author_id);
    while (appended && appended->message.n != run->last_said_n)
        appended = appended->next;
    if (appended) {
        add_message(telling, appended->message.id, appended->message.counter);
        return 0;
    }
    return message_counter(config->agent_domain, run->last_said_n, change_host(config->change),
                           add_message, telling, err);
}

int run_tell_end(struct run *run, struct err *err)
{
    const struct runner_config *config = &run->runner->config;
    struct telling telling = { .batch = CHANGE_BATCH(&run->scratch, CHANGE_BY_AGENT),
                               .change = config->change };
    struct run_end end = end_of(run);

    end.batch = &telling.batch;
    if (budget_forfeit(config->agent_domain, run->row.n, err) < 0 ||
        tell_result(run, &telling, err) < 0 ||
        (config->ended && config->ended(config->ended_arg, &end, err) < 0))
        return -1;
    return change_batch_write(config->agent_domain, config->change, &telling.batch, run->unit.now,
                              err) < 0
               ? -1
               : 0;
}

int run_tell_said(struct run *run, const struct message *message, struct err *err)
{
    const struct runner_config *config = &run->runner->config;
    struct telling telling = { .batch = CHANGE_BATCH(&run->scratch, CHANGE_BY_HUMAN),
                               .change = config->change };

    change_batch_key(&telling.batch, "AGENT_MESSAGE");
    change_batch_id(&telling.batch, str_from(run->agent.id));
    add_message(&telling, message->id, message->counter);
    return change_batch_write(config->agent_domain, config->change, &telling.batch, run->unit.now,
                              err) < 0
               ? -1
               : 0;
}

int run_tell_wait(struct run *run, struct err *err)
{
    const struct runner_config *config = &run->runner->config;
    struct run_end end = end_of(run);

    return config->waits && end.woken ? config->waits(config->ended_arg, &end, err) : 0;
}
