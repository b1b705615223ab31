/* Shells and interpreters: where the script comes from that they would run.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "base/alloc.h"
#include "policy/danger_int.h"

static const struct danger_stream nothing = { 0 };

static const struct family {
    const char *names;
    const char *code;       /* letters of the options that are followed by code */
    const char *longer;     /* the same, long */
    const char *with_value; /* other options that take the next word */
    const char *module;     /* an option behind which there is no script */
} families[] = {
    { "sh bash dash zsh ksh mksh ash fish csh tcsh rbash yash osh", "c", "--command",
      "-o +o -O +O --rcfile --init-file", "" },
    { "python python2 python3 pypy pypy3", "c", "", "-W -X", "-m" },
    { "perl", "eE", "", "-I -M -m", "" },
    { "ruby", "e", "", "-r -I -C", "" },
    { "node nodejs bun", "ep", "--eval --print", "-r -C --require --import --loader --conditions",
      "" },
    { "php", "r", "--run", "-d -c", "" },
    { "lua luajit", "e", "", "-l", "" },
    { "Rscript julia osascript", "eE", "--eval", "-l", "" },
    { "gnuplot octave R sage", "e", "--eval", "-f", "" },
    { "emacs emacsclient", "", "--eval -eval --execute", "-l --load", "" },
    { "deno", "", "eval", "", "run" },
};

static const struct family *family_of(struct str name)
{
    for (size_t i = 0; i < ARRAY_LEN(families); i++)
        if (danger_is(name, families[i].names))
            return &families[i];
    return NULL;
}

bool danger_is_interpreter(struct str name)
{
    return family_of(name) != NULL;
}

/* How a script is called. */
struct call {
    struct danger_word code; /* text.p NULL: none */
    size_t file;             /* index of the script's name; 0: none */
    size_t rest;             /* of the first argument behind the code */
    bool module, from_stdin; /* -m; -s */
};

/* Letters in one word: "-euo", "-lc", "-ne", "-e'code'". True when code follows. */
static bool read_bundle(const struct family *family, struct danger_word word, struct call *call,
                        size_t *values)
{
    bool shell = family == &families[0], code = false;

    for (size_t k = 1; k < word.text.n; k++) {
        char c = word.text.p[k];

        if (shell && (c == 'o' || c == 'O'))
            ++*values;
        else if (shell && c == 's')
            call->from_stdin = true;
        else if (word.text.p[0] == '-' && c && strchr(family->code, c)) {
            code = true;
            if (!shell && k + 1 < word.text.n) { /* the code stands in the same word */
                call->code = word;
                call->code.text = str_skip(word.text, k + 1);
                return true;
            }
        } else if (!shell && k == 1 && danger_is(str_take(word.text, 2), family->with_value)) {
            return false; /* its value stands in the same word */
        }
    }
    return code;
}

/* --eval=CODE, --eval CODE. True when code follows or was read. */
static bool read_long(const struct family *family, struct danger_word word, struct call *call)
{
    ptrdiff_t is = str_find_char(word.text, '=');

    if (is > 0 && danger_is(str_take(word.text, (size_t)is), family->longer)) {
        call->code = word;
        call->code.text = str_skip(word.text, (size_t)is + 1);
        return true;
    }
    return danger_is(word.text, family->longer);
}

static struct call read_call(const struct danger_command *command, const struct family *family)
{
    struct call call = { .rest = command->n };
    bool code = false, more = true;

    for (size_t i = 1; i < command->n; i++) {
        struct danger_word word = command->words[i];
        bool option = more && word.text.n > 1 && (word.text.p[0] == '-' || word.text.p[0] == '+');
        size_t values = 0;

        if (more && str_is(word.text, "--")) {
            more = false;
        } else if (more && danger_is(word.text, family->module)) {
            call.module = true;
            return call;
        } else if (more && danger_is(word.text, family->with_value)) {
            i++;
        } else if ((option && word.text.p[1] == '-') || danger_is(word.text, family->longer)) {
            code = read_long(family, word, &call) || code;
        } else if (option) {
            code = read_bundle(family, word, &call, &values) || code;
            i += values;
        } else if (code && !call.code.text.p) {
            call.code = word;
            call.rest = i + 1;
            return call;
        } else {
            call.file = call.from_stdin || call.code.text.p ? 0 : i;
            call.rest = i;
            return call;
        }
    }
    return call;
}

static bool is_stdin(struct str path)
{
    return danger_is(path, "- /dev/stdin /dev/fd/0 /proc/self/fd/0 /proc/thread-self/fd/0");
}

/* What it would read as its script: a file that the command wrote, <(...), or standard input. */
static struct danger_stream script_of(struct danger_scan *scan,
                                      const struct danger_command *command,
                                      const struct danger_word *file)
{
    struct danger_stream script;

    if (!file || is_stdin(file->text))
        return command->in;
    if (file->script.p || file->facts)
        return (struct danger_stream){ file->facts, file->script };
    if (str_eq(danger_base(file->text), scan->script))
        return nothing; /* it calls itself */
    script = danger_read_file(scan, file->text);
    return script;
}

/* Runs text with these arguments, words[0] being $0. */
static void run_with(struct danger_scan *scan, struct str text, const struct danger_word *words,
                     size_t n, struct danger_stream in)
{
    struct danger_args args = scan->args;

    scan->args = (struct danger_args){ .words = n ? words : NULL, .n = n };
    danger_run_text(scan, text, in);
    scan->args = args;
}

static void run_file(struct danger_scan *scan, const struct danger_command *command, size_t file)
{
    struct str outer = scan->script;
    struct danger_stream script = script_of(scan, command, file ? &command->words[file] : NULL);

    danger_judge_source(scan, script.facts);
    if (!script.text.p)
        return;
    if (file)
        scan->script = danger_base(command->words[file].text);
    run_with(scan, script.text, command->words + file, command->n - file, nothing);
    scan->script = outer;
}

static void run_shell(struct danger_scan *scan, const struct danger_command *command,
                      const struct call *call)
{
    if (call->code.text.p) {
        danger_judge_source(scan, call->code.facts);
        run_with(scan, danger_plain(scan, call->code.text), command->words + call->rest,
                 command->n - call->rest, command->in);
    } else if (call->from_stdin) { /* what follows are its arguments, behind $0 */
        danger_judge_source(scan, command->in.facts);
        if (command->in.text.p && call->rest > 0)
            run_with(scan, command->in.text, command->words + call->rest - 1,
                     command->n - call->rest + 1, nothing);
    } else {
        run_file(scan, command, call->file);
    }
}

/* Code that runs commands may be given them: as arguments, as values of -v, to read. */
static void run_given(struct danger_scan *scan, const struct danger_command *command, size_t from,
                      struct str code)
{
    if (!danger_code_runs(code))
        return;
    for (size_t i = from; i < command->n && !scan->hit; i++) {
        struct str word = danger_plain(scan, command->words[i].text);
        ptrdiff_t is = str_find_char(word, '=');

        if (str_eq(word, code))
            continue;
        danger_run_text_by(scan, "sh", word, nothing);
        if (is > 0 && str_find_char(str_take(word, (size_t)is), ' ') < 0)
            danger_run_text_by(scan, "sh", str_skip(word, (size_t)is + 1), nothing);
    }
    if (command->in.text.p)
        danger_run_text_by(scan, "sh", command->in.text, nothing);
}

static void run_interpreter(struct danger_scan *scan, const struct danger_command *command,
                            const struct call *call)
{
    struct str outer = scan->script;
    struct danger_stream script;

    if (call->module)
        return;
    if (call->code.text.p) {
        danger_judge_source(scan, call->code.facts);
        danger_run_code(scan, danger_plain(scan, call->code.text));
        run_given(scan, command, call->rest, danger_plain(scan, call->code.text));
        return;
    }
    script = script_of(scan, command, call->file ? &command->words[call->file] : NULL);
    danger_judge_source(scan, script.facts);
    if (!script.text.p)
        return;
    if (call->file)
        scan->script = danger_base(command->words[call->file].text);
    danger_run_code(scan, script.text);
    scan->script = outer;
}

/* ---- others that run text ---- */

static void run_eval(struct danger_scan *scan, const struct danger_command *command)
{
    for (size_t i = 1; i < command->n; i++)
        danger_judge_source(scan, command->words[i].facts);
    danger_run_text(scan, danger_joined(scan, command, 1), nothing);
}

/* su root -c TEXT, script -qc TEXT: the option may stand anywhere. */
static bool run_option(struct danger_scan *scan, const struct danger_command *command)
{
    for (size_t i = 1; i < command->n; i++) {
        struct str word = command->words[i].text;
        struct str text = i + 1 < command->n ? command->words[i + 1].text : STR_NONE;

        if (str_starts(word, STR("--command=")))
            text = str_skip(word, 10);
        else if (!str_is(word, "--command") &&
                 !(danger_is_option(word) && word.p[1] != '-' && word.p[word.n - 1] == 'c'))
            continue;
        danger_run_text_by(scan, "sh", danger_plain(scan, text), nothing);
        return true;
    }
    return false;
}

static void run_alias(struct danger_scan *scan, const struct danger_command *command)
{
    for (size_t i = 1; i < command->n; i++) {
        struct str word = danger_plain(scan, command->words[i].text);
        ptrdiff_t is = str_find_char(word, '=');

        if (is <= 0)
            continue;
        danger_run_text(scan, str_skip(word, (size_t)is + 1), nothing);
        danger_add_function(scan, str_take(word, (size_t)is), str_skip(word, (size_t)is + 1), true);
    }
}

/* awk: every word may be the program. */
static void run_awk(struct danger_scan *scan, const struct danger_command *command)
{
    for (size_t i = 1; i < command->n && !scan->hit; i++) {
        struct str text = danger_plain(scan, command->words[i].text);

        if (danger_is(command->words[i - 1].text, "-f --file"))
            text = is_stdin(text) ? command->in.text : danger_read_file(scan, text).text;
        else if (text.n > 2 && str_starts(text, STR("-f")))
            text = danger_read_file(scan, str_skip(text, 2)).text;
        else if (danger_is_option(text))
            continue;
        danger_run_code(scan, text);
        run_given(scan, command, 1, text);
    }
}

static bool run_words(struct danger_scan *scan, const struct danger_command *command,
                      struct str name)
{
    const struct danger_word *text = danger_operand(command, 0);

    if (str_is(name, "eval"))
        run_eval(scan, command);
    else if (danger_is(name, ". source"))
        run_file(scan, command, text ? (size_t)(text - command->words) : 0);
    else if (danger_is(name, "su runuser script sg"))
        return run_option(scan, command) || !str_is(name, "runuser");
    else if (str_is(name, "trap") && text)
        danger_run_text(scan, danger_plain(scan, text->text), nothing);
    else if (str_is(name, "alias"))
        run_alias(scan, command);
    else
        return false;
    return true;
}

bool danger_run_script(struct danger_scan *scan, const struct danger_command *command,
                       struct str name)
{
    const struct family *family = family_of(name);
    struct call call;

    if (danger_is(name, "awk gawk mawk nawk"))
        run_awk(scan, command);
    if (danger_is(name, "sed gsed ssed"))
        danger_run_sed(scan, command);
    if (!family)
        return run_words(scan, command, name);
    call = read_call(command, family);
    if (family == &families[0]) {
        bool outer = scan->plain;

        scan->plain = danger_shell_plain(scan, name);
        run_shell(scan, command, &call);
        scan->plain = outer;
    } else {
        run_interpreter(scan, command, &call);
    }
    return true;
}
