/* Which step a request is for, and why not: expectations against what came.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>

#include "base/json_write.h"
#include "base/utf8.h"
#include "model/script_int.h"

#define SHOWN_BYTES 120

/* Why something does not fit, for people; without an arena only that it does not. */
#define WHY(arena, ...) ((arena) ? arena_printf((arena), __VA_ARGS__) : "")

/* What expectations look at, found once per request. */
struct seen {
    const struct model_request *request;
    struct str user;
    size_t user_at; /* index of the newest user message; message_count: none */
    int64_t results, turn;
    const struct model_message *last_result;
};

static struct seen look(const struct model_request *request)
{
    struct seen seen = { .request = request, .user_at = request->message_count };

    for (size_t i = 0; i < request->message_count; i++) {
        const struct model_message *m = &request->messages[i];

        if (m->role == MODEL_USER) {
            seen.user = m->text;
            seen.user_at = i;
            seen.turn++;
            seen.results = 0;
        } else if (m->role == MODEL_TOOL) {
            seen.results++;
            seen.last_result = m;
        }
    }
    return seen;
}

static const char *shown(struct arena *arena, struct str text)
{
    struct str part = utf8_truncate(text, SHOWN_BYTES);

    return arena_printf(arena, "\"%.*s\"%s", STR_ARG(part), part.n < text.n ? "..." : "");
}

/* Each returns NULL when it fits, else what is wrong. */
static const char *wrong_texts(struct arena *arena, const struct script_texts *texts,
                               struct str text, const char *what)
{
    for (size_t i = 0; i < texts->n; i++) {
        if (str_find(text, texts->text[i]) < 0)
            return WHY(arena, "%s should contain %s, got %s", what, shown(arena, texts->text[i]),
                       shown(arena, text));
    }
    return NULL;
}

static const char *wrong_regex(struct arena *arena, const struct regex *regex, struct str text,
                               const char *what)
{
    if (regex && regex_match(regex, text, NULL) != 1)
        return WHY(arena, "%s should match the expression, got %s", what, shown(arena, text));
    return NULL;
}

static const char *wrong_count(struct arena *arena, int64_t expected, int64_t got, const char *what)
{
    if (expected >= 0 && expected != got)
        return WHY(arena, "expected %lld %s, got %lld", (long long)expected, what, (long long)got);
    return NULL;
}

static const char *wrong_tools(struct arena *arena, const struct script_texts *names,
                               const struct model_request *request, bool wanted)
{
    for (size_t i = 0; i < names->n; i++) {
        bool offered = false;

        for (size_t k = 0; k < request->tool_count; k++)
            offered = offered || str_eq(request->tools[k].name, names->text[i]);
        if (offered != wanted)
            return WHY(arena, "the tool %.*s should %sbe offered", STR_ARG(names->text[i]),
                       wanted ? "" : "not ");
    }
    return NULL;
}

static const struct model_message *result_of(const struct seen *seen, struct str call_id)
{
    if (!call_id.n)
        return seen->last_result;
    for (size_t i = seen->request->message_count; i > 0; i--) {
        const struct model_message *m = &seen->request->messages[i - 1];

        if (m->role == MODEL_TOOL && str_eq(m->call_id, call_id))
            return m;
    }
    return NULL;
}

static const char *wrong_result(struct arena *arena, const struct script_expect *e,
                                const struct seen *seen)
{
    const struct model_message *m = result_of(seen, e->result_call);
    const char *wrong;

    if (!e->has_result)
        return NULL;
    if (!m)
        return WHY(arena, "there is no tool result%s%.*s", e->result_call.n ? " of " : "",
                   STR_ARG(e->result_call));
    if (e->result_tool.n && !str_eq(e->result_tool, m->tool_name))
        return WHY(arena, "the result should be of %.*s, is of %.*s", STR_ARG(e->result_tool),
                   STR_ARG(m->tool_name));
    if (e->result_failed >= 0 && m->failed != (bool)e->result_failed)
        return WHY(arena, "the result should %shave failed: %s", e->result_failed ? "" : "not ",
                   shown(arena, m->text));
    wrong = wrong_texts(arena, &e->result_contains, m->text, "the result");
    return wrong ? wrong : wrong_regex(arena, e->result_regex, m->text, "the result");
}

static const char *wrong(struct arena *arena, const struct script_expect *e,
                         const struct seen *seen)
{
    const char *why;

    if ((why = wrong_count(arena, e->results, seen->results, "tool results")) ||
        (why = wrong_count(arena, e->turn, seen->turn, "user messages")) ||
        (why =
             wrong_count(arena, e->messages, (int64_t)seen->request->message_count, "messages")) ||
        (why = wrong_texts(arena, &e->user, seen->user, "the user message")) ||
        (why = wrong_regex(arena, e->user_regex, seen->user, "the user message")) ||
        (why = wrong_result(arena, e, seen)) ||
        (why = wrong_tools(arena, &e->tools, seen->request, true)) ||
        (why = wrong_tools(arena, &e->no_tools, seen->request, false)) ||
        (why = wrong_texts(arena, &e->system, seen->request->system, "the system prompt")))
        return why;
    return NULL;
}

static struct script_step *find_in_order(struct script *script, const struct seen *seen,
                                         struct err *err)
{
    AUTO_ARENA arena = ARENA_INIT;
    struct script_step *step;
    const char *why;

    while (script->next < script->n &&
           script->steps[script->next].used == script->steps[script->next].times)
        script->next++;
    if (script->next == script->n) {
        err_set(err, ERR_PROVIDER_FAILED,
                "%s: the script has ended after %zu steps, but a request came: %s", script->path,
                script->n, shown(&arena, seen->user));
        return NULL;
    }
    step = &script->steps[script->next];
    why = wrong(&arena, &step->expect, seen);
    if (!why)
        return step;
    err_set(err, ERR_PROVIDER_FAILED, "%s:%u: step %zu: %s", script->path, step->line,
            script->next + 1, why);
    return NULL;
}

static bool is_open(const struct script *script, const struct script_step *step)
{
    return script->match == SCRIPT_STATE || step->used < step->times;
}

/* Says why the first open step does not fit: the nearest to what the writer had in mind. */
static void explain(struct script *script, const struct seen *seen, struct err *err)
{
    AUTO_ARENA arena = ARENA_INIT;

    for (size_t i = 0; i < script->n; i++) {
        if (!is_open(script, &script->steps[i]))
            continue;
        err_set(err, ERR_PROVIDER_FAILED,
                "%s: no step fits the request %s with %lld tool results; step %zu (line %u): %s",
                script->path, shown(&arena, seen->user), (long long)seen->results, i + 1,
                script->steps[i].line, wrong(&arena, &script->steps[i].expect, seen));
        return;
    }
    err_set(err, ERR_PROVIDER_FAILED, "%s: all steps are used up, but a request came: %s",
            script->path, shown(&arena, seen->user));
}

static struct script_step *find_any(struct script *script, const struct seen *seen, struct err *err)
{
    for (size_t i = 0; i < script->n; i++) {
        if (is_open(script, &script->steps[i]) && !wrong(NULL, &script->steps[i].expect, seen))
            return &script->steps[i];
    }
    explain(script, seen, err);
    return NULL;
}

struct script_step *script_find(struct script *script, const struct model_request *request,
                                struct err *err)
{
    const struct seen seen = look(request);
    struct script_step *step = script->match == SCRIPT_ORDER ? find_in_order(script, &seen, err)
                                                             : find_any(script, &seen, err);

    if (step && script->match != SCRIPT_STATE)
        step->used++;
    return step;
}

/* ---- variables ---- */

static void add_value(struct buf *out, struct str value, bool as_json)
{
    AUTO_BUF quoted = BUF_INIT(out->max);

    if (!as_json) {
        buf_add_str(out, value);
        return;
    }
    json_quote(&quoted, value);
    if (quoted.n >= 2)
        buf_add(out, quoted.p + 1, quoted.n - 2);
}

struct str script_fill(struct str text, const struct model_request *request, bool as_json,
                       struct arena *arena)
{
    const struct seen seen = look(request);
    AUTO_BUF out = BUF_INIT(4u << 20);
    ptrdiff_t at;

    while ((at = str_find(text, STR("${"))) >= 0) {
        char number[24];

        buf_add_str(&out, str_take(text, (size_t)at));
        text = str_skip(text, (size_t)at);
        if (str_starts(text, STR("${user}"))) {
            add_value(&out, seen.user, as_json);
            text = str_skip(text, 7);
        } else if (str_starts(text, STR("${result}"))) {
            add_value(&out, seen.last_result ? seen.last_result->text : STR_NONE, as_json);
            text = str_skip(text, 9);
        } else if (str_starts(text, STR("${results}"))) {
            snprintf(number, sizeof(number), "%lld", (long long)seen.results);
            buf_add_text(&out, number);
            text = str_skip(text, 10);
        } else {
            buf_add_str(&out, str_take(text, 2));
            text = str_skip(text, 2);
        }
    }
    buf_add_str(&out, text);
    return arena_str(arena, buf_str(&out));
}
