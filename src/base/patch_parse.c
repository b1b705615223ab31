/* Reading unified diffs.
 *
 * A file's part begins with a `--- ` line that a `+++ ` line follows; its hunks are read by the
 * counts in their headers. Anything before and between is passed over, but a hunk that is longer
 * or shorter than its header says is an error: half a patch must not pass for a whole one.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/alloc.h"
#include "base/diff.h"
#include "base/patch.h"

struct reader {
    struct str rest;
    size_t line; /* of the line that peek() shows, from 1 */
    struct patch *patch;
    struct patch_file **end;
    struct err *err;
};

/* The next line with its end; false at the end of the text. */
static bool peek(const struct reader *r, struct str *ret_line)
{
    ptrdiff_t end = str_find_char(r->rest, '\n');

    *ret_line = end < 0 ? r->rest : str_take(r->rest, (size_t)end + 1);
    return r->rest.n > 0;
}

static void advance(struct reader *r, struct str line)
{
    r->rest = str_skip(r->rest, line.n);
    r->line++;
}

#define fail(r, fmt, ...)                                                                          \
    err_set((r)->err, ERR_BAD_REQUEST, "patch line %zu: " fmt, (r)->line, ##__VA_ARGS__)

/* Takes decimal digits off the front. */
static bool take_number(struct str *s, size_t *ret_value)
{
    size_t n = 0;
    uint64_t value;

    while (n < s->n && s->p[n] >= '0' && s->p[n] <= '9')
        n++;
    if (n > 9 || str_to_u64(str_take(*s, n), &value) < 0)
        return false;
    *s = str_skip(*s, n);
    *ret_value = (size_t)value;
    return true;
}

static bool take_text(struct str *s, struct str text)
{
    if (!str_starts(*s, text))
        return false;
    *s = str_skip(*s, text.n);
    return true;
}

/* "start" or "start,count" */
static bool take_range(struct str *s, size_t *ret_start, size_t *ret_count)
{
    *ret_count = 1;
    return take_number(s, ret_start) && (!take_text(s, STR(",")) || take_number(s, ret_count));
}

static int read_header(struct reader *r, struct str line, struct patch_hunk *hunk)
{
    struct str s = line;

    if (!take_text(&s, STR("@@ -")) || !take_range(&s, &hunk->old_start, &hunk->old_count) ||
        !take_text(&s, STR(" +")) || !take_range(&s, &hunk->new_start, &hunk->new_count) ||
        !take_text(&s, STR(" @@")))
        return fail(r, "\"%.*s\" is no hunk header; expected @@ -START,COUNT +START,COUNT @@",
                    STR_ARG(str_take(str_trim(line), 60)));
    if ((hunk->old_count && !hunk->old_start) || (hunk->new_count && !hunk->new_start))
        return fail(r, "a hunk with lines begins at line 0");
    hunk->line = r->line;
    return 0;
}

/* The sign of a hunk's line; an empty line is an empty context line whose blank got lost. */
static char sign_of(struct str line)
{
    if (str_is(line, "\n") || str_is(line, "\r\n"))
        return ' ';
    return line.p[0] == ' ' || line.p[0] == '-' || line.p[0] == '+' ? line.p[0] : '\0';
}

static void drop_newline(struct reader *r, struct patch_line *last)
{
    struct str line;

    if (!peek(r, &line) || line.p[0] != '\\')
        return;
    advance(r, line);
    if (str_ends(last->text, STR("\n")))
        last->text.n--;
}

/* Room for one element more; the array moves within the arena. */
static void *grow(struct reader *r, void *array, size_t n, size_t *cap, size_t size)
{
    void *more;

    if (n < *cap)
        return array;
    *cap = 2 * *cap + 8;
    more = arena_alloc(&r->patch->arena, *cap, size);
    if (array)
        memcpy(more, array, n * size);
    return more;
}

/* Lines until both counts are used up. */
static int read_lines(struct reader *r, struct patch_hunk *hunk)
{
    size_t old_left = hunk->old_count, new_left = hunk->new_count, cap = 0;
    struct patch_line *lines = NULL;
    struct str line;

    while (old_left || new_left) {
        char sign;

        if (!peek(r, &line))
            return fail(r, "the patch ends within a hunk; %zu old and %zu new lines are missing",
                        old_left, new_left);
        sign = sign_of(line);
        if (!sign || (sign != '+' && !old_left) || (sign != '-' && !new_left))
            return fail(r,
                        "\"%.*s\" does not fit the hunk's counts; %zu old and %zu new lines are "
                        "missing",
                        STR_ARG(str_take(str_trim(line), 60)), old_left, new_left);
        old_left -= sign != '+';
        new_left -= sign != '-';
        lines = grow(r, lines, hunk->line_count, &cap, sizeof(*lines));
        lines[hunk->line_count] =
            (struct patch_line){ sign, line.p[0] == sign ? str_skip(line, 1) : line };
        advance(r, line);
        drop_newline(r, &lines[hunk->line_count++]);
    }
    hunk->lines = lines;
    return 0;
}

static bool is_file_header(struct str line, struct str rest)
{
    struct str next = str_skip(rest, line.n);

    return str_starts(line, STR("--- ")) && str_starts(next, STR("+++ "));
}

/* After a whole hunk no line may look like a further one of it. */
static int check_after_hunk(struct reader *r)
{
    struct str line;

    if (!peek(r, &line) || is_file_header(line, r->rest) || str_starts(line, STR("-- \n")) ||
        str_is(line, "--\n") || str_is(line, "-- "))
        return 0;
    if (line.p[0] == ' ' || line.p[0] == '+' || line.p[0] == '-')
        return fail(r, "\"%.*s\" follows a hunk that is complete by its counts",
                    STR_ARG(str_take(str_trim(line), 60)));
    return 0;
}

static int check_order(struct reader *r, const struct patch_hunk *last,
                       const struct patch_hunk *hunk)
{
    if (last && hunk->old_start < last->old_start + last->old_count)
        return fail(r, "hunk begins at line %zu, within or before the one that ends at line %zu",
                    hunk->old_start, last->old_start + last->old_count - 1);
    return 0;
}

static int read_hunks(struct reader *r, struct patch_file *file)
{
    struct patch_hunk *hunks = NULL;
    size_t cap = 0;
    struct str line;

    while (peek(r, &line) && str_starts(line, STR("@@"))) {
        struct patch_hunk hunk = { .line_count = 0 };

        if (read_header(r, line, &hunk) < 0 ||
            check_order(r, file->hunk_count ? &hunks[file->hunk_count - 1] : NULL, &hunk) < 0)
            return -1;
        advance(r, line);
        if (read_lines(r, &hunk) < 0 || check_after_hunk(r) < 0)
            return -1;
        hunks = grow(r, hunks, file->hunk_count, &cap, sizeof(*hunks));
        hunks[file->hunk_count++] = hunk;
    }
    file->hunks = hunks;
    return file->hunk_count ? 0 : fail(r, "a hunk (@@ …) must follow the file names");
}

static bool is_octal(char c, char most)
{
    return c >= '0' && c <= most;
}

/* What a backslash and `c` stand for in a quoted name; 0: nothing. */
static char unescape(char c)
{
    static const char named[] = "a\ab\bt\tn\nv\vf\fr\r\"\"\\\\";

    for (size_t i = 0; i < sizeof(named) - 1; i += 2)
        if (named[i] == c)
            return named[i + 1];
    return 0;
}

/* "caf\303\251": as git and diff write names that hold unusual bytes. s begins after the quote; the
 * name is copied into the arena. */
static bool read_quoted(struct reader *r, struct str s, struct str *ret_name)
{
    char *name = arena_alloc(&r->patch->arena, s.n + 1, 1);
    size_t n = 0;

    for (; s.n && s.p[0] != '"'; s = str_skip(s, 1)) {
        unsigned char c = (unsigned char)s.p[0];

        if (c == '\\' && s.n > 3 && is_octal(s.p[1], '3') && is_octal(s.p[2], '7') &&
            is_octal(s.p[3], '7')) {
            c = (unsigned char)((s.p[1] - '0') << 6 | (s.p[2] - '0') << 3 | (s.p[3] - '0'));
            s = str_skip(s, 3);
        } else if (c == '\\') {
            s = str_skip(s, 1);
            c = (unsigned char)(s.n ? unescape(s.p[0]) : 0);
        }
        if (c == 0)
            return false;
        name[n++] = (char)c;
    }
    *ret_name = str_of(name, n);
    return s.n > 0 && n > 0;
}

/* Up to a tab, where a time stamp begins. */
static int read_name(struct reader *r, struct str line, struct str *ret_name)
{
    struct str name = str_skip(line, 4);
    ptrdiff_t tab = str_find_char(name, '\t');

    name = str_trim(tab < 0 ? name : str_take(name, (size_t)tab));
    if (name.n == 0)
        return fail(r, "a file name is missing");
    if (name.p[0] == '"' && !read_quoted(r, str_skip(name, 1), &name))
        return fail(r,
                    "a quoted file name is broken; expected \"…\" with \\n, \\\" or \\303 inside");
    *ret_name = str_is(name, "/dev/null") ? STR_NONE : name;
    return 0;
}

static int read_file(struct reader *r, struct str line)
{
    struct patch_file *file = ARENA_NEW(&r->patch->arena, struct patch_file);

    if (r->patch->file_count++ == PATCH_FILES_MAX)
        return fail(r, "more than %d files", PATCH_FILES_MAX);
    if (read_name(r, line, &file->old_name) < 0)
        return -1;
    advance(r, line);
    peek(r, &line);
    if (read_name(r, line, &file->new_name) < 0)
        return -1;
    advance(r, line);
    file->creates = !file->old_name.p;
    file->deletes = !file->new_name.p;
    if (file->creates && file->deletes)
        return fail(r, "both file names are /dev/null");
    *r->end = file;
    r->end = &file->next;
    return read_hunks(r, file);
}

static int read_other(struct reader *r, struct str line)
{
    static const char *const refused[] = { "rename from ", "copy from ", "GIT binary patch",
                                           "Binary files " };

    for (size_t i = 0; i < ARRAY_LEN(refused); i++)
        if (str_starts(line, str_from(refused[i])))
            return fail(r, "\"%.*s\": renames, copies and binary parts are not supported",
                        STR_ARG(str_take(str_trim(line), 60)));
    if (str_starts(line, STR("@@ -")))
        return fail(r, "a hunk without file names (--- and +++) before it");
    advance(r, line);
    return 0;
}

int patch_parse(struct str text, struct patch *ret_patch, struct err *err)
{
    struct patch patch = PATCH_INIT;
    struct reader r = { .rest = text, .line = 1, .patch = &patch, .end = &patch.files, .err = err };
    struct str line;
    int result = 0;

    if (text.n > PATCH_BYTES_MAX)
        return err_set(err, ERR_TOO_LARGE, "the patch is larger than %u bytes", PATCH_BYTES_MAX);
    while (result == 0 && peek(&r, &line))
        result = is_file_header(line, r.rest) ? read_file(&r, line) : read_other(&r, line);
    if (result == 0 && patch.file_count == 0)
        result = fail(&r, "no file names (--- and +++) found");
    if (result < 0) {
        patch_release(&patch);
        return -1;
    }
    *ret_patch = patch;
    return 0;
}

void patch_release(struct patch *patch)
{
    arena_release(&patch->arena);
    *patch = PATCH_INIT;
}

struct str patch_target(const struct patch_file *file)
{
    struct str old_name = file->old_name, new_name = file->new_name;
    bool old_git = !old_name.p || str_starts(old_name, STR("a/"));
    bool new_git = !new_name.p || str_starts(new_name, STR("b/"));

    return str_skip(file->deletes ? old_name : new_name, old_git && new_git ? 2 : 0);
}
