/* What the model says, split into text and calls while it streams.
 *
 * Text goes out as soon as it can't be the beginning of a control token. A call is held until it
 * ends: at its own end token, at the next call, at the end of the turn, or at the end of the
 * stream. "call:NAME{" at the beginning of a line, without the token, counts as a call when NAME
 * was offered.
 *
 * SPDX-License-Identifier: MIT
 */
#include <ctype.h>

#include "model/gemma_int.h"

#define TOKEN_MAX 32 /* longer than any control token */

enum token { TOKEN_NONE = 0, TOKEN_CALL, TOKEN_CALL_END, TOKEN_STOP, TOKEN_NOISE };

static const struct {
    const char *text;
    enum token token;
} tokens[] = {
    { "<start_function_call>", TOKEN_CALL },
    { "<end_function_call>", TOKEN_CALL_END },
    { "<start_function_response>", TOKEN_STOP }, /* it would make up the result itself */
    { "<end_function_response>", TOKEN_NOISE },
    { "<end_of_turn>", TOKEN_STOP },
    { "<start_of_turn>", TOKEN_STOP },
    { "<eos>", TOKEN_STOP },
    { "<bos>", TOKEN_NOISE },
    { "<pad>", TOKEN_NOISE },
    { "<escape>", TOKEN_NOISE },
};

void gemma_parser_init(struct gemma_parser *parser, const struct model_tool *tools,
                       size_t tool_count)
{
    *parser = (struct gemma_parser){ .tools = tools,
                                     .tool_count = tool_count,
                                     .held = BUF_INIT(GEMMA_CALL_MAX + 4096),
                                     .at_start = true };
}

void gemma_parser_release(struct gemma_parser *parser)
{
    buf_release(&parser->held);
}

/* The token at the front of text; its length in *ret_n. *ret_partial: it may become one. */
static enum token token_at(struct str text, size_t *ret_n, bool *ret_partial)
{
    *ret_partial = false;
    for (size_t i = 0; i < sizeof(tokens) / sizeof(tokens[0]); i++) {
        struct str token = str_from(tokens[i].text);

        if (str_starts(text, token)) {
            *ret_n = token.n;
            return tokens[i].token;
        }
        if (text.n < token.n && memcmp(text.p, token.p, text.n) == 0)
            *ret_partial = true;
    }
    return TOKEN_NONE;
}

static void say(struct gemma_parser *parser, struct str text)
{
    if (!text.n)
        return;
    parser->at_start = text.p[text.n - 1] == '\n';
    if (parser->on_text)
        parser->on_text(parser->arg, text);
}

static void end_call(struct gemma_parser *parser, struct str body, bool ended)
{
    AUTO_ARENA arena = ARENA_INIT;
    struct gemma_call call;

    gemma_call_read(body, parser->tools, parser->tool_count, &arena, &call);
    if (parser->bare)
        call.repairs |= GEMMA_NO_START;
    if (!ended)
        call.repairs |= GEMMA_NO_END;
    parser->in_call = parser->bare = false;
    parser->at_start = true;
    if (parser->on_call)
        parser->on_call(parser->arg, &call);
}

/* ---- calls without their token ---- */

/* 1: a call of a tool that was offered begins here, 0: no, -1: too little is there to say. */
static int bare_call(const struct gemma_parser *parser, struct str text)
{
    static const char prefix[] = "call:";
    size_t n = sizeof(prefix) - 1, end;

    if (memcmp(text.p, prefix, text.n < n ? text.n : n) != 0)
        return 0;
    if (text.n <= n)
        return -1;
    for (end = n; end < text.n && end < n + GEMMA_NAME_MAX; end++) {
        if (text.p[end] == '{' || text.p[end] == '(')
            break;
        if (!isalnum((unsigned char)text.p[end]) && !(text.p[end] && strchr("_-.", text.p[end])))
            return 0;
    }
    if (end == text.n)
        return -1;
    for (size_t i = 0; i < parser->tool_count; i++) {
        if (str_eq(parser->tools[i].name, str_of(text.p + n, end - n)))
            return 1;
    }
    return 0;
}

/* Where a bare call ends: behind the brace that closes it, strings left aside; 0 when it does not
 * end yet. */
static size_t bare_end(struct str text)
{
    bool in_string = false;
    int depth = 0;

    for (size_t i = 0; i < text.n; i++) {
        if (str_starts(str_skip(text, i), STR("<escape>"))) {
            in_string = !in_string;
            i += 7;
        } else if (!in_string && (text.p[i] == '{' || text.p[i] == '(')) {
            depth++;
        } else if (!in_string && (text.p[i] == '}' || text.p[i] == ')') && --depth == 0) {
            return i + 1;
        }
    }
    return 0;
}

/* ---- steps: each consumes something of what is held, or returns false to wait for more ---- */

/* Ends the call at `n` bytes of what is held and drops those and `token` bytes more. */
static bool cut_call(struct gemma_parser *parser, size_t n, size_t token, bool ended)
{
    end_call(parser, str_take(buf_str(&parser->held), n), ended);
    buf_consume(&parser->held, n + token);
    parser->scanned = 0;
    return true;
}

/* A call beyond all bounds: it fails, and what follows of it is no text either. */
static bool give_up(struct gemma_parser *parser, size_t max)
{
    end_call(parser, str_take(buf_str(&parser->held), max), false);
    buf_clear(&parser->held);
    parser->held.full = false;
    parser->over = true;
    return true;
}

/* The first token in text, from `at` on, that ends a call: where it is, or text.n. */
static size_t find_end(struct str text, size_t at, enum token *ret_token, size_t *ret_n)
{
    bool partial;

    for (; at < text.n; at++) {
        *ret_token = text.p[at] == '<' ? token_at(str_skip(text, at), ret_n, &partial) : TOKEN_NONE;
        if (*ret_token == TOKEN_CALL_END || *ret_token == TOKEN_CALL || *ret_token == TOKEN_STOP)
            return at;
    }
    return text.n;
}

/* Ends at its own brace, or at a token before that. */
static bool step_bare(struct gemma_parser *parser, bool last)
{
    struct str text = buf_str(&parser->held), part = str_take(text, GEMMA_BARE_MAX);
    enum token token = TOKEN_NONE;
    size_t n = 0, done = bare_end(part), at = find_end(part, 0, &token, &n);
    bool partial;

    if (at < part.n && (!done || at < done))
        return cut_call(parser, at, token == TOKEN_CALL_END ? n : 0, token == TOKEN_CALL_END);
    if (!done && text.n > GEMMA_BARE_MAX)
        return give_up(parser, GEMMA_BARE_MAX);
    if (!done)
        return last && cut_call(parser, text.n, 0, false);
    token = token_at(str_skip(text, done), &n, &partial);
    if (token == TOKEN_NONE && partial && !last) /* its end token may be on its way */
        return false;
    return cut_call(parser, done, token == TOKEN_CALL_END ? n : 0, token == TOKEN_CALL_END);
}

static bool step_call(struct gemma_parser *parser, bool last)
{
    struct str text = buf_str(&parser->held);
    enum token token = TOKEN_NONE;
    size_t n = 0, at;

    if (parser->bare)
        return step_bare(parser, last);
    at = find_end(text, parser->scanned, &token, &n);
    if (at < text.n)
        return cut_call(parser, at, token == TOKEN_CALL_END ? n : 0, token == TOKEN_CALL_END);
    parser->scanned = text.n > TOKEN_MAX ? text.n - TOKEN_MAX : 0;
    if (parser->held.full)
        return give_up(parser, GEMMA_CALL_MAX + 1);
    return last && cut_call(parser, text.n, 0, false);
}

static bool at_token(struct gemma_parser *parser, struct str text, bool last)
{
    size_t n = 0;
    bool partial;
    enum token token = token_at(text, &n, &partial);

    if (token == TOKEN_NONE && partial && !last)
        return false;
    if (token == TOKEN_NONE) {
        say(parser, str_take(text, 1));
        buf_consume(&parser->held, 1);
        return true;
    }
    buf_consume(&parser->held, n);
    parser->in_call = token == TOKEN_CALL;
    parser->over = token == TOKEN_STOP;
    return true;
}

/* How much at the front is plain text for sure. */
static size_t plain_length(const struct gemma_parser *parser, struct str text)
{
    bool at_start = parser->at_start;

    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] == '<' || (at_start && text.p[i] == 'c'))
            return i;
        at_start = text.p[i] == '\n' || (at_start && text.p[i] == ' ');
    }
    return text.n;
}

static bool step_text(struct gemma_parser *parser, bool last)
{
    struct str text = buf_str(&parser->held);
    size_t plain = plain_length(parser, text);
    int bare;

    if (plain) {
        bool at_start = parser->at_start;

        say(parser, str_take(text, plain));
        for (size_t i = 0; i < plain; i++)
            at_start = text.p[i] == '\n' || (at_start && text.p[i] == ' ');
        parser->at_start = at_start;
        buf_consume(&parser->held, plain);
        return true;
    }
    if (text.p[0] == '<')
        return at_token(parser, text, last);
    bare = bare_call(parser, text);
    if (bare < 0 && !last)
        return false;
    if (bare > 0) {
        parser->in_call = parser->bare = true;
        return true;
    }
    parser->at_start = false;
    return true;
}

static void run(struct gemma_parser *parser, bool last)
{
    while (parser->held.n && !parser->over) {
        if (!(parser->in_call ? step_call(parser, last) : step_text(parser, last)))
            return;
    }
}

void gemma_parser_feed(struct gemma_parser *parser, struct str piece)
{
    while (piece.n && !parser->over) {
        struct str part = str_take(piece, 4096);

        buf_add_str(&parser->held, part);
        run(parser, false);
        piece = str_skip(piece, part.n);
    }
}

void gemma_parser_end(struct gemma_parser *parser)
{
    if (parser->in_call && !parser->held.n && !parser->over)
        end_call(parser, STR(""), false);
    run(parser, true);
}
