/* Events of a run for people.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cli/show.h"

#include <json-c/json.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/limits.h"
#include "cli/term.h"

#define OUTPUT_LINES 12 /* of a tool's answer */
#define LINE_BYTES   400

void show_init(struct show *show, FILE *out)
{
    *show = (struct show){ .out = out, .seq = -1 };
}

void show_release(struct show *show)
{
    if (show->line_open)
        fputc('\n', show->out);
    fflush(show->out);
    show->line_open = false;
}

/* ---- pieces ---- */

static void text(struct show *show, struct str s)
{
    AUTO_BUF copy = BUF_INIT(LIMIT_JSON_BYTES);

    if (!s.n)
        return;
    buf_add_str(&copy, s);
    term_text(show->out, buf_text(&copy));
    show->line_open = s.p[s.n - 1] != '\n';
}

static void begin_line(struct show *show)
{
    if (show->line_open)
        fputc('\n', show->out);
    show->line_open = false;
}

static void styled(struct show *show, enum term_style style, const char *mark, struct str s)
{
    begin_line(show);
    fputs(term_style(show->out, style), show->out);
    fputs(mark, show->out);
    text(show, s);
    fputs(term_style(show->out, TERM_PLAIN), show->out);
    begin_line(show);
}

static struct str member(struct json_object *object, const char *key)
{
    return json_str(json_find(object, key));
}

/* ---- text ---- */

static void show_text(struct show *show, struct json_object *event)
{
    struct str content = member(event, "content");
    int64_t seq = -1, offset = 0;
    bool partial = false;

    json_get_i64(event, "seq", &seq, NULL);
    json_get_i64(event, "offset", &offset, NULL);
    json_get_bool(event, "isPartial", &partial, NULL);
    if (seq != show->seq) {
        begin_line(show);
        show->seq = seq;
        show->shown = 0;
    }
    /* The whole text ends what was streamed, and stands for it when nothing was. */
    if (!partial)
        content = str_skip(content, (size_t)show->shown);
    text(show, content);
    show->shown += (int64_t)content.n;
    if (!partial)
        begin_line(show);
}

/* ---- tools ---- */

static struct str summary_of(struct json_object *input, struct buf *room)
{
    static const char *const keys[] = { "command", "path", "pattern", "question", "glob" };

    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        if (member(input, keys[i]).n)
            return member(input, keys[i]);
    }
    buf_add_text(room, json_object_to_json_string_ext(input, JSON_C_TO_STRING_PLAIN));
    return buf_str(room);
}

static void show_use(struct show *show, struct json_object *event)
{
    AUTO_BUF room = BUF_INIT(LIMIT_JSON_BYTES);
    AUTO_BUF line = BUF_INIT(LIMIT_JSON_BYTES);
    struct str what = summary_of(json_find(event, "input"), &room);

    buf_add_str(&line, member(event, "toolName"));
    buf_add_text(&line, "  ");
    buf_add_str(&line, str_take(what, LINE_BYTES));
    if (what.n > LINE_BYTES)
        buf_add_text(&line, " …");
    styled(show, TERM_BOLD, "• ", buf_str(&line));
}

static void show_lines(struct show *show, struct str output)
{
    struct str line, rest = output;
    unsigned n = 0;

    while (rest.n && str_split(&rest, '\n', &line)) {
        if (n++ == OUTPUT_LINES) {
            styled(show, TERM_DIM, "  ", STR("…"));
            return;
        }
        styled(show, TERM_DIM, "  ", str_take(line, LINE_BYTES));
    }
    if (rest.n)
        styled(show, TERM_DIM, "  ", str_take(rest, LINE_BYTES));
}

static void show_output(struct show *show, struct json_object *output)
{
    static const char *const keys[] = { "output", "stdout", "stderr", "diff", "text" };
    bool some = false;

    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        struct str part = member(output, keys[i]);

        if (part.n) {
            show_lines(show, part);
            some = true;
        }
    }
    if (!some && output)
        show_lines(show, str_from(json_object_to_json_string_ext(output, JSON_C_TO_STRING_PLAIN)));
}

static void show_result(struct show *show, struct json_object *event)
{
    struct json_object *error = json_find(event, "error");

    show_output(show, json_find(event, "output"));
    if (error)
        styled(show, TERM_RED, "  ", member(error, "message"));
}

/* ---- waiting and ending ---- */

static void show_gate(struct show *show, struct json_object *event)
{
    styled(show, TERM_YELLOW, "? ", member(event, "title"));
    show_lines(show, member(event, "preview"));
}

static void show_waiting(struct show *show, struct json_object *event)
{
    char id[16];

    snprintf(id, sizeof(id), "%.8s", member(event, "itemId").p ? member(event, "itemId").p : "");
    begin_line(show);
    if (str_is(member(event, "kind"), "question"))
        fprintf(show->out, "Waiting for you:  dormouse answer %s TEXT\n", id);
    else
        fprintf(show->out, "Waiting for you:  dormouse approve %s   or   dormouse reject %s\n", id,
                id);
}

static void show_done(struct show *show, struct json_object *event)
{
    struct str reason = member(event, "stopReason");

    if (str_is(reason, "cancelled"))
        styled(show, TERM_YELLOW, "", STR("Cancelled."));
    begin_line(show);
}

void show_event(struct show *show, struct json_object *event)
{
    struct str type = member(event, "type");

    if (str_is(type, "text"))
        show_text(show, event);
    else if (str_is(type, "tool_use"))
        show_use(show, event);
    else if (str_is(type, "tool_result"))
        show_result(show, event);
    else if (str_is(type, "approval_gate"))
        show_gate(show, event);
    else if (str_is(type, "waiting"))
        show_waiting(show, event);
    else if (str_is(type, "error"))
        styled(show, TERM_RED, "! ", member(event, "message"));
    else if (str_is(type, "done"))
        show_done(show, event);
    fflush(show->out);
}
