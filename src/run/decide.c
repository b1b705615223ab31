/* A person's word on an inbox item: stored and told to the run in one unit.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/json.h"
#include "base/json_put.h"
#include "base/utf8.h"
#include "run/run_int.h"

#define DECIDE_TRIES 8 /* while other hosts move the run */

#define ANSWER_BYTES (1 * MIB)

static int refuse_verb(const struct inbox_item *item, const char *allowed, struct err *err)
{
    return err_set(err, ERR_BAD_REQUEST,
                   "an item of kind %s can't be decided like this; it takes: %s",
                   inbox_kind_name(item->kind), allowed);
}

static bool is_end(enum inbox_state state)
{
    return state == INBOX_REJECTED || state == INBOX_EXPIRED || state == INBOX_WITHDRAWN;
}

/* As it will be kept: what is nested too deeply there could never be read again. */
static int check_answer(struct str answer, struct err *err)
{
    AUTO_BUF kept = BUF_INIT(ANSWER_BYTES + 64);
    AUTO_JSON alone = NULL;
    AUTO_JSON value = NULL;

    if (json_parse(answer, &alone, err) < 0)
        return err_wrap(err, "the answer");
    buf_add_str(&kept, STR("{\"output\":{\"answer\":"));
    buf_add_str(&kept, answer);
    buf_add_str(&kept, STR("}}"));
    if (json_parse(buf_str(&kept), &value, err) < 0)
        return err_wrap(err, "the answer, as it is kept");
    return 0;
}

/* bad_request, with those there are. */
static int no_choice(struct json_object *choices, struct str said, struct err *err)
{
    AUTO_BUF list = BUF_INIT(2048);

    for (size_t i = 0; i < json_length(choices); i++)
        buf_printf(&list, "%s%zu is \"%.*s\"", i ? ", " : "", i + 1,
                   STR_ARG(utf8_truncate(json_str(json_object_array_get_idx(choices, i)), 80)));
    return err_set(err, ERR_BAD_REQUEST, "there is no choice %.*s: %s%s",
                   STR_ARG(utf8_truncate(said, 20)), buf_text(&list), list.full ? ", ..." : "");
}

/* A number stands for a choice: one that no choice has is a slip. Words may be any. */
static int check_choice(struct str question, struct str answer, struct err *err)
{
    AUTO_JSON body = NULL;
    AUTO_JSON given = NULL;
    struct json_object *choices;
    struct str said;
    int64_t n = 0;

    if (json_parse(question, &body, NULL) < 0 || json_parse(answer, &given, NULL) < 0)
        return 0;
    choices = json_find(body, "choices");
    said = json_object_is_type(given, json_type_string) ? str_trim(json_str(given)) : answer;
    if (!json_object_is_type(choices, json_type_array) || !json_length(choices) ||
        str_to_i64(said, &n) < 0 || (n >= 1 && (size_t)n <= json_length(choices)))
        return 0;
    for (size_t i = 0; i < json_length(choices); i++)
        if (str_eq(json_str(json_object_array_get_idx(choices, i)), said))
            return 0;
    return no_choice(choices, said, err);
}

static int check_verb(const struct inbox_item *item, const struct inbox_decision *decision,
                      struct err *err)
{
    enum inbox_state state = decision->state;

    if (item->kind == INBOX_ESCALATED && state == INBOX_REJECTED)
        return err_set(err, ERR_BAD_REQUEST,
                       "there is nothing to reject: it tells of something that was done; approve "
                       "says that you have seen it");
    if (is_end(state))
        return 0;
    if (decision->answer.n > ANSWER_BYTES)
        return err_set(err, ERR_TOO_LARGE, "the answer has %zu bytes; at most %u are allowed",
                       decision->answer.n, ANSWER_BYTES);
    if (decision->scope != INBOX_ONCE && (state != INBOX_APPROVED || !item->pattern.n))
        return err_set(err, ERR_BAD_REQUEST, "%.*s is decided each time: its scope is once",
                       STR_ARG(item->kind == INBOX_MEMORY           ? STR("a change of memory")
                               : item->kind == INBOX_AGENT_PROPOSAL ? STR("a new agent")
                               : state == INBOX_EDITED              ? STR("an edited call")
                               : item->tool_name.n                  ? item->tool_name
                                                                    : STR("this item")));
    switch (item->kind) {
    case INBOX_MEMORY:
    case INBOX_AGENT_PROPOSAL:
    case INBOX_SKILL_SCRIPT:
    case INBOX_TOOL:
        if (state == INBOX_APPROVED || state == INBOX_EDITED)
            return 0;
        return refuse_verb(item, "approve, reject, edit", err);
    case INBOX_QUESTION:
        if (state == INBOX_ANSWERED)
            return check_answer(decision->answer, err) < 0
                       ? -1
                       : check_choice(item->body, decision->answer, err);
        return refuse_verb(item, "answer, reject", err);
    case INBOX_UNKNOWN_EFFECT:
        if (state == INBOX_APPROVED || state == INBOX_ANSWERED)
            return 0;
        return refuse_verb(item, "approve (do it again), reject (leave it), answer", err);
    case INBOX_ESCALATED:
        if (state == INBOX_APPROVED)
            return 0;
        return refuse_verb(item, "approve (seen)", err);
    default:
        return 0;
    }
}

static int refuse_danger(const struct buf *danger, struct err *err)
{
    if (!danger->n && !danger->full)
        return 0;
    return err_set(err, ERR_CONFIRMATION_REQUIRED,
                   "%s%s A yes to this needs the word anyway as well.", buf_text(danger),
                   danger->full ? "..." : "");
}

/* The second step, whichever door the yes comes through: what is dangerous was read, and is meant.
 */
static int check_danger(const struct inbox_item *item, const struct inbox_decision *decision,
                        struct err *err)
{
    AUTO_BUF danger = BUF_INIT(ERR_TEXT_MAX / 2);
    bool yes = decision->state == INBOX_APPROVED || decision->state == INBOX_EDITED;

    if (!yes || decision->anyway || item->state != INBOX_PENDING)
        return 0;
    inbox_danger(item, &danger);
    return refuse_danger(&danger, err);
}

/* ---- what it means for the call ---- */

static void remember_no(struct run_call *call, const struct inbox_item *item)
{
    call->no_code = item->state == INBOX_EXPIRED     ? ERR_EXPIRED
                    : item->state == INBOX_WITHDRAWN ? ERR_WITHDRAWN
                                                     : ERR_REJECTED;
    call->no_message = item->reason.n ? arena_str(&call->arena, item->reason)
                                      : str_from(err_sentence(call->no_code));
}

/* What the item offered, and nothing that is worked out anew. */
static int add_grant(struct run_call *call, const struct inbox_item *item, struct err *err)
{
    struct run *run = call->run;
    char id[UUID_TEXT_SIZE];
    struct approval_grant grant = {
        .agent_n = run->agent.n,
        .run_n = item->scope == INBOX_FOR_RUN ? run->row.n : 0,
        .tool_name = call->name,
        .pattern = item->pattern,
        .inbox_id = item->id,
        .granted_by = item->decided_by,
        .created_at = run->unit.now,
    };

    if (item->scope == INBOX_ONCE)
        return 0;
    uuid_next_text(&run->runner->uuids, id);
    grant.id = str_from(id);
    return grant_add(run->runner->config.agent_domain, &grant, err);
}

/* Who writes the arguments has said yes to them. */
static int apply_edit(struct run_call *call, const struct inbox_item *item,
                      const struct run_said *said, struct err *err)
{
    struct run *run = call->run;

    call->edit_n = item->n;
    if (call->operation_n && operation_settle(run->runner->config.agent_domain, call->operation_n,
                                              STR("edited"), run->unit.now, err) < 0)
        return -1;
    call->operation_n = 0;
    call->attempted = false;
    if (run_offer(run, RUN_EV_EDIT, call->key, run_call_bits(&call->verdict), said, err) < 0)
        return -1;
    if (!call->live || !run_call_needs_preview(call))
        return 0;
    return run_offer(run, RUN_EV_ANSWER, call->key, RUN_ALLOWED, said, err);
}

static int apply_tool(struct run_call *call, const struct inbox_item *item, struct err *err)
{
    const struct run_said said = { .ref = item->n, .item = item };

    if (item->state == INBOX_EDITED)
        return apply_edit(call, item, &said, err);
    if (item->state == INBOX_APPROVED) {
        if (add_grant(call, item, err) < 0)
            return -1;
        return run_offer(call->run, RUN_EV_ANSWER, call->key, RUN_ALLOWED, &said, err);
    }
    remember_no(call, item);
    return run_offer(call->run, RUN_EV_ANSWER, call->key, 0, &said, err);
}

static int apply_question(struct run_call *call, const struct inbox_item *item, struct err *err)
{
    struct tool_result result = { .err = ERR_INIT };
    AUTO_BUF output = BUF_INIT(LIMIT_JSON_BYTES);
    struct json_writer w = JSON_WRITER(&output);

    call->asked = false;
    if (item->state != INBOX_ANSWERED) {
        remember_no(call, item);
        err_set(&result.err, call->no_code, "%.*s", STR_ARG(call->no_message));
    } else {
        json_write_object_begin(&w);
        json_put_raw(&w, "answer", item->answer);
        json_write_object_end(&w);
        result.output = buf_str(&output);
    }
    return run_call_result(call, &result, err);
}

static int apply_unknown(struct run_call *call, const struct inbox_item *item, struct err *err)
{
    const struct run_said said = { .ref = item->n, .item = item };
    bool again = item->state == INBOX_APPROVED;

    call->acting = call->unknown = false;
    if (!again) {
        call->no_code = ERR_EFFECT_UNKNOWN;
        call->no_message = str_from(arena_printf(
            &call->arena, "It is not known whether this was done. The person says: %.*s",
            STR_ARG(item->answer.n   ? item->answer
                    : item->reason.n ? item->reason
                                     : STR("do not repeat it"))));
    }
    return run_offer(call->run, RUN_EV_TOLD, call->key, again ? RUN_AGAIN : 0, &said, err);
}

/* The call that waits for it, as the log says; what the item itself says must be the same. */
int run_decision_call(const struct run *run, const struct inbox_item *item,
                      struct run_call **ret_call, struct err *err)
{
    struct run_call *call;

    run_each_call (run, call) {
        if (!call->live || call->inbox_n != item->n)
            continue;
        *ret_call = call;
        return run_check_item(call, item, err);
    }
    return err_set(err, ERR_CONFLICT, "the run no longer waits for the item %.*s",
                   STR_ARG(item->id));
}

int run_decision_apply(struct run *run, const struct inbox_item *item, struct err *err)
{
    struct run_call *call;

    if (run_decision_call(run, item, &call, err) < 0)
        return -1;
    switch (item->kind) {
    case INBOX_QUESTION:
        return apply_question(call, item, err);
    case INBOX_UNKNOWN_EFFECT:
        return apply_unknown(call, item, err);
    default:
        return apply_tool(call, item, err);
    }
}

/* ---- edited arguments ---- */

/* The call as it was, when a decision is not taken; what its arena got since stays there. */
static void put_back(struct run_call *call, const struct run_call *before)
{
    struct arena arena = call->arena;

    run_call_uncount(call);
    *call = *before;
    call->arena = arena;
}

/* Judged before anything is stored: a mistake in them is the person's to mend. */
int run_decision_edit(struct run_call *call, struct str arguments, struct err *err)
{
    AUTO_JSON value = NULL;
    struct run_call before = *call;

    if (json_parse(arguments, &value, err) < 0)
        return err_wrap(err, "the edited arguments");
    if (!json_object_is_type(value, json_type_object))
        return err_set(err, ERR_BAD_REQUEST, "the edited arguments must be a JSON object");
    call->shown = call->arguments;
    call->arguments = arena_str(&call->arena, arguments);
    call->problem = STR_NONE;
    call->by_person = true;
    if (run_call_count(call, err) < 0)
        return -1;
    if (!(call->verdict.attributes & (TOOL_REFUSED | TOOL_DANGEROUS)))
        return 0;
    err_set(err, call->verdict.code, "the edited arguments: %s", call->verdict.message);
    put_back(call, &before);
    return -1;
}

/* ---- deciding ---- */

static int decide_alone(struct runner *runner, struct str id, const struct inbox_decision *decision,
                        struct err *err)
{
    AUTO_ARENA arena = ARENA_INIT;
    struct inbox_item item;
    int r;

    if (loop_unit_begin(runner->config.loop, runner->config.agent_domain, err) < 0)
        return -1;
    r = inbox_decide(runner->config.agent_domain, runner->config.change, id, decision,
                     clock_wall_ms(loop_clock(runner->config.loop)), &item, &arena, err);
    if (loop_unit_end(runner->config.loop, r >= 0, r >= 0 ? err : NULL) < 0)
        return -1;
    return r;
}

/* As the agent is now: it may have been paused, or resumed, since the run was loaded. */
static int check_agent(struct run *run, const struct run_call *call, struct err *err)
{
    const struct tool_contract *contract = call->verdict.contract;
    const struct kill_switches *kill = run->runner->config.kill;
    const struct kill_switch *on =
        kill_is_on(kill, run->agent.id, contract ? contract->tool_class : NULL);
    AUTO_ARENA arena = ARENA_INIT;
    struct agent agent;

    if (on)
        return kill_refuse(on, err);
    if (agent_get_n(run->runner->config.agent_domain, run->agent.n, &arena, &agent, err) < 0)
        return -1;
    run->agent.paused = agent.paused;
    return run_may_begin(&agent, kill, err);
}

/* A yes that could not be followed now is not taken: what waits keeps waiting. */
static int refuse_held(struct run *run, const struct run_call *call,
                       const struct inbox_decision *decision, struct err *err)
{
    if (is_end(decision->state) || check_agent(run, call, err) == 0)
        return 0;
    return err_wrap(err, "it keeps waiting");
}

int run_decision_check(struct run_call *call, const struct inbox_decision *decision,
                       struct err *err)
{
    AUTO_BUF danger = BUF_INIT(ERR_TEXT_MAX / 2);
    const struct run_call before = *call;
    struct tool_call edited;

    if (refuse_held(call->run, call, decision, err) < 0)
        return -1;
    if (decision->state != INBOX_EDITED)
        return 0;
    if (run_decision_edit(call, decision->answer, err) < 0)
        return -1;
    /* What the person wrote, or pasted, is judged as what the agent wrote was. */
    run_call_tool(call, &edited);
    if (!decision->anyway)
        tool_danger(call->run->runner->config.tools, &edited, &danger);
    if (refuse_danger(&danger, err) == 0)
        return 0;
    err_wrap(err, "the edited arguments");
    put_back(call, &before);
    return -1;
}

static int decide_in_unit(struct run *run, const struct inbox_item *item,
                          const struct inbox_decision *decision, struct err *err)
{
    struct inbox_item decided;
    int r;

    if (run_unit_begin(run, err) < 0)
        return -1;
    r = inbox_decide(run->runner->config.agent_domain, run->runner->config.change, item->id,
                     decision, run->unit.now, &decided, &run->scratch, err);
    if (r > 0 && run_decision_apply(run, &decided, err) < 0)
        r = -1;
    if (run_unit_end(run, r > 0, err) < 0)
        return -1;
    return r;
}

static int decide_in_run(struct run *run, const struct inbox_item *item,
                         const struct inbox_decision *decision, struct err *err)
{
    struct run_call *call;
    struct run_call before;
    int r;

    if (run_follow_kill(run, err) < 0 || run_decision_call(run, item, &call, err) < 0)
        return -1;
    before = *call;
    if (run_decision_check(call, decision, err) < 0)
        return -1;
    r = decide_in_unit(run, item, decision, err);
    if (r <= 0 && call->live && decision->state == INBOX_EDITED)
        put_back(call, &before);
    return r;
}

/* Nobody will go on with it; else, where the run could not be opened because of a conflict, it is
 * under way on another host. */
static bool is_over(struct runner *runner, struct str run_id, enum err_code why,
                    struct arena *arena)
{
    struct run_record row;

    if (why == ERR_NOT_FOUND || run_is_final(why))
        return true;
    return why == ERR_CONFLICT &&
           run_record_get(runner->config.agent_domain, run_id, arena, &row, NULL) == 0 &&
           row.ended_at;
}

static int decide_now(struct runner *runner, const struct inbox_item *item,
                      const struct inbox_decision *decision, struct arena *arena, struct err *err)
{
    struct run *run;
    int r;

    /* Nobody waits for what was escalated. */
    if (!item->run_n || item->state != INBOX_PENDING || item->kind == INBOX_ESCALATED)
        return decide_alone(runner, item->id, decision, err);
    if (run_open(runner, item->run_id, &run, err) < 0) {
        bool over = is_over(runner, item->run_id, err->code, arena);
        bool elsewhere = !over && runner->fence && err->code == ERR_CONFLICT;

        if (!elsewhere && (!over || !is_end(decision->state)))
            return -1;
        err_reset(err);
        return elsewhere ? run_decide_elsewhere(runner, item, decision, err)
                         : decide_alone(runner, item->id, decision, err);
    }
    r = decide_in_run(run, item, decision, err);
    if (r < 0 && err->code == ERR_INTEGRITY_FAILED)
        run_give_back(run); /* it waits for what can't be decided: loaded again, it ends */
    run_unhold(run);
    return r;
}

int run_decide(struct runner *runner, struct str item_id, const struct inbox_decision *decision,
               struct err *err)
{
    struct domain *domain = runner->config.agent_domain;
    AUTO_ARENA arena = ARENA_INIT;
    struct inbox_item item;
    int r;

    if (inbox_get(domain, item_id, &arena, &item, err) < 0 ||
        check_verb(&item, decision, err) < 0 || check_danger(&item, decision, err) < 0)
        return -1;
    r = decide_now(runner, &item, decision, &arena, err);
    /* The same moment on another host: what was decided there may be just this, or the run waits
     * now and can be had, or goes on by now. */
    for (int tries = 1; r < 0 && err->code == ERR_LEASE_LOST && tries < DECIDE_TRIES; tries++) {
        if (inbox_get(domain, item_id, &arena, &item, NULL) < 0)
            return -1;
        err_reset(err);
        r = decide_now(runner, &item, decision, &arena, err);
    }
    return r;
}
