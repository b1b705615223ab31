/* What tools answered, in one form.
 *
 * A result is the JSON text of the tool's output, or plain text. Of JSON the members that people
 * look for are taken by the names that tools use for them; what has none of these is shown as it
 * is. Failed results say why: a rejected call, a refusal of a guard, an error of the tool.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/json.h"
#include "base/json_write.h"
#include "model/offline_int.h"

#define RESULT_TEXT_MAX (256u << 10)
#define RESULT_LINES    4000

static struct json_object *first_of(const struct json_object *json, const char *const *names)
{
    for (size_t i = 0; names[i]; i++) {
        struct json_object *found = json_find(json, names[i]);

        if (found)
            return found;
    }
    return NULL;
}

static struct str text_of(const struct json_object *json, const char *const *names)
{
    for (size_t i = 0; names[i]; i++) {
        struct str found = json_str(json_find(json, names[i]));

        if (found.n)
            return found;
    }
    return STR_NONE;
}

/* An item of a list: itself, or "path:line: text" of its members. */
static void item_text(struct json_object *item, struct buf *out)
{
    static const char *const paths[] = { "path", "file", "name", "title", "id", NULL };
    static const char *const texts[] = { "text", "content", "snippet", "preview", NULL };
    struct str path = text_of(item, paths), text = text_of(item, texts);
    int64_t line = 0;

    if (json_object_is_type(item, json_type_string)) {
        buf_add_str(out, json_str(item));
        return;
    }
    if (!path.n && !text.n) {
        buf_add_text(out, json_object_to_json_string_ext(item, JSON_C_TO_STRING_PLAIN |
                                                                   JSON_C_TO_STRING_NOSLASHESCAPE));
        return;
    }
    buf_add_str(out, path);
    if (json_get_i64(item, "line", &line, NULL) > 0 ||
        json_get_i64(item, "line_number", &line, NULL) > 0)
        buf_printf(out, ":%lld", (long long)line);
    if (path.n && text.n)
        buf_add_text(out, ": ");
    buf_add_str(out, str_trim(text));
}

static struct str list_text(struct json_object *list, struct arena *arena)
{
    AUTO_BUF out = BUF_INIT(RESULT_TEXT_MAX);

    for (size_t i = 0; i < json_length(list) && i < RESULT_LINES; i++) {
        AUTO_BUF line = BUF_INIT(4096);

        item_text(json_object_array_get_idx(list, i), &line);
        for (size_t k = 0; k < line.n; k++)
            if (line.p[k] == '\n')
                line.p[k] = ' ';
        if (buf_printf(&out, "%s%s", i ? "\n" : "", buf_text(&line)) < 0)
            break;
    }
    return arena_str(arena, buf_str(&out));
}

static enum err_code code_named(struct str name)
{
    char text[64];

    if (name.n == 0 || name.n >= sizeof(text))
        return ERR_NONE;
    memcpy(text, name.p, name.n);
    text[name.n] = '\0';
    return err_from_name(text);
}

static void read_error(struct offline_result *result)
{
    static const char *const names[] = { "message", "error", "reason", "stderr", NULL };
    struct json_object *error = json_find(result->json, "error");
    struct str code = json_str(json_find(error, "code")), text;

    text = text_of(json_object_is_type(error, json_type_object) ? error : result->json, names);
    result->code = code_named(code);
    if (text.n || code.n)
        result->error = text.n ? text : code;
}

/* "rejected: not today": the code is known, the rest is said. */
static void read_plain_error(struct offline_result *result, struct str text)
{
    ptrdiff_t colon = str_find(text, STR(": "));

    result->error = text;
    if (colon > 0)
        result->code = code_named(str_take(text, (size_t)colon));
    if (result->code)
        result->error = str_skip(text, (size_t)colon + 2);
}

static void read_json(struct offline_result *result, struct arena *arena)
{
    static const char *const texts[] = { "output",  "stdout", "content", "text", "result",
                                         "message", "diff",   "value",   NULL };
    static const char *const lists[] = { "matches", "files",      "paths",      "entries",
                                         "results", "tasks",      "candidates", "items",
                                         "output",  "categories", NULL };
    struct json_object *list = json_object_is_type(result->json, json_type_array)
                                   ? result->json
                                   : first_of(result->json, lists);

    if (json_object_is_type(list, json_type_array))
        result->output = list_text(list, arena);
    else if (text_of(result->json, texts).n)
        result->output = text_of(result->json, texts);
    else if (first_of(result->json, texts))
        result->output = STR("");
    (void)(json_get_i64(result->json, "exit_code", &result->exit_code, NULL) > 0 ||
           json_get_i64(result->json, "exitCode", &result->exit_code, NULL) > 0);
    (void)(json_get_bool(result->json, "truncated", &result->cut, NULL) > 0 ||
           json_get_bool(result->json, "more", &result->cut, NULL) > 0);
    read_error(result);
}

static void split_lines(struct offline_result *result, struct arena *arena)
{
    struct str rest = result->output, line;
    size_t n = 1;

    while (rest.n && rest.p[rest.n - 1] == '\n')
        rest.n--;
    if (!rest.n)
        return;
    for (size_t i = 0; i < rest.n; i++)
        n += rest.p[i] == '\n';
    if (n > RESULT_LINES) {
        n = RESULT_LINES;
        result->cut = true;
    }
    result->lines = ARENA_NEW_N(arena, struct str, n);
    while (result->line_count < n && str_split(&rest, '\n', &line))
        result->lines[result->line_count++] = line;
}

static void read_result(const struct model_message *message, struct arena *arena,
                        struct offline_result *result)
{
    struct err err = ERR_INIT;

    result->tool = message->tool_name;
    result->failed = message->failed;
    result->exit_code = -1;
    result->output = message->text;
    if (message->failed)
        read_plain_error(result, message->text);
    if (json_parse(message->text, &result->json, &err) == 0) {
        if (json_object_is_type(result->json, json_type_string))
            result->output = json_str(result->json);
        else
            read_json(result, arena);
    }
    split_lines(result, arena);
}

/* The call that a result answers tells its tool and command, whatever the host left out. */
static void read_call(struct offline_turn *turn, size_t from, const struct model_message *message,
                      struct offline_result *result)
{
    for (size_t i = from; i < turn->request->message_count; i++) {
        const struct model_message *m = &turn->request->messages[i];

        for (size_t k = 0; m->role == MODEL_ASSISTANT && k < m->call_count; k++) {
            AUTO_JSON args = NULL;

            if (!str_eq(m->calls[k].id, message->call_id))
                continue;
            if (!result->tool.n)
                result->tool = m->calls[k].name;
            if (json_parse(m->calls[k].arguments, &args, NULL) == 0)
                result->command = arena_str(turn->arena, text_of(args, offline_name_command));
        }
    }
}

void offline_results_load(struct offline_turn *turn, size_t from)
{
    size_t n = turn->request->message_count;

    turn->results = ARENA_NEW_N(turn->arena, struct offline_result, n + 1);
    for (size_t i = from; i < n; i++) {
        const struct model_message *m = &turn->request->messages[i];

        if (m->role == MODEL_ASSISTANT && m->call_count)
            turn->round++;
        if (m->role != MODEL_TOOL)
            continue;
        read_result(m, turn->arena, &turn->results[turn->result_count]);
        read_call(turn, from, m, &turn->results[turn->result_count]);
        turn->results[turn->result_count].round = turn->round ? turn->round - 1 : 0;
        turn->result_count++;
    }
}

const struct offline_result *offline_result_of(const struct offline_turn *turn, const char *tool)
{
    for (size_t i = turn->result_count; i > 0; i--) {
        if (str_is(turn->results[i - 1].tool, tool))
            return &turn->results[i - 1];
    }
    return NULL;
}

const struct offline_result *offline_result_nth(const struct offline_turn *turn, const char *tool,
                                                size_t n)
{
    for (size_t i = 0; i < turn->result_count; i++) {
        if (str_is(turn->results[i].tool, tool) && n-- == 0)
            return &turn->results[i];
    }
    return NULL;
}

const struct offline_result *offline_result_last(const struct offline_turn *turn)
{
    return turn->result_count ? &turn->results[turn->result_count - 1] : NULL;
}

void offline_turn_release(struct offline_turn *turn)
{
    for (size_t i = 0; i < turn->result_count; i++)
        json_object_put(turn->results[i].json);
    turn->result_count = 0;
    buf_release(&turn->say);
}
