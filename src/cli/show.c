/* Events of a run for people: text, what waits, how it ended.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cli/show.h"

#include <json-c/json.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "cli/pane.h"
#include "cli/show_int.h"

#define LINE_BYTES     400 /* of what is only told; what is decided about is never cut (pane.h) */
#define ID_CHARS       8
#define SHOW_WAITED_MS 1000 /* a shorter wait is not worth a word */

void show_init(struct show *show, FILE *out)
{
    *show = (struct show){ .out = out, .seq = -1 };
}

void show_release(struct show *show)
{
    show_begin_line(show);
    fflush(show->out);
}

/* ---- pieces ---- */

void show_text(struct show *show, struct str s)
{
    AUTO_BUF copy = BUF_INIT(LIMIT_JSON_BYTES);

    if (!s.n)
        return;
    buf_add_str(&copy, s);
    term_text(show->out, buf_text(&copy));
    show->line_open = s.p[s.n - 1] != '\n';
}

void show_begin_line(struct show *show)
{
    if (show->line_open)
        fputc('\n', show->out);
    show->line_open = false;
}

void show_line(struct show *show, enum term_style style, const char *mark, struct str s)
{
    show_begin_line(show);
    fputs(term_style(show->out, style), show->out);
    fputs(mark, show->out);
    show_text(show, utf8_truncate(s, LINE_BYTES));
    if (s.n > LINE_BYTES)
        fputs(" …", show->out);
    fputs(term_style(show->out, TERM_PLAIN), show->out);
    fputc('\n', show->out);
    show->line_open = false;
}

size_t show_count_lines(struct str s)
{
    size_t n = 0;

    for (size_t i = 0; i < s.n; i++)
        n += s.p[i] == '\n';
    return n + (s.n && s.p[s.n - 1] != '\n');
}

struct str show_next_line(struct str *rest)
{
    ptrdiff_t end = str_find_char(*rest, '\n');
    struct str line = end < 0 ? *rest : str_take(*rest, (size_t)end);

    *rest = str_skip(*rest, end < 0 ? rest->n : (size_t)end + 1);
    if (line.n && line.p[line.n - 1] == '\r')
        line.n--;
    return line;
}

void show_more(struct show *show, size_t n)
{
    char text[64];

    snprintf(text, sizeof(text), "… %zu more line%s", n, n == 1 ? "" : "s");
    show_line(show, TERM_DIM, "  ", str_from(text));
}

void show_lines(struct show *show, enum term_style style, struct str s, unsigned head,
                unsigned tail)
{
    size_t n = show_count_lines(s), left_out = n > head + tail + 1 ? n - head - tail : 0;

    for (size_t i = 0; i < n; i++) {
        struct str line = show_next_line(&s);

        if (left_out && i == head)
            show_more(show, left_out);
        if (!left_out || i < head || i >= head + left_out)
            show_line(show, style, "  ", line);
    }
}

/* ---- text and thinking ---- */

/* The part of a streamed text that is not on the screen yet. Streams may begin anew after a
 * connection was lost, and the whole text comes at the end. */
static struct str unseen(struct show *show, struct json_object *event)
{
    struct str content = show_member(event, "content");
    int64_t seq = -1, offset = 0, skip;

    json_get_i64(event, "seq", &seq, NULL);
    json_get_i64(event, "offset", &offset, NULL);
    if (seq != show->seq) {
        show_begin_line(show);
        show->seq = seq;
        show->shown = 0;
    }
    if (offset > show->shown)
        return STR_NONE; /* what came before was missed: the whole follows */
    skip = show->shown - offset;
    if (offset + (int64_t)content.n > show->shown)
        show->shown = offset + (int64_t)content.n;
    return str_skip(content, (size_t)skip);
}

static void show_said(struct show *show, struct json_object *event, enum term_style style)
{
    bool partial = false;

    json_get_bool(event, "isPartial", &partial, NULL);
    if (style != TERM_PLAIN)
        fputs(term_style(show->out, style), show->out);
    show_text(show, unseen(show, event));
    if (style != TERM_PLAIN)
        fputs(term_style(show->out, TERM_PLAIN), show->out);
    if (!partial)
        show_begin_line(show);
}

/* ---- what waits ---- */

enum term_style show_diff_style(struct str line)
{
    if (str_starts(line, STR("+++")) || str_starts(line, STR("---")))
        return TERM_BOLD;
    if (str_starts(line, STR("+")))
        return TERM_GREEN;
    if (str_starts(line, STR("-")))
        return TERM_RED;
    return str_starts(line, STR("@@")) ? TERM_DIM : TERM_PLAIN;
}

/* Somebody who is asked is shown it there. */
static void show_asked(struct show *show, struct json_object *event)
{
    AUTO(pane) pane = NULL;

    if (show->quiet)
        return;
    show_begin_line(show);
    pane = pane_new(show->out);
    pane_own(pane, TERM_YELLOW, "? ", show_member(event, "title"));
    pane_item(pane, event);
    pane_show(pane, 0);
}

static void show_gate(struct show *show, struct json_object *event)
{
    show_asked(show, event);
}

static void show_request(struct show *show, struct json_object *event)
{
    AUTO_BUF title = BUF_INIT(8 * KIB);
    struct str operation = show_member(event, "operation");
    bool fresh = !json_find(event, "current_content");

    buf_printf(&title, "%s %.*s",
               str_is(operation, "delete")   ? "Forget"
               : str_is(operation, "append") ? "Add to"
               : fresh                       ? "Remember"
                                             : "Change",
               STR_ARG(show_member(event, "path")));
    json_object_object_add(event, "title", json_object_new_string_len(title.p, (int)title.n));
    show_asked(show, event);
}

static void show_complete(struct show *show, struct json_object *event)
{
    AUTO_BUF line = BUF_INIT(8 * KIB);
    bool success = false;

    json_get_bool(event, "success", &success, NULL);
    buf_printf(&line, "%s %.*s", success ? "memory was changed:" : "memory stays as it is:",
               STR_ARG(show_member(event, "path")));
    if (!success)
        buf_printf(&line, " (%.*s)", STR_ARG(show_member(json_find(event, "error"), "message")));
    show_line(show, TERM_DIM, "  ", buf_str(&line));
}

void show_how_to_decide(struct show *show, struct str item_id, struct str kind)
{
    struct str id = str_take(item_id, ID_CHARS);

    show_begin_line(show);
    if (str_is(kind, "question"))
        fprintf(show->out, "Waiting for you:  dormouse answer %.*s TEXT\n", STR_ARG(id));
    else if (str_is(kind, "escalated"))
        fprintf(show->out, "For you to know:  dormouse approve %.*s   says that you have seen it\n",
                STR_ARG(id));
    else
        fprintf(show->out, "Waiting for you:  dormouse approve %.*s   or   dormouse reject %.*s\n",
                STR_ARG(id), STR_ARG(id));
}

static void show_waiting(struct show *show, struct json_object *event)
{
    struct str kind = show_member(event, "kind");

    if (show->quiet)
        return;
    if (!str_is(kind, "tool") && !str_is(kind, "memory"))
        show_line(show, TERM_YELLOW, "? ", show_member(event, "title"));
    show_how_to_decide(show, show_member(event, "itemId"), kind);
}

/* ---- how it ended ---- */

const char *show_advice(enum err_code code, struct str message)
{
    static const struct {
        enum err_code code;
        const char *text;
    } advice[] = {
        { ERR_PRIVACY_CONFIRMATION_REQUIRED, "agree with: dormouse model consent MODEL" },
        { ERR_SECRET_UNAVAILABLE, "set it with: dormouse secret set NAME" },
        { ERR_SANDBOX_UNAVAILABLE, "dormouse doctor says what is missing" },
        { ERR_KILL_SWITCH_ACTIVE, "`dormouse kill` shows what is stopped" },
        { ERR_AGENT_PAUSED, "wake it with: dormouse agent resume AGENT" },
        { ERR_ITERATIONS_EXCEEDED,
          "go on in the same conversation (dormouse chat --thread THREAD), "
          "or allow more rounds: dormouse run --max-iterations N" },
        { ERR_MODEL_NOT_ALLOWED, "dormouse model list shows which there are" },
        { ERR_PROVIDER_FAILED, "dormouse model test MODEL says what is wrong" },
        { ERR_CONTEXT_TOO_LONG, "begin a new conversation, or choose a model with more room" },
    };

    if (str_find(message, STR("dormouse ")) >= 0)
        return NULL;
    for (size_t i = 0; i < sizeof(advice) / sizeof(advice[0]); i++) {
        if (advice[i].code == code)
            return advice[i].text;
    }
    return NULL;
}

static void show_error(struct show *show, struct json_object *event)
{
    struct str name = show_member(event, "code"), message = show_member(event, "message");
    struct str until = show_member(event, "until");
    bool recoverable = false;
    const char *advice;
    enum err_code code;
    char text[64];

    snprintf(text, sizeof(text), "%.*s", STR_ARG(name));
    code = err_from_name(text);
    json_get_bool(event, "recoverable", &recoverable, NULL);
    show_line(show, recoverable ? TERM_YELLOW : TERM_RED, "! ",
              message.n ? message : str_from(code ? err_sentence(code) : text));
    advice = recoverable ? NULL : show_advice(code, message);
    if (advice)
        show_line(show, TERM_PLAIN, "  ", str_from(advice));
    if (until.n) {
        snprintf(text, sizeof(text), "It rests and asks again at %.*s.", STR_ARG(until));
        show_line(show, TERM_PLAIN, "  ", str_from(text));
    }
}

static void show_iteration(struct show *show, struct json_object *event)
{
    int64_t count = 0;
    char text[48];

    json_get_i64(event, "count", &count, NULL);
    snprintf(text, sizeof(text), "── round %lld", (long long)count);
    show_line(show, TERM_DIM, "", str_from(text));
}

static void show_notice(struct show *show, struct json_object *event)
{
    show_line(show, TERM_YELLOW, "! ", show_member(event, "content"));
}

static void show_done(struct show *show, struct json_object *event)
{
    struct str reason = show_member(event, "stopReason");

    show_begin_line(show);
    if (str_is(reason, "cancelled"))
        show_line(show, TERM_YELLOW, "", STR("Cancelled."));
}

static void add_span(struct buf *out, int64_t ms)
{
    if (ms < 60000)
        buf_printf(out, "%.1f s", (double)ms / 1000);
    else
        buf_printf(out, "%lld min %02lld s", (long long)(ms / 60000), (long long)(ms / 1000 % 60));
}

/* What it worked, and apart from that what it waited: a person who was away is not its slowness. */
static void add_times(struct buf *out, struct json_object *run)
{
    int64_t active = 0, waited = 0;

    json_get_i64(run, "activeMs", &active, NULL);
    json_get_i64(run, "waitedMs", &waited, NULL);
    buf_add_text(out, "done in ");
    add_span(out, active);
    if (waited >= SHOW_WAITED_MS) {
        buf_add_text(out, ", waited ");
        add_span(out, waited);
        buf_add_text(out, " for you");
    }
}

void show_cost(struct show *show, struct json_object *run)
{
    AUTO_BUF line = BUF_INIT(256);
    int64_t in = 0, out = 0;
    double cost = 0;

    if (!run || !isatty(fileno(show->out)))
        return;
    json_get_i64(run, "inputTokens", &in, NULL);
    json_get_i64(run, "outputTokens", &out, NULL);
    json_get_double(run, "cost", &cost, NULL);
    if (show_member(run, "endedAt").n)
        add_times(&line, run);
    if (in + out > 0)
        buf_printf(&line, "%s%lld tokens in, %lld out", line.n ? " · " : "", (long long)in,
                   (long long)out);
    if (cost > 0)
        buf_printf(&line, " · cost %.4f", cost);
    if (line.n)
        show_line(show, TERM_DIM, "", buf_str(&line));
}

/* ---- all of them ---- */

static void show_thinking(struct show *show, struct json_object *event)
{
    if (isatty(fileno(show->out)))
        show_said(show, event, TERM_DIM);
}

static void show_plain_text(struct show *show, struct json_object *event)
{
    show_said(show, event, TERM_PLAIN);
}

void show_event(struct show *show, struct json_object *event)
{
    static const struct {
        const char *type;
        void (*show)(struct show *show, struct json_object *event);
    } table[] = {
        { "thinking", show_thinking },
        { "text", show_plain_text },
        { "tool_use", show_tool_use },
        { "tool_result", show_tool_result },
        { "approval_gate", show_gate },
        { "waiting", show_waiting },
        { "iteration", show_iteration },
        { "notice", show_notice },
        { "error", show_error },
        { "done", show_done },
        { "memory_edit_request", show_request },
        { "memory_edit_complete", show_complete },
    };
    struct str type = show_member(event, "type");

    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        if (str_is(type, table[i].type))
            table[i].show(show, event);
    }
    fflush(show->out);
}
