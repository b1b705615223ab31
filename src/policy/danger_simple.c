/* Simple commands: words, assignments, redirections and here-documents.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "base/alloc.h"
#include "policy/danger_int.h"

void danger_newline(struct danger_reader *r)
{
    r->at++;
    if (r->body_end > r->at)
        r->at = r->body_end;
    r->body_end = 0;
}

void danger_skip_blanks(struct danger_reader *r)
{
    for (;;) {
        int c = danger_peek(r, 0);

        if (c == ' ' || c == '\t' || c == '\r')
            r->at++;
        else if (c == '\\' && danger_peek(r, 1) == '\n')
            r->at += 2;
        else if (c == '#')
            while (danger_peek(r, 0) >= 0 && danger_peek(r, 0) != '\n')
                r->at++;
        else
            return;
    }
}

/* ---- redirections ---- */

static struct str line_at(struct str s, size_t at)
{
    struct str rest = str_skip(s, at);
    ptrdiff_t end = str_find_char(rest, '\n');

    return end < 0 ? rest : str_take(rest, (size_t)end);
}

/* The line that ends a here-document: nothing in it is expanded; a quote anywhere makes the body
 * literal. */
static struct str here_end(struct danger_reader *r, bool *ret_literal)
{
    AUTO_BUF end = BUF_INIT(DANGER_FIELD_MAX);
    int c, quote = 0, depth = 0;

    *ret_literal = false;
    for (; (c = danger_peek(r, 0)) >= 0 && c != '\n'; r->at++) {
        if (quote ? c == quote : c == '\'' || c == '"') {
            quote = quote ? 0 : c;
            *ret_literal = true;
            continue;
        }
        if (!quote && c == '\\') {
            *ret_literal = true;
            r->at++;
            c = danger_peek(r, 0);
        } else if (!quote && c == '(' && (depth > 0 || (r->at > 0 && r->s.p[r->at - 1] == '$'))) {
            depth++;
        } else if (!quote && c == ')' && depth > 0) {
            depth--;
        } else if (!quote && depth == 0 && strchr(" \t\r;&|()<>", c)) {
            break;
        }
        if (c >= 0)
            buf_add_char(&end, (char)c);
    }
    return arena_str(r->scan->arena, buf_str(&end));
}

/* The body of a here-document, which begins on the line below (or below the last one's). */
static struct danger_word here_document(struct danger_reader *r, bool strip)
{
    bool literal;
    struct str end = here_end(r, &literal), line = STR_NONE;
    size_t from = r->body_end, at;

    if (from == 0)
        from = r->at + line_at(r->s, r->at).n + 1;
    for (at = from; at < r->s.n; at += line.n + 1) {
        struct str bare;

        line = bare = line_at(r->s, at);
        while (strip && bare.n > 0 && bare.p[0] == '\t')
            bare = str_skip(bare, 1);
        if (str_ends(bare, STR("\r")))
            bare.n--;
        if (str_eq(bare, end))
            break;
    }
    r->body_end = at < r->s.n ? at + line.n + 1 : r->s.n;
    if (from > r->s.n)
        return (struct danger_word){ .text = STR("") };
    at = at < r->s.n ? at : r->s.n;
    if (literal)
        return (struct danger_word){ .text = str_of(r->s.p + from, at - from) };
    return danger_expand_text(r->scan, str_of(r->s.p + from, at - from));
}

/* At < or > or &>; true when one was read. */
bool danger_read_redirection(struct danger_reader *r, struct danger_command *command)
{
    struct danger_redir redir = { .kind = REDIR_READ };
    int c = danger_peek(r, 0), next = danger_peek(r, 1);
    bool here = false;

    if (c == '&' && next == '>' && !r->scan->plain) {
        redir.kind = REDIR_WRITE;
        r->at += danger_peek(r, 2) == '>' ? 3 : 2;
    } else if (c == '<' && next == '<' && danger_peek(r, 2) == '<') {
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
        bool strip = danger_peek(r, 0) == '-';

        r->at += strip;
        danger_skip_blanks(r);
        redir.word = here_document(r, strip);
    } else {
        danger_skip_blanks(r);
        redir.word = danger_read_single(r);
    }
    if (command->redirs_n < DANGER_REDIRS_MAX)
        command->redirs[command->redirs_n++] = redir;
    else
        danger_obscure(r->scan);
    return true;
}

/* ---- simple commands ---- */

/* "NAME=" or "NAME+=" at the reader: its length, else 0. */
static size_t assignment(const struct danger_reader *r)
{
    size_t n = 0;

    while ((danger_peek(r, n) >= 'a' && danger_peek(r, n) <= 'z') ||
           (danger_peek(r, n) >= 'A' && danger_peek(r, n) <= 'Z') || danger_peek(r, n) == '_' ||
           (n > 0 && danger_peek(r, n) >= '0' && danger_peek(r, n) <= '9'))
        n++;
    if (n > 0 && danger_peek(r, n) == '=')
        return n + 1;
    if (n > 0 && !r->scan->plain && danger_peek(r, n) == '+' && danger_peek(r, n + 1) == '=')
        return n + 2;
    return 0;
}

struct danger_word danger_all_of(struct danger_scan *scan, const struct danger_word *words,
                                 size_t n)
{
    AUTO_BUF all = BUF_INIT(DANGER_FIELD_MAX);
    unsigned facts = 0;

    for (size_t i = 0; i < n; i++) {
        facts |= words[i].facts;
        if (i > 0)
            buf_add_char(&all, ' ');
        buf_add_str(&all, danger_plain(scan, words[i].text));
    }
    return (struct danger_word){ .text = arena_str(scan->arena, buf_str(&all)), .facts = facts };
}

/* (a b c) */
static struct danger_word read_array(struct danger_reader *r)
{
    struct danger_word *words = NULL;
    size_t n = 0;

    r->at++;
    while (!r->scan->hit) {
        danger_skip_blanks(r);
        if (danger_peek(r, 0) == '\n') {
            danger_newline(r);
        } else if (danger_peek(r, 0) < 0 || danger_peek(r, 0) == ')') {
            r->at += danger_peek(r, 0) == ')';
            break;
        } else if (strchr(";&|(<>", danger_peek(r, 0)) && danger_peek(r, 1) != '(') {
            r->at++;
        } else {
            size_t before = r->at;

            danger_read_word(r, &words, &n);
            r->at += r->at == before;
        }
    }
    return danger_all_of(r->scan, words, n);
}

static void read_assignment(struct danger_reader *r, size_t n)
{
    static const char unknown[] = { MARK_UNKNOWN };
    bool more = r->s.p[r->at + n - 2] == '+', array;
    struct str name = str_of(r->s.p + r->at, n - 1 - more);
    const struct danger_var *old;
    struct danger_word value;

    r->at += n;
    array = danger_peek(r, 0) == '(';
    value = array ? read_array(r) : danger_read_single(r);
    old = more ? danger_find_var(r->scan, name) : NULL;
    if (value.text.n + (old ? old->value.n : 0) > DANGER_FIELD_MAX)
        value.text = str_of(unknown, 1);
    else if (old)
        value.text = str_from(arena_printf(r->scan->arena, "%.*s%s%.*s", STR_ARG(old->value),
                                           array ? " " : "", STR_ARG(value.text)));
    value.facts |= old ? old->facts : 0;
    danger_set_var(r->scan, name, danger_plain(r->scan, value.text), value.facts);
}

/* "declare -a a=(...)": the list belongs to the word before it. */
static bool read_declared(struct danger_reader *r, struct danger_command *command)
{
    struct danger_word *word, array;

    if (danger_peek(r, 0) != '(' || command->n == 0 || r->at == 0 || r->s.p[r->at - 1] != '=')
        return false;
    array = read_array(r);
    word = &command->words[command->n - 1];
    word->facts |= array.facts;
    word->text = str_from(
        arena_printf(r->scan->arena, "%.*s%.*s", STR_ARG(word->text), STR_ARG(array.text)));
    return true;
}

size_t danger_descriptor(const struct danger_reader *r)
{
    bool named = danger_peek(r, 0) == '{';
    size_t n = named;
    int c;

    while ((c = danger_peek(r, n)) >= 0 && c < 0x80 &&
           ((c >= '0' && c <= '9') ||
            (named && (c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')))))
        n++;
    if (named && (n == 1 || danger_peek(r, n++) != '}'))
        return 0;
    return danger_peek(r, n) == '<' || danger_peek(r, n) == '>' ? n : 0;
}

bool danger_follows_pipe(const struct danger_reader *r)
{
    return danger_peek(r, 0) == '|' && danger_peek(r, 1) != '|';
}

static void read_words(struct danger_reader *r, struct danger_command *command)
{
    while (!r->scan->hit) {
        size_t n;
        int c;

        danger_skip_blanks(r);
        c = danger_peek(r, 0);
        n = command->n == 0 ? assignment(r) : 0;
        if (c != '<' && c != '>' && danger_descriptor(r) > 0)
            r->at += danger_descriptor(r);
        else if (n > 0)
            read_assignment(r, n);
        else if (!read_declared(r, command) && !danger_read_redirection(r, command)) {
            if (c < 0 || (strchr("\n;&|()", c) && c != '('))
                return;
            if (c == '(') /* a syntax error */
                r->at++;
            else
                danger_read_word(r, &command->words, &command->n);
        }
    }
}

struct danger_stream danger_run_simple(struct danger_reader *r, struct danger_stream in, bool piped)
{
    struct danger_command command = { .in = in };
    struct str outer = r->scan->part, ifs = r->scan->ifs;
    size_t from = r->at;
    struct danger_stream out;

    read_words(r, &command);
    if (command.n > 0)
        r->scan->ifs = ifs; /* IFS=, read ...: for that command alone */
    command.in_pipe = piped || danger_follows_pipe(r);
    command.background = danger_peek(r, 0) == '&' && danger_peek(r, 1) != '&';
    if (r->s.p == r->scan->outer.p)
        r->scan->part = str_trim(str_of(r->s.p + from, r->at - from));
    out = danger_run_command(r->scan, &command);
    r->scan->part = outer;
    return out;
}
