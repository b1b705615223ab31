/* Acting: a tool is started, its result recorded, the ledger settled.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdint.h>
#include <stdlib.h>

#include "agent/link.h"
#include "base/json.h"
#include "base/json_put.h"
#include "base/log.h"
#include "base/utf8.h"
#include "run/run_int.h"
#include "sandbox/hand.h"

#define TITLE_BYTES 200 /* of a question */

void run_call_release(struct run_call *call)
{
    struct run *run = call->run;

    arena_release(&call->arena);
    *call = (struct run_call){ .run = run, .key = call->key };
}

int run_hand_take(struct run_call *call, struct hand **ret_hand, struct err *err)
{
    struct run *run = call->run;

    *ret_hand = NULL;
    if (!call->verdict.contract ||
        !tool_bed_uses_hand(run->runner->config.tools, call->verdict.contract))
        return 0;
    if (run->bounds_err.code) {
        *err = run->bounds_err;
        return -1;
    }
    if (hands_get(run->runner->hands, run->row.run_key, &run->bounds.sandbox, run->row.hand_state,
                  ret_hand, err) < 0)
        return -1;
    call->holds_hand = true;
    return 0;
}

void run_hand_rest(struct run_call *call)
{
    if (call->holds_hand && call->run->runner->hands)
        hands_rest(call->run->runner->hands, call->run->row.run_key);
    call->holds_hand = false;
}

/* Where the run's hand stands: `cd` moves it. */
static const char *hand_directory(struct run *run, struct arena *arena)
{
    struct hand *hand =
        run->runner->hands ? hands_find(run->runner->hands, run->row.run_key) : NULL;
    struct str state = hand ? hand_state(hand) : STR_NONE;
    AUTO_JSON value = NULL;
    struct str directory;

    if (!state.n)
        state = run->row.hand_state;
    if (!state.n || json_parse(state, &value, NULL) < 0)
        return run->cwd;
    directory = json_str(json_find(value, "cwd"));
    return directory.n ? arena_str(arena, directory).p : run->cwd;
}

void run_call_tool(struct run_call *call, struct tool_call *ret_call)
{
    struct run *run = call->run;

    *ret_call = (struct tool_call){
        .agent = &run->agent,
        .thread_id = run->thread.id,
        .run_id = run->row.run_key,
        .run_n = run->row.n,
        .wake_reason = run->row.wake_reason,
        .name = call->name,
        .arguments = call->arguments,
        .problem = call->problem,
        .occurrence = call->occurrence,
        .wiggum = bp_record(run->engine, 0) & RUN_WIGGUM,
        .taint = call->taint,
        .inbox_id = str_from(call->inbox_id),
        .edited = call->edit_n != 0 || call->by_person,
        .operation_id = call->attempted ? str_from(call->operation_id) : STR_NONE,
        .sandbox = run->bounds.sandbox,
    };
    ret_call->directory = hand_directory(run, &call->arena);
}

uint32_t run_call_bits(const struct tool_verdict *verdict)
{
    static const struct {
        uint32_t attribute, bit;
    } map[] = {
        { TOOL_RISKY, RUN_RISKY },         { TOOL_WAIVABLE, RUN_WAIVABLE },
        { TOOL_DANGEROUS, RUN_DANGEROUS }, { TOOL_REFUSED, RUN_REFUSED },
        { TOOL_SERIAL, RUN_SERIAL },       { TOOL_KILLED, RUN_CLASS_KILLED },
    };
    uint32_t bits = verdict->policy_bits;

    for (size_t i = 0; i < ARRAY_LEN(map); i++) {
        if (verdict->attributes & map[i].attribute)
            bits |= map[i].bit;
    }
    return run_judgement(bits);
}

/* Equal intents are told apart by their number: the ids of a second one are its own. */
int run_call_count(struct run_call *call, struct err *err)
{
    struct map *intents = &call->run->intents;
    struct str intent;
    uintptr_t n;

    call->occurrence = 0;
    if (run_call_judge(call, err) < 0)
        return -1;
    intent = str_from(call->verdict.intent_id);
    n = (uintptr_t)map_find(intents, intent);
    map_put(intents, intent, (void *)(n + 1));
    call->occurrence = (uint32_t)n;
    return n ? run_call_judge(call, err) : 0;
}

void run_call_uncount(struct run_call *call)
{
    struct map *intents = &call->run->intents;
    struct str intent = str_from(call->verdict.intent_id);

    map_remove(intents, intent);
    if (call->occurrence)
        map_put(intents, intent, (void *)(uintptr_t)call->occurrence);
}

int run_call_prepare(struct run_call *call, struct err *err)
{
    struct run *run = call->run;
    struct operation operation = {
        .operation_id = str_from(call->operation_id),
        .run_n = run->row.n,
        .action_stable_id = str_from(call->verdict.action_stable_id),
        .tool_name = call->name,
        .keyed = call->verdict.contract ? (enum operation_keyed)call->verdict.contract->keyed
                                        : OPERATION_UNKEYED,
        .created_at = run->unit.now,
    };

    if (call->operation_n)
        return 0;
    if (operation_prepare(run->runner->config.agent_domain, &operation, err) < 0)
        return -1;
    call->operation_n = operation.n;
    return 0;
}

/* ---- results as messages ---- */

static int append_result(struct run_call *call, struct message *message, const struct err *why,
                         struct str output, struct err *err)
{
    struct run *run = call->run;
    AUTO_BUF content = BUF_INIT(LIMIT_JSON_BYTES);
    struct json_writer w = JSON_WRITER(&content);
    char text[ERR_TEXT_MAX];

    json_write_object_begin(&w);
    if (output.n) {
        json_put_raw(&w, "output", output);
    }
    if (why->code) {
        message->status = STR("error");
        message->error_code = str_from(err_name(why->code));
        message->error_message =
            str_from(arena_text(&run->scratch, err_format(why, text, sizeof(text))));
        json_put_object(&w, "error");
        json_put_str(&w, "code", message->error_code);
        json_put_str(&w, "message", message->error_message);
        json_write_object_end(&w);
    } else {
        message->status = STR("success");
    }
    json_write_object_end(&w);
    if (json_write_end(&w) < 0)
        return err_set(err, ERR_TOO_LARGE, "the result is too long to keep");
    message->content = arena_str(&run->scratch, buf_str(&content));
    message->tool_name = call->name;
    message->call_id = call->call_id;
    message->action_ref_n = call->action_n;
    message->operation_n = call->operation_n;
    return run_message_append(run, message, err);
}

void run_call_why_not(const struct run_call *call, struct err *why)
{
    enum err_code code = call->unknown   ? ERR_EFFECT_UNKNOWN
                         : call->no_code ? call->no_code
                                         : run_stop_code(call->run);

    if (!code)
        code = ERR_CANCELLED;
    err_set(why, code, "%.*s",
            STR_ARG(call->no_message.n ? call->no_message : str_from(err_sentence(code))));
}

int run_call_refuse(struct run_call *call, struct run_said *said, struct message *message,
                    struct err *err)
{
    struct run *run = call->run;
    struct err why = ERR_INIT;

    run_call_why_not(call, &why);
    run_message_init(run, message, MESSAGE_TOOL_RESULT);
    /* Why a preview failed may be said in words of what it looked at. */
    if (call->fail_code && call->verdict.contract)
        message->taint = str_from(call->verdict.contract->output_taint);
    if (append_result(call, message, &why, STR_NONE, err) < 0)
        return -1;
    if (call->operation_n && !call->unknown &&
        operation_settle(run->runner->config.agent_domain, call->operation_n,
                         str_from(err_name(why.code)), run->unit.now, err) < 0)
        return -1;
    call->result_n = message->n;
    said->ref = message->n;
    said->message = message;
    return 0;
}

/* ---- what came back ---- */

/* So that a hand that takes over later knows what this one knew. */
static void keep_hand(struct run *run)
{
    struct hand *hand = hands_find(run->runner->hands, run->row.run_key);
    uint64_t stamp = 0;

    if (!hand)
        return;
    if (!str_eq(hand_state(hand), buf_str(&run->hand_state))) {
        buf_clear(&run->hand_state);
        buf_add_str(&run->hand_state, hand_state(hand));
        run->row.hand_state = buf_str(&run->hand_state);
    }
    run->row.hand_pid = hand_pid(hand, &stamp);
    run->row.hand_stamp = (int64_t)stamp;
    run->dirty = true;
}

/* From the result to each record that the act changed, so that somebody who looks at a record finds
 * who did what to it. */
static int link_effects(const struct run_call *call, const struct message *message, struct err *err)
{
    const struct runner_config *config = &call->run->runner->config;
    AUTO_BUF metadata = BUF_INIT(4 * KIB);
    struct json_writer w = JSON_WRITER(&metadata);
    AUTO_JSON ids = NULL;

    if (!message->changed_entity_ids.n)
        return 0;
    if (json_parse(message->changed_entity_ids, &ids, err) < 0)
        return err_wrap(err, "what %.*s changed", STR_ARG(call->name));
    json_write_object_begin(&w);
    json_put_text(&w, "agentId", call->run->agent.id);
    json_put_str(&w, "runId", call->run->row.run_key);
    json_put_str(&w, "toolName", call->name);
    json_write_object_end(&w);
    for (size_t i = 0; i < json_length(ids); i++) {
        const struct agent_link link = { .relation = AGENT_LINK_TOOL_EFFECT,
                                         .from_id = message->id,
                                         .to_id = json_str(json_object_array_get_idx(ids, i)),
                                         .metadata = buf_str(&metadata) };

        if (agent_link_id_valid(link.to_id) &&
            agent_link_add(config->agent_domain, config->change, &link, NULL, call->run->unit.now,
                           err) < 0)
            return -1;
    }
    return 0;
}

int run_call_result(struct run_call *call, const struct tool_result *result, struct err *err)
{
    struct run *run = call->run;
    struct message message;
    AUTO_BUF complete = BUF_INIT(LIMIT_JSON_BYTES);
    struct run_said said = { 0 };
    struct err why = result->err;
    enum err_code stop;

    stop = call->stop_code ? call->stop_code : run_stop_code(run);
    if (why.code == ERR_CANCELLED && stop) {
        err_reset(&why);
        err_set(&why, stop, "%s", err_sentence(stop));
    }
    run_message_init(run, &message, MESSAGE_TOOL_RESULT);
    message.changed_entity_ids = result->changed_entity_ids;
    message.changed_tokens = result->changed_tokens;
    message.taint = result->taint;
    if (append_result(call, &message, &why, result->output, err) < 0 ||
        link_effects(call, &message, err) < 0)
        return -1;
    if (operation_settle(run->runner->config.agent_domain, call->operation_n,
                         str_from(why.code ? err_name(why.code) : NULL), run->unit.now, err) < 0)
        return -1;
    call->result_n = message.n;
    call->acting = false;
    said.ref = message.n;
    said.message = &message;
    if (run_call_is_memory(call)) {
        run_memory_complete(call, why.code ? &why : NULL, &complete);
        said.data = buf_str(&complete);
    }
    keep_hand(run);
    return run_offer(run, RUN_EV_ACTED, call->key, why.code ? RUN_FAILED : 0, &said, err);
}

/* What is asked, on one line: an agent may ask more than one thing. */
static struct str question_title(struct str question, struct arena *arena)
{
    AUTO_JSON body = NULL;
    struct str text, line = STR_NONE;

    if (json_parse(question, &body, NULL) < 0)
        return STR("A question");
    text = str_trim(json_str(json_find(body, "question")));
    if (text.n)
        str_split(&text, '\n', &line);
    line = utf8_truncate(line, TITLE_BYTES);
    return line.n ? arena_str(arena, line) : STR("A question");
}

static int record_question(struct run_call *call, const struct tool_result *result, struct err *err)
{
    struct inbox_item item = { .title = question_title(result->question, &call->arena),
                               .body = result->question };
    struct run_said said = { 0 };

    if (run_item_add(call->run, call, INBOX_QUESTION, &item, err) < 0)
        return -1;
    call->asked = true;
    said.ref = item.n;
    said.item = &item;
    return run_offer(call->run, RUN_EV_ASKED, call->key, 0, &said, err);
}

/* The other side did not say whether it was done: a person may know. */
static bool is_unknown(const struct run_call *call, const struct tool_result *result)
{
    return result->err.code == ERR_EFFECT_UNKNOWN && call->verdict.contract &&
           call->verdict.contract->keyed == TOOL_UNKEYED;
}

static void take_result(struct run_call *call, const struct tool_result *result)
{
    struct run *run = call->run;
    struct err err = ERR_INIT;
    bool kept;

    if (run_unit_begin(run, &err) < 0) {
        run_give_back(run);
        return;
    }
    if (is_unknown(call, result))
        kept = run_call_ask_unknown(call, &err) == 0;
    else
        kept = (result->waits ? record_question(call, result, &err)
                              : run_call_result(call, result, &err)) == 0;
    run_unit_settle(run, kept, "a result was not taken", &err);
}

/* It can't be done to what is there now: the model hears of it, as of any other failure. */
static void failed_again(struct run_call *call)
{
    struct tool_result failed = { .err = ERR_INIT };
    const struct tool_contract *contract = call->verdict.contract;

    err_set(&failed.err, call->fail_code, "%.*s", STR_ARG(call->fail_message));
    failed.taint = str_from(contract ? contract->output_taint : NULL);
    take_result(call, &failed);
    run_unhold(call->run);
}

/* What nobody was asked about needs a yes now: no grant covers it, or it leads where nobody saw. */
static int judged_anew(struct run_call *call, struct err *err)
{
    struct run_said said = { 0 };

    if (bp_record(call->run->engine, call->key) & RUN_RISKY)
        return 0;
    call->verdict.attributes |= TOOL_RISKY;
    return run_offer(call->run, RUN_EV_JUDGED, call->key, run_call_bits(&call->verdict), &said,
                     err);
}

/* Nothing was done: the target is not what was shown, or a grant does not cover the call. It is
 * shown anew before it is asked again. */
static void previewed_again(struct run_call *call)
{
    struct run *run = call->run;
    AUTO_BUF complete = BUF_INIT(LIMIT_JSON_BYTES);
    struct run_said said = { 0 };
    struct err err = ERR_INIT;
    struct err changed = ERR_INIT;
    bool kept = false;

    if (call->fail_code) {
        failed_again(call);
        return;
    }
    err_set(&changed, ERR_VERSION_CONFLICT, "the file was changed meanwhile: it is asked again");
    if (run_call_is_memory(call)) {
        run_memory_complete(call, &changed, &complete);
        said.data = buf_str(&complete);
    }
    if (run_unit_begin(run, &err) < 0) {
        run_give_back(run);
    } else {
        call->acting = false;
        kept = operation_settle(run->runner->config.agent_domain, call->operation_n, STR("stale"),
                                run->unit.now, &err) == 0 &&
               judged_anew(call, &err) == 0 &&
               run_offer(run, RUN_EV_ACTED, call->key, RUN_STALE, &said, &err) == 0;
        run_unit_settle(run, kept, "a call that is asked again was not taken", &err);
    }
    run_unhold(run);
}

static void acted(void *arg, const struct tool_result *result)
{
    struct run_call *call = arg;
    struct run *run = call->run;

    call->job = NULL;
    run_hand_rest(call);
    if (run->broken || run->runner->stopping) {
        run_unhold(run);
        return;
    }
    if (result->stale) {
        call->by_person = false;
        run_call_preview(call, previewed_again);
        return;
    }
    take_result(call, result);
    run_unhold(run);
}

static void start_tool(struct run_call *call, struct str digest)
{
    struct run *run = call->run;
    struct tool_result failed = { .err = ERR_INIT };
    struct tool_call tool;
    struct hand *hand;
    int covered;

    if (run_stop_code(run)) {
        err_set(&failed.err, ERR_CANCELLED, "stopped before it began");
        acted(call, &failed);
        return;
    }
    run_call_tool(call, &tool);
    covered = run_call_check_grant(call, &failed.err);
    failed.stale = covered == 0;
    tool.granted = run_call_is_granted(call);
    if (covered > 0 && run_hand_take(call, &hand, &failed.err) == 0 &&
        tool_start(run->runner->config.tools, &tool, str_from(call->operation_id), digest, hand,
                   acted, call, &call->job, &failed.err) == 0)
        return;
    acted(call, &failed);
}

/* A person who gave other arguments did so looking at what was shown: it must still be there. */
static void looked_again(void *arg, const struct tool_preview *preview)
{
    struct run_call *call = arg;
    struct tool_result stale = { .err = ERR_INIT, .stale = true };

    call->job = NULL;
    run_hand_rest(call);
    if (preview->err.code == ERR_CANCELLED || strcmp(preview->digest, call->digest) == 0)
        start_tool(call, STR_NONE);
    else
        acted(call, &stale);
}

static void look_again(struct run_call *call)
{
    struct run *run = call->run;
    struct tool_preview failed = { .err = ERR_INIT };
    struct tool_call tool;
    struct hand *hand;

    run_call_tool(call, &tool);
    tool.arguments = call->shown;
    tool.operation_id = str_from(call->operation_id);
    if (run_hand_take(call, &hand, &failed.err) < 0 ||
        tool_preview(run->runner->config.tools, &tool, hand, looked_again, call, &call->job,
                     &failed.err) < 0)
        looked_again(call, &failed);
}

void run_act_start(struct run *run, uint16_t key)
{
    struct run_call *call = run_call_get(run, key);

    run_hold(run);
    if (call->by_person && call->digest[0] && !run_stop_code(run))
        look_again(call);
    else
        start_tool(call, str_from(call->digest));
}
