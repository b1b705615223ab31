/* What is known about runs and their public events.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>

#include "base/json.h"
#include "run/content.h"
#include "run/run_int.h"

/* ---- one run, for people ---- */

int run_record_get(struct domain *domain, struct str run_id, struct arena *arena,
                   struct run_record *ret_record, struct err *err)
{
    int r = run_load(domain, run_id, arena, ret_record, err);

    if (r == 0)
        return err_set(err, ERR_NOT_FOUND, "there is no run %.*s (`dormouse runs` lists them)",
                       STR_ARG(run_id));
    return r < 0 ? -1 : 0;
}

static struct str query_text(const struct message *message, struct arena *arena)
{
    AUTO_JSON content = NULL;

    if (json_parse(message->content, &content, &(struct err){ 0 }) < 0)
        return STR_NONE;
    return arena_str(arena, json_str(json_find(content, "text")));
}

static bool first_ref(void *arg, const struct run_event_row *row)
{
    *(int64_t *)arg = row->ref;
    return false;
}

/* What it began with, where that came from, and what came of it. A run that has just begun says the
 * first in its first event only. */
static int fill_texts(struct domain *domain, const struct run_record *row, struct arena *arena,
                      struct run_info *info, struct err *err)
{
    int64_t n = row->prompt_n;
    struct message message;

    if (!n && run_events_of_run(domain, row->n, first_ref, &n, err) < 0)
        return -1;
    if (n) {
        if (message_get_n(domain, n, arena, &message, err) < 0)
            return -1;
        info->prompt = query_text(&message, arena);
        info->prompt_taint = message.taint;
        info->observed = message.kind == MESSAGE_OBSERVATION;
    }
    if (row->result_n) {
        if (message_get_n(domain, row->result_n, arena, &message, err) < 0)
            return -1;
        info->result = query_text(&message, arena);
    }
    return 0;
}

void run_info_limits(const struct run_limits *limits, struct run_info *info)
{
    info->max_iterations = limits->engine[RUN_LIMIT_ITERATIONS];
    info->max_tokens = limits->tokens;
    info->max_tool_calls = limits->engine[RUN_LIMIT_TOOL_CALLS];
    info->max_ms = limits->ms;
}

int run_times(struct domain *domain, const struct run_record *row, struct arena *arena,
              struct str *ret_pending, int64_t *ret_waited_ms, struct err *err)
{
    struct inbox_waits waits;
    int64_t end = row->ended_at ? row->ended_at : row->updated_at;
    int64_t rest = end - row->created_at - row->active_ms;

    if (inbox_waits_of_run(domain, row->n, row->ended_at, arena, &waits, err) < 0)
        return -1;
    *ret_pending = waits.pending;
    /* While another call goes on, the run works, whoever is asked meanwhile. */
    *ret_waited_ms = waits.waited_ms < rest ? waits.waited_ms : rest > 0 ? rest : 0;
    return 0;
}

static int fill(struct domain *domain, const struct run_record *row, struct arena *arena,
                struct run_info *ret_info, struct err *err)
{
    struct agent agent;
    struct thread thread;
    struct run_limits limits;

    if (agent_get_n(domain, row->agent_n, arena, &agent, err) < 0 ||
        thread_get_n(domain, row->thread_n, arena, &thread, err) < 0)
        return -1;
    *ret_info = (struct run_info){
        .n = row->n,
        .run_id = row->run_key,
        .thread_id = thread.id,
        .agent_id = str_from(agent.id),
        .status = str_from(run_status_name(row->status)),
        .mode = row->mode,
        .model_id = row->model_id,
        .wait_kind = row->wait_kind,
        .wait_until = row->wait_until,
        .stop_reason = row->stop_reason,
        .error_code = row->error_code,
        .error_message = row->error_message,
        .cwd = row->cwd,
        .created_at = row->created_at,
        .updated_at = row->updated_at,
        .ended_at = row->ended_at,
        .active_ms = row->active_ms,
        .iterations = row->iterations,
        .tool_calls = row->tool_calls,
        .input_tokens = row->input_tokens,
        .output_tokens = row->output_tokens,
        .cached_tokens = row->cached_tokens,
        .cost = row->cost,
        .last_seq = thread.last_seq,
    };
    if (fill_texts(domain, row, arena, ret_info, err) < 0)
        return -1;
    if (run_limits(row->settings, &limits, &(struct err){ 0 }) == 0)
        run_info_limits(&limits, ret_info);
    return run_times(domain, row, arena, &ret_info->wait_item, &ret_info->waited_ms, err);
}

int run_info_get(struct domain *domain, struct str run_id, struct arena *arena,
                 struct run_info *ret_info, struct err *err)
{
    struct run_record row;

    if (run_record_get(domain, run_id, arena, &row, err) < 0)
        return -1;
    return fill(domain, &row, arena, ret_info, err);
}

int run_get(struct runner *runner, struct str run_id, struct arena *arena,
            struct run_info *ret_info, struct err *err)
{
    return run_info_get(runner->config.agent_domain, run_id, arena, ret_info, err);
}

int run_info_find(struct domain *domain, struct str prefix, struct arena *arena,
                  struct run_info *ret_info, struct err *err)
{
    struct run_record row;

    if (run_find_prefix(domain, prefix, arena, &row, err) < 0)
        return -1;
    return fill(domain, &row, arena, ret_info, err);
}

int run_find(struct runner *runner, struct str prefix, struct arena *arena,
             struct run_info *ret_info, struct err *err)
{
    return run_info_find(runner->config.agent_domain, prefix, arena, ret_info, err);
}

int run_open_in_thread(struct runner *runner, struct str thread_id, struct arena *arena,
                       struct run_info *ret_info, struct err *err)
{
    struct domain *domain = runner->config.agent_domain;
    struct thread thread;
    struct run_record row;
    int r = thread_find(domain, thread_id, arena, &thread, err);

    if (r > 0)
        r = run_open_of_thread(domain, thread.n, arena, &row, err);
    if (r <= 0)
        return r;
    return fill(domain, &row, arena, ret_info, err) < 0 ? -1 : 1;
}

int run_end_of(struct runner *runner, int64_t run_n, struct arena *arena,
               struct run_ending *ret_end, struct err *err)
{
    struct run_record row;
    int r = run_load_n(runner->config.agent_domain, run_n, arena, &row, err);

    if (r <= 0)
        return r;
    if (!row.ended_at || !row.stop_reason.n || str_is(row.stop_reason, "end_turn"))
        return 0;
    *ret_end = (struct run_ending){ .run_id = row.run_key,
                                    .stop_reason = row.stop_reason,
                                    .error_code = row.error_code,
                                    .error_message = row.error_message,
                                    .at = row.ended_at };
    return 1;
}

int run_info_list(struct domain *domain, struct str agent_id, int64_t before, int limit,
                  struct arena *arena, struct run_info **ret_infos, size_t *ret_count,
                  struct err *err)
{
    struct agent agent = { .n = 0 };
    struct run_record *rows;
    size_t n;

    if (agent_id.n && agent_get(domain, agent_id, arena, &agent, err) < 0)
        return -1;
    if (run_records(domain, agent.n, before, limit, arena, &rows, &n, err) < 0)
        return -1;
    *ret_infos = ARENA_NEW_N(arena, struct run_info, n ? n : 1);
    *ret_count = n;
    for (size_t i = 0; i < n; i++) {
        if (fill(domain, &rows[i], arena, &(*ret_infos)[i], err) < 0)
            return -1;
    }
    return 0;
}

int run_list(struct runner *runner, struct str agent_id, int64_t before, int limit,
             struct arena *arena, struct run_info **ret_infos, size_t *ret_count, struct err *err)
{
    return run_info_list(runner->config.agent_domain, agent_id, before, limit, arena, ret_infos,
                         ret_count, err);
}

/* ---- public events again ---- */

struct telling {
    struct domain *domain;
    struct str thread_id;
    int64_t after;
    bool (*fn)(void *arg, const struct run_public *event);
    void *arg;
    struct arena arena, content; /* of the run; of the row */
    struct run_record run;       /* the one the last row belonged to */
    struct err *err;
    bool failed;
};

/* false: enough, or it failed. */
static bool tell_before(struct telling *t, const struct run_event_row *row)
{
    AUTO_BUF json = BUF_INIT(LIMIT_JSON_BYTES);
    struct run_public public;

    if (!run_public_has_before(row) || row->seq - 1 <= t->after)
        return true;
    if (run_public_before(&json, &t->run, t->thread_id, row, t->err) < 0) {
        t->failed = true;
        return false;
    }
    public = (struct run_public){ .thread_id = t->thread_id,
                                  .run_id = t->run.run_key,
                                  .seq = row->seq - 1,
                                  .type = "memory_edit_complete",
                                  .json = buf_str(&json) };
    return t->fn(t->arg, &public);
}

static bool tell(void *arg, const struct run_event_row *row)
{
    struct telling *t = arg;
    AUTO_BUF json = BUF_INIT(LIMIT_JSON_BYTES);
    struct run_named named;
    struct run_public public;

    if (t->run.n != row->run_n) {
        arena_reset(&t->arena);
        t->failed = run_load_n(t->domain, row->run_n, &t->arena, &t->run, t->err) <= 0;
    }
    arena_reset(&t->content);
    if (!t->failed && !tell_before(t, row))
        return false;
    if (t->failed ||
        run_content_load(t->domain, &row->event, row->ref, &t->content, &named, t->err) < 0 ||
        run_public_write(&json, &t->run, t->thread_id, row, named.is_message, named.is_item,
                         t->err) < 0) {
        t->failed = true;
        return false;
    }
    public = (struct run_public){ .thread_id = t->thread_id,
                                  .run_id = t->run.run_key,
                                  .seq = row->seq,
                                  .type = run_public_type(&row->event, named.is_item),
                                  .json = buf_str(&json) };
    return t->fn(t->arg, &public);
}

int run_events_after(struct runner *runner, struct str thread_id, struct str run_id, int64_t after,
                     bool (*fn)(void *arg, const struct run_public *event), void *arg,
                     struct err *err)
{
    struct domain *domain = runner->config.agent_domain;
    struct telling t = { .domain = domain,
                         .after = after,
                         .fn = fn,
                         .arg = arg,
                         .arena = ARENA_INIT,
                         .content = ARENA_INIT,
                         .err = err };
    AUTO_ARENA arena = ARENA_INIT;
    struct thread thread;
    struct run_record run = { .n = 0 };
    int r;

    if (run_id.n && run_record_get(domain, run_id, &arena, &run, err) < 0)
        return -1;
    r = thread_find(domain, thread_id, &arena, &thread, err);
    if (r <= 0)
        return r < 0 ? -1
                     : err_set(err, ERR_NOT_FOUND, "there is no thread %.*s", STR_ARG(thread_id));
    t.thread_id = thread.id;
    r = run_events_public_after(domain, thread.n, run.n, after, 0, tell, &t, err);
    arena_release(&t.arena);
    arena_release(&t.content);
    return r < 0 || t.failed ? -1 : 0;
}
