/* Remembering: files in the agent's memory, a line for each thing.
 *
 * With tools that can append and list, a thing is one proposal to add a line, and looking for it
 * reads what there is. With tools that can only replace, there is one notes file that is read first
 * and written back with a line more, or less.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/json.h"
#include "base/utf8.h"
#include "model/offline_int.h"

#define NOTES       "knowledge/notes.md"
#define PREFERENCES "knowledge/preferences.md"
#define NOTES_MAX   (100u << 10)

static const char *const name_operation[] = { "operation", "mode", NULL };
static const char *const name_directory[] = { "directory", "path", "dir", NULL };

static bool has_tools(struct offline_turn *turn, bool write)
{
    if (write && !offline_tool(turn, "write_memory")) {
        offline_lacks(turn, "remember or forget something", "write_memory");
        return false;
    }
    if (!offline_tool(turn, "read_memory")) {
        offline_lacks(turn, "recall something", "read_memory");
        return false;
    }
    return true;
}

static void ask_notes(struct offline_turn *turn)
{
    const struct offline_arg args[] = { { .names = offline_name_path, .text = STR(NOTES) } };

    offline_call(turn, offline_tool(turn, "read_memory"), args, ARRAY_LEN(args));
}

static void write_notes(struct offline_turn *turn, struct str text, const char *why)
{
    const struct offline_arg args[] = {
        { .names = offline_name_path, .text = STR(NOTES) },
        { .names = offline_name_content, .text = text },
        { .names = offline_name_reason, .text = str_from(why), .optional = true },
    };

    offline_call(turn, offline_tool(turn, "write_memory"), args, ARRAY_LEN(args));
}

/* No notes yet is no failure; being refused is. */
static bool notes_absent(const struct offline_result *notes)
{
    return notes && notes->failed &&
           (offline_contains(notes->error, STR("not_found")) ||
            offline_contains(notes->error, STR("no such")) ||
            offline_contains(notes->error, STR("no memory")) ||
            offline_contains(notes->error, STR("not found")));
}

/* "Memory update proposed. Waiting ..." and the like are the tool's own words. */
static void say_written(struct offline_turn *turn, const char *what)
{
    const struct offline_result *last = offline_result_last(turn);
    struct str path;

    if (offline_failed(turn))
        return;
    offline_say(turn, "%s", what);
    path = json_str(json_find(last->json, "path"));
    if (path.n)
        offline_say(turn, " (%.*s)", STR_ARG(utf8_truncate(path, 200)));
    else if (last->line_count)
        offline_say(turn, " (%.*s)", STR_ARG(utf8_truncate(last->lines[0], 200)));
}

/* ---- tools that append and list ---- */

static bool can_append(struct offline_turn *turn)
{
    const struct model_tool *tool = offline_tool(turn, "write_memory");

    return tool && offline_takes(tool, name_operation);
}

static bool can_list(struct offline_turn *turn)
{
    return offline_tool(turn, "list_memory") && offline_tool(turn, "read_memory");
}

/* What somebody likes goes with the other things that they like. */
static const char *file_for(struct str what)
{
    static const char *const words[] = { "prefer",   "like",   "love",  "hate",    "favourite",
                                         "favorite", "rather", "enjoy", "call me", NULL };

    for (size_t i = 0; words[i]; i++) {
        if (offline_contains(what, str_from(words[i])))
            return PREFERENCES;
    }
    return NOTES;
}

static void propose(struct offline_turn *turn, struct str path, const char *operation,
                    struct str content, const char *why)
{
    const struct offline_arg args[] = {
        { .names = offline_name_path, .text = path },
        { .names = name_operation, .text = str_from(operation) },
        { .names = offline_name_reason, .text = str_from(why), .optional = true },
        { .names = offline_name_content, .text = content },
    };

    offline_call(turn, offline_tool(turn, "write_memory"), args,
                 ARRAY_LEN(args) - (content.p ? 0 : 1));
}

static void append_note(struct offline_turn *turn)
{
    struct str what = turn->match.cap[0];

    if (turn->round > 0)
        say_written(turn, "I noted that.");
    else
        propose(turn, str_from(file_for(what)), "append",
                str_from(arena_printf(turn->arena, "- %.*s\n", STR_ARG(what))),
                "You asked me to remember this.");
}

static void list_knowledge(struct offline_turn *turn)
{
    const struct offline_arg args[] = {
        { .names = name_directory, .text = STR("knowledge"), .optional = true },
    };

    offline_call(turn, offline_tool(turn, "list_memory"), args, ARRAY_LEN(args));
}

/* All of what the list named, as far as calls reach; false: there is nothing to read. */
static bool read_listed(struct offline_turn *turn)
{
    const struct offline_result *list = offline_result_of(turn, "list_memory");
    struct json_object *files = json_find(list ? list->json : NULL, "files");

    for (size_t i = 0; i < json_length(files); i++) {
        const struct offline_arg args[] = {
            { .names = offline_name_path,
              .text = json_str(json_find(json_object_array_get_idx(files, i), "path")) },
        };

        if (args[0].text.n && str_starts(args[0].text, STR("knowledge/")) &&
            turn->call_count < OFFLINE_CALLS_MAX)
            offline_call(turn, offline_tool(turn, "read_memory"), args, ARRAY_LEN(args));
    }
    return turn->call_count > 0;
}

/* Lines about `what` of the i-th result; all when it is empty. */
static size_t say_lines(struct offline_turn *turn, const struct offline_result *notes,
                        struct str what)
{
    size_t n = 0;

    for (size_t i = 0; i < notes->line_count; i++) {
        if (!str_trim(notes->lines[i]).n || (what.n && !offline_contains(notes->lines[i], what)))
            continue;
        if (n++ == 0)
            offline_say(turn, "%.*s says:\n",
                        STR_ARG(utf8_truncate(json_str(json_find(notes->json, "path")), 200)));
        offline_say(turn, "    %.*s\n", STR_ARG(utf8_truncate(notes->lines[i], 300)));
    }
    return n;
}

static void recall_listed(struct offline_turn *turn, struct str what)
{
    size_t n = 0;

    if (turn->round == 0) {
        list_knowledge(turn);
        return;
    }
    if (turn->round == 1) {
        if (!offline_failed(turn) && !read_listed(turn))
            offline_say(turn, "I have no notes yet. Say \"remember that ...\".");
        return;
    }
    for (size_t i = 0; i < turn->result_count; i++) {
        const struct offline_result *notes = &turn->results[i];

        if (str_is(notes->tool, "read_memory") && !notes->failed)
            n += say_lines(turn, notes, what);
    }
    if (!n)
        offline_say(turn, "I have no note%s%.*s.", what.n ? " on " : "", STR_ARG(what));
}

/* The file without the lines about it; gone altogether when nothing is left. */
static size_t propose_without(struct offline_turn *turn, const struct offline_result *notes,
                              struct str what)
{
    AUTO_BUF text = BUF_INIT(NOTES_MAX);
    struct str path = json_str(json_find(notes->json, "path"));
    size_t gone = 0;

    for (size_t i = 0; i < notes->line_count; i++) {
        if (offline_contains(notes->lines[i], what))
            gone++;
        else
            buf_printf(&text, "%.*s\n", STR_ARG(notes->lines[i]));
    }
    if (!gone || !path.n || notes->cut || turn->call_count == OFFLINE_CALLS_MAX)
        return 0;
    if (text.n)
        propose(turn, path, "write", buf_str(&text), "You asked me to forget this.");
    else
        propose(turn, path, "delete", STR_NONE, "You asked me to forget this.");
    return gone;
}

static void forget_listed(struct offline_turn *turn, struct str what)
{
    size_t gone = 0;

    if (turn->round == 0) {
        list_knowledge(turn);
        return;
    }
    if (turn->round == 1) {
        if (!offline_failed(turn) && !read_listed(turn))
            offline_say(turn, "I have no notes.");
        return;
    }
    if (turn->round > 2) {
        say_written(turn, "I took that out of my notes.");
        return;
    }
    for (size_t i = 0; i < turn->result_count; i++) {
        if (str_is(turn->results[i].tool, "read_memory") && !turn->results[i].failed)
            gone += propose_without(turn, &turn->results[i], what);
    }
    if (!gone)
        offline_say(turn, "I have no note on %.*s.", STR_ARG(what));
}

/* ---- tools that replace ---- */

void offline_remember(struct offline_turn *turn)
{
    const struct offline_result *notes = offline_result_of(turn, "read_memory");
    AUTO_BUF text = BUF_INIT(NOTES_MAX);

    if (can_append(turn)) {
        append_note(turn);
        return;
    }
    if (!has_tools(turn, true))
        return;
    if (turn->round == 0) {
        ask_notes(turn);
        return;
    }
    if (turn->round > 1) {
        say_written(turn, "I noted that.");
        return;
    }
    if (!notes_absent(notes)) {
        if (offline_failed(turn))
            return;
        buf_add_str(&text, notes ? notes->output : STR_NONE);
        if (text.n && text.p[text.n - 1] != '\n')
            buf_add_char(&text, '\n');
    }
    buf_printf(&text, "- %.*s\n", STR_ARG(turn->match.cap[0]));
    if (text.full)
        offline_say(turn, "My notes are full (100 KB). Ask me to forget something first.");
    else
        write_notes(turn, buf_str(&text), "You asked me to remember this.");
}

/* Lines about cap[0], or all of them. */
static void say_notes(struct offline_turn *turn, const struct offline_result *notes,
                      struct str what)
{
    size_t n = 0;

    for (size_t i = 0; i < notes->line_count; i++) {
        if (!str_trim(notes->lines[i]).n || (what.n && !offline_contains(notes->lines[i], what)))
            continue;
        if (n++ == 0)
            offline_say(turn, "My notes%s%.*s say:\n", what.n ? " on " : "", STR_ARG(what));
        offline_say(turn, "    %.*s\n", STR_ARG(utf8_truncate(notes->lines[i], 300)));
    }
    if (!n)
        offline_say(turn, "I have no note%s%.*s.", what.n ? " on " : "", STR_ARG(what));
}

static void recall(struct offline_turn *turn, struct str what)
{
    const struct offline_result *notes = offline_result_of(turn, "read_memory");

    if (can_list(turn)) {
        recall_listed(turn, what);
        return;
    }
    if (!has_tools(turn, false))
        return;
    if (turn->round == 0)
        ask_notes(turn);
    else if (notes_absent(notes))
        offline_say(turn, "I have no notes yet. Say \"remember that ...\".");
    else if (!offline_failed(turn))
        say_notes(turn, offline_result_last(turn), what);
}

void offline_recall(struct offline_turn *turn)
{
    recall(turn, turn->match.cap[0]);
}

void offline_recall_all(struct offline_turn *turn)
{
    recall(turn, STR_NONE);
}

void offline_forget(struct offline_turn *turn)
{
    const struct offline_result *notes = offline_result_of(turn, "read_memory");
    AUTO_BUF text = BUF_INIT(NOTES_MAX);
    size_t gone = 0;

    if (can_list(turn) && can_append(turn)) {
        forget_listed(turn, turn->match.cap[0]);
        return;
    }
    if (!has_tools(turn, true))
        return;
    if (turn->round == 0) {
        ask_notes(turn);
        return;
    }
    if (turn->round > 1) {
        say_written(turn, "I took that out of my notes.");
        return;
    }
    if (notes_absent(notes)) {
        offline_say(turn, "I have no notes.");
        return;
    }
    if (offline_failed(turn))
        return;
    for (size_t i = 0; notes && i < notes->line_count; i++) {
        if (offline_contains(notes->lines[i], turn->match.cap[0]))
            gone++;
        else
            buf_printf(&text, "%.*s\n", STR_ARG(notes->lines[i]));
    }
    if (!gone)
        offline_say(turn, "I have no note on %.*s.", STR_ARG(turn->match.cap[0]));
    else
        write_notes(turn, buf_str(&text), "You asked me to forget this.");
}
