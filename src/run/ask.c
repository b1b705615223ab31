/* Asking the model: places for requests, those that wait for one, and deltas to clients.
 *
 * At most max_thinking requests are under way. A run that has to wait for its place stands in a
 * queue; when it is stopped meanwhile it is answered at once, as stopped.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/json_put.h"
#include "base/timefmt.h"
#include "run/run_int.h"

#define THINKING_MAX 256

/* ---- deltas ---- */

/* Text and thinking of an answer are recorded in the order in which they began. */
static int64_t coming_seq(const struct run *run, bool musing)
{
    int64_t other = musing ? run->text_bytes : run->thinking_bytes;

    return run->thread.last_seq + 1 + (other && musing == run->spoke_first ? 1 : 0);
}

/* Its texts are in json and in the run. */
static struct run_public delta(const struct run *run, bool musing, int64_t offset, struct str text,
                               struct buf *json)
{
    struct json_writer w = JSON_WRITER(json);
    struct run_public public = { .thread_id = run->thread.id,
                                 .run_id = run->row.run_key,
                                 .seq = coming_seq(run, musing),
                                 .partial = true,
                                 .musing = musing,
                                 .offset = offset,
                                 .until = offset + (int64_t)text.n,
                                 .type = musing ? "thinking" : "text" };
    char at[TIMEFMT_SIZE];

    timefmt_rfc3339(clock_wall_ms(loop_clock(run->runner->config.loop)), at);
    json_write_object_begin(&w);
    json_put_text(&w, "type", public.type);
    json_put_i64(&w, "seq", public.seq);
    json_put_str(&w, "runId", run->row.run_key);
    json_put_str(&w, "threadId", run->thread.id);
    json_put_text(&w, "at", at);
    json_put_str(&w, "content", text);
    json_put_bool(&w, "isPartial", true);
    json_put_i64(&w, "offset", offset);
    json_write_object_end(&w);
    public.json = buf_str(json);
    return public;
}

static void publish_delta(const struct run *run, bool musing, int64_t offset, struct str text)
{
    AUTO_BUF json = BUF_INIT(LIMIT_JSON_BYTES);
    struct run_public public = delta(run, musing, offset, text, &json);

    run_publish(run->runner, &public);
}

static void on_delta(void *arg, enum model_delta kind, struct str text)
{
    struct run *run = arg;
    bool musing = kind == MODEL_DELTA_THINKING;
    int64_t *bytes = musing ? &run->thinking_bytes : &run->text_bytes;
    int64_t offset = *bytes;

    if (run->checking || !text.n)
        return;
    /* Counted whoever listens: what is recorded does not depend on that. */
    if (!run->text_bytes && !run->thinking_bytes)
        run->spoke_first = !musing;
    *bytes += (int64_t)text.n;
    if (run_is_followed(run, musing ? "thinking" : "text") && !run->broken)
        publish_delta(run, musing, offset, text);
}

/* ---- for who comes late ---- */

static const struct run *talking(const struct runner *runner, struct str thread_id,
                                 struct str run_id)
{
    map_each (&runner->runs, entry) {
        const struct run *run = entry->value;

        if (run->exchange && !run->broken && str_eq(run->thread.id, thread_id) &&
            (!run_id.n || str_eq(run->row.run_key, run_id)))
            return run;
    }
    return NULL;
}

void run_partials(struct runner *runner, struct str thread_id, struct str run_id,
                  const struct run_heard heard[2],
                  void (*fn)(void *arg, const struct run_public *event), void *arg)
{
    const struct run *run = talking(runner, thread_id, run_id);

    for (int i = 0; run && i < 2; i++) {
        bool musing = (i == 0) != run->spoke_first; /* what began first is told first */
        int64_t from = coming_seq(run, musing) == heard[musing].seq ? heard[musing].until : 0;
        int64_t bytes = musing ? run->thinking_bytes : run->text_bytes;
        struct str said =
            model_said(run->exchange, musing ? MODEL_DELTA_THINKING : MODEL_DELTA_TEXT);
        AUTO_BUF json = BUF_INIT(LIMIT_JSON_BYTES);
        struct run_public public;

        said = str_skip(str_take(said, (size_t)bytes), (size_t)from);
        if (!said.n)
            continue;
        public = delta(run, musing, from, said, &json);
        fn(arg, &public);
    }
}

/* ---- asking ---- */

static void on_done(void *arg, const struct model_reply *reply, const struct err *why,
                    int64_t retry_after_ms)
{
    struct run *run = arg;
    struct runner *runner = run->runner;

    run->exchange = NULL;
    run_prompt_release(run);
    runner->thinking--;
    if (!run->broken && !runner->stopping) {
        if (!reply)
            run_take_failure(run, why, retry_after_ms);
        else if (run->checking)
            run_take_check(run, reply);
        else
            run_take_reply(run, reply);
    }
    run_unhold(run);
    run_think_next(runner);
}

static int ask_send(struct run *run, struct err *err)
{
    static const struct model_sink sink = { .on_delta = on_delta, .on_done = on_done };

    if (model_start(run->runner->config.models, &run->request, &sink, run, &run->exchange, err) < 0)
        return -1;
    run->sent = true;
    return 0;
}

/* It had a place to think and nothing was sent. */
static void ask_ended(struct run *run, const struct err *why)
{
    struct runner *runner = run->runner;

    run_prompt_release(run);
    runner->thinking--;
    if (!run->broken && !runner->stopping)
        run_take_failure(run, why, -1);
    run_unhold(run);
    run_think_next(runner);
}

static void ask_reserved(struct loop_effect *effect)
{
    struct run *run = CONTAINER_OF(effect, struct run, reserved);
    struct err err = ERR_INIT;

    if (run_stop_code(run))
        err_set(&err, ERR_CANCELLED, "stopped before it began");
    else if (!run->broken && !run->runner->stopping && ask_send(run, &err) == 0)
        return;
    ask_ended(run, &err);
}

static void ask_unreserved(struct loop_effect *effect, const struct err *why)
{
    ask_ended(CONTAINER_OF(effect, struct run, reserved), why);
}

/* Nothing leaves before its share of the day's budget is taken for good. */
static int ask_reserve(struct run *run, struct err *err)
{
    struct loop *loop = run->runner->config.loop;
    int r;

    if (loop_unit_begin(loop, run->runner->config.agent_domain, err) < 0)
        return -1;
    r = run_budget_reserve(run, &run->request, err);
    if (r == 0) {
        run->reserved = (struct loop_effect){ .run = ask_reserved, .drop = ask_unreserved };
        loop_after_commit(loop, &run->reserved);
    }
    loop_unit_end(loop, r == 0, NULL); /* what can't be kept is dropped, which ends it */
    return r;
}

static int ask(struct run *run, struct err *err)
{
    int r;

    run->sent = false;
    run->reserved_input = 0;
    if (run_stop_code(run))
        return err_set(err, ERR_CANCELLED, "stopped before it began");
    r = run_prompt_build(run, run->checking, &run->request, err);
    if (r == 0)
        r = run_budget_limits(run) ? ask_reserve(run, err) : ask_send(run, err);
    if (r < 0)
        run_prompt_release(run);
    return r;
}

static void start_now(struct run *run)
{
    struct runner *runner = run->runner;
    struct err err = ERR_INIT;

    run->text_bytes = run->thinking_bytes = 0;
    run->spoke_first = false;
    runner->thinking++;
    if (ask(run, &err) == 0)
        return;
    runner->thinking--;
    run_take_failure(run, &err, -1);
    run_unhold(run);
}

static struct run *take_first(struct runner *runner)
{
    struct run *run = runner->queue_first;

    runner->queue_first = run->queue_next;
    if (!runner->queue_first)
        runner->queue_last = &runner->queue_first;
    run->queue_next = NULL;
    run->queued = false;
    return run;
}

/* One that can't begin frees its place at once, so there may be several. */
void run_think_next(struct runner *runner)
{
    unsigned max = runner->config.max_thinking ? runner->config.max_thinking : THINKING_MAX;

    while (runner->queue_first && runner->thinking < max && !runner->stopping)
        start_now(take_first(runner));
}

void run_think_start(struct run *run)
{
    struct runner *runner = run->runner;

    run_hold(run);
    run->queued = true;
    *runner->queue_last = run;
    runner->queue_last = &run->queue_next;
    run_think_next(runner);
}

void run_think_drop(struct run *run)
{
    struct runner *runner = run->runner;
    struct run **at = &runner->queue_first;
    struct err err = ERR_INIT;

    if (!run->queued)
        return;
    while (*at != run)
        at = &(*at)->queue_next;
    *at = run->queue_next;
    if (runner->queue_last == &run->queue_next)
        runner->queue_last = at;
    run->queue_next = NULL;
    run->queued = false;
    err_set(&err, ERR_CANCELLED, "stopped before it began");
    if (!run->broken && !runner->stopping)
        run_take_failure(run, &err, -1);
    run_unhold(run);
}
