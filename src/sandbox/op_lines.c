/* The window of lines.
 *
 * SPDX-License-Identifier: MIT
 */
#include "sandbox/op_lines.h"

#include "base/utf8.h"

#define BOM "\xEF\xBB\xBF"

void lines_init(struct lines *lines, uint64_t first, uint64_t count)
{
    *lines = (struct lines){
        .first = first,
        .count = count,
        .at = 1,
        .text = BUF_INIT(LINES_TEXT_MAX),
        /* Some more than is shown, so that the cut can be moved to the end of a character. */
        .line = BUF_INIT(LINES_LINE_MAX + UTF8_MAX_BYTES),
    };
}

void lines_release(struct lines *lines)
{
    buf_release(&lines->text);
    buf_release(&lines->line);
}

static bool is_wanted(const struct lines *lines)
{
    return lines->at >= lines->first && lines->at - lines->first < lines->count && !lines->full;
}

bool lines_done(const struct lines *lines)
{
    return lines->full || (lines->at > lines->first && lines->at - lines->first >= lines->count);
}

static void keep(struct lines *lines, struct str part)
{
    size_t room = lines->line.max - lines->line.n;

    lines->line_bytes += part.n;
    buf_add_str(&lines->line, str_take(part, part.n < room ? part.n : room));
}

static void show(struct lines *lines, struct str line, uint64_t left_out)
{
    size_t before = lines->text.n;
    int r = buf_printf(&lines->text, "%6llu\t", (unsigned long long)lines->at);

    if (r == 0)
        r = utf8_sanitise(line, &lines->text);
    if (r == 0 && left_out)
        r = buf_printf(&lines->text, "… [%llu bytes more]", (unsigned long long)left_out);
    if (r == 0)
        r = buf_add_char(&lines->text, '\n');
    if (r < 0) {
        lines->full = true;
        lines->text.n = before;
        return;
    }
    lines->last = lines->at;
    lines->shortened += left_out > 0;
    lines->invalid += !utf8_valid(line);
}

static void end_line(struct lines *lines, bool newline)
{
    struct str line = buf_str(&lines->line);
    uint64_t bytes = lines->line_bytes;

    if (newline && bytes == line.n && line.n && line.p[line.n - 1] == '\r') {
        line.n--;
        bytes--;
        lines->with_cr++;
    }
    if (lines->at == 1 && str_starts(line, STR(BOM))) {
        line = str_skip(line, 3);
        bytes -= 3;
    }
    if (line.n > LINES_LINE_MAX)
        line = utf8_truncate(line, LINES_LINE_MAX);
    show(lines, line, bytes - line.n);
}

void lines_add(struct lines *lines, struct str piece)
{
    while (piece.n) {
        const char *end = memchr(piece.p, '\n', piece.n);
        size_t n = end ? (size_t)(end - piece.p) : piece.n;

        if (is_wanted(lines))
            keep(lines, str_take(piece, n));
        else
            lines->line_bytes += n;
        if (!end)
            return;
        if (is_wanted(lines))
            end_line(lines, true);
        buf_clear(&lines->line);
        lines->line_bytes = 0;
        lines->at++;
        piece = str_skip(piece, n + 1);
    }
}

uint64_t lines_end(struct lines *lines)
{
    if (lines->line_bytes == 0)
        return lines->at - 1;
    if (is_wanted(lines))
        end_line(lines, false);
    return lines->at;
}
