/* Jobs of a hand.
 *
 * A job is sent as soon as it is called; the socket keeps it until the hand is ready. Each has a
 * guard: a hand that does not answer in time is given up, and with it everything it had under way.
 *
 * SPDX-License-Identifier: MIT
 */
#include "sandbox/hand.h"

#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/json_put.h"
#include "sandbox/frame.h"
#include "sandbox/hand_int.h"
#include "sandbox/spec_int.h"

struct hand_job {
    struct hand *hand;
    int64_t id;
    hand_done_fn *done;
    void *arg;
    bool cancelled;
    bool command;      /* bash: what it leaves behind counts */
    struct err failed; /* it could not even be sent: told by the guard's next tick */
    struct loop_timer guard;
    struct hand_job *next;
};

struct hand {
    struct loop *loop;
    struct arena arena; /* the specification's texts */
    struct sandbox_spec spec;
    void (*on_notice)(void *arg, const struct hand_notice *notice);
    void *arg;
    struct hand_proc *proc; /* NULL: not running */
    struct hand_job *jobs;
    unsigned count;
    int64_t next_id;
    void (*closed)(void *arg); /* it is being closed */
    void *closed_arg;
    struct buf cwd, read, state; /* texts of what the next hand should know */
    int64_t background;          /* processes that commands left behind, as far as is known */
    int64_t ended;               /* of those, gone with an earlier process, and not told yet */
};

/* ---- copying the specification ---- */

static const char *copy_text(struct hand *hand, const char *text)
{
    return text ? arena_text(&hand->arena, text) : NULL;
}

static const char *const *copy_list(struct hand *hand, const char *const *list)
{
    const char **copy;
    size_t n = 0;

    while (list && list[n])
        n++;
    copy = ARENA_NEW_N(&hand->arena, const char *, n + 1);
    for (size_t i = 0; i < n; i++)
        copy[i] = copy_text(hand, list[i]);
    return copy;
}

static void copy_spec(struct hand *hand, const struct sandbox_spec *spec)
{
    hand->spec = *spec;
    hand->spec.cwd = copy_text(hand, spec->cwd);
    hand->spec.data_dir = copy_text(hand, spec->data_dir);
    hand->spec.home = copy_text(hand, spec->home);
    hand->spec.allow_write = copy_list(hand, spec->allow_write);
    hand->spec.deny_read = copy_list(hand, spec->deny_read);
    hand->spec.allow_domains = copy_list(hand, spec->allow_domains);
    hand->spec.allow_unix_sockets = copy_list(hand, spec->allow_unix_sockets);
    hand->spec.env = copy_list(hand, spec->env);
}

/* ---- the end of a job ---- */

static void finish(struct hand_job *job, const struct hand_reply *reply)
{
    struct hand *hand = job->hand;

    for (struct hand_job **at = &hand->jobs; *at; at = &(*at)->next)
        if (*at == job) {
            *at = job->next;
            break;
        }
    hand->count--;
    loop_timer_stop(hand->loop, &job->guard);
    job->done(job->arg, reply);
    free(job);
}

static void fail(struct hand_job *job, const struct err *why)
{
    struct hand_reply reply = { .err = *why };

    if (job->cancelled) {
        err_reset(&reply.err);
        err_set(&reply.err, ERR_CANCELLED, "the call was cancelled");
    }
    finish(job, &reply);
}

/* Those that are there now; a callback may call anew. */
static void fail_all(struct hand *hand, const struct err *why)
{
    int64_t last = hand->next_id;
    bool found = true;

    while (found) {
        found = false;
        for (struct hand_job *job = hand->jobs; job; job = job->next)
            /* One that failed has left the list of its hand, which is this one.
             * NOLINTNEXTLINE(clang-analyzer-unix.Malloc) */
            if (job->id < last) {
                fail(job, why);
                found = true;
                break;
            }
    }
}

/* ---- what the hand says ---- */

static void keep_state(struct hand *hand, const struct hand_frame *frame)
{
    if (frame->cwd.n > 0) {
        buf_clear(&hand->cwd);
        buf_add_str(&hand->cwd, frame->cwd);
    }
    if (frame->read) {
        struct json_writer w = JSON_WRITER(&hand->read);

        buf_clear(&hand->read);
        json_write_value(&w, frame->read);
        if (json_write_end(&w) < 0) {
            buf_release(&hand->read);
            hand->read = BUF_INIT(FRAME_BYTES / 2);
        }
    }
}

static void write_state(struct hand *hand)
{
    struct json_writer w = JSON_WRITER(&hand->state);

    buf_clear(&hand->state);
    if (hand->cwd.n == 0 && hand->read.n == 0 && !hand->background && !hand->ended)
        return;
    json_write_object_begin(&w);
    if (hand->cwd.n > 0) {
        json_put_str(&w, "cwd", buf_str(&hand->cwd));
    }
    if (hand->read.n > 0) {
        json_put_raw(&w, "read", buf_str(&hand->read));
    }
    if (hand->background + hand->ended > 0)
        json_put_i64(&w, "background", hand->background + hand->ended);
    json_write_object_end(&w);
}

/* ---- what commands leave behind ---- */

/* The hand says how many; it is believed as far as it could be true. */
static int64_t background_of(struct json_object *from)
{
    int64_t n = 0;

    json_get_i64(from, "background", &n, NULL);
    return n < 0 ? 0 : n > HAND_BACKGROUND_MAX ? HAND_BACKGROUND_MAX : n;
}

/* Processes end with their sandbox, which nobody sees who started them: the next command says so,
 * to the model and to the person. */
static void tell_ended(struct hand *hand, struct json_object *result)
{
    struct str already = json_str(json_find(result, "message"));
    AUTO_BUF text = BUF_INIT(FRAME_BYTES);

    buf_printf(&text,
               "%.*s%s%lld background %s of earlier commands no longer %s: the sandbox was "
               "ended meanwhile (" HAND_ENDS_WHEN ") and began anew",
               STR_ARG(already), already.n ? "; " : "", (long long)hand->ended,
               hand->ended == 1 ? "process" : "processes", hand->ended == 1 ? "runs" : "run");
    json_object_object_add(result, "message", json_object_new_string_len(text.p, (int)text.n));
    hand->ended = 0;
}

static void note_background(struct hand *hand, struct json_object *result)
{
    if (!json_object_is_type(result, json_type_object))
        return;
    hand->background = background_of(result);
    json_object_object_del(result, "background");
    if (hand->ended > 0)
        tell_ended(hand, result);
}

static struct hand_job *find_job(struct hand *hand, int64_t id)
{
    struct hand_job *job = hand->jobs;

    while (job && job->id != id)
        job = job->next;
    return job;
}

static void give_up(struct hand *hand, const struct err *why)
{
    struct hand_proc *proc = hand->proc;

    hand->proc = NULL;
    if (proc)
        hand_proc_drop(proc);
    fail_all(hand, why);
}

static void on_reply(void *arg, const struct hand_frame *frame)
{
    struct hand *hand = arg;
    struct hand_job *job = find_job(hand, frame->id);
    AUTO_BUF text = BUF_INIT(FRAME_BYTES + KIB);
    struct json_writer w = JSON_WRITER(&text);
    struct hand_reply reply = { .err = ERR_INIT };
    struct err why = ERR_INIT;

    if (!job && hand->closed)
        return;
    if (!job) {
        err_set(&why, ERR_INTERNAL, "the hand answered a question that nobody asked");
        give_up(hand, &why);
        return;
    }
    keep_state(hand, frame);
    if (frame->failed || job->cancelled) {
        fail(job, &frame->err);
        return;
    }
    if (job->command)
        note_background(hand, frame->result);
    json_write_value(&w, frame->result);
    if (json_write_end(&w) < 0)
        err_set(&reply.err, ERR_TOO_LARGE, "the answer is larger than %u bytes", FRAME_BYTES);
    else
        reply.result = buf_str(&text);
    finish(job, &reply);
}

static void on_notice(void *arg, const char *kind, struct str detail)
{
    struct hand *hand = arg;

    if (hand->on_notice)
        hand->on_notice(hand->arg, &(struct hand_notice){ .kind = kind, .detail = detail });
}

static void hand_release(struct hand *hand)
{
    BUG_IF(hand->jobs);
    buf_release(&hand->cwd);
    buf_release(&hand->read);
    buf_release(&hand->state);
    arena_release(&hand->arena);
    free(hand);
}

static void hand_closed(struct hand *hand)
{
    void (*closed)(void *arg) = hand->closed;
    void *arg = hand->closed_arg;

    hand_release(hand);
    closed(arg);
}

static void on_ended(void *arg, const struct err *why)
{
    struct hand *hand = arg;

    hand->proc = NULL;
    fail_all(hand, why);
    if (hand->closed)
        hand_closed(hand);
}

/* ---- calls ---- */

static void on_guard(struct loop_timer *timer)
{
    struct hand_job *job = (struct hand_job *)((char *)timer - offsetof(struct hand_job, guard));
    struct err why = ERR_INIT;

    if (job->failed.code != ERR_NONE) {
        fail(job, &job->failed);
        return;
    }
    err_set(&why, ERR_TIMEOUT, "the hand did not answer in time");
    give_up(job->hand, &why);
}

static int check_call(struct hand *hand, const char *operation, struct str arguments,
                      int64_t *ret_limit_ms, struct err *err)
{
    AUTO_JSON doc = NULL;
    int64_t seconds;
    int asked;

    if (hand->count >= HAND_JOBS_MAX)
        return err_set(err, ERR_RATE_LIMITED, "%u calls are under way already", hand->count);
    if (json_parse(arguments, &doc, err) < 0)
        return err_wrap(err, "arguments of %s", operation);
    if (!doc || !json_object_is_type(doc, json_type_object))
        return err_set(err, ERR_BAD_REQUEST, "arguments of %s: an object is needed", operation);
    if (strcmp(operation, "bash") != 0)
        return 0;
    asked = json_get_i64(doc, "timeout_s", &seconds, err);
    if (asked < 0)
        return -1;
    if (asked && (seconds < 1 || seconds > HAND_TIME_MAX / 1000))
        return err_set(err, ERR_BAD_REQUEST, "timeout_s is %lld; 1 to %d are allowed",
                       (long long)seconds, HAND_TIME_MAX / 1000);
    *ret_limit_ms = asked ? seconds * 1000 : spec_time(&hand->spec);
    return 0;
}

static int send_job(struct hand *hand, const struct hand_job *job, const char *operation,
                    struct str arguments, int64_t limit_ms, struct err *err)
{
    static const struct hand_proc_calls calls = { .reply = on_reply,
                                                  .notice = on_notice,
                                                  .ended = on_ended };
    AUTO_BUF text = BUF_INIT(FRAME_BYTES);
    struct json_writer w = JSON_WRITER(&text);

    if (!hand->proc) {
        hand->ended += hand->background;
        hand->background = 0;
        write_state(hand);
        if (hand_proc_start(hand->loop, &hand->spec, buf_str(&hand->state), &calls, hand,
                            &hand->proc, err) < 0)
            return -1;
    }
    json_write_object_begin(&w);
    json_put_i64(&w, "id", job->id);
    json_put_text(&w, "op", operation);
    json_put_i64(&w, "limit", limit_ms);
    json_put_raw(&w, "args", arguments);
    json_write_object_end(&w);
    if (json_write_end(&w) < 0)
        return err_set(err, ERR_TOO_LARGE, "arguments of %s: more than %u bytes", operation,
                       FRAME_BYTES);
    return hand_proc_send(hand->proc, buf_str(&text), err);
}

int hand_call(struct hand *hand, const char *operation, struct str arguments, hand_done_fn *done,
              void *arg, struct hand_job **ret_job, struct err *err)
{
    int64_t limit_ms = HAND_FILES_MS;
    struct hand_job *job;

    if (check_call(hand, operation, arguments, &limit_ms, err) < 0)
        return -1;
    job = NEW(struct hand_job);
    *job = (struct hand_job){ .hand = hand,
                              .id = hand->next_id++,
                              .done = done,
                              .arg = arg,
                              .command = strcmp(operation, "bash") == 0 };
    job->guard.fire = on_guard;
    job->next = hand->jobs;
    hand->jobs = job;
    hand->count++;
    if (send_job(hand, job, operation, arguments, limit_ms, &job->failed) < 0)
        limit_ms = -HAND_ANSWER_MS;
    loop_timer_start(hand->loop, &job->guard, limit_ms + HAND_ANSWER_MS);
    if (ret_job)
        *ret_job = job;
    return 0;
}

void hand_cancel(struct hand_job *job)
{
    AUTO_BUF text = BUF_INIT(KIB);
    struct json_writer w = JSON_WRITER(&text);

    if (job->cancelled)
        return;
    job->cancelled = true;
    if (job->failed.code != ERR_NONE || !job->hand->proc)
        return;
    json_write_object_begin(&w);
    json_put_i64(&w, "cancel", job->id);
    json_write_object_end(&w);
    hand_proc_send(job->hand->proc, buf_str(&text), NULL);
    loop_timer_start(job->hand->loop, &job->guard, HAND_ANSWER_MS);
}

/* ---- life ---- */

struct hand *hand_new(const struct hand_config *config)
{
    struct hand *hand = NEW(struct hand);

    hand->loop = config->loop;
    hand->on_notice = config->on_notice;
    hand->arg = config->arg;
    hand->next_id = 1;
    hand->cwd = BUF_INIT(LIMIT_PATH_BYTES);
    hand->read = BUF_INIT(FRAME_BYTES / 2);
    hand->state = BUF_INIT(FRAME_BYTES);
    copy_spec(hand, &config->spec);
    return hand;
}

void hand_free(struct hand *hand)
{
    struct err why = ERR_INIT;

    if (!hand)
        return;
    err_set(&why, ERR_CANCELLED, "the run has ended");
    give_up(hand, &why);
    hand_release(hand);
}

void hand_close(struct hand *hand, void (*closed)(void *arg), void *arg)
{
    struct err why = ERR_INIT;

    hand->closed = closed;
    hand->closed_arg = arg;
    err_set(&why, ERR_CANCELLED, "the run has ended");
    fail_all(hand, &why);
    if (hand->proc)
        hand_proc_close(hand->proc);
    else
        hand_closed(hand);
}

void hand_close_wait(struct hand *const *hands, size_t n)
{
    struct hand_proc **procs = NEW_N(struct hand_proc *, n);

    for (size_t i = 0; i < n; i++)
        procs[i] = hands[i]->proc;
    hand_proc_close_wait(procs, n);
    free(procs);
}

void hand_set_state(struct hand *hand, struct str json)
{
    struct hand_frame frame = { 0 };
    AUTO_JSON doc = NULL;

    if (json.n == 0 || json_parse(json, &doc, NULL) < 0)
        return;
    frame.cwd = json_str(json_find(doc, "cwd"));
    frame.read = json_find(doc, "read");
    hand->background = background_of(doc);
    keep_state(hand, &frame);
}

struct str hand_state(const struct hand *hand)
{
    struct hand *writable = (struct hand *)hand;

    write_state(writable);
    return buf_str(&hand->state);
}

int hand_pid(const struct hand *hand, uint64_t *ret_stamp)
{
    *ret_stamp = 0;
    return hand->proc ? hand_proc_pid(hand->proc, ret_stamp) : 0;
}
