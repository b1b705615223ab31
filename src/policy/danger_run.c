/* One simple command: judged, then what it runs in turn, then what it prints.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "base/alloc.h"
#include "policy/danger_int.h"

static const struct danger_stream nothing = { 0 };

/* ---- looking at words ---- */

struct str danger_base(struct str path)
{
    for (size_t i = path.n; i > 0; i--)
        if (path.p[i - 1] == '/')
            return str_skip(path, i);
    return path;
}

bool danger_is(struct str name, const char *list)
{
    struct str rest = str_from(list), one;

    if (name.n == 0)
        return false;
    while (str_split(&rest, ' ', &one))
        if (str_eq(one, name))
            return true;
    return false;
}

bool danger_is_option(struct str word)
{
    return word.n > 1 && word.p[0] == '-';
}

bool danger_has_flag(const struct danger_command *command, const char *letters, const char *longer)
{
    for (size_t i = 1; i < command->n; i++) {
        struct str word = command->words[i].text;

        if (str_is(word, "--"))
            return false;
        if (!danger_is_option(word))
            continue;
        if (word.p[1] == '-') {
            if (longer && str_starts(str_from(longer), str_skip(word, 2)) && word.n > 4)
                return true;
            continue;
        }
        for (const char *at = letters; *at; at++)
            if (str_find_char(word, *at) > 0)
                return true;
    }
    return false;
}

bool danger_into_directory(const struct danger_command *command)
{
    for (size_t i = 1; i < command->n; i++)
        if (str_starts(command->words[i].text, STR("--target-directory")))
            return true;
    return danger_has_flag(command, "t", NULL);
}

const struct danger_word *danger_operand(const struct danger_command *command, size_t i)
{
    bool only_operands = false;

    for (size_t at = 1; at < command->n; at++) {
        struct str word = command->words[at].text;

        if (!only_operands && str_is(word, "--"))
            only_operands = true;
        else if ((only_operands || !danger_is_option(word)) && i-- == 0)
            return &command->words[at];
    }
    return NULL;
}

struct str danger_joined(struct danger_scan *scan, const struct danger_command *command,
                         size_t from)
{
    AUTO_BUF all = BUF_INIT(DANGER_BYTES_MAX);

    for (size_t i = from; i < command->n; i++) {
        if (i > from)
            buf_add_char(&all, ' ');
        buf_add_str(&all, danger_plain(scan, command->words[i].text));
    }
    return arena_str(scan->arena, buf_str(&all));
}

void danger_run_words(struct danger_scan *scan, const struct danger_command *command, size_t from)
{
    struct danger_command inner = { .words = command->words + from, .n = command->n - from };

    if (danger_charge(scan, DANGER_ATTEMPT)) /* each may try each of the others again */
        danger_run_command(scan, &inner);
}

void danger_judge_source(struct danger_scan *scan, unsigned facts)
{
    if (facts & FACT_DOWNLOAD)
        danger_report(scan, "download_piped_to_shell",
                      "What a server sends would be run as it comes.");
    else if (facts & FACT_NETWORK)
        danger_report(scan, "reverse_shell", "A shell would take its commands from the network.");
    else if (facts & FACT_DECODED)
        danger_report(scan, "decoded_text_run",
                      "Text that was encoded to be unreadable would be run.");
}

/* ---- what it changes and prints ---- */

static void change_directory(struct danger_scan *scan, const struct danger_command *command)
{
    static const char home[] = { MARK_HOME }, unknown[] = { MARK_UNKNOWN };
    const struct danger_word *to = danger_operand(command, 0);

    if (!to)
        scan->cwd = str_of(home, 1);
    else if (str_is(to->text, "-"))
        scan->cwd = str_of(unknown, 1);
    else
        scan->cwd = danger_path(scan, to->text);
}

/* read NAME, mapfile NAME: what standard input holds, when that is known. */
static void read_variables(struct danger_scan *scan, const struct danger_command *command,
                           bool lines)
{
    static const char unknown[] = { MARK_UNKNOWN };
    struct str text = command->in.text;
    ptrdiff_t end = text.p && !lines ? str_find_char(text, '\n') : -1;

    if (end >= 0)
        text = str_take(text, (size_t)end);
    if (text.n == 1 && text.p[0] == MARK_STAR)
        text = STR_NONE; /* one name after another, and a loop may pick among them */
    for (size_t i = 1; i < command->n; i++)
        if (!danger_is_option(command->words[i].text))
            danger_set_var(scan, command->words[i].text, text.p ? text : str_of(unknown, 1),
                           command->in.facts);
}

static void set_variables(struct danger_scan *scan, const struct danger_command *command)
{
    for (size_t i = 1; i < command->n; i++) {
        struct str word = command->words[i].text;
        ptrdiff_t is = str_find_char(word, '=');

        if (is > 0)
            danger_set_var(scan, str_take(word, (size_t)is),
                           danger_plain(scan, str_skip(word, (size_t)is + 1)),
                           command->words[i].facts);
    }
}

/* set -- a b c */
static void set_arguments(struct danger_scan *scan, const struct danger_command *command)
{
    for (size_t i = 1; i < command->n; i++) {
        struct str word = command->words[i].text;
        bool end = str_is(word, "--");

        if (!end && (danger_is_option(word) || word.p[0] == '+'))
            continue;
        i -= end ? 0 : 1; /* words[0] stands for $0 */
        scan->args = (struct danger_args){ .words = command->words + i, .n = command->n - i };
        return;
    }
}

static void shift(struct danger_scan *scan, const struct danger_command *command)
{
    const struct danger_word *count = danger_operand(command, 0);
    size_t n = count && count->text.n == 1 ? (size_t)(count->text.p[0] - '0') : 1;

    for (; n > 0 && n <= 9 && scan->args.n > 1; n--) {
        scan->args.words++;
        scan->args.n--;
    }
}

/* What builtins leave behind. */
static void change_state(struct danger_scan *scan, const struct danger_command *command,
                         struct str name)
{
    if (scan->plain && danger_is(name, "pushd mapfile readarray declare typeset"))
        return; /* no such command */
    if (danger_is(name, "cd pushd"))
        change_directory(scan, command);
    else if (danger_is(name, "read mapfile readarray"))
        read_variables(scan, command, !str_is(name, "read"));
    else if (danger_is(name, "export declare local readonly typeset"))
        set_variables(scan, command);
    else if (str_is(name, "unset"))
        for (size_t i = 1; i < command->n; i++)
            danger_unset_var(scan, command->words[i].text);
    else if (str_is(name, "hash") && command->n > 3 && str_is(command->words[1].text, "-p"))
        danger_add_function(scan, command->words[3].text, command->words[2].text, true);
    else if (str_is(name, "set"))
        set_arguments(scan, command);
    else if (str_is(name, "shift"))
        shift(scan, command);
    else if (!scan->plain && str_is(name, "printf") && command->n > 3 &&
             str_is(command->words[1].text, "-v"))
        danger_set_var(scan, command->words[2].text, danger_printed(scan, command, name, 3), 0);
}

/* ---- all of it ---- */

static bool is_socket(struct str path)
{
    return str_starts(path, STR("/dev/tcp/")) || str_starts(path, STR("/dev/udp/"));
}

static void read_stdin(struct danger_scan *scan, struct danger_command *command)
{
    bool exec = command->n > 0 && str_is(command->words[0].text, "exec");

    for (size_t i = 0; i < command->redirs_n; i++) {
        const struct danger_redir *redir = &command->redirs[i];
        struct str path = redir->word.text;

        if (redir->kind == REDIR_TEXT)
            command->in = (struct danger_stream){ redir->word.facts, path };
        else if (redir->kind == REDIR_WRITE)
            continue;
        else if (is_socket(path) && exec)
            scan->socket = true;
        else if (is_socket(path) ||
                 (scan->socket && path.n == 1 && path.p[0] >= '3' && path.p[0] <= '9'))
            command->in = (struct danger_stream){ .facts = FACT_NETWORK };
        else if (redir->word.facts || redir->word.script.p)
            command->in = (struct danger_stream){ redir->word.facts, redir->word.script };
        else
            command->in = danger_read_file(scan, path);
    }
}

static struct danger_stream call_function(struct danger_scan *scan,
                                          const struct danger_command *command,
                                          struct danger_function *function)
{
    struct danger_args args = scan->args;
    struct str outer = scan->function, body = function->body;
    struct danger_stream out = nothing;

    if (function->running) {
        if (command->in_pipe || command->background)
            danger_report(scan, "fork_bomb", "It would start processes without end.");
        return nothing;
    }
    function->running = true;
    if (function->alias) {
        body = str_from(arena_printf(scan->arena, "%.*s %.*s", STR_ARG(body),
                                     STR_ARG(danger_joined(scan, command, 1))));
    } else {
        scan->function = function->name;
        scan->args = (struct danger_args){ .words = command->words, .n = command->n };
    }
    out = danger_run_text(scan, body, command->in);
    scan->function = outer;
    scan->args = args;
    function->running = false;
    return out;
}

static struct danger_stream run_named(struct danger_scan *scan, struct danger_command *command)
{
    struct str name = danger_name(command->words[0].text);
    struct danger_function *function = danger_find_function(scan, command->words[0].text);
    struct danger_stream out = nothing;

    if (function)
        return call_function(scan, command, function);
    danger_run_written(scan, command);
    danger_run_options(scan, command, name);
    danger_run_escapes(scan, command, name);
    danger_run_launched(scan, command, name);
    if (danger_is(name, "make gmake"))
        danger_run_make(scan, command);
    danger_judge_source(scan, command->words[0].facts);
    if (danger_is_shell(name) && !danger_operand(command, 0) && !command->in.text.p)
        out.facts = FACT_SHELL; /* that takes commands from who knows where */
    if (danger_run_script(scan, command, name) || danger_run_wrapped(scan, command, name, &out))
        return out;
    if (str_is(name, "find"))
        return danger_run_find(scan, command);
    change_state(scan, command, name);
    danger_note_copies(scan, command, name);
    return danger_output_of(scan, command, name);
}

struct danger_stream danger_run_command(struct danger_scan *scan, struct danger_command *command)
{
    struct danger_stream out = nothing;

    if (scan->hit || !danger_charge(scan, DANGER_COMMAND + command->n * DANGER_WORD))
        return nothing;
    if (++scan->depth > DANGER_DEPTH_MAX)
        danger_obscure(scan);
    read_stdin(scan, command);
    danger_judge(scan, command);
    if (!scan->hit && command->n > 0) {
        out = run_named(scan, command);
        danger_note_output(scan, command, out);
    }
    scan->depth--;
    return out;
}
