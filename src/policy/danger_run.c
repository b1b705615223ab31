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

/* ---- files ---- */

static void note_download(struct danger_scan *scan, const struct danger_command *command)
{
    static const struct danger_stream download = { .facts = FACT_DOWNLOAD };

    for (size_t i = 1; i < command->n; i++) {
        struct str word = command->words[i].text;
        ptrdiff_t is = str_find_char(word, '=');

        bool bundle = word.n > 2 && word.p[0] == '-' && word.p[1] != '-' &&
                      (word.p[word.n - 1] == 'o' || word.p[word.n - 1] == 'O');

        if ((bundle || danger_is(word, "-o -O --output --output-document")) && i + 1 < command->n &&
            !danger_is_option(command->words[i + 1].text))
            danger_add_file(scan, command->words[i + 1].text, download);
        else if (is > 0 && danger_is(str_take(word, (size_t)is), "--output --output-document"))
            danger_add_file(scan, str_skip(word, (size_t)is + 1), download);
        else if (word.n > 2 && word.p[0] == '-' && (word.p[1] == 'o' || word.p[1] == 'O'))
            danger_add_file(scan, str_skip(word, 2), download);
        else if (str_find(word, STR("://")) > 0)
            danger_add_file(scan, word, download);
    }
}

/* Copies of files that the command wrote, links, and what tee writes. */
static void note_copies(struct danger_scan *scan, const struct danger_command *command,
                        struct str name)
{
    const struct danger_word *from = danger_operand(command, 0), *to = danger_operand(command, 1);

    if (!from)
        return;
    if (str_is(name, "tee"))
        danger_add_file(scan, from->text, command->in);
    else if (to && danger_is(name, "mv cp install"))
        danger_add_file(scan, to->text, danger_read_file(scan, from->text));
    else if (to && str_is(name, "ln") && danger_has_flag(command, "s", "symbolic"))
        danger_add_link(scan, danger_path(scan, to->text), danger_path(scan, from->text));
}

void danger_note_output(struct danger_scan *scan, const struct danger_command *command,
                        struct danger_stream out)
{
    for (size_t i = 0; i < command->redirs_n; i++) {
        const struct danger_redir *redir = &command->redirs[i];

        if (redir->kind != REDIR_WRITE)
            continue;
        danger_add_file(scan, redir->word.text, out);
        if (redir->word.sink.p)
            danger_run_text(scan, redir->word.sink, out);
    }
    for (size_t i = 1; i < command->n; i++)
        if (command->words[i].sink.p)
            danger_run_text(scan, command->words[i].sink, command->in);
}

/* ---- what it prints ---- */

static bool decodes(const struct danger_command *command, struct str name)
{
    if (danger_is(name, "base64 base32 basenc"))
        return danger_has_flag(command, "dD", "decode");
    if (str_is(name, "xxd"))
        return danger_has_flag(command, "r", "revert");
    if (str_is(name, "openssl"))
        return danger_has_flag(command, "d", NULL);
    return danger_is(name, "uudecode rev") || (str_is(name, "tr") && command->in.text.p);
}

/* cat: its files, one after another. */
static void concatenate(struct danger_scan *scan, const struct danger_command *command,
                        struct danger_stream *out)
{
    const struct danger_word *file = danger_operand(command, 0);

    out->text = STR("");
    if (!file)
        out->text = command->in.text;
    for (size_t i = 0; (file = danger_operand(command, i)) != NULL; i++)
        danger_join(scan, out,
                    danger_is(file->text, "- /dev/stdin") ? command->in
                    : file->script.p ? (struct danger_stream){ file->facts, file->script }
                                     : danger_read_file(scan, file->text));
}

static struct danger_stream output_of(struct danger_scan *scan,
                                      const struct danger_command *command, struct str name)
{
    struct danger_stream out = { .facts = command->in.facts };

    for (size_t i = 1; i < command->n; i++)
        out.facts |= command->words[i].facts;
    if (danger_is(name, "curl wget fetch aria2c lynx w3m GET http https xh")) {
        note_download(scan, command);
        out.facts |= FACT_DOWNLOAD;
    }
    if (danger_is(name, "nc ncat netcat telnet socat") ||
        (str_is(name, "openssl") && danger_operand(command, 0) &&
         str_is(danger_operand(command, 0)->text, "s_client"))) {
        if (command->in.facts & FACT_SHELL)
            danger_report(scan, "reverse_shell", "A shell would be handed to the network.");
        out.facts |= FACT_NETWORK;
    }
    if (decodes(command, name))
        out.facts |= FACT_DECODED;
    else if (danger_is(name, "echo printf"))
        out.text = danger_printed(scan, command, name, 1);
    else if (str_is(name, "pwd"))
        out.text = scan->cwd.n ? scan->cwd : STR(".");
    else if (str_is(name, "tee"))
        out.text = command->in.text;
    else if (str_is(name, "cat"))
        concatenate(scan, command, &out);
    return out;
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
    danger_judge_source(scan, command->words[0].facts);
    if (danger_is_shell(name) && !danger_operand(command, 0) && !command->in.text.p)
        out.facts = FACT_SHELL; /* that takes commands from who knows where */
    if (danger_run_script(scan, command, name) || danger_run_wrapped(scan, command, name, &out))
        return out;
    if (str_is(name, "find"))
        return danger_run_find(scan, command);
    change_state(scan, command, name);
    note_copies(scan, command, name);
    return output_of(scan, command, name);
}

struct danger_stream danger_run_command(struct danger_scan *scan, struct danger_command *command)
{
    struct danger_stream out = nothing;

    if (scan->hit)
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
