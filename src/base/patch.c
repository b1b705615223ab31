/* Applying a unified diff.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/patch.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/diff.h"
#include "base/diff_int.h"

struct target {
    struct str *lines;
    size_t n;
    size_t done; /* lines copied or replaced so far */
    size_t tries;
};

/* The old side of a hunk, line by line: the next patch line that is not added. */
static const struct patch_line *next_old(const struct patch_hunk *hunk, size_t *at)
{
    while (*at < hunk->line_count && hunk->lines[*at].sign == '+')
        (*at)++;
    return *at < hunk->line_count ? &hunk->lines[(*at)++] : NULL;
}

/* True when the hunk fits at `place`; otherwise how many of its old lines do. */
static bool fits(struct target *target, const struct patch_hunk *hunk, size_t place,
                 size_t *ret_matched)
{
    const struct patch_line *line;
    size_t at = 0, i = 0;

    for (; (line = next_old(hunk, &at)) != NULL; i++) {
        target->tries++;
        if (place + i >= target->n || !str_eq(target->lines[place + i], line->text))
            break;
    }
    *ret_matched = i;
    return line == NULL;
}

/* The place nearest to the expected one, at or after what is done. */
static bool find_place(struct target *target, const struct patch_hunk *hunk, size_t expected,
                       size_t *ret_place)
{
    size_t last, ignored;

    if (hunk->old_count > target->n)
        return false;
    last = target->n - hunk->old_count;
    if (expected > last)
        expected = last; /* a start far past the end must not be walked to */
    for (size_t offset = 0; target->tries < PATCH_TRIES_MAX; offset++) {
        bool up = offset <= expected && expected - offset >= target->done;
        bool down = offset <= last - expected;

        if (!up && !down)
            return false;
        if (up && fits(target, hunk, expected - offset, &ignored)) {
            *ret_place = expected - offset;
            return true;
        }
        if (down && offset && expected + offset >= target->done &&
            fits(target, hunk, expected + offset, &ignored)) {
            *ret_place = expected + offset;
            return true;
        }
    }
    return false;
}

static struct str shown(struct str line)
{
    while (line.n && (line.p[line.n - 1] == '\n' || line.p[line.n - 1] == '\r'))
        line.n--;
    return str_take(line, 80);
}

/* What stands in the way at the place where the hunk should have gone. */
static int reject(const struct patch_file *file, size_t number, struct target *target, size_t place,
                  struct patch_reject *ret_reject, struct err *err)
{
    const struct patch_hunk *hunk = &file->hunks[number];
    const struct patch_line *line = NULL;
    struct patch_reject why = { .hunk = number + 1 };
    size_t matched, at = 0;

    if (place < target->done)
        place = target->done;
    fits(target, hunk, place, &matched);
    for (size_t i = 0; i <= matched; i++)
        line = next_old(hunk, &at);
    why.line = place + matched + 1;
    why.expected = line ? line->text : STR_NONE;
    if (place + matched < target->n)
        why.found = target->lines[place + matched];
    if (ret_reject)
        *ret_reject = why;
    if (!line)
        return err_set(err, ERR_CONFLICT,
                       "hunk %zu of %zu (line %zu of the patch) does not fit: line %zu has no "
                       "newline, but text would follow it",
                       why.hunk, file->hunk_count, hunk->line, why.line - 1);
    return err_set(err, ERR_CONFLICT,
                   "hunk %zu of %zu (line %zu of the patch) does not fit: line %zu should be "
                   "\"%.*s\", %s%.*s%s",
                   why.hunk, file->hunk_count, hunk->line, why.line, STR_ARG(shown(why.expected)),
                   why.found.n ? "but is \"" : "but the text ends before it",
                   STR_ARG(shown(why.found)), why.found.n ? "\"" : "");
}

static void copy_lines(struct target *target, size_t until, struct buf *out)
{
    for (; target->done < until; target->done++)
        buf_add_str(out, target->lines[target->done]);
}

/* Context is copied from the patch: it equals what is there. */
static void apply_hunk(struct target *target, const struct patch_hunk *hunk, size_t place,
                       struct buf *out)
{
    copy_lines(target, place, out);
    for (size_t i = 0; i < hunk->line_count; i++)
        if (hunk->lines[i].sign != '-')
            buf_add_str(out, hunk->lines[i].text);
    target->done = place + hunk->old_count;
}

/* A line that lost its newline can't be followed by another. */
static bool joins_lines(const struct target *target, const struct patch_hunk *hunk, size_t place)
{
    bool ended = false;

    for (size_t i = 0; i < hunk->line_count; i++) {
        if (hunk->lines[i].sign == '-')
            continue;
        if (ended)
            return true;
        ended = !str_ends(hunk->lines[i].text, STR("\n"));
    }
    if (ended)
        return place + hunk->old_count < target->n;
    /* Added after a last line that has no newline of its own. */
    return hunk->old_count == 0 && hunk->line_count && place > 0 && place == target->n &&
           !str_ends(target->lines[place - 1], STR("\n"));
}

static int apply_all(const struct patch_file *file, struct target *target, struct buf *out,
                     struct patch_reject *ret_reject, struct err *err)
{
    ptrdiff_t drift = 0;

    for (size_t i = 0; i < file->hunk_count; i++) {
        const struct patch_hunk *hunk = &file->hunks[i];
        /* A hunk without old lines goes after the line it names, others begin at it. */
        size_t start = hunk->old_start - (hunk->old_count && hunk->old_start ? 1 : 0);
        size_t expected = drift < 0 && (size_t)-drift > start ? 0 : start + (size_t)drift;
        size_t place;

        if (!find_place(target, hunk, expected, &place) || joins_lines(target, hunk, place))
            return reject(file, i, target, expected, ret_reject, err);
        drift = (ptrdiff_t)place - (ptrdiff_t)start;
        apply_hunk(target, hunk, place, out);
    }
    copy_lines(target, target->n, out);
    return 0;
}

static int check_whole(const struct patch_file *file, struct str old_text, struct buf *out,
                       size_t start, struct err *err)
{
    if (file->creates && old_text.n)
        return err_set(err, ERR_CONFLICT, "the patch creates %.*s, which exists already",
                       STR_ARG(str_take(patch_target(file), 200)));
    if (file->deletes && out->n > start)
        return err_set(err, ERR_CONFLICT, "the patch deletes %.*s, but text would be left in it",
                       STR_ARG(str_take(patch_target(file), 200)));
    if (out->full)
        return err_set(err, ERR_TOO_LARGE, "the patched text is larger than %zu bytes", out->max);
    return 0;
}

int patch_apply(const struct patch_file *file, struct str old_text, struct buf *out,
                struct patch_reject *ret_reject, struct err *err)
{
    struct target target = { .done = 0 };
    size_t start = out->n;
    int r;

    if (old_text.n > DIFF_BYTES_MAX ||
        diff_split_lines(old_text, DIFF_LINES_MAX, &target.lines, &target.n) < 0)
        return err_set(err, ERR_TOO_LARGE, "the text to patch is larger than %u bytes or %d lines",
                       DIFF_BYTES_MAX, DIFF_LINES_MAX);
    r = apply_all(file, &target, out, ret_reject, err);
    if (r == 0)
        r = check_whole(file, old_text, out, start, err);
    if (r < 0 && out->p) {
        out->p[out->n = start] = '\0';
        out->full = false;
    }
    free(target.lines);
    return r;
}
