/* Replay: the log against the program, the chain, and what its rows refer to.
 *
 * Rows are read one at a time. Each must be of this run's thread, refer to content that still has
 * the digest it had, carry the link that follows from all rows before it, and be what the program
 * does next: forced through the tables, an event from outside must be acceptable and any other must
 * be exactly what they select. A unit is stored whole, so after the last row nothing may be left to
 * select.
 *
 * SPDX-License-Identifier: MIT
 */
#include "agent/inbox.h"
#include "base/hash.h"
#include "base/json.h"
#include "bp/engine.h"
#include "memory/message.h"
#include "run/chain.h"
#include "run/content.h"
#include "run/log_int.h"
#include "run/program.h"
#include "run/resume.h"
#include "run/rules.h"
#include "run/run.h"
#include "run/seal.h"

struct replay {
    struct domain *domain;
    struct run_rulebook rules;
    const struct bp_program *program; /* that the rows at hand were recorded with */
    struct run_record run;
    struct bp_engine *engine;
    struct run_past past;
    uint8_t hash[BP_HASH_BYTES]; /* of the rules that the log named last */
    uint8_t chain[RUN_CHAIN_BYTES];
    int64_t operation_of[RUN_CALLS_MAX + 1]; /* by key, the last one that acted */
    struct arena arena;                      /* of a row */
    struct run_replay_report report;
    bool other_program; /* need not be the one recorded */
    bool decreed;       /* ended without asking the program (end.c) */
    bool failed;
    struct err *err;
};

/* "row 12 of run 3fa9c2d1, act(1, risky)" in front of what is in err. */
static int at_row(const struct replay *r, const struct run_event_row *row)
{
    AUTO_BUF event = BUF_INIT(256);

    if (row->event.type && row->event.type < run_program.type_count)
        bp_event_text(r->program, &row->event, &event);
    else
        buf_printf(&event, "type %u", row->event.type);
    return err_wrap(r->err, "row %lld of run %.*s, %s", (long long)r->report.rows + 1,
                    STR_ARG(str_take(r->run.run_key, 8)), buf_text(&event));
}

/* ---- the start ---- */

/* An engine of the rules that hold from this row on. */
static int take_rules(struct replay *r, const struct run_event_row *row)
{
    struct run_change change;

    if (run_change_read(row->data, &change, r->err) < 0)
        return -1;
    memcpy(r->hash, change.hash, BP_HASH_BYTES);
    if (!r->other_program && run_rulebook_get(&r->rules, change.hash, &r->program, r->err) < 0)
        return -1;
    bp_free(r->engine);
    r->engine = NULL;
    if (run_engine(r->program, r->run.settings, NULL, NULL, &r->engine, r->err) < 0)
        return -1;
    return row->event.type == RUN_EV_POLICY
               ? run_change_follow(r->engine, &r->past, &change, r->err)
               : 0;
}

/* Guards are swapped between two steps, while the run goes on. */
static int change_rules(struct replay *r, const struct run_event_row *row)
{
    struct bp_event next;

    if (r->decreed || r->report.ended || bp_next(r->engine, &next, NULL))
        return err_set(r->err, ERR_INTEGRITY_FAILED, "the rules can't change here");
    r->report.policy_changes++;
    return take_rules(r, row);
}

/* The first row says with which rules and limits. */
static int begin(struct replay *r, const struct run_event_row *row)
{
    AUTO_JSON data = NULL;
    AUTO_JSON kept = NULL;

    if (row->event.type != RUN_EV_START)
        return err_set(r->err, ERR_INTEGRITY_FAILED, "the log does not begin with a start");
    if (json_parse(row->data, &data, r->err) < 0 || json_parse(r->run.settings, &kept, r->err) < 0)
        return err_wrap(r->err, "how it was started");
    if (!json_equal(json_find(data, "settings"), kept))
        return err_set(r->err, ERR_INTEGRITY_FAILED,
                       "the settings of the run are not those it was started with");
    return take_rules(r, row);
}

/* ---- what a row refers to ---- */

/* The ledger's entry of an act has no digest; but the result names it, and has one. */
static int check_operation(struct replay *r, const struct run_event_row *row)
{
    struct operation operation;
    int found = operation_load(r->domain, row->ref, &r->arena, &operation, r->err);

    if (found < 0)
        return -1;
    if (found == 0 || operation.run_n != r->run.n)
        return err_set(r->err, ERR_INTEGRITY_FAILED, "operation %lld is not one of this run",
                       (long long)row->ref);
    r->operation_of[row->event.key] = row->ref;
    return 0;
}

static int check_result(const struct replay *r, const struct run_event_row *row,
                        const struct message *message)
{
    if (row->event.type != RUN_EV_ACTED || message->operation_n == r->operation_of[row->event.key])
        return 0;
    return err_set(r->err, ERR_INTEGRITY_FAILED,
                   "its result is of operation %lld, but operation %lld acted",
                   (long long)message->operation_n, (long long)r->operation_of[row->event.key]);
}

static int digest_content(struct replay *r, const struct run_event_row *row,
                          uint8_t ret_digest[RUN_DIGEST_BYTES])
{
    enum run_content kind = row->ref ? run_content_kind(&row->event) : RUN_CONTENT_NONE;
    struct message message;
    struct inbox_item item;

    if (kind == RUN_CONTENT_MESSAGE) {
        if (message_get_n(r->domain, row->ref, &r->arena, &message, r->err) < 0)
            return -1;
        run_content_digest(&row->event, &message, NULL, ret_digest);
        return check_result(r, row, &message);
    }
    if (kind == RUN_CONTENT_INBOX) {
        if (inbox_get_n(r->domain, row->ref, &r->arena, &item, r->err) < 0) {
            if (r->err->code == ERR_NOT_FOUND)
                r->err->code = ERR_INTEGRITY_FAILED;
            return -1;
        }
        run_content_digest(&row->event, NULL, &item, ret_digest);
        return 0;
    }
    run_content_digest(&row->event, NULL, NULL, ret_digest);
    if (row->event.type == RUN_EV_ACT)
        return check_operation(r, row);
    if (row->ref)
        return err_set(r->err, ERR_INTEGRITY_FAILED, "it refers to %lld, such events to nothing",
                       (long long)row->ref);
    return 0;
}

static int check_link(struct replay *r, const struct run_event_row *row)
{
    struct run_link link = { .type = row->event.type,
                             .key = row->event.key,
                             .bits = row->event.bits,
                             .seq = row->seq,
                             .data = row->data,
                             .at = row->at };

    if (digest_content(r, row, link.content) < 0)
        return -1;
    run_chain_next(r->chain, &link, r->chain);
    if (memcmp(r->chain, row->chain, RUN_CHAIN_BYTES) != 0)
        return err_set(r->err, ERR_INTEGRITY_FAILED,
                       "the chain breaks here: this row, what it refers to, or the row before it "
                       "is not as it was recorded");
    return 0;
}

/* ---- the program ---- */

/* What follows is what it takes to end the run, and nothing after it. */
static bool is_decree(const struct run_event_row *row)
{
    AUTO_JSON data = NULL;

    return row->event.type == RUN_EV_NOTE && json_parse(row->data, &data, NULL) == 0 &&
           str_is(json_str(json_find(data, "note")), RUN_NOTE_ENDED);
}

static int check_decreed(const struct replay *r, const struct run_event_row *row)
{
    uint8_t type = row->event.type;

    if (!r->report.ended &&
        (type == RUN_EV_SETTLED || type == RUN_EV_GIVE_UP || type == RUN_EV_DONE))
        return 0;
    return err_set(r->err, ERR_INTEGRITY_FAILED, "it can't come after the end of the run");
}

static int check_selected(struct replay *r, const struct run_event_row *row)
{
    struct bp_refusal refusal;
    AUTO_BUF why = BUF_INIT(512);

    if (row->event.type == RUN_EV_POLICY && !r->other_program)
        return change_rules(r, row);
    if (r->decreed && check_decreed(r, row) < 0)
        return -1;
    if (!r->decreed && bp_force(r->engine, &row->event, &refusal) < 0) {
        bp_refusal_text(r->program, &row->event, &refusal, &why);
        return err_set(r->err, ERR_INTEGRITY_FAILED, "%s", buf_text(&why));
    }
    r->report.selected += !(run_program.types[row->event.type].flags & BP_EXT);
    r->report.ended = row->event.type == RUN_EV_DONE;
    if (r->report.ended && r->run.ended_at &&
        run_seal_check(&r->run, row->data, row->at, r->err) < 0)
        return -1;
    r->decreed = r->decreed || is_decree(row);
    return 0;
}

static int check_place(const struct replay *r, const struct run_event_row *row)
{
    if (!row->event.type || row->event.type >= run_program.type_count)
        return err_set(r->err, ERR_INTEGRITY_FAILED, "there is no such event");
    if (row->event.key > RUN_CALLS_MAX)
        return err_set(r->err, ERR_INTEGRITY_FAILED, "there is no such call");
    if (row->thread_n != r->run.thread_n)
        return err_set(r->err, ERR_INTEGRITY_FAILED, "it is of thread %lld, the run is of %lld",
                       (long long)row->thread_n, (long long)r->run.thread_n);
    return 0;
}

static bool check_row(void *arg, const struct run_event_row *row)
{
    struct replay *r = arg;

    if (check_place(r, row) < 0 || (!r->engine && begin(r, row) < 0) || check_link(r, row) < 0 ||
        check_selected(r, row) < 0) {
        at_row(r, row);
        r->failed = true;
    }
    run_past_add(&r->past, &row->event);
    arena_reset(&r->arena);
    r->report.rows++;
    return !r->failed;
}

/* ---- the end ---- */

static int check_end(struct replay *r)
{
    AUTO_BUF next = BUF_INIT(256);
    struct bp_event event;
    struct bp_place by;

    if (!r->engine)
        return r->run.ended_at ? err_set(r->err, ERR_INTEGRITY_FAILED,
                                         "the run has ended, and its log is empty")
                               : 0;
    if (!r->other_program &&
        !str_eq(r->run.program_hash, str_of((const char *)r->hash, BP_HASH_BYTES)))
        return err_set(r->err, ERR_INTEGRITY_FAILED,
                       "the rules of the run are not those that its log names last");
    if (!r->decreed && bp_next(r->engine, &event, &by)) {
        bp_event_text(r->program, &event, &next);
        return err_set(r->err, ERR_INTEGRITY_FAILED,
                       "the log stops after %lld rows, before %s, which comes next",
                       (long long)r->report.rows, buf_text(&next));
    }
    if (r->report.ended && (!r->run.ended_at || run_status_open(r->run.status)))
        return err_set(r->err, ERR_INTEGRITY_FAILED,
                       "the log ends with a done, and the run has not ended");
    if (r->run.ended_at && !r->report.ended)
        return err_set(r->err, ERR_INTEGRITY_FAILED,
                       "the run has ended, and its log stops after %lld rows without a done",
                       (long long)r->report.rows);
    return 0;
}

static int replay(struct replay *r, int64_t run_n)
{
    AUTO_ARENA kept = ARENA_INIT;
    int found = run_load_n(r->domain, run_n, &kept, &r->run, r->err);
    int result = -1;

    if (found == 0)
        return err_set(r->err, ERR_NOT_FOUND, "there is no run %lld", (long long)run_n);
    if (found == 1 && run_events_of_run(r->domain, run_n, check_row, r, r->err) == 0 && !r->failed)
        result = check_end(r);
    bp_free(r->engine);
    run_past_release(&r->past);
    run_rulebook_release(&r->rules);
    arena_release(&r->arena);
    return result;
}

int run_replay_check(struct domain *agent_domain, int64_t run_n, const struct bp_program *program,
                     struct run_replay_report *ret_report, struct err *err)
{
    struct replay r = {
        .domain = agent_domain, .program = program, .arena = ARENA_INIT, .err = err
    };

    run_rulebook_init(&r.rules, agent_domain, program, STR_NONE);
    if (replay(&r, run_n) < 0)
        return -1;
    *ret_report = r.report;
    return 0;
}

int run_replay_with(struct domain *agent_domain, int64_t run_n, const struct bp_program *program,
                    struct run_replay_report *ret_report, struct err *err)
{
    struct replay r = { .domain = agent_domain,
                        .program = program,
                        .arena = ARENA_INIT,
                        .other_program = true,
                        .err = err };

    if (replay(&r, run_n) < 0)
        return -1;
    *ret_report = r.report;
    return 0;
}

/* ---- rows as they are ---- */

struct each {
    bool (*fn)(void *arg, const struct run_row *row);
    void *arg;
};

static bool pass_on(void *arg, const struct run_event_row *row)
{
    const struct each *each = arg;
    struct run_row shown = { .n = row->n,
                             .seq = row->seq,
                             .event = row->event,
                             .ref = row->ref,
                             .at = row->at,
                             .data = row->data };

    memcpy(shown.chain, row->chain, sizeof(shown.chain));
    return each->fn(each->arg, &shown);
}

int run_log_each(struct domain *agent_domain, int64_t run_n,
                 bool (*fn)(void *arg, const struct run_row *row), void *arg, struct err *err)
{
    struct each each = { .fn = fn, .arg = arg };

    return run_events_of_run(agent_domain, run_n, pass_on, &each, err);
}
