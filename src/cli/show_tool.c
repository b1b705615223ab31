/* Tools for people: what was asked, and what came of it, each family in its own form.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json.h>
#include <string.h>

#include "base/json_write.h"
#include "base/limits.h"
#include "cli/pane.h"
#include "cli/show_int.h"
#include "desk/desk.h"

#define HEAD_LINES 12
#define BASH_HEAD  4
#define BASH_TAIL  8
#define DIFF_LINES 40

static int64_t number(struct json_object *object, const char *key)
{
    int64_t value = 0;

    json_get_i64(object, key, &value, NULL);
    return value;
}

static bool flag(struct json_object *object, const char *key)
{
    bool value = false;

    json_get_bool(object, key, &value, NULL);
    return value;
}

static void add_json(struct buf *out, struct json_object *value)
{
    struct json_writer w = JSON_WRITER(out);

    json_write_value(&w, value);
    json_write_end(&w);
}

/* How many there are, when not all were given. */
static void show_all(struct show *show, int64_t given, int64_t total)
{
    char text[64];

    if (total <= given)
        return;
    snprintf(text, sizeof(text), "%lld in all", (long long)total);
    show_line(show, TERM_DIM, "  ", str_from(text));
}

/* ---- asked ---- */

static void add_first_line(struct buf *out, struct str text)
{
    ptrdiff_t end = str_find_char(text, '\n');

    buf_add_str(out, end < 0 ? text : str_take(text, (size_t)end));
    if (end >= 0)
        buf_add_text(out, " …");
}

static void add_search(struct buf *out, struct json_object *input)
{
    struct str pattern = show_member(input, "pattern"), glob = show_member(input, "glob");
    struct str path = show_member(input, "path");

    buf_add_str(out, pattern.n ? pattern : glob);
    if (pattern.n && glob.n)
        buf_printf(out, "  in %.*s", STR_ARG(glob));
    if (path.n)
        buf_printf(out, "  below %.*s", STR_ARG(path));
}

static void add_input(struct buf *out, struct str tool, struct json_object *input)
{
    static const char *const keys[] = { "command", "path", "question" };

    if (str_is(tool, "search")) {
        add_search(out, input);
        return;
    }
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        if (show_member(input, keys[i]).n) {
            add_first_line(out, show_member(input, keys[i]));
            return;
        }
    }
    if (!desk_say_asked(tool, input, out) && input &&
        !(json_object_is_type(input, json_type_object) && json_object_object_length(input) == 0))
        add_json(out, input);
}

/* The whole of it: a person answers from what stands here. */
static void show_question(struct show *show, struct json_object *input)
{
    AUTO_JSON item = json_object_new_object();
    AUTO(pane) pane = pane_new(show->out);

    json_object_object_add(item, "kind", json_object_new_string("question"));
    json_object_object_add(item, "body", json_object_get(input));
    pane_item(pane, item);
    pane_show(pane, 0);
}

void show_tool_use(struct show *show, struct json_object *event)
{
    AUTO_BUF line = BUF_INIT(LIMIT_JSON_BYTES);
    struct str tool = show_member(event, "toolName");

    buf_add_str(&line, tool);
    buf_add_text(&line, "  ");
    add_input(&line, tool, json_find(event, "input"));
    show_line(show, TERM_BOLD, "• ", buf_str(&line));
    if (str_is(tool, "ask_user") && !show->quiet) /* who is asked is shown it there */
        show_question(show, json_find(event, "input"));
}

/* ---- bash ---- */

static void show_bash(struct show *show, struct json_object *output)
{
    static const char *const keys[] = { "output", "stdout", "stderr" };
    int64_t code = number(output, "exit_code"), signal_number = number(output, "signal");
    char text[96] = "";

    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        show_lines(show, TERM_DIM, show_member(output, keys[i]), BASH_HEAD, BASH_TAIL);
    if (flag(output, "timed_out"))
        snprintf(text, sizeof(text), "ended: it took too long");
    else if (signal_number)
        snprintf(text, sizeof(text), "ended by signal %lld", (long long)signal_number);
    else if (code)
        snprintf(text, sizeof(text), "exit code %lld", (long long)code);
    if (text[0])
        show_line(show, TERM_RED, "  ", str_from(text));
    if (show_member(output, "message").n)
        show_line(show, TERM_RED, "  ", show_member(output, "message"));
}

/* ---- files ---- */

static void show_entries(struct show *show, struct json_object *entries, int64_t total)
{
    AUTO_BUF lines = BUF_INIT(LIMIT_JSON_BYTES);
    size_t n = json_length(entries);

    for (size_t i = 0; i < n; i++) {
        buf_add_str(&lines, json_str(json_object_array_get_idx(entries, i)));
        buf_add_char(&lines, '\n');
    }
    if (n == 0)
        buf_add_text(&lines, "(empty)\n");
    show_lines(show, TERM_DIM, buf_str(&lines), HEAD_LINES, 0);
    show_all(show, (int64_t)n, total);
}

static void show_read(struct show *show, struct json_object *output)
{
    struct json_object *entries = json_find(output, "entries"), *lines = json_find(output, "lines");
    struct str kind = show_member(output, "kind");
    int64_t total = number(lines, "total");
    char text[128];

    if (json_object_is_type(entries, json_type_array)) {
        show_entries(show, entries, number(output, "total"));
        return;
    }
    if (total)
        snprintf(text, sizeof(text), "lines %lld to %lld of %lld",
                 (long long)number(lines, "first"), (long long)number(lines, "last"),
                 (long long)total);
    else if (lines)
        snprintf(text, sizeof(text), "lines %lld to %lld", (long long)number(lines, "first"),
                 (long long)number(lines, "last"));
    else
        snprintf(text, sizeof(text), "%.*s, %lld bytes", STR_ARG(str_take(kind, 60)),
                 (long long)number(output, "bytes"));
    show_line(show, TERM_DIM, "  ", str_from(text));
}

static void show_diff(struct show *show, struct str diff)
{
    size_t n = show_count_lines(diff), at = 0;

    for (; at < n && (at < DIFF_LINES || n == DIFF_LINES + 1); at++) {
        struct str line = show_next_line(&diff);

        show_line(show, show_diff_style(line), "  ", line);
    }
    if (at < n)
        show_more(show, n - at);
}

static void show_change(struct show *show, struct json_object *output)
{
    struct str diff = show_member(output, "diff");
    char text[64];

    if (diff.n) {
        show_diff(show, diff);
        return;
    }
    snprintf(text, sizeof(text), "%s, %lld bytes", flag(output, "created") ? "created" : "written",
             (long long)number(output, "bytes"));
    show_line(show, TERM_DIM, "  ", str_from(text));
}

/* ---- search ---- */

static void add_match(struct buf *out, struct json_object *match)
{
    buf_add_str(out, show_member(match, "path"));
    if (number(match, "line"))
        buf_printf(out, ":%lld", (long long)number(match, "line"));
    if (show_member(match, "text").n) {
        buf_add_text(out, ": ");
        buf_add_str(out, str_trim(show_member(match, "text")));
    }
    buf_add_char(out, '\n');
}

static void show_search(struct show *show, struct json_object *output)
{
    AUTO_BUF lines = BUF_INIT(LIMIT_JSON_BYTES);
    struct json_object *matches = json_find(output, "matches");
    size_t n = json_object_is_type(matches, json_type_array) ? json_length(matches) : 0;

    for (size_t i = 0; i < n; i++)
        add_match(&lines, json_object_array_get_idx(matches, i));
    if (n == 0)
        buf_add_text(&lines, "nothing found\n");
    show_lines(show, TERM_DIM, buf_str(&lines), HEAD_LINES, 0);
    show_all(show, (int64_t)n, number(output, "total"));
}

/* ---- memory ---- */

static void show_memory_file(struct show *show, struct json_object *output)
{
    show_lines(show, TERM_DIM, show_member(output, "content"), HEAD_LINES, 0);
}

static void show_memory_list(struct show *show, struct json_object *output)
{
    AUTO_BUF lines = BUF_INIT(LIMIT_JSON_BYTES);
    struct json_object *files = json_find(output, "files");
    size_t n = json_object_is_type(files, json_type_array) ? json_length(files) : 0;

    for (size_t i = 0; i < n; i++)
        add_match(&lines, json_object_array_get_idx(files, i));
    if (n == 0)
        buf_add_text(&lines, "(empty)\n");
    show_lines(show, TERM_DIM, buf_str(&lines), HEAD_LINES, 0);
}

static void show_memory_written(struct show *show, struct json_object *output)
{
    char text[64];

    snprintf(text, sizeof(text), "version %lld, %lld bytes", (long long)number(output, "version"),
             (long long)number(output, "bytes"));
    show_line(show, TERM_DIM, "  ", str_from(text));
}

/* ---- answered ---- */

static void show_any(struct show *show, struct json_object *output)
{
    AUTO_BUF text = BUF_INIT(LIMIT_JSON_BYTES);

    if (json_object_is_type(output, json_type_string)) {
        show_lines(show, TERM_DIM, json_str(output), HEAD_LINES, 0);
        return;
    }
    add_json(&text, output);
    show_lines(show, TERM_DIM, buf_str(&text), HEAD_LINES, 0);
}

/* What a person answered. */
static void show_said(struct show *show, struct json_object *output)
{
    struct json_object *answer = json_find(output, "answer");

    show_any(show, answer ? answer : output);
}

static void show_output(struct show *show, struct str tool, struct json_object *output)
{
    static const struct {
        const char *tool;
        void (*show)(struct show *show, struct json_object *output);
    } table[] = {
        { "ask_user", show_said },
        { "bash", show_bash },
        { "read_file", show_read },
        { "write_file", show_change },
        { "edit_file", show_change },
        { "search", show_search },
        { "read_memory", show_memory_file },
        { "list_memory", show_memory_list },
        { "write_memory", show_memory_written },
    };

    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        if (str_is(tool, table[i].tool) && json_object_is_type(output, json_type_object)) {
            table[i].show(show, output);
            return;
        }
    }
    show_any(show, output);
}

/* Words of a person, or of nobody, about a call that was not made. */
static const struct {
    enum err_code code;
    const char *words;
} not_made[] = {
    { ERR_REJECTED, "you rejected it" },
    { ERR_EXPIRED, "not done: nobody decided in time" },
    { ERR_WITHDRAWN, "not done: the question was taken back" },
};

static const char *not_made_words(struct json_object *error)
{
    for (size_t i = 0; i < ARRAY_LEN(not_made); i++)
        if (str_is(show_member(error, "code"), err_name(not_made[i].code)))
            return not_made[i].words;
    return NULL;
}

bool show_is_failure(struct json_object *error)
{
    return error && !not_made_words(error);
}

void show_why(struct json_object *error, struct buf *out)
{
    const char *words = not_made_words(error);
    struct str message = show_member(error, "message");

    buf_add_text(out, words ? words : "");
    if (!words)
        buf_add_str(out, message);
    else if (str_is(show_member(error, "code"), err_name(ERR_REJECTED)) &&
             !str_is(message, err_sentence(ERR_REJECTED)))
        buf_printf(out, ": %.*s", STR_ARG(message));
}

void show_tool_result(struct show *show, struct json_object *event)
{
    struct json_object *error = json_find(event, "error"), *output = json_find(event, "output");
    AUTO_BUF why = BUF_INIT(LIMIT_JSON_BYTES);

    if (output && show_member(event, "words").n)
        show_lines(show, TERM_DIM, show_member(event, "words"), HEAD_LINES, 0);
    else if (output)
        show_output(show, show_member(event, "toolName"), output);
    if (!error)
        return;
    show_why(error, &why);
    show_line(show, show_is_failure(error) ? TERM_RED : TERM_YELLOW, "  ", buf_str(&why));
}
