/* Results in a few honest lines: what came, how much more there is, what failed and why.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdarg.h>

#include "base/utf8.h"
#include "model/offline_int.h"

#define LINE_SHOWN  200
#define ERROR_SHOWN 600

/* What is said is shown as Markdown, where an indented line goes on with the paragraph before it
 * unless a blank line stands between them. */
static bool needs_blank_line(struct str said, const char *fmt)
{
    size_t begin;

    if (strncmp(fmt, "    ", 4) != 0 || !said.n || said.p[said.n - 1] != '\n')
        return false;
    for (begin = --said.n; begin > 0 && said.p[begin - 1] != '\n';)
        begin--;
    said = str_skip(said, begin);
    return said.n > 0 && !str_starts(said, STR("    "));
}

void offline_say(struct offline_turn *turn, const char *fmt, ...)
{
    va_list args;

    if (needs_blank_line(buf_str(&turn->say), fmt))
        buf_add_char(&turn->say, '\n');
    va_start(args, fmt);
    buf_vprintf(&turn->say, fmt, args);
    va_end(args);
}

/* The sentence of the system text that begins so; empty: there is none. */
static struct str told(const struct offline_turn *turn, struct str begins)
{
    struct str system = turn->request->system;
    ptrdiff_t at = str_find(system, begins), end;

    if (at < 0)
        return STR_NONE;
    system = str_skip(system, (size_t)at);
    end = str_find_char(system, '\n');
    return end < 0 ? system : str_take(system, (size_t)end);
}

void offline_lacks(struct offline_turn *turn, const char *what, const char *tool)
{
    struct str why = told(turn, STR("You have no categories"));
    ptrdiff_t how = str_find(why, STR("`dormouse"));

    turn->gave_up = true;
    if (why.n && how > 0) {
        offline_say(turn,
                    "I can't %s: I have no categories yet, so I reach nothing of the journal. Give "
                    "me some: %.*s",
                    what, STR_ARG(str_skip(why, (size_t)how)));
        return;
    }
    offline_say(turn,
                "I can't do that here: to %s I need the tool \"%s\", and I was not given it. ",
                what, tool);
    if (turn->request->tool_count) {
        offline_say(turn, "What I have:");
        for (size_t i = 0; i < turn->request->tool_count && i < 40; i++)
            offline_say(turn, "%s %.*s", i ? "," : "", STR_ARG(turn->request->tools[i].name));
        offline_say(turn, ".");
    } else {
        offline_say(turn, "I was given no tools at all.");
    }
}

static const char *shown(struct offline_turn *turn, struct str text, size_t max)
{
    struct str part = utf8_truncate(str_trim(text), max);

    return arena_printf(turn->arena, "%.*s%s", STR_ARG(part),
                        part.n < str_trim(text).n ? " ..." : "");
}

/* What a code means for the person who asked. */
static const char *verb_of(enum err_code code)
{
    switch (code) {
    case ERR_REJECTED:
        return "was rejected";
    case ERR_EXPIRED:
        return "was not decided on in time";
    case ERR_WITHDRAWN:
        return "was withdrawn";
    case ERR_CANCELLED:
        return "was cancelled";
    case ERR_TIMEOUT:
        return "took too long";
    case ERR_UNSAFE_TARGET:
    case ERR_CAPABILITY_DENIED:
    case ERR_OUT_OF_SCOPE:
    case ERR_PATH_DENIED:
    case ERR_NETWORK_DENIED:
    case ERR_KILL_SWITCH_ACTIVE:
        return "was refused";
    default:
        return "did not work";
    }
}

void offline_report_failure(struct offline_turn *turn, const struct offline_result *result)
{
    struct str why = str_trim(result->error);

    turn->gave_up = true;
    if (result->command.n)
        offline_say(turn, "The command \"%s\"", shown(turn, result->command, LINE_SHOWN));
    else
        offline_say(turn, "%.*s", STR_ARG(result->tool));
    offline_say(turn, " %s%s%s\n\nNothing else was done.", verb_of(result->code),
                why.n ? ": " : ", without a reason.", why.n ? shown(turn, why, ERROR_SHOWN) : "");
}

bool offline_failed(struct offline_turn *turn)
{
    const struct offline_result *last = offline_result_last(turn);

    if (!last) {
        offline_say(turn, "I asked for a tool, but no result came back. Please try again.");
        return true;
    }
    if (!last->failed)
        return false;
    offline_report_failure(turn, last);
    return true;
}

void offline_report_lines(struct offline_turn *turn, const struct offline_result *result)
{
    size_t n = result->line_count < OFFLINE_SHOWN_LINES ? result->line_count : OFFLINE_SHOWN_LINES;

    for (size_t i = 0; i < n; i++)
        offline_say(turn, "    %s\n",
                    arena_printf(turn->arena, "%.*s",
                                 STR_ARG(utf8_truncate(result->lines[i], LINE_SHOWN))));
    if (result->line_count > n)
        offline_say(turn, "... and %zu more lines%s.\n", result->line_count - n,
                    result->cut ? ", and the tool had cut off even more" : "");
    else if (result->cut)
        offline_say(turn, "... the tool cut off the rest.\n");
}

static void report_command(struct offline_turn *turn, const struct offline_result *result)
{
    const char *command = result->command.n ? shown(turn, result->command, LINE_SHOWN) : "It";

    if (result->exit_code > 0)
        offline_say(turn, "%s failed with exit code %lld.\n", command,
                    (long long)result->exit_code);
    else if (result->line_count)
        offline_say(turn, "%s says:\n", command);
    else
        offline_say(turn, "%s is done; it printed nothing.\n", command);
    offline_report_lines(turn, result);
    if (result->error.n && result->exit_code != 0)
        offline_say(turn, "%s\n", shown(turn, result->error, ERROR_SHOWN));
}

static void report_one(struct offline_turn *turn, const struct offline_result *result)
{
    if (result->failed && result->exit_code < 0) {
        offline_report_failure(turn, result);
        return;
    }
    if (result->exit_code >= 0 || str_is(result->tool, "bash")) {
        report_command(turn, result);
        return;
    }
    if (!result->line_count) {
        offline_say(turn, "%.*s is done; it had nothing to show.\n", STR_ARG(result->tool));
        return;
    }
    offline_say(turn, "%.*s answered:\n", STR_ARG(result->tool));
    offline_report_lines(turn, result);
}

void offline_report(struct offline_turn *turn)
{
    unsigned newest = turn->round ? turn->round - 1 : 0;
    size_t said = 0;

    for (size_t i = 0; i < turn->result_count; i++) {
        if (turn->results[i].round != newest)
            continue;
        report_one(turn, &turn->results[i]);
        said++;
    }
    if (!said)
        offline_say(turn, "I asked for a tool, but no result came back. Please try again.");
}
