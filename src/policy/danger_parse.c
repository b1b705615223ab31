/* Lists, pipelines, compound commands, redirections and here-documents.
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

static int peek(const struct danger_reader *r, size_t ahead)
{
    return r->at + ahead < r->s.n ? (unsigned char)r->s.p[r->at + ahead] : -1;
}

/* A newline, and with it the here-documents that began on its line. */
static void newline(struct danger_reader *r)
{
    r->at++;
    if (r->body_end > r->at)
        r->at = r->body_end;
    r->body_end = 0;
}

static void skip_blanks(struct danger_reader *r)
{
    for (;;) {
        int c = peek(r, 0);

        if (c == ' ' || c == '\t' || c == '\r')
            r->at++;
        else if (c == '\\' && peek(r, 1) == '\n')
            r->at += 2;
        else if (c == '#')
            while (peek(r, 0) >= 0 && peek(r, 0) != '\n')
                r->at++;
        else
            return;
    }
}

/* Blanks, newlines and what separates commands. */
static void skip_separators(struct danger_reader *r)
{
    for (;;) {
        int c;

        skip_blanks(r);
        c = peek(r, 0);
        if (c == '\n')
            newline(r);
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

    while (peek(r, n) >= 0 && !strchr(" \t\r\n;&|()<>\"'\\$`", peek(r, n)))
        n++;
    return str_of(r->s.p + r->at, n);
}

/* ---- redirections ---- */

static struct str line_at(struct str s, size_t at)
{
    struct str rest = str_skip(s, at);
    ptrdiff_t end = str_find_char(rest, '\n');

    return end < 0 ? rest : str_take(rest, (size_t)end);
}

/* The body of a here-document, which begins on the line below (or below the last one's). */
static struct danger_word here_document(struct danger_reader *r, bool strip)
{
    bool literal = peek(r, 0) == '\'' || peek(r, 0) == '"' || peek(r, 0) == '\\';
    struct str end = danger_read_single(r).text, line = STR_NONE;
    size_t from = r->body_end, at;

    if (from == 0)
        from = r->at + line_at(r->s, r->at).n + 1;
    for (at = from; at < r->s.n; at += line.n + 1) {
        struct str bare;

        line = bare = line_at(r->s, at);
        while (strip && bare.n > 0 && bare.p[0] == '\t')
            bare = str_skip(bare, 1);
        if (str_eq(bare, end))
            break;
    }
    r->body_end = at < r->s.n ? at + line.n + 1 : r->s.n;
    if (from > r->s.n)
        return (struct danger_word){ STR(""), 0 };
    at = at < r->s.n ? at : r->s.n;
    if (literal)
        return (struct danger_word){ str_of(r->s.p + from, at - from), 0 };
    return danger_expand_text(r->scan, str_of(r->s.p + from, at - from));
}

/* At < or > or &>; true when one was read. */
static bool read_redirection(struct danger_reader *r, struct danger_command *command)
{
    struct danger_redir redir = { .kind = REDIR_READ };
    int c = peek(r, 0), next = peek(r, 1);
    bool here = false;

    if (c == '&' && next == '>') {
        redir.kind = REDIR_WRITE;
        r->at += peek(r, 2) == '>' ? 3 : 2;
    } else if (c == '<' && next == '<' && peek(r, 2) == '<') {
        redir.kind = REDIR_TEXT;
        r->at += 3;
    } else if (c == '<' && next == '<') {
        redir.kind = REDIR_TEXT;
        here = true;
        r->at += 2;
    } else if (c == '<' && next == '>') {
        redir.kind = REDIR_BOTH;
        r->at += 2;
    } else if ((c == '<' || c == '>') && next != '(') {
        redir.kind = c == '<' ? REDIR_READ : REDIR_WRITE;
        r->at += next == '>' || next == '|' || next == '&' ? 2 : 1;
    } else {
        return false;
    }
    if (here) {
        bool strip = peek(r, 0) == '-';

        r->at += strip;
        skip_blanks(r);
        redir.word = here_document(r, strip);
    } else {
        skip_blanks(r);
        redir.word = danger_read_single(r);
    }
    if (command->redirs_n < DANGER_REDIRS_MAX)
        command->redirs[command->redirs_n++] = redir;
    return true;
}

/* ---- simple commands ---- */

/* "NAME=" or "NAME+=" at the reader: its length, else 0. */
static size_t assignment(const struct danger_reader *r)
{
    size_t n = 0;

    while ((peek(r, n) >= 'a' && peek(r, n) <= 'z') || (peek(r, n) >= 'A' && peek(r, n) <= 'Z') ||
           peek(r, n) == '_' || (n > 0 && peek(r, n) >= '0' && peek(r, n) <= '9'))
        n++;
    if (n > 0 && peek(r, n) == '=')
        return n + 1;
    return n > 0 && peek(r, n) == '+' && peek(r, n + 1) == '=' ? n + 2 : 0;
}

static void read_assignment(struct danger_reader *r, size_t n)
{
    static const char unknown[] = { MARK_UNKNOWN };
    bool more = r->s.p[r->at + n - 2] == '+';
    struct str name = str_of(r->s.p + r->at, n - 1 - more);
    struct danger_word value;
    struct str old = STR_NONE;

    r->at += n;
    value = danger_read_single(r);
    for (size_t i = 0; more && i < r->scan->vars_n; i++)
        if (str_eq(r->scan->vars[i].name, name))
            old = r->scan->vars[i].value;
    if (old.n + value.text.n > DANGER_FIELD_MAX)
        value.text = str_of(unknown, 1);
    else if (old.n)
        value.text =
            str_from(arena_printf(r->scan->arena, "%.*s%.*s", STR_ARG(old), STR_ARG(value.text)));
    danger_set_var(r->scan, name, danger_plain(r->scan, value.text), value.facts);
}

static bool follows_pipe(const struct danger_reader *r)
{
    return peek(r, 0) == '|' && peek(r, 1) != '|';
}

static void read_words(struct danger_reader *r, struct danger_command *command)
{
    while (!r->scan->hit) {
        size_t n;
        int c;

        skip_blanks(r);
        c = peek(r, 0);
        n = command->n == 0 ? assignment(r) : 0;
        if (c >= '0' && c <= '9' && (peek(r, 1) == '>' || peek(r, 1) == '<'))
            r->at++; /* 2>file */
        else if (n > 0)
            read_assignment(r, n);
        else if (!read_redirection(r, command)) {
            if (c < 0 || (strchr("\n;&|()", c) && c != '('))
                return;
            if (c == '(') /* an array, or a syntax error */
                r->at++;
            else
                danger_read_word(r, &command->words, &command->n);
        }
    }
}

static struct danger_stream run_simple(struct danger_reader *r, struct danger_stream in, bool piped)
{
    struct danger_command command = { .in = in };
    struct str outer = r->scan->part;
    size_t from = r->at;
    struct danger_stream out;

    read_words(r, &command);
    command.in_pipe = piped || follows_pipe(r);
    command.background = peek(r, 0) == '&' && peek(r, 1) != '&';
    if (r->s.p == r->scan->outer.p)
        r->scan->part = str_trim(str_of(r->s.p + from, r->at - from));
    out = danger_run_command(r->scan, &command);
    r->scan->part = outer;
    return out;
}

/* ---- compound commands ---- */

static struct danger_stream run_one(struct danger_reader *r, struct danger_stream in, bool piped);

/* At "name()": its length with the parentheses, else 0. */
static size_t function_head(const struct danger_reader *r)
{
    size_t n = raw_word(r).n, at = n;

    while (peek(r, at) == ' ')
        at++;
    if (n == 0 || peek(r, at) != '(')
        return 0;
    at++;
    while (peek(r, at) == ' ')
        at++;
    return peek(r, at) == ')' ? at + 1 : 0;
}

static void run_function(struct danger_reader *r, struct str name)
{
    struct str outer = r->scan->function;

    r->scan->function = name;
    while (peek(r, 0) == '\n' || peek(r, 0) == ' ' || peek(r, 0) == '\t')
        r->at++;
    run_one(r, nothing, false);
    r->scan->function = outer;
}

/* "for NAME in WORDS": the variable holds all of them, so that each is looked at. */
static void read_for(struct danger_reader *r)
{
    AUTO_BUF all = BUF_INIT(DANGER_FIELD_MAX);
    struct danger_word *words = NULL;
    struct str name;
    unsigned facts = 0;
    size_t n = 0;

    skip_blanks(r);
    if (peek(r, 0) == '(') {
        ptrdiff_t end = str_find(str_skip(r->s, r->at), STR("))"));

        r->at = end < 0 ? r->s.n : r->at + (size_t)end + 2;
        return;
    }
    name = raw_word(r);
    r->at += name.n;
    skip_blanks(r);
    if (!str_is(raw_word(r), "in"))
        return;
    r->at += 2;
    for (skip_blanks(r); peek(r, 0) >= 0 && !strchr("\n;&|()<>", peek(r, 0)) && !r->scan->hit;
         skip_blanks(r))
        danger_read_word(r, &words, &n);
    for (size_t i = 0; i < n; i++) {
        facts |= words[i].facts;
        buf_add_str(&all, danger_plain(r->scan, words[i].text));
        buf_add_char(&all, ' ');
    }
    danger_set_var(r->scan, name, arena_str(r->scan->arena, buf_str(&all)), facts);
}

static void read_case(struct danger_reader *r)
{
    skip_blanks(r);
    danger_read_single(r);
    skip_separators(r);
    if (str_is(raw_word(r), "in"))
        r->at += 2;
}

static void skip_test(struct danger_reader *r)
{
    ptrdiff_t end = str_find(str_skip(r->s, r->at), STR("]]"));

    r->at = end < 0 ? r->s.n : r->at + (size_t)end + 2;
}

/* Redirections behind a compound command. */
static void run_trailing(struct danger_reader *r)
{
    struct danger_command command = { .n = 0 };

    for (skip_blanks(r); read_redirection(r, &command); skip_blanks(r))
        ;
    if (command.redirs_n > 0)
        danger_run_command(r->scan, &command);
}

static struct danger_stream run_compound(struct danger_reader *r, struct str word,
                                         struct danger_stream in)
{
    static const struct {
        const char *opener, *closer;
    } pairs[] = { { "{", "}" },      { "if", "fi" },       { "while", "done" }, { "until", "done" },
                  { "for", "done" }, { "select", "done" }, { "case", "esac" } };
    struct danger_stream out = nothing;

    r->at += word.n;
    if (str_is(word, "for") || str_is(word, "select"))
        read_for(r);
    if (str_is(word, "case"))
        read_case(r);
    for (size_t i = 0; i < ARRAY_LEN(pairs); i++)
        if (str_is(word, pairs[i].opener))
            out = danger_run_list(r, pairs[i].closer, in);
    run_trailing(r);
    return out;
}

static struct danger_stream run_subshell(struct danger_reader *r, struct danger_stream in)
{
    struct str cwd = r->scan->cwd;
    struct danger_stream out;

    if (peek(r, 1) == '(') {
        ptrdiff_t end = str_find(str_skip(r->s, r->at), STR("))"));

        r->at = end < 0 ? r->s.n : r->at + (size_t)end + 2;
        return nothing;
    }
    r->at++;
    out = danger_run_list(r, ")", in);
    r->scan->cwd = cwd;
    run_trailing(r);
    return out;
}

static struct danger_stream run_one(struct danger_reader *r, struct danger_stream in, bool piped)
{
    struct str word = raw_word(r);
    size_t head;

    while (danger_is(word, "! time then else elif do coproc")) {
        r->at += word.n;
        skip_blanks(r);
        word = raw_word(r);
    }
    if (peek(r, 0) == '(')
        return run_subshell(r, in);
    if (str_is(word, "[[")) {
        skip_test(r);
        return nothing;
    }
    if (str_is(word, "function")) {
        r->at += word.n;
        skip_blanks(r);
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
    return run_simple(r, in, piped);
}

static struct danger_stream run_pipeline(struct danger_reader *r, struct danger_stream in)
{
    struct danger_stream stream = in;
    bool piped = false;

    for (;;) {
        size_t before = r->at;

        stream = run_one(r, stream, piped);
        skip_blanks(r);
        if (r->scan->hit || !follows_pipe(r))
            return stream;
        if (r->at == before)
            return stream;
        r->at += peek(r, 1) == '&' ? 2 : 1;
        for (skip_blanks(r); peek(r, 0) == '\n'; skip_blanks(r))
            newline(r);
        piped = true;
    }
}

/* Both print: what is known of all, and where any of it came from. */
static void join(struct danger_scan *scan, struct danger_stream *all, struct danger_stream one,
                 bool first)
{
    all->facts |= one.facts;
    if (first || (all->text.p && all->text.n == 0))
        all->text = one.text;
    else if (all->text.p && one.text.p && all->text.n + one.text.n < DANGER_FIELD_MAX)
        all->text =
            str_from(arena_printf(scan->arena, "%.*s%.*s", STR_ARG(all->text), STR_ARG(one.text)));
    else
        all->text = STR_NONE;
}

struct danger_stream danger_run_list(struct danger_reader *r, const char *closer,
                                     struct danger_stream in)
{
    struct danger_stream all = nothing;
    bool first = true;

    if (++r->scan->depth > DANGER_DEPTH_MAX)
        danger_obscure(r->scan);
    while (!r->scan->hit) {
        size_t before;
        struct str word;

        skip_separators(r);
        before = r->at;
        if (peek(r, 0) < 0)
            break;
        if (peek(r, 0) == ')') {
            r->at++;
            if (closer && *closer == ')')
                break;
            continue; /* of a case's pattern */
        }
        word = raw_word(r);
        if (word.n > 0 && closer && str_is(word, closer)) {
            r->at += word.n;
            break;
        }
        if (danger_is(word, "} fi done esac")) {
            r->at += word.n;
            continue;
        }
        join(r->scan, &all, run_pipeline(r, in), first);
        first = false;
        if (r->at == before)
            r->at++; /* a byte that begins nothing */
    }
    r->scan->depth--;
    return all;
}

struct danger_stream danger_run_text(struct danger_scan *scan, struct str text,
                                     struct danger_stream in)
{
    struct danger_reader reader = { .scan = scan, .s = text };

    if (scan->hit)
        return nothing;
    if (text.n > scan->budget) {
        danger_obscure(scan);
        return nothing;
    }
    scan->budget -= text.n;
    return danger_run_list(&reader, NULL, in);
}
