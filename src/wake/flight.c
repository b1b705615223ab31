/* A flight: the run of a wake, from the queue to its end.
 *
 * The unit that stores the run takes its wake from the queue and ends the others that it takes
 * along (coalesced); the unit that records how the run ended gives the wake its last status and
 * moves the agent's state. So at no moment is there a wake without its row, or a run whose wake
 * does not know how it went: a crash leaves the wake queued, or running with the runner going on
 * with it, or ended.
 *
 * SPDX-License-Identifier: MIT
 */
#include "agent/link.h"
#include "base/json.h"
#include "base/json_write.h"
#include "base/log.h"
#include "wake/catchup_int.h"
#include "wake/observe_int.h"
#include "wake/waker_int.h"

struct flight {
    struct waker *waker;
    struct arena arena;
    int64_t now;
    const struct claim *claim;
    struct wake_job *jobs; /* the one that the run is of, those that it takes along, earlier ones */
    size_t count, earlier;
    struct str payload;
    struct observed seen;
    bool aside;   /* not in its conversation, but in a thread of its own */
    bool stored;  /* with its run */
    bool refused; /* another process was quicker */
};

static struct domain *domain_of(const struct flight *flight)
{
    return flight->waker->config.agent_domain;
}

/* ---- what goes along ---- */

static bool of_timer(const struct wake_job *job)
{
    return job->scheduled_at != 0;
}

/* A run stands for one firing of each timer: who asked for all that were missed gets as many. */
static bool fires_twice(const struct flight *flight, const struct wake_job *job)
{
    for (size_t i = 0; of_timer(job) && i < flight->count; i++) {
        if (of_timer(&flight->jobs[i]) && str_eq(flight->jobs[i].reason_id, job->reason_id))
            return true;
    }
    return false;
}

/* An alarm is to be heard in its conversation, whatever else the run takes along. */
static void lead_where_somebody_reads(struct flight *flight)
{
    if (claim_by_person(&flight->jobs[0]) || wake_in_conversation(&flight->jobs[0]))
        return;
    for (size_t i = 1; i < flight->count; i++) {
        struct wake_job job = flight->jobs[i];

        if (!wake_in_conversation(&job))
            continue;
        flight->jobs[i] = flight->jobs[0];
        flight->jobs[0] = job;
        return;
    }
}

/* Whatever is queued, also what was to wait: the agent is awake now, and what counts as seen must
 * have no gaps. What waits for its hours stays, unless a person wakes the agent or the run is told
 * of that change anyway; it is judged apart. Of more than can go along, the oldest do, and the
 * first of them leads. */
static int fold_queue(struct flight *flight, struct err *err)
{
    int64_t at = claim_by_person(&flight->claim->job) ? CLAIM_ANY_HOURS : flight->now;
    struct wake_job *queued;
    bool more;
    size_t n;

    if (claim_of_agent(domain_of(flight), flight->claim->agent.n, at, &flight->arena, &queued, &n,
                       &more, err) < 0)
        return -1;
    flight->jobs = ARENA_NEW_N(&flight->arena, struct wake_job, CLAIM_MAX + WAKER_EARLIER_MAX + 1);
    flight->jobs[0] =
        more && n && !claim_by_person(&flight->claim->job) ? queued[0] : flight->claim->job;
    flight->count = 1;
    for (size_t i = 0; i < n && flight->count < CLAIM_MAX; i++) {
        if (queued[i].n != flight->jobs[0].n && !fires_twice(flight, &queued[i]))
            flight->jobs[flight->count++] = queued[i];
    }
    lead_where_somebody_reads(flight);
    return 0;
}

static bool was_missed(const struct flight *flight, const struct wake_job *job,
                       const struct wake_job *ended, size_t n)
{
    if (job->status == WAKE_SKIPPED_SLEEPING || job->status == WAKE_SKIPPED_PAUSED ||
        job->status == WAKE_SKIPPED_KILLED)
        return true;
    if (job->status == WAKE_FAILED_TERMINAL)
        return !str_is(job->error_code, "cancelled");
    for (size_t i = 0; job->status == WAKE_COALESCED && i < n; i++) {
        if (ended[i].status == WAKE_FAILED_TERMINAL &&
            str_eq(ended[i].run_key, job->coalesced_into))
            return was_missed(flight, &ended[i], NULL, 0);
    }
    return false;
}

/* It had its run: that ended well, still waits for a person, or was stopped by one. */
static bool was_heard(const struct wake_job *run)
{
    return run->status == WAKE_RUNNING || run->status == WAKE_COMPLETED ||
           (run->status == WAKE_FAILED_TERMINAL && str_is(run->error_code, "cancelled"));
}

/* A run that began since was told of it. */
static bool was_told(const struct wake_job *job, const struct wake_job *ended, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct wake_job *run = &ended[i];

        if (was_heard(run) && (run->started_at > job->ended_at ||
                               (run->started_at == job->ended_at && run->n > job->n)))
            return true;
    }
    return false;
}

/* What it did not hear of because it slept, was paused or stopped, or because its run failed. */
static int add_earlier(struct flight *flight, struct err *err)
{
    struct wake_job *ended;
    size_t n;

    if (wake_list_earlier(domain_of(flight), flight->claim->agent.n, WAKER_EARLIER_MAX,
                          &flight->arena, &ended, &n, err) < 0)
        return -1;
    for (size_t i = n; i-- > 0;) {
        if (!was_missed(flight, &ended[i], ended, n) || was_told(&ended[i], ended, n) ||
            claim_is_stale(&ended[i], &flight->claim->agent.processed, &flight->arena))
            continue;
        flight->jobs[flight->count++] = ended[i];
        flight->earlier++;
    }
    return 0;
}

/* ---- what is told ---- */

/* What the run was of, and what it will have seen. */
static int write_payload(struct flight *flight, struct err *err)
{
    AUTO_JSON payload = NULL;
    AUTO_JSON seen = NULL;
    struct str text = flight->jobs[0].payload;
    struct str clock = vclock_text(&flight->seen.seen, &flight->arena);

    if (json_parse(text.n ? text : STR("{}"), &payload, err) < 0 ||
        json_parse(clock, &seen, err) < 0)
        return -1;
    json_object_object_add(payload, "seen", TAKE(seen));
    flight->payload = str_from(arena_text(
        &flight->arena, json_object_to_json_string_ext(
                            payload, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE)));
    return 0;
}

static bool takes(const struct flight *flight, int64_t n)
{
    for (size_t i = 0; i < flight->count - flight->earlier; i++)
        if (flight->jobs[i].n == n)
            return true;
    return false;
}

static void was_not_seen(struct vclock *seen, const struct vclock *counters)
{
    size_t kept = 0;

    for (size_t i = 0; i < seen->n; i++) {
        int64_t left = vclock_of(counters, seen->at[i].host);

        if (left && seen->at[i].counter >= left)
            seen->at[i].counter = left - 1;
        if (seen->at[i].counter > 0)
            seen->at[kept++] = seen->at[i];
    }
    seen->n = kept;
}

/* An older wake that another process looks at just now can't go along. It is not to be taken for
 * seen because of what came after it. */
static int leave_unseen(struct flight *flight, struct err *err)
{
    struct wake_job *before;
    int64_t newest = 0;
    size_t n;

    if (!flight->waker->fence)
        return 0;
    for (size_t i = 0; i < flight->count - flight->earlier; i++)
        newest = flight->jobs[i].n > newest ? flight->jobs[i].n : newest;
    if (claim_before(domain_of(flight), flight->claim->agent.n, newest, &flight->arena, &before, &n,
                     err) < 0)
        return -1;
    for (size_t i = 0; i < n; i++) {
        struct vclock counters = claim_counters(&before[i], &flight->arena);

        if (!takes(flight, before[i].n))
            was_not_seen(&flight->seen.seen, &counters);
    }
    return 0;
}

static int tell(struct flight *flight, struct err *err)
{
    struct agent agent;

    if (agent_get_n(domain_of(flight), flight->claim->agent.n, &flight->arena, &agent, err) < 0 ||
        observe(flight->waker->config.journal, agent.allowed_category_ids, flight->jobs,
                flight->count, flight->earlier, &flight->arena, &flight->seen, err) < 0 ||
        leave_unseen(flight, err) < 0)
        return -1;
    return write_payload(flight, err);
}

/* Records were named, and none of them is there any more for this agent; or it slept and missed
 * nothing. Then no model is asked. */
static const char *why_nothing(const struct flight *flight)
{
    const struct observed *seen = &flight->seen;

    if (seen->has_words || seen->shown > 0)
        return NULL;
    if (seen->names_records)
        return "what changed is gone, or outside of the agent's categories";
    if (flight->count == 1 && wake_is_catchup(&flight->jobs[0]))
        return "nothing was missed";
    return NULL;
}

/* ---- ending without a run ---- */

static void fill_ends(const struct flight *flight, struct claim_end *ends, enum wake_status status,
                      const char *why, const char *error_code)
{
    for (size_t i = 0; i < flight->count - flight->earlier; i++)
        ends[i] = (struct claim_end){
            .n = flight->jobs[i].n, .status = status, .why = why, .error_code = error_code
        };
}

static int end_all(struct flight *flight, enum wake_status status, const char *why,
                   const char *error_code, struct err *err)
{
    struct loop *loop = flight->waker->config.loop;
    struct claim_end *ends = ARENA_NEW_N(&flight->arena, struct claim_end, flight->count);
    int r;

    fill_ends(flight, ends, status, why, error_code);
    if (loop_unit_begin(loop, domain_of(flight), err) < 0)
        return -1;
    r = claim_end_all(domain_of(flight), ends, flight->count - flight->earlier, flight->now, err);
    if (loop_unit_end(loop, r == 0, r == 0 ? err : NULL) < 0)
        return -1;
    return r;
}

/* ---- starting ---- */

static int take_along(struct flight *flight, struct err *err)
{
    size_t n = flight->count - flight->earlier - 1;
    struct claim_end *ends = ARENA_NEW_N(&flight->arena, struct claim_end, n + 1);

    for (size_t i = 0; i < n; i++)
        ends[i] = (struct claim_end){ .n = flight->jobs[i + 1].n,
                                      .status = WAKE_COALESCED,
                                      .why = "another wake of the agent did its work",
                                      .coalesced_into = flight->jobs[0].run_key };
    return claim_end_all(domain_of(flight), ends, n, flight->now, err);
}

static struct str own_thread(struct flight *flight)
{
    const struct wake_job *job = &flight->jobs[0];

    return str_from(arena_printf(&flight->arena, "%.*s:run:%.*s", STR_ARG(job->agent_id),
                                 STR_ARG(job->run_key)));
}

/* What began the thread: the conversation that it should have been in, else what woke. */
static int link_thread(struct flight *flight, struct err *err)
{
    const struct wake_job *job = &flight->jobs[0];
    const struct agent_link link = { .relation = AGENT_LINK_THREAD_SOURCE,
                                     .from_id = own_thread(flight),
                                     .to_id = flight->aside ? job->thread_id : job->reason_id };

    if ((!flight->aside && wake_in_conversation(job)) || !agent_link_id_valid(link.from_id) ||
        !agent_link_id_valid(link.to_id))
        return 0;
    return agent_link_add(domain_of(flight), flight->waker->config.change, &link, NULL, flight->now,
                          err) < 0
               ? -1
               : 0;
}

static int with_run(void *arg, int64_t run_n, struct err *err)
{
    struct flight *flight = arg;
    int r = claim_start(domain_of(flight), &flight->jobs[0], run_n, flight->payload,
                        flight->aside ? own_thread(flight) : STR_NONE, flight->now, err);

    if (r < 0)
        return -1;
    flight->refused = r == 0;
    flight->stored = r > 0;
    if (r == 0)
        return err_set(err, ERR_CONFLICT, "somebody else has taken this wake");
    return link_thread(flight, err) < 0 ? -1 : take_along(flight, err);
}

/* In its conversation; where that has a run under way (which may wait for days), or is gone, in a
 * thread of its own: an alarm rings on time. */
static int start(struct flight *flight, bool in_conversation, struct err *err)
{
    const struct wake_job *job = &flight->jobs[0];
    struct run_info info;
    int r;
    struct run_request request = { .agent_id = job->agent_id,
                                   .prompt = flight->seen.text,
                                   .wake_reason = job->reason,
                                   .run_key = job->run_key,
                                   .trigger_source_id = job->reason_id,
                                   .prompt_taint = flight->seen.taint,
                                   .also = with_run,
                                   .also_arg = flight };

    flight->stored = false; /* what an earlier try stored was rolled back */
    flight->aside = !in_conversation && wake_in_conversation(job);
    if (in_conversation)
        request.thread_id = job->thread_id;
    r = run_start(flight->waker->config.runner, &request, &flight->arena, &info, err);
    if (r == 0 || !in_conversation || flight->refused ||
        (err->code != ERR_CONFLICT && err->code != ERR_NOT_FOUND))
        return r;
    err_reset(err);
    return start(flight, false, err);
}

/* It can't run, and would not the next time. */
static int fail(struct flight *flight, const struct err *why, struct err *err)
{
    char text[ERR_TEXT_MAX];

    LOG_WARN("wake", "a wake could not become a run", LOG_STR("wake", flight->jobs[0].run_key),
             LOG_ERR(why));
    err_format(why, text, sizeof(text));
    return end_all(flight, WAKE_FAILED_TERMINAL, arena_text(&flight->arena, text),
                   err_name(why->code), err);
}

static bool may_pass(enum err_code code)
{
    return code == ERR_STORAGE_FAILED || code == ERR_LEASE_LOST || code == ERR_VERSION_CONFLICT ||
           code == ERR_TIMEOUT;
}

/* It stays for another time, or ends: nothing that can't be read may hold up the others. */
static int settle(struct flight *flight, const struct err *why, struct err *err)
{
    if (!may_pass(why->code))
        return fail(flight, why, err);
    *err = *why;
    return -1;
}

/* Another process has taken it, or flies its agent; or the same wake was queued once more at the
 * moment in which it was taken. */
static int give_way(struct flight *flight, struct err *err)
{
    struct loop *loop = flight->waker->config.loop;
    int r;

    if (loop_unit_begin(loop, domain_of(flight), err) < 0)
        return -1;
    r = claim_drop_known(domain_of(flight), flight->jobs[0].n, err);
    if (loop_unit_end(loop, r == 0, r == 0 ? err : NULL) < 0)
        return -1;
    return r;
}

static int fly(struct flight *flight, struct err *err)
{
    const char *nothing;
    struct err why = ERR_INIT;
    int r;

    if (fold_queue(flight, err) < 0 || add_earlier(flight, err) < 0)
        return -1;
    if (tell(flight, &why) < 0)
        return settle(flight, &why, err);
    nothing = why_nothing(flight);
    if (nothing)
        return end_all(flight, WAKE_SKIPPED_NOOP, nothing, NULL, err);
    r = start(flight, wake_in_conversation(&flight->jobs[0]), &why);
    if (r == 0 && flight->stored)
        return 0;
    if (r == 0 || flight->refused ||
        (why.code == ERR_CONFLICT && domain_is_shared(domain_of(flight))))
        return give_way(flight, err);
    return settle(flight, &why, err);
}

int waker_fly(struct waker *waker, const struct claim *claim, int64_t now_ms, struct err *err)
{
    struct flight flight = { .waker = waker, .arena = ARENA_INIT, .now = now_ms, .claim = claim };
    int r = fly(&flight, err);

    arena_release(&flight.arena);
    return r;
}

/* ---- landing ---- */

struct landing {
    struct waker *waker;
    const struct run_end *end;
    struct arena arena;
    int64_t now;
    struct wake_job job;
    int64_t failures; /* in a row, when this is one; else 0 */
};

/* The stop of a person, and of an emergency, is no fault of the agent. */
static bool is_failure(const struct run_end *end)
{
    return end->error_code.n && !str_is(end->error_code, "kill_switch_active") &&
           !str_is(end->error_code, "agent_destroyed") && !str_is(end->stop_reason, "cancelled");
}

static const char *why_ended(struct landing *l)
{
    if (str_is(l->end->stop_reason, "cancelled"))
        return "a person stopped its run";
    if (l->end->error_code.n)
        return arena_printf(&l->arena, "its run failed: %.*s", STR_ARG(l->end->error_message));
    return "its run is done";
}

static int finish(struct landing *l, struct err *err)
{
    bool cancelled = str_is(l->end->stop_reason, "cancelled");
    enum wake_status status =
        cancelled || l->end->error_code.n ? WAKE_FAILED_TERMINAL : WAKE_COMPLETED;

    return claim_finish(l->waker->config.agent_domain, l->end->run_id, status, why_ended(l),
                        cancelled ? STR("cancelled") : l->end->error_code, l->now, &l->arena,
                        &l->job, err);
}

static int seen_of(struct landing *l, struct vclock *ret_seen, struct err *err)
{
    AUTO_JSON payload = NULL;
    struct json_object *seen;

    *ret_seen = (struct vclock){ 0 };
    if (json_parse(l->job.payload, &payload, err) < 0)
        return -1;
    seen = json_find(payload, "seen");
    if (!seen)
        return 0;
    return vclock_parse(str_from(arena_text(&l->arena, json_object_to_json_string(seen))),
                        &l->arena, ret_seen, err);
}

/* A state that can't be read must not keep the run from ending. */
static int give_state_up(struct landing *l, struct err *err)
{
    if (err->code == ERR_STORAGE_FAILED)
        return -1;
    LOG_WARN("wake", "the state of an agent can't be read, it stays as it is",
             LOG_STR("agent", str_from(l->end->agent_id)), LOG_ERR(err));
    err_reset(err);
    return 0;
}

static int move_state(struct landing *l, struct err *err)
{
    struct domain *domain = l->waker->config.agent_domain;
    struct agent_state state;
    struct vclock seen;

    if (str_is(l->end->error_code, "agent_destroyed"))
        return 0; /* it has no state that could change */
    if (agent_state_get(domain, l->end->agent_n, l->now, &l->arena, &state, err) < 0)
        return give_state_up(l, err);
    if (seen_of(l, &seen, err) < 0)
        return -1;
    state.last_wake_at = l->now;
    if (l->job.status == WAKE_COMPLETED) {
        agent_state_succeeded(&state, l->now);
        for (size_t i = 0; i < seen.n; i++)
            agent_state_processed(&state, seen.at[i].host, seen.at[i].counter, l->now, &l->arena);
    } else if (is_failure(l->end)) {
        agent_state_failed(&state, l->now);
        l->failures = state.failures;
    }
    if (agent_state_put(domain, l->waker->config.change, &state, l->now, err) < 0)
        return -1;
    agent_state_tell(l->end->batch, l->waker->config.change, &state, l->end->agent_id);
    return 0;
}

int waker_landed(void *arg, const struct run_end *end, struct err *err)
{
    struct waker *waker = arg;
    struct landing l = { .waker = waker,
                         .end = end,
                         .arena = ARENA_INIT,
                         .now = clock_wall_ms(loop_clock(waker->config.loop)) };
    int r = end->woken ? finish(&l, err) : 0;

    if (r > 0 && (move_state(&l, err) < 0 ||
                  (l.failures && catchup_failed(waker->config.agent_domain, end, l.failures, l.now,
                                                &l.arena, err) < 0) ||
                  claim_unpark(waker->config.agent_domain, end->agent_n, err) < 0))
        r = -1;
    if (r > 0)
        waker_notice(waker);
    arena_release(&l.arena);
    return r < 0 ? -1 : 0;
}

int waker_rested(void *arg, const struct run_end *run, struct err *err)
{
    struct waker *waker = arg;

    if (claim_rest(waker->config.agent_domain, run->run_id, err) < 0 ||
        claim_unpark(waker->config.agent_domain, run->agent_n, err) < 0)
        return -1;
    waker_notice(waker);
    return 0;
}
