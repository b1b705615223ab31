/* What echo and printf print.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "base/alloc.h"
#include "policy/danger_int.h"

static int hex(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Backslash escapes as echo -e and printf know them. */
static void unescape(struct str from, struct buf *out)
{
    for (size_t i = 0; i < from.n; i++) {
        unsigned value = 0, digits = 0;
        char c = from.p[i];

        if (c != '\\' || i + 1 >= from.n) {
            buf_add_char(out, c);
            continue;
        }
        c = from.p[++i];
        if (c == 'x')
            for (; digits < 2 && i + 1 < from.n && hex(from.p[i + 1]) >= 0; digits++)
                value = value * 16 + (unsigned)hex(from.p[++i]);
        else if (c >= '0' && c <= '7')
            for (value = (unsigned)(c - '0'), digits = 1;
                 digits < 4 && i + 1 < from.n && from.p[i + 1] >= '0' && from.p[i + 1] <= '7';
                 digits++)
                value = value * 8 + (unsigned)(from.p[++i] - '0');
        if (digits)
            buf_add_char(out, value >= 0x20 && value < 0x7f ? (char)value
                              : value == '\n'               ? '\n'
                                                            : MARK_UNKNOWN);
        else
            buf_add_char(out, c == 'n' ? '\n' : c == 't' ? '\t' : c);
    }
}

/* A format with its words, again while words are left; each conversion takes one, whatever its
 * letter. */
static void print_format(struct danger_scan *scan, const struct danger_command *command, size_t at,
                         struct buf *out)
{
    struct str format = danger_plain(scan, command->words[at++].text);
    size_t before;

    do {
        before = at;
        for (size_t i = 0; i < format.n; i++) {
            if (format.p[i] != '%' || i + 1 >= format.n) {
                buf_add_char(out, format.p[i]);
            } else if (format.p[++i] == '%') {
                buf_add_char(out, '%');
            } else {
                while (i + 1 < format.n && strchr("-+ #0123456789.", format.p[i]))
                    i++;
                if (at < command->n)
                    buf_add_str(out, danger_plain(scan, command->words[at++].text));
            }
        }
    } while (at > before && at < command->n && out->n < DANGER_FIELD_MAX);
}

struct str danger_printed(struct danger_scan *scan, const struct danger_command *command,
                          struct str name, size_t from)
{
    AUTO_BUF text = BUF_INIT(DANGER_BYTES_MAX), out = BUF_INIT(DANGER_BYTES_MAX);

    if (str_is(name, "echo")) {
        while (from < command->n && danger_is(command->words[from].text, "-n -e -E -ne -en"))
            from++;
        buf_add_str(&text, danger_joined(scan, command, from));
        buf_add_char(&text, '\n');
    } else {
        if (from < command->n && str_is(command->words[from].text, "--"))
            from++;
        if (from < command->n)
            print_format(scan, command, from, &text);
    }
    unescape(buf_str(&text), &out);
    return arena_str(scan->arena, buf_str(&out));
}
