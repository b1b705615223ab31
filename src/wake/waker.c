/* The waker: looks when something may be due, and at nothing else.
 *
 * Whoever queues a wake says so after the commit; what is due later has an alarm. So an idle house
 * with a hundred thousand sleeping agents does nothing at all.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>

#include "base/json_put.h"
#include "base/log.h"
#include "base/rand.h"
#include "base/utf8.h"
#include "wake/alarm.h"
#include "wake/catchup_int.h"
#include "wake/waker_int.h"

#define FLIGHTS_DEFAULT 16
#define LEASE_DEFAULT   15000
#define POLL_DEFAULT    2000
#define WORDS_MAX       (16 * KIB)
#define REQUEST_ID_MAX  256

static struct loop *loop_of(const struct waker *waker)
{
    return waker->config.loop;
}

static int64_t wall(const struct waker *waker)
{
    return clock_wall_ms(loop_clock(loop_of(waker)));
}

int64_t waker_now(struct waker *waker)
{
    int64_t now = wall(waker);

    return now > waker->reached ? now : waker->reached;
}

/* ---- when ---- */

static void look(void *arg)
{
    struct waker *waker = arg;

    if (!waker->stopping)
        loop_timer_start(loop_of(waker), &waker->look, 0);
}

void waker_look_queue(struct waker *waker)
{
    look(waker);
}

void waker_look(struct waker *waker)
{
    look(waker);
    if (waker->stopping)
        return;
    reader_look(waker->reader);
    clockwork_look(waker->clockwork);
    folders_look(waker->folders);
    idle_look(waker->idle);
}

static void look_due(struct loop_timer *timer)
{
    waker_take(CONTAINER_OF(timer, struct waker, look));
}

static void alarm_due(struct loop_timer *timer)
{
    struct waker *waker = CONTAINER_OF(timer, struct waker, alarm);

    loop_timer_stop(loop_of(waker), &waker->timer);
    waker_take(waker);
}

/* As much time has passed as there was to wait, whatever the wall clock says by now. */
static void waited_due(struct loop_timer *timer)
{
    struct waker *waker = CONTAINER_OF(timer, struct waker, timer);

    loop_timer_stop(loop_of(waker), &waker->alarm);
    if (waker->alarm_at > wall(waker))
        waker->reached = waker->alarm_at;
    waker_take(waker);
}

void waker_wait_until(struct waker *waker, int64_t at)
{
    int64_t now = waker_now(waker);

    if (waker->stopping)
        return;
    loop_alarm_start(loop_of(waker), &waker->alarm, at);
    /* How long it was to wait is what it was when that was first known. */
    if (!waker->timer.heap_index || waker->alarm_at != at)
        loop_timer_start(loop_of(waker), &waker->timer, at > now ? at - now : 0);
    waker->alarm_at = at;
}

static void noticed(struct loop_effect *effect)
{
    struct waker *waker = CONTAINER_OF(effect, struct waker, noticed);

    waker->noticing = false;
    look(waker);
}

static void not_noticed(struct loop_effect *effect, const struct err *why)
{
    (void)why;
    noticed(effect); /* looking once too often does no harm */
}

void waker_notice(struct waker *waker)
{
    if (waker->noticing || waker->stopping)
        return;
    waker->noticing = true;
    loop_after_commit(loop_of(waker), &waker->noticed);
}

/* ---- somebody says so ---- */

static int check_words(struct str request_id, struct str words, struct err *err)
{
    if (request_id.n > REQUEST_ID_MAX)
        return err_set(err, ERR_BAD_REQUEST, "requestId has %zu bytes; at most %d are allowed",
                       request_id.n, REQUEST_ID_MAX);
    if (words.n > WORDS_MAX)
        return err_set(err, ERR_TOO_LARGE, "the words have %zu bytes; at most %u are allowed",
                       words.n, WORDS_MAX);
    if (!utf8_valid(words) || !utf8_valid(request_id))
        return err_set(err, ERR_BAD_REQUEST, "the words are not valid UTF-8");
    return 0;
}

static struct str words_payload(struct str words, struct arena *arena)
{
    AUTO_BUF out = BUF_INIT(WAKE_PAYLOAD_MAX);
    struct json_writer w = JSON_WRITER(&out);

    json_write_object_begin(&w);
    if (words.n) {
        json_put_str(&w, "words", words);
    }
    json_write_object_end(&w);
    return arena_str(arena, buf_str(&out));
}

static int queue_manual(struct waker *waker, struct str agent_id, struct wake_job job,
                        struct arena *arena, struct wake_job *ret_job, struct err *err)
{
    struct domain *domain = waker->config.agent_domain;
    struct agent agent;
    char key[SHA256_TEXT_SIZE];
    int known;

    if (agent_get(domain, agent_id, arena, &agent, err) < 0)
        return -1;
    wake_key_manual(agent.id, job.reason_id, key);
    job.run_key = str_from(key);
    job.agent_n = agent.n;
    known = wake_find(domain, job.run_key, arena, ret_job, err);
    if (known != 0)
        return known < 0 ? -1 : 0;
    if (run_may_begin(&agent, waker->config.kill, err) < 0 || wake_enqueue(domain, &job, err) < 0)
        return -1;
    waker_notice(waker);
    return wake_find(domain, job.run_key, arena, ret_job, err) < 0 ? -1 : 0;
}

int waker_wake_now(struct waker *waker, struct str agent_id, struct str request_id,
                   struct str words, struct arena *arena, struct wake_job *ret_job, struct err *err)
{
    char fresh[UUID_TEXT_SIZE];
    struct wake_job job = { .reason = STR("manual"), .created_at = wall(waker) };
    int r;

    if (check_words(request_id, words, err) < 0)
        return -1;
    if (!request_id.n) {
        uuid_next_text(&waker->uuids, fresh);
        request_id = str_from(fresh);
    }
    job.reason_id = request_id;
    job.payload = words_payload(words, arena);
    if (loop_unit_begin(loop_of(waker), waker->config.agent_domain, err) < 0)
        return -1;
    r = queue_manual(waker, agent_id, job, arena, ret_job, err);
    if (loop_unit_end(loop_of(waker), r == 0, r == 0 ? err : NULL) < 0)
        return -1;
    return r;
}

/* ---- alarms ---- */

static int set_alarm(void *arg, const struct tool_call *call, const struct desk_alarm *alarm,
                     int64_t now_ms, struct arena *arena, struct desk_alarm *ret_alarm,
                     bool *ret_replaced, struct err *err)
{
    struct waker *waker = arg;

    clockwork_look(waker->clockwork);
    return alarm_set(waker->config.agent_domain, waker->config.change, call, alarm, now_ms, arena,
                     ret_alarm, ret_replaced, err);
}

static int clear_alarm(void *arg, int64_t agent_n, struct str name, int64_t now_ms,
                       struct arena *arena, struct err *err)
{
    struct waker *waker = arg;

    return alarm_clear(waker->config.agent_domain, waker->config.change, agent_n, name, now_ms,
                       arena, err);
}

static int list_alarms(void *arg, int64_t agent_n, struct arena *arena,
                       struct desk_alarm **ret_alarms, size_t *ret_count, struct err *err)
{
    struct waker *waker = arg;

    return alarm_list(waker->config.agent_domain, agent_n, arena, ret_alarms, ret_count, err);
}

const struct desk_alarms waker_alarms = { .set = set_alarm,
                                          .clear = clear_alarm,
                                          .list = list_alarms };

int waker_resumed(struct waker *waker, int64_t agent_n, struct err *err)
{
    waker_notice(waker);
    return catchup_missed(waker->config.agent_domain, waker->config.kill, agent_n, wall(waker),
                          err);
}

int waker_forget_agent(struct waker *waker, int64_t agent_n, struct err *err)
{
    struct domain *domain = waker->config.agent_domain;
    int64_t now = wall(waker);
    AUTO_ARENA arena = ARENA_INIT;
    struct wake_job *jobs;
    struct claim_end *ends;
    bool more;
    size_t n;

    do {
        arena_reset(&arena);
        if (claim_of_agent(domain, agent_n, CLAIM_ANY_HOURS, &arena, &jobs, &n, &more, err) < 0)
            return -1;
        ends = ARENA_NEW_N(&arena, struct claim_end, n + 1);
        for (size_t i = 0; i < n; i++)
            ends[i] = (struct claim_end){ .n = jobs[i].n,
                                          .status = WAKE_SKIPPED_DESTROYED,
                                          .why = "the agent was destroyed" };
        if (claim_end_all(domain, ends, n, now, err) < 0)
            return -1;
    } while (more && n);
    return 0;
}

int waker_webhook(struct waker *waker, struct str token, struct str event_id,
                  struct str content_type, struct str body, struct err *err)
{
    const struct webhook_call call = {
        .token = token, .content_type = content_type, .body = body, .event_id = event_id
    };
    int r;

    if (loop_unit_begin(loop_of(waker), waker->config.agent_domain, err) < 0)
        return -1;
    r = webhook_receive(waker->gate, waker->config.agent_domain, &call, wall(waker), err);
    if (r > 0)
        waker_notice(waker);
    if (loop_unit_end(loop_of(waker), r >= 0, r >= 0 ? err : NULL) < 0)
        return -1;
    return r < 0 ? -1 : 0;
}

/* ---- the waker ---- */

static int open_sources(struct waker *waker, struct err *err)
{
    const struct waker_config *config = &waker->config;
    const struct reader_config reader = { .loop = config->loop,
                                          .agent_domain = config->agent_domain,
                                          .journal = config->journal,
                                          .change = config->change,
                                          .debounce_ms = config->debounce_ms,
                                          .sync_debounce_ms = config->sync_debounce_ms,
                                          .queued = look,
                                          .arg = waker };
    const struct clockwork_config clockwork = { .loop = config->loop,
                                                .domain = config->agent_domain,
                                                .change = config->change,
                                                .zone = config->zone,
                                                .queued = look,
                                                .arg = waker };
    const struct folders_config folders = { .loop = config->loop,
                                            .agent_domain = config->agent_domain,
                                            .change = config->change,
                                            .rules = config->folders,
                                            .queued = look,
                                            .arg = waker };

    waker->folders = folders_new(&folders);
    waker->gate = webhook_gate_new(loop_clock(config->loop), (struct webhook_limits){ 0 });
    waker->clockwork = clockwork_new(&clockwork);
    waker->idle = idle_new(config->loop, config->agent_domain, config->runner);
    return reader_new(&reader, &waker->reader, err);
}

static void fill_defaults(struct waker_config *config)
{
    if (!config->max_flights)
        config->max_flights = FLIGHTS_DEFAULT;
    if (!config->lease_ms)
        config->lease_ms = LEASE_DEFAULT;
    if (!config->poll_ms)
        config->poll_ms = POLL_DEFAULT;
}

static int mend_times(struct waker *waker, struct err *err)
{
    return wake_clock_back(waker->config.agent_domain, wall(waker), err);
}

int waker_new(const struct waker_config *config, struct waker **ret_waker, struct err *err)
{
    AUTO(waker) waker = NEW(struct waker);

    waker->config = *config;
    fill_defaults(&waker->config);
    uuid_source_init(&waker->uuids, loop_clock(config->loop), rand_system());
    waker->look.fire = look_due;
    waker->alarm.fire = alarm_due;
    waker->timer.fire = waited_due;
    waker->noticed = (struct loop_effect){ .run = noticed, .drop = not_noticed };
    runner_on_end(config->runner, waker_landed, waker_rested, waker);
    if (waker_share(waker, err) < 0)
        return err_wrap(err, "take this host's lease");
    if (waker_in_transaction(waker, mend_times, err) < 0)
        return err_wrap(err, "look at what waits");
    if (open_sources(waker, err) < 0)
        return -1;
    if (waker->fence)
        waker_hear(waker);
    look(waker);
    *ret_waker = TAKE(waker);
    return 0;
}

void waker_tell(struct waker *waker, struct waker_listener *listener)
{
    waker->listener = listener;
}

void waker_stop(struct waker *waker)
{
    if (waker->stopping)
        return;
    waker->stopping = true;
    if (waker->clockwork)
        clockwork_stop(waker->clockwork);
    if (waker->idle)
        idle_stop(waker->idle);
    if (waker->reader)
        reader_stop(waker->reader);
    if (waker->folders)
        folders_stop(waker->folders);
    loop_timer_stop(loop_of(waker), &waker->look);
    loop_timer_stop(loop_of(waker), &waker->alarm);
    loop_timer_stop(loop_of(waker), &waker->timer);
    loop_timer_stop(loop_of(waker), &waker->beat);
    waker_unhear(waker);
}

void waker_free(struct waker *waker)
{
    if (!waker)
        return;
    waker_unshare(waker);
    reader_free(waker->reader);
    clockwork_free(waker->clockwork);
    idle_free(waker->idle);
    folders_free(waker->folders);
    webhook_gate_free(waker->gate);
    free(waker);
}
