/* The second pass: the lines that are shown.
 *
 * SPDX-License-Identifier: MIT
 */
#include <ctype.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/utf8.h"
#include "sandbox/op_file.h"
#include "sandbox/search_int.h"

#define SHOWN_MAX  300 /* bytes of a line that are shown … */
#define SHOWN_LEAD 80  /* … of which so many before the match when it is cut */

/* ---- definitions ---- */

static const char *const defining[] = {
    "def",          "class",   "struct",  "enum",  "union",     "fn",     "func",    "function",
    "type",         "trait",   "impl",    "const", "interface", "module", "package", "namespace",
    "macro_rules!", "typedef", "#define", "sub",   "proc",      "let",    "var",     "record",
};

static const char *const modifiers[] = {
    "pub",      "public",  "private",  "protected",  "static", "export",
    "default",  "async",   "abstract", "final",      "inline", "extern",
    "override", "virtual", "unsafe",   "pub(crate)", "local",
};

static const char *const statements[] = {
    "if",   "else",  "for",   "while", "switch", "return", "defer", "await", "assert", "import",
    "from", "throw", "yield", "echo",  "print",  "go",     "case",  "do",    "with",
};

static bool is_one_of(struct str word, const char *const *words, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (str_is(word, words[i]))
            return true;
    return false;
}

static struct str take_word(struct str *rest)
{
    size_t n = 0;

    *rest = str_trim(*rest);
    while (n < rest->n && !isspace((unsigned char)rest->p[n]))
        n++;
    *rest = str_skip(*rest, n);
    return str_of(rest->p - n, n);
}

/* As C and its like begin a function: at the first column, with a list of parameters, not a
 * statement. */
static bool begins_function(struct str line)
{
    struct str text = str_trim(line), rest = text;
    const char *open = text.n ? memchr(text.p, '(', text.n) : NULL;
    char last;

    if (!open || !(isalpha((unsigned char)line.p[0]) || line.p[0] == '_'))
        return false;
    if (is_one_of(take_word(&rest), statements, ARRAY_LEN(statements)))
        return false;
    /* Two names before the parameters, and no value that is given. */
    if (!memchr(text.p, ' ', (size_t)(open - text.p)) ||
        memchr(text.p, '=', (size_t)(open - text.p)))
        return false;
    last = text.p[text.n - 1];
    return last == '{' || last == ')' || last == ',';
}

bool search_defines(struct str line)
{
    struct str rest = str_take(line, line.n < SHOWN_MAX ? line.n : SHOWN_MAX), word;

    do {
        word = take_word(&rest);
    } while (word.n && is_one_of(word, modifiers, ARRAY_LEN(modifiers)));
    if (is_one_of(word, defining, ARRAY_LEN(defining)) && rest.n)
        return true;
    return begins_function(line);
}

/* ---- lines ---- */

static struct str without_cr(struct str line)
{
    if (line.n && line.p[line.n - 1] == '\r')
        line.n--;
    return line;
}

/* A copy around `at`, with an ellipsis where it is cut. */
static struct str shorten(struct arena *arena, struct str line, size_t at)
{
    size_t from = at > SHOWN_LEAD ? at - SHOWN_LEAD : 0;
    struct str part;

    line = without_cr(line);
    if (line.n <= SHOWN_MAX)
        return arena_str(arena, line);
    if (line.n - from < SHOWN_MAX)
        from = line.n - SHOWN_MAX;
    while (from && from < line.n && ((unsigned char)line.p[from] & 0xC0) == 0x80)
        from--;
    part = utf8_truncate(str_skip(line, from), SHOWN_MAX);
    return str_from(arena_printf(arena, "%s%.*s%s", from ? "…" : "", STR_ARG(part),
                                 from + part.n < line.n ? "…" : ""));
}

static size_t count_newlines(const char *p, const char *end)
{
    size_t n = 0;

    for (; p < end && (p = memchr(p, '\n', (size_t)(end - p))) != NULL; p++)
        n++;
    return n;
}

static void add_before(struct arena *arena, struct str piece, const char *line, unsigned context,
                       struct search_line *out)
{
    const char *p = line;

    out->before = ARENA_NEW_N(arena, struct str, context);
    while (out->before_n < context && p > piece.p) {
        const char *end = p - 1, *begin = memrchr(piece.p, '\n', (size_t)(end - piece.p));

        p = begin ? begin + 1 : piece.p;
        out->before[context - ++out->before_n] = shorten(arena, str_of(p, (size_t)(end - p)), 0);
    }
    out->before += context - out->before_n;
}

static void add_after(struct arena *arena, struct str piece, const char *line_end, unsigned context,
                      struct search_line *out)
{
    const char *end = piece.p + piece.n, *p = line_end + 1;

    out->after = ARENA_NEW_N(arena, struct str, context);
    while (out->after_n < context && p < end) {
        const char *newline = memchr(p, '\n', (size_t)(end - p)), *stop = newline ? newline : end;

        out->after[out->after_n++] = shorten(arena, str_of(p, (size_t)(stop - p)), 0);
        p = stop + 1;
    }
}

struct chooser {
    struct search_line *lines;
    size_t n, max;
};

/* Where the next line goes: behind the others, or in place of the last that defines nothing. */
static struct search_line *choose(struct chooser *c, bool defines)
{
    if (c->n < c->max)
        return &c->lines[c->n++];
    if (!defines)
        return NULL;
    for (size_t i = c->n; i-- > 0;)
        if (!c->lines[i].defines) {
            memmove(&c->lines[i], &c->lines[i + 1], (c->n - 1 - i) * sizeof(*c->lines));
            return &c->lines[c->n - 1];
        }
    return NULL;
}

static void take_hit(struct op_ctx *ctx, struct str piece, const struct pattern_hit *hit,
                     uint64_t number, unsigned context, struct chooser *c)
{
    struct str text = str_of(hit->line, (size_t)(hit->line_end - hit->line));
    bool defines = search_defines(text);
    struct search_line *line = choose(c, defines);

    if (!line)
        return;
    *line = (struct search_line){ .number = number, .defines = defines };
    line->text = shorten(ctx->arena, text, (size_t)(hit->match - hit->line));
    if (context) {
        add_before(ctx->arena, piece, hit->line, context, line);
        add_after(ctx->arena, piece, hit->line_end, context, line);
    }
}

/* Enough lines are chosen, and none of them would give way. */
static bool is_full(const struct chooser *c)
{
    for (size_t i = 0; i < c->n; i++)
        if (!c->lines[i].defines)
            return false;
    return c->n == c->max;
}

static bool must_stop(void *arg)
{
    return op_check(arg, NULL) < 0;
}

/* Lines of one piece; *number is that of its first line and moves on. False: stop. */
static bool take_piece(struct op_ctx *ctx, struct pattern_run *run, struct str piece,
                       uint64_t *number, unsigned context, struct chooser *c)
{
    const char *p = piece.p, *end = piece.p + piece.n, *counted = p;
    struct pattern_hit hit;

    pattern_begin(run);
    while (p < end && !is_full(c)) {
        int r = pattern_find(run, p, end, must_stop, ctx, &hit);

        if (r < 0)
            return false;
        if (r == 0)
            break;
        *number += count_newlines(counted, hit.line);
        counted = hit.line;
        take_hit(ctx, piece, &hit, *number, context, c);
        p = hit.line_end + 1;
    }
    *number += count_newlines(counted, end);
    return !is_full(c);
}

static int open_found(struct op_ctx *ctx, const struct access_place *root, const char *path,
                      uint64_t *ret_size)
{
    struct access_ids ids;
    struct stat st;
    int fd = -1;

    if (path[0] == '\0') {
        if (access_open(ctx, root, &fd, &st, NULL) < 0)
            return -1;
        *ret_size = (uint64_t)st.st_size;
        return fd;
    }
    access_ids_load(&ctx->state->rules, &ids);
    fd = search_open_beneath(root->fd, path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return -1;
    if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || access_ids_have(&ids, &st)) {
        close(fd);
        return -1;
    }
    *ret_size = (uint64_t)st.st_size;
    return fd;
}

size_t search_lines(struct op_ctx *ctx, const struct access_place *root,
                    const struct pattern *pattern, const char *path, unsigned context, size_t max,
                    struct search_line *ret_lines)
{
    struct chooser c = { .lines = ret_lines, .max = max };
    AUTO(pattern_run) run = pattern_run_new(pattern);
    struct search_reader reader = SEARCH_READER_INIT;
    struct str piece;
    uint64_t size, number = 1;
    AUTO_FD fd = open_found(ctx, root, path, &size);

    if (fd < 0)
        return 0;
    search_reader_begin(&reader, fd, size);
    while (search_reader_next(&reader, &piece) > 0)
        if (!take_piece(ctx, run, piece, &number, context, &c))
            break;
    search_reader_release(&reader);
    return c.n;
}
