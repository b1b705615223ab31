/* Matching lines.
 *
 * A fixed text is found directly. For an expression that must hold a known text, that text is found
 * first and only its line is matched; for the others whole windows of lines are given to PCRE2 at
 * once, and what it finds is cut back to lines. Expressions whose meaning depends on where the
 * subject ends (look-around, atomic groups, \A, \z …) are matched line by line.
 *
 * Each expression is compiled twice: bytes for text that is ASCII, which most is, and Unicode for
 * the rest. Work is bounded: PCRE2 gives up after so many steps from one place, windows become
 * smaller when they take long, and between them the caller may stop.
 *
 * SPDX-License-Identifier: MIT
 */
#define PCRE2_CODE_UNIT_WIDTH 8
#include "sandbox/search_pattern.h"

#include <pcre2.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/utf8.h"
#include "sandbox/search_literal.h"

#define STEPS_WINDOW 50000   /* from one place, for a window … */
#define STEPS_LINE   1000000 /* … and once more for its lines one by one */
#define HEAP_KIB     16384
#define STACK_MIN    (32 * 1024)
#define STACK_MAX    (1024 * 1024)
#define WINDOW_MIN   1024
#define WINDOW_FIRST 4096
#define WINDOW_MAX   (1024 * 1024)
#define SLOW_NS      20000000 /* a window that takes longer is made smaller */
#define LITERAL_MIN  2        /* shorter texts are in most lines */
#define ASK_EVERY    4096     /* lines between two questions whether to stop */

struct pattern {
    struct literal *literals; /* one of them is in every match; NULL when none is known */
    unsigned literal_n;
    bool fixed; /* the literal is all */
    bool by_line;
    pcre2_code *ascii;   /* NULL when the pattern itself is not ASCII */
    pcre2_code *unicode; /* NULL when fixed */
};

struct pattern_run {
    const struct pattern *pattern;
    pcre2_match_data *data;
    pcre2_match_context *quick, *patient;
    pcre2_jit_stack *stack;
    const char *next[PATTERN_BRANCHES]; /* where each literal occurs next; the end when nowhere */
    size_t window, costly;
    unsigned asked;
};

static bool is_ascii(const char *p, size_t n)
{
    uint64_t bits = 0, word;

    for (; n >= 32; p += 32, n -= 32) {
        uint64_t words[4];

        memcpy(words, p, 32);
        if ((words[0] | words[1] | words[2] | words[3]) & 0x8080808080808080u)
            return false;
    }
    for (; n >= 8; p += 8, n -= 8) {
        memcpy(&word, p, 8);
        bits |= word;
    }
    for (; n; p++, n--)
        bits |= (unsigned char)*p;
    return !(bits & 0x8080808080808080u);
}

/* ---- compiling ---- */

/* Whether a match in a line may differ from one in a text of lines. */
static bool needs_lines(struct str re)
{
    for (size_t i = 0; i + 1 < re.n; i++) {
        char c = re.p[i], next = re.p[i + 1];

        if (c == '\\') {
            if (strchr("AzZGKRXCQEg", next))
                return true;
            i++;
            continue;
        }
        if (c == '(' && (next == '*' || (next == '?' && i + 2 < re.n && re.p[i + 2] != ':')))
            return true;
        if (next == '+' && strchr("+*?}", c))
            return true;
    }
    return false;
}

static int compile_one(struct str text, uint32_t options, pcre2_code **ret_code, struct err *err)
{
    pcre2_compile_context *context = pcre2_compile_context_create(NULL);
    PCRE2_SIZE at = 0;
    int number = 0;
    pcre2_code *code;

    pcre2_set_newline(context, PCRE2_NEWLINE_LF);
    pcre2_set_bsr(context, PCRE2_BSR_ANYCRLF);
    pcre2_set_parens_nest_limit(context, 100);
    code = pcre2_compile((PCRE2_SPTR)text.p, text.n, options, &number, &at, context);
    pcre2_compile_context_free(context);
    if (!code) {
        char why[200] = "";

        pcre2_get_error_message(number, (PCRE2_UCHAR *)why, sizeof(why));
        return err_set(err, ERR_BAD_REQUEST, "pattern, at character %zu: %s",
                       utf8_count(str_take(text, at)) + 1, why);
    }
    /* Without it PCRE2 interprets: slower, the same result. */
    pcre2_jit_compile(code, PCRE2_JIT_COMPLETE);
    *ret_code = code;
    return 0;
}

/* A required text of each alternative, or none at all. */
static void require_literals(struct pattern *p, struct str text, bool ignore_case)
{
    struct str branches[PATTERN_BRANCHES];
    size_t n = pattern_branches(text, branches, PATTERN_BRANCHES);
    char required[PATTERN_MAX];

    if (n == 0)
        return;
    p->literals = NEW_N(struct literal, n);
    for (size_t i = 0; i < n; i++) {
        size_t size = pattern_required(branches[i], ignore_case, required);

        if (size < LITERAL_MIN) {
            free(p->literals);
            p->literals = NULL;
            p->literal_n = 0;
            return;
        }
        literal_init(&p->literals[p->literal_n++], str_of(required, size), ignore_case);
    }
}

static int compile_regex(struct pattern *p, struct str text, bool ignore_case, struct err *err)
{
    uint32_t options =
        PCRE2_MULTILINE | PCRE2_NEVER_BACKSLASH_C | (ignore_case ? PCRE2_CASELESS : 0);

    if (compile_one(text, options | PCRE2_UTF | PCRE2_UCP | PCRE2_MATCH_INVALID_UTF, &p->unicode,
                    err) < 0)
        return -1;
    /* \x and \p may name what is beyond ASCII without holding it. */
    if (is_ascii(text.p, text.n) && str_find(text, STR("\\x")) < 0 &&
        str_find(text, STR("\\o")) < 0 && str_find(text, STR("\\p")) < 0 &&
        str_find(text, STR("\\P")) < 0 && str_find(text, STR("\\N")) < 0 &&
        str_find(text, STR("(*")) < 0 && compile_one(text, options, &p->ascii, err) < 0)
        return -1;
    p->by_line = needs_lines(text);
    require_literals(p, text, ignore_case);
    return 0;
}

static int compile_fixed(struct pattern *p, struct str text, bool ignore_case, struct err *err)
{
    if (ignore_case && !is_ascii(text.p, text.n))
        return compile_one(text,
                           PCRE2_LITERAL | PCRE2_CASELESS | PCRE2_UTF | PCRE2_MATCH_INVALID_UTF,
                           &p->unicode, err);
    p->fixed = true;
    p->literals = NEW(struct literal);
    p->literal_n = 1;
    literal_init(p->literals, text, ignore_case);
    return 0;
}

int pattern_compile(struct str text, bool regex, bool ignore_case, struct pattern **ret_pattern,
                    struct err *err)
{
    AUTO(pattern) p = NEW(struct pattern);
    int r;

    if (text.n == 0 || text.n > PATTERN_MAX)
        return err_set(err, ERR_BAD_REQUEST, "pattern has %zu bytes; 1 to %d are allowed", text.n,
                       PATTERN_MAX);
    if (memchr(text.p, '\n', text.n) || memchr(text.p, '\0', text.n))
        return err_set(err, ERR_BAD_REQUEST,
                       "pattern holds a line break or NUL; lines are searched one by one");
    r = regex ? compile_regex(p, text, ignore_case, err) : compile_fixed(p, text, ignore_case, err);
    if (r < 0)
        return -1;
    *ret_pattern = TAKE(p);
    return 0;
}

void pattern_free(struct pattern *pattern)
{
    if (!pattern)
        return;
    pcre2_code_free(pattern->ascii);
    pcre2_code_free(pattern->unicode);
    free(pattern->literals);
    free(pattern);
}

/* ---- running ---- */

static pcre2_match_context *context_new(uint32_t steps, pcre2_jit_stack *stack)
{
    pcre2_match_context *context = pcre2_match_context_create(NULL);

    pcre2_set_match_limit(context, steps);
    pcre2_set_heap_limit(context, HEAP_KIB);
    pcre2_jit_stack_assign(context, NULL, stack);
    return context;
}

struct pattern_run *pattern_run_new(const struct pattern *pattern)
{
    struct pattern_run *run = NEW(struct pattern_run);

    run->pattern = pattern;
    run->window = WINDOW_FIRST;
    if (pattern->fixed)
        return run;
    run->data = pcre2_match_data_create(1, NULL);
    run->stack = pcre2_jit_stack_create(STACK_MIN, STACK_MAX, NULL);
    run->quick = context_new(STEPS_WINDOW, run->stack);
    run->patient = context_new(STEPS_LINE, run->stack);
    return run;
}

void pattern_run_free(struct pattern_run *run)
{
    if (!run)
        return;
    pcre2_match_data_free(run->data);
    pcre2_match_context_free(run->quick);
    pcre2_match_context_free(run->patient);
    pcre2_jit_stack_free(run->stack);
    free(run);
}

void pattern_begin(struct pattern_run *run)
{
    memset(run->next, 0, sizeof(run->next));
}

size_t pattern_costly(const struct pattern_run *run)
{
    return run->costly;
}

static const char *line_end(const char *p, const char *end)
{
    const char *newline = memchr(p, '\n', (size_t)(end - p));

    return newline ? newline : end;
}

static const char *line_begin(const char *from, const char *at)
{
    const char *newline = memrchr(from, '\n', (size_t)(at - from));

    return newline ? newline + 1 : from;
}

/* 1 with *ret_at, 0, or -1 when it took too much work. */
static int match(struct pattern_run *run, const char *p, const char *end,
                 pcre2_match_context *context, size_t *ret_from, size_t *ret_to)
{
    const pcre2_code *code = run->pattern->ascii;
    size_t n = (size_t)(end - p);
    int r;

    if (!code || !is_ascii(p, n))
        code = run->pattern->unicode;
    r = pcre2_match(code, (PCRE2_SPTR)p, n, 0, 0, run->data, context);
    if (r == PCRE2_ERROR_NOMATCH)
        return 0;
    if (r < 0)
        return -1;
    *ret_from = pcre2_get_ovector_pointer(run->data)[0];
    *ret_to = pcre2_get_ovector_pointer(run->data)[1];
    return 1;
}

static bool match_line(struct pattern_run *run, const char *line, const char *end,
                       struct pattern_hit *ret_hit)
{
    size_t from, to;
    int r = match(run, line, end, run->patient, &from, &to);

    run->costly += r < 0;
    if (r <= 0)
        return false;
    *ret_hit = (struct pattern_hit){ .line = line, .line_end = end, .match = line + from };
    return true;
}

struct stopper {
    bool (*stop)(void *arg);
    void *arg;
};

static bool must_stop(struct pattern_run *run, const struct stopper *s)
{
    if (run->costly > PATTERN_COSTLY_MAX)
        return true;
    return s->stop && s->stop(s->arg);
}

/* Line by line from p. */
static int find_by_line(struct pattern_run *run, const char *p, const char *end,
                        const struct stopper *s, struct pattern_hit *ret_hit)
{
    while (p < end) {
        const char *stop = line_end(p, end);

        if (match_line(run, p, stop, ret_hit))
            return 1;
        if (++run->asked % ASK_EVERY == 0 && must_stop(run, s))
            return -1;
        if (run->costly > PATTERN_COSTLY_MAX)
            return -1;
        p = stop + 1;
    }
    return 0;
}

/* The first place from p on where one of the required texts stands; end when there is none. */
static const char *next_literal(struct pattern_run *run, const char *p, const char *end)
{
    const struct pattern *pattern = run->pattern;
    const char *first = end;

    for (unsigned i = 0; i < pattern->literal_n; i++) {
        if (!run->next[i] || run->next[i] < p) {
            const char *at = literal_find(&pattern->literals[i], p, end);

            run->next[i] = at ? at : end;
        }
        if (run->next[i] < first)
            first = run->next[i];
    }
    return first;
}

static int find_literal(struct pattern_run *run, const char *p, const char *end,
                        const struct stopper *s, struct pattern_hit *ret_hit)
{
    const struct pattern *pattern = run->pattern;

    for (const char *at; p < end && (at = next_literal(run, p, end)) < end;) {
        const char *line = line_begin(p, at), *stop = line_end(at, end);

        if (pattern->fixed) {
            *ret_hit = (struct pattern_hit){ .line = line, .line_end = stop, .match = at };
            return 1;
        }
        if (match_line(run, line, stop, ret_hit))
            return 1;
        if (run->costly > PATTERN_COSTLY_MAX ||
            (++run->asked % ASK_EVERY == 0 && must_stop(run, s)))
            return -1;
        p = stop + 1;
    }
    return 0;
}

static const char *window_end(const struct pattern_run *run, const char *p, const char *end)
{
    const char *at = (size_t)(end - p) > run->window ? p + run->window : end;

    /* Whole lines; the newline is left out, as it is for a line. */
    return at == end ? end : line_end(at, end);
}

static void adapt_window(struct pattern_run *run, int64_t took_ns)
{
    if (took_ns > SLOW_NS)
        run->window = run->window / 8 > WINDOW_MIN ? run->window / 8 : WINDOW_MIN;
    else if (run->window < WINDOW_MAX)
        run->window *= 2;
}

/* Behind the newline at p, if there is one: without it an empty line is not seen as one. */
static const char *with_newline(const char *p, const char *end)
{
    return p < end ? p + 1 : end;
}

/* A match from .. to in a window is one of its first line, unless it spans several: then each of
 * them has to match by itself. */
static int cut_to_lines(struct pattern_run *run, const char *p, const char *end, size_t from,
                        size_t to, const struct stopper *s, struct pattern_hit *ret_hit)
{
    const char *line = line_begin(p, p + from);

    if (!run->pattern->by_line && !memchr(p + from, '\n', to - from)) {
        *ret_hit = (struct pattern_hit){ .line = line,
                                         .line_end = line_end(p + from, end),
                                         .match = p + from };
        return 1;
    }
    return find_by_line(run, line, with_newline(line_end(p + to, end), end), s, ret_hit);
}

static int find_in_windows(struct pattern_run *run, const char *p, const char *end,
                           const struct stopper *s, struct pattern_hit *ret_hit)
{
    while (p < end) {
        const char *stop = window_end(run, p, end);
        int64_t began = clock_mono_ns(clock_system());
        size_t from = 0, to = 0;
        int r = match(run, p, stop, run->quick, &from, &to);

        adapt_window(run, clock_mono_ns(clock_system()) - began);
        if (r < 0)
            r = find_by_line(run, p, with_newline(stop, end), s, ret_hit);
        else if (r > 0) {
            /* After the last newline there is no line. */
            if (p + from == end && from > 0 && end[-1] == '\n')
                return 0;
            r = cut_to_lines(run, p, end, from, to, s, ret_hit);
            if (r == 0)
                stop = line_end(p + to, stop);
        }
        if (r != 0) {
            /* The next search begins behind this hit: where hits are dense, nobody needs to look
             * far ahead each time. */
            run->window = run->window < WINDOW_FIRST ? run->window : WINDOW_FIRST;
            return r;
        }
        if (must_stop(run, s))
            return -1;
        p = stop + 1;
    }
    return 0;
}

int pattern_find(struct pattern_run *run, const char *p, const char *end, bool (*stop)(void *arg),
                 void *arg, struct pattern_hit *ret_hit)
{
    struct stopper s = { .stop = stop, .arg = arg };

    if (run->pattern->literals)
        return find_literal(run, p, end, &s, ret_hit);
    if (run->pattern->by_line)
        return find_by_line(run, p, end, &s, ret_hit);
    return find_in_windows(run, p, end, &s, ret_hit);
}
