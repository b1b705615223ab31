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

static bool is_option(struct str word)
{
    return word.n > 1 && word.p[0] == '-';
}

bool danger_has_flag(const struct danger_command *command, const char *letters, const char *longer)
{
    for (size_t i = 1; i < command->n; i++) {
        struct str word = command->words[i].text;

        if (str_is(word, "--"))
            return false;
        if (!is_option(word))
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

const struct danger_word *danger_operand(const struct danger_command *command, size_t i)
{
    bool only_operands = false;

    for (size_t at = 1; at < command->n; at++) {
        struct str word = command->words[at].text;

        if (!only_operands && str_is(word, "--"))
            only_operands = true;
        else if ((only_operands || !is_option(word)) && i-- == 0)
            return &command->words[at];
    }
    return NULL;
}

static struct str joined(struct danger_scan *scan, const struct danger_command *command,
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

/* ---- commands that run another ---- */

static void run_eval(struct danger_scan *scan, const struct danger_command *command, size_t from);

static const struct wrapper {
    const char *names;
    const char *with_value; /* options that take the next word */
    size_t operands;        /* of its own, before the other command */
} wrappers[] = {
    { "nohup setsid command builtin exec unbuffer busybox toybox eatmydata caffeinate firejail", "",
      0 },
    { "sudo doas", "-u -g -h -p -C -D -R -T -U -r -t", 0 },
    { "env", "-u -C", 0 },
    { "nice", "-n", 0 },
    { "ionice", "-c -n -p", 0 },
    { "timeout", "-s -k", 1 },
    { "stdbuf", "-i -o -e", 0 },
    { "taskset chrt", "", 1 },
    { "chroot", "", 1 },
    { "strace ltrace", "-o -e -p -s", 0 },
    { "xargs parallel", "-I -n -P -L -d -a -s -E", 0 },
    { "flock", "-w -E", 1 },
    { "time", "-f -o", 0 },
    { "watch", "-n --interval", 0 },
};

static const struct wrapper *wrapper_of(struct str name)
{
    for (size_t i = 0; i < ARRAY_LEN(wrappers); i++)
        if (danger_is(name, wrappers[i].names))
            return &wrappers[i];
    return NULL;
}

/* Where the other command begins; command->n when there is none. */
static size_t inner_at(const struct danger_command *command, const struct wrapper *wrapper)
{
    size_t at = 1, left = wrapper->operands;

    for (; at < command->n; at++) {
        struct str word = command->words[at].text;

        if (str_is(word, "--"))
            continue;
        if (danger_is(word, wrapper->with_value))
            at++;
        else if (!is_option(word) && str_find_char(word, '=') <= 0) {
            if (left == 0)
                return at;
            left--;
        }
    }
    return at;
}

static void add_word(struct danger_scan *scan, struct danger_command *command, struct str text)
{
    struct danger_word *more = ARENA_NEW_N(scan->arena, struct danger_word, command->n + 1);

    if (command->n)
        memcpy(more, command->words, command->n * sizeof(*more));
    more[command->n] = (struct danger_word){ text, 0 };
    command->words = more;
    command->n++;
}

static struct danger_stream run_wrapped(struct danger_scan *scan, struct danger_command *command,
                                        const struct wrapper *wrapper)
{
    size_t at = inner_at(command, wrapper);
    bool xargs = danger_is(danger_base(command->words[0].text), "xargs parallel");
    struct danger_command inner = *command;
    struct str rest = command->in.text, one;

    if (at >= command->n)
        return nothing;
    if (str_is(danger_base(command->words[0].text), "watch")) {
        run_eval(scan, command, at); /* by a shell, again and again */
        return nothing;
    }
    inner.words += at;
    inner.n -= at;
    inner.redirs_n = 0;
    if (xargs && rest.p) {
        for (int i = 0; i < 64 && str_split(&rest, ' ', &one); i++)
            if (str_trim(one).n)
                add_word(scan, &inner, str_trim(one));
        inner.in = nothing;
    }
    return danger_run_command(scan, &inner);
}

/* find ... -exec COMMAND ; */
static void run_find(struct danger_scan *scan, const struct danger_command *command)
{
    for (size_t i = 1; i < command->n; i++) {
        struct danger_command inner = { .words = command->words + i + 1 };

        if (!danger_is(command->words[i].text, "-exec -execdir -ok -okdir"))
            continue;
        while (i + 1 + inner.n < command->n && !danger_is(inner.words[inner.n].text, "; +"))
            inner.n++;
        if (inner.n)
            danger_run_command(scan, &inner);
    }
}

/* ---- text that is run ---- */

static void judge_source(struct danger_scan *scan, unsigned facts)
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

/* Code of another language: shell commands in its strings, and its own ways. */
static void run_code(struct danger_scan *scan, struct str code)
{
    static const struct {
        const char *all[3], *rule, *about;
    } patterns[] = {
        { { "socket", "connect", "dup2" },
          "reverse_shell",
          "A shell would be handed to the network." },
        { { "socket", "connect", "pty" },
          "reverse_shell",
          "A shell would be handed to the network." },
        { { "socket", "connect", "/bin/" },
          "reverse_shell",
          "A shell would be handed to the network." },
        { { "fsockopen", "exec", "" }, "reverse_shell", "A shell would be handed to the network." },
        { { "TCPSocket", "exec", "" }, "reverse_shell", "A shell would be handed to the network." },
        { { "Socket", "STDIN", "exec" },
          "reverse_shell",
          "A shell would be handed to the network." },
        { { "b64decode", "exec", "" },
          "decoded_text_run",
          "Text that was encoded to be unreadable would be run." },
        { { "fork while fork", "", "" }, "fork_bomb", "It would start processes without end." },
        { { "os.fork()", "while", "" }, "fork_bomb", "It would start processes without end." },
        { { "rmtree('/')", "", "" }, "recursive_delete_of_root", "It would delete everything." },
        { { "rmtree(\"/\")", "", "" }, "recursive_delete_of_root", "It would delete everything." },
        { { "urlopen", "exec(", "" },
          "download_piped_to_shell",
          "What a server sends would be run as it comes." },
    };

    for (size_t i = 0; i < ARRAY_LEN(patterns); i++) {
        bool all = true;

        for (size_t k = 0; k < 3; k++)
            all = all && str_find(code, str_from(patterns[i].all[k])) >= 0;
        if (all) {
            danger_report(scan, patterns[i].rule, patterns[i].about);
            return;
        }
    }
    if (str_find(code, STR("system")) < 0 && str_find(code, STR("exec")) < 0 &&
        str_find(code, STR("popen")) < 0 && str_find(code, STR("subprocess")) < 0 &&
        str_find(code, STR("spawn")) < 0)
        return;
    for (size_t i = 0; i < code.n && !scan->hit; i++) {
        ptrdiff_t end;

        if (code.p[i] != '\'' && code.p[i] != '"' && code.p[i] != '`')
            continue;
        end = str_find_char(str_skip(code, i + 1), code.p[i]);
        if (end < 0)
            return;
        danger_run_text(scan, str_take(str_skip(code, i + 1), (size_t)end), nothing);
        i += (size_t)end + 1;
    }
}

/* The word behind an option with this letter ("-c", "-lc"). */
static const struct danger_word *option_value(const struct danger_command *command, char letter)
{
    for (size_t i = 1; i + 1 < command->n; i++) {
        struct str word = command->words[i].text;

        if (!is_option(word))
            return NULL;
        if (word.p[1] != '-' && str_find_char(word, letter) > 0) {
            for (i++; i < command->n; i++)
                if (!is_option(command->words[i].text))
                    return &command->words[i];
            return NULL;
        }
    }
    return NULL;
}

static bool was_downloaded(const struct danger_scan *scan, struct str path)
{
    if (str_starts(path, STR("./")))
        path = str_skip(path, 2);
    for (size_t i = 0; i < scan->downloads_n; i++)
        if (path.n && str_eq(scan->downloads[i], path))
            return true;
    return false;
}

static void run_shell(struct danger_scan *scan, const struct danger_command *command)
{
    const struct danger_word *script = option_value(command, 'c'),
                             *file = danger_operand(command, 0);

    if (script) {
        judge_source(scan, script->facts);
        danger_run_text(scan, danger_plain(scan, script->text), command->in);
    } else if (file && !danger_has_flag(command, "s", NULL)) {
        judge_source(scan, file->facts | (was_downloaded(scan, file->text) ? FACT_DOWNLOAD : 0));
    } else {
        judge_source(scan, command->in.facts);
        if (command->in.text.p)
            danger_run_text(scan, command->in.text, nothing);
    }
}

static void run_eval(struct danger_scan *scan, const struct danger_command *command, size_t from)
{
    for (size_t i = from; i < command->n; i++)
        judge_source(scan, command->words[i].facts);
    danger_run_text(scan, joined(scan, command, from), nothing);
}

static void run_interpreter(struct danger_scan *scan, const struct danger_command *command)
{
    const struct danger_word *code = option_value(command, 'c');

    if (!code)
        code = option_value(command, 'e');
    if (!code)
        code = option_value(command, 'r');
    if (code) {
        judge_source(scan, code->facts);
        run_code(scan, danger_plain(scan, code->text));
    } else if (danger_reads_script(command)) {
        judge_source(scan, command->in.facts);
        if (command->in.text.p)
            run_code(scan, command->in.text);
    }
}

/* Words that are text for a shell. True when it was such a command. */
static bool run_nested(struct danger_scan *scan, const struct danger_command *command,
                       struct str name)
{
    const struct danger_word *text;

    if (danger_is_shell(name))
        run_shell(scan, command);
    else if (str_is(name, "eval"))
        run_eval(scan, command, 1);
    else if (danger_is(name, ". source")) {
        text = danger_operand(command, 0);
        if (text)
            judge_source(scan, text->facts |
                                   (was_downloaded(scan, text->text) ? FACT_DOWNLOAD : 0) |
                                   (danger_is(text->text, "/dev/stdin -") ? command->in.facts : 0));
    } else if (danger_is(name, "su script")) {
        text = option_value(command, 'c');
        if (text)
            danger_run_text(scan, danger_plain(scan, text->text), nothing);
    } else if (danger_is(name, "trap alias")) {
        text = danger_operand(command, 0);
        if (text) {
            ptrdiff_t is = str_is(name, "alias") ? str_find_char(text->text, '=') : -1;

            danger_run_text(scan, danger_plain(scan, str_skip(text->text, (size_t)(is + 1))),
                            nothing);
        }
    } else if (str_is(name, "ssh") && danger_operand(command, 1))
        run_eval(scan, command, (size_t)(danger_operand(command, 1) - command->words));
    else if (str_is(name, "find"))
        run_find(scan, command);
    else if (danger_is(name, "python python2 python3 perl ruby node nodejs php deno bun lua"))
        run_interpreter(scan, command);
    else
        return false;
    return true;
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

static void set_variables(struct danger_scan *scan, const struct danger_command *command,
                          struct str name)
{
    static const char unknown[] = { MARK_UNKNOWN };

    for (size_t i = 1; i < command->n; i++) {
        struct str word = command->words[i].text;
        ptrdiff_t is = str_find_char(word, '=');

        if (danger_is(name, "read mapfile readarray") && !is_option(word))
            danger_set_var(scan, word, str_of(unknown, 1), command->in.facts);
        else if (is > 0)
            danger_set_var(scan, str_take(word, (size_t)is),
                           danger_plain(scan, str_skip(word, (size_t)is + 1)),
                           command->words[i].facts);
    }
}

static void note_download(struct danger_scan *scan, const struct danger_command *command)
{
    for (size_t i = 1; i < command->n && scan->downloads_n < ARRAY_LEN(scan->downloads); i++) {
        struct str word = command->words[i].text;

        if (danger_is(word, "-o -O --output --output-document") && i + 1 < command->n &&
            !is_option(command->words[i + 1].text))
            scan->downloads[scan->downloads_n++] = danger_base(command->words[i + 1].text);
        else if (str_find(word, STR("://")) > 0)
            scan->downloads[scan->downloads_n++] = danger_base(word);
    }
}

/* Files that hold what was downloaded or decoded: running them is running that. */
static void note_written(struct danger_scan *scan, const struct danger_command *command)
{
    for (size_t i = 0; i < command->redirs_n && scan->downloads_n < ARRAY_LEN(scan->downloads); i++)
        if (command->redirs[i].kind == REDIR_WRITE)
            scan->downloads[scan->downloads_n++] = command->redirs[i].word.text;
}

static int hex(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Backslash escapes as echo -e and printf know them. */
static void unescape(struct str from, struct buf *out)
{
    for (size_t i = 0; i < from.n; i++) {
        unsigned value = 0, digits = 0;
        char c = from.p[i];

        if (c != '\\' || i + 1 >= from.n) {
            buf_add_char(out, c);
            continue;
        }
        c = from.p[++i];
        if (c == 'x')
            for (; digits < 2 && i + 1 < from.n && hex(from.p[i + 1]) >= 0; digits++)
                value = value * 16 + (unsigned)hex(from.p[++i]);
        else if (c >= '0' && c <= '7')
            for (value = (unsigned)(c - '0'), digits = 1;
                 digits < 4 && i + 1 < from.n && from.p[i + 1] >= '0' && from.p[i + 1] <= '7';
                 digits++)
                value = value * 8 + (unsigned)(from.p[++i] - '0');
        if (digits)
            buf_add_char(out, value >= 0x20 && value < 0x7f ? (char)value
                              : value == '\n'               ? '\n'
                                                            : MARK_UNKNOWN);
        else
            buf_add_char(out, c == 'n' ? '\n' : c == 't' ? '\t' : c);
    }
}

/* A format with its words; each conversion takes one, whatever its letter. */
static void print_format(struct danger_scan *scan, const struct danger_command *command,
                         struct buf *out)
{
    struct str format = danger_plain(scan, command->words[1].text);
    size_t next = 2;

    for (size_t i = 0; i < format.n; i++) {
        if (format.p[i] != '%' || i + 1 >= format.n) {
            buf_add_char(out, format.p[i]);
        } else if (format.p[++i] == '%') {
            buf_add_char(out, '%');
        } else {
            while (i + 1 < format.n && strchr("-+ #0123456789.", format.p[i]))
                i++;
            if (next < command->n)
                buf_add_str(out, danger_plain(scan, command->words[next++].text));
        }
    }
}

static struct str printed(struct danger_scan *scan, const struct danger_command *command,
                          struct str name)
{
    AUTO_BUF text = BUF_INIT(DANGER_BYTES_MAX), out = BUF_INIT(DANGER_BYTES_MAX);
    size_t from = 1;

    if (str_is(name, "echo")) {
        while (from < command->n && danger_is(command->words[from].text, "-n -e -E -ne -en"))
            from++;
        buf_add_str(&text, joined(scan, command, from));
    } else if (command->n > 1) {
        print_format(scan, command, &text);
    }
    unescape(buf_str(&text), &out);
    return arena_str(scan->arena, buf_str(&out));
}

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
         str_is(danger_operand(command, 0)->text, "s_client")))
        out.facts |= FACT_NETWORK;
    if (decodes(command, name))
        out.facts |= FACT_DECODED;
    else if (danger_is(name, "echo printf"))
        out.text = printed(scan, command, name);
    else if (str_is(name, "pwd"))
        out.text = scan->cwd.n ? scan->cwd : STR(".");
    else if (danger_is(name, "cat tee") && !(str_is(name, "cat") && danger_operand(command, 0)))
        out.text = command->in.text;
    if (out.facts)
        note_written(scan, command);
    return out;
}

/* ---- all of it ---- */

static void read_stdin(struct danger_command *command)
{
    for (size_t i = 0; i < command->redirs_n; i++) {
        if (command->redirs[i].kind == REDIR_TEXT)
            command->in = (struct danger_stream){ command->redirs[i].word.facts,
                                                  command->redirs[i].word.text };
        if (command->redirs[i].kind == REDIR_READ && command->redirs[i].word.facts)
            command->in = (struct danger_stream){ .facts = command->redirs[i].word.facts };
    }
}

static struct danger_stream run_named(struct danger_scan *scan, struct danger_command *command)
{
    struct str name = danger_base(command->words[0].text);
    const struct wrapper *wrapper = wrapper_of(name);

    if (wrapper)
        return run_wrapped(scan, command, wrapper);
    if (was_downloaded(scan, command->words[0].text) &&
        str_find_char(command->words[0].text, '/') >= 0)
        judge_source(scan, FACT_DOWNLOAD);
    if (command->words[0].facts)
        judge_source(scan, command->words[0].facts);
    if (run_nested(scan, command, name))
        return nothing;
    if (danger_is(name, "cd pushd"))
        change_directory(scan, command);
    else if (danger_is(name, "export declare local readonly typeset read mapfile readarray"))
        set_variables(scan, command, name);
    return output_of(scan, command, name);
}

struct danger_stream danger_run_command(struct danger_scan *scan, struct danger_command *command)
{
    struct danger_stream out = nothing;

    if (scan->hit)
        return nothing;
    if (++scan->depth > DANGER_DEPTH_MAX)
        danger_obscure(scan);
    read_stdin(command);
    danger_judge(scan, command);
    if (!scan->hit && command->n > 0)
        out = run_named(scan, command);
    scan->depth--;
    return out;
}
