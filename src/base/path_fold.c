/* The comparison key of a path.
 *
 * Each code point becomes its case-folded, compatibility-decomposed form by a table that the
 * build makes (tools/make-path-fold), Hangul syllables by arithmetic. Marks that follow one letter
 * are put in order, because Unicode lets independent ones stand in any. What does not show is
 * dropped.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/alloc.h"
#include "base/path.h"
#include "base/path_fold_table.h"
#include "base/path_int.h"
#include "base/utf8.h"

#define MARKS_MAX 32 /* on one letter; more are compared in the order they stand */

static bool in_ranges(uint32_t code, const struct path_range *ranges, size_t n)
{
    size_t low = 0, high = n;

    while (low < high) {
        size_t middle = (low + high) / 2;

        if (code > ranges[middle].last)
            low = middle + 1;
        else if (code < ranges[middle].first)
            high = middle;
        else
            return true;
    }
    return false;
}

bool path_is_mark(uint32_t code)
{
    return in_ranges(code, path_mark_ranges, ARRAY_LEN(path_mark_ranges));
}

bool path_is_compatibility(uint32_t code)
{
    return in_ranges(code, path_refused_ranges, ARRAY_LEN(path_refused_ranges));
}

static struct str fold_row(uint32_t code)
{
    size_t low = 0, high = ARRAY_LEN(path_fold_rows);

    while (low < high) {
        size_t middle = (low + high) / 2;
        const struct path_fold_row *row = &path_fold_rows[middle];

        if (code == row->code)
            return str_of(row->text, strnlen(row->text, sizeof(row->text)));
        if (code > row->code)
            low = middle + 1;
        else
            high = middle;
    }
    return STR_NONE;
}

struct folder {
    struct buf *out;
    uint32_t marks[MARKS_MAX]; /* of the last letter, sorted */
    size_t mark_count;
};

static void flush_marks(struct folder *folder)
{
    for (size_t i = 0; i < folder->mark_count; i++)
        buf_add_utf8(folder->out, folder->marks[i]);
    folder->mark_count = 0;
}

static void put(struct folder *folder, uint32_t code)
{
    size_t at;

    if (!path_is_mark(code)) {
        flush_marks(folder);
        buf_add_utf8(folder->out, code);
        return;
    }
    if (folder->mark_count == MARKS_MAX)
        flush_marks(folder);
    for (at = folder->mark_count++; at > 0 && folder->marks[at - 1] > code; at--)
        folder->marks[at] = folder->marks[at - 1];
    folder->marks[at] = code;
}

static void put_hangul(struct folder *folder, uint32_t code)
{
    uint32_t index = code - 0xAC00;

    put(folder, 0x1100 + index / 588);
    put(folder, 0x1161 + index % 588 / 28);
    if (index % 28)
        put(folder, 0x11A7 + index % 28);
}

static void put_folded(struct folder *folder, uint32_t code)
{
    enum utf8_oddity oddity = utf8_oddity_of(code);
    struct str folded;

    if (code < 0x80) {
        put(folder, code >= 'A' && code <= 'Z' ? code + 32 : code);
        return;
    }
    if (oddity == UTF8_HIDDEN || oddity == UTF8_BIDI)
        return;
    if (code >= 0xAC00 && code <= 0xD7A3) {
        put_hangul(folder, code);
        return;
    }
    folded = fold_row(code);
    if (folded.n == 0)
        put(folder, code);
    while (folded.n) {
        uint32_t part = 0;

        utf8_decode(&folded, &part);
        put(folder, part);
    }
}

int path_fold(struct str path, struct buf *out)
{
    struct folder folder = { .out = out };

    while (path.n) {
        uint32_t code;

        if (utf8_decode(&path, &code) < 0)
            return -1;
        put_folded(&folder, code);
    }
    flush_marks(&folder);
    return out->full ? -1 : 0;
}
