/* The offline model as a provider: thinks at once, then speaks in small pieces.
 *
 * No network, no weights, no state between requests: see offline_int.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>

#include "base/clock.h"
#include "base/tokens.h"
#include "base/utf8.h"
#include "model/offline_int.h"
#include "model/provider_int.h"

#define PIECE_BYTES     24
#define PIECES_PER_TICK 8

static const struct offline_intent *find_intent(struct offline_turn *turn)
{
    for (const struct offline_intent *i = offline_intents; i->pattern; i++) {
        if (offline_match(i->pattern, &turn->words, &turn->match))
            return i;
    }
    return NULL;
}

/* The newest message of a person, or message_count. */
static size_t newest_user(const struct model_request *request)
{
    for (size_t i = request->message_count; i > 0; i--) {
        const struct model_message *m = &request->messages[i - 1];

        if (m->role == MODEL_USER && str_trim(m->text).n)
            return i - 1;
    }
    return request->message_count;
}

static void act(struct offline_turn *turn)
{
    const struct offline_intent *intent;
    struct offline_words as_said;

    offline_words_split(turn->said, turn->arena, &turn->words);
    as_said = turn->words;
    offline_words_unpolite(&turn->words);
    if (offline_skill_asked(turn))
        return;
    if (offline_is_command(&turn->words)) {
        offline_run_direct(turn);
        return;
    }
    intent = find_intent(turn);
    if (!intent) {
        turn->words = as_said;
        intent = find_intent(turn);
    }
    if (!intent && offline_skill_fits(turn))
        return;
    turn->arg = intent ? intent->arg : NULL;
    (intent ? intent->act : offline_unknown)(turn);
}

/* Every path ends in text: rounds of calls end, and there is no silence. */
static void make_sure(struct offline_turn *turn)
{
    if (turn->call_count && turn->round >= OFFLINE_ROUNDS_MAX) {
        turn->call_count = 0;
        buf_clear(&turn->say);
        offline_report(turn);
    }
    if (!turn->call_count && !turn->say.n)
        offline_say(turn, "I did not understand that. Ask \"help\" for what I can do.");
}

void offline_think(const struct model_request *request, int64_t now_ms, struct arena *arena,
                   struct offline_turn *ret_turn)
{
    size_t user = newest_user(request);

    *ret_turn = (struct offline_turn){
        .request = request, .arena = arena, .now_ms = now_ms, .say = BUF_INIT(OFFLINE_TEXT_MAX)
    };
    if (user == request->message_count) {
        offline_greet(ret_turn);
        return;
    }
    ret_turn->said = request->messages[user].text;
    offline_results_load(ret_turn, user + 1);
    if (offline_tool(ret_turn, "propose_agent"))
        offline_wizard(ret_turn);
    else if (offline_asks_done(ret_turn->said))
        offline_done(ret_turn);
    else if (ret_turn->round > OFFLINE_ROUNDS_MAX)
        offline_report(ret_turn);
    else if (!offline_is_wake(ret_turn->said) || !offline_woken(ret_turn))
        act(ret_turn);
    make_sure(ret_turn);
}

/* ---- the provider ---- */

struct speech {
    struct offline_turn turn;
    struct arena arena;
    size_t said; /* bytes */
};

/* As many whole characters as fit, ending after a space where there is one. */
static struct str piece(struct str rest)
{
    struct str part = utf8_truncate(rest, PIECE_BYTES);

    if (part.n == rest.n || !part.n)
        return rest;
    for (size_t n = part.n; n > 1; n--) {
        if (part.p[n - 1] == ' ' || part.p[n - 1] == '\n')
            return str_take(part, n);
    }
    return part;
}

static int64_t request_tokens(const struct model_request *request)
{
    int64_t n = tokens_estimate(request->system);

    for (size_t i = 0; i < request->message_count; i++)
        n += tokens_estimate(request->messages[i].text);
    return n;
}

static void finish(struct model_exchange *x, struct speech *speech)
{
    for (size_t i = 0; i < speech->turn.call_count; i++) {
        const struct model_call *call = &speech->turn.calls[i];

        if (exchange_call(x, call->id, call->name, call->arguments, STR_NONE) < 0)
            break;
    }
    exchange_model(x, STR("offline rules"));
    exchange_usage(x, request_tokens(&x->request), tokens_estimate(buf_str(&speech->turn.say)), 0);
    exchange_finish(x, speech->turn.call_count ? MODEL_STOP_CALLS : MODEL_STOP_END);
}

static void speak(struct model_exchange *x)
{
    struct speech *speech = x->state;

    for (int i = 0; i < PIECES_PER_TICK && speech->said < speech->turn.say.n; i++) {
        struct str part = piece(str_skip(buf_str(&speech->turn.say), speech->said));

        speech->said += part.n;
        if (exchange_delta(x, MODEL_DELTA_TEXT, part) < 0)
            break;
    }
    if (speech->said < speech->turn.say.n)
        exchange_soon(x, speak, 0);
    else
        finish(x, speech);
}

static int offline_start(struct model_exchange *x, struct err *err)
{
    struct speech *speech = NEW(struct speech);

    (void)err;
    x->state = speech;
    offline_think(&x->request, clock_wall_ms(loop_clock(exchange_loop(x))), &speech->arena,
                  &speech->turn);
    exchange_soon(x, speak, 0);
    return 0;
}

static void offline_release(struct model_exchange *x)
{
    struct speech *speech = x->state;

    if (!speech)
        return;
    offline_turn_release(&speech->turn);
    arena_release(&speech->arena);
    free(speech);
    x->state = NULL;
}

const struct model_provider model_provider_offline = {
    .name = "offline",
    .start = offline_start,
    .release = offline_release,
};
