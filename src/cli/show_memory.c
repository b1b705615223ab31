/* What an agent wants to remember, for a person who has to decide.
 *
 * A diff with the suspicious places of the new text marked in it. Flags name bytes of the new text;
 * a line of the diff knows its number in that text from its hunk's head, and so its bytes.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "cli/show_int.h"

#define FLAGS_SHOWN 20
#define LINE_BYTES  2000

struct flag {
    size_t start, end;
    bool danger;
};

struct marks {
    struct flag *flags;
    size_t flag_count;
    size_t *starts; /* of the lines of the new text */
    size_t line_count;
};

/* ---- where ---- */

static void read_flags(struct json_object *list, struct marks *marks)
{
    size_t n = list && json_object_is_type(list, json_type_array) ? json_length(list) : 0;

    marks->flags = alloc_resize(NULL, n ? n : 1, sizeof(*marks->flags));
    for (size_t i = 0; i < n; i++) {
        struct json_object *one = json_object_array_get_idx(list, i);
        int64_t start = -1, end = -1;

        json_get_i64(one, "start", &start, NULL);
        json_get_i64(one, "end", &end, NULL);
        if (start < 0 || end <= start)
            continue;
        marks->flags[marks->flag_count++] =
            (struct flag){ (size_t)start, (size_t)end,
                           str_is(show_member(one, "severity"), "danger") };
    }
}

static void read_lines(struct str text, struct marks *marks)
{
    size_t n = show_count_lines(text);

    marks->starts = alloc_resize(NULL, n + 1, sizeof(*marks->starts));
    marks->starts[marks->line_count++] = 0;
    for (size_t i = 0; i < text.n && marks->line_count < n; i++) {
        if (text.p[i] == '\n')
            marks->starts[marks->line_count++] = i + 1;
    }
}

static size_t line_of(const struct marks *marks, size_t at)
{
    size_t low = 0, high = marks->line_count;

    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;

        if (marks->starts[middle] <= at)
            low = middle;
        else
            high = middle;
    }
    return low + 1;
}

/* ---- one line, marked ---- */

/* How a byte is marked, and up to where all are marked like that. */
static enum term_style mark_at(const struct marks *marks, size_t at, size_t *until)
{
    enum term_style style = TERM_PLAIN;

    for (size_t i = 0; i < marks->flag_count; i++) {
        const struct flag *flag = &marks->flags[i];

        if (flag->start > at) {
            if (flag->start < *until)
                *until = flag->start;
            continue;
        }
        if (flag->end <= at)
            continue;
        if (flag->end < *until)
            *until = flag->end;
        if (style != TERM_MARK_RED)
            style = flag->danger ? TERM_MARK_RED : TERM_MARK_YELLOW;
    }
    return style;
}

/* What nobody would see, or what would turn the line around, is written out. */
static void show_visible(struct show *show, struct str text)
{
    AUTO_BUF out = BUF_INIT(16 * LINE_BYTES);
    uint32_t code;

    while (text.n) {
        struct str before = text;
        enum utf8_oddity odd = utf8_decode(&text, &code) < 0 ? UTF8_INVALID : utf8_oddity_of(code);

        if (odd == UTF8_BIDI || odd == UTF8_HIDDEN || odd == UTF8_PRIVATE)
            buf_printf(&out, "<U+%04X>", (unsigned)code);
        else
            buf_add_str(&out, str_of(before.p, before.n - text.n));
    }
    show_text(show, buf_str(&out));
}

static void show_marked(struct show *show, const struct marks *marks, struct str line, size_t begin)
{
    const char *base = term_style(show->out, show_diff_style(line));
    struct str text = utf8_truncate(str_skip(line, 1), LINE_BYTES);

    show_begin_line(show);
    fprintf(show->out, "  %s%c", base, line.p[0]);
    for (size_t at = 0; at < text.n;) {
        size_t until = begin + text.n;
        enum term_style style = mark_at(marks, begin + at, &until);
        struct str piece = str_of(text.p + at, until - begin - at);

        if (style != TERM_PLAIN)
            fputs(term_style(show->out, style), show->out);
        show_visible(show, piece);
        if (style != TERM_PLAIN)
            fprintf(show->out, "%s%s", term_style(show->out, TERM_PLAIN), base);
        at += piece.n;
    }
    fprintf(show->out, "%s%s\n", text.n + 1 < line.n ? " …" : "",
            term_style(show->out, TERM_PLAIN));
    show->line_open = false;
}

/* "@@ -1,2 +3,4 @@": 3; 0: it is no such line. */
static size_t hunk_line(struct str line)
{
    ptrdiff_t plus = str_starts(line, STR("@@ ")) ? str_find_char(line, '+') : -1;
    struct str digits;
    uint64_t n = 0;
    size_t end = 0;

    if (plus < 0)
        return 0;
    digits = str_skip(line, (size_t)plus + 1);
    while (end < digits.n && digits.p[end] >= '0' && digits.p[end] <= '9')
        end++;
    return str_to_u64(str_take(digits, end), &n) == 0 ? (size_t)n : 0;
}

static void show_diff(struct show *show, const struct marks *marks, struct str diff,
                      unsigned max_lines)
{
    size_t n = show_count_lines(diff), at = 0, number = 0;

    for (; at < n && (!max_lines || at < max_lines || n == max_lines + 1); at++) {
        struct str line = show_next_line(&diff);
        bool fresh = number && line.n && (line.p[0] == '+' || line.p[0] == ' ');

        if (hunk_line(line))
            number = hunk_line(line);
        if (fresh && number <= marks->line_count)
            show_marked(show, marks, line, marks->starts[number - 1]);
        else
            show_line(show, show_diff_style(line), "  ", line);
        number += fresh;
    }
    if (at < n)
        show_more(show, n - at);
}

/* ---- what else there is to know ---- */

static void show_flags(struct show *show, const struct marks *marks, struct json_object *list)
{
    size_t n = list && json_object_is_type(list, json_type_array) ? json_length(list) : 0;

    for (size_t i = 0; i < n && i < FLAGS_SHOWN; i++) {
        struct json_object *one = json_object_array_get_idx(list, i);
        bool danger = str_is(show_member(one, "severity"), "danger");
        AUTO_BUF text = BUF_INIT(16 * KIB);
        int64_t start = 0;

        json_get_i64(one, "start", &start, NULL);
        buf_printf(&text, "%s, line %zu: %.*s: ", danger ? "danger" : "warning",
                   line_of(marks, start > 0 ? (size_t)start : 0),
                   STR_ARG(show_member(one, "description")));
        buf_add_str(&text, show_member(one, "match"));
        show_line(show, danger ? TERM_RED : TERM_YELLOW, "  ! ", buf_str(&text));
    }
    if (n > FLAGS_SHOWN)
        show_more(show, n - FLAGS_SHOWN);
}

static void show_warnings(struct show *show, struct json_object *list)
{
    size_t n = list && json_object_is_type(list, json_type_array) ? json_length(list) : 0;

    for (size_t i = 0; i < n; i++)
        show_line(show, TERM_YELLOW, "  ! ", json_str(json_object_array_get_idx(list, i)));
}

void show_memory(struct show *show, struct json_object *details, unsigned max_lines)
{
    struct marks marks = { .flag_count = 0 };
    struct json_object *flags = json_find(details, "suspicious_flags");
    struct str reason = show_member(details, "reason");

    read_flags(flags, &marks);
    read_lines(show_member(details, "proposed_content"), &marks);
    if (reason.n)
        show_line(show, TERM_DIM, "  because: ", reason);
    show_diff(show, &marks, show_member(details, "diff"), max_lines);
    show_flags(show, &marks, flags);
    show_warnings(show, json_find(details, "warnings"));
    free(marks.flags);
    free(marks.starts);
}
