/* Remembering: one notes file in the agent's memory, a line for each thing.
 *
 * write_memory replaces a file, so it is read first and written back with a line more, or less.
 *
 * SPDX-License-Identifier: MIT
 */
#include "model/offline_int.h"

#define NOTES     "knowledge/notes.md"
#define NOTES_MAX (100u << 10)

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

    if (offline_failed(turn))
        return;
    offline_say(turn, "%s", what);
    if (last->line_count)
        offline_say(turn, " (%.*s)", STR_ARG(str_take(last->lines[0], 200)));
}

void offline_remember(struct offline_turn *turn)
{
    const struct offline_result *notes = offline_result_of(turn, "read_memory");
    AUTO_BUF text = BUF_INIT(NOTES_MAX);

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
        offline_say(turn, "    %.*s\n", STR_ARG(str_take(notes->lines[i], 300)));
    }
    if (!n)
        offline_say(turn, "I have no note%s%.*s.", what.n ? " on " : "", STR_ARG(what));
}

static void recall(struct offline_turn *turn, struct str what)
{
    const struct offline_result *notes = offline_result_of(turn, "read_memory");

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
