/* Lines to numbers, the search, and edits out of it.
 *
 * Equal lines get equal numbers, so the search compares integers. Afterwards runs of changed lines
 * slide down as far as they can: "}" at the end of an added function is then the added one's own.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/diff.h"

#include <stdint.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/diff_int.h"
#include "base/map.h"

int diff_split_lines(struct str text, size_t max, struct str **ret_lines, size_t *ret_n)
{
    struct str *lines = NULL;
    size_t n = 0, cap = 0;

    while (text.n) {
        ptrdiff_t end = str_find_char(text, '\n');
        size_t length = end < 0 ? text.n : (size_t)end + 1;

        if (n == max) {
            free(lines);
            return -1;
        }
        if (n == cap) {
            cap = cap ? cap * 2 : 64;
            lines = alloc_resize(lines, cap, sizeof(*lines));
        }
        lines[n++] = str_take(text, length);
        text = str_skip(text, length);
    }
    *ret_lines = lines;
    *ret_n = n;
    return 0;
}

/* Open addressing over the lines seen; slots hold the line's number + 1. */
struct numbers {
    const struct str **lines;
    uint64_t *hashes;
    uint32_t *slots;
    size_t mask;
    uint32_t count;
};

static uint32_t number_of(struct numbers *numbers, const struct str *line)
{
    uint64_t hash = map_hash(*line);
    size_t slot = hash & numbers->mask;

    for (; numbers->slots[slot]; slot = (slot + 1) & numbers->mask) {
        uint32_t number = numbers->slots[slot] - 1;

        if (numbers->hashes[number] == hash && str_eq(*numbers->lines[number], *line))
            return number;
    }
    numbers->lines[numbers->count] = line;
    numbers->hashes[numbers->count] = hash;
    numbers->slots[slot] = ++numbers->count;
    return numbers->count - 1;
}

static uint32_t *number_lines(const struct diff *diff)
{
    size_t all = diff->a_n + diff->b_n, slots = 16;
    uint32_t *result = NEW_N(uint32_t, all + 1);
    struct numbers numbers;

    while (slots < 2 * all)
        slots *= 2;
    numbers = (struct numbers){ .lines = (const struct str **)alloc_zero(all + 1, sizeof(void *)),
                                .hashes = NEW_N(uint64_t, all + 1),
                                .slots = NEW_N(uint32_t, slots),
                                .mask = slots - 1 };
    for (size_t i = 0; i < diff->a_n; i++)
        result[i] = number_of(&numbers, &diff->a[i]);
    for (size_t i = 0; i < diff->b_n; i++)
        result[diff->a_n + i] = number_of(&numbers, &diff->b[i]);
    free(numbers.lines);
    free(numbers.hashes);
    free(numbers.slots);
    return result;
}

static void add_edit(struct diff *diff, size_t *cap, struct diff_edit edit)
{
    if (diff->edit_count == *cap) {
        *cap = *cap ? 2 * *cap : 16;
        diff->edits = alloc_resize(diff->edits, *cap, sizeof(edit));
    }
    diff->edits[diff->edit_count++] = edit;
}

static void collect_edits(struct diff *diff, const bool *a_changed, const bool *b_changed)
{
    size_t a = 0, b = 0, cap = 0;

    while (a < diff->a_n || b < diff->b_n) {
        struct diff_edit edit = { .a = a, .b = b };

        while (a < diff->a_n && a_changed[a])
            a++;
        while (b < diff->b_n && b_changed[b])
            b++;
        edit.a_n = a - edit.a;
        edit.b_n = b - edit.b;
        if (edit.a_n || edit.b_n) {
            add_edit(diff, &cap, edit);
            continue;
        }
        a++, b++;
    }
}

/* An edit of one kind only that is followed by a line equal to its first may as well stand one
 * line further down. It keeps one line away from the edit after it. */
static void slide_down(struct diff *diff, const uint32_t *a, const uint32_t *b)
{
    for (size_t i = diff->edit_count; i-- > 0;) {
        struct diff_edit *edit = &diff->edits[i];
        bool last = i + 1 == diff->edit_count;
        size_t room = (last ? diff->a_n : diff->edits[i + 1].a - 1) - (edit->a + edit->a_n);

        if (edit->a_n && edit->b_n)
            continue;
        for (; room > 0; room--, edit->a++, edit->b++)
            if (edit->a_n ? a[edit->a] != a[edit->a + edit->a_n]
                          : b[edit->b] != b[edit->b + edit->b_n])
                break;
    }
}

int diff_make(struct str old_text, struct str new_text, struct diff *ret_diff, struct err *err)
{
    struct diff diff = DIFF_INIT;
    bool *changed;
    uint32_t *numbers;

    if (old_text.n > DIFF_BYTES_MAX || new_text.n > DIFF_BYTES_MAX)
        return err_set(err, ERR_TOO_LARGE, "a text to compare is larger than %u bytes",
                       DIFF_BYTES_MAX);
    if (diff_split_lines(old_text, DIFF_LINES_MAX, &diff.a, &diff.a_n) < 0 ||
        diff_split_lines(new_text, DIFF_LINES_MAX, &diff.b, &diff.b_n) < 0) {
        diff_release(&diff);
        return err_set(err, ERR_TOO_LARGE, "a text to compare has more than %d lines",
                       DIFF_LINES_MAX);
    }
    numbers = number_lines(&diff);
    changed = NEW_N(bool, diff.a_n + diff.b_n + 1);
    diff.minimal =
        diff_search(numbers, diff.a_n, numbers + diff.a_n, diff.b_n, changed, changed + diff.a_n);
    collect_edits(&diff, changed, changed + diff.a_n);
    slide_down(&diff, numbers, numbers + diff.a_n);
    free(changed);
    free(numbers);
    *ret_diff = diff;
    return 0;
}

void diff_release(struct diff *diff)
{
    free(diff->a);
    free(diff->b);
    free(diff->edits);
    *diff = DIFF_INIT;
}

bool diff_next_hunk(const struct diff *diff, size_t context, size_t *at, struct diff_hunk *ret_hunk)
{
    const struct diff_edit *first, *last;
    size_t before, after, i = *at;

    if (i >= diff->edit_count)
        return false;
    /* Edits whose contexts touch share a hunk. */
    while (i + 1 < diff->edit_count &&
           diff->edits[i + 1].a - (diff->edits[i].a + diff->edits[i].a_n) <= 2 * context)
        i++;
    first = &diff->edits[*at];
    last = &diff->edits[i];
    before = first->a < context ? first->a : context;
    after = diff->a_n - (last->a + last->a_n);
    after = after < context ? after : context;
    *ret_hunk = (struct diff_hunk){
        .a = first->a - before,
        .b = first->b - before,
        .a_n = before + (last->a + last->a_n - first->a) + after,
        .b_n = before + (last->b + last->b_n - first->b) + after,
        .first_edit = *at,
        .edit_count = i - *at + 1,
    };
    *at = i + 1;
    return true;
}

static void add_line(struct buf *out, char sign, struct str line)
{
    buf_add_char(out, sign);
    buf_add_str(out, line);
    if (!str_ends(line, STR("\n")))
        buf_add_text(out, "\n\\ No newline at end of file\n");
}

/* "start,count"; an empty range names the line before it, one line needs no count. */
static void add_range(struct buf *out, char sign, size_t start, size_t n)
{
    buf_printf(out, "%c%zu", sign, n ? start + 1 : start);
    if (n != 1)
        buf_printf(out, ",%zu", n);
}

static void add_hunk(const struct diff *diff, const struct diff_hunk *hunk, struct buf *out)
{
    size_t a = hunk->a;

    buf_add_text(out, "@@ ");
    add_range(out, '-', hunk->a, hunk->a_n);
    buf_add_char(out, ' ');
    add_range(out, '+', hunk->b, hunk->b_n);
    buf_add_text(out, " @@\n");
    for (size_t i = 0; i < hunk->edit_count; i++) {
        const struct diff_edit *edit = &diff->edits[hunk->first_edit + i];

        for (; a < edit->a; a++)
            add_line(out, ' ', diff->a[a]);
        for (; a < edit->a + edit->a_n; a++)
            add_line(out, '-', diff->a[a]);
        for (size_t b = edit->b; b < edit->b + edit->b_n; b++)
            add_line(out, '+', diff->b[b]);
    }
    for (; a < hunk->a + hunk->a_n; a++)
        add_line(out, ' ', diff->a[a]);
}

static bool is_plain(char c)
{
    return (unsigned char)c >= 0x20 && c != 0x7F && c != '"' && c != '\\';
}

static void add_name(struct buf *out, const char *prefix, const char *name)
{
    struct str rest = str_from(name ? name : "/dev/null");
    bool plain = true, blank = str_find_char(rest, ' ') >= 0;

    for (size_t i = 0; i < rest.n; i++)
        plain = plain && is_plain(rest.p[i]);
    buf_add_text(out, prefix);
    buf_add_text(out, plain ? "" : "\"");
    for (; rest.n; rest = str_skip(rest, 1))
        if (is_plain(rest.p[0]))
            buf_add_char(out, rest.p[0]);
        else
            buf_printf(out, "\\%03o", (unsigned char)rest.p[0]);
    /* A tab ends a plain name, so that a blank in it is not taken for its end. */
    buf_add_text(out, !plain ? "\"\n" : blank ? "\t\n" : "\n");
}

int diff_unified(const struct diff *diff, const char *old_name, const char *new_name,
                 size_t context, struct buf *out)
{
    struct diff_hunk hunk;
    size_t at = 0;

    if (diff->edit_count == 0)
        return 0;
    add_name(out, "--- ", old_name);
    add_name(out, "+++ ", new_name);
    while (!out->full && diff_next_hunk(diff, context, &at, &hunk))
        add_hunk(diff, &hunk, out);
    return out->full ? -1 : 0;
}
