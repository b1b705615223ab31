/* Lists, pipelines and compound commands.
 *
 * The grammar is followed as far as it decides what is run and what flows where; conditions are not
 * weighed: every branch is read as if it were taken.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "base/alloc.h"
#include "policy/danger_int.h"

static const struct danger_stream nothing = { 0 };

/* Blanks, newlines and what separates commands. */
static void skip_separators(struct danger_reader *r)
{
    for (;;) {
        int c;

        danger_skip_blanks(r);
        c = danger_peek(r, 0);
        if (c == '\n')
            danger_newline(r);
        else if (c == ';' || c == '&' || c == '|')
            r->at++;
        else
            return;
    }
}

/* The plain word at the reader, as it stands. */
static struct str raw_word(const struct danger_reader *r)
{
    size_t n = 0;

    while (danger_peek(r, n) >= 0 && !strchr(" \t\r\n;&|()<>\"'\\$`", danger_peek(r, n)))
        n++;
    return str_of(r->s.p + r->at, n);
}

/* The same when it can be a keyword: no quote, escape or expansion is part of it. */
static struct str keyword(const struct danger_reader *r)
{
    struct str word = raw_word(r);
    int next = danger_peek(r, word.n);

    return next >= 0 && strchr("\"'\\$`", next) ? STR_NONE : word;
}

/* ---- compound commands ---- */

static struct danger_stream run_one(struct danger_reader *r, struct danger_stream in, bool piped);

/* At "name()": its length with the parentheses, else 0. */
static size_t function_head(const struct danger_reader *r)
{
    size_t n = raw_word(r).n, at = n;

    while (danger_peek(r, at) == ' ')
        at++;
    if (n == 0 || danger_peek(r, at) != '(')
        return 0;
    at++;
    while (danger_peek(r, at) == ' ')
        at++;
    return danger_peek(r, at) == ')' ? at + 1 : 0;
}

static void run_function(struct danger_reader *r, struct str name)
{
    struct str outer = r->scan->function;
    struct danger_args args = r->scan->args;
    size_t from;

    r->scan->function = name;
    r->scan->args = (struct danger_args){ .unknown = true };
    while (danger_peek(r, 0) == '\n' || danger_peek(r, 0) == ' ' || danger_peek(r, 0) == '\t')
        r->at++;
    from = r->at;
    run_one(r, nothing, false);
    danger_add_function(r->scan, name, str_of(r->s.p + from, r->at - from), false);
    r->scan->function = outer;
    r->scan->args = args;
}

/* What a for goes through. */
struct loop {
    struct str name;
    struct danger_word *words;
    size_t n;
};

/* "for NAME in WORDS": the variable holds all of them, so that each is looked at. Without "in" they
 * are the arguments. */
static struct loop read_for(struct danger_reader *r)
{
    struct loop loop = { .n = 0 };
    struct danger_word all;

    danger_skip_blanks(r);
    if (danger_peek(r, 0) == '(' && danger_peek(r, 1) == '(' && danger_read_arithmetic(r))
        return loop;
    loop.name = raw_word(r);
    r->at += loop.name.n;
    danger_skip_blanks(r);
    if (!str_is(raw_word(r), "in")) {
        all = danger_expand_text(r->scan, STR("$*"));
        danger_set_var(r->scan, loop.name, all.text, all.facts);
        return loop;
    }
    r->at += 2;
    for (danger_skip_blanks(r);
         danger_peek(r, 0) >= 0 && !strchr("\n;&|()<>", danger_peek(r, 0)) && !r->scan->hit;
         danger_skip_blanks(r))
        danger_read_word(r, &loop.words, &loop.n);
    all = danger_all_of(r->scan, loop.words, loop.n);
    danger_set_var(r->scan, loop.name, all.text, all.facts);
    return loop;
}

/* Does the body choose among the names it is given? */
static bool chooses(struct str body)
{
    static const char *const words[] = { "if ", "[ ", "[[", "case ", "test ", "continue", "break" };

    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (str_find(body, str_from(words[i])) >= 0)
            return true;
    return false;
}

/* The body, which began at `from`, once more for each word that is the system, a home or all that
 * is there: what happens to that one alone counts, whatever stands beside it. */
static void run_for_vital(struct danger_reader *r, const struct loop *loop, size_t from)
{
    struct str body = str_of(r->s.p + from, r->at - from);
    size_t end = r->at, body_end = r->body_end;

    for (size_t i = 0; i < loop->n && !r->scan->hit; i++) {
        struct str path = danger_path(r->scan, loop->words[i].text);

        if (!danger_path_vital(path) || (path.n == 0 && chooses(body)))
            continue;
        if (!danger_charge(r->scan, body.n + DANGER_ATTEMPT))
            return;
        danger_set_var(r->scan, loop->name, loop->words[i].text, loop->words[i].facts);
        r->at = from;
        r->body_end = 0;
        danger_run_list(r, "done", nothing);
        r->at = end;
        r->body_end = body_end;
    }
}

static void read_case(struct danger_reader *r)
{
    danger_skip_blanks(r);
    danger_read_single(r);
    skip_separators(r);
    if (str_is(raw_word(r), "in"))
        r->at += 2;
}

/* [[ ... ]]: compares and runs nothing, but for the substitutions in its words. */
static void read_test(struct danger_reader *r)
{
    struct danger_word *words = NULL;
    size_t n = 0;

    for (r->at += 2; !r->scan->hit; n = 0) {
        danger_skip_blanks(r);
        if (danger_peek(r, 0) < 0 || danger_peek(r, 0) == ';')
            return; /* not closed: the next command begins here */
        if (str_is(keyword(r), "]]")) {
            r->at += 2;
            return;
        }
        if (danger_peek(r, 0) == '\n')
            danger_newline(r);
        else if (danger_peek(r, 0) == '(' ||
                 (strchr("&|)<>", danger_peek(r, 0)) && danger_peek(r, 1) != '('))
            r->at++;
        else if (danger_charge(r->scan, DANGER_WORD))
            danger_read_word(r, &words, &n);
    }
}

/* Redirections behind a compound command, whose list began at `from`. When they tell what it reads,
 * it is read once more with that. */
static struct danger_stream run_trailing(struct danger_reader *r, size_t from, const char *closer,
                                         struct danger_stream out)
{
    struct danger_command command = { .n = 0 };
    size_t end, body_end;

    for (danger_skip_blanks(r); danger_read_redirection(r, &command) || danger_descriptor(r) > 0;
         danger_skip_blanks(r))
        r->at += danger_descriptor(r);
    if (command.redirs_n == 0)
        return out;
    danger_run_command(r->scan, &command);
    if (command.in.facts || command.in.text.p) {
        end = r->at;
        body_end = r->body_end;
        danger_charge(r->scan, end - from);
        r->at = from;
        r->body_end = 0;
        out = danger_run_list(r, closer, command.in);
        r->at = end;
        r->body_end = body_end;
    }
    danger_note_output(r->scan, &command, out);
    return out;
}

static struct danger_stream run_compound(struct danger_reader *r, struct str word,
                                         struct danger_stream in)
{
    static const struct {
        const char *opener, *closer;
    } pairs[] = { { "{", "}" },      { "if", "fi" },       { "while", "done" }, { "until", "done" },
                  { "for", "done" }, { "select", "done" }, { "case", "esac" } };
    struct danger_stream out = nothing;
    struct loop loop = { .n = 0 };
    const char *closer = "}";
    size_t from;

    r->at += word.n;
    if (str_is(word, "for") || str_is(word, "select"))
        loop = read_for(r);
    if (str_is(word, "case"))
        read_case(r);
    for (size_t i = 0; i < ARRAY_LEN(pairs); i++)
        if (str_is(word, pairs[i].opener))
            closer = pairs[i].closer;
    from = r->at;
    out = danger_run_list(r, closer, in);
    run_for_vital(r, &loop, from);
    return run_trailing(r, from, closer, out);
}

static struct danger_stream run_subshell(struct danger_reader *r, struct danger_stream in)
{
    struct str cwd = r->scan->cwd;
    struct danger_stream out;
    size_t from;

    if (danger_peek(r, 1) == '(' && !r->scan->plain && danger_read_arithmetic(r))
        return nothing;
    from = ++r->at;
    out = danger_run_list(r, ")", in);
    r->scan->cwd = cwd;
    out = run_trailing(r, from, ")", out);
    r->scan->cwd = cwd;
    return out;
}

/* "time -p", "coproc NAME {": what stands between the word and the command. */
static void skip_prefix(struct danger_reader *r, struct str word)
{
    struct danger_reader ahead = *r;
    struct str next = raw_word(r);

    if (str_is(word, "time") && danger_is(next, "-p --"))
        r->at += next.n;
    danger_skip_blanks(r);
    ahead.at += next.n;
    danger_skip_blanks(&ahead);
    if (str_is(word, "coproc") && next.n > 0 &&
        (danger_peek(&ahead, 0) == '{' || danger_peek(&ahead, 0) == '('))
        r->at = ahead.at;
}

static struct danger_stream run_one(struct danger_reader *r, struct danger_stream in, bool piped)
{
    struct str word = keyword(r);
    size_t head;

    while (danger_is(word, "! time then else elif do coproc")) {
        r->at += word.n;
        danger_skip_blanks(r);
        skip_prefix(r, word);
        word = keyword(r);
    }
    if (danger_peek(r, 0) == '(')
        return run_subshell(r, in);
    if (str_is(word, "[[") && !r->scan->plain) {
        read_test(r);
        return nothing;
    }
    if (str_is(word, "function")) {
        r->at += word.n;
        danger_skip_blanks(r);
        word = raw_word(r);
        head = function_head(r);
        r->at += head ? head : word.n;
        run_function(r, word);
        return nothing;
    }
    if (danger_is(word, "{ if while until for select case"))
        return run_compound(r, word, in);
    head = function_head(r);
    if (head > 0) {
        r->at += head;
        run_function(r, word);
        return nothing;
    }
    return danger_run_simple(r, in, piped);
}

static struct danger_stream run_pipeline(struct danger_reader *r, struct danger_stream in)
{
    struct danger_stream stream = in;
    bool piped = false;

    for (;;) {
        size_t before = r->at;

        stream = run_one(r, stream, piped);
        danger_skip_blanks(r);
        if (r->scan->hit || !danger_follows_pipe(r))
            return stream;
        if (r->at == before)
            return stream;
        r->at += danger_peek(r, 1) == '&' ? 2 : 1;
        for (danger_skip_blanks(r); danger_peek(r, 0) == '\n'; danger_skip_blanks(r))
            danger_newline(r);
        piped = true;
    }
}

struct danger_stream danger_run_list(struct danger_reader *r, const char *closer,
                                     struct danger_stream in)
{
    struct danger_stream all = { .text = STR("") };
    bool any = false;

    if (++r->scan->depth > DANGER_DEPTH_MAX)
        danger_obscure(r->scan);
    while (!r->scan->hit) {
        size_t before;
        struct str word;

        skip_separators(r);
        before = r->at;
        if (danger_peek(r, 0) < 0)
            break;
        if (danger_peek(r, 0) == ')') {
            r->at++;
            if (closer && *closer == ')')
                break;
            continue; /* of a case's pattern */
        }
        word = keyword(r);
        if (word.n > 0 && closer && str_is(word, closer)) {
            r->at += word.n;
            break;
        }
        if (danger_is(word, "} fi done esac")) {
            r->at += word.n;
            continue;
        }
        danger_join(r->scan, &all, run_pipeline(r, in));
        any = true;
        if (r->at == before)
            r->at++; /* a byte that begins nothing */
    }
    r->scan->depth--;
    return any ? all : nothing;
}

struct danger_stream danger_run_text(struct danger_scan *scan, struct str text,
                                     struct danger_stream in)
{
    struct danger_reader reader = { .scan = scan, .s = text };

    if (scan->hit || !danger_charge(scan, text.n))
        return nothing;
    return danger_run_list(&reader, NULL, in);
}

bool danger_shell_plain(struct danger_scan *scan, struct str shell)
{
    bool sh = str_is(shell, "sh");

    scan->sh_seen = scan->sh_seen || sh;
    return sh ? scan->sh_plain : !danger_is(shell, "bash rbash zsh ksh mksh");
}

struct danger_stream danger_run_text_by(struct danger_scan *scan, const char *shell,
                                        struct str text, struct danger_stream in)
{
    bool outer = scan->plain;
    struct danger_stream out;

    scan->plain = danger_shell_plain(scan, str_from(shell));
    out = danger_run_text(scan, text, in);
    scan->plain = outer;
    return out;
}
